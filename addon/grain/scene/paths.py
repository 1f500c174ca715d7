# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a simulation's cache lies."""
import os
import re
import sys
import unicodedata
from pathlib import Path
from typing import Union

import bpy

from ..engine import cache, door, files
from . import simulations
from .simulations import Simulation

DEFAULT_FOLDER = "//grain_cache/"
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")  # a drive, or a share
_DRIVE_ALONE = re.compile(r"[A-Za-z]:(?![\\/])")  # what follows is meant from a folder that nobody sees
_NO_FILE_NAME = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)  # on Windows


def folder_setting(simulation: Simulation) -> str:
    """The folder as the artist wrote it, or the default with the simulation's name."""
    chosen = simulation.cache_folder.strip()
    return chosen or DEFAULT_FOLDER + _file_name(simulation.name)


def is_temporary(simulation: Simulation) -> bool:
    """Relative to a file that was never saved: such a cache goes to Blender's temporary folder."""
    return (folder_setting(simulation).startswith("//") and not bpy.data.filepath
            and simulation.id_data.library is None)


def cache_folder(simulation: Simulation) -> Path:
    setting = folder_setting(simulation)
    if is_temporary(simulation):
        return temporary_folder(simulation)
    if sys.platform == "win32" and setting.startswith("\\\\"):
        return _normal(setting)  # a share; with slashes it would mean the folder of the .blend
    return _normal(bpy.path.abspath(setting.replace("\\", "/"), library=simulation.id_data.library))


def temporary_folder(simulation: Simulation) -> Path:
    """Deleted by Blender when it quits."""
    setting = folder_setting(simulation)
    relative = setting[2:] if setting.startswith("//") else _file_name(simulation.name)
    return _normal(Path(bpy.app.tempdir) / relative.replace("\\", "/"))


def _normal(path: Union[str, Path]) -> Path:
    """A separator at the end and ".." make two spellings of one folder. On Windows links are left alone: resolving them also turns
    the drive letter of a share into the share's name, and a cache beside its .blend would be on another drive than that."""
    return files.reachable(Path(os.path.abspath(path))) if sys.platform == "win32" else Path(path).resolve()


def problem(simulation: Simulation) -> str:
    """Why the folder cannot be used on this system, or ''."""
    setting = folder_setting(simulation)
    if sys.platform == "win32":
        fault = _fault_on_windows(setting)
    else:
        fault = "is a Windows path" if _WINDOWS.match(setting) else ""
    return (f"The cache folder {setting} {fault}. Choose a folder on this machine, or clear the setting to keep the cache "
            "next to the .blend file") if fault else ""


def _fault_on_windows(setting: str) -> str:
    if _DRIVE_ALONE.match(setting):
        return "has no slash after the drive"
    if setting.startswith("/") and not setting.startswith("//"):
        return "is a Linux or macOS path"
    return "names no drive" if setting.startswith("\\") and not setting.startswith("\\\\") else ""


def holds_cache(folder: Path) -> bool:
    return door.is_file(folder / cache.MANIFEST)


def has_cache(simulation: Simulation) -> bool:
    return holds_cache(cache_folder(simulation))


def shares_folder(simulation: Simulation) -> str:
    """What else of this file bakes into the same folder, in words, or ''."""
    folder = _spelling(cache_folder(simulation))
    for other in simulations.of_file():
        if other != simulation and simulations.objects(other) and _spelling(cache_folder(other)) == folder:
            return f"'{other.name}' of scene '{other.id_data.name}'"
    return ""


def _spelling(folder: Path) -> str:
    """The same for all spellings of a folder's name: disks of Windows and macOS make no difference between them."""
    if sys.platform == "linux":
        return str(folder)
    return unicodedata.normalize("NFC", str(folder)).casefold()


def _file_name(name: str) -> str:
    cleaned = bpy.path.clean_name(name) or simulations.DEFAULT_NAME
    return f"{cleaned}_" if _NO_FILE_NAME.fullmatch(cleaned) else cleaned
