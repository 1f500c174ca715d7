# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs test functions and prints one line for each: `ok NAME`, `not ok NAME: reason` or `skip NAME: reason`.

A test is a function `test_*` in a file `test_*.py`; it gets a fresh folder, and fails by raising. tests/run.py reads the
lines and adds them up. Used by bare Python and inside Blender alike, so nothing but the standard library is needed.
"""
from __future__ import annotations

import importlib
import inspect
import os
import re
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Callable


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


def is_heavy() -> bool:
    """Whether tests may take minutes."""
    return os.environ.get("GRAIN_HEAVY", "0") not in ("", "0")


def is_wanted(name: str, keyword: str) -> bool:
    """Whether a test's name holds the keyword, or one of those that '|' separates."""
    return any(word in name for word in keyword.split("|"))


def names_in(suite: str, path: Path) -> list[str]:
    """The tests of a file, without importing it."""
    found = re.findall(r"^def test_(\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    return [f"{suite}/{path.stem}:{name}" for name in found]


def one_line(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).name.startswith("test_")]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}: " if frames else ""
    text = str(error) or (f"assert {frames[-1].line.removeprefix('assert ')}" if frames and frames[-1].line else repr(error))
    return (place + text).replace("\n", " | ")[:600]


def run_test(name: str, function: Callable[[Path], None]) -> bool:
    """True unless it failed. The folder of a failed test is kept and named."""
    folder = Path(tempfile.mkdtemp(prefix="grain_test_"))
    try:
        function(folder)
    except Skip as reason:
        print(f"skip {name}: {reason}", flush=True)
    except BaseException as error:  # noqa: BLE001 - a test may fail in any way, SystemExit included
        print(f"not ok {name}: {one_line(error)} (files: {folder})", flush=True)
        return False
    else:
        print(f"ok {name}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    return True


def run_folder(suite: str, folder: Path, keyword: str = "") -> int:
    """Runs every test below the folder whose name holds the keyword, or one of those that '|' separates."""
    sys.path.insert(0, str(folder))
    passed = True
    for path in sorted(folder.glob("test_*.py")):
        if not any(is_wanted(name, keyword) for name in names_in(suite, path)):
            continue
        module = importlib.import_module(path.stem)
        functions = [f for n, f in inspect.getmembers(module, inspect.isfunction)
                     if n.startswith("test_") and f.__module__ == module.__name__]
        for function in sorted(functions, key=lambda f: f.__code__.co_firstlineno):
            name = f"{suite}/{path.stem}:{function.__name__.removeprefix('test_')}"
            if is_wanted(name, keyword):
                passed = run_test(name, function) and passed
    return 0 if passed else 1
