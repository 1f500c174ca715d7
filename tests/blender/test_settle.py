# SPDX-License-Identifier: GPL-3.0-or-later
"""A source that has settled by the first frame."""
from pathlib import Path

import bpy
import numpy as np
import support
from baked import entry, made


def tray(last: int) -> bpy.types.Object:
    """Sand in a tray whose wall is a thick open box; the source hovers a little above its floor."""
    source = support.box("Sand", (-0.09, -0.09, 0.02), (0.09, 0.09, 0.08))
    wall = support.box("Tray", (-0.1, -0.1, 0.0), (0.1, 0.1, 0.12))
    top = max(wall.data.polygons, key=lambda face: face.center.z).index
    bpy.context.view_layer.objects.active = wall
    bpy.ops.object.mode_set(mode='EDIT')
    bpy.ops.mesh.select_all(action='DESELECT')
    bpy.ops.object.mode_set(mode='OBJECT')
    wall.data.polygons[top].select = True
    bpy.ops.object.mode_set(mode='EDIT')
    bpy.ops.mesh.delete(type='ONLY_FACE')
    bpy.ops.object.mode_set(mode='OBJECT')
    wall.modifiers.new("Wall", 'SOLIDIFY').thickness = -0.03
    wall.grain.type, source.grain.type = 'COLLIDER', 'SOURCE'
    scene = bpy.context.scene
    scene.grain.active.particle_radius = 0.008
    scene.frame_start, scene.frame_end = 1, last
    return source


def test_the_first_frames_lie_still(folder: Path) -> None:
    from grain.engine.process import BakeProcess
    source = tray(11)
    source.grain.source.velocity = (1.0, 0.0, 0.0)
    job, _warnings = made(11)
    assert entry(job, "Sand").settle == 0.0 and entry(job, "Sand").velocity == (1.0, 0.0, 0.0)
    source.grain.source.use_settle = True
    job, _warnings = made(11)
    assert entry(job, "Sand").settle == 5.0 and entry(job, "Sand").velocity == (0.0, 0.0, 0.0), "what has settled is at rest"
    stages = set()
    take = BakeProcess._take

    def watch(self: BakeProcess, line: bytes) -> None:
        take(self, line)
        stages.add(self.status.stage)

    support.save(folder)
    BakeProcess._take = watch
    try:
        assert bpy.ops.grain.bake() == {'FINISHED'}
    finally:
        BakeProcess._take = take
    assert "Settling" in stages and "Preparing settling" not in stages, stages
    from grain.scene import paths
    cache = paths.cache_folder(bpy.context.scene.grain.active)
    frames = [support.read_frame(cache / f"coarse_{frame:06d}.grain")["position"] for frame in range(1, 12)]
    ways = [np.linalg.norm(after - before, axis=1).max() for before, after in zip(frames, frames[1:])]
    assert max(ways) < 0.02 * 0.008, ways
    assert frames[0][:, 2].min() < 0.02 and frames[0][:, 2].max() < 0.08, "it has sunk to the floor of the tray"
    source.grain.source.use_settle = False
    bpy.ops.grain.bake_anew()
    first, second = (support.read_frame(cache / f"coarse_{frame:06d}.grain")["position"] for frame in (1, 3))
    assert np.linalg.norm(second - first, axis=1).max() > 0.008


def test_settle_is_undone(folder: Path) -> None:
    tray(3)
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["Sand"].grain.source.use_settle = True
    bpy.ops.ed.undo_push(message="settle")
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Sand"].grain.source.use_settle
    bpy.ops.ed.redo()
    assert bpy.data.objects["Sand"].grain.source.use_settle and bpy.data.objects["Sand"].grain.source.settle_seconds == 5.0
