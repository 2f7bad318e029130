// SPDX-License-Identifier: Apache-2.0
// Tests of convolution in blocks: every kernel against the plain one on shapes with all tails,
// sources in planes and in blocks, sums with another tensor, activations, threads.

#include <limits.h>

#include "kernel/tl_nn_test.h"

typedef struct shape {
    int n, ic, ih, iw, oc, kh, kw;
    int stride[2], dilation[2], padding[4];
    int group; // 0: 1
    int is_transposed, output_padding[2];
} shape;

static const shape shapes[] = {
    {1, 16, 5, 7, 16, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},    // a line
    {2, 33, 9, 11, 40, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},   // lanes left over, images
    {1, 1, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},      // the smallest
    {1, 24, 8, 9, 58, 1, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}},    // every second pixel
    {2, 520, 22, 29, 33, 1, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}}, // the same in several units
    {1, 3, 15, 17, 20, 3, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}},   // a first layer
    {1, 3, 31, 29, 17, 7, 7, {2, 2}, {1, 1}, {3, 3, 3, 3}},   // another
    {2, 20, 13, 13, 48, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},  // three blocks
    {1, 64, 56, 56, 64, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},  // several units
    {1, 18, 10, 12, 33, 3, 2, {3, 1}, {2, 3}, {0, 2, 4, 1}},  // all at odds
    {1, 17, 6, 30, 16, 5, 5, {1, 3}, {1, 2}, {2, 4, 2, 4}},   // stride and dilation of columns
    {1, 32, 4, 4, 16, 3, 3, {1, 1}, {1, 1}, {5, 5, 5, 5}},    // more padding than image
    {1, 256, 14, 15, 64, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}}, // lines in several units
    {1, 5, 3, 3, 5, 1, 1, {1, 1}, {1, 1}, {1, 0, 0, 1}},      // 1x1 with padding
    // Units of columns: of one line, of several, of every second one, dilated, 1x1 with stride 3.
    {1, 320, 1, 500, 16, 1, 3, {1, 1}, {1, 1}, {0, 1, 0, 1}},
    {1, 150, 3, 310, 20, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {1, 96, 3, 903, 17, 3, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {1, 320, 2, 300, 16, 1, 3, {2, 1}, {1, 50}, {0, 40, 0, 60}},
    {1, 300, 1, 1500, 5, 1, 1, {2, 3}, {1, 1}, {0, 0, 0, 0}},
    // Taps too far apart for what is between them: of rows, of columns, of both.
    {1, 40, 30, 9, 20, 3, 3, {1, 1}, {31, 1}, {31, 1, 31, 1}},
    {2, 7, 9, 30, 20, 3, 3, {1, 1}, {1, 31}, {1, 31, 1, 31}},
    {1, 520, 11, 15, 33, 3, 2, {1, 1}, {8, 12}, {8, 6, 8, 6}},
    {1, 16, 40, 40, 16, 3, 3, {5, 6}, {2, 1}, {1, 1, 1, 1}},
    // Taps, strides and padding up to where no int counts.
    {1, 16, 1, 1, 1, 2, 2, {1, 1}, {1 << 29, 1 << 30}, {1 << 28, 1 << 29, 1 << 28, 1 << 29}},
    {1, 17, 1, 2, 3, 1, 2, {1, 1}, {1, INT_MAX - 1}, {0, INT_MAX - 2, 0, 0}},
    {1, 3, 2, 2, 16, 4, 1, {1, 1}, {1 << 30, 1}, {INT_MAX, 0, 1 << 30, 0}},
    {1, 16, 2, 3, 16, 2, 2, {INT_MAX, INT_MAX}, {1, 2}, {0, 0, 0, 0}},
    {1, 16, 3, 3, 16, 2, 2, {INT_MAX, 1 << 30}, {1, 1}, {INT_MAX, INT_MAX, INT_MAX, INT_MAX}},
};

static const shape grouped[] = {
    {1, 32, 5, 15, 32, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 8},    // groups within a block
    {1, 32, 2, 100, 32, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 8},   // the same, many tiles a line
    {2, 40, 7, 20, 40, 3, 2, {2, 1}, {1, 2}, {1, 1, 1, 1}, 5},    // of 8
    {1, 24, 3, 9, 24, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 12},    // of 2, two as one
    {1, 26, 3, 9, 26, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, 13},    // of 2, the last alone
    {2, 96, 7, 9, 256, 5, 5, {1, 1}, {1, 1}, {2, 2, 2, 2}, 2},    // of whole blocks
    {1, 48, 6, 8, 72, 3, 1, {2, 1}, {1, 1}, {1, 0, 0, 0}, 3},     // across blocks
    {1, 60, 9, 9, 240, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, 3},    // read in place
    {2, 12, 30, 9, 36, 3, 3, {2, 2}, {1, 2}, {1, 1, 1, 1}, 12},   // several results of a channel
    {1, 26, 5, 5, 13, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 13},    // a result of several channels
    {1, 128, 12, 13, 128, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 4}, // several units
    {1, 64, 1, 4200, 64, 1, 3, {1, 1}, {1, 1}, {0, 1, 0, 1}, 2},  // of columns
};

static const shape transposed[] = {
    {1, 33, 5, 7, 20, 2, 2, {2, 2}, {1, 1}, {0, 0, 0, 0}, 0, 1, {0, 0}},    // of a U-Net
    {2, 16, 6, 9, 33, 4, 4, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, 1, {0, 0}},    // of a generator
    {1, 24, 17, 15, 48, 3, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, 1, {1, 1}},  // taps of four numbers
    {1, 20, 4, 5, 16, 3, 2, {1, 1}, {2, 3}, {1, 0, 2, 1}, 0, 1, {0, 0}},    // no stride
    {1, 18, 5, 4, 19, 2, 3, {3, 4}, {1, 1}, {0, 2, 1, 0}, 0, 1, {2, 1}},    // places without taps
    {2, 17, 4, 3, 16, 3, 4, {2, 3}, {3, 2}, {4, 3, 0, 1}, 0, 1, {1, 0}},    // all at odds
    {1, 16, 1, 1, 32, 4, 4, {1, 1}, {1, 1}, {0, 0, 0, 0}, 0, 1, {0, 0}},    // of one pixel
    {1, 32, 3, 3, 16, 2, 2, {2, 2}, {1, 1}, {-1, -2, -1, 0}, 0, 1, {1, 0}}, // more around it
    {1, 30, 4, 6, 60, 4, 4, {2, 2}, {1, 1}, {1, 1, 1, 1}, 3, 1, {0, 0}},    // groups
    {1, 24, 4, 6, 24, 4, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}, 6, 1, {0, 0}},    // within a block
    {1, 64, 40, 20, 32, 2, 2, {2, 2}, {1, 1}, {0, 0, 0, 0}, 0, 1, {0, 0}},  // several units
    {1, 17, 5, 6, 20, 2, 2, {1, 1}, {31, 31}, {2, 3, 9, 20}, 0, 1, {0, 0}}, // as far as taps may be
};

static tl_tensor *blocked_like(nn_room *room, const tl_tensor *planes)
{
    return nn_blank(room, TL_FLOAT, 5,
                    (int[]){planes->dims[0], tl_blocks(planes->dims[1]), planes->dims[2],
                            planes->dims[3], TL_BLOCK});
}

// The convolution by its kernels in blocks, from blocks or from planes, to planes `dst`.
static void run_blocked(nn_room *room, const tl_exec *exec, const tl_tensor *src,
                        const tl_tensor *weight, const tl_tensor *bias, const tl_tensor *add,
                        tl_tensor *dst, const tl_conv2d_param *param, int lanes, int is_transposed)
{
    tl_tensor *from = (tl_tensor *)src;
    if (lanes == TL_BLOCK) {
        from = blocked_like(room, src);
        tl_exec_to_blocked(exec, src, from);
    }
    tl_tensor *const to = blocked_like(room, dst);
    if (add)
        tl_exec_to_blocked(exec, add, to);
    const int channels[] = {src->dims[1], dst->dims[1]}, group = param->group;
    const size_t row = tl_blocked_conv2d_packed(channels, group, param->size, lanes);
    tl_tensor *const packed =
        nn_blank(room, TL_FLOAT, 2, (int[]){tl_blocks(channels[1]), (int)row});
    if (is_transposed)
        tl_exec_blocked_deconv2d_pack(exec, weight, bias, packed, param);
    else
        tl_exec_blocked_conv2d_pack(exec, weight, bias, packed, group, lanes);
    tl_exec with = *exec;
    with.scratch_size = (is_transposed ? tl_blocked_deconv2d_scratch : tl_blocked_conv2d_scratch)(
        from, to, param, channels, tl_pool_size(exec->pool));
    ln_guard guard;
    with.scratch = ln_guard_alloc(&guard, with.scratch_size);
    (is_transposed ? tl_exec_blocked_deconv2d : tl_exec_blocked_conv2d)(
        &with, from, packed, add ? to : NULL, to, param, channels);
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
    tl_exec_from_blocked(exec, to, dst);
}

// Of two threads, for convolutions alone, and of three, for those that add.
static tl_pool *pools[2];

static void open_pools(void)
{
    for (size_t i = 0; i < NN_LEN(pools); i++)
        pools[i] = tl_pool_create((int)i + 2);
}

static void close_pools(void)
{
    for (size_t i = 0; i < NN_LEN(pools); i++)
        tl_pool_free(pools[i]);
}

// The extent of the result along an axis.
static int length(const shape *s, int axis, int in, int size)
{
    const int stride = s->stride[axis], dilation = s->dilation[axis];
    const int begin = s->padding[axis], end = s->padding[2 + axis];
    return s->is_transposed
               ? tl_deconv2d_length(in, size, stride, dilation, begin, end, s->output_padding[axis])
               : tl_conv2d_length(in, size, stride, dilation, begin, end);
}

static void check_shape(const shape *s, tl_isa isa, int lanes, tl_act act, int adds)
{
    nn_room room = {.seed = 1};
    const tl_conv2d_param param = {
        .group = s->group ? s->group : 1,
        .size = {s->kh, s->kw},
        .stride = {s->stride[0], s->stride[1]},
        .dilation = {s->dilation[0], s->dilation[1]},
        .padding = {s->padding[0], s->padding[1], s->padding[2], s->padding[3]},
        .output_padding = {s->output_padding[0], s->output_padding[1]},
        .act = {act, 0.25f, 0.75f}};
    tl_conv2d_param plain = param;
    plain.act.act = TL_ACT_NONE;
    const int oh = length(s, 0, s->ih, s->kh), ow = length(s, 1, s->iw, s->kw);
    const int dims[] = {s->n, s->oc, oh, ow};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, (int[]){s->n, s->ic, s->ih, s->iw}, -1, 1);
    const int from = s->is_transposed ? s->ic : s->oc, to = s->is_transposed ? s->oc : s->ic;
    tl_tensor *const weight =
        nn_random(&room, TL_FLOAT, 4, (int[]){from, to / param.group, s->kh, s->kw}, -1, 1);
    tl_tensor *const bias = nn_random(&room, TL_FLOAT, 1, (int[]){s->oc}, -1, 1);
    tl_tensor *const add = adds ? nn_random(&room, TL_FLOAT, 4, dims, -1, 1) : NULL;
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 4, dims);
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 4, dims);
    tl_tensor *const threaded = nn_blank(&room, TL_FLOAT, 4, dims);
    const tl_exec reference = {.isa = TL_ISA_C};
    (s->is_transposed ? tl_exec_deconv2d : tl_exec_conv2d)(&reference, src, weight, bias, want,
                                                           &plain);
    if (add)
        tl_exec_elew(&reference, want, add, want, TL_SUM);
    tl_exec_act(&reference, want, want, param.act);
    const tl_exec exec = {.isa = isa};
    run_blocked(&room, &exec, src, weight, bias, add, got, &param, lanes, s->is_transposed);
    const double tolerance = 2e-7 * (s->ic / param.group * s->kh * s->kw + 2);
    for (int i = 0; i < want->len; i++)
        if (!(fabs(nn_at(want, i) - nn_at(got, i)) <= tolerance)) // a check of each takes long
            ck_abort_msg("%s, %d lanes, element %d: %g, expected %g", tl_isa_name(isa), lanes, i,
                         nn_at(got, i), nn_at(want, i));
    const tl_exec several = {.isa = isa, .pool = pools[adds]};
    run_blocked(&room, &several, src, weight, bias, add, threaded, &param, lanes, s->is_transposed);
    ck_assert_int_eq(memcmp(got->data, threaded->data, tl_tensor_size(got)), 0);
    nn_close(&room);
}

START_TEST(every_kernel_agrees_with_the_plain_one)
{
    open_pools();
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes); i++) {
            check_shape(&shapes[i], isa, TL_BLOCK, TL_ACT_NONE, 0);
            check_shape(&shapes[i], isa, 1, TL_ACT_RELU, 1);
            check_shape(&shapes[i], isa, TL_BLOCK, TL_ACT_LRELU, 1);
        }
    close_pools();
}
END_TEST

// A convolution to `oc` channels has the bits of the first ones of one to more, which fill the
// last block; with an activation, also where a tensor is added.
static void check_half(tl_isa isa, int lanes, int oc, int width, tl_act act)
{
    nn_room room = {.seed = 5};
    const int more = tl_blocks(oc) * TL_BLOCK;
    const tl_conv2d_param param = {.group = 1,
                                   .size = {3, 3},
                                   .stride = {1, 1},
                                   .dilation = {1, 1},
                                   .padding = {1, 1, 1, 1},
                                   .act = {.act = act}};
    const tl_exec exec = {.isa = isa};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, (int[]){1, 19, 2, width}, -1, 1);
    tl_tensor *const add = nn_random(&room, TL_FLOAT, 4, (int[]){1, more, 2, width}, -1, 1);
    tl_tensor *const weight = nn_random(&room, TL_FLOAT, 4, (int[]){more, 19, 3, 3}, -1, 1);
    tl_tensor *const bias = nn_random(&room, TL_FLOAT, 1, (int[]){more}, -1, 1);
    const tl_tensor first = {.dtype = TL_FLOAT,
                             .ndim = 4,
                             .dims = (int[]){oc, 19, 3, 3},
                             .len = oc * 19 * 9,
                             .data = weight->data};
    const tl_tensor first_add = {.dtype = TL_FLOAT,
                                 .ndim = 4,
                                 .dims = (int[]){1, oc, 2, width},
                                 .len = oc * 2 * width,
                                 .data = add->data};
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 4, (int[]){1, more, 2, width});
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 4, (int[]){1, oc, 2, width});
    run_blocked(&room, &exec, src, weight, bias, act ? add : NULL, want, &param, lanes, 0);
    run_blocked(&room, &exec, src, &first, bias, act ? &first_add : NULL, got, &param, lanes, 0);
    ck_assert_msg(memcmp(want->data, got->data, tl_tensor_size(got)) == 0,
                  "%s, %d lanes, %d channels, width %d: other bits", tl_isa_name(isa), lanes, oc,
                  width);
    nn_close(&room);
}

START_TEST(half_a_block_has_the_bits_of_a_whole_one)
{
    TL_ISA_EACH_USABLE (isa)
        for (int width = 1; width <= 30; width++)
            for (int oc = 5; oc <= 45; oc += 8) { // 5 and 13 channels of a last block, after 0 to 2
                check_half(isa, TL_BLOCK, oc, width, TL_ACT_NONE);
                check_half(isa, 1, oc, width, TL_ACT_NONE);
                check_half(isa, TL_BLOCK, oc, width, TL_ACT_SILU); // and an addend
            }
}
END_TEST

START_TEST(groups_agree_with_the_plain_ones)
{
    open_pools();
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(grouped); i++)
            check_shape(&grouped[i], isa, TL_BLOCK, TL_ACT_RELU, i % 2);
    close_pools();
}
END_TEST

START_TEST(transposed_convolutions_agree_with_the_plain_ones)
{
    open_pools();
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(transposed); i++)
            check_shape(&transposed[i], isa, TL_BLOCK, i % 3 ? TL_ACT_LRELU : TL_ACT_RELU, i % 2);
    close_pools();
}
END_TEST

START_TEST(every_activation_agrees_with_the_plain_one)
{
    open_pools();
    TL_ISA_EACH_USABLE (isa)
        for (int act = 0; act < TL_ACT_SIZE; act++)
            check_shape(&shapes[1], isa, TL_BLOCK, (tl_act)act, 1);
    close_pools();
}
END_TEST

START_TEST(lanes_beyond_the_channels_do_no_harm)
{
    nn_room room = {.seed = 2};
    const tl_conv2d_param param = {
        .group = 1, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {1, 1, 1, 1}};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 5, (int[]){1, 2, 4, 4, TL_BLOCK}, -1, 1);
    tl_tensor *const poisoned = nn_blank(&room, TL_FLOAT, 5, src->dims);
    tl_exec_copy(NULL, src, poisoned);
    for (int i = 16 * TL_BLOCK; i < src->len; i++)
        if (i % TL_BLOCK >= 3)
            ((float *)poisoned->data)[i] = NAN;
    tl_tensor *const weight = nn_random(&room, TL_FLOAT, 4, (int[]){9, 19, 3, 3}, -1, 1);
    tl_tensor *const packed = nn_blank(
        &room, TL_FLOAT, 2,
        (int[]){1, (int)tl_blocked_conv2d_packed((int[]){19, 9}, 1, param.size, TL_BLOCK)});
    tl_exec_blocked_conv2d_pack(NULL, weight, NULL, packed, 1, TL_BLOCK);
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 5, (int[]){1, 1, 4, 4, TL_BLOCK});
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 5, want->dims);
    tl_exec exec = {.isa = tl_isa_best()};
    exec.scratch_size = tl_blocked_conv2d_scratch(src, want, &param, (int[]){19, 9}, 1);
    exec.scratch = tl_alloc(exec.scratch_size);
    tl_exec_blocked_conv2d(&exec, src, packed, NULL, want, &param, (int[]){19, 9});
    tl_exec_blocked_conv2d(&exec, poisoned, packed, NULL, got, &param, (int[]){19, 9});
    ck_assert_int_eq(memcmp(want->data, got->data, tl_tensor_size(want)), 0);
    tl_free(exec.scratch);
    nn_close(&room);
}
END_TEST

START_TEST(factors_of_channels_become_part_of_the_weights)
{
    nn_room room = {.seed = 3};
    const tl_conv2d_param param = {
        .group = 1, .size = {2, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {0, 1, 1, 1}};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 5, (int[]){1, 2, 5, 4, TL_BLOCK}, -1, 1);
    tl_tensor *const factor = nn_random(&room, TL_FLOAT, 5, (int[]){1, 2, 1, 1, TL_BLOCK}, -2, 2);
    tl_tensor *const weight = nn_random(&room, TL_FLOAT, 4, (int[]){20, 19, 2, 3}, -1, 1);
    tl_tensor *const bias = nn_random(&room, TL_FLOAT, 1, (int[]){20}, -1, 1);
    tl_tensor *const packed = nn_blank(
        &room, TL_FLOAT, 2,
        (int[]){2, (int)tl_blocked_conv2d_packed((int[]){19, 20}, 1, param.size, TL_BLOCK)});
    tl_tensor *const scaled = nn_blank(&room, TL_FLOAT, 2, packed->dims);
    tl_tensor *const product = nn_blank(&room, TL_FLOAT, 5, src->dims);
    tl_tensor *const want = nn_blank(&room, TL_FLOAT, 5, src->dims);
    tl_tensor *const got = nn_blank(&room, TL_FLOAT, 5, src->dims);
    for (int i = 3; i < TL_BLOCK; i++) // of no channel
        ((float *)factor->data)[TL_BLOCK + i] = NAN;
    tl_exec exec = {.isa = tl_isa_best()};
    exec.scratch_size = tl_blocked_conv2d_scratch(src, want, &param, (int[]){19, 20}, 1);
    exec.scratch = tl_alloc(exec.scratch_size);
    tl_exec_blocked_conv2d_pack(NULL, weight, bias, packed, 1, TL_BLOCK);
    tl_exec_blocked_conv2d_scale(NULL, packed, factor, scaled);
    tl_exec_binary(NULL, src, factor, product, TL_BINARY_MUL);
    tl_exec_blocked_conv2d(&exec, product, packed, NULL, want, &param, (int[]){19, 20});
    tl_exec_blocked_conv2d(&exec, src, scaled, NULL, got, &param, (int[]){19, 20});
    // A product of three numbers rounds twice, here of terms of at most 2.
    for (int i = 0; i < want->len; i++)
        ck_assert_double_eq_tol(nn_at(got, i), nn_at(want, i), 2 * 2e-7 * (19 * 6 + 2));
    tl_free(exec.scratch);
    nn_close(&room);
}
END_TEST

START_TEST(without_scratch_memory_it_fails)
{
    nn_room room = {.seed = 4};
    tl_conv2d_param param = {
        .group = 1, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {1, 1, 1, 1}};
    tl_tensor *const x = nn_random(&room, TL_FLOAT, 5, (int[]){1, 1, 2, 2, TL_BLOCK}, -1, 1);
    tl_tensor *const y = nn_blank(&room, TL_FLOAT, 5, x->dims);
    const tl_tensor *const weight = nn_random(&room, TL_FLOAT, 2, (int[]){1, 10 * 256}, -1, 1);
    const int channels[] = {16, 16};
    char memory[64];
    const tl_exec little = {.scratch = memory, .scratch_size = sizeof(memory)};
    ck_assert_int_eq(tl_exec_blocked_conv2d(NULL, x, weight, NULL, y, &param, channels), -1);
    ck_assert_str_eq(tl_last_error(), "0 bytes of scratch memory, expected 1024 for a convolution");
    ck_assert_int_eq(tl_exec_blocked_conv2d(&little, x, weight, NULL, y, &param, channels), -1);
    param = (tl_conv2d_param){.group = 1, .size = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    ck_assert_int_eq(tl_exec_blocked_conv2d(NULL, x, weight, NULL, y, &param, channels), 0);
    nn_close(&room);
}
END_TEST

static const struct window {
    int size[2], stride[2], dilation[2], padding[2], fits;
} windows[] = {
    {{32, 32}, {1, 1}, {1, 1}, {0, 0}, 1},
    {{32, 33}, {1, 1}, {1, 1}, {0, 0}, 0}, // too many taps
    {{1, 1}, {8, 8}, {1, 1}, {0, 0}, 1},
    {{1, 1}, {8, 9}, {1, 1}, {0, 0}, 0}, // too many grids
    {{2, 2}, {1, 1}, {31, 31}, {0, 0}, 1},
    {{2, 2}, {1, 1}, {31, 32}, {0, 0}, 0}, // taps too far apart
    {{2, 2}, {1, 1}, {20000, 20000}, {10000, 10000}, 0},
    {{2, 2}, {2, 4}, {62, 124}, {0, 0}, 1}, // as near as with 31: strides divide distances
    {{1, 2}, {1, 1}, {INT_MAX, 1023}, {0, 0}, 1},
    {{2, 2}, {1, 1}, {INT_MAX, INT_MAX}, {0, 0}, 0},
    {{2, 2}, {2, 2}, {1, 1}, {1 << 20, -(1 << 20)}, 1},
    {{2, 2}, {2, 2}, {1, 1}, {INT_MAX, 0}, 0}, // too much cut off
    {{2, 2}, {2, 2}, {1, 1}, {0, -INT_MAX}, 0},
};

START_TEST(transposed_windows_fit_if_their_taps_are_few_and_near)
{
    for (size_t i = 0; i < NN_LEN(windows); i++) {
        const struct window *const w = &windows[i];
        const tl_conv2d_param param = {.group = 1,
                                       .size = {w->size[0], w->size[1]},
                                       .stride = {w->stride[0], w->stride[1]},
                                       .dilation = {w->dilation[0], w->dilation[1]},
                                       .padding = {w->padding[0], w->padding[1], 0, 0}};
        ck_assert_msg(tl_blocked_deconv2d_fits(&param) == w->fits, "window %zu, expected %d", i,
                      w->fits);
    }
}
END_TEST

// Shapes that one of the ways computed in 0.7 of the other's time or less (Zen 4, AVX-512).
static const struct {
    shape s;
    int pays;
} choices[] = {
    {{1, 4, 100, 100, 4, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 2}, 0},   // half of the sums are of 0
    {{1, 16, 100, 100, 16, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 8}, 1}, // but all lanes of a block
    {{1, 8, 100, 100, 4, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 4}, 0},
    {{1, 4, 100, 100, 4, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, 2}, 0},
    {{1, 32, 100, 100, 16, 5, 5, {1, 1}, {1, 1}, {2, 2, 2, 2}, 16}, 0},
    {{1, 8, 100, 100, 8, 3, 3, {2, 2}, {1, 1}, {1, 1, 1, 1}, 4}, 1}, // plain sums one by one
    {{1, 8, 10, 10, 8, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 2}, 1},   // short rows
    {{1, 64, 100, 100, 64, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 16}, 1},
    {{1, 1, 100, 100, 1, 4, 4, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1, 1, {0, 0}}, 0}, // one lane of 16
    {{1, 4, 100, 100, 4, 4, 4, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1, 1, {0, 0}}, 1},
    {{1, 1, 100, 100, 32, 2, 2, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1, 1, {0, 0}}, 1},
    {{1, 1, 100, 100, 8, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1, 1, {0, 0}}, 1},
    {{1, 64, 100, 100, 1, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1, 1, {0, 0}}, 0},
    {{1, 64, 100, 100, 3, 2, 2, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1, 1, {0, 0}}, 1},
    {{1, 1, 3, 3, 1, 1, 1, {8, 8}, {1, 1}, {0, 0, 0, 0}, 1, 1, {0, 0}}, 0}, // 64 grids of 9 pixels
    {{1, 16, 9, 9, 16, 2, 2, {1, 1}, {1 << 29, 1 << 29}, {0, 0, 0, 0}, 1, 1, {0, 0}}, 0},
};

START_TEST(the_choice_weighs_lanes_taps_and_lines)
{
    for (size_t i = 0; i < NN_LEN(choices); i++) {
        const shape *const s = &choices[i].s;
        const tl_conv2d_param param = {.group = s->group,
                                       .size = {s->kh, s->kw},
                                       .stride = {s->stride[0], s->stride[1]},
                                       .dilation = {s->dilation[0], s->dilation[1]},
                                       .padding = {s->padding[0], s->padding[1]}};
        const int src[] = {s->n, s->ic, s->ih, s->iw};
        const int dst[] = {s->n, s->oc, length(s, 0, s->ih, s->kh), length(s, 1, s->iw, s->kw)};
        const int pays = (s->is_transposed ? tl_blocked_deconv2d_pays
                                           : tl_blocked_conv2d_pays)(src, dst, &param);
        ck_assert_msg(pays == choices[i].pays, "shape %zu, expected %d", i, choices[i].pays);
    }
}
END_TEST

// The scratch memory of one thread for a convolution of [1, c, h, w], padded to the same size.
static size_t scratch_of(int c, int h, int w, int kh, int kw, int dilation, int group)
{
    const tl_conv2d_param param = {
        .group = group, .size = {kh, kw}, .stride = {1, 1}, .dilation = {dilation, dilation}};
    int dims[] = {1, tl_blocks(c), h, w, TL_BLOCK};
    const tl_tensor image = {.ndim = 5, .dims = dims};
    return tl_blocked_conv2d_scratch(&image, &image, &param, (int[]){c, c}, 1);
}

START_TEST(scratch_memory_is_small)
{
    ck_assert_uint_le(scratch_of(512, 1, 32000, 1, 3, 1, 1), 512 * 1024); // long lines
    ck_assert_uint_le(scratch_of(512, 400, 4000, 3, 3, 1, 1), 512 * 1024);
    ck_assert_uint_le(scratch_of(512, 200, 200, 3, 3, 1, 32), 512 * 1024);   // one group at a time
    ck_assert_uint_le(scratch_of(256, 33, 33, 3, 3, 36, 1), 3 * 256 * 1024); // far taps
    // A tile of 14 pixels, whatever the window: 14/16 of a row of weights.
    ck_assert_uint_le(scratch_of(2048, 33, 33, 3, 3, 36, 1), 2048 * 9 * 14 * sizeof(float));
    ck_assert_uint_le(scratch_of(2048, 1, 1, 3, 3, 1 << 29, 1), 2048 * 9 * sizeof(float));
}
END_TEST

START_TEST(scratch_memory_is_planned_for_as_many_threads_as_use_it)
{
    nn_room room = {.seed = 1};
    const tl_tensor *const src = nn_blank(&room, TL_FLOAT, 5, (int[]){1, 2, 5, 5, TL_BLOCK});
    const tl_conv2d_param param = {
        .group = 1, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {1, 1, 1, 1}};
    const size_t one = tl_blocked_conv2d_scratch(src, src, &param, (int[]){19, 19}, 1);
    ck_assert_uint_gt(one, 0);
    ck_assert_uint_eq(tl_blocked_conv2d_scratch(src, src, &param, (int[]){19, 19}, 3), 3 * one);
    ck_assert_uint_eq(tl_blocked_conv2d_scratch(src, src, &param, (int[]){19, 19}, 1000),
                      TL_MAX_SLOTS * one);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("conv_blocked", every_kernel_agrees_with_the_plain_one,
             half_a_block_has_the_bits_of_a_whole_one, groups_agree_with_the_plain_ones,
             transposed_convolutions_agree_with_the_plain_ones,
             every_activation_agrees_with_the_plain_one, lanes_beyond_the_channels_do_no_harm,
             factors_of_channels_become_part_of_the_weights, without_scratch_memory_it_fails,
             transposed_windows_fit_if_their_taps_are_few_and_near,
             the_choice_weighs_lanes_taps_and_lines, scratch_memory_is_small,
             scratch_memory_is_planned_for_as_many_threads_as_use_it)
