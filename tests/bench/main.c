// SPDX-License-Identifier: GPL-3.0-or-later
// grain_bench [--json FILE] [NAME]: runs all benchmarks or the one named.
#include "bench/bench.h"

#include <string.h>

static Bench *benches, *running;
static FILE *json;
static int figures;

void bench_register(Bench *bench)
{
    Bench **place = &benches;
    while (*place && strcmp((*place)->name, bench->name) < 0) place = &(*place)->next;
    bench->next = *place;
    *place = bench;
}

void bench_figure(const char *figure, double value)
{
    if (json) fprintf(json, "%s\n  \"%s.%s\": %.6g", figures++ ? "," : "", running->name, figure, value);
}

int main(int argument_count, char **arguments)
{
    const char *wanted = NULL, *path = NULL;
    for (int i = 1; i < argument_count; i++) {
        if (strcmp(arguments[i], "--json") == 0 && i + 1 < argument_count)
            path = arguments[++i];
        else
            wanted = arguments[i];
    }
    if (path && !(json = fopen(path, "w"))) {
        perror(path);
        return 1;
    }
    if (json) fputs("{", json);
    int ran = 0;
    printf("instruction set: %s\n", grain_instruction_set());
    for (running = benches; running; running = running->next) {
        if (wanted && strcmp(running->name, wanted) != 0) continue;
        printf("\n== %s\n", running->name);
        running->run();
        ran++;
    }
    if (json) {
        fputs("\n}\n", json);
        fclose(json);
    }
    if (ran) return 0;
    fprintf(stderr, "no benchmark named '%s'; there are:", wanted ? wanted : "");
    for (const Bench *bench = benches; bench; bench = bench->next) fprintf(stderr, " %s", bench->name);
    fputc('\n', stderr);
    return 2;
}
