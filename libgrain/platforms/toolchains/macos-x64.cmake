# SPDX-License-Identifier: GPL-3.0-or-later
set(GRAIN_PLATFORM macos-x64)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
include("${CMAKE_CURRENT_LIST_DIR}/macos.cmake")
