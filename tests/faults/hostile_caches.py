# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints, frames, births, distance fields, lists and locks made to harm, every checksum right."""
from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator

import forge
import watch
from hostile import REFUSED, Case
from scenes import SOLVERS

NAN, INF = math.nan, math.inf
HUGE = 2**31 - 1
DAMAGED = frozenset((watch.DAMAGED,))
Change = Callable[[forge.File], None]


# --- changes --------------------------------------------------------------------------------------

def value(column: str, number: float, index: int = 0) -> Change:
    return lambda file: file.set_value(column, index, number)


def every(column: str, number: float) -> Change:
    return lambda file: file.set_all(column, number)


def twice(column: str) -> Change:
    return lambda file: file.set_value(column, 0, file.values(column)[1])


def field(name: str, number: object) -> Change:
    return lambda file: file.put(name, number)


def entry(column: str, name: str, number: object) -> Change:
    return lambda file: file.put_entry(column, name, number)


def block(name: str, number: object) -> Change:
    return lambda file: file.put_block(0, name, number)


def keyed(frame: int) -> Change:
    """The first block is the same as that of another frame."""
    def change(file: forge.File) -> None:
        file.put_block(0, "mode", 3)
        file.put_block(0, "key_frame", frame)
    return change


def shifted(name: str, by: int) -> Change:
    return lambda file: file.put(name, file.get(name) + by)


def rubbish(file: forge.File) -> None:
    file.data[file.head:] = os.urandom(len(file.data) - file.head)


# --- checkpoints ----------------------------------------------------------------------------------

# What no solver can have saved, as NAME: change.
COMMON: dict[str, Change] = {
    **{f"sim.time {n}": value("sim.time", n) for n in (NAN, INF, -INF, -1.0, 1e300)}, **{f"sim.frame_done {n}": value("sim.frame_done", n) for n in (NAN, INF, -1.0)},
    **{f"sim.substep {n}": value("sim.substep", n) for n in (-1, -HUGE)}, **{f"sim.slot {n}": value("sim.slot", n) for n in (-1, HUGE)},
    **{f"sim.material {n}": value("sim.material", n) for n in (-1, 255, HUGE)}, **{f"sim.birth_time {n}": value("sim.birth_time", n) for n in (NAN, INF)},
    **{f"sim.gone {n}": value("sim.gone", n) for n in (-1, HUGE)}, "sim.gone_place nan": value("sim.gone_place", NAN),
    "rigid.time nan": value("rigid.time", NAN), "rigid.objects nan": every("rigid.objects", NAN), "rigid.objects infinite": every("rigid.objects", INF),
    "time nan": field("time", NAN), "time infinite": field("time", INF), "no particles": field("particles", 0), "a particle more": shifted("particles", 1),
    "a particle fewer": shifted("particles", -1), "2^40 particles": field("particles", 1 << 40), "no columns": field("columns", 0),
    "sim.time missing": entry("sim.time", "name", b"sim.tame"), "sim.time of integers": entry("sim.time", "type", 1), "sim.material empty": entry("sim.material", "count", 0),
    "sim.material of three": entry("sim.material", "components", 3),
}
OF_DEM: dict[str, Change] = {
    **{f"dem.id {n}": value("dem.id", n) for n in (-1, HUGE, -HUGE)}, "dem.id twice": twice("dem.id"), "dem.balls nan": value("dem.balls", NAN),
    "dem.balls infinite": every("dem.balls", INF), **{f"dem.wall_ball {n}": value("dem.wall_ball", n) for n in (-1, HUGE)},
    **{f"dem.wall_collider {n}": value("dem.wall_collider", n) for n in (-1, HUGE, 99)}, "dem.balls empty": entry("dem.balls", "count", 0),
    "dem.force nan": value("dem.force", NAN), "dem.wall_normal_x nan": value("dem.wall_normal_x", NAN), "dem.quiet -1": value("dem.quiet", -1),
}
OF: dict[str, dict[str, Change]] = {
    "mpm": {"mpm.particles nan": value("mpm.particles", NAN), "mpm.particles infinite": every("mpm.particles", INF), "mpm.particles empty": entry("mpm.particles", "count", 0),
            "mpm.particles 1e30": every("mpm.particles", 1e30), "mpm.particles of 35": entry("mpm.particles", "components", 35)},
    "dem": OF_DEM,
    "clumps": {**OF_DEM, **{f"dem.grain_id {n}": value("dem.grain_id", n) for n in (-1, HUGE)}, "dem.grain_id twice": twice("dem.grain_id"),
               "dem.grains nan": value("dem.grains", NAN), "dem.grains empty": entry("dem.grains", "count", 0)},
}
for _name, _prefix in (("sph", "sph"), ("ihmsen2013", "sph"), ("meso", "meso")):
    OF[_name] = {**{f"{_prefix}.id {n}": value(f"{_prefix}.id", n) for n in (-1, HUGE, -HUGE)}, f"{_prefix}.id twice": twice(f"{_prefix}.id"),
                 f"{_prefix}.fields nan": value(f"{_prefix}.fields", NAN), f"{_prefix}.fields infinite": every(f"{_prefix}.fields", INF),
                 f"{_prefix}.fields empty": entry(f"{_prefix}.fields", "count", 0), f"{_prefix}.fields of 63": entry(f"{_prefix}.fields", "components", 63),
                 f"{_prefix}.listed_x nan": value(f"{_prefix}.listed_x", NAN), f"{_prefix}.fastest nan": value(f"{_prefix}.fastest", NAN)}


def forge_in(name: str, change: Change, *, keeps_blocks: bool = False) -> Callable[[watch.World], None]:
    def prepare(world: watch.World) -> None:
        path = world.cache / name
        file = forge.File(path.read_bytes())
        change(file)
        forge.plant(path, file.sealed_head() if keeps_blocks else file.sealed())
    return prepare


def checkpoints() -> Iterator[Case]:
    """An error that names the checkpoint, or a warning that does and the frames of an undisturbed bake."""
    for scene in SOLVERS:
        for name, change in {**COMMON, **OF[scene]}.items():
            yield Case(f"{scene} checkpoint: {name}", "bake", forge_in("checkpoint.grain", change), DAMAGED | {watch.DONE}, "checkpoint", "half", scene,
                       same_bytes=True, warns="checkpoint")


# --- frames, births, distance fields ---------------------------------------------------------------

STRUCTURE: dict[str, Change] = {
    "format 0": field("format", 0), "format 99": field("format", 99), "another frame": field("frame", 4), "time nan": field("time", NAN), "particles -1": field("particles", -1),
    "2^62 particles": field("particles", 1 << 62), "no particles": field("particles", 0), "no columns": field("columns", 0), "65 columns": field("columns", 65),
    "2^32 - 1 columns": field("columns", 2**32 - 1), "another size": field("bytes", 64), "2^63 bytes": field("bytes", 1 << 63),
}


def of_column(column: str) -> dict[str, Change]:
    return {f"{column}.{name} {number}": entry(column, name, number) for name, numbers in (
        ("type", (4, 2**32 - 1)), ("components", (0, 65, 2**32 - 1)), ("offset", (1, 1 << 40, 2**64 - 64)), ("count", (1 << 40, 2**63, 2**64 - 1)),
        ("name", (b"x" * 32,))) for number in numbers}


PACKED: dict[str, Change] = {
    **{name: change for name, change in STRUCTURE.items() if name != "another frame"},
    **{f"chunks {n}": field("chunks", n) for n in (0, 2**32 - 1, 1 << 20)}, "position.type 9": entry("position", "type", 9), "position.components 0": entry("position", "components", 0),
    "position.components 17": entry("position", "components", 17), "position.coding 9": entry("position", "coding", 9), "position.step nan": entry("position", "step", NAN),
    "position.step infinite": entry("position", "step", INF), "position.step -1": entry("position", "step", -1.0),
    **{f"block offset {n}": block("offset", n) for n in (0, 1 << 40, 2**64 - 1)}, **{f"block bytes {n}": block("bytes", n) for n in (2**32 - 1, 1)},
    **{f"block mode {n}": block("mode", n) for n in (4, 255)}, "block coding 9": block("coding", 9), "a key that is missing": keyed(99), "a key that is itself": keyed(3), "a key in the future": keyed(5),
    "block checksum": block("checksum", 1),
}
PLACES: dict[str, dict[str, Change]] = {
    "coarse_000003.grain": {f"{column} {n}": value(column, n) for column in ("position", "velocity", "radius", "birth_time", "body.position", "body.orientation", "body.velocity")
                            for n in (NAN, INF)},
    "birth_000001.grain": {**{f"rest {n}": value("rest", n) for n in (NAN, INF)}, **{f"source_id {n}": value("source_id", n) for n in (-1, HUGE)}},
}
FIELDS: dict[str, Change] = {
    "nodes -9": value("nodes", -9), "nodes 2^31 - 1": every("nodes", HUGE), "nodes in a circle": every("nodes", 0), "keys all alike": every("keys", 0),
    "lattice -1": every("lattice", -1), "lattice 2^31 - 1": every("lattice", HUGE), "head nan": every("head", NAN), "head infinite": every("head", INF),
    "values nan": every("values", NAN), "no blocks": field("particles", 0), "2^40 blocks": field("particles", 1 << 40), "no nodes": entry("nodes", "count", 0),
}


def forge_fields(change: Change) -> Callable[[watch.World], None]:
    def prepare(world: watch.World) -> None:
        path = sorted((world.cache / "sdf").iterdir(), key=lambda p: p.stat().st_size)[0]
        file = forge.File(path.read_bytes())
        change(file)
        path.write_bytes(file.sealed())
    return prepare


def frames() -> Iterator[Case]:
    for name, change in {**STRUCTURE, **of_column("position")}.items():
        yield Case(f"frame: {name}", "verify", forge_in("coarse_000003.grain", change), DAMAGED, "3")
    for name, change in {**{k: v for k, v in STRUCTURE.items() if k != "another frame"}, **of_column("rest")}.items():
        yield Case(f"birth: {name}", "verify", forge_in("birth_000001.grain", change), DAMAGED, "1")
    for name, change in PACKED.items():
        yield Case(f"grains: {name}", "verify", forge_in("grains/grains_000003.grain", change, keeps_blocks=True), DAMAGED, "3")
    yield Case("grains: rubbish in the blocks", "verify", forge_in("grains/grains_000003.grain", rubbish), DAMAGED, "3")
    for file, changes in PLACES.items():
        for name, change in changes.items():
            yield Case(f"{file}: {name}", "upsample", forge_in(file, change), DAMAGED, file.split("_")[0] if "birth" in file else "3")
    for name, change in FIELDS.items():
        yield Case(f"distance field: {name}", "bake", forge_fields(change), {watch.DONE}, start="fields", same_bytes=True)


# --- lists and locks ------------------------------------------------------------------------------

LIST: dict[str, tuple[object, ...]] = {  # the place of a value in cache.json, and what it cannot be
    "format": (0, 1, 99, -1, "2", None), "library": (3, None), "job": (3, None, []), "fingerprint": ("", "x", "0" * 31, 3, None), "settings": (3, [], "x"),
    "fps": (0, -1, 1e308, "x", None), "frame_start": ("x", None, 2**31, -(2**31)), "frame_end": ("x", None, 2**40, -(2**31)), "streams": (None, [], 3, "coarse"),
    "streams.coarse": (None, 3), "bodies": (3, [3], [None], {}), "births": (3, {}, [3], [{}], [None]), "frames": (None, {}, [3], [{}], "x", [None]),
    "frames.2.frame": (-1, 2, 1, 2**31, "3", None, 99), "frames.2.particles": (-1, 2**62, 0, "x"), "frames.2.bytes": (-1, 2**62, 1, "x"),
    "frames.2.checksum": ("", "x" * 16, "0" * 17, 3, "-000000000000001"), "births.1.frame": (-1, 0, 1, 2**31), "births.1.particles": (-1, 2**62), "births.1.bytes": (-1, 1),
}
OF_VOLUMES: dict[str, tuple[object, ...]] = {
    "streams.volume.voxel_size": (-1, 1e308, "x"), "streams.volume.number_shift": (2**31, 0.5, 2**31 - 1, "x"), "streams.volume.grids": (3, ["x"], [3], []),
}
TEXTS: dict[str, bytes] = {
    "nothing": b"", "null": b"null", "a list": b"[]", "zeros": bytes(4096), "bad UTF-8": b'{"format": 2, "job": "\xff"}', "deep lists": b"[" * 200000, "half": b'{"format": 2, ',
    "no checksum": b'{"format": 2}', "another file": b"GRAINPTS" + bytes(120),
}
LOCKS: dict[str, bytes] = {
    "nothing": b"", "rubbish": bytes(range(256)), "escape codes": b"process 1 on \x1b[2J\x1b]0;owned\x07 (user x, since 2020-01-01 00:00:00 UTC)\n0123456789abcdef system\n",
    "a megabyte": b"x" * (1 << 20), "process 0": b"process 0 on here (user x, since now)\n", "process -1": b"process -1 on here (user x, since now)\n",
    "process 2^63": b"process 9223372036854775808 on here (user x, since now)\n", "no end": b"process", "lines": b"\n" * 5000, "zeros": bytes(4096),
}
SHOWN = "a\x1b[2J\x1b]0;owned\x07b\u202ec"


def change_list(place: str, number: object, folder: str = "") -> Callable[[watch.World], None]:
    def prepare(world: watch.World) -> None:
        manifest = forge.Manifest(world.cache / folder)
        *inside, last = [int(word) if word.isdigit() else word for word in place.split(".")]
        holder = manifest.data
        for key in inside:
            holder = holder[key]
        holder[last] = number
        manifest.write()
    return prepare


def many(key: str, count: int) -> Callable[[watch.World], None]:
    def prepare(world: watch.World) -> None:
        manifest = forge.Manifest(world.cache)
        rows = {"bodies": [f"Body {i}" for i in range(count)], "settings": {f"key {i}": i for i in range(count)},
                "frames": [{"frame": i + 1, "particles": 1, "bytes": 1, "checksum": "0" * 16} for i in range(count)]}
        manifest.data[key] = rows[key]
        manifest.write(json.dumps(manifest.data, separators=(",", ":")))
    return prepare


def put(name: str, content: bytes) -> Callable[[watch.World], None]:
    return lambda world: (world.cache / name).write_bytes(content) and None


def lists() -> Iterator[Case]:
    for place, numbers in LIST.items():
        for number in numbers:
            yield Case(f"cache.json: {place} is {str(number)[:20]!r}", "verify", change_list(place, number), DAMAGED)
    for place, numbers in OF_VOLUMES.items():
        for number in numbers:
            yield Case(f"volume/cache.json: {place} is {str(number)[:20]!r}", "verify", change_list(place, number, "volume"), DAMAGED)
    for name, content in TEXTS.items():
        for command in ("bake", "info"):
            yield Case(f"cache.json is {name}", command, put("cache.json", content), REFUSED, "cache.json")
    for place in ("job", "library", "bodies.0", "births"):
        yield Case(f"escape codes in {place}", "info", change_list(place, SHOWN), {watch.DONE, watch.DAMAGED})
    yield Case("escape codes in settings", "info", change_list("settings", {SHOWN: SHOWN}), {watch.DONE, watch.DAMAGED})
    for key, count in (("bodies", 1_000_000), ("settings", 200_000), ("frames", 100_000)):
        yield Case(f"{count} {key}", "verify", many(key, count), {watch.DONE, watch.DAMAGED})
        yield Case(f"{count} {key}", "bake", many(key, count), {watch.DONE, *REFUSED})
    for name, content in LOCKS.items():
        for way in ("system", "heartbeat"):
            environment = (("GRAIN_LOCK", "heartbeat"),) if way == "heartbeat" else ()
            yield Case(f"a lock of {name}, by {way}", "bake", put("lock", content), {watch.DONE, watch.BUSY}, start="half", environment=environment)


def cases() -> Iterator[Case]:
    for part in (checkpoints, frames, lists):
        yield from part()
