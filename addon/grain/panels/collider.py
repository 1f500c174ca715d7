# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a collider."""
from bpy.types import Context, Panel

from .. import runtime
from .object import PhysicsPanel


class GRAIN_PT_collider(PhysicsPanel, Panel):
    bl_label = "Collider"
    bl_parent_id = "GRAIN_PT_object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.grain.type == 'COLLIDER'

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.enabled = not runtime.is_baking()
        item = context.object
        settings = item.grain.collider
        column = layout.column()
        column.prop(settings, "shape")
        for name in ("friction", "stickiness"):
            value = "friction_angle" if name == "friction" else name
            column.prop(settings, value)
            row = column.row()
            row.active = settings.shape == 'MESH' and getattr(settings, value) > 0.0
            row.prop_search(settings, f"{name}_paint", item, "vertex_groups", icon='GROUP_VERTEX')
        row = column.row()
        row.active = settings.shape == 'MESH'
        row.prop(settings, "thickness")
