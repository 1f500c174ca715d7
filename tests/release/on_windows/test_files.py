# SPDX-License-Identifier: GPL-3.0-or-later
"""Files on Windows: paths of all kinds, locks, files that somebody has open, and a library that can be updated while it is used."""
import ctypes
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jobs
from grain.engine import cache, cache_lock, door, ffi, ffi_files, files, job as job_files
from grain.engine.objects import CacheFrame
from processes import ended, long_job, start, wait_for_frames

BINARIES = Path(os.environ["GRAIN_TEST_BUILD"]) / "bin"


def path_of(library: ctypes.CDLL) -> Path:
    kernel, text = ctypes.windll.kernel32, ctypes.create_unicode_buffer(1024)
    kernel.GetModuleFileNameW(ctypes.c_void_p(library._handle), text, len(text))
    return Path(text.value)


def in_folder(folder: Path, local: Path) -> ffi.Loaded:
    """What ffi loads with this folder of libraries and these local files of the user's."""
    before = dict(os.environ)
    os.environ.update(GRAIN_LIBRARY_FOLDER=str(folder), LOCALAPPDATA=str(local))
    try:
        return ffi._load()
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_library_and_program_are_found_and_right(_: Path) -> None:
    assert ffi.problem() is None and ffi.version() and ffi_files.this_platform() == "windows-x64"
    assert ffi.program() == BINARIES / "grain.exe" and ffi_files.made_for(BINARIES / "grain.dll") == "windows-x64"


def test_the_library_can_be_replaced_while_it_is_loaded(folder: Path) -> None:
    lib, local = folder / "lib", folder / "local"
    lib.mkdir()
    shutil.copy(BINARIES / "grain.dll", lib)
    old = local / "Grain" / "library" / "old"
    old.mkdir(parents=True)
    (old / "grain.dll").write_text("of last year")
    os.utime(old, (0, 0))
    loaded = in_folder(lib, local)
    assert loaded.library is not None, loaded.problem
    at = path_of(loaded.library)
    assert local in at.parents and at.read_bytes() == (lib / "grain.dll").read_bytes(), at
    assert not old.exists(), "the copy that nobody uses"
    (lib / "grain.dll").write_bytes(b"the next version")
    shutil.rmtree(lib)
    assert loaded.library.grain_abi_version() == ffi.ABI_VERSION
    os.utime(at.parent, (0, 0))
    ffi_files._remove_old(at.parent.parent, folder)
    assert at.is_file(), "one that is in use stays"


def test_zips_of_other_systems_are_named(folder: Path) -> None:
    (folder / "libgrain.so").write_bytes(b"\x7fELF" + bytes(14) + b"\x3e\0" + bytes(64))
    problem = in_folder(folder, folder).problem
    assert "This Grain is for Linux (x64)" in problem and "windows-x64.zip" in problem, problem
    (folder / "grain.dll").write_text("damaged")
    assert "cannot be loaded" in in_folder(folder, folder).problem


def test_a_lock_is_seen_and_says_whose_it_is(folder: Path) -> None:
    where = folder / "cache"
    assert not cache_lock.is_busy(where)
    process = start(long_job(folder), where)
    wait_for_frames(process, 1)
    assert cache_lock.is_busy(where)
    assert f"process {process.pid} on " in (where / "lock").read_text("utf-8") and os.environ["USERNAME"] in (where / "lock").read_text()
    second = start(folder / "job", where)
    outcome = ended(second)
    assert outcome.exit_code == 9 and f"process {process.pid}" in outcome.text, outcome
    try:
        cache.free(where)
    except cache.CacheError as error:
        assert "Pause it first" in str(error)
    else:
        raise AssertionError("freed under a running bake")
    process.stop()
    ended(process)
    assert not cache_lock.is_busy(where)
    shutil.copytree(folder / "job", cache.job_folder(where))
    assert cache.free(where) > 1000 and not where.exists()


def bake_and_read(job: jobs.Job, place: Path) -> None:
    """Through Python and libgrain: written, baked, listed, read, freed."""
    place = files.reachable(place)
    where = cache.job_folder(place)
    where.mkdir(parents=True)
    job.write(where)
    job_files.set_part(where, "upsample", {"grains_per_particle": 4})
    outcome = ended(start(where, place))
    assert outcome.kind == "done", outcome
    manifest = cache.read_manifest(place)
    assert manifest is not None and manifest.last == 2
    with CacheFrame(cache.frame_path(place, 2)) as frame:
        assert frame.particles == manifest.particles[2] and len(frame.column("position", frame.particles)) == frame.particles
    assert cache.free(place) > 1000 and not place.exists()


def test_folders_of_all_kinds(folder: Path) -> None:
    job = jobs.small(frame_end=2)
    for name in ("plain", "with spaces & (brackets)", "s\u00f6ndag \u65e5\u672c \U0001f3d6", "'quoted' %PATH% ^caret;semi,comma"):
        bake_and_read(job, folder / name)


def test_folders_with_paths_of_any_length(folder: Path) -> None:
    for length in (150, 200, 205, 215, 230, 250, 300, 1000):
        place = folder
        while len(str(place)) < length:
            place = place / ("deep" * 10)[:max(1, min(40, length - len(str(place)) - 1))]
        bake_and_read(jobs.small(frame_end=2), place)


def test_how_long_paths_are_written(_: Path) -> None:
    deep = "\\".join(["x" * 50] * 5)
    for plain, long in ((f"C:\\{deep}", f"\\\\?\\C:\\{deep}"), (f"\\\\server\\share\\{deep}", f"\\\\?\\UNC\\server\\share\\{deep}")):
        assert str(files.reachable(Path(plain))) == long and files.plain(Path(long)) == Path(plain)
        assert files.encoded(Path(long)) == plain.encode() and files.reachable(Path(long)) == Path(long)
    for short in ("C:\\caches\\sand", "\\\\server\\share\\sand"):
        assert str(files.reachable(Path(short))) == short == str(files.plain(Path(short)))


HOLD = "import sys, time; file = open(sys.argv[1], 'rb'); print('open', flush=True); time.sleep(float(sys.argv[2]))"


def test_a_file_that_a_scanner_has_open_is_replaced_a_moment_later(folder: Path) -> None:
    door.replace(folder / "job.json", b"old")
    for seconds, is_replaced in ((0.2, True), (5.0, False)):
        holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder / "job.json"), str(seconds)], stdout=subprocess.PIPE)
        assert holder.stdout.readline().strip() == b"open"
        began = time.monotonic()
        try:
            door.replace(folder / "job.json", b"new")
        except PermissionError:
            assert not is_replaced, "given up too soon"
        else:
            assert is_replaced, "this system lets files be replaced while they are open"
            assert (folder / "job.json").read_bytes() == b"new" and time.monotonic() - began > 0.05
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_a_bake_is_not_disturbed_by_readers_of_its_list(folder: Path) -> None:
    """Python opens files so that nobody else may replace them; grain does so after every frame, and may be in the middle of it."""
    job, where = jobs.small(frame_end=60).write(folder / "job"), folder / "cache"
    process, reads = start(job, where), 0
    while (outcome := process.poll()) is None:
        cache._forget(where)  # so that the file is read each time
        reads += cache.read_manifest(where) is not None
    assert outcome.kind == "done" and reads > 60, (outcome, reads)
    assert cache.read_manifest(where).last == 60
