# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder as a protocol: killed, full, damaged, moved, wanted by two, looked after."""
from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import jobs
import program
from caches import digest, flipped, remount, small_disk, unfinished
from harness import is_heavy


def job_of(folder: Path, **settings: object) -> Path:
    """Some hundred particles, a few grains each: a tenth of a second for either stage."""
    return jobs.small(**{"frame_end": 12, "checkpoint_every": 3, "upsample": {"grains_per_particle": 6}, **settings}).write(folder / "job")


def make(job: Path, cache: Path) -> None:
    program.run("bake", job, "--cache", cache, "--threads", 1, check=0)
    program.run("upsample", job, "--cache", cache, "--threads", 1, check=0)


def kill_at(seconds: float, command: str, job: Path, cache: Path) -> bool:
    """Whether it was still running then."""
    child = program.start(command, job, "--cache", cache, "--threads", 1)
    try:
        child.communicate(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.communicate()
        return True


def test_killed_at_any_moment_of_either_stage(folder: Path) -> None:
    job, pick, kills, wanted = job_of(folder), random.Random(3), 0, 200 if is_heavy() else 20
    began = time.monotonic()
    make(job, folder / "whole")
    taken, expected = time.monotonic() - began, digest(folder / "whole")
    for attempt in range(10 * wanted):
        if kills == wanted:
            break
        cache = folder / f"killed{attempt}"
        killed = kill_at(pick.uniform(0.0, 0.6) * taken, "bake", job, cache)
        if not killed:
            killed = kill_at(pick.uniform(0.0, 0.6) * taken, "upsample", job, cache)
        kills += killed
        make(job, cache)
        assert digest(cache) == expected, f"attempt {attempt}"
        assert not unfinished(cache), f"attempt {attempt}"
        shutil.rmtree(cache)
    assert kills == wanted, f"only {kills} of {wanted} were killed"


def test_disk_full_at_any_moment(folder: Path) -> None:
    job, disk, pick = job_of(folder), folder / "disk", random.Random(4)
    make(job, folder / "whole")
    expected = digest(folder / "whole")
    coarse, fine = (sum(-(-p.stat().st_size // 4096) for p in f.glob("*.*")) for f in (folder / "whole", folder / "whole/grains"))
    full = {"bake": 0, "upsample": 0}
    for attempt in range(30 if is_heavy() else 6):
        # In pages, which is how a tmpfs counts: for some of the bake, or for all of it and some of the grains.
        pages = int(pick.uniform(0.1, 0.9) * coarse) if attempt % 2 else int(coarse + 8 + pick.uniform(0.1, 0.8) * fine)
        with small_disk(disk, f"size={4 * pages}k"):
            for stage in full:
                result = program.run(stage, job, "--cache", disk / "cache", "--threads", 1)
                if result.code == 0:
                    continue
                assert result.code == 10 and "disk is full" in result.stderr and "free some space" in result.stderr, result
                assert not unfinished(disk), "half-written files left behind"
                full[stage] += 1
                break
            remount(disk, "size=100m")
            make(job, disk / "cache")
            assert digest(disk / "cache") == expected, f"{pages} pages"
    assert full["bake"] > 0 and full["upsample"] > 0, full


def test_damage_is_named_and_repaired(folder: Path) -> None:
    job, cache, pick = job_of(folder), folder / "cache", random.Random(5)
    make(job, cache)
    expected = digest(cache)
    program.run("verify", cache, check=0)
    for name in ("coarse_000005.grain", "checkpoint_000006.grain", "grains/grains_000007.grain", "cache.json", "grains/cache.json"):
        path = cache / name
        content = path.read_bytes()
        for broken in (flipped(content, pick), content[:pick.randrange(len(content))]):
            path.write_bytes(broken)
            result = program.run("verify", cache, check=11)
            assert path.name in result.stderr, result.stderr
        path.write_bytes(content)
    assert digest(cache) == expected
    for name in ("coarse_000005.grain", "grains/grains_000007.grain"):
        (cache / name).write_bytes(flipped((cache / name).read_bytes(), pick))
    result = program.run("repair", cache, check=0)
    assert "coarse_000005" in result.stderr and "grains_000007" in result.stderr
    program.run("verify", cache, check=0)
    listed = [entry["frame"] for entry in json.loads((cache / "cache.json").read_text())["frames"]]
    assert listed == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12], "only the damaged one is gone"
    program.run("gc", cache, check=0)
    assert not (cache / "coarse_000005.grain").exists() and (cache / "coarse_000006.grain").exists()
    make(job, cache)
    assert digest(cache) == expected


def test_births_that_were_damaged_are_listed_in_order_again(folder: Path) -> None:
    job = jobs.small(frame_end=4, upsample={"grains_per_particle": 6})
    job.add_mesh("Spout", "emitter", jobs.box((-0.03, -0.03, 0.4), (0.03, 0.03, 0.43)), rate=2000)
    cache = folder / "cache"
    make(job.write(folder / "job"), cache)
    expected = digest(cache)
    for name in ("grains/birth_000001.grain", "grains/birth_000003.grain", "birth_000002.grain"):
        (cache / name).write_bytes(flipped((cache / name).read_bytes(), random.Random(6)))
        program.run("repair", cache, check=0)
        make(folder / "job", cache)
        assert digest(cache) == expected, name
        program.run("verify", cache, check=0)


def test_info_tells_what_else_is_damaged(folder: Path) -> None:
    job, cache = job_of(folder, frame_end=6), folder / "cache"
    make(job, cache)
    assert program.run("info", cache, check=0).stdout.count("damage       none") == 2
    for name in ("birth_000001.grain", "checkpoint.grain", "checkpoint_000006.grain", "grains/birth_000001.grain"):
        path = cache / name
        content = path.read_bytes()
        path.write_bytes(flipped(content, random.Random(7)))
        result = program.run("info", cache, check=11)
        assert path.name in result.stderr, result.stderr
        assert result.stdout.count("damage       1 file (listed above)") == result.stdout.count("damage       none") == 1
        path.write_bytes(content)
    for name in ("birth_000001.grain", "coarse_000003.grain", "checkpoint.grain"):
        (cache / name).write_bytes(b"GRAINFRM")
    assert "damage       3 files (listed above)" in program.run("info", cache, check=11).stdout


def test_a_list_that_is_damaged_is_not_repaired_by_guessing(folder: Path) -> None:
    job, cache = job_of(folder, frame_end=3), folder / "cache"
    make(job, cache)
    text = (cache / "cache.json").read_text()
    (cache / "cache.json").write_text(text.replace('"frame_end": 3', '"frame_end": 2'))
    for command in ("repair", "gc", "info"):
        assert "cache.json" in program.run(command, cache, check=11).stderr
    assert (cache / "coarse_000003.grain").exists()
    assert "cache.json" in program.run("bake", job, "--cache", cache, check=11).stderr
    program.run("bake", job, "--cache", cache, "--restart", check=0)


def test_moved_and_through_a_relative_path(folder: Path) -> None:
    job = job_of(folder, frame_end=4)
    make(job, job / "cache")
    expected = digest(job / "cache")
    moved = folder / "elsewhere" / "another name"
    moved.parent.mkdir()
    job.rename(moved)
    for path in (moved, os.path.relpath(moved)):
        assert program.run("bake", path, check=0).events[-1]["event"] == "done"
        program.run("upsample", path, check=0)
        program.run("verify", f"{path}/cache", check=0)
    assert digest(moved / "cache") == expected


def test_two_at_once_where_flock_is_missing(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.004}, frame_end=60).write(folder / "job")
    share = {"GRAIN_LOCK": "heartbeat"}
    first = program.start("bake", job, environment=share)
    try:
        for line in first.stdout:
            if json.loads(line)["event"] == "frame":
                break
        for command in (("bake", job), ("repair", job / "cache"), ("gc", job / "cache")):
            result = program.run(*command, environment=share, check=9)
            assert re.search(program.holder(first), result.stderr) and "since 20" in result.stderr, result.stderr
    finally:
        first.kill()
        first.communicate()
    program.run("bake", job, "--until", 2, environment=share, check=0)  # the dead one's lock is taken over
    assert (job / "cache/lock").read_bytes() == b""


def test_which_stage_is_out_of_date_and_why(folder: Path) -> None:
    job = job_of(folder, frame_end=3)
    make(job, job / "cache")
    assert program.run("info", job / "cache", "--job", job, check=0).stdout.count("up to date with the job") == 2
    document = json.loads((job / "job.json").read_text())
    document["upsample"]["grains_per_particle"] = 7
    (job / "job.json").write_text(json.dumps(document))
    told = program.run("info", job / "cache", "--job", job, check=0).stdout
    assert told.count("up to date with the job") == 1 and "upsample.grains_per_particle was 6, is 7" in told, told
    document["solver"]["friction"] = 0.25
    document["objects"][1]["friction"] = 0.1
    (job / "job.json").write_text(json.dumps(document))
    told = program.run("info", job / "cache", "--job", job, check=0).stdout
    assert "solver.friction was 0.6, is 0.25" in told and "object 'Ball' has changed" in told, told
    refused = program.run("bake", job, check=8).stderr
    assert "solver.friction was 0.6, is 0.25" in refused and "object 'Ball' has changed" in refused, refused


def test_checkpoints_are_kept_as_asked_and_thinned(folder: Path) -> None:
    job = job_of(folder, frame_end=45, checkpoint_every=2)
    program.run("bake", job, check=0)
    kept = sorted(int(p.stem.split("_")[1]) for p in (job / "cache").glob("checkpoint_*.grain"))
    assert kept == [20, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44], kept
    assert "checkpoint_every" in program.run("bake", job_of(folder, checkpoint_every=0), check=3).stderr


def test_frames_of_an_older_grain_are_read_but_not_continued(folder: Path) -> None:
    """data/dem_7: 36 particles and their 144 grains by version 7 of the solver, the last with the system's mathematics."""
    shutil.copytree(program.DATA / "dem_7", folder, dirs_exist_ok=True)
    job, cache = folder / "job", folder / "cache"
    before = program.digest(cache) | program.digest(cache / "grains")
    for stage, count in ((cache, 36), (cache / "grains", 144)):
        assert "intact" in program.run("verify", stage, check=0).stdout
        program.run("export", stage, "--frame", 3, "--format", "ply", "-o", folder / "frame.ply", check=0)
        assert f"element vertex {count}\n".encode() in (folder / "frame.ply").read_bytes()
    assert "Grain itself" in program.run("bake", job, "--cache", cache, check=8).stderr
    assert "version of Grain" in program.run("upsample", job, "--cache", cache, check=8).stderr
    assert program.digest(cache) | program.digest(cache / "grains") == before
    program.run("bake", job, "--cache", cache, "--restart", check=0)
    program.run("upsample", job, "--cache", cache, check=0)
