// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"
#include "grain/grain.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "usage: grain bake JOB [--cache DIR] [--threads N] [--restart] [--from FRAME] [--until FRAME]\n"
    "\n"
    "Simulates the job folder JOB (job.json, geometry.bin) into a cache folder, resuming where the cache ends.\n"
    "\n"
    "  --cache DIR     where frames go; default JOB/cache\n"
    "  --threads N     default: all cores. The files do not depend on it.\n"
    "  --restart       delete the frames in the cache and start again\n"
    "  --from FRAME    delete the frames after this one and restart from the newest checkpoint up to it, with the "
    "job\n"
    "                  as it is now: for changes in the middle of a shot\n"
    "  --until FRAME   stop after this frame; the same command without it resumes\n" CLI_HELP_STOP "\n"
    "Progress goes to stdout, one JSON object a line. SIGTERM and Ctrl-C write a checkpoint and stop.\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 bad job or mesh, 4 file or folder, 5 stopped (run again to resume), 6 memory,\n"
    "7 diverged, 8 cache of another job, 9 cache in use, 10 disk full (free space, run again), 11 damaged, 1 "
    "internal\n";

static int parse(int argument_count, char **arguments, GrainBakeDef *def)
{
    static const struct option options[] = {
        {"cache", required_argument, NULL, 'c'}, {"threads", required_argument, NULL, 't'},
        {"restart", no_argument, NULL, 'r'},     {"until", required_argument, NULL, 'u'},
        {"from", required_argument, NULL, 'f'},  {"stop-on-input", no_argument, NULL, 'i'},
        {"help", no_argument, NULL, 'h'},        {0}};
    int option, exit_code;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        switch (option) {
        case 'r':
            def->restart = 1;
            break;
        case 'f':
            if (!cli_parse_number(optarg, INT32_MIN, INT32_MAX, &def->keep_frame))
                return cli_usage("bake", "--from is '%s'; it must be a frame number", optarg);
            def->restart = 2;
            break;
        case 'u':
            if (!cli_parse_number(optarg, INT32_MIN, INT32_MAX, &def->last_frame))
                return cli_usage("bake", "--until is '%s'; it must be a frame number", optarg);
            def->limit_frames = 1;
            break;
        default:
            exit_code = cli_job_option("bake", help, option, &def->cache_folder, &def->thread_count);
            if (exit_code >= 0) return exit_code;
        }
    }
    return cli_job_folder("bake", argument_count, arguments, &def->job_folder);
}

int cmd_bake(int argument_count, char **arguments)
{
    GrainBakeStatus last = {0};
    GrainBakeDef def;
    grain_bake_def_default(&def, sizeof def);
    def.status = cli_on_status;
    def.user = &last;
    int exit_code = parse(argument_count, arguments, &def);
    if (exit_code >= 0) return exit_code;
    cli_stop_on_signals();
    return cli_end(grain_bake(&def), &last);
}
