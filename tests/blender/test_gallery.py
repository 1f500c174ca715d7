# SPDX-License-Identifier: GPL-3.0-or-later
"""The small version of the scenes of the gallery: it bakes, and what was measured of it holds."""
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import bpy
import support

EXAMPLES = support.ROOT / "example_blends"
sys.path.append(str(EXAMPLES))
import in_blender  # noqa: E402
import plan  # noqa: E402


def scene_test(name: str) -> Callable[[Path], None]:
    def test(folder: Path) -> None:
        module = in_blender.load(name)
        numbers, _ = in_blender.bake_and_measure(module, module.PLAN.small, folder / f"{name}.blend")
        wrong = [text for text, holds in numbers["facts"] if not holds]
        assert not wrong, wrong
        assert numbers["facts"], "nothing is measured"
    test.__name__ = f"test_{name[3:]}"
    return test


for _name in plan.names():
    globals()[f"test_{_name[3:]}"] = scene_test(_name)


FILES = sorted(EXAMPLES.glob("*.blend"))


def test_every_scene_has_its_file(_: Path) -> None:
    made = {script.stem.removeprefix("make_") for script in EXAMPLES.glob("make_*.py")}
    assert {"01_suzanne", "02_crates"} <= made
    assert {file.stem for file in FILES} == {*plan.names(), *made}


def test_files_are_small_and_have_no_bake(_: Path) -> None:
    """What is in the repository takes no room, opens without anything else, and can be baked: its job is whole."""
    from grain.scene import simulations
    from grain.scene.read import snapshot
    without_sand = []
    for file in FILES:
        assert file.stat().st_size < 1_000_000, (file.name, file.stat().st_size)
        bpy.ops.wm.open_mainfile(filepath=str(file), load_ui=False)
        assert not any(image.packed_file for image in bpy.data.images), file.name
        for simulation in simulations.of_file():
            shown = simulation.sand_object
            assert shown is None or len(shown.data.vertices) == 0, f"{file.name} holds {len(shown.data.vertices)} particles"
        try:
            taken = snapshot.take(bpy.context.scene.grain.active, bpy.context.view_layer, bpy.context.scene.frame_start)
            assert not taken.warnings, (file.name, taken.warnings)
        except snapshot.SnapshotError as error:
            assert "There is no sand" in str(error), (file.name, error)
            without_sand.append(file.stem)
    assert without_sand == ["13_cover"], without_sand


def test_the_first_two_files_bake(folder: Path) -> None:
    """With grains of three times the size, for two frames."""
    for name in ("01_suzanne", "02_crates"):
        shutil.copy(EXAMPLES / f"{name}.blend", folder)
        bpy.ops.wm.open_mainfile(filepath=str(folder / f"{name}.blend"), load_ui=False)
        scene = bpy.context.scene
        scene.frame_end = 2
        scene.grain.active.particle_radius *= 3.0
        assert bpy.ops.grain.bake() == {'FINISHED'}
        scene.frame_set(2)
        assert len(scene.grain.active.sand_object.data.vertices) > 100, name
