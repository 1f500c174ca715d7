# SPDX-License-Identifier: GPL-3.0-or-later
"""`grain export`: frames as PLY and OpenVDB points, read back without any code of ours."""
from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import grains_reader
import jobs
import program
from frames import column, grids_of, need_openvdb

FORMATS = {"float": "f", "int": "i", "double": "d"}


def read_ply(path: Path) -> tuple[list[str], list[tuple]]:
    """Names of the properties and the rows of a binary PLY's vertices."""
    data = path.read_bytes()
    end = data.index(b"end_header\n") + len(b"end_header\n")
    lines = data[:end].decode().splitlines()
    assert lines[:2] == ["ply", "format binary_little_endian 1.0"]
    count = next(int(line.split()[2]) for line in lines if line.startswith("element vertex"))
    properties = [line.split()[1:] for line in lines if line.startswith("property")]
    row = struct.Struct("<" + "".join(FORMATS[kind] for kind, _ in properties))
    assert len(data) == end + count * row.size
    return [name for _, name in properties], [row.unpack_from(data, end + i * row.size) for i in range(count)]


def baked(folder: Path, **settings: object) -> Path:
    job = jobs.small(frame_end=3, upsample={"grains_per_particle": 5}, **settings).write(folder / "job")
    program.run("bake", job, check=0)
    program.run("upsample", job, check=0)
    return job


def grains_column(path: Path, name: str) -> list[tuple[float, ...]]:
    """A column of packed grains, by the second reader."""
    components = next(c.components for c in grains_reader.GrainsFile(path).columns if c.name == name)
    numbers = grains_reader.read(path)[name]
    return [tuple(numbers[i:i + components]) for i in range(0, len(numbers), components)]


def test_ply_holds_every_column_bit_for_bit(folder: Path) -> None:
    job = baked(folder)
    program.run("export", job / "cache/grains", "--frame", 3, "--format", "ply", "-o", folder / "a.ply", check=0)
    names, rows = read_ply(folder / "a.ply")
    assert names == ["x", "y", "z", "vx", "vy", "vz", "radius", "qw", "qx", "qy", "qz", "id"]
    path = job / "cache/grains/grains_000003.grain"
    whole = zip(*(grains_column(path, name) for name in ("position", "velocity", "radius", "orientation")))
    assert rows == [(*p, *v, *r, *q, i) for i, (p, v, r, q) in enumerate(whole)]
    program.run("export", job / "cache", "--frame", 1, "--format", "ply", "-o", folder / "b.ply", check=0)
    names, rows = read_ply(folder / "b.ply")
    assert names == ["x", "y", "z", "vx", "vy", "vz", "radius", "id"] and rows[5][:3] == column(job / "cache/coarse_000001.grain", "position")[5]


def test_points_are_where_they_were(folder: Path) -> None:
    """16 bits of a voxel of four radii: a grain may move by 1/32,000 of its radius; halves keep 11 bits of the rest."""
    need_openvdb()
    job = baked(folder)
    for threads in (1, 2):
        program.run("export", job / "cache/grains", "--frame", 3, "--format", "vdbpoints", "-o", folder / f"{threads}.vdb",
                    "--threads", threads, check=0)
    assert (folder / "1.vdb").read_bytes() == (folder / "2.vdb").read_bytes()
    grid = grids_of(folder / "1.vdb")["points"]
    assert grid["attributes"] == {"P": "vec3s fxpt16", "v": "vec3s trnc", "pscale": "float trnc", "orient": "quats null",
                                  "id": "int64 null"}, grid["attributes"]
    path = job / "cache/grains/grains_000003.grain"
    position, velocity, radius = (grains_column(path, name) for name in ("position", "velocity", "radius"))
    assert grid["points"] == len(position) == len(grid["rows"])
    assert sorted(int(row[7]) for row in grid["rows"]) == list(range(len(position)))
    for row in grid["rows"]:
        i = int(row[7])
        assert max(abs(a - b) for a, b in zip(row[:3], position[i])) < 1e-4 * radius[i][0]
        assert max(abs(a - b) for a, b in zip(row[3:6], velocity[i])) < 1e-3
        assert abs(row[6] / radius[i][0] - 1.0) < 1e-3
    printed = subprocess.run(["vdb_print", folder / "1.vdb"], capture_output=True, text=True)
    assert printed.returncode == 0 and "points" in printed.stdout, printed.stderr


def test_grids(folder: Path) -> None:
    need_openvdb()
    job = baked(folder)
    program.run("export", job / "cache", "--frame", 2, "--format", "vdb", "--voxel-size", 3, "-o", folder / "a.vdb", check=0)
    grid = grids_of(folder / "a.vdb")["density"]
    radii = [r[0] for r in column(job / "cache/coarse_000002.grain", "radius")]
    assert abs(grid["voxel_size"] / (3 * sum(radii) / len(radii)) - 1.0) < 1e-5
    assert abs(grid["sum"] * grid["voxel_size"] ** 3 / sum(4.18879 * r ** 3 for r in radii) - 1.0) < 0.01


def test_what_cannot_be_exported_is_said(folder: Path) -> None:
    job = jobs.small(frame_end=2).write(folder / "job")
    program.run("bake", job, check=0)
    out = ("-o", folder / "a.ply")
    assert "there are 1 to 2" in program.run("export", job / "cache", "--frame", 7, "--format", "ply", *out, check=2).stderr
    assert "stl" in program.run("export", job / "cache", "--frame", 1, "--format", "stl", *out, check=2).stderr
    assert "--frame" in program.run("export", job / "cache", "--format", "ply", *out, check=2).stderr
    assert program.run("export", folder / "nowhere", "--frame", 1, "--format", "ply", *out).code == 4
    there = folder / "no/such/a.ply"
    assert str(there) in program.run("export", job / "cache", "--frame", 1, "--format", "ply", "-o", there, check=4).stderr
    frame = job / "cache/coarse_000002.grain"
    frame.write_bytes(frame.read_bytes()[:-9])
    assert "coarse_000002" in program.run("export", job / "cache", "--frame", 2, "--format", "ply", *out, check=11).stderr
    assert not (folder / "a.ply").exists()
