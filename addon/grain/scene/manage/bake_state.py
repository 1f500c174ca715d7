# SPDX-License-Identifier: GPL-3.0-or-later
"""What a simulation's cache is worth for the scene as it is now: decides what the Bake button says."""
from dataclasses import dataclass
from pathlib import Path

from ... import runtime
from ...engine import cache, job as job_files, text
from .. import frames, paths
from ..simulations import Simulation
from . import job_builder


@dataclass(frozen=True)
class BakeState:
    kind: str  # EMPTY, PARTIAL, COMPLETE, OUTDATED, DAMAGED
    text: str  # for the panel


def of_simulation(simulation: Simulation) -> BakeState:
    """Of the bake and, where they are wanted, its render grains: what the Bake button does."""
    state = of_bake(simulation)
    if state.kind == 'COMPLETE' and simulation.use_upsample:
        grains = of_grains(simulation)
        if grains.kind == 'DAMAGED':
            return BakeState('PARTIAL', grains.text)
        if grains.kind != 'COMPLETE':
            return BakeState('PARTIAL', f"The simulation is baked; {grains.text[0].lower()}{grains.text[1:]}")
    return state


def of_grains(simulation: Simulation) -> BakeState:
    """Of the render grains."""
    folder = paths.cache_folder(simulation)
    try:
        grains = cache.read_manifest(cache.grains_folder(folder))
    except cache.CacheError as error:
        return BakeState('DAMAGED', str(error))
    if not simulation.use_upsample:
        return BakeState('OFF' if grains is not None else 'EMPTY', "Render grains are switched off")
    missing = _missing_grains(simulation, folder, *frames.bake_range(simulation))
    if missing:
        kind = 'EMPTY' if grains is None else 'PARTIAL'
        return BakeState(kind, missing[0].upper() + missing[1:])
    return BakeState('COMPLETE', f"{text.plural(len(grains.particles), 'frame')} of render grains, {text.size(grains.byte_count)}")


def of_bake(simulation: Simulation) -> BakeState:
    """Of the simulation alone."""
    folder = paths.cache_folder(simulation)
    try:
        manifest = cache.read_manifest(folder)
    except cache.CacheError as error:
        return BakeState('DAMAGED', str(error))
    if manifest is None:
        return BakeState('EMPTY', "Nothing is baked yet")
    baked = len(manifest.particles)
    changed = changed_settings(simulation, folder)
    if changed:
        return BakeState('OUTDATED', f"Changed since the bake: {changed}")
    first, last = frames.bake_range(simulation)
    missing = sum(1 for frame in range(first, last + 1) if frame not in manifest.particles)
    if missing:
        return BakeState('PARTIAL', f"{text.count(last - first + 1 - missing)} of {text.count(last - first + 1)} "
                                    "frames are baked")
    return BakeState('COMPLETE', f"All {text.plural(last - first + 1, 'frame')} are baked, "
                                 f"{text.size(manifest.byte_count)}" if baked > 1 else "The frame is baked")


def _missing_grains(simulation: Simulation, folder: Path, first: int, last: int) -> str:
    """What is missing of the render grains, in words; '' when nothing is."""
    grains = cache.read_manifest(cache.grains_folder(folder))
    if grains is None:
        return "the render grains are not baked yet"
    document = job_files.read_document(cache.job_folder(folder)) or {}
    if document.get("upsample") != job_files.describe(job_builder.settings_only(simulation)).document.get("upsample"):
        return "the render grains were baked with other settings"
    missing = sum(1 for frame in range(first, last + 1) if frame not in grains.particles)
    return f"render grains are missing in {text.plural(missing, 'frame')}" if missing else ""


def changed_settings(simulation: Simulation, folder: Path) -> str:
    """Settings that differ from the baked ones, or what the last attempt to resume found; '' when none are known."""
    document = job_files.read_document(cache.job_folder(folder))
    found = []
    if document is not None:
        found = job_files.changed_settings(job_files.describe(job_builder.settings_only(simulation)).document, document)
    if folder in runtime.state.outdated:
        found.append(runtime.state.outdated[folder])
    return text.listing(found) if found else ""
