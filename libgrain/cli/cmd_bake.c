#include "cli.h"
#include "grain/grain.h"

#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: grain bake JOB [--cache DIR] [--threads N] [--restart] [--until FRAME]\n"
    "\n"
    "Simulates the job folder JOB (job.json, geometry.bin) into a cache folder, going on where the cache ends.\n"
    "\n"
    "  --cache DIR     where frames go; default JOB/cache\n"
    "  --threads N     default: all cores. The files do not depend on it.\n"
    "  --restart       throw away what the cache holds and begin anew\n"
    "  --until FRAME   stop after this frame; the same command without it goes on\n"
    "\n"
    "Progress goes to stdout, one JSON object a line. SIGTERM and Ctrl-C write a checkpoint and stop.\n"
    "\n"
    "exit codes: 0 done, 2 usage, 3 bad job or mesh, 4 file or folder, 5 stopped (run again to go on), 6 memory,\n"
    "7 diverged, 8 cache of another job, 9 cache in use, 10 disk full (free space, run again), 11 damaged, 1 internal\n";

static volatile sig_atomic_t stop_wanted;

static void on_signal(int signal)
{
    (void)signal;
    stop_wanted = 1;
}

// Takes the object over. A reader that went away must not end the bake: SIGPIPE is ignored, and so is the error.
static void print_line(json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
    fputc('\n', stdout);
    fflush(stdout);
    json_decref(object);
}

static json_t *statistics_of(const GrainBakeStatus *s)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "kinetic_energy", s->kinetic_energy, "potential_energy",
                     s->potential_energy, "elastic_energy", s->elastic_energy, "deepest_overlap", s->deepest_overlap,
                     "contacts", (json_int_t)s->contacts, "substeps", (json_int_t)s->substeps, "rejected_substeps",
                     (json_int_t)s->rejected_substeps);
}

static int32_t on_status(void *user, const GrainBakeStatus *s)
{
    GrainBakeStatus *last = user;
    *last = *s;
    json_t *line = NULL;
    switch (s->event) {
    case GRAIN_BAKE_PREPARING:
        line = json_pack("{s:s, s:s, s:f}", "event", "preparing", "stage", s->stage, "fraction", s->fraction);
        break;
    case GRAIN_BAKE_STARTED:
        line = json_pack("{s:s, s:I, s:i, s:i, s:i, s:s}", "event", "started", "particles", (json_int_t)s->particles,
                         "frame_start", s->frame_start, "frame_end", s->frame_end, "resumed_from", s->resumed_from, "cache",
                         s->stage);
        break;
    case GRAIN_BAKE_PROGRESS:
    case GRAIN_BAKE_FRAME:
        line = json_pack("{s:s, s:i, s:f, s:I, s:f, s:f, s:f, s:I}", "event",
                         s->event == GRAIN_BAKE_FRAME ? "frame" : "progress", "frame", s->frame, "fraction", s->fraction,
                         "particles", (json_int_t)s->particles, "seconds", s->seconds, "seconds_left", s->seconds_left,
                         "seconds_per_frame", s->seconds_per_frame, "bytes_written", (json_int_t)s->bytes_written);
        if (line && s->event == GRAIN_BAKE_FRAME) json_object_set_new(line, "statistics", statistics_of(s));
        break;
    case GRAIN_BAKE_WARNING: line = json_pack("{s:s, s:s}", "event", "warning", "message", s->stage); break;
    default: break;
    }
    if (line) print_line(line);
    return stop_wanted ? 0 : GRAIN_CONTINUE;
}

static int parse_number(const char *text, long low, long high, int32_t *out)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == 0 || *end != 0 || value < low || value > high) return 0;
    *out = (int32_t)value;
    return 1;
}

static int parse(int argument_count, char **arguments, GrainBakeDef *def)
{
    static const struct option options[] = {{"cache", required_argument, NULL, 'c'}, {"threads", required_argument, NULL, 't'},
                                            {"restart", no_argument, NULL, 'r'},     {"until", required_argument, NULL, 'u'},
                                            {"help", no_argument, NULL, 'h'},        {0}};
    int option;
    while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
        switch (option) {
        case 'c': def->cache_folder = optarg; break;
        case 't':
            if (!parse_number(optarg, 1, 1024, &def->thread_count))
                return cli_usage("bake", "--threads is '%s'; it must be a number from 1 to 1024", optarg);
            break;
        case 'r': def->restart = 1; break;
        case 'u':
            if (!parse_number(optarg, INT32_MIN, INT32_MAX, &def->last_frame))
                return cli_usage("bake", "--until is '%s'; it must be a frame number", optarg);
            def->limit_frames = 1;
            break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        default: return cli_usage("bake", "the command line was not understood");
        }
    }
    if (optind != argument_count - 1) return cli_usage("bake", "name one job folder");
    def->job_folder = arguments[optind];
    return -1;
}

int cmd_bake(int argument_count, char **arguments)
{
    GrainBakeStatus last = {0};
    GrainBakeDef def;
    grain_bake_def_default(&def, sizeof def);
    def.status = on_status;
    def.user = &last;
    int exit_code = parse(argument_count, arguments, &def);
    if (exit_code >= 0) return exit_code;

    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);

    GrainResult result = grain_bake(&def);
    if (result == GRAIN_OK) {
        print_line(json_pack("{s:s, s:i, s:f}", "event", "done", "frames", last.frame_end - last.frame_start + 1, "seconds",
                             last.seconds));
        return EXIT_DONE;
    }
    exit_code = cli_fail(result);
    if (result == GRAIN_CANCELLED)
        print_line(json_pack("{s:s, s:i, s:s}", "event", "stopped", "frame", last.frame, "message", grain_last_error()));
    else
        print_line(json_pack("{s:s, s:i, s:s}", "event", "error", "code", exit_code, "message", grain_last_error()));
    return exit_code;
}
