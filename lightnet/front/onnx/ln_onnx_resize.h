// SPDX-License-Identifier: Apache-2.0
// The ways in which ONNX's Resize maps coordinates, for its translator and its writer.

#pragma once

#include "front/ln_attr.h"

/** One axis: from `in` to `out` elements. */
typedef struct ln_onnx_resize_axis {
    int in, out;
    double scale;      // out / in, or the scale in the model: in * scale may be fractional
    int is_by_size;    // the scale is exactly out / in
    double begin, end; // the region of src, 0 to 1, for tf_crop_and_resize
} ln_onnx_resize_axis;

/** Output index i has input coordinate (i + shift) * span / steps + start. */
typedef struct ln_onnx_resize_map {
    double shift, span, steps, start;
} ln_onnx_resize_map;

typedef ln_onnx_resize_map ln_onnx_resize_func(const ln_onnx_resize_axis *a);

/** A row for each coordinate_transformation_mode; ends with the name NULL. */
typedef struct ln_onnx_resize_row {
    const char *name;
    ln_onnx_resize_func *func;
    int since; // the first operator set that has it, and the last one; 0: any
    int until;
} ln_onnx_resize_row;

extern const ln_onnx_resize_row ln_onnx_resize_rows[];

/** The words of `mode` and of `nearest_mode`. */
extern const ln_attr_word ln_onnx_resize_modes[], ln_onnx_resize_roundings[];

/** in * scale, with its fraction. Multiplies floats, as ONNX Runtime: 5 times the float 0.6 is 3,
 * not a little more. */
double ln_onnx_resize_length(const ln_onnx_resize_axis *a);

/** The map of tf_crop_and_resize. */
ln_onnx_resize_func ln_onnx_resize_crop;
