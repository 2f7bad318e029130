// SPDX-License-Identifier: Apache-2.0
// Shapes of matrix multiplications, and layouts of their tensors.

#include "kernel/matmul/matmul_plan.h"

#include "tensorlight/tl_linalg.h"

int tl_dim_from_end(const tl_tensor *t, int i)
{
    return i < t->ndim ? t->dims[t->ndim - 1 - i] : 1;
}

int tl_matmul_dims(const tl_tensor *src1, const tl_tensor *src2, int trans1, int trans2, int *dims)
{
    char text1[TL_SHAPE_TEXT_SIZE], text2[TL_SHAPE_TEXT_SIZE];
    if (src1->ndim < 2 || src2->ndim < 2)
        return tl_fail("'src1' has %d dimensions and 'src2' %d, expected at least 2", src1->ndim,
                       src2->ndim);
    int is_match = tl_dim_from_end(src1, trans1 ? 1 : 0) == tl_dim_from_end(src2, trans2 ? 0 : 1);
    const int ndim = src1->ndim > src2->ndim ? src1->ndim : src2->ndim;
    for (int i = 2; i < ndim; i++) {
        const int d1 = tl_dim_from_end(src1, i), d2 = tl_dim_from_end(src2, i);
        dims[ndim - 1 - i] = d1 == 1 ? d2 : d1;
        is_match &= d1 == d2 || d1 == 1 || d2 == 1;
    }
    dims[ndim - 2] = tl_dim_from_end(src1, trans1 ? 0 : 1);
    dims[ndim - 1] = tl_dim_from_end(src2, trans2 ? 1 : 0);
    if (!is_match)
        return tl_fail("shapes %s%s and %s%s, expected [.., m, k] and [.., k, n]",
                       tl_shape_text(text1, src1->ndim, src1->dims), trans1 ? " (transposed)" : "",
                       tl_shape_text(text2, src2->ndim, src2->dims), trans2 ? " (transposed)" : "");
    return ndim;
}

int tl_broadcast_check(const tl_tensor *t, const char *name, int ndim, const int *dims)
{
    char text[TL_SHAPE_TEXT_SIZE], expected[TL_SHAPE_TEXT_SIZE];
    int is_match = t->ndim <= ndim;
    for (int i = 0; is_match && i < t->ndim; i++)
        is_match = tl_dim_from_end(t, i) == 1 || tl_dim_from_end(t, i) == dims[ndim - 1 - i];
    if (!is_match)
        return tl_fail("'%s' has shape %s, expected one that broadcasts to %s", name,
                       tl_shape_text(text, t->ndim, t->dims), tl_shape_text(expected, ndim, dims));
    return 0;
}

// `t` [.., d1, d0] (NULL: absent) broadcast to the batch of `p`.
static tl_matrices matrices_of(const tl_matmul_plan *p, const tl_tensor *t, int is_transposed)
{
    tl_matrices x = {0};
    if (!t)
        return x;
    x.data = t->data;
    x.size = tl_size_of(t->dtype);
    size_t strides[TL_MAXDIM] = {0}; // from the last axis on
    size_t stride = 1;
    for (int i = 0; i < t->ndim; i++) {
        strides[i] = tl_dim_from_end(t, i) == 1 ? 0 : stride;
        stride *= (size_t)tl_dim_from_end(t, i);
    }
    x.row = strides[is_transposed ? 0 : 1];
    x.col = strides[is_transposed ? 1 : 0];
    for (int i = 0; i < p->n_batch; i++)
        x.batch[i] = strides[p->n_batch + 1 - i];
    return x;
}

static int is_broadcast(const tl_matmul_plan *p, const tl_matrices *x)
{
    for (int i = 0; i < p->n_batch; i++)
        if (x->batch[i] != 0)
            return 0;
    return 1;
}

// Makes more rows of the batch (see tl_matmul_plan_of), so that small matrices fill blocks.
static void merge_batch(tl_matmul_plan *p, int trans1)
{
    if (trans1 || !is_broadcast(p, &p->src2) || !is_broadcast(p, &p->bias) || p->bias.row != 0 ||
        p->zero1.data || !is_broadcast(p, &p->zero2))
        return;
    size_t rows = p->m;
    for (int i = p->n_batch - 1; i >= 0; i--) {
        if (p->batch[i] > 1 && (p->src1.batch[i] != rows * p->k))
            return;
        rows *= p->batch[i];
    }
    p->src1.row = p->k;
    p->dst.row = p->add.row = p->n;
    p->m = rows;
    p->n_batch = 0;
}

size_t tl_matmul_count(const tl_matmul_plan *p)
{
    size_t n = 1;
    for (int i = 0; i < p->n_batch; i++)
        n *= p->batch[i];
    return n;
}

const char *tl_matmul_element(const tl_matmul_plan *p, const tl_matrices *x, size_t index,
                              size_t row, size_t col)
{
    size_t at = row * x->row + col * x->col;
    for (int i = p->n_batch - 1; i >= 0; i--) {
        at += index % p->batch[i] * x->batch[i];
        index /= p->batch[i];
    }
    return x->data ? x->data + at * x->size : NULL;
}

tl_matmul_plan tl_matmul_plan_of(const tl_matmul_tensors *t, int trans1, int trans2)
{
    tl_matmul_plan p = {.m = (size_t)tl_dim_from_end(t->dst, 1),
                        .n = (size_t)tl_dim_from_end(t->dst, 0),
                        .k = (size_t)tl_dim_from_end(t->src1, trans1 ? 1 : 0),
                        .n_batch = t->dst->ndim - 2};
    for (int i = 0; i < p.n_batch; i++)
        p.batch[i] = (size_t)t->dst->dims[i];
    p.src1 = matrices_of(&p, t->src1, trans1);
    p.src2 = matrices_of(&p, t->src2, trans2);
    p.bias = matrices_of(&p, t->bias, 0);
    p.add = matrices_of(&p, t->add, 0);
    p.zero1 = matrices_of(&p, t->zero1, 0);
    p.zero2 = matrices_of(&p, t->zero2, 0);
    p.dst = matrices_of(&p, t->dst, 0);
    merge_batch(&p, trans1);
    return p;
}
