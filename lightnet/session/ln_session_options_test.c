// SPDX-License-Identifier: Apache-2.0
// Tests of options: wrong ones, further outputs, bound sizes, threads and pools, time, messages.

#include "lightnet/ln_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_arch.h"
#include "ln_session_check.h"

START_TEST(rejects_bad_options)
{
    static const struct {
        const char *key, *value, *message;
    } wrong[] = {
        {"thread", "2",
         "unknown option 'thread'; known options: target, threads, shape, weights, folder, "
         "allow_output, seed, reference, unoptimized, precision, tuning, map, disabled_rule, "
         "output, "
         "memory_limit, "
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
    int min, max;
    ln_options *options = options_with("shape", "batch=2..4");
    ln_model *model = open_model(sum_model(), options);
    ck_assert_int_eq(ln_model_output_bounds(model, 0, 0, &min, &max), LN_OK);
    ck_assert_int_eq(min, 2);
    ck_assert_int_eq(max, 4);
    ck_assert_int_eq(ln_model_output_bounds(model, 0, 1, &min, &max), LN_OK);
    ck_assert_int_eq(min, 3);
    ck_assert_int_eq(max, 3);
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
         "option 'shape' sets input 'a' to [1], expected [batch, 3]"},
        {"shape", "a=1x4", LN_BAD_ARGUMENT,
         "option 'shape' sets input 'a' to [1, 4], expected [1, 3]"},
        {"target", "abacus", LN_BAD_ARGUMENT, no_target},
        {"disabled_rule", "no_such_rule", LN_BAD_ARGUMENT, "unknown rule 'no_such_rule'"},
        {"folder", "/no/such/folder", LN_NOT_FOUND,
         "/no/such/folder: not a folder that can be used: No such file or directory"},
        {"allow_output", "/no/such/folder", LN_NOT_FOUND,
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
    ck_assert_str_eq(ln_model_error(NULL),
                     "a pool of -1 threads, expected 1 to 1024, or 0 for all");
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

static void note_precision(void *data, int level, const char *text)
{
    int *const n = data;
    if (level != LN_MSG_WARN)
        return;
    ck_assert_str_eq(text, "m.onnx: precision 'fp16' has no effect: target 'cpu' computes in "
                           "float32, bf16");
    ++*n;
}

// A model with open sizes compiles a program for each shape.
static void run_with_precision(const char *precision, int n_warnings)
{
    float a[6] = {1, 2, 3, 4, 5, 6};
    int n = 0;
    ln_options *options = options_with("precision", precision);
    ck_assert_int_eq(ln_options_set_messages(options, note_precision, &n), LN_OK);
    ln_session *session = open_session(sum_model(), options);
    for (int rows = 1; rows <= 2; rows++) {
        const int dims[] = {rows, 3};
        CHECK_OK(session, ln_session_set_input(session, "a", TL_FLOAT, 2, dims, a));
        CHECK_OK(session, ln_session_set_input(session, "b", TL_FLOAT, 2, dims, a));
        CHECK_OK(session, ln_session_run(session));
    }
    ck_assert_int_eq(n, n_warnings);
    ln_options_free(options);
    ln_session_free(session);
}

START_TEST(a_precision_that_the_target_lacks_warns_once)
{
    SKIP_WITHOUT_ONNX
    run_with_precision("fp16", 1);
    run_with_precision("float32", 0);
    run_with_precision("bf16", 0);
}
END_TEST

LN_TEST_MAIN("options of sessions", rejects_bad_options, any_tensor_may_be_one_more_output,
             rejects_outputs_that_are_no_tensors, json_ir_has_further_outputs_too,
             a_bound_size_is_fixed_for_all_that_have_its_name,
             a_bounded_size_stays_open_within_its_range, rejects_options_that_contradict_the_model,
             an_explicit_number_of_threads_beats_the_environment,
             pools_are_shared_and_may_be_freed_before_their_users, messages_reach_their_function,
             opening_ends_at_its_time_limit, a_precision_that_the_target_lacks_warns_once)
