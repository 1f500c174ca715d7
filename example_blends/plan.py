# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene of the gallery says of itself. Needs no Blender."""
from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Size:
    """One resolution of a scene."""
    particles: int  # simulated, about; bodies where the scene has no sand
    frames: int  # baked; 0: nothing moves
    grains: float = 0.0  # millions of render grains; 0: the particles are what is seen
    as_paper: bool = False  # to be timed: with the paper's grains, from where the action begins
    variant: str = ""  # what else is different, in the scene's own words


@dataclass(frozen=True)
class Timing:
    """A run at a paper's counts, and what the paper says of its own."""
    of: str  # "Bell's, slippery"; empty where there is one only
    size: Size
    paper_counts: str
    paper_seconds: str  # for a frame


@dataclass(frozen=True)
class Plan:
    title: str
    figure: str  # of the paper: "Bell 2005, figure 1"; empty where none of them has it
    what: str  # a sentence
    small: Size  # in the tests: seconds
    picture: Size  # of the .blend, the picture and the preview
    picture_frame: int
    timings: tuple[Timing, ...] = ()  # for `--time`
    paper_counts: str = ""  # where nothing is timed
    preview: Optional[range] = None  # frames of a small animation
    more_pictures: dict[str, int] = field(default_factory=dict)  # suffix of the file, frame
    samples: int = 20  # of the picture

    @property
    def pictures(self) -> dict[str, int]:
        """Suffix of the file, frame."""
        return {"": self.picture_frame, **self.more_pictures}


def names() -> list[str]:
    """Every scene, in the order of the gallery."""
    return sorted(path.stem for path in (HERE / "scenes").glob("[0-9]*.py"))


def read(name: str) -> Plan:
    """PLAN of a scene's file, without running the file, which needs Blender."""
    tree = ast.parse((HERE / "scenes" / f"{name}.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "PLAN":
            code = compile(ast.Expression(node.value), name, "eval")
            return eval(code, {"Plan": Plan, "Size": Size, "Timing": Timing, "range": range})  # noqa: S307 - our own file
    raise ValueError(f"scenes/{name}.py has no PLAN")
