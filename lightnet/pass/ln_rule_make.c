// SPDX-License-Identifier: Apache-2.0
// Rules as tables: creates the operators of a replacement from the rule's text.

#include <assert.h>
#include <string.h>

#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"
#include "pass/ln_rule_text.h"

// Tensors

// The name in the context of tensor `name` of the rule; NULL: an absent optional input.
static const char *name_in_context(const ln_rule_match *m, const char *name)
{
    const int i = ln_rule_tensor_index(m, name);
    return m->tensors[i] ? m->tensors[i]->name : m->new_names[i];
}

static void make_input(ln_rule_match *m, const char *arg_name, const char *tensor)
{
    const char *const name = name_in_context(m, tensor);
    if (name)
        ln_rule_input(&m->made, arg_name, name);
}

// The index of a tensor of the replacement, which is added at its first occurrence.
static int find_or_add_tensor(ln_rule_match *m, const char *tensor)
{
    int i = ln_rule_tensor_index(m, tensor);
    if (i < 0) {
        assert(m->n_tensors < LN_MAX_RULE_TENSORS);
        i = m->n_tensors++;
        m->tensor_names[i] = tensor;
        m->tensors[i] = NULL;
        m->new_names[i] = NULL;
    }
    return i;
}

// Creates the tensor, unless the match has it.
static void make_output(ln_rule_match *m, const char *arg_name, const char *tensor)
{
    char buf[LN_MAX_NAME_LEN];
    const int i = find_or_add_tensor(m, tensor);
    const char *p = tensor;
    if (!name_in_context(m, tensor))
        m->new_names[i] = ln_rule_tensor(&m->made, ln_rule_read_word(&p, buf));
    ln_rule_output(&m->made, arg_name, name_in_context(m, tensor));
}

// Operators that are left out

// The output `name`, as in the context, of a new operator; NULL: none.
static ln_tensor_list_entry *find_output(const ln_rule_made *made, const char *name)
{
    LN_FOREACH (const ln_op *, op, made->ops)
        LN_FOREACH (ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
            if (ln_streq(tle->name, name))
                return tle;
    return NULL;
}

// Replaces a left-out operator: `dst` becomes another name of `src` in later operators of the text.
// If the match has `dst`, the new operator that produces `src` writes `dst` instead; without one, a
// forward passes `src` on.
static void alias_tensor(ln_rule_match *m, const char *src, const char *dst)
{
    const int from = ln_rule_tensor_index(m, src), to = find_or_add_tensor(m, dst);
    ln_tensor_list_entry *const output = find_output(&m->made, name_in_context(m, src));
    if (!m->tensors[to]) {
        m->tensors[to] = m->tensors[from];
        m->new_names[to] = m->new_names[from];
    } else if (output && !m->made.failed &&
               ln_tensor_list_entry_set_name(output, m->tensors[to]->name)) {
        ln_fail_last(m->ctx);
        m->made.failed = 1;
    } else if (!output) {
        ln_rule_op(&m->made, LN_OP_FORWARD);
        ln_rule_input(&m->made, "src", name_in_context(m, src));
        ln_rule_output(&m->made, "dst", m->tensors[to]->name);
    }
}

// Whether an input "ARG?=TENSOR" of the operator is absent.
static int is_left_out(ln_rule_match *m, const char *op)
{
    const char *const end = op + strcspn(op, ";");
    for (const char *p = op; (p = strchr(p, '?')) && p < end; p++)
        if (!name_in_context(m, p + strlen("?=")))
            return 1;
    return 0;
}

// Makes DST of "OPTYPE(ARG=SRC, .. | ARG=DST | ..;" another name of SRC.
static void leave_out(ln_rule_match *m, const char *op)
{
    const char *const src = strchr(op, '=') + 1;
    alias_tensor(m, src, strchr(strstr(src, " | "), '=') + 1);
}

// Computation in TL_FLOAT

static tl_dtype dtype_of(const ln_op *op, const ln_tensor_list_entry *tle)
{
    return ln_entry_of(tle, op->op_arg->tensor_table)->tensor->dtype;
}

static int is_16_bit_float(const ln_op *op, const ln_tensor_list_entry *tle)
{
    return tl_dtype_is_float(dtype_of(op, tle)) && tl_size_of(dtype_of(op, tle)) == 2;
}

static void make_cast(ln_rule_made *made, const char *src, tl_dtype dtype, const char *dst)
{
    ln_rule_op(made, LN_OP_CAST);
    ln_rule_input(made, "src", src);
    ln_rule_output(made, "dst", dst);
    ln_rule_string(made, "dtype", tl_dtype_name(dtype));
}

void ln_rule_make_float32(ln_rule_made *made, const ln_op *op)
{
    const char *srcs[LN_MAX_RULE_TENSORS], *dsts[LN_MAX_RULE_TENSORS];
    int i = 0;
    assert(ln_op_num_in(op) <= LN_MAX_RULE_TENSORS && ln_op_num_out(op) <= LN_MAX_RULE_TENSORS);
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        srcs[i] = is_16_bit_float(op, tle) ? ln_rule_tensor(made, "float") : tle->name;
        if (is_16_bit_float(op, tle))
            make_cast(made, tle->name, TL_FLOAT, srcs[i]);
        i++;
    }
    ln_rule_op(made, op->op_arg->optype);
    i = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        ln_rule_input(made, tle->arg_name, srcs[i++]);
    i = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        dsts[i] = is_16_bit_float(op, tle) ? ln_rule_tensor(made, "float") : tle->name;
        ln_rule_output(made, tle->arg_name, dsts[i++]);
    }
    ln_rule_all_params(made, op);
    i = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const char *const dst = dsts[i++];
        if (is_16_bit_float(op, tle))
            make_cast(made, dst, dtype_of(op, tle), tle->name);
    }
}

// Adds inputs or outputs, "ARG=TENSOR, OPERATOR.*", to the last operator.
static void make_args(ln_rule_match *m, const char **p,
                      void (*make)(ln_rule_match *, const char *, const char *))
{
    char arg_name[LN_MAX_NAME_LEN];
    if (**p == ' ' || **p == ')')
        return;
    do {
        const char *const word = *p;
        ln_rule_read_word(p, arg_name);
        if (ln_rule_accept(p, ".*")) {
            ln_rule_all_inputs(&m->made, m->ops[ln_rule_op_index(m, word)]);
            continue;
        }
        ln_rule_accept(p, "?");
        const char *const tensor = ++*p;
        *p = ln_rule_behind_word(tensor);
        make(m, arg_name, tensor);
    } while (ln_rule_accept(p, ", "));
}

// Parameters

static void make_number(ln_rule_made *made, const char *arg_name, const ln_rule_value *value)
{
    ln_rule_number(made, arg_name, value->numbers[0]);
}

static void make_numbers(ln_rule_made *made, const char *arg_name, const ln_rule_value *value)
{
    ln_rule_numbers(made, arg_name, value->len, value->numbers);
}

static void make_bool(ln_rule_made *made, const char *arg_name, const ln_rule_value *value)
{
    ln_rule_bool(made, arg_name, value->numbers[0] != 0 ? LN_TRUE : LN_FALSE);
}

static void make_null(ln_rule_made *made, const char *arg_name, const ln_rule_value *value)
{
    (void)value;
    ln_rule_null(made, arg_name);
}

static void make_string(ln_rule_made *made, const char *arg_name, const ln_rule_value *value)
{
    ln_rule_string(made, arg_name, value->word);
}

static void make_param(ln_rule_made *made, const char *arg_name, const ln_rule_value *value)
{
    ln_rule_param(made, arg_name, value->op, value->word);
}

void ln_rule_make_params(ln_rule_match *m, const char *params)
{
    static void (*const make[LN_RULE_VALUE_TYPES])(ln_rule_made *, const char *,
                                                   const ln_rule_value *) = {
        [LN_RULE_NUMBER] = make_number, [LN_RULE_NUMBERS] = make_numbers,
        [LN_RULE_BOOL] = make_bool,     [LN_RULE_NULL] = make_null,
        [LN_RULE_STRING] = make_string, [LN_RULE_PARAM] = make_param};
    char arg_name[LN_MAX_NAME_LEN];
    ln_rule_value value;
    do {
        const char *const word = params;
        ln_rule_read_word(&params, arg_name);
        if (ln_rule_accept(&params, ".*")) {
            ln_rule_all_params(&m->made, m->ops[ln_rule_op_index(m, word)]);
        } else {
            params++; // '='
            ln_rule_read_value(m, &params, &value);
            make[value.type](&m->made, arg_name, &value);
        }
    } while (ln_rule_accept(&params, ", "));
}

// Operators

void ln_rule_make(ln_rule_match *m, const char *ops)
{
    char optype[LN_MAX_NAME_LEN];
    while (*ops) {
        // "OPTYPE", or "OPERATOR.optype": the type of an operator of the match.
        const char *const op = ops;
        m->made.left_out = m->made.skips || is_left_out(m, op);
        m->made.skips = 0;
        if (m->made.left_out) {
            leave_out(m, op);
            ops += strcspn(ops, ";") + 1;
            continue;
        }
        ln_rule_read_word(&ops, optype);
        if (ln_rule_accept(&ops, ".optype"))
            ln_rule_op(&m->made, m->ops[ln_rule_op_index(m, op)]->op_arg->optype);
        else
            ln_rule_op(&m->made, optype);
        ln_rule_accept(&ops, "(");
        make_args(m, &ops, make_input);
        ln_rule_accept(&ops, " | ");
        make_args(m, &ops, make_output);
        if (ln_rule_accept(&ops, " | "))
            ln_rule_make_params(m, ops);
        ops += strcspn(ops, ";") + 1;
    }
}
