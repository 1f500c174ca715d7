"""What turns points into sand: the Geometry Nodes group and the material, made by code.

The group makes a point cloud of the loose vertices. The material gives every grain its own colour from its id, so a
grain keeps its colour for as long as it lives, and lightly dents it: points are drawn as exact spheres, sand is not.
"""
import bpy
from bpy.types import GeometryNodeTree, Material, Node, NodeSocket, NodeTree

from .. import compat

GROUP_NAME = "Grain Points"
INSTANCES_GROUP_NAME = "Grain Instances"
MATERIAL_NAME = "Grain Sand"
GRAIN_MATERIAL_NAME = "Grain Shape"

INPUT_AMOUNT = "Viewport Amount"
INPUT_SCALE = "Grain Size"
INPUT_MATERIAL = "Material"
INPUT_SHAPE = "Grain Shape"

# Share of the grains (position on the ramp up to which it holds) and linear colour. Quartz stained by iron makes the
# bulk of a beach or a dune; felspar, clear quartz and dark heavy minerals give it its sparkle.
COLOURS = (
    (0.00, (0.400, 0.235, 0.105)),  # ochre
    (0.30, (0.510, 0.340, 0.175)),  # warm quartz
    (0.62, (0.610, 0.455, 0.275)),  # pale quartz
    (0.80, (0.265, 0.125, 0.050)),  # rust brown
    (0.88, (0.560, 0.360, 0.255)),  # pink felspar
    (0.93, (0.740, 0.665, 0.545)),  # clear, whitish quartz: TRANSLUCENT_FROM begins here
    (0.97, (0.055, 0.042, 0.034)),  # magnetite, hornblende
)
TRANSLUCENT_FROM, TRANSLUCENT_TO = 0.93, 0.97


def points_group() -> GeometryNodeTree:
    """The group, made once to a file; an artist's own changes to it stay."""
    group = bpy.data.node_groups.get(GROUP_NAME)
    return group if group is not None and group.bl_idname == 'GeometryNodeTree' else _make_group()


def instances_group() -> GeometryNodeTree:
    """The same for grains that are no spheres: an object in the place of each."""
    group = bpy.data.node_groups.get(INSTANCES_GROUP_NAME)
    return group if group is not None and group.bl_idname == 'GeometryNodeTree' else _make_instances_group()


def sand_material() -> Material:
    return bpy.data.materials.get(MATERIAL_NAME) or _make_material()


def grain_material() -> Material:
    """Of instances, which carry their id as an attribute of the instance."""
    return bpy.data.materials.get(GRAIN_MATERIAL_NAME) or _make_grain_material()


def _add(tree: NodeTree, kind: str, x: float, y: float, **settings: object) -> Node:
    node = tree.nodes.new(kind)
    node.location = (x, y)
    for name, value in settings.items():
        setattr(node, name, value)
    return node


def _enabled(sockets: object, name: str) -> object:
    """A socket by name: nodes with a data type have several of the same name, one of them in use."""
    return next(socket for socket in sockets if socket.name == name and socket.enabled)


def _begin_group(name: str) -> tuple[GeometryNodeTree, Node, Node, Node]:
    """What both groups begin with: the grains that are to be seen as points, and their size. Returns the group, its
    input, the points and the size."""
    tree = bpy.data.node_groups.new(name, 'GeometryNodeTree')
    compat.new_socket(tree, "Geometry", False, 'NodeSocketGeometry')
    compat.new_socket(tree, "Geometry", True, 'NodeSocketGeometry')
    amount = compat.new_socket(tree, INPUT_AMOUNT, False, 'NodeSocketFloat')
    amount.default_value, amount.min_value, amount.max_value = 1.0, 0.0, 1.0
    scale = compat.new_socket(tree, INPUT_SCALE, False, 'NodeSocketFloat')
    scale.default_value, scale.min_value, scale.max_value = 1.0, 0.0, 10.0
    if name == GROUP_NAME:
        compat.new_socket(tree, INPUT_MATERIAL, False, 'NodeSocketMaterial')
    else:
        compat.new_socket(tree, INPUT_SHAPE, False, 'NodeSocketObject')

    link = tree.links.new
    start = _add(tree, 'NodeGroupInput', -800, 0)
    # In the viewport a grain is shown when its own random number is below the amount: the same grains in each frame.
    viewport = _add(tree, 'GeometryNodeIsViewport', -600, 320)
    dice = _add(tree, 'FunctionNodeRandomValue', -600, 200, data_type='FLOAT')
    grain_id = _add(tree, 'GeometryNodeInputNamedAttribute', -800, 160, data_type='INT')
    grain_id.inputs["Name"].default_value = "id"
    link(_enabled(grain_id.outputs, "Attribute"), dice.inputs["ID"])
    hidden = _add(tree, 'ShaderNodeMath', -350, 200, operation='GREATER_THAN')
    link(_enabled(dice.outputs, "Value"), hidden.inputs[0])
    link(start.outputs[INPUT_AMOUNT], hidden.inputs[1])
    hidden_here = _add(tree, 'FunctionNodeBooleanMath', -170, 300, operation='AND')
    link(viewport.outputs[0], hidden_here.inputs[0])
    link(hidden.outputs[0], hidden_here.inputs[1])
    shown = _add(tree, 'FunctionNodeBooleanMath', 0, 300, operation='NOT')
    link(hidden_here.outputs[0], shown.inputs[0])

    points = _add(tree, 'GeometryNodeMeshToPoints', 60, 60, mode='VERTICES')
    link(start.outputs["Geometry"], points.inputs["Mesh"])
    link(shown.outputs[0], points.inputs["Selection"])

    radius = _add(tree, 'GeometryNodeInputNamedAttribute', -170, -250, data_type='FLOAT')
    radius.inputs["Name"].default_value = "radius"
    size = _add(tree, 'ShaderNodeMath', 60, -200, operation='MULTIPLY')
    link(_enabled(radius.outputs, "Attribute"), size.inputs[0])
    link(start.outputs[INPUT_SCALE], size.inputs[1])
    return tree, start, points, size


def _make_group() -> GeometryNodeTree:
    tree, start, points, size = _begin_group(GROUP_NAME)
    link = tree.links.new
    end = _add(tree, 'NodeGroupOutput', 620, 0)
    # After the points, not with them: an attribute called "radius" goes through that node and overrules its Radius.
    sized = _add(tree, 'GeometryNodeSetPointRadius', 250, 0)
    link(points.outputs[0], sized.inputs[0])
    link(size.outputs[0], sized.inputs["Radius"])
    material = _add(tree, 'GeometryNodeSetMaterial', 430, 0)
    link(sized.outputs[0], material.inputs["Geometry"])
    link(start.outputs[INPUT_MATERIAL], material.inputs["Material"])
    link(material.outputs[0], end.inputs[0])
    return tree


def _make_instances_group() -> GeometryNodeTree:
    tree, start, points, size = _begin_group(INSTANCES_GROUP_NAME)
    link = tree.links.new
    end = _add(tree, 'NodeGroupOutput', 620, 0)
    shape = _add(tree, 'GeometryNodeObjectInfo', 60, -400)
    link(start.outputs[INPUT_SHAPE], shape.inputs["Object"])
    turned = _add(tree, 'GeometryNodeInputNamedAttribute', 60, -600, data_type='FLOAT_VECTOR')
    turned.inputs["Name"].default_value = "rotation"
    instances = _add(tree, 'GeometryNodeInstanceOnPoints', 400, 0)
    link(points.outputs[0], instances.inputs["Points"])
    link(shape.outputs["Geometry"], instances.inputs["Instance"])
    link(_enabled(turned.outputs, "Attribute"), instances.inputs["Rotation"])
    link(size.outputs[0], instances.inputs["Scale"])
    link(instances.outputs[0], end.inputs[0])
    return tree


def _new_material(name: str) -> tuple[Material, Node]:
    """The colour of sand in the solid viewport, and a surface that nothing is linked to yet."""
    material = bpy.data.materials.new(name)
    compat.use_nodes(material)
    material.diffuse_color = (0.62, 0.46, 0.29, 1.0)
    tree = material.node_tree
    tree.nodes.clear()
    surface = _add(tree, 'ShaderNodeBsdfPrincipled', 200, 200)
    output = _add(tree, 'ShaderNodeOutputMaterial', 520, 200)
    tree.links.new(surface.outputs[0], output.inputs["Surface"])
    return material, surface


def _make_grain_material() -> Material:
    material, surface = _new_material(GRAIN_MATERIAL_NAME)
    tree = material.node_tree
    link = tree.links.new
    grain_id = _add(tree, 'ShaderNodeAttribute', -700, 200, attribute_name="id", attribute_type='INSTANCER')
    dice = _add(tree, 'ShaderNodeTexWhiteNoise', -500, 200, noise_dimensions='1D')
    link(grain_id.outputs["Fac"], dice.inputs["W"])
    ramp = _add(tree, 'ShaderNodeValToRGB', -250, 200)
    _fill_ramp(ramp)
    link(dice.outputs["Value"], ramp.inputs["Fac"])
    link(ramp.outputs["Color"], surface.inputs["Base Color"])
    surface.inputs["Roughness"].default_value = 0.65
    return material


def _make_material() -> Material:
    material, surface = _new_material(MATERIAL_NAME)
    tree = material.node_tree
    link = tree.links.new

    # Four independent random numbers to a grain, from its id.
    grain_id = _add(tree, 'ShaderNodeAttribute', -1100, 200, attribute_name="id")
    dice = _add(tree, 'ShaderNodeTexWhiteNoise', -900, 200, noise_dimensions='1D')
    link(grain_id.outputs["Fac"], dice.inputs["W"])
    parts = _add(tree, 'ShaderNodeSeparateColor', -700, 60)
    link(dice.outputs["Color"], parts.inputs[0])

    ramp = _add(tree, 'ShaderNodeValToRGB', -500, 420)
    _fill_ramp(ramp)
    link(dice.outputs["Value"], ramp.inputs["Fac"])
    tone = _add(tree, 'ShaderNodeHueSaturation', -180, 360)
    link(ramp.outputs["Color"], tone.inputs["Color"])
    brightness = _add(tree, 'ShaderNodeMapRange', -500, 180)
    brightness.inputs["To Min"].default_value, brightness.inputs["To Max"].default_value = 0.72, 1.25
    link(parts.outputs[0], brightness.inputs["Value"])
    link(_darkened(tree, brightness.outputs[0]), tone.inputs["Value"])
    link(tone.outputs["Color"], surface.inputs["Base Color"])

    roughness = _add(tree, 'ShaderNodeMapRange', -180, 150)
    roughness.inputs["To Min"].default_value, roughness.inputs["To Max"].default_value = 0.45, 0.85
    link(parts.outputs[1], roughness.inputs["Value"])
    link(roughness.outputs[0], surface.inputs["Roughness"])
    specular = compat.find_input(surface, "Specular IOR Level", "Specular")
    if specular is not None:
        specular.default_value = 0.35
    _let_light_through(tree, dice, surface)
    _dent(tree, parts, surface)
    return material


def _darkened(tree: NodeTree, brightness: NodeSocket) -> NodeSocket:
    """Wet sand is darker: water fills the gaps that scatter light. Sand without moisture has none of the attribute."""
    moisture = _add(tree, 'ShaderNodeAttribute', -700, -140, attribute_name="moisture")
    share = _add(tree, 'ShaderNodeMapRange', -500, -140)
    share.inputs["To Min"].default_value, share.inputs["To Max"].default_value = 1.0, 0.45
    tree.links.new(moisture.outputs["Fac"], share.inputs["Value"])
    product = _add(tree, 'ShaderNodeMath', -330, 60, operation='MULTIPLY')
    tree.links.new(brightness, product.inputs[0])
    tree.links.new(share.outputs[0], product.inputs[1])
    return product.outputs[0]


def _fill_ramp(ramp: Node) -> None:
    elements = ramp.color_ramp.elements
    ramp.color_ramp.interpolation = 'CONSTANT'
    while len(elements) < len(COLOURS):
        elements.new(0.5)
    for element, (position, colour) in zip(elements, COLOURS):
        element.position = position
        element.color = (*colour, 1.0)


def _let_light_through(tree: NodeTree, dice: Node, surface: Node) -> None:
    """The whitish grains are clear quartz."""
    transmission = compat.find_input(surface, "Transmission Weight", "Transmission")
    if transmission is None:
        return
    above = _add(tree, 'ShaderNodeMath', -500, -80, operation='GREATER_THAN')
    below = _add(tree, 'ShaderNodeMath', -500, -240, operation='LESS_THAN')
    both = _add(tree, 'ShaderNodeMath', -320, -120, operation='MULTIPLY')
    share = _add(tree, 'ShaderNodeMath', -150, -120, operation='MULTIPLY')
    above.inputs[1].default_value, below.inputs[1].default_value = TRANSLUCENT_FROM, TRANSLUCENT_TO
    share.inputs[1].default_value = 0.6
    for side, node in enumerate((above, below)):
        tree.links.new(dice.outputs["Value"], node.inputs[0])
        tree.links.new(node.outputs[0], both.inputs[side])
    tree.links.new(both.outputs[0], share.inputs[0])
    tree.links.new(share.outputs[0], transmission)
    surface.inputs["IOR"].default_value = 1.46  # quartz


def _dent(tree: NodeTree, parts: Node, surface: Node) -> None:
    """Noise over the grain, in units of its radius from its own middle, so that it travels with the grain."""
    link = tree.links.new
    place = _add(tree, 'ShaderNodeNewGeometry', -1100, -420)
    point = _add(tree, 'ShaderNodePointInfo', -1100, -640)
    arm = _add(tree, 'ShaderNodeVectorMath', -900, -480, operation='SUBTRACT')
    inverse = _add(tree, 'ShaderNodeMath', -900, -660, operation='DIVIDE')
    inverse.inputs[0].default_value = 1.0
    unit = _add(tree, 'ShaderNodeVectorMath', -720, -520, operation='SCALE')
    link(place.outputs["Position"], arm.inputs[0])
    link(point.outputs["Position"], arm.inputs[1])
    link(point.outputs["Radius"], inverse.inputs[1])
    link(arm.outputs[0], unit.inputs[0])
    link(inverse.outputs[0], unit.inputs["Scale"])
    own = _add(tree, 'ShaderNodeMath', -720, -340, operation='MULTIPLY')
    own.inputs[1].default_value = 100.0  # another part of the noise for each grain
    link(parts.outputs[2], own.inputs[0])
    noise = _add(tree, 'ShaderNodeTexNoise', -520, -440, noise_dimensions='4D')
    noise.inputs["Scale"].default_value, noise.inputs["Detail"].default_value = 1.3, 2.0
    link(unit.outputs[0], noise.inputs["Vector"])
    link(own.outputs[0], noise.inputs["W"])
    depth = _add(tree, 'ShaderNodeMath', -520, -700, operation='MULTIPLY')
    depth.inputs[1].default_value = 0.9
    link(point.outputs["Radius"], depth.inputs[0])
    bump = _add(tree, 'ShaderNodeBump', -180, -420)
    bump.inputs["Strength"].default_value = 0.8
    link(noise.outputs[0], bump.inputs["Height"])
    link(depth.outputs[0], bump.inputs["Distance"])
    link(bump.outputs[0], surface.inputs["Normal"])
