# SPDX-License-Identifier: GPL-3.0-or-later
"""A cache from a stranger: links that lead out of it, what is no file, lists and logs that say anything. The add-on touches nothing
outside, waits for nobody, raises nothing, and tells what is wrong."""
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import support

PRECIOUS = b"somebody's only copy\n"
# What no manifest, job, log or status may do to its reader.
DEEP = b"[" * 100_000 + b"]" * 100_000
HOSTILE = {
    "nothing": b"", "no JSON": b"{", "bad UTF-8": b'{"format": 2, "frames": "\xff\xfe"}', "deep": DEEP,
    "deep in it": b'{"format": 2, "frames": ' + DEEP + b"}", "a list": b"[]", "a number": b"1e999", "text": b'"x"', "null": b"null",
    "digits": b'{"format": ' + b"9" * 200_000 + b"}", "zeros": bytes(4096),
}


def baked(folder: Path, last: int = 2) -> Path:
    support.small_scene(last)
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    return folder / "grain_cache/Sand"


def draw_panels() -> None:
    """All that the panels ask for at a redraw, and what handlers and polls do; none may raise."""
    from grain import handlers
    from grain.operators import cache as cache_operators, report, simulation, stages, volume
    from grain.panels import stages as stages_panel
    from grain.scene.manage import bake_state
    from grain.scene.show import playback, volumes
    scene = bpy.context.scene
    active = scene.grain.active
    bake_state.of_simulation(active), bake_state.of_grains(active)
    stages_panel._states(active)
    stages_panel._read(_folder() / "log.jsonl")
    volumes.condition(active), volumes.grid_names(active), volumes.follow_cache(active)
    for operator in (cache_operators.GRAIN_OT_free, report.GRAIN_OT_log_show, stages.GRAIN_OT_bake_from, volume.GRAIN_OT_show_volume,
                     volume.GRAIN_OT_surface_mesh, simulation.GRAIN_OT_simulation_remove):
        getattr(bpy.ops.grain, operator.bl_idname.split(".")[1]).poll()
    playback.forget(active)
    handlers.on_frame_change(scene)
    handlers._take_over_open_file()


def _folder() -> Path:
    from grain.scene import paths
    return paths.cache_folder(bpy.context.scene.grain.active)


def problem() -> str:
    """What the panel says is wrong."""
    from grain import runtime
    from grain.scene.manage import bake_state
    from grain.scene.show import volumes
    active = bpy.context.scene.grain.active
    shown = runtime.state.shown.get(_folder())
    said = [bake_state.of_bake(active).text, bake_state.of_grains(active).text, volumes.condition(active)[1]]
    return " ".join([*said, shown.message.text if shown is not None and shown.message is not None else ""])


def press(operator: Callable[..., set[str]], **settings: Any) -> str:
    """What an operator reports as wrong; a traceback is the test's."""
    try:
        operator(**settings)
    except RuntimeError as error:
        assert "Traceback" not in str(error), error
        return str(error)
    return ""


def within(seconds: float, action: Callable[[], Any]) -> Any:
    """What waits for a FIFO waits for ever. The alarm rings again and again: Blender prints what a handler raises, and calls the next."""
    import signal
    rang = []

    def give_up(*_: object) -> None:
        rang.append(True)
        raise AssertionError("it waits for somebody")
    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        result = action()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert not rang, "it waited for somebody"
    return result


def outside(folder: Path) -> Path:
    """Files that a link may lead to."""
    place = folder / "outside"
    place.mkdir()
    for name in ("file", "cache.json", "job.json", "grains_000001.grain", "volume_0001.vdb", "geometry.bin", "lock"):
        (place / name).write_bytes(PRECIOUS)
    return place


def is_untouched(place: Path) -> bool:
    return {path.read_bytes() for path in place.iterdir()} == {PRECIOUS} and len(list(place.iterdir())) == 7


def put_link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        os.rename(path, path.with_name(path.name + "_before"))
    path.unlink(missing_ok=True)
    path.symlink_to(target)


# --- links ------------------------------------------------------------------------------------------

def test_no_link_is_followed_by_a_bake(folder: Path) -> None:
    """Each in a fresh cache folder, and again in one that was baked."""
    support.needs_posix("links for everybody")
    place = outside(folder)
    scene = support.small_scene(2)
    support.save(folder)
    for name in ("lock", "lock.part", "log.jsonl", "cache.json", "cache.json.part", "job", "job/job.json", "job/job.json.part",
                 "job/geometry.bin", "job/geometry.bin.part", "job/lock", "job/lock.part"):
        scene.grain.active.name = f"Sand {name.replace('/', ' ')}"
        cache = _folder()
        put_link(cache / name, place if name == "job" else place / "file")
        error = press(bpy.ops.grain.bake)
        assert is_untouched(place), f"{name}: {error}"
        draw_panels()
        if not error:
            continue
        assert "link" in error and Path(name).name.split(".")[0] in error, f"{name}: {error}"
        (cache / name).unlink()
        assert press(bpy.ops.grain.bake) == "", name


def test_a_log_is_not_appended_to_through_a_link(folder: Path) -> None:
    support.needs_posix("links for everybody")
    from grain.engine import bake_log
    place = outside(folder)
    put_link(folder / "log.jsonl", place / "file")
    bake_log.append(folder / "log.jsonl", {"event": "frame"})
    assert is_untouched(place) and bake_log.read(folder / "log.jsonl") == []
    (folder / "log.jsonl").unlink()
    (folder / "log.jsonl").symlink_to(folder / "not there yet")
    bake_log.append(folder / "log.jsonl", {"event": "frame"})
    assert not (folder / "not there yet").exists()


def test_a_file_with_other_names_elsewhere_is_not_written_into(folder: Path) -> None:
    """Hard links: a bake writes a lock and a log in place, and what it writes there changes under every name."""
    from grain.engine import bake_log
    scene, precious = support.small_scene(2), folder / "precious"
    support.save(folder)
    precious.write_bytes(PRECIOUS)
    os.utime(precious, (time.time() - 1000,) * 2)
    before = precious.stat().st_mtime_ns
    for name in ("lock", "lock.part", "log.jsonl", "cache.json", "cache.json.part", "job/job.json", "job/job.json.part", "job/geometry.bin",
                 "job/lock", "job/lock.part"):
        scene.grain.active.name = f"Sand {name.replace('/', ' ')}"
        cache = _folder()
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        os.link(precious, cache / name)
        error = press(bpy.ops.grain.bake)
        assert precious.read_bytes() == PRECIOUS and precious.stat().st_mtime_ns == before, name
        if name == "cache.json":
            assert "damaged" in error and precious.stat().st_nlink == 2, error
            (cache / name).unlink()
        else:
            assert error == "" and precious.stat().st_nlink == 1, (name, error)
        if name == "log.jsonl":
            assert (cache / name).read_bytes().startswith(PRECIOUS) and bake_log.read(cache / name)[-1]["event"] == "done"


def test_a_job_is_not_written_through_links(folder: Path) -> None:
    support.needs_posix("links for everybody")
    from grain.engine import door
    place = outside(folder)
    for name in ("job.json", "job.json.part"):
        put_link(folder / name, place / "file")
    door.replace(folder / "job.json", b"{}")
    assert is_untouched(place) and (folder / "job.json").read_bytes() == b"{}" and not (folder / "job.json").is_symlink()
    put_link(folder / "job", place)
    try:
        door.replace(folder / "job" / "job.json", b"{}")
    except OSError as error:
        assert "link" in error.strerror and error.filename == str(folder / "job"), error
    else:
        raise AssertionError("written")
    assert is_untouched(place)


def test_free_and_move_stay_inside(folder: Path) -> None:
    support.needs_posix("links for everybody")
    from grain.engine import cache as engine_cache
    place, cache = outside(folder), baked(folder)
    for name in ("grains", "volume", "sdf", "coarse_000099.grain"):
        put_link(cache / name, place / "file" if "." in name else place)
    assert not [path for path in engine_cache.own_files(cache) if path.parent.name in ("grains", "volume")]
    error = press(bpy.ops.grain.free)
    assert is_untouched(place) and error == "" and not (cache / "cache.json").exists(), error
    assert (cache / "grains").is_symlink() and (cache / "coarse_000099.grain").is_symlink()
    for name in ("grains", "volume", "sdf"):
        (cache / name).unlink(missing_ok=True)
    assert press(bpy.ops.grain.bake) == "" and (cache / "cache.json").is_file()
    target = folder / "moved"
    put_link(target / "job", place)
    try:
        engine_cache.move(cache, target)
    except OSError as error:
        assert "link" in error.strerror, error
    assert is_untouched(place)


def test_a_move_to_another_disk_copies_in_pieces(folder: Path) -> None:
    import errno

    from grain.engine import door
    for name in ("here", "there"):
        (folder / name).mkdir()
    data = os.urandom(door._COPIED_BYTES * 2 + 5)
    (folder / "here" / "frame").write_bytes(data)
    rename = door.Folder._rename

    def between_disks(self: Any, name: str, other: Any, new: str) -> None:
        if other is not self:
            raise OSError(errno.EXDEV, "another disk")
        rename(self, name, other, new)
    door.Folder._rename = between_disks
    try:
        with door.Folder(folder / "here") as here, door.Folder(folder / "there") as there:
            here.move("frame", there)
    finally:
        door.Folder._rename = rename
    assert (folder / "there" / "frame").read_bytes() == data and not list((folder / "here").iterdir())


def test_only_names_inside_the_folder_are_taken(folder: Path) -> None:
    from grain.engine import door
    (folder / "inside").mkdir()
    (folder / "file").write_bytes(PRECIOUS)
    with door.Folder(folder / "inside") as place:
        for name in ("../file", "..", ".", "", str(folder / "file")):
            for action in (place.remove, place.look, place.open, lambda name: place.replace(name, [b"x"]), lambda name: place.append(name, b"x")):
                try:
                    action(name)
                except OSError as error:
                    assert "not a name" in error.strerror, (name, error)
                else:
                    raise AssertionError(name)
    assert (folder / "file").read_bytes() == PRECIOUS and not list((folder / "inside").iterdir())


def test_the_door_is_as_narrow_where_folders_have_no_handles(folder: Path) -> None:
    """As on Windows: by path, and with none of the flags that POSIX has for it."""
    support.needs_posix("links for everybody")
    from grain.engine import door
    kept = door._HAS_HANDLES, door._ALWAYS
    try:
        door._HAS_HANDLES, door._ALWAYS = False, 0
        for number, test in enumerate((test_a_log_is_not_appended_to_through_a_link, test_a_job_is_not_written_through_links,
                                       test_only_names_inside_the_folder_are_taken, test_folders_sockets_and_devices_are_named,
                                       test_a_cache_may_be_reached_through_links, test_free_and_move_stay_inside)):
            place = folder / str(number)
            place.mkdir()
            test(place)
    finally:
        door._HAS_HANDLES, door._ALWAYS = kept


def test_a_cache_may_be_reached_through_links(folder: Path) -> None:
    support.needs_posix("links for everybody")
    from grain.engine import cache, door
    (folder / "disk").mkdir()
    (folder / "cache").symlink_to(folder / "disk")
    door.replace(folder / "cache" / "cache.json", b"{}")
    assert (folder / "disk" / "cache.json").read_bytes() == b"{}" and not (folder / "cache" / "cache.json").is_symlink()
    with cache.claim(folder / "cache", lambda: door.replace(folder / "cache" / "job" / "job.json", b"{}")):
        assert (folder / "disk" / "job" / "job.json").is_file() and cache.cache_lock.is_busy(folder / "disk" / "job")


# --- what is no file --------------------------------------------------------------------------------

def test_nothing_waits_for_a_fifo(folder: Path) -> None:
    """At any name: the .blend opens, panels are drawn, frames change, Bake and Free end with words."""
    support.needs_posix("FIFOs")
    cache = baked(folder)
    bpy.ops.wm.save_mainfile()
    for name in ("cache.json", "coarse_000001.grain", "log.jsonl", "lock", "lock.part", "job/job.json", "job/geometry.bin", "job/lock",
                 "grains/cache.json", "grains/lock", "volume/cache.json", "birth_000001.grain"):
        path = cache / name
        kept = path.read_bytes() if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)

        def all_of_it() -> None:
            bpy.ops.wm.open_mainfile(filepath=str(folder / "test.blend"))
            draw_panels()
            bpy.context.scene.frame_set(1)
            press(bpy.ops.grain.log_show) if bpy.ops.grain.log_show.poll() else None

        within(20, all_of_it)
        if name.endswith("cache.json"):
            assert str(path) in problem() and "not a regular file" in problem(), problem()
        path.unlink()
        if kept is not None:
            path.write_bytes(kept)
    assert within(60, lambda: press(bpy.ops.grain.bake)) == "" and "All 2 frames" in problem()


def test_folders_sockets_and_devices_are_named(folder: Path) -> None:
    support.needs_posix("sockets in folders")
    import socket

    from grain.engine import door
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket"))
    (folder / "sub").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "device").symlink_to("/dev/zero")
    for name, words in (("socket", "not a regular file"), ("sub", "a folder"), ("fifo", "not a regular file"), ("device", "link")):
        for action in (door.state, lambda path: door.read(path, 10), lambda path: door.append(path, b"x"), door.open_to_read):
            try:
                within(5, lambda action=action, name=name: action(folder / name))
            except OSError as error:
                assert words in error.strerror and error.filename == str(folder / name), error
            else:
                raise AssertionError(name)
    listener.close()
    assert not door.is_file(folder / "fifo") and not door.is_file(folder / "nothing")


def test_a_file_larger_than_any_of_grain_is_not_read(folder: Path) -> None:
    from grain.engine import bake_log, cache
    with open(folder / "cache.json", "wb") as file:
        file.truncate(1 << 40)  # without taking room on the disk
    began = time.monotonic()
    try:
        cache.read_manifest(folder)
    except cache.CacheError as error:
        assert "larger than 16 MB" in str(error), error
    else:
        raise AssertionError("read")
    assert time.monotonic() - began < 1.0
    line = json.dumps({"event": "frame", "frame": 7, "stage": "Simulating"}).encode()
    with open(folder / "log.jsonl", "wb") as file:
        file.truncate(1 << 40)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + line)
    assert bake_log.read(folder / "log.jsonl")[-1]["frame"] == 7, "the newest lines are read"


# --- lists, jobs and logs that say anything ---------------------------------------------------------

def wrong_values(good: dict[str, Any]) -> list[tuple[str, bytes]]:
    """Each value of a manifest, one by one, as something that it cannot be."""
    found = []
    for value in (None, True, -1e300, 1 << 70, "text", [], {}, [[]], [{}], {"": []}, "\x1b[2J\u202e", ["\ud800"]):
        for key in good:
            found.append((f"{key} is {value!r}", json.dumps({**good, key: value}).encode()))
        for key in good["frames"][0]:
            frames = [{**good["frames"][0], key: value}, *good["frames"][1:]]
            found.append((f"frames[0].{key} is {value!r}", json.dumps({**good, "frames": frames}).encode()))
        for key in ("bytes_per_particle", "grids", "voxel_size", "number_shift"):
            found.append((f"streams.coarse.{key} is {value!r}", json.dumps({**good, "streams": {"coarse": {key: value}}}).encode()))
    for key in good:
        found.append((f"no {key}", json.dumps({name: value for name, value in good.items() if name != key}).encode()))
    for words in ("NaN", "Infinity", "-Infinity", "1e999", "9" * 5000):
        found.append((f"fps is {words[:20]}", json.dumps({**good, "fps": 77}).replace("77", words).encode()))
    return found


def test_any_manifest_is_shown_or_named(folder: Path) -> None:
    cache = baked(folder)
    good = (cache / "cache.json").read_bytes()
    cases = [*HOSTILE.items(), *wrong_values(json.loads(good))]
    assert len(cases) > 200
    for number, (what, data) in enumerate(cases):
        (cache / "cache.json").write_bytes(data)
        try:
            if number % 8 == 0 or what in HOSTILE:
                draw_panels()
            said = problem()
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
        assert what not in HOSTILE or "is damaged" in said and str(cache) in said, f"{what}: {said}"
        assert "\x1b" not in said and "\u202e" not in said, what
    (cache / "cache.json").write_bytes(HOSTILE["no JSON"])
    assert "is damaged" in press(bpy.ops.grain.bake)
    (cache / "cache.json").write_bytes(good)
    assert "All 2 frames" in problem()


def test_lists_of_grains_and_volumes_may_be_damaged(folder: Path) -> None:
    cache = baked(folder)
    bpy.context.scene.grain.active.use_upsample = True
    for part in ("grains", "volume"):
        (cache / part).mkdir()
        for what, data in HOSTILE.items():
            (cache / part / "cache.json").write_bytes(data)
            draw_panels()
            assert f"{part}/cache.json is damaged" in problem(), (what, problem())
        (cache / part / "cache.json").unlink()


def test_any_job_is_compared_or_passed_over(folder: Path) -> None:
    cache = baked(folder)
    path = cache / "job" / "job.json"
    good = json.loads(path.read_bytes())
    cases = list(HOSTILE.values())
    for value in (None, True, -1e300, 1 << 70, "text", [], {}, [[]], [{}], {"": []}, [{"name": []}], [{"name": "Block", "attributes": 5}]):
        cases += [json.dumps({**good, key: value}).encode() for key in good]
        cases += [json.dumps({**good, "objects": [{**good["objects"][0], key: value}, *good["objects"][1:]]}).encode()
                  for key in (*good["objects"][0], "animation", "material", "attributes")]
        cases += [json.dumps({**good, "arrays": [{**good["arrays"][0], key: value}, *good["arrays"][1:]]}).encode()
                  for key in good["arrays"][0]]
    for data in cases:
        path.write_bytes(data)
        try:
            draw_panels()
            error = press(bpy.ops.grain.bake)
        except Exception as raised:
            raise AssertionError(f"{data[:200]!r}: {raised!r}") from raised
        assert error == "" or "Bake Anew" in error, f"{data[:200]!r}: {error}"
    assert len(cases) > 100


def test_any_log_gives_a_table(folder: Path) -> None:
    from grain.engine import bake_log, text
    from grain.panels import stages
    good = {"time": 1.0, "stage": "Simulating", "event": "frame", "frame": 1, "particles": 5, "seconds_per_frame": 0.5,
            "statistics": {"substeps": 3, "deepest_overlap": 0.1}}
    lines = [*HOSTILE.values(), b'{"event": "frame"', b'{"event": [], "frame": {}}']
    for value in (None, True, -1e300, 1e300, 1 << 70, "text", [], {}, [[]], {"substeps": "x"}, "=HYPERLINK()", "\x1b[31m\u202e", "\ud800"):
        lines += [json.dumps({**good, key: value}).encode() for key in good]
    lines += [json.dumps(good).replace("0.5", words).encode() for words in ("NaN", "Infinity", "1e999", "9" * 6000)]
    path = folder / "log.jsonl"
    path.write_bytes(b"\n".join([json.dumps(good).encode(), *lines, json.dumps({**good, "frame": 2}).encode()]))
    found = stages._read(path)
    assert found["Simulating"].frames >= 2 and found["Simulating"].slowest_frame in (1, 2)
    for stage, summary in found.items():
        text.duration(summary.seconds), text.per_frame(summary.slowest_seconds), f"{summary.deepest_overlap or 0.0:.0%}"
        assert stage == text.clean(stage) and not stage.startswith("=")
    assert bake_log.write_csv(bake_log.read(path), folder / "table.csv") >= 2
    shown = bake_log.cleaned(path)
    assert "\x1b" not in shown and "\u202e" not in shown and shown.encode("utf-8")
    stages._summaries.clear()


# --- what is shown ----------------------------------------------------------------------------------

def test_text_from_files_is_cleaned(_: Path) -> None:
    from grain.engine import text
    for dirty, shown in (("Sand", "Sand"), ("a\x1b[2Jb", "a?[2Jb"), ("one\ntwo\r\nthree\tfour", "one two three four"), ("\u202eexe.dnas", "?exe.dnas"),
                         ("\ud800", "?"), ("bell\x07\x00\x9b", "bell???"), ("s\u00f6ndag \u65e5\u672c \U0001f3d6", "s\u00f6ndag \u65e5\u672c \U0001f3d6")):
        assert text.clean(dirty) == shown, (dirty, text.clean(dirty))
    assert len(text.clean("x" * 10_000)) < 1100


def test_what_a_child_says_is_checked(folder: Path) -> None:
    support.needs_posix("shell scripts as programs")
    from grain.engine.process import BakeProcess, simulate_stage
    from grain.scene.manage import baking
    lines = [*(data for data in HOSTILE.values() if data is not DEEP), b'{"event": "started"}', b'{"event": "frame"}', b'{"event": ["frame"]}',
             b'{"event": "progress", "frame": "x", "fraction": null, "particles": {}}', b'{"event": "warning", "message": ["x"]}',
             b'{"event": "frame", "frame": 3, "fraction": 1e999, "particles": 5}', b'{"event": "frame", "frame": 4, "fraction": NaN, "particles": 5}',
             b'{"event": "frame", "frame": 5, "fraction": 70, "particles": 5, "seconds_left": -7}',
             b'{"event": "warning", "message": "red\\u001b[31m"}', b'{"event": "error", "message": "\\u202eturned"}']
    (folder / "said").write_bytes(b"\n".join(lines))
    program = folder / "liar"
    program.write_text(f"#!/bin/sh\ncat '{folder}/said'\nprintf '\\033[31mred' >&2\nexit 4\n")
    program.chmod(0o755)
    process = BakeProcess([simulate_stage(program, folder, folder, 0)], folder / "log.jsonl")
    outcome, until = None, time.monotonic() + 20.0
    while outcome is None and time.monotonic() < until:
        outcome = process.poll()
        process.wait(0.05)
    assert outcome is not None and outcome.kind == "failed" and "?turned" in outcome.text, outcome
    assert process.status.frame == 5 and process.status.fraction == 1.0 and process.status.frames_written == 1
    assert process.status.warnings == ["red?[31m"] and baking.speed(process.status) == ""
