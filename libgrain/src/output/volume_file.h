// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// .vdb files of the cache: whole or not there, with a checksum over all their bytes in the manifest.
#include "output/cache.h"
#include "output/vdb.h"

/// "<folder>/volume_0017.vdb", from alloc_array. Blender counts the files of a sequence from 0 on, so where a bake
/// begins before frame 0 its first frame has the number 0 (CacheManifest.number_shift).
GrainResult volume_file_path(const char *folder, int32_t number, char **path);
/// Fills in header->bytes and header->checksum (XXH3-64 of the file).
GrainResult volume_file_write(const char *path, const VdbFile *file, ColumnFileHeader *header);
/// Grains as OpenVDB points.
GrainResult volume_file_write_points(const char *path, const VdbPoints *points);
/// GRAIN_ERROR_DAMAGED where the file is not the one that the manifest lists.
GrainResult volume_file_check(const char *folder, const CacheManifest *manifest, const CacheFrame *frame);
