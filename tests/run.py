# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the test suites one after another and closes with `N passed, N failed`. Called by build.sh.

A suite is a command that prints `ok NAME`, `not ok NAME: reason` or `skip NAME: reason`. One that ends badly without
naming a failed test counts as a failure of its own.
"""
from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import blenders
import emulators
import harness

ROOT = Path(__file__).resolve().parent.parent
LINE = re.compile(r"^(ok|not ok|skip) (\S.*)$")
BLENDER = ["blender", "--factory-startup", "--python-exit-code", "1"]


def suites(build: Path, keyword: str) -> dict[str, list[str]]:
    """Suite -> command, in the order they run: quick ones first."""
    tail = ["--", "--build", str(build), "-k", keyword]
    window = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24 +extension GLX"]
    return {
        "layers": [sys.executable, str(ROOT / "tests/check_layers.py")],
        "unit": [str(build / "bin/grain_tests"), keyword],
        "fuzz": [sys.executable, str(ROOT / "tests/fuzz/run.py"), *tail[1:]],
        "cli": [sys.executable, str(ROOT / "tests/cli/run.py"), *tail[1:]],
        "faults": [sys.executable, str(ROOT / "tests/faults/run.py"), *tail[1:]],
        "blender": [*BLENDER, "-b", "--python", str(ROOT / "tests/blender/run_in_blender.py"), *tail],
        **{f"blender_{version}": module_suite(version, tail[1:]) for version in blenders.VERSIONS},
        "ui": [*window, sys.executable, str(ROOT / "tests/ui/run.py"), *tail[1:]],
        "release": release_suite(tail[1:]),
        **released_suites(keyword),
    }


def released_suites(keyword: str) -> dict[str, list[str]]:
    """Tests of what is compiled as for a release, most of it for other systems; ./build.sh wine, arm64 and release test build these."""
    linux, windows, arm64 = map(emulators.build_of, ("linux-x64", "windows-x64", "linux-arm64"))
    cli = [sys.executable, str(ROOT / "tests/cli/run.py"), "--build", str(windows), "--suite", "wine_cli", "-k", keyword]
    return {
        "linux_unit": [str(linux / "bin/grain_tests"), keyword],
        "wine_unit": [*emulators.wine(), str(windows / "bin/grain_tests.exe"), keyword],
        "wine_cli": [*cli, "--runner", " ".join(emulators.wine())],
        # Physics would take hours there.
        "arm64_unit": [sys.executable, str(ROOT / "tests/c_files.py"), "-k", keyword or "unit/", *emulators.ARM64,
                       str(arm64 / "bin/grain_tests")],
    }


def release_suite(tail: list[str]) -> list[str]:
    """The tests of the zips for all platforms, by a Python that can read binaries of each; ./build.sh release runs them."""
    python = ROOT / "build/release_tools/bin/python"
    if python.is_file():
        return [str(python), str(ROOT / "tests/release/run.py"), *tail]
    return [sys.executable, "-c", "print('skip release/all: no build/release_tools; ./build.sh release makes it')"]


def module_suite(version: str, tail: list[str]) -> list[str]:
    """The add-on's tests in another Blender. One that is not there is skipped, with the reason."""
    python, name = blenders.python_of(version), f"blender_{version}"
    if python.is_file():
        return [str(python), str(ROOT / "tests/blender/run_in_blender.py"), "--", *tail, "--suite", name]
    return [sys.executable, "-c", f"print({f'skip {name}/all: {blenders.reason_missing(version)}'!r})"]


# Suites that are slow to start, and the folders of their tests.
FOLDERS = {"blender": "blender", **{f"blender_{version}": "blender" for version in blenders.VERSIONS}, "wine_cli": "cli", "cli": "cli",
           "faults": "faults", "release": "release", "ui": "ui"}


def may_have_tests(suite: str, keyword: str) -> bool:
    """Whether any of its tests is meant, as far as can be told without starting a Blender or a display."""
    if suite not in FOLDERS:
        return True
    files = (ROOT / "tests" / FOLDERS[suite]).glob("test_*.py")
    names_of = scenarios_in if suite == "ui" else harness.names_in
    return any(harness.is_wanted(name, keyword) for path in files for name in names_of(suite, path))


def scenarios_in(suite: str, path: Path) -> list[str]:
    """A scenario is a function named as it likes: all functions of the file."""
    found = re.findall(r"^def (\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    return [f"{suite}/{path.stem}:{name}" for name in found]


class Score:
    def __init__(self) -> None:
        self.passed, self.skipped, self.failed = 0, 0, []

    def read(self, line: str) -> None:
        match = LINE.match(line)
        if not match:
            return
        kind, name = match.groups()
        if kind == "ok":
            self.passed += 1
        elif kind == "skip":
            self.skipped += 1
        else:
            self.failed.append(name)


def path_for_blender() -> str:
    """PATH without other Pythons: a Blender that embeds the system's finds its modules by way of the first python3 on
    the PATH, and pyenv puts its own there, which has no NumPy."""
    home = os.path.dirname(shutil.which("blender") or "/usr/bin/blender")
    return os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep)
                           if folder == home or not os.path.isfile(os.path.join(folder, "python3")))


def limit_of(name: str, is_heavy: bool) -> float:
    """Seconds after which a suite is cut off. Further Blenders, and programs with sanitizers, need 8 minutes on a quiet
    machine of two cores, windows 5; a busy one is several times slower. qemu translates every instruction: the C tests take
    some twenty times as long under it, an hour on a quiet machine. The suite of a release bakes twenty jobs with emulators, too, and
    may run Blender for Windows. Heavy C tests take hours, slopes of mpm alone three."""
    if is_heavy:
        return 36000
    limits = {"arm64_unit": 10800, "release": 7200, "wine_unit": 3600, "wine_cli": 3600}
    return limits.get(name, 2700 if name.startswith("blender_") else 1800)


def run_suite(name: str, command: list[str], score: Score, timeout: float, may_be_empty: bool) -> None:
    print(f"\n== {name}", flush=True)
    began, failed_before, passed_before = time.monotonic(), len(score.failed), score.passed
    environment = dict(os.environ, PATH=path_for_blender())
    # A session of its own, so that a suite that hangs goes down with everything it started.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env=environment, start_new_session=True)
    timed_out = False

    def stop(*_: object) -> None:
        nonlocal timed_out
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(int(timeout))
    for line in process.stdout:
        score.read(line.rstrip("\n"))
        print(line, end="", flush=True)
    code = process.wait()
    signal.alarm(0)
    if timed_out:
        score.failed.append(f"{name}: ran longer than {timeout:.0f} s")
    elif code < 0:  # whatever failed before: the tests after it never ran
        score.failed.append(f"{name}: crashed ({signal.Signals(-code).name}); the rest of it was not run")
    elif code != 0 and len(score.failed) == failed_before:
        score.failed.append(f"{name}: ended with code {code} without naming a failed test")
    elif not may_be_empty and score.passed == passed_before and len(score.failed) == failed_before:
        score.failed.append(f"{name}: ran no test")
    print(f"-- {name}: {time.monotonic() - began:.1f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--only", default="", help="suites, separated by commas; versions: all further Blenders")
    parser.add_argument("--heavy", action="store_true", help="add the long tests")
    parser.add_argument("-k", dest="keyword", default="", help="only tests whose name holds this; A|B: this or that")
    options = parser.parse_args()
    if options.heavy:
        os.environ["GRAIN_HEAVY"] = "1"
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # several programs at once on few cores
    wanted = [s for s in options.only.split(",") if s]
    if "versions" in wanted:
        wanted += [f"blender_{version}" for version in blenders.VERSIONS]
    needs_wine = any(name == "release" or name.startswith("wine_") for name in wanted)
    if needs_wine:
        emulators.start_wine()
    score = run_suites(options, wanted)
    if needs_wine:
        emulators.stop_wine()
    if not wanted and not options.heavy:
        print(f"\n(Blender {', '.join(blenders.VERSIONS)}: ./build.sh versions)")
    return report(score, options.keyword)


def run_suites(options: argparse.Namespace, wanted: list[str]) -> Score:
    """The wanted ones; if none is named, all but those that need other systems, and other Blenders unless heavy."""
    score = Score()
    for name, command in suites(options.build.resolve(), options.keyword).items():
        is_blender = name.startswith("blender_")
        is_extra = name in ("release", *released_suites("")) or (is_blender and not options.heavy)
        if (name in wanted or (not wanted and not is_extra)) and may_have_tests(name, options.keyword):
            run_suite(name, command, score, limit_of(name, options.heavy), may_be_empty=bool(options.keyword) or is_blender)
    return score


def report(score: Score, keyword: str) -> int:
    print()
    for failure in score.failed:
        print(f"FAILED {failure}")
    if not score.passed and not score.failed:
        print(f"no test has '{keyword}' in its name")
        return 1
    skipped = f", {score.skipped} skipped" if score.skipped else ""
    print(f"{score.passed} passed, {len(score.failed)} failed{skipped}")
    return 1 if score.failed else 0


if __name__ == "__main__":
    sys.exit(main())
