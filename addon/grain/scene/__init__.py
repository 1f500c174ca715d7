# SPDX-License-Identifier: GPL-3.0-or-later
"""Between Blender's data and plain arrays: snapshot reads, apply writes, the rest decides what and when."""
