// SPDX-License-Identifier: Apache-2.0
// Tests of non-maximum suppression of rows.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

enum { ROWS = 5, WIDTH = 6 };

// Class, score, box: 1 overlaps 3 by 270 / 436, and 2 overlaps 0 by 285 / 600.
static const double rows[] = {0,  0.8, 1,  20, 25,  45, 1,  0.7, 30, 60, 50,  80,  0,  0.4, 4,
                              21, 19,  40, 2,  0.9, 35, 61, 52,  79, 1,  0.5, 100, 60, 70,  110};

static void check(const tl_nms_rows *how, const int32_t *count, const int32_t expected[ROWS])
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 3, (int[]){1, ROWS, WIDTH}, rows);
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 3, (int[]){1, ROWS, WIDTH});
    tl_tensor *const index = nn_blank(&room, TL_INT32, 2, (int[]){1, ROWS});
    tl_tensor of = {.dtype = TL_INT32, .ndim = 1, .len = 1, .data = (void *)count};
    tl_exec exec = {.scratch_size = tl_nms_rows_scratch(src), .isa = tl_isa_best()};
    ln_guard guard;
    exec.scratch = ln_guard_alloc(&guard, exec.scratch_size);
    ck_assert_int_eq(tl_exec_nms_rows(&exec, src, count ? &of : NULL, how, dst, index), 0);
    const float *const from = src->data, *const to = dst->data;
    for (int i = 0; i < ROWS; i++) {
        ck_assert_int_eq(((const int32_t *)index->data)[i], expected[i]);
        for (int k = 0; k < WIDTH; k++)
            ck_assert_float_eq(to[WIDTH * i + k],
                               expected[i] < 0 ? -1 : from[WIDTH * expected[i] + k]);
    }
    ln_guard_free(&guard);
    nn_close(&room);
}

START_TEST(boxes_of_one_class_suppress_each_other)
{
    tl_nms_rows how = {.box = 2, .score = 1, .overlap = 0.45f};
    check(&how, NULL, (int32_t[]){3, 0, 1, 4, -1});
    how.overlap = 0.5f; // more than that of 0 and 2
    check(&how, NULL, (int32_t[]){3, 0, 1, 4, 2});
    how.overlap = 285.0f / 600.0f; // just that
    check(&how, NULL, (int32_t[]){3, 0, 1, 4, -1});
}
END_TEST

START_TEST(classes_may_be_compared_or_missing)
{
    tl_nms_rows how = {.box = 2, .score = 1, .overlap = 0.45f, .across_labels = 1};
    check(&how, NULL, (int32_t[]){3, 0, -1, 4, -1});
    how.packs = 1;
    check(&how, NULL, (int32_t[]){3, 0, 4, -1, -1});
    how.across_labels = how.packs = 0;
    how.label = -1;
    check(&how, NULL, (int32_t[]){3, 0, -1, 4, -1});
}
END_TEST

START_TEST(numbers_of_rows_are_limited)
{
    tl_nms_rows how = {.box = 2, .score = 1, .overlap = 0.45f};
    check(&how, (int32_t[]){3}, (int32_t[]){0, 1, -1, -1, -1});
    check(&how, (int32_t[]){-7}, (int32_t[]){-1, -1, -1, -1, -1});
    check(&how, (int32_t[]){99}, (int32_t[]){3, 0, 1, 4, -1});
    how.max_compared = 2;
    check(&how, NULL, (int32_t[]){3, 0, -1, -1, -1});
    how.max_compared = 0;
    how.max = 3;
    check(&how, NULL, (int32_t[]){3, 0, 1, -1, -1});
}
END_TEST

START_TEST(without_an_overlap_rows_stay)
{
    const tl_nms_rows how = {.box = 2, .score = 1, .max = 4};
    check(&how, NULL, (int32_t[]){0, 1, 2, 3, -1});
}
END_TEST

START_TEST(too_little_scratch_memory_is_a_failure)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 3, (int[]){1, ROWS, WIDTH}, rows);
    const tl_nms_rows how = {.box = 2, .score = 1, .overlap = 0.5f};
    const tl_exec exec = {.isa = tl_isa_best()};
    ck_assert_int_eq(tl_exec_nms_rows(&exec, src, NULL, &how, src, NULL), -1);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("nms_rows", boxes_of_one_class_suppress_each_other, classes_may_be_compared_or_missing,
             numbers_of_rows_are_limited, without_an_overlap_rows_stay,
             too_little_scratch_memory_is_a_failure)
