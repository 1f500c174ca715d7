// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"
#include "grain/grain.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "usage: grain upsample JOB [--cache DIR] [--threads N] [--shard I/N] [--frames A-B] [--force]\n"
    "\n"
    "Refines the bake of the job folder JOB into render grains, with the \"upsample\" settings of job.json, resuming "
    "where they "
    "end.\n"
    "The bake itself is read, never changed.\n"
    "\n"
    "  --cache DIR     where the bake is; default JOB/cache. Grains go to DIR/grains, or DIR/grains_IofN\n"
    "  --threads N     default: all cores. The files do not depend on it.\n"
    "  --shard I/N     only the I-th of N equal shards, to share the work between machines. Shards can run at the "
    "same\n"
    "                  time; together they are the same grains for any N.\n"
    "  --frames A-B    write only these frames; frames before A are computed, but not written\n"
    "  --force         make all frames again, even existing ones\n" CLI_HELP_STOP "\n"
    "Progress goes to stdout, one JSON object a line. SIGTERM and Ctrl-C stop and keep all complete frames.\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 bad job or mesh, 4 file or folder, 5 stopped (run again to resume), 6 memory,\n"
    "8 the bake belongs to another job, 9 the cache is in use, 10 disk full, 11 the bake is damaged, 1 internal\n";

static int parse_frames(const char *text, GrainUpsampleDef *def)
{
    def->limit_frames = 1;
    return cli_parse_frames(text, &def->first_frame, &def->last_frame);
}

static int parse_shard(const char *text, GrainUpsampleDef *def)
{
    int length = 0;
    return sscanf(text, "%d/%d%n", &def->shard, &def->shard_count, &length) == 2 && text[length] == 0 &&
           def->shard >= 1 && def->shard <= def->shard_count && def->shard_count <= 1000;
}

// -1 to go on, otherwise the exit code.
static int parse(int argument_count, char **arguments, GrainUpsampleDef *def)
{
    static const struct option options[] = {
        {"cache", required_argument, NULL, 'c'}, {"threads", required_argument, NULL, 't'},
        {"shard", required_argument, NULL, 's'}, {"frames", required_argument, NULL, 'f'},
        {"force", no_argument, NULL, 'F'},       {"stop-on-input", no_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},        {0}};
    int option, exit_code;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        switch (option) {
        case 's':
            if (!parse_shard(optarg, def))
                return cli_usage("upsample", "--shard is '%s'; it must be like 2/7, at most of 1000", optarg);
            break;
        case 'f':
            if (!parse_frames(optarg, def))
                return cli_usage("upsample", "--frames is '%s'; it must be like 20-48", optarg);
            break;
        case 'F':
            def->force = 1;
            break;
        default:
            exit_code = cli_job_option("upsample", help, option, &def->cache_folder, &def->thread_count);
            if (exit_code >= 0) return exit_code;
        }
    }
    return cli_job_folder("upsample", argument_count, arguments, &def->job_folder);
}

int cmd_upsample(int argument_count, char **arguments)
{
    GrainBakeStatus last = {0};
    GrainUpsampleDef def;
    grain_upsample_def_default(&def, sizeof def);
    def.status = cli_on_status;
    def.user = &last;
    int exit_code = parse(argument_count, arguments, &def);
    if (exit_code >= 0) return exit_code;
    cli_stop_on_signals();
    return cli_end(grain_upsample(&def), &last);
}
