// SPDX-License-Identifier: Apache-2.0
// Rows and schemas of operators, and the reasons for missing ones.

#include <limits.h>
#include <string.h>

#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx_schema.h"

// Operators that LightNet does not run, each with the reason.

static const char training[] = "it trains a model; export the model for inference";

static const ln_onnx_row of_training[] = {
    {"Adagrad", 1, NULL, training},  {"Adam", 1, NULL, training},
    {"Gradient", 1, NULL, training}, {"GraphCall", 1, NULL, training},
    {"Momentum", 1, NULL, training}, {NULL},
};

#define TABLE(kind) ln_onnx_rows_##kind,
static const ln_onnx_row *const default_tables[] = {LN_ONNX_TABLES(TABLE)};
static const ln_onnx_row *const preview_tables[] = {LN_ONNX_PREVIEW_TABLES(TABLE)};
static const ln_onnx_row *const training_tables[] = {of_training};
static const ln_onnx_row *const contrib_tables[] = {LN_ONNX_CONTRIB_TABLES(TABLE)};
static const ln_onnx_row *const ml_tables[] = {LN_ONNX_ML_TABLES(TABLE)};

// The newest row for an opset in a table, or `found`, the newest one of other tables.
static const ln_onnx_row *find_in(const ln_onnx_row *row, const char *op_type, int opset,
                                  const ln_onnx_row *found)
{
    for (; row->op_type; row++)
        if (row->op_type[0] == op_type[0] && row->since <= opset &&
            (!found || row->since > found->since) && ln_streq(row->op_type, op_type))
            found = row;
    return found;
}

// The tables of a domain.
typedef struct domain_rows {
    const char *domain;
    int newest;                       // of its operator sets
    const ln_onnx_schema *schemas[2]; // of all operators that are supported
    const ln_onnx_row *const *tables;
    size_t n;
} domain_rows;

#define LEN(array)     (sizeof(array) / sizeof((array)[0]))
#define TABLES(tables) tables, LEN(tables)

static const domain_rows domains[] = {
    {"", 28, {ln_onnx_schemas, ln_onnx_schemas_form}, TABLES(default_tables)},
    {"ai.onnx.preview", 1, {ln_onnx_schemas_preview}, TABLES(preview_tables)},
    {"ai.onnx.preview.training", 1, {NULL}, TABLES(training_tables)},
    {"ai.onnx.training", 1, {NULL}, TABLES(training_tables)},
    {"ai.onnx.ml", 5, {ln_onnx_schemas_ml}, TABLES(ml_tables)},
    {"com.microsoft",
     1,
     {ln_onnx_schemas_contrib, ln_onnx_schemas_contrib_form},
     TABLES(contrib_tables)},
};

// NULL: the domain is unknown.
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
                if (ln_onnx_find_row(domains[i].domain, row->op_type, row->since) == row)
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
    for (size_t i = 0; rows && op_type && i < LEN(rows->schemas); i++)
        for (const ln_onnx_schema *s = rows->schemas[i]; s && s->op_type; s++)
            if (s->op_type[0] == op_type[0] && ln_streq(s->op_type, op_type))
                return s;
    return NULL;
}

int ln_onnx_operator_at(size_t i, ln_format_operator *op)
{
    for (const domain_rows *d = domains; d < domains + LEN(domains); d++)
        for (size_t k = 0; k < LEN(d->schemas); k++)
            for (const ln_onnx_schema *s = d->schemas[k]; s && s->op_type; s++)
                if (i-- == 0) {
                    *op = (ln_format_operator){s->op_type, *d->domain ? d->domain : "ai.onnx",
                                               s->ops};
                    return 1;
                }
    return 0;
}

// Reasons

// Why LightNet lacks the operators of this domain, and how to export a model without them.
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

const char *ln_onnx_why_missing(ln_translation *t, const LnOnnx__Node *node, const ln_onnx_row *row,
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
