// SPDX-License-Identifier: Apache-2.0
// Products with weights of few bits: how the work is divided.

#include "kernel/matmul_lowbit/matmul_lowbit.h"

#include <assert.h>

#include "kernel/matmul/gemm.h"
#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_widen, tl_lowbit_widen_func, TL_LOWBIT_WIDEN_KERNELS)
TL_KERNEL_TABLE(pick, tl_lowbit_func, TL_LOWBIT_KERNELS)
TL_KERNEL_TABLE(pick_tiles, tl_lowbit_func, TL_LOWBIT_TILES)
TL_KERNEL_TABLE(pick_rows, tl_lowbit_rows_func, TL_LOWBIT_ROWS_KERNELS)

enum {
    FEW_ROWS = 8,     // max rows for dot products of bytes; for more, panels are dequantized
    DOT_ROWS = 64,    // the same, with instructions for dot products of bytes
    PLAIN_ROWS = 2,   // the same, in plain C
    TILED_ROWS = 8,   // min rows for matrix units
    WIDE_ROWS = 1024, // max rows of a unit with dequantized panels
    WIDE_PANELS = 4,  // of such a unit: strips of rows are copied once for all of them
    MANY_PANELS = 32, // enough for all threads, so that units have WIDE_PANELS
};

static const unsigned char few_rows[TL_ISA_SIZE] = {
    [TL_ISA_C] = PLAIN_ROWS,        [TL_ISA_AVX2] = FEW_ROWS, [TL_ISA_AVXVNNI] = DOT_ROWS,
    [TL_ISA_AVX512VNNI] = DOT_ROWS, [TL_ISA_NEON] = FEW_ROWS, [TL_ISA_DOTPROD] = DOT_ROWS,
    [TL_ISA_I8MM] = DOT_ROWS,
};

typedef struct product {
    tl_lowbit_job job;
    tl_lowbit_func *multiply;
    tl_lowbit_rows_func *prepare;
    tl_lowbit_widen_func *widen;
    const float *src, *bias;
    const uint8_t *weight;
    char *scratch;
    float *dst;
    int is_finite; // all prepared rows are
    size_t rows, n, panels, row_units;
    size_t unit_panels, col_units;
    size_t panel_floats;           // of a panel as floats
    size_t buffer_size, slot_size; // of a slot, for many rows: for panels, and all
    tl_exec alone;                 // for the multiplication of floats in a slot: one thread
} product;

static product product_of(const tl_tensor *src, int n, const tl_lowbit_param *param, int has_halves)
{
    product p = {.job = tl_lowbit_job_of((size_t)src->dims[src->ndim - 1], param, has_halves),
                 .n = (size_t)n};
    p.rows = p.job.k ? (size_t)src->len / p.job.k : 0;
    p.panels = (size_t)tl_lowbit_panels(n);
    return p;
}

// Whether the rows are few for the kernels that `exec` may use.
static int is_few(const product *p, const tl_exec *exec)
{
    const tl_kernel_key key = pick_keys[tl_kernel_find(pick_keys, exec, TL_UINT8)];
    assert(key.isa < TL_ISA_SIZE);
    return p->job.limbs == 1 || p->rows <= few_rows[key.isa] || p->job.k == 0;
}

// Few rows

static void prepare_rows(void *arg, size_t begin, size_t end)
{
    const product *const p = arg;
    for (size_t r = begin; r < end; r++)
        p->prepare(&p->job, p->src + r * p->job.k, p->scratch + r * p->job.row_size);
}

static int is_finite(const tl_lowbit_job *job, const char *row)
{
    if (job->limbs == 1)
        return 1;
    for (size_t b = 0; b < job->blocks; b++, row += tl_lowbit_block_size(job))
        if (!((const tl_lowbit_head *)(const void *)row)->is_finite)
            return 0;
    return 1;
}

static tl_lowbit_cols cols_of(const product *p, size_t panel)
{
    const size_t col = panel * TL_LOWBIT_PANEL;
    return (tl_lowbit_cols){p->weight + panel * p->job.panel_size, p->bias ? p->bias + col : NULL,
                            p->dst + col, tl_min_size(TL_LOWBIT_PANEL, p->n - col)};
}

// Rows with infinities or NaN.
static void run_reference(const product *p, const tl_lowbit_cols *cols)
{
    for (size_t r = 0; r < p->rows && !p->is_finite; r++)
        if (!is_finite(&p->job, p->scratch + r * p->job.row_size))
            tl_lowbit_reference(&p->job, p->src + r * p->job.k, cols->panel, cols->bias,
                                cols->dst + r * p->n, cols->n);
}

// Panel `first`, and with `pair` panel `second`.
static void run_cols(const product *p, size_t first, size_t second, int pair)
{
    const tl_lowbit_cols cols[2] = {cols_of(p, first), cols_of(p, second)};
    p->multiply(&p->job, p->scratch, p->rows, cols, pair, p->n);
    for (int i = 0; i <= pair; i++)
        run_reference(p, cols + i);
}

// One row is memory-bound: panels of both halves at once.
static void run_panels(void *arg, size_t begin, size_t end)
{
    const product *const p = arg;
    const size_t half = p->rows == 1 ? (end - begin) / 2 : 0;
    for (size_t panel = begin; panel < begin + half; panel++)
        run_cols(p, panel, panel + half, 1);
    for (size_t panel = begin + 2 * half; panel < end; panel++)
        run_cols(p, panel, panel, 0);
}

static int run_few(const tl_exec *exec, product *p)
{
    if (tl_check_scratch(exec, p->rows * p->job.row_size, "for a matrix product") < 0)
        return -1;
    p->scratch = exec ? exec->scratch : NULL; // there may be nothing to be prepared
    tl_parallel(exec, p->rows, tl_axis_grain(p->job.k / 8), prepare_rows, p);
    p->is_finite = 1;
    for (size_t r = 0; r < p->rows && p->is_finite; r++)
        p->is_finite = is_finite(&p->job, p->scratch + r * p->job.row_size);
    tl_parallel(exec, p->panels, tl_axis_grain(p->job.panel_size / 8 * p->rows), run_panels, p);
    return 0;
}

// Matrix units

// The kernel for matrix units, or NULL: few rows, or none that this CPU has.
static tl_lowbit_func *tiles_for(const product *p, const tl_exec *exec)
{
    return p->rows >= TILED_ROWS && p->job.k ? pick_tiles(exec, TL_UINT8) : NULL;
}

// Prepares and computes as many rows at once as fit the scratch memory.
static int run_tiles(const tl_exec *exec, const product *p)
{
    enum { GROUP = 64 }; // rows for which the kernel unpacks weights
    const size_t fit = exec ? exec->scratch_size / p->job.row_size : 0;
    const size_t max = fit > GROUP ? fit - fit % GROUP : fit > 1 ? fit : 1;
    for (size_t row = 0, n; row < p->rows; row += n) {
        product part = *p;
        n = tl_min_size(max, p->rows - row);
        part.rows = n;
        part.src += row * p->job.k;
        part.dst += row * p->n;
        if (tl_stop_is_requested(exec ? exec->stop : NULL))
            return 0;
        if (run_few(exec, &part) < 0)
            return -1;
    }
    return 0;
}

// Many rows

static tl_matmul_plan plan_of(const product *p, size_t row, size_t rows, size_t col, size_t cols)
{
    const size_t k = p->job.k, size = sizeof(float);
    const float *const src = p->src ? p->src + row * k : NULL;
    float *const dst = p->dst ? p->dst + row * p->n + col : NULL;
    return (tl_matmul_plan){
        .m = rows,
        .n = cols,
        .k = k,
        .src1 = {(const char *)src, size, k, 1, {0}},
        .bias = {(const char *)(p->bias ? p->bias + col : NULL), size, 0, 1, {0}},
        .dst = {(const char *)dst, size, p->n, 1, {0}},
        .alpha = 1,
        .beta = 1,
    };
}

// Divides the rows, the panels, and the scratch memory of a slot.
static void divide(product *p)
{
    p->row_units = tl_ceil_div(p->rows, WIDE_ROWS);
    p->unit_panels = p->panels < MANY_PANELS ? 1 : WIDE_PANELS;
    p->col_units = tl_ceil_div(p->panels, p->unit_panels);
    const tl_matmul_plan plan =
        plan_of(p, 0, tl_ceil_div(p->rows, p->row_units), 0, p->unit_panels * TL_LOWBIT_PANEL);
    p->panel_floats = p->job.k * TL_LOWBIT_PANEL;
    // The last panel has whole blocks.
    const size_t blocks = p->job.blocks * (size_t)p->job.param.block * TL_LOWBIT_PANEL;
    p->buffer_size = ((p->unit_panels - 1) * p->panel_floats + blocks) * sizeof(float);
    p->slot_size = p->buffer_size + tl_ceil_div(tl_gemm_scratch(&plan, 1, 1), 64) * 64;
}

static void run_wide_unit(const product *p, size_t unit, float *buf)
{
    const size_t first = unit / p->row_units * p->unit_panels, part = unit % p->row_units;
    const size_t panels = tl_min_size(p->unit_panels, p->panels - first);
    const size_t col = first * TL_LOWBIT_PANEL, row = p->rows * part / p->row_units;
    const size_t rows = p->rows * (part + 1) / p->row_units - row;
    const size_t cols = tl_min_size(panels * TL_LOWBIT_PANEL, p->n - col);
    const tl_matmul_plan plan = plan_of(p, row, rows, col, cols);
    tl_exec exec = p->alone;
    exec.scratch = (char *)buf + p->buffer_size;
    exec.scratch_size = p->slot_size - p->buffer_size;
    for (size_t i = 0; i < panels; i++) // each overwrites the padding rows of the one before
        p->widen(&p->job, p->weight + (first + i) * p->job.panel_size, buf + i * p->panel_floats);
    tl_gemm_run(&exec, &plan, buf, TL_FLOAT, (tl_activation){TL_ACT_NONE, 0, 0});
}

static void run_wide_units(void *arg, size_t slot, size_t begin, size_t end)
{
    const product *const p = arg;
    for (size_t u = begin; u < end; u++)
        run_wide_unit(p, u, (float *)(void *)(p->scratch + slot * p->slot_size));
}

static int run_many(const tl_exec *exec, product *p)
{
    divide(p);
    if (tl_check_scratch(exec, p->slot_size, "for a matrix product") < 0)
        return -1;
    p->scratch = exec->scratch;
    p->alone = (tl_exec){.isa = exec->isa, .stop = exec->stop};
    const size_t slots = tl_min_size(exec->scratch_size / p->slot_size, TL_MAX_SLOTS);
    tl_parallel_slots(exec, p->col_units * p->row_units, slots, run_wide_units, p);
    return 0;
}

// All

size_t tl_lowbit_matmul_scratch(const tl_tensor *src, int n, const tl_lowbit_param *param,
                                int threads)
{
    product p = product_of(src, n, param, 0);
    // The same memory serves fewer rows: a size may be open.
    const size_t rows = p.job.limbs == 1 ? p.rows : tl_min_size(p.rows, DOT_ROWS);
    if (p.job.row_size && rows > SIZE_MAX / p.job.row_size)
        return SIZE_MAX;
    const size_t few = rows * p.job.row_size;
    if (p.job.limbs == 1 || p.rows <= PLAIN_ROWS || p.job.k == 0)
        return few;
    divide(&p);
    const size_t many = tl_slots_size(p.slot_size, threads);
    return few > many ? few : many; // the instruction set is known only at run time
}

int tl_exec_lowbit_matmul(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                          const tl_tensor *bias, tl_tensor *dst, const tl_lowbit_param *param)
{
    assert(src->dtype == TL_FLOAT && dst->dtype == TL_FLOAT && weight->dtype == TL_UINT8);
    const int n = dst->dims[dst->ndim - 1];
    assert((size_t)weight->len == tl_lowbit_packed(src->dims[src->ndim - 1], n, param));
    const uint8_t *const head = weight->data;
    product p = product_of(src, n, param, head[0]);
    if (dst->len == 0)
        return 0;
    p.rows = (size_t)dst->len / p.n;
    tl_lowbit_func *const tiles = tiles_for(&p, exec);
    p.multiply = tiles ? tiles : pick(exec, TL_UINT8);
    p.prepare = pick_rows(exec, TL_UINT8);
    p.widen = pick_widen(exec, TL_UINT8);
    p.src = src->data;
    p.bias = bias ? bias->data : NULL;
    p.weight = head + TL_LOWBIT_HEAD;
    p.dst = dst->data;
    if (tiles)
        return run_tiles(exec, &p);
    return is_few(&p, exec) ? run_few(exec, &p) : run_many(exec, &p);
}
