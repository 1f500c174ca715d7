# SPDX-License-Identifier: GPL-3.0-or-later
"""What all scenes of the gallery share: how they reach the add-on, shapes, materials, light and camera.

A scene is a file of `scenes/` with a PLAN (plan.py) and two functions: `build(size)` makes everything from one number,
the particles wanted, and `measure(bake)` reads what came out and says what of it must hold. `scenes/03_hourglass.py` is an
example. All lengths are metres.
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Optional

import bmesh
import bpy
from mathutils import Euler, Matrix, Vector
from plan import Size

Triple = tuple[float, float, float]


# --- the add-on, reached in one place ------------------------------------------------------------

def simulation(scene: Optional[bpy.types.Scene] = None) -> Any:
    """The settings of the scene's simulation."""
    from grain.scene import simulations
    return simulations.ensure(scene or bpy.context.scene)


def begin(name: str) -> bpy.types.Scene:
    """An empty file with the add-on enabled and a simulation of this name."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    import addon_utils
    addon_utils.enable("grain")
    scene = bpy.context.scene
    scene.name = name
    simulation(scene).name = name
    return scene


def sand(size: Size, solver: str, fps: int = 50, friction: float = 33.0, spread: Optional[float] = None, **others: Any) -> None:
    """Settings of the sand, and whatever else is named. The size of its particles follows when all sources are there
    (`fit_particles`)."""
    scene = bpy.context.scene
    settings = simulation(scene)
    settings.solver = solver
    settings.size_spread = (0.2 if solver == 'DEM' else 0.0) if spread is None else spread
    settings.friction_angle = math.radians(friction)
    for key, value in others.items():
        setattr(settings, key, value)
    if size.grains > 0.0:
        settings.use_upsample, settings.upsample_mode, settings.grain_millions = True, 'TOTAL', size.grains
    scene.frame_start, scene.frame_end, scene.render.fps = 1, size.frames, fps


def use_nodes(owner: bpy.types.Material | bpy.types.World) -> None:
    from grain import compat
    compat.use_nodes(owner)


def fit_particles(size: Size) -> None:
    """A radius that fills the sources with as many particles as are wanted, by the add-on's own estimate."""
    from grain.scene import simulations
    from grain.scene.manage import estimate
    settings = simulation()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    rooms = [estimate.source_body(item, depsgraph) for item in simulations.objects(settings, 'SOURCE')]
    if not rooms:
        return
    low, high = 0.0, 0.5 * sum(room.volume for room in rooms) ** (1.0 / 3.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        count = sum(estimate.particles_in(room, middle, settings.size_spread) for room in rooms)
        low, high = (middle, high) if count > size.particles else (low, middle)
    settings.particle_radius = high


def cohesion_for(pascals: float) -> float:
    """Cohesion is a pull over a particle's weight; what is seen is the strength that many such pulls make, whatever the size of the
    particles, which are to be known by now (Rumpf's law, as the solvers have it)."""
    settings = simulation()
    return pascals / (1.5 * math.pi / 3.0 * settings.density * 9.81 * settings.particle_radius)


def source(item: bpy.types.Object, velocity: Triple = (0.0, 0.0, 0.0), **others: Any) -> bpy.types.Object:
    item.grain.type = 'SOURCE'
    item.grain.source.velocity = velocity
    for key, value in others.items():
        setattr(item.grain.source, key, value)
    return item


def emitter(item: bpy.types.Object, litres: float, velocity: Triple, **others: Any) -> bpy.types.Object:
    """So many litres a second, into a falling stream."""
    item.grain.type = 'EMITTER'
    item.grain.emitter.rate_unit, item.grain.emitter.litres = 'LITRES', litres
    item.grain.source.velocity = velocity
    for key, value in others.items():
        setattr(item.grain.emitter, key, value)
    return item


def radius_for(litres: float, particles: int, is_single: bool = False) -> float:
    """Of particles of which so many fill so many litres: a bulk fills its room, single balls six tenths of it."""
    room = 0.001 * litres / particles
    return (0.6 * room * 0.75 / math.pi) ** (1.0 / 3.0) if is_single else 0.5 * (room * math.sqrt(2.0)) ** (1.0 / 3.0)


def collider(item: bpy.types.Object, friction: float = 31.0, **others: Any) -> bpy.types.Object:
    item.grain.type = 'COLLIDER'
    item.grain.collider.friction_angle = math.radians(friction)
    for key, value in others.items():
        setattr(item.grain.collider, key, value)
    return item


def body(item: bpy.types.Object, density: float, friction: float = 28.0, **others: Any) -> bpy.types.Object:
    item.grain.type = 'BODY'
    item.grain.rigid.density = density
    item.grain.rigid.friction_angle = math.radians(friction)
    for key, value in others.items():
        setattr(item.grain.rigid, key, value)
    return item


def wish_surface(voxel: float = 0.7, reach: float = 3.5) -> None:
    """The bake is to be seen as the mesh of its surface (both in radii); `show_surface` makes it."""
    wish = simulation().volume
    wish.surface, wish.voxel_size, wish.surface_reach = True, voxel, reach
    wish.density = wish.velocity = wish.dust = False


def show_surface(look: bpy.types.Material) -> None:
    """Once the simulation is baked: its surface as a mesh of this material, and nothing else of it."""
    from grain.scene.show import apply, volumes
    settings = simulation()
    bpy.ops.grain.bake_volume()
    mesh = volumes.refresh(settings) and volumes.ensure_mesh(settings)
    mesh.data.materials.clear()
    mesh.data.materials.append(look)
    smooth = mesh.modifiers.get("Smooth") or mesh.modifiers.new("Smooth", 'SMOOTH')
    smooth.factor, smooth.iterations = 0.5, 10
    for item in (volumes.volume_object(settings), apply.sand_object(settings)):
        if item is not None:
            item.hide_render = item.hide_viewport = True


# --- shapes --------------------------------------------------------------------------------------

def add(name: str, form: bmesh.types.BMesh, material: Optional[bpy.types.Material] = None,
        smooth: bool = False, is_wound: bool = False) -> bpy.types.Object:
    """An object of the form, which is freed. Where faces are wound all the same way already, a hollow stays one."""
    if not is_wound:
        bmesh.ops.recalc_face_normals(form, faces=form.faces[:])
    elif form.calc_volume(signed=True) < 0.0:
        bmesh.ops.reverse_faces(form, faces=form.faces[:])
    mesh = bpy.data.meshes.new(name)
    form.to_mesh(mesh)
    form.free()
    if smooth:
        mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    if material is not None:
        mesh.materials.append(material)
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    return item


def box(name: str, low: Triple, high: Triple, material: Optional[bpy.types.Material] = None,
        bevel: float = 0.0) -> bpy.types.Object:
    """Its origin is its middle."""
    form = bmesh.new()
    bmesh.ops.create_cube(form, size=1.0, matrix=Matrix.Diagonal(
        (*(b - a for a, b in zip(low, high)), 1.0)))
    item = add(name, form, material)
    item.location = [(a + b) / 2 for a, b in zip(low, high)]
    if bevel > 0.0:
        rounded = item.modifiers.new("Bevel", 'BEVEL')
        rounded.width, rounded.segments = bevel, 3
    return item


def ball(name: str, place: Triple, radius: float, material: Optional[bpy.types.Material] = None) -> bpy.types.Object:
    form = bmesh.new()
    bmesh.ops.create_icosphere(form, subdivisions=5, radius=radius)
    item = add(name, form, material, smooth=True)
    item.location = place
    return item


def lathe(name: str, outline: Sequence[tuple[float, float]], material: Optional[bpy.types.Material] = None,
          segments: int = 96, smooth: bool = True) -> bpy.types.Object:
    """A closed outline of (radius, height), turned about the z axis. Points on the axis become one."""
    form = bmesh.new()
    rings = []
    for radius, height in outline:
        if radius <= 0.0:
            rings.append([form.verts.new((0.0, 0.0, height))])
        else:
            rings.append([form.verts.new((radius * math.cos(a), radius * math.sin(a), height)) for a in
                          (2.0 * math.pi * s / segments for s in range(segments))])
    is_open = outline[0][0] <= 0.0 and outline[-1][0] <= 0.0
    pairs = list(zip(rings, rings[1:])) + ([] if is_open else [(rings[-1], rings[0])])
    for first, second in pairs:
        for s in range(segments):
            t = (s + 1) % segments
            corners = [first[s % len(first)], first[t % len(first)], second[t % len(second)], second[s % len(second)]]
            corners = list(dict.fromkeys(corners))
            if len(corners) > 2:
                form.faces.new(corners)
    return add(name, form, material, smooth, is_wound=True)


def prism(name: str, outline: Sequence[tuple[float, float]], width: float,
          material: Optional[bpy.types.Material] = None, bevel: float = 0.0) -> bpy.types.Object:
    """An outline in the x-z plane, stretched along y to both sides."""
    form = bmesh.new()
    sides = [[form.verts.new((x, y, z)) for x, z in outline] for y in (-width / 2, width / 2)]
    form.faces.new(sides[0])
    form.faces.new(sides[1][::-1])
    for k in range(len(outline)):
        n = (k + 1) % len(outline)
        form.faces.new((sides[0][k], sides[1][k], sides[1][n], sides[0][n]))
    item = add(name, form, material)
    if bevel > 0.0:
        rounded = item.modifiers.new("Bevel", 'BEVEL')
        rounded.width, rounded.segments = bevel, 2
    return item


def tray(name: str, inside: Triple, wall: float, material: Optional[bpy.types.Material] = None,
         bottom: Optional[float] = None) -> bpy.types.Object:
    """Open at the top; `inside` is its room, which begins at z = 0, centred."""
    x, y, height = inside[0] / 2, inside[1] / 2, inside[2]
    low = -(wall if bottom is None else bottom)
    form = bmesh.new()
    outer = [[form.verts.new((sx * (x + wall), sy * (y + wall), z)) for sx, sy in CORNERS] for z in (low, height)]
    inner = [[form.verts.new((sx * x, sy * y, z)) for sx, sy in CORNERS] for z in (0.0, height)]
    form.faces.new(outer[0])
    form.faces.new(inner[0])
    for k in range(4):
        n = (k + 1) % 4
        form.faces.new((outer[0][k], outer[0][n], outer[1][n], outer[1][k]))
        form.faces.new((inner[0][k], inner[0][n], inner[1][n], inner[1][k]))
        form.faces.new((outer[1][k], outer[1][n], inner[1][n], inner[1][k]))
    item = add(name, form, material)
    rounded = item.modifiers.new("Bevel", 'BEVEL')
    rounded.width, rounded.segments = 0.15 * wall, 3
    return item


CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def torus(name: str, ring: float, tube: float, material: Optional[bpy.types.Material] = None,
          segments: int = 40, sides: int = 14) -> bpy.types.Object:
    outline = [(ring + tube * math.cos(2 * math.pi * k / sides), tube * math.sin(2 * math.pi * k / sides))
               for k in range(sides)]
    return lathe(name, outline, material, segments)


def key(item: bpy.types.bpy_struct, path: str, keys: Iterable[tuple[float, Any]], straight: bool = True) -> None:
    """Keyframes of a property: (frame, value)."""
    for frame, value in keys:
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)
    from grain import compat
    for curve in (curve for curves in compat.curve_lists(item.id_data) for curve in curves if curve.driver is None):
        for point in curve.keyframe_points:
            point.interpolation = 'LINEAR' if straight else 'BEZIER'


# --- looks ---------------------------------------------------------------------------------------

def material(name: str, colour: Triple, roughness: float = 0.5, metallic: float = 0.0, coat: float = 0.0,
             transmission: float = 0.0) -> bpy.types.Material:
    made = bpy.data.materials.new(name)
    use_nodes(made)
    made.diffuse_color = (*colour, 1.0)
    surface = made.node_tree.nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Roughness"].default_value = roughness
    surface.inputs["Metallic"].default_value = metallic
    for names, value in ((("Clearcoat", "Coat Weight"), coat), (("Transmission", "Transmission Weight"), transmission)):
        found = next((surface.inputs[n] for n in names if n in surface.inputs), None)
        if found is not None:
            found.default_value = value
    return made


def glass(shine_most: float = 0.4) -> bpy.types.Material:
    """Clear glass that lets light through straight: shadows stay light, nothing has to be traced through both faces,
    and the sand behind it is seen without noise. Of a box, one side always mirrors the lamp: without shine none does."""
    made = bpy.data.materials.new("Glass")
    use_nodes(made)
    made.diffuse_color = (0.8, 0.9, 0.95, 0.25)
    tree = made.node_tree
    tree.nodes.clear()
    output = tree.nodes.new('ShaderNodeOutputMaterial')
    clear, shine, mix = (tree.nodes.new(kind) for kind in
                         ('ShaderNodeBsdfTransparent', 'ShaderNodeBsdfGlossy', 'ShaderNodeMixShader'))
    clear.inputs["Color"].default_value = (0.975, 0.99, 0.985, 1.0)
    shine.inputs["Roughness"].default_value = 0.04
    # Reflection grows towards the edge, but never takes all: there is not enough of a room to be reflected.
    edge = tree.nodes.new('ShaderNodeLayerWeight')
    edge.inputs["Blend"].default_value = 0.25
    share = tree.nodes.new('ShaderNodeMapRange')
    share.inputs["To Min"].default_value, share.inputs["To Max"].default_value = min(0.03, shine_most), shine_most
    tree.links.new(edge.outputs["Facing"], share.inputs["Value"])
    tree.links.new(share.outputs[0], mix.inputs[0])
    tree.links.new(clear.outputs[0], mix.inputs[1])
    tree.links.new(shine.outputs[0], mix.inputs[2])
    tree.links.new(mix.outputs[0], output.inputs["Surface"])
    return made


def wood(name: str = "Walnut", dark: Triple = (0.045, 0.017, 0.007), light: Triple = (0.20, 0.095, 0.042),
         scale: float = 1.0) -> bpy.types.Material:
    """Veins along x; `scale` is larger for smaller things."""
    made = material(name, light, 0.42)
    tree = made.node_tree
    place = tree.nodes.new('ShaderNodeTexCoord')
    stretch = tree.nodes.new('ShaderNodeMapping')
    stretch.inputs["Scale"].default_value = (6.0 * scale, 90.0 * scale, 90.0 * scale)
    veins = tree.nodes.new('ShaderNodeTexNoise')
    veins.inputs["Scale"].default_value, veins.inputs["Detail"].default_value = 1.6, 6.0
    veins.inputs["Distortion"].default_value = 0.6
    ramp = tree.nodes.new('ShaderNodeValToRGB')
    for element, position, colour in zip(ramp.color_ramp.elements, (0.32, 0.72), (dark, light)):
        element.position, element.color = position, (*colour, 1.0)
    tree.links.new(place.outputs["Object"], stretch.inputs["Vector"])
    tree.links.new(stretch.outputs["Vector"], veins.inputs["Vector"])
    tree.links.new(veins.outputs["Fac"], ramp.inputs["Fac"])
    tree.links.new(ramp.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    return made


def pine(scale: float = 1.0) -> bpy.types.Material:
    return wood("Pine", (0.34, 0.19, 0.085), (0.62, 0.42, 0.22), scale)


def steel() -> bpy.types.Material:
    return material("Steel", (0.56, 0.57, 0.58), 0.18, metallic=1.0)


def paint(name: str, colour: Triple) -> bpy.types.Material:
    return material(name, colour, 0.35, coat=0.5)


def sand_material(look: str = 'SAND') -> bpy.types.Material:
    """The one that the bake gives its sand, to be changed beforehand."""
    from grain.scene.look import sand_nodes as looks
    simulation().display.look = look
    return looks.material(look)


def colour_by(attribute: str, look: str = 'SAND', grey: float = 0.62) -> None:
    """Grains in the colour they carry, each a little lighter or darker as the look has it (`grey` is its mean)."""
    tree = sand_material(look).node_tree
    tone = next(node for node in tree.nodes if node.bl_idname == 'ShaderNodeHueSaturation')
    spread = tone.inputs["Color"].links[0].from_socket
    plain = tree.nodes.new('ShaderNodeRGBToBW')
    tree.links.new(spread, plain.inputs[0])
    share = tree.nodes.new('ShaderNodeMath')
    share.operation = 'DIVIDE'
    share.inputs[1].default_value = grey
    tree.links.new(plain.outputs[0], share.inputs[0])
    carried = tree.nodes.new('ShaderNodeAttribute')
    carried.attribute_name = attribute
    product = tree.nodes.new('ShaderNodeVectorMath')
    product.operation = 'SCALE'
    tree.links.new(carried.outputs["Color"], product.inputs[0])
    tree.links.new(share.outputs[0], product.inputs["Scale"])
    tree.links.new(product.outputs[0], tone.inputs["Color"])


# --- light and camera ----------------------------------------------------------------------------

def facing(place: Sequence[float], target: Sequence[float]) -> Euler:
    """Of a camera or a lamp there that looks at the target."""
    return (Vector(target) - Vector(place)).to_track_quat('-Z', 'Y').to_euler()


FLOOR_COLOUR = (0.17, 0.20, 0.23)


def stage(size: float, friction: float = 31.0, colour: Triple = FLOOR_COLOUR, is_floor: bool = True) -> bpy.types.Object:
    """A floor at z = 0 that curves up into a backdrop, and the light. `size` is the height of what stands there, about:
    everything grows with it. The floor is an endless one for the sand unless told otherwise."""
    form = bmesh.new()
    rows = []
    for step in range(33):
        turn = min(max(step - 6, 0), 20) / 20 * math.pi / 2
        y = size * (-8.0 + 2.6 * min(step, 6) + 6.0 * math.sin(turn))
        z = size * (6.0 * (1 - math.cos(turn)) + (2.0 * (step - 26) if step > 26 else 0.0))
        rows.append([form.verts.new((x * size, y, z)) for x in (-40.0, 40.0)])
    for a, b in zip(rows, rows[1:]):
        form.faces.new((a[0], a[1], b[1], b[0]))
    floor = add("Table", form, material("Table", colour, 0.55), smooth=True)
    if floor.data.polygons[0].normal.z < 0.0:
        floor.data.flip_normals()
    if is_floor:
        collider(floor, friction, shape='PLANE')
    middle = (0.0, 0.0, 0.4 * size)
    # Bright as in the first example, where a thing of 0.13 m is lit from 1 m away by 22 W.
    light("Window", [size * x for x in (-5.0, -3.4, 6.0)], middle, 3.2 * size, 1500.0 * size * size, (1.0, 0.95, 0.88))
    light("Rim", [size * x for x in (4.6, 5.2, 4.4)], middle, 2.2 * size, 600.0 * size * size, (1.0, 0.82, 0.62))
    light("Fill", [size * x for x in (6.5, -6.5, 3.0)], middle, 6.5 * size, 170.0 * size * size, (0.72, 0.85, 1.0))
    world = bpy.data.worlds.new("Studio")
    use_nodes(world)
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.55, 0.65, 0.8, 1.0)
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.18
    bpy.context.scene.world = world
    return floor


def light(name: str, place: Sequence[float], target: Sequence[float], size: float, watts: float,
          colour: Triple) -> bpy.types.Object:
    data = bpy.data.lights.new(name, 'AREA')
    data.size, data.energy, data.color = size, watts, colour
    item = bpy.data.objects.new(name, data)
    item.location, item.rotation_euler = place, facing(place, target)
    bpy.context.scene.collection.objects.link(item)
    return item


def camera(place: Triple, target: Triple, lens: float = 60.0, stop: float = 0.0,
           width: int = 768, height: int = 432, exposure: float = 0.0) -> bpy.types.Object:
    """And how the picture is made. `stop` above 0: depth of field, sharp at the target."""
    scene = bpy.context.scene
    data = bpy.data.cameras.new("Camera")
    distance = (Vector(target) - Vector(place)).length
    data.lens, data.clip_start, data.clip_end = lens, 0.02 * distance, 100.0 * distance
    item = bpy.data.objects.new("Camera", data)
    item.location, item.rotation_euler = place, facing(place, target)
    if stop > 0.0:
        data.dof.use_dof, data.dof.focus_distance, data.dof.aperture_fstop = True, distance, stop
    scene.collection.objects.link(item)
    scene.camera = item
    scene.render.engine = 'CYCLES'
    scene.render.resolution_x, scene.render.resolution_y = width, height
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 0.2
    scene.cycles.samples = 64
    scene.cycles.use_adaptive_sampling, scene.cycles.adaptive_threshold = True, 0.04
    scene.cycles.max_bounces, scene.cycles.diffuse_bounces, scene.cycles.transmission_bounces = 4, 1, 3
    scene.cycles.transparent_max_bounces = 12
    scene.cycles.caustics_reflective = scene.cycles.caustics_refractive = False
    scene.cycles.sample_clamp_indirect = 4.0
    scene.cycles.use_denoising = False  # Debian's Blender has no denoiser
    scene.view_settings.view_transform, scene.view_settings.exposure = 'Filmic', exposure
    scene.view_settings.look = 'Medium High Contrast'
    return item

