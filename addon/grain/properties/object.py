"""The part an object plays in the sand."""
from bpy.props import BoolProperty, EnumProperty, PointerProperty, StringProperty
from bpy.types import Context, PropertyGroup

from ..scene import roles
from .collider import GRAIN_PG_collider
from .cover import GRAIN_PG_cover
from .rigid import GRAIN_PG_rigid
from .source import GRAIN_PG_source


def _on_type(group: "GRAIN_PG_object", context: Context) -> None:
    roles.on_role_changed(group.id_data, context)


class GRAIN_PG_object(PropertyGroup):
    type: EnumProperty(
        name="Type", default='NONE', update=_on_type, description="The part this object plays in the sand simulation",
        items=(('NONE', "None", "Takes no part in the simulation"),
               ('SOURCE', "Source", "Filled with sand at the first frame. It needs a closed surface"),
               ('COLLIDER', "Collider", "Sand falls on it and flows around it. It may move and bend"),
               ('BODY', "Rigid Body", "Sand and other bodies push it. It needs a closed surface")))
    source: PointerProperty(type=GRAIN_PG_source)
    collider: PointerProperty(type=GRAIN_PG_collider)
    rigid: PointerProperty(type=GRAIN_PG_rigid)
    cover: PointerProperty(type=GRAIN_PG_cover)

    # How a source looked before its sand took its place, given back with the role.
    is_display_kept: BoolProperty(options={'HIDDEN'})
    kept_display_type: StringProperty(default='TEXTURED', options={'HIDDEN'})
    kept_hide_render: BoolProperty(options={'HIDDEN'})
