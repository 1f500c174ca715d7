# SPDX-License-Identifier: GPL-3.0-or-later
"""What grains of each kind look like: colours and shine, for the materials that sand_nodes.py makes.

A colour holds from its position on the ramp up to the next one's: shares of the grains.
"""
from dataclasses import dataclass

Colour = tuple[float, float, float]  # linear


@dataclass(frozen=True)
class Look:
    label: str
    description: str
    material: str  # its name
    colours: tuple[tuple[float, Colour], ...]
    viewport: Colour  # in solid shading
    brightness: tuple[float, float] = (0.72, 1.25)  # range over the grains
    roughness: tuple[float, float] = (0.45, 0.85)
    specular: float = 0.35
    clear: tuple[float, float] = (2.0, 2.0)  # part of the ramp where light goes through
    clearness: float = 0.6
    dents: float = 0.9  # in radii
    subsurface: float = 0.0  # in radii


LOOKS: dict[str, Look] = {
    # Quartz stained by iron makes the bulk of a beach or a dune; felspar, clear quartz and dark heavy minerals give it
    # its sparkle.
    'SAND': Look(
        "Sand", "Warm quartz, felspar, a few dark grains", "Grain Sand",
        ((0.00, (0.400, 0.235, 0.105)),  # ochre
         (0.30, (0.510, 0.340, 0.175)),  # warm quartz
         (0.62, (0.610, 0.455, 0.275)),  # pale quartz
         (0.80, (0.265, 0.125, 0.050)),  # rust brown
         (0.88, (0.560, 0.360, 0.255)),  # pink felspar
         (0.93, (0.740, 0.665, 0.545)),  # clear, whitish quartz
         (0.97, (0.055, 0.042, 0.034))),  # magnetite, hornblende
        (0.62, 0.46, 0.29), clear=(0.93, 0.97)),
    'GRAVEL': Look(
        "Gravel", "Grey and brown stones", "Grain Gravel",
        ((0.00, (0.190, 0.180, 0.170)), (0.35, (0.290, 0.270, 0.245)), (0.60, (0.120, 0.115, 0.115)),
         (0.78, (0.250, 0.180, 0.125)), (0.90, (0.450, 0.430, 0.400))),
        (0.30, 0.28, 0.26), roughness=(0.6, 0.95), specular=0.3, dents=0.5),
    'SNOW': Look(
        "Snow", "White, with light inside", "Grain Snow",
        ((0.00, (0.82, 0.87, 0.93)), (0.50, (0.90, 0.93, 0.96))),
        (0.88, 0.92, 0.96), brightness=(0.95, 1.05), roughness=(0.5, 0.8), specular=0.4, dents=0.6, subsurface=2.0),
    'RICE': Look(
        "Rice", "Ivory, a little glassy", "Grain Rice",
        ((0.00, (0.70, 0.62, 0.48)), (0.55, (0.76, 0.70, 0.58)), (0.92, (0.62, 0.50, 0.34))),
        (0.76, 0.70, 0.58), brightness=(0.92, 1.08), roughness=(0.3, 0.45), specular=0.5, dents=0.15, subsurface=0.3),
    'COFFEE': Look(
        "Coffee Beans", "Dark roast, oily", "Grain Coffee",
        ((0.00, (0.048, 0.020, 0.009)), (0.45, (0.068, 0.030, 0.014)), (0.80, (0.030, 0.012, 0.006))),
        (0.12, 0.06, 0.03), brightness=(0.8, 1.3), roughness=(0.25, 0.5), specular=0.5, dents=0.2),
    'SALT': Look(
        "Salt", "Clear white crystals", "Grain Salt",
        ((0.00, (0.88, 0.88, 0.87)), (0.60, (0.93, 0.93, 0.93))),
        (0.90, 0.90, 0.90), brightness=(0.97, 1.03), roughness=(0.12, 0.4), specular=0.5, clear=(0.30, 1.01),
        clearness=0.5, dents=0.1),
    'MUD': Look(
        "Mud", "Dark, wet earth", "Grain Mud",
        ((0.00, (0.090, 0.052, 0.026)), (0.50, (0.110, 0.066, 0.034)), (0.85, (0.065, 0.038, 0.020))),
        (0.16, 0.10, 0.055), brightness=(0.85, 1.15), roughness=(0.18, 0.4), specular=0.5, dents=0.4),
}

ITEMS = tuple((name, look.label, look.description) for name, look in LOOKS.items())
