// SPDX-License-Identifier: Apache-2.0
// Products with weights of few bits: how the work is divided.

#include "kernel/lowbit/lowbit.h"

#include <assert.h>

#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"
#include "tensor/tl_stop.h"

#define TL_KERNEL(name, dtype, isa) [isa][dtype] = name,
static tl_lowbit_func *const table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/lowbit/lowbit.def"
};
static tl_lowbit_rows_func *const rows_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/lowbit/lowbit_rows.def"
};
#undef TL_KERNEL
TL_KERNEL_PICK(pick, tl_lowbit_func, table)
TL_KERNEL_PICK(pick_rows, tl_lowbit_rows_func, rows_table)

enum {
    MOST_ROWS = 128, /* that are prepared at once: with a panel, they fit the second cache */
    UNIT_ROWS = 32,  /* of a unit, which has one panel */
};

typedef struct product {
    tl_lowbit_job job;
    tl_lowbit_func *multiply;
    tl_lowbit_rows_func *prepare;
    const float *src, *bias;
    const uint8_t *weight;
    char *prepared;
    float *dst;
    size_t rows, n, row_units;
} product;

static void prepare_rows(void *arg, size_t begin, size_t end)
{
    const product *const p = arg;
    for (size_t r = begin; r < end; r++)
        p->prepare(&p->job, p->src + r * p->job.k, p->prepared + r * p->job.row_size);
}

static int is_finite(const tl_lowbit_job *job, const char *row)
{
    for (size_t b = 0; b < job->blocks; b++, row += tl_lowbit_block_size(job))
        if (!((const tl_lowbit_head *)(const void *)row)->is_finite)
            return 0;
    return 1;
}

static void run_unit(const product *p, size_t panel, size_t row)
{
    const size_t rows = tl_smaller_size(UNIT_ROWS, p->rows - row), col = panel * TL_LOWBIT_PANEL;
    const size_t cols = tl_smaller_size(TL_LOWBIT_PANEL, p->n - col);
    const uint8_t *const weight = p->weight + panel * p->job.panel_size;
    const char *prepared = p->prepared + row * p->job.row_size;
    const float *const bias = p->bias ? p->bias + col : NULL;
    float *dst = p->dst + row * p->n + col;
    p->multiply(&p->job, prepared, rows, weight, bias, dst, p->n, cols);
    for (size_t r = row; r < row + rows; r++, prepared += p->job.row_size, dst += p->n)
        if (!is_finite(&p->job, prepared))
            tl_lowbit_define(&p->job, p->src + r * p->job.k, weight, bias, dst, cols);
}

static void run_units(void *arg, size_t begin, size_t end)
{
    const product *const p = arg;
    for (size_t u = begin; u < end; u++)
        run_unit(p, u / p->row_units, u % p->row_units * UNIT_ROWS);
}

static size_t rows_of(const tl_tensor *src)
{
    const int k = src->dims[src->ndim - 1];
    return k ? (size_t)(src->len / k) : 0;
}

size_t tl_lowbit_matmul_scratch(const tl_tensor *src, const tl_lowbit_param *param)
{
    const tl_lowbit_job job = tl_lowbit_job_of((size_t)src->dims[src->ndim - 1], param);
    return tl_smaller_size(rows_of(src), MOST_ROWS) * job.row_size;
}

int tl_exec_lowbit_matmul(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                          const tl_tensor *bias, tl_tensor *dst, const tl_lowbit_param *param)
{
    assert(src->dtype == TL_FLOAT && dst->dtype == TL_FLOAT && weight->dtype == TL_UINT8);
    product p = {.job = tl_lowbit_job_of((size_t)src->dims[src->ndim - 1], param),
                 .multiply = pick(exec, TL_UINT8),
                 .prepare = pick_rows(exec, TL_UINT8),
                 .src = src->data,
                 .bias = bias ? bias->data : NULL,
                 .weight = weight->data,
                 .dst = dst->data,
                 .n = (size_t)dst->dims[dst->ndim - 1]};
    assert((size_t)weight->dims[1] == p.job.panel_size &&
           weight->dims[0] == tl_lowbit_panels((int)p.n));
    if (dst->len == 0)
        return 0;
    if (tl_check_scratch(exec, tl_lowbit_matmul_scratch(src, param), "for a matrix product") < 0)
        return -1;
    p.prepared = exec->scratch;
    const size_t rows = (size_t)dst->len / p.n;
    for (size_t row = 0; row < rows && !tl_stop_is_requested(exec->stop); row += MOST_ROWS) {
        p.rows = tl_smaller_size(MOST_ROWS, rows - row);
        p.row_units = tl_divide_up(p.rows, UNIT_ROWS);
        tl_parallel(exec, p.rows, tl_axis_grain(p.job.k / 8), prepare_rows, &p);
        const size_t cost = p.job.panel_size / 8 * tl_smaller_size(p.rows, UNIT_ROWS);
        tl_parallel(exec, (size_t)weight->dims[0] * p.row_units, tl_axis_grain(cost), run_units,
                    &p);
        p.src += p.rows * p.job.k;
        p.dst += p.rows * p.n;
    }
    return 0;
}
