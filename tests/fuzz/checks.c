// SPDX-License-Identifier: GPL-3.0-or-later
#include "fuzz/checks.h"
#include "fuzz/fuzz.h"
#include "sdf/sdf.h"

void fuzz_must(GrainResult result)
{
    if (result != GRAIN_OK) fuzz_found("error %d '%s'", (int)result, grain_last_error());
}

void fuzz_check_word(GrainResult result)
{
    if (result < 0 && !grain_last_error()[0]) fuzz_found("error %d without a word", (int)result);
}

void fuzz_sample(const GrainSdf *sdf)
{
    Vec3 low, high;
    sdf_bounds(sdf, &low, &high);
    for (int i = 0; i < 64; i++) {
        Vec3 gradient, part = {(float)(i % 4) / 3.0f, (float)(i / 4 % 4) / 3.0f, (float)(i / 16) / 3.0f};
        Vec3 place = {low.x + (high.x - low.x) * part.x, low.y + (high.y - low.y) * part.y,
                      low.z + (high.z - low.z) * part.z};
        sdf_sample_point(sdf, place, &gradient);
    }
}
