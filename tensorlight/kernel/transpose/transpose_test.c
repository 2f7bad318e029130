// SPDX-License-Identifier: Apache-2.0
// Tests of the permutation of axes.

#include "kernel/tl_map_test.h"
#include "kernel/transpose/transpose.h"
#include "tensorlight/tensorlight.h"

START_TEST(a_matrix_is_transposed)
{
    tl_tensor *const src = tl_tensor_arange(0, 6, 1, TL_FLOAT);
    ck_assert_int_eq(tl_tensor_reshape_src(src, 2, (int[]){2, 3}), 0);
    tl_tensor *const dst = tl_tensor_transpose(src, NULL, (int[]){1, 0});
    const float expected[] = {0, 3, 1, 4, 2, 5};
    ck_assert_int_eq(dst->dims[0], 3);
    ck_assert_int_eq(dst->dims[1], 2);
    ck_assert_mem_eq(dst->data, expected, sizeof(expected));
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(dst);
}
END_TEST

// The definition: dst[.., i_k, ..] = src[..], where axis k of dst is axis axes[k] of src.
static void expect(const tl_tensor *src, tl_tensor *dst, const int *axes)
{
    for (int i = 0; i < dst->len; i++) {
        int dst_coords[TL_MAXDIM], src_coords[TL_MAXDIM];
        tl_tensor_coords(dst, i, dst_coords);
        for (int k = 0; k < dst->ndim; k++)
            src_coords[axes[k]] = dst_coords[k];
        tl_pointer_assign(dst->data, i, src->data, tl_tensor_index(src, src_coords), dst->dtype);
    }
}

static void check(const tl_exec *exec, const int *dims, int ndim, const int *axes, tl_dtype dtype)
{
    int dst_dims[TL_MAXDIM];
    for (int k = 0; k < ndim; k++)
        dst_dims[k] = dims[axes[k]];
    tl_tensor *const src = tl_tensor_zeros(ndim, dims, dtype);
    tl_tensor *const expected = tl_tensor_zeros(ndim, dst_dims, dtype);
    const size_t size = tl_tensor_size(src);
    tl_map_fill(src->data, size, 1);
    expect(src, expected, axes);
    ln_guard guard;
    tl_tensor *const dst = tl_tensor_create(ln_guard_alloc(&guard, size), ndim, dst_dims, dtype);
    ck_assert_int_eq(tl_exec_transpose(exec, src, dst, axes), 0);
    ck_assert_mem_eq(dst->data, expected->data, size);
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
    tl_tensor_free(dst);
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(expected);
}

// Calls check with every permutation of axes k .. ndim-1.
static void check_permutations(const tl_exec *exec, const int *dims, int ndim, int *axes, int k)
{
    static const tl_dtype dtypes[] = {TL_INT8, TL_FLOAT16, TL_FLOAT, TL_DOUBLE};
    for (size_t i = 0; k == ndim && i < sizeof(dtypes) / sizeof(*dtypes); i++)
        check(exec, dims, ndim, axes, dtypes[i]);
    for (int i = k; i < ndim; i++) {
        const int first = axes[k];
        axes[k] = axes[i];
        axes[i] = first;
        check_permutations(exec, dims, ndim, axes, k + 1);
        axes[i] = axes[k];
        axes[k] = first;
    }
}

START_TEST(every_permutation_agrees_with_the_definition)
{
    static const struct {
        int ndim, dims[TL_MAXDIM];
    } rows[] = {{0, {0}},
                {1, {7}},
                {2, {33, 65}},
                {2, {1, 64}},
                {3, {5, 1, 31}},
                {4, {2, 3, 4, 5}},
                {4, {3, 32, 33, 1}},
                {4, {1, 3, 17, 19}},
                {5, {2, 3, 1, 2, 4}},
                {4, {2, 0, 3, 4}},
                {3, {130, 3, 67}}};
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int axes[TL_MAXDIM] = {0, 1, 2, 3, 4, 5, 6, 7};
        check_permutations(NULL, rows[i].dims, rows[i].ndim, axes, 0);
        check_permutations(&exec, rows[i].dims, rows[i].ndim, axes, 0);
    }
    tl_pool_free(pool);
}
END_TEST

START_TEST(eight_axes_are_reversed)
{
    check(NULL, (int[]){2, 1, 3, 2, 2, 1, 2, 3}, 8, (int[]){7, 6, 5, 4, 3, 2, 1, 0}, TL_INT16);
}
END_TEST

START_TEST(rejects_axes_that_are_no_permutation)
{
    tl_tensor *const src = tl_tensor_zeros(2, (int[]){2, 3}, TL_INT8);
    ck_assert_ptr_null(tl_tensor_transpose(src, NULL, (int[]){0, 0}));
    ck_assert_str_eq(tl_last_error(), "axes[1] is 0, expected each of 0 to 1 once");
    ck_assert_ptr_null(tl_tensor_transpose(src, NULL, (int[]){0, 1000000}));
    ck_assert_ptr_null(tl_tensor_transpose(src, NULL, (int[]){-1, 0}));
    ck_assert_ptr_null(tl_tensor_transpose(src, NULL, NULL));
    ck_assert_ptr_null(tl_tensor_transpose(src, src, (int[]){0, 1}));
    ck_assert_str_eq(tl_last_error(), "'dst' overlaps a source, expected separate data");
    tl_tensor_free_data_too(src);
}
END_TEST

typedef struct variant {
    const char *name;
    tl_transpose_kernel *func;
    tl_dtype dtype;
    tl_isa isa;
} variant;

#define VARIANT(arg, name, dtype, isa) {#name, name, dtype, isa},
static const variant variants[] = {TL_TRANSPOSE_KERNELS(VARIANT, )};

// Rows of src and dst have `gap` and gap + 1 elements more, or none.
static void check_kernel(const variant *v, size_t rows, size_t cols, size_t gap)
{
    const size_t size = tl_size_of(v->dtype), src_stride = rows + gap,
                 dst_stride = cols + gap + (gap > 0);
    const size_t src_len = (cols - 1) * src_stride + rows;
    const size_t dst_len = (rows - 1) * dst_stride + cols;
    ln_guard src_guard, dst_guard;
    void *const src = ln_guard_alloc(&src_guard, src_len * size);
    void *const dst = ln_guard_alloc(&dst_guard, dst_len * size);
    tl_map_fill(src, src_len * size, rows);
    void *const expected = tl_clone(dst, dst_len * size);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            tl_passign(expected, (ptrdiff_t)(r * dst_stride + c), src,
                       (ptrdiff_t)(c * src_stride + r), size);
    v->func(src, src_stride, dst, dst_stride, rows, cols);
    ck_assert_msg(memcmp(dst, expected, dst_len * size) == 0, "%s %zux%zu", v->name, rows, cols);
    ck_assert(ln_guard_is_intact(&src_guard) && ln_guard_is_intact(&dst_guard));
    tl_free(expected);
    ln_guard_free(&src_guard);
    ln_guard_free(&dst_guard);
}

START_TEST(every_kernel_moves_each_element_and_no_other)
{
    static const size_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 67};
    enum { SIZES = sizeof(sizes) / sizeof(*sizes) };
    for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
        if (!tl_isa_is_usable(variants[i].isa)) {
            ln_check_skip(variants[i].name);
            continue;
        }
        for (int k = 0; k < SIZES * SIZES; k++)
            for (size_t gap = 0; gap <= 2; gap += 2)
                check_kernel(&variants[i], sizes[k / SIZES], sizes[k % SIZES], gap);
    }
}
END_TEST

LN_TEST_MAIN("transpose", a_matrix_is_transposed, every_permutation_agrees_with_the_definition,
             eight_axes_are_reversed, rejects_axes_that_are_no_permutation,
             every_kernel_moves_each_element_and_no_other)
