# SPDX-License-Identifier: GPL-3.0-or-later
"""What the buttons do."""
import bpy

from . import assets, bake, cache, cover, display, export, object, quick, report, rigid, simulation, stages, volume

CLASSES = (
    assets.GRAIN_OT_asset_library_add,
    quick.GRAIN_OT_quick_sand,
    quick.GRAIN_OT_floor_add,
    quick.GRAIN_OT_preset,
    quick.GRAIN_MT_presets,
    object.GRAIN_OT_role_add,
    object.GRAIN_OT_role_remove,
    simulation.GRAIN_OT_simulation_add,
    simulation.GRAIN_OT_simulation_copy,
    simulation.GRAIN_OT_simulation_remove,
    bake.GRAIN_OT_bake,
    bake.GRAIN_OT_bake_anew,
    bake.GRAIN_OT_stop,
    stages.GRAIN_OT_bake_stage,
    stages.GRAIN_OT_free_stage,
    stages.GRAIN_OT_bake_from,
    stages.GRAIN_OT_bake_all,
    report.GRAIN_OT_statistics_export,
    report.GRAIN_OT_log_show,
    report.GRAIN_OT_job_export,
    cache.GRAIN_OT_free,
    cache.GRAIN_OT_open_folder,
    display.GRAIN_OT_show_sand,
    display.GRAIN_OT_radius_fit,
    display.GRAIN_OT_viewport_picture,
    display.GRAIN_OT_plain_drawing,
    cover.GRAIN_OT_cover,
    rigid.GRAIN_OT_bake_keyframes,
    export.GRAIN_OT_export,
    volume.GRAIN_OT_bake_volume,
    volume.GRAIN_OT_show_volume,
    volume.GRAIN_OT_surface_mesh,
)

_MENUS = (("VIEW3D_MT_object", cover.draw_menu), ("VIEW3D_MT_object", quick.draw_menu),
          ("VIEW3D_MT_object_quick_effects", quick.draw_menu), ("VIEW3D_MT_view", display.draw_view_menu))


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for menu, draw in _MENUS:
        getattr(bpy.types, menu).append(draw)


def unregister() -> None:
    for menu, draw in reversed(_MENUS):
        getattr(bpy.types, menu).remove(draw)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
