# SPDX-License-Identifier: GPL-3.0-or-later
"""The role of an object in the sand simulation."""
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, PropertyGroup

from ..scene import simulations
from ..scene.manage import roles
from . import from_schema
from .collider import GRAIN_PG_collider
from .cover import GRAIN_PG_cover
from .emitter import GRAIN_PG_emitter
from .rigid import GRAIN_PG_rigid
from .source import GRAIN_PG_source

# In the order they came: files hold the place in the list.
_ROLES = tuple(next(item[:3] for item in from_schema.items("object.role") if item[0] == role)
               for role in ('SOURCE', 'COLLIDER', 'BODY', 'EMITTER', 'KILL'))


def _on_type(group: "GRAIN_PG_object", context: Context) -> None:
    roles.on_role_changed(group.id_data, context)


_casts: list[tuple[str, str, str, int]] = []  # Blender keeps no copy of what the function below returns


def _list_casts(group: "GRAIN_PG_object", context: Context) -> list[tuple[str, str, str, int]]:
    names: dict[int, list[str]] = {}
    for simulation in context.scene.grain.simulations if context is not None and context.scene is not None else ():
        names.setdefault(simulation.cast, []).append(simulation.name)
    names.setdefault(group.cast, ["Of Another Scene"])
    names.pop(simulations.EVERY, None)
    _casts[:] = [('EVERY', "All", "Part of every simulation in the scene", simulations.EVERY)]
    _casts.extend((str(cast), ", ".join(members), f"Part of {', '.join(members)} only", cast)
                  for cast, members in names.items())
    return _casts


def _get_cast(group: "GRAIN_PG_object") -> int:
    return group.cast


def _set_cast(group: "GRAIN_PG_object", value: int) -> None:
    group.cast = value


class GRAIN_PG_object(PropertyGroup):
    type: EnumProperty(
        name="Type", default='NONE', update=_on_type, description="Role of this object in the sand simulation",
        items=(('NONE', "None", "Not part of the simulation"), *_ROLES))
    cast: IntProperty(options={'HIDDEN'})
    is_cast_chosen: BoolProperty(options={'HIDDEN'})  # with the role, or by the artist
    simulation: EnumProperty(
        name="Simulation", items=_list_casts, get=_get_cast, set=_set_cast,
        description="The simulations that this object belongs to. A copy of a simulation shares its objects")
    source: PointerProperty(type=GRAIN_PG_source)
    emitter: PointerProperty(type=GRAIN_PG_emitter)
    collider: PointerProperty(type=GRAIN_PG_collider)
    rigid: PointerProperty(type=GRAIN_PG_rigid)
    cover: PointerProperty(type=GRAIN_PG_cover)

    # Of the object that plays a volume, in Blender units: a voxel's edge, and what of its delta location makes up for
    # the Blender it was last placed in (scene/volumes.py).
    volume_voxel: FloatProperty(options={'HIDDEN'})
    volume_shift: FloatProperty(options={'HIDDEN'})

    # Display of a source before its sand replaced it, restored when the role is removed.
    is_display_kept: BoolProperty(options={'HIDDEN'})
    kept_display_type: StringProperty(default='TEXTURED', options={'HIDDEN'})
    kept_hide_render: BoolProperty(options={'HIDDEN'})
