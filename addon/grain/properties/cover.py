# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings and figures of a cover, kept with the object that shows it."""
from bpy.props import FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, Object, PropertyGroup

from ..scene.manage import cover

# Shared with the operator, so that both look and work alike.
RADIUS = {"name": "Radius", "subtype": 'DISTANCE', "default": 0.01, "min": 1e-6, "soft_min": 1e-4, "soft_max": 1.0,
          "precision": 4, "description": "Radius of a particle. Half of it means four times the particles"}
OFFSET = {"name": "Offset", "subtype": 'DISTANCE', "default": 0.0, "soft_min": -1.0, "soft_max": 1.0, "precision": 4,
          "description": "Distance of the particles' centres from the surface: negative inside, positive outside. "
                         "Where the mesh is open, along its normals"}
DENSITY = {"name": "Density", "default": 1.0, "min": 0.01, "soft_min": 0.2, "soft_max": 2.0, "max": 8.0, "precision": 2,
           "description": "Part of the surface that the particles would cover if they did not overlap. They just touch "
                          "at 0.9"}
SEED = {"name": "Seed", "default": 0, "min": 0, "description": "Another number, another cover just as even"}


def _on_setting(group: "GRAIN_PG_cover", context: Context) -> None:
    cover.update(group, context)


class GRAIN_PG_cover(PropertyGroup):
    surface: PointerProperty(type=Object, name="Surface", description="The object that is covered")
    radius: FloatProperty(**RADIUS, update=_on_setting)
    offset: FloatProperty(**OFFSET, update=_on_setting)
    density: FloatProperty(**DENSITY, update=_on_setting)
    seed: IntProperty(**SEED, update=_on_setting)

    # What came of it. Distances are parts of the spacing of a perfect hexagonal pattern.
    count: IntProperty(options={'HIDDEN'})
    count_wanted: IntProperty(options={'HIDDEN'})
    nearest: FloatProperty(options={'HIDDEN'})
    deviation: FloatProperty(options={'HIDDEN'})
    smallest: FloatProperty(options={'HIDDEN'})
    gap: FloatProperty(options={'HIDDEN'})
    off_surface: FloatProperty(options={'HIDDEN'})  # radii
    report: StringProperty(options={'HIDDEN'})
    problem: StringProperty(options={'HIDDEN'})
