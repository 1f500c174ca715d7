# SPDX-License-Identifier: GPL-3.0-or-later
"""libgrain through ctypes: loading it, its structs and the table of its functions.

Only files named ffi* import ctypes. Everything is loaded on first use and never unloaded: OpenMP's threads outlive their last call.
When something is wrong, `problem()` says which file and why, in words for an artist; nothing here raises while the add-on registers.
"""
import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_uint32, c_void_p
from pathlib import Path
from typing import Any, NamedTuple, Optional

from . import ffi_files, files
from .text import clean

ABI_VERSION = 2  # GRAIN_ABI_VERSION of include/grain/base.h
OK = 0
ERROR_DAMAGED = -8
TYPE_BYTES = (4, 4, 8, 8)  # by GrainType: f32, i32, f64, i64


class GrainError(Exception):
    """A call into libgrain failed. The text is libgrain's own: object, value and remedy."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class GrainRun(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("thread_count", c_int32), ("progress", c_void_p), ("user", c_void_p), ("message", c_void_p)]


class GrainMesh(ctypes.Structure):
    _fields_ = [("positions", POINTER(c_float)), ("triangles", POINTER(c_int32)),
                ("vertex_count", c_int64), ("triangle_count", c_int64)]


class GrainSdfDef(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("voxel_size", c_float), ("band_voxels", c_float), ("thickness", c_float),
                ("kind", c_int32), ("reserved", c_uint32)]


class GrainView(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("count", c_int64), ("components", c_int32), ("type", c_int32)]


class GrainFrameInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("frame", c_int32), ("time", c_double),
                ("particles", c_int64), ("bytes", c_int64)]


class GrainStageStatus(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("event", c_int32), ("frame_start", c_int32), ("frame_end", c_int32),
                ("frame", c_int32), ("resumed_from", c_int32), ("particles", c_int64), ("bytes_written", c_int64),
                ("fraction", c_double), ("seconds", c_double), ("seconds_left", c_double),
                ("seconds_per_frame", c_double), ("kinetic_energy", c_double), ("potential_energy", c_double),
                ("elastic_energy", c_double), ("deepest_overlap", c_double), ("contacts", c_int64),
                ("substeps", c_int64), ("rejected_substeps", c_int64), ("text", c_char_p)]


class GrainStageDef(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("thread_count", c_int32), ("job_folder", c_char_p),
                ("cache_folder", c_char_p), ("restart", c_int32), ("keep_frame", c_int32), ("limit_frames", c_int32),
                ("first_frame", c_int32), ("last_frame", c_int32), ("shard", c_int32), ("shard_count", c_int32),
                ("reserved", c_uint32), ("status", c_void_p), ("user", c_void_p)]


class GrainShape(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("ball_count", c_int32), ("centre", c_float * 3), ("scale", c_float),
                ("balls", c_float * 4 * 64)]


class GrainMeshReport(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("closed", c_int32), ("vertices", c_int64), ("triangles", c_int64),
                ("shells", c_int64), ("open_shells", c_int64), ("inside_out_shells", c_int64),
                ("non_finite_vertices", c_int64), ("broken_triangles", c_int64), ("degenerate_triangles", c_int64),
                ("duplicate_triangles", c_int64), ("duplicate_vertices", c_int64), ("loose_vertices", c_int64),
                ("open_edges", c_int64), ("non_manifold_edges", c_int64), ("flipped_edges", c_int64),
                ("flipped_triangles", c_int64), ("non_orientable_shells", c_int64), ("area", c_double),
                ("volume", c_double), ("low", c_double * 3), ("high", c_double * 3)]


class GrainCoverDef(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("radius", c_float), ("offset", c_float), ("density", c_float),
                ("weight_support", c_float), ("seed", c_int32), ("max_count", c_int64)]


class GrainCoverQuality(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("iterations", c_int32), ("count", c_int64), ("count_wanted", c_int64),
                ("area", c_double), ("spacing", c_double), ("nearest_mean", c_double),
                ("nearest_deviation", c_double), ("nearest_smallest", c_double), ("largest_gap", c_double),
                ("largest_distance", c_double)]


class GrainPoints(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("count", c_int64), ("positions", c_void_p),
                ("radii", c_void_p), ("ids", c_void_p), ("moistures", c_void_p)]


class GrainPointsLook(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("wet_value", c_float), ("largest_radius", c_float), ("reserved", c_uint32),
                ("colours", c_float * 3 * 256)]


class GrainPointsView(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("width", c_int32), ("height", c_int32), ("left", c_int32), ("bottom", c_int32),
                ("right", c_int32), ("top", c_int32), ("diameter", c_float), ("most_pixels", c_int32),
                ("matrix", c_float * 16), ("reserved", c_uint32)]


class GrainPrefetchDef(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("column_count", c_int32), ("path", c_char_p), ("count", c_int64),
                ("names", c_char_p * 8), ("columns", c_void_p * 8), ("look", POINTER(GrainPointsLook)), ("colours", c_void_p)]


class GrainPrefetchPoints(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("are_made", c_int32), ("largest_radius", c_float), ("bounds", c_float * 6),
                ("reserved", c_uint32)]


STRUCTS = (GrainRun, GrainMesh, GrainSdfDef, GrainView, GrainFrameInfo, GrainStageStatus, GrainStageDef,
           GrainMeshReport, GrainCoverDef, GrainCoverQuality, GrainShape,
           GrainPoints, GrainPointsLook, GrainPointsView, GrainPrefetchDef, GrainPrefetchPoints)

# name: (result, arguments). The first four must exist in every libgrain, or nothing can be checked.
PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "grain_abi_version": (c_uint32, []),
    "grain_struct_size": (c_uint32, [c_char_p]),
    "grain_version": (c_char_p, []),
    "grain_last_error": (c_char_p, []),
    "grain_allocated_bytes": (c_int64, []),
    "grain_frame_open": (c_int32, [c_char_p, POINTER(c_void_p)]),
    "grain_frame_load": (c_int32, [c_void_p, c_char_p, c_int64, c_void_p, POINTER(GrainRun)]),
    "grain_frame_destroy": (None, [c_void_p]),
    "grain_frame_info": (c_int32, [c_void_p, POINTER(GrainFrameInfo)]),
    "grain_frame_column": (c_int32, [c_void_p, c_char_p, POINTER(GrainView)]),
    "grain_mesh_check": (c_int32, [POINTER(GrainMesh), POINTER(GrainRun), POINTER(GrainMeshReport)]),
    "grain_mesh_report_text": (c_int32, [POINTER(GrainMeshReport), c_char_p, c_int64]),
    "grain_shape_make": (c_int32, [c_char_p, POINTER(GrainMesh), c_int32, POINTER(GrainShape)]),
    "grain_cover_def_default": (c_int32, [POINTER(GrainCoverDef), c_uint32]),
    "grain_cover_mesh": (c_int32, [POINTER(GrainMesh), POINTER(GrainCoverDef), POINTER(GrainRun), POINTER(c_void_p)]),
    "grain_cover_destroy": (None, [c_void_p]),
    "grain_cover_view": (c_int32, [c_void_p, c_int32, POINTER(GrainView)]),
    "grain_cover_quality": (c_int32, [c_void_p, POINTER(GrainCoverQuality)]),
    "grain_cover_bind": (c_int32, [c_void_p, POINTER(GrainMesh), POINTER(GrainRun)]),
    "grain_points_colour": (c_int32, [POINTER(GrainPoints), POINTER(GrainPointsLook), POINTER(GrainRun), c_void_p, c_void_p]),
    "grain_points_picture": (c_int32, [c_void_p, c_void_p, c_int64, POINTER(GrainPointsView), POINTER(GrainRun), c_void_p]),
    "grain_prefetch_create": (c_int32, [POINTER(c_void_p)]),
    "grain_prefetch_destroy": (None, [c_void_p]),
    "grain_prefetch_add": (c_int32, [c_void_p, POINTER(GrainPrefetchDef), POINTER(c_int64)]),
    "grain_prefetch_drop": (c_int32, [c_void_p, c_int64]),
    "grain_prefetch_is_done": (c_int32, [c_void_p, c_int64]),
    "grain_prefetch_finish": (c_int32, [c_void_p, c_int64, POINTER(GrainPrefetchPoints)]),
    "grain_cover_follow": (c_int32, [c_void_p, POINTER(c_float), c_int64, c_double, POINTER(GrainRun)]),
}


class Loaded(NamedTuple):
    library: Optional[ctypes.CDLL]
    problem: Optional[str]


_loaded: Optional[Loaded] = None


def _load() -> Loaded:
    path = ffi_files.find(ffi_files.library_name())
    if path is None:
        return Loaded(None, ffi_files.why_missing(ffi_files.library_name()))
    stranger = ffi_files.for_another_platform(path)
    if stranger is not None:
        return Loaded(None, stranger)
    ffi_files.release(path)
    try:
        library = ctypes.CDLL(str(ffi_files.to_load(path)))
    except OSError as error:
        return Loaded(None, ffi_files.why_not_loaded(path, error))
    for function, (result, arguments) in PROTOTYPES.items():
        try:
            entry = getattr(library, function)
        except AttributeError:
            return Loaded(None, f"{path} has no function {function}: it belongs to another version. Install Grain again "
                                "and restart Blender")
        entry.restype, entry.argtypes = result, arguments
    abi = library.grain_abi_version()
    if abi != ABI_VERSION:
        return Loaded(None, f"{path} has interface {abi}, this add-on needs {ABI_VERSION}. Install Grain again "
                            "and restart Blender")
    for struct in STRUCTS:
        compiled = library.grain_struct_size(struct.__name__.encode())
        if compiled != ctypes.sizeof(struct):
            return Loaded(None, f"{path} belongs to another build: {struct.__name__} has {compiled} bytes there and "
                                f"{ctypes.sizeof(struct)} here. Install Grain again and restart Blender")
    return Loaded(library, None)


def _ensure() -> Loaded:
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded


def library() -> ctypes.CDLL:
    loaded = _ensure()
    if loaded.library is None:
        raise GrainError(0, loaded.problem or "libgrain is not loaded")
    return loaded.library


def program() -> Optional[Path]:
    """The `grain` program, as far as possible in a state to be started."""
    path = ffi_files.find(ffi_files.program_name())
    if path is not None:
        ffi_files.make_runnable(path)
    return path


def problem() -> Optional[str]:
    """Why Grain cannot work here, or None."""
    loaded = _ensure()
    if loaded.problem is not None:
        return loaded.problem
    path = program()
    if path is None:
        return ffi_files.why_missing(f"The program '{ffi_files.program_name()}'")
    if not os.access(path, os.X_OK):
        return f"{path} may not be executed. Give it the execute permission (chmod +x)"
    return None


def version() -> str:
    return library().grain_version().decode()


def frame_open(path: Path) -> c_void_p:
    """A handle to one frame file, checked, of packed grains only its head; frame_destroy gives it back."""
    handle = c_void_p()
    check(library().grain_frame_open(files.encoded(path), ctypes.byref(handle)))
    return handle


def frame_destroy(handle: c_void_p) -> None:
    library().grain_frame_destroy(handle)


def frame_info(handle: c_void_p) -> GrainFrameInfo:
    info = GrainFrameInfo(struct_size=ctypes.sizeof(GrainFrameInfo))
    check(library().grain_frame_info(handle, ctypes.byref(info)))
    return info


def frame_column(handle: c_void_p, name: str) -> tuple[Any, GrainView]:
    """The column's memory as a buffer (no copy, valid until frame_destroy; None of packed grains) and what lies in it."""
    view = GrainView()
    check(library().grain_frame_column(handle, name.encode(), ctypes.byref(view)))
    return _memory(view) if view.data or not view.count else None, view


def frame_load(handle: c_void_p, name: str, count: int, address: int) -> None:
    """Unpacks the first `count` elements of a column to where there is room for them, on all cores."""
    check(library().grain_frame_load(handle, name.encode(), count, address, None))


def _memory(view: GrainView) -> Any:
    byte_count = view.count * view.components * TYPE_BYTES[view.type]
    return (ctypes.c_char * byte_count).from_address(view.data) if byte_count else b""


def mesh(positions: int, vertex_count: int, triangles: int, triangle_count: int) -> GrainMesh:
    """From the addresses of float32 xyz and int32 corners, which must outlive it."""
    return GrainMesh(ctypes.cast(positions, POINTER(c_float)), ctypes.cast(triangles, POINTER(c_int32)),
                     vertex_count, triangle_count)


def mesh_report(of: GrainMesh) -> str:
    """What is wrong with a mesh, in words; a line for each finding."""
    report = GrainMeshReport(struct_size=ctypes.sizeof(GrainMeshReport))
    check(library().grain_mesh_check(ctypes.byref(of), None, ctypes.byref(report)))
    text = ctypes.create_string_buffer(4096)
    check(library().grain_mesh_report_text(ctypes.byref(report), text, len(text)))
    return text.value.decode("utf-8", "replace")


def shape(name: str, of: Optional[GrainMesh], most_balls: int) -> GrainShape:
    """The balls of a grain: of a shape by name, or, for "mesh", of a closed mesh."""
    made = GrainShape(struct_size=ctypes.sizeof(GrainShape))
    given = ctypes.byref(of) if of is not None else None
    check(library().grain_shape_make(name.encode(), given, most_balls, ctypes.byref(made)))
    return made


def cover_mesh(of: GrainMesh, settings: dict[str, Any]) -> c_void_p:
    """A handle to the cover of a mesh, settings by the names of GrainCoverDef; cover_destroy gives it back."""
    definition = GrainCoverDef()
    check(library().grain_cover_def_default(ctypes.byref(definition), ctypes.sizeof(GrainCoverDef)))
    for name, value in settings.items():
        setattr(definition, name, value)
    handle = c_void_p()
    check(library().grain_cover_mesh(ctypes.byref(of), ctypes.byref(definition), None, ctypes.byref(handle)))
    return handle


def cover_destroy(handle: c_void_p) -> None:
    library().grain_cover_destroy(handle)


def cover_attribute(handle: c_void_p, attribute: int) -> tuple[Any, GrainView]:
    """Memory (no copy, valid until the cover changes) and what lies in it; numbers as in GrainCoverAttribute."""
    view = GrainView()
    check(library().grain_cover_view(handle, attribute, ctypes.byref(view)))
    return _memory(view), view


def cover_quality(handle: c_void_p) -> GrainCoverQuality:
    quality = GrainCoverQuality(struct_size=ctypes.sizeof(GrainCoverQuality))
    check(library().grain_cover_quality(handle, ctypes.byref(quality)))
    return quality


def cover_bind(handle: c_void_p, to: GrainMesh) -> None:
    check(library().grain_cover_bind(handle, ctypes.byref(to), None))


def cover_follow(handle: c_void_p, positions: int, vertex_count: int, seconds: float) -> None:
    check(library().grain_cover_follow(handle, ctypes.cast(positions, POINTER(c_float)), vertex_count, seconds, None))


def check(code: int) -> None:
    """Raises libgrain's own text unless code is OK."""
    if code != OK:
        raise GrainError(code, clean(library().grain_last_error().decode("utf-8", "replace")))
