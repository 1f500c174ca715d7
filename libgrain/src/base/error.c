// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Long enough for two paths and a sentence; longer text is cut, never overrun.
#define ERROR_TEXT_BYTES 2048

static _Thread_local char last_error[ERROR_TEXT_BYTES] = "no error";

const char *error_text(void) { return last_error; }

GrainResult fail(GrainResult code, const char *format, ...)
{
    char text[ERROR_TEXT_BYTES]; // an argument may be the stored text itself
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(last_error, text, sizeof text);
    return code;
}

GrainResult fail_within(GrainResult code, const char *format, ...)
{
    char context[ERROR_TEXT_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);
    return fail(code, "%s: %s", context, last_error);
}
