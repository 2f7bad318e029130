// SPDX-License-Identifier: Apache-2.0
// Which translator an operator has.

#include "front/onnx/ln_onnx_model.h"

/* Operators that LightNet does not run, each with the reason. */

static const char strings[] = "it works on strings";
static const char sequences[] = "it works on sequences";
static const char optionals[] = "it works on optional values";

static const ln_onnx_row unsupported[] = {
    {"ConcatFromSequence", 1, NULL, sequences},
    {"ImageDecoder", 1, NULL, "it decodes files"},
    {"Optional", 1, NULL, optionals},
    {"OptionalGetElement", 1, NULL, optionals},
    {"OptionalHasElement", 1, NULL, optionals},
    {"RegexFullMatch", 1, NULL, strings},
    {"SequenceAt", 1, NULL, sequences},
    {"SequenceConstruct", 1, NULL, sequences},
    {"SequenceEmpty", 1, NULL, sequences},
    {"SequenceErase", 1, NULL, sequences},
    {"SequenceInsert", 1, NULL, sequences},
    {"SequenceLength", 1, NULL, sequences},
    {"SequenceMap", 1, NULL, sequences},
    {"SplitToSequence", 1, NULL, sequences},
    {"StringConcat", 1, NULL, strings},
    {"StringNormalizer", 1, NULL, strings},
    {"StringSplit", 1, NULL, strings},
    {"TfIdfVectorizer", 1, NULL, strings},
    {NULL},
};

static void translate_identity(ln_onnx_node *n)
{
    ln_onnx_alias(n, 0, ln_onnx_in(n, 0));
}

static const ln_onnx_row basic[] = {
    {"Identity", 1, translate_identity},
    {NULL},
};

// clang-format off
static const ln_onnx_row *const tables[] = {
    ln_onnx_rows_attention,
    basic,
    ln_onnx_rows_branch,
    ln_onnx_rows_control,
    ln_onnx_rows_conv,
    ln_onnx_rows_einsum,
    ln_onnx_rows_elementwise,
    ln_onnx_rows_index,
    ln_onnx_rows_matmul,
    ln_onnx_rows_norm,
    ln_onnx_rows_pool,
    ln_onnx_rows_quantize,
    ln_onnx_rows_random,
    ln_onnx_rows_recurrent,
    ln_onnx_rows_reduce,
    unsupported,
    ln_onnx_rows_resize,
    ln_onnx_rows_sample,
    ln_onnx_rows_shape,
    ln_onnx_rows_signal,
    ln_onnx_rows_unary,
};
// clang-format on

/** The newest row for an opset, in a table; `found` is the best one of others. */
static const ln_onnx_row *find_in(const ln_onnx_row *row, const char *op_type, int opset,
                                  const ln_onnx_row *found)
{
    for (; row->op_type; row++)
        if (row->op_type[0] == op_type[0] && row->since <= opset &&
            (!found || row->since > found->since) && ln_streq(row->op_type, op_type))
            found = row;
    return found;
}

const ln_onnx_row *ln_onnx_find_row(const char *domain, const char *op_type, int opset)
{
    const ln_onnx_row *found = NULL;
    const char *const type = op_type ? op_type : "";
    if (!ln_onnx_is_default_domain(domain))
        return ln_streq(domain, "com.microsoft")
                   ? find_in(ln_onnx_rows_microsoft, type, opset, NULL)
                   : NULL;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        found = find_in(tables[i], type, opset, found);
    return found;
}
