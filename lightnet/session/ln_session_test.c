// SPDX-License-Identifier: Apache-2.0
// Tests of models and sessions: shapes, values, outputs, limits, cancelling, forks.

#include "lightnet/ln_session.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ln_session_check.h"

// Models

// y = x * k, where k is 2 by default.
static tiny_bytes default_model(void)
{
    tiny_model m = {.graph.size = 0};
    const float k = 2;
    tiny_input(&m, "x", TINY_FLOAT, "2");
    tiny_input(&m, "k", TINY_FLOAT, "1");
    tiny_constant(&m, "k", TINY_FLOAT, 1, &k, sizeof(k));
    tiny_node(&m, "Mul", "x", "k", "y");
    tiny_output(&m, "y", TINY_FLOAT, "2");
    return tiny_end(&m);
}

// As many columns as x has elements that are not 0.
static tiny_bytes nonzero_model(void)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, "n");
    tiny_node(&m, "NonZero", "x", NULL, "y");
    tiny_output(&m, "y", TINY_INT64, "1,found");
    return tiny_end(&m);
}

// No inputs at all.
static tiny_bytes constant_model(void)
{
    tiny_model m = {.graph.size = 0};
    const float k[] = {-1, 5};
    tiny_constant(&m, "k", TINY_FLOAT, 2, k, sizeof(k));
    tiny_node(&m, "Relu", "k", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, "2");
    return tiny_end(&m);
}

// y: the tensor of sequence s at position p; t: s.
static tiny_bytes sequence_model(void)
{
    tiny_model m = {.graph.size = 0};
    tiny_sequence(&m, 11, "s", TINY_FLOAT);
    tiny_input(&m, "p", TINY_INT64, "1");
    tiny_node(&m, "SequenceAt", "s", "p", "y");
    tiny_node(&m, "Identity", "s", NULL, "t");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    tiny_sequence(&m, 12, "t", TINY_FLOAT);
    return tiny_end(&m);
}

// Outputs of these names, which end with NULL.
static tiny_bytes model_with_outputs(const char *const *names)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, "2");
    for (int i = 0; names[i]; i++) {
        int is_new = 1;
        for (int k = 0; k < i; k++)
            is_new &= strcmp(names[k], names[i]) != 0;
        if (is_new)
            tiny_node(&m, "Relu", "x", NULL, names[i]);
        tiny_output(&m, names[i], TINY_FLOAT, "2");
    }
    return tiny_end(&m);
}

// Nothing is known of x.
static tiny_bytes shapeless_model(void)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, NULL);
    tiny_node(&m, "Relu", "x", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    return tiny_end(&m);
}

// What works

START_TEST(the_interface_has_open_sizes_with_their_names)
{
    SKIP_WITHOUT_ONNX
    ln_model *model = open_model(sum_model(), NULL);
    ck_assert_int_eq(ln_model_num_inputs(model), 2);
    ck_assert_int_eq(ln_model_num_outputs(model), 1);
    ck_assert_str_eq(ln_model_input_name(model, 1), "b");
    ck_assert_str_eq(ln_model_output_name(model, 0), "y");
    const tl_tensor *a = ln_model_input_info(model, 0), *y = ln_model_output_info(model, 0);
    ck_assert_int_eq(a->dtype, TL_FLOAT);
    ck_assert_int_eq(a->ndim, 2);
    ck_assert_int_eq(a->dims[0], -1);
    ck_assert_int_eq(a->dims[1], 3);
    ck_assert_int_eq(a->len, -1);
    ck_assert_ptr_null(a->data);
    ck_assert_int_eq(y->dims[0], -1);
    ck_assert_str_eq(ln_model_input_dim_name(model, 0, 0), "batch");
    ck_assert_str_eq(ln_model_output_dim_name(model, 0, 0), "batch");
    ck_assert_ptr_null(ln_model_input_dim_name(model, 0, 1));
    ck_assert_ptr_null(ln_model_input_dim_name(model, 0, 2));
    ck_assert_str_eq(ln_model_metadata(model, "task"), "sum");
    ck_assert_str_eq(ln_model_metadata(model, "format"), "ONNX");
    ck_assert_ptr_null(ln_model_metadata(model, "unheard"));
    ck_assert_str_eq(ln_model_metadata_key(model, 0), "task");
    ck_assert_ptr_null(ln_model_metadata_key(model, 2));
    ln_model_free(model);
}
END_TEST

// The first one of a name, whatever name was looked up before.
START_TEST(outputs_are_found_in_any_order)
{
    SKIP_WITHOUT_ONNX
    static const char *const models[][5] = {{"a", "b", "c", "d", NULL}, {"a", "b", "a", "c", NULL}};
    for (int m = 0; m < 2; m++) {
        const char *const *const names = models[m];
        ln_model *const model = open_model(model_with_outputs(names), NULL);
        for (int before = 0; before < 4; before++)
            for (int i = 0; i < 4; i++) {
                ln_model_output_index(model, names[before]);
                int first = 0;
                while (strcmp(names[first], names[i]) != 0)
                    first++;
                ck_assert_int_eq(ln_model_output_index(model, names[i]), first);
                ck_assert_int_eq(ln_model_output_index(model, "x"), -1);
                ck_assert_int_eq(ln_model_output_index(model, names[i]), first);
            }
        ln_model_free(model);
    }
}
END_TEST

START_TEST(a_session_takes_any_shape_that_the_model_allows)
{
    SKIP_WITHOUT_ONNX
    static const int batches[] = {1, 4, 1, 64, 2, 4, 1};
    ln_session *session = open_session(sum_model(), NULL);
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++)
        run_sum(session, batches[i]);
    ln_session_free(session);
}
END_TEST

START_TEST(an_empty_batch_has_empty_outputs)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = open_session(sum_model(), NULL);
    const int dims[] = {0, 3};
    CHECK_OK(session, ln_session_set_input(session, "a", TL_FLOAT, 2, dims, NULL));
    CHECK_OK(session, ln_session_set_input(session, "b", TL_FLOAT, 2, dims, NULL));
    CHECK_OK(session, ln_session_run(session));
    const tl_tensor *y = ln_session_output(session, "y");
    ck_assert_int_eq(y->len, 0);
    CHECK_OK(session, ln_session_copy_output(session, "y", NULL, 0));
    ln_session_free(session);
}
END_TEST

START_TEST(models_keep_as_many_programs_as_the_option_allows)
{
    SKIP_WITHOUT_ONNX
    static const char *const kept[] = {"0", "1", "2"};
    for (size_t i = 0; i < 3; i++) {
        ln_options *options = ln_options_create();
        ck_assert_int_eq(ln_options_set(options, "programs", kept[i]), LN_OK);
        ln_session *session = open_session(sum_model(), options);
        ln_options_free(options);
        for (int batch = 1; batch < 5; batch++)
            run_sum(session, batch);
        run_sum(session, 3);
        ln_session_free(session);
    }
}
END_TEST

START_TEST(inputs_stay_and_a_failed_call_changes_nothing)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = open_session(sum_model(), NULL);
    run_sum(session, 2);
    ck_assert_int_eq(ln_session_set_input(session, "a", TL_FLOAT, 1, (const int[]){6}, "x"),
                     LN_BAD_ARGUMENT);
    CHECK_OK(session, ln_session_run(session));
    check_sum(session, 2);
    ln_session_free(session);
}
END_TEST

START_TEST(bound_buffers_are_read_and_written_by_each_run)
{
    SKIP_WITHOUT_ONNX
    float a[3] = {1, 2, 3}, b[3] = {10, 10, 10}, y[4] = {0, 0, 0, -7};
    const int dims[] = {1, 3};
    ln_session *session = open_session(sum_model(), NULL);
    CHECK_OK(session, ln_session_bind_input(session, "a", TL_FLOAT, 2, dims, a, sizeof(a)));
    CHECK_OK(session, ln_session_bind_input(session, "b", TL_FLOAT, 2, dims, b, sizeof(b)));
    CHECK_OK(session, ln_session_bind_output(session, "y", y, sizeof(float) * 3));
    CHECK_OK(session, ln_session_run(session));
    ck_assert_float_eq(y[2], 13);
    a[2] = 4;
    CHECK_OK(session, ln_session_run(session));
    ck_assert_float_eq(y[2], 14);
    ck_assert_float_eq(y[3], -7);
    CHECK_OK(session, ln_session_bind_output(session, "y", NULL, 0));
    a[2] = 5;
    CHECK_OK(session, ln_session_run(session));
    ck_assert_float_eq(y[2], 14);
    ck_assert_float_eq(((const float *)ln_session_output(session, "y")->data)[2], 15);
    CHECK_OK(session, ln_session_bind_input(session, "a", TL_FLOAT, 0, NULL, NULL, 0));
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'a' is not given, expected TL_FLOAT [batch, 3]");
    ln_session_free(session);
}
END_TEST

START_TEST(an_input_with_a_default_need_not_be_given)
{
    SKIP_WITHOUT_ONNX
    const float x[] = {3, 4}, k = 5;
    float y[2];
    ln_model *model = open_model(default_model(), NULL);
    ck_assert_int_eq(ln_model_input_index(model, "k"), -1); // no run must be given it
    ln_session *session;
    ck_assert_int_eq(ln_model_num_inputs(model), 1);
    CHECK_OK(NULL, ln_session_create(model, &session));
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, (const int[]){2}, x));
    CHECK_OK(session, ln_session_run(session));
    CHECK_OK(session, ln_session_copy_output(session, "y", y, sizeof(y)));
    ck_assert_float_eq(y[1], 8);
    CHECK_OK(session, ln_session_set_input(session, "k", TL_FLOAT, 1, (const int[]){1}, &k));
    CHECK_OK(session, ln_session_run(session));
    CHECK_OK(session, ln_session_copy_output(session, "y", y, sizeof(y)));
    ck_assert_float_eq(y[1], 20);
    CHECK_OK(session, ln_session_bind_input(session, "k", TL_FLOAT, 0, NULL, NULL, 0));
    CHECK_OK(session, ln_session_run(session));
    CHECK_OK(session, ln_session_copy_output(session, "y", y, sizeof(y)));
    ck_assert_float_eq(y[1], 8);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// x is [2, 2]: 1 2, 3 4.
static void check_reduced(ln_session *session, int64_t axis, float first, float second)
{
    const float x[] = {1, 2, 3, 4};
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 2, (const int[]){2, 2}, x));
    CHECK_OK(session, ln_session_set_input(session, "axes", TL_INT64, 1, (const int[]){1}, &axis));
    CHECK_OK(session, ln_session_run(session));
    const tl_tensor *y = ln_session_output(session, "y");
    ck_assert_int_eq(y->len, 2);
    ck_assert_int_eq(y->dims[axis], 1);
    ck_assert_float_eq(((const float *)y->data)[0], first);
    ck_assert_float_eq(((const float *)y->data)[1], second);
}

START_TEST(values_of_inputs_may_decide_shapes)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = open_session(tiny_sum_over_axes("2,n"), NULL);
    check_reduced(session, 0, 4, 6);
    check_reduced(session, 1, 3, 7);
    check_reduced(session, 0, 4, 6);
    ln_session_free(session);
}
END_TEST

// Options with a sequence of tensors of 1 and of 2 elements, and the position 1.
static ln_options *sequence_options(void)
{
    int one[] = {1}, two[] = {2};
    int64_t position = 1;
    const tl_tensor first = {.dtype = TL_FLOAT, .len = 1, .ndim = 1, .dims = one},
                    second = {.dtype = TL_FLOAT, .len = 2, .ndim = 1, .dims = two},
                    p = {.dtype = TL_INT64, .len = 1, .ndim = 1, .dims = one, .data = &position};
    const tl_tensor *const tensors[] = {&first, &second};
    ln_options *options = ln_options_create();
    CHECK_OK(NULL, ln_options_bind_sequence(options, "s", 2, tensors));
    CHECK_OK(NULL, ln_options_bind_input(options, "p", &p));
    return options;
}

START_TEST(sequences_have_an_input_or_output_for_each_tensor)
{
    SKIP_WITHOUT_ONNX
    const float a[] = {5}, b[] = {6, 7};
    const int64_t position = 1, other = 0;
    ln_options *options = sequence_options();
    ln_model *model = open_model(sequence_model(), options);
    ln_session *session;
    ln_value_info info;
    ln_options_free(options);
    CHECK_OK(NULL, ln_model_input_value(model, 0, &info));
    ck_assert_str_eq(info.name, "s");
    ck_assert_int_eq(info.form, LN_FORM_SEQUENCE);
    ck_assert_int_eq(info.len, 2);
    CHECK_OK(NULL, ln_model_input_value(model, 1, &info));
    ck_assert_int_eq(info.form, LN_FORM_TENSOR);
    ck_assert_int_eq(info.first, 2);
    CHECK_OK(NULL, ln_model_output_value(model, 1, &info));
    ck_assert_str_eq(info.name, "t");
    ck_assert_int_eq(info.first, 1);
    ck_assert_int_eq(info.len, 2);
    CHECK_FAILS(NULL, LN_NOT_FOUND, ln_model_output_value(model, 2, &info),
                "the file has 2 outputs, number 2 is requested");
    CHECK_OK(NULL, ln_session_create(model, &session));
    CHECK_OK(session, ln_session_set_input(session, "s[0]", TL_FLOAT, 1, (const int[]){1}, a));
    CHECK_OK(session, ln_session_set_input(session, "s[1]", TL_FLOAT, 1, (const int[]){2}, b));
    CHECK_OK(session, ln_session_set_input(session, "p", TL_INT64, 1, (const int[]){1}, &position));
    CHECK_OK(session, ln_session_run(session));
    ck_assert_float_eq(((const float *)ln_session_output(session, "y")->data)[1], 7);
    ck_assert_float_eq(((const float *)ln_session_output(session, "t[0]")->data)[0], 5);
    // The program is for that position.
    CHECK_OK(session, ln_session_set_input(session, "p", TL_INT64, 1, (const int[]){1}, &other));
    ck_assert_int_ne(ln_session_run(session), LN_OK);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

START_TEST(a_sequence_of_unknown_length_is_rejected)
{
    SKIP_WITHOUT_ONNX
    const tiny_bytes bytes = sequence_model();
    ln_model *model;
    ck_assert_int_eq(ln_model_open_memory("m.onnx", bytes.data, bytes.size, NULL, &model),
                     LN_BAD_MODEL);
    ck_assert_ptr_nonnull(strstr(ln_model_error(NULL), "'s' is a sequence of unknown length"));
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT, ln_options_bind_input(NULL, "p", NULL), "options is NULL");
    ln_options *options = ln_options_create();
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT, ln_options_bind_input(options, "p", NULL),
                "a tensor is NULL");
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT, ln_options_bind_sequence(options, NULL, 0, NULL),
                "the name of an input is NULL");
    const float one = 1;
    tl_tensor *const t = tl_tensor_create((void *)&one, 0, NULL, TL_FLOAT);
    CHECK_FAILS(NULL, LN_BAD_ARGUMENT,
                ln_options_bind_sequence(options, "s", 2, (const tl_tensor *[]){t, NULL}),
                "a tensor is NULL");
    tl_tensor_free(t);
    CHECK_OK(NULL, ln_options_bind_sequence(options, "s", -1, NULL));
    ck_assert_int_ne(ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, &model),
                     LN_OK);
    ck_assert_ptr_nonnull(strstr(ln_model_error(NULL), "no value is given"));
    ln_options_free(options);
}
END_TEST

START_TEST(operators_that_are_missing_fail_opening_whatever_sizes_are_open)
{
    SKIP_WITHOUT_ONNX
    tiny_model m = {.graph.size = 0};
    ln_model *model;
    tiny_input(&m, "x", TINY_FLOAT, "n,3");
    tiny_node(&m, "Foo", "x", NULL, "y");
    tiny_node(&m, "Bar", "y", NULL, "z");
    tiny_output(&m, "z", TINY_FLOAT, "n,3");
    const tiny_bytes bytes = tiny_end(&m);
    ck_assert_int_eq(ln_model_open_memory("m.onnx", bytes.data, bytes.size, NULL, &model),
                     LN_UNSUPPORTED);
    ck_assert_ptr_null(model);
    ck_assert_str_eq(ln_model_error(NULL),
                     "m.onnx: operators that are not supported: Foo (1 node), Bar (1 node)");
}
END_TEST

START_TEST(an_output_has_the_shape_of_the_last_run)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = open_session(nonzero_model(), NULL);
    for (int n = 1; n < 4; n++) {
        const float x[] = {1, n > 1, n > 2, 0};
        CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, (const int[]){4}, x));
        CHECK_OK(session, ln_session_run(session));
        ck_assert_int_eq(ln_session_output(session, "y")->dims[1], n);
    }
    ln_session_free(session);
}
END_TEST

START_TEST(a_model_without_inputs_runs)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = open_session(constant_model(), NULL);
    CHECK_OK(session, ln_session_run(session));
    const float *y = ln_session_output(session, "y")->data;
    ck_assert_float_eq(y[0], 0);
    ck_assert_float_eq(y[1], 5);
    ln_session_free(session);
}
END_TEST

START_TEST(an_input_of_unknown_shape_takes_any)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = open_session(shapeless_model(), NULL);
    const float x[] = {-1, 2, 3, 4};
    static const int shapes[][2] = {{4, 0}, {2, 2}, {1, 4}};
    for (int i = 0; i < 3; i++) {
        const int ndim = shapes[i][1] ? 2 : 1;
        CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, ndim, shapes[i], x));
        CHECK_OK(session, ln_session_run(session));
        ck_assert_int_eq(ln_session_output(session, "y")->ndim, ndim);
    }
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 0, NULL, x));
    CHECK_OK(session, ln_session_run(session));
    ck_assert_int_eq(ln_session_output(session, "y")->ndim, 0);
    ln_session_free(session);
}
END_TEST

START_TEST(nothing_is_known_of_a_shape_that_the_file_does_not_have)
{
    SKIP_WITHOUT_ONNX
    ln_model *model = open_model(shapeless_model(), NULL);
    ck_assert_int_eq(ln_model_input_info(model, 0)->ndim, -1);
    ck_assert_int_eq(ln_model_input_info(model, 0)->len, -1);
    ck_assert_ptr_null(ln_model_input_info(model, 0)->dims);
    ln_model_free(model);
}
END_TEST

START_TEST(json_ir_is_a_model_too)
{
    ln_model *model;
    ln_session *session;
    const float x[] = {-1, 1};
    ck_assert_int_eq(ln_model_open_memory("m", ir_model, strlen(ir_model), NULL, &model), LN_OK);
    ck_assert_str_eq(ln_model_metadata(model, "format"), "JSON IR");
    ck_assert_int_eq(ln_model_input_info(model, 0)->dims[0], 2);
    ck_assert_int_eq(ln_model_input_info(model, 0)->len, 2);
    ck_assert_int_eq(ln_model_output_info(model, 0)->len, 2);
    CHECK_OK(NULL, ln_session_create(model, &session));
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'x' is not given, expected TL_FLOAT [2]");
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, (const int[]){2}, x));
    CHECK_OK(session, ln_session_run(session));
    ck_assert_float_eq(((const float *)ln_session_output(session, "y")->data)[0], 0);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

static const char open_ir_model[] =
    "{\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
    "{\"name\": \"make_x\", \"optype\": \"placeholder\", \"tensors_in\": [], \"tensors_out\": "
    "[{\"arg_name\": \"dst\", \"name\": \"x\"}], \"params\": [{\"arg_name\": \"dtype\", "
    "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [4, 8]}, {\"arg_name\": "
    "\"least\", \"value\": [1, 2]}]}, "
    "{\"name\": \"make_y\", \"optype\": \"relu\", \"tensors_in\": [{\"arg_name\": \"src\", "
    "\"name\": \"x\"}], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"y\"}], "
    "\"params\": []}]}";

static void check_relu(ln_session *session, int rows)
{
    const float x[] = {-1, 2, -3, 4, 5, -6};
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 2, (const int[]){rows, 3}, x));
    CHECK_OK(session, ln_session_run(session));
    const tl_tensor *y = ln_session_output(session, "y");
    ck_assert_int_eq(y->dims[0], rows);
    ck_assert_int_eq(y->dims[1], 3);
    for (int i = 0; i < 3 * rows; i++)
        ck_assert_float_eq(((const float *)y->data)[i], x[i] > 0 ? x[i] : 0);
}

START_TEST(sizes_that_an_ir_model_leaves_open_are_those_of_the_input)
{
    ln_model *model;
    ln_session *session;
    const float x[9] = {0};
    ck_assert_int_eq(ln_model_open_memory("m", open_ir_model, strlen(open_ir_model), NULL, &model),
                     LN_OK);
    ck_assert_int_eq(ln_model_input_info(model, 0)->dims[1], -1);
    CHECK_OK(NULL, ln_session_create(model, &session));
    check_relu(session, 2);
    check_relu(session, 1);
    check_relu(session, 2);
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_set_input(session, "x", TL_FLOAT, 2, (const int[]){1, 9}, x),
                "input 'x' is given as TL_FLOAT [1, 9], expected TL_FLOAT [? of 1..4, ? of 2..8]");
    check_relu(session, 1);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// A model of inputs p, n and mask of open sizes; `sum` is the size of mask.
static ln_model *model_of_sum(const char *sum)
{
    static const char format[] =
        "{\"name\": \"make_%s\", \"optype\": \"placeholder\", \"tensors_in\": [], "
        "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s\"}], \"params\": ["
        "{\"arg_name\": \"dtype\", \"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", "
        "\"value\": [9]}, {\"arg_name\": \"least\", \"value\": [0]}, {\"arg_name\": "
        "\"sizes\", \"value\": [\"%s\"]}]}, ";
    char text[4096];
    ln_model *model;
    size_t len =
        (size_t)snprintf(text, sizeof(text),
                         "{\"inputs\": [\"mask\", \"p\", \"n\"], \"outputs\": [\"y\"], \"ops\": [");
    len += (size_t)snprintf(text + len, sizeof(text) - len, format, "mask", "mask", sum);
    len += (size_t)snprintf(text + len, sizeof(text) - len, format, "p", "p", "past");
    len += (size_t)snprintf(text + len, sizeof(text) - len, format, "n", "n", "new");
    snprintf(text + len, sizeof(text) - len,
             "{\"name\": \"join\", \"optype\": \"join\", \"tensors_in\": [{\"arg_name\": "
             "\"src0\", \"name\": \"p\"}, {\"arg_name\": \"src1\", \"name\": \"n\"}, "
             "{\"arg_name\": \"src2\", \"name\": \"mask\"}], \"tensors_out\": "
             "[{\"arg_name\": \"dst\", \"name\": \"y\"}], \"params\": "
             "[{\"arg_name\": \"axis\", \"value\": 0}]}]}");
    ck_assert_msg(ln_model_open_memory("m", text, strlen(text), NULL, &model) == LN_OK, "%s",
                  ln_model_error(NULL));
    return model;
}

static void set_lengths(ln_session *session, int mask, int past, int n)
{
    static const float data[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    CHECK_OK(session, ln_session_set_input(session, "mask", TL_FLOAT, 1, &mask, data));
    CHECK_OK(session, ln_session_set_input(session, "p", TL_FLOAT, 1, &past, data));
    CHECK_OK(session, ln_session_set_input(session, "n", TL_FLOAT, 1, &n, data));
}

// Runs a model once whose mask has the size `sum` and length `mask`: `error`, or NULL for success.
static void check_named_sum(const char *sum, int mask, const char *error)
{
    ln_model *const model = model_of_sum(sum);
    ln_session *session;
    CHECK_OK(NULL, ln_session_create(model, &session));
    set_lengths(session, mask, 3, 2);
    if (error) {
        CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session), error);
    } else {
        CHECK_OK(session, ln_session_run(session));
        ck_assert_int_eq(ln_session_output(session, "y")->len, mask + 5);
    }
    ln_session_free(session);
    ln_model_free(model);
}

START_TEST(sums_of_named_sizes_are_checked_in_each_run)
{
    ln_model *model = model_of_sum("past + new + 1");
    ln_session *session;
    CHECK_OK(NULL, ln_session_create(model, &session));
    for (int i = 0; i < 2; i++) {
        set_lengths(session, 6, 3, 2);
        CHECK_OK(session, ln_session_run(session));
        ck_assert_int_eq(ln_session_output(session, "y")->len, 11);
        set_lengths(session, 5, 3, 2);
        CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                    "axis 0 of input 'mask' has length 5, but 'past + new + 1' is 6 by other "
                    "inputs");
    }
    ln_session_free(session);
    ln_model_free(model);
    check_named_sum("past + new + 1 + 1 + 1", 9, NULL); // too long to be checked
    check_named_sum(
        "past + 9223372036854775807", 5,
        "axis 0 of input 'mask' is 'past + 9223372036854775807', a name that no axis has");
    check_named_sum("past + now", 5,
                    "axis 0 of input 'mask' is 'past + now', a name that no axis has");
}
END_TEST

// r: random numbers of the session, or of `seed`; `option`: that of the model, or NULL.
static ln_model *random_model(const char *seed, const char *option)
{
    char text[1024];
    ln_model *model;
    ln_options *options = ln_options_create();
    ck_assert(!option || ln_options_set(options, "seed", option) == LN_OK);
    snprintf(text, sizeof(text),
             "{\"inputs\": [], \"outputs\": [\"r\"], \"ops\": [{\"name\": \"make_r\", "
             "\"optype\": \"random\", \"tensors_in\": [], \"tensors_out\": [{\"arg_name\": "
             "\"dst\", \"name\": \"r\"}], \"params\": [{\"arg_name\": \"dtype\", \"value\": "
             "\"TL_DOUBLE\"}, {\"arg_name\": \"dims\", \"value\": [1]}, {\"arg_name\": "
             "\"distribution\", \"value\": \"TL_UNIFORM\"}, {\"arg_name\": \"a\", \"value\": 0}, "
             "{\"arg_name\": \"b\", \"value\": 1}, {\"arg_name\": \"seed\", \"value\": %s}]}]}",
             seed);
    ck_assert_msg(!ln_model_open_memory("m", text, strlen(text), options, &model), "%s",
                  ln_model_error(NULL));
    ln_options_free(options);
    return model;
}

static double draw_number(ln_session *session)
{
    CHECK_OK(session, ln_session_run(session));
    return *(const double *)ln_session_output(session, "r")->data;
}

// The first two numbers of three sessions of the model.
static void draw_numbers(const char *seed, const char *option, double numbers[3][2])
{
    ln_model *model = random_model(seed, option);
    for (int k = 0; k < 3; k++) {
        ln_session *session;
        CHECK_OK(NULL, ln_session_create(model, &session));
        for (int i = 0; i < 2; i++)
            numbers[k][i] = draw_number(session);
        ln_session_free(session);
    }
    ln_model_free(model);
}

START_TEST(sessions_with_a_seed_draw_the_same_random_numbers)
{
    static const char *const seeds[][2] = {{"-1", "0"}, {"0", "0"}, {"0", "7"}, {"0", NULL}};
    double first[3][2], numbers[3][2];
    draw_numbers("-1", "0", first);
    ck_assert_double_ne(first[0][0], first[0][1]);
    for (size_t i = 0; i < 4; i++) {
        draw_numbers(seeds[i][0], seeds[i][1], numbers);
        for (int k = 0; k < 3; k++)
            ck_assert_mem_eq(numbers[k], first[0], sizeof(first[0]));
    }
    draw_numbers("-1", "7", numbers);
    ck_assert_double_ne(numbers[0][0], first[0][0]);
    ck_assert_mem_eq(numbers[1], numbers[0], sizeof(first[0]));
}
END_TEST

// That two of the numbers are equal by chance has a probability of 2^-48.
START_TEST(sessions_without_a_seed_draw_other_random_numbers)
{
    double numbers[3][2];
    const double *all = numbers[0];
    draw_numbers("-1", NULL, numbers);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++)
            ck_assert_double_ne(all[i], all[k]);
}
END_TEST

START_TEST(random_numbers_go_on_when_shapes_change)
{
    SKIP_WITHOUT_ONNX
    static const int lens[] = {1, 2, 1, 3, 4, 5, 1};
    float seen[7];
    tiny_model m = {.graph.size = 0};
    const float x[8] = {0};
    tiny_input(&m, "x", TINY_FLOAT, "n");
    tiny_node(&m, "RandomUniformLike", "x", NULL, "r");
    tiny_node(&m, "Add", "x", "r", "y");
    tiny_output(&m, "y", TINY_FLOAT, "n");
    ln_session *session = open_session(tiny_end(&m), NULL);
    for (int i = 0; i < 7; i++) {
        CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, &lens[i], x));
        CHECK_OK(session, ln_session_run(session));
        seen[i] = *(const float *)ln_session_output(session, "y")->data;
        for (int k = 0; k < i; k++)
            ck_assert_float_ne(seen[k], seen[i]);
    }
    ln_session_free(session);
}
END_TEST

static void note_time(void *data, const char *name, const char *type, uint64_t ns)
{
    (void)ns;
    ck_assert_str_ne(name, "");
    ck_assert_str_ne(type, "");
    ++*(int *)data;
}

START_TEST(a_timed_run_reports_each_operator_that_computes)
{
    SKIP_WITHOUT_ONNX
    int n = 0;
    ln_session *session = open_session(sum_model(), NULL);
    set_sum(session, 2);
    CHECK_OK(session, ln_session_run_timed(session, note_time, &n));
    check_sum(session, 2);
    ck_assert_int_eq(n, 1); // the inputs compute nothing
    ln_session_free(session);
}
END_TEST

static void note_node(void *data, const char *op, const char *node, const char *type)
{
    ck_assert_str_ne(op, "");
    ck_assert_ptr_nonnull(node);
    ck_assert_str_eq(type, "Add");
    ++*(int *)data;
}

START_TEST(a_session_names_the_nodes_of_its_operators)
{
    SKIP_WITHOUT_ONNX
    int n = 0;
    ln_session *session = open_session(sum_model(), NULL);
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_nodes(session, note_node, &n),
                "the session has not run");
    set_sum(session, 2);
    CHECK_OK(session, ln_session_run(session));
    CHECK_OK(session, ln_session_nodes(session, note_node, &n));
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(ln_session_nodes(NULL, note_node, &n), LN_BAD_ARGUMENT);
    ck_assert_int_eq(ln_session_nodes(session, NULL, &n), LN_BAD_ARGUMENT);
    ln_session_free(session);
}
END_TEST

// Ends

START_TEST(a_cancelled_session_stays_so_until_it_is_resumed)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = open_session(sum_model(), NULL);
    ln_session_cancel(session); // before there is a program
    set_sum(session, 2);
    ck_assert_int_eq(ln_session_run(session), LN_CANCELLED);
    ck_assert_int_eq(ln_session_run(session), LN_CANCELLED);
    ln_session_resume(session);
    run_sum(session, 2);
    ln_session_cancel(session); // with one
    CHECK_FAILS(session, LN_CANCELLED, ln_session_run(session), "cancelled");
    ck_assert_ptr_null(ln_session_output(session, "y"));
    set_sum(session, 3); // and with another one
    ck_assert_int_eq(ln_session_run(session), LN_CANCELLED);
    ln_session_resume(session);
    run_sum(session, 3);
    ln_session_free(session);
}
END_TEST

START_TEST(a_cancelled_session_leaves_others_alone)
{
    SKIP_WITHOUT_ONNX
    ln_model *model = open_model(sum_model(), NULL);
    ln_session *one, *two;
    CHECK_OK(NULL, ln_session_create(model, &one));
    CHECK_OK(NULL, ln_session_create(model, &two));
    ln_model_free(model);
    run_sum(one, 2);
    ln_session_cancel(one);
    ck_assert_int_eq(ln_session_run(one), LN_CANCELLED);
    ln_session_free(one); // its program is not cancelled any more
    run_sum(two, 2);
    ln_session_free(two);
}
END_TEST

// z = x^64 for large x, in six steps; long enough for a time limit of 1 ms.
static tiny_bytes slow_model(void)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, "n,n");
    tiny_node(&m, "MatMul", "x", "x", "y1");
    tiny_node(&m, "MatMul", "y1", "y1", "y2");
    tiny_node(&m, "MatMul", "y2", "y2", "y");
    tiny_output(&m, "y", TINY_FLOAT, "n,n");
    return tiny_end(&m);
}

START_TEST(a_run_ends_at_its_time_limit_and_the_next_one_is_right)
{
    SKIP_WITHOUT_ONNX
    enum { N = 1024 };
    float *x = calloc(N * N, sizeof(float));
    for (int i = 0; i < N; i++)
        x[i * N + i] = 2;
    ln_session *session = open_session(slow_model(), NULL);
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 2, (const int[]){N, N}, x));
    CHECK_OK(session, ln_session_run(session));
    CHECK_OK(session, ln_session_set_timeout(session, 1));
    ck_assert_int_eq(ln_session_run(session), LN_LIMIT_REACHED);
    ck_assert_msg(strstr(ln_session_error(session), "stopped at the time limit of 1 ms") != NULL,
                  "%s", ln_session_error(session));
    CHECK_OK(session, ln_session_set_timeout(session, 0));
    CHECK_OK(session, ln_session_run(session));
    ck_assert_float_eq(((const float *)ln_session_output(session, "y")->data)[0], 256);
    ln_session_free(session);
    free(x);
}
END_TEST

START_TEST(a_child_uses_the_sessions_of_its_parent)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = open_session(sum_model(), NULL);
    run_sum(session, 64);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        run_sum(session, 64);
        run_sum(session, 2);
        ln_session_free(session);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    run_sum(session, 64);
    ln_session_free(session);
}
END_TEST

START_TEST(statuses_have_names_and_texts)
{
    ck_assert_int_eq(LN_OK, 0);
    ck_assert_str_eq(ln_status_name(LN_BAD_ARGUMENT), "LN_BAD_ARGUMENT");
    for (int i = 0; i < LN_STATUS_SIZE; i++) {
        ck_assert_str_ne(ln_status_name((ln_status)i), "");
        ck_assert_str_ne(ln_status_text((ln_status)i), "");
    }
    ck_assert_ptr_null(ln_status_name((ln_status)99));
    ck_assert_str_eq(ln_status_text((ln_status)-1), "unknown status");
    ck_assert_ptr_nonnull(strstr(ln_build_info(), "targets: cpu"));
    ck_assert_ptr_nonnull(strchr(ln_version(), '.'));
}
END_TEST

LN_TEST_MAIN(
    "sessions", the_interface_has_open_sizes_with_their_names, outputs_are_found_in_any_order,
    a_session_takes_any_shape_that_the_model_allows, an_empty_batch_has_empty_outputs,
    models_keep_as_many_programs_as_the_option_allows,
    inputs_stay_and_a_failed_call_changes_nothing, bound_buffers_are_read_and_written_by_each_run,
    an_input_with_a_default_need_not_be_given, values_of_inputs_may_decide_shapes,
    sequences_have_an_input_or_output_for_each_tensor, a_sequence_of_unknown_length_is_rejected,
    operators_that_are_missing_fail_opening_whatever_sizes_are_open,
    an_output_has_the_shape_of_the_last_run, a_model_without_inputs_runs,
    an_input_of_unknown_shape_takes_any, nothing_is_known_of_a_shape_that_the_file_does_not_have,
    json_ir_is_a_model_too, sizes_that_an_ir_model_leaves_open_are_those_of_the_input,
    sums_of_named_sizes_are_checked_in_each_run, sessions_with_a_seed_draw_the_same_random_numbers,
    sessions_without_a_seed_draw_other_random_numbers, random_numbers_go_on_when_shapes_change,
    a_timed_run_reports_each_operator_that_computes, a_session_names_the_nodes_of_its_operators,
    a_cancelled_session_stays_so_until_it_is_resumed, a_cancelled_session_leaves_others_alone,
    a_run_ends_at_its_time_limit_and_the_next_one_is_right, a_child_uses_the_sessions_of_its_parent,
    statuses_have_names_and_texts)
