// SPDX-License-Identifier: Apache-2.0
// Writing operators that move elements: reshapes, slices, concatenation, padding.

#include <string.h>

#include "base/ln_error_memory.h"
#include "front/nnvm/write/ln_nnvm_write.h"
#include "lightnet/ln_hash.h"

// Views

// The same elements in the shape of dst, of the stored type.
static ln_nnvm_value write_view(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value src = ln_nnvm_op_tensor(n, ln_op_input_name(n->op, "src"));
    return ln_nnvm_op_failed(n) ? src : ln_put_reshape(n, src, dst->ndim, dst->dims);
}

static ln_nnvm_value write_transpose(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_op_in(n, "src");
    int len;
    const int *const axes = ln_op_ints(n->op, "axes", &len);
    return len == src.ndim && len && !ln_nnvm_op_failed(n) ? ln_put_transpose(n, src, axes) : src;
}

// Parts

// A slice, in the arguments of ln_put_slice.
typedef struct part {
    int begin[LN_MAXDIM], end[LN_MAXDIM], step[LN_MAXDIM];
} part;

static part whole(ln_nnvm_value src)
{
    part p;
    for (int i = 0; i < src.ndim; i++) {
        p.begin[i] = 0;
        p.end[i] = src.dims[i];
        p.step[i] = 1;
    }
    return p;
}

static ln_nnvm_value put_part(ln_nnvm_op *n, ln_nnvm_value src, const part *p)
{
    return ln_put_slice(n, src, p->begin, p->end, p->step);
}

static ln_nnvm_value write_slice(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_op_in(n, "src");
    const int axis = ln_op_axis(n->op, src.ndim);
    part p = whole(src);
    if (ln_nnvm_op_failed(n))
        return src;
    p.begin[axis] = ln_op_int(n->op, "start");
    p.end[axis] = p.begin[axis] + ln_op_int(n->op, "len");
    return put_part(n, src, &p);
}

// An index, counted from the end if negative, clamped to the limits.
static int clamped(int index, int len, int min, int max)
{
    const long long at = index < 0 ? (long long)index + len : index;
    return at < min ? min : at > max ? max : (int)at;
}

static ln_nnvm_value write_stride_slice(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_op_in(n, "src");
    int len, n_starts, n_ends, n_steps;
    const int *const axes = ln_op_ints(n->op, "axes", &len);
    const int *const starts = ln_op_ints(n->op, "starts", &n_starts);
    const int *const ends = ln_op_ints(n->op, "ends", &n_ends);
    const int *const steps = ln_op_ints(n->op, "steps", &n_steps);
    part p = whole(src);
    if (ln_nnvm_op_failed(n))
        return src;
    for (int i = 0; i < len && i < n_starts && i < n_ends && i < n_steps; i++) {
        const int axis = axes[i] < 0 ? axes[i] + src.ndim : axes[i], back = steps[i] < 0;
        p.step[axis] = steps[i];
        p.begin[axis] = clamped(starts[i], src.dims[axis], 0, src.dims[axis] - back);
        p.end[axis] = clamped(ends[i], src.dims[axis], -back, src.dims[axis] - back);
    }
    return put_part(n, src, &p);
}

// Parts of these lengths, output i of the node being part i.
static ln_nnvm_value put_split(ln_nnvm_op *n, ln_nnvm_value src, int axis, int len, const int *lens)
{
    int *const cuts = ln_translation_alloc(&n->draft->base, (size_t)len * sizeof(*cuts));
    ln_nnvm_value dst = src;
    dst.dims[axis] = lens[0];
    if (!cuts || len == 1)
        return dst;
    int is_even = 1;
    for (int i = 0, at = 0; i < len - 1; i++) {
        cuts[i] = at += lens[i];
        is_even &= lens[i + 1] == lens[0];
    }
    const char *const key = "indices_or_sections";
    ln_put_begin(n, "split");
    ln_put_set(n, LN_SRC(src));
    ln_put_set(n, is_even ? LN_INT(key, len) : LN_INTS(key, len - 1, cuts));
    ln_put_set(n, LN_INT("axis", axis));
    return ln_put_end(n, dst, (uint32_t)len);
}

static ln_nnvm_value part_at(ln_nnvm_value split, int axis, int i, int len)
{
    split.entry.index = (uint32_t)i;
    split.dims[axis] = len;
    return split;
}

// The translator of split names its outputs after the node. If such a name is in use, the node
// keeps its own.
static void reserve_output_names(ln_nnvm_op *n, int len)
{
    const ln_list *out = n->op->op_arg->tensors_out;
    for (int i = 1; i < len && out && out->next; i++) {
        out = out->next;
        const char *const name =
            ln_translation_print(&n->draft->base, "%.*s_%d", ln_name_stem(n->label), n->label, i);
        const int is_own = name && !strcmp(((const ln_tensor_list_entry *)out->data)->name, name);
        if (name && !is_own && ln_hash_find(n->draft->names, name))
            n->keeps_name = 1;
        else
            ln_nnvm_draft_reserve_name(n->draft, name);
    }
}

static ln_nnvm_value write_split(ln_nnvm_op *n)
{
    const ln_nnvm_value src = ln_nnvm_op_in(n, "src");
    const int axis = ln_op_axis(n->op, src.ndim);
    int len, i = 0;
    const int *const lens = ln_op_ints(n->op, "lens", &len);
    if (ln_nnvm_op_failed(n) || !len)
        return src;
    reserve_output_names(n, len);
    const ln_nnvm_value split = put_split(n, src, axis, len, lens);
    LN_FOREACH (const ln_tensor_list_entry *, out, n->op->op_arg->tensors_out) {
        if (i && i < len)
            ln_nnvm_op_set_out(n, out->name, part_at(split, axis, i, lens[i]));
        i++;
    }
    return split;
}

// Joins

// All inputs, in the order of the list. Returns how many; 0 after a failure.
static int all_inputs(ln_nnvm_op *n, ln_nnvm_value **srcs)
{
    const int len = ln_tensor_list_length(n->op->op_arg->tensors_in);
    int i = 0;
    *srcs = ln_translation_alloc(&n->draft->base, (size_t)(len + 1) * sizeof(**srcs));
    if (!*srcs)
        return 0;
    LN_FOREACH (const ln_tensor_list_entry *, in, n->op->op_arg->tensors_in)
        (*srcs)[i++] = ln_nnvm_op_whole(n, in->name);
    return ln_nnvm_op_failed(n) ? 0 : len;
}

static ln_nnvm_value write_join(ln_nnvm_op *n)
{
    static const ln_nnvm_value none = {.dtype = TL_FLOAT};
    ln_nnvm_value *srcs;
    const int len = all_inputs(n, &srcs);
    return len ? ln_put_join(n, len, srcs, ln_op_axis(n->op, srcs[0].ndim)) : none;
}

// More elements

static ln_nnvm_value write_expand(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value src = ln_nnvm_op_raw(n, "src");
    return ln_nnvm_op_failed(n) ? src : ln_put_expand(n, src, dst->ndim, dst->dims);
}

// Repeats a new axis before each one.
static ln_nnvm_value write_tile(ln_nnvm_op *n)
{
    ln_nnvm_value v = ln_nnvm_op_in(n, "src");
    int len;
    const int *const repeats = ln_op_ints(n->op, "repeats", &len);
    for (int i = 0; i < v.ndim && i < len && !ln_nnvm_op_failed(n); i++) {
        int dims[LN_MAXDIM], flat[] = {1, 1, 1};
        memcpy(dims, v.dims, sizeof(dims));
        dims[i] *= repeats[i];
        for (int k = 0; k < v.ndim; k++)
            flat[k < i ? 0 : 2] *= v.dims[k];
        if (repeats[i] == 1)
            continue;
        v = ln_put_reshape(n, v, 3, flat);
        flat[1] = repeats[i];
        v = ln_put_reshape(n, ln_put_expand(n, v, 3, flat), len, dims);
    }
    return v;
}

// Slices `count` elements begin, begin + step, .. of the axis.
static ln_nnvm_value slice_axis(ln_nnvm_op *n, ln_nnvm_value src, int axis, int begin, int step,
                                int count)
{
    part p = whole(src);
    p.begin[axis] = begin;
    p.step[axis] = step;
    p.end[axis] = begin + step * count;
    return put_part(n, src, &p);
}

// The padding of mode TL_PAD_EDGE at one end: its element, repeated.
static ln_nnvm_value edge(ln_nnvm_op *n, ln_nnvm_value v, int axis, int at, int count)
{
    int dims[LN_MAXDIM];
    memcpy(dims, v.dims, sizeof(dims));
    dims[axis] = count;
    return ln_put_expand(n, slice_axis(n, v, axis, at, 1, 1), v.ndim, dims);
}

// Pads both ends of an axis with elements of the source.
static ln_nnvm_value pad_axis(ln_nnvm_op *n, ln_nnvm_value v, int axis, const int count[2],
                              const char *mode)
{
    const int len = v.dims[axis], is_edge = !strcmp(mode, "TL_PAD_EDGE");
    const int reflects = !strcmp(mode, "TL_PAD_REFLECT");
    ln_nnvm_value parts[3];
    int n_parts = 0;
    if (!is_edge && (count[0] > len - reflects || count[1] > len - reflects))
        ln_nnvm_op_fail(n, "padding of axis %d is %d and %d, expected at most %d", axis, count[0],
                        count[1], len - reflects);
    if (count[0])
        parts[n_parts++] = is_edge    ? edge(n, v, axis, 0, count[0])
                           : reflects ? slice_axis(n, v, axis, count[0], -1, count[0])
                                      : slice_axis(n, v, axis, len - count[0], 1, count[0]);
    parts[n_parts++] = v;
    if (count[1])
        parts[n_parts++] = is_edge    ? edge(n, v, axis, len - 1, count[1])
                           : reflects ? slice_axis(n, v, axis, len - 2, -1, count[1])
                                      : slice_axis(n, v, axis, 0, 1, count[1]);
    return ln_put_join(n, n_parts, parts, axis);
}

// Negative padding crops, before anything else.
static ln_nnvm_value write_pad(ln_nnvm_op *n)
{
    const char *const mode = ln_op_string(n->op, "mode");
    ln_nnvm_value v = ln_nnvm_op_in(n, "src");
    int len, n_after, before[LN_MAXDIM] = {0}, after[LN_MAXDIM] = {0};
    const int *const given = ln_op_ints(n->op, "before", &len);
    const int *const given_after = ln_op_ints(n->op, "after", &n_after);
    part p = whole(v);
    for (int i = 0; i < len && i < n_after && i < v.ndim; i++) {
        before[i] = given[i] > 0 ? given[i] : 0;
        after[i] = given_after[i] > 0 ? given_after[i] : 0;
        p.begin[i] = before[i] - given[i];
        p.end[i] -= after[i] - given_after[i];
    }
    if (ln_nnvm_op_failed(n))
        return v;
    v = put_part(n, v, &p);
    if (!strcmp(mode, "TL_PAD_CONSTANT")) {
        const char *const tensor = ln_op_input_name(n->op, "value");
        double value = 0;
        if (tensor && !ln_nnvm_own_scalar(n, tensor, &value))
            ln_nnvm_op_fail(n, "input 'value' is not a constant, expected one, as it is an "
                               "attribute of NNVM's pad");
        return ln_put_pad(n, v, before, after, value);
    }
    for (int i = 0; i < v.ndim && !ln_nnvm_op_failed(n); i++)
        v = pad_axis(n, v, i, (const int[]){before[i], after[i]}, mode);
    return v;
}

const ln_nnvm_op_row ln_nnvm_write_rows_shape[] = {
    {LN_OP_RESHAPE, write_view},  {LN_OP_VIEW, write_view},
    {LN_OP_SQUEEZE, write_view},  {LN_OP_UNSQUEEZE, write_view},
    {LN_OP_FLATTEN, write_view},  {LN_OP_TRANSPOSE, write_transpose},
    {LN_OP_SLICE, write_slice},   {LN_OP_STRIDE_SLICE, write_stride_slice},
    {LN_OP_SPLIT, write_split},   {LN_OP_JOIN, write_join},
    {LN_OP_EXPAND, write_expand}, {LN_OP_TILE, write_tile},
    {LN_OP_PAD, write_pad},       {NULL},
};
