// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// OpenVDB, where it is there: libgrain_vdb.so, loaded when a .vdb file is first asked for.
#include "../../vdb/vdb_shim.h"
#include "grain/base.h"

typedef struct VdbShim {
    VdbLevelSetWriteFn *level_set_write;
    VdbLevelSetOpenFn *level_set_open;
    VdbLevelSetReadFn *level_set_read;
    VdbReaderCloseFn *reader_close;
    VdbGridsWriteFn *grids_write;
    VdbPointsWriteFn *points_write;
} VdbShim;

/// GRAIN_ERROR_IO says why .vdb files cannot be used here.
GrainResult vdb_need(void);
/// Its functions; only after vdb_need.
const VdbShim *vdb_shim(void);
/// What a VdbError about this file is to a caller of libgrain.
GrainResult vdb_fail(int32_t code, const char *path, const VdbMessage *message);
