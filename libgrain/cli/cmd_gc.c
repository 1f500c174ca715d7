// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "usage: grain gc CACHE [--dry-run]\n"
    "\n"
    "Removes files that are no longer needed from a cache folder and from the render grains in it: frames of an\n"
    "earlier, longer bake, remains of unfinished writes, checkpoints after the last frame, and the distance fields of\n"
    "colliders, which any bake makes again. Never removes a file that is not part of the cache.\n"
    "\n"
    "  --dry-run   only list what would be removed\n"
    "\n"
    "exit codes: 0 done, 2 usage, 4 no cache there, 9 the cache is in use, 11 the list of frames is damaged\n";

static void print_path(void *user, const char *path)
{
    (void)user;
    cli_print(stdout, "%s\n", path);
}

static int collect(const char *folder, void *user)
{
    const int *is_trial = user;
    const GrainRun run = {.struct_size = sizeof run, .message = print_path};
    GrainCacheFindings found = {.struct_size = sizeof found};
    GrainResult result = grain_cache_clean(folder, *is_trial, &run, &found);
    if (result != GRAIN_OK) return cli_fail(result);
    cli_print(stdout, "%s: %lld files, %.1f MB %s\n", folder, (long long)found.files, (double)found.bytes / 1e6,
              *is_trial ? "would be removed" : "removed");
    return EXIT_DONE;
}

int cmd_gc(int argument_count, char **arguments)
{
    static const struct option options[] = {{"dry-run", no_argument, NULL, 'd'}, {"help", no_argument, NULL, 'h'}, {0}};
    int option, is_trial = 0;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        if (option == 'd') {
            is_trial = 1;
            continue;
        }
        if (option != 'h') return cli_usage("gc", "the command line was not understood");
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (optind != argument_count - 1) return cli_usage("gc", "give one cache folder");
    return cli_each_cache(arguments[optind], collect, &is_trial);
}
