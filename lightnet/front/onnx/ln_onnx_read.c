// SPDX-License-Identifier: Apache-2.0
// Reading an ONNX model into a context.

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_error_memory.h"
#include "base/ln_protobuf.h"
#include "data/ln_onnx_lean.h"
#include "front/onnx/ln_onnx_model.h"
#include "front/ln_front.h"
#include "ir/ln_bind.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_limits.h"
#include "pass/ln_rewriting.h"
#include "tensorlight/tl_util.h"

// The newest version of the default operator set that is known.
enum { NEWEST_OPSET = 28 };

/* The file */

static int open_beneath(const ln_onnx_model *m, ln_infile *file, const char *location,
                        ln_error *err)
{
    char *folder = ln_strdup(m->base.file);
    if (!folder)
        return ln_error_memory(err);
    folder[ln_beneath_folder_len(folder)] = '\0';
    const ln_beneath folders = {folder, m->base.ctx->folders};
    const int status = ln_infile_open_beneath(file, &folders, location, err);
    ln_free(folder);
    return status;
}

// Some exporters write a file for each tensor: a process may not have them all open.
enum { MOST_OPEN = 16 };

static const ln_infile *open_external(void *owner, const char *location, ln_error *err)
{
    ln_onnx_model *m = owner;
    const ln_infile *known = ln_hash_find(m->opened, location);
    if (known)
        return known;
    ln_infile file;
    if (open_beneath(m, &file, location, err))
        return NULL;
    if (m->n_opened++ >= MOST_OPEN && ln_infile_park(&file, err)) {
        ln_infile_close(&file);
        return NULL;
    }
    known = ln_weights_keep(m->base.ctx->weights, &file);
    char *key = known ? ln_strdup(location) : NULL;
    if (!known)
        ln_infile_close(&file);
    if (!key || ln_hash_insert(m->opened, key, (void *)known) < 0) {
        ln_free(key);
        ln_error_memory(err);
        return NULL;
    }
    return known;
}

static void free_value(void *tensor)
{
    tl_tensor_free_data_too(tensor);
}

static void free_index(void *index)
{
    ln_hash_free(index);
}

static int create_tables(ln_onnx_model *m)
{
    m->varying = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    m->values = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_value);
    m->opened = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    m->constants = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    m->rolled = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    m->indexes = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, free_index);
    m->unfolded = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    m->sizes = ln_sizes_create(m->base.ctx);
    m->base.ctx->weights = ln_weights_create();
    return m->varying && m->values && m->opened && m->constants && m->rolled && m->indexes &&
                   m->unfolded && m->sizes && m->base.ctx->weights
               ? 0
               : ln_fail_memory(m->base.ctx);
}

static void free_model(ln_onnx_model *m)
{
    ln_hash_free(m->varying);
    ln_hash_free(m->values);
    ln_hash_free(m->opened);
    ln_hash_free(m->constants);
    ln_hash_free(m->rolled);
    ln_hash_free(m->functions);
    ln_hash_free(m->indexes);
    ln_hash_free(m->unfolded);
    ln_sizes_free(m->sizes);
    ln_limits_give(m->base.ctx, m->values_size);
    ln_translation_clear(&m->base);
}

/* A model that was parsed: its message without the weights, which stay where they are in the file.
 */
typedef struct parsed {
    ln_infile file;
    LnOnnx__Model *proto;
} parsed;

static void drop(void *data)
{
    parsed *p = data;
    if (!p)
        return;
    if (p->proto)
        ln_onnx__model__free_unpacked(p->proto, ln_onnx_allocator());
    ln_infile_close(&p->file);
    ln_free(p);
}

static int unpack(parsed *p, const ln_context *ctx, const char *name)
{
    size_t size;
    unsigned char *lean = ln_onnx_lean(LN_ONNX_MODEL, &p->file, &size, ctx->error);
    if (!lean)
        return ln_fail_at(ctx, "%s", name);
    const unsigned long failures = ln_alloc_failures();
    p->proto = ln_onnx__model__unpack(ln_onnx_allocator(), size, lean);
    ln_free(lean);
    if (!p->proto) {
        ln_onnx_unpack_fail(ctx->error, failures, "not a sound ONNX message");
        return ln_fail_at(ctx, "%s", name);
    }
    return p->proto->graph ? 0 : ln_fail(ctx, "%s: the model has no graph", name);
}

static void *parse(const ln_context *ctx, const char *name, ln_infile *file)
{
    parsed *p = ln_alloc(sizeof(*p));
    if (!p) {
        ln_error_memory_at(ctx->error, name);
        return NULL;
    }
    if (!ln_infile_share(file, &p->file, ctx->error)) {
        ln_infile_close(file); // any threads can share it from now on
        if (!unpack(p, ctx, name))
            return p;
    }
    drop(p);
    return NULL;
}

static int open_model(ln_onnx_model *m, const parsed *p)
{
    ln_infile file = p->file, copy;
    if (ln_infile_share(&file, &copy, m->base.ctx->error))
        return -1;
    const ln_infile *kept = ln_weights_keep(m->base.ctx->weights, &copy);
    if (!kept) {
        ln_infile_close(&copy);
        return ln_error_memory_at(m->base.ctx->error, m->base.file);
    }
    m->source = (ln_onnx_source){kept, open_external, m};
    m->proto = p->proto;
    return ln_onnx_index_functions(m);
}

/* Inputs */

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

// The names of the sizes that the model leaves open, whether they are bound or not.
static void note_sizes(ln_onnx_model *m, const LnOnnx__ValueInfo *value, const char *name)
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
            note_sizes(m, input, name);
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

// The names of the graph's initializers; NULL: no memory.
static ln_hash *initializer_names(const LnOnnx__Graph *graph)
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

// An initializer with the name of an input is its default, which stays unless the input is bound by
// its name.
static void add_inputs(ln_onnx_scope *scope)
{
    ln_onnx_model *m = scope->model;
    const LnOnnx__Graph *graph = m->proto->graph;
    ln_hash *defaults = initializer_names(graph);
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

/* Outputs */

// The output has the model's name and memory of its own: the computed tensor may be an input, a
// constant, or another output.
static void add_output(ln_onnx_scope *scope, const LnOnnx__ValueInfo *output)
{
    ln_onnx_model *m = scope->model;
    const char *name = name_of(output);
    char *names[] = {(char *)name};
    const LnOnnx__Node proto = {.op_type = "output", .output = names, .n_output = 1};
    ln_onnx_node n = ln_onnx_node_init(scope, &proto);
    const char *tensor = ln_onnx_scope_get(scope, name);
    if (!tensor) {
        ln_translation_fail(&m->base, "output '%s' is not produced by any node", name);
        return;
    }
    if (!ln_translation_can_output(&m->base, tensor, name))
        tensor = ln_emit_simple(&n.emit, "forward", tensor, 0);
    if (tensor)
        ln_translation_output(&m->base, tensor);
    if (!m->base.failed)
        note_sizes(m, output, tensor);
}

/* The whole */

static const LnOnnx__OperatorSet first_opset = {.domain = "", .has_version = 1, .version = 1};

static void choose_opsets(ln_onnx_scope *scope)
{
    static const LnOnnx__OperatorSet *const first[] = {&first_opset};
    const LnOnnx__Model *proto = scope->model->proto;
    scope->opsets =
        proto->n_opset_import ? (const LnOnnx__OperatorSet *const *)proto->opset_import : first;
    scope->n_opsets = proto->n_opset_import ? proto->n_opset_import : 1;
    const int opset = ln_onnx_scope_opset(scope, "");
    if (opset > NEWEST_OPSET)
        ln_warn(
            scope->model->base.ctx,
            "%s: operator set %d is newer than the newest supported one; reading the model as %d",
            scope->model->base.file, opset, NEWEST_OPSET);
}

static void translate(ln_onnx_model *m)
{
    ln_onnx_scope scope;
    if (ln_onnx_scope_init(&scope, m, NULL))
        return;
    choose_opsets(&scope);
    if (!m->base.failed)
        ln_onnx_check_count(m);
    if (!m->base.failed)
        ln_onnx_check_support(&scope);
    add_inputs(&scope);
    if (!m->base.failed)
        ln_onnx_translate_graph(&scope, m->proto->graph);
    for (size_t i = 0; i < m->proto->graph->n_output && !m->base.failed; i++)
        add_output(&scope, m->proto->graph->output[i]);
    ln_onnx_scope_clear(&scope);
}

static int build(ln_context *ctx, const char *name, const void *data)
{
    ln_onnx_model m = {.base = {.ctx = ctx, .file = name}};
    ctx->declared = LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS;
    int status = create_tables(&m) || open_model(&m, data) ? -1 : 0;
    if (!status) {
        translate(&m);
        status = m.base.failed || ln_context_index_names(ctx) || ln_cleanup_dead(ctx) < 0 ? -1 : 0;
        ln_bodies_prune(ctx);
    }
    free_model(&m);
    return status;
}

static int read_onnx(ln_context *ctx, const char *name, ln_infile *file)
{
    parsed *p = parse(ctx, name, file);
    const int status = p ? build(ctx, name, p) : -1;
    drop(p);
    return status;
}

/* The interface */

// Invalid inputs and outputs are left to `build`, which reports them.
static int add_port(ln_interface *interface, ln_port_kind kind, const LnOnnx__ValueInfo *value)
{
    const LnOnnx__TensorType *type = value->type ? value->type->tensor_type : NULL;
    const LnOnnx__Shape *shape = type ? type->shape : NULL;
    const int has_shape = shape && shape->n_dim <= LN_MAXDIM;
    ln_port *port = ln_interface_add(interface, kind, name_of(value),
                                     type ? ln_onnx_dtype(type->elem_type) : TL_DTYPE_INVALID,
                                     has_shape ? (int)shape->n_dim : LN_PORT_OPEN);
    for (size_t i = 0; port && has_shape && i < shape->n_dim; i++) {
        const LnOnnx__Dimension *d = shape->dim[i];
        const char *name = d->dim_param && *d->dim_param ? d->dim_param : NULL;
        const int is_fixed = d->has_dim_value && d->dim_value >= 0 && d->dim_value <= INT_MAX;
        if (ln_port_set_dim(port, (int)i, is_fixed ? (int)d->dim_value : LN_PORT_OPEN,
                            is_fixed ? NULL : name))
            return -1;
    }
    return port ? 0 : -1;
}

static int add_ports(ln_interface *interface, const LnOnnx__Graph *graph, const ln_hash *defaults)
{
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = name_of(graph->input[i]);
        const int has_default = ln_hash_find_extended(defaults, name, NULL, NULL);
        if (add_port(interface, has_default ? LN_PORT_DEFAULT : LN_PORT_INPUT, graph->input[i]))
            return -1;
    }
    for (size_t i = 0; i < graph->n_output; i++)
        if (add_port(interface, LN_PORT_OUTPUT, graph->output[i]))
            return -1;
    return 0;
}

// Fields that a file leaves out are empty.
static int add_field(ln_interface *interface, const char *key, const char *value)
{
    return value && *value ? ln_interface_add_metadata(interface, key, value) : 0;
}

static int describe(const ln_context *ctx, const char *name, const void *data,
                    ln_interface *interface)
{
    const LnOnnx__Model *proto = ((const parsed *)data)->proto;
    ln_hash *defaults = initializer_names(proto->graph);
    int status = !defaults || add_ports(interface, proto->graph, defaults) ||
                 add_field(interface, "producer", proto->producer_name) ||
                 add_field(interface, "graph", proto->graph->name);
    for (size_t i = 0; !status && i < proto->n_metadata_props; i++) {
        const LnOnnx__Entry *entry = proto->metadata_props[i];
        status = ln_interface_add_metadata(interface, ln_onnx_text(entry->key), entry->value);
    }
    ln_hash_free(defaults);
    return status ? ln_error_memory_at(ctx->error, name) : 0;
}

const ln_front ln_front_onnx = {
    .format = "ONNX",
    .is = ln_protobuf_is_onnx_model,
    .reads_parts = 1,
    .read = read_onnx,
    .parse = parse,
    .build = build,
    .describe = describe,
    .drop = drop,
};
