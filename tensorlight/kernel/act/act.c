// SPDX-License-Identifier: Apache-2.0
// Activations by name, by themselves, and after another computation.

#include "kernel/act/act.h"

#include <assert.h>
#include <math.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_name.h"

#define ACT_NAME(arg, NAME, ...) "TL_ACT_" #NAME,
static const char *const names[TL_ACT_SIZE] = {"TL_ACT_NONE", TL_ACTS(ACT_NAME, )};
TL_NAME_AND_FROM_STR(tl_act, names, TL_ACT_SIZE)

#define ACT_FUNC(arg, NAME, FUNC, ...) TL_UNARY_##FUNC,
static const tl_unary_func funcs[TL_ACT_SIZE] = {TL_UNARY_FUNC_INVALID, TL_ACTS(ACT_FUNC, )};

#define ACT_ALPHA(arg, NAME, FUNC, name, alpha, way) alpha,
static const float alphas[TL_ACT_SIZE] = {0, TL_ACTS(ACT_ALPHA, )};

int tl_act_check(tl_activation act)
{
    if (act.act < 0 || act.act >= TL_ACT_SIZE)
        return tl_fail("activation %d is none of tl_act", act.act);
    return 0;
}

int tl_activation_of(tl_activation *act, tl_unary_func func, double alpha, double beta)
{
    *act = (tl_activation){TL_ACT_RELU, (float)alpha, (float)beta};
    while (act->act < TL_ACT_SIZE && funcs[act->act] != func)
        act->act++;
    if (act->act == TL_ACT_SIZE || (alphas[act->act] != 0 && alphas[act->act] != act->alpha))
        return -1;
    return 0;
}

tl_unary_func tl_activation_func(tl_activation act, double *alpha, double *beta)
{
    assert(act.act >= 0 && act.act < TL_ACT_SIZE);
    *alpha = (double)(alphas[act.act] != 0 ? alphas[act.act] : act.alpha);
    *beta = (double)act.beta;
    return funcs[act.act];
}

void tl_act_bounds(tl_activation act, float *low, float *high)
{
    *low = act.act == TL_ACT_CLIP ? act.alpha : act.act == TL_ACT_RELU ? 0 : -INFINITY;
    *high = act.act == TL_ACT_CLIP ? act.beta : INFINITY;
}

int tl_exec_act(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_activation act)
{
    double alpha, beta;
    const tl_unary_func func = tl_activation_func(act, &alpha, &beta);
    if (act.act == TL_ACT_NONE)
        return src->data == dst->data ? 0 : tl_exec_copy(exec, src, dst);
    return tl_exec_unary(exec, src, dst, func, alpha, beta);
}

// After another computation

// Elements between a computation and its activation: small enough for the first cache.
enum { BLOCK_LEN = 4096 };

typedef struct fused {
    const tl_exec *exec;
    tl_range_func func;
    void *arg;
    const tl_tensor *dst;
    size_t unit_len; // elements of dst that a unit writes
    tl_activation act;
} fused;

// The elements begin .. end-1 of `t` as a separate record, with its one dim at `dim`.
static tl_tensor part_of(const tl_tensor *t, size_t begin, size_t end, int *dim)
{
    *dim = (int)(end - begin);
    return (tl_tensor){.dtype = t->dtype,
                       .len = *dim,
                       .ndim = 1,
                       .dims = dim,
                       .data = tl_padd(t->data, (ptrdiff_t)begin, tl_size_of(t->dtype))};
}

static void run_fused(void *arg, size_t begin, size_t end)
{
    const fused *const f = arg;
    const size_t step = f->unit_len < BLOCK_LEN ? BLOCK_LEN / f->unit_len : 1;
    for (size_t k = begin; k < end; k += step) {
        const size_t stop = end - k < step ? end : k + step;
        int dim;
        tl_tensor part = part_of(f->dst, k * f->unit_len, stop * f->unit_len, &dim);
        f->func(f->arg, k, stop);
        tl_exec_act(f->exec, &part, &part, f->act); // cannot fail on floats
    }
}

void tl_act_parallel(const tl_exec *exec, size_t n, size_t grain, tl_range_func func, void *arg,
                     const tl_tensor *dst, tl_activation act)
{
    if (dst->len == 0)
        return;
    assert((size_t)dst->len % n == 0);
    fused f = {exec, func, arg, dst, (size_t)dst->len / n, act};
    if (act.act == TL_ACT_NONE)
        tl_parallel(exec, n, grain, func, arg);
    else
        tl_parallel(exec, n, grain, run_fused, &f);
}
