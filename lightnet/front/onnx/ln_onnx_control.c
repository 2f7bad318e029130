// SPDX-License-Identifier: Apache-2.0
// What the translators of If and of loops share.

#include "front/onnx/ln_onnx_control.h"

#include <stdio.h>

#include "tensorlight/tl_type.h"

const LnOnnx__Graph *ln_onnx_required_graph(ln_onnx_node *n, const char *name)
{
    const LnOnnx__Graph *graph = ln_onnx_graph(n, name);
    if (!graph)
        ln_emit_fail(&n->emit, "attribute '%s' is missing", name);
    return graph;
}

const char **ln_onnx_new_names(ln_onnx_node *n, size_t len)
{
    return ln_translation_alloc(&n->model->base, (len + 1) * sizeof(char *));
}

int ln_onnx_is_true(const tl_tensor *value)
{
    double number;
    tl_convert(&number, TL_DOUBLE, value->data, value->dtype);
    return number != 0;
}

void ln_onnx_check_single(ln_onnx_node *n, const char *what, const char *tensor)
{
    const int len = ln_onnx_tensor_of(n, tensor)->len;
    if (len != 1)
        ln_emit_fail(&n->emit, "%s has %d elements, expected 1", what, len);
}

void ln_onnx_emit_outs(ln_onnx_node *n, const char *arg, int len, int first, int last,
                       const char **names)
{
    for (int k = 0; k < len; k++) {
        char name[LN_MAX_NAME_LEN];
        snprintf(name, sizeof(name), "%s%d", arg, k);
        const char *tensor = (last && k == len - 1 ? ln_emit_end : ln_emit_out)(
            &n->emit, name, first < 0 ? LN_EMIT_TEMP : first + k);
        if (names)
            names[k] = tensor;
    }
}

int ln_onnx_same_shapes(ln_onnx_node *n, const char *one, const char *other)
{
    const tl_tensor *a = ln_onnx_tensor_of(n, one), *b = ln_onnx_tensor_of(n, other);
    return a->dtype == b->dtype && tl_tensor_issameshape(a, b);
}

void ln_onnx_try_again(ln_onnx_node *n)
{
    n->model->base.failed = 0;
    ln_context_clear_error(n->model->base.ctx);
    ln_emit_begin(&n->emit, NULL);
}
