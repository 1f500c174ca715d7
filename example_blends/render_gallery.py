# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds, bakes, measures and renders the scenes of the gallery, and writes their table. `./build.sh gallery` runs it.

    python3 example_blends/render_gallery.py [NAME ...] [--small] [--time] [--preview] [--draft] [--no-bake]

A scene is a file of scenes/: it has a PLAN (plan.py), `build(size)`, which makes the scene from one number, and
`measure(bake)`, which returns facts (measure.Fact); tests/blender/test_gallery.py runs the small version of each and
asks that its facts hold. What is measured is kept in gallery.json, from which README.md is written.
"""
from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import gallery_table
import plan as plans

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
KEPT = HERE / "gallery.json"
PREVIEW_SHARE, PREVIEW_SAMPLES, PREVIEW_DELAY = 63, 9, 180  # %, and milliseconds between frames


def scene_names(wanted: list[str]) -> list[str]:
    def is_meant(part: str, name: str) -> bool:
        return part in (name, name.partition("_")[2])
    unknown = [part for part in wanted if not any(is_meant(part, name) for name in plans.names())]
    if unknown:
        sys.exit(f"no scene is called {', '.join(unknown)}. There are: " +
                 ", ".join(name.partition("_")[2] for name in plans.names()))
    return [name for name in plans.names() if not wanted or any(is_meant(part, name) for part in wanted)]


def environment(out: Path) -> dict[str, str]:
    """The add-on of the tree, in a folder of its own: nothing of the user's set-up is touched."""
    addons = out / "blender/scripts/addons"
    addons.mkdir(parents=True, exist_ok=True)
    if not (addons / "grain").exists():
        (addons / "grain").symlink_to(ROOT / "addon/grain")
    result = dict(os.environ, BLENDER_USER_SCRIPTS=str(out / "blender/scripts"),
                  BLENDER_USER_CONFIG=str(out / "blender/config"), OMP_WAIT_POLICY="passive")
    result.setdefault("GRAIN_LIBRARY_FOLDER", str(ROOT / "build/release/bin"))
    if not (Path(result["GRAIN_LIBRARY_FOLDER"]) / "grain").exists():
        sys.exit("nothing is built: run ./build.sh package first")
    return result


def run(out: Path, options: dict[str, Any]) -> dict[str, Any]:
    command = ["blender", "-b", "--factory-startup", "--python-exit-code", "1", "--python", str(HERE / "in_blender.py"),
               "--", json.dumps(options)]
    process = subprocess.Popen(command, env=environment(out), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines, result = [], None
    for line in process.stdout:
        lines.append(line)
        if line.startswith("RESULT "):
            result = json.loads(line.removeprefix("RESULT "))
        elif line.startswith("Grain:") and sys.stdout.isatty():
            print("\r" + line.strip().ljust(100), end="", flush=True)
    if process.wait() != 0 or result is None:
        sys.exit(f"{options['scene']} failed:\n" + "".join(lines[-30:]))
    return result


def make_preview(out: Path, name: str, frames: range, request: dict[str, Any]) -> None:
    """An animation that pages show by themselves."""
    if shutil.which("img2webp") is None:
        sys.exit("previews need img2webp, of the Debian package webp")
    folder = out / name / "preview"
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {str(folder / f"{frame:04d}.png"): frame for frame in frames}
    run(out, {**request, "bake": False, "pictures": pictures, "share": PREVIEW_SHARE, "samples": PREVIEW_SAMPLES})
    subprocess.run(["img2webp", "-loop", "0", "-lossy", "-q", "55", "-m", "5", "-d", str(PREVIEW_DELAY), *pictures,
                    "-o", str(HERE / f"{name}.webp")], check=True, capture_output=True)


def request_for(name: str, plan: plans.Plan, options: argparse.Namespace, out: Path) -> dict[str, Any]:
    """What Blender is to do."""
    folder = out / (name + ("_small" if options.small else "_time" if options.time else ""))
    folder.mkdir(parents=True, exist_ok=True)
    if not (options.no_bake or options.preview):  # else a simulation of an older form of the scene would be asked to go on
        shutil.rmtree(folder / "grain_cache", ignore_errors=True)
    request = {"scene": name, "out": str(folder), "size": "picture", "blend": "", "bake": not options.no_bake,
               "pictures": {}, "share": 100, "samples": plan.samples}
    if options.small or options.draft:
        size = plan.small if options.small else plan.picture
        return {**request, "size": "small" if options.small else "picture", "share": 50, "samples": 24,
                "pictures": {str(folder / f"draft{suffix}.jpg"): min(frame, size.frames)
                             for suffix, frame in plan.pictures.items()}}
    return {**request, "blend": str(HERE / f"{name}.blend"),
            "pictures": {str(HERE / f"{name}{suffix}.jpg"): frame for suffix, frame in plan.pictures.items()}}


def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def keep(name: str, place: list[str], result: dict[str, Any]) -> None:
    print(f"{name}: {json.dumps(result)}", flush=True)
    results = kept()
    found = results.setdefault(name, {})
    for key in place:
        found = found.setdefault(key, {})
    found.update(result)
    KEPT.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scenes; without any: all")
    parser.add_argument("--small", action="store_true", help="the version of the tests: seconds, a small picture in the out folder")
    parser.add_argument("--time", action="store_true", help="seconds for a frame at the paper's counts; no picture")
    parser.add_argument("--of", default="", help="only the timing whose name holds this")
    parser.add_argument("--preview", action="store_true", help="the small animation, of scenes that have one")
    parser.add_argument("--draft", action="store_true", help="a small picture, in the out folder")
    parser.add_argument("--no-bake", action="store_true", help="render what is baked already")
    parser.add_argument("--table", action="store_true", help="only write README.md again")
    parser.add_argument("--out", type=Path, default=ROOT / "build/gallery")
    options = parser.parse_args()
    out = options.out.resolve()
    for name in [] if options.table else scene_names(options.names):
        plan = plans.read(name)
        if options.preview and plan.preview is None:
            continue
        request = request_for(name, plan, options, out)
        if options.preview:
            make_preview(out, name, plan.preview, {**request, "blend": ""})
        elif options.time:
            for number, timing in enumerate(plan.timings):
                if options.of in timing.of:
                    Path(request["out"]).mkdir(parents=True, exist_ok=True)  # the one before took it away
                    keep(name, ["timed", timing.of], run(out, {**request, "blend": "", "pictures": {}, "size": number}))
                    shutil.rmtree(request["out"], ignore_errors=True)
        else:
            keep(name, ["small" if options.small else "picture"], run(out, request))
    gallery_table.write(kept())


if __name__ == "__main__":
    main()
