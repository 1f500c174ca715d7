# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kill zone does: there is nothing to set."""
from bpy.types import Context, Panel

from .object import PhysicsPanel
from .text import draw_wrapped


class GRAIN_PT_kill(PhysicsPanel, Panel):
    bl_label = "Kill Zone"
    bl_parent_id = "GRAIN_PT_object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.grain.type == 'KILL'

    def draw(self, context: Context) -> None:
        draw_wrapped(self.layout, context, "Sand that enters this object is removed. The object may move and deform, and should be "
                                           "several particles thick. Sand that falls far below the scene is always removed")
