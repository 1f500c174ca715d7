# SPDX-License-Identifier: GPL-3.0-or-later
"""The door to a cache's files and its lock, where folders have no handles and files no flags against links."""
import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import jobs
from grain.engine import cache, cache_lock, door, ffi
from harness import Skip

HOLD = """
import sys, types
package = types.ModuleType("grain")
package.__path__ = [sys.argv[1]]
sys.modules["grain"] = package
from pathlib import Path
from grain.engine import cache_lock
with cache_lock.CacheLock(Path(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""


def refused(where: Path) -> str:
    try:
        cache_lock.CacheLock(where).release()
    except cache_lock.Busy as error:
        return str(error)
    raise AssertionError("it was granted")


def test_files_are_made_replaced_moved_and_removed(folder: Path) -> None:
    (folder / "other").mkdir()
    with door.Folder(folder) as place, door.Folder(folder / "other") as other:
        place.replace("list", [b"one"])
        place.replace("list", [b"two", b" three"])
        place.append("list", b" four\n")
        assert place.read("list", 100) == b"two three four\n" and place.file_names() == ["list"]
        place.move("list", other)
        assert other.read_end("list", 6) == b" four\n" and place.file_names() == []
        other.remove("list")
        for name in ("..", "a/b", "a\\b", "C:file", "file:stream", ""):
            try:
                place.look(name)
            except OSError as error:
                assert error.errno == errno.EINVAL, (name, error)
            else:
                raise AssertionError(name)
        place.remove_folder("other")


def test_links_are_seen(folder: Path) -> None:
    (folder / "outside").mkdir()
    (folder / "outside" / "file").write_bytes(b"precious")
    try:
        os.symlink(folder / "outside" / "file", folder / "log.jsonl")
        os.symlink(folder / "outside", folder / "job", target_is_directory=True)
    except (OSError, NotImplementedError) as error:
        raise Skip(f"no right to make links: {error}") from error
    if not os.path.islink(folder / "log.jsonl"):
        raise Skip("what is a link here is none to Python")
    for action in (lambda: door.append(folder / "log.jsonl", b"x"), lambda: door.replace(folder / "job" / "file", b"x")):
        try:
            action()
        except OSError as error:
            assert "link" in error.strerror, error
        else:
            raise AssertionError("followed")
    assert (folder / "outside" / "file").read_bytes() == b"precious"


def test_the_lock_between_processes(folder: Path) -> None:
    engine = Path(cache_lock.__file__).parent.parent
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(engine), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline().strip() == "held"
    assert f"process {holder.pid} on" in refused(folder) and cache_lock.is_busy(folder)
    holder.communicate()
    assert not cache_lock.is_busy(folder) and (folder / "lock").read_bytes() == b"" and not (folder / "lock.part").exists()
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(engine), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline().strip() == "held"
    holder.kill()
    holder.communicate()
    with cache_lock.CacheLock(folder) as lock:
        lock._last_beat -= 2.0 * cache_lock.BETWEEN_BEATS
        os.utime(folder / "lock", (0, 0))
        assert lock.beat() and time.time() - (folder / "lock").stat().st_mtime < 60.0
        assert f"process {os.getpid()} on" in refused(folder)


def test_the_program_is_kept_out_while_a_job_is_written(folder: Path) -> None:
    job, where = jobs.small(frame_end=2).write(folder / "job"), folder / "cache"
    command = [str(ffi.program()), "bake", str(job), "--cache", str(where)]
    where.mkdir()
    with cache_lock.CacheLock(where):
        done = subprocess.run(command, capture_output=True, encoding="utf-8")
        assert done.returncode == 9 and f"process {os.getpid()} on" in done.stderr, done
    with cache.claim(where, lambda: None):
        assert subprocess.run(command, capture_output=True).returncode == 0, "only other Blenders are kept out"
    assert cache.read_manifest(where).last == 2
