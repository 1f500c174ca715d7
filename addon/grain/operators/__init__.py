"""What the buttons do."""
import bpy

from . import bake, cache, cover, display, export, object, rigid, simulation, volume

CLASSES = (
    object.GRAIN_OT_role_add,
    object.GRAIN_OT_role_remove,
    simulation.GRAIN_OT_simulation_add,
    simulation.GRAIN_OT_simulation_copy,
    simulation.GRAIN_OT_simulation_remove,
    bake.GRAIN_OT_bake,
    bake.GRAIN_OT_bake_anew,
    bake.GRAIN_OT_stop,
    cache.GRAIN_OT_free,
    cache.GRAIN_OT_open_folder,
    display.GRAIN_OT_show_sand,
    display.GRAIN_OT_radius_fit,
    cover.GRAIN_OT_cover,
    rigid.GRAIN_OT_bake_keyframes,
    export.GRAIN_OT_export,
    volume.GRAIN_OT_bake_volume,
    volume.GRAIN_OT_show_volume,
    volume.GRAIN_OT_surface_mesh,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.VIEW3D_MT_object.append(cover.draw_menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_object.remove(cover.draw_menu)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
