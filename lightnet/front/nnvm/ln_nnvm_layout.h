// SPDX-License-Identifier: Apache-2.0
// Layouts: in which order a file has the axes that operators want in theirs.

#ifndef LN_NNVM_LAYOUT_H
#define LN_NNVM_LAYOUT_H

#include "front/nnvm/ln_nnvm.h"

/** order[i]: where in `layout` the i-th letter of `plain` is. -1 after a failure: the letters are
 *  not the same. */
int ln_nnvm_layout_order(ln_nnvm_node *n, const char *layout, const char *plain, int *order);

/** Whether the order is not 0, 1, 2, .. */
int ln_nnvm_is_permuted(const int *order, int len);

/** `src`, which the file has in `layout`, with its axes as in `plain`; `order` as by
 * ln_nnvm_layout_order. */
const char *ln_nnvm_to_plain(ln_nnvm_node *n, const char *src, const char *layout,
                             const char *plain, int *order);

/** The opposite; `i` as in ln_emit_out. */
const char *ln_nnvm_from_plain(ln_nnvm_node *n, const char *src, const int *order, int len, int i);

#endif
