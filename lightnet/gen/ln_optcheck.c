// SPDX-License-Identifier: Apache-2.0
// Optimizer descriptions: whether the names of a rule fit together, and in which order it matches.
//
// A pattern is matched from its last operator, the anchor, against the direction of the data: an
// operator is found as the producer of a tensor that an operator found before it reads. A tensor
// that the pattern produces and the replacement does not is removed, and nothing else may read it.

#include <stdio.h>
#include <string.h>

#include "gen/ln_cgen.h"
#include "gen/ln_optdesc.h"

// A rule being checked.
typedef struct checking {
    ln_optdesc *desc;
    ln_optrule *rule;
    ln_error *err;
} checking;

// Names

// Names that generated functions use themselves.
static const char *const reserved[] = {"ctx", "m"};

static int check_name(const checking *c, const ln_rjson *place, const char *kind, const char *name)
{
    if (!ln_c_is_identifier(name))
        return ln_optrule_fail(c->rule, place, c->err, "%s '%s' is not a C identifier", kind, name);
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        if (strcmp(reserved[i], name) == 0)
            return ln_optrule_fail(c->rule, place, c->err,
                                   "%s '%s' has a name that is reserved for generated code", kind,
                                   name);
    }
    return 0;
}

// The operators without a name get their first optype, with a number where that is taken.
static void name_ops(const checking *c)
{
    for (ln_optop *op = c->rule->match; op; op = op->next) {
        const char *name = op->optypes[0];
        for (int n = 2; !op->name; n++) {
            if (!ln_optop_find(c->rule->match, name))
                op->name = name;
            else
                name = ln_arena_printf(c->desc->arena, "%s_%d", op->optypes[0], n);
        }
    }
}

static int check_op_names(const checking *c)
{
    for (ln_optop *op = c->rule->match; op; op = op->next) {
        if (check_name(c, &op->place, "operator", op->name))
            return -1;
        if (ln_optop_find(c->rule->match, op->name) != op)
            return ln_optrule_fail(c->rule, &op->place, c->err, "two operators are named '%s'",
                                   op->name);
    }
    return 0;
}

// The tensor of that name, added at the end of the rule's when it is new; NULL after a reason.
static ln_opttensor *tensor_of(const checking *c, const ln_optarg *arg)
{
    ln_opttensor *tensor = ln_opttensor_find(c->rule, arg->tensor);
    if (tensor)
        return tensor;
    if (check_name(c, &arg->place, "tensor", arg->tensor))
        return NULL;
    if (ln_optop_find(c->rule->match, arg->tensor)) {
        ln_optrule_fail(c->rule, &arg->place, c->err, "'%s' names an operator and a tensor",
                        arg->tensor);
        return NULL;
    }
    ln_opttensor **tail = &c->rule->tensors;
    while (*tail)
        tail = &(*tail)->next;
    tensor = ln_arena_alloc(c->desc->arena, sizeof(*tensor));
    tensor->name = arg->tensor;
    tensor->place = arg->place;
    return *tail = tensor;
}

static int ops_name_tensor(const ln_optop *ops, const char *name)
{
    for (const ln_optop *op = ops; op; op = op->next) {
        const ln_optarg *const groups[] = {op->ins, op->outs};
        for (size_t i = 0; i < 2; i++) {
            for (const ln_optarg *arg = groups[i]; arg; arg = arg->next) {
                if (arg->tensor && strcmp(arg->tensor, name) == 0)
                    return 1;
            }
        }
    }
    return 0;
}

// A name that no tensor of the rule has.
static const char *new_tensor_name(const checking *c)
{
    for (int n = 1;; n++) {
        const char *name = ln_arena_printf(c->desc->arena, "unnamed%d", n);
        if (!ops_name_tensor(c->rule->match, name) && !ops_name_tensor(c->rule->replace, name))
            return name;
    }
}

// `_` is an unnamed tensor: each gets a unique name.
static void name_unnamed(const checking *c, ln_optop *ops)
{
    for (ln_optop *op = ops; op; op = op->next) {
        ln_optarg *const groups[] = {op->ins, op->outs};
        for (size_t i = 0; i < 2; i++) {
            for (ln_optarg *arg = groups[i]; arg; arg = arg->next) {
                if (arg->tensor && strcmp(arg->tensor, "_") == 0)
                    arg->tensor = new_tensor_name(c);
            }
        }
    }
}

// The pattern

static int add_match_tensors(const checking *c, const ln_optarg *args)
{
    for (const ln_optarg *arg = args; arg; arg = arg->next) {
        if (arg->op)
            return ln_optrule_fail(c->rule, &arg->place, c->err,
                                   "'%s.*' is not valid in a pattern, only in a replacement",
                                   arg->op);
        if (!tensor_of(c, arg))
            return -1;
    }
    return 0;
}

static int check_match_outs(const checking *c, ln_optop *op)
{
    for (const ln_optarg *arg = op->outs; arg; arg = arg->next) {
        ln_opttensor *tensor = ln_opttensor_find(c->rule, arg->tensor);
        if ((arg->optional && !c->desc->of_operator) || arg->exchange)
            return ln_optrule_fail(c->rule, &arg->place, c->err, "'%s' is not valid for an output",
                                   arg->optional ? "?=" : "<->");
        if (tensor->producer)
            return ln_optrule_fail(c->rule, &arg->place, c->err,
                                   "tensor '%s' is produced by '%s' and by '%s'", tensor->name,
                                   tensor->producer->name, op->name);
        tensor->producer = op;
    }
    return 0;
}

static int check_match_ins(const checking *c, ln_optop *op)
{
    for (ln_optarg *arg = op->ins; arg; arg = arg->next) {
        ln_opttensor *tensor = ln_opttensor_find(c->rule, arg->tensor);
        if (arg->optional && tensor->producer)
            return ln_optrule_fail(c->rule, &arg->place, c->err,
                                   "'%s' may be absent, but operator '%s' produces it",
                                   tensor->name, tensor->producer->name);
        if (arg->exchange &&
            (arg->optional || !arg->next || arg->next->exchange || arg->next->optional))
            return ln_optrule_fail(c->rule, &arg->place, c->err,
                                   "'<->' must be between two required inputs");
        if (arg->exchange)
            arg->exchange = ++c->rule->nexchange;
        tensor->reads += !op->keep;
        tensor->optional |= arg->optional;
    }
    return 0;
}

static int check_match_params(const checking *c, const ln_optop *op)
{
    for (const ln_optparam *param = op->params; param; param = param->next) {
        if (!param->arg_name || param->type >= LN_OPT_CODE_STRING)
            return ln_optrule_fail(c->rule, &param->place, c->err,
                                   "a pattern's parameter is a literal or OPERATOR.PARAM; put "
                                   "other conditions into \"when\"");
        if (param->type == LN_OPT_PARAM && !ln_optop_find(c->rule->match, param->op))
            return ln_optrule_fail(c->rule, &param->place, c->err,
                                   "unknown operator '%s' in the pattern", param->op);
    }
    return 0;
}

static int check_match(const checking *c)
{
    ln_optrule *rule = c->rule;
    if (!rule->match)
        return ln_optrule_fail(rule, ln_rjson_get(&rule->place, "match"), c->err,
                               "\"match\" has no operator");
    name_ops(c);
    name_unnamed(c, rule->match);
    if (check_op_names(c))
        return -1;
    for (ln_optop *op = rule->match; op; op = op->next, rule->nmatch++) {
        if (add_match_tensors(c, op->ins) || add_match_tensors(c, op->outs))
            return -1;
    }
    for (ln_optop *op = rule->match; op; op = op->next) {
        if (op->like)
            return ln_optrule_fail(rule, &op->place, c->err,
                                   "'%s.optype' is not valid in a pattern, only in a replacement",
                                   op->like);
        if (check_match_outs(c, op) || check_match_params(c, op))
            return -1;
    }
    for (ln_optop *op = rule->match; op; op = op->next) {
        if (check_match_ins(c, op))
            return -1;
    }
    if (rule->nexchange > 4)
        return ln_optrule_fail(rule, &rule->place, c->err, "more than 4 pairs of '<->'");
    return 0;
}

// The order of matching

// Whether an operator after `op` reads one of its outputs.
static int leads_on(const ln_optrule *rule, const ln_optop *op)
{
    for (const ln_optop *reader = op->next; reader; reader = reader->next) {
        for (const ln_optarg *arg = reader->ins; arg; arg = arg->next) {
            if (ln_opttensor_find(rule, arg->tensor)->producer == op)
                return 1;
        }
    }
    return !op->next;
}

static void reach(ln_optrule *rule, int *n, ln_optop *op);

// The producers of `arg` and of the inputs after it, the last one first.
static void reach_producers(ln_optrule *rule, int *n, const ln_optarg *arg)
{
    if (arg) {
        reach_producers(rule, n, arg->next);
        reach(rule, n, ln_opttensor_find(rule, arg->tensor)->producer);
    }
}

// Fills rule->order from its end, at `*n`: first the producers of `op`, then `op` before them.
static void reach(ln_optrule *rule, int *n, ln_optop *op)
{
    if (op && !op->reached) {
        op->reached = 1;
        reach_producers(rule, n, op->ins);
        rule->order[--(*n)] = op;
    }
}

// From the anchor to the producers of its inputs, and so on, each operator after all that read
// from it: the opposite is an order to run in.
static int order_by_data(const checking *c)
{
    ln_optrule *rule = c->rule;
    ln_optop *anchor = rule->match;
    int n = rule->nmatch;
    while (anchor->next)
        anchor = anchor->next;
    reach(rule, &n, anchor);
    for (const ln_optop *op = rule->match; op; op = op->next) {
        if (!op->reached)
            return ln_optrule_fail(rule, &op->place, c->err,
                                   "no output of '%s' leads to the last operator, '%s'", op->name,
                                   anchor->name);
    }
    if (anchor->keep && !rule->warn)
        return ln_optrule_fail(
            rule, &anchor->place, c->err,
            "the last operator, '%s', cannot be kept: the replacement takes its position",
            anchor->name);
    // Against the order of the text, if that finds each operator: replaced operators are then in
    // the order of the text, too.
    n = rule->nmatch;
    for (const ln_optop *op = rule->match; op; op = op->next) {
        if (!leads_on(rule, op))
            return 0;
    }
    for (ln_optop *op = rule->match; op; op = op->next)
        rule->order[--n] = op;
    return 0;
}

// A window of adjacent operators is matched as it is written.
static int order_as_written(const checking *c)
{
    ln_optop **at = c->rule->order;
    if (c->rule->nmatch < 2 || c->rule->nmatch > LN_MAX_WINDOW)
        return ln_optrule_fail(c->rule, ln_rjson_get(&c->rule->place, "adjacent"), c->err,
                               "\"adjacent\" has %d operator%s, expected 2 to %d", c->rule->nmatch,
                               c->rule->nmatch == 1 ? "" : "s", LN_MAX_WINDOW);
    for (ln_optop *op = c->rule->match; op; op = op->next) {
        if (op->keep)
            return ln_optrule_fail(c->rule, &op->place, c->err,
                                   "'keep' is not valid in an \"adjacent\" pattern: all of its "
                                   "operators are replaced");
        *at++ = op;
    }
    return 0;
}

// Numbers the tensors of `args` that have no number yet, from `*n` on.
static void number_tensors(const ln_optrule *rule, const ln_optarg *args, int *n)
{
    for (const ln_optarg *arg = args; arg; arg = arg->next) {
        ln_opttensor *tensor = ln_opttensor_find(rule, arg->tensor);
        if (tensor->index < 0)
            tensor->index = (*n)++;
    }
}

static void number_all_tensors(const ln_optrule *rule)
{
    int n = 0;
    for (ln_opttensor *tensor = rule->tensors; tensor; tensor = tensor->next)
        tensor->index = -1;
    for (int i = 0; i < rule->nmatch; i++) {
        number_tensors(rule, rule->order[i]->ins, &n);
        number_tensors(rule, rule->order[i]->outs, &n);
    }
}

// The replacement

static int check_source(const checking *c, const ln_rjson *place, const char *op)
{
    if (ln_optop_find(c->rule->match, op))
        return 0;
    return ln_optrule_fail(c->rule, place, c->err, "unknown operator '%s' in the pattern", op);
}

static int check_reads(const checking *c, const ln_rjson *place, const char *name)
{
    ln_opttensor *tensor = ln_opttensor_find(c->rule, name);
    if (!tensor)
        return ln_optrule_fail(
            c->rule, place, c->err,
            "tensor '%s' is neither in the pattern nor an output of an earlier operator", name);
    // Produced by an operator that stays, or by an earlier one of the replacement.
    const int is_readable =
        tensor->made || (!tensor->fresh && (!tensor->producer || tensor->producer->keep));
    if (!is_readable)
        return ln_optrule_fail(c->rule, place, c->err,
                               "tensor '%s' is read, but the replacement has removed it", name);
    return 0;
}

// 1 when `args` name this argument after `OPERATOR.*`, which then counts.
static int is_overridden(const ln_optarg *args, const char *arg_name)
{
    for (; args; args = args->next) {
        if (args->arg_name && strcmp(args->arg_name, arg_name) == 0)
            return 1;
    }
    return 0;
}

static int check_all_inputs(const checking *c, const ln_optarg *all)
{
    if (check_source(c, &all->place, all->op))
        return -1;
    const ln_optop *from = ln_optop_find(c->rule->match, all->op);
    if (from->keep && from->any_in)
        return ln_optrule_fail(c->rule, &all->place, c->err,
                               "the inputs of '%s', which is kept, must be listed in the pattern: "
                               "the replacement reads them later",
                               all->op);
    for (const ln_optarg *arg = from->ins; arg; arg = arg->next) {
        if (!is_overridden(all->next, arg->arg_name) && check_reads(c, &all->place, arg->tensor))
            return -1;
    }
    return 0;
}

// An operator without its optional input is left out: its output is its first input, or absent,
// too.
static int check_left_out(const checking *c, const ln_optop *op)
{
    int may_be = op->only_if != NULL;
    for (const ln_optarg *arg = op->ins; arg; arg = arg->next)
        may_be |= arg->optional;
    if (!may_be || (op->ins && op->outs && !op->outs->next))
        return 0;
    return ln_optrule_fail(c->rule, &op->place, c->err,
                           "an operator that may be left out, expected an input and one output");
}

static int check_replace_ins(const checking *c, const ln_optop *op)
{
    for (const ln_optarg *arg = op->ins; arg; arg = arg->next) {
        if (arg->exchange)
            return ln_optrule_fail(c->rule, &arg->place, c->err,
                                   "'<->' is not valid in a replacement");
        if (arg->op ? check_all_inputs(c, arg) : check_reads(c, &arg->place, arg->tensor))
            return -1;
    }
    return 0;
}

static int check_made(const checking *c, const ln_optarg *arg, const ln_opttensor *tensor)
{
    const ln_optop *anchor = c->rule->order[0];
    if (tensor->made)
        return ln_optrule_fail(c->rule, &arg->place, c->err, "tensor '%s' is produced twice",
                               tensor->name);
    if (tensor->fresh)
        return 0;
    if (!tensor->producer)
        return ln_optrule_fail(
            c->rule, &arg->place, c->err,
            "tensor '%s' is an input of the pattern, which a replacement cannot produce",
            tensor->name);
    if (tensor->producer->keep)
        return ln_optrule_fail(c->rule, &arg->place, c->err,
                               "tensor '%s' is produced by '%s', which is kept", tensor->name,
                               tensor->producer->name);
    if (tensor->producer != anchor && !c->rule->adjacent)
        return ln_optrule_fail(c->rule, &arg->place, c->err,
                               "tensor '%s' would be produced later, at the position of '%s'; "
                               "write 'keep' before '%s' instead",
                               tensor->name, anchor->name, tensor->producer->name);
    return 0;
}

static int check_replace_outs(const checking *c, const ln_optop *op)
{
    if (op->any_in || op->any_out)
        return ln_optrule_fail(c->rule, &op->place, c->err,
                               "'*' is not valid in a replacement; write OPERATOR.*");
    for (const ln_optarg *arg = op->outs; arg; arg = arg->next) {
        if (arg->op || arg->optional)
            return ln_optrule_fail(c->rule, &arg->place, c->err,
                                   "an output of a replacement must have the form ARG=TENSOR");
        const int is_new = !ln_opttensor_find(c->rule, arg->tensor);
        ln_opttensor *tensor = tensor_of(c, arg);
        if (!tensor)
            return -1;
        tensor->fresh |= is_new;
        if (check_made(c, arg, tensor))
            return -1;
        tensor->made = 1;
    }
    return 0;
}

static int check_replace(const checking *c)
{
    name_unnamed(c, c->rule->replace);
    for (ln_optop *op = c->rule->replace; op; op = op->next) {
        if (op->keep || op->noptypes > 1)
            return ln_optrule_fail(c->rule, &op->place, c->err, "%s is not valid in a replacement",
                                   op->keep ? "'keep'" : "a set of optypes");
        if (op->like && check_source(c, &op->place, op->like))
            return -1;
        if (check_left_out(c, op) || check_replace_ins(c, op) || check_replace_outs(c, op))
            return -1;
        for (const ln_optparam *param = op->params; param; param = param->next) {
            if (param->op && check_source(c, &param->place, param->op))
                return -1;
        }
    }
    for (ln_opttensor *tensor = c->rule->tensors; tensor; tensor = tensor->next)
        tensor->removed = !c->rule->warn && !c->desc->of_operator && tensor->producer &&
                          !tensor->producer->keep && !tensor->made;
    return 0;
}

// Rules

// Compares with the capacity of ln_rule_match.
static int check_size(const checking *c)
{
    int n = 0;
    for (const ln_opttensor *tensor = c->rule->tensors; tensor; tensor = tensor->next)
        n++;
    if (c->rule->nmatch > LN_MAX_RULE_OPS)
        return ln_optrule_fail(c->rule, &c->rule->place, c->err, "%d operators, at most %d",
                               c->rule->nmatch, LN_MAX_RULE_OPS);
    if (n > LN_MAX_RULE_TENSORS)
        return ln_optrule_fail(c->rule, &c->rule->place, c->err, "%d tensors, at most %d", n,
                               LN_MAX_RULE_TENSORS);
    return 0;
}

static int check_rule(const checking *c)
{
    ln_optrule *rule = c->rule;
    const ln_rjson *name = ln_rjson_get(&rule->place, "name");
    if (!ln_c_is_identifier(rule->name))
        return ln_optrule_fail(rule, name, c->err, "the name is not a C identifier");
    if (strstr(rule->doc, "*/") || strchr(rule->doc, '\n'))
        return ln_optrule_fail(rule, ln_rjson_get(&rule->place, "doc"), c->err,
                               "\"doc\" must be one line without \"*/\": it becomes a C comment");
    for (const ln_optrule *other = rule->next; other; other = other->next) {
        if (strcmp(other->name, rule->name) == 0)
            return ln_optrule_fail(other, ln_rjson_get(&other->place, "name"), c->err,
                                   "another rule has this name, at %s:%d", rule->place.file,
                                   rule->place.line);
    }
    if (rule->function && ln_c_is_identifier(rule->function))
        return 0;
    if (rule->function)
        return ln_optrule_fail(rule, ln_rjson_get(&rule->place, "function"), c->err,
                               "\"function\" is '%s', expected a C identifier", rule->function);
    if (check_match(c))
        return -1;
    rule->order = ln_arena_alloc(c->desc->arena, (size_t)rule->nmatch * sizeof(*rule->order));
    if ((rule->adjacent ? order_as_written(c) : order_by_data(c)) || check_replace(c) ||
        check_size(c))
        return -1;
    number_all_tensors(rule);
    return c->desc->of_operator ? 0 : ln_opthint_check(rule, c->err);
}

int ln_optdesc_check(ln_optdesc *desc, ln_error *err)
{
    // The names of arrays and functions end in these.
    if (!ln_c_is_identifier(desc->arch))
        return ln_error_set(err, "%s: \"arch\" is '%s', expected a C identifier", desc->files[0],
                            desc->arch);
    if (desc->lower && !ln_c_is_identifier(ln_arena_printf(desc->arena, "x%s", desc->lower->text)))
        return ln_rjson_fail(desc->lower, err,
                             "\"lower\" is '%s', expected the suffix of an optype",
                             desc->lower->text);
    for (ln_optrule *rule = desc->rules; rule; rule = rule->next) {
        const checking c = {.desc = desc, .rule = rule, .err = err};
        if (check_rule(&c))
            return -1;
    }
    return 0;
}
