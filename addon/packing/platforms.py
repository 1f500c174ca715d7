# SPDX-License-Identifier: GPL-3.0-or-later
"""The platforms Grain is released for, by Blender's names, and the files that each has in lib/."""
from typing import NamedTuple


class Platform(NamedTuple):
    name: str
    program: str
    library: str
    volumes: str  # OpenVDB behind a handful of C calls
    has_legacy: bool  # whether Blender 3.4 to 4.1 ran there

    @property
    def binaries(self) -> tuple[str, str, str]:
        return self.program, self.library, self.volumes


PLATFORMS = {platform.name: platform for platform in (
    Platform("linux-x64", "grain", "libgrain.so", "libgrain_vdb.so", True),
    Platform("linux-arm64", "grain", "libgrain.so", "libgrain_vdb.so", False),
    Platform("windows-x64", "grain.exe", "grain.dll", "grain_vdb.dll", True),
    Platform("macos-arm64", "grain", "libgrain.dylib", "libgrain_vdb.dylib", True),
    Platform("macos-x64", "grain", "libgrain.dylib", "libgrain_vdb.dylib", True),
)}
PROGRAMS = frozenset(f"lib/{platform.program}" for platform in PLATFORMS.values())
