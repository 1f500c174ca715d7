# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints made to harm, every checksum right: what no solver can have saved."""
from __future__ import annotations

from collections.abc import Iterator

import watch
from changes import HUGE, INF, NAN, Change, entry, every, field, forge_in, shifted, twice, value
from hostile import Case
from scenes import SOLVERS

DAMAGED = frozenset((watch.DAMAGED,))

# What no solver can have saved, as NAME: change.
COMMON: dict[str, Change] = {
    **{f"sim.time {n}": value("sim.time", n) for n in (NAN, INF, -INF, -1.0, 1e300)},
    **{f"sim.frame_done {n}": value("sim.frame_done", n) for n in (NAN, INF, -1.0)},
    **{f"sim.substep {n}": value("sim.substep", n) for n in (-1, -HUGE)},
    **{f"sim.slot {n}": value("sim.slot", n) for n in (-1, HUGE)},
    **{f"sim.flow_began {n}": value("sim.flow_began", n) for n in (NAN, INF, -1.0, 1.0)},
    **{f"sim.material {n}": value("sim.material", n) for n in (-1, 255, HUGE)},
    **{f"sim.birth_time {n}": value("sim.birth_time", n) for n in (NAN, INF)},
    **{f"sim.gone {n}": value("sim.gone", n) for n in (-1, HUGE)},
    "sim.gone_place nan": value("sim.gone_place", NAN),
    "rigid.time nan": value("rigid.time", NAN),
    "rigid.objects nan": every("rigid.objects", NAN),
    "rigid.objects infinite": every("rigid.objects", INF),
    "time nan": field("time", NAN),
    "time infinite": field("time", INF),
    "no particles": field("particles", 0),
    "a particle more": shifted("particles", 1),
    "a particle fewer": shifted("particles", -1),
    "2^40 particles": field("particles", 1 << 40),
    "no columns": field("columns", 0),
    "sim.time missing": entry("sim.time", "name", b"sim.tame"),
    "sim.time of integers": entry("sim.time", "type", 1),
    "sim.material empty": entry("sim.material", "count", 0),
    "sim.material of three": entry("sim.material", "components", 3),
}
OF_DEM: dict[str, Change] = {
    **{f"dem.id {n}": value("dem.id", n) for n in (-1, HUGE, -HUGE)},
    "dem.id twice": twice("dem.id"),
    "dem.balls nan": value("dem.balls", NAN),
    "dem.balls infinite": every("dem.balls", INF),
    **{f"dem.wall_ball {n}": value("dem.wall_ball", n) for n in (-1, HUGE)},
    **{f"dem.wall_collider {n}": value("dem.wall_collider", n) for n in (-1, HUGE, 99)},
    "dem.balls empty": entry("dem.balls", "count", 0),
    "dem.force nan": value("dem.force", NAN),
    "dem.wall_normal_x nan": value("dem.wall_normal_x", NAN),
    "dem.quiet -1": value("dem.quiet", -1),
}
OF: dict[str, dict[str, Change]] = {
    "mpm": {
        "mpm.particles nan": value("mpm.particles", NAN),
        "mpm.particles infinite": every("mpm.particles", INF),
        "mpm.particles empty": entry("mpm.particles", "count", 0),
        "mpm.particles 1e30": every("mpm.particles", 1e30),
        "mpm.particles of 35": entry("mpm.particles", "components", 35),
    },
    "dem": {**OF_DEM, "a ball of no grain": value("dem.balls", 0.0, 11)},
    "clumps": {
        **OF_DEM,
        **{f"dem.grain_id {n}": value("dem.grain_id", n) for n in (-1, HUGE)},
        "dem.grain_id twice": twice("dem.grain_id"),
        "dem.grains nan": value("dem.grains", NAN),
        "dem.grains empty": entry("dem.grains", "count", 0),
        "a single ball": value("dem.balls", 1.0, 11),
    },
}
for _name, _prefix in (("sph", "sph"), ("ihmsen2013", "sph"), ("meso", "meso")):
    OF[_name] = {
        **{f"{_prefix}.id {n}": value(f"{_prefix}.id", n) for n in (-1, HUGE, -HUGE)},
        f"{_prefix}.id twice": twice(f"{_prefix}.id"),
        f"{_prefix}.fields nan": value(f"{_prefix}.fields", NAN),
        f"{_prefix}.fields infinite": every(f"{_prefix}.fields", INF),
        f"{_prefix}.fields empty": entry(f"{_prefix}.fields", "count", 0),
        f"{_prefix}.fields of 63": entry(f"{_prefix}.fields", "components", 63),
        f"{_prefix}.listed_x nan": value(f"{_prefix}.listed_x", NAN),
        f"{_prefix}.fastest nan": value(f"{_prefix}.fastest", NAN),
    }


def cases() -> Iterator[Case]:
    """An error that names the checkpoint, or a warning that does and the frames of an undisturbed bake."""
    for scene in SOLVERS:
        for name, change in {**COMMON, **OF[scene]}.items():
            yield Case(
                f"{scene} checkpoint: {name}",
                "bake",
                forge_in("checkpoint.grain", change),
                DAMAGED | {watch.DONE},
                "checkpoint",
                "half",
                scene,
                same_bytes=True,
                warns="checkpoint",
            )
