// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about the material of the solver meso.
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/schema.h"

#define MAX_REACH 8.0 // diameters

// [strength, rest, from, to] or, of viscous ones, [strength, from, to].
static GrainResult read_piece(const JobNode *solver, const char *key, const json_t *list, size_t at, int is_elastic,
                              SimMesoSegment *out)
{
    const json_t *piece = json_array_get(list, at);
    size_t count = is_elastic ? 4 : 3;
    double number[4] = {0}, strongest = schema_find(&schema_solver, 0, is_elastic ? "elasticity" : "viscosity")->high;
    int is_right = json_is_array(piece) && json_array_size(piece) == count;
    for (size_t i = 0; is_right && i < count; i++) {
        const json_t *value = json_array_get(piece, i);
        number[i] = json_number_value(value);
        double most = i > 0 ? MAX_REACH : strongest;
        is_right = json_is_number(value) && number[i] >= 0.0 && number[i] <= most;
    }
    double from = number[count - 2], to = number[count - 1];
    if (!is_right || from > to)
        return fail(GRAIN_ERROR_JOB,
                    "job.json: %s.%s[%d] must be [%s, from, to], all at least 0, from at most to, lengths at "
                    "most %g diameters",
                    solver->path, key, (int)at, is_elastic ? "strength, rest" : "strength", MAX_REACH);
    *out = (SimMesoSegment){(float)number[0], is_elastic ? (float)number[1] : 0.0f, (float)from, (float)to};
    return GRAIN_OK;
}

static GrainResult read_pieces(const JobNode *solver, const char *key, int is_elastic, SimMesoSegment *segments,
                               int *count)
{
    const json_t *list = json_object_get(solver->object, key);
    if (!list) return GRAIN_OK;
    size_t more = json_array_size(list);
    if (!json_is_array(list) || *count + (int)more > SIM_MESO_SEGMENTS)
        return fail(GRAIN_ERROR_JOB, "job.json: %s.%s must be a list of at most %d pieces", solver->path, key,
                    SIM_MESO_SEGMENTS - *count);
    for (size_t i = 0; i < more; i++) TRY(read_piece(solver, key, list, i, is_elastic, &segments[(*count)++]));
    return GRAIN_OK;
}

GrainResult job_make_meso(const JobNode *solver, float viscosity, Job *job)
{
    SimMesoNumbers n = job->meso_given.numbers;
    n.viscosity = viscosity;
    job->meso = sim_meso_of(&n);
    job->meso.ambient = job->meso_given.ambient;
    TRY(read_pieces(solver, "elastic_pieces", 1, job->meso.elastic, &job->meso.elastic_count));
    return read_pieces(solver, "viscous_pieces", 0, job->meso.viscous, &job->meso.viscous_count);
}

GrainResult job_read_meso(const JobNode *solver, Job *job)
{
    const SimMesoNumbers *n = &job->meso_given.numbers;
    double reach = (double)(n->elastic_reach * n->reach_ratio);
    if (reach > MAX_REACH)
        return fail(GRAIN_ERROR_JOB,
                    "job.json: %s.elastic_reach times reach_ratio is %g; it must be at most %g diameters", solver->path,
                    reach, MAX_REACH);
    return job_make_meso(solver, n->viscosity, job);
}
