# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames with a right checksum and columns that are not what they must be: shown, or told in the panel, and nothing raised."""
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import support

HEADER, ENTRY = 64, 64  # bytes
AT_CHECKSUM, AT_PARTICLES, AT_COLUMNS = 48, 24, 32
AT_TYPE, AT_COMPONENTS, AT_COUNT = 32, 36, 48  # of a column's entry
F32, I32, F64, I64 = range(4)


def sealed(data: bytearray) -> bytes:
    """With the checksum that it must have."""
    support.needs_posix("a library for checksums")
    import grains_reader  # beside this folder
    data[AT_CHECKSUM:AT_CHECKSUM + 8] = bytes(8)
    struct.pack_into("<Q", data, AT_CHECKSUM, grains_reader.checksum(bytes(data)))
    return bytes(data)


def columns_of(data: bytes) -> dict[str, int]:
    """Where the entry of each column is."""
    count, = struct.unpack_from("<I", data, AT_COLUMNS)
    return {data[at:at + 32].rstrip(b"\0").decode(): at for at in range(HEADER, HEADER + count * ENTRY, ENTRY)}


def changes(data: bytes) -> dict[str, bytes]:
    """What to try, by what it is."""
    found: dict[str, bytes] = {}

    def change(what: str, kind: str, at: int, value: Any) -> None:
        copy = bytearray(data)
        struct.pack_into(kind, copy, at, value)
        found[what] = sealed(copy)

    particles, = struct.unpack_from("<q", data, AT_PARTICLES)
    for name, at in columns_of(data).items():
        count, = struct.unpack_from("<Q", data, at + AT_COUNT)
        for kind in (F32, I32, F64, I64):
            change(f"{name} has type {kind}", "<I", at + AT_TYPE, kind)
        for components in (1, 2, 3, 4, 5):
            change(f"{name} has {components} components", "<I", at + AT_COMPONENTS, components)
        for number in (0, 1, count - 1):
            change(f"{name} has {number} rows", "<Q", at + AT_COUNT, number)
        for other in ("nothing", "position", "velocity", "radius", "orientation", "moisture", "id", "birth_time", "body.position", "body.spin"):
            change(f"{name} is called {other}", "<32s", at, other.encode())
    for number in (0, 1, particles - 1, particles + 1, 1 << 40):
        change(f"{number} particles", "<q", AT_PARTICLES, number)
    return found


def try_all(path: Path, show: Callable[[], None]) -> tuple[int, int]:
    """How many were shown, and how many told."""
    from grain import runtime
    from grain.engine import read_ahead
    good, shown, told = path.read_bytes(), 0, 0
    for what, data in changes(good).items():
        path.write_bytes(data)
        read_ahead.forget()
        runtime.state.shown.clear()
        try:
            show()
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
        message = next(iter(runtime.state.shown.values())).message
        assert message is None or len(message.text.split()) > 3, what
        shown, told = shown + (message is None), told + (message is not None)
    path.write_bytes(good)
    runtime.state.shown.clear()
    show()
    return shown, told


def show_first() -> None:
    from grain.scene.show import playback
    bpy.context.scene.frame_set(1)
    playback.show(bpy.context.scene.grain.active)


def show_births() -> None:
    """Read anew."""
    from grain.scene.show import birth_attributes
    birth_attributes._kept = None
    bpy.context.scene.grain.active.sand_object.data.pop(birth_attributes._STAMP, None)
    show_first()


def test_columns_of_particles_and_bodies(folder: Path) -> None:
    scene = support.small_scene(1)
    crate = support.box("Crate", (-0.05, -0.05, 0.4), (0.05, 0.05, 0.5))
    crate.grain.type = 'BODY'
    bpy.context.view_layer.update()
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    show_first()
    count = len(scene.grain.active.sand_object.data.vertices)
    assert count > 100 and "body.position" in columns_of((folder / "grain_cache/Sand/coarse_000001.grain").read_bytes())
    shown, told = try_all(folder / "grain_cache/Sand/coarse_000001.grain", show_first)
    print(f"# {shown} shown, {told} told")
    assert shown > 10 and told > 60, (shown, told)
    assert len(scene.grain.active.sand_object.data.vertices) == count


def test_births_and_their_attributes(folder: Path) -> None:
    """And names in a job that cannot be those of attributes."""
    import json
    scene = support.small_scene(1)
    scene.grain.active.display.use_rest = True
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    show_first()
    shown, told = try_all(folder / "grain_cache/Sand/birth_000001.grain", show_births)
    print(f"# {shown} shown, {told} told")
    assert shown > 5 and told > 20, (shown, told)
    path = folder / "grain_cache/Sand/job/job.json"
    document = json.loads(path.read_bytes())
    for name in ("", "x" * 31, "x" * 200, "position", "radius", "id", ".hidden", "\x1b[2J", "\u202e", "material_index"):
        document["objects"][0]["attributes"] = [{"name": name, "values": 0, "domain": "vertex"}]
        path.write_text(json.dumps(document), "utf-8")
        show_births()


def test_ids_of_grains_that_cannot_be(folder: Path) -> None:
    """A table is made for them: of what fits, and never larger than there are grains."""
    import types

    import numpy as np
    from grain.engine import cache
    from grain.scene.show import birth_attributes
    (folder / "cache.json").write_text("{}")
    manifest, read = types.SimpleNamespace(births=(1,)), birth_attributes._read
    good = np.array([1024 * particle + layer for particle in range(4) for layer in range(3)], np.int64)
    odd = np.array([-1, -(1 << 62), 1 << 62, 5000, 3], np.int64)
    frame = types.SimpleNamespace(has_column=lambda name: True, column=lambda name: odd)
    try:
        for born, fits in ((good, True), (np.empty(0, np.int64), False), (good - 5, False), (np.append(good, 1 << 62), False), (good * 1024, False)):
            birth_attributes._read = lambda *_, born=born: {"id": born}
            birth_attributes._tables.clear()
            try:
                numbers = birth_attributes.numbers(folder, manifest, frame)
            except cache.CacheError as error:
                assert not fits and "damaged" in str(error), born
            else:
                assert fits and len(numbers) == len(odd) and numbers.min() >= 0 and numbers.max() < len(good), born
    finally:
        birth_attributes._read = read
        birth_attributes._tables.clear()
