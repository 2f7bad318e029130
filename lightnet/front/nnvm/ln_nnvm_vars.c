// SPDX-License-Identifier: Apache-2.0
// Variables of a graph, and the rows of its operators.

#include "front/nnvm/ln_nnvm_vars.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_name.h"
#include "data/ln_params.h"
#include "front/ln_missing.h"
#include "ir/ln_bind.h"
#include "tensorlight/tl_util.h"

// Known operators that LightNet does not support, with the reason.

static const ln_nnvm_row unsupported[] = {
    {"_contrib_conv2d_NCHWc _contrib_conv2d_winograd_without_weight_transform "
     "_contrib_conv2d_winograd_weight_transform",
     LN_IN_CORE, NULL, "its weights are packed for one target"},
    {"_conv2d_grad _max_pool2d_grad _assign _max_mask _min_mask", LN_IN_CORE, NULL,
     "only for training"},
    {"yolo_region yolo2_region", LN_IN_CORE, NULL, "not supported yet"},
    {"ROIPooling _contrib_Proposal", LN_IN_MXNET, NULL, "not supported yet"},
    {"RNN", LN_IN_MXNET, NULL, "its weights are one packed vector"},
    {"Custom", LN_IN_MXNET, NULL, "a user-defined operator"},
    {"_foreach _while_loop _cond", LN_IN_MXNET, NULL, "subgraphs are not supported"},
    {NULL},
};

static const ln_nnvm_row *const translators[] = {
    ln_nnvm_rows_detect,
    ln_nnvm_rows_fill,
    ln_nnvm_rows_function,
    ln_nnvm_rows_pair,
    ln_nnvm_rows_part,
    ln_nnvm_rows_pick,
    ln_nnvm_rows_pool,
    ln_nnvm_rows_resize,
    ln_nnvm_rows_shape,
    ln_nnvm_rows_statistics,
    ln_nnvm_rows_weighted,
    unsupported,
    NULL,
};

static const ln_nnvm_row *const rewriters[] = {
    ln_nnvm_mxnet_rows_elementwise,
    ln_nnvm_mxnet_rows_layers,
    ln_nnvm_mxnet_rows_shape,
    NULL,
};

// The first row of that name in one of the dialects, or NULL.
static const ln_nnvm_row *find(const ln_nnvm_row *const *tables, const char *op, int dialects)
{
    for (; *tables; tables++)
        for (const ln_nnvm_row *row = *tables; row->op; row++)
            if ((row->dialects & dialects) && ln_has_word(row->op, op))
                return row;
    return NULL;
}

const ln_nnvm_row *ln_nnvm_find_rewriter(const char *op)
{
    return find(rewriters, op, LN_IN_MXNET);
}

const ln_nnvm_row *ln_nnvm_find_core_row(const char *op)
{
    return find(translators, op, LN_IN_CORE | LN_NNVM_ADDED);
}

// The row of an operator: with its translator, else (MXNet) with its rewriter. NULL: unknown.
static const ln_nnvm_row *find_row(const char *op, ln_nnvm_dialect dialect)
{
    if (dialect != LN_NNVM_MXNET)
        return find(translators, op, LN_IN_CORE);
    const ln_nnvm_row *row = find(translators, op, LN_IN_MXNET);
    return row ? row : ln_nnvm_find_rewriter(op);
}

static int is_mxnet_only(const char *op)
{
    return find_row(op, LN_NNVM_MXNET) && !find_row(op, LN_NNVM_CORE);
}

// Compiled graphs: the error lists their inputs and functions

// A text that lists items, and ends with the number of those omitted for lack of space.
typedef struct listing {
    char text[LN_MAXLINE / 3];
    size_t len, n_items, n_left_out;
} listing;

static void list_item(listing *l, const char *item)
{
    const size_t room = sizeof(l->text) - l->len, len = strlen(item);
    if (l->n_items++ && (l->n_left_out || len + sizeof(", ") + 32 > room))
        l->n_left_out++;
    else
        l->len +=
            (size_t)snprintf(l->text + l->len, room, "%s%s", l->n_items > 1 ? ", " : "", item);
}

static const char *end_listing(listing *l)
{
    if (l->n_left_out)
        snprintf(l->text + l->len, sizeof(l->text) - l->len, " and %zu more", l->n_left_out);
    return l->n_items ? l->text : "none";
}

// The type and the shape of output 0 of a node, as far as the graph has them.
static const char *describe_output(const ln_nnvm_graph *g, size_t i, char *buf, size_t size)
{
    char shape[LN_MAX_SHAPE] = "";
    int dims[LN_MAXDIM];
    const char *const dtype = json_string_value(ln_nnvm_graph_value(g, "dltype", i));
    const int ndim = ln_nnvm_graph_shape(g, i, dims);
    if (ndim >= 0)
        ln_sprint_shape(shape, sizeof(shape), ndim, dims);
    snprintf(buf, size, "%s%.32s%s%s", dtype ? " " : "", dtype ? dtype : "", *shape ? " " : "",
             shape);
    return buf;
}

static void reject_compiled(ln_nnvm_model *m)
{
    const ln_nnvm_graph *g = &m->graph;
    listing inputs = {.len = 0}, functions = {.len = 0};
    for (size_t i = 0; i < g->n_nodes; i++) {
        ln_nnvm_vertex *v = &g->nodes[i];
        const char *const func = ln_nnvm_graph_attr(v, "func_name");
        char item[512], output[LN_MAX_SHAPE + 64];
        describe_output(g, i, output, sizeof(output));
        if (v->is_variable)
            snprintf(item, sizeof(item), "\"%.128s\"%s", v->name, output);
        else
            snprintf(item, sizeof(item), "nodes[%zu] \"%.128s\" %.128s%s%s", i, v->name,
                     func ? func : v->op, *output ? " ->" : "", output);
        list_item(v->is_variable ? &inputs : &functions, item);
    }
    ln_translation_fail(&m->base,
                        "compiled graph (tvm_op), whose %zu operators live in a separate library, "
                        "so that it cannot be run. Variables: %s. Operators: %s",
                        functions.n_items, end_listing(&inputs), end_listing(&functions));
}

// Dialect, rows, needed nodes

static ln_nnvm_dialect dialect_of(const ln_nnvm_graph *g)
{
    int is_mxnet = g->version || g->is_oldest;
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (!strcmp(g->nodes[i].op, "tvm_op"))
            return LN_NNVM_COMPILED;
        is_mxnet |= is_mxnet_only(g->nodes[i].op);
    }
    return is_mxnet ? LN_NNVM_MXNET : LN_NNVM_CORE;
}

// Marks nodes that outputs need, except labels; is_unread_input finds further inputs to keep.
static void mark_live(ln_nnvm_graph *g)
{
    for (size_t i = 0; i < g->n_heads; i++)
        g->nodes[g->heads[i].node].is_live = 1;
    for (size_t i = g->n_nodes; i-- > 0;) {
        const ln_nnvm_vertex *v = &g->nodes[i];
        for (size_t k = 0; v->is_live && k < v->n_inputs; k++)
            if (!v->row || k > 31 || !(v->row->unread >> k & 1))
                g->nodes[v->inputs[k].node].is_live = 1;
        for (size_t k = 0; v->is_live && g->keeps_deps && k < v->n_deps; k++)
            g->nodes[v->deps[k]].is_live = 1;
    }
}

// Marks nodes that any node reads, also one that outputs do not need.
static void mark_read(ln_nnvm_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t k = 0; k < g->nodes[i].n_inputs; k++)
            g->nodes[g->nodes[i].inputs[k].node].is_read = 1;
}

// Names all operators that are not supported, each with its first node.
static void check_support(ln_nnvm_model *m)
{
    ln_missing missing = {.translation = &m->base, .shows_first = 1};
    for (size_t i = 0; i < m->graph.n_nodes; i++) {
        const ln_nnvm_vertex *v = &m->graph.nodes[i];
        char place[256];
        if (!(v->is_live && !v->is_variable &&
              (!v->row || (!v->row->translate && !v->row->rewrite))))
            continue;
        snprintf(place, sizeof(place), "nodes[%zu] \"%.128s\"", i, v->name);
        ln_missing_note(&missing, v->op,
                        &(ln_missing_op){.optype = v->op,
                                         .first = place,
                                         .reason = v->row ? v->row->with : NULL});
    }
    ln_missing_report(&missing, "operators that are not supported");
}

// A variable is a parameter if a node reads it as such, itself or through nodes that keep shapes.
static void mark_weights(ln_nnvm_model *m)
{
    ln_nnvm_graph *g = &m->graph;
    ln_nnvm_vertex **root = ln_translation_alloc(&m->base, (g->n_nodes + 1) * sizeof(*root));
    for (size_t i = 0; root && i < g->n_nodes; i++) {
        ln_nnvm_vertex *v = &g->nodes[i];
        root[i] = v->is_variable                                      ? v
                  : v->row && v->row->keeps_shape && v->n_inputs == 1 ? root[v->inputs[0].node]
                                                                      : NULL;
        for (size_t k = 0; v->row && v->is_live && k < v->n_inputs && k < 32; k++)
            if (root[v->inputs[k].node] && (v->row->weights >> k & 1))
                root[v->inputs[k].node]->is_weight = 1;
    }
}

void ln_nnvm_choose_rows(ln_nnvm_model *m)
{
    ln_nnvm_graph *g = &m->graph;
    g->dialect = dialect_of(g);
    if (g->dialect == LN_NNVM_COMPILED) {
        reject_compiled(m);
        return;
    }
    // Nodes of other dialects are rewritten: none may remain for a dependency to refer to.
    g->keeps_deps &= g->dialect == LN_NNVM_CORE;
    for (size_t i = 0; i < g->n_nodes; i++) {
        ln_nnvm_vertex *v = &g->nodes[i];
        v->is_mxnet = g->dialect == LN_NNVM_MXNET;
        v->row = v->is_variable ? NULL : find_row(v->op, g->dialect);
    }
    mark_live(g);
    check_support(m);
}

// Shapes of variables

// Parses a shape attribute. Returns the number of dimensions; -1: missing, or a length is unknown.
static int attr_shape(ln_nnvm_model *m, ln_nnvm_vertex *v, const char *key, int dims[LN_MAXDIM])
{
    int64_t given[LN_NNVM_MAX_TUPLE];
    const char *text = ln_nnvm_graph_attr(v, key);
    const int len = text && strcmp(text, "None") ? ln_nnvm_parse_tuple(text, given, NULL) : 0;
    if (len < 0 || len > LN_MAXDIM) {
        ln_nnvm_node n = ln_nnvm_node_init(m, v);
        ln_emit_fail(&n.emit, "attribute '%s' is \"%.200s\", expected a shape", key, text);
    }
    for (int i = 0; i < len && len <= LN_MAXDIM; i++) {
        if (given[i] < 1 || given[i] > INT_MAX)
            return -1;
        dims[i] = (int)given[i];
    }
    return len > 0 ? len : -1;
}

static int own_shape(ln_nnvm_model *m, ln_nnvm_vertex *v, int dims[LN_MAXDIM])
{
    int ndim = attr_shape(m, v, "shape", dims);
    if (ndim < 0)
        ndim = attr_shape(m, v, "__shape__", dims);
    return ndim < 0 ? ln_nnvm_graph_shape(&m->graph, v->at, dims) : ndim;
}

// Types of variables

enum { UNSET = -1 };

// The type of a code. From 7 on, codes in core's files before 2019 differ from later ones.
static tl_dtype dtype_of_code(const ln_nnvm_graph *g, int64_t code)
{
    const int64_t n = g->dialect == LN_NNVM_MXNET ? LN_PARAMS_NUM_CODES : LN_PARAMS_SURE_CODES;
    return code >= 0 && code < n ? ln_params_codes[code] : TL_DTYPE_INVALID;
}

// The type code in an attribute of the variable, or else of the graph; UNSET: none. An attribute
// with a name of a type sets `*name` instead.
static int64_t own_code(const ln_nnvm_graph *g, ln_nnvm_vertex *v, const char **name)
{
    const char *text = ln_nnvm_graph_attr(v, "dtype");
    int64_t code = UNSET;
    text = text ? text : ln_nnvm_graph_attr(v, "__dtype__");
    if (text && !strcmp(text, "None"))
        text = NULL;
    if (text && ln_nnvm_parse_int(text, &code))
        *name = text;
    const json_t *const given = ln_nnvm_graph_value(g, "dtype", v->at);
    return !*name && code == UNSET && json_is_integer(given) ? json_integer_value(given) : code;
}

// The type by name or by code; graph attribute dltype may name the type of an ambiguous code.
tl_dtype ln_nnvm_variable_dtype(ln_nnvm_model *m, ln_nnvm_vertex *v)
{
    const ln_nnvm_graph *const g = &m->graph;
    const char *name = NULL;
    const int64_t code = own_code(g, v, &name);
    tl_dtype dtype = name ? TL_DTYPE_INVALID : dtype_of_code(g, code);
    if (dtype == TL_DTYPE_INVALID && !name)
        name = json_string_value(ln_nnvm_graph_value(g, "dltype", v->at));
    if (dtype == TL_DTYPE_INVALID && name)
        dtype = ln_nnvm_parse_dtype(name);
    if (dtype == TL_DTYPE_INVALID && !name && code == UNSET)
        dtype = TL_FLOAT;
    if (dtype != TL_DTYPE_INVALID)
        return dtype;
    ln_nnvm_node n = ln_nnvm_node_init(m, v);
    if (name)
        ln_emit_fail(&n.emit, "unknown data type \"%.64s\", expected one such as float32", name);
    else
        ln_emit_fail(&n.emit,
                     "data type %" PRId64 " of variable \"%.256s\" has meant different types, or "
                     "none; set its name, such as int16, as attribute 'dtype', or in 'dltype' of "
                     "the graph",
                     code, v->name);
    return TL_FLOAT;
}

// The tensor bound to the variable, the `index`th that was not bound by name; NULL: none. NNVM has
// no open sizes.
static const tl_tensor *find_bound(ln_nnvm_model *m, const ln_nnvm_vertex *v, int index)
{
    char text[LN_MAX_SHAPE];
    const tl_tensor *bound = ln_bind_find(m->base.ctx, v->name, index);
    const int *min = bound ? ln_bind_min(m->base.ctx, v->name, index) : NULL;
    if (min && memcmp(min, bound->dims, (size_t)bound->ndim * sizeof(*min)))
        ln_translation_fail_as(&m->base, LN_UNSUPPORTED,
                               "input '%s' is given with shape %s, but NNVM models have no open "
                               "sizes; give one shape",
                               v->name,
                               ln_bind_sprint(text, sizeof(text), bound->ndim, min, bound->dims));
    return bound;
}

tl_tensor *ln_nnvm_variable_like(ln_nnvm_model *m, ln_nnvm_vertex *v)
{
    int own[LN_MAXDIM];
    const tl_tensor *bound = ln_bind_has(m->base.ctx, v->name) ? find_bound(m, v, 0) : NULL;
    const int ndim = bound ? bound->ndim : own_shape(m, v, own);
    return ndim < 0 || m->base.failed ? NULL
                                      : tl_tensor_create(NULL, ndim, bound ? bound->dims : own,
                                                         ln_nnvm_variable_dtype(m, v));
}

// Tensors of variables

static const char *add_source(ln_nnvm_model *m, const char *wanted, tl_dtype dtype, int ndim,
                              const int *dims, int is_param)
{
    const char *name = ln_translation_name(&m->base, wanted);
    tl_tensor *like = name ? tl_tensor_create(NULL, ndim, dims, dtype) : NULL;
    if (name && !like)
        ln_translation_fail(&m->base, "variable \"%.256s\": %s", wanted, tl_last_error());
    if (like && !is_param)
        ln_translation_input(&m->base, name);
    if (like)
        name = ln_translation_source(&m->base, name, like, is_param);
    tl_tensor_free(like);
    return m->base.failed ? NULL : name;
}

const char *ln_nnvm_add_param(ln_nnvm_model *m, const char *name, tl_dtype dtype, int ndim,
                              const int *dims)
{
    return add_source(m, name, dtype, ndim, dims, 1);
}

static void bind_tensor(ln_nnvm_model *m, ln_nnvm_vertex *v, const char *tensor)
{
    ln_nnvm_node n = ln_nnvm_node_init(m, v);
    ln_nnvm_alias(&n, 0, tensor);
}

void ln_nnvm_add_variable(ln_nnvm_model *m, ln_nnvm_vertex *v, int ndim, const int *dims)
{
    bind_tensor(m, v, add_source(m, v->name, ln_nnvm_variable_dtype(m, v), ndim, dims, 1));
}

static void add_known(ln_nnvm_model *m, ln_nnvm_vertex *v)
{
    int own[LN_MAXDIM];
    const int is_named = ln_bind_has(m->base.ctx, v->name);
    const tl_tensor *param = is_named ? NULL : ln_bind_param(m->base.ctx, v->name);
    const int is_param = !is_named && (param || v->is_weight);
    const tl_tensor *bound = is_param ? NULL : find_bound(m, v, m->n_unbound);
    m->n_unbound += !is_param && !is_named;
    const tl_tensor *like = param ? param : bound;
    const int ndim = like ? like->ndim : own_shape(m, v, own);
    if (ndim >= 0 && !m->base.failed)
        bind_tensor(m, v,
                    add_source(m, v->name, param ? param->dtype : ln_nnvm_variable_dtype(m, v),
                               ndim, like ? like->dims : own, is_param));
}

// An input of a core graph, of known shape, that no node reads. Other variables that outputs do not
// need, such as labels, are ignored.
static int is_unread_input(ln_nnvm_model *m, ln_nnvm_vertex *v)
{
    int dims[LN_MAXDIM];
    return m->graph.dialect == LN_NNVM_CORE && !v->is_read &&
           !ln_bind_param(m->base.ctx, v->name) && own_shape(m, v, dims) >= 0;
}

void ln_nnvm_add_known(ln_nnvm_model *m)
{
    mark_read(&m->graph);
    mark_live(&m->graph);
    mark_weights(m);
    for (size_t i = 0; i < m->graph.n_variables && !m->base.failed; i++)
        if (m->graph.variables[i]->is_live || is_unread_input(m, m->graph.variables[i]))
            add_known(m, m->graph.variables[i]);
}
