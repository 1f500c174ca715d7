# SPDX-License-Identifier: GPL-3.0-or-later
"""Child processes on Windows: started, listened to, stopped, killed, crashed; with grain.exe and with stand-ins."""
import ctypes
import hashlib
import subprocess
import sys
import time
from pathlib import Path

import jobs
from grain.engine import cache, cache_lock, child, ffi, priority
from grain.engine.process import BakeProcess, grains_stage, simulate_stage
from processes import ended, long_job, start, wait_for_frames

TERMINATE = 1  # what a process may be opened for
ACCESS_VIOLATION = 0xC0000005


def stand_in(code: str) -> BakeProcess:
    return BakeProcess([("Simulating", [sys.executable, "-X", "utf8", "-c", code])])


def end_with(process: BakeProcess, code: int) -> None:
    """Ends a child as the system does: with this exit code, and no chance to say a word."""
    kernel = ctypes.windll.kernel32
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(kernel.OpenProcess(TERMINATE, False, process.pid))
    assert kernel.TerminateProcess(handle, ctypes.c_uint(code))
    kernel.CloseHandle(handle)


def digest(where: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(where.glob("*.grain"))}


def test_stopped_killed_and_crashed_it_goes_on_to_the_same_bytes(folder: Path) -> None:
    job = long_job(folder)
    assert ended(start(job, folder / "whole")).kind == "done"
    where = folder / "broken"
    process = start(job, where)
    wait_for_frames(process, 1)
    began = time.monotonic()
    process.stop()
    outcome = ended(process)
    assert outcome.kind == "stopped" and outcome.exit_code == 5, outcome
    assert time.monotonic() - began < 2.0 and (where / "checkpoint.grain").is_file()
    process = start(job, where)
    wait_for_frames(process, 1)
    end_with(process, 1)  # as the Task Manager does
    outcome = ended(process)
    assert outcome.kind == "died" and "ended from outside" in outcome.text, outcome
    process = start(job, where)
    wait_for_frames(process, 1)
    end_with(process, ACCESS_VIOLATION)
    assert ended(process).kind == "done"
    assert "access violation" in " ".join(process.status.warnings), process.status.warnings
    assert digest(where) == digest(folder / "whole") and len(digest(where)) >= 8


def test_two_stages_one_after_the_other(folder: Path) -> None:
    job, where = jobs.small(frame_end=3, upsample={"grains_per_particle": 4}).write(folder / "job"), folder / "cache"
    process = BakeProcess([simulate_stage(ffi.program(), job, where, 0), grains_stage(ffi.program(), job, where, 0)],
                          where / "log.jsonl")
    outcome = ended(process)
    assert outcome.kind == "done" and process.status.stage == "Making grains", (outcome, process.status)
    assert cache.read_manifest(where).last == cache.read_manifest(cache.grains_folder(where)).last == 3


def test_a_child_that_does_not_listen_is_ended(_: Path) -> None:
    process = stand_in("import time; time.sleep(60)")
    began = time.monotonic()
    process.stop()
    assert ended(process).kind == "stopped" and time.monotonic() - began < 2.5


def test_blender_quits(folder: Path) -> None:
    process = start(long_job(folder), folder / "cache")
    wait_for_frames(process, 1)
    process.shut_down()
    assert not cache_lock.is_busy(folder / "cache") and process.poll().kind == "stopped"


def test_nothing_is_lost_while_nobody_reads(folder: Path) -> None:
    """As much as a bake says in two minutes, at once; letters of several bytes; an end without a newline."""
    done = folder / "done"
    process = stand_in(f"""
import sys
for number in range(1, 2401):
    print('{{"event": "frame", "frame": %d, "fraction": 0.5, "particles": 3, "note": "\\u00e4\\u65e5 %0150d"}}' % (number, number))
sys.stdout.write('{{"event": "error", "message": "\\u00e4\\u65e5"}}')
sys.stdout.flush()
open({str(done)!r}, "w").close()
sys.exit(7)
""")
    until = time.monotonic() + 30.0
    while not done.exists():
        assert time.monotonic() < until, "the child waits for somebody to read"
        time.sleep(0.02)
    outcome = ended(process)
    assert process.status.frames_written == 2400 == process.status.frame
    assert outcome.kind == "failed" and outcome.text.startswith("\u00e4\u65e5"), outcome


def test_lines_in_pieces(_: Path) -> None:
    running = child.Child([sys.executable, "-u", "-c", r"""
import sys, time
for piece in (b'on', b'e\r\ntw', b'o \xc3', b'\xa4\n', b'rest'):
    sys.stdout.buffer.write(piece); sys.stdout.buffer.flush(); time.sleep(0.1)
time.sleep(60)
"""], False)
    came: list[bytes] = []
    until = time.monotonic() + 30.0
    while len(came) < 2 and time.monotonic() < until:
        came += running.output.read()
    time.sleep(0.5)
    assert running.output.read() == [] and came == [b"one\r", "two \u00e4".encode()], came
    running.kill()
    running.wait()
    assert running.output.read() == [b"rest"], "what a killed child said last"
    running.close()


def test_beside_an_interface_it_has_no_window_and_goes_second(_: Path) -> None:
    seen: list[int] = []

    class Watched(subprocess.Popen):
        def __init__(self, *arguments: object, **options: object) -> None:
            seen.append(options["creationflags"])
            super().__init__(*arguments, **options)

    original, subprocess.Popen = subprocess.Popen, Watched
    try:
        for is_beside in (True, False):
            running = child.Child([sys.executable, "-c", ""], is_beside)
            running.wait()
            running.close()
    finally:
        subprocess.Popen = original
    assert seen == [subprocess.CREATE_NO_WINDOW | subprocess.BELOW_NORMAL_PRIORITY_CLASS, 0] and priority.CREATION_FLAGS


def test_a_program_that_is_not_there_is_named(folder: Path) -> None:
    try:
        start(folder, folder).shut_down()
        BakeProcess([simulate_stage(folder / "grain.exe", folder, folder, 0)])
    except FileNotFoundError as error:
        assert error.filename == str(folder / "grain.exe"), error.filename
    else:
        raise AssertionError("started")


def test_a_command_to_its_end(folder: Path) -> None:
    job = jobs.small(frame_end=1).write(folder / "s\u00f6ndag \u65e5\u672c")
    assert ended(start(job, job / "cache")).kind == "done"
    done = child.run([str(ffi.program()), "info", str(job / "cache")])
    assert done.returncode == 0 and "s\u00f6ndag \u65e5\u672c" in done.stdout, done.stdout + done.stderr
