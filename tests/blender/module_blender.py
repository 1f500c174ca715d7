# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's command line, as far as the tests use it, for Blender as a Python module (`bpy` of the package index), which has
none:

    python module_blender.py [-b] [--factory-startup] [--addons NAME] [--python-exit-code N] [FILE.blend] [-f FRAME]
                             [--python-expr TEXT] [-- ...]
"""
import os
import sys
import traceback

import bpy


def main(arguments: list[str]) -> int:
    import addon_utils
    exit_code, queue = 0, list(arguments)
    bpy.ops.wm.read_factory_settings(use_empty=False)
    while queue and queue[0] != "--":
        option = queue.pop(0)
        if option == "--addons":
            for name in queue.pop(0).split(","):
                addon_utils.enable(name)
        elif option == "--python-exit-code":
            exit_code = int(queue.pop(0))
        elif option == "--python-expr":
            try:
                exec(queue.pop(0), {"__name__": "__main__"})
            except Exception:  # what Blender does too
                traceback.print_exc()
                return exit_code
        elif option == "-f":
            scene = bpy.context.scene
            frame = int(queue.pop(0))
            scene.frame_set(frame)
            path, scene.render.filepath = scene.render.filepath, scene.render.frame_path(frame=frame)
            bpy.ops.render.render(write_still=True)
            scene.render.filepath = path
        elif not option.startswith("-"):
            bpy.ops.wm.open_mainfile(filepath=option)
    return 0


def leave(code: int) -> None:
    """What Blender's end does for the add-on, and no more: taking a module of Python's down crashes at times by itself."""
    if "grain.runtime" in sys.modules:
        sys.modules["grain.runtime"].end_process()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    leave(main(sys.argv[1:]))
