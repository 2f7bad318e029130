// SPDX-License-Identifier: Apache-2.0
// Operators on strings, and on tokens: StringConcat, StringSplit, StringNormalizer,
// RegexFullMatch, TfIdfVectorizer.

#include <limits.h>
#include <stdlib.h>

#include "front/onnx/ln_onnx.h"
#include "lightnet/ln_util.h"

// The max parts of a split without a limit.
enum { MAX_PARTS = 256 };

static void translate_split(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const int64_t asked = ln_attr_int(&n->emit, "maxsplit", -1);
    const int max_split = asked < 0 ? -1 : asked < INT_MAX - 1 ? (int)asked : INT_MAX - 1;
    const int max = max_split >= 0 && max_split < MAX_PARTS ? max_split + 1 : MAX_PARTS;
    LN_EMIT_BEGIN(&n->emit, LN_OP_STRING_SPLIT, LN_ARG("src", src),
                  LN_TEXT("delimiter", ln_attr_text(&n->emit, "delimiter", "")),
                  LN_INT("max_split", max_split),
                  LN_INT("most", ln_onnx_tensor_of(n, src)->len ? max : 0));
    ln_emit_out(&n->emit, "counts", ln_onnx_wants(n, 1) ? 1 : LN_EMIT_TEMP);
    ln_emit_end(&n->emit, "dst", 0);
}

static void translate_normalizer(ln_onnx_node *n)
{
    LN_ONNX_FORM(n, 0, LN_ARG("stopwords", ln_onnx_text_constant(n, "stopwords")));
}

// TfIdfVectorizer

// A list of integers as int, [len], until the translation ends; NULL after a failure.
static int *narrowed(ln_onnx_node *n, const char *name, int *len)
{
    const int64_t *const given = ln_attr_ints(&n->emit, name, len);
    if (!ln_attr_has(&n->emit, name))
        ln_emit_fail(&n->emit, "attribute '%s' is missing", name);
    int *const ints = ln_translation_alloc(n->emit.translation, ((size_t)*len + 1) * sizeof(*ints));
    for (int i = 0; ints && i < *len; i++) {
        if (given[i] < 0 || given[i] >= INT_MAX)
            ln_emit_fail(&n->emit, "attribute '%s' has %lld at index %d, expected 0 to %d", name,
                         (long long)given[i], i, INT_MAX - 1);
        ints[i] = (int)given[i];
    }
    return ints;
}

static const char *pool_of(ln_onnx_node *n)
{
    int len;
    const int64_t *const tokens = ln_attr_ints(&n->emit, "pool_int64s", &len);
    const int has_strings = ln_attr_has(&n->emit, "pool_strings");
    if (has_strings == ln_attr_has(&n->emit, "pool_int64s"))
        ln_emit_fail(&n->emit, "expected one of the attributes 'pool_strings' and 'pool_int64s'");
    return has_strings ? ln_onnx_text_constant(n, "pool_strings")
                       : ln_emit_int64s(&n->emit, len, tokens);
}

// The weights of `n_grams` n-grams: 1 by default.
static const char *weights_of(ln_onnx_node *n, int n_grams)
{
    int len;
    const float *const given = ln_onnx_floats(n, "weights", &len);
    float *const ones =
        ln_translation_alloc(n->emit.translation, ((size_t)n_grams + 1) * sizeof(*ones));
    for (int i = 0; ones && i < n_grams; i++)
        ones[i] = 1;
    if (len && len != n_grams)
        ln_emit_fail(&n->emit, "attribute 'weights' has %d elements, expected %d", len, n_grams);
    return ones ? ln_emit_constant(&n->emit, TL_FLOAT, 1, &n_grams, len ? given : ones) : NULL;
}

static void translate_tfidf(ln_onnx_node *n)
{
    static const ln_attr_word modes[] = {
        {"TF", "TL_TFIDF_TF"}, {"IDF", "TL_TFIDF_IDF"}, {"TFIDF", "TL_TFIDF_TFIDF"}, {0}};
    int n_starts, n_grams, width = 0;
    int *const starts = narrowed(n, "ngram_counts", &n_starts);
    int *const index = narrowed(n, "ngram_indexes", &n_grams);
    const char *const pool = pool_of(n), *const mode = ln_attr_choose(&n->emit, "mode", "", modes);
    for (int i = 0; index && i < n_grams; i++)
        width = index[i] >= width ? index[i] + 1 : width;
    const char *const order = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_NGRAMS_ORDER,
                                      LN_ARG("pool", pool), LN_INTS("starts", n_starts, starts));
    const char *const places = ln_emit_constant(&n->emit, TL_INT32, 1, &n_grams, index);
    LN_EMIT(&n->emit, 0, LN_OP_TFIDF, LN_ARG("src", ln_onnx_in(n, 0)), LN_ARG("pool", pool),
            LN_ARG("order", order), LN_ARG("index", places),
            LN_ARG("weights", weights_of(n, n_grams)), LN_INTS("starts", n_starts, starts),
            LN_INT("least", ln_attr_int(&n->emit, "min_gram_length", 1)),
            LN_INT("most", ln_attr_int(&n->emit, "max_gram_length", 1)),
            LN_INT("max_skip", ln_attr_int(&n->emit, "max_skip_count", 0)), LN_TEXT("mode", mode),
            LN_INT("width", width));
}

const ln_onnx_row ln_onnx_rows_strings[] = {
    {"StringNormalizer", 10, translate_normalizer},
    {"StringSplit", 20, translate_split},
    {"TfIdfVectorizer", 9, translate_tfidf},
    {NULL},
};
