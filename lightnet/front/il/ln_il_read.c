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

static int is_word_char(unsigned char c)
{
    return isalnum(c) || c == '_';
}

static size_t skip_while(int (*is)(unsigned char), const unsigned char *data, size_t size, size_t i)
{
    while (i < size && is(data[i]))
        i++;
    return i;
}

static int is_blank(unsigned char c)
{
    return isspace(c);
}

static int begins_with_word(const unsigned char *data, size_t size, const char *word)
{
    const size_t len = strlen(word);
    return size >= len && !memcmp(data, word, len) && (size == len || !is_word_char(data[len]));
}

// Behind '#', unlike what is behind that of a heading.
static int is_directive(const unsigned char *data, size_t size)
{
    static const char *const words[] = {"define",  "error", "if",     "ifdef", "ifndef",
                                        "include", "line",  "pragma", "undef"};
    const size_t begin = skip_while(is_blank, data, size, 0);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (begins_with_word(data + begin, size - begin, words[i]))
            return 1;
    return 0;
}

// A word with what may follow the type or name of an operator, or "body".
static int is_statement(const unsigned char *data, size_t size)
{
    const size_t end = skip_while(is_word_char, data, size, 0);
    const size_t next = skip_while(is_blank, data, size, end);
    return begins_with_word(data, size, "body") || (next < size && strchr("(:=$/", data[next]));
}

// No other format known begins with what begins an operator, a directive or a comment. JSON, also
// broken JSON, begins with a bracket, a quote, a digit or a sign; prose with two words.
static int is_il(const unsigned char *data, size_t size)
{
    const size_t look = size < MAX_LOOK ? size : MAX_LOOK;
    if (memchr(data, '\0', look))
        return 0;
    const size_t i = skip_while(is_blank, data, look, 0);
    if (i == look)
        return 0;
    if (data[i] == '#')
        return is_directive(data + i + 1, look - i - 1);
    return data[i] == '/' ||
           ((isalpha(data[i]) || data[i] == '_') && is_statement(data + i, look - i));
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
