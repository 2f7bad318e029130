// SPDX-License-Identifier: Apache-2.0
// Tests of convolutions of bfloat16 in blocks: sums against a double-precision loop over the
// rounded numbers, results and addends of 16 bits against those of floats, to the bit.

#include "kernel/tl_nn_test.h"
#include "tensor/tl_convert.h"

typedef struct shape {
    int n, ic, ih, iw, oc, kh, kw;
    int stride[2], dilation[2], padding[4];
} shape;

static const shape shapes[] = {
    {1, 16, 5, 7, 16, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},     // a line
    {2, 34, 9, 11, 40, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},    // lanes left over, images
    {1, 2, 1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},       // the smallest
    {1, 24, 8, 9, 58, 1, 1, {2, 2}, {1, 1}, {0, 0, 0, 0}},     // every second pixel
    {1, 64, 30, 28, 33, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}},   // tiles of 14 pixels
    {1, 18, 10, 12, 33, 3, 2, {3, 1}, {2, 3}, {0, 2, 4, 1}},   // all at odds
    {1, 250, 14, 15, 64, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},  // lines in several units
    {1, 320, 1, 300, 16, 1, 3, {1, 1}, {1, 1}, {0, 1, 0, 1}},  // units of columns
    {1, 40, 30, 9, 20, 3, 3, {1, 1}, {31, 1}, {31, 1, 31, 1}}, // taps far from each other
    {1, 80, 5, 45, 48, 1, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}},    // an odd number of whole blocks
    {1, 48, 6, 37, 40, 5, 5, {2, 2}, {1, 1}, {2, 2, 2, 2}},    // pairs of taps, and single ones
};

static tl_tensor *blocked_of(nn_room *room, const tl_tensor *planes, tl_dtype dtype)
{
    const int *const d = planes->dims;
    const int dims[] = {d[0], tl_blocks(d[1]), d[2], d[3], TL_BLOCK};
    tl_tensor *const floats = nn_blank(room, TL_FLOAT, 5, dims);
    tl_exec_to_blocked(NULL, planes, floats);
    if (dtype == TL_FLOAT)
        return floats;
    tl_tensor *const halves = nn_blank(room, dtype, 5, dims);
    tl_exec_cast(NULL, floats, halves);
    return halves;
}

// Random numbers that bfloat16 has.
static tl_tensor *rounded(nn_room *room, const int *dims)
{
    tl_tensor *const t = nn_random(room, TL_FLOAT, 4, dims, -1, 1);
    float *const values = t->data;
    for (int i = 0; i < t->len; i++)
        values[i] = tl_bfloat_to_float(tl_bfloat_from_float(values[i]));
    return t;
}

// A convolution's tensors: in planes, and in blocks.
typedef struct layer {
    nn_room room;
    tl_conv2d_param param;
    int channels[2], dims[4];
    tl_tensor *src, *weight, *bias, *add;
    tl_tensor *blocks, *packed;
} layer;

// Of bfloat16, or of floats.
static void open_layer(layer *l, const shape *s, uint64_t seed, tl_dtype dtype)
{
    *l = (layer){.room = {.seed = seed},
                 .param = {.group = 1,
                           .size = {s->kh, s->kw},
                           .stride = {s->stride[0], s->stride[1]},
                           .dilation = {s->dilation[0], s->dilation[1]},
                           .padding = {s->padding[0], s->padding[1], s->padding[2], s->padding[3]}},
                 .channels = {s->ic, s->oc},
                 .dims = {s->n, s->oc}};
    const int in[] = {s->ih, s->iw};
    for (int i = 0; i < 2; i++)
        l->dims[2 + i] = tl_conv2d_length(in[i], l->param.size[i], s->stride[i], s->dilation[i],
                                          s->padding[i], s->padding[2 + i]);
    l->src = rounded(&l->room, (int[]){s->n, s->ic, s->ih, s->iw});
    l->weight = rounded(&l->room, (int[]){s->oc, s->ic, s->kh, s->kw});
    l->bias = nn_random(&l->room, TL_FLOAT, 1, (int[]){s->oc}, -1, 1);
    l->add = rounded(&l->room, l->dims);
    l->blocks = blocked_of(&l->room, l->src, dtype);
    const size_t row = dtype == TL_FLOAT
                           ? tl_blocked_conv2d_packed(l->channels, 1, l->param.size, TL_BLOCK)
                           : tl_blocked_conv2d_packed_pairs(s->ic, l->param.size);
    l->packed = nn_blank(&l->room, dtype, 2, (int[]){tl_blocks(s->oc), (int)row});
    tl_exec_blocked_conv2d_pack(NULL, l->weight, l->bias, l->packed, 1, TL_BLOCK);
}

// Runs it to results of `dtype` in blocks; `add` is in blocks or NULL.
static tl_tensor *run_layer(layer *l, const tl_exec *exec, const tl_tensor *add, tl_dtype dtype)
{
    tl_tensor *const dst =
        nn_blank(&l->room, dtype, 5,
                 (int[]){l->dims[0], tl_blocks(l->dims[1]), l->dims[2], l->dims[3], TL_BLOCK});
    tl_exec with = *exec;
    with.scratch_size =
        tl_blocked_conv2d_scratch(l->blocks, dst, &l->param, l->channels, tl_pool_size(exec->pool));
    ln_guard guard;
    with.scratch = ln_guard_alloc(&guard, with.scratch_size);
    ck_assert_int_eq(
        tl_exec_blocked_conv2d(&with, l->blocks, l->packed, add, dst, &l->param, l->channels), 0);
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
    return dst;
}

// A sum in double, and that of its terms' magnitudes.
typedef struct sum {
    double value, magnitude;
} sum;

static void add_term(sum *s, double term)
{
    s->value += term;
    s->magnitude += fabs(term);
}

// Element [n, o, y, x] of the result.
static sum sum_at(const layer *l, int n, int o, int y, int x)
{
    const int *const in = l->src->dims, *const size = l->param.size;
    sum s = {0, 0};
    add_term(&s, nn_at(l->bias, (size_t)o));
    for (int c = 0; c < in[1]; c++)
        for (int i = 0; i < size[0]; i++)
            for (int k = 0; k < size[1]; k++) {
                const int sy =
                    y * l->param.stride[0] + i * l->param.dilation[0] - l->param.padding[0];
                const int sx =
                    x * l->param.stride[1] + k * l->param.dilation[1] - l->param.padding[1];
                if (sy < 0 || sy >= in[2] || sx < 0 || sx >= in[3])
                    continue;
                const size_t from = (((size_t)n * in[1] + c) * in[2] + sy) * in[3] + sx;
                const size_t w = (((size_t)o * in[1] + c) * size[0] + i) * size[1] + k;
                add_term(&s, nn_at(l->src, from) * nn_at(l->weight, w));
            }
    return s;
}

// The terms are exact in floats, and each of the additions rounds by at most a unit of what the
// magnitudes add up to.
static void check_sums(const layer *l, const tl_tensor *got, int adds, tl_isa isa)
{
    const int *const d = l->dims;
    const double n_terms = l->channels[0] * l->param.size[0] * l->param.size[1] + 2;
    size_t at = 0;
    for (int n = 0; n < d[0]; n++)
        for (int o = 0; o < d[1]; o++)
            for (int y = 0; y < d[2]; y++)
                for (int x = 0; x < d[3]; x++, at++) {
                    sum s = sum_at(l, n, o, y, x);
                    if (adds)
                        add_term(&s, nn_at(l->add, at));
                    const double tolerance = n_terms * FLT_EPSILON / 2 * s.magnitude;
                    if (!(fabs(nn_at(got, at) - s.value) <= tolerance))
                        ck_abort_msg("%s, element %zu: %.9g, expected %.9g, tolerance %.3g",
                                     tl_isa_name(isa), at, nn_at(got, at), s.value, tolerance);
                }
}

static tl_pool *pool; // of two threads

static void check_shape(const shape *s, uint64_t seed, tl_isa isa, int adds)
{
    layer l;
    open_layer(&l, s, seed, TL_BFLOAT16);
    const tl_exec one = {.isa = isa}, two = {.isa = isa, .pool = pool};
    tl_tensor *const add = adds ? blocked_of(&l.room, l.add, TL_FLOAT) : NULL;
    const tl_tensor *const got = run_layer(&l, &one, add, TL_FLOAT);
    const tl_tensor *const threaded = run_layer(&l, &two, add, TL_FLOAT);
    ck_assert_int_eq(memcmp(got->data, threaded->data, tl_tensor_size(got)), 0);
    if (tl_isa_contains(isa, TL_ISA_AMXBF16)) { // computes the bits of tiles in plain C
        const tl_tensor *const plain =
            run_layer(&l, &(tl_exec){.isa = TL_ISA_TILES}, add, TL_FLOAT);
        ck_assert_int_eq(memcmp(got->data, plain->data, tl_tensor_size(got)), 0);
    }
    tl_tensor *const planes = nn_blank(&l.room, TL_FLOAT, 4, l.dims);
    tl_exec_from_blocked(NULL, got, planes);
    check_sums(&l, planes, adds, isa);
    nn_close(&l.room);
}

// Sets with kernels for pairs.
static int has_pairs(tl_isa isa)
{
    return isa == TL_ISA_C || isa == TL_ISA_AVX512BF16 || isa == TL_ISA_AMXBF16 ||
           isa == TL_ISA_TILES;
}

START_TEST(sums_agree_with_those_in_double)
{
    pool = tl_pool_create(2);
    NN_EACH_TILED(isa)
    for (size_t i = 0; i < NN_LEN(shapes) && has_pairs(isa); i++)
        check_shape(&shapes[i], i + 1, isa, i % 2);
    tl_pool_free(pool);
    NN_CHECK_AMX();
}
END_TEST

static int from_to(uint64_t *seed, int min, int max)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return min + (int)((*seed >> 33) % (unsigned)(max - min + 1));
}

static shape random_shape(uint64_t *seed)
{
    shape s = {.n = from_to(seed, 1, 2),
               .ic =
                   from_to(seed, 0, 1) ? 2 * from_to(seed, 1, 25) : TL_BLOCK * from_to(seed, 1, 5),
               .oc = from_to(seed, 1, 50),
               .kh = from_to(seed, 1, 3),
               .kw = from_to(seed, 1, 4)};
    for (int i = 0; i < 2; i++) {
        s.stride[i] = from_to(seed, 1, 3);
        s.dilation[i] = from_to(seed, 1, 2);
        s.padding[i] = from_to(seed, 0, 3);
        s.padding[2 + i] = from_to(seed, 0, 3);
    }
    // At least as large as the window.
    s.ih = from_to(seed, (s.kh - 1) * s.dilation[0] + 1, 10);
    s.iw = from_to(seed, (s.kw - 1) * s.dilation[1] + 1, from_to(seed, 0, 3) ? 20 : 60);
    return s;
}

START_TEST(random_shapes_agree_with_sums_in_double)
{
    uint64_t seed = 15;
    pool = tl_pool_create(2);
    for (int i = 0; i < 300; i++) {
        const shape s = random_shape(&seed);
        NN_EACH_TILED(isa)
        if (has_pairs(isa))
            check_shape(&s, seed, isa, i % 2);
    }
    tl_pool_free(pool);
}
END_TEST

// Whether `got` has the bits of `want`, or is 0 for a subnormal number.
static int is_rounded(uint16_t got, uint16_t want)
{
    const int is_subnormal = (want & 0x7f80) == 0;
    return got == want || (is_subnormal && (got & 0x7fff) == 0);
}

// Results and addends of bfloat16 are those of floats, rounded once and widened.
static void check_types(tl_isa isa, int channels, tl_dtype dtype, tl_act act)
{
    const shape s = {1, channels, 7, 33, 40, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}};
    layer l;
    open_layer(&l, &s, 7, dtype);
    l.param.act = (tl_activation){act, 0.25f, 0.75f};
    const tl_exec exec = {.isa = isa};
    tl_tensor *const wide = blocked_of(&l.room, l.add, TL_FLOAT);
    tl_tensor *const narrow = nn_blank(&l.room, TL_BFLOAT16, 5, wide->dims);
    tl_exec_cast(NULL, wide, narrow);
    const tl_tensor *const floats = run_layer(&l, &exec, wide, TL_FLOAT);
    const tl_tensor *const same = run_layer(&l, &exec, narrow, TL_FLOAT);
    ck_assert_int_eq(memcmp(floats->data, same->data, tl_tensor_size(floats)), 0);
    tl_tensor *const want = nn_blank(&l.room, TL_BFLOAT16, 5, wide->dims);
    tl_exec_cast(NULL, floats, want);
    const tl_tensor *const got = run_layer(&l, &exec, narrow, TL_BFLOAT16);
    for (int i = 0; i < want->len; i++)
        ck_assert_msg(is_rounded(((uint16_t *)got->data)[i], ((uint16_t *)want->data)[i]),
                      "%s, %s, %s: %g, expected %g", tl_isa_name(isa), tl_dtype_name(dtype),
                      tl_act_name(act), nn_at(got, (size_t)i), nn_at(want, (size_t)i));
    nn_close(&l.room);
}

START_TEST(results_of_16_bits_are_rounded_once)
{
    NN_EACH_TILED(isa)
    for (int act = 0; act < TL_ACT_SIZE; act++) {
        check_types(isa, 18, TL_FLOAT, (tl_act)act);
        check_types(isa, 18, TL_BFLOAT16, (tl_act)act);
        check_types(isa, 32, TL_BFLOAT16, (tl_act)act);
    }
}
END_TEST

START_TEST(lanes_beyond_the_channels_do_no_harm)
{
    static const shape s = {1, 18, 4, 4, 9, 3, 3, {1, 1}, {1, 1}, {1, 1, 1, 1}};
    layer l;
    open_layer(&l, &s, 2, TL_BFLOAT16);
    const tl_exec exec = {.isa = tl_isa_best()};
    const tl_tensor *const want = run_layer(&l, &exec, NULL, TL_FLOAT);
    for (int i = 16 * TL_BLOCK; i < l.blocks->len; i++)
        if (i % TL_BLOCK >= 2)
            ((uint16_t *)l.blocks->data)[i] = 0x7fc0; // NaN
    const tl_tensor *const got = run_layer(&l, &exec, NULL, TL_FLOAT);
    ck_assert_int_eq(memcmp(want->data, got->data, tl_tensor_size(want)), 0);
    nn_close(&l.room);
}
END_TEST

LN_TEST_MAIN("conv_blocked_pairs", sums_agree_with_those_in_double,
             random_shapes_agree_with_sums_in_double, results_of_16_bits_are_rounded_once,
             lanes_beyond_the_channels_do_no_harm)
