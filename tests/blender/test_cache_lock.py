# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of a cache as the add-on takes it (libgrain/docs/formats.md, "The lock"): against itself in other processes, against the
program, by the system and by heartbeat."""
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import support

ELSEWHERE = b"process 17 on another-machine (user NAME, since 2026-11-16 14:02:11 UTC)\n9f86d081884c7d65 %s\n"
BEATS = {"GRAIN_LOCK": "heartbeat"}


def take(folder: Path, **environment: str) -> Any:
    from grain.engine import cache_lock
    before = os.environ.copy()
    os.environ.update(environment)
    try:
        return cache_lock.CacheLock(folder)
    finally:
        os.environ.clear()
        os.environ.update(before)


def refused(folder: Path, **environment: str) -> str:
    """Who has it, as the message says."""
    from grain.engine import cache_lock
    try:
        take(folder, **environment).release()
    except cache_lock.Busy as error:
        return str(error)
    raise AssertionError("it was granted")


def elsewhere(code: str, *arguments: object, **environment: str) -> "subprocess.Popen[str]":
    """Another process with the add-on's engine and no Blender."""
    start = (f"import os, sys, time\nsys.path.insert(0, {str(support.ROOT / 'addon/grain')!r})\nfrom pathlib import Path\n"
             "from engine import cache_lock, door\nfolder = Path(sys.argv[1])\n")
    return subprocess.Popen([sys.executable, "-c", start + code, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            env={**os.environ, **environment})


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_it_says_who_has_it_and_is_emptied(folder: Path) -> None:
    from grain.engine import cache_lock
    with take(folder):
        said = (folder / "lock").read_bytes()
        assert re.fullmatch(rb"process %d on \S+ \(user .+, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)\n[0-9a-f]{16} system\n" % os.getpid(), said), said
        assert cache_lock.is_busy(folder) and f"by process {os.getpid()} on" in refused(folder)
        assert (folder / "lock").read_bytes() == said
    assert os.listdir(folder) == ["lock"] and (folder / "lock").read_bytes() == b"" and not cache_lock.is_busy(folder)
    with take(folder, **BEATS):
        assert (folder / "lock").read_bytes().endswith(b" heartbeat\n")
    with take(folder):
        pass


def test_by_system_and_by_heartbeat_keep_each_other_out(folder: Path) -> None:
    from grain.engine import cache_lock
    hold = "lock = cache_lock.CacheLock(folder)\nprint(os.getpid(), flush=True)\nsys.stdin.read()\nlock.release()"
    for first, second in (({}, BEATS), (BEATS, {}), (BEATS, BEATS), ({}, {})):
        holder = elsewhere(hold, folder, **first)
        pid = int(holder.stdout.readline())
        assert f"by process {pid} on" in refused(folder, **second) and cache_lock.is_busy(folder), (first, second)
        holder.communicate()
        assert not cache_lock.is_busy(folder)
        take(folder, **second).release()
        holder = elsewhere(hold, folder, **first)  # and one that dies
        holder.stdout.readline()
        holder.kill()
        holder.communicate()
        assert (folder / "lock").read_bytes() and not cache_lock.is_busy(folder)
        take(folder, **second).release()


def test_what_nobody_touches_for_two_minutes_is_taken_over(folder: Path) -> None:
    from grain.engine import cache_lock
    path = folder / "lock"
    for manner in (b"heartbeat", b"system"):
        for seconds, is_stale in ((0, False), (100, False), (130, True), (-1000, False)):
            path.write_bytes(ELSEWHERE % manner)
            os.utime(path, (time.time() - seconds,) * 2)
            assert cache_lock.is_busy(folder) != is_stale, (manner, seconds)
            if is_stale:
                take(folder).release()
            else:
                assert "process 17 on another-machine" in refused(folder) and path.read_bytes() == ELSEWHERE % manner
    path.write_bytes(b"\x1b[2J\xff nonsense of a stranger")
    assert "\x1b" not in refused(folder) and "nonsense" in refused(folder)


def test_one_who_crashed_while_taking_it_is_no_obstacle(folder: Path) -> None:
    from grain.engine import cache_lock
    part, host = folder / "lock.part", cache_lock._host().encode()
    part.write_bytes((ELSEWHERE % b"taking").replace(b"another-machine", host).replace(b"17", str(dead_process()).encode()))
    began = time.monotonic()
    take(folder).release()
    assert time.monotonic() - began < 1.0 and not part.exists()
    kept, cache_lock._WATCHED = cache_lock._WATCHED, 0.5
    try:
        for text in (ELSEWHERE % b"taking", b""):
            part.write_bytes(text)
            began = time.monotonic()
            take(folder).release()
            assert time.monotonic() - began >= 0.5 and not part.exists()
    finally:
        cache_lock._WATCHED = kept


def test_a_holder_that_was_suspended_sees_who_took_over(folder: Path) -> None:
    from grain.engine import cache_lock
    kept, cache_lock.BETWEEN_BEATS = cache_lock.BETWEEN_BEATS, 0.0
    try:
        for change in (lambda path: path.write_bytes(ELSEWHERE % b"heartbeat"), lambda path: path.unlink()):
            lock = take(folder, **BEATS)
            os.utime(folder / "lock", (0, 0))
            assert lock.beat() and time.time() - (folder / "lock").stat().st_mtime < 60.0
            change(folder / "lock")
            left = (folder / "lock").read_bytes() if (folder / "lock").exists() else b""
            assert not lock.beat() and not lock.beat()
            lock.release()
            assert not left or (folder / "lock").read_bytes() == left, "another's text stays"
            (folder / "lock").unlink(missing_ok=True)
    finally:
        cache_lock.BETWEEN_BEATS = kept


def test_on_a_full_disk_the_systems_lock_has_to_do(folder: Path) -> None:
    from grain.engine import cache_lock
    kept = cache_lock._write
    cache_lock._write = lambda file, data: False
    try:
        with take(folder) as lock:
            assert lock.beat() and (folder / "lock").read_bytes() == b"" and cache_lock.is_busy(folder) and refused(folder)
        assert os.listdir(folder) == ["lock"]
        try:
            take(folder, **BEATS)
        except OSError as error:
            assert "space" in error.strerror and error.filename == str(folder / "lock"), error
        else:
            raise AssertionError("held by nothing at all")
        assert os.listdir(folder) == ["lock"]
    finally:
        cache_lock._write = kept
    take(folder).release()


CONTEND = """
until, got = time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < until:
    try:
        lock = cache_lock.CacheLock(folder)
    except cache_lock.Busy:
        continue
    inside = os.open(folder / "inside", os.O_CREAT | os.O_EXCL)  # raises where two are inside
    time.sleep(0.002)
    os.close(inside)
    os.unlink(folder / "inside")
    lock.release()
    got += 1
print(got)
"""


def test_a_file_with_other_names_elsewhere_is_replaced(folder: Path) -> None:
    """But only where nobody is at work."""
    for number, text in enumerate((b"years of work", b"", ELSEWHERE % b"system")):
        for seconds in (0, 1000):
            place, precious = folder / f"{number} {seconds}", folder / "precious"
            place.mkdir()
            precious.write_bytes(text)
            os.utime(precious, (time.time() - seconds,) * 2)
            os.link(precious, place / "lock")
            if text and not seconds:
                assert "is being baked into by" in refused(place)
            else:
                with take(place):
                    assert precious.read_bytes() == text
                assert (place / "lock").read_bytes() == b"" and (place / "lock").stat().st_nlink == 1
            assert precious.read_bytes() == text and os.listdir(place) == ["lock"]
            precious.unlink()


def test_of_many_only_one_is_inside(folder: Path) -> None:
    ways = ({}, BEATS, {}, BEATS)
    running = [elsewhere(CONTEND, folder, 3.0, **way) for way in ways]
    got = [process.communicate(timeout=60)[0] for process in running]
    assert all(process.returncode == 0 for process in running), got
    assert sum(map(int, got)) > 10, got
    assert os.listdir(folder) == ["lock"] and (folder / "lock").read_bytes() == b""


def test_the_program_is_kept_out_and_keeps_out(folder: Path) -> None:
    """grain bake, against a Blender that writes the job; each way of locking against each."""
    from grain.engine import cache_lock
    sys.path.append(str(support.ROOT / "tests/cli"))
    import jobs
    job = jobs.small(solver={"particle_radius": 0.004}, frame_end=60).write(folder / "job")
    place = folder / "cache"
    place.mkdir()
    grain = str(support.BUILD / "bin" / ("grain.exe" if sys.platform == "win32" else "grain"))
    for ours, theirs in (({}, {}), (BEATS, {}), ({}, BEATS), (BEATS, BEATS)):
        with take(place, **ours):
            done = subprocess.run([grain, "bake", str(job), "--cache", str(place)], env={**os.environ, **theirs}, capture_output=True, text=True)
            assert done.returncode == 9 and f"process {os.getpid()} on" in done.stderr, (ours, theirs, done.stderr)
        program = subprocess.Popen([grain, "bake", str(job), "--cache", str(place)], env={**os.environ, **theirs}, stdout=subprocess.PIPE, text=True)
        while '"frame"' not in program.stdout.readline():
            assert program.poll() is None
        assert f"process {program.pid} on" in refused(place, **ours) and cache_lock.is_busy(place), (ours, theirs)
        program.kill()
        program.communicate()
        take(place, **ours).release()
