# SPDX-License-Identifier: GPL-3.0-or-later
"""macOS binaries: only the system's own library, from macOS 11 on, signed so that an arm64 Mac runs them."""
from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import code_signature
import lief
from program_rules import Interface, part_of, shared_rules

MACHINES = {"macos-arm64": lief.MachO.Header.CPU_TYPE.ARM64, "macos-x64": lief.MachO.Header.CPU_TYPE.X86_64}
LIBRARIES = {"/usr/lib/libSystem.B.dylib"}
OLDEST_SYSTEM = (11, 0)
# Every file has its own of these, and sees no other's.
LINKER_SYMBOLS = {"_mh_execute_header", "_mh_dylib_header", "__dso_handle"}
# Zig's C++ library leaves these visible, and its linker takes no list of exports. They are weak: dyld lets all libraries of
# a process share one definition, and every one of them is malloc and free underneath.
NEW_AND_DELETE = re.compile(r"_?_Z(na|nw|da|dl)[a-zA-Z0-9_]*")
DEBUGGER_SYMBOL = 0xE0  # N_STAB
# Where functions of libSystem are declared, with the version of macOS that first had them.
HEADERS = ("aio", "copyfile", "ctype", "dirent", "dispatch/dispatch", "dlfcn", "execinfo", "fcntl", "fenv", "fts",
           "ftw", "glob", "inttypes", "libgen", "locale", "mach-o/dyld", "mach/mach", "mach/mach_time",
           "malloc/malloc", "math", "poll", "pthread", "pthread/qos", "pwd", "sched", "semaphore", "setjmp", "signal",
           "spawn", "stdio", "stdlib", "string", "strings", "sys/event", "sys/file", "sys/ioctl", "sys/mman",
           "sys/random", "sys/resource", "sys/select", "sys/socket", "sys/stat", "sys/sysctl", "sys/time", "sys/uio",
           "sys/utsname", "sys/wait", "syslog", "termios", "time", "unistd", "wchar", "wctype", "xlocale")


def parse(path: Path) -> lief.MachO.Binary:
    fat = lief.MachO.parse(str(path))
    assert fat is not None, f"{path} is no Mach-O file"
    assert fat.size == 1, f"{path} holds {fat.size} programs"
    return fat.at(0)


def plain(name: str) -> str:
    """C's name of a symbol."""
    return name.removeprefix("_")


def used_libraries(binary: lief.MachO.Binary) -> tuple[str, ...]:
    own = lief.MachO.LoadCommand.TYPE.ID_DYLIB
    return tuple(library.name for library in binary.libraries if library.command != own)


def interface(path: Path) -> Interface:
    binary = parse(path)
    imports = sorted(plain(symbol.name) for symbol in binary.imported_symbols)
    exports = sorted(plain(symbol.name) for symbol in binary.symbols if symbol.has_export_info)
    return Interface(used_libraries(binary), (), tuple(imports), tuple(exports))


def newer_imports(imports: Iterable[str], compiler: Path, folder: Path) -> dict[str, str]:
    """Functions that the oldest macOS lacks, and the version that has them: Zig's linker takes any, and a Mac that has
    not got them loads nothing. What no header declares, such as functions that only compilers call, is passed over."""
    names = sorted({name.partition("$")[0] for name in imports})
    source = folder / "imports.c"
    source.write_text("".join(f"#include <{name}.h>\n" for name in HEADERS)
                      + "".join(f"void *const import_{k} = (void *)&{name};\n" for k, name in enumerate(names)))
    command = [compiler, "-c", "-ferror-limit=0", "-Wunguarded-availability", source, "-o", folder / "imports.o"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "file not found" not in done.stderr, done.stderr[:500]
    return dict(re.findall(r"'(\w+)' is only available on macOS ([0-9.]+)", done.stderr))


def minimum_system(binary: lief.MachO.Binary) -> Iterator[str]:
    if not binary.has_build_version:
        yield "does not tell which macOS it needs (no LC_BUILD_VERSION)"
    elif binary.build_version.platform != lief.MachO.BuildVersion.PLATFORMS.MACOS:
        yield f"is for {binary.build_version.platform}"
    elif tuple(binary.build_version.minos[:2]) != OLDEST_SYSTEM:
        yield f"is for macOS {'.'.join(map(str, binary.build_version.minos))} and later"


def names(path: Path, binary: lief.MachO.Binary) -> Iterator[str]:
    own = [library.name for library in binary.libraries if library.command == lief.MachO.LoadCommand.TYPE.ID_DYLIB]
    wanted = [] if part_of(path) == "grain" else [f"@rpath/{path.name}"]
    if own != wanted:
        yield f"has the install name {own[0] if own else 'none'}"
    for command in binary.rpaths:
        if not command.path.startswith(("@loader_path", "@executable_path")):
            yield f"looks for libraries in {command.path}"


def left_over(binary: lief.MachO.Binary) -> Iterator[str]:
    has_segment = any(segment.name == "__DWARF" for segment in binary.segments)
    if has_segment or any(symbol.raw_type & DEBUGGER_SYMBOL for symbol in binary.symbols):
        yield "has symbols for a debugger: it is not stripped"


def signature(path: Path, binary: lief.MachO.Binary) -> Iterator[str]:
    if not binary.has_code_signature:
        yield "is not signed; an arm64 Mac would not load it"
        return
    place = binary.code_signature
    yield from code_signature.complaints(path.read_bytes(), place.data_offset, place.data_size)


def complaints(path: Path, platform: str) -> Iterator[str]:
    binary, found = parse(path), interface(path)
    if binary.header.cpu_type != MACHINES[platform]:
        yield f"is for {binary.header.cpu_type}"
    for library in found.libraries:
        if library not in LIBRARIES:
            yield f"needs {library}"
    yield from minimum_system(binary)
    yield from names(path, binary)
    yield from left_over(binary)
    yield from signature(path, binary)
    is_program = part_of(path) == "grain"
    if is_program and not binary.is_pie:
        yield "cannot be loaded anywhere (it is no PIE)"
    # The program is made of the library's objects, which name what the library offers.
    harmless = re.compile("main|grain_.*") if is_program else NEW_AND_DELETE
    exports = tuple(name for name in found.exports if name not in LINKER_SYMBOLS and not harmless.fullmatch(name))
    yield from shared_rules(path, found._replace(exports=exports))
