// SPDX-License-Identifier: Apache-2.0
// Macros: definitions, and expansion as text that is scanned again.
//
// A NUL before a name in an expansion marks a name that is not expanded again. No source has NULs.

#include "il/ln_il_pre.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_array.h"
#include "base/ln_hash_bytes.h"
#include "lightnet/ln_util.h"

// Parameters of a macro; nesting of calls in arguments, which recurses; total tokens and bytes of
// expansions.
enum { MAX_PARAMS = 127, MAX_DEPTH = 64, MAX_STEPS = 1 << 24, MAX_BYTES = 256 << 20 };

typedef struct macro {
    ln_il_token name;
    const char *body, *end; // of its definition, which begins with the name
    int is_function;
    int is_variadic; // the last parameter, __VA_ARGS__, has the remaining arguments with commas
    size_t n_params;
    ln_il_token *params;
    int active; // it is being expanded
} macro;

// A text to read before those below it.
typedef struct ln_il_expansion {
    struct ln_il_expansion *below;
    ln_il_scanner scanner;
    char *owned;
    macro *of; // NULL: an argument or a condition, which is read up to its end and no further
} expansion;

typedef struct argument {
    ln_il_text raw, expanded;
    int is_expanded;
} argument;

LN_PRINTF(2, 3)
static int fail(const ln_il_macros *m, const char *fmt, ...)
{
    char reason[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return ln_il_fail(m->err, m->place, "%s", reason);
}

static int fail_memory(const ln_il_macros *m)
{
    return ln_il_fail_memory(m->err, m->place);
}

static int step(ln_il_macros *m)
{
    if (m->steps >= MAX_STEPS)
        return fail(m, "macro expansion exceeds %d tokens", MAX_STEPS);
    return ln_il_host_step(m->host, &m->steps);
}

// Texts

static ln_il_scanner scan_of(const ln_il_macros *m, const char *begin, const char *end)
{
    return (ln_il_scanner){.at = begin, .end = end, .place = m->place, .err = m->err};
}

// Appends to the text of an argument or expansion, apart from what it has.
static int append(ln_il_macros *m, ln_il_text *to, const char *bytes, size_t len, int after_blank)
{
    m->bytes += len;
    if (m->bytes > MAX_BYTES)
        return fail(m, "macro expansion exceeds %d bytes", MAX_BYTES);
    if (step(m))
        return -1;
    return ln_il_text_append_apart(to, bytes, len, after_blank) ? fail_memory(m) : 0;
}

static int append_token(ln_il_macros *m, ln_il_text *to, const ln_il_token *t)
{
    const int after_blank = t->flags & LN_IL_AFTER_BLANK;
    if (!(t->flags & LN_IL_NOT_EXPANDED))
        return append(m, to, t->text, t->len, after_blank);
    return -(append(m, to, "", 1, after_blank) || append(m, to, t->text, t->len, 0));
}

// The table

static uint32_t hash_token(const void *key)
{
    const ln_il_token *t = key;
    return ln_hash_bytes(t->text, t->len);
}

static int compare_tokens(const void *a, const void *b)
{
    const ln_il_token *x = a, *y = b;
    return x->len != y->len || memcmp(x->text, y->text, x->len) != 0;
}

static void free_macro(void *ptr)
{
    macro *def = ptr;
    if (def)
        ln_free(def->params);
    ln_free(def);
}

int ln_il_macros_begin(ln_il_macros *m, const ln_il_host *host, ln_error *err)
{
    m->host = host;
    m->err = err;
    m->table = ln_hash_create(hash_token, compare_tokens, NULL, free_macro);
    return m->table ? 0 : fail_memory(m);
}

int ln_il_macros_has(const ln_il_macros *m, const ln_il_token *name)
{
    return ln_hash_find(m->table, name) != NULL;
}

void ln_il_macros_undefine(ln_il_macros *m, const ln_il_token *name)
{
    ln_hash_remove(m->table, name);
}

// Definitions

// The index of the parameter; n_params: the token is none.
static size_t find_param(const macro *def, const ln_il_token *t)
{
    size_t i = 0;
    while (i < def->n_params && compare_tokens(&def->params[i], t))
        i++;
    return i;
}

static int is_param(const macro *def, const ln_il_token *t)
{
    return find_param(def, t) < def->n_params;
}

static int add_param(const ln_il_macros *m, macro *def, ln_il_token t)
{
    def->is_variadic = ln_il_token_is(&t, "...");
    if (def->is_variadic)
        t = (ln_il_token){.text = "__VA_ARGS__", .len = 11};
    else if (t.kind != LN_IL_TOKEN_NAME)
        return fail(m, "#define: '%.*s' is not a parameter name", (int)t.len, t.text);
    if (is_param(def, &t))
        return fail(m, "#define: duplicate parameter '%.*s'", (int)t.len, t.text);
    if (def->n_params == MAX_PARAMS)
        return fail(m, "#define: more than %d parameters", MAX_PARAMS);
    if (ln_array_grow(&def->params, def->n_params, sizeof(*def->params)))
        return fail_memory(m);
    def->params[def->n_params++] = t;
    return 0;
}

// After the opening parenthesis, up to the closing one.
static int read_params(const ln_il_macros *m, macro *def, ln_il_scanner *s)
{
    ln_il_token t;
    if (ln_il_scan(s, 0, &t))
        return -1;
    while (!ln_il_token_is(&t, ")") || def->n_params) {
        if (add_param(m, def, t) || ln_il_scan(s, 0, &t))
            return -1;
        if (ln_il_token_is(&t, ")"))
            return 0;
        if (def->is_variadic || !ln_il_token_is(&t, ","))
            return fail(m, "#define: expected ',' or ')' in the parameter list");
        if (ln_il_scan(s, 0, &t))
            return -1;
    }
    return 0;
}

static int check_body(const ln_il_macros *m, const macro *def)
{
    ln_il_scanner s = scan_of(m, def->body, def->end);
    for (ln_il_token t, last = {0};; last = t) {
        if (ln_il_scan(&s, 0, &t))
            return -1;
        const int is_end = t.kind == LN_IL_TOKEN_END;
        if (def->is_function && ln_il_token_is(&last, "#") && !is_param(def, &t))
            return fail(m, "#define: '#' is not followed by a parameter");
        if ((!last.len && ln_il_token_is(&t, "##")) || (is_end && ln_il_token_is(&last, "##")))
            return fail(m, "#define: '##' at the beginning or end of the replacement");
        if (is_end)
            return 0;
    }
}

static int read_definition(const ln_il_macros *m, macro *def, ln_il_scanner line)
{
    def->is_function = line.at < line.end && *line.at == '(';
    line.at += def->is_function;
    if (def->is_function && read_params(m, def, &line))
        return -1;
    def->body = line.at;
    const macro *old = ln_hash_find(m->table, &def->name);
    const size_t len = (size_t)(def->end - def->name.text);
    if (old && ((size_t)(old->end - old->name.text) != len ||
                memcmp(old->name.text, def->name.text, len) != 0))
        return fail(m, "#define %.*s: redefined differently", (int)def->name.len, def->name.text);
    return check_body(m, def);
}

int ln_il_macros_define(ln_il_macros *m, const ln_il_token *name, const ln_il_scanner *line)
{
    macro *def = ln_alloc(sizeof(*def));
    if (!def)
        return fail_memory(m);
    *def = (macro){.name = *name, .end = line->end};
    int rc = read_definition(m, def, *line);
    if (!rc && ln_hash_insert(m->table, &def->name, def) >= 0)
        return 0;
    rc = rc ? rc : fail_memory(m);
    free_macro(def);
    return rc;
}

// The stack of texts

// Takes `owned`; also after a failure.
static int push(ln_il_macros *m, const char *text, size_t len, char *owned, macro *of)
{
    expansion *x = ln_alloc(sizeof(*x));
    if (!x) {
        ln_free(owned);
        return fail_memory(m);
    }
    *x = (expansion){.below = m->top, .owned = owned, .of = of};
    x->scanner = scan_of(m, text, len ? text + len : text);
    m->top = x;
    if (of)
        of->active = 1;
    return 0;
}

static void pop(ln_il_macros *m)
{
    expansion *x = m->top;
    m->top = x->below;
    if (x->of)
        x->of->active = 0;
    ln_free(x->owned);
    ln_free(x);
}

static ln_il_scanner *top_scanner(const ln_il_macros *m)
{
    return m->top ? &m->top->scanner : m->source;
}

// The next token, unexpanded, which is valid until the next one. LN_IL_TOKEN_END also where an
// argument or a condition ends.
static int read_token(ln_il_macros *m, ln_il_token *t)
{
    for (;;) {
        if (ln_il_scan(top_scanner(m), 0, t))
            return -1;
        if (t->kind != LN_IL_TOKEN_END || !m->top || !m->top->of)
            break;
        pop(m);
    }
    return m->top ? step(m) : 0;
}

// Skips `(` if it comes next. Returns whether it does; -1 with a reason.
static int take_parenthesis(ln_il_macros *m)
{
    for (;;) {
        const ln_il_scanner before = *top_scanner(m);
        ln_il_token t;
        if (ln_il_scan(top_scanner(m), 0, &t))
            return -1;
        if (ln_il_token_is(&t, "("))
            return 1;
        if (t.kind != LN_IL_TOKEN_END || !m->top || !m->top->of) {
            *top_scanner(m) = before;
            return 0;
        }
        pop(m);
    }
}

// Arguments

static int fail_call(const ln_il_macros *m, const macro *def, const char *reason)
{
    return fail(m, "macro '%.*s': %s", (int)def->name.len, def->name.text, reason);
}

static int fail_count(const ln_il_macros *m, const macro *def, const char *quantity)
{
    char reason[80];
    snprintf(reason, sizeof(reason), "too %s arguments, expected %s%zu", quantity,
             def->is_variadic ? "at least " : "", def->n_params - (size_t)def->is_variadic);
    return fail_call(m, def, reason);
}

static int fail_directive(ln_il_macros *m, const macro *def)
{
    m->place = m->source->place;
    return fail_call(m, def, "a directive inside its arguments");
}

// Up to the closing parenthesis.
static int read_arguments(ln_il_macros *m, const macro *def, argument *args)
{
    size_t n = 0;
    for (int depth = 1;;) {
        ln_il_token t;
        if (read_token(m, &t))
            return -1;
        if (t.kind == LN_IL_TOKEN_END)
            return fail_call(m, def, "missing ')' after its arguments");
        if (ln_il_token_is_directive(&t))
            return fail_directive(m, def);
        depth += ln_il_token_is(&t, "(") - ln_il_token_is(&t, ")");
        if (!depth)
            break;
        const int keeps_commas = def->is_variadic && n + 1 == def->n_params;
        const int ends = depth == 1 && ln_il_token_is(&t, ",") && !keeps_commas;
        n += (size_t)ends;
        if (n >= def->n_params)
            return fail_count(m, def, "many");
        if (!ends && append_token(m, &args[n].raw, &t))
            return -1;
    }
    return n + 1 + (size_t)def->is_variadic < def->n_params ? fail_count(m, def, "few") : 0;
}

static int expand_argument(ln_il_macros *m, argument *arg)
{
    ln_il_token t;
    if (arg->is_expanded)
        return 0;
    if (m->depth == MAX_DEPTH)
        return fail(m, "macro calls in macro arguments are nested more than %d deep", MAX_DEPTH);
    if (push(m, arg->raw.text, arg->raw.len, NULL, NULL))
        return -1;
    m->depth++;
    int rc;
    while (!(rc = ln_il_macros_next(m, &t)) && t.kind != LN_IL_TOKEN_END &&
           !(rc = append_token(m, &arg->expanded, &t)))
        ;
    m->depth--;
    if (rc)
        return -1;
    pop(m);
    arg->is_expanded = 1;
    return 0;
}

// Expansion

// Appends bytes without NUL marks to the last token; `is_string`: with quotes and escapes.
static int append_raw(ln_il_macros *m, ln_il_text *to, const char *text, size_t len, int is_string)
{
    int rc = append(m, to, "\"", (size_t)is_string, 0);
    for (size_t i = 0; !rc && i < len; i++) {
        const char escaped[] = {'\\', text[i]};
        const int is_escaped = is_string && (text[i] == '"' || text[i] == '\\');
        const size_t n = is_escaped ? 2 : text[i] != '\0';
        m->bytes += n;
        rc = ln_il_text_append(to, escaped + 2 - n, n) ? fail_memory(m) : 0;
    }
    return -(rc || append(m, to, "\"", (size_t)is_string, 0));
}

// The operators around a token of a replacement.
typedef struct around {
    int is_string;     // # precedes it
    int joins, joined; // ## precedes it, follows it
} around;

static int append_operand(ln_il_macros *m, const macro *def, argument *args, const ln_il_token *t,
                          around ops, ln_il_text *to)
{
    const size_t p = find_param(def, t);
    const int after_blank = t->flags & LN_IL_AFTER_BLANK;
    if (!ops.joins && append(m, to, "", 0, after_blank))
        return -1;
    if (p == def->n_params)
        return ops.joins ? append_raw(m, to, t->text, t->len, 0)
                         : append(m, to, t->text, t->len, 0);
    if (ops.is_string || ops.joins || ops.joined)
        return append_raw(m, to, args[p].raw.text, args[p].raw.len, ops.is_string);
    if (expand_argument(m, &args[p]))
        return -1;
    return append(m, to, args[p].expanded.text, args[p].expanded.len, 0);
}

// The sides of ##, which begin at `left` and `right`, must be one name or number; either may be
// empty.
static int check_joined(const ln_il_macros *m, const ln_il_text *text, size_t left, size_t right)
{
    const char *const at = text->text + right;
    if (left == right || right == text->len || at[-1] == ' ' ||
        (ln_il_is_name_char(at[-1]) && ln_il_is_name_char(at[0])))
        return 0;
    return fail(m, "'##' joins '%c' and '%c', which is not a token", at[-1], at[0]);
}

static int make_expansion(ln_il_macros *m, const macro *def, argument *args, ln_il_text *to)
{
    ln_il_scanner s = scan_of(m, def->body, def->end);
    around ops = {0};
    ln_il_token t, after;
    size_t left = 0;
    for (int rc = ln_il_scan(&s, 0, &t); t.kind != LN_IL_TOKEN_END; t = after) {
        if (rc || ln_il_scan(&s, 0, &after))
            return -1;
        if (ln_il_token_is(&t, "##")) {
            ops.joins = 1;
        } else if (def->is_function && ln_il_token_is(&t, "#")) {
            ops.is_string = 1;
            after.flags = t.flags;
        } else {
            const size_t begin = to->len;
            ops.joined = ln_il_token_is(&after, "##");
            if (append_operand(m, def, args, &t, ops, to) ||
                (ops.joins && check_joined(m, to, left, begin)))
                return -1;
            left = ops.joins ? left : begin;
            ops = (around){0};
        }
    }
    return 0;
}

// Puts the macro's expansion on the stack.
static int expand(ln_il_macros *m, macro *def, const ln_il_token *name)
{
    ln_il_text to = {0};
    argument *args = ln_alloc_array(def->n_params + 1, sizeof(*args));
    int rc =
        args ? append(m, &to, " ", name->flags & LN_IL_AFTER_BLANK ? 1 : 0, 0) : fail_memory(m);
    if (!rc && def->is_function)
        rc = read_arguments(m, def, args);
    if (!rc)
        rc = make_expansion(m, def, args, &to);
    if (!rc)
        rc = push(m, to.text, to.len, to.text, def);
    else
        ln_free(to.text);
    ln_free(to.lines);
    for (size_t i = 0; args && i < def->n_params; i++) {
        ln_il_text_free(&args[i].raw);
        ln_il_text_free(&args[i].expanded);
    }
    ln_free(args);
    return rc;
}

int ln_il_macros_next(ln_il_macros *m, ln_il_token *t)
{
    for (;;) {
        if (read_token(m, t))
            return -1;
        if (!m->top)
            m->place = m->source->place;
        const int is_name = t->kind == LN_IL_TOKEN_NAME && !(t->flags & LN_IL_NOT_EXPANDED);
        macro *def = is_name ? ln_hash_find(m->table, t) : NULL;
        if (def && def->active)
            t->flags |= LN_IL_NOT_EXPANDED;
        if (!def || def->active)
            return 0;
        const int is_called = def->is_function ? take_parenthesis(m) : 1;
        t->text = def->name.text; // the expansion that it was in may have ended
        if (is_called <= 0)
            return is_called;
        if (expand(m, def, t))
            return -1;
    }
}

// Conditions

// After `defined`: NAME or (NAME).
static int read_defined(ln_il_macros *m, ln_il_token *t)
{
    ln_il_token name, close = {0};
    const int enclosed = take_parenthesis(m);
    if (enclosed < 0 || read_token(m, &name))
        return -1;
    t->text = ln_il_macros_has(m, &name) ? "1" : "0";
    t->len = 1;
    if (name.kind == LN_IL_TOKEN_NAME && enclosed && read_token(m, &close))
        return -1;
    return name.kind == LN_IL_TOKEN_NAME && (!enclosed || ln_il_token_is(&close, ")"))
               ? 0
               : fail(m, "'defined' expects a name");
}

static int expand_condition(ln_il_macros *m, ln_il_text *text)
{
    ln_il_token t;
    for (;;) {
        if (ln_il_macros_next(m, &t))
            return -1;
        if (t.kind == LN_IL_TOKEN_END)
            return 0;
        if ((ln_il_token_is(&t, "defined") && read_defined(m, &t)) ||
            append(m, text, t.text, t.len, t.flags & LN_IL_AFTER_BLANK))
            return -1;
    }
}

int ln_il_macros_evaluate(ln_il_macros *m, const char *text, const char *end, int *is_true)
{
    char value[LN_IL_VALUE_SIZE] = "0";
    ln_il_text expanded = {0};
    int rc = push(m, text, (size_t)(end - text), NULL, NULL) || expand_condition(m, &expanded);
    if (!rc) {
        pop(m);
        rc = ln_il_eval(expanded.text ? expanded.text : "", expanded.len, value, m->err);
        if (rc)
            ln_error_prefix(m->err, "%s:%d: #if", m->place.file, m->place.line);
    }
    *is_true = strcmp(value, "0") != 0;
    ln_il_text_free(&expanded);
    return rc ? -1 : 0;
}

void ln_il_macros_end(ln_il_macros *m)
{
    while (m->top)
        pop(m);
    ln_hash_free(m->table);
}
