# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the C tests with a process for each file, as many at once as there are cores: for an emulated processor, where most
tests keep one core busy for minutes.

    python3 tests/c_files.py [-k TEXT] PROGRAM ...      such as: qemu-aarch64-static build/platforms/.../grain_tests
"""
from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import harness

HERE = Path(__file__).resolve().parent
QUIET = 90.0  # s
TEST = re.compile(r"^(?:\w+_)?TEST\((\w+)", re.MULTILINE)


def wanted(keyword: str) -> dict[str, str]:
    """Folder and name of each file with tests that are meant -> the words that grain_tests knows these by."""
    found = {}
    for path in sorted((*HERE.glob("unit/test_*.c"), *HERE.glob("physics/test_*.c"))):
        name = f"{path.parent.name}/{path.stem}"
        tests = [f"{name}:{test}" for test in TEST.findall(path.read_text("utf-8"))]
        if chosen := [test for test in tests if harness.is_wanted(test, keyword)]:
            found[name] = "|".join(chosen)
    return found


def seconds_used(process: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_watched(command: list[str], words: str) -> tuple[int, str]:
    """Exit code and output; the program is killed if all its threads sleep for QUIET seconds."""
    child = subprocess.Popen([*command, words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    used, since = -1.0, time.monotonic()
    while True:
        try:
            output = child.communicate(timeout=5.0)[0]
            return child.returncode, output
        except subprocess.TimeoutExpired as so_far:
            said = (so_far.output or b"").decode("utf-8", "replace")
            now = seconds_used(child.pid)
        if now > used + 0.05:
            used, since = now, time.monotonic()
        elif time.monotonic() - since > QUIET:
            child.kill()
            return child.wait(), f"{said}# all threads slept for {QUIET:.0f} s\n"


def run(command: list[str], name: str, words: str) -> tuple[bool, str]:
    """Whether all of a file's tests passed, and what they said."""
    began = time.monotonic()
    code, output = run_watched(command, words)
    lines = [line for line in output.splitlines() if not re.match(r"\d+ passed", line)]
    if code != 0 and not any(line.startswith("not ok") for line in lines):
        lines.append(f"not ok {name}: ended with code {code}; the rest of it was not run")
    return code == 0, "\n".join([*lines, f"# {name}: {time.monotonic() - began:.0f} s"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", dest="keyword", default="")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    passed = True
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for future in as_completed(pool.submit(run, options.command, *file) for file in wanted(options.keyword).items()):
            is_good, text = future.result()
            print(text, flush=True)
            passed = passed and is_good
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
