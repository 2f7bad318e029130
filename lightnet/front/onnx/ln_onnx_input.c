// SPDX-License-Identifier: Apache-2.0
// Inputs of an ONNX model: their types and shapes, with what was bound to them before.

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_bind.h"
#include "ir/ln_fixed.h"
#include "tensorlight/tl_util.h"

static const char *name_of(const LnOnnx__ValueInfo *value)
{
    return ln_onnx_text(value->name);
}

// The size bound to the name of a dimension, or NULL.
static const tl_tensor *bound_dim(const ln_onnx_model *m, const LnOnnx__Dimension *d)
{
    const tl_tensor *bound =
        !d->has_dim_value && d->dim_param && *d->dim_param && ln_bind_has(m->base.ctx, d->dim_param)
            ? ln_bind_find(m->base.ctx, d->dim_param, 0)
            : NULL;
    return bound && bound->ndim == 1 ? bound : NULL;
}

// The size of a dimension in the model or bound to its name, of a range the max;
// -1: it is open.
static int64_t known_dim(const ln_onnx_model *m, const LnOnnx__Dimension *d)
{
    const tl_tensor *bound = bound_dim(m, d);
    return d->has_dim_value ? d->dim_value : bound ? bound->dims[0] : -1;
}

// The min size bound to the dimension's name, or `otherwise`.
static int least_dim(const ln_onnx_model *m, const LnOnnx__Dimension *d, int otherwise)
{
    const int *least = bound_dim(m, d) ? ln_bind_least(m->base.ctx, d->dim_param, 0) : NULL;
    return least ? *least : otherwise;
}

// As in the model, for messages: "batch", "?", "3"; and the binding of the name.
static size_t print_dim(const ln_onnx_model *m, const LnOnnx__Dimension *d, char *text, size_t size)
{
    const char *name = d->dim_param && *d->dim_param ? d->dim_param : "?";
    const int64_t known = known_dim(m, d), least = least_dim(m, d, (int)known);
    const int n = d->has_dim_value ? snprintf(text, size, "%" PRId64, d->dim_value)
                  : known < 0      ? snprintf(text, size, "%s", name)
                  : least < known
                      ? snprintf(text, size, "%s of %" PRId64 "..%" PRId64, name, least, known)
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

static int agrees(const ln_onnx_model *m, const LnOnnx__Shape *shape, const tl_tensor *bound)
{
    if ((size_t)bound->ndim != shape->n_dim)
        return 0;
    for (int i = 0; i < bound->ndim; i++) {
        const int64_t dim = known_dim(m, shape->dim[i]);
        if (dim > 0 && dim != bound->dims[i])
            return 0;
    }
    return 1;
}

static int is_closed(const ln_onnx_model *m, const LnOnnx__Shape *shape)
{
    for (size_t i = 0; i < shape->n_dim; i++)
        if (known_dim(m, shape->dim[i]) < 0)
            return 0;
    return 1;
}

// The bound tensor of the input, if it fits the model. If a bound value does not fit the shape in
// the model, NULL: data that is set later is checked then, and matters only if an operator reads
// it.
static const tl_tensor *usable(ln_onnx_model *m, const char *name, const LnOnnx__Shape *shape,
                               const tl_tensor *bound, const int *least)
{
    char text[LN_MAX_SHAPE];
    if (!bound || !shape || agrees(m, shape, bound))
        return bound;
    if (!is_closed(m, shape) || !bound->data)
        ln_translation_fail(&m->base, "input '%s' is given with shape %s, expected %s", name,
                            ln_bind_sprint(text, sizeof(text), bound->ndim, least, bound->dims),
                            shape_text(m, shape));
    return NULL;
}

// A shape for the input: 1x3x224x224, with 1 for open sizes.
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

static void own_dims(ln_onnx_model *m, const char *name, const LnOnnx__Shape *shape,
                     int dims[LN_MAXDIM])
{
    for (size_t i = 0; i < shape->n_dim; i++) {
        const int64_t dim = known_dim(m, shape->dim[i]);
        if (dim < 0 || dim > INT_MAX) {
            ln_translation_fail(
                &m->base,
                "input '%s' has shape %s, with sizes that are open; give them by option "
                "'shape', as '%s=%s'",
                name, shape_text(m, shape), name, example_shape(m, shape));
            return;
        }
        dims[i] = (int)dim;
    }
}

// The input's record, without data; NULL after a failure. `*bound`: its binding, or NULL;
// NULL then if it cannot be so.
static tl_tensor *input_record(ln_onnx_model *m, const LnOnnx__ValueInfo *input,
                               const tl_tensor **bound, const int *least)
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
    *bound = m->base.failed ? NULL : usable(m, name_of(input), type->shape, *bound, least);
    if (!m->base.failed && type->shape && !*bound)
        own_dims(m, name_of(input), type->shape, dims);
    else if (!m->base.failed && !*bound)
        ln_translation_fail(&m->base,
                            "input '%s' has no shape; give it by option 'shape', as "
                            "'%s=1x3x224x224'",
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

// A value that was given may decide shapes.
static void keep_bound_value(ln_onnx_model *m, const char *name, const tl_tensor *bound)
{
    tl_tensor *copy = tl_tensor_clone(bound);
    if (!copy || ln_weights_add(m->base.ctx->weights, name, copy, 1)) {
        tl_tensor_free_data_too(copy);
        ln_translation_fail_memory(&m->base);
    }
}

// The smallest shape of an input, of which `most` is the largest. Returns whether they differ: then
// the sizes are known in each run, else now.
static int find_least(const ln_onnx_model *m, const LnOnnx__ValueInfo *input, int index,
                      const tl_tensor *most, int least[LN_MAXDIM])
{
    const LnOnnx__Shape *shape = input->type->tensor_type->shape;
    const int *bound =
        shape && is_closed(m, shape) ? NULL : ln_bind_least(m->base.ctx, name_of(input), index);
    int is_range = 0;
    for (int i = 0; i < most->ndim; i++) {
        least[i] = bound ? bound[i] : most->dims[i];
        if (shape)
            least[i] = least_dim(m, shape->dim[i], least[i]);
        is_range |= least[i] < most->dims[i];
    }
    return is_range;
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

static void add_input(ln_onnx_scope *scope, const LnOnnx__ValueInfo *input, int index)
{
    ln_onnx_model *m = scope->model;
    const tl_tensor *bound = ln_bind_find(m->base.ctx, name_of(input), index);
    tl_tensor *record =
        input_record(m, input, &bound, ln_bind_least(m->base.ctx, name_of(input), index));
    const char *name = record ? ln_translation_name(&m->base, name_of(input)) : NULL;
    if (name) {
        const int known = bound && bound->data && bound->dtype == record->dtype;
        ln_translation_input(&m->base, name);
        int least[LN_MAXDIM];
        const int is_range = !known && find_least(m, input, index, record, least);
        ln_onnx_scope_set(scope, name_of(input),
                          is_range ? ln_translation_placeholder(&m->base, name, record, least)
                                   : ln_translation_source(&m->base, name, record, 0));
        if (!m->base.failed && known)
            keep_bound_value(m, name, bound);
        if (!m->base.failed && is_range &&
            ln_sizes_note(m->sizes, ln_context_creater(m->base.ctx, name), NULL, NULL))
            ln_translation_fail_memory(&m->base);
        if (!m->base.failed)
            ln_onnx_note_sizes(m, input, name);
        if (!m->base.failed)
            ln_onnx_set_variation(m, name, known ? LN_ONNX_BOUND : LN_ONNX_UNKNOWN);
    }
    tl_tensor_free(record);
}

// A shape bound to an unknown name is reported before open sizes.
static void check_names(ln_onnx_model *m)
{
    const ln_context *ctx = m->base.ctx;
    const LnOnnx__Graph *graph = m->proto->graph;
    for (size_t i = 0; i < graph->n_input; i++) {
        const LnOnnx__ValueInfo *input = graph->input[i];
        const LnOnnx__TensorType *type = input->type ? input->type->tensor_type : NULL;
        ln_bind_has(ctx, name_of(input));
        for (size_t k = 0; type && type->shape && k < type->shape->n_dim; k++)
            bound_dim(m, type->shape->dim[k]);
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
        const int named = ln_bind_has(m->base.ctx, name);
        if (!named && ln_hash_find_extended(defaults, name, NULL, NULL))
            continue;
        add_input(scope, graph->input[i], index);
        index += !named;
    }
    ln_hash_free(defaults);
}
