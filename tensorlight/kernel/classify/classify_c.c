// SPDX-License-Identifier: Apache-2.0
// Classes of numbers in plain C, for every floating type.

#ifndef T // once

#include "kernel/classify/classify.h"

#include <math.h>

#include "tensorlight/tl_elementwise.h"

#define TL_TEMPLATE "kernel/classify/classify_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

void NAME(tl_classify, c)(const void *src, void *dst, size_t len, const void *param)
{
    const int classes = *(const int *)param;
    const int nan = (classes & TL_CLASS_NAN) != 0;
    const int above = (classes & TL_CLASS_POSITIVE_INF) != 0;
    const int below = (classes & TL_CLASS_NEGATIVE_INF) != 0;
    const T *const s = src;
    uint8_t *const d = dst;
    for (size_t i = 0; i < len; i++) {
        const C x = LOAD(s[i]);
        const C infinite = INFINITY;
        d[i] = (nan & (x != x)) | (above & (x == infinite)) | (below & (x == -infinite));
    }
}

#endif
