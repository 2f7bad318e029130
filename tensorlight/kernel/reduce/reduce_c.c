// SPDX-License-Identifier: Apache-2.0
// Reductions in plain C.
//
// Each operation is four steps on accumulators of the type ACC, one accumulator per result:
//
//     acc = FIRST                 for no element
//     acc = STEP(acc, x)          for one more; x has the type C
//     acc = JOIN(acc, other)      of two parts of the elements
//     RESULT(acc, count)          the result, of the type C
//
// Results that lie next to each other are reduced together, up to TL_REDUCE_LINES at a time, so
// that memory is read in order: a loop that compilers turn into vector code. Where the elements of
// one result lie next to each other, TL_REDUCE_LANES of them are taken for a row of such results.
// Floats sum in double, integers modulo 2^64, which keeps their own lower bits. log_sum_exp first
// finds the maximum of each result, then sums exp(x - maximum).

#include "kernel/reduce/reduce.h"

#include <math.h>

#include "tensor/tl_convert.h"

/* ---- floats ---- */

#include "kernel/reduce/reduce_float.inc.h"

#include "tensor/tl_each_float.inc.h"
#undef MAX_OF
#undef MIN_OF
#undef LOWEST
#undef HIGHEST
#undef SUM
#undef ABS
#undef AS_IS
#undef DOUBLE_OF
#undef FROM_DOUBLE
#undef MEAN
#undef IS_FINITE

/* ---- integers ---- */

#define MAX_OF(acc, x)   ((x) > (acc) ? (x) : (acc))
#define MIN_OF(acc, x)   ((x) < (acc) ? (x) : (acc))
#define IS_SIGNED        ((C)-1 < (C)1)
#define LOWEST           NAME(tl, from_double)(-INFINITY)
#define HIGHEST          NAME(tl, from_double)(INFINITY)
#define SUM              uint64_t
#define ABS(x)           ((x) < (C)1 ? 0 - (uint64_t)(x) : (uint64_t)(x))
#define AS_IS(sum)       ((C)(sum))
#define DOUBLE_OF(sum)   (IS_SIGNED ? (double)(int64_t)(sum) : (double)(sum))
#define FROM_DOUBLE(d)   NAME(tl, from_double)(d)
#define MEAN(sum, count) NAME(mean, c)(sum, count)
#define IS_FINITE(c)     1
#include "tensor/tl_each_int.inc.h"
#undef LOWEST
#undef HIGHEST

/* ---- bool: the maximum is OR, the minimum AND ---- */

#define LOWEST  0
#define HIGHEST 1
#define TL_TAG  b8
#include "tensor/tl_one_type.inc.h"
