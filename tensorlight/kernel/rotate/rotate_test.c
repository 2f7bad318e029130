// SPDX-License-Identifier: Apache-2.0
// Tests of rotations by angles: shapes that broadcast, both orders of pairs and each type against
// doubles; each instruction set.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_attention.h"

// The shapes of a test: src [a, b, c, d]; cosines with 1 where a bit of `repeated` is set.
typedef struct shape {
    int dims[4], repeated;
} shape;

static const shape shapes[] = {
    {{2, 3, 4, 10}, 0}, {{2, 3, 4, 10}, 2}, {{2, 1, 5, 64}, 5}, {{1, 7, 3, 2}, 7},
    {{3, 2, 2, 34}, 4}, {{2, 0, 4, 10}, 1}, {{2, 3, 4, 0}, 0},  {{2, 130, 5, 128}, 1},
};

typedef struct rotation {
    nn_room room;
    tl_tensor *src, *cosines, *sines, *dst;
    int is_interleaved, is_whole;
} rotation;

static void open_random(rotation *r, tl_dtype dtype, const shape *s, int kind)
{
    int dims[4];
    r->room.seed = 3;
    r->is_interleaved = kind & 1;
    r->is_whole = kind >> 1;
    for (int i = 0; i < 3; i++)
        dims[i] = s->repeated >> i & 1 ? 1 : s->dims[i];
    dims[3] = r->is_whole ? s->dims[3] : s->dims[3] / 2;
    r->src = nn_random(&r->room, dtype, 4, s->dims, -2, 2);
    r->cosines = nn_random(&r->room, dtype, 4, dims, -1, 1);
    r->sines = nn_random(&r->room, dtype, 4, dims, -1, 1);
    r->dst = nn_blank(&r->room, dtype, 4, s->dims);
}

// The element of cosines or sines for element `i` of a row; `at`: the row of src as an index.
static double angle_at(const rotation *r, const tl_tensor *t, const int *at, int i, int d)
{
    const int pair = r->is_interleaved ? i / 2 : i % (d / 2);
    size_t row = 0;
    for (int k = 0; k < 3; k++)
        row = row * (size_t)t->dims[k] + (size_t)(t->dims[k] == 1 ? 0 : at[k]);
    return nn_at(t, row * (size_t)t->dims[3] + (size_t)(r->is_whole ? i : pair));
}

static void check(const rotation *r)
{
    const int *const n = r->src->dims, d = n[3];
    for (int at = 0; at < r->src->len; at++) {
        const int i = at % d, row = at / d, is_second = r->is_interleaved ? i % 2 : i >= d / 2;
        const int apart = r->is_interleaved ? 1 : d / 2;
        const int index[] = {row / n[2] / n[1], row / n[2] % n[1], row % n[2]};
        const double x = nn_at(r->src, (size_t)at);
        const double other = nn_at(r->src, (size_t)(is_second ? at - apart : at + apart));
        const double c = angle_at(r, r->cosines, index, i, d);
        const double s = angle_at(r, r->sines, index, i, d);
        const double expected = is_second ? x * c + other * s : x * c - other * s;
        nn_check_near(r->dst, (size_t)at, expected, nn_tolerance(r->dst->dtype, 4, 4, expected));
    }
}

START_TEST(pairs_are_rotated)
{
    for (size_t i = 0; i < NN_LEN(shapes) * 4; i++)
        for (size_t k = 0; k < NN_LEN(nn_floats); k++) {
            rotation r = {0};
            open_random(&r, nn_floats[k], shapes + i / 4, (int)(i % 4));
            ck_assert_ptr_eq(tl_tensor_rotate(r.src, r.cosines, r.sines, r.dst, r.is_interleaved),
                             r.dst);
            check(&r);
            nn_close(&r.room);
        }
}
END_TEST

START_TEST(each_instruction_set_and_threads_agree)
{
    tl_pool *const pool = tl_pool_create(2);
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes) * 4; i++) {
            rotation r = {0};
            open_random(&r, TL_FLOAT, shapes + i / 4, (int)(i % 4));
            const tl_exec exec = {.pool = pool, .isa = isa};
            ck_assert_int_eq(
                tl_exec_rotate(&exec, r.src, r.cosines, r.sines, r.dst, r.is_interleaved), 0);
            check(&r);
            nn_close(&r.room);
        }
    tl_pool_free(pool);
}
END_TEST

START_TEST(rotate_rejects_other_shapes)
{
    static const struct {
        int src[2], cosines[2], sines[2];
        const char *reason;
    } rows[] = {
        {{2, 5}, {2, 2}, {2, 2}, "'src' has a last axis of length 5, expected an even number"},
        {{2, 6},
         {3, 3},
         {3, 3},
         "'cosines' has shape [3, 3], expected one that broadcasts to [2, 3]"},
        {{2, 6}, {2, 1}, {2, 1}, "'cosines' has a last axis of length 1, expected 3 or 6"},
        {{2, 6}, {2, 3}, {1, 3}, "'cosines' and 'sines' have different shapes, expected the same"},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        nn_room room = {.seed = 1};
        tl_tensor *const src = nn_random(&room, TL_FLOAT, 2, rows[i].src, -1, 1);
        tl_tensor *const cosines = nn_random(&room, TL_FLOAT, 2, rows[i].cosines, -1, 1);
        tl_tensor *const sines = nn_random(&room, TL_FLOAT, 2, rows[i].sines, -1, 1);
        ck_assert_ptr_null(tl_tensor_rotate(src, cosines, sines, NULL, 0));
        ck_assert_str_eq(tl_last_error(), rows[i].reason);
        nn_close(&room);
    }
}
END_TEST

LN_TEST_MAIN("rotate", pairs_are_rotated, each_instruction_set_and_threads_agree,
             rotate_rejects_other_shapes)
