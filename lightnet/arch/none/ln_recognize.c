// SPDX-License-Identifier: Apache-2.0
// The rule that replaces the operators of a formula, in any order, by its function.
//
// Supports formulas (tl_functions.h) that are a product or quotient of x and a function of x. A
// product or sum is a chain: terms in any order, constants merged. For each candidate of x, the
// formula is compared with the producers of the result, last operation first.

#include "ln_rules_none.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ln_formula.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"

enum { MAX_OPS = 12, MAX_TERMS = 6, MAX_CANDIDATES = 16, MAX_DEPTH = 3 };

// A formula of a function; a, b: parameters that the formula implies, NaN if it contains them.
typedef struct pattern {
    const char *func, *formula;
    double a, b;
} pattern;

// Formulas with relu6.
static const pattern relu6_patterns[] = {
    {"TL_UNARY_HARDSIGMOID", "clip(x + 3, 0, 6) / 6", 1.0 / 6, 0.5},
    {"TL_UNARY_HARDSWISH", "x * clip(x + 3, 0, 6) / 6", 1.0 / 6, 0.5},
};

// The state of a comparison: a copy is restored for backtracking.
typedef struct matching {
    const ln_context *ctx;
    const ln_formula *f;
    const ln_tensor_entry *x;
    double a, b; // NaN: not found yet
    const ln_op *ops[MAX_OPS];
    int uses[MAX_OPS]; // of the result of each
    int n_ops;
} matching;

// Terms of a product or a sum; its constants are merged into `number`.
typedef struct chain {
    int n;
    const ln_tensor_entry *terms[MAX_TERMS]; // or nodes
    int nodes[MAX_TERMS];
    double number, error; // error: max, relative
    char param;           // of formulas: a factor that is 'a' or 'b'
} chain;

// Constants

// The max relative difference between a constant and the intended number: the rounding error of
// its type in the model, or some digits of a float.
static double rounding_of(const ln_tensor_entry *k)
{
    const ln_op *const producer = ln_entry_creater(k);
    const ln_tensor_entry *original = NULL;
    if (ln_op_is(producer, LN_OP_CAST) && ln_op_reads(producer, "src", &original))
        return rounding_of(original);
    return k->tensor->dtype == TL_BFLOAT16  ? 0x1p-8
           : k->tensor->dtype == TL_FLOAT16 ? 0x1p-11
                                            : 1e-6;
}

static int is_scalar(const ln_tensor_entry *te)
{
    return te->isconst && te->tensor->len == 1;
}

// A whole number is exact in each type.
static int is_near(double found, double expected, double error)
{
    return fabs(found - expected) <= (expected == rint(expected) ? 0 : error * fabs(expected));
}

// Operators

static int has_op(const ln_op *op, const char *name)
{
    return ln_op_is(op, LN_OP_BINARY) && ln_op_has_string(op, "op", name);
}

// Records the operator as part of the match, and one use of its result. 0: too many.
static int add_use(matching *m, const ln_op *op)
{
    for (int i = 0; i < m->n_ops; i++) {
        if (m->ops[i] == op) {
            m->uses[i]++;
            return 1;
        }
    }
    if (m->n_ops == MAX_OPS)
        return 0;
    m->ops[m->n_ops] = op;
    m->uses[m->n_ops++] = 1;
    return 1;
}

// Adds the terms of `te` to a product or, by "TL_BINARY_ADD", to a sum: x^2 as x, x; x / 4 as x and
// the number 1/4. 0: too many, or an unknown constant.
static int collect(matching *m, const char *join, const ln_tensor_entry *te, chain *c)
{
    const int is_sum = !strcmp(join, "TL_BINARY_ADD");
    const ln_op *const op = ln_entry_creater(te);
    const ln_tensor_entry *const src1 = ln_op_input(op, "src1"), *const src2 =
                                                                     ln_op_input(op, "src2");
    if (is_scalar(te)) {
        const double k = ln_rule_scalar(m->ctx, te);
        c->number = is_sum ? c->number + k : c->number * k;
        c->error += rounding_of(te);
        return !isnan(k);
    }
    if (te != m->x && has_op(op, join))
        return add_use(m, op) && collect(m, join, src1, c) && collect(m, join, src2, c);
    const int is_quotient = te != m->x && !is_sum && has_op(op, "TL_BINARY_DIV") && is_scalar(src2);
    if (is_quotient) {
        c->number /= ln_rule_scalar(m->ctx, src2);
        c->error += rounding_of(src2);
        return add_use(m, op) && !isnan(c->number) && collect(m, join, src1, c);
    }
    const double power = te != m->x && !is_sum && has_op(op, "TL_BINARY_POW") && is_scalar(src2)
                             ? ln_rule_scalar(m->ctx, src2)
                             : 1;
    const int n = power == 2 || power == 3 ? (int)power : 1;
    if (c->n + n > MAX_TERMS || (n > 1 && !add_use(m, op)))
        return 0;
    for (int i = 0; i < n; i++)
        c->terms[c->n++] = n > 1 ? src1 : te;
    return 1;
}

// Adds the terms of a formula's node.
static void collect_nodes(const ln_formula *f, const char *join, int node, chain *c)
{
    const ln_formula_node *const n = &f->nodes[node];
    const int is_sum = !strcmp(join, "add"), *const srcs = n->srcs;
    if (ln_formula_is_number(f, node)) {
        c->number = is_sum ? c->number + n->number : c->number * n->number;
    } else if (ln_formula_is(f, node, join)) {
        collect_nodes(f, join, srcs[0], c);
        collect_nodes(f, join, srcs[1], c);
    } else if (!is_sum && ln_formula_is(f, node, "div") && ln_formula_is_number(f, srcs[1])) {
        c->number /= f->nodes[srcs[1]].number;
        collect_nodes(f, join, srcs[0], c);
    } else if (!is_sum && ln_formula_is(f, node, "pow")) {
        for (int i = 0; i < f->nodes[srcs[1]].number; i++)
            collect_nodes(f, join, srcs[0], c);
    } else if (!is_sum && (*n->name == 'a' || *n->name == 'b') && !n->name[1]) {
        c->param = *n->name;
    } else {
        c->nodes[c->n++] = node;
    }
}

// Comparisons

static int matches(matching *m, int node, const ln_tensor_entry *te);

// Whether a parameter has this value; sets one that is NaN.
static int is_param(matching *m, char name, double value)
{
    double *const param = name == 'a' ? &m->a : &m->b;
    if (isnan(*param))
        *param = value;
    return *param == value;
}

// Whether the terms from i on are the nodes from i on, in some order.
static int terms_match(matching *m, const chain *nodes, chain *terms, int i)
{
    const matching before = *m;
    for (int k = i; k < terms->n; k++) {
        const ln_tensor_entry *const te = terms->terms[k];
        terms->terms[k] = terms->terms[i];
        terms->terms[i] = te;
        if (matches(m, nodes->nodes[i], te) && terms_match(m, nodes, terms, i + 1))
            return 1;
        terms->terms[i] = terms->terms[k];
        terms->terms[k] = te;
        *m = before;
    }
    return i == nodes->n;
}

static int chain_matches(matching *m, int node, const ln_tensor_entry *te, int is_sum)
{
    chain nodes = {.number = !is_sum}, terms = {.number = !is_sum};
    collect_nodes(m->f, is_sum ? "add" : "mul", node, &nodes);
    if (!collect(m, is_sum ? "TL_BINARY_ADD" : "TL_BINARY_MUL", te, &terms) || nodes.n != terms.n ||
        !terms_match(m, &nodes, &terms, 0))
        return 0;
    return nodes.param ? is_param(m, nodes.param, terms.number / nodes.number)
                       : is_near(terms.number, nodes.number, terms.error);
}

// Whether the parameter of a unary operator matches a node: a number, 'a' or 'b'.
static int param_matches(matching *m, int node, const char *arg_name, const ln_op *op)
{
    const double value = ln_op_number(op, arg_name);
    return ln_formula_is_number(m->f, node) ? value == m->f->nodes[node].number
                                            : is_param(m, *m->f->nodes[node].name, value);
}

static int unary_matches(matching *m, const ln_formula_node *n, const ln_op *op)
{
    static const char *const params[] = {NULL, "alpha", "beta"};
    const ln_function *const f = ln_function_named(n->name);
    int fits = f && ln_op_is(op, LN_OP_UNARY) && ln_op_has_string(op, "func", f->func) &&
               add_use(m, op) && matches(m, n->srcs[0], ln_op_input(op, "src"));
    for (int i = 1; i < n->n_srcs && fits; i++)
        fits = param_matches(m, n->srcs[i], params[i], op);
    return fits;
}

static int matches(matching *m, int node, const ln_tensor_entry *te)
{
    const ln_formula_node *const n = &m->f->nodes[node];
    const ln_op *const op = ln_entry_creater(te);
    if (ln_formula_is(m->f, node, "x"))
        return te == m->x;
    if (ln_formula_is(m->f, node, "add"))
        return chain_matches(m, node, te, 1);
    if (ln_formula_is(m->f, node, "mul") || ln_formula_is(m->f, node, "pow") ||
        (ln_formula_is(m->f, node, "div") && ln_formula_is_number(m->f, n->srcs[1])))
        return chain_matches(m, node, te, 0);
    if (ln_formula_is(m->f, node, "div"))
        return has_op(op, "TL_BINARY_DIV") && add_use(m, op) &&
               matches(m, n->srcs[0], ln_op_input(op, "src1")) &&
               matches(m, n->srcs[1], ln_op_input(op, "src2"));
    return unary_matches(m, n, op);
}

// Whether only the match reads the results of its operators, except for the first: the result.
static int is_complete(const matching *m)
{
    for (int i = 1; i < m->n_ops; i++)
        if (ln_entry_num_uses(ln_op_output(m->ops[i], "dst")) != m->uses[i])
            return 0;
    return 1;
}

static int pattern_matches(matching *m, const pattern *p, const ln_formula *f,
                           const ln_tensor_entry *y, const ln_tensor_entry *x)
{
    *m = (matching){.ctx = m->ctx, .f = f, .x = x, .a = p->a, .b = p->b};
    return matches(m, f->len - 1, y) && is_complete(m);
}

// Candidates

// The tensors in a chain of products and quotients that may be x, and the functions of its terms,
// or of summands of these: only formulas with one of these functions are compared.
typedef struct survey {
    const ln_tensor_entry *xs[MAX_CANDIDATES];
    const char *funcs[MAX_TERMS];
    int n_xs, n_funcs;
} survey;

static void note_func(survey *v, const ln_op *op)
{
    const ln_function *const f =
        ln_op_is(op, LN_OP_UNARY) ? ln_function_of(ln_op_string(op, "func")) : NULL;
    for (int i = 0; f && i < v->n_funcs; i++)
        if (v->funcs[i] == f->name)
            return;
    if (f && v->n_funcs < MAX_TERMS)
        v->funcs[v->n_funcs++] = f->name;
}

static void note_x(survey *v, const ln_tensor_entry *te)
{
    for (int i = 0; i < v->n_xs; i++)
        if (v->xs[i] == te)
            return;
    if (!te->isconst && v->n_xs < MAX_CANDIDATES)
        v->xs[v->n_xs++] = te;
}

static int is_factor(const ln_op *op)
{
    return has_op(op, "TL_BINARY_MUL") || has_op(op, "TL_BINARY_DIV");
}

static void survey_chain(survey *v, const ln_op *op, int depth)
{
    static const char *const srcs[] = {"src1", "src2"};
    for (int i = 0; i < 2; i++) {
        const ln_tensor_entry *const te = ln_op_input(op, srcs[i]);
        const ln_op *const term = ln_entry_creater(te);
        const ln_op *const sum =
            ln_op_is(term, LN_OP_UNARY) ? ln_entry_creater(ln_op_input(term, "src")) : term;
        note_x(v, te);
        note_func(v, term);
        for (int k = 0; k < 2 && has_op(sum, "TL_BINARY_ADD"); k++) {
            note_func(v, ln_entry_creater(ln_op_input(sum, srcs[k])));
            if (sum != term)
                note_x(v, ln_op_input(sum, srcs[k]));
        }
    }
    for (int i = 0; i < 2 && depth < MAX_DEPTH; i++) {
        const ln_op *const factor = ln_entry_creater(ln_op_input(op, srcs[i]));
        if (is_factor(factor))
            survey_chain(v, factor, depth + 1);
    }
}

// Whether the formula has one of the functions.
static int has_func(const survey *v, const char *formula)
{
    for (int i = 0; i < v->n_funcs; i++) {
        const char *const found = strstr(formula, v->funcs[i]);
        if (found && found[strlen(v->funcs[i])] == '(')
            return 1;
    }
    return 0;
}

static int has_pattern(matching *m, const pattern *p, const ln_op *op, const survey *v)
{
    const ln_tensor_entry *const y = ln_op_output(op, "dst");
    ln_formula f = {.len = 0};
    if (has_func(v, p->formula))
        ln_formula_read(&f, p->formula);
    for (int i = 0; i < v->n_xs && f.len; i++)
        if (tl_tensor_issameshape(v->xs[i]->tensor, y->tensor) &&
            pattern_matches(m, p, &f, y, v->xs[i]))
            return 1;
    return 0;
}

// Whether a formula is a product or a quotient of x and a function of x.
static int is_gated(const char *formula)
{
    return formula[0] == 'x' && (formula[2] == '*' || formula[2] == '/');
}

// The function whose result the operator computes, or NULL.
static const char *find_func(matching *m, const ln_op *op)
{
    survey v = {.n_xs = 0};
    survey_chain(&v, op, 0);
    for (size_t i = 0; i < sizeof(relu6_patterns) / sizeof(*relu6_patterns); i++)
        if (has_pattern(m, &relu6_patterns[i], op, &v))
            return relu6_patterns[i].func;
    for (int i = 0; i < TL_UNARY_FUNC_SIZE && v.n_funcs; i++) {
        const pattern own = {ln_functions[i].func, ln_functions[i].formula, NAN, NAN};
        if (is_gated(own.formula) && has_pattern(m, &own, op, &v))
            return own.func;
    }
    return NULL;
}

// Whether a formula may end with the operator: not of 16-bit floats, which a function rounds once.
static int may_end(const ln_op *op)
{
    const ln_tensor_entry *const y = ln_op_output(op, "dst");
    return is_factor(op) && (y->tensor->dtype == TL_FLOAT || y->tensor->dtype == TL_DOUBLE);
}

static ln_list *replace(const matching *m, const char *func, ln_rule_made *made, ln_list **old_ops)
{
    const ln_op *replaced[MAX_OPS + 1] = {NULL}, *op;
    int n = 0;
    LN_LIST_FOREACH (op, m->ctx->ops)
        for (int i = 0; i < m->n_ops; i++)
            if (m->ops[i] == op)
                replaced[n++] = op;
    ln_rule_op(made, LN_OP_UNARY);
    ln_rule_input(made, "src", m->x->name);
    ln_rule_output(made, "dst", ln_op_output_name(m->ops[0], "dst"));
    ln_rule_string(made, "func", func);
    if (!isnan(m->a))
        ln_rule_number(made, "alpha", m->a);
    if (!isnan(m->b))
        ln_rule_number(made, "beta", m->b);
    return ln_rule_end_subgraph(made, replaced, old_ops);
}

// Replaces the operators of a formula.
ln_list *ln_recognize(const ln_context *ctx, ln_list **old_ops)
{
    ln_rule_made made = {.ctx = ctx, .rule = "recognize_function"};
    matching m = {.ctx = ctx};
    const char *func = NULL;
    const ln_op *op = ln_pass_rule_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    *old_ops = NULL;
    for (; op && !func; op = ln_rule_anchor(ctx, op))
        func = may_end(op) ? find_func(&m, op) : NULL;
    return func ? replace(&m, func, &made, old_ops) : NULL;
}
