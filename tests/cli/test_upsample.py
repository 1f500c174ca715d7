# SPDX-License-Identifier: GPL-3.0-or-later
"""`grain upsample`: from a bake to render grains, in one piece or in shards, stopped, damaged, changed."""
from __future__ import annotations

import array
import json
import re
import subprocess
from pathlib import Path

import grains_reader
import jobs
import program
from bakes import baked, change
from frames import column, columns_of, grain_files
from scenes import moving


def test_grains_of_every_frame_above_the_ground(folder: Path) -> None:
    job = baked(folder, upsample={"grains_per_particle": 30, "size_spread": 0.2})
    done = program.run("upsample", job, check=0)
    assert [e["event"] for e in done.events][-1] == "done"
    coarse = json.loads((job / "cache/cache.json").read_text())
    made = json.loads((job / "cache/grains/cache.json").read_text())
    assert 4 < made["streams"]["grains"]["bytes_per_particle"] < 14  # 44 as floats
    assert [f["frame"] for f in made["frames"]] == [1, 2, 3, 4, 5]
    for fine, rough in zip(made["frames"], coarse["frames"]):
        assert fine["particles"] == 30 * rough["particles"]
        columns = columns_of(job / f"cache/grains/grains_{fine['frame']:06d}.grain")
        positions, radii = array.array("f", columns["position"]), array.array("f", columns["radius"])
        assert all(z >= 0.9 * r for z, r in zip(positions[2::3], radii)), "a grain is in the ground"
        # The ball of radius 0.08 at (0, 0, 0.08): its mesh lies up to 0.4 % inside it.
        for x, y, z in zip(positions[0::3], positions[1::3], positions[2::3]):
            assert x * x + y * y + (z - 0.08) ** 2 > 0.0797 ** 2, "a grain is in the ball"
    program.run("info", job / "cache/grains", check=0)


def test_free_grains_fall_with_their_particles_by_keyed_gravity(folder: Path) -> None:
    """Nothing but the keys makes a handful of particles fall by 1.9 m: no grain may stay behind."""
    job = jobs.Job(frame_end=16, gravity=[0, 0, 0], solver={"type": "dem", "particle_radius": 0.01},
                   upsample={"grains_per_particle": 20})
    job.add_mesh("Sand", "source", jobs.box((-0.03, -0.03, 0.0), (0.03, 0.03, 0.05)))
    job.data["animation"] = {"gravity": job.add_array("f32", 3, [0, 0, -9.81])}
    place = job.write(folder / "job")
    program.run("bake", place, check=0)
    program.run("upsample", place, check=0)
    heights = array.array("f", columns_of(place / "cache/grains/grains_000016.grain")["position"])[2::3]
    assert min(heights) > -2.0 and max(heights) < -1.8, (min(heights), max(heights))


def test_distance_fields_are_kept_until_the_scene_is_another(folder: Path) -> None:
    """The ball's field for grains is large enough to be kept; shards and a second run find it, to the same bytes."""
    job = baked(folder, frame_end=2, upsample={"grains_per_particle": 12})
    cache, kept = job / "cache", job / "cache/sdf"
    program.run("upsample", job, check=0)
    fields = {path: path.stat().st_mtime_ns for path in kept.iterdir()}
    assert len(fields) == 1 and all(path.name.startswith("fine_") for path in fields), fields
    expected = grain_files(cache / "grains")
    program.run("upsample", job, "--force", check=0)
    assert grain_files(cache / "grains") == expected and {path: path.stat().st_mtime_ns for path in kept.iterdir()} == fields
    field = next(iter(fields))
    content = field.read_bytes()
    field.write_bytes(content[:-9] + bytes(9))
    program.run("upsample", job, "--force", check=0)
    assert grain_files(cache / "grains") == expected and field.read_bytes() == content
    other = jobs.Job(frame_end=2, upsample={"grains_per_particle": 12})
    other.add_mesh("Block", "source", jobs.box((-0.08, -0.08, 0.2), (0.08, 0.08, 0.3)))
    other.add_mesh("Larger", "collider", jobs.ball((0.0, 0.0, 0.08), 0.09)).write(job)
    program.run("bake", job, "--restart", check=0)
    program.run("upsample", job, check=0)
    assert field not in list(kept.iterdir()) and len(list(kept.iterdir())) == 1
    said = program.run("gc", cache, "--dry-run", check=0).stdout
    assert "sdf" in said and len(list(kept.iterdir())) == 1
    program.run("gc", cache, check=0)
    assert not list(kept.iterdir())


def test_shards_side_by_side_are_the_same_bytes(folder: Path) -> None:
    job = baked(folder, frame_end=3, upsample={"grains_per_particle": 9.5})
    program.run("upsample", job, "--threads", 1, check=0)
    for count in (4, 7):
        # All at once: each has a lock and a manifest of its own.
        running = [program.start("upsample", job, "--shard", f"{i}/{count}", "--threads", 1 + i % 3)
                   for i in range(1, count + 1)]
        assert all(process.wait(120) == 0 for process in running)
        for process in running:
            process.stdout.close(), process.stderr.close()
        for name in grain_files(job / "cache/grains"):
            whole = columns_of(job / "cache/grains" / name)
            parts = [columns_of(job / f"cache/grains_{i}of{count}" / name) for i in range(1, count + 1)]
            for key, data in whole.items():
                assert b"".join(part[key] for part in parts) == data, f"{name}, {key}, {count} shards"


def test_stop_and_go_on(folder: Path) -> None:
    job = baked(folder, frame_end=8, upsample={"grains_per_particle": 60})
    program.run("upsample", job, check=0)
    through = grain_files(job / "cache/grains")
    process = program.start("upsample", job, "--force", "--threads", 1, "--stop-on-input", stdin=subprocess.PIPE)
    for line in process.stdout:
        if '"frame"' in line and json.loads(line)["event"] == "frame" and json.loads(line)["frame"] >= 3:
            break
    rest, _ = process.communicate("stop\n", timeout=30)
    assert process.returncode == 5, rest
    assert json.loads(rest.splitlines()[-1])["event"] == "stopped"
    assert 3 <= len(grain_files(job / "cache/grains")) < 8
    going_on = program.run("upsample", job, check=0)
    assert next(e for e in going_on.events if e["event"] == "started")["resumed_from"] >= 3
    assert grain_files(job / "cache/grains") == through


def test_damage_is_made_good(folder: Path) -> None:
    job = baked(folder, upsample={"grains_per_particle": 5})
    program.run("upsample", job, check=0)
    through = grain_files(job / "cache/grains")
    last = job / "cache/grains/grains_000005.grain"
    data = bytearray(last.read_bytes())
    data[-100] ^= 1
    last.write_bytes(data)
    done = program.run("upsample", job, check=0)
    assert any(e["event"] == "warning" and "frame 5" in e["message"] for e in done.events)
    assert grain_files(job / "cache/grains") == through
    (job / "cache/grains/grains_000002.grain").unlink()
    program.run("upsample", job, check=0)
    assert grain_files(job / "cache/grains") == through


def test_other_settings_never_resimulate(folder: Path) -> None:
    job = baked(folder, upsample={"grains_per_particle": 4})
    program.run("upsample", job, check=0)
    coarse = {p: p.stat().st_mtime_ns for p in (job / "cache").glob("coarse_*")}
    first = grain_files(job / "cache/grains")
    change(job, grains_per_particle=4, seed=3)
    program.run("upsample", job, check=0)
    second = grain_files(job / "cache/grains")
    assert second.keys() == first.keys() and second != first
    change(job, grains=1000)
    program.run("upsample", job, check=0)
    particles = json.loads((job / "cache/grains/cache.json").read_text())["frames"][0]["particles"]
    assert abs(particles - 1000) <= 1
    assert program.run("bake", job, check=0).events[-1]["event"] == "done"
    assert {p: p.stat().st_mtime_ns for p in (job / "cache").glob("coarse_*")} == coarse


def test_frame_range(folder: Path) -> None:
    job = baked(folder, upsample={"grains_per_particle": 6})
    program.run("upsample", job, check=0)
    whole = grain_files(job / "cache/grains")
    columns = {name: columns_of(job / "cache/grains" / name) for name in list(whole)[2:]}
    program.run("upsample", job, "--force", "--frames", "3-4", check=0)
    # The files differ, as frame 3 has no frame before it to lean on; the grains do not.
    assert list(grain_files(job / "cache/grains")) == list(whole)[2:4]
    program.run("upsample", job, "--frames", "3-5", check=0)
    assert list(grain_files(job / "cache/grains")) == list(whole)[2:]
    assert {name: columns_of(job / "cache/grains" / name) for name in list(whole)[2:]} == columns
    program.run("upsample", job, check=0)  # begins before them: all are made again
    assert grain_files(job / "cache/grains") == whole
    assert "there are frames 1 to 5" in program.run("upsample", job, "--frames", "2-9").stderr


def test_a_range_that_is_complete_keeps_its_checkpoint(folder: Path) -> None:
    """It is what a longer range is resumed from."""
    job = jobs.small(upsample={"grains_per_particle": 6}).write(folder / "job")
    program.run("bake", job, check=0)
    program.run("upsample", job, "--frames", "1-3", check=0)
    checkpoint = (job / "cache/grains/checkpoint.grain").read_bytes()
    program.run("upsample", job, "--frames", "1-3", check=0)
    assert (job / "cache/grains/checkpoint.grain").read_bytes() == checkpoint
    made = [event["frame"] for event in program.run("upsample", job, check=0).events if event["event"] == "frame"]
    assert made == [4, 5], made


def test_errors_name_the_remedy(folder: Path) -> None:
    job = jobs.small(upsample={"grains_per_particle": 6}).write(folder / "job")
    assert "grain bake" in program.run("upsample", job, check=4).stderr
    program.run("bake", job, "--until", 2, check=0)
    assert len(program.run("upsample", job, check=0).events) > 2  # what is baked so far
    assert "shard" in program.run("upsample", job, "--shard", "3/2", check=2).stderr
    assert "frames" in program.run("upsample", job, "--frames", "5", check=2).stderr
    change(job, grains_per_particle=6, grains=10)
    assert "give one of them" in program.run("upsample", job, check=3).stderr
    change(job, grains_per_partikel=6)
    assert "grains_per_partikel" in program.run("upsample", job, check=3).stderr
    change(job, grains=1e11)
    assert "smaller particle radius" in program.run("upsample", job, check=3).stderr
    document = json.loads((job / "job.json").read_text())
    document["seed"] = 99
    (job / "job.json").write_text(json.dumps(document))
    change(job, grains_per_particle=6)
    assert "run grain bake first" in program.run("upsample", job, check=8).stderr


def turned_back(quaternion: tuple[float, ...], v: tuple[float, ...]) -> tuple[float, float, float]:
    """v in the axes of a body turned by w, x, y, z."""
    w, x, y, z = quaternion
    x, y, z = -x, -y, -z
    t = (2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0]))
    return (v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
            v[2] + w * t[2] + x * t[1] - y * t[0])


def test_props_that_move_and_bodies_push_the_grains(folder: Path) -> None:
    job = moving(upsample={"grains_per_particle": 40}).write(folder / "job")
    program.run("bake", job, check=0)
    program.run("upsample", job, check=0)
    whole = grain_files(job / "cache/grains")
    touched = 0
    for frame in range(1, 11):
        values = grains_reader.GrainsFile(job / f"cache/grains/grains_{frame:06d}.grain").column("position")
        grains = list(zip(values[0::3], values[1::3], values[2::3]))
        coarse = job / f"cache/coarse_{frame:06d}.grain"
        at, facing = column(coarse, "body.position"), column(coarse, "body.orientation")
        driven = 0.005 * (frame - 1)
        for p in grains:
            # The ball's mesh lies up to 0.4 % of its radius inside it, and trilinear distances a little more.
            away = (p[0] - driven) ** 2 + p[1] ** 2 + (p[2] - 0.06) ** 2
            assert away > 0.059 ** 2, f"frame {frame}: a grain is in the ball that drives"
            touched += away < 0.066 ** 2
            own = turned_back(facing[0], tuple(a - b for a, b in zip(p, at[0])))
            inside = abs(own[0]) < 0.0295 and abs(own[1]) < 0.0295 and 0.0005 < own[2] < 0.0595
            assert not inside, f"frame {frame}: a grain is in the crate"
    assert touched > 100, "no grain ever came near the ball"
    program.run("upsample", job, "--force", "--frames", "1-6", check=0)
    program.run("upsample", job, check=0)
    assert grain_files(job / "cache/grains") == whole


def test_a_million_grains_take_as_much_disk_as_the_tooltip_and_the_manual_say(folder: Path) -> None:
    """A block that collapses, all of it moving in the end. Within 1 MB, as both round to whole ones."""
    schema = json.loads(subprocess.run([*program.COMMAND, "schema"], capture_output=True, check=True).stdout)
    tip = next(row["tip"] for row in schema["blocks"]["upsample"] if row["key"] == "grains")
    manual = (Path(__file__).resolve().parents[2] / "addon/docs/manual.md").read_text("utf-8")
    said = re.compile(r"about (\d+) MB.*?\((\d+) MB with", re.DOTALL)
    plain, turned = map(int, said.search(tip).groups())
    assert tuple(map(int, said.search(manual).groups())) == (plain, turned)
    for megabytes, orientation in ((plain, False), (turned, True)):
        job = jobs.Job(frame_end=5, solver={"type": "mpm", "particle_radius": 0.008},
                       upsample={"grains_per_particle": 600, "orientation": orientation})
        job.add_mesh("Block", "source", jobs.box((-0.06, -0.06, 0.0), (0.06, 0.06, 0.16))).add_ground()
        where = job.write(folder / str(orientation))
        program.run("bake", where, check=0)
        program.run("upsample", where, check=0)
        frames = json.loads((where / "cache/grains/cache.json").read_text())["frames"]
        most = max(frame["bytes"] / frame["particles"] for frame in frames)  # bytes a grain: MB a million
        assert frames[0]["particles"] > 100_000 and abs(most - megabytes) < 1.0, (most, megabytes)
