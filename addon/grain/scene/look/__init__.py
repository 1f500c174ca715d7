# SPDX-License-Identifier: GPL-3.0-or-later
"""What sand is drawn with: node groups, materials and the meshes of single grains, all made by code."""
