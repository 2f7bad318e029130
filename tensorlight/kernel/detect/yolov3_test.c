// SPDX-License-Identifier: Apache-2.0
// Tests of YOLOv3's boxes.

#include "kernel/tl_nn_test.h"

// A head and what is decoded from it.
typedef struct head {
    tl_tensor *feature, *anchors;
    tl_tensor *centers, *sizes, *boxes, *confs, *probs;
} head;

static head make_head(nn_room *room, int anchors, int classes, int height, int width)
{
    const int a = anchors, h = height, w = width;
    return (head){
        nn_random(room, TL_FLOAT, 4, (int[]){1, a * (5 + classes), h, w}, -2, 2),
        nn_random(room, TL_FLOAT, 2, (int[]){a, 2}, 10, 300),
        nn_blank(room, TL_FLOAT, 5, (int[]){1, a, 2, h, w}),
        nn_blank(room, TL_FLOAT, 5, (int[]){1, a, 2, h, w}),
        nn_blank(room, TL_FLOAT, 5, (int[]){1, a, 4, h, w}),
        nn_blank(room, TL_FLOAT, 5, (int[]){1, a, 1, h, w}),
        nn_blank(room, TL_FLOAT, 5, (int[]){1, a, classes, h, w}),
    };
}

static int detect(const head *h, int img_h, int img_w)
{
    return tl_tensor_detect_yolov3(h->feature, h->anchors, h->centers, h->sizes, h->boxes, h->confs,
                                   h->probs, img_h, img_w);
}

START_TEST(a_cell_gives_the_known_result)
{
    nn_room room = {0};
    const head h = make_head(&room, 1, 1, 2, 2);
    memset(h.feature->data, 0, tl_tensor_size(h.feature));
    ((float *)h.anchors->data)[0] = 10;
    ((float *)h.anchors->data)[1] = 20;
    ck_assert_int_eq(detect(&h, 50, 100), 0);
    const size_t cell = 2, plane = 4; // row 1, column 0
    nn_check_near(h.centers, cell, 25, 0);
    nn_check_near(h.centers, cell + plane, 37.5, 0);
    nn_check_near(h.sizes, cell, 10, 0);
    nn_check_near(h.sizes, cell + plane, 20, 0);
    const double box[] = {20, 27.5, 30, 47.5};
    for (size_t i = 0; i < 4; i++)
        nn_check_near(h.boxes, cell + i * plane, box[i], 0);
    nn_check_near(h.confs, cell, 0.5, 0);
    nn_check_near(h.probs, cell, 0.5, 0);
    nn_close(&room);
}
END_TEST

static double s(double v)
{
    return 1 / (1 + exp(-v));
}

START_TEST(every_cell_agrees_with_double)
{
    enum { A = 3, K = 4, H = 5, W = 7, IMG_H = 500, IMG_W = 350, PLANE = H * W };
    nn_room room = {.seed = 111};
    const head h = make_head(&room, A, K, H, W);
    ck_assert_int_eq(detect(&h, IMG_H, IMG_W), 0);
    const double unit = 64 * FLT_EPSILON; // a few roundings, and expf of numbers up to 2
    for (size_t a = 0; a < A; a++)
        for (size_t i = 0; i < PLANE; i++) {
            const size_t at = a * (5 + K) * PLANE + i;
            const size_t row = i / W, column = i % W;
            const double cx = (s(nn_at(h.feature, at)) + (double)column) * IMG_W / W;
            const double cy = (s(nn_at(h.feature, at + PLANE)) + (double)row) * IMG_H / H;
            const double w = nn_at(h.anchors, 2 * a) * exp(nn_at(h.feature, at + 2 * PLANE));
            const double ht = nn_at(h.anchors, 2 * a + 1) * exp(nn_at(h.feature, at + 3 * PLANE));
            const double size = cx + cy + w + ht;
            nn_check_near(h.centers, 2 * a * PLANE + i, cx, unit * size);
            nn_check_near(h.centers, (2 * a + 1) * PLANE + i, cy, unit * size);
            nn_check_near(h.sizes, 2 * a * PLANE + i, w, unit * size);
            nn_check_near(h.sizes, (2 * a + 1) * PLANE + i, ht, unit * size);
            nn_check_near(h.boxes, 4 * a * PLANE + i, cx - w / 2, unit * size);
            nn_check_near(h.boxes, (4 * a + 1) * PLANE + i, cy - ht / 2, unit * size);
            nn_check_near(h.boxes, (4 * a + 2) * PLANE + i, cx + w / 2, unit * size);
            nn_check_near(h.boxes, (4 * a + 3) * PLANE + i, cy + ht / 2, unit * size);
            nn_check_near(h.confs, a * PLANE + i, s(nn_at(h.feature, at + 4 * PLANE)), unit);
            for (size_t k = 0; k < K; k++)
                nn_check_near(h.probs, (a * K + k) * PLANE + i,
                              s(nn_at(h.feature, at + (5 + k) * PLANE)), unit);
        }
    nn_close(&room);
}
END_TEST

START_TEST(wild_sizes_are_clamped)
{
    nn_room room = {0};
    const head h = make_head(&room, 1, 1, 1, 1);
    const float feature[] = {-1e30f, 1e30f, -1e30f, 1e30f, NAN, 0};
    memcpy(h.feature->data, feature, sizeof(feature));
    memcpy(h.anchors->data, (float[]){10, 20}, 2 * sizeof(float));
    ck_assert_int_eq(detect(&h, 100, 100), 0);
    nn_check_values(h.centers, (double[]){0, 100});
    nn_check_values(h.sizes, (double[]){10 * 1e-9, 20 * 50});
    nn_check_values(h.confs, (double[]){NAN});
    nn_close(&room);
}
END_TEST

static void run_detect(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const head *const h = arg;
    tl_exec_detect_yolov3(exec, h->feature, h->anchors, h->centers, h->sizes, h->boxes, h->confs,
                          dst, 416, 416);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 112};
    head h = make_head(&room, 3, 20, 26, 26);
    nn_check_threads(run_detect, h.probs, &h);
    nn_close(&room);
}
END_TEST

START_TEST(yolov3_rejects_bad_shapes)
{
    nn_room room = {0};
    const head good = make_head(&room, 2, 1, 1, 1);
    head bad = good;
    bad.feature = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 13, 1, 1});
    ck_assert_int_eq(detect(&bad, 1, 1), -1);
    ck_assert_str_eq(tl_last_error(),
                     "'feature' has 13 channels and 'anchors' 2 rows, expected for "
                     "each of 1 or more anchors 5 channels and 1 or more classes");
    bad.feature = nn_blank(&room, TL_FLOAT, 4, (int[]){1, 10, 1, 1});
    ck_assert_int_eq(detect(&bad, 1, 1), -1);
    bad = good;
    bad.anchors = nn_blank(&room, TL_FLOAT, 2, (int[]){0, 2});
    ck_assert_int_eq(detect(&bad, 1, 1), -1);
    ck_assert_str_eq(tl_last_error(),
                     "'feature' has 12 channels and 'anchors' 0 rows, expected for "
                     "each of 1 or more anchors 5 channels and 1 or more classes");
    bad = good;
    bad.boxes = good.sizes;
    ck_assert_int_eq(detect(&bad, 1, 1), -1);
    ck_assert_str_eq(tl_last_error(),
                     "'boxes' is TL_FLOAT [1, 2, 2, 1, 1], expected TL_FLOAT [1, 2, 4, 1, 1]");
    bad = good;
    bad.sizes = good.centers;
    ck_assert_int_eq(detect(&bad, 1, 1), -1);
    ck_assert_str_eq(tl_last_error(),
                     "'box_sizes' overlaps another argument, expected separate data");
    bad = good;
    bad.probs = NULL;
    ck_assert_int_eq(detect(&bad, 1, 1), -1);
    ck_assert_str_eq(tl_last_error(), "'probs' is NULL, expected a tensor");
    ck_assert_int_eq(detect(&good, 0, 1), -1);
    ck_assert_str_eq(tl_last_error(), "'img_h' is 0, expected at least 1");
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("yolov3", a_cell_gives_the_known_result, every_cell_agrees_with_double,
             wild_sizes_are_clamped, threads_do_not_change_the_result, yolov3_rejects_bad_shapes)
