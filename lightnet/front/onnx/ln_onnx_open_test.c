// SPDX-License-Identifier: Apache-2.0
// Programs for open sizes give the same bits as one that is made for just these sizes, at each
// level of kernels.

#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"
#include "ln_check.h"

enum { MAX_INPUTS = 3, MAX_OUTPUTS = 3, HEADS = 2, HEAD = 8, LONGEST = 24 };

// A set of input shapes.
typedef struct shapes {
    int n;
    struct shape {
        const char *name;
        int ndim;
        int dims[4];
    } of[MAX_INPUTS];
} shapes;

static shapes encoder_shapes(int batch, int len)
{
    return (shapes){1, {{"ids", 2, {batch, len}}}};
}

static shapes decoder_shapes(int batch, int len, int past)
{
    return (shapes){3,
                    {{"ids", 2, {batch, len}},
                     {"past.key", 4, {batch, HEADS, past, HEAD}},
                     {"past.value", 4, {batch, HEADS, past, HEAD}}}};
}

static void check(int status, const ln_context *ctx)
{
    ck_assert_msg(!status, "%s", ln_context_error(ctx));
}

// A program for all shapes from `min` to `max`.
static ln_context *made(const char *model, const shapes *min, const shapes *max, tl_isa isa,
                        int threads)
{
    ln_context *ctx = ln_context_create();
    for (int i = 0; i < max->n; i++)
        check(ln_context_bind_range(ctx, max->of[i].name, max->of[i].ndim, min->of[i].dims,
                                    max->of[i].dims),
              ctx);
    ctx->isa = isa;
    ctx->many_shapes = 1; // constants are packed as in the programs of one model with open sizes
    check(ln_context_set_threads(ctx, threads) || ln_context_init(ctx, getenv(model)) ||
              ln_context_compile(ctx, "cpu") || ln_context_load(ctx, NULL),
          ctx);
    return ctx;
}

static const tl_tensor *tensor_of(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name)->tensor;
}

// The same data for the same shape, whatever the program.
static void set(ln_context *ctx, const struct shape *s, int is_open)
{
    static float numbers[4 * 64 * 6 * 6];
    static int64_t words[4 * LONGEST];
    const tl_tensor *t = tensor_of(ctx, s->name);
    if (is_open)
        check(ln_context_set_shape(ctx, s->name, s->ndim, s->dims), ctx);
    for (int i = 0; i < t->len; i++) {
        if (t->dtype == TL_INT64)
            words[i] = i * 7 % 20;
        else
            numbers[i] = (float)((i * 37 + s->dims[2]) % 101) / 50 - 1;
    }
    check(ln_context_set_data(ctx, s->name, t->dtype == TL_INT64 ? (void *)words : numbers), ctx);
}

static int is_placeholder(const ln_context *ctx, const char *name)
{
    return ln_streq(ln_context_creater(ctx, name)->op_arg->optype, "placeholder_cpu");
}

static void run(ln_context *ctx, const shapes *s)
{
    for (int i = 0; i < s->n; i++)
        set(ctx, &s->of[i], is_placeholder(ctx, s->of[i].name));
    check(ln_context_run(ctx), ctx);
}

static void compare(ln_context *open, ln_context *fixed, const char *name)
{
    const tl_tensor *a = tensor_of(open, name), *b = tensor_of(fixed, name);
    ck_assert(tl_tensor_issameshape(a, b));
    void *x = ln_context_get_data(open, name, NULL), *y = ln_context_get_data(fixed, name, NULL);
    ck_assert_msg(x && y && !memcmp(x, y, tl_tensor_size(a)), "the bits of '%s' differ", name);
    ln_free(x);
    ln_free(y);
}

static void check_shapes(ln_context *open, const char *model, const shapes *s, tl_isa isa,
                         int threads)
{
    const char *name;
    ln_context *fixed = made(model, s, s, isa, threads);
    run(open, s);
    run(fixed, s);
    LN_LIST_FOREACH (name, open->outputs)
        compare(open, fixed, name);
    ln_context_free(fixed);
}

static const int lengths[] = {1, 16, 5, LONGEST, 2, 13, 1};

#define N_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static void check_encoder_in(const char *model, tl_isa isa, int threads)
{
    const shapes min = encoder_shapes(1, 1), max = encoder_shapes(3, LONGEST);
    ln_context *open = made(model, &min, &max, isa, threads);
    for (size_t i = 0; i < N_LENGTHS; i++) {
        const shapes s = encoder_shapes(1 + (int)i % 3, lengths[i]);
        check_shapes(open, model, &s, isa, threads);
    }
    ln_context_free(open);
}

static void check_encoder(tl_isa isa, int threads)
{
    check_encoder_in("LN_TEST_ENCODER", isa, threads);
}

static void check_halves(tl_isa isa, int threads)
{
    check_encoder_in("LN_TEST_HALVES", isa, threads);
}

// The cache is open, one word comes at a time.
static void check_words(const char *model, tl_isa isa, int threads)
{
    const shapes min = decoder_shapes(1, 1, 0), max = decoder_shapes(1, 1, LONGEST);
    ln_context *open = made(model, &min, &max, isa, threads);
    for (size_t i = 0; i < N_LENGTHS; i++) {
        const shapes s = decoder_shapes(1, 1, lengths[i] - 1);
        check_shapes(open, model, &s, isa, threads);
    }
    ln_context_free(open);
}

// Everything is open, but for the batch where `max_batch` is 1.
static void check_prompts(const char *model, int max_batch, tl_isa isa, int threads)
{
    const shapes min = decoder_shapes(1, 1, 0), max = decoder_shapes(max_batch, 8, LONGEST);
    ln_context *open = made(model, &min, &max, isa, threads);
    for (size_t i = 0; i < N_LENGTHS; i++) {
        const shapes s = decoder_shapes(1 + (int)i % max_batch, 1 + (int)i, lengths[i]);
        check_shapes(open, model, &s, isa, threads);
    }
    ln_context_free(open);
}

static void check_decoder_words(tl_isa isa, int threads)
{
    check_words("LN_TEST_DECODER", isa, threads);
}

static void check_decoder_prompts(tl_isa isa, int threads)
{
    check_prompts("LN_TEST_DECODER", 2, isa, threads);
}

static void check_llama_words(tl_isa isa, int threads)
{
    check_words("LN_TEST_LLAMA", isa, threads);
}

static void check_llama_prompts(tl_isa isa, int threads)
{
    check_prompts("LN_TEST_LLAMA", 1, isa, threads);
}

static void at_each_level(void (*func)(tl_isa isa, int threads))
{
    for (int isa = 0; isa < TL_ISA_SIZE; isa++)
        for (int threads = 1; tl_isa_is_usable((tl_isa)isa) && threads <= 2; threads++)
            func((tl_isa)isa, threads);
}

START_TEST(an_encoder_of_any_length_gives_the_same_bits)
{
    at_each_level(check_encoder);
}
END_TEST

START_TEST(so_does_one_in_16_bits)
{
    at_each_level(check_halves);
}
END_TEST

START_TEST(a_decoder_with_any_cache_gives_the_same_bits)
{
    at_each_level(check_decoder_words);
}
END_TEST

START_TEST(so_does_one_for_prompts_of_any_length)
{
    at_each_level(check_decoder_prompts);
}
END_TEST

START_TEST(so_does_one_like_llama)
{
    at_each_level(check_llama_words);
    at_each_level(check_llama_prompts);
}
END_TEST

static shapes image_shapes(int batch)
{
    return (shapes){1, {{"data", 4, {batch, 64, 6, 6}}}};
}

// Convolutions take other algorithms where the batch is open, so results are near, and those of an
// image the same in each batch.
START_TEST(a_network_of_images_takes_any_batch)
{
    enum { MAPS = 16 * 6 * 6 };
    float first[MAPS], image[MAPS], fixed_image[MAPS * 4];
    const shapes min = image_shapes(1), max = image_shapes(4);
    ln_context *open = made("LN_TEST_IMAGES", &min, &max, tl_isa_best(), 1);
    for (int batch = 1; batch <= 4; batch++) {
        const shapes s = image_shapes(batch);
        ln_context *fixed = made("LN_TEST_IMAGES", &s, &s, tl_isa_best(), 1);
        run(open, &s);
        run(fixed, &s);
        ck_assert_int_eq(tensor_of(open, "maps")->dims[0], batch);
        memcpy(image, tensor_of(open, "maps")->data, sizeof(image));
        ck_assert_ptr_nonnull(ln_context_get_data(fixed, "maps", fixed_image));
        for (int i = 0; i < MAPS; i++)
            ck_assert_float_eq_tol(image[i], fixed_image[i], 2e-4F);
        if (batch == 1)
            memcpy(first, image, sizeof(first));
        ck_assert_mem_eq(image, first, sizeof(first));
        ln_context_free(fixed);
    }
    ln_context_free(open);
}
END_TEST

static int count(const ln_context *ctx, const char *optype)
{
    const ln_op *op;
    int n = 0;
    LN_LIST_FOREACH (op, ctx->ops)
        n += ln_op_is(op, optype);
    return n;
}

static void check_kernels(const char *model)
{
    const shapes min = encoder_shapes(1, 1), max = encoder_shapes(3, LONGEST);
    ln_context *open = made(model, &min, &max, tl_isa_best(), 1);
    ln_context *fixed = made(model, &max, &max, tl_isa_best(), 1);
    static const char *const optypes[] = {"attention_cpu", "matmul_packed_cpu", "layernorm_cpu",
                                          "transpose_cpu", "chain_cpu",         "reshape_to_cpu"};
    for (size_t i = 0; i < sizeof(optypes) / sizeof(optypes[0]); i++)
        ck_assert_msg(count(open, optypes[i]) == count(fixed, optypes[i]), "%d %s, expected %d",
                      count(open, optypes[i]), optypes[i], count(fixed, optypes[i]));
    ck_assert_int_eq(count(fixed, "attention_cpu"), 1);
    ck_assert_int_eq(count(fixed, "chain_cpu") + count(fixed, "unary_cpu"), 0); // GELU is fused
    ln_context_free(open);
    ln_context_free(fixed);
}

START_TEST(no_kernel_is_lost)
{
    check_kernels("LN_TEST_ENCODER");
    check_kernels("LN_TEST_HALVES");
}
END_TEST

// Keys and values are not repeated for the heads that share them, and nothing is transposed.
static void check_llama_kernels(const shapes *min, const shapes *max)
{
    static const char *const optypes[] = {"attention_cpu", "rmsnorm_cpu", "transpose_cpu",
                                          "expand_cpu", "reduce_cpu"};
    ln_context *open = made("LN_TEST_LLAMA", min, max, tl_isa_best(), 1);
    ln_context *fixed = made("LN_TEST_LLAMA", max, max, tl_isa_best(), 1);
    for (size_t i = 0; i < sizeof(optypes) / sizeof(optypes[0]); i++)
        ck_assert_msg(count(open, optypes[i]) == count(fixed, optypes[i]), "%d %s, expected %d",
                      count(open, optypes[i]), optypes[i], count(fixed, optypes[i]));
    ck_assert_int_eq(count(fixed, "attention_cpu"), 1);
    ck_assert_int_eq(count(fixed, "rmsnorm_cpu"), 3);
    ck_assert_int_eq(count(fixed, "expand_cpu"), 0);
    ln_context_free(open);
    ln_context_free(fixed);
}

START_TEST(no_kernel_of_a_decoder_like_llama_is_lost)
{
    const shapes min = decoder_shapes(1, 1, 0), word = decoder_shapes(1, 1, LONGEST);
    const shapes prompts = decoder_shapes(1, 8, LONGEST);
    check_llama_kernels(&min, &word);
    check_llama_kernels(&min, &prompts);
}
END_TEST

START_TEST(rejects_a_shape_out_of_range)
{
    const shapes min = encoder_shapes(1, 2), max = encoder_shapes(3, LONGEST);
    ln_context *ctx = made("LN_TEST_ENCODER", &min, &max, tl_isa_best(), 1);
    ck_assert_int_eq(ln_context_set_shape(ctx, "ids", 2, (int[]){1, 25}), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "input 'ids' is given with shape [1, 25], expected from [1, 2] to [3, 24]");
    ck_assert_int_eq(ln_context_set_shape(ctx, "ids", 2, (int[]){1, 1}), -1);
    ck_assert_int_eq(ln_context_set_shape(ctx, "ids", 1, (int[]){2}), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "input 'ids' is given with shape [2], expected from [1, 2] to [3, 24]");
    ck_assert_int_eq(ln_context_set_shape(ctx, "embedding", 2, (int[]){1, 16}), -1);
    ck_assert_str_eq(ln_context_error(ctx), "tensor 'embedding' is not an input with open sizes");
    ck_assert_int_eq(ln_context_set_shape(ctx, "no", 2, (int[]){1, 16}), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model has no input 'no'");
    const shapes one = encoder_shapes(1, 2);
    run(ctx, &one); // it can run all the same
    ln_context_free(ctx);
}
END_TEST

START_TEST(rejects_invalid_ranges)
{
    ln_context *ctx = ln_context_create();
    ck_assert_int_eq(ln_context_bind_range(ctx, "ids", 2, (int[]){1, 3}, (int[]){1, 2}), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "axis 1 of 'ids' has range 3 to 2, expected 0 <= min <= max");
    ck_assert_int_eq(ln_context_bind_range(ctx, "ids", 1, (int[]){-1}, (int[]){2}), -1);
    ln_context_free(ctx);
}
END_TEST

LN_TEST_MAIN("onnx_open", an_encoder_of_any_length_gives_the_same_bits, so_does_one_in_16_bits,
             a_decoder_with_any_cache_gives_the_same_bits, so_does_one_for_prompts_of_any_length,
             so_does_one_like_llama, a_network_of_images_takes_any_batch, no_kernel_is_lost,
             no_kernel_of_a_decoder_like_llama_is_lost, rejects_a_shape_out_of_range,
             rejects_invalid_ranges)
