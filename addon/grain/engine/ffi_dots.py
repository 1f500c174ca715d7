# SPDX-License-Identifier: GPL-3.0-or-later
"""libgrain's calls for viewports, through ctypes: grains as dots, and frames read ahead. Arrays are NumPy's."""
import ctypes
from ctypes import c_int64, c_void_p
from pathlib import Path
from typing import Any, Optional

from . import ffi, files


def _address(array: Any) -> Optional[int]:
    """Of an array's first element; it must be contiguous and of the type that libgrain expects."""
    return array.ctypes.data if array is not None else None


def dots_look(colours: Any, wet_value: float, largest: float = 0.0) -> ffi.GrainPointsLook:
    """colours: an array of 256 x 3 float32."""
    look = ffi.GrainPointsLook(struct_size=ctypes.sizeof(ffi.GrainPointsLook), wet_value=wet_value, largest_radius=largest)
    ctypes.memmove(look.colours, _address(colours), ctypes.sizeof(look.colours))
    return look


def dots_colour(positions: Any, radii: Any, ids: Any, moistures: Any, colours: Any, wet_value: float, largest: float,
                out: Any, bounds: Any) -> None:
    """Arrays of float32, int32 (ids) and uint8 (out); ids and moistures may be None."""
    dots = ffi.GrainPoints(struct_size=ctypes.sizeof(ffi.GrainPoints), count=len(radii), positions=_address(positions),
                         radii=_address(radii), ids=_address(ids), moistures=_address(moistures))
    look = dots_look(colours, wet_value, largest)
    ffi.check(ffi.library().grain_points_colour(ctypes.byref(dots), ctypes.byref(look), None, _address(out), _address(bounds)))


def dots_picture(positions: Any, colours: Any, matrix: Any, size: tuple[int, int], part: tuple[int, int, int, int],
                 diameter: float, most_pixels: int, out: Any) -> None:
    view = ffi.GrainPointsView(ctypes.sizeof(ffi.GrainPointsView), *size, *part, diameter, most_pixels)
    ctypes.memmove(view.matrix, _address(matrix), ctypes.sizeof(view.matrix))
    ffi.check(ffi.library().grain_points_picture(_address(positions), _address(colours), len(positions), ctypes.byref(view), None,
                                               _address(out)))


def ahead_create() -> c_void_p:
    """A handle to a thread that reads ahead; ahead_destroy ends it."""
    handle = c_void_p()
    ffi.check(ffi.library().grain_prefetch_create(ctypes.byref(handle)))
    return handle


def ahead_destroy(handle: c_void_p) -> None:
    ffi.library().grain_prefetch_destroy(handle)


def ahead_add(handle: Optional[c_void_p], path: Path, count: int, columns: dict[str, Any], look: Optional[ffi.GrainPointsLook],
              colours: Any) -> int:
    """Arrays that must live until the number returned is finished or dropped."""
    definition = ffi.GrainPrefetchDef(struct_size=ctypes.sizeof(ffi.GrainPrefetchDef), column_count=len(columns), path=files.encoded(path),
                                   count=count, colours=_address(colours))
    for place, (name, array) in enumerate(columns.items()):
        definition.names[place], definition.columns[place] = name.encode(), _address(array)
    if look is not None:
        definition.look = ctypes.pointer(look)
    number = c_int64()
    ffi.check(ffi.library().grain_prefetch_add(handle, ctypes.byref(definition), ctypes.byref(number)))
    return number.value


def ahead_drop(handle: Optional[c_void_p], number: int) -> bool:
    return bool(ffi.library().grain_prefetch_drop(handle, number))


def ahead_is_done(handle: Optional[c_void_p], number: int) -> bool:
    return bool(ffi.library().grain_prefetch_is_done(handle, number))


def ahead_finish(handle: Optional[c_void_p], number: int) -> ffi.GrainPrefetchPoints:
    dots = ffi.GrainPrefetchPoints(struct_size=ctypes.sizeof(ffi.GrainPrefetchPoints))
    ffi.check(ffi.library().grain_prefetch_finish(handle, number, ctypes.byref(dots)))
    return dots
