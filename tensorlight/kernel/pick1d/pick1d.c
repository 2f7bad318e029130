// SPDX-License-Identifier: Apache-2.0
// Groups of elements picked by index.

#include <assert.h>
#include <limits.h>

#include "kernel/tl_map.h"
#include "kernel/tl_nn_check.h"
#include "tensor/tl_result.h"

typedef struct pick_job {
    const char *src;
    char *dst;
    const int32_t *index;
    size_t group_size; /* bytes of a group */
} pick_job;

/** Copies the groups begin .. end-1 of dst. */
static void run(void *arg, size_t begin, size_t end)
{
    const pick_job *const job = arg;
    for (size_t i = begin; i < end; i++)
        memcpy(job->dst + i * job->group_size, job->src + (size_t)job->index[i] * job->group_size,
               job->group_size);
}

int tl_exec_pick1d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                   tl_tensor *dst, int stride, int len)
{
    assert(index->dtype == TL_INT32 && len >= 0 && len <= index->len && stride >= 1);
    assert(src->dtype == dst->dtype && src->len % stride == 0 && dst->len == len * stride);
    pick_job job = {src->data, dst->data, index->data, (size_t)stride * tl_size_of(src->dtype)};
    const int groups = src->len / stride;
    for (int i = 0; i < len; i++)
        if (job.index[i] < 0 || job.index[i] >= groups)
            return tl_fail("index %d at position %d, expected 0 to %d", (int)job.index[i], i,
                           groups - 1);
    tl_parallel(exec, (size_t)len, TL_GRAIN_MEMORY_BOUND / (size_t)stride + 1, run, &job);
    return 0;
}

/** Checks everything but the indices and infers the length of dst. */
static int infer(const tl_tensor *src, const tl_tensor *index, int stride, int len, int *new_len)
{
    if (tl_check_input(src, "src", 1) < 0 || tl_check_input(index, "index", 1) < 0 ||
        tl_check_at_least("stride", &stride, 1, 1) < 0 || tl_check_at_least("len", &len, 1, 1) < 0)
        return -1;
    if (index->dtype != TL_INT32)
        return tl_fail("'index' has dtype %s, expected TL_INT32", tl_dtype_name(index->dtype));
    if (src->len % stride != 0)
        return tl_fail("'src' has %d elements, expected a multiple of 'stride', %d", src->len,
                       stride);
    if (len > index->len)
        return tl_fail("'len' is %d, expected at most the %d elements of 'index'", len, index->len);
    if (__builtin_mul_overflow(len, stride, new_len))
        return tl_fail("%d groups of %d elements, expected at most %d elements", len, stride,
                       INT_MAX);
    return 0;
}

tl_tensor *tl_tensor_pick1d(const tl_tensor *src, const tl_tensor *index, tl_tensor *dst,
                            int stride, int len)
{
    int new_len;
    if (infer(src, index, stride, len, &new_len) < 0 || tl_check_apart(dst, src) < 0 ||
        tl_check_apart(dst, index) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 1, &new_len, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_pick1d(NULL, src, index, result, stride, len) : -1);
}
