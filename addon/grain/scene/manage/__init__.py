# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist does with a simulation: set it up, estimate it, bake it, export it, open it in a later version."""
