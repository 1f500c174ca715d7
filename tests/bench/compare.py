# SPDX-License-Identifier: GPL-3.0-or-later
"""Benchmarks two builds side by side: the same benchmarks in turns, and how the figures of one compare with the other's.

    python3 tests/bench/compare.py BUILD FORMER [NAME ...] [--rounds 3] [--at-least 0.97]

For each figure it prints the ratio of the medians and that of the best rounds; above 1, BUILD is faster. Other work on
the machine only ever slows a round down, often by a tenth where memory is the limit, so a build counts as slower when
both ratios say so. Only speeds and times are compared. What depends on rivals or on how many
cores are idle is left out: `grain_bench` itself prints that.
"""
from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

NAMES = ("dem", "mpm", "sph", "upsample", "sdf")
SPEED = re.compile(r"(per|a)_second|per_core")
TIME = re.compile(r"seconds|frame_")


def figures_of(build: Path, name: str) -> dict[str, float]:
    """Speeds of one benchmark: times are turned over, so that more is always better."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "bench.json"
        subprocess.run([str(build / "bin/grain_bench"), "--json", str(report), name], check=True, stdout=subprocess.DEVNULL)
        found = json.loads(report.read_text("utf-8"))
    return {figure: value if SPEED.search(figure) else 1.0 / value
            for figure, value in found.items() if value > 0.0 and (SPEED.search(figure) or TIME.search(figure))}


def compare(build: Path, former: Path, name: str, rounds: int) -> dict[str, tuple[float, float]]:
    """Figure -> how many times as fast it is in `build`: by the medians, by the best rounds. The two take turns in going first, which warms the machine."""
    taken: dict[Path, list[dict[str, float]]] = {build: [], former: []}
    for turn in range(rounds):
        for which in (build, former)[::1 if turn % 2 == 0 else -1]:
            taken[which].append(figures_of(which, name))
    shared = [figure for figure in taken[former][0] if all(figure in one for runs in taken.values() for one in runs)]

    def ratio(figure: str, choose: Callable[[list[float]], float]) -> float:
        chosen = {which: choose([one[figure] for one in runs]) for which, runs in taken.items()}
        return chosen[build] / chosen[former]

    return {figure: (ratio(figure, statistics.median), ratio(figure, max)) for figure in shared}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="a build folder with bin/grain_bench")
    parser.add_argument("former", type=Path, help="the build to compare it with")
    parser.add_argument("names", nargs="*", default=NAMES, metavar="NAME", help=f"by default {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=3, help="how often each build runs each benchmark")
    parser.add_argument("--at-least", type=float, default=0.97, help="the lowest ratio that is not a failure")
    options = parser.parse_args()
    slow = 0
    for name in options.names:
        ratios = compare(options.build, options.former, name, options.rounds)
        if not ratios:
            print(f"{name}: the two builds have no figure in common", file=sys.stderr)
            slow += 1
        for figure, (median, best) in ratios.items():
            is_slow = max(median, best) < options.at_least
            slow += is_slow
            print(f"{figure:45} median {median:6.3f}  best {best:6.3f}{'  SLOWER' if is_slow else ''}", flush=True)
    print(f"{slow} figures below {options.at_least}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
