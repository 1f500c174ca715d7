# SPDX-License-Identifier: GPL-3.0-or-later
"""The map of materials of the solver meso: how firm a particle is against how far viscosity reaches (libgrain/docs/meso.md).

Firmness is how many times its own weight presses a particle flat: the same number behaves the same whatever the size and density
of particles. Zones end where cylinders of 112 materials that were let go changed from one behaviour to the next (the table in
libgrain/docs/meso.md; tests/physics/test_meso_sweeps.c).
"""
from math import log10, pi

SOFTEST, FIRMEST = 1.0, 3000.0  # ends of the slider
_FOAMY = 13.0  # softer ones are pressed in by a tenth
_DRY, _DAMP, _CREAMY, _DOUGHY = 0.95, 1.15, 1.9, 2.4  # reach ratios that they begin at


def firmness(elasticity: float, radius: float, density: float, gravity: float) -> float:
    """Elasticity in Pa, radius in m: K times a diameter, as a multiple of a particle's weight."""
    weight = 4.0 / 3.0 * pi * radius ** 3 * density * gravity
    return elasticity * (2.0 * radius) ** 2 / weight


def elasticity(firm: float, radius: float, density: float, gravity: float) -> float:
    return firm / firmness(1.0, radius, density, gravity)


def to_slider(firm: float) -> float:
    """0 to 1, each tenth as much firmer as the one before."""
    return min(max(log10(max(firm, 1e-9) / SOFTEST) / log10(FIRMEST / SOFTEST), 0.0), 1.0)


def from_slider(share: float) -> float:
    return SOFTEST * (FIRMEST / SOFTEST) ** share


def zone(firm: float, reach_ratio: float, viscosity: float) -> str:
    """What a material of these numbers is like, for the panel."""
    if firm <= 0.0:
        return "Eddies: nothing keeps particles apart"
    if viscosity <= 0.0 or reach_ratio <= 0.0:
        return "Gas: bounces forever"
    if reach_ratio < _DRY:
        return "Fluid: spreads flat"
    if firm < _FOAMY:
        return "Foam: holds together, compresses under its own weight"
    if reach_ratio < _DAMP:
        return "Dry sand: runs, forms a low pile"
    if reach_ratio < _CREAMY:
        return "Damp sand: slumps at first, then holds its shape"
    return "Cream: folds, then sinks into itself" if reach_ratio < _DOUGHY else "Paste: folds, keeps its shape for a while"
