# SPDX-License-Identifier: GPL-3.0-or-later
"""One trial of a campaign: what it draws its moments and places from, and what it works on."""
from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from scenes import SOLVERS, Scene, Scenes


@dataclass
class Trial:
    """Everything follows from `kind`, `seed` and `number`, but for what the scheduler of the system decides."""

    kind: str
    seed: int
    number: int
    folder: Path
    scenes: Scenes
    pick: random.Random = field(init=False)
    scene: Scene = field(init=False)
    story: list[str] = field(default_factory=list)  # what was done so far, told with a finding

    def __post_init__(self) -> None:
        self.pick = random.Random(f"{self.kind} {self.seed} {self.number}")
        self.scene = self.scenes[self.pick.choice(list(SOLVERS))]
        self.tell(self.scene.name)

    @property
    def name(self) -> str:
        """What `./build.sh faults --trial` takes."""
        return f"{self.kind}:{self.seed}:{self.number}"

    def tell(self, text: str) -> None:
        self.story.append(text)

    def choose(self, choices: list | tuple) -> object:
        return self.pick.choice(choices)
