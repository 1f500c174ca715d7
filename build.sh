#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The one entry to building, testing and measuring Grain. `./build.sh help` lists the commands.
set -euo pipefail
cd "$(dirname "$0")"
CALLER_PATH=$PATH
# Debian's Blender takes its Python modules from beside the python3 that comes first on the path: the system's must.
export PATH="/usr/bin:/bin:$PATH"

usage() {
    cat <<'TEXT'
usage: ./build.sh [command]

  (none)              build, package the add-on, bake and render the demo; ends with the picture's path
  test [--heavy] [-k TEXT]  build and run every test; -k runs those whose name holds TEXT
  versions [-k TEXT]  the add-on's tests in Blender 4.2, 4.5, 5.0, 5.1 and 5.2, as Python modules from the package index
                      (0.6 GB each; 5.1 and 5.2 need Python 3.13)
  bench [NAME]        benchmarks, with rivals in the same run; writes build/bench.json
  asan | tsan         C tests under address + undefined, or thread sanitizer
  fuzz [NAME] [SECONDS]  feeds broken meshes and files to the library, led by coverage, under sanitizers; by default
                      every target of tests/fuzz for 60 s. What it finds is kept in build/fuzz/found
  faults [MINUTES] [--only KIND,...] [--trial KIND:SEED:NUMBER]  kills, full disks, damaged and forged files, links, and
                      more against every stage and solver, from a seed; ends in a table. By default five minutes
  gallery [NAME ...] [--small] [--time] [--preview]  bakes, measures and renders the example scenes (all without a
                      name), and writes their table, example_blends/README.md
  package             the add-on as zip: legacy (Blender 3.4 to 4.1) and extension (4.2 and later)
  release             the add-on as zips for Linux, Windows and macOS, with nothing else to install, in build/package/release;
                      also the index for Blender's updates, checksums, and the list of all components
  release test [-k TEXT]  the same, then the tests of it: what the binaries ask for, Windows' under wine, arm64's under
                      qemu, equal bytes everywhere, the zip in a bare system
  wine                the library and the program for Windows, and their quick tests under wine
  arm64               the library and the program for 64-bit ARM, and their quickest tests under qemu
  format              clang-format over all C and C++ sources
  lint                ruff over all Python, and mypy over addon/grain/engine

Missing Debian packages are installed when run as root, otherwise named.
TEXT
}

# --- what has to be installed -------------------------------------------------------------------

BUILD_PACKAGES="gcc g++ cmake ninja-build pkg-config python3 libjansson-dev libxxhash-dev libzstd-dev libopenvdb-dev libtbb-dev libboost-dev libimath-dev"
BLENDER_PACKAGES="blender python3-numpy"
TEST_PACKAGES="xvfb xauth libgl1-mesa-dri libopenvdb-tools clang-format-14"
VERSIONS_PACKAGES="python3-venv xvfb xauth libgl1-mesa-dri libegl1 mesa-vulkan-drivers"
CLANG_PACKAGES="clang-14 libclang-rt-14-dev"
BENCH_PACKAGES="lammps"
PREVIEW_PACKAGES="webp"
WINDOWS_PACKAGES="gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix dpkg-dev python3-venv"
WINE_PACKAGES="wine64 wine"
ARM64_PACKAGES="gcc-aarch64-linux-gnu libc6-dev-arm64-cross dpkg-dev python3-venv"
RELEASE_PACKAGES="$WINDOWS_PACKAGES $ARM64_PACKAGES"
QEMU_PACKAGES="qemu-user-static"
RELEASE_TEST_PACKAGES="$WINE_PACKAGES $QEMU_PACKAGES debootstrap"
PLATFORMS="linux-x64 linux-arm64 windows-x64 macos-arm64 macos-x64"

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]; }

# Installs the packages named, or says which are missing. Other systems than Debian's family pass:
# there CMake names what it cannot find.
need() {
    command -v dpkg-query >/dev/null || return 0
    local missing="" package
    for package in "$@"; do is_installed "$package" || missing="$missing $package"; done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "build.sh: these packages are missing; install them and run this again:" >&2
        echo "  sudo apt-get install$missing" >&2
        exit 1
    fi
    echo "installing:$missing"
    local log
    log=$(mktemp)
    # shellcheck disable=SC2086
    if ! { DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
           DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "build.sh: apt-get could not install:$missing (the whole log: $log)" >&2
        exit 1
    fi
    rm -f "$log"
}

# The same for what can be done without.
want() {
    command -v dpkg-query >/dev/null && [ "$(id -u)" -eq 0 ] || return 0
    (need "$@") || echo "build.sh: going on without $*" >&2
}

# --- steps --------------------------------------------------------------------------------------

# compile KIND [cmake options]: configures once, then builds build/KIND; of it only $target where that is set.
compile() {
    local kind=$1
    shift
    cmake -S . -B "build/$kind" -G Ninja "$@" >"build/$kind.log" 2>&1 || { cat "build/$kind.log" >&2; exit 1; }
    cmake --build "build/$kind" --target "${target:-all}" -- --quiet
}

compile_release() { compile release -DCMAKE_BUILD_TYPE=Release "$@"; }
package() { python3 addon/package.py --binaries build/release --out build/package; }

command_default() {
    need $BUILD_PACKAGES $BLENDER_PACKAGES
    compile_release
    package
    python3 example_blends/render_demo.py --out build/demo
}

command_test() {
    need $BUILD_PACKAGES $BLENDER_PACKAGES $TEST_PACKAGES
    compile_release -DGRAIN_WERROR=ON
    package
    python3 tests/run.py --build build/release "$@"
}

# Which versions, and the Python each of them needs, stands in tests/blenders.py.
command_versions() {
    need $BUILD_PACKAGES $BLENDER_PACKAGES $VERSIONS_PACKAGES
    compile_release -DGRAIN_WERROR=ON
    package
    python3 tests/blenders.py --path "$CALLER_PATH"
    python3 tests/run.py --build build/release --only versions "$@"
}

command_bench() {
    need $BUILD_PACKAGES
    case "${1:-dem}" in dem) want $BENCH_PACKAGES ;; esac
    compile_release
    build/release/bin/grain_bench --json build/bench.json "$@"
}

# Which of the tests of physics/ a sanitizer has time for stands beside each of them (tests/unit/test.h).
command_asan() {
    need $BUILD_PACKAGES
    compile asan -DCMAKE_BUILD_TYPE=Debug -DGRAIN_SANITIZE=address -DGRAIN_WERROR=ON
    LSAN_OPTIONS="suppressions=$PWD/tests/data/openvdb_leaks.txt:print_suppressions=0" \
        python3 tests/run.py --build build/asan --only unit,fuzz,cli,faults "$@"
}

command_tsan() {
    # By clang, so that its way into base/team.c is tried too; all other builds are gcc's.
    need $BUILD_PACKAGES $CLANG_PACKAGES
    compile tsan -DCMAKE_BUILD_TYPE=Debug -DGRAIN_SANITIZE=thread -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14
    TSAN_OPTIONS="ignore_noninstrumented_modules=1:suppressions=$PWD/tests/data/openvdb_races.txt" \
        python3 tests/run.py --build build/tsan --only unit "$@"
}

# The targets start from the seeds of the driver in build/release and from what was found before.
command_fuzz() {
    need $BUILD_PACKAGES $CLANG_PACKAGES
    local target=fuzz_targets program name corpus words failed=0
    compile_release
    compile fuzz -DCMAKE_BUILD_TYPE=Debug -DGRAIN_SANITIZE=fuzzer -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14
    mkdir -p build/fuzz/found
    for program in build/fuzz/bin/fuzz/fuzz_${1:-*}; do
        name=${program##*/fuzz_}
        corpus=build/fuzz/corpus/$name
        mkdir -p "$corpus" "tests/fuzz/corpus/$name"
        "build/release/bin/fuzz/fuzz_$name" --write-seeds "$corpus"
        words=tests/fuzz/$name.dict
        [ -f "$words" ] && words=-dict=$words || words=-use_cmp=1 # which is the default
        echo "== fuzz_$name"
        OMP_WAIT_POLICY=passive "$program" -seed=1 -max_total_time="${2:-60}" -max_len=16384 -timeout=30 "$words" \
            -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1 -verbosity=0 \
            -artifact_prefix="build/fuzz/found/$name-" "$corpus" "tests/fuzz/corpus/$name" || failed=1
        # What the corpus reaches by now: `cov` is the number of edges.
        "$program" -runs=0 "$corpus" "tests/fuzz/corpus/$name" 2>&1 | grep "cov:" | tail -n 1 || true
    done
    return $failed
}

command_faults() {
    need $BUILD_PACKAGES
    compile_release -DGRAIN_WERROR=ON
    python3 tests/faults/run.py --build build/release --campaign "$@"
}

command_gallery() {
    need $BUILD_PACKAGES $BLENDER_PACKAGES
    want $PREVIEW_PACKAGES
    compile_release
    python3 example_blends/render_gallery.py "$@"
}

command_package() {
    need $BUILD_PACKAGES
    compile_release
    package
}

# Everything is built from pinned sources (libgrain/platforms); the native build is what tests compare with.
command_release() {
    local wants_tests="" platform
    if [ "${1:-}" = test ]; then wants_tests=yes; shift; fi
    need $BUILD_PACKAGES $RELEASE_PACKAGES
    python3 libgrain/platforms/binaries.py ${wants_tests:+--tests}
    rm -rf build/package/release
    for platform in $PLATFORMS; do
        python3 addon/package.py --platform "$platform" --binaries "build/platforms/$platform/bin" --out build/package/release
    done
    python3 addon/package.py --publish --out build/package/release
    [ -n "$wants_tests" ] || return 0
    need $RELEASE_TEST_PACKAGES $BLENDER_PACKAGES $TEST_PACKAGES
    compile_release -DGRAIN_WERROR=ON
    package
    python3 tests/blenders.py --path "$CALLER_PATH" 4.5 5.2
    if [ ! -x build/release_tools/bin/python ]; then
        python3 -m venv build/release_tools
        build/release_tools/bin/pip install -q --require-hashes -r tests/release/requirements.txt
    fi
    python3 tests/run.py --build build/release --only release,linux_unit,wine_unit,wine_cli,arm64_unit "$@"
}

command_wine() {
    need $BUILD_PACKAGES $WINDOWS_PACKAGES $WINE_PACKAGES
    compile_release -DGRAIN_WERROR=ON
    python3 libgrain/platforms/binaries.py --tests --without-openvdb windows-x64
    python3 tests/run.py --build build/release --only wine_unit,wine_cli -k "${2:-unit/test_|test_platforms|test_bake:|test_abi|test_errors}"
}

# qemu takes some twenty times as long: what differs between processors, and one simulation by each solver.
command_arm64() {
    need $BUILD_PACKAGES $ARM64_PACKAGES $QEMU_PACKAGES
    python3 libgrain/platforms/binaries.py --tests --without-openvdb linux-arm64
    python3 tests/run.py --build build/release --only arm64_unit \
        -k "${2:-unit/test_real|unit/test_team|unit/test_sort|unit/test_file|unit/test_column_file|frames_in_memory}"
}

command_format() {
    need clang-format-14
    git ls-files '*.c' '*.h' '*.cpp' | xargs -r clang-format-14 -i
}

# Both from the package index, pinned, in a Python of their own.
command_lint() {
    need python3 python3-venv
    local tools=build/lint_tools
    if ! cmp -s tests/lint/requirements.txt "$tools/requirements.txt"; then
        python3 -m venv --clear "$tools"
        "$tools/bin/pip" install -q --require-hashes --only-binary :all: -r tests/lint/requirements.txt
        cp tests/lint/requirements.txt "$tools"
    fi
    "$tools/bin/ruff" check --no-cache addon libgrain tests example_blends
    (cd addon && "../$tools/bin/mypy" --config-file ../.mypy.ini --cache-dir "../$tools/mypy" grain/engine)
}

mkdir -p build
command=${1:-default}
[ $# -eq 0 ] || shift
case "$command" in
    default | test | versions | bench | asan | tsan | fuzz | faults | gallery | package | release | wine | arm64 | format | lint) "command_$command" "$@" ;;
    help | -h | --help) usage ;;
    *) usage >&2; exit 2 ;;
esac
