// SPDX-License-Identifier: Apache-2.0
// Binary operations: choice of the kernel, threads, and the public functions.

#include "kernel/elew/elew.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>

#include "kernel/tl_map.h"
#include "tensor/tl_element.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick, tl_elew_kernel, TL_ELEW_KERNELS)

static int fail_division(tl_dtype dtype)
{
    return tl_fail("division by zero in %s", tl_dtype_name(dtype));
}

/* ---- one element ---- */

static int check_op(tl_elew_op op)
{
    if (op < 0 || op >= TL_ELEW_OP_SIZE)
        return tl_fail("elew op %d, expected 0 to %d", op, TL_ELEW_OP_SIZE - 1);
    return 0;
}

int tl_elew(const void *p1, const void *p2, void *ret, tl_elew_op op, tl_dtype dtype)
{
    if (check_op(op) < 0)
        return -1;
    return pick(NULL, dtype)(op, p1, p2, ret, 1) < 0 ? fail_division(dtype) : 0;
}

#define ELEW(dtype, tag, ...)                                                       \
    static int elew_##tag(const void *p1, const void *p2, void *ret, tl_elew_op op) \
    {                                                                               \
        return tl_elew(p1, p2, ret, op, dtype);                                     \
    }
TL_TYPES(ELEW)

tl_elew_func tl_elew_getfunc(tl_dtype dtype)
{
#define ELEMENT(dtype, tag, ...) [dtype] = elew_##tag,
    static const tl_elew_func funcs[TL_DTYPE_SIZE] = {TL_TYPES(ELEMENT)};
    return funcs[dtype];
}

/* ---- tensors ---- */

/** Elements of the buffer that holds one value many times, so that a number works as a tensor does.
 */
enum { SPREAD = 256 };

typedef struct job {
    tl_elew_kernel *func;
    tl_elew_op op;
    size_t size; /* of an element */
    const char *src1;
    const char *src2; /* as long as src1, or SPREAD elements */
    int is_spread;
    char *dst;
    atomic_int failed;
} job;

static int run_part(const job *j, size_t begin, size_t len)
{
    const char *const src2 = j->is_spread ? j->src2 : j->src2 + begin * j->size;
    return j->func(j->op, j->src1 + begin * j->size, src2, j->dst + begin * j->size, len);
}

static void run_range(void *arg, size_t begin, size_t end)
{
    job *const j = arg;
    while (begin < end) {
        const size_t rest = end - begin;
        const size_t len = j->is_spread && rest > SPREAD ? SPREAD : rest;
        if (run_part(j, begin, len) < 0) {
            atomic_store_explicit(&j->failed, 1, memory_order_relaxed);
            return;
        }
        begin += len;
    }
}

static int run_job(const tl_exec *exec, const tl_tensor *src1, const void *src2, int is_spread,
                   tl_tensor *dst, tl_elew_op op)
{
    assert(op >= 0 && op < TL_ELEW_OP_SIZE);
    assert(src1->dtype == dst->dtype && src1->len == dst->len);
    job j = {.func = pick(exec, src1->dtype),
             .op = op,
             .size = tl_size_of(src1->dtype),
             .src1 = src1->data,
             .src2 = src2,
             .is_spread = is_spread,
             .dst = dst->data};
    const size_t grain = op == TL_POW ? TL_GRAIN_COMPUTE_BOUND : TL_GRAIN_MEMORY_BOUND;
    tl_parallel(exec, (size_t)src1->len, grain, run_range, &j);
    return j.failed ? fail_division(src1->dtype) : 0;
}

int tl_exec_elew(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                 tl_elew_op op)
{
    assert(src1->dtype == src2->dtype && src1->len == src2->len);
    return run_job(exec, src1, src2->data, 0, dst, op);
}

int tl_exec_elew_param(const tl_exec *exec, const tl_tensor *src, double param, tl_tensor *dst,
                       tl_elew_op op)
{
    _Alignas(TL_DTYPE_MAX_SIZE) char spread[SPREAD * TL_DTYPE_MAX_SIZE];
    const size_t size = tl_size_of(src->dtype);
    tl_convert(spread, src->dtype, &param, TL_DOUBLE);
    for (size_t i = 1; i < SPREAD; i++)
        memcpy(spread + i * size, spread, size);
    return run_job(exec, src, spread, 1, dst, op);
}

tl_tensor *tl_tensor_elew(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                          tl_elew_op op)
{
    if (tl_check_data(src1, "src1") < 0 || tl_check_data(src2, "src2") < 0 || check_op(op) < 0 ||
        tl_check_same_dtype(src1, src2) < 0 || tl_check_same_shape(src1, src2) < 0 ||
        tl_check_in_place(dst, src1) < 0 || tl_check_in_place(dst, src2) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src1->ndim, src1->dims, src1->dtype);
    return tl_result_end(result, dst, result ? tl_exec_elew(NULL, src1, src2, result, op) : -1);
}

tl_tensor *tl_tensor_elew_param(const tl_tensor *src, double param, tl_tensor *dst, tl_elew_op op)
{
    if (tl_check_data(src, "src") < 0 || check_op(op) < 0 || tl_check_in_place(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, src->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_elew_param(NULL, src, param, result, op) : -1);
}
