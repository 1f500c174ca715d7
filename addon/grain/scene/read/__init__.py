# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene as the job describes it. Nothing in here changes the scene."""
