// SPDX-License-Identifier: Apache-2.0
// Tests of Winograd's convolution: every kernel and tile size against the plain convolution on
// shapes with all tails, its accuracy, lanes without a channel, threads, and the choice.

#include "kernel/tl_nn_test.h"

static const int sizes[] = {2, 4, 6};

// Growth of magnitudes by the transforms, by tile size: for both axes the largest row of
// |A'| |G| 1 |B'| 1 over the 3 products of a direct sum.
static const double growth[] = {[2] = 7.2, [4] = 69, [6] = 509};

typedef struct shape {
    int n, ic, h, w, oc;
    int padding[4];
} shape;

static const shape shapes[] = {
    {1, 1, 1, 1, 1, {1, 1, 1, 1}},      // one pixel
    {1, 16, 12, 12, 16, {1, 1, 1, 1}},  // whole tiles of any size
    {2, 17, 13, 7, 33, {1, 1, 1, 1}},   // lanes left over, three blocks, images
    {1, 20, 9, 17, 48, {0, 0, 0, 0}},   // no padding
    {1, 5, 8, 5, 18, {2, 0, 1, 2}},     // all different
    {1, 33, 3, 3, 5, {7, 9, 8, 10}},    // more padding than image
    {3, 64, 31, 30, 50, {1, 1, 1, 1}},  // several units, the last one smaller
    {1, 150, 7, 7, 130, {1, 1, 1, 1}},  // units of blocks
    {0, 16, 12, 12, 16, {1, 1, 1, 1}},  // no images
    {1, 33, 61, 133, 16, {1, 1, 1, 1}}, // 253 tiles of 6x6: 17 units of 15
};

static tl_tensor *blocked_like(nn_room *room, const tl_tensor *planes)
{
    return nn_blank(room, TL_FLOAT, 5,
                    (int[]){planes->dims[0], tl_blocks(planes->dims[1]), planes->dims[2],
                            planes->dims[3], TL_BLOCK});
}

// src, which is in blocks, to blocks; add is in planes.
static void run_winograd(nn_room *room, const tl_exec *exec, const tl_tensor *src,
                         const tl_tensor *weight, const tl_tensor *bias, int adds, tl_tensor *dst,
                         const tl_conv2d_param *param, int m)
{
    const int ic = weight->dims[1], blocks = tl_blocks(weight->dims[0]);
    tl_tensor *const packed =
        nn_blank(room, TL_FLOAT, 2, (int[]){blocks, (int)tl_blocked_winograd_packed(ic, m)});
    tl_exec_blocked_winograd_pack(exec, weight, bias, packed, m);
    tl_exec with = *exec;
    with.scratch_size = tl_blocked_winograd_scratch(src, dst, ic, m, tl_pool_size(exec->pool));
    ln_guard guard;
    with.scratch = ln_guard_alloc(&guard, with.scratch_size);
    tl_exec_blocked_winograd(&with, src, packed, adds ? dst : NULL, dst, param, ic, m);
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
}

_Static_assert(TL_ACT_NONE == 0 && TL_ACT_RELU == 1 && TL_ACT_LRELU == 2, "all three are tested");

static void check_shape(const shape *s, tl_isa isa, int m, tl_act act, int adds)
{
    nn_room room = {.seed = 1};
    tl_conv2d_param param = {.group = 1,
                             .size = {3, 3},
                             .stride = {1, 1},
                             .dilation = {1, 1},
                             .act = {TL_ACT_NONE, 0.25f, 0.75f}};
    memcpy(param.padding, s->padding, sizeof(param.padding));
    const int dims[] = {s->n, s->oc, s->h + s->padding[0] + s->padding[2] - 2,
                        s->w + s->padding[1] + s->padding[3] - 2};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, (int[]){s->n, s->ic, s->h, s->w}, -1, 1);
    tl_tensor *const weight = nn_random(&room, TL_FLOAT, 4, (int[]){s->oc, s->ic, 3, 3}, -1, 1);
    tl_tensor *const bias = nn_random(&room, TL_FLOAT, 1, (int[]){s->oc}, -1, 1);
    tl_tensor *const add = nn_random(&room, TL_FLOAT, 4, dims, -1, 1);
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 4, dims);
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 4, dims);
    const tl_exec reference = {.isa = TL_ISA_C};
    tl_exec_conv2d(&reference, src, weight, bias, want, &param);
    if (adds)
        tl_exec_elew(&reference, want, add, want, TL_SUM);
    param.act.act = act;
    tl_exec_act(&reference, want, want, param.act);
    tl_tensor *const from = blocked_like(&room, src), *const to = blocked_like(&room, want);
    tl_tensor *const threaded = blocked_like(&room, want);
    const tl_exec exec = {.isa = isa}, three = {.isa = isa, .pool = tl_pool_create(3)};
    tl_exec_to_blocked(&exec, src, from);
    tl_exec_to_blocked(&exec, add, to);
    tl_exec_to_blocked(&exec, add, threaded);
    run_winograd(&room, &exec, from, weight, bias, adds, to, &param, m);
    run_winograd(&room, &three, from, weight, bias, adds, threaded, &param, m);
    ck_assert_int_eq(memcmp(to->data, threaded->data, tl_tensor_size(to)), 0);
    tl_pool_free(three.pool);
    tl_exec_from_blocked(&exec, to, got);
    // Each of ic * 9 products, and what becomes of it, is rounded about once.
    const double tolerance = 6e-8 * growth[m] * (s->ic * 9 + 2);
    for (int i = 0; i < want->len; i++)
        ck_assert_msg(fabs(nn_at(want, i) - nn_at(got, i)) <= tolerance,
                      "%s, m = %d, element %d: %g, expected %g", tl_isa_name(isa), m, i,
                      nn_at(got, i), nn_at(want, i));
    nn_close(&room);
}

START_TEST(every_kernel_agrees_with_the_plain_convolution)
{
    TL_ISA_EACH_USABLE (isa)
        for (size_t k = 0; k < NN_LEN(sizes); k++)
            for (size_t i = 0; i < NN_LEN(shapes); i++)
                check_shape(&shapes[i], isa, sizes[k], (tl_act)(i % 3), i % 3 > 0);
}
END_TEST

static const tl_conv2d_param padded = {
    .group = 1, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {1, 1, 1, 1}};

// The largest error over the largest result, against sums in double.
static double relative_error(tl_isa isa, int m, int channels, double lo)
{
    nn_room room = {.seed = 3};
    const int n = 12, dims[] = {1, channels, n, n};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, dims, lo, 1);
    tl_tensor *const weight = nn_random(&room, TL_FLOAT, 4, (int[]){16, channels, 3, 3}, -1, 1);
    tl_tensor *const doubles = nn_blank(&room, TL_DOUBLE, 4, dims);
    tl_tensor *const weights = nn_blank(&room, TL_DOUBLE, 4, weight->dims);
    tl_tensor *const want = nn_blank(&room, TL_DOUBLE, 4, (int[]){1, 16, n, n});
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 4, want->dims);
    tl_convert_array(doubles->data, TL_DOUBLE, src->data, TL_FLOAT, (size_t)src->len);
    tl_convert_array(weights->data, TL_DOUBLE, weight->data, TL_FLOAT, (size_t)weight->len);
    tl_exec_conv2d(NULL, doubles, weights, NULL, want, &padded);
    tl_tensor *const from = blocked_like(&room, src), *const to = blocked_like(&room, got);
    const tl_exec exec = {.isa = isa};
    tl_exec_to_blocked(&exec, src, from);
    run_winograd(&room, &exec, from, weight, NULL, 0, to, &padded, m);
    tl_exec_from_blocked(&exec, to, got);
    double worst = 0, largest = 0;
    for (int i = 0; i < want->len; i++) {
        worst = fmax(worst, fabs(nn_at(want, i) - nn_at(got, i)));
        largest = fmax(largest, fabs(nn_at(want, i)));
    }
    nn_close(&room);
    return worst / largest;
}

START_TEST(the_error_is_as_small_as_the_header_says)
{
    static const double max[] = {[2] = 1e-6, [4] = 4e-6, [6] = 2e-5};
    TL_ISA_EACH_USABLE (isa)
        for (size_t k = 0; k < NN_LEN(sizes); k++)
            for (int channels = 32; channels <= 512; channels *= 4)
                for (int lo = -1; lo <= 0; lo++) {
                    const double error = relative_error(isa, sizes[k], channels, lo);
                    ck_assert_msg(error < max[sizes[k]], "%s, m = %d, %d channels: %g",
                                  tl_isa_name(isa), sizes[k], channels, error);
                }
}
END_TEST

START_TEST(lanes_beyond_the_channels_do_no_harm)
{
    nn_room room = {.seed = 2};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 5, (int[]){1, 2, 5, 5, TL_BLOCK}, -1, 1);
    tl_tensor *const poisoned = nn_blank(&room, TL_FLOAT, 5, src->dims);
    tl_exec_copy(NULL, src, poisoned);
    for (int i = 25 * TL_BLOCK; i < src->len; i++)
        if (i % TL_BLOCK >= 3)
            ((float *)poisoned->data)[i] = NAN;
    tl_tensor *const weight = nn_random(&room, TL_FLOAT, 4, (int[]){9, 19, 3, 3}, -1, 1);
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 5, (int[]){1, 1, 5, 5, TL_BLOCK});
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 5, want->dims);
    const tl_exec exec = {.isa = tl_isa_best()};
    for (size_t k = 0; k < NN_LEN(sizes); k++) {
        run_winograd(&room, &exec, src, weight, NULL, 0, want, &padded, sizes[k]);
        run_winograd(&room, &exec, poisoned, weight, NULL, 0, got, &padded, sizes[k]);
        ck_assert_int_eq(memcmp(want->data, got->data, tl_tensor_size(want)), 0);
    }
    nn_close(&room);
}
END_TEST

// The choice for a square image.
static int best(int ic, int n, int oc, const tl_conv2d_param *param)
{
    return tl_blocked_conv2d_best((int[]){1, ic, n, n}, (int[]){1, oc, n, n}, param);
}

START_TEST(the_measured_choice_is_the_fastest)
{
    tl_pool *const pool = tl_pool_create(2);
    const int dims[4] = {1, 20, 15, 15}, none[4] = {0, 20, 15, 15};
    static const double handicap[] = {1, 1, 1, 1 / 0.95}; // 6x6 errs most
    TL_ISA_EACH_USABLE (isa) {
        const tl_exec exec = {.pool = pool, .isa = isa};
        double seconds[TL_BLOCKED_CONV2D_WAYS];
        const int m = tl_blocked_conv2d_measure(&exec, dims, dims, &padded, 1 << 20, seconds);
        ck_assert(m == 0 || m == 2 || m == 4 || m == 6);
        for (int way = 0; way < TL_BLOCKED_CONV2D_WAYS; way++) {
            ck_assert_double_gt(seconds[way], 0);
            ck_assert_double_le(seconds[m / 2] * handicap[m / 2] * (1 - 1e-12),
                                seconds[way] * handicap[way]);
        }
        ck_assert_int_ge(tl_blocked_conv2d_measure(&exec, none, none, &padded, 0, seconds), 0);
    }
    tl_pool_free(pool);
}
END_TEST

START_TEST(the_choice_weighs_multiplications_transforms_and_weights)
{
    ck_assert_int_eq(best(64, 224, 64, &padded), 6);  // large images: the largest tiles
    ck_assert_int_eq(best(256, 14, 256, &padded), 4); // 14 = 3 * 4 + 2 wastes less than 3 * 6
    ck_assert_int_eq(best(256, 1, 256, &padded), 0);  // a tile would be mostly thrown away
    ck_assert_int_eq(best(1, 64, 16, &padded), 0);    // one channel is not worth a transform
    tl_conv2d_param other = padded;
    other.stride[1] = 2;
    ck_assert_int_eq(best(64, 224, 64, &other), 0);
    other = padded;
    other.dilation[0] = 2;
    ck_assert_int_eq(best(64, 224, 64, &other), 0);
    other = padded;
    other.size[0] = 5;
    ck_assert_int_eq(best(64, 224, 64, &other), 0);
}
END_TEST

START_TEST(without_scratch_memory_it_fails)
{
    nn_room room = {.seed = 4};
    tl_tensor *const x = nn_random(&room, TL_FLOAT, 5, (int[]){1, 1, 2, 2, TL_BLOCK}, -1, 1);
    tl_tensor *const y = nn_blank(&room, TL_FLOAT, 5, x->dims);
    const tl_tensor *const weight =
        nn_random(&room, TL_FLOAT, 2, (int[]){1, (int)tl_blocked_winograd_packed(16, 2)}, -1, 1);
    ck_assert_int_eq(tl_exec_blocked_winograd(NULL, x, weight, NULL, y, &padded, 16, 2), -1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "0 bytes of scratch memory, expected "));
    nn_close(&room);
}
END_TEST

START_TEST(scratch_memory_is_planned_for_as_many_threads_as_use_it)
{
    nn_room room = {.seed = 1};
    const tl_tensor *const src = nn_blank(&room, TL_FLOAT, 5, (int[]){1, 2, 5, 5, TL_BLOCK});

    const size_t one = tl_blocked_winograd_scratch(src, src, 19, 4, 1);
    ck_assert_uint_gt(one, 0);
    ck_assert_uint_eq(tl_blocked_winograd_scratch(src, src, 19, 4, 3), 3 * one);
    ck_assert_uint_eq(tl_blocked_winograd_scratch(src, src, 19, 4, 1000), TL_MAX_SLOTS * one);
    nn_close(&room);
}
END_TEST

START_TEST(scratch_memory_of_a_batch_is_enough_for_fewer_images)
{
    static const int extents[] = {1, 7, 14, 28, 40, 90};
    for (size_t i = 0; i < sizeof(extents) / sizeof(extents[0]); i++) {
        nn_room room = {.seed = 1};
        tl_tensor *const src = nn_blank(&room, TL_FLOAT, 5, (int[]){300, 4, 1, 1, TL_BLOCK});
        src->dims[2] = src->dims[3] = extents[i]; // nothing is read
        const size_t max = tl_blocked_winograd_batch_scratch(src, src, 64, 4, 2);
        for (int n = 300; n >= 0; n--) {
            src->dims[0] = n;
            ck_assert_uint_le(tl_blocked_winograd_scratch(src, src, 64, 4, 2), max);
        }
        nn_close(&room);
    }
}
END_TEST

LN_TEST_MAIN("winograd", every_kernel_agrees_with_the_plain_convolution,
             the_error_is_as_small_as_the_header_says, lanes_beyond_the_channels_do_no_harm,
             the_measured_choice_is_the_fastest,
             the_choice_weighs_multiplications_transforms_and_weights,
             without_scratch_memory_it_fails,
             scratch_memory_is_planned_for_as_many_threads_as_use_it,
             scratch_memory_of_a_batch_is_enough_for_fewer_images)
