// SPDX-License-Identifier: Apache-2.0
// Tests of contexts: reading a model, its interface, its constants, and edits of its operators.

#include "lightnet/ln_context.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_dfg_value.h"

#include "ln_check.h"
#include "ln_test_ops.h"

static ln_tensor_entry *tensor(const ln_context *ctx, const char *name)
{
    ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
    ck_assert_ptr_nonnull(te);
    return te;
}

static ln_op *op_of(const ln_context *ctx, const char *name)
{
    ln_op *op = ln_op_table_find(ctx->op_table, name);
    ck_assert_ptr_nonnull(op);
    return op;
}

// Lets an operator read one tensor instead of another.
static void redirect(ln_context *ctx, const char *opname, const char *from, const char *to)
{
    ln_dfg_value *read = tensor(ctx, from)->value;
    read->instead = tensor(ctx, to)->value;
    ck_assert_int_eq(ln_context_redirect(ctx, op_of(ctx, opname)), 0);
    read->instead = NULL;
}

static const ln_tensor_entry *root(const ln_context *ctx, const ln_tensor_list_entry *tle)
{
    return ln_tensor_table_root(ctx->tensor_table, tensor(ctx, tle->name));
}

// All that shares memory with the written tensor is known to be written.
static void check_shared(const ln_context *ctx, const ln_tensor_list_entry *written)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops) {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH (tle, op->op_arg->tensors_out)
            ck_assert_msg(root(ctx, tle) != root(ctx, written) ||
                              ln_context_is_mutated(ctx, tle->name),
                          "%s is written with %s", tle->name, written->name);
    }
}

static void check_valid(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH (op, ctx->ops)
        if (op->op_arg->info->inplace_writer)
            check_shared(ctx, op->op_arg->tensors_out->data);
    ck_assert_msg(ln_context_check(ctx) == 0, "%s", ln_context_error(ctx));
    ck_assert(ln_dfg_is_valid(ctx->dfg));
}

// x is the input, w a constant; y = (x + 1) + (w + 1).
static ln_context *small_model(void)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "ow", "create_test", "", "w", "len 4 value 2");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "add1", "w", "b", "");
    ln_test_op(&m, "oy", "add", "a b", "y", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    return ctx;
}

START_TEST(a_model_is_read_and_what_nothing_reads_is_its_output)
{
    ln_context *ctx = small_model();
    check_valid(ctx);
    ck_assert_int_eq(ln_list_length(ctx->ops), 5);
    ck_assert_int_eq(ln_list_length(ctx->outputs), 1);
    ck_assert_str_eq(ctx->outputs->data, "y");
    ck_assert(ln_context_is_output(ctx, "y") && !ln_context_is_output(ctx, "a"));
    ck_assert_int_eq(ln_context_num_uses(ctx, "y"), 1);
    ck_assert_int_eq(ln_context_num_uses(ctx, "a"), 1);
    ck_assert_ptr_eq(ln_context_creater(ctx, "a"), op_of(ctx, "oa"));
    ck_assert_ptr_null(ln_context_creater(ctx, "none"));
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(a_failed_operator_is_named_once_and_leaves_the_context_empty_and_usable)
{
    ln_test_model m;
    ln_test_begin(&m, "");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oz", "create_test", "", "z", "len 5 value 1");
    ln_test_op(&m, "oy", "add", "x z", "y", "");
    ln_test_op(&m, "ov", "add1", "y", "v", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx),
                     "model: operator 'oy' (add): 'src2' has 5 elements, expected 4");
    ck_assert_ptr_null(ctx->ops);
    ck_assert_ptr_null(ctx->last);
    ck_assert_ptr_null(ctx->source);
    ck_assert_int_eq(ln_hash_size(ctx->tensor_table), 0);
    ck_assert_int_eq(ln_hash_size(ctx->op_table), 0);
    ck_assert_int_eq(ln_test_alive, 0);

    ln_test_begin(&m, "");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    char *text = ln_test_text(&m);
    ck_assert_int_eq(ln_context_init_text(ctx, "again", text, m.size), 0);
    check_valid(ctx);
    ck_assert_int_eq(ln_context_init_text(ctx, "third", text, m.size), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the context holds a model already; clean it up first");
    ck_assert_int_eq(ln_list_length(ctx->ops), 1);
    free(text);
    ln_context_free(ctx);
}
END_TEST

START_TEST(cleanup_forgets_all_that_the_model_brought)
{
    ln_test_model m;
    char name[LN_MAX_NAME_LEN];
    ln_test_begin(&m, "");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "os", "bump", "x", "s", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert(ln_context_is_mutated(ctx, "x"));
    ck_assert_int_eq(ln_context_unique_name(ctx, name, "n"), 0);
    ln_context_cleanup(ctx);
    ck_assert(!ln_context_is_mutated(ctx, "x"));
    ck_assert_int_eq(ln_hash_size(ctx->dfg->values), 0);
    ck_assert_int_eq(ln_hash_size(ctx->output_names), 0);
    ck_assert(!ln_context_is_output(ctx, "s"));
    ck_assert_int_eq(ln_context_unique_name(ctx, name, "n"), 0);
    ck_assert_str_eq(name, "n_0");
    ln_context_free(ctx);
}
END_TEST

START_TEST(unique_names_differ_from_operators_and_tensors)
{
    ln_test_model m;
    char name[LN_MAX_NAME_LEN], prefix[LN_MAX_NAME_LEN];
    ln_test_begin(&m, "");
    ln_test_op(&m, "n_0", "create_test", "", "n_2", "len 4 value 1");
    ln_context *ctx = ln_test_end(&m);
    static const char *const expected[] = {"n_1", "n_3", "n_4"};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(ln_context_unique_name(ctx, name, "n"), 0);
        ck_assert_str_eq(name, expected[i]);
    }
    memset(prefix, 'p', sizeof(prefix));
    prefix[sizeof(prefix) - 1] = '\0';
    ck_assert_int_eq(ln_context_unique_name(ctx, name, prefix), -1);
    ln_context_free(ctx);
}
END_TEST

START_TEST(results_of_constants_are_constant)
{
    ln_context *ctx = small_model();
    ck_assert(!tensor(ctx, "x")->isconst);
    ck_assert(tensor(ctx, "x")->isstatic);
    ck_assert(tensor(ctx, "w")->isconst);
    ck_assert(tensor(ctx, "b")->isconst && tensor(ctx, "b")->isstatic);
    ck_assert(!tensor(ctx, "y")->isconst && !tensor(ctx, "y")->isstatic);
    ck_assert(op_of(ctx, "ob")->op_arg->at_load);
    ck_assert(!op_of(ctx, "oa")->op_arg->at_load && !op_of(ctx, "ow")->op_arg->at_load);
    ln_context_free(ctx);
}
END_TEST

// w is computed at load but for the writer, which comes last and writes through a view of a view.
static ln_context *mutating_model(void)
{
    ln_test_model m;
    ln_test_begin(&m, "\"outputs\": [\"y\", \"s\"],");
    ln_test_op(&m, "ow", "create_test", "", "w", "len 4 value 2");
    ln_test_op(&m, "od", "add1", "w", "d", "");
    ln_test_op(&m, "ov", "view", "d", "v", "");
    ln_test_op(&m, "op", "part", "v", "p", "from 1 len 2");
    ln_test_op(&m, "oy", "double", "d", "y", "");
    ln_test_op(&m, "os", "bump", "p", "s", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    return ctx;
}

static void check_mutating_model(const ln_context *ctx)
{
    static const char *const changing[] = {"d", "v", "p", "y", "s"};
    ck_assert(tensor(ctx, "w")->isconst);
    for (size_t i = 0; i < 5; i++)
        ck_assert_msg(!tensor(ctx, changing[i])->isconst, "%s is constant", changing[i]);
    ck_assert(ln_context_is_mutated(ctx, "v") && !ln_context_is_mutated(ctx, "w"));
    ck_assert(!op_of(ctx, "od")->op_arg->at_load && !op_of(ctx, "oy")->op_arg->at_load);
}

START_TEST(writing_in_place_revokes_constants_up_and_down)
{
    ln_context *ctx = mutating_model();
    check_mutating_model(ctx);
    ck_assert_int_eq(ln_context_rebind(ctx), 0);
    check_mutating_model(ctx);
    ck_assert(!tensor(ctx, "d")->isstatic);
    check_valid(ctx);
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(a_replaced_tensor_is_still_mutated)
{
    ln_context *ctx = mutating_model();
    ln_list *position = op_of(ctx, "od")->op_arg->node;
    ln_list *new_ops = ln_list_append(NULL, ln_test_new_op("od2", "double", "w", "d", ""));
    ck_assert_int_eq(ln_context_replace_ops(ctx, &position, 1, new_ops), 0);
    ck_assert_str_eq(((ln_op *)position->data)->op_arg->name, "od2");
    ck_assert(!tensor(ctx, "d")->isconst && !op_of(ctx, "od2")->op_arg->at_load);
    ln_context_free(ctx);
}
END_TEST

START_TEST(views_are_written_with_what_they_are_views_of)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "view", "x", "a", "");
    ln_test_op(&m, "ob", "view", "a", "b", "");
    ln_test_op(&m, "oc", "add1", "b", "c", "");
    ln_test_op(&m, "od", "view", "c", "d", "");
    ln_test_op(&m, "oe", "view", "d", "e", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert(!ln_context_is_mutated(ctx, "x"));
    // Now `oc` writes the memory of x, in which all others lie.
    ln_list *position = op_of(ctx, "oc")->op_arg->node;
    ln_list *new_ops = ln_list_append(NULL, ln_test_new_op("oc2", "bump", "b", "c", ""));
    ck_assert_int_eq(ln_context_replace_ops(ctx, &position, 1, new_ops), 0);
    check_valid(ctx);
    ck_assert(ln_context_is_mutated(ctx, "x") && ln_context_is_mutated(ctx, "e"));
    ck_assert_int_eq(ln_context_rebind(ctx), 0);
    check_valid(ctx);
    for (const char *name = "xabcde"; *name; name++)
        ck_assert(ln_context_is_mutated(ctx, (char[]){*name, '\0'}));
    ln_context_free(ctx);
}
END_TEST

START_TEST(rebind_checks_each_operator_once_more)
{
    ln_context *ctx = small_model();
    ck_assert_int_eq(ln_test_alive, 5);
    tensor(ctx, "a")->offset = 7; // the lists know of no plan
    ck_assert_int_eq(ln_context_rebind(ctx), 0);
    ck_assert_int_eq(ln_test_alive, 5);
    ck_assert_uint_eq(tensor(ctx, "a")->offset, 0);
    check_valid(ctx);
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(operators_are_added_replaced_and_removed_at_both_ends)
{
    ln_context *ctx = small_model();
    ln_list *position = NULL;
    ck_assert_int_eq(ln_context_add_op(ctx, &position, ln_test_new_op("oz", "add1", "y", "z", "")),
                     0);
    ck_assert_ptr_eq(position, ctx->last);
    check_valid(ctx);
    position = ctx->ops;
    ln_op *first = ln_test_new_op("of", "create_test", "", "f", "len 4 value 1");
    ck_assert_int_eq(ln_context_add_op(ctx, &position, first), 0);
    ck_assert_ptr_eq(position, ctx->ops);
    check_valid(ctx);
    ck_assert_str_eq(ln_test_types(ctx), "create_test create_test create_test add1 add1 add add1");
    ck_assert_int_eq(ln_context_remove_op(ctx, &position), 0);
    ck_assert_str_eq(((ln_op *)position->data)->op_arg->name, "ox");
    position = ctx->last;
    ck_assert_int_eq(ln_context_remove_op(ctx, &position), 0);
    ck_assert_ptr_null(position);
    check_valid(ctx);
    ck_assert_str_eq(ln_test_types(ctx), "create_test create_test add1 add1 add");
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(a_subgraph_takes_the_place_of_its_last_operator)
{
    ln_context *ctx = small_model();
    ln_list *old_ops = ln_list_append(NULL, op_of(ctx, "oa"));
    old_ops = ln_list_append(old_ops, op_of(ctx, "oy"));
    ln_list *new_ops = ln_list_append(NULL, ln_test_new_op("n1", "add1", "b", "m", ""));
    new_ops = ln_list_append(new_ops, ln_test_new_op("n2", "add", "x m", "y", ""));
    ck_assert_int_eq(ln_context_subgraph(ctx, old_ops, new_ops), 0);
    ln_list_free(old_ops);
    check_valid(ctx);
    ck_assert_str_eq(ln_test_types(ctx), "create_test create_test add1 add1 add");
    ck_assert(op_of(ctx, "n1")->op_arg->at_load);
    ln_context_free(ctx);
}
END_TEST

START_TEST(an_order_of_old_operators_that_is_not_the_lists_does_no_harm)
{
    ln_context *ctx = small_model();
    ln_list *old_ops = ln_list_append(NULL, op_of(ctx, "oy"));
    old_ops = ln_list_append(old_ops, op_of(ctx, "ob"));
    ln_list *new_ops = ln_list_append(NULL, ln_test_new_op("n", "double", "a", "y", ""));
    ck_assert_int_eq(ln_context_subgraph(ctx, old_ops, new_ops), 0);
    ln_list_free(old_ops);
    check_valid(ctx);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_replacement_that_fails_leaves_a_context_to_clean_up)
{
    ln_context *ctx = small_model();
    ln_list *position = op_of(ctx, "oa")->op_arg->node;
    ln_list *new_ops = ln_list_append(NULL, ln_test_new_op("oy", "double", "x", "a", ""));
    new_ops = ln_list_append(new_ops, ln_test_new_op("never", "double", "x", "q", ""));
    ck_assert_int_eq(ln_context_replace_ops(ctx, &position, 1, new_ops), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "operator 'oy' (double): another operator has this name");
    ln_context_cleanup(ctx);
    ck_assert_ptr_null(ctx->ops);
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(a_redirected_operator_is_checked_again)
{
    ln_context *ctx = small_model();
    redirect(ctx, "oy", "a", "b");
    check_valid(ctx);
    ck_assert_int_eq(ln_context_num_uses(ctx, "b"), 2);
    ck_assert_int_eq(ln_context_num_uses(ctx, "a"), 0);
    ck_assert(tensor(ctx, "y")->isconst);
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_reader_that_became_constant_is_revoked_with_its_producer)
{
    ln_context *ctx = small_model();
    ln_list *position = op_of(ctx, "ob")->op_arg->node;
    redirect(ctx, "oy", "a", "b");
    ck_assert(op_of(ctx, "oy")->op_arg->at_load);
    ln_list *new_ops = ln_list_append(NULL, ln_test_new_op("n", "add1", "x", "b", ""));
    ck_assert_int_eq(ln_context_replace_ops(ctx, &position, 1, new_ops), 0);
    ck_assert(!op_of(ctx, "oy")->op_arg->at_load && !tensor(ctx, "y")->isconst);
    check_valid(ctx);
    ln_context_free(ctx);
}
END_TEST

// x -> a, b joined in place into y.
static ln_context *joining_model(void)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "double", "x", "b", "");
    ln_test_op(&m, "oy", "join", "a b", "y", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    return ctx;
}

// bump writes `written`, a view `v` of a stands before the join, a view `w` of y behind it.
static void check_written(const char *written, int bump_is_first, const char *message)
{
    ln_test_model m;
    ln_test_begin(&m, "\"inputs\": [\"x\"],");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oa", "add1", "x", "a", "");
    ln_test_op(&m, "ob", "double", "x", "b", "");
    ln_test_op(&m, "ov", "view", "a", "v", "");
    if (bump_is_first)
        ln_test_op(&m, "os", "bump", written, "s", "");
    ln_test_op(&m, "oy", "join", "a b", "y", "");
    ln_test_op(&m, "ow", "view", "y", "w", "");
    if (!bump_is_first)
        ln_test_op(&m, "os", "bump", written, "s", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_str_eq(ln_context_error(ctx), "");
    ck_assert_int_eq(ln_context_check(ctx), *message ? -1 : 0);
    ck_assert_str_eq(ln_context_error(ctx), message);
    ln_context_free(ctx);
}

START_TEST(parts_of_a_join_are_not_written_later)
{
    static const char message[] = "operator 'os' (bump) writes 'a' in place, after it became a "
                                  "part of a gathered tensor";
    check_written("a", 0, message);
    check_written("v", 0, message);
    check_written("a", 1, "");
    check_written("v", 1, "");
    check_written("y", 0, "");
    check_written("w", 0, "");
}
END_TEST

START_TEST(a_replaced_input_is_joined_again)
{
    ln_context *ctx = joining_model();
    ck_assert_str_eq(tensor(ctx, "a")->owner, "y");
    ln_list *position = op_of(ctx, "oa")->op_arg->node;
    ln_list *new_ops = ln_list_append(NULL, ln_test_new_op("n", "double", "x", "a", ""));
    ck_assert_int_eq(ln_context_replace_ops(ctx, &position, 1, new_ops), 0);
    ck_assert_str_eq(tensor(ctx, "a")->owner, "y");
    check_valid(ctx);
    position = op_of(ctx, "oy")->op_arg->node;
    ck_assert_int_eq(ln_context_remove_op(ctx, &position), 0);
    ck_assert_ptr_null(tensor(ctx, "a")->owner);
    ck_assert_ptr_null(tensor(ctx, "b")->owner);
    ln_context_free(ctx);
}
END_TEST

START_TEST(outputs_are_added_until_the_model_is_compiled)
{
    ln_context *ctx = small_model();
    ck_assert_int_eq(ln_context_add_output(ctx, "a"), 0);
    ck_assert_int_eq(ln_context_add_output(ctx, "a"), 0);
    ck_assert_int_eq(ln_list_length(ctx->outputs), 2);
    ck_assert(ln_context_is_output(ctx, "a"));
    ck_assert_int_eq(ln_context_add_output(ctx, "q"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model has no tensor 'q'");
    ctx->target = ln_strdup("test");
    ck_assert_int_eq(ln_context_add_output(ctx, "b"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "the model is compiled already, for 'test': 'b' cannot become an output");
    ln_context_free(ctx);
}
END_TEST

START_TEST(a_parameter_may_change_shapes_before_compiling)
{
    ln_test_model m;
    ln_test_begin(&m, "");
    ln_test_op(&m, "ox", "create_test", "", "x", "len 4 value 1");
    ln_test_op(&m, "oy", "add1", "x", "y", "");
    ln_context *ctx = ln_test_end(&m);
    ck_assert_int_eq(ln_context_set_param(ctx, "ox", "len", 6.0), 0);
    ck_assert_int_eq(tensor(ctx, "y")->tensor->len, 6);
    ck_assert_int_eq(ln_context_set_param(ctx, "ox", "len", -1.0), -1);
    ck_assert_str_eq(ln_context_error(ctx), "operator 'ox' (create_test): 'dst' would have shape "
                                            "[-1], expected every dimension >= 0");
    ck_assert_int_eq(tensor(ctx, "y")->tensor->len, 6);
    ck_assert_int_eq(ln_context_set_param(ctx, "ox", "q", 1.0), -1);
    ck_assert_str_eq(
        ln_context_error(ctx),
        "operator 'ox' (create_test) has no parameter 'q'; its parameters: len, value");
    ck_assert_int_eq(ln_context_set_param(ctx, "q", "len", 1.0), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the model has no operator 'q'");
    check_valid(ctx);
    ln_context_free(ctx);
    ck_assert_int_eq(ln_test_alive, 0);
}
END_TEST

START_TEST(a_context_that_is_not_loaded_has_no_memory)
{
    ln_context *ctx = small_model();
    float data[4];
    ck_assert_int_eq(ln_context_run(ctx), -1);
    ck_assert_str_eq(ln_context_error(ctx), "the context is not loaded");
    ck_assert_int_eq(ln_context_set_data(ctx, "x", data), -1);
    ck_assert_ptr_null(ln_context_get_data(ctx, "x", data));
    ck_assert_str_eq(ln_context_error(ctx), "tensor 'x' has no memory: the context is not loaded");
    ck_assert_int_eq(ln_context_alloc_mem(ctx), -1);
    ck_assert_uint_eq(ln_context_data_size(ctx, "x"), 16);
    ck_assert_uint_eq(ln_context_data_size(ctx, "q"), 0);
    ln_context_unload(ctx);
    ln_context_free(ctx);
}
END_TEST

START_TEST(an_architecture_is_registered_whole_or_not_at_all)
{
    static ln_op_arg arg = {.optype = "only_one", .arch = "other"};
    static ln_op op = {.op_arg = &arg};
    static ln_op *ops[] = {&op, &op, NULL};
    static ln_arch arch = {.reg_ops = ops, .arch_name = "other"};
    ln_test_register();
    const int n = ln_list_length(ln_arch_list());
    ck_assert_int_eq(ln_arch_register(&ln_test_arch), -1);
    ck_assert_str_eq(ln_last_error(), "architecture 'test' is registered already");
    ck_assert_int_eq(ln_arch_register(&arch), -1);
    ck_assert_str_eq(ln_last_error(), "architecture 'other' has two operators of type 'only_one'");
    ck_assert_int_eq(ln_list_length(ln_arch_list()), n);
    ck_assert_ptr_null(ln_hash_find(LN_ARCH.op_proto_table, "only_one"));
}
END_TEST

START_TEST(a_rule_to_leave_out_must_be_known)
{
    ln_context *ctx = ln_context_create();
    ln_test_register();
    ck_assert_int_eq(ln_context_disable_rule(ctx, "first_rule"), 0);
    ck_assert_int_eq(ln_context_disable_rule(ctx, "q"), -1);
    ck_assert_str_eq(ln_context_error(ctx), "unknown rule 'q'");
    ck_assert_int_eq(ln_context_disable_rule(ctx, "frist_rule"), -1);
    ck_assert_str_eq(ln_context_error(ctx),
                     "unknown rule 'frist_rule'; did you mean 'first_rule'?");
    ck_assert_int_eq(ln_context_set_threads(ctx, -1), -1);
    ln_context_free(ctx);
}
END_TEST

// As in a build without front ends, which this program is.
START_TEST(errors_name_the_content_of_files_that_are_no_models)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } rows[] = {
#define ROW(bytes, message) {bytes, sizeof(bytes) - 1, message}
        ROW("\x08\x07\x12\x01x\x3a\x02\x12\0\x42\x02\x10\x0d",
            "m: this is an ONNX model, but this build of LightNet does not support ONNX"),
        ROW("\x08\x07\x12\x01x\x3a\x02\x12", // cut off
            "m: this is an ONNX model, but this build of LightNet does not support ONNX"),
        ROW("relu(src=x | dst=y);", "m: this is a model in LightNet's intermediate language, but "
                                    "this build of LightNet does not support IL"),
        ROW("\x0a\x02\x08\x01", "m: a Protocol Buffers message, but not an ONNX model; no model "
                                "format recognised; tried JSON IR"),
        ROW("hello world\n", "m: no model format recognised; tried JSON IR"),
        ROW("\0\0\0\0", "m: no model format recognised; tried JSON IR"),
        ROW("\xff\xd8\xff\xe0", "m: this is a JPEG image, expected a model"),
        ROW("\x1f\x8b\x08", "m: this is a gzip archive, expected a model; unpack it first"),
        ROW("GGUF\3\0\0\0",
            "m: this is a GGUF model, which LightNet does not read; convert it to ONNX first"),
        ROW("", "m: the model is empty"),
        ROW("{", "m:1:1: JSON: string or '}' expected near end of file"),
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ln_context *ctx = ln_context_create();
        ck_assert_int_eq(ln_context_init_text(ctx, "m", rows[i].bytes, rows[i].size), -1);
        ck_assert_str_eq(ln_context_error(ctx), rows[i].message);
        ln_context_free(ctx);
    }
}
END_TEST

LN_TEST_MAIN("context", a_model_is_read_and_what_nothing_reads_is_its_output,
             a_failed_operator_is_named_once_and_leaves_the_context_empty_and_usable,
             cleanup_forgets_all_that_the_model_brought,
             unique_names_differ_from_operators_and_tensors, results_of_constants_are_constant,
             writing_in_place_revokes_constants_up_and_down, a_replaced_tensor_is_still_mutated,
             views_are_written_with_what_they_are_views_of, rebind_checks_each_operator_once_more,
             operators_are_added_replaced_and_removed_at_both_ends,
             a_subgraph_takes_the_place_of_its_last_operator,
             an_order_of_old_operators_that_is_not_the_lists_does_no_harm,
             a_replacement_that_fails_leaves_a_context_to_clean_up,
             a_redirected_operator_is_checked_again,
             a_reader_that_became_constant_is_revoked_with_its_producer,
             parts_of_a_join_are_not_written_later, a_replaced_input_is_joined_again,
             outputs_are_added_until_the_model_is_compiled,
             a_parameter_may_change_shapes_before_compiling,
             a_context_that_is_not_loaded_has_no_memory,
             an_architecture_is_registered_whole_or_not_at_all, a_rule_to_leave_out_must_be_known,

             errors_name_the_content_of_files_that_are_no_models)
