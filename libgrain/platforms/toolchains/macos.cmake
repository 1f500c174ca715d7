# SPDX-License-Identifier: GPL-3.0-or-later
# macOS 11 or newer, all by Zig, whose linker also signs (ad hoc), without which arm64 refuses to load a file.
set(CMAKE_SYSTEM_NAME Darwin)
include("${CMAKE_CURRENT_LIST_DIR}/common.cmake")
set(CMAKE_C_COMPILER "${GRAIN_TOOLS}/cc")
set(CMAKE_CXX_COMPILER "${GRAIN_TOOLS}/c++")
set(CMAKE_AR "${GRAIN_TOOLS}/ar")
set(CMAKE_RANLIB "${GRAIN_TOOLS}/ranlib")
set(CMAKE_INSTALL_NAME_TOOL "${GRAIN_TOOLS}/none") # asked for, though nothing is to be renamed
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "the compiler's target says it")
foreach(kind EXE SHARED)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "-Wl,-dead_strip")
endforeach()
