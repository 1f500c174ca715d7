# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl+Z and Ctrl+Shift+Z after each operator that changes the file: as it was, and as it became. A bake cannot be undone, and what
it made stays."""
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import drive
import support

options = drive.options()
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))
support.enable()


def scene() -> bpy.types.Scene:
    return bpy.context.scene


def settings_of(group: Any) -> dict[str, Any]:
    """Every plain setting of a property group."""
    return {item.identifier: getattr(group, item.identifier) for item in group.bl_rna.properties
            if item.type in ('BOOLEAN', 'INT', 'FLOAT', 'STRING', 'ENUM') and not getattr(item, "is_array", False)
            and not item.is_readonly}


def state() -> dict[str, Any]:
    """Of the file, what Grain's operators may change; and how much sand is to be seen."""
    objects = {item.name: (item.grain.type, item.display_type, item.hide_render, tuple(item.modifiers.keys()),
                           tuple(round(number, 5) for row in item.matrix_basis for number in row),
                           settings_of(item.grain.source), settings_of(item.grain.rigid),
                           len(support.keyed(item)),
                           len(item.data.vertices) if item.type == 'MESH' else 0)
               for item in scene().objects}
    return {"objects": objects, "active": scene().grain.active_index, "texts": sorted(bpy.data.texts.keys()),
            "simulations": [(settings_of(item), settings_of(item.display),
                             item.sand_object.name if item.sand_object else "",
                             item.volume.object.name if item.volume.object else "")
                            for item in scene().grain.simulations]}


def difference(before: Any, after: Any, path: str = "") -> list[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        return [line for key in {**before, **after} for line in difference(before.get(key), after.get(key), f"{path}/{key}")]
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)) and len(before) == len(after):
        return [line for number, pair in enumerate(zip(before, after)) for line in difference(*pair, f"{path}/{number}")]
    return [] if before == after else [f"{path}: {before!r} became {after!r}"]


def key(name: str, **modifiers: bool) -> drive.Scenario:
    place = drive.middle('PROPERTIES')
    drive.move_mouse(*place)
    yield 0.1
    drive.press(name, *place, **modifiers)
    yield 0.3


def lay_out() -> drive.Scenario:
    drive.press('ESC', 100, 500)  # the splash screen
    yield 0.3
    drive.show_tab('PHYSICS')
    drive.area('VIEW_3D').type = 'OUTLINER'  # a viewport takes seconds to draw without a graphics card
    yield 0.2


def operate(name: str, before: Callable[[], None] = lambda: None, **arguments: Any) -> drive.Scenario:
    """Runs an operator as a button does, then goes back and forth."""
    before()
    with bpy.context.temp_override(window=drive.window(), area=drive.area('PROPERTIES')):
        bpy.ops.ed.undo_push(message="before")
        old = state()
        operator = getattr(bpy.ops.grain, name)
        drive.ensure(operator('EXEC_DEFAULT', True, **arguments) == {'FINISHED'}, f"{name} works")
    new = state()
    drive.ensure(old != new, f"{name} changes something")
    for keys, wanted, word in (({"ctrl": True}, old, "undone"), ({"ctrl": True, "shift": True}, new, "redone")):
        yield from key('Z', **keys)
        yield from drive.wait_until(lambda wanted=wanted: state() == wanted, 2.0, f"{name} {word}: {difference(wanted, state())[:4]}; that")


def choose(*names: str) -> Callable[[], None]:
    def select() -> None:
        for item in scene().objects:
            item.select_set(item.name in names)
        bpy.context.view_layer.objects.active = bpy.data.objects[names[0]]
    return select


def delete(find: Callable[[], bpy.types.Object]) -> Callable[[], None]:
    return lambda: bpy.data.objects.remove(find())


def before_the_bake() -> drive.Scenario:
    yield from operate("role_add", choose("Cube"))
    yield from operate("role_add", choose("Cube"), type='EMITTER')
    yield from operate("role_remove", choose("Cube"))
    yield from operate("quick_sand", choose("Cube"), preset='GRAVEL')
    yield from operate("preset", preset='WET_SAND')
    scene().grain.active.particle_radius = 0.3
    yield from operate("radius_fit")
    yield from operate("floor_add", lambda: bpy.data.objects.remove(bpy.data.objects["Grain Floor"]))
    yield from operate("simulation_add")
    yield from operate("simulation_copy")
    yield from operate("simulation_remove")
    yield from operate("cover", choose("Cube"))


def after_the_bake() -> drive.Scenario:
    """Undo takes neither frames nor the sand away, and shows the right frame after each step."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    while scene().grain.simulations:
        bpy.ops.grain.simulation_remove()
    support.small_scene(3)
    crate = support.box("Crate", (0.3, 0.3, 0.4), (0.35, 0.35, 0.45))
    crate.grain.type = 'BODY'
    support.save(folder, "undo.blend")
    bpy.ops.grain.bake()
    scene().grain.active.volume.surface = True
    bpy.ops.grain.bake_volume()
    scene().frame_set(3)
    yield 0.2
    yield from operate("surface_mesh")
    yield from operate("bake_keyframes", choose("Crate"))
    yield from operate("log_show")
    yield from operate("show_sand", delete(lambda: scene().grain.active.sand_object))
    yield from operate("show_volume", delete(lambda: scene().grain.active.volume.object))
    yield from operate("simulation_copy")
    yield from operate("role_remove", choose("Block"))
    drive.ensure(scene().frame_current == 3 and len(scene().grain.simulations[0].sand_object.data.vertices) > 100, "the sand is shown")


drive.run("test_undo", {
    scenario.__name__: scenario for scenario in (lay_out, before_the_bake, after_the_bake)}, options.keyword,
    lambda: (shutil.rmtree(folder, ignore_errors=True), iter(()))[1])
