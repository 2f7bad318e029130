// SPDX-License-Identifier: Apache-2.0
// The C preprocessor: directives, and the remaining text.

#include "il/ln_il_pre.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "lightnet/ln_util.h"

// Conditions within each other; bytes that are read, from all files, and written.
enum { MAX_CONDITIONS = 256, MAX_READ = 64 << 20, MAX_WRITTEN = 64 << 20 };

// The largest line of #line.
enum { MAX_LINE = 100000000 };

// One #if, up to its #endif.
typedef struct condition {
    ln_il_place place;
    int was_true; // one of its groups was read, or nothing in it is
    int has_else;
} condition;

// A text that is being read.
typedef struct source {
    struct source *outer; // which includes it; NULL: it is the model
    ln_il_scanner scanner;
    const char *folder; // searched first for its includes, beneath a search folder
    int n_conditions;   // that were open when it began
} source;

typedef struct preprocessor {
    ln_il_macros macros;
    source *top;
    condition conditions[MAX_CONDITIONS];
    int n_conditions;
    size_t n_read;
    ln_list *texts; // of all files so far: tokens borrow from them
    ln_il_includer includer;
    ln_il_text *out;
    ln_list **names;
    ln_il_token last; // that was written
    const char *name;
    ln_error *err;
} preprocessor;

static ln_il_place here(const preprocessor *p)
{
    return p->top ? p->top->scanner.place : (ln_il_place){p->name, 1};
}

static int fail_memory(const preprocessor *p)
{
    return ln_il_fail_memory(p->err, here(p));
}

// Sources

// Adds memory of ln_alloc to a list, or frees it. -1 with a reason.
static int keep(const preprocessor *p, ln_list **list, void *data)
{
    ln_list *longer = data ? ln_list_prepend(*list, data) : NULL;
    if (!longer) {
        ln_free(data);
        return fail_memory(p);
    }
    *list = longer;
    return 0;
}

// Takes `text`, which is a file's. `file` and `folder` are kept.
static int open_source(preprocessor *p, char *text, size_t len, const char *file,
                       const char *folder)
{
    if (keep(p, &p->texts, text))
        return -1;
    const char *nul = memchr(text, '\0', len);
    if (nul)
        return ln_error_set(p->err, "%s: NUL byte at offset %td, expected text", file, nul - text);
    if (len > MAX_READ - p->n_read)
        return ln_error_set(p->err, "%s: the model and its included files exceed %d bytes", file,
                            MAX_READ);
    p->n_read += len;
    source *s = ln_alloc(sizeof(*s));
    if (!s)
        return fail_memory(p);
    *s = (source){.outer = p->top, .folder = folder, .n_conditions = p->n_conditions};
    s->scanner = (ln_il_scanner){.at = text,
                                 .end = text + ln_il_join_lines(text, len),
                                 .place = {file, 1},
                                 .begins_line = 1,
                                 .err = p->err};
    p->top = s;
    return 0;
}

static void close_source(preprocessor *p)
{
    source *s = p->top;
    p->top = s->outer;
    ln_free(s);
}

// Lines of directives

// The tokens up to the end of the line.
static int scan_line(preprocessor *p, ln_il_tokens *line)
{
    ln_il_token t;
    do {
        if (ln_il_scan(&p->top->scanner, 1, &t))
            return -1;
        if (t.kind != LN_IL_TOKEN_END && ln_il_tokens_push(line, t))
            return fail_memory(p);
    } while (t.kind != LN_IL_TOKEN_END);
    return 0;
}

static void skip_line(ln_il_scanner *s)
{
    const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
    s->at = newline ? newline : s->end;
}

// Conditions

static int evaluate(preprocessor *p, const ln_il_token *tokens, size_t n, int *is_true)
{
    ln_il_tokens replaced = {0};
    const int rc = ln_il_macros_replace(&p->macros, tokens, n, 1, &replaced) ||
                           ln_il_if(&replaced, p->macros.place, is_true, p->err)
                       ? -1
                       : 0;
    ln_il_tokens_free(&replaced);
    return rc;
}

static int evaluate_defined(const preprocessor *p, const ln_il_token *tokens, size_t n,
                            const char *directive, int *is_true)
{
    if (n != 1 || tokens->kind != LN_IL_TOKEN_NAME)
        return ln_il_fail(p->err, here(p), "#%s expects one name", directive);
    *is_true = ln_il_macros_has(&p->macros, tokens);
    return 0;
}

static int open_condition(preprocessor *p, int is_true)
{
    if (p->n_conditions == MAX_CONDITIONS)
        return ln_il_fail(p->err, here(p), "conditions are nested too deeply, expected at most %d",
                          MAX_CONDITIONS);
    p->conditions[p->n_conditions++] = (condition){.place = here(p), .was_true = is_true};
    return 0;
}

// The innermost condition that the present file opened; NULL with a reason.
static condition *innermost(preprocessor *p, const char *directive)
{
    if (p->n_conditions > p->top->n_conditions)
        return &p->conditions[p->n_conditions - 1];
    ln_il_fail(p->err, here(p), "#%s without #if", directive);
    return NULL;
}

static int skip_group(preprocessor *p);

static int do_if(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    int is_true;
    if (evaluate(p, tokens, n, &is_true) || open_condition(p, is_true))
        return -1;
    return is_true ? 0 : skip_group(p);
}

static int do_ifdef(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    int is_true;
    if (evaluate_defined(p, tokens, n, "ifdef", &is_true) || open_condition(p, is_true))
        return -1;
    return is_true ? 0 : skip_group(p);
}

static int do_ifndef(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    int is_defined;
    if (evaluate_defined(p, tokens, n, "ifndef", &is_defined) || open_condition(p, !is_defined))
        return -1;
    return is_defined ? skip_group(p) : 0;
}

static condition *find_open(preprocessor *p, const char *directive)
{
    condition *c = innermost(p, directive);
    if (!c || !c->has_else)
        return c;
    ln_il_fail(p->err, here(p), "#%s after #else", directive);
    return NULL;
}

// Where a group that was read ends.
static int do_elif(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    (void)tokens;
    (void)n;
    return find_open(p, "elif") ? skip_group(p) : -1;
}

static int do_else(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    (void)tokens;
    (void)n;
    condition *c = find_open(p, "else");
    if (!c)
        return -1;
    c->has_else = 1;
    return skip_group(p);
}

static int do_endif(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    (void)tokens;
    (void)n;
    if (!innermost(p, "endif"))
        return -1;
    p->n_conditions--;
    return 0;
}

// At a directive in a skipped group, `depth` conditions deeper. *ends: the next line is read.
static int look_at_directive(preprocessor *p, const ln_il_token *name, int *depth, int *ends)
{
    condition *c = &p->conditions[p->n_conditions - 1];
    const int is_elif = ln_il_token_is(name, "elif"), is_else = ln_il_token_is(name, "else");
    if (ln_il_token_is(name, "if") || ln_il_token_is(name, "ifdef") ||
        ln_il_token_is(name, "ifndef")) {
        ++*depth;
    } else if (ln_il_token_is(name, "endif")) {
        *ends = !*depth;
        *depth -= !*ends;
        p->n_conditions -= *ends;
    } else if (!*depth && (is_elif || is_else)) {
        if (!find_open(p, is_elif ? "elif" : "else"))
            return -1;
        c->has_else = is_else;
        *ends = is_else && !c->was_true;
    }
    return 0;
}

static int look_at_elif(preprocessor *p, int *ends)
{
    condition *c = &p->conditions[p->n_conditions - 1];
    ln_il_tokens line = {0};
    p->top->scanner.skips = 0;
    p->macros.place = here(p);
    const int rc = scan_line(p, &line) || evaluate(p, line.at, line.n, ends) ? -1 : 0;
    p->top->scanner.skips = 1;
    ln_il_tokens_free(&line);
    c->was_true |= !rc && *ends;
    return rc;
}

static int skip_to_end(preprocessor *p)
{
    ln_il_scanner *s = &p->top->scanner;
    ln_il_token t;
    for (int depth = 0, ends = 0; !ends;) {
        if (ln_il_scan(s, 0, &t))
            return -1;
        if (t.kind == LN_IL_TOKEN_END)
            return 0; // the end of the file reports the open condition
        if (!(t.flags & LN_IL_FIRST_OF_LINE) || !ln_il_token_is(&t, "#"))
            continue;
        if (ln_il_scan(s, 1, &t) || look_at_directive(p, &t, &depth, &ends))
            return -1;
        if (!depth && !ends && ln_il_token_is(&t, "elif") &&
            !p->conditions[p->n_conditions - 1].was_true && look_at_elif(p, &ends))
            return -1;
    }
    skip_line(s);
    return 0;
}

// Up to the line of the #elif, #else or #endif after which is read again.
static int skip_group(preprocessor *p)
{
    source *s = p->top;
    skip_line(&s->scanner);
    s->scanner.skips = 1;
    const int rc = skip_to_end(p);
    s->scanner.skips = 0;
    return rc;
}

// Other directives

static int do_define(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    return ln_il_macros_define(&p->macros, tokens, n);
}

static int do_undef(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    return ln_il_macros_undefine(&p->macros, n == 1 ? tokens : NULL);
}

static int do_error(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    const char *begin = n ? tokens->text : "";
    const size_t len = n ? (size_t)(tokens[n - 1].text + tokens[n - 1].len - begin) : 0;
    return ln_il_fail(p->err, here(p), "#error %.*s", (int)(len < 1000 ? len : 1000), begin);
}

static int do_pragma(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    return n == 1 && ln_il_token_is(tokens, "once") ? ln_il_include_once(&p->includer, p->err) : 0;
}

// The text of a string without its quotes: no name of a file has escape sequences.
static char *unquote(const preprocessor *p, const ln_il_token *t)
{
    char *text = ln_alloc(t->len);
    if (!text)
        fail_memory(p);
    else
        memcpy(text, t->text + 1, t->len - 2);
    return text;
}

static int set_line(preprocessor *p, const ln_il_tokens *line)
{
    ln_il_place *place = &p->top->scanner.place;
    char text[16] = {0};
    const int has_file = line->n == 2 && line->at[1].kind == LN_IL_TOKEN_STRING;
    if ((line->n != 1 && !has_file) || line->at[0].len >= sizeof(text))
        return ln_il_fail(p->err, *place, "#line expects a number and perhaps a file");
    memcpy(text, line->at[0].text, line->at[0].len);
    char *end;
    const long number = strtol(text, &end, 10);
    if (*end || end == text || number < 0 || number > MAX_LINE)
        return ln_il_fail(p->err, *place, "#line %s, expected a number up to %d", text, MAX_LINE);
    if (has_file) {
        char *file = unquote(p, &line->at[1]);
        if (!file || keep(p, p->names, file))
            return -1;
        place->file = file;
    }
    place->line = (int)number - 1; // the newline is still to come
    return 0;
}

static int do_line(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    ln_il_tokens line = {0};
    const int rc =
        ln_il_macros_replace(&p->macros, tokens, n, 0, &line) || set_line(p, &line) ? -1 : 0;
    ln_il_tokens_free(&line);
    return rc;
}

static int open_included(preprocessor *p, const ln_il_token *t)
{
    ln_il_included file = {0};
    char *path = unquote(p, t);
    int rc = path ? ln_il_include(&p->includer, p->top->folder, path, here(p), &file, p->err) : -1;
    if (rc > 0) // once, and it was already
        rc = 0;
    else if (!rc)
        rc = open_source(p, file.text, file.len, file.name, file.folder);
    ln_free(path);
    return rc;
}

static int include(preprocessor *p, const ln_il_tokens *line)
{
    if (line->n != 1 || line->at[0].kind != LN_IL_TOKEN_STRING)
        return ln_il_fail(p->err, here(p), "#include: expected a file name in quotes");
    return open_included(p, &line->at[0]);
}

static int do_include(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    ln_il_tokens line = {0};
    const int rc =
        ln_il_macros_replace(&p->macros, tokens, n, 0, &line) || include(p, &line) ? -1 : 0;
    ln_il_tokens_free(&line);
    return rc;
}

static const struct {
    const char *name;
    int (*run)(preprocessor *p, const ln_il_token *tokens, size_t n);
    int in_calls; // it may be among the arguments of a macro
} directives[] = {
    {"define", do_define, 0}, {"undef", do_undef, 0}, {"include", do_include, 0},
    {"if", do_if, 1},         {"ifdef", do_ifdef, 1}, {"ifndef", do_ifndef, 1},
    {"elif", do_elif, 1},     {"else", do_else, 1},   {"endif", do_endif, 1},
    {"line", do_line, 1},     {"error", do_error, 1}, {"pragma", do_pragma, 1},
};

enum { N_DIRECTIVES = sizeof(directives) / sizeof(directives[0]) };

static int run_directive(preprocessor *p, const ln_il_token *tokens, size_t n)
{
    size_t d = 0;
    if (tokens->kind == LN_IL_TOKEN_NUMBER) // # 7 "FILE", as preprocessors write it
        return do_line(p, tokens, n < 2 ? n : 2);
    while (d < N_DIRECTIVES && !ln_il_token_is(tokens, directives[d].name))
        d++;
    if (d == N_DIRECTIVES)
        return ln_il_fail(p->err, here(p), "unknown directive '#%.*s'",
                          tokens->len < 40 ? (int)tokens->len : 40, tokens->text);
    if (p->macros.calls && !directives[d].in_calls)
        return ln_il_fail(p->err, here(p), "#%s inside the arguments of a macro call",
                          directives[d].name);
    return directives[d].run(p, tokens + 1, n - 1);
}

// Behind #, which begins a line.
static int read_directive(preprocessor *p)
{
    ln_il_tokens line = {0};
    ln_il_place before = p->macros.place;
    p->macros.place = here(p);
    const int rc = scan_line(p, &line) || (line.n && run_directive(p, line.at, line.n)) ? -1 : 0;
    p->macros.place = before;
    ln_il_tokens_free(&line);
    return rc;
}

// Text

// The next token of the text that is no directive's: a ln_il_source_func.
static int read_token(void *data, ln_il_token *t, ln_il_place *place)
{
    preprocessor *p = data;
    for (;;) {
        const ln_il_scanner before = p->top->scanner;
        if (ln_il_scan(&p->top->scanner, 0, t))
            return -1;
        *place = here(p);
        if (t->kind == LN_IL_TOKEN_END) {
            if (p->n_conditions != p->top->n_conditions)
                return ln_il_fail(p->err, p->conditions[p->n_conditions - 1].place,
                                  "#if without #endif");
            if (!p->top->outer || p->macros.calls)
                return 0;
            ln_il_include_ends(&p->includer);
            close_source(p);
        } else if (!(t->flags & LN_IL_FIRST_OF_LINE) || !ln_il_token_is(t, "#")) {
            return 0;
        } else if (p->macros.peeks) { // the next token is no parenthesis
            p->top->scanner = before;
            t->kind = LN_IL_TOKEN_END;
            return 0;
        } else if (read_directive(p)) {
            return -1;
        }
    }
}

static int is_line(const preprocessor *p, ln_il_place place)
{
    const ln_il_text *out = p->out;
    const ln_il_place *line = out->n_lines ? &out->lines[out->n_lines - 1] : NULL;
    return line && line->file == place.file && line->line == place.line;
}

// A token from another line than the last one begins a line, unless it directly follows that one.
static int write_token(preprocessor *p, const ln_il_token *t)
{
    ln_il_text *out = p->out;
    const int is_first = !out->n_lines;
    const int is_apart = t->flags & LN_IL_AFTER_BLANK || is_first;
    int rc = 0;
    if (is_apart && !is_line(p, p->macros.place))
        rc = ln_il_text_begin_line(out, p->macros.place);
    else if (is_apart || ln_il_tokens_stick(&p->last, t))
        rc = ln_il_text_append(out, " ", 1);
    p->last = *t;
    if (rc || ln_il_text_append(out, t->text, t->len))
        return fail_memory(p);
    return out->len > MAX_WRITTEN
               ? ln_il_fail(p->err, p->macros.place, "the preprocessed model exceeds %d bytes",
                            MAX_WRITTEN)
               : 0;
}

static int write_all(preprocessor *p)
{
    ln_il_token t;
    for (;;) {
        if (ln_il_macros_next(&p->macros, &t))
            return -1;
        if (t.kind == LN_IL_TOKEN_END)
            return 0;
        if (write_token(p, &t))
            return -1;
    }
}

static int begin(preprocessor *p, const void *bytes, size_t size)
{
    char *text = ln_alloc(size + 1);
    if (!text)
        return fail_memory(p);
    memcpy(text, bytes, size);
    return open_source(p, text, size, p->name, "") ||
                   ln_il_macros_begin(&p->macros, here(p), read_token, p, p->includer.host, p->err)
               ? -1
               : 0;
}

static void end(preprocessor *p)
{
    while (p->top)
        close_source(p);
    ln_il_macros_end(&p->macros);
    ln_list_free_deep(p->texts, ln_free);
    ln_il_includer_end(&p->includer);
    ln_free(p);
}

int ln_il_preprocess(const char *name, const void *bytes, size_t size, const ln_il_host *host,
                     ln_il_text *out, ln_list **names, ln_error *err)
{
    preprocessor *p = ln_alloc(sizeof(*p));
    if (!p)
        return ln_error_memory_at(err, name);
    p->includer.host = host;
    p->includer.names = names;
    p->out = out;
    p->names = names;
    p->name = name;
    p->err = err;
    const int rc = begin(p, bytes, size) || write_all(p) ? -1 : 0;
    end(p);
    return rc;
}

void ln_il_names_free(ln_list *names)
{
    ln_list_free_deep(names, ln_free);
}
