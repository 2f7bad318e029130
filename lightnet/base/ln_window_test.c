// SPDX-License-Identifier: Apache-2.0
// Tests of shapes' text form, and of the extents and paddings of sliding windows.

#include "lightnet/ln_util.h"

#include <limits.h>
#include <string.h>

#include "lightnet/ln_msg.h"

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(shape_is_printed_in_brackets)
{
    const int dims[LN_MAXDIM] = {1, 3, -5, INT_MIN, INT_MIN, INT_MIN, INT_MIN, INT_MIN};
    const struct {
        size_t size;
        int ndim;
        const char *text;
    } rows[] = {
        {64, 0, "[]"}, {64, 1, "[1]"}, {64, 3, "[1, 3, -5]"}, {1, 3, ""},
        {2, 3, "["},   {5, 3, "[1, "}, {10, 3, "[1, 3, -5"},  {11, 3, "[1, 3, -5]"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        char buf[64];
        ck_assert_ptr_eq(ln_sprint_shape(buf, rows[i].size, rows[i].ndim, dims), buf);
        ck_assert_str_eq(buf, rows[i].text);
    }
    char widest[LN_MAX_SHAPE];
    ln_sprint_shape(widest, sizeof(widest), LN_MAXDIM, dims);
    ck_assert_int_eq(widest[strlen(widest) - 1], ']');
}
END_TEST

START_TEST(conv_extent_is_the_number_of_places_of_the_window)
{
    const struct {
        int input, size, stride, padding, dilation, out;
    } rows[] = {
        {3, 2, 1, 0, 1, 2},        {224, 7, 2, 6, 1, 112},
        {5, 3, 2, 0, 1, 2},        {7, 3, 1, 4, 2, 7},
        {3, 3, 9, 0, 1, 1},        {2, 3, 1, 0, 1, -1},
        {2, 3, 1, 1, 1, 1},        {5, 3, 1, 0, 3, -1},
        {0, 1, 1, 0, 1, -1},       {3, 0, 1, 0, 1, -1},
        {3, 1, 0, 0, 1, -1},       {3, 1, 1, 0, 0, -1},
        {3, 1, 1, -3, 1, -1},      {INT_MAX, 1, 1, 0, 1, INT_MAX},
        {INT_MAX, 1, 1, 1, 1, -1}, {INT_MAX, INT_MAX, 1, 0, INT_MAX, -1},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        ck_assert_int_eq(ln_output_dim_conv(rows[i].input, rows[i].size, rows[i].stride,
                                            rows[i].padding, rows[i].dilation),
                         rows[i].out);
}
END_TEST

START_TEST(deconv_extent_is_that_of_its_windows)
{
    const struct {
        int input, size, stride, output_padding, padding, dilation, out;
    } rows[] = {
        {2, 2, 1, 0, 0, 1, 3},   {3, 3, 2, 0, 1, 1, 6},  {3, 3, 2, 1, 2, 1, 6},
        {2, 3, 1, 0, 0, 2, 6},   {1, 1, 1, 0, 1, 1, -1}, {1, 1, 1, 0, -4, 1, 5},
        {2, 2, 1, -1, 0, 1, -1}, {0, 2, 1, 0, 0, 1, -1}, {INT_MAX, 1, 2, 0, 0, 1, -1},
    };
    for (size_t i = 0; i < LEN(rows); i++)
        ck_assert_int_eq(ln_output_dim_deconv(rows[i].input, rows[i].size, rows[i].stride,
                                              rows[i].output_padding, rows[i].padding,
                                              rows[i].dilation),
                         rows[i].out);
}
END_TEST

START_TEST(window_errors_name_the_value_found)
{
    ck_assert_int_eq(ln_output_dim_conv(2, 3, 1, 0, 1), -1);
    ck_assert_str_eq(ln_last_error(), "window covers 3 elements, the padded input has only 2");
    ck_assert_int_eq(ln_output_dim_deconv(1, 1, 1, 0, 1, 1), -1);
    ck_assert_str_eq(ln_last_error(), "output extent would be 0, expected 1 to 2147483647");
}
END_TEST

START_TEST(same_padding_of_a_conv_keeps_ceil_of_in_by_stride)
{
    const struct {
        const char *mode;
        int in, size, stride, dilation, begin, end;
    } rows[] = {
        {"SAME_UPPER", 6, 3, 2, 1, 0, 1}, {"SAME_LOWER", 6, 3, 2, 1, 1, 0},
        {"SAME_UPPER", 5, 3, 2, 1, 1, 1}, {"SAME_LOWER", 5, 3, 2, 1, 1, 1},
        {"SAME_UPPER", 7, 3, 1, 2, 2, 2}, {"SAME_LOWER", 7, 3, 1, 2, 2, 2},
        {"SAME_UPPER", 4, 1, 2, 1, 0, 0}, {"SAME_LOWER", 4, 1, 2, 1, 0, 0},
        {"VALID", 6, 3, 2, 1, 0, 0},      {"NOTSET", 6, 3, 2, 1, 8, 9},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        int padding[2] = {8, 9};
        ck_assert_int_eq(ln_autopadding_conv(padding, &rows[i].in, &rows[i].size, &rows[i].stride,
                                             &rows[i].dilation, 1, rows[i].mode),
                         0);
        ck_assert_int_eq(padding[0], rows[i].begin);
        ck_assert_int_eq(padding[1], rows[i].end);
    }
}
END_TEST

START_TEST(padding_holds_the_begins_of_all_axes_then_their_ends)
{
    const int in[2] = {6, 8}, size[2] = {3, 5}, stride[2] = {2, 1};
    int padding[4] = {9, 9, 9, 9};
    ck_assert_int_eq(ln_autopadding_conv(padding, in, size, stride, NULL, 2, "SAME_UPPER"), 0);
    const int expected[4] = {0, 2, 1, 2}; // top, left, bottom, right
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(padding[i], expected[i]);
}
END_TEST

START_TEST(same_padding_of_a_deconv_gives_the_wanted_extent)
{
    const struct {
        const char *mode;
        int in, size, stride, output_padding, out, begin, end;
    } rows[] = {
        {"SAME_UPPER", 3, 3, 2, 0, 6, 0, 1},   {"SAME_LOWER", 3, 3, 2, 0, 6, 1, 0},
        {"SAME_UPPER", 3, 3, 2, 1, 6, 1, 1},   {"SAME_UPPER", 3, 1, 2, 0, 8, -1, -2},
        {"SAME_LOWER", 3, 1, 2, 0, 8, -2, -1}, {"VALID", 3, 3, 2, 0, 0, 0, 0},
        {"NOTSET", 3, 3, 2, 0, 0, 8, 9},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        int padding[2] = {8, 9};
        ck_assert_int_eq(ln_autopadding_deconv(padding, &rows[i].in, &rows[i].size, &rows[i].stride,
                                               &rows[i].output_padding, NULL, &rows[i].out, 1,
                                               rows[i].mode),
                         0);
        ck_assert_int_eq(padding[0], rows[i].begin);
        ck_assert_int_eq(padding[1], rows[i].end);
    }
}
END_TEST

START_TEST(autopadding_rejects_bad_arguments)
{
    const int in = 3, size = 3, zero = 0, one = 1, huge = INT_MAX;
    int padding[2] = {0, 0};
    ck_assert_int_eq(ln_autopadding_conv(padding, &in, &size, &one, &one, 1, "SAME"), -1);
    ck_assert_str_eq(ln_last_error(),
                     "autopad is 'SAME', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
    ck_assert_int_eq(ln_autopadding_conv(padding, &in, &size, &one, &one, 1, NULL), -1);
    ck_assert_int_eq(ln_autopadding_conv(padding, &in, &size, &zero, &one, 1, "SAME_UPPER"), -1);
    ck_assert_int_eq(ln_autopadding_conv(padding, &in, &huge, &one, &huge, 1, "SAME_UPPER"), -1);
    ck_assert_str_eq(ln_last_error(),
                     "padding would be 4611686011984936962, beyond the range of int");
    ck_assert_int_eq(ln_autopadding_deconv(padding, &in, &size, &one, NULL, NULL, &zero, 1, "?"),
                     -1);
    ck_assert_int_eq(
        ln_autopadding_deconv(padding, &in, &size, &one, NULL, NULL, &zero, 1, "SAME_LOWER"), -1);
    ck_assert_str_eq(ln_last_error(),
                     "autopad SAME_LOWER has output_dims of 0, expected at least 1");
}
END_TEST

LN_TEST_MAIN("window", shape_is_printed_in_brackets,
             conv_extent_is_the_number_of_places_of_the_window,
             deconv_extent_is_that_of_its_windows, window_errors_name_the_value_found,
             same_padding_of_a_conv_keeps_ceil_of_in_by_stride,
             padding_holds_the_begins_of_all_axes_then_their_ends,
             same_padding_of_a_deconv_gives_the_wanted_extent, autopadding_rejects_bad_arguments)
