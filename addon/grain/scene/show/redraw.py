# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be drawn again. Without a graphics card each editor takes some hundredths of a second, and whatever is asked for in one
turn of Blender's loop holds the interface up together: so no more than what changed, and views and panels never at once."""
import bpy

NEXT_TURN = 0.05  # s; a timer of none at all may come in the same turn


def views() -> None:
    """3D viewports."""
    _redraw('VIEW_3D')


def panels() -> None:
    """Properties editors."""
    _redraw('PROPERTIES')


def panels_soon() -> None:
    """The same in the next turn: something else is drawn in this one."""
    if not bpy.app.timers.is_registered(panels):
        bpy.app.timers.register(panels, first_interval=NEXT_TURN)


def _redraw(kind: str) -> None:
    """The editors alone, not the headers and tools around them."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == kind:
                for region in area.regions:
                    if region.type == 'WINDOW':
                        region.tag_redraw()
