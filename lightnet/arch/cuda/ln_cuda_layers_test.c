// SPDX-License-Identifier: Apache-2.0
// Tests of the CUDA kernels of layers: ln_cuda_softmax, ln_cuda_layernorm, ln_cuda_reduce and
// ln_cuda_epilogue; and of the types that kernels reject.

#include "arch/cuda/ln_cuda_test.h"

#include <math.h>
#include <string.h>

// ln_cuda_softmax

static void check_softmax(cu_case *c, const tl_tensor *host, int axis, int is_log, int is_in_place)
{
    tl_tensor *const src = is_in_place ? cu_updated(c, host) : cu_given(c, host);
    tl_tensor *const dst = is_in_place ? src : cu_output(c, host->dtype, host->ndim, host->dims);
    cu_finish(c, ln_cuda_softmax(cu_start(c), src, dst, axis, is_log));
    tl_tensor *const expected = cu_host_blank(c, TL_DOUBLE, host->ndim, host->dims);
    if (host->len)
        (is_log ? tl_exec_logsoftmax : tl_exec_softmax)(cu_exec(0), cu_host_double(c, host),
                                                        expected, axis);
    cu_check_near(c, dst, expected, cu_tolerance(host->dtype, CU_SUM));
    cu_close(c);
}

static const int softmax_lens[] = {1,  2,   3,   4,   7,   31,   32,   33,   63,   64,
                                   65, 127, 129, 197, 512, 1000, 1024, 1025, 4096, 5000};

CU_TEST(softmax_of_every_length_and_axis)
{
    cu_case c;
    for (int i = 0; i < CU_LEN(softmax_lens); i++) {
        const int n = softmax_lens[i];
        const struct {
            int ndim, dims[4], axis;
        } rows[] = {{2, {3, n}, 1},     {1, {n}, 0},          {2, {n, 3}, 0},
                    {3, {2, n, 5}, 1},  {4, {1, 2, 3, n}, 3}, {4, {2, n, 3, 11}, 1},
                    {3, {2, n, 65}, 1}, {3, {n, 1, 2}, 0},    {2, {129, n}, 1}};
        for (int k = 0; k < CU_LEN(rows); k++)
            CU_EACH_FLOAT(dtype)
        for (int way = k > 4 ? (i + k) % 4 : 0; way<4; way += k> 4 ? 4 : 1) {
            cu_open(&c, "ln_cuda_softmax", dtype, "axis %d%s%s", rows[k].axis,
                    way & 1 ? ", log" : "", way & 2 ? ", in place, up to 1e4" : "");
            const double max = way & 2 ? 1e4 : 4;
            check_softmax(&c, cu_host_random(&c, dtype, rows[k].ndim, rows[k].dims, -max, max),
                          rows[k].axis, way & 1, way >> 1);
        }
    }
}

CU_TEST(softmax_of_many_lines)
{
    static const struct {
        int ndim, dims[4], axis;
    } rows[] = {
        {4, {1, 12, 197, 197}, 3}, {2, {1001, 7}, 1},  {2, {7, 100003}, 1},   {2, {0, 5}, 1},
        {4, {1, 21, 65, 65}, 1},   {2, {20000, 1}, 1}, {3, {1, 8732, 21}, 2}, {1, {65536}, 0},
        {2, {2, 70000}, 0}};
    cu_case c;
    for (int i = 0; i < CU_LEN(rows); i++)
        CU_EACH_FLOAT(dtype)
    for (int is_log = 0; is_log < 2; is_log++) {
        cu_open(&c, "ln_cuda_softmax", dtype, "axis %d%s", rows[i].axis, is_log ? ", log" : "");
        check_softmax(&c, cu_host_random(&c, dtype, rows[i].ndim, rows[i].dims, -4, 4),
                      rows[i].axis, is_log, 0);
    }
}

// Six lines along the last or the first axis: of some -inf, of -inf, with +inf, with NaN, with
// `low`, of equal numbers.
static tl_tensor *host_strange(cu_case *c, tl_dtype dtype, int n, int axis, double low)
{
    const int dims[] = {axis ? 6 : n, axis ? n : 6};
    tl_tensor *const t = cu_host_random(c, dtype, 2, dims, -3, 3);
    for (int i = 0; i < n; i++) {
        const int step = axis ? 1 : 6, line = axis ? n : 1;
        if (i % 3)
            cu_set(t, i * step, -INFINITY);
        cu_set(t, line + i * step, -INFINITY);
        if (i == n / 2) {
            cu_set(t, 2 * line + i * step, INFINITY);
            cu_set(t, 3 * line + i * step, NAN);
            cu_set(t, 4 * line + i * step, low);
        }
        cu_set(t, 5 * line + i * step, 2.5);
    }
    return t;
}

CU_TEST(softmax_of_what_is_not_finite)
{
    cu_case c;
    for (int i = 0; i < CU_LEN(softmax_lens); i++)
        for (int way = 0; way < 4; way++)
            CU_EACH_FLOAT(dtype)
            {
                cu_open(&c, "ln_cuda_softmax", dtype, "axis %d%s, not finite", way & 1,
                        way & 2 ? ", log" : "");
                check_softmax(
                    &c,
                    host_strange(&c, dtype, softmax_lens[i], way & 1, tl_dtype_min_double(dtype)),
                    way & 1, way >> 1, 0);
            }
}

// ln_cuda_layernorm

typedef struct layernorm {
    int ndim, dims[5], axis;
} layernorm;

// Bits of `way`: a bias, an addend, the sum stored.
static void check_layernorm(const layernorm *l, tl_dtype dtype, int way, double mean,
                            double tolerance)
{
    const double epsilon = way & 1 ? 1e-5 : 1e-6;
    const int n = l->ndim - l->axis;
    cu_case c;
    cu_open(&c, "ln_cuda_layernorm", dtype, "axis %d, mean %g, epsilon %g%s%s%s", l->axis, mean,
            epsilon, way & 1 ? ", bias" : "", way & 2 ? ", addend" : "", way & 4 ? ", sum" : "");
    tl_tensor *const src = cu_random(&c, dtype, l->ndim, l->dims, mean - 2, mean + 2);
    tl_tensor *const addend = way & 2 ? cu_random(&c, dtype, l->ndim, l->dims, -1, 1) : NULL;
    tl_tensor *const scale = cu_random(&c, dtype, n, l->dims + l->axis, -1, 1);
    tl_tensor *const bias = way & 1 ? cu_random(&c, dtype, n, l->dims + l->axis, -1, 1) : NULL;
    tl_tensor *const sum = way & 4 ? cu_output(&c, dtype, l->ndim, l->dims) : NULL;
    tl_tensor *const dst = cu_output(&c, dtype, l->ndim, l->dims);
    cu_finish(
        &c, ln_cuda_layernorm(cu_start(&c), src, addend, scale, bias, sum, dst, l->axis, epsilon));
    tl_tensor *const whole = cu_double(&c, src);
    if (addend)
        cu_add_and_act(whole, cu_double(&c, addend), (tl_activation){0});
    tl_tensor *const expected = cu_host_blank(&c, TL_DOUBLE, l->ndim, l->dims);
    if (expected->len)
        tl_exec_layernorm(cu_exec(0), whole, cu_double(&c, scale),
                          bias ? cu_double(&c, bias) : NULL, expected, NULL, NULL, l->axis,
                          epsilon);
    if (sum)
        cu_check_near(&c, sum, whole, cu_tolerance(dtype, CU_NEAR));
    cu_check_near(&c, dst, expected, tolerance);
    cu_close(&c);
}

static const layernorm layernorms[] = {
    {2, {3, 17}, 1},      {1, {7}, 0},          {3, {2, 197, 768}, 2}, {2, {5, 33}, 1},
    {4, {2, 3, 5, 7}, 1}, {4, {2, 3, 5, 7}, 2}, {4, {2, 3, 5, 7}, 3},  {4, {2, 3, 5, 7}, 0},
    {2, {5, 1000}, 1},    {2, {3, 1024}, 1},    {2, {3, 1025}, 1},     {2, {2, 5000}, 1},
    {2, {1001, 65}, 1},   {3, {2, 63, 129}, 1}, {2, {5, 2}, 1},        {3, {1, 1, 127}, 2},
    {2, {0, 5}, 1},       {2, {1, 20000}, 1},   {3, {2, 64, 96}, 2},   {5, {2, 1, 3, 1, 31}, 3},
    {2, {300, 256}, 1},   {2, {3, 4}, 1},       {3, {1, 50, 384}, 2},  {2, {4, 8192}, 1},
};

CU_TEST(layernorm_of_every_form)
{
    for (int i = 0; i < CU_LEN(layernorms); i++)
        CU_EACH_FLOAT(dtype)
    for (int way = 0; way < 8; way++)
        check_layernorm(&layernorms[i], dtype, way, 0, cu_tolerance(dtype, CU_SUM));
}

CU_TEST(layernorm_far_from_0)
{
    // A mean of 1000 is rounded by 3e-5. The difference of the mean of squares and the square of
    // the mean, 1e6, would be off by 0.06, and the variance is 1.3.
    for (int i = 0; i < CU_LEN(layernorms); i++) {
        check_layernorm(&layernorms[i], TL_FLOAT, 1, 1000, 1e-3);
        check_layernorm(&layernorms[i], TL_FLOAT, 7, 30, 1e-4);
    }
}

CU_TEST(layernorm_of_equal_elements_gives_the_bias)
{
    static const layernorm rows[] = {{2, {3, 1}, 1}, {3, {2, 3, 1}, 1}, {1, {1}, 0}};
    CU_EACH_FLOAT(dtype)
    check_layernorm(&rows[0], dtype, 1, 5, cu_tolerance(dtype, CU_SUM));
    check_layernorm(&rows[1], TL_FLOAT, 3, 0, CU_SUM);
    check_layernorm(&rows[2], TL_FLOAT, 7, 0, CU_SUM);
}

// ln_cuda_reduce

typedef struct reduction {
    int ndim, dims[TL_MAXDIM], n, axes[TL_MAXDIM];
} reduction;

static const reduction reductions[] = {
    {2, {33, 65}, 1, {1}},
    {2, {33, 65}, 1, {0}},
    {2, {33, 65}, 2, {0, 1}},
    {1, {7}, 1, {0}},
    {1, {5000}, 1, {0}},
    {3, {3, 17, 33}, 1, {0}},
    {3, {3, 17, 33}, 1, {1}},
    {3, {3, 17, 33}, 1, {2}},
    {3, {3, 17, 33}, 2, {0, 2}},
    {3, {3, 17, 33}, 2, {2, 0}},
    {3, {3, 17, 33}, 2, {1, 2}},
    {3, {3, 17, 33}, 2, {0, 1}},
    {3, {3, 17, 33}, 3, {0, 1, 2}},
    {4, {2, 3, 5, 7}, 2, {2, 3}},
    {4, {2, 3, 5, 7}, 3, {0, 2, 3}},
    {4, {2, 3, 5, 7}, 2, {3, 1}},
    {4, {2, 3, 5, 7}, 2, {0, 2}},
    {4, {2, 3, 5, 7}, 1, {1}},
    {4, {2, 64, 14, 14}, 2, {2, 3}},
    {4, {2, 14, 14, 64}, 2, {1, 2}},
    {4, {1, 1000, 7, 7}, 2, {2, 3}},
    {2, {3, 5000}, 1, {1}},
    {2, {5000, 3}, 1, {0}},
    {3, {1, 1001, 1}, 1, {1}},
    {3, {1001, 1, 3}, 1, {1}},
    {2, {129, 1000}, 1, {1}},
    {2, {1000, 127}, 1, {0}},
    {8, {2, 3, 2, 3, 2, 3, 2, 3}, 4, {1, 3, 5, 7}},
    {8, {2, 3, 2, 3, 2, 3, 2, 3}, 4, {0, 2, 4, 6}},
    {6, {2, 3, 4, 3, 2, 5}, 3, {0, 3, 5}},
    {2, {17, 3}, 0, {0}},
    {0, {0}, 0, {0}},
    {2, {0, 3}, 1, {1}},
};

// `has_axes`: the reduced axes stay, of length 1.
static void check_reduce(cu_case *c, const tl_tensor *host, tl_reduce_op op, const int *axes, int n,
                         int has_axes)
{
    int dims[TL_MAXDIM];
    const int ndim = tl_reduce_dims(host, axes, n, has_axes, dims);
    tl_tensor *const src = cu_given(c, host);
    tl_tensor *const dst = cu_output(c, host->dtype, ndim, dims);
    cu_finish(c, ln_cuda_reduce(cu_start(c), src, dst, op, axes, n));
    tl_tensor *const expected = cu_host_blank(c, TL_DOUBLE, ndim, dims);
    if (dst->len)
        tl_exec_reduce(cu_exec(0), cu_host_double(c, host), expected, op, axes, n);
    const int is_exact = op == TL_REDUCE_MAX || op == TL_REDUCE_MIN;
    cu_check_near(c, dst, expected, is_exact ? CU_EXACT : cu_tolerance(host->dtype, CU_SUM));
    cu_close(c);
}

// Elements for which the result of 5000 of them is far from the ends of TL_FLOAT16.
static tl_tensor *host_for(cu_case *c, tl_dtype dtype, tl_reduce_op op, int ndim, const int *dims)
{
    return op == TL_REDUCE_PROD      ? cu_host_random(c, dtype, ndim, dims, 0.95, 1.05)
           : op == TL_REDUCE_LOG_SUM ? cu_host_random(c, dtype, ndim, dims, 0.1, 1.5)
                                     : cu_host_random(c, dtype, ndim, dims, -1, 1.25);
}

CU_TEST(reduce_of_every_operation_and_axis)
{
    cu_case c;
    for (int op = 0; op < TL_REDUCE_OP_SIZE; op++)
        for (int i = 0; i < CU_LEN(reductions); i++)
            CU_EACH_FLOAT(dtype)
            {
                const reduction *const r = &reductions[i];
                cu_open(&c, "ln_cuda_reduce", dtype, "%s axes [%s]",
                        tl_reduce_op_name((tl_reduce_op)op), cu_list(r->n, r->axes));
                check_reduce(&c, host_for(&c, dtype, (tl_reduce_op)op, r->ndim, r->dims),
                             (tl_reduce_op)op, r->axes, r->n, i % 2);
            }
}

CU_TEST(reduce_of_what_is_not_finite)
{
    cu_case c;
    for (int op = 0; op < TL_REDUCE_OP_SIZE; op++)
        for (int axis = 0; axis < 2; axis++)
            CU_EACH_FLOAT(dtype)
            {
                cu_open(&c, "ln_cuda_reduce", dtype, "%s axis %d, not finite",
                        tl_reduce_op_name((tl_reduce_op)op), axis);
                check_reduce(&c, host_strange(&c, dtype, 101, axis, -8), (tl_reduce_op)op, &axis, 1,
                             1);
            }
}

CU_TEST(reduce_of_no_elements)
{
    cu_case c;
    for (int op = 0; op < TL_REDUCE_OP_SIZE; op++)
        CU_EACH_FLOAT(dtype)
        {
            cu_open(&c, "ln_cuda_reduce", dtype, "%s axes [1], each result of 0 elements",
                    tl_reduce_op_name((tl_reduce_op)op));
            check_reduce(&c, cu_host_blank(&c, dtype, 3, (int[]){3, 0, 2}), (tl_reduce_op)op,
                         (int[]){1}, 1, 1);
        }
}

CU_TEST(reduce_of_long_lines)
{
    static const reduction rows[] = {{2, {3, 200000}, 1, {1}},
                                     {2, {200000, 3}, 1, {0}},
                                     {4, {1, 2, 300, 301}, 2, {2, 3}},
                                     {3, {65, 65, 65}, 1, {1}},
                                     {3, {32, 128, 384}, 1, {1}}};
    static const tl_reduce_op ops[] = {TL_REDUCE_MEAN, TL_REDUCE_MAX, TL_REDUCE_MIN, TL_REDUCE_L2,
                                       TL_REDUCE_LOG_SUM_EXP};
    cu_case c;
    for (int op = 0; op < CU_LEN(ops); op++)
        for (int i = 0; i < CU_LEN(rows); i++)
            CU_EACH_FLOAT(dtype)
            {
                cu_open(&c, "ln_cuda_reduce", dtype, "%s axes [%s]", tl_reduce_op_name(ops[op]),
                        cu_list(rows[i].n, rows[i].axes));
                check_reduce(&c, cu_host_random(&c, dtype, rows[i].ndim, rows[i].dims, -1, 1.25),
                             ops[op], rows[i].axes, rows[i].n, 1);
            }
}

// ln_cuda_epilogue

static const struct {
    int ndim, dims[TL_MAXDIM], axis;
} epilogues[] = {
    {4, {2, 3, 5, 7}, 1},
    {4, {2, 3, 5, 7}, 3},
    {2, {3, 17}, 1},
    {2, {3, 17}, 0},
    {1, {1001}, 0},
    {4, {2, 64, 14, 14}, 1},
    {4, {2, 14, 14, 64}, 3},
    {2, {1, 1}, 1},
    {2, {129, 1000}, 1},
    {3, {2, 197, 768}, 2},
    {4, {1, 58, 28, 28}, 1},
    {2, {0, 7}, 1},
    {8, {2, 1, 2, 3, 1, 2, 3, 2}, 3},
    {3, {5, 33, 1}, 1},
    {4, {1, 16, 16, 8}, 3},
    {3, {7, 63, 65}, 0},
};

CU_TEST(epilogue_of_every_shape_and_activation)
{
    cu_case c;
    for (int i = 0; i < CU_LEN(epilogues); i++)
        for (int act = 0; act < TL_ACT_SIZE; act++)
            CU_EACH_FLOAT(dtype)
    for (int way = i + act; way < i + act + 2; way++) { // two of the four
        const int ndim = epilogues[i].ndim, axis = epilogues[i].axis;
        const int *const dims = epilogues[i].dims;
        int bias_dims[TL_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1};
        bias_dims[axis] = dims[axis];
        cu_open(&c, "ln_cuda_epilogue", dtype, "axis %d %s%s%s", axis, tl_act_name((tl_act)act),
                way & 1 ? ", bias" : "", way & 2 ? ", addend" : "");
        tl_tensor *const dst = cu_updated(&c, cu_host_random(&c, dtype, ndim, dims, -3, 3));
        tl_tensor *const bias = way & 1 ? cu_random(&c, dtype, 1, &dims[axis], -1, 1) : NULL;
        tl_tensor *const addend = way & 2 ? cu_random(&c, dtype, ndim, dims, -1, 1) : NULL;
        cu_finish(&c, ln_cuda_epilogue(cu_start(&c), bias, addend, dst, axis, cu_act((tl_act)act)));
        tl_tensor *expected = cu_double(&c, dst);
        if (bias && dst->len)
            expected = cu_keep(
                &c, tl_tensor_binary(expected,
                                     cu_host_reshaped(&c, cu_double(&c, bias), ndim, bias_dims),
                                     NULL, TL_BINARY_ADD));
        if (dst->len)
            cu_add_and_act(expected, addend ? cu_double(&c, addend) : NULL, cu_act((tl_act)act));
        cu_check_near(&c, dst, expected, cu_tolerance(dtype, CU_NEAR));
        cu_close(&c);
    }
}

// Errors

// A call that must fail, and adds nothing to the stream.
static void check_rejected(cu_case *c, int status)
{
    if (status != -1)
        cu_fail(c, "returned %d, expected -1", status);
    else if (!tl_last_error()[0])
        cu_fail(c, "returned -1 without a reason");
    cu_finish(c, 0);
    cu_close(c);
}

CU_TEST(other_types_are_rejected)
{
    static const tl_dtype types[] = {TL_DOUBLE, TL_INT32, TL_UINT8};
    static const tl_chain_step step = {TL_UNARY_ABS, TL_BINARY_OP_INVALID, 0, 0, 0, 0};
    static const tl_pool2d_param pool = {{1, 1}, {1, 1}, {0}};
    for (int i = 0; i < CU_LEN(types); i++)
        for (int func = 0; func < 6; func++) {
            cu_case c;
            cu_open(&c, "a function of F", types[i], "function %d", func);
            tl_tensor *const a = cu_random(&c, types[i], 4, (int[]){2, 3, 4, 5}, 0, 2);
            tl_tensor *const b = cu_random(&c, types[i], 1, (int[]){5}, 0, 2);
            tl_tensor *const dst = cu_output(&c, types[i], 4, a->dims);
            const tl_tensor *const srcs[] = {a};
            const ln_cuda_stream stream = cu_start(&c);
            const int status =
                func == 0   ? ln_cuda_softmax(stream, a, dst, 3, 0)
                : func == 1 ? ln_cuda_layernorm(stream, a, NULL, b, b, NULL, dst, 3, 1e-5)
                : func == 2 ? ln_cuda_reduce(stream, a, dst, TL_REDUCE_SUM, NULL, 0)
                : func == 3 ? ln_cuda_pool2d(stream, a, dst, &pool, 1, 0)
                : func == 4 ? ln_cuda_epilogue(stream, b, NULL, dst, 3, (tl_activation){0})
                            : ln_cuda_chain(stream, srcs, 1, dst, &step, 1);
            check_rejected(&c, status);
        }
}

CU_TEST_MAIN("cuda layers", softmax_of_every_length_and_axis, softmax_of_many_lines,
             softmax_of_what_is_not_finite, layernorm_of_every_form, layernorm_far_from_0,
             layernorm_of_equal_elements_gives_the_bias, reduce_of_every_operation_and_axis,
             reduce_of_what_is_not_finite, reduce_of_no_elements, reduce_of_long_lines,
             epilogue_of_every_shape_and_activation, other_types_are_rejected)
