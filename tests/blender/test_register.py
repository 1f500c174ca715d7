# SPDX-License-Identifier: GPL-3.0-or-later
"""Coming and going leaves nothing behind: handlers, classes, menus, timers, child processes, threads."""
import threading
from pathlib import Path

import bpy
import support


def our_handlers() -> list[str]:
    found = []
    for name in dir(bpy.app.handlers):
        handlers = getattr(bpy.app.handlers, name)
        if isinstance(handlers, list):
            found += [f"{name}:{function.__name__}" for function in handlers
                      if function.__module__.split(".")[0] == "grain"]
    return sorted(found)


def our_classes() -> list[str]:
    return [name for name in dir(bpy.types) if name.startswith(("GRAIN_OT_", "GRAIN_PT_", "GRAIN_PG_"))]


def add_buttons() -> int:
    return sum(function.__module__.startswith("grain.") for function in bpy.types.PHYSICS_PT_add._dyn_ui_initialize())


def test_enabled_once_however_often(_: Path) -> None:
    expected = our_handlers()
    assert len(expected) == len(set(expected)) >= 8, expected
    for _round in range(2):
        support.disable()
        assert our_handlers() == [], our_handlers()
        assert our_classes() == [], our_classes()
        assert not hasattr(bpy.types.Object, "grain") and not hasattr(bpy.types.Scene, "grain")
        assert not hasattr(bpy.types.WindowManager, "grain")
        assert add_buttons() == 0
        support.enable()
        support.enable()
        assert our_handlers() == expected
        assert add_buttons() == 1


def test_another_file_changes_nothing(folder: Path) -> None:
    expected = our_handlers()
    path = support.save(folder)
    for _round in range(2):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        assert our_handlers() == expected
    bpy.ops.wm.read_homefile(use_empty=True)
    assert our_handlers() == expected


def start_slow_bake(folder: Path) -> int:
    from grain.scene.manage import baking
    scene = support.slow_scene()
    support.save(folder)
    bake = baking.start(scene.grain.active, bpy.context.view_layer, False)
    assert support.is_alive(bake.process.pid)
    return bake.process.pid


def assert_nothing_runs(pid: int) -> None:
    from grain import runtime
    assert not support.is_alive(pid), "the child still runs"
    assert runtime.state.bake is None
    assert threading.enumerate() == [threading.main_thread()], threading.enumerate()


def test_disabling_ends_a_bake(folder: Path) -> None:
    pid = start_slow_bake(folder)
    support.disable()
    assert_nothing_runs(pid)
    assert our_handlers() == []


def test_opening_a_file_ends_a_bake(folder: Path) -> None:
    pid = start_slow_bake(folder)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "test.blend"))
    assert_nothing_runs(pid)


def test_quitting_ends_a_bake(folder: Path) -> None:
    done = support.run_blender(folder, script=f"""
import bpy, support
from pathlib import Path
from grain.scene.manage import baking
scene = support.slow_scene()
support.save(Path({str(folder)!r}))
print('PID', baking.start(scene.grain.active, bpy.context.view_layer, False).process.pid, flush=True)
""")
    assert done.returncode == 0, support.fail_output(done)
    pid = int(done.stdout.split("PID ")[1].split()[0])
    assert not support.is_alive(pid), "the child outlived Blender"
