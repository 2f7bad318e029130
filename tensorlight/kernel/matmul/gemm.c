// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication of floats: partition of the work, and choice of the kernels.

#include "kernel/matmul/gemm.h"

#include <math.h>

#include "kernel/act/act.h"

TL_KERNEL_TABLE(pick_block, tl_gemm_block_func, TL_GEMM_KERNELS)
TL_KERNEL_TABLE(pick_units, tl_gemm_block_func, TL_GEMM_UNIT_KERNELS)
TL_KERNEL_TABLE(pick_pack, tl_gemm_pack_func, TL_GEMM_PACK_KERNELS)
TL_KERNEL_TABLE(pick_few, tl_gemm_few_func, TL_GEMM_FEW_KERNELS)

enum { LINE = 16 }; // floats of a cache line

// A multiplication, divided into units: some rows by some columns of a matrix of the batch.
typedef struct job {
    tl_matmul_plan plan;
    tl_gemm gemm; // shared by all matrices
    int is_packed;
    const float *packed; // if is_packed: all of src2
    tl_gemm_block_func *block;
    tl_gemm_few_func *few; // replaces `block` unless NULL
    int unpacks;           // panels of parts to floats
    const tl_stop *stop;
    int is_few;
    size_t part_len;
    size_t row_units;         // of a matrix
    size_t panels, col_units; // of a matrix; a unit has whole panels
    size_t slots;             // max threads
    float *scratch;           // or NULL; of each slot:
    size_t copy_floats;       // the copy of its strips,
    size_t buffer_floats;     // and its panels
} job;

static size_t round_up(size_t a, size_t b)
{
    return tl_ceil_div(a, b) * b;
}

// The length of the parts of a sum of `k` terms, a multiple of `step`; the last one may be shorter.
static size_t part_len(size_t k, size_t step)
{
    const size_t max = TL_GEMM_LEN - TL_GEMM_LEN % step;
    return k == 0 ? 1 : round_up(tl_ceil_div(k, tl_ceil_div(k, max)), step);
}

// Dividing the work

// A matrix by a vector becomes the vector by the transposed matrix: few rows, which read src2 once.
static void swap_if_vector(tl_matmul_plan *p)
{
    if (p->n != 1 || p->m == 1)
        return;
    tl_matrices *const each[] = {&p->src1, &p->src2, &p->bias, &p->add, &p->dst};
    for (int i = 0; i < 5; i++) {
        const size_t row = each[i]->row;
        each[i]->row = each[i]->col;
        each[i]->col = row;
    }
    const tl_matrices src1 = p->src1;
    p->src1 = p->src2;
    p->src2 = src1;
    p->n = p->m;
    p->m = 1;
}

// Whether the kernel of few rows applies: the rows of src2 are contiguous, or the columns of src2
// and the rows of src1.
static int is_few(const tl_matmul_plan *p)
{
    return p->m <= TL_GEMM_FEW && (p->src2.col == 1 || p->src1.col == 1 || p->k <= 1);
}

// Whether strips of src1 are copied: its columns are contiguous, or its rows map to the same sets
// of the L1 cache, which is smaller than src1.
static int is_copied(const tl_matmul_plan *p)
{
    enum { CONFLICT = 1024, FIT = 4096 }; // floats
    return p->m > 1 && p->m * p->k > FIT && (p->src1.col > 1 || p->src1.row % CONFLICT == 0);
}

enum {
    MIN_WORK = 100000,    // min multiply-accumulates of a unit
    WEIGHT_COST = 4,      // to load an element of src2 from memory, in multiply-accumulates
    UNITS_PER_THREAD = 3, // balances threads of different speed
    MAX_PANELS = 32,      // of a unit: they stay in the L3 cache for all of its rows
    MIN_PANELS = 4,       // of a unit, unless its rows cannot be divided
    MIN_ROWS = 56,        // of a unit: enough to outweigh packing
    MAX_ROWS = 4096,      // of a unit: a part of its sums takes some tenths of a second
};

// Sets the size of a unit. The result does not depend on it. Columns are divided first, as each
// unit packs its columns; then the rows, into as many units as are still missing.
static void divide(job *j, int threads)
{
    const tl_matmul_plan *const p = &j->plan;
    const size_t count = tl_matmul_count(p);
    const double work = (double)(p->m > WEIGHT_COST ? p->m : WEIGHT_COST) * p->n * p->k * count;
    const double max = work / MIN_WORK < 1 ? 1 : work / MIN_WORK; // units
    const size_t wanted =
        threads == 1 ? 1 : tl_min_size((size_t)fmin(max, 1e6), threads * UNITS_PER_THREAD);
    const size_t per_matrix = tl_ceil_div(wanted, count);
    j->panels = tl_ceil_div(p->n, TL_GEMM_PANEL);
    j->col_units =
        tl_ceil_div(j->panels, j->is_few ? TL_GEMM_FEW_FLOATS / TL_GEMM_PANEL / p->m : MAX_PANELS);
    const size_t wide = tl_min_size(per_matrix, j->panels / MIN_PANELS);
    if (!j->is_few && j->col_units < wide)
        j->col_units = wide;
    const size_t missing = tl_ceil_div(per_matrix, j->col_units);
    j->row_units = 1;
    if (!j->is_few && p->m >= 2 * MIN_ROWS) {
        const size_t units = tl_min_size(missing, p->m / MIN_ROWS);
        j->row_units = units > (size_t)threads ? units - units % threads : units;
    } else if (missing > 1) {
        j->col_units = tl_min_size(per_matrix, j->panels);
    }
    if (!j->is_few && j->row_units < p->m / MAX_ROWS)
        j->row_units = p->m / MAX_ROWS;
    if (j->is_packed && p->m <= TL_GEMM_STREAMED && p->k > TL_GEMM_LEN)
        j->col_units = j->panels; // all parts of a panel in a row
    j->slots = tl_min_size((size_t)fmin(max, TL_MAX_SLOTS), (size_t)threads);
}

// Floats of the panels that a slot packs: all of a unit, or one if the unit is a single group.
static size_t buffer_floats(const job *j)
{
    const size_t rows = tl_ceil_div(j->plan.m, j->row_units);
    const size_t panels = rows * j->part_len <= tl_gemm_group(j->gemm.is_copied)
                              ? 1
                              : tl_ceil_div(j->panels, j->col_units);
    return panels * TL_GEMM_PANEL * j->part_len;
}

static job job_of(const tl_matmul_plan *plan, int is_packed, int threads)
{
    job j = {.plan = *plan, .is_packed = is_packed};
    if (!is_packed)
        swap_if_vector(&j.plan);
    j.is_few = !is_packed && is_few(&j.plan);
    j.part_len = part_len(plan->k, LINE);
    divide(&j, threads);
    j.gemm.is_copied = !j.is_few && is_copied(&j.plan);
    j.copy_floats = j.gemm.is_copied ? TL_GEMM_COPY : 0;
    j.buffer_floats = j.is_few || is_packed ? 0 : buffer_floats(&j);
    return j;
}

static size_t scratch_size(const job *j)
{
    return j->slots * (j->copy_floats + j->buffer_floats) * sizeof(float);
}

size_t tl_gemm_scratch(const tl_matmul_plan *plan, int is_packed, int threads)
{
    const job j = job_of(plan, is_packed, threads);
    return scratch_size(&j);
}

// Packing all of src2

typedef struct pack_job {
    tl_gemm_pack_func *pack;
    const tl_gemm_matrix *src;
    size_t k, n;
    float *panels;
} pack_job;

// Panels that are packed at once: long contiguous reads, but not too many streams of writes.
enum { PANELS_AT_ONCE = 8 };

static void pack_units(void *arg, size_t begin, size_t end)
{
    const pack_job *const j = arg;
    for (size_t u = begin; u < end; u++) {
        const size_t col = u * PANELS_AT_ONCE * TL_GEMM_PANEL;
        const tl_gemm_matrix src = {j->src->data + col * j->src->col, j->src->row, j->src->col};
        j->pack(&src, j->k, tl_min_size(PANELS_AT_ONCE * TL_GEMM_PANEL, j->n - col),
                j->panels + col * j->k);
    }
}

void tl_gemm_pack(const tl_exec *exec, const tl_gemm_matrix *src, size_t k, size_t n, float *panels)
{
    pack_job j = {pick_pack(exec, TL_FLOAT), src, k, n, panels};
    tl_parallel(exec, tl_ceil_div(n, PANELS_AT_ONCE * TL_GEMM_PANEL),
                MIN_WORK / (PANELS_AT_ONCE * TL_GEMM_PANEL * (k + 1)) + 1, pack_units, &j);
}

// Computing

static tl_gemm_matrix matrix_of(const tl_matmul_plan *p, const tl_matrices *x, size_t index)
{
    return (tl_gemm_matrix){(const float *)tl_matmul_element(p, x, index, 0, 0), x->row, x->col};
}

// Matrix `index` of the batch.
static tl_gemm gemm_of(const job *j, size_t index)
{
    const tl_matmul_plan *const p = &j->plan;
    tl_gemm g = j->gemm;
    g.src1 = matrix_of(p, &p->src1, index);
    g.src2 = matrix_of(p, &p->src2, index);
    g.bias = matrix_of(p, &p->bias, index);
    g.add = matrix_of(p, &p->add, index);
    g.dst = (float *)tl_matmul_element(p, &p->dst, index, 0, 0);
    g.dst_row = p->dst.row;
    return g;
}

// Computes a unit part by part; all but the first part accumulate in dst.
static void run_blocks(const job *j, const tl_gemm *g, tl_gemm_part *part)
{
    part->panel_step = g->k * TL_GEMM_PANEL;
    for (size_t begin = 0; begin == 0 || begin < g->k; begin += part->len) {
        if (begin > 0 && tl_stop_is_requested(j->stop))
            return;
        part->begin = begin;
        part->len = tl_min_size(j->part_len, g->k - begin);
        part->panels = j->packed ? j->packed + part->col * g->k + begin * TL_GEMM_PANEL : NULL;
        j->block(g, part);
        if (g->k == 0)
            return;
    }
}

// The same without scratch memory. Not inlined, so that only this function needs that much stack.
static __attribute__((noinline)) void run_blocks_on_stack(const job *j, const tl_gemm *g,
                                                          tl_gemm_part *part)
{
    _Alignas(64) float panel[TL_GEMM_PANEL * TL_GEMM_LEN];
    part->buffer = panel;
    part->buffer_floats = TL_GEMM_PANEL * TL_GEMM_LEN;
    run_blocks(j, g, part);
}

// The same for panels of parts, one by one. Not inlined, for the stack.
static __attribute__((noinline)) void run_unpacked(const job *j, const tl_gemm *g,
                                                   const tl_gemm_part *unit)
{
    _Alignas(64) float panel[TL_GEMM_PANEL * TL_GEMM_LEN];
    const size_t words = tl_gemm_words(g->k, 1), end = unit->col + unit->cols;
    tl_gemm_part part = {.row = unit->row, .rows = unit->rows, .col = unit->col, .panels = panel};
    for (; part.col < end; part.col += TL_GEMM_PANEL) {
        part.cols = tl_min_size(end - part.col, TL_GEMM_PANEL);
        for (part.begin = 0; part.begin < g->k; part.begin += part.len) {
            if (tl_stop_is_requested(j->stop))
                return;
            part.len = tl_min_size(j->part_len, g->k - part.begin);
            tl_gemm_unpack((const uint16_t *)(j->packed + part.col * words), part.begin, part.len,
                           panel);
            j->block(g, &part);
        }
    }
}

static void run_units(void *arg, size_t slot, size_t begin, size_t end)
{
    const job *const j = arg;
    float *const copy = j->scratch ? j->scratch + slot * (j->copy_floats + j->buffer_floats) : NULL;
    float *const buffer = j->scratch ? copy + j->copy_floats : NULL;
    for (size_t u = begin; u < end; u++) {
        const size_t row = u % j->row_units, rest = u / j->row_units, col = rest % j->col_units;
        const tl_gemm g = gemm_of(j, rest / j->col_units);
        tl_gemm_part part = {.row = g.m * row / j->row_units,
                             .col = j->panels * col / j->col_units * TL_GEMM_PANEL,
                             .copy = copy,
                             .buffer = buffer,
                             .buffer_floats = j->buffer_floats};
        part.rows = g.m * (row + 1) / j->row_units - part.row;
        part.cols =
            tl_min_size(j->panels * (col + 1) / j->col_units * TL_GEMM_PANEL, g.n) - part.col;
        if (j->few)
            j->few(&g, part.col, part.cols);
        else if (j->unpacks)
            run_unpacked(j, &g, &part);
        else if (buffer || j->is_packed)
            run_blocks(j, &g, &part);
        else
            run_blocks_on_stack(j, &g, &part);
    }
}

// A job without its kernels.
static job start(const tl_exec *exec, const tl_matmul_plan *plan, const float *packed,
                 tl_activation act)
{
    job j = job_of(plan, packed != NULL, tl_pool_size(exec ? exec->pool : NULL));
    const tl_matmul_plan *const p = &j.plan;
    const size_t needed = scratch_size(&j);
    if (exec && needed && exec->scratch_size >= needed)
        j.scratch = exec->scratch;
    j.packed = packed;
    j.stop = exec ? exec->stop : NULL;
    j.gemm = (tl_gemm){.m = p->m,
                       .n = p->n,
                       .k = p->k,
                       .alpha = (float)p->alpha,
                       .beta = (float)p->beta,
                       .act = act,
                       .stop = j.stop,
                       .is_copied = j.scratch && j.gemm.is_copied};
    tl_act_bounds(act, &j.gemm.low, &j.gemm.high);
    return j;
}

static void run(const tl_exec *exec, job *j)
{
    tl_parallel_slots(exec, tl_matmul_count(&j->plan) * j->row_units * j->col_units, j->slots,
                      run_units, j);
}

void tl_gemm_run(const tl_exec *exec, const tl_matmul_plan *plan, const float *packed,
                 tl_dtype dtype, tl_activation act)
{
    job j = start(exec, plan, packed, act);
    j.block = pick_block(exec, dtype);
    j.few = j.is_few ? pick_few(exec, TL_FLOAT) : NULL;
    run(exec, &j);
}

int tl_gemm_has_units(const tl_exec *exec)
{
    return pick_units(exec, TL_BFLOAT16) != NULL;
}

void tl_gemm_run_split(const tl_exec *exec, const tl_matmul_plan *plan, const float *packed,
                       tl_activation act)
{
    job j = start(exec, plan, packed, act);
    j.block = pick_units(exec, TL_BFLOAT16);
    j.gemm.is_copied = 0;
    if (j.block) {
        j.part_len = part_len(j.plan.k, TL_GEMM_SPLIT);
        j.gemm.is_split = 1;
    } else {
        j.block = pick_block(exec, TL_FLOAT);
        j.unpacks = 1;
    }
    run(exec, &j);
}
