// SPDX-License-Identifier: Apache-2.0
// Tests of SqueezeDet's boxes.

#include "kernel/tl_nn_test.h"

START_TEST(one_box_gives_the_known_result)
{
    static const struct {
        double delta[4], box[4];
        int x_shift, y_shift;
    } cases[] = {
        {{0, 0, 0, 0}, {80, 70, 120, 90}, 0, 0},
        {{0, 0, 2, 0}, {0, 70, 199, 90}, 0, 0}, // 2 * e * 20 * 2 pixels wide
        {{0, 0, 0, 0}, {83, 60, 123, 80}, 3, -10},
        {{1, -1, 0, 0}, {120, 50, 160, 70}, 0, 0},
        {{-99, 99, 0, 0}, {0, 159, 0, 159}, 0, 0}, // far outside
    };
    for (size_t i = 0; i < NN_LEN(cases); i++) {
        nn_room room = {0};
        const int dims[] = {1, 1, 1, 1, 4};
        tl_tensor *const delta = nn_given(&room, TL_FLOAT, 5, dims, cases[i].delta);
        tl_tensor *const anchor = nn_given(&room, TL_FLOAT, 5, dims, (double[]){50, 40, 20, 10});
        tl_tensor *const dst = tl_tensor_transform_bboxSQD(delta, anchor, NULL, 100, 80, 200, 160,
                                                           cases[i].x_shift, cases[i].y_shift);
        nn_check_values(dst, cases[i].box);
        ck_assert_ptr_eq(tl_tensor_transform_bboxSQD(delta, anchor, delta, 100, 80, 200, 160,
                                                     cases[i].x_shift, cases[i].y_shift),
                         delta);
        ck_assert_mem_eq(delta->data, dst->data, tl_tensor_size(dst));
        tl_tensor_free_data_too(dst);
        nn_close(&room);
    }
}
END_TEST

START_TEST(nan_stays_in_its_box)
{
    nn_room room = {0};
    tl_tensor *const delta =
        nn_given(&room, TL_FLOAT, 2, (int[]){2, 4}, (double[]){0, NAN, 0, 0, 0, 0, 0, 0});
    tl_tensor *const anchor =
        nn_given(&room, TL_FLOAT, 2, (int[]){2, 4}, (double[]){50, 40, 20, 10, 50, 40, 20, 10});
    ck_assert_ptr_eq(tl_tensor_transform_bboxSQD(delta, anchor, delta, 100, 80, 200, 160, 0, 0),
                     delta);
    nn_check_values(delta, (double[]){80, NAN, 120, NAN, 80, 70, 120, 90});
    nn_close(&room);
}
END_TEST

typedef struct threads_arg {
    const tl_tensor *delta, *anchor;
} threads_arg;

static void run_bbox(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const threads_arg *const a = arg;
    tl_exec_transform_bboxSQD(exec, a->delta, a->anchor, dst, 1248, 384, 1242, 375, 2, 3);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 101};
    threads_arg arg = {nn_random(&room, TL_FLOAT, 2, (int[]){9973, 4}, -2, 2),
                       nn_random(&room, TL_FLOAT, 2, (int[]){9973, 4}, 10, 300)};
    nn_check_threads(run_bbox, nn_blank(&room, TL_FLOAT, 2, (int[]){9973, 4}), &arg);
    nn_close(&room);
}
END_TEST

START_TEST(bbox_sqd_rejects_bad_shapes)
{
    nn_room room = {0};
    tl_tensor *const boxes = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 4});
    tl_tensor *const fewer = nn_blank(&room, TL_FLOAT, 2, (int[]){1, 4});
    tl_tensor *const triples = nn_blank(&room, TL_FLOAT, 2, (int[]){2, 3});
    tl_tensor *const doubles = nn_blank(&room, TL_DOUBLE, 2, (int[]){2, 4});
    ck_assert_ptr_null(tl_tensor_transform_bboxSQD(triples, boxes, NULL, 1, 1, 1, 1, 0, 0));
    ck_assert_str_eq(tl_last_error(), "'delta' has shape [2, 3], expected [.., 4]");
    ck_assert_ptr_null(tl_tensor_transform_bboxSQD(boxes, doubles, NULL, 1, 1, 1, 1, 0, 0));
    ck_assert_str_eq(tl_last_error(), "'anchor' is of TL_DOUBLE, expected TL_FLOAT");
    ck_assert_ptr_null(tl_tensor_transform_bboxSQD(boxes, fewer, NULL, 1, 1, 1, 1, 0, 0));
    ck_assert_str_eq(tl_last_error(), "shapes [2, 4] and [1, 4], expected the same");
    ck_assert_ptr_null(tl_tensor_transform_bboxSQD(boxes, boxes, NULL, 1, 1, 1, 0, 0, 0));
    ck_assert_str_eq(tl_last_error(), "'img_height' is 0, expected at least 1");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("bbox sqd", one_box_gives_the_known_result, nan_stays_in_its_box,
             threads_do_not_change_the_result, bbox_sqd_rejects_bad_shapes)
