# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: done, stopped, killed, resumed, refused, freed."""
import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path

import bpy
import numpy as np
import support


def bake() -> str:
    """Bakes as a script does; the error's text, or ''."""
    try:
        bpy.ops.grain.bake()
    except RuntimeError as error:
        return str(error)
    return ""


def digest(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("coarse_*.grain"))}


def start() -> "object":
    from grain.scene.manage import baking
    return baking.start(bpy.context.scene.grain.active, bpy.context.view_layer, False)


def finish(bake: "object", seconds: float = 60.0) -> "object":
    """Polls as the modal operator does, until the child has ended."""
    from grain.scene.manage import baking
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        outcome = baking.advance(bake)
        if outcome is not None:
            return outcome
        time.sleep(0.02)
    raise AssertionError("the bake did not end")


def wait_for_frames(bake: "object", count: int) -> None:
    from grain.scene.manage import baking
    end = time.monotonic() + 60.0
    while bake.process.status.frames_written < count:
        assert baking.advance(bake) is None, "the bake ended too soon"
        assert time.monotonic() < end, "no frames came"
        time.sleep(0.02)


def texts(folder: Path) -> str:
    from grain import runtime
    return " ".join(message.text for message in runtime.state.messages.get(folder, []))


def test_points_equal_the_cache(folder: Path) -> None:
    scene = support.small_scene()
    support.save(folder)
    assert bake() == ""
    cache = folder / "grain_cache/Sand"
    manifest = support.read_json(cache / "cache.json")
    assert [entry["frame"] for entry in manifest["frames"]] == [1, 2, 3, 4, 5]
    sand = scene.grain.active.sand_object
    assert sand is not None and sand.name == "Grain Sand"
    for frame in (3, 5, 1):
        scene.frame_set(frame)
        expected = support.read_frame(cache / f"coarse_{frame:06d}.grain")
        count = len(expected["radius"])
        assert count > 100 and len(sand.data.vertices) == count
        found = np.empty(count * 3, np.float32)
        sand.data.vertices.foreach_get("co", found)
        assert np.array_equal(found.reshape(-1, 3), expected["position"])
        sand.data.attributes["velocity"].data.foreach_get("vector", found)
        assert np.array_equal(found.reshape(-1, 3), expected["velocity"])
        radius = np.empty(count, np.float32)
        sand.data.attributes["radius"].data.foreach_get("value", radius)
        assert np.array_equal(radius, expected["radius"])
        ids = np.empty(count, np.int32)
        sand.data.attributes["id"].data.foreach_get("value", ids)
        assert np.array_equal(ids, np.arange(count))
        assert support.points_in_depsgraph() == count
        assert np.array_equal(support.point_radii(), expected["radius"])
    assert scene.render.use_lock_interface
    before = expected["position"][:, 2].mean()
    scene.frame_set(5)
    after = np.empty(count * 3, np.float32)
    sand.data.vertices.foreach_get("co", after)
    assert after[2::3].mean() < before - 0.05, "sand falls"


def test_estimate_is_near(folder: Path) -> None:
    from grain.scene.manage import estimate
    scene = support.small_scene(1)
    scene.grain.active.particle_radius = 0.004
    support.save(folder)
    expected = estimate.of_simulation(scene.grain.active, bpy.context.view_layer.depsgraph)
    assert bake() == ""
    entry = support.read_json(folder / "grain_cache/Sand/cache.json")["frames"][0]
    assert abs(expected.particles / entry["particles"] - 1.0) < 0.1, (expected.particles, entry["particles"])
    assert expected.free_bytes is not None and expected.byte_count > entry["bytes"]
    held = sum(path.stat().st_size for path in (folder / "grain_cache/Sand").glob("*.grain"))
    assert abs(expected.byte_count / held - 1.0) < 0.2, (expected.byte_count, held)


def test_radius_fits_the_first_source(folder: Path) -> None:
    scene = bpy.context.scene
    block = support.box("Block", (0, 0, 0), (20, 30, 10))
    bpy.context.view_layer.update()
    block.grain.type = 'SOURCE'
    radius = scene.grain.active.particle_radius
    scene.frame_end = 1
    support.save(folder)
    assert bake() == ""
    particles = support.read_json(folder / "grain_cache/Sand/cache.json")["frames"][0]["particles"]
    assert 25_000 < particles < 36_000, particles
    other = support.box("Other", (0, 0, 0), (0.1, 0.1, 0.1))
    bpy.context.view_layer.update()
    other.grain.type = 'SOURCE'
    assert scene.grain.active.particle_radius == radius, "only the first source chooses"


def test_chosen_radius_is_left_alone(_: Path) -> None:
    scene = bpy.context.scene
    bpy.ops.grain.simulation_add()
    scene.grain.active.particle_radius = 0.123
    support.box("Block", (0, 0, 0), (1, 1, 1)).grain.type = 'SOURCE'
    assert abs(scene.grain.active.particle_radius - 0.123) < 1e-7


def test_source_makes_room_and_takes_it_back(_: Path) -> None:
    item = support.box("Block", (0, 0, 0), (1, 1, 1))
    item.display_type = 'SOLID'
    item.grain.type = 'SOURCE'
    assert item.display_type == 'WIRE' and item.hide_render
    item.grain.type = 'COLLIDER'
    assert item.display_type == 'SOLID' and not item.hide_render


def test_unit_scale_round_trip(folder: Path) -> None:
    """The same sand in centimetres: the same frames to the bit of their SI values, shown a hundred times larger."""
    def make(scale: float, where: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scene = bpy.context.scene
        for item in list(bpy.data.objects):
            bpy.data.objects.remove(item)
        scene.unit_settings.scale_length = scale
        scene.gravity = (0, 0, -9.81 / scale)
        scene = support.small_scene(4)
        for item in scene.objects:
            item.location /= scale
            item.scale = (1 / scale,) * 3
        scene.grain.active.particle_radius = 0.01 / scale
        where.mkdir()
        support.save(where)
        assert bake() == ""
        scene.frame_set(4)
        mesh = scene.grain.active.sand_object.data
        count = len(mesh.vertices)
        position, velocity, radius = (np.empty(count * 3, np.float32), np.empty(count * 3, np.float32),
                                      np.empty(count, np.float32))
        mesh.vertices.foreach_get("co", position)
        mesh.attributes["velocity"].data.foreach_get("vector", velocity)
        mesh.attributes["radius"].data.foreach_get("value", radius)
        return position, velocity, radius

    metres = make(1.0, folder / "m")
    centimetres = make(0.01, folder / "cm")
    assert len(metres[2]) == len(centimetres[2]) > 100
    job = support.read_json(folder / "cm/grain_cache/Sand/job/job.json")
    assert job["solver"]["particle_radius"] == 0.01 and job["gravity"] == [0.0, 0.0, -9.81]
    # Positions in the job differ in the last bit of a float, which four frames of falling do not blow up.
    for one, other in zip(metres, centimetres):
        assert np.allclose(one * 100.0, other, rtol=1e-3, atol=1e-3)


def test_killed_child_leaves_a_message_and_resumes_to_the_same_bits(folder: Path) -> None:
    support.needs_posix("signals")
    from grain import runtime
    from grain.scene.manage import bake_state
    scene = support.small_scene(12)
    scene.grain.active.particle_radius = 0.006
    support.save(folder)
    scene.grain.active.name = "Unbroken"
    assert bake() == ""
    unbroken = digest(folder / "grain_cache/Unbroken")
    scene.grain.active.name = "Killed"
    killed = folder / "grain_cache/Killed"
    running = start()
    wait_for_frames(running, 3)
    os.kill(running.process.pid, signal.SIGKILL)
    outcome = finish(running)
    assert outcome.kind == "died" and runtime.state.bake is None
    assert "SIGKILL" in texts(killed) and "Resume" in texts(killed), texts(killed)
    partial = digest(killed)
    assert 3 <= len(partial) < 12
    assert bake_state.of_simulation(scene.grain.active).kind == 'PARTIAL'
    assert scene.grain.active.sand_object is not None and len(scene.grain.active.sand_object.data.vertices) > 100
    assert bake() == ""
    assert digest(killed) == unbroken and len(unbroken) == 12
    assert bake_state.of_simulation(scene.grain.active).kind == 'COMPLETE'
    assert texts(killed) == "", "the message goes with the next bake"


def test_a_crash_is_gone_on_from_once_frames_came(folder: Path) -> None:
    """A stage that crashes is started again without anybody's help, and ends with the same bits; one that crashes before it made
    anything new is given up, with a message."""
    support.needs_posix("signals")
    from grain.scene.manage import baking
    scene = support.small_scene(80)  # of some 10 ms each: it must not end between two looks at it
    scene.grain.active.particle_radius = 0.006
    support.save(folder)
    assert bake() == ""
    place = folder / "grain_cache/Sand"
    unbroken = digest(place)
    bpy.ops.grain.free()
    running = start()
    for _ in range(2):
        before, pid = running.process.status.frames_written, running.process.pid
        wait_for_frames(running, before + 2)
        os.kill(running.process.pid, signal.SIGSEGV)
        end = time.monotonic() + 60.0
        while running.process.pid == pid:
            assert baking.advance(running) is None and time.monotonic() < end, texts(place)
            time.sleep(0.02)
    assert finish(running).kind == "done"
    assert digest(place) == unbroken
    assert texts(place).count("SIGSEGV") == 2 and "was restarted from there" in texts(place), texts(place)
    bpy.ops.grain.free()
    running = start()
    os.kill(running.process.pid, signal.SIGSEGV)
    outcome = finish(running)
    assert outcome.kind == "died" and "SIGSEGV" in outcome.text, outcome


def test_stopped_within_two_seconds_and_resumed_to_the_same_bits(folder: Path) -> None:
    scene = support.small_scene(8)
    scene.grain.active.particle_radius = 0.004
    support.save(folder)
    running = start()
    wait_for_frames(running, 2)
    began = time.monotonic()
    running.process.stop()
    outcome = finish(running)
    latency = time.monotonic() - began
    print(f"# cancel latency {latency:.3f} s")
    assert outcome.kind == "stopped" and outcome.exit_code == 5, outcome
    assert latency < 2.0, f"{latency:.2f} s"
    assert bake() == ""
    stopped = digest(folder / "grain_cache/Sand")
    scene.grain.active.name = "Unbroken"
    assert bake() == ""
    assert digest(folder / "grain_cache/Unbroken") == stopped and len(stopped) == 8


def test_child_that_does_not_listen_is_ended(folder: Path) -> None:
    """A program that does not read its input, in the place of grain."""
    support.needs_posix("shell scripts as programs")
    from grain.engine.process import BakeProcess, simulate_stage
    program = folder / "deaf"
    program.write_text("#!/bin/sh\nwhile true; do sleep 0.1; done\n")
    program.chmod(0o755)
    process = BakeProcess([simulate_stage(program, folder, folder, 0)])
    time.sleep(0.2)
    began = time.monotonic()
    process.stop()
    while process.poll() is None:
        assert time.monotonic() - began < 2.0, "longer than two seconds"
        time.sleep(0.02)
    assert not support.is_alive(process.pid)


def test_what_a_child_says_is_kept_until_it_is_asked_for(folder: Path) -> None:
    """More than a pipe holds by itself, the last line without an end, and nobody who listens meanwhile."""
    support.needs_posix("shell scripts as programs")
    import threading

    from grain.engine.process import BakeProcess, simulate_stage
    program = folder / "talker"
    program.write_text("""#!/bin/sh
i=0
while [ $i -lt 2000 ]; do i=$((i + 1)); echo '{"event": "frame", "frame": '$i', "fraction": 0.5, "particles": 3, "note": "'$i' of many"}'; done
echo "half a word" >&2
printf 'and the other' >&2
touch "$0.done"
exit 7
""")
    program.chmod(0o755)
    process = BakeProcess([simulate_stage(program, folder, folder, 0)])
    end = time.monotonic() + 20.0
    while not (folder / "talker.done").exists():
        assert time.monotonic() < end, "the child waits for somebody to listen"
        time.sleep(0.02)
    assert threading.active_count() == 1, "no thread of Python's runs beside Blender"
    outcome = None
    while outcome is None:
        outcome = process.poll()
    assert process.status.frames_written == 2000 and process.status.frame == 2000
    assert "half a word and the other" in outcome.text, outcome.text


def test_every_kind_of_channel_holds_what_a_busy_blender_does_not_read(folder: Path) -> None:
    """A line in pieces, in the middle of a letter too; then, unread, as much as a bake says in a minute (of a socket, which is for
    macOS, as much as Linux lets it hold); then an end without a newline."""
    support.needs_posix("pipes like these")
    from grain.engine import child
    for make, count in ((child._large_pipe, 1200), (child._socket_pair, 400)):
        reading, writing = make()
        os.set_blocking(reading, False)
        lines, said = child.Lines(reading), "Sand \N{LATIN SMALL LETTER A WITH DIAERESIS}".encode()
        assert lines.read() == []
        os.write(writing, said[:6])
        assert lines.read() == []
        os.write(writing, said[6:] + b"\r\nnext\nhalf")
        assert lines.read() == [said + b"\r", b"next"]
        os.set_blocking(writing, False)  # raises where the channel is full
        for number in range(count):
            os.write(writing, b" of one\n" if number == 0 else b"%0190d\n" % number)
        os.write(writing, b"the end")
        os.close(writing)
        came = lines.read()
        assert came[0] == b"half of one" and came[-1] == b"the end" and len(came) == count + 1, (make.__name__, len(came))
        assert came[1:-1] == [b"%0190d" % number for number in range(1, count)]
        assert lines.read() == []
        lines.close()
        lines.close()
        assert lines.read() == []


def test_a_bake_beside_an_interface_lets_it_first(folder: Path) -> None:
    support.needs_posix("niceness")
    import os

    from grain.engine.process import BakeProcess, simulate_stage
    program = folder / "sleeper"
    program.write_text("#!/bin/sh\nexec sleep 20\n")
    program.chmod(0o755)
    for is_beside in (False, True):
        process = BakeProcess([simulate_stage(program, folder, folder, 0)], is_beside_interface=is_beside)
        niceness = os.getpriority(os.PRIO_PROCESS, process.pid)
        process.shut_down()
        assert (niceness > os.getpriority(os.PRIO_PROCESS, 0)) == is_beside, (is_beside, niceness)


def test_a_bake_may_wait_for_its_start(folder: Path) -> None:
    """Beside an interface a child starts when the room for its frames was drawn. Whatever comes before that must not miss it."""
    support.needs_posix("shell scripts as programs")
    from grain.engine.process import BakeProcess, simulate_stage
    program = folder / "quick"
    program.write_text("#!/bin/sh\ntouch \"$0.ran\"\n")
    program.chmod(0o755)
    stages = [simulate_stage(program, folder, folder, 0)]
    process = BakeProcess(stages, waits=True)
    time.sleep(0.1)
    assert process.pid is None and process.poll() is None and not (folder / "quick.ran").exists()
    process.go()
    pid = process.pid
    process.go()
    assert process.pid == pid is not None
    process.wait(5.0)
    assert process.poll().kind == "done" and (folder / "quick.ran").exists()

    (folder / "quick.ran").unlink()
    done: list[str] = []
    process = BakeProcess(stages, waits=True, before=lambda: done.append("job"))
    process.stop()
    process.go()
    assert process.poll().kind == "stopped" and process.pid is None and not done, "a new job beside old frames"
    process = BakeProcess(stages, waits=True, before=lambda: done.append("job"))
    process.go()
    process.wait(5.0)
    assert process.poll().kind == "done" and done == ["job"], done
    (folder / "quick.ran").unlink()
    BakeProcess(stages, waits=True).shut_down()
    assert not (folder / "quick.ran").exists(), "nobody wanted it to run"

    process = BakeProcess([simulate_stage(folder / "missing", folder, folder, 0)], waits=True)
    process.go()
    outcome = process.poll()
    assert outcome.kind == "failed" and "missing cannot be used: No such file" in outcome.text, outcome


def test_a_later_stage_that_cannot_start_is_told(folder: Path) -> None:
    """The add-on was updated or removed while the first stage ran: a message, no traceback in Blender's loop."""
    support.needs_posix("shell scripts as programs")
    from grain.engine.process import BakeProcess, grains_stage, simulate_stage
    program = folder / "vanishing"
    program.write_text("#!/bin/sh\nrm \"$0\"\n")
    program.chmod(0o755)
    process = BakeProcess([simulate_stage(program, folder, folder, 0), grains_stage(program, folder, folder, 0)])
    outcome, until = None, time.monotonic() + 10.0
    while outcome is None and time.monotonic() < until:
        process.wait(0.1)
        outcome = process.poll()
    assert outcome is not None and outcome.kind == "failed", outcome
    assert "vanishing cannot be used: No such file" in outcome.text and outcome.text.endswith("frame is safe"), outcome
    process.shut_down()


def test_longer_shot_keeps_its_frames(folder: Path) -> None:
    scene = support.small_scene(3)
    support.save(folder)
    assert bake() == ""
    cache = folder / "grain_cache/Sand"
    first = digest(cache)
    stamps = {name: (cache / name).stat().st_mtime_ns for name in first}
    scene.frame_end = 5
    assert bake() == ""
    assert len(digest(cache)) == 5 and digest(cache).items() >= first.items()
    assert all((cache / name).stat().st_mtime_ns == stamp for name, stamp in stamps.items()), "baked again"


def test_changed_settings_are_refused_then_baked_anew(folder: Path) -> None:
    from grain.scene.manage import bake_state
    scene = support.small_scene(3)
    support.save(folder)
    assert bake() == ""
    cache = folder / "grain_cache/Sand"
    before = digest(cache)
    scene.grain.active.restitution = 0.7
    state = bake_state.of_simulation(scene.grain.active)
    assert state.kind == 'OUTDATED' and "bounciness" in state.text, state
    error = bake()
    assert "bounciness" in error and "Bake Anew" in error, error
    assert digest(cache) == before, "nothing may be deleted without asking"
    scene.grain.active.restitution = 0.3
    assert bake_state.of_simulation(scene.grain.active).kind == 'COMPLETE'
    # Geometry is looked at when the button is pressed; then the button knows until the object changes again.
    bpy.data.objects["Block"].location.x += 0.03
    bpy.context.view_layer.update()
    assert "'Block'" in bake()
    assert bake_state.of_simulation(scene.grain.active).kind == 'OUTDATED'
    assert bpy.ops.grain.bake_anew() == {'FINISHED'}
    assert bake_state.of_simulation(scene.grain.active).kind == 'COMPLETE'
    assert digest(cache) != before and len(digest(cache)) == 3


def test_cache_of_another_job_without_its_job_folder(folder: Path) -> None:
    """Exit code 8: only the manifest tells that the frames are of other settings."""
    from grain.scene.manage import bake_state
    scene = support.small_scene(2)
    support.save(folder)
    assert bake() == ""
    for name in ("job.json", "geometry.bin"):
        (folder / "grain_cache/Sand/job" / name).unlink()
    scene.grain.active.density = 2000.0
    assert "Bake Anew" in bake()
    assert bake_state.of_simulation(scene.grain.active).kind == 'OUTDATED'


def test_free_deletes_only_its_own(folder: Path) -> None:
    support.needs_posix("links for everybody")
    support.small_scene(2)
    support.save(folder)
    assert bake() == ""
    cache = folder / "grain_cache/Sand"
    notes = cache / "notes.txt"
    notes.write_text("mine")
    (cache / "coarse_notes.grain").write_text("mine too")
    outside = folder / "precious.grain"
    outside.write_text("precious")
    (cache / "coarse_000099.grain").symlink_to(outside)
    assert bpy.ops.grain.free() == {'FINISHED'}
    assert sorted(path.name for path in cache.iterdir()) == ["coarse_000099.grain", "coarse_notes.grain", "notes.txt"]
    assert outside.read_text() == "precious" and notes.read_text() == "mine"
    assert len(bpy.context.scene.grain.active.sand_object.data.vertices) == 0


def test_free_refuses_a_folder_without_a_bake(folder: Path) -> None:
    from grain.engine import cache
    foreign = folder / "foreign"
    foreign.mkdir()
    (foreign / "coarse_000001.grain").write_text("somebody else's")
    (foreign / "cache.json").write_text("{}")
    try:
        cache.free(foreign)
    except cache.CacheError as error:
        assert str(foreign) in str(error)
    else:
        raise AssertionError("deleted")
    assert len(list(foreign.iterdir())) == 2


def test_busy_cache_is_left_alone(folder: Path) -> None:
    from grain.engine import cache, cache_lock
    scene = support.slow_scene()
    support.save(folder)
    running = start()
    wait_for_frames(running, 1)
    assert cache_lock.is_busy(running.folder)
    # A second Blender, on the same file.
    done = support.run_blender(folder, folder / "test.blend", script="import bpy; bpy.ops.grain.bake()")
    assert done.returncode == 7, support.fail_output(done)
    assert "is being baked into by process" in done.stdout + done.stderr, support.fail_output(done)
    try:
        cache.free(running.folder)
    except cache.CacheError:
        pass
    else:
        raise AssertionError("freed under a running bake")
    running.process.stop()
    finish(running)
    assert not cache_lock.is_busy(running.folder)
    assert scene.grain.active.sand_object is not None


def test_bad_folder_is_named(folder: Path) -> None:
    scene = support.small_scene(2)
    support.save(folder)
    (folder / "file").write_text("")
    scene.grain.active.cache_folder = "//file/cache"
    error = bake()
    assert str(folder / "file") in error and "cache" in error.lower(), error


def test_mesh_errors_come_through(folder: Path) -> None:
    scene = support.small_scene(2)
    scene.grain.active.particle_radius = 5.0
    support.save(folder)
    error = bake()
    assert "'Block'" in error and "radius" in error, error


def test_from_the_command_line(folder: Path) -> None:
    support.small_scene(3)
    path = support.save(folder)
    done = support.run_blender(folder, path, script="import bpy; bpy.ops.grain.bake()")
    assert done.returncode == 0, support.fail_output(done)
    assert "Frame 3 of 3" in done.stdout
    assert len(digest(folder / "grain_cache/Sand")) == 3


def test_two_scenes_have_two_caches(folder: Path) -> None:
    first = support.small_scene(2)
    second = bpy.data.scenes.new("Second")
    bpy.context.window.scene = second
    support.small_scene(2)
    assert second.grain.active.name == "Sand.001", second.grain.active.name
    support.save(folder)
    second.grain.active.name = "Sand"
    assert "'Scene'" in bake()
    second.grain.active.name = "Other"
    assert bake() == ""
    assert (folder / "grain_cache/Other/cache.json").is_file()
    assert first.grain.active.sand_object is None and second.grain.active.sand_object is not None


def test_child_survives_without_a_reader(folder: Path) -> None:
    """Blender crashed: the bake goes on and its frames are whole."""
    support.needs_posix("signals")
    support.small_scene(3)
    support.save(folder)
    script = """
import bpy, os, signal
from grain.scene.manage import baking
bake = baking.start(bpy.context.scene.grain.active, bpy.context.view_layer, False)
print('PID', bake.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = support.run_blender(folder, folder / "test.blend", script=script)
    assert done.returncode == -signal.SIGKILL
    pid = int(done.stdout.split("PID ")[1].split()[0])
    end = time.monotonic() + 30.0
    while support.is_alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert len(digest(folder / "grain_cache/Sand")) == 3
    check = subprocess.run([support.BUILD / "bin/grain", "info", folder / "grain_cache/Sand"], capture_output=True)
    assert check.returncode == 0
