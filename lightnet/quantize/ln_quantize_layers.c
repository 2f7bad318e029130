// SPDX-License-Identifier: Apache-2.0
// Finds layers, and quantizes their weights.

#include "quantize/ln_quantize_layers.h"

#include <math.h>

#include "ir/ln_context_ops.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_util.h"

static const char *const norm_args[LN_QUANTIZE_NORM_TENSORS] = {"scale", "offset", "mean", "var"};

// Which operators are layers

// The tensors of an operator that is a layer.
typedef struct parts {
    const ln_tensor_entry *src, *weight, *bias;
    int axis;
} parts;

static int is_float_constant(const ln_tensor_entry *te)
{
    return te->isconst && te->tensor->dtype == TL_FLOAT && te->tensor->len > 0;
}

// An absent parameter has its default, which is 1.
static int is_one(const ln_op *op, const char *param)
{
    return !ln_op_param(op, param) || ln_op_has_number(op, param, 1);
}

// A convolution, or a transposed one without groups: in others, no axis is the output channels.
static int is_conv(const ln_op *op, parts *p)
{
    const int is_transposed = ln_op_is(op, LN_OP_DECONV2D);
    if (!(is_transposed ? is_one(op, "group") : ln_op_is(op, LN_OP_CONV2D)) ||
        !ln_op_reads(op, "src", &p->src) || !ln_op_reads(op, "weight", &p->weight) ||
        !ln_op_reads(op, "bias", &p->bias))
        return 0;
    p->axis = is_transposed;
    return is_float_constant(p->bias);
}

static int is_matmul(const ln_op *op, parts *p)
{
    if (!ln_op_is(op, LN_OP_MATMUL) || !ln_op_reads(op, "src1", &p->src) ||
        !ln_op_reads(op, "src2", &p->weight))
        return 0;
    p->axis = ln_op_bool(op, "trans2") ? 0 : 1;
    return p->weight->tensor->ndim == 2 && !ln_op_bool(op, "trans1") && is_one(op, "alpha") &&
           is_one(op, "beta");
}

// Operators that the model itself quantizes stay unchanged.
static int is_dequantized(const ln_tensor_entry *te)
{
    return ln_op_is(ln_entry_creater(te), LN_OP_DEQUANTIZE);
}

static int is_layer(const ln_op *op, parts *p)
{
    *p = (parts){0};
    return (is_conv(op, p) || is_matmul(op, p)) && is_float_constant(p->weight) &&
           !p->src->isconst && !p->src->isdynamic && p->src->tensor->dtype == TL_FLOAT &&
           p->src->tensor->len > 0 && !ln_entry_is_mutated(p->src) && !is_dequantized(p->src) &&
           !is_dequantized(p->weight);
}

// Joints

static const char *const sum_args[] = {"src1", "src2", NULL}, *const mean_args[] = {"src", NULL};

static int is_computed_float(const ln_op *op, const char *arg)
{
    const ln_tensor_entry *te = NULL;
    return ln_op_reads(op, arg, &te) && !te->isconst && !te->isdynamic &&
           te->tensor->dtype == TL_FLOAT && te->tensor->len > 0 && !ln_entry_is_mutated(te) &&
           !is_dequantized(te);
}

static int is_sum(const ln_op *op)
{
    const ln_tensor_entry *a = NULL, *b = NULL;
    return ln_op_is(op, LN_OP_BINARY) && ln_op_has_string(op, "op", "TL_BINARY_ADD") &&
           is_computed_float(op, "src1") && is_computed_float(op, "src2") &&
           ln_op_reads(op, "src1", &a) && ln_op_reads(op, "src2", &b) &&
           tl_tensor_issameshape(a->tensor, b->tensor);
}

// The arguments of a joint's sources, up to NULL; NULL: not a joint.
static const char *const *joint_args(const ln_op *op)
{
    if (is_sum(op))
        return sum_args;
    return ln_op_is(op, LN_OP_AVGPOOL2D) && is_computed_float(op, "src") ? mean_args : NULL;
}

// Batch normalization

static int is_foldable(const ln_op *norm, const ln_tensor_entry *tensors[])
{
    for (int i = 0; i < LN_QUANTIZE_NORM_TENSORS; i++)
        if (!ln_op_reads(norm, norm_args[i], &tensors[i]) || !is_float_constant(tensors[i]))
            return 0;
    return 1;
}

// The batch normalization that alone reads the convolution's output, or NULL.
static const ln_op *find_norm(const ln_op *conv, const ln_tensor_entry *tensors[])
{
    const ln_tensor_entry *dst = NULL, *src = NULL;
    if (!ln_op_is(conv, LN_OP_CONV2D) || !ln_op_makes(conv, "dst", &dst) ||
        ln_entry_num_uses(dst) != 1)
        return NULL;
    const ln_op *const next = ln_dfg_next(conv->op_arg->ctx->dfg, conv, dst->name);
    return ln_op_is(next, LN_OP_BATCHNORM) && ln_op_reads(next, "src", &src) && src == dst &&
                   is_foldable(next, tensors)
               ? next
               : NULL;
}

// The list

static int copy_name(const ln_context *ctx, char **copy, const char *name)
{
    *copy = ln_strdup(name);
    return *copy ? 0 : ln_fail_memory(ctx);
}

static int note_norm(const ln_context *ctx, ln_quantize_layer *layer, const ln_op *op)
{
    const ln_tensor_entry *tensors[LN_QUANTIZE_NORM_TENSORS] = {NULL};
    const ln_op *const norm = find_norm(op, tensors);
    if (!norm)
        return 0;
    layer->epsilon = ln_op_number(norm, "epsilon");
    for (int i = 0; i < LN_QUANTIZE_NORM_TENSORS; i++)
        if (copy_name(ctx, &layer->norm_tensors[i], tensors[i]->name))
            return -1;
    return copy_name(ctx, &layer->norm, norm->op_arg->name);
}

static int note_layer(const ln_context *ctx, ln_quantize_layer *layer, const ln_op *op,
                      const parts *p)
{
    layer->axis = p->axis;
    return -(copy_name(ctx, &layer->name, op->op_arg->name) ||
             copy_name(ctx, &layer->optype, op->op_arg->optype) ||
             copy_name(ctx, &layer->src, p->src->name) ||
             copy_name(ctx, &layer->weight, p->weight->name) ||
             (p->bias && copy_name(ctx, &layer->bias, p->bias->name)) || note_norm(ctx, layer, op));
}

static int note_source(ln_quantize_layers *layers, const ln_context *ctx, const char *name)
{
    if (ln_quantize_layers_source(layers, name))
        return 0;
    ln_quantize_source *const source = &layers->sources[layers->n_sources++];
    if (copy_name(ctx, &source->name, name))
        return -1;
    return ln_hash_insert(layers->by_name, source->name, source) < 0 ? ln_fail_memory(ctx) : 0;
}

static int note_joint(ln_quantize_layers *layers, const ln_context *ctx, const ln_op *op,
                      const char *const *args)
{
    ln_quantize_joint *const joint = &layers->joints[layers->n_joints++];
    if (copy_name(ctx, &joint->name, op->op_arg->name))
        return -1;
    for (int i = 0; args[i]; i++) {
        const char *const src = ln_op_input_name(op, args[i]);
        joint->args[i] = args[i];
        if (copy_name(ctx, &joint->srcs[i], src) || note_source(layers, ctx, src))
            return -1;
    }
    return 0;
}

static int allocate(ln_quantize_layers *layers, const ln_context *ctx)
{
    parts p;
    size_t n = 1, n_joints = 1;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        n += (size_t)is_layer(op, &p);
        n_joints += joint_args(op) != NULL;
    }
    *layers = (ln_quantize_layers){
        .items = ln_alloc_array(n, sizeof(*layers->items)),
        .joints = ln_alloc_array(n_joints, sizeof(*layers->joints)),
        .sources = ln_alloc_array(n + LN_QUANTIZE_JOINT_SRCS * n_joints, sizeof(*layers->sources)),
        .by_name = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL),
    };
    return layers->items && layers->joints && layers->sources && layers->by_name
               ? 0
               : ln_fail_memory(ctx);
}

int ln_quantize_layers_find(ln_quantize_layers *layers, const ln_context *ctx)
{
    parts p;
    int status = allocate(layers, ctx);
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        if (status)
            return status;
        const char *const *const args = joint_args(op);
        if (args)
            status = note_joint(layers, ctx, op, args);
        else if (is_layer(op, &p))
            status = -(note_source(layers, ctx, p.src->name) ||
                       note_layer(ctx, &layers->items[layers->n++], op, &p));
    }
    return status;
}

ln_quantize_source *ln_quantize_layers_source(const ln_quantize_layers *layers, const char *name)
{
    return ln_hash_find(layers->by_name, name);
}

static void free_layer(ln_quantize_layer *layer)
{
    for (int i = 0; i < LN_QUANTIZE_NORM_TENSORS; i++)
        ln_free(layer->norm_tensors[i]);
    ln_free(layer->name);
    ln_free(layer->optype);
    ln_free(layer->src);
    ln_free(layer->weight);
    ln_free(layer->bias);
    ln_free(layer->norm);
    tl_tensor_free_data_too(layer->weight8);
    tl_tensor_free_data_too(layer->scale);
    tl_tensor_free_data_too(layer->folded);
}

void ln_quantize_layers_free(ln_quantize_layers *layers)
{
    for (int i = 0; i < layers->n; i++)
        free_layer(&layers->items[i]);
    for (int i = 0; i < layers->n_joints; i++) {
        for (int k = 0; k < LN_QUANTIZE_JOINT_SRCS; k++)
            ln_free(layers->joints[i].srcs[k]);
        ln_free(layers->joints[i].name);
    }
    for (int i = 0; i < layers->n_sources; i++) {
        ln_quantize_stats_clear(&layers->sources[i].stats);
        ln_free(layers->sources[i].name);
    }
    ln_free(layers->items);
    ln_free(layers->joints);
    ln_free(layers->sources);
    ln_hash_free(layers->by_name);
    *layers = (ln_quantize_layers){0};
}

// Weights

int ln_quantize_layer_constants(const ln_quantize_layer *layer,
                                int (*func)(void *data, const char *tensor), void *data)
{
    int status = func(data, layer->weight);
    if (!status && layer->norm)
        status = func(data, layer->bias);
    for (int i = 0; i < LN_QUANTIZE_NORM_TENSORS && layer->norm && !status; i++)
        status = func(data, layer->norm_tensors[i]);
    return status;
}

static const tl_tensor *tensor_of(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name)->tensor;
}

static const float *floats_of(const ln_context *ctx, const char *name)
{
    return tensor_of(ctx, name)->data;
}

// A weight as [before, n, after], n being its output channels.
typedef struct channels {
    size_t before, n, after;
} channels;

static channels channels_of(const tl_tensor *t, int axis)
{
    const int after = axis + 1;
    return (channels){.before = (size_t)tl_compute_length(axis, t->dims),
                      .n = (size_t)t->dims[axis],
                      .after = (size_t)tl_compute_length(t->ndim - after, t->dims + after)};
}

// Folds y = (x - mean) * scale / sqrt(var + epsilon) + offset into the bias and the weight, whose
// axis of output channels is the first.
static void fold(const ln_quantize_layer *layer, const ln_context *ctx, const channels *ch,
                 float *weight, float *bias)
{
    const float *consts[LN_QUANTIZE_NORM_TENSORS];
    for (int i = 0; i < LN_QUANTIZE_NORM_TENSORS; i++)
        consts[i] = floats_of(ctx, layer->norm_tensors[i]);
    const float *b = floats_of(ctx, layer->bias);
    for (size_t c = 0; c < ch->n; c++) {
        const double factor = consts[LN_QUANTIZE_NORM_SCALE][c] /
                              sqrt((double)consts[LN_QUANTIZE_NORM_VAR][c] + layer->epsilon);
        for (size_t a = 0; a < ch->after; a++)
            weight[c * ch->after + a] = (float)(weight[c * ch->after + a] * factor);
        bias[c] = (float)(((double)b[c] - consts[LN_QUANTIZE_NORM_MEAN][c]) * factor +
                          consts[LN_QUANTIZE_NORM_OFFSET][c]);
    }
}

static int are_finite(const float *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isfinite(data[i]))
            return 0;
    return 1;
}

static int quantize_weight(ln_quantize_layer *layer, const ln_context *ctx)
{
    const tl_tensor *const t = tensor_of(ctx, layer->weight);
    const channels ch = channels_of(t, layer->axis);
    const int n = (int)ch.n;
    layer->weight8 = tl_tensor_zeros(t->ndim, t->dims, TL_INT8);
    layer->scale = tl_tensor_zeros(1, &n, TL_FLOAT);
    layer->folded = layer->norm ? tl_tensor_zeros(1, &n, TL_FLOAT) : NULL;
    float *const weight = ln_clone(t->data, tl_tensor_size(t));
    if (!layer->weight8 || !layer->scale || (layer->norm && !layer->folded) || !weight) {
        ln_free(weight);
        return ln_fail_memory(ctx);
    }
    if (layer->norm)
        fold(layer, ctx, &ch, weight, layer->folded->data);
    layer->is_usable = are_finite(weight, (size_t)t->len) &&
                       (!layer->folded || are_finite(layer->folded->data, ch.n));
    if (layer->is_usable)
        ln_quantize_weight(weight, ch.before, ch.n, ch.after, layer->scale->data,
                           layer->weight8->data);
    ln_free(weight);
    return 0;
}

int ln_quantize_layers_quantize(ln_quantize_layers *layers, ln_context *ctx)
{
    for (int i = 0; i < layers->n; i++)
        if (quantize_weight(&layers->items[i], ctx))
            return -1;
    return 0;
}
