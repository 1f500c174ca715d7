# SPDX-License-Identifier: GPL-3.0-or-later
"""Cached frames shown in the scene: points, rigid bodies, volumes, dots in the viewport."""
