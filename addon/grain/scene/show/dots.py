# SPDX-License-Identifier: GPL-3.0-or-later
"""When sand is drawn as dots instead of geometry, and what they look like.

Dots are for Solid and Wireframe views: Blender makes no points, so a change of frame costs a fraction. Where somebody needs the
points themselves they are made as ever: Material Preview and Rendered views, renders, objects that use the sand. In the
object stand only the corners of the box around the grains then, to click on and to find it by.
"""
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import bpy
import numpy as np
from bpy.types import Collection, Context, Object, Scene, Screen, WindowManager, WorkSpace

from ...engine.dots import Style
from ..look import sand_nodes
from ..look.look_library import LOOKS
from ..simulations import Simulation
from . import apply, redraw

# Up to here Blender's own points are quick enough, and prettier.
MOST_POINTS = 50_000
_HOLDERS = (Collection, Scene, Screen, WindowManager, WorkSpace)  # which have an object without using its geometry
_cannot_be_drawn = False


def is_wanted(simulation: Simulation, item: Object, most_shown: int) -> bool:
    """Whether sand of this many grains is drawn as dots in the viewports, as they are now."""
    mode = simulation.display.viewport_display
    if bpy.app.background or _cannot_be_drawn or mode not in ('AUTO', 'DOTS') or _needs_geometry():
        return False
    if mode == 'DOTS':
        return True
    return (most_shown > MOST_POINTS and simulation.shape_object is None and apply.has_only_own_modifier(item)
            and not _is_used(item))


def give_up(reason: str) -> None:
    """Dots cannot be drawn here: no more of them in this session."""
    global _cannot_be_drawn
    _cannot_be_drawn = True
    print(f"Grain: dots cannot be drawn here, points are shown instead: {reason}")


_preparing = 'NOT_YET'  # WANTED: in the next drawing of a view; DONE: in this session


def prepare_drawing() -> bool:
    """Whether the next drawing of a view is to prepare for the first dots of the session."""
    global _preparing
    if _preparing == 'NOT_YET' and not _cannot_be_drawn:
        _preparing = 'WANTED'
    return _preparing == 'WANTED'


def is_to_be_prepared() -> bool:
    """By the view that asks, and no other."""
    global _preparing
    if _preparing != 'WANTED':
        return False
    _preparing = 'DONE'
    return True


def is_solid(shading: bpy.types.View3DShading) -> bool:
    return shading.type in ('SOLID', 'WIREFRAME')


def _needs_geometry() -> bool:
    """Whether a view shows materials, or somebody who sees no dots may be looking. Pictures of the viewport are drawn without
    them, and made by an operator: it alone changes frames while an editor is at work, unless the animation plays."""
    context = bpy.context
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == 'VIEW_3D' and not is_solid(area.spaces.active.shading):
                return True
    return _is_picture_made(context)


def _is_picture_made(context: Context) -> bool:
    if 'PICTURE' in _doing:
        return True
    return 'FRAME_CHANGE' in _doing and context.area is not None and not context.screen.is_animation_playing


_doing: list[str] = []


@contextmanager
def during(what: str) -> Iterator[None]:
    """Around what a frame handler does: FRAME_CHANGE. Around a picture of the viewport: PICTURE."""
    _doing.append(what)
    try:
        yield
    finally:
        _doing.remove(what)


@dataclass
class _Users:
    """Whether anything uses an object's points, and when that was found out."""
    is_used: bool
    looked_at: float
    cost: float  # s
    is_stale: bool = False


_users: dict[str, _Users] = {}  # by object name


def note_change() -> None:
    """Something in the file changed."""
    for known in _users.values():
        known.is_stale = True


def _is_used(item: Object) -> bool:
    """Whether anything else in the file may want the points: an object's modifier, an instance of the collection."""
    known = _users.get(item.name)
    began = time.monotonic()
    if known is not None and (not known.is_stale or _look_again_after(known) > 0.0):
        if known.is_stale and not bpy.app.timers.is_registered(redraw.views):
            bpy.app.timers.register(redraw.views, first_interval=_look_again_after(known))
        return known.is_used
    owners = [item, *item.users_collection]
    is_used = any(not isinstance(user, _HOLDERS) for users in bpy.data.user_map(subset=owners).values() for user in users)
    _users[item.name] = _Users(is_used, began, time.monotonic() - began)
    return is_used


def _look_again_after(known: _Users) -> float:
    """Seconds: a look at a large file takes some milliseconds, and a hundredth of the time may go into it."""
    return known.looked_at + 100.0 * known.cost - time.monotonic()


# --- what they look like --------------------------------------------------------------------------

def look_key(item: Object) -> tuple:
    """Changes when the colours do."""
    material = item.data.materials[0] if item.data.materials else None
    return (material.name, *material.diffuse_color[:3]) if material is not None else ("", 0.8, 0.8, 0.8)


def style(simulation: Simulation, item: Object, scale: float) -> Style:
    """scale: metres to a Blender unit."""
    return _style(look_key(item), scale, simulation.display.radius_scale / scale)


@lru_cache(maxsize=8)
def _style(key: tuple, scale: float, radius_scale: float) -> Style:
    return Style(_colours(key), sand_nodes.WET_VALUE, scale, radius_scale)


def _colours(key: tuple) -> np.ndarray:
    """The material's colour in the viewport, spread over the grains as the look's own colours are."""
    colours = np.tile(np.array(key[1:], np.float32), (256, 1))
    found = next((entry for entry in LOOKS.values() if entry.material == key[0].split(".")[0]), None)
    if found is None:
        return colours * np.linspace(0.8, 1.2, 256, dtype=np.float32)[:, None]
    places = (np.arange(256) + 0.5) / 256
    starts = np.array([start for start, _ in found.colours])
    palette = np.array([colour for _, colour in found.colours], np.float32)[np.searchsorted(starts, places, side='right') - 1]
    # Darker and lighter ones within each colour, in an order that has nothing to do with it.
    tone = np.interp((np.arange(256) * 101 % 256 + 0.5) / 256, (0.0, 1.0), found.brightness).astype(np.float32)
    palette *= tone[:, None]
    return np.minimum(colours * palette / palette.mean(axis=0), 1.0)
