// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The benchmarks' own few calls. A bench is a function registered by BENCH; it prints a table and notes figures, which
/// main writes to build/bench.json as "<bench>.<figure>": number.
#include "base/run.h"
#include "grain/grain.h"

#include <stdio.h>

typedef struct Bench {
    const char *name;
    void (*run)(void);
    struct Bench *next;
} Bench;

void bench_register(Bench *bench);
/// Notes a figure under the running bench's name.
void bench_figure(const char *figure, double value);

#define BENCH(bench_name)                                                                                              \
    static void bench_##bench_name(void);                                                                              \
    __attribute__((constructor)) static void register_##bench_name(void)                                               \
    {                                                                                                                  \
        static Bench bench = {#bench_name, bench_##bench_name, 0};                                                     \
        bench_register(&bench);                                                                                        \
    }                                                                                                                  \
    static void bench_##bench_name(void)

/// Seconds of the fastest of `repeats` runs of the statement: the machine is noisy, and noise only ever adds.
#define BENCH_SECONDS(seconds, repeats, statement)                                                                     \
    do {                                                                                                               \
        (seconds) = 1e30;                                                                                              \
        for (int bench_repeat = 0; bench_repeat < (repeats); bench_repeat++) {                                         \
            double bench_begin = run_clock();                                                                          \
            statement;                                                                                                 \
            double bench_taken = run_clock() - bench_begin;                                                            \
            if (bench_taken < (seconds)) (seconds) = bench_taken;                                                      \
        }                                                                                                              \
    } while (0)
