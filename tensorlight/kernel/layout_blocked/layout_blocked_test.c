// SPDX-License-Identifier: Apache-2.0
// Tests of the changes between planes and blocks of channels: every kernel against the definition,
// bit by bit.

#include "kernel/tl_nn_test.h"

// Around the lengths that kernels take at once: lanes of vectors, strips.
static const int shapes[][4] = {
    {1, 1, 1, 1},   {1, 16, 1, 16},  {1, 3, 5, 7},     {2, 17, 3, 11},  {1, 15, 1, 8},
    {1, 32, 1, 17}, {3, 20, 4, 4},   {1, 5, 32, 33},   {1, 64, 16, 32}, {2, 8, 1, 31},
    {1, 12, 2, 3},  {1, 33, 40, 41}, {1, 3, 100, 100},
};

static float plane_at(const tl_tensor *t, size_t n, int channel, size_t pixel)
{
    const size_t pixels = (size_t)t->dims[2] * t->dims[3];
    return ((float *)t->data)[(n * t->dims[1] + channel) * pixels + pixel];
}

static void check_turn(tl_isa isa, const int *dims)
{
    nn_room room = {.seed = 1};
    const tl_exec exec = {.isa = isa};
    const int blocked_dims[] = {dims[0], tl_blocks(dims[1]), dims[2], dims[3], TL_BLOCK};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 4, dims, -1, 1);
    ((float *)src->data)[src->len / 2] = NAN;
    tl_tensor *const blocked = nn_blank(&room, TL_FLOAT, 5, blocked_dims);
    tl_tensor *const back = nn_blank(&room, TL_FLOAT, 4, dims);
    tl_exec_to_blocked(&exec, src, blocked);
    const size_t pixels = (size_t)dims[2] * dims[3];
    for (size_t i = 0; i < (size_t)blocked->len; i++) {
        const size_t block = i / TL_BLOCK / pixels;
        const int channel = (int)(block % blocked_dims[1] * TL_BLOCK + i % TL_BLOCK);
        const float want = channel < dims[1] ? plane_at(src, block / blocked_dims[1], channel,
                                                        i / TL_BLOCK % pixels)
                                             : 0;
        ck_assert_msg(memcmp(&want, (float *)blocked->data + i, sizeof(want)) == 0,
                      "%s: element %zu of [%d, %d, %d, %d]", tl_isa_name(isa), i, dims[0], dims[1],
                      dims[2], dims[3]);
    }
    tl_exec_from_blocked(&exec, blocked, back);
    ck_assert_mem_eq(back->data, src->data, tl_tensor_size(src));
    nn_close(&room);
}

static void check_bytes(tl_isa isa, const int *dims)
{
    nn_room room = {.seed = 1};
    const tl_exec exec = {.isa = isa};
    const int blocked_dims[] = {dims[0], tl_blocks(dims[1]), dims[2], dims[3], TL_BLOCK};
    const size_t pixels = (size_t)dims[2] * dims[3];
    tl_tensor *const src = nn_random(&room, TL_UINT8, 4, dims, 0, 255);
    tl_tensor *const blocked = nn_blank(&room, TL_UINT8, 5, blocked_dims);
    tl_tensor *const back = nn_blank(&room, TL_UINT8, 4, dims);
    tl_exec_to_blocked(&exec, src, blocked);
    for (size_t i = 0; i < (size_t)blocked->len; i++) {
        const size_t block = i / TL_BLOCK / pixels, n = block / blocked_dims[1];
        const size_t channel = block % blocked_dims[1] * TL_BLOCK + i % TL_BLOCK;
        const size_t from = (n * dims[1] + channel) * pixels + i / TL_BLOCK % pixels;
        const double want = channel < (size_t)dims[1] ? nn_at(src, from) : 0;
        ck_assert_msg(nn_at(blocked, i) == want, "%s: element %zu of [%d, %d, %d, %d]",
                      tl_isa_name(isa), i, dims[0], dims[1], dims[2], dims[3]);
    }
    tl_exec_from_blocked(&exec, blocked, back);
    ck_assert_mem_eq(back->data, src->data, tl_tensor_size(src));
    nn_close(&room);
}

START_TEST(bytes_are_turned_as_floats_are)
{
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes); i++)
            check_bytes(isa, shapes[i]);
}
END_TEST

START_TEST(every_kernel_turns_planes_and_turns_them_back)
{
    TL_ISA_EACH_USABLE (isa)
        for (size_t i = 0; i < NN_LEN(shapes); i++)
            check_turn(isa, shapes[i]);
}
END_TEST

static void run_to(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_to_blocked(exec, arg, dst);
}

static void run_from(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_from_blocked(exec, arg, dst);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 1};
    tl_tensor *const planes = nn_random(&room, TL_FLOAT, 4, (int[]){2, 35, 60, 61}, -1, 1);
    tl_tensor *const blocked = nn_blank(&room, TL_FLOAT, 5, (int[]){2, 3, 60, 61, TL_BLOCK});
    nn_check_threads(run_to, blocked, planes);
    nn_check_threads(run_from, planes, blocked);
    nn_close(&room);
}
END_TEST

LN_TEST_MAIN("blocked", every_kernel_turns_planes_and_turns_them_back,
             bytes_are_turned_as_floats_are, threads_do_not_change_the_result)
