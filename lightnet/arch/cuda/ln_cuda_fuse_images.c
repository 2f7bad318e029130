// SPDX-License-Identifier: Apache-2.0
// Rules for images of the GPU whose channels are last: joined, pooled, shuffled. They are written by
// hand, as those of ln_cuda_fuse.c.

#include <string.h>

#include "arch/cuda/ln_cuda_kernels.h"
#include "arch/cuda/ln_cuda_place.h"
#include "lightnet/ln_rule.h"
#include "tensorlight/tl_nn.h"

/* ---- joined images ---- */

static const int *ints(const ln_op *op, const char *arg_name)
{
    return ln_rule_get_ints(op, arg_name, NULL);
}

static bool are(const ln_op *op, const char *arg_name, const int *values, int len)
{
    return !memcmp(ints(op, arg_name), values, (size_t)len * sizeof(int));
}

/** Of two tensors, along the channels, which are last. */
static bool joins_channels(const ln_op *join)
{
    return ln_rule_num_in(join) == 2 && ln_rule_get_int(join, "axis") == 3;
}

static bool is_nhwc(const ln_op *op)
{
    return ln_rule_has_bool(op, "nhwc", LN_TRUE);
}

// What is joined is then smaller.
static bool allows_pool_parts(const ln_rule_match *m)
{
    const int *const stride = ints(m->ops[0], "stride");
    return is_nhwc(m->ops[0]) && stride[0] * stride[1] > 1 && joins_channels(m->ops[1]);
}

ln_list *ln_cuda_pool_parts(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_pool_parts",
        .removed = "both 1",
        .allows = allows_pool_parts,
        .match = "maxpool2d_cuda pool(src=both | dst=y);"
                 "both = join_cuda join(src0=a, src1=b | dst=both);",
        .replace = "maxpool2d_cuda(src=a | dst=pa | pool.*);"
                   "maxpool2d_cuda(src=b | dst=pb | pool.*);"
                   "join_cuda(src0=pa, src1=pb | dst=y | join.*);",
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

static bool is_pixelwise(const ln_op *conv)
{
    static const int ones[2] = {1, 1}, zeros[4] = {0};
    return is_nhwc(conv) && ln_rule_get_int(conv, "group") == 1 && are(conv, "size", ones, 2) &&
           are(conv, "stride", ones, 2) && are(conv, "padding", zeros, 4);
}

// By ln_cuda_gemm, with any of its tiles.
static bool allows_product_of_parts(const ln_rule_match *m)
{
    const tl_tensor *const y = m->tensors[3]->tensor, *const a = m->tensors[4]->tensor,
                           *const b = m->tensors[5]->tensor;
    return is_pixelwise(m->ops[0]) && joins_channels(m->ops[1]) && tl_size_of(y->dtype) == 2 &&
           a->dims[3] % 64 == 0 && b->dims[3] % 8 == 0 && y->dims[3] % 8 == 0;
}

static void make_product_of_parts(ln_rule_match *m)
{
    const int *const weight = m->tensors[1]->tensor->dims;
    ln_rule_make(m, "reshape_cuda(src=w | dst=rows);");
    ln_rule_ints(&m->made, "dims", 2, (const int[]){weight[0], weight[3]});
    ln_rule_make(m, "matmul_cuda(src1=a, src1_more=b, src2=rows, bias=c | dst=y | trans2=true, "
                    "act=conv.act, act_slope=conv.act_slope, act_beta=conv.act_beta);");
}

ln_list *ln_cuda_product_of_parts(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_product_of_parts",
        .removed = "both 1",
        .allows = allows_product_of_parts,
        .match = "conv2d_cuda conv(src=both, weight=w, bias=c | dst=y);"
                 "both = join_cuda join(src0=a, src1=b | dst=both);",
        .make = make_product_of_parts,
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

/* ---- a pooling of the first layer ---- */

static bool allows_maxpool(const ln_rule_match *m)
{
    const ln_op *const pool = m->ops[0], *const conv = m->ops[1];
    const tl_conv2d_param param =
        tl_conv2d_param_of(ln_rule_get_int(conv, "group"), ints(conv, "size"), ints(conv, "stride"),
                           ints(conv, "dilation"), ints(conv, "padding"));
    tl_pool2d_param pooling;
    memcpy(pooling.size, ints(pool, "size"), sizeof(pooling.size));
    memcpy(pooling.stride, ints(pool, "stride"), sizeof(pooling.stride));
    memcpy(pooling.padding, ints(pool, "padding"), sizeof(pooling.padding));
    return is_nhwc(pool) && is_nhwc(conv) &&
           ln_cuda_has_first_conv(m->tensors[2]->tensor, m->tensors[3]->tensor, &param) &&
           ln_cuda_has_first_pool(&param, &pooling);
}

ln_list *ln_cuda_fuse_maxpool(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_fuse_maxpool",
        .removed = "mid 1",
        .allows = allows_maxpool,
        .match = "maxpool2d_cuda pool(src=mid | dst=y);"
                 "mid = conv2d_cuda conv(src=x, weight=w, bias=b | dst=mid);",
        .replace = "conv2d_maxpool_cuda(src=x, weight=w, bias=b | dst=y | size=conv.size, "
                   "stride=conv.stride, padding=conv.padding, act=conv.act, "
                   "act_slope=conv.act_slope, act_beta=conv.act_beta, pool_size=pool.size, "
                   "pool_stride=pool.stride, pool_padding=pool.padding);",
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

/* ---- shuffled channels ---- */

// [N, H, W, 2 C] as [N, H, W, 2, C], of which the last two axes are swapped.
static bool allows_interleave(const ln_rule_match *m)
{
    const tl_tensor *const swapped = m->tensors[0]->tensor, *const y = m->tensors[1]->tensor,
                           *const both = m->tensors[3]->tensor, *const a = m->tensors[4]->tensor,
                           *const b = m->tensors[5]->tensor;
    static const int last_two[] = {0, 1, 2, 4, 3};
    return joins_channels(m->ops[3]) && tl_tensor_issameshape(a, b) &&
           tl_tensor_issameshape(y, both) && y->dtype == both->dtype && swapped->ndim == 5 &&
           are(m->ops[1], "permutation", last_two, 5) && swapped->dims[4] == 2 &&
           swapped->dims[3] == a->dims[3];
}

static void make_interleave(ln_rule_match *m)
{
    ln_rule_make(m, "interleave_cuda(src1=a, src2=b | dst=y | first=0);");
    ln_rule_number(&m->made, "half", m->tensors[4]->tensor->dims[3]);
}

ln_list *ln_cuda_interleave_join(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_interleave",
        .removed = "swapped 1, pairs 1, both 1",
        .allows = allows_interleave,
        .match = "reshape_cuda flat(src=swapped | dst=y);"
                 "swapped = convert_cuda swap(src=pairs | dst=swapped);"
                 "pairs = reshape_cuda split(src=both | dst=pairs);"
                 "both = join_cuda join(src0=a, src1=b | dst=both);",
        .make = make_interleave,
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

// Of the last axis only, and whole pairs.
static bool allows_interleave_region(const ln_rule_match *m)
{
    const tl_tensor *const y = m->tensors[0]->tensor, *const part = m->tensors[1]->tensor;
    const int *const starts = ints(m->ops[0], "starts"), *const steps = ints(m->ops[0], "steps");
    const int last = y->ndim - 1;
    for (int i = 0; i < last; i++)
        if (steps[i] != 1 || part->dims[i] != y->dims[i])
            return false;
    return steps[last] == 1 && starts[last] % 2 == 0 && part->dims[last] % 2 == 0;
}

static void make_interleave_region(ln_rule_match *m)
{
    const int last = m->tensors[0]->tensor->ndim - 1;
    ln_rule_make(m, "interleave_cuda(src1=a, src2=b | dst=part);");
    ln_rule_number(&m->made, "first",
                   ln_rule_get_int(m->ops[1], "first") + ints(m->ops[0], "starts")[last] / 2);
    ln_rule_number(&m->made, "half", m->tensors[1]->tensor->dims[last] / 2);
}

ln_list *ln_cuda_interleave_region(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_interleave_region",
        .allows = allows_interleave_region,
        .match = "region_cuda region(src=y | dst=part);"
                 "y = interleave_cuda keep pairs(src1=a, src2=b | dst=y);",
        .make = make_interleave_region,
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}
