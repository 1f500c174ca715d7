# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that can be wrong with a job or a disk: its own clear error, no crash, nothing baked lost."""
from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import jobs
import program
from caches import remount, small_disk
from harness import Skip


def refused(folder: Path, job: jobs.Job, code: int, *words: str) -> None:
    result = program.run("bake", job.write(folder / "job"))
    assert result.code == code, f"exit code {result.code}: {result.stderr}"
    assert result.last["event"] == "error" and result.last["code"] == code
    for word in words:
        assert word in result.stderr, f"'{word}' is not in: {result.stderr.strip()}"
    assert len(result.stderr.strip().splitlines()) == 1
    shutil.rmtree(folder / "job")


def with_mesh(mesh: jobs.Mesh, role: str = "collider") -> jobs.Job:
    return jobs.small().add_mesh("Prop", role, mesh)


def test_non_finite_coordinates(folder: Path) -> None:
    for bad in (math.nan, math.inf, -math.inf):
        points, triangles = jobs.box((0, 0, 0), (1, 1, 1))
        points[5] = (0.0, bad, 0.0)
        refused(folder, with_mesh((points, triangles)), 3, "'Prop'", "5")


def test_indices_out_of_range(folder: Path) -> None:
    for bad in (8, -1, 2**31 - 1, -(2**31)):
        points, triangles = jobs.box((0, 0, 0), (1, 1, 1))
        triangles[3] = (0, bad, 1)
        refused(folder, with_mesh((points, triangles)), 3, "'Prop'", str(bad))


def test_empty_meshes(folder: Path) -> None:
    refused(folder, with_mesh(([], [])), 3, "'Prop'")
    refused(folder, with_mesh(([(0, 0, 0)], [])), 3, "'Prop'")
    refused(folder, with_mesh(([], []), "source"), 3, "'Prop'")


def test_source_too_small_or_open(folder: Path) -> None:
    refused(folder, with_mesh(jobs.box((1, 1, 1), (1.001, 1.001, 1.001)), "source"), 3, "'Prop'", "particle radius")


def test_no_source(folder: Path) -> None:
    job = jobs.small()
    job.data["objects"] = job.data["objects"][1:]
    refused(folder, job, 3, "source")


def test_values_are_named_with_what_is_allowed(folder: Path) -> None:
    cases = [(("fps",), 0, ("fps is 0", "1 to 1000")), (("fps",), "fast", ('fps is "fast"', "number")),
             (("frame_end",), 0, ("frame_end is 0",)), (("gravity",), [0, 0], ("gravity is [0,0]", "three numbers")),
             (("solver", "friction"), 7, ("solver.friction is 7", "0 to 2")),
             (("solver", "particle_radius"), -1, ("solver.particle_radius is -1",)),
             (("solver", "type"), "magic", ("solver.type", "magic", "dem")),
             (("solver", "fricton"), 0.5, ("solver.fricton", "friction")),
             (("sover",), {}, ("sover", "solver")),
             (("objects", 1, "role"), "hero", ('objects[1] \'Ball\'.role is "hero"', '"collider"')),
             (("objects", 1, "positions"), 99, ("objects[1] 'Ball'.positions is 99",)),
             (("objects", 1, "positions"), 1, ("objects[1] 'Ball'.positions is 1", "f32")),
             (("arrays", 0, "offset"), 1 << 40, ("arrays[0]", "past the end")),
             (("arrays", 0, "count"), 1 << 60, ("arrays[0].count",)),
             (("arrays", 0, "offset"), 2, ("arrays[0].offset is 2", "multiple of 4")),
             (("objects", 2, "plane", "normal"), [0, 0, 0], ("plane.normal",)),
             (("geometry", "file"), "../secret", ("geometry.file",))]
    for path, value, words in cases:
        job = jobs.small()
        place = job.data
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        refused(folder, job, 3, *words)


def test_missing_keys(folder: Path) -> None:
    for path in (("schema",), ("fps",), ("frame_start",), ("solver",), ("solver", "particle_radius"), ("geometry",),
                 ("objects", 0, "name"), ("objects", 0, "triangles")):
        job = jobs.small()
        place = job.data
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]
        refused(folder, job, 3, str(path[-1]), "missing")


def test_newer_schema(folder: Path) -> None:
    job = jobs.small(schema=2)
    job.data["something_new"] = True  # unknown keys of a newer schema are not what is wrong
    refused(folder, job, 3, "schema is 2", "newer Grain")


def test_truncated_job(folder: Path) -> None:
    job = jobs.small().write(folder / "job")
    whole = (job / "job.json").read_text()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        (job / "job.json").write_text(whole[:length])
        result = program.run("bake", job, check=3)
        assert "line" in result.stderr and "completely" in result.stderr, result.stderr
    (job / "job.json").write_text(whole)
    blob = (job / "geometry.bin").read_bytes()
    (job / "geometry.bin").write_bytes(blob[:-100])
    assert "completely" in program.run("bake", job, check=3).stderr


def test_missing_job(folder: Path) -> None:
    assert "missing" in program.run("bake", folder / "nowhere", check=4).stderr
    (folder / "job").mkdir()
    assert "job.json" in program.run("bake", folder / "job", check=4).stderr
    jobs.small().write(folder / "other")
    (folder / "other/geometry.bin").unlink()
    assert "geometry.bin" in program.run("bake", folder / "other", check=4).stderr


def test_deeply_nested_and_binary_jobs(folder: Path) -> None:
    job = jobs.small().write(folder / "job")
    for text in (b"[" * 100000, b"\xff\xfe\x00", b"null", b"3", b'{"schema": 1, "schema": 1}', os.urandom(2000)):
        (job / "job.json").write_bytes(text)
        program.run("bake", job, check=3)


def as_nobody() -> list[str]:
    """Root may write anywhere; these tests need somebody who may not."""
    if program.RUNNER:
        raise Skip("the other user has no such runner set up")
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        raise Skip("setpriv is needed to give up root's rights")
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def reachable_copy(folder: Path) -> None:
    """The program and folder where any user can get at them."""
    folder.chmod(0o777)
    shutil.copy(program.GRAIN, folder / "grain")


def test_read_only_and_impossible_cache_folders(folder: Path) -> None:
    wrap = as_nobody()
    reachable_copy(folder)
    job = jobs.small().write(folder / "job")
    cache = folder / "cache"
    cache.mkdir()
    cache.chmod(0o555)
    done = subprocess.run([*wrap, str(folder / "grain"), "bake", str(job), "--cache", str(cache)], capture_output=True, text=True)
    assert done.returncode == 4 and "write" in done.stderr and str(cache) in done.stderr, done.stderr
    done = subprocess.run([*wrap, str(folder / "grain"), "bake", str(job), "--cache", str(cache / "deeper/still")],
                          capture_output=True, text=True)
    assert done.returncode == 4 and "folder" in done.stderr, done.stderr
    (folder / "file").write_text("")
    result = program.run("bake", job, "--cache", folder / "file", check=4)
    assert "folder" in result.stderr


def test_missing_cache_folder_is_made(folder: Path) -> None:
    job = jobs.small(frame_end=2).write(folder / "job")
    program.run("bake", job, "--cache", folder / "a/b/c", check=0)
    assert (folder / "a/b/c/cache.json").exists()
    result = program.run("info", folder / "nothing here", check=4)
    assert "nothing here" in result.stderr


def test_cache_folder_removed_during_the_bake(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.005}, frame_end=40).write(folder / "job")
    child = program.start("bake", job)
    for line in child.stdout:
        if json.loads(line)["event"] == "frame":
            shutil.rmtree(job / "cache")
            break
    output, errors = child.communicate(timeout=60)
    assert child.returncode == 4 and "cache" in errors, (child.returncode, errors)


def test_full_disk(folder: Path) -> None:
    job = jobs.small(solver={"particle_radius": 0.006}, frame_end=12)
    program.run("bake", job.write(folder / "job"), "--cache", folder / "undisturbed", check=0)
    with small_disk(folder / "disk", "size=200k") as disk:
        result = program.run("bake", folder / "job", "--cache", disk, check=10)
        assert "disk is full" in result.stderr and "free some space" in result.stderr, result.stderr
        assert not list(disk.glob("*.part")), "half-written files left behind"
        baked = json.loads((disk / "cache.json").read_text())["frames"]
        assert len(baked) >= 2
        program.run("info", disk, check=0)  # every frame listed is whole
        remount(disk, "size=10m")
        resumed = program.run("bake", folder / "job", "--cache", disk, check=0)
        assert next(e for e in resumed.events if e["event"] == "started")["resumed_from"] >= len(baked) - 1
        assert program.digest(disk) == program.digest(folder / "undisturbed")


def test_damaged_manifest_and_checkpoint(folder: Path) -> None:
    job = jobs.small(frame_end=6)
    program.run("bake", job.write(folder / "job"), "--cache", folder / "undisturbed", check=0)
    cache = folder / "cache"
    program.run("bake", folder / "job", "--cache", cache, "--until", 4, check=0)
    (cache / "checkpoint.grain").write_bytes(b"rubbish")
    result = program.run("bake", folder / "job", "--cache", cache, check=0)
    warnings = [event["message"] for event in result.events if event["event"] == "warning"]
    assert any("checkpoint.grain' is damaged" in text for text in warnings), warnings
    assert program.digest(cache) == program.digest(folder / "undisturbed")
    (cache / "cache.json").write_text('{"format": 1}')
    result = program.run("bake", folder / "job", "--cache", cache, check=11)
    assert "cache.json" in result.stderr


def test_a_scene_that_cannot_fit_is_refused_with_the_figure(folder: Path) -> None:
    job = jobs.Job(solver={"particle_radius": 0.0005})
    job.add_mesh("Desert", "source", jobs.box((-2, -2, 0), (2, 2, 4)))
    refused(folder, job, 6, "'Desert'", "million particles", "GB")


def test_huge_but_flat_numbers(folder: Path) -> None:
    job = jobs.small()
    job.data["objects"][2]["plane"]["point"] = [0, 0, -1e9]
    job.data["gravity"] = [0, 0, -100]
    program.run("bake", job.write(folder / "job"), "--until", 2, check=0)


def test_command_line(folder: Path) -> None:
    assert program.run("--version", check=0).stdout.startswith("grain 0.")
    for command in ((), ("bake",), ("info",)):
        assert "usage: grain" in program.run(*command, "--help", check=0).stdout
    for wrong in ((), ("fly",), ("bake",), ("bake", "a", "b"), ("bake", "--threads", "many", "x"), ("info", "--no")):
        assert program.run(*wrong, check=2).stderr


# Clears the screen, sets the title, writes backwards, and forges a line.
COMMANDS = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\r\ngrain: all is well\x7f"


def shows_no_commands(text: str) -> bool:
    return not any(c != "\n" and (ord(c) < 32 or 127 < ord(c) < 160 or c in "\u202e\u2028") for c in text)


def test_names_give_terminals_no_commands(folder: Path) -> None:
    job = jobs.small(name=f"M\u00fchle{COMMANDS}", frame_end=2)
    program.run("bake", job.write(folder / "job"), check=0)
    shown = program.run("info", folder / "job/cache", check=0)
    assert "M\u00fchle?[2J" in shown.stdout, "names keep their letters"
    assert shows_no_commands(shown.stdout), repr(shown.stdout)
    assert "\ngrain: all is well" not in shown.stdout

    job.add_mesh(f"Prop{COMMANDS}", "collider", ([], []))
    refused = program.run("bake", job.write(folder / "other"), check=3)
    assert shows_no_commands(refused.stdout + refused.stderr), repr(refused.stdout + refused.stderr)
    assert len(refused.stderr.strip().splitlines()) == 1
    assert COMMANDS in refused.last["message"], "JSON tells the name as it is"

    shown = program.run("verify", folder / f"no{COMMANDS}such", check=4)
    assert shows_no_commands(shown.stderr), repr(shown.stderr)
    shown = program.run(f"command{COMMANDS}", check=2)
    assert shows_no_commands(shown.stderr), repr(shown.stderr)


def test_errors_are_told_in_json_whatever_the_path_is(folder: Path) -> None:
    if program.IS_WINDOWS:
        raise Skip("there all paths are Unicode")
    done = subprocess.run([*program.COMMAND, "bake", os.fsencode(folder) + b"/caf\xe9 \xff"], capture_output=True)
    events = program.events_of(done.stdout.decode())
    assert done.returncode == 4 and events and events[-1]["event"] == "error", done
    assert "caf? ?" in events[-1]["message"], events
    assert "caf? ?" in done.stderr.decode()
