# SPDX-License-Identifier: GPL-3.0-or-later
"""What addon/package.py refuses: it names the file and does not leave half a release behind."""
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import release


def package(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(release.ROOT / "addon/package.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def refused(expected: str, *arguments: object) -> None:
    done = package(*arguments)
    assert done.returncode != 0, f"{arguments} was not refused"
    assert expected in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_platform_needs_its_three_binaries(folder: Path) -> None:
    binaries = folder / "bin"
    shutil.copytree(release.BINARIES / "windows-x64/bin", binaries)
    (binaries / "grain_vdb.dll").unlink()
    out = ("--out", folder / "out")
    refused("must hold exactly grain.exe, grain.dll", "--platform", "windows-x64", "--binaries", binaries, *out)
    refused("must hold exactly grain, libgrain.so", "--platform", "linux-x64", "--binaries", binaries, *out)
    refused("there is nothing", "--platform", "linux-x64", "--binaries", folder / "nowhere", *out)
    assert not (folder / "out").exists(), "nothing is written by halves"


def test_a_release_is_of_one_version_and_one_kind(folder: Path) -> None:
    shutil.copy2(release.extension("linux-x64"), folder)
    shutil.copy2(release.extension("linux-x64"), folder / "grain-0.0.1-linux-x64.zip")
    refused("grain-0.0.1-linux-x64.zip", "--publish", "--out", folder)
    (folder / "grain-0.0.1-linux-x64.zip").rename(folder / f"grain-{release.version()}-legacy.zip")
    refused(f"grain-{release.version()}-legacy.zip", "--publish", "--out", folder)
    refused("no extension zips", "--publish", "--out", folder / "nowhere")


def test_arguments_that_do_not_go_together(folder: Path) -> None:
    refused("--publish", "--out", folder)
    refused("--publish", "--publish", "--binaries", folder, "--out", folder)
    refused("--publish", "--publish", "--platform", "linux-x64", "--out", folder)
    refused("invalid choice", "--platform", "amiga", "--binaries", folder, "--out", folder)
