# SPDX-License-Identifier: GPL-3.0-or-later
"""The library as seen from outside: what it exports, its structs, and the add-on's mirror of them."""
from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import jobs
import program
from interface import LIBRARY, load_ffi, load_library, symbols

ROOT = Path(__file__).resolve().parent.parent.parent
INCLUDE = ROOT / "libgrain/include"
COMPILER = "x86_64-w64-mingw32-gcc-posix" if program.IS_WINDOWS else "cc"


def exported() -> set[str]:
    if not program.IS_WINDOWS:
        return symbols("--defined-only")
    listing = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", LIBRARY], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^\s*\[\s*\d+\] (\w+)$", listing.split("[Ordinal/Name Pointer]")[1], re.MULTILINE))


def public_text() -> str:
    return "\n".join(path.read_text() for path in sorted(INCLUDE.glob("grain/*.h")))


def test_only_grain_symbols_are_exported(_: Path) -> None:
    names = exported()
    declared = set(re.findall(r"GRAIN_API[^;{]*?\b(grain_\w+)\(", public_text()))
    assert names == declared, f"exported but not declared: {names - declared}; declared but missing: {declared - names}"


def test_every_public_struct_is_in_the_size_table(_: Path) -> None:
    library = load_library()
    structs = re.findall(r"typedef struct (Grain\w+) \{", public_text())
    assert len(structs) > 5
    for name in structs:
        assert library.grain_struct_size(name.encode()) > 0, f"{name} is missing in src/base/base.c"


def c_layout(folder: Path, structs: list[type[ctypes.Structure]]) -> dict[str, int]:
    """Size, and offset and size of each field, as the C compiler sees them."""
    lines = []
    for struct in structs:
        name = struct.__name__
        lines.append(f'printf("{name} %d\\n", (int)sizeof({name}));')
        for field, *_ in struct._fields_:
            lines.append(f'printf("{name}.{field} %d\\n", (int)offsetof({name}, {field}));')
            lines.append(f'printf("{name}.{field}.size %d\\n", (int)sizeof((({name} *)0)->{field}));')
    source = folder / "layout.c"
    source.write_text("#include <grain/grain.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n"
                      + "\n".join(lines) + "\nreturn 0; }\n")
    layout = folder / "layout.exe"
    subprocess.run([COMPILER, "-I", INCLUDE, source, "-o", layout], check=True)
    output = subprocess.run([*program.RUNNER, layout], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}


def test_ctypes_mirrors_equal_the_compiled_structs(folder: Path) -> None:
    ffi = load_ffi()
    layout = c_layout(folder, ffi.STRUCTS)
    for struct in ffi.STRUCTS:
        name = struct.__name__
        assert ctypes.sizeof(struct) == layout[name], f"{name} has {ctypes.sizeof(struct)} bytes, C has {layout[name]}"
        for field, *_ in struct._fields_:
            mirror = getattr(struct, field)
            assert mirror.offset == layout[f"{name}.{field}"], f"{name}.{field}"
            assert mirror.size == layout[f"{name}.{field}.size"], f"{name}.{field}"
        fields = re.search(rf"typedef struct {name} \{{(.*?)\n\}}", public_text(), re.S).group(1)
        code = re.sub(r"//.*", "", fields)
        declared = sum(part.count(",") + 1 for part in code.split(";") if part.strip())
        assert declared == len(struct._fields_), f"{name} has {declared} fields in C, {len(struct._fields_)} here"


def without_comments() -> str:
    return re.sub(r"//.*", "", public_text())


def struct_fields() -> dict[str, list[str]]:
    """Of each public struct the names of its fields, in order."""
    found = {}
    for name, body in re.findall(r"typedef struct (Grain\w+) \{(.*?)\n?\} \1;", without_comments(), re.S):
        found[name] = []
        for declaration in filter(str.strip, body.split(";")):
            pointer = re.search(r"\(\*(\w+)\)\(", declaration)
            found[name] += [pointer[1]] if pointer else [re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", part)[1] for part in declaration.split(",")]
    return found


def enum_values() -> list[str]:
    bodies = re.findall(r"typedef enum Grain\w+ \{(.*?)\}", without_comments(), re.S)
    return re.findall(r"\b(GRAIN_\w+)\s*=", "".join(bodies))


def interface(folder: Path) -> list[str]:
    """Size of every public struct, offset and size of each field, value of every enumerator: as compiled."""
    lines = [f'printf("{name} %d\\n", (int){name});' for name in enum_values()]
    for name, fields in struct_fields().items():
        lines.append(f'printf("{name} %d\\n", (int)sizeof({name}));')
        lines += [f'printf("{name}.{field} %d %d\\n", (int)offsetof({name}, {field}), (int)sizeof((({name} *)0)->{field}));'
                  for field in fields]
    source, made = folder / "interface.c", folder / "interface.exe"
    source.write_text("#include <grain/grain.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n"
                      + "\n".join(lines) + "\nreturn 0; }\n")
    subprocess.run([COMPILER, "-I", INCLUDE, source, "-o", made], check=True)
    return subprocess.run([*program.RUNNER, made], capture_output=True, text=True, check=True).stdout.splitlines()


def abi_version() -> int:
    return int(re.search(r"#define GRAIN_ABI_VERSION (\d+)", public_text())[1])


def golden() -> Path:
    return ROOT / f"tests/data/abi_{abi_version()}.txt"


def test_no_struct_changes_without_its_number(folder: Path) -> None:
    known = golden().read_text().splitlines() if golden().is_file() else []
    now = interface(folder)
    assert len(now) > 200, "the headers were not understood"
    changes = [f"+ {line}" for line in now if line not in known] + [f"- {line}" for line in known if line not in now]
    assert not changes, (
        f"the public interface is not that of {golden().name}: {'; '.join(changes[:12])}{' ...' if len(changes) > 12 else ''}. "
        "Raise GRAIN_ABI_VERSION (libgrain/include/grain/base.h) and ABI_VERSION (addon/grain/engine/ffi.py), unless nothing of "
        f"interface {abi_version()} has been released yet; then `GRAIN_TEST_BUILD=build/release PYTHONPATH=tests python3 tests/cli/test_abi.py` writes the file")


def test_prototypes_exist(_: Path) -> None:
    ffi, library = load_ffi(), load_library()
    for name in ffi.PROTOTYPES:
        assert hasattr(library, name), name
    assert library.grain_abi_version() == ffi.ABI_VERSION


def test_header_is_clean_c_and_cpp_without_holes(folder: Path) -> None:
    for compiler, name, standard in (("cc", "a.c", "-std=c17"), ("c++", "a.cpp", "-std=c++17")):
        (folder / name).write_text("#include <grain/grain.h>\nint main(void) { return 0; }\n")
        done = subprocess.run([compiler, standard, "-Wall", "-Wextra", "-Wpadded", "-Wpedantic", "-Werror", "-fsyntax-only",
                               "-I", INCLUDE, folder / name], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_frames_through_ctypes_and_errors_in_words(folder: Path) -> None:
    job = jobs.small(frame_end=2).write(folder / "job")
    program.run("bake", job, check=0)
    ffi, library = load_ffi(), load_library()
    for name, (result, arguments) in ffi.PROTOTYPES.items():
        getattr(library, name).restype, getattr(library, name).argtypes = result, arguments
    frame = ctypes.c_void_p()
    assert library.grain_frame_read(str(job / "cache/coarse_000002.grain").encode(), ctypes.byref(frame)) == 0
    view = ffi.GrainView()
    assert library.grain_frame_column(frame, b"position", ctypes.byref(view)) == 0
    info = ffi.GrainFrameInfo(struct_size=ctypes.sizeof(ffi.GrainFrameInfo))
    assert library.grain_frame_info(frame, ctypes.byref(info)) == 0
    assert info.frame == 2 and info.particles == view.count > 100 and view.components == 3
    library.grain_frame_destroy(frame)
    assert library.grain_allocated_bytes() == 0
    assert library.grain_frame_read(b"/no/such/file", ctypes.byref(frame)) == -5 and not frame.value
    assert b"/no/such/file" in library.grain_last_error()


if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as place:
        golden().write_text("\n".join(interface(Path(place))) + "\n")
