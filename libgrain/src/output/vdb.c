// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/vdb.h"
#include "base/error.h"
#include "base/system.h"

#include <stdatomic.h>
#include <stdio.h>

#define SHIM_NAME SYSTEM_LIBRARY_NAME("grain_vdb")
// Bytes of addresses that have to be left before OpenVDB is loaded. Debian's brings 60 MB of libraries, and one of them
// starts threads, each with a stack of 8 MB: if it cannot, it ends the process.
#define ROOM_TO_LOAD ((uint64_t)160 << 20)

static VdbShim shim;
static char load_error[1024]; // why it cannot be used
static _Atomic int is_usable;
static pthread_once_t shim_once = PTHREAD_ONCE_INIT;

// Beside libgrain or the program it is linked into, where the add-on puts it; where an installed program's libraries
// are; and last where Linux keeps libraries.
static void *open_shim(void)
{
    static const char *const places[] = {"", GRAIN_LIBRARY_FOLDER};
    char folder[4096], path[sizeof folder + sizeof GRAIN_LIBRARY_FOLDER SHIM_NAME];
    int has_folder = system_folder_of_code((void *)&shim_once, folder, sizeof folder) == 0;
    if (!has_folder) snprintf(load_error, sizeof load_error, "the folder it should be in is unknown");
    for (size_t i = 0; has_folder && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s%s", folder, places[i], SHIM_NAME);
        void *library = system_library_open(path);
        if (library) return library;
        if (i == 0) snprintf(load_error, sizeof load_error, "%s", system_library_error());
    }
    return system_library_find(SHIM_NAME);
}

static void load_shim(void)
{
    void *library = open_shim(); // never closed: TBB's threads live on
    if (!library) return;
    VdbVersionFn *version = (VdbVersionFn *)system_library_symbol(library, "vdb_shim_version");
    if (!version || version() != VDB_SHIM_VERSION) {
        snprintf(load_error, sizeof load_error, "%s belongs to another version than libgrain", SHIM_NAME);
        return;
    }
    shim.level_set_write = (VdbLevelSetWriteFn *)system_library_symbol(library, "vdb_level_set_write");
    shim.level_set_open = (VdbLevelSetOpenFn *)system_library_symbol(library, "vdb_level_set_open");
    shim.level_set_read = (VdbLevelSetReadFn *)system_library_symbol(library, "vdb_level_set_read");
    shim.reader_close = (VdbReaderCloseFn *)system_library_symbol(library, "vdb_reader_close");
    shim.grids_write = (VdbGridsWriteFn *)system_library_symbol(library, "vdb_grids_write");
    shim.points_write = (VdbPointsWriteFn *)system_library_symbol(library, "vdb_points_write");
    int is_whole = shim.level_set_write && shim.level_set_open && shim.level_set_read && shim.reader_close &&
                   shim.grids_write && shim.points_write;
    atomic_store(&is_usable, is_whole);
    if (!is_whole) snprintf(load_error, sizeof load_error, "%s lacks a function", SHIM_NAME);
}

// Whether there are enough addresses left. A memory limit may be on them.
static int has_room(void)
{
    void *room = system_map(ROOM_TO_LOAD);
    if (room) system_unmap(room, ROOM_TO_LOAD);
    return room != NULL;
}

GrainResult vdb_need(void)
{
    if (!atomic_load(&is_usable) && !has_room())
        return fail(GRAIN_ERROR_MEMORY,
                    "OpenVDB, which .vdb files need, takes %d MB to load, more than the memory limit leaves: raise the "
                    "limit (ulimit -v), or close other programs",
                    (int)(ROOM_TO_LOAD >> 20));
    pthread_once(&shim_once, load_shim);
    if (atomic_load(&is_usable)) return GRAIN_OK;
    return fail(
        GRAIN_ERROR_IO,
        ".vdb files cannot be used, because OpenVDB's part of Grain cannot be loaded (%s): reinstall the add-on, "
        "or build with OpenVDB installed",
        load_error);
}

const VdbShim *vdb_shim(void) { return &shim; }

GrainResult vdb_fail(int32_t code, const char *path, const VdbMessage *message)
{
    GrainResult result = code == VDB_ERROR_IO       ? GRAIN_ERROR_IO
                         : code == VDB_ERROR_MEMORY ? GRAIN_ERROR_MEMORY
                                                    : GRAIN_ERROR_DAMAGED;
    const char *remedy = code == VDB_ERROR_MEMORY ? ": use larger voxels, or close other programs" : "";
    return fail(result, "%s: %s%s", path, message->text, remedy);
}
