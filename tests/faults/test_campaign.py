# SPDX-License-Identifier: GPL-3.0-or-later
"""A short campaign with a fixed seed, and that a campaign notices a program that breaks its promises."""
from __future__ import annotations

import os
import time
from pathlib import Path

import campaign
import program
import watch
from harness import is_heavy

SEED = 25
SECONDS = 15.0


def test_faults_of_every_kind(folder: Path) -> None:
    run = campaign.Campaign(SEED, folder, campaign.kinds())
    run.run_until(time.monotonic() + (15 if is_heavy() else 1) * SECONDS, os.cpu_count() or 1)
    for line in run.table().splitlines():
        print(f"# {line}")
    assert all(kind.trials for kind in run.kinds.values())
    assert not run.finding_count, f"{run.finding_count} findings with seed {SEED}, printed above"


MISBEHAVIOUR = {  # a shell command in place of the program -> what is said about it
    "kill -SEGV $$": "SIGSEGV",
    "exit 139": "crashed",
    "exit 1": "undocumented",
    "exit 77": "undocumented",
    "exit 4": "without a sentence",
    "echo grain: cannot read some file >&2; exit 4": "is not named",
    "echo grain: there was an internal error in coarse.grain >&2; exit 4": "internal error",
    "echo 'file.c:1: runtime error: index out of bounds' >&2": "runtime error",
    "echo '==1==ERROR: AddressSanitizer: x' >&2; exit 4": "AddressSanitizer",
    "printf 'job \\033[2J'": "control characters",
    "sleep 30": "hangs",
    "exit 5": "instead of 0/4",
}


def test_a_program_that_breaks_its_promises_is_found_out(folder: Path) -> None:
    honest, patience = program.COMMAND[:], watch.PATIENCE
    wrong = []
    try:
        watch.PATIENCE = 0.3
        for script, words in MISBEHAVIOUR.items():
            program.COMMAND[:] = ["sh", "-c", script, "grain"]
            try:
                watch.run("verify", folder, codes={watch.DONE, watch.IO}, names="coarse.grain")
                wrong.append(f"{script}: not noticed")
            except watch.Finding as finding:
                if words not in str(finding):
                    wrong.append(f"{script}: {finding}")
    finally:
        program.COMMAND[:], watch.PATIENCE = honest, patience
    assert not wrong, wrong


def test_whatever_changes_outside_is_seen(folder: Path) -> None:
    job = folder / "some job"
    job.mkdir()
    (job / "job.json").write_text("{}")
    changes = (
        lambda w: (w.canary / "new").touch(),
        lambda w: (w.canary / "diary.txt").unlink(),
        lambda w: (w.canary / "inside").chmod(0o700),
        lambda w: (w.canary / "diary.txt").write_text("x"),
        lambda w: (w.job / "log.jsonl").touch(),
        lambda w: os.utime(w.canary / "diary.txt", (1, 1)),
        lambda w: (w.canary / "inside/coarse_000003.grain").rename(w.canary / "inside/coarse_000004.grain"),
        lambda w: (w.folder / "cache.json").touch(),
        lambda w: (w.folder / "grains").mkdir(),
    )
    for number, change in enumerate(changes):
        world = watch.World(folder / "world", job)
        world.check_outside()
        change(world)
        try:
            world.check_outside()
        except watch.Finding:
            continue
        raise AssertionError(f"change {number} was not seen")
