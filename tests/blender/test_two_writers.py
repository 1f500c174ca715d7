# SPDX-License-Identifier: GPL-3.0-or-later
"""Two Blenders, and two programs beside them, that bake into one cache at once: one bakes, the others say who does, nothing is torn."""
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import harness
import support

GRAIN = str(support.BUILD / "bin" / ("grain.exe" if sys.platform == "win32" else "grain"))
DONE, OTHER_JOB, BUSY = 0, 8, 9  # exit codes
# Of each contest. Five minutes by hand: ./build.sh test --heavy -k test_two_writers
SECONDS = 300.0 if harness.is_heavy() else 4.0

# Each presses Bake Anew again and again, from the same moment on.
PRESS = f"""
import bpy, sys, time
sys.path[:0] = [{str(Path(support.__file__).parent)!r}]
from pathlib import Path
name, folder, seconds = sys.argv[-3], Path(sys.argv[-2]), float(sys.argv[-1])
(folder / f"ready {{name}}").touch()
while not (folder / "go").exists():
    time.sleep(0.001)
until = time.monotonic() + seconds
while time.monotonic() < until:
    try:
        bpy.ops.grain.bake(restart=True)
        print("BAKED", flush=True)
    except RuntimeError as error:
        print("REFUSED", error, flush=True)
"""


def blender(folder: Path, number: int, seconds: float) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*support.blender_command(), "-b", "--factory-startup", "--python-exit-code", "7", "--addons", "grain", str(folder / f"{number}.blend"),
         "--python-expr", PRESS, "--", str(number), str(folder), str(seconds)], stdout=open(folder / f"{number}.txt", "wb"), stderr=subprocess.STDOUT,
        env={**os.environ, "BLENDER_USER_SCRIPTS": str(folder / "user_scripts")})


def contest(folder: Path, frames: int, programs: int, seconds: float) -> Path:
    """Returns the cache. Everybody's words are looked at."""
    scene = support.small_scene(frames)
    for number, radius in enumerate((0.005, 0.0049)):
        scene.grain.active.particle_radius = radius
        support.save(folder, f"{number}.blend")
    support.run_blender(folder, script="")  # makes the folder of scripts
    blenders = [blender(folder, number, seconds) for number in range(2)]
    until = time.monotonic() + 60.0
    while len(list(folder.glob("ready *"))) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    (folder / "go").touch()
    cache = folder / "grain_cache/Sand"
    bakes = run_programs(cache, programs, time.monotonic() + seconds)
    refusals = 0
    for number, process in enumerate(blenders):
        baked, refused = judged(process, folder / f"{number}.txt")
        bakes, refusals = bakes + baked, refusals + refused
    print(f"# {bakes} bakes in {seconds:.0f} s, Blenders were refused {refusals} times")
    assert refusals > 0, "they never met"
    return cache


def judged(process: "subprocess.Popen[bytes]", log: Path) -> tuple[int, int]:
    """How often this Blender baked, and how often it was told that another does."""
    process.wait(timeout=100)
    words = log.read_text("utf-8", "replace")
    assert process.returncode == 0 and "Traceback" not in words and ".part" not in words, words[-2000:]
    for line in words.splitlines():
        assert not line.startswith("REFUSED") or "is being baked into by process" in line, line
    assert words.count("BAKED") + words.count("REFUSED") > 0, words[-2000:]
    return words.count("BAKED"), words.count("REFUSED")


def run_programs(cache: Path, count: int, until: float) -> int:
    """So many at a time bake the job that is there; returns how many bakes were done."""
    running: list[subprocess.Popen[str]] = []
    done = 0
    while time.monotonic() < until or running:
        if time.monotonic() < until and len(running) < count and (cache / "job/job.json").exists():
            running.append(subprocess.Popen([GRAIN, "bake", str(cache / "job"), "--cache", str(cache), "--restart"],
                                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        for process in [process for process in running if process.poll() is not None]:
            running.remove(process)
            said = process.communicate()[1]
            assert process.returncode == DONE or process.returncode == BUSY and "is being baked into by" in said, (process.returncode, said)
            done += process.returncode == DONE
        time.sleep(0.02)
    return done


def check(cache: Path) -> None:
    """What the last of them has left."""
    assert not list(cache.rglob("*.part")), list(cache.rglob("*.part"))
    for words in ((GRAIN, "verify", str(cache)), (GRAIN, "bake", str(cache / "job"), "--cache", str(cache))):
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode in (DONE, OTHER_JOB if words[1] == "bake" else DONE), (words, done.stdout, done.stderr)


def test_two_blenders(folder: Path) -> None:
    cache = contest(folder, 24, 0, SECONDS)
    check(cache)
    done = subprocess.run([GRAIN, "info", str(cache), "--job", str(cache / "job")], capture_output=True, text=True)
    assert "up to date with the job" in done.stdout, done.stdout + done.stderr


def test_two_blenders_and_two_programs(folder: Path) -> None:
    check(contest(folder, 8, 2, SECONDS))


def ended(process: Any, seconds: float = 20.0) -> Any:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        outcome = process.poll()
        if outcome is not None:
            return outcome
        process.wait(0.02)
    raise AssertionError("it did not end")


def test_a_bake_holds_the_lock_of_its_job_to_the_end(folder: Path) -> None:
    """Whichever way it ends, and in a window, where it waits for its start, as well."""
    support.needs_posix("shell scripts as programs")
    from grain.engine import cache, cache_lock
    from grain.engine.process import BakeProcess, simulate_stage
    program, place = folder / "program", folder / "cache"
    program.write_text("#!/bin/sh\nread word\nexit 5\n")
    program.chmod(0o755)
    (folder / "short").write_text("#!/bin/sh\n")
    (folder / "short").chmod(0o755)
    written: list[bool] = []

    def process(waits: bool, *names: str) -> BakeProcess:
        return BakeProcess([simulate_stage(folder / name, folder, place, 0) for name in names or ("program",)], waits=waits,
                           before=lambda: cache.claim(place, lambda: written.append(cache_lock.is_busy(place))))

    for waits in (False, True):
        first = process(waits)
        first.go()
        assert written == [True] and cache_lock.is_busy(place / "job") and not cache_lock.is_busy(place)
        second = process(True)
        second.go()
        assert f"by process {os.getpid()} on" in ended(second).text and str(place) in ended(second).text and written == [True]
        first.stop()
        assert ended(first).kind == "stopped" and not cache_lock.is_busy(place / "job")
        third = process(waits)
        third.go()
        third.shut_down()
        assert not cache_lock.is_busy(place / "job")
        for later in (process(True, "missing"), process(True, "short", "missing")):
            later.go()
            assert "missing cannot be used" in ended(later).text and not cache_lock.is_busy(place / "job")
        try:
            process(False, "missing")
        except FileNotFoundError:
            assert not cache_lock.is_busy(place / "job")
        written.clear()
