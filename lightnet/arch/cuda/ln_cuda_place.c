// SPDX-License-Identifier: Apache-2.0
// Which abstract operators the GPU computes, and in which types and layouts.
//
// Each becomes an operator on tensors of the GPU, with copies around it:
//
//     x --> relu --> y    becomes    x --> to_cuda --> x' --> unary_cuda --> y' --> from_cuda --> y
//
// Operators are placed in the order of the list. So an operator that reads y finds that y is a copy
// of y', and reads y' itself; from_cuda is then removed as dead, unless the CPU reads y, too. On
// the GPU, floats have the type of the precision, and each tensor has an order of axes: axis i of y
// is axis permutation[i] of y'. Each function below decides which order an operator reads and
// writes. Transposing a tensor changes nothing but that order.

#include "arch/cuda/ln_cuda_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/cuda/ln_cuda_kernels.h"
#include "arch/cuda/ln_cuda_libs.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"

static const char rule[] = "cuda_place";

static const int plain[LN_MAXDIM] = {0, 1, 2, 3, 4, 5, 6, 7};

// [N, C, H, W] as [N, H, W, C] on the GPU.
static const int channels_last[] = {0, 3, 1, 2};

enum { FEW_CHANNELS = 4 }; // of an image

// Bits of ctx->notes.
enum { IMAGES_LAST = 1 }; // images have their channels last in float32, too

// A tensor on the GPU: axis i of the model's tensor is its axis axes[i]. Images [N, C, H, W] that
// are [N, H, W, C] there have axes {0, 3, 1, 2}.
typedef struct value {
    const char *name; // NULL: there is none
    tl_dtype dtype;
    int ndim, axes[LN_MAXDIM];
    int dims[LN_MAXDIM]; // in the order of the GPU
} value;

typedef struct placing placing;

// The order of axes of the inputs on the GPU, and of the result: that of the first input, of the
// model, or of images (image_order).
typedef enum order { ANY, PLAIN, IMAGE } order;

// How an operator is placed.
typedef struct row {
    const char *optype;
    // Adds the operators that replace p->op, and returns 1; 0: it stays.
    int (*place)(placing *p);
    // For place_row:
    const char *cuda; // the operator of the GPU
    order order;
    const char *inputs[3];                         // the first one has floats
    int (*allows)(placing *p);                     // NULL: whatever the operator is
    void (*set_params)(placing *p, const value *); // of its first input; NULL: all are kept
} row;

enum { MAX_INS = 6 }; // of an operator of the GPU, other than join_cuda

// An operator that is being placed.
struct placing {
    ln_rule_made made;
    const ln_op *op;
    const row *row;
    tl_dtype real; // the type of floats on the GPU
    int nhwc;      // images have their channels last
    int tf32;
    int padding[4]; // of its windows: top, left, bottom, right
    struct {
        const char *arg_name, *name;
    } ins[MAX_INS]; // of the operator of the GPU, so far
    int n_ins;
};

static int is_real(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

// Arguments of the operator

static int is_float_input(const placing *p, const char *arg_name)
{
    const ln_tensor_entry *te = ln_op_input(p->op, arg_name);
    return te && is_real(te->tensor->dtype);
}

// Values

static void invert(const int *axes, int ndim, int *inverse)
{
    for (int i = 0; i < ndim; i++)
        inverse[axes[i]] = i;
}

static void set_order(value *v, int ndim, const int *axes)
{
    v->ndim = ndim;
    if (ndim)
        memcpy(v->axes, axes, (size_t)ndim * sizeof(int));
}

// The tensor of the GPU that `te` is a copy of, by from_cuda; without name if it is none.
static value find_on_gpu(const ln_tensor_entry *te)
{
    const ln_op *const producer = ln_entry_creater(te);
    const ln_tensor_entry *src = NULL;
    value v = {NULL};
    if (!ln_op_is(producer, LN_OP_FROM_CUDA) || !ln_op_reads(producer, "src", &src))
        return v;
    v = (value){.name = src->name, .dtype = src->tensor->dtype};
    set_order(&v, te->tensor->ndim, ln_op_ints(producer, "permutation", NULL));
    memcpy(v.dims, src->tensor->dims, (size_t)v.ndim * sizeof(int));
    return v;
}

static tl_dtype dtype_on_gpu(const placing *p, tl_dtype dtype)
{
    return is_real(dtype) ? p->real : dtype;
}

static value new_value(placing *p, tl_dtype dtype, int ndim, const int *axes)
{
    value v = {.name = ln_rule_tensor(&p->made, "gpu"), .dtype = dtype};
    set_order(&v, ndim, axes);
    return v;
}

// Adds an operator of the GPU that reads `src`, and writes a new tensor.
static value add(placing *p, const char *optype, const value *src, tl_dtype dtype, int ndim,
                 const int *axes)
{
    const value v = new_value(p, dtype, ndim, axes);
    ln_rule_op(&p->made, optype);
    ln_rule_input(&p->made, "src", src->name);
    ln_rule_output(&p->made, "dst", v.name);
    return v;
}

// Permutes and converts: axis i of the result is axis permutation[i] of src, both as stored. `axes`
// are those of the result.
static value convert(placing *p, const char *optype, const value *src, const int *permutation,
                     tl_dtype dtype, const int *axes)
{
    value v = add(p, optype, src, dtype, src->ndim, axes);
    ln_rule_ints(&p->made, "permutation", src->ndim, permutation);
    ln_rule_string(&p->made, "dtype", tl_dtype_name(dtype));
    for (int i = 0; i < src->ndim; i++)
        v.dims[i] = src->dims[permutation[i]];
    return v;
}

// A view in another shape, which has the model's order of axes unless set_order follows.
static value reshape(placing *p, const value *src, int ndim, const int *dims)
{
    value v = add(p, LN_OP_RESHAPE_CUDA, src, src->dtype, ndim, plain);
    ln_rule_ints(&p->made, "dims", ndim, dims);
    memcpy(v.dims, dims, (size_t)ndim * sizeof(int));
    return v;
}

// Whether the permutation moves no element: axes that are longer than 1 keep their order.
static int keeps_elements(const value *v, const int *permutation)
{
    int last = -1;
    for (int i = 0; i < v->ndim; i++) {
        if (v->dims[permutation[i]] == 1)
            continue;
        if (permutation[i] < last)
            return 0;
        last = permutation[i];
    }
    return 1;
}

// `v` with these axes, of this type: itself, a view where no element moves, or a conversion. Axis i
// of the result is axis inverse[i] of the model's tensor, which is axis permutation[i] of `v`.
static value reorder(placing *p, const value *v, const int *axes, tl_dtype dtype)
{
    int inverse[LN_MAXDIM], permutation[LN_MAXDIM], dims[LN_MAXDIM];
    if (v->dtype == dtype && memcmp(v->axes, axes, (size_t)v->ndim * sizeof(int)) == 0)
        return *v;
    invert(axes, v->ndim, inverse);
    for (int i = 0; i < v->ndim; i++) {
        permutation[i] = v->axes[inverse[i]];
        dims[i] = v->dims[permutation[i]];
    }
    if (v->dtype == dtype && keeps_elements(v, permutation)) {
        value view = reshape(p, v, v->ndim, dims);
        set_order(&view, v->ndim, axes);
        return view;
    }
    return convert(p, LN_OP_CONVERT_CUDA, v, permutation, dtype, axes);
}

// The tensor on the GPU, in this order of axes; axes NULL: in that which it has, or else plain.
static value on_gpu_as(placing *p, const ln_tensor_entry *te, const int *axes, tl_dtype dtype)
{
    const tl_tensor *const t = te->tensor;
    const value v = find_on_gpu(te);
    if (v.name)
        return reorder(p, &v, axes ? axes : v.axes, dtype);
    int inverse[LN_MAXDIM];
    value host = {.name = te->name, .dtype = t->dtype};
    set_order(&host, t->ndim, plain);
    memcpy(host.dims, t->dims, (size_t)t->ndim * sizeof(int));
    axes = axes ? axes : plain;
    invert(axes, t->ndim, inverse);
    return convert(p, LN_OP_TO_CUDA, &host, inverse, dtype, axes);
}

static value on_gpu(placing *p, const ln_tensor_entry *te, const int *axes)
{
    return on_gpu_as(p, te, axes, dtype_on_gpu(p, te->tensor->dtype));
}

// The next operator of the GPU reads `v` as `arg_name`.
static value read_as(placing *p, const char *arg_name, value v)
{
    p->ins[p->n_ins].arg_name = arg_name;
    p->ins[p->n_ins++].name = v.name;
    return v;
}

// The next operator of the GPU reads p->op's input of that name, if it has one.
static value read_input(placing *p, const char *arg_name, const int *axes)
{
    const ln_tensor_entry *const te = ln_op_input(p->op, arg_name);
    return te ? read_as(p, arg_name, on_gpu(p, te, axes)) : (value){NULL};
}

// Adds the operator that reads all inputs since the last call. Returns its result.
static value add_op(placing *p, const char *optype, tl_dtype dtype, int ndim, const int *axes)
{
    const value v = new_value(p, dtype, ndim, axes);
    ln_rule_op(&p->made, optype);
    for (int i = 0; i < p->n_ins; i++)
        ln_rule_input(&p->made, p->ins[i].arg_name, p->ins[i].name);
    p->n_ins = 0;
    ln_rule_output(&p->made, "dst", v.name);
    return v;
}

static void set_flag(placing *p, const char *arg_name, int flag)
{
    ln_rule_bool(&p->made, arg_name, flag ? LN_TRUE : LN_FALSE);
}

// The model's tensor is a copy of `v`.
static void store(placing *p, const value *v, const ln_tensor_entry *te)
{
    ln_rule_op(&p->made, LN_OP_FROM_CUDA);
    ln_rule_input(&p->made, "src", v->name);
    ln_rule_output(&p->made, "dst", te->name);
    ln_rule_ints(&p->made, "permutation", v->ndim, v->axes);
    ln_rule_string(&p->made, "dtype", tl_dtype_name(te->tensor->dtype));
}

// The result of p->op is a copy of `v`. Returns 1.
static int finish(placing *p, const value *v)
{
    store(p, v, ln_op_output(p->op, "dst"));
    return 1;
}

static const int *image_order(const placing *p)
{
    return p->nhwc ? channels_last : plain;
}

// Replaces the operator as p->row describes.
static int place_row(placing *p)
{
    const int *const axes = p->row->order == ANY     ? NULL
                            : p->row->order == PLAIN ? plain
                                                     : image_order(p);
    if (!is_float_input(p, p->row->inputs[0]) || (p->row->allows && !p->row->allows(p)))
        return 0;
    const value x = read_input(p, p->row->inputs[0], axes);
    for (int i = 1; i < 3 && p->row->inputs[i]; i++)
        read_input(p, p->row->inputs[i], axes);
    const value y = add_op(p, p->row->cuda, x.dtype, ln_op_output(p->op, "dst")->tensor->ndim,
                           axes ? axes : x.axes);
    if (p->row->set_params)
        p->row->set_params(p, &x);
    else
        ln_rule_all_params(&p->made, p->op);
    return finish(p, &y);
}

// Operators on elements

static int allows_unary(placing *p)
{
    const tl_chain_step step = {
        .func = tl_unary_func_from_str(ln_op_string(p->op, "func")),
        .op = TL_BINARY_OP_INVALID,
    };
    return ln_cuda_has_chain(1, &step, 1);
}

static int has_order(const value *v, int ndim, const int *axes)
{
    return v->name && v->ndim == ndim && memcmp(v->axes, axes, (size_t)ndim * sizeof(int)) == 0;
}

// The order of axes of the result: that of images if an input has it, else the model's if one has
// that, else that of the first input on the GPU, whose value `*first` keeps for the caller.
static const int *order_of(const placing *p, const ln_tensor_entry *const *srcs, int n, int ndim,
                           value *first)
{
    int is_any_plain = 0;
    *first = (value){NULL};
    for (int i = 0; i < n; i++) {
        const value v = find_on_gpu(srcs[i]);
        if (p->nhwc && ndim == 4 && has_order(&v, ndim, channels_last))
            return channels_last;
        is_any_plain |= has_order(&v, ndim, plain);
        if (!first->name && v.name && v.ndim == ndim)
            *first = v;
    }
    return first->name && !is_any_plain ? first->axes : plain;
}

// An operand for a result of `ndim` axes in this order. Broadcasting aligns last axes; in another
// order than the model's, an operand with fewer axes needs leading axes of length 1 before.
static value operand(placing *p, const ln_tensor_entry *te, int ndim, const int *axes)
{
    const tl_tensor *const t = te->tensor;
    int dims[LN_MAXDIM];
    if (t->ndim == ndim)
        return on_gpu(p, te, axes);
    value v = on_gpu(p, te, plain);
    if (t->len == 1 || memcmp(axes, plain, (size_t)ndim * sizeof(int)) == 0)
        return v;
    for (int i = 0; i < ndim; i++)
        dims[i] = i < ndim - t->ndim ? 1 : t->dims[i - (ndim - t->ndim)];
    v = reshape(p, &v, ndim, dims);
    return reorder(p, &v, axes, v.dtype);
}

static int place_binary(placing *p)
{
    const tl_chain_step step = {
        .func = TL_UNARY_FUNC_INVALID,
        .op = tl_binary_op_from_str(ln_op_string(p->op, "op")),
        .src2 = 1,
    };
    const ln_tensor_entry *srcs[] = {ln_op_input(p->op, "src1"), ln_op_input(p->op, "src2")};
    value found;
    if (!is_float_input(p, "src1") || !ln_cuda_has_chain(2, &step, 1))
        return 0;
    const int ndim = ln_op_output(p->op, "dst")->tensor->ndim,
              *axes = order_of(p, srcs, 2, ndim, &found);
    const value a = read_as(p, "src1", operand(p, srcs[0], ndim, axes));
    read_as(p, "src2", operand(p, srcs[1], ndim, axes));
    const value v = add_op(p, p->row->cuda, a.dtype, ndim, axes);
    ln_rule_all_params(&p->made, p->op);
    return finish(p, &v);
}

// On the GPU, all floats have the type p->real. If that is TL_FLOAT, a cast to a 16-bit type rounds
// by a conversion to that type before.
static int place_cast(placing *p)
{
    const ln_tensor_entry *const src = ln_op_input(p->op, "src");
    const tl_dtype dtype = ln_op_output(p->op, "dst")->tensor->dtype;
    if (tl_dtype_is_stored(dtype))
        return 0; // types that no kernel supports, such as float8 and int4
    value v =
        is_real(src->tensor->dtype) && is_real(dtype) ? on_gpu(p, src, NULL) : find_on_gpu(src);
    if (!v.name)
        return 0;
    if (is_real(dtype) && p->real == TL_FLOAT && v.dtype != dtype)
        v = convert(p, LN_OP_CONVERT_CUDA, &v, plain, dtype, v.axes);
    if (v.dtype != dtype_on_gpu(p, dtype))
        v = convert(p, LN_OP_CONVERT_CUDA, &v, plain, dtype_on_gpu(p, dtype), v.axes);
    return finish(p, &v);
}

// Images

// Sets p->padding, as `autopad` determines it. 0: no memory, or unknown `autopad`.
static int find_padding(placing *p)
{
    memcpy(p->padding, ln_op_ints(p->op, "padding", NULL), sizeof(p->padding));
    return !ln_autopadding_conv(p->padding, &ln_op_input(p->op, "src")->tensor->dims[2],
                                ln_op_ints(p->op, "size", NULL), ln_op_ints(p->op, "stride", NULL),
                                ln_op_ints(p->op, "dilation", NULL), 2,
                                ln_op_string(p->op, "autopad"));
}

static void set_window(placing *p, const value *x)
{
    (void)x;
    ln_rule_param(&p->made, "size", p->op, "size");
    ln_rule_param(&p->made, "stride", p->op, "stride");
    ln_rule_ints(&p->made, "padding", 4, p->padding);
    set_flag(p, "nhwc", p->nhwc);
}

// The weights of a depthwise convolution, plain on the GPU, as [KH, KW, C].
static value taps_of(placing *p, const value *w)
{
    static const int taps_first[] = {2, 0, 1};
    const value v = reshape(p, w, 3, (const int[]){w->dims[0], w->dims[2], w->dims[3]});
    return reorder(p, &v, taps_first, v.dtype);
}

static int is_depthwise(const tl_tensor *src, const tl_tensor *weight, int group)
{
    return group > 1 && group == src->dims[1] && group == weight->dims[0];
}

// The matrix multiplication x w^T + bias.
static value product(placing *p, const value *x, const value *w, const value *bias)
{
    read_as(p, "src1", *x);
    read_as(p, "src2", *w);
    read_as(p, "bias", *bias);
    value v = add_op(p, LN_OP_MATMUL_CUDA, x->dtype, 2, plain);
    v.dims[0] = x->dims[0];
    v.dims[1] = w->dims[0];
    set_flag(p, "trans2", 1);
    set_flag(p, "tf32", p->tf32);
    return v;
}

// Whether an image of few channels, with those last, falls into patches that do not overlap: cuDNN
// has no fast kernel for that.
static int is_patches(const placing *p)
{
    const tl_tensor *const src = ln_op_input(p->op, "src")->tensor;
    const int *const size = ln_op_ints(p->op, "size", NULL),
                     *const stride = ln_op_ints(p->op, "stride", NULL),
                     *const dilation = ln_op_ints(p->op, "dilation", NULL), zeros[4] = {0};
    for (int i = 0; i < 2; i++)
        if (size[i] != stride[i] || dilation[i] != 1 || src->dims[2 + i] % size[i])
            return 0;
    return p->nhwc && ln_op_int(p->op, "group") == 1 && src->dims[1] <= FEW_CHANNELS &&
           size[0] * size[1] > 1 && !memcmp(p->padding, zeros, sizeof(zeros));
}

// Multiplies the patches, each as a row, by the weights [OC, KH * KW * C]: the image is reshaped to
// [N, OH, KH, OW, KW * C], permuted to [N, OH, OW, KH, KW * C], then [N * OH * OW, KH * KW * C].
static int place_patches(placing *p)
{
    static const int patches_first[] = {0, 1, 3, 2, 4};
    const int *const size = ln_op_ints(p->op, "size", NULL);
    const value image = on_gpu(p, ln_op_input(p->op, "src"), channels_last),
                weight = on_gpu(p, ln_op_input(p->op, "weight"), channels_last),
                bias = on_gpu(p, ln_op_input(p->op, "bias"), plain);
    const int n = image.dims[0], h = image.dims[1] / size[0], w = image.dims[2] / size[1],
              line = size[1] * image.dims[3], len = size[0] * line, out = weight.dims[0];
    value v = reshape(p, &image, 5, (const int[]){n, h, size[0], w, line});
    v = convert(p, LN_OP_CONVERT_CUDA, &v, patches_first, v.dtype, plain);
    v = reshape(p, &v, 2, (const int[]){n * h * w, len});
    const value matrix = reshape(p, &weight, 2, (const int[]){out, len});
    v = product(p, &v, &matrix, &bias);
    v = reshape(p, &v, 4, (const int[]){n, h, w, out});
    set_order(&v, 4, channels_last);
    return finish(p, &v);
}

static int place_conv2d(placing *p)
{
    const ln_tensor_entry *src = ln_op_input(p->op, "src"), *weight = ln_op_input(p->op, "weight");
    const int group = ln_op_int(p->op, "group");
    if (!is_float_input(p, "src") || !find_padding(p))
        return 0;
    if (is_patches(p))
        return place_patches(p);
    const int has_taps = p->nhwc && is_depthwise(src->tensor, weight->tensor, group);
    const value x = read_input(p, "src", image_order(p)),
                b = on_gpu(p, ln_op_input(p->op, "bias"), plain),
                w = on_gpu(p, weight, has_taps ? plain : image_order(p));
    const value taps = has_taps ? taps_of(p, &w) : (value){NULL};
    read_as(p, "weight", has_taps ? reorder(p, &w, channels_last, w.dtype) : w);
    if (has_taps)
        read_as(p, "taps", taps);
    read_as(p, "bias", b);
    const value y = add_op(p, p->row->cuda, x.dtype, 4, image_order(p));
    ln_rule_param(&p->made, "group", p->op, "group");
    ln_rule_param(&p->made, "dilation", p->op, "dilation");
    set_flag(p, "tf32", p->tf32);
    set_window(p, &x);
    return finish(p, &y);
}

static tl_resample_param resample_param(const placing *p)
{
    tl_resample_param param = {
        .mode = tl_resample_mode_from_str(ln_op_string(p->op, "mode")),
        .rounding = tl_rounding_from_str(ln_op_string(p->op, "rounding")),
        .excludes_outside = ln_op_bool(p->op, "exclude_outside"),
        .fills_outside = ln_op_bool(p->op, "fill_outside"),
    };
    const ln_param_entry *stretch = ln_op_param(p->op, "stretch");
    for (int i = 0; stretch && i < stretch->array_len; i++)
        param.axes[i].stretch = stretch->value_array_double[i];
    return param;
}

static int allows_resample(placing *p)
{
    const tl_resample_param param = resample_param(p);
    return ln_cuda_has_resample(&param, ln_op_output(p->op, "dst")->tensor->ndim);
}

// Parameters that have an element for each axis, in the order of the GPU.
static void set_resample(placing *p, const value *x)
{
    static const char *const per_axis[] = {"shift", "span", "steps", "start", "stretch"};
    const tl_tensor *const dst = ln_op_output(p->op, "dst")->tensor;
    int inverse[LN_MAXDIM], dims[LN_MAXDIM];
    ln_rule_all_params(&p->made, p->op);
    invert(x->axes, x->ndim, inverse);
    for (int i = 0; i < x->ndim; i++)
        dims[i] = dst->dims[inverse[i]];
    ln_rule_ints(&p->made, "dims", x->ndim, dims);
    for (size_t k = 0; k < sizeof(per_axis) / sizeof(*per_axis); k++) {
        const ln_param_entry *entry = ln_op_param(p->op, per_axis[k]);
        double numbers[LN_MAXDIM];
        for (int i = 0; i < x->ndim; i++)
            numbers[i] = entry->value_array_double[inverse[i]];
        ln_rule_numbers(&p->made, per_axis[k], x->ndim, numbers);
    }
}

// Products

// Whether the bias has an element for each column, and is the same in each row.
static int is_row(const tl_tensor *bias, int n)
{
    return bias->ndim > 0 && bias->len == n && bias->dims[bias->ndim - 1] == n;
}

static int place_matmul(placing *p)
{
    const ln_tensor_entry *a = ln_op_input(p->op, "src1"), *b = ln_op_input(p->op, "src2"),
                          *bias = ln_op_input(p->op, "bias");
    const tl_tensor *const y = ln_op_output(p->op, "dst")->tensor;
    if (!is_float_input(p, "src1") || y->ndim < 2 ||
        (bias &&
         (ln_op_number(p->op, "beta") != 1 || !is_row(bias->tensor, y->dims[y->ndim - 1]))) ||
        !ln_cuda_has_product(a->tensor, b->tensor, NULL, y))
        return 0;
    const value x = read_input(p, "src1", plain);
    read_input(p, "src2", plain);
    if (bias) {
        const value c = on_gpu(p, bias, plain);
        read_as(p, "bias", c.ndim == 1 ? c : reshape(p, &c, 1, &y->dims[y->ndim - 1]));
    }
    const value v = add_op(p, p->row->cuda, x.dtype, y->ndim, plain);
    ln_rule_param(&p->made, "trans1", p->op, "trans1");
    ln_rule_param(&p->made, "trans2", p->op, "trans2");
    ln_rule_param(&p->made, "alpha", p->op, "alpha");
    set_flag(p, "tf32", p->tf32);
    return finish(p, &v);
}

// Reads q, k or v: [B, S, heads, D] or [B, heads, S, D], with the heads at `*axis`. The kernel
// supports both, so where these axes are swapped on the GPU, they stay so, and `*axis` changes.
static value read_heads(placing *p, const char *arg_name, int *axis)
{
    static const int swapped[] = {0, 2, 1, 3};
    const value v = find_on_gpu(ln_op_input(p->op, arg_name));
    const int is_swapped = has_order(&v, 4, swapped);
    if (is_swapped)
        *axis = 3 - *axis;
    return read_input(p, arg_name, is_swapped ? swapped : plain);
}

static int place_attention(placing *p)
{
    static const char *const args[] = {"q", "k", "v"}, *const arg_axes[] = {"q_axis", "k_axis",
                                                                            "v_axis"};
    const tl_attention_param param = {
        ln_op_int(p->op, "q_axis"),   ln_op_int(p->op, "k_axis"),   ln_op_int(p->op, "v_axis"),
        ln_op_int(p->op, "dst_axis"), ln_op_number(p->op, "scale"), ln_op_bool(p->op, "zero_empty"),
    };
    int axes[] = {param.q_axis, param.k_axis, param.v_axis};
    if (!is_float_input(p, "q") ||
        !ln_cuda_has_attention(ln_op_input(p->op, "q")->tensor, ln_op_input(p->op, "k")->tensor,
                               ln_op_input(p->op, "v")->tensor, &param))
        return 0;
    const value q = read_heads(p, args[0], &axes[0]);
    for (int i = 1; i < 3; i++)
        read_heads(p, args[i], &axes[i]);
    read_input(p, "mask", plain);
    const value y = add_op(p, p->row->cuda, q.dtype, 4, plain);
    ln_rule_all_params(&p->made, p->op);
    for (int i = 0; i < 3; i++)
        ln_rule_number(&p->made, arg_axes[i], axes[i]);
    set_flag(p, "tf32", p->tf32);
    return finish(p, &y);
}

// Lines and sums

// Sets the axis to that of the GPU.
static void set_axis(placing *p, const value *x)
{
    ln_rule_number(&p->made, "axis", x->axes[ln_op_int(p->op, "axis")]);
}

static int allows_layernorm(placing *p)
{
    return ln_op_input(p->op, "scale") && !ln_op_output(p->op, "mean") &&
           !ln_op_output(p->op, "inv_std");
}

// The order of the axes that a reduction leaves, without gaps: with x->axes {0, 3, 1, 2}, if axis 1
// is reduced, {0, 1, 2}, and if axes 2 and 3 are, {0, 1}. Returns how many.
static int remaining_order(const value *x, const int *is_reduced, int *axes)
{
    int n = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (is_reduced[i])
            continue;
        int at = 0;
        for (int k = 0; k < x->ndim; k++)
            at += !is_reduced[k] && x->axes[k] < x->axes[i];
        axes[n++] = at;
    }
    return n;
}

static int place_reduce(placing *p)
{
    int n_axes, axes[LN_MAXDIM], is_reduced[LN_MAXDIM] = {0}, left[LN_MAXDIM];
    const int *const reduced = ln_op_ints(p->op, "axes", &n_axes);
    const int keeps = ln_op_bool(p->op, "keepdims");
    if (!is_float_input(p, "src"))
        return 0;
    const value x = read_input(p, "src", NULL);
    for (int i = 0; i < n_axes; i++) {
        axes[i] = x.axes[reduced[i]];
        is_reduced[reduced[i]] = 1;
    }
    const int n_left = remaining_order(&x, is_reduced, left);
    const value y =
        add_op(p, p->row->cuda, x.dtype, keeps ? x.ndim : n_left, keeps ? x.axes : left);
    ln_rule_all_params(&p->made, p->op);
    ln_rule_ints(&p->made, "axes", n_axes, axes);
    return finish(p, &y);
}

// Elements that move

// These are placed where their source is on the GPU already.

static int place_transpose(placing *p)
{
    const ln_tensor_entry *src = ln_op_input(p->op, "src");
    const int *const axes = ln_op_ints(p->op, "axes", NULL);
    value v = find_on_gpu(src), moved;
    if (!v.name && !is_real(src->tensor->dtype))
        return 0;
    v = on_gpu(p, src, NULL);
    moved = v;
    for (int i = 0; i < v.ndim; i++)
        moved.axes[i] = v.axes[axes[i]];
    return finish(p, &moved);
}

// A part of a reshape: adjacent axes of the source whose lengths have the same product as adjacent
// axes of the result. [6, 4, 5] to [2, 3, 20] has two: [6] to [2, 3], and [4, 5] to [20].
typedef struct group {
    int src_begin, src_end, dst_begin, dst_end; // axes of the model's tensors
    int first;                                  // the least of the source's axes on the GPU
} group;

// Finds the smallest groups, in the model's order. Returns how many.
static int find_groups(const value *v, const tl_tensor *src, const tl_tensor *dst, group *groups)
{
    int n = 0;
    for (int s = 0, d = 0; s < src->ndim && d < dst->ndim; n++) {
        group *const g = &groups[n];
        int from = src->dims[s], to = dst->dims[d];
        *g = (group){.src_begin = s++, .dst_begin = d++};
        while (from != to) {
            if (from < to)
                from *= src->dims[s++];
            else
                to *= dst->dims[d++];
        }
        // The remaining axes have length 1.
        g->src_end = d == dst->ndim ? src->ndim : s;
        g->dst_end = s == src->ndim ? dst->ndim : d;
        g->first = v->axes[g->src_begin];
        for (int i = g->src_begin; i < g->src_end; i++)
            if (v->axes[i] < g->first)
                g->first = v->axes[i];
    }
    return n;
}

static int by_first(const void *a, const void *b)
{
    return ((const group *)a)->first - ((const group *)b)->first;
}

// The axes of values in which groups follow one another as given, each in the model's order.
static void order_groups(const group *groups, int n, int *src_axes, int *dst_axes)
{
    for (int g = 0, s = 0, d = 0; g < n; g++) {
        for (int i = groups[g].src_begin; i < groups[g].src_end; i++)
            src_axes[i] = s++;
        for (int i = groups[g].dst_begin; i < groups[g].dst_end; i++)
            dst_axes[i] = d++;
    }
}

// If each group has adjacent axes in the model's order, the elements of the result are in the same
// order as those of the source: then the groups may have any order, such as that of the GPU.
static int place_reshape(placing *p)
{
    const ln_tensor_entry *src = ln_op_input(p->op, "src");
    const tl_tensor *const d = ln_op_output(p->op, "dst")->tensor;
    group groups[LN_MAXDIM];
    int src_axes[LN_MAXDIM], dst_axes[LN_MAXDIM], dims[LN_MAXDIM];
    value v = find_on_gpu(src);
    if (!v.name || v.ndim == 0 || d->ndim == 0)
        return 0;
    const int n = find_groups(&v, src->tensor, d, groups);
    qsort(groups, (size_t)n, sizeof(*groups), by_first);
    order_groups(groups, n, src_axes, dst_axes);
    v = reorder(p, &v, src_axes, v.dtype);
    for (int i = 0; i < d->ndim; i++)
        dims[dst_axes[i]] = d->dims[i];
    v = reshape(p, &v, d->ndim, dims);
    set_order(&v, d->ndim, dst_axes);
    return finish(p, &v);
}

static int place_forward(placing *p)
{
    const value v = find_on_gpu(ln_op_input(p->op, "src"));
    return v.name ? finish(p, &v) : 0;
}

// One of the inputs is on the GPU.
static int is_any_on_gpu(const ln_tensor_entry *const *srcs, int n)
{
    for (int i = 0; i < n; i++)
        if (find_on_gpu(srcs[i]).name)
            return 1;
    return 0;
}

static int place_join(placing *p)
{
    enum { MAX = 64 };
    const ln_tensor_entry *srcs[MAX] = {NULL};
    value parts[MAX] = {{NULL}}, found;
    char arg_name[32];
    ln_tensor_entry *te;
    int n = 0;
    if (ln_op_num_in(p->op) > MAX)
        return 0;
    LN_INPUTS_FOREACH (te, p->op->op_arg)
        srcs[n++] = te;
    if (!is_any_on_gpu(srcs, n))
        return 0;
    const int ndim = ln_op_output(p->op, "dst")->tensor->ndim,
              *axes = order_of(p, srcs, n, ndim, &found);
    for (int i = 0; i < n; i++)
        parts[i] = on_gpu(p, srcs[i], axes);
    const value v = add_op(p, p->row->cuda, parts[0].dtype, ndim, axes);
    for (int i = 0; i < n; i++) {
        snprintf(arg_name, sizeof(arg_name), "src%d", i);
        ln_rule_input(&p->made, arg_name, parts[i].name);
    }
    ln_rule_number(&p->made, "axis", axes[ln_op_int(p->op, "axis")]);
    return finish(p, &v);
}

// Adds `dst` as the region of `x` from starts by steps, which are in the model's order of axes.
static void add_region(placing *p, const value *x, const int *starts, const int *steps,
                       const ln_tensor_entry *dst)
{
    int from[LN_MAXDIM], step[LN_MAXDIM], dims[LN_MAXDIM];
    for (int i = 0; i < x->ndim; i++) {
        from[x->axes[i]] = starts[i];
        step[x->axes[i]] = steps[i];
        dims[x->axes[i]] = dst->tensor->dims[i];
    }
    const value y = add(p, LN_OP_REGION_CUDA, x, x->dtype, x->ndim, x->axes);
    ln_rule_ints(&p->made, "starts", x->ndim, from);
    ln_rule_ints(&p->made, "steps", x->ndim, step);
    ln_rule_ints(&p->made, "dims", x->ndim, dims);
    store(p, &y, dst);
}

static const int one_by_one[LN_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1};

static int place_slice(placing *p)
{
    const value x = find_on_gpu(ln_op_input(p->op, "src"));
    int starts[LN_MAXDIM] = {0};
    if (!x.name)
        return 0;
    starts[ln_op_int(p->op, "axis")] = ln_op_int(p->op, "start");
    add_region(p, &x, starts, one_by_one, ln_op_output(p->op, "dst"));
    return 1;
}

static int place_split(placing *p)
{
    const value x = find_on_gpu(ln_op_input(p->op, "src"));
    const int axis = ln_op_int(p->op, "axis");
    const ln_tensor_entry *dst;
    int starts[LN_MAXDIM] = {0};
    if (!x.name || ln_op_input(p->op, "lens_now"))
        return 0;
    LN_OUTPUTS_FOREACH (dst, p->op->op_arg) {
        add_region(p, &x, starts, one_by_one, dst);
        starts[axis] += dst->tensor->dims[axis];
    }
    return 1;
}

static int place_stride_slice(placing *p)
{
    const value x = find_on_gpu(ln_op_input(p->op, "src"));
    int n, firsts[LN_MAXDIM] = {0}, steps[LN_MAXDIM];
    const int *const axes = ln_op_ints(p->op, "axes", &n);
    const int *const starts = ln_op_ints(p->op, "starts", NULL),
                     *const ends = ln_op_ints(p->op, "ends", NULL),
                     *const by = ln_op_ints(p->op, "steps", NULL);
    if (!x.name || ln_op_num_in(p->op) != 1)
        return 0;
    memcpy(steps, one_by_one, sizeof(steps));
    for (int i = 0; i < n; i++) {
        tl_slice_length(ln_op_input(p->op, "src")->tensor->dims[axes[i]], starts[i], ends[i], by[i],
                        &firsts[axes[i]]);
        steps[axes[i]] = by[i];
    }
    add_region(p, &x, firsts, steps, ln_op_output(p->op, "dst"));
    return 1;
}

// `dst` is in the CPU's memory, since its length is known only after the run.
static int place_nms(placing *p)
{
    static const char *const limits[] = {"most", "overlap", "score"};
    const ln_tensor_entry *const srcs[] = {ln_op_input(p->op, "boxes"),
                                           ln_op_input(p->op, "scores")};
    if (!is_any_on_gpu(srcs, 2))
        return 0;
    const value boxes = on_gpu_as(p, srcs[0], plain, TL_FLOAT),
                scores = on_gpu_as(p, srcs[1], plain, TL_FLOAT);
    ln_rule_op(&p->made, p->row->cuda);
    ln_rule_input(&p->made, "boxes", boxes.name);
    ln_rule_input(&p->made, "scores", scores.name);
    for (int i = 0; i < 3; i++)
        if (ln_op_input(p->op, limits[i]))
            ln_rule_input(&p->made, limits[i], ln_op_input(p->op, limits[i])->name);
    ln_rule_output(&p->made, "dst", ln_op_output(p->op, "dst")->name);
    ln_rule_all_params(&p->made, p->op);
    return 1;
}

// The rule

static const row rows[] = {
    {LN_OP_UNARY, place_row, LN_OP_UNARY_CUDA, ANY, {"src"}, allows_unary, NULL},
    {LN_OP_BINARY, place_binary, LN_OP_BINARY_CUDA},
    {LN_OP_CAST, place_cast},
    {LN_OP_CONV2D, place_conv2d, LN_OP_CONV2D_CUDA},
    {LN_OP_MAXPOOL2D, place_row, LN_OP_MAXPOOL2D_CUDA, IMAGE, {"src"}, find_padding, set_window},
    {LN_OP_AVGPOOL2D, place_row, LN_OP_AVGPOOL2D_CUDA, IMAGE, {"src"}, find_padding, set_window},
    {LN_OP_RESAMPLE, place_row, LN_OP_RESAMPLE_CUDA, ANY, {"src"}, allows_resample, set_resample},
    {LN_OP_MATMUL, place_matmul, LN_OP_MATMUL_CUDA},
    {LN_OP_ATTENTION, place_attention, LN_OP_ATTENTION_CUDA},
    {LN_OP_SOFTMAX, place_row, LN_OP_SOFTMAX_CUDA, ANY, {"src"}, NULL, set_axis},
    {LN_OP_LOGSOFTMAX, place_row, LN_OP_LOGSOFTMAX_CUDA, ANY, {"src"}, NULL, set_axis},
    {LN_OP_LAYERNORM,
     place_row,
     LN_OP_LAYERNORM_CUDA,
     PLAIN,
     {"src", "scale", "bias"},
     allows_layernorm,
     NULL},
    {LN_OP_REDUCE, place_reduce, LN_OP_REDUCE_CUDA},
    {LN_OP_TRANSPOSE, place_transpose},
    {LN_OP_RESHAPE, place_reshape},
    {LN_OP_VIEW, place_reshape},
    {LN_OP_SQUEEZE, place_reshape},
    {LN_OP_UNSQUEEZE, place_reshape},
    {LN_OP_FLATTEN, place_reshape},
    {LN_OP_FORWARD, place_forward},
    {LN_OP_JOIN, place_join, LN_OP_JOIN_CUDA},
    {LN_OP_SLICE, place_slice},
    {LN_OP_SPLIT, place_split},
    {LN_OP_STRIDE_SLICE, place_stride_slice},
    {LN_OP_TAKE, place_row, LN_OP_TAKE_CUDA, PLAIN, {"src", "index"}, NULL, NULL},
    {LN_OP_NMS, place_nms, LN_OP_NMS_CUDA},
};

// Whether there are elements, not written in place, and the shape is fixed, or may be open.
static int has_fixed_elements(const ln_tensor_entry *te, int may_be_open)
{
    return te->tensor->len && !ln_entry_is_mutated(te) && (may_be_open || !te->isdynamic);
}

// The CPU computes constants, in float and in the model's order, and subgraphs of branches and
// loops, whose tensors use memory of their operators.
static int may_place(const ln_context *ctx, const ln_op *op)
{
    const ln_tensor_entry *te;
    int is_constant = 1;
    LN_INPUTS_FOREACH (te, op->op_arg)
        if (!has_fixed_elements(te, 0))
            return 0;
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        is_constant = is_constant && te->isconst;
        if (!has_fixed_elements(te, ln_op_is(op, LN_OP_NMS)))
            return 0;
    }
    return ln_streq(op->op_arg->arch, "none") && !ctx->outer && !is_constant;
}

static int place(placing *p)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (ln_op_is(p->op, rows[i].optype)) {
            p->row = &rows[i];
            return may_place(p->made.ctx, p->op) && p->row->place(p);
        }
    return 0;
}

ln_list *ln_cuda_place(const ln_context *ctx, ln_list **old_ops)
{
    *old_ops = NULL;
    if (!ln_pass_rule_begins(ctx, rule))
        return NULL;
    for (const ln_op *op = ln_rule_anchor(ctx, NULL); op; op = ln_rule_anchor(ctx, op)) {
        placing p = {.made = {.ctx = ctx, .rule = rule}, .op = op, .real = ctx->precision};
        p.tf32 = ctx->allows_tf32;
        p.nhwc = p.tf32 || p.real != TL_FLOAT || ctx->notes & IMAGES_LAST;
        if (!place(&p))
            continue;
        const ln_op *const replaced[] = {op, NULL};
        return ln_rule_end_subgraph(&p.made, replaced, old_ops);
    }
    return NULL;
}

// The type of all floats that the model computes if it is TL_FLOAT16 or TL_BFLOAT16, else TL_FLOAT.
// Casts, and inputs of the model, do not count.
static tl_dtype computed_type(const ln_context *ctx)
{
    tl_dtype found = TL_DTYPE_INVALID;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_tensor_entry *te;
        const int counts = op->op_arg->tensors_in && !ln_op_is(op, LN_OP_CAST);
        LN_OUTPUTS_FOREACH (te, op->op_arg) {
            const tl_dtype dtype = te->tensor->dtype;
            if (!counts || te->isconst || (!is_real(dtype) && dtype != TL_DOUBLE))
                continue;
            if ((dtype != TL_FLOAT16 && dtype != TL_BFLOAT16) ||
                (found != TL_DTYPE_INVALID && found != dtype))
                return TL_FLOAT;
            found = dtype;
        }
    }
    return found == TL_DTYPE_INVALID ? TL_FLOAT : found;
}

// Whether the convolution has a fast kernel in float32 for [N, H, W, C]: our depthwise kernel, a
// matrix multiplication, or cuDNN's for few channels.
static int is_fast_channels_last(const ln_op *op)
{
    static const int ones[2] = {1, 1}, zeros[4] = {0};
    const ln_tensor_entry *src = ln_op_input(op, "src"), *weight = ln_op_input(op, "weight");
    const int n_groups = ln_op_int(op, "group");
    if (!src || !weight || src->isdynamic || src->tensor->ndim != 4)
        return 0;
    if (is_depthwise(src->tensor, weight->tensor, n_groups) || src->tensor->dims[1] <= FEW_CHANNELS)
        return 1;
    return n_groups == 1 && !memcmp(&weight->tensor->dims[2], ones, sizeof(ones)) &&
           !memcmp(ln_op_ints(op, "stride", NULL), ones, sizeof(ones)) &&
           !memcmp(ln_op_ints(op, "padding", NULL), zeros, sizeof(zeros));
}

static int are_fast_channels_last(const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (ln_op_is(op, LN_OP_CONV2D) && !is_fast_channels_last(op))
            return 0;
    return 1;
}

// Examines the whole model once, when the rule is applied to its first operator.
ln_list *ln_cuda_note_model(const ln_context *ctx, ln_list **old_ops)
{
    ln_context *const noted = (ln_context *)ctx;
    *old_ops = NULL;
    if (ctx->precision != TL_FLOAT || !ctx->ops || ln_rule_anchor(ctx, NULL) != ctx->ops->data)
        return NULL;
    noted->precision = computed_type(ctx);
    if (are_fast_channels_last(ctx))
        noted->notes |= IMAGES_LAST;
    return NULL;
}
