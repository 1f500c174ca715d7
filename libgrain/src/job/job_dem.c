// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about materials, and about the shapes of grains.
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/schema.h"
#include "shape/shape.h"

#include <string.h>

GrainResult job_read_material(const JobNode *source, Job *job, const JobArrays *arrays, int *material)
{
    JobNode node;
    JobDem *dem = &job->dem;
    *material = 0;
    if (!json_object_get(source->object, "material")) return GRAIN_OK;
    TRY(job_child(source, "material", &node));
    TRY(schema_check_keys(&node, &schema_material, 0));
    if (dem->material_count == JOB_MAX_MATERIALS)
        return fail(GRAIN_ERROR_JOB, "job.json: %s: at most %d sources can have a material of their own", node.path,
                    JOB_MAX_MATERIALS);
    SimMaterial *own = &dem->materials[dem->material_count];
    *own = (SimMaterial){job->density,  job->friction,      job->rolling_friction, job->restitution,
                         dem->cohesion, dem->young_modulus, dem->poisson_ratio,    job->law};
    TRY(schema_read(&node, &schema_material, 0, own));
    *material = ++dem->material_count;
    return job_read_material_curves(&node, job, arrays, *material);
}

GrainResult job_grain_shape(const Job *job, BallShape *out)
{
    if (!solver_find(job->solver)->traits.has_shapes) return shape_by_name("sphere", out);
    if (strcmp(job->dem.grain_shape, "mesh") != 0) return shape_by_name(job->dem.grain_shape, out);
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        if (object->role != JOB_GRAIN) continue;
        GrainResult result = shape_from_mesh(&object->mesh, job->dem.grain_balls, out);
        return result == GRAIN_OK ? result : fail_within(result, "object '%s'", object->name);
    }
    return fail(GRAIN_ERROR_JOB, "job.json: solver.grain_shape is \"mesh\", but no object has the role \"grain\"");
}
