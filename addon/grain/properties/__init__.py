# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings, saved in the .blend: `object.grain`, and `scene.grain` with its list of simulations. Names equal the job's
keys where the thing is the same."""
import bpy

from . import collider, cover, display, emitter, object, rigid, scene, simulation, source, volume

CLASSES = (
    source.GRAIN_PG_source,
    emitter.GRAIN_PG_emitter,
    collider.GRAIN_PG_collider,
    rigid.GRAIN_PG_rigid,
    cover.GRAIN_PG_cover,
    object.GRAIN_PG_object,
    display.GRAIN_PG_display,
    display.GRAIN_PG_retime,
    volume.GRAIN_PG_volume,
    simulation.GRAIN_PG_simulation,
    scene.GRAIN_PG_scene,
    simulation.GRAIN_PG_status,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.grain = bpy.props.PointerProperty(type=object.GRAIN_PG_object)
    bpy.types.Scene.grain = bpy.props.PointerProperty(type=scene.GRAIN_PG_scene)
    bpy.types.WindowManager.grain = bpy.props.PointerProperty(type=simulation.GRAIN_PG_status)


def unregister() -> None:
    del bpy.types.WindowManager.grain
    del bpy.types.Scene.grain
    del bpy.types.Object.grain
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
