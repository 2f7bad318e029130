// SPDX-License-Identifier: Apache-2.0
// Tests of operators, their arguments and outputs, their lists and their table.

#include "lightnet/ln_op.h"

#include <limits.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_genop.h"
#include "ln_check.h"

// Operator "twice": dst = src with one more dimension, of `times` elements.

static int runs; // how often a run was called

static void twice_pre_run(ln_op_arg *op_arg)
{
    const ln_tensor_entry *src =
        ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, "src");
    ln_opck_tensor_defined(src, ln_tensor_list_find_name(op_arg->tensors_in, "src"));
    const ln_param_entry *times = ln_param_list_find(op_arg->params, "times");
    ln_opck_param_exist(times, "times");
    ln_opck_param_int_gt(times, 0);
    const int dims[] = {times->value_int, src->tensor->dims[0]};
    ln_op_define_output(op_arg, "dst", 2, dims, src->tensor->dtype, LN_MEM_CPU);
}

static void twice_run(ln_op_arg *op_arg)
{
    runs++;
    if (ln_streq(op_arg->name, "bad"))
        ln_op_fail(op_arg, "division by zero");
}

static const char *twice_ins[] = {"src", NULL};
static const char *twice_outs[] = {"dst", NULL};
static const char *twice_params[] = {"times", NULL};
static const ln_param_type twice_ptypes[] = {LN_PARAM_NUMBER};
static char twice_type[] = "twice_cpu", cpu[] = "cpu";

static ln_op_arg twice_arg = {
    .optype = twice_type,
    .arch = cpu,
    .in_arg_names = twice_ins,
    .out_arg_names = twice_outs,
    .param_arg_names = twice_params,
    .param_ptypes = twice_ptypes,
};

static ln_op twice = {
    .op_arg = &twice_arg,
    .pre_run = twice_pre_run,
    .run = twice_run,
    .post_run = ln_op_undefine_outputs,
};

// Returns new: NAME: twice(src) -> dst.
static ln_op *new_twice(const char *name, const char *src, const char *dst, ln_hash *table)
{
    return ln_op_create_from_proto(&twice, name, ln_tensor_list_append(NULL, "src", src),
                                   ln_tensor_list_append(NULL, "dst", dst),
                                   ln_param_list_append_int(NULL, "times", 2), table);
}

static void add_tensor(ln_hash *table, const char *name)
{
    tl_tensor *tensor = tl_tensor_create(NULL, 1, (int[]){3}, TL_FLOAT);
    ck_assert_int_eq(ln_tensor_table_insert(table, ln_tensor_entry_create(name, tensor)), 1);
}

START_TEST(operator_has_the_functions_and_names_of_its_prototype)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op *op = new_twice("a", "x", "y", table);
    ck_assert_str_eq(op->op_arg->name, "a");
    ck_assert_str_eq(op->op_arg->optype, "twice_cpu");
    ck_assert_str_eq(op->op_arg->arch, "cpu");
    ck_assert(op->pre_run == twice_pre_run && op->run == twice_run && !op->static_run);
    ck_assert_ptr_eq(op->op_arg->in_arg_names, twice_ins);
    ck_assert_ptr_eq(op->op_arg->tensor_table, table);
    ck_assert(ln_op_is_valid(op));
    ck_assert_str_eq(ln_op_find_tensor_list_entry(op, "src")->name, "x");
    ck_assert_str_eq(ln_op_find_tensor_list_entry(op, "dst")->name, "y");
    ck_assert_ptr_null(ln_op_find_tensor_list_entry(op, "other"));
    ck_assert_ptr_null(ln_op_find_tensor_entry(op, "dst"));
    ln_op_free_lists_too(op);
    ln_op_free_lists_too(NULL);
    ln_op_free(NULL);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(an_operator_is_read_by_type_role_and_parameter)
{
    ln_hash *table = ln_tensor_table_create();
    add_tensor(table, "x");
    ln_op *op = new_twice("a", "x", "y", table);
    ln_list **const params = &op->op_arg->params;
    *params = ln_param_list_append_number(*params, "axis", -1);
    *params = ln_param_list_append_bool(*params, "keeps", LN_TRUE);
    ck_assert(ln_op_is(op, "twice_cpu") && !ln_op_is(op, "twice") && !ln_op_is(NULL, "twice"));
    ck_assert(ln_op_is_form_of(op, "twice") && !ln_op_is_form_of(op, "twic"));
    ck_assert_str_eq(ln_op_input(op, "src")->name, "x");
    ck_assert_ptr_null(ln_op_input(op, "dst"));
    ck_assert_ptr_null(ln_op_output(op, "dst")); // not defined yet
    ck_assert_str_eq(ln_op_output_name(op, "dst"), "y");
    ck_assert_ptr_null(ln_op_input_name(NULL, "src"));
    ck_assert_int_eq(ln_op_axis(op, 4), 3);
    ck_assert(ln_op_bool(op, "keeps") && !ln_op_bool(op, "axis") && !ln_op_bool(op, "other"));
    ck_assert_int_eq(ln_op_param(op, "axis")->type, LN_PARAM_NUMBER);
    ck_assert_ptr_null(ln_op_param(NULL, "axis"));
    ln_op_free_lists_too(op);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(kinds_have_names_and_unknown_ones_are_other)
{
    const ln_op_info info = {.kind = LN_KIND_QUANTIZATION};
    ln_op_arg arg = {.info = &info};
    const ln_op op = {.op_arg = &arg};
    for (int kind = 0; kind < LN_N_KINDS; kind++)
        ck_assert_ptr_nonnull(ln_kind_name((ln_kind)kind));
    ck_assert_str_eq(ln_kind_name(ln_op_kind(&op)), "quantization");
    ck_assert_str_eq(ln_kind_name(LN_N_KINDS), "other");
    ck_assert_int_eq(ln_op_kind(&twice), LN_KIND_OTHER);
    ck_assert_int_eq(ln_op_kind(NULL), LN_KIND_OTHER);
}
END_TEST

START_TEST(pre_run_defines_the_outputs_and_post_run_undefines_them)
{
    ln_hash *table = ln_tensor_table_create();
    add_tensor(table, "x");
    ln_op *op = new_twice("a", "x", "y", table);
    ln_list *ops = ln_list_append(NULL, op);
    ck_assert_int_eq(ln_op_list_do_pre_run(ops), 0);
    const ln_tensor_entry *dst = ln_op_find_tensor_entry(op, "dst");
    ck_assert_str_eq(dst->creater, "a");
    ck_assert_int_eq(dst->mtype, LN_MEM_CPU);
    ck_assert_int_eq(dst->tensor->ndim, 2);
    ck_assert_int_eq(dst->tensor->dims[0], 2);
    ck_assert_int_eq(dst->tensor->dims[1], 3);
    ck_assert_int_eq(dst->tensor->dtype, TL_FLOAT);
    ck_assert_ptr_null(dst->tensor->data);
    ck_assert_int_eq(ln_op_list_do_static_run(ops), 0);
    ck_assert_int_eq(ln_op_list_do_post_run(ops), 0);
    ck_assert_ptr_null(ln_tensor_table_find(table, "y"));
    ck_assert_ptr_nonnull(ln_tensor_table_find(table, "x"));
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(failed_pre_run_leaves_the_tensors_of_others)
{
    ln_hash *table = ln_tensor_table_create();
    add_tensor(table, "x");
    ln_list *ops = ln_list_append(NULL, new_twice("a", "x", "y", table));
    ops = ln_list_append(ops, new_twice("b", "x", "y", table));
    ops = ln_list_append(ops, new_twice("c", "x", "z", table));
    ck_assert_int_eq(ln_op_list_do_pre_run(ops), -1);
    ck_assert_str_eq(ln_last_error(),
                     "operator 'b' (twice_cpu): 'dst' is tensor 'y', which operator "
                     "'a' defines already");
    ck_assert_ptr_null(ln_tensor_table_find(table, "z"));
    ln_op_undefine_outputs(((ln_op *)ln_list_nth_data(ops, 1))->op_arg);
    ck_assert_ptr_nonnull(ln_tensor_table_find(table, "y"));
    ck_assert_int_eq(ln_op_list_do_post_run(ops), 0);
    ck_assert_ptr_null(ln_tensor_table_find(table, "y"));
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(run_stops_at_the_first_operator_that_fails)
{
    ln_hash *table = ln_tensor_table_create();
    ln_list *ops = ln_list_append(NULL, new_twice("good", "x", "y", table));
    ops = ln_list_append(ops, new_twice("bad", "x", "y", table));
    ops = ln_list_append(ops, new_twice("late", "x", "y", table));
    runs = 0;
    ck_assert_int_eq(ln_op_list_do_run(ops), -1);
    ck_assert_int_eq(runs, 2);
    ck_assert_str_eq(ln_last_error(), "operator 'bad' (twice_cpu): division by zero");
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(failure_goes_to_the_context_and_the_first_reason_wins)
{
    ln_error error = {0};
    ln_context ctx = {.error = &error};
    char name[] = "a";
    ln_op_arg op_arg = {.name = name, .optype = twice_type, .ctx = &ctx};
    ck_assert_int_eq(ln_op_fail(&op_arg, "value %d", 3), -1);
    ck_assert_int_eq(ln_op_fail(&op_arg, "other"), -1);
    ck_assert_int_eq(op_arg.failed, 1);
    ck_assert_str_eq(ln_error_text(&error), "operator 'a' (twice_cpu): value 3");
}
END_TEST

START_TEST(last_errors_become_the_reason)
{
    char name[] = "a";
    ln_op_arg op_arg = {.name = name, .optype = twice_type};
    ln_error_set(NULL, "no such file");
    ck_assert_int_eq(ln_op_fail_last(&op_arg), -1);
    ck_assert_str_eq(ln_last_error(), "operator 'a' (twice_cpu): no such file");
    tl_fail("no such axis");
    ck_assert_int_eq(ln_op_fail_tl(&op_arg), -1);
    ck_assert_str_eq(ln_last_error(), "operator 'a' (twice_cpu): no such axis");
}
END_TEST

START_TEST(exec_has_what_the_context_offers)
{
    char memory[256];
    ln_context ctx = {.pool = (tl_pool *)memory, .isa = TL_ISA_C};
    ln_op_arg op_arg = {.scratch_size = 100, .scratch_offset = 64};
    tl_exec exec = ln_op_exec(&op_arg);
    ck_assert(!exec.pool && !exec.scratch && exec.isa == tl_isa_best());
    op_arg.ctx = &ctx;
    exec = ln_op_exec(&op_arg);
    ck_assert(exec.pool == ctx.pool && !exec.scratch && exec.isa == TL_ISA_C);
    ctx.mem_starts[LN_MEM_CPU] = memory;
    exec = ln_op_exec(&op_arg);
    ck_assert_ptr_eq(exec.scratch, memory + 64);
    ck_assert_uint_eq(exec.scratch_size, 100);
    op_arg.scratch_size = 0;
    ck_assert_ptr_null(ln_op_exec(&op_arg).scratch);
}
END_TEST

START_TEST(impossible_outputs_are_errors)
{
    static const struct {
        const char *arg_name;
        int ndim;
        int dims[9];
        int dtype;
        const char *message;
    } rows[] = {
        {"top", 1, {1}, TL_FLOAT, "output 'top' is missing"},
        {"dst",
         3,
         {1, -1, 3},
         TL_FLOAT,
         "'dst' would have shape [1, -1, 3], expected every dimension >= 0"},
        {"dst", 1, {-5}, TL_FLOAT, "'dst' would have shape [-5], expected every dimension >= 0"},
        {"dst",
         9,
         {1, 1, 1, 1, 1, 1, 1, 1, 1},
         TL_FLOAT,
         "'dst' would have 9 dimensions, expected at most 8"},
        {"dst", -1, {1}, TL_FLOAT, "'dst' would have -1 dimensions, expected at most 8"},
        {"dst",
         2,
         {65536, 32768},
         TL_FLOAT,
         "'dst' would have shape [65536, 32768], expected at most 2147483647 elements"},
        {"dst",
         8,
         {INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX},
         TL_INT8,
         "'dst' would have shape [2147483647, 2147483647, 2147483647, 2147483647, 2147483647, "
         "2147483647, 2147483647, 2147483647], expected at most 2147483647 elements"},
        {"dst",
         1,
         {1},
         TL_DTYPE_INVALID,
         "'dst' would have dtype -1 and memory type 1, expected valid ones"},
    };
    ln_hash *table = ln_tensor_table_create();
    ln_op *op = new_twice("a", "x", "y", table);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char expect[LN_MAXLINE];
        snprintf(expect, sizeof expect, "operator 'a' (twice_cpu): %s", rows[i].message);
        ck_assert_ptr_null(ln_op_define_output(op->op_arg, rows[i].arg_name, rows[i].ndim,
                                               rows[i].dims, (tl_dtype)rows[i].dtype, LN_MEM_CPU));
        ck_assert_str_eq(ln_last_error(), expect);
    }
    ck_assert_int_eq(ln_hash_size(table), 0);
    ln_op_free_lists_too(op);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(largest_tensor_and_scalar_are_possible_outputs)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op *op = new_twice("a", "x", "y", table);
    const ln_tensor_entry *te =
        ln_op_define_output(op->op_arg, "dst", 1, (int[]){INT_MAX}, TL_DOUBLE, LN_MEM_NONE);
    ck_assert_int_eq(te->tensor->len, INT_MAX);
    ln_op_undefine_outputs(op->op_arg);
    te = ln_op_define_output(op->op_arg, "dst", 0, NULL, TL_DOUBLE, LN_MEM_CPU);
    ck_assert_int_eq(te->tensor->len, 1);
    ln_op_free_lists_too(op);
    ln_tensor_table_free(table);
}
END_TEST

// "src": required, "bias": optional, "part": variadic; "axis" has a default.
static const ln_arg_info mixed_ins[] = {{.arg_name = "src"},
                                        {.arg_name = "bias", .optional = 1},
                                        {.arg_name = "part", .variadic = 1, .islast = 1}};
static const ln_arg_info mixed_outs[] = {{.arg_name = "dst", .islast = 1}};
static const ln_arg_info mixed_params[] = {{.arg_name = "axis", .has_default = 1},
                                           {.arg_name = "mode", .islast = 1}};
static const ln_op_info mixed_info = {
    .tensors_in = mixed_ins, .tensors_out = mixed_outs, .params = mixed_params};

START_TEST(arguments_are_exactly_the_declared_ones)
{
    static const struct {
        const ln_op_info *info; // NULL: the names of "twice"
        const char *ins[5], *outs[3], *params[3];
        const char *message; // NULL: fine
    } rows[] = {
        {NULL, {"src"}, {"dst"}, {"times"}, NULL},
        {NULL, {NULL}, {"dst"}, {"times"}, "input 'src' is missing"},
        {NULL, {"src"}, {NULL}, {"times"}, "output 'dst' is missing"},
        {NULL, {"src"}, {"dst"}, {NULL}, "parameter 'times' is missing"},
        {NULL, {"src", "x"}, {"dst"}, {"times"}, "unknown input 'x', expected 'src'"},
        {NULL, {"src"}, {"dst", "y"}, {"times"}, "unknown output 'y', expected 'dst'"},
        {NULL, {"src"}, {"dst"}, {"z", "times"}, "unknown parameter 'z', expected 'times'"},
        {NULL, {"src", "src"}, {"dst"}, {"times"}, "input 'src' occurs 2 times, expected once"},
        {&mixed_info, {"src", "part0"}, {"dst"}, {"mode"}, NULL},
        {&mixed_info, {"part1", "src", "bias", "part0"}, {"dst"}, {"mode", "axis"}, NULL},
        {&mixed_info, {"src"}, {"dst"}, {"mode"}, "input 'part0' is missing"},
        {&mixed_info, {"src", "part1", "part7"}, {"dst"}, {"mode"}, NULL},
        {&mixed_info, {"src", "part0", "part0"}, {"dst"}, {"mode"}, "duplicate input 'part0'"},
        {&mixed_info,
         {"src", "part0", "part"},
         {"dst"},
         {"mode"},
         "unknown input 'part', expected 'src', 'bias', 'part0', .."},
        {&mixed_info, {"src", "part0"}, {"dst"}, {"axis"}, "parameter 'mode' is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ln_op_arg op_arg = twice_arg;
        char name[] = "a", expect[LN_MAXLINE];
        op_arg.name = name;
        op_arg.info = rows[i].info;
        for (int j = 0; j < 5 && rows[i].ins[j]; j++)
            op_arg.tensors_in = ln_tensor_list_append(op_arg.tensors_in, rows[i].ins[j], "t");
        for (int j = 0; j < 3 && rows[i].outs[j]; j++)
            op_arg.tensors_out = ln_tensor_list_append(op_arg.tensors_out, rows[i].outs[j], "t");
        for (int j = 0; j < 3 && rows[i].params[j]; j++)
            op_arg.params = ln_param_list_append_int(op_arg.params, rows[i].params[j], 1);
        ck_assert_int_eq(ln_op_check_args(&op_arg), rows[i].message ? -1 : 0);
        if (rows[i].message) {
            snprintf(expect, sizeof expect, "operator 'a' (twice_cpu): %s", rows[i].message);
            ck_assert_str_eq(ln_last_error(), expect);
        }
        ln_tensor_list_free(op_arg.tensors_in);
        ln_tensor_list_free(op_arg.tensors_out);
        ln_param_list_free(op_arg.params);
    }
}
END_TEST

START_TEST(operator_with_names_has_empty_inputs_and_unique_outputs)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op *first = ln_op_create_with_names(&twice, NULL, table);
    ck_assert_str_eq(first->op_arg->name, "twice_cpu0");
    ck_assert_str_eq(ln_op_find_tensor_list_entry(first, "src")->name, "");
    ck_assert_str_eq(ln_op_find_tensor_list_entry(first, "dst")->name, "twice_cpu0_dst");
    ck_assert_int_eq(ln_param_list_find(first->op_arg->params, "times")->type, LN_PARAM_NUMBER);
    ck_assert(ln_op_is_valid(first));
    // The next has number 1; its output's name is taken in the table, and the one after in `ops`.
    add_tensor(table, "twice_cpu1_dst");
    ln_tensor_list_entry_set_name(first->op_arg->tensors_out->data, "twice_cpu1_dst1");
    ln_list *ops = ln_list_append(NULL, first);
    ln_op *second = ln_op_create_with_names(&twice, ops, table);
    ck_assert_str_eq(second->op_arg->name, "twice_cpu1");
    ck_assert_str_eq(ln_op_find_tensor_list_entry(second, "dst")->name, "twice_cpu1_dst2");
    ln_op_free_lists_too(second);
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}
END_TEST

// The description of inputs `src` (required), `bias` (optional) and `part` (variadic), and of
// outputs `dst` (variadic) and `mask` (optional).
static const char *mixed_in_names[] = {"src", "bias", "part", NULL};
static const char *mixed_out_names[] = {"dst", "mask", NULL};
static const ln_arg_info variadic_outs[] = {{.arg_name = "dst", .variadic = 1},
                                            {.arg_name = "mask", .optional = 1, .islast = 1}};
static const ln_op_info variadic_info = {
    .tensors_in = mixed_ins, .tensors_out = variadic_outs, .params = mixed_params};

START_TEST(operator_with_names_has_one_of_each_variadic_and_no_optional_argument)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op_arg op_arg = twice_arg;
    op_arg.in_arg_names = mixed_in_names;
    op_arg.out_arg_names = mixed_out_names;
    op_arg.info = &variadic_info;
    const ln_op proto = {.op_arg = &op_arg};
    ln_op *op = ln_op_create_with_names(&proto, NULL, table);
    ck_assert_int_eq(ln_tensor_list_length(op->op_arg->tensors_in), 2);
    ck_assert_str_eq(ln_tensor_list_find_name(op->op_arg->tensors_in, "src"), "");
    ck_assert_str_eq(ln_tensor_list_find_name(op->op_arg->tensors_in, "part0"), "");
    ck_assert_int_eq(ln_tensor_list_length(op->op_arg->tensors_out), 1);
    ck_assert_str_eq(ln_tensor_list_find_name(op->op_arg->tensors_out, "dst0"), "twice_cpu0_dst0");
    // The name that the output would have is avoided.
    add_tensor(table, "twice_cpu0_dst0");
    ln_op *next = ln_op_create_with_opname(&proto, table);
    ck_assert_str_eq(next->op_arg->name, "twice_cpu1");
    ln_op_free(next);
    ln_op_free_lists_too(op);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(operator_with_opname_avoids_the_names_in_the_table)
{
    ln_hash *table = ln_tensor_table_create();
    add_tensor(table, "twice_cpu0_dst");
    add_tensor(table, "twice_cpu1");
    ln_op *op = ln_op_create_with_opname(&twice, table);
    ck_assert_str_eq(op->op_arg->name, "twice_cpu2");
    ck_assert(!op->op_arg->tensors_in && !op->op_arg->tensors_out && !op->op_arg->params);
    ln_op_free(op);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(copy_has_own_lists_and_is_in_the_init_state)
{
    ln_hash *table = ln_tensor_table_create();
    ln_context ctx = {0};
    ln_op *op = new_twice("a", "x", "y", table);
    op->op_arg->priv = op;
    op->op_arg->scratch_size = 10;
    op->op_arg->ctx = &ctx;
    ln_op *copy = ln_op_copy(op);
    ln_op_free_lists_too(op);
    ck_assert_str_eq(copy->op_arg->name, "a");
    ck_assert_str_eq(ln_op_find_tensor_list_entry(copy, "dst")->name, "y");
    ck_assert_int_eq(ln_param_list_find(copy->op_arg->params, "times")->value_int, 2);
    ck_assert(!copy->op_arg->priv && !copy->op_arg->scratch_size && copy->op_arg->ctx == &ctx);
    ln_op_free_lists_too(copy);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(copy_to_optype_changes_the_functions)
{
    char optype[] = "thrice_cpu";
    ln_op_arg thrice_arg = twice_arg;
    thrice_arg.optype = optype;
    ln_op thrice = {.op_arg = &thrice_arg, .run = twice_run};
    ln_hash *table = ln_tensor_table_create();
    ln_hash *protos = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ln_hash_insert(protos, optype, &thrice);
    ln_op *op = new_twice("a", "x", "y", table);
    ln_op *copy = ln_op_copy_to_optype(protos, op, "thrice_cpu");
    ck_assert_str_eq(copy->op_arg->optype, "thrice_cpu");
    ck_assert_str_eq(copy->op_arg->name, "a");
    ck_assert(!copy->pre_run && copy->run == twice_run);
    ck_assert_ptr_null(ln_op_copy_to_optype(protos, op, "none"));
    ck_assert_str_eq(ln_last_error(),
                     "unknown operator type 'none' to turn operator 'a' (twice_cpu) into");
    ln_op_free_lists_too(op);
    ln_op_free_lists_too(copy);
    ln_hash_free(protos);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(operators_are_found_in_lists_and_arrays)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op *a = new_twice("a", "x", "y", table), *b = new_twice("b7", "x", "z", table);
    ln_op *array[] = {a, b, NULL}, *none[] = {NULL};
    ln_list *ops = ln_op_list_create_from_array(array);
    ck_assert_ptr_eq(ops->data, a);
    ck_assert_ptr_eq(ops->next->data, b);
    ck_assert_ptr_eq(ln_op_list_find_by_optype(ops, "twice_cpu"), a);
    ck_assert_ptr_eq(ln_op_array_find_by_optype(array, "twice_cpu"), a);
    ck_assert_ptr_eq(ln_op_list_find_by_name(ops, "b7"), b);
    ck_assert_ptr_null(ln_op_list_find_by_name(ops, "c"));
    ck_assert_ptr_null(ln_op_list_find_by_optype(ops, "c"));
    ck_assert_ptr_null(ln_op_array_find_by_optype(none, "twice_cpu"));
    ck_assert_ptr_null(ln_op_list_create_from_array(none));
    char name[LN_MAX_NAME_LEN];
    ck_assert_int_eq(ln_op_list_unique_name(ops, name, "b"), 8);
    ck_assert_str_eq(name, "b8");
    ln_op_list_free_lists_too(ops);
    ln_tensor_table_free(table);
}
END_TEST

// As those of an architecture, which no list owns.
START_TEST(freeing_a_list_leaves_its_operators)
{
    static ln_op_arg op_arg = {.name = "a", .optype = "twice_cpu"};
    static ln_op fixed = {.op_arg = &op_arg};
    ln_op *array[] = {&fixed, NULL};
    ln_op_list_free(ln_op_list_create_from_array(array));
    ln_op_list_free(NULL);
    ck_assert_str_eq(fixed.op_arg->name, "a");
}
END_TEST

START_TEST(table_owns_its_operators)
{
    ln_hash *table = ln_op_table_create(), *tensors = ln_tensor_table_create();
    ln_op *second = new_twice("a", "x", "z", tensors);
    ck_assert_int_eq(ln_op_table_insert(table, new_twice("a", "x", "y", tensors)), 1);
    ck_assert_int_eq(ln_op_table_insert(table, second), 0);
    ck_assert_int_eq(ln_op_table_insert(table, new_twice("b", "x", "y", tensors)), 1);
    ck_assert_ptr_eq(ln_op_table_find(table, "a"), second);
    ck_assert_ptr_null(ln_op_table_find(table, NULL));
    ck_assert_int_eq(ln_op_table_remove(table, second->op_arg->name), 1);
    ck_assert_int_eq(ln_op_table_remove(table, "a"), 0);
    ln_op_table_free(table);
    ln_op_table_free(NULL);
    ln_tensor_table_free(tensors);
}
END_TEST

START_TEST(parameters_are_set_through_the_table)
{
    ln_hash *table = ln_op_table_create(), *tensors = ln_tensor_table_create();
    ln_op *op = new_twice("a", "x", "y", tensors);
    ln_op_table_insert(table, op);
    ck_assert_int_eq(ln_op_table_set_param(table, "a", "times", 7.0), 0);
    ck_assert_int_eq(ln_param_list_find(op->op_arg->params, "times")->value_int, 7);
    ck_assert_int_eq(ln_op_table_set_param(table, "b", "times", 7.0), -1);
    ck_assert_str_eq(ln_last_error(), "unknown operator 'b'");
    ck_assert_int_eq(ln_op_table_set_param(table, "a", "axis", 7.0), -1);
    ck_assert_str_eq(ln_last_error(), "operator 'a' (twice_cpu) has no parameter 'axis'");
    ln_op_table_free(table);
    ln_tensor_table_free(tensors);
}
END_TEST

START_TEST(double_arguments_are_not_valid)
{
    ln_hash *table = ln_tensor_table_create();
    ln_op *op = new_twice("a", "x", "y", table);
    op->op_arg->tensors_in = ln_tensor_list_append(op->op_arg->tensors_in, "src", "z");
    ck_assert(!ln_op_is_valid(op));
    ln_op_free_lists_too(op);
    op = new_twice("a", "x", "y", NULL);
    ck_assert(!ln_op_is_valid(op));
    ln_op_free_lists_too(op);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(inputs_are_given_back_only_where_they_are_parts_of_an_output)
{
    ln_hash *table = ln_tensor_table_create();
    add_tensor(table, "x");
    add_tensor(table, "y");
    add_tensor(table, "other");
    ln_tensor_entry *x = ln_tensor_table_find(table, "x");
    ln_op *op = new_twice("a", "x", "y", table);
    ln_tensor_list_free(op->op_arg->tensors_in);
    op->op_arg->tensors_in = ln_tensor_list_append(NULL, "src0", "x");
    ck_assert_int_eq(ln_op_take_inputs(op->op_arg, &x, 1, "y"), 1);
    ck_assert_str_eq(x->owner, "y");
    ln_op_give_inputs_back(op->op_arg, "src", 1);
    ck_assert_ptr_null(x->owner);
    ck_assert_int_eq(ln_tensor_entry_set_owner(x, table, "other"), 0); // as a producer does it anew
    ln_op_give_inputs_back(op->op_arg, "src", 1);
    ck_assert_str_eq(x->owner, "other");
    ln_op_free_lists_too(op);
    ln_tensor_table_free(table);
}
END_TEST

// Makes an operator, copies it, and runs its pre_run.
static int use_op(ln_hash *table)
{
    ln_op *op = ln_op_create_with_names(&twice, NULL, table);
    ln_op *copy = op ? ln_op_copy(op) : NULL;
    int rc = copy ? 0 : -1;
    if (copy) {
        rc = ln_tensor_list_entry_set_name(copy->op_arg->tensors_in->data, "x");
        ln_param_set_satu_number(copy->op_arg->params->data, 2);
        if (rc == 0)
            rc = ln_op_call(copy, copy->pre_run);
        ln_op_undefine_outputs(copy->op_arg);
    }
    ck_assert_int_eq(ln_hash_size(table), 1);
    ln_op_free_lists_too(op);
    ln_op_free_lists_too(copy);
    return rc;
}

START_TEST(every_failing_allocation_is_survived)
{
    ln_hash *table = ln_tensor_table_create();
    add_tensor(table, "x");
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        ln_alloc_fail_after(n);
        const int rc = use_op(table);
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(rc, failed ? -1 : 0);
    }
    ln_tensor_table_free(table);
}
END_TEST

LN_TEST_MAIN(
    "operators", operator_has_the_functions_and_names_of_its_prototype,
    an_operator_is_read_by_type_role_and_parameter, kinds_have_names_and_unknown_ones_are_other,
    pre_run_defines_the_outputs_and_post_run_undefines_them,
    failed_pre_run_leaves_the_tensors_of_others, run_stops_at_the_first_operator_that_fails,
    failure_goes_to_the_context_and_the_first_reason_wins, last_errors_become_the_reason,
    exec_has_what_the_context_offers, impossible_outputs_are_errors,
    largest_tensor_and_scalar_are_possible_outputs, arguments_are_exactly_the_declared_ones,
    operator_with_names_has_empty_inputs_and_unique_outputs,
    operator_with_names_has_one_of_each_variadic_and_no_optional_argument,
    operator_with_opname_avoids_the_names_in_the_table, copy_has_own_lists_and_is_in_the_init_state,
    copy_to_optype_changes_the_functions, operators_are_found_in_lists_and_arrays,
    freeing_a_list_leaves_its_operators, table_owns_its_operators,
    parameters_are_set_through_the_table, double_arguments_are_not_valid,
    inputs_are_given_back_only_where_they_are_parts_of_an_output,
    every_failing_allocation_is_survived)
