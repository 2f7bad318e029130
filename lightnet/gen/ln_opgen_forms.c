// SPDX-License-Identifier: Apache-2.0
// Compiles the forms of operators in another format, ONNX, to tables (front/ln_form.h).
//
//     forms     = form {";" form}
//     form      = TYPE ["-" VERSION] "(" item {"," item} ")" ["->" OUTPUT {"," OUTPUT}] ["if" PARAM
//                 "==" VALUE {"," PARAM "==" VALUE}]
//     item      = [DTYPE | "(" DTYPE ")"] INPUT | PARAM | STRING | attribute
//     attribute = NAME [">=" VERSION] ["<" VERSION] [":" ["!"] PARAM] ["!" | "=" VALUE [words]]
//     words     = "{" WORD [">=" VERSION] ":" VALUE {"," WORD [">=" VERSION] ":" VALUE} "}"
//
// TYPE is a name, or a string with a domain: "com.microsoft:Inverse".

#include "gen/ln_opgen_code.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_lexer.h"
#include "gen/ln_opdesc_fields.h"
#include "gen/ln_opgen.h"
#include "lightnet/ln_util.h"

// A form in compilation. Texts are lines of generated C.
typedef struct form {
    ln_cgen *out;
    const ln_opdesc *op;
    const ln_rjson *node;
    ln_lexer lexer;
    int n; // its number
    const char *type, *items, *words, *outs, *schema;
    int since, n_ins, n_outs, n_words;
} form;

static int fail_at(const ln_scan *ps, const char *reason)
{
    const form *f = ps->owner;
    return ln_error_set(ps->err, "%s:%d:%d: operator '%s': \"%s\": %s", ps->file, ps->line,
                        ps->column, f->op->optype, f->node->key, reason);
}

#define ADD(f, line, ...) ln_arena_extend(&(f)->out->arena, line, __VA_ARGS__)

// The text of the current token, which is skipped.
static const char *take_text(form *f)
{
    const ln_scan_text *text = &f->lexer.text;
    char *copy = ln_arena_strndup(&f->out->arena, text->at ? text->at : "", text->len);
    ln_lexer_next(&f->lexer);
    return copy;
}

static int is_text(const ln_lexer *l)
{
    return ln_lexer_is(l, LN_TOKEN_NAME) || ln_lexer_is(l, LN_TOKEN_STRING);
}

static int parse_version(form *f, int *version)
{
    if (!ln_lexer_is(&f->lexer, LN_TOKEN_NUMBER))
        return ln_lexer_unexpected(&f->lexer, "a version");
    *version = (int)f->lexer.number;
    ln_lexer_next(&f->lexer);
    return 0;
}

// [">=" VERSION] ["<" VERSION], also as in schemas.
static int parse_range(form *f, int *since, const char **text)
{
    ln_lexer *l = &f->lexer;
    int before = 0;
    if (ln_lexer_accept(l, '>')) {
        if (ln_lexer_expect(l, '=') || parse_version(f, since))
            return -1;
        ADD(f, text, ">=%d", *since);
    }
    if (ln_lexer_accept(l, '<')) {
        if (parse_version(f, &before))
            return -1;
        ADD(f, text, "<%d", before);
    }
    return 0;
}

static const ln_argdesc *find_arg(const form *f, ln_argdesc_kind kind, const char *name)
{
    const ln_argdesc *const arg = ln_opdesc_find_arg(f->op, name);
    return arg && arg->kind == kind ? arg : NULL;
}

// Parameters

// How a format has a parameter: the kind of its attribute, and its letter in schemas.
typedef struct value_kind {
    const char *kind;
    char letter;
} value_kind;

static value_kind kind_of(const ln_argdesc *param)
{
    const char *const real = ln_argdesc_text(param, LN_ARGDESC_REALTYPE);
    const int is_int = real && !strcmp(real, "int"), is_dtype = real && !strcmp(real, "tl_dtype");
    const char *const last = strrchr(param->name, '_');
    const int is_axis = !strcmp(last ? last + 1 : param->name, "axis");
    const value_kind kinds[] = {
        [LN_ARGDESC_STRING] = is_dtype ? (value_kind){"DTYPE", 'i'} : (value_kind){"TEXT", 's'},
        [LN_ARGDESC_NUMBER] = !is_int   ? (value_kind){"NUMBER", 'f'}
                              : is_axis ? (value_kind){"AXIS", 'i'}
                                        : (value_kind){"INT", 'i'},
        [LN_ARGDESC_BOOL] = {"BOOL", 'i'},
        [LN_ARGDESC_ARRAY_NUMBER] =
            is_int ? (value_kind){"INTS", 'I'} : (value_kind){"NUMBERS", 'F'},
        [LN_ARGDESC_PTYPES] = {NULL, 0},
    };
    return kinds[param->ptype];
}

// "{" WORD ":" VALUE, .. "}": a table.
static int parse_words(form *f)
{
    ln_lexer *l = &f->lexer;
    ADD(f, &f->words, "static const ln_attr_word words_%d_%d[] = {", f->n, f->n_words++);
    do {
        int since = 0;
        const char *unused = "";
        if (!is_text(l))
            return ln_lexer_unexpected(l, "a word");
        const char *const word = take_text(f);
        if (parse_range(f, &since, &unused) || ln_lexer_expect(l, ':'))
            return -1;
        if (!is_text(l))
            return ln_lexer_unexpected(l, "a value of the parameter");
        ADD(f, &f->words, "{%s, \"%s\", %d}, ", ln_cgen_quote(f->out, word), take_text(f), since);
    } while (ln_lexer_accept(l, ','));
    ADD(f, &f->words, "{0}};\n");
    return ln_lexer_expect(l, '}');
}

// "!", "=" VALUE: as fields of the row.
static int parse_default(form *f, const char **line)
{
    ln_lexer *l = &f->lexer;
    if (ln_lexer_accept(l, '!')) {
        ADD(f, line, ", .is_required = 1");
        return 0;
    }
    if (!ln_lexer_accept(l, '='))
        return 0;
    const char *const sign = ln_lexer_accept(l, '-') ? "-" : "";
    if (ln_lexer_is(l, LN_TOKEN_NUMBER))
        ADD(f, line, ", .has_default = 1, .number = %s%s", sign, take_text(f));
    else if (is_text(l))
        ADD(f, line, ", .has_default = 1, .text = %s", ln_cgen_quote(f->out, take_text(f)));
    else
        return ln_lexer_unexpected(l, "a value");
    return 0;
}

static int parse_attribute(form *f, const char *name)
{
    ln_lexer *l = &f->lexer;
    const char *word = name, *line = "", *param_name = name;
    int since = 0, is_not = 0;
    if (parse_range(f, &since, &word))
        return -1;
    if (ln_lexer_accept(l, ':')) {
        is_not = ln_lexer_accept(l, '!');
        param_name = ln_lexer_is(l, LN_TOKEN_NAME) ? take_text(f) : "";
    }
    const ln_argdesc *const param = find_arg(f, LN_ARGDESC_PARAM, param_name);
    const value_kind kind = param ? kind_of(param) : (value_kind){NULL, 0};
    if (!kind.kind)
        return ln_lexer_fail(l, "attribute '%s' is '%s', expected an input or a parameter", name,
                             param_name);
    ADD(f, &line, "{LN_FORM_%s, \"%s\", .name = \"%s\"", kind.kind, param_name, name);
    if (is_not)
        ADD(f, &line, ", .is_not = 1");
    if (since)
        ADD(f, &line, ", .since = %d", since);
    if (parse_default(f, &line))
        return -1;
    const int has_words = ln_lexer_accept(l, '{');
    if (has_words)
        ADD(f, &line, ", .words = words_%d_%d", f->n, f->n_words);
    ADD(f, &f->items, "%s},\n", line);
    ADD(f, &f->schema, "%s%.*s:%c%s", *f->schema ? " " : "", (int)strlen(name), word,
        has_words ? 's' : kind.letter, word + strlen(name));
    return has_words ? parse_words(f) : 0;
}

// Items

// The input that sets a parameter in each run; NULL: there is none.
static const ln_argdesc *find_setter(const form *f, const char *param)
{
    for (size_t i = 0; i < f->op->nargs; i++) {
        const char *const sets = ln_argdesc_text(&f->op->args[i], LN_ARGDESC_SETS);
        if (sets && !strcmp(sets, param))
            return &f->op->args[i];
    }
    return NULL;
}

static int add_param(form *f, const char *name)
{
    const ln_argdesc *const param = find_arg(f, LN_ARGDESC_PARAM, name);
    const value_kind kind = param ? kind_of(param) : (value_kind){NULL, 0};
    const ln_argdesc *const setter = find_setter(f, name);
    if (!kind.kind)
        return ln_lexer_fail(&f->lexer, "'%s' is neither an input nor a parameter", name);
    ADD(f, &f->items, "{LN_FORM_%s, \"%s\", .is_required = 1", kind.kind, name);
    if (setter)
        ADD(f, &f->items, ", .text = \"%s\"", setter->name);
    ADD(f, &f->items, "},\n");
    f->n_ins++;
    return 0;
}

static int add_input(form *f, const char *name, const char *dtype, int is_cast)
{
    const ln_argdesc *const in = find_arg(f, LN_ARGDESC_IN, name);
    if (!in)
        return add_param(f, name);
    ADD(f, &f->items, "{LN_FORM_IN, \"%s\"", name);
    if (!in->optional)
        ADD(f, &f->items, ", .is_required = 1");
    if (dtype)
        ADD(f, &f->items, ", .dtype = %s, .is_%s = 1", dtype, is_cast ? "cast" : "wanted");
    ADD(f, &f->items, "},\n");
    f->n_ins++;
    return 0;
}

static int parse_item(form *f)
{
    ln_lexer *l = &f->lexer;
    if (ln_lexer_is(l, LN_TOKEN_STRING)) {
        ADD(f, &f->schema, "%s%s", *f->schema ? " " : "", take_text(f));
        return 0;
    }
    const int is_cast = ln_lexer_accept(l, '(');
    if (!ln_lexer_is(l, LN_TOKEN_NAME))
        return ln_lexer_unexpected(l, "an input or an attribute");
    const char *const name = take_text(f);
    if (is_cast && ln_lexer_expect(l, ')'))
        return -1;
    if (ln_lexer_is(l, LN_TOKEN_NAME))
        return add_input(f, take_text(f), name, is_cast);
    if (ln_lexer_is(l, ',') || ln_lexer_is(l, ')'))
        return add_input(f, name, NULL, 0);
    return parse_attribute(f, name);
}

static int parse_output(form *f)
{
    const char *const name = ln_lexer_is(&f->lexer, LN_TOKEN_NAME) ? take_text(f) : "";
    if (!find_arg(f, LN_ARGDESC_OUT, name))
        return ln_lexer_fail(&f->lexer, "'%s' is no output", name);
    ADD(f, &f->outs, "{LN_FORM_OUT, \"%s\"},\n", name);
    f->n_outs++;
    return 0;
}

static int parse_outputs(form *f)
{
    ln_lexer *l = &f->lexer;
    if (!ln_lexer_accept(l, '-')) {
        ADD(f, &f->outs, "{LN_FORM_OUT, \"dst\"},\n");
        f->n_outs = 1;
        return 0;
    }
    if (ln_lexer_expect(l, '>'))
        return -1;
    do {
        if (parse_output(f))
            return -1;
    } while (ln_lexer_accept(l, ','));
    return 0;
}

static int parse_condition(form *f)
{
    ln_lexer *l = &f->lexer;
    const char *const name = ln_lexer_is(l, LN_TOKEN_NAME) ? take_text(f) : "";
    const ln_argdesc *const param = find_arg(f, LN_ARGDESC_PARAM, name);
    if (!param)
        return ln_lexer_fail(l, "'%s' is no parameter", name);
    if (ln_lexer_expect(l, '=') || ln_lexer_expect(l, '='))
        return -1;
    if (!is_text(l) && !ln_lexer_is(l, LN_TOKEN_NUMBER))
        return ln_lexer_unexpected(l, "a value of the parameter");
    ADD(f, &f->items, "{LN_FORM_IS_%s, \"%s\", .text = \"%s\", .number = %.17g},\n",
        param->ptype == LN_ARGDESC_BOOL     ? "BOOL"
        : param->ptype == LN_ARGDESC_NUMBER ? "NUMBER"
                                            : "TEXT",
        name, f->lexer.text.at,
        ln_lexer_is(l, LN_TOKEN_NUMBER) ? l->number : ln_lexer_is_word(l, "true"));
    ln_lexer_next(l);
    return 0;
}

// After the type.
static int parse_rest(form *f)
{
    ln_lexer *l = &f->lexer;
    if (ln_lexer_accept(l, '-') && parse_version(f, &f->since))
        return -1;
    if (ln_lexer_expect(l, '('))
        return -1;
    do {
        if (parse_item(f))
            return -1;
    } while (ln_lexer_accept(l, ','));
    if (ln_lexer_expect(l, ')') || parse_outputs(f))
        return -1;
    if (!ln_lexer_accept_word(l, "if"))
        return 0;
    do {
        if (parse_condition(f))
            return -1;
    } while (ln_lexer_accept(l, ','));
    return 0;
}

// Forms

// The list of rows that a form is in: LN_FORMS, LN_FORMS_COM_MICROSOFT.
static const char *list_of(const form *f)
{
    const char *const colon = strchr(f->type, ':');
    char *list = ln_arena_printf(&f->out->arena, "LN_FORMS%s%.*s", colon ? "_" : "",
                                 colon ? (int)(colon - f->type) : 0, f->type);
    for (char *c = list; *c; c++)
        *c = (char)(*c == '.' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    return list;
}

// Rows of the lists, each with its list before it; and of the table.
typedef struct lists {
    const char *names[4], *rows[4], *table;
    int n, n_forms;
} lists;

static const char **rows_of(lists *all, const char *name)
{
    for (int i = 0; i < all->n; i++)
        if (!strcmp(all->names[i], name))
            return &all->rows[i];
    all->names[all->n] = name;
    all->rows[all->n] = "";
    return &all->rows[all->n++];
}

// Lines that each end with a newline.
static void print_lines(ln_cgen *out, int indent, const char *lines)
{
    for (size_t len; *lines; lines += len + 1) {
        len = strcspn(lines, "\n");
        ln_cgen_line(out, indent, "%.*s", (int)len, lines);
    }
}

static void write_form(form *f, lists *all)
{
    const char *const colon = strchr(f->type, ':');
    print_lines(f->out, 0, f->words);
    ln_cgen_print(f->out, "static const ln_form_item items_%d[] = {\n", f->n);
    print_lines(f->out, 4, f->items);
    print_lines(f->out, 4, f->outs);
    ln_cgen_print(f->out, "    {LN_FORM_END},\n};\n");
    ADD(f, rows_of(all, list_of(f)), " \\\n    ROW(%d, \"%s\", %d, \"%d\", \"%d\", %s, \"%s\")",
        f->n, colon ? colon + 1 : f->type, f->since, f->n_ins, f->n_outs,
        ln_cgen_quote(f->out, f->schema), f->op->optype);
    ADD(f, &all->table, "{\"%s\", \"%s\", %d, items_%d},\n", f->op->optype, f->type, f->since,
        f->n);
}

static int compile(ln_cgen *out, const ln_opdesc *op, const ln_rjson *node, lists *all,
                   ln_error *err)
{
    form f = {.out = out, .op = op, .node = node};
    const ln_scan at = {.file = node->file,
                        .p = node->text,
                        .end = node->text + strlen(node->text),
                        .line = node->text_line,
                        .column = node->is_block ? 1 : node->column + 1,
                        .err = err,
                        .fail = fail_at,
                        .owner = &f};
    ln_lexer_begin(&f.lexer, &at);
    int failed = 0;
    while (!failed && !ln_lexer_is(&f.lexer, LN_TOKEN_END)) {
        f.n = all->n_forms++;
        f.items = f.words = f.outs = f.schema = "";
        f.since = f.n_ins = f.n_outs = f.n_words = 0;
        if (!is_text(&f.lexer)) {
            failed = ln_lexer_unexpected(&f.lexer, "an operator's type");
            break;
        }
        f.type = take_text(&f);
        failed = parse_rest(&f);
        if (!failed)
            write_form(&f, all);
        if (!failed && !ln_lexer_is(&f.lexer, LN_TOKEN_END))
            failed = ln_lexer_expect(&f.lexer, ';');
    }
    return ln_lexer_end(&f.lexer) || failed ? -1 : 0;
}

int ln_opgen_forms(ln_cgen *out, const ln_opdescs *descs, ln_error *err)
{
    lists all = {.table = ""};
    ln_cgen_print(out, "// Generated from ");
    ln_opgen_print_sources(out, descs);
    ln_cgen_print(out, ": their operators in another format.\n\n#include \"front/ln_form.h\"\n\n");
    for (size_t i = 0; i < descs->len; i++) {
        const ln_opdesc *const op = descs->ops[i];
        const ln_rjson *const onnx = op->fields[LN_OPDESC_ONNX];
        if (ln_opdesc_is_generated(op) && onnx && compile(out, op, onnx, &all, err))
            return -1;
    }
    ln_cgen_print(out, "\nstatic const ln_form forms[] = {\n");
    print_lines(out, 4, all.table);
    ln_cgen_print(out, "    {NULL, NULL, 0, NULL},\n};\n");
    for (int i = 0; i < all.n; i++)
        ln_cgen_print(out, "\n#define %s(ROW)%s\n", all.names[i], all.rows[i]);
    return 0;
}
