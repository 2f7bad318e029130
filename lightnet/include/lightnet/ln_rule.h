// SPDX-License-Identifier: Apache-2.0
// Building blocks of rewrite rules: search, and construction of replacements. ln_op.h reads
// operators.
//
//     if (!ln_op_is(op, LN_OP_UNARY_CPU) || !ln_op_has_string(op, "func", "TL_UNARY_SIGN") ||
//         !ln_op_reads(op, "src", &x))
//         return NULL;
//     ln_rule_made made = {.ctx = ctx, .rule = "sign_as_sign_cpu"};
//     ln_rule_op(&made, LN_OP_SIGN_CPU);
//     ln_rule_input(&made, "src", x->name);
//     ln_rule_output(&made, "dst", y->name);
//     return ln_rule_end(&made, match);
//
// The construction functions are void: after an error, which the context records,
// the others do nothing, and ln_rule_end reports that the rule does not apply.
//
// Generated rules (docs/optimizer-descriptions.md) are tables (ln_rule) for one interpreter.

#ifndef LN_RULE_H
#define LN_RULE_H

#include <stdbool.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"

LN_BEGIN_DECLS

// Finding

/** Iterates over the operators at which to try a subgraph rule: first `after` NULL, then the last
 * result; only the anchor (ln_pass_anchor), if any, else all operators. NULL: no more. */
LN_API const ln_op *ln_rule_anchor(const ln_context *ctx, const ln_op *after);

// Constants

/** The one element of constant `te`, if it is in the model: as a parameter of its
 * operator, or in its own file; or a cast of such a constant. NaN, which compares
 * as false with every number: it has more elements, or is unknown before load. */
LN_API double ln_rule_scalar(const ln_context *ctx, const ln_tensor_entry *te);

// Construction

/** A replacement under construction: zeroed except `ctx` and `rule`. */
typedef struct ln_rule_made {
    const ln_context *ctx;
    const char *rule; // its name, a constant string
    ln_list *ops;     // the new operators
    ln_op *op;        // the last of them
    ln_list *names;   // of new tensors
    int failed;
    const char *name; // of the next operator; NULL: a new one
    tl_dtype dtype;   // of constants: that of the match's first tensor
    int skips;        // leaves out the next operator of the text
    int left_out;     // the last operator of the text is left out, as an input is absent
} ln_rule_made;

/** A new tensor's name: `prefix` and a number. Returns borrowed (until the end); "" on failure. */
LN_API const char *ln_rule_tensor(ln_rule_made *made, const char *prefix);

/** Adds an operator, which later calls refer to. */
LN_API void ln_rule_op(ln_rule_made *made, const char *optype);

/** Adds an input or an output to the operator, or changes its tensor. */
LN_API void ln_rule_input(ln_rule_made *made, const char *arg_name, const char *tname);
LN_API void ln_rule_output(ln_rule_made *made, const char *arg_name, const char *tname);

/** Adds an input that is a constant of one element, of the type of the match's first tensor. */
LN_API void ln_rule_constant(ln_rule_made *made, const char *arg_name, double value);

/** Adds all inputs, or all parameters, of `from` to the operator. */
LN_API void ln_rule_all_inputs(ln_rule_made *made, const ln_op *from);
LN_API void ln_rule_all_params(ln_rule_made *made, const ln_op *from);

/** Sets a parameter of the operator, new or existing. */
LN_API void ln_rule_null(ln_rule_made *made, const char *arg_name);
LN_API void ln_rule_bool(ln_rule_made *made, const char *arg_name, ln_bool value);
LN_API void ln_rule_number(ln_rule_made *made, const char *arg_name, double value);
LN_API void ln_rule_string(ln_rule_made *made, const char *arg_name, const char *value);
LN_API void ln_rule_bools(ln_rule_made *made, const char *arg_name, int len, const ln_bool *values);
LN_API void ln_rule_ints(ln_rule_made *made, const char *arg_name, int len, const int *values);
LN_API void ln_rule_numbers(ln_rule_made *made, const char *arg_name, int len,
                            const double *values);
LN_API void ln_rule_strings(ln_rule_made *made, const char *arg_name, int len,
                            const char *const *values);

/** Sets the parameter to the value of parameter `arg_name2` of `from`; fails without it. */
LN_API void ln_rule_param(ln_rule_made *made, const char *arg_name, const ln_op *from,
                          const char *arg_name2);

/** The new operators, as an expander or combiner returns them. */
LN_API ln_list *ln_rule_end(ln_rule_made *made, int *match);

/** The new operators, as a subgraph function returns them for those `replaced` (NULL-terminated, in
 * an order of the list). */
LN_API ln_list *ln_rule_end_subgraph(ln_rule_made *made, const ln_op *const *replaced,
                                     ln_list **old_ops);

/** Warns about `op`, once for each rule: "operator 'NAME' (OPTYPE): TEXT". */
LN_API void ln_rule_warn(const ln_context *ctx, const char *rule, const ln_op *op,
                         const char *text);

// Rules as tables

/** The match of an ln_rule, and its replacement. Names point into the rule's text: each ends with
 * its word, not with a NUL. */
typedef struct ln_rule_match {
    const ln_context *ctx;
    const struct ln_rule *rule;
    const ln_op *ops[LN_MAX_RULE_OPS]; // as the rule's `match` has them
    int n_ops;
    const ln_tensor_entry *tensors[LN_MAX_RULE_TENSORS]; // in the order in which `match` names them
                                                         // first, NULL: absent; then new ones
    int n_tensors;
    const char *op_names[LN_MAX_RULE_OPS];
    const char *tensor_names[LN_MAX_RULE_TENSORS];
    const char *new_names[LN_MAX_RULE_TENSORS]; // of new tensors: in the context
    unsigned kept;                              // bit i: ops[i] stays
    ln_rule_made made;
} ln_rule_match;

/** The operators of dynamic shapes that a rule applies to. */
typedef enum ln_rule_sizes {
    LN_RULE_FIXED,      // none
    LN_RULE_OPEN_BATCH, // those of which ln_op_is_dynamic_beyond_batch is false
    LN_RULE_OPEN,       // all
} ln_rule_sizes;

/** A result of ln_rule.refuses: a parameter has another value than that of the pattern. */
enum { LN_RULE_DIFFERS = -1 };

/** A rule as ln-optgen writes it: its pattern and its replacement. The texts have the normalized
 * notation of descriptions, and are not checked.
 *
 * `match` has the operators from the last one to the first, those of a LN_COMBINER_RULE in their
 * order: "[TENSOR=]{OPTYPE|..} [keep] [NAME](INPUTS |OUTPUTS |PARAMETERS);", where TENSOR, absent
 * for the first one, is the one that the operator produces and an earlier one reads. */
typedef struct ln_rule {
    const char *name;
    const char *removed; // removed tensors, each with the number
                         // of its readers: "t 1, u 2"; or NULL
    int swaps;           // the pairs of inputs with "<->" in `match`
    ln_rule_sizes sizes;
    int (*refuses)(const ln_rule_match *m); // the other conditions: returns 0 if the rule applies,
                                            // LN_RULE_DIFFERS, or the number from 1 of the first
                                            // condition that fails; or NULL
    const char *when; // the text of each condition, with its NUL, for ln_context_watch_rules; or
                      // NULL
    const char *match;
    const char *replace;            // the new operators, or NULL
    void (*make)(ln_rule_match *m); // makes them if a text is not sufficient, or NULL
    const char *warn;               // a message instead, or NULL
    bool is_meaning;                // of an operator, also of one with empty tensors
    bool wide;                      // floats of 16 bits are converted to 32 bits first
} ln_rule;

/** Define the function apply_NAME, of the kind that an architecture registers, by a rule's table.
 */
#define LN_EXPANDER_RULE(NAME, ...)                                                  \
    static const ln_rule rule_##NAME = {.name = #NAME, __VA_ARGS__};                 \
    static ln_list *apply_##NAME(const ln_context *ctx, const ln_op *op, int *match) \
    {                                                                                \
        return ln_rule_expand(&rule_##NAME, ctx, op, match);                         \
    }
#define LN_MEANING(NAME, ...) \
    static const ln_rule rule_##NAME = {.name = #NAME, .is_meaning = true, __VA_ARGS__};
#define LN_COMBINER_RULE(NAME, ...)                                                              \
    static const ln_rule rule_##NAME = {.name = #NAME, __VA_ARGS__};                             \
    static ln_list *apply_##NAME(const ln_context *ctx, const ln_list *win_ops, size_t win_size, \
                                 int *match)                                                     \
    {                                                                                            \
        return ln_rule_combine(&rule_##NAME, ctx, win_ops, win_size, match);                     \
    }
#define LN_SUBGRAPH_RULE(NAME, ...)                                        \
    static const ln_rule rule_##NAME = {.name = #NAME, __VA_ARGS__};       \
    static ln_list *apply_##NAME(const ln_context *ctx, ln_list **old_ops) \
    {                                                                      \
        return ln_rule_substitute(&rule_##NAME, ctx, old_ops);             \
    }

/** The rule as a ln_expander_func: it has one operator. */
LN_API ln_list *ln_rule_expand(const ln_rule *rule, const ln_context *ctx, const ln_op *op,
                               int *match);

/** The rule as a ln_combiner_func. */
LN_API ln_list *ln_rule_combine(const ln_rule *rule, const ln_context *ctx, const ln_list *win_ops,
                                size_t win_size, int *match);

/** The rule as a ln_subgraph_func. */
LN_API ln_list *ln_rule_substitute(const ln_rule *rule, const ln_context *ctx, ln_list **old_ops);

/** For `make`: adds the operators of a text, "OPTYPE(INPUTS | OUTPUTS | PARAMETERS);" each. One
 * whose input "ARG?=TENSOR" is absent is left out: its output is its first input. The functions
 * that set a parameter of m->made are then about the last one. */
LN_API void ln_rule_make(ln_rule_match *m, const char *ops);

/** For `make`: adds parameters to the last operator, "ARG=VALUE, OPERATOR.*". */
LN_API void ln_rule_make_params(ln_rule_match *m, const char *params);

// Meanings, of descriptions of operators ("means")

/** The axes of `te` from one on. Returns how many. */
static inline int ln_rule_axes_from(const ln_tensor_entry *te, int axis, int axes[LN_MAXDIM])
{
    int n = 0;
    for (int i = axis; i < te->tensor->ndim; i++)
        axes[n++] = i;
    return n;
}

/** The shape in which a vector (or NULL), with an element for each index along an axis of `te`, is
 * broadcast to `te`. Returns its number of axes. */
static inline int ln_rule_along_axis(const ln_tensor_entry *vector, const ln_tensor_entry *te,
                                     int axis, int dims[LN_MAXDIM])
{
    const int n = te->tensor->ndim - axis;
    for (int i = 0; i < n; i++)
        dims[i] = i || !vector ? 1 : vector->tensor->len;
    return n;
}

// Lowering

/** An expander that appends `suffix` to the optype of an operator of arch "none", if that optype
 * exists and no disabled rule has its name, and keeps everything else. Another operator becomes its
 * meaning, if it has one. */
LN_API ln_list *ln_rule_lower(const ln_context *ctx, const char *rule, const char *suffix,
                              const ln_op *op, int *match);

LN_END_DECLS

#endif
