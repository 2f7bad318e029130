// SPDX-License-Identifier: Apache-2.0
// Tests of the memory of sessions: what they hold, where inputs are read and outputs are written.

#include <string.h>

#include "base/ln_alloc_fail.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_memory_plan.h"
#include "lightnet/ln_session.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"
#include "run/ln_loan.h"
#include "run/ln_store.h"
#include "session/ln_model.h"
#include "session/ln_program.h"
#include "session/ln_session_program.h"
#include "ln_tiny_onnx.h"

// Models

#define SKIP_WITHOUT_ONNX                             \
    if (!strstr(ln_build_info(), "ONNX")) {           \
        ln_check_skip("a build without ONNX models"); \
        return;                                       \
    }

static ln_session *open_session(tiny_bytes bytes, const ln_options *options, ln_model **model)
{
    ln_session *session;
    ck_assert_msg(!ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, model), "%s",
                  ln_model_error(NULL));
    ck_assert_int_eq(ln_session_create(*model, &session), LN_OK);
    return session;
}

// y = x + x, and v is x in another shape.
static tiny_bytes sum_model(int has_view)
{
    static const int64_t shape[] = {-1, 1};
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, "n");
    tiny_node(&m, "Add", "x", "x", "y");
    tiny_output(&m, "y", TINY_FLOAT, "n");
    if (has_view) {
        tiny_constant(&m, "shape", TINY_INT64, 2, shape, sizeof(shape));
        tiny_node(&m, "Reshape", "x", "shape", "v");
        tiny_output(&m, "v", TINY_FLOAT, "n,1");
    }
    return tiny_end(&m);
}

#define CHECK_OK(session, call) ck_assert_msg((call) == LN_OK, "%s", ln_session_error(session))

enum { MAX = 1 << 16 };

// x is 1, 2, .. and longer than a run ever needs.
static float *numbers(void)
{
    static float x[MAX];
    for (int i = 0; i < MAX; i++)
        x[i] = (float)(i + 1);
    return x;
}

static void bind_x(ln_session *session, const float *x, int n)
{
    CHECK_OK(session,
             ln_session_bind_input(session, "x", TL_FLOAT, 1, &n, x, sizeof(float) * (size_t)n));
}

static const float *run_to_y(ln_session *session)
{
    CHECK_OK(session, ln_session_run(session));
    const tl_tensor *y = ln_session_output(session, "y");
    ck_assert_msg(y != NULL, "%s", ln_session_error(session));
    return y->data;
}

static void check_sum(ln_session *session, int n)
{
    bind_x(session, numbers(), n);
    const float *y = run_to_y(session);
    for (int i = 0; i < n; i++)
        ck_assert_float_eq(y[i], (float)(2 * i + 2));
}

// What a session holds

// Two steps, so that a program has memory of its own for what lies between.
static tiny_bytes chain_model(void)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, "n");
    tiny_node(&m, "Softmax", "x", NULL, "h");
    tiny_node(&m, "Softmax", "h", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, "n");
    return tiny_end(&m);
}

START_TEST(programs_that_nobody_runs_hold_no_memory_of_runs)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_options *options = ln_options_create();
    ck_assert_int_eq(ln_options_set(options, "memory_limit", "1000000000"), LN_OK); // counts
    ck_assert_int_eq(ln_options_set(options, "constant_limit", "1000"), LN_OK);
    ln_session *session = open_session(chain_model(), options, &model);
    int idle = 0;
    for (int n = 1000; n < MAX; n *= 2) {
        bind_x(session, numbers(), n);
        run_to_y(session);
    }
    for (const ln_program *p = model->cached; p; p = p->next, idle++) {
        const size_t n = (size_t)p->inputs[0].dims[0];
        ck_assert_uint_ge(ln_program_run_size(p), sizeof(float) * n);
        ck_assert_uint_lt(ln_limits_held(p->ctx), 64 << 10);
        ck_assert_uint_eq(ln_context_limit(p->ctx, LN_LIMIT_FOLD_MEMORY), 1000);
    }
    ck_assert_int_eq(idle, 6); // and the session has the seventh
    ln_session_free(session);
    ln_model_free(model);
    ln_options_free(options);
}
END_TEST

START_TEST(an_input_without_memory_for_another_value_keeps_the_one_it_has)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *session = open_session(sum_model(0), NULL, &model);
    const int few = 3, many = 1000;
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, &few, numbers()));
    ln_alloc_fail_after(0);
    const ln_status status = ln_session_set_input(session, "x", TL_FLOAT, 1, &many, numbers());
    ck_assert(ln_alloc_fail_stop());
    ck_assert_int_eq(status, LN_OUT_OF_MEMORY);
    ck_assert_str_ne(ln_session_error(session), "");
    ck_assert_float_eq(run_to_y(session)[2], 6);
    ck_assert_int_eq(ln_session_output(session, "y")->len, few);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

START_TEST(results_are_right_when_programs_and_their_memory_change)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *one = open_session(sum_model(0), NULL, &model), *two;
    CHECK_OK(NULL, ln_session_create(model, &two));
    unsigned random = 1;
    for (int i = 0; i < 400; i++) { // more shapes than a model keeps; regions grow and shrink
        random = random * 1103515245 + 12345;
        check_sum(i % 3 ? one : two, 1 + (int)(random >> 16) % (i < 200 ? 3000 : 30));
    }
    ln_model_free(model);
    ln_session_free(one);
    check_sum(two, 7);
    ln_session_free(two);
}
END_TEST

START_TEST(a_region_grows_at_once_and_shrinks_when_little_was_needed_for_long)
{
    enum { BIG = 8 << 20, SMALL = 1 << 20, TINY = 100 };
    ln_region region = {0};
    ck_assert_int_eq(ln_region_fit(&region, BIG), 0);
    ck_assert_uint_eq(region.size, BIG);
    memset(region.memory, 1, BIG);
    ck_assert_int_eq(ln_region_fit(&region, BIG + 1), 0);
    ck_assert_uint_eq(region.size, 16 * BIG); // room for the next steps
    ck_assert_uint_eq(region.touched, BIG + 1);
    const void *memory = region.memory;
    for (int i = 0; i < 100; i++) // a large one now and then
        ck_assert_int_eq(ln_region_fit(&region, i % 20 ? TINY : BIG), 0);
    ck_assert_uint_ge(region.touched, BIG);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(ln_region_fit(&region, i % 20 ? TINY : SMALL), 0);
    ck_assert_uint_eq(region.touched, SMALL);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(ln_region_fit(&region, TINY), 0);
    ck_assert_uint_eq(region.touched, SMALL); // little enough
    ck_assert_ptr_eq(region.memory, memory);
    ln_region_clear(&region);
    ck_assert_ptr_null(region.memory);
    ck_assert_int_eq(ln_region_fit(&region, SIZE_MAX), -1);
    ck_assert_ptr_null(region.memory);
    ck_assert_int_eq(ln_region_fit(&region, TINY), 0);
    ln_region_clear(&region);
}
END_TEST

// Limits

// y = x * w, w being a constant that programs share.
static tiny_bytes product_model(void)
{
    static float w[128];
    tiny_model m = {.graph.size = 0};
    for (int i = 0; i < 128; i++)
        w[i] = (float)i;
    tiny_input(&m, "x", TINY_FLOAT, "n,128");
    tiny_constant(&m, "w", TINY_FLOAT, 128, w, sizeof(w));
    tiny_node(&m, "Mul", "x", "w", "y");
    tiny_output(&m, "y", TINY_FLOAT, "n,128");
    return tiny_end(&m);
}

static ln_session *open_limited(size_t limit, ln_model **model)
{
    char text[32];
    ln_options *options = ln_options_create();
    snprintf(text, sizeof(text), "%zu", limit);
    ck_assert_int_eq(ln_options_set(options, "memory_limit", text), LN_OK);
    ln_session *session = open_session(product_model(), options, model);
    ln_options_free(options);
    return session;
}

static ln_status run_product(ln_session *session, int n)
{
    const int dims[] = {n, 128};
    CHECK_OK(session, ln_session_bind_input(session, "x", TL_FLOAT, 2, dims, numbers(),
                                            sizeof(float) * 128 * (size_t)n));
    return ln_session_run(session);
}

START_TEST(each_program_counts_what_it_shares)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *session = open_limited(1 << 30, &model);
    CHECK_OK(session, run_product(session, 1));
    const size_t shared = model->read_size + ln_store_size(model->store);
    ck_assert_uint_gt(model->read_size, 0);
    ck_assert_uint_ge(ln_store_size(model->store), sizeof(float) * 128);
    ln_program *program = ln_program_create(model, NULL);
    ck_assert_uint_eq(ln_limits_held(program->ctx), shared);
    ln_program_free(program);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

START_TEST(a_program_that_exceeds_the_limit_leaves_others)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *session = open_limited(200 << 10, &model);
    CHECK_OK(session, run_product(session, 10));
    ck_assert_int_eq(run_product(session, 500), LN_LIMIT_REACHED);
    ck_assert_msg(strstr(ln_session_error(session), "exceed the limit of 204800 bytes") != NULL,
                  "%s", ln_session_error(session));
    CHECK_OK(session, run_product(session, 20));
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// Where inputs and outputs lie

START_TEST(a_bound_output_is_written_where_it_lies)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *session = open_session(sum_model(0), NULL, &model);
    float y[3] = {0};
    bind_x(session, numbers(), 3);
    CHECK_OK(session, ln_session_bind_output(session, "y", y, sizeof(y)));
    ck_assert_ptr_eq(run_to_y(session), y);
    ck_assert_float_eq(y[2], 6);
    CHECK_OK(session, ln_session_bind_output(session, "y", NULL, 0));
    ck_assert_ptr_null(ln_session_output(session, "y")); // it was there
    y[2] = -1;
    ck_assert_ptr_ne(run_to_y(session), y);
    ck_assert_float_eq(y[2], -1);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

START_TEST(overlapping_buffers_are_filled_after_the_run)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *session = open_session(sum_model(1), NULL, &model);
    float x[4] = {1, 2, 3, 4}; // y goes one element above x, or to its place
    for (int at = 0; at < 2; at++) {
        memcpy(x, (float[]){1, 2, 3, 4}, sizeof(x));
        bind_x(session, x, 3);
        CHECK_OK(session, ln_session_bind_output(session, "y", x + at, sizeof(float) * 3));
        CHECK_OK(session, ln_session_run(session));
        for (int i = 0; i < 3; i++)
            ck_assert_float_eq(x[at + i], (float)(2 * i + 2));
        const float *v = ln_session_output(session, "v")->data; // x, as it was read
        ck_assert_float_eq(v[2], 3);
    }
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// A program for all sizes from 1 to 100.
static ln_context *open_context(ln_store *store)
{
    static const char file[] = "ln_session_memory_test.onnx";
    const tiny_bytes bytes = sum_model(0);
    ln_context *ctx = ln_context_create();
    FILE *fp = fopen(file, "wb");
    ck_assert(fp && fwrite(bytes.data, bytes.size, 1, fp) == 1 && !fclose(fp));
    ctx->store = store;
    ck_assert_msg(!ln_context_bind_range(ctx, "x", 1, (const int[]){1}, (const int[]){100}) &&
                      !ln_context_init(ctx, file) && !ln_context_compile(ctx, "cpu") &&
                      !ln_context_load(ctx, NULL),
                  "%s", ln_context_error(ctx));
    remove(file);
    return ctx;
}

START_TEST(inputs_and_outputs_of_open_sizes_may_lie_elsewhere)
{
    SKIP_WITHOUT_ONNX
    static const char *const names[] = {"x", "y"};
    static const int sizes[] = {5, 100, 1, 7};
    float y[100];
    ln_loan *loans;
    ln_store *store = ln_store_create();
    ln_context *ctx = open_context(store);
    ck_assert_int_eq(ln_loans_find(ctx, names, 2, &loans), 0);
    ck_assert(loans[0].root && loans[1].root);
    ck_assert_uint_eq(loans[1].size, sizeof(y));
    ctx->missing = ln_list_remove_custom_deep(ctx->missing, "x", ln_str_cmp, ln_free);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const float *x = numbers() + i;
        ln_loan_move(ctx, &loans[0], (void *)x);
        ln_loan_move(ctx, &loans[1], y);
        ck_assert_msg(!ln_context_set_shape(ctx, "x", 1, &sizes[i]) && !ln_context_run(ctx), "%s",
                      ln_context_error(ctx));
        for (int k = 0; k < sizes[i]; k++)
            ck_assert_float_eq(y[k], 2 * x[k]);
    }
    ln_loans_free(loans, 2);
    ln_context_free(ctx);
    ln_store_free(store);
}
END_TEST

START_TEST(outputs_stay_when_inputs_are_set)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *session = open_session(sum_model(1), NULL, &model);
    float x[2] = {1, 2}, v[2];
    bind_x(session, x, 2);
    ck_assert_float_eq(run_to_y(session)[1], 4);
    x[1] = 10;
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, (const int[]){1}, x));
    CHECK_OK(session, ln_session_copy_output(session, "v", v, sizeof(v)));
    ck_assert_float_eq(v[1], 2);
    CHECK_OK(session, ln_session_copy_output(session, "y", v, sizeof(v)));
    ck_assert_float_eq(v[1], 4);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

START_TEST(a_bound_output_with_room_for_more_has_what_the_run_gives)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *session = open_session(sum_model(0), NULL, &model);
    float y[10];
    CHECK_OK(session, ln_session_bind_output(session, "y", y, sizeof(y)));
    for (int n = 10; n > 0; n -= 3) {
        for (int i = 0; i < 10; i++)
            y[i] = -1;
        bind_x(session, numbers(), n);
        CHECK_OK(session, ln_session_run(session));
        for (int i = 0; i < 10; i++)
            ck_assert_float_eq(y[i], i < n ? (float)(2 * i + 2) : -1);
    }
    bind_x(session, numbers(), 11);
    ck_assert_int_eq(ln_session_run(session), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_session_error(session), "output 'y' needs 44 bytes, the buffer has 40");
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// Memory plans

// The blocks of a plan that are no scratch memory.
typedef struct blocks {
    int n;
    size_t end; // the max offset + size
    ln_memory_block y;
    char first_op[64];
} blocks;

static int note_block(void *data, const ln_memory_block *block)
{
    blocks *const all = data;
    all->n++;
    all->end = block->offset + block->size > all->end ? block->offset + block->size : all->end;
    if (!strcmp(block->name, "y")) {
        all->y = *block;
        strcpy(all->first_op, block->first_op ? block->first_op : "");
    }
    return 0;
}

static int end_list(void *data, const ln_memory_block *block)
{
    (void)block;
    ++*(int *)data;
    return 1;
}

// y = x + x, of 1000 elements.
static tiny_bytes fixed_model(void)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, "1000");
    tiny_node(&m, "Add", "x", "x", "y");
    tiny_output(&m, "y", TINY_FLOAT, "1000");
    return tiny_end(&m);
}

START_TEST(a_plan_lists_blocks_before_and_after_a_run)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    ln_session *session = open_session(fixed_model(), NULL, &model);
    for (int has_run = 0; has_run < 2; has_run++) {
        blocks all = {.n = 0};
        ln_memory_total totals[LN_MEM_TYPE_SIZE];
        CHECK_OK(session, ln_session_memory_plan(session, note_block, &all, totals));
        ck_assert_int_ge(all.n, 2); // x and y
        ck_assert_uint_eq(all.y.size, 4000);
        ck_assert_int_eq(all.y.first, all.y.last - 1); // an output lives to the end
        ck_assert_int_ge(all.y.first, 1);
        ck_assert_int_gt((int)strlen(all.first_op), 0);
        ck_assert_ptr_null(all.y.last_op);
        ck_assert_int_eq(all.y.is_scratch || all.y.is_constant, 0);
        ck_assert_uint_eq(totals[LN_MEM_CPU].bound, 8000);
        ck_assert_uint_ge(totals[LN_MEM_CPU].size, all.end);
        ck_assert_uint_le(totals[LN_MEM_CPU].size, 8000 + 3 * 64);                    // alignment
        ck_assert_int_eq(ln_session_run(session), has_run ? LN_OK : LN_BAD_ARGUMENT); // x is unset
        bind_x(session, numbers(), 1000);
    }
    CHECK_OK(session, ln_session_memory_plan(session, NULL, NULL, NULL));
    ck_assert_ptr_nonnull(ln_session_output(session, "y"));
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

START_TEST(a_plan_of_open_sizes_needs_a_run)
{
    SKIP_WITHOUT_ONNX
    ln_model *model;
    blocks all = {.n = 0};
    int n = 0;
    ln_session *session = open_session(sum_model(0), NULL, &model);
    ck_assert_int_eq(ln_session_memory_plan(session, note_block, &all, NULL), LN_BAD_ARGUMENT);
    ck_assert_str_eq(ln_session_error(session), "input 'x' has open sizes, which decide the "
                                                "memory plan; run the session first");
    bind_x(session, numbers(), 10);
    CHECK_OK(session, ln_session_run(session));
    CHECK_OK(session, ln_session_memory_plan(session, note_block, &all, NULL));
    ck_assert_uint_eq(all.y.size, 40);
    ck_assert_int_eq(ln_session_memory_plan(session, end_list, &n, NULL), LN_BAD_ARGUMENT);
    ck_assert_int_eq(n, 1);
    ck_assert_int_eq(ln_session_memory_plan(NULL, end_list, &n, NULL), LN_BAD_ARGUMENT);
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

LN_TEST_MAIN("memory of sessions", a_plan_lists_blocks_before_and_after_a_run,
             a_plan_of_open_sizes_needs_a_run, programs_that_nobody_runs_hold_no_memory_of_runs,
             an_input_without_memory_for_another_value_keeps_the_one_it_has,
             results_are_right_when_programs_and_their_memory_change,
             a_region_grows_at_once_and_shrinks_when_little_was_needed_for_long,
             each_program_counts_what_it_shares, a_program_that_exceeds_the_limit_leaves_others,
             a_bound_output_is_written_where_it_lies, overlapping_buffers_are_filled_after_the_run,
             inputs_and_outputs_of_open_sizes_may_lie_elsewhere, outputs_stay_when_inputs_are_set,
             a_bound_output_with_room_for_more_has_what_the_run_gives)
