// SPDX-License-Identifier: Apache-2.0
// Steps shared by many translators. `i`: the node's output, or LN_EMIT_TEMP.

#pragma once

#include "front/nnvm/ln_nnvm.h"

/** The shape of a tensor, or of input `i`, with ones after it, as after a failure; returns the
 * number of dimensions. */
int ln_nnvm_copy_dims(const ln_nnvm_node *n, const char *tensor, int dims[LN_MAXDIM]);
int ln_nnvm_in_dims(ln_nnvm_node *n, int i, int dims[LN_MAXDIM]);

/** The shape of a tensor of images; fails unless it has 4 dimensions. */
void ln_nnvm_image_dims(ln_nnvm_node *n, const char *tensor, int dims[LN_MAXDIM]);

/** The axes of `ndim` that a tuple names, in order, or those that it does not, if `excludes`.
 *  Returns how many. */
int ln_nnvm_axes(ln_nnvm_node *n, const char *key, int ndim, int excludes, int axes[LN_MAXDIM]);

/** Whether the node has a bias, its third input. `no_bias`: the default of MXNet's attribute of
 * that name. */
int ln_nnvm_has_bias(ln_nnvm_node *n, int no_bias);

/** The number of inputs; fails unless attribute num_args is the same. */
int ln_nnvm_check_args(ln_nnvm_node *n);

/** A constant scalar of the type of `like`. */
const char *ln_nnvm_scalar_like(ln_nnvm_node *n, const char *like, double value);

/** Compares elements with 0: TL_BOOL, true for others. */
const char *ln_nnvm_is_set(ln_nnvm_node *n, const char *src);

/** Clips elements of any numeric type to the limits. */
const char *ln_nnvm_clip(ln_nnvm_node *n, const char *src, double min, double max, int i);

/** Matrix multiplication, with operands transposed by the flags. */
const char *ln_nnvm_matmul(ln_nnvm_node *n, const char *a, const char *b, int trans1, int trans2,
                           int i);

/** Slices `len` axes with indices as in Python; fails if the slice is empty. */
const char *ln_nnvm_slice(ln_nnvm_node *n, const char *src, int len, const int *axes,
                          const int *starts, const int *ends, const int *steps, int i);

/** Concatenates tensors along an axis; also a single one. */
const char *ln_nnvm_join(ln_nnvm_node *n, int len, const char *const *src, int axis, int i);

/** Repeats each index of an axis `repeats` times, at least 1, as numpy.repeat. */
const char *ln_nnvm_repeat(ln_nnvm_node *n, const char *src, int axis, int repeats, int i);

// Layouts: the order of axes in the file, which differs from that of LightNet's operators.
//
// A layout such as NHWC names each axis by a capital letter. In NCHW16c the channels are split: the
// axis c, of length 16, is the inner part of axis C, so channel k is at C = k / 16, c = k % 16.
// Of several inner parts the first is the outermost. The plain layout, such as NCHW, has none.

typedef struct ln_nnvm_layout {
    int ndim;
    char axes[LN_MAXDIM];  // the letters, as capitals
    int sizes[LN_MAXDIM];  // of an inner part; 0: another axis
    int places[LN_MAXDIM]; // positions in `axes`, in the order of the plain layout and, of one
                           // letter, from the outer part to the inner
} ln_nnvm_layout;

/** The plain layout of data with 1 to 3 spatial axes. */
const char *ln_nnvm_plain_layout(int axes);

/** Parses a layout of the axes of `plain`; fails for other letters. */
ln_nnvm_layout ln_nnvm_layout_of(ln_nnvm_node *n, const char *text, const char *plain);

/** Whether it is `plain` itself. */
int ln_nnvm_is_plain(const ln_nnvm_layout *layout);

/** Converts the shape `dims` from the plain layout to this one; fails if an axis is not a multiple
 *  of its inner parts. */
void ln_nnvm_layout_dims(ln_nnvm_node *n, const ln_nnvm_layout *layout, const int *dims,
                         int there[LN_MAXDIM]);

/** Converts `src` from the file's layout to the plain one. */
const char *ln_nnvm_to_plain(ln_nnvm_node *n, const char *src, const ln_nnvm_layout *layout);

/** The inverse; `i` as in ln_emit_out. */
const char *ln_nnvm_from_plain(ln_nnvm_node *n, const char *src, const ln_nnvm_layout *layout,
                               int i);
