# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are damaged, or forged with right checksums."""
from __future__ import annotations

import math
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import caches
import forge
import watch
from trial import Trial

FLOATS = (math.nan, math.inf, -math.inf, 3.4e38, -3.4e38, 1e30, 1e9, -1e9, -1.0, 0.0, 1e-30, 1e-42)
DOUBLES = (*FLOATS, 1e308, -1e308)
INTEGERS = (-1, 2**31 - 1, -(2**31), 1 << 20, 255, 1, 0, -2)
LONGS = (*INTEGERS, 2**63 - 1, -(2**63), 1 << 40)
OF_TYPE = (FLOATS, INTEGERS, DOUBLES, LONGS)
COUNTS = (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1)


# --- flipped bits ---------------------------------------------------------------------------------


def shortened(content: bytes, pick: object) -> bytes:
    return content[: pick.randrange(len(content))]


def zeroed(content: bytes, pick: object) -> bytes:
    """A page of zeros, as a disk leaves that lost power."""
    at = pick.randrange(len(content)) // 4096 * 4096
    return content[:at] + bytes(len(content[at : at + 4096])) + content[at + 4096 :]


def longer(content: bytes, pick: object) -> bytes:
    return content + pick.randbytes(pick.randrange(1, 100))


def flip(trial: Trial) -> bool:
    """Any change of any file is found and named; one in ten is repaired and baked again, to the same bytes."""
    world = watch.World(trial.folder, trial.scene.job, trial.scene.whole)
    victim = world.cache / trial.choose(sorted(trial.scene.digest))
    change = trial.choose((caches.flipped,) * 12 + (shortened, zeroed, longer))
    content = victim.read_bytes()
    damaged = change(content, trial.pick)
    trial.tell(f"{change.__name__} {victim.relative_to(world.cache)}")
    victim.write_bytes(damaged)
    watch.run(
        "verify",
        world.cache,
        codes={watch.DAMAGED if damaged != content else watch.DONE},
        names=victim.name if damaged != content else "",
    )
    if trial.number % 10 == 0:
        fixed = watch.run("repair", world.cache, codes={watch.DONE, watch.DAMAGED}, names=victim.name)
        if fixed.code == watch.DAMAGED:  # the list itself: bake anew
            shutil.rmtree(victim.parent)
        # Restart points of frames that are there already are not made again.
        trial.scene.complete(world, lacking={victim.name} if victim.name.startswith("checkpoint") else set())
    world.check_outside()
    return damaged != content


# --- forged columns -------------------------------------------------------------------------------


def change_value(file: forge.File, trial: Trial) -> str:
    column = trial.choose([c for c in file.columns.values() if c.values] or list(file.columns.values()))
    value = trial.choose(OF_TYPE[column.type])
    if column.values == 0:
        return "nothing"
    if trial.choose((True, True, False)):
        index = trial.pick.randrange(column.values)
        file.set_value(column.name, index, value)
        return f"{column.name}[{index}] = {value}"
    file.set_all(column.name, value)
    return f"all of {column.name} = {value}"


def swap_values(file: forge.File, trial: Trial) -> str:
    """One value twice: no permutation any more, an order broken."""
    column = trial.choose(list(file.columns.values()))
    if column.values < 2:
        return "nothing"
    a, b = trial.pick.sample(range(column.values), 2)
    file.set_value(column.name, a, file.values(column.name)[b])
    return f"{column.name}[{a}] = [{b}]"


def change_field(file: forge.File, trial: Trial) -> str:
    field = trial.choose(("format", "frame", "time", "particles", "columns", "substep", "bytes"))
    code = (forge.PACKED_FIELDS if file.is_packed else forge.FIELDS)[field][1]
    return put(lambda value: file.put(field, value), code, trial, field)


def change_entry(file: forge.File, trial: Trial) -> str:
    column = trial.choose(list(file.columns))
    fields = forge.PACKED_ENTRY_FIELDS if file.is_packed else forge.ENTRY_FIELDS
    field = trial.choose(list(fields))
    return put(lambda value: file.put_entry(column, field, value), fields[field][1], trial, f"{column}.{field}")


def change_block(file: forge.File, trial: Trial) -> str:
    number, field = trial.pick.randrange(file.block_count), trial.choose(list(forge.BLOCK_FIELDS))
    code = forge.BLOCK_FIELDS[field][1]
    return put(lambda value: file.put_block(number, field, value), code, trial, f"block {number} {field}")


def change_packed(file: forge.File, trial: Trial) -> str:
    """Bytes of a block, before they are unpacked."""
    at = trial.pick.randrange(file.head, len(file.data))
    file.data[at] = trial.pick.randrange(256)
    return f"byte {at} of the blocks"


def put(write: Callable[[object], None], code: str, trial: Trial, name: str) -> str:
    if code.endswith("s"):
        value = trial.choose((b"", b"position", b"\xff" * 32, b"\x1b[31mred", b"sim.time"))
    elif code in "fd":
        value = trial.choose(DOUBLES)
    else:
        low, high = range_of(code)
        value = min(max(trial.choose((*COUNTS, 2, 3, 63, 64, 65)), low), high)
    write(value)
    return f"{name} = {value!r}"


def range_of(code: str) -> tuple[int, int]:
    """Of a whole number, by its letter in struct: small letters are signed."""
    count = 256 ** struct.calcsize(code)
    return (-count // 2, count // 2 - 1) if code.islower() else (0, count - 1)


def forged(file: forge.File, trial: Trial) -> bytes:
    """The changed file with the checksums it needs."""
    kinds = (
        (change_field, change_entry, change_block, change_packed, change_packed)
        if file.is_packed
        else (change_value,) * 8 + (swap_values,) * 2 + (change_field, change_entry)
    )
    change = trial.choose(kinds)
    trial.tell(change(file, trial))
    return file.sealed_head() if change is change_block else file.sealed()


# What reads each kind of file.
READERS = {
    "checkpoint": ("verify", "bake"),
    "coarse": ("verify", "info", "export", "upsample", "volume"),
    "birth": ("verify", "info", "export", "upsample"),
    "grains": ("verify", "info", "export", "volume"),
    "cache": ("verify", "info", "export", "bake", "upsample", "volume", "gc", "repair"),
    "fine": ("bake",),
}


def use(trial: Trial, command: str, world: watch.World, folder: Path, codes: set[int] | None = None) -> int:
    """Runs one of the commands on what may be anything; it ends as promised, and touches nothing outside."""
    trial.tell(command)
    arguments: tuple[object, ...] = (command, folder)
    if command in ("bake", "upsample", "volume"):
        arguments = (command, world.job, "--cache", world.cache, "--threads", 1)
    elif command == "export":
        form = trial.choose(("ply", "vdbpoints", "vdb"))
        arguments = (command, folder, "--frame", trial.choose((1, 2, 3)), "--format", form, "-o", world.folder / "out")
    # A checkpoint may have things move at any speed, and steps are as short as speeds ask for.
    result = watch.run(*arguments, seconds=trial.scene.patience, codes=codes, may_work_on=command == "bake")
    world.check_outside()
    return result.code


def forge_file(trial: Trial) -> bool:
    """A .grain file with another value, field or entry, every checksum right: an error or a result, and no harm."""
    name = str(trial.choose([n for n in trial.scene.digest if n.endswith(".grain")] + ["checkpoint.grain"] * 12))
    kind = Path(name).name.split("_")[0].removesuffix(".grain")
    is_bake = kind == "checkpoint" and trial.choose((True, True, False))
    world = watch.World(trial.folder, trial.scene.job, trial.scene.half if is_bake else trial.scene.whole)
    if not (world.cache / name).exists():
        name = "checkpoint.grain"
    if is_bake:
        trial.tell("half baked")
        for path in world.cache.glob("checkpoint_*.grain"):  # nothing else to resume from
            if path.name != name and trial.choose((True, False)):
                path.unlink()
    trial.tell(name)
    path = world.cache / name
    forge.plant(path, forged(forge.File(path.read_bytes()), trial))
    return read_again(trial, world, path, "bake" if is_bake else str(trial.choose(READERS[kind])))


def read_again(trial: Trial, world: watch.World, path: Path, command: str) -> bool:
    stage = {"upsample": "grains", "volume": "volume"}.get(command)
    if stage and path.parent == world.cache and (world.cache / stage).is_dir():
        shutil.rmtree(world.cache / stage)
    return use(trial, command, world, path.parent) != watch.DONE
