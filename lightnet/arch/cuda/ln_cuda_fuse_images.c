// SPDX-License-Identifier: Apache-2.0
// Rules for images of the GPU whose channels are last: joined, pooled, shuffled, and multiplied by
// factors. They are written by hand, as those of ln_cuda_fuse.c.

#include <string.h>

#include "arch/cuda/ln_cuda_kernels.h"
#include "arch/cuda/ln_cuda_libs.h"
#include "arch/cuda/ln_cuda_place.h"
#include "lightnet/ln_rule.h"
#include "tensorlight/tl_nn.h"

// Joined images

static bool are_equal(const ln_op *op, const char *arg_name, int n, const int *expected)
{
    int len;
    const int *const found = ln_op_ints(op, arg_name, &len);
    return found && len == n && !memcmp(found, expected, (size_t)n * sizeof(int));
}

// Of two tensors, along the channels, which are last.
static bool joins_channels(const ln_op *join)
{
    return ln_op_num_in(join) == 2 && ln_op_int(join, "axis") == 3;
}

static bool is_nhwc(const ln_op *op)
{
    return ln_op_bool(op, "nhwc");
}

// What is joined is then smaller.
static bool allows_pool_parts(const ln_rule_match *m)
{
    const int *const stride = ln_op_ints(m->ops[0], "stride", NULL);
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

// A product of each pixel, of images with their channels last.
static bool is_pixelwise(const ln_op *conv)
{
    static const int ones[2] = {1, 1}, zeros[4] = {0};
    return is_nhwc(conv) && ln_op_int(conv, "group") == 1 && are_equal(conv, "size", 2, ones) &&
           are_equal(conv, "stride", 2, ones) && are_equal(conv, "padding", 4, zeros);
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

// A pooling of the first layer

static bool allows_maxpool(const ln_rule_match *m)
{
    const ln_op *const pool = m->ops[0], *const conv = m->ops[1];
    const tl_conv2d_param param = tl_conv2d_param_of(
        ln_op_int(conv, "group"), ln_op_ints(conv, "size", NULL), ln_op_ints(conv, "stride", NULL),
        ln_op_ints(conv, "dilation", NULL), ln_op_ints(conv, "padding", NULL));
    tl_pool2d_param pooling;
    memcpy(pooling.size, ln_op_ints(pool, "size", NULL), sizeof(pooling.size));
    memcpy(pooling.stride, ln_op_ints(pool, "stride", NULL), sizeof(pooling.stride));
    memcpy(pooling.padding, ln_op_ints(pool, "padding", NULL), sizeof(pooling.padding));
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

// Shuffled channels

// [N, H, W, 2 C] as [N, H, W, 2, C], of which the last two axes are swapped.
static bool allows_interleave(const ln_rule_match *m)
{
    const tl_tensor *const swapped = m->tensors[0]->tensor, *const y = m->tensors[1]->tensor,
                           *const both = m->tensors[3]->tensor, *const a = m->tensors[4]->tensor,
                           *const b = m->tensors[5]->tensor;
    static const int last_two[] = {0, 1, 2, 4, 3};
    return joins_channels(m->ops[3]) && tl_tensor_issameshape(a, b) &&
           tl_tensor_issameshape(y, both) && y->dtype == both->dtype && swapped->ndim == 5 &&
           are_equal(m->ops[1], "permutation", 5, last_two) && swapped->dims[4] == 2 &&
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
    const int *const starts = ln_op_ints(m->ops[0], "starts", NULL);
    const int *const steps = ln_op_ints(m->ops[0], "steps", NULL);
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
                   ln_op_int(m->ops[1], "first") + ln_op_ints(m->ops[0], "starts", NULL)[last] / 2);
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

// Squeeze-and-excitation

static int is_mean_of_axes(const ln_op *reduce)
{
    return ln_op_has_string(reduce, "op", "TL_REDUCE_MEAN") &&
           (are_equal(reduce, "axes", 2, (const int[]){1, 2}) ||
            are_equal(reduce, "axes", 2, (const int[]){2, 1}));
}

// Whether one window covers each image [N, H, W, C].
static int is_mean_of_window(const ln_op *pool, const int *dims)
{
    const int *const size = ln_op_ints(pool, "size", NULL);
    const int *const padding = ln_op_ints(pool, "padding", NULL);
    return ln_op_bool(pool, "nhwc") && size[0] - padding[0] >= dims[1] &&
           size[1] - padding[1] >= dims[2];
}

static bool allows_excite(const ln_rule_match *m)
{
    const ln_op *const outer = m->ops[0], *const inner = m->ops[1], *const mean = m->ops[2];
    const tl_tensor *const x = m->tensors[7]->tensor, *const means = m->tensors[4]->tensor,
                           *const hidden = m->tensors[0]->tensor, *const y = m->tensors[3]->tensor;
    return x->ndim == 4 && means->ndim == 4 && means->dims[1] == 1 && means->dims[2] == 1 &&
           is_pixelwise(outer) && is_pixelwise(inner) &&
           (ln_op_is(mean, LN_OP_REDUCE_CUDA) ? is_mean_of_axes(mean)
                                              : is_mean_of_window(mean, x->dims)) &&
           ln_cuda_has_excite(x->dims[0], x->dims[3], hidden->dims[3], y->dims[3]);
}

ln_list *ln_cuda_fuse_excite(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_fuse_excite",
        .removed = "hidden 1, means 1",
        .allows = allows_excite,
        .match = "conv2d_cuda outer(src=hidden, weight=w2, bias=b2 | dst=y);"
                 "hidden = conv2d_cuda inner(src=means, weight=w1, bias=b1 | dst=hidden);"
                 "means = {avgpool2d_cuda|reduce_cuda} mean(src=x | dst=means);",
        .replace = "excite_cuda(src=x, weight1=w1, bias1=b1, weight2=w2, bias2=b2 | dst=y | "
                   "act1=inner.act, act1_slope=inner.act_slope, act1_beta=inner.act_beta, "
                   "act2=outer.act, act2_slope=outer.act_slope, act2_beta=outer.act_beta);",
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

// Whether a kernel that adds up its results can compute the convolution.
static int has_sums(const ln_op *conv)
{
    const ln_tensor_entry *src = NULL, *taps = NULL;
    tl_conv2d_param param = {.act = {.act = tl_act_from_str(ln_op_string(conv, "act"))}};
    if (!ln_op_reads(conv, "src", &src) || !ln_op_reads(conv, "taps", &taps))
        return 0;
    memcpy(param.size, ln_op_ints(conv, "size", NULL), sizeof(param.size));
    memcpy(param.stride, ln_op_ints(conv, "stride", NULL), sizeof(param.stride));
    memcpy(param.dilation, ln_op_ints(conv, "dilation", NULL), sizeof(param.dilation));
    return ln_cuda_has_depthwise_tiles(src->tensor, &param);
}

static int reads(const ln_op *op, const ln_tensor_entry *te)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (ln_entry_of(tle, op->op_arg->tensor_table) == te)
            return 1;
    return 0;
}

// Whether the tensor is read by `last`, and by no operator between its producer and that.
static int is_read_first_by(const ln_tensor_entry *te, const ln_op *last)
{
    const ln_list *node = ln_entry_creater(te)->op_arg->node->next;
    while (node && !reads(node->data, te))
        node = node->next;
    return node && node->data == last;
}

static bool allows_sums(const ln_rule_match *m)
{
    return has_sums(m->ops[1]) && is_read_first_by(m->tensors[0], m->ops[0]);
}

ln_list *ln_cuda_fuse_sums(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_fuse_sums",
        .allows = allows_sums,
        .match = "excite_cuda excite(src=x, weight1=w1, bias1=b1, weight2=w2, bias2=b2 | dst=y);"
                 "x = conv2d_cuda conv(* | dst=x | nhwc=true);",
        .replace = "conv2d_excite_cuda(conv.*, weight1=w1, bias1=b1, weight2=w2, bias2=b2 | "
                   "dst=x, factors=y | conv.*, excite.*);",
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}

// Whether the weights of all images, each with its factors, have fewer elements than twice the
// images, and room in the work memory.
static int has_few_weights(const tl_tensor *images, const tl_tensor *dst)
{
    const double channels = images->dims[3], outputs = dst->dims[3],
                 pixels = (double)images->dims[1] * images->dims[2];
    return outputs < 2 * pixels &&
           images->dims[0] * channels * outputs * sizeof(float) <= LN_CUDA_WORK / 2;
}

static bool allows_scale(const ln_rule_match *m)
{
    const tl_tensor *const z = m->tensors[0]->tensor, *const y = m->tensors[4]->tensor,
                           *const x = m->tensors[5]->tensor, *const factors = m->tensors[6]->tensor;
    return is_pixelwise(m->ops[0]) && z->ndim == 4 && factors->ndim == 4 &&
           tl_tensor_issameshape(x, z) && factors->dims[0] == z->dims[0] && factors->dims[1] == 1 &&
           factors->dims[2] == 1 && factors->dims[3] == z->dims[3] && has_few_weights(z, y);
}

ln_list *ln_cuda_fuse_scale(const ln_context *ctx, ln_list **old_ops)
{
    static const ln_rule rule = {
        .name = "cuda_fuse_scale",
        .removed = "scaled 1",
        .swaps = 1,
        .allows = allows_scale,
        .match = "conv2d_cuda conv(src=scaled, weight=w, bias=b, addend?=a | dst=y);"
                 "scaled = binary_cuda scale(src1=x <-> src2=s | dst=scaled | op=TL_BINARY_MUL);",
        .replace = "conv2d_scaled_cuda(src=x, weight=w, bias=b, addend=a, factors=s | dst=y | "
                   "conv.*);",
    };
    return ln_rule_substitute(&rule, ctx, old_ops);
}
