// SPDX-License-Identifier: Apache-2.0
// Tests of 8-bit convolutions by Winograd's algorithm: each kernel against loops of 64-bit
// integers, on random shapes and on the numbers that make the largest sums.

#include "kernel/conv_quantized/conv_quantized_test.h"

static const tl_conv2d_param plain = {
    .group = 1, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .padding = {1, 1, 1, 1}};

// `channels` to `outputs`, of an image of h x w.
static conv conv_of(int n, int channels, int h, int w, int outputs, const int padding[4])
{
    conv c = {.n = n, .h = h, .w = w, .channels = channels, .outputs = outputs, .param = plain};
    memcpy(c.param.padding, padding, sizeof(c.param.padding));
    c.oh = length_of(&c, 0);
    c.ow = length_of(&c, 1);
    return c;
}

static tl_tensor *source_of_conv(nn_room *room, const conv *c, double low, double high)
{
    return nn_random(room, TL_UINT8, 5, (int[]){c->n, tl_blocks(c->channels), c->h, c->w, TL_BLOCK},
                     low, high);
}

// The convolution of src with scratch memory for `slots` threads, checked against loops.
static void check_run(nn_room *room, const conv *c, const layer *l, const tl_tensor *src,
                      tl_dtype dtype, tl_pool *pool, int slots, const char *what)
{
    const int row = (int)tl_quantized_winograd_packed(c->channels);
    tl_tensor *const packed = nn_blank(room, TL_INT8, 2, (int[]){tl_blocks(c->outputs), row});
    tl_tensor *const dst =
        nn_blank(room, dtype, 5, (int[]){c->n, tl_blocks(c->outputs), c->oh, c->ow, TL_BLOCK});
    tl_exec exec = {.pool = pool, .isa = l->exec.isa};
    exec.scratch_size = tl_quantized_winograd_scratch(src, dst, c->channels, slots);
    ln_guard guard;
    exec.scratch = ln_guard_alloc(&guard, exec.scratch_size);
    tl_exec_quantized_winograd_pack(&exec, l->weight, l->bias, l->factor, l->addend, packed);
    ck_assert_int_eq(
        tl_exec_quantized_winograd(&exec, src, packed, dst, &c->param, c->channels, &l->q), 0);
    if (!ln_guard_is_intact(&guard))
        ck_abort_msg("%s: more scratch memory was used than asked for", what);
    ln_guard_free(&guard);
    check_conv(c, l, src, dst, what);
}

// Random layers

static conv random_conv(nn_room *room)
{
    conv c = {.oh = -1};
    while (c.oh < 1 || c.ow < 1) {
        const int padding[] = {between(room, 0, 2), between(room, 0, 2), between(room, 0, 2),
                               between(room, 0, 2)};
        c = conv_of(between(room, 1, 2), between(room, 1, 40), between(room, 1, 15),
                    between(room, 1, 17), between(room, 1, 40), padding);
    }
    return c;
}

START_TEST(convolutions_agree_with_64_bit_loops)
{
    tl_pool *const pools[] = {NULL, tl_pool_create(2), tl_pool_create(3)};
    TL_ISA_EACH_USABLE (isa)
        for (int i = 0; i < 200; i++) {
            nn_room room = {.seed = 1 + (uint64_t)i};
            char what[80];
            snprintf(what, sizeof(what), "%s, seed %d", tl_isa_name(isa), 1 + i);
            const conv c = random_conv(&room);
            const layer l =
                random_layer(&room, 4, (int[]){c.outputs, c.channels, 3, 3}, c.outputs, isa);
            const tl_dtype dtype = between(&room, 0, 1) ? TL_FLOAT : TL_UINT8;
            check_run(&room, &c, &l, source_of_conv(&room, &c, 0, 255), dtype, pools[i % 3],
                      between(&room, 1, 3), what);
            nn_close(&room);
        }
    tl_pool_free(pools[1]);
    tl_pool_free(pools[2]);
}
END_TEST

START_TEST(each_activation_gives_the_bits_of_the_definition)
{
    const conv c = conv_of(1, 9, 6, 7, 18, plain.padding);
    TL_ISA_EACH_USABLE (isa)
        for (int act = 0; act < TL_ACT_SIZE; act++)
            for (int is_float = 0; is_float < 2; is_float++) {
                nn_room room = {.seed = 7};
                layer l = random_layer(&room, 4, (int[]){18, 9, 3, 3}, 18, isa);
                l.q.act = (tl_activation){(tl_act)act, act == TL_ACT_CLIP ? -9 : 0.25f, 0.5f};
                check_run(&room, &c, &l, source_of_conv(&room, &c, 0, 255),
                          is_float ? TL_FLOAT : TL_UINT8, NULL, 1, tl_act_name((tl_act)act));
                nn_close(&room);
            }
}
END_TEST

// The largest sums

// All pixels `x` or, with -1, 0 and 255 at random; all weights `w` or, with 0, -128 and 127 at
// random.
typedef struct extreme {
    int x, zero, w;
} extreme;

static const extreme extremes[] = {
    {0, 0, -128},  {255, 0, -128}, {255, 255, 127}, {0, 255, -128}, {0, 255, 127},
    {255, 0, 127}, {0, 128, -128}, {-1, 100, 0},    {-1, 0, -128},  {255, 0, 0},
};

static void fill_extreme(nn_room *room, const extreme *e, const layer *l, const tl_tensor *src)
{
    uint8_t *const x = src->data;
    int8_t *const w = l->weight->data;
    for (int i = 0; i < src->len; i++)
        x[i] = (uint8_t)(e->x < 0 ? between(room, 0, 1) * 255 : e->x);
    for (int i = 0; i < l->weight->len; i++)
        w[i] = (int8_t)(e->w ? e->w : between(room, 0, 1) ? -128 : 127);
}

START_TEST(extreme_sums_are_exact_with_any_number_of_channels)
{
    static const int channels[] = {1, 2, 15, 16, 17, 224, 225, 448, 449, 500};
    TL_ISA_EACH_USABLE (isa)
        for (size_t k = 0; k < NN_LEN(channels); k++)
            for (size_t i = 0; i < NN_LEN(extremes); i++) {
                nn_room room = {.seed = 11};
                const int n = channels[k];
                const conv c = conv_of(1, n, 3, 6, 3, plain.padding);
                layer l = {.weight = nn_blank(&room, TL_INT8, 4, (int[]){3, n, 3, 3}),
                           .q = {.zero = extremes[i].zero, .scale = 1, .dst_factor = 1},
                           .exec = {.isa = isa}};
                tl_tensor *const src = source_of_conv(&room, &c, 0, 0);
                char what[80];
                snprintf(what, sizeof(what), "%s, %d channels, %zu", tl_isa_name(isa), n, i);
                fill_extreme(&room, &extremes[i], &l, src);
                check_run(&room, &c, &l, src, TL_FLOAT, NULL, 1, what);
                l.q.scale = 1e-5f; // results of 8 bits that are not all saturated
                l.q.dst_zero = 128;
                check_run(&room, &c, &l, src, TL_UINT8, NULL, 1, what);
                nn_close(&room);
            }
}
END_TEST

// Shapes, scratch memory, the choice

START_TEST(images_of_all_small_sizes_agree)
{
    TL_ISA_EACH_USABLE (isa)
        for (int h = 1; h <= 15; h += 1 + h / 4)
            for (int w = 1; w <= 17; w += 1 + w / 4) {
                nn_room room = {.seed = 3};
                char what[80];
                snprintf(what, sizeof(what), "%s, %d x %d", tl_isa_name(isa), h, w);
                const conv c = conv_of(2, 18, h, w, 35, (const int[]){1, 2, 2, 1});
                const layer l = random_layer(&room, 4, (int[]){35, 18, 3, 3}, 35, isa);
                check_run(&room, &c, &l, source_of_conv(&room, &c, 0, 255), TL_UINT8, NULL, 1,
                          what);
                nn_close(&room);
            }
}
END_TEST

START_TEST(no_images_give_no_results)
{
    nn_room room = {.seed = 3};
    const conv c = conv_of(0, 18, 5, 5, 35, plain.padding);
    const layer l = random_layer(&room, 4, (int[]){35, 18, 3, 3}, 35, tl_isa_best());
    check_run(&room, &c, &l, source_of_conv(&room, &c, 0, 255), TL_UINT8, NULL, 1, "no images");
    nn_close(&room);
}
END_TEST

START_TEST(all_bytes_of_packed_weights_are_written)
{
    nn_room room = {.seed = 5};
    tl_tensor *const weight = nn_random(&room, TL_INT8, 4, (int[]){19, 21, 3, 3}, -128, 127);
    const int row = (int)tl_quantized_winograd_packed(21);
    tl_tensor *const packed[] = {nn_blank(&room, TL_INT8, 2, (int[]){2, row}),
                                 nn_blank(&room, TL_INT8, 2, (int[]){2, row})};
    for (int i = 0; i < 2; i++) {
        memset(packed[i]->data, i ? 0x55 : 0xAA, 2 * (size_t)row);
        tl_exec_quantized_winograd_pack(NULL, weight, NULL, NULL, NULL, packed[i]);
    }
    ck_assert_mem_eq(packed[0]->data, packed[1]->data, 2 * (size_t)row);
    nn_close(&room);
}
END_TEST

START_TEST(without_scratch_memory_it_fails)
{
    nn_room room = {.seed = 4};
    tl_tensor *const x = nn_random(&room, TL_UINT8, 5, (int[]){1, 1, 2, 2, TL_BLOCK}, 0, 255);
    tl_tensor *const y = nn_blank(&room, TL_UINT8, 5, x->dims);
    const tl_tensor *const weight =
        nn_blank(&room, TL_INT8, 2, (int[]){1, (int)tl_quantized_winograd_packed(16)});
    const tl_quantized_param q = {.scale = 1, .dst_factor = 1};
    ck_assert_int_eq(tl_exec_quantized_winograd(NULL, x, weight, y, &plain, 16, &q), -1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "0 bytes of scratch memory, expected "));
    nn_close(&room);
}
END_TEST

START_TEST(scratch_memory_of_a_batch_is_enough_for_fewer_images)
{
    nn_room room = {.seed = 1};
    tl_tensor *const src = nn_blank(&room, TL_UINT8, 5, (int[]){90, 20, 14, 14, TL_BLOCK});
    const size_t max = tl_quantized_winograd_batch_scratch(src, src, 320, 2);
    for (int n = 90; n >= 0; n--) {
        src->dims[0] = n;
        ck_assert_uint_le(tl_quantized_winograd_scratch(src, src, 320, 2), max);
    }
    nn_close(&room);
}
END_TEST

// The choice for a square image.
static int best(int ic, int n, int oc, const tl_conv2d_param *param, tl_isa isa)
{
    return tl_quantized_conv2d_best((int[]){1, ic, n, n}, (int[]){1, oc, n, n}, param, isa);
}

START_TEST(the_choice_weighs_products_transforms_and_weights)
{
    ck_assert_int_eq(best(64, 56, 64, &plain, TL_ISA_AVX2), 4);
    ck_assert_int_eq(best(256, 14, 256, &plain, TL_ISA_AVX2), 4);
    ck_assert_int_eq(best(256, 14, 256, &plain, TL_ISA_C), 4);
    ck_assert_int_eq(best(512, 7, 512, &plain, TL_ISA_AVX2), 4);
    ck_assert_int_eq(best(512, 4, 512, &plain, TL_ISA_AVX2), 0); // weights take long to read
    ck_assert_int_eq(best(16, 14, 16, &plain, TL_ISA_AVX2), 0);  // transforms take long
    ck_assert_int_eq(best(1, 64, 16, &plain, TL_ISA_AVX2), 0);   // not worth a transform
    ck_assert_int_eq(best(64, 56, 64, &plain, TL_ISA_AVXVNNI), 0);
    ck_assert_int_eq(best(64, 56, 64, &plain, TL_ISA_AVX512VNNI), 0);
    ck_assert_int_eq(best(64, 56, 64, &plain, TL_ISA_DOTPROD), 0);
    tl_conv2d_param strided = plain;
    strided.stride[0] = 2;
    ck_assert_int_eq(best(64, 56, 64, &strided, TL_ISA_AVX2), 0);
}
END_TEST

LN_TEST_MAIN("winograd_quantized", convolutions_agree_with_64_bit_loops,
             each_activation_gives_the_bits_of_the_definition,
             extreme_sums_are_exact_with_any_number_of_channels, images_of_all_small_sizes_agree,
             no_images_give_no_results, all_bytes_of_packed_weights_are_written,
             without_scratch_memory_it_fails, scratch_memory_of_a_batch_is_enough_for_fewer_images,
             the_choice_weighs_products_transforms_and_weights)
