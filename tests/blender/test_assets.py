# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Asset Browser offers: everything there, in its catalogue, as the add-on makes it now."""
from pathlib import Path

import bpy
import numpy as np
import support

ASSETS = support.ROOT / "addon/grain/assets"


def load() -> tuple[list[bpy.types.Material], list[bpy.types.Object]]:
    with bpy.data.libraries.load(str(ASSETS / "grain_assets.blend"), assets_only=True) as (source, target):
        target.materials, target.objects = list(source.materials), list(source.objects)
    return target.materials, target.objects


def test_every_look_and_shape_is_an_asset(_: Path) -> None:
    from grain.scene.look import grain_meshes, look_library, volume_material
    materials, objects = load()
    assert {item.name for item in materials} == {entry.material for entry in look_library.LOOKS.values()} | {
        volume_material.MATERIAL_NAME, volume_material.WET_NAME}
    assert {item.name for item in objects} == {f"Grain {kind.title()}" for kind in grain_meshes.KINDS}
    lines = (ASSETS / "blender_assets.cats.txt").read_text().splitlines()
    known = {line.split(":")[0] for line in lines if line.count(":") == 2}
    for item in (*materials, *objects):
        assert item.asset_data is not None and item.asset_data.catalog_id in known, item.name
        assert len(item.asset_data.description) > 10, item.name


def test_assets_are_of_this_version(_: Path) -> None:
    """addon/make_assets.py was run after the last change of shapes and looks."""
    from grain.scene.look import grain_meshes, look_library, sand_nodes
    materials, objects = load()
    for kind in grain_meshes.KINDS:
        made, kept = grain_meshes.make(kind, "fresh"), next(item for item in objects if item.name == f"Grain {kind.title()}").data
        assert len(made.vertices) == len(kept.vertices), kind
        places = [np.empty(3 * len(made.vertices), np.float32) for _ in range(2)]
        for mesh, place in zip((made, kept), places):
            mesh.vertices.foreach_get("co", place)
        assert np.allclose(*places, atol=1e-4), f"{kind}: run addon/make_assets.py"
    for kind, entry in look_library.LOOKS.items():
        kept = next(item for item in materials if item.name == entry.material)
        kept.name = "kept"
        made = sand_nodes.material(kind)
        # From 4.0 on Blender adds nodes when it reads materials of before.
        is_same = bpy.app.version >= (4, 0, 0) or len(made.node_tree.nodes) == len(kept.node_tree.nodes)
        assert made != kept and is_same, f"{kind}: run addon/make_assets.py"
        ramps = [[(round(element.position, 4), *(round(c, 4) for c in element.color)) for element in
                  next(node for node in item.node_tree.nodes if node.type == 'VALTORGB').color_ramp.elements]
                 for item in (made, kept)]
        assert ramps[0] == ramps[1], f"{kind}: run addon/make_assets.py"


def test_library_is_added_to_the_preferences_once(_: Path) -> None:
    libraries = bpy.context.preferences.filepaths.asset_libraries
    before = len(libraries)
    assert bpy.ops.grain.asset_library_add() == {'FINISHED'}
    added = [library for library in libraries if Path(library.path) == ASSETS]
    assert len(added) == 1 and added[0].name == "Grain" and len(libraries) == before + 1
    assert not bpy.ops.grain.asset_library_add.poll()
