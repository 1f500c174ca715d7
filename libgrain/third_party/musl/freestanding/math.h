/* Grain's, not musl's: stands in for <math.h> when musl's files are compiled. It takes away every switch by which they
 * could be other functions on another machine, and gives them names of their own. See ../README.md. */
#ifndef GRAIN_MUSL_MATH_H
#define GRAIN_MUSL_MATH_H

#include <float.h>

#if FLT_EVAL_METHOD != 0
#error "float and double expressions must be evaluated as what they are (-mfpmath=sse)"
#endif
#ifdef __FAST_MATH__
#error "no -ffast-math"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "never tried where the high byte comes first"
#endif

/* arm64 has this and x86-64 has not; pow would be another function there. */
#undef __FP_FAST_FMA
/* Instructions of some processors that round to a whole number in one go. */
#define TOINT_INTRINSICS 0

typedef float float_t;
typedef double double_t;

#define hidden
#define INFINITY __builtin_inff()
#define M_PI_2 1.57079632679489661923
#define isnan(x) __builtin_isnan(x)
#define fabs(x) __builtin_fabs(x)
#define fabsf(x) __builtin_fabsf(x)
#define sqrtf(x) __builtin_sqrtf(x) /* an instruction, right to the last bit */

#define sin real_sin
#define cos real_cos
#define atan2 real_atan2
#define exp real_exp
#define pow real_pow
#define cbrt real_cbrt
#define sinf real_sinf
#define cosf real_cosf
#define acosf real_acosf
#define atan2f real_atan2f
#define powf real_powf
#define cbrtf real_cbrtf
#include "base/real.h"

/* Only for the others here. */
#define atan real_musl_atan
#define atanf real_musl_atanf
#define floor real_musl_floor
#define scalbn real_musl_scalbn
#define __sin real_musl_sin
#define __cos real_musl_cos
#define __sindf real_musl_sindf
#define __cosdf real_musl_cosdf
#define __rem_pio2 real_musl_rem_pio2
#define __rem_pio2f real_musl_rem_pio2f
#define __rem_pio2_large real_musl_rem_pio2_large
#define __math_oflow real_musl_oflow
#define __math_uflow real_musl_uflow
#define __math_xflow real_musl_xflow
#define __math_invalid real_musl_invalid
#define __math_oflowf real_musl_oflowf
#define __math_uflowf real_musl_uflowf
#define __math_xflowf real_musl_xflowf
#define __math_invalidf real_musl_invalidf
#define __exp_data real_musl_exp_data
#define __exp2f_data real_musl_exp2f_data
#define __pow_log_data real_musl_pow_log_data
#define __powf_log2_data real_musl_powf_log2_data
double atan(double);
float atanf(float);
double floor(double);
double scalbn(double, int);

#endif
