# SPDX-License-Identifier: GPL-3.0-or-later
set(GRAIN_PLATFORM macos-arm64)
set(CMAKE_SYSTEM_PROCESSOR arm64)
include("${CMAKE_CURRENT_LIST_DIR}/macos.cmake")
