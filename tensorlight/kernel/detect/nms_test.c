// SPDX-License-Identifier: Apache-2.0
// Tests of non-maximum suppression.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

static void check(const tl_tensor *boxes, const tl_tensor *scores, const tl_nms *how,
                  const int64_t (*expected)[3], int n)
{
    const int rows = scores->len;
    nn_room room = {0};
    tl_tensor *const dst = nn_blank(&room, TL_INT64, 2, (int[]){rows, 3});
    tl_exec exec = {.scratch_size = tl_nms_scratch(boxes), .isa = tl_isa_best()};
    ln_guard guard;
    exec.scratch = ln_guard_alloc(&guard, exec.scratch_size);
    int count = -1;
    ck_assert_int_eq(tl_exec_nms(&exec, boxes, scores, how, dst, &count), 0);
    ck_assert_int_eq(count, n);
    ck_assert_mem_eq(dst->data, expected, (size_t)n * sizeof(*expected));
    ln_guard_free(&guard);
    nn_close(&room);
}

// Three on almost one place, one far away, one on the far one.
static const double corners[] = {0, 0,  1, 1,  0, 0.1,  1, 1.1,  1, -0.1, 0, 0.9,
                                 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100,  1, 101};
static const double centers[] = {0.5,  0.5, 1, 1, 0.6,  0.5, 1, 1, 0.4,   0.5, 1, 1,
                                 10.5, 0.5, 1, 1, 10.6, 0.5, 1, 1, 100.5, 0.5, 1, 1};
static const double scores_of[] = {0.9, 0.75, 0.6, 0.95, 0.5, 0.3};

START_TEST(the_best_of_overlapping_boxes_stay)
{
    nn_room room = {0};
    tl_tensor *const scores = nn_given(&room, TL_FLOAT, 3, (int[]){1, 1, 6}, scores_of);
    for (int form = 0; form < 2; form++) {
        tl_tensor *const boxes =
            nn_given(&room, TL_FLOAT, 3, (int[]){1, 6, 4}, form ? centers : corners);
        static const int64_t expected[][3] = {{0, 0, 3}, {0, 0, 0}, {0, 0, 5}};
        tl_nms how = {.most = 6, .overlap = 0.5f, .is_center_and_size = form};
        check(boxes, scores, &how, expected, 3);
        how.has_score = 1;
        how.score = 0.4f;
        check(boxes, scores, &how, expected, 2);
        how.most = 1;
        check(boxes, scores, &how, expected, 1);
        how.most = 0;
        check(boxes, scores, &how, expected, 0);
    }
    nn_close(&room);
}
END_TEST

START_TEST(batches_and_classes_are_apart)
{
    nn_room room = {0};
    tl_tensor *const boxes = nn_given(&room, TL_FLOAT, 3, (int[]){2, 2, 4},
                                      (double[]){0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 6, 6});
    tl_tensor *const scores = nn_given(&room, TL_FLOAT, 3, (int[]){2, 2, 2},
                                       (double[]){0.1, 0.2, 0.4, 0.3, 0.5, 0.6, 0.7, 0.7});
    static const int64_t expected[][3] = {{0, 0, 1}, {0, 1, 0}, {1, 0, 1},
                                          {1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
    check(boxes, scores, &(tl_nms){.most = 2}, expected, 6);
    nn_close(&room);
}
END_TEST

START_TEST(boxes_without_area_overlap_nothing)
{
    nn_room room = {0};
    tl_tensor *const boxes =
        nn_given(&room, TL_FLOAT, 3, (int[]){1, 2, 4}, (double[]){1, 1, 1, 1, 1, 1, 1, 1});
    tl_tensor *const scores = nn_given(&room, TL_FLOAT, 3, (int[]){1, 1, 2}, (double[]){1, NAN});
    static const int64_t expected[][3] = {{0, 0, 0}, {0, 0, 1}};
    check(boxes, scores, &(tl_nms){.most = 9}, expected, 2);
    check(boxes, scores, &(tl_nms){.most = 9, .has_score = 1}, expected, 1);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("nms", the_best_of_overlapping_boxes_stay, batches_and_classes_are_apart,
             boxes_without_area_overlap_nothing)
