# SPDX-License-Identifier: GPL-3.0-or-later
"""Links, pipes, sockets, devices and folders where files of a cache or a job are expected."""
from __future__ import annotations

import os
import time
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
SHARED = (  # a file of the cache that has another name outside it (a hard link), where nobody may change it
    ("lock", "bake", "half"),
    ("lock", "gc", "whole"),
    ("lock", "repair", "whole"),
    ("cache.json", "bake", "half"),
    ("checkpoint.grain", "bake", "half"),
    ("coarse_000003.grain", "bake", "half"),
    ("grains/lock", "upsample", "whole"),
    ("grains/cache.json", "repair", "whole"),
    ("volume/lock", "volume", "whole"),
    ("volume/lock", "gc", "whole"),
)
HUGE = (
    ("job/job.json", "bake", "none", REFUSED),
    ("job/geometry.bin", "bake", "none", REFUSED),
    *(("cache/cache.json", command, "whole", REFUSED) for command in ("bake", "info", "verify", "gc", "repair")),
    ("cache/lock", "gc", "whole", DONE | {watch.BUSY}),
    ("cache/lock.part", "gc", "whole", DONE),
    ("cache/checkpoint.grain", "bake", "half", REFUSED | DONE),
    ("cache/checkpoint.grain", "verify", "whole", REFUSED),
    *(("cache/coarse_000003.grain", command, "whole", REFUSED) for command in ("verify", "info", "export", "upsample", "volume")),
    ("cache/birth_000001.grain", "upsample", "whole", REFUSED),
    ("cache/birth_000001.grain", "verify", "whole", REFUSED),
    ("cache/grains/grains_000003.grain", "verify", "whole", REFUSED),
    ("cache/grains/grains_000003.grain", "volume", "whole", REFUSED | DONE),
    ("cache/volume/volume_0003.vdb", "verify", "whole", REFUSED),
    ("cache/volume/volume_0003.vdb", "info", "whole", REFUSED),
    ("cache/volume/volume_0003.vdb", "repair", "whole", DONE),
    ("cache/log.jsonl", "bake", "half", DONE),
)
JOB = (("job.json", "bake", "none"), ("geometry.bin", "bake", "none"))
FOLDERS = ("grains", "volume", "sdf")


def in_cache(thing: str, spot: str) -> Callable[[watch.World], object]:
    return lambda world: plant_thing(thing, world.cache / spot, world)


def in_job(thing: str, spot: str) -> Callable[[watch.World], object]:
    return lambda world: plant_thing(thing, world.job / spot, world)


def share(spot: str, text: bytes | None) -> Callable[[watch.World], object]:
    """What is in the file stays; or a text that nobody has touched for a while, which is no lock any more."""

    def prepare(world: watch.World) -> None:
        path, outside = world.cache / spot, world.canary / "shared"
        path.parent.mkdir(exist_ok=True)
        if text is not None:
            path.write_bytes(text)
        os.utime(path, (time.time() - 1000,) * 2)
        outside.hardlink_to(path)

    return prepare


def terabyte(spot: str) -> Callable[[watch.World], object]:
    """Of nothing: it takes no room on a disk and comes along in an archive, but to read it takes an hour."""

    def prepare(world: watch.World) -> None:
        with open(world.folder / spot, "r+b" if (world.folder / spot).exists() else "xb") as file:
            file.truncate(1 << 40)

    return prepare


def fits(thing: str, spot: str) -> bool:
    """A folder where a folder belongs is no harm, and links to two kinds of folders are one for a file. A file at the
    name of a lock may be one."""
    if Path(spot).name == "lock" and thing == "another name of a file":
        return False
    return thing != ("folder" if spot in FOLDERS else "link to a folder of frames")


def shared_cases() -> Iterator[Case]:
    for spot, command, start in SHARED:
        for text in (None, b"years of work") if spot.endswith("lock") else (None,):
            yield Case(
                f"{spot} with another name outside: {'as it is' if text is None else 'somebody else'}",
                command,
                share(spot, text),
                DONE,
                start=start,
                inside=str(Path(spot).parent),
                same_bytes=True,
            )


def huge_cases() -> Iterator[Case]:
    for spot, command, start, codes in HUGE:
        name = Path(spot).name
        inside = "." if spot.startswith("job") else str(Path(spot).parent.relative_to("cache"))
        yield Case(f"a terabyte at {spot}", command, terabyte(spot), codes, name, start, inside=inside)


def cases() -> Iterator[Case]:
    yield from shared_cases()
    yield from huge_cases()
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
