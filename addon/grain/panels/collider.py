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
        layout.use_property_decorate = False
        layout.enabled = not runtime.is_baking()
        settings = context.object.grain.collider
        column = layout.column()
        column.prop(settings, "shape")
        column.prop(settings, "friction_angle")
        row = column.row()
        row.active = settings.shape == 'MESH'
        row.prop(settings, "thickness")
