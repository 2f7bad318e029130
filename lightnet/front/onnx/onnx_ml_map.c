// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.ml on maps from keys to values, which are tensors of the values
// here (ln_onnx_maps.c).

#include "front/onnx/onnx_ml_post.h"

// How many elements an attribute of integers, or one of strings, has.
static int count_keys(ln_onnx_node *n, const char *ints, const char *strings)
{
    int n_ints, n_strings = 0;
    ln_attr_ints(&n->emit, ints, &n_ints);
    while (ln_onnx_string_at(n, strings, n_strings))
        n_strings++;
    if ((n_ints == 0) == (n_strings == 0))
        ln_emit_fail(&n->emit, "has %d '%s' and %d '%s', expected one of these", n_ints, ints,
                     n_strings, strings);
    return n_ints ? n_ints : n_strings;
}

// The node fails unless the rows have an element for each key.
static void want_keys(ln_onnx_node *n, const char *rows, int keys)
{
    const int width = rows ? ln_onnx_tensor_of(n, rows)->dims[1] : 0;
    if (width != keys)
        ln_emit_fail(&n->emit, "input 0 has %d columns, expected one for each of %d keys", width,
                     keys);
}

// A sequence of maps becomes the tensor of their values, [N, C].
static void translate_zipmap(ln_onnx_node *n)
{
    const int keys = count_keys(n, "classlabels_int64s", "classlabels_strings");
    const char *const rows = ln_onnx_ml_rows(n, 0, TL_FLOAT);
    want_keys(n, rows, keys);
    ln_onnx_alias(n, 0, rows);
}

static void translate_dict_vectorizer(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const int keys = count_keys(n, "int64_vocabulary", "string_vocabulary");
    const char *const rows = ln_onnx_ml_rows(n, 0, ln_onnx_tensor_of(n, src)->dtype);
    want_keys(n, rows, keys);
    ln_onnx_alias(n, 0, rows);
}

static void translate_cast_map(ln_onnx_node *n)
{
    static const ln_attr_word types[] = {{"TO_FLOAT"}, {"TO_INT64"}, {"TO_STRING"}, {0}};
    static const ln_attr_word forms[] = {{"DENSE"}, {"SPARSE"}, {0}};
    const char *const type = ln_attr_choose(&n->emit, "cast_to", "TO_FLOAT", types);
    const char *const form = ln_attr_choose(&n->emit, "map_form", "DENSE", forms);
    const int64_t max = ln_attr_int(&n->emit, "max_map", 1);
    const tl_dtype from = ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype;
    const tl_dtype to = ln_streq(type, "TO_STRING")  ? TL_STRING
                        : ln_streq(type, "TO_INT64") ? TL_INT64
                                                     : TL_FLOAT;
    const char *const rows = ln_onnx_ml_rows(n, 0, from);
    const int width = rows ? ln_onnx_tensor_of(n, rows)->dims[1] : 0;
    if (ln_streq(form, "SPARSE") && width != max)
        ln_emit_fail(&n->emit, "input 0 has %d columns, expected %lld, its 'max_map'", width,
                     (long long)max);
    if ((from == TL_STRING) != (to == TL_STRING))
        LN_EMIT(&n->emit, 0, LN_OP_STRING_CAST, LN_ARG("src", rows), LN_DTYPE("dtype", to));
    else
        ln_emit_cast(&n->emit, rows, to, 0);
}

const ln_onnx_row ln_onnx_rows_ml_map[] = {
    {"CastMap", 1, translate_cast_map},
    {"DictVectorizer", 1, translate_dict_vectorizer},
    {"ZipMap", 1, translate_zipmap},
    {NULL},
};
