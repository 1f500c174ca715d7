# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes addon/grain/assets/grain_assets.blend and its catalogue: materials, grain shapes, the fog and dust material, as assets for
Blender's Asset Browser.

    blender -b --factory-startup --python addon/make_assets.py

Everything comes from the add-on's own code, so what the Asset Browser offers is what a bake makes. Run it again after a
change of look_library.py, sand_nodes.py or grain_meshes.py; tests/blender/test_assets.py says when it was forgotten.
"""
import sys
import uuid
from pathlib import Path

import bpy

HERE = Path(__file__).resolve().parent
TARGET = HERE / "grain" / "assets"
CATALOGUES = ("Materials", "Shapes", "Volumes")


def catalogue_id(name: str) -> str:
    """The same in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"grain/{name}"))


def mark(item: bpy.types.ID, catalogue: str, description: str) -> None:
    item.use_fake_user = True
    item.asset_mark()
    item.asset_data.catalog_id = catalogue_id(catalogue)
    item.asset_data.description = description
    item.asset_data.author = "Grain"
    for tag in ("grain", catalogue.lower()):
        item.asset_data.tags.new(tag)


def main() -> None:
    sys.path.insert(0, str(HERE))
    import addon_utils
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("grain")
    from grain.scene.look import grain_meshes, look_library, sand_nodes, volume_material
    for kind, entry in look_library.LOOKS.items():
        mark(sand_nodes.material(kind), "Materials", f"{entry.description}. For grains as points or instances, wet ones darker")
    for kind in grain_meshes.KINDS:
        mesh = grain_meshes.make(kind, f"Grain {kind.title()}")
        mesh.materials.append(sand_nodes.material({'ANGULAR': 'GRAVEL', 'CUBE': 'SALT', 'RICE': 'RICE', 'BEAN': 'COFFEE'}.get(kind, 'SAND')))
        item = bpy.data.objects.new(mesh.name, mesh)
        bpy.context.scene.collection.objects.link(item)
        mark(item, "Shapes", "A grain in the ball of radius 1: choose it in Display > Shape > Object")
    mark(volume_material.new_material(), "Volumes", "Fog and dust of sand, for a Grain Volume object")
    mark(volume_material.wet_material(), "Volumes", "Wet sand, for the mesh of a volume's surface")
    TARGET.mkdir(exist_ok=True)
    lines = ["VERSION 1", "", *(f"{catalogue_id(name)}:Grain/{name}:Grain-{name}" for name in CATALOGUES), ""]
    (TARGET / "blender_assets.cats.txt").write_text("\n".join(lines), "utf-8")
    addon_utils.disable("grain")
    bpy.context.preferences.filepaths.save_version = 0
    bpy.ops.wm.save_as_mainfile(filepath=str(TARGET / "grain_assets.blend"), compress=True)


if __name__ == "__main__":
    main()
