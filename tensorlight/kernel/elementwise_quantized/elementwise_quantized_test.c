// SPDX-License-Identifier: Apache-2.0
// Tests of operations on 8-bit tensors: random lengths, zero points and scales on every instruction
// set against loops, threads, tables.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_quantized.h"

static int between(nn_room *room, int low, int high)
{
    return low + (int)(tl_random_uniform(&room->seed) * (high - low + 1));
}

static float some_factor(nn_room *room)
{
    const float odd[] = {0, -0.5f, INFINITY, NAN, 3e38f, 1e8f};
    if (between(room, 0, 19) == 0)
        return odd[between(room, 0, NN_LEN(odd) - 1)];
    return (float)exp(between(room, -500, 0) / 100.0);
}

static tl_quantized_pair random_pair(nn_room *room)
{
    static const tl_activation acts[] = {
        {TL_ACT_NONE, 0, 0},  {TL_ACT_NONE, 0, 0},      {TL_ACT_RELU, 0, 0},
        {TL_ACT_CLIP, -1, 6}, {TL_ACT_LRELU, 0.25f, 0}, {TL_ACT_HARDSWISH, 1.0f / 6, 0.5f},
    };
    return (tl_quantized_pair){.zeros = {between(room, 0, 255), between(room, 0, 255)},
                               .factors = {some_factor(room), some_factor(room)},
                               .act = acts[between(room, 0, NN_LEN(acts) - 1)],
                               .dst_factor = between(room, 0, 1) ? 1 : some_factor(room),
                               .dst_zero = between(room, 0, 255)};
}

typedef struct pair_case {
    tl_tensor *a, *b;
    tl_quantized_pair pair;
    int is_mul;
} pair_case;

static void run_pair(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const pair_case *const c = arg;
    (c->is_mul ? tl_exec_quantized_mul : tl_exec_quantized_add)(exec, c->a, c->b, dst, &c->pair);
}

static float activated(tl_activation act, float v)
{
    int dim = 1;
    const tl_exec plain = {.isa = TL_ISA_C};
    tl_tensor t = {.dtype = TL_FLOAT, .len = 1, .ndim = 1, .dims = &dim, .data = &v};
    tl_exec_act(&plain, &t, &t, act);
    return v;
}

static double expected(const pair_case *c, int i)
{
    const int plane = c->a->ndim == 5 ? c->a->dims[2] * c->a->dims[3] * TL_BLOCK : 1;
    const int k = c->b->len == c->a->len ? i : i / plane * TL_BLOCK + i % TL_BLOCK;
    const int a = ((const uint8_t *)c->a->data)[i] - c->pair.zeros[0];
    const int b = ((const uint8_t *)c->b->data)[k] - c->pair.zeros[1];
    const float *const f = c->pair.factors;
    float v = c->is_mul ? (float)(a * b) * (f[0] * f[1]) : (float)a * f[0] + (float)b * f[1];
    v = activated(c->pair.act, v) * c->pair.dst_factor;
    const double rounded = (double)rintf(v) + c->pair.dst_zero;
    return rounded > 0 ? fmin(rounded, 255) : 0;
}

static void check_pair(int turn)
{
    nn_room room = {.seed = (uint64_t)turn};
    const int is_flat = between(&room, 0, 1);
    const int images[] = {between(&room, 1, 2), between(&room, 1, 3), between(&room, 1, 7),
                          between(&room, 1, 9), TL_BLOCK};
    const int pixels[] = {images[0], images[1], 1, 1, TL_BLOCK}, flat[] = {between(&room, 1, 400)};
    const int ndim = is_flat ? 1 : 5, *const dims = is_flat ? flat : images;
    const int is_spread = !is_flat && between(&room, 0, 1);
    pair_case c = {.a = nn_random(&room, TL_UINT8, ndim, dims, 0, 255),
                   .b = nn_random(&room, TL_UINT8, ndim, is_spread ? pixels : dims, 0, 255),
                   .pair = random_pair(&room),
                   .is_mul = turn % 2};
    tl_tensor *const dst = nn_blank(&room, TL_UINT8, ndim, dims);
    NN_EACH_ISA(exec)
    {
        memset(dst->data, 0xa5, tl_tensor_size(dst));
        run_pair(&exec, dst, &c);
        for (int i = 0; i < dst->len; i++)
            ck_assert_msg(nn_at(dst, (size_t)i) == expected(&c, i),
                          "turn %d, %s, element %d: %g, expected %g", turn, tl_isa_name(exec.isa),
                          i, nn_at(dst, (size_t)i), expected(&c, i));
    }
    nn_close(&room);
}

START_TEST(sums_and_products_agree_with_loops)
{
    for (int turn = 1; turn <= 2000; turn++)
        check_pair(turn);
}
END_TEST

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 7};
    const int dims[] = {1, 3, 101, 53, TL_BLOCK}, pixels[] = {1, 3, 1, 1, TL_BLOCK};
    pair_case c = {.a = nn_random(&room, TL_UINT8, 5, dims, 0, 255),
                   .b = nn_random(&room, TL_UINT8, 5, pixels, 0, 255),
                   .pair = {.zeros = {3, 130}, .factors = {0.1f, 0.02f}, .dst_factor = 1},
                   .is_mul = 1};
    nn_check_threads(run_pair, nn_blank(&room, TL_UINT8, 5, dims), &c);
    nn_close(&room);
}
END_TEST

START_TEST(a_result_may_take_the_place_of_a_source)
{
    nn_room room = {.seed = 8};
    pair_case c = {.a = nn_random(&room, TL_UINT8, 1, (int[]){1003}, 0, 255),
                   .b = nn_random(&room, TL_UINT8, 1, (int[]){1003}, 0, 255),
                   .pair = {.zeros = {3, 130}, .factors = {0.1f, 0.2f}, .dst_factor = 1}};
    tl_tensor *const dst = nn_blank(&room, TL_UINT8, 1, (int[]){1003});
    run_pair(NULL, dst, &c);
    run_pair(NULL, c.a, &c);
    ck_assert_mem_eq(c.a->data, dst->data, 1003);
    nn_close(&room);
}
END_TEST

START_TEST(each_byte_is_looked_up)
{
    for (int len = 0; len < 700; len += len < 140 ? 1 : 97) {
        nn_room room = {.seed = (uint64_t)len + 1};
        tl_tensor *const table = nn_random(&room, TL_UINT8, 1, (int[]){256}, 0, 255);
        tl_tensor *const src = nn_random(&room, TL_UINT8, 1, &len, 0, 255);
        tl_tensor *const dst = nn_blank(&room, TL_UINT8, 1, &len);
        for (int i = 0; i < len && len > 256; i++)
            ((uint8_t *)src->data)[i] = (uint8_t)i;
        NN_EACH_ISA(exec)
        {
            memset(dst->data, 0xa5, tl_tensor_size(dst));
            tl_exec_quantized_lookup(&exec, src, table, dst);
            for (int i = 0; i < len; i++)
                ck_assert_uint_eq(((uint8_t *)dst->data)[i],
                                  ((uint8_t *)table->data)[((uint8_t *)src->data)[i]]);
        }
        nn_close(&room);
    }
}
END_TEST

LN_TEST_MAIN("elementwise_quantized", sums_and_products_agree_with_loops,
             threads_do_not_change_the_result, a_result_may_take_the_place_of_a_source,
             each_byte_is_looked_up)
