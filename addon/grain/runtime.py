# SPDX-License-Identifier: GPL-3.0-or-later
"""What this session of Blender knows and no file does: the bake under way, messages, and what is shown.

Keyed by cache folder: names of scenes change, undo replaces every scene, the folder stays.
"""
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import bpy

from .engine import read_ahead
from .engine.dots import Dots
from .engine.process import BakeProcess


@dataclass
class Message:
    level: str  # INFO, WARNING, ERROR
    text: str


@dataclass
class Bake:
    """The one bake under way. One at a time: it uses every core."""
    folder: Path
    name: str  # of the simulation, when the bake began
    process: BakeProcess
    is_volume: bool = False  # of a bake that is there
    made_object: bool = False  # the sand object, when it began
    timer: Any = None  # of the modal operator; None in a bake that blocks
    seen_frames: int = 0  # frames already made visible
    show_after: float = 0.0  # monotonic time before which no frame is loaded, so that loading never fills the time


@dataclass
class Shown:
    """What the sand object holds at present."""
    frame: Optional[int] = None  # of the cache
    stamp: tuple = ()  # time the file was written, unit scale, which part of it, file name
    object_name: str = ""
    message: Optional[Message] = None
    as_dots: bool = False  # in the viewports
    dots: Optional[Dots] = None  # drawn in its place
    most: int = 0  # grains that are asked for at most in a frame
    count: int = 0  # grains shown
    all_count: int = 0  # in this frame
    look: tuple = ()  # what the dots are coloured by
    load_began: float = 0.0
    load_seconds: Optional[float] = None  # until what was loaded is drawn


@dataclass
class Runtime:
    bake: Optional[Bake] = None
    ended: Optional[Bake] = None  # whose last frames are still to be shown
    messages: dict[Path, list[Message]] = field(default_factory=dict)
    shown: dict[Path, Shown] = field(default_factory=dict)
    detail: dict[Path, Any] = field(default_factory=dict)  # scene/detail.py
    view_seconds: float = 0.0  # what the last drawing of a 3D viewport took
    # Folders whose bake does not match the scene any more, with what changed.
    outdated: dict[Path, str] = field(default_factory=dict)
    # While a snapshot steps through the frames nothing is to be loaded.
    playback_paused: bool = False


state = Runtime()


def is_baking(folder: Optional[Path] = None) -> bool:
    """Whether a bake is under way: any, or the one into this folder."""
    return state.bake is not None and (folder is None or state.bake.folder == folder)


def post_message(folder: Path, level: str, text: str) -> None:
    """Shows a message in the panel until the next bake."""
    state.messages.setdefault(folder, []).append(Message(level, text))


def end_bake() -> None:
    """Forgets the bake and ends its process and its timer; returns when nothing is left of them."""
    bake, state.bake = state.bake, None
    if bake is None:
        return
    bake.process.shut_down()
    if bake.timer is not None:
        bpy.context.window_manager.event_timer_remove(bake.timer)


def end_process() -> None:
    """Blender is gone and its data with it: only the child is left to end."""
    if state.bake is not None:
        state.bake.process.shut_down()


def forget() -> None:
    """Another file was opened: nothing of the old one holds."""
    end_bake()
    state.ended = None
    state.messages.clear()
    state.shown.clear()
    state.detail.clear()
    state.outdated.clear()
    state.playback_paused = False
    read_ahead.forget()
