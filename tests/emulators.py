# SPDX-License-Identifier: GPL-3.0-or-later
"""How programs of other platforms run on this machine: those of Windows by wine, those of arm64 by qemu."""
from __future__ import annotations

import os
import shutil
import subprocess
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


def start_wine() -> None:
    """Its Windows runs on until stop_wine. Started by a test, its services would hold the test's pipes open for ever."""
    for command in ([_wine_server(), "-p"], [*wine(), "wineboot", "--init"]):
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300,
                       start_new_session=True, check=False)


def stop_wine() -> None:
    subprocess.run([_wine_server(), "-k"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=60, check=False)


def _wine_server() -> str:
    wine()  # names the folder
    return shutil.which("wineserver64") or "/usr/lib/wine/wineserver64"


def build_of(platform: str) -> Path:
    """Where its binaries and C tests are linked (libgrain/platforms/binaries.py)."""
    return PLATFORMS / platform / "build"
