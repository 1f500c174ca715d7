// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that change over the shot: of the solver, and of sources with a material of their own.
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/schema.h"
#include "sim/solver.h"

#include <stdio.h>
#include <string.h>

typedef struct Names {
    char text[256];
    size_t used;
} Names;

static void add_name(Names *names, const char *name)
{
    size_t left = sizeof names->text - names->used;
    int length = snprintf(names->text + names->used, left, "%s%s", names->used > 0 ? ", " : "", name);
    names->used += (size_t)length < left ? (size_t)length : left - 1;
}

// Names what has the parameter: laws of this solver, if any has it, otherwise solvers.
static GrainResult refuse(const JobNode *node, const Solver *solver, const char *law, const char *key, uint32_t bit)
{
    Names have = {0};
    int is_law = (solver->traits.steers & bit) != 0;
    const char *const *laws = solver_choices("law");
    for (int i = 0; is_law && laws[i]; i++)
        if (solver_steers(solver, laws[i]) & bit) add_name(&have, laws[i]);
    for (int i = 0; !is_law && solver_at(i); i++)
        if (solver_at(i)->traits.steers & bit) add_name(&have, solver_at(i)->name);
    return fail(GRAIN_ERROR_JOB, "job.json: %s.animation.%s: the %s '%s' has no %s that could change; these have: %s",
                node->path, key, is_law ? "law" : "solver", is_law ? law : solver->name, key, have.text);
}

// A key that the solver has no use for is refused: otherwise a shot would wait for a change that never comes.
static GrainResult check_has(const JobNode *node, const Job *job, const char *law)
{
    static const struct {
        const char *key;
        uint32_t bit;
    } parameters[] = {
        {"friction", SIM_STEERS_FRICTION}, {"cohesion", SIM_STEERS_COHESION}, {"viscosity", SIM_STEERS_VISCOSITY}};
    const Solver *solver = solver_find(job->solver);
    const json_t *animation = json_object_get(node->object, "animation");
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (json_object_get(animation, parameters[i].key) && !(solver_steers(solver, law) & parameters[i].bit))
            return refuse(node, solver, law, parameters[i].key, parameters[i].bit);
    return GRAIN_OK;
}

GrainResult job_read_material_curves(const JobNode *material, Job *job, const JobArrays *arrays, int kind)
{
    Curve *friction = &job->friction_curve[kind], *cohesion = &job->cohesion_curve[kind];
    const SimMaterial *own = &job->dem.materials[kind - 1];
    TRY(check_has(material, job, own->law));
    *friction = (Curve){.constant = {own->friction}};
    *cohesion = (Curve){.constant = {own->cohesion}};
    TRY(job_read_curve(material, &schema_material, 0, "friction", job, arrays, friction));
    return job_read_curve(material, &schema_material, 0, "cohesion", job, arrays, cohesion);
}

// The piece that changes has to be there from the start, as thick as it ever gets: its reach says who is near whom.
static GrainResult read_viscosity(const JobNode *solver, Job *job, const JobArrays *arrays)
{
    Curve *curve = &job->viscosity_curve;
    if (job->meso.viscous_count > 0) curve->constant[0] = job->meso.viscous[0].strength;
    TRY(job_read_curve(solver, &schema_solver, 0, "viscosity", job, arrays, curve));
    if (curve->count == 0) return GRAIN_OK;
    if (job->meso_given.numbers.reach_ratio == 0.0f)
        return fail(GRAIN_ERROR_JOB,
                    "job.json: %s.animation.viscosity has no effect: reach_ratio is 0, so there is no viscous force",
                    solver->path);
    return job_make_meso(solver, curve_largest(curve), job);
}

GrainResult job_read_steering(const JobNode *root, Job *job, const JobArrays *arrays)
{
    JobNode node;
    TRY(job_child(root, "solver", &node));
    TRY(check_has(&node, job, job->law));
    job->friction_curve[0] = (Curve){.constant = {job->friction}};
    job->cohesion_curve[0] = (Curve){.constant = {job->dem.cohesion}};
    TRY(job_read_curve(&node, &schema_solver, 0, "friction", job, arrays, &job->friction_curve[0]));
    TRY(job_read_curve(&node, &schema_solver, 0, "cohesion", job, arrays, &job->cohesion_curve[0]));
    return read_viscosity(&node, job, arrays);
}

GrainResult job_read_grip(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object)
{
    object->friction_curve.constant[0] = object->friction;
    TRY(job_read_curve(node, &schema_object, (int)object->role, "friction", job, arrays, &object->friction_curve));
    TRY(job_read_curve(node, &schema_object, (int)object->role, "stickiness", job, arrays, &object->stickiness_curve));
    if (!object->is_plane) {
        TRY(job_read_paint(node, "friction_paint", job, arrays, &object->mesh, 1.0, &object->friction_paint));
        return job_read_paint(node, "stickiness_paint", job, arrays, &object->mesh, 1.0, &object->stickiness_paint);
    }
    if (!json_object_get(node->object, "friction_paint") && !json_object_get(node->object, "stickiness_paint"))
        return GRAIN_OK;
    return fail(GRAIN_ERROR_JOB, "job.json: %s is an endless plane, which has no vertices to paint; give it a mesh",
                node->path);
}

int job_grips(const Job *job, double seconds, SimGrip *out)
{
    int changes = 0;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        if (object->role != JOB_COLLIDER && object->role != JOB_BODY) continue;
        changes |= object->friction_curve.count > 0 || object->stickiness_curve.count > 0;
        if (!out) continue;
        out->friction = curve_number(&object->friction_curve, seconds * job->fps);
        out->stickiness = curve_number(&object->stickiness_curve, seconds * job->fps);
        out++;
    }
    return changes;
}

int job_is_steered(const Job *job)
{
    int is_steered =
        job_grips(job, 0.0, NULL) || job->field_count > 0 || job->gravity.count > 0 || job->viscosity_curve.count > 0;
    for (int i = 0; i < SIM_MAX_MATERIALS; i++)
        is_steered |= job->friction_curve[i].count > 0 || job->cohesion_curve[i].count > 0;
    return is_steered;
}

SimSteering job_steering(const Job *job, double seconds)
{
    double frames = seconds * job->fps;
    SimSteering now = {.gravity = curve_vector(&job->gravity, frames),
                       .viscosity = curve_number(&job->viscosity_curve, frames)};
    for (int i = 0; i <= job->dem.material_count; i++) {
        now.friction[i] = curve_number(&job->friction_curve[i], frames);
        now.cohesion[i] = curve_number(&job->cohesion_curve[i], frames);
    }
    return now;
}

// --- while it runs --------------------------------------------------------------------------------

/// A setting that can be changed.
typedef struct Steered {
    const char *key;
    Curve *curve;
    const SettingBlock *block; ///< where its range stands, under the last word of the key
    uint32_t bit;              ///< the solver's trait of having it; 0: all have it
} Steered;

static GrainResult find_steered(Job *job, JobObject *object, const char *key, int components, Steered *out)
{
    const Steered of_scene[] = {
        {"gravity", &job->gravity, &schema_job, 0},
        {"solver.friction", &job->friction_curve[0], &schema_solver, SIM_STEERS_FRICTION},
        {"solver.cohesion", &job->cohesion_curve[0], &schema_solver, SIM_STEERS_COHESION},
        {"solver.viscosity", &job->viscosity_curve, &schema_solver, SIM_STEERS_VISCOSITY},
    };
    const Steered of_object[] = {{"friction", object ? &object->friction_curve : NULL, &schema_object, 0}};
    const Steered *rows = object ? of_object : of_scene;
    int count = object ? 1 : (int)(sizeof of_scene / sizeof *of_scene);
    if (object && object->role != JOB_COLLIDER && object->role != JOB_BODY) count = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(rows[i].key, key) != 0 || rows[i].curve->components != components) continue;
        *out = rows[i];
        const Solver *solver = solver_find(job->solver);
        if (!out->bit || solver_steers(solver, job->law) & out->bit) return GRAIN_OK;
        return fail(GRAIN_ERROR_ARGUMENT, "%s has no effect with the solver '%s' and its material", key, solver->name);
    }
    return fail(
        GRAIN_ERROR_ARGUMENT,
        "'%s' of %d numbers cannot be changed while the sand moves; what can is the scene's gravity (3 numbers), "
        "solver.friction, solver.cohesion and solver.viscosity, and the friction of colliders and bodies",
        key, components);
}

GrainResult job_set_steered(Job *job, JobObject *object, const char *key, int components, const double *value)
{
    Steered steered = {0};
    TRY(find_steered(job, object, key, components, &steered));
    const char *dot = strrchr(key, '.');
    const Setting *setting = schema_find(steered.block, object ? (int)object->role : 0, dot ? dot + 1 : key);
    double high = setting->high;
    if (steered.curve == &job->viscosity_curve) // how far particles reach follows from the highest of the scene
        high = job->meso.viscous_count > 0 ? (double)job->meso.viscous[0].strength : 0.0;
    for (int i = 0; i < components; i++)
        if (!(value[i] >= setting->low && value[i] <= high))
            return fail(GRAIN_ERROR_ARGUMENT, "%s is %g; it must be from %g to %g", key, value[i], setting->low, high);
    *steered.curve = (Curve){.components = components};
    for (int i = 0; i < components; i++) steered.curve->constant[i] = (float)value[i];
    return GRAIN_OK;
}
