# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of caches, read by the letter of formats.md, by libgrain, and by OpenVDB."""
from __future__ import annotations

import ctypes
import json
import struct
import subprocess
from pathlib import Path

import grains_reader
import interface
import program
from harness import Skip

# The native one where the program is another system's: its files are the same.
PROBE = (Path(__file__).resolve().parents[2] / "build/release" if program.RUNNER else program.BUILD) / "bin/vdb_probe"


def column(path: Path, name: str) -> list[tuple[float, ...]]:
    """A column of a .grain file, read by the letter of formats.md."""
    data = path.read_bytes()
    for k in range(struct.unpack_from("<I", data, 32)[0]):
        at = 64 + 64 * k
        if data[at:at + 32].rstrip(b"\0").decode() != name:
            continue
        kind, components, offset, count = struct.unpack_from("<IIQQ", data, at + 32)
        numbers = struct.unpack_from(f"<{components * count}{'fidq'[kind]}", data, offset)
        return [numbers[i:i + components] for i in range(0, len(numbers), components)]
    raise AssertionError(f"{path.name} has no column {name}")


def frame(cache: Path, number: int, name: str) -> list[tuple[float, ...]]:
    return column(cache / f"coarse_{number:06d}.grain", name)


def numbers(cache: Path, number: int, name: str) -> list[float]:
    return [row[0] for row in frame(cache, number, name)]


def columns_of(path: Path) -> dict[str, bytes]:
    """Name -> bytes of each column of a frame of grains."""
    return {name: values.tobytes() for name, values in grains_reader.read(path).items()}


def grain_files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.glob("grains_*.grain"))}


def columns_by_libgrain(path: Path) -> dict[str, bytes]:
    ffi, library = interface.load_ffi(), interface.load_library()
    library.grain_last_error.restype = ctypes.c_char_p
    frame, view, result = ctypes.c_void_p(), ffi.GrainView(), {}
    assert library.grain_frame_read(str(path).encode(), ctypes.byref(frame)) == 0, library.grain_last_error()
    for column in grains_reader.GrainsFile(path).columns:
        assert library.grain_frame_column(frame, column.name.encode(), ctypes.byref(view)) == 0
        size = view.count * view.components * (4, 4, 8, 8)[view.type]
        result[column.name] = ctypes.string_at(view.data, size)
    library.grain_frame_destroy(frame)
    return result


def grids_of(path: Path, *place: float) -> dict[str, dict]:
    """What OpenVDB reads out of a file; with a place, the values there too."""
    done = subprocess.run([PROBE, path, *map(str, place)], capture_output=True, text=True)
    assert done.returncode == 0, f"{path}: {done.stderr}"
    return json.loads(done.stdout)


def need_openvdb() -> None:
    if not PROBE.exists():
        raise Skip("built without OpenVDB")
