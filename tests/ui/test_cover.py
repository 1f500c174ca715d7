# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist covers a monkey: from the Object menu's command, with the redo panel, a number in the Physics tab, Ctrl+Z."""

import bpy
import drive
import support

options = drive.options()
support.enable()


def in_viewport() -> object:
    return bpy.context.temp_override(window=drive.window(), area=drive.area('VIEW_3D'), region=drive.region('VIEW_3D'))


def cover_of_monkey() -> object:
    return bpy.data.objects.get("Suzanne Cover")


def lay_out() -> drive.Scenario:
    drive.press('ESC', 100, 500)  # the splash screen
    yield 0.3
    bpy.context.preferences.system.viewport_aa = 'OFF'
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    yield from drive.grow_properties(190)
    yield from drive.widen_properties(200)
    yield 0.2
    view = drive.area('VIEW_3D').spaces[0]
    view.region_3d.view_distance = 6.0
    view.shading.color_type = 'MATERIAL'
    yield 0.2


def cover_and_change() -> drive.Scenario:
    with in_viewport():
        bpy.ops.mesh.primitive_monkey_add('INVOKE_DEFAULT')
        bpy.ops.ed.undo_push(message="monkey")
        bpy.ops.grain.cover('INVOKE_DEFAULT')
        bpy.ops.ed.undo_push(message="cover")
    yield 0.5
    made = cover_of_monkey()
    drive.ensure(made is not None and 3500 < len(made.data.vertices) < 4500, "about 4,000 particles")
    drive.ensure(bpy.context.object.name == "Suzanne", "the covered object stays active")
    drive.show_tab('PHYSICS')
    yield 0.5
    drive.screenshot(options.out / "cover_1.png")
    # The panel's radius is live.
    made.grain.cover.radius = 0.06
    bpy.ops.ed.undo_push(message="radius")
    yield 0.5
    drive.ensure(len(made.data.vertices) < 2000, "a larger radius means fewer particles")
    drive.screenshot(options.out / "cover_2.png")
    with in_viewport():
        bpy.ops.ed.undo()
    yield 0.3
    drive.ensure(3500 < len(cover_of_monkey().data.vertices) < 4500, "undo brings the radius back")
    with in_viewport():
        bpy.ops.ed.undo()
    yield 0.3
    drive.ensure(cover_of_monkey() is None, "undo takes the cover away")


drive.run("test_cover", {"lay_out": lay_out, "cover_and_change": cover_and_change}, options.keyword)
