// SPDX-License-Identifier: Apache-2.0
// 1x1 convolutions of images that are scaled by channel, the end of squeeze-and-excitation:
//
//     dst[n] = act(weight x (factors[n] * src[n]) + bias + addend)     for each image n
//            = act((weight * factors[n]) x src[n] + bias + addend)
//
// The second form scales the columns of weight, once for each image. If images have more pixels
// than dst has channels, these are fewer elements than those of src. Both forms are measured.

#include <stdio.h>
#include <string.h>

#include "arch/cuda/ln_cuda_plan.h"

enum {
    DIMS = 3,
    KEY = 3, // the first value of keys: other requests have 0, 1 and 2
};

// Scales an argument of another plan, then runs that.
typedef struct scaled_plan {
    ln_cuda_plan base;
    ln_cuda_plan *inner;
    int arg;                           // LN_CUDA_SRC or LN_CUDA_WEIGHT
    int dims[DIMS], factor_dims[DIMS]; // of the argument: [N, pixels, C] or [1, OC, C]; [N, 1, C]
    int scaled_dims[DIMS];             // [N, pixels or OC, C]
    size_t size;                       // of the scaled argument, first in the work memory, in bytes
} scaled_plan;

static tl_tensor tensor_of(tl_dtype dtype, const int *dims, void *data)
{
    return (tl_tensor){.dtype = dtype,
                       .len = dims[0] * dims[1] * dims[2],
                       .ndim = DIMS,
                       .dims = (int *)dims,
                       .data = data};
}

static int run_scaled(const ln_cuda_plan *base, ln_cuda_libs *libs, const ln_cuda_run *run)
{
    const tl_chain_step multiply = {
        .func = TL_UNARY_FUNC_INVALID, .op = TL_BINARY_MUL, .src1 = 0, .src2 = 1};
    const scaled_plan *const plan = (const scaled_plan *)base;
    void *data[LN_CUDA_ARGS];
    memcpy(data, run->data, sizeof(data));
    const tl_tensor src = tensor_of(base->dtype, plan->dims, data[plan->arg]),
                    factors = tensor_of(base->dtype, plan->factor_dims, data[LN_CUDA_FACTORS]);
    tl_tensor scaled = tensor_of(base->dtype, plan->scaled_dims, run->work);
    data[plan->arg] = run->work;
    return -(
        ln_cuda_chain(run->stream, (const tl_tensor *const[]){&src, &factors}, 2, &scaled,
                      &multiply, 1) ||
        ln_cuda_run_plan(plan->inner, libs, run->stream, data, (char *)run->work + plan->size));
}

static void clear_scaled(ln_cuda_plan *base)
{
    ln_cuda_free_plan(((scaled_plan *)base)->inner);
}

static void fill_shapes(const ln_cuda_conv *conv, ln_cuda_plan *plan)
{
    const int *const src = conv->src->dims;
    plan->dtype = conv->src->dtype;
    plan->axis = 3;
    plan->args[LN_CUDA_SRC] = ln_cuda_shape_of(conv->src);
    plan->args[LN_CUDA_WEIGHT] = ln_cuda_shape_of(conv->weight);
    plan->args[LN_CUDA_BIAS] = (ln_cuda_shape){1, {conv->dst->dims[3]}};
    if (conv->has_addend)
        plan->args[LN_CUDA_ADDEND] = ln_cuda_shape_of(conv->dst);
    plan->args[LN_CUDA_DST] = ln_cuda_shape_of(conv->dst);
    plan->args[LN_CUDA_FACTORS] = (ln_cuda_shape){2, {src[0], src[3]}};
}

// Bytes of the scaled argument, aligned like tensors; more than LN_CUDA_WORK: it does not fit.
static size_t scaled_size(const ln_cuda_conv *conv, int rows)
{
    const double n = (double)conv->src->dims[0] * rows * conv->src->dims[3];
    const double size = n * (double)tl_size_of(conv->src->dtype);
    return size > LN_CUDA_WORK ? (size_t)LN_CUDA_WORK + 1 : ((size_t)size + 255) / 256 * 256;
}

// Takes `inner` (NULL: none). Measures it with its argument `arg`, [batch, rows, C], scaled before.
static void try_scaled(ln_cuda_libs *libs, const ln_cuda_conv *conv, ln_cuda_plan *inner, int arg,
                       int batch, int rows, ln_cuda_plan **best)
{
    const int n = conv->src->dims[0], channels = conv->src->dims[3];
    const size_t size = scaled_size(conv, rows);
    scaled_plan *const plan = inner && size + ln_cuda_plan_work(inner) <= LN_CUDA_WORK
                                  ? ln_cuda_new_plan(sizeof(*plan))
                                  : NULL;
    if (!plan) {
        ln_cuda_free_plan(inner);
        return;
    }
    fill_shapes(conv, &plan->base);
    plan->base.run = run_scaled;
    plan->base.clear = clear_scaled;
    plan->base.work = size + ln_cuda_plan_work(inner);
    snprintf(plan->base.name, sizeof(plan->base.name), "%s, %.22s",
             arg == LN_CUDA_SRC ? "images" : "weights", ln_cuda_plan_name(inner));
    plan->inner = inner;
    plan->arg = arg;
    memcpy(plan->dims, (const int[]){batch, rows, channels}, sizeof(plan->dims));
    memcpy(plan->factor_dims, (const int[]){n, 1, channels}, sizeof(plan->factor_dims));
    memcpy(plan->scaled_dims, (const int[]){n, rows, channels}, sizeof(plan->scaled_dims));
    plan->size = size;
    ln_cuda_compete(libs, best, &plan->base);
}

// Returns new: a plan of products of each image and its weights [N, OC, C]. NULL: there is none.
static ln_cuda_plan *find_batched(ln_cuda_libs *libs, const ln_cuda_conv *conv)
{
    const int *const src = conv->src->dims, outputs = conv->dst->dims[3];
    const int pixels = src[1] * src[2], src_dims[DIMS] = {src[0], pixels, src[3]},
              weight_dims[DIMS] = {src[0], outputs, src[3]},
              dst_dims[DIMS] = {src[0], pixels, outputs};
    ln_cuda_plan *plan = NULL;
    if (scaled_size(conv, outputs) > LN_CUDA_WORK)
        return NULL;
    const tl_tensor src1 = tensor_of(conv->src->dtype, src_dims, NULL),
                    src2 = tensor_of(conv->src->dtype, weight_dims, NULL),
                    dst = tensor_of(conv->src->dtype, dst_dims, NULL),
                    bias = {.dtype = conv->src->dtype,
                            .len = outputs,
                            .ndim = 1,
                            .dims = (int[]){outputs}};
    const ln_cuda_product product = {.src1 = &src1,
                                     .src2 = &src2,
                                     .dst = &dst,
                                     .bias = &bias,
                                     .trans2 = 1,
                                     .alpha = 1,
                                     .has_addend = conv->has_addend,
                                     .act = conv->param.act,
                                     .allow_tf32 = conv->allow_tf32};
    return ln_cuda_plan_product(libs, &plan, &product) ? NULL : plan;
}

static ln_cuda_key key_of(const ln_cuda_conv *conv)
{
    const int values[] = {KEY, conv->src->dtype, !!conv->has_addend, !!conv->allow_tf32};
    ln_cuda_key key = {0};
    ln_cuda_key_add(&key, sizeof(values) / sizeof(*values), values);
    ln_cuda_key_add_dims(&key, conv->src);
    ln_cuda_key_add_dims(&key, conv->dst);
    ln_cuda_key_add_act(&key, conv->param.act);
    return key;
}

int ln_cuda_has_scaled(const ln_cuda_conv *conv)
{
    static const int ones[2] = {1, 1}, zeros[4] = {0};
    const tl_conv2d_param *const p = &conv->param;
    return conv->is_nhwc && p->group == 1 && !memcmp(p->size, ones, sizeof(ones)) &&
           !memcmp(p->stride, ones, sizeof(ones)) && !memcmp(p->padding, zeros, sizeof(zeros)) &&
           conv->src->ndim == 4 && conv->dst->ndim == 4;
}

int ln_cuda_plan_scaled(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_conv *conv)
{
    if (!ln_cuda_has_scaled(conv))
        return tl_fail("'factors' require a 1x1 convolution with stride 1, no padding, and 'nhwc'");
    const ln_cuda_key key = key_of(conv);
    const int *const src = conv->src->dims;
    ln_cuda_plan shapes = {0}, *best = NULL, *plain = NULL;
    if (ln_cuda_find_plan(libs, &key, plan))
        return 0;
    ln_cuda_plan *const batched = find_batched(libs, conv);
    ln_cuda_plan_conv2d(libs, &plain, conv); // NULL stays if it fails
    fill_shapes(conv, &shapes);
    if ((!batched && !plain) || ln_cuda_use_shapes(libs, &shapes)) {
        ln_cuda_free_plan(batched);
        ln_cuda_free_plan(plain);
        return -1;
    }
    try_scaled(libs, conv, batched, LN_CUDA_WEIGHT, 1, conv->dst->dims[3], &best);
    try_scaled(libs, conv, plain, LN_CUDA_SRC, src[0], src[1] * src[2], &best);
    return best ? ln_cuda_keep_plan(libs, &key, best, plan)
                : tl_fail("no work memory for factors of %d images", src[0]);
}
