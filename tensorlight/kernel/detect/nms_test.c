// SPDX-License-Identifier: Apache-2.0
// Tests of non-maximum suppression.

#include <math.h>
#include <string.h>

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
        tl_nms how = {.max = 6, .overlap = 0.5f, .is_center_and_size = form};
        check(boxes, scores, &how, expected, 3);
        how.has_score = 1;
        how.score = 0.4f;
        check(boxes, scores, &how, expected, 2);
        how.max = 1;
        check(boxes, scores, &how, expected, 1);
        how.max = 0;
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
    check(boxes, scores, &(tl_nms){.max = 2}, expected, 6);
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
    check(boxes, scores, &(tl_nms){.max = 9}, expected, 2);
    check(boxes, scores, &(tl_nms){.max = 9, .has_score = 1}, expected, 1);
    nn_close(&room);
}
END_TEST

// As the definition says: each turn looks for the best of all boxes that are left.

typedef struct plain {
    const float *boxes, *scores;
    int len;
    const tl_nms *how;
    unsigned char gone[600];
} plain;

static void corners_of(const float *b, int is_center_and_size, float *to)
{
    const float w = b[2] / 2, h = b[3] / 2;
    const float centered[] = {b[0] - w, b[1] - h, b[0] + w, b[1] + h};
    const float ordered[] = {fminf(b[1], b[3]), fminf(b[0], b[2]), fmaxf(b[1], b[3]),
                             fmaxf(b[0], b[2])};
    memcpy(to, is_center_and_size ? centered : ordered, sizeof(centered));
}

static int plain_overlaps(const plain *p, int i, int k)
{
    float a[4], b[4];
    corners_of(p->boxes + 4 * i, p->how->is_center_and_size, a);
    corners_of(p->boxes + 4 * k, p->how->is_center_and_size, b);
    const float w = fminf(a[2], b[2]) - fmaxf(a[0], b[0]);
    const float h = fminf(a[3], b[3]) - fmaxf(a[1], b[1]);
    const float one = (a[2] - a[0]) * (a[3] - a[1]), other = (b[2] - b[0]) * (b[3] - b[1]);
    return w > 0 && h > 0 && one > 0 && other > 0 &&
           w * h / (one + other - w * h) > p->how->overlap;
}

// Of equal ones the first; NaN only where nothing else is left.
static int plain_best(const plain *p)
{
    int best = -1;
    for (int i = 0; i < p->len; i++) {
        const int scores_enough = !p->how->has_score || p->scores[i] > p->how->score;
        if (p->gone[i] || !scores_enough)
            continue;
        if (best < 0 || p->scores[i] > p->scores[best] ||
            (isnan(p->scores[best]) && !isnan(p->scores[i])))
            best = i;
    }
    return best;
}

static int plain_choose(plain *p, int batch, int class, int64_t (*to)[3])
{
    int n = 0;
    memset(p->gone, 0, sizeof(p->gone));
    for (int best; n < p->how->max && (best = plain_best(p)) >= 0; n++) {
        p->gone[best] = 1;
        for (int i = 0; i < p->len; i++)
            p->gone[i] |= (unsigned char)plain_overlaps(p, best, i);
        memcpy(to[n], (int64_t[]){batch, class, best}, sizeof(to[n]));
    }
    return n;
}

static int plain_nms(const tl_tensor *boxes, const tl_tensor *scores, const tl_nms *how,
                     int64_t (*to)[3])
{
    const int len = boxes->dims[1], classes = scores->dims[1];
    int n = 0;
    for (int i = 0; i < boxes->dims[0] * classes; i++) {
        plain p = {.boxes = (const float *)boxes->data + 4 * (i / classes) * len,
                   .scores = (const float *)scores->data + i * len,
                   .len = len,
                   .how = how};
        n += plain_choose(&p, i / classes, i % classes, to + n);
    }
    return n;
}

static unsigned draw(unsigned *state, unsigned n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

// Scores of few values, so that many are equal, or of many; each twentieth is a special one.
static double random_score(unsigned *state, int few)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-42, -3, 0.5};
    if (draw(state, 20) == 0)
        return special[draw(state, 8)];
    return few ? draw(state, 4) / 4.0 : draw(state, 1 << 16) / 65536.0;
}

static void compare_random(int batches, int classes, int len, int turn)
{
    unsigned state = (unsigned)(len * 8 + turn);
    nn_room room = {0};
    static double numbers[4 * 2 * 600], marks[2 * 3 * 600];
    static int64_t expected[2 * 3 * 600][3];
    for (int i = 0; i < 4 * batches * len; i++)
        numbers[i] = draw(&state, 40) / 4.0;
    for (int i = 0; i < batches * classes * len; i++)
        marks[i] = random_score(&state, turn & 1);
    const tl_tensor *const boxes = nn_given(&room, TL_FLOAT, 3, (int[]){batches, len, 4}, numbers);
    const tl_tensor *const scores =
        nn_given(&room, TL_FLOAT, 3, (int[]){batches, classes, len}, marks);
    const tl_nms how = {.max = turn & 2 ? 7 : len,
                        .overlap = (float)draw(&state, 4) / 4,
                        .score = 0.5f,
                        .has_score = (turn & 4) != 0,
                        .is_center_and_size = turn & 1};
    const int n = plain_nms(boxes, scores, &how, expected);
    check(boxes, scores, &how, (const int64_t(*)[3])expected, n);
    nn_close(&room);
}

START_TEST(random_boxes_are_chosen_as_the_definition_says)
{
    static const int lens[] = {1, 2, 15, 16, 17, 33, 97, 600};
    for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++)
        for (int turn = 0; turn < 8; turn++)
            compare_random(1 + turn % 2, 1 + turn % 3, lens[i], turn);
}
END_TEST

LN_TEST_MAIN("nms", the_best_of_overlapping_boxes_stay, batches_and_classes_are_apart,
             boxes_without_area_overlap_nothing, random_boxes_are_chosen_as_the_definition_says)
