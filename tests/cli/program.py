# SPDX-License-Identifier: GPL-3.0-or-later
"""Running `grain` from the tests."""
from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

BUILD = Path(os.environ["GRAIN_TEST_BUILD"])
# What runs a program for another system here, such as wine.
RUNNER = os.environ.get("GRAIN_TEST_RUNNER", "").split()
IS_WINDOWS = (BUILD / "bin/grain.exe").is_file()
GRAIN = BUILD / ("bin/grain.exe" if IS_WINDOWS else "bin/grain")
COMMAND = [*RUNNER, str(GRAIN)]
# An artist who presses Pause waits at most two seconds. What runs the programs of other systems takes seconds of its own.
STOP_SECONDS = 20.0 if RUNNER else 2.0
DATA = Path(__file__).resolve().parent.parent / "data"


@dataclass
class Result:
    code: int
    events: list[dict]
    stdout: str
    stderr: str

    @property
    def last(self) -> dict:
        return self.events[-1] if self.events else {}


def events_of(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def run(*arguments: object, check: int | None = None, environment: dict | None = None, wrap: list[str] | None = None) -> Result:
    """Runs the program to its end; with check, its exit code must be that one."""
    command = [*(wrap or []), *COMMAND, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **(environment or {})})
    result = Result(done.returncode, events_of(done.stdout), done.stdout, done.stderr)
    assert check is None or result.code == check, f"exit code {result.code}, expected {check}: {result.stderr.strip()}"
    return result


class Child(subprocess.Popen):
    """A program that runs. Windows has no signals: there it is told to stop through its standard input."""

    def send_signal(self, number: int) -> None:
        if IS_WINDOWS and number in (signal.SIGTERM, signal.SIGINT):
            self.stdin.write("stop\n")
            self.stdin.flush()
        else:
            super().send_signal(number)


def holder(child: Child) -> str:
    """How the lock's holder is named, as a pattern: a program under a runner has another number than its runner."""
    return rf"process {r'[0-9]+' if RUNNER else child.pid} on {re.escape(os.uname().nodename)} "


def start(*arguments: object, environment: dict | None = None, stdin: int | None = None, wrap: list[str] | None = None) -> Child:
    listens = ["--stop-on-input"] if IS_WINDOWS and stdin is None else []
    return Child([*(wrap or []), *COMMAND, *map(str, arguments), *listens], stdin=subprocess.PIPE if listens else stdin,
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="backslashreplace",
                 env={**os.environ, **(environment or {})})


def digest(cache: Path) -> dict[str, str]:
    """Name -> hash of every file of a cache but the lock."""
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(cache.iterdir())
            if p.name != "lock" and p.is_file()}
