// SPDX-License-Identifier: Apache-2.0
// Writing operators on strings, and on tokens.

#include <string.h>

#include "front/onnx/write/ln_onnx_write.h"
#include "ir/ln_from_file.h"
#include "tensorlight/tl_type.h"

static void write_cast(ln_onnx_op *n)
{
    LN_ONNX_PUT_AS(n, "dst", "Cast", LN_ONNX_IN(n, "src"),
                   LN_DTYPE("to", ln_onnx_op_tensor(n, "dst")->dtype));
}

static void write_split(ln_onnx_op *n)
{
    const int max_split = ln_op_int(n->op, "max_split");
    const char *const delimiter = ln_op_string(n->op, "delimiter");
    LN_ONNX_WRITE_FORM(n, LN_ONLY_IF(delimiter && *delimiter, LN_TEXT("delimiter", delimiter)),
                       LN_ONLY_IF(max_split >= 0, LN_INT("maxsplit", max_split)));
}

// Attributes that are inputs of LightNet's operators

static void put_words(ln_onnx_op *n, const char *attr, const char *arg)
{
    const void *const elements = ln_onnx_op_elements(n, arg);
    if (elements)
        ln_onnx_put_texts(n, attr, ln_onnx_op_tensor(n, arg)->len, elements);
}

static void write_normalize(ln_onnx_op *n)
{
    const char *const letters = ln_op_string(n->op, "letters");
    const char *const action = !strcmp(letters, "TL_CASE_LOWER")   ? "LOWER"
                               : !strcmp(letters, "TL_CASE_UPPER") ? "UPPER"
                                                                   : "NONE";
    const char *const out = ln_onnx_op_out(n, "dst");
    ln_onnx_put_begin(n, "StringNormalizer");
    ln_onnx_put_set(n, LN_ONNX_IN(n, "src"));
    ln_onnx_put_set(n, LN_TEXT("case_change_action", action));
    ln_onnx_put_set(n, LN_INT("is_case_sensitive", !ln_op_bool(n->op, "ignores_case")));
    if (ln_op_input_name(n->op, "stopwords"))
        put_words(n, "stopwords", "stopwords");
    ln_onnx_put_end(n, 1, &out);
}

// N-grams

static int is_sorting(const ln_op *op)
{
    return ln_op_is_form_of(op, LN_OP_TFIDF) || ln_op_is_form_of(op, LN_OP_LOOKUP_KEY);
}

// Readers of ONNX sort n-grams and keys, so only the operators that need them may read the order.
static void write_order(ln_onnx_op *n)
{
    const char *const dst = ln_op_output_name(n->op, "dst");
    int is_read = ln_context_is_output(n->level->ctx, dst);
    LN_FOREACH (const ln_op *, op, n->level->ctx->ops)
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
            is_read |= !strcmp(tle->name, dst) && !is_sorting(op);
    if (is_read)
        ln_onnx_op_reject(n, "ONNX has no node for the order of n-grams");
}

// The order must be that of the pool.
static void check_order(ln_onnx_op *n)
{
    const ln_op *const op = ln_context_creater(n->level->ctx, ln_op_input_name(n->op, "order"));
    const int is_order = ln_op_is_form_of(op, LN_OP_NGRAMS_ORDER);
    const char *const pool = is_order ? ln_op_input_name(op, "pool") : NULL;
    if (is_order && strcmp(pool, ln_op_input_name(n->op, "pool")) != 0)
        ln_onnx_op_reject(n, "input 'order' is of another pool, expected that of input 'pool'");
    if (!is_order)
        ln_onnx_op_elements(n, "order");
}

static void put_weights(ln_onnx_op *n)
{
    const float *const weights = ln_onnx_op_elements(n, "weights");
    const int len = ln_onnx_op_tensor(n, "weights")->len;
    double *const numbers =
        ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*numbers));
    if (!weights || !numbers)
        return;
    for (int i = 0; i < len; i++)
        numbers[i] = weights[i];
    ln_onnx_put_set(n, LN_NUMBERS("weights", len, numbers));
}

static void write_tfidf(ln_onnx_op *n)
{
    const char *const out = ln_onnx_op_out(n, "dst");
    const int has_words = ln_onnx_op_tensor(n, "pool")->dtype == TL_STRING;
    const void *const index = ln_onnx_op_elements(n, "index");
    int n_starts;
    const int *const starts = ln_op_ints(n->op, "starts", &n_starts);
    check_order(n);
    ln_onnx_put_begin(n, "TfIdfVectorizer");
    ln_onnx_put_set(n, LN_ONNX_IN(n, "src"));
    ln_onnx_put_set(n, LN_TEXT("mode", ln_op_string(n->op, "mode") + strlen("TL_TFIDF_")));
    ln_onnx_put_set(n, LN_INT("min_gram_length", ln_op_int(n->op, "least")));
    ln_onnx_put_set(n, LN_INT("max_gram_length", ln_op_int(n->op, "most")));
    ln_onnx_put_set(n, LN_INT("max_skip_count", ln_op_int(n->op, "max_skip")));
    ln_onnx_put_set(n, LN_INTS("ngram_counts", n_starts, starts));
    if (index)
        ln_onnx_put_set(n, LN_INTS("ngram_indexes", ln_onnx_op_tensor(n, "index")->len, index));
    if (has_words)
        put_words(n, "pool_strings", "pool");
    else
        ln_onnx_put_int64s(n, "pool_int64s", ln_onnx_op_tensor(n, "pool")->len,
                           ln_onnx_op_elements(n, "pool"));
    put_weights(n);
    ln_onnx_put_end(n, 1, &out);
}

const ln_onnx_op_row ln_onnx_write_rows_strings[] = {
    {LN_OP_STRING_CAST, write_cast},
    {LN_OP_STRING_SPLIT, write_split},
    {LN_OP_STRING_NORMALIZE, write_normalize},
    {LN_OP_NGRAMS_ORDER, write_order},
    {LN_OP_TFIDF, write_tfidf},
    {NULL},
};
