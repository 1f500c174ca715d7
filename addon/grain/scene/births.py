"""What grains brought with them when they were born: colours, UV maps and attributes of their source, `rest` and `source_id`.

It never changes, so it is loaded once and written to the points only when these change.
"""
from pathlib import Path
from typing import Optional

import numpy as np
from bpy.types import Mesh, Object

from ..engine import cache, job as job_files
from ..engine.objects import CacheFrame

_TYPES = {1: ('FLOAT', "value"), 2: ('FLOAT2', "vector"), 3: ('FLOAT_VECTOR', "vector"), 4: ('FLOAT_COLOR', "color")}
_STAMP = "grain_births"  # of the mesh: what its points have now

_kept: Optional[tuple[tuple, dict[str, np.ndarray]]] = None  # the last one: folder and list, and its columns


def carried(folder: Path) -> list[str]:
    """Names of the attributes that sources of the bake gave their grains."""
    document = job_files.read_document(cache.job_folder(folder)) or {}
    return sorted({entry["name"] for item in document.get("objects", []) for entry in item.get("attributes", [])})


def show(item: Object, folder: Path, source: Path, manifest: cache.Manifest, with_rest: bool, scale: float) -> None:
    """Writes them to the points that are there, each by its number. source is the folder of the frames shown, folder that of the
    bake. Raises GrainError, OSError."""
    mesh: Mesh = item.data
    names = carried(folder) + (["rest", "source_id"] if with_rest else [])
    if not names or not manifest.births or not len(mesh.vertices):
        return
    ids = np.empty(len(mesh.vertices), np.int32)
    mesh.attributes["id"].data.foreach_get("value", ids)
    stamp = f"{source} {manifest.births} {','.join(names)} {len(ids)} {hash(ids.tobytes())} {scale}"
    if mesh.get(_STAMP) == stamp and all(name in mesh.attributes for name in names):
        return
    columns = _columns(source, manifest.births, names)
    for name, values in columns.items():
        if int(ids.max()) >= len(values):
            continue
        chosen = values[ids] if len(values) != len(ids) or ids[-1] != len(ids) - 1 else values
        _write(mesh, name, chosen / np.float32(scale) if name == "rest" and scale != 1.0 else chosen)
    mesh[_STAMP] = stamp


def _columns(source: Path, births: tuple[int, ...], names: list[str]) -> dict[str, np.ndarray]:
    global _kept
    key = (str(source), births, tuple(names), (source / cache.MANIFEST).stat().st_mtime_ns)
    if _kept is not None and _kept[0] == key:
        return _kept[1]
    parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for frame in births:
        with CacheFrame(cache.birth_path(source, frame)) as birth:
            for name in names:
                if birth.has_column(name):
                    parts[name].append(np.array(birth.column(name)))
    columns = {name: np.concatenate(arrays) for name, arrays in parts.items() if arrays}
    _kept = (key, columns)
    return columns


def _write(mesh: Mesh, name: str, values: np.ndarray) -> None:
    kind, member = ('INT', "value") if values.dtype == np.int32 else _TYPES[1 if values.ndim == 1 else values.shape[1]]
    present = mesh.attributes.get(name)
    if present is not None and (present.data_type != kind or present.domain != 'POINT'):
        mesh.attributes.remove(present)
        present = None
    if present is None:
        mesh.attributes.new(name, kind, 'POINT')
    mesh.attributes[name].data.foreach_set(member, np.ascontiguousarray(values).reshape(-1))
