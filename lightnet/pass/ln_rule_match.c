// SPDX-License-Identifier: Apache-2.0
// Rules as tables: matches them, and runs them as one of the three kinds of rewrite functions.
//
// The text of a pattern is read while it is compared, up to the first difference: for most rules
// and operators that is the first word, a type. It has the last operator first; "T=" precedes each
// other one, the producer of a tensor T that an operator before it in the text reads:
//
//     {elew|sum} add(src1=t <-> src2=z, bias?=b |dst=y |elew_op=TL_SUM);
//     t=mul keep scale(* |dst=t);
//
// `add` and `scale` are names for the rule; either order of src1 and src2 (<->) and an absent bias
// (?=) match, any inputs (*) of `scale` do, and `scale` stays in the program (keep).

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"
#include "base/ln_list_end.h"
#include "pass/ln_rewriting.h"
#include "pass/ln_rule_text.h"

// Types

// The text after its first word, if that is `string`; or NULL.
static const char *after_word(const char *text, const char *string)
{
    while (*string && *string == *text) {
        string++;
        text++;
    }
    return !*string && !ln_rule_is_letter(*text) ? text : NULL;
}

// The text after a set of types, "{A|B}", if `optype` is one of them; or NULL.
static const char *after_set(const char *text, const char *optype)
{
    int is_one = 0;
    while (*text++ != '}') {
        const char *t = optype;
        while (*t && *t == *text) {
            t++;
            text++;
        }
        is_one |= !*t && (*text == '|' || *text == '}');
        while (*text != '|' && *text != '}')
            text++;
    }
    return is_one ? text : NULL;
}

// The text after the type, or the set of types, with which it begins, if the operator has such a
// type; or NULL.
static const char *after_type(const char *text, const ln_op *op)
{
    const char *const optype = op->op_arg->optype;
    return *text == '{' ? after_set(text, optype) : after_word(text, optype);
}

// Operators

// A pattern being compared.
typedef struct matching {
    ln_rule_match *m;
    const char *p;                       // the rest of the text
    int swaps;                           // the number of pairs "A <-> B" in it
    unsigned order;                      // bit i: the pair with i pairs after it is swapped
    const char *params[LN_MAX_RULE_OPS]; // the text of each operator's parameters
    int has_other_sizes;                 // than those that the rule applies to
    ln_rule_outcome why; // LN_RULE_APPLIED, or the first reason against operators that match
    const char *text;    // of the reason, or NULL
} matching;

// Notes a reason against operators that the pattern matches. Returns 0.
static int refuse(matching *at, ln_rule_outcome why, const char *text)
{
    if (at->why == LN_RULE_APPLIED) {
        at->why = why;
        at->text = text;
    }
    return 0;
}

// An argument of an operator of the pattern: where its words begin.
typedef struct pattern_arg {
    const char *arg_name;
    const char *tensor;
    int optional;
} pattern_arg;

// The argument at `*p`, which is advanced past it.
static pattern_arg read_arg(const char **p)
{
    pattern_arg arg = {.arg_name = *p};
    const char *at = ln_rule_behind_word(*p);
    arg.optional = *at == '?';
    arg.tensor = at + arg.optional + 1;
    *p = ln_rule_behind_word(arg.tensor);
    return arg;
}

static const ln_tensor_list_entry *find_arg(const ln_list *list, const char *arg_name)
{
    for (; list; list = list->next) {
        const ln_tensor_list_entry *const tle = list->data;
        if (after_word(arg_name, tle->arg_name))
            return tle;
    }
    return NULL;
}

// The slot of a tensor in the match; a new one if the pattern names it for the first time.
static const ln_tensor_entry **slot_of(ln_rule_match *m, const char *name)
{
    int i = ln_rule_tensor_index(m, name);
    if (i < 0) {
        assert(m->n_tensors < LN_MAX_RULE_TENSORS);
        i = m->n_tensors++;
        m->tensor_names[i] = name;
        m->tensors[i] = NULL;
    }
    return &m->tensors[i];
}

// Whether argument `arg_name` in the list of the latest operator is the tensor of `arg` (`arg_name`
// is that of the other one in a swapped pair), or is absent and optional. Counts a present one.
static int fits(ln_rule_match *m, const ln_list *list, const char *arg_name, const pattern_arg *arg,
                int *n)
{
    const int last = m->n_ops - 1;
    const ln_tensor_list_entry *const tle = find_arg(list, arg_name);
    if (!tle && !arg->optional)
        return 0;
    const ln_tensor_entry **const te = slot_of(m, arg->tensor);
    if (tle) {
        const ln_tensor_entry *const found = ln_entry_of(tle, m->ops[last]->op_arg->tensor_table);
        // Rules skip empty tensors: their replacements may need elements.
        if (!found || (*te && *te != found) || (!found->tensor->len && !m->rule->is_meaning))
            return 0;
        *te = found;
    }
    *n += tle != NULL;
    // Inputs and outputs of a kept operator are not written in place.
    return !(m->kept >> last & 1) || !*te || !ln_entry_is_mutated(*te);
}

// The next argument, or the next two whose order is free.
static int next_fits(matching *at, const ln_list *list, int *n)
{
    const pattern_arg first = read_arg(&at->p);
    if (at->p[0] != ' ' || at->p[1] != '<')
        return fits(at->m, list, first.arg_name, &first, n);
    at->p += strlen(" <-> ");
    const pattern_arg second = read_arg(&at->p);
    const int swapped = at->order >> --at->swaps & 1;
    return fits(at->m, list, swapped ? second.arg_name : first.arg_name, &first, n) &&
           fits(at->m, list, swapped ? first.arg_name : second.arg_name, &second, n);
}

// Whether the inputs, or outputs, of the latest operator are those of the text, and no others. The
// text ends with a blank or a parenthesis.
static int args_fit(matching *at, const ln_list *list)
{
    int n = 0;
    while (*at->p != ' ' && *at->p != ')') {
        if (*at->p == '*') {
            at->p++;
            return 1;
        }
        if (!next_fits(at, list, &n))
            return 0;
        if (*at->p == ',')
            at->p += 2;
    }
    for (; list; list = list->next)
        n--;
    return n == 0;
}

// Whether the match does not have the operator yet.
static int is_new(const ln_rule_match *m, const ln_op *op)
{
    for (int i = 0; i < m->n_ops; i++) {
        if (m->ops[i] == op)
            return 0;
    }
    return 1;
}

static int has_sizes(const ln_rule *rule, const ln_op *op)
{
    static int (*const is_rejected[])(const ln_op *) = {
        [LN_RULE_FIXED] = ln_op_is_dynamic, [LN_RULE_OPEN_BATCH] = ln_op_is_dynamic_beyond_batch};
    return rule->sizes == LN_RULE_OPEN || !is_rejected[rule->sizes](op);
}

// Whether to go on with the operator: an observer wants to know whether all but the sizes match.
static int sizes_fit(matching *at, const ln_op *op)
{
    if (has_sizes(at->m->rule, op))
        return 1;
    at->has_other_sizes = 1;
    return at->m->ctx->rule_func != NULL;
}

// Adds the operator to the match. Its text continues at `p` after its type: "(", " NAME(" or
// " keep NAME(". Without a NAME, its type is its name.
static void enter_op(matching *at, const ln_op *op, const char *p)
{
    ln_rule_match *const m = at->m;
    assert(m->n_ops < LN_MAX_RULE_OPS);
    m->op_names[m->n_ops] = at->p;
    if (*p == ' ') {
        if (ln_rule_accept(&p, " keep "))
            m->kept |= 1u << m->n_ops;
        else
            p++;
        m->op_names[m->n_ops] = p;
        p = ln_rule_behind_word(p);
    }
    at->p = p + 1;
    m->ops[m->n_ops++] = op;
}

// Whether the operator is the next one of the text.
static int op_fits(matching *at, const ln_op *op)
{
    const char *const p = op ? after_type(at->p, op) : NULL;
    if (!p || !is_new(at->m, op) || !sizes_fit(at, op))
        return 0;
    enter_op(at, op, p);
    if (!args_fit(at, op->op_arg->tensors_in))
        return 0;
    at->p += strlen(" |");
    if (!args_fit(at, op->op_arg->tensors_out))
        return 0;
    at->params[at->m->n_ops - 1] = at->p;
    while (*at->p++ != ';') {
    }
    return 1;
}

// Parameters

static int has_value(const ln_op *op, const char *arg_name, const ln_rule_value *value)
{
    switch (value->type) {
    case LN_RULE_NUMBER:
        return ln_op_has_number(op, arg_name, value->numbers[0]);
    case LN_RULE_NUMBERS:
        return ln_op_has_numbers(op, arg_name, value->len, value->numbers);
    case LN_RULE_BOOL:
        return ln_op_has_bool(op, arg_name, value->numbers[0] != 0 ? LN_TRUE : LN_FALSE);
    case LN_RULE_NULL:
        return ln_op_has_null(op, arg_name);
    case LN_RULE_STRING:
        return ln_op_has_string(op, arg_name, value->word);
    default:
        return ln_op_same_param(op, arg_name, value->op, value->word);
    }
}

// Whether the operator has the parameters of the text, " | PARAM=VALUE, ..)".
static int params_fit(const ln_rule_match *m, const ln_op *op, const char *p)
{
    char arg_name[LN_MAX_NAME_LEN];
    ln_rule_value value;
    int fit = 1;
    ln_rule_accept(&p, " |");
    while (fit && *p != ')') {
        ln_rule_read_word(&p, arg_name);
        p++; // '='
        ln_rule_read_value(m, &p, &value);
        fit = has_value(op, arg_name, &value);
        ln_rule_accept(&p, ", ");
    }
    return fit;
}

// Rules

// The first removed tensor that has other readers than those in the pattern; NULL: none.
static const ln_tensor_entry *read_elsewhere(const ln_rule_match *m)
{
    const char *p = m->rule->removed;
    while (p) {
        const ln_tensor_entry *const te = m->tensors[ln_rule_tensor_index(m, p)];
        char *end;
        if (ln_entry_num_uses(te) != strtol(ln_rule_behind_word(p), &end, 10))
            return te;
        p = *end ? end + 2 : NULL;
    }
    return NULL;
}

// Condition `number`, from 1, of the rule as text; NULL: the rule has no texts.
static const char *condition_text(const ln_rule *rule, int number)
{
    const char *text = rule->when;
    while (text && --number)
        text += strlen(text) + 1;
    return text;
}

// Whether parameters and conditions fit, once all operators have matched.
static int rest_fits(matching *at)
{
    const ln_rule_match *const m = at->m;
    for (int i = 0; i < m->n_ops; i++) {
        if (!params_fit(m, m->ops[i], at->params[i]))
            return 0;
    }
    if (at->has_other_sizes)
        return refuse(at, LN_RULE_SIZES, NULL);
    const ln_tensor_entry *const te = read_elsewhere(m);
    if (te)
        return refuse(at, LN_RULE_READERS, te->name);
    const int failed = m->rule->refuses ? m->rule->refuses(m) : 0;
    return !failed ||
           (failed > 0 && refuse(at, LN_RULE_CONDITION, condition_text(m->rule, failed)));
}

// Begins to compare the pattern with other operators.
static void begin(matching *at, ln_rule_match *m, unsigned order)
{
    m->n_ops = m->n_tensors = 0;
    m->kept = 0;
    at->m = m;
    at->has_other_sizes = 0;
    at->p = m->rule->match;
    at->swaps = m->rule->swaps;
    at->order = order;
}

// Whether the pattern ends in `op`.
static int matches_at(matching *at, const ln_op *op)
{
    while (op_fits(at, op)) {
        if (!*at->p)
            return rest_fits(at);
        op = ln_entry_creater(at->m->tensors[ln_rule_tensor_index(at->m, at->p)]);
        at->p = ln_rule_behind_word(at->p) + 1;
    }
    return 0;
}

// Whether the pattern matches exactly these operators.
static int matches_window(matching *at, const ln_list *win_ops)
{
    for (; *at->p && win_ops; win_ops = win_ops->next) {
        if (!op_fits(at, win_ops->data))
            return 0;
    }
    return !*at->p && !win_ops && rest_fits(at);
}

// The operator in which a match ends.
static const ln_op *last_op(const ln_op *op, const ln_list *win_ops)
{
    return op ? op : ln_list_end((ln_list *)win_ops)->data;
}

// Tells an observer why the rule does not apply to operators that its pattern matches.
static void report(const matching *at, const ln_op *op, const ln_list *win_ops)
{
    const ln_rule *const rule = at->m->rule;
    const ln_context *const ctx = at->m->ctx;
    const int is_asked = ctx->rewriting && ctx->rewriting->winner;
    if (at->why != LN_RULE_APPLIED && !rule->is_meaning && !rule->warn && !is_asked)
        ln_rewriting_report(ctx, rule->name, at->why, last_op(op, win_ops), at->text);
}

// Finds a match that ends in `op`, or consists of the operators of a window. `order` counts through
// all subsets of swapped pairs. A rule that warns never matches.
static int find(ln_rule_match *m, const ln_op *op, const ln_list *win_ops)
{
    matching at;
    at.why = LN_RULE_APPLIED;
    for (unsigned order = 0; order < 1u << m->rule->swaps; order = at.order + 1) {
        begin(&at, m, order);
        const int matches = op ? matches_at(&at, op) : matches_window(&at, win_ops);
        if (matches && !m->rule->warn)
            return 1;
        if (matches)
            ln_rule_warn(m->ctx, m->rule->name, m->ops[0], m->rule->warn);
        else
            at.order |= (1u << at.swaps) - 1; // skip orders that differ only in unread pairs
    }
    report(&at, op, win_ops);
    return 0;
}

static int find_anywhere(ln_rule_match *m)
{
    LN_FOREACH (const ln_op *, op, m->ctx->ops)
        if (find(m, op, NULL))
            return 1;
    return 0;
}

// Finishes the replacements of all operators that are not kept, in their order.
static ln_list *end_subgraph(ln_rule_match *m, ln_list **old_ops)
{
    const ln_op *replaced[LN_MAX_RULE_OPS + 1];
    int n = 0;
    for (int i = m->n_ops - 1; i >= 0; i--) {
        if (!(m->kept >> i & 1))
            replaced[n++] = m->ops[i];
    }
    replaced[n] = NULL;
    return ln_rule_end_subgraph(&m->made, replaced, old_ops);
}

// Creates the replacement of the match. Sets `*old_ops` or, if that is NULL, `*match`.
static ln_list *make(ln_rule_match *m, ln_list **old_ops, int *match)
{
    m->made = (ln_rule_made){.ctx = m->ctx, .rule = m->rule->name};
    memset(m->new_names, 0, sizeof(m->new_names));
    if (m->rule->make)
        m->rule->make(m);
    else if (m->rule->replace)
        ln_rule_make(m, m->rule->replace);
    return old_ops ? end_subgraph(m, old_ops) : ln_rule_end(&m->made, match);
}

// Applies the rule if its pattern ends in `op`, or matches a window; both NULL: anywhere.
static ln_list *apply(const ln_rule *rule, const ln_context *ctx, const ln_op *op,
                      const ln_list *win_ops, ln_list **old_ops, int *match)
{
    ln_rule_match m;
    const char *const winner = ctx->rewriting ? ctx->rewriting->winner : NULL;
    if (!ln_rewriting_rule_begins(ctx, rule->name))
        return NULL;
    m.ctx = ctx;
    m.rule = rule;
    const int is_found = op || win_ops ? find(&m, op, win_ops) : find_anywhere(&m);
    if (is_found && winner)
        ln_rewriting_report(ctx, rule->name, LN_RULE_OUTRANKED, last_op(op, win_ops), winner);
    return is_found && !winner ? make(&m, old_ops, match) : NULL;
}

// Meanings

// The first tensor of the match that is not absent, or NULL.
static const tl_tensor *first_tensor(const ln_rule_match *m)
{
    int i = 0;
    while (i < m->n_tensors && !m->tensors[i])
        i++;
    return i < m->n_tensors ? m->tensors[i]->tensor : NULL;
}

// Creates the replacement of m->ops[0] by its meaning, counted as rewrite `name`; NULL: the rule's.
static ln_list *mean(ln_rule_match *m, const char *name, int *match)
{
    const tl_tensor *const first = first_tensor(m);
    const int is_half = first && tl_dtype_is_float(first->dtype) && tl_size_of(first->dtype) == 2;
    m->made = (ln_rule_made){.ctx = m->ctx,
                             .rule = name ? name : m->rule->name,
                             .name = m->ops[0]->op_arg->name,
                             .dtype = first ? first->dtype : TL_FLOAT};
    memset(m->new_names, 0, sizeof(m->new_names));
    if (m->rule->wide && is_half)
        ln_rule_make_float32(&m->made, m->ops[0]);
    else if (m->rule->make)
        m->rule->make(m);
    else
        ln_rule_make(m, m->rule->replace);
    return ln_rule_end(&m->made, match);
}

ln_list *ln_rule_mean(const ln_context *ctx, const char *rule, const ln_op *op, int *match)
{
    const ln_op_info *const info = op->op_arg->info;
    ln_rule_match m = {.ctx = ctx};
    *match = 0;
    for (const ln_rule *const *at = info ? info->means : NULL; at && *at; at++) {
        m.rule = *at;
        if (after_type(m.rule->match, op) && find(&m, op, NULL))
            return mean(&m, rule, match);
    }
    return NULL;
}

// Functions for drivers, most of whose calls end at the first comparison

// Whether the operator may be the rule's last one.
static int may_end(const ln_rule *rule, const ln_op *op)
{
    const char first = *rule->match;
    return (first == '{' || first == *op->op_arg->optype) && after_type(rule->match, op);
}

ln_list *ln_rule_expand(const ln_rule *rule, const ln_context *ctx, const ln_op *op, int *match)
{
    *match = 0;
    return may_end(rule, op) ? apply(rule, ctx, op, NULL, NULL, match) : NULL;
}

ln_list *ln_rule_combine(const ln_rule *rule, const ln_context *ctx, const ln_list *win_ops,
                         size_t win_size, int *match)
{
    *match = 0;
    return win_size ? apply(rule, ctx, NULL, win_ops, NULL, match) : NULL;
}

ln_list *ln_rule_substitute(const ln_rule *rule, const ln_context *ctx, ln_list **old_ops)
{
    const ln_op *const anchor = ln_rewriting_anchor(ctx);
    *old_ops = NULL;
    return !anchor || may_end(rule, anchor) ? apply(rule, ctx, anchor, NULL, old_ops, NULL) : NULL;
}
