# SPDX-License-Identifier: GPL-3.0-or-later
"""Every case of the hostile set: a named error or no harm, within seconds, and nothing outside the cache changed."""
from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import hostile
import hostile_checkpoints
import hostile_frames
import hostile_jobs
import hostile_links
import hostile_lists
import hostile_meshes
from scenes import Scenes

SETS = (hostile_jobs, hostile_meshes, hostile_links, hostile_checkpoints, hostile_frames, hostile_lists)


@functools.cache
def scenes() -> Scenes:
    """Baked once for all tests of this file; removed with the interpreter."""
    folder = tempfile.TemporaryDirectory(prefix="grain_hostile_")
    made = Scenes(Path(folder.name))
    made.owner = folder
    return made


def test_there_are_hundreds_of_cases_and_no_two_alike(folder: Path) -> None:
    names = [f"{case.scene} {case.start} {case.command} {case.name}" for module in SETS for case in module.cases()]
    assert len(names) >= 300 and len(names) == len(set(names)), (len(names), len(set(names)))


def test_jobs(folder: Path) -> None:
    hostile.check_all(hostile_jobs.cases(), scenes(), folder)


def test_meshes(folder: Path) -> None:
    hostile.check_all(hostile_meshes.cases(), scenes(), folder)


def test_links_and_pipes(folder: Path) -> None:
    hostile.check_all(hostile_links.cases(), scenes(), folder)


def test_checkpoints(folder: Path) -> None:
    hostile.check_all(hostile_checkpoints.cases(), scenes(), folder)


def test_frames_and_births(folder: Path) -> None:
    hostile.check_all(hostile_frames.cases(), scenes(), folder)


def test_lists_and_locks(folder: Path) -> None:
    hostile.check_all(hostile_lists.cases(), scenes(), folder)
