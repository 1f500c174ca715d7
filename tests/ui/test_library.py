# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist sees when libgrain is missing: the file, the reason, and buttons that are off."""
import os
import tempfile

import bpy
import drive
import support

options = drive.options()

empty = tempfile.mkdtemp(prefix="grain_empty_")
os.environ["GRAIN_LIBRARY_FOLDER"] = empty
support.enable()


def missing_library() -> drive.Scenario:
    from grain.engine import ffi
    drive.ensure(empty in (ffi.problem() or ""), f"problem: {ffi.problem()}")
    cube = bpy.data.objects["Cube"]
    cube.grain.type = 'SOURCE'
    drive.show_tab('PHYSICS')
    drive.press('ESC', *drive.middle('VIEW_3D'))  # the splash screen
    yield 0.3
    yield from drive.widen_properties(200)
    yield from drive.grow_properties(150)
    yield 0.3
    drive.screenshot(options.out / "0_missing_library.png")
    drive.ensure(not bpy.ops.grain.bake.poll(), "Bake must be off")
    bpy.context.scene.frame_set(3)
    yield 0.1


drive.run("test_library", {"missing_library": missing_library}, options.keyword,
          lambda: (os.rmdir(empty), iter(()))[1])
