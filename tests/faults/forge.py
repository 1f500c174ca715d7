# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a cache changed on purpose, every checksum made right again: only the values can give them away.

Written from libgrain/docs/formats.md, like tests/grains_reader.py, whose checksum this shares.
"""
from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

from grains_reader import checksum

MAGIC, PACKED_MAGIC = b"GRAINFRM", b"GRAINPTS"
HEAD, ENTRY = 64, 64
CODES = "fidq"  # of struct, for the types of columns: f32, i32, f64, i64
# Offset and code of struct of each field of the header.
FIELDS = {
    "magic": (0, "8s"),
    "format": (8, "I"),
    "frame": (12, "i"),
    "time": (16, "d"),
    "particles": (24, "q"),
    "columns": (32, "I"),
    "substep": (36, "I"),
    "bytes": (40, "Q"),
}
PACKED_FIELDS = {**FIELDS, "chunks": (36, "I")}
# Of an entry of the table of columns.
ENTRY_FIELDS = {"name": (0, "32s"), "type": (32, "I"), "components": (36, "I"), "offset": (40, "Q"), "count": (48, "Q")}
PACKED_ENTRY_FIELDS = {
    "name": (0, "32s"),
    "type": (32, "I"),
    "components": (36, "I"),
    "coding": (40, "I"),
    "step": (48, "d"),
}
BLOCK_FIELDS = {
    "offset": (0, "Q"),
    "checksum": (8, "Q"),
    "key_checksum": (16, "Q"),
    "bytes": (24, "I"),
    "key_frame": (28, "i"),
    "mode": (32, "B"),
    "coding": (33, "B"),
    "spent": (36, "I"),
}


@dataclass
class Column:
    name: str
    number: int
    type: int
    components: int
    offset: int = 0
    count: int = 0

    @property
    def values(self) -> int:
        return self.count * self.components

    @property
    def width(self) -> int:
        return struct.calcsize(CODES[self.type])


class File:
    """A .grain file in memory. `sealed` gives its bytes with the checksum that they need."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self.is_packed = data[:8] == PACKED_MAGIC
        self.head = self.get("columns") * ENTRY + HEAD
        self.chunks: list[int] = []
        if self.is_packed:
            self.chunks = list(struct.unpack_from(f"<{self.get('chunks')}I", data, self.head))
            self.blocks_at = self.head + (4 * len(self.chunks) + 7) // 8 * 8
            self.head = self.blocks_at + 40 * len(self.chunks) * self.get("columns")
        self.columns = {column.name: column for column in map(self._column, range(self.get("columns")))}

    def _column(self, number: int) -> Column:
        name, kind, components = struct.unpack_from("<32sII", self.data, HEAD + ENTRY * number)
        offset, count = (0, 0) if self.is_packed else struct.unpack_from("<QQ", self.data, HEAD + ENTRY * number + 40)
        return Column(name.rstrip(b"\0").decode(), number, kind, components, offset, count)

    def get(self, field: str) -> int:
        at, code = (PACKED_FIELDS if self.is_packed else FIELDS)[field]
        return struct.unpack_from("<" + code, self.data, at)[0]

    def put(self, field: str, value: object) -> None:
        at, code = (PACKED_FIELDS if self.is_packed else FIELDS)[field]
        struct.pack_into("<" + code, self.data, at, value)

    def put_entry(self, column: str, field: str, value: object) -> None:
        """In the table of columns."""
        at, code = (PACKED_ENTRY_FIELDS if self.is_packed else ENTRY_FIELDS)[field]
        struct.pack_into("<" + code, self.data, HEAD + ENTRY * self.columns[column].number + at, value)

    def put_block(self, number: int, field: str, value: object) -> None:
        """In the entry of a packed block."""
        at, code = BLOCK_FIELDS[field]
        struct.pack_into("<" + code, self.data, self.blocks_at + 40 * number + at, value)

    def get_block(self, number: int, field: str) -> int:
        at, code = BLOCK_FIELDS[field]
        return struct.unpack_from("<" + code, self.data, self.blocks_at + 40 * number + at)[0]

    @property
    def block_count(self) -> int:
        return len(self.chunks) * len(self.columns)

    def values(self, column: str) -> list:
        c = self.columns[column]
        return list(struct.unpack_from(f"<{c.values}{CODES[c.type]}", self.data, c.offset))

    def set_value(self, column: str, index: int, value: float) -> None:
        c = self.columns[column]
        struct.pack_into("<" + CODES[c.type], self.data, c.offset + index * c.width, value)

    def set_all(self, column: str, value: float) -> None:
        for index in range(self.columns[column].values):
            self.set_value(column, index, value)

    def sealed(self) -> bytes:
        if not self.is_packed:
            self.data[48:56] = bytes(8)
            self.data[48:56] = struct.pack("<Q", checksum(bytes(self.data)))
            return bytes(self.data)
        for number in range(self.block_count):
            at, size = self.get_block(number, "offset"), self.get_block(number, "bytes")
            self.put_block(number, "checksum", checksum(bytes(self.data[at : at + size])) if size else 0)
        return self.sealed_head()

    def sealed_head(self) -> bytes:
        """Of a packed file: the blocks keep the checksums they say they have."""
        self.data[48:56] = bytes(8)
        self.data[48:56] = struct.pack("<Q", checksum(bytes(self.data[: self.head])))
        return bytes(self.data)

    @property
    def seal(self) -> int:
        """What the manifest lists as the checksum."""
        return struct.unpack_from("<Q", self.data, 48)[0]


class Manifest:
    """cache.json as a document that can be changed."""

    def __init__(self, cache: Path) -> None:
        self.path = cache / "cache.json"
        self.data: dict = json.loads(self.path.read_text())
        self.data.pop("checksum")

    def entry_of(self, name: str) -> dict | None:
        """What lists the file: coarse_000002.grain, birth_000001.grain, grains_..., volume_..."""
        kind, _, number = name.partition(".")[0].rpartition("_")
        if kind not in ("birth", "coarse", "grains", "volume"):
            return None
        frame = int(number) - (self.data["streams"]["volume"].get("number_shift", 0) if kind == "volume" else 0)
        return next((e for e in self.data["births" if kind == "birth" else "frames"] if e["frame"] == frame), None)

    def write(self, text: str | None = None) -> None:
        body = text if text is not None else json.dumps(self.data, indent=1)
        self.path.write_bytes(sealed_text(body))


def sealed_text(text: str) -> bytes:
    """A manifest's text, a JSON object without its checksum, with that of what it says."""
    body = text.rstrip().removesuffix("}").rstrip().encode("utf-8", "surrogateescape")
    return body + f',\n "checksum": "{checksum(body):016x}"\n}}'.encode()


def plant(path: Path, data: bytes) -> None:
    """Puts a forged file into its place and makes the manifest list it as it is now."""
    path.write_bytes(data)
    manifest = Manifest(path.parent)
    entry = manifest.entry_of(path.name)
    if entry is None:
        return
    is_grain = data[:8] in (MAGIC, PACKED_MAGIC) and len(data) >= HEAD
    seal = struct.unpack_from("<Q", data, 48)[0] if is_grain else checksum(data)
    entry.update(bytes=len(data), checksum=f"{seal:016x}")
    if is_grain:
        entry["particles"] = max(0, struct.unpack_from("<q", data, 24)[0])
    manifest.write()
