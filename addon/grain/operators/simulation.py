# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulations of a scene: add, copy, remove."""
from bpy.types import Context, Event, Operator

from .. import runtime
from ..engine import cache, files
from ..panels.text import draw_wrapped
from ..scene import paths, simulations
from ..scene.show import playback


def has_simulation(cls: type[Operator], context: Context) -> bool:
    """Whether there is an active one; says what to do where there is none."""
    if simulations.active(context.scene) is None:
        cls.poll_message_set("There is no simulation yet: make a closed mesh a Source first")
        return False
    return True


def _is_idle(cls: type[Operator]) -> bool:
    if runtime.is_baking():
        cls.poll_message_set("A bake is running: pause it first")
        return False
    return True


class GRAIN_OT_simulation_add(Operator):
    bl_idname = "grain.simulation_add"
    bl_label = "Add Simulation"
    bl_description = ("Add another simulation to the scene, with its own settings and cache. Existing sand stays in its "
                      "simulation; colliders are shared")
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return _is_idle(cls)

    def execute(self, context: Context) -> set[str]:
        simulations.add(context.scene)
        return {'FINISHED'}


class GRAIN_OT_simulation_copy(Operator):
    bl_idname = "grain.simulation_copy"
    bl_label = "Copy Simulation"
    bl_description = ("Copy the active simulation with its objects and settings, but with a cache of its own. Change a setting "
                      "in the copy, bake it, and compare the two")
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return has_simulation(cls, context) and _is_idle(cls)

    def execute(self, context: Context) -> set[str]:
        simulations.copy(simulations.active(context.scene))
        return {'FINISHED'}


class GRAIN_OT_simulation_remove(Operator):
    bl_idname = "grain.simulation_remove"
    bl_label = "Remove Simulation"
    bl_description = ("Remove the active simulation and its sand object. Objects that belong to no other simulation lose their "
                      "role. Baked frames stay on disk; to delete them, use Free Bake first")
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return has_simulation(cls, context) and _is_idle(cls)

    def invoke(self, context: Context, event: Event) -> set[str]:
        if not cache.own_files(paths.cache_folder(simulations.active(context.scene))):
            return self.execute(context)
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, context: Context) -> None:
        simulation = simulations.active(context.scene)
        draw_wrapped(self.layout, context, f"'{simulation.name}' is baked. Its frames stay in "
                                           f"{files.plain(paths.cache_folder(simulation))}; to delete them, cancel and use Free Bake", icon='INFO',
                     width=400)

    def execute(self, context: Context) -> set[str]:
        simulation = simulations.active(context.scene)
        playback.let_go(simulation)
        simulations.remove(simulation)
        playback.show_scene(context.scene)
        return {'FINISHED'}
