# SPDX-License-Identifier: GPL-3.0-or-later
"""The suite of faults, and the campaign of ./build.sh faults.

  run.py --build build/release [-k TEXT]                       the suite
  run.py --build build/release --campaign 60                   an hour of faults drawn from a seed
  run.py --build build/release --campaign 5 --only kill,stop   five minutes of two kinds
  run.py --build build/release --trial kill:7:123              number 123 of seed 7 once more, as a finding names it
"""
from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "cli")]
import harness  # noqa: E402


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("-k", dest="keyword", default="")
    parser.add_argument("--campaign", metavar="MINUTES", nargs="?", type=float, const=5.0)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the campaign; by default the time")
    parser.add_argument("--only", default="", help="kinds of faults, separated by commas")
    parser.add_argument("--trial", metavar="KIND:SEED:NUMBER", default="")
    return parser.parse_args()


def main() -> int:
    options = parse()
    os.environ["GRAIN_TEST_BUILD"] = str(options.build.resolve())
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if options.campaign is None and not options.trial:
        return harness.run_folder("faults", HERE, options.keyword)
    import campaign  # the program to run is known only now

    only = [kind for kind in options.only.split(",") if kind]
    return campaign.main(options.campaign or 0.0, options.seed, only, options.trial)


if __name__ == "__main__":
    sys.exit(main())
