# SPDX-License-Identifier: GPL-3.0-or-later
"""Packed grains: a second reader agrees with libgrain, the error is what was asked for, kills leave the same files."""
from __future__ import annotations

import json
import math
import signal
from pathlib import Path

import grains_reader
import program
from bakes import baked, change
from frames import columns_by_libgrain, columns_of, grain_files


def test_a_second_reader_agrees(folder: Path) -> None:
    job = baked(folder, frame_end=12, upsample={"grains_per_particle": 12})
    program.run("upsample", job, check=0)
    modes = set()
    for frame in (1, 2, 6, 12):
        path = job / f"cache/grains/grains_{frame:06d}.grain"
        ours, theirs = columns_of(path), columns_by_libgrain(path)
        assert list(ours) == ["position", "velocity", "radius", "orientation"]
        for name in ("position", "velocity", "radius"):
            assert ours[name] == theirs[name], f"frame {frame}, {name}"
        turned = zip(memoryview(ours["orientation"]).cast("f"), memoryview(theirs["orientation"]).cast("f"))
        assert all(abs(a - b) < 1e-6 for a, b in turned), f"frame {frame}"
        modes |= {block.mode for blocks in grains_reader.GrainsFile(path).blocks for block in blocks}
    assert modes >= {grains_reader.DELTA, grains_reader.SAME}, f"only {modes} were tried"


def test_precision_is_what_was_asked_for(folder: Path) -> None:
    job = baked(folder, frame_end=3, upsample={})
    found = {}
    for precision in (0.00001, 0.01, 0.1):
        change(job, grains_per_particle=8, precision=precision, orientation=False)
        program.run("upsample", job, check=0)
        found[precision] = grains_reader.read(job / "cache/grains/grains_000003.grain")
        size = json.loads((job / "cache/grains/cache.json").read_text())["streams"]["grains"]["bytes_per_particle"]
        found[precision]["size"] = size
    radius = 0.01 / 8 ** (1 / 3)
    exact = found[0.00001]["position"]
    for precision in (0.01, 0.1):
        rough = found[precision]["position"]
        assert "orientation" not in found[precision]
        off = max(math.dist(exact[i:i + 3], rough[i:i + 3]) for i in range(0, len(exact), 3)) / radius
        assert 0.5 * precision < off < 1.01 * precision, (precision, off)
    assert found[0.1]["size"] < found[0.01]["size"] < found[0.00001]["size"]
    assert "precision" in program.run("upsample", change_precision(job, 2.0), check=3).stderr


def change_precision(job: Path, precision: float) -> Path:
    change(job, grains_per_particle=8, precision=precision)
    return job


def test_killed_anywhere_it_ends_with_the_same_files(folder: Path) -> None:
    """Frames are rounded: only an exact checkpoint brings the same bits back."""
    job = baked(folder, frame_end=25, upsample={"grains_per_particle": 60})
    program.run("upsample", job, check=0)
    through = grain_files(job / "cache/grains")
    assert not (job / "cache/grains/checkpoint.grain").exists(), "the shot is done"
    killed = set()
    for last in (4, 12, 23):
        process = program.start("upsample", job, *(["--force"] if last == 4 else []), "--threads", 1)
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "frame" and event["frame"] >= last:
                break
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        process.stdout.close(), process.stderr.close()
        killed.add(len(grain_files(job / "cache/grains")))
    assert (job / "cache/grains/checkpoint.grain").exists() and max(killed) < 25, killed
    program.run("upsample", job, check=0)
    assert grain_files(job / "cache/grains") == through
    assert sorted(p.name for p in (job / "cache/grains").iterdir()) == sorted([*through, "birth_000001.grain", "cache.json", "lock"])


def test_repair_drops_what_leans_on_a_damaged_frame(folder: Path) -> None:
    """A key frame whose velocities are damaged still serves those that need its positions; but it is off the list, and gc
    would take it from under them."""
    job = baked(folder, frame_end=12, upsample={"grains_per_particle": 12})
    program.run("upsample", job, check=0)
    cache = job / "cache/grains"
    leaning = {}  # frame -> frames it needs
    for frame in range(1, 13):
        file = grains_reader.GrainsFile(cache / f"grains_{frame:06d}.grain")
        leaning[frame] = {block.key_frame for blocks in file.blocks for block in blocks if block.mode >= grains_reader.KEY}
    key = max(set().union(*leaning.values()))
    path = cache / f"grains_{key:06d}.grain"
    file = grains_reader.GrainsFile(path)
    block = file.blocks[0][file.column_number("velocity")]
    data = bytearray(path.read_bytes())
    data[block.offset + block.bytes // 2] ^= 1
    path.write_bytes(data)
    program.run("verify", cache, check=11)
    program.run("repair", cache)
    program.run("gc", cache, check=0)
    left = [entry["frame"] for entry in json.loads((cache / "cache.json").read_text())["frames"]]
    assert left and left == [frame for frame in range(1, 13) if frame != key and key not in leaning[frame]], (left, key)
    program.run("verify", cache, check=0)
