// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What the library does with a mesh, one stage after another, with settings from the input.
#include "fuzz/fuzz.h"
#include "grain/grain.h"

/// Each stage succeeds with a sound result or fails with a text; anything else is found.
void fuzz_mesh_stages(const GrainMesh *mesh, FuzzBytes *settings);
