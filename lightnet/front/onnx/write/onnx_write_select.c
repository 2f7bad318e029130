// SPDX-License-Identifier: Apache-2.0
// Writing operators that pick and place elements by index, sort, choose, or draw random numbers.

#include <limits.h>
#include <math.h>
#include <string.h>

#include "front/onnx/write/ln_onnx_write.h"
#include "tensorlight/tl_type.h"

// In order

static void put_topk(ln_onnx_op *n, const char *src, const char *k, int axis, int is_largest,
                     const char *const outs[2])
{
    LN_ONNX_PUT_OUTS(n, 2, outs, "TopK", LN_ONNX_SRC(src), LN_ONNX_SRC(k), LN_INT("axis", axis),
                     LN_INT("largest", is_largest));
}

static void write_topk(ln_onnx_op *n)
{
    const char *const now = ln_onnx_op_optional(n, "k_now") ? ln_onnx_op_indices(n, "k_now") : NULL;
    LN_ONNX_WRITE_FORM(n, LN_ARG("k", now ? ln_onnx_put_reshape(n, now, 1, (int[]){1})
                                          : ln_onnx_put_int(n, ln_op_int(n->op, "k"))));
}

// The keys in order: `index` receives their old positions. NaN comes last: as the largest of
// ascending numbers, or, with the opposite sign, of descending ones.
static const char *put_sorted(ln_onnx_op *n, const char **index)
{
    const tl_tensor *const keys = ln_onnx_op_tensor(n, "src_key");
    const int descends = ln_op_has_string(n->op, "dir", "TL_SORT_DIR_DESCENDING");
    const int is_negated = descends && tl_dtype_is_float(keys->dtype);
    const int is_bool = keys->dtype == TL_BOOL;
    const char *const src = ln_onnx_op_in(n, "src_key");
    const char *const used = is_negated ? ln_onnx_put(n, "Neg", src)
                             : is_bool  ? ln_onnx_put_cast(n, src, TL_UINT8)
                                        : src;
    const char *const outs[] = {ln_onnx_put_name(n, "TopK"), ln_onnx_put_name(n, "TopK_index")};

    put_topk(n, used, ln_onnx_put_int(n, keys->len), 0, descends && !is_negated, outs);
    *index = outs[1];
    return is_negated ? ln_onnx_put(n, "Neg", outs[0])
           : is_bool  ? ln_onnx_put_cast(n, outs[0], TL_BOOL)
                      : outs[0];
}

static void write_sort1d(ln_onnx_op *n)
{
    const char *index;
    ln_onnx_put_as(n, "dst_key", put_sorted(n, &index));
    ln_onnx_op_overwrites(n, "src_key", "dst_key");
}

static void write_sort1d_by_key(ln_onnx_op *n)
{
    const char *index;
    const char *const values = ln_onnx_op_in(n, "src_val");
    ln_onnx_put_as(n, "dst_key", put_sorted(n, &index));
    LN_ONNX_PUT_AS(n, "dst_val", "Gather", LN_ONNX_SRC(values), LN_ONNX_SRC(index));
    ln_onnx_op_overwrites(n, "src_key", "dst_key");
    ln_onnx_op_overwrites(n, "src_val", "dst_val");
}

// Chosen

// NonMaxSuppression without max_output_boxes_per_class selects nothing.
static void write_nms(ln_onnx_op *n)
{
    const int limit = ln_op_int(n->op, "limit");
    const char *max = ln_onnx_op_optional(n, "most");
    if (!max)
        max = ln_onnx_put_scalar(n, TL_INT64, limit);
    else if (limit != INT_MAX)
        max = ln_onnx_put_pair(n, "Min", max, ln_onnx_put_scalar(n, TL_INT64, limit));
    LN_ONNX_WRITE_FORM(n, LN_ARG("most", max));
}

// Random numbers

// The float whose bits are the seed, as the reader interprets it. A seed of more bits, or with the
// bits of NaN, is rounded instead.
static double seed_of(const ln_onnx_op *n)
{
    const double seed = ln_op_number(n->op, "seed");
    const uint32_t bits = seed >= 0 && seed <= UINT32_MAX ? (uint32_t)seed : 0;
    float number;
    memcpy(&number, &bits, sizeof(number));
    return seed <= UINT32_MAX && !isnan(number) ? (double)number : seed;
}

// The attribute 'shape' has at least one element.
static void write_random(ln_onnx_op *n)
{
    static const int one[] = {1};
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    const int is_normal = ln_op_has_string(n->op, "distribution", "TL_NORMAL");
    const int is_float = tl_dtype_is_float(dst->dtype) && dst->dtype != TL_BFLOAT16;
    const double a = ln_op_number(n->op, "a"), b = ln_op_number(n->op, "b");
    const char *v = LN_ONNX_PUT(
        n, is_normal ? "RandomNormal" : "RandomUniform",
        LN_DTYPE("dtype", is_float ? dst->dtype : TL_DOUBLE),
        LN_INTS("shape", dst->ndim ? dst->ndim : 1, dst->ndim ? dst->dims : one),
        LN_NUMBER(is_normal ? "mean" : "low", a), LN_NUMBER(is_normal ? "scale" : "high", b),
        LN_ONLY_IF(ln_op_number(n->op, "seed") >= 0, LN_NUMBER("seed", seed_of(n))));
    v = dst->ndim ? v : ln_onnx_put_reshape(n, v, 0, NULL);
    ln_onnx_op_ends_with(n, "dst", is_float ? v : ln_onnx_put_cast(n, v, dst->dtype));
}

const ln_onnx_op_row ln_onnx_write_rows_select[] = {
    {LN_OP_TOPK, write_topk},
    {LN_OP_SORT1D, write_sort1d},
    {LN_OP_SORT1D_BY_KEY, write_sort1d_by_key},
    {LN_OP_NMS, write_nms},
    {LN_OP_RANDOM, write_random},
    {NULL},
};
