// SPDX-License-Identifier: Apache-2.0
// Tests of chains of element-by-element steps.

#include <math.h>

#include "kernel/tl_map_test.h"
#include "tensor/tl_isa.h"
#include "tensorlight/tensorlight.h"

#define UNARY(func_, src, alpha_)                              \
    {                                                          \
        .func = TL_UNARY_##func_, .src1 = src, .alpha = alpha_ \
    }
#define BINARY(op_, a, b)                                                          \
    {                                                                              \
        .func = TL_UNARY_FUNC_INVALID, .op = TL_BINARY_##op_, .src1 = a, .src2 = b \
    }

static tl_tensor *floats(int ndim, const int *dims, const float *data)
{
    tl_tensor *const t = tl_tensor_zeros(ndim, dims, TL_FLOAT);
    memcpy(t->data, data, tl_tensor_size(t));
    return t;
}

START_TEST(steps_compute_from_sources_and_each_other)
{
    tl_tensor *const a = floats(2, (int[]){2, 3}, (float[]){1, -2, 3, -4, 5, -6});
    tl_tensor *const b = floats(1, (int[]){3}, (float[]){1, 10, 100});
    tl_tensor *const c = floats(0, NULL, (float[]){0.5});
    const tl_tensor *const srcs[] = {a, b, c};
    // (a + b) relu, times c, less a
    const tl_chain_step steps[] = {BINARY(ADD, 0, 1), UNARY(RELU, 3, 0), BINARY(MUL, 4, 2),
                                   BINARY(SUB, 5, 0)};
    tl_tensor *const y = tl_tensor_chain(srcs, 3, NULL, steps, 4);
    const float expected[] = {0, 6, 48.5, 4, 2.5, 53};
    ck_assert_int_eq(y->ndim, 2);
    ck_assert_mem_eq(y->data, expected, sizeof(expected));
    ck_assert_ptr_eq(tl_tensor_chain(srcs, 3, a, steps, 4), a);
    ck_assert_mem_eq(a->data, expected, sizeof(expected));
    tl_tensor_free_data_too(y);
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(c);
}
END_TEST

START_TEST(a_function_of_a_number_and_numbers_alone_are_repeated)
{
    tl_tensor *const row = floats(1, (int[]){3}, (float[]){1, 2, 3});
    tl_tensor *const two = floats(1, (int[]){1}, (float[]){2});
    const tl_tensor *const srcs[] = {row, two};
    const tl_chain_step steps[] = {UNARY(NEG, 1, 0), BINARY(MUL, 1, 1), BINARY(ADD, 2, 3),
                                   BINARY(MUL, 0, 4)};
    tl_tensor *const y = tl_tensor_chain(srcs, 2, NULL, steps, 4);
    const float expected[] = {2, 4, 6};
    ck_assert_mem_eq(y->data, expected, sizeof(expected));
    tl_tensor_free_data_too(y);
    tl_tensor_free_data_too(row);
    tl_tensor_free_data_too(two);
}
END_TEST

START_TEST(chain_rejects_bad_steps_and_sources)
{
    char past_functions[64];
    snprintf(past_functions, sizeof(past_functions),
             "step 0 has function %d, expected one for TL_FLOAT", TL_UNARY_FUNC_SIZE);
    const struct {
        tl_chain_step steps[2];
        int n_steps, n_srcs;
        const char *reason;
    } rows[] = {
        {{UNARY(NEG, 0, 0)}, 1, 0, "'n_srcs' is 0, expected 1 to 8"},
        {{UNARY(NEG, 0, 0)}, 1, 9, "'n_srcs' is 9, expected 1 to 8"},
        {{UNARY(NEG, 0, 0)}, 0, 1, "'n_steps' is 0, expected 1 to 16"},
        {{UNARY(NEG, 0, 0)}, 17, 1, "'n_steps' is 17, expected 1 to 16"},
        {{UNARY(NEG, 1, 0)},
         1,
         1,
         "step 0 reads operand 1, expected one of 1 sources and the steps before"},
        {{BINARY(ADD, 0, -1)},
         1,
         1,
         "step 0 reads operand -1, expected one of 1 sources and the steps before"},
        {{UNARY(NOT, 0, 0)}, 1, 1, "step 0 has function 3, expected one for TL_FLOAT"},
        {{{.func = TL_UNARY_FUNC_SIZE}}, 1, 1, past_functions},
        {{BINARY(XOR, 0, 0)}, 1, 1, "step 0 has operation 12, expected one for TL_FLOAT"},
        {{BINARY(OP_INVALID, 0, 0)}, 1, 1, "step 0 has operation -1, expected one for TL_FLOAT"},
        {{UNARY(NEG, 0, 0), UNARY(ABS, 0, 0)},
         2,
         1,
         "no step reads the result of step 0, expected at least one"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        ck_assert_int_eq(tl_chain_check(rows[i].steps, rows[i].n_steps, rows[i].n_srcs), -1);
        ck_assert_str_eq(tl_last_error(), rows[i].reason);
    }
    tl_tensor *const a = tl_tensor_zeros(1, (int[]){3}, TL_FLOAT);
    tl_tensor *const b = tl_tensor_zeros(1, (int[]){3}, TL_DOUBLE);
    tl_tensor *const c = tl_tensor_zeros(1, (int[]){2}, TL_FLOAT);
    const tl_chain_step sum = BINARY(ADD, 0, 1);
    ck_assert_ptr_null(tl_tensor_chain((const tl_tensor *[]){a, b}, 2, NULL, &sum, 1));
    ck_assert_str_eq(tl_last_error(), "source 1 has dtype TL_DOUBLE, expected TL_FLOAT");
    ck_assert_ptr_null(tl_tensor_chain((const tl_tensor *[]){a, c}, 2, NULL, &sum, 1));
    ck_assert_str_eq(tl_last_error(), "shapes [3] and [2], expected ones that broadcast to one");
    ck_assert_ptr_null(tl_tensor_chain((const tl_tensor *[]){a, NULL}, 2, NULL, &sum, 1));
    ck_assert_ptr_null(tl_tensor_chain((const tl_tensor *[]){a, a}, 2, c, &sum, 1));
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(c);
}
END_TEST

// As many functions of a source as may wait, and one more; then their sum, one after the other.
START_TEST(rejects_more_results_than_buffers)
{
    for (int n = TL_CHAIN_RESULTS; n <= TL_CHAIN_RESULTS + 1; n++) {
        tl_chain_step steps[TL_CHAIN_STEPS];
        for (int i = 0; i < n; i++)
            steps[i] = (tl_chain_step)UNARY(NEG, 0, 0);
        for (int i = 1; i < n; i++)
            steps[n + i - 1] = (tl_chain_step)BINARY(ADD, i, n + i - 1);
        ck_assert_int_eq(tl_chain_check(steps, 2 * n - 1, 1), n > TL_CHAIN_RESULTS ? -1 : 0);
    }
    ck_assert_str_eq(tl_last_error(), "more than 4 results are live at step 4");
}
END_TEST

// Against the operations by themselves

static int below(int n, uint64_t *seed)
{
    return (int)(tl_random_uniform(seed) * n);
}

static const tl_unary_func funcs[] = {TL_UNARY_RELU,    TL_UNARY_LRELU,  TL_UNARY_CLIP,
                                      TL_UNARY_SIGMOID, TL_UNARY_AFFINE, TL_UNARY_GELU,
                                      TL_UNARY_SIN};
static const tl_binary_op ops[] = {TL_BINARY_ADD, TL_BINARY_SUB, TL_BINARY_MUL,
                                   TL_BINARY_DIV, TL_BINARY_MAX, TL_BINARY_POW};

static tl_chain_step random_step(int n_operands, uint64_t *seed)
{
    return (tl_chain_step){
        .func = below(2, seed) ? funcs[below(sizeof(funcs) / sizeof(*funcs), seed)]
                               : TL_UNARY_FUNC_INVALID,
        .op = ops[below(sizeof(ops) / sizeof(*ops), seed)],
        .src1 = below(3, seed) ? n_operands - 1 : below(n_operands, seed),
        .src2 = below(n_operands, seed),
        .alpha = tl_random_uniform(seed) - 0.5,
        .beta = tl_random_uniform(seed),
    };
}

// A tensor that broadcasts to `dims`, with some axes of length 1 and some missing.
static tl_tensor *random_source(int ndim, const int *dims, uint64_t *seed)
{
    int part[TL_MAXDIM];
    const int first = below(2, seed) ? 0 : below(ndim + 1, seed), is_whole = below(2, seed);
    for (int i = is_whole ? 0 : first; i < ndim; i++)
        part[i - (is_whole ? 0 : first)] = is_whole || below(2, seed) ? dims[i] : 1;
    tl_tensor *const t = tl_tensor_zeros(ndim - (is_whole ? 0 : first), part, TL_FLOAT);
    tl_tensor_fill_uniform(t, -2, 2, seed);
    return t;
}

// Computes the steps one after the other, with tensors of dst's shape.
static void compute_one_by_one(const tl_exec *exec, const tl_tensor *const *srcs, int n_srcs,
                               tl_tensor *dst, const tl_chain_step *steps, int n_steps)
{
    tl_tensor *operands[TL_CHAIN_SRCS + TL_CHAIN_STEPS];
    for (int i = 0; i < n_srcs + n_steps; i++)
        operands[i] = tl_tensor_zeros(dst->ndim, dst->dims, TL_FLOAT);
    for (int i = 0; i < n_srcs; i++)
        tl_exec_expand(exec, srcs[i], operands[i]);
    for (int i = 0; i < n_steps; i++) {
        const tl_chain_step *const s = &steps[i];
        tl_tensor *const result = operands[n_srcs + i];
        if (s->func != TL_UNARY_FUNC_INVALID)
            tl_exec_unary(exec, operands[s->src1], result, s->func, s->alpha, s->beta);
        else
            tl_exec_binary(exec, operands[s->src1], operands[s->src2], result, s->op);
    }
    memcpy(dst->data, operands[n_srcs + n_steps - 1]->data, tl_tensor_size(dst));
    for (int i = 0; i < n_srcs + n_steps; i++)
        tl_tensor_free_data_too(operands[i]);
}

static void check_chain(const tl_exec *exec, const tl_tensor *const *srcs, int n_srcs, int ndim,
                        const int *dims, const tl_chain_step *steps, int n_steps)
{
    ln_guard guard;
    tl_tensor *const expected = tl_tensor_zeros(ndim, dims, TL_FLOAT);
    void *const data = ln_guard_alloc(&guard, tl_tensor_size(expected));
    tl_tensor *const dst = tl_tensor_create(data, ndim, dims, TL_FLOAT);
    compute_one_by_one(exec, srcs, n_srcs, expected, steps, n_steps);
    ck_assert_int_eq(tl_exec_chain(exec, srcs, n_srcs, dst, steps, n_steps), 0);
    ck_assert(tl_map_is_same(dst->data, expected->data, (size_t)dst->len, TL_FLOAT));
    ck_assert(ln_guard_is_intact(&guard));
    for (int i = 0; i < n_srcs; i++) {
        if (srcs[i]->len != dst->len)
            continue;
        const tl_tensor *in_place[TL_CHAIN_SRCS];
        memcpy(in_place, srcs, (size_t)n_srcs * sizeof(*srcs));
        in_place[i] = dst;
        memcpy(dst->data, srcs[i]->data, tl_tensor_size(dst));
        tl_exec_chain(exec, in_place, n_srcs, dst, steps, n_steps);
        ck_assert(tl_map_is_same(dst->data, expected->data, (size_t)dst->len, TL_FLOAT));
    }
    tl_tensor_free_data_too(expected);
    tl_tensor_free(dst);
    ln_guard_free(&guard);
}

// A chain of random steps on random sources, at every level, from one thread and three. Whether
// the steps made a chain.
static int check_random(tl_pool *pool, uint64_t *seed)
{
    enum { MAX_LEN = 5000 };
    static const int lens[] = {1, 2, 3, 5, 7, 16, 31, 40, 300};
    const int ndim = 1 + below(4, seed), n_srcs = 1 + below(TL_CHAIN_SRCS, seed);
    const int n_steps = 1 + below(7, seed);
    tl_tensor *srcs[TL_CHAIN_SRCS];
    tl_chain_step steps[TL_CHAIN_STEPS];
    int dims[TL_MAXDIM], len = 1;
    for (int i = 0; i < ndim; i++)
        len *= dims[i] = lens[below(sizeof(lens) / sizeof(*lens), seed)];
    for (int i = 0; i < n_steps; i++)
        steps[i] = random_step(n_srcs + i, seed);
    if (len > MAX_LEN || tl_chain_check(steps, n_steps, n_srcs) < 0)
        return 0;
    for (int i = 0; i < n_srcs; i++)
        srcs[i] = random_source(ndim, dims, seed);
    TL_ISA_EACH_USABLE (isa)
        for (int threads = 0; threads < 2; threads++) {
            const tl_exec exec = {.isa = isa, .pool = threads ? pool : NULL};
            check_chain(&exec, (const tl_tensor *const *)srcs, n_srcs, ndim, dims, steps, n_steps);
        }
    for (int i = 0; i < n_srcs; i++)
        tl_tensor_free_data_too(srcs[i]);
    return 1;
}

START_TEST(chains_give_the_bits_of_their_steps)
{
    uint64_t seed = 11;
    int tested = 0;
    tl_pool *const pool = tl_pool_create(3);
    for (int i = 0; i < 200; i++)
        tested += check_random(pool, &seed);
    ck_assert_int_gt(tested, 40);
    tl_pool_free(pool);
}
END_TEST

START_TEST(long_chains_are_split_among_threads)
{
    static const int dims[][4] = {{3, 5, 41, 101}, {2, 2, 1003, 16}, {1, 1, 1, 70003}};
    static const int parts[][4] = {{1, 5, 1, 1}, {2, 2, 1, 16}, {1, 1, 1, 1}};
    static const tl_chain_step steps[] = {BINARY(MUL, 0, 1), UNARY(HARDSWISH, 2, 0.2),
                                          BINARY(ADD, 3, 0), UNARY(TANH, 4, 0)};
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.isa = tl_isa_best(), .pool = pool};
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof(dims) / sizeof(*dims); i++) {
        tl_tensor *const a = tl_tensor_zeros(4, dims[i], TL_FLOAT);
        tl_tensor *const b = tl_tensor_zeros(4, parts[i], TL_FLOAT);
        tl_tensor_fill_uniform(a, -2, 2, &seed);
        tl_tensor_fill_uniform(b, -2, 2, &seed);
        check_chain(&exec, (const tl_tensor *[]){a, b}, 2, 4, dims[i], steps, 4);
        tl_tensor_free_data_too(a);
        tl_tensor_free_data_too(b);
    }
    tl_pool_free(pool);
}
END_TEST

START_TEST(nothing_is_computed_of_no_elements)
{
    tl_tensor *const none = tl_tensor_zeros(2, (int[]){0, 3}, TL_FLOAT);
    const tl_chain_step step = UNARY(EXP, 0, 0);
    tl_tensor *const y = tl_tensor_chain((const tl_tensor *[]){none}, 1, NULL, &step, 1);
    ck_assert_int_eq(y->len, 0);
    tl_tensor_free_data_too(y);
    tl_tensor_free_data_too(none);
}
END_TEST

LN_TEST_MAIN("chain", steps_compute_from_sources_and_each_other,
             a_function_of_a_number_and_numbers_alone_are_repeated,
             chain_rejects_bad_steps_and_sources, rejects_more_results_than_buffers,
             chains_give_the_bits_of_their_steps, long_chains_are_split_among_threads,
             nothing_is_computed_of_no_elements)
