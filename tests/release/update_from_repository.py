# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in Blender (test_zips.py starts it): installs Grain from an index at a file:// address, then updates it.

    python update_from_repository.py SERVED NEXT     both are folders with an index; NEXT's takes the place of SERVED's
"""
import shutil
import sys
from pathlib import Path

import bpy
import tomllib

# isort: split
import addon_utils  # as a module of Python's, Blender brings it along

served, following = Path(sys.argv[1]), Path(sys.argv[2])
MODULE = "bl_ext.grain_repository.grain"


def state() -> str:
    """Version on the disk, and whether the add-on runs."""
    folder = Path(bpy.utils.user_resource('EXTENSIONS')) / "grain_repository/grain"
    version = tomllib.loads((folder / "blender_manifest.toml").read_text())["version"]
    _, is_enabled = addon_utils.check(MODULE)
    return f"{version} {'enabled' if is_enabled else 'disabled'}"


bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.preferences.system.use_online_access = True  # Blender asks for it even of addresses on the disk
repositories = bpy.context.preferences.extensions.repos
repository = repositories.new(name="Grain", module="grain_repository", remote_url=(served / "index.json").as_uri())
place = list(repositories).index(repository)

bpy.ops.extensions.repo_sync(repo_index=place)
bpy.ops.extensions.package_install(repo_index=place, pkg_id="grain", enable_on_install=True)
print("INSTALLED", state(), flush=True)

shutil.rmtree(served)
shutil.copytree(following, served)
bpy.ops.extensions.repo_sync(repo_index=place)
bpy.ops.extensions.package_upgrade_all()
print("UPDATED", state(), flush=True)
