# SPDX-License-Identifier: GPL-3.0-or-later
"""libgrain and grain: found, checked, and missed with a message an artist can use."""
import shutil
from pathlib import Path

import bpy
import support

LOOK = """
import bpy
from grain.engine import ffi
print('PROBLEM', ffi.problem(), flush=True)
bpy.ops.mesh.primitive_cube_add()
bpy.context.object.grain.type = 'SOURCE'
print('POLL', bpy.ops.grain.bake.poll(), flush=True)
try:
    bpy.ops.grain.bake()
except RuntimeError as error:
    print('REFUSED', error, flush=True)
bpy.context.scene.frame_set(3)
import addon_utils
addon_utils.disable('grain', default_set=True)
print('ALIVE', flush=True)
"""


def look(folder: Path, libraries: Path) -> str:
    done = support.run_blender(folder, script=LOOK, environment={"GRAIN_LIBRARY_FOLDER": str(libraries)})
    assert done.returncode == 0 and "ALIVE" in done.stdout, support.fail_output(done)
    assert "POLL False" in done.stdout, done.stdout
    assert "REFUSED" in done.stdout and "library does not work here" in done.stdout, done.stdout
    return done.stdout.split("PROBLEM ")[1].splitlines()[0]


def test_missing_library(folder: Path) -> None:
    empty = folder / "nothing here"
    empty.mkdir()
    problem = look(folder, empty)
    assert "libgrain.so is missing" in problem and str(empty) in problem, problem


def test_library_that_is_none(folder: Path) -> None:
    (folder / "libgrain.so").write_text("not a library")
    problem = look(folder, folder)
    assert str(folder / "libgrain.so") in problem and "cannot be loaded" in problem, problem


def test_missing_program(folder: Path) -> None:
    shutil.copy(support.BUILD / "bin/libgrain.so", folder)
    problem = look(folder, folder)
    assert "'grain' is missing" in problem, problem


def test_program_without_its_execute_bit(folder: Path) -> None:
    from grain.engine import ffi
    for name in ("libgrain.so", "grain"):
        shutil.copy(support.BUILD / "bin" / name, folder)
    (folder / "grain").chmod(0o644)
    import os
    before = os.environ["GRAIN_LIBRARY_FOLDER"]
    os.environ["GRAIN_LIBRARY_FOLDER"] = str(folder)
    try:
        assert ffi.problem() is None
        assert ffi.program() == folder / "grain" and os.access(folder / "grain", os.X_OK)
    finally:
        os.environ["GRAIN_LIBRARY_FOLDER"] = before


def test_library_of_another_build(_: Path) -> None:
    from grain.engine import ffi
    assert ffi.problem() is None and ffi.version() == "0.1.0"
    version, structs = ffi.ABI_VERSION, ffi.STRUCTS
    try:
        ffi.ABI_VERSION = 99
        assert "interface 1, this add-on needs 99" in ffi._load().problem
        ffi.ABI_VERSION = version

        class GrainView(ffi.ctypes.Structure):
            _fields_ = [("data", ffi.c_void_p)]
        ffi.STRUCTS = (GrainView,)
        assert "GrainView has 24 bytes there and 8 here" in ffi._load().problem
    finally:
        ffi.ABI_VERSION, ffi.STRUCTS = version, structs


def test_frames_do_not_leak(folder: Path) -> None:
    from grain.engine import ffi
    scene = support.small_scene(3)
    support.save(folder)
    bpy.ops.grain.bake()
    for frame in (1, 2, 3, 1, 2, 3):
        scene.frame_set(frame)
    assert ffi.library().grain_allocated_bytes() == 0
