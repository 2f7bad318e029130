// SPDX-License-Identifier: Apache-2.0
// LabelEncoder and CategoryMapper of the domain ai.onnx.ml: keys and their values, of numbers or
// strings.

#include <stdio.h>

#include "front/onnx/ln_onnx.h"
#include "lightnet/ln_util.h"

// Suffixes of attributes, by type.
typedef struct kind {
    const char *suffix;
    tl_dtype dtype;
} kind;

static const kind kinds[] = {{"strings", TL_STRING}, {"int64s", TL_INT64}, {"floats", TL_FLOAT}};

enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), NAME_SIZE = 32 };

static const char *join(char name[NAME_SIZE], const char *stem, const char *suffix)
{
    snprintf(name, NAME_SIZE, "%s_%s", stem, suffix);
    return name;
}

// The list of that type as a constant [N].
static const char *list_of(ln_onnx_node *n, const char *name, tl_dtype dtype)
{
    int len = 0;
    if (dtype == TL_STRING)
        return ln_onnx_text_constant(n, name);
    const void *const values = dtype == TL_INT64 ? (const void *)ln_attr_ints(&n->emit, name, &len)
                                                 : (const void *)ln_onnx_floats(n, name, &len);
    return ln_emit_constant(&n->emit, dtype, 1, &len, values);
}

// The tensor, or the list of the only type that is present, of "keys" or "values".
static const char *column(ln_onnx_node *n, const char *stem)
{
    char name[NAME_SIZE];
    if (ln_attr_has(&n->emit, join(name, stem, "tensor"))) {
        const char *const tensor = ln_onnx_attr_tensor(n, name);
        const tl_tensor *const t = ln_onnx_tensor_of(n, tensor);
        return t->ndim == 1 ? tensor : ln_emit_view(&n->emit, tensor, 1, &t->len, LN_EMIT_TEMP);
    }
    for (int i = 0; i < N_KINDS; i++)
        if (ln_attr_has(&n->emit, join(name, stem, kinds[i].suffix)))
            return list_of(n, name, kinds[i].dtype);
    ln_emit_fail(&n->emit,
                 "attribute '%s_tensor', '%s_strings', '%s_int64s' or '%s_floats' is missing", stem,
                 stem, stem, stem);
    return NULL;
}

// The value of other elements: of the type of the values.
static const char *default_of(ln_onnx_node *n, tl_dtype dtype)
{
    if (ln_attr_has(&n->emit, "default_tensor"))
        return ln_onnx_attr_tensor(n, "default_tensor");
    if (dtype == TL_STRING)
        return ln_attr_has(&n->emit, "default_string") ? ln_onnx_text_constant(n, "default_string")
                                                       : ln_emit_text(&n->emit, "_Unused");
    return ln_emit_scalar(&n->emit, dtype,
                          tl_dtype_is_float(dtype)
                              ? ln_attr_number(&n->emit, "default_float", -0.0)
                              : (double)ln_attr_int(&n->emit, "default_int64", -1));
}

static void emit_lookup(ln_onnx_node *n, const char *keys, const char *values, const char *deflt)
{
    const char *const order =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_NGRAMS_ORDER, LN_ARG("pool", keys));
    LN_EMIT(&n->emit, 0, LN_OP_LOOKUP_KEY, LN_ARG("src", ln_onnx_in(n, 0)), LN_ARG("keys", keys),
            LN_ARG("order", order), LN_ARG("values", values), LN_ARG("deflt", deflt));
}

static void translate_label_encoder(ln_onnx_node *n)
{
    const char *const keys = column(n, "keys"), *const values = column(n, "values");
    emit_lookup(n, keys, values, default_of(n, ln_onnx_tensor_of(n, values)->dtype));
}

// Strings become the numbers beside them, or numbers the strings.
static void emit_either(ln_onnx_node *n, const char *texts, const char *numbers)
{
    if (ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype == TL_STRING)
        emit_lookup(n, texts, numbers, default_of(n, TL_INT64));
    else
        emit_lookup(n, numbers, texts, default_of(n, TL_STRING));
}

static void translate_category_mapper(ln_onnx_node *n)
{
    static const kind cats[] = {{"cats_strings", TL_STRING}, {"cats_int64s", TL_INT64}};
    const char *lists[2];
    for (int i = 0; i < 2; i++) {
        if (!ln_attr_has(&n->emit, cats[i].suffix))
            ln_emit_fail(&n->emit, "attribute '%s' is missing", cats[i].suffix);
        lists[i] = list_of(n, cats[i].suffix, cats[i].dtype);
    }
    const int n_texts = ln_onnx_tensor_of(n, lists[0])->len;
    const int n_numbers = ln_onnx_tensor_of(n, lists[1])->len;
    if (n_texts != n_numbers)
        ln_emit_fail(&n->emit, "has %d 'cats_strings' and %d 'cats_int64s', expected equal numbers",
                     n_texts, n_numbers);
    emit_either(n, lists[0], lists[1]);
}

// Opset 1: strings become their indices in a list, or indices the strings.
static void translate_classes(ln_onnx_node *n)
{
    if (!ln_attr_has(&n->emit, "classes_strings"))
        ln_emit_fail(&n->emit, "attribute 'classes_strings' is missing");
    const char *const texts = ln_onnx_text_constant(n, "classes_strings");
    const int len = ln_onnx_tensor_of(n, texts)->len;
    int64_t *const numbers =
        ln_translation_alloc(n->emit.translation, ((size_t)len + 1) * sizeof(*numbers));
    for (int i = 0; numbers && i < len; i++)
        numbers[i] = i;
    emit_either(n, texts, ln_emit_int64s(&n->emit, numbers ? len : 0, numbers));
}

const ln_onnx_row ln_onnx_rows_labels[] = {
    {"CategoryMapper", 1, translate_category_mapper},
    {"LabelEncoder", 1, translate_classes},
    {"LabelEncoder", 2, translate_label_encoder},
    {NULL},
};
