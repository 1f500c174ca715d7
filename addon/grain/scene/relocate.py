"""A file saved for the first time takes its cache along, out of Blender's temporary folder."""
from bpy.types import Scene

from .. import runtime
from ..engine import cache
from . import paths, volumes


def after_save(scene: Scene) -> None:
    if paths.is_temporary(scene) or runtime.is_baking():
        return
    source, target = paths.temporary_folder(scene), paths.cache_folder(scene)
    try:
        if source == target or not paths.holds_cache(source) or paths.holds_cache(target):
            return
        cache.move(source, target)
    except (OSError, cache.CacheError) as error:
        runtime.say(target, 'ERROR', f"The frames baked before saving could not be moved from {source}: {error}. "
                                     "Bake again")
        return
    runtime.state.messages[target] = runtime.state.messages.pop(source, [])
    volumes.follow_cache(scene)
