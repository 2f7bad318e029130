// SPDX-License-Identifier: Apache-2.0
// Sessions whose inputs change their sizes all the time: few programs, and the bits of one that is
// made for just these sizes.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ln_data_check.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_session.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"
#include "run/ln_store.h"
#include "session/ln_model.h"
#include "session/ln_program.h"
#include "session/ln_session_program.h"
#include "ln_tiny_onnx.h"

enum { HEADS = 2, HEAD = 8, LONGEST = 64 };

static char folder[32];
static int64_t words[4 * LONGEST * 2];
static float numbers[2 * HEADS * LONGEST * HEAD * 2];
static float images[9 * 64 * 6 * 6];

static int n_trials;

// Counts the programs for open sizes that came to nothing.
static void count_trial(void *data, int level, const char *text)
{
    (void)data;
    (void)level;
    n_trials += strstr(text, "open sizes would use slower kernels") != NULL;
}

static ln_model *model_of(const char *variable)
{
    ln_model *model;
    ln_options *options = ln_options_create();
    ck_assert_int_eq(ln_options_set(options, "threads", "1"), LN_OK);
    ck_assert_int_eq(ln_options_set_messages(options, count_trial, NULL), LN_OK);
    ck_assert_msg(ln_model_open(getenv(variable), options, &model) == LN_OK, "%s",
                  ln_model_error(NULL));
    ln_options_free(options);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        words[i] = (int64_t)i * 7 % 20;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        numbers[i] = (float)(i * 37 % 101) / 50 - 1;
    return model;
}

static ln_model *open_compiled(const char *file)
{
    ln_model *model;
    ck_assert_msg(ln_model_open(file, NULL, &model) == LN_OK, "%s", ln_model_error(NULL));
    return model;
}

static ln_session *session_of(ln_model *model)
{
    ln_session *session;
    ck_assert_int_eq(ln_session_create(model, &session), LN_OK);
    return session;
}

static void check(ln_session *session, ln_status status)
{
    ck_assert_msg(status == LN_OK, "%s", ln_session_error(session));
}

static void run_encoder(ln_session *session, int batch, int len)
{
    check(session, ln_session_bind_input(session, "ids", TL_INT64, 2, (const int[]){batch, len},
                                         words, sizeof(words)));
    check(session, ln_session_run(session));
}

static void run_decoder(ln_session *session, int len, int past)
{
    const int cache[] = {1, HEADS, past, HEAD};
    check(session, ln_session_set_input(session, "ids", TL_INT64, 2, (const int[]){1, len}, words));
    check(session,
          ln_session_bind_input(session, "past.key", TL_FLOAT, 4, cache, numbers, sizeof(numbers)));
    check(session, ln_session_bind_input(session, "past.value", TL_FLOAT, 4, cache, numbers + 64,
                                         sizeof(numbers) - 64 * sizeof(float)));
    check(session, ln_session_run(session));
}

// A new model has no programs for other sizes.
static void compare(ln_session *session, ln_session *fresh, const char *name)
{
    const tl_tensor *a = ln_session_output(session, name), *b = ln_session_output(fresh, name);
    ck_assert(a && b && tl_tensor_issameshape(a, b));
    ck_assert_msg(!memcmp(a->data, b->data, tl_tensor_size(a)), "the bits of '%s' differ", name);
}

static int number_of_programs(const ln_model *model)
{
    return model->n_cached;
}

static int number_of_open_programs(const ln_model *model)
{
    int n = 0;
    for (const ln_program *p = model->cached; p; p = p->next)
        n += p->ranges != NULL;
    return n;
}

START_TEST(lengths_that_keep_changing_take_few_programs)
{
    ln_model *model = model_of("LN_TEST_ENCODER");
    ln_session *session = session_of(model);
    for (int i = 0; i < 100; i++) {
        const int batch = 1 + i / 40, len = 1 + i * 29 % LONGEST;
        run_encoder(session, batch, len);
        if (i % 9)
            continue;
        ln_model *other = model_of("LN_TEST_ENCODER");
        ln_session *fresh = session_of(other);
        run_encoder(fresh, batch, len);
        compare(session, fresh, "embedding");
        ln_session_free(fresh);
        ln_model_free(other);
    }
    ln_session_free(session);
    ck_assert_int_eq(model->uses_fixed_shapes, 0);
    ck_assert_int_le(number_of_programs(model), 6);
    ck_assert_int_ge(number_of_open_programs(model), 1);
    ln_model_free(model);
}
END_TEST

static void check_growing_cache(const char *variable)
{
    ln_model *model = model_of(variable);
    ln_session *session = session_of(model);
    for (int past = 0; past < LONGEST - 1; past = past ? past + 1 : 5) {
        const int len = past ? 1 : 5;
        run_decoder(session, len, past);
        if (past % 7)
            continue;
        ln_model *other = model_of(variable);
        ln_session *fresh = session_of(other);
        run_decoder(fresh, len, past);
        compare(session, fresh, "logits");
        compare(session, fresh, "present.key");
        compare(session, fresh, "present.value");
        ln_session_free(fresh);
        ln_model_free(other);
    }
    ln_session_free(session);
    ck_assert_int_eq(number_of_programs(model), 2); // a prompt, then all words
    ck_assert_int_eq(number_of_open_programs(model), 1);
    ln_model_free(model);
}

START_TEST(a_cache_that_grows_takes_few_programs)
{
    check_growing_cache("LN_TEST_DECODER");
    check_growing_cache("LN_TEST_LLAMA");
}
END_TEST

START_TEST(sizes_that_the_model_cannot_take_end_nothing)
{
    ln_model *model = model_of("LN_TEST_ENCODER");
    ln_session *session = session_of(model);
    for (int len = 10; len < 14; len++)
        run_encoder(session, 1, len);
    check(session, ln_session_bind_input(session, "ids", TL_INT64, 2, (const int[]){1, 65}, words,
                                         sizeof(words))); // its table has 64 places
    ck_assert_int_eq(ln_session_run(session), LN_BAD_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ln_session_error(session), "broadcast"));
    ck_assert_int_eq(model->uses_fixed_shapes, 0);
    run_encoder(session, 1, 64);
    run_encoder(session, 2, 3);
    ck_assert_ptr_nonnull(session->program->ranges);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// Creating a program fails from now on.
static void forbid_programs(const ln_model *model, int is_forbidden)
{
    model->options->operators_limit = is_forbidden ? 1 : 0;
}

static ln_model *open_tiny(tiny_bytes bytes)
{
    ln_model *model;
    ck_assert_msg(ln_model_open_memory("m", bytes.data, bytes.size, NULL, &model) == LN_OK, "%s",
                  ln_model_error(NULL));
    return model;
}

static void check_fails(ln_session *session, const char *message)
{
    ck_assert_int_eq(ln_session_run(session), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_session_error(session), message);
}

// The numbers 0 .. len - 1, but for the last one.
static void set_indices(ln_session *session, int len, int64_t last)
{
    int64_t indices[LONGEST];
    for (int i = 0; i < len; i++)
        indices[i] = i < len - 1 ? i % 20 : last;
    check(session, ln_session_set_input(session, "i", TL_INT64, 1, &len, indices));
}

// y = table[i], of 20 elements.
static ln_model *table_model(void)
{
    static float table[20];
    tiny_model m = {0};
    for (int i = 0; i < 20; i++)
        table[i] = (float)i;
    tiny_input(&m, "i", TINY_INT64, "n");
    tiny_constant(&m, "table", TINY_FLOAT, 20, table, sizeof(table));
    tiny_node(&m, "Gather", "table", "i", "y");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    return open_tiny(tiny_end(&m));
}

START_TEST(bad_data_costs_one_program_and_none_that_is_good)
{
    ln_model *model = table_model();
    ln_session *session = session_of(model);
    for (int len = 1; len < 8; len++) {
        set_indices(session, len, 19);
        check(session, ln_session_run(session));
    }
    const ln_program *open = session->program;
    ck_assert_ptr_nonnull(open->ranges);
    for (int len = 20; len < 40; len++) {
        char message[LN_MAXLINE];
        snprintf(message, sizeof(message),
                 "operator 'Gather_0' (take_cpu): index %d at position %d, expected -20 to 19", len,
                 len - 1);
        set_indices(session, len, len);
        check_fails(session, message);
        ck_assert_ptr_eq(session->program, open);
        forbid_programs(model, 1); // the first one has been tried
        set_indices(session, len + 1, 19);
        check(session, ln_session_run(session));
        ck_assert_float_eq(((const float *)ln_session_output(session, "y")->data)[len], 19);
    }
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// y = a + b, which may have other sizes for all that the file says.
static void set_sum(ln_session *session, int n, int m)
{
    check(session, ln_session_set_input(session, "a", TL_FLOAT, 1, &n, numbers));
    check(session, ln_session_set_input(session, "b", TL_FLOAT, 1, &m, numbers));
}

START_TEST(bad_sizes_are_tried_once_and_leave_the_program)
{
    tiny_model m = {0};
    tiny_input(&m, "a", TINY_FLOAT, "n");
    tiny_input(&m, "b", TINY_FLOAT, "m");
    tiny_node(&m, "Add", "a", "b", "y");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    ln_model *model = open_tiny(tiny_end(&m));
    ln_session *session = session_of(model);
    for (int n = 2; n < 8; n++) {
        set_sum(session, n, n);
        check(session, ln_session_run(session));
    }
    const ln_program *open = NULL; // the first one is for equal sizes
    ck_assert_ptr_nonnull(session->program->ranges);
    for (int i = 0; i < 3; i++) {
        set_sum(session, 5, 7);
        check_fails(session,
                    "operator 'Add_0' (binary_cpu): shapes [5] and [7], expected ones that "
                    "broadcast to one");
        ck_assert(!open || session->program == open);
        open = session->program;
        ck_assert_ptr_nonnull(open->ranges);
        forbid_programs(model, 1);
    }
    set_sum(session, 9, 9);
    check(session, ln_session_run(session));
    forbid_programs(model, 0);
    set_sum(session, 9, 7); // other sizes are tried
    check_fails(session, "operator 'Add_0' (binary_cpu): shapes [9] and [7], expected ones that "
                         "broadcast to one");
    ck_assert_int_eq(model->uses_fixed_shapes, 0);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// y = OPTYPE(a), with sizes that only some operators can leave open.
static ln_model *model_with(const char *optype)
{
    tiny_model m = {0};
    ln_model *model;
    tiny_input(&m, "a", TINY_FLOAT, "n,2,h,h");
    tiny_node(&m, optype, "a", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    const tiny_bytes bytes = tiny_end(&m);
    ck_assert_msg(ln_model_open_memory("tiny.onnx", bytes.data, bytes.size, NULL, &model) == LN_OK,
                  "%s", ln_model_error(NULL));
    return model;
}

static void run_tiny(ln_model *model, float wanted)
{
    ln_session *session = session_of(model);
    for (int i = 1; i < 8; i++) {
        check(session, ln_session_bind_input(session, "a", TL_FLOAT, 4, (const int[]){1, 2, i, i},
                                             numbers, sizeof(numbers)));
        check(session, ln_session_run(session));
        const tl_tensor *y = ln_session_output(session, "y");
        ck_assert_int_eq(y->dims[3] == 1 ? 1 : i, wanted > 0 ? i : 1);
    }
    ln_session_free(session);
}

START_TEST(sizes_that_cannot_be_open_need_a_program_for_each_shape)
{
    ln_model *pool = model_with("GlobalLpPool"), *relu = model_with("Relu");
    run_tiny(pool, 0);
    ck_assert_int_eq(pool->uses_fixed_shapes, 1);
    ck_assert_int_eq(number_of_programs(pool), 7);
    run_tiny(relu, 1);
    ck_assert_int_eq(relu->uses_fixed_shapes, 0);
    ck_assert_int_eq(number_of_programs(relu), 2);
    ln_model_free(pool);
    ln_model_free(relu);
}
END_TEST

static void run_sum(ln_session *session, int64_t axis)
{
    static const float x[] = {1, 2, 3, 4};
    check(session, ln_session_set_input(session, "x", TL_FLOAT, 2, (const int[]){2, 2}, x));
    check(session, ln_session_set_input(session, "axes", TL_INT64, 1, (const int[]){1}, &axis));
    check(session, ln_session_run(session));
    const float *y = ln_session_output(session, "y")->data;
    ck_assert_float_eq(y[0], axis ? 3.f : 4.f);
}

START_TEST(programs_for_values_are_found_by_all_sessions)
{
    tiny_model m = {0};
    ln_model *model;
    tiny_input(&m, "x", TINY_FLOAT, "2,n");
    tiny_input(&m, "axes", TINY_INT64, "1");
    tiny_node(&m, "ReduceSum", "x", "axes", "y");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    const tiny_bytes bytes = tiny_end(&m);
    ck_assert_int_eq(ln_model_open_memory("sum", bytes.data, bytes.size, NULL, &model), LN_OK);
    for (int i = 0; i < 2; i++) {
        ln_session *session = session_of(model);
        for (int64_t axis = 0; axis < 6; axis++)
            run_sum(session, axis % 2);
        ln_session_free(session);
    }
    ck_assert_int_eq(number_of_programs(model), 2);
    ln_model_free(model);
}
END_TEST

static void run_images(ln_session *session, int batch)
{
    check(session, ln_session_set_input(session, "data", TL_FLOAT, 4,
                                        (const int[]){batch, 64, 6, 6}, images));
    check(session, ln_session_run(session));
}

// Two batches have programs of their own, before all have one.
START_TEST(batches_of_images_share_packed_weights)
{
    enum { MAX = 9 };
    float first[16 * 6 * 6];
    ln_model *model = model_of("LN_TEST_IMAGES");
    ln_session *session = session_of(model);
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
        images[i] = (float)(i * 37 % 101) / 50 - 1;
    n_trials = 0;
    run_images(session, 1);
    memcpy(first, ln_session_output(session, "maps")->data, sizeof(first));
    const size_t packed = ln_store_size(model->store);
    ck_assert_uint_gt(packed, 0);
    for (int batch = 1; batch <= MAX; batch++) {
        run_images(session, batch);
        const tl_tensor *maps = ln_session_output(session, "maps");
        ck_assert_int_eq(maps->dims[0], batch);
        ck_assert_mem_eq(maps->data, first, sizeof(first));
        ck_assert_uint_eq(ln_store_size(model->store), packed);
    }
    ck_assert_int_eq(n_trials, 0);
    ln_session_free(session);
    ck_assert_int_eq(number_of_open_programs(model), 1);
    ck_assert_int_eq(number_of_programs(model), 3);
    ln_model_free(model);
}
END_TEST

// One row, the most common batch, does not use the distances of a plan for many.
START_TEST(one_row_has_a_program_of_its_own)
{
    ln_model *model = model_of("LN_TEST_IMAGES");
    ln_session *session = session_of(model);
    for (int batch = 3; batch <= 7; batch++)
        run_images(session, batch);
    ck_assert_ptr_nonnull(session->program->ranges);
    for (int i = 0; i < 3; i++) {
        run_images(session, 1);
        ck_assert_ptr_null(session->program->ranges);
        run_images(session, 2 + i);
        ck_assert_ptr_nonnull(session->program->ranges);
    }
    ln_session_free(session);
    ck_assert_int_eq(number_of_open_programs(model), 1);
    ln_model_free(model);
}
END_TEST

// Making a program takes longer than a run may.
static void wait_and_count(void *data, int level, const char *text)
{
    (void)level;
    (void)text;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    ++*(int *)data;
}

// y = conv(a, w), for which a program with open sizes is made in vain.
static ln_model *slow_model(int *messages)
{
    static const int64_t shape[] = {4, 2, 3, 3};
    tiny_model m = {0};
    ln_model *model;
    ln_options *options = ln_options_create();
    ck_assert_int_eq(ln_options_set_messages(options, wait_and_count, messages), LN_OK);
    tiny_input(&m, "a", TINY_FLOAT, "n,2,8,8");
    tiny_constant(&m, "flat", TINY_FLOAT, 72, numbers, 72 * sizeof(float));
    tiny_constant(&m, "shape", TINY_INT64, 4, shape, sizeof(shape));
    tiny_node(&m, "Reshape", "flat", "shape", "w");
    tiny_node(&m, "Conv", "a", "w", "y");
    tiny_output(&m, "y", TINY_FLOAT, "n,4,6,6");
    const tiny_bytes bytes = tiny_end(&m);
    ck_assert_msg(ln_model_open_memory("conv", bytes.data, bytes.size, options, &model) == LN_OK,
                  "%s", ln_model_error(NULL));
    ln_options_free(options);
    return model;
}

START_TEST(all_programs_that_a_run_tries_have_the_time_of_one_run)
{
    int messages = 0;
    ln_model *model = slow_model(&messages);
    ln_session *session = session_of(model);
    for (int batch = 1; batch < 4; batch++) {
        check(session,
              ln_session_bind_input(session, "a", TL_FLOAT, 4, (const int[]){batch, 2, 8, 8},
                                    numbers, sizeof(numbers)));
        if (batch < 3)
            check(session, ln_session_run(session));
    }
    messages = 0;
    check(session, ln_session_set_timeout(session, 40));
    ck_assert_int_eq(ln_session_run(session), LN_LIMIT_REACHED);
    ck_assert_ptr_nonnull(strstr(ln_session_error(session), "stopped at the time limit of 40 ms"));
    ck_assert_int_eq(messages, 1); // of the open program; the fixed one has no time left
    check(session, ln_session_set_timeout(session, 0));
    check(session, ln_session_run(session));
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// These compute something of the size of their input, which must not be the largest one.
START_TEST(operators_use_the_current_size_of_their_input)
{
    static const char *const optypes[] = {"Hardmax", "RandomUniformLike", "RandomNormalLike",
                                          "Bernoulli"};
    for (size_t k = 0; k < sizeof(optypes) / sizeof(optypes[0]); k++) {
        ln_model *model = model_with(optypes[k]);
        ln_session *session = session_of(model);
        for (int i = 1; i < 6; i++) {
            const int dims[] = {1, 2, i, i};
            check(session,
                  ln_session_bind_input(session, "a", TL_FLOAT, 4, dims, numbers, sizeof(numbers)));
            check(session, ln_session_run(session));
            const tl_tensor *y = ln_session_output(session, "y");
            ck_assert_msg(y->dims[2] == i && y->dims[3] == i, "%s of %d x %d has %d x %d",
                          optypes[k], i, i, y->dims[2], y->dims[3]);
        }
        ln_session_free(session);
        ln_model_free(model);
    }
}
END_TEST

// Compiled models

// Compiles the encoder for lengths up to LONGEST.
static void compile_ranges(const char *file)
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ck_assert_msg(
        !ln_context_bind_range(ctx, "ids", 2, (const int[]){1, 1}, (const int[]){2, LONGEST}) &&
            !ln_context_init(ctx, getenv("LN_TEST_ENCODER")) && !ln_context_compile(ctx, "cpu") &&
            !ln_context_save(ctx, NULL, file),
        "%s", ln_context_error(ctx));
    ln_context_free(ctx);
}

static void check_bounds(const ln_model *model, int axis, const char *name, int min, int max)
{
    int low, high;
    ck_assert_int_eq(ln_model_input_info(model, 0)->dims[axis], -1);
    ck_assert_str_eq(ln_model_input_dim_name(model, 0, axis), name);
    ck_assert_int_eq(ln_model_input_bounds(model, 0, axis, &low, &high), LN_OK);
    ck_assert_int_eq(low, min);
    ck_assert_int_eq(high, max);
}

START_TEST(a_compiled_model_has_the_interface_and_the_bits_of_its_origin)
{
    enter_new_folder(folder);
    compile_ranges("m.safetensors");
    ln_model *model = open_compiled("m.safetensors"), *origin = model_of("LN_TEST_ENCODER");
    ln_session *session = session_of(model), *fresh = session_of(origin);
    ck_assert_str_eq(ln_model_metadata(model, "target"), "cpu");
    ck_assert_ptr_null(ln_model_metadata(origin, "target"));
    check_bounds(model, 0, ln_model_input_dim_name(origin, 0, 0), 1, 2);
    check_bounds(model, 1, ln_model_input_dim_name(origin, 0, 1), 1, LONGEST);
    check_bounds(origin, 1, "sequence", 0, INT_MAX);
    for (int i = 0; i < 20; i++) {
        const int batch = 1 + i % 2, len = 1 + i * 29 % LONGEST;
        run_encoder(session, batch, len);
        run_encoder(fresh, batch, len);
        compare(session, fresh, "embedding");
    }
    ck_assert_int_eq(
        ln_session_set_input(session, "ids", TL_INT64, 2, (const int[]){1, LONGEST + 1}, words),
        LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_session_error(session),
                     "input 'ids' is given as TL_INT64 [1, 65], expected TL_INT64 [batch of 1..2, "
                     "sequence of 1..64]");
    ln_session_free(session);
    ck_assert_int_eq(number_of_programs(model), 1);
    ln_session_free(fresh);
    ln_model_free(model);
    ln_model_free(origin);
    leave_folder(folder);
}
END_TEST

static void check_has_no_further_outputs(const char *file, const char *message)
{
    ln_model *model;
    ln_options *options = ln_options_create();
    ck_assert_int_eq(ln_options_set(options, "output", "ids"), LN_OK);
    ck_assert_int_eq(ln_model_open(file, options, &model), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), message);
    ln_options_free(options);
}

static char last_warning[256];

static void note_warning(void *data, int level, const char *text)
{
    int *const n = data;
    if (level != LN_MSG_WARN)
        return;
    ++*n;
    snprintf(last_warning, sizeof(last_warning), "%s", text);
}

START_TEST(options_of_compilation_warn_where_a_model_is_compiled)
{
    static const char *const late[][2] = {{"reference", "yes"},
                                          {"unoptimized", "yes"},
                                          {"precision", "bf16"},
                                          {"tuning", "yes"},
                                          {"disabled_rule", "canonical"}};
    enter_new_folder(folder);
    compile_ranges("m.safetensors");
    for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
        char wanted[256];
        int n = 0;
        ln_model *model;
        ln_options *options = ln_options_create();
        snprintf(wanted, sizeof(wanted),
                 "m.safetensors: option '%s' has no effect: the model is compiled already",
                 late[i][0]);
        ck_assert_int_eq(ln_options_set(options, late[i][0], late[i][1]), LN_OK);
        ck_assert_int_eq(ln_options_set(options, "target", "cpu"), LN_OK);
        ck_assert_int_eq(ln_options_set_messages(options, note_warning, &n), LN_OK);
        ck_assert_int_eq(ln_model_open("m.safetensors", options, &model), LN_OK);
        ck_assert_int_eq(n, 1);
        ck_assert_str_eq(last_warning, wanted);
        ln_model_free(model);
        ln_options_free(options);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(a_compiled_model_has_no_further_outputs)
{
    enter_new_folder(folder);
    compile_ranges("m.safetensors");
    check_has_no_further_outputs("m.safetensors", "m.safetensors: the model is compiled already, "
                                                  "for 'cpu': 'ids' cannot become an output");
    leave_folder(folder);
}
END_TEST

// Several programs

static ln_context *compile_encoder(const int min[2], const int max[2])
{
    ln_context *ctx = ln_context_create();
    ck_assert_ptr_nonnull(ctx);
    ctx->many_shapes = 1;
    ck_assert_msg(!ln_context_bind_range(ctx, "ids", 2, min, max) &&
                      !ln_context_init(ctx, getenv("LN_TEST_ENCODER")) &&
                      !ln_context_compile(ctx, "cpu"),
                  "%s", ln_context_error(ctx));
    return ctx;
}

START_TEST(sessions_take_the_program_that_was_compiled_for_their_shapes)
{
    static const int shapes[][2] = {{1, 8}, {2, 5}, {3, 20}, {1, 8}, {3, 1}, {3, 64}};
    enter_new_folder(folder);
    ln_context *programs[] = {compile_encoder((const int[]){1, 8}, (const int[]){1, 8}),
                              compile_encoder((const int[]){2, 5}, (const int[]){2, 5}),
                              compile_encoder((const int[]){3, 1}, (const int[]){3, 64})};
    ck_assert_msg(!ln_context_save_all(programs, 3, NULL, "m.safetensors"), "%s",
                  ln_context_error(programs[0]));
    check_has_no_further_outputs("m.safetensors", "m.safetensors: the model is compiled already: "
                                                  "'ids' cannot become an output");
    for (int i = 0; i < 3; i++)
        ln_context_free(programs[i]);
    ln_model *model = open_compiled("m.safetensors"), *origin = model_of("LN_TEST_ENCODER");
    ln_session *session = session_of(model), *fresh = session_of(origin);
    check_bounds(model, 0, "batch", 1, 3);
    check_bounds(model, 1, "sequence", 1, 64);
    ck_assert_str_eq(ln_model_metadata(model, "program.2"), "ids [2, 5]");
    ck_assert_str_eq(ln_model_metadata(model, "program.3"), "ids [3, sequence of 1..64]");
    ck_assert_ptr_null(ln_model_metadata(model, "program.4"));
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        run_encoder(session, shapes[i][0], shapes[i][1]);
        run_encoder(fresh, shapes[i][0], shapes[i][1]);
        compare(session, fresh, "embedding");
    }
    check(session, ln_session_set_input(session, "ids", TL_INT64, 2, (const int[]){1, 9}, words));
    ck_assert_int_eq(ln_session_run(session), LN_BAD_ARGUMENT);
    ck_assert_str_eq(
        ln_session_error(session),
        "m.safetensors: no program supports ids [1, 9]; it has programs for ids [1, 8]; "
        "ids [2, 5]; ids [3, sequence of 1..64]");
    run_encoder(session, 2, 5);
    ln_session_free(session);
    ck_assert_int_eq(number_of_programs(model), 3);
    ln_session_free(fresh);
    ln_model_free(model);
    ln_model_free(origin);
    leave_folder(folder);
}
END_TEST

// Option shape

static ln_status open_with(const char *file, const char *first, const char *second,
                           ln_model **model)
{
    ln_options *options = ln_options_create();
    ck_assert_int_eq(ln_options_set(options, "shape", first), LN_OK);
    if (second)
        ck_assert_int_eq(ln_options_set(options, "shape", second), LN_OK);
    const ln_status status = ln_model_open(file, options, model);
    ln_options_free(options);
    return status;
}

static void save_programs(const char *file)
{
    ln_context *programs[] = {compile_encoder((const int[]){1, 8}, (const int[]){1, 8}),
                              compile_encoder((const int[]){1, 20}, (const int[]){1, 64})};
    ck_assert_msg(!ln_context_save_all(programs, 2, NULL, file), "%s",
                  ln_context_error(programs[0]));
    ln_context_free(programs[0]);
    ln_context_free(programs[1]);
}

START_TEST(a_compiled_model_is_opened_for_sizes_that_it_takes)
{
    static const struct {
        const char *file, *first, *second;
        int min, max;
    } rows[] = {
        {"range", "sequence=1..512", NULL, 1, 64},
        {"range", "ids=1x3..9", NULL, 3, 9},
        {"range", "sequence=5..20", "sequence=10..512", 10, 20},
        {"range", "sequence=10..512", "ids=1..2x5..20", 10, 20},
        {"programs", "sequence=1..512", NULL, 8, 64},
        {"programs", "sequence=8..20", NULL, 8, 20},
    };
    enter_new_folder(folder);
    compile_ranges("range");
    save_programs("programs");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_model *model;
        ck_assert_msg(!open_with(rows[i].file, rows[i].first, rows[i].second, &model), "%s",
                      ln_model_error(NULL));
        check_bounds(model, 1, "sequence", rows[i].min, rows[i].max);
        ln_model_free(model);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(a_compiled_model_is_not_opened_for_sizes_that_it_cannot_take)
{
    static const struct {
        const char *file, *first, *second, *message;
    } rows[] = {
        {"range", "sequence=65..70", NULL,
         "option 'shape' sets size 'sequence' to 65..70, expected input 'ids' to be [batch of "
         "1..2, sequence of 1..64]"},
        {"range", "sequence=0", NULL,
         "option 'shape' sets size 'sequence' to 0, expected input 'ids' to be [batch of 1..2, "
         "sequence of 1..64]"},
        {"range", "ids=1x65", NULL,
         "option 'shape' sets input 'ids' to [1, 65], expected [1, sequence of 1..64]"},
        {"range", "sequence=1..4", "sequence=5..9",
         "option 'shape' sets size 'sequence' to 5..9, expected input 'ids' to be [batch of "
         "1..2, sequence of 1..4]"},
        {"range", "sequence=4", "sequence=5",
         "option 'shape' sets size 'sequence' to 5, expected input 'ids' to be [batch of 1..2, "
         "4]"},
        {"programs", "sequence=1..7", NULL,
         "option 'shape' sets size 'sequence' to 1..7, expected input 'ids' to be [1, sequence of "
         "8..64]"},
        {"programs", "batch=2", NULL,
         "option 'shape' sets size 'batch' to 2, expected input 'ids' to be [1, sequence of "
         "8..64]"},
        {"programs", "sequence=9..19", NULL,
         "programs: no program supports the sizes of option 'shape'; it has programs for ids [1, "
         "8]; "
         "ids [1, sequence of 20..64]"},
    };
    enter_new_folder(folder);
    compile_ranges("range");
    save_programs("programs");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_model *model;
        ck_assert_int_eq(open_with(rows[i].file, rows[i].first, rows[i].second, &model),
                         LN_BAD_ARGUMENT);
        ck_assert_str_eq(ln_model_error(NULL), rows[i].message);
        ck_assert_ptr_null(model);
    }
    leave_folder(folder);
}
END_TEST

// Mapped files

static ln_status open_mapped(const char *file, ln_model **model)
{
    ln_options *options = ln_options_create();
    ck_assert_int_eq(ln_options_set(options, "map", "yes"), LN_OK);
    const ln_status status = ln_model_open(file, options, model);
    ln_options_free(options);
    return status;
}

START_TEST(a_mapped_model_has_the_bits_of_one_that_is_read)
{
    ln_model *mapped;
    enter_new_folder(folder);
    compile_ranges("m.safetensors");
    ck_assert_msg(open_mapped("m.safetensors", &mapped) == LN_OK, "%s", ln_model_error(NULL));
    ln_model *model = open_compiled("m.safetensors");
    ln_session *one = session_of(mapped), *two = session_of(mapped), *read = session_of(model);
    for (int len = 3; len <= LONGEST; len += 20) {
        run_encoder(one, 1, len);
        run_encoder(two, 1, len);
        run_encoder(read, 1, len);
        compare(one, read, "embedding");
        compare(two, read, "embedding");
    }
    ln_model_free(mapped); // its sessions keep it
    ln_session_free(one);
    run_encoder(two, 2, 5);
    run_encoder(read, 2, 5);
    compare(two, read, "embedding");
    ln_session_free(two);
    ln_session_free(read);
    ln_model_free(model);
    leave_folder(folder);
}
END_TEST

static void check_rejected(const char *file, ln_status status, const char *reason)
{
    ln_model *model;
    ck_assert_int_eq(open_mapped(file, &model), status);
    ck_assert_ptr_null(model);
    ck_assert_msg(strstr(ln_model_error(NULL), reason) != NULL, "'%s', expected '%s'",
                  ln_model_error(NULL), reason);
}

START_TEST(rejects_files_that_cannot_be_mapped)
{
    size_t size;
    ln_model *model;
    ln_options *options = ln_options_create();
    enter_new_folder(folder);
    compile_ranges("m.safetensors");
    char *bytes = file_bytes("m.safetensors", &size);
    make_file("cut.safetensors", bytes, size - 1);
    make_file("tiny.safetensors", bytes, 20);
    check_rejected("cut.safetensors", LN_BAD_MODEL, "data_offsets");
    check_rejected("tiny.safetensors", LN_BAD_MODEL, "the header has");
    check_rejected(getenv("LN_TEST_ENCODER"), LN_BAD_ARGUMENT,
                   "option 'map' is for compiled models in one file (.safetensors), this is ONNX");
    check_rejected("none.safetensors", LN_NOT_FOUND,
                   "none.safetensors: cannot read: No such file or directory");
    check_rejected(".", LN_BAD_ARGUMENT, ".: cannot map: not a regular file");
    ck_assert_int_eq(ln_options_set(options, "map", "maybe"), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL), "option 'map' is 'maybe', expected yes or no");
    ck_assert_int_eq(ln_options_set(options, "map", "yes"), LN_OK);
    ck_assert_int_eq(ln_model_open_memory("m", bytes, size, options, &model), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(NULL),
                     "m: option 'map' is for files, the model is given in memory");
    ln_options_free(options);
    free(bytes);
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_bad_arguments_of_bounds)
{
    int low, high;
    ln_model *model = model_of("LN_TEST_ENCODER");
    ck_assert_int_eq(ln_model_input_bounds(model, 0, 2, &low, &high), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(model), "input 'ids' has 2 dimensions, axis 2 is requested");
    ck_assert_int_eq(ln_model_input_bounds(model, 0, 0, &low, NULL), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(model), "the pointer to a bound of input 'ids' is NULL");
    ck_assert_int_eq(ln_model_input_bounds(model, 1, 0, &low, &high), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(model), "the model has 1 inputs, number 1 is requested");
    ck_assert_int_eq(ln_model_output_bounds(model, 0, 9, &low, &high), LN_BAD_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(ln_model_error(model), "output 'embedding' has "));
    ck_assert_int_eq(ln_model_output_bounds(model, 0, 0, NULL, &high), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(model), "the pointer to a bound of output 'embedding' is NULL");
    ck_assert_int_eq(ln_model_output_bounds(model, 1, 0, &low, &high), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_model_error(model), "the model has 1 outputs, number 1 is requested");
    ln_model_free(model);
}
END_TEST

LN_TEST_MAIN("session_sizes", lengths_that_keep_changing_take_few_programs,
             a_cache_that_grows_takes_few_programs, sizes_that_the_model_cannot_take_end_nothing,
             bad_data_costs_one_program_and_none_that_is_good,
             bad_sizes_are_tried_once_and_leave_the_program,
             sizes_that_cannot_be_open_need_a_program_for_each_shape,
             programs_for_values_are_found_by_all_sessions, batches_of_images_share_packed_weights,
             one_row_has_a_program_of_its_own,
             all_programs_that_a_run_tries_have_the_time_of_one_run,
             operators_use_the_current_size_of_their_input,
             a_compiled_model_has_the_interface_and_the_bits_of_its_origin,
             options_of_compilation_warn_where_a_model_is_compiled,
             a_compiled_model_has_no_further_outputs,
             sessions_take_the_program_that_was_compiled_for_their_shapes,
             a_compiled_model_is_opened_for_sizes_that_it_takes,
             a_compiled_model_is_not_opened_for_sizes_that_it_cannot_take,
             a_mapped_model_has_the_bits_of_one_that_is_read, rejects_files_that_cannot_be_mapped,
             rejects_bad_arguments_of_bounds)
