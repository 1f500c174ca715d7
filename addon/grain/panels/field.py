# SPDX-License-Identifier: GPL-3.0-or-later
"""Below Blender's own settings of a force field: what it does to sand."""
from bpy.types import Context, Panel

from ..scene import simulations
from ..scene.read import fields
from .text import draw_wrapped


class GRAIN_PT_field(Panel):
    bl_label = "Grain Force"
    bl_space_type = 'PROPERTIES'
    bl_region_type = 'WINDOW'
    bl_context = "physics"

    @classmethod
    def poll(cls, context: Context) -> bool:
        settings = context.object.field if context.object is not None else None
        return settings is not None and settings.type != 'NONE' and simulations.active(context.scene) is not None

    def draw(self, context: Context) -> None:
        acts, words = fields.effect(context.object)
        draw_wrapped(self.layout, context, words, icon='INFO' if acts else 'ERROR')
