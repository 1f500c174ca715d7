# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object which is filled with sand."""
from bpy.props import BoolProperty
from bpy.types import Context, PropertyGroup

from ..scene.read import materials
from . import from_schema

FIXED: set[str] = set()  # not for keyframes


def _on_law(source: "GRAIN_PG_source", context: Context) -> None:
    """Snow is not as heavy as sand; a density that somebody has chosen stays."""
    if source.density in materials.USUAL_DENSITY.values():
        source.density = materials.USUAL_DENSITY[source.law]


class GRAIN_PG_source(PropertyGroup):
    velocity: from_schema.vector("source.velocity", subtype='VELOCITY', unit='VELOCITY')
    use_settle: BoolProperty(
        name="Settle", options=FIXED, default=False,
        description="Let the sand come to rest before the first frame, with all objects held at their first-frame position: a "
                    "filled tray does not drop or burst. The sand ends up lower than the mesh is filled, as it packs")
    settle_seconds: from_schema.number(
        "source.settle", options=FIXED, subtype='TIME_ABSOLUTE', unit='TIME_ABSOLUTE', precision=1, step=50)
    moisture: from_schema.number("source.moisture", subtype='FACTOR', precision=2)
    moisture_paint: from_schema.painted("source.moisture_paint")
    use_attributes: BoolProperty(
        name="Carry Attributes", default=False,
        description="Copy colours, UV maps and named attributes of this mesh to its grains, under their own names. "
                    "Each grain keeps the value of the surface point nearest to where it started")
    use_material: BoolProperty(
        name="Own Material", default=False,
        description="Give this source a material of its own: sand on snow, gravel in dust. Not with the "
                    "solver Viscous. Contacts between two materials use the geometric mean of their settings")
    law: from_schema.choice("material.law", options=FIXED, update=_on_law)
    friction_angle: from_schema.number("material.friction", step=100, precision=1)
    rolling_friction: from_schema.number("material.rolling_friction", options=FIXED, subtype='FACTOR', precision=2)
    density: from_schema.number("material.density", options=FIXED, step=1000, precision=0)
    restitution: from_schema.number("material.restitution", options=FIXED, subtype='FACTOR', precision=2)
    cohesion: from_schema.number("material.cohesion", precision=2)
