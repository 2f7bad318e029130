// SPDX-License-Identifier: Apache-2.0
// ONNX operators that LightNet does not run, each with the reason.

#include "front/onnx/ln_onnx_rows.h"

static const char strings[] = "it works on strings";
static const char sequences[] = "it works on sequences";
static const char optionals[] = "it works on optional values";

const ln_onnx_row ln_onnx_rows_refused[] = {
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
