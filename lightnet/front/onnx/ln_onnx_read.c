// SPDX-License-Identifier: Apache-2.0
// Reading an ONNX model into a context.

#include <limits.h>

#include "base/ln_error_memory.h"
#include "base/ln_protobuf.h"
#include "data/ln_onnx_lean.h"
#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "front/ln_front.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "ir/ln_bind.h"
#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_limits.h"
#include "pass/ln_rewriting.h"

// The file

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

// Some exporters write a file for each tensor, more than a process may have open.
enum { MAX_OPEN = 16 };

static const ln_infile *open_external(void *owner, const char *location, ln_error *err)
{
    ln_onnx_model *m = owner;
    const ln_infile *known = ln_hash_find(m->opened, location);
    if (known)
        return known;
    ln_infile file;
    if (open_beneath(m, &file, location, err))
        return NULL;
    if (m->n_opened++ >= MAX_OPEN && ln_infile_park(&file, err)) {
        ln_infile_close(&file);
        return NULL;
    }
    known = ln_weights_keep(m->base.ctx->weights, &file);
    char *key = known ? ln_strdup(location) : NULL;
    if (!known)
        ln_infile_close(&file);
    if (!key || ln_hash_insert(m->opened, key, (void *)known) < 0) {
        ln_free(key);
        return ln_error_memory(err), NULL;
    }
    return known;
}

static void free_value(void *tensor)
{
    tl_tensor_free_data_too(tensor);
}

static int create_tables(ln_onnx_model *m)
{
    m->varying = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    m->values = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_value);
    m->opened = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    m->constants = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    m->long_loops = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    m->indexes = ln_onnx_create_indexes();
    m->unfolded = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    m->compounds = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    m->base.ctx->weights = ln_weights_create();
    return m->varying && m->values && m->opened && m->constants && m->long_loops && m->indexes &&
                   m->unfolded && m->compounds && m->base.ctx->weights
               ? 0
               : ln_fail_memory(m->base.ctx);
}

static void free_model(ln_onnx_model *m)
{
    ln_hash_free(m->varying);
    ln_hash_free(m->values);
    ln_hash_free(m->opened);
    ln_hash_free(m->constants);
    ln_hash_free(m->long_loops);
    ln_hash_free(m->functions);
    ln_hash_free(m->indexes);
    ln_hash_free(m->unfolded);
    ln_hash_free(m->compounds);
    ln_limits_give(m->base.ctx, m->values_size);
    ln_translation_clear(&m->base);
}

// A parsed model: its message without the weights, which stay in the file.
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
    p->proto = ln_onnx_unpack(&ln_onnx__model__descriptor, &p->file, "not a sound ONNX message",
                              ctx->error);
    if (!p->proto)
        return ln_fail_at(ctx, "%s", name);
    if (!p->proto->graph)
        return ln_fail(ctx, "%s: the model has no graph", name);
    return ln_onnx_replace_maps(p->proto->graph) ? ln_error_memory_at(ctx->error, name)
                                                 : ln_onnx_check(ctx, name, p->proto);
}

static void *parse(const ln_context *ctx, const char *name, ln_infile *file)
{
    parsed *p = ln_alloc(sizeof(*p));
    if (!p)
        return ln_error_memory_at(ctx->error, name), NULL;
    if (!ln_infile_share(file, &p->file, ctx->error)) {
        ln_infile_close(file); // `p->file` can be shared by threads from now on
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

// Outputs

static const char *name_of(const LnOnnx__ValueInfo *value)
{
    return ln_onnx_text(value->name);
}

// The output has the model's name and separate memory: the computed tensor may be an input, a
// constant, or another output.
static void add_tensor(ln_onnx_scope *scope, const LnOnnx__ValueInfo *output, const char *tensor)
{
    ln_onnx_model *m = scope->model;
    char *names[] = {(char *)name_of(output)};
    const LnOnnx__Node proto = {.op_type = "output", .output = names, .n_output = 1};
    ln_onnx_node n = ln_onnx_node_init(scope, &proto);
    if (!ln_translation_can_output(&m->base, tensor, names[0]))
        tensor = ln_emit_simple(&n.emit, LN_OP_FORWARD, tensor, 0);
    if (tensor)
        ln_translation_output(&m->base, tensor);
    if (!m->base.failed)
        ln_onnx_note_sizes(m, output, tensor);
    ln_emit_begin(&n.emit, NULL); // drops the node
}

// An output that is not a tensor.
typedef struct compound {
    const LnOnnx__ValueInfo *output;
    const LnOnnx__TensorType *type; // of its tensors in the file, or NULL
    ln_value_form form;
    const ln_onnx_compound *holder; // the sequence, or the optional tensor; NULL: it is absent
} compound;

static void add_items(ln_onnx_scope *scope, const compound *c)
{
    ln_onnx_model *m = scope->model;
    const char *name = name_of(c->output);
    LnOnnx__Type type = LN_ONNX__TYPE__INIT;
    LnOnnx__ValueInfo item = LN_ONNX__VALUE_INFO__INIT;
    type.tensor_type = (LnOnnx__TensorType *)c->type;
    item.type = &type;
    for (int i = 0; c->holder && i < c->holder->len && !m->base.failed; i++) {
        item.name = c->form == LN_FORM_OPTIONAL
                        ? (char *)name
                        : ln_translation_print(&m->base, "%.*s[%d]", ln_name_stem(name), name, i);
        if (item.name)
            add_tensor(scope, &item, c->holder->items[i]);
    }
}

static void add_compound(ln_onnx_scope *scope, compound *c, const ln_onnx_compound *value)
{
    ln_onnx_model *m = scope->model;
    const int first = ln_list_length(m->base.ctx->outputs);
    c->form = !value->is_optional     ? LN_FORM_SEQUENCE
              : value->is_of_sequence ? LN_FORM_OPTIONAL_SEQUENCE
                                      : LN_FORM_OPTIONAL;
    c->holder = value->is_optional && !value->len      ? NULL
                : c->form == LN_FORM_OPTIONAL_SEQUENCE ? ln_onnx_compound_of(m, value->items[0])
                                                       : value;
    add_items(scope, c);
    if (!m->base.failed && ln_fixed_note_value(m->base.ctx->fixed, 1, name_of(c->output), c->form,
                                               first, c->holder ? c->holder->len : -1))
        ln_translation_fail_memory(&m->base);
}

static void check_form(ln_onnx_model *m, const LnOnnx__ValueInfo *output, const char *value,
                       ln_value_form form)
{
    static const char *const texts[] = {"a tensor", "a sequence", "an optional value",
                                        "an optional sequence"};
    const ln_onnx_compound *c = ln_onnx_compound_of(m, value);
    const int is_optional = form == LN_FORM_OPTIONAL || form == LN_FORM_OPTIONAL_SEQUENCE;
    if ((form != LN_FORM_TENSOR) != (c != NULL) ||
        (c && (is_optional != c->is_optional ||
               (form == LN_FORM_OPTIONAL) != (is_optional && !c->is_of_sequence))))
        ln_translation_fail(&m->base, "output '%s' is %s, but %s in the model's interface",
                            name_of(output), ln_onnx_value_text(m, value), texts[form]);
}

static void add_output(ln_onnx_scope *scope, const LnOnnx__ValueInfo *output)
{
    ln_onnx_model *m = scope->model;
    const char *value = ln_onnx_scope_get(scope, name_of(output));
    compound c = {.output = output};
    if (!value) {
        ln_translation_fail(&m->base, "output '%s' is not produced by any node", name_of(output));
        return;
    }
    check_form(m, output, value, ln_onnx_form_of(output->type, &c.type));
    const ln_onnx_compound *made = m->base.failed ? NULL : ln_onnx_compound_of(m, value);
    if (made)
        add_compound(scope, &c, made);
    else if (!m->base.failed)
        add_tensor(scope, output, value);
}

// The whole

static void translate(ln_onnx_model *m)
{
    ln_onnx_scope scope;
    if (ln_onnx_scope_init(&scope, m, NULL))
        return;
    ln_onnx_choose_opsets(&scope);
    ln_onnx_add_inputs(&scope);
    if (!m->base.failed)
        ln_onnx_translate_graph(&scope, m->proto->graph);
    for (size_t i = 0; i < m->proto->graph->n_output && !m->base.failed; i++)
        add_output(&scope, m->proto->graph->output[i]);
    ln_onnx_scope_clear(&scope);
}

static int build(ln_context *ctx, const char *name, const void *data)
{
    ln_onnx_model m = {.base = {.ctx = ctx, .file = name},
                       .has_warned_of_duplicates = 1}; // `parse` has warned
    ctx->declared = LN_DECLARES_INPUTS | LN_DECLARES_OUTPUTS;
    int status = -(create_tables(&m) || open_model(&m, data));
    if (!status) {
        translate(&m);
        status = -(m.base.failed || ln_context_index_names(ctx) || ln_cleanup_dead(ctx) < 0);
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

// The interface

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

// The tensors of sequences and optional values are known only when the model is translated.
static int has_compounds(LnOnnx__ValueInfo *const *values, size_t n)
{
    const LnOnnx__TensorType *type;
    for (size_t i = 0; i < n; i++)
        if (ln_onnx_form_of(values[i]->type, &type) != LN_FORM_TENSOR)
            return 1;
    return 0;
}

// Fields of the file that describe the model, as metadata "onnx.FIELD"; those that it leaves out
// are empty.
static int add_fields(ln_interface *interface, const LnOnnx__Model *proto)
{
    char version[32] = "";
    if (proto->has_model_version)
        snprintf(version, sizeof(version), "%lld", (long long)proto->model_version);
    const char *const fields[][2] = {
        {"onnx.producer_name", proto->producer_name},
        {"onnx.domain", proto->domain},
        {"onnx.model_version", version},
        {"onnx.doc_string", proto->doc_string},
        {"onnx.graph.name", proto->graph->name},
        {"onnx.graph.doc_string", proto->graph->doc_string},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (fields[i][1] && *fields[i][1] &&
            ln_interface_add_metadata(interface, fields[i][0], fields[i][1]))
            return -1;
    return 0;
}

static int describe(const ln_context *ctx, const char *name, const void *data,
                    ln_interface *interface)
{
    const LnOnnx__Model *proto = ((const parsed *)data)->proto;
    const LnOnnx__Graph *graph = proto->graph;
    if (has_compounds(graph->input, graph->n_input) ||
        has_compounds(graph->output, graph->n_output))
        return 1;
    ln_hash *defaults = ln_onnx_initializer_names(proto->graph);
    int status =
        !defaults || add_ports(interface, proto->graph, defaults) || add_fields(interface, proto);
    for (size_t i = 0; !status && i < proto->n_metadata_props; i++) {
        const LnOnnx__Entry *entry = proto->metadata_props[i];
        status = ln_interface_add_metadata(interface, ln_onnx_text(entry->key), entry->value);
    }
    if (!status)
        status = ln_onnx_describe_maps(proto->graph, interface);
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
    .write = ln_onnx_write,
    .write_external = ln_onnx_write_external,
    .operator_at = ln_onnx_operator_at,
};
