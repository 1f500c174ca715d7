# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of simulations, on top of what is drawn of the active one."""
from typing import Any

from bpy.types import Context, UILayout, UIList

from .. import runtime
from ..scene import paths, simulations
from ..scene.show import apply


class GRAIN_UL_simulations(UIList):
    bl_idname = "GRAIN_UL_simulations"

    def draw_item(self, context: Context, layout: UILayout, data: Any, item: Any, icon: int, active_data: Any,
                  active_property: str) -> None:
        row = layout.row(align=True)
        is_baking = runtime.is_baking(paths.cache_folder(item))
        row.prop(item, "name", text="", emboss=False, icon='RENDER_ANIMATION' if is_baking else 'PHYSICS')
        sand = apply.sand_object(item)
        if sand is not None:
            row.prop(sand, "hide_viewport", text="", emboss=False)
            row.prop(sand, "hide_render", text="", emboss=False)
        else:
            row.label(text="Not baked" if not paths.has_cache(item) else "")


def draw_list(layout: UILayout, context: Context) -> None:
    """One simulation is a name and buttons; several are a list."""
    scene = context.scene
    count = len(scene.grain.simulations)
    if count == 0:
        layout.operator("grain.simulation_add", icon='ADD')
        return
    row = layout.row(align=count == 1)
    row.use_property_split = False
    if count == 1:
        name = row.row(align=True)
        name.enabled = not runtime.is_baking()
        name.prop(simulations.active(scene), "name", text="", icon='PHYSICS')
        buttons = row
    else:
        row.template_list("GRAIN_UL_simulations", "", scene.grain, "simulations", scene.grain, "active_index", rows=3)
        buttons = row.column(align=True)
    buttons.operator("grain.simulation_add", text="", icon='ADD')
    buttons.operator("grain.simulation_copy", text="", icon='DUPLICATE')
    buttons.operator("grain.simulation_remove", text="", icon='REMOVE')
