// SPDX-License-Identifier: Apache-2.0
// Architectures: the targets, their operators and their rewrites, and the tables of all of them.

#ifndef LN_ARCH_H
#define LN_ARCH_H

#include <stddef.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_op.h"

LN_BEGIN_DECLS

/** Replaces `op` by the returned operators (NULL: removes it);
 * `*match` 0: does not apply. The caller owns the new operators. */
typedef ln_list *(*ln_expander_func)(const ln_context *ctx, const ln_op *op, int *match);

/** Replaces the adjacent operators `win_ops` by the returned
 * ones (NULL: removes them); `*match` 0: does not apply. */
typedef ln_list *(*ln_combiner_func)(const ln_context *ctx, const ln_list *win_ops, size_t win_size,
                                     int *match);

/** Returns operators that replace those in `*old_ops`, a new list in
 * list order; `*old_ops` NULL: does not apply. If there is an anchor
 * (ln_pass_anchor), it must be the last operator of the match. */
typedef ln_list *(*ln_subgraph_func)(const ln_context *ctx, ln_list **old_ops);

/** Returns a new list of the operators of ctx->ops in a better order. */
typedef ln_list *(*ln_schedule_func)(const ln_context *ctx);

/** Rewrites that are applied together until none matches. All NULL: ends an array of stages. */
typedef struct ln_arch_stage {
    const ln_expander_func *ep_funcs;
    const ln_combiner_func *cb_funcs;
    const ln_subgraph_func *sg_funcs;
} ln_arch_stage;

typedef struct ln_arch {
    void (*init_func)(void **priv_p);
    void (*cleanup_func)(void **priv_p);
    void *priv;
    ln_op **reg_ops; // NULL terminated, as all arrays below; a NULL array is empty
    ln_expander_func *ep_funcs;
    ln_combiner_func *cb_funcs;
    ln_subgraph_func *sg_funcs;
    ln_schedule_func *sd_funcs;
    char *arch_name;

    // Beyond the documented fields.
    const char **rule_names;           // names of all rules in the functions above, for
                                       // ln_context_disable_rule; or NULL
    const ln_arch_stage *later_stages; // the next stages, applied in order when the
                                       // functions above no longer match; or NULL
    const ln_arch_stage *early_stages; // stages before the rules of "none", on abstract operators:
                                       // for this target; of "none": for all; or NULL
    const char *base;                  // a registered architecture, whose rules lower the remaining
                                       // operators, and whose operators run beside these; or NULL
    const ln_arch_stage *model_stages; // stages before all others, on the operators of the model:
                                       // later ones inspect general operators instead of some, as
                                       // unary instead of relu; or NULL
    const char *const *precisions;     // of ln_context_set_precision, those that change what this
                                       // architecture computes; NULL: those of `base`; without a
                                       // base, none
} ln_arch;

typedef struct ln_arch_info {
    ln_hash *arch_table;     // arch_name -> ln_arch *
    ln_hash *op_proto_table; // optype -> ln_op *
} ln_arch_info;

/** All architectures and operator prototypes; filled before main and by plug-ins (ln_plugin.h),
 * constant while there is a context. */
LN_API extern ln_arch_info ln_global_arch_info;

#define LN_ARCH ln_global_arch_info

/** Adds an architecture (keeps it) and its operators to the tables, before any
 * context exists. -1 with the thread's last error and unchanged tables: the
 * name of the architecture, an operator or a rule exists; unknown `base`. */
LN_API int ln_arch_register(ln_arch *arch);

/** Adds operators and rules, all arrays of `more` (keeps it), to the architecture
 * `more->arch_name`, before any context exists. Added rules are tried before
 * existing ones. -1 with the thread's last error and unchanged tables: unknown
 * architecture, a name exists, an operator has another `arch`. */
LN_API int ln_arch_extend(const ln_arch *more);

/** All architectures (ln_arch *) in the order of registration. Returns borrowed. */
LN_API const ln_list *ln_arch_list(void);

/** Writes the names of all targets, such as "cpu, dnnl",
 * registered ones and those that ln_plugin_load_target finds, to
 * `buf` of `size` bytes, truncated if necessary. Returns buf. */
LN_API char *ln_sprint_targets(char *buf, size_t size);

/** Whether programs for the architecture can compute in the precision of that name
 * (ln_context_set_precision). */
LN_API int ln_arch_has_precision(const ln_arch *arch, const char *name);

/** Writes the names of these precisions, such as "float32, bf16", to `buf` of `size` bytes,
 * truncated if necessary. Returns buf. */
LN_API char *ln_sprint_precisions(const ln_arch *arch, char *buf, size_t size);

LN_END_DECLS

#endif
