# SPDX-License-Identifier: GPL-3.0-or-later
"""What reading a scene raises."""


class SnapshotError(Exception):
    """The scene cannot be baked; the text names the object and the remedy."""
