# SPDX-License-Identifier: GPL-3.0-or-later
"""How programs of other platforms run on this machine: those of Windows by wine, those of arm64 by qemu."""
from __future__ import annotations

import os
import shutil
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build"
PLATFORMS, WINE_FOLDER = BUILD / "platforms", BUILD / "windows/wine"
ARM64 = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]


def wine() -> list[str]:
    """Debian keeps the one without the 32-bit half off the path. Its Windows lies in build/, not in the user's folder."""
    WINE_FOLDER.parent.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("WINEPREFIX", str(WINE_FOLDER))
    os.environ.setdefault("WINEDEBUG", "-all")
    return [shutil.which("wine64") or "/usr/lib/wine/wine64"]


def build_of(platform: str) -> Path:
    """Where its binaries and C tests are linked (libgrain/platforms/binaries.py)."""
    return PLATFORMS / platform / "build"
