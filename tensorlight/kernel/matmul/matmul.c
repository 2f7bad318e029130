// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication: checks, and the blocks and threads of the plain C kernels.

#include "kernel/matmul/matmul.h"

#include <assert.h>
#include <math.h>

#include "kernel/matmul/gemm.h"
#include "kernel/matmul/matmul_plan.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_linalg.h"

TL_KERNEL_TABLE(pick_multiply, tl_matmul_func, TL_MATMUL_KERNELS)
TL_KERNEL_TABLE(pick_pack, tl_matmul_pack_func, TL_MATMUL_PACK_KERNELS)
TL_KERNEL_TABLE(pick_row, tl_matmul_row_func, TL_MATMUL_ROW_KERNELS)
TL_KERNEL_TABLE(pick_store, tl_matmul_store_func, TL_MATMUL_STORE_KERNELS)

// A plan, and the plain kernels that execute it.
typedef struct job {
    tl_matmul_plan plan;
    size_t row_blocks, col_blocks; // of a matrix
    tl_matmul_pack_func *pack1, *pack2;
    tl_matmul_func *multiply;
    tl_matmul_row_func *multiply_row; // not NULL: replaces packing and multiply
    tl_matmul_store_func *store;
} job;

// The type of the sums.
static tl_dtype sum_dtype(tl_dtype dtype)
{
    if (tl_dtype_is_float(dtype))
        return dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
    return tl_size_of(dtype) == 8 ? TL_UINT64 : TL_UINT32;
}

static size_t blocks_of(size_t len, size_t block)
{
    return (len + block - 1) / block;
}

// With fewer rows, packing costs more than it saves.
enum { FEW_ROWS = 4 };

static void pick_kernels(job *j, const tl_exec *exec, tl_dtype src1, tl_dtype src2, tl_dtype dst)
{
    j->pack1 = pick_pack(exec, src1);
    j->pack2 = pick_pack(exec, src2);
    j->multiply = pick_multiply(exec, sum_dtype(dst));
    j->store = pick_store(exec, dst);
    if (src1 == src2 && !j->plan.zero1.data && !j->plan.zero2.data && j->plan.m < FEW_ROWS)
        j->multiply_row = pick_row(exec, src1);
}

// Blocks

typedef struct buffers {
    _Alignas(64) char panels1[TL_MATMUL_ROWS * TL_MATMUL_LEN * TL_DTYPE_MAX_SIZE];
    _Alignas(64) char panels2[TL_MATMUL_COLS * TL_MATMUL_LEN * TL_DTYPE_MAX_SIZE];
    _Alignas(64) char acc[TL_MATMUL_ROWS * TL_MATMUL_COLS * TL_DTYPE_MAX_SIZE];
} buffers;

// A block of the result: its first element in each tensor (NULL: absent), and its extents.
typedef struct block {
    const char *src1, *src2, *bias, *zero1, *zero2;
    char *dst;
    size_t rows, cols;
} block;

static block block_of(const job *j, size_t unit)
{
    const tl_matmul_plan *const p = &j->plan;
    const size_t col = unit % j->col_blocks * TL_MATMUL_COLS;
    const size_t row = unit / j->col_blocks % j->row_blocks * TL_MATMUL_ROWS;
    const size_t index = unit / j->col_blocks / j->row_blocks;
    return (block){
        .src1 = tl_matmul_element(p, &p->src1, index, row, 0),
        .src2 = tl_matmul_element(p, &p->src2, index, 0, col),
        .bias = tl_matmul_element(p, &p->bias, index, row, col),
        .zero1 = tl_matmul_element(p, &p->zero1, index, row, 0),
        .zero2 = tl_matmul_element(p, &p->zero2, index, 0, col),
        .dst = (char *)tl_matmul_element(p, &p->dst, index, row, col),
        .rows = tl_min_size(p->m - row, TL_MATMUL_ROWS),
        .cols = tl_min_size(p->n - col, TL_MATMUL_COLS),
    };
}

static void multiply_packed(const job *j, const block *b, buffers *buf)
{
    const tl_matmul_plan *const p = &j->plan;
    for (size_t k = 0; k < p->k; k += TL_MATMUL_LEN) {
        const size_t len = tl_min_size(p->k - k, TL_MATMUL_LEN);
        const tl_matmul_lines rows = {b->src1 + k * p->src1.col * p->src1.size,
                                      b->rows,
                                      p->src1.row,
                                      len,
                                      p->src1.col,
                                      b->zero1,
                                      p->zero1.row};
        const tl_matmul_lines cols = {b->src2 + k * p->src2.row * p->src2.size,
                                      b->cols,
                                      p->src2.col,
                                      len,
                                      p->src2.row,
                                      b->zero2,
                                      p->zero2.col};
        j->pack1(&rows, TL_MATMUL_TILE_ROWS, buf->panels1);
        j->pack2(&cols, TL_MATMUL_TILE_COLS, buf->panels2);
        j->multiply(buf->panels1, buf->panels2, buf->acc, b->rows, b->cols, len);
    }
}

static void multiply_rows(const job *j, const block *b, buffers *buf, size_t acc_stride)
{
    const tl_matmul_plan *const p = &j->plan;
    const tl_matmul_lines cols = {b->src2, b->cols, p->src2.col, p->k, p->src2.row, NULL, 0};
    for (size_t r = 0; r < b->rows; r++)
        j->multiply_row(b->src1 + r * p->src1.row * p->src1.size, p->src1.col, &cols,
                        buf->acc + r * acc_stride);
}

static void multiply_blocks(void *arg, size_t begin, size_t end)
{
    const job *const j = arg;
    const tl_matmul_plan *const p = &j->plan;
    buffers buf;
    const size_t acc_stride = TL_MATMUL_COLS * (p->dst.size == 8 ? 8 : 4);
    for (size_t unit = begin; unit < end; unit++) {
        const block b = block_of(j, unit);
        memset(buf.acc, 0,
               blocks_of(b.rows, TL_MATMUL_TILE_ROWS) * TL_MATMUL_TILE_ROWS * acc_stride);
        if (j->multiply_row)
            multiply_rows(j, &b, &buf, acc_stride);
        else
            multiply_packed(j, &b, &buf);
        for (size_t r = 0; r < b.rows; r++)
            j->store(buf.acc + r * acc_stride, b.dst + r * p->dst.row * p->dst.size, b.cols,
                     p->alpha, b.bias ? b.bias + r * p->bias.row * p->bias.size : NULL, p->bias.col,
                     p->beta);
    }
}

static void multiply_all(job *j, const tl_exec *exec)
{
    const tl_matmul_plan *const p = &j->plan;
    j->row_blocks = blocks_of(p->m, TL_MATMUL_ROWS);
    j->col_blocks = blocks_of(p->n, TL_MATMUL_COLS);
    const size_t units = j->row_blocks * j->col_blocks * tl_matmul_count(p);
    const size_t unit_work = (size_t)TL_MATMUL_ROWS * TL_MATMUL_COLS * TL_MATMUL_LEN;
    const size_t work =
        tl_min_size(p->m, TL_MATMUL_ROWS) * tl_min_size(p->n, TL_MATMUL_COLS) * p->k + 1;
    tl_parallel(exec, units, unit_work / 4 / work + 1, multiply_blocks, j);
}

// The functions

int tl_exec_matmul(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                   const tl_tensor *bias, tl_tensor *dst, const tl_matmul_param *param)
{
    assert(src1->dtype == src2->dtype && src1->dtype == dst->dtype && src1->dtype != TL_BOOL);
    assert(!bias || bias->dtype == dst->dtype);
    if (dst->len == 0)
        return 0;
    const tl_matmul_tensors tensors = {.src1 = src1, .src2 = src2, .bias = bias, .dst = dst};
    job j = {tl_matmul_plan_of(&tensors, param->trans1, param->trans2)};
    j.plan.alpha = param->alpha;
    j.plan.beta = param->beta;
    if (dst->dtype == TL_FLOAT && tl_kernel_has_vectors(exec)) {
        tl_gemm_run(exec, &j.plan, NULL, TL_FLOAT, (tl_activation){0});
        return 0;
    }
    pick_kernels(&j, exec, src1->dtype, src2->dtype, dst->dtype);
    multiply_all(&j, exec);
    return 0;
}

size_t tl_matmul_scratch(const tl_tensor *src1, const tl_tensor *src2, const tl_tensor *bias,
                         const tl_tensor *dst, const tl_matmul_param *param, int threads)
{
    if (dst->dtype != TL_FLOAT || dst->len == 0)
        return 0;
    const tl_matmul_tensors tensors = {.src1 = src1, .src2 = src2, .bias = bias, .dst = dst};
    const tl_matmul_plan plan = tl_matmul_plan_of(&tensors, param->trans1, param->trans2);
    return tl_gemm_scratch(&plan, 0, threads);
}

int tl_exec_matmul_int(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                       const tl_tensor *zero1, const tl_tensor *zero2, tl_tensor *dst)
{
    assert(tl_size_of(src1->dtype) == 1 && tl_size_of(src2->dtype) == 1);
    assert(dst->dtype == TL_INT32 && (!zero1 || zero1->dtype == src1->dtype) &&
           (!zero2 || zero2->dtype == src2->dtype));
    if (dst->len == 0)
        return 0;
    const tl_matmul_tensors tensors = {
        .src1 = src1, .src2 = src2, .zero1 = zero1, .zero2 = zero2, .dst = dst};
    job j = {tl_matmul_plan_of(&tensors, 0, 0)};
    j.plan.alpha = 1;
    pick_kernels(&j, exec, src1->dtype, src2->dtype, dst->dtype);
    multiply_all(&j, exec);
    return 0;
}

int tl_matmul_check_factors(tl_dtype dtype, double alpha, double beta)
{
    if (dtype == TL_BOOL)
        return tl_fail("'src1' has dtype TL_BOOL, expected a number type");
    if (tl_dtype_is_float(dtype))
        return 0;
    if (floor(alpha) != alpha || fabs(alpha) > INT32_MAX || floor(beta) != beta ||
        fabs(beta) > INT32_MAX)
        return tl_fail("'alpha' is %g and 'beta' %g, expected integers for %s", alpha, beta,
                       tl_dtype_name(dtype));
    return 0;
}

tl_tensor *tl_tensor_matmul(const tl_tensor *src1, const tl_tensor *src2, const tl_tensor *bias,
                            tl_tensor *dst, const tl_matmul_param *param)
{
    int dims[TL_MAXDIM] = {0};
    if (tl_check_operand(src1, "src1", dst) < 0 || tl_check_operand(src2, "src2", dst) < 0 ||
        tl_check_same_dtype(src1, src2) < 0 ||
        tl_matmul_check_factors(src1->dtype, param->alpha, param->beta) < 0)
        return NULL;
    const int ndim = tl_matmul_dims(src1, src2, param->trans1, param->trans2, dims);
    if (ndim < 0)
        return NULL;
    if (bias && (tl_check_data(bias, "bias") < 0 || tl_check_same_dtype(src1, bias) < 0 ||
                 tl_broadcast_check(bias, "bias", ndim, dims) < 0 || tl_check_apart(dst, bias) < 0))
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, ndim, dims, src1->dtype);
    return tl_result_end(result, dst,
                         result ? tl_exec_matmul(NULL, src1, src2, bias, result, param) : -1);
}

static int check_zero(const tl_tensor *zero, const char *name, const tl_tensor *src, int ndim,
                      const int *dims)
{
    if (!zero)
        return 0;
    if (tl_check_data(zero, name) < 0 || tl_check_same_dtype(zero, src) < 0)
        return -1;
    return tl_broadcast_check(zero, name, ndim, dims);
}

tl_tensor *tl_tensor_matmul_int(const tl_tensor *src1, const tl_tensor *src2,
                                const tl_tensor *zero1, const tl_tensor *zero2, tl_tensor *dst)
{
    int dims[TL_MAXDIM] = {0};
    if (tl_check_operand(src1, "src1", dst) < 0 || tl_check_operand(src2, "src2", dst) < 0 ||
        tl_check_bytes(src1, "src1") < 0 || tl_check_bytes(src2, "src2") < 0)
        return NULL;
    const int ndim = tl_matmul_dims(src1, src2, 0, 0, dims);
    if (ndim < 0)
        return NULL;
    int rows[TL_MAXDIM], cols[TL_MAXDIM]; // shapes without the summed axes
    memcpy(rows, dims, sizeof(rows));
    memcpy(cols, dims, sizeof(cols));
    rows[ndim - 1] = cols[ndim - 2] = 1;
    if (check_zero(zero1, "zero1", src1, ndim, rows) < 0 ||
        check_zero(zero2, "zero2", src2, ndim, cols) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, ndim, dims, TL_INT32);
    return tl_result_end(result, dst,
                         result ? tl_exec_matmul_int(NULL, src1, src2, zero1, zero2, result) : -1);
}
