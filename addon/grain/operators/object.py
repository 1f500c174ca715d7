# SPDX-License-Identifier: GPL-3.0-or-later
"""Adding objects to the simulation and removing them."""
from bpy.props import EnumProperty
from bpy.types import Context, Operator

from ..scene.manage import estimate, roles


class GRAIN_OT_role_add(Operator):
    bl_idname = "grain.role_add"
    bl_label = "Add Grain"
    bl_description = "Add the selected objects to the sand simulation"
    bl_options = {'REGISTER', 'UNDO'}

    type: EnumProperty(
        name="Type", default='AUTO', options={'SKIP_SAVE'},
        items=(('AUTO', "Automatic", "Source if the object encloses a volume, otherwise Collider"),
               ('SOURCE', "Source", "Filled with sand at the first frame"),
               ('COLLIDER', "Collider", "Sand lands on it and flows around it"),
               ('BODY', "Rigid Body", "Sand and other rigid bodies push it"),
               ('EMITTER', "Emitter", "Sand comes out of it, frame by frame"),
               ('KILL', "Kill Zone", "Removes the sand that enters it")))

    @classmethod
    def poll(cls, context: Context) -> bool:
        if context.object is None or not roles.can_have_role(context.object):
            cls.poll_message_set("Select a mesh, curve, text or metaball object of this file")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        depsgraph = context.evaluated_depsgraph_get()
        for item in roles.selected_objects(context):
            has_inside = estimate.source_body(item, depsgraph).volume > 0.0
            item.grain.type = ('SOURCE' if has_inside else 'COLLIDER') if self.type == 'AUTO' else self.type
        return {'FINISHED'}


class GRAIN_OT_role_remove(Operator):
    bl_idname = "grain.role_remove"
    bl_label = "Remove Grain"
    bl_description = "Remove the selected objects from the sand simulation"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.object is not None and context.object.grain.type != 'NONE'

    def execute(self, context: Context) -> set[str]:
        for item in roles.selected_objects(context):
            item.grain.type = 'NONE'
        return {'FINISHED'}
