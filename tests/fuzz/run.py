# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs every fuzz target on its corpus and on mutations of its seeds: the same inputs on every machine."""
from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import harness  # noqa: E402

# About five seconds for a target on a quiet machine, and never more than twice that; --heavy: ten times as much. With a
# sanitizer, which is several times slower and sees more, new inputs for 20 s each.
RUNS = {"checkpoint": 800, "frame": 3000, "grains": 6000, "job": 5000, "lock": 6000, "manifest": 3000, "mesh": 250, "mesh_file": 800,
        "vdb": 1000}
SECONDS = 10
SANITIZED_SECONDS = 20


def is_sanitized(build: Path) -> bool:
    return "GRAIN_SANITIZE:STRING=\n" not in (build / "CMakeCache.txt").read_text("utf-8")


def limits(build: Path, name: str) -> list[str]:
    times = 10 if harness.is_heavy() else 1
    if is_sanitized(build):
        return ["--runs", str(1 << 40), "--seconds", str(SANITIZED_SECONDS * times)]
    return ["--runs", str(RUNS.get(name, 500) * times), "--seconds", str(SECONDS * times)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("-k", dest="keyword", default="")
    options = parser.parse_args()
    failed = 0
    for source in sorted(HERE.glob("fuzz_*.c")):
        name = source.stem.removeprefix("fuzz_")
        if not harness.is_wanted(f"fuzz/{name}", options.keyword):
            continue
        program = options.build / "bin/fuzz" / source.stem
        failed |= subprocess.run([program, *limits(options.build, name), HERE / "corpus" / name]).returncode
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
