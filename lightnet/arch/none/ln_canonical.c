// SPDX-License-Identifier: Apache-2.0
// The rule that replaces operators by general ones, such as relu by unary with func=TL_UNARY_RELU.
// The reference program applies it, too (identity.opt).

#include "ln_rules_none.h"

#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_elementwise.h"

typedef struct form {
    const char *optype;
    const char *general;                               // the operator that replaces it
    const char *func;                                  // its parameter 'func', or NULL
    void (*make)(ln_rule_made *made, const ln_op *op); // sets other parameters, and inputs if
                                                       // their names differ; or NULL
    int is_of_fixed;                                   // only where shapes are fixed
} form;

// The slope of lrelu is a float.
static void make_lrelu(ln_rule_made *made, const ln_op *op)
{
    ln_rule_number(made, "alpha", (double)(float)ln_op_number(op, "negslope"));
}

// The same elew_op is another operation for floats, integers and bool.
static void make_elew(ln_rule_made *made, const ln_op *op)
{
    const tl_elew_op elew_op = tl_elew_op_from_str(ln_op_string(op, "elew_op"));
    const tl_dtype dtype = ln_op_input(op, "src1")->tensor->dtype;
    ln_rule_string(made, "op", tl_binary_op_name(tl_elew_op_as_binary(elew_op, dtype)));
}

static void make_concat(ln_rule_made *made, const ln_op *op)
{
    ln_rule_input(made, "src0", ln_op_input(op, "src1")->name);
    ln_rule_input(made, "src1", ln_op_input(op, "src2")->name);
    ln_rule_param(made, "axis", op, "axis");
}

// resize has no code for "the scale of this axis", so the lengths must be known.
static void make_upsample(ln_rule_made *made, const ln_op *op)
{
    const tl_tensor *const dst = ln_op_output(op, "dst")->tensor;
    ln_rule_param(made, "mode", op, "mode");
    ln_rule_ints(made, "dims", dst->ndim, dst->dims);
}

static const form forms[] = {
    {LN_OP_CONCAT, LN_OP_JOIN, NULL, make_concat, 0},
    {LN_OP_ELEW, LN_OP_BINARY, NULL, make_elew, 0},
    {LN_OP_RELU, LN_OP_UNARY, "TL_UNARY_RELU", NULL, 0},
    {LN_OP_LRELU, LN_OP_UNARY, "TL_UNARY_LRELU", make_lrelu, 0},
    {LN_OP_SIGMOID, LN_OP_UNARY, "TL_UNARY_SIGMOID", NULL, 0},
    {LN_OP_UPSAMPLE, LN_OP_RESIZE, NULL, make_upsample, 1},
    {NULL, NULL, NULL, NULL, 0},
};

static const form *form_of(const ln_op *op)
{
    const form *f = forms;
    while (f->optype && !ln_op_is(op, f->optype))
        f++;
    return f->optype && !(f->is_of_fixed && ln_op_is_dynamic(op)) ? f : NULL;
}

static void make(ln_rule_made *made, const form *f, const ln_op *op)
{
    ln_rule_op_instead(made, f->general, op);
    if (f->func)
        ln_rule_string(made, "func", f->func);
    if (f->make)
        f->make(made, op);
    if (!made->failed && !made->op->op_arg->tensors_in)
        ln_rule_all_inputs(made, op);
}

// Replaces one operator by the general one of equal results.
ln_list *ln_canonical(const ln_context *ctx, ln_list **old_ops)
{
    ln_rule_made made = {.ctx = ctx, .rule = "canonical"};
    const ln_op *op = ln_pass_lowering_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    while (op && !form_of(op))
        op = ln_rule_anchor(ctx, op);
    *old_ops = NULL;
    if (!op)
        return NULL;
    make(&made, form_of(op), op);
    return ln_rule_end_subgraph(&made, (const ln_op *const[]){op, NULL}, old_ops);
}
