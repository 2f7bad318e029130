// SPDX-License-Identifier: Apache-2.0
// Operators of the GPU that need more than one call.

#include "arch/cuda/ln_cuda_ops.h"

#include <limits.h>
#include <string.h>

#include "lightnet/ln_util.h"

// Shapes

// -1 with a reason unless the shape is `expected`, of t->ndim axes.
static int check_shape(const char *arg_name, const tl_tensor *t, const int *expected)
{
    char found[LN_MAX_SHAPE], wanted[LN_MAX_SHAPE];
    if (memcmp(t->dims, expected, (size_t)t->ndim * sizeof(int)) == 0)
        return 0;
    return tl_fail("'%s' has shape %s, expected %s", arg_name,
                   ln_sprint_shape(found, sizeof(found), t->ndim, t->dims),
                   ln_sprint_shape(wanted, sizeof(wanted), t->ndim, expected));
}

static int check_weights(const tl_tensor *weight, const tl_tensor *taps, int channels, int kernels,
                         const tl_conv2d_param *p, int is_nhwc)
{
    const int h = p->size[0], w = p->size[1], c = channels / p->group;
    const int is_depthwise = is_nhwc && p->group == channels && p->group == kernels;
    if (check_shape("weight", weight,
                    is_nhwc ? (const int[]){kernels, h, w, c} : (const int[]){kernels, c, h, w}))
        return -1;
    if (taps && !is_depthwise)
        return tl_fail("'taps' requires a depthwise convolution with 'nhwc'");
    return taps ? check_shape("taps", taps, (const int[]){h, w, kernels}) : 0;
}

int ln_cuda_conv2d_dims(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *taps,
                        const tl_tensor *bias, const tl_conv2d_param *p, int is_nhwc, int *dims)
{
    const int h = is_nhwc ? 1 : 2, c = is_nhwc ? 3 : 1, channels = src->dims[c];
    if (!src->len || !bias->len)
        return tl_fail("'src' has %d elements and 'bias' %d, expected at least 1", src->len,
                       bias->len);
    if (channels % p->group || bias->len % p->group)
        return tl_fail("%d channels of 'src' and %d of 'bias', expected multiples of 'group', %d",
                       channels, bias->len, p->group);
    if (check_weights(weight, taps, channels, bias->len, p, is_nhwc))
        return -1;
    dims[0] = src->dims[0];
    dims[c] = bias->len;
    for (int i = 0; i < 2; i++) {
        dims[h + i] = tl_conv2d_length(src->dims[h + i], p->size[i], p->stride[i], p->dilation[i],
                                       p->padding[i], p->padding[2 + i]);
        if (dims[h + i] < 0)
            return -1;
    }
    return 0;
}

int ln_cuda_conv2d_maxpool_dims(const tl_tensor *src, const tl_tensor *weight,
                                const tl_tensor *bias, const tl_conv2d_param *param,
                                const tl_pool2d_param *pool, int *dims)
{
    if (ln_cuda_conv2d_dims(src, weight, NULL, bias, param, 1, dims))
        return -1;
    if (!ln_cuda_has_first_conv(src, weight, param) || !ln_cuda_has_first_pool(param, pool))
        return tl_fail("no kernel for the convolution and pooling of these shapes and types");
    for (int i = 1; i < 3; i++) {
        dims[i] = tl_conv2d_length(dims[i], pool->size[i - 1], pool->stride[i - 1], 1,
                                   pool->padding[i - 1], pool->padding[i + 1]);
        if (dims[i] < 0)
            return -1;
    }
    return 0;
}

int ln_cuda_product_dims(const tl_tensor *src1, const tl_tensor *more, const tl_tensor *src2,
                         int trans1, int trans2, int *dims)
{
    int joined[TL_MAXDIM];
    char text[LN_MAX_SHAPE];
    tl_tensor both = *src1;
    if (!more)
        return tl_matmul_dims(src1, src2, trans1, trans2, dims);
    if (trans1 || src1->ndim < 2 || more->ndim != src1->ndim ||
        memcmp(more->dims, src1->dims, (size_t)(src1->ndim - 1) * sizeof(int)))
        return tl_fail(
            "'src1_more' has shape %s, expected that of 'src1' but the last axis, and no "
            "'trans1'",
            ln_sprint_shape(text, sizeof(text), more->ndim, more->dims));
    memcpy(joined, src1->dims, (size_t)src1->ndim * sizeof(int));
    joined[src1->ndim - 1] += more->dims[src1->ndim - 1];
    both.dims = joined;
    both.len = tl_compute_length(both.ndim, joined);
    return tl_matmul_dims(&both, src2, trans1, trans2, dims);
}

int ln_cuda_interleave_dims(const tl_tensor *src1, const tl_tensor *src2, int first, int half,
                            int *dims)
{
    const int last = src1->ndim - 1;
    if (src1->ndim < 1 || !tl_tensor_issameshape(src1, src2))
        return tl_fail("'src1' and 'src2' differ in shape");
    if (half > src1->dims[last] - first || half > INT_MAX / 2)
        return tl_fail("'half' %d from 'first' %d on exceeds the last axis of 'src1', %d", half,
                       first, src1->dims[last]);
    memcpy(dims, src1->dims, (size_t)src1->ndim * sizeof(int));
    dims[last] = 2 * half;
    return 0;
}

// Reduces the shape of `t` to heads[1] heads from heads[0] on; `dims` keeps the new one. Ignores
// another number of axes, which tl_attention_dims rejects.
static int narrow(tl_tensor *t, int dims[4], const char *arg_name, int axis, const int *heads)
{
    if (t->ndim != 4 || axis < 1 || axis > 2)
        return 0;
    if (heads[1] < 1 || heads[0] > t->dims[axis] - heads[1])
        return tl_fail("parameter 'heads' has %d heads of '%s' from %d on, expected some of its %d",
                       heads[1], arg_name, heads[0], t->dims[axis]);
    memcpy(dims, t->dims, 4 * sizeof(int));
    dims[axis] = heads[1];
    t->dims = dims;
    t->len = tl_compute_length(4, dims);
    return 0;
}

int ln_cuda_attention_dims(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                           const tl_tensor *mask, const tl_attention_param *param, int n,
                           const int *heads, int *dims)
{
    tl_tensor qs = *q, ks = *k, vs = *v;
    int rooms[3][4];
    if (n != 0 && n != 6)
        return tl_fail("parameter 'heads' has length %d, expected 0 or 6", n);
    if (n && (narrow(&qs, rooms[0], "q", param->q_axis, heads) ||
              narrow(&ks, rooms[1], "k", param->k_axis, heads + 2) ||
              narrow(&vs, rooms[2], "v", param->v_axis, heads + 4)))
        return -1;
    return tl_attention_dims(&qs, &ks, &vs, mask, param, dims);
}

int ln_cuda_excite_sizes(tl_dtype dtype, const int *dims, const tl_tensor *weight1,
                         const tl_tensor *bias1, const tl_tensor *weight2, const tl_tensor *bias2,
                         ln_cuda_excite_job *job)
{
    const int images = dims[0], pixels = dims[1] * dims[2], channels = dims[3], hidden = bias1->len,
              outputs = bias2->len;
    if (!images || !pixels || !channels || !hidden || !outputs)
        return tl_fail("%d images of %d pixels, 'bias1' of %d, 'bias2' of %d, expected at least 1",
                       images, pixels, hidden, outputs);
    if (check_shape("weight1", weight1, (const int[]){hidden, 1, 1, channels}) ||
        check_shape("weight2", weight2, (const int[]){outputs, 1, 1, hidden}))
        return -1;
    if (!ln_cuda_has_excite(images, channels, hidden, outputs))
        return tl_fail("no kernel for %d images of %d channels, %d and %d results", images,
                       channels, hidden, outputs);
    *job = (ln_cuda_excite_job){.dtype = dtype,
                                .src_dtype = dtype,
                                .images = images,
                                .rows = pixels,
                                .pixels = pixels,
                                .channels = channels,
                                .hidden = hidden,
                                .outputs = outputs};
    return 0;
}

int ln_cuda_line_length(const tl_tensor *src, int axis)
{
    return tl_compute_length(src->ndim - axis, src->dims + axis);
}

// Plans

// ln_cuda_enter. Returns the libraries, or NULL with a reason.
static ln_cuda_libs *enter(ln_cuda_node *node, const ln_op_arg *op_arg)
{
    return ln_cuda_enter(node, op_arg) ? NULL : ln_cuda_libs_of(node);
}

static int note_plan(ln_cuda_node *node, ln_op_arg *op_arg, const ln_cuda_plan *plan)
{
    node->has_idle_scratch = ln_cuda_plan_work(plan) == 0;
    op_arg->algorithm = ln_cuda_plan_name(plan);
    return 0;
}

int ln_cuda_prepare_conv2d(ln_cuda_node *node, ln_op_arg *op_arg, ln_cuda_plan **plan,
                           const ln_cuda_conv *conv)
{
    ln_cuda_libs *const libs = enter(node, op_arg);
    return libs && !ln_cuda_plan_conv2d(libs, plan, conv) ? note_plan(node, op_arg, *plan) : -1;
}

int ln_cuda_prepare_scaled(ln_cuda_node *node, ln_op_arg *op_arg, ln_cuda_plan **plan,
                           const ln_cuda_conv *conv)
{
    ln_cuda_libs *const libs = enter(node, op_arg);
    return libs && !ln_cuda_plan_scaled(libs, plan, conv) ? note_plan(node, op_arg, *plan) : -1;
}

int ln_cuda_prepare_product(ln_cuda_node *node, ln_op_arg *op_arg, ln_cuda_plan **plan,
                            const ln_cuda_product *product)
{
    ln_cuda_libs *const libs = enter(node, op_arg);
    return libs && !ln_cuda_plan_product(libs, plan, product) ? note_plan(node, op_arg, *plan) : -1;
}

// Operators

ln_cuda_excite_job ln_cuda_excite_of(const ln_cuda_excite_job *job, const tl_tensor *src,
                                     const tl_tensor *weight1, const tl_tensor *bias1,
                                     const tl_tensor *weight2, const tl_tensor *bias2,
                                     tl_tensor *dst)
{
    ln_cuda_excite_job now = *job;
    now.src = src->data;
    now.weight1 = weight1->data;
    now.bias1 = bias1->data;
    now.weight2 = weight2->data;
    now.bias2 = bias2->data;
    now.dst = dst->data;
    return now;
}

int ln_cuda_excite_after(ln_cuda_stream stream, const ln_cuda_plan *plan, const void *work,
                         ln_cuda_excite_job job)
{
    if (ln_cuda_plan_sums(plan)) {
        job.src = work;
        job.src_dtype = TL_FLOAT;
        job.rows = ln_cuda_plan_sums(plan);
    }
    return ln_cuda_excite(stream, &job);
}

int ln_cuda_join(ln_cuda_stream stream, const tl_tensor *const *srcs, int n, tl_tensor *dst,
                 int axis)
{
    const int from[TL_MAXDIM] = {0}, step[TL_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    int to[TL_MAXDIM] = {0};
    for (int i = 0; i < n; i++) {
        if (ln_cuda_copy_region(stream, srcs[i], from, step, srcs[i]->dims, dst, to))
            return -1;
        to[axis] += srcs[i]->dims[axis];
    }
    return 0;
}

// The scratch memory of nms_cuda: the number of rows, the rows, and the work memory of ln_cuda_nms,
// each at a multiple of PART bytes.
enum { PART = 256 };

static size_t rows_size(const tl_tensor *dst)
{
    return (tl_tensor_size(dst) + PART - 1) / PART * PART;
}

size_t ln_cuda_nms_scratch(const tl_tensor *boxes, const tl_tensor *scores, const tl_tensor *dst)
{
    const tl_nms all = {.max = INT_MAX};
    return PART + rows_size(dst) + ln_cuda_nms_work(boxes, scores, &all);
}

int ln_cuda_run_nms(ln_cuda_node *node, const tl_tensor *boxes, const tl_tensor *scores,
                    const tl_nms *how, tl_tensor *dst, int *n, void *work)
{
    tl_tensor rows = *dst;
    rows.data = (char *)work + PART;
    *n = 0;
    if (ln_cuda_wait(node) ||
        ln_cuda_nms(node->stream, boxes, scores, how, &rows, work,
                    (char *)rows.data + rows_size(dst)) ||
        ln_cuda_expect(cudaMemcpyAsync(n, work, sizeof(*n), cudaMemcpyDeviceToHost, node->stream),
                       "copy from the GPU") ||
        ln_cuda_wait(node))
        return -1;
    const size_t size = (size_t)*n * 3 * sizeof(int64_t);
    return -(size && (ln_cuda_expect(cudaMemcpyAsync(dst->data, rows.data, size,
                                                     cudaMemcpyDeviceToHost, node->stream),
                                     "copy from the GPU") ||
                      ln_cuda_wait(node)));
}
