# SPDX-License-Identifier: GPL-3.0-or-later
"""What the add-on itself reads of a cache and a job, tried without Blender."""
from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import multiprocessing
import sys
import types
from collections.abc import Callable
from pathlib import Path

import hostile_jobs
import hostile_lists
import watch
from harness import Skip
from kinds_strange import THINGS
from scenes import Scenes

SECONDS = 5.0
DEEP = b"[" * 200000
LINES: dict[str, bytes] = {  # of log.jsonl
    "nothing": b"",
    "bad UTF-8": b'{"event": "frame", "frame": "\xff"}',
    "zeros": bytes(4096),
    "other bytes": bytes(range(256)),
    "deep lists": DEEP,
    "no object": b"[1]",
    "half an object": b'{"event": "fra',
    **{
        f"frame is {text.decode()[:12]}": b'{"event": "frame", "frame": ' + text + b"}"
        for text in (b"null", b"[]", b"{}", b'"x"', b"NaN", b"Infinity", b"-1e999", b"9" * 5000)
    },
    **{
        f"statistics is {text.decode()}": b'{"event": "frame", "frame": 1, "statistics": ' + text + b"}"
        for text in (b"null", b"3", b"[]", b'"x"', b'{"substeps": "x"}')
    },
    **{
        f"{key} is a text": b'{"event": "frame", "frame": 1, "' + key.encode() + b'": "x"}'
        for key in ("seconds_per_frame", "substeps", "deepest_overlap", "particles", "stage")
    },
    **{
        f"{key} is a list": b'{"event": "frame", "frame": 1, "' + key.encode() + b'": [1]}'
        for key in ("seconds_per_frame", "substeps", "deepest_overlap", "particles", "stage")
    },
    "no frame": b'{"event": "frame"}',
    "event is a list": b'{"event": ["frame"], "frame": 1}',
    "time is infinite": b'{"event": "frame", "frame": 1, "time": 1e999}',
}


@functools.cache
def engine() -> types.SimpleNamespace:
    """The parts of the add-on that know nothing of Blender."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "addon/grain"))
    try:
        parts = {name: importlib.import_module(f"engine.{name}") for name in ("cache", "bake_log", "job")}
    except ModuleNotFoundError as error:
        raise Skip(f"{error.name} is missing for this Python") from error
    has_lock = importlib.util.find_spec("engine.cache_lock") is not None
    lock = importlib.import_module("engine.cache_lock") if has_lock else parts["cache"]
    return types.SimpleNamespace(**parts, is_busy=lock.is_busy)


def with_words(read: Callable[..., object], *what: object) -> None:
    """A cache that cannot be read is a CacheError that says so."""
    try:
        read(*what)
    except engine().cache.CacheError as error:
        assert len(str(error).split()) > 3, error


def read_all(cache: Path, job: Path) -> None:
    """As the panels do."""
    part = engine()
    for folder in (cache, cache / "grains", cache / "volume"):
        for read in (part.cache.read_manifest, part.cache.own_files, part.cache.checkpoint_frames, part.is_busy):
            with_words(read, folder)
    events = part.bake_log.read(cache / part.bake_log.FILE)
    part.bake_log.summaries(events)
    part.bake_log.write_csv(events, cache.parent / "table.csv")
    part.job.read_document(job)


def in_child(queue: multiprocessing.Queue, cache: Path, job: Path) -> None:
    try:
        read_all(cache, job)
        queue.put("")
    except BaseException as error:  # noqa: BLE001 - whatever a reader raises is what is looked for
        queue.put(f"{type(error).__name__}: {str(error)[:120]}")


def problem_of(world: watch.World) -> str:
    """In a process of its own, which may hang or die."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue, world.cache, world.job))
    child.start()
    child.join(SECONDS)
    if child.exitcode is None:
        child.kill()
        child.join()
        return "hangs"
    try:
        world.check_outside()
    except watch.Finding as finding:
        return str(finding)
    return queue.get(timeout=1.0) if child.exitcode == 0 else f"ended with {child.exitcode}"


def check_all(folder: Path, changes: dict[str, Callable[[watch.World], object]]) -> None:
    engine()
    scene, wrong = Scenes(folder)["dem"], []
    for name, change in changes.items():
        world = watch.World(folder / "world", scene.job, scene.whole)
        change(world)
        world.freeze()
        problem = problem_of(world)
        if problem:
            wrong.append(name)
            print(f"# {name}: {problem}", flush=True)
    print(f"# {len(changes) - len(wrong)} of {len(changes)} cases held")
    assert not wrong, f"{len(wrong)} of {len(changes)} cases: {', '.join(wrong[:12])}"


def put(name: str, content: bytes) -> Callable[[watch.World], object]:
    return lambda world: (world.cache / name).write_bytes(content)


def plant(thing: str, name: str) -> Callable[[watch.World], object]:
    def change(world: watch.World) -> None:
        (world.cache / name).unlink(missing_ok=True)
        THINGS[thing](world.cache / name, world)

    return change


def test_an_undisturbed_cache_is_read(folder: Path) -> None:
    check_all(
        folder,
        {
            "nothing": lambda world: None,
            "a log": put("log.jsonl", b'{"event": "frame", "frame": 1, "statistics": {"substeps": 3}}\n'),
        },
    )
    scene = Scenes(folder)["dem"]
    manifest = engine().cache.read_manifest(scene.whole)
    assert manifest.first == 1 and len(manifest.particles) == 6


def test_lists_and_logs_that_are_something_else(folder: Path) -> None:
    check_all(
        folder,
        {
            **{f"log.jsonl: {name}": put("log.jsonl", content + b"\n") for name, content in LINES.items()},
            **{f"cache.json: {name}": put("cache.json", content) for name, content in hostile_lists.TEXTS.items()},
            **{
                f"cache.json: {place} is {str(number)[:20]!r}": hostile_lists.change_list(place, number)
                for place, numbers in hostile_lists.LIST.items()
                for number in (*numbers, 1e308, float("inf"), float("nan"))
            },
            **{f"job.json: {name}": hostile_jobs.write(content) for name, content in hostile_jobs.TEXTS.items()},
        },
    )


def test_links_and_pipes_where_the_add_on_reads(folder: Path) -> None:
    check_all(
        folder,
        {
            f"{thing} at {name}": plant(thing, name)
            for thing in THINGS
            for name in ("cache.json", "log.jsonl", "lock", "coarse_000003.grain")
        },
    )


def test_names_of_the_log_are_those_of_a_table(folder: Path) -> None:
    """The cases above go past the readers unless the words are those that the readers look for."""
    (folder / "log.jsonl").write_text(
        json.dumps({"event": "frame", "frame": 1, "stage": "simulate", "substeps": 5}) + "\n"
    )
    assert engine().bake_log.summaries(engine().bake_log.read(folder / "log.jsonl"))["simulate"].substeps_per_frame == 5
