#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of the tree that a compiler does not check. Prints `ok NAME` or `not ok NAME: reason` for each."""
import ast
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import wording

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "libgrain" / "src"
ADDON = ROOT / "addon" / "grain"

# A folder of libgrain/src includes only folders above it here.
ORDER = ("base", "mesh", "motion", "sdf", "cover", "particles", "fill", "shape", "sim", "upsample", "volume", "output",
         "view", "job", "scene", "simulate", "refine", "stage")
OPENMP_HOME = SOURCE / "base" / "parallel.h"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/', re.MULTILINE)
OPENMP = re.compile(r"^\s*#\s*pragma\s+omp|_Pragma\s*\(\s*\"omp|#\s*include\s*<omp\.h>", re.MULTILINE)


def c_files() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*") if path.suffix in (".c", ".h", ".cpp"))


def wrong_includes() -> Iterator[str]:
    for folder in sorted(path.name for path in SOURCE.iterdir() if path.is_dir()):
        if folder not in ORDER:
            yield f"libgrain/src/{folder} is not in ORDER of tests/check_layers.py"
    for path in c_files():
        home = path.relative_to(SOURCE).parts[0]
        if home not in ORDER:
            continue
        for folder in INCLUDE.findall(path.read_text("utf-8")):
            if folder in ORDER and ORDER.index(folder) > ORDER.index(home):
                yield f"{path.relative_to(ROOT)} includes {folder}/, which comes after {home}/"


SOLVER_INCLUDE = re.compile(r'^\s*#\s*include\s+"sim/(\w+)/', re.MULTILINE)
SOLVERS = re.compile(r"^#define SOLVERS\(X\) (.*)$", re.MULTILINE)


# What an artist chooses with a preset, and what an old file means: they set solvers, and compare none either.
NAMES_SOLVERS = ("presets.py", "migrate.py")


def solver_names() -> list[str]:
    table = SOLVERS.search((SOURCE / "sim/solver.c").read_text("utf-8"))
    return re.findall(r"X\((\w+)\)", table[1]) if table else []


def solvers_from_outside() -> Iterator[str]:
    """What a solver is like is told by its row in the table; its headers and its name are its own."""
    names = solver_names()
    if not names:
        yield "libgrain/src/sim/solver.c has no line '#define SOLVERS(X) X(name) ...'"
    compared = re.compile(r"\b(?:strn?cmp|solver_find)\([^;]*\"(?:" + "|".join(names) + r")\"|\b(?:" + "|".join(names) + r")_solver\b")
    for path in c_files():
        home = path.relative_to(SOURCE).parts
        text = path.read_text("utf-8")
        for name in SOLVER_INCLUDE.findall(text):
            if name in names and home[:2] != ("sim", name):
                yield f"{path.relative_to(ROOT)} includes a header of sim/{name}/"
        if not (home[0] == "sim" and home[1] in names) and compared.search(text):
            yield f"{path.relative_to(ROOT)} names a solver; ask its traits (sim/solver.h)"
    yield from solvers_named_in_addon(names)


def solvers_named_in_addon(names: list[str]) -> Iterator[str]:
    for path in sorted(ADDON.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        compares = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
        for node in ast.walk(tree) if path.name not in NAMES_SOLVERS else (part for each in compares for part in ast.walk(each)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower() in names:
                yield f"{path.relative_to(ROOT)}:{node.lineno} names a solver; ask engine/schema.py what it uses"


# Folders of sim, and headers beside them, each above what may include it; solvers come behind the last, population and sim
# behind those. Files beside the folders may include all.
SIM_ORDER = ("material", "solver", "rigid", "solver_base", "flow", "neighbours")
SIM_INCLUDE = re.compile(r'^\s*#\s*include\s+"sim/(\w+)', re.MULTILINE)


def wrong_includes_in_sim() -> Iterator[str]:
    order = (*SIM_ORDER, "solvers", "population", "sim")
    place = {name: order.index("solvers") for name in solver_names()} | {name: order.index(name) for name in order}
    for path in sorted((SOURCE / "sim").rglob("*.[ch]")):
        home = path.relative_to(SOURCE / "sim").with_suffix("").parts[0]
        if path.parent == SOURCE / "sim" and path.suffix == ".c":
            continue
        if home not in place:
            yield f"{path.relative_to(ROOT)}: {home} is not in SIM_ORDER of tests/check_layers.py"
            continue
        for name in SIM_INCLUDE.findall(path.read_text("utf-8")):
            if place.get(name, len(order)) > place[home]:
                yield f"{path.relative_to(ROOT)} includes sim/{name}, which comes after sim/{home}"


def stray_openmp() -> Iterator[str]:
    for path in c_files():
        if path != OPENMP_HOME and OPENMP.search(path.read_text("utf-8")):
            yield f"{path.relative_to(ROOT)} uses OpenMP; only base/parallel.h may"


SYSTEM_FILES = re.compile(r"libgrain/(src/base/system|cli/console)(_\w+)?\.[ch]$")
SYSTEM_HEADER = re.compile(r"#\s*include\s*<((?:unistd|fcntl|dirent|dlfcn|sched|windows|io|process|sys/\w+|mach/\w+)\.h)>")
SYSTEM_NAME = re.compile(r"^\s*#\s*(?:el)?if.*\b(_WIN32|__linux__|__APPLE__)\b", re.MULTILINE)


def stray_system_calls() -> Iterator[str]:
    for path in sorted((*c_files(), *(ROOT / "libgrain/cli").glob("*.[ch]"))):
        if SYSTEM_FILES.search(path.as_posix()):
            continue
        text = path.read_text("utf-8")
        for found in (*SYSTEM_HEADER.findall(text), *SYSTEM_NAME.findall(text)):
            yield f"{path.relative_to(ROOT)} has {found}; only base/system*.c and cli/console*.c may ask which system this is"


ANY_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def private_headers_in_program() -> Iterator[str]:
    """The program is what any other program over libgrain could be."""
    program = ROOT / "libgrain/cli"
    for path in sorted(program.glob("*.[ch]")):
        for name in ANY_INCLUDE.findall(path.read_text("utf-8")):
            if not name.startswith("grain/") and not (program / name).is_file():
                yield f"{path.relative_to(ROOT)} includes {name}; the program may only include grain/*.h and its own headers"


PUBLIC_CALL = re.compile(r"^GRAIN_API\b[^;{]*?\b(grain_\w+)\(", re.MULTILINE)
# Folders of public headers where they are not named alike; calls on a job that run no stage are the job's.
HOMES = {"job": "stage", "sim": "simulate", "upsample": "refine"}


def strayed_public_calls() -> Iterator[str]:
    """What grain/NAME.h declares is defined in src/NAME/NAME.c, with the checks of its arguments."""
    for header in sorted((ROOT / "libgrain/include/grain").glob("*.h")):
        for call in PUBLIC_CALL.findall(header.read_text("utf-8")):
            folder = "job" if call.startswith("grain_job_") else HOMES.get(header.stem, header.stem)
            file = SOURCE / folder / f"{folder}.c"
            if not file.is_file() or not re.search(rf"^\w[^;\n]*\b{call}\(", file.read_text("utf-8"), re.MULTILINE):
                yield f"{call} of grain/{header.name} is not defined in {file.relative_to(ROOT)}"


def umbrella_out_of_order() -> Iterator[str]:
    """grain.h lists every public header behind those that it includes; a formatter that sorts them is told not to."""
    folder = ROOT / "libgrain/include/grain"
    listed = re.findall(r'^#include "grain/(\w+)\.h"', (folder / "grain.h").read_text("utf-8"), re.MULTILINE)
    for name in sorted({path.stem for path in folder.glob("*.h")} - {*listed, "grain"}):
        yield f"grain.h does not include {name}.h"
    for number, name in enumerate(listed):
        for needed in re.findall(r'^#include "grain/(\w+)\.h"', (folder / f"{name}.h").read_text("utf-8"), re.MULTILINE):
            if needed not in listed[:number]:
                yield f"grain.h includes {name}.h before {needed}.h, which that one needs"


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Names of modules as written, and how many dots stand before them."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level


def tests_that_import_tests() -> Iterator[str]:
    """What tests share has a file of its own: so that a test can be changed without breaking others."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name, _ in imports(path):
            if name.split(".")[-1].startswith("test_"):
                yield f"{path.relative_to(ROOT)} imports {name}; what both need belongs into a file beside them"


# A package of the add-on imports only those before it here; scene/read reads Blender's data, look makes materials and
# shapes, show puts frames into Blender, manage does what buttons ask for. Modules beside them may be imported by all.
ADDON_ORDER = ("engine", "scene", "scene/read", "scene/look", "scene/show", "scene/manage", "properties", "panels", "operators")


def addon_package(parts: tuple[str, ...]) -> str:
    """Of a module's path below the add-on; "" beside the packages."""
    return next(("/".join(parts[:depth]) for depth in (2, 1) if "/".join(parts[:depth]) in ADDON_ORDER), "")


def wrong_imports_in_addon() -> Iterator[str]:
    for path in sorted(ADDON.rglob("*.py")):
        folder = path.relative_to(ADDON).parent.parts
        home = addon_package(folder)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not home or not isinstance(node, ast.ImportFrom) or node.level == 0:
                continue
            around = (*folder[:len(folder) + 1 - node.level], *(node.module or "").split("."))
            for alias in node.names:
                package = addon_package(tuple(part for part in (*around, alias.name) if part))
                if package and ADDON_ORDER.index(package) > ADDON_ORDER.index(home):
                    yield f"{path.relative_to(ROOT)}:{node.lineno} imports {package}, which comes after {home}"


BLENDER_MODULES = {"bpy", "bpy_extras", "mathutils", "blf", "gpu", "bmesh", "addon_utils"}


def blender_in_engine() -> Iterator[str]:
    for path in sorted((ADDON / "engine").rglob("*.py")):
        for name, level in imports(path):
            if level == 0 and name.split(".")[0] in BLENDER_MODULES:
                yield f"{path.relative_to(ROOT)} imports {name}; engine/ must not know Blender"
            if level > 1:
                yield f"{path.relative_to(ROOT)} imports from outside engine/"


def stray_ctypes() -> Iterator[str]:
    for path in sorted(ADDON.rglob("*.py")):
        if (path.parent != ADDON / "engine" or not path.name.startswith("ffi")) and any(name.split(".")[0] == "ctypes" for name, _ in imports(path)):
            yield f"{path.relative_to(ROOT)} imports ctypes; only engine/ffi*.py may"


def stray_version_checks() -> Iterator[str]:
    for path in sorted(ADDON.rglob("*.py")):
        if path != ADDON / "compat.py" and re.search(r"bpy\.app\.version", path.read_text("utf-8")):
            yield f"{path.relative_to(ROOT)} asks for Blender's version; only compat.py may"


# Calls that open, look at, list or delete a file by its path, and where they may be: at the door, and where no cache is.
FILE_CALLS = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "unlink", "rmtree", "iterdir", "scandir", "listdir", "glob", "rglob",
              "symlink_to", "touch", "lstat", "fromfile", "tofile", "move", "copyfile", "remove", "rename"}
AWAY_FROM_CACHES = {"engine/door.py", "engine/ffi_files.py", "engine/schema.py", "engine/priority.py", "engine/bake_log.py:write_csv"}
THROUGH_THE_DOOR = {"door", "folder", "here", "place"}  # what such a call is a door's on; and cache.move() and others of Grain's own


def files_past_the_door() -> Iterator[str]:
    """Caches and jobs may come from a stranger: engine/door.py is the only way to their files."""
    for path in sorted(ADDON.rglob("*.py")):
        home = path.relative_to(ADDON).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        spared = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and f"{home}:{node.name}" in AWAY_FROM_CACHES]
        spared_lines = {number for node in spared for number in range(node.lineno, node.end_lineno + 1)}
        for node in ast.walk(tree) if home not in AWAY_FROM_CACHES else ():
            if isinstance(node, ast.Call) and node.lineno not in spared_lines and is_file_call(node.func):
                yield f"{home}:{node.lineno} goes past engine/door.py"


def is_file_call(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id == "open"
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    if name in ("os", "shutil"):
        return function.attr in FILE_CALLS | {"stat", "replace", "unlink"}
    return function.attr in FILE_CALLS - {"remove", "move", "rename"} and name.lstrip("_") not in THROUGH_THE_DOOR


def bare_excepts() -> Iterator[str]:
    for path in sorted(ADDON.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler) and node.type is None:
                yield f"{path.relative_to(ROOT)}:{node.lineno} has a bare except"


def missing_hints() -> Iterator[str]:
    for path in sorted(ADDON.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                arguments = [argument for argument in node.args.args + node.args.kwonlyargs
                             if argument.arg not in ("self", "cls")]
                if node.returns is None or any(argument.annotation is None for argument in arguments):
                    yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name} lacks type hints"


def long_files() -> Iterator[str]:
    for path in sorted(ADDON.rglob("*.py")):
        count = len(path.read_text("utf-8").splitlines())
        if count > 400:
            yield f"{path.relative_to(ROOT)} has {count} lines; split it by idea"


def long_headers() -> Iterator[str]:
    """All who work on a folder read its headers, and are compiled again with each change of them."""
    for path in sorted(SOURCE.rglob("*.h")):
        count = len(path.read_text("utf-8").splitlines())
        if count > 200:
            yield f"{path.relative_to(ROOT)} has {count} lines; split it by idea"


RENDERED_FROM = re.compile(rb"File\0[^\0]*?\.blend|File:[^\0]*?\.blend")


def pictures_with_paths() -> Iterator[str]:
    """Blender writes the path of the file into every picture, and with it whose machine that was."""
    for folder in ("example_blends", "libgrain/docs", "addon/docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".jpg", ".png", ".webp") and RENDERED_FROM.search(path.read_bytes()):
                yield f"{path.relative_to(ROOT)} names the file it was rendered from"


FORMATTER = "clang-format-14"  # others break lines elsewhere


def unformatted() -> Iterator[str]:
    files = sorted(path for folder in ("libgrain", "tests") for path in (ROOT / folder).rglob("*")
                   if path.suffix in (".c", ".h", ".cpp") and "third_party" not in path.parts)
    found = subprocess.run([FORMATTER, "--dry-run", *map(str, files)], cwd=ROOT, capture_output=True, text=True, check=True).stderr
    for name in sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning", found, re.MULTILINE))):
        yield f"{Path(name).relative_to(ROOT)} is not formatted; ./build.sh format does it"


LICENCE_LINE = "SPDX-License-Identifier: GPL-3.0-or-later"


def without_licence() -> Iterator[str]:
    if "GNU GENERAL PUBLIC LICENSE" not in (ROOT / "LICENSE").read_text("utf-8"):
        yield "LICENSE is not the GNU General Public License"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for path in (ROOT / name for name in listed if "third_party" not in name):
        is_source = path.suffix in (".c", ".h", ".cpp", ".py", ".sh", ".cmake") or path.name == "CMakeLists.txt"
        if is_source and path.is_file() and LICENCE_LINE not in path.read_text("utf-8")[:300]:
            yield f"{path.relative_to(ROOT)} does not begin with {LICENCE_LINE}"


# What no standard settles to the last bit, so that every machine has its own.
MACHINE_DEPENDENT = re.compile(
    r"\b(?:__builtin_)?((?:a?(?:sin|cos|tan)h?|atan2|sincos|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|erfc?"
    r"|[lt]gamma|fmin|fmax|fma)[fl]?|rand|rand_r|random|drand48)\s*\(")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
ESTIMATE = re.compile(r"\b_mm\d*_(?:mask_|maskz_)?(?:rcp|rsqrt|fmadd|fmsub|fnmadd|fnmsub)\w*")


def machine_dependent_math() -> Iterator[str]:
    """Results must be the same bits on every machine: base/real.h."""
    for path in c_files():
        code = COMMENT_OR_TEXT.sub(lambda found: "\n" * found[0].count("\n"), path.read_text("utf-8"))
        for number, line in enumerate(code.splitlines(), 1):
            for name in MACHINE_DEPENDENT.findall(line) + ESTIMATE.findall(line):
                yield f"{path.relative_to(ROOT)}:{number} uses {name}, which differs between machines; see base/real.h"


# Files that an earlier Grain made, and the digest of all their names and bytes. A rename over the whole tree has changed one before.
SAMPLES = {"3007b5f": "13d7d76463a40ab8", "dem_7": "4f3b25a3b8a5bb61"}


def changed_samples() -> Iterator[str]:
    for name, digest in SAMPLES.items():
        folder = ROOT / "tests/data" / name
        digests = [(path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
                   for path in sorted(folder.rglob("*")) if path.is_file()]
        if hashlib.sha256(repr(digests).encode()).hexdigest()[:16] != digest:
            yield f"tests/data/{name} is not what an earlier Grain made; git log --stat -- tests/data/{name} shows what changed it"


RULES = {
    "includes_follow_the_order": wrong_includes,
    "sim_includes_follow_the_order": wrong_includes_in_sim,
    "addon_imports_follow_the_order": wrong_imports_in_addon,
    "solvers_are_asked_through_the_table": solvers_from_outside,
    "openmp_only_in_parallel_h": stray_openmp,
    "the_system_only_in_system_files": stray_system_calls,
    "program_over_public_headers": private_headers_in_program,
    "public_calls_in_the_file_of_their_folder": strayed_public_calls,
    "umbrella_header_in_order": umbrella_out_of_order,
    "tests_share_no_tests": tests_that_import_tests,
    "engine_without_blender": blender_in_engine,
    "ctypes_only_in_ffi": stray_ctypes,
    "blender_version_only_in_compat": stray_version_checks,
    "files_of_caches_only_through_the_door": files_past_the_door,
    "no_bare_except": bare_excepts,
    "type_hints_everywhere": missing_hints,
    "no_file_too_long": long_files,
    "no_private_header_too_long": long_headers,
    "no_paths_in_pictures": pictures_with_paths,
    "c_is_formatted": unformatted,
    "every_source_names_its_licence": without_licence,
    "math_is_the_same_everywhere": machine_dependent_math,
    "samples_of_earlier_grains_are_kept": changed_samples,
    "texts_are_plain": wording.problems,
}


def main() -> int:
    failed = 0
    for name, rule in RULES.items():
        if rule is unformatted and not shutil.which(FORMATTER):
            print(f"skip layers/check_layers:{name}: there is no {FORMATTER}")
            continue
        found = list(rule())
        failed += bool(found)
        print(f"not ok layers/check_layers:{name}: {'; '.join(found)}" if found else f"ok layers/check_layers:{name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
