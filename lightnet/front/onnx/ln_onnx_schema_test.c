// SPDX-License-Identifier: Apache-2.0
// The tables of schemas: complete, sorted and well-formed. tests/onnx/schemas.py compares them with
// the standard.

#include "front/onnx/ln_onnx_schema.h"

#include <limits.h>
#include <string.h>

#include "ln_check.h"

static const ln_onnx_schema *const tables[] = {ln_onnx_schemas, ln_onnx_schemas_preview,
                                               ln_onnx_schemas_ml, ln_onnx_schemas_contrib};

static void want_schema(void *data, const char *domain, const ln_onnx_row *row)
{
    (void)data;
    ck_assert_msg(!row->translate || ln_onnx_find_schema(domain, row->op_type),
                  "no schema of operator %s.%s", domain, row->op_type);
}

START_TEST(each_supported_operator_has_a_schema)
{
    ln_onnx_each_row(want_schema, NULL);
    ck_assert_ptr_null(ln_onnx_find_schema("", "Foo"));
    ck_assert_ptr_null(ln_onnx_find_schema("com.acme", "Relu"));
    ck_assert_ptr_null(ln_onnx_find_schema("", NULL));
}
END_TEST

typedef struct wanted {
    const ln_onnx_schema *schema;
    int found;
} wanted;

static void find_row_of(void *data, const char *domain, const ln_onnx_row *row)
{
    wanted *const w = data;
    const ln_onnx_schema *const schema = ln_onnx_find_schema(domain, row->op_type);
    w->found += row->translate && schema && ln_streq(schema->op_type, w->schema->op_type) &&
                ln_streq(schema->attrs, w->schema->attrs);
}

START_TEST(each_schema_is_of_a_supported_operator_and_in_order)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const ln_onnx_schema *schema = tables[i]; schema->op_type; schema++) {
            wanted w = {schema, 0};
            ln_onnx_each_row(find_row_of, &w);
            ck_assert_msg(w.found, "no operator %s", schema->op_type);
            if (schema[1].op_type)
                ck_assert_msg(strcmp(schema->op_type, schema[1].op_type) <= 0, "%s before %s",
                              schema->op_type, schema[1].op_type);
        }
    }
}
END_TEST

// Words that are separated by one blank, each with bounds that some operator set is within;
// attributes have a type.
static void check_list(const char *op_type, const char *list, int is_of_attrs)
{
    ln_onnx_word word;
    while (ln_onnx_next_word(&list, &word)) {
        ck_assert_msg(is_of_attrs == (word.type > 0 && word.type < (int)strlen(LN_ONNX_TYPES)),
                      "%s: type of %s", op_type, word.text);
        ck_assert_msg(word.since < word.before && (*list == '\0' || *list == ' '), "%s: %s",
                      op_type, word.text);
    }
    ck_assert_msg(*list == '\0', "%s: '%s'", op_type, list);
}

START_TEST(lists_are_well_formed)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (const ln_onnx_schema *schema = tables[i]; schema->op_type; schema++) {
            check_list(schema->op_type, schema->inputs, 0);
            check_list(schema->op_type, schema->outputs, 0);
            check_list(schema->op_type, schema->attrs, 1);
            ck_assert_int_gt(ln_onnx_schema_len(schema->outputs, 1), 0);
        }
    }
}
END_TEST

START_TEST(bounds_select_the_words_of_an_operator_set)
{
    const char *list = "a:f<6 bc:S>=3<5  d";
    ln_onnx_word word;
    ck_assert(ln_onnx_next_word(&list, &word));
    ck_assert_int_eq(word.type, 1); // AttributeProto.FLOAT
    ck_assert(word.len == 1 && ln_onnx_word_is_in(&word, 5) && !ln_onnx_word_is_in(&word, 6));
    ck_assert(ln_onnx_next_word(&list, &word));
    ck_assert_int_eq(word.type, 8); // AttributeProto.STRINGS
    ck_assert(word.len == 2 && !ln_onnx_word_is_in(&word, 2) && ln_onnx_word_is_in(&word, 3) &&
              ln_onnx_word_is_in(&word, 4) && !ln_onnx_word_is_in(&word, 5));
    ck_assert(ln_onnx_next_word(&list, &word));
    ck_assert(ln_onnx_word_is_in(&word, 0) && ln_onnx_word_is_in(&word, INT_MAX - 1));
    ck_assert(!ln_onnx_next_word(&list, &word));
    ck_assert_int_eq(ln_onnx_schema_len("1 3>=11", 10), 1);
    ck_assert_int_eq(ln_onnx_schema_len("1 3>=11", 11), 3);
    ck_assert_int_eq(ln_onnx_schema_len("2 *>=8", 8), INT_MAX);
}
END_TEST

LN_TEST_MAIN("onnx_schema", each_supported_operator_has_a_schema,
             each_schema_is_of_a_supported_operator_and_in_order, lists_are_well_formed,
             bounds_select_the_words_of_an_operator_set)
