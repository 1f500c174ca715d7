# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a simulation's cache lies."""
import re
import sys
from pathlib import Path

import bpy

from ..engine import cache
from . import simulations
from .simulations import Simulation

DEFAULT_FOLDER = "//grain_cache/"
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")  # a drive, or a share


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
    # A separator at the end and ".." make two spellings of one folder.
    return Path(bpy.path.abspath(setting.replace("\\", "/"), library=simulation.id_data.library)).resolve()


def temporary_folder(simulation: Simulation) -> Path:
    """Deleted by Blender when it quits."""
    setting = folder_setting(simulation)
    relative = setting[2:] if setting.startswith("//") else _file_name(simulation.name)
    return (Path(bpy.app.tempdir) / relative.replace("\\", "/")).resolve()


def problem(simulation: Simulation) -> str:
    """Why the folder cannot be used on this system, or ''."""
    setting = folder_setting(simulation)
    if sys.platform != "win32" and _WINDOWS.match(setting):
        return (f"The cache folder {setting} is a path of Windows. Choose a folder of this machine, or empty the setting: "
                "the cache then lies beside the .blend and moves with it")
    return ""


def holds_cache(folder: Path) -> bool:
    return (folder / cache.MANIFEST).is_file()


def has_cache(simulation: Simulation) -> bool:
    return holds_cache(cache_folder(simulation))


def shares_folder(simulation: Simulation) -> str:
    """What else of this file bakes into the same folder, in words, or ''."""
    folder = cache_folder(simulation)
    for other in simulations.of_file():
        if other != simulation and simulations.objects(other) and cache_folder(other) == folder:
            return f"'{other.name}' of scene '{other.id_data.name}'"
    return ""


def _file_name(name: str) -> str:
    return bpy.path.clean_name(name) or simulations.DEFAULT_NAME
