# SPDX-License-Identifier: GPL-3.0-or-later
"""The library under test, and the add-on's mirror of its interface."""
from __future__ import annotations

import ctypes
import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import program
from harness import Skip

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = program.BUILD / ("bin/grain.dll" if program.IS_WINDOWS else "bin/libgrain.so")


def load_ffi() -> ModuleType:
    """addon/grain/engine/ffi.py without Blender: the folder above, which needs it, is a package without content here."""
    around = ModuleType("grain")
    around.__path__ = [str(ROOT / "addon/grain")]
    sys.modules.setdefault("grain", around)
    return importlib.import_module("grain.engine.ffi")


def symbols(kind: str) -> set[str]:
    lines = subprocess.run(["nm", "-D", kind, LIBRARY], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in lines.splitlines()}


def load_library() -> ctypes.CDLL:
    if program.RUNNER:
        raise Skip("another system's library cannot be loaded here; tests/release/test_windows_addon.py does it there")
    if any("__asan" in name for name in symbols("--undefined-only")):
        raise Skip("a sanitizer's library cannot be loaded by a program without it")
    return ctypes.CDLL(str(LIBRARY))
