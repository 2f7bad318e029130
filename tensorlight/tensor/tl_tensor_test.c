// SPDX-License-Identifier: Apache-2.0
// Tests of the tensor record, views and shapes.

#include "tensorlight/tl_tensor.h"

#include <limits.h>

#include "ln_check.h"

START_TEST(a_record_copies_its_dims_and_borrows_its_data)
{
    float data[6] = {0};
    int dims[] = {2, 3};
    tl_tensor *const t = tl_tensor_create(data, 2, dims, TL_FLOAT);
    dims[0] = 9;
    ck_assert_int_eq(t->dtype, TL_FLOAT);
    ck_assert_int_eq(t->len, 6);
    ck_assert_int_eq(t->ndim, 2);
    ck_assert_int_eq(t->dims[0], 2);
    ck_assert_ptr_eq(t->data, data);
    ck_assert_ptr_null(t->owner);
    ck_assert_ptr_null(t->backend_data);
    ck_assert_uint_eq(tl_tensor_size(t), 24);
    tl_tensor_free(t);
}
END_TEST

START_TEST(rejects_impossible_tensors)
{
    ck_assert_ptr_null(tl_tensor_create(NULL, 1, (int[]){1}, TL_DTYPE_SIZE));
    ck_assert_str_eq(tl_last_error(), "dtype 24, expected 0 to 23");
    ck_assert_ptr_null(tl_tensor_create(NULL, 1, (int[]){-1}, TL_FLOAT));
    ck_assert_ptr_null(tl_tensor_create(NULL, 9, (int[9]){0}, TL_FLOAT));
    ck_assert_ptr_null(tl_tensor_zeros(2, (int[]){65536, 65536}, TL_UINT8));
    tl_tensor_free(NULL);
    tl_tensor_free_data_too(NULL);
}
END_TEST

START_TEST(scalars_and_empty_tensors_exist)
{
    tl_tensor *const scalar = tl_tensor_zeros(0, NULL, TL_DOUBLE);
    ck_assert_int_eq(scalar->len, 1);
    ck_assert_uint_eq(tl_tensor_size(scalar), 8);
    tl_tensor *const empty = tl_tensor_zeros(2, (int[]){3, 0}, TL_DOUBLE);
    ck_assert_int_eq(empty->len, 0);
    tl_tensor *const clone = tl_tensor_clone(empty);
    ck_assert(tl_tensor_issameshape(clone, empty));
    tl_tensor_free_data_too(scalar);
    tl_tensor_free_data_too(empty);
    tl_tensor_free_data_too(clone);
}
END_TEST

START_TEST(zeros_own_their_zeroed_data)
{
    tl_tensor *const t = tl_tensor_zeros(2, (int[]){2, 2}, TL_INT64);
    const int64_t expected[4] = {0};
    ck_assert_mem_eq(t->data, expected, sizeof(expected));
    ck_assert_ptr_eq(t->owner, t);
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(indices_and_coordinates_are_inverse)
{
    tl_tensor *const t = tl_tensor_create(NULL, 3, (int[]){2, 3, 4}, TL_INT8);
    ck_assert_int_eq(tl_tensor_index(t, (int[]){1, 2, 3}), 23);
    ck_assert_int_eq(tl_tensor_index(t, (int[]){1, 0, 2}), 14);
    for (int i = 0; i < t->len; i++) {
        int coords[3];
        tl_tensor_coords(t, i, coords);
        ck_assert_int_eq(tl_tensor_index(t, coords), i);
    }
    tl_tensor_free(t);
}
END_TEST

START_TEST(shapes_compare_without_dtypes)
{
    tl_tensor *const a = tl_tensor_create(NULL, 2, (int[]){2, 3}, TL_INT8);
    tl_tensor *const b = tl_tensor_create(NULL, 2, (int[]){2, 3}, TL_FLOAT);
    tl_tensor *const c = tl_tensor_create(NULL, 2, (int[]){3, 2}, TL_INT8);
    tl_tensor *const d = tl_tensor_create(NULL, 3, (int[]){2, 3, 1}, TL_INT8);
    ck_assert_int_eq(tl_tensor_issameshape(a, b), 1);
    ck_assert_int_eq(tl_tensor_issameshape(a, c), 0);
    ck_assert_int_eq(tl_tensor_issameshape(a, d), 0);
    tl_tensor_free(a);
    tl_tensor_free(b);
    tl_tensor_free(c);
    tl_tensor_free(d);
}
END_TEST

START_TEST(clones_and_repetitions_have_own_data)
{
    tl_tensor *const src = tl_tensor_arange(1, 4, 1, TL_INT16);
    tl_tensor *const clone = tl_tensor_clone(src);
    ck_assert_ptr_ne(clone->data, src->data);
    ck_assert_mem_eq(clone->data, src->data, 6);
    tl_tensor *const twice = tl_tensor_repeat(src, 2);
    const int16_t expected[] = {1, 2, 3, 1, 2, 3};
    ck_assert_int_eq(twice->ndim, 2);
    ck_assert_int_eq(twice->dims[0], 2);
    ck_assert_int_eq(twice->dims[1], 3);
    ck_assert_mem_eq(twice->data, expected, sizeof(expected));
    ck_assert_ptr_null(tl_tensor_repeat(src, 0));
    ck_assert_ptr_null(tl_tensor_repeat(NULL, 2));
    ck_assert_ptr_null(tl_tensor_repeat(src, INT_MAX));
    tl_tensor_free_data_too(src);
    tl_tensor_free_data_too(clone);
    tl_tensor_free_data_too(twice);
}
END_TEST

START_TEST(a_slice_record_has_one_other_dim)
{
    tl_tensor *const src = tl_tensor_create(NULL, 3, (int[]){2, 5, 3}, TL_FLOAT);
    tl_tensor *const slice = tl_tensor_create_slice(NULL, src, 1, 4, TL_INT8);
    ck_assert_int_eq(slice->dims[1], 4);
    ck_assert_int_eq(slice->len, 24);
    ck_assert_int_eq(slice->dtype, TL_INT8);
    tl_tensor *const zeros = tl_tensor_zeros_slice(src, 0, 1, TL_FLOAT);
    ck_assert_int_eq(zeros->len, 15);
    ck_assert_float_eq(((float *)zeros->data)[14], 0);
    ck_assert_ptr_null(tl_tensor_create_slice(NULL, src, 3, 1, TL_FLOAT));
    ck_assert_ptr_null(tl_tensor_create_slice(NULL, src, 1, 6, TL_FLOAT));
    ck_assert_ptr_null(tl_tensor_zeros_slice(src, 1, 0, TL_FLOAT));
    tl_tensor_free_data_too(zeros);
    tl_tensor_free(slice);
    tl_tensor_free(src);
}
END_TEST

START_TEST(a_view_of_rows_shares_the_data)
{
    tl_tensor *const src = tl_tensor_zeros(2, (int[]){4, 3}, TL_INT32);
    tl_tensor *view = tl_tensor_slice_nocopy(src, NULL, 0, 1, 2);
    ck_assert_ptr_eq(view->data, (int32_t *)src->data + 3);
    ck_assert_ptr_eq(view->owner, src);
    ck_assert_int_eq(view->dims[0], 2);
    ck_assert_ptr_eq(tl_tensor_slice_nocopy(src, view, 0, 2, 2), view);
    ck_assert_ptr_eq(view->data, (int32_t *)src->data + 6);
    ck_assert_ptr_null(tl_tensor_slice_nocopy(src, view, 0, 0, 3));
    ck_assert_ptr_null(tl_tensor_slice_nocopy(src, NULL, 0, 3, 2));
    ck_assert_str_eq(tl_last_error(), "range of 2 from 3 on, expected one inside 0 to 3");
    ck_assert_ptr_null(tl_tensor_slice_nocopy(src, NULL, 1, 0, 1));
    ck_assert_str_eq(tl_last_error(), "view along axis 1, expected axis 0");
    tl_tensor *const other = tl_tensor_create(NULL, 1, (int[]){2}, TL_INT8);
    ck_assert_ptr_null(tl_tensor_slice_nocopy(src, other, 0, 1, 2));
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "'dst' is TL_INT8 [2], expected "));
    ck_assert_ptr_null(other->data);
    tl_tensor_free(other);
    tl_tensor_free(view);
    tl_tensor_free_data_too(src);
}
END_TEST

START_TEST(reshaping_keeps_the_data)
{
    tl_tensor *const src = tl_tensor_arange(0, 6, 1, TL_UINT8);
    tl_tensor *const view = tl_tensor_reshape(src, 2, (int[]){2, 3});
    ck_assert_ptr_eq(view->data, src->data);
    ck_assert_ptr_eq(view->owner, src);
    ck_assert_ptr_null(tl_tensor_reshape(src, 2, (int[]){2, 4}));
    ck_assert_str_eq(tl_last_error(), "shape [2, 4] has 8 elements, expected 6");
    ck_assert_int_eq(tl_tensor_reshape_src(src, 3, (int[]){3, 1, 2}), 0);
    ck_assert_int_eq(src->ndim, 3);
    ck_assert_int_eq(src->dims[2], 2);
    ck_assert_int_eq(tl_tensor_reshape_src(src, 1, (int[]){5}), -1);
    ck_assert_int_eq(src->ndim, 3);
    tl_tensor_free(view);
    tl_tensor_free_data_too(src);
}
END_TEST

LN_TEST_MAIN("tl_tensor", a_record_copies_its_dims_and_borrows_its_data, rejects_impossible_tensors,
             scalars_and_empty_tensors_exist, zeros_own_their_zeroed_data,
             indices_and_coordinates_are_inverse, shapes_compare_without_dtypes,
             clones_and_repetitions_have_own_data, a_slice_record_has_one_other_dim,
             a_view_of_rows_shares_the_data, reshaping_keeps_the_data)
