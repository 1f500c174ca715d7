# SPDX-License-Identifier: GPL-3.0-or-later
"""Linux binaries: nothing asked of the system but the C library, as old as Blender's own minimum."""
from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import lief
from program_rules import Interface, part_of, shared_rules

NEWEST_GLIBC = (2, 28)  # what Blender itself asks for
MACHINES = {"linux-x64": lief.ELF.ARCH.X86_64, "linux-arm64": lief.ELF.ARCH.AARCH64}
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2"}
LOADERS = {"linux-x64": "ld-linux-x86-64.so.2", "linux-arm64": "ld-linux-aarch64.so.1"}
COPY = {lief.ELF.Relocation.TYPE.X86_64_COPY, lief.ELF.Relocation.TYPE.AARCH64_COPY}
TAG = lief.ELF.DynamicEntry.TAG


def parse(path: Path) -> lief.ELF.Binary:
    binary = lief.ELF.parse(str(path))
    assert binary is not None, f"{path} is no ELF file"
    return binary


def interface(path: Path) -> Interface:
    binary = parse(path)
    versions = {f"{need.name}: {version.name}" for need in binary.symbols_version_requirement
                for version in need.get_auxiliary_symbols()}
    named = [symbol for symbol in binary.dynamic_symbols if symbol.name]
    return Interface(tuple(binary.libraries), tuple(sorted(versions)),
                     tuple(sorted(symbol.name for symbol in named if symbol.imported)),
                     tuple(sorted(symbol.name for symbol in named if symbol.exported)))


def new_versions(versions: tuple[str, ...]) -> Iterator[str]:
    for text in versions:
        match = re.fullmatch(r"\S+: GLIBC_([0-9.]+)", text)
        if match is None:
            yield f"asks for the symbol version {text}"
        elif tuple(int(number) for number in match.group(1).split(".")) > NEWEST_GLIBC:
            yield f"asks for the symbol version {text}, newer than {'.'.join(map(str, NEWEST_GLIBC))}"


def run_paths(binary: lief.ELF.Binary) -> Iterator[str]:
    for entry in binary.dynamic_entries:
        if entry.tag in (TAG.RPATH, TAG.RUNPATH):
            for path in entry.paths:
                if path != "$ORIGIN":
                    yield f"looks for libraries in {path}"
        if entry.tag == TAG.TEXTREL:
            yield "changes its own code while it is loaded (TEXTREL)"


def left_over(binary: lief.ELF.Binary) -> Iterator[str]:
    for section in binary.sections:
        if re.match(r"\.z?debug|\.stab|\.gnu_debug|\.symtab$|\.gnu\.lto", section.name):
            yield f"has the section {section.name}: it is not stripped"


def stack(binary: lief.ELF.Binary) -> Iterator[str]:
    stacks = [segment for segment in binary.segments if segment.type == lief.ELF.Segment.TYPE.GNU_STACK]
    if not stacks or any(lief.ELF.Segment.FLAGS.X in segment for segment in stacks):
        yield "lets the stack be executed"


def complaints(path: Path, platform: str) -> Iterator[str]:
    binary, found = parse(path), interface(path)
    if binary.header.machine_type != MACHINES[platform]:
        yield f"is for {binary.header.machine_type}"
    for library in found.libraries:
        if library not in LIBRARIES | {LOADERS[platform]}:
            yield f"needs {library}"
    yield from new_versions(found.versions)
    yield from run_paths(binary)
    yield from left_over(binary)
    yield from stack(binary)
    is_program = part_of(path) == "grain"
    if is_program and not binary.is_pie:
        yield "cannot be loaded anywhere (it is no PIE)"
    # A program holds the C library's variables, such as stdout, and has to offer them to it.
    copied = {relocation.symbol.name for relocation in binary.dynamic_relocations
              if is_program and relocation.type in COPY}
    exports = tuple(name for name in found.exports if name not in copied)
    yield from shared_rules(path, found._replace(exports=exports))
