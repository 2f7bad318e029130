// SPDX-License-Identifier: Apache-2.0
// Layouts: in which order a file has the axes that operators want in theirs.

#include "front/nnvm/ln_nnvm_layout.h"

#include <string.h>

int ln_nnvm_layout_order(ln_nnvm_node *n, const char *layout, const char *plain, int *order)
{
    const size_t len = strlen(plain);
    for (size_t i = 0; i < len; i++) {
        const char *at = strchr(layout, plain[i]);
        if (!at || strlen(layout) != len) {
            ln_emit_fail(&n->emit, "layout \"%.64s\", expected an order of %s", layout, plain);
            return -1;
        }
        order[i] = (int)(at - layout);
    }
    return ln_nnvm_failed(n) ? -1 : 0;
}

int ln_nnvm_is_permuted(const int *order, int len)
{
    for (int i = 0; i < len; i++)
        if (order[i] != i)
            return 1;
    return 0;
}

const char *ln_nnvm_to_plain(ln_nnvm_node *n, const char *src, const char *layout,
                             const char *plain, int *order)
{
    const int len = (int)strlen(plain);
    if (ln_nnvm_layout_order(n, layout, plain, order))
        return NULL;
    if (ln_nnvm_tensor_of(n, src)->ndim != len)
        ln_emit_fail(&n->emit, "its data has %d dimensions, expected %d",
                     ln_nnvm_tensor_of(n, src)->ndim, len);
    return ln_nnvm_is_permuted(order, len) ? ln_emit_transpose(&n->emit, src, order, LN_EMIT_TEMP)
                                           : src;
}

const char *ln_nnvm_from_plain(ln_nnvm_node *n, const char *src, const int *order, int len, int i)
{
    int back[LN_MAXDIM];
    for (int k = 0; k < len; k++)
        back[order[k]] = k;
    if (ln_nnvm_is_permuted(order, len))
        return ln_emit_transpose(&n->emit, src, back, i);
    if (i >= 0)
        ln_nnvm_alias(n, i, src);
    return src;
}
