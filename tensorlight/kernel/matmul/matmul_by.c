// SPDX-License-Identifier: Apache-2.0
// Multiplies each row by the matrix with its index (mixture of experts): gathers the rows of each
// matrix, multiplies them together, and scatters the results.

#include <assert.h>
#include <string.h>

#include "kernel/take/tl_index.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_linalg.h"

static const tl_matmul_param transposed = {.trans2 = 1, .alpha = 1, .beta = 1};

// Offsets of parts of the scratch memory, in bytes, after that of tl_exec_matmul.
typedef struct layout {
    size_t rows, results; // those of src and dst, sorted by matrix
    size_t order, starts; // int: the row at each sorted position; the first position of each matrix
    size_t size;
} layout;

// Appends `n` elements of `each` bytes to a layout of `*size` bytes. Returns their offset.
static size_t add_part(size_t *size, size_t n, size_t each)
{
    const size_t offset = *size;
    *size += (n * each + 63) / 64 * 64;
    return offset;
}

// `threads` 0: without scratch memory for tl_exec_matmul, which is then slower.
static layout layout_of(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *dst,
                        int threads)
{
    layout l = {0};
    if (threads > 0) {
        const tl_tensor matrix = {
            .dtype = weight->dtype,
            .ndim = 2,
            .dims = weight->dims + 1,
            .len = weight->dims[0] ? weight->len / weight->dims[0] : 0,
        };
        add_part(&l.size, tl_matmul_scratch(src, &matrix, NULL, dst, &transposed, threads), 1);
    }
    l.rows = add_part(&l.size, (size_t)src->len, tl_size_of(src->dtype));
    l.results = add_part(&l.size, (size_t)dst->len, tl_size_of(dst->dtype));
    l.order = add_part(&l.size, (size_t)src->dims[0], sizeof(int));
    l.starts = add_part(&l.size, (size_t)weight->dims[0] + 1, sizeof(int));
    return l;
}

size_t tl_matmul_by_scratch(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *dst,
                            int threads)
{
    return layout_of(src, weight, dst, threads).size;
}

// Sorts rows by matrix, in order of rows: `order` [rows], `starts` [n + 1]. Indices are valid.
static void sort_rows(const tl_tensor *index, int n, int *order, int *starts)
{
    memset(starts, 0, ((size_t)n + 1) * sizeof(*starts));
    for (int i = 0; i < index->len; i++)
        starts[tl_index_in(index, (size_t)i, n) + 1]++;
    for (int e = 0; e < n; e++)
        starts[e + 1] += starts[e];
    for (int i = 0; i < index->len; i++)
        order[starts[tl_index_in(index, (size_t)i, n)]++] = i;
    memmove(starts + 1, starts, (size_t)n * sizeof(*starts)); // each became the start of the next
    starts[0] = 0;
}

// Gathers rows of `size` bytes in sorted order, or scatters them back.
static void move_rows(char *sorted, char *rows, const int *order, int n, size_t size, int scatters)
{
    for (int i = 0; i < n; i++) {
        char *const to = sorted + (size_t)i * size, *const row = rows + (size_t)order[i] * size;
        memcpy(scatters ? row : to, scatters ? to : row, size);
    }
}

// Multiplies the rows at sorted positions first .. end-1 by matrix `e`.
static int multiply_by(const tl_exec *exec, const tl_tensor *weight, const tl_tensor *bias, int e,
                       void *rows, void *results, int first, int end)
{
    const int n = weight->dims[1], k = weight->dims[2], m = end - first;
    const tl_dtype dtype = weight->dtype;
    const tl_tensor src = {.dtype = dtype,
                           .ndim = 2,
                           .dims = (int[]){m, k},
                           .len = m * k,
                           .data = tl_pointer_add(rows, (ptrdiff_t)first * k, dtype)};
    const tl_tensor matrix = {.dtype = dtype,
                              .ndim = 2,
                              .dims = (int[]){n, k},
                              .len = n * k,
                              .data = tl_pointer_add(weight->data, (ptrdiff_t)e * n * k, dtype)};
    const tl_tensor vector = {.dtype = dtype,
                              .ndim = 1,
                              .dims = (int[]){n},
                              .len = n,
                              .data = bias ? tl_pointer_add(bias->data, (ptrdiff_t)e * n, dtype)
                                           : NULL};
    tl_tensor dst = {.dtype = dtype,
                     .ndim = 2,
                     .dims = (int[]){m, n},
                     .len = m * n,
                     .data = tl_pointer_add(results, (ptrdiff_t)first * n, dtype)};
    return tl_exec_matmul(exec, &src, &matrix, bias ? &vector : NULL, &dst, &transposed);
}

int tl_exec_matmul_by(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                      const tl_tensor *weight, const tl_tensor *bias, tl_tensor *dst)
{
    assert(src->ndim == 2 && weight->ndim == 3 && src->dims[1] == weight->dims[2]);
    assert(index->len == src->dims[0] && dst->dims[0] == src->dims[0]);
    assert(dst->dims[1] == weight->dims[1] && dst->dtype == src->dtype);
    const int n = weight->dims[0];
    if (tl_check_indices(index, n) < 0)
        return -1;
    const layout min = layout_of(src, weight, dst, 0);
    if (dst->len == 0)
        return 0;
    if (tl_check_scratch(exec, min.size, "for products by index") < 0)
        return -1;
    char *const parts = (char *)exec->scratch + (exec->scratch_size - min.size) / 64 * 64;
    tl_exec matmul_exec = *exec;
    matmul_exec.scratch_size = (size_t)(parts - (char *)exec->scratch);
    int *const order = (int *)(parts + min.order), *const starts = (int *)(parts + min.starts);
    sort_rows(index, n, order, starts);
    move_rows(parts + min.rows, src->data, order, index->len,
              (size_t)src->dims[1] * tl_size_of(src->dtype), 0);
    for (int e = 0; e < n && !tl_stop_is_requested(exec->stop); e++)
        if (starts[e] < starts[e + 1] &&
            multiply_by(&matmul_exec, weight, bias, e, parts + min.rows, parts + min.results,
                        starts[e], starts[e + 1]) < 0)
            return -1;
    move_rows(parts + min.results, dst->data, order, index->len,
              (size_t)dst->dims[1] * tl_size_of(dst->dtype), 1);
    return 0;
}

static int check_by(const tl_tensor *src, const tl_tensor *index, const tl_tensor *weight,
                    const tl_tensor *bias)
{
    if (tl_check_data(src, "src") < 0 || tl_check_float(src, "src") < 0 ||
        tl_check_data(index, "index") < 0 || tl_check_data(weight, "weight") < 0 ||
        tl_check_same_dtype(src, weight) < 0 ||
        (bias && (tl_check_data(bias, "bias") < 0 || tl_check_same_dtype(src, bias) < 0)))
        return -1;
    if (index->dtype != TL_INT32 && index->dtype != TL_INT64)
        return tl_fail("'index' has dtype %s, expected TL_INT32 or TL_INT64",
                       tl_dtype_name(index->dtype));
    return tl_matmul_by_check(src, index, weight, bias);
}

int tl_matmul_by_check(const tl_tensor *src, const tl_tensor *index, const tl_tensor *weight,
                       const tl_tensor *bias)
{
    if (tl_check_shape(src, "src", "[m, k]") < 0 ||
        tl_check_shape(weight, "weight", "[e, n, k]") < 0 ||
        tl_check_dims(index, "index", 1, src->dims) < 0)
        return -1;
    if (src->dims[1] != weight->dims[2])
        return tl_fail("'src' has rows of %d elements and 'weight' of %d, expected equal lengths",
                       src->dims[1], weight->dims[2]);
    return bias ? tl_check_dims(bias, "bias", 2, weight->dims) : 0;
}

tl_tensor *tl_tensor_matmul_by(const tl_tensor *src, const tl_tensor *index,
                               const tl_tensor *weight, const tl_tensor *bias, tl_tensor *dst)
{
    if (check_by(src, index, weight, bias) < 0 || tl_check_apart(dst, src) < 0 ||
        tl_check_apart(dst, weight) < 0 || (bias && tl_check_apart(dst, bias) < 0))
        return NULL;
    const int dims[] = {src->dims[0], weight->dims[1]};
    tl_tensor *const result = tl_result_begin(dst, 2, dims, src->dtype);
    if (!result)
        return tl_result_end(result, dst, -1);
    const tl_exec exec = tl_result_exec(tl_matmul_by_scratch(src, weight, result, 1));
    const int status =
        exec.scratch ? tl_exec_matmul_by(&exec, src, index, weight, bias, result) : -1;
    tl_free(exec.scratch);
    return tl_result_end(result, dst, status);
}
