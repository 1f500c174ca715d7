# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the settings are found: Properties > Physics, and the simulation again in Properties > Scene."""
import bpy

from . import collider, cover, emitter, field, kill, object, rigid, simulation, simulation_list, source

CLASSES = (
    simulation_list.GRAIN_UL_simulations,
    object.GRAIN_PT_object,
    source.GRAIN_PT_source,
    emitter.GRAIN_PT_emitter,
    source.GRAIN_PT_source_material,
    collider.GRAIN_PT_collider,
    kill.GRAIN_PT_kill,
    rigid.GRAIN_PT_rigid,
    field.GRAIN_PT_field,
    cover.GRAIN_PT_cover,
    *simulation.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.PHYSICS_PT_add.append(object.draw_add_button)


def unregister() -> None:
    bpy.types.PHYSICS_PT_add.remove(object.draw_add_button)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
