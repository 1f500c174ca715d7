// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// All of libgrain, in the order of the pipeline.
// clang-format off
#include "grain/base.h"
#include "grain/run.h"
#include "grain/mesh.h"
#include "grain/sdf.h"
#include "grain/cover.h"
#include "grain/shape.h"
#include "grain/scene.h"
#include "grain/output.h"
#include "grain/sim.h"
#include "grain/upsample.h"
#include "grain/job.h"
#include "grain/view.h"
// clang-format on
