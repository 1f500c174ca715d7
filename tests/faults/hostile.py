# SPDX-License-Identifier: GPL-3.0-or-later
"""The hostile set: files made to harm, in tables.

Every case ends with a named error or, where it says so, as if nothing had been.
"""
from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import caches
import watch
from scenes import MAKES, STAGES, Scene, Scenes

REFUSED = frozenset((watch.JOB, watch.IO, watch.MEMORY, watch.DAMAGED))


@dataclass(frozen=True)
class Case:
    """`prepare` makes the harm in a world, then `command` runs on it. `codes` may end it; an error names `names`."""

    name: str
    command: str
    prepare: Callable[[watch.World], object]
    codes: Collection[int] = REFUSED
    names: str = ""
    start: str = "whole"  # the cache it starts from: whole, half, none; fields: distance fields alone
    scene: str = "dem"
    inside: str = ""  # the folder in the cache that is looked at
    same_bytes: bool = False  # where it ends well, the frames are those of an undisturbed bake
    warns: str = ""  # and a warning says this
    environment: tuple[tuple[str, str], ...] = ()


def world_of(case: Case, scene: Scene, folder: Path) -> watch.World:
    cache = {"whole": scene.whole, "half": scene.half, "fields": scene.whole}.get(case.start)
    world = watch.World(folder, scene.job, cache)
    if case.start == "fields":
        for path in world.cache.iterdir():
            if path.name != "sdf":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif case.start == "whole" and case.command in STAGES[1:]:
        for name in MAKES[case.command]:
            if not case.inside.startswith(name):
                shutil.rmtree(world.cache / name)
    return world


def arguments_of(case: Case, world: watch.World) -> list[object]:
    if case.command in STAGES:
        return [case.command, world.job, "--cache", world.cache, "--threads", 1]
    if case.command == "export":
        return ["export", world.cache / case.inside, "--frame", 3, "--format", "ply", "-o", world.folder / "out.ply"]
    if case.command in ("cover", "sdf"):
        out = (
            ["-o", world.folder / "out.ply"]
            if case.command == "cover"
            else ["--voxel", 0.1, "-o", world.folder / "out.vdb"]
        )
        return [case.command, world.folder / case.inside, *(["--radius", 0.1] if case.command == "cover" else []), *out]
    return [case.command, world.cache / case.inside]


def check(case: Case, scene: Scene, folder: Path) -> None:
    world = world_of(case, scene, folder)
    try:
        case.prepare(world)
        world.freeze()
        result = watch.run(
            *arguments_of(case, world),
            seconds=scene.patience,
            codes=case.codes,
            names=case.names,
            environment=dict(case.environment),
        )
        world.check_outside()
        if result.code != watch.DONE:
            return
        if case.warns:
            said = [event["message"] for event in result.events if event["event"] == "warning"]
            watch.ensure(
                any(case.warns in text for text in said),
                f"ends well without a warning that names '{case.warns}': {said}",
            )
        if case.same_bytes:
            found = caches.digest(world.cache)
            other = sorted(
                k for k, v in scene.digest.items() if "/" not in k and k.startswith("coarse") and found.get(k) != v
            )
            watch.ensure(not other, f"other frames than those of an undisturbed bake: {', '.join(other)}")
    finally:
        world.remove()


def problem_of(case: Case, scenes: Scenes, folder: Path) -> str:
    """What is wrong, or nothing."""
    try:
        check(case, scenes[case.scene], folder)
    except watch.Finding as finding:
        return str(finding)
    except Exception as error:  # noqa: BLE001 - a case that breaks proves nothing
        return f"the case itself broke: {error!r}"
    return ""


def check_all(cases: Iterable[Case], scenes: Scenes, folder: Path) -> None:
    """All of them, as many at once as there are processors; fails with the names of those that broke a promise."""
    cases = list(cases)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        problems = list(pool.map(lambda n: problem_of(cases[n], scenes, folder / f"case{n}"), range(len(cases))))
    wrong = [(case, problem) for case, problem in zip(cases, problems) if problem]
    for case, problem in wrong:
        print(f"# {case.name} ({case.command}): {problem}", flush=True)
    print(f"# {len(cases) - len(wrong)} of {len(cases)} cases held")
    assert not wrong, f"{len(wrong)} of {len(cases)} cases: {', '.join(case.name for case, _ in wrong[:12])}"
