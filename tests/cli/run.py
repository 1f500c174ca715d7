# SPDX-License-Identifier: GPL-3.0-or-later
"""The command-line tests: python3 tests/cli/run.py --build build/release [-k TEXT]."""
from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("-k", dest="keyword", default="")
    parser.add_argument("--runner", default="", help="what runs programs of that build here, such as wine")
    parser.add_argument("--suite", default="cli", help="the name in front of the tests")
    options = parser.parse_args()
    os.environ.update(GRAIN_TEST_BUILD=options.build, GRAIN_TEST_RUNNER=options.runner)
    sys.exit(harness.run_folder(options.suite, Path(__file__).parent, options.keyword))
