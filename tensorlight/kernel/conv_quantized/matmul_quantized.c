// SPDX-License-Identifier: Apache-2.0
// 8-bit matrix multiplication: copies rows of the source to the blocked layout, as the pixels of a
// line, and multiplies them as a 1 x 1 convolution.

#include <assert.h>
#include <string.h>

#include "kernel/conv_quantized/conv_quantized.h"
#include "tensor/tl_result.h"

enum {
    SOURCE_BYTES = 256 * 1024, // of the rows that a unit copies: they stay in the L2 cache
    UNIT_MACS = 2000000,       // min multiply-accumulates of a unit
    TILE_ROWS = 14,            // of the largest tile
    UNIT_ROWS = 32,            // of the two tiles of a product of matrix units
};

// Multiplications, divided into units: some rows of one of them by some blocks of columns.
typedef struct product {
    const tl_quad_kernel *kernel;
    tl_quad_job job;
    const uint8_t *src;
    const int8_t *weight;
    char *dst, *scratch;
    size_t dst_size; // bytes of an element
    size_t pixel;    // bytes of a row in a group of blocks
    int groups;      // of blocks
    int is_direct;   // rows are read in place
    size_t batches;  // of matrices, each with its rows
    size_t rows;     // of one
    int k, columns, blocks;
    size_t rows_per_unit, row_units;
    int blocks_per_unit, block_units;
    size_t slot_size;
    size_t copied[TL_MAX_SLOTS]; // 1 + the row unit that a slot's scratch holds; 0: none
} product;

// Bytes of a row in the blocked layout; an empty row has a block, too, so that it has an address.
static size_t row_size(const product *p)
{
    return (size_t)p->groups * p->pixel;
}

// Bytes of the scratch of a slot for these rows.
static size_t slot_of(const product *p, size_t rows)
{
    return tl_ceil_div(rows * row_size(p), 64) * 64;
}

static size_t tile_rows(const product *p)
{
    return p->kernel->is_tiled ? UNIT_ROWS : TILE_ROWS;
}

// The max rows of a unit.
static size_t max_rows(const product *p)
{
    const size_t fit = SOURCE_BYTES / row_size(p), tile = tile_rows(p);
    return fit > tile ? fit - fit % tile : tile;
}

static void divide(product *p)
{
    const size_t max = max_rows(p), tile = tile_rows(p);
    const size_t n = tl_ceil_div(p->rows, max);
    const size_t even = n ? tl_ceil_div(tl_ceil_div(p->rows, n), tile) * tile : 1;
    p->rows_per_unit = tl_min_size(even, p->rows ? p->rows : 1);
    p->row_units = tl_ceil_div(p->rows, p->rows_per_unit);
    const size_t pairs = tl_ceil_div((size_t)p->blocks, 2);
    const double macs = 2.0 * TL_BLOCK * (double)p->k * (double)p->rows_per_unit * (double)pairs;
    const double wanted = macs / UNIT_MACS;
    const size_t units = wanted < 1 ? 1 : wanted < (double)pairs ? (size_t)wanted : pairs;
    p->blocks_per_unit = 2 * (int)tl_ceil_div(pairs, units ? units : 1);
    p->block_units =
        p->blocks ? (int)tl_ceil_div((size_t)p->blocks, (size_t)p->blocks_per_unit) : 0;
    p->slot_size = slot_of(p, p->rows_per_unit);
}

// Whether groups fill a row, whose tiles are then read in place: rows that are multiples of half of
// a set's distance in the L1 cache would displace each other.
static int is_direct(const product *p)
{
    enum { CONFLICT = 2048 };
    return p->kernel->is_tiled && (size_t)p->k % p->pixel == 0 && p->k % CONFLICT != 0;
}

static product product_of(const tl_tensor *src, const tl_tensor *dst, size_t batches,
                          const tl_quad_kernel *kernel)
{
    const int k = src->dims[src->ndim - 1];
    product p = {.kernel = kernel,
                 .k = k,
                 .columns = dst->dims[dst->ndim - 1],
                 .batches = batches,
                 .pixel =
                     kernel->is_tiled ? (size_t)tl_quad_pixel(k) : TL_BLOCK * (size_t)kernel->bytes,
                 .groups = kernel->is_tiled ? tl_quad_groups_of(k).n : tl_blocks(k ? k : 1)};
    p.is_direct = is_direct(&p);
    p.rows = p.columns ? (size_t)dst->len / (size_t)p.columns / batches : 0;
    p.blocks = tl_blocks(p.columns);
    divide(&p);
    return p;
}

size_t tl_quantized_matmul_scratch(const tl_tensor *src, const tl_tensor *dst, int threads)
{
    static const tl_quad_kernel kernels[] = {
        {.bytes = 1}, {.bytes = 2}, {.bytes = 1, .is_tiled = 1}};
    size_t max = 0; // of all kernels, and all smaller batches, whose units may be larger
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        const product p = product_of(src, dst, 1, &kernels[i]);
        const size_t size = slot_of(&p, tl_min_size(p.rows, max_rows(&p)));
        max = size > max ? size : max;
    }
    return tl_slots_size(max, threads);
}

TL_INLINE void copy_block(const uint8_t *src, const size_t bytes, uint8_t *dst)
{
    if (bytes == 1)
        memcpy(dst, src, TL_BLOCK);
    else
        tl_quad_widen(dst, src);
}

// `n` rows [k] -> [blocks of k][n][TL_BLOCK], blocks `step` bytes apart. `bytes` is constant.
TL_INLINE void copy_some(const uint8_t *src, size_t k, size_t n, const size_t bytes, uint8_t *dst,
                         size_t step)
{
    size_t i = 0;
    for (; i + TL_BLOCK <= k; i += TL_BLOCK, dst += step)
        for (size_t r = 0; r < n; r++)
            copy_block(src + r * k + i, bytes, dst + r * TL_BLOCK * bytes);
    for (size_t r = 0; r < n && i < k; r++) {
        uint8_t last[TL_BLOCK] = {0};
        memcpy(last, src + r * k + i, k - i);
        copy_block(last, bytes, dst + r * TL_BLOCK * bytes);
    }
}

// The same for groups of blocks, each `size` bytes of a row.
static void copy_groups(const uint8_t *src, size_t k, size_t n, size_t size, uint8_t *dst,
                        size_t step)
{
    for (size_t i = 0; i < k; i += size, dst += step) {
        const size_t len = tl_min_size(size, k - i);
        for (size_t r = 0; r < n; r++) {
            memcpy(dst + r * size, src + r * k + i, len);
            if (len < size)
                memset(dst + r * size + len, 0, size - len);
        }
    }
}

// [rows][k] -> [blocks of k][rows][TL_BLOCK]. Some rows at a time fill cache lines, which otherwise
// leave the cache between two rows: lines of many blocks are in the same sets.
static void copy_rows(const product *p, const uint8_t *src, size_t rows, uint8_t *dst)
{
    enum { SOME = 4 };
    const size_t k = (size_t)p->k, block = p->pixel, step = rows * block;
    for (size_t r = 0; r < rows; r += SOME) {
        const size_t n = tl_min_size(SOME, rows - r);
        if (p->kernel->is_tiled)
            copy_groups(src + r * k, k, n, p->pixel, dst + r * block, step);
        else if (p->kernel->bytes == 1)
            copy_some(src + r * k, k, n, 1, dst + r * block, step);
        else
            copy_some(src + r * k, k, n, 2, dst + r * block, step);
    }
}

static void run_unit(product *p, size_t unit, size_t slot)
{
    const size_t row_unit = unit / p->block_units, batch = row_unit / p->row_units;
    const size_t begin = row_unit % p->row_units * p->rows_per_unit;
    const size_t rows = tl_min_size(p->rows_per_unit, p->rows - begin);
    const size_t row = batch * p->rows + begin;
    const int8_t *const weight = p->weight + batch * p->blocks * p->job.weight_step;
    uint8_t *const copy = (uint8_t *)p->scratch + slot * p->slot_size;
    tl_quad_job job = p->job;
    if (job.zeros.sums)
        job.zeros.sums += row;
    if (!p->is_direct && p->copied[slot] != 1 + row_unit)
        copy_rows(p, p->src + row * p->k, rows, copy);
    p->copied[slot] = 1 + row_unit;
    const uint8_t *const src = p->is_direct ? p->src + row * p->k : copy;
    const size_t pixel = p->kernel->is_tiled ? p->pixel : TL_BLOCK;
    job.src_block_step = p->is_direct ? pixel : rows * pixel;
    const int each = p->kernel->is_tiled ? p->blocks : 2;
    const int first = (int)(unit % p->block_units) * p->blocks_per_unit;
    const int end = tl_min(first + p->blocks_per_unit, p->blocks);
    for (int b = first; b < end; b += each) {
        const int n = tl_min(each, end - b);
        const int lanes = tl_min(TL_BLOCK, p->columns - (b + n - 1) * TL_BLOCK);
        const size_t to = row * p->columns + (size_t)b * TL_BLOCK;
        job.zeros.channel = b * TL_BLOCK;
        p->kernel->line(&job, src, weight + b * job.weight_step, p->dst + to * p->dst_size,
                        (int)rows, n, lanes);
    }
}

static void run_units(void *arg, size_t slot, size_t begin, size_t end)
{
    for (size_t u = begin; u < end; u++)
        run_unit(arg, u, slot);
}

size_t tl_quantized_matmul_sums(const tl_tensor *dst)
{
    const int columns = dst->dims[dst->ndim - 1];
    return tl_quad_sums_size(1, 0, columns ? (size_t)dst->len / (size_t)columns : 0);
}

static const tl_quad_kernel *kernel_for(const tl_exec *exec, const tl_tensor *src,
                                        const tl_tensor *dst, size_t batches)
{
    const tl_quad_kernel *const tiles = tl_quad_tiles_for(exec);
    const size_t columns = (size_t)dst->dims[dst->ndim - 1];
    const size_t rows = (size_t)dst->len / columns / batches;
    const int fills_tiles = rows >= TL_AREA_PIXELS && src->dims[src->ndim - 1] > 0;
    return tiles && fills_tiles ? tiles : tl_quad_kernel_for(exec);
}

int tl_exec_quantized_matmul(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                             tl_tensor *dst, const tl_quantized_param *q)
{
    assert(src->dtype == TL_UINT8);
    const uint8_t nothing = 0; // the address of a source without elements
    const ptrdiff_t tap = 0;
    tl_exec rest;
    if (dst->len == 0)
        return 0;
    const int *const packed = weight->dims + weight->ndim - 2;
    const size_t batches = (size_t)weight->len / ((size_t)packed[0] * (size_t)packed[1]);
    product p = product_of(src, dst, batches, kernel_for(exec, src, dst, batches));
    p.job = tl_quad_job_of(weight, dst, q);
    if (q->weight_zero) {
        if (tl_quad_split_scratch(exec, tl_quantized_matmul_sums(dst), &rest) < 0)
            return -1;
        p.job.zeros.sums = exec->scratch;
        p.job.zeros.group = p.job.zeros.outputs = p.columns;
        tl_quad_sum_rows(exec, p.k ? src->data : &nothing, batches * p.rows, (size_t)p.k, q->zero,
                         exec->scratch);
        exec = &rest;
    }
    if (tl_check_scratch(exec, p.slot_size, "for a matrix product") < 0)
        return -1;
    p.job.area = (tl_quad_area){
        .pixel = (int)p.pixel, .pixel_step = p.is_direct ? (size_t)p.k : p.pixel, .n_lines = 1};
    tl_quad_job_set_channels(&p.job, p.k);
    p.job.n_taps = 1;
    p.job.taps = &tap;
    p.job.dst_block_step = TL_BLOCK;
    p.job.dst_step = (size_t)p.columns;
    p.src = p.k ? src->data : &nothing;
    p.weight = weight->data;
    p.dst = dst->data;
    p.dst_size = tl_size_of(dst->dtype);
    p.scratch = exec->scratch;
    tl_parallel_slots(exec, p.batches * p.row_units * p.block_units,
                      tl_min_size(exec->scratch_size / p.slot_size, TL_MAX_SLOTS), run_units, &p);
    return 0;
}
