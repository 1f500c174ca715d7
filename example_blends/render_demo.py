# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes an example and renders one frame; 01_suzanne is what `./build.sh` ends with.

    python3 example_blends/render_demo.py --out build/demo [--scene NAME] [--frame N] [--quick]

The packaged add-on is installed by Blender's own installer into a folder of its own, so nothing of the user's set-up is
touched and what is rendered is what an artist gets.
"""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FRAMES = {"01_suzanne": 18, "02_crates": 40}  # the one worth a picture

INSTALL = """
import bpy, sys
bpy.ops.preferences.addon_install(filepath=sys.argv[-1], overwrite=True)
"""

BAKE_AND_RENDER = """
import addon_utils, bpy, sys
frame, picture, quick = int(sys.argv[-3]), sys.argv[-2], sys.argv[-1] == "quick"
addon_utils.enable("grain")
scene = bpy.context.scene
scene.frame_end = max(frame, 2)
if quick:
    scene.render.resolution_percentage, scene.cycles.samples = 50, 32
    scene.grain.active.particle_radius *= 1.5
if bpy.ops.grain.bake(restart=True) != {'FINISHED'}:
    sys.exit("the bake did not finish")
scene.frame_set(frame)
scene.render.use_stamp_filename = False
scene.render.filepath = picture
bpy.ops.render.render(write_still=True)
"""


def blender(environment: dict[str, str], *arguments: str, script: str, tail: list[str], quiet: bool = False) -> None:
    command = ["blender", "-b", *arguments, "--python-exit-code", "1", "--python-expr", script, "--", *tail]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if not quiet and line.startswith("Grain:"):
            print("\r" + line.strip().ljust(100), end="" if sys.stdout.isatty() else "\n", flush=True)
    if process.wait() != 0:
        sys.exit("Blender failed:\n" + "".join(lines[-30:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build/demo")
    parser.add_argument("--scene", choices=sorted(FRAMES), default="01_suzanne")
    parser.add_argument("--frame", type=int, help="another than the one of the picture in the repository")
    parser.add_argument("--quick", action="store_true", help="larger grains and a smaller picture")
    options = parser.parse_args()
    out = options.out.resolve()
    home, picture = out / "blender", out / f"{options.scene.partition('_')[2]}.png"
    file = out / f"{options.scene}.blend"
    frame = options.frame if options.frame is not None else FRAMES[options.scene]
    shutil.rmtree(home, ignore_errors=True)
    for folder in ("scripts/addons", "config"):
        (home / folder).mkdir(parents=True)
    environment = dict(os.environ, BLENDER_USER_SCRIPTS=str(home / "scripts"), BLENDER_USER_CONFIG=str(home / "config"))
    package = next((ROOT / "build/package").glob("grain-*-legacy.zip"), None)
    if package is None:
        sys.exit("no add-on package in build/package: run ./build.sh package first")

    began = time.monotonic()
    blender(environment, "--factory-startup", script=INSTALL, tail=[str(package)], quiet=True)
    print(f"baking and rendering {file}", flush=True)
    shutil.copy(HERE / file.name, file)
    picture.unlink(missing_ok=True)
    blender(environment, str(file), script=BAKE_AND_RENDER,
            tail=[str(frame), str(picture), "quick" if options.quick else "full"])
    if not picture.exists():
        sys.exit("Blender rendered nothing")
    print(f"\nrendered in {time.monotonic() - began:.0f} s: {picture}")


if __name__ == "__main__":
    main()
