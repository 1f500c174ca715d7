# SPDX-License-Identifier: GPL-3.0-or-later
"""What sources give their particles and grains at birth: from arrays in the job to `birth_*.grain` in the cache."""
from __future__ import annotations

import json
from pathlib import Path

import grains_reader
import program
from frames import column, columns_by_libgrain
from painted_scenes import COLOURS, HIGH, LOW, RADIUS, painted, slope

FACES = ((2, 0), (2, 1), (1, 0), (1, 1), (0, 0), (0, 1))  # of jobs.box, two triangles each: axis, far side


def nearest(place: tuple[float, ...]) -> tuple[int, tuple[float, ...], float]:
    """Of the box: its nearest face, the point of it, and how much nearer it is than the next one. By the letter, without
    any of libgrain's code."""
    gaps = sorted((abs(place[axis] - (HIGH if far else LOW)[axis]), k) for k, (axis, far) in enumerate(FACES))
    axis, far = FACES[gaps[0][1]]
    point = list(min(max(c, low), high) for c, low, high in zip(place, LOW, HIGH))
    point[axis] = (HIGH if far else LOW)[axis]
    return gaps[0][1], tuple(point), gaps[1][0] - gaps[0][0]


def grain_columns(path: Path, components: dict[str, int]) -> dict[str, list]:
    values = grains_reader.read(path)
    return {name: [tuple(values[name][i:i + n]) for i in range(0, len(values[name]), n)] for name, n in components.items()}


COMPONENTS = {"rest": 3, "source_id": 1, "Color": 4, "slope": 1, "UVMap": 2}


def check_painted(rest: list, source: list, colour: list, height: list, uv: list, tolerance: float) -> int:
    """How many were clear of edges, where which face is nearest cannot be told."""
    clear = 0
    for place, number, c, h, t in zip(rest, source, colour, height, uv):
        if number == 1:
            assert c == (0.0,) * 4 and h == (0.0,) and t == (0.0, 0.0), (place, c, h, t)
            continue
        face, point, apart = nearest(place)
        if apart < max(1e-5, 2 * tolerance):
            continue
        clear += 1
        assert all(abs(a - b) < 2e-4 for a, b in zip(c, COLOURS[face])), (place, c, COLOURS[face])
        assert abs(h[0] - slope(point)) < 1e-5 + 10 * tolerance, (place, h, slope(point))
        assert all(abs(a - b) < 1e-5 + 2 * tolerance for a, b in zip(t, point)), (place, t, point)
    return clear


def test_particles_are_born_with_what_is_painted_nearest(folder: Path) -> None:
    job = painted().write(folder / "job")
    program.run("bake", job, check=0)
    birth = job / "cache/birth_000001.grain"
    rest, source = column(birth, "rest"), [row[0] for row in column(birth, "source_id")]
    assert rest == column(job / "cache/coarse_000001.grain", "position")
    assert set(source) == {0, 1} and all((place[0] > 0.15) == (number == 1) for place, number in zip(rest, source))
    clear = check_painted(rest, source, *(column(birth, name) for name in ("Color", "slope", "UVMap")), tolerance=0.0)
    assert clear > 0.9 * source.count(0) > 100, (clear, source.count(0))
    listed = json.loads((job / "cache/cache.json").read_text())["births"]
    assert [(b["frame"], b["particles"]) for b in listed] == [(1, len(rest))]
    assert not (job / "cache/birth_000002.grain").exists()


def test_births_are_the_same_for_any_threads_and_stops(folder: Path) -> None:
    job = painted().write(folder / "job")
    for name, arguments in (("one", (("--threads", 1),)), ("three", (("--threads", 3),)),
                            ("parts", (("--until", 1), ("--until", 3), ()))):
        for more in arguments:
            program.run("bake", job, "--cache", folder / name, *more, check=0)
        program.run("upsample", job, "--cache", folder / name, "--threads", 1 if name == "one" else 3, check=0)
    assert program.digest(folder / "one") == program.digest(folder / "three") == program.digest(folder / "parts")
    grains = [program.digest(folder / name / "grains") for name in ("one", "three", "parts")]
    assert grains[0] == grains[1] == grains[2] and "birth_000001.grain" in grains[0]


def test_grains_look_up_their_own_place(folder: Path) -> None:
    """Finer than their particles: two grains of one particle are painted apart."""
    job = painted().write(folder / "job")
    program.run("bake", job, check=0)
    program.run("upsample", job, check=0)
    birth = job / "cache/grains/birth_000001.grain"
    found = grain_columns(birth, COMPONENTS)
    first = grain_columns(job / "cache/grains/grains_000001.grain", {"position": 3})["position"]
    precision = 0.01 * RADIUS * 20 ** (-1 / 3)
    for place, at in zip(found["rest"], first):
        assert sum((a - b) ** 2 for a, b in zip(place, at)) < (2.1 * precision) ** 2, (place, at)
    source = [row[0] for row in found["source_id"]]
    clear = check_painted(found["rest"], source, found["Color"], found["slope"], found["UVMap"], tolerance=precision)
    assert clear > 0.9 * source.count(0), (clear, source.count(0))
    count = len(column(job / "cache/coarse_000001.grain", "position"))
    apart = [abs(a[0] - b[0]) for a, b, number in zip(found["slope"], found["slope"][count:], source) if number == 0]
    assert sum(apart) / len(apart) > 0.01, "grains of a particle have all the same value"
    # A second reader agrees with libgrain's own.
    theirs = columns_by_libgrain(birth)
    for name, values in grains_reader.read(birth).items():
        assert values.tobytes() == theirs[name], name


def test_shards_ranges_and_stops_have_the_same_births(folder: Path) -> None:
    job = painted(upsample={"grains_per_particle": 9.5}).write(folder / "job")
    program.run("bake", job, check=0)
    program.run("upsample", job, check=0)
    grains = job / "cache/grains"
    whole, digest = grains_reader.read(grains / "birth_000001.grain"), program.digest(grains)
    for i in (1, 2, 3):
        program.run("upsample", job, "--shard", f"{i}/3", check=0)
    parts = [grains_reader.read(job / f"cache/grains_{i}of3/birth_000001.grain") for i in (1, 2, 3)]
    for name, values in whole.items():
        assert b"".join(part[name].tobytes() for part in parts) == values.tobytes(), name
    # A range of frames has the births of the frames before it.
    program.run("upsample", job, "--force", "--frames", "3-4", check=0)
    assert sorted(p.name for p in grains.glob("*_0*.grain")) == ["birth_000001.grain", "grains_000003.grain", "grains_000004.grain"]
    assert json.loads((grains / "cache.json").read_text())["births"][0]["frame"] == 1
    # Stopped and gone on.
    program.run("upsample", job, "--force", "--frames", "1-2", check=0)
    program.run("upsample", job, check=0)
    assert program.digest(grains)["birth_000001.grain"] == digest["birth_000001.grain"]
    # Lost, and made again with all the rest.
    (grains / "birth_000001.grain").unlink()
    program.run("upsample", job, check=0)
    assert program.digest(grains) == digest


def test_damaged_births_are_found_and_made_again(folder: Path) -> None:
    job = painted().write(folder / "job")
    program.run("bake", job, check=0)
    cache = job / "cache"
    digest, birth = program.digest(cache), cache / "birth_000001.grain"
    data = bytearray(birth.read_bytes())
    data[-1] ^= 1
    birth.write_bytes(data)
    assert "birth_000001" in program.run("verify", cache, check=11).stderr
    again = program.run("bake", job, check=0)
    assert any(e["event"] == "warning" and "birth_000001" in e["message"] for e in again.events), again.events
    assert program.digest(cache) == digest
    birth.write_bytes(data)
    program.run("repair", cache, check=0)
    program.run("gc", cache, check=0)
    assert not birth.exists()
    program.run("bake", job, check=0)
    assert program.digest(cache) == digest


def test_what_is_wrong_with_an_attribute_is_said(folder: Path) -> None:
    def broken(change) -> str:
        job = painted()
        change(job.data["objects"][0]["attributes"], job)
        return program.run("bake", job.write(folder / "job"), check=3).stderr

    def set_key(number: int, key: str, value: object):
        return lambda attributes, job: attributes[number].update({key: value})

    text = broken(set_key(1, "name", "velocity"))
    assert "'Painted'" in text and "attributes[1].name" in text and "velocity" in text and "none of Grain's own" in text, text
    assert "domain" in broken(set_key(0, "domain", "face"))
    assert "one for each vertex" in broken(set_key(0, "domain", "vertex"))
    assert "attributes[0].colour" in broken(set_key(0, "colour", 1))
    assert "values" in broken(set_key(0, "values", 99))
    def twice(attributes, job) -> None:
        attributes.append(dict(attributes[0]))
    assert "second time" in broken(twice)
    def other_kind(attributes, job) -> None:
        job.data["objects"][1]["attributes"] = [
            {"name": "slope", "values": job.add_array("f32", 2, [0.0] * 16)}]
    text = broken(other_kind)
    assert "'Plain'" in text and "2 components here and 1 on another" in text, text
    def not_a_number(attributes, job) -> None:
        attributes[1]["values"] = job.add_array("f32", 1, [float("nan")] * 8)
    assert "number 0 is nan" in broken(not_a_number)
