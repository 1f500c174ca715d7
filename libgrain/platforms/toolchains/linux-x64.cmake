# SPDX-License-Identifier: GPL-3.0-or-later
set(GRAIN_PLATFORM linux-x64)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER gcc)
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")
