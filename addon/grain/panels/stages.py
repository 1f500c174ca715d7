# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of a bake, and their statistics."""
from bpy.types import Context, UILayout

from .. import runtime
from ..engine import bake_log, cache, door, text
from ..scene import paths, simulations
from ..scene.manage import bake_state
from ..scene.show import volumes
from ..scene.simulations import Simulation
from .text import draw_wrapped

_summaries: dict[str, tuple[int, dict[str, bake_log.Summary]]] = {}  # by path, with the time the file was written


def draw_stages(layout: UILayout, context: Context) -> None:
    simulation = simulations.active(context.scene)
    for stage, label, (kind, words), possible in _states(simulation):
        row = layout.row(align=True)
        row.use_property_split = False
        button = row.row(align=True)
        button.enabled = possible
        button.operator("grain.bake_stage", text=f"{'Resume' if kind == 'PARTIAL' else 'Bake'} {label}",
                        icon='PLAY' if kind == 'PARTIAL' else 'PHYSICS').stage = stage
        bin_button = row.row(align=True)
        bin_button.enabled = kind != 'EMPTY'
        bin_button.operator("grain.free_stage", text="", icon='TRASH').stage = stage
        draw_wrapped(layout, context, words, icon='CHECKMARK' if kind == 'COMPLETE' else 'NONE')
    layout.separator()
    layout.operator("grain.bake_from", icon='TIME')
    layout.operator("grain.bake_all", icon='RENDER_ANIMATION')


def _states(simulation: Simulation) -> list[tuple[str, str, tuple[str, str], bool]]:
    """Of each stage: what it is, how far it is, and whether it can be baked now."""
    folder = paths.cache_folder(simulation)
    baked = paths.holds_cache(folder)
    first, grains, volume = bake_state.of_bake(simulation), bake_state.of_grains(simulation), volumes.condition(simulation)
    idle = not runtime.is_baking()
    return [('SIMULATE', "Simulation", (first.kind, first.text), idle and first.kind not in ('COMPLETE', 'OUTDATED', 'DAMAGED')),
            ('GRAINS', "Render Grains", (grains.kind, grains.text),
             idle and baked and simulation.use_upsample and grains.kind != 'COMPLETE'),
            ('VOLUME', "Volume", volume, idle and baked and volume[0] != 'COMPLETE')]


def draw_statistics(layout: UILayout, context: Context) -> None:
    simulation = simulations.active(context.scene)
    found = _read(paths.cache_folder(simulation) / bake_log.FILE)
    if not found:
        draw_wrapped(layout, context, "Nothing is baked yet")
    for stage, summary in found.items():
        draw_wrapped(layout, context, f"{stage}: {text.plural(summary.frames, 'frame')} in {text.duration(summary.seconds)}, "
                                      f"{text.plural(summary.particles, 'grain' if stage == 'Making grains' else 'particle')}")
        draw_wrapped(layout, context, f"Slowest: frame {summary.slowest_frame}, "
                                      f"{text.per_frame(summary.slowest_seconds)}")
        if summary.deepest_overlap is not None and summary.substeps_per_frame > 0.0:
            draw_wrapped(layout, context, f"{summary.substeps_per_frame:.0f} substeps per frame; deepest overlap "
                                          f"{summary.deepest_overlap:.0%} of a radius")
    row = layout.row(align=True)
    row.operator("grain.statistics_export", text="Export CSV", icon='EXPORT')
    row.operator("grain.log_show", text="Log", icon='TEXT')


def _read(path: cache.Path) -> dict[str, bake_log.Summary]:
    """Parsed again only when the file changed: panels ask at every redraw."""
    try:
        stamp = door.state(path).st_mtime_ns
    except OSError:
        return {}
    remembered = _summaries.get(str(path))
    if remembered is None or remembered[0] != stamp:
        remembered = (stamp, bake_log.summaries(bake_log.read(path)))
        _summaries[str(path)] = remembered
    return remembered[1]
