# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies: from the cache to the object's own keyframes."""
from typing import Optional

from bpy.types import Context, Object, Operator
from mathutils import Quaternion, Vector

from ..engine import cache, text
from ..engine.ffi import GrainError
from ..engine.objects import CacheFrame
from ..scene import paths, simulations
from ..scene.show import bodies, playback
from ..scene.simulations import Simulation
from ..scene.units import metres_per_unit


class GRAIN_OT_bake_keyframes(Operator):
    bl_idname = "grain.bake_keyframes"
    bl_label = "Bake to Keyframes"
    bl_description = ("Write the baked motion of the selected rigid bodies into keyframes of their location and rotation. "
                      "Afterwards they no longer need the cache")
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not _selected(context):
            cls.poll_message_set("Select a rigid body")
            return False
        if not any(map(paths.has_cache, _simulations(context))):
            cls.poll_message_set("Nothing is baked yet")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        try:
            written = sum(_write(context, simulation) for simulation in _simulations(context))
        except (GrainError, cache.CacheError, OSError) as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        if not written:
            self.report({'ERROR'}, "The bake does not contain the selected bodies. Bake again")
            return {'CANCELLED'}
        self.report({'INFO'}, f"Wrote keyframes for {text.plural(written, 'object')}")
        return {'FINISHED'}


def _selected(context: Context) -> list[Object]:
    items = set(context.selected_objects)
    if context.object is not None:
        items.add(context.object)
    return sorted((item for item in items if item.grain.type == 'BODY'), key=lambda item: item.name)


def _simulations(context: Context) -> list[Simulation]:
    """Those which the selected bodies follow."""
    found = (simulations.of_object(item, context.scene) for item in _selected(context))
    followed = [simulation for simulation in found if simulation is not None]
    return [simulation for simulation in context.scene.grain.simulations if simulation in followed]


def _write(context: Context, simulation: Simulation) -> int:
    scene = context.scene
    folder = paths.cache_folder(simulation)
    manifest = cache.read_manifest(folder)
    numbers = {name: index for index, name in enumerate(manifest.bodies if manifest is not None else ())}
    items = [item for item in _selected(context)
             if item.grain.rigid.baked_name in numbers and simulations.of_object(item, scene) == simulation]
    if not items:
        return 0
    scale = metres_per_unit(scene)
    for item in items:
        bodies.restore(item)
        item.grain.rigid.follow = False
    context.view_layer.update()
    before: dict[Object, Optional[Quaternion]] = {item: None for item in items}
    for frame in sorted(manifest.particles):
        with CacheFrame(cache.frame_path(folder, frame)) as cached:
            position, orientation = cached.column("body.position"), cached.column("body.orientation")
            for item in items:
                index = numbers[item.grain.rigid.baked_name]
                if index >= min(len(position), len(orientation)):
                    continue
                before[item] = bodies.write_keyframes(item, frame, Vector(position[index]) / scale,
                                                      Quaternion(orientation[index]), before[item])
                context.view_layer.update()
    playback.show(simulation)
    scene.frame_set(scene.frame_current)
    return len(items)
