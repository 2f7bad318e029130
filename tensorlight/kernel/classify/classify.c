// SPDX-License-Identifier: Apache-2.0
// IsNaN and IsInf.

#ifndef T // once

#include "kernel/classify/classify.h"

#include <assert.h>
#include <math.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_elementwise.h"

#define TL_TEMPLATE "kernel/classify/classify.c"
#include "tensor/tl_each_float.inc.h"

TL_KERNEL_TABLE(pick, tl_map_func, TL_CLASSIFY_KERNELS)

int tl_exec_classify(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int classes)
{
    assert(tl_dtype_is_float(src->dtype) && dst->dtype == TL_BOOL);
    tl_map(exec, TL_GRAIN_MEMORY_BOUND, pick(exec, src->dtype), src, dst, &classes);
    return 0;
}

tl_tensor *tl_tensor_classify(const tl_tensor *src, tl_tensor *dst, int classes)
{
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_float(src, "src") < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, TL_BOOL);
    return tl_result_end(result, dst, result ? tl_exec_classify(NULL, src, result, classes) : -1);
}

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
