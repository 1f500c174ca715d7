// SPDX-License-Identifier: GPL-3.0-or-later
// grain verify and grain repair, and what they share with grain gc: a cache folder and the grains inside it.
#include "cli.h"

#include <getopt.h>
#include <stdio.h>

static const char verify_help[] =
    "usage: grain verify CACHE\n"
    "\n"
    "Checks the checksum of every file in a cache folder and of the render grains in it: manifest, frames and\n"
    "checkpoints. Lists damaged files.\n"
    "\n"
    "exit codes: 0 intact, 2 usage, 4 no cache there, 11 something is damaged\n";
static const char repair_help[] =
    "usage: grain repair CACHE\n"
    "\n"
    "Removes damaged frames and checkpoints from a cache, so that the rest can be played. Bake or upsample again to\n"
    "replace them.\n"
    "\n"
    "exit codes: 0 done, 2 usage, 4 no cache there, 9 the cache is in use, 11 the list itself is damaged: bake anew\n";

int cli_each_cache(const char *folder, CliCacheFn *call, void *user)
{
    int exit_code = call(folder, user);
    char path[4096];
    for (int32_t index = 1;; index++) {
        if (grain_cache_folder(folder, index, path, sizeof path) != GRAIN_OK || !path[0]) return exit_code;
        int code = call(path, user);
        if (exit_code == EXIT_DONE) exit_code = code;
    }
}

static void tell(void *user, const char *text)
{
    (void)user;
    cli_print(stderr, "grain: %s\n", text);
}

const GrainRun cli_telling = {.struct_size = sizeof cli_telling, .message = tell};

static int verify(const char *folder, void *user)
{
    GrainCacheFindings found = {.struct_size = sizeof found};
    (void)user;
    GrainResult result = grain_cache_verify(folder, &cli_telling, &found);
    if (result != GRAIN_OK) return cli_fail(result);
    cli_print(stdout, "%s: %s\n", folder, found.files ? "damaged (listed above)" : "intact");
    return found.files ? EXIT_DAMAGED : EXIT_DONE;
}

static int repair(const char *folder, void *user)
{
    GrainCacheFindings found = {.struct_size = sizeof found};
    (void)user;
    GrainResult result = grain_cache_repair(folder, &cli_telling, &found);
    if (result != GRAIN_OK) return cli_fail(result);
    if (found.files)
        cli_print(stdout, "%s: %lld damaged files removed (listed above); bake or upsample again to replace them\n",
                  folder, (long long)found.files);
    else
        cli_print(stdout, "%s: intact, nothing to repair\n", folder);
    return EXIT_DONE;
}

const char *cli_one_folder(const char *command, const char *help, int argument_count, char **arguments, int *exit_code)
{
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    int option;
    *exit_code = EXIT_DONE;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        if (option == 'h')
            fputs(help, stdout);
        else
            *exit_code = cli_usage(command, "the command line was not understood");
        return NULL;
    }
    if (optind == argument_count - 1) return arguments[optind];
    *exit_code = cli_usage(command, "give one cache folder");
    return NULL;
}

int cmd_verify(int argument_count, char **arguments)
{
    int exit_code;
    const char *folder = cli_one_folder("verify", verify_help, argument_count, arguments, &exit_code);
    return folder ? cli_each_cache(folder, verify, NULL) : exit_code;
}

int cmd_repair(int argument_count, char **arguments)
{
    int exit_code;
    const char *folder = cli_one_folder("repair", repair_help, argument_count, arguments, &exit_code);
    return folder ? cli_each_cache(folder, repair, NULL) : exit_code;
}
