# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on on Windows, as far as wine is that: its engine in Python for Windows, and all of it in Blender for Windows.

GRAIN_WINDOWS_BUILD names another build than build/platforms/windows-x64.
"""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import windows_python
from harness import Skip, is_heavy

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("GRAIN_WINDOWS_BUILD", windows_python.ROOT / "build/platforms/windows-x64")).resolve()


def prepare(with_blender: bool = False) -> None:
    if not (BUILD / "bin/grain.exe").is_file():
        raise Skip(f"there is no {BUILD / 'bin/grain.exe'}")
    try:
        windows_python.prepare(with_blender)
    except windows_python.Missing as reason:
        raise Skip(str(reason)) from reason


def check(done: subprocess.CompletedProcess[str], at_least: int) -> None:
    """Whether all tests in there passed, as many as there should be, and Python came to its end."""
    results = windows_python.results(done.stdout)
    failed = [line for line in results if line.startswith("not ok")]
    assert not failed, " | ".join(failed)
    passed = [line for line in results if line.startswith("ok")]
    assert len(passed) >= at_least, f"only {len(passed)} tests ran: {done.stdout[-1000:]}"
    assert done.returncode == 0, f"code {done.returncode} after {len(passed)} tests: {done.stdout[-1000:]}"


def test_the_engine_in_python_for_windows(_: Path) -> None:
    prepare()
    check(windows_python.run(HERE / "on_windows/run.py", "--build", BUILD), 15)


# What touches files, processes, paths and libraries, and one bake of everything else that a child does.
ADDON_TESTS = ("test_bake", "test_export", "test_job", "test_library", "test_playback", "test_portable", "test_quick", "test_register",
               "test_simulations", "test_stages")


def test_the_addon_in_blender_for_windows(_: Path) -> None:
    if not is_heavy() and not windows_python.BLENDER.is_dir():
        raise Skip("Blender for Windows is 330 MB: python3 tests/release/windows_python.py --blender fetches it")
    prepare(with_blender=True)
    script = windows_python.ROOT / "tests/blender/run_in_blender.py"
    check(windows_python.run(script, "--", "--build", BUILD, "--suite", "windows", "-k", "|".join(ADDON_TESTS), with_blender=True), 60)
