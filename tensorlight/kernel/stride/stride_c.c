// SPDX-License-Identifier: Apache-2.0
// Copies with strides in plain C, for every size of element.

#ifndef T // once

#include "kernel/stride/stride.h"

#include <stdint.h>

// A copy serves all types of its size, such as TL_FLOAT.
#define TL_TUNED_ALL
#define TL_TEMPLATE "kernel/stride/stride_c.c"
#include "tensor/tl_each_uint.inc.h"

#else // for each type

// Copies a line of elements. The most frequent strides have separate loops, which compilers
// vectorize.
void NAME(tl_stride, c)(const void *src, ptrdiff_t src_stride, void *dst, ptrdiff_t dst_stride,
                        size_t len)
{
    const T *const s = src;
    T *const d = dst;
    const ptrdiff_t n = (ptrdiff_t)len;
    if (src_stride == 0 && dst_stride == 1)
        for (ptrdiff_t i = 0; i < n; i++)
            d[i] = s[0];
    else if (src_stride == -1 && dst_stride == 1)
        for (ptrdiff_t i = 0; i < n; i++)
            d[i] = s[-i];
    else if (src_stride == 2 && dst_stride == 1)
        for (ptrdiff_t i = 0; i < n; i++)
            d[i] = s[2 * i];
    else
        for (ptrdiff_t i = 0; i < n; i++)
            d[i * dst_stride] = s[i * src_stride];
}

#endif
