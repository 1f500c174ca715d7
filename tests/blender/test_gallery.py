# SPDX-License-Identifier: GPL-3.0-or-later
"""The small version of the scenes of the gallery: it bakes, and what was measured of it holds."""
import sys
from collections.abc import Callable
from pathlib import Path

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


def test_files_are_small_and_have_no_bake(_: Path) -> None:
    """What is in the repository can be opened without anything else and takes no room."""
    for name in plan.names():
        file = EXAMPLES / f"{name}.blend"
        assert not file.exists() or file.stat().st_size < 1_000_000, (name, file.stat().st_size)
