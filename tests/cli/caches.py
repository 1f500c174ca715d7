# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of cache folders share: their files as hashes, small disks, damage."""
from __future__ import annotations

import hashlib
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import Skip


def digest(cache: Path) -> dict[str, str]:
    """Path -> hash of every file of all stages but locks, and distance fields, which any bake makes again."""
    files = [p for p in sorted(cache.rglob("*")) if p.name != "lock" and p.parent.name != "sdf" and p.is_file()]
    return {str(p.relative_to(cache)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def unfinished(cache: Path) -> list[Path]:
    return list(cache.rglob("*.part"))


def flipped(content: bytes, pick: random.Random) -> bytes:
    """With one bit of it another."""
    at = pick.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << pick.randrange(8)]) + content[at + 1:]


@contextmanager
def small_disk(folder: Path, options: str) -> Iterator[Path]:
    """A disk of its own, mounted at this folder with the options of a tmpfs."""
    folder.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True).returncode != 0:
        raise Skip("mounting a small tmpfs needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
