# SPDX-License-Identifier: GPL-3.0-or-later
"""The Volume section of the simulation's panel."""
from bpy.types import Context, UILayout

from ..scene import paths, simulations
from ..scene.show import volumes
from .text import draw_wrapped

_ICONS = {'COMPLETE': 'CHECKMARK', 'PARTIAL': 'INFO', 'OTHER': 'INFO', 'DAMAGED': 'ERROR'}


def draw_volume(layout: UILayout, context: Context) -> None:
    wish = simulations.active(context.scene).volume
    layout.prop(wish, "source")
    layout.prop(wish, "voxel_size", text="Voxel (radii)")
    column = layout.column(heading="Grids")
    for name in ("density", "velocity", "dust", "surface"):
        column.prop(wish, name)
    if wish.dust:
        column = layout.column(align=True)
        column.prop(wish, "dust_speed")
        column.prop(wish, "dust_linger")
    if wish.surface:
        layout.prop(wish, "surface_reach")
    _draw_buttons(layout, context)


def _draw_buttons(layout: UILayout, context: Context) -> None:
    simulation = simulations.active(context.scene)
    kind, words = volumes.condition(simulation)
    row = layout.row()
    row.scale_y = 1.2
    row.operator("grain.bake_volume", text="Resume Volume" if kind == 'PARTIAL' else "Bake Volume", icon='VOLUME_DATA')
    if kind == 'EMPTY':
        if not paths.has_cache(simulation):
            draw_wrapped(layout, context, "Bake the simulation first: volumes are made from its frames")
        return
    draw_wrapped(layout, context, words, icon=_ICONS[kind])
    if volumes.volume_object(simulation) is None:
        layout.operator("grain.show_volume", icon='HIDE_OFF')
    if "surface" in volumes.grid_names(simulation):
        layout.operator("grain.surface_mesh", icon='MESH_DATA')
