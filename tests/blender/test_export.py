# SPDX-License-Identifier: GPL-3.0-or-later
"""Export: files for other programs, and words where this Blender cannot write them."""
from pathlib import Path

import bpy
import support


def refusal(**settings: object) -> str:
    """What the operator says when it cannot."""
    try:
        bpy.ops.grain.export(**settings)
    except RuntimeError as error:
        return str(error)
    return ""


def test_frames_as_ply_and_points(folder: Path) -> None:
    scene = support.small_scene(3)
    scene.grain.active.use_upsample = True
    scene.grain.active.grains_per_particle = 4
    support.save(folder)
    bpy.ops.grain.bake()
    assert bpy.ops.grain.export(filepath="//sand.ply", format='PLY', frame_start=2, frame_end=9) == {'FINISHED'}
    assert sorted(path.name for path in folder.glob("sand*.ply")) == ["sand_0002.ply", "sand_0003.ply"]
    grains = support.read_json(folder / "grain_cache/Sand/grains/cache.json")["frames"][1]["particles"]
    assert f"element vertex {grains}\n".encode() in (folder / "sand_0002.ply").read_bytes()[:400]
    assert bpy.ops.grain.export(filepath=str(folder / "points"), format='VDB_POINTS', frame_start=1, frame_end=1) == {'FINISHED'}
    volume = bpy.data.volumes.new("Points")
    volume.filepath = str(folder / "points_0001.vdb")
    assert volume.grids.load() and [(grid.name, grid.data_type) for grid in volume.grids] == [("points", 'POINTS')]
    assert "is baked" in refusal(filepath=str(folder / "no.ply"), format='PLY', frame_start=40, frame_end=41)
    (folder / "a_file").write_text("")
    assert "a_file" in refusal(filepath=str(folder / "a_file/x.ply"), format='PLY', frame_start=1, frame_end=1)


def test_alembic_and_usd_where_blender_has_them(folder: Path) -> None:
    scene = support.small_scene(2)
    support.save(folder)
    bpy.ops.grain.bake()
    for kind, option, ending in (('ALEMBIC', "alembic", ".abc"), ('USD', "usd", ".usdc")):
        settings = {"filepath": str(folder / f"sand{ending}"), "format": kind, "frame_start": 1, "frame_end": 2}
        if getattr(bpy.app.build_options, option):
            assert bpy.ops.grain.export(**settings) == {'FINISHED'}
            assert (folder / f"sand{ending}").stat().st_size > 1000
        else:
            assert "built without" in refusal(**settings) and not (folder / f"sand{ending}").exists()
    assert (scene.frame_start, scene.frame_end) == (1, 2)


def test_blenders_exporters_get_the_sand_alone(folder: Path) -> None:
    """What they are called with, seen from their side: a stand-in in their place, since Debian's Blender lacks them."""
    from grain.scene.manage import export
    scene = support.small_scene(3)
    support.save(folder)
    bpy.ops.grain.bake()
    seen = []

    class GRAIN_OT_stand_in(bpy.types.Operator):
        bl_idname, bl_label = "wm.grain_stand_in", "Stand-in"
        filepath: bpy.props.StringProperty()
        start: bpy.props.IntProperty()
        end: bpy.props.IntProperty()
        selected: bpy.props.BoolProperty()

        def execute(self, context: bpy.types.Context) -> set[str]:
            names = [item.name for item in context.selected_objects]
            seen.append((self.start, self.end, self.selected, names, context.scene.frame_end))
            return {'FINISHED'}

    block = bpy.data.objects["Block"]
    block.select_set(True)
    bpy.utils.register_class(GRAIN_OT_stand_in)
    formats, can_write = export.BLENDER_FORMATS, export.can_write
    export.BLENDER_FORMATS, export.can_write = {'ALEMBIC': ("alembic", "grain_stand_in", ".abc")}, lambda kind: True
    try:
        path = export.write_by_blender(bpy.context, scene.grain.active, folder / "sand", 'ALEMBIC', 1, 2)
    finally:
        export.BLENDER_FORMATS, export.can_write = formats, can_write
        bpy.utils.unregister_class(GRAIN_OT_stand_in)
    assert path == folder / "sand.abc" and seen == [(1, 2, True, ["Grain Sand"], 2)], seen
    assert scene.frame_end == 3 and bpy.context.selected_objects == [block]
