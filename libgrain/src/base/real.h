// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Mathematical functions with the same bits on every machine, so that a bake can be resumed elsewhere and a farm may
/// be mixed. The system's functions differ: glibc's depend on the processor (with or without fused multiply-add), those
/// of Windows and macOS differ from it and from each other, and a compiler may evaluate a constant call more accurately
/// than the library does at run time. tests/check_layers.py keeps them out of src/.
///
/// Functions that IEEE 754 defines to the last bit may come from <math.h>: sqrt, fabs, floor, ceil, trunc, round,
/// llround, rint, fmod, ldexp, frexp, copysign, and questions like isfinite. fmin and fmax are not among them: given 0
/// and -0, they may return either.
///
/// The sign and the payload of a NaN depend on the processor, so no NaN may reach a file.

// musl's (third_party/musl/README.md). Behind each the largest error in units in the last place: of exp, pow, powf and
// cbrt as their sources say, of the others a little above what 2 million arguments showed (tests/unit/test_real.c).
double real_sin(double angle);              ///< 0.8
double real_cos(double angle);              ///< 0.8
double real_atan2(double y, double x);      ///< 1.5
double real_exp(double exponent);           ///< 0.511
double real_pow(double base, double power); ///< 0.54
double real_cbrt(double value);             ///< 0.667
float real_sinf(float angle);               ///< 0.6
float real_cosf(float angle);               ///< 0.6
float real_acosf(float cosine);             ///< 1
float real_atan2f(float y, float x);        ///< 1.5
float real_powf(float base, float power);   ///< 0.82
float real_cbrtf(float value);              ///< 0.501

/// Minimum and maximum. If one argument is NaN, the other is returned; of two equal ones the second, which matters for
/// 0 and -0.
static inline double real_min(double a, double b) { return a < b || b != b ? a : b; }
static inline double real_max(double a, double b) { return a > b || b != b ? a : b; }
static inline float real_minf(float a, float b) { return a < b || b != b ? a : b; }
static inline float real_maxf(float a, float b) { return a > b || b != b ? a : b; }
