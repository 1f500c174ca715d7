# SPDX-License-Identifier: GPL-3.0-or-later
"""The pinned sources: what sources.json says, where they are looked for, and that no other file is taken for them."""
from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "libgrain/platforms"))

import fetch_sources  # noqa: E402

PLATFORMS = {"linux-x64", "linux-arm64", "windows-x64", "macos-arm64", "macos-x64"}
LIST = """deb http://mirror.example/debian bookworm main
deb [signed-by=/key.gpg arch=amd64] http://mirror.example/security bookworm-security main contrib
# deb http://mirror.example/debian bookworm-backports main
deb-src http://mirror.example/debian bookworm main
deb https://other.example/apt cloud-sdk-bookworm main
"""
STANZAS = """# a comment
Types: deb deb-src
# another
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates nodistro
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .

Types: deb
URIs: https://other.example/node
Suites: nodistro

Types: deb
URIs: http://mirror.example/off
Suites: bookworm
Enabled: no
"""


def test_every_component_is_whole(folder: Path) -> None:
    listed = fetch_sources.components()
    assert len({component.name for component in listed}) == len(listed) >= 8
    for component in listed:
        assert component.used_in and set(component.used_in) <= {"libgrain", "libgrain_vdb"}, component.name
        assert component.platforms and set(component.platforms) <= PLATFORMS, component.name
        assert component.licence and component.licence_files and component.purpose, component.name
        if component.origin == "source":
            assert component.source_package and re.search(r"\.orig\.tar\.(gz|bz2|xz)$", component.tarball), component.name


def installed_version(notice: str) -> str:
    """Of the Debian package whose notice this is, by its name: its folder may be a link to another package's."""
    package = Path(notice).parent.name
    return subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], capture_output=True, text=True, check=True).stdout


def test_versions_are_those_of_the_compilers(_: Path) -> None:
    """Sources have hashes; what a compiler brings along is of its version, which the list could tell wrong."""
    zig = fetch_sources.zig_package() / "zig"
    told = subprocess.run([str(zig), "cc", "--version"], capture_output=True, text=True, check=True).stdout
    clang = re.search(r"clang version ([0-9.]+)", told)
    pinned = re.search(r"^ziglang==(\S+)", fetch_sources.ZIG_LIST.read_text(), re.MULTILINE)
    for component in fetch_sources.components():
        if component.origin == "system":
            version = installed_version(component.licence_files[0])
            assert re.match(rf"{re.escape(component.version)}[-+]", version), (component.name, version)
        if component.name.startswith("LLVM"):
            assert clang and component.version == clang[1], (component.name, told)
        if component.name.startswith("Zig"):
            assert pinned and component.version == pinned[1], (component.name, pinned)


def test_a_list_of_packages_becomes_one_of_sources(folder: Path) -> None:
    assert list(fetch_sources.source_lines(LIST, "bookworm")) == [
        "deb-src http://mirror.example/debian bookworm main",
        "deb-src [signed-by=/key.gpg arch=amd64] http://mirror.example/security bookworm-security main contrib"]


def test_stanzas_of_packages_become_ones_of_sources(folder: Path) -> None:
    assert list(fetch_sources.source_stanzas(STANZAS, "bookworm")) == [
        "Types: deb-src\nSuites: bookworm bookworm-updates\nURIs: http://mirror.example/debian\nComponents: main\n"
        "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n"]


def test_a_machine_without_an_archive_is_told(folder: Path) -> None:
    (folder / "etc").mkdir()
    (folder / "etc/sources.list").write_text("deb https://other.example/apt stable main\n")
    with mock.patch.object(fetch_sources, "codename", return_value="bookworm"):
        try:
            fetch_sources.write_source_lists(folder / "lists", folder / "etc")
        except fetch_sources.FetchError as error:
            assert "no package archive" in str(error)
        else:
            raise AssertionError("not refused")


def test_another_file_than_pinned_is_refused(folder: Path) -> None:
    first = next(component for component in fetch_sources.components() if component.origin == "source")
    (folder / first.tarball).write_bytes(b"something else")
    with mock.patch.object(fetch_sources, "DOWNLOADS", folder):
        try:
            fetch_sources.check_hash(first)
        except fetch_sources.FetchError as error:
            assert first.sha256 in str(error) and first.tarball in str(error)
        else:
            raise AssertionError("not refused")
        right = dataclasses.replace(first, sha256=fetch_sources.sha256_of(folder / first.tarball))
        fetch_sources.check_hash(right)
