# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of a .grain file by name, as the tables of the hostile set list them."""
from __future__ import annotations

import math
import random
from collections.abc import Callable

import forge
import watch

NAN, INF = math.nan, math.inf
HUGE = 2**31 - 1
Change = Callable[[forge.File], None]


def value(column: str, number: float, index: int = 0) -> Change:
    return lambda file: file.set_value(column, index, number)


def every(column: str, number: float) -> Change:
    return lambda file: file.set_all(column, number)


def twice(column: str) -> Change:
    return lambda file: file.set_value(column, 0, file.values(column)[1])


def field(name: str, number: object) -> Change:
    return lambda file: file.put(name, number)


def entry(column: str, name: str, number: object) -> Change:
    return lambda file: file.put_entry(column, name, number)


def block(name: str, number: object) -> Change:
    return lambda file: file.put_block(0, name, number)


def keyed(frame: int) -> Change:
    """The first block is the same as that of another frame."""

    def change(file: forge.File) -> None:
        file.put_block(0, "mode", 3)
        file.put_block(0, "key_frame", frame)

    return change


def shifted(name: str, by: int) -> Change:
    return lambda file: file.put(name, file.get(name) + by)


def rubbish(file: forge.File) -> None:
    file.data[file.head :] = random.Random(7).randbytes(len(file.data) - file.head)


def forge_in(name: str, change: Change, *, keeps_blocks: bool = False) -> Callable[[watch.World], object]:
    def prepare(world: watch.World) -> None:
        path = world.cache / name
        file = forge.File(path.read_bytes())
        change(file)
        forge.plant(path, file.sealed_head() if keeps_blocks else file.sealed())

    return prepare
