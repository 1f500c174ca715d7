# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests in Blender share: a fresh file, small scenes, other Blender processes, and a reader of cache files
which shares no code with Grain."""
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy  # first: as a module of Python's it brings the next one along
import addon_utils
import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("GRAIN_TEST_BUILD", ROOT / "build/release"))


# --- Blender itself -------------------------------------------------------------------------------

def blender_command() -> list[str]:
    """Another Blender like this one: the program, or, where Blender is a module of Python's, what stands in for it."""
    if bpy.app.binary_path:
        return [bpy.app.binary_path]
    return [sys.executable, str(Path(__file__).with_name("module_blender.py"))]


def other_blender_command(version: str) -> list[str]:
    import blenders  # beside this folder, as the next one; other Blender processes do without them
    import harness
    if not blenders.python_of(version).exists():
        raise harness.Skip(f"Blender {version}: {blenders.reason_missing(version)}")
    return [str(blenders.python_of(version)), str(Path(__file__).with_name("module_blender.py"))]


def enable() -> Any:
    """Enables the add-on as the Preferences do; an error while registering is the test's error."""
    def raise_it(error: Exception) -> None:
        raise error
    return addon_utils.enable("grain", default_set=True, handle_error=raise_it)


def disable() -> None:
    addon_utils.disable("grain", default_set=True)


def in_fresh_blender(function: Callable[[Path], None]) -> Callable[[Path], None]:
    """Each test starts with an empty file and the add-on just enabled, and leaves neither bake nor child behind."""
    def run(folder: Path) -> None:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        enable()
        try:
            function(folder)
        finally:
            disable()
    run.__name__ = function.__name__
    return run


def save(folder: Path, name: str = "test.blend") -> Path:
    path = folder / name
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def needs_posix(what: str) -> None:
    """Skips a test on Windows; tests/release/on_windows has its like."""
    if sys.platform == "win32":
        from harness import Skip  # which Blenders started by tests do not find
        raise Skip(f"Windows has no {what}")


def link_folder(source: Path, target: Path) -> None:
    """On Windows, where links need rights of their own, a copy."""
    if sys.platform == "win32":
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.symlink_to(source)


def run_blender(folder: Path, *arguments: object, script: str = "",
                environment: dict[str, str] | None = None, timeout: float = 100.0,
                version: str = "") -> subprocess.CompletedProcess:
    """Another Blender, in the background, with the add-on of the tree enabled as the Preferences would: before any
    file is read. The script runs last. version: of another one than this, e.g. "4.5"; Skip where it is not there."""
    scripts = folder / "user_scripts"
    (scripts / "addons").mkdir(parents=True, exist_ok=True)
    if not (scripts / "addons" / "grain").exists():
        link_folder(ROOT / "addon" / "grain", scripts / "addons" / "grain")
    blender = other_blender_command(version) if version else blender_command()
    command = [*blender, "-b", "--factory-startup", "--python-exit-code", "7",
               "--addons", "grain", *[str(item) for item in arguments]]
    if script:
        helper = f"import sys; sys.path[:0] = {[str(Path(__file__).parent)]!r}\n"
        command += ["--python-expr", helper + script]
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=timeout,
                          env={**os.environ, "BLENDER_USER_SCRIPTS": str(scripts), **(environment or {})})


# --- scenes ---------------------------------------------------------------------------------------

def link(item: bpy.types.Object) -> bpy.types.Object:
    bpy.context.scene.collection.objects.link(item)
    return item


def box(name: str, low: tuple[float, float, float], high: tuple[float, float, float]) -> bpy.types.Object:
    """A closed box around its own origin, wound outward."""
    half = [(b - a) / 2 for a, b in zip(low, high)]
    corners = [(x, y, z) for z in (-half[2], half[2]) for y in (-half[1], half[1]) for x in (-half[0], half[0])]
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], quads)
    item = link(bpy.data.objects.new(name, mesh))
    item.location = [(a + b) / 2 for a, b in zip(low, high)]
    return item


def floor(name: str = "Floor", height: float = 0.0) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    item = link(bpy.data.objects.new(name, mesh))
    item.location.z = height
    item.grain.type = 'COLLIDER'
    item.grain.collider.shape = 'PLANE'
    return item


def small_scene(last_frame: int = 5) -> bpy.types.Scene:
    """Some hundred grains fall on a box on a floor: baked in about a second."""
    scene = bpy.context.scene
    block = box("Block", (-0.08, -0.08, 0.2), (0.08, 0.08, 0.3))
    step = box("Step", (-0.05, -0.05, 0.0), (0.05, 0.05, 0.1))
    bpy.context.view_layer.update()
    block.grain.type = 'SOURCE'
    step.grain.type = 'COLLIDER'
    floor()
    scene.grain.active.particle_radius = 0.01
    scene.frame_start, scene.frame_end = 1, last_frame
    bpy.context.view_layer.update()
    return scene


def slow_scene() -> bpy.types.Scene:
    """Some ten thousand grains over many frames: a bake nobody waits for."""
    scene = small_scene(400)
    scene.grain.active.particle_radius = 0.0025
    return scene


def keyed(owner: bpy.types.ID) -> list[bpy.types.FCurve]:
    """The curves of its settings that have keys."""
    from grain import compat
    return [curve for curves in compat.curve_lists(owner) for curve in curves if curve.driver is None]


def new_curve(owner: bpy.types.ID, path: str) -> bpy.types.FCurve:
    """Without keys, in an action of its own: for settings that there are no more."""
    action = owner.animation_data_create().action = bpy.data.actions.new("Old")
    return action.fcurve_ensure_for_datablock(owner, path) if bpy.app.version >= (4, 4, 0) else action.fcurves.new(path)


def stored(owner: bpy.types.ID) -> Any:
    """What the file will hold of Grain's settings; None where nothing was set."""
    from grain import compat
    return compat.stored_settings(owner, "grain")


def store(owner: bpy.types.ID, settings: dict[str, Any]) -> None:
    """Has the file hold these instead."""
    holder = owner.bl_system_properties_get(do_create=True) if bpy.app.version >= (5, 0, 0) else owner
    del holder["grain"]
    holder["grain"] = settings


def set_blur_position(scene: bpy.types.Scene, position: str) -> None:
    """From 4.2 on the setting is every renderer's."""
    owner = scene.render if hasattr(scene.render, "motion_blur_position") else scene.cycles
    owner.motion_blur_position = position


def points_in_depsgraph() -> int:
    """Points that a renderer gets, counted where it looks for them."""
    total = 0
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        if instance.object.type == 'POINTCLOUD':
            total += len(instance.object.data.points)
    return total


def point_radii() -> np.ndarray:
    """Radii of the point cloud that a renderer gets."""
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        if instance.object.type == 'POINTCLOUD':
            radii = np.empty(len(instance.object.data.points), np.float32)
            instance.object.data.points.foreach_get("radius", radii)
            return radii
    return np.empty(0, np.float32)


# --- files ----------------------------------------------------------------------------------------

def read_frame(path: Path) -> dict[str, np.ndarray]:
    """Columns of a .grain file, read as libgrain/docs/formats.md describes them."""
    data = path.read_bytes()
    if data[:8] == b"GRAINPTS":
        import grains_reader  # beside this folder; other Blender processes do without it
        file = grains_reader.GrainsFile(path)
        columns = {column.name: (column.components, np.array(file.column(column.name))) for column in file.columns}
        return {name: array.reshape(-1, width) if width > 1 else array for name, (width, array) in columns.items()}
    assert data[:8] == b"GRAINFRM", path
    columns, = struct.unpack_from("<I", data, 32)
    result = {}
    for k in range(columns):
        name, kind, components, offset, count = struct.unpack_from("<32sIIQQ", data, 64 + 64 * k)
        dtype = ("<f4", "<i4", "<f8", "<i8")[kind]
        array = np.frombuffer(data, dtype, count * components, offset)
        result[name.rstrip(b"\0").decode()] = array.reshape(count, components) if components > 1 else array
    return result


def read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and waits for its parent does not."""
    if sys.platform == "win32":
        import ctypes
        kernel, code = ctypes.windll.kernel32, ctypes.c_uint32()
        kernel.OpenProcess.restype = ctypes.c_void_p
        handle = ctypes.c_void_p(kernel.OpenProcess(0x1000, False, pid))  # to ask about it
        found = bool(handle) and kernel.GetExitCodeProcess(handle, ctypes.byref(code)) and code.value == 259  # still active
        kernel.CloseHandle(handle)
        return bool(found)
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def fail_output(done: subprocess.CompletedProcess) -> str:
    return f"exit code {done.returncode}: {done.stdout[-1500:]} {done.stderr[-1500:]}"
