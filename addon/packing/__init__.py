# SPDX-License-Identifier: GPL-3.0-or-later
"""How the add-on becomes zips, and the zips a repository that Blender updates from. addon/package.py is the entry."""
