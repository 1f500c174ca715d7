# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs a Mach-O file of 64 bits ad hoc, in place, as `codesign --sign -` does: hashes of its pages, by nobody.

    python3 libgrain/platforms/sign_macho.py FILE ...

Zig's linker signs for arm64, where the system loads nothing else, but not for x86-64. A file that is signed already is
left alone. Layouts: xnu's mach-o/loader.h (little-endian) and cs_blobs.h (big-endian).
"""
from __future__ import annotations

import hashlib
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

MAGIC_64 = 0xFEEDFACF
EXECUTE = 2
SEGMENT_64, CODE_SIGNATURE = 0x19, 0x1D
HEADER_SIZE, COMMAND_SIZE = 32, 16
SEGMENT_PAGE = 0x4000  # the largest page of a Mac's processor; a segment may be larger than needed
EMBEDDED_SIGNATURE, CODE_DIRECTORY = 0xFADE0CC0, 0xFADE0C02
DIRECTORY_SIZE, DIRECTORY_VERSION = 88, 0x20400
AD_HOC, LINKER_SIGNED = 0x2, 0x20000
MAIN_BINARY = 1
SHA256, HASH_SIZE, PAGE_SHIFT = 2, 32, 12
ALIGNMENT = 16


class SignError(Exception):
    """A text for whoever runs the build."""


@dataclass(frozen=True)
class Segment:
    name: str
    place: int  # of its load command
    file_offset: int
    file_size: int


@dataclass(frozen=True)
class Layout:
    is_program: bool
    commands_end: int
    first_content: int  # the lowest offset of a section's bytes: load commands may grow up to there
    segments: dict[str, Segment]
    is_signed: bool


def read_layout(content: bytes) -> Layout:
    if len(content) < HEADER_SIZE or struct.unpack_from("<I", content)[0] != MAGIC_64:
        raise SignError("no Mach-O file of 64 bits")
    kind, count, size = struct.unpack_from("<III", content, 12)
    segments, signed, first, place = {}, False, len(content), HEADER_SIZE
    for _ in range(count):
        command, length = struct.unpack_from("<II", content, place)
        if command == SEGMENT_64:
            name = content[place + 8:place + 24].rstrip(b"\0").decode()
            offset, file_size = struct.unpack_from("<QQ", content, place + 40)
            segments[name] = Segment(name, place, offset, file_size)
            for k in range(struct.unpack_from("<I", content, place + 64)[0]):
                section, = struct.unpack_from("<I", content, place + 72 + 80 * k + 48)
                first = min(first, section or first)
        signed = signed or command == CODE_SIGNATURE
        place += length
    if place != HEADER_SIZE + size:
        raise SignError("its load commands do not add up")
    if "__LINKEDIT" not in segments or "__TEXT" not in segments:
        raise SignError("it lacks the segment __LINKEDIT or __TEXT")
    return Layout(kind == EXECUTE, place, first, segments, signed)


def signature_size(limit: int, identifier: bytes) -> int:
    pages = -(-limit // (1 << PAGE_SHIFT))
    return 12 + 8 + DIRECTORY_SIZE + len(identifier) + pages * HASH_SIZE


def signature(content: bytes, identifier: bytes, text: Segment, is_program: bool) -> bytes:
    """Over all of the content. The identifier ends with a zero byte."""
    limit = len(content)
    pages = range(0, limit, 1 << PAGE_SHIFT)
    hashes = [hashlib.sha256(content[start:start + (1 << PAGE_SHIFT)]).digest() for start in pages]
    hash_offset = DIRECTORY_SIZE + len(identifier)
    directory = struct.pack(">9I4B", CODE_DIRECTORY, hash_offset + len(hashes) * HASH_SIZE, DIRECTORY_VERSION,
                            AD_HOC | LINKER_SIGNED, hash_offset, DIRECTORY_SIZE, 0, len(hashes), limit,
                            HASH_SIZE, SHA256, 0, PAGE_SHIFT)
    kind = MAIN_BINARY if is_program else 0
    directory += struct.pack(">4IQ3Q", 0, 0, 0, 0, 0, text.file_offset, text.file_size, kind)
    if len(directory) != DIRECTORY_SIZE:
        raise AssertionError(len(directory))
    directory += identifier + b"".join(hashes)
    return struct.pack(">5I", EMBEDDED_SIGNATURE, 20 + len(directory), 1, 0, 20) + directory


def signed(content: bytes, name: str) -> bytes:
    """The file with a signature behind it, and the load command that says so."""
    layout = read_layout(content)
    if layout.is_signed:
        return content
    if layout.commands_end + COMMAND_SIZE > layout.first_content:
        raise SignError("there is no room for another load command (link with -headerpad)")
    linkedit, identifier = layout.segments["__LINKEDIT"], name.encode() + b"\0"
    if linkedit.file_offset + linkedit.file_size != len(content):
        raise SignError("__LINKEDIT is not the end of it")
    body = bytearray(content + bytes(-len(content) % ALIGNMENT))
    limit = len(body)
    size = signature_size(limit, identifier)
    count, commands = struct.unpack_from("<II", body, 16)
    struct.pack_into("<II", body, 16, count + 1, commands + COMMAND_SIZE)
    struct.pack_into("<4I", body, layout.commands_end, CODE_SIGNATURE, COMMAND_SIZE, limit, size)
    whole = limit + size - linkedit.file_offset
    struct.pack_into("<Q", body, linkedit.place + 32, -(-whole // SEGMENT_PAGE) * SEGMENT_PAGE)
    struct.pack_into("<Q", body, linkedit.place + 48, whole)
    made = signature(bytes(body), identifier, layout.segments["__TEXT"], layout.is_program)
    if len(made) != size:
        raise AssertionError(f"{len(made)} bytes instead of {size}")
    return bytes(body) + made


def sign(path: Path) -> None:
    content = path.read_bytes()
    try:
        result = signed(content, path.name)
    except struct.error as error:
        raise SignError(str(error)) from error
    if result != content:
        path.write_bytes(result)


def main() -> int:
    if len(sys.argv) < 2:
        print("usage: sign_macho.py FILE ...", file=sys.stderr)
        return 2
    for path in map(Path, sys.argv[1:]):
        try:
            sign(path)
        except (SignError, OSError) as error:
            print(f"sign_macho.py: {path}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
