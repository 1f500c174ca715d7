# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes 01_suzanne.blend: a block of sand falls on Suzanne, who stands in a wooden tray.

    blender -b --factory-startup --python example_blends/make_01_suzanne.py -- FILE.blend

A table-top shot at real size: the tray is 34 cm wide. The add-on must be enabled (render_demo.py sees to it).
"""
from __future__ import annotations

import math
import sys
from pathlib import Path

import bmesh
import bpy
from mathutils import Vector

TRAY_WIDTH, TRAY_HEIGHT, RIM, FLOOR = 0.34, 0.042, 0.012, 0.008  # m
SUZANNE_SIZE = 0.062  # m, half her height
LAST_FRAME = 30


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    import addon_utils
    addon_utils.enable("grain")
    scene = bpy.context.scene
    scene.name = "Suzanne in Sand"
    tray, suzanne, block = make_tray(), make_suzanne(), make_block()
    table = make_table()
    for item in (tray, suzanne, table):
        item.grain.type = 'COLLIDER'
    table.grain.collider.shape = 'PLANE'
    suzanne.grain.collider.friction_angle = math.radians(22.0)  # glazed
    block.grain.type = 'SOURCE'
    settings = scene.grain.active
    settings.name = "Suzanne"
    settings.solver = 'DEM'
    settings.particle_radius = 0.0012
    settings.size_spread = 0.3
    settings.friction_angle = math.radians(33.0)
    settings.softness = 0.2
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST_FRAME, 48  # half speed, as a table-top shot would be
    light(scene)
    camera(scene)
    render_settings(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(sys.argv[sys.argv.index("--") + 1]).resolve()), compress=True)


# --- things -------------------------------------------------------------------------------------

def add_object(name: str, mesh: bpy.types.Mesh) -> bpy.types.Object:
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    return item


def make_tray() -> bpy.types.Object:
    """A closed box with a hollow in its top."""
    form = bmesh.new()
    bmesh.ops.create_cube(form, size=1.0)
    for vertex in form.verts:
        vertex.co = Vector((vertex.co.x * TRAY_WIDTH, vertex.co.y * TRAY_WIDTH, (vertex.co.z + 0.5) * TRAY_HEIGHT))
    top = max(form.faces, key=lambda face: face.calc_center_median().z)
    bmesh.ops.inset_region(form, faces=[top], thickness=RIM, use_even_offset=True)
    bottom = bmesh.ops.extrude_face_region(form, geom=[top])
    bmesh.ops.delete(form, geom=[top], context='FACES_ONLY')
    bmesh.ops.translate(form, vec=(0.0, 0.0, FLOOR - TRAY_HEIGHT),
                        verts=[v for v in bottom["geom"] if isinstance(v, bmesh.types.BMVert)])
    mesh = bpy.data.meshes.new("Tray")
    form.to_mesh(mesh)
    form.free()
    item = add_object("Tray", mesh)
    bevel = item.modifiers.new("Bevel", 'BEVEL')
    bevel.width, bevel.segments = 0.002, 3
    mesh.materials.append(wood())
    return item


def make_suzanne() -> bpy.types.Object:
    form = bmesh.new()
    bmesh.ops.create_monkey(form)
    mesh = bpy.data.meshes.new("Suzanne")
    form.to_mesh(mesh)
    form.free()
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    item = add_object("Suzanne", mesh)
    item.scale = (SUZANNE_SIZE,) * 3
    item.rotation_euler = (math.radians(-8.0), 0.0, math.radians(-14.0))
    item.location = (0.004, 0.0, FLOOR + 0.94 * SUZANNE_SIZE)
    smooth = item.modifiers.new("Subdivision", 'SUBSURF')
    smooth.levels = smooth.render_levels = 2
    mesh.materials.append(glaze())
    return item


def make_block() -> bpy.types.Object:
    form = bmesh.new()
    bmesh.ops.create_cube(form, size=1.0)
    mesh = bpy.data.meshes.new("Block")
    form.to_mesh(mesh)
    form.free()
    item = add_object("Block of Sand", mesh)
    item.scale = (0.13, 0.13, 0.085)
    item.location = (0.0, 0.0, 0.205)
    item.rotation_euler = (0.0, 0.0, math.radians(12.0))
    return item


def make_table() -> bpy.types.Object:
    """A floor that curves up into the backdrop far behind."""
    form = bmesh.new()
    rows = []
    for step in range(33):
        turn = min(max(step - 6, 0), 20) / 20 * math.pi / 2
        y = -1.2 + 0.32 * min(step, 6) + 0.8 * math.sin(turn)
        z = 0.8 * (1 - math.cos(turn)) + (0.3 * (step - 26) if step > 26 else 0.0)
        rows.append([form.verts.new((x, y, z)) for x in (-4.0, 4.0)])
    for a, b in zip(rows, rows[1:]):
        form.faces.new((a[0], a[1], b[1], b[0]))
    mesh = bpy.data.meshes.new("Table")
    form.to_mesh(mesh)
    form.free()
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    item = add_object("Table", mesh)
    material, surface = new_material("Table", (0.17, 0.20, 0.23), 0.55)
    mesh.materials.append(material)
    return item


# --- looks --------------------------------------------------------------------------------------

def new_material(name: str, colour: tuple[float, float, float], roughness: float) -> tuple:
    material = bpy.data.materials.new(name)
    from grain import compat
    compat.use_nodes(material)
    material.diffuse_color = (*colour, 1.0)
    surface = material.node_tree.nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Roughness"].default_value = roughness
    return material, surface


def glaze() -> bpy.types.Material:
    material, surface = new_material("Glazed Ceramic", (0.015, 0.16, 0.19), 0.22)
    coat = surface.inputs.get("Clearcoat") or surface.inputs.get("Coat Weight")
    coat.default_value = 0.8
    return material


def wood() -> bpy.types.Material:
    material, surface = new_material("Walnut", (0.10, 0.045, 0.02), 0.42)
    tree = material.node_tree
    place = tree.nodes.new('ShaderNodeTexCoord')
    stretch = tree.nodes.new('ShaderNodeMapping')
    stretch.inputs["Scale"].default_value = (6.0, 90.0, 90.0)
    grain = tree.nodes.new('ShaderNodeTexNoise')
    grain.inputs["Scale"].default_value, grain.inputs["Detail"].default_value = 1.6, 6.0
    grain.inputs["Distortion"].default_value = 0.6
    ramp = tree.nodes.new('ShaderNodeValToRGB')
    ramp.color_ramp.elements[0].position, ramp.color_ramp.elements[0].color = 0.32, (0.045, 0.017, 0.007, 1.0)
    ramp.color_ramp.elements[1].position, ramp.color_ramp.elements[1].color = 0.72, (0.20, 0.095, 0.042, 1.0)
    tree.links.new(place.outputs["Object"], stretch.inputs["Vector"])
    tree.links.new(stretch.outputs["Vector"], grain.inputs["Vector"])
    tree.links.new(grain.outputs["Fac"], ramp.inputs["Fac"])
    tree.links.new(ramp.outputs["Color"], surface.inputs["Base Color"])
    return material


def add_light(scene: bpy.types.Scene, name: str, place: tuple, target: tuple, size: float, watts: float,
              colour: tuple[float, float, float]) -> None:
    data = bpy.data.lights.new(name, 'AREA')
    data.size, data.energy, data.color = size, watts, colour
    item = bpy.data.objects.new(name, data)
    item.location = place
    item.rotation_euler = (Vector(target) - Vector(place)).to_track_quat('-Z', 'Y').to_euler()
    scene.collection.objects.link(item)


def light(scene: bpy.types.Scene) -> None:
    middle = (0.0, 0.0, 0.08)
    add_light(scene, "Window", (-0.75, -0.35, 0.75), middle, 0.45, 22.0, (1.0, 0.95, 0.88))
    add_light(scene, "Rim", (0.65, 0.75, 0.55), middle, 0.3, 11.0, (1.0, 0.82, 0.62))
    add_light(scene, "Fill", (0.9, -0.9, 0.35), middle, 0.9, 3.0, (0.72, 0.85, 1.0))
    world = bpy.data.worlds.new("Studio")
    from grain import compat
    compat.use_nodes(world)
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.55, 0.65, 0.8, 1.0)
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.12
    scene.world = world


def camera(scene: bpy.types.Scene) -> None:
    data = bpy.data.cameras.new("Camera")
    data.lens, data.clip_start, data.clip_end = 70.0, 0.01, 50.0
    item = bpy.data.objects.new("Camera", data)
    place, target = Vector((0.22, -0.80, 0.36)), Vector((0.0, 0.0, 0.062))
    item.location = place
    item.rotation_euler = (target - place).to_track_quat('-Z', 'Y').to_euler()
    data.dof.use_dof = True
    data.dof.focus_distance = (Vector((0.0, -0.06, 0.07)) - place).length
    data.dof.aperture_fstop = 5.6
    scene.collection.objects.link(item)
    scene.camera = item


def render_settings(scene: bpy.types.Scene) -> None:
    scene.render.engine = 'CYCLES'
    scene.render.resolution_x, scene.render.resolution_y = 960, 640
    scene.render.use_motion_blur = True
    scene.render.motion_blur_shutter = 0.2
    scene.cycles.samples = 80
    scene.cycles.use_adaptive_sampling, scene.cycles.adaptive_threshold = True, 0.04
    scene.cycles.max_bounces, scene.cycles.diffuse_bounces, scene.cycles.transmission_bounces = 5, 3, 4
    scene.cycles.caustics_reflective = scene.cycles.caustics_refractive = False
    scene.cycles.sample_clamp_indirect = 4.0
    scene.cycles.use_denoising = False  # Debian's Blender has no denoiser
    scene.view_settings.view_transform = 'Filmic'
    scene.view_settings.look = 'Medium High Contrast'
    scene.frame_set(1)


if __name__ == "__main__":
    main()
