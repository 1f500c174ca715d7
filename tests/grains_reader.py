# SPDX-License-Identifier: GPL-3.0-or-later
"""A second reader of packed grains, written from libgrain/docs/formats.md alone: what the page says is what this does.

Nothing of libgrain is used; zstd and XXH3 are the system's own libraries.
"""
from __future__ import annotations

import array
import ctypes
import math
import struct
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

_zstd = ctypes.CDLL("libzstd.so.1")
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
_xxhash = ctypes.CDLL("libxxhash.so.0")
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

EXACT, LATTICE, ROTATION = 0, 1, 2  # codings
PLAIN, DELTA, KEY, SAME = 0, 1, 2, 3  # modes
ROTATION_STEP = math.sqrt(0.5) / 511


@dataclass
class Column:
    name: str
    type: int  # 0 f32, 1 i32, 2 f64, 3 i64
    components: int
    coding: int
    step: float


@dataclass
class Block:
    offset: int
    checksum: int
    key_checksum: int
    bytes: int
    key_frame: int
    mode: int
    coding: int
    spent: int


class Damaged(Exception):
    pass


def checksum(data: bytes) -> int:
    return _xxhash.XXH3_64bits(data, len(data))


class GrainsFile:
    """The head of a file, and its columns on demand."""

    def __init__(self, path: Path) -> None:
        self.path, self.data = path, path.read_bytes()
        magic, file_format, self.frame, self.time, self.grains, columns, chunks, size, head_checksum = struct.unpack_from(
            "<8sIidqIIQQ", self.data)
        if magic != b"GRAINPTS" or file_format != 2 or size != len(self.data):
            raise Damaged("not a whole file of grains")
        at = 64
        self.columns = []
        for _ in range(columns):
            name, kind, components, coding, _, step = struct.unpack_from("<32sIIIId", self.data, at)
            self.columns.append(Column(name.rstrip(b"\0").decode(), kind, components, coding, step))
            at += 64
        self.chunk_grains = struct.unpack_from(f"<{chunks}I", self.data, at)
        at += (4 * chunks + 7) // 8 * 8
        self.blocks = []
        for _ in range(chunks):
            self.blocks.append([Block(*struct.unpack_from("<QQQIiBBxxI", self.data, at + 40 * c)) for c in range(columns)])
            at += 40 * columns
        if checksum(self.data[:48] + bytes(8) + self.data[56:at]) != head_checksum:
            raise Damaged("the head's checksum is wrong")

    def column_number(self, name: str) -> int:
        return [column.name for column in self.columns].index(name)

    def key(self, frame: int) -> GrainsFile:
        return GrainsFile(self.path.with_name(f"grains_{frame:06d}.grain"))

    def words(self, chunk: int, column: int) -> list[list[int]]:
        """A list of whole numbers for each word of the column's values."""
        block, count = self.blocks[chunk][column], self.chunk_grains[chunk]
        against = None
        if block.mode in (KEY, SAME):
            key = self.key(block.key_frame)
            if key.blocks[chunk][column].checksum != block.key_checksum:
                raise Damaged("the key frame is another one")
            against = key.words(chunk, column)
            if block.mode == SAME:
                return against
        data = self.data[block.offset:block.offset + block.bytes]
        if checksum(data) != block.checksum:
            raise Damaged("a block's checksum is wrong")
        width = word_count(self.columns[column], block.coding)
        planes = data[:width]
        lengths = list(struct.unpack_from(f"<{sum(planes)}I", data, width))
        at, words = width + 4 * sum(planes), []
        for word in range(width):
            folded = [0] * count
            for plane in range(planes[word]):
                length = lengths.pop(0)
                values = unpack(data[at:at + length], count)
                folded = [f | v << 8 * plane for f, v in zip(folded, values)]
                at += length
            differences = [(f >> 1) ^ -(f & 1) for f in folded]
            if block.mode == DELTA:
                differences = list(accumulate(differences))
            elif block.mode == KEY:
                differences = [d + k for d, k in zip(differences, against[word])]
            words.append([wrapped(d) for d in differences])
        return words

    def column(self, name: str) -> array.array:
        """The values of every grain, one behind the other."""
        number = self.column_number(name)
        column = self.columns[number]
        values = array.array("fidq"[column.type])
        for chunk, count in enumerate(self.chunk_grains):
            if count:
                values.extend(decoded(column, self.blocks[chunk][number].coding, self.words(chunk, number)))
        return values


def word_count(column: Column, coding: int) -> int:
    return column.components * (2 if coding == EXACT and column.type >= 2 else 1)


def unpack(data: bytes, count: int) -> bytes:
    if len(data) == 0:
        return bytes(count)
    if len(data) == count:
        return data
    plane = ctypes.create_string_buffer(count)
    if _zstd.ZSTD_decompress(plane, count, data, len(data)) != count:
        raise Damaged("a plane cannot be unpacked")
    return plane.raw


def wrapped(value: int) -> int:
    """As a signed number of 32 bits."""
    return (value + 2 ** 31) % 2 ** 32 - 2 ** 31


def decoded(column: Column, coding: int, words: list[list[int]]) -> array.array:
    rows = zip(*words)
    if coding == LATTICE:
        return array.array("f", [word * column.step for row in rows for word in row])
    if coding == EXACT:
        bits = array.array("i", [word for row in rows for word in row]).tobytes()
        return array.array("fidq"[column.type], bits)
    values = array.array("f")
    for largest, *parts in rows:
        others = [part * ROTATION_STEP for part in parts]
        others.insert(largest, math.sqrt(max(0.0, 1.0 - sum(part * part for part in others))))
        values.extend(others)
    return values


def read(path: Path) -> dict[str, array.array]:
    file = GrainsFile(path)
    return {column.name: file.column(column.name) for column in file.columns}
