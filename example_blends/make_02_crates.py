# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes 02_crates.blend: wooden crates and two balls drop into a tray of sand, and are moved by it.

    blender -b --factory-startup --python example_blends/make_02_crates.py -- FILE.blend

The tray is that of 01_suzanne. The brass ball ploughs in, the wooden one stays on top; the crates land on corners, on
the sand and on each other. The add-on must be enabled.
"""
from __future__ import annotations

import math
import sys
from pathlib import Path

import bmesh
import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import make_01_suzanne as studio  # noqa: E402

LAST_FRAME = 48
CRATES = (  # side (m), place, turned
    (0.050, (0.055, -0.020, 0.075), (8.0, 4.0, 20.0)),
    (0.042, (0.048, -0.010, 0.135), (-6.0, 5.0, 40.0)),
    (0.036, (0.060, -0.022, 0.190), (4.0, -9.0, 5.0)),
    (0.044, (-0.020, 0.080, 0.110), (35.0, 30.0, 15.0)),
    (0.034, (-0.035, -0.085, 0.150), (20.0, 50.0, 70.0)),
)
BALLS = (  # radius (m), place, density, colour, metallic
    (0.030, (-0.070, 0.000, 0.170), 8500.0, (0.78, 0.50, 0.16), 1.0),
    (0.022, (0.020, -0.105, 0.120), 450.0, (0.62, 0.08, 0.05), 0.0),
)


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    import addon_utils
    addon_utils.enable("grain")
    scene = bpy.context.scene
    scene.name = "Crates in Sand"
    tray, table, bed = studio.make_tray(), studio.make_table(), make_bed()
    for item in (tray, table):
        item.grain.type = 'COLLIDER'
    table.grain.collider.shape = 'PLANE'
    bed.grain.type = 'SOURCE'
    plank = studio.wood()
    plank.name = "Pine"
    for element, colour in zip(plank.node_tree.nodes["ColorRamp"].color_ramp.elements,
                               ((0.34, 0.19, 0.085, 1.0), (0.62, 0.42, 0.22, 1.0))):
        element.color = colour
    for number, (side, place, turned) in enumerate(CRATES):
        add_body(f"Crate {number + 1}", crate_mesh(), side, place, 550.0, plank, turned)
    for number, (radius, place, density, colour, metallic) in enumerate(BALLS):
        material, surface = studio.new_material(f"Ball {number + 1}", colour, 0.25)
        surface.inputs["Metallic"].default_value = metallic
        add_body(f"Ball {number + 1}", ball_mesh(), radius, place, density, material)
    settings = scene.grain.active
    settings.name = "Crates"
    settings.solver = 'DEM'
    settings.particle_radius = 0.0017
    settings.size_spread = 0.3
    settings.friction_angle = math.radians(33.0)
    settings.softness = 0.2
    scene.frame_start, scene.frame_end, scene.render.fps = 1, LAST_FRAME, 60
    studio.light(scene)
    studio.camera(scene)
    aim(scene.camera, Vector((0.24, -0.72, 0.42)), Vector((0.0, -0.005, 0.035)))
    studio.render_settings(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(sys.argv[sys.argv.index("--") + 1]).resolve()), compress=True)


def make_bed() -> bpy.types.Object:
    """The sand: loose at first, it settles before the first crate arrives."""
    form = bmesh.new()
    bmesh.ops.create_cube(form, size=1.0)
    mesh = bpy.data.meshes.new("Bed")
    form.to_mesh(mesh)
    form.free()
    item = studio.add_object("Bed of Sand", mesh)
    width = studio.TRAY_WIDTH - 2 * studio.RIM - 0.006
    item.scale = (width, width, 0.034)
    item.location = (0.0, 0.0, studio.FLOOR + 0.0175)
    return item


def crate_mesh() -> bpy.types.Mesh:
    """A cube with sunken panels."""
    form = bmesh.new()
    bmesh.ops.create_cube(form, size=1.0)
    panels = bmesh.ops.inset_individual(form, faces=form.faces[:], thickness=0.14, depth=0.0)
    del panels
    inner = [face for face in form.faces if abs(face.calc_center_median().length - 0.5) < 1e-4]
    bmesh.ops.inset_individual(form, faces=inner, thickness=0.0, depth=-0.05)
    mesh = bpy.data.meshes.new("Crate")
    form.to_mesh(mesh)
    form.free()
    return mesh


def ball_mesh() -> bpy.types.Mesh:
    form = bmesh.new()
    bmesh.ops.create_icosphere(form, subdivisions=5, radius=1.0)
    mesh = bpy.data.meshes.new("Ball")
    form.to_mesh(mesh)
    form.free()
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    return mesh


def add_body(name: str, mesh: bpy.types.Mesh, size: float, place: tuple[float, float, float], density: float,
             material: bpy.types.Material, turned: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
    item = studio.add_object(name, mesh)
    item.scale, item.location = (size,) * 3, place
    item.rotation_euler = [math.radians(angle) for angle in turned]
    mesh.materials.append(material)
    if "Crate" in name:
        bevel = item.modifiers.new("Bevel", 'BEVEL')
        bevel.width, bevel.segments = 0.02 * size, 2
    item.grain.type = 'BODY'
    item.grain.rigid.density = density
    item.grain.rigid.friction_angle = math.radians(28.0)


def aim(camera: bpy.types.Object, place: Vector, target: Vector) -> None:
    camera.location = place
    camera.rotation_euler = (target - place).to_track_quat('-Z', 'Y').to_euler()
    camera.data.dof.focus_distance = (target - place).length
    camera.data.lens = 68.0


if __name__ == "__main__":
    main()
