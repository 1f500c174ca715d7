# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults drawn from a seed against every stage and solver, for as long as wanted; ends in a table. run.py starts it."""
from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import kinds_damaged as damaged
import kinds_interrupted as interrupted
import kinds_strange as strange
from scenes import Scenes
from trial import Trial
from watch import Finding

# Folders of findings that are kept of one kind: a cache has 6 MB.
KEPT = 5
# A finding that depends on the scheduler of the system is tried so often.
REPEATS = 10


@dataclass
class Kind:
    """A kind of fault: `share` is its part of the time, as a weight."""

    name: str
    call: Callable[..., bool]
    share: float
    says: str
    trials: int = 0
    struck: int = 0
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0


def kinds() -> dict[str, Kind]:
    table = [
        Kind("kill", interrupted.kill, 20, "SIGKILL at a random moment of a stage, up to three times"),
        Kind("stop", interrupted.stop, 8, "SIGTERM or SIGINT likewise"),
        Kind("care", interrupted.care, 4, "SIGKILL or little memory for repair, gc, verify, info, export"),
        Kind("disk", interrupted.full_disk, 14, "a disk without room or inodes"),
        Kind("limit", interrupted.file_limit, 4, "files that cannot grow"),
        Kind("readonly", interrupted.read_only, 6, "folders that become read-only meanwhile"),
        Kind("vanish", interrupted.vanished, 8, "files and folders of the cache removed or moved meanwhile"),
        Kind("memory", interrupted.little_memory, 6, "a limit on memory"),
        Kind("writers", interrupted.writers, 8, "two or three programs on one cache"),
        Kind("flip", damaged.flip, 8, "a bit flipped, a file cut, zeroed or longer"),
        Kind("forge", damaged.forge_file, 10, "a forged .grain file with right checksums"),
        Kind("list", strange.forge_list, 4, "a forged cache.json with the right checksum"),
        Kind("job", strange.forge_job, 4, "a forged job"),
        Kind("link", strange.links, 4, "links, pipes, sockets, devices, folders in place of files"),
    ]
    return {kind.name: kind for kind in table}


class Campaign:
    def __init__(self, seed: int, folder: Path, chosen: dict[str, Kind]) -> None:
        self.seed, self.folder, self.kinds = seed, folder, chosen
        self.scenes = Scenes(folder / "scenes")
        self.stopping = threading.Event()
        self._lock = threading.Lock()

    def next(self) -> tuple[Kind, int]:
        """The kind that has had least of its share so far."""
        with self._lock:
            kind = min(self.kinds.values(), key=lambda k: (k.seconds / k.share, k.trials / k.share))
            kind.trials += 1
            return kind, kind.trials - 1

    def run(self, kind: Kind, number: int, is_told: bool = False) -> None:
        trial = Trial(kind.name, self.seed, number, self.folder / f"{kind.name}_{number}", self.scenes)
        began, finding, struck = time.monotonic(), "", False
        try:
            struck = kind.call(trial)
        except Finding as error:
            finding = str(error)
        except Exception as error:  # noqa: BLE001 - a trial that breaks proves nothing, so it counts
            finding = f"the trial itself broke: {error!r} at {traceback.extract_tb(error.__traceback__)[-1]}"
        with self._lock:
            kind.seconds += time.monotonic() - began
            kind.struck += struck
            if finding:
                kind.findings.append(finding)
                files = f" (files: {trial.folder})" if len(kind.findings) <= KEPT else ""
                print(f"finding {trial.name} ({'; '.join(trial.story)}): {finding}{files}", flush=True)
            elif is_told:
                print(f"no finding in {trial.name} ({'; '.join(trial.story)})")
        if not finding or len(kind.findings) > KEPT:
            shutil.rmtree(trial.folder, ignore_errors=True)

    def work(self, end: float) -> None:
        while time.monotonic() < end and not self.stopping.is_set():
            self.run(*self.next())

    def run_until(self, end: float, workers: int) -> None:
        threads = [threading.Thread(target=self.work, args=(end,)) for _ in range(workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self.stopping.set()
            for thread in threads:
                thread.join()

    @property
    def finding_count(self) -> int:
        return sum(len(kind.findings) for kind in self.kinds.values())

    def table(self) -> str:
        lines = ["| kind | what | trials | struck | findings | seconds |", "|---|---|---|---|---|---|"]
        lines += [
            f"| {k.name} | {k.says} | {k.trials} | {k.struck} | {len(k.findings)} | {k.seconds:.0f} |"
            for k in self.kinds.values()
        ]
        total = [sum(getattr(k, name) for k in self.kinds.values()) for name in ("trials", "struck")]
        return "\n".join([*lines, f"| all | | {total[0]} | {total[1]} | {self.finding_count} | |"])


def repeat(name: str, folder: Path) -> Campaign:
    """One trial again, as a finding names it."""
    kind, seed, number = name.split(":")
    campaign = Campaign(int(seed), folder, {kind: kinds()[kind]})
    for _ in range(REPEATS):
        campaign.run(campaign.kinds[kind], int(number), is_told=True)
        if campaign.finding_count:
            break
    return campaign


def spend(minutes: float, seed: int, only: list[str], folder: Path) -> Campaign:
    every = kinds()
    campaign = Campaign(seed, folder, {name: every[name] for name in only or every})
    print(f"seed {seed}, {minutes:g} minutes; a finding again: ./build.sh faults --trial KIND:SEED:NUMBER", flush=True)
    campaign.run_until(time.monotonic() + 60 * minutes, os.cpu_count() or 1)
    print(campaign.table())
    return campaign


def main(minutes: float, seed: int, only: list[str], trial: str) -> int:
    """The exit code: 1 after any finding."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # small disks are unmounted then too
    folder = Path(tempfile.mkdtemp(prefix="grain_faults_"))
    campaign = repeat(trial, folder) if trial else spend(minutes, seed, only, folder)
    if not campaign.finding_count:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if campaign.finding_count else 0
