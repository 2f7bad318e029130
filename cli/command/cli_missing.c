// SPDX-License-Identifier: Apache-2.0
// lightnet show --missing: the operators that a model needs and LightNet lacks.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "input/cli_session.h"
#include "input/cli_source.h"
#include "lightnet/lightnet.h"
#include "lightnet/ln_util.h"
#include "output/cli_json.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

// Operators with copies of their texts.
typedef struct missing {
    ln_missing_op *ops;
    size_t n;
    int failed; // no memory
} missing;

static void free_op(const ln_missing_op *op)
{
    free((char *)op->domain);
    free((char *)op->optype);
    free((char *)op->first);
    free((char *)op->reason);
}

static void clear(missing *m)
{
    for (size_t i = 0; i < m->n; i++)
        free_op(&m->ops[i]);
    free(m->ops);
}

// The list ends when memory runs out.
static void add(void *data, const ln_missing_op *op)
{
    missing *m = data;
    ln_missing_op *ops = m->failed ? NULL : realloc(m->ops, (m->n + 1) * sizeof(*ops));
    if (!ops) {
        m->failed = 1;
        return;
    }
    m->ops = ops;
    ln_missing_op *own = &ops[m->n++];
    *own = *op;
    own->domain = strdup(op->domain);
    own->optype = strdup(op->optype);
    own->first = strdup(op->first);
    own->reason = strdup(op->reason);
    if (!own->domain || !own->optype || !own->first || !own->reason)
        m->failed = 1;
}

// Output

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

// "com.microsoft.Foo", or "Foo" of the format's own domain.
static int name_width(const ln_missing_op *op)
{
    return (int)strlen(op->optype) + (*op->domain ? (int)strlen(op->domain) + 1 : 0);
}

static void print_op(const ln_missing_op *op, int width, int first_width)
{
    const int pad = width - name_width(op);
    cli_print("%6d  %s%s%s%*s  ", op->count, op->domain, *op->domain ? "." : "", op->optype, pad,
              "");
    if (op->version > 0)
        cli_print("%5d", op->version);
    else
        cli_print("%5s", "-");
    cli_print("  %-*s  %s\n", first_width, *op->first ? op->first : "-", op->reason);
}

static void print_list(const missing *m)
{
    int width = (int)strlen("operator"), first_width = (int)strlen("first node");
    for (size_t i = 0; i < m->n; i++) {
        width = max_int(width, name_width(&m->ops[i]));
        first_width = max_int(first_width, (int)strlen(m->ops[i].first));
    }
    cli_print(" nodes  %-*s  opset  %-*s  reason\n", width, "operator", first_width, "first node");
    for (size_t i = 0; i < m->n; i++)
        print_op(&m->ops[i], width, first_width);
}

static void print_json(const missing *m, const cli_options *opt)
{
    cli_json doc = {0};
    cli_json_open(&doc, NULL, '{');
    cli_json_text(&doc, "model", cli_source_name(opt->args[0]));
    cli_json_open(&doc, "missing", '[');
    for (size_t i = 0; i < m->n; i++) {
        const ln_missing_op *op = &m->ops[i];
        cli_json_open(&doc, NULL, '{');
        cli_json_text(&doc, "operator", op->optype);
        cli_json_text(&doc, "domain", op->domain);
        if (op->version > 0)
            cli_json_count(&doc, "opset", (uint64_t)op->version);
        else
            cli_json_null(&doc, "opset");
        cli_json_count(&doc, "nodes", (uint64_t)op->count);
        cli_json_text(&doc, "first", op->first);
        cli_json_text(&doc, "reason", op->reason);
        cli_json_close(&doc);
    }
    cli_json_close(&doc);
    cli_json_close(&doc);
}

static int print_missing(const missing *m, const cli_options *opt)
{
    if (opt->json)
        print_json(m, opt);
    else if (m->n)
        print_list(m);
    else
        cli_print("nothing is missing\n");
    return m->n ? CLI_FAILED : CLI_OK;
}

// The command

// Handles a model that cannot be read only because sizes are open. Returns 0 with a warning,
// CLI_FAILED after a message, or -1: it cannot be read.
static int find_open(const cli_options *opt)
{
    ln_model *model = cli_session_try_open(opt);
    const int status = model ? cli_session_check_given(model, opt) : -1;
    ln_model_free(model);
    if (!status)
        cli_warn("sizes are open: attributes, types and shapes are not checked; give sizes by "
                 "--shape");
    return status;
}

// A model that cannot be read for another reason has no list.
static int find_missing(ln_context *ctx, const cli_options *opt, missing *m)
{
    if (ln_context_set_missing(ctx, add, m))
        return cli_model_fail(ctx, opt);
    const int failed = cli_model_read_into(ctx, opt);
    if (m->failed)
        return cli_fail_memory();
    if (!failed)
        return cli_model_check_given(ctx, opt);
    if (m->n)
        return 0;
    const int status = find_open(opt);
    return status < 0 ? cli_model_fail_read(ctx, opt) : status;
}

int cli_missing(const cli_options *opt)
{
    missing m = {0};
    ln_context *ctx = cli_model_create(opt);
    int status = ctx && !find_missing(ctx, opt, &m) ? CLI_OK : CLI_FAILED;
    if (!status)
        status = print_missing(&m, opt);
    ln_context_free(ctx);
    clear(&m);
    return status;
}
