// SPDX-License-Identifier: Apache-2.0
// Rules as tables: creates the operators that replace a match from a text.

#include <assert.h>
#include <string.h>

#include "lightnet/ln_rule.h"
#include "pass/ln_rule_text.h"

// Tensors

// The name in the context of a tensor of the rule; NULL: absent.
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

// A tensor that the match does not have is new.
static void make_output(ln_rule_match *m, const char *arg_name, const char *tensor)
{
    char buf[LN_MAX_NAME_LEN];
    if (ln_rule_tensor_index(m, tensor) < 0) {
        assert(m->n_tensors < LN_MAX_RULE_TENSORS);
        const int i = m->n_tensors++;
        const char *p = tensor;
        m->tensor_names[i] = tensor;
        m->tensors[i] = NULL;
        m->new_names[i] = ln_rule_tensor(&m->made, ln_rule_read_word(&p, buf));
    }
    ln_rule_output(&m->made, arg_name, name_in_context(m, tensor));
}

// The inputs, or outputs, of the last operator: "ARG=TENSOR, OPERATOR.*".
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
        // "OPTYPE", or "OPERATOR.optype": that of an operator of the match.
        const char *const op = ops;
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
