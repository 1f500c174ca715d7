# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's engine in Python for Windows: python tests/release/on_windows/run.py --build build/platforms/windows-x64 [-k TEXT].

Needs NumPy, neither Blender nor wine: it runs on Windows as well.
"""
import argparse
import os
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/cli"), str(HERE)]

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("-k", dest="keyword", default="")
    options = parser.parse_args()
    os.environ["GRAIN_LIBRARY_FOLDER"] = str(options.build / "bin")
    os.environ["GRAIN_TEST_BUILD"] = str(options.build)
    package = types.ModuleType("grain")  # without Blender only engine/ can be imported
    package.__path__ = [str(ROOT / "addon/grain")]
    sys.modules["grain"] = package
    import harness
    code = harness.run_folder("on_windows", HERE, options.keyword)
    sys.stdout.flush()
    os._exit(code)  # libraries stay loaded until the very end
