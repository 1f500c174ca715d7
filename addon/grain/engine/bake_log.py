# SPDX-License-Identifier: GPL-3.0-or-later
"""What bakes said, kept beside their frames: for statistics, tables and bug reports. A line of JSON for each event."""
import csv
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

FILE = "log.jsonl"
_BULKY = ("cache",)  # said once at the start; paths are private and say nothing here

COLUMNS = ("time", "stage", "frame", "particles", "seconds_per_frame", "bytes_written", "substeps", "rejected_substeps",
           "contacts", "deepest_overlap", "kinetic_energy", "potential_energy", "elastic_energy")


def append(path: Path, event: dict[str, Any]) -> None:
    """A log that cannot be written is no reason to end a bake."""
    kept = {name: value for name, value in event.items() if name not in _BULKY}
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"time": round(time.time(), 2), **kept}, ensure_ascii=False) + "\n")
    except OSError:
        pass


def read(path: Path) -> list[dict[str, Any]]:
    """All events, the oldest first; nothing where there is no log. A line cut off by a crash is left out."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError:
        return []
    events = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def frame_rows(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each frame that was written, COLUMNS as far as they are known."""
    rows = []
    for event in events:
        if event.get("event") == "frame":
            flat = {**event, **event.get("statistics", {})}
            rows.append({name: flat[name] for name in COLUMNS if name in flat})
    return rows


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
    slowest = max(rows, key=lambda row: row.get("seconds_per_frame", 0.0))
    overlaps = [row["deepest_overlap"] for row in rows if "deepest_overlap" in row]
    return Summary(len(rows), sum(row.get("seconds_per_frame", 0.0) for row in rows), slowest["frame"],
                   slowest.get("seconds_per_frame", 0.0), rows[-1].get("particles", 0),
                   max(row.get("substeps", 0) for row in rows) / len(rows), max(overlaps, default=None))
