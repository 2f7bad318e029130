// SPDX-License-Identifier: Apache-2.0
// The architecture "cpu": operators that compute with TensorLight, and the rewrites to them.

#include <stdio.h>

#include "arch/ln_archs.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_util.h"
#include "ln_ops_cpu.h"

// Every abstract operator becomes the operator of the same name with "_cpu" behind it.
static ln_list *lower(const ln_context *ctx, const ln_op *op, int *match)
{
    char optype[LN_MAX_NAME_LEN];
    *match = 0;
    snprintf(optype, sizeof(optype), "%s_cpu", op->op_arg->optype);
    if (!ln_streq(op->op_arg->arch, "none") || !ln_hash_find(LN_ARCH.op_proto_table, optype))
        return NULL;
    ln_op *lowered = ln_op_copy_to_optype(LN_ARCH.op_proto_table, op, optype);
    ln_list *new_ops = lowered ? ln_list_append(NULL, lowered) : NULL;
    *match = new_ops != NULL;
    return new_ops;
}

static ln_expander_func expanders[] = {lower, NULL};

ln_arch ln_archimpl_cpu = {
    .reg_ops = ops_cpu,
    .ep_funcs = expanders,
    .arch_name = "cpu",
};
