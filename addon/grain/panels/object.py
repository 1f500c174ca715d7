# SPDX-License-Identifier: GPL-3.0-or-later
"""The add button among Blender's own kinds of physics, and the panel of an object that takes part."""
from bpy.types import Context, Panel

from .. import runtime
from ..scene.manage import roles

ICON = 'OUTLINER_OB_POINTCLOUD'
_BUTTON_WIDTH = 8.5  # in units of the interface: that of "Rigid Body Constraint", the widest button of Blender's own


def draw_add_button(panel: Panel, context: Context) -> None:
    item = context.object
    if item is None or not (roles.can_have_role(item) or item.grain.type != 'NONE'):
        return
    # Columns as the buttons above have them: two in a wide editor, one in a narrow one.
    flow = panel.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)
    column = flow.column()
    column.ui_units_x = _BUTTON_WIDTH
    column.enabled = not runtime.is_baking()
    if item.grain.type == 'NONE':
        column.operator("grain.role_add", text="Grain", icon=ICON)
    else:
        column.operator("grain.role_remove", text="Grain", icon='X')
    flow.column().ui_units_x = _BUTTON_WIDTH


class PhysicsPanel:
    """Shared by all panels of the Physics tab."""
    bl_space_type = 'PROPERTIES'
    bl_region_type = 'WINDOW'
    bl_context = "physics"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.grain.type != 'NONE'


class GRAIN_PT_object(PhysicsPanel, Panel):
    bl_label = "Grain"

    def draw(self, context: Context) -> None:
        types = self.layout.column(align=True)
        types.enabled = not runtime.is_baking()
        for names in (('SOURCE', 'EMITTER', 'KILL'), ('COLLIDER', 'BODY')):
            row = types.row(align=True)
            for name in names:
                row.prop_enum(context.object.grain, "type", name)
        # One simulation leaves nothing to choose.
        if len(context.scene.grain.simulations) > 1:
            layout = self.layout.column()
            layout.use_property_split, layout.use_property_decorate = True, False
            layout.enabled = not runtime.is_baking()
            layout.prop(context.object.grain, "simulation")
