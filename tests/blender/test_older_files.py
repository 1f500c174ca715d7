# SPDX-License-Identifier: GPL-3.0-or-later
"""A .blend saved with an earlier add-on (tests/data/3007b5f, by its commit) opens with every setting it had.

All settings of its second simulation and of an object in each role are other than their defaults; settings.json has them all.
"""
import json
import shutil
from pathlib import Path

import bpy
import support

OLDER = support.ROOT / "tests/data/3007b5f"
# Settings that are called otherwise now, or are gone: old end of the path -> new one, None where it is gone, with the reason.
RENAMED: dict[str, str | None] = {}


def value_of(path: str) -> object:
    """As noted then: simulations[0].solver, objects["Block"].source.velocity."""
    scene = bpy.context.scene
    place, _, rest = path.partition("].")
    found = scene.grain if place.startswith("simulations") else None
    if found is None:
        found = bpy.data.objects[json.loads(place.removeprefix("objects["))].grain
    else:
        found = found.simulations[int(place.removeprefix("simulations["))]
    for name in filter(None, rest.split(".")):
        found = getattr(found, name)
    return list(found) if hasattr(found, "__len__") and not isinstance(found, str) else found


def is_same(found: object, expected: object) -> bool:
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    return abs(found - expected) <= 1e-6 * abs(expected) if isinstance(expected, float) else found == expected


def test_every_setting_is_what_it_was(_: Path) -> None:
    expected = json.loads((OLDER / "settings.json").read_text("utf-8"))
    assert len(expected) > 500
    bpy.ops.wm.open_mainfile(filepath=str(OLDER / "settings.blend"), load_ui=False)
    wrong = []
    for path, value in expected.items():
        end = path.partition("].")[2]
        if RENAMED.get(end, end) is None:
            continue
        now = path.removesuffix(end) + RENAMED.get(end, end)
        try:
            if not is_same(value_of(now), value):
                wrong.append(f"{now} is {value_of(now)!r}, was {value!r}")
        except AttributeError as error:
            wrong.append(f"{now}: {error}")
    assert not wrong, f"{len(wrong)} settings: {wrong[:10]}"


def test_it_bakes(folder: Path) -> None:
    """Its first simulation, with the settings of then in its objects, but for paint that no mesh has."""
    shutil.copy(OLDER / "settings.blend", folder)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "settings.blend"), load_ui=False)
    for path, value in json.loads((OLDER / "settings.json").read_text("utf-8")).items():
        if value == "changed" and path.startswith("objects"):
            owner, _, name = path.rpartition(".")
            setattr(value_of(owner), name, "")
    scene = bpy.context.scene
    scene.frame_end, scene.grain.active_index = 2, 0
    assert bpy.ops.grain.bake() == {'FINISHED'}
    scene.frame_set(2)
    assert len(scene.grain.active.sand_object.data.vertices) > 100
