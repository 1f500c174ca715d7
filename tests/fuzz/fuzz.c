// SPDX-License-Identifier: GPL-3.0-or-later
#include "fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_found(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("# ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    abort();
}

uint8_t fuzz_byte(FuzzBytes *bytes) { return bytes->at < bytes->end ? *bytes->at++ : 0; }

uint32_t fuzz_word(FuzzBytes *bytes)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) word |= (uint32_t)fuzz_byte(bytes) << (8 * i);
    return word;
}

float fuzz_float(FuzzBytes *bytes)
{
    uint32_t word = fuzz_word(bytes);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}
