# SPDX-License-Identifier: GPL-3.0-or-later
"""What bakes said, kept beside their frames: for statistics, tables and bug reports. A line of JSON for each event."""
import csv
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from . import door, reading, text

FILE = "log.jsonl"
_BULKY = ("cache",)  # said once at the start; paths are private and say nothing here
_MOST_BYTES = 64 << 20  # that are read, the newest ones
_MOST_SECONDS = 1e9
_LAST_FRAME = 1 << 21

COLUMNS = ("time", "stage", "frame", "particles", "seconds_per_frame", "bytes_written", "substeps", "rejected_substeps",
           "contacts", "deepest_overlap", "kinetic_energy", "potential_energy", "elastic_energy")
_WHOLE = ("particles", "bytes_written", "substeps", "rejected_substeps", "contacts")
_RANGES = {"time": (0.0, 1e12), "seconds_per_frame": (0.0, _MOST_SECONDS), "deepest_overlap": (-1e6, 1e6)}
_ANY = (-1e300, 1e300)


def append(path: Path, event: dict[str, Any]) -> None:
    """A log that cannot be written is no reason to end a bake."""
    kept = {name: value for name, value in event.items() if name not in _BULKY}
    try:
        door.append(path, (json.dumps({"time": round(time.time(), 2), **kept}) + "\n").encode("ascii"))
    except OSError:
        pass


def cleaned(path: Path) -> str:
    """As it may be shown. Raises OSError."""
    return "\n".join(text.clean(line, most=4000) for line in _lines(path))


def _lines(path: Path) -> list[str]:
    data = door.read_end(path, _MOST_BYTES)
    return data.decode("utf-8", "replace").split("\n")


def read(path: Path) -> list[dict[str, Any]]:
    """All events, the oldest first; nothing where there is no log that can be read. What is no event is left out, be it a line cut off by
    a crash or one that somebody else wrote."""
    try:
        lines = _lines(path)
    except OSError:
        return []
    events = []
    for line in filter(None, lines):
        try:
            events.append(reading.parse(line.encode("utf-8")).values)
        except reading.Unfit:
            continue
    return events


def frame_rows(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each frame that was written, COLUMNS as far as they are known."""
    rows = []
    for event in events:
        if event.get("event") == "frame":
            try:
                rows.append(_row(reading.Block(event)))
            except reading.Unfit:
                continue
    return rows


def _row(event: reading.Block) -> dict[str, Any]:
    """What can be of the columns. Raises Unfit where that is no frame."""
    flat = reading.Block({**event.values, **event.block("statistics").values})
    stage = text.clean(event.text("stage", ""), 100).lstrip("=+-@")  # with which a formula begins in a table
    found: dict[str, Any] = {"stage": stage, "frame": event.integer("frame", -_LAST_FRAME, _LAST_FRAME)}
    for name in COLUMNS:
        if name in flat.values and name not in found:
            try:
                found[name] = flat.integer(name, 0) if name in _WHOLE else flat.number(name, *_RANGES.get(name, _ANY))
            except reading.Unfit:
                continue
    return {name: found[name] for name in COLUMNS if name in found}


def write_csv(events: list[dict[str, Any]], path: Path) -> int:
    """Returns how many rows. Raises OSError."""
    rows = frame_rows(events)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
    return len(rows)


@dataclass(frozen=True)
class Summary:
    """Of one stage, over all its runs."""
    frames: int
    seconds: float
    slowest_frame: int
    slowest_seconds: float
    particles: int
    substeps_per_frame: float
    deepest_overlap: Optional[float]


def summaries(events: list[dict[str, Any]]) -> dict[str, Summary]:
    """By stage, in the order they were first run."""
    by_stage: dict[str, dict[int, dict[str, Any]]] = {}
    for row in frame_rows(events):
        by_stage.setdefault(row.get("stage", ""), {})[row["frame"]] = row  # a frame baked again counts once
    return {stage: _summary(list(rows.values())) for stage, rows in by_stage.items()}


def _summary(rows: list[dict[str, Any]]) -> Summary:
    slowest = max(rows, key=lambda row: float(row.get("seconds_per_frame", 0.0)))
    overlaps = [row["deepest_overlap"] for row in rows if "deepest_overlap" in row]
    return Summary(len(rows), sum(row.get("seconds_per_frame", 0.0) for row in rows), slowest["frame"],
                   slowest.get("seconds_per_frame", 0.0), rows[-1].get("particles", 0),
                   max(row.get("substeps", 0) for row in rows) / len(rows), max(overlaps, default=None))
