# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder: which frames are there, and deleting them without touching anything else.

The layout is libgrain's (libgrain/docs/formats.md): cache.json lists whole frames only. Beside it the add-on keeps
the job it baked, in `job/`.
"""
import re
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

from . import cache_lock, door, files, job as job_files, reading, text
from .cache_lock import LOCK

MANIFEST = "cache.json"
JOB_FOLDER, GRAINS_FOLDER, VOLUME_FOLDER, SDF_FOLDER = door.FOLDERS  # the last with what any bake makes again
FORMAT = 2
FRAME_HEADER_BYTES = 64 + 3 * 64
_MOST_BYTES = 16 << 20  # of a manifest: 150,000 frames
_LAST_FRAME = 1 << 21  # beyond what Blender or a job can have


def _number(width: int) -> str:
    """A frame as C's %0*d writes it, and no other way: what libgrain never wrote is not deleted."""
    tail = width - 1
    return rf"(?:\d{{{width}}}|[1-9]\d{{{width},}}|-(?!0+\.)\d{{{tail}}}|-[1-9]\d{{{tail},}})"


_OWN = re.compile(rf"log\.jsonl|(cache\.json|(coarse|birth)_{_number(6)}\.grain|checkpoint(_{_number(6)})?\.grain)(\.part)?|lock(\.part)?")
_CHECKPOINT = re.compile(rf"checkpoint_({_number(6)})\.grain")
_OWN_GRAINS = re.compile(rf"(cache\.json|(grains|birth)_{_number(6)}\.grain|checkpoint\.grain)(\.part)?|lock(\.part)?")
_OWN_VOLUME = re.compile(rf"(cache\.json|volume_{_number(4)}\.vdb)(\.part)?|lock(\.part)?")
_OWN_SDF = re.compile(r"(coarse|fine)_[0-9a-f]{32}\.grain(\.part)?")
_OWN_JOB = re.compile(r"(job\.json|geometry\.bin|lock)(\.part)?")
_OWN_BY_PART = {"": _OWN, GRAINS_FOLDER: _OWN_GRAINS, VOLUME_FOLDER: _OWN_VOLUME, SDF_FOLDER: _OWN_SDF, JOB_FOLDER: _OWN_JOB}
_LOCKED = (JOB_FOLDER, "", GRAINS_FOLDER, VOLUME_FOLDER)  # parts with a lock, in the order in which they are taken


class CacheError(Exception):
    """Something about a cache folder, in words for an artist. Some of them may be from a file."""

    def __init__(self, words: str) -> None:
        super().__init__(text.clean(words))


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


_memory: dict[Path, tuple[tuple[int, int, int], Union[Manifest, str, None]]] = {}  # with what is wrong with it


def read_manifest(folder: Path) -> Optional[Manifest]:
    """None where nothing was baked. Parsed again only when the file changed: panels ask at every redraw. Raises CacheError."""
    path = folder / MANIFEST
    try:
        state = door.state(path)
    except (FileNotFoundError, NotADirectoryError):
        _memory.pop(folder, None)
        return None
    except OSError as error:
        raise CacheError(f"{error.filename} cannot be read: {error.strerror}") from error
    stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
    remembered = _memory.get(folder)
    if remembered is None or remembered[0] != stamp:
        remembered = _memory[folder] = (stamp, _parse(path))
    if isinstance(remembered[1], str):
        raise CacheError(remembered[1])
    return remembered[1]


def _parse(path: Path) -> Union[Manifest, str, None]:
    """What it says, or what is wrong with it. Raises CacheError where it cannot be read now."""
    try:
        document = reading.parse(door.read(path, _MOST_BYTES))
        if document.integer("format", 1) > FORMAT:
            return f"{path} was made by a newer Grain. Update the add-on, or bake into another folder"
        return _checked(document)
    except OSError as error:
        raise CacheError(f"{error.filename} cannot be read: {error.strerror}") from error
    except reading.Unfit as error:
        return f"{path} is damaged: {error}. Free the bake, or bake anew"


def _checked(document: reading.Block) -> Optional[Manifest]:
    """Raises Unfit."""
    streams = [reading.Block(stream, f"streams.{name}") for name, stream in document.block("streams").values.items()]
    stream = streams[0] if streams else reading.Block({}, "streams")
    most = reading.BIGGEST
    particles = dict(zip(document.column("frames", "frame", -_LAST_FRAME, _LAST_FRAME), document.column("frames", "particles", 0, most)))
    manifest = Manifest(
        fps=document.number("fps", 1e-3, 1e6), frame_start=_frame(document, "frame_start"), frame_end=_frame(document, "frame_end"),
        bytes_per_particle=stream.number("bytes_per_particle", 0.0, 1e9, 0.0), particles=particles,
        byte_count=sum(document.column("frames", "bytes", 0, most)),
        bodies=document.texts("bodies"), grids=stream.texts("grids"), voxel_size=stream.number("voxel_size", 0.0, 1e9, 0.0),
        number_shift=stream.integer("number_shift", -2 * _LAST_FRAME, 2 * _LAST_FRAME, 0),
        births=tuple(document.column("births", "frame", -_LAST_FRAME, _LAST_FRAME)))
    return manifest if particles else None


def _frame(block: reading.Block, key: str) -> int:
    return block.integer(key, -_LAST_FRAME, _LAST_FRAME)


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


def claim(folder: Path, write_job: Callable[[], None]) -> cache_lock.CacheLock:
    """Has the job written, and keeps all other Blenders from this cache until the lock that it returns is released. The child takes the
    lock of the cache itself: what comes in between is a program that bakes the same job. Raises Busy, OSError."""
    job = folder / JOB_FOLDER
    job_files.make_folder(job)
    lock = cache_lock.CacheLock(job, folder)
    try:
        with cache_lock.CacheLock(folder):
            write_job()
    except BaseException:
        lock.release()
        raise
    return lock


def own_files(folder: Path) -> list[Path]:
    """Files in the folder that Grain wrote, by name. Never links, never folders, never anything else."""
    found: list[Path] = []
    for part in _OWN_BY_PART:
        try:
            with door.Folder(folder / part) as place:
                found += [place.path / name for name in _own_names(place, part)]
        except OSError:
            continue  # not there, or no folder of Grain's
    return sorted(found)


def _own_names(place: door.Folder, part: str) -> list[str]:
    return [name for name in place.file_names() if _OWN_BY_PART[part].fullmatch(name)]


def _is_grain_cache(folder: Path) -> bool:
    """A folder is ours when its manifest or its job says so; file names alone do not prove it."""
    document = job_files.read_document(folder / JOB_FOLDER)
    if document is not None and "schema" in document and "solver" in document:
        return True
    try:
        manifest = reading.parse(door.read(folder / MANIFEST, _MOST_BYTES))
    except (OSError, reading.Unfit):
        return False
    return "fingerprint" in manifest.values and "frames" in manifest.values


def free(folder: Path, part: str = "") -> int:
    """Deletes the frames, checkpoints, manifest and job, or only one part (GRAINS_FOLDER, VOLUME_FOLDER); returns how many
    bytes. Other files stay where they are. Raises CacheError."""
    if not folder.is_dir():
        return 0
    if not _is_grain_cache(folder):
        raise CacheError(f"{folder} contains no Grain bake, so nothing was deleted. Check the cache folder")
    parts = (part,) if part else tuple(_OWN_BY_PART)
    try:
        with ExitStack() as stack:
            for each in _LOCKED:
                _hold(folder / each, stack, each in parts)
            # The manifests go first: what is left after an interruption is no cache any more, not a cache with holes.
            byte_count = sum(_delete(folder, each, is_list) for is_list in (True, False) for each in parts)
        _remove_folders(folder, parts)
    except cache_lock.Busy as error:
        raise CacheError(f"{error.owner} is baking into {folder}. Pause it first") from error
    except OSError as error:
        raise CacheError(f"{error.filename or folder} cannot be deleted: {error.strerror}") from error
    _forget(folder)
    return byte_count


def _hold(place: Path, stack: ExitStack, goes: bool) -> None:
    """Nobody else writes there until the stack is closed. goes: the lock's file goes with it, the last of all."""
    if not door.is_folder(place):
        return
    lock = cache_lock.CacheLock(place, place.parent if place.name in _LOCKED else place)
    stack.callback(lock.release, goes)


def _delete(folder: Path, part: str, is_list: bool) -> int:
    """The part's own files, the lists or the others; returns how many bytes."""
    byte_count = 0
    if not door.is_folder(folder / part):
        return 0
    with door.Folder(folder / part) as place:
        for name in _own_names(place, part):
            if (name == MANIFEST) == is_list and not name.startswith(LOCK):
                byte_count += place.state(name).st_size
                place.remove(name)
    return byte_count


def _remove_folders(folder: Path, parts: tuple[str, ...]) -> None:
    """Those that are empty now; somebody else's files stay, with the folders they are in."""
    try:
        with door.Folder(folder) as place:
            for part in filter(None, parts):
                try:
                    place.remove_folder(part)
                except OSError:
                    continue
        if "" in parts:
            folder.rmdir()
    except OSError:
        pass


def _forget(folder: Path) -> None:
    for part in (folder, folder / GRAINS_FOLDER, folder / VOLUME_FOLDER):
        _memory.pop(part, None)


def move(source: Path, target: Path) -> None:
    """Moves a cache's own files to a folder that has none. Raises OSError."""
    target.mkdir(parents=True, exist_ok=True)
    moved = sorted(own_files(source), key=lambda path: path.name == MANIFEST)  # last: it promises that the others are there
    with ExitStack() as stack:
        places: dict[Path, tuple[door.Folder, door.Folder]] = {}
        for path in moved:
            if path.parent not in places:
                places[path.parent] = _both(path.parent, target / path.parent.relative_to(source), stack)
            here, there = places[path.parent]
            if path.name.startswith(LOCK):
                here.remove(path.name)
            else:
                here.move(path.name, there)
    _forget(source)


def _both(here: Path, there: Path, stack: ExitStack) -> tuple[door.Folder, door.Folder]:
    there.mkdir(exist_ok=True)
    return stack.enter_context(door.Folder(here)), stack.enter_context(door.Folder(there))


def checkpoint_frames(folder: Path) -> list[int]:
    """Frames from which a bake can resume, ascending. Raises CacheError, OSError."""
    manifest = read_manifest(folder)
    if manifest is None:
        return []
    with door.Folder(folder) as place:
        kept = [int(match.group(1)) for match in map(_CHECKPOINT.fullmatch, place.file_names()) if match]
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
