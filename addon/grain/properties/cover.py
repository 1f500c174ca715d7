# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings and quality figures of a cover, stored with the object that shows it."""
from bpy.props import FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, Object, PropertyGroup

from ..scene.manage import cover

# Shared with the operator, so that both look and work alike.
RADIUS = {"name": "Radius", "subtype": 'DISTANCE', "default": 0.01, "min": 1e-6, "soft_min": 1e-4, "soft_max": 1.0,
          "precision": 4, "description": "Radius of a particle. Halving it quadruples the number of particles"}
OFFSET = {"name": "Offset", "subtype": 'DISTANCE', "default": 0.0, "soft_min": -1.0, "soft_max": 1.0, "precision": 4,
          "description": "Distance of the particle centres from the surface: negative inside, positive outside. "
                         "On open meshes it is measured along the normals"}
DENSITY = {"name": "Density", "default": 1.0, "min": 0.01, "soft_min": 0.2, "soft_max": 2.0, "max": 8.0, "precision": 2,
           "description": "Fraction of the surface that the particles would cover if they did not overlap. At 0.9 they "
                          "just touch"}
SEED = {"name": "Seed", "default": 0, "min": 0, "description": "Changes the arrangement of the particles"}


def _on_setting(group: "GRAIN_PG_cover", context: Context) -> None:
    cover.update(group, context)


class GRAIN_PG_cover(PropertyGroup):
    surface: PointerProperty(type=Object, name="Surface", description="The object to cover")
    radius: FloatProperty(**RADIUS, update=_on_setting)
    offset: FloatProperty(**OFFSET, update=_on_setting)
    density: FloatProperty(**DENSITY, update=_on_setting)
    seed: IntProperty(**SEED, update=_on_setting)

    # Quality figures. Distances are relative to the spacing of a perfect hexagonal pattern.
    count: IntProperty(options={'HIDDEN'})
    count_wanted: IntProperty(options={'HIDDEN'})
    nearest: FloatProperty(options={'HIDDEN'})
    deviation: FloatProperty(options={'HIDDEN'})
    smallest: FloatProperty(options={'HIDDEN'})
    gap: FloatProperty(options={'HIDDEN'})
    off_surface: FloatProperty(options={'HIDDEN'})  # radii
    report: StringProperty(options={'HIDDEN'})
    problem: StringProperty(options={'HIDDEN'})
