# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on in a real window: xvfb-run python3 tests/ui/run.py --build build/release [-k TEXT].

Each file test_*.py is a script for a Blender of its own; pictures go to build/ui. A file also fails when Blender
crashes, hangs, or prints a traceback: errors while drawing a panel show up nowhere else.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import harness  # noqa: E402

# Seconds for a file; a quiet machine of two cores needs a fifth of it.
TIMEOUT = 3600 if harness.is_heavy() else 600
# Pixels of the window. Without a graphics card every pixel of a viewport costs time: there a laptop's screen is measured.
WINDOW, WINDOWS = (1600, 1000), {"test_responsive": (1366, 768), "test_dots": (1366, 768)}


def run_file(path: Path, options: argparse.Namespace) -> bool:
    title = f"ui/{path.stem}"
    command = ["blender", "--factory-startup", "--enable-event-simulate", "--no-window-focus", "--window-geometry",
               "0", "0", *(str(pixels) for pixels in WINDOWS.get(path.stem, WINDOW)), "--python-exit-code", "1", "--python", str(path), "--",
               "--out", str(options.out), "-k", options.keyword]
    environment = {**os.environ, "GRAIN_LIBRARY_FOLDER": str(options.build / "bin"),
                   "PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent, HERE.parent / "blender", ROOT / "addon"))),
                   "GRAIN_TEST_BUILD": str(options.build)}
    shaders = tempfile.mkdtemp(prefix="grain_shaders_")
    if path.stem == "test_responsive":
        # A machine that has never drawn this before: where a processor draws, Mesa compiles shaders and keeps them on disk.
        environment["MESA_SHADER_CACHE_DIR"] = shaders
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env=environment)
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        print(output[-3000:])
        print(f"not ok {title}:ends: Blender did not end within {TIMEOUT} s", flush=True)
        return False
    finally:
        shutil.rmtree(shaders, ignore_errors=True)
    lines = [line for line in output.splitlines() if line.startswith(("ok ", "not ok ", "skip ", "# "))]
    print("\n".join(lines), flush=True)
    good = not any(line.startswith("not ok") for line in lines)
    for pid in re.findall(r"^# child (\d+)$", output, re.MULTILINE):
        is_alive = Path(f"/proc/{pid}").exists()
        print(f"not ok {title}:child_ends_with_blender: process {pid} still runs" if is_alive
              else f"ok {title}:child_ends_with_blender", flush=True)
        good = good and not is_alive
    if process.returncode != 0:
        print(f"not ok {title}:ends: Blender ended with code {process.returncode}", flush=True)
        good = False
    elif "Traceback" in output and good:
        print(f"not ok {title}:no_tracebacks: {output[output.index('Traceback'):][:600]!r}", flush=True)
        good = False
    elif lines:
        print(f"ok {title}:no_tracebacks", flush=True)
    if not good:
        rest = [line for line in output.splitlines() if line not in lines]
        print("\n".join(rest)[-4000:], file=sys.stderr)
    return good


def may_match(stem: str, keyword: str) -> bool:
    """Whether a test of this file may be meant: words that name a file are of no other."""
    return any("test_" not in word or word.split(":")[0].removeprefix("ui/") in stem for word in keyword.split("|"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "ui")
    parser.add_argument("-k", dest="keyword", default="")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not os.environ.get("DISPLAY"):
        print("skip ui/run:all: there is no display; start this under xvfb-run")
        return 0
    results = [run_file(path, options) for path in sorted(HERE.glob("test_*.py")) if may_match(path.stem, options.keyword)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
