// SPDX-License-Identifier: Apache-2.0
// Weights of few bits, packed in panels.

#include <assert.h>
#include <string.h>

#include "kernel/matmul_lowbit/matmul_lowbit.h"
#include "kernel/tl_axis.h"
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

tl_lowbit_job tl_lowbit_job_of(size_t k, const tl_lowbit_param *param)
{
    enum { ALIGNMENT = 64 };
    const size_t block = (size_t)param->block;
    tl_lowbit_job job = {.param = *param, .k = k, .blocks = tl_ceil_div(k, block)};
    job.limbs = param->src_bits == 8 ? 1 : TL_LOWBIT_MAX_LIMBS;
    job.row_size = job.blocks * tl_lowbit_block_size(&job);
    job.scales_at = job.blocks * block * (size_t)param->bits / 8 * TL_LOWBIT_PANEL;
    job.zeros_at = job.scales_at + job.blocks * TL_LOWBIT_PANEL * sizeof(float);
    const size_t zeros = param->has_zeros ? job.blocks * TL_LOWBIT_PANEL : 0;
    job.panel_size = tl_ceil_div(job.zeros_at + zeros, ALIGNMENT) * ALIGNMENT;
    return job;
}

size_t tl_lowbit_packed(int k, const tl_lowbit_param *param)
{
    return tl_lowbit_job_of((size_t)k, param).panel_size;
}

// Packing

// A matrix: element [row, col] is data[row * row_step + col * col_step].
typedef struct matrix {
    const tl_tensor *tensor; // or NULL
    size_t row, col;
} matrix;

typedef struct pack_job {
    tl_lowbit_job job;
    matrix weight, scale, zero;
    size_t n, scale_block; // columns; rows that share a scale
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

// An element of bytes in storage order: signed values begin with the smallest.
static int stored(const pack_job *p, const matrix *m, size_t row, size_t col)
{
    const size_t at = row * m->row + col * m->col;
    return m->tensor->dtype == TL_UINT8
               ? ((const uint8_t *)m->tensor->data)[at]
               : ((const int8_t *)m->tensor->data)[at] + (1 << (p->job.param.bits - 1));
}

static void pack_column(const pack_job *p, size_t col, size_t lane, uint8_t *panel)
{
    for (size_t k = 0; k < p->job.k; k++) {
        int bit;
        const size_t at = tl_lowbit_weight_at(&p->job, k, lane, &bit);
        panel[at] = (uint8_t)(panel[at] | stored(p, &p->weight, k, col) << bit);
    }
    for (size_t b = 0; b < p->job.blocks; b++) {
        const size_t row = b * (size_t)p->job.param.block / p->scale_block;
        const size_t at = b * TL_LOWBIT_PANEL + lane;
        const float *const scale = (const float *)p->scale.tensor->data + row * p->scale.row;
        memcpy(panel + p->job.scales_at + at * sizeof(float), scale + col * p->scale.col,
               sizeof(float));
        if (p->zero.tensor)
            panel[p->job.zeros_at + at] = (uint8_t)stored(p, &p->zero, row, col);
    }
}

static void pack_panels(void *arg, size_t begin, size_t end)
{
    const pack_job *const p = arg;
    for (size_t u = begin; u < end; u++) {
        uint8_t *const panel = p->dst + u * p->job.panel_size;
        memset(panel, 0, p->job.panel_size);
        for (size_t lane = 0; lane < TL_LOWBIT_PANEL && u * TL_LOWBIT_PANEL + lane < p->n; lane++)
            pack_column(p, u * TL_LOWBIT_PANEL + lane, lane, panel);
    }
}

// -1 with a reason: an element is less than the min of these bits, or more than `high`.
static int check_range(const tl_tensor *t, const char *name, int bits, int high)
{
    const int low = t->dtype == TL_INT8 ? -(1 << (bits - 1)) : 0;
    for (int i = 0; i < t->len; i++) {
        const int x =
            t->dtype == TL_INT8 ? ((const int8_t *)t->data)[i] : ((const uint8_t *)t->data)[i];
        if (x < low || x > high)
            return tl_fail("element %d of '%s' is %d, expected %d to %d", i, name, x, low, high);
    }
    return 0;
}

int tl_exec_lowbit_pack(const tl_exec *exec, const tl_tensor *weight, const tl_tensor *scale,
                        const tl_tensor *zero, tl_tensor *dst, const tl_lowbit_param *param,
                        int scale_block, int is_transposed)
{
    assert(weight->ndim == 2 && (weight->dtype == TL_INT8 || weight->dtype == TL_UINT8));
    assert(scale->dtype == TL_FLOAT && !param->has_zeros == !zero);
    const int is_signed = weight->dtype == TL_INT8;
    if (check_range(weight, "weight", param->bits, (1 << (param->bits - is_signed)) - 1) < 0 ||
        (zero && check_range(zero, "zero", param->bits, is_signed ? INT8_MAX : UINT8_MAX) < 0))
        return -1;
    pack_job p = {.job = tl_lowbit_job_of((size_t)weight->dims[is_transposed], param),
                  .weight = matrix_of(weight, is_transposed),
                  .scale = matrix_of(scale, is_transposed),
                  .zero = matrix_of(zero, is_transposed),
                  .n = (size_t)weight->dims[!is_transposed],
                  .scale_block = (size_t)scale_block,
                  .dst = dst->data};
    assert((size_t)dst->dims[1] == p.job.panel_size);
    tl_parallel(exec, (size_t)dst->dims[0], tl_axis_grain(p.job.panel_size), pack_panels, &p);
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
