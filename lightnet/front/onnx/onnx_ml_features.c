// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.ml that prepare features: selection, scaling, norms, missing
// values, categories.

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/onnx/ln_onnx_steps.h"
#include "front/onnx/onnx_ml_post.h"

// Attributes

// A constant of `dtype` with the attribute's floats: as many as the last axis of `src`, [F], or
// one, []. NULL without them.
static const char *features(ln_onnx_node *n, const char *name, const char *src, tl_dtype dtype)
{
    int len;
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int width = t->ndim ? t->dims[t->ndim - 1] : 1;
    const float *const values = ln_onnx_floats(n, name, &len);
    if (len > 1 && len != width)
        ln_emit_fail(&n->emit, "attribute '%s' has %d elements, expected 1 or %d", name, len,
                     width);
    const char *const all =
        len ? ln_emit_constant(&n->emit, TL_FLOAT, len > 1, &len, values) : NULL;
    return all ? ln_emit_cast(&n->emit, all, dtype, LN_EMIT_TEMP) : NULL;
}

// The type to compute in, for results of TL_FLOAT.
static tl_dtype compute_dtype(ln_onnx_node *n, const char *src)
{
    return ln_onnx_tensor_of(n, src)->dtype == TL_FLOAT ? TL_FLOAT : TL_DOUBLE;
}

// Selected and joined

static void translate_array_feature_extractor(ln_onnx_node *n)
{
    const char *src = ln_onnx_in(n, 0);
    const char *const index =
        ln_emit_view(&n->emit, ln_onnx_in(n, 1), 1, (int[]){-1}, LN_EMIT_TEMP);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    if (ndim == 0)
        ln_emit_fail(&n->emit, "input 0 is a scalar, expected at least 1 dimension");
    if (ndim == 1)
        src = ln_emit_view(&n->emit, src, 2, (int[]){1, -1}, LN_EMIT_TEMP);
    LN_EMIT(&n->emit, 0, LN_OP_TAKE, LN_ARG("src", src), LN_ARG("index", index),
            LN_INT("axis", ndim == 1 ? 1 : ndim - 1));
}

// Input `i` as TL_FLOAT [N, width]: cut, or padded with zeros; `width` -1: unchanged.
static const char *feature_rows(ln_onnx_node *n, int i, int64_t width)
{
    const char *src = ln_onnx_in(n, i);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int ndim = t->ndim;
    if (ndim == 0 || width > INT_MAX)
        ln_emit_fail(
            &n->emit,
            "input %d has %d dimensions and %lld features, expected at least 1 and at most %d", i,
            ndim, (long long)width, INT_MAX);
    if (ln_onnx_failed(n))
        return NULL;
    const int dims[] = {-2, tl_compute_length(ndim - 1, t->dims + 1)};
    if (ndim > 2)
        src = ln_emit_view(&n->emit, src, 2, dims, LN_EMIT_TEMP);
    else if (ndim == 1)
        src = ln_emit_view(&n->emit, src, 2, (int[]){1, -1}, LN_EMIT_TEMP);
    src = ln_emit_cast(&n->emit, src, TL_FLOAT, LN_EMIT_TEMP);
    const int more = width < 0 ? 0 : (int)width - ln_onnx_tensor_of(n, src)->dims[1];
    if (more == 0)
        return src;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_PAD, LN_ARG("src", src),
                   LN_INTS("before", 2, (int[]){0, 0}), LN_INTS("after", 2, (int[]){0, more}));
}

static void translate_feature_vectorizer(ln_onnx_node *n)
{
    int n_widths;
    const int64_t *const widths = ln_attr_ints(&n->emit, "inputdimensions", &n_widths);
    const int n_inputs = ln_onnx_num_inputs(n);
    if (n_inputs < 1 || (n_widths && n_widths != n_inputs))
        ln_emit_fail(&n->emit, "has %d inputs and %d 'inputdimensions', expected as many of each",
                     n_inputs, n_widths);
    for (int i = 0; i < n_widths; i++)
        if (widths[i] < 0)
            ln_emit_fail(&n->emit, "attribute 'inputdimensions' has %lld, expected at least 0",
                         (long long)widths[i]);
    const char **const parts =
        ln_translation_alloc(n->emit.translation, (size_t)n_inputs * sizeof(*parts));
    for (int i = 0; i < n_inputs && !ln_onnx_failed(n); i++)
        parts[i] = feature_rows(n, i, n_widths ? widths[i] : -1);
    LN_EMIT_BEGIN(&n->emit, LN_OP_JOIN, LN_INT("axis", 1));
    for (int i = 0; i < n_inputs && !ln_onnx_failed(n); i++)
        ln_emit_arg_at(&n->emit, "src", i, parts[i]);
    ln_emit_end(&n->emit, "dst", 0);
}

// Scaled

static void translate_scaler(ln_onnx_node *n)
{
    const char *src = ln_onnx_in(n, 0);
    const tl_dtype dtype = compute_dtype(n, src);
    const char *const offset = features(n, "offset", src, dtype);
    const char *const scale = features(n, "scale", src, dtype);
    src = ln_emit_cast(&n->emit, src, dtype, LN_EMIT_TEMP);
    if (offset)
        src = ln_emit_binary(&n->emit, "TL_BINARY_SUB", src, offset, LN_EMIT_TEMP);
    if (scale)
        src = ln_emit_binary(&n->emit, "TL_BINARY_MUL", src, scale, LN_EMIT_TEMP);
    ln_emit_cast(&n->emit, src, TL_FLOAT, 0);
}

static const ln_attr_word norms[] = {
    {"MAX", "TL_REDUCE_MAX"},
    {"L1", "TL_REDUCE_L1"},
    {"L2", "TL_REDUCE_L2"},
    {0},
};

// A row whose norm is zero stays unchanged.
static void translate_normalizer(ln_onnx_node *n)
{
    ln_emit *const e = &n->emit;
    const char *src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const char *const op = ln_attr_choose(e, "norm", "MAX", norms);
    const tl_dtype dtype = compute_dtype(n, src);
    const int axis = t->ndim - 1;
    if (t->ndim != 1 && t->ndim != 2)
        ln_emit_fail(e, "input 0 has %d dimensions, expected 1 or 2", t->ndim);
    if (ln_onnx_failed(n))
        return;
    const int is_empty = t->dims[axis] == 0;
    src = ln_emit_cast(e, src, dtype, LN_EMIT_TEMP);
    if (!is_empty) {
        const char *const norm = ln_emit_reduce(e, op, src, 1, &axis, 1, LN_EMIT_TEMP);
        const char *const is_zero =
            ln_emit_compare(e, "TL_COMPARE_EQUAL", norm, ln_emit_scalar(e, dtype, 0));
        const char *const divisor =
            ln_emit_where(e, is_zero, ln_emit_scalar(e, dtype, 1), norm, LN_EMIT_TEMP);
        src = ln_emit_binary(e, "TL_BINARY_DIV", src, divisor, LN_EMIT_TEMP);
    }
    ln_emit_cast(e, src, TL_FLOAT, 0);
}

// Binary

// Compares integers with floor(threshold): exact, without converting them to floats.
static const char *above_whole(ln_onnx_node *n, const char *src, double threshold)
{
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    const double end = dtype == TL_INT32 ? 0x1p31 : 0x1p63; // the first integer that is too large
    const int64_t max = dtype == TL_INT32 ? INT32_MAX : INT64_MAX;
    const int is_all = threshold < -end;
    const int64_t whole = is_all            ? -max - 1
                          : threshold < end ? (int64_t)floor(threshold)
                                            : max; // NaN, too: above it is nothing
    uint64_t bound;
    tl_convert(&bound, dtype, &whole, TL_INT64);
    return ln_emit_compare(&n->emit, is_all ? "TL_COMPARE_GREATER_EQUAL" : "TL_COMPARE_GREATER",
                           src, ln_emit_constant(&n->emit, dtype, 0, NULL, &bound));
}

static void translate_binarizer(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    const double threshold = ln_attr_number(&n->emit, "threshold", 0);
    const char *const is_above = tl_dtype_is_float(dtype)
                                     ? ln_emit_compare(&n->emit, "TL_COMPARE_GREATER", src,
                                                       ln_emit_scalar(&n->emit, dtype, threshold))
                                     : above_whole(n, src, threshold);
    ln_emit_cast(&n->emit, is_above, dtype, 0);
}

// Missing values

// The integers of an attribute, as those of floats.
static const char *whole_features(ln_onnx_node *n, const char *name, const char *src)
{
    int len;
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int width = t->ndim ? t->dims[t->ndim - 1] : 1;
    const int64_t *const values = ln_attr_ints(&n->emit, name, &len);
    if (len > 1 && len != width)
        ln_emit_fail(&n->emit, "attribute '%s' has %d elements, expected 1 or %d", name, len,
                     width);
    for (int i = 0; i < len && t->dtype == TL_INT32; i++)
        if (values[i] != (int32_t)values[i])
            ln_emit_fail(&n->emit, "attribute '%s' has the element %lld, expected 32 bits", name,
                         (long long)values[i]);
    const char *const all =
        len ? ln_emit_constant(&n->emit, TL_INT64, len > 1, &len, values) : NULL;
    return all ? ln_emit_cast(&n->emit, all, t->dtype, LN_EMIT_TEMP) : NULL;
}

// Where elements have the value that is replaced.
static const char *is_missing(ln_onnx_node *n, const char *src)
{
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    const double number = ln_attr_number(&n->emit, "replaced_value_float", 0);
    const int64_t whole = ln_attr_int(&n->emit, "replaced_value_int64", 0);
    if (tl_dtype_is_float(dtype) && isnan(number))
        return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_CLASSIFY, LN_ARG("src", src),
                       LN_BOOL("nan", 1));
    if (tl_dtype_is_float(dtype))
        return ln_emit_compare(&n->emit, "TL_COMPARE_EQUAL", src,
                               ln_emit_scalar(&n->emit, dtype, number));
    // Compares as int64: a value that 32 bits cannot hold equals no element.
    return ln_emit_compare(&n->emit, "TL_COMPARE_EQUAL",
                           ln_emit_cast(&n->emit, src, TL_INT64, LN_EMIT_TEMP),
                           ln_emit_constant(&n->emit, TL_INT64, 0, NULL, &whole));
}

static void translate_imputer(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    const int is_float = tl_dtype_is_float(dtype);
    const char *const name = is_float ? "imputed_value_floats" : "imputed_value_int64s";
    const char *const values =
        is_float ? features(n, name, src, dtype) : whole_features(n, name, src);
    if (!values)
        ln_emit_fail(&n->emit, "attribute '%s' is missing, which input 0, of type %s, needs", name,
                     tl_dtype_name(dtype));
    ln_emit_where(&n->emit, is_missing(n, src), values, src, 0);
}

// Categories

static int compare_int64s(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int compare_texts(const void *a, const void *b)
{
    return tl_string_cmp(*(const tl_string *const *)a, *(const tl_string *const *)b);
}

// One of two equal elements among `len` of 8 bytes; NULL: none.
static const void *find_equals(ln_onnx_node *n, const void *values, int len,
                               int (*compare)(const void *, const void *))
{
    enum { SIZE = sizeof(int64_t) };
    char *const sorted = ln_translation_alloc(n->emit.translation, ((size_t)len + 1) * SIZE);
    if (!sorted)
        return NULL;
    memcpy(sorted, values, (size_t)len * SIZE);
    qsort(sorted, (size_t)len, SIZE, compare);
    for (char *p = sorted; len > 1; p += SIZE, len--)
        if (!compare(p, p + SIZE))
            return p;
    return NULL;
}

// There must be some categories of the type of `src`.
static void want_categories(ln_onnx_node *n, const char *name, int len, const char *src)
{
    if (len == 0)
        ln_emit_fail(&n->emit,
                     "attribute '%s' is missing or empty, which input 0, of type %s, needs", name,
                     tl_dtype_name(ln_onnx_tensor_of(n, src)->dtype));
}

// The comparisons of strings with all categories, along a new last axis: TL_BOOL.
static const char *equals_text(ln_onnx_node *n, const char *src)
{
    static const char name[] = "cats_strings";
    const int axis = ln_onnx_tensor_of(n, src)->ndim;
    const char *const cats = ln_onnx_text_constant(n, name);
    const tl_tensor *const t = cats ? ln_onnx_value(n, cats) : NULL;
    want_categories(n, name, t ? t->len : 0, src);
    const tl_string *const *const twice =
        ln_onnx_failed(n) ? NULL : find_equals(n, t->data, t->len, compare_texts);
    if (twice)
        ln_emit_fail(&n->emit, "attribute '%s' has the category \"%s\" twice", name,
                     tl_string_bytes(*twice));
    src = ln_onnx_with_axes(n, src, 1, &axis);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_STRING_EQUAL, LN_ARG("src1", src),
                   LN_ARG("src2", cats));
}

// The same for numbers.
static const char *equals_number(ln_onnx_node *n, const char *src)
{
    static const char name[] = "cats_int64s";
    int len;
    const int64_t *const cats = ln_attr_ints(&n->emit, name, &len);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int is_float = tl_dtype_is_float(t->dtype), axis = t->ndim;
    want_categories(n, name, len, src);
    const int64_t *const twice =
        ln_onnx_failed(n) ? NULL : find_equals(n, cats, len, compare_int64s);
    if (twice)
        ln_emit_fail(&n->emit, "attribute '%s' has the category %lld twice", name,
                     (long long)*twice);
    src = ln_onnx_with_axes(n, src, 1, &axis);
    const char *const equal = ln_emit_compare(&n->emit, "TL_COMPARE_EQUAL",
                                              ln_emit_cast(&n->emit, src, TL_INT64, LN_EMIT_TEMP),
                                              ln_emit_int64s(&n->emit, len, cats));
    if (!is_float)
        return equal;
    // NaN, which becomes the integer 0, is no category.
    const char *const is_number = ln_emit_compare(&n->emit, "TL_COMPARE_EQUAL", src, src);
    return ln_emit_binary(&n->emit, "TL_BINARY_AND", equal, is_number, LN_EMIT_TEMP);
}

// Adds to `dst` zeros taken from one zero: at index 0, or 1 for a row without a 1, which fails.
static const char *want_one(ln_onnx_node *n, const char *dst, int i)
{
    const int axis = ln_onnx_tensor_of(n, dst)->ndim - 1, one = 1;
    const char *const count =
        ln_emit_reduce(&n->emit, "TL_REDUCE_MAX", dst, 1, &axis, 1, LN_EMIT_TEMP);
    const char *const missing =
        ln_emit_unary_with(&n->emit, "TL_UNARY_AFFINE", count, -1, 1, LN_EMIT_TEMP);
    const char *const zeros =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE,
                LN_ARG("src", ln_emit_filled(&n->emit, TL_FLOAT, 1, &one, 0)),
                LN_ARG("index", ln_emit_cast(&n->emit, missing, TL_INT64, LN_EMIT_TEMP)),
                LN_INT("axis", 0));
    return ln_emit_binary(&n->emit, "TL_BINARY_ADD", dst, zeros, i);
}

static void translate_onehot_encoder(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const int has_zeros = ln_attr_int(&n->emit, "zeros", 1) != 0;
    const int has_texts = ln_onnx_tensor_of(n, src)->dtype == TL_STRING;
    const char *const equal = has_texts ? equals_text(n, src) : equals_number(n, src);
    const char *const dst = ln_emit_cast(&n->emit, equal, TL_FLOAT, has_zeros ? 0 : LN_EMIT_TEMP);
    if (!has_zeros)
        want_one(n, dst, 0);
}

const ln_onnx_row ln_onnx_rows_ml_features[] = {
    {"ArrayFeatureExtractor", 1, translate_array_feature_extractor},
    {"Binarizer", 1, translate_binarizer},
    {"FeatureVectorizer", 1, translate_feature_vectorizer},
    {"Imputer", 1, translate_imputer},
    {"Normalizer", 1, translate_normalizer},
    {"OneHotEncoder", 1, translate_onehot_encoder},
    {"Scaler", 1, translate_scaler},
    {NULL},
};
