# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs made to harm: job.json that is no job, values of other types and ranges, arrays that hold no geometry."""
from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator

import watch
from hostile import Case

TEXTS: dict[str, bytes] = {
    "nothing": b"",
    "null": b"null",
    "a number": b"3",
    "a list": b"[]",
    "a text": b'"job"',
    "zeros": bytes(4096),
    "other bytes": bytes(range(256)),
    "bad UTF-8": b'{"schema": 1, "name": "\xff\xfe"}',
    "a byte order mark": b'\xef\xbb\xbf{"schema": 1}',
    "half an object": b'{"schema": 1, "name"',
    "one key twice": b'{"schema": 1, "schema": 1}',
    "deep lists": b"[" * 200000,
    "deep objects": b'{"a":' * 200000,
    "a number that is none": b'{"schema": NaN}',
    "a number too large": b'{"schema": 1e999}',
    "an integer too large": b'{"schema": ' + b"9" * 400 + b"}",
    "a comment": b'{"schema": 1 /* one */}',
    "another file": b"GRAINFRM" + bytes(120),
    "more behind it": b'{"schema": 1} {"schema": 1}',
    "a zero byte in a text": b'{"schema": 1, "name": "a\\u0000b"}',
    "a megabyte of a text": b'{"schema": "' + b"x" * (1 << 20) + b'"}',
    "no objects": b'{"schema": 1, "fps": 24, "frame_start": 1, "frame_end": 2}',
}
WRONG: tuple[tuple[str, tuple[object, ...]], ...] = (  # the place of a value, and what it cannot be
    ("schema", (0, -1, 1e308, "1", None)),
    ("name", (7, [], None)),
    ("fps", (0, -24, 1e308, "24", [], None)),
    ("frame_start", (2**40, 0.5, "1", None)),
    ("frame_end", (-(2**31), 2**31, 2**63 - 1, 0.5, [])),
    ("gravity", ([], [0, 0], [0, 0, "x"], [0, 0, 1e300], 9.81)),
    ("seed", (-1, 2**60, 0.5, "x")),
    ("checkpoint_every", (0, -1, 2**31)),
    ("solver", (None, [], 3, {})),
    ("solver.type", ("", "x" * 10000, "dem\x1b[2J", 3, None)),
    ("solver.particle_radius", (0, -1, 1e30, "x", None, [])),
    ("solver.size_spread", (-0.1, 7, "x")),
    ("solver.friction", (-1, 1e30, {})),
    ("geometry", (None, [], {})),
    ("geometry.file", ("", ".", "..", "../job.json", "/etc/hostname", "a/b", "x" * 5000, "none.bin", 3, "a\x1b]0;b")),
    ("geometry.bytes", (-1, 2**62, 0.5, "x", 10**9)),
    ("arrays", (None, {}, [[]], [{}])),
    ("arrays.0.type", ("f64", "", 3)),
    ("arrays.0.components", (0, -1, 17, 2**31)),
    ("arrays.0.count", (-1, 2**31, 2**62, 0.5)),
    ("arrays.0.offset", (-4, 1, 2**62, 2**63 - 1)),
    ("objects", (None, {}, [], [[]], [{}], [None])),
    ("objects.0.name", (3, None, [])),
    ("objects.0.role", ("", "hero\x1b[31m", 3)),
    ("objects.0.motion", ("flying", 3)),
    ("objects.0.positions", (-1, 99, 2**40, 0.5, "0", 1)),
    ("objects.0.triangles", (-1, 99, 2**40, 0)),
    (
        "objects.0.attributes",
        ({}, [{}], [None], [{"name": "position", "values": 0}], [{"name": "x" * 40, "values": 0}]),
    ),
    ("objects.0.attributes.0.name", ("", "a\x1b[2Jb" * 9, 3)),
    ("objects.0.attributes.0.values", (-1, 99)),
    ("objects.1.friction", (-1, "x", 1e30)),
    ("objects.2.plane", ({}, None, [])),
    ("objects.2.plane.normal", ([0, 0, 0], [0, 0], [1e300, 0, 0])),
    ("objects.3.density", (0, -1, 1e30)),
    ("objects.4.rate", (-1, 1e30, "x", None)),
    ("upsample.grains_per_particle", (0, -1, 1e30, "x")),
    ("volume.voxel_size", (0, -1, 1e30)),
    ("\x1b[2J", (1,)),
    ("x" * 10000, (1,)),
)
FLOATS = (math.nan, math.inf, -math.inf, 3.4e38)
INDICES = (-1, 1 << 20, 2**31 - 1, -(2**31))
OBJECTS = {"Block": 0, "Ball": 1, "Brick": 3, "Spout": 4, "Drain": 5}


def write(content: bytes) -> Callable[[watch.World], object]:
    return lambda world: (world.job / "job.json").write_bytes(content)


def set_value(place: str, value: object) -> Callable[[watch.World], object]:
    def change(world: watch.World) -> None:
        path = world.job / "job.json"
        document = json.loads(path.read_text())
        *inside, last = [int(word) if word.isdigit() else word for word in place.split(".")]
        holder = document
        for key in inside:
            holder = holder[key]
        holder[last] = value
        path.write_text(json.dumps(document))

    return change


def set_number(name: str, key: str, number: bytes) -> Callable[[watch.World], object]:
    """The first number of one of the arrays of an object."""

    def change(world: watch.World) -> None:
        document = json.loads((world.job / "job.json").read_text())
        path = world.job / document["geometry"]["file"]
        at, content = (
            document["arrays"][document["objects"][OBJECTS[name]][key]]["offset"],
            bytearray(path.read_bytes()),
        )
        content[at : at + 4] = number
        path.write_bytes(content)

    return change


def resize(share: float) -> Callable[[watch.World], object]:
    def change(world: watch.World) -> None:
        path = world.job / "geometry.bin"
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])

    return change


def stage_of(place: str) -> tuple[str, str]:
    """What reads the value, and from where."""
    return (
        ("upsample", "whole")
        if place.startswith("upsample")
        else ("volume", "whole")
        if place.startswith("volume")
        else ("bake", "none")
    )


def cases() -> Iterator[Case]:
    refused = frozenset((watch.JOB, watch.IO, watch.MEMORY))
    for name, content in TEXTS.items():
        yield Case(f"job.json is {name}", "bake", write(content), refused, start="none")
    for place, values in WRONG:
        for value in values:
            command, start = stage_of(place)
            yield Case(f"{place[:20]!r} is {str(value)[:20]!r}", command, set_value(place, value), refused, start=start)
    for name in OBJECTS:
        for value in FLOATS:
            yield Case(
                f"a vertex of {name} is {value:g}",
                "bake",
                set_number(name, "positions", struct.pack("<f", value)),
                refused,
                f"'{name}'",
                start="none",
            )
        for index in INDICES:
            yield Case(
                f"an index of {name} is {index}",
                "bake",
                set_number(name, "triangles", struct.pack("<i", index)),
                refused,
                f"'{name}'",
                start="none",
            )
    for share in (0.0, 0.3, 0.999):
        yield Case(f"geometry.bin is cut at {share}", "bake", resize(share), refused, "geometry.bin", start="none")
