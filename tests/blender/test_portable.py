# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects that were moved, renamed, copied from Windows, or lie where nothing can be written: right, or a sentence that helps."""
import json
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import harness
import numpy as np
import support
from baked import baked_scene, cached_heights, heights, shown_message


def bake_refused() -> str:
    try:
        bpy.ops.grain.bake()
    except RuntimeError as error:
        return str(error)
    raise AssertionError("the bake was not refused")


def test_a_moved_and_renamed_project_plays(folder: Path) -> None:
    (folder / "one").mkdir()
    baked_scene(folder / "one", 3)
    support.save(folder / "one")
    shutil.move(folder / "one", folder / "other place")
    (folder / "other place/test.blend").rename(folder / "other place/renamed.blend")
    bpy.ops.wm.open_mainfile(filepath=str(folder / "other place/renamed.blend"))
    scene = bpy.context.scene
    scene.frame_set(3)
    assert np.array_equal(heights(scene), cached_heights(folder / "other place", 3)) and shown_message(scene) == ""


def test_separators_of_windows(folder: Path) -> None:
    from grain.scene import paths
    scene = support.small_scene(2)
    support.save(folder)
    scene.grain.active.cache_folder = "//caches\\shot 1\\"
    bpy.ops.grain.bake()
    assert (folder / "caches/shot 1/coarse_000002.grain").is_file()
    if sys.platform == "win32":
        scene.grain.active.cache_folder = "\\\\server\\share\\sand\\..\\other\\"
        assert str(paths.cache_folder(scene.grain.active)) == "\\\\server\\share\\other"
        for path, fault in (("/mnt/sand", "of Linux"), ("D:sand", "no slash"), ("\\sand", "no drive")):
            scene.grain.active.cache_folder = path
            assert fault in bake_refused(), path
        return
    for path in ("D:\\jobs\\sand", "d:/jobs/sand", "\\\\server\\share"):
        scene.grain.active.cache_folder = path
        assert "is a Windows path" in bake_refused()
        scene.frame_set(2)
        assert "is a Windows path" in shown_message(scene) and len(heights(scene)) == 0
    assert not list(Path.cwd().glob("D:*"))


def test_missing_cache(folder: Path) -> None:
    scene = baked_scene(folder, 2)
    shutil.rmtree(folder / "grain_cache")
    scene.frame_set(1)
    assert len(heights(scene)) == 0 and "No baked frames in" in shown_message(scene)
    assert bpy.ops.grain.bake() == {'FINISHED'} and shown_message(scene) == ""


def test_cache_of_another_version(folder: Path) -> None:
    scene = baked_scene(folder, 2)
    path = folder / "grain_cache/Sand/cache.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "format": 99}))
    scene.frame_set(1)
    assert "made by a newer Grain. Update the add-on" in shown_message(scene)
    assert "made by a newer Grain" in bake_refused()
    path.write_text("{")
    scene.frame_set(2)
    assert "is damaged" in shown_message(scene)


def test_read_only_media(folder: Path) -> None:
    """Made immutable, as permissions alone do not stop an administrator."""
    scene = baked_scene(folder, 3)
    cache = folder / "grain_cache"
    if shutil.which("chattr") is None or subprocess.run(["chattr", "-R", "+i", cache], capture_output=True).returncode:
        raise harness.Skip("files cannot be made immutable here (chattr)")
    try:
        scene.frame_set(2)
        assert np.array_equal(heights(scene), cached_heights(folder, 2)), "plays from there"
        try:
            bpy.ops.grain.free()
            raise AssertionError("freed what cannot be deleted")
        except RuntimeError as error:
            assert "cannot be deleted" in str(error), error
        scene.frame_end = 5
        message = bake_refused()
        assert "cannot be written" in message and "Choose another cache folder" in message, message
    finally:
        subprocess.run(["chattr", "-R", "-i", cache], check=True)
    assert bpy.ops.grain.bake() == {'FINISHED'}


def test_folder_that_cannot_be_made(folder: Path) -> None:
    scene = support.small_scene(2)
    support.save(folder)
    scene.grain.active.cache_folder = "Q:\\no\\such drive" if sys.platform == "win32" else "/sys/grain"
    assert "cannot be written" in bake_refused()


def test_names_that_windows_reserves_and_disks_that_take_two_for_one(folder: Path) -> None:
    from grain.scene import paths
    scene = support.small_scene(2)
    support.save(folder)
    for name, expected in (("Aux", "Aux_"), ("com1", "com1_"), ("Auxiliary", "Auxiliary"), ("Sand.", "Sand_")):
        scene.grain.active.name = name
        assert paths.cache_folder(scene.grain.active).name == expected, name
    composed, pieces = Path("S\N{LATIN SMALL LETTER A WITH DIAERESIS}nd"), Path("sa\N{COMBINING DIAERESIS}ND")
    system, sys.platform = sys.platform, "darwin"
    try:
        assert paths._spelling(composed) == paths._spelling(pieces) != paths._spelling(Path("Sand"))
    finally:
        sys.platform = system
    if sys.platform == "linux":
        assert paths._spelling(composed) != paths._spelling(pieces)
