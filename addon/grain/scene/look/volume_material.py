# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials for volumes: fog and dust of sand, and wet sand for the mesh of its surface.

Light that passes through grains of radius r which fill a share s of the room is weakened by 3 s / (4 r) to a metre: that is
how dense the sand's own fog is. Dust is the same stuff ground finer, and of it only a little: together that comes to about
as much, by eye.
"""
import bpy
from bpy.types import Material, Node, NodeTree, Object

from ... import compat
from .sand_nodes import _add

MATERIAL_NAME = "Grain Fog and Dust"
WET_NAME = "Grain Wet Sand"
SAND_NODE, DUST_NODE = "Sand Thickness", "Dust Thickness"
DUST_SHARE = 1.0  # of the fog that the grid's amount would be as sand


def new_material() -> Material:
    """Density and dust add up, each with its own colour; a grid that is not in the file counts as none."""
    material = bpy.data.materials.new(MATERIAL_NAME)
    compat.use_nodes(material)
    tree = material.node_tree
    tree.nodes.clear()
    output = _add(tree, 'ShaderNodeOutputMaterial', 700, 0)
    both = _add(tree, 'ShaderNodeAddShader', 500, 0)
    tree.links.new(both.outputs[0], output.inputs["Volume"])
    tree.links.new(_fog(tree, 200, "density", SAND_NODE, (0.80, 0.62, 0.40), 0.0).outputs[0], both.inputs[0])
    tree.links.new(_fog(tree, -300, "dust", DUST_NODE, (0.93, 0.84, 0.70), 0.3).outputs[0], both.inputs[1])
    return material


def _fog(tree: NodeTree, y: float, grid: str, name: str, colour: tuple[float, float, float], forward: float) -> Node:
    values = _add(tree, 'ShaderNodeAttribute', -300, y, attribute_name=grid)
    strength = _add(tree, 'ShaderNodeValue', -300, y - 220)
    strength.name = strength.label = name
    product = _add(tree, 'ShaderNodeMath', -60, y, operation='MULTIPLY')
    volume = _add(tree, 'ShaderNodeVolumePrincipled', 160, y)
    tree.links.new(values.outputs["Fac"], product.inputs[0])
    tree.links.new(strength.outputs[0], product.inputs[1])
    tree.links.new(product.outputs[0], volume.inputs["Density"])
    volume.inputs["Density Attribute"].default_value = ""  # or the grid would count twice
    volume.inputs["Color"].default_value = (*colour, 1.0)
    volume.inputs["Anisotropy"].default_value = forward  # dust glows against the light
    return volume


def fit(item: Object, radius: float) -> None:
    """Thickness for grains of this radius (Blender units), unless an artist has changed it."""
    material = item.data.materials[0] if item.data.materials else None
    tree = material.node_tree if material is not None else None
    for name, share in ((SAND_NODE, 1.0), (DUST_NODE, DUST_SHARE)):
        node = tree.nodes.get(name) if tree is not None else None
        if node is None or node.bl_idname != 'ShaderNodeValue':
            continue
        value = node.outputs[0]
        if "fitted" not in node or abs(value.default_value - node["fitted"]) <= 1e-5 * node["fitted"]:
            value.default_value = share * 0.75 / radius
            node["fitted"] = value.default_value


def wet_material() -> Material:
    material = bpy.data.materials.get(WET_NAME)
    if material is not None:
        return material
    material = bpy.data.materials.new(WET_NAME)
    compat.use_nodes(material)
    tree = material.node_tree
    tree.nodes.clear()
    surface = _add(tree, 'ShaderNodeBsdfPrincipled', 200, 0)
    output = _add(tree, 'ShaderNodeOutputMaterial', 520, 0)
    tree.links.new(surface.outputs[0], output.inputs["Surface"])
    surface.inputs["Base Color"].default_value = (0.16, 0.10, 0.055, 1.0)
    surface.inputs["Roughness"].default_value = 0.35
    material.diffuse_color = (0.16, 0.10, 0.055, 1.0)
    return material
