// SPDX-License-Identifier: Apache-2.0
// Conversion of attributes and parameters by forms.

#include "front/ln_form.h"

#include <limits.h>
#include <string.h>

#include "lightnet/ln_op.h"
#include "tensorlight/tl_type.h"

static const ln_part nothing = {.kind = LN_PART_NONE};

// Reading

static int is_true(const char *text)
{
    return !strcmp(text, "true");
}

static ln_part read_words(ln_emit *e, const ln_form_item *item)
{
    const char *const deflt = item->text ? item->text : "";
    const char *const ours = ln_attr_choose(e, item->name, deflt, item->words);
    return item->kind == LN_ITEM_BOOL ? LN_BOOL(item->arg, is_true(ours))
                                      : LN_TEXT(item->arg, ours);
}

static ln_part read_ints(ln_emit *e, const ln_form_item *item)
{
    int len;
    const int64_t *const given = ln_attr_ints(e, item->name, &len);
    int *const values = ln_translation_alloc(e->translation, ((size_t)len + 1) * sizeof(*values));
    for (int i = 0; i < len && values; i++)
        values[i] = ln_attr_element(e, item->name, given[i], INT_MIN, INT_MAX);
    return LN_INTS(item->arg, values ? len : 0, values);
}

static ln_part read_number(ln_emit *e, const ln_form_item *item, int ndim)
{
    const char *const name = item->name;
    const int64_t deflt = (int64_t)item->number;
    switch (item->kind) {
    case LN_ITEM_INT:
        return LN_INT(item->arg, ln_attr_int(e, name, deflt));
    case LN_ITEM_AXIS:
        return LN_INT(item->arg, ln_attr_axis(e, name, deflt, ndim));
    case LN_ITEM_BOOL:
        return LN_BOOL(item->arg, ln_attr_bool(e, name, deflt != 0) != item->is_not);
    default:
        return LN_NUMBER(item->arg, ln_attr_number(e, name, item->number));
    }
}

ln_part ln_form_read(ln_emit *e, const ln_form_item *item, int ndim)
{
    if (item->kind == LN_ITEM_IS_NUMBER)
        return LN_NUMBER(item->arg, item->number);
    if (item->kind == LN_ITEM_IS_BOOL)
        return LN_BOOL(item->arg, is_true(item->text));
    if (item->kind == LN_ITEM_IS_TEXT)
        return LN_TEXT(item->arg, item->text);
    if (item->is_required)
        ln_attr_require(e, item->name);
    else if (!item->has_default && !ln_attr_has(e, item->name))
        return nothing;
    if (item->words)
        return read_words(e, item);
    if (item->kind == LN_ITEM_TEXT)
        return LN_TEXT(item->arg, ln_attr_text(e, item->name, item->text ? item->text : ""));
    if (item->kind == LN_ITEM_DTYPE)
        return LN_DTYPE(item->arg, ln_attr_dtype(e, item->name, TL_FLOAT));
    return item->kind == LN_ITEM_INTS ? read_ints(e, item) : read_number(e, item, ndim);
}

// Writing

static const char *text_of(const ln_param_entry *pe)
{
    return pe->type == LN_PARAM_STRING ? pe->value_string : pe->value_bool ? "true" : "false";
}

static ln_part write_word(const ln_param_entry *pe, const ln_form_item *item, int *since)
{
    const ln_attr_word *const word = ln_attr_word_for(item->words, text_of(pe));
    if (word && word->since > *since)
        *since = word->since;
    return word ? LN_TEXT(item->name, word->name) : nothing;
}

ln_part ln_form_write(const ln_op *op, const ln_form_item *item, int *since)
{
    const ln_param_entry *const pe = ln_op_param(op, item->arg);
    if (!pe)
        return nothing;
    if (item->words)
        return write_word(pe, item, since);
    switch (item->kind) {
    case LN_ITEM_INT:
    case LN_ITEM_AXIS:
        return LN_INT(item->name, pe->value_int);
    case LN_ITEM_NUMBER:
        return LN_NUMBER(item->name, pe->value_double);
    case LN_ITEM_BOOL:
        return LN_BOOL(item->name, (pe->value_bool != LN_FALSE) != item->is_not);
    case LN_ITEM_TEXT:
        return LN_TEXT(item->name, pe->value_string);
    case LN_ITEM_DTYPE:
        return LN_DTYPE(item->name, tl_dtype_from_str(pe->value_string));
    case LN_ITEM_INTS:
        return LN_INTS(item->name, pe->array_len, pe->value_array_int);
    case LN_ITEM_NUMBERS:
        return LN_NUMBERS(item->name, pe->array_len, pe->value_array_double);
    default:
        return nothing;
    }
}

// Whether an operator has the type or the value that the item requires.
static int has_item(const ln_op *op, const ln_form_item *item)
{
    const ln_param_entry *const pe = ln_op_param(op, item->arg);
    const ln_tensor_entry *const te =
        item->is_wanted ? ln_op_find_tensor_entry(op, item->arg) : NULL;
    switch (item->kind) {
    case LN_ITEM_IN:
        return !te || te->tensor->dtype == item->dtype;
    case LN_ITEM_IS_NUMBER:
        return pe && (float)pe->value_double == (float)item->number;
    case LN_ITEM_IS_BOOL:
        return pe && !pe->value_bool == !is_true(item->text);
    case LN_ITEM_IS_TEXT:
        return pe && !strcmp(pe->value_string, item->text);
    default:
        return 1;
    }
}

int ln_form_is_of(const ln_form *form, const ln_op *op)
{
    const ln_form_item *item = form->items;
    while (item->kind && has_item(op, item))
        item++;
    return item->kind == LN_ITEM_END && !strcmp(form->optype, op->op_arg->optype);
}

const ln_part *ln_form_find_part(const ln_part *parts, const char *name)
{
    for (; parts && parts->kind != LN_PART_END; parts++)
        if (parts->name && name && !strcmp(parts->name, name))
            return parts;
    return NULL;
}
