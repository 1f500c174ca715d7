# SPDX-License-Identifier: GPL-3.0-or-later
"""The zips of a release and what lies beside them: whole, with every notice, and what Blender's own tools accept."""
from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import notice_rules
import release
import tomllib
from spdx_tools.spdx.model import RelationshipType
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

ADDON = release.ROOT / "addon/grain"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def bill_path() -> Path:
    return release.ZIPS / f"grain-{release.version()}.spdx.json"


def addon_sources() -> dict[str, bytes]:
    return {path.relative_to(ADDON).as_posix(): path.read_bytes() for path in ADDON.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts and path.parent.name != "lib"}


# --- the zips -------------------------------------------------------------------------------------

def test_a_release_is_complete(_: Path) -> None:
    wanted = {path.name for path in release.zips()} | {"index.json", "SHA256SUMS", bill_path().name}
    present = {path.name for path in release.ZIPS.iterdir()}
    assert present == wanted, f"missing: {wanted - present}; too many: {present - wanted}"


def test_zips_hold_the_add_on_and_its_binaries(_: Path) -> None:
    sources = addon_sources()
    for path, platform in release.zips().items():
        files = release.contents(path)
        own = {name for name in files if not name.startswith("licences/")}
        wanted = {*sources, "LICENSE", *(f"lib/{name}" for name in release.FILES[platform])}
        assert own == wanted, f"{path.name}: {own ^ wanted}"
        for name in set(sources) - {"blender_manifest.toml"}:
            assert files[name] == sources[name], f"{path.name}: {name} is not that of the tree"
        for name in release.FILES[platform]:
            built = (release.BINARIES / platform / "bin" / name).read_bytes()
            assert files[f"lib/{name}"] == built, f"{path.name}: {name} is not the one that was built"


def test_names_and_rights_in_zips(_: Path) -> None:
    for path, platform in release.zips().items():
        top = release.folder_inside(path)
        program = f"{top}lib/{release.FILES[platform][0]}"
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
        assert len({entry.filename for entry in entries}) == len(entries), f"{path.name} holds a name twice"
        for entry in entries:
            name = f"{path.name}: {entry.filename}"
            assert entry.filename.startswith(top) and ".." not in entry.filename and "\\" not in entry.filename, name
            assert "__pycache__" not in entry.filename and not entry.filename.endswith("/"), name
            assert entry.date_time == (2020, 1, 1, 0, 0, 0), name
            assert entry.external_attr >> 16 == (0o100755 if entry.filename == program else 0o100644), name


def test_manifests_name_their_platform(_: Path) -> None:
    for path, platform in release.zips().items():
        manifest = tomllib.loads(release.contents(path)["blender_manifest.toml"].decode())
        assert manifest["platforms"] == [platform] and manifest["version"] == release.version(), path.name
        assert manifest["license"] == ["SPDX:GPL-3.0-or-later"], path.name
        assert manifest["blender_version_min"] == "4.2.0", path.name


def test_the_readme_names_the_files_of_this_release(_: Path) -> None:
    told = set(re.findall(r"grain-\d[\w.-]*\.(?:zip|spdx\.json)", (release.ROOT / "README.md").read_text("utf-8")))
    missing = {path.name for path in (*map(release.extension, release.FILES), bill_path())} - told
    strays = {name for name in told if not (release.ZIPS / name).is_file()}
    assert not missing and not strays, f"README.md does not name {missing}; there is no {strays}"


def test_packing_again_gives_the_same_bytes(folder: Path) -> None:
    package = [sys.executable, str(release.ROOT / "addon/package.py"), "--out", str(folder)]
    for platform in release.FILES:
        binaries = release.BINARIES / platform / "bin"
        subprocess.run([*package, "--platform", platform, "--binaries", binaries], check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run([*package, "--publish"], check=True, stdout=subprocess.DEVNULL)
    for path in release.ZIPS.iterdir():
        assert (folder / path.name).read_bytes() == path.read_bytes(), f"{path.name} differs from run to run"


# --- notices --------------------------------------------------------------------------------------

def test_every_component_has_its_notice(_: Path) -> None:
    found = [f"{path.name}: {text}" for path, platform in release.zips().items()
             for text in notice_rules.problems(platform, release.contents(path))]
    assert not found, "; ".join(found)


def test_a_missing_notice_is_found(_: Path) -> None:
    path = release.extension("windows-x64")
    files = release.contents(path)
    for row in notice_rules.components("windows-x64"):
        name = notice_rules.file_of(row["name"])
        without = {other: content for other, content in files.items() if other != name}
        assert f"no {name} for {row['name']}" in notice_rules.problems("windows-x64", without), name
        assert notice_rules.problems("windows-x64", files | {name: b"some other text"}), name
    assert notice_rules.problems("windows-x64", files | {"LICENSE": b""})
    stowaway = files | {"lib/grain.dll": files["lib/grain.dll"] + b"libgomp: out of memory"}
    assert any("holds libgomp" in text for text in notice_rules.problems("windows-x64", stowaway))


# --- what lies beside the zips --------------------------------------------------------------------

def test_checksums_are_right(_: Path) -> None:
    lines = (release.ZIPS / "SHA256SUMS").read_text().splitlines()
    told = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    assert told == {path.name: sha256(path) for path in release.ZIPS.iterdir() if path.name != "SHA256SUMS"}
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=release.ZIPS, check=True)


def test_the_list_of_components_is_valid_spdx(_: Path) -> None:
    messages = validate_full_spdx_document(parse_file(str(bill_path())))
    assert not messages, "; ".join(message.validation_message for message in messages)


def test_the_list_of_components_agrees_with_the_zips(_: Path) -> None:
    document = parse_file(str(bill_path()))
    packages = {package.spdx_id: package for package in document.packages}
    inside: dict[str, set[tuple[str, str, str]]] = {}
    for relation in document.relationships:
        if relation.relationship_type == RelationshipType.CONTAINS:
            part = packages[relation.related_spdx_element_id]
            inside.setdefault(packages[relation.spdx_element_id].file_name, set()).add(
                (part.name, part.version, str(part.license_declared)))
    assert set(inside) == {path.name for path in release.zips()}
    for path, platform in release.zips().items():
        listed = {(row["name"], row["version"], row["licence"]) for row in notice_rules.components(platform)}
        assert inside[path.name] == listed, f"{path.name}: {inside[path.name] ^ listed}"
        package = next(package for package in packages.values() if package.file_name == path.name)
        assert [checksum.value for checksum in package.checksums] == [sha256(path)], path.name


# --- Blender's own tools --------------------------------------------------------------------------

def test_blender_validates_every_zip(_: Path) -> None:
    for path in release.zips():
        assert "Success" in release.extension_tool("validate", path), path.name


def test_blender_installs_only_what_fits_its_system(folder: Path) -> None:
    """As a drop on its window does: the zip for another system, or for a later Blender, is refused with a reason."""
    def install(platform: str, version: str) -> str:
        return release.extension_tool("install-files", "--local-dir", folder, "--blender-version", version,
                                      release.extension(platform))
    for platform in ("windows-x64", "macos-arm64", "linux-arm64"):
        assert f"isn't one of ({platform})" in install(platform, "5.2.0"), platform
    assert "minimum supported version (4.2.0)" in install("linux-x64", "4.1.0")
    assert not (folder / "grain").exists()
    assert "Installed" in install("linux-x64", "4.2.0") and (folder / "grain/lib/libgrain.so").is_file()


def index(path: Path) -> list[dict[str, Any]]:
    listing = json.loads(path.read_text())
    assert listing["version"] == "v1" and listing["blocklist"] == [], listing
    return sorted(listing["data"], key=lambda item: item["archive_url"])


def test_the_index_is_what_blender_would_write(folder: Path) -> None:
    for platform in release.FILES:
        (folder / release.extension(platform).name).write_bytes(release.extension(platform).read_bytes())
    release.extension_tool("server-generate", "--repo-dir", folder)
    assert index(release.ZIPS / "index.json") == index(folder / "index.json")


def newer_release(folder: Path, version: str) -> None:
    """The same extension under another version, with the index for it, as the next release would lie there."""
    folder.mkdir()
    path, line = release.extension("linux-x64"), 'version = "{}"'
    target = folder / path.name.replace(release.version(), version)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "blender_manifest.toml":
                content = content.replace(line.format(release.version()).encode(), line.format(version).encode())
            new.writestr(entry, content)
    release.extension_tool("server-generate", "--repo-dir", folder)


def test_blender_installs_and_updates_from_our_index(folder: Path) -> None:
    """By the code that its Preferences run: add a repository by its address, look for extensions, install, update."""
    served = folder / "served"
    served.mkdir()
    for name in ("index.json", release.extension("linux-x64").name):
        (served / name).write_bytes((release.ZIPS / name).read_bytes())
    newer_release(folder / "next", "9.9.9")
    told = release.run_in_blender(Path(__file__).with_name("update_from_repository.py"), served, folder / "next",
                                  home=folder / "home")
    assert f"INSTALLED {release.version()} enabled" in told, told
    assert "UPDATED 9.9.9 enabled" in told, told
    program = next((folder / "home").rglob("grain/lib/grain"), None)
    assert program and program.read_bytes() == (release.BINARIES / "linux-x64/bin/grain").read_bytes(), program
