#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made from the library's table of settings: addon/grain/engine/schema.json, and the tables in formats.md.

    libgrain/docs/settings_tables.py build/release/bin/grain [--check]

With --check nothing is written, and the exit code is 1 if a file is not as it would be. `cmake --build build/release --target schema`
runs it.
"""
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COPY = HERE.parent.parent / "addon/grain/engine/schema.json"
DOCUMENT = HERE / "formats.md"
BEGIN, END = "<!-- begin: made by settings_tables.py -->\n", "<!-- end -->\n"
ROLES = ("source", "emitter", "collider", "body", "kill", "grain")
# What stands in front of a key, by block.
PREFIX = {"job": "", "geometry": "geometry.", "array": "arrays[].", "object": "objects[].", "plane": "plane.",
          "material": "material.", "attribute": "attributes[].", "field": "fields[].", "solver": "solver.", "upsample": "upsample.",
          "volume": "volume."}
TITLE = {"job": "The job", "geometry": "The geometry file", "array": "Arrays", "solver": "The solver", "object": "Objects",
         "plane": "A collider's plane", "material": "A source's material", "attribute": "A source's attributes",
         "field": "Force fields", "upsample": "Render grains", "volume": "Volumes"}


def number(value: float) -> str:
    if value in (2**53, 2**31 - 1, -(2**31)):
        return "2^53" if value == 2**53 else "2^31 - 1" if value > 0 else "-2^31"
    text = f"{value:.15g}" if abs(value) < 1e7 else f"{value:g}"
    return re.sub(r"e\+?(-?)0*", r"e\1", text)


def names(block: str, row: dict[str, Any]) -> str:
    roles = row.get("roles", [])
    prefixes = [f"{role}." for role in ROLES if role in roles] if roles else [PREFIX[block]]
    return ", ".join(f"`{prefix}{row['key']}`" for prefix in prefixes)


def allowed(row: dict[str, Any]) -> str:
    unit = f" {row['unit']}" if row.get("unit") else ""
    if "allowed" in row:
        return row["allowed"]
    if row["type"] == "choice":
        return ", ".join(word["word"] for word in row["words"])
    if row["type"] == "flag":
        return "true, false"
    if row["type"] == "text":
        return "text"
    some = "three numbers, each " if row["type"] == "vector" else ""
    return f"{some}{number(row['low'])} to {number(row['high'])}{unit}"


def default(row: dict[str, Any]) -> str:
    if "otherwise" in row:
        return row["otherwise"]
    if row.get("required"):
        return "required"
    value = row.get("default")
    if value is None:
        return "none"
    if row["type"] == "vector":
        return " ".join(map(number, value))
    if row["type"] == "flag":
        return "true" if value else "false"
    return (value or '""') if isinstance(value, str) else number(value)


def meaning(row: dict[str, Any]) -> str:
    users = f"of {', '.join(row['solvers'])}: " if "solvers" in row else ""
    notes = [] if row.get("fingerprint", True) else ["not part of the fingerprint"]
    if row.get("animated"):
        notes.append("can be animated")
    return "; ".join([users + row["meaning"], *notes])


def tables(schema: dict[str, Any]) -> str:
    """One table for each block: a line of Markdown is a row, so nothing can stand between them."""
    parts = []
    for block, rows in schema["blocks"].items():
        lines = [f"| {names(block, row)} | {allowed(row)} | {default(row)} | {meaning(row)} |" for row in rows]
        parts.append("\n".join([f"### {TITLE[block]}", "", "| key | allowed | default | meaning |", "|---|---|---|---|", *lines]) + "\n")
    return "\n".join(parts)


def main() -> int:
    printed = subprocess.run([sys.argv[1], "schema"], capture_output=True, check=True).stdout.decode("utf-8")
    text = DOCUMENT.read_text("utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END, 1)[1]
    made = {COPY: printed, DOCUMENT: before + BEGIN + tables(json.loads(printed)) + END + after}
    stale = [path for path, content in made.items() if not path.exists() or path.read_text("utf-8") != content]
    for path in stale:
        if "--check" in sys.argv[2:]:
            print(f"{path.name} is not what `grain schema` says; run cmake --build BUILD --target schema")
        else:
            path.write_text(made[path], "utf-8", newline="\n")
    return 1 if stale and "--check" in sys.argv[2:] else 0


if __name__ == "__main__":
    sys.exit(main())
