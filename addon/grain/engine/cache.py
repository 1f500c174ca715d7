# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder: which frames are there, and deleting them without touching anything else.

The layout is libgrain's (libgrain/docs/formats.md): cache.json lists whole frames only. Beside it the add-on keeps
the job it baked, in `job/`.
"""
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from . import files, job as job_files

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

MANIFEST = "cache.json"
LOCK = "lock"
_LOCKED_BYTE = 0x40000000  # of that file, on Windows, where nobody else may read what is locked: far behind the text that names the owner
JOB_FOLDER = "job"
GRAINS_FOLDER = "grains"
VOLUME_FOLDER = "volume"
SDF_FOLDER = "sdf"  # distance fields of the colliders, which any bake makes again
FORMAT = 2
FRAME_HEADER_BYTES = 64 + 3 * 64


def _number(width: int) -> str:
    """A frame as C's %0*d writes it, and no other way: what libgrain never wrote is not deleted."""
    tail = width - 1
    return rf"(?:\d{{{width}}}|[1-9]\d{{{width},}}|-(?!0+\.)\d{{{tail}}}|-[1-9]\d{{{tail},}})"


_OWN = re.compile(rf"log\.jsonl|(cache\.json|(coarse|birth)_{_number(6)}\.grain|checkpoint(_{_number(6)})?\.grain)(\.part)?|lock")
_CHECKPOINT = re.compile(rf"checkpoint_({_number(6)})\.grain")
_OWN_GRAINS = re.compile(rf"(cache\.json|(grains|birth)_{_number(6)}\.grain|checkpoint\.grain)(\.part)?|lock")
_OWN_VOLUME = re.compile(rf"(cache\.json|volume_{_number(4)}\.vdb)(\.part)?|lock")
_OWN_SDF = re.compile(r"(coarse|fine)_[0-9a-f]{32}\.grain(\.part)?")
_OWN_JOB = re.compile(r"(job\.json|geometry\.bin)(\.part)?")


class CacheError(Exception):
    """Something about a cache folder, in words for an artist."""


@dataclass(frozen=True)
class Manifest:
    fps: float
    frame_start: int
    frame_end: int
    bytes_per_particle: float
    particles: dict[int, int]  # by frame, whole frames only
    byte_count: int  # of all frames
    bodies: tuple[str, ...] = ()  # rigid bodies, in the order of their columns
    grids: tuple[str, ...] = ()  # of volumes
    voxel_size: float = 0.0  # of volumes: m
    number_shift: int = 0  # of volumes: what a file's number is above its frame
    births: tuple[int, ...] = ()  # frames in which particles were born

    @property
    def first(self) -> int:
        return min(self.particles)

    @property
    def last(self) -> int:
        return max(self.particles)

    def frame_to_show(self, frame: int) -> Optional[int]:
        """The frame itself, or the newest before it: nothing before the first, the last one held after the end."""
        if frame in self.particles:
            return frame
        earlier = [number for number in self.particles if number < frame]
        return max(earlier) if earlier else None


_memory: dict[Path, tuple[tuple[int, int, int], Optional[Manifest]]] = {}


def read_manifest(folder: Path) -> Optional[Manifest]:
    """None where nothing was baked. Parsed again only when the file changed: panels ask at every redraw."""
    path = folder / MANIFEST
    try:
        state = os.stat(path)
    except OSError:
        _memory.pop(folder, None)
        return None
    stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
    remembered = _memory.get(folder)
    if remembered is not None and remembered[0] == stamp:
        return remembered[1]
    manifest = _parse(path)
    _memory[folder] = (stamp, manifest)
    return manifest


def _parse(path: Path) -> Optional[Manifest]:
    try:
        document = json.loads(files.patiently(lambda: path.read_text("utf-8")))
        if document["format"] > FORMAT:
            raise CacheError(f"{path} was made by a newer Grain. Update the add-on, or bake into another folder")
        frames, stream = document["frames"], next(iter(document["streams"].values()))
        if not frames:
            return None
        return Manifest(
            fps=float(document["fps"]), frame_start=int(document["frame_start"]),
            frame_end=int(document["frame_end"]),
            bytes_per_particle=float(stream.get("bytes_per_particle", 0)),
            particles={int(entry["frame"]): int(entry["particles"]) for entry in frames},
            byte_count=sum(int(entry["bytes"]) for entry in frames),
            bodies=tuple(str(name) for name in document.get("bodies", ())),
            grids=tuple(str(name) for name in stream.get("grids", ())),
            voxel_size=float(stream.get("voxel_size", 0.0)),
            number_shift=int(stream.get("number_shift", 0)),
            births=tuple(int(entry["frame"]) for entry in document.get("births", ())))
    except OSError as error:
        raise CacheError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise CacheError(f"{path} is damaged. Free the bake and bake again") from error


def frame_path(folder: Path, frame: int) -> Path:
    """Of the bake, or, in a folder of grains, of them."""
    stream = "grains" if folder.name == GRAINS_FOLDER else "coarse"
    return folder / f"{stream}_{frame:06d}.grain"


def birth_path(folder: Path, frame: int) -> Path:
    return folder / f"birth_{frame:06d}.grain"


def grains_folder(folder: Path) -> Path:
    return folder / GRAINS_FOLDER


def volume_folder(folder: Path) -> Path:
    return folder / VOLUME_FOLDER


def volume_path(folder: Path, number: int) -> Path:
    """A file of the sequence, by its number (Manifest.number_shift), as Blender is told it."""
    return files.plain(folder) / VOLUME_FOLDER / f"volume_{number:04d}.vdb"


def job_folder(folder: Path) -> Path:
    return folder / JOB_FOLDER


def is_busy(folder: Path) -> bool:
    """Whether a process holds the folder's lock, this Blender's own child included."""
    try:
        with open(folder / LOCK, "rb") as file:
            if sys.platform == "win32":
                file.seek(_LOCKED_BYTE)
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
            else:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                fcntl.flock(file, fcntl.LOCK_UN)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def own_files(folder: Path) -> list[Path]:
    """Files in the folder that Grain wrote, by name. Never links, never folders, never anything else."""
    found = []
    for parent, pattern in ((folder, _OWN), (folder / GRAINS_FOLDER, _OWN_GRAINS),
                            (folder / VOLUME_FOLDER, _OWN_VOLUME), (folder / SDF_FOLDER, _OWN_SDF),
                            (folder / JOB_FOLDER, _OWN_JOB)):
        if parent.is_symlink() or not parent.is_dir():
            continue
        for entry in os.scandir(parent):
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                found.append(Path(entry.path))
    return sorted(found)


def _is_grain_cache(folder: Path) -> bool:
    """A folder is ours when its manifest or its job says so; file names alone do not prove it."""
    document = job_files.read_document(folder / JOB_FOLDER)
    if document is not None and "schema" in document and "solver" in document:
        return True
    try:
        manifest = json.loads(files.patiently(lambda: (folder / MANIFEST).read_text("utf-8")))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and "fingerprint" in manifest and "frames" in manifest


def free(folder: Path, part: str = "") -> int:
    """Deletes the frames, checkpoints, manifest and job, or only one part (GRAINS_FOLDER, VOLUME_FOLDER); returns how many
    bytes. Other files stay where they are."""
    if not folder.is_dir():
        return 0
    if not _is_grain_cache(folder):
        raise CacheError(f"{folder} contains no Grain bake, so nothing was deleted. Check the cache folder")
    if any(is_busy(place) for place in (folder, folder / GRAINS_FOLDER, folder / VOLUME_FOLDER)):
        raise CacheError(f"A bake is writing to {folder}. Pause it first")
    byte_count = 0
    doomed = [path for path in own_files(folder) if not part or path.parent.name == part]
    # The manifest goes first: what is left after an interruption is no cache any more, not a cache with holes.
    doomed.sort(key=lambda path: path.name != MANIFEST)
    for path in doomed:
        try:
            size = path.stat().st_size
            files.patiently(path.unlink)
        except OSError as error:
            raise CacheError(f"{path} cannot be deleted: {error.strerror}") from error
        byte_count += size
    for parent in ((folder / part,) if part else
                   (folder / GRAINS_FOLDER, folder / VOLUME_FOLDER, folder / SDF_FOLDER, folder / JOB_FOLDER, folder)):
        try:
            parent.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            break  # somebody else's files are in it
    _forget(folder)
    return byte_count


def _forget(folder: Path) -> None:
    for part in (folder, folder / GRAINS_FOLDER, folder / VOLUME_FOLDER):
        _memory.pop(part, None)


def move(source: Path, target: Path) -> None:
    """Moves a cache's own files to a folder that has none. Raises OSError."""
    target.mkdir(parents=True, exist_ok=True)
    moved = sorted(own_files(source), key=lambda path: path.name == MANIFEST)  # last: it promises that the others are there
    for path in moved:
        if path.name == LOCK:
            path.unlink()
            continue
        destination = target / path.relative_to(source)
        destination.parent.mkdir(exist_ok=True)
        shutil.move(path, destination)
    _forget(source)


def checkpoint_frames(folder: Path) -> list[int]:
    """Frames which a bake can go on from, ascending."""
    manifest = read_manifest(folder)
    if manifest is None:
        return []
    kept = [int(match.group(1)) for match in map(_CHECKPOINT.fullmatch, os.listdir(folder)) if match]
    return sorted(frame for frame in kept if frame in manifest.particles)


def free_space(folder: Path) -> Optional[int]:
    """Bytes left on the disk that holds, or would hold, the folder."""
    while not folder.exists():
        if folder.parent == folder:
            return None
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
