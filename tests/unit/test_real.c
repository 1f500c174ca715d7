// SPDX-License-Identifier: GPL-3.0-or-later
// The bits of base/real.h are part of what a bake is, on every machine: a hash of them for each function, over its
// whole range. Besides, that they are right.
#include "base/real.h"
#include "base/rng.h"
#include "unit/test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define DRAWS 100000

typedef struct Function {
    const char *name;
    double (*of)(double a, double b);
    long double (*exact)(long double a, long double b); // the system's
    int is_float, arguments;
    double low[2], high[2]; // where it is used
    double most_ulp;
    uint64_t hash;
} Function;

#define WRAP(name, call, exact_call)                                                                                   \
    static double of_##name(double a, double b)                                                                        \
    {                                                                                                                  \
        (void)b;                                                                                                       \
        return (double)(call);                                                                                         \
    }                                                                                                                  \
    static long double exact_##name(long double a, long double b)                                                      \
    {                                                                                                                  \
        (void)b;                                                                                                       \
        return exact_call;                                                                                             \
    }
WRAP(sin, real_sin(a), sinl(a))
WRAP(cos, real_cos(a), cosl(a))
WRAP(atan2, real_atan2(a, b), atan2l(a, b))
WRAP(exp, real_exp(a), expl(a))
WRAP(pow, real_pow(a, b), powl(a, b))
WRAP(cbrt, real_cbrt(a), cbrtl(a))
WRAP(sinf, real_sinf((float)a), sinl(a))
WRAP(cosf, real_cosf((float)a), cosl(a))
WRAP(acosf, real_acosf((float)a), acosl(a))
WRAP(atan2f, real_atan2f((float)a, (float)b), atan2l(a, b))
WRAP(powf, real_powf((float)a, (float)b), powl(a, b))
WRAP(cbrtf, real_cbrtf((float)a), cbrtl(a))

static const Function functions[] = {
    {"sin", of_sin, exact_sin, 0, 1, {-10}, {10}, 0.8, 0x7d06853de7c526ae},
    {"cos", of_cos, exact_cos, 0, 1, {-10}, {10}, 0.8, 0x2378a40236015a14},
    {"atan2", of_atan2, exact_atan2, 0, 2, {-1, -1}, {1, 1}, 1.5, 0x558e866e1d331044},
    {"exp", of_exp, exact_exp, 0, 1, {-20}, {20}, 0.511, 0x07b3e2d98457ab58},
    {"pow", of_pow, exact_pow, 0, 2, {0, -5}, {10, 5}, 0.54, 0x3b824ebec50389dc},
    {"cbrt", of_cbrt, exact_cbrt, 0, 1, {-10}, {10}, 0.667, 0x5adec287e5a528ac},
    {"sinf", of_sinf, exact_sinf, 1, 1, {-10}, {10}, 0.6, 0x25992ebf65e17fe7},
    {"cosf", of_cosf, exact_cosf, 1, 1, {-10}, {10}, 0.6, 0x1c84ae83270685d0},
    {"acosf", of_acosf, exact_acosf, 1, 1, {-1}, {1}, 1.0, 0xb83577213b5bc0d6},
    {"atan2f", of_atan2f, exact_atan2f, 1, 2, {-1, -1}, {1, 1}, 1.5, 0xca9672a95fe5dc24},
    {"powf", of_powf, exact_powf, 1, 2, {0, -5}, {10, 5}, 0.82, 0xd69e102506ec0fd4},
    {"cbrtf", of_cbrtf, exact_cbrtf, 1, 1, {-10}, {10}, 0.501, 0xce16d84c8616afa8},
};
#define FUNCTION_COUNT ((int)(sizeof functions / sizeof *functions))

// Exact or nearly so; far out, and where exp ends; the least ones; infinite.
static const double special[] = {0.0,
                                 -0.0,
                                 0.5,
                                 -0.5,
                                 1.0,
                                 -1.0,
                                 2.0,
                                 -3.0,
                                 1.5707963267948966,
                                 -3.141592653589793,
                                 1e-300,
                                 -1e-30,
                                 1e22,
                                 -1e300,
                                 709.9,
                                 -745.0,
                                 DBL_MAX,
                                 -0x1.fffffep127,
                                 0x1p-1074,
                                 -0x1p-1022,
                                 0x1p-149,
                                 0x1p-126,
                                 HUGE_VAL,
                                 -HUGE_VAL};
#define SPECIAL_COUNT ((int)(sizeof special / sizeof *special))

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// FNV-1a, a word at a time; folded, as the low half of a float's word is empty. The sign and the payload of a NaN are
// the processor's own.
static uint64_t add_to_hash(uint64_t hash, double value)
{
    hash = (hash ^ (isnan(value) ? 0x7ff8000000000000u : bits_of(value))) * 1099511628211u;
    return hash ^ hash >> 32;
}

// Any bits at all: as many tiny and huge ones as others, and NaN among them.
static double any_number(int is_float, uint32_t high, uint32_t low)
{
    if (is_float) {
        float value;
        memcpy(&value, &high, sizeof value);
        return (double)value;
    }
    uint64_t word = (uint64_t)high << 32 | low;
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void draw_any(const Function *f, uint64_t id, double argument[2])
{
    Rng4 r = rng_at(1, id, RNG_STREAM_TEST, 0);
    for (int k = 0; k < 2; k++) argument[k] = any_number(f->is_float, r.word[2 * k], r.word[2 * k + 1]);
}

static void draw_usual(const Function *f, uint64_t id, double argument[2])
{
    Rng4 r = rng_at(2, id, RNG_STREAM_TEST, 0);
    for (int k = 0; k < 2; k++) {
        double unit = ((double)r.word[2 * k] + (double)r.word[2 * k + 1] * 0x1p-32) * 0x1p-32;
        argument[k] = f->low[k] + (f->high[k] - f->low[k]) * unit;
        if (f->is_float) argument[k] = (double)(float)argument[k];
    }
}

static uint64_t hash_of(const Function *f)
{
    uint64_t hash = 14695981039346656037u;
    double argument[2];
    for (uint64_t id = 0; id < DRAWS; id++) {
        draw_any(f, id, argument);
        hash = add_to_hash(hash, f->of(argument[0], argument[1]));
        draw_usual(f, id, argument);
        hash = add_to_hash(hash, f->of(argument[0], argument[1]));
    }
    for (int i = 0; i < SPECIAL_COUNT; i++)
        for (int j = 0; j < (f->arguments == 2 ? SPECIAL_COUNT : 1); j++)
            hash = add_to_hash(hash, f->of(special[i], special[j]));
    return hash;
}

// Made once, with gcc 12 on x86-64. They change only together with the versions of all solvers.
TEST(bits_are_the_same_everywhere)
{
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        uint64_t hash = hash_of(&functions[i]);
        if (hash != functions[i].hash) {
            test_fail(__FILE__, __LINE__, "%s has other bits: hash 0x%016llx, expected 0x%016llx", functions[i].name,
                      (unsigned long long)hash, (unsigned long long)functions[i].hash);
        }
    }
}

// Where the bits are the same, so are the errors: they need not be measured where long double is no more than double,
// or its sine is the processor's, wrong in the third-last digit, as on Windows.
#if LDBL_MANT_DIG > DBL_MANT_DIG && !defined(_WIN32)

// In units in the last place of a double or float of the size of exact.
static double error_ulp(int is_float, double value, long double exact)
{
    int exponent, digits = is_float ? FLT_MANT_DIG : DBL_MANT_DIG, least = is_float ? FLT_MIN_EXP : DBL_MIN_EXP;
    frexp((double)exact, &exponent);
    if (exponent < least) exponent = least;
    return (double)fabsl(ldexpl((long double)value - exact, digits - exponent));
}

static double worst_error(const Function *f, void (*draw)(const Function *, uint64_t, double[2]))
{
    double worst = 0.0, argument[2];
    for (uint64_t id = 0; id < DRAWS; id++) {
        draw(f, id, argument);
        double value = f->of(argument[0], argument[1]);
        long double exact = f->exact((long double)argument[0], (long double)argument[1]);
        double rounded = f->is_float ? (double)(float)exact : (double)exact;
        if (isnan(rounded) || isinf(rounded)) {
            if (isnan(value) != isnan(rounded) || (isinf(rounded) && value != rounded)) return (double)INFINITY;
            continue;
        }
        double error = error_ulp(f->is_float, value, exact);
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

TEST(errors_are_below_what_the_header_says)
{
    for (int i = 0; i < FUNCTION_COUNT; i++) {
        const Function *f = &functions[i];
        double usual = worst_error(f, draw_usual), any = worst_error(f, draw_any), worst = usual > any ? usual : any;
        if (!(worst <= f->most_ulp)) {
            test_fail(__FILE__, __LINE__, "%s is off by %.4f (usual) and %.4f (any) units in the last place", f->name,
                      usual, any);
        }
    }
}

#endif

#define ENSURE_BITS(value, expected) ENSURE(bits_of((double)(value)) == bits_of((double)(expected)))

TEST(zeros_infinities_and_nan)
{
    const double inf = (double)INFINITY, nan = (double)NAN, pi = 3.141592653589793;
    ENSURE_BITS(real_sin(-0.0), -0.0);
    ENSURE_BITS(real_sin(0x1p-1074), 0x1p-1074);
    ENSURE_BITS(real_cos(-0.0), 1.0);
    ENSURE(isnan(real_sin(inf)) && isnan(real_cos(-inf)) && isnan(real_sin(nan)));
    ENSURE(isnan(real_sinf(INFINITY)) && isnan(real_cosf(-INFINITY)));
    ENSURE_BITS(real_atan2(0.0, -1.0), pi);
    ENSURE_BITS(real_atan2(-0.0, -1.0), -pi);
    ENSURE_BITS(real_atan2(-0.0, 0.0), -0.0);
    ENSURE_BITS(real_atan2(inf, -inf), 0.75 * pi);
    ENSURE(isnan(real_atan2(nan, 1.0)) && isnan(real_atan2f(1.0f, NAN)));
    ENSURE_BITS(real_exp(-inf), 0.0);
    ENSURE_BITS(real_exp(inf), inf);
    ENSURE_BITS(real_exp(710.0), inf);
    ENSURE_BITS(real_exp(-745.1), 0x1p-1074);
    ENSURE_BITS(real_exp(-746.0), 0.0);
    ENSURE_BITS(real_pow(nan, 0.0), 1.0);
    ENSURE_BITS(real_pow(1.0, nan), 1.0);
    ENSURE_BITS(real_pow(0.0, -1.0), inf);
    ENSURE_BITS(real_pow(-0.0, -3.0), -inf);
    ENSURE_BITS(real_pow(-2.0, 3.0), -8.0);
    ENSURE_BITS(real_pow(2.0, -1074.0), 0x1p-1074);
    ENSURE_BITS(real_powf(-2.0f, 3.0f), -8.0);
    ENSURE(isnan(real_pow(-2.0, 0.5)) && isnan(real_powf(-2.0f, 0.5f)));
    ENSURE_BITS(real_cbrt(-27.0), -3.0);
    ENSURE_BITS(real_cbrt(-0.0), -0.0);
    ENSURE_BITS(real_cbrt(-inf), -inf);
    ENSURE_BITS(real_cbrtf(27.0f), 3.0);
    ENSURE_BITS(real_acosf(1.0f), 0.0);
    ENSURE(isnan(real_acosf(1.0001f)) && isnan(real_acosf(NAN)));
}

// The remainder by pi / 2 of 1e22 has lost all digits of a double unless hundreds are kept.
TEST(huge_angles_keep_their_digits)
{
    ENSURE_BITS(real_sin(1e22), -0.8522008497671888);
    ENSURE_BITS(real_cos(1e22), 0.523214785395139);
}

TEST(smaller_and_larger_are_settled_for_zeros_and_nan)
{
    const double nan = (double)NAN;
    ENSURE_BITS(real_min(2.0, 1.0), 1.0);
    ENSURE_BITS(real_max(2.0, 1.0), 2.0);
    ENSURE_BITS(real_minf(1.0f, 2.0f), 1.0);
    ENSURE_BITS(real_maxf(1.0f, 2.0f), 2.0);
    ENSURE_BITS(real_min(0.0, -0.0), -0.0);
    ENSURE_BITS(real_min(-0.0, 0.0), 0.0);
    ENSURE_BITS(real_max(0.0, -0.0), -0.0);
    ENSURE_BITS(real_max(-0.0, 0.0), 0.0);
    ENSURE_BITS(real_minf(-0.0f, 0.0f), 0.0);
    ENSURE_BITS(real_maxf(0.0f, -0.0f), -0.0);
    ENSURE(real_min(nan, 1.0) == 1.0 && real_min(1.0, nan) == 1.0 && isnan(real_min(nan, nan)));
    ENSURE(real_max(nan, 1.0) == 1.0 && real_max(1.0, nan) == 1.0 && isnan(real_max(nan, nan)));
    ENSURE(real_minf(NAN, 1.0f) == 1.0f && real_minf(1.0f, NAN) == 1.0f);
    ENSURE(real_maxf(NAN, 1.0f) == 1.0f && real_maxf(1.0f, NAN) == 1.0f);
}
