# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches of an earlier Grain (data/3007b5f, by its commit): read, looked at, and gone on with.

Each was stopped after 4 of 6 frames. dem has emitters, a kill zone and grains, mpm a body, things that move and grains. What that
Grain itself would have made of the last two frames stands in continued.json.
"""
from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import program

OLDER = program.DATA / "3007b5f"
# Stages whose results were changed on purpose since, by a higher number of the solver's or the stage's version: they have to be
# baked anew, and Grain must say so. Here stands which, and in what commit.
CHANGED: dict[str, str] = {"dem": "what has emitters, kill zones, fields or curves: slots end with steps, which were cut to fit them"}


def test_frames_are_whole_and_can_be_exported(folder: Path) -> None:
    shutil.copytree(OLDER, folder, dirs_exist_ok=True)
    for job in sorted(folder.glob("*/job.json")):
        for cache in (job.parent / "cache", job.parent / "cache/grains"):
            if not cache.is_dir():
                continue
            assert "intact" in program.run("verify", cache, check=0).stdout
            frames = json.loads((cache / "cache.json").read_text())["frames"]
            assert [frame["frame"] for frame in frames] == [1, 2, 3, 4]
            for frame in frames:
                program.run("export", cache, "--frame", frame["frame"], "--format", "ply", "-o", folder / "frame.ply", check=0)
                count = f"element vertex {frame['particles']}\n".encode()
                assert count in (folder / "frame.ply").read_bytes(), (cache, frame)


def test_bakes_go_on_where_they_stopped(folder: Path) -> None:
    shutil.copytree(OLDER, folder, dirs_exist_ok=True)
    for job in (folder / name for name in ("dem", "mpm", "sph", "meso")):
        before, expected = program.digest(job / "cache"), json.loads((job / "continued.json").read_text())
        for stage in ("bake", "upsample"):
            if stage == "upsample" and not (job / "cache/grains").is_dir():
                continue
            if job.name in CHANGED or stage in CHANGED:
                told = "Grain itself" if stage == "bake" else "another version of Grain"
                assert told in program.run(stage, job, check=8).stderr
                continue
            done = program.run(stage, job, check=0)
            assert next(event for event in done.events if event["event"] == "started")["resumed_from"] == 4, (job.name, stage)
        if job.name in CHANGED:
            assert program.digest(job / "cache") == before, "what is there is left alone"
            continue
        for name, digest in expected.items():
            if name.startswith("grains/") and "upsample" in CHANGED:
                continue
            assert hashlib.sha256((job / "cache" / name).read_bytes()).hexdigest()[:16] == digest, (job.name, name)


def test_volumes_are_made_of_them(folder: Path) -> None:
    shutil.copytree(OLDER / "mpm", folder / "mpm")
    done = program.run("volume", folder / "mpm", "--frames", "1-4")
    if done.code != 0 and "OpenVDB" in done.stderr:
        from harness import Skip
        raise Skip("built without OpenVDB")
    assert done.code == 0, done.stderr
    assert len(list((folder / "mpm/cache/volume").glob("*.vdb"))) == 4
