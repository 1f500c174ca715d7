# SPDX-License-Identifier: GPL-3.0-or-later
# Linux with glibc 2.28 or newer. gcc compiles C, for speed; `zig c++` compiles C++ and brings its own standard library;
# `zig cc` links both, against a glibc of 2.28.
set(CMAKE_SYSTEM_NAME Linux)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
set(CMAKE_CXX_COMPILER "${GRAIN_TOOLS}/c++")
set(CMAKE_C_LINK_EXECUTABLE
    "${GRAIN_TOOLS}/cc <CMAKE_C_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES> ${GRAIN_LIBGCC}")
set(CMAKE_C_CREATE_SHARED_LIBRARY
    "${GRAIN_TOOLS}/cc -shared <LINK_FLAGS> <SONAME_FLAG><TARGET_SONAME> -o <TARGET> <OBJECTS> <LINK_LIBRARIES> ${GRAIN_LIBGCC}")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "${GRAIN_LIBGCC}")
foreach(kind EXE SHARED)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "-Wl,--gc-sections")
endforeach()
