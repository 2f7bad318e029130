// SPDX-License-Identifier: Apache-2.0
// The matrix product: shapes, checks, blocks, threads.

#include "kernel/matmul/matmul.h"

#include <assert.h>
#include <math.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_linalg.h"

#define TL_KERNEL(name, dtype, isa) [isa][dtype] = name,
static tl_matmul_func *const multiply_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/matmul/matmul.def"
};
static tl_matmul_pack_func *const pack_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/matmul/matmul_pack.def"
};
static tl_matmul_row_func *const row_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/matmul/matmul_row.def"
};
static tl_matmul_store_func *const store_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {
#include "kernel/matmul/matmul_store.def"
};
#undef TL_KERNEL
TL_KERNEL_PICK(pick_multiply, tl_matmul_func, multiply_table)
TL_KERNEL_PICK(pick_pack, tl_matmul_pack_func, pack_table)
TL_KERNEL_PICK(pick_row, tl_matmul_row_func, row_table)
TL_KERNEL_PICK(pick_store, tl_matmul_store_func, store_table)

/* ---- shapes ---- */

/** Axis `i` of `t`, counted from the last one on; 1 beyond the first. */
static int dim_from_end(const tl_tensor *t, int i)
{
    return i < t->ndim ? t->dims[t->ndim - 1 - i] : 1;
}

int tl_matmul_dims(const tl_tensor *src1, const tl_tensor *src2, int trans1, int trans2, int *dims)
{
    char text1[TL_SHAPE_TEXT_SIZE], text2[TL_SHAPE_TEXT_SIZE];
    if (src1->ndim < 2 || src2->ndim < 2)
        return tl_fail("'src1' has %d dimensions and 'src2' %d, expected at least 2", src1->ndim,
                       src2->ndim);
    int is_fit = dim_from_end(src1, trans1 ? 1 : 0) == dim_from_end(src2, trans2 ? 0 : 1);
    const int ndim = src1->ndim > src2->ndim ? src1->ndim : src2->ndim;
    for (int i = 2; i < ndim; i++) {
        const int d1 = dim_from_end(src1, i), d2 = dim_from_end(src2, i);
        dims[ndim - 1 - i] = d1 == 1 ? d2 : d1;
        is_fit &= d1 == d2 || d1 == 1 || d2 == 1;
    }
    dims[ndim - 2] = dim_from_end(src1, trans1 ? 0 : 1);
    dims[ndim - 1] = dim_from_end(src2, trans2 ? 1 : 0);
    if (!is_fit)
        return tl_fail("shapes %s%s and %s%s, expected [.., m, k] and [.., k, n]",
                       tl_shape_text(text1, src1->ndim, src1->dims), trans1 ? " (transposed)" : "",
                       tl_shape_text(text2, src2->ndim, src2->dims), trans2 ? " (transposed)" : "");
    return ndim;
}

int tl_broadcast_check(const tl_tensor *t, const char *name, int ndim, const int *dims)
{
    char text[TL_SHAPE_TEXT_SIZE], expected[TL_SHAPE_TEXT_SIZE];
    int is_fit = t->ndim <= ndim;
    for (int i = 0; is_fit && i < t->ndim; i++)
        is_fit = dim_from_end(t, i) == 1 || dim_from_end(t, i) == dims[ndim - 1 - i];
    if (!is_fit)
        return tl_fail("'%s' has shape %s, expected one that broadcasts to %s", name,
                       tl_shape_text(text, t->ndim, t->dims), tl_shape_text(expected, ndim, dims));
    return 0;
}

/* ---- the plan ---- */

/** A tensor as matrices; distances in elements, 0 where it is repeated. */
typedef struct matrices {
    const char *data; /* or NULL */
    size_t size;      /* of an element */
    size_t row, col;  /* the distance of rows, of columns */
    size_t batch[TL_MAXDIM];
} matrices;

typedef struct plan {
    size_t m, n, k;
    int n_batch;
    size_t batch[TL_MAXDIM];
    matrices src1, src2, bias, dst;
    matrices zero1, zero2; /* what to subtract from src1, src2 */
    double alpha, beta;
    size_t row_blocks, col_blocks; /* of a matrix */
    tl_matmul_pack_func *pack1, *pack2;
    tl_matmul_func *multiply;
    tl_matmul_row_func *multiply_row; /* instead of these: no packing */
    tl_matmul_store_func *store;
} plan;

/** `t` [.., d1, d0] (NULL: absent) repeated to the batch of `p`; its last two axes swapped. */
static matrices matrices_of(const plan *p, const tl_tensor *t, int is_swapped)
{
    matrices x = {0};
    if (!t)
        return x;
    x.data = t->data;
    x.size = tl_size_of(t->dtype);
    size_t strides[TL_MAXDIM] = {0}; // from the last axis on
    size_t stride = 1;
    for (int i = 0; i < t->ndim; i++) {
        strides[i] = dim_from_end(t, i) == 1 ? 0 : stride;
        stride *= (size_t)dim_from_end(t, i);
    }
    x.row = strides[is_swapped ? 0 : 1];
    x.col = strides[is_swapped ? 1 : 0];
    for (int i = 0; i < p->n_batch; i++)
        x.batch[i] = strides[p->n_batch + 1 - i];
    return x;
}

static int is_repeated(const plan *p, const matrices *x)
{
    for (int i = 0; i < p->n_batch; i++)
        if (x->batch[i] != 0)
            return 0;
    return 1;
}

/** One src2 for all of src1: the batch becomes more rows, so that small matrices fill blocks. */
static void merge_batch(plan *p, int trans1)
{
    if (trans1 || !is_repeated(p, &p->src2) || !is_repeated(p, &p->bias) || p->bias.row != 0 ||
        p->zero1.data || !is_repeated(p, &p->zero2))
        return;
    size_t rows = p->m;
    for (int i = p->n_batch - 1; i >= 0; i--) {
        if (p->batch[i] > 1 && (p->src1.batch[i] != rows * p->k))
            return;
        rows *= p->batch[i];
    }
    p->src1.row = p->k;
    p->dst.row = p->n;
    p->m = rows;
    p->n_batch = 0;
}

/** The type of the sums. */
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

/** With fewer rows packing costs more than it gives. */
enum { FEW_ROWS = 4 };

static void pick_kernels(plan *p, const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                         const tl_tensor *dst)
{
    p->pack1 = pick_pack(exec, src1->dtype);
    p->pack2 = pick_pack(exec, src2->dtype);
    p->multiply = pick_multiply(exec, sum_dtype(dst->dtype));
    p->store = pick_store(exec, dst->dtype);
    const int is_plain = src1->dtype == src2->dtype && !p->zero1.data && !p->zero2.data;
    if (is_plain && p->m < FEW_ROWS)
        p->multiply_row = pick_row(exec, src1->dtype);
}

/* ---- blocks ---- */

typedef struct buffers {
    _Alignas(64) char panels1[TL_MATMUL_ROWS * TL_MATMUL_LEN * TL_DTYPE_MAX_SIZE];
    _Alignas(64) char panels2[TL_MATMUL_COLS * TL_MATMUL_LEN * TL_DTYPE_MAX_SIZE];
    _Alignas(64) char acc[TL_MATMUL_ROWS * TL_MATMUL_COLS * TL_DTYPE_MAX_SIZE];
} buffers;

/** A block of the product: where it begins in each tensor (NULL: absent), and its extent. */
typedef struct block {
    const char *src1, *src2, *bias, *zero1, *zero2;
    char *dst;
    size_t rows, cols;
} block;

/** The element of `x` in matrix `index` of the batch, at row and column. */
static const char *element(const plan *p, const matrices *x, size_t index, size_t row, size_t col)
{
    size_t at = row * x->row + col * x->col;
    for (int i = p->n_batch - 1; i >= 0; i--) {
        at += index % p->batch[i] * x->batch[i];
        index /= p->batch[i];
    }
    return x->data ? x->data + at * x->size : NULL;
}

static block block_of(const plan *p, size_t unit)
{
    const size_t col = unit % p->col_blocks * TL_MATMUL_COLS;
    const size_t row = unit / p->col_blocks % p->row_blocks * TL_MATMUL_ROWS;
    const size_t index = unit / p->col_blocks / p->row_blocks;
    return (block){
        .src1 = element(p, &p->src1, index, row, 0),
        .src2 = element(p, &p->src2, index, 0, col),
        .bias = element(p, &p->bias, index, row, col),
        .zero1 = element(p, &p->zero1, index, row, 0),
        .zero2 = element(p, &p->zero2, index, 0, col),
        .dst = (char *)element(p, &p->dst, index, row, col),
        .rows = tl_smaller_size(p->m - row, TL_MATMUL_ROWS),
        .cols = tl_smaller_size(p->n - col, TL_MATMUL_COLS),
    };
}

static void multiply_packed(const plan *p, const block *b, buffers *buf)
{
    for (size_t k = 0; k < p->k; k += TL_MATMUL_LEN) {
        const size_t len = tl_smaller_size(p->k - k, TL_MATMUL_LEN);
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
        p->pack1(&rows, TL_MATMUL_TILE_ROWS, buf->panels1);
        p->pack2(&cols, TL_MATMUL_TILE_COLS, buf->panels2);
        p->multiply(buf->panels1, buf->panels2, buf->acc, b->rows, b->cols, len);
    }
}

static void multiply_rows(const plan *p, const block *b, buffers *buf, size_t acc_stride)
{
    const tl_matmul_lines cols = {b->src2, b->cols, p->src2.col, p->k, p->src2.row, NULL, 0};
    for (size_t r = 0; r < b->rows; r++)
        p->multiply_row(b->src1 + r * p->src1.row * p->src1.size, p->src1.col, &cols,
                        buf->acc + r * acc_stride);
}

static void multiply_blocks(void *arg, size_t begin, size_t end)
{
    const plan *const p = arg;
    buffers buf;
    const size_t acc_stride = TL_MATMUL_COLS * (p->dst.size == 8 ? 8 : 4);
    for (size_t unit = begin; unit < end; unit++) {
        const block b = block_of(p, unit);
        memset(buf.acc, 0,
               blocks_of(b.rows, TL_MATMUL_TILE_ROWS) * TL_MATMUL_TILE_ROWS * acc_stride);
        if (p->multiply_row)
            multiply_rows(p, &b, &buf, acc_stride);
        else
            multiply_packed(p, &b, &buf);
        for (size_t r = 0; r < b.rows; r++)
            p->store(buf.acc + r * acc_stride, b.dst + r * p->dst.row * p->dst.size, b.cols,
                     p->alpha, b.bias ? b.bias + r * p->bias.row * p->bias.size : NULL, p->bias.col,
                     p->beta);
    }
}

/** What all kinds of products have in common; the plan has the factors. */
static void multiply_all(plan *p, const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                         const tl_tensor *const extras[3], tl_tensor *dst, int trans1, int trans2)
{
    p->m = (size_t)dst->dims[dst->ndim - 2];
    p->n = (size_t)dst->dims[dst->ndim - 1];
    p->k = (size_t)dim_from_end(src1, trans1 ? 1 : 0);
    p->n_batch = dst->ndim - 2;
    for (int i = 0; i < p->n_batch; i++)
        p->batch[i] = (size_t)dst->dims[i];
    p->src1 = matrices_of(p, src1, trans1);
    p->src2 = matrices_of(p, src2, trans2);
    p->bias = matrices_of(p, extras[0], 0);
    p->zero1 = matrices_of(p, extras[1], 0);
    p->zero2 = matrices_of(p, extras[2], 0);
    p->dst = matrices_of(p, dst, 0);
    merge_batch(p, trans1);
    pick_kernels(p, exec, src1, src2, dst);
    p->row_blocks = blocks_of(p->m, TL_MATMUL_ROWS);
    p->col_blocks = blocks_of(p->n, TL_MATMUL_COLS);
    size_t units = p->row_blocks * p->col_blocks;
    for (int i = 0; i < p->n_batch; i++)
        units *= p->batch[i];
    const size_t unit_work = (size_t)TL_MATMUL_ROWS * TL_MATMUL_COLS * TL_MATMUL_LEN;
    const size_t work =
        tl_smaller_size(p->m, TL_MATMUL_ROWS) * tl_smaller_size(p->n, TL_MATMUL_COLS) * p->k + 1;
    tl_parallel(exec, units, unit_work / 4 / work + 1, multiply_blocks, p);
}

/* ---- the functions ---- */

int tl_exec_matmul(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                   const tl_tensor *bias, tl_tensor *dst, const tl_matmul_param *param)
{
    assert(src1->dtype == src2->dtype && src1->dtype == dst->dtype && src1->dtype != TL_BOOL);
    assert(!bias || bias->dtype == dst->dtype);
    if (dst->len == 0)
        return 0;
    plan p = {.alpha = param->alpha, .beta = param->beta};
    const tl_tensor *const extras[] = {bias, NULL, NULL};
    multiply_all(&p, exec, src1, src2, extras, dst, param->trans1, param->trans2);
    return 0;
}

int tl_exec_matmul_int(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                       const tl_tensor *zero1, const tl_tensor *zero2, tl_tensor *dst)
{
    assert(tl_size_of(src1->dtype) == 1 && tl_size_of(src2->dtype) == 1);
    assert(dst->dtype == TL_INT32 && (!zero1 || zero1->dtype == src1->dtype) &&
           (!zero2 || zero2->dtype == src2->dtype));
    if (dst->len == 0)
        return 0;
    plan p = {.alpha = 1};
    const tl_tensor *const extras[] = {NULL, zero1, zero2};
    multiply_all(&p, exec, src1, src2, extras, dst, 0, 0);
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
        return tl_fail("'alpha' is %g and 'beta' %g, expected whole numbers for %s", alpha, beta,
                       tl_dtype_name(dtype));
    return 0;
}

tl_tensor *tl_tensor_matmul(const tl_tensor *src1, const tl_tensor *src2, const tl_tensor *bias,
                            tl_tensor *dst, const tl_matmul_param *param)
{
    int dims[TL_MAXDIM] = {0};
    if (tl_check_data(src1, "src1") < 0 || tl_check_data(src2, "src2") < 0 ||
        tl_check_same_dtype(src1, src2) < 0 || tl_check_apart(dst, src1) < 0 ||
        tl_check_apart(dst, src2) < 0 ||
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

static int check_bytes(const tl_tensor *t, const char *name)
{
    if (tl_check_data(t, name) < 0)
        return -1;
    if (t->dtype != TL_INT8 && t->dtype != TL_UINT8)
        return tl_fail("'%s' has dtype %s, expected TL_INT8 or TL_UINT8", name,
                       tl_dtype_name(t->dtype));
    return 0;
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
    if (check_bytes(src1, "src1") < 0 || check_bytes(src2, "src2") < 0 ||
        tl_check_apart(dst, src1) < 0 || tl_check_apart(dst, src2) < 0)
        return NULL;
    const int ndim = tl_matmul_dims(src1, src2, 0, 0, dims);
    if (ndim < 0)
        return NULL;
    int rows[TL_MAXDIM], cols[TL_MAXDIM]; // shapes that say nothing along the sums
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
