# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes end to end: the same bits for any number of threads, and after any way of being stopped."""
from __future__ import annotations

import json
import os
import random
import re
import signal
import struct
import subprocess
import time
from pathlib import Path

import jobs
import program
from bakes import stop_at


def reference(folder: Path, job: jobs.Job, **options: object) -> dict[str, str]:
    program.run("bake", job.write(folder / "job"), "--cache", folder / "undisturbed", check=0, **options)
    return program.digest(folder / "undisturbed")


def test_same_bytes_for_1_2_and_3_threads(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.005}, frame_end=8).write(folder / "job")
    digests = []
    for threads in (1, 2, 3):
        cache = folder / f"threads{threads}"
        result = program.run("bake", job, "--cache", cache, "--threads", threads, check=0)
        digests.append(program.digest(cache))
    assert result.events[-2]["particles"] > 1000
    assert digests[0] == digests[1] == digests[2]
    assert len(digests[0]) == 8 + 3  # frames, births, checkpoint, manifest


def test_same_bytes_on_every_instruction_set(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.006}, frame_end=5).write(folder / "job")
    digests = []
    for name in ("base", "avx2", "avx512"):  # a CPU without one runs the best it has
        program.run("bake", job, "--cache", folder / name, check=0, environment={"GRAIN_SIMD": name})
        digests.append(program.digest(folder / name))
    assert digests[0] == digests[1] == digests[2]


def test_killed_at_any_moment_and_resumed_gives_the_same_bytes(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.005}, frame_end=24)
    began = time.monotonic()
    expected = reference(folder, job)
    taken = time.monotonic() - began
    pick, kills = random.Random(5), 0
    for attempt in range(8):
        cache = folder / f"killed{attempt}"
        while True:  # killed again and again until it gets through
            child = program.start("bake", folder / "job", "--cache", cache)
            try:
                child.communicate(timeout=pick.uniform(0.02, 0.8) * taken)
                break
            except Exception as error:
                child.send_signal(signal.SIGKILL)
                child.communicate()
                kills += 1
                if kills > 200:
                    raise AssertionError("no progress between kills") from error
        assert child.returncode == 0
        assert program.digest(cache) == expected, f"after {kills} kills"
    assert kills >= 4, "the bake is too short for this test to kill it"


def test_stopped_by_sigterm_and_sigint_and_resumed_gives_the_same_bytes(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.004, "softness": 0.05}, frame_end=8)
    expected = reference(folder, job)
    for name in (signal.SIGTERM, signal.SIGINT):
        cache = folder / f"stopped{int(name)}"
        result = stop_at(folder, folder / "job", cache, "progress", name)  # in the middle of a frame
        assert result.code == 5 and result.last["event"] == "stopped", result
        with open(cache / "checkpoint.grain", "rb") as file:
            substep = struct.unpack_from("<I", file.read(64), 36)[0]
        assert substep > 0, "the checkpoint should stand within a frame"
        resumed = program.run("bake", folder / "job", "--cache", cache, check=0)
        started = next(e for e in resumed.events if e["event"] == "started")
        assert started["resumed_from"] >= 1
        assert program.digest(cache) == expected


def test_stopped_through_standard_input_and_resumed_gives_the_same_bytes(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.004, "softness": 0.05}, frame_end=8)
    expected, cache = reference(folder, job), folder / "stopped"
    child = program.start("bake", folder / "job", "--cache", cache, "--stop-on-input", stdin=subprocess.PIPE)
    for line in child.stdout:
        if json.loads(line)["event"] == "progress":
            break
    began = time.monotonic()
    rest, stderr = child.communicate("stop\n", timeout=60)
    assert time.monotonic() - began < program.STOP_SECONDS, "stopping took too long"
    assert child.returncode == 5 and program.events_of(rest)[-1]["event"] == "stopped", (child.returncode, stderr)
    program.run("bake", folder / "job", "--cache", cache, check=0)
    assert program.digest(cache) == expected


def test_input_counts_only_where_it_is_asked_for_and_its_end_never(folder: Path) -> None:
    job = jobs.small(frame_end=4).write(folder / "job")
    for name, options, said, code in (("heard", ["--stop-on-input"], "x", 5), ("ended", ["--stop-on-input"], "", 0),
                                      ("unasked", [], "stop\n", 0)):
        child = program.start("bake", job, "--cache", folder / name, *options, stdin=subprocess.PIPE)
        _, stderr = child.communicate(said, timeout=60)
        assert child.returncode == code, (name, child.returncode, stderr)
    closed = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *program.COMMAND, "bake", job, "--cache", folder / "closed",
                             "--stop-on-input"], capture_output=True)
    assert closed.returncode == 0, closed.stderr
    assert program.digest(folder / "closed") == program.digest(folder / "ended") == program.digest(folder / "unasked")


def test_until_stops_and_the_next_bake_goes_on(folder: Path) -> None:
    job = jobs.small(frame_end=12)
    expected = reference(folder, job)
    cache = folder / "cache"
    program.run("bake", folder / "job", "--cache", cache, "--until", 6, check=0)
    assert not (cache / "coarse_000007.grain").exists()
    program.run("bake", folder / "job", "--cache", cache, check=0)
    assert program.digest(cache) == expected


def test_a_longer_shot_keeps_its_frames(folder: Path) -> None:
    expected = reference(folder, jobs.small(frame_end=9))
    cache = folder / "cache"
    program.run("bake", jobs.small(frame_end=4).write(folder / "short"), "--cache", cache, check=0)
    result = program.run("bake", folder / "job", "--cache", cache, check=0)
    assert next(e for e in result.events if e["event"] == "started")["resumed_from"] == 4
    assert program.digest(cache) == expected


def test_a_finished_bake_is_left_alone(folder: Path) -> None:
    job = jobs.small().write(folder / "job")
    program.run("bake", job, check=0)
    before = {p.name: p.stat().st_mtime_ns for p in (job / "cache").glob("*.grain")}
    result = program.run("bake", job, check=0)
    assert [e["event"] for e in result.events].count("frame") == 0
    assert before == {p.name: p.stat().st_mtime_ns for p in (job / "cache").glob("*.grain")}


def test_other_settings_are_refused_until_restart(folder: Path) -> None:
    cache = folder / "cache"
    program.run("bake", jobs.small().write(folder / "job"), "--cache", cache, check=0)
    before = program.digest(cache)
    other = jobs.small(solver={"friction": 0.3}).write(folder / "other")
    result = program.run("bake", other, "--cache", cache, check=8)
    assert "other settings" in result.stderr and "--restart" in result.stderr
    assert program.digest(cache) == before
    (cache / "notes.txt").write_text("the artist's own")
    program.run("bake", other, "--cache", cache, "--restart", check=0)
    assert program.digest(cache) != before and (cache / "notes.txt").exists()


def test_renaming_does_not_count_as_other_settings(folder: Path) -> None:
    cache = folder / "cache"
    program.run("bake", jobs.small().write(folder / "job"), "--cache", cache, check=0)
    renamed = jobs.small(name="Beach", writer="somebody else")
    renamed.data["objects"][0]["name"] = "Dune"
    program.run("bake", renamed.write(folder / "renamed"), "--cache", cache, check=0)


def test_a_second_bake_into_the_same_cache_is_refused(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.004}, frame_end=60).write(folder / "job")
    first = program.start("bake", job)
    for line in first.stdout:
        if json.loads(line)["event"] == "started":
            break
    try:
        result = program.run("bake", job, check=9)
        assert re.search(program.holder(first), result.stderr), result.stderr
    finally:
        first.kill()
        first.communicate()
    program.run("bake", job, "--until", 2, check=0)  # the dead one's lock is free


def test_damaged_frame_is_named_and_baked_again(folder: Path) -> None:
    job = jobs.small(frame_end=23)
    expected = reference(folder, job)
    cache = folder / "undisturbed"
    damaged = cache / "coarse_000015.grain"
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    info = program.run("info", cache, check=11)
    assert "coarse_000015" in info.stderr
    result = program.run("bake", folder / "job", "--cache", cache, check=0)
    warnings = [e["message"] for e in result.events if e["event"] == "warning"]
    assert any("frame 15" in text for text in warnings), warnings
    assert next(e for e in result.events if e["event"] == "started")["resumed_from"] == 10
    assert program.digest(cache) == expected
    program.run("info", cache, check=0)


def test_negative_frames_and_fractional_rates(folder: Path) -> None:
    job = jobs.small(frame_start=-2, frame_end=1, fps=23.976).write(folder / "job")
    program.run("bake", job, check=0)
    assert (job / "cache/coarse_-00002.grain").exists() and (job / "cache/coarse_000001.grain").exists()


def read_frame(path: Path) -> dict[str, list]:
    """A second reader of the format, from docs/formats.md alone."""
    data = path.read_bytes()
    assert data[:8] == b"GRAINFRM"
    columns = {}
    for k in range(struct.unpack_from("<I", data, 32)[0]):
        name, kind, components, offset, count = struct.unpack_from("<32sIIQQ", data, 64 + 64 * k)
        assert kind == 0 and offset % 64 == 0
        values = struct.unpack_from(f"<{count * components}f", data, offset)
        columns[name.rstrip(b"\0").decode()] = [values[i:i + components] for i in range(0, len(values), components)]
    return columns


def test_frames_read_by_the_documented_layout(folder: Path) -> None:
    job = jobs.small(frame_end=10).write(folder / "job")
    result = program.run("bake", job, check=0)
    first, last = read_frame(job / "cache/coarse_000001.grain"), read_frame(job / "cache/coarse_000010.grain")
    assert set(first) == {"position", "velocity", "radius"}
    assert len(first["position"]) == result.events[-2]["particles"] == len(last["position"])
    assert first["radius"] == last["radius"], "a grain keeps its number"
    assert all(v == (0, 0, 0) for v in first["velocity"])
    # 9 frames of free fall are 0.69 m; the sand lies on ground and ball long before: none fell through.
    assert min(p[2] - r[0] for p, r in zip(last["position"], last["radius"])) > -0.002
    assert max(abs(c) for p in last["position"] for c in p) < 1.0


def test_sand_falls_as_galileo_says(folder: Path) -> None:
    # Nothing in the way: z = g t^2 / 2. Symplectic Euler is early by g t dt / 2, below 1 mm for these steps.
    job = jobs.Job(frame_end=7)
    job.add_mesh("Block", "source", jobs.box((0, 0, 0), (0.1, 0.1, 0.1))).write(folder / "job")
    program.run("bake", folder / "job", check=0)
    first = read_frame(folder / "job/cache/coarse_000001.grain")["position"]
    last = read_frame(folder / "job/cache/coarse_000007.grain")["position"]
    for a, b in zip(first, last):
        assert abs((a[2] - b[2]) - 0.5 * 9.81 * (6 / 24) ** 2) < 1e-3


def test_a_reader_that_goes_away_does_not_end_the_bake(folder: Path) -> None:
    job = jobs.small(frame_end=10).write(folder / "job")
    child = program.start("bake", job)
    child.stdout.close()
    assert child.wait(timeout=60) == 0
    child.stderr.close()
    assert (job / "cache/coarse_000010.grain").exists()
    assert os.listdir(job / "cache").count("lock") == 1


def test_grains_of_a_mesh_by_the_adaptive_integrator(folder: Path) -> None:
    """Stopped between frames and gone on with, to the same bytes; and the books of every frame."""
    job = jobs.small(solver={"particle_radius": 0.02, "grain_shape": "mesh", "grain_balls": 6, "integrator": "rkf45",
                             "tolerance": 1e-4, "normal_law": "hertz"}, frame_end=5)
    job.add_mesh("Brick", "grain", jobs.box((0, 0, 0), (2.0, 1.0, 1.0)))
    expected = reference(folder, job)
    cache = folder / "stopped"
    program.run("bake", folder / "job", "--cache", cache, "--until", 3, "--threads", 2, check=0)
    result = program.run("bake", folder / "job", "--cache", cache, check=0)
    assert program.digest(cache) == expected
    books = [event["statistics"] for event in result.events if event["event"] == "frame"]
    assert len(books) == 2 and all(entry["substeps"] > 0 and entry["kinetic_energy"] > 0 for entry in books)
    sums = [entry["kinetic_energy"] + entry["potential_energy"] + entry["elastic_energy"] for entry in books]
    assert sums[1] < sums[0] * 1.0001, "nothing adds energy"
