#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blenders beside the system's, as Python modules (`bpy` of Python's package index), each in a folder of build/bpy.

    python3 tests/blenders.py [--path PATH] [VERSION ...]

installs what is missing of them, the newest release of each version. A Blender needs just the Python it is built for,
looked for on the PATH given and where pyenv and uv keep theirs. What cannot be installed leaves a note beside its
folder, which the tests print as the reason for skipping it.
"""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

FOLDER = Path(__file__).resolve().parent.parent / "build/bpy"
# Kept for all clones: pip's own cache does not take what a server or a proxy marks as not to be stored.
WHEELS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grain/wheels"
# Blender -> the Python its module is built for. The only such table.
PYTHONS = {"4.2": "3.11", "4.5": "3.11", "5.0": "3.11", "5.1": "3.13", "5.2": "3.13"}
VERSIONS = tuple(PYTHONS)


def python_of(version: str) -> Path:
    """The Python that imports this Blender, once it is installed."""
    return FOLDER / version / "bin/python"


def reason_missing(version: str) -> str:
    note = _note(version)
    return note.read_text("utf-8").strip() if note.is_file() else "not installed; ./build.sh versions installs it"


def _note(version: str) -> Path:
    return FOLDER / f"{version}.reason"


# --- Pythons --------------------------------------------------------------------------------------

def _candidates(python: str, path: str) -> Iterator[Path]:
    """Where a Python of this version may be, the likeliest first."""
    for folder in path.split(os.pathsep):
        yield Path(folder or ".") / f"python{python}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{python}.*/bin/python{python}"), reverse=True)
    uv = shutil.which("uv", path=path)
    if uv is not None:
        found = subprocess.run([uv, "python", "find", "--no-python-downloads", python], capture_output=True, text=True)
        if found.returncode == 0:
            yield Path(found.stdout.strip())
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    yield from sorted(data.glob(f"uv/python/cpython-{python}.*/bin/python{python}"), reverse=True)


def _is_right(candidate: Path, python: str) -> bool:
    """Whether it runs, is of this version and can make an environment. pyenv puts a program of each name on the path
    that only complains unless its version was chosen; Debian's Python comes without ensurepip."""
    if not os.access(candidate, os.X_OK):
        return False
    test = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        asked = subprocess.run([str(candidate), "-I", "-c", test], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0 and asked.stdout.strip() == python


def find_python(python: str, path: str) -> Optional[Path]:
    return next((candidate for candidate in _candidates(python, path) if _is_right(candidate, python)), None)


# --- installing -----------------------------------------------------------------------------------

def install(version: str, path: str) -> None:
    """Raises RuntimeError with a sentence that says what to do. The folder appears only when all of it is there; a
    wheel that is kept is not fetched again."""
    needed = PYTHONS[version]
    python = find_python(needed, path)
    if python is None:
        raise RuntimeError(f"Blender {version} needs Python {needed} with its venv module, and none is here. Install "
                           f"it (`uv python install {needed}`, `pyenv install {needed}`, or your system's "
                           f"python{needed}-venv) and run ./build.sh versions again")
    place, part = FOLDER / version, FOLDER / f"{version}.part"
    for old in (place, part):
        shutil.rmtree(old, ignore_errors=True)
    pip, wanted, wheels = str(part / "bin/pip"), f"bpy=={version}.*", str(WHEELS)
    steps = ([str(python), "-m", "venv", str(part)],
             [pip, "download", "--quiet", "--only-binary", ":all:", "--dest", wheels, wanted],
             [pip, "install", "--quiet", "--no-index", "--find-links", wheels, wanted])
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(part, ignore_errors=True)
            said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            raise RuntimeError(f"Blender {version} could not be installed: "
                               f"{said[-1] if said else f'code {done.returncode}'}")
    part.rename(place)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", default=os.environ.get("PATH", ""), help="folders to look for Pythons in")
    parser.add_argument("versions", nargs="*", default=VERSIONS, metavar="VERSION")
    options = parser.parse_args()
    unknown = [version for version in options.versions if version not in PYTHONS]
    if unknown:
        parser.error(f"no such Blender here: {', '.join(unknown)}; there are {', '.join(VERSIONS)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for version in options.versions:
        if python_of(version).exists():
            continue
        print(f"installing Blender {version} as a Python module", flush=True)
        try:
            install(version, options.path)
            _note(version).unlink(missing_ok=True)
        except RuntimeError as error:
            _note(version).write_text(f"{error}\n", "utf-8")
            print(f"build.sh: {error}", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
