// SPDX-License-Identifier: Apache-2.0
// Forms map an operator of LightNet to one operator of another format (field "onnx" of its
// description; ln-opgen --forms). A reader and a writer interpret them.
//
//     "onnx": "Trilu-14(src, k, upper=1)"
//
// Items are in order: those between parentheses, then conditions, then outputs.

#pragma once

#include "front/ln_attr.h"

typedef enum ln_form_kind {
    LN_ITEM_END,
    LN_ITEM_IN,  // the next input of the node is input `arg`
    LN_ITEM_OUT, // the next output of the node is output `arg`
    // Attribute `name` is parameter `arg`, of this type; AXIS is one of the first input. Without a
    // name, it is the next input of the node, and `text` the input that sets it in each run.
    LN_ITEM_INT,
    LN_ITEM_AXIS,
    LN_ITEM_NUMBER,
    LN_ITEM_BOOL,
    LN_ITEM_TEXT,
    LN_ITEM_DTYPE,
    LN_ITEM_INTS,
    LN_ITEM_NUMBERS,
    // Parameter `arg` has this value, `text` or `number`.
    LN_ITEM_IS_NUMBER,
    LN_ITEM_IS_BOOL,
    LN_ITEM_IS_TEXT,
} ln_form_kind;

typedef struct ln_form_item {
    ln_form_kind kind;
    const char *arg, *name;
    unsigned is_required : 1, // fails without it
        is_wanted : 1,        // an input must be of `dtype`
        is_cast : 1,          // an input is converted to `dtype` by writers
        is_not : 1,           // the attribute is the opposite of the parameter
        has_default : 1;      // of the attribute: `text` or `number`
    tl_dtype dtype;
    int since; // the version of the format that has the attribute
    const char *text;
    double number;
    const ln_attr_word *words; // of an attribute that is a text; or NULL
} ln_form_item;

typedef struct ln_form {
    const char *optype; // LightNet's; NULL at the end of a table
    const char *type;   // the format's, after its domain: "com.microsoft:Inverse"
    int since;          // the version of the format that has it
    const ln_form_item *items;
} ln_form;

/** Whether the item is an input of the node. */
static inline int ln_form_is_input(const ln_form_item *item)
{
    return item->kind == LN_ITEM_IN ||
           (item->kind >= LN_ITEM_INT && item->kind <= LN_ITEM_NUMBERS && !item->name);
}

/** The parameter for a node's attribute, or for a condition; LN_PART_NONE if the attribute is
 * absent: the parameter has its default. `ndim`: of the first input. */
ln_part ln_form_read(ln_emit *e, const ln_form_item *item, int ndim);

/** The attribute for a parameter of the operator. Raises `*since` to the version of the format that
 * it needs. */
ln_part ln_form_write(const ln_op *op, const ln_form_item *item, int *since);

/** Whether the operator has the types and the values that the form requires. */
int ln_form_is_of(const ln_form *form, const ln_op *op);

/** The part of that name; NULL: none. */
const ln_part *ln_form_find_part(const ln_part *parts, const char *name);
