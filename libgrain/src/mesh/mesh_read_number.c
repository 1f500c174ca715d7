// SPDX-License-Identifier: GPL-3.0-or-later
// Decimal numbers in mesh files. strtod would follow the locale, and its last bit is the system's own.
#include "base/real.h"
#include "mesh/mesh_read.h"

#include <math.h>
#include <strings.h>

// More digits than a double holds are not worth reading: they only shift the point.
#define MOST_DIGITS 18
// Larger exponents are all infinite or 0.
#define LARGEST_EXPONENT 10000

static int is_digit(const char *at, const char *end) { return at < end && *at >= '0' && *at <= '9'; }

// *dropped: digits that were only counted.
static const char *take_digits(const char *at, const char *end, double *value, int *digits, int *dropped)
{
    for (; is_digit(at, end); at++) {
        if (*digits < MOST_DIGITS)
            *value = 10.0 * *value + (*at - '0'), *digits += *value > 0.0;
        else
            (*dropped)++;
    }
    return at;
}

// Digits with or without a point. Returns where they end, or NULL if there are none.
static const char *take_mantissa(const char *at, const char *end, double *mantissa, int *exponent)
{
    int digits = 0, dropped = 0;
    const char *whole = at;
    *mantissa = 0.0, *exponent = 0;
    at = take_digits(at, end, mantissa, &digits, exponent);
    int has_digits = at > whole;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = take_digits(at, end, mantissa, &digits, &dropped);
        has_digits |= at > fraction;
        *exponent -= (int)(at - fraction) - dropped;
    }
    return has_digits ? at : NULL;
}

// "e-12", if that is what follows.
static const char *take_exponent(const char *at, const char *end, int *exponent)
{
    if (at >= end || (*at != 'e' && *at != 'E')) return at;
    const char *power = at + 1;
    int is_negative = power < end && *power == '-', shift = 0;
    if (power < end && (*power == '-' || *power == '+')) power++;
    if (!is_digit(power, end)) return at;
    for (; is_digit(power, end); power++)
        if (shift < LARGEST_EXPONENT) shift = 10 * shift + (*power - '0');
    *exponent += is_negative ? -shift : shift;
    return power;
}

// Written by programs that lost their numbers; mesh_validate then says where.
static const char *take_word(const char *at, const char *end, double sign, double *value)
{
    if (end - at < 3) return NULL;
    if (strncasecmp(at, "nan", 3) == 0) return *value = (double)NAN, at + 3;
    if (strncasecmp(at, "inf", 3) == 0) return *value = sign * (double)INFINITY, at + 3;
    return NULL;
}

int reader_take_number(Reader *r, double *value)
{
    reader_skip_blanks(r);
    const char *at = r->at, *end = r->end;
    double sign = 1.0, mantissa;
    int exponent;
    if (at < end && (*at == '-' || *at == '+')) sign = *at++ == '-' ? -1.0 : 1.0;
    const char *after = take_mantissa(at, end, &mantissa, &exponent);
    if (after) {
        after = take_exponent(after, end, &exponent);
        // In two steps where one power of ten would leave the range of doubles.
        int half = exponent / 2;
        *value = sign * mantissa * real_pow(10.0, half) * real_pow(10.0, exponent - half);
        if (mantissa == 0.0) *value = sign * 0.0;
    } else {
        after = take_word(at, end, sign, value);
    }
    if (after) r->at = after;
    return after != NULL;
}
