// SPDX-License-Identifier: Apache-2.0
// The graph of a model as diagrams draw it.

#include "draw/cli_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_body.h"
#include "lightnet/ln_optypes.h"
#include "output/cli_msg.h"

// Kinds

const char *cli_kind_id(int kind)
{
    return kind == CLI_PORT ? "port" : ln_kind_name((ln_kind)kind);
}

const char *cli_kind_name(ln_kind kind)
{
    static const char *const names[LN_N_KINDS] = {
        [LN_KIND_PRODUCT] = "matrix product",
        [LN_KIND_ATTENTION] = "attention, recurrence",
        [LN_KIND_NORMALIZATION] = "normalization, softmax",
        [LN_KIND_REDUCTION] = "pooling, reduction, resizing",
        [LN_KIND_ELEMENTWISE] = "element-wise",
        [LN_KIND_MOVEMENT] = "data movement",
    };
    return names[kind] ? names[kind] : ln_kind_name(kind);
}

// Labels

// Names for operators that compute no node, but move the tensors of one.
static const char *const own_names[][2] = {{"to_blocked", "layout change"},
                                           {"from_blocked", "layout change"},
                                           {LN_OP_CAST, "type change"}};

// Names for operators that compute many nodes, instead of all their types.
static const char *const whole_names[][2] = {
    {LN_OP_ATTENTION, "Attention"},      {LN_OP_LAYERNORM, "LayerNormalization"},
    {LN_OP_RMSNORM, "RMSNormalization"}, {LN_OP_GROUPNORM, "GroupNormalization"},
    {LN_OP_ROTATE, "RotaryEmbedding"},   {LN_OP_RECURRENT, "recurrent layer"},
    {"chain", "element-wise chain"}};

static const char *name_of(const char *optype, const char *const (*names)[2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(optype, names[i][0]))
            return names[i][1];
    return NULL;
}

#define NAME_OF(optype, names) name_of(optype, names, sizeof(names) / sizeof((names)[0]))

// Of an operator that computes no node; NULL for others, such as that of the node Cast.
static const char *own_name(const ln_op_arg *op)
{
    const int is_cast = ln_op_num_nodes(op) > 0 && strcasestr(ln_op_node(op, 0)->type, LN_OP_CAST);
    return ln_op_num_nodes(op) && !is_cast ? NAME_OF(op->optype, own_names) : NULL;
}

// Appends text, truncated to whole escaped or UTF-8 characters by those who print it.
static void append(char *label, const char *text)
{
    const size_t len = strlen(label);
    snprintf(label + len, CLI_BOX_LABEL - len, "%s", text);
}

// "Conv + BatchNormalization + Relu", or "LayerNormalization (9 nodes)". Of an operator with
// LN_MAX_ORIGINS nodes, the number is a lower bound.
static void write_label(cli_box *box)
{
    enum { MAX_TYPES = 3 };
    const ln_op_arg *const op = box->op->op_arg;
    const int n = ln_op_num_nodes(op);
    const char *const own = own_name(op);
    const char *const whole = n > MAX_TYPES ? NAME_OF(op->optype, whole_names) : NULL;
    const char *const bound = n == LN_MAX_ORIGINS ? "at least " : "";
    char text[48];
    *box->label = '\0';
    if (own) {
        append(box->label, own);
        return;
    }
    if (!n || whole)
        append(box->label, whole ? whole : op->optype);
    for (int i = 0; i < n && !whole && (i < MAX_TYPES || n == MAX_TYPES + 1); i++) {
        append(box->label, i ? " + " : "");
        append(box->label, ln_op_node(op, i)->type);
    }
    snprintf(text, sizeof(text), whole ? " (%s%d nodes)" : " + %s%d more", bound,
             whole ? n : n - MAX_TYPES);
    if (whole || n > MAX_TYPES + 1)
        append(box->label, text);
}

static const ln_context *outermost(const ln_context *ctx)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return ctx;
}

// Operators have the names of their bodies as parameters.
const ln_context *cli_graph_body(const ln_op *op, int i)
{
    const ln_hash *const names = outermost(op->op_arg->ctx)->body_names;
    LN_FOREACH (const ln_param_entry *, pe, names ? op->op_arg->params : NULL) {
        const char *const name = pe->type == LN_PARAM_STRING ? pe->value_string : NULL;
        const ln_context *const body = name ? ln_hash_find(names, name) : NULL;
        if (body && i-- == 0)
            return body;
    }
    return NULL;
}

const char *cli_box_name(const cli_box *box)
{
    if (box->what != CLI_BOX_OP)
        return box->te->name;
    const ln_model_node *const node = ln_op_node(box->op->op_arg, 0);
    return node && *node->name ? node->name : box->op->op_arg->name;
}

// The only node of the model that an operator computes, all or a part of it; NULL: there are
// others, or the label does not name it.
static const ln_model_node *only_node(const cli_box *box)
{
    const ln_op_arg *const op = box->op->op_arg;
    const int names_it = box->what == CLI_BOX_OP && ln_op_num_nodes(op) == 1 && !own_name(op);
    return names_it ? ln_op_node(op, 0) : NULL;
}

// Appends the type of the operator, without the target that ends it.
static void append_type(cli_box *box, const char *target)
{
    const char *const optype = box->op->op_arg->optype;
    const char *const end = target ? strstr(optype, target) : NULL;
    const size_t len = end > optype ? (size_t)(end - optype) - 1 : strlen(optype);
    const size_t at = strlen(box->label);
    snprintf(box->label + at, sizeof(box->label) - at, " (%.*s)", (int)len, optype);
}

// Distinguishes operators that compute parts of one node: "LSTM (take)".
static int label_parts(const cli_graph *g)
{
    cli_box *const end = g->boxes + g->folding.n;
    const size_t n_nodes = (size_t)outermost(g->ctx)->n_model_nodes;
    int *const counts = calloc(n_nodes + 1, sizeof(*counts)); // by number
    if (!counts)
        return -1;
    for (cli_box *box = g->boxes; box < end; box++)
        if (only_node(box))
            counts[only_node(box)->number]++;
    for (cli_box *box = g->boxes; box < end; box++)
        if (only_node(box) && counts[only_node(box)->number] > 1)
            append_type(box, g->ctx->target);
    free(counts);
    return 0;
}

// The graph

typedef struct builder {
    cli_graph *graph;
    ln_hash *boxes;  // name of a tensor -> the box of its data + 1; owns no name
    ln_hash *tokens; // signature of a box -> its token; owns the signatures
    int *tensors;    // [box]: the number of the last tensor that it produced + 1; 0: none
    int *seen;       // [box]: the last reader + 1
    int n_tensors;
} builder;

static const ln_tensor_entry *entry(const builder *b, const ln_tensor_list_entry *tle)
{
    return ln_entry_of(tle, b->graph->ctx->tensor_table);
}

static const ln_tensor_entry *first_output(const builder *b, const ln_op *op)
{
    return op->op_arg->tensors_out ? entry(b, op->op_arg->tensors_out->data) : NULL;
}

static int is_source(const ln_op *op)
{
    return !op->op_arg->tensors_in;
}

// Constants would be most of the diagram.
static int is_hidden(const builder *b, const ln_op *op)
{
    const ln_tensor_entry *const te = first_output(b, op);
    return op->op_arg->at_load || (te && te->isconst);
}

// The box of a tensor's data, or -1.
static int box_of(const builder *b, const char *tensor)
{
    return (int)(size_t)ln_hash_find(b->boxes, tensor) - 1;
}

static int set_box(const builder *b, const char *tensor, int box)
{
    return ln_hash_insert(b->boxes, tensor, (void *)(size_t)(box + 1)) < 0 ? -1 : 0;
}

static void append_tensor(char *text, const ln_tensor_entry *te)
{
    char shape[LN_MAX_SHAPE];
    const size_t len = strlen(text);
    snprintf(text + len, LN_MAXLINE - len, " %d%s", (int)te->tensor->dtype,
             ln_sprint_shape(shape, sizeof(shape), te->tensor->ndim, te->tensor->dims));
}

// Subgraphs are equal if they have the same operators.
static unsigned hash_of_body(const ln_context *body)
{
    unsigned hash = 1;
    LN_FOREACH (const ln_op *, op, body->ops) {
        hash = 31 * hash + (unsigned)ln_str_hash(op->op_arg->optype);
        hash =
            31 * hash + (op->op_arg->algorithm ? (unsigned)ln_str_hash(op->op_arg->algorithm) : 0);
    }
    return hash;
}

static void append_bodies(char *text, const ln_op *op)
{
    const ln_context *body = cli_graph_body(op, 0);
    for (int i = 0; body; body = cli_graph_body(op, ++i)) {
        const size_t len = strlen(text);
        snprintf(text + len, LN_MAXLINE - len, " %x", hash_of_body(body));
    }
}

// Boxes are equal if they compute the same with tensors of the same shapes.
static int token_of(const builder *b, const cli_box *box)
{
    char text[LN_MAXLINE];
    const ln_op_arg *const op = box->op->op_arg;
    snprintf(text, sizeof(text), "%d %.96s %.256s %.256s %.256s %.17g", (int)box->what, box->label,
             op->optype, op->algorithm ? op->algorithm : "", op->layout ? op->layout : "",
             op->macs);
    if (box->te)
        append_tensor(text, box->te);
    if (box->what == CLI_BOX_OP)
        append_bodies(text, box->op);
    LN_FOREACH (const ln_tensor_list_entry *, tle, box->what == CLI_BOX_OP ? op->tensors_in : NULL)
        append_tensor(text, entry(b, tle));
    const int known = (int)(size_t)ln_hash_find(b->tokens, text);
    if (known)
        return known;
    char *const key = ln_strdup(text);
    const int token = ln_hash_size(b->tokens) + 1;
    if (key && ln_hash_insert(b->tokens, key, (void *)(size_t)token) >= 0)
        return token;
    ln_free(key);
    return -1;
}

static int add_box(const builder *b, cli_box_what what, const ln_op *op, const ln_tensor_entry *te)
{
    cli_graph *const g = b->graph;
    cli_box *const box = &g->boxes[g->folding.n];
    *box = (cli_box){.what = what, .op = op, .te = te};
    box->kind = what == CLI_BOX_OP ? (int)ln_op_kind(op) : CLI_PORT;
    if (what == CLI_BOX_OP)
        write_label(box);
    else
        snprintf(box->label, sizeof(box->label), what == CLI_BOX_INPUT ? "input" : "output");
    const int token = token_of(b, box);
    g->tokens[g->folding.n++] = token;
    return token < 0 ? -1 : 0;
}

// Adds an edge to the last box, once for each box before it.
static void add_edge(builder *b, int from, const ln_tensor_entry *te)
{
    cli_graph *const g = b->graph;
    const int to = g->folding.n - 1;
    if (from < 0 || b->seen[from] == to + 1)
        return;
    b->seen[from] = to + 1;
    if (!b->tensors[from] || g->tensors[b->tensors[from] - 1] != te) {
        g->tensors[b->n_tensors] = te;
        b->tensors[from] = ++b->n_tensors;
    }
    g->edges[g->folding.n_edges++] = (cli_edge){from, to, b->tensors[from] - 1};
}

// Gives a source that is read for the first time its box.
static int add_source(const builder *b, const ln_tensor_entry *te)
{
    const ln_op *const op = ln_entry_creater(te);
    if (box_of(b, te->name) >= 0 || !op || !is_source(op) || is_hidden(b, op))
        return 0;
    return add_box(b, CLI_BOX_INPUT, op, te) || set_box(b, te->name, b->graph->folding.n - 1) ? -1
                                                                                              : 0;
}

static int add_sources(const builder *b, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (add_source(b, entry(b, tle)))
            return -1;
    return 0;
}

// The box whose data a compiled view shows; -1: it is no view, or of several tensors.
static int viewed_box(const builder *b, const ln_op *op)
{
    int box = -1;
    if (!b->graph->ctx->target || op->run)
        return -1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const int from = box_of(b, tle->name);
        if (from >= 0 && box >= 0 && from != box)
            return -1;
        box = from >= 0 ? from : box;
    }
    return box;
}

static int add_outputs(builder *b, const ln_op *op, int box)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (set_box(b, tle->name, box))
            return -1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const ln_tensor_entry *const te = entry(b, tle);
        if (!ln_entry_is_output(te))
            continue;
        if (add_box(b, CLI_BOX_OUTPUT, op, te))
            return -1;
        add_edge(b, box, te);
    }
    return 0;
}

static int add_op(builder *b, const ln_op *op)
{
    if (add_sources(b, op))
        return -1;
    const int viewed = viewed_box(b, op);
    if (viewed >= 0)
        return add_outputs(b, op, viewed);
    if (add_box(b, CLI_BOX_OP, op, first_output(b, op)))
        return -1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        add_edge(b, box_of(b, tle->name), entry(b, tle));
    return add_outputs(b, op, b->graph->folding.n - 1);
}

// Inputs that no operator reads, which may be outputs.
static int add_unread(builder *b)
{
    LN_FOREACH (const ln_op *, op, b->graph->ctx->ops) {
        const ln_tensor_entry *const te = first_output(b, op);
        const int is_output = te && ln_entry_is_output(te);
        if (!is_source(op) || is_hidden(b, op) || !te || (box_of(b, te->name) >= 0 && !is_output))
            continue;
        if (add_source(b, te) || (is_output && add_outputs(b, op, box_of(b, te->name))))
            return -1;
    }
    return 0;
}

// An operator has a box, and one for each source that it reads and each output.
static int allocate(builder *b)
{
    cli_graph *const g = b->graph;
    size_t n = 1, n_edges = 1;
    LN_FOREACH (const ln_op *, op, g->ctx->ops) {
        n += 2 + (size_t)ln_list_length(op->op_arg->tensors_out);
        n_edges += (size_t)ln_list_length(op->op_arg->tensors_in) +
                   (size_t)ln_list_length(op->op_arg->tensors_out);
    }
    g->boxes = calloc(n, sizeof(*g->boxes));
    g->tokens = calloc(n, sizeof(*g->tokens));
    g->edges = calloc(n_edges, sizeof(*g->edges));
    g->tensors = calloc(n_edges, sizeof(*g->tensors));
    b->tensors = calloc(n, sizeof(*b->tensors));
    b->seen = calloc(n, sizeof(*b->seen));
    b->boxes = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    b->tokens = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    return g->boxes && g->tokens && g->edges && g->tensors && b->tensors && b->seen && b->boxes &&
                   b->tokens
               ? 0
               : -1;
}

static int build(builder *b)
{
    if (allocate(b))
        return -1;
    LN_FOREACH (const ln_op *, op, b->graph->ctx->ops)
        if (!is_source(op) && !is_hidden(b, op) && add_op(b, op))
            return -1;
    if (add_unread(b) || label_parts(b->graph))
        return -1;
    b->graph->folding.tokens = b->graph->tokens;
    b->graph->folding.edges = b->graph->edges;
    return cli_fold(&b->graph->folding);
}

int cli_graph_create(cli_graph *graph, const ln_context *ctx)
{
    *graph = (cli_graph){.ctx = ctx};
    builder b = {.graph = graph};
    const int failed = build(&b);
    free(b.tensors);
    free(b.seen);
    ln_hash_free(b.boxes);
    ln_hash_free(b.tokens);
    return failed ? cli_fail_memory() : 0;
}

void cli_graph_free(cli_graph *graph)
{
    free(graph->boxes);
    free(graph->tokens);
    free(graph->edges);
    free(graph->tensors);
    free(graph->folding.groups);
}
