# SPDX-License-Identifier: GPL-3.0-or-later
set(GRAIN_PLATFORM linux-arm64)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_AR aarch64-linux-gnu-ar)
set(CMAKE_RANLIB aarch64-linux-gnu-ranlib)
set(CMAKE_STRIP aarch64-linux-gnu-strip)
# gcc's atomics ask the processor at run time which instructions to use; that part is in its own library.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-libgcc-file-name
    OUTPUT_VARIABLE GRAIN_LIBGCC OUTPUT_STRIP_TRAILING_WHITESPACE)
include("${CMAKE_CURRENT_LIST_DIR}/linux.cmake")
