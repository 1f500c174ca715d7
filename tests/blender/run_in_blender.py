# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's tests, inside Blender:

    blender -b --factory-startup --python tests/blender/run_in_blender.py -- --build build/release [-k TEXT]
"""
import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(HERE), str(ROOT / "addon")]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("-k", dest="keyword", default="")
    parser.add_argument("--suite", default="blender", help="what names of tests begin with")
    options = parser.parse_args(sys.argv[sys.argv.index("--") + 1:])
    build = options.build.resolve()
    os.environ["GRAIN_TEST_BUILD"] = str(build)
    os.environ["GRAIN_LIBRARY_FOLDER"] = str(build / "bin")

    import bpy  # as a module of Python's it brings addon_utils along
    import harness
    if not bpy.app.binary_path:
        import module_blender  # noqa: F401  (for its way to leave)
    import support
    run_test = harness.run_test
    harness.run_test = lambda name, function: run_test(name, support.in_fresh_blender(function))
    return harness.run_folder(options.suite, HERE, options.keyword)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    if "module_blender" in sys.modules:
        sys.modules["module_blender"].leave(code)
    sys.exit(code)
