// SPDX-License-Identifier: Apache-2.0
// Queries and computations for the rules that recognize formulas: norms.opt, products.opt,
// attention.opt.

#pragma once

#include <math.h>
#include <string.h>

#include "ir/ln_sizes.h"
#include "lightnet/ln_rule.h"
#include "tensorlight/tl_attention.h"

// Norms.opt

static inline int is_floating(const ln_tensor_entry *te)
{
    return tl_dtype_is_float(te->tensor->dtype);
}

static inline int is_same_shape(const ln_tensor_entry *a, const ln_tensor_entry *b)
{
    return tl_tensor_issameshape(a->tensor, b->tensor);
}

/** The first of the axes of `reduce`, if these are the last ones of `x`; otherwise the
 * number of axes. */
static inline int first_axis(const ln_op *reduce, const ln_tensor_entry *x)
{
    int len, first = x->tensor->ndim;
    const int *axes = ln_op_ints(reduce, "axes", &len);
    for (int i = 0; i < len; i++)
        first = axes[i] < first ? axes[i] : first;
    return first == x->tensor->ndim - len ? first : x->tensor->ndim;
}

/** Whether the axes from `axis` on have the same sizes in each run. */
static inline int is_fixed_from(const ln_tensor_entry *te, int axis)
{
    for (int i = axis; i < te->tensor->ndim; i++)
        if (ln_sizes_is_open(te, i))
            return 0;
    return 1;
}

/** Whether `k` has an element for each index of `x` along the axes from `axis` on, and is broadcast
 * along the others. */
static inline int spans(const ln_tensor_entry *k, const ln_tensor_entry *x, int axis)
{
    const int shift = x->tensor->ndim - k->tensor->ndim;
    if (k->tensor->dtype != x->tensor->dtype || shift < 0 || shift > axis || !is_fixed_from(k, 0) ||
        !is_fixed_from(x, axis))
        return 0;
    for (int i = shift; i < x->tensor->ndim; i++) {
        if (k->tensor->dims[i - shift] != (i < axis ? 1 : x->tensor->dims[i]))
            return 0;
    }
    return 1;
}

// Products.opt

/** The factor of an operator with the constant `k` as src2; NaN: another function, or an unknown
 * value. */
static inline double factor_of(const ln_context *ctx, const ln_op *op, const ln_tensor_entry *k)
{
    const double value = ln_rule_scalar(ctx, k);
    if (ln_op_has_string(op, "op", "TL_BINARY_MUL"))
        return value;
    return ln_op_has_string(op, "op", "TL_BINARY_DIV") ? 1 / value : NAN;
}

/** The axis of `x` along which `s` has a number for each index, or 0 if it is one number; -1: `s`
 *  is neither, or changes the shape of `x`. */
static inline int scale_axis(const ln_tensor_entry *x, const ln_tensor_entry *s)
{
    const tl_tensor *const a = x->tensor, *const b = s->tensor;
    const int more = a->ndim - b->ndim;
    if (more < 0 || a->ndim == 0)
        return -1;
    for (int i = 0; i < b->ndim; i++)
        if (b->dims[i] == b->len && b->len == a->dims[i + more])
            return i + more;
    return b->len == 1 ? 0 : -1;
}

/** Whether a transpose moves the last axis of its source to the second-to-last position. */
static inline int moves_last(const ln_op *transpose)
{
    int n;
    const int *axes = ln_op_ints(transpose, "axes", &n);
    return n >= 2 && axes[n - 2] == n - 1;
}

/** The transpose's axes with the last two swapped. Returns their number. */
static inline int swap_last(const ln_op *transpose, int *axes)
{
    int n;
    const int *perm = ln_op_ints(transpose, "axes", &n);
    for (int i = 0; i < n; i++)
        axes[i] = perm[i < n - 2 ? i : 2 * n - 3 - i];
    return n;
}

// Attention.opt

/** Whether a tensor can be an input of attention: [B, H, S, D]. */
static inline int has_heads(const ln_tensor_entry *te)
{
    return te->tensor->ndim == 4 && tl_dtype_is_float(te->tensor->dtype);
}

/** Whether all have the same batch and number of heads, so that nothing is broadcast. */
static inline int share_heads(const ln_tensor_entry *q, const ln_tensor_entry *k,
                              const ln_tensor_entry *v)
{
    int same = k->tensor->dims[2] == v->tensor->dims[2];
    for (int i = 0; i < 2; i++)
        same = same && q->tensor->dims[i] == k->tensor->dims[i] &&
               k->tensor->dims[i] == v->tensor->dims[i];
    return same;
}

/** Whether a tensor has its heads in the batch: [B, S, D]. */
static inline int is_batch(const ln_tensor_entry *te)
{
    return te->tensor->ndim == 3 && te->tensor->len > 0 && tl_dtype_is_float(te->tensor->dtype);
}

static inline int share_batch(const ln_tensor_entry *q, const ln_tensor_entry *k,
                              const ln_tensor_entry *v)
{
    return q->tensor->dims[0] == k->tensor->dims[0] && k->tensor->dims[0] == v->tensor->dims[0] &&
           k->tensor->dims[1] == v->tensor->dims[1];
}

/** [B, S, D] as [B, 1, S, D]. */
static inline void with_one_head(const ln_tensor_entry *te, int *dims)
{
    const int *own = te->tensor->dims;
    memcpy(dims, (int[]){own[0], 1, own[1], own[2]}, 4 * sizeof(*dims));
}

/** Whether each head of x [B, G, T, D], as [B, G, 1, T, D], is repeated to [B, G, n, T, D], which
 *  is y, [B, G * n, T, D]. */
static inline int repeats_heads(const ln_tensor_entry *x, const ln_tensor_entry *one,
                                const ln_tensor_entry *n, const ln_tensor_entry *y)
{
    const int *from = x->tensor->dims, *many = n->tensor->dims, *to = y->tensor->dims;
    return has_heads(x) && has_heads(y) && one->tensor->ndim == 5 && one->tensor->dims[2] == 1 &&
           n->tensor->ndim == 5 && many[0] == from[0] && many[1] == from[1] && many[3] == from[2] &&
           many[4] == from[3] && to[0] == from[0] && to[2] == from[2] && to[3] == from[3];
}

/** Whether an expand to length `to` repeats nothing along axis `i`. */
static inline int keeps_length(const ln_tensor_entry *x, int i, int to)
{
    return to == 1 || (to == x->tensor->dims[i] && !ln_sizes_is_open(x, i));
}

/** The same where B and T may be open: `expand` repeats nothing else, and `view` keeps B and D. */
static inline int repeats_open_heads(const ln_op *expand, const ln_op *view,
                                     const ln_tensor_entry *x, const ln_tensor_entry *n,
                                     const ln_tensor_entry *y)
{
    int len;
    const int *const times = ln_op_ints(expand, "dims", &len);
    const int is_batch_kept = *ln_op_ints(view, "dims", NULL) == -2 ||
                              (!ln_sizes_is_open(x, 0) && !ln_sizes_is_open(y, 0));
    int repeats = is_batch_kept && has_heads(x) && has_heads(y) && n->tensor->ndim == 5 && len == 5;
    for (int i = 0; repeats && i < 4; i++)
        repeats = keeps_length(x, i, times[i < 2 ? i : i + 1]);
    for (int i = 1; repeats && i < 4; i += 2)
        repeats = !ln_sizes_is_open(x, i) && !ln_sizes_is_open(y, i);
    return repeats && y->tensor->dims[0] == x->tensor->dims[0] &&
           y->tensor->dims[1] == x->tensor->dims[1] * n->tensor->dims[2] &&
           y->tensor->dims[3] == x->tensor->dims[3];
}

/** Whether an array of an operator is one number, `k`. */
static inline int is_one_int(const ln_op *op, const char *arg_name, int k)
{
    int len;
    const int *const values = ln_op_ints(op, arg_name, &len);
    return len == 1 && *values == k;
}

/** Whether a slice has the indices begin .. end-1 of the last axis of `x`, and all of the others.
 */
static inline int is_last_part(const ln_op *slice, const ln_tensor_entry *x, int begin, int end)
{
    return is_one_int(slice, "axes", x->tensor->ndim - 1) && !ln_op_input(slice, "ends_now") &&
           !ln_op_input(slice, "starts_now") && is_one_int(slice, "starts", begin) &&
           is_one_int(slice, "ends", end) && is_one_int(slice, "steps", 1);
}

/** Whether two slices are the halves of the last axis of `x`, and `join` joins them there. */
static inline int are_halves(const ln_op *first, const ln_op *second, const ln_op *join,
                             const ln_tensor_entry *x)
{
    const int last = x->tensor->ndim - 1, len = last < 0 ? 1 : x->tensor->dims[last];
    return len % 2 == 0 && !ln_sizes_is_open(x, last) && ln_op_int(join, "axis") == last &&
           is_last_part(first, x, 0, len / 2) && is_last_part(second, x, len / 2, len);
}

/** Whether `c` and `s` have a number for each index along the last axis of `x`, and broadcast to
 *  its shape, that of `y`. */
static inline int have_angles(const ln_tensor_entry *x, const ln_tensor_entry *c,
                              const ln_tensor_entry *s, const ln_tensor_entry *y)
{
    return tl_rotate_check(x->tensor, c->tensor, s->tensor) == 0 &&
           c->tensor->dims[c->tensor->ndim - 1] == x->tensor->dims[x->tensor->ndim - 1] &&
           ln_sizes_is_same_shape(c, s) && ln_sizes_is_same_shape(x, y);
}
