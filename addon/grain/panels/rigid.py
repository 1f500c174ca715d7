# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a rigid body."""
from bpy.types import Context, Panel

from .. import runtime
from .object import PhysicsPanel


class GRAIN_PT_rigid(PhysicsPanel, Panel):
    bl_label = "Rigid Body"
    bl_parent_id = "GRAIN_PT_object"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.grain.type == 'BODY'

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        settings = context.object.grain.rigid
        column = layout.column()
        column.enabled = not runtime.is_baking()
        column.prop(settings, "density", text="Density kg/m³")
        column.prop(settings, "friction_angle")
        column.prop(settings, "stickiness")
        column.prop(settings, "use_animation")
        row = column.row()
        row.active = settings.use_animation
        row.prop(settings, "release_frame")
        layout.prop(settings, "follow")
        layout.operator("grain.bake_keyframes", icon='KEYFRAME_HLT')
