// SPDX-License-Identifier: Apache-2.0
// Tests of the checks that the public tensor functions share, through functions of every family.

#include "ln_check.h"
#include "tensorlight/tensorlight.h"

// Overlapping data: 8 floats, of which `src` are the first 4 and `dst` the last but 3

typedef struct pair {
    float data[8];
    tl_tensor *src, *dst;
} pair;

static tl_tensor *run_relu(const pair *p, tl_tensor *dst)
{
    return tl_tensor_relu(p->src, dst);
}

static tl_tensor *run_lrelu(const pair *p, tl_tensor *dst)
{
    return tl_tensor_lrelu(p->src, dst, 0.1f);
}

static tl_tensor *run_sigmoid(const pair *p, tl_tensor *dst)
{
    return tl_tensor_sigmoid(p->src, dst);
}

static tl_tensor *run_softmax(const pair *p, tl_tensor *dst)
{
    return tl_tensor_softmax(p->src, dst, 0);
}

static tl_tensor *run_elew(const pair *p, tl_tensor *dst)
{
    return tl_tensor_elew(p->src, p->src, dst, TL_SUM);
}

static tl_tensor *run_elew_param(const pair *p, tl_tensor *dst)
{
    return tl_tensor_elew_param(p->src, 1, dst, TL_SUM);
}

static tl_tensor *run_convert(const pair *p, tl_tensor *dst)
{
    return tl_tensor_convert(p->src, dst, TL_FLOAT);
}

static tl_tensor *run_boxes(const pair *p, tl_tensor *dst)
{
    return tl_tensor_transform_bboxSQD(p->src, p->src, dst, 1, 1, 1, 1, 0, 0);
}

static const struct {
    const char *name;
    tl_tensor *(*run)(const pair *p, tl_tensor *dst);
} element_wise[] = {
    {"relu", run_relu},       {"lrelu", run_lrelu},
    {"sigmoid", run_sigmoid}, {"softmax", run_softmax},
    {"elew", run_elew},       {"elew_param", run_elew_param},
    {"convert", run_convert}, {"transform_bboxSQD", run_boxes},
};

START_TEST(element_by_element_dst_is_a_source_or_apart)
{
    for (size_t i = 0; i < sizeof(element_wise) / sizeof(*element_wise); i++) {
        pair p = {.data = {0}};
        p.src = tl_tensor_create(p.data, 1, (int[]){4}, TL_FLOAT);
        p.dst = tl_tensor_create(p.data + 3, 1, (int[]){4}, TL_FLOAT);
        ck_assert_msg(!element_wise[i].run(&p, p.dst), "%s", element_wise[i].name);
        ck_assert_str_eq(tl_last_error(), "'dst' overlaps a source, expected separate data");
        ck_assert_msg(element_wise[i].run(&p, p.src) == p.src, "%s", element_wise[i].name);
        p.dst->data = p.data + 4;
        ck_assert_msg(element_wise[i].run(&p, p.dst) == p.dst, "%s", element_wise[i].name);
        tl_tensor_free(p.src);
        tl_tensor_free(p.dst);
    }
}
END_TEST

START_TEST(a_sum_does_not_overwrite_its_source)
{
    float data[4] = {1, 2, 3, 4};
    tl_tensor *const src = tl_tensor_create(data, 1, (int[]){4}, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_create(data, 1, (int[]){1}, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_dot_product(src, src, dst));
    ck_assert_str_eq(tl_last_error(), "'dst' overlaps a source, expected separate data");
    ck_assert(data[0] == 1);
    tl_tensor_free(src);
    tl_tensor_free(dst);
}
END_TEST

START_TEST(a_scalar_has_no_axis)
{
    tl_tensor *const scalar = tl_tensor_zeros(0, NULL, TL_FLOAT);
    ck_assert_ptr_null(tl_tensor_slice(scalar, NULL, 0, 0, 1));
    ck_assert_str_eq(tl_last_error(), "axis 0 of a scalar, which has none");
    ck_assert_ptr_null(tl_tensor_softmax(scalar, NULL, 0));
    tl_tensor_free_data_too(scalar);
}
END_TEST

START_TEST(a_shape_has_a_form)
{
    static const struct {
        int ndim, dims[4];
        const char *form;
        int status;
    } cases[] = {
        {2, {3, 3}, "[.., n, n]", 0},
        {3, {2, 3, 3}, "[.., n, n]", 0},
        {2, {3, 4}, "[.., n, n]", -1},
        {1, {3}, "[.., n, n]", -1},
        {3, {2, 2, 16}, "[H, W, 16]", 0},
        {3, {2, 2, 15}, "[H, W, 16]", -1},
        {2, {2, 16}, "[H, W, 16]", -1},
        {4, {2, 2, 2, 16}, "[H, W, 16]", -1},
        {4, {1, 5, 6, 7}, "[1, C, ..]", 0},
        {4, {2, 5, 6, 7}, "[1, C, ..]", -1},
        {1, {1}, "[1, C, ..]", -1},
        {0, {0}, "[N, ..]", -1},
        {1, {0}, "[n]", 0},
        {0, {0}, "[..]", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const tl_tensor t = {.ndim = cases[i].ndim, .dims = (int *)cases[i].dims};
        ck_assert_int_eq(tl_check_shape(&t, "t", cases[i].form), cases[i].status);
    }
    ck_assert_int_eq(tl_check_shape(&(tl_tensor){.ndim = 1, .dims = (int[]){5}}, "t", "[.., n, n]"),
                     -1);
    ck_assert_str_eq(tl_last_error(), "'t' has shape [5], expected [.., n, n]");
}
END_TEST

LN_TEST_MAIN("tl_result", a_shape_has_a_form, element_by_element_dst_is_a_source_or_apart,
             a_sum_does_not_overwrite_its_source, a_scalar_has_no_axis)
