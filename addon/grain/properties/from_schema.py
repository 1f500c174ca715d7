# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties made from the library's table of settings: name, tooltip, default, range and choices come from there; what is
Blender's own (options, subtype, precision, callbacks) is given here."""
from math import radians
from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from ..engine import schema

_LARGEST_INT = 2**31 - 1


def _texts(setting: schema.Setting) -> dict[str, Any]:
    return {"name": setting.label, "description": setting.tip}


def _range(setting: schema.Setting) -> dict[str, Any]:
    """Of the value as the interface shows it: an angle in radians instead of its tangent."""
    shown = setting.shown
    values = shown if "low" in shown else {name: getattr(setting, name) for name in ("low", "high", "soft_low", "soft_high")}
    names = {"low": "min", "high": "max", "soft_low": "soft_min", "soft_high": "soft_max"}
    found = {names[name]: values[name] for name in names if values.get(name) is not None}
    found["default"] = setting.start
    if shown.get("as") == "degrees":
        found = {name: radians(value) for name, value in found.items()}
        found.update(subtype='ANGLE', unit='ROTATION')
    return found


def number(row: str, **look: Any) -> Any:
    setting = schema.find(row)
    values = {key: float(value) if isinstance(value, int) else value for key, value in _range(setting).items()}
    return FloatProperty(**{**_texts(setting), **values, **look})


def vector(row: str, **look: Any) -> Any:
    setting = schema.find(row)
    return FloatVectorProperty(**{**_texts(setting), **_range(setting), "size": 3, **look})


def integer(row: str, **look: Any) -> Any:
    setting = schema.find(row)
    values = {key: int(min(value, _LARGEST_INT)) for key, value in _range(setting).items()}
    return IntProperty(**{**_texts(setting), **values, **look})


def flag(row: str, **look: Any) -> Any:
    setting = schema.find(row)
    return BoolProperty(**{**_texts(setting), "default": setting.start, **look})


def painted(row: str, **look: Any) -> Any:
    """The name of a vertex group or attribute."""
    return StringProperty(**{**_texts(schema.find(row)), "default": "", **look})


def items(row: str, *order: str) -> tuple[tuple[str, str, str, str, int], ...]:
    """For an EnumProperty. The numbers, which files hold, follow the table's order; `order` only says what comes first."""
    words = schema.find(row).words
    rows = {word.word: (word.word.upper(), word.label, word.tip, 'NONE', number) for number, word in enumerate(words)}
    return tuple(rows.pop(word) for word in order) + tuple(rows.values())


def choice(row: str, *order: str, **look: Any) -> Any:
    setting = schema.find(row)
    return EnumProperty(**{**_texts(setting), "items": items(row, *order), "default": setting.start.upper(), **look})
