// SPDX-License-Identifier: Apache-2.0
// Tests of generated operators: those of lightnet/gen/test/good.op, which use every field of a
// description.

#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_op.h"
#include "ln_check.h"
#include "tensorlight/tensorlight.h"

extern ln_op ln_opimpl_blur, ln_opimpl_split_cpu, ln_opimpl_stack_cpu, ln_opimpl_rows_cpu,
    ln_opimpl_count, ln_opimpl_count_cpu, ln_opimpl_count_far, ln_opimpl_count_slowly_cpu;

static ln_hash *table;

// Defines tensor `name` in the table, with zeroed data.
static ln_tensor_entry *define(const char *name, tl_dtype dtype, int ndim, const int *dims,
                               ln_mem_type mtype)
{
    ln_tensor_entry *entry = ln_tensor_entry_create(name, tl_tensor_zeros(ndim, dims, dtype));
    entry->mtype = mtype;
    ck_assert_int_eq(ln_tensor_table_insert(table, entry), 1);
    return entry;
}

// A list of tensors from "arg_name=name arg_name=name".
static ln_list *tensors(const char *text)
{
    char copy[256];
    ln_list *list = NULL;
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *name = strchr(word, '=');
        *name = '\0';
        list = ln_tensor_list_append(list, word, name + 1);
    }
    return list;
}

// Makes an operator and runs its pre_run. Takes `params`.
static ln_op *prepare(const ln_op *proto, const char *in, const char *out, ln_list *params)
{
    ln_op *op = ln_op_create_from_proto(proto, "a", tensors(in), tensors(out), params, table);
    ck_assert_ptr_nonnull(op);
    op->pre_run(op->op_arg);
    return op;
}

// Runs post_run, which leaves nothing behind, and frees the operator.
static void finish(ln_op *op)
{
    op->post_run(op->op_arg);
    ck_assert_ptr_null(op->op_arg->priv);
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH (tle, op->op_arg->tensors_out)
        ck_assert_ptr_null(ln_tensor_table_find(table, tle->name));
    ln_op_free_lists_too(op);
}

static void assert_fails(ln_op *op, const char *reason)
{
    ck_assert_msg(op->op_arg->failed, "accepted, expected: %s", reason);
    ck_assert_msg(strstr(ln_last_error(), reason) != NULL, "'%s', expected '%s'", ln_last_error(),
                  reason);
    finish(op);
}

static void set_up(void)
{
    table = ln_tensor_table_create();
    const int dims[] = {2, 3};
    define("m", TL_FLOAT, 2, dims, LN_MEM_CPU)->isstatic = 1;
    define("n", TL_FLOAT, 2, dims, LN_MEM_CPU);
    define("row", TL_FLOAT, 1, dims, LN_MEM_CPU);
    define("ints", TL_INT32, 2, dims, LN_MEM_CPU);
    define("bools", TL_BOOL, 2, dims, LN_MEM_CPU);
    define("nowhere", TL_FLOAT, 2, dims, LN_MEM_NONE);
}

static void tear_down(void)
{
    static const char *const names[] = {"m", "n", "row", "ints", "bools", "nowhere"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        free(ln_tensor_table_find(table, names[i])->tensor->data);
    ln_tensor_table_free(table);
}

START_TEST(missing_parameters_get_their_defaults)
{
    set_up();
    ln_op *op = prepare(&ln_opimpl_blur, "src=m", "dst=d", NULL);
    ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
    ck_assert_int_eq(ln_param_list_length(op->op_arg->params), 10);
    ck_assert_int_eq(ln_op_int(op, "width"), 3);
    ck_assert_str_eq(ln_op_param(op, "edge")->value_string, "mirror");
    ck_assert_double_eq(ln_op_param(op, "weights")->value_array_double[1], 0.5);
    ck_assert_str_eq(ln_op_param(op, "labels")->value_array_string[1], "b");

    const ln_tensor_entry *dst = ln_tensor_table_find(table, "d");
    ck_assert_int_eq(dst->mtype, LN_MEM_NONE);
    ck_assert_int_eq(dst->tensor->len, 6);
    finish(op);
    tear_down();
}
END_TEST

static ln_list *axis_one(void)
{
    return ln_param_list_append_number(NULL, "axis", 1);
}

START_TEST(targets_share_the_checks_of_their_operator)
{
    static const struct {
        const ln_op *op;
        const char *optype, *arch, *src;
        ln_mem_type mtype;
    } rows[] = {
        {&ln_opimpl_count, "count", "none", "nowhere", LN_MEM_NONE},
        {&ln_opimpl_count, "count", "none", "m", LN_MEM_NONE},
        {&ln_opimpl_count_cpu, "count_cpu", "cpu", "m", LN_MEM_CPU},
        {&ln_opimpl_count_slowly_cpu, "count_slowly_cpu", "cpu", "m", LN_MEM_CPU},
    };
    set_up();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char in[32];
        snprintf(in, sizeof(in), "src=%s", rows[i].src);
        ck_assert_str_eq(rows[i].op->op_arg->optype, rows[i].optype);
        ck_assert_str_eq(rows[i].op->op_arg->arch, rows[i].arch);
        ln_op *op = prepare(rows[i].op, in, "dst=d", axis_one());
        ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
        ck_assert_int_eq(ln_tensor_table_find(table, "d")->mtype, rows[i].mtype);
        finish(op);
    }
    ck_assert_ptr_eq(ln_opimpl_count.op_arg->info, ln_opimpl_count_far.op_arg->info);
    ck_assert_ptr_eq(ln_opimpl_count.pre_run, ln_opimpl_count_cpu.pre_run);
    assert_fails(prepare(&ln_opimpl_count_cpu, "src=nowhere", "dst=d", axis_one()),
                 "memory type LN_MEM_NONE, expected LN_MEM_CPU");
    assert_fails(prepare(&ln_opimpl_count_far, "src=ints", "dst=d", axis_one()),
                 "'src' has type TL_INT32, expected a floating-point type");
    assert_fails(prepare(&ln_opimpl_count_cpu, "src=m", "dst=d",
                         ln_param_list_append_number(NULL, "axis", -1)),
                 "parameter 'axis' is -1, expected >= 0");
    tear_down();
}
END_TEST

START_TEST(targets_add_to_the_checks_of_their_operator)
{
    set_up();
    ln_op *op = prepare(&ln_opimpl_count_far, "src=m", "dst=d", axis_one());
    ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
    ck_assert_uint_eq(op->op_arg->scratch_size, 24); // one axis, six floats
    ck_assert_double_eq(op->op_arg->macs, 2);
    ck_assert_ptr_null(ln_opimpl_count_cpu.static_run);
    ck_assert_ptr_nonnull(ln_opimpl_count_far.static_run);
    finish(op);
    tear_down();
}
END_TEST

START_TEST(empty_parameters_get_their_defaults)
{
    static const struct {
        const char *name;
        ln_param_type ptype;
    } empty[] = {
        {"edge", LN_PARAM_STRING},          {"dtype", LN_PARAM_STRING},
        {"weights", LN_PARAM_ARRAY_NUMBER}, {"flags", LN_PARAM_ARRAY_BOOL},
        {"labels", LN_PARAM_ARRAY_STRING},
    };
    set_up();
    ln_list *params = NULL;
    for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++)
        params = ln_param_list_append_empty(params, empty[i].name, empty[i].ptype);
    ln_op *op = prepare(&ln_opimpl_blur, "src=m", "dst=d", params);
    ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
    params = op->op_arg->params;
    ck_assert_int_eq(ln_param_list_length(params), 10);
    ck_assert_str_eq(ln_param_list_find(params, "edge")->value_string, "mirror");
    ck_assert_str_eq(ln_param_list_find(params, "dtype")->value_string, "TL_FLOAT");
    ck_assert_double_eq(ln_param_list_find(params, "weights")->value_array_double[1], 0.5);
    ck_assert_int_eq(ln_param_list_find(params, "flags")->array_len, 2);
    ck_assert_str_eq(ln_param_list_find(params, "labels")->value_array_string[1], "b");
    finish(op);

    assert_fails(prepare(&ln_opimpl_blur, "src=m", "dst=d",
                         ln_param_list_append_empty(NULL, "weights", LN_PARAM_ARRAY_BOOL)),
                 "parameter 'weights'"); // of another type
    assert_fails(
        prepare(&ln_opimpl_blur, "src=m", "dst=d", ln_param_list_append_string(NULL, "dtype", "")),
        "parameter 'dtype' is \"\", expected one of"); // given, though empty
    tear_down();
}
END_TEST

START_TEST(checks_name_what_is_wrong)
{
    static const struct {
        const char *in;
        const char *param;
        double value;
        const char *text; // of a string parameter instead
        const char *reason;
    } cases[] = {
        {"src=m", "width", 0, NULL, "parameter 'width'"},
        {"src=m", "width", 2, NULL, "parameter 'width'"},
        {"src=m", "width", 4, NULL, "parameter 'width'"},
        {"src=m", "width", 1.5, NULL, "parameter 'width'"},
        {"src=m", "width", 1, NULL, "parameter 'weights'"}, // has three by default
        {"src=m", "shift", 0.5, NULL, "parameter 'shift'"},
        {"src=m", "shift", 1e10, NULL, "parameter 'shift'"},
        {"src=m", "sigma", 0, NULL, "parameter 'sigma'"},
        {"src=m", "sigma", 1e7, NULL, "sigma is 1e+07"},
        {"src=m", "edge", 1, NULL, "parameter 'edge'"},
        {"src=m", "dtype", 0, "TL_FLOT",
         "parameter 'dtype' is \"TL_FLOT\", expected one of TL_DOUBLE, TL_FLOAT, TL_INT32, "},
        {"src=m", "dtype", 0, "TL_BOOL", "expected dtype != TL_BOOL"},
        {"src=m", "dtype", 0, "TL_INT8", "expected dtypes[0] == dtype"},
        {"src=m", "colour", 0, "red", "unknown parameter 'colour'"},
        {"src=ints", "width", 3, NULL, "'src' has type TL_INT32, expected a floating-point type"},
        {"src=row", "width", 3, NULL, "'src' has shape [2], expected 2 dimensions"},
        {"src=m bias=n", "width", 3, NULL, "'bias' has shape [2, 3]"},
        {"src=m bias=row", "width", 3, NULL, NULL},
        {"src=m bias=nothing", "width", 3, NULL, "'nothing'"},
        {"source=m", "width", 3, NULL, "'src' is missing"},
    };
    set_up();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ln_list *params = cases[i].text
                              ? ln_param_list_append_string(NULL, cases[i].param, cases[i].text)
                              : ln_param_list_append_number(NULL, cases[i].param, cases[i].value);
        ln_op *op = prepare(&ln_opimpl_blur, cases[i].in, "dst=d", params);
        if (cases[i].reason) {
            assert_fails(op, cases[i].reason);
        } else {
            ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
            finish(op);
        }
    }
    assert_fails(prepare(&ln_opimpl_blur, "src=m", "dst=d",
                         ln_param_list_append_array_string(NULL, "dtypes", 1,
                                                           (const char *const[]){"TL_FLOT"})),
                 "parameter 'dtypes' is \"TL_FLOT\", which is not one of its values");
    tear_down();
}
END_TEST

START_TEST(outputs_share_memory_and_may_be_left_out)
{
    set_up();
    ln_op *op = prepare(&ln_opimpl_split_cpu, "src=m", "upper=u",
                        ln_param_list_append_int(NULL, "rows", 1));
    ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
    ln_tensor_entry *upper = ln_tensor_table_find(table, "u");
    ck_assert_str_eq(upper->owner, "m");
    ck_assert_int_eq(upper->tensor->dims[0], 1);
    ck_assert_int_eq(upper->tensor->dims[1], 3);
    ck_assert_uint_eq(op->op_arg->scratch_size, 24);
    ck_assert_double_eq(op->op_arg->macs, 3);
    ck_assert_str_eq(op->op_arg->algorithm, "one");
    ck_assert_str_eq(op->op_arg->layout, "plain");
    ck_assert_int_eq(op->op_arg->info->inplace_writer, 1);
    ck_assert_int_eq(op->op_arg->info->pure, 0);
    ln_tensor_table_find(table, "m")->offset = 64;
    ck_assert_uint_eq(op->calc_offset(op->op_arg, upper), 64);
    op->static_run(op->op_arg);
    op->run(op->op_arg);
    finish(op);

    op = prepare(&ln_opimpl_split_cpu, "src=m", "upper=u lower=l",
                 ln_param_list_append_int(NULL, "rows", 1));
    ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
    ck_assert_int_eq(ln_tensor_table_find(table, "l")->isstatic, 1);
    finish(op);

    assert_fails(prepare(&ln_opimpl_split_cpu, "src=n", "upper=u",
                         ln_param_list_append_int(NULL, "rows", 1)),
                 "'src' is not static");
    assert_fails(prepare(&ln_opimpl_split_cpu, "src=m", "upper=u",
                         ln_param_list_append_int(NULL, "rows", 2)),
                 "'rows'");
    tear_down();
}
END_TEST

START_TEST(variadic_inputs_come_in_the_order_of_the_list)
{
    set_up();
    ((float *)ln_tensor_table_find(table, "m")->tensor->data)[0] = 1;
    ((float *)ln_tensor_table_find(table, "n")->tensor->data)[0] = 2;
    ln_op *op = prepare(&ln_opimpl_stack_cpu, "src2=n src1=m src7=n", "dst=d", NULL);
    ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
    tl_tensor *dst = ln_tensor_table_find(table, "d")->tensor;
    float data[18];
    ck_assert_int_eq(dst->ndim, 3);
    ck_assert_int_eq(dst->dims[0], 3);
    dst->data = data;
    op->run(op->op_arg);
    ck_assert(!op->op_arg->failed);
    ck_assert_float_eq(data[0], 2);
    ck_assert_float_eq(data[6], 1);
    ck_assert_float_eq(data[12], 2);
    finish(op);

    assert_fails(prepare(&ln_opimpl_stack_cpu, "src1=m src2=ints", "dst=d", NULL),
                 "expected src[i]->dtype == src[0]->dtype");
    assert_fails(prepare(&ln_opimpl_stack_cpu, "src1=m src2=nowhere", "dst=d", NULL),
                 "'src2' has memory type LN_MEM_NONE");
    assert_fails(prepare(&ln_opimpl_stack_cpu, "src1=m srcX=n", "dst=d", NULL), "'srcX'");
    assert_fails(prepare(&ln_opimpl_stack_cpu, "", "dst=d", NULL), "missing");
    tear_down();
}
END_TEST

START_TEST(variadic_outputs_are_all_defined)
{
    set_up();
    ln_op *op = prepare(&ln_opimpl_rows_cpu, "src=m like=n", "dst0=a dst1=b total=t", NULL);
    ck_assert_msg(!op->op_arg->failed, "%s", ln_last_error());
    ck_assert_int_eq(ln_tensor_table_find(table, "b")->tensor->dims[0], 3);
    ck_assert_int_eq(ln_tensor_table_find(table, "t")->tensor->dtype, TL_DOUBLE);
    ck_assert_str_eq(op->op_arg->info->tensors_out[1].inplace[0], "like");
    finish(op);

    assert_fails(prepare(&ln_opimpl_rows_cpu, "src=m like=n", "dst0=a total=t", NULL),
                 "'total' has shape [1, 2]");
    assert_fails(prepare(&ln_opimpl_rows_cpu, "src=m like=row", "dst0=a dst1=b total=t", NULL),
                 "'like' has shape [2]");
    assert_fails(
        prepare(&ln_opimpl_rows_cpu, "src=bools like=bools", "dst0=a dst1=b total=t", NULL),
        "'src' has type TL_BOOL, expected a number type");
    tear_down();
}
END_TEST

LN_TEST_MAIN("generated operators", missing_parameters_get_their_defaults,
             targets_share_the_checks_of_their_operator,
             targets_add_to_the_checks_of_their_operator, empty_parameters_get_their_defaults,
             checks_name_what_is_wrong, outputs_share_memory_and_may_be_left_out,
             variadic_inputs_come_in_the_order_of_the_list, variadic_outputs_are_all_defined)
