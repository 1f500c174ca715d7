# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames, births, render grains and distance fields made to harm, every checksum right."""
from __future__ import annotations

from collections.abc import Callable, Iterator

import forge
import watch
from changes import HUGE, INF, NAN, Change, block, entry, every, field, forge_in, keyed, rubbish, value
from hostile import Case

DAMAGED = frozenset((watch.DAMAGED,))

STRUCTURE: dict[str, Change] = {
    "format 0": field("format", 0),
    "format 99": field("format", 99),
    "another frame": field("frame", 4),
    "time nan": field("time", NAN),
    "particles -1": field("particles", -1),
    "2^40 particles": field("particles", 1 << 40),  # more would not pass the list
    "no particles": field("particles", 0),
    "no columns": field("columns", 0),
    "65 columns": field("columns", 65),
    "2^32 - 1 columns": field("columns", 2**32 - 1),
    "another size": field("bytes", 64),
    "2^63 bytes": field("bytes", 1 << 63),
}


def of_column(column: str) -> dict[str, Change]:
    return {
        f"{column}.{name} {number}": entry(column, name, number)
        for name, numbers in (
            ("type", (4, 2**32 - 1)),
            ("components", (0, 65, 2**32 - 1)),
            ("offset", (1, 1 << 40, 2**64 - 64)),
            ("count", (1 << 40, 2**63, 2**64 - 1)),
            ("name", (b"x" * 32,)),
        )
        for number in numbers
    }


PACKED: dict[str, Change] = {
    **{name: change for name, change in STRUCTURE.items() if name != "another frame"},
    **{f"chunks {n}": field("chunks", n) for n in (0, 2**32 - 1, 1 << 20)},
    "position.type 9": entry("position", "type", 9),
    "position.components 0": entry("position", "components", 0),
    "position.components 17": entry("position", "components", 17),
    "position.coding 9": entry("position", "coding", 9),
    "position.step nan": entry("position", "step", NAN),
    "position.step infinite": entry("position", "step", INF),
    "position.step -1": entry("position", "step", -1.0),
    **{f"block offset {n}": block("offset", n) for n in (0, 1 << 40, 2**64 - 1)},
    **{f"block bytes {n}": block("bytes", n) for n in (2**32 - 1, 1)},
    **{f"block mode {n}": block("mode", n) for n in (4, 255)},
    "block coding 9": block("coding", 9),
    "a key that is missing": keyed(99),
    "a key that is itself": keyed(3),
    "a key in the future": keyed(5),
    "block checksum": block("checksum", 1),
}
PLACES: dict[str, dict[str, Change]] = {
    "coarse_000003.grain": {
        f"{column} {n}": value(column, n)
        for column in (
            "position",
            "velocity",
            "radius",
            "birth_time",
            "body.position",
            "body.orientation",
            "body.velocity",
        )
        for n in (NAN, INF)
    },
    "birth_000001.grain": {
        **{f"rest {n}": value("rest", n) for n in (NAN, INF)},
        **{f"source_id {n}": value("source_id", n) for n in (-1, HUGE)},
    },
}
FIELDS: dict[str, Change] = {
    "nodes -9": value("nodes", -9),
    "nodes 2^31 - 1": every("nodes", HUGE),
    "nodes in a circle": every("nodes", 0),
    "keys all alike": every("keys", 0),
    "lattice -1": every("lattice", -1),
    "lattice 2^31 - 1": every("lattice", HUGE),
    "head nan": every("head", NAN),
    "head infinite": every("head", INF),
    "values nan": every("values", NAN),
    "no blocks": field("particles", 0),
    "2^40 blocks": field("particles", 1 << 40),
    "no nodes": entry("nodes", "count", 0),
}


def forge_fields(change: Change) -> Callable[[watch.World], object]:
    def prepare(world: watch.World) -> None:
        path = sorted((world.cache / "sdf").iterdir(), key=lambda p: p.stat().st_size)[0]
        file = forge.File(path.read_bytes())
        change(file)
        path.write_bytes(file.sealed())

    return prepare


def cases() -> Iterator[Case]:
    for name, change in {**STRUCTURE, **of_column("position")}.items():
        yield Case(f"frame: {name}", "verify", forge_in("coarse_000003.grain", change), DAMAGED, "coarse_000003.grain")
    for name, change in {**{k: v for k, v in STRUCTURE.items() if k != "another frame"}, **of_column("rest")}.items():
        yield Case(f"birth: {name}", "verify", forge_in("birth_000001.grain", change), DAMAGED, "birth_000001.grain")
    for name, change in PACKED.items():
        yield Case(
            f"grains: {name}", "verify", forge_in("grains/grains_000003.grain", change, keeps_blocks=True), DAMAGED, "grains_000003.grain"
        )
    yield Case("grains: rubbish in the blocks", "verify", forge_in("grains/grains_000003.grain", rubbish), DAMAGED, "grains_000003.grain")
    for file, changes in PLACES.items():
        for name, change in changes.items():
            yield Case(
                f"{file}: {name}",
                "upsample",
                forge_in(file, change),
                DAMAGED,
                file,
            )
    # Far away or fast, but numbers: refused or refined, in time.
    for number in (1e6, 9e14, 3e38):
        for column in ("position", "velocity"):
            yield Case(
                f"coarse_000003.grain: all {column} {number}",
                "upsample",
                forge_in("coarse_000003.grain", every(column, number)),
                DAMAGED | {watch.DONE},
            )
    for name, change in FIELDS.items():
        yield Case(
            f"distance field: {name}", "bake", forge_fields(change), {watch.DONE}, start="fields", same_bytes=True
        )
