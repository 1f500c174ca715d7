# SPDX-License-Identifier: GPL-3.0-or-later
"""The one door to the files of caches and jobs, which may come from anybody: a colleague's shot, a download, a share.

No link inside a folder is followed, only regular files are opened, and none keeps us waiting, as a FIFO would. What is new is made
beside the old and renamed; deleted are single names inside the folder. Except on Windows a folder is known by a handle: all that is
done through it is done in the folder that was opened, whatever becomes of its path meanwhile.

A cache itself may be reached through links, as its user likes; the folders inside it may not. Everything here raises OSError with the
path and a reason in words.
"""
import errno
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Optional

from . import files

FOLDERS = ("job", "grains", "volume", "sdf")  # inside a cache
PART = ".part"  # what a file is called until it is complete
_NO_NAME = frozenset("/\\:\0")  # no file of ours has them; on Windows they lead elsewhere
_COPIED_BYTES = 1 << 20  # at a time
_MOST_KEPT = 64 << 20  # bytes of a log

_HAS_HANDLES = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_ALWAYS = 0
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):  # as far as the system has them
    _ALWAYS |= getattr(os, _flag, 0)
_NO_FOLLOW, _OF_FOLDERS = getattr(os, "O_NOFOLLOW", 0), getattr(os, "O_DIRECTORY", 0)
_LINK = "it is a link, and Grain follows none inside a cache. Delete it"
_NAME_OF_ANOTHER = 0x20000000  # bit in the tags of Windows' links and junctions, but not of files that a cloud still holds


def is_link(found: os.stat_result) -> bool:
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_reparse_tag", 0) & _NAME_OF_ANOTHER)


def _refusal(found: os.stat_result, path: Path) -> Optional[OSError]:
    """Why this is not opened as a file."""
    if is_link(found):
        return OSError(errno.ELOOP, _LINK, str(path))
    if stat.S_ISREG(found.st_mode):
        return None
    if stat.S_ISDIR(found.st_mode):
        return IsADirectoryError(errno.EISDIR, "it is a folder, not a file. Move it elsewhere", str(path))
    return OSError(errno.ENXIO, "it is not a regular file. Delete it", str(path))


class Folder:
    """An open folder.

    with Folder(path) as folder:
        folder.replace("job.json", [data])
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: Optional[int] = None
        is_inside = path.name in FOLDERS
        if not _HAS_HANDLES:
            self._check_folder(is_inside)
            return
        try:
            self._handle = os.open(path, os.O_RDONLY | _OF_FOLDERS | (_ALWAYS if is_inside else _ALWAYS & ~_NO_FOLLOW))
        except OSError:
            self._check_folder(is_inside)
            raise

    def _check_folder(self, is_inside: bool) -> None:
        found = os.lstat(self.path) if is_inside else os.stat(self.path)
        if is_inside and is_link(found):
            raise OSError(errno.ELOOP, _LINK, str(self.path))
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "it is not a folder", str(self.path))

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _check(self, name: str) -> None:
        if name in ("", ".", "..") or _NO_NAME & set(name):
            raise OSError(errno.EINVAL, "it is not a name inside the folder", str(self.path / name))

    def _call(self, action: Callable[..., Any], name: str, *more: Any, **keys: Any) -> Any:
        """Has the system do it with the file of this name."""
        self._check(name)
        at: dict[str, Any] = {} if self._handle is None else {"dir_fd": self._handle}
        try:
            return files.patiently(lambda: action(name if at else self.path / name, *more, **keys, **at))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path / name)) from error

    def file_names(self) -> list[str]:
        """Of regular files; which they are is told with the names, and not asked one by one."""
        with os.scandir(self.path if self._handle is None else self._handle) as entries:
            return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))

    def look(self, name: str) -> os.stat_result:
        """At whatever has this name, links included."""
        return self._call(os.stat, name, follow_symlinks=False)

    def state(self, name: str) -> os.stat_result:
        """Of a regular file."""
        found = self.look(name)
        refusal = _refusal(found, self.path / name)
        if refusal is not None:
            raise refusal
        return found

    def has_file(self, name: str) -> bool:
        """Whether a regular file has this name."""
        try:
            self.state(name)
        except OSError:
            return False
        return True

    def open(self, name: str, flags: int = os.O_RDONLY) -> int:
        """A regular file, by number. It is looked at before, because opening a device may have it do something; and once it is open,
        because it may be another by then."""
        if not flags & os.O_EXCL:
            try:
                self.state(name)
            except FileNotFoundError:
                if not flags & os.O_CREAT:
                    raise
        number: int = self._call(os.open, name, flags | _ALWAYS, 0o666)
        refusal = _refusal(os.fstat(number), self.path / name)
        if refusal is not None:
            os.close(number)
            raise refusal
        return number

    def open_to_read(self, name: str) -> BinaryIO:
        return os.fdopen(self.open(name), "rb")

    def read(self, name: str, most: int) -> bytes:
        """All of it, if it has at most this many bytes. Not open for longer than it takes: on Windows nobody replaces it meanwhile."""
        with self.open_to_read(name) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(size) if size <= most else b""
        if size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MB", str(self.path / name))
        return data

    def read_end(self, name: str, most: int) -> bytes:
        """The last bytes, at most this many."""
        with self.open_to_read(name) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - most))
            return file.read(min(size, most))

    def append(self, name: str, data: bytes) -> None:
        """A file that has other names, perhaps outside, stays as it is: its copy, of the newest bytes if it is huge, takes its place."""
        with os.fdopen(self.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as file:
            is_shared = os.fstat(file.fileno()).st_nlink > 1
            if not is_shared:
                file.write(data)
        if is_shared:
            self.replace(name, (self.read_end(name, _MOST_KEPT), data))

    def replace(self, name: str, chunks: Iterable[Any]) -> None:
        """A reader sees the old file or the whole new one, which is written chunk by chunk."""
        self._check(name)
        part = name + PART
        try:
            self.remove(part)  # of somebody who was interrupted
        except FileNotFoundError:
            pass
        number = self.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(number, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            self._rename(part, self, name)
        except OSError as error:
            try:
                self.remove(part)
            except OSError:
                pass  # the next one to write it removes it
            raise OSError(error.errno, error.strerror, error.filename or str(self.path / name)) from error

    def _rename(self, name: str, other: "Folder", new: str) -> None:
        """Into another folder, or the same."""
        if self._handle is None:
            self._call(os.replace, name, other.path / new)
        else:
            os.replace(name, new, src_dir_fd=self._handle, dst_dir_fd=other._handle)

    def move(self, name: str, other: "Folder") -> None:
        """A regular file, to another disk if need be."""
        self.state(name)
        try:
            self._rename(name, other, name)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with self.open_to_read(name) as file:
                other.replace(name, iter(lambda: file.read(_COPIED_BYTES), b""))
            self.remove(name)

    def remove(self, name: str) -> None:
        """What has this name; of a link the link itself."""
        self._call(os.unlink, name)

    def make_folder(self, name: str) -> None:
        """Unless there is one."""
        try:
            self._call(os.mkdir, name)
        except FileExistsError:
            pass

    def remove_folder(self, name: str) -> None:
        """One that is empty."""
        self._call(os.rmdir, name)


# --- one file, by its path --------------------------------------------------------------------------

def state(path: Path) -> os.stat_result:
    with Folder(path.parent) as folder:
        return folder.state(path.name)


def is_folder(path: Path) -> bool:
    """Whether there is a folder that may be opened: inside a cache no link to one."""
    try:
        Folder(path).close()
    except OSError:
        return False
    return True


def is_file(path: Path) -> bool:
    """Whether there is a regular file that can be looked at."""
    try:
        with Folder(path.parent) as folder:
            return folder.has_file(path.name)
    except OSError:
        return False


def read(path: Path, most: int) -> bytes:
    with Folder(path.parent) as folder:
        return folder.read(path.name, most)


def read_end(path: Path, most: int) -> bytes:
    with Folder(path.parent) as folder:
        return folder.read_end(path.name, most)


def open_to_read(path: Path) -> BinaryIO:
    with Folder(path.parent) as folder:
        return folder.open_to_read(path.name)


def append(path: Path, data: bytes) -> None:
    with Folder(path.parent) as folder:
        folder.append(path.name, data)


def replace(path: Path, *chunks: Any) -> None:
    with Folder(path.parent) as folder:
        folder.replace(path.name, chunks)
