# SPDX-License-Identifier: GPL-3.0-or-later
"""Grain: sand for Blender artists.

Start reading at operators/bake.py: scene/read/snapshot.py reads the scene, engine/job.py writes it down, the `grain`
program bakes it, scene/playback.py shows the frames.
"""
bl_info = {
    "name": "Grain",
    "author": "The Grain developers",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Physics",
    "description": "Sand, snow and mud: fill objects with grains, simulate, bake and render",
    "category": "Physics",
}
ADDON_VERSION = ".".join(str(number) for number in bl_info["version"])

from . import command, handlers, operators, panels, properties, viewport, write_guard  # noqa: E402  (they ask for ADDON_VERSION)

_MODULES = (write_guard, properties, operators, panels, handlers, viewport, command)


def register() -> None:
    for module in _MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(_MODULES):
        module.unregister()
