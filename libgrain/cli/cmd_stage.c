// SPDX-License-Identifier: GPL-3.0-or-later
// `grain bake`, `grain upsample` and `grain volume`: one table of options, one way to run a stage.
#include "cli.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char bake_help[] =
    "usage: grain bake JOB [--cache DIR] [--threads N] [--restart] [--from FRAME] [--until FRAME]\n"
    "\n"
    "Simulates the job folder JOB (job.json, geometry.bin) into a cache folder, resuming where the cache ends.\n"
    "\n"
    "  --cache DIR     where frames go; default JOB/cache\n"
    "  --threads N     default: all cores. The files do not depend on it.\n"
    "  --restart       delete the frames in the cache and start again\n"
    "  --from FRAME    delete the frames after this one and restart from the newest checkpoint up to it, with\n"
    "                  the job as it is now: for changes in the middle of a shot\n"
    "  --until FRAME   stop after this frame; the same command without it resumes\n" CLI_HELP_STOP "\n"
    "Progress goes to stdout, one JSON object a line. SIGTERM and Ctrl-C write a checkpoint and stop.\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 bad job or mesh, 4 file or folder, 5 interrupted (run again to resume), 6 memory,\n"
    "7 diverged, 8 cache of another job, 9 cache in use, 10 disk full (free space, run again), 11 damaged, 1 "
    "internal\n";

static const char upsample_help[] =
    "usage: grain upsample JOB [--cache DIR] [--threads N] [--shard I/N] [--frames A-B] [--force]\n"
    "\n"
    "Refines the bake of the job folder JOB into render grains, with the \"upsample\"\n"
    "settings of job.json, resuming where they end. The bake itself is never changed.\n"
    "\n"
    "  --cache DIR     where the bake is; default JOB/cache. Grains go to DIR/grains, or DIR/grains_IofN\n"
    "  --threads N     default: all cores. The files do not depend on it.\n"
    "  --shard I/N     only the I-th of N equal shards, to share the work between machines. Shards can run at\n"
    "                  the same time; together they are the same grains for any N.\n"
    "  --frames A-B    write only these frames; frames before A are computed, but not written\n"
    "  --force         make all frames again, even existing ones\n" CLI_HELP_STOP "\n"
    "Progress goes to stdout, one JSON object a line. SIGTERM and Ctrl-C stop and keep all complete frames.\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 bad job or mesh, 4 file or folder, 5 interrupted (run again to resume), 6 memory,\n"
    "8 the bake belongs to another job, 9 the cache is in use, 10 disk full, 11 the bake is damaged, 1 internal\n";

static const char volume_help[] =
    "usage: grain volume JOB [--cache DIR] [--threads N] [--frames A-B] [--force]\n"
    "\n"
    "Turns the bake of the job folder JOB, or its render grains, into a sequence of OpenVDB files, with the "
    "\"volume\"\n"
    "settings of job.json, resuming where they end. The frames they are made from are never changed.\n"
    "\n"
    "  --cache DIR     where the bake is; default JOB/cache. Files go to DIR/volume/volume_0001.vdb and so on\n"
    "  --threads N     default: all cores. The files do not depend on it.\n"
    "  --frames A-B    make only these frames, and the ones between them and existing frames\n"
    "  --force         make all frames again, even existing ones\n" CLI_HELP_STOP "\n"
    "Progress goes to stdout, one JSON object a line. SIGTERM and Ctrl-C stop and keep all complete frames.\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 bad job, 4 file or folder, 5 interrupted (run again to resume), 6 memory,\n"
    "8 the frames belong to another job, 9 the cache is in use, 10 disk full, 11 the bake is damaged, 1 "
    "internal\n";

typedef struct StageCommand {
    const char *name, *help;
    GrainResult (*run)(const GrainStageDef *def);
    const char *options; // which of those below it has
} StageCommand;

static const StageCommand bake = {"bake", bake_help, grain_bake, "ctrauih"};
static const StageCommand upsample = {"upsample", upsample_help, grain_upsample, "ctsfFih"};
static const StageCommand volume = {"volume", volume_help, grain_volume, "ctfFih"};

static const struct option all_options[] = {
    {"cache", required_argument, NULL, 'c'},   {"threads", required_argument, NULL, 't'},
    {"restart", no_argument, NULL, 'r'},       {"force", no_argument, NULL, 'F'},
    {"from", required_argument, NULL, 'a'},    {"until", required_argument, NULL, 'u'},
    {"frames", required_argument, NULL, 'f'},  {"shard", required_argument, NULL, 's'},
    {"stop-on-input", no_argument, NULL, 'i'}, {"help", no_argument, NULL, 'h'},
};
#define OPTION_COUNT (sizeof all_options / sizeof *all_options)

static int parse_shard(const char *text, GrainStageDef *def)
{
    int length = 0;
    return sscanf(text, "%d/%d%n", &def->shard, &def->shard_count, &length) == 2 && text[length] == 0 &&
           def->shard >= 1 && def->shard <= def->shard_count && def->shard_count <= 1000;
}

static int parse_frames(const char *text, GrainStageDef *def)
{
    int length = 0;
    return sscanf(text, "%d-%d%n", &def->first_frame, &def->last_frame, &length) == 2 && text[length] == 0 &&
           def->first_frame <= def->last_frame;
}

// What is wrong with the option's text; NULL: nothing.
static const char *take_option(int option, GrainStageDef *def)
{
    switch (option) {
    case 'c':
        def->cache_folder = optarg;
        return NULL;
    case 't':
        return cli_parse_number(optarg, 1, 1024, &def->thread_count)
                   ? NULL
                   : "--threads is '%s'; it must be a number from 1 to 1024";
    case 'r':
    case 'F':
        def->restart = GRAIN_RESTART_ALL;
        return NULL;
    case 'a':
        def->restart = GRAIN_RESTART_AFTER_FRAME;
        return cli_parse_number(optarg, INT32_MIN, INT32_MAX, &def->keep_frame)
                   ? NULL
                   : "--from is '%s'; it must be a frame number";
    case 'u':
        def->limit_frames = 1;
        return cli_parse_number(optarg, INT32_MIN, INT32_MAX, &def->last_frame)
                   ? NULL
                   : "--until is '%s'; it must be a frame number";
    case 'f':
        def->limit_frames = 1;
        return parse_frames(optarg, def) ? NULL : "--frames is '%s'; it must be like 20-48";
    case 's':
        return parse_shard(optarg, def) ? NULL : "--shard is '%s'; it must be like 2/7, at most of 1000";
    default:
        return "the command line was not understood";
    }
}

// -1 to go on, otherwise the exit code.
static int parse(const StageCommand *command, int argument_count, char **arguments, GrainStageDef *def)
{
    struct option options[OPTION_COUNT + 1] = {0};
    int option, count = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strchr(command->options, all_options[i].val)) options[count++] = all_options[i];
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(command->help, stdout);
            return EXIT_DONE;
        }
        if (option == 'i') {
            cli_stop_on_input();
            continue;
        }
        const char *problem = take_option(option, def);
        if (problem) return cli_usage(command->name, problem, optarg);
    }
    if (optind != argument_count - 1) return cli_usage(command->name, "give one job folder");
    def->job_folder = arguments[optind];
    return -1;
}

static int run(const StageCommand *command, int argument_count, char **arguments)
{
    GrainStageStatus last = {0};
    GrainStageDef def;
    grain_stage_def_default(&def, sizeof def);
    def.status = cli_on_status;
    def.user = &last;
    int exit_code = parse(command, argument_count, arguments, &def);
    if (exit_code >= 0) return exit_code;
    cli_stop_on_signals();
    return cli_end(command->run(&def), &last);
}

int cmd_bake(int argument_count, char **arguments) { return run(&bake, argument_count, arguments); }
int cmd_upsample(int argument_count, char **arguments) { return run(&upsample, argument_count, arguments); }
int cmd_volume(int argument_count, char **arguments) { return run(&volume, argument_count, arguments); }
