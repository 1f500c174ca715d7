# SPDX-License-Identifier: GPL-3.0-or-later
"""cache.json and lock made to harm, the checksum of the list right."""
from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import forge
import watch
from hostile import REFUSED, Case

DAMAGED = frozenset((watch.DAMAGED,))

LIST: dict[str, tuple[object, ...]] = {  # the place of a value in cache.json, and what it cannot be
    "format": (0, 1, 99, -1, "2", None),
    "library": (3, None),
    "job": (3, None, []),
    "fingerprint": ("", "x", "0" * 31, "g" * 32, "A" * 32, 3, None),
    "settings": (3, [], "x", None),
    "fps": (0, -1, 1e308, "x", None),
    "frame_start": ("x", None, 2**31, -(2**31)),
    "frame_end": ("x", None, 2**40, -(2**31)),
    "streams": (None, [], {}, 3, "coarse", {"sand": {}}, {"coarse": {}, "grains": {}}),
    "streams.coarse": (None, 3),
    "streams.coarse.columns": (3, [3], None),
    "streams.coarse.bytes_per_particle": (-1, "x", 1e308, None),
    "bodies": (3, [3], [None], {}, ["a\nb"], None),
    "births": (3, {}, [3], [{}], [None], None),
    "frames": (None, {}, [3], [{}], "x", [None]),
    "frames.2.frame": (-1, 2, 1, 2**31, "3", None, 99),
    "frames.2.particles": (-1, 2**62, 0, "x"),
    "frames.2.bytes": (-1, 2**62, 1, "x"),
    "frames.2.checksum": ("", "x" * 16, "0" * 17, 3, "-000000000000001"),
    "births.1.frame": (-1, 0, 1, 2**31),
    "births.1.particles": (-1, 2**62),
    "births.1.bytes": (-1, 1),
    "births.1.checksum": ("", "x" * 16, "0x00000000000000", " 00000000000000f", None),
}
OF_VOLUMES: dict[str, tuple[object, ...]] = {
    "streams.volume.voxel_size": (-1, 0, 1e308, "x", None),
    "streams.volume.number_shift": (2**31, 0.5, 2**31 - 1, -1, "x", None),
    "streams.volume.grids": (3, ["x"], [3], [], ["dust", "dust"], ["dust"] * 1000, None),
}
TEXTS: dict[str, bytes] = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "zeros": bytes(4096),
    "bad UTF-8": b'{"format": 2, "job": "\xff"}',
    "deep lists": b"[" * 200000,
    "half": b'{"format": 2, ',
    "no checksum": b'{"format": 2}',
    "another file": b"GRAINPTS" + bytes(120),
}
LOCKS: dict[str, bytes] = {
    "nothing": b"",
    "rubbish": bytes(range(256)),
    "escape codes": b"process 1 on \x1b[2J\x1b]0;owned\x07 (user x, since 2020-01-01 00:00:00 UTC)\n01234567 system\n",
    "a megabyte": b"x" * (1 << 20),
    "process 0": b"process 0 on here (user x, since now)\n",
    "process -1": b"process -1 on here (user x, since now)\n",
    "process 2^63": b"process 9223372036854775808 on here (user x, since now)\n",
    "no end": b"process",
    "lines": b"\n" * 5000,
    "zeros": bytes(4096),
}
SHOWN = "a\x1b[2J\x1b]0;owned\x07b\u202ec"


def change_list(place: str, number: object, folder: str = "") -> Callable[[watch.World], object]:
    def prepare(world: watch.World) -> None:
        manifest = forge.Manifest(world.cache / folder)
        *inside, last = [int(word) if word.isdigit() else word for word in place.split(".")]
        holder = manifest.data
        for key in inside:
            holder = holder[key]
        holder[last] = number
        manifest.write()

    return prepare


def many(key: str, count: int) -> Callable[[watch.World], object]:
    def prepare(world: watch.World) -> None:
        manifest = forge.Manifest(world.cache)
        rows = {
            "bodies": [f"Body {i}" for i in range(count)],
            "settings": {f"key {i}": i for i in range(count)},
            "frames": [{"frame": i + 1, "particles": 1, "bytes": 1, "checksum": "0" * 16} for i in range(count)],
        }
        rows["births"] = rows["frames"]
        for each in key.split(" and "):
            manifest.data[each] = rows[each]
        manifest.write(json.dumps(manifest.data, separators=(",", ":")))

    return prepare


def put(name: str, content: bytes) -> Callable[[watch.World], object]:
    return lambda world: (world.cache / name).write_bytes(content)


def forged(folder: str, table: dict[str, tuple[object, ...]]) -> Iterator[Case]:
    """Each is named by its key, in the words of the list or of what contradicts it."""
    for place, numbers in table.items():
        key = [word for word in place.split(".") if not word.isdigit()][-1]
        for number in numbers:
            name = f"{folder}cache.json: {place} is {str(number)[:20]!r}"
            yield Case(name, "verify", change_list(place, number, folder), DAMAGED, key)


def cases() -> Iterator[Case]:
    yield from forged("", LIST)
    yield from forged("volume/", OF_VOLUMES)
    for name, content in TEXTS.items():
        for command in ("bake", "info"):
            yield Case(f"cache.json is {name}", command, put("cache.json", content), REFUSED, "cache.json")
    for place in ("job", "library", "bodies.0", "births"):
        yield Case(f"escape codes in {place}", "info", change_list(place, SHOWN), {watch.DONE, watch.DAMAGED})
    yield Case("escape codes in settings", "info", change_list("settings", {SHOWN: SHOWN}), {watch.DONE, watch.DAMAGED})
    for key, count in (("bodies", 1_000_000), ("settings", 200_000), ("births and frames", 50_000)):
        for command in ("verify", "info", "repair", "gc", "export", "bake"):
            yield Case(f"{count} {key}", command, many(key, count), {watch.DONE, *REFUSED})
    for name, content in LOCKS.items():
        for way in ("system", "heartbeat"):
            environment = (("GRAIN_LOCK", "heartbeat"),) if way == "heartbeat" else ()
            yield Case(
                f"a lock of {name}, by {way}",
                "bake",
                put("lock", content),
                {watch.DONE, watch.BUSY},
                start="half",
                environment=environment,
            )
        # Left by somebody who crashed while taking the lock, or pretends to have: nobody waits for long.
        yield Case(f"a lock being taken of {name}", "bake", put("lock.part", content), {watch.DONE, watch.BUSY}, start="half")
