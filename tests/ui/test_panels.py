# SPDX-License-Identifier: GPL-3.0-or-later
"""Every panel, looked at: the roles side by side, the simulation page by page, fields and dialogs, wide and narrow.

Only the pictures (build/ui/panels) can show a clipped label; what the scenarios check is that everything draws.
"""
import shutil
import tempfile
from pathlib import Path
from typing import Any

import bpy
import drive
import support

options = drive.options()
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))
support.enable()
columns: list[Any] = []  # Properties editors, side by side


def scene() -> bpy.types.Scene:
    return bpy.context.scene


def picture(name: str) -> drive.Scenario:
    yield 0.4
    drive.screenshot(options.out / "panels" / f"{name}.png")


def split(area: Any, share: float) -> Any:
    """Cuts an editor in two, left and right; returns the new one."""
    before = set(drive.window().screen.areas)
    with bpy.context.temp_override(window=drive.window(), area=area):
        bpy.ops.screen.area_split(direction='VERTICAL', factor=share)
    return next(item for item in drive.window().screen.areas if item not in before)


def lay_out() -> drive.Scenario:
    """A scene with every role, baked; in the viewport's place Properties editors side by side, all their panels open."""
    drive.press('ESC', 100, 500)  # the splash screen
    yield 0.3
    drive.open_all_panels()
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    support.small_scene(4)
    support.box("Tap", (0.2, 0.2, 0.3), (0.25, 0.25, 0.35)).grain.type = 'EMITTER'
    support.box("Drain", (0.2, 0.2, -0.3), (0.4, 0.4, -0.1)).grain.type = 'KILL'
    support.box("Crate", (0.3, 0.3, 0.4), (0.35, 0.35, 0.45)).grain.type = 'BODY'
    support.save(folder, "panels.blend")
    bpy.ops.grain.bake()
    area = drive.area('VIEW_3D')
    area.type = 'PROPERTIES'
    yield 0.2
    columns.append(area)
    for share in (1 / 3, 1 / 2):
        columns.append(split(max(columns, key=lambda item: item.width), share))
        yield 0.2
    columns.sort(key=lambda item: item.x)


def show(area: Any, tab: str, item: Any = None) -> drive.Scenario:
    """A tab, of the active object or of one that is pinned. Tabs are there once the editor has been drawn with its object."""
    space = area.spaces[0]
    space.pin_id = item
    space.use_pin_id = item is not None

    def is_there() -> bool:
        area.tag_redraw()
        try:
            space.context = tab
        except TypeError:
            return False
        return True

    yield from drive.wait_until(is_there, 5.0, f"the tab {tab}")
    area.tag_redraw()
    yield 0.2


def roles() -> drive.Scenario:
    for number, names in enumerate((("Block", "Tap", "Step"), ("Drain", "Crate", "Floor")), 1):
        for area, name in zip(columns, names):
            bpy.context.view_layer.objects.active = bpy.data.objects[name]
            yield from show(area, 'PHYSICS', bpy.data.objects[name])
        yield from picture(f"roles_{number}")


def scroll(area: Any, pages: int) -> drive.Scenario:
    """Down by so many pages, or up."""
    where = next(item for item in area.regions if item.type == 'WINDOW')
    place = where.x + where.width // 2, where.y + 30
    drive.move_mouse(*place)
    yield 0.2
    for _ in range(abs(pages)):
        drive.press('PAGE_DOWN' if pages > 0 else 'PAGE_UP', *place)
        yield 0.2


def simulation() -> drive.Scenario:
    """From top to bottom of the Scene tab; single grains have more settings."""
    settings = scene().grain.active
    settings.retime.mode, settings.use_upsample, settings.use_frame_range = 'SPEED', True, True
    settings.volume.surface = True
    for page, area in enumerate(columns):
        yield from show(area, 'SCENE')
        yield from scroll(area, page)
    yield from picture("simulation")
    settings.solver = 'DEM'
    for area in columns:
        area.tag_redraw()
    yield from picture("simulation_grains")
    settings.solver = 'MPM'


def several_simulations() -> drive.Scenario:
    """Three more, one of each other solver; the list, and an object's choice among them."""
    for solver in ('DEM', 'SPH', 'MESO'):
        with bpy.context.temp_override(window=drive.window()):
            bpy.ops.grain.simulation_copy()
        scene().grain.active.solver = solver
    shown = [next(item for item in reversed(scene().objects.values()) if item.grain.type == kind)
             for kind in ('SOURCE', 'COLLIDER', 'EMITTER')]
    for area, item in zip(columns, shown):
        bpy.context.view_layer.objects.active = item
        yield from show(area, 'PHYSICS', item)
        yield from scroll(area, -4)
    yield from picture("several")


def force_field() -> drive.Scenario:
    """Blender's own panel, and what it means to sand; an object of another kind offers no role."""
    with bpy.context.temp_override(window=drive.window()):
        bpy.ops.object.effector_add(type='WIND')
    wind = bpy.context.object
    yield from show(columns[0], 'PHYSICS', wind)
    with bpy.context.temp_override(window=drive.window()):
        bpy.ops.object.effector_add(type='BOID')
    yield from show(columns[1], 'PHYSICS', bpy.context.object)
    yield from picture("field")
    drive.ensure(not bpy.ops.grain.role_add.poll(), "nothing of a field can be sand")


drive.run("test_panels", {
    scenario.__name__: scenario for scenario in (lay_out, roles, simulation, several_simulations, force_field)}, options.keyword,
    lambda: (shutil.rmtree(folder, ignore_errors=True), iter(()))[1])
