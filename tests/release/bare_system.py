# SPDX-License-Identifier: GPL-3.0-or-later
"""File systems that have nothing Grain could lean on, made once and kept in build/bare.

`debian` is a minimal Debian of this machine's release with the window-system libraries that Blender's own module asks
for, and no other. `old_glibc` holds one package: the oldest C library that the Debian mirror of this machine still has.
Commands run in them by chroot, in a mount and network namespace of their own, so that nothing stays mounted.
"""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import harness
import release

HOME = release.ROOT / "build/bare"
# Python, and the shared libraries that Blender's and Python's own modules are linked to.
PACKAGES = ("python3", "libgl1", "libice6", "libsm6", "libx11-6", "libxext6", "libxfixes3", "libxi6", "libxkbcommon0",
            "libxrender1", "libxt6", "libstdc++6", "libbz2-1.0", "libffi8", "liblzma5", "libsqlite3-0", "libssl3",
            "zlib1g")
FORBIDDEN = ("openvdb", "tbb", "boost", "jansson", "gomp", "blosc", "imath", "openmp", "libomp")
OLD_SUITES = ("buster", "bullseye")  # glibc 2.28, 2.31


def need_root() -> None:
    if os.geteuid() != 0:
        raise harness.Skip("chroot is root's")


def mirror() -> tuple[str, str]:
    """Address and release of the Debian that this machine installs from."""
    command = ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME)", "Created-By: Packages", "Component: main"]
    for line in subprocess.run(command, capture_output=True, text=True).stdout.splitlines():
        site, _, suite = line.partition(" ")
        if suite and "-" not in suite and site.rstrip("/").endswith("/debian"):
            return site, suite
    raise harness.Skip("apt knows no Debian mirror")


def run(*command: object, log: Path) -> None:
    with log.open("a") as output:
        code = subprocess.run([str(word) for word in command], stdout=output, stderr=subprocess.STDOUT).returncode
    assert code == 0, f"{command[0]} ended with code {code}: {log.read_text()[-1500:]}"


def debian() -> Path:
    need_root()
    place, log = HOME / "debian", HOME / "debian.log"
    if place.is_dir():
        return place
    debootstrap = shutil.which("debootstrap", path="/usr/sbin:/usr/bin")
    if debootstrap is None:
        raise harness.Skip("there is no debootstrap")
    site, suite = mirror()
    HOME.mkdir(parents=True, exist_ok=True)
    part = HOME / "debian.part"
    shutil.rmtree(part, ignore_errors=True)
    run(debootstrap, "--variant=minbase", f"--include={','.join(PACKAGES)}", suite, part, site, log=log)
    part.rename(place)
    return place


def old_glibc() -> Path:
    """A root with nothing but a C library; skipped where the mirror has no release that is old enough."""
    need_root()
    for suite in OLD_SUITES:
        if (HOME / suite).is_dir():
            return HOME / suite
    site, _ = mirror()
    for suite in OLD_SUITES:
        state, part = HOME / f"{suite}.apt", HOME / f"{suite}.part"
        for folder in (state / "lists/partial", state / "cache/archives/partial", part):
            folder.mkdir(parents=True, exist_ok=True)
        (state / "sources.list").write_text(f"deb {site} {suite} main\n")
        options = ["-o", f"Dir::Etc::sourcelist={state / 'sources.list'}", "-o", "Dir::Etc::sourceparts=-",
                   "-o", f"Dir::State::lists={state / 'lists'}", "-o", f"Dir::Cache={state / 'cache'}",
                   "-o", "APT::Sandbox::User=root", "-o", "Acquire::Check-Valid-Until=false"]
        for arguments in (["update"], ["download", f"libc6/{suite}"]):
            done = subprocess.run(["apt-get", "-qq", *options, *arguments], cwd=state, capture_output=True, text=True)
        packages = list(state.glob("libc6_*.deb"))
        if done.returncode == 0 and packages:
            subprocess.run(["dpkg-deb", "-x", str(packages[0]), str(part)], check=True)
            part.rename(HOME / suite)
            return HOME / suite
    raise harness.Skip(f"the Debian mirror has none of {', '.join(OLD_SUITES)} any more")


def installed(root: Path) -> list[str]:
    done = subprocess.run(["dpkg-query", f"--admindir={root / 'var/lib/dpkg'}", "-W", "-f=${Package}\n"],
                          capture_output=True, text=True, check=True)
    return done.stdout.split()


def put(root: Path, source: Path, target: str) -> None:
    """Copies a file or folder to a path inside, afresh."""
    place = root / target.lstrip("/")
    if place.is_dir():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    copy = shutil.copytree if source.is_dir() else shutil.copy2
    copy(source, place)


def put_blender(root: Path, version: str) -> list[str]:
    """Puts Blender's module inside, and the Python that it was installed for. Returns the command to start it."""
    python = release.BLENDERS / version / "bin/python"
    if not python.is_file():
        raise harness.Skip(f"no Blender {version} in build/bpy")
    question = ("import sys, sysconfig; print(sys.base_prefix, sysconfig.get_path('purelib'),"
                " 'python%d.%d' % sys.version_info[:2], sep='\\n')")
    told = subprocess.run([str(python), "-c", question], capture_output=True, text=True, check=True)
    prefix, modules, name = told.stdout.splitlines()
    if prefix != "/usr" and not (root / prefix.lstrip("/")).is_dir():  # else it is the system's own, by its package
        left_out = shutil.ignore_patterns("test", "site-packages", "__pycache__", "*.a", "idlelib", "ensurepip")
        inside = root / prefix.lstrip("/")
        shutil.copytree(Path(prefix) / "lib", inside / "lib", symlinks=True, ignore=left_out)
        (inside / "bin").mkdir()
        shutil.copy2(Path(prefix) / "bin" / name, inside / "bin" / name)
    target = root / f"opt/blender-{version}"
    if not target.is_dir():
        shutil.copytree(modules, target, copy_function=os.link)  # half a gigabyte
    assert (root / prefix.lstrip("/") / "bin" / name).is_file(), f"no {prefix}/bin/{name} in {root}"
    return ["/usr/bin/env", f"PYTHONPATH=/opt/blender-{version}", f"{prefix}/bin/{name}"]


def inside(root: Path, *command: object, timeout: float = 600) -> str:
    """Runs a command there, without network, and returns what it printed."""
    setup = ('mkdir -p "$0/proc" "$0/dev" "$0/tmp" && mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" &&'
             ' exec chroot "$0" "$@"')
    words = ["unshare", "--mount", "--net", "--fork", "--kill-child", "sh", "-c", setup, str(root), *map(str, command)]
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, env=environment)
    assert done.returncode == 0, f"code {done.returncode}: {done.stderr[-400:]} after {done.stdout[-1500:]}"
    return done.stdout


