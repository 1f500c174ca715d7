# SPDX-License-Identifier: GPL-3.0-or-later
"""Handlers that may write whatever else Blender is doing.

While a panel is drawn Blender refuses to let Python write to its data. Its mark for that is one for all threads, so a
frame handler on a render's thread is refused whenever the interface happens to be drawing: the sand of another frame would
be rendered. And when a drawing and a render end at the same moment the mark stays set for the rest of the session.
Two facts help: deleting a property that is not there tells whether writing is refused and changes nothing, and the update
function of a window manager's property may always write.
"""
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Optional

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, Scene, WindowManager

_PROBE = "grain: no such property"
_REFUSALS = ("in this context is not allowed", "drawing/rendering")
_ATTEMPTS, _PAUSE = 40, 0.005  # a drawing of panels takes some milliseconds

_waiting: list[Callable[[], None]] = []


def may_write(scene: Scene) -> bool:
    try:
        del scene[_PROBE]
    except AttributeError:
        return False
    except KeyError:
        pass
    return True


def always_writes(handler: Callable[..., None]) -> Callable[..., None]:
    """For handlers that do nothing when they are called twice: a drawing may begin in the middle of one."""
    @wraps(handler)
    def wrapper(*arguments: Any) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                if may_write(bpy.data.scenes[0]):
                    handler(*arguments)
                else:
                    _call_through_update(lambda: handler(*arguments))
                return
            except (AttributeError, RuntimeError) as error:
                if attempt + 1 == _ATTEMPTS or not any(text in str(error) for text in _REFUSALS):
                    raise
            time.sleep(_PAUSE)
    return wrapper


def _call_through_update(function: Callable[[], None]) -> None:
    problems: list[Exception] = []

    def call() -> None:
        try:
            function()
        except Exception as error:  # Blender would print it and go on; the caller decides
            problems.append(error)

    _waiting.append(call)
    manager = bpy.data.window_managers[0]
    manager.grain_writing = not manager.grain_writing
    if problems:
        raise problems[0]


def _on_writing(manager: WindowManager, context: Optional[Context]) -> None:
    if _waiting:
        _waiting.pop()()


def register() -> None:
    WindowManager.grain_writing = BoolProperty(update=_on_writing, options={'HIDDEN', 'SKIP_SAVE'})


def unregister() -> None:
    del WindowManager.grain_writing
