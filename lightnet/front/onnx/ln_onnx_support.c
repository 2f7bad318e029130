// SPDX-License-Identifier: Apache-2.0
// Rows of operators; and checks of a model before it is translated: unknown operators in its
// graph, subgraphs and functions, nodes that differ from the schemas of their operators, and the
// number of nodes that it unfolds to.

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "front/ln_missing.h"
#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx_schema.h"
#include "ir/ln_limits.h"
#include "lightnet/ln_hash.h"

/* Operators that LightNet does not run, each with the reason. */

static const char training[] = "it trains a model; export the model for inference";

static const ln_onnx_row of_training[] = {
    {"Adagrad", 1, NULL, training},  {"Adam", 1, NULL, training},
    {"Gradient", 1, NULL, training}, {"GraphCall", 1, NULL, training},
    {"Momentum", 1, NULL, training}, {NULL},
};

// clang-format off
static const ln_onnx_row *const default_tables[] = {
    ln_onnx_rows_attention,
    ln_onnx_rows_branch,
    ln_onnx_rows_control,
    ln_onnx_rows_conv,
    ln_onnx_rows_dropped,
    ln_onnx_rows_einsum,
    ln_onnx_rows_elementwise,
    ln_onnx_rows_image,
    ln_onnx_rows_index,
    ln_onnx_rows_matmul,
    ln_onnx_rows_norm,
    ln_onnx_rows_optional,
    ln_onnx_rows_pool,
    ln_onnx_rows_quantize,
    ln_onnx_rows_random,
    ln_onnx_rows_recurrent,
    ln_onnx_rows_reduce,
    ln_onnx_rows_resize,
    ln_onnx_rows_sample,
    ln_onnx_rows_sequence,
    ln_onnx_rows_shape,
    ln_onnx_rows_signal,
    ln_onnx_rows_state,
    ln_onnx_rows_strings,
    ln_onnx_rows_unary,
};

static const ln_onnx_row *const preview_tables[] = {
    ln_onnx_rows_preview,
};

static const ln_onnx_row *const training_tables[] = {
    of_training,
};

static const ln_onnx_row *const contrib_tables[] = {
    ln_onnx_rows_contrib_absent,
    ln_onnx_rows_contrib_algebra,
    ln_onnx_rows_contrib_attention,
    ln_onnx_rows_contrib_experts,
    ln_onnx_rows_contrib_fused,
    ln_onnx_rows_contrib_grouped,
    ln_onnx_rows_contrib_nbits,
    ln_onnx_rows_contrib_norm,
    ln_onnx_rows_contrib_quantize,
    ln_onnx_rows_contrib_recurrent,
};

static const ln_onnx_row *const ml_tables[] = {
    ln_onnx_rows_labels,
    ln_onnx_rows_ml_features,
    ln_onnx_rows_ml_linear,
    ln_onnx_rows_ml_map,
    ln_onnx_rows_ml_svm,
    ln_onnx_rows_ml_trees,
};
// clang-format on

/** The newest row for an opset, in a table; `found` is the best one of others. */
static const ln_onnx_row *find_in(const ln_onnx_row *row, const char *op_type, int opset,
                                  const ln_onnx_row *found)
{
    for (; row->op_type; row++)
        if (row->op_type[0] == op_type[0] && row->since <= opset &&
            (!found || row->since > found->since) && ln_streq(row->op_type, op_type))
            found = row;
    return found;
}

/* The tables of a domain. */
typedef struct domain_rows {
    const char *domain;
    int newest; /* of its operator sets */
    const ln_onnx_schema *schemas; /* of all operators that are supported; NULL: none is */
    const ln_onnx_row *const *tables;
    size_t n;
} domain_rows;

#define LEN(array)     (sizeof(array) / sizeof((array)[0]))
#define TABLES(tables) tables, LEN(tables)

static const domain_rows domains[] = {
    {"", 28, ln_onnx_schemas, TABLES(default_tables)},
    {"ai.onnx.preview", 1, ln_onnx_schemas_preview, TABLES(preview_tables)},
    {"ai.onnx.preview.training", 1, NULL, TABLES(training_tables)},
    {"ai.onnx.training", 1, NULL, TABLES(training_tables)},
    {"ai.onnx.ml", 5, ln_onnx_schemas_ml, TABLES(ml_tables)},
    {"com.microsoft", 1, ln_onnx_schemas_contrib, TABLES(contrib_tables)},
};

/** NULL: the domain is unknown. */
static const domain_rows *find_domain(const char *domain)
{
    if (ln_onnx_is_default_domain(domain))
        return &domains[0];
    for (size_t i = 1; i < LEN(domains); i++)
        if (ln_streq(domain, domains[i].domain))
            return &domains[i];
    return NULL;
}

int ln_onnx_newest_opset(const char *domain)
{
    const domain_rows *const rows = find_domain(domain);
    return rows ? rows->newest : 0;
}

void ln_onnx_each_row(void (*func)(void *data, const char *domain, const ln_onnx_row *row),
                      void *data)
{
    for (size_t i = 0; i < LEN(domains); i++)
        for (size_t k = 0; k < domains[i].n; k++)
            for (const ln_onnx_row *row = domains[i].tables[k]; row->op_type; row++)
                func(data, domains[i].domain, row);
}

const ln_onnx_row *ln_onnx_find_row(const char *domain, const char *op_type, int opset)
{
    const domain_rows *const rows = find_domain(domain);
    const ln_onnx_row *found = NULL;
    for (size_t i = 0; rows && i < rows->n; i++)
        found = find_in(rows->tables[i], op_type ? op_type : "", opset, found);
    return found;
}

const ln_onnx_schema *ln_onnx_find_schema(const char *domain, const char *op_type)
{
    const domain_rows *const rows = find_domain(domain);
    const ln_onnx_schema *schema = rows ? rows->schemas : NULL;
    while (schema && schema->op_type && strcmp(schema->op_type, ln_onnx_text(op_type)) < 0)
        schema++;
    return schema && ln_streq(schema->op_type, ln_onnx_text(op_type)) ? schema : NULL;
}

/* ---- reasons ---- */

/** Why there are no operators of this domain, and how to export a model without them. */
static const char *why_not_domain(const char *domain)
{
    static const char by_optimizer[] =
        "unsupported domain: ONNX Runtime's optimizer wrote it for one machine; save the model "
        "before, or with ORT_ENABLE_BASIC";
    static const struct {
        const char *domain, *why;
    } known[] = {
        {"ai.onnx.contrib",
         "unsupported domain: of onnxruntime-extensions; export without pre- and postprocessing"},
        {"com.microsoft.experimental", by_optimizer},
        {"com.microsoft.nchwc", by_optimizer},
        {"com.ms.internal.nhwc", by_optimizer},
        {"mmdeploy", "unsupported domain: of MMDeploy; deploy with plain ONNX, without custom ops"},
        {"org.pytorch.aten",
         "unsupported domain: PyTorch's own; export with operator_export_type ONNX"},
        {"pkg.onnxscript.torch_lib",
         "unsupported domain: functions that the file lacks; save the model with them"},
        {"trt.plugins", "unsupported domain: of TensorRT; export without its plug-ins"},
    };
    for (size_t i = 0; i < LEN(known); i++)
        if (ln_streq(known[i].domain, domain))
            return known[i].why;
    return "unsupported domain: export with standard operators only";
}

/** Why no row was found, or one without a translator; NULL: the operator is unknown. */
static const char *why_missing(ln_translation *t, const LnOnnx__Node *node, const ln_onnx_row *row,
                               int opset)
{
    if (!find_domain(node->domain))
        return why_not_domain(node->domain);
    if (row)
        return row->with;
    const ln_onnx_row *const later = ln_onnx_find_row(node->domain, node->op_type, INT_MAX);
    return later && later->translate
               ? ln_translation_print(t, "not in operator set %d; export with a newer one", opset)
               : NULL;
}

/* ---- before translation ---- */

typedef struct survey survey;

/* A look at a node, of an operator or of a function of the model. */
typedef void (*look_func)(survey *s, const ln_onnx_scope *scope, const LnOnnx__Node *node,
                          const LnOnnx__Function *f);

struct survey {
    ln_onnx_model *model;
    look_func look;
    ln_missing missing;
    ln_onnx_leftovers leftovers;
    ln_hash *looked; /* functions that were looked at */
    int depth;
};

static void note(survey *s, const LnOnnx__Node *node, const ln_onnx_row *row, int opset)
{
    char name[256];
    const int is_default = ln_onnx_is_default_domain(node->domain);
    const ln_missing_op op = {.domain = is_default ? "" : node->domain,
                              .optype = ln_onnx_text(node->op_type),
                              .version = opset,
                              .first = ln_onnx_text(node->name),
                              .reason = why_missing(&s->model->base, node, row, opset)};
    snprintf(name, sizeof(name), "%.120s%s%.120s", op.domain, is_default ? "" : ".", op.optype);
    ln_missing_note(&s->missing, name, &op);
}

static void note_missing(survey *s, const ln_onnx_scope *scope, const LnOnnx__Node *node,
                         const LnOnnx__Function *f)
{
    const int opset = ln_onnx_scope_opset(scope, node->domain);
    const ln_onnx_row *const row = ln_onnx_find_row(node->domain, node->op_type, opset);
    if (!f && (!row || !row->translate))
        note(s, node, row, opset);
}

static void check_schema(survey *s, const ln_onnx_scope *scope, const LnOnnx__Node *node,
                         const LnOnnx__Function *f)
{
    ln_onnx_scope names = *scope; // not changed
    ln_onnx_node n = ln_onnx_node_init(&names, node);
    n.opset = ln_onnx_scope_opset(scope, node->domain);
    ln_onnx_check_node(&n, f, &s->leftovers);
}

static void look_at_nodes(survey *s, const ln_onnx_scope *scope, LnOnnx__Node *const *nodes,
                          size_t n);

static void look_at_function(survey *s, const LnOnnx__Function *f)
{
    const int is_new = ln_hash_insert(s->looked, f, NULL);
    if (is_new < 0)
        ln_translation_fail_memory(&s->model->base);
    if (is_new <= 0)
        return;
    const ln_onnx_scope scope = {.model = s->model,
                                 .opsets = (const LnOnnx__OperatorSet *const *)f->opset_import,
                                 .n_opsets = f->n_opset_import};
    look_at_nodes(s, &scope, f->node, f->n_node);
}

static void look_at_node(survey *s, const ln_onnx_scope *scope, const LnOnnx__Node *node)
{
    const LnOnnx__Function *f = ln_onnx_find_function(s->model, node);
    s->look(s, scope, node, f);
    if (f)
        look_at_function(s, f);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const LnOnnx__Attribute *a = node->attribute[i];
        if (a->g)
            look_at_nodes(s, scope, a->g->node, a->g->n_node);
    }
}

static void look_at_nodes(survey *s, const ln_onnx_scope *scope, LnOnnx__Node *const *nodes,
                          size_t n)
{
    if (s->depth >= LN_ONNX_MAX_DEPTH) // translation rejects it
        return;
    s->depth++;
    for (size_t i = 0; i < n; i++)
        look_at_node(s, scope, nodes[i]);
    s->depth--;
}

static void look_at_model(survey *s, const ln_onnx_scope *scope, look_func look)
{
    const LnOnnx__Graph *const graph = s->model->proto->graph;
    s->look = look;
    s->looked = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    if (s->looked)
        look_at_nodes(s, scope, graph->node, graph->n_node);
    else
        ln_translation_fail_memory(&s->model->base);
    ln_hash_free(s->looked);
}

void ln_onnx_check_support(const ln_onnx_scope *scope)
{
    ln_onnx_model *const m = scope->model;
    survey s = {.model = m, .missing = {.translation = &m->base}};
    look_at_model(&s, scope, note_missing);
    ln_missing_report(&s.missing, "operators that are not supported");
    if (!m->base.failed)
        look_at_model(&s, scope, check_schema);
    if (!m->base.failed)
        ln_onnx_warn_of_leftovers(m, &s.leftovers);
}

typedef struct census {
    ln_onnx_model *model;
    ln_hash *counts; /* function message -> its nodes */
    int depth;
} census;

static size_t add(size_t a, size_t b)
{
    return ln_size_add(a, b, &a) ? SIZE_MAX : a;
}

static size_t count_node(census *c, const LnOnnx__Node *node);

static size_t count_nodes(census *c, LnOnnx__Node *const *nodes, size_t n)
{
    size_t sum = 0;
    if (c->depth >= LN_ONNX_MAX_DEPTH) // translation rejects it
        return 0;
    c->depth++;
    for (size_t i = 0; i < n; i++)
        sum = add(sum, count_node(c, nodes[i]));
    c->depth--;
    return sum;
}

static void note_count(census *c, const LnOnnx__Function *f, size_t n)
{
    if (ln_hash_insert(c->counts, f, (void *)n) < 0)
        ln_translation_fail_memory(&c->model->base);
}

// A function that calls itself, which translation rejects, has no nodes here.
static size_t count_function(census *c, const LnOnnx__Function *f)
{
    void *known;
    if (ln_hash_find_extended(c->counts, f, NULL, &known))
        return (size_t)known;
    note_count(c, f, 0);
    const size_t n = count_nodes(c, f->node, f->n_node);
    note_count(c, f, n);
    return n;
}

static size_t count_node(census *c, const LnOnnx__Node *node)
{
    const LnOnnx__Function *f = ln_onnx_find_function(c->model, node);
    size_t sum = add(1, f ? count_function(c, f) : 0);
    for (size_t i = 0; i < node->n_attribute; i++) {
        const LnOnnx__Graph *graph = node->attribute[i]->g;
        sum = add(sum, graph ? count_nodes(c, graph->node, graph->n_node) : 0);
    }
    return sum;
}

static void count_graph(census *c, const LnOnnx__Graph *graph)
{
    const LnOnnx__Node *largest = NULL;
    size_t total = 0, most = 0;
    for (size_t i = 0; i < graph->n_node; i++) {
        const size_t n = count_node(c, graph->node[i]);
        total = add(total, n);
        if (n > most) {
            largest = graph->node[i];
            most = n;
        }
    }
    const uint64_t limit = ln_limits_max(c->model->base.ctx, LN_LIMIT_OPS);
    if (limit && total > limit)
        ln_translation_fail_as(&c->model->base, LN_LIMIT_REACHED,
                               "the model unfolds to %zu nodes, of which node '%s' (%s) has %zu; "
                               "they exceed the limit of %" PRIu64 " operators",
                               total, ln_onnx_text(largest->name), ln_onnx_text(largest->op_type),
                               most, limit);
}

void ln_onnx_check_count(ln_onnx_model *m)
{
    census c = {.model = m, .counts = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL)};
    if (c.counts)
        count_graph(&c, m->proto->graph);
    else
        ln_translation_fail_memory(&m->base);
    ln_hash_free(c.counts);
}
