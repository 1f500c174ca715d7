// SPDX-License-Identifier: GPL-3.0-or-later
// grain verify and grain repair, and what they share with grain gc: a cache folder and the grains inside it.
#include "base/alloc.h"
#include "base/file.h"
#include "base/system.h"
#include "cli.h"
#include "output/cache.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

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

static int is_stage_folder(const char *name)
{
    int shard, count, length = 0;
    return strcmp(name, "grains") == 0 || strcmp(name, "volume") == 0 ||
           (sscanf(name, "grains_%dof%d%n", &shard, &count, &length) == 2 && name[length] == 0);
}

static int has_manifest(const char *folder)
{
    char *path;
    if (file_join(folder, "cache.json", &path) != GRAIN_OK) return 0;
    int exists = file_exists(path);
    alloc_free(path);
    return exists;
}

int cli_each_cache(const char *folder, CliCacheFn *call, void *user)
{
    int exit_code = call(folder, user);
    SystemFolder *listing = system_folder_open(folder);
    const char *name;
    while (listing && (name = system_folder_next(listing))) {
        char *path;
        if (!is_stage_folder(name) || file_join(folder, name, &path) != GRAIN_OK) continue;
        int code = has_manifest(path) ? call(path, user) : EXIT_DONE;
        if (exit_code == EXIT_DONE) exit_code = code;
        alloc_free(path);
    }
    if (listing) system_folder_close(listing);
    return exit_code;
}

void cli_tell(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "grain: %s\n", text);
}

static int verify(const char *folder, void *user)
{
    int64_t damaged;
    (void)user;
    GrainResult result = cache_verify(folder, cli_tell, NULL, &damaged);
    if (result != GRAIN_OK) return cli_fail(result);
    printf("%s: %s\n", folder, damaged ? "damaged (listed above)" : "intact");
    return damaged ? EXIT_DAMAGED : EXIT_DONE;
}

static int repair(const char *folder, void *user)
{
    int64_t dropped;
    (void)user;
    GrainResult result = cache_repair(folder, cli_tell, NULL, &dropped);
    if (result != GRAIN_OK) return cli_fail(result);
    if (dropped)
        printf("%s: %lld damaged files removed (listed above); bake or upsample again to replace them\n", folder,
               (long long)dropped);
    else
        printf("%s: intact, nothing to repair\n", folder);
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
