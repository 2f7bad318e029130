// SPDX-License-Identifier: Apache-2.0
// Tests of models and sessions: shapes, values, outputs, options, limits, cancelling, forks.

#include "lightnet/ln_session.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lightnet/ln_arch.h"
#include "session/ln_session_check.h"

/* ---- models ---- */

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

// Nothing is known of x.
static tiny_bytes shapeless_model(void)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, NULL);
    tiny_node(&m, "Relu", "x", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    return tiny_end(&m);
}

/* ---- what works ---- */

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
    CHECK_OK(NULL, ln_options_bind_sequence(options, "s", -1, NULL));
    ck_assert_int_ne(ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, &model),
                     LN_OK);
    ck_assert_ptr_nonnull(strstr(ln_model_error(NULL), "no value is given"));
    ln_options_free(options);
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

START_TEST(a_timed_run_reports_each_operator)
{
    SKIP_WITHOUT_ONNX
    int n = 0;
    ln_session *session = open_session(sum_model(), NULL);
    set_sum(session, 2);
    CHECK_OK(session, ln_session_run_timed(session, note_time, &n));
    check_sum(session, 2);
    ck_assert_int_gt(n, 0);
    ln_session_free(session);
}
END_TEST

/* ---- options ---- */

START_TEST(rejects_bad_options)
{
    static const struct {
        const char *key, *value, *message;
    } wrong[] = {
        {"thread", "2",
         "unknown option 'thread'; known options: target, threads, shape, weights, folder, "
         "seed, reference, precision, tuning, map, disabled_rule, output, memory_limit, "
         "operators_limit, "
         "constant_limit, open_timeout, programs"},
        {"threads", "many", "option 'threads' is 'many', expected 1 to 1024, or 0 for all"},
        {"threads", "1025", "option 'threads' is '1025', expected 1 to 1024, or 0 for all"},
        {"threads", "-1", "option 'threads' is '-1', expected 1 to 1024, or 0 for all"},
        {"threads", "", "option 'threads' is '', expected 1 to 1024, or 0 for all"},
        {"seed", "18446744073709551616",
         "option 'seed' is '18446744073709551616', expected a number of at least 0"},
        {"reference", "true", "option 'reference' is 'true', expected yes or no"},
        {"open_timeout", "1s", "option 'open_timeout' is '1s', expected a number of milliseconds"},
        {"memory_limit", "1M", "option 'memory_limit' is '1M', expected a number of bytes"},
        {"programs", "2147483648",
         "option 'programs' is '2147483648', expected a number of programs"},
        {"shape", "1x3",
         "option 'shape' is '1x3', expected NAME=1x3x224x224, with ranges such as 1..512"},
        {"shape",
         "a=", "option 'shape' is 'a=', expected NAME=1x3x224x224, with ranges such as 1..512"},
        {"shape", "=1",
         "option 'shape' is '=1', expected NAME=1x3x224x224, with ranges such as 1..512"},
        {"shape", "a=2..1",
         "option 'shape' is 'a=2..1', expected NAME=1x3x224x224, with ranges such as 1..512"},
        {"shape", "a=1x",
         "option 'shape' is 'a=1x', expected NAME=1x3x224x224, with ranges such as 1..512"},
        {"shape", "a=1x1x1x1x1x1x1x1x1",
         "option 'shape' is 'a=1x1x1x1x1x1x1x1x1', expected NAME=1x3x224x224, with ranges such as "
         "1..512"},
    };
    ln_options *options = ln_options_create();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(ln_options_set(options, wrong[i].key, wrong[i].value), LN_BAD_ARGUMENT);
        ck_assert_str_eq(ln_model_error(NULL), wrong[i].message);
    }
    ck_assert_int_eq(ln_options_set(NULL, "seed", "1"), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "the options is NULL");
    ck_assert_int_eq(ln_options_set(options, NULL, "1"), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "the option's key is NULL");
    ck_assert_int_eq(ln_options_set(options, "seed", NULL), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "the option's value is NULL");
    ln_options_free(options);
    ln_options_free(NULL);
}
END_TEST

static ln_options *options_with(const char *key, const char *value)
{
    ln_options *options = ln_options_create();
    ck_assert_msg(!ln_options_set(options, key, value), "%s", ln_model_error(NULL));
    return options;
}

static ln_options *options_with_outputs(const char *const *names)
{
    ln_options *options = ln_options_create();
    for (; *names; names++)
        ck_assert_int_eq(ln_options_set(options, "output", *names), LN_OK);
    return options;
}

// h = x * w, y = relu(h).
static tiny_bytes scaled_model(const char *shape)
{
    static const float w[] = {1, -1};
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, shape);
    tiny_constant(&m, "w", TINY_FLOAT, 2, w, sizeof(w));
    tiny_node(&m, "Mul", "x", "w", "h");
    tiny_node(&m, "Relu", "h", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, shape);
    return tiny_end(&m);
}

static void check_tensor(ln_session *session, const char *name, int n, const float *wanted)
{
    const tl_tensor *t = ln_session_output(session, name);
    ck_assert_msg(t != NULL, "%s", ln_session_error(session));
    ck_assert_int_eq(t->len, n);
    ck_assert_mem_eq(t->data, wanted, sizeof(float) * (size_t)n);
}

START_TEST(any_tensor_may_be_one_more_output)
{
    SKIP_WITHOUT_ONNX
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                       h[] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10},
                       y[] = {1, 0, 3, 0, 5, 0, 7, 0, 9, 0}, w[] = {1, -1};
    static const char *const names[] = {"h", "w", "x", "y", "h", NULL};
    float bound[10] = {0};
    ln_options *options = options_with_outputs(names);
    ln_model *model = open_model(scaled_model("n,2"), options);
    ln_session *session;
    CHECK_OK(NULL, ln_session_create(model, &session));
    ck_assert_int_eq(ln_model_num_outputs(model), 4);
    ck_assert_str_eq(ln_model_output_name(model, 0), "y");
    ck_assert_str_eq(ln_model_output_name(model, 1), "h");
    ck_assert_int_eq(ln_model_output_info(model, 1)->ndim, -1);
    for (int n = 1; n <= 5; n++) { // with open sizes from the fourth on
        CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 2, (const int[]){n, 2}, x));
        CHECK_OK(session, ln_session_run(session));
        check_tensor(session, "y", 2 * n, y);
        check_tensor(session, "h", 2 * n, h);
        check_tensor(session, "x", 2 * n, x);
        check_tensor(session, "w", 2, w);
    }
    CHECK_OK(session, ln_session_bind_output(session, "h", bound, sizeof(bound)));
    CHECK_OK(session, ln_session_run(session));
    ck_assert_mem_eq(bound, h, sizeof(h));
    ln_session_free(session);
    ln_model_free(model);
    ln_options_free(options);
}
END_TEST

START_TEST(rejects_outputs_that_are_no_tensors)
{
    SKIP_WITHOUT_ONNX
    static const char *const names[] = {"none", NULL};
    static const float x[] = {1, 2};
    ln_options *options = options_with_outputs(names);
    ln_model *model;
    const tiny_bytes fixed = scaled_model("1,2");
    ck_assert_int_eq(ln_model_open_memory("m.onnx", fixed.data, fixed.size, options, &model),
                     LN_NOT_FOUND);
    ck_assert_str_eq(ln_model_error(NULL), "m.onnx: the model has no tensor 'none'");
    ln_session *session = open_session(scaled_model("n,2"), options);
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 2, (const int[]){1, 2}, x));
    CHECK_FAILS(session, LN_NOT_FOUND, ln_session_run(session),
                "m.onnx: the model has no tensor 'none'");
    ck_assert_int_eq(ln_model_open_memory("m", ir_model, strlen(ir_model), options, &model),
                     LN_NOT_FOUND);
    ck_assert_str_eq(ln_model_error(NULL), "m: the model has no tensor 'none'");
    ln_session_free(session);
    ln_options_free(options);
}
END_TEST

START_TEST(json_ir_has_further_outputs_too)
{
    static const char *const names[] = {"x", NULL};
    static const float x[] = {-1, 1};
    ln_options *options = options_with_outputs(names);
    ln_model *model;
    ln_session *session;
    ck_assert_int_eq(ln_model_open_memory("m", ir_model, strlen(ir_model), options, &model), LN_OK);
    ck_assert_int_eq(ln_model_num_outputs(model), 2);
    ck_assert_int_eq(ln_model_output_info(model, 1)->dims[0], 2);
    CHECK_OK(NULL, ln_session_create(model, &session));
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, (const int[]){2}, x));
    CHECK_OK(session, ln_session_run(session));
    check_tensor(session, "x", 2, x);
    ln_session_free(session);
    ln_model_free(model);
    ln_options_free(options);
}
END_TEST

START_TEST(a_bound_size_is_fixed_for_all_that_have_its_name)
{
    SKIP_WITHOUT_ONNX
    static const char *const shapes[] = {"batch=2", "a=2x3"};
    for (size_t i = 0; i < 2; i++) {
        ln_options *options = options_with("shape", shapes[i]);
        ln_session *session = open_session(sum_model(), options);
        ln_model *model = open_model(sum_model(), options);
        ck_assert_int_eq(ln_model_input_info(model, 1)->dims[0], 2);
        ck_assert_int_eq(ln_model_output_info(model, 0)->dims[0], 2);
        run_sum(session, 2);
        CHECK_FAILS(session, LN_BAD_ARGUMENT,
                    ln_session_set_input(session, "b", TL_FLOAT, 2, (const int[]){1, 3}, "x"),
                    "input 'b' is given as TL_FLOAT [1, 3], expected TL_FLOAT [2, 3]");
        ln_model_free(model);
        ln_session_free(session);
        ln_options_free(options);
    }
}
END_TEST

START_TEST(a_bounded_size_stays_open_within_its_range)
{
    SKIP_WITHOUT_ONNX
    int least, most;
    ln_options *options = options_with("shape", "batch=2..4");
    ln_model *model = open_model(sum_model(), options);
    ck_assert_int_eq(ln_model_output_bounds(model, 0, 0, &least, &most), LN_OK);
    ck_assert_int_eq(least, 2);
    ck_assert_int_eq(most, 4);
    ck_assert_int_eq(ln_model_output_bounds(model, 0, 1, &least, &most), LN_OK);
    ck_assert_int_eq(least, 3);
    ck_assert_int_eq(most, 3);
    ln_model_free(model);
    ln_session *session = open_session(sum_model(), options);
    run_sum(session, 2);
    run_sum(session, 4);
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_set_input(session, "a", TL_FLOAT, 2, (const int[]){5, 3}, "x"),
                "input 'a' is given as TL_FLOAT [5, 3], expected TL_FLOAT [batch of 2..4, 3]");
    ln_session_free(session);
    ln_options_free(options);
}
END_TEST

START_TEST(rejects_options_that_contradict_the_model)
{
    SKIP_WITHOUT_ONNX
    char known[LN_MAXLINE], no_target[2 * LN_MAXLINE];
    snprintf(no_target, sizeof(no_target), "unknown target 'abacus'; known targets: %s",
             ln_sprint_targets(known, sizeof(known)));
    const struct {
        const char *key, *value;
        ln_status status;
        const char *message;
    } wrong[] = {
        {"shape", "c=1", LN_BAD_ARGUMENT,
         "option 'shape': the model has no input and no open size 'c'"},
        {"shape", "a=1", LN_BAD_ARGUMENT,
         "option 'shape' gives input 'a' as [1], expected [batch, 3]"},
        {"shape", "a=1x4", LN_BAD_ARGUMENT,
         "option 'shape' gives input 'a' as [1, 4], expected [1, 3]"},
        {"target", "abacus", LN_BAD_ARGUMENT, no_target},
        {"disabled_rule", "no_such_rule", LN_BAD_ARGUMENT, "unknown rule 'no_such_rule'"},
        {"folder", "/no/such/folder", LN_NOT_FOUND,
         "/no/such/folder: not a folder that can be used: No such file or directory"},
        {"operators_limit", "1", LN_LIMIT_REACHED, NULL},
        {"memory_limit", "100", LN_LIMIT_REACHED, NULL},
    };
    const tiny_bytes bytes = sum_model();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ln_options *options = options_with(wrong[i].key, wrong[i].value);
        ln_model *model;
        ln_status status = ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, &model);
        ln_session *session = NULL;
        const char *message = ln_model_error(NULL);
        if (!status) { // it shows with the first program
            CHECK_OK(NULL, ln_session_create(model, &session));
            set_sum(session, 1);
            status = ln_session_run(session);
            message = ln_session_error(session);
        }
        ck_assert_msg(status == wrong[i].status, "%s=%s: %s: %s", wrong[i].key, wrong[i].value,
                      ln_status_name(status), message);
        if (wrong[i].message)
            ck_assert_str_eq(message, wrong[i].message);
        ln_session_free(session);
        ln_model_free(model);
        ln_options_free(options);
    }
}
END_TEST

START_TEST(an_explicit_number_of_threads_beats_the_environment)
{
    SKIP_WITHOUT_ONNX
    const tiny_bytes bytes = sum_model();
    ln_model *model;
    ck_assert_int_eq(setenv("LIGHTNET_NUM_THREADS", "many", 1), 0);
    ck_assert_int_eq(ln_model_open_memory("m.onnx", bytes.data, bytes.size, NULL, &model),
                     LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL),
                     "LIGHTNET_NUM_THREADS is 'many', expected 0 to 1024 threads");
    ck_assert_ptr_null(model);
    ln_pool *pool = ln_pool_create(2);
    ln_options *options = options_with("threads", "1"), *pooled = ln_options_create();
    ck_assert_int_eq(ln_options_set_pool(pooled, pool), LN_OK);
    ln_model_free(open_model(bytes, options));
    ln_model_free(open_model(bytes, pooled));
    ln_options_free(options);
    ln_options_free(pooled);
    ln_pool_free(pool);
    ck_assert_int_eq(unsetenv("LIGHTNET_NUM_THREADS"), 0);
}
END_TEST

START_TEST(pools_are_shared_and_may_be_freed_before_their_users)
{
    SKIP_WITHOUT_ONNX
    ln_pool *pool = ln_pool_create(2);
    ln_options *options = ln_options_create();
    ck_assert_int_eq(ln_options_set_pool(options, pool), LN_OK);
    ln_pool_free(pool);
    ln_session *one = open_session(sum_model(), options), *two = open_session(sum_model(), options);
    ln_options_free(options);
    run_sum(one, 3);
    run_sum(two, 64);
    ln_session_free(one);
    run_sum(two, 1);
    ln_session_free(two);
    ck_assert_ptr_null(ln_pool_create(-1));
    ck_assert_str_eq(ln_model_error(NULL), "a pool of -1 threads, expected 1 to 1024, or 0");
    ck_assert_ptr_null(ln_pool_create(1025));
    ck_assert_int_eq(ln_options_set_pool(NULL, NULL), LN_BAD_ARGUMENT);
    ln_pool_free(NULL);
}
END_TEST

static void note_message(void *data, int level, const char *text)
{
    int *levels = data;
    ck_assert_str_ne(text, "");
    levels[level]++;
}

START_TEST(messages_reach_their_function)
{
    SKIP_WITHOUT_ONNX
    int levels[5] = {0};
    ln_options *options = ln_options_create();
    ck_assert_int_eq(ln_options_set_messages(options, note_message, levels), LN_OK);
    ln_session *session = open_session(sum_model(), options);
    ln_options_free(options);
    run_sum(session, 1);
    ln_session_free(session);
    ck_assert_int_gt(levels[0], 0); // the rules that fired
    ck_assert_int_eq(ln_options_set_messages(NULL, note_message, NULL), LN_BAD_ARGUMENT);
}
END_TEST

/* ---- ends ---- */

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

// y = a + c ^ 256, of which opening computes the power.
static tiny_bytes slow_to_open(void)
{
    static const float zero[] = {0};
    static const int64_t shape[] = {512, 512};
    static const char *const powers[] = {"c1", "c2", "c4", "c8", "c16", "c32", "c64", "c128"};
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "a", TINY_FLOAT, "512,512");
    tiny_constant(&m, "zero", TINY_FLOAT, 1, zero, sizeof(zero));
    tiny_constant(&m, "shape", TINY_INT64, 2, shape, sizeof(shape));
    tiny_node(&m, "Expand", "zero", "shape", powers[0]);
    for (size_t i = 1; i < sizeof(powers) / sizeof(powers[0]); i++)
        tiny_node(&m, "MatMul", powers[i - 1], powers[i - 1], powers[i]);
    tiny_node(&m, "Add", "a", "c128", "y");
    tiny_output(&m, "y", TINY_FLOAT, "512,512");
    return tiny_end(&m);
}

START_TEST(opening_ends_at_its_time_limit)
{
    SKIP_WITHOUT_ONNX
    const tiny_bytes bytes = slow_to_open();
    ln_options *options = options_with("open_timeout", "1");
    ln_model *model;
    ck_assert_int_eq(ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, &model),
                     LN_LIMIT_REACHED);
    ck_assert_msg(strstr(ln_model_error(NULL), "stopped at the time limit of 1 ms") != NULL, "%s",
                  ln_model_error(NULL));
    ln_options_free(options);
    options = options_with("open_timeout", "600000");
    ln_session *session = open_session(bytes, options); // and the limit is not for its runs
    ln_options_free(options);
    ln_session_free(session);
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
    "sessions", the_interface_has_open_sizes_with_their_names,
    a_session_takes_any_shape_that_the_model_allows, an_empty_batch_has_empty_outputs,
    models_keep_as_many_programs_as_the_option_allows,
    inputs_stay_and_a_failed_call_changes_nothing, bound_buffers_are_read_and_written_by_each_run,
    an_input_with_a_default_need_not_be_given, values_of_inputs_may_decide_shapes,
    sequences_have_an_input_or_output_for_each_tensor, a_sequence_of_unknown_length_is_rejected,
    an_output_has_the_shape_of_the_last_run, a_model_without_inputs_runs,
    an_input_of_unknown_shape_takes_any, nothing_is_known_of_a_shape_that_the_file_does_not_have,
    json_ir_is_a_model_too, sizes_that_an_ir_model_leaves_open_are_those_of_the_input,
    sessions_with_a_seed_draw_the_same_random_numbers,
    sessions_without_a_seed_draw_other_random_numbers, random_numbers_go_on_when_shapes_change,
    a_timed_run_reports_each_operator, rejects_bad_options, any_tensor_may_be_one_more_output,
    rejects_outputs_that_are_no_tensors, json_ir_has_further_outputs_too,
    a_bound_size_is_fixed_for_all_that_have_its_name, a_bounded_size_stays_open_within_its_range,
    rejects_options_that_contradict_the_model, an_explicit_number_of_threads_beats_the_environment,
    pools_are_shared_and_may_be_freed_before_their_users, messages_reach_their_function,
    a_cancelled_session_stays_so_until_it_is_resumed, a_cancelled_session_leaves_others_alone,
    a_run_ends_at_its_time_limit_and_the_next_one_is_right, opening_ends_at_its_time_limit,
    a_child_uses_the_sessions_of_its_parent, statuses_have_names_and_texts)
