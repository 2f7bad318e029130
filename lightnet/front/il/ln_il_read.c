// SPDX-License-Identifier: Apache-2.0
// Reading an IL model into a context.

#include <ctype.h>
#include <string.h>

#include "front/il/ln_il_parse.h"
#include "front/il/ln_il_pre.h"
#include "front/il/ln_il_write.h"
#include "front/ln_fronts.h"
#include "ir/ln_ir_tree.h"
#include "lightnet/ln_body.h"
#include "lightnet/ln_op.h"

/* Of the source: a preprocessor's time grows with it. */
enum { MAX_SIZE = 64 << 20 };

/* How far is looked for what begins a model. */
enum { MAX_LOOK = 4096 };

// No other format known begins with what begins an operator, a directive or a comment. JSON, also
// broken JSON, begins with a bracket, a quote, a digit or a sign.
static int is_il(const unsigned char *data, size_t size)
{
    const size_t look = size < MAX_LOOK ? size : MAX_LOOK;
    size_t i = 0;
    if (memchr(data, '\0', look))
        return 0;
    while (i < look && isspace(data[i]))
        i++;
    return i < look && (isalpha(data[i]) || strchr("_#/", data[i]));
}

// The place of the operator of the context that refused to be entered; NULL: it was none.
static const char *place_of_refused(const ln_context *ctx, const json_t *program,
                                    const ln_hash *places)
{
    const json_t *ops = json_object_get(program, "ops");
    const ln_op *op;
    size_t i = 0;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (op->op_arg->failed)
            return ln_hash_find(places, json_array_get(ops, i));
        i++;
    }
    return NULL;
}

static const char *place_in_all(const ln_context *ctx, const ln_il_model *m)
{
    const json_t *bodies = json_object_get(m->tree, "bodies");
    const char *place = place_of_refused(ctx, m->tree, m->places);
    const ln_context *body;
    LN_LIST_FOREACH(body, ctx->bodies)
    {
        const char *in_body =
            place_of_refused(body, json_object_get(bodies, ln_body_name(body)), m->places);
        place = place ? place : in_body;
    }
    return place;
}

static int enter(ln_context *ctx, const char *name, const ln_il_model *m)
{
    if (ln_ir_read_tree(ctx, name, m->tree, m->places, &ctx->ops))
        return -1;
    if (!ln_context_enter_read(ctx))
        return 0;
    const char *place = place_in_all(ctx, m);
    return ln_fail_at(ctx, "%s", place ? place : name);
}

static int read_il(ln_context *ctx, const char *name, ln_infile *map)
{
    ln_il_model m = {0};
    char *text = NULL;
    size_t len;
    if (map->size > MAX_SIZE)
        return ln_fail(ctx, "%s: the model has %zu bytes, expected at most %d", name, map->size,
                       MAX_SIZE);
    const void *nul = memchr(map->data, '\0', map->size);
    if (nul)
        return ln_fail(ctx, "%s: NUL byte at offset %td, expected text", name,
                       (const unsigned char *)nul - map->data);
    const int rc = ln_il_preprocess(name, map->data, map->size, &text, &len, ctx->error) ||
                           ln_il_parse(&m, name, text, len, ctx->error) || enter(ctx, name, &m)
                       ? -1
                       : 0;
    ln_il_model_free(&m);
    ln_free(text);
    return rc;
}

const ln_front ln_front_il = {
    .format = "IL",
    .is = is_il,
    .read = read_il,
    .write = ln_il_write,
};
