// SPDX-License-Identifier: Apache-2.0
// The preprocessor: directives, and the remaining text.

#include "il/ln_il_pre.h"

#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "lightnet/ln_util.h"

// Nesting of conditions; bytes read, from all files, and written.
enum { MAX_CONDITIONS = 256, MAX_READ = 64 << 20, MAX_WRITTEN = 64 << 20 };

// Nesting of included files, and their total number.
enum { MAX_DEPTH = 64, MAX_FILES = 10000 };

// The largest line of #line.
enum { MAX_LINE = 100000000 };

// One #if, up to its #endif.
typedef struct condition {
    ln_il_place place;
    int is_active;  // its current group is not skipped
    int was_active; // nor one before
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
    const ln_il_host *host;
    source *top;
    int depth, n_files; // open files, with the model; included files so far
    condition conditions[MAX_CONDITIONS];
    int n_conditions;
    int n_skipped; // conditions within a skipped group
    size_t n_read, steps;
    ln_list *texts; // of all files so far: tokens borrow from them
    ln_il_text *out;
    ln_list **names;
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

// Takes `data` (ln_alloc): adds it to a list, or frees it. -1 with a reason.
static int add_owned(const preprocessor *p, ln_list **list, void *data)
{
    ln_list *longer = data ? ln_list_prepend(*list, data) : NULL;
    if (!longer) {
        ln_free(data);
        return fail_memory(p);
    }
    *list = longer;
    return 0;
}

// Takes `text`, the content of a file. `file` and `folder` are borrowed.
static int open_source(preprocessor *p, char *text, size_t len, const char *file,
                       const char *folder)
{
    if (add_owned(p, &p->texts, text))
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
    p->depth++;
    p->macros.source = &s->scanner;
    return 0;
}

static void close_source(preprocessor *p)
{
    source *s = p->top;
    p->top = s->outer;
    p->depth--;
    p->macros.source = p->top ? &p->top->scanner : NULL;
    ln_free(s);
}

// Directives

typedef struct directive {
    ln_il_token name, first; // the first token after the name
    ln_il_scanner rest;      // of the line
} directive;

static int is_active(const preprocessor *p)
{
    return !p->n_conditions || p->conditions[p->n_conditions - 1].is_active;
}

static int open_condition(preprocessor *p, int is_true)
{
    if (p->n_conditions == MAX_CONDITIONS)
        return ln_il_fail(p->err, here(p), "conditions are nested too deeply, expected at most %d",
                          MAX_CONDITIONS);
    p->conditions[p->n_conditions++] =
        (condition){.place = here(p), .is_active = is_true, .was_active = is_true};
    return 0;
}

static int evaluate(preprocessor *p, const directive *d, int *is_true)
{
    if (d->name.len == 2 || ln_il_token_is(&d->name, "elif"))
        return ln_il_macros_evaluate(&p->macros, d->first.text, d->rest.end, is_true);
    *is_true = ln_il_macros_has(&p->macros, &d->first) != ln_il_token_is(&d->name, "ifndef");
    return 0;
}

// #if, #ifdef, #ifndef
static int do_if(preprocessor *p, const directive *d)
{
    int is_true;
    return -(evaluate(p, d, &is_true) || open_condition(p, is_true));
}

static int do_elif(preprocessor *p, const directive *d)
{
    condition *c = &p->conditions[p->n_conditions - 1];
    c->is_active = 0;
    if (c->has_else)
        return ln_il_fail(p->err, here(p), "#elif after #else");
    if (!c->was_active && evaluate(p, d, &c->is_active))
        return -1;
    c->was_active |= c->is_active;
    return 0;
}

static int do_else(preprocessor *p, const directive *d)
{
    (void)d;
    condition *c = &p->conditions[p->n_conditions - 1];
    if (c->has_else)
        return ln_il_fail(p->err, here(p), "#else after #else");
    c->has_else = 1;
    c->is_active = !c->was_active;
    return 0;
}

static int do_endif(preprocessor *p, const directive *d)
{
    (void)d;
    p->n_conditions--;
    return 0;
}

static int do_define(preprocessor *p, const directive *d)
{
    return ln_il_macros_define(&p->macros, &d->first, &d->rest);
}

static int do_undef(preprocessor *p, const directive *d)
{
    ln_il_macros_undefine(&p->macros, &d->first);
    return 0;
}

static int do_error(preprocessor *p, const directive *d)
{
    const size_t len = (size_t)(d->rest.end - d->first.text);
    return ln_il_fail(p->err, here(p), "#error %.*s", (int)(len < 1000 ? len : 1000),
                      d->first.text);
}

// The text of a string without its quotes: no file name has escape sequences.
static char *unquote(const preprocessor *p, const ln_il_token *t)
{
    char *text = ln_alloc(t->len);
    if (!text)
        fail_memory(p);
    else
        memcpy(text, t->text + 1, t->len - 2);
    return text;
}

// A file and the flags that other preprocessors write may follow the number.
static int do_line(preprocessor *p, const directive *d)
{
    ln_il_place *place = &p->top->scanner.place;
    ln_il_scanner rest = d->rest;
    ln_il_token file;
    char *end;
    const long number = strtol(d->first.text, &end, 10);
    if (end != d->first.text + d->first.len || number < 0 || number > MAX_LINE)
        return ln_il_fail(p->err, *place, "#line: expected a number up to %d", MAX_LINE);
    if (ln_il_scan(&rest, 0, &file))
        return -1;
    if (file.kind == LN_IL_TOKEN_STRING) {
        char *name = unquote(p, &file);
        if (!name || add_owned(p, p->names, name))
            return -1;
        place->file = name;
    }
    place->line = (int)number - 1; // the newline is still to come
    return 0;
}

// Takes the content of the file.
static int open_included(preprocessor *p, ln_il_included *file)
{
    const int no_name = add_owned(p, p->names, file->name);
    const int no_folder = add_owned(p, p->names, file->folder);
    if (!no_name && !no_folder)
        return open_source(p, file->text, file->len, file->name, file->folder);
    ln_free(file->text);
    return -1;
}

static int do_include(preprocessor *p, const directive *d)
{
    ln_il_included file;
    ln_error reason = {0};
    if (p->depth > MAX_DEPTH)
        return ln_il_fail(p->err, here(p), "#include: files include each other more than %d deep",
                          MAX_DEPTH);
    if (p->n_files++ == MAX_FILES)
        return ln_il_fail(p->err, here(p), "#include: more than %d files", MAX_FILES);
    char *path = unquote(p, &d->first);
    if (!path)
        return -1;
    const int rc = ln_il_include(p->host, p->top->folder, path, &file, &reason);
    ln_free(path);
    return rc ? ln_il_fail(p->err, here(p), "#include: %s", reason.text) : open_included(p, &file);
}

// What a directive does to conditions, and what follows its name.
enum { OPENS = 1, CHANGES, CLOSES };
enum { ANYTHING, A_NAME, ONLY_A_NAME, ONLY_A_FILE };

static const struct {
    const char *name;
    int (*run)(preprocessor *p, const directive *d);
    int conditions, follows;
} directives[] = {
    {"define", do_define, 0, A_NAME},        {"undef", do_undef, 0, ONLY_A_NAME},
    {"include", do_include, 0, ONLY_A_FILE}, {"line", do_line, 0, ANYTHING},
    {"error", do_error, 0, ANYTHING},        {"if", do_if, OPENS, ANYTHING},
    {"ifdef", do_if, OPENS, ONLY_A_NAME},    {"ifndef", do_if, OPENS, ONLY_A_NAME},
    {"elif", do_elif, CHANGES, ANYTHING},    {"else", do_else, CHANGES, ANYTHING},
    {"endif", do_endif, CLOSES, ANYTHING},
};

enum { N_DIRECTIVES = sizeof(directives) / sizeof(directives[0]) };

// Skips directives in a skipped group, except those that end it, and counts nested conditions.
static int skip_directive(preprocessor *p, size_t d)
{
    const int does = d < N_DIRECTIVES ? directives[d].conditions : 0;
    if (is_active(p) || (!p->n_skipped && (does == CHANGES || does == CLOSES)))
        return 0;
    p->n_skipped += (does == OPENS) - (does == CLOSES);
    return 1;
}

static int check_directive(const preprocessor *p, size_t i, const directive *d)
{
    static const char *const expected[] = {"", "a name", "one name", "a file name in quotes"};
    const int follows = directives[i].follows;
    const int kind = follows == ONLY_A_FILE ? LN_IL_TOKEN_STRING : LN_IL_TOKEN_NAME;
    ln_il_scanner rest = d->rest;
    ln_il_token after;
    if (directives[i].conditions > OPENS && p->n_conditions == p->top->n_conditions)
        return ln_il_fail(p->err, here(p), "#%s without #if", directives[i].name);
    if (ln_il_scan(&rest, 0, &after))
        return -1;
    if (follows && (d->first.kind != kind || ln_il_token_is(&d->first, "defined") ||
                    (follows != A_NAME && after.len)))
        return ln_il_fail(p->err, here(p), "#%s: expected %s", directives[i].name,
                          expected[follows]);
    return 0;
}

static int run_directive(preprocessor *p, const directive *d)
{
    size_t i = 0;
    while (i < N_DIRECTIVES && !ln_il_token_is(&d->name, directives[i].name))
        i++;
    if (skip_directive(p, i))
        return 0;
    if (i == N_DIRECTIVES)
        return ln_il_fail(p->err, here(p), "unknown directive '#%.*s'",
                          d->name.len < 40 ? (int)d->name.len : 40, d->name.text);
    return check_directive(p, i, d) ? -1 : directives[i].run(p, d);
}

// After the # that begins a line.
static int read_directive(preprocessor *p)
{
    ln_il_scanner *s = &p->top->scanner;
    directive d;
    ln_il_token t;
    p->macros.place = here(p);
    if (ln_il_scan(s, 1, &d.name))
        return -1;
    d.first = d.name;
    if (d.name.kind == LN_IL_TOKEN_NUMBER) // # 7 "FILE"
        d.name = (ln_il_token){.text = "line", .len = 4};
    else if (ln_il_scan(s, 1, &d.first))
        return -1;
    d.rest = *s;
    d.rest.end = s->at;
    do {
        if (ln_il_scan(s, 1, &t))
            return -1;
        d.rest.end = t.len ? s->at : d.rest.end;
    } while (t.len);
    return d.name.len ? run_directive(p, &d) : 0;
}

// Text

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
    const int is_apart = t->flags & LN_IL_AFTER_BLANK || !out->n_lines;
    const int begins_line = is_apart && !is_line(p, p->macros.place);
    if ((begins_line && ln_il_text_begin_line(out, p->macros.place)) ||
        ln_il_text_append_apart(out, t->text, t->len, is_apart))
        return fail_memory(p);
    return out->len > MAX_WRITTEN
               ? ln_il_fail(p->err, p->macros.place, "the preprocessed model exceeds %d bytes",
                            MAX_WRITTEN)
               : 0;
}

// Returns 1 at the end of the model, 0 after that of an included file.
static int end_source(preprocessor *p)
{
    if (p->n_conditions != p->top->n_conditions)
        return ln_il_fail(p->err, p->conditions[p->n_conditions - 1].place, "#if without #endif");
    if (!p->top->outer)
        return 1;
    close_source(p);
    return 0;
}

// Returns 1 at the end, 0 before it.
static int read_next(preprocessor *p)
{
    ln_il_token t;
    const int is_read = is_active(p);
    p->top->scanner.skips = !is_read;
    if (ln_il_host_step(p->host, &p->steps) ||
        (is_read ? ln_il_macros_next(&p->macros, &t) : ln_il_scan(&p->top->scanner, 0, &t)))
        return -1;
    if (t.kind == LN_IL_TOKEN_END)
        return end_source(p);
    if (ln_il_token_is_directive(&t))
        return read_directive(p);
    return is_read ? write_token(p, &t) : 0;
}

static int read_model(preprocessor *p, const void *bytes, size_t size)
{
    char *text = ln_alloc(size + 1);
    int rc = 0;
    if (!text)
        return fail_memory(p);
    memcpy(text, bytes, size);
    if (open_source(p, text, size, p->name, ""))
        return -1;
    p->macros.place = here(p);
    if (ln_il_macros_begin(&p->macros, p->host, p->err))
        return -1;
    while (!rc)
        rc = read_next(p);
    return rc < 0 ? -1 : 0;
}

int ln_il_preprocess(const char *name, const void *bytes, size_t size, const ln_il_host *host,
                     ln_il_text *out, ln_list **names, ln_error *err)
{
    preprocessor *p = ln_alloc(sizeof(*p));
    if (!p)
        return ln_error_memory_at(err, name);
    p->host = host;
    p->out = out;
    p->names = names;
    p->name = name;
    p->err = err;
    const int rc = read_model(p, bytes, size);
    while (p->top)
        close_source(p);
    ln_il_macros_end(&p->macros);
    ln_list_free_deep(p->texts, ln_free);
    ln_free(p);
    return rc;
}

void ln_il_names_free(ln_list *names)
{
    ln_list_free_deep(names, ln_free);
}
