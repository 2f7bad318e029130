// SPDX-License-Identifier: Apache-2.0
// Layouts: in which order a file has the axes that operators want in theirs.
//
// A layout such as NHWC names each axis by a capital letter. In NCHW16c the channels are split: the
// axis c, of length 16, is the inner part of axis C, so channel k lies at C = k / 16, c = k % 16.
// Of several inner parts the first is the outermost. A plain layout has no parts.

#ifndef LN_NNVM_LAYOUT_H
#define LN_NNVM_LAYOUT_H

#include "front/nnvm/ln_nnvm.h"

typedef struct ln_nnvm_layout {
    int ndim;
    char axes[LN_MAXDIM];   /* the letters, as capitals */
    int sizes[LN_MAXDIM];   /* of an inner part; 0: it is none */
    int places[LN_MAXDIM];  /* where the axes are, in the order of the plain layout and, of one
                               letter,  from the outer part to the inner */
    int n_parts[LN_MAXDIM]; /* of each axis of the plain layout */
} ln_nnvm_layout;

/** Reads a layout of the axes of `plain`; a failure when the letters are others. */
ln_nnvm_layout ln_nnvm_layout_of(ln_nnvm_node *n, const char *text, const char *plain);

/** Whether it is `plain` itself. */
int ln_nnvm_is_plain(const ln_nnvm_layout *layout);

/** What a tensor of the shape `dims` in the plain layout has in this one; a failure when an axis is
 *  no multiple of its inner parts. */
void ln_nnvm_layout_dims(ln_nnvm_node *n, const ln_nnvm_layout *layout, const int *dims,
                         int there[LN_MAXDIM]);

/** `src`, which the file has in the layout, in the plain one. */
const char *ln_nnvm_to_plain(ln_nnvm_node *n, const char *src, const ln_nnvm_layout *layout);

/** The opposite; `i` as in ln_emit_out. */
const char *ln_nnvm_from_plain(ln_nnvm_node *n, const char *src, const ln_nnvm_layout *layout,
                               int i);

#endif
