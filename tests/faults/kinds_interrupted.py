# SPDX-License-Identifier: GPL-3.0-or-later
"""What interrupts a bake: kills, stops, full disks, folders that vanish, little memory, other writers.

Each kind is a function of a trial. It returns whether the fault struck (a kill may be late), and raises a Finding.
"""
from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import caches
import harness
import program
import watch
from scenes import STAGES
from trial import Trial

MEGABYTE = 1 << 20


def start(trial: Trial, stage: str, world: watch.World, **options: object) -> program.Child:
    return program.start(stage, world.job, "--cache", world.cache, "--threads", trial.choose((1, 1, 2)), **options)


def check_readable(world: watch.World) -> None:
    """Whatever happened, what the cache lists is whole."""
    watch.run("verify", world.cache, codes={watch.DONE, watch.IO})  # 4: there is no list yet


def draw(trial: Trial, inside: str = "cache") -> tuple[str, watch.World]:
    """A stage that is still to run, and its world."""
    stage = trial.choose(STAGES)
    trial.tell(stage)
    return stage, trial.scene.before(stage, trial.folder, inside)


def moment(trial: Trial, stage: str) -> float:
    seconds = trial.pick.uniform(0.0, 1.1) * trial.scene.seconds[stage]
    trial.tell(f"after {seconds:.3f} s")
    return seconds


def kill(trial: Trial) -> bool:
    stage, world = draw(trial)
    kills = 0
    for _ in range(trial.choose((1, 1, 1, 2, 3))):
        child = start(trial, stage, world)
        kills += watch.wait_until(child, moment(trial, stage))
        child.kill()
        child.communicate()
        check_readable(world)
    trial.scene.complete(world, first=stage)
    return kills > 0


# What looks after a cache, for the trials of `care`, and how long each may take until it is killed.
CARE = ("repair", "gc", "verify", "info", "export")
CARE_SECONDS = 0.02


def care(trial: Trial) -> bool:
    """What looks after a cache is killed, or has little memory: the cache lost nothing but what was damaged."""
    command = trial.choose(CARE)
    world = watch.World(trial.folder, trial.scene.job, trial.scene.whole)
    victim = world.cache / trial.choose(sorted(n for n in trial.scene.digest if n.endswith((".grain", ".vdb"))))
    if command == "repair":
        victim.write_bytes(caches.flipped(victim.read_bytes(), trial.pick))
    wrap = trial.choose(([], [], ["prlimit", f"--as={trial.pick.randrange(12, 64) * MEGABYTE}"]))
    trial.tell(f"{command} {' '.join(wrap)}")
    export = ["--frame", 2, "--format", trial.choose(("ply", "vdb")), "-o", world.folder / "out"]
    child = program.start(command, world.cache, *(export if command == "export" else []), wrap=wrap)
    if not wrap and watch.wait_until(child, trial.pick.uniform(0.0, CARE_SECONDS)):
        child.kill()
    result = watch.finish(child, command, trial.scene.patience)
    has_begun = result.code != -signal.SIGKILL and not is_short_of_room(result)
    if has_begun:
        watch.judge(result, command, codes={watch.DONE, watch.MEMORY}, names="memory")
    if command == "repair":
        watch.run("repair", world.cache, codes={watch.DONE})
    trial.scene.complete(world, lacking={victim.name} if victim.name.startswith("checkpoint") else set())
    return result.code != watch.DONE


def is_short_of_room(result: program.Result) -> bool:
    """Said by the system when a library, OpenVDB's among them, finds no room."""
    return "error while loading shared libraries" in result.stderr or "failed to map segment" in result.stderr


def stop(trial: Trial) -> bool:
    stage, world = draw(trial)
    name = trial.choose((signal.SIGTERM, signal.SIGINT))
    child = start(trial, stage, world)
    runs = watch.wait_until(child, moment(trial, stage))
    child.send_signal(name)
    result = watch.finish(child, f"{stage} after {name.name}", 0.0)
    # Until the program listens, which it does before it says anything, a signal ends it as any other program.
    if result.code != -name or result.stdout:
        watch.judge(result, f"{stage} after {name.name}", codes={watch.DONE, watch.STOPPED})
        watch.ensure(result.last.get("event") == ("stopped" if result.code else "done"), f"last event: {result.last}")
    check_readable(world)
    trial.scene.complete(world, first=stage)
    return runs and result.code == watch.STOPPED


def full_disk(trial: Trial) -> bool:
    """As root a small disk, short of room or of inodes; else files that cannot grow."""
    pages, files = sum(-(-size // 4096) for size in sizes(trial)), len(trial.scene.digest)
    options = trial.choose(
        (f"size={4 * trial.pick.randrange(1, pages)}k", f"nr_inodes={trial.pick.randrange(3, files + 8)}")
    )
    trial.tell(str(options))
    world = trial.scene.before("bake", trial.folder)
    try:
        with caches.small_disk(trial.folder / "disk", str(options)) as disk:
            world.cache = disk / "cache"
            hit = any(fills_up(trial, stage, world) for stage in STAGES)
            check_readable(world)
            caches.remount(disk, "size=100m,nr_inodes=1000")
            trial.scene.complete(world)
            return hit
    except harness.Skip:
        return file_limit(trial)


def fills_up(trial: Trial, stage: str, world: watch.World) -> bool:
    result = trial.scene.run(stage, world, codes={watch.DONE, watch.DISK_FULL}, names="disk is full")
    watch.ensure(not caches.unfinished(world.cache) or result.code == watch.DONE, "half-written files left behind")
    return result.code == watch.DISK_FULL


def sizes(trial: Trial) -> list[int]:
    return [p.stat().st_size for p in trial.scene.whole.rglob("*") if p.is_file()]


def file_limit(trial: Trial) -> bool:
    """A limit on the size of a file, from 64 bytes to 256 KB, as quotas and some file systems have: writing fails."""
    stage, world = draw(trial)
    limit = int(64 * 2 ** trial.pick.uniform(0.0, 12.0))
    trial.tell(f"files of at most {limit} bytes")
    result = trial.scene.run(
        stage,
        world,
        wrap=["env", "--ignore-signal=XFSZ", "prlimit", f"--fsize={limit}"],
        codes={watch.DONE, watch.IO, watch.DISK_FULL},
        names=str(world.cache),
    )
    check_readable(world)
    trial.scene.complete(world, first=stage)
    return result.code != watch.DONE


# Root without the rights that let it write anywhere.
POWERLESS = ["setpriv", "--securebits=+noroot", "--bounding-set=-all", "--inh-caps=-all"]


def read_only(trial: Trial) -> bool:
    """Folders that may no longer be written to, from some moment of the bake on."""
    stage, world = draw(trial)
    child = start(trial, stage, world, wrap=POWERLESS if os.geteuid() == 0 else [])
    watch.wait_until(child, moment(trial, stage))
    folders = [f for f in (world.cache, *(world.cache / name for name in ("grains", "volume", "sdf"))) if f.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    result = watch.finish(child, stage, trial.scene.patience)
    for folder in folders:
        folder.chmod(0o755)
    watch.judge(result, stage, codes={watch.DONE, watch.IO}, names=str(world.cache))
    check_readable(world)
    trial.scene.complete(world, first=stage)
    return result.code == watch.IO


def vanished(trial: Trial) -> bool:
    """A folder or a file of the cache removed or moved while the program works on it. The next bake makes it again."""
    stage, world = draw(trial)
    child = start(trial, stage, world)
    runs = watch.wait_until(child, moment(trial, stage))
    there = sorted(p for p in world.cache.rglob("*") if p.name != "lock") if world.cache.is_dir() else []
    victim = trial.choose((world.cache, *there))
    trial.tell(f"{victim.relative_to(world.folder)} goes")
    take_away(victim, world.folder / "moved away", trial.choose((True, False)))
    result = watch.finish(child, stage, trial.scene.patience)
    watch.judge(result, stage, codes={watch.DONE, watch.IO, watch.OTHER_JOB, watch.DAMAGED}, names=str(world.cache))
    world.check_outside()
    put_in_order(world)
    # Restart points of frames that are there already are not made again.
    trial.scene.complete(world, lacking={victim.name} if victim.name.startswith("checkpoint") else set())
    return runs


def take_away(victim: Path, away: Path, is_moved: bool) -> None:
    """The program may remove it first, or write into a folder meanwhile."""
    try:
        if is_moved:
            victim.rename(away)
        elif victim.is_dir():
            shutil.rmtree(victim, ignore_errors=True)
        else:
            victim.unlink()
    except FileNotFoundError:
        pass


def put_in_order(world: watch.World) -> None:
    """What an artist does with a cache that lacks files: without its list it is baked anew, else repaired."""
    if not (world.cache / "cache.json").is_file():
        shutil.rmtree(world.cache, ignore_errors=True)
    elif watch.run("verify", world.cache, codes={watch.DONE, watch.DAMAGED}).code == watch.DAMAGED:
        watch.run("repair", world.cache, codes={watch.DONE})


def little_memory(trial: Trial) -> bool:
    """A limit on memory: either the work gets through, or an error that says so. A sanitizer needs terabytes."""
    if watch.is_sanitized():
        return False
    stage, world = draw(trial)
    limit = int(12 * 2 ** trial.pick.uniform(0.0, 5.0)) * MEGABYTE
    trial.tell(f"{limit // MEGABYTE} MB")
    child = start(trial, stage, world, wrap=["prlimit", f"--as={limit}"])
    result = watch.finish(child, stage, trial.scene.patience)
    has_begun = not is_short_of_room(result)
    if has_begun:
        watch.judge(result, stage, codes={watch.DONE, watch.MEMORY}, names="memory")
    check_readable(world)
    trial.scene.complete(world, first=stage)
    return has_begun and result.code == watch.MEMORY


def writers(trial: Trial) -> bool:
    """Two or three programs on one cache at once: those that may not write say who does; what they leave is whole."""
    stage, world = draw(trial)
    children = []
    for _ in range(trial.choose((2, 2, 3))):
        share = {"GRAIN_LOCK": "heartbeat"} if trial.choose((True, False)) else {}
        children.append(start(trial, stage, world, environment=share))
        watch.wait_until(children[-1], trial.pick.uniform(0.0, 0.2) * trial.scene.seconds[stage])
    reader = trial.choose(("info", "verify"))
    watch.run(reader, world.cache, codes={watch.DONE, watch.IO})
    results = [watch.finish(child, stage, 2 * trial.scene.patience) for child in children]
    for result in results:
        watch.judge(result, stage, codes={watch.DONE, watch.BUSY})
        if result.code == watch.BUSY:
            watch.ensure(
                re.search(r"process [0-9]+ on \S+ ", result.stderr), f"who bakes is not said: {result.stderr.strip()}"
            )
    watch.ensure(any(result.code == watch.DONE for result in results), "nobody baked")
    trial.scene.complete(world, first=stage)
    return any(result.code == watch.BUSY for result in results)
