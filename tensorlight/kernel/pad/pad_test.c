// SPDX-License-Identifier: Apache-2.0
// Tests of padding.

#include "kernel/tl_nn_test.h"
#include "tensorlight/tl_shape.h"

START_TEST(lines_are_padded_by_the_mode)
{
    static const struct {
        tl_pad_mode mode;
        int begin, n;
        double expected[10];
    } rows[] = {
        {TL_PAD_CONSTANT, 2, 7, {9, 9, 1, 2, 3, 9, 9}},
        {TL_PAD_EDGE, 2, 7, {1, 1, 1, 2, 3, 3, 3}},
        {TL_PAD_REFLECT, 2, 7, {3, 2, 1, 2, 3, 2, 1}},
        {TL_PAD_WRAP, 2, 7, {2, 3, 1, 2, 3, 1, 2}},
        // farther than the line is long
        {TL_PAD_REFLECT, 5, 10, {2, 1, 2, 3, 2, 1, 2, 3, 2, 1}},
        {TL_PAD_WRAP, 4, 10, {3, 1, 2, 3, 1, 2, 3, 1, 2, 3}},
        // cropped at the front, at the end, to nothing
        {TL_PAD_CONSTANT, -1, 4, {2, 3, 9, 9}},
        {TL_PAD_EDGE, -1, 4, {2, 3, 3, 3}},
        {TL_PAD_REFLECT, -1, 4, {2, 3, 2, 3}},
        {TL_PAD_WRAP, 2, 4, {1, 2, 1, 2}},
        {TL_PAD_CONSTANT, -2, 1, {3}},
        {TL_PAD_CONSTANT, -5, 2, {9, 9}},
        {TL_PAD_CONSTANT, 9, 2, {9, 9}},
    };
    for (size_t k = 0; k < NN_LEN(nn_types); k++)
        for (size_t i = 0; i < NN_LEN(rows) && nn_types[k] != TL_BOOL; i++) {
            nn_room room = {0};
            tl_tensor *const src = nn_given(&room, nn_types[k], 1, (int[]){3}, (double[]){1, 2, 3});
            tl_tensor *const value = nn_given(&room, nn_types[k], 0, NULL, (double[]){9});
            tl_tensor *const dst = nn_blank(&room, nn_types[k], 1, &rows[i].n);
            tl_exec_pad(NULL, src, dst, &rows[i].begin, rows[i].mode, value->data);
            nn_check_values(dst, rows[i].expected);
            nn_close(&room);
        }
}
END_TEST

START_TEST(every_axis_is_padded)
{
    nn_room room = {0};
    tl_tensor *const src = nn_given(&room, TL_FLOAT, 2, (int[]){2, 2}, (double[]){1, 2, 3, 4});
    tl_tensor *const dst = nn_blank(&room, TL_FLOAT, 2, (int[]){4, 3});
    tl_exec_pad(NULL, src, dst, (int[]){1, 0}, TL_PAD_CONSTANT, NULL);
    nn_check_values(dst, (double[]){0, 0, 0, 1, 2, 0, 3, 4, 0, 0, 0, 0});
    tl_exec_pad(NULL, src, dst, (int[]){1, 1}, TL_PAD_REFLECT, NULL);
    nn_check_values(dst, (double[]){4, 3, 4, 2, 1, 2, 4, 3, 4, 2, 1, 2});
    nn_close(&room);
}
END_TEST

START_TEST(scalars_and_empty_tensors_are_padded_too)
{
    nn_room room = {0};
    tl_tensor *const five = nn_given(&room, TL_INT32, 0, NULL, (double[]){5});
    tl_tensor *const copy = nn_blank(&room, TL_INT32, 0, NULL);
    tl_exec_pad(NULL, five, copy, NULL, TL_PAD_EDGE, NULL);
    nn_check_values(copy, (double[]){5});
    tl_tensor *const none = nn_blank(&room, TL_INT32, 2, (int[]){0, 2});
    tl_tensor *const full = nn_blank(&room, TL_INT32, 2, (int[]){1, 3});
    tl_exec_pad(NULL, none, full, (int[]){1, 0}, TL_PAD_CONSTANT, five->data);
    nn_check_values(full, (double[]){5, 5, 5});
    tl_exec_pad(NULL, full, none, (int[]){-1, 0}, TL_PAD_CONSTANT, five->data);
    nn_close(&room);
}
END_TEST

// The index among `n` kept elements that `at`, counted from the first one, repeats, step by step;
// -1: none.
static int index_of(tl_pad_mode mode, int at, int n)
{
    while (at < 0 || at >= n) {
        if (mode == TL_PAD_CONSTANT)
            return -1;
        if (mode == TL_PAD_EDGE || n == 1)
            return at < 0 ? 0 : n - 1;
        if (mode == TL_PAD_WRAP)
            at += at < 0 ? n : -n;
        else
            at = at < 0 ? -at : 2 * (n - 1) - at;
    }
    return at;
}

// What element `i` of dst should be.
static double padded(const tl_tensor *src, const tl_tensor *dst, const int *begin, tl_pad_mode mode,
                     size_t i)
{
    size_t from = 0, step = 1;
    for (int axis = src->ndim - 1; axis >= 0; axis--) {
        const int length = src->dims[axis], cut = begin[axis] < 0 ? -begin[axis] : 0;
        const int end = dst->dims[axis] - length - begin[axis];
        const int kept = length - cut + (end < 0 ? end : 0);
        const int at = (int)(i % (size_t)dst->dims[axis]) - (begin[axis] > 0 ? begin[axis] : 0);
        const int found = index_of(mode, at, kept);
        if (found < 0)
            return 9;
        from += (size_t)(cut + found) * step;
        step *= (size_t)length;
        i /= (size_t)dst->dims[axis];
    }
    return nn_at(src, from);
}

static int pick(nn_room *room, int n)
{
    return (int)(tl_random_uniform(&room->seed) * n) % n;
}

START_TEST(axes_of_any_kind_are_padded)
{
    static const tl_dtype dtypes[] = {TL_UINT8, TL_INT16, TL_FLOAT, TL_DOUBLE};
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        nn_room room = {.seed = seed};
        int dims[TL_MAXDIM], dst_dims[TL_MAXDIM], begin[TL_MAXDIM];
        const int ndim = 1 + pick(&room, 6);
        const tl_pad_mode mode = (tl_pad_mode)pick(&room, TL_PAD_MODE_SIZE);
        for (int i = 0; i < ndim; i++) {
            // Some rows have long borders.
            const int is_whole = pick(&room, 2), scale = seed % 16 == 0 && i == ndim - 1 ? 50 : 1;
            dims[i] = scale * (1 + pick(&room, 4));
            begin[i] = is_whole ? 0 : scale * (pick(&room, 4) - 1);
            const int end = is_whole ? 0 : scale * (pick(&room, 4) - 1);
            if (begin[i] + dims[i] + end < 1 ||
                dims[i] + (begin[i] < 0) * begin[i] + (end < 0) * end < 1)
                begin[i] = 0, dst_dims[i] = dims[i];
            else
                dst_dims[i] = begin[i] + dims[i] + end;
        }
        const tl_dtype dtype = dtypes[pick(&room, 4)];
        tl_tensor *const src = nn_random(&room, dtype, ndim, dims, 0, 100);
        tl_tensor *const value = nn_given(&room, dtype, 0, NULL, (double[]){9});
        tl_tensor *const dst = nn_blank(&room, dtype, ndim, dst_dims);
        tl_exec_pad(NULL, src, dst, begin, mode, value->data);
        for (int i = 0; i < dst->len; i++) {
            const double expected = padded(src, dst, begin, mode, (size_t)i);
            if (nn_at(dst, (size_t)i) != expected)
                ck_abort_msg("seed %d, element %d: %g, expected %g", (int)seed, i,
                             nn_at(dst, (size_t)i), expected);
        }
        nn_close(&room);
    }
}
END_TEST

static void run_long(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_pad(exec, arg, dst, (int[]){1, 0, 0}, TL_PAD_CONSTANT, NULL);
}

static void run_pad(const tl_exec *exec, tl_tensor *dst, void *arg)
{
    tl_exec_pad(exec, arg, dst, (int[]){1, 3, 2}, TL_PAD_REFLECT, NULL);
}

START_TEST(threads_do_not_change_the_result)
{
    nn_room room = {.seed = 5};
    tl_tensor *const src = nn_random(&room, TL_FLOAT, 3, (int[]){20, 30, 200}, -1, 1);
    nn_check_threads(run_pad, nn_blank(&room, TL_FLOAT, 3, (int[]){22, 40, 205}), src);
    nn_check_threads(run_long, nn_blank(&room, TL_FLOAT, 3, (int[]){22, 30, 200}), src);
    nn_close(&room);
}
END_TEST

START_TEST(modes_have_names)
{
    for (int mode = 0; mode < TL_PAD_MODE_SIZE; mode++)
        ck_assert_int_eq(tl_pad_mode_from_str(tl_pad_mode_name((tl_pad_mode)mode)), mode);
    ck_assert_int_eq(tl_pad_mode_from_str("reflect"), TL_PAD_MODE_INVALID);
    ck_assert_int_eq(tl_pad_mode_from_str(NULL), TL_PAD_MODE_INVALID);
    ck_assert_ptr_null(tl_pad_mode_name(TL_PAD_MODE_SIZE));
}
END_TEST

LN_TEST_MAIN("pad", lines_are_padded_by_the_mode, every_axis_is_padded, axes_of_any_kind_are_padded,
             scalars_and_empty_tensors_are_padded_too, threads_do_not_change_the_result,
             modes_have_names)
