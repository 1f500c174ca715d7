# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects really move or change shape over the frames of a bake.

Looks at what the evaluated objects do, whatever makes them do it (keys, drivers, constraints, parents, rigs, shape
keys, nodes, physics). Objects which nothing can move are not looked at, and the search ends as soon as every
suspect was seen moving, or after a few seconds, coarse to fine over the range.
"""
import time
from dataclasses import dataclass
from typing import Optional

import numpy as np
from bpy.types import ID, Depsgraph, Object, ViewLayer

from .. import frames
from ..simulations import Simulation

TIME_LIMIT = 4.0  # seconds
TOLERANCE = 1e-5  # of the object's size: what a matrix loses in float32 over a long chain of parents

_PHYSICS_MODIFIERS = ('CLOTH', 'SOFT_BODY', 'DYNAMIC_PAINT', 'EXPLODE', 'PARTICLE_INSTANCE', 'FLUID', 'OCEAN')


@dataclass
class Pose:
    matrix: np.ndarray
    positions: Optional[np.ndarray]


def moving_objects(simulation: Simulation, view_layer: ViewLayer, items: list[Object]) -> dict[Object, str]:
    """Those of the items that do not stand still over the bake's frames: 'moves' or 'changes shape'."""
    scene = simulation.id_data
    first, last = frames.bake_range(simulation)
    found: dict[Object, str] = {}
    suspects = []
    for item in items:
        if _is_driven_by_physics(item):
            found[item] = "moves" if item.rigid_body else "changes shape"
        elif can_move(item, set()):
            suspects.append(item)
    if not suspects or first == last:
        return found
    deadline = time.monotonic() + TIME_LIMIT
    with frames.visiting(scene):
        scene.frame_set(first)
        start = {item: _pose(item, view_layer.depsgraph) for item in suspects}
        for frame in frames.spread_order(first, last)[1:]:
            if not suspects or time.monotonic() > deadline:
                break
            scene.frame_set(frame)
            for item in list(suspects):
                change = _compare(start[item], _pose(item, view_layer.depsgraph))
                if change:
                    found[item] = change
                    suspects.remove(item)
    return found


def _is_driven_by_physics(item: Object) -> bool:
    """Simulated by Blender: its motion shows only when frames are played in order, so it is taken as given."""
    if item.rigid_body is not None and item.rigid_body.type == 'ACTIVE' and item.rigid_body.enabled:
        return not item.rigid_body.kinematic
    return any(modifier.type in _PHYSICS_MODIFIERS and modifier.show_viewport for modifier in item.modifiers)


def can_move(item: Object, seen: set[Object]) -> bool:
    """Whether anything at all could move or deform the object; errs on the side of yes."""
    if item in seen:
        return False
    seen.add(item)
    if item.rigid_body is not None or item.particle_systems or len(item.constraints) > 0:
        return True
    if is_animated(item) or is_animated(item.data):
        return True
    if getattr(item.data, "shape_keys", None) is not None and is_animated(item.data.shape_keys):
        return True
    if any(modifier.show_viewport and modifier.type not in ('BEVEL', 'SUBSURF', 'SOLIDIFY', 'TRIANGULATE', 'WELD')
           for modifier in item.modifiers):
        return True
    if item.instance_collection is not None:
        return any(can_move(member, seen) for member in item.instance_collection.all_objects)
    return item.parent is not None and (item.parent_type != 'OBJECT' or can_move(item.parent, seen))


def is_animated(block: Optional[ID]) -> bool:
    data = getattr(block, "animation_data", None)
    return data is not None and (data.action is not None or len(data.drivers) > 0 or len(data.nla_tracks) > 0)


def _pose(item: Object, depsgraph: Depsgraph) -> Pose:
    evaluated = item.evaluated_get(depsgraph)
    positions = None
    if evaluated.type == 'MESH' and evaluated.data is not None:
        positions = np.empty(len(evaluated.data.vertices) * 3, np.float32)
        evaluated.data.vertices.foreach_get("co", positions)
    return Pose(np.array(evaluated.matrix_world), positions)


def _compare(before: Pose, now: Pose) -> str:
    size = max(float(np.abs(before.matrix[:3, 3]).max()), float(np.abs(before.matrix[:3, :3]).max()), 1e-6)
    if np.abs(now.matrix - before.matrix).max() > TOLERANCE * size:
        return "moves"
    if before.positions is not None and now.positions is not None:
        if before.positions.shape != now.positions.shape:
            return "changes shape"
        extent = float(np.ptp(before.positions)) if before.positions.size else 0.0
        if before.positions.size and np.abs(now.positions - before.positions).max() > TOLERANCE * max(extent, 1e-6):
            return "changes shape"
    return ""
