// SPDX-License-Identifier: Apache-2.0
// Weights of few bits, packed in panels.

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "kernel/matmul_lowbit/matmul_lowbit.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_half.h"
#include "tensor/tl_result.h"
#include "tensor/tl_storage.h"

// Sizes

enum {
    MIN_BLOCK = 16, // rows: four of each of the four weights that a byte of 2 bits has
};

int tl_lowbit_block(int k, int block)
{
    if (block >= k && k >= TL_LOWBIT_MAX_BLOCK)
        return TL_LOWBIT_MAX_BLOCK;
    if (block >= k)
        return k > 0 ? (k - 1) / MIN_BLOCK * MIN_BLOCK + MIN_BLOCK : MIN_BLOCK;
    if (block < MIN_BLOCK || block % MIN_BLOCK != 0)
        return 0;
    int max = tl_min(block, TL_LOWBIT_MAX_BLOCK);
    while (block % max != 0)
        max -= MIN_BLOCK;
    return max;
}

int tl_lowbit_panels(int n)
{
    return n / TL_LOWBIT_PANEL + (n % TL_LOWBIT_PANEL != 0);
}

tl_lowbit_job tl_lowbit_job_of(size_t k, const tl_lowbit_param *param, int has_halves)
{
    enum { ALIGNMENT = 64 };
    const size_t block = (size_t)param->block;
    tl_lowbit_job job = {.param = *param, .k = k, .blocks = tl_ceil_div(k, block)};
    job.limbs = param->src_bits == 8 ? 1 : TL_LOWBIT_MAX_LIMBS;
    job.row_size = job.blocks * tl_lowbit_block_size(&job);
    job.has_halves = has_halves;
    job.scales_at = block * (size_t)param->bits / 8 * TL_LOWBIT_PANEL;
    job.block_size = job.scales_at + TL_LOWBIT_PANEL * tl_lowbit_scale_size(&job);
    job.zeros_at = job.blocks * job.block_size;
    const size_t zeros = param->has_zeros ? job.blocks * TL_LOWBIT_PANEL : 0;
    job.panel_size = job.zeros_at + tl_ceil_div(zeros, ALIGNMENT) * ALIGNMENT;
    return job;
}

size_t tl_lowbit_packed(int k, int n, const tl_lowbit_param *param)
{
    const tl_lowbit_job job = tl_lowbit_job_of((size_t)k, param, 0);
    const size_t panels = (size_t)tl_lowbit_panels(n), max = SIZE_MAX - TL_LOWBIT_HEAD;
    // A panel has at most two bytes per block and column more: zero points, and alignment.
    if (job.blocks > max / (job.block_size + 2 * TL_LOWBIT_PANEL) ||
        (job.panel_size && panels > max / job.panel_size))
        return SIZE_MAX;
    return TL_LOWBIT_HEAD + panels * job.panel_size;
}

// Packing

// A matrix of scales or zero points: element [row, col] is data[row * row_step + col * col_step].
typedef struct matrix {
    const tl_tensor *tensor; // or NULL
    size_t row, col;
} matrix;

typedef struct pack_job {
    tl_lowbit_job job;
    tl_lowbit_layout layout;
    const uint8_t *weight;
    uint32_t signs; // flips the sign bits of signed elements: adds half of their range
    matrix scale, zero;
    atomic_int has_floats; // some scales are not binary16
    uint8_t *dst;
} pack_job;

// [rows, cols], or with `is_transposed` [cols, rows]; one element, or one per column, applies to
// all rows.
static matrix matrix_of(const tl_tensor *t, int is_transposed)
{
    if (!t || t->len == 1)
        return (matrix){t, 0, 0};
    if (t->ndim == 1)
        return (matrix){t, 0, 1};
    const size_t step = (size_t)t->dims[1];
    return (matrix){t, is_transposed ? 1 : step, is_transposed ? step : 1};
}

// A zero point as stored in a panel, where signed values have half of their range added.
static int stored_zero(const pack_job *p, size_t row, size_t col)
{
    const size_t at = row * p->zero.row + col * p->zero.col;
    return p->zero.tensor->dtype == TL_UINT8
               ? ((const uint8_t *)p->zero.tensor->data)[at]
               : ((const int8_t *)p->zero.tensor->data)[at] + (1 << (p->job.param.bits - 1));
}

// The elements of 32 bits, the first ones lowest, in the order of the panel: of 4 bits, byte i has
// elements i and i + 4; of 2 bits i, i + 4, i + 8 and i + 12.
static uint32_t interleave(uint32_t x, int bits)
{
    uint32_t y = 0;
    for (int i = 0; i < 8; i += bits, x >>= TL_LOWBIT_QUAD * bits) { // four elements: one per byte
        uint32_t v = x & ((1u << TL_LOWBIT_QUAD * bits) - 1);
        v = (v | v << (16 - 2 * bits)) & (bits == 4 ? 0x00ff00ff : 0x000f000f);
        v = (v | v << (8 - bits)) & (bits == 4 ? 0x0f0f0f0f : 0x03030303);
        y |= v << i;
    }
    return y;
}

TL_INLINE void pack_words(const uint8_t *src, size_t n, uint32_t signs, const int bits,
                          uint8_t *dst)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t x;
        memcpy(&x, src + i * sizeof(x), sizeof(x));
        x = bits == 8 ? x ^ signs : interleave(x ^ signs, bits);
        memcpy(dst + i * TL_LOWBIT_PANEL * TL_LOWBIT_QUAD, &x, sizeof(x));
    }
}

// A column whose elements are contiguous and fill words.
static void pack_line(const pack_job *p, size_t col, uint8_t *dst)
{
    const size_t bits = (size_t)p->job.param.bits, block = (size_t)p->job.param.block;
    const uint8_t *const src = p->weight + col * (p->job.k * bits / 8);
    for (size_t k = 0; k < p->job.k; k += block, dst += p->job.block_size) {
        const size_t words = tl_min_size(block, p->job.k - k) * bits / 32;
        if (bits == 2)
            pack_words(src + k * 2 / 8, words, p->signs, 2, dst);
        else if (bits == 4)
            pack_words(src + k * 4 / 8, words, p->signs, 4, dst);
        else
            pack_words(src + k, words, p->signs, 8, dst);
    }
}

static void pack_elements(const pack_job *p, size_t col, size_t lane, uint8_t *panel)
{
    const size_t bits = (size_t)p->job.param.bits, n = (size_t)p->layout.n, k_len = p->job.k;
    const uint32_t mask = (1u << bits) - 1;
    for (size_t k = 0; k < k_len; k++) {
        int bit;
        const size_t to = tl_lowbit_weight_at(&p->job, k, lane, &bit);
        const size_t at = (p->layout.is_transposed ? col * k_len + k : k * n + col) * bits;
        const uint32_t x = (uint32_t)p->weight[at / 8] >> at % 8 ^ p->signs;
        panel[to] = (uint8_t)(panel[to] | (x & mask) << bit);
    }
}

static void pack_scale(const pack_job *p, float scale, uint8_t *dst)
{
    const uint16_t half = tl_half_from_float(scale);
    if (p->job.has_halves)
        memcpy(dst, &half, sizeof(half));
    else
        memcpy(dst, &scale, sizeof(scale));
}

static void pack_scales(const pack_job *p, size_t col, size_t lane, uint8_t *panel)
{
    const size_t size = tl_lowbit_scale_size(&p->job);
    for (size_t b = 0; b < p->job.blocks; b++) {
        const size_t row = b * (size_t)p->job.param.block / (size_t)p->layout.scale_block;
        const float *const scale = (const float *)p->scale.tensor->data + row * p->scale.row;
        pack_scale(p, scale[col * p->scale.col],
                   panel + b * p->job.block_size + p->job.scales_at + lane * size);
        if (p->zero.tensor)
            panel[p->job.zeros_at + b * TL_LOWBIT_PANEL + lane] = (uint8_t)stored_zero(p, row, col);
    }
}

static void pack_panels(void *arg, size_t begin, size_t end)
{
    const pack_job *const p = arg;
    const size_t n = (size_t)p->layout.n, block = (size_t)p->job.param.block;
    const int has_lines = p->layout.is_transposed && p->job.k * (size_t)p->job.param.bits % 32 == 0;
    for (size_t u = begin; u < end; u++) {
        uint8_t *const panel = p->dst + u * p->job.panel_size;
        const size_t first = u * TL_LOWBIT_PANEL, cols = tl_min_size(TL_LOWBIT_PANEL, n - first);
        if (!has_lines || cols < TL_LOWBIT_PANEL || p->job.k % block != 0)
            memset(panel, 0, p->job.panel_size);
        for (size_t lane = 0; lane < cols; lane++) {
            if (has_lines)
                pack_line(p, first + lane, panel + lane * TL_LOWBIT_QUAD);
            else
                pack_elements(p, first + lane, lane, panel);
            pack_scales(p, first + lane, lane, panel);
        }
        const size_t zeros = p->zero.tensor ? p->job.blocks * TL_LOWBIT_PANEL : 0;
        const size_t used = p->job.zeros_at + zeros;
        memset(panel + used, 0, p->job.panel_size - used);
    }
}

// Whether these floats are binary16. Multiplied by 2^-112, their exponents are those of binary16;
// finite numbers of it end in 13 zero bits then, and no other comes back.
static int are_halves(const float *x, size_t n)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        const float moved = x[i] * 0x1p-112f;
        const uint32_t bits = tl_bits_of_float(moved);
        bad |= (bits & 0x1fff) | ((bits & 0x7fffffff) >= 0x0f800000) | (moved * 0x1p112f != x[i]);
    }
    return !bad;
}

static void find_floats(void *arg, size_t begin, size_t end)
{
    pack_job *const p = arg;
    if (!are_halves((const float *)p->scale.tensor->data + begin, end - begin))
        p->has_floats = 1;
}

static int has_halves(const tl_exec *exec, pack_job *p)
{
    tl_parallel(exec, (size_t)p->scale.tensor->len, tl_axis_grain(1), find_floats, p);
    return !p->has_floats;
}

// -1 with a reason: a zero point is less than the min of these bits.
static int check_zeros(const tl_tensor *t, int bits)
{
    const int low = -(1 << (bits - 1));
    for (int i = 0; t->dtype == TL_INT8 && i < t->len; i++)
        if (((const int8_t *)t->data)[i] < low)
            return tl_fail("element %d of 'zero' is %d, expected %d to %d", i,
                           ((const int8_t *)t->data)[i], low, INT8_MAX);
    return 0;
}

int tl_exec_lowbit_pack(const tl_exec *exec, const tl_tensor *weight, const tl_tensor *scale,
                        const tl_tensor *zero, tl_tensor *dst, const tl_lowbit_param *param,
                        const tl_lowbit_layout *layout)
{
    assert(tl_size_of(weight->dtype) == 1 && scale->dtype == TL_FLOAT);
    assert(!param->has_zeros == !zero);
    if (zero && check_zeros(zero, param->bits) < 0)
        return -1;
    pack_job p = {.layout = *layout,
                  .weight = weight->data,
                  .signs = !layout->is_signed ? 0
                           : param->bits == 8 ? 0x80808080
                           : param->bits == 4 ? 0x88888888
                                              : 0xaaaaaaaa,
                  .scale = matrix_of(scale, layout->is_transposed),
                  .zero = matrix_of(zero, layout->is_transposed),
                  .dst = (uint8_t *)dst->data + TL_LOWBIT_HEAD};
    assert((size_t)dst->len == tl_lowbit_packed(layout->k, layout->n, param));
    p.job = tl_lowbit_job_of((size_t)layout->k, param, has_halves(exec, &p));
    const size_t panels = (size_t)tl_lowbit_panels(layout->n);
    const size_t used = TL_LOWBIT_HEAD + panels * p.job.panel_size;
    memset(dst->data, 0, TL_LOWBIT_HEAD);
    *(uint8_t *)dst->data = (uint8_t)p.job.has_halves;
    tl_parallel(exec, panels, tl_axis_grain(p.job.panel_size / 8), pack_panels, &p);
    memset((uint8_t *)dst->data + used, 0, (size_t)dst->len - used);
    return 0;
}

// Elements side by side

typedef struct unpack_job {
    const uint8_t *src;
    uint8_t *dst;
    int bits, is_signed;
} unpack_job;

static void unpack_elements(void *arg, size_t begin, size_t end)
{
    const unpack_job *const j = arg;
    const size_t per_byte = 8 / (size_t)j->bits;
    const int mask = (1 << j->bits) - 1, sign = j->is_signed ? 1 << (j->bits - 1) : 0;
    for (size_t i = begin; i < end; i++) {
        const int x = j->src[i / per_byte] >> (i % per_byte * (size_t)j->bits) & mask;
        j->dst[i] = (uint8_t)((x ^ sign) - sign);
    }
}

int tl_exec_lowbit_unpack(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int bits)
{
    assert(src->dtype == TL_UINT8 && tl_size_of(dst->dtype) == 1);
    assert((size_t)src->len >= tl_ceil_div((size_t)dst->len * (size_t)bits, 8));
    unpack_job job = {src->data, dst->data, bits, tl_storage_carrier(dst->dtype) == TL_INT8};
    tl_parallel(exec, (size_t)dst->len, tl_axis_grain(1), unpack_elements, &job);
    return 0;
}
