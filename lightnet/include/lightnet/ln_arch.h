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

/** Expands `op` to the returned operators (NULL: to nothing); `*match` 0: does not apply. New
 * operators are the caller's. */
typedef ln_list *(*ln_expander_func)(const ln_context *ctx, const ln_op *op, int *match);

/** Combines the adjacent operators `win_ops` to the returned ones (NULL: to nothing); `*match` 0:
 * does not apply. */
typedef ln_list *(*ln_combiner_func)(const ln_context *ctx, const ln_list *win_ops, size_t win_size,
                                     int *match);

/** Substitutes the returned operators for those put into `*old_ops`, a new list in list order;
 * `*old_ops` NULL: does not apply. Where there is an anchor (ln_pass_anchor), a match
 * whose last operator is the anchor is wanted. */
typedef ln_list *(*ln_subgraph_func)(const ln_context *ctx, ln_list **old_ops);

/** Returns a new list of the operators of ctx->ops in a better order. */
typedef ln_list *(*ln_schedule_func)(const ln_context *ctx);

/** Rewrites that are applied together until none fits. All three arrays NULL: the end of an array
 * of stages. */
typedef struct ln_arch_stage {
    const ln_expander_func *ep_funcs;
    const ln_combiner_func *cb_funcs;
    const ln_subgraph_func *sg_funcs;
} ln_arch_stage;

typedef struct ln_arch {
    void (*init_func)(void **priv_p);
    void (*cleanup_func)(void **priv_p);
    void *priv;
    ln_op **reg_ops; /* NULL terminated, as all arrays below; a NULL array is empty */
    ln_expander_func *ep_funcs;
    ln_combiner_func *cb_funcs;
    ln_subgraph_func *sg_funcs;
    ln_schedule_func *sd_funcs;
    char *arch_name;

    /* Beyond the documented fields. */
    const char **rule_names;           /* names of all rules in the functions above, for
                                          ln_context_disable_rule; or NULL */
    const ln_arch_stage *later_stages; /* what follows, each in its turn, when the functions above
                                          no longer apply; or NULL */
    const ln_arch_stage *early_stages; /* what comes before the rules of "none", on abstract
                                          operators, for this target alone; or NULL */
    const char *base; /* the architecture, registered before, whose rules take what these leave, and
                         whose operators run beside these; or NULL */
} ln_arch;

typedef struct ln_arch_info {
    ln_hash *arch_table;     /* arch_name -> ln_arch * */
    ln_hash *op_proto_table; /* optype -> ln_op * */
} ln_arch_info;

/** All architectures and operator prototypes; filled before main and by plug-ins (ln_plugin.h),
 * constant while there is a context. */
LN_API extern ln_arch_info ln_global_arch_info;

#define LN_ARCH ln_global_arch_info

/** Enters an architecture (keeps it) and its operators into the tables, before any thread has a
 * context. -1 with the thread's last error, the tables as before: a name is taken, of the
 * architecture, an operator or a rule; there is no `base`. */
LN_API int ln_arch_register(ln_arch *arch);

/** Adds operators and rules to the architecture of the name `more->arch_name`, before any thread
 * has a context: all arrays of `more`, which it keeps. Added rules are tried before those that are
 * there. -1 with the thread's last error, the tables as before: no such architecture, a name is
 * taken, an operator's `arch` is another one. */
LN_API int ln_arch_extend(const ln_arch *more);

/** All architectures (ln_arch *) in the order of registration. Returns borrowed. */
LN_API const ln_list *ln_arch_list(void);

/** Writes the names of the targets that models can be compiled for, "cpu, dnnl", those that are
 * there and those that ln_plugin_load_target finds, into `buf` of `size` bytes, cut where it is too
 * small. Returns buf. */
LN_API char *ln_sprint_targets(char *buf, size_t size);

LN_END_DECLS

#endif
