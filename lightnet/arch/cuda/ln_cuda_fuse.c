// SPDX-License-Identifier: Apache-2.0
// Rules that fuse operators of the GPU. They are written by hand, since the tests that ln-optgen
// generates have their tensors in the CPU's memory: networks and the examples of operators test
// them.

#include "arch/cuda/ln_cuda_place.h"
#include "lightnet/ln_chain.h"
#include "lightnet/ln_rule.h"
#include "tensorlight/tl_nn.h"

/* ---- a sum with the result of a convolution or product is computed with it ---- */

static bool allows_sum(const ln_rule_match *m)
{
    const ln_op *const producer = m->ops[1];
    const ln_tensor_entry *const mid = m->tensors[0], *const z = m->tensors[1];
    return mid != z && tl_tensor_issameshape(mid->tensor, z->tensor) &&
           !ln_op_find_input(producer->op_arg, "addend");
}

ln_list *ln_cuda_fuse_sum(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_fuse_sum",
        .removed = "mid 1",
        .swaps = 1,
        .allows = allows_sum,
        .match = "binary_cuda sum(src1=mid <-> src2=z | dst=y | op=TL_BINARY_ADD);"
                 "mid = {conv2d_cuda|matmul_cuda} producer(* | dst=mid | act=TL_ACT_NONE);",
        .replace = "producer.optype(producer.*, addend=z | dst=y | producer.*);",
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

/* ---- an activation of the result is computed with it ---- */

/** TL_ACT_NONE: it is another function. */
static tl_activation act_of(const ln_op *op)
{
    tl_activation act = {TL_ACT_NONE, 0, 0};
    if (tl_activation_of(&act, tl_unary_func_from_str(ln_rule_get_string(op, "func")),
                         ln_rule_get_number(op, "alpha"), ln_rule_get_number(op, "beta")) < 0)
        act.act = TL_ACT_NONE;
    return act;
}

static bool allows_act(const ln_rule_match *m)
{
    return act_of(m->ops[0]).act != TL_ACT_NONE;
}

static void make_act(ln_rule_match *m)
{
    const tl_activation act = act_of(m->ops[0]);
    ln_rule_make(m, "producer.optype(producer.* | dst=y | producer.*);");
    ln_rule_string(&m->made, "act", tl_act_name(act.act));
    ln_rule_number(&m->made, "act_slope", act.alpha);
    ln_rule_number(&m->made, "act_beta", act.beta);
}

ln_list *ln_cuda_fuse_act(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_fuse_act",
        .removed = "mid 1",
        .allows = allows_act,
        .match = "unary_cuda func(src=mid | dst=y);"
                 "mid = {conv2d_cuda|matmul_cuda} producer(* | dst=mid | act=TL_ACT_NONE);",
        .make = make_act,
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

/* ---- element-wise operators that only read each other ---- */

ln_list *ln_cuda_chain_elements(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_chain_ops ops = {"cuda_chain_elements", "unary_cuda", "binary_cuda",
                                     "chain_cuda", 1};
    return ln_chain_fuse(&ops, ctx, old_ops);
}
