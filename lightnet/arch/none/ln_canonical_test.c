// SPDX-License-Identifier: Apache-2.0
// Tests of general operators: what each operator becomes, and which stay.

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"
#include "pass/ln_rewriting.h"

enum { TEXT = 4096 };

#define PARAM(name, value)    "{\"arg_name\": \"" name "\", \"value\": " value "}"
#define NUMBERS(name, values) PARAM(name, "[" values "]")
#define STRING(name, value)   PARAM(name, "\"" value "\"")
#define TWO                   "src1", "src2"

// An operator of x and, if it has a second input, z, both [2, 3].
typedef struct canonical_case {
    const char *dtype;
    const char *optype, *src1, *src2; // its inputs' arg_names; the second one may be NULL
    const char *params;
    const char *expected;
} canonical_case;

static const canonical_case cases[] = {
    {"TL_FLOAT", "relu", "src", NULL, "", "unary src=x dst=y func=TL_UNARY_RELU alpha=1 beta=0"},
    {"TL_INT8", "relu", "src", NULL, "", "unary src=x dst=y func=TL_UNARY_RELU alpha=1 beta=0"},
    {"TL_DOUBLE", "sigmoid", "src", NULL, "",
     "unary src=x dst=y func=TL_UNARY_SIGMOID alpha=1 beta=0"},
    {"TL_FLOAT", "lrelu", "src", NULL, PARAM("negslope", "0.25"),
     "unary src=x dst=y func=TL_UNARY_LRELU alpha=0.25 beta=0"},
    // The slope is a float.
    {"TL_DOUBLE", "lrelu", "src", NULL, PARAM("negslope", "0.1"),
     "unary src=x dst=y func=TL_UNARY_LRELU alpha=0.10000000149011612 beta=0"},
    {"TL_FLOAT", "concat", TWO, PARAM("axis", "1"), "join src0=x src1=z dst=y axis=1"},
    {"TL_FLOAT", "elew", TWO, STRING("elew_op", "TL_SUM"),
     "binary src1=x src2=z dst=y op=TL_BINARY_ADD"},
    {"TL_FLOAT", "elew", TWO, STRING("elew_op", "TL_MAX"),
     "binary src1=x src2=z dst=y op=TL_BINARY_PICK_MAX"},
    {"TL_INT32", "elew", TWO, STRING("elew_op", "TL_MAX"),
     "binary src1=x src2=z dst=y op=TL_BINARY_MAX"},
    {"TL_INT32", "elew", TWO, STRING("elew_op", "TL_POW"),
     "binary src1=x src2=z dst=y op=TL_BINARY_POW_DOUBLE"},
    {"TL_FLOAT", "upsample", "src", NULL,
     STRING("mode", "TL_NEAREST") "," NUMBERS("scales", "2, 1.5"),
     "resize src=x dst=y mode=TL_NEAREST dims=[4, 4]"},
    // General ones stay.
    {"TL_FLOAT", "unary", "src", NULL, STRING("func", "TL_UNARY_RELU"),
     "unary src=x dst=y func=TL_UNARY_RELU alpha=1 beta=0"},
    {"TL_FLOAT", "softmax", "src", NULL, PARAM("axis", "1"), "softmax src=x dst=y axis=1"},
};

// Models

// An input of 2 rows, or where it is open, of 1 to 2.
static int write_input(char *text, const char *name, const char *dtype, int is_open)
{
    return snprintf(text, TEXT,
                    "{\"name\": \"make_%s\", \"optype\": \"%s\", \"tensors_in\": [], "
                    "\"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"%s\"}], \"params\": ["
                    "{\"arg_name\": \"dtype\", \"value\": \"%s\"},"
                    "{\"arg_name\": \"dims\", \"value\": [2, 3]}%s]},",
                    name, is_open ? "placeholder" : "source", name, dtype,
                    is_open ? "," NUMBERS("least", "1, 3") : "");
}

static ln_context *read_case(const canonical_case *c, int is_open)
{
    static char text[4 * TEXT];
    char second[TEXT] = "", *end = text;
    if (c->src2)
        snprintf(second, sizeof(second), ",{\"arg_name\": \"%s\", \"name\": \"z\"}", c->src2);
    end += sprintf(end, "{\"inputs\": [\"x\"%s], \"outputs\": [\"y\"], \"ops\": [",
                   c->src2 ? ", \"z\"" : "");
    end += write_input(end, "x", c->dtype, is_open);
    end += c->src2 ? write_input(end, "z", c->dtype, is_open) : 0;
    sprintf(end,
            "{\"name\": \"op\", \"optype\": \"%s\", \"tensors_in\": [{\"arg_name\": \"%s\", "
            "\"name\": \"x\"}%s], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"y\"}], "
            "\"params\": [%s]}]}",
            c->optype, c->src1, second, c->params);
    ln_context *const ctx = ln_context_create();
    ck_assert_msg(!ln_context_init_text(ctx, "model", text, strlen(text)), "%s",
                  ln_context_error(ctx));
    return ctx;
}

// The text of an operator

static char *put_tensors(char *end, ln_list *tensors)
{
    ln_tensor_list_entry *tle;
    LN_LIST_FOREACH (tle, tensors)
        end += sprintf(end, " %s=%s", tle->arg_name, tle->name);
    return end;
}

static char *put_param(char *end, const ln_param_entry *pe)
{
    end += sprintf(end, " %s=", pe->arg_name);
    if (pe->type == LN_PARAM_STRING)
        return end + sprintf(end, "%s", pe->value_string);
    if (pe->type == LN_PARAM_NUMBER)
        return end + sprintf(end, "%.17g", pe->value_double);
    for (int i = 0; i < pe->array_len; i++)
        end += sprintf(end, "%s%d", i ? ", " : "[", pe->value_array_int[i]);
    return end + sprintf(end, "]");
}

// The producer of y.
static const char *last_op(const ln_context *ctx)
{
    static char text[TEXT];
    const ln_op *op, *last = NULL;
    LN_LIST_FOREACH (op, ctx->ops)
        last = op;
    char *end = text + sprintf(text, "%s", last->op_arg->optype);
    end = put_tensors(end, last->op_arg->tensors_in);
    end = put_tensors(end, last->op_arg->tensors_out);
    const ln_param_entry *pe;
    LN_LIST_FOREACH (pe, last->op_arg->params)
        end = put_param(end, pe);
    return text;
}

// The tests

static void check_becomes(const canonical_case *c, int is_open, const char *expected)
{
    ln_context *const ctx = read_case(c, is_open);
    ck_assert_msg(!ln_canonicalize(ctx), "%s", ln_context_error(ctx));
    ck_assert_str_eq(last_op(ctx), expected);
    ln_context_free(ctx);
}

START_TEST(each_operator_becomes_the_general_one)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_becomes(&cases[i], 0, cases[i].expected);
}
END_TEST

START_TEST(open_sizes_need_lengths_only_for_upsample)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (strcmp(cases[i].optype, "upsample") != 0)
            check_becomes(&cases[i], 1, cases[i].expected);
    const canonical_case open = {.dtype = "TL_FLOAT",
                                 .optype = "upsample",
                                 .src1 = "src",
                                 .params =
                                     STRING("mode", "TL_LINEAR") "," NUMBERS("scales", "2, 1")};
    check_becomes(&open, 1, "upsample src=x dst=y mode=TL_LINEAR scales=[2, 1]");
}
END_TEST

LN_TEST_MAIN("ln_canonical", each_operator_becomes_the_general_one,
             open_sizes_need_lengths_only_for_upsample)
