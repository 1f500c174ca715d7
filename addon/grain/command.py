# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command grain FILE.blend ...`, from Blender 4.2 on: bakes without a window and without Python of one's own."""
import argparse
from typing import Any, Optional

import bpy

from . import compat

_registered: Optional[Any] = None


def run(arguments: list[str]) -> int:
    """Exit codes: 0 done, 1 something could not be baked."""
    parser = argparse.ArgumentParser(prog="blender --command grain", description="Bake the sand in a .blend file.")
    parser.add_argument("file", nargs="?", help="the .blend file; without it, the file that is open")
    parser.add_argument("--scene", default="", help="bake only this scene")
    parser.add_argument("--anew", action="store_true", help="delete existing frames first")
    parser.add_argument("--job", metavar="FOLDER", help="do not bake, but write the active simulation as a job for a render farm")
    options = parser.parse_args(arguments)
    if options.file:
        bpy.ops.wm.open_mainfile(filepath=options.file)
    try:
        if options.job:
            done = bpy.ops.grain.job_export(directory=options.job)
        else:
            done = bpy.ops.grain.bake_all(scene=options.scene, restart='ANEW' if options.anew else 'RESUME')
    except RuntimeError as error:
        print(f"Grain: {str(error).strip()}")
        return 1
    return 0 if done == {'FINISHED'} else 1


def register() -> None:
    global _registered
    _registered = compat.register_command("grain", run)


def unregister() -> None:
    global _registered
    if _registered is not None:
        bpy.utils.unregister_cli_command(_registered)
    _registered = None
