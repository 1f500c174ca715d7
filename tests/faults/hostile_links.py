# SPDX-License-Identifier: GPL-3.0-or-later
"""Links, pipes, sockets, devices and folders where files of a cache or a job are expected."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import watch
from hostile import REFUSED, Case
from kinds_strange import THINGS, plant_thing

DONE = frozenset((watch.DONE,))
# Where the thing stands, what runs, what starts it. What a half-baked cache lacks is written next.
READ = (  # must be there: an error names it
    ("lock", "bake", "half"),
    ("lock", "gc", "whole"),
    ("lock", "repair", "whole"),
    ("grains/lock", "upsample", "whole"),
    ("volume/lock", "volume", "whole"),
    ("cache.json", "bake", "half"),
    ("cache.json", "verify", "whole"),
    ("cache.json", "info", "whole"),
    ("cache.json", "gc", "whole"),
    ("checkpoint.grain", "verify", "whole"),
    ("checkpoint_000002.grain", "verify", "whole"),
    ("coarse_000003.grain", "verify", "whole"),
    ("coarse_000003.grain", "info", "whole"),
    ("coarse_000003.grain", "export", "whole"),
    ("coarse_000003.grain", "upsample", "whole"),
    ("coarse_000003.grain", "volume", "whole"),
    ("birth_000001.grain", "verify", "whole"),
    ("birth_000001.grain", "upsample", "whole"),
    ("grains/cache.json", "verify", "whole"),
    ("grains/grains_000003.grain", "verify", "whole"),
    ("grains/birth_000001.grain", "verify", "whole"),
    ("volume/cache.json", "verify", "whole"),
    ("volume/volume_0003.vdb", "verify", "whole"),
)
LEFT_OVER = (  # of an interrupted write: it is removed, and only a folder is in the way
    ("cache.json.part", "bake", "half"),
    ("coarse_000005.grain.part", "bake", "half"),
    ("birth_000005.grain.part", "bake", "half"),
    ("checkpoint.grain.part", "bake", "half"),
    ("grains/cache.json.part", "upsample", "whole"),
    ("volume/volume_0001.vdb.part", "volume", "whole"),
)
MADE_AGAIN = (  # or an error, if that is not possible
    ("checkpoint.grain", "bake", "half"),
    ("coarse_000003.grain", "bake", "half"),
    ("birth_000002.grain", "bake", "half"),
    ("coarse_000005.grain", "bake", "half"),
)
ANY = (  # no harm, whatever the end
    ("grains", "upsample", "whole"),
    ("grains", "gc", "whole"),
    ("grains", "verify", "whole"),
    ("grains", "repair", "whole"),
    ("volume", "volume", "whole"),
    ("volume", "gc", "whole"),
    ("sdf", "bake", "half"),
    ("sdf", "gc", "whole"),
    ("log.jsonl", "bake", "half"),
    ("coarse_000009.grain", "gc", "whole"),
)
JOB = (("job.json", "bake", "none"), ("geometry.bin", "bake", "none"))
FOLDERS = ("grains", "volume", "sdf")


def in_cache(thing: str, spot: str) -> Callable[[watch.World], object]:
    return lambda world: plant_thing(thing, world.cache / spot, world)


def in_job(thing: str, spot: str) -> Callable[[watch.World], object]:
    return lambda world: plant_thing(thing, world.job / spot, world)


def fits(thing: str, spot: str) -> bool:
    """A folder where a folder belongs is no harm, and links to two kinds of folders are one for a file."""
    return thing != ("folder" if spot in FOLDERS else "link to a folder of frames")


def cases() -> Iterator[Case]:
    for thing in THINGS:
        for spot, command, start in READ:
            if fits(thing, spot):
                yield Case(
                    f"{thing} at {spot}",
                    command,
                    in_cache(thing, spot),
                    REFUSED,
                    Path(spot).name,
                    start,
                    inside=str(Path(spot).parent),
                )
        for spot, command, start in LEFT_OVER:
            if fits(thing, spot):
                yield Case(
                    f"{thing} at {spot}",
                    command,
                    in_cache(thing, spot),
                    REFUSED if thing == "folder" else DONE,
                    Path(spot).name.removesuffix(".part"),
                    start,
                    inside=str(Path(spot).parent),
                )
        for spot, command, start in MADE_AGAIN:
            if fits(thing, spot):
                yield Case(
                    f"{thing} at {spot}",
                    command,
                    in_cache(thing, spot),
                    REFUSED | DONE,
                    Path(spot).name.split("_")[0].split(".")[0],
                    start,
                    same_bytes=True,
                )
        for spot, command, start in ANY:
            if fits(thing, spot):
                yield Case(f"{thing} at {spot}", command, in_cache(thing, spot), REFUSED | DONE, Path(spot).name, start)
        for spot, command, start in JOB:
            if fits(thing, spot):
                yield Case(f"{thing} at job/{spot}", command, in_job(thing, spot), REFUSED, spot, start)
