# SPDX-License-Identifier: GPL-3.0-or-later
# What all platforms have in common. The including file has set GRAIN_PLATFORM; the programs in GRAIN_TOOLS are written by
# dependencies.py: CMake cannot be told of a compiler that is two words, such as `zig cc`.
get_filename_component(GRAIN_PLATFORM_BUILD "${CMAKE_CURRENT_LIST_DIR}/../../../build/platforms/${GRAIN_PLATFORM}" ABSOLUTE)
set(GRAIN_TOOLS "${GRAIN_PLATFORM_BUILD}/tools")

# Only what was built for this platform is found, nothing of the machine that builds.
set(CMAKE_FIND_ROOT_PATH "${GRAIN_PLATFORM_BUILD}/deps")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${GRAIN_PLATFORM_BUILD}/deps/lib/pkgconfig")

# A section for each function, so that the linker leaves out what nothing calls. No contraction: the same bits everywhere.
foreach(language C CXX)
    set(CMAKE_${language}_FLAGS_INIT "-ffunction-sections -fdata-sections -ffp-contract=off")
endforeach()
