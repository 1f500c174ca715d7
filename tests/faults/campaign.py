# SPDX-License-Identifier: GPL-3.0-or-later
"""./build.sh faults [MINUTES]: faults drawn from a seed, against every stage and solver; ends in a table.

./build.sh faults 60                       an hour
./build.sh faults 5 --only kill,stop       five minutes of two kinds
./build.sh faults --trial kill:7:123       number 123 of seed 7 once more, as a finding names it
"""
from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


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
    import kinds_damaged as damaged
    import kinds_interrupted as interrupted
    import kinds_strange as strange

    table = [
        Kind("kill", interrupted.kill, 20, "SIGKILL at a random moment of a stage, up to three times"),
        Kind("stop", interrupted.stop, 8, "SIGTERM or SIGINT likewise"),
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
        from scenes import Scenes

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
        from trial import Trial
        from watch import Finding

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
                print(
                    f"finding {trial.name} ({'; '.join(trial.story)}): {finding} (files: {trial.folder})",
                    flush=True,
                )
            elif is_told:
                print(f"no finding in {trial.name} ({'; '.join(trial.story)})")
        if not finding:
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


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", nargs="?", type=float, default=5.0)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="by default the time")
    parser.add_argument("--only", default="", help="kinds, separated by commas")
    parser.add_argument("--trial", default="", help="KIND:SEED:NUMBER: that trial alone, ten times")
    return parser.parse_args()


def main() -> int:
    options = parse()
    here = Path(__file__).resolve().parent
    sys.path[:0] = [str(here), str(here.parent), str(here.parent / "cli")]
    os.environ["GRAIN_TEST_BUILD"] = str(options.build.resolve())
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # small disks are unmounted then too
    folder = Path(tempfile.mkdtemp(prefix="grain_faults_"))
    chosen = kinds()
    if options.trial:
        name, seed, number = options.trial.split(":")
        campaign = Campaign(int(seed), folder, {name: chosen[name]})
        for _ in range(10):  # kills and other writers depend on the scheduler too
            campaign.run(campaign.kinds[name], int(number), is_told=True)
            if campaign.finding_count:
                break
    else:
        wanted = options.only.split(",") if options.only else list(chosen)
        campaign = Campaign(options.seed, folder, {name: chosen[name] for name in wanted})
        print(
            f"seed {options.seed}, {options.minutes:g} minutes; one finding: ./build.sh faults --trial KIND:SEED:NUMBER",
            flush=True,
        )
        campaign.run_until(time.monotonic() + 60 * options.minutes, os.cpu_count() or 1)
        print(campaign.table())
    if not campaign.finding_count:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if campaign.finding_count else 0


if __name__ == "__main__":
    sys.exit(main())
