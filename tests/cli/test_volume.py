# SPDX-License-Identifier: GPL-3.0-or-later
"""`grain volume`: from a bake or its grains to a sequence of OpenVDB files, read back with OpenVDB's own reader."""
from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path

import jobs
import program
from frames import column, grids_of, need_openvdb
from harness import Skip


def baked(folder: Path, **settings: object) -> Path:
    need_openvdb()
    job = jobs.small(**settings).write(folder / "job")
    program.run("bake", job, check=0)
    return job


def change(job: Path, **settings: object) -> None:
    jobs.change(job, "volume", settings)


def files(job: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((job / "cache/volume").glob("volume_*.vdb"))}


def frame_events(result: program.Result) -> dict[int, dict]:
    return {event["frame"]: event for event in result.events if event["event"] == "frame"}


def test_density_weighs_what_the_simulation_weighs(folder: Path) -> None:
    """The simulation's own books give the weight: its potential energy is mass times gravity times height. Halves round to
    1/2048 and to both sides, so 1 % is far more than they can be off."""
    need_openvdb()
    for name, settings in {"dem": {"type": "dem"}, "mpm": {"type": "mpm"}, "sph": {"type": "sph"}, "rods": {"type": "dem", "grain_shape": "rod"}}.items():
        job = jobs.small(frame_end=4, solver=settings, upsample={"grains_per_particle": 20, "size_spread": 0.5})
        job.write(folder / name)
        books = frame_events(program.run("bake", folder / name, check=0))
        program.run("upsample", folder / name, check=0)
        for source in ("coarse", "grains"):
            change(folder / name, source=source)
            program.run("volume", folder / name, check=0)
            for frame in (2, 4):
                grid = grids_of(folder / f"{name}/cache/volume/volume_{frame:04d}.vdb")["density"]
                weight = grid["grain_density"] * grid["voxel_size"] ** 3
                energy = weight * grid["moment"][2] * 9.81
                expected = books[frame]["statistics"]["potential_energy"]
                # Grains keep to their particle, but not with their centre of mass: they may lie a fraction of a radius off.
                tolerance = 0.01 if source == "coarse" else 0.02
                assert abs(energy / expected - 1.0) < tolerance, f"{name}, {source}, frame {frame}: {energy} J, {expected} J"
        coarse, grains = (mass_of(folder / name, source) for source in ("coarse", "grains"))
        assert abs(grains / coarse - 1.0) < 0.01, f"{name}: {coarse} kg of particles, {grains} kg of grains"
        if name == "dem":
            radii = column(folder / "dem/cache/coarse_000004.grain", "radius")
            true_mass = 2600 * sum(4.18879 * r[0] ** 3 for r in radii)
            assert abs(coarse / true_mass - 1.0) < 0.01, f"{coarse} kg, {true_mass} kg by the radii"


def mass_of(job: Path, source: str) -> float:
    change(job, source=source, velocity=False)
    program.run("volume", job, "--frames", "4-4", check=0)
    grid = grids_of(job / "cache/volume/volume_0004.vdb")["density"]
    return grid["grain_density"] * grid["voxel_size"] ** 3 * grid["sum"]


def test_kinds_of_grids(folder: Path) -> None:
    job = baked(folder, volume={"dust": True, "dust_speed": 0.2, "surface": True})
    program.run("volume", job, check=0)
    grids = grids_of(job / "cache/volume/volume_0003.vdb", 0.0, 0.0, 0.21)
    assert sorted(grids) == ["density", "dust", "surface", "velocity"]
    assert all(grid["half"] for grid in grids.values())
    density, velocity, dust, surface = (grids[name] for name in ("density", "velocity", "dust", "surface"))
    assert density["type"] == "Tree_float_5_4_3" and density["class"] == "fog volume" and 0.3 < density["high"] < 0.8
    assert velocity["type"] == "Tree_vec3s_5_4_3" and velocity["vector_type"] == "contravariant relative"
    # Two frames of fall: 9.81 m/s2 for 2/24 s, straight down, to the precision of a half.
    assert abs(velocity["value"][2] + 9.81 / 12) < 2e-3 and abs(velocity["value"][0]) < 1e-3, velocity["value"]
    assert velocity["active"] > density["active"], "next to the sand a ray must find its velocity"
    assert dust["class"] == "fog volume" and dust["sum"] > 0.0 and dust["voxel_size"] > density["voxel_size"]
    assert surface["class"] == "level set" and surface["low"] < 0.0 < surface["high"] <= surface["background"]
    assert abs(surface["background"] / (3 * surface["voxel_size"]) - 1.0) < 1e-3
    assert density["frame"] == 3 and abs(density["seconds"] - 2 / 24) < 1e-6
    printed = subprocess.run(["vdb_print", "-l", job / "cache/volume/volume_0003.vdb"], capture_output=True, text=True)
    assert printed.returncode == 0 and printed.stdout.count("Name: ") == 4, printed.stderr
    first = grids_of(job / "cache/volume/volume_0001.vdb")
    assert first["velocity"]["active"] == 0, "sand at rest has no velocities to store"


def test_same_bytes_for_any_number_of_threads_and_after_stops(folder: Path) -> None:
    job = baked(folder, frame_end=8, volume={"dust": True, "dust_speed": 0.2, "surface": True, "voxel_size": 0.8})
    program.run("volume", job, "--threads", 1, check=0)
    through = files(job)
    assert len(through) == 8
    program.run("volume", job, "--force", "--threads", 3, environment={"GRAIN_SIMD": "base"}, check=0)
    assert files(job) == through
    process = program.start("volume", job, "--force", "--threads", 2)
    for line in process.stdout:
        if json.loads(line).get("event") == "frame":
            break
    process.send_signal(signal.SIGTERM)
    rest = process.stdout.read()
    assert process.wait(30) == 5, rest
    process.stdout.close(), process.stderr.close()
    assert json.loads(rest.splitlines()[-1])["event"] == "stopped"
    assert 1 <= len(files(job)) < 8
    process = program.start("volume", job, "--stop-on-input", stdin=subprocess.PIPE)
    assert json.loads(process.communicate("stop\n", timeout=30)[0].splitlines()[-1])["event"] == "stopped"
    going_on = program.run("volume", job, check=0)
    assert next(e for e in going_on.events if e["event"] == "started")["resumed_from"] >= 1
    assert files(job) == through
    assert len(frame_events(program.run("volume", job, check=0))) == 0, "whole volumes were made again"


def test_damage_is_named_and_made_good(folder: Path) -> None:
    job = baked(folder)
    program.run("volume", job, check=0)
    through = files(job)
    for name, data in {"volume_0003.vdb": None, "volume_0005.vdb": b"", "volume_0004.vdb": b"flip"}.items():
        path = job / "cache/volume" / name
        whole = path.read_bytes()
        if data is None:
            path.write_bytes(whole[:len(whole) // 2])
        elif data:
            path.write_bytes(whole[:-200] + bytes([whole[-200] ^ 4]) + whole[-199:])
        else:
            path.unlink()
        told = program.run("info", job / "cache/volume", check=11)
        assert name in told.stderr and "damage       1 file (" in told.stdout, told.stderr
        assert name in program.run("verify", job / "cache", check=11).stderr
        done = program.run("volume", job, check=0)
        assert any(e["event"] == "warning" and name in e["message"] for e in done.events)
        assert files(job) == through
    program.run("info", job / "cache/volume", check=0)


def test_repair_and_gc_know_volumes(folder: Path) -> None:
    job = baked(folder, frame_start=-1, frame_end=2)
    program.run("volume", job, check=0)
    through, listed = files(job), json.loads((job / "cache/volume/cache.json").read_text())["streams"]
    last = job / "cache/volume/volume_0003.vdb"
    last.write_bytes(b"cut")
    program.run("repair", job / "cache", check=0)
    after = json.loads((job / "cache/volume/cache.json").read_text())
    assert [f["frame"] for f in after["frames"]] == [-1, 0, 1] and after["streams"] == listed
    (job / "cache/volume/mine.vdb").write_text("kept")
    program.run("gc", job / "cache", check=0)
    assert not last.exists() and (job / "cache/volume/mine.vdb").exists() and len(files(job)) == 3
    program.run("volume", job, check=0)
    assert files(job) == through
    state = program.run("info", job / "cache", "--job", job, check=0).stdout
    assert "stage        volume" in state and state.count("up to date with the job") == 2


def test_other_settings_and_frames(folder: Path) -> None:
    job = baked(folder, upsample={"grains_per_particle": 4})
    program.run("upsample", job, check=0)
    before = {p: p.stat().st_mtime_ns for p in (job / "cache").rglob("*.grain")}
    program.run("volume", job, check=0)
    fine = grids_of(job / "cache/volume/volume_0002.vdb")["density"]["voxel_size"]
    whole = files(job)
    change(job, voxel_size=5)
    program.run("volume", job, check=0)
    assert abs(grids_of(job / "cache/volume/volume_0002.vdb")["density"]["voxel_size"] / fine - 2.5) < 1e-6
    change(job)
    program.run("volume", job, "--frames", "2-3", check=0)
    assert files(job) == {name: whole[name] for name in ("volume_0002.vdb", "volume_0003.vdb")}
    program.run("volume", job, "--frames", "5-5", check=0)
    assert sorted(files(job)) == [f"volume_{frame:04d}.vdb" for frame in (2, 3, 4, 5)]
    program.run("volume", job, check=0)
    assert files(job) == whole
    assert {p: p.stat().st_mtime_ns for p in (job / "cache").rglob("*.grain")} == before
    moved = shutil.move(job, folder / "elsewhere")
    assert len(frame_events(program.run("volume", moved, check=0))) == 0, "a moved cache is not known any more"


def test_negative_frames(folder: Path) -> None:
    job = baked(folder, frame_start=-2, frame_end=0)
    program.run("volume", job, check=0)
    assert sorted(files(job)) == ["volume_0000.vdb", "volume_0001.vdb", "volume_0002.vdb"]
    assert grids_of(job / "cache/volume/volume_0001.vdb")["density"]["frame"] == -1
    program.run("info", job / "cache/volume", check=0)
    program.run("volume", job, "--force", "--frames", "0-0", check=0)
    assert list(files(job)) == ["volume_0002.vdb"]


def test_errors_name_the_remedy(folder: Path) -> None:
    need_openvdb()
    job = jobs.small(frame_end=2).write(folder / "job")
    assert "grain bake" in program.run("volume", job, check=4).stderr
    program.run("bake", job, check=0)
    change(job, source="grains")
    assert "grain upsample" in program.run("volume", job, check=4).stderr
    change(job, source="grainz")
    assert "grainz" in program.run("volume", job, check=3).stderr
    change(job, density=False, velocity=False)
    assert "no grid" in program.run("volume", job, check=3).stderr
    change(job, voxel_sise=2)
    assert "voxel_sise" in program.run("volume", job, check=3).stderr
    change(job)
    assert "there are frames 1 to 2" in program.run("volume", job, "--frames", "2-9").stderr
    assert "frames" in program.run("volume", job, "--frames", "x", check=2).stderr


def test_full_disk(folder: Path) -> None:
    job = baked(folder, frame_end=6, volume={"surface": True})
    program.run("volume", job, check=0)
    through = files(job)
    shutil.rmtree(job / "cache/volume")
    disk = job / "cache/volume"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)], capture_output=True).returncode != 0:
        raise Skip("mounting a small tmpfs needs root")
    try:
        result = program.run("volume", job, check=10)
        assert "disk is full" in result.stderr and "volume_" in result.stderr, result.stderr
        assert not list(disk.glob("*.part")), "half-written files left behind"
        assert 1 <= len(files(job)) < 6
        subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
        program.run("volume", job, check=0)
        assert files(job) == through
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_little_memory_ends_with_a_sentence(folder: Path) -> None:
    """OpenVDB and what it brings may end the process where memory is refused: under each limit the files are written, or one
    line says why not."""
    if program.IS_WINDOWS or program.RUNNER:
        raise Skip("there is no limit on addresses to set")
    if "GRAIN_SANITIZE:STRING=\n" not in (program.BUILD / "CMakeCache.txt").read_text():
        raise Skip("sanitizers take all addresses there are")
    job = baked(folder, frame_end=2)
    done = 0
    for megabytes in range(60, 320, 10):
        shutil.rmtree(job / "cache/volume", ignore_errors=True)
        result = program.run("volume", job, wrap=["prlimit", f"--as={megabytes << 20}"])
        assert result.code in (0, 4, 6), f"{megabytes} MB: exit code {result.code}: {result.stderr.strip()}"
        if result.code == 0:
            done += 1
        else:
            assert result.last["event"] == "error" and len(result.stderr.strip().splitlines()) == 1, f"{megabytes} MB: {result.stderr}"
    assert done > 5, "no limit let it through"
