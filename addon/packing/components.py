# SPDX-License-Identifier: GPL-3.0-or-later
"""What other people's work is inside a zip: version, licence, the licence's text, and where its source is.

For a release that is what libgrain/platforms/sources.json lists (released.py). A development build takes its libraries
from Debian, so that versions and texts are those of the packages installed here.
"""
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

from .tree import fail

DOCUMENTS = Path("/usr/share/doc")
COMMON_LICENCES = Path("/usr/share/common-licenses")
FOLDER = "licences"

# Licences whose text a notice may leave out, since every Debian has it: a heading of the text, and its file there.
COMMON_TEXTS = {
    "GPL-3.0": (r"GNU GENERAL PUBLIC LICENSE\s+Version 3", "GPL-3"),
    "LGPL-2.1": (r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1", "LGPL-2.1"),
    "MPL-2.0": (r"Mozilla Public License,? Version 2\.0\s*\n=+", "MPL-2.0"),
    "Apache-2.0": (r"TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION", "Apache-2.0"),
}


class Component(NamedTuple):
    name: str
    version: str
    licence: str  # an SPDX expression
    notice: str
    binaries: tuple[str, ...]  # the files of lib/ that hold it
    source: str  # where the source can be had
    homepage: str = ""
    sha256: str = ""  # of the source's archive, where we fetched one


def notice_name(component: Component) -> str:
    return f"{FOLDER}/{re.sub(r'[^a-z0-9.+]+', '-', component.name.lower())}.txt"


def summary(components: list[Component]) -> str:
    """The page that tells a reader which notice is about what."""
    lines = ["Grain is free software: GPL-3.0-or-later, see LICENSE in the folder above.",
             "Its binaries hold the following work of others; the notice of each lies beside this file.", ""]
    for item in components:
        lines += [f"{item.name} {item.version}", f"    licence: {item.licence}",
                  f"    notice:  {Path(notice_name(item)).name}", f"    in:      {', '.join(item.binaries)}",
                  f"    source:  {item.source}", ""]
    return "\n".join(lines)


def notices(components: list[Component]) -> dict[str, bytes]:
    """The files of a zip about components, by their names there."""
    texts = {notice_name(item): item.notice for item in components}
    if len(texts) != len(components):
        fail("two components share the name of a notice: " + ", ".join(item.name for item in components))
    texts[f"{FOLDER}/README.txt"] = summary(components)
    return {name: text.encode() for name, text in texts.items()}


def read_text(path: Path, component: str) -> str:
    if not path.is_file():
        fail(f"the licence of {component} is missing ({path})")
    return path.read_text("utf-8", errors="replace")


def whole_notice(component: str, licence: str, paths: list[Path]) -> str:
    """All files of a notice in one, with the licences that it only refers to."""
    text = "\n\n".join(read_text(path, component) for path in paths)
    for identifier, (heading, name) in COMMON_TEXTS.items():
        if re.search(rf"(?<!L){re.escape(identifier)}", licence) and not re.search(heading, text, re.IGNORECASE):
            text += "\n\n" + read_text(COMMON_LICENCES / name, component)
    return text


# --- a development build --------------------------------------------------------------------------

class Package(NamedTuple):
    """A component that comes from a Debian package."""
    component: str
    pattern: str  # the package's name, as dpkg-query's pattern where Debian puts a version into it
    licence: str
    binaries: tuple[str, ...]
    is_long: bool = False  # the notice lists thousands of files, of which none but those under this licence are used


CORE = ("grain", "libgrain.so")
VOLUMES = ("libgrain_vdb.so",)
# OpenVDB, oneTBB, Boost and Imath are shared libraries of the system here; their templates are compiled into ours.
DEBIAN_PACKAGES = (
    Package("jansson", "libjansson4", "MIT", ("libjansson.so.4",)),
    Package("zstd", "libzstd-dev", "BSD-3-Clause", CORE),
    Package("xxHash", "libxxhash-dev", "BSD-2-Clause", CORE),
    Package("OpenVDB", "libopenvdb-dev", "MPL-2.0", VOLUMES),
    Package("oneTBB", "libtbb-dev", "Apache-2.0", VOLUMES),
    Package("Boost", "libboost1.*-dev", "BSL-1.0", VOLUMES, is_long=True),
    Package("Imath", "libimath-dev", "BSD-3-Clause", VOLUMES),
)


def installed_packages(patterns: list[str]) -> list[tuple[str, str]]:
    """Name and version of every package of these that is installed."""
    listing = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Abbrev}\t${Package}\t${Version}\n", *patterns],
                             capture_output=True, text=True).stdout  # a package it does not know is no error of ours
    rows = [line.split("\t") for line in listing.splitlines()]
    return [(name, version) for status, name, version in rows if status == "ii "]


def only_licence(notice: str, licence: str, component: str) -> str:
    """The paragraph of a Debian notice that holds this licence's text."""
    for paragraph in notice.split("\n\n"):
        if paragraph.startswith(f"License: {licence}\n"):
            return paragraph
    fail(f"the notice of {component} does not hold the text of {licence}")


def of_development_build(binaries: frozenset[str]) -> list[Component]:
    wanted = [item for item in DEBIAN_PACKAGES if binaries.intersection(item.binaries)]
    installed = installed_packages([item.pattern for item in wanted])
    found = []
    for item in wanted:
        pattern = re.escape(item.pattern).replace(r"\*", "[^-]*")
        package = next((pair for pair in installed if re.fullmatch(pattern, pair[0])), None)
        if package is None:
            fail(f"the Debian package {item.pattern} is not installed, so its licence cannot be packed")
        name, version = package
        notice = whole_notice(item.component, item.licence, [DOCUMENTS / name / "copyright"])
        if item.is_long:
            notice = only_licence(notice, item.licence, item.component)
        found.append(Component(item.component, version, item.licence, notice,
                               tuple(name for name in item.binaries if name in binaries),
                               f"Debian package {name} {version}"))
    return found
