// SPDX-License-Identifier: Apache-2.0
// Writing operators of the domain ai.onnx.ml: label encoding, pairwise coupling.

#include <string.h>

#include "front/onnx/write/ln_onnx_write.h"
#include "tensorlight/tl_type.h"

// Labels

// The attributes for a type, and the type to which elements are converted.
static const struct labels {
    const char *list, *deflt;
    tl_dtype dtype;
} kinds[] = {{"strings", "default_string", TL_STRING},
             {"int64s", "default_int64", TL_INT64},
             {"floats", "default_float", TL_FLOAT},
             {"tensor", "default_tensor", TL_DOUBLE}};

static const struct labels *kind_of(tl_dtype dtype)
{
    return dtype == TL_STRING         ? &kinds[0]
           : dtype == TL_DOUBLE       ? &kinds[3]
           : tl_dtype_is_float(dtype) ? &kinds[2]
                                      : &kinds[1];
}

// All elements of an input in the type of its attributes; NULL after a failure.
static const void *converted(ln_onnx_op *n, const char *arg, tl_dtype dtype)
{
    const tl_tensor *const t = ln_onnx_op_tensor(n, arg);
    const void *const elements = ln_onnx_op_elements(n, arg);
    if (!elements || t->dtype == dtype)
        return elements;
    char *const as =
        ln_translation_alloc(&n->writer->base, ((size_t)t->len + 1) * tl_size_of(dtype));
    if (as)
        tl_convert_array(as, dtype, elements, t->dtype, (size_t)t->len);
    return as;
}

static void put_doubles(ln_onnx_op *n, const char *attr, int len, const void *elements)
{
    ln_onnx_op_domain_since(n, LN_ONNX_ML, 4);
    ln_onnx_put_tensor(n, attr, ln_onnx_put_elements(n, TL_DOUBLE, len, elements));
}

static void put_floats(ln_onnx_op *n, const char *attr, int len, const float *elements)
{
    double *const numbers =
        ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*numbers));
    for (int i = 0; i < len && numbers; i++)
        numbers[i] = (double)elements[i];
    if (numbers)
        ln_onnx_put_set(n, LN_NUMBERS(attr, len, numbers));
}

static void put_labels(ln_onnx_op *n, const char *arg, const char *stem)
{
    const int len = ln_onnx_op_tensor(n, arg)->len;
    const struct labels *const kind = kind_of(ln_onnx_op_tensor(n, arg)->dtype);
    const void *const elements = converted(n, arg, kind->dtype);
    const char *const attr = ln_translation_print(&n->writer->base, "%s_%s", stem, kind->list);
    if (!elements || !attr)
        return;
    if (kind->dtype == TL_STRING)
        ln_onnx_put_texts(n, attr, len, elements);
    else if (kind->dtype == TL_INT64)
        ln_onnx_put_int64s(n, attr, len, elements);
    else if (kind->dtype == TL_FLOAT)
        put_floats(n, attr, len, elements);
    else
        put_doubles(n, attr, len, elements);
}

static void put_default(ln_onnx_op *n)
{
    const struct labels *const kind = kind_of(ln_onnx_op_tensor(n, "deflt")->dtype);
    const void *const element = converted(n, "deflt", kind->dtype);
    if (!element)
        return;
    if (kind->dtype == TL_STRING)
        ln_onnx_put_text(n, kind->deflt, *(const tl_string *const *)element);
    else if (kind->dtype == TL_INT64)
        ln_onnx_put_set(n, LN_INT(kind->deflt, *(const int64_t *)element));
    else if (kind->dtype == TL_FLOAT)
        ln_onnx_put_set(n, LN_NUMBER(kind->deflt, (double)*(const float *)element));
    else
        put_doubles(n, kind->deflt, 1, element);
}

// Integers as TL_INT64, floats of 16 bits as TL_FLOAT.
static void write_lookup(ln_onnx_op *n)
{
    const tl_dtype from = ln_onnx_op_tensor(n, "src")->dtype;
    const tl_dtype to = ln_onnx_op_tensor(n, "dst")->dtype;
    const tl_dtype keys = kind_of(from)->dtype, values = kind_of(to)->dtype;
    const char *const given = ln_onnx_op_in(n, "src");
    const char *const src = keys == from ? given : ln_onnx_put_cast(n, given, keys);
    const char *const out = ln_onnx_put_name(n, "LabelEncoder");
    ln_onnx_put_begin(n, "ai.onnx.ml:LabelEncoder");
    ln_onnx_put_set(n, LN_ONNX_SRC(src));
    put_labels(n, "keys", "keys");
    put_labels(n, "values", "values");
    put_default(n);
    ln_onnx_note_type(n->writer, out, values);
    ln_onnx_put_end(n, 1, &out);
    ln_onnx_op_ends_with(n, "dst", values == to ? out : ln_onnx_put_cast(n, out, to));
}

// Pairwise coupling

// Max elements of the support vectors.
enum { MAX_ELEMENTS = 1 << 24 };

// The identity matrix [len, len], whose rows are unit vectors.
static double *unit_vectors(ln_onnx_op *n, int len)
{
    double *const all =
        ln_translation_alloc(&n->writer->base, (size_t)len * (size_t)len * sizeof(*all));
    for (int i = 0; i < len * len && all; i++)
        all[i] = i % (len + 1) == 0;
    return all;
}

// Coefficient 1 of the vector of each pair (i, j), in row j - 1; `counts`: vectors_per_class.
static double *pair_coefficients(ln_onnx_op *n, int classes, int pairs, int64_t *counts)
{
    const size_t len = (size_t)(classes - 1) * (size_t)pairs;
    double *const all = ln_translation_alloc(&n->writer->base, (len + 1) * sizeof(*all));
    for (size_t i = 0; i < len && all; i++)
        all[i] = 0;
    for (int i = 0, at = 0; i < classes && all; i++) {
        counts[i] = classes - 1 - i;
        for (int j = i + 1; j < classes; j++, at++)
            all[(size_t)(j - 1) * (size_t)pairs + (size_t)at] = 1;
    }
    return all;
}

static double *equal_numbers(ln_onnx_op *n, int len, double number)
{
    double *const all = ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*all));
    for (int i = 0; i < len && all; i++)
        all[i] = number;
    return all;
}

static void put_couple(ln_onnx_op *n, const char *src, const char *dst, int classes, int pairs)
{
    static const double parameters[] = {1, 0, 0};
    int64_t *const counts =
        ln_translation_alloc(&n->writer->base, 2 * (size_t)classes * sizeof(*counts));
    const double *const vectors = unit_vectors(n, pairs);
    const double *const coefficients = counts ? pair_coefficients(n, classes, pairs, counts) : NULL;
    const double *const zeros = equal_numbers(n, pairs, 0), *const a = equal_numbers(n, pairs, -1);
    if (!vectors || !coefficients || !zeros || !a)
        return;
    int64_t *const labels = counts + classes;
    for (int i = 0; i < classes; i++)
        labels[i] = i;
    const char *const outs[] = {ln_onnx_put_name(n, "label"), dst};
    ln_onnx_put_begin(n, "ai.onnx.ml:SVMClassifier");
    ln_onnx_put_set(n, LN_ONNX_SRC(src));
    ln_onnx_put_set(n, LN_TEXT("kernel_type", "LINEAR"));
    ln_onnx_put_set(n, LN_NUMBERS("kernel_params", 3, parameters));
    ln_onnx_put_int64s(n, "classlabels_ints", classes, labels);
    ln_onnx_put_int64s(n, "vectors_per_class", classes, counts);
    ln_onnx_put_set(n, LN_NUMBERS("support_vectors", pairs * pairs, vectors));
    ln_onnx_put_set(n, LN_NUMBERS("coefficients", (classes - 1) * pairs, coefficients));
    ln_onnx_put_set(n, LN_NUMBERS("rho", pairs, zeros));
    ln_onnx_put_set(n, LN_NUMBERS("prob_a", pairs, a));
    ln_onnx_put_set(n, LN_NUMBERS("prob_b", pairs, zeros));
    ln_onnx_note_type(n->writer, outs[0], TL_INT64);
    ln_onnx_note_type(n->writer, dst, TL_FLOAT);
    ln_onnx_put_end(n, 2, outs);
}

// Writes SVMClassifier, which couples the scores log(p / (1 - p)) of pairs. The support vector of
// each pair is a unit vector, so that its score is an element of the source.
static void write_couple(ln_onnx_op *n)
{
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    const int classes = dst->dims[1], pairs = ln_onnx_op_tensor(n, "src")->dims[1];
    const char *const p = ln_onnx_op_in(n, "src");
    if (pairs > MAX_ELEMENTS / pairs) {
        ln_onnx_op_reject(n, "%d classes need more than %d elements of support vectors", classes,
                          MAX_ELEMENTS);
        return;
    }
    const char *v = ln_onnx_put_pair(n, "Sub", ln_onnx_put_scalar(n, dst->dtype, 1), p);
    v = ln_onnx_put(n, "Log", ln_onnx_put_pair(n, "Div", p, v));
    v = dst->dtype == TL_FLOAT ? v : ln_onnx_put_cast(n, v, TL_FLOAT);
    const char *const scores = ln_onnx_put_name(n, "SVMClassifier");
    put_couple(n, v, scores, classes, pairs);
    ln_onnx_op_ends_with(n, "dst",
                         dst->dtype == TL_FLOAT ? scores : ln_onnx_put_cast(n, scores, dst->dtype));
}

const ln_onnx_op_row ln_onnx_write_rows_ml[] = {
    {LN_OP_LOOKUP_KEY, write_lookup},
    {LN_OP_COUPLE, write_couple},
    {NULL},
};
