# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that change over the frames of a bake, sampled into the job: whatever changes them, keys, drivers or modifiers of
curves."""
from collections.abc import Callable, Sequence
from typing import Union

import numpy as np

from ...engine.job import Job, JobField, JobObject

Entry = Union[Job, JobField, JobObject]

Value = Union[float, Sequence[float]]


class Curves:
    """What may change; those that do not are left as they are."""

    def __init__(self) -> None:
        self._wanted: list[tuple[Entry, str, Callable[[], Value], list[Value]]] = []
        self._always: set[tuple[int, str]] = set()

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def add(self, entry: Entry, name: str, read: Callable[[], Value], always: bool = False) -> None:
        """read gives the value at the scene's current frame, one number or several. Sampled here for the first time. always:
        said even where it does not change."""
        self._wanted.append((entry, name, read, [read()]))
        if always:
            self._always.add((id(entry), name))

    def sample(self) -> None:
        for _, _, read, values in self._wanted:
            values.append(read())

    def finish(self) -> None:
        """Says in each entry how it changes."""
        for entry, name, _, values in self._wanted:
            samples = np.array(values, np.float32).reshape(len(values), -1)
            if (samples != samples[0]).any() or (id(entry), name) in self._always:
                entry.animation[name] = samples
