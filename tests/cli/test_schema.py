# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of settings: what `grain schema` prints holds for the reader of jobs, and everything made from it is current."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jobs
import program
from harness import Skip

ROOT = Path(__file__).resolve().parent.parent.parent


def printed() -> dict:
    return json.loads(subprocess.run([*program.COMMAND, "schema"], capture_output=True, check=True).stdout)


def rows(schema: dict, block: str) -> list[dict]:
    return [row for row in schema["blocks"][block] if "low" in row and row["type"] in ("number", "integer")]


def outcome(folder: Path, section: str, key: str, value: float) -> str:
    job = jobs.small(frame_end=1)
    job.data.setdefault(section, {})[key] = value
    result = program.run("bake", job.write(folder / "job"))
    return result.stderr if result.code == 3 else ""


def test_files_made_from_it_are_current(_: Path) -> None:
    if program.RUNNER:
        raise Skip("another system's program has no script around it")
    script = ROOT / "libgrain/docs/settings_tables.py"
    done = subprocess.run([sys.executable, str(script), str(program.GRAIN), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ends_of_ranges_are_allowed_and_what_is_beyond_is_not(folder: Path) -> None:
    schema = printed()
    for section in ("solver", "upsample", "volume"):
        for row in rows(schema, section):
            if row["key"] in ("particle_radius", "reach_ratio"):  # the scene has to fit it; with elastic_reach beyond what is allowed
                continue
            for end, step in (("low", -1), ("high", 1)):
                beyond = row[end] + step * max(1, abs(row[end])) * (1 if row["type"] == "integer" else 0.01)
                text = outcome(folder, section, row["key"], int(beyond) if row["type"] == "integer" else beyond)
                assert f"{section}.{row['key']} is " in text, f"{section}.{row['key']} = {beyond}: {text}"
            inside = row.get("default") if row.get("default") is not None else row["low"]
            assert not outcome(folder, section, row["key"], inside), row["key"]


def test_a_default_left_out_is_the_default(folder: Path) -> None:
    """Written out or left out, the settings of the volume and of the render grains give the same stage."""
    schema = printed()
    defaults = {block: {row["key"]: row["default"] for row in schema["blocks"][block]
                        if row.get("default") is not None and row["key"] != "seed"} for block in ("upsample",)}
    fingerprints = []
    for settings in ({}, defaults["upsample"]):
        job = jobs.small(frame_end=1, upsample=settings).write(folder / str(len(fingerprints)))
        program.run("bake", job, check=0)
        program.run("upsample", job, check=0)
        fingerprints.append(json.loads((job / "cache/grains/cache.json").read_text())["fingerprint"])
    assert fingerprints[0] == fingerprints[1]


def test_every_key_has_what_documents_need(_: Path) -> None:
    for block, settings in printed()["blocks"].items():
        for row in settings:
            assert row["meaning"], f"{block}.{row['key']}"
            assert row.get("required") or "default" in row or "otherwise" in row or row["type"] in ("object", "array"), row
