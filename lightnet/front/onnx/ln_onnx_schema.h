// SPDX-License-Identifier: Apache-2.0
// Schemas: which inputs, outputs and attributes the standard lets a node have. A node with others
// is rejected: results without them would differ from the model's.
//
// A schema's lists consist of words, with the operator sets that have them: all, those from N on
// (">=N"), those before N ("<N"). Lengths are the max numbers of inputs and outputs, "*": any;
// the last one that applies counts. Attributes have the letter of their type (LN_ONNX_TYPES).
//
//     {"Clip", "1 3>=11", "1", "consumed_inputs:I<6 max:f<11 min:f<11", "binary forward unary"}
//
// `ops` are the operators of LightNet that a node becomes, the most frequent first; "": none, it is
// computed when the model is read. tests/onnx/names.py compares them with ONNX's own test data.
//
// Sources: ONNX's operator schemas; for com.microsoft, those of ONNX Runtime.

#pragma once

#include "front/onnx/ln_onnx.h"

/** A table is in order of names (strcmp), and ends with the op_type NULL. */
typedef struct ln_onnx_schema {
    const char *op_type;
    const char *inputs, *outputs, *attrs, *ops;
} ln_onnx_schema;

extern const ln_onnx_schema ln_onnx_schemas[];         // of ONNX's own domain
extern const ln_onnx_schema ln_onnx_schemas_form[];    // those of it that are forms (ln_form.h)
extern const ln_onnx_schema ln_onnx_schemas_preview[]; // of the domain ai.onnx.preview
extern const ln_onnx_schema ln_onnx_schemas_ml[];      // of the domain ai.onnx.ml
extern const ln_onnx_schema ln_onnx_schemas_contrib[]; // of the domain com.microsoft
extern const ln_onnx_schema ln_onnx_schemas_contrib_form[];

/** The letters of FLOAT, INT, STRING, ...: at the index of their row of
 * AttributeProto.AttributeType. */
#define LN_ONNX_TYPES "-fistgFISTGpPy"

/** A word of a list: `len` bytes, for operator sets since .. before - 1. */
typedef struct ln_onnx_word {
    const char *text;
    int len;
    int type; // a row of AttributeProto.AttributeType; 0: none
    int since, before;
} ln_onnx_word;

/** The next word of a list, which moves to the end of it. 0: none. */
int ln_onnx_next_word(const char **list, ln_onnx_word *word);

/** Whether the operator set has it. */
int ln_onnx_word_is_in(const ln_onnx_word *word, int opset);

/** The length in an operator set; INT_MAX: any. */
int ln_onnx_schema_len(const char *lens, int opset);

/** NULL: none, as the operator is unknown. */
const ln_onnx_schema *ln_onnx_find_schema(const char *domain, const char *op_type);

/** Attributes of former operator sets that exporters leave in nodes of newer ones, where they
 * change nothing: counted here, for one warning of each. */
enum { LN_ONNX_LEFTOVERS = 5 };
typedef struct ln_onnx_leftovers {
    size_t n[LN_ONNX_LEFTOVERS];
    char first[LN_ONNX_LEFTOVERS][256]; // the node
} ln_onnx_leftovers;

/** The node fails if it has more inputs or outputs than its operator, or attributes of other names
 *  or types; with `function`, other attributes than that function declares. */
void ln_onnx_check_node(ln_onnx_node *n, const LnOnnx__Function *function,
                        ln_onnx_leftovers *leftovers);

void ln_onnx_warn_of_leftovers(const ln_onnx_model *m, const ln_onnx_leftovers *leftovers);
