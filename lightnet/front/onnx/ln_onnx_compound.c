// SPDX-License-Identifier: Apache-2.0
// Values that are not tensors: sequences and optional values.

#include "front/onnx/ln_onnx_compound.h"

#include <string.h>

#include "front/onnx/ln_onnx_model.h"
#include "tensorlight/tl_type.h"

// The max elements of all sequences, counted in each copy: a small model may build many.
enum { MAX_ITEMS = 4 << 20 };

const ln_onnx_compound *ln_onnx_compound_of(const ln_onnx_model *m, const char *value)
{
    return ln_hash_find(m->compounds, value);
}

// Building

// Adds a copy of the compound. Returns its new name; NULL after a failure.
static const char *add_compound(ln_onnx_node *n, const ln_onnx_compound *c)
{
    ln_onnx_model *m = n->model;
    ln_onnx_compound *made = ln_translation_alloc(&m->base, sizeof(*made));
    const char *name = made ? ln_translation_print(&m->base, "%s", "(no tensor)") : NULL;
    if (!name)
        return NULL;
    *made = *c;
    if (ln_hash_insert(m->compounds, name, made) < 0)
        return ln_emit_fail_memory(&n->emit), NULL;
    return name;
}

// Sequences that grow in loops share a buffer: the first append to a sequence extends it in place,
// others copy it.
struct ln_onnx_buffer {
    int n_used, capacity; // items
};

// An empty sequence with a buffer for `capacity` items, which count against the limit. -1 after a
// failure.
static int init_sequence(ln_onnx_node *n, ln_onnx_compound *seq, tl_dtype dtype, int capacity)
{
    ln_onnx_model *m = n->model;
    *seq = (ln_onnx_compound){.dtype = dtype};
    m->n_items += (size_t)capacity;
    if (m->n_items > MAX_ITEMS)
        ln_emit_fail_as(&n->emit, LN_LIMIT_REACHED,
                        "the sequences of the model have more than %d elements", (int)MAX_ITEMS);
    seq->buffer = ln_translation_alloc(&m->base, sizeof(*seq->buffer));
    seq->items = ln_translation_alloc(&m->base, ((size_t)capacity + 1) * sizeof(char *));
    if (!seq->buffer || !seq->items)
        return -1;
    seq->buffer->capacity = capacity;
    return 0;
}

static void put(ln_onnx_compound *seq, int len, const char *const *items)
{
    if (len)
        memcpy(seq->items + seq->len, items, (size_t)len * sizeof(*items));
    seq->buffer->n_used = seq->len += len;
}

static void check_dtype(ln_onnx_node *n, tl_dtype dtype, const char *tensor)
{
    const tl_dtype own = ln_onnx_tensor_of(n, tensor)->dtype;
    if (own != dtype)
        ln_emit_fail(&n->emit, "a tensor of type %s in a sequence of %s", tl_dtype_name(own),
                     tl_dtype_name(dtype));
}

const char *ln_onnx_sequence(ln_onnx_node *n, tl_dtype dtype, int len, const char *const *items)
{
    ln_onnx_compound seq;
    for (int i = 0; i < len && !ln_onnx_failed(n); i++)
        check_dtype(n, dtype, items[i]);
    if (init_sequence(n, &seq, dtype, len))
        return NULL;
    put(&seq, len, items);
    return add_compound(n, &seq);
}

static const char *append(ln_onnx_node *n, const ln_onnx_compound *seq, const char *tensor)
{
    ln_onnx_compound longer = *seq;
    if (seq->buffer->n_used != seq->len || seq->buffer->capacity == seq->len) {
        if (init_sequence(n, &longer, seq->dtype, 2 * seq->len + 2))
            return NULL;
        put(&longer, seq->len, seq->items);
    }
    put(&longer, 1, &tensor);
    return add_compound(n, &longer);
}

const char *ln_onnx_sequence_with(ln_onnx_node *n, const ln_onnx_compound *seq, int position,
                                  int n_removed, const char *tensor)
{
    const int rest = position + n_removed;
    ln_onnx_compound made;
    if (tensor)
        check_dtype(n, seq->dtype, tensor);
    if (ln_onnx_failed(n))
        return NULL;
    if (tensor && position == seq->len)
        return append(n, seq, tensor);
    if (init_sequence(n, &made, seq->dtype, seq->len - n_removed + (tensor != NULL)))
        return NULL;
    put(&made, position, seq->items);
    put(&made, tensor != NULL, &tensor);
    put(&made, seq->len - rest, seq->items + rest);
    return add_compound(n, &made);
}

const char *ln_onnx_optional_of(ln_onnx_node *n, const char *element)
{
    const ln_onnx_compound *of = element ? ln_onnx_compound_of(n->model, element) : NULL;
    const char **items = ln_translation_alloc(&n->model->base, sizeof(*items));
    if (of && of->is_optional)
        ln_emit_fail(&n->emit, "an optional value of an optional value, expected a tensor or a "
                               "sequence");
    if (!items || ln_onnx_failed(n))
        return NULL;
    *items = element;
    return add_compound(n, &(ln_onnx_compound){
                               .is_optional = 1,
                               .dtype = of ? of->dtype : ln_onnx_tensor_of(n, element)->dtype,
                               .is_of_sequence = of != NULL,
                               .len = 1,
                               .items = items,
                           });
}

const char *ln_onnx_optional_absent(ln_onnx_node *n, tl_dtype dtype, int is_of_sequence)
{
    return add_compound(
        n, &(ln_onnx_compound){.is_optional = 1, .dtype = dtype, .is_of_sequence = is_of_sequence});
}

const char *ln_onnx_value_text(ln_onnx_model *m, const char *value)
{
    const ln_onnx_compound *c = ln_onnx_compound_of(m, value);
    const char *text = !c               ? "a tensor"
                       : c->is_optional ? c->len ? "an optional value" : "an absent optional value"
                                        : NULL;
    return ln_onnx_text(text ? text
                             : ln_translation_print(&m->base, "a sequence of %d tensor%s", c->len,
                                                    c->len == 1 ? "" : "s"));
}

// Inputs of nodes

const char *ln_onnx_any_optional(ln_onnx_node *n, int i)
{
    if (n->model->base.failed || !ln_onnx_has_input(n, i))
        return NULL;
    const char *value = ln_onnx_scope_get(n->scope, n->proto->input[i]);
    if (!value)
        ln_emit_fail_as(&n->emit, LN_BAD_MODEL,
                        "input %d, '%s', is not produced by any node before", i,
                        n->proto->input[i]);
    return value;
}

const char *ln_onnx_any_in(ln_onnx_node *n, int i)
{
    if (!ln_onnx_has_input(n, i))
        ln_emit_fail_as(&n->emit, LN_BAD_MODEL, "input %d is missing", i);
    return ln_onnx_any_optional(n, i);
}

const ln_onnx_compound *ln_onnx_sequence_in(ln_onnx_node *n, int i)
{
    const char *value = ln_onnx_any_in(n, i);
    const ln_onnx_compound *c = value ? ln_onnx_compound_of(n->model, value) : NULL;
    if (value && (!c || c->is_optional))
        ln_emit_fail(&n->emit, "input %d, '%s', is %s, expected a sequence", i, n->proto->input[i],
                     ln_onnx_value_text(n->model, value));
    return ln_onnx_failed(n) ? NULL : c;
}

void ln_onnx_want_tensor(ln_onnx_node *n, const char *what, const char *value)
{
    if (value && !ln_onnx_failed(n) && ln_onnx_compound_of(n->model, value))
        ln_emit_fail(&n->emit, "%s is %s, expected a tensor", what,
                     ln_onnx_value_text(n->model, value));
}

// The tensors of values. A sequence is at most one level below a value.

int ln_onnx_has_compound(const ln_onnx_model *m, int len, const char *const *values)
{
    for (int i = 0; i < len; i++)
        if (ln_onnx_compound_of(m, values[i]))
            return 1;
    return 0;
}

int ln_onnx_count_tensors(const ln_onnx_model *m, int len, const char *const *values)
{
    int sum = 0;
    for (int i = 0; i < len; i++) {
        const ln_onnx_compound *c = ln_onnx_compound_of(m, values[i]);
        sum += !c ? 1 : c->is_optional ? ln_onnx_count_tensors(m, c->len, c->items) : c->len;
    }
    return sum;
}

static void put_tensors(const ln_onnx_model *m, int len, const char *const *values,
                        const char ***next)
{
    for (int i = 0; i < len; i++) {
        const ln_onnx_compound *c = ln_onnx_compound_of(m, values[i]);
        if (c)
            put_tensors(m, c->len, c->items, next);
        else
            *(*next)++ = values[i];
    }
}

const char **ln_onnx_flatten(ln_onnx_node *n, int len, const char *const *values, int *n_tensors)
{
    *n_tensors = ln_onnx_failed(n) ? 0 : ln_onnx_count_tensors(n->model, len, values);
    const char **tensors =
        ln_translation_alloc(&n->model->base, ((size_t)*n_tensors + 1) * sizeof(*tensors));
    const char **next = tensors;
    if (tensors)
        put_tensors(n->model, len, values, &next);
    return tensors;
}

const char *ln_onnx_rebuild(ln_onnx_node *n, const char *value, const char *const **tensors)
{
    const ln_onnx_compound *c = ln_onnx_failed(n) ? NULL : ln_onnx_compound_of(n->model, value);
    if (ln_onnx_failed(n))
        return NULL;
    if (!c)
        return *(*tensors)++;
    if (c->is_optional)
        return c->len ? ln_onnx_optional_of(n, ln_onnx_rebuild(n, c->items[0], tensors)) : value;
    *tensors += c->len;
    return ln_onnx_sequence(n, c->dtype, c->len, *tensors - c->len);
}

int ln_onnx_is_alike(const ln_onnx_model *m, const char *one, const char *other)
{
    const ln_onnx_compound *a = ln_onnx_compound_of(m, one), *b = ln_onnx_compound_of(m, other);
    if (!a || !b)
        return !a && !b;
    if (a->is_optional != b->is_optional || a->len != b->len || a->dtype != b->dtype)
        return 0;
    return !a->is_optional || !a->len || ln_onnx_is_alike(m, a->items[0], b->items[0]);
}
