# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer to a cache at a time: the file `lock` in it, as libgrain/docs/formats.md ("The lock") defines it, step by step, and as
libgrain takes it.

Blender takes two of them. That of the `job` folder is its own for as long as its bake runs: no other Blender writes a job or bakes
here. That of the cache itself it takes only while it writes the job, so that no program reads half of it; then the child takes it, and
whoever comes between the two finds a whole job.
"""
import errno
import os
import re
import secrets
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from . import door, text

if sys.platform == "win32":
    import _winapi
    import msvcrt
else:
    import fcntl

LOCK = "lock"
_TAKING = LOCK + door.PART
_LOCKED_BYTE = 0x40000000  # on Windows, where nobody else may read what is locked: far behind the text
_MOST_BYTES = 1024  # of the text

BETWEEN_BEATS = 5.0  # s
_BETWEEN_TRIES = 0.1
_STALE = 120.0  # s without a beat
_WATCHED = 3.0  # s for which a crashed taker's text is watched
_LOOKED_AT = 1.0  # s for which others may keep the system's lock to look
_MOST_TRIES = 5
_LONGEST = 30.0  # s that all of it may take, where many want the lock

_OWNER = re.compile(rb"process (\d{1,9}) on (\S+)")
_MANNER = re.compile(rb"[0-9a-f]{16} (system|heartbeat|taking)")


class Busy(OSError):
    """Somebody bakes there; the text says who, and what to do."""

    def __init__(self, folder: Path, owner: bytes) -> None:
        self.owner = text.clean(owner.partition(b"\n")[0].decode("utf-8", "replace"), 300) or "another process"
        super().__init__(errno.EBUSY, f"{self.owner} is baking there", str(folder))
        self.words = f"'{folder}' is being baked into by {self.owner}; wait for it or stop it"

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class _Text:
    """What a lock says, as far as it can be understood."""
    process: Optional[int]
    host: str
    manner: str

    @staticmethod
    def of(data: bytes) -> "_Text":
        first, _, second = data.partition(b"\n")
        owner, manner = _OWNER.match(first), _MANNER.match(second)
        return _Text(int(owner[1]) if owner else None, owner[2].decode("utf-8", "replace") if owner else "",
                     manner[1].decode() if manner else "")

    def is_left(self, is_granted: bool, seconds: float) -> bool:
        """Whether the holder is certainly gone. is_granted: this process has the system's lock. seconds: since the last beat."""
        is_here = self.host == _host() and self.process is not None
        if is_here and (is_granted and self.manner == "system" or _is_gone(self.process or 0)):
            return True
        return seconds >= _STALE


def _host() -> str:
    return socket.gethostname().replace(" ", "_")[:63] or "unknown"


def _is_gone(process: int) -> bool:
    if sys.platform == "win32":
        try:
            handle = _winapi.OpenProcess(0x1000, False, process)  # to ask about it
        except OSError as error:
            return error.winerror == 87  # no such number
        code = _winapi.GetExitCodeProcess(handle)
        _winapi.CloseHandle(handle)
        return bool(code != _winapi.STILL_ACTIVE)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _lock_by_system(file: int, is_shared: bool = False) -> Optional[bool]:
    """Whether it was granted, without waiting; None where the file system has no such locks, or none are wanted."""
    if os.environ.get("GRAIN_LOCK") == "heartbeat":
        return None
    try:
        if sys.platform == "win32":
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return None
    return True


def _unlock(file: int) -> None:
    """Before it is closed: a process that was just forked from this one may still have it open."""
    try:
        if sys.platform == "win32":
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_UN)
    except OSError:
        pass  # it had none


def _read(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    return os.read(file, _MOST_BYTES)


def _write(file: int, data: bytes) -> bool:
    """Over what is there: nobody finds nothing in between. False: the disk is full."""
    try:
        os.lseek(file, 0, os.SEEK_SET)
        if os.write(file, data) == len(data):
            os.ftruncate(file, len(data))
            return True
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    return False


class CacheLock:
    """A lock that is held. Raises Busy, OSError."""

    def __init__(self, folder: Path, cache: Optional[Path] = None) -> None:
        """cache: what a message names, unless it is the folder."""
        self._folder, self._cache = door.Folder(folder), cache or folder
        self._file = -1
        self._number, self._own = secrets.token_hex(8), b""
        self._is_mute = False  # on a full disk the system's lock has to do, or nobody could delete anything there
        self._last_beat = 0.0
        user = os.environ.get("USER") or os.environ.get("LOGNAME") or os.environ.get("USERNAME") or "unknown"
        self._who = f"process {os.getpid()} on {_host()} (user {text.clean(user, 100)}, since {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} UTC)"
        try:
            self._take()
        except BaseException:
            self._close()
            self._folder.close()
            raise

    def _text(self, manner: str) -> bytes:
        return f"{self._who}\n{self._number} {manner}\n".encode("utf-8", "replace")

    def _by_name(self, name: str) -> Optional[bytes]:
        """What this file says; None where there is none."""
        try:
            with self._folder.open_to_read(name) as file:
                return file.read(_MOST_BYTES)
        except FileNotFoundError:
            return None

    # --- taking -----------------------------------------------------------------------------------

    def _take(self) -> None:
        until = time.monotonic() + _LONGEST
        for _ in range(_MOST_TRIES):
            gate = self._begin(until)
            try:
                if self._decide(gate):
                    return
            except OSError:
                self._forget_text()
                raise
            finally:
                is_own = self._is_gate(gate)
                os.close(gate)  # before it is removed, as Windows wants it
                if is_own:
                    self._folder.remove(_TAKING)
        raise Busy(self._cache, self._by_name(LOCK) or b"")

    def _begin(self, until: float) -> int:
        """Step 1: from now on only this process decides. The file that says so, open."""
        watched, since = None, time.monotonic()
        while True:
            try:
                gate = self._folder.open(_TAKING, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                pass
            else:
                _write(gate, self._text("taking"))  # for those who wait; without it they wait all the same
                return gate
            there = self._by_name(_TAKING)
            now = time.monotonic()
            if there != watched:
                watched, since = there, now
            if there is not None and (now - since >= _WATCHED or _Text.of(there).is_left(False, 0.0)):
                try:
                    self._folder.remove(_TAKING)
                except FileNotFoundError:
                    pass
            elif now >= until:
                raise Busy(self._cache, there or b"")
            else:
                time.sleep(_BETWEEN_TRIES)

    def _is_gate(self, gate: int) -> bool:
        try:
            return os.path.samestat(os.fstat(gate), self._folder.look(_TAKING))
        except FileNotFoundError:
            return False

    def _decide(self, gate: int) -> bool:
        """Steps 2 to 5. False: somebody was in between, or the file was not for this cache alone."""
        began = os.fstat(gate).st_mtime
        granted = self._open_locked(began)
        there = _read(self._file)
        is_own = there in (self._text("system"), self._text("heartbeat"))
        if there and not is_own and not _Text.of(there).is_left(granted, began - os.fstat(self._file).st_mtime):
            raise Busy(self._cache, there)
        if os.fstat(self._file).st_nlink > 1:  # it has other names, perhaps outside: this one goes, and the next try makes a file of its own
            self._close()
            if self._is_gate(gate):
                self._folder.remove(LOCK)
            return False
        self._own = self._text("system" if granted else "heartbeat")
        self._is_mute = not _write(self._file, self._own)
        if self._is_mute and not granted:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder.path / LOCK))
        if self._is_gate(gate) and (self._is_mute or self._by_name(LOCK) == self._own):
            self._last_beat = time.monotonic()
            return True
        self._close()
        return False

    def _open_locked(self, began: float) -> bool:
        """Step 2. Whether the system locks it."""
        until = time.monotonic() + _LOOKED_AT
        while True:
            self._file = self._folder.open(LOCK, os.O_RDWR | os.O_CREAT)
            granted = _lock_by_system(self._file)
            if granted is not False:
                return granted is True
            there = _read(self._file)
            is_held = there and not _Text.of(there).is_left(False, began - os.fstat(self._file).st_mtime)
            if is_held or time.monotonic() >= until:
                raise Busy(self._cache, there)
            self._close()  # somebody only looks at it
            time.sleep(_BETWEEN_TRIES)

    # --- holding and letting go -------------------------------------------------------------------

    def beat(self) -> bool:
        """To be called now and then; does something every few seconds only. False: somebody took it over, while this process was
        suspended."""
        if self._file < 0 or time.monotonic() - self._last_beat < BETWEEN_BEATS:
            return self._file >= 0
        self._last_beat = time.monotonic()
        try:
            if sys.platform == "win32":
                os.utime(self._folder.path / LOCK)
            else:
                os.utime(self._file)
            if self._is_mute or self._by_name(LOCK) == self._own:
                return True
        except OSError:
            return True  # a share may be away for a moment
        self._close()
        return False

    def _forget_text(self) -> None:
        """Empties the file, if it still says that this process has it."""
        try:
            if self._file >= 0 and self._own and (self._is_mute or _read(self._file) == self._own):
                os.ftruncate(self._file, 0)
        except OSError:
            pass  # what is left is stale as soon as this process is gone

    def _close(self) -> None:
        if self._file >= 0:
            _unlock(self._file)
            os.close(self._file)
        self._file = -1

    def release(self, removes: bool = False) -> None:
        """removes: the file as well; its folder is about to go. Called again it does nothing."""
        if removes and self._file >= 0 and sys.platform != "win32":
            self._remove()
        self._forget_text()
        self._close()
        if removes and sys.platform == "win32":  # where nobody removes what is open
            self._remove()
        self._folder.close()

    def _remove(self) -> None:
        try:
            self._folder.remove(LOCK)
        except OSError:
            pass  # then the folder stays, too

    def __enter__(self) -> "CacheLock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_busy(folder: Path) -> bool:
    """Whether somebody writes there, this Blender's own child included. Writes nothing."""
    try:
        with door.Folder(folder) as place:
            file = place.open(LOCK)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # nothing that Grain may write to
    try:
        granted = _lock_by_system(file, is_shared=True)
        there = _read(file)
        if granted is False:
            return True
        return bool(there) and not _Text.of(there).is_left(granted is True, time.time() - os.fstat(file).st_mtime)
    except OSError:
        return True
    finally:
        _unlock(file)
        os.close(file)
