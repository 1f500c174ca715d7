# SPDX-License-Identifier: GPL-3.0-or-later
"""What files need on Windows and nowhere else: names for paths of any length, and patience with those who have a file open."""
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

# Without the prefix Windows takes no path from 260 characters on, and no folder from 248 on. Names below a cache's folder have 30.
MOST_CHARACTERS = 210
_PREFIX, _SHARE_PREFIX = "\\\\?\\", "\\\\?\\UNC\\"
_PAUSES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)  # s

_Result = TypeVar("_Result")


def reachable(folder: Path) -> Path:
    """An absolute, normal folder in the form in which Python reaches every file in it. Only for Python: see plain()."""
    return Path(_with_prefix(str(folder))) if sys.platform == "win32" else folder


def plain(path: Path) -> Path:
    """The same as everybody writes it: for artists, for Blender, and for libgrain, which sees to long paths itself."""
    return Path(_without_prefix(str(path))) if sys.platform == "win32" else path


def encoded(path: Path) -> bytes:
    """For libgrain."""
    return os.fsencode(plain(path))


def _with_prefix(path: str) -> str:
    if len(path) <= MOST_CHARACTERS or path.startswith(_PREFIX):
        return path
    return _SHARE_PREFIX + path[2:] if path.startswith("\\\\") else _PREFIX + path


def _without_prefix(path: str) -> str:
    if path.startswith(_SHARE_PREFIX):
        return "\\\\" + path[len(_SHARE_PREFIX):]
    return path[len(_PREFIX):] if path.startswith(_PREFIX) else path


def patiently(action: Callable[[], _Result]) -> _Result:
    """Does it, again for half a second where Windows refuses: there nobody may replace or delete what another has open, a virus
    scanner opens whatever was just written, and what is being replaced cannot be opened. Raises OSError."""
    for pause in _PAUSES if sys.platform == "win32" else ():
        try:
            return action()
        except PermissionError:
            time.sleep(pause)
    return action()
