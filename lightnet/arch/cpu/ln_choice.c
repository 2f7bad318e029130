// SPDX-License-Identifier: Apache-2.0
// Selects the fastest of several algorithms, and operators that may compute in bfloat16.
// Measurements are cached by shape.

#include "arch/cpu/ln_choice.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "ir/ln_context_ops.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_blocked.h"
#include "tensorlight/tl_quantized.h"

// Algorithms

// Enough for the text of a convolution's shapes: seven numbers.
enum { KEY_SIZE = 256 };

static int measure(const ln_context *ctx, const char *key, const int src[4], const int dst[4],
                   const tl_conv2d_param *param)
{
    const tl_exec exec = {.pool = ctx->pool, .isa = ctx->isa};
    double seconds[TL_BLOCKED_CONV2D_WAYS];
    ln_stats stats;
    if (ln_context_stats(ctx, &stats))
        return -1;
    const int tile = tl_blocked_conv2d_measure(&exec, src, dst, param, stats.param_size, seconds);
    if (tile >= 0)
        ln_debug(ctx, "tuning: %s: %.3f ms, tiles of 2: %.3f, 4: %.3f, 6: %.3f; chosen: %d", key,
                 seconds[0] * 1e3, seconds[1] * 1e3, seconds[2] * 1e3, seconds[3] * 1e3, tile);
    return tile;
}

// The batch size for which a tile is estimated. The tile decides how weights are packed, so that
// programs for several batch sizes, which share them, all use the tile for one image.
static int images_of(const ln_context *ctx, const int src[4])
{
    return ctx->many_shapes ? 1 : src[0];
}

static int estimate(const ln_context *ctx, const int src[4], const int dst[4],
                    const tl_conv2d_param *param)
{
    const int images = images_of(ctx, src);
    return tl_blocked_conv2d_best((const int[4]){images, src[1], src[2], src[3]},
                                  (const int[4]){images, dst[1], dst[2], dst[3]}, param);
}

int ln_quantized_conv2d_tile(const ln_context *ctx, const int src[4], const int dst[4],
                             const tl_conv2d_param *param)
{
    const int images = images_of(ctx, src);
    return tl_quantized_conv2d_best((const int[4]){images, src[1], src[2], src[3]},
                                    (const int[4]){images, dst[1], dst[2], dst[3]}, param,
                                    ctx->isa);
}

int ln_tuned_conv2d(const ln_context *ctx, const int src[4], const int dst[4],
                    const tl_conv2d_param *param)
{
    const int estimated = estimate(ctx, src, dst, param);
    char key[KEY_SIZE];
    void *found;
    if (!ctx->tuned || !tl_blocked_winograd_fits(param))
        return estimated;
    snprintf(key, sizeof(key), "conv2d %d x [%d, %d, %d] to [%d, %d, %d]", src[0], src[1], src[2],
             src[3], dst[1], dst[2], dst[3]);
    if (ln_hash_find_extended(ctx->tuned, key, NULL, &found))
        return (int)(intptr_t)found;
    int tile = measure(ctx, key, src, dst, param);
    if (tile < 0) {
        ln_warn(ctx, "%s cannot be measured, and is estimated: %s", key, tl_last_error());
        tile = estimated;
    }
    char *const copy = ln_strdup(key); // if memory runs out, the next use measures it again
    if (copy && ln_hash_insert(ctx->tuned, copy, (void *)(intptr_t)tile) < 0)
        ln_free(copy);
    return tile;
}

// Bfloat16

size_t ln_blocked_conv2d_row(const tl_tensor *src, int channels, const int size[2])
{
    if (src->dtype == TL_BFLOAT16)
        return tl_blocked_conv2d_packed_pairs(channels, size);
    return tl_blocked_conv2d_packed((int[]){channels, 1}, 1, size, src->ndim == 4 ? 1 : TL_BLOCK);
}

#if defined(__x86_64__)

// Whether vdpbf16ps, of two multiply-adds per lane, has at most half the throughput of a float FMA:
// on Intel's cores of family 6 since Sapphire Rapids. Earlier, only Cooper Lake has it, with the
// CPUID of Skylake-X.
static int detect_slow_bfloat16(void)
{
    enum { CORE_FAMILY = 6, SKYLAKE_X = 0x55 };
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_INTEL_ebx || c != signature_INTEL_ecx ||
        !__get_cpuid(1, &a, &b, &c, &d))
        return 0;
    const unsigned family = a >> 8 & 15, model = (a >> 12 & 0xf0) | (a >> 4 & 15);
    return family == CORE_FAMILY && model != SKYLAKE_X;
}

#else

static int detect_slow_bfloat16(void)
{
    return 0;
}

#endif

// In a virtual machine, each CPUID takes as long as thousands of instructions.
static int slow_bfloat16;

static void find_slow_bfloat16(void)
{
    slow_bfloat16 = detect_slow_bfloat16();
}

static int has_slow_bfloat16(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_slow_bfloat16);
    return slow_bfloat16;
}

// LIGHTNET_MAX_ISA=avx512bf16 enables slow instructions, too.
static int has_fast_bfloat16(void)
{
    return tl_isa_from_str(getenv("LIGHTNET_MAX_ISA")) == TL_ISA_AVX512BF16 || !has_slow_bfloat16();
}

int ln_has_units_for_halves(const ln_context *ctx)
{
    return tl_isa_contains(ctx->isa, TL_ISA_AMXBF16) || ctx->isa == TL_ISA_TILES;
}

int ln_may_compute_in_halves(const ln_context *ctx)
{
    const int has_pairs = tl_isa_contains(ctx->isa, TL_ISA_AVX512BF16);
    return ctx->precision == TL_BFLOAT16 &&
           (ln_has_units_for_halves(ctx) || (has_pairs && has_fast_bfloat16()));
}

static int rounds(const ln_op *op)
{
    return ln_op_is(op, LN_OP_CAST_CPU) && ln_op_has_string(op, "dtype", "TL_BFLOAT16");
}

// Whether a convolution adds the tensor to its sums (a residual), and does not also read it as its
// source: the rule conv2d_rounded_addend then rounds it, like all tensors between convolutions.
static int adds(const ln_op *op, const ln_tensor_entry *te)
{
    const ln_tensor_entry *src = NULL, *add = NULL;
    return ln_op_is(op, LN_OP_CONV2D_BLOCKED_CPU) && ln_op_may_read(op, "add", &add) && add == te &&
           ln_op_reads(op, "src", &src) && src != te;
}

int ln_is_read_as_halves(const ln_context *ctx, const ln_tensor_entry *te)
{
    ln_list *readers = NULL;
    if (ln_entry_is_mutated(te) || ln_context_readers(ctx, te, &readers) < 0)
        return 0;
    int all = readers != NULL;
    for (const ln_list *node = readers; node && all; node = node->next)
        all = rounds(node->data) || adds(node->data, te);
    ln_list_free(readers);
    return all;
}
