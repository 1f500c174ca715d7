# SPDX-License-Identifier: GPL-3.0-or-later
"""Between Blender units and SI. The job is SI; Blender shows lengths times the scene's unit scale."""
from bpy.types import Scene


def tidy(value: float) -> float:
    """A float32 of Blender's as the artist typed it: 0.02, not 0.019999999552965164."""
    return float(f"{value:.7g}")


def metres_per_unit(scene: Scene) -> float:
    return tidy(scene.unit_settings.scale_length)
