// SPDX-License-Identifier: Apache-2.0
// Prints the schemas of the ONNX reader, a line for each operator and operator set that has it:
//
//     DOMAIN OPERATOR OPSET INPUTS OUTPUTS ATTRIBUTE:TYPE ...
//
// The domain of ONNX itself is "ai.onnx", and "*" any number of inputs or outputs. Types
// are rows of AttributeProto.AttributeType.

#include <limits.h>
#include <stdio.h>

#include "front/onnx/ln_onnx_schema.h"

static void print_len(const char *lens, int opset)
{
    const int len = ln_onnx_schema_len(lens, opset);
    if (len == INT_MAX)
        printf(" *");
    else
        printf(" %d", len);
}

static void print_schemas(const char *domain, const ln_onnx_schema *schema, int newest)
{
    for (; schema->op_type; schema++) {
        for (int opset = 1; opset <= newest; opset++) {
            if (!ln_onnx_find_row(domain, schema->op_type, opset) ||
                ln_onnx_find_schema(domain, schema->op_type) != schema)
                continue;
            const char *list = schema->attrs;
            ln_onnx_word word;
            printf("%s %s %d", domain, schema->op_type, opset);
            print_len(schema->inputs, opset);
            print_len(schema->outputs, opset);
            while (ln_onnx_next_word(&list, &word))
                if (ln_onnx_word_is_in(&word, opset))
                    printf(" %.*s:%d", word.len, word.text, word.type);
            printf("\n");
        }
    }
}

int main(void)
{
    print_schemas("ai.onnx", ln_onnx_schemas, 28);
    print_schemas("ai.onnx", ln_onnx_schemas_form, 28);
    print_schemas("ai.onnx.preview", ln_onnx_schemas_preview, 1);
    print_schemas("ai.onnx.ml", ln_onnx_schemas_ml, 5);
    print_schemas("com.microsoft", ln_onnx_schemas_contrib, 1);
    print_schemas("com.microsoft", ln_onnx_schemas_contrib_form, 1);
    return 0;
}
