# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs and caches from strangers: links, pipes and folders where files are expected, and two programs at work on one cache.

No byte outside may change, nothing may hang, and the error names the file."""
from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jobs
import program
from harness import Skip, is_heavy

MOST_SECONDS = 5.0
LOCKS = ({}, {"GRAIN_LOCK": "heartbeat"})


def needs_links() -> None:
    if program.IS_WINDOWS:
        raise Skip("Windows makes links for administrators only, and has no pipes in folders")


def made(folder: Path) -> Path:
    """A job with both stages baked into job/cache."""
    job = jobs.small(frame_end=4, checkpoint_every=2, upsample={"grains_per_particle": 3}).write(folder / "job")
    program.run("bake", job, "--threads", 1, check=0)
    program.run("upsample", job, "--threads", 1, check=0)
    return job


def outside(folder: Path) -> Path:
    """Somebody else's folder, with files whose names Grain knows."""
    place = folder / "outside"
    place.mkdir()
    for name in ("precious", "cache.json", "grains_000099.grain", "coarse_000099.grain", "coarse_000001.grain.part",
                 "fine_0123456789abcdef0123456789abcdef.grain", "lock"):
        (place / name).write_text("years of work")
    return place


def is_untouched(place: Path) -> bool:
    return len(list(place.iterdir())) == 7 and all(path.read_text() == "years of work" for path in place.iterdir())


def run(*arguments: object) -> program.Result:
    began = time.monotonic()
    result = program.run(*arguments)
    assert time.monotonic() - began < MOST_SECONDS, f"{arguments} took {time.monotonic() - began:.1f} s"
    assert result.code >= 0, f"{arguments}: signal {-result.code}"
    return result


def commands(job: Path) -> list[tuple[object, ...]]:
    cache = job / "cache"
    return [("info", cache), ("verify", cache), ("bake", job), ("upsample", job), ("repair", cache), ("gc", cache),
            ("export", cache, "--frame", 2, "--format", "ply", "-o", job.parent / "frame.ply"), ("bake", job, "--restart")]


FILES = ("job.json", "geometry.bin", "cache/cache.json", "cache/lock", "cache/lock.part", "cache/coarse_000002.grain",
         "cache/birth_000001.grain", "cache/checkpoint.grain", "cache/checkpoint_000002.grain", "cache/cache.json.part",
         "cache/coarse_000002.grain.part", "cache/checkpoint.grain.part", "cache/grains/cache.json", "cache/grains/lock",
         "cache/grains/grains_000002.grain", "cache/grains/cache.json.part", "cache/grains/checkpoint.grain.part")
FOLDERS = ("cache", "cache/grains", "cache/sdf", "cache/volume", "cache/grains_1of2")


def link(place: Path, target: Path) -> None:
    target.symlink_to(place)


def pipe(_place: Path, target: Path) -> None:
    os.mkfifo(target)


def listening(_place: Path, target: Path) -> None:
    before = os.getcwd()
    os.chdir(target.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as own:
            own.bind(target.name)
    finally:
        os.chdir(before)


def subfolder(_place: Path, target: Path) -> None:
    target.mkdir()


def clear(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)


def copies(folder: Path, names: tuple[str, ...]) -> Iterator[tuple[Path, Path]]:
    """A fresh copy of the job for each name, and the path to it."""
    job = made(folder)
    for number, name in enumerate(names):
        copy = folder / f"copy{number}"
        shutil.copytree(job, copy)
        yield copy, copy / name
        shutil.rmtree(copy)


def try_all(folder: Path, make: Callable[[Path, Path], None]) -> int:
    """Puts it in the place of each file, runs every command on it, and returns how many of them named the file."""
    needs_links()
    place, named = outside(folder), 0
    for copy, target in copies(folder, FILES):
        for command in commands(copy):
            clear(target)
            make(place / "precious", target)
            result = run(*command)
            assert is_untouched(place), f"{command} with {target.name} as {make.__name__}"
            told = result.stderr + result.stdout
            named += target.name.removesuffix(".part") in told and any(word in told for word in ("link", "pipe", "folder"))
    return named


def test_links_in_the_place_of_files(folder: Path) -> None:
    assert try_all(folder, link) > 40


def test_pipes_in_the_place_of_files(folder: Path) -> None:
    assert try_all(folder, pipe) > 40


def test_sockets_in_the_place_of_files(folder: Path) -> None:
    assert try_all(folder, listening) > 40


def test_folders_in_the_place_of_files(folder: Path) -> None:
    assert try_all(folder, subfolder) > 40


def test_links_in_the_place_of_folders(folder: Path) -> None:
    needs_links()
    place = outside(folder)
    for copy, target in copies(folder, FOLDERS):
        clear(target)
        target.symlink_to(place, target_is_directory=True)
        for command in (("bake", copy), ("upsample", copy), ("upsample", copy, "--shard", "1/2"), ("gc", copy / "cache"),
                        ("repair", copy / "cache"), ("volume", copy), ("bake", copy, "--restart")):
            result = run(*command)
            assert is_untouched(place), f"{command} with {target.relative_to(copy)} as a link: {result.stdout}{result.stderr}"
        refused = {"cache": ("bake", copy), "grains": ("upsample", copy), "grains_1of2": ("upsample", copy, "--shard", "1/2"),
                   "sdf": ("bake", copy), "volume": ("volume", copy)}[target.name]
        told = run(*refused)
        assert told.code != 0 and f"{target.name}' is a link" in told.stderr, told.stderr


def test_a_cache_folder_may_be_reached_through_links(folder: Path) -> None:
    needs_links()
    job, disk = made(folder), folder / "disk"
    expected = program.digest(job / "cache")
    disk.mkdir()
    (folder / "shots").symlink_to(disk, target_is_directory=True)
    (folder / "my job").symlink_to(job, target_is_directory=True)
    program.run("bake", folder / "my job", "--cache", folder / "shots/7", check=0)
    assert program.digest(disk / "7") == expected
    (folder / "own").symlink_to(disk / "7", target_is_directory=True)
    program.run("bake", folder / "my job", "--cache", folder / "own", "--restart", check=0)
    assert program.digest(disk / "7") == expected
    for command in ("verify", "gc", "repair"):
        program.run(command, folder / "own", check=0)


# --- two at work ----------------------------------------------------------------------------------

def test_one_bakes_and_the_other_says_who_does(folder: Path) -> None:
    """A lock by the system against one by heartbeat, as on shares without locks, and each against its own kind."""
    for number, (mine, yours) in enumerate((a, b) for a in LOCKS for b in LOCKS):
        job = jobs.small(solver={"particle_radius": 0.004}, frame_end=60).write(folder / f"job{number}")
        first = program.start("bake", job, environment=mine)
        try:
            for line in first.stdout:
                if json.loads(line)["event"] == "frame":
                    break
            for command in (("bake", job), ("bake", job, "--restart"), ("repair", job / "cache"), ("gc", job / "cache")):
                result = program.run(*command, environment=yours, check=9)
                assert f"process {first.pid} on " in result.stderr or program.RUNNER, result.stderr
            assert first.poll() is None
        finally:
            first.kill()
            first.communicate()
        program.run("bake", job, "--until", 2, environment=yours, check=0)  # the dead one's lock is taken over
        program.run("verify", job / "cache", check=0)


def test_many_begin_at_the_same_moment(folder: Path) -> None:
    """Each bakes the whole shot or is told who does; what they leave is what one alone would have baked."""
    job = jobs.small(frame_end=6, checkpoint_every=2).write(folder / "job")
    program.run("bake", job, "--cache", folder / "alone", "--threads", 1, check=0)
    expected, pick = program.digest(folder / "alone"), random.Random(7)
    for attempt in range(40 if is_heavy() else 6):
        cache = folder / f"cache{attempt}"
        children = [program.start("bake", job, "--cache", cache, "--threads", 1, environment=pick.choice(LOCKS)) for _ in range(4)]
        for child in children:
            _, told = child.communicate(timeout=60)
            assert child.returncode in (0, 9), told
            assert child.returncode == 0 or "process " in told, told
        assert any(child.returncode == 0 for child in children)
        assert program.digest(cache) == expected and (cache / "lock").read_bytes() == b""


def test_a_suspended_bake_finds_its_cache_taken_over(folder: Path) -> None:
    if program.IS_WINDOWS:
        raise Skip("Windows does not suspend programs by signal")
    share = {"GRAIN_LOCK": "heartbeat"}
    job = jobs.small(solver={"particle_radius": 0.004}, frame_end=60).write(folder / "job")
    first = program.start("bake", job, "--threads", 1, environment=share)
    try:
        for line in first.stdout:
            if json.loads(line)["event"] == "frame":
                break
        first.send_signal(signal.SIGSTOP)
        os.utime(job / "cache/lock", (time.time() - 600,) * 2)
        program.run("bake", job, "--restart", "--until", 3, "--threads", 1, environment=share, check=0)
        before = program.digest(job / "cache")
        first.send_signal(signal.SIGCONT)
        _, told = first.communicate(timeout=60)
        assert first.returncode in (4, 9), f"{first.returncode}: {told}"
        after = program.digest(job / "cache")
        assert {name: after[name] for name in before} == before, "the first wrote on"
        program.run("verify", job / "cache", check=0)
    finally:
        if first.poll() is None:
            first.kill()
            first.communicate()
