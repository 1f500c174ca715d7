# SPDX-License-Identifier: GPL-3.0-or-later
"""The add-on's files, its one version, its manifest for a platform, and zips that are the same bytes every time."""
import ast
import re
import sys
import zipfile
from pathlib import Path
from typing import NoReturn

from .platforms import PROGRAMS

ROOT = Path(__file__).resolve().parent.parent.parent
ADDON = ROOT / "addon" / "grain"
MANIFEST = "blender_manifest.toml"
TIMESTAMP = (2020, 1, 1, 0, 0, 0)


def fail(text: str) -> NoReturn:
    sys.exit(f"package.py: {text}")


# --- the version ----------------------------------------------------------------------------------

def bl_info_version() -> str:
    tree = ast.parse((ADDON / "__init__.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "bl_info":
            return ".".join(str(number) for number in ast.literal_eval(node.value)["version"])
    fail("addon/grain/__init__.py has no bl_info")


def found_in(path: Path, pattern: str) -> str:
    match = re.search(pattern, path.read_text("utf-8"), re.MULTILINE)
    if match is None:
        fail(f"no version in {path}")
    return match.group(1)


def common_version() -> str:
    versions = {
        "addon/grain/__init__.py": bl_info_version(),
        "addon/grain/blender_manifest.toml": found_in(ADDON / MANIFEST, r'^version = "([^"]+)"'),
        "CMakeLists.txt": found_in(ROOT / "CMakeLists.txt", r"^project\(grain VERSION ([0-9.]+)"),
    }
    if len(set(versions.values())) != 1:
        fail("versions differ: " + ", ".join(f"{where} {version}" for where, version in versions.items()))
    return versions["CMakeLists.txt"]


# --- files ----------------------------------------------------------------------------------------

def manifest_for(platform: str) -> bytes:
    """The manifest of the tree names the platform of a development build; each zip names its own."""
    text, count = re.subn(r"^platforms = \[[^\]]*\]$", f'platforms = ["{platform}"]',
                          (ADDON / MANIFEST).read_text("utf-8"), flags=re.MULTILINE)
    if count != 1:
        fail(f"{ADDON / MANIFEST} has {count} lines `platforms = [...]` instead of one")
    return text.encode()


def addon_files(platform: str) -> dict[str, bytes]:
    """Everything in a zip that is neither binary nor notice, by its name there."""
    files = {path.relative_to(ADDON).as_posix(): path.read_bytes() for path in sorted(ADDON.rglob("*"))
             if path.is_file() and "__pycache__" not in path.parts and path.parent.name != "lib"}
    return files | {MANIFEST: manifest_for(platform), "LICENSE": (ROOT / "LICENSE").read_bytes()}


def write_zip(target: Path, files: dict[str, bytes], top: str) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(top + name, TIMESTAMP)
            entry.external_attr = (0o100755 if name in PROGRAMS else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever this runs
            archive.writestr(entry, content)
