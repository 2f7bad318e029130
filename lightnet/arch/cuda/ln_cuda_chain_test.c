// SPDX-License-Identifier: Apache-2.0
// Tests of ln_cuda_chain: each function and operation, each way to broadcast, several steps.

#include "arch/cuda/ln_cuda_test.h"

#include <math.h>

#define UNARY(f, a, alpha, beta)                              \
    {                                                         \
        TL_UNARY_##f, TL_BINARY_OP_INVALID, a, 0, alpha, beta \
    }
#define BINARY(op, a, b)                                  \
    {                                                     \
        TL_UNARY_FUNC_INVALID, TL_BINARY_##op, a, b, 0, 0 \
    }

// The result in TL_DOUBLE, step by step, of sources in TL_DOUBLE.
static tl_tensor *chain_plainly(cu_case *c, tl_tensor *const *srcs, int n_srcs,
                                const tl_tensor *dst, const tl_chain_step *steps, int n_steps)
{
    const tl_tensor *values[TL_CHAIN_SRCS + TL_CHAIN_STEPS];
    tl_tensor *const result = cu_host_blank(c, TL_DOUBLE, dst->ndim, dst->dims);
    if (!result->len)
        return result;
    for (int i = 0; i < n_srcs; i++)
        values[i] = srcs[i];
    for (int i = 0; i < n_steps; i++) {
        const tl_chain_step *const s = &steps[i];
        const tl_tensor *const a = values[s->src1];
        values[n_srcs + i] = cu_keep(c, s->func != TL_UNARY_FUNC_INVALID
                                            ? tl_tensor_unary(a, NULL, s->func, s->alpha, s->beta)
                                            : tl_tensor_binary(a, values[s->src2], NULL, s->op));
    }
    ck_assert_int_eq(tl_exec_expand(cu_exec(0), values[n_srcs + n_steps - 1], result), 0);
    return result;
}

// Runs and checks a chain on `n_srcs` sources on the GPU; `dst` may be one of them.
static void check_chain(cu_case *c, tl_tensor *const *srcs, int n_srcs, tl_tensor *dst,
                        const tl_chain_step *steps, int n_steps, double tolerance)
{
    tl_tensor *doubles[TL_CHAIN_SRCS];
    const tl_tensor *sources[TL_CHAIN_SRCS];
    for (int i = 0; i < n_srcs; i++) {
        doubles[i] = cu_double(c, srcs[i]);
        sources[i] = srcs[i];
    }
    ck_assert_msg(tl_chain_check(steps, n_steps, n_srcs) == 0, "%s: %s", c->what, tl_last_error());
    if (!ln_cuda_has_chain(n_srcs, steps, n_steps))
        cu_fail(c, "ln_cuda_has_chain returns 0");
    cu_finish(c, ln_cuda_chain(cu_start(c), sources, n_srcs, dst, steps, n_steps));
    cu_check_near(c, dst, chain_plainly(c, doubles, n_srcs, dst, steps, n_steps),
                  cu_tolerance(c->dtype, tolerance));
    cu_close(c);
}

static const double specials[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1,   -1,   0.5, -0.5,
                                  2.5, -2.5,     2,         -2,  3,    100, -100, 1e4, -1e4};

// Random numbers, then special ones.
static tl_tensor *host_numbers(cu_case *c, tl_dtype dtype, int len, double lo, double hi)
{
    tl_tensor *const t = cu_host_random(c, dtype, 1, &len, lo, hi);
    for (int i = 0; i < CU_LEN(specials) && i < len; i++)
        cu_set(t, len - 1 - i, specials[i]);
    return t;
}

// The parameters and the domain of each function.
static const struct {
    tl_unary_func func;
    double lo, hi, alpha, beta;
} unary_rows[] = {
    {TL_UNARY_AFFINE, -10, 10, 1.5, -0.25},
    {TL_UNARY_SQRT, 0, 100, 0, 0},
    {TL_UNARY_LOG, 1e-3, 100, 0, 0},
    {TL_UNARY_TAN, -1.5, 1.5, 0, 0},
    {TL_UNARY_ASIN, -1, 1, 0, 0},
    {TL_UNARY_ACOS, -1, 1, 0, 0},
    {TL_UNARY_SCALEDTANH, -5, 5, 1.7159, 0.6667},
    {TL_UNARY_ACOSH, 1, 10, 0, 0},
    {TL_UNARY_ATANH, -0.99, 0.99, 0, 0},
    {TL_UNARY_HARDSIGMOID, -5, 5, 0.2, 0.5},
    {TL_UNARY_HARDSWISH, -5, 5, 1 / 6.0, 0.5},
    {TL_UNARY_SWISH, -10, 10, 1.25, 0},
    {TL_UNARY_LRELU, -10, 10, 0.125, 0},
    {TL_UNARY_ELU, -10, 10, 1.5, 0},
    {TL_UNARY_CELU, -10, 10, 1.5, 0},
    {TL_UNARY_SELU, -10, 10, 1.67326, 1.0507},
    {TL_UNARY_THRESHOLDEDRELU, -3, 3, 1, 0},
    {TL_UNARY_SHRINK, -3, 3, 0.5, 0.25},
    {TL_UNARY_CLIP, -3, 3, -1, 2},
    {TL_UNARY_PROBIT, 0.01, 0.99, 0, 0},
};

CU_TEST(chain_of_every_unary_function)
{
    cu_case c;
    int n = 0;
    for (int func = 0; func < TL_UNARY_FUNC_SIZE; func++) {
        double lo = -10, hi = 10;
        tl_chain_step step = {(tl_unary_func)func, TL_BINARY_OP_INVALID, 0, 0, 0, 0};
        if (!tl_unary_func_takes(step.func, TL_FLOAT))
            continue;
        for (int i = 0; i < CU_LEN(unary_rows); i++)
            if ((int)unary_rows[i].func == func) {
                lo = unary_rows[i].lo, hi = unary_rows[i].hi;
                step.alpha = unary_rows[i].alpha, step.beta = unary_rows[i].beta;
            }
        CU_EACH_FLOAT(dtype)
        {
            cu_open(&c, "ln_cuda_chain", dtype, "%s alpha %g beta %g",
                    tl_unary_func_name(step.func), step.alpha, step.beta);
            tl_tensor *const src = cu_given(&c, host_numbers(&c, dtype, 1001, lo, hi));
            tl_tensor *const dst = cu_output(&c, dtype, 1, src->dims);
            check_chain(&c, &src, 1, dst, &step, 1, CU_NEAR);
            n++;
        }
    }
    ck_assert_int_gt(n, 100);
}

CU_TEST(chain_of_every_binary_operation)
{
    cu_case c;
    const int n = CU_LEN(specials);
    for (int op = 0; op < TL_BINARY_OP_SIZE; op++) {
        const tl_chain_step step = {TL_UNARY_FUNC_INVALID, (tl_binary_op)op, 0, 1, 0, 0};
        if (!tl_binary_op_takes(step.op, TL_FLOAT))
            continue;
        const int is_power = step.op == TL_BINARY_POW;
        CU_EACH_FLOAT(dtype)
        {
            cu_open(&c, "ln_cuda_chain", dtype, "%s", tl_binary_op_name(step.op));
            const int len = 1001;
            tl_tensor *const a =
                cu_host_random(&c, dtype, 1, &len, is_power ? 0.1 : -10, is_power ? 3 : 10);
            tl_tensor *const b = cu_host_random(&c, dtype, 1, &len, -3, 3);
            for (int i = 0; i < n * n; i++) { // all pairs
                cu_set(a, i, specials[i / n]);
                cu_set(b, i, specials[i % n]);
            }
            tl_tensor *const srcs[] = {cu_given(&c, a), cu_given(&c, b)};
            check_chain(&c, srcs, 2, cu_output(&c, dtype, 1, &len), &step, 1, CU_NEAR);
        }
    }
}

typedef struct pattern {
    int ndim, dims[TL_MAXDIM], n1, dims1[TL_MAXDIM], n2, dims2[TL_MAXDIM];
} pattern;

static const pattern patterns[] = {
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 0, {0}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 1, {1}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 1, {7}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 2, {5, 7}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 3, {3, 1, 1}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {2, 1, 1, 1}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {1, 3, 1, 1}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {2, 1, 5, 1}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {1, 1, 5, 1}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {2, 3, 1, 7}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {1, 3, 1, 7}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {2, 3, 1, 1}},
    {4, {2, 3, 5, 7}, 4, {2, 3, 5, 7}, 4, {1, 1, 1, 1}},
    {4, {2, 3, 5, 7}, 4, {2, 1, 5, 1}, 4, {1, 3, 1, 7}},
    {4, {2, 64, 16, 16}, 4, {2, 64, 16, 16}, 3, {64, 1, 1}},
    {4, {2, 58, 28, 28}, 4, {2, 58, 28, 28}, 4, {1, 58, 1, 1}},
    {4, {2, 28, 28, 58}, 4, {2, 28, 28, 58}, 1, {58}},
    {4, {2, 16, 16, 64}, 4, {2, 16, 16, 64}, 4, {2, 1, 1, 64}},
    {3, {2, 197, 768}, 3, {2, 197, 768}, 1, {768}},
    {3, {2, 197, 768}, 3, {2, 197, 768}, 3, {1, 197, 768}},
    {3, {2, 197, 768}, 3, {2, 197, 768}, 3, {2, 197, 1}},
    {4, {2, 12, 65, 65}, 4, {2, 12, 65, 65}, 4, {2, 1, 1, 65}},
    {2, {129, 127}, 2, {129, 127}, 2, {129, 1}},
    {2, {129, 127}, 2, {129, 1}, 2, {1, 127}},
    {2, {1, 1001}, 2, {1, 1}, 1, {1001}},
    {2, {1001, 1}, 2, {1001, 1}, 0, {0}},
    {1, {1001}, 1, {1}, 0, {0}},
    {1, {17}, 1, {17}, 1, {17}},
    {0, {0}, 0, {0}, 0, {0}},
    {1, {1}, 1, {1}, 1, {1}},
    {3, {3, 0, 7}, 3, {3, 0, 7}, 1, {7}},
    {5, {2, 3, 4, 5, 6}, 5, {2, 3, 4, 5, 6}, 5, {2, 1, 4, 1, 6}},
    {6, {2, 3, 2, 5, 2, 3}, 6, {1, 3, 1, 5, 1, 3}, 6, {2, 1, 2, 1, 2, 1}},
    {8, {2, 3, 2, 3, 2, 3, 2, 3}, 8, {2, 1, 2, 1, 2, 1, 2, 1}, 8, {1, 3, 1, 3, 1, 3, 1, 3}},
    {8, {2, 1, 3, 2, 1, 2, 3, 2}, 8, {2, 1, 3, 2, 1, 2, 3, 2}, 8, {2, 1, 1, 2, 1, 1, 3, 1}},
    {3, {7, 1, 33}, 3, {7, 1, 33}, 1, {33}},
    {3, {63, 65, 1}, 3, {63, 65, 1}, 3, {1, 65, 1}},
};

CU_TEST(chain_of_every_broadcast)
{
    static const tl_chain_step forms[][1] = {{BINARY(SUB, 0, 1)}, {BINARY(SUB, 1, 0)}};
    cu_case c;
    CU_EACH_FLOAT(dtype)
    for (int i = 0; i < CU_LEN(patterns); i++)
        for (int form = 0; form < 2; form++) {
            const pattern *const p = &patterns[i];
            cu_open(&c, "ln_cuda_chain", dtype, "%s", form ? "b - a" : "a - b");
            tl_tensor *const srcs[] = {cu_random(&c, dtype, p->n1, p->dims1, -4, 4),
                                       cu_random(&c, dtype, p->n2, p->dims2, -4, 4)};
            tl_tensor *const dst = cu_output(&c, dtype, p->ndim, p->dims);
            check_chain(&c, srcs, 2, dst, forms[form], 1, CU_NEAR);
        }
}

CU_TEST(chain_broadcasts_a_single_source)
{
    static const tl_chain_step step = UNARY(TANH, 0, 0, 0);
    cu_case c;
    CU_EACH_FLOAT(dtype)
    for (int i = 0; i < CU_LEN(patterns); i++) {
        const pattern *const p = &patterns[i];
        cu_open(&c, "ln_cuda_chain", dtype, "tanh");
        tl_tensor *const src = cu_random(&c, dtype, p->n2, p->dims2, -4, 4);
        check_chain(&c, &src, 1, cu_output(&c, dtype, p->ndim, p->dims), &step, 1, CU_NEAR);
    }
}

typedef struct chain {
    const char *name;
    int n_srcs, n_steps;
    tl_chain_step steps[TL_CHAIN_STEPS];
} chain;

static const chain chains[] = {
    {"gate", 3, 3, {UNARY(SIGMOID, 0, 0, 0), BINARY(MUL, 3, 1), BINARY(ADD, 4, 2)}},
    {"gelu",
     1,
     4,
     {UNARY(AFFINE, 0, 0.70710678, 0), UNARY(ERF, 1, 0, 0), UNARY(AFFINE, 2, 0.5, 0.5),
      BINARY(MUL, 0, 3)}},
    {"batchnorm",
     4,
     5,
     {BINARY(SUB, 0, 1), BINARY(MUL, 4, 2), BINARY(ADD, 5, 3), UNARY(RELU, 6, 0, 0),
      UNARY(CLIP, 7, 0, 2)}},
    {"square of a product", 2, 3, {BINARY(MUL, 0, 1), BINARY(MUL, 2, 2), BINARY(SUB, 3, 2)}},
    {"one source thrice", 1, 3, {BINARY(MUL, 0, 0), BINARY(SUB, 1, 0), BINARY(MAX, 2, 0)}},
    {"tree of eight",
     8,
     7,
     {BINARY(MUL, 0, 1), BINARY(MUL, 2, 3), BINARY(MUL, 4, 5), BINARY(MUL, 6, 7), BINARY(SUB, 8, 9),
      BINARY(SUB, 10, 11), BINARY(ADD, 12, 13)}},
    {"sixteen steps",
     2,
     16,
     {UNARY(TANH, 0, 0, 0), UNARY(AFFINE, 2, 2, 0.5), BINARY(ADD, 3, 1), UNARY(SIGMOID, 4, 0, 0),
      UNARY(AFFINE, 5, 3, -1), BINARY(SUB, 6, 0), UNARY(SIN, 7, 0, 0), UNARY(NEG, 8, 0, 0),
      BINARY(MUL, 9, 1), UNARY(ABS, 10, 0, 0), UNARY(ATAN, 11, 0, 0), BINARY(MIN, 12, 0),
      UNARY(EXP, 13, 0, 0), UNARY(SOFTPLUS, 14, 0, 0), UNARY(LRELU, 15, 0.1, 0),
      BINARY(DIV, 1, 16)}},
    {"unary after binary", 2, 2, {BINARY(MUL, 1, 0), UNARY(GELU, 2, 0, 0)}},
    {"silu", 1, 2, {UNARY(SIGMOID, 0, 0, 0), BINARY(MUL, 0, 1)}},
    {"four pending results",
     1,
     7,
     {UNARY(SIN, 0, 0, 0), UNARY(COS, 0, 0, 0), UNARY(TANH, 0, 0, 0), UNARY(SIGMOID, 0, 0, 0),
      BINARY(SUB, 1, 2), BINARY(SUB, 3, 4), BINARY(MUL, 5, 6)}},
};

// Source i of a chain has shape i % 4 of a form; dst the first one.
static const struct {
    int n[4], dims[4][4];
} forms[] = {
    {{1, 1, 1, 1}, {{1001}, {1001}, {1001}, {1001}}},
    {{4, 3, 3, 3}, {{2, 17, 7, 9}, {17, 1, 1}, {17, 1, 1}, {17, 1, 1}}},
    {{3, 1, 1, 3}, {{3, 33, 64}, {64}, {64}, {3, 33, 64}}},
    {{4, 4, 4, 0}, {{2, 8, 14, 14}, {2, 8, 14, 14}, {2, 8, 1, 1}, {0}}},
    {{0, 0, 0, 0}, {{0}, {0}, {0}, {0}}},
    {{2, 2, 2, 2}, {{1, 100003}, {1, 100003}, {1, 1}, {1, 100003}}},
    {{2, 2, 2, 2}, {{129, 3}, {129, 1}, {1, 3}, {1, 1}}},
    {{2, 2, 1, 0}, {{0, 3}, {0, 3}, {3}, {0}}},
};

CU_TEST(chain_of_several_steps)
{
    cu_case c;
    CU_EACH_FLOAT(dtype)
    for (int i = 0; i < CU_LEN(chains); i++)
        for (int f = 0; f < CU_LEN(forms); f++) {
            tl_tensor *srcs[TL_CHAIN_SRCS];
            cu_open(&c, "ln_cuda_chain", dtype, "%s", chains[i].name);
            for (int k = 0; k < chains[i].n_srcs; k++)
                srcs[k] = cu_random(&c, dtype, forms[f].n[k % 4], forms[f].dims[k % 4], 0.5, 2);
            tl_tensor *const dst = cu_output(&c, dtype, forms[f].n[0], forms[f].dims[0]);
            check_chain(&c, srcs, chains[i].n_srcs, dst, chains[i].steps, chains[i].n_steps,
                        CU_SUM);
        }
}

CU_TEST(chain_in_place)
{
    static const int dims[] = {2, 7, 129}, row[] = {129};
    cu_case c;
    CU_EACH_FLOAT(dtype)
    {
        cu_open(&c, "ln_cuda_chain", dtype, "gate in place");
        tl_tensor *const dst = cu_updated(&c, cu_host_random(&c, dtype, 3, dims, -2, 2));
        tl_tensor *const srcs[] = {cu_random(&c, dtype, 3, dims, -2, 2), dst,
                                   cu_random(&c, dtype, 1, row, -2, 2)};
        check_chain(&c, srcs, 3, dst, chains[0].steps, chains[0].n_steps, CU_SUM);
    }
}

CU_TEST_MAIN("cuda chain", chain_of_every_unary_function, chain_of_every_binary_operation,
             chain_of_every_broadcast, chain_broadcasts_a_single_source, chain_of_several_steps,
             chain_in_place)
