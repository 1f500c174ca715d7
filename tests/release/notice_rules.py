# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the files of a zip give notice of everybody whose work is inside.

What is inside is known twice: from the list that the release was built by, and from words that some components leave in
the binaries. The texts are not taken on trust either: each licence has a phrase that no other text holds.
"""
from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import release

COMPONENTS = release.ROOT / "libgrain/platforms/sources.json"

PHRASES = {
    "Apache-2.0": "terms and conditions for use, reproduction, and distribution",
    "BSD-2-Clause": "redistribution and use in source and binary forms",
    "BSD-3-Clause": "redistribution and use in source and binary forms",
    "BSL-1.0": "boost software license",
    "GCC-exception-3.1": "gcc runtime library exception",
    "GPL-3.0-or-later": "gnu general public license version 3",
    "LGPL-2.1-or-later": "gnu lesser general public license version 2.1",
    "LLVM-exception": "llvm exceptions to the apache 2.0 license",
    "MIT": "permission is hereby granted, free of charge",
    "MPL-2.0": "mozilla public license version 2.0",
    "ZPL-2.1": "does not give you the right to use servicemarks",
    "Zlib": "provided 'as-is', without any express or implied warranty",
}
# Words that only a component's own code holds, and what the list calls it.
FINGERPRINTS = {
    rb"inflate 1\.[0-9.]+ Copyright": "zlib",
    rb"Unknown frame descriptor": "zstd",
    rb"unable to decode byte 0x%x": "jansson",
    rb"openvdb::v\d|N7openvdb": "OpenVDB",
    rb"TBB Warning": "oneTBB",
    rb"BLOSC_NTHREADS|blosclz": "c-blosc",
    rb"libc\+\+abi: ": "libc++",
    rb"Mingw-w64 runtime failure": "MinGW-w64",
    rb"libgomp: ": "libgomp",
    rb"N9__gnu_cxx": "libstdc++",
}


def components(platform: str) -> list[dict[str, Any]]:
    return [row for row in json.loads(COMPONENTS.read_text())["components"] if platform in row["platforms"]]


def file_of(name: str) -> str:
    return "licences/" + re.sub(r"[^a-z0-9.+]+", "-", name.lower()) + ".txt"


def plain(content: bytes) -> str:
    """In lower case, with single spaces: texts differ in how their lines are broken."""
    return " ".join(content.decode(errors="replace").replace("’", "'").lower().split())


def licences(expression: str) -> list[str]:
    return [word for word in re.split(r"[\s()]+", expression) if word and word not in ("AND", "OR", "WITH")]


def unnoticed(row: dict[str, Any], files: dict[str, bytes]) -> Iterator[str]:
    name = file_of(row["name"])
    if name not in files:
        yield f"no {name} for {row['name']}"
        return
    text = plain(files[name])
    for licence in licences(row["licence"]):
        if licence not in PHRASES:
            yield f"{row['name']}: no phrase is known that {licence} could be told by"
        elif PHRASES[licence] not in text:
            yield f"{name} does not hold the text of {licence}"


def unlisted(platform: str, files: dict[str, bytes]) -> Iterator[str]:
    """Components that a binary shows traces of and the list does not have."""
    listed = " ".join(row["name"] for row in components(platform))
    for path, content in files.items():
        if path.startswith("lib/"):
            for pattern, name in FINGERPRINTS.items():
                if name not in listed and re.search(pattern, content):
                    yield f"{path} holds {name}, which {COMPONENTS.name} does not list for {platform}"


def unlisted_sources() -> Iterator[str]:
    """Folders of other people's sources in our own tree that the list does not have."""
    listed = {name for row in json.loads(COMPONENTS.read_text())["components"] for name in row["licence_files"]}
    for folder in sorted((release.ROOT / "libgrain/third_party").glob("*/")):
        place = folder.relative_to(release.ROOT).as_posix()
        if not any(name.startswith(f"{place}/") for name in listed):
            yield f"{place} is not in {COMPONENTS.name}"


def problems(platform: str, files: dict[str, bytes]) -> list[str]:
    """All that is wrong with the notices of a zip with these files."""
    found = [*unlisted_sources(), *unlisted(platform, files)]
    if PHRASES["GPL-3.0-or-later"] not in plain(files.get("LICENSE", b"")):
        found.append("LICENSE is not the GNU General Public License")
    told = files.get("licences/README.txt", b"").decode()
    for row in components(platform):
        found += unnoticed(row, files)
        if f"{row['name']} {row['version']}\n" not in told:
            found.append(f"licences/README.txt does not name {row['name']} {row['version']}")
    return found
