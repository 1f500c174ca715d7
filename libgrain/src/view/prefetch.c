// SPDX-License-Identifier: GPL-3.0-or-later
// A thread that reads frames, and the frames that wait for it.
#include "view/prefetch.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/system.h"

#include <string.h>

typedef enum TaskState { TASK_WAITS, TASK_IS_READ, TASK_IS_DONE } TaskState;

typedef struct Task {
    int64_t number;
    TaskState state;
    GrainPrefetchDef def;
    GrainPointsLook look; ///< the copy that def leads to
    char *text;           ///< path and names, likewise
    GrainResult result;
    char error[512];
    GrainPrefetchPoints points;
    struct Task *next;
} Task;

struct GrainPrefetch {
    pthread_t thread;
    pthread_mutex_t mutex; ///< for all below, and the state of each task
    pthread_cond_t came, done;
    Task *first; ///< in the order they came
    int64_t last_number;
    int is_ending;
};

// --- reading --------------------------------------------------------------------------------------

void *prefetch_column(const GrainPrefetchDef *def, const char *name)
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

static GrainResult make_points(Task *task)
{
    const GrainPrefetchDef *def = &task->def;
    const GrainPoints points = {.struct_size = sizeof points,
                                .count = def->count,
                                .positions = prefetch_column(def, "position"),
                                .radii = prefetch_column(def, "radius"),
                                .moistures = prefetch_column(def, "moisture")};
    task->look.largest_radius = task->points.largest_radius = largest_radius(points.radii, points.count);
    if (!(task->look.largest_radius > 0.0f)) return GRAIN_OK;
    TRY(grain_points_colour(&points, &task->look, NULL, def->colours, task->points.bounds));
    task->points.are_made = 1;
    return GRAIN_OK;
}

static GrainResult read_columns(const GrainPrefetchDef *def)
{
    GrainFrame *frame;
    TRY(grain_frame_open(def->path, &frame));
    GrainResult result = GRAIN_OK;
    for (int c = 0; c < def->column_count && result == GRAIN_OK; c++)
        result = grain_frame_load(frame, def->names[c], def->count, def->columns[c], NULL);
    grain_frame_destroy(frame);
    return result;
}

/// Whoever has set the task to TASK_IS_READ calls this, without the mutex.
static void read_task(Task *task)
{
    task->result = read_columns(&task->def);
    if (task->result == GRAIN_OK && task->def.look) task->result = make_points(task);
    if (task->result != GRAIN_OK) strncpy(task->error, error_text(), sizeof task->error - 1);
}

// --- the thread -----------------------------------------------------------------------------------

static Task *first_waiting(const GrainPrefetch *prefetch)
{
    Task *task = prefetch->first;
    while (task && task->state != TASK_WAITS) task = task->next;
    return task;
}

static void *run_thread(void *pointer)
{
    GrainPrefetch *prefetch = pointer;
    system_thread_yields();
    pthread_mutex_lock(&prefetch->mutex);
    while (!prefetch->is_ending) {
        Task *task = first_waiting(prefetch);
        if (!task) {
            pthread_cond_wait(&prefetch->came, &prefetch->mutex);
            continue;
        }
        task->state = TASK_IS_READ;
        pthread_mutex_unlock(&prefetch->mutex);
        read_task(task);
        pthread_mutex_lock(&prefetch->mutex);
        task->state = TASK_IS_DONE;
        pthread_cond_broadcast(&prefetch->done);
    }
    pthread_mutex_unlock(&prefetch->mutex);
    return NULL;
}

GrainResult prefetch_create(GrainPrefetch **out)
{
    GrainPrefetch *prefetch = ALLOC_ZEROED(GrainPrefetch, 1);
    if (!prefetch) return GRAIN_ERROR_MEMORY;
    pthread_mutex_init(&prefetch->mutex, NULL);
    pthread_cond_init(&prefetch->came, NULL);
    pthread_cond_init(&prefetch->done, NULL);
    int error = system_thread_start(&prefetch->thread, run_thread, prefetch);
    if (error != 0) {
        alloc_free(prefetch);
        return fail(GRAIN_ERROR_MEMORY, "the thread that loads frames in advance could not be started: %s",
                    strerror(error));
    }
    *out = prefetch;
    return GRAIN_OK;
}

static void free_task(Task *task)
{
    alloc_free(task->text);
    alloc_free(task);
}

void prefetch_destroy(GrainPrefetch *prefetch)
{
    pthread_mutex_lock(&prefetch->mutex);
    prefetch->is_ending = 1;
    pthread_cond_signal(&prefetch->came);
    pthread_mutex_unlock(&prefetch->mutex);
    pthread_join(prefetch->thread, NULL);
    while (prefetch->first) {
        Task *task = prefetch->first;
        prefetch->first = task->next;
        free_task(task);
    }
    pthread_cond_destroy(&prefetch->done);
    pthread_cond_destroy(&prefetch->came);
    pthread_mutex_destroy(&prefetch->mutex);
    alloc_free(prefetch);
}

// --- frames come and go ---------------------------------------------------------------------------

static const char *keep_text(char **at, const char *text)
{
    size_t length = strlen(text) + 1;
    char *kept = memcpy(*at, text, length);
    *at += length;
    return kept;
}

static Task *new_task(const GrainPrefetchDef *def)
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
    task->points = (GrainPrefetchPoints){.struct_size = sizeof task->points};
    return task;
}

GrainResult prefetch_add(GrainPrefetch *prefetch, const GrainPrefetchDef *def, int64_t *number)
{
    Task *task = new_task(def);
    if (!task) return GRAIN_ERROR_MEMORY;
    pthread_mutex_lock(&prefetch->mutex);
    *number = task->number = ++prefetch->last_number;
    Task **end = &prefetch->first;
    while (*end) end = &(*end)->next;
    *end = task;
    pthread_cond_signal(&prefetch->came);
    pthread_mutex_unlock(&prefetch->mutex);
    return GRAIN_OK;
}

/// Where the list leads to it; NULL where there is none. With the mutex.
static Task **find(GrainPrefetch *prefetch, int64_t number)
{
    for (Task **link = &prefetch->first; *link; link = &(*link)->next)
        if ((*link)->number == number) return link;
    return NULL;
}

int prefetch_drop(GrainPrefetch *prefetch, int64_t number)
{
    Task *dropped = NULL;
    pthread_mutex_lock(&prefetch->mutex);
    Task **link = find(prefetch, number);
    if (link && (*link)->state == TASK_WAITS) {
        dropped = *link;
        *link = dropped->next;
    }
    pthread_mutex_unlock(&prefetch->mutex);
    if (!dropped) return 0;
    free_task(dropped);
    return 1;
}

int prefetch_is_done(GrainPrefetch *prefetch, int64_t number)
{
    pthread_mutex_lock(&prefetch->mutex);
    Task **link = find(prefetch, number);
    int is_done = link && (*link)->state == TASK_IS_DONE;
    pthread_mutex_unlock(&prefetch->mutex);
    return is_done;
}

GrainResult prefetch_finish(GrainPrefetch *prefetch, int64_t number, GrainPrefetchPoints *points)
{
    pthread_mutex_lock(&prefetch->mutex);
    Task **link = find(prefetch, number), *task = link ? *link : NULL;
    int is_mine = task && task->state == TASK_WAITS;
    if (is_mine) task->state = TASK_IS_READ;
    while (task && !is_mine && task->state != TASK_IS_DONE) pthread_cond_wait(&prefetch->done, &prefetch->mutex);
    if (task) {
        link = find(prefetch, number); // others came and went
        *link = task->next;
    }
    pthread_mutex_unlock(&prefetch->mutex);
    if (!task)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_prefetch_finish: no queued frame has the number %lld",
                    (long long)number);
    if (is_mine) read_task(task);
    GrainResult result = task->result;
    *points = task->points;
    if (result != GRAIN_OK) (void)fail(result, "%s", task->error);
    free_task(task);
    return result;
}
