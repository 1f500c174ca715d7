// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Frames and covers for other programs.
#include "grain/output.h"
#include "output/column_file.h"

/// One of those below, as def says; the frame must have data.
GrainResult export_frame(const struct GrainFrame *frame, const GrainExportDef *def, int threads);
/// Binary little-endian PLY: float x y z nx ny nz radius weight.
GrainResult export_cover(const char *path, const GrainCover *cover);

/// Binary little-endian PLY, a vertex for each particle: float x y z vx vy vz radius, then orientation as qw qx qy qz,
/// id and every further column, as far as the frame has them; without a column of ids it is the particle's number.
/// Whole numbers of 64 bits become doubles, which PLY has and which hold them up to 2^53.
GrainResult export_ply(const char *path, const struct GrainFrame *frame);
/// OpenVDB points (vdb/vdb_shim.h).
GrainResult export_points(const char *path, const struct GrainFrame *frame);
/// The grids density and velocity; voxel_radii: edge of a voxel, in radii of the mean particle. Particles count as
/// spheres.
GrainResult export_grids(const char *path, const struct GrainFrame *frame, float voxel_radii, double fps, int threads);
