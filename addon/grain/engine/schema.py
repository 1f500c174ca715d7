# SPDX-License-Identifier: GPL-3.0-or-later
"""The library's table of settings: every key of a job with its range, default and texts (libgrain/docs/formats.md, "The schema").

schema.json is what `grain schema` prints, kept beside this file so that the add-on registers without the library. The build target
`schema` writes it; a test compares it with the library.
"""
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

FILE = Path(__file__).with_name("schema.json")


@dataclass(frozen=True)
class Word:
    """One of the words of a choice."""
    word: str
    label: str
    tip: str


@dataclass(frozen=True)
class Setting:
    key: str
    type: str
    default: Any  # what a missing key means; None where there is no such value
    low: Optional[float]
    high: Optional[float]
    soft_low: Optional[float]
    soft_high: Optional[float]
    unit: str
    roles: tuple[str, ...]  # of objects; () is all
    solvers: tuple[str, ...]  # () is all
    words: tuple[Word, ...]
    label: str
    tip: str
    changes_result: bool
    shown: dict[str, Any]  # where the interface differs: default, low, high, soft_low, soft_high, as

    @property
    def start(self) -> Any:
        """What the interface starts with."""
        return self.shown.get("default", self.default)


def _setting(row: dict[str, Any]) -> Setting:
    default = row.get("default")
    if row["type"] == "number" and default is not None:
        default = float(default)  # 1 and 1.0 are the same number, but not the same text in a job
    return Setting(
        row["key"], row["type"], default, row.get("low"), row.get("high"), row.get("soft_low"), row.get("soft_high"),
        row.get("unit", ""), tuple(row.get("roles", ())), tuple(row.get("solvers", ())),
        tuple(Word(word["word"], word.get("label", ""), word.get("tip", "")) for word in row.get("words", ())),
        row.get("label", ""), row.get("tip", ""), row.get("fingerprint", True), row.get("shown", {}))


_document = json.loads(FILE.read_text("utf-8"))
CONSTANTS: dict[str, Any] = _document["constants"]
SOLVERS: dict[str, dict[str, Any]] = _document["solvers"]
VERSION: int = _document["schema"]  # of jobs
BLOCKS: dict[str, tuple[Setting, ...]] = {name: tuple(map(_setting, rows)) for name, rows in _document["blocks"].items()}
_ROLES = {word.word for row in BLOCKS["object"] if row.key == "role" for word in row.words}


def find(name: str) -> Setting:
    """By block and key, "solver.friction"; of objects by role and key, "collider.friction"."""
    block, key = name.split(".")
    rows = BLOCKS["object" if block in _ROLES else block]
    for row in rows:
        if row.key == key and (block not in _ROLES or not row.roles or block in row.roles):
            return row
    raise KeyError(name)


def uses(solver: str, name: str) -> bool:
    """Whether the solver (as a job names it, or in the interface's capitals) uses the setting."""
    solvers = find(name).solvers
    return not solvers or solver.lower() in solvers


def default(name: str) -> Any:
    """What a missing key means. A key with this value need not be written."""
    return find(name).default
