// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of its OpenMP runtime that gcc's code for the loops of parallel.h calls. Their names and arguments are
// part of gcc's ABI; docs: GCC's libgomp manual, "The libgomp ABI".
#include "base/team.h"

#include <stdbool.h>
#include <stddef.h>

int omp_get_thread_num(void);
int omp_get_num_threads(void);
void GOMP_parallel(void (*run)(void *), void *data, unsigned thread_count, unsigned flags);
void GOMP_parallel_loop_nonmonotonic_dynamic(void (*run)(void *), void *data, unsigned thread_count, long first,
                                             long end, long step, long chunk, unsigned flags);
bool GOMP_loop_nonmonotonic_dynamic_start(long first, long end, long step, long chunk, long *from, long *to);
bool GOMP_loop_nonmonotonic_dynamic_next(long *from, long *to);
bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool is_rising, unsigned long long first, unsigned long long end,
                                              unsigned long long step, unsigned long long chunk,
                                              unsigned long long *from, unsigned long long *to);
bool GOMP_loop_ull_nonmonotonic_dynamic_next(unsigned long long *from, unsigned long long *to);
void GOMP_loop_end_nowait(void);

int omp_get_thread_num(void) { return team_thread_index(); }

int omp_get_num_threads(void) { return team_thread_count(); }

void GOMP_parallel(void (*run)(void *), void *data, unsigned thread_count, unsigned flags)
{
    (void)flags;
    team_run((int)thread_count, run, data, NULL);
}

void GOMP_parallel_loop_nonmonotonic_dynamic(void (*run)(void *), void *data, unsigned thread_count, long first,
                                             long end, long step, long chunk, unsigned flags)
{
    (void)flags;
    team_run((int)thread_count, run, data, &(TeamLoop){first, end, step * chunk});
}

bool GOMP_loop_nonmonotonic_dynamic_next(long *from, long *to)
{
    int64_t first, end;
    if (!team_take(&first, &end)) return false;
    *from = (long)first, *to = (long)end;
    return true;
}

bool GOMP_loop_nonmonotonic_dynamic_start(long first, long end, long step, long chunk, long *from, long *to)
{
    team_set_loop(&(TeamLoop){first, end, step * chunk});
    return GOMP_loop_nonmonotonic_dynamic_next(from, to);
}

// Where long has 32 bits, on Windows, loops over int64_t come this way.
bool GOMP_loop_ull_nonmonotonic_dynamic_next(unsigned long long *from, unsigned long long *to)
{
    int64_t first, end;
    if (!team_take(&first, &end)) return false;
    *from = (unsigned long long)first, *to = (unsigned long long)end;
    return true;
}

bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool is_rising, unsigned long long first, unsigned long long end,
                                              unsigned long long step, unsigned long long chunk,
                                              unsigned long long *from, unsigned long long *to)
{
    (void)is_rising; // no loop of parallel.h counts down
    team_set_loop(&(TeamLoop){(int64_t)first, (int64_t)end, (int64_t)(step * chunk)});
    return GOMP_loop_ull_nonmonotonic_dynamic_next(from, to);
}

void GOMP_loop_end_nowait(void) {}
