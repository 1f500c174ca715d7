# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches and jobs from a stranger: forged lists and jobs, links and pipes in place of files."""
from __future__ import annotations

import json
import os
import shutil
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import forge
import watch
from kinds_damaged import FLOATS, INTEGERS, READERS, use
from trial import Trial

# --- forged lists and jobs ------------------------------------------------------------------------

TEXTS = ("", "\x1b[2J", "../../canary", "/dev/zero", "a" * 100000, "\ud800", "%s%n", "line\nline", "coarse", "\0")
ANYTHING = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63 - 1,
    -(2**63),
    1e308,
    0.5,
    -0.0,
    [],
    {},
    [[]],
    *TEXTS,
)


def places(document: object, path: tuple = ()) -> list[tuple]:
    """Every key and index of a document."""
    inside = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [p for key, value in inside for p in ((*path, key), *places(value, (*path, key)))]


def change_document(document: object, trial: Trial) -> str:
    """Another value somewhere, or a key gone, doubled or new."""
    path = trial.choose(places(document))
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    way, value = trial.choose(("replace",) * 6 + ("remove", "double", "add")), trial.choose(ANYTHING)
    if way == "remove":
        del holder[path[-1]]
    elif way == "double" and isinstance(holder, list):
        holder.append(holder[path[-1]])
    elif way == "add" and isinstance(holder, dict):
        holder[str(trial.choose(TEXTS))] = value
    else:
        holder[path[-1]] = value
    return f"{way} {'.'.join(map(str, path))}: {str(value)[:30]!r}"


def forge_list(trial: Trial) -> bool:
    """cache.json says something else, with its checksum right."""
    world = watch.World(trial.folder, trial.scene.job, trial.scene.whole)
    folder = trial.choose((world.cache, world.cache / "grains", world.cache / "volume"))
    manifest = forge.Manifest(folder)
    for _ in range(trial.choose((1, 1, 2))):
        trial.tell(f"{folder.name}: {change_document(manifest.data, trial)}")
    manifest.write()
    return use(trial, str(trial.choose(READERS["cache"])), world, folder) != watch.DONE


def forge_job(trial: Trial) -> bool:
    """A job that says something else, or whose arrays hold other numbers."""
    world = watch.World(trial.folder, trial.scene.job)
    if trial.choose((True, False)):
        document = json.loads((world.job / "job.json").read_text())
        trial.tell(change_document(document, trial))
        (world.job / "job.json").write_text(json.dumps(document))
    else:
        path = world.job / "geometry.bin"
        content = bytearray(path.read_bytes())
        at = trial.pick.randrange(len(content)) // 4 * 4
        content[at : at + 4] = trial.choose(
            (struct.pack("<f", trial.choose(FLOATS)), struct.pack("<i", trial.choose(INTEGERS)))
        )
        trial.tell(f"geometry.bin at {at}: {content[at : at + 4].hex()}")
        path.write_bytes(content)
    world.freeze()
    # One frame: what another scale or another rate makes of the work is not a hang.
    result = watch.run(
        "bake",
        world.job,
        "--cache",
        world.cache,
        "--until",
        1,
        "--threads",
        1,
        seconds=trial.scene.patience + watch.PATIENCE,
    )
    world.check_outside()
    return result.code != watch.DONE


# --- links and pipes ------------------------------------------------------------------------------


def make_socket(path: Path, world: watch.World) -> None:
    """Bound by a short relative name: the address of a socket holds 107 bytes."""
    with socket.socket(socket.AF_UNIX) as listener:
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{directory}/{path.name}")
        finally:
            os.close(directory)


def make_folder(path: Path, world: watch.World) -> None:
    path.mkdir()
    (path / "kept.txt").write_text("in a folder where a file should be")


def link_to(target: str) -> Callable[[Path, watch.World], None]:
    def make(path: Path, world: watch.World) -> None:
        path.symlink_to(world.folder / target)

    return make


def link_to_device(path: Path, world: watch.World) -> None:
    path.symlink_to("/dev/zero")


def link_to_itself(path: Path, world: watch.World) -> None:
    path.symlink_to(path.name)


def another_name(path: Path, world: watch.World) -> None:
    path.hardlink_to(world.canary / "diary.txt")


def make_pipe(path: Path, world: watch.World) -> None:
    os.mkfifo(path)


THINGS: dict[str, Callable[[Path, watch.World], None]] = {
    "link to a file": link_to("canary/diary.txt"),
    "link to a folder": link_to("canary"),
    "link to a folder of frames": link_to("canary/inside"),
    "link to nothing": link_to("canary/new"),
    "link to itself": link_to_itself,
    "link to a device": link_to_device,
    "another name of a file": another_name,
    "pipe": make_pipe,
    "socket": make_socket,
    "folder": make_folder,
}
SPOTS = (
    "lock",
    "cache.json",
    "cache.json.part",
    "checkpoint.grain",
    "checkpoint.grain.part",
    "checkpoint_000002.grain",
    "coarse_000001.grain",
    "coarse_000005.grain",
    "coarse_000005.grain.part",
    "birth_000001.grain",
    "birth_000005.grain.part",
    "grains",
    "grains/lock",
    "grains/cache.json",
    "grains/cache.json.part",
    "grains/grains_000002.grain",
    "grains/grains_000007.grain.part",
    "grains/checkpoint.grain",
    "grains/birth_000001.grain",
    "volume",
    "volume/lock",
    "volume/cache.json",
    "volume/volume_0003.vdb",
    "volume/volume_0003.vdb.part",
    "sdf",
    "log.jsonl",
)
COMMANDS = ("bake", "upsample", "volume", "verify", "info", "export", "gc", "repair")


def plant_thing(thing: str, path: Path, world: watch.World) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    THINGS[thing](path, world)
    world.freeze()


def links(trial: Trial) -> bool:
    """Something that is no file where a file of the cache should be, or no folder where a folder should be."""
    world = watch.World(trial.folder, trial.scene.job, trial.choose((trial.scene.half, trial.scene.whole)))
    thing, spot = str(trial.choose(list(THINGS))), str(trial.choose(SPOTS))
    trial.tell(f"{thing} at {spot}")
    plant_thing(thing, world.cache / spot, world)
    codes = [use(trial, str(trial.choose(COMMANDS)), world, world.cache) for _ in range(2)]
    return any(code != watch.DONE for code in codes)
