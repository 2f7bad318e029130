// SPDX-License-Identifier: Apache-2.0
// Tests of reading and writing the data of a model.

#include "base/ln_fnv.h"
#include "lightnet/ln_data.h"

#include "base/ln_alloc_fail.h"
#include "data/ln_params.h"
#include "ln_data_check.h"
#include "ir/ln_fixed.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"

static char folder[32];
static char last_warning[LN_MAXLINE];

static void note_warning(void *data, ln_msg_level level, const char *text)
{
    (void)data;
    ck_assert_int_eq(level, LN_MSG_WARN);
    snprintf(last_warning, sizeof(last_warning), "%s", text);
}

static ln_op_arg create_arg = {.optype = "create", .arch = "none"};
static ln_op create_proto = {.op_arg = &create_arg};

// A model of `create` operators whose tensors lie in the arrays below.
typedef struct model {
    ln_context *ctx;
    float w[2], b[1], x[1];
} model;

static void add_create(ln_context *ctx, const char *name, float *data, int ndim, const int *dims,
                       ln_bool from_file)
{
    ln_list *outs = ln_tensor_list_append(NULL, "dst", name);
    ln_list *params = ln_param_list_append_bool(NULL, "from_file", from_file);
    ln_op *op = ln_op_create_from_proto(&create_proto, name, NULL, outs, params, ctx->tensor_table);
    ck_assert_ptr_nonnull(op);
    ctx->ops = ln_list_append(ctx->ops, op);
    ln_tensor_entry *te =
        ln_tensor_entry_create(name, tl_tensor_create(data, ndim, dims, TL_FLOAT));
    te->mtype = LN_MEM_CPU;
    ck_assert_int_eq(ln_tensor_table_insert(ctx->tensor_table, te), 1);
}

static void make_model(model *m)
{
    *m = (model){.ctx = ln_context_create()};
    ck_assert_ptr_nonnull(m->ctx);
    m->ctx->msg_func = note_warning;
    *last_warning = '\0';
    add_create(m->ctx, "w", m->w, 2, (int[]){1, 2}, LN_TRUE);
    add_create(m->ctx, "b", m->b, 1, (int[]){1}, LN_TRUE);
    add_create(m->ctx, "x", m->x, 1, (int[]){1}, LN_FALSE);
}

static void free_model(model *m)
{
    ln_op_list_free_lists_too(m->ctx->ops);
    m->ctx->ops = NULL;
    ln_context_free(m->ctx);
}

static void make_text(const char *file, const char *text)
{
    make_file(file, text, strlen(text));
}

static void make_weights(const char *file, const int *w_dims, const int *b_dims, tl_dtype b_dtype)
{
    float w[] = {1, 2}, b[] = {3};
    tl_tensor *tensors[] = {tl_tensor_create(w, 2, w_dims, TL_FLOAT),
                            tl_tensor_create(b, 1, b_dims, b_dtype)};
    ln_error err = {0};
    ck_assert_int_eq(ln_safetensors_write(file, 2, (const char *const[]){"w", "b"},
                                          (const tl_tensor *const *)tensors, NULL, &err),
                     0);
    tl_tensor_free(tensors[0]);
    tl_tensor_free(tensors[1]);
}

static void check_loads(const char *file)
{
    model m;
    make_model(&m);
    if (ln_data_load(m.ctx, file))
        ck_abort_msg("%s", ln_context_error(m.ctx));
    ck_assert(m.w[0] == 1 && m.w[1] == 2 && m.b[0] == 3 && m.x[0] == 0);
    free_model(&m);
}

START_TEST(format_is_recognised_by_content)
{
    enter_new_folder(folder);
    make_text("a", "2\nb 0 1 40400000\nw 0 2 3f800000 40000000\n");
    check_loads("a");
    make_weights("a", (int[]){1, 2}, (int[]){1}, TL_FLOAT);
    check_loads("a");
    ck_assert_str_eq(last_warning, "");
    leave_folder(folder);
}
END_TEST

START_TEST(unused_arrays_give_one_warning)
{
    enter_new_folder(folder);
    make_text("a", "4\nb 0 1 40400000\nx 0 1 1\nw 0 2 3f800000 40000000\ny 0 1 1\n");
    check_loads("a");
    ck_assert_str_eq(last_warning, "a: the model does not use 2 of 4 tensors, the first is 'x'");
    leave_folder(folder);
}
END_TEST

static void check_rejected(const char *message)
{
    model m;
    make_model(&m);
    ck_assert_int_eq(ln_data_load(m.ctx, "a"), -1);
    ck_assert_str_eq(ln_context_error(m.ctx), message);
    ck_assert(m.w[0] == 0 && m.w[1] == 0 && m.b[0] == 0);
    free_model(&m);
}

START_TEST(warning_names_the_model_where_it_has_a_name)
{
    enter_new_folder(folder);
    model m;
    make_model(&m);
    m.ctx->source = ln_strdup("m.json");
    make_text("a", "3\nb 0 1 40400000\nx 0 1 1\nw 0 2 3f800000 40000000\n");
    ck_assert_int_eq(ln_data_load(m.ctx, "a"), 0);
    ck_assert_str_eq(last_warning, "a: m.json does not use 1 of 3 tensors, the first is 'x'");
    free_model(&m);
    leave_folder(folder);
}
END_TEST

START_TEST(a_reason_of_before_is_forgotten)
{
    enter_new_folder(folder);
    model m;
    make_model(&m);
    ck_assert_int_eq(ln_data_load(m.ctx, "none"), -1);
    ck_assert_int_eq(ln_data_load(m.ctx, "other"), -1);
    ck_assert_str_eq(ln_context_error(m.ctx), "other: cannot read: No such file or directory");
    free_model(&m);
    leave_folder(folder);
}
END_TEST

START_TEST(rejects_wrong_data_files_and_changes_nothing)
{
    enter_new_folder(folder);
    check_rejected("a: cannot read: No such file or directory");
    make_text("a", "hello");
    check_rejected("a: neither a safetensors, a params nor a wts file");
    make_text("a", "1\nw 0 2 3f800000 40000000\n");
    check_rejected("a: no tensor 'b', expected TL_FLOAT [1]");
    make_text("a", "2\nw 0 2 3f800000 40000000\nb 0 2 0 0\n");
    check_rejected("a: tensor 'b' is TL_FLOAT with 2 elements, expected TL_FLOAT with 1");
    make_text("a", "2\nw 0 2 3f800000 40000000\nb 1 1 0\n");
    check_rejected("a: tensor 'b' is TL_FLOAT16 with 1 elements, expected TL_FLOAT with 1");
    make_weights("a", (int[]){2, 1}, (int[]){1}, TL_FLOAT);
    check_rejected("a: tensor 'w' is TL_FLOAT [2, 1], expected TL_FLOAT [1, 2]");
    make_weights("a", (int[]){1, 2}, (int[]){1}, TL_INT32);
    check_rejected("a: tensor 'b' is TL_INT32 [1], expected TL_FLOAT [1]");
    leave_folder(folder);
}
END_TEST

START_TEST(values_that_the_program_was_made_for_are_the_only_ones_taken)
{
    const float three = 3, four = 4;
    enter_new_folder(folder);
    model m;
    make_model(&m);
    ck_assert_int_eq(ln_fixed_note(m.ctx->fixed, "b", "ours", ln_fnv64(&three, sizeof(three))), 0);
    ck_assert_int_eq(ln_fixed_note(m.ctx->fixed, "gone", NULL, ln_fnv64(&four, sizeof(four))), 0);
    make_text("a", "3\nb 0 1 40400000\nw 0 2 3f800000 40000000\ngone 0 1 40800000\n");
    ck_assert_msg(!ln_data_load(m.ctx, "a"), "%s", ln_context_error(m.ctx));
    make_text("a", "2\nb 0 1 40800000\nw 0 2 3f800000 40000000\n");
    ck_assert_int_eq(ln_data_load(m.ctx, "a"), -1);
    ck_assert_str_eq(ln_context_error(m.ctx),
                     "a: rule 'ours' has made the value of 'b' part of an operator; to set another "
                     "one, compile with the rule disabled");
    make_text("a", "3\nb 0 1 40400000\nw 0 2 3f800000 40000000\ngone 0 1 40400000\n");
    ck_assert_int_eq(ln_data_load(m.ctx, "a"), -1);
    ck_assert_str_eq(ln_context_error(m.ctx),
                     "a: shapes of the model depend on the value of 'gone', which differs from "
                     "the one given; read the original model with it (-i gone=FILE, "
                     "ln_context_bind_input)");
    free_model(&m);
    leave_folder(folder);
}
END_TEST

// The model's own file brings `w` and, wanted by no operator, `y`.
static void bring_weights(ln_context *ctx)
{
    static float w[] = {1, 2}, y[] = {9};
    ctx->weights = ln_weights_create();
    ck_assert_ptr_nonnull(ctx->weights);
    tl_tensor *const brought[] = {tl_tensor_create(w, 2, (int[]){1, 2}, TL_FLOAT),
                                  tl_tensor_create(y, 1, (int[]){1}, TL_FLOAT)};
    ck_assert_int_eq(ln_weights_add(ctx->weights, "w", brought[0], 0), 0);
    ck_assert_int_eq(ln_weights_add(ctx->weights, "y", brought[1], 0), 0);
}

START_TEST(weights_that_the_model_brings_are_saved)
{
    enter_new_folder(folder);
    model m;
    make_model(&m);
    ck_assert_int_eq(ln_data_num_own(m.ctx), 0);
    bring_weights(m.ctx);
    ck_assert_int_eq(ln_data_num_own(m.ctx), 1);
    ck_assert_int_eq(ln_data_save(m.ctx, "a"), 0);
    ln_error err = {0};
    ln_safetensors *saved = ln_safetensors_open("a", &err);
    ck_assert_ptr_nonnull(saved);
    ck_assert_int_eq(ln_safetensors_count(saved), 1);
    const tl_tensor *w = ln_safetensors_find(saved, "w");
    ck_assert(w && w->ndim == 2 && w->dims[0] == 1 && w->dims[1] == 2);
    ck_assert_mem_eq(w->data, ((float[]){1, 2}), 2 * sizeof(float));
    ln_safetensors_close(saved);
    ck_assert_int_eq(ln_data_save(m.ctx, "none/a"), -1);
    ck_assert_str_eq(ln_context_error(m.ctx), "none/a: cannot write: No such file or directory");
    free_model(&m);
    leave_folder(folder);
}
END_TEST

START_TEST(saving_reports_every_failed_allocation)
{
    enter_new_folder(folder);
    model m;
    make_model(&m);
    bring_weights(m.ctx);
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        const int rc = ln_data_save(m.ctx, "a");
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(rc, failed ? -1 : 0);
        ck_assert_int_eq(*ln_context_error(m.ctx) != '\0', failed);
        ck_assert_int_eq(ln_error_status(m.ctx->error), failed ? LN_OUT_OF_MEMORY : LN_OK);
    }
    free_model(&m);
    leave_folder(folder);
}
END_TEST

static void make_params(const char *file)
{
    float w[] = {1, 2}, b[] = {3};
    tl_tensor *tensors[] = {tl_tensor_create(w, 2, (int[]){1, 2}, TL_FLOAT),
                            tl_tensor_create(b, 1, (int[]){1}, TL_FLOAT)};
    ln_error err = {0};
    ck_assert_int_eq(ln_params_write(file, 2, (const char *const[]){"w", "b"},
                                     (const tl_tensor *const *)tensors, &err),
                     0);
    tl_tensor_free(tensors[0]);
    tl_tensor_free(tensors[1]);
}

static void check_failed_allocations(void)
{
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        model m;
        make_model(&m);
        ln_alloc_fail_after(n);
        const int rc = ln_data_load(m.ctx, "a");
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(rc, failed ? -1 : 0);
        ck_assert_int_eq(*ln_context_error(m.ctx) != '\0', failed);
        ck_assert_int_eq(ln_error_status(m.ctx->error), failed ? LN_OUT_OF_MEMORY : LN_OK);
        free_model(&m);
    }
}

START_TEST(reports_every_failed_allocation)
{
    enter_new_folder(folder);
    make_text("a", "2\nb 0 1 40400000\nw 0 2 3f800000 40000000\n");
    check_failed_allocations();
    make_weights("a", (int[]){1, 2}, (int[]){1}, TL_FLOAT);
    check_failed_allocations();
    make_params("a");
    check_failed_allocations();
    leave_folder(folder);
}
END_TEST

LN_TEST_MAIN("data of a model", format_is_recognised_by_content, unused_arrays_give_one_warning,
             warning_names_the_model_where_it_has_a_name, a_reason_of_before_is_forgotten,
             rejects_wrong_data_files_and_changes_nothing,
             values_that_the_program_was_made_for_are_the_only_ones_taken,
             reports_every_failed_allocation, weights_that_the_model_brings_are_saved,
             saving_reports_every_failed_allocation);
