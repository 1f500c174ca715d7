"""Where a scene's cache lies."""
from pathlib import Path

import bpy
from bpy.types import Scene

from ..engine import cache

DEFAULT_FOLDER = "//grain_cache/"


def folder_setting(scene: Scene) -> str:
    """The folder as the artist wrote it, or the default with the simulation's name."""
    chosen = scene.grain.cache_folder.strip()
    return chosen or DEFAULT_FOLDER + _file_name(scene.grain.name)


def is_temporary(scene: Scene) -> bool:
    """Relative to a file that was never saved: such a cache goes to Blender's temporary folder."""
    return folder_setting(scene).startswith("//") and not bpy.data.filepath and scene.library is None


def cache_folder(scene: Scene) -> Path:
    setting = folder_setting(scene)
    if is_temporary(scene):
        return temporary_folder(scene)
    # A separator at the end and ".." make two spellings of one folder.
    return Path(bpy.path.abspath(setting.replace("\\", "/"), library=scene.library)).resolve()


def temporary_folder(scene: Scene) -> Path:
    """Deleted by Blender when it quits."""
    relative = folder_setting(scene)[2:] if folder_setting(scene).startswith("//") else _file_name(scene.grain.name)
    return (Path(bpy.app.tempdir) / relative.replace("\\", "/")).resolve()


def holds_cache(folder: Path) -> bool:
    return (folder / cache.MANIFEST).is_file()


def has_cache(scene: Scene) -> bool:
    return holds_cache(cache_folder(scene))


def shares_folder(scene: Scene) -> str:
    """The name of another scene of this file which bakes into the same folder, or ''."""
    folder = cache_folder(scene)
    for other in bpy.data.scenes:
        if other != scene and has_roles(other) and cache_folder(other) == folder:
            return other.name
    return ""


def has_roles(scene: Scene) -> bool:
    return any(item.grain.type != 'NONE' for item in scene.objects)


def _file_name(name: str) -> str:
    return bpy.path.clean_name(name) or "Sand"
