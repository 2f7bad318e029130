// SPDX-License-Identifier: Apache-2.0
// Tests of wrong calls of models and sessions, and of models that are wrong: statuses and messages.

#include "lightnet/ln_session.h"

#include <stdio.h>
#include <string.h>

#include "ln_session_check.h"

START_TEST(models_that_cannot_be_opened_say_why)
{
    static const struct {
        const char *bytes;
        ln_status status;
        const char *message;
    } wrong[] = {
        {"", LN_BAD_MODEL, "m: "},
        {"{", LN_BAD_MODEL, "m:1:1: "},
        {"\x89PNG\r\n\x1a\n", LN_BAD_MODEL, "m: this is "},
        {"\x08\x08:\x02\x0a\xff", LN_BAD_MODEL, "m: "},
    };
    ln_model *model = (ln_model *)&model;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const ln_status status =
            ln_model_open_memory("m", wrong[i].bytes, strlen(wrong[i].bytes), NULL, &model);
        const char *message = ln_model_error(NULL);
        ck_assert_msg(status == wrong[i].status, "%s: %s", ln_status_name(status), message);
        ck_assert_msg(!strncmp(message, wrong[i].message, strlen(wrong[i].message)), "%s", message);
        ck_assert_ptr_null(model);
    }
    ck_assert_int_eq(ln_model_open("/no/such/model", NULL, &model), LN_NOT_FOUND);
    ck_assert_str_eq(ln_model_error(NULL),
                     "/no/such/model: cannot read: No such file or directory");
    ck_assert_int_eq(ln_model_open("/", NULL, &model), LN_IO_ERROR);
    ck_assert_str_eq(ln_model_error(NULL), "/: cannot read: Is a directory");
    ck_assert_int_eq(ln_model_open(NULL, NULL, &model), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "the name of the file is NULL");
    ck_assert_int_eq(ln_model_open("m", NULL, NULL), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "the pointer to the model is NULL");
    ck_assert_int_eq(ln_model_open_memory(NULL, "x", 1, NULL, &model), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "the name of the model is NULL");
    ck_assert_int_eq(ln_model_open_memory("m", NULL, 1, NULL, &model), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "the address of the bytes is NULL");
    ck_assert_int_eq(ln_model_open_memory("m", "x", 1, NULL, NULL), LN_BAD_ARGUMENT);
    ln_model_free(NULL);
}
END_TEST

START_TEST(an_operator_that_there_is_not_is_unsupported)
{
    SKIP_WITHOUT_ONNX
    tiny_model m = {.graph.size = 0};
    ln_model *model;
    tiny_input(&m, "x", TINY_FLOAT, "2");
    tiny_node(&m, "Transmogrify", "x", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, "2");
    const tiny_bytes bytes = tiny_end(&m);
    ck_assert_int_eq(ln_model_open_memory("m.onnx", bytes.data, bytes.size, NULL, &model),
                     LN_UNSUPPORTED);
    ck_assert_msg(strstr(ln_model_error(NULL), "Transmogrify") != NULL, "%s", ln_model_error(NULL));
}
END_TEST

START_TEST(a_type_that_there_is_not_is_unsupported)
{
    SKIP_WITHOUT_ONNX
    enum { COMPLEX64 = 14 };
    tiny_model m = {.graph.size = 0};
    ln_model *model;
    tiny_input(&m, "x", COMPLEX64, "2");
    tiny_node(&m, "Identity", "x", NULL, "y");
    tiny_output(&m, "y", COMPLEX64, "2");
    const tiny_bytes bytes = tiny_end(&m);
    ck_assert_int_eq(ln_model_open_memory("m.onnx", bytes.data, bytes.size, NULL, &model),
                     LN_UNSUPPORTED);
    ck_assert_str_eq(ln_model_error(NULL),
                     "m.onnx: input 'x' is COMPLEX64, expected a tensor of a type that LightNet "
                     "supports");
}
END_TEST

START_TEST(rejects_a_model_without_its_weights)
{
    static const char from_file[] = "\"from_file\", \"value\": ";
    char text[sizeof(ir_model)], *p;
    ln_model *model;
    strcpy(text, ir_model);
    memcpy(strstr(text, "[\"x\"]"), "[]   ", 5); // x is a weight then
    p = strstr(text, from_file) + strlen(from_file);
    memcpy(p, "true ", 5);
    ck_assert_int_eq(ln_model_open_memory("m", text, strlen(text), NULL, &model), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL),
                     "m: tensor 'x' reads its data from a file; set option 'weights'");
}
END_TEST

START_TEST(opening_rejects_missing_weights)
{
    SKIP_WITHOUT_ONNX
    const tiny_bytes bytes = sum_model(); // its sizes are open, programs are made by runs
    ln_options *options = ln_options_create();
    ln_model *model;
    ck_assert_int_eq(ln_options_set(options, "weights", "/no/such/file"), LN_OK);
    ck_assert_int_eq(ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, &model),
                     LN_NOT_FOUND);
    ck_assert_str_eq(ln_model_error(NULL), "/no/such/file: cannot read: No such file or directory");
    ck_assert_ptr_null(model);
    ln_options_free(options);
}
END_TEST

START_TEST(rejects_unknown_names_and_numbers)
{
    SKIP_WITHOUT_ONNX
    ln_model *model = open_model(sum_model(), NULL);
    ck_assert_ptr_null(ln_model_input_name(model, 2));
    ck_assert_str_eq(ln_model_error(model), "the model has 2 inputs, number 2 is requested");
    ck_assert_ptr_null(ln_model_input_name(model, -1));
    ck_assert_ptr_null(ln_model_output_name(model, 1));
    ck_assert_str_eq(ln_model_error(model), "the model has 1 outputs, number 1 is requested");
    ck_assert_ptr_null(ln_model_input_info(model, 2));
    ck_assert_ptr_null(ln_model_output_info(model, -1));
    ck_assert_ptr_null(ln_model_input_dim_name(model, 2, 0));
    ck_assert_ptr_null(ln_model_input_dim_name(model, 0, -1));
    ck_assert_ptr_null(ln_model_output_dim_name(model, 1, 0));
    ck_assert_ptr_null(ln_model_metadata(model, NULL));
    ck_assert_ptr_null(ln_model_metadata_key(model, -1));
    ck_assert_int_eq(ln_model_num_inputs(NULL), 0);
    ck_assert_int_eq(ln_model_num_outputs(NULL), 0);
    ck_assert_ptr_null(ln_model_input_name(NULL, 0));
    ck_assert_int_eq(ln_model_input_index(model, ln_model_input_name(model, 1)), 1);
    ck_assert_int_eq(ln_model_output_index(model, ln_model_output_name(model, 0)), 0);
    ck_assert_int_eq(ln_model_input_index(model, "no such name"), -1);
    ck_assert_int_eq(ln_model_input_index(model, NULL), -1);
    ck_assert_int_eq(ln_model_output_index(NULL, "y"), -1);
    ck_assert_ptr_null(ln_model_output_info(NULL, 0));
    ck_assert_ptr_null(ln_model_metadata(NULL, "format"));
    ln_model_free(model);
}
END_TEST

START_TEST(rejects_inputs_of_other_types_and_shapes)
{
    SKIP_WITHOUT_ONNX
    static const int good[] = {1, 3}, wide[] = {1, 4}, negative[] = {-1, 3},
                     huge[] = {2147483647, 3};
    static const struct {
        const char *name;
        tl_dtype dtype;
        int ndim;
        const int *dims;
        const char *data;
        ln_status status;
        const char *message;
    } wrong[] = {
        {NULL, TL_FLOAT, 2, good, "x", LN_BAD_ARGUMENT, "the name of an input is NULL"},
        {"c", TL_FLOAT, 2, good, "x", LN_NOT_FOUND, "the model has no input 'c'; it has: a, b"},
        {"a", TL_INT32, 2, good, "x", LN_BAD_ARGUMENT,
         "input 'a' is given as TL_INT32 [1, 3], expected TL_FLOAT [batch, 3]"},
        {"a", TL_FLOAT, 1, good, "x", LN_BAD_ARGUMENT,
         "input 'a' is given as TL_FLOAT [1], expected TL_FLOAT [batch, 3]"},
        {"a", TL_FLOAT, 2, wide, "x", LN_BAD_ARGUMENT,
         "input 'a' is given as TL_FLOAT [1, 4], expected TL_FLOAT [batch, 3]"},
        {"a", TL_FLOAT, 2, negative, "x", LN_BAD_ARGUMENT,
         "input 'a' is given with size -1 of axis 0, expected 0 or more"},
        {"a", TL_FLOAT, 2, huge, "x", LN_BAD_ARGUMENT,
         "input 'a' is given with more than 2147483647 elements"},
        {"a", TL_FLOAT, 2, NULL, "x", LN_BAD_ARGUMENT,
         "input 'a' is given with 2 dimensions, and dims is NULL"},
        {"a", TL_FLOAT, -1, good, "x", LN_BAD_ARGUMENT,
         "input 'a' is given with -1 dimensions, expected 0 to 8"},
        {"a", TL_FLOAT, 9, good, "x", LN_BAD_ARGUMENT,
         "input 'a' is given with 9 dimensions, expected 0 to 8"},
        {"a", (tl_dtype)99, 2, good, "x", LN_BAD_ARGUMENT,
         "input 'a' is given as type 99, expected TL_FLOAT"},
        {"a", TL_FLOAT, 2, good, NULL, LN_BAD_ARGUMENT, "the data for input 'a' is NULL"},
    };
    ln_session *session = open_session(sum_model(), NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK_FAILS(session, wrong[i].status,
                    ln_session_set_input(session, wrong[i].name, wrong[i].dtype, wrong[i].ndim,
                                         wrong[i].dims, wrong[i].data),
                    wrong[i].message);
        if (wrong[i].data)
            CHECK_FAILS(session, wrong[i].status,
                        ln_session_bind_input(session, wrong[i].name, wrong[i].dtype, wrong[i].ndim,
                                              wrong[i].dims, wrong[i].data, 1000),
                        wrong[i].message);
    }
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'a' is not given, expected TL_FLOAT [batch, 3]");
    ln_session_free(session);
}
END_TEST

START_TEST(rejects_small_and_unaligned_buffers)
{
    SKIP_WITHOUT_ONNX
    _Alignas(8) char buffer[64] = {0};
    const int dims[] = {1, 3};
    ln_session *session = open_session(sum_model(), NULL);
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_bind_input(session, "a", TL_FLOAT, 2, dims, buffer, 11),
                "input 'a' needs 12 bytes, the buffer has 11");
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_bind_input(session, "a", TL_FLOAT, 2, dims, buffer + 2, 12),
                "the buffer for input 'a' is not aligned to its elements of 4 bytes");
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_bind_output(session, "y", buffer + 1, sizeof(buffer) - 1),
                "the buffer for output 'y' is not aligned to its elements of 4 bytes");
    CHECK_FAILS(session, LN_NOT_FOUND, ln_session_bind_output(session, "z", buffer, 64),
                "the model has no output 'z'; it has: y");
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_bind_output(session, NULL, buffer, 64),
                "the name of an output is NULL");
    CHECK_OK(session, ln_session_bind_output(session, "y", buffer, 23));
    set_sum(session, 2);
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "output 'y' needs 24 bytes, the buffer has 23");
    ck_assert_ptr_null(ln_session_output(session, "y"));
    run_sum(session, 1);
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_copy_output(session, "y", buffer, 11),
                "output 'y' needs 12 bytes, the buffer has 11");
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_copy_output(session, "y", NULL, 12),
                "the buffer for output 'y' is NULL");
    ln_session_free(session);
}
END_TEST

// y = relu(x), the types of both as a file says them.
static ln_session *open_relu(int type_of_x, int type_of_y)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", type_of_x, "n");
    tiny_node(&m, "Relu", "x", NULL, "y");
    tiny_output(&m, "y", type_of_y, "n");
    return open_session(tiny_end(&m), NULL);
}

START_TEST(an_output_may_have_another_type_than_in_the_file)
{
    SKIP_WITHOUT_ONNX
    static const int types[] = {0, TINY_BOOL, TINY_INT64}; // 0: none
    const double x[] = {-1, 2};
    _Alignas(8) char buffer[32];
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const int offset = types[i] == TINY_INT64 ? 0 : 1;
        ln_session *session = open_relu(TINY_DOUBLE, types[i]);
        CHECK_OK(session, ln_session_set_input(session, "x", TL_DOUBLE, 1, (const int[]){2}, x));
        CHECK_OK(session, ln_session_bind_output(session, "y", buffer + offset, 16));
        CHECK_OK(session, ln_session_run(session));
        ck_assert_int_eq(memcmp(buffer + offset, (const double[]){0, 2}, 16), 0);
        ck_assert_int_eq(ln_session_output(session, "y")->dtype, TL_DOUBLE);
        ln_session_free(session);
    }
}
END_TEST

START_TEST(an_input_of_a_type_that_lightnet_lacks_cannot_be_given)
{
    SKIP_WITHOUT_ONNX
    enum { COMPLEX64 = 14 };
    ln_session *session = open_relu(COMPLEX64, COMPLEX64);
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_set_input(session, "x", TL_UINT8, 1, (const int[]){1}, "x"),
                "input 'x' is given as TL_UINT8 [1], expected a type that LightNet lacks [n]");
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_set_input(session, "x", (tl_dtype)-1, 1, (const int[]){1}, "x"),
                "input 'x' is given as type -1, expected a type that LightNet lacks");
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'x' is not given, expected a type that LightNet lacks [n]");
    ln_session_free(session);
}
END_TEST

START_TEST(outputs_exist_only_after_a_run)
{
    SKIP_WITHOUT_ONNX
    static const char none[] =
        "output 'y' is not available: the last run failed, or there was none";
    char buffer[16];
    ln_session *session = open_session(sum_model(), NULL);
    ck_assert_ptr_null(ln_session_output(session, "y"));
    ck_assert_str_eq(ln_session_error(session), none);
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_copy_output(session, "y", buffer, sizeof(buffer)), none);
    run_sum(session, 1);
    ck_assert_ptr_null(ln_session_output(session, NULL));
    ck_assert_str_eq(ln_session_error(session), "the name of an output is NULL");
    ck_assert_ptr_null(ln_session_output(session, "a"));
    ck_assert_str_eq(ln_session_error(session), "the model has no output 'a'; it has: y");
    check_sum(session, 1); // still
    ln_session_free(session);
}
END_TEST

START_TEST(a_run_rejects_inputs_with_different_sizes_of_one_name)
{
    SKIP_WITHOUT_ONNX
    const float b[6] = {0};
    ln_session *session = open_session(sum_model(), NULL);
    run_sum(session, 1);
    CHECK_OK(session, ln_session_set_input(session, "b", TL_FLOAT, 2, (const int[]){2, 3}, b));
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'b' has 2 for 'batch', but input 'a' has 1");
    ck_assert_ptr_null(ln_session_output(session, "y"));
    run_sum(session, 2);
    ln_session_free(session);
}
END_TEST

static void ignore_time(void *data, const char *name, const char *type, uint64_t ns)
{
    (void)data;
    (void)name;
    (void)type;
    (void)ns;
}

START_TEST(rejects_null_handles)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = (ln_session *)&session;
    ln_model *model = open_model(sum_model(), NULL);
    const int dims[] = {1};
    ck_assert_int_eq(ln_session_create(NULL, &session), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_session_error(NULL), "the model is NULL");
    ck_assert_ptr_null(session);
    ck_assert_int_eq(ln_session_create(model, NULL), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_session_error(NULL), "the pointer to the session is NULL");
    ck_assert_int_eq(ln_session_run(NULL), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_session_error(NULL), "the session is NULL");
    ck_assert_int_eq(ln_session_run_timed(NULL, ignore_time, NULL), LN_BAD_ARGUMENT);
    ck_assert_int_eq(ln_session_set_input(NULL, "a", TL_FLOAT, 1, dims, "x"), LN_BAD_ARGUMENT);
    ck_assert_int_eq(ln_session_bind_input(NULL, "a", TL_FLOAT, 1, dims, "x", 1), LN_BAD_ARGUMENT);
    ck_assert_int_eq(ln_session_bind_output(NULL, "y", NULL, 0), LN_BAD_ARGUMENT);
    ck_assert_int_eq(ln_session_copy_output(NULL, "y", NULL, 0), LN_BAD_ARGUMENT);
    ck_assert_int_eq(ln_session_set_timeout(NULL, 0), LN_BAD_ARGUMENT);
    ck_assert_ptr_null(ln_session_output(NULL, "y"));
    ln_session_cancel(NULL);
    ln_session_resume(NULL);
    ln_session_free(NULL);
    ck_assert_int_eq(ln_session_create(model, &session), LN_OK);
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run_timed(session, NULL, NULL),
                "the function for times is NULL");
    ln_model_free(model);
    ln_session_free(session);
}
END_TEST

LN_TEST_MAIN("wrong calls of sessions", models_that_cannot_be_opened_say_why,
             an_operator_that_there_is_not_is_unsupported, a_type_that_there_is_not_is_unsupported,
             rejects_a_model_without_its_weights, opening_rejects_missing_weights,
             rejects_unknown_names_and_numbers, rejects_inputs_of_other_types_and_shapes,
             rejects_small_and_unaligned_buffers, an_output_may_have_another_type_than_in_the_file,
             an_input_of_a_type_that_lightnet_lacks_cannot_be_given, outputs_exist_only_after_a_run,
             a_run_rejects_inputs_with_different_sizes_of_one_name, rejects_null_handles)
