// SPDX-License-Identifier: Apache-2.0
// Macros: definitions, and tokens with macros replaced.

#include "il/ln_il_pre.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_hash_bytes.h"
#include "lightnet/ln_util.h"

// Parameters of a macro; calls within arguments of calls, each of which takes some of the stack;
// tokens that replacing may move, and bytes of tokens that it may make, both in all.
enum { MAX_PARAMS = 127, MAX_DEPTH = 64, MAX_STEPS = 1 << 24, MAX_TEXTS = 64 << 20 };

// Flags of tokens of a replacement, besides those of ln_il_pre.h.
enum {
    STRINGIZED = 8, // # precedes it
    PASTED = 16,    // ## follows it
};

enum { NO_PARAM = 255 };

typedef struct macro {
    ln_il_token name;
    int is_function, is_variadic; // the last parameter of a variadic one is __VA_ARGS__
    size_t n_params;
    ln_il_token *params;
    ln_il_tokens body;
    unsigned char *param_of; // of each token of the body, or NO_PARAM
    int active;              // it is being replaced
    const char *rejected;    // why it may not be used
    int (*make)(ln_il_macros *m, ln_il_token *t);
} macro;

// Tokens to read before those below them.
typedef struct replacement {
    struct replacement *below;
    const ln_il_token *at, *end;
    ln_il_tokens owned;
    int is_blank_behind; // a blank preceded an empty expansion at its end
    macro *of; // NULL: an argument or a directive, which is read up to its end and no further
} replacement;

typedef struct piece {
    struct piece *next;
    char text[];
} piece;

static int fail_memory(const ln_il_macros *m)
{
    return ln_il_fail_memory(m->err, m->place);
}

static int step(ln_il_macros *m)
{
    if (m->steps >= MAX_STEPS)
        return ln_il_fail(m->err, m->place, "macro expansion exceeds %d tokens", MAX_STEPS);
    return ln_il_host_step(m->host, &m->steps);
}

static int push(ln_il_macros *m, ln_il_tokens *list, ln_il_token t)
{
    if (step(m))
        return -1;
    return ln_il_tokens_push(list, t) ? fail_memory(m) : 0;
}

// Memory for the text of a token, until the end; NULL with a reason.
static char *new_text(ln_il_macros *m, size_t len)
{
    if (len > MAX_TEXTS - m->texts_size) {
        ln_il_fail(m->err, m->place, "# and ## produce more than %d bytes", MAX_TEXTS);
        return NULL;
    }
    piece *p = ln_alloc(sizeof(*p) + len + 1);
    if (!p) {
        fail_memory(m);
        return NULL;
    }
    p->next = m->texts;
    m->texts = p;
    m->texts_size += len;
    return p->text;
}

// The table

static uint32_t hash_token(const void *key)
{
    const ln_il_token *t = key;
    return ln_hash_bytes(t->text, t->len);
}

static int same_text(const ln_il_token *a, const ln_il_token *b)
{
    return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

static int compare_tokens(const void *a, const void *b)
{
    return !same_text(a, b);
}

static void free_macro(void *ptr)
{
    macro *def = ptr;
    if (!def)
        return;
    ln_free(def->params);
    ln_free(def->param_of);
    ln_il_tokens_free(&def->body);
    ln_free(def);
}

static macro *find(const ln_il_macros *m, const ln_il_token *name)
{
    return ln_hash_find(m->table, name);
}

int ln_il_macros_has(const ln_il_macros *m, const ln_il_token *name)
{
    const macro *def = find(m, name);
    return def && !def->rejected;
}

static int enter(ln_il_macros *m, macro *def)
{
    if (ln_hash_insert(m->table, &def->name, def) >= 0)
        return 0;
    free_macro(def);
    return fail_memory(m);
}

// Definitions

static int check_name(const ln_il_macros *m, const char *directive, const ln_il_token *name)
{
    if (!name || name->kind != LN_IL_TOKEN_NAME)
        return ln_il_fail(m->err, m->place, "#%s expects a name", directive);
    const macro *old = find(m, name);
    if (ln_il_token_is(name, "defined") || ln_il_token_is(name, "__VA_ARGS__") ||
        (old && (old->make || old->rejected)))
        return ln_il_fail(m->err, m->place, "#%s: '%.*s' is reserved", directive, (int)name->len,
                          name->text);
    return 0;
}

static size_t find_param(const macro *def, const ln_il_token *t)
{
    size_t i = 0;
    if (t->kind != LN_IL_TOKEN_NAME)
        return NO_PARAM;
    while (i < def->n_params && !same_text(&def->params[i], t))
        i++;
    return i < def->n_params ? i : NO_PARAM;
}

static int add_param(const ln_il_macros *m, macro *def, const ln_il_token *t)
{
    static const ln_il_token rest = {"__VA_ARGS__", 11, LN_IL_TOKEN_NAME, 0};
    def->is_variadic = ln_il_token_is(t, "...");
    if (!def->is_variadic && (t->kind != LN_IL_TOKEN_NAME || ln_il_token_is(t, "__VA_ARGS__")))
        return ln_il_fail(m->err, m->place, "#define %.*s: '%.*s' is not a parameter name",
                          (int)def->name.len, def->name.text, (int)t->len, t->text);
    if (find_param(def, t) != NO_PARAM)
        return ln_il_fail(m->err, m->place, "#define %.*s: duplicate parameter '%.*s'",
                          (int)def->name.len, def->name.text, (int)t->len, t->text);
    if (def->n_params == MAX_PARAMS)
        return ln_il_fail(m->err, m->place, "#define %.*s: more than %d parameters",
                          (int)def->name.len, def->name.text, MAX_PARAMS);
    def->params[def->n_params++] = def->is_variadic ? rest : *t;
    return 0;
}

// Behind the parenthesis. Returns the number of tokens up to and with the closing one; 0 with a
// reason.
static size_t read_params(const ln_il_macros *m, macro *def, const ln_il_token *tokens, size_t n)
{
    size_t i = 0;
    def->params = ln_alloc_array(MAX_PARAMS, sizeof(*def->params));
    if (!def->params) {
        fail_memory(m);
        return 0;
    }
    if (n && ln_il_token_is(&tokens[0], ")"))
        return 1;
    while (i + 1 < n) {
        if (add_param(m, def, &tokens[i]))
            return 0;
        i += 2;
        if (ln_il_token_is(&tokens[i - 1], ")"))
            return i;
        if (def->is_variadic || !ln_il_token_is(&tokens[i - 1], ","))
            break;
    }
    ln_il_fail(m->err, m->place, "#define %.*s: expected ',' or ')' in the parameter list",
               (int)def->name.len, def->name.text);
    return 0;
}

// # before a parameter becomes a flag of it, ## one of the token before it.
static int add_to_body(ln_il_macros *m, macro *def, const ln_il_token *tokens, size_t n, size_t *i)
{
    ln_il_token t = tokens[*i];
    ln_il_tokens *body = &def->body;
    if (ln_il_token_is(&t, "##")) {
        if (!body->n || *i + 1 == n)
            return ln_il_fail(m->err, m->place,
                              "#define %.*s: '##' at the beginning or end of the replacement",
                              (int)def->name.len, def->name.text);
        body->at[body->n - 1].flags |= PASTED;
        return 0;
    }
    if (def->is_function && ln_il_token_is(&t, "#")) {
        if (*i + 1 == n || find_param(def, &tokens[*i + 1]) == NO_PARAM)
            return ln_il_fail(m->err, m->place, "#define %.*s: '#' is not followed by a parameter",
                              (int)def->name.len, def->name.text);
        const uint8_t flags = (uint8_t)((t.flags & LN_IL_AFTER_BLANK) | STRINGIZED);
        t = tokens[++*i];
        t.flags = flags;
    }
    if (t.kind == LN_IL_TOKEN_NAME && ln_il_token_is(&t, "__VA_ARGS__") && !def->is_variadic)
        return ln_il_fail(m->err, m->place, "__VA_ARGS__ in a macro without '...'");
    return push(m, body, t);
}

static int read_body(ln_il_macros *m, macro *def, const ln_il_token *tokens, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (add_to_body(m, def, tokens, n, &i))
            return -1;
    def->param_of = ln_alloc(def->body.n + 1);
    if (!def->param_of)
        return fail_memory(m);
    for (size_t i = 0; i < def->body.n; i++)
        def->param_of[i] = (unsigned char)find_param(def, &def->body.at[i]);
    if (def->body.n)
        def->body.at[0].flags &= (uint8_t)~LN_IL_AFTER_BLANK;
    return 0;
}

static int same_tokens(const ln_il_token *a, const ln_il_token *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!same_text(&a[i], &b[i]) || a[i].flags != b[i].flags)
            return 0;
    return 1;
}

static int same_macros(const macro *a, const macro *b)
{
    return a->is_function == b->is_function && a->is_variadic == b->is_variadic &&
           a->n_params == b->n_params && a->body.n == b->body.n &&
           same_tokens(a->params, b->params, a->n_params) &&
           same_tokens(a->body.at, b->body.at, a->body.n);
}

static int define(ln_il_macros *m, macro *def, const ln_il_token *tokens, size_t n)
{
    size_t i = 1;
    def->name = tokens[0];
    def->is_function =
        n > 1 && ln_il_token_is(&tokens[1], "(") && !(tokens[1].flags & LN_IL_AFTER_BLANK);
    if (def->is_function) {
        const size_t taken = read_params(m, def, tokens + 2, n - 2);
        if (!taken)
            return -1;
        for (size_t p = 0; p < def->n_params; p++)
            def->params[p].flags = 0;
        i = 2 + taken;
    }
    if (read_body(m, def, tokens + i, n - i))
        return -1;
    const macro *old = find(m, &def->name);
    if (old && !same_macros(old, def))
        return ln_il_fail(m->err, m->place, "#define %.*s: redefined differently",
                          (int)def->name.len, def->name.text);
    return 0;
}

int ln_il_macros_define(ln_il_macros *m, const ln_il_token *tokens, size_t n)
{
    if (check_name(m, "define", n ? tokens : NULL))
        return -1;
    macro *def = ln_alloc(sizeof(*def));
    if (!def)
        return fail_memory(m);
    if (!define(m, def, tokens, n))
        return enter(m, def);
    free_macro(def);
    return -1;
}

int ln_il_macros_undefine(ln_il_macros *m, const ln_il_token *name)
{
    if (check_name(m, "undef", name))
        return -1;
    ln_hash_remove(m->table, name);
    return 0;
}

// Predefined macros

// Text as a string literal, with escapes.
static int make_string(ln_il_macros *m, const char *text, size_t len, ln_il_token *t)
{
    char *to = new_text(m, 2 * len + 2);
    if (!to)
        return -1;
    t->text = to;
    *to++ = '"';
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\')
            *to++ = '\\';
        *to++ = text[i];
    }
    *to++ = '"';
    t->len = (uint32_t)(to - t->text);
    t->kind = LN_IL_TOKEN_STRING;
    return 0;
}

static int make_file(ln_il_macros *m, ln_il_token *t)
{
    return make_string(m, m->place.file, strlen(m->place.file), t);
}

static int make_line(ln_il_macros *m, ln_il_token *t)
{
    char *text = new_text(m, 16);
    if (!text)
        return -1;
    t->len = (uint32_t)snprintf(text, 16, "%d", m->place.line);
    t->text = text;
    t->kind = LN_IL_TOKEN_NUMBER;
    return 0;
}

static const char unrepeatable[] = "not supported: the same file must always give the same model";

static const struct {
    const char *name;
    const char *value;
    int (*make)(ln_il_macros *m, ln_il_token *t);
    const char *rejected;
} predefined[] = {
    {"__FILE__", NULL, make_file, NULL},
    {"__LINE__", NULL, make_line, NULL},
    {"__DATE__", NULL, NULL, unrepeatable},
    {"__TIME__", NULL, NULL, unrepeatable},
    {"__STDC__", "1", NULL, NULL},
    {"__STDC_HOSTED__", "1", NULL, NULL},
    {"__STDC_VERSION__", "199901L", NULL, NULL},
};

enum { N_PREDEFINED = sizeof(predefined) / sizeof(predefined[0]) };

static ln_il_token token_of(const char *text, uint8_t kind)
{
    return (ln_il_token){.text = text, .len = (uint32_t)strlen(text), .kind = kind};
}

static int predefine(ln_il_macros *m, size_t i)
{
    const ln_il_token name = token_of(predefined[i].name, LN_IL_TOKEN_NAME);
    if (predefined[i].value) {
        const ln_il_token tokens[] = {name, token_of(predefined[i].value, LN_IL_TOKEN_NUMBER)};
        return ln_il_macros_define(m, tokens, 2);
    }
    macro *def = ln_alloc(sizeof(*def));
    if (!def)
        return fail_memory(m);
    def->name = name;
    def->make = predefined[i].make;
    def->rejected = predefined[i].rejected;
    return enter(m, def);
}

int ln_il_macros_begin(ln_il_macros *m, ln_il_place place, ln_il_source_func read, void *data,
                       const ln_il_host *host, ln_error *err)
{
    *m = (ln_il_macros){.read = read, .data = data, .host = host, .place = place, .err = err};
    m->table = ln_hash_create(hash_token, compare_tokens, NULL, free_macro);
    if (!m->table)
        return fail_memory(m);
    for (size_t i = 0; i < N_PREDEFINED; i++)
        if (predefine(m, i))
            return -1;
    return 0;
}

// The stack of tokens

static int push_tokens(ln_il_macros *m, const ln_il_token *tokens, size_t n, macro *of)
{
    replacement *r = ln_alloc(sizeof(*r));
    if (!r)
        return fail_memory(m);
    r->below = m->top;
    r->at = tokens;
    r->end = n ? tokens + n : tokens;
    r->of = of;
    m->top = r;
    if (of)
        of->active++;
    return 0;
}

static void pop(ln_il_macros *m)
{
    replacement *r = m->top;
    m->top = r->below;
    if (r->of)
        r->of->active--;
    m->was_blank |= r->is_blank_behind;
    ln_il_tokens_free(&r->owned);
    ln_free(r);
}

static int read_source(ln_il_macros *m, ln_il_token *t)
{
    ln_il_place place = m->place;
    if (m->back.kind != LN_IL_TOKEN_END) {
        *t = m->back;
        place = m->back_place;
        m->back.kind = LN_IL_TOKEN_END;
    } else if (m->read(m->data, t, &place)) {
        return -1;
    }
    m->back_place = place;
    if (!m->calls)
        m->place = place;
    return 0;
}

// LN_IL_TOKEN_END also where an argument or a directive ends.
static int read_top(ln_il_macros *m, ln_il_token *t)
{
    while (m->top && m->top->at == m->top->end && m->top->of)
        pop(m);
    if (!m->top)
        return read_source(m, t);
    *t = (ln_il_token){.kind = LN_IL_TOKEN_END};
    if (m->top->at == m->top->end)
        return 0;
    *t = *m->top->at++;
    return step(m);
}

// The next token, unexpanded; after a blank also if one preceded an empty expansion.
static int next_raw(ln_il_macros *m, ln_il_token *t)
{
    if (read_top(m, t))
        return -1;
    if (t->kind != LN_IL_TOKEN_END && m->was_blank) {
        t->flags |= LN_IL_AFTER_BLANK;
        m->was_blank = 0;
    }
    return 0;
}

// Whether `(` comes next, which is taken then.
static int take_parenthesis(ln_il_macros *m)
{
    ln_il_token t;
    if (next_raw(m, &t))
        return -1;
    if (t.kind != LN_IL_TOKEN_END && ln_il_token_is(&t, "("))
        return 1;
    if (t.kind != LN_IL_TOKEN_END && m->top) {
        m->top->at--;
        m->was_blank = t.flags & LN_IL_AFTER_BLANK;
    } else if (t.kind != LN_IL_TOKEN_END) {
        m->back = t;
    }
    return 0;
}

// Arguments

typedef struct argument {
    size_t begin, n; // among the tokens of all arguments
    ln_il_tokens replaced;
    int is_replaced;
    int is_blank_behind; // as of a replacement
} argument;

typedef struct arguments {
    ln_il_tokens raw;
    argument *at;
    size_t n;
} arguments;

static int fail_count(const ln_il_macros *m, const macro *def, const char *there)
{
    const size_t n = def->n_params - (def->is_variadic ? 1 : 0);
    return ln_il_fail(m->err, m->place, "macro '%.*s': too %s arguments, expected %s%zu",
                      (int)def->name.len, def->name.text, there,
                      def->is_variadic ? "at least " : "", n);
}

static int end_argument(ln_il_macros *m, const macro *def, arguments *args)
{
    argument *arg = &args->at[args->n];
    arg->n = args->raw.n - arg->begin;
    if (args->n + 1 > def->n_params && (args->n || arg->n))
        return fail_count(m, def, "many");
    args->n++;
    args->at[args->n].begin = args->raw.n;
    return 0;
}

// Behind the opening parenthesis, up to the closing one.
static int read_tokens(ln_il_macros *m, const macro *def, arguments *args)
{
    ln_il_token t;
    for (int depth = 1; depth;) {
        if (next_raw(m, &t))
            return -1;
        if (t.kind == LN_IL_TOKEN_END)
            return ln_il_fail(m->err, m->place, "macro '%.*s': missing ')' after its arguments",
                              (int)def->name.len, def->name.text);
        depth += ln_il_token_is(&t, "(") - ln_il_token_is(&t, ")");
        const int takes_commas = def->is_variadic && args->n + 1 == def->n_params;
        const int ends = !depth || (depth == 1 && ln_il_token_is(&t, ",") && !takes_commas);
        if (ends ? end_argument(m, def, args) : push(m, &args->raw, t))
            return -1;
    }
    return 0;
}

static int read_arguments(ln_il_macros *m, const macro *def, arguments *args)
{
    args->at = ln_alloc_array(def->n_params + 3, sizeof(*args->at));
    if (!args->at)
        return fail_memory(m);
    if (read_tokens(m, def, args))
        return -1;
    // Those of a macro without parameters are one empty argument.
    if (def->n_params == 0)
        args->n = 0;
    if (args->n + 1 == def->n_params && def->is_variadic)
        args->n++; // nothing for the dots: as if it were empty
    return args->n < def->n_params ? fail_count(m, def, "few") : 0;
}

static int next_replaced(ln_il_macros *m, ln_il_token *t);

static int replace_argument(ln_il_macros *m, const arguments *args, argument *arg)
{
    ln_il_token t;
    if (arg->is_replaced)
        return 0;
    if (m->depth == MAX_DEPTH)
        return ln_il_fail(m->err, m->place,
                          "macro calls in macro arguments are nested more than %d deep", MAX_DEPTH);
    if (push_tokens(m, ln_il_tokens_from(&args->raw, arg->begin), arg->n, NULL))
        return -1;
    m->depth++;
    int rc;
    while (!(rc = next_replaced(m, &t)) && t.kind != LN_IL_TOKEN_END &&
           !(rc = push(m, &arg->replaced, t)))
        ;
    m->depth--;
    if (rc)
        return -1;
    pop(m);
    arg->is_replaced = 1;
    arg->is_blank_behind = m->was_blank;
    m->was_blank = 0;
    return 0;
}

// Replacing

// Blanks become one each, those at the ends none.
static int stringize(ln_il_macros *m, const arguments *args, const argument *arg, ln_il_token *t)
{
    const ln_il_token *const tokens = ln_il_tokens_from(&args->raw, arg->begin);
    size_t len = 2, at = 0;
    for (size_t i = 0; i < arg->n; i++)
        len += 2 * (size_t)tokens[i].len + 1;
    char *text = new_text(m, len);
    if (!text)
        return -1;
    text[at++] = '"';
    for (size_t i = 0; i < arg->n; i++) {
        const int is_quoted =
            tokens[i].kind == LN_IL_TOKEN_STRING || tokens[i].kind == LN_IL_TOKEN_CHAR;
        if (i && tokens[i].flags & LN_IL_AFTER_BLANK)
            text[at++] = ' ';
        for (uint32_t k = 0; k < tokens[i].len; k++) {
            const char c = tokens[i].text[k];
            if (is_quoted && (c == '"' || c == '\\'))
                text[at++] = '\\';
            text[at++] = c;
        }
    }
    text[at++] = '"';
    t->text = text;
    t->len = (uint32_t)at;
    t->kind = LN_IL_TOKEN_STRING;
    return 0;
}

static int paste(ln_il_macros *m, ln_il_token *left, const ln_il_token *right)
{
    const size_t len = (size_t)left->len + right->len;
    char *text = new_text(m, len);
    if (!text)
        return -1;
    memcpy(text, left->text, left->len);
    memcpy(text + left->len, right->text, right->len);
    ln_error err = {0};
    ln_il_scanner s = {.at = text, .end = text + len, .place = m->place, .skips = 1, .err = &err};
    ln_il_token whole;
    if (ln_il_scan(&s, 0, &whole) || whole.len != len)
        return ln_il_fail(m->err, m->place, "'##' produces '%.40s', which is not a token", text);
    whole.flags = left->flags & LN_IL_AFTER_BLANK;
    *left = whole;
    return 0;
}

// A replacement in the making.
typedef struct result {
    ln_il_tokens list;
    int is_blank;    // a blank preceded an empty expansion at the end of the list
    int joins;       // ## precedes the next token,
    size_t joins_to; // which is joined with the token here; the end of the list: with none
} result;

// Appends tokens, the first one with the blank of `at`, and after ## joined to the last one.
static int append(ln_il_macros *m, result *r, const ln_il_token *tokens, size_t n,
                  const ln_il_token *at)
{
    for (size_t i = 0; i < n; i++) {
        ln_il_token t = tokens[i];
        if (i == 0)
            t.flags = (uint8_t)((t.flags & LN_IL_NOT_EXPANDED) | (at->flags & LN_IL_AFTER_BLANK));
        t.flags |= r->is_blank ? LN_IL_AFTER_BLANK : 0;
        r->is_blank = 0;
        if (i == 0 && r->joins && r->list.n > r->joins_to) {
            if (paste(m, &r->list.at[r->list.n - 1], &t))
                return -1;
        } else if (push(m, &r->list, t)) {
            return -1;
        }
    }
    if (!n)
        r->is_blank |= at->flags & LN_IL_AFTER_BLANK;
    return 0;
}

// In `, ## __VA_ARGS__` the comma goes where the argument is empty, else they stay two tokens, as
// compilers have it.
static int is_optional_comma(const macro *def, size_t i)
{
    return i > 0 && def->is_variadic && def->param_of[i] == def->n_params - 1 &&
           ln_il_token_is(&def->body.at[i - 1], ",") && def->param_of[i - 1] == NO_PARAM;
}

static int append_param(ln_il_macros *m, const macro *def, size_t i, arguments *args, result *r)
{
    const ln_il_token *t = &def->body.at[i];
    argument *arg = &args->at[def->param_of[i]];
    ln_il_token string = *t;
    if (t->flags & STRINGIZED)
        return stringize(m, args, arg, &string) || append(m, r, &string, 1, t) ? -1 : 0;
    if (r->joins && is_optional_comma(def, i)) {
        r->joins = 0;
        r->list.n -= !arg->n && r->list.n;
    } else if (r->joins || t->flags & PASTED) {
        return append(m, r, ln_il_tokens_from(&args->raw, arg->begin), arg->n, t);
    }
    if (replace_argument(m, args, arg) || append(m, r, arg->replaced.at, arg->replaced.n, t))
        return -1;
    r->is_blank |= arg->is_blank_behind;
    return 0;
}

static int make_result(ln_il_macros *m, const macro *def, arguments *args, result *r)
{
    for (size_t i = 0; i < def->body.n; i++) {
        const ln_il_token *t = &def->body.at[i];
        const size_t before = r->list.n;
        const int joined = r->joins;
        if (def->param_of[i] == NO_PARAM ? append(m, r, t, 1, t) : append_param(m, def, i, args, r))
            return -1;
        if (!joined)
            r->joins_to = before;
        r->joins = (t->flags & PASTED) != 0;
    }
    return 0;
}

static int push_result(ln_il_macros *m, macro *def, const ln_il_token *name, result *r)
{
    for (size_t i = 0; i < r->list.n; i++)
        r->list.at[i].flags &= LN_IL_AFTER_BLANK | LN_IL_NOT_EXPANDED;
    if (r->list.n)
        r->list.at[0].flags |= name->flags & LN_IL_AFTER_BLANK;
    else
        r->is_blank |= name->flags & LN_IL_AFTER_BLANK;
    if (push_tokens(m, r->list.at, r->list.n, def))
        return -1;
    m->top->is_blank_behind = r->is_blank;
    m->top->owned = r->list;
    r->list = (ln_il_tokens){0};
    return 0;
}

// Puts the macro's expansion on the stack.
static int replace(ln_il_macros *m, macro *def, const ln_il_token *name)
{
    arguments args = {0};
    result r = {0};
    m->calls++;
    int rc = def->is_function ? read_arguments(m, def, &args) : 0;
    if (!rc)
        rc = make_result(m, def, &args, &r) || push_result(m, def, name, &r) ? -1 : 0;
    m->calls--;
    ln_il_tokens_free(&r.list);
    for (size_t i = 0; args.at && i < args.n; i++)
        ln_il_tokens_free(&args.at[i].replaced);
    ln_free(args.at);
    ln_il_tokens_free(&args.raw);
    return rc;
}

// Whether the macro is called here; -1 with a reason.
static int is_called(ln_il_macros *m, const macro *def)
{
    if (!def->is_function)
        return 1;
    m->calls++;
    m->peeks = 1;
    const int called = take_parenthesis(m);
    m->peeks = 0;
    m->calls--;
    return called;
}

static int next_replaced(ln_il_macros *m, ln_il_token *t)
{
    for (;;) {
        if (next_raw(m, t))
            return -1;
        macro *def =
            t->kind == LN_IL_TOKEN_NAME && !(t->flags & LN_IL_NOT_EXPANDED) ? find(m, t) : NULL;
        if (!def)
            return 0;
        if (def->active) {
            t->flags |= LN_IL_NOT_EXPANDED;
            return 0;
        }
        if (def->rejected)
            return ln_il_fail(m->err, m->place, "%.*s: %s", (int)t->len, t->text, def->rejected);
        if (def->make)
            return def->make(m, t);
        const int called = is_called(m, def);
        if (called <= 0)
            return called;
        if (replace(m, def, t))
            return -1;
    }
}

int ln_il_macros_next(ln_il_macros *m, ln_il_token *t)
{
    return ln_il_host_step(m->host, &m->tokens) ? -1 : next_replaced(m, t);
}

// Directives

// Behind `defined`: NAME or (NAME).
static int read_defined(ln_il_macros *m, ln_il_token *t)
{
    ln_il_token name, close;
    const int enclosed = take_parenthesis(m);
    if (enclosed < 0 || next_raw(m, &name) || (enclosed && next_raw(m, &close)))
        return -1;
    if (name.kind != LN_IL_TOKEN_NAME ||
        (enclosed && (close.kind == LN_IL_TOKEN_END || !ln_il_token_is(&close, ")"))))
        return ln_il_fail(m->err, m->place, "'defined' expects a name");
    *t = token_of(ln_il_macros_has(m, &name) ? "1" : "0", LN_IL_TOKEN_NUMBER);
    return 0;
}

static int replace_all(ln_il_macros *m, int condition, ln_il_tokens *out)
{
    ln_il_token t;
    for (;;) {
        if (next_replaced(m, &t))
            return -1;
        if (t.kind == LN_IL_TOKEN_END)
            return 0;
        if (condition && t.kind == LN_IL_TOKEN_NAME && ln_il_token_is(&t, "defined") &&
            read_defined(m, &t))
            return -1;
        if (push(m, out, t))
            return -1;
    }
}

int ln_il_macros_replace(ln_il_macros *m, const ln_il_token *tokens, size_t n, int condition,
                         ln_il_tokens *out)
{
    if (push_tokens(m, tokens, n, NULL))
        return -1;
    m->calls++; // the place is the directive's
    const int rc = replace_all(m, condition, out);
    m->calls--;
    if (!rc)
        pop(m);
    return rc;
}

void ln_il_macros_end(ln_il_macros *m)
{
    while (m->top)
        pop(m);
    ln_hash_free(m->table);
    while (m->texts) {
        piece *next = m->texts->next;
        ln_free(m->texts);
        m->texts = next;
    }
    *m = (ln_il_macros){0};
}
