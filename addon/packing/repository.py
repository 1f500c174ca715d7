# SPDX-License-Identifier: GPL-3.0-or-later
"""What turns a folder of zips into a repository of ours: the index that Blender reads, and checksums.

The index has the form that `blender --command extension server-generate` writes (tests/release compares the two).
Archives are named relative to it, so that the folder may lie on any server, or on a disk.
"""
import hashlib
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import tomllib

from .tree import MANIFEST, fail

CHECKSUMS = "SHA256SUMS"
INDEX = "index.json"
EXTENSION = re.compile(r"grain-[0-9.]+-(?!legacy)[a-z]+-[a-z0-9]+\.zip")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def extensions(folder: Path) -> list[Path]:
    """The zips for Blender 4.2 and later. Those for earlier versions are no matter of an index."""
    return sorted(path for path in folder.glob("grain-*.zip") if EXTENSION.fullmatch(path.name))


def entry(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        manifest = tomllib.loads(archive.read(MANIFEST).decode())
    if "wheels" in manifest:
        fail(f"{path.name} has wheels, which the index would have to tell the Python versions of")
    return manifest | {"archive_url": f"./{path.name}", "archive_size": path.stat().st_size,
                       "archive_hash": f"sha256:{sha256(path)}"}


def write_index(folder: Path) -> Path:
    zips = extensions(folder)
    if not zips:
        fail(f"no extension zips in {folder}")
    entries = [entry(path) for path in zips]
    if len({item["version"] for item in entries}) != 1:
        fail(f"zips of several versions in {folder}: " + ", ".join(path.name for path in zips))
    target = folder / INDEX
    target.write_text(json.dumps({"version": "v1", "blocklist": [], "data": entries}, indent=2) + "\n", "utf-8")
    return target


def write_checksums(folder: Path) -> Path:
    """Of everything in the folder but itself, as `sha256sum --check` reads them."""
    target = folder / CHECKSUMS
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path != target)
    target.write_text("".join(f"{sha256(folder / name)}  {name}\n" for name in names), "utf-8")
    return target
