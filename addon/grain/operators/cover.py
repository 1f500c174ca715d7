# SPDX-License-Identifier: GPL-3.0-or-later
"""Covering an object's surface with particles."""
from bpy.props import FloatProperty, IntProperty
from bpy.types import Context, Event, Menu, Operator

from ..engine import ffi, text
from ..properties import cover as properties
from ..scene.manage import cover
from ..scene.read import meshes
from ..scene.read.errors import SnapshotError


class GRAIN_OT_cover(Operator):
    bl_idname = "grain.cover"
    bl_label = "Cover with Particles"
    bl_description = "Spread particles evenly over the surface of the active object, modifiers included"
    bl_options = {'REGISTER', 'UNDO'}

    radius: FloatProperty(**properties.RADIUS)
    offset: FloatProperty(**properties.OFFSET)
    density: FloatProperty(**properties.DENSITY)
    seed: IntProperty(**properties.SEED)

    @classmethod
    def poll(cls, context: Context) -> bool:
        item = context.object
        if item is None or item.type not in meshes.MESH_TYPES + ('EMPTY',) or cover.is_cover(item):
            cls.poll_message_set("Select a mesh, curve, text, metaball or instancer")
            return False
        if ffi.problem() is not None:
            cls.poll_message_set("Grain's library could not be loaded: see Properties > Scene > Grain Simulation")
            return False
        return True

    def invoke(self, context: Context, event: Event) -> set[str]:
        # Covered before: its settings, not those of the last object.
        made = cover.find(context.object)
        if made is not None:
            for name in cover.SETTINGS:
                if not self.properties.is_property_set(name):
                    setattr(self, name, getattr(made.grain.cover, name))
        return self.execute(context)

    def execute(self, context: Context) -> set[str]:
        item = context.object
        try:
            surface = cover.read_surface(item, context)
            if not self.properties.is_property_set("radius"):
                self.radius = cover.fitting_radius(surface)
            made = cover.make(item, surface, {name: getattr(self, name) for name in cover.SETTINGS}, context)
        except (ffi.GrainError, SnapshotError) as error:
            message = str(error)
            self.report({'ERROR'}, message if item.name in message else f"'{item.name}': {message}")
            return {'CANCELLED'}
        self.report({'INFO'}, f"'{item.name}': {text.plural(made.grain.cover.count, 'particle')}")
        return {'FINISHED'}


def draw_menu(menu: Menu, context: Context) -> None:
    """In the viewport's Object menu."""
    menu.layout.separator()
    menu.layout.operator(GRAIN_OT_cover.bl_idname)
