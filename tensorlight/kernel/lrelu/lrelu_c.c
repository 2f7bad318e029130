// SPDX-License-Identifier: Apache-2.0
// The leaky rectifier in plain C, for every type.

#ifndef T // once

#include "kernel/lrelu/lrelu.h"

#include <inttypes.h>

#include "tensor/tl_convert.h"

#define TL_TEMPLATE "kernel/lrelu/lrelu_c.c"

#define SCALED(x, slope) ((x) * (C)(slope))
#include "tensor/tl_each_float.inc.h"
#undef SCALED

#define SCALED(x, slope) NAME(tl, from_double)((double)(x) * (double)(slope))
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"
#undef SCALED

#else // for each type

void NAME(tl_lrelu, c)(const void *src, void *dst, size_t len, const void *param)
{
    const T *const s = src;
    T *const d = dst;
    const float slope = *(const float *)param;
    const C zero = 0;
    for (size_t i = 0; i < len; i++) {
        const C x = LOAD(s[i]);
        d[i] = STORE(x >= zero ? x : SCALED(x, slope));
    }
}

#endif
