// SPDX-License-Identifier: Apache-2.0
// Rules that fuse operators of the GPU, and that fuse.opt cannot express: they match any number of
// operators, or place the new one where another one was.

#include "arch/cuda/ln_cuda_place.h"

#include <string.h>

#include "arch/cuda/ln_cuda_kernels.h"
#include "lightnet/ln_chain.h"
#include "lightnet/ln_rule.h"
#include "tensorlight/tl_util.h"

// An attention reads its queries, keys and values in place

// The heads first .. first + n - 1 of a tensor, which an attention reads.
typedef struct heads {
    const ln_tensor_entry *src; // NULL: the attention's own input
    int dims[4];                // of src, as [B, S, heads, D] or [B, heads, S, D]
    int first, n;
} heads;

// The tensor that `te` is a region of, perhaps reshaped; the operator in `*region`. NULL: none.
static const ln_tensor_entry *source_of(const ln_tensor_entry *te, const ln_op **region)
{
    *region = ln_entry_creater(te);
    while (ln_op_is(*region, LN_OP_RESHAPE_CUDA))
        *region = ln_entry_creater(ln_op_input(*region, "src"));
    if (!ln_op_is(*region, LN_OP_REGION_CUDA))
        return NULL;
    const ln_tensor_entry *const src = ln_op_input(*region, "src");
    return ln_entry_is_mutated(src) ? NULL : src;
}

// The only axis along which the region is a part of `x`; -1: there are several, or none, or steps.
static int axis_of_region(const ln_op *region, const tl_tensor *x)
{
    const int *const dims = ln_op_ints(region, "dims", NULL);
    const int *const steps = ln_op_ints(region, "steps", NULL);
    int axis = -1;
    for (int i = 0; i < x->ndim; i++) {
        if (dims[i] > 1 && steps[i] != 1)
            return -1;
        if (dims[i] == x->dims[i])
            continue;
        if (axis >= 0)
            return -1;
        axis = i;
    }
    return axis;
}

// All heads of the input `te`, or if it is a copy of whole heads of another tensor, those. Example:
// te [B, S, H, D], reshaped from [B, S, H * D], a region along axis 2 of src [B, S, 3 * H * D]. So
// src has 3 * H heads, and the first is start / D.
static heads heads_of(const ln_tensor_entry *te, int head_axis)
{
    const tl_tensor *const t = te->tensor;
    const ln_op *region;
    const ln_tensor_entry *const src = source_of(te, &region);
    const int axis = src ? axis_of_region(region, src->tensor) : -1;
    heads h = {.n = t->dims[head_axis]};
    if (axis < 0)
        return h;
    const tl_tensor *const x = src->tensor;
    const int outer = tl_compute_length(head_axis, t->dims),
              head_len = tl_compute_length(3 - head_axis, t->dims + head_axis + 1),
              inner = tl_compute_length(x->ndim - axis - 1, x->dims + axis + 1),
              start = ln_op_ints(region, "starts", NULL)[axis] * inner, len = x->dims[axis] * inner;
    if (tl_compute_length(axis, x->dims) != outer || start % head_len || len % head_len)
        return h;
    h.src = src;
    memcpy(h.dims, t->dims, sizeof(h.dims));
    h.dims[head_axis] = len / head_len;
    h.first = start / head_len;
    return h;
}

static const char *const head_args[] = {"q", "k", "v"};
static const char *const head_axes[] = {"q_axis", "k_axis", "v_axis"};

// Fills `found`. Whether an input is a copy of heads, and the attention does not select heads yet.
static bool find_heads(const ln_op *op, heads found[3])
{
    int n = 0;
    ln_op_ints(op, "heads", &n);
    for (int i = 0; i < 3; i++)
        found[i] = heads_of(ln_op_input(op, head_args[i]), ln_op_int(op, head_axes[i]));
    return !n && (found[0].src || found[1].src || found[2].src);
}

static int refuses_heads(const ln_rule_match *m)
{
    heads found[3];
    return !find_heads(m->ops[0], found);
}

// Adds a view of h->src in the shape of heads. Returns its name.
static const char *add_view(ln_rule_made *made, const heads *h)
{
    const char *const name = ln_rule_tensor(made, "heads");
    ln_rule_op(made, LN_OP_RESHAPE_CUDA);
    ln_rule_input(made, "src", h->src->name);
    ln_rule_output(made, "dst", name);
    ln_rule_ints(made, "dims", 4, h->dims);
    return name;
}

static void make_attention(ln_rule_match *m)
{
    heads found[3];
    const char *names[3];
    int numbers[6];
    find_heads(m->ops[0], found);
    for (int i = 0; i < 3; i++) {
        const int is_same = i && found[i].src && found[i].src == found[i - 1].src &&
                            !memcmp(found[i].dims, found[i - 1].dims, sizeof(found[i].dims));
        names[i] = is_same ? names[i - 1] : found[i].src ? add_view(&m->made, &found[i]) : NULL;
        numbers[2 * i] = found[i].first;
        numbers[2 * i + 1] = found[i].n;
    }
    ln_rule_make(m, "attention_cuda(attention.* | dst=y | attention.*);");
    for (int i = 0; i < 3; i++)
        if (names[i])
            ln_rule_input(&m->made, head_args[i], names[i]);
    ln_rule_ints(&m->made, "heads", 6, numbers);
}

ln_list *ln_cuda_attend_in_place(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_attend_in_place",
        .refuses = refuses_heads,
        .when = "an input is a copy of heads, and none are selected yet",
        .match = "attention_cuda attention(* |dst=y);",
        .make = make_attention,
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

// A depthwise convolution also computes the sums for squeeze-and-excitation

// Whether a kernel that adds up its results can compute the convolution.
static bool has_sums(const ln_op *conv)
{
    tl_conv2d_param param = ln_cuda_param_of(conv);
    param.act.act = tl_act_from_str(ln_op_string(conv, "act"));
    return ln_op_input(conv, "taps") &&
           ln_cuda_has_depthwise_tiles(ln_op_input(conv, "src")->tensor, &param);
}

static int reads(const ln_op *op, const ln_tensor_entry *te)
{
    const ln_tensor_entry *input;
    LN_INPUTS_FOREACH (input, op->op_arg)
        if (input == te)
            return 1;
    return 0;
}

// Whether `reader` is the first operator in the list that reads the tensor.
static int is_read_first_by(const ln_tensor_entry *te, const ln_op *reader)
{
    const ln_list *node = ln_entry_creater(te)->op_arg->node->next;
    while (node && !reads(node->data, te))
        node = node->next;
    return node && node->data == reader;
}

// The fused operator replaces the excite_cuda, so nothing may read the convolution's result before.
static int refuses_sums(const ln_rule_match *m)
{
    return !has_sums(m->ops[1]) ? 1 : !is_read_first_by(m->tensors[0], m->ops[0]) ? 2 : 0;
}

ln_list *ln_cuda_fuse_sums(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_fuse_sums",
        .refuses = refuses_sums,
        .when = "a kernel that adds up its results can compute the convolution\0"
                "no other operator reads its result before",
        .match = "excite_cuda excite(src=x, weight1=w1, bias1=b1, weight2=w2, bias2=b2 |dst=y);"
                 "x=conv2d_cuda conv(* |dst=x |nhwc=true);",
        .replace = "conv2d_excite_cuda(conv.*, weight1=w1, bias1=b1, weight2=w2, bias2=b2 | "
                   "dst=x, factors=y | conv.*, excite.*);",
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

// Chains of element-wise operators

ln_list *ln_cuda_chain_elements(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_chain_ops ops = {"cuda_chain_elements", LN_OP_UNARY_CUDA, LN_OP_BINARY_CUDA,
                                     LN_OP_CHAIN_CUDA, 1};
    return ln_chain_fuse(&ops, ctx, old_ops);
}
