// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about grains, materials and contact laws of the solver dem.
#include "base/error.h"
#include "job/job.h"
#include "shape/shape.h"

#include <string.h>

static GrainResult check_shape(const JobNode *solver, const char *name)
{
    for (int i = 0; shape_names[i]; i++)
        if (strcmp(shape_names[i], name) == 0) return GRAIN_OK;
    if (strcmp(name, "mesh") == 0) return GRAIN_OK;
    char list[128] = "";
    for (int i = 0; shape_names[i]; i++) strcat(strcat(list, shape_names[i]), ", ");
    return fail(GRAIN_ERROR_JOB, "job.json: %s.grain_shape is \"%.60s\"; it must be one of %smesh", solver->path, name,
                list);
}

GrainResult job_read_dem(const JobNode *solver, Job *job)
{
    const char *const *normal_names = solver_choices("normal_law"), *const *shear_names = solver_choices("shear_law"),
                      *const *integrator_names = solver_choices("integrator");
    JobDem *dem = &job->dem;
    int normal, shear, integrator;
    int64_t balls;
    TRY(job_choice(solver, "normal_law", normal_names, "linear", &normal));
    TRY(job_choice(solver, "shear_law", shear_names, "spring", &shear));
    dem->normal_law = normal_names[normal];
    dem->shear_law = shear_names[shear];
    TRY(job_text(solver, "grain_shape", "sphere", &dem->grain_shape));
    TRY(check_shape(solver, dem->grain_shape));
    TRY(job_integer(solver, "grain_balls", 1, GRAIN_SHAPE_MAX_BALLS, 12, &balls));
    dem->grain_balls = (int)balls;
    TRY(job_float(solver, "cohesion", 0, 1000, 0, &dem->cohesion));
    TRY(job_float(solver, "young_modulus", 0, 1e12, 0, &dem->young_modulus));
    TRY(job_float(solver, "poisson_ratio", 0, 0.49, 0.3, &dem->poisson_ratio));
    TRY(job_flag(solver, "sleep", 1, &dem->sleep));
    TRY(job_choice(solver, "integrator", integrator_names, integrator_names[0], &integrator));
    dem->integrator = integrator_names[integrator];
    return job_float(solver, "tolerance", 1e-8, 0.01, 1e-5, &dem->tolerance);
}

GrainResult job_read_material(const JobNode *source, Job *job, const JobArrays *arrays, int *material)
{
    static const char *const keys[] = {
        "density",       "friction", "rolling_friction", "restitution", "cohesion", "young_modulus",
        "poisson_ratio", "law",      "animation",        NULL};
    const char *const *law_names = solver_choices("law");
    JobNode node;
    int law;
    *material = 0;
    if (!json_object_get(source->object, "material")) return GRAIN_OK;
    TRY(job_child(source, "material", &node));
    TRY(job_check_keys(&node, keys));
    JobDem *dem = &job->dem;
    if (dem->material_count == JOB_MAX_MATERIALS)
        return fail(GRAIN_ERROR_JOB, "job.json: %s: at most %d sources can have a material of their own", node.path,
                    JOB_MAX_MATERIALS);
    SimMaterial *m = &dem->materials[dem->material_count];
    TRY(job_float(&node, "density", 1, 30000, (double)job->density, &m->density));
    TRY(job_float(&node, "friction", 0, 2, (double)job->friction, &m->friction));
    TRY(job_float(&node, "rolling_friction", 0, 2, (double)job->rolling_friction, &m->rolling_friction));
    TRY(job_float(&node, "restitution", 0.05, 1, (double)job->restitution, &m->restitution));
    TRY(job_float(&node, "cohesion", 0, 1000, (double)dem->cohesion, &m->cohesion));
    TRY(job_float(&node, "young_modulus", 0, 1e12, (double)dem->young_modulus, &m->young_modulus));
    TRY(job_float(&node, "poisson_ratio", 0, 0.49, (double)dem->poisson_ratio, &m->poisson_ratio));
    TRY(job_choice(&node, "law", law_names, job->law, &law));
    m->law = law_names[law];
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
