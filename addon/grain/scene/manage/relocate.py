# SPDX-License-Identifier: GPL-3.0-or-later
"""A file saved for the first time takes its cache along, out of Blender's temporary folder."""
from ... import runtime
from ...engine import cache
from .. import paths
from ..show import volumes
from ..simulations import Simulation


def after_save(simulation: Simulation) -> None:
    if paths.is_temporary(simulation) or runtime.is_baking():
        return
    source, target = paths.temporary_folder(simulation), paths.cache_folder(simulation)
    try:
        if source == target or not paths.holds_cache(source) or paths.holds_cache(target):
            return
        cache.move(source, target)
    except (OSError, cache.CacheError) as error:
        runtime.post_message(target, 'ERROR', f"The frames baked before saving could not be moved from {source}: {error}. "
                                     "Bake again")
        return
    runtime.state.messages[target] = runtime.state.messages.pop(source, [])
    volumes.follow_cache(simulation)
