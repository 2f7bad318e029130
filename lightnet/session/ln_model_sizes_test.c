// SPDX-License-Identifier: Apache-2.0
// Tests of ln_model_check_sizes: what it reports is what sessions do.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ln_session_check.h"
#include "session/ln_model.h"

static char text[1024];

// A line for each size: its name ("all"), its sum, or whether it is shared, and what prevents it.
static void add_line(void *data, const ln_open_size *size)
{
    const size_t len = strlen(text);
    const char *const name = size->name ? size->name : "all";
    (void)data;
    if (size->sum)
        snprintf(text + len, sizeof(text) - len, "%s = %s\n", name, size->sum);
    else if (size->is_shared > 0)
        snprintf(text + len, sizeof(text) - len, "%s 1\n", name);
    else
        snprintf(text + len, sizeof(text) - len, "%s %d %s %s: %s\n", name, size->is_shared,
                 size->op ? size->op : "-", size->optype ? size->optype : "-", size->reason);
}

static const char *sizes_of(const ln_model *model)
{
    *text = '\0';
    const ln_status status = ln_model_check_sizes(model, add_line, NULL);
    ck_assert_msg(status == LN_OK, "%s", ln_model_error(NULL));
    return text;
}

static void check_file(const char *variable, const char *expected)
{
    ln_model *model;
    ck_assert_msg(ln_model_open(getenv(variable), NULL, &model) == LN_OK, "%s",
                  ln_model_error(NULL));
    ck_assert_str_eq(sizes_of(model), expected);
    ck_assert_int_eq(ln_model_num_programs(model), 0);
    ln_model_free(model);
}

START_TEST(one_program_serves_all_lengths_of_a_decoder)
{
    check_file("LN_TEST_ENCODER", "batch 1\nsequence 1\nall 1\n");
    check_file("LN_TEST_DECODER", "batch 1\nsequence 1\npast 1\nall 1\n");
    check_file("LN_TEST_IMAGES", "batch 1\n");
}
END_TEST

static ln_model *model_of(const tiny_model *m, const char *shape)
{
    const tiny_bytes bytes = tiny_end(m);
    ln_options *const options = ln_options_create();
    ln_model *model;
    if (shape)
        ck_assert_int_eq(ln_options_set(options, "shape", shape), LN_OK);
    ck_assert_msg(ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, &model) == LN_OK,
                  "%s", ln_model_error(NULL));
    ln_options_free(options);
    return model;
}

static void check(const tiny_model *m, const char *shape, const char *expected)
{
    ln_model *const model = model_of(m, shape);
    ck_assert_str_eq(sizes_of(model), expected);
    ln_model_free(model);
}

// y = a * b, of these shapes.
static tiny_model product(const char *a, const char *b)
{
    tiny_model m = {.opset = 0};
    tiny_input(&m, "a", TINY_FLOAT, a);
    tiny_input(&m, "b", TINY_FLOAT, b);
    tiny_node(&m, "Mul", "a", "b", "y");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    return m;
}

START_TEST(sizes_that_have_to_be_equal_are_found)
{
    SKIP_WITHOUT_ONNX
    const tiny_model unnamed = product("?,3", "?,3"), named = product("n,3", "m,3");
    check(&unnamed, NULL, "a[0] 1\nb[0] = a[0]\n");
    check(&named, NULL, "n 1\nm = n\n");
}
END_TEST

START_TEST(fixed_sizes_are_not_reported)
{
    SKIP_WITHOUT_ONNX
    const tiny_model fixed = product("2,3", "2,3"), open = product("n,k", "n,k");
    check(&fixed, NULL, "");
    check(&open, "n=4", "k 1\n");
    check(&open, "n=4..8", "n 1\nk 1\nall 1\n");
}
END_TEST

static tiny_model identity_matrix(void)
{
    tiny_model m = {.opset = 0};
    tiny_input(&m, "x", TINY_FLOAT, "n,3");
    tiny_node(&m, "EyeLike", "x", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, "n,3");
    return m;
}

START_TEST(the_operator_that_prevents_it_is_reported)
{
    SKIP_WITHOUT_ONNX
    const tiny_model m = identity_matrix();
    check(&m, NULL,
          "n 0 y EyeLike: input 0 has a size that is known only at run time, expected a fixed "
          "one\n");
}
END_TEST

START_TEST(sessions_do_the_same)
{
    SKIP_WITHOUT_ONNX
    static const float numbers[60];
    const tiny_model models[] = {identity_matrix(), product("n,3", "1,3")};
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        ln_model *const model = model_of(&models[is_shared], NULL);
        const char *const input = ln_model_input_name(model, 0);
        ln_session *session;
        ck_assert_int_eq(ln_session_create(model, &session), LN_OK);
        if (is_shared)
            ck_assert_int_eq(
                ln_session_set_input(session, "b", TL_FLOAT, 2, (const int[]){1, 3}, numbers),
                LN_OK);
        for (int n = 2; n < 20; n++) {
            const int dims[] = {n, 3};
            ck_assert_int_eq(ln_session_set_input(session, input, TL_FLOAT, 2, dims, numbers),
                             LN_OK);
            ck_assert_int_eq(ln_session_run(session), LN_OK);
        }
        ck_assert_int_eq(strstr(sizes_of(model), "n 1\n") != NULL, is_shared);
        ck_assert_int_eq(ln_model_num_programs(model) < 5, is_shared);
        ln_session_free(session);
        ln_model_free(model);
    }
}
END_TEST

START_TEST(values_that_decide_shapes_prevent_it)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    const tiny_bytes bytes = tiny_sum_over_axes("n,3");
    ck_assert_int_eq(ln_model_open_memory("m.onnx", bytes.data, bytes.size, NULL, &model), LN_OK);
    ck_assert_ptr_nonnull(strstr(sizes_of(model), "n 0 y ReduceSum: input 1, 'axes'"));
    ln_model_free(model);
}
END_TEST

START_TEST(sizes_that_no_length_fits_are_unknown)
{
    SKIP_WITHOUT_ONNX
    static const int64_t six[] = {6};
    tiny_model m = {.opset = 0};
    tiny_input(&m, "x", TINY_FLOAT, "n,2");
    tiny_constant(&m, "s", TINY_INT64, 1, six, sizeof(six));
    tiny_node(&m, "Reshape", "x", "s", "y");
    tiny_output(&m, "y", TINY_FLOAT, "6");
    ln_model *const model = model_of(&m, NULL);
    ck_assert_ptr_nonnull(strstr(sizes_of(model), "n -1 y Reshape: new shape [6], expected "));
    ln_model_free(model);
}
END_TEST

START_TEST(rejects_bad_arguments)
{
    ck_assert_int_eq(ln_model_check_sizes(NULL, add_line, NULL), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "the model is NULL");
}
END_TEST

LN_TEST_MAIN("model_sizes", one_program_serves_all_lengths_of_a_decoder,
             sizes_that_have_to_be_equal_are_found, fixed_sizes_are_not_reported,
             the_operator_that_prevents_it_is_reported, sessions_do_the_same,
             values_that_decide_shapes_prevent_it, sizes_that_no_length_fits_are_unknown,
             rejects_bad_arguments)
