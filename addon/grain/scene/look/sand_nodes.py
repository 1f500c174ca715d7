# SPDX-License-Identifier: GPL-3.0-or-later
"""What turns points into sand: the Geometry Nodes group and the material, made by code.

The group makes a point cloud of the loose vertices. The material gives every grain its own colour from its id, so a
grain keeps its colour for as long as it lives, and lightly dents it: points are drawn as exact spheres, sand is not.
"""
import bpy
from bpy.types import GeometryNodeTree, Material, Node, NodeSocket, NodeTree

from ... import compat
from .look_library import LOOKS, Look

GROUP_NAME = "Grain Points"
INSTANCES_GROUP_NAME = "Grain Instances"

INPUT_AMOUNT = "Viewport Amount"
INPUT_SCALE = "Grain Size"
INPUT_MATERIAL = "Material"
INPUT_SHAPE = "Grain Shape"

INPUT_RENDER_AMOUNT = "Render Amount"
INPUT_VIEWPORT_POINTS = "Points in Viewport"
INPUT_RENDER_POINTS = "Points in Render"


def points_group() -> GeometryNodeTree:
    """The group, made once to a file; an artist's own changes to it stay."""
    group = bpy.data.node_groups.get(GROUP_NAME)
    return group if group is not None and group.bl_idname == 'GeometryNodeTree' else _make_group()


def instances_group() -> GeometryNodeTree:
    """The same for grains that are no spheres: an object in the place of each."""
    group = bpy.data.node_groups.get(INSTANCES_GROUP_NAME)
    return group if group is not None and group.bl_idname == 'GeometryNodeTree' else _make_instances_group()


def material(kind: str) -> Material:
    """The material of a look, made once to a file; an artist's own changes to it stay."""
    look = LOOKS[kind]
    return bpy.data.materials.get(look.material) or _make_material(look)


# Of colours of dry grains: value and saturation where moisture is 1. Grains that light meets again and again, and the film's own
# shine, make the heap as dark as wet sand is, about half as bright as dry.
WET_VALUE, _WET_SATURATION = 0.3, 1.25


def _add(tree: NodeTree, kind: str, x: float, y: float, **settings: object) -> Node:
    node = tree.nodes.new(kind)
    node.location = (x, y)
    for name, value in settings.items():
        setattr(node, name, value)
    return node


def _enabled(sockets: object, name: str) -> object:
    """A socket by name: nodes with a data type have several of the same name, one of them in use."""
    return next(socket for socket in sockets if socket.name == name and socket.enabled)


def _here(tree: NodeTree, x: float, y: float, kind: str, render: NodeSocket, viewport: NodeSocket) -> NodeSocket:
    """One value for renders, another for the viewport."""
    where = _add(tree, 'GeometryNodeIsViewport', x, y)
    choice = _add(tree, 'GeometryNodeSwitch', x + 180, y, input_type=kind)
    tree.links.new(where.outputs[0], _enabled(choice.inputs, "Switch"))
    tree.links.new(render, _enabled(choice.inputs, "False"))
    tree.links.new(viewport, _enabled(choice.inputs, "True"))
    return _enabled(choice.outputs, "Output")


def _begin_group(name: str) -> tuple[GeometryNodeTree, Node, Node, Node]:
    """What both groups begin with: the grains that are to be seen as points, and their size. Returns the group, its
    input, the points and the size."""
    tree = bpy.data.node_groups.new(name, 'GeometryNodeTree')
    compat.new_socket(tree, "Geometry", False, 'NodeSocketGeometry')
    compat.new_socket(tree, "Geometry", True, 'NodeSocketGeometry')
    for label in (INPUT_AMOUNT, INPUT_RENDER_AMOUNT):
        amount = compat.new_socket(tree, label, False, 'NodeSocketFloat')
        amount.default_value, amount.min_value, amount.max_value = 1.0, 0.0, 1.0
    scale = compat.new_socket(tree, INPUT_SCALE, False, 'NodeSocketFloat')
    scale.default_value, scale.min_value, scale.max_value = 1.0, 0.0, 10.0
    compat.new_socket(tree, INPUT_MATERIAL, False, 'NodeSocketMaterial')
    if name == INSTANCES_GROUP_NAME:
        compat.new_socket(tree, INPUT_SHAPE, False, 'NodeSocketObject')
        for label in (INPUT_VIEWPORT_POINTS, INPUT_RENDER_POINTS):
            compat.new_socket(tree, label, False, 'NodeSocketBool')

    link = tree.links.new
    start = _add(tree, 'NodeGroupInput', -800, 0)
    # A grain is shown when its own random number is below the amount: the same grains in each frame.
    dice = _add(tree, 'FunctionNodeRandomValue', -600, 200, data_type='FLOAT')
    grain_id = _add(tree, 'GeometryNodeInputNamedAttribute', -800, 160, data_type='INT')
    grain_id.inputs["Name"].default_value = "id"
    link(_enabled(grain_id.outputs, "Attribute"), dice.inputs["ID"])
    shown = _add(tree, 'ShaderNodeMath', -350, 200, operation='LESS_THAN')
    link(_enabled(dice.outputs, "Value"), shown.inputs[0])
    link(_here(tree, -600, 420, 'FLOAT', start.outputs[INPUT_RENDER_AMOUNT], start.outputs[INPUT_AMOUNT]), shown.inputs[1])

    points = _add(tree, 'GeometryNodeMeshToPoints', 60, 60, mode='VERTICES')
    link(start.outputs["Geometry"], points.inputs["Mesh"])
    link(shown.outputs[0], points.inputs["Selection"])

    radius = _add(tree, 'GeometryNodeInputNamedAttribute', -170, -250, data_type='FLOAT')
    radius.inputs["Name"].default_value = "radius"
    # 3.4 lets an attribute called "radius" through; later versions write the node's own Radius over it.
    link(_enabled(radius.outputs, "Attribute"), points.inputs["Radius"])
    size = _add(tree, 'ShaderNodeMath', 60, -200, operation='MULTIPLY')
    link(_enabled(radius.outputs, "Attribute"), size.inputs[0])
    link(start.outputs[INPUT_SCALE], size.inputs[1])
    return tree, start, points, size


def _finish_points(tree: GeometryNodeTree, start: Node, points: Node, size: Node) -> NodeSocket:
    """The points with their size and material."""
    link = tree.links.new
    # After the points, not with them: an attribute called "radius" goes through that node and overrules its Radius.
    sized = _add(tree, 'GeometryNodeSetPointRadius', 250, 0)
    link(points.outputs[0], sized.inputs[0])
    link(size.outputs[0], sized.inputs["Radius"])
    material = _add(tree, 'GeometryNodeSetMaterial', 430, 0)
    link(sized.outputs[0], material.inputs["Geometry"])
    link(start.outputs[INPUT_MATERIAL], material.inputs["Material"])
    return material.outputs[0]


def _or_corners(tree: GeometryNodeTree, start: Node, x: float, points: NodeSocket) -> NodeSocket:
    """The points; but of a mesh with edges, which are corners around grains that Grain draws itself, the mesh as it is."""
    size = _add(tree, 'GeometryNodeAttributeDomainSize', x - 200, 300, component='MESH')
    choice = _add(tree, 'GeometryNodeSwitch', x, 0, input_type='GEOMETRY')
    link = tree.links.new
    link(start.outputs["Geometry"], size.inputs[0])
    link(size.outputs["Edge Count"], _enabled(choice.inputs, "Switch"))
    link(points, _enabled(choice.inputs, "False"))
    link(start.outputs["Geometry"], _enabled(choice.inputs, "True"))
    return _enabled(choice.outputs, "Output")


def _make_group() -> GeometryNodeTree:
    tree, start, points, size = _begin_group(GROUP_NAME)
    end = _add(tree, 'NodeGroupOutput', 820, 0)
    tree.links.new(_or_corners(tree, start, 620, _finish_points(tree, start, points, size)), end.inputs[0])
    return tree


def _make_instances_group() -> GeometryNodeTree:
    tree, start, points, size = _begin_group(INSTANCES_GROUP_NAME)
    link = tree.links.new
    end = _add(tree, 'NodeGroupOutput', 1080, 0)
    shape = _add(tree, 'GeometryNodeObjectInfo', 60, -400)
    link(start.outputs[INPUT_SHAPE], shape.inputs["Object"])
    turned = _add(tree, 'GeometryNodeInputNamedAttribute', 60, -600, data_type='FLOAT_VECTOR')
    turned.inputs["Name"].default_value = "rotation"
    instances = _add(tree, 'GeometryNodeInstanceOnPoints', 400, -300)
    link(points.outputs[0], instances.inputs["Points"])
    link(shape.outputs["Geometry"], instances.inputs["Instance"])
    link(_enabled(turned.outputs, "Attribute"), instances.inputs["Rotation"])
    link(size.outputs[0], instances.inputs["Scale"])
    choice = _add(tree, 'GeometryNodeSwitch', 700, 0, input_type='GEOMETRY')
    link(_here(tree, 400, 300, 'BOOLEAN', start.outputs[INPUT_RENDER_POINTS], start.outputs[INPUT_VIEWPORT_POINTS]),
         _enabled(choice.inputs, "Switch"))
    link(instances.outputs[0], _enabled(choice.inputs, "False"))
    link(_finish_points(tree, start, points, size), _enabled(choice.inputs, "True"))
    link(_or_corners(tree, start, 900, _enabled(choice.outputs, "Output")), end.inputs[0])
    return tree


def _of_grain(tree: NodeTree, name: str, x: float, y: float) -> NodeSocket:
    """An attribute of the grain, whether it is drawn as a point or as an instance: missing ones count as 0."""
    point = _add(tree, 'ShaderNodeAttribute', x, y, attribute_name=name)
    instance = _add(tree, 'ShaderNodeAttribute', x, y - 180, attribute_name=name, attribute_type='INSTANCER')
    total = _add(tree, 'ShaderNodeMath', x + 180, y, operation='ADD')
    tree.links.new(point.outputs["Fac"], total.inputs[0])
    tree.links.new(instance.outputs["Fac"], total.inputs[1])
    return total.outputs[0]


def _make_material(look: Look) -> Material:
    material = bpy.data.materials.new(look.material)
    compat.use_nodes(material)
    material.diffuse_color = (*look.viewport, 1.0)
    tree = material.node_tree
    tree.nodes.clear()
    surface = _add(tree, 'ShaderNodeBsdfPrincipled', 200, 200)
    output = _add(tree, 'ShaderNodeOutputMaterial', 520, 200)
    link = tree.links.new
    link(surface.outputs[0], output.inputs["Surface"])

    # Four independent random numbers to a grain, from its id.
    dice = _add(tree, 'ShaderNodeTexWhiteNoise', -900, 200, noise_dimensions='1D')
    link(_of_grain(tree, "id", -1300, 200), dice.inputs["W"])
    parts = _add(tree, 'ShaderNodeSeparateColor', -700, 60)
    link(dice.outputs["Color"], parts.inputs[0])

    ramp = _add(tree, 'ShaderNodeValToRGB', -500, 420)
    _fill_ramp(ramp, look)
    link(dice.outputs["Value"], ramp.inputs["Fac"])
    tone = _add(tree, 'ShaderNodeHueSaturation', -180, 360)
    link(ramp.outputs["Color"], tone.inputs["Color"])
    brightness = _spread(tree, parts.outputs[0], -500, 180, look.brightness)
    share = _wet_share(tree)
    link(_times(tree, brightness, share.outputs[0], -330, 60), tone.inputs["Value"])
    richer = _add(tree, 'ShaderNodeMapRange', -500, -300)  # and of deeper colour
    richer.inputs["From Min"].default_value, richer.inputs["From Max"].default_value = 1.0, WET_VALUE
    richer.inputs["To Min"].default_value, richer.inputs["To Max"].default_value = 1.0, _WET_SATURATION
    link(share.outputs[0], richer.inputs["Value"])
    link(richer.outputs[0], tone.inputs["Saturation"])
    link(tone.outputs["Color"], surface.inputs["Base Color"])
    # Wet grains shine: the film of water on them is smooth.
    link(_times(tree, _spread(tree, parts.outputs[1], -350, -60, look.roughness), share.outputs[0], -180, 150),
         surface.inputs["Roughness"])
    specular = compat.find_input(surface, "Specular IOR Level", "Specular")
    if specular is not None:
        specular.default_value = look.specular
    if look.clear[0] < 1.0:
        _let_light_through(tree, dice, surface, look)
    if look.subsurface > 0.0:
        _let_light_inside(tree, surface, tone, look)
    _dent(tree, parts, surface, look)
    return material


def _spread(tree: NodeTree, value: NodeSocket, x: float, y: float, limits: tuple[float, float]) -> NodeSocket:
    node = _add(tree, 'ShaderNodeMapRange', x, y)
    node.inputs["To Min"].default_value, node.inputs["To Max"].default_value = limits
    tree.links.new(value, node.inputs["Value"])
    return node.outputs[0]


def _times(tree: NodeTree, a: NodeSocket, b: NodeSocket, x: float, y: float) -> NodeSocket:
    product = _add(tree, 'ShaderNodeMath', x, y, operation='MULTIPLY')
    tree.links.new(a, product.inputs[0])
    tree.links.new(b, product.inputs[1])
    return product.outputs[0]


def _wet_share(tree: NodeTree) -> Node:
    """Wet sand is darker: water fills the gaps that scatter light. Sand without moisture has none of the attribute."""
    share = _add(tree, 'ShaderNodeMapRange', -700, -240)
    share.name = share.label = "Wet"
    share.inputs["To Min"].default_value, share.inputs["To Max"].default_value = 1.0, WET_VALUE
    tree.links.new(_of_grain(tree, "moisture", -1100, -140), share.inputs["Value"])
    return share


def _fill_ramp(ramp: Node, look: Look) -> None:
    elements = ramp.color_ramp.elements
    ramp.color_ramp.interpolation = 'CONSTANT'
    while len(elements) < len(look.colours):
        elements.new(0.5)
    for element, (position, colour) in zip(elements, look.colours):
        element.position = position
        element.color = (*colour, 1.0)


def _let_light_through(tree: NodeTree, dice: Node, surface: Node, look: Look) -> None:
    """Some grains are clear: the whitish ones of sand are quartz."""
    transmission = compat.find_input(surface, "Transmission Weight", "Transmission")
    if transmission is None:
        return
    above = _add(tree, 'ShaderNodeMath', -500, -80, operation='GREATER_THAN')
    below = _add(tree, 'ShaderNodeMath', -500, -240, operation='LESS_THAN')
    both = _add(tree, 'ShaderNodeMath', -320, -120, operation='MULTIPLY')
    share = _add(tree, 'ShaderNodeMath', -150, -120, operation='MULTIPLY')
    above.inputs[1].default_value, below.inputs[1].default_value = look.clear
    share.inputs[1].default_value = look.clearness
    for side, node in enumerate((above, below)):
        tree.links.new(dice.outputs["Value"], node.inputs[0])
        tree.links.new(node.outputs[0], both.inputs[side])
    tree.links.new(both.outputs[0], share.inputs[0])
    tree.links.new(share.outputs[0], transmission)
    surface.inputs["IOR"].default_value = 1.46  # quartz


def _let_light_inside(tree: NodeTree, surface: Node, tone: Node, look: Look) -> None:
    weight = compat.find_input(surface, "Subsurface Weight", "Subsurface")
    if weight is None:
        return
    weight.default_value = 0.4
    colour = compat.find_input(surface, "Subsurface Color")
    if colour is not None:  # until 4.0
        tree.links.new(tone.outputs["Color"], colour)
    point = _add(tree, 'ShaderNodePointInfo', -180, -40)
    radius = _add(tree, 'ShaderNodeVectorMath', 0, -40, operation='SCALE')
    radius.inputs[0].default_value = (look.subsurface,) * 3
    tree.links.new(point.outputs["Radius"], radius.inputs["Scale"])
    tree.links.new(radius.outputs[0], surface.inputs["Subsurface Radius"])


def _dent(tree: NodeTree, parts: Node, surface: Node, look: Look) -> None:
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
    depth.inputs[1].default_value = look.dents
    link(point.outputs["Radius"], depth.inputs[0])
    bump = _add(tree, 'ShaderNodeBump', -180, -420)
    bump.inputs["Strength"].default_value = 0.8
    link(noise.outputs[0], bump.inputs["Height"])
    link(depth.outputs[0], bump.inputs["Distance"])
    link(bump.outputs[0], surface.inputs["Normal"])
