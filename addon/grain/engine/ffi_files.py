# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of libgrain: their names on this system, where they lie, and what has to be done before the system lets them run."""
import ctypes
import hashlib
import os
import platform
import stat
import struct
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Optional

from . import ending

FOLDER_VARIABLE = "GRAIN_LIBRARY_FOLDER"  # for developers and tests: where libgrain and grain were built

# Library, program, and the library with OpenVDB, which those two load; by what Blender calls the platform.
_NAMES = {"linux": ("libgrain.so", "grain", "libgrain_vdb.so"), "macos": ("libgrain.dylib", "grain", "libgrain_vdb.dylib"),
          "windows": ("grain.dll", "grain.exe", "grain_vdb.dll")}
_LABELS = {"linux-x64": "Linux (x64)", "linux-arm64": "Linux (arm64)", "windows-x64": "Windows (x64)",
           "macos-arm64": "macOS (Apple Silicon)", "macos-x64": "macOS (Intel)"}

# A library that is in use can neither be replaced nor deleted on Windows, so that Blender's update of an extension would fail halfway
# and leave a mixture of two versions. There a copy is loaded, out of a folder of the user's that is named after its content: no
# update ever meets a file of that name with other content, and what no Blender uses any more is deleted when it is a day old.
LOADS_COPY = sys.platform == "win32"
_COPIES = "Grain"  # folder, in the user's local ones
_OLD = 24 * 3600.0  # s; a Blender that starts just now has its copy, but may not have loaded it yet

_QUARANTINE = b"com.apple.quarantine"
_released: set[Path] = set()  # folders whose files were, as far as that was possible


def system() -> str:
    return {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


def this_platform() -> str:
    """By Blender's name for it: of this Blender, not of the processor, which may imitate another."""
    machine = sysconfig.get_platform() if sys.platform == "win32" else platform.machine()
    return f"{system()}-{'arm64' if 'arm64' in machine.lower() or 'aarch64' in machine.lower() else 'x64'}"


def library_name() -> str:
    return _NAMES[system()][0]


def program_name() -> str:
    return _NAMES[system()][1]


def folders() -> list[Path]:
    """Where libgrain and grain may lie: packaged with the add-on, then where a developer built them."""
    found = [Path(__file__).resolve().parent.parent / "lib"]
    variable = os.environ.get(FOLDER_VARIABLE)
    if variable:
        found.append(Path(variable).resolve())
    return found


def find(name: str) -> Optional[Path]:
    return next((folder / name for folder in folders() if (folder / name).is_file()), None)


def why_missing(what: str) -> str:
    """Why it is not there, in words: as a rule the zip is another system's."""
    for other in (other for names in _NAMES.values() for other in names):
        path = find(other)
        text = for_another_platform(path) if path is not None else None
        if text is not None:
            return text
    places = " or ".join(str(folder) for folder in folders())
    return f"{what} is missing: it is not in {places}. Install the Grain zip made for this system"


def for_another_platform(path: Path) -> Optional[str]:
    """What to tell of a library or program that is made for another system or processor; None where it is for this one, or nothing
    of the kind."""
    its, here = made_for(path), this_platform()
    if its in ("", here):
        return None
    if here not in _LABELS:
        return f"Grain is not available for {here}. Use Blender for {_LABELS[its]} on this machine"
    return f"This Grain is for {_LABELS.get(its, its)}. Install the zip for {_LABELS[here]}: its name ends in {here}.zip"


def made_for(path: Path) -> str:
    """Which platform a library or program is for, by its head; '' where that does not tell."""
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
    except OSError:
        return ""
    try:
        if head[:4] == b"\x7fELF":
            return {62: "linux-x64", 183: "linux-arm64"}.get(struct.unpack_from("<H", head, 18)[0], "")
        if head[:4] == b"\xcf\xfa\xed\xfe":
            return {0x01000007: "macos-x64", 0x0100000C: "macos-arm64"}.get(struct.unpack_from("<I", head, 4)[0], "")
        if head[:2] == b"MZ":
            at = struct.unpack_from("<I", head, 60)[0]
            if head[at:at + 4] == b"PE\0\0":
                return {0x8664: "windows-x64", 0xAA64: "windows-arm64"}.get(struct.unpack_from("<H", head, at + 4)[0], "")
    except struct.error:
        pass
    return ""


def make_runnable(path: Path) -> None:
    """Gives back what an installer lost, the permission to execute, and takes what a browser added. Whoever starts the program is
    told where neither was possible."""
    release(path)
    if not os.access(path, os.X_OK):
        try:
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        except OSError:
            pass


def release(path: Path) -> None:
    """Takes a library or program, and what lies beside it of Grain's, from macOS' quarantine. What came through a browser has a mark,
    and unpacked by hand so has every file of it: macOS then asks before a library is loaded, and ends a program at once. Blender's
    own installer leaves no mark."""
    if sys.platform == "darwin" and path.parent not in _released:
        _released.add(path.parent)
        for name in _NAMES[system()]:
            remove_mark(path.parent / name, _QUARANTINE)


def remove_mark(path: Path, name: bytes) -> bool:
    """Whether the file had this extended attribute and has it no more. Python's own os.removexattr is for Linux only."""
    remove = ctypes.CDLL(None).removexattr
    remove.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]  # the last one is for macOS; others do not look at it
    return remove(os.fsencode(path), name, 0) == 0


def why_not_loaded(path: Path, error: OSError) -> str:
    remedy = f". {ending.macos_remedy(str(path))}" if sys.platform == "darwin" else ""
    return f"{path} cannot be loaded: {error}{remedy}"


def to_load(path: Path) -> Path:
    """What is loaded in the place of a library: itself, or a copy (LOADS_COPY). Itself also where there is no room for a copy: it
    works as well, and only an update has to wait until Blender is closed."""
    try:
        return _copy_of(path) if LOADS_COPY else path
    except OSError:
        return path


def _copy_of(path: Path) -> Path:
    content, home = path.read_bytes(), copies_folder()
    folder = home / hashlib.sha256(content).hexdigest()[:16]
    copy = folder / path.name
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)  # in use today
    if not copy.is_file() or copy.read_bytes() != content:
        part = folder / f"{path.name}.{os.getpid()}.part"
        part.write_bytes(content)
        os.replace(part, copy)
    _remove_old(home, folder)
    return copy


def copies_folder() -> Path:
    return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()) / _COPIES / "library"


def _remove_old(home: Path, but: Path) -> None:
    """Copies of other versions, unless a Blender has them loaded: those refuse."""
    for folder in home.iterdir():
        try:
            if folder != but and time.time() - folder.stat().st_mtime > _OLD:
                for file in folder.iterdir():
                    if file.name.startswith(library_name()):
                        file.unlink()
                folder.rmdir()
        except OSError:
            continue
