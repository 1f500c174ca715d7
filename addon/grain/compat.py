# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's differences from 3.4 to 5.x. The only file that asks for Blender's version."""
from typing import Any, Optional, Union

import blf
import bpy
from bpy.types import (
    ID,
    Context,
    FCurve,
    GeometryNodeTree,
    Material,
    Mesh,
    Modifier,
    Node,
    NodeSocket,
    NodeTree,
    UILayout,
    World,
)

VERSION: tuple[int, int, int] = bpy.app.version
VERSION_TEXT: str = bpy.app.version_string

# Keeps "//" in a folder picked by the artist: without it 4.5 and later make the path absolute.
FOLDER_OPTIONS: set[str] = {'PATH_SUPPORTS_BLEND_RELATIVE'} if VERSION >= (4, 5, 0) else set()

# Voxels that an object has to be moved by so that an OpenVDB file lies where it says. OpenVDB has a voxel's value in
# the place of its index; before 5.0 Blender (seen in Cycles and Volume to Mesh) had it half a voxel further on.
VOLUME_SHIFT: float = -0.5 if VERSION < (5, 0, 0) else 0.0


def draw_progress(layout: UILayout, owner: Any, property_name: str, fraction: float, text: str) -> None:
    """A bar; before 4.0 a slider which cannot be moved."""
    if VERSION >= (4, 0, 0):
        layout.progress(factor=fraction, text=text)
        return
    row = layout.row()
    row.use_property_split = False
    row.enabled = False
    row.prop(owner, property_name, text=text, slider=True)


def text_width(text: str) -> float:
    """Pixels of a label in the interface's font."""
    preferences = bpy.context.preferences
    points = preferences.ui_styles[0].widget.points if preferences.ui_styles else 11
    if VERSION >= (4, 0, 0):
        blf.size(0, points * preferences.system.ui_scale)
    else:
        blf.size(0, points, preferences.system.dpi)
    return blf.dimensions(0, text)[0]


def ui_scale(context: Context) -> float:
    return context.preferences.system.ui_scale


def new_socket(tree: NodeTree, name: str, is_output: bool, socket_type: str) -> Any:
    """A socket of the group itself."""
    if VERSION >= (4, 0, 0):
        return tree.interface.new_socket(name, in_out='OUTPUT' if is_output else 'INPUT', socket_type=socket_type)
    return (tree.outputs if is_output else tree.inputs).new(socket_type, name)


def _input_identifier(tree: GeometryNodeTree, name: str) -> Optional[str]:
    if VERSION >= (4, 0, 0):
        items = [item for item in tree.interface.items_tree
                 if item.item_type == 'SOCKET' and item.in_out == 'INPUT']
    else:
        items = list(tree.inputs)
    return next((item.identifier for item in items if item.name == name), None)


def set_modifier_input(modifier: Modifier, name: str, value: Any) -> None:
    """Sets an input of a Geometry Nodes modifier by the name it has in the group."""
    identifier = _input_identifier(modifier.node_group, name) if modifier.node_group else None
    if identifier is None:
        return
    if VERSION >= (5, 2, 0):
        getattr(modifier.properties.inputs, identifier).value = value
    else:
        modifier[identifier] = value


def modifier_input(modifier: Modifier, name: str) -> Any:
    """The value of such an input; None where there is none."""
    identifier = _input_identifier(modifier.node_group, name) if modifier.node_group else None
    if identifier is None:
        return None
    if VERSION >= (5, 2, 0):
        return getattr(modifier.properties.inputs, identifier).value
    return modifier.get(identifier)


def mark_loose_edges(mesh: Mesh) -> None:
    """Of a mesh whose edges are all loose and new: they are drawn from now on. Before 3.5 without having all editors drawn again."""
    if VERSION >= (3, 5, 0):  # there it is found out, no mark of the edge
        mesh.update(calc_edges_loose=True)
    else:
        mesh.edges.foreach_set("is_loose", [True] * len(mesh.edges))


def find_input(node: Node, *names: str) -> Optional[NodeSocket]:
    """A node's input by the first of its names over the years, e.g. 'Transmission Weight', 'Transmission'."""
    return next((node.inputs[name] for name in names if name in node.inputs), None)


def use_nodes(owner: Union[Material, World]) -> None:
    """From 5.0 every material and world has nodes, and asking for them warns."""
    if VERSION < (5, 0, 0):
        owner.use_nodes = True


def handler_lists(*names: str) -> list[Any]:
    """Those of the named lists of bpy.app.handlers which this Blender has."""
    return [getattr(bpy.app.handlers, name) for name in names if hasattr(bpy.app.handlers, name)]


def register_command(name: str, function: Any) -> Optional[Any]:
    """A command of `blender --command`, from 4.2 on."""
    return bpy.utils.register_cli_command(name, function) if VERSION >= (4, 2, 0) else None


def curve_lists(owner: ID) -> list[Any]:
    """Lists of animation curves and drivers of a data-block's own settings. From 4.4 an action keeps them by slot:
    several data-blocks may share one, each with curves of its own. From 5.0 there is no other way to them."""
    data = owner.animation_data
    if data is None:
        return []
    if data.action is None:
        return [data.drivers]
    if VERSION < (4, 4, 0):
        return [data.action.fcurves, data.drivers]
    if data.action_slot is None:
        return [data.drivers]
    bags = [strip.channelbag(data.action_slot) for layer in data.action.layers for strip in layer.strips]
    return [*(bag.fcurves for bag in bags if bag is not None), data.drivers]


def copy_curve(curves: Any, curve: FCurve, data_path: str) -> None:
    """The same keys or driver for another setting."""
    if curve.driver is not None:
        curves.from_existing(src_driver=curve).data_path = data_path
        return
    made = curves.new(data_path, index=curve.array_index)
    made.extrapolation = curve.extrapolation
    made.keyframe_points.add(len(curve.keyframe_points))
    for key, target in zip(curve.keyframe_points, made.keyframe_points):
        for name in ("co", "handle_left_type", "handle_right_type", "interpolation", "easing", "amplitude", "back",
                     "period", "handle_left", "handle_right"):
            setattr(target, name, getattr(key, name))
    made.update()


def stored_settings(owner: ID, name: str) -> Any:
    """What a file holds of a group of settings, also those which this version of Grain does not know; None where nothing
    is. From 5.0 it is kept apart from the artist's own properties."""
    if VERSION >= (5, 0, 0):
        stored = owner.bl_system_properties_get()
        return stored.get(name) if stored is not None else None
    return owner.get(name)
