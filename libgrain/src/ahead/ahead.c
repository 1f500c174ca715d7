// SPDX-License-Identifier: GPL-3.0-or-later
// The thread of include/grain/ahead.h and the frames that wait for it.
#include "grain/ahead.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/system.h"

#include <string.h>

typedef enum TaskState { TASK_WAITS, TASK_IS_READ, TASK_IS_DONE } TaskState;

typedef struct Task {
    int64_t number;
    TaskState state;
    GrainAheadDef def;
    GrainDotsLook look; ///< the copy that def leads to
    char *text;         ///< path and names, likewise
    GrainResult result;
    char error[512];
    GrainAheadDots dots;
    struct Task *next;
} Task;

struct GrainAhead {
    pthread_t thread;
    pthread_mutex_t mutex; ///< for all below, and the state of each task
    pthread_cond_t came, done;
    Task *first; ///< in the order they came
    int64_t last_number;
    int is_ending;
};

// --- reading --------------------------------------------------------------------------------------

static void *column_of(const GrainAheadDef *def, const char *name)
{
    for (int c = 0; c < def->column_count; c++)
        if (strcmp(def->names[c], name) == 0) return def->columns[c];
    return NULL;
}

/// 0 where a grain is gone.
static float largest_radius(const float *radii, int64_t count)
{
    float largest = 0.0f;
    for (int64_t i = 0; i < count; i++) {
        if (!(radii[i] > 0.0f)) return 0.0f;
        largest = radii[i] > largest ? radii[i] : largest;
    }
    return largest;
}

static GrainResult make_dots(Task *task)
{
    const GrainAheadDef *def = &task->def;
    const GrainDots dots = {.struct_size = sizeof dots,
                            .count = def->count,
                            .positions = column_of(def, "position"),
                            .radii = column_of(def, "radius"),
                            .moistures = column_of(def, "moisture")};
    task->look.largest_radius = task->dots.largest_radius = largest_radius(dots.radii, dots.count);
    if (!(task->look.largest_radius > 0.0f)) return GRAIN_OK;
    TRY(grain_dots_colour(&dots, &task->look, NULL, def->colours, task->dots.bounds));
    task->dots.are_made = 1;
    return GRAIN_OK;
}

static GrainResult read_columns(const GrainAheadDef *def)
{
    GrainFrame *frame;
    TRY(grain_frame_open(def->path, &frame));
    GrainResult result = GRAIN_OK;
    for (int c = 0; c < def->column_count && result == GRAIN_OK; c++)
        result = grain_frame_load(frame, def->names[c], def->count, def->columns[c], 0);
    grain_frame_destroy(frame);
    return result;
}

/// Whoever has set the task to TASK_IS_READ calls this, without the mutex.
static void read_task(Task *task)
{
    task->result = read_columns(&task->def);
    if (task->result == GRAIN_OK && task->def.look) task->result = make_dots(task);
    if (task->result != GRAIN_OK) strncpy(task->error, grain_last_error(), sizeof task->error - 1);
}

// --- the thread -----------------------------------------------------------------------------------

static Task *first_waiting(const GrainAhead *ahead)
{
    Task *task = ahead->first;
    while (task && task->state != TASK_WAITS) task = task->next;
    return task;
}

static void *run_thread(void *pointer)
{
    GrainAhead *ahead = pointer;
    system_thread_yields();
    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->is_ending) {
        Task *task = first_waiting(ahead);
        if (!task) {
            pthread_cond_wait(&ahead->came, &ahead->mutex);
            continue;
        }
        task->state = TASK_IS_READ;
        pthread_mutex_unlock(&ahead->mutex);
        read_task(task);
        pthread_mutex_lock(&ahead->mutex);
        task->state = TASK_IS_DONE;
        pthread_cond_broadcast(&ahead->done);
    }
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

GrainResult grain_ahead_create(GrainAhead **out)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_ahead_create: out is NULL");
    *out = NULL;
    GrainAhead *ahead = ALLOC_ZEROED(GrainAhead, 1);
    if (!ahead) return GRAIN_ERROR_MEMORY;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->came, NULL);
    pthread_cond_init(&ahead->done, NULL);
    int error = system_thread_start(&ahead->thread, run_thread, ahead);
    if (error != 0) {
        alloc_free(ahead);
        return fail(GRAIN_ERROR_MEMORY, "no thread could be started for reading ahead: %s", strerror(error));
    }
    *out = ahead;
    return GRAIN_OK;
}

static void free_task(Task *task)
{
    alloc_free(task->text);
    alloc_free(task);
}

void grain_ahead_destroy(GrainAhead *ahead)
{
    if (!ahead) return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->is_ending = 1;
    pthread_cond_signal(&ahead->came);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    while (ahead->first) {
        Task *task = ahead->first;
        ahead->first = task->next;
        free_task(task);
    }
    pthread_cond_destroy(&ahead->done);
    pthread_cond_destroy(&ahead->came);
    pthread_mutex_destroy(&ahead->mutex);
    alloc_free(ahead);
}

// --- frames come and go ---------------------------------------------------------------------------

static GrainResult check_def(const GrainAheadDef *def)
{
    if (!def->path) return fail(GRAIN_ERROR_ARGUMENT, "grain_ahead_add: path is NULL");
    if (def->column_count < 1 || def->column_count > GRAIN_AHEAD_COLUMNS || def->count < 0)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_ahead_add: %lld elements of %d columns", (long long)def->count,
                    def->column_count);
    for (int c = 0; c < def->column_count; c++)
        if (!def->names[c] || !def->columns[c])
            return fail(GRAIN_ERROR_ARGUMENT, "grain_ahead_add: column %d has no name or no room", c);
    if (!def->look) return GRAIN_OK;
    CHECK_STRUCT(def->look, GrainDotsLook);
    if (!def->colours || !column_of(def, "position") || !column_of(def, "radius"))
        return fail(GRAIN_ERROR_ARGUMENT, "grain_ahead_add: dots need colours, 'position' and 'radius'");
    return GRAIN_OK;
}

static const char *keep_text(char **at, const char *text)
{
    size_t length = strlen(text) + 1;
    char *kept = memcpy(*at, text, length);
    *at += length;
    return kept;
}

static Task *new_task(const GrainAheadDef *def)
{
    size_t length = strlen(def->path) + 1;
    for (int c = 0; c < def->column_count; c++) length += strlen(def->names[c]) + 1;
    Task *task = ALLOC_ZEROED(Task, 1);
    char *at = task ? task->text = ALLOC(char, (int64_t)length) : NULL;
    if (!at) {
        alloc_free(task);
        return NULL;
    }
    task->def = *def;
    task->def.path = keep_text(&at, def->path);
    for (int c = 0; c < def->column_count; c++) task->def.names[c] = keep_text(&at, def->names[c]);
    if (def->look) {
        task->look = *def->look;
        task->def.look = &task->look;
    }
    task->dots = (GrainAheadDots){.struct_size = sizeof task->dots};
    return task;
}

GrainResult grain_ahead_add(GrainAhead *ahead, const GrainAheadDef *def, int64_t *number)
{
    if (!ahead || !number) return fail(GRAIN_ERROR_ARGUMENT, "grain_ahead_add: ahead or number is NULL");
    CHECK_STRUCT(def, GrainAheadDef);
    TRY(check_def(def));
    Task *task = new_task(def);
    if (!task) return GRAIN_ERROR_MEMORY;
    pthread_mutex_lock(&ahead->mutex);
    *number = task->number = ++ahead->last_number;
    Task **end = &ahead->first;
    while (*end) end = &(*end)->next;
    *end = task;
    pthread_cond_signal(&ahead->came);
    pthread_mutex_unlock(&ahead->mutex);
    return GRAIN_OK;
}

/// Where the list leads to it; NULL where there is none. With the mutex.
static Task **find(GrainAhead *ahead, int64_t number)
{
    for (Task **link = &ahead->first; *link; link = &(*link)->next)
        if ((*link)->number == number) return link;
    return NULL;
}

int32_t grain_ahead_drop(GrainAhead *ahead, int64_t number)
{
    if (!ahead) return 0;
    Task *dropped = NULL;
    pthread_mutex_lock(&ahead->mutex);
    Task **link = find(ahead, number);
    if (link && (*link)->state == TASK_WAITS) {
        dropped = *link;
        *link = dropped->next;
    }
    pthread_mutex_unlock(&ahead->mutex);
    if (!dropped) return 0;
    free_task(dropped);
    return 1;
}

int32_t grain_ahead_is_done(GrainAhead *ahead, int64_t number)
{
    if (!ahead) return 0;
    pthread_mutex_lock(&ahead->mutex);
    Task **link = find(ahead, number);
    int is_done = link && (*link)->state == TASK_IS_DONE;
    pthread_mutex_unlock(&ahead->mutex);
    return is_done;
}

GrainResult grain_ahead_finish(GrainAhead *ahead, int64_t number, GrainAheadDots *dots)
{
    if (!ahead) return fail(GRAIN_ERROR_ARGUMENT, "grain_ahead_finish: ahead is NULL");
    CHECK_STRUCT(dots, GrainAheadDots);
    pthread_mutex_lock(&ahead->mutex);
    Task **link = find(ahead, number), *task = link ? *link : NULL;
    int is_mine = task && task->state == TASK_WAITS;
    if (is_mine) task->state = TASK_IS_READ;
    while (task && !is_mine && task->state != TASK_IS_DONE) pthread_cond_wait(&ahead->done, &ahead->mutex);
    if (task) {
        link = find(ahead, number); // others came and went
        *link = task->next;
    }
    pthread_mutex_unlock(&ahead->mutex);
    if (!task) return fail(GRAIN_ERROR_ARGUMENT, "grain_ahead_finish: nothing has the number %lld", (long long)number);
    if (is_mine) read_task(task);
    GrainResult result = task->result;
    *dots = task->dots;
    if (result != GRAIN_OK) (void)fail(result, "%s", task->error);
    free_task(task);
    return result;
}
