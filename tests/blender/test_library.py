# SPDX-License-Identifier: GPL-3.0-or-later
"""libgrain and grain: found, checked, and missed with a message an artist can use."""
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import harness
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
    assert "REFUSED" in done.stdout and "library could not be loaded" in done.stdout, done.stdout
    return done.stdout.split("PROBLEM ")[1].splitlines()[0]


def test_missing_library(folder: Path) -> None:
    from grain.engine import ffi_files
    empty = folder / "nothing here"
    empty.mkdir()
    problem = look(folder, empty)
    assert f"{ffi_files.library_name()} is missing" in problem and str(empty) in problem, problem


def test_library_that_is_none(folder: Path) -> None:
    from grain.engine import ffi_files
    library = folder / ffi_files.library_name()
    library.write_text("not a library")
    problem = look(folder, folder)
    assert str(library) in problem and "cannot be loaded" in problem, problem


def test_missing_program(folder: Path) -> None:
    from grain.engine import ffi_files
    shutil.copy(support.BUILD / "bin" / ffi_files.library_name(), folder)
    problem = look(folder, folder)
    assert f"'{ffi_files.program_name()}' is missing" in problem, problem


def head_of(platform: str) -> bytes:
    """The first bytes of a library of that platform."""
    return {"windows-x64": b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0\x64\x86", "linux-x64": b"\x7fELF" + bytes(14) + b"\x3e\0",
            "linux-arm64": b"\x7fELF" + bytes(14) + b"\xb7\0", "macos-arm64": b"\xcf\xfa\xed\xfe\x0c\0\0\x01",
            "macos-x64": b"\xcf\xfa\xed\xfe\x07\0\0\x01"}[platform]


def test_zips_of_other_systems_are_named(folder: Path) -> None:
    from grain.engine import ffi, ffi_files
    here, names = ffi_files.this_platform(), {"windows": "grain.dll", "linux": "libgrain.so", "macos": "libgrain.dylib"}
    for number, (platform, label) in enumerate(ffi_files._LABELS.items()):
        (folder / str(number)).mkdir()
        library = folder / str(number) / names[platform.split("-")[0]]
        library.write_bytes(head_of(platform) + bytes(64))
        assert ffi_files.made_for(library) == platform
        if platform != here:
            problem = with_folder(folder / str(number), lambda: ffi._load().problem)
            assert f"This Grain is for {label}" in problem and f"{here}.zip" in problem, problem
    (folder / "short").write_bytes(b"\x7fELF")
    assert ffi_files.made_for(folder / "short") == "" == ffi_files.made_for(folder / "missing")


def with_folder(folder: Path, call: Callable[[], Any]) -> Any:
    """Calls with this as the folder of libgrain and grain."""
    before = os.environ["GRAIN_LIBRARY_FOLDER"]
    os.environ["GRAIN_LIBRARY_FOLDER"] = str(folder)
    try:
        return call()
    finally:
        os.environ["GRAIN_LIBRARY_FOLDER"] = before


def test_a_loaded_copy_lets_the_add_on_be_updated(folder: Path) -> None:
    """What Windows needs, tried where the system tells which files are mapped."""
    support.needs_posix("list of mapped files")
    from grain.engine import ffi, ffi_files
    (folder / "lib").mkdir()
    shutil.copy(support.BUILD / "bin/libgrain.so", folder / "lib")
    before = ffi_files.LOADS_COPY
    ffi_files.LOADS_COPY, os.environ["LOCALAPPDATA"] = True, str(folder / "local")
    try:
        loaded = with_folder(folder / "lib", ffi._load)
        again = with_folder(folder / "lib", lambda: ffi_files.to_load(folder / "lib/libgrain.so"))
        os.environ["LOCALAPPDATA"] = str(folder / "lib/libgrain.so")  # no folder
        nowhere = ffi_files.to_load(folder / "lib/libgrain.so")
    finally:
        ffi_files.LOADS_COPY = before
        del os.environ["LOCALAPPDATA"]
    assert loaded.library is not None, loaded.problem
    mapped = {line.split(None, 5)[5] for line in Path("/proc/self/maps").read_text().splitlines() if "libgrain.so" in line}
    mapped = {path.strip() for path in mapped if str(folder) in path}
    assert mapped == {str(again)} and folder / "local" in again.parents, mapped
    assert nowhere == folder / "lib/libgrain.so", "where there can be no copy, itself"
    old = again.parent.parent / "old"
    old.mkdir()
    (old / "libgrain.so").write_text("of last year")
    (old / "notes.txt").write_text("somebody else's")
    ffi_files._remove_old(old.parent, again.parent)
    assert (old / "libgrain.so").exists(), "younger than a day"
    os.utime(old, (0, 0))
    ffi_files._remove_old(old.parent, again.parent)
    assert [path.name for path in old.iterdir()] == ["notes.txt"] and again.is_file()


def test_marks_are_taken_off(folder: Path) -> None:
    """As macOS' mark of what came through a browser; here one of Linux'."""
    support.needs_posix("such marks")
    from grain.engine import ffi_files
    marked = folder / "marked \N{LATIN SMALL LETTER A WITH DIAERESIS}"
    marked.write_text("")
    try:
        os.setxattr(marked, "user.grain.test", b"0081;browser")
    except OSError as error:
        raise harness.Skip(f"no marks on this disk: {error.strerror}") from error
    assert ffi_files.remove_mark(marked, b"user.grain.test") and os.listxattr(marked) == []
    assert not ffi_files.remove_mark(marked, b"user.grain.test") and not ffi_files.remove_mark(folder / "none", b"user.grain.test")


def test_all_files_are_taken_from_quarantine(folder: Path) -> None:
    """The library with OpenVDB too, which nothing but the program and the library open."""
    from grain.engine import ffi_files
    taken: list[tuple[str, bytes]] = []
    system, remove_mark = sys.platform, ffi_files.remove_mark
    sys.platform, ffi_files.remove_mark = "darwin", lambda path, name: taken.append((path.name, name)) is None
    try:
        for name in ("libgrain.dylib", "grain"):
            ffi_files.release(folder / name)
    finally:
        sys.platform, ffi_files.remove_mark = system, remove_mark
    mark = b"com.apple.quarantine"
    assert sorted(taken) == [("grain", mark), ("libgrain.dylib", mark), ("libgrain_vdb.dylib", mark)], taken


def test_ends_of_children_in_words(_: Path) -> None:
    support.needs_posix("signals")
    from grain.engine import ending
    assert "SIGSEGV" in ending.death(-11, "/lib/grain", True, False) and ending.crash(-11) == "SIGSEGV"
    assert "memory ran out" in ending.death(-9, "/lib/grain", False, False) and ending.crash(-9) is None
    assert "ended from outside (SIGTERM)" in ending.death(-15, "/lib/grain", True, False)
    assert ending.death(1, "/lib/grain", True, False) is None and ending.death(4, "/lib/grain", False, True) is None
    system, sys.platform = sys.platform, "darwin"
    try:
        text = ending.death(-9, "/A dd/lib/grain", False, False)
        assert "macOS did not let /A dd/lib/grain run" in text and "xattr -dr com.apple.quarantine '/A dd/lib'" in text, text
        assert "memory ran out" in ending.death(-9, "/lib/grain", True, False), "it had run before"
    finally:
        sys.platform = system


def test_program_without_its_execute_bit(folder: Path) -> None:
    support.needs_posix("such bits")
    from grain.engine import ffi
    for name in ("libgrain.so", "grain"):
        shutil.copy(support.BUILD / "bin" / name, folder)
    (folder / "grain").chmod(0o644)
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
        assert f"interface {version}, this add-on needs 99" in ffi._load().problem
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
