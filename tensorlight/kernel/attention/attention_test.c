// SPDX-License-Identifier: Apache-2.0
// Tests of attention: by hand, and every kernel against a straight computation in double on shapes
// with all tails, all orders of axes, masks, shared heads, what is not finite, threads.

#include "kernel/tl_nn_test.h"
#include "tensor/tl_half.h"
#include "tensorlight/tl_attention.h"

typedef struct shape {
    int b, h, g, s, t, d, e;
} shape;

// A computation: tensors and their layout.
typedef struct attention {
    nn_room room;
    tl_tensor *q, *k, *v, *mask, *dst;
    double *qs, *ks, *vs; // their elements, once a computation is checked
    tl_attention_param param;
} attention;

// [b, heads, rows, len], or with the heads second but one.
static const int *dims_of(int *dims, int axis, int b, int heads, int rows, int len)
{
    dims[0] = b;
    dims[axis] = heads;
    dims[3 - axis] = rows;
    dims[3] = len;
    return dims;
}

// Random tensors; bit n of `axes`: the heads of q, k, v, dst are at axis 2.
static void open_random(attention *a, tl_dtype dtype, const shape *s, int axes)
{
    int dims[4];
    a->room.seed = 5;
    a->param = (tl_attention_param){1 + (axes & 1),
                                    1 + (axes >> 1 & 1),
                                    1 + (axes >> 2 & 1),
                                    1 + (axes >> 3 & 1),
                                    1 / sqrt(s->d),
                                    0,
                                    0,
                                    0,
                                    0};
    a->q = nn_random(&a->room, dtype, 4, dims_of(dims, a->param.q_axis, s->b, s->h, s->s, s->d), -3,
                     3);
    a->k = nn_random(&a->room, dtype, 4, dims_of(dims, a->param.k_axis, s->b, s->g, s->t, s->d), -3,
                     3);
    a->v = nn_random(&a->room, dtype, 4, dims_of(dims, a->param.v_axis, s->b, s->g, s->t, s->e), -1,
                     1);
    a->dst = nn_blank(&a->room, dtype, 4, dims_of(dims, a->param.dst_axis, s->b, s->h, s->s, s->e));
}

// Row `row` of head `head`, as an index.
static size_t row_at(const tl_tensor *t, int axis, int batch, int head, int row)
{
    const int first = axis == 1 ? head : row, second = axis == 1 ? row : head;
    return (((size_t)batch * t->dims[1] + first) * t->dims[2] + second) * t->dims[3];
}

// The mask's element for a score, 0 without a mask.
static double mask_at(const tl_tensor *mask, const int *at)
{
    size_t i = 0;
    if (!mask)
        return 0;
    for (int k = 0; k < mask->ndim; k++) {
        const int index = at[4 - mask->ndim + k];
        i = i * mask->dims[k] + (mask->dims[k] == 1 ? 0 : index);
    }
    return nn_at(mask, i);
}

static double score_of(const attention *a, const shape *s, const int *at)
{
    const size_t q = row_at(a->q, a->param.q_axis, at[0], at[1], at[2]);
    const size_t k = row_at(a->k, a->param.k_axis, at[0], at[1] / (s->h / s->g), at[3]);
    double sum = 0;
    for (int i = 0; i < s->d; i++)
        sum += a->qs[q + i] * a->ks[k + i];
    return sum * a->param.scale + mask_at(a->mask, at);
}

// Checks one row of results. Scores of magnitude m are off by about m units of d sums, and so are
// their exponentials; means of values within -1 .. 1 are off by twice that.
static void check_row(const attention *a, const shape *s, int batch, int head, int row)
{
    double weights[1100], sum = 0, max = -INFINITY, magnitude = 1;
    for (int j = 0; j < s->t; j++) {
        weights[j] = score_of(a, s, (int[]){batch, head, row, j});
        max = fmax(max, weights[j]);
        magnitude = fmax(magnitude, isfinite(weights[j]) ? fabs(weights[j]) : 0);
    }
    for (int j = 0; j < s->t; j++)
        sum += weights[j] = exp(weights[j] - (max > -INFINITY ? max : 0));
    for (int i = 0; i < s->e; i++) {
        double value = 0;
        for (int j = 0; j < s->t; j++)
            value += weights[j] / sum *
                     a->vs[row_at(a->v, a->param.v_axis, batch, head / (s->h / s->g), j) + i];
        if (sum == 0 && a->param.zero_empty)
            value = 0;
        const size_t at = row_at(a->dst, a->param.dst_axis, batch, head, row) + i;
        const double rounding = a->param.in_pairs ? 0x1p-8 : 0; // of weights, and of their sum
        nn_check_near(a->dst, at, value,
                      nn_tolerance(a->dst->dtype, s->d + 8, 2 * magnitude, value) + rounding);
    }
}

// A tensor's elements. Returns new (tl_free).
static double *doubles_of(const tl_tensor *t)
{
    double *const values = tl_alloc((size_t)t->len * sizeof(*values));
    tl_convert_array(values, TL_DOUBLE, t->data, t->dtype, (size_t)t->len);
    return values;
}

static void check_all(attention *a, const shape *s)
{
    a->qs = doubles_of(a->q);
    a->ks = doubles_of(a->k);
    a->vs = doubles_of(a->v);
    for (int b = 0; b < s->b; b++)
        for (int h = 0; h < s->h; h++)
            for (int r = 0; r < s->s; r++)
                check_row(a, s, b, h, r);
    tl_free(a->qs);
    tl_free(a->ks);
    tl_free(a->vs);
}

// Computes with `exec` and separate scratch memory for as many threads.
static void compute(attention *a, tl_exec exec)
{
    ln_guard guard;
    exec.scratch_size = tl_attention_scratch(a->q, a->k, a->v, &a->param, tl_pool_size(exec.pool));
    exec.scratch = ln_guard_alloc(&guard, exec.scratch_size);
    memset(exec.scratch, 0xff, exec.scratch_size);
    tl_exec_attention(&exec, a->q, a->k, a->v, a->mask, a->dst, &a->param);
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
}

static void run(attention *a, tl_isa isa)
{
    compute(a, (tl_exec){.isa = isa});
}

START_TEST(two_keys_by_hand)
{
    // Scores ln 3 and 0: weights 3/4 and 1/4. The second query has them the other way round.
    const tl_attention_param param = {1, 1, 1, 1, 0.5, 0, 0, 0, 0};
    for (size_t i = 0; i < NN_LEN(nn_floats); i++) {
        nn_room room = {0};
        const double ln9 = 2 * log(3);
        tl_tensor *const q =
            nn_given(&room, nn_floats[i], 4, (int[]){1, 1, 2, 2}, (double[]){ln9, 0, 0, ln9});
        tl_tensor *const k =
            nn_given(&room, nn_floats[i], 4, (int[]){1, 1, 2, 2}, (double[]){1, 0, 0, 1});
        tl_tensor *const v =
            nn_given(&room, nn_floats[i], 4, (int[]){1, 1, 2, 3}, (double[]){4, 0, 8, 0, 4, 8});
        tl_tensor *const dst = nn_blank(&room, nn_floats[i], 4, (int[]){1, 1, 2, 3});
        ck_assert_ptr_eq(tl_tensor_attention(q, k, v, NULL, dst, &param), dst);
        const double expected[] = {3, 1, 8, 1, 3, 8};
        for (size_t j = 0; j < NN_LEN(expected); j++)
            nn_check_near(dst, j, expected[j], 8 * nn_store_unit(nn_floats[i]) * 8);
        nn_close(&room);
    }
}
END_TEST

static const shape shapes[] = {
    {1, 1, 1, 1, 1, 1, 1},      // the smallest
    {1, 4, 1, 1, 1091, 20, 70}, // four queries share their keys, in several blocks
    {1, 8, 1, 1, 600, 16, 17},
    {2, 3, 3, 5, 7, 16, 16},    // fewer than a vector
    {1, 2, 1, 17, 9, 33, 5},    // tails of everything, two heads share one of keys
    {1, 1, 1, 48, 72, 64, 64},  // one block
    {1, 1, 1, 49, 73, 8, 12},   // one more
    {1, 4, 2, 31, 145, 7, 31},  // several blocks of keys, rows of two heads in one block
    {2, 1, 1, 97, 197, 32, 33}, // several units
    {1, 6, 1, 1, 40, 24, 24},   // one query, six heads share the keys
    {3, 2, 2, 16, 8, 6, 8},
    {1, 2, 1, 1, 1091, 20, 70}, // two rows, and more keys than are taken at a time
};

START_TEST(every_kernel_agrees_with_double)
{
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes); i++)
            for (int axes = 0; axes < 16; axes++) {
                attention a = {0};
                open_random(&a, TL_FLOAT, &shapes[i], axes);
                run(&a, isa);
                check_all(&a, &shapes[i]);
                nn_close(&a.room);
            }
}
END_TEST

// Rounds the factors, so that only weights are rounded in pairs.
static void use_pairs(attention *a)
{
    tl_tensor *const tensors[] = {a->q, a->k, a->v};
    for (int i = 0; i < 3; i++) {
        float *const x = tensors[i]->data;
        for (int j = 0; j < tensors[i]->len; j++)
            x[j] = tl_bfloat_to_float(tl_bfloat_from_float(x[j]));
    }
    a->param.in_pairs = 1;
    a->param.scale = 0.125;
}

START_TEST(pairs_of_bfloat16_agree_with_double)
{
    static const shape of_pairs[] = {{1, 1, 1, 16, 32, 64, 64},   {1, 2, 1, 17, 33, 33, 5},
                                     {2, 3, 3, 49, 73, 8, 12},    {1, 4, 2, 31, 145, 70, 31},
                                     {2, 1, 1, 97, 197, 32, 33},  {1, 2, 2, 200, 300, 64, 64},
                                     {1, 16, 1, 1, 600, 96, 128}, {1, 1, 1, 40, 1091, 20, 70}};
    NN_EACH_TILED(isa)
    for (size_t i = 0; i < NN_LEN(of_pairs); i++)
        for (int variant = 0; variant < 8; variant++) {
            const shape *const s = &of_pairs[i];
            attention a = {0};
            open_random(&a, TL_FLOAT, s, variant * 5 % 16);
            use_pairs(&a);
            if (variant % 2)
                a.mask = nn_random(&a.room, TL_FLOAT, 2, (int[]){s->s, variant % 4 > 1 ? s->t : 1},
                                   -2, 2);
            run(&a, isa);
            check_all(&a, s);
            nn_close(&a.room);
        }
    NN_CHECK_AMX();
}
END_TEST

START_TEST(pairs_keep_masks_infinities_and_nan)
{
    static const shape s = {1, 1, 1, 40, 64, 32, 16};
    NN_EACH_TILED(isa)
    {
        attention a = {0};
        open_random(&a, TL_FLOAT, &s, 0);
        use_pairs(&a);
        a.param.zero_empty = 1;
        a.mask = nn_random(&a.room, TL_FLOAT, 2, (int[]){s.s, s.t}, 0, 0);
        float *const mask = a.mask->data, *const q = a.q->data;
        for (int j = 0; j < s.t; j++)
            mask[3 * s.t + j] = -INFINITY; // no key
        for (int j = 1; j < s.t; j++)
            mask[5 * s.t + j] = -INFINITY; // the first key
        q[7 * s.d] = NAN;
        run(&a, isa);
        const float *const v = a.v->data, *const dst = a.dst->data;
        for (int c = 0; c < s.e; c++) {
            ck_assert(dst[3 * s.e + c] == 0);
            ck_assert(dst[5 * s.e + c] == v[c]);
            ck_assert(isnan(dst[7 * s.e + c]));
            ck_assert(isfinite(dst[8 * s.e + c]));
        }
        nn_close(&a.room);
    }
}
END_TEST

START_TEST(every_type_agrees_with_double)
{
    for (size_t i = 0; i < NN_LEN(nn_floats); i++) {
        attention a = {0};
        open_random(&a, nn_floats[i], &shapes[2], 11);
        run(&a, TL_ISA_C);
        check_all(&a, &shapes[2]);
        nn_close(&a.room);
    }
}
END_TEST

START_TEST(masks_are_broadcast)
{
    static const shape s = {2, 4, 2, 19, 21, 8, 8};
    static const int masks[][5] = {
        {4, 2, 4, 19, 21}, {4, 2, 1, 1, 21}, {4, 1, 4, 19, 1}, {2, 19, 21}, {1, 21}, {0},
        {3, 4, 1, 21},     {4, 2, 1, 19, 1},
    };
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(masks); i++) {
            attention a = {0};
            open_random(&a, TL_FLOAT, &s, 4);
            a.mask = nn_random(&a.room, TL_FLOAT, masks[i][0], masks[i] + 1, -4, 4);
            run(&a, isa);
            check_all(&a, &s);
            nn_close(&a.room);
        }
}
END_TEST

// Writes row `kind` of a mask for 150 keys; from 8 on it is 0.
static void fill_mask(float *mask, int kind)
{
    for (int i = 0; i < 150; i++) {
        const float kinds[] = {
            -INFINITY,               // all
            i < 100 ? -INFINITY : 0, // the first ones, whole blocks
            i >= 3 ? -INFINITY : 0,  // the last ones
            i == 77 ? INFINITY : 0,  // infinitely heavy
            i == 149 ? NAN : 0,      // unknown
            i % 2 ? NAN : -INFINITY, // unknown or nothing
            (float)i,                // each block outweighs the one before
            i == 0 ? 3e38f : -3e38f, // at the ends of what there is
        };
        mask[i] = kind < (int)NN_LEN(kinds) ? kinds[kind] : 0;
    }
}

static void check_masked(tl_isa isa, int rows, int e, int first_kind, int zero_empty)
{
    const shape s = {1, 2, 2, rows, 150, 8, e};
    attention a = {0};
    open_random(&a, TL_FLOAT, &s, 0);
    a.param.zero_empty = zero_empty;
    a.mask = nn_random(&a.room, TL_FLOAT, 2, (int[]){rows, 150}, 0, 0);
    for (int row = 0; row < rows; row++)
        fill_mask((float *)a.mask->data + row * 150, first_kind + row);
    run(&a, isa);
    check_all(&a, &s);
    nn_close(&a.room);
}

START_TEST(masked_keys_have_no_weight)
{
    TL_ISA_EACH_USABLE (isa)
        for (int zero_empty = 0; zero_empty < 2; zero_empty++) {
            check_masked(isa, 20, 8, 0, zero_empty);
            check_masked(isa, 4, 8, 0, zero_empty); // few rows, one by one
            check_masked(isa, 4, 8, 4, zero_empty);
            check_masked(isa, 4, 32, 0, zero_empty); // at once
            check_masked(isa, 4, 32, 4, zero_empty);
        }
}
END_TEST

START_TEST(whole_blocks_of_keys_may_be_masked)
{
    static const shape s = {1, 4, 1, 1, 1091, 20, 70}; // queries share their keys
    TL_ISA_EACH_USABLE (isa) {
        attention a = {0};
        open_random(&a, TL_FLOAT, &s, 0);
        a.mask = nn_random(&a.room, TL_FLOAT, 1, (int[]){1091}, -2, 2);
        for (int i = 0; i < 600; i++)
            ((float *)a.mask->data)[i] = -INFINITY;
        run(&a, isa);
        check_all(&a, &s);
        nn_close(&a.room);
    }
}
END_TEST

// A mask [B, 1, S, T] of a batch whose sequence b has T - 20 b keys, of which query i reads those
// from i - `window` + 1 to i + T - S.
static tl_tensor *mask_of_lengths(attention *a, const shape *s, int window)
{
    const int dims[] = {s->b, 1, s->s, s->t};
    tl_tensor *const mask = nn_random(&a->room, TL_FLOAT, 4, dims, -1, 1);
    tl_tensor *const typed = nn_blank(&a->room, a->q->dtype, 4, dims);
    for (int i = 0; i < mask->len; i++) {
        const int key = i % s->t, row = i / s->t % s->s, len = s->t - 20 * (i / s->t / s->s);
        const int offset = s->t - s->s;
        if (key >= len || key > row + offset || key <= row + offset - window)
            ((float *)mask->data)[i] = -INFINITY;
        else if (i % 7 == 0)
            ((float *)mask->data)[i] = 0;
    }
    tl_tensor_cast(mask, typed, typed->dtype);
    return typed;
}

START_TEST(masks_of_each_type_exclude_keys)
{
    static const shape s = {2, 2, 1, 50, 61, 8, 8};
    for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
        attention a = {0};
        open_random(&a, nn_floats[k], &s, 0);
        a.mask = mask_of_lengths(&a, &s, 9);
        a.param.zero_empty = 1;
        run(&a, TL_ISA_C);
        check_all(&a, &s);
        nn_close(&a.room);
    }
}
END_TEST

START_TEST(keys_that_no_query_reads_may_be_anything)
{
    static const shape cases[] = {{2, 4, 2, 61, 150, 20, 24},
                                  {2, 4, 2, 1, 150, 32, 32},
                                  {2, 8, 2, 1, 97, 16, 40},
                                  {2, 1, 1, 150, 150, 8, 8}};
    static const int windows[] = {1000, 70, 1};
    TL_ISA_EACH_USABLE (isa)
        for (int i = 0; i < 12; i++) {
            const shape *const s = cases + i % 4;
            attention a = {0};
            open_random(&a, TL_FLOAT, s, 0);
            a.mask = mask_of_lengths(&a, s, windows[i / 4]);
            a.param.zero_empty = 1;
            run(&a, isa);
            check_all(&a, s);
            void *const expected = tl_clone(a.dst->data, tl_tensor_size(a.dst));
            for (int g = 0; g < s->g; g++) // beyond the keys of sequence 1
                for (int key = s->t - 20; key < s->t; key++)
                    *((float *)a.k->data + row_at(a.k, 1, 1, g, key)) =
                        *((float *)a.v->data + row_at(a.v, 1, 1, g, key)) = NAN;
            run(&a, isa);
            ck_assert_mem_eq(a.dst->data, expected, tl_tensor_size(a.dst));
            tl_free(expected);
            nn_close(&a.room);
        }
}
END_TEST

// Returns new (tl_free): the rows of t [B, G, T, D] in memory for more of each head.
static float *with_room(const tl_tensor *t, int rows)
{
    const size_t size = tl_tensor_size(t) / (size_t)(t->dims[0] * t->dims[1]);
    const size_t step = (size_t)rows * (size_t)t->dims[3];
    float *const memory = tl_alloc((size_t)(t->dims[0] * t->dims[1]) * step * sizeof(float));
    for (int i = 0; i < t->dims[0] * t->dims[1]; i++)
        memcpy(memory + (size_t)i * step, (const char *)t->data + (size_t)i * size, size);
    return memory;
}

START_TEST(caches_have_memory_for_more_rows)
{
    static const shape few = {2, 8, 2, 1, 21, 16, 40}, many = {2, 4, 2, 19, 21, 16, 8};
    const shape *const all[] = {&few, &many};
    TL_ISA_EACH_USABLE (isa)
        for (int i = 0; i < 2; i++) {
            attention a = {0};
            open_random(&a, TL_FLOAT, all[i], 0);
            run(&a, isa);
            void *const expected = tl_clone(a.dst->data, tl_tensor_size(a.dst));
            void *const k = a.k->data, *const v = a.v->data;
            a.param.k_rows = 30;
            a.param.v_rows = 25;
            a.k->data = with_room(a.k, a.param.k_rows);
            a.v->data = with_room(a.v, a.param.v_rows);
            run(&a, isa);
            ck_assert_mem_eq(a.dst->data, expected, tl_tensor_size(a.dst));
            tl_free(a.k->data);
            tl_free(a.v->data);
            a.k->data = k;
            a.v->data = v;
            tl_free(expected);
            nn_close(&a.room);
        }
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    static const shape s = {2, 4, 2, 61, 75, 24, 24}; // rows in several units, the last one small
    tl_pool *const pool = tl_pool_create(3);
    TL_ISA_EACH_USABLE (isa) {
        attention a = {0};
        open_random(&a, TL_FLOAT, &s, 0);
        run(&a, isa);
        void *const one = tl_clone(a.dst->data, tl_tensor_size(a.dst));
        memset(a.dst->data, LN_GUARD_CANARY, tl_tensor_size(a.dst));
        compute(&a, (tl_exec){.isa = isa, .pool = pool});
        ck_assert_int_eq(memcmp(one, a.dst->data, tl_tensor_size(a.dst)), 0);
        tl_free(one);
        nn_close(&a.room);
    }
    tl_pool_free(pool);
}
END_TEST

START_TEST(nan_and_infinity_stay_in_their_rows)
{
    static const shape s = {1, 1, 1, 40, 30, 16, 16};
    TL_ISA_EACH_USABLE (isa) {
        attention a = {0};
        open_random(&a, TL_FLOAT, &s, 0);
        ((float *)a.q->data)[3 * 16 + 5] = NAN;
        ((float *)a.q->data)[21 * 16] = INFINITY;
        run(&a, isa);
        for (int row = 0; row < 40; row++)
            for (int i = 0; i < 16; i++)
                ck_assert_int_eq(isnan(nn_at(a.dst, (size_t)row * 16 + i)), row == 3 || row == 21);
        nn_close(&a.room);
    }
}
END_TEST

// Scores of 0 for each third key, whose values are 1; the others' values are large, their scores so
// small that e^score is subnormal.
static void set_far_scores(attention *a, const shape *s)
{
    float *const q = a->q->data, *const k = a->k->data, *const v = a->v->data;
    for (int i = 0; i < a->q->len; i++)
        q[i] = i % s->d == 0;
    a->param.scale = 1;
    for (int i = 0; i < a->k->len; i++)
        k[i] = i / s->d % s->t % 3 && i % s->d == 0 ? -88.0f - (float)(i / s->d % 16) : 0;
    for (int i = 0; i < a->v->len; i++)
        v[i] = i / s->e % s->t % 3 ? 0x1p120f : 1;
}

START_TEST(no_weight_is_subnormal)
{
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes); i++) {
            attention a = {0};
            open_random(&a, TL_FLOAT, &shapes[i], 0);
            set_far_scores(&a, &shapes[i]);
            run(&a, isa);
            for (int j = 0; j < a.dst->len; j++)
                nn_check_near(a.dst, (size_t)j, 1, 0x1p-20);
            nn_close(&a.room);
        }
}
END_TEST

START_TEST(without_keys_there_is_nothing)
{
    nn_room room = {.seed = 1};
    const tl_attention_param param = {1, 1, 1, 1, 1, 0};
    tl_tensor *const q = nn_random(&room, TL_FLOAT, 4, (int[]){1, 2, 3, 4}, -1, 1);
    tl_tensor *const k = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 2, 0, 4});
    tl_tensor *const v = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 2, 0, 2});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 2, 3, 2});
    tl_exec_attention(&(tl_exec){0}, q, k, v, NULL, dst, &param);
    nn_check_values(dst, (double[12]){0});
    nn_close(&room);
}
END_TEST

START_TEST(scratch_memory_is_needed_for_as_many_threads_as_use_it)
{
    nn_room room = {.seed = 1};
    const tl_tensor *const q = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 2, 3, 4});
    const tl_attention_param param = {1, 1, 1, 1, 1, 0};
    const size_t one = tl_attention_scratch(q, q, q, &param, 1);
    ck_assert_uint_eq(tl_attention_scratch(q, q, q, &param, 3), 3 * one);
    ck_assert_uint_eq(tl_attention_scratch(q, q, q, &param, 1000), TL_MAX_SLOTS * one);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 4, q->dims);
    ck_assert_int_eq(tl_exec_attention(NULL, q, q, q, NULL, dst, &param), -1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "0 bytes of scratch memory, expected "));
    nn_close(&room);
}
END_TEST

START_TEST(attention_rejects_bad_axes_and_shapes)
{
    static const struct {
        int k[4], v[4], mask[2];
        tl_attention_param param;
        const char *reason;
    } rows[] = {
        {{1, 2, 5, 4}, {1, 2, 5, 4}, {3, 5}, {3, 1, 1, 1, 1, 0}, "'q_axis' is 3, expected 1 or 2"},
        {{1, 2, 5, 4},
         {1, 2, 5, 4},
         {3, 5},
         {1, 1, 1, 0, 1, 0},
         "'dst_axis' is 0, expected 1 or 2"},
        {{2, 2, 5, 4},
         {1, 2, 5, 4},
         {3, 5},
         {1, 1, 1, 1, 1, 0},
         "batch sizes of 'q', 'k' and 'v' are 1, 2 and 1, expected equal ones"},
        {{1, 2, 5, 4},
         {1, 4, 5, 4},
         {3, 5},
         {1, 1, 1, 1, 1, 0},
         "'k' has 2 heads and 'v' has 4, expected equal numbers"},
        {{1, 3, 5, 4},
         {1, 3, 5, 4},
         {3, 5},
         {1, 1, 1, 1, 1, 0},
         "'q' has 4 heads, expected a multiple of 3, the heads of 'k'"},
        {{1, 2, 5, 4},
         {1, 2, 6, 4},
         {3, 5},
         {1, 1, 1, 1, 1, 0},
         "'k' has 5 rows and 'v' has 6, expected equal numbers"},
        {{1, 2, 5, 3},
         {1, 2, 5, 4},
         {3, 5},
         {1, 1, 1, 1, 1, 0},
         "'k' has rows of 3 and 'q' of 4, expected equal lengths"},
        {{1, 2, 5, 4}, {1, 2, 5, 4}, {3, 4}, {1, 1, 1, 1, 1, 0}, "'mask' has shape [3, 4]"},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {.seed = 1};
        tl_tensor *const q = nn_random(&room, TL_FLOAT, 4, (int[]){1, 4, 3, 4}, -1, 1);
        tl_tensor *const k = nn_random(&room, TL_FLOAT, 4, rows[i].k, -1, 1);
        tl_tensor *const v = nn_random(&room, TL_FLOAT, 4, rows[i].v, -1, 1);
        tl_tensor *const mask = nn_random(&room, TL_FLOAT, 2, rows[i].mask, -1, 1);
        ck_assert_ptr_null(tl_tensor_attention(q, k, v, mask, NULL, &rows[i].param));
        ck_assert_msg(strstr(tl_last_error(), rows[i].reason) == tl_last_error(), "%s, expected %s",
                      tl_last_error(), rows[i].reason);
        nn_close(&room);
    }
}
END_TEST

LN_TEST_MAIN("attention", two_keys_by_hand, masks_of_each_type_exclude_keys,
             every_kernel_agrees_with_double, pairs_of_bfloat16_agree_with_double,
             pairs_keep_masks_infinities_and_nan, every_type_agrees_with_double,
             masks_are_broadcast, masked_keys_have_no_weight, whole_blocks_of_keys_may_be_masked,
             keys_that_no_query_reads_may_be_anything, caches_have_memory_for_more_rows,
             threads_do_not_change_the_result, nan_and_infinity_stay_in_their_rows,
             no_weight_is_subnormal, without_keys_there_is_nothing,
             scratch_memory_is_needed_for_as_many_threads_as_use_it,
             attention_rejects_bad_axes_and_shapes)
