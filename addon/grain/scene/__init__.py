# SPDX-License-Identifier: GPL-3.0-or-later
"""Between Blender's data and the engine's plain arrays.

Each of the four packages imports only those before it: `read` takes the scene in, `look` makes materials, node groups and
grain shapes, `show` puts cached frames into objects, `manage` holds what an artist does with a simulation. The modules
beside them are what all four know: simulations, their frames, their folders, their units, the keyframes of their settings.
"""
