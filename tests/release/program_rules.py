# SPDX-License-Identifier: GPL-3.0-or-later
"""What every binary of a release has to keep to, whatever its format: the rules that elf_rules, pe_rules and
macho_rules share. A rule yields a sentence for each thing that it does not allow."""
from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import lief

lief.logging.disable()  # it tells of every odd byte; what matters here is said by a rule
ROOT = Path(__file__).resolve().parent.parent.parent

# Functions of the C library's mathematics that IEEE 754 leaves no choice in: the same bits everywhere, so they may come
# from the system. All others have to come from ours, or a bake would not go on on another machine.
EXACT = frozenset(["ceil", "copysign", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "ilogb", "ldexp", "llrint", "llround", "logb", "lrint", "lround", "modf", "nearbyint", "nextafter", "remainder", "remquo", "rint", "round", "scalbln", "scalbn", "sqrt", "trunc"])
INEXACT = frozenset(["acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "gamma", "hypot", "j0", "j1", "jn", "lgamma", "log", "log10", "log1p", "log2", "pow", "pow10", "powi", "sin", "sincos", "sincos_stret", "sincosf_stret", "sinh", "tan", "tanh", "tgamma", "y0", "y1", "yn"])
# OpenVDB takes these for grids that are turned or sheared. Ours are placed by the size of a voxel alone.
IN_TURNED_GRIDS = frozenset(("sin", "cos", "sincos", "__sincos_stret", "pow"))
PREFIXES = {"libgrain": "grain_", "libgrain_vdb": "vdb_"}
# Folders that only exist where something was built.
BUILD_PATH = re.compile(rb"(?<![\w.])/(?:home|root|tmp|work|build|builddir|Users|private|mnt|opt)/[\w.+@-]+[\w./+@ -]*")


class Interface(NamedTuple):
    """What a binary asks of the system and offers to others."""
    libraries: tuple[str, ...]
    versions: tuple[str, ...]  # of symbols, where the format has such
    imports: tuple[str, ...]
    exports: tuple[str, ...]


def part_of(path: Path) -> str:
    """Which of the three it is: libgrain, libgrain_vdb or grain, the program."""
    if path.suffix == ".exe" or not path.suffix:
        return "grain"
    return "lib" + path.stem.removeprefix("lib")


def inexact_imports(imports: Iterable[str]) -> Iterator[str]:
    """Functions whose last bit depends on the system's library, in any of C's three precisions."""
    for name in sorted(set(imports)):
        plain = re.sub(r"^_*(.*?)(?:_finite|_r)?$", r"\1", name)
        for form in (plain, plain[:-1] if plain[-1:] in ("f", "l") else ""):
            if form in INEXACT and plain not in EXACT:
                yield f"takes {name} from the system's mathematics"
                break


def stray_exports(part: str, exports: Iterable[str]) -> Iterator[str]:
    prefix = PREFIXES.get(part)
    for name in sorted(set(exports)):
        if prefix is None or not name.startswith(prefix):
            yield f"exports {name}"


def missing_exports(part: str, exports: Iterable[str]) -> Iterator[str]:
    """A library that exports nothing would keep to every other rule."""
    if part in PREFIXES and not any(name.startswith(PREFIXES[part]) for name in exports):
        yield f"exports no {PREFIXES[part]}* at all"


def build_traces(content: bytes) -> Iterator[str]:
    """Whose machine it was built on, and where."""
    for path in sorted(set(BUILD_PATH.findall(content))):
        yield f"names the path {path.decode()}"
    words = {str(ROOT), str(Path.home()) + "/"} | {name for name in (socket.gethostname(),) if len(name) > 5}
    for word in sorted(words):
        if len(word) > 2 and word.encode() in content:
            yield f"holds '{word}', a name of the machine it was built on"


def shared_rules(path: Path, interface: Interface) -> Iterator[str]:
    part = part_of(path)
    allowed = IN_TURNED_GRIDS if part == "libgrain_vdb" else frozenset()
    yield from inexact_imports(name for name in interface.imports if name not in allowed)
    yield from stray_exports(part, interface.exports)
    yield from missing_exports(part, interface.exports)
    yield from build_traces(path.read_bytes())
