// SPDX-License-Identifier: Apache-2.0
// Keys of elements, and their selection (topk_lines.inc.h) for keys of 4 and 8 bytes, in plain C.

#ifndef T // once

#include "kernel/topk/topk.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "kernel/take/tl_index.h"

// Elements of a line whose keys are in the cache at a time, and between two checks for a stop.
enum { CHUNK = 1024 };

// Keys that are compared at a time, and those that are listed at a time.
enum { BLOCK = 64, PART = 16 };

// Lines of at least LONG k elements are bounded by the first SAMPLE-th of their elements.
enum { LONG = 512, SAMPLE = 4 };

// Bytes of a vector.
#ifdef __AVX512F__
enum { VECTOR = 64 };
#elif defined(__AVX2__)
enum { VECTOR = 32 };
#else
enum { VECTOR = 16 };
#endif

// The length of lines that are always selected side by side, and the number of candidates that are
// sorted by counting.
enum { FEW = 64 };

// With at most this k, adjacent lines of any length are selected side by side.
enum { FEW_RANKS = 16 };

#define TL_TEMPLATE  "kernel/topk/topk_lines.inc.h"
#define TL_TUNED_i32 1
#define TL_TUNED_i64 1
#define TL_TAG       i32
#include "tensor/tl_one_type.inc.h"
#define TL_TAG i64
#include "tensor/tl_one_type.inc.h"
#undef TL_TEMPLATE

// Ranks that order elements as signed integers of as many bytes. Equal floats have equal ranks, so
// 0 and -0; NaN has the highest.
// Without branches, which compilers do not vectorize.
static inline int32_t rank_of_float(float x)
{
    int32_t bits;
    const float y = x + 0.0f;
    const int32_t nan = -(x != x);
    memcpy(&bits, &y, sizeof(bits));
    return ((bits ^ (bits >> 31 & INT32_MAX)) | nan) & (INT32_MAX | ~nan);
}

static inline int64_t rank_of_double(double x)
{
    int64_t bits;
    const double y = x + 0.0;
    const int64_t nan = -(int64_t)(x != x);
    memcpy(&bits, &y, sizeof(bits));
    return ((bits ^ (bits >> 63 & INT64_MAX)) | nan) & (INT64_MAX | ~nan);
}

#define IS_WIDE     (sizeof(C) == sizeof(int64_t))
#define TL_TEMPLATE "kernel/topk/topk_c.c"
#define RANK(x)     (IS_WIDE ? rank_of_double((double)(x)) : rank_of_float((float)(x)))
#ifdef TL_SIMD_SET
#define TL_TAG f32
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_float.inc.h"
#endif
#undef RANK
#define RANK(x) \
    ((int64_t)(x) ^ ((C)-1 < (C)1 ? 0 : IS_WIDE ? INT64_MIN : sizeof(C) == 4 ? INT32_MIN : 0))
#ifdef TL_SIMD_SET
#define TL_TAG i64
#include "tensor/tl_one_type.inc.h"
#else
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
#endif

#else // for each type

void NAME(tl_topk_keys, TL_SET)(const void *src, size_t n, int is_smallest, void *keys)
{
    const T *const s = src;
    const int flip = is_smallest ? 0 : -1;
    if (IS_WIDE)
        for (size_t i = 0; i < n; i++)
            ((int64_t *)keys)[i] = (int64_t)RANK(LOAD(s[i])) ^ flip;
    else
        for (size_t i = 0; i < n; i++)
            ((int32_t *)keys)[i] = (int32_t)RANK(LOAD(s[i])) ^ flip;
}

#endif
