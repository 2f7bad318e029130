// SPDX-License-Identifier: Apache-2.0
// Inputs of an ONNX model: their types and shapes, with the shapes and values bound to them.

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_bind.h"
#include "ir/ln_fixed.h"
#include "ir/ln_limits.h"
#include "ir/ln_sizes.h"
#include "tensorlight/tl_util.h"

static const char *name_of(const LnOnnx__ValueInfo *value)
{
    return ln_onnx_text(value->name);
}

// The bounds of a size in all runs.
typedef struct bounds {
    int64_t min, max;
} bounds;

// Whether a size of that name, `len` characters, is bound: *b.
static int is_size_bound(const ln_onnx_model *m, const char *name, size_t len, bounds *b)
{
    char text[LN_MAX_NAME_LEN];
    if (!len || len >= sizeof(text))
        return 0;
    memcpy(text, name, len);
    text[len] = '\0';
    const tl_tensor *bound =
        ln_bind_has(m->base.ctx, text) ? ln_bind_find(m->base.ctx, text, 0) : NULL;
    const int *const min = bound ? ln_bind_min(m->base.ctx, text, 0) : NULL;
    if (!bound || bound->ndim != 1)
        return 0;
    *b = (bounds){min ? *min : bound->dims[0], bound->dims[0]};
    return 1;
}

// Whether all terms of a sum are numbers and bound sizes: *b.
static int is_sum_bound(const ln_onnx_model *m, const char *sum, bounds *b)
{
    const char *term;
    size_t len;
    *b = (bounds){0};
    for (int n = 0; ln_size_term(&sum, &term, &len); n++) {
        bounds part;
        if (n == LN_DIM_TERMS)
            return 0;
        if (ln_size_is_number(term, len, &part.max))
            part.min = part.max;
        else if (!is_size_bound(m, term, len, &part))
            return 0;
        b->min += part.min;
        b->max += part.max;
        if (b->max > INT_MAX)
            return 0;
    }
    return 1;
}

// The name of a dimension, or a sum of names, by which its size is bound: *b. NULL: it is not.
static const char *bound_dim(const ln_onnx_model *m, const LnOnnx__Dimension *d, bounds *b)
{
    const char *const name = d->has_dim_value || !d->dim_param ? "" : d->dim_param;
    const char *const sum = *name ? ln_bind_sum(m->base.ctx, name) : NULL;
    if (is_size_bound(m, name, strlen(name), b))
        return name;
    // Exporters name the size of a mask "past_sequence_length + 1".
    const char *const text = sum ? sum : strchr(name, '+') ? name : NULL;
    return text && is_sum_bound(m, text, b) ? text : NULL;
}

// The size of a dimension in the model, or bound to its name (the max of a range); -1: unknown.
static int64_t known_dim(const ln_onnx_model *m, const LnOnnx__Dimension *d)
{
    bounds b;
    return d->has_dim_value ? d->dim_value : bound_dim(m, d, &b) ? b.max : -1;
}

// The min size bound to the dimension's name, or `otherwise`.
static int min_dim(const ln_onnx_model *m, const LnOnnx__Dimension *d, int otherwise)
{
    bounds b;
    return bound_dim(m, d, &b) ? (int)b.min : otherwise;
}

// For messages: the dimension as in the model ("batch", "?", "3"), with its binding.
static size_t print_dim(const ln_onnx_model *m, const LnOnnx__Dimension *d, char *text, size_t size)
{
    const char *name = d->dim_param && *d->dim_param ? d->dim_param : "?";
    const int64_t known = known_dim(m, d), min = min_dim(m, d, (int)known);
    const int n = d->has_dim_value ? snprintf(text, size, "%" PRId64, d->dim_value)
                  : known < 0      ? snprintf(text, size, "%s", name)
                  : min < known
                      ? snprintf(text, size, "%s of %" PRId64 "..%" PRId64, name, min, known)
                      : snprintf(text, size, "%s of %" PRId64, name, known);
    return (size_t)n;
}

// For messages: [batch, 3, ?, width of 1..224].
static const char *shape_text(ln_onnx_model *m, const LnOnnx__Shape *shape)
{
    char text[LN_MAXLINE] = "[";
    size_t len = 1;
    for (size_t i = 0; i < shape->n_dim && len < sizeof(text); i++) {
        if (i)
            len += (size_t)snprintf(text + len, sizeof(text) - len, ", ");
        if (len < sizeof(text))
            len += print_dim(m, shape->dim[i], text + len, sizeof(text) - len);
    }
    return ln_onnx_text(ln_translation_print(&m->base, "%s]", text));
}

static int matches_shape(const ln_onnx_model *m, const LnOnnx__Shape *shape, const tl_tensor *bound)
{
    if ((size_t)bound->ndim != shape->n_dim)
        return 0;
    for (int i = 0; i < bound->ndim; i++) {
        // A model may have 0 for an unknown size; a size that is bound to 0 is 0.
        const int64_t dim = known_dim(m, shape->dim[i]);
        bounds b;
        if ((dim > 0 || (!dim && bound_dim(m, shape->dim[i], &b))) && dim != bound->dims[i])
            return 0;
    }
    return 1;
}

static int has_known_sizes(const ln_onnx_model *m, const LnOnnx__Shape *shape)
{
    for (size_t i = 0; i < shape->n_dim; i++)
        if (known_dim(m, shape->dim[i]) < 0)
            return 0;
    return 1;
}

// The binding of the input, if it fits the shape in the model. NULL for a value that does not: data
// is checked again when it is set, and matters only if an operator reads it.
static const tl_tensor *usable_binding(ln_onnx_model *m, const char *name,
                                       const LnOnnx__Shape *shape, const tl_tensor *bound,
                                       const int *min)
{
    char text[LN_MAX_SHAPE];
    if (!bound || !shape || matches_shape(m, shape, bound))
        return bound;
    if (!has_known_sizes(m, shape) || !bound->data)
        ln_translation_fail(&m->base, "input '%s' is given with shape %s, expected %s", name,
                            ln_bind_sprint(text, sizeof(text), bound->ndim, min, bound->dims),
                            shape_text(m, shape));
    return NULL;
}

// For messages: a shape for the input, 1x3x224x224, with 1 for unknown sizes.
static const char *example_shape(ln_onnx_model *m, const LnOnnx__Shape *shape)
{
    char text[LN_MAXLINE] = "";
    size_t len = 0;
    for (size_t i = 0; i < shape->n_dim && len < sizeof(text); i++) {
        const int64_t dim = known_dim(m, shape->dim[i]);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%" PRId64, i ? "x" : "",
                                dim < 0 ? 1 : dim);
    }
    return ln_onnx_text(ln_translation_print(&m->base, "%s", text));
}

static void read_dims(ln_onnx_model *m, const char *name, const LnOnnx__Shape *shape,
                      int dims[LN_MAXDIM])
{
    for (size_t i = 0; i < shape->n_dim; i++) {
        const int64_t dim = known_dim(m, shape->dim[i]);
        if (dim < 0 || dim > INT_MAX) {
            ln_translation_fail(
                &m->base,
                "input '%s' has shape %s, with sizes that are open; give them (--shape '%s=%s', "
                "option 'shape')",
                name, shape_text(m, shape), name, example_shape(m, shape));
            return;
        }
        dims[i] = (int)dim;
    }
}

// The input's record, without data; NULL after a failure. `*bound`: its binding, or NULL; becomes
// NULL if it does not fit.
static tl_tensor *input_record(ln_onnx_model *m, const LnOnnx__ValueInfo *input,
                               const tl_tensor **bound, const int *min)
{
    char buf[32];
    int dims[LN_MAXDIM] = {0};
    const LnOnnx__TensorType *type = input->type ? input->type->tensor_type : NULL;
    if (!type || ln_onnx_dtype(type->elem_type) == TL_DTYPE_INVALID) {
        ln_translation_fail_as(
            &m->base, LN_UNSUPPORTED,
            "input '%s' is %s, expected a tensor of a type that LightNet supports", name_of(input),
            type ? ln_onnx_dtype_name(type->elem_type, buf) : "not a tensor");
        return NULL;
    }
    if (type->shape && type->shape->n_dim > LN_MAXDIM)
        ln_translation_fail(&m->base, "input '%s' has %zu dimensions, expected at most %d",
                            name_of(input), type->shape->n_dim, LN_MAXDIM);
    *bound = m->base.failed ? NULL : usable_binding(m, name_of(input), type->shape, *bound, min);
    if (!m->base.failed && type->shape && !*bound)
        read_dims(m, name_of(input), type->shape, dims);
    else if (!m->base.failed && !*bound)
        ln_translation_fail(&m->base,
                            "input '%s' has no shape; give it (--shape '%s=1x3x224x224', option "
                            "'shape')",
                            name_of(input), name_of(input));
    if (m->base.failed)
        return NULL;
    tl_tensor *record =
        tl_tensor_create(NULL, *bound ? (*bound)->ndim : (int)type->shape->n_dim,
                         *bound ? (*bound)->dims : dims, ln_onnx_dtype(type->elem_type));
    if (!record)
        ln_translation_fail(&m->base, "input '%s': %s", name_of(input), tl_last_error());
    return record;
}

// Stores a bound value, which may determine shapes.
static void keep_bound_value(ln_onnx_model *m, const char *name, const tl_tensor *bound)
{
    tl_tensor *copy = tl_tensor_clone(bound);
    if (!copy || ln_weights_add(m->base.ctx->weights, name, copy, 1)) {
        tl_tensor_free_data_too(copy);
        ln_translation_fail_memory(&m->base);
    }
}

// The min shape of an input, of which `max` is the max. Returns whether they differ: sizes are then
// known only at run time.
static int find_min(const ln_onnx_model *m, const LnOnnx__ValueInfo *input, const int *bound,
                    const tl_tensor *max, int min[LN_MAXDIM])
{
    const LnOnnx__Shape *shape = input->type->tensor_type->shape;
    if (shape && has_known_sizes(m, shape))
        bound = NULL;
    int is_range = 0;
    for (int i = 0; i < max->ndim; i++) {
        min[i] = bound ? bound[i] : max->dims[i];
        if (shape)
            min[i] = min_dim(m, shape->dim[i], min[i]);
        is_range |= min[i] < max->dims[i];
    }
    return is_range;
}

// The names of sizes that are bound by their names, in `names`; those bound to the input itself
// have priority. NULL: none.
static const char *const *size_names(const ln_onnx_model *m, const LnOnnx__ValueInfo *input,
                                     int ndim, const char *names[LN_MAXDIM])
{
    const LnOnnx__Shape *const shape = input->type->tensor_type->shape;
    const char *const *const bound = ln_bind_sizes(m->base.ctx, name_of(input));
    bounds b;
    if (bound || !shape || shape->n_dim != (size_t)ndim)
        return bound;
    for (int i = 0; i < ndim; i++) {
        const char *const name = bound_dim(m, shape->dim[i], &b);
        names[i] = name ? name : "";
    }
    return names;
}

void ln_onnx_note_sizes(ln_onnx_model *m, const LnOnnx__ValueInfo *value, const char *name)
{
    static const char unnamed[] = "";
    const char *names[LN_MAXDIM];
    const LnOnnx__TensorType *type = value->type ? value->type->tensor_type : NULL;
    const LnOnnx__Shape *shape = type ? type->shape : NULL;
    const int ndim = ln_tensor_table_find(m->base.ctx->tensor_table, name)->tensor->ndim;
    for (int i = 0; i < ndim; i++) {
        const LnOnnx__Dimension *d = shape && (size_t)i < shape->n_dim ? shape->dim[i] : NULL;
        names[i] = !d ? unnamed : d->has_dim_value ? NULL : d->dim_param ? d->dim_param : unnamed;
    }
    if ((!shape || shape->n_dim == (size_t)ndim) &&
        ln_fixed_note_sizes(m->base.ctx->fixed, name, ndim, names))
        ln_translation_fail_memory(&m->base);
}

// Adds an input that is a tensor, bound to `bound`, or to shapes from `bound_min` to that. Returns
// its name; NULL after a failure.
static const char *add_tensor(ln_onnx_model *m, const LnOnnx__ValueInfo *input,
                              const tl_tensor *bound, const int *bound_min)
{
    tl_tensor *record = input_record(m, input, &bound, bound_min);
    const char *name = record ? ln_translation_name(&m->base, name_of(input)) : NULL;
    const char *tensor = NULL;
    if (name) {
        const int known = bound && bound->data && bound->dtype == record->dtype;
        ln_translation_input(&m->base, name);
        int min[LN_MAXDIM];
        const int is_range = !known && find_min(m, input, bound_min, record, min);
        const char *names[LN_MAXDIM];
        tensor = is_range ? ln_translation_placeholder(&m->base, name, record, min,
                                                       size_names(m, input, record->ndim, names))
                          : ln_translation_source(&m->base, name, record, 0);
        if (!m->base.failed && known)
            keep_bound_value(m, name, bound);
        if (!m->base.failed)
            ln_onnx_note_sizes(m, input, name);
        if (!m->base.failed)
            ln_onnx_set_variation(m, name, known ? LN_ONNX_BOUND : LN_ONNX_UNKNOWN);
    }
    tl_tensor_free(record);
    return m->base.failed ? NULL : tensor;
}

// Sequences and optional values: an input for each of their tensors

// An input that is not a tensor.
typedef struct compound {
    const char *name;
    ln_value_form form;
    const LnOnnx__TensorType *type; // of its tensors
    int len;                        // -1: it is absent
    const tl_tensor *const *items;  // bound tensors; NULL: by their own names
} compound;

// The name of tensor `i`.
static const char *item_name(ln_onnx_model *m, const compound *c, int i)
{
    return c->form == LN_FORM_OPTIONAL
               ? c->name
               : ln_onnx_text(
                     ln_translation_print(&m->base, "%.*s[%d]", ln_name_stem(c->name), c->name, i));
}

// How many tensors are bound by their own names.
static int count_named(ln_onnx_model *m, const compound *c)
{
    int n = 0;
    while (!m->base.failed && ln_bind_has(m->base.ctx, item_name(m, c, n)))
        n++;
    return n;
}

// The length of a sequence, bound as a shape of one dimension.
static int bound_len(ln_onnx_model *m, const compound *c, const tl_tensor *bound, const int *min)
{
    if (bound->data)
        ln_translation_fail(&m->base,
                            "input '%s' is a sequence, but a tensor is given; give a file of a "
                            "sequence, or its tensors as '%s[0]' and so on",
                            c->name, c->name);
    else if (bound->ndim != 1 || (min && min[0] != bound->dims[0]))
        ln_translation_fail(&m->base,
                            "input '%s' is a sequence; option 'shape' may give its length, as "
                            "'%s=2'",
                            c->name, c->name);
    return m->base.failed ? 0 : bound->dims[0];
}

static void find_len(ln_onnx_model *m, compound *c, int index)
{
    const ln_context *ctx = m->base.ctx;
    const tl_tensor *bound = ln_bind_find(ctx, c->name, index);
    const int is_optional = c->form != LN_FORM_SEQUENCE;
    if (ln_bind_find_list(ctx, c->name, index, &c->items, &c->len)) {
        // Files do not distinguish an absent value from an empty sequence.
        if (c->form == LN_FORM_OPTIONAL && !c->len)
            c->len = -1;
        return;
    }
    c->len = c->form == LN_FORM_OPTIONAL ? (bound ? 1 : -1)
             : bound                     ? bound_len(m, c, bound, ln_bind_min(ctx, c->name, index))
                                         : count_named(m, c);
    if (c->len || bound || m->base.failed)
        return;
    c->len = -1;
    if (!is_optional)
        ln_translation_fail(&m->base,
                            "input '%s' is a sequence of unknown length; give its tensors "
                            "(-i %s=FILE.pb, or -i '%s[0]=FILE' and so on), or its length "
                            "(--shape '%s=2', option 'shape')",
                            c->name, c->name, c->name, c->name);
}

static void check_len(ln_onnx_model *m, const compound *c)
{
    const uint64_t max = ln_limits_max(m->base.ctx, LN_LIMIT_OPS);
    if (c->form == LN_FORM_OPTIONAL && c->len > 1)
        ln_translation_fail(&m->base, "input '%s' is an optional tensor, but %d tensors are given",
                            c->name, c->len);
    if (c->form == LN_FORM_SEQUENCE && c->len < 0)
        ln_translation_fail(&m->base, "input '%s' is a sequence, but no value is given", c->name);
    if (max && c->len > 0 && (uint64_t)c->len > max)
        ln_translation_fail_as(&m->base, LN_LIMIT_REACHED,
                               "input '%s' has %d tensors, more than the limit of %" PRIu64
                               " operators",
                               c->name, c->len, max);
}

static const char **add_items(ln_onnx_model *m, const compound *c, int index)
{
    const int is_one = c->form == LN_FORM_OPTIONAL;
    LnOnnx__Type type = LN_ONNX__TYPE__INIT;
    LnOnnx__ValueInfo item = LN_ONNX__VALUE_INFO__INIT;
    const char **tensors =
        ln_translation_alloc(&m->base, ((size_t)(c->len < 0 ? 0 : c->len) + 1) * sizeof(*tensors));
    type.tensor_type = (LnOnnx__TensorType *)c->type;
    item.type = &type;
    for (int i = 0; i < c->len && !m->base.failed; i++) {
        item.name = (char *)item_name(m, c, i);
        const int at = is_one ? index : -1;
        const tl_tensor *bound = c->items ? c->items[i] : ln_bind_find(m->base.ctx, item.name, at);
        tensors[i] =
            add_tensor(m, &item, bound, c->items ? NULL : ln_bind_min(m->base.ctx, item.name, at));
    }
    return tensors;
}

static void add_compound(ln_onnx_scope *scope, compound *c, int index)
{
    ln_onnx_model *m = scope->model;
    char buf[32];
    const LnOnnx__Node proto = {.op_type = "input"};
    ln_onnx_node n = ln_onnx_node_init(scope, &proto);
    const tl_dtype dtype = c->type ? ln_onnx_dtype(c->type->elem_type) : TL_DTYPE_INVALID;
    if (dtype == TL_DTYPE_INVALID)
        ln_translation_fail_as(
            &m->base, LN_UNSUPPORTED,
            "input '%s' has elements that are %s, expected tensors of a type "
            "that LightNet supports",
            c->name, c->type ? ln_onnx_dtype_name(c->type->elem_type, buf) : "no tensors");
    const int first = ln_list_length(m->base.ctx->inputs);
    if (!m->base.failed)
        find_len(m, c, index);
    check_len(m, c);
    const char **tensors = m->base.failed ? NULL : add_items(m, c, index);
    if (m->base.failed)
        return;
    const char *value = c->len < 0 ? ln_onnx_optional_absent(&n, dtype, c->form != LN_FORM_OPTIONAL)
                        : c->form == LN_FORM_OPTIONAL
                            ? tensors[0]
                            : ln_onnx_sequence(&n, dtype, c->len, tensors);
    if (c->form != LN_FORM_SEQUENCE && c->len >= 0)
        value = ln_onnx_optional_of(&n, value);
    ln_onnx_scope_set(scope, c->name, value);
    ln_emit_begin(&n.emit, NULL); // drops the node
    if (!m->base.failed &&
        ln_fixed_note_value(m->base.ctx->fixed, 0, c->name, c->form, first, c->len))
        ln_translation_fail_memory(&m->base);
}

// The type, or NULL: a sequence of maps is a tensor here (ln_onnx_maps.c).
static const LnOnnx__SequenceType *sequence_of_no_maps(const LnOnnx__SequenceType *type)
{
    return type && type->elem_type && type->elem_type->has_map_type ? NULL : type;
}

ln_value_form ln_onnx_form_of(const LnOnnx__Type *type, const LnOnnx__TensorType **tensor)
{
    const LnOnnx__OptionalElement *element =
        type && type->optional_type ? type->optional_type->elem_type : NULL;
    const LnOnnx__SequenceType *sequence = sequence_of_no_maps(element ? element->sequence_type
                                                               : type  ? type->sequence_type
                                                                       : NULL);
    *tensor = sequence  ? sequence->elem_type ? sequence->elem_type->tensor_type : NULL
              : element ? element->tensor_type
              : type    ? type->tensor_type
                        : NULL;
    return !type || (!type->optional_type && !sequence) ? LN_FORM_TENSOR
           : !type->optional_type                       ? LN_FORM_SEQUENCE
           : sequence                                   ? LN_FORM_OPTIONAL_SEQUENCE
                                                        : LN_FORM_OPTIONAL;
}

static void add_input(ln_onnx_scope *scope, const LnOnnx__ValueInfo *input, int index)
{
    const ln_context *ctx = scope->model->base.ctx;
    compound c = {.name = name_of(input)};
    c.form = ln_onnx_form_of(input->type, &c.type);
    if (c.form != LN_FORM_TENSOR)
        add_compound(scope, &c, index);
    else
        ln_onnx_scope_set(scope, c.name,
                          add_tensor(scope->model, input, ln_bind_find(ctx, c.name, index),
                                     ln_bind_min(ctx, c.name, index)));
}

// Whether the input, or the first of its tensors, is bound by its name.
static int is_named(ln_onnx_model *m, const LnOnnx__ValueInfo *input)
{
    compound c = {.name = name_of(input)};
    c.form = ln_onnx_form_of(input->type, &c.type);
    return ln_bind_has(m->base.ctx, c.name) ||
           (c.form != LN_FORM_TENSOR && c.form != LN_FORM_OPTIONAL &&
            ln_bind_has(m->base.ctx, item_name(m, &c, 0)));
}

// A shape bound to an unknown name is reported before open sizes.
static void check_names(ln_onnx_model *m)
{
    const ln_context *ctx = m->base.ctx;
    const LnOnnx__Graph *graph = m->proto->graph;
    for (size_t i = 0; i < graph->n_input; i++) {
        compound c = {.name = name_of(graph->input[i])};
        c.form = ln_onnx_form_of(graph->input[i]->type, &c.type);
        const LnOnnx__TensorType *type = c.type;
        bounds b;
        ln_bind_has(ctx, c.name);
        if (c.form == LN_FORM_SEQUENCE || c.form == LN_FORM_OPTIONAL_SEQUENCE)
            count_named(m, &c);
        for (size_t k = 0; type && type->shape && k < type->shape->n_dim; k++)
            bound_dim(m, type->shape->dim[k], &b);
    }
    const char *unused = ln_bind_unused(ctx);
    if (unused)
        ln_translation_fail_as(&m->base, LN_NOT_FOUND,
                               "a shape is given for '%s', but the model has no input and no open "
                               "size of that name",
                               unused);
}

ln_hash *ln_onnx_initializer_names(const LnOnnx__Graph *graph)
{
    ln_hash *names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    for (size_t i = 0; names && i < graph->n_initializer; i++) {
        if (ln_hash_insert(names, ln_onnx_text(graph->initializer[i]->name), NULL) < 0) {
            ln_hash_free(names);
            names = NULL;
        }
    }
    return names;
}

void ln_onnx_add_inputs(ln_onnx_scope *scope)
{
    ln_onnx_model *m = scope->model;
    const LnOnnx__Graph *graph = m->proto->graph;
    ln_hash *defaults = ln_onnx_initializer_names(graph);
    int index = 0;
    if (!defaults)
        ln_translation_fail_memory(&m->base);
    check_names(m);
    for (size_t i = 0; i < graph->n_input && !m->base.failed; i++) {
        const char *name = name_of(graph->input[i]);
        const int named = is_named(m, graph->input[i]);
        if (!named && ln_hash_find_extended(defaults, name, NULL, NULL))
            continue;
        add_input(scope, graph->input[i], index);
        index += !named;
    }
    ln_hash_free(defaults);
}
