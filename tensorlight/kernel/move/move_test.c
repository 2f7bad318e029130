// SPDX-License-Identifier: Apache-2.0
// Tests of slice, concat, gather, scatter, repeat and copy.

#include "kernel/move/move.h"
#include "kernel/tl_map_test.h"
#include "tensorlight/tensorlight.h"

// 0, 1, .. as TL_INT32 in the shape [a, b, c].
static tl_tensor *counting(int a, int b, int c)
{
    tl_tensor *const t = tl_tensor_arange(0, a * b * c, 1, TL_INT32);
    ck_assert_int_eq(tl_tensor_reshape_src(t, 3, (int[]){a, b, c}), 0);
    return t;
}

START_TEST(a_slice_is_a_range_along_its_axis)
{
    tl_tensor *const src = counting(2, 3, 2);
    static const struct {
        int axis, start, len, n;
        int32_t expected[6];
    } rows[] = {{0, 1, 1, 6, {6, 7, 8, 9, 10, 11}},
                {1, 1, 1, 4, {2, 3, 8, 9}},
                {2, 1, 1, 6, {1, 3, 5, 7, 9, 11}}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        tl_tensor *const dst = tl_tensor_slice(src, NULL, rows[i].axis, rows[i].start, rows[i].len);
        ck_assert_int_eq(dst->len, rows[i].n);
        ck_assert_int_eq(dst->dims[rows[i].axis], rows[i].len);
        ck_assert_mem_eq(dst->data, rows[i].expected, tl_tensor_size(dst));
        ck_assert_ptr_eq(tl_tensor_slice(src, dst, rows[i].axis, rows[i].start - 1, rows[i].len),
                         dst);
        tl_tensor_free_data_too(dst);
    }
    tl_tensor_free_data_too(src);
}
END_TEST

START_TEST(rejects_slices_out_of_range)
{
    tl_tensor *const src = counting(2, 3, 2);
    ck_assert_ptr_null(tl_tensor_slice(src, NULL, 1, 2, 2));
    ck_assert_str_eq(tl_last_error(), "range of 2 from 2 on, expected one inside 0 to 2");
    ck_assert_ptr_null(tl_tensor_slice(src, NULL, 1, 2147483647, 2147483647));
    ck_assert_ptr_null(tl_tensor_slice(src, NULL, 1, -1, 2));
    ck_assert_ptr_null(tl_tensor_slice(src, NULL, 1, 0, 0));
    ck_assert_ptr_null(tl_tensor_slice(src, NULL, 3, 0, 1));
    ck_assert_str_eq(tl_last_error(), "axis 3, expected 0 to 2");
    tl_tensor_free_data_too(src);
}
END_TEST

START_TEST(slices_concatenate_to_the_whole)
{
    tl_tensor *const src = counting(3, 4, 5);
    for (int axis = 0; axis < 3; axis++) {
        for (int cut = 1; cut < src->dims[axis]; cut++) {
            tl_tensor *const left = tl_tensor_slice(src, NULL, axis, 0, cut);
            tl_tensor *const right = tl_tensor_slice(src, NULL, axis, cut, src->dims[axis] - cut);
            tl_tensor *const whole = tl_tensor_concat(left, right, NULL, axis);
            ck_assert(tl_tensor_issameshape(whole, src));
            ck_assert_mem_eq(whole->data, src->data, tl_tensor_size(src));
            tl_tensor_free_data_too(left);
            tl_tensor_free_data_too(right);
            tl_tensor_free_data_too(whole);
        }
    }
    tl_tensor_free_data_too(src);
}
END_TEST

START_TEST(rejects_tensors_that_cannot_be_joined)
{
    tl_tensor *const a = counting(2, 3, 4);
    tl_tensor *const b = counting(2, 2, 4);
    tl_tensor *const c = tl_tensor_zeros(2, (int[]){2, 3}, TL_INT32);
    tl_tensor *const d = tl_tensor_zeros(3, (int[]){2, 3, 4}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_concat(a, b, NULL, 0));
    ck_assert_str_eq(tl_last_error(),
                     "shapes [2, 3, 4] and [2, 2, 4], expected the same but for axis 0");
    ck_assert_ptr_null(tl_tensor_concat(a, c, NULL, 0));
    ck_assert_ptr_null(tl_tensor_concat(a, d, NULL, 0));
    ck_assert_ptr_null(tl_tensor_concat(a, b, a, 1));
    ck_assert_ptr_null(tl_tensor_concat(a, b, NULL, 3));
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(b);
    tl_tensor_free_data_too(c);
    tl_tensor_free_data_too(d);
}
END_TEST

START_TEST(gathered_tensors_scatter_again)
{
    tl_tensor *const parts[] = {counting(1, 2, 3), counting(1, 2, 3), counting(1, 2, 3)};
    ((int32_t *)parts[1]->data)[0] = 100;
    ((int32_t *)parts[2]->data)[5] = 200;
    tl_tensor *const stack = tl_tensor_zeros(4, (int[]){3, 1, 2, 3}, TL_INT32);
    ck_assert_int_eq(tl_exec_gather(NULL, (const tl_tensor *const *)parts, 3, stack), 0);
    const int32_t expected[] = {0, 1, 2, 3, 4, 5, 100, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 200};
    ck_assert_mem_eq(stack->data, expected, sizeof(expected));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(tl_exec_zeros(NULL, parts[i]), 0);
    ck_assert_int_eq(tl_exec_scatter(NULL, stack, parts, 3), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_mem_eq(parts[i]->data, expected + 6 * i, 24);
    for (int i = 0; i < 3; i++)
        tl_tensor_free_data_too(parts[i]);
    tl_tensor_free_data_too(stack);
}
END_TEST

START_TEST(many_tensors_concatenate)
{
    tl_tensor *const a = counting(2, 1, 2);
    tl_tensor *const none = tl_tensor_zeros(3, (int[]){2, 0, 2}, TL_INT32);
    const tl_tensor *const srcs[] = {a, none, a, a};
    tl_tensor *const dst = tl_tensor_zeros(3, (int[]){2, 3, 2}, TL_INT32);
    ck_assert_int_eq(tl_exec_concat(NULL, srcs, 4, dst, 1), 0);
    const int32_t expected[] = {0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3};
    ck_assert_mem_eq(dst->data, expected, sizeof(expected));
    tl_tensor_free_data_too(a);
    tl_tensor_free_data_too(none);
    tl_tensor_free_data_too(dst);
}
END_TEST

// Appends a column to a table with memory for four, in place or not.
START_TEST(rows_are_appended_where_they_lie)
{
    tl_tensor *const more = counting(2, 1, 2);
    const int32_t expected[] = {0, 1, 2, 3, 0, 1, -1, -1, 4, 5, 6, 7, 2, 3, -1, -1};
    for (int is_elsewhere = 0; is_elsewhere < 2; is_elsewhere++) {
        int32_t memory[2][16] = {{0, 1, 2, 3, -1, -1, -1, -1, 4, 5, 6, 7, -1, -1, -1, -1}};
        memset(memory[1], -1, sizeof(memory[1]));
        tl_tensor *const table = tl_tensor_create(memory[0], 3, (int[]){2, 2, 2}, TL_INT32);
        tl_tensor *const dst =
            tl_tensor_create(memory[is_elsewhere], 3, (int[]){2, 3, 2}, TL_INT32);
        ck_assert_int_eq(tl_exec_append(NULL, (const tl_tensor *[]){table, more}, 2, dst, 1, 4), 0);
        ck_assert_mem_eq(memory[is_elsewhere], expected, sizeof(expected));
        tl_tensor_free(table);
        tl_tensor_free(dst);
    }
    tl_tensor_free_data_too(more);
}
END_TEST

static void check_blocks(const tl_exec *exec, size_t n, size_t size, size_t gap)
{
    const size_t src_size = n * size, dst_size = n ? (n - 1) * (size + gap) + size : 0;
    ln_guard src_guard, dst_guard;
    unsigned char *const src = ln_guard_alloc(&src_guard, src_size);
    unsigned char *const dst = ln_guard_alloc(&dst_guard, dst_size);
    tl_map_fill(src, src_size, size);
    tl_move_blocks(exec, (tl_strided){dst, size + gap}, (tl_strided){src, size}, n, size);
    for (size_t i = 0; i < n; i++)
        ck_assert_mem_eq(dst + i * (size + gap), src + i * size, size);
    for (size_t i = 0; i + 1 < n; i++)
        for (size_t k = 0; k < gap; k++)
            ck_assert_uint_eq(dst[i * (size + gap) + size + k], LN_GUARD_CANARY);
    ck_assert(ln_guard_is_intact(&src_guard) && ln_guard_is_intact(&dst_guard));
    ln_guard_free(&src_guard);
    ln_guard_free(&dst_guard);
}

START_TEST(blocks_of_every_size_move_and_gaps_stay)
{
    static const size_t sizes[] = {0,   1,   2,   3,    4,     5,     7,     8,
                                   9,   15,  16,  17,   31,    33,    64,    65,
                                   255, 256, 257, 1000, 65535, 65536, 65537, 300000};
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t n = 0; n < 5; n++) {
            check_blocks(NULL, n, sizes[i], 3);
            check_blocks(&exec, n, sizes[i], 3);
        }
    check_blocks(&exec, 100000, 3, 1);
    tl_pool_free(pool);
}
END_TEST

START_TEST(a_copy_onto_itself_changes_nothing)
{
    tl_tensor *const t = counting(1, 2, 3);
    ck_assert_int_eq(tl_exec_copy(NULL, t, t), 0);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(((int32_t *)t->data)[i], i);
    tl_tensor_free_data_too(t);
}
END_TEST

LN_TEST_MAIN("move", a_slice_is_a_range_along_its_axis, rejects_slices_out_of_range,
             slices_concatenate_to_the_whole, rejects_tensors_that_cannot_be_joined,
             gathered_tensors_scatter_again, many_tensors_concatenate,
             rows_are_appended_where_they_lie, blocks_of_every_size_move_and_gaps_stay,
             a_copy_onto_itself_changes_nothing)
