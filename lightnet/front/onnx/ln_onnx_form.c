// SPDX-License-Identifier: Apache-2.0
// Translates nodes by the forms of descriptions (ln_form.h); a translator may override parts.

#include "front/onnx/ln_onnx.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "front/onnx/ln_onnx_schema.h"
#include "front/onnx/ln_onnx_steps.h"
#include "ln_forms_onnx.h"
#include "tensorlight/tl_type.h"

// Tables

const ln_form *const ln_onnx_forms = forms;

#define ROW(i, op_type, since, ...) {op_type, since, ln_onnx_translate_form},
const ln_onnx_row ln_onnx_rows_form[] = {LN_FORMS(ROW){NULL}};
const ln_onnx_row ln_onnx_rows_contrib_form[] = {LN_FORMS_COM_MICROSOFT(ROW){NULL}};

#define SCHEMA(i, op_type, since, ...) {op_type, __VA_ARGS__},
const ln_onnx_schema ln_onnx_schemas_form[] = {LN_FORMS(SCHEMA){NULL}};
const ln_onnx_schema ln_onnx_schemas_contrib_form[] = {LN_FORMS_COM_MICROSOFT(SCHEMA){NULL}};

// Reading

// Whether input `i` is the second operand of legacy broadcasting (before opset 7).
static int is_second_operand(const ln_onnx_node *n, int i)
{
    const ln_onnx_schema *const schema =
        i == 1 && n->opset < 7 ? ln_onnx_find_schema(n->proto->domain, n->row->op_type) : NULL;
    return schema && strstr(schema->attrs, "broadcast");
}

static ln_part read_input(ln_onnx_node *n, const ln_form_item *item, int i)
{
    const char *const src = is_second_operand(n, i) ? ln_onnx_second_operand(n)
                            : item->is_required     ? ln_onnx_in(n, i)
                                                    : ln_onnx_optional(n, i);
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    if (item->is_wanted && src && dtype != item->dtype)
        ln_emit_fail(&n->emit, "input %d has type %s, expected %s", i, tl_dtype_name(dtype),
                     tl_dtype_name(item->dtype));
    return LN_ARG(item->arg, src);
}

// Reads a parameter from the constant value of input `i`.
static ln_part read_value(ln_onnx_node *n, const ln_form_item *item, int i, int ndim)
{
    int len;
    if (item->kind == LN_ITEM_AXIS)
        return LN_INT(item->arg, ln_attr_to_axis(&n->emit, ln_onnx_required_int(n, i), ndim));
    if (item->kind == LN_ITEM_INT)
        return LN_INT(item->arg, ln_onnx_required_int(n, i));
    ln_onnx_in(n, i);
    const int64_t *const given = ln_onnx_ints_in(n, i, &len);
    int *const ints = ln_translation_alloc(n->emit.translation, ((size_t)len + 1) * sizeof(*ints));
    for (int k = 0; k < len && ints; k++)
        ints[k] = given[k] < INT_MIN ? INT_MIN : given[k] > INT_MAX ? INT_MAX : (int)given[k];
    return LN_INTS(item->arg, ints ? len : 0, ints);
}

// Emits the outputs that the node uses; output 0 last, as it ends the operator.
static const char *emit_outputs(ln_onnx_node *n, const ln_form_item *outs, int first)
{
    for (int i = 1; outs[i].kind == LN_ITEM_OUT; i++)
        if (ln_onnx_wants(n, i))
            ln_emit_out(&n->emit, outs[i].arg, i);
    return ln_emit_end(&n->emit, outs->arg, first);
}

// Whether the node's input types match the form.
static int fits(ln_onnx_node *n, const ln_form *form)
{
    for (int i = 0; form->items[i].kind == LN_ITEM_IN; i++)
        if (form->items[i].is_wanted &&
            ln_onnx_tensor_of(n, ln_onnx_optional(n, i))->dtype != form->items[i].dtype)
            return 0;
    return 1;
}

// The newest form of `type` in the node's operator set, for the types of its inputs if there
// are several.
static const ln_form *find_form(ln_onnx_node *n, const char *type)
{
    const ln_form *found = NULL;
    for (const ln_form *form = forms; form->optype; form++) {
        const char *const colon = strchr(form->type, ':');
        if (form->since <= n->opset && ln_streq(colon ? colon + 1 : form->type, type) &&
            (!found || (form->since > found->since && fits(n, form))))
            found = form;
    }
    assert(found);
    return found;
}

const char *ln_onnx_emit_form(ln_onnx_node *n, const char *type, int first, const ln_part *own)
{
    enum { MAX_PARTS = 24 };
    const ln_form *const form = find_form(n, type);
    const ln_form_item *outs = NULL;
    ln_part parts[MAX_PARTS] = {{LN_PART_END}};
    int len = 0, i = 0;
    for (const ln_form_item *item = form->items; item->kind; item++) {
        const ln_part *const given = ln_form_find_part(own, item->arg);
        const int ndim = ln_onnx_tensor_of(n, parts->text)->ndim; // of the first input
        assert(len < MAX_PARTS - 1);
        if (item->kind == LN_ITEM_OUT)
            outs = outs ? outs : item;
        else if (given)
            parts[len++] = *given;
        else if (item->kind == LN_ITEM_IN)
            parts[len++] = read_input(n, item, i);
        else if (ln_form_is_input(item))
            parts[len++] = read_value(n, item, i, ndim);
        else
            parts[len++] = ln_form_read(&n->emit, item, ndim);
        i += ln_form_is_input(item);
    }
    ln_emit_begin_parts(&n->emit, form->optype, parts);
    for (; own && own->kind != LN_PART_END; own++)
        if (!ln_form_find_part(parts, own->name))
            ln_emit_set(&n->emit, *own);
    return emit_outputs(n, outs, first);
}

void ln_onnx_translate_form(ln_onnx_node *n)
{
    ln_onnx_emit_form(n, n->row->op_type, ln_onnx_wants(n, 0) ? 0 : LN_EMIT_TEMP, NULL);
}
