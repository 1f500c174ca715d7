# SPDX-License-Identifier: GPL-3.0-or-later
"""In what a job differs from the one a cache was baked from. Arrays are compared piece by piece with the file, which is
never loaded as a whole: a deforming collider's may be larger than memory allows twice."""
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Optional

import numpy as np

from . import door, text
from .job import GEOMETRY_FILE, Description, changed_settings, read_document


def changes(description: Description, folder: Path) -> tuple[list[str], list[str]]:
    """Settings and objects, in words, in which this job differs from the one in the folder; both empty when they give
    the same result."""
    old = read_document(folder)
    if old is None:
        return [], []
    new_objects, old_objects = _objects_by_name(description.document), _objects_by_name(old)
    objects = [f"'{text.clean(name)}' (new)" for name in new_objects.keys() - old_objects.keys()]
    objects += [f"'{text.clean(name)}' (gone)" for name in old_objects.keys() - new_objects.keys()]
    with ExitStack() as stack:
        try:
            file: Optional[BinaryIO] = stack.enter_context(door.open_to_read(folder / GEOMETRY_FILE))
        except OSError:
            file = None
        arrays = _ArrayPairs(description, old.get("arrays", []), file)
        objects += [f"'{text.clean(name)}'" for name in new_objects.keys() & old_objects.keys()
                    if not arrays.agree(new_objects[name], old_objects[name])]
    return changed_settings(description.document, old), sorted(objects)


def _objects_by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Whatever the job says about objects, and what a message calls the curves that belong to none."""
    entries = [*document.get("objects", []), *document.get("fields", []),
               {"name": "gravity", "animation": document.get("animation", {})},
               {"name": "keyed settings", "animation": document.get("solver", {}).get("animation", {})}]
    return {entry["name"]: entry for entry in entries}


# Keys whose value is the number of an array; beside them all that stands in an `animation`.
_ARRAY_KEYS = {"positions", "triangles", "poses", "shapes", "moisture_paint", "friction_paint", "stickiness_paint",
               "values"}
_COMPARED_BYTES = 1 << 20  # at a time


class _ArrayPairs:
    """Compares entries of a new job with those of one on disk, whose arrays are numbered otherwise."""

    def __init__(self, new: Description, old: list[dict[str, Any]], file: Optional[BinaryIO]) -> None:
        self.new, self.old, self.file = new, old, file

    def agree(self, new: Any, old: Any, is_array: bool = False) -> bool:
        if is_array:
            return self._same_array(new, old)
        if isinstance(new, dict) and isinstance(old, dict):
            return new.keys() == old.keys() and all(
                self._same_curves(new[key], old[key]) if key == "animation"
                else self.agree(new[key], old[key], key in _ARRAY_KEYS) for key in new)
        if isinstance(new, list) and isinstance(old, list):
            return len(new) == len(old) and all(self.agree(*pair) for pair in zip(new, old, strict=True))
        return bool(new == old)

    def _same_curves(self, new: dict[str, int], old: Any) -> bool:
        return isinstance(old, dict) and new.keys() == old.keys() and all(self._same_array(new[key], old[key]) for key in new)

    def _same_array(self, new: int, old: int) -> bool:
        if self.file is None or not isinstance(old, int) or not 0 <= old < len(self.old):
            return False
        entry, data = self.old[old], self.new.arrays[new].reshape(-1).view(np.uint8)
        if {**entry, "offset": 0} != {**self.new.document["arrays"][new], "offset": 0}:
            return False
        pieces = (data[start:start + _COMPARED_BYTES] for start in range(0, len(data), _COMPARED_BYTES))
        try:
            self.file.seek(entry["offset"])
            return all(self.file.read(len(piece)) == piece.tobytes() for piece in pieces)
        except OSError:  # an offset that no file has
            return False
