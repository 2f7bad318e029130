// SPDX-License-Identifier: Apache-2.0
// The layers of a model that may be computed with 8-bit integers: convolutions and matrix
// multiplications of computed values with constant weights. Joints are operators between them,
// without weights, that can process 8 bits: sums of two tensors, means of windows.

#pragma once

#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"
#include "quantize/ln_quantize_range.h"

/** The constants of a batch normalization: their tensors, by argument. */
enum {
    LN_QUANTIZE_NORM_SCALE,
    LN_QUANTIZE_NORM_OFFSET,
    LN_QUANTIZE_NORM_MEAN,
    LN_QUANTIZE_NORM_VAR,
    LN_QUANTIZE_NORM_TENSORS
};

/** Names are those of the model after reading, which are reproducible. */
typedef struct ln_quantize_layer {
    char *name; // of the operator
    char *optype;
    char *src, *weight; // tensors
    char *bias;         // of a convolution; NULL: of others
    char *norm;         // the batch normalization after it, which is folded; NULL: none
    char *norm_tensors[LN_QUANTIZE_NORM_TENSORS];
    double epsilon;
    int axis; // axis of the output channels in the weight
    // Known after calibration:
    int is_usable;      // weight and source are finite
    tl_tensor *weight8; // TL_INT8
    tl_tensor *scale;   // of each output channel
    tl_tensor *folded;  // the bias with the normalization; NULL: none
} ln_quantize_layer;

/** The max number of tensors that a joint reads. */
enum { LN_QUANTIZE_JOINT_SRCS = 2 };

typedef struct ln_quantize_joint {
    char *name;                                   // of the operator
    const char *args[LN_QUANTIZE_JOINT_SRCS + 1]; // of its sources, up to NULL
    char *srcs[LN_QUANTIZE_JOINT_SRCS];           // tensors
} ln_quantize_joint;

/** A tensor that a layer or a joint reads. */
typedef struct ln_quantize_source {
    char *name;
    ln_quantize_stats stats; // in calibration
    int is_usable;           // its values are finite
    ln_quantize_step step;
} ln_quantize_source;

typedef struct ln_quantize_layers {
    ln_quantize_layer *items;
    int n;
    ln_quantize_joint *joints;
    int n_joints;
    ln_quantize_source *sources;
    int n_sources;
    ln_hash *by_name; // tensor -> ln_quantize_source
} ln_quantize_layers;

/** Finds the layers of an uncompiled context. -1 with the reason in the context;
 * ln_quantize_layers_free in any case. */
int ln_quantize_layers_find(ln_quantize_layers *layers, const ln_context *ctx);

/** The source of that name; NULL: none. */
ln_quantize_source *ln_quantize_layers_source(const ln_quantize_layers *layers, const char *name);

/** Quantizes the weights of all layers: `ctx` is loaded, and its outputs have the constants. Layers
 * with values that are not finite are not usable. -1 with the reason in the context. */
int ln_quantize_layers_quantize(ln_quantize_layers *layers, ln_context *ctx);

/** Calls func(data, tensor) with each constant of a layer that ln_quantize_layers_quantize needs,
 * up to the first failure. Returns the result of that call. */
int ln_quantize_layer_constants(const ln_quantize_layer *layer,
                                int (*func)(void *data, const char *tensor), void *data);

/** Frees the content of the layers, not the struct. */
void ln_quantize_layers_free(ln_quantize_layers *layers);
