// SPDX-License-Identifier: Apache-2.0
// Chains of element-wise steps: their notation, and the rule that creates them.

#include "lightnet/ln_chain.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_name.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"
#include "ln_rules_cpu.h"
#include "tensorlight/tl_nn.h"

// Texts

enum { WORD_SIZE = 64, TEXT_SIZE = 3 * WORD_SIZE };

// The operand that a word names, as in tl_chain_step; -1: none.
static int operand_of(const char *word, int n_srcs)
{
    const int src = ln_name_number(word, "src"), step = ln_name_number(word, "step");
    if (src >= 0)
        return src < n_srcs ? src : -1;
    return step >= 0 && step < TL_CHAIN_STEPS ? n_srcs + step : -1;
}

static int read_step(tl_chain_step *step, const char *text, int n_srcs)
{
    char name[WORD_SIZE], src1[WORD_SIZE], src2[WORD_SIZE], more;
    const int n = sscanf(text, "%63s %63s %63s %c", name, src1, src2, &more);
    step->func = n >= 1 ? tl_unary_func_from_str(name) : TL_UNARY_FUNC_INVALID;
    step->op = n >= 1 ? tl_binary_op_from_str(name) : TL_BINARY_OP_INVALID;
    const int n_operands = step->func != TL_UNARY_FUNC_INVALID ? 1
                           : step->op != TL_BINARY_OP_INVALID  ? 2
                                                               : 0;
    step->src1 = n >= 2 ? operand_of(src1, n_srcs) : -1;
    step->src2 = n >= 3 ? operand_of(src2, n_srcs) : 0;
    if (n_operands == 0 || n != 1 + n_operands || step->src1 < 0 || step->src2 < 0)
        return tl_fail("\"%s\" is not a step of %d sources, such as \"TL_BINARY_ADD src0 step0\"",
                       text, n_srcs);
    return 0;
}

int ln_chain_read(ln_chain *chain, int n_srcs, int n_steps, char *const *texts, const double *alpha,
                  const double *beta)
{
    chain->n_steps = n_steps;
    for (int i = 0; i < n_steps && i < TL_CHAIN_STEPS; i++) {
        if (read_step(&chain->steps[i], texts[i], n_srcs))
            return -1;
        chain->steps[i].alpha = alpha[i];
        chain->steps[i].beta = beta[i];
    }
    return tl_chain_check(chain->steps, n_steps, n_srcs);
}

static void write_operand(char *buf, size_t size, int operand, int n_srcs)
{
    if (operand < n_srcs)
        snprintf(buf, size, " src%d", operand);
    else
        snprintf(buf, size, " step%d", operand - n_srcs);
}

static void write_step(char *buf, const tl_chain_step *step, int n_srcs)
{
    char src1[WORD_SIZE], src2[WORD_SIZE] = "";
    const int is_unary = step->func != TL_UNARY_FUNC_INVALID;
    write_operand(src1, sizeof(src1), step->src1, n_srcs);
    if (!is_unary)
        write_operand(src2, sizeof(src2), step->src2, n_srcs);
    snprintf(buf, TEXT_SIZE, "%s%s%s",
             is_unary ? tl_unary_func_name(step->func) : tl_binary_op_name(step->op), src1, src2);
}

// Operators as steps

// The computation of one or several operators: steps on `srcs`; operands from n_srcs on are
// steps.
typedef struct part {
    const ln_tensor_entry *srcs[TL_CHAIN_SRCS];
    int uses[TL_CHAIN_SRCS]; // the number of arguments of the operators that read it
    int n_srcs;
    ln_chain chain;
    const ln_chain_ops *ops; // of its target
} part;

// The index of source `te`, which is added if missing; -1: too many.
static int index_of(part *p, const ln_tensor_entry *te)
{
    int i = 0;
    while (i < p->n_srcs && p->srcs[i] != te)
        i++;
    if (i == TL_CHAIN_SRCS)
        return -1;
    p->srcs[i] = te;
    p->n_srcs += i == p->n_srcs;
    return i;
}

static int is_supported(const part *p, tl_dtype dtype)
{
    return dtype == TL_FLOAT ||
           (p->ops->has_halves && (dtype == TL_FLOAT16 || dtype == TL_BFLOAT16));
}

// Adds the inputs of an operator; -1: not supported in a chain.
static int add_inputs(part *p, const ln_op *op)
{
    const ln_tensor_entry *te;
    LN_INPUTS_FOREACH (te, op->op_arg) {
        const int i = te && is_supported(p, te->tensor->dtype) ? index_of(p, te) : -1;
        if (i < 0)
            return -1;
        p->uses[i]++;
    }
    return 0;
}

// The index of an input in the sources.
static int source_of(part *p, const ln_op *op, const char *arg_name)
{
    const ln_tensor_entry *te = NULL;
    return ln_op_reads(op, arg_name, &te) ? index_of(p, te) : -1;
}

static tl_chain_step *add_step(part *p)
{
    tl_chain_step *const step = &p->chain.steps[p->chain.n_steps++];
    *step = (tl_chain_step){.func = TL_UNARY_FUNC_INVALID, .op = TL_BINARY_OP_INVALID};
    return step;
}

// Readers of an operator, whose inputs are sources already; -1: not supported as steps.

static int read_unary(part *p, const ln_op *op)
{
    tl_chain_step *const step = add_step(p);
    step->func = tl_unary_func_from_str(ln_op_string(op, "func"));
    step->alpha = ln_op_number(op, "alpha");
    step->beta = ln_op_number(op, "beta");
    return 0;
}

static int read_binary(part *p, const ln_op *op)
{
    tl_chain_step *const step = add_step(p);
    step->op = tl_binary_op_from_str(ln_op_string(op, "op"));
    step->src1 = source_of(p, op, "src1");
    step->src2 = source_of(p, op, "src2");
    return 0;
}

static int read_chain(part *p, const ln_op *op)
{
    int n_steps, n_alpha, n_beta;
    const ln_param_entry *const steps = ln_op_param(op, "steps");
    const ln_param_entry *const alpha = ln_op_param(op, "alpha");
    const ln_param_entry *const beta = ln_op_param(op, "beta");
    if (!steps || !alpha || !beta || ln_op_num_in(op) != p->n_srcs)
        return -1;
    n_steps = steps->array_len, n_alpha = alpha->array_len, n_beta = beta->array_len;
    if (n_alpha != n_steps || n_beta != n_steps)
        return -1;
    return ln_chain_read(&p->chain, p->n_srcs, n_steps, steps->value_array_string,
                         alpha->value_array_double, beta->value_array_double);
}

// The steps of `op`; -1: it does not consist of steps on floats.
static int part_of(part *p, const ln_chain_ops *ops, const ln_op *op)
{
    const struct {
        const char *optype;
        int (*read)(part *p, const ln_op *op);
    } readers[] = {{ops->unary, read_unary}, {ops->binary, read_binary}, {ops->chain, read_chain}};
    *p = (part){.ops = ops};
    for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
        if (!ln_op_is(op, readers[i].optype))
            continue;
        if (add_inputs(p, op) || readers[i].read(p, op))
            return -1;
        return tl_chain_check(p->chain.steps, p->chain.n_steps, p->n_srcs);
    }
    return -1;
}

// Several operators as one

// Operators to fuse, the last one first.
typedef struct group {
    part part;
    const ln_op *ops[TL_CHAIN_STEPS];
    int n_ops;
    const ln_tensor_entry *dst; // of the last
} group;

// Puts the steps of `first`, which produce source `s`, before all others. -1: the result is not a
// valid chain.
static int put_before(part *p, int s, const part *first)
{
    part all = *first;
    // Operands of p as operands of `all`: its sources, then the steps of `first`, then those of p.
    int mapped[TL_CHAIN_SRCS + TL_CHAIN_STEPS];
    if (first->chain.n_steps + p->chain.n_steps > TL_CHAIN_STEPS)
        return -1;
    for (int i = 0; i < p->n_srcs; i++) {
        mapped[i] = i == s ? 0 : index_of(&all, p->srcs[i]);
        if (mapped[i] < 0)
            return -1;
        all.uses[mapped[i]] += i == s ? 0 : p->uses[i];
    }
    mapped[s] = all.n_srcs + first->chain.n_steps - 1;
    for (int i = 0; i < p->chain.n_steps; i++)
        mapped[p->n_srcs + i] = mapped[s] + 1 + i;
    for (int i = 0; i < first->chain.n_steps; i++) {
        tl_chain_step *const step = &all.chain.steps[i];
        step->src1 += step->src1 < first->n_srcs ? 0 : all.n_srcs - first->n_srcs;
        step->src2 += step->src2 < first->n_srcs ? 0 : all.n_srcs - first->n_srcs;
    }
    for (int i = 0; i < p->chain.n_steps; i++) {
        tl_chain_step *const step = &all.chain.steps[all.chain.n_steps++];
        *step = p->chain.steps[i];
        step->src1 = mapped[step->src1];
        step->src2 = mapped[step->src2];
    }
    *p = all;
    return tl_chain_check(p->chain.steps, p->chain.n_steps, p->n_srcs);
}

// Whether each run computes the tensor, and nothing changes it, so that it may be computed later.
static int is_steady(const ln_tensor_entry *te)
{
    return !te->isconst && !ln_entry_is_mutated(te);
}

// Whether nothing changes the sources, so that they may be read later.
static int are_steady(const part *p)
{
    for (int i = 0; i < p->n_srcs; i++)
        if (ln_entry_is_mutated(p->srcs[i]))
            return 0;
    return 1;
}

// Adds the producer of a source that nothing else reads, and that has the shape of the result: a
// smaller one would be recomputed for each broadcast. 0: none.
static int grow(group *g)
{
    for (int s = 0; s < g->part.n_srcs; s++) {
        const ln_tensor_entry *const te = g->part.srcs[s];
        const ln_op *const producer = ln_entry_creater(te);
        part first, all = g->part;
        if (!producer || !is_steady(te) || !tl_tensor_issameshape(te->tensor, g->dst->tensor) ||
            ln_entry_num_uses(te) != g->part.uses[s] || part_of(&first, g->part.ops, producer) ||
            !are_steady(&first) || put_before(&all, s, &first))
            continue;
        g->part = all;
        g->ops[g->n_ops++] = producer;
        return 1;
    }
    return 0;
}

// The operators to fuse with `op`; fewer than two: none.
static void find_group(group *g, const ln_chain_ops *ops, const ln_op *op)
{
    *g = (group){.n_ops = 0};
    if (part_of(&g->part, ops, op) || !ln_op_makes(op, "dst", &g->dst) || !is_steady(g->dst) ||
        !are_steady(&g->part))
        return;
    g->ops[g->n_ops++] = op;
    while (grow(g))
        continue;
}

static void add_steps_of(ln_rule_made *made, const part *p)
{
    char texts[TL_CHAIN_STEPS][TEXT_SIZE];
    const char *steps[TL_CHAIN_STEPS];
    double alpha[TL_CHAIN_STEPS], beta[TL_CHAIN_STEPS];
    for (int i = 0; i < p->chain.n_steps; i++) {
        write_step(texts[i], &p->chain.steps[i], p->n_srcs);
        steps[i] = texts[i];
        alpha[i] = p->chain.steps[i].alpha;
        beta[i] = p->chain.steps[i].beta;
    }
    ln_rule_strings(made, "steps", p->chain.n_steps, steps);
    ln_rule_numbers(made, "alpha", p->chain.n_steps, alpha);
    ln_rule_numbers(made, "beta", p->chain.n_steps, beta);
}

ln_list *ln_chain_fuse(const ln_chain_ops *ops, const ln_context *ctx, ln_list **old_ops)
{
    group g = {.n_ops = 0};
    ln_rule_made made = {.ctx = ctx, .rule = ops->rule};
    const ln_op *op = ln_pass_rule_begins(ctx, made.rule) ? ln_rule_anchor(ctx, NULL) : NULL;
    for (; op && g.n_ops < 2; op = ln_rule_anchor(ctx, op))
        find_group(&g, ops, op);
    *old_ops = NULL;
    if (g.n_ops < 2)
        return NULL;
    ln_rule_op(&made, ops->chain);
    for (int i = 0; i < g.part.n_srcs; i++) {
        char arg_name[32];
        snprintf(arg_name, sizeof(arg_name), "src%d", i);
        ln_rule_input(&made, arg_name, g.part.srcs[i]->name);
    }
    ln_rule_output(&made, "dst", g.dst->name);
    add_steps_of(&made, &g.part);
    const ln_op *replaced[TL_CHAIN_STEPS + 1] = {NULL};
    for (int i = 0; i < g.n_ops; i++) // producers first
        replaced[i] = g.ops[g.n_ops - 1 - i];
    return ln_rule_end_subgraph(&made, replaced, old_ops);
}

ln_list *ln_chain_elements(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_chain_ops ops = {"chain_elements", LN_OP_UNARY_CPU, LN_OP_BINARY_CPU,
                                     LN_OP_CHAIN_CPU, 0};
    return ln_chain_fuse(&ops, ctx, old_ops);
}
