// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Changing and writing the manifest, which only cache.c and cache_repair.c do, and what its reader shares with them.
#include "output/cache.h"

#include <stddef.h>

#define MANIFEST_FORMAT 2
#define MANIFEST_NAME "cache.json"
#define MANIFEST_MOST_BYTES ((int64_t)1 << 30) // millions of frames have half of it

GrainResult manifest_add_frame(CacheManifest *manifest, const CacheFrame *frame);
/// Takes over job name, fingerprint, fps and frame range; the frames stay.
GrainResult manifest_set_job(CacheManifest *manifest, const CacheManifest *wanted);
GrainResult manifest_write(const char *folder, const CacheManifest *manifest, int64_t *bytes_written);

/// The end of the file: its last entry, the checksum of all bytes before, followed by a zero byte.
#define MANIFEST_SEAL_BYTES 35
void manifest_seal(char out[MANIFEST_SEAL_BYTES + 1], const char *text, size_t bytes);
/// Whether a file ends so.
int manifest_is_sealed(const char *text, size_t bytes);

/// From alloc_array; NULL with the error text set when memory is short.
char *manifest_copy_text(const char *text);
