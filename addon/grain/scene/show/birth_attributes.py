# SPDX-License-Identifier: GPL-3.0-or-later
"""What grains brought with them when they were born: colours, UV maps and attributes of their source, `rest` and `source_id`; and
how long that is ago, `age`.

But for the age it never changes, so it is loaded once and written to the points only when these change.
"""
from pathlib import Path
from typing import Optional

import numpy as np
from bpy.types import Mesh, Object

from ...engine import cache, door, job as job_files, schema
from ...engine.between import Frame
from ...engine.objects import KNOWN_COLUMNS, CacheFrame

_TYPES = {1: ('FLOAT', "value"), 2: ('FLOAT2', "vector"), 3: ('FLOAT_VECTOR', "vector"), 4: ('FLOAT_COLOR', "color")}
_STAMP = "grain_births"  # of the mesh: what its points have now
_MOST_NAME = 32  # bytes of a column's name, with the zero at its end
_BORN = "\0born"  # a column beside those of the files: the frame of birth

_kept: Optional[tuple[tuple, dict[str, np.ndarray]]] = None  # the last one: folder and list, and its columns


def carried(folder: Path) -> list[str]:
    """Names of the attributes that sources of the bake gave their grains."""
    document = job_files.read_document(cache.job_folder(folder)) or {}
    names = {entry["name"] for item in document.get("objects", []) for entry in item.get("attributes", [])}
    return sorted(name for name in names - KNOWN_COLUMNS
                  if 0 < len(name.encode("utf-8", "replace")) < _MOST_NAME and not name.startswith("."))  # those are Blender's own


_LAYERS: int = schema.CONSTANTS["grain_layers"]  # a grain's id is this times its particle, plus its layer
_tables: dict[str, tuple[tuple, np.ndarray, int]] = {}  # by folder of grains: what they are of, the table, layers


def numbers(source: Path, manifest: cache.Manifest, frame: Frame) -> Optional[np.ndarray]:
    """The number of each grain of a frame: its place among all that are ever born, the same in every frame. None where that is
    its place in the frame. Raises GrainError, CacheError, OSError."""
    if not frame.has_column("id"):
        return None
    ids = frame.column("id")
    if not manifest.births:
        return ids.astype(np.int32)
    key = (manifest.births, door.state(source / cache.MANIFEST).st_mtime_ns)
    known = _tables.get(str(source))
    if known is None or known[0] != key:
        born = _read(source, manifest.births, ["id"]).get("id", np.empty(0, np.int64))
        layers = int((born & (_LAYERS - 1)).max(initial=0)) + 1
        places = (int(born.max(initial=0)) // _LAYERS + 1) * layers
        if len(born) == 0 or born.min() < 0 or places > 2 * len(born):  # there is a grain for each particle in each layer but the last
            raise cache.CacheError(f"The births in {source} are damaged. Bake the render grains again")
        table = np.zeros(places, np.int32)
        table[_places(born, layers)] = np.arange(len(born), dtype=np.int32)
        known = (key, table, layers)
        _tables.clear()  # one at a time: a table of five million grains takes 20 MB
        _tables[str(source)] = known
    return known[1][np.clip(_places(ids, known[2]), 0, len(known[1]) - 1)]


def _places(ids: np.ndarray, layers: int) -> np.ndarray:
    return (ids // _LAYERS) * layers + (ids & (_LAYERS - 1))


def show(item: Object, folder: Path, source: Path, manifest: cache.Manifest, with_rest: bool, scale: float, frame: float) -> None:
    """Writes them to the points that are there, each by its number. source is the folder of the frames shown, folder that of the
    bake; frame is of the bake's time. Raises GrainError, OSError."""
    mesh: Mesh = item.data
    names = carried(folder) + (["rest", "source_id"] if with_rest else [])
    if not names or not manifest.births or not len(mesh.vertices):
        return
    ids = np.empty(len(mesh.vertices), np.int32)
    mesh.attributes["id"].data.foreach_get("value", ids)
    stamp = f"{source} {manifest.births} {','.join(names)} {len(ids)} {hash(ids.tobytes())} {scale}"
    is_there = mesh.get(_STAMP) == stamp and all(name in mesh.attributes for name in names)
    if is_there and not with_rest:
        return
    in_order = np.array_equal(ids, np.arange(len(ids)))
    columns = {name: values[:len(ids)] if in_order else values[ids]
               for name, values in _columns(source, manifest.births, names).items() if int(ids.max()) < len(values)}
    born = columns.pop(_BORN, None)
    if with_rest and born is not None:
        _write(mesh, "age", np.maximum(np.float32(frame) - born, np.float32(0.0)) / np.float32(manifest.fps))
    if is_there:
        return
    for name, values in columns.items():
        _write(mesh, name, values / np.float32(scale) if name == "rest" and scale != 1.0 else values)
    mesh[_STAMP] = stamp


def _columns(source: Path, births: tuple[int, ...], names: list[str]) -> dict[str, np.ndarray]:
    global _kept
    key = (str(source), births, tuple(names), door.state(source / cache.MANIFEST).st_mtime_ns)
    if _kept is None or _kept[0] != key:
        _kept = (key, _read(source, births, names))
    return _kept[1]


def _read(source: Path, births: tuple[int, ...], names: list[str]) -> dict[str, np.ndarray]:
    parts: dict[str, list[np.ndarray]] = {name: [] for name in (*names, _BORN)}
    for frame in births:
        with CacheFrame(cache.birth_path(source, frame)) as birth:
            found = {name: np.array(birth.column(name)) for name in names if birth.has_column(name)}
        for name, values in found.items():
            parts[name].append(values)
        rows = len(next(iter(found.values()), ()))  # the head of the file may say anything
        parts[_BORN].append(np.full(rows, frame, np.float32))
    return {name: np.concatenate(arrays) for name, arrays in parts.items()
            if len({(array.dtype, array.shape[1:]) for array in arrays}) == 1}  # none of it, or not the same in all births: left out


def _write(mesh: Mesh, name: str, values: np.ndarray) -> None:
    kind, member = ('INT', "value") if values.dtype == np.int32 else _TYPES[1 if values.ndim == 1 else values.shape[1]]
    present = mesh.attributes.get(name)
    if present is not None and (present.data_type != kind or present.domain != 'POINT'):
        mesh.attributes.remove(present)
        present = None
    if present is None:
        present = mesh.attributes.new(name, kind, 'POINT')
    present.data.foreach_set(member, np.ascontiguousarray(values).reshape(-1))
