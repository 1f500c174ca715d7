# SPDX-License-Identifier: GPL-3.0-or-later
"""`grain cover`: a mesh file in, particles and their figures out."""
from __future__ import annotations

import math
import re
import struct
from pathlib import Path

import program

SUZANNE = Path(__file__).resolve().parent.parent / "data/suzanne.obj"


def figures(text: str) -> dict[str, list[float]]:
    """First word of each line -> the numbers in it."""
    return {line.split()[0]: [float(n) for n in re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?", line)]
            for line in text.splitlines() if line.strip()}


def read_ply(path: Path) -> list[tuple[float, ...]]:
    data = path.read_bytes()
    header, body = data.split(b"end_header\n", 1)
    lines = header.decode().splitlines()
    assert lines[:2] == ["ply", "format binary_little_endian 1.0"]
    assert [line.split()[2] for line in lines if line.startswith("property")] == [
        "x", "y", "z", "nx", "ny", "nz", "radius", "weight"]
    count = next(int(line.split()[2]) for line in lines if line.startswith("element vertex"))
    assert len(body) == 32 * count
    return list(struct.iter_unpack("<8f", body))


def test_suzanne(folder: Path) -> None:
    out = folder / "suzanne.ply"
    result = program.run("cover", SUZANNE, "--radius", 0.03, "-o", out, check=0)
    seen = figures(result.stdout)
    particles = read_ply(out)
    count, wanted = seen["particles"][:2]
    assert len(particles) == count
    assert abs(count / wanted - 1) < 0.03
    assert seen["nearest"][0] > 0.85 and seen["deviation"][0] < 6.0
    assert seen["off"][0] <= 0.02
    for x, y, z, nx, ny, nz, radius, weight in particles:
        assert all(map(math.isfinite, (x, y, z, weight)))
        assert abs(math.sqrt(nx * nx + ny * ny + nz * nz) - 1) < 1e-3
        assert abs(radius - 0.03) < 1e-6 and 0 < weight < 1e-3


def test_the_file_does_not_depend_on_threads(folder: Path) -> None:
    for threads in (1, 3):
        program.run("cover", SUZANNE, "--radius", 0.05, "--threads", threads, "-o", folder / f"{threads}.ply", check=0)
    assert (folder / "1.ply").read_bytes() == (folder / "3.ply").read_bytes()


def test_density_and_offset(folder: Path) -> None:
    box = folder / "box.obj"
    box.write_text("".join(f"v {x} {y} {z}\n" for z in (0, 1) for y in (0, 1) for x in (0, 1)) +
                   "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
    for density in (0.5, 2.0):
        seen = figures(program.run("cover", box, "--radius", 0.03, "--density", density, check=0).stdout)
        assert abs(seen["particles"][0] / (density * 6 / (math.pi * 0.03**2)) - 1) < 0.03
    program.run("cover", box, "--radius", 0.03, "--offset", -0.03, "-o", folder / "in.ply", check=0)
    for particle in read_ply(folder / "in.ply"):
        depth = min(min(c, 1 - c) for c in particle[:3])
        assert abs(depth - 0.03) < 0.02 * 0.03


def test_help_and_wrong_command_lines(folder: Path) -> None:
    assert "--radius" in program.run("cover", "--help", check=0).stdout
    for arguments in (["cover"], ["cover", SUZANNE], ["cover", SUZANNE, "--radius", "x"],
                      ["cover", SUZANNE, "--radius", "-1"], ["cover", SUZANNE, "--radius", "nan"],
                      ["cover", SUZANNE, SUZANNE, "--radius", "1"], ["cover", SUZANNE, "--radius", "1", "--threads", "0"]):
        result = program.run(*arguments, check=2)
        assert "--help" in result.stderr


def test_what_cannot_be_covered(folder: Path) -> None:
    assert "no_such" in program.run("cover", folder / "no_such.obj", "--radius", 1, check=4).stderr
    line = folder / "line.obj"
    line.write_text("v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\n")
    assert "area" in program.run("cover", line, "--radius", 0.1, check=3).stderr
    result = program.run("cover", SUZANNE, "--radius", 1e-6)
    assert result.code != 0 and "larger radius" in result.stderr
    assert not list(folder.glob("*.part"))
