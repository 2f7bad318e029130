// SPDX-License-Identifier: Apache-2.0
// Tests of insertion: where quantize operators stand, and what a network with a joint computes.

#include "quantize/ln_quantize_insert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"

// Of one pixel with 2 channels: a = A x, b = B x, s = a + b, r = relu(s), c = C r, y = c + a
#define OP(optype, dst, ins, params)                                                             \
    "{\"name\": \"" dst "_op\", \"optype\": \"" optype "\", \"tensors_in\": [" ins               \
    "], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"" dst "\"}], \"params\": [" params \
    "]}"
#define IN(arg, name)     "{\"arg_name\": \"" arg "\", \"name\": \"" name "\"}"
#define PARAM(arg, value) "{\"arg_name\": \"" arg "\", \"value\": " value "}"
#define SHAPED(dims, data) \
    PARAM("dtype", "\"TL_FLOAT\"") ", " PARAM("dims", dims) ", " PARAM("data", "[" data "]")
#define SOURCE(name, dims, data) OP("source", name, "", SHAPED(dims, data))
#define GROUPS(n)                                                                         \
    PARAM("group", #n)                                                                    \
    ", " PARAM("size", "[1, 1]") ", " PARAM("stride", "[1, 1]") ", " PARAM(               \
        "padding", "[0, 0, 0, 0]") ", " PARAM("dilation", "[1, 1]") ", " PARAM("autopad", \
                                                                               "\"NOTSET\"")
#define CONV(src, weight, dst) \
    OP("conv2d", dst, IN("src", src) ", " IN("weight", weight) ", " IN("bias", "o"), GROUPS(1))
#define SUM(src1, src2, dst) \
    OP("binary", dst, IN("src1", src1) ", " IN("src2", src2), PARAM("op", "\"TL_BINARY_ADD\""))

static const char *const ops[] = {
    SOURCE("x", "[1, 2, 1, 1]", ""),
    SOURCE("A", "[2, 2, 1, 1]", "1, -0.5, 0.25, 2"),
    SOURCE("B", "[2, 2, 1, 1]", "0.75, 1, -1, 0.125"),
    SOURCE("C", "[2, 2, 1, 1]", "1, 1, -0.625, 0.5"),
    SOURCE("o", "[2]", "0.5, -0.25"),
    CONV("x", "A", "a"),
    CONV("x", "B", "b"),
    SUM("a", "b", "s"),
    OP("unary", "r", IN("src", "s"), PARAM("func", "\"TL_UNARY_RELU\"")),
    CONV("r", "C", "c"),
    SUM("c", "a", "y"),
};

enum { N_OPS = sizeof(ops) / sizeof(ops[0]), MODEL_SIZE = 8192 };

static void write_model(char text[MODEL_SIZE])
{
    strcpy(text, "{\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [");
    for (int i = 0; i < N_OPS; i++) {
        strcat(text, i ? ", " : "");
        strcat(text, ops[i]);
    }
    strcat(text, "]}");
    ck_assert_uint_lt(strlen(text), MODEL_SIZE);
}

static const float A[] = {1, -0.5f, 0.25f, 2}, B[] = {0.75f, 1, -1, 0.125f},
                   C[] = {1, 1, -0.625f, 0.5f}, bias[] = {0.5f, -0.25f};
static const ln_quantize_step step = {.scale = 0.0625f, .zero = 100};

typedef struct network {
    ln_context *ctx;
    ln_quantize_layers layers;
    ln_hash *weights;
} network;

// With one step for all tensors.
static network open_network(void)
{
    char text[MODEL_SIZE];
    write_model(text);
    network net = {ln_context_create(),
                   .weights = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL)};
    ck_assert_msg(!ln_context_init_text(net.ctx, "net.json", text, strlen(text)), "%s",
                  ln_context_error(net.ctx));
    ck_assert_int_eq(ln_quantize_layers_find(&net.layers, net.ctx), 0);
    ck_assert_int_eq(net.layers.n, 3);
    ck_assert_int_eq(net.layers.n_joints, 2);
    const float *const weights[] = {A, B, C};
    const int dims[] = {2, 2, 1, 1}, n = 2;
    for (int i = 0; i < 3; i++) {
        ln_quantize_layer *layer = &net.layers.items[i];
        layer->is_usable = 1;
        layer->weight8 = tl_tensor_zeros(4, dims, TL_INT8);
        layer->scale = tl_tensor_zeros(1, &n, TL_FLOAT);
        ln_quantize_weight(weights[i], 1, 2, 2, layer->scale->data, layer->weight8->data);
    }
    for (int i = 0; i < net.layers.n_sources; i++) {
        net.layers.sources[i].is_usable = 1;
        net.layers.sources[i].step = step;
    }
    return net;
}

static void close_network(network *net)
{
    ln_quantize_layers_free(&net->layers);
    ln_hash_free(net->weights);
    ln_context_free(net->ctx);
}

static void insert(network *net, const char *is_on, int has_joints)
{
    const ln_quantize_mix mix = {is_on, has_joints, 0};
    ck_assert_msg(!ln_quantize_insert(net->ctx, &net->layers, &mix, net->weights), "%s",
                  ln_context_error(net->ctx));
    ck_assert_msg(!ln_context_check(net->ctx), "%s", ln_context_error(net->ctx));
}

static int count(const network *net, const char *optype)
{
    const ln_op *op;
    int n = 0;
    LN_LIST_FOREACH (op, net->ctx->ops)
        n += ln_op_is(op, optype);
    return n;
}

// Whether input `arg` of the operator is the output of a dequantize.
static int reads_8_bits(const network *net, const char *name, const char *arg)
{
    const ln_tensor_entry *te = NULL;
    const ln_op *op = ln_op_table_find(net->ctx->op_table, name);
    ck_assert_ptr_nonnull(op);
    ck_assert_int_eq(ln_op_reads(op, arg, &te), 1);
    return ln_op_is(ln_entry_creater(te), "dequantize");
}

// Layers, and the axis of output channels in their weights; -1: not a layer.
static const struct kind {
    const char *op, *weight;
    int axis;
} kinds[] = {
    {CONV("x", "w", "y"), SOURCE("w", "[2, 2, 1, 1]", "1, 2, 3, 4"), 0},
    {OP("conv2d", "y", IN("src", "x") ", " IN("weight", "w") ", " IN("bias", "o"), GROUPS(2)),
     SOURCE("w", "[2, 1, 1, 1]", "1, 2"), 0},
    {OP("deconv2d", "y", IN("src", "x") ", " IN("weight", "w") ", " IN("bias", "o"),
        GROUPS(1) ", " PARAM("output_dims", "[0, 0, 0, 0]") ", " PARAM("output_padding", "[0, 0]")),
     SOURCE("w", "[2, 2, 1, 1]", "1, 2, 3, 4"), 1},
    {OP("deconv2d", "y", IN("src", "x") ", " IN("weight", "w") ", " IN("bias", "o"),
        GROUPS(2) ", " PARAM("output_dims", "[0, 0, 0, 0]") ", " PARAM("output_padding", "[0, 0]")),
     SOURCE("w", "[2, 1, 1, 1]", "1, 2"), -1},
};

// Weights of 0 with scales of 1: only the bias is left.
static void quantize_one(ln_context *ctx, ln_quantize_layers *layers)
{
    ln_quantize_layer *const layer = &layers->items[0];
    ln_hash *const weights = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    const tl_tensor *const w = ln_tensor_table_find(ctx->tensor_table, "w")->tensor;
    const float ones[] = {1, 1}, x[] = {3, 4};
    const ln_quantize_mix mix = {"\1", 0, 0};
    float y[2];
    layer->is_usable = layers->sources[0].is_usable = 1;
    layers->sources[0].step = step;
    layer->weight8 = tl_tensor_zeros(w->ndim, w->dims, TL_INT8);
    layer->scale = tl_tensor_zeros(1, (const int[]){2}, TL_FLOAT);
    memcpy(layer->scale->data, ones, sizeof(ones));
    ck_assert_msg(!ln_quantize_insert(ctx, layers, &mix, weights) &&
                      !ln_context_compile(ctx, "cpu") && !ln_context_load(ctx, NULL),
                  "%s", ln_context_error(ctx));
    ck_assert(!ln_context_set_data(ctx, "x", x) && !ln_context_run(ctx) &&
              ln_context_get_data(ctx, "y", y));
    ck_assert_double_eq(y[0], 0.5);
    ck_assert_double_eq(y[1], -0.25);
    ln_hash_free(weights);
}

START_TEST(convolutions_are_layers_but_transposed_ones_in_groups)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char text[MODEL_SIZE];
        snprintf(text, sizeof(text),
                 "{\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": [%s, %s, %s, %s]}", ops[0],
                 kinds[i].weight, SOURCE("o", "[2]", "0.5, -0.25"), kinds[i].op);
        ln_context *const ctx = ln_context_create();
        ln_quantize_layers layers;
        ck_assert_msg(!ln_context_init_text(ctx, "net.json", text, strlen(text)), "%s",
                      ln_context_error(ctx));
        ck_assert_int_eq(ln_quantize_layers_find(&layers, ctx), 0);
        ck_assert_int_eq(layers.n, kinds[i].axis >= 0);
        if (layers.n) {
            ck_assert_int_eq(layers.items[0].axis, kinds[i].axis);
            quantize_one(ctx, &layers);
        }
        ln_quantize_layers_free(&layers);
        ln_context_free(ctx);
    }
}
END_TEST

START_TEST(nothing_on_changes_nothing)
{
    network net = open_network();
    const int n = ln_list_length(net.ctx->ops);
    insert(&net, NULL, 1);
    ck_assert_int_eq(ln_list_length(net.ctx->ops), n);
    ck_assert_int_eq((int)(intptr_t)ln_hash_find(net.weights, "C"), 3);
    close_network(&net);
}
END_TEST

// a and b read one x in 8 bits.
START_TEST(a_source_is_quantized_once)
{
    network net = open_network();
    insert(&net, "\1\1\1", 0);
    ck_assert_int_eq(count(&net, "quantize"), 2);
    ck_assert_int_eq(count(&net, "dequantize"), 2 + 3);
    ck_assert_int_eq(reads_8_bits(&net, "a_op", "src"), 1);
    ck_assert_int_eq(reads_8_bits(&net, "b_op", "src"), 1);
    ck_assert_int_eq(reads_8_bits(&net, "s_op", "src1"), 0);
    close_network(&net);
}
END_TEST

START_TEST(a_layer_that_is_off_reads_floats)
{
    network net = open_network();
    insert(&net, "\0\1\0", 0);
    ck_assert_int_eq(count(&net, "quantize"), 1);
    ck_assert_int_eq(reads_8_bits(&net, "a_op", "src"), 0);
    ck_assert_int_eq(reads_8_bits(&net, "b_op", "src"), 1);
    ck_assert_int_eq(reads_8_bits(&net, "b_op", "weight"), 1);
    ck_assert_int_eq((int)(intptr_t)ln_hash_find(net.weights, "A"), 1);
    ck_assert_ptr_null(ln_hash_find(net.weights, "B"));
    close_network(&net);
}
END_TEST

// s is; y leads to no layer.
START_TEST(a_joint_between_layers_reads_8_bits)
{
    network net = open_network();
    insert(&net, "\1\1\1", 1);
    ck_assert_int_eq(count(&net, "quantize"), 4);
    ck_assert_int_eq(reads_8_bits(&net, "s_op", "src1"), 1);
    ck_assert_int_eq(reads_8_bits(&net, "s_op", "src2"), 1);
    ck_assert_int_eq(reads_8_bits(&net, "y_op", "src1"), 0);
    ck_assert_int_eq(reads_8_bits(&net, "y_op", "src2"), 0);
    close_network(&net);
}
END_TEST

START_TEST(a_joint_that_leads_to_no_layer_or_from_a_float_reads_floats)
{
    static const char *const cases[] = {"\1\1\0", "\0\1\1", "\1\0\1"};
    for (int i = 0; i < 3; i++) {
        network net = open_network();
        insert(&net, cases[i], 1);
        ck_assert_int_eq(reads_8_bits(&net, "s_op", "src1"), 0);
        ck_assert_int_eq(reads_8_bits(&net, "s_op", "src2"), 0);
        close_network(&net);
    }
}
END_TEST

// What it computes

static double in_8_bits(double x)
{
    const double q = nearbyint((double)((float)x / step.scale)) + step.zero;
    return (fmin(fmax(q, 0), 255) - step.zero) * step.scale;
}

static void product(const float *weight, const double *x, double *y)
{
    for (int o = 0; o < 2; o++) {
        const float scale = fmaxf(fabsf(weight[2 * o]), fabsf(weight[2 * o + 1])) / 127;
        y[o] = bias[o];
        for (int i = 0; i < 2; i++)
            y[o] += nearbyint((double)(weight[2 * o + i] / scale)) * scale * in_8_bits(x[i]);
    }
}

static void simulate(const float *sample, double *y)
{
    const double x[2] = {sample[0], sample[1]};
    double a[2], b[2], r[2], c[2];
    product(A, x, a);
    product(B, x, b);
    for (int i = 0; i < 2; i++)
        r[i] = fmax(in_8_bits(a[i]) + in_8_bits(b[i]), 0);
    product(C, r, c);
    for (int i = 0; i < 2; i++)
        y[i] = c[i] + a[i];
}

START_TEST(a_network_with_a_joint_computes_what_its_definition_says)
{
    static const float samples[][2] = {{1.03f, -2.2f}, {0.4f, 3.1f}, {-1.7f, 0.9f}, {50, 1.11f}};
    network net = open_network();
    insert(&net, "\1\1\1", 1);
    ck_assert_msg(!ln_context_compile(net.ctx, "cpu") && !ln_context_load(net.ctx, NULL), "%s",
                  ln_context_error(net.ctx));
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        float got[2];
        double y[2];
        simulate(samples[i], y);
        ck_assert(!ln_context_set_data(net.ctx, "x", samples[i]) && !ln_context_run(net.ctx) &&
                  ln_context_get_data(net.ctx, "y", got));
        for (int k = 0; k < 2; k++)
            ck_assert_double_eq_tol(got[k], y[k], 1e-4);
    }
    close_network(&net);
}
END_TEST

LN_TEST_MAIN("quantize insert", convolutions_are_layers_but_transposed_ones_in_groups,
             nothing_on_changes_nothing, a_source_is_quantized_once,
             a_layer_that_is_off_reads_floats, a_joint_between_layers_reads_8_bits,
             a_joint_that_leads_to_no_layer_or_from_a_float_reads_floats,
             a_network_with_a_joint_computes_what_its_definition_says)
