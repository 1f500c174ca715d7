# SPDX-License-Identifier: GPL-3.0-or-later
"""The components of a release, from libgrain/platforms/sources.json, with the notices that came with their sources."""
import json
from pathlib import Path
from typing import Any

from .components import Component, whole_notice
from .platforms import PLATFORMS, Platform
from .tree import ROOT, fail

LIST = ROOT / "libgrain/platforms/sources.json"
BUILT = ROOT / "build/platforms"
FIELDS = ("name", "version", "origin", "licence", "licence_files", "homepage", "used_in", "platforms")
ORIGINS = ("source", "zig", "system", "tree")


def compiler_folder() -> Path:
    """The Python package that the compiler of macOS, and of C++ on Linux, comes as."""
    folder = next(BUILT.glob("zig/lib/python3*/site-packages/ziglang"), None)
    if folder is None:
        fail(f"no compiler in {BUILT / 'zig'}: ./build.sh release puts it there")
    return folder


def licence_folder(row: dict[str, Any]) -> Path:
    """What the paths of licence_files are relative to."""
    if row["origin"] == "source":
        return BUILT / "sources" / f"{row['name']}-{row['version']}"
    if row["origin"] == "zig":
        return compiler_folder()
    if row["origin"] == "tree":  # third-party sources in our own repository
        return ROOT
    if row["origin"] == "system":  # of an installed package, by its whole path
        return Path("/")
    raise AssertionError(row["origin"])


def source_of(row: dict[str, Any]) -> str:
    if row["origin"] == "source":
        return f"{row['tarball']} of Debian's source package {row['source_package']}, {row['homepage']}"
    if row["origin"] == "tree":
        return f"the repository of Grain, {row['homepage']}"
    return row["homepage"]


def binaries_of(row: dict[str, Any], platform: Platform) -> tuple[str, ...]:
    names = {"libgrain": (platform.program, platform.library), "libgrain_vdb": (platform.volumes,)}
    unknown = set(row["used_in"]) - set(names)
    if unknown or not row["used_in"]:
        fail(f"{LIST}: {row['name']} is used in {', '.join(unknown) or 'nothing'}; known are {', '.join(names)}")
    return tuple(name for part, files in names.items() if part in row["used_in"] for name in files)


def rows() -> list[dict[str, Any]]:
    if not LIST.is_file():
        fail(f"{LIST} is missing, which lists what a release is made of")
    found = json.loads(LIST.read_text("utf-8"))["components"]
    for row in found:
        missing = [field for field in FIELDS if not row.get(field)]
        if missing:
            fail(f"{LIST}: {row.get('name', 'a component')} lacks {', '.join(missing)}")
        if row["origin"] not in ORIGINS:
            fail(f"{LIST}: {row['name']} has the unknown origin {row['origin']}")
        strays = set(row["platforms"]) - set(PLATFORMS)
        if strays:
            fail(f"{LIST}: {row['name']} names the unknown platform {', '.join(sorted(strays))}")
    return found


def of_platform(platform: Platform, origins: tuple[str, ...] = ORIGINS) -> list[Component]:
    """Everything in a release for the platform that has one of these origins."""
    found = []
    for row in rows():
        if platform.name not in row["platforms"] or row["origin"] not in origins:
            continue
        paths = [licence_folder(row) / name for name in row["licence_files"]]
        notice = whole_notice(row["name"], row["licence"], paths)
        found.append(Component(row["name"], row["version"], row["licence"], notice, binaries_of(row, platform),
                               source_of(row), row["homepage"], row.get("sha256", "")))
    return found
