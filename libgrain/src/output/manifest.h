// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Changing and writing the manifest; only cache.c does.
#include "output/cache.h"

GrainResult manifest_add_frame(CacheManifest *manifest, const CacheFrame *frame);
/// Takes over job name, fingerprint, fps and frame range; the frames stay.
GrainResult manifest_set_job(CacheManifest *manifest, const CacheManifest *wanted);
GrainResult manifest_write(const char *folder, const CacheManifest *manifest, int64_t *bytes_written);
