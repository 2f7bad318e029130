// SPDX-License-Identifier: Apache-2.0
// Fused chains of element-wise steps, piece by piece: each step runs over a piece of the result
// while it is in the L1 cache, with the kernel of the unfused operator, so the bits are the same.
//
//     sources      a [2, 3, 5]   b [3, 1]        c []
//     steps        0: a * b      1: tanh(0)      2: 1 + c
//     a piece      elements 1024 .. 2047 of the result: reads a in place, b from a broadcast
//                  copy, c as a scalar; writes 0 and 1 to one buffer, 2 to the result
//
// The last step that reads a buffer may overwrite it.

#include <assert.h>
#include <string.h>

#include "kernel/binary/binary.h"
#include "kernel/tl_broadcast.h"
#include "kernel/tl_kernel.h"
#include "kernel/unary/unary.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

// Buffers of results

static int is_unary(const tl_chain_step *step)
{
    return step->func != TL_UNARY_FUNC_INVALID;
}

static int reads(const tl_chain_step *step, int operand)
{
    return step->src1 == operand || (!is_unary(step) && step->src2 == operand);
}

// The last step that reads an operand; -1: none.
static int last_reader(const tl_chain_step *steps, int n_steps, int operand)
{
    int i = n_steps - 1;
    while (i >= 0 && !reads(&steps[i], operand))
        i--;
    return i;
}

// Assigns a buffer to each step's result; TL_CHAIN_RESULTS: none is free.
static void assign_buffers(const tl_chain_step *steps, int n_steps, int n_srcs, int *buffers)
{
    int last_use[TL_CHAIN_RESULTS + 1] = {0}; // the last step that reads a buffer's content
    for (int i = 0; i < n_steps; i++) {
        int k = 0;
        while (k < TL_CHAIN_RESULTS && last_use[k] > i)
            k++;
        buffers[i] = k;
        last_use[k] = last_reader(steps, n_steps, n_srcs + i);
    }
}

// Running

// Elements of a piece.
enum { PIECE = 1024 };

// A step with its kernel.
typedef struct kernel_step {
    tl_map_func *map;      // unary; NULL: binary
    tl_broadcast_func *op; // binary
    tl_unary_param param;
    int src1, src2;
    int buffer; // of the result
} kernel_step;

typedef struct chain {
    tl_broadcast_walk srcs[TL_CHAIN_SRCS];
    int n_srcs;
    kernel_step steps[TL_CHAIN_STEPS];
    int n_steps;
    float *dst;
    size_t len;
} chain;

// A piece being computed.
typedef struct piece {
    const chain *c;
    size_t begin, len;
    _Alignas(64) float results[TL_CHAIN_RESULTS][PIECE];
    _Alignas(64) float copies[TL_CHAIN_SRCS][PIECE + TL_BROADCAST_MORE]; // of sources
    tl_broadcast_copies copied[TL_CHAIN_SRCS];                           // contents of copies
} piece;

static int copy_row(const void *const *srcs, const int *steps, void *dst, size_t len)
{
    const float *const s = srcs[0];
    float *const d = dst;
    if (steps[0])
        memcpy(d, s, len * sizeof(*d));
    for (size_t i = 0; i < len && !steps[0]; i++)
        d[i] = *s;
    return 0;
}

// An operand's elements in the kernel's form.
static const float *elements_of(piece *p, int operand, int *step)
{
    const chain *const c = p->c;
    *step = 1;
    if (operand >= c->n_srcs)
        return p->results[c->steps[operand - c->n_srcs].buffer];
    return tl_broadcast_part(&c->srcs[operand], p->begin, p->len, p->copies[operand],
                             &p->copied[operand], step);
}

static void run_step(piece *p, const kernel_step *w, float *dst)
{
    int steps[2];
    const float *a = elements_of(p, w->src1, &steps[0]);
    const float *const b = w->map ? a : elements_of(p, w->src2, &steps[1]);
    if (!steps[0] && (w->map || !steps[1])) { // kernels need a source that is not a scalar
        copy_row((const void *[]){a}, &steps[0], p->copies[w->src1], p->len);
        a = p->copies[w->src1];
        steps[0] = 1;
    }
    if (w->map)
        w->map(a, dst, p->len, &w->param);
    else
        w->op((const void *[]){a, b}, steps, dst, p->len); // cannot fail on floats
}

// The pieces begin .. end - 1.
static void run_pieces(void *arg, size_t begin, size_t end)
{
    const chain *const c = arg;
    piece p;
    p.c = c;
    memset(p.copied, 0, sizeof(p.copied));
    for (size_t i = begin; i < end; i++) {
        p.begin = i * PIECE;
        p.len = tl_min_size(PIECE, c->len - p.begin);
        for (int k = 0; k < c->n_steps - 1; k++)
            run_step(&p, &c->steps[k], p.results[c->steps[k].buffer]);
        run_step(&p, &c->steps[c->n_steps - 1], c->dst + p.begin);
    }
}

static kernel_step kernel_step_of(const tl_exec *exec, const tl_chain_step *step)
{
    kernel_step w = {.param = {step->alpha, step->beta}, .src1 = step->src1, .src2 = step->src2};
    if (is_unary(step))
        w.map = tl_unary_kernel(exec, step->func, TL_FLOAT);
    else
        w.op = tl_binary_kernel(exec, step->op, TL_FLOAT);
    return w;
}

// Min pieces of a thread.
static size_t grain_of(const tl_chain_step *steps, int n_steps)
{
    size_t cost = 0; // of an element, as TL_GRAIN_MEMORY_BOUND counts it
    for (int i = 0; i < n_steps; i++)
        cost += TL_GRAIN_MEMORY_BOUND / (is_unary(&steps[i]) ? tl_unary_grain(steps[i].func)
                                                             : tl_binary_grain(steps[i].op));
    return TL_GRAIN_MEMORY_BOUND / cost / PIECE + 1;
}

int tl_exec_chain(const tl_exec *exec, const tl_tensor *const *srcs, int n_srcs, tl_tensor *dst,
                  const tl_chain_step *steps, int n_steps)
{
    assert(n_srcs >= 1 && n_srcs <= TL_CHAIN_SRCS && n_steps >= 1 && n_steps <= TL_CHAIN_STEPS);
    if (dst->len == 0)
        return 0;
    int buffers[TL_CHAIN_STEPS];
    chain c = {.n_srcs = n_srcs, .n_steps = n_steps, .dst = dst->data, .len = (size_t)dst->len};
    for (int i = 0; i < n_srcs; i++)
        tl_broadcast_walk_init(&c.srcs[i], copy_row, &srcs[i], 1, dst);
    assign_buffers(steps, n_steps, n_srcs, buffers);
    for (int i = 0; i < n_steps; i++) {
        c.steps[i] = kernel_step_of(exec, &steps[i]);
        c.steps[i].buffer = buffers[i];
    }
    tl_parallel(exec, (c.len - 1) / PIECE + 1, grain_of(steps, n_steps), run_pieces, &c);
    return 0;
}

// Checks

static int check_operand(int step, int operand, int n_srcs)
{
    if (operand < 0 || operand >= n_srcs + step)
        return tl_fail("step %d reads operand %d, expected one of %d sources and the steps before",
                       step, operand, n_srcs);
    return 0;
}

static int check_step(const tl_chain_step *step, int i, int n_srcs)
{
    if (is_unary(step) && (step->func < 0 || step->func >= TL_UNARY_FUNC_SIZE ||
                           !tl_unary_func_takes(step->func, TL_FLOAT)))
        return tl_fail("step %d has function %d, expected one for TL_FLOAT", i, step->func);
    if (!is_unary(step) &&
        (step->op < 0 || step->op >= TL_BINARY_OP_SIZE || !tl_binary_op_takes(step->op, TL_FLOAT)))
        return tl_fail("step %d has operation %d, expected one for TL_FLOAT", i, step->op);
    if (check_operand(i, step->src1, n_srcs) < 0)
        return -1;
    return is_unary(step) ? 0 : check_operand(i, step->src2, n_srcs);
}

static int check_results(const tl_chain_step *steps, int n_steps, int n_srcs)
{
    int buffers[TL_CHAIN_STEPS];
    assign_buffers(steps, n_steps, n_srcs, buffers);
    for (int i = 0; i < n_steps - 1; i++) {
        if (last_reader(steps, n_steps, n_srcs + i) < 0)
            return tl_fail("no step reads the result of step %d, expected at least one", i);
        if (buffers[i] == TL_CHAIN_RESULTS)
            return tl_fail("more than %d results are live at step %d", TL_CHAIN_RESULTS, i);
    }
    return 0;
}

int tl_chain_check(const tl_chain_step *steps, int n_steps, int n_srcs)
{
    if (n_srcs < 1 || n_srcs > TL_CHAIN_SRCS)
        return tl_fail("'n_srcs' is %d, expected 1 to %d", n_srcs, TL_CHAIN_SRCS);
    if (n_steps < 1 || n_steps > TL_CHAIN_STEPS)
        return tl_fail("'n_steps' is %d, expected 1 to %d", n_steps, TL_CHAIN_STEPS);
    for (int i = 0; i < n_steps; i++)
        if (check_step(&steps[i], i, n_srcs) < 0)
            return -1;
    return check_results(steps, n_steps, n_srcs);
}

static int check_srcs(const tl_tensor *const *srcs, int n_srcs)
{
    for (int i = 0; i < n_srcs; i++) {
        if (tl_check_data(srcs[i], "src") < 0)
            return -1;
        if (srcs[i]->dtype != TL_FLOAT)
            return tl_fail("source %d has dtype %s, expected TL_FLOAT", i,
                           tl_dtype_name(srcs[i]->dtype));
    }
    return 0;
}

tl_tensor *tl_tensor_chain(const tl_tensor *const *srcs, int n_srcs, tl_tensor *dst,
                           const tl_chain_step *steps, int n_steps)
{
    if (tl_chain_check(steps, n_steps, n_srcs) < 0 || check_srcs(srcs, n_srcs) < 0)
        return NULL;
    tl_tensor *const result = tl_broadcast_begin(dst, srcs, n_srcs, TL_FLOAT);
    return tl_result_end(result, dst,
                         result ? tl_exec_chain(NULL, srcs, n_srcs, result, steps, n_steps) : -1);
}
