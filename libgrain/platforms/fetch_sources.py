# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetches what the released binaries are made of, as sources.json and zig.txt pin it: upstream tarballs out of Debian's
archive (from the mirror this machine is set up with) and the Zig compiler from Python's package index. Every hash is
checked; what is there already is kept, so a second run needs no network.

    python3 libgrain/platforms/fetch_sources.py
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLATFORMS_BUILD = HERE.parent.parent / "build" / "platforms"
SOURCES = PLATFORMS_BUILD / "sources"
DOWNLOADS = SOURCES / "downloads"
ZIG_VENV = PLATFORMS_BUILD / "zig"
SOURCE_LIST, ZIG_LIST = HERE / "sources.json", HERE / "zig.txt"


class FetchError(Exception):
    """A text for whoever runs the build."""


@dataclass(frozen=True)
class Component:
    """One entry of sources.json."""

    name: str
    version: str
    origin: str  # source, zig, system or tree: where its licence files lie
    licence: str  # as SPDX writes it
    licence_files: tuple[str, ...]
    homepage: str
    purpose: str
    used_in: tuple[str, ...]
    platforms: tuple[str, ...]
    source_package: str = ""
    tarball: str = ""
    sha256: str = ""

    @property
    def folder(self) -> Path:
        """Where its source is unpacked."""
        return SOURCES / f"{self.name}-{self.version}"

    def licence_paths(self) -> list[Path]:
        """The files with its licence, once it has been fetched."""
        root = {"source": self.folder, "zig": zig_package() if self.origin == "zig" else Path(), "system": Path("/"),
                "tree": HERE.parent.parent}
        return [root[self.origin] / name for name in self.licence_files]


def components() -> list[Component]:
    """All entries of sources.json."""
    listed = []
    for entry in json.loads(SOURCE_LIST.read_text())["components"]:
        lists = {name: tuple(entry[name]) for name in ("licence_files", "used_in", "platforms")}
        component = Component(**{**entry, **lists})
        if component.origin == "source" and not re.fullmatch("[0-9a-f]{64}", component.sha256):
            raise FetchError(f"{SOURCE_LIST.name}: {component.name} has no sha256")
        listed.append(component)
    return listed


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def run(*command: str | Path, folder: Path | None = None) -> None:
    """Runs a program; its output is shown only when it fails."""
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        output = done.stdout[-2000:] + done.stderr[-2000:]
        raise FetchError(f"{command[0]} failed with code {done.returncode}:\n{output}")


# --- Debian's archive ---------------------------------------------------------------------------


def codename() -> str:
    """The release of Debian this machine runs, such as bookworm."""
    try:
        found = re.search(r'^VERSION_CODENAME="?([a-z]+)', Path("/etc/os-release").read_text(), re.MULTILINE)
    except OSError:
        found = None
    if not found:
        raise FetchError("the sources come from Debian's archive; this does not seem to be Debian")
    return found[1]


def of_release(suite: str, release: str) -> bool:
    return suite == release or suite.startswith(release + "-")


def source_lines(text: str, release: str) -> Iterator[str]:
    """A sources.list asking for sources instead of packages, without other vendors' lines."""
    for line in text.splitlines():
        found = re.fullmatch(r"\s*deb\s+((?:\[[^]]*\]\s+)?\S+)\s+(\S+)\s+(.*)", line)
        if found and of_release(found[2], release):
            yield f"deb-src {found[1]} {found[2]} {found[3]}"


def source_stanzas(text: str, release: str) -> Iterator[str]:
    """The same for the newer format, which has a paragraph for each archive."""
    for stanza in re.split(r"\n\s*\n", text):
        lines = [line for line in stanza.splitlines() if not line.startswith("#")]
        named = [re.match(r"(\w[^:\s]*):\s*(.*)", line) for line in lines]
        fields = {found[1].lower(): found[2] for found in named if found}
        suites = [suite for suite in fields.get("suites", "").split() if of_release(suite, release)]
        if not suites or "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() == "no":
            continue
        kept = [line for line in lines if not re.match("(types|suites):", line, re.IGNORECASE)]
        yield "\n".join(["Types: deb-src", "Suites: " + " ".join(suites), *kept]) + "\n"


def write_source_lists(folder: Path, configured: Path = Path("/etc/apt")) -> None:
    """Derives from the mirrors this machine installs its packages from where their sources are."""
    release = codename()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parts = configured / "sources.list.d"
    files = [configured / "sources.list", *(sorted(parts.iterdir()) if parts.is_dir() else [])]
    for number, path in enumerate(path for path in files if path.is_file()):
        if path.suffix not in (".list", ".sources"):
            continue
        derive = source_stanzas if path.suffix == ".sources" else source_lines
        wanted = "\n".join(derive(path.read_text(), release))
        if wanted:
            (folder / f"{number:02}{path.suffix}").write_text(wanted + "\n")
    if not any(folder.iterdir()):
        raise FetchError(f"no package archive of Debian {release} is set up in {configured}")


def apt_get(state: Path, *arguments: str, folder: Path | None = None) -> None:
    """apt-get over lists and folders of its own: needs no root, and leaves the machine's alone."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (state / name).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    settings = state / "apt.conf"
    settings.write_text("#clear APT::Update::Post-Invoke;\n#clear APT::Update::Post-Invoke-Success;\n#clear DPkg;\n")
    places = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": state / "sources.list.d",
              "Dir::State": state / "state", "Dir::State::status": state / "status", "Dir::Cache": state / "cache",
              "APT::Sandbox::User": "root"}
    options = [part for name, value in places.items() for part in ("-o", f"{name}={value}")]
    run("apt-get", "-q", "-c", settings, *options, *arguments, folder=folder)


def check_hash(component: Component) -> None:
    tarball = DOWNLOADS / component.tarball
    found = sha256_of(tarball)
    if found != component.sha256:
        raise FetchError(f"{tarball} is not the file that {SOURCE_LIST.name} pins: its sha256 is\n  {found},\n"
                         f"it should be\n  {component.sha256}.\nDelete it and try again.")


def download(wanted: list[Component]) -> None:
    state = SOURCES / "apt"
    write_source_lists(state / "sources.list.d")
    apt_get(state, "update")
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    print("fetching", " ".join(component.tarball for component in wanted), flush=True)
    packages = [component.source_package for component in wanted]
    apt_get(state, "source", "--download-only", "--tar-only", *packages, folder=DOWNLOADS)
    for component in wanted:
        if not (DOWNLOADS / component.tarball).is_file():
            raise FetchError(f"Debian's archive has no {component.tarball} (any more); see what version of "
                             f"{component.source_package} this Debian has, and pin that in {SOURCE_LIST.name}")


def unpack(component: Component) -> None:
    """Whole or not at all: a stopped run leaves no half folder behind."""
    part = component.folder.with_name(component.folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(component.folder, ignore_errors=True)
    part.mkdir(parents=True)
    run("tar", "--extract", "--no-same-owner", "--strip-components=1", "--file", DOWNLOADS / component.tarball,
        "--directory", part)
    for name in component.licence_files:
        if not (part / name).is_file():
            raise FetchError(f"{component.tarball} has no licence file {name}")
    (part / ".sha256").write_text(component.sha256)
    os.replace(part, component.folder)


def is_unpacked(component: Component) -> bool:
    mark = component.folder / ".sha256"
    return mark.is_file() and mark.read_text() == component.sha256


def fetch_sources() -> None:
    """Unpacks every source that is not there yet into build/platforms/sources/NAME-VERSION."""
    missing = [component for component in components() if component.origin == "source" and not is_unpacked(component)]
    absent = [component for component in missing if not (DOWNLOADS / component.tarball).is_file()]
    if absent:
        download(absent)
    for component in missing:
        check_hash(component)
        unpack(component)


# --- the Zig compiler ---------------------------------------------------------------------------


def zig_package() -> Path:
    """The installed package: the compiler `zig`, and the libraries it builds from source."""
    for found in ZIG_VENV.glob("lib/python*/site-packages/ziglang"):
        return found
    raise FetchError(f"Zig is not installed in {ZIG_VENV}; run fetch_sources.py")


def fetch_zig() -> None:
    """Puts the version that zig.txt pins into a virtual environment; pip checks its hash."""
    mark, pinned = ZIG_VENV / ".pinned", sha256_of(ZIG_LIST)
    if mark.is_file() and mark.read_text() == pinned:
        return
    print("fetching Zig", flush=True)
    shutil.rmtree(ZIG_VENV, ignore_errors=True)
    run(sys.executable, "-m", "venv", ZIG_VENV)
    run(ZIG_VENV / "bin" / "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes",
        "--requirement", ZIG_LIST)
    zig_package()
    mark.write_text(pinned)


def main() -> int:
    try:
        fetch_sources()
        fetch_zig()
    except FetchError as error:
        print(f"fetch_sources: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
