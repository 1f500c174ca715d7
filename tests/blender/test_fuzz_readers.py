# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's own readers on files that were changed at random: the list of a cache, the job, the log, what a child says, the text of
a lock. Whatever they read, they answer within their words: a value in its range, or the error they promise.

The same inputs on every machine. GRAIN_FUZZ_SECONDS=900 tries new ones for so long instead.
"""
import json
import math
import os
import random
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness

SEED = 25
RUNS = 3000  # of each reader: a second or two on a quiet machine
SECONDS = 2.0  # and never more than this
SLOWEST = 2.0  # s that a single input of a few kilobytes may take, on a machine that does other things

ODD = (None, True, False, 0, -1, 1, 1 << 31, 1 << 63, 1 << 64, -(1 << 70), 10 ** 30, 0.0, -0.0, 1e308, -1e308, 1e-320, "", "x", "-1", "\0",
       "\x1b]0;x\x07", "\u202e", "\ud800", "\uffff", "a" * 5000, [], {}, [[]], [{}], {"": {}}, [None], [0, "x"], {"frame": []}, {"animation": 1})
TOKENS = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"9" * 400, b"[" * 3000, b"{\"a\":" * 3000, b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf",
          b"\0", b"\x1b[2J", b"\n", b"\r", b",", b":", b"\"", b"\\", b"\\ud800", b"\\u202e", b"true", b"null", b"1e5", b"-0", b"0x10", b" " * 2000)

MANIFEST = {"format": 2, "library": "0.1.0", "job": "Sand", "fingerprint": "0" * 32, "settings": {"fps": 24.0}, "fps": 24.0, "frame_start": 1,
            "frame_end": 3, "bodies": ["Crate", "Ball"], "births": [{"frame": 1, "particles": 4, "bytes": 64, "checksum": "0" * 16}],
            "streams": {"coarse": {"columns": ["position"], "bytes_per_particle": 28, "grids": ["density"], "voxel_size": 0.1, "number_shift": 2}},
            "frames": [{"frame": frame, "particles": 4, "bytes": 320, "checksum": "0" * 16} for frame in (1, 2, 3)], "checksum": "0" * 16}
JOB = {"schema": 1, "name": "Sand", "writer": "x", "fps": 24.0, "frame_start": 1, "frame_end": 3, "gravity": [0.0, 0.0, -9.81], "seed": 0,
       "solver": {"type": "dem", "particle_radius": 0.01, "friction": 0.6, "animation": {"friction": 1}}, "animation": {"gravity": 0},
       "geometry": {"file": "geometry.bin", "bytes": 128}, "upsample": {"grains_per_particle": 4}, "volume": {"source": "coarse"},
       "arrays": [{"type": "f32", "components": 3, "count": 2, "offset": 0}, {"type": "f32", "components": 1, "count": 3, "offset": 64}],
       "fields": [{"name": "Wind", "type": "wind", "poses": 0, "animation": {"strength": 1}}],
       "objects": [{"name": "Block", "role": "source", "positions": 0, "triangles": 1, "velocity": [0, 0, 0],
                    "material": {"law": "snow", "animation": {"friction": 1}}, "attributes": [{"name": "Col", "values": 0, "domain": "vertex"}]}]}
FRAME = {"time": 5.25, "stage": "Simulating", "event": "frame", "frame": 2, "fraction": 0.5, "particles": 172, "seconds": 1.5, "seconds_left": 4.0,
         "seconds_per_frame": 0.03, "bytes_written": 4000, "statistics": {"kinetic_energy": 0.1, "deepest_overlap": 0.02, "substeps": 12}}
EVENTS = (FRAME, {"event": "preparing", "stage": "settling", "fraction": 0.3}, {"event": "warning", "message": "Something"},
          {"event": "started", "particles": 172, "frame_start": 1, "frame_end": 3, "resumed_from": 0, "cache": "/tmp"},
          {"event": "stopped", "frame": 2, "message": "stopped"}, {"event": "error", "code": 4, "message": "no"}, {"event": "done", "frames": 3})
LOCKS = (b"process 17 on HOST (user NAME, since 2026-11-16 14:02:11 UTC)\n9f86d081884c7d65 system\n", b"process 17 on HOST (user x, since y)\n", b"",
         b"process 999999999 on HOST (user NAME, since 2026-11-16 14:02:11 UTC)\n9f86d081884c7d65 heartbeat\n")


# --- how inputs are changed -------------------------------------------------------------------------

def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every value in a document: what holds it, and its key or number."""
    for key in (list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()):
        yield value, key
        yield from places(value[key])


def change_value(document: Any, chance: random.Random) -> Any:
    """One value becomes something else, or that of another place, or goes, or comes twice."""
    document = json.loads(json.dumps(document))
    found = list(places(document))
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        holder, key = chance.choice(found)
        other_holder, other = chance.choice(found)
        try:
            way = chance.randrange(8)
            if way == 0:
                del holder[key]
            elif way == 1:
                holder[key] = json.loads(json.dumps(other_holder[other]))
            elif way == 2 and isinstance(holder, list):
                holder.insert(0, holder[key])
            elif way == 3 and isinstance(holder[key], (int, float)):
                holder[key] = chance.choice((-1, 2, 0.5, 1e15, 1e300)) * holder[key]
            else:
                holder[key] = chance.choice(ODD)
        except (KeyError, IndexError):
            continue  # it went with the change before
    return document


def change_bytes(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at = chance.randrange(len(changed) + 1)
        way = chance.randrange(5)
        if way == 0 and changed:
            changed[at % len(changed)] ^= 1 << chance.randrange(8)
        elif way == 1:
            changed[at:at] = chance.choice(TOKENS)
        elif way == 2:
            del changed[at:at + chance.choice((1, 2, 30))]
        elif way == 3:
            del changed[at:]
        else:
            end = at + chance.randrange(40)
            changed[at:end] = chance.choice(TOKENS)
    return bytes(changed)


def changed(documents: tuple[Any, ...], chance: random.Random) -> bytes:
    document = chance.choice(documents)
    if isinstance(document, bytes):
        return change_bytes(document, chance)
    if chance.random() < 0.6:
        return json.dumps(change_value(document, chance), ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return change_bytes(json.dumps(document).encode(), chance)


def try_all(name: str, documents: tuple[Any, ...], reader: Callable[[bytes], bool]) -> None:
    """reader: whether it took the input for what it should be. Most of a run must not be of one kind, or it would try nothing."""
    long = float(os.environ.get("GRAIN_FUZZ_SECONDS", "0"))
    seconds = long or SECONDS * (10.0 if harness.is_heavy() else 1.0)
    began, runs, taken, seed = time.monotonic(), 0, 0, time.time_ns() if long else SEED
    while time.monotonic() - began < seconds and (long or runs < RUNS * (10 if harness.is_heavy() else 1)):
        data = changed(documents, random.Random(f"{name} {seed} {runs}"))
        start = time.monotonic()
        try:
            taken += reader(data)
        except Exception as error:
            raise AssertionError(f"{name} {seed} {runs}: {error!r} at {data[:300]!r}") from error
        runs += 1
        assert time.monotonic() - start < SLOWEST, f"{name} {seed} {runs - 1} took {time.monotonic() - start:.1f} s: {data[:300]!r}"
    print(f"# {name}: {runs} inputs, {taken} of them read, {time.monotonic() - began:.1f} s")
    assert runs > 50 and 0.02 * runs < taken < 0.98 * runs, (runs, taken)


def is_shown_well(words: str) -> bool:
    kinds = {unicodedata.category(letter) for letter in words}
    return not kinds & {"Cc", "Cs", "Zl", "Zp"} and "\u202e" not in words and words.encode("utf-8").decode() == words and len(words) < 5000


# --- the readers ------------------------------------------------------------------------------------

def test_lists_of_frames(folder: Path) -> None:
    from grain.engine import cache, text

    def read(data: bytes) -> bool:
        (folder / "cache.json").write_bytes(data)
        cache._forget(folder)
        try:
            manifest = cache.read_manifest(folder)
        except cache.CacheError as error:
            assert is_shown_well(str(error)), error
            return False
        if manifest is None:
            return True
        last = 1 << 21
        assert all(type(frame) is int and abs(frame) <= last and type(count) is int and count >= 0 for frame, count in manifest.particles.items())
        assert manifest.first <= manifest.last and manifest.frame_to_show(manifest.last) == manifest.last and manifest.byte_count >= 0
        assert math.isfinite(manifest.fps) and manifest.fps > 0.0 and math.isfinite(manifest.bytes_per_particle)
        assert 0.0 <= manifest.voxel_size < math.inf and abs(manifest.number_shift) <= 2 * last and all(abs(frame) <= last for frame in manifest.births)
        assert all(type(name) is str for name in (*manifest.bodies, *manifest.grids))
        assert text.size(manifest.byte_count) and text.plural(len(manifest.particles), "frame")
        return True

    named = {**MANIFEST, "streams": {"\x1b[2J\u202e": MANIFEST["streams"]["coarse"]}}
    try_all("cache.json", (MANIFEST, named), read)


def test_jobs(folder: Path) -> None:
    import numpy as np
    from grain.engine import job, job_compare
    arrays = [np.zeros((2, 3), np.float32), np.zeros((3, 1), np.float32)]
    new = job.Description(json.loads(json.dumps(JOB)), arrays)
    (folder / "geometry.bin").write_bytes(bytes(128))

    def read(data: bytes) -> bool:
        (folder / "job.json").write_bytes(data)
        document = job.read_document(folder)
        settings, objects = job_compare.changes(new, folder)
        assert all(map(is_shown_well, (*settings, *objects))), (settings, objects)
        try:
            job.set_part(folder, "volume", {"source": "grains"})
        except OSError as error:
            assert document is None and error.filename and error.strerror
            return False
        assert document is not None and job.read_document(folder)["volume"] == {"source": "grains"}
        return True

    try_all("job.json", (JOB,), read)


def test_logs(folder: Path) -> None:
    from grain.engine import bake_log, text
    path = folder / "log.jsonl"
    good = json.dumps(FRAME).encode()

    def read(data: bytes) -> bool:
        path.write_bytes(good + b"\n" + data + b"\n" + good)
        events = bake_log.read(path)
        assert len(events) >= 2 and all(isinstance(event, dict) for event in events)
        for stage, summary in bake_log.summaries(events).items():
            assert is_shown_well(f"{stage} {text.plural(summary.particles, 'grain')} {text.duration(summary.seconds)}")
            assert is_shown_well(f"{summary.slowest_frame} {text.per_frame(summary.slowest_seconds)} {summary.substeps_per_frame:.0f}")
            assert summary.deepest_overlap is None or is_shown_well(f"{summary.deepest_overlap:.0%}")
        assert bake_log.write_csv(events, folder / "table.csv") >= 2
        assert all(map(is_shown_well, bake_log.cleaned(path).split("\n")))
        return len(bake_log.frame_rows(events)) > 2

    try_all("log.jsonl", (FRAME,) * 8 + EVENTS, read)


def test_what_children_say(folder: Path) -> None:
    from grain.engine.process import BakeProcess, simulate_stage
    from grain.scene.manage import baking
    process = BakeProcess([simulate_stage(folder, folder, folder, 0)], folder / "log.jsonl", waits=True)
    process._working = "Simulating"

    def read(data: bytes) -> bool:
        process._has_spoken = False
        process.status.warnings.clear()
        for line in data.split(b"\n"):
            process._take(line)
        status = process.status
        assert 0.0 <= status.fraction <= 1.0 and status.particles >= 0 and status.bytes_written >= 0
        assert is_shown_well(f"{status.stage} {status.frame} {status.frame_end} {status.error} {baking.speed(status)}")
        assert all(map(is_shown_well, status.warnings))
        (folder / "log.jsonl").unlink(missing_ok=True)
        return process._has_spoken

    try_all("status", EVENTS, read)


def test_texts_of_locks(folder: Path) -> None:
    """Beside the text, the name of this machine and of processes that are and are not there."""
    from grain.engine import cache_lock
    host = cache_lock._host().encode()
    texts = (*LOCKS, *(text.replace(b"HOST", host) for text in LOCKS), LOCKS[0].replace(b"HOST", host).replace(b"17", str(os.getpid()).encode()))

    def read(data: bytes) -> bool:
        (folder / "lock").write_bytes(data)
        busy = cache_lock.is_busy(folder)
        assert (folder / "lock").read_bytes() == data, "asking changes nothing"
        understood = cache_lock._Text.of(data[:1024])
        if understood.process is not None and understood.host == host.decode():
            assert busy == (understood.manner != "system" and not cache_lock._is_gone(understood.process)), data
        else:
            assert busy == bool(data), data  # nobody knows, and it is new
        assert is_shown_well(str(cache_lock.Busy(folder, data)))
        return understood.process is not None

    try_all("lock", texts, read)
