// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of its OpenMP runtime that clang's code for the loops of parallel.h calls. Their names and arguments
// are part of clang's ABI; docs: the "LLVM/OpenMP Runtimes" reference.
#include "base/team.h"

#include <stdarg.h>
#include <stdlib.h>

#define MOST_ARGUMENTS 32

// What stands inside a parallel loop, as a function of the variables it uses.
typedef void Body(int32_t *thread, int32_t *bound, ...);

typedef struct Call {
    Body *body;
    int32_t argument_count;
    void *argument[MOST_ARGUMENTS];
} Call;

static _Thread_local int32_t wanted_threads; // by __kmpc_push_num_threads, for the next loop

void __kmpc_fork_call(void *where, int32_t argument_count, Body *body, ...);
int32_t __kmpc_global_thread_num(void *where);
void __kmpc_push_num_threads(void *where, int32_t thread, int32_t count);
void __kmpc_serialized_parallel(void *where, int32_t thread);
void __kmpc_end_serialized_parallel(void *where, int32_t thread);
void __kmpc_for_static_init_8(void *where, int32_t thread, int32_t schedule, int32_t *is_last, int64_t *lower,
                              int64_t *upper, int64_t *stride, int64_t step, int64_t chunk);
void __kmpc_for_static_fini(void *where, int32_t thread);
void __kmpc_dispatch_init_8(void *where, int32_t thread, int32_t schedule, int64_t lower, int64_t upper, int64_t step,
                            int64_t chunk);
int32_t __kmpc_dispatch_next_8(void *where, int32_t thread, int32_t *is_last, int64_t *lower, int64_t *upper,
                               int64_t *stride);
void __kmpc_dispatch_fini_8(void *where, int32_t thread);
void __kmpc_dispatch_deinit(void *where, int32_t thread);

// On every ABI we build for, the caller removes the arguments: more than the body takes are as good.
static void call_body(void *data)
{
    const Call *call = data;
    void *const *a = call->argument;
    int32_t thread = team_thread_index(), bound = thread;
    if (call->argument_count <= 8)
        call->body(&thread, &bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    else
        call->body(&thread, &bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
                   a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24], a[25], a[26],
                   a[27], a[28], a[29], a[30], a[31]);
}

void __kmpc_fork_call(void *where, int32_t argument_count, Body *body, ...)
{
    (void)where;
    Call call = {.body = body, .argument_count = argument_count};
    if (argument_count > MOST_ARGUMENTS) abort(); // every test of that loop ends here
    va_list list;
    va_start(list, body);
    for (int32_t i = 0; i < argument_count; i++) call.argument[i] = va_arg(list, void *);
    va_end(list);
    int thread_count = wanted_threads;
    wanted_threads = 0;
    team_run(thread_count, call_body, &call, NULL);
}

int32_t __kmpc_global_thread_num(void *where) { return (void)where, team_thread_index(); }

void __kmpc_push_num_threads(void *where, int32_t thread, int32_t count)
{
    (void)where, (void)thread;
    wanted_threads = count;
}

void __kmpc_serialized_parallel(void *where, int32_t thread)
{
    (void)where, (void)thread;
    wanted_threads = 0;
    team_enter_alone();
}

void __kmpc_end_serialized_parallel(void *where, int32_t thread)
{
    (void)where, (void)thread;
    team_leave_alone();
}

// A run of neighbours for each thread, as gcc cuts them; upper is the last one here, and below lower where there is
// none.
void __kmpc_for_static_init_8(void *where, int32_t thread, int32_t schedule, int32_t *is_last, int64_t *lower,
                              int64_t *upper, int64_t *stride, int64_t step, int64_t chunk)
{
    (void)where, (void)thread, (void)schedule, (void)chunk;
    int64_t count = (*upper - *lower) / step + 1, threads = team_thread_count(), index = team_thread_index();
    int64_t each = count / threads, more = count % threads;
    int64_t first = index * each + (index < more ? index : more), own = each + (index < more);
    *is_last = own > 0 && first + own == count;
    *stride = count * step;
    *upper = *lower + (first + own - 1) * step;
    *lower = *lower + first * step;
}

void __kmpc_for_static_fini(void *where, int32_t thread) { (void)where, (void)thread; }

void __kmpc_dispatch_init_8(void *where, int32_t thread, int32_t schedule, int64_t lower, int64_t upper, int64_t step,
                            int64_t chunk)
{
    (void)where, (void)thread, (void)schedule;
    team_set_loop(&(TeamLoop){lower, upper + 1, step * chunk});
}

int32_t __kmpc_dispatch_next_8(void *where, int32_t thread, int32_t *is_last, int64_t *lower, int64_t *upper,
                               int64_t *stride)
{
    (void)where, (void)thread;
    int64_t end;
    if (!team_take(lower, &end)) return 0;
    *upper = end - 1;
    *stride = 1;
    *is_last = 0;
    return 1;
}

void __kmpc_dispatch_fini_8(void *where, int32_t thread) { (void)where, (void)thread; }

void __kmpc_dispatch_deinit(void *where, int32_t thread) { (void)where, (void)thread; }
