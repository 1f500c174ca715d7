# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs `grain` under suspicion: in bounded time, in a folder with a canary beside it, its words and its end looked at.

Whatever breaks a promise of libgrain/docs/promises.md is raised as a Finding.
"""
from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Collection
from pathlib import Path

import program

# What the page of promises allows beyond the work itself. What runs under a sanitizer is several times slower.
PATIENCE = 5.0
DONE, USAGE, JOB, IO, STOPPED, MEMORY, DIVERGED, OTHER_JOB, BUSY, DISK_FULL, DAMAGED = 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
ERRORS = frozenset((USAGE, JOB, IO, MEMORY, DIVERGED, OTHER_JOB, BUSY, DISK_FULL, DAMAGED))
SANITIZER = re.compile(r"(AddressSanitizer|LeakSanitizer|UndefinedBehaviorSanitizer|runtime error:).*")
# What trials themselves have written beside a cache: exports, and what they took away.
MADE_BESIDE = frozenset(("cache", "disk", "moved away", "out", "out.part", "out.ply", "out.vdb", "table.csv"))
MOST_LOOKED_AT = 64 << 20  # bytes of a file: some have a terabyte of nothing
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def is_sanitized() -> bool:
    """Whether the program is built with a sanitizer."""
    cache = program.BUILD / "CMakeCache.txt"
    return cache.is_file() and bool(re.search(r"^GRAIN_SANITIZE:\w+=\w", cache.read_text(), re.MULTILINE))


class Finding(Exception):
    """A broken promise."""


def ensure(truth: object, text: str) -> None:
    if not truth:
        raise Finding(text)


def signal_name(code: int) -> str:
    return signal.Signals(-code).name if -code in signal.valid_signals() else str(-code)


def finish(child: program.Child, what: str, seconds: float, *, may_work_on: bool = False) -> program.Result:
    """Its end, or a Finding if that does not come within the time of its work and PATIENCE.

    may_work_on: how much work there is, nobody knows. It then has to stop when told to, as soon.
    """
    try:
        output, errors = child.communicate(timeout=seconds + PATIENCE)
    except subprocess.TimeoutExpired:
        if may_work_on:
            child.send_signal(signal.SIGTERM)
            return finish(child, f"{what}, told to stop,", 0.0)
        child.kill()
        child.communicate()
        raise Finding(f"{what} hangs: not through after {seconds + PATIENCE:.1f} s") from None
    return program.Result(child.returncode, program.events_of(output), output, errors)


def last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


def judge(result: program.Result, what: str, codes: Collection[int] | None = None, names: str = "") -> program.Result:
    """The same result, if it ended as promised: by itself, with a documented code, and an error with words."""
    said = f"{what}: {last_line(result.stderr)[:300]}"
    found = SANITIZER.search(result.stderr)
    ensure(not found, f"{what}: {found.group(0)[:300] if found else ''}")
    ensure(result.code >= 0, f"crashed with {signal_name(result.code)}: {said}")
    ensure(result.code < 128, f"crashed with {signal_name(128 - result.code)}: {said}")
    ensure(result.code in ERRORS | {DONE, STOPPED}, f"undocumented exit code {result.code}: {said}")
    ensure(
        codes is None or result.code in codes,
        f"exit code {result.code} instead of {'/'.join(map(str, sorted(codes or ())))}: {said}",
    )
    if result.code in ERRORS:
        ensure(
            len(last_line(result.stderr).removeprefix("grain:").split()) >= 3,
            f"exit code {result.code} without a sentence: {said}",
        )
        ensure("internal error" not in result.stderr, f"'internal error': {said}")
        ensure(names in result.stderr, f"'{names}' is not named: {said}")
    ensure(not CONTROL.search(result.stderr + result.stdout), f"control characters in what is said: {said!r}")
    return result


def run(
    *arguments: object,
    seconds: float = 0.0,
    codes: Collection[int] | None = None,
    names: str = "",
    environment: dict | None = None,
    wrap: list[str] | None = None,
    may_work_on: bool = False,
) -> program.Result:
    """Runs to the end and judges it. seconds: what the work itself takes; may_work_on: as for `finish`."""
    what = " ".join(("grain", *(a.name if isinstance(a, Path) else str(a) for a in arguments)))
    return judge(
        finish(program.start(*arguments, environment=environment, wrap=wrap), what, seconds, may_work_on=may_work_on),
        what,
        codes,
        names,
    )


def fingerprint(folder: Path) -> dict[str, str]:
    """All that can be seen of a folder: names, kinds, rights, times of change, links' targets, sizes, and files' bytes."""
    seen = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        info = path.lstat()
        text = f"{stat.filemode(info.st_mode)} {info.st_mtime_ns}"
        if path.is_symlink():
            text += f" {os.readlink(path)}"
        elif path.is_file():
            with open(path, "rb") as file:
                text += f" {info.st_size} {hashlib.sha256(file.read(MOST_LOOKED_AT)).hexdigest()}"
        seen[str(path.relative_to(folder))] = text
    return seen


class World:
    """A folder of its own for a trial: `job` and `cache`, and beside them a canary that nobody may touch."""

    def __init__(self, folder: Path, job: Path, cache: Path | None = None) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.folder, self.job, self.cache, self.canary = folder, folder / "job", folder / "cache", folder / "canary"
        shutil.copytree(job, self.job)
        if cache:
            shutil.copytree(cache, self.cache)
        self.canary.mkdir()
        (self.canary / "diary.txt").write_text("the artist's own\n" * 8)
        (self.canary / "grains_000001.grain").write_bytes(b"GRAINPTS" + bytes(120))
        (self.canary / "cache.json.part").write_text("named like a cache's")
        (self.canary / "inside").mkdir()
        (self.canary / "inside/coarse_000003.grain").write_bytes(bytes(64))
        self.freeze()

    def _outside(self) -> dict[str, dict[str, str]]:
        """The job and the canary, all that can be seen of them, and the names of what else lies beside the cache."""
        names = {path.name for path in self.folder.iterdir() if path.name not in MADE_BESIDE and path != self.cache}
        return {"job": fingerprint(self.job), "canary": fingerprint(self.canary), "its neighbours": dict.fromkeys(names, "")}

    def freeze(self) -> None:
        """From now on everything outside the cache is watched."""
        self._frozen = self._outside()

    def check_outside(self) -> None:
        for name, after in self._outside().items():
            before = self._frozen[name]
            changed = sorted(k for k in {*before, *after} if before.get(k) != after.get(k))
            ensure(not changed, f"changed outside the cache: {name}: {', '.join(changed[:4])}")

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_until(child: program.Child, moment: float) -> bool:
    """Whether the program still runs then, a number of seconds from now."""
    end = time.monotonic() + moment
    while child.poll() is None and time.monotonic() < end:
        time.sleep(min(0.002, max(0.0, end - time.monotonic())))
    return child.poll() is None
