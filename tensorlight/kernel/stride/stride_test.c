// SPDX-License-Identifier: Apache-2.0
// Tests of copies with strides: slices with steps, broadcasting, tiling.

#include <limits.h>

#include "kernel/stride/stride.h"
#include "kernel/tl_map_test.h"
#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

START_TEST(a_new_shape_follows_from_what_is_wanted)
{
    static const struct {
        int src_ndim, src[3], ndim, wanted[3], dims[3];
    } rows[] = {
        {2, {2, 6}, 2, {3, 4}, {3, 4}},         {2, {2, 6}, 3, {-2, -1, 3}, {2, 2, 3}},
        {0, {0}, 2, {1, -1}, {1, 1}},           {2, {1, 1}, 0, {0}, {0}},
        {2, {0, 6}, 3, {-2, 2, -1}, {0, 2, 3}}, {2, {0, 6}, 2, {5, 0}, {5, 0}},
        {2, {3, 0}, 2, {-1, 5}, {0, 5}},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        int dims[TL_MAXDIM];
        tl_tensor *const src = tl_tensor_create(NULL, rows[i].src_ndim, rows[i].src, TL_FLOAT);
        ck_assert_msg(tl_reshape_dims(src, rows[i].ndim, rows[i].wanted, 0, dims) == 0, "%s",
                      tl_last_error());
        ck_assert_mem_eq(dims, rows[i].dims, (size_t)rows[i].ndim * sizeof(int));
        tl_tensor_free(src);
    }
}
END_TEST

START_TEST(rejects_invalid_new_shapes)
{
    static const struct {
        int wanted[3];
        const char *reason;
    } rows[] = {
        {{-1, -1, 1}, "-1 at 1 of the new shape, expected a length, -2 for the one in the source"},
        {{12, 1, -2}, "-2 at 2 of the new shape, expected a length, -1 for the rest"},
        {{-3, 1, 1},
         "-3 at 0 of the new shape, expected a length, -1 for the rest, -2 for the one in the "
         "source"},
        {{5, -1, 1}, "-1 in the new shape, expected the other axes, of 5 elements, to divide 12"},
        {{0, -1, 1}, "-1 in the new shape, expected the other axes, of 0 elements, to divide 12"},
        {{INT_MAX, INT_MAX, INT_MAX},
         "new shape [2147483647, 2147483647, 2147483647], expected 12 elements"},
    };
    int dims[TL_MAXDIM];
    tl_tensor *const src = tl_tensor_create(NULL, 2, (int[]){3, 4}, TL_FLOAT);
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        ck_assert_int_eq(tl_reshape_dims(src, 3, rows[i].wanted, 0, dims), -1);
        ck_assert_str_eq(tl_last_error(), rows[i].reason);
    }
    tl_tensor_free(src);
}
END_TEST

START_TEST(of_the_largest_size_elements_may_be_left_over)
{
    int dims[TL_MAXDIM];
    tl_tensor *const src = tl_tensor_create(NULL, 1, (int[]){12}, TL_FLOAT);
    ck_assert_int_eq(tl_reshape_dims(src, 2, (int[]){5, -1}, 1, dims), 0);
    ck_assert_int_eq(dims[1], 2);
    ck_assert_int_eq(tl_reshape_dims(src, 2, (int[]){5, 2}, 1, dims), 0);
    ck_assert_int_eq(tl_reshape_dims(src, 2, (int[]){5, 3}, 1, dims), -1);
    tl_tensor_free(src);
}
END_TEST

START_TEST(a_slice_is_counted_after_its_bounds_are_clamped)
{
    static const struct {
        int dim, start, end, step, len, first;
    } rows[] = {
        {10, 2, 7, 2, 3, 2},
        {10, -3, INT_MAX, 1, 3, 7},
        {10, 8, 2, -3, 2, 8},
        {10, INT_MAX, INT_MIN, -1, 10, 9},
        {10, INT_MAX, INT_MIN, INT_MIN, 1, 9},
        {10, 0, INT_MAX, INT_MAX, 1, 0},
        {10, 5, 5, 1, 0, 5},
        {10, 7, 2, 1, 0, 7},
        {0, 0, INT_MAX, 1, 0, 0},
        {0, INT_MAX, INT_MIN, -1, 0, -1},
        {3, INT_MIN, 2, 1, 2, 0},
        {10, -11, INT_MIN, -1, 1, 0}, // the start clamps to the first element
        {10, INT_MIN, -11, -3, 1, 0},
        {10, INT_MIN, INT_MIN, 1, 0, 0},
        {10, 9, INT_MAX, -1, 0, 9}, // the end clamps to the last one, which it excludes
        {0, INT_MIN, INT_MIN, -1, 0, -1},
    };
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        int first = -99;
        ck_assert_int_eq(
            tl_slice_length(rows[i].dim, rows[i].start, rows[i].end, rows[i].step, &first),
            rows[i].len);
        ck_assert_int_eq(first, rows[i].first);
    }
}
END_TEST

START_TEST(slices_step_and_turn_round_in_every_type)
{
    static const double numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    for (size_t k = 0; k < NN_LEN(nn_types); k++) {
        if (nn_types[k] == TL_BOOL)
            continue;
        nn_room room = {0};
        tl_tensor *const src = nn_given(&room, nn_types[k], 2, (int[]){3, 4}, numbers);
        tl_tensor *const dst = nn_blank(&room, nn_types[k], 2, (int[]){2, 2});
        tl_exec_stride_slice(NULL, src, dst, 2, (int[]){0, 1}, (int[]){2, 1}, (int[]){-2, 2});
        nn_check_values(dst, (double[]){9, 11, 1, 3});
        tl_tensor *const mirrored = nn_blank(&room, nn_types[k], 2, (int[]){3, 4});
        tl_exec_stride_slice(NULL, src, mirrored, 1, (int[]){1}, (int[]){3}, (int[]){-1});
        nn_check_values(mirrored, (double[]){3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
        nn_close(&room);
    }
}
END_TEST

START_TEST(empty_slices_and_scalars_are_nothing_special)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){1, 2}, (double[]){1, 2});
    tl_tensor *const none = nn_blank(&room, TL_FLOAT, 2, (int[]){1, 0});
    tl_exec_stride_slice(NULL, src, none, 1, (int[]){1}, (int[]){2}, (int[]){1});
    tl_tensor *const five = nn_given(&room, TL_INT64, 0, NULL, (double[]){5});
    tl_tensor *const copy = nn_blank(&room, TL_INT64, 0, NULL);
    tl_exec_stride_slice(NULL, five, copy, 0, NULL, NULL, NULL);
    nn_check_values(copy, (double[]){5});
    tl_tensor *const fives = nn_blank(&room, TL_INT64, 2, (int[]){2, 2});
    tl_exec_expand(NULL, five, fives);
    nn_check_values(fives, (double[]){5, 5, 5, 5});
    nn_close(&room);
}
END_TEST

START_TEST(shapes_broadcast)
{
    static const struct {
        int a_ndim, a[3], b_ndim, b[3], ndim, dims[3];
    } rows[] = {
        {2, {3, 1}, 3, {2, 1, 6}, 3, {2, 3, 6}},
        {0, {0}, 2, {4, 5}, 2, {4, 5}},
        {0, {0}, 0, {0}, 0, {0}},
        {2, {1, 4}, 1, {1}, 2, {1, 4}},
        {2, {0, 1}, 2, {1, 5}, 2, {0, 5}},
    };
    int dims[TL_MAXDIM];
    for (size_t i = 0; i < NN_LEN(rows); i++) {
        ck_assert_int_eq(
            tl_broadcast_dims(rows[i].a_ndim, rows[i].a, rows[i].b_ndim, rows[i].b, dims),
            rows[i].ndim);
        ck_assert_mem_eq(dims, rows[i].dims, (size_t)rows[i].ndim * sizeof(int));
    }
    ck_assert_int_eq(tl_broadcast_dims(1, (int[]){3}, 2, (int[]){2, 4}, dims), -1);
    ck_assert_str_eq(tl_last_error(), "shapes [3] and [2, 4], expected ones that broadcast to one");
    ck_assert_int_eq(tl_broadcast_dims(1, (int[]){0}, 1, (int[]){2}, dims), -1);
}
END_TEST

START_TEST(expansion_repeats_axes_of_one)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT16, 2, (int[]){2, 1}, (double[]){1, 2});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT16, 3, (int[]){2, 2, 3});
    tl_exec_expand(NULL, src, dst);
    nn_check_values(dst, (double[]){1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
    nn_close(&room);
}
END_TEST

START_TEST(tiles_lie_side_by_side)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_INT8, 2, (int[]){2, 2}, (double[]){1, 2, 3, 4});
    tl_tensor *const dst = nn_blank(&room, TL_INT8, 2, (int[]){4, 6});
    tl_exec_tile(NULL, src, dst, (int[]){2, 3});
    nn_check_values(
        dst, (double[]){1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4});
    // Lines of 2 elements, twice, in 9 rows: the rows are copied side by side.
    tl_tensor *const rows = nn_random(&room, TL_INT16, 3, (int[]){3, 3, 2}, 0, 99);
    tl_tensor *const twice = nn_blank(&room, TL_INT16, 3, (int[]){3, 3, 4});
    tl_exec_tile(NULL, rows, twice, (int[]){1, 1, 2});
    for (size_t i = 0; i < 36; i++)
        ck_assert(nn_at(twice, i) == nn_at(rows, i / 4 * 2 + i % 2));
    tl_tensor *const none = nn_blank(&room, TL_INT8, 2, (int[]){0, 2});
    tl_exec_tile(NULL, src, none, (int[]){0, 1});
    nn_close(&room);
}
END_TEST

// The definition of a slice with steps, element by element.
static void expect_slice(const tl_tensor *src, tl_tensor *dst, const int *first, const int *steps)
{
    for (int i = 0; i < dst->len; i++) {
        int coords[TL_MAXDIM];
        tl_tensor_coords(dst, i, coords);
        for (int k = 0; k < dst->ndim; k++)
            coords[k] = first[k] + coords[k] * steps[k];
        tl_pointer_assign(dst->data, i, src->data, tl_tensor_index(src, coords), dst->dtype);
    }
}

static void run_slice(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_stride_slice(exec, arg, dst, 3, (int[]){0, 1, 2}, (int[]){6, 0, 40000},
                         (int[]){-2, 1, -2});
}

START_TEST(threads_give_what_the_definition_says)
{
    nn_room room = {.seed = 3};
    tl_tensor *const src = nn_random(&room, TL_UINT16, 3, (int[]){7, 3, 40001}, 0, 65535);
    tl_tensor *const dst = nn_blank(&room, TL_UINT16, 3, (int[]){4, 3, 20001});
    tl_tensor *const expected = nn_blank(&room, TL_UINT16, 3, (int[]){4, 3, 20001});
    expect_slice(src, expected, (int[]){6, 0, 40000}, (int[]){-2, 1, -2});
    nn_check_threads(run_slice, dst, src);
    ck_assert_mem_eq(dst->data, expected->data, tl_tensor_size(dst));
    nn_close(&room);
}
END_TEST

typedef struct variant {
    const char *name;
    tl_stride_kernel *func;
    tl_dtype dtype;
    tl_isa isa;
} variant;

#define VARIANT(arg, name, dtype, isa) {#name, name, dtype, isa},
static const variant variants[] = {TL_STRIDE_KERNELS(VARIANT, )};

static void check_line(const variant *v, ptrdiff_t src_stride, ptrdiff_t dst_stride, size_t len)
{
    const size_t size = tl_size_of(v->dtype),
                 span = (size_t)(src_stride < 0 ? -src_stride : src_stride);
    const size_t src_len = (len - 1) * span + 1, dst_len = (len - 1) * (size_t)dst_stride + 1;
    ln_guard src_guard, dst_guard;
    void *const src = ln_guard_alloc(&src_guard, src_len * size);
    void *const dst = ln_guard_alloc(&dst_guard, dst_len * size);
    tl_map_fill(src, src_len * size, len);
    void *const expected = tl_clone(dst, dst_len * size);
    const ptrdiff_t first = src_stride < 0 ? (ptrdiff_t)src_len - 1 : 0;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)len; i++)
        tl_passign(expected, i * dst_stride, src, first + i * src_stride, size);
    v->func(tl_padd(src, first, size), src_stride, dst, dst_stride, len);
    ck_assert_msg(memcmp(dst, expected, dst_len * size) == 0, "%s by %td to %td, %zu", v->name,
                  src_stride, dst_stride, len);
    ck_assert(ln_guard_is_intact(&dst_guard));
    tl_free(expected);
    ln_guard_free(&src_guard);
    ln_guard_free(&dst_guard);
}

START_TEST(every_kernel_copies_lines_of_every_stride)
{
    static const size_t lens[] = {1, 2, 15, 16, 17, 31, 33, 129};
    for (size_t k = 0; k < NN_LEN(variants); k++)
        for (ptrdiff_t stride = -3; stride <= 3; stride++)
            for (ptrdiff_t to = 1; to <= 2; to++)
                for (size_t i = 0; i < NN_LEN(lens); i++)
                    check_line(&variants[k], stride, to, lens[i]);
}
END_TEST

LN_TEST_MAIN("stride", a_new_shape_follows_from_what_is_wanted, rejects_invalid_new_shapes,
             of_the_largest_size_elements_may_be_left_over,
             a_slice_is_counted_after_its_bounds_are_clamped,
             slices_step_and_turn_round_in_every_type, empty_slices_and_scalars_are_nothing_special,
             shapes_broadcast, expansion_repeats_axes_of_one, tiles_lie_side_by_side,
             threads_give_what_the_definition_says, every_kernel_copies_lines_of_every_stride)
