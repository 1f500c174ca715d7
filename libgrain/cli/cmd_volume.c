// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"
#include "grain/grain.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] =
    "usage: grain volume JOB [--cache DIR] [--threads N] [--frames A-B] [--force]\n"
    "\n"
    "Turns the bake of the job folder JOB, or its render grains, into a sequence of OpenVDB files, with the \"volume\"\n"
    "settings of job.json, resuming where they end. The frames they are made from are never changed.\n"
    "\n"
    "  --cache DIR     where the bake is; default JOB/cache. Files go to DIR/volume/volume_0001.vdb and so on\n"
    "  --threads N     default: all cores. The files do not depend on it.\n"
    "  --frames A-B    make only these frames, and the ones between them and existing frames\n"
    "  --force         make all frames again, even existing ones\n" CLI_HELP_STOP "\n"
    "Progress goes to stdout, one JSON object a line. SIGTERM and Ctrl-C stop and keep all complete frames.\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 bad job, 4 file or folder, 5 stopped (run again to resume), 6 memory,\n"
    "8 the frames belong to another job, 9 the cache is in use, 10 disk full, 11 the bake is damaged, 1 "
    "internal\n";

// -1 to go on, otherwise the exit code.
static int parse(int argument_count, char **arguments, GrainVolumeDef *def)
{
    static const struct option options[] = {{"cache", required_argument, NULL, 'c'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"frames", required_argument, NULL, 'f'},
                                            {"force", no_argument, NULL, 'F'},
                                            {"stop-on-input", no_argument, NULL, 'i'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option, exit_code;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        switch (option) {
        case 'f':
            def->limit_frames = 1;
            if (!cli_parse_frames(optarg, &def->first_frame, &def->last_frame))
                return cli_usage("volume", "--frames is '%s'; it must be like 20-48", optarg);
            break;
        case 'F':
            def->force = 1;
            break;
        default:
            exit_code = cli_job_option("volume", help, option, &def->cache_folder, &def->thread_count);
            if (exit_code >= 0) return exit_code;
        }
    }
    return cli_job_folder("volume", argument_count, arguments, &def->job_folder);
}

int cmd_volume(int argument_count, char **arguments)
{
    GrainBakeStatus last = {0};
    GrainVolumeDef def;
    grain_volume_def_default(&def, sizeof def);
    def.status = cli_on_status;
    def.user = &last;
    int exit_code = parse(argument_count, arguments, &def);
    if (exit_code >= 0) return exit_code;
    cli_stop_on_signals();
    return cli_end(grain_volume(&def), &last);
}
