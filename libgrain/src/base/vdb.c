// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/vdb.h"
#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SHIM_NAME "libgrain_vdb.so"

static VdbShim shim;
static char load_error[1024]; // why it cannot be used
static int is_usable;
static pthread_once_t shim_once = PTHREAD_ONCE_INIT;

// Beside libgrain first (or beside the program it is linked into), where the add-on puts it.
static void *open_shim(void)
{
    Dl_info info;
    char path[4096];
    if (dladdr((void *)&shim_once, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        int folder = slash ? (int)(slash - info.dli_fname) + 1 : 0;
        int length = snprintf(path, sizeof path, "%.*s%s", folder, info.dli_fname, SHIM_NAME);
        void *library = length < (int)sizeof path && folder > 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        if (library) return library;
        snprintf(load_error, sizeof load_error, "%s", dlerror());
    }
    void *library = dlopen(SHIM_NAME, RTLD_NOW | RTLD_LOCAL);
    if (!library && !load_error[0]) snprintf(load_error, sizeof load_error, "%s", dlerror());
    return library;
}

static void load_shim(void)
{
    void *library = open_shim(); // never closed: TBB's threads live on
    if (!library) return;
    VdbVersionFn *version = (VdbVersionFn *)dlsym(library, "vdb_shim_version");
    if (!version || version() != VDB_SHIM_VERSION) {
        snprintf(load_error, sizeof load_error, "%s is of another version than libgrain", SHIM_NAME);
        return;
    }
    shim.level_set_write = (VdbLevelSetWriteFn *)dlsym(library, "vdb_level_set_write");
    shim.level_set_open = (VdbLevelSetOpenFn *)dlsym(library, "vdb_level_set_open");
    shim.level_set_read = (VdbLevelSetReadFn *)dlsym(library, "vdb_level_set_read");
    shim.reader_close = (VdbReaderCloseFn *)dlsym(library, "vdb_reader_close");
    shim.grids_write = (VdbGridsWriteFn *)dlsym(library, "vdb_grids_write");
    shim.points_write = (VdbPointsWriteFn *)dlsym(library, "vdb_points_write");
    is_usable = shim.level_set_write && shim.level_set_open && shim.level_set_read && shim.reader_close &&
                shim.grids_write && shim.points_write;
    if (!is_usable) snprintf(load_error, sizeof load_error, "%s lacks a function", SHIM_NAME);
}

GrainResult vdb_need(void)
{
    pthread_once(&shim_once, load_shim);
    if (is_usable) return GRAIN_OK;
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
    return fail(result, "%s: %s", path, message->text);
}
