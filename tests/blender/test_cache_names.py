# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of a folder are a cache's own, and may be deleted: the library and the add-on must agree, name by name."""
import subprocess
from pathlib import Path

import bpy
import support

NUMBERS = ("000001", "000000", "123456", "1234567", "-00005", "-123456", "1", "00001", "0000001", "-5", "-00000", "-000005",
           "00000x", "", " 00001", "+00001")
VOLUME_NUMBERS = ("0001", "1234", "12345", "-005", "-1234", "1", "00001", "-5", "-000")
NAMES = [*(f"{kind}_{number}.grain" for kind in ("coarse", "grains", "birth", "checkpoint") for number in NUMBERS),
         *(f"volume_{number}.vdb" for number in VOLUME_NUMBERS), "checkpoint.grain", "coarse.grain", "cache.json",
         "Cache.json", "notes.txt", "coarse_000001.grain.bak", "my_coarse_000001.grain", "volume_0001.grain", ".part"]
STRANGER = "not written by Grain"


def test_library_and_add_on_know_the_same_files(folder: Path) -> None:
    from grain.engine import cache
    from grain.scene import paths
    patterns = (cache._OWN, cache._OWN_GRAINS, cache._OWN_VOLUME)
    scene = support.small_scene(2)
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    place = paths.cache_folder(scene.grain.active)
    names = [*NAMES, *(f"{name}.part" for name in NAMES)]
    for name in names:
        if not (place / name).exists():
            (place / name).write_text(STRANGER)
    grain = support.BUILD / "bin/grain"
    done = subprocess.run([grain, "bake", place / "job", "--cache", place, "--restart"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    spared = {path.name for path in place.iterdir() if path.is_file() and path.read_bytes() == STRANGER.encode()}
    assert {"notes.txt", "coarse_1.grain"} <= spared, "what Grain did not write was deleted"
    for name in names:
        is_own = any(pattern.fullmatch(name) for pattern in patterns)
        assert is_own == (name not in spared), f"the library {'spares' if is_own else 'deletes'} '{name}', the add-on does not"
