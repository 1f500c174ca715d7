// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Distance fields as OpenVDB level sets.
#include "grain/sdf.h"

/// As grain_sdf_write_vdb and grain_sdf_read_vdb say; arguments are checked by the caller.
GrainResult level_set_write(const GrainSdf *sdf, const char *path, const char *grid_name);
GrainResult level_set_read(const char *path, const char *grid_name, GrainSdf **out);
