// SPDX-License-Identifier: Apache-2.0
// What the translators of If and of loops share.

#ifndef LN_ONNX_CONTROL_H
#define LN_ONNX_CONTROL_H

#include "front/onnx/ln_onnx_model.h"

/** The graph, an attribute that must be there; NULL after a failure. */
const LnOnnx__Graph *ln_onnx_required_graph(ln_onnx_node *n, const char *name);

/** Room for `len` names, until the translation ends. */
const char **ln_onnx_new_names(ln_onnx_node *n, size_t len);

/** Whether a known value, of any type, is not 0. */
int ln_onnx_is_true(const tl_tensor *value);

/** A single element, which decides what runs. */
void ln_onnx_check_single(ln_onnx_node *n, const char *what, const char *tensor);

/** The operator's outputs `arg`, `len` of them, which are those of the node from number `first`.
 * `last`: with these it is whole. Their names go to `names`, unless that is NULL. */
void ln_onnx_emit_outs(ln_onnx_node *n, const char *arg, int len, int first, int last,
                       const char **names);

/** Whether both have the same type and shape. */
int ln_onnx_same_shapes(ln_onnx_node *n, const char *one, const char *other);

/** Forgets a failure: there is another way. */
void ln_onnx_try_again(ln_onnx_node *n);

#endif
