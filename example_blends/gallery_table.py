# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes README.md of the gallery from the plans of the scenes and what was measured (gallery.json)."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import plan as plans

HERE = Path(__file__).resolve().parent
NOT_MEASURED = "not measured"

HEAD = """# Example scenes

Small files without baked data, made by the scripts beside them. Open one, press *Bake* in *Properties > Scene > Grain Simulation*, play, render.

| scene | shows | made by |
|---|---|---|
| [01_suzanne.blend](01_suzanne.blend) | a block of sand falls on Suzanne in a tray, table-top size; `./build.sh` bakes and renders it ([picture](01_suzanne.png)) | [make_01_suzanne.py](make_01_suzanne.py) |
| [02_crates.blend](02_crates.blend) | rigid bodies: crates and balls drop into a tray of sand ([picture](02_crates.png)) | [make_02_crates.py](make_02_crates.py) |

`python3 example_blends/render_demo.py --quick` bakes larger grains and renders a smaller picture.

## Gallery: figures from papers, and shots they could not do
`./build.sh gallery NAME` builds a scene, bakes it through the add-on, measures it, renders its picture and writes its row of this table. `--small` makes the
small version used by the tests, `--time` measures a frame with the particle counts of the paper, and `--preview` makes the animation. A scene is a file in
[scenes](scenes), built for any number of particles. The numbers 06, 25 and 26 were never given.

- *Our bake* is the bake in the picture: processor seconds per frame (simulation + render grains, on a machine with other work) and the peak memory of
  the program.
- *With the paper's counts*: seconds per frame on the clock of an idle machine with two cores (AMD Zen 3, 2.45 GHz), over frames in which the sand moves.
  Bell's splash, avalanche, bulldozer and rings are also timed without Blender ([measurements](../libgrain/docs/measurements/rigid.md)).
- *Paper*: the figures it reports (Bell et al. 2005: PCs with 3 GHz; Ihmsen et al. 2013: 12 cores with 3.46 GHz, frames of 20 ms).

| picture | scene and measurements | our bake | with the paper's counts | paper |
|---|---|---|---|---|
"""

TAIL = """
Made by [render_gallery.py](render_gallery.py) from [gallery.json](gallery.json).
"""


def write(results: dict[str, Any]) -> None:
    rows = [row(name, plans.read(name), results.get(name, {})) for name in plans.names()]
    (HERE / "README.md").write_text(HEAD + "\n".join(rows) + "\n" + TAIL, "utf-8")


def row(name: str, plan: plans.Plan, found: dict[str, Any]) -> str:
    return "| " + " | ".join((_pictures(name, plan), _scene(name, plan, found),
                              _ours(found.get("picture", {})), _timed(plan, found.get("timed", {})), _paper(plan))) + " |"


def _pictures(name: str, plan: plans.Plan) -> str:
    files = [f"{name}{suffix}.jpg" for suffix in plan.pictures] + [f"{name}.webp"]
    return "<br>".join(f'<img src="{file}" width="300">' for file in files if (HERE / file).exists()) or "no picture yet"


def _scene(name: str, plan: plans.Plan, found: dict[str, Any]) -> str:
    kind = "picture" if found.get("picture", {}).get("facts") else "small"
    facts = "; ".join(text for text, _ in found.get(kind, {}).get("facts", ()))
    title = f"**[{plan.title}]({name}.blend)**" if (HERE / f"{name}.blend").exists() else f"**{plan.title}**"
    figure = f" ({plan.figure})" if plan.figure else ""
    measured = f"<br>*Measured{' in the small version' if kind == 'small' else ''}:* {facts}." if facts else ""
    return f"{title}{figure}. {plan.what}{measured} [Script](scenes/{name}.py)"


def _counts(found: dict[str, Any]) -> str:
    parts = []
    if found.get("particles"):
        parts.append(f"{found['particles']:,} particles")
    if found.get("bodies"):
        parts.append(f"{found['bodies']:,} " + ("body" if found["bodies"] == 1 else "bodies"))
    if found.get("grains"):
        parts.append(f"{found['grains'] / 1e6:.3g} M grains")
    return ", ".join(parts)


def _seconds(found: dict[str, Any], suffix: str = "") -> str:
    text = f"{found['simulate' + suffix]:.2g}"
    return text + (f" + {found['upsample' + suffix]:.2g} s" if "upsample" in found else " s")


def _memory(found: dict[str, Any]) -> str:
    return f"<br>{found['memory'] / 1e6:.0f} MB" if found.get("memory") else ""


def _ours(found: dict[str, Any]) -> str:
    if found and "simulate" not in found:
        return ""  # nothing moves
    if not found:
        return NOT_MEASURED
    return f"{_counts(found)}, {found['frames']} frames<br>{_seconds(found)}{_memory(found)}"


def _timed(plan: plans.Plan, found: dict[str, Any]) -> str:
    return "<br>".join(_label(timing) + _timing(found.get(timing.of, {})) for timing in plan.timings)


def _timing(found: dict[str, Any]) -> str:
    if "simulate_wall" not in found:
        return NOT_MEASURED
    return f"{_counts(found)}, {found['frames'] - 1} frames<br>**{_seconds(found, '_wall')}**{_memory(found)}"


def _label(timing: plans.Timing) -> str:
    return f"{timing.of}: " if timing.of else ""


def _paper(plan: plans.Plan) -> str:
    return "<br>".join(f"{_label(timing)}{timing.paper_counts}<br>{timing.paper_seconds} s" for timing in plan.timings) or plan.paper_counts
