// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands that run a stage share: progress as JSON lines, stopping, the closing line.
#include "cli.h"
#include "console.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t stop_wanted;
static int listens_to_input; // until it ends

static void on_signal(int signal)
{
    (void)signal;
    stop_wanted = 1;
}

// Standard input is looked at whenever there is progress to tell, which is also the only time when a stop is heeded: a
// thread that waits for input would be no quicker, and one that is stuck in a read can keep a program from ending.
static int is_stop_wanted(void)
{
    ConsoleInput input = listens_to_input ? console_input() : CONSOLE_INPUT_NONE;
    if (input == CONSOLE_INPUT_CAME) stop_wanted = 1;
    // Whoever started the bake is gone, which is no reason to throw its work away.
    if (input == CONSOLE_INPUT_ENDED) listens_to_input = 0;
    return stop_wanted;
}

// JSON has room for all of Unicode and for nothing else: what is no UTF-8 is cleaned.
static json_t *text_of(const char *text)
{
    json_t *string = json_string(text);
    if (string) return string;
    char cleaned[2048];
    snprintf(cleaned, sizeof cleaned, "%s", text);
    cli_clean(cleaned);
    return json_string(cleaned);
}

// Takes the object over. A reader that went away must not end the bake: SIGPIPE is ignored, and so is the error.
static void print_line(json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    fputc('\n', stdout);
    fflush(stdout);
    json_decref(object);
}

static json_t *statistics_of(const GrainStageStatus *s)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "kinetic_energy", s->kinetic_energy, "potential_energy",
                     s->potential_energy, "elastic_energy", s->elastic_energy, "deepest_overlap", s->deepest_overlap,
                     "contacts", (json_int_t)s->contacts, "substeps", (json_int_t)s->substeps, "rejected_substeps",
                     (json_int_t)s->rejected_substeps);
}

int32_t cli_on_status(void *user, const GrainStageStatus *s)
{
    GrainStageStatus *last = user;
    *last = *s;
    json_t *line = NULL;
    switch (s->event) {
    case GRAIN_STAGE_PREPARING:
        line = json_pack("{s:s, s:o, s:f}", "event", "preparing", "stage", text_of(s->text), "fraction", s->fraction);
        break;
    case GRAIN_STAGE_STARTED:
        line = json_pack("{s:s, s:I, s:i, s:i, s:i, s:o}", "event", "started", "particles", (json_int_t)s->particles,
                         "frame_start", s->frame_start, "frame_end", s->frame_end, "resumed_from", s->resumed_from,
                         "cache", text_of(s->text));
        break;
    case GRAIN_STAGE_PROGRESS:
    case GRAIN_STAGE_FRAME:
        line =
            json_pack("{s:s, s:i, s:f, s:I, s:f, s:f, s:f, s:I}", "event",
                      s->event == GRAIN_STAGE_FRAME ? "frame" : "progress", "frame", s->frame, "fraction", s->fraction,
                      "particles", (json_int_t)s->particles, "seconds", s->seconds, "seconds_left", s->seconds_left,
                      "seconds_per_frame", s->seconds_per_frame, "bytes_written", (json_int_t)s->bytes_written);
        if (line && s->event == GRAIN_STAGE_FRAME) json_object_set_new(line, "statistics", statistics_of(s));
        break;
    case GRAIN_STAGE_WARNING:
        line = json_pack("{s:s, s:o}", "event", "warning", "message", text_of(s->text));
        break;
    default:
        break;
    }
    if (line) print_line(line);
    return is_stop_wanted() ? 0 : GRAIN_CONTINUE;
}

int cli_parse_number(const char *text, int64_t low, int64_t high, int32_t *out)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text == 0 || *end != 0 || value < low || value > high) return 0;
    *out = (int32_t)value;
    return 1;
}

void cli_stop_on_input(void)
{
    listens_to_input = 1;
    is_stop_wanted(); // once before any file is opened: of an input that is closed, one might get its number
}

void cli_stop_on_signals(void) { console_catch_stop(on_signal); }

int cli_end(GrainResult result, const GrainStageStatus *last)
{
    if (result == GRAIN_OK) {
        print_line(json_pack("{s:s, s:i, s:f}", "event", "done", "frames", last->frame_end - last->frame_start + 1,
                             "seconds", last->seconds));
        return EXIT_DONE;
    }
    int exit_code = cli_fail(result);
    if (result == GRAIN_CANCELLED)
        print_line(json_pack("{s:s, s:i, s:o}", "event", "stopped", "frame", last->frame, "message",
                             text_of(grain_last_error())));
    else
        print_line(
            json_pack("{s:s, s:i, s:o}", "event", "error", "code", exit_code, "message", text_of(grain_last_error())));
    return exit_code;
}
