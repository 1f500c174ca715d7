# SPDX-License-Identifier: GPL-3.0-or-later
"""The suite of faults: python3 tests/faults/run.py --build build/release [-k TEXT]. campaign.py is the long one."""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cli")]
import harness  # noqa: E402

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("-k", dest="keyword", default="")
    options = parser.parse_args()
    os.environ["GRAIN_TEST_BUILD"] = str(options.build.resolve())
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    sys.exit(harness.run_folder("faults", HERE, options.keyword))
