# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh files made to harm, for `grain cover` and `grain sdf`: .ply, .obj and .stl that lie about themselves."""
from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import watch
from hostile import Case

BOX = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
FACES = (
    (0, 2, 1),
    (0, 3, 2),
    (4, 5, 6),
    (4, 6, 7),
    (0, 1, 5),
    (0, 5, 4),
    (2, 3, 7),
    (2, 7, 6),
    (1, 2, 6),
    (1, 6, 5),
    (0, 4, 7),
    (0, 7, 3),
)


def ply(head: str, rows: bytes = b"", form: str = "binary_little_endian") -> bytes:
    return f"ply\nformat {form} 1.0\n{head}end_header\n".encode() + rows


def ply_box(
    vertices: int | str = 8,
    faces: int | str = 12,
    extra: bytes = b"",
    count_type: str = "uchar",
    first: tuple[float, float, float] = BOX[0],
    corner: int = 0,
) -> bytes:
    """A closed box, whose header may say something else."""
    rows = b"".join(struct.pack("<3f", *p) + extra for p in (first, *BOX[1:]))
    triangles = ((corner, *FACES[0][1:]), *FACES[1:])
    code = {"uchar": "B", "int": "i", "float": "f", "double": "d"}.get(count_type, "B")
    rows += b"".join(struct.pack("<" + code, 3) + struct.pack("<3i", *t) for t in triangles)
    return ply(
        f"element vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\nelement face {faces}\n"
        f"property list {count_type} int vertex_indices\n",
        rows,
    )


def obj(vertices: tuple = BOX, faces: tuple = FACES, more: str = "") -> bytes:
    return "".join(
        [*(f"v {x} {y} {z}\n" for x, y, z in vertices), *(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces), more]
    ).encode()


def stl(count: int, rows: bytes) -> bytes:
    return bytes(80) + struct.pack("<I", count) + rows


TRIANGLE = struct.pack("<12fH", *([0] * 3), 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
NAN, INF, LARGE = float("nan"), float("inf"), 3.4e38
HEAD = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
FILES: dict[str, bytes] = {
    **{f"empty{end}": b"" for end in (".ply", ".obj", ".stl")},
    **{f"rubbish{end}": bytes(range(256)) * 4 for end in (".ply", ".obj", ".stl")},
    **{f"zeros{end}": bytes(4096) for end in (".ply", ".obj", ".stl")},
    "no extension": obj(),
    "an unknown.xyz": obj(),
    "rows longer than the header says.ply": ply_box(extra=bytes(4)),
    "a billion vertices.ply": ply_box(10**9),
    "minus one vertex.ply": ply_box(-1),
    "too few vertices.ply": ply_box(7),
    "nan vertices.ply": ply_box("nan"),
    "1e300 vertices.ply": ply_box("1e300"),
    "a billion faces.ply": ply_box(faces=10**9),
    "a list counted by floats.ply": ply_box(count_type="quarter"),
    "an index of -1.ply": ply_box(corner=-1),
    "an index of 2^31 - 1.ply": ply_box(corner=2**31 - 1),
    "an index of 8.ply": ply_box(corner=8),
    "a vertex at nan.ply": ply_box(first=(NAN, 0, 0)),
    "a vertex at infinity.ply": ply_box(first=(0, -INF, 0)),
    "a vertex at 3.4e38.ply": ply_box(first=(0, 0, LARGE)),
    "no end of the head.ply": b"ply\nformat ascii 1.0\nelement vertex 3\n",
    "no format.ply": b"ply\nelement vertex 0\nend_header\n",
    "another format.ply": ply(HEAD, form="binary_middle_endian"),
    "no faces.ply": ply(HEAD, bytes(36)),
    "properties of nothing.ply": ply("property float x\n"),
    "a property of no type.ply": ply("element vertex 1\nproperty thing x\n"),
    "100 elements.ply": ply("".join(f"element e{i} 1\nproperty char c\n" for i in range(100)), bytes(100)),
    "1000 properties.ply": ply(
        "element vertex 1\n" + "".join(f"property char c{i}\n" for i in range(1000)), bytes(1000)
    ),
    "a face of 4 billion corners.ply": ply(
        HEAD + "element face 1\nproperty list uint int vertex_indices\n", bytes(36) + b"\xff" * 40
    ),
    "a face of -1 corners.ply": ply(
        HEAD + "element face 1\nproperty list int int vertex_indices\n", bytes(36) + b"\xff" * 40
    ),
    "words for numbers.ply": ply(
        HEAD + "element face 1\nproperty list uchar int vertex_indices\n", b"one two three\n", form="ascii"
    ),
    "a head of a megabyte.ply": b"ply\n" + b"comment " + b"x" * (1 << 20),
    "an index of 0.obj": obj(faces=((-1, 1, 2),)),
    "an index of 9.obj": obj(faces=((0, 1, 8),)),
    "an index of -9.obj": obj(faces=()) + b"f -9 -1 -2\n",
    "an index of 2^63.obj": obj(faces=()) + b"f 9223372036854775807 1 2\n",
    "an index of 1e30.obj": obj(faces=()) + b"f 1e30 1 2\n",
    "no faces.obj": obj(faces=()),
    "no vertices.obj": obj(vertices=()),
    "a vertex at nan.obj": obj(((NAN, 0, 0), *BOX[1:])),
    "a vertex at infinity.obj": obj(((0, INF, 0), *BOX[1:])),
    "a vertex at 1e300.obj": obj(((0, 0, 1e300), *BOX[1:])),
    "half a vertex.obj": obj(more="v 1 2\n"),
    "words for numbers.obj": b"v one two three\n",
    "a line of a megabyte.obj": b"f " + b"1 " * (1 << 19),
    "faces of a line.obj": obj(faces=()) + b"f 1 2\n",
    "4 billion triangles.stl": stl(2**32 - 1, TRIANGLE),
    "fewer triangles than it says.stl": stl(12, TRIANGLE * 3),
    "no triangles.stl": stl(0, b""),
    "half a triangle.stl": stl(1, TRIANGLE[:20]),
    "nan everywhere.stl": stl(2, struct.pack("<12fH", *[NAN] * 12, 0) * 2),
    "a text that ends.stl": b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n",
    "a text without numbers.stl": b"solid a\nfacet normal\nvertex x y z\n",
    "all at one point.stl": stl(4, struct.pack("<12fH", *[1.0] * 12, 0) * 4),
    "3.4e38 everywhere.stl": stl(1, struct.pack("<12fH", 0, 0, 1, LARGE, 0, 0, -LARGE, 0, 0, 0, LARGE, 0, 0)),
}


SOLID = {("sdf", "all at one point.stl")}  # a point has distances around it


def put(name: str, content: bytes) -> Callable[[watch.World], object]:
    return lambda world: (world.folder / name).write_bytes(content)


def make(name: str, way: Callable[[Path], object]) -> Callable[[watch.World], object]:
    return lambda world: way(world.folder / name)


def link(target: str) -> Callable[[Path], object]:
    return lambda path: os.symlink(target, path)


THINGS: dict[str, Callable[[Path], object]] = {
    "folder.ply": os.mkdir,
    "pipe.obj": os.mkfifo,
    "link to itself.stl": link("link to itself.stl"),
    "device.obj": link("/dev/zero"),
    "link to nothing.ply": link("none"),
    "missing.ply": lambda path: None,
}


def cases() -> Iterator[Case]:
    refused = frozenset((watch.JOB, watch.IO, watch.MEMORY))
    for command in ("cover", "sdf"):
        for name, content in FILES.items():
            codes = refused | {watch.DONE} if (command, name) in SOLID else refused
            yield Case(name, command, put(name, content), codes, name, start="none", inside=name)
        for name, way in THINGS.items():
            yield Case(name, command, make(name, way), refused, name, start="none", inside=name)
