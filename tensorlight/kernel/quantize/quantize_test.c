// SPDX-License-Identifier: Apache-2.0
// Tests of quantization: every layout of scales and every pair of types against plain loops, edge
// values, threads, errors.

#include "kernel/quantize/quantize.h"
#include "kernel/tl_map_test.h"
#include "kernel/tl_nn_test.h"

typedef struct quantize_case {
    int ndim, dims[3];
    int axis, block;
    int scale_ndim, scale_dims[3];
} quantize_case;

static const quantize_case cases[] = {
    {0, {0}, 0, 0, 0, {0}},
    {1, {1100}, 7, 0, 1, {1}},
    {3, {2, 3, 5}, 1, 0, 1, {3}},
    {3, {2, 3, 5}, 2, 0, 1, {5}},
    {2, {2, 700}, 1, 0, 1, {700}},
    {3, {2, 7, 5}, 1, 3, 3, {2, 3, 5}},
    {3, {2, 3, 7}, 2, 2, 3, {2, 3, 4}},
    {2, {5, 520}, 0, 2, 2, {3, 520}},
    {2, {7, 520}, 1, 520, 2, {7, 1}}, // one block
    {3, {2, 3, 7}, 2, 9, 3, {2, 3, 1}},
    {2, {7, 5}, 0, 8, 2, {1, 5}},
    {2, {0, 3}, 1, 0, 1, {3}},
};

static const tl_dtype small[] = {TL_INT8, TL_UINT8, TL_INT16, TL_UINT16, TL_INT32};
static const tl_dtype floats[] = {TL_FLOAT, TL_FLOAT16, TL_BFLOAT16, TL_INT32};

// The element of scale and zero that counts for element `i` of src.
static size_t scale_index(const quantize_case *c, const tl_tensor *src, const tl_tensor *scale,
                          int i)
{
    int coords[TL_MAXDIM];
    if (scale->len == 1)
        return 0;
    tl_tensor_coords(src, i, coords);
    if (c->block == 0)
        return (size_t)coords[c->axis];
    coords[c->axis] /= c->block;
    return (size_t)tl_tensor_index(scale, coords);
}

// Scales of powers of two, so that quotients are exact and ties occur.
static tl_tensor *scales(nn_room *room, const quantize_case *c, tl_dtype dtype)
{
    tl_tensor *const t = nn_blank(room, dtype, c->scale_ndim, c->scale_dims);
    for (int i = 0; i < t->len; i++)
        tl_convert(tl_pointer_add(t->data, i, dtype), dtype, &(double){ldexp(1, i % 5 - 2)},
                   TL_DOUBLE);
    return t;
}

static void check_quantize(const quantize_case *c, tl_dtype from, tl_dtype to, int has_zero)
{
    nn_room room = {.seed = 31};
    tl_tensor *const src = nn_random(&room, from, c->ndim, c->dims, -300, 300);
    tl_tensor *const scale = scales(&room, c, TL_FLOAT);
    tl_tensor *const zero =
        has_zero ? nn_random(&room, to, c->scale_ndim, c->scale_dims, -20, 20) : NULL;
    tl_tensor *const dst = nn_blank(&room, to, c->ndim, c->dims);
    ck_assert_ptr_eq(tl_tensor_quantize(src, scale, zero, dst, to, c->axis, c->block), dst);
    for (int i = 0; i < dst->len; i++) {
        const size_t k = scale_index(c, src, scale, i);
        const double value =
            rint(nn_at(src, (size_t)i) / nn_at(scale, k)) + (zero ? nn_at(zero, k) : 0);
        nn_check_near(dst, (size_t)i,
                      fmin(fmax(value, tl_dtype_min_double(to)), tl_dtype_max_double(to)), 0);
    }
    nn_close(&room);
}

START_TEST(quantize_agrees_with_loops_on_all_types)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (int k = 0; k < 32; k++)
            check_quantize(&cases[i], floats[k % 4], small[k / 4 % 4], k / 16);
}
END_TEST

static void check_dequantize(const quantize_case *c, tl_dtype from, tl_dtype to, int has_zero)
{
    nn_room room = {.seed = 32};
    tl_tensor *const src = nn_random(&room, from, c->ndim, c->dims, -300, 300);
    tl_tensor *const scale = scales(&room, c, to);
    tl_tensor *const zero =
        has_zero ? nn_random(&room, from, c->scale_ndim, c->scale_dims, -20, 20) : NULL;
    tl_tensor *const dst = nn_blank(&room, to, c->ndim, c->dims);
    ck_assert_ptr_eq(tl_tensor_dequantize(src, scale, zero, dst, c->axis, c->block), dst);
    for (int i = 0; i < dst->len; i++) {
        const size_t k = scale_index(c, src, scale, i);
        const double value =
            (nn_at(src, (size_t)i) - (zero ? nn_at(zero, k) : 0)) * nn_at(scale, k);
        nn_check_near(dst, (size_t)i, value, nn_store_unit(to) * fabs(value));
    }
    nn_close(&room);
}

START_TEST(dequantize_agrees_with_loops_on_all_types)
{
    for (size_t i = 0; i < NN_LEN(cases); i++)
        for (int k = 0; k < 30; k++)
            check_dequantize(&cases[i], small[k % 5], floats[k / 5 % 3], k / 15);
}
END_TEST

START_TEST(edges_saturate_and_nan_gives_the_min_value)
{
    nn_room room = {0};
    tl_tensor *const src =
        nn_given(&room, TL_FLOAT, 1, (int[]){6}, (double[]){3e38, -3e38, NAN, 0.5, 1.5, -0.5});
    ((float *)src->data)[0] = INFINITY;
    tl_tensor *const scale = nn_given(&room, TL_FLOAT, 1, (int[]){1}, (double[]){1});
    tl_tensor *const zero = nn_given(&room, TL_INT8, 1, (int[]){1}, (double[]){1});
    tl_tensor *const dst = nn_blank(&room, TL_INT8, 1, (int[]){6});
    ck_assert_ptr_eq(tl_tensor_quantize(src, scale, zero, dst, TL_INT8, 0, 0), dst);
    nn_check_values(dst, (double[]){127, -128, -128, 1, 3, 1});
    nn_close(&room);
}
END_TEST

START_TEST(the_whole_range_of_32_bits_is_dequantized)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_INT32, 1, (int[]){1}, (double[]){INT32_MIN});
    tl_tensor *const zero = nn_given(&room, TL_INT32, 1, (int[]){1}, (double[]){INT32_MAX});
    tl_tensor *const scale = nn_given(&room, TL_FLOAT, 1, (int[]){1}, (double[]){0.5});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 1, (int[]){1});
    ck_assert_ptr_eq(tl_tensor_dequantize(src, scale, zero, dst, 0, 0), dst);
    nn_check_values(dst, (double[]){-0x1p31});
    nn_close(&room);
}
END_TEST

START_TEST(a_range_includes_0_and_rounds_its_zero_point)
{
    static const struct {
        double src[3], scale, zero;
    } rows[] = {{{0, 2, -3}, 5.0 / 255, 153},
                {{-1, -2.1, -1.3}, 2.1 / 255, 255},
                {{1, 2.1, 1.3}, 2.1 / 255, 0},
                {{0, 0, 0}, 1, 0},
                {{NAN, 51, 0}, 0.2, 0}};
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {0};
        tl_tensor *const src = nn_given(&room, TL_FLOAT, 1, (int[]){3}, rows[i].src);
        tl_tensor *const scale = nn_blank(&room, TL_FLOAT, 0, NULL);
        tl_tensor *const zero = nn_blank(&room, TL_UINT8, 0, NULL);
        ck_assert_int_eq(tl_tensor_quantize_range(src, scale, zero), 0);
        nn_check_values(scale, &rows[i].scale);
        nn_check_values(zero, &rows[i].zero);
        nn_close(&room);
    }
}
END_TEST

static void run_quantize(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_tensor *const *const tensors = arg;
    tl_exec_quantize(exec, tensors[0], tensors[1], NULL, dst, 1, 0);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 33};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 2, (int[]){400, 301}, -300, 300);
    tl_tensor *const one[] = {src, nn_random(&room, TL_FLOAT, 1, (int[]){1}, 1, 2)};
    tl_tensor *const many[] = {src, nn_random(&room, TL_FLOAT, 1, (int[]){301}, 1, 2)};
    tl_tensor *const dst = nn_blank(&room, TL_UINT8, 2, (int[]){400, 301});
    nn_check_threads(run_quantize, dst, (void *)one);
    nn_check_threads(run_quantize, dst, (void *)many);
    nn_close(&room);
}
END_TEST

START_TEST(quantize_rejects_bad_dtypes_shapes_and_blocks)
{
    tl_tensor *const src = tl_tensor_zeros(2, (int[]){2, 3}, TL_FLOAT);
    tl_tensor *const scale = tl_tensor_zeros(1, (int[]){3}, TL_FLOAT);
    tl_tensor *const wide = tl_tensor_zeros(1, (int[]){3}, TL_DOUBLE);
    const struct {
        const tl_tensor *src, *scale, *zero;
        tl_dtype dtype;
        int axis, block;
        const char *reason;
    } rows[] = {
        {wide, scale, NULL, TL_INT8, 0, 0,
         "'src' has dtype TL_DOUBLE, expected TL_FLOAT, TL_FLOAT16, TL_BFLOAT16 or TL_INT32"},
        {src, wide, NULL, TL_INT8, 0, 0,
         "'scale' has dtype TL_DOUBLE, expected TL_FLOAT, TL_FLOAT16 or TL_BFLOAT16"},
        {src, scale, NULL, TL_INT64, 1, 0,
         "'dst' has dtype TL_INT64, expected an integer of 8 or 16 bits or TL_FLOAT"},
        {src, scale, NULL, TL_INT8, 0, 0, "'scale' has shape [3], expected one element or [2]"},
        {src, scale, NULL, TL_INT8, 1, 2, "'scale' has shape [3], expected one element or [2, 2]"},
        {src, scale, NULL, TL_INT8, 1, -1, "'block' is -1, expected at least 0"},
        {src, scale, scale, TL_INT8, 1, 0, "'zero' has dtype TL_FLOAT, expected TL_INT8"},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        ck_assert_ptr_null(tl_tensor_quantize(rows[i].src, rows[i].scale, rows[i].zero, NULL,
                                              rows[i].dtype, rows[i].axis, rows[i].block));
        ck_assert_str_eq(tl_last_error(), rows[i].reason);
    }
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(scale);
    tl_tensor_free_data_too(wide);
}
END_TEST

// Each kernel against plain C, bit for bit

typedef struct quantize_variant {
    const char *name;
    tl_quantize_func *func;
    tl_dtype dtype; // the integer's
    tl_isa isa;
    int dequantizes;
} quantize_variant;

#define VARIANT(dequantizes, name, dtype, isa) {#name, name, dtype, isa, dequantizes},
static const quantize_variant variants[] = {TL_QUANTIZE_KERNELS(VARIANT, 0)
                                                TL_DEQUANTIZE_KERNELS(VARIANT, 1)};

static const quantize_variant *plain_variant(const quantize_variant *v)
{
    for (size_t i = 0; i < NN_LEN(variants); i++)
        if (variants[i].isa == TL_ISA_C && variants[i].dtype == v->dtype &&
            variants[i].dequantizes == v->dequantizes)
            return &variants[i];
    ck_abort_msg("%s has no plain C kernel", v->name);
    return NULL;
}

// Scales of every magnitude, and the largest, the smallest, 0, infinity and NaN.
static float scale_number(uint64_t *seed, int i)
{
    static const float odd[] = {0, FLT_MIN, 0x1p-149f, FLT_MAX, INFINITY, NAN, -0.25f, 1};
    if (i % 5 == 4)
        return odd[i / 5 % NN_LEN(odd)];
    return (float)exp((tl_random_uniform(seed) - 0.5) * (i % 2 ? 4 : 80));
}

// Quotients around all integers and halves that count, bits of any float, and exact ties.
static void fill_numbers(float *numbers, size_t n, float scale, uint64_t *seed)
{
    tl_map_fill(numbers, n * sizeof(*numbers), *seed);
    for (size_t i = 0; i < n; i++) {
        const double quotient = (tl_random_uniform(seed) - 0.5) * (i % 2 ? 700 : 140000);
        if (i % 4 == 1)
            numbers[i] = (float)(quotient * scale);
        if (i % 4 == 2)
            numbers[i] = (float)((floor(quotient) + 0.5) * scale);
        if (i % 4 == 3)
            numbers[i] =
                nextafterf((float)((floor(quotient) + 0.5) * scale), i % 8 == 3 ? 0 : 9e9f);
    }
}

// One kernel on `len` elements between guards, which end its buffers, off alignment.
static void check_variant(const quantize_variant *v, int row, size_t len, int step, int has_zero)
{
    const size_t size = tl_size_of(v->dtype);
    const tl_dtype from = v->dequantizes ? v->dtype : TL_FLOAT;
    const tl_dtype to = v->dequantizes ? TL_FLOAT : v->dtype;
    uint64_t seed = (uint64_t)row * 1000 + len;
    ln_guard guards[4];
    void *const src = ln_guard_alloc(&guards[0], len * tl_size_of(from));
    void *const dst = ln_guard_alloc(&guards[1], len * tl_size_of(to));
    float *const scale = ln_guard_alloc(&guards[2], (step ? len : 1) * sizeof(float));
    void *const zero = ln_guard_alloc(&guards[3], (step ? len : 1) * size);
    for (size_t i = 0; i < (step ? len : 1); i++)
        scale[i] = scale_number(&seed, row + (int)i);
    tl_map_fill(zero, (step ? len : 1) * size, seed);
    if (v->dequantizes)
        tl_map_fill(src, len * size, seed);
    else
        fill_numbers(src, len, len ? scale[0] : 0, &seed);
    void *const expected = tl_alloc(len * tl_size_of(to) + 1);
    plain_variant(v)->func(src, expected, scale, has_zero ? zero : NULL, len, step);
    v->func(src, dst, scale, has_zero ? zero : NULL, len, step);
    ck_assert_msg(tl_map_is_same(dst, expected, len, to), "%s, row %d, %zu elements, step %d",
                  v->name, row, len, step);
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(ln_guard_is_intact(&guards[i]), "%s writes before its buffers", v->name);
        ln_guard_free(&guards[i]);
    }
    tl_free(expected);
}

START_TEST(each_kernel_gives_the_bits_of_plain_c)
{
    static const size_t lens[] = {0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 131, 997};
    for (size_t i = 0; i < NN_LEN(variants); i++)
        for (int row = 0; tl_isa_is_usable(variants[i].isa) && row < 50; row++)
            for (size_t k = 0; k < NN_LEN(lens); k++)
                check_variant(&variants[i], row, lens[k], row / 2 % 2, row % 2);
}
END_TEST

// The floats nearest to all ties of 8 bits, for many scales.
START_TEST(floats_near_ties_round_as_in_plain_c)
{
    enum { LEN = 3 * 1200 };
    float src[LEN];
    uint8_t got[LEN], want[LEN];
    uint64_t seed = 5;
    for (int turn = 0; turn < 300; turn++) {
        const float scale = (float)exp((tl_random_uniform(&seed) - 0.5) * 20);
        const int8_t zero = (int8_t)(tl_random_uniform(&seed) * 255 - 128);
        for (int i = 0; i < LEN; i++) {
            const float tie = (float)((i / 3 - 600 + 0.5) * (double)scale);
            src[i] = i % 3 == 0 ? tie : nextafterf(tie, i % 3 == 1 ? -9e9f : 9e9f);
        }
        for (size_t v = 0; v < NN_LEN(variants); v++) {
            if (!tl_isa_is_usable(variants[v].isa) || variants[v].dequantizes ||
                tl_size_of(variants[v].dtype) > 1)
                continue;
            plain_variant(&variants[v])->func(src, want, &scale, &zero, LEN, 0);
            variants[v].func(src, got, &scale, &zero, LEN, 0);
            ck_assert_msg(memcmp(got, want, LEN) == 0, "%s, scale %a", variants[v].name,
                          (double)scale);
        }
    }
}
END_TEST

#define RANGE(arg, name, dtype, isa) {name, isa},
static const struct {
    tl_quantize_range_func *func;
    tl_isa isa;
} ranges[] = {TL_QUANTIZE_RANGE_KERNELS(RANGE, )};

static void check_range(size_t row, size_t len, uint64_t seed)
{
    ln_guard guard;
    float *const src = ln_guard_alloc(&guard, len * sizeof(float));
    if (seed % 2)
        tl_map_fill(src, len * sizeof(float), seed);
    for (size_t i = 0; i < len; i++)
        if (seed % 2 == 0)
            src[i] = seed % 3 ? (float)tl_random_uniform(&seed) - 2 : -0.0f;
    if (len > 2)
        src[len / 2] = NAN;
    float got[2] = {0, 0}, want[2] = {0, 0};
    const int lanes = len % TL_BLOCK == 0 ? (int)(seed % TL_BLOCK) + 1 : TL_BLOCK;
    tl_quantize_range_f32_c(src, len, lanes, want);
    ranges[row].func(src, len, lanes, got);
    ck_assert_msg(memcmp(got, want, sizeof(got)) == 0, "kernel %zu on %zu: %g to %g, not %g to %g",
                  row, len, (double)got[0], (double)got[1], (double)want[0], (double)want[1]);
    ln_guard_free(&guard);
}

START_TEST(each_kernel_finds_the_range_of_plain_c)
{
    for (size_t row = 0; row < NN_LEN(ranges); row++)
        for (size_t len = 0; tl_isa_is_usable(ranges[row].isa) && len < 150; len++)
            for (uint64_t seed = 1; seed < 13; seed++)
                check_range(row, len, seed);
}
END_TEST

START_TEST(lanes_without_a_channel_are_out_of_range)
{
    nn_room room = {.seed = 35};
    for (int channels = 1; channels < 40; channels++) {
        const int blocks = tl_blocks(channels);
        tl_tensor *const planes =
            nn_random(&room, TL_FLOAT, 4, (int[]){2, channels, 3, 5}, -channels, 5);
        tl_tensor *const src = nn_blank(&room, TL_FLOAT, 5, (int[]){2, blocks, 3, 5, TL_BLOCK});
        tl_exec_to_blocked(NULL, planes, src);
        for (int i = 0; i < src->len; i++)
            if (i / 15 / TL_BLOCK % blocks * TL_BLOCK + i % TL_BLOCK >= channels)
                ((float *)src->data)[i] = 1e30f;
        float scale[2];
        uint8_t zero[2];
        tl_tensor s[2], z[2];
        for (int i = 0; i < 2; i++) {
            s[i] = (tl_tensor){.dtype = TL_FLOAT, .len = 1, .data = &scale[i]};
            z[i] = (tl_tensor){.dtype = TL_UINT8, .len = 1, .data = &zero[i]};
        }
        tl_exec_quantize_range(NULL, planes, &s[0], &z[0]);
        tl_exec_blocked_quantize_range(NULL, src, channels, &s[1], &z[1]);
        ck_assert_float_eq(scale[0], scale[1]);
        ck_assert_uint_eq(zero[0], zero[1]);
        nn_close(&room);
        room.n = 0;
    }
}
END_TEST

START_TEST(threads_find_the_same_range)
{
    nn_room room = {.seed = 34};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 1, (int[]){300001}, -3, 5);
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()}, plain = {.isa = TL_ISA_C};
    float scale[2];
    uint8_t zero[2];
    for (int i = 0; i < 2; i++) {
        tl_tensor s = {.dtype = TL_FLOAT, .len = 1, .data = &scale[i]};
        tl_tensor z = {.dtype = TL_UINT8, .len = 1, .data = &zero[i]};
        tl_exec_quantize_range(i ? &exec : &plain, src, &s, &z);
    }
    ck_assert_float_eq(scale[0], scale[1]);
    ck_assert_uint_eq(zero[0], zero[1]);
    ck_assert_float_eq_tol(scale[0], 8.0f / 255, 1e-6f);
    tl_pool_free(pool);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("quantize", quantize_agrees_with_loops_on_all_types,
             dequantize_agrees_with_loops_on_all_types, edges_saturate_and_nan_gives_the_min_value,
             the_whole_range_of_32_bits_is_dequantized,
             a_range_includes_0_and_rounds_its_zero_point, threads_do_not_change_the_result,
             each_kernel_gives_the_bits_of_plain_c, floats_near_ties_round_as_in_plain_c,
             each_kernel_finds_the_range_of_plain_c, lanes_without_a_channel_are_out_of_range,
             threads_find_the_same_range, quantize_rejects_bad_dtypes_shapes_and_blocks)
