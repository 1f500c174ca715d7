# SPDX-License-Identifier: GPL-3.0-or-later
"""The side of the add-on that knows nothing of Blender: libgrain, jobs, caches and the `grain` program.

No module in this folder imports bpy (tests/check_layers.py), so all of it runs in bare Python too.
"""
