# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests of a release: build/release_tools/bin/python tests/release/run.py [-k TEXT], after ./build.sh release."""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, help="the native build, which keeps to none of the rules")
    parser.add_argument("-k", dest="keyword", default="")
    options = parser.parse_args()
    os.environ["GRAIN_TEST_BUILD"] = options.build
    sys.exit(harness.run_folder("release", Path(__file__).parent, options.keyword))
