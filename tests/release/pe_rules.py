# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows binaries: only libraries that every Windows 10 has, and the protections that Windows offers switched on."""
from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import lief
from program_rules import Interface, part_of, shared_rules

LIBRARIES = {"kernel32.dll", "msvcrt.dll", "ucrtbase.dll", "shell32.dll", "advapi32.dll", "user32.dll", "ole32.dll",
             "bcrypt.dll", "ntdll.dll"}
UNIVERSAL = re.compile(r"api-ms-win-(crt|core)-[a-z0-9-]+\.dll")
FLAGS = lief.PE.OptionalHeader.DLL_CHARACTERISTICS
PROTECTIONS = {FLAGS.DYNAMIC_BASE: "ASLR", FLAGS.NX_COMPAT: "NX", FLAGS.HIGH_ENTROPY_VA: "ASLR over 64 bits"}


def parse(path: Path) -> lief.PE.Binary:
    binary = lief.PE.parse(str(path))
    assert binary is not None, f"{path} is no PE file"
    return binary


def interface(path: Path) -> Interface:
    binary = parse(path)
    exports = tuple(sorted(entry.name for entry in binary.get_export().entries)) if binary.has_exports else ()
    names = sorted(entry.name for library in binary.imports for entry in library.entries if not entry.is_ordinal)
    libraries = sorted(library.name for library in (*binary.imports, *binary.delay_imports))
    return Interface(tuple(libraries), (), tuple(names), exports)


def complaints(path: Path, platform: str) -> Iterator[str]:
    binary, found = parse(path), interface(path)
    if platform != "windows-x64" or binary.header.machine != lief.PE.Header.MACHINE_TYPES.AMD64:
        yield f"is for {binary.header.machine}"
    for library in found.libraries:
        if library.lower() not in LIBRARIES and not UNIVERSAL.fullmatch(library.lower()):
            yield f"needs {library}"
    for flag, name in PROTECTIONS.items():
        if not binary.optional_header.has(flag):
            yield f"is without {name}"
    if not binary.has_relocations:
        yield "cannot be loaded anywhere (it has no relocations)"
    has_section = any(section.name.startswith((".debug", ".stab", "/")) for section in binary.sections)
    if has_section or binary.header.numberof_symbols:
        yield "has symbols for a debugger: it is not stripped"
    if any(entry.type == lief.PE.Debug.TYPES.CODEVIEW for entry in binary.debug):
        yield "names the file of its symbols"
    # The linker writes the time there, and two builds would differ.
    if binary.header.time_date_stamps:
        yield f"carries the time of its linking ({binary.header.time_date_stamps})"
    if part_of(path) == "grain" and binary.optional_header.subsystem != lief.PE.OptionalHeader.SUBSYSTEM.WINDOWS_CUI:
        yield "is no console program"
    # The program is linked from the library's objects, which say themselves that they are to be exported.
    is_program = part_of(path) == "grain"
    exports = tuple(name for name in found.exports if not (is_program and name.startswith("grain_")))
    yield from shared_rules(path, found._replace(exports=exports))
