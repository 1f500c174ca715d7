// SPDX-License-Identifier: GPL-3.0-or-later
// Simulating a job into its cache: a frame and a checkpoint at a time, and what particles are born with.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "simulate/simulate.h"
#include "stage/stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Simulate {
    Simulation simulation;
    SimStats stats; ///< at the frame written last
    int64_t births_written;
} Simulate;

static void fingerprint(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1])
{
    memcpy(out, job->fingerprint, sizeof job->fingerprint);
}

static GrainResult plan(Runner *runner, CacheManifest *wanted, char **folder)
{
    const GrainStageDef *def = runner->def;
    const Job *job = &runner->job;
    Simulate *simulate = runner->state;
    runner->first = job->frame_start, runner->last = runner->until = job->frame_end;
    if (def->limit_frames && def->last_frame < runner->until) runner->until = def->last_frame;
    TRY(simulate_plan(&simulate->simulation, job));
    wanted->fps = job->fps;
    TRY(simulate_body_names(job, &wanted->bodies));
    return def->cache_folder ? GRAIN_OK : file_enter(def->job_folder, "cache", folder);
}

static GrainResult prepare(Runner *runner)
{
    Simulate *simulate = runner->state;
    GrainRun run = stage_run(runner);
    runner->cache.checkpoint_every = runner->job.checkpoint_every;
    return simulate_prepare(&simulate->simulation, runner->cache.folder, &run);
}

// --- frames ---------------------------------------------------------------------------------------

static GrainResult write_checkpoint(Runner *runner, int32_t frame)
{
    const Simulate *simulate = runner->state;
    const Simulation *simulation = &simulate->simulation;
    Column columns[SOLVER_MAX_COLUMNS + BIRTH_PENDING_COLUMNS];
    int count = sim_save(&simulation->sim, columns);
    float *values = NULL;
    if (simulation->emission.emitter_count > 0) {
        TRY(birth_pending(&simulation->birth, simulate->births_written, &values, columns + count));
        count += BIRTH_PENDING_COLUMNS;
    }
    ColumnFileHeader header = {.frame = frame,
                               .substep = simulation->sim.substep,
                               .time = simulation->sim.time,
                               .particles = simulation->sim.population.born};
    GrainResult result = cache_write_checkpoint(&runner->cache, &header, columns, count);
    alloc_free(values);
    return result;
}

// What those born since the last frame brought with them.
static GrainResult write_births(Runner *runner, int32_t frame)
{
    Simulate *simulate = runner->state;
    const Birth *birth = &simulate->simulation.birth;
    Column columns[BIRTH_MAX_COLUMNS];
    int64_t count = birth->count - simulate->births_written;
    if (count == 0) return GRAIN_OK;
    int column_count = birth_columns(birth, simulate->births_written, columns);
    TRY(cache_write_birth(&runner->cache, frame, simulate->simulation.sim.time, count, columns, column_count));
    simulate->births_written = birth->count;
    return GRAIN_OK;
}

static GrainResult write_frame(Runner *runner, int32_t frame)
{
    Simulate *simulate = runner->state;
    Simulation *simulation = &simulate->simulation;
    Column columns[SIMULATE_MAX_COLUMNS];
    int count;
    TRY(write_births(runner, frame));
    TRY(simulate_columns(simulation, columns, &count));
    TRY(cache_write_frame(&runner->cache, frame, simulation->sim.time, simulation->particles.count, columns, count));
    simulation->sim.solver->measure(simulation->sim.state, &simulate->stats);
    return write_checkpoint(runner, frame);
}

static GrainResult next_frame(Runner *runner)
{
    Simulate *simulate = runner->state;
    TRY(simulate_advance(&simulate->simulation, stage_watch, runner));
    return write_frame(runner, runner->done + 1);
}

// Every frame has its checkpoint: only one that is cut short needs another. A bake that resumes counts anew what
// emitters lose, so that one that ends must not keep it to itself.
static GrainResult save(Runner *runner, StageMoment moment)
{
    Simulate *simulate = runner->state;
    emission_warn(&simulate->simulation.emission, moment != STAGE_FRAME, stage_warn, runner);
    return moment == STAGE_INSIDE_FRAME ? write_checkpoint(runner, runner->done) : GRAIN_OK;
}

// --- resuming -------------------------------------------------------------------------------------

// That the columns fit the scene is known after loading; the header must say the same as they do.
static GrainResult check_header(const Simulation *simulation, const ColumnFileHeader *header)
{
    const Sim *sim = &simulation->sim;
    double frames = (double)(header->frame - simulation->job->frame_start), seconds = frames * sim->frame_seconds;
    if (header->time == sim->time && header->substep == sim->substep && header->particles == sim->population.born &&
        fabs(sim->time - seconds) < 0.5 * sim->frame_seconds)
        return GRAIN_OK;
    return fail(GRAIN_ERROR_DAMAGED, "it is of frame %d, %g s, with %lld particles; its columns hold %g s and %lld",
                header->frame, header->time, (long long)header->particles, sim->time, (long long)sim->population.born);
}

static GrainResult load(Runner *runner, const struct GrainFrame *checkpoint)
{
    Simulate *simulate = runner->state;
    Simulation *simulation = &simulate->simulation;
    runner->done = checkpoint->header.frame;
    simulate->births_written = simulation->birth.count;
    GrainResult result = sim_load(&simulation->sim, checkpoint->columns, checkpoint->column_count);
    if (result == GRAIN_OK) result = check_header(simulation, &checkpoint->header);
    if (result == GRAIN_OK && simulation->emission.emitter_count > 0)
        result = birth_resume(&simulation->birth, checkpoint->columns, checkpoint->column_count);
    if (result == GRAIN_OK) return GRAIN_OK;
    return fail_within(
        result,
        "the checkpoint in '%s' cannot be used; restart from an earlier frame (--from FRAME), or bake anew "
        "(--restart)",
        runner->cache.folder);
}

static GrainResult watch_settling(void *user, double fraction)
{
    return stage_report_often(user, "settling", fraction);
}

static GrainResult settle(Runner *runner)
{
    Simulate *simulate = runner->state;
    double longest, moving;
    TRY(simulate_settle(&simulate->simulation, watch_settling, runner, &longest, &moving));
    if (moving == 0.0) return GRAIN_OK;
    char text[200];
    snprintf(
        text, sizeof text,
        "after %g s of settling %.3g %% of the sand is still moving; baking starts anyway. Let it settle longer, or "
        "check what it can escape through",
        longest, 100.0 * moving);
    stage_warn(runner, text);
    return GRAIN_OK;
}

// From the checkpoint in the cache, or from the sources as filled.
static GrainResult resume(Runner *runner)
{
    struct GrainFrame checkpoint;
    int found;
    runner->origin = runner->first;
    runner->done = runner->first - 1;
    TRY(cache_find_checkpoint(&runner->cache, &checkpoint, &found, stage_warn, runner));
    if (found) {
        GrainResult result = load(runner, &checkpoint);
        column_file_free(&checkpoint);
        TRY(result);
    } else {
        TRY(settle(runner));
    }
    runner->resumed_from = runner->done;
    return GRAIN_OK;
}

// The first frame is the sources as filled: it is written whatever frames are wanted, and not reported.
static GrainResult start(Runner *runner)
{
    Simulate *simulate = runner->state;
    if (runner->done >= runner->first) return GRAIN_OK;
    TRY(simulate_start(&simulate->simulation));
    TRY(write_frame(runner, runner->first));
    runner->done = runner->first;
    return GRAIN_OK;
}

// --- the row --------------------------------------------------------------------------------------

static void measure(const Runner *runner, GrainStageStatus *status)
{
    const Simulate *simulate = runner->state;
    const SimStats *stats = &simulate->stats;
    status->particles = simulate->simulation.particles.count;
    status->kinetic_energy = stats->kinetic;
    status->potential_energy = stats->potential;
    status->elastic_energy = stats->elastic;
    status->deepest_overlap = stats->deepest;
    status->contacts = stats->contacts;
    status->substeps = stats->steps;
    status->rejected_substeps = stats->rejected;
}

static void free_state(Runner *runner) { simulate_free(&((Simulate *)runner->state)->simulation); }

const Stage stage_simulate = {.name = "simulate",
                              .command = "grain bake",
                              .stream = "coarse",
                              .state_bytes = sizeof(Simulate),
                              .opening = CACHE_KEEP,
                              .keeps_frames = 1,
                              .settings = JOB_SIMULATE,
                              .fingerprint = fingerprint,
                              .plan = plan,
                              .prepare = prepare,
                              .resume = resume,
                              .start = start,
                              .frame = next_frame,
                              .save = save,
                              .measure = measure,
                              .free = free_state};
