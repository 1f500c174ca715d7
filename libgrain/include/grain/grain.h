// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// All of libgrain, in the order of the pipeline.
#include "grain/ahead.h"
#include "grain/base.h"
#include "grain/cover.h"
#include "grain/dots.h"
#include "grain/job.h"
#include "grain/mesh.h"
#include "grain/output.h"
#include "grain/run.h"
#include "grain/sdf.h"
#include "grain/shape.h"
