// SPDX-License-Identifier: Apache-2.0
// Tests of channels picked in blocks: every kernel against the definition, bit by bit.

#include "kernel/tl_nn_test.h"

enum { MAX_SRCS = 5, MAX_CHANNELS = 300 };

typedef struct pick {
    int n_srcs, channels[MAX_SRCS];
    int n, h, w;
    int n_map, map[MAX_CHANNELS];
    tl_tensor *srcs[MAX_SRCS];
} pick;

// Channel `c` of image n at a pixel: a number that says what it is; lanes beyond are NaN.
static float value_of(const pick *p, int n, int c, int pixel)
{
    return (float)((n * MAX_CHANNELS + c) * p->h * p->w + pixel);
}

static tl_tensor *source(nn_room *room, const pick *p, int s, int first)
{
    tl_tensor *const t =
        nn_blank(room, TL_FLOAT, 5, (int[]){p->n, tl_blocks(p->channels[s]), p->h, p->w, TL_BLOCK});
    for (int i = 0; i < t->len; i++) {
        const int pixel = i / TL_BLOCK % (p->h * p->w), block = i / TL_BLOCK / (p->h * p->w);
        const int c = block % t->dims[1] * TL_BLOCK + i % TL_BLOCK;
        ((float *)t->data)[i] =
            c < p->channels[s] ? value_of(p, block / t->dims[1], first + c, pixel) : NAN;
    }
    return t;
}

static tl_tensor *prepare(nn_room *room, pick *p)
{
    int first = 0;
    for (int s = 0; s < p->n_srcs; first += p->channels[s++])
        p->srcs[s] = source(room, p, s, first);
    return nn_blank(room, TL_FLOAT, 5, (int[]){p->n, tl_blocks(p->n_map), p->h, p->w, TL_BLOCK});
}

static void run_pick(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    const pick *const p = arg;
    tl_exec_blocked_pick(exec, p->n_srcs, (const tl_tensor *const *)p->srcs, p->channels, p->map,
                         p->n_map, dst);
}

static void check_pick(pick p, tl_isa isa)
{
    nn_room room = {0};
    const tl_exec exec = {.isa = isa};
    tl_tensor *const dst = prepare(&room, &p);
    tl_tensor *const planes = nn_blank(&room, TL_FLOAT, 4, (int[]){p.n, p.n_map, p.h, p.w});
    run_pick(&exec, dst, &p);
    tl_exec_from_blocked(NULL, dst, planes);
    const int pixels = p.h * p.w;
    for (int i = 0; i < planes->len; i++) {
        const int c = i / pixels % p.n_map, n = i / pixels / p.n_map;
        const double want = (double)value_of(&p, n, p.map[c], i % pixels);
        ck_assert_msg(nn_at(planes, (size_t)i) == want,
                      "%s: image %d, channel %d, pixel %d: %g, expected %g", tl_isa_name(isa), n, c,
                      i % pixels, nn_at(planes, (size_t)i), want);
    }
    if (isa == tl_isa_best())
        nn_check_threads(run_pick, dst, &p);
    nn_close(&room);
}

// The low bytes of the same numbers, by the same pick.
static void check_bytes(pick p, tl_isa isa)
{
    nn_room room = {0}, bytes = {0};
    const tl_exec exec = {.isa = isa};
    tl_tensor *const dst = prepare(&room, &p);
    run_pick(&exec, dst, &p);
    for (int s = 0; s < p.n_srcs; s++) {
        tl_tensor *const src = nn_blank(&bytes, TL_UINT8, 5, p.srcs[s]->dims);
        for (int i = 0; i < src->len; i++) {
            const float x = ((const float *)p.srcs[s]->data)[i];
            ((uint8_t *)src->data)[i] = x == x ? (uint8_t)(int)x : 0xa5;
        }
        p.srcs[s] = src;
    }
    tl_tensor *const got = nn_blank(&bytes, TL_UINT8, 5, dst->dims);
    run_pick(&exec, got, &p);
    for (int i = 0; i < got->len; i++) {
        const int block = i / TL_BLOCK / (p.h * p.w) % dst->dims[1];
        if (block * TL_BLOCK + i % TL_BLOCK < p.n_map)
            ck_assert_msg(((const uint8_t *)got->data)[i] ==
                              (uint8_t)(int)((const float *)dst->data)[i],
                          "%s: element %d", tl_isa_name(isa), i);
    }
    nn_close(&room);
    nn_close(&bytes);
}

static void check_levels(const pick *p)
{
    TL_ISA_EACH_USABLE (isa) {
        check_pick(*p, isa);
        check_bytes(*p, isa);
    }
}

START_TEST(a_concatenation_is_picked)
{
    pick p = {4, {58, 3, 16, 20}, .n = 2, .h = 3, .w = 7, .n_map = 97};
    for (int i = 0; i < p.n_map; i++)
        p.map[i] = i;
    check_levels(&p);
}
END_TEST

START_TEST(a_shuffle_and_its_halves_are_picked)
{
    for (int half = 0; half < 2; half++) {
        pick p = {2, {58, 58}, .n = 1, .h = 28, .w = 28, .n_map = 58};
        for (int i = 0; i < p.n_map; i++)
            p.map[i] = (half * 58 + i) / 2 + (half * 58 + i) % 2 * 58;
        check_levels(&p);
    }
}
END_TEST

START_TEST(whole_blocks_are_picked)
{
    pick p = {2, {48, 17}, .n = 2, .h = 5, .w = 5, .n_map = 33};
    for (int i = 0; i < p.n_map; i++)
        p.map[i] = i + 32; // a block, and what is there of the next
    check_levels(&p);
}
END_TEST

START_TEST(any_order_and_any_repetition_is_picked)
{
    pick p = {5, {1, 40, 16, 100, 9}, .n = 1, .h = 1, .w = 3, .n_map = 211};
    for (int i = 0; i < p.n_map; i++)
        p.map[i] = i * i * 31 % 166;
    check_levels(&p);
    p.n_map = 1;
    p.map[0] = 165;
    check_levels(&p);
}
END_TEST

LN_TEST_MAIN("channels_blocked", a_concatenation_is_picked, a_shuffle_and_its_halves_are_picked,
             whole_blocks_are_picked, any_order_and_any_repetition_is_picked)
