// SPDX-License-Identifier: Apache-2.0
// The operators of patterns and replacements: a reader that knows where everything stands.

#include "gen/ln_optpat.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/** A place in a text; `line` and `column` are those of *p in the description's file. */
typedef struct reader {
    ln_arena *arena;
    const ln_optrule *rule;
    const char *subject; /* what messages begin with where there is no rule, or NULL */
    ln_error *err;
    const char *p;
    ln_rjson place; /* file, line, column */
    int in_test;    /* words in arrays of numbers are sizes */
    int in_example; /* arrays may be empty */
} reader;

/* ---- characters and words ---- */

static void begin(reader *r, ln_arena *arena, const ln_optrule *rule, const ln_rjson *node,
                  ln_error *err)
{
    *r = (reader){.arena = arena, .rule = rule, .err = err, .p = node->text};
    r->place = (ln_rjson){
        .type = LN_RJSON_STRING, .file = node->file, .line = node->text_line, .is_block = 1};
    r->place.column = node->is_block ? 1 : node->column + 1;
}

static void step(reader *r)
{
    if (*r->p == '\n') {
        r->place.line++;
        r->place.column = 1;
    } else if (((unsigned char)*r->p & 0xc0) != 0x80) { // not the inside of a UTF-8 sequence
        r->place.column++;
    }
    r->p++;
}

static void skip_blanks(reader *r)
{
    for (;;) {
        if (isspace((unsigned char)*r->p)) {
            step(r);
        } else if (strncmp(r->p, "//", 2) == 0) {
            while (*r->p && *r->p != '\n')
                step(r);
        } else {
            return;
        }
    }
}

/** The place of the next word. */
static ln_rjson here(reader *r)
{
    skip_blanks(r);
    ln_rjson place = r->place;
    place.text_line = place.line;
    return place;
}

/** Whether `text` comes next; it is then behind the reader. */
static int accept(reader *r, const char *text)
{
    const size_t len = strlen(text);
    skip_blanks(r);
    if (strncmp(r->p, text, len) != 0)
        return 0;
    for (size_t i = 0; i < len; i++)
        step(r);
    return 1;
}

/** Records a reason for a place of the text; returns -1. */
static int fail(const reader *r, const ln_rjson *place, const char *reason)
{
    if (r->subject)
        return ln_rjson_fail(place, r->err, "%s: %s", r->subject, reason);
    return ln_optrule_fail(r->rule, place, r->err, "%s", reason);
}

/** Records what was expected and what comes next; returns -1. */
static int unexpected(reader *r, const char *expected)
{
    const ln_rjson place = here(r);
    if (!*r->p)
        return fail(r, &place,
                    ln_arena_printf(r->arena, "expected %s, but the text ends", expected));
    return fail(r, &place,
                ln_arena_printf(r->arena, "expected %s, found '%.*s'", expected,
                                (int)strcspn(r->p + 1, " \n(),;|") + 1, r->p));
}

static int expect(reader *r, const char *text, const char *expected)
{
    return accept(r, text) ? 0 : unexpected(r, expected);
}

static int is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/** The identifier that comes next, or NULL after recording that one was `expected`. */
static const char *word(reader *r, const char *expected)
{
    skip_blanks(r);
    const char *start = r->p;
    if (!isalpha((unsigned char)*start) && *start != '_') {
        unexpected(r, expected);
        return NULL;
    }
    while (is_word(*r->p))
        step(r);
    return ln_arena_strndup(r->arena, start, (size_t)(r->p - start));
}

/** Whether the word `text` comes next, as a whole; it is then behind the reader. */
static int accept_word(reader *r, const char *text)
{
    const size_t len = strlen(text);
    skip_blanks(r);
    return strncmp(r->p, text, len) == 0 && !is_word(r->p[len]) && accept(r, text);
}

static void add_item(reader *r, const char ***items, int *len, const char *item)
{
    const char **longer = ln_arena_alloc(r->arena, ((size_t)*len + 1) * sizeof(*longer));
    if (*len > 0)
        memcpy(longer, *items, (size_t)*len * sizeof(*longer));
    longer[(*len)++] = item;
    *items = longer;
}

/* ---- values ---- */

static const char *quoted(reader *r)
{
    char *text = ln_arena_alloc(r->arena, strlen(r->p) + 1);
    size_t len = 0;
    for (step(r); *r->p && *r->p != '"'; step(r)) {
        if (*r->p == '\\' && r->p[1]) {
            step(r);
            text[len++] = *r->p == 'n' ? '\n' : *r->p;
        } else {
            text[len++] = *r->p;
        }
    }
    if (!*r->p) {
        unexpected(r, "'\"' at the end of a string");
        return NULL;
    }
    step(r);
    return text;
}

static int at_number(reader *r)
{
    skip_blanks(r);
    return isdigit((unsigned char)*r->p) || *r->p == '-' || *r->p == '.';
}

static const char *number(reader *r)
{
    char *end;
    skip_blanks(r);
    const char *start = r->p;
    const double value = strtod(start, &end);
    const size_t len = strspn(start, "+-.0123456789eE"); // no "0x1p3", no "inf"
    if (end == start || start + len < end || !isfinite(value)) {
        unexpected(r, "a decimal number");
        return NULL;
    }
    if (strncmp(start, "..", 2) != 0 && end[-1] == '.')
        end--; // "0..1" is a range
    while (r->p < end)
        step(r);
    return ln_arena_strndup(r->arena, start, (size_t)(end - start));
}

/** One literal: its text, and its type in `*type`. NULL after a recorded reason. */
static const char *literal(reader *r, ln_optvalue *type)
{
    skip_blanks(r);
    if (*r->p == '"') {
        *type = LN_OPT_STRING;
        return quoted(r);
    }
    if (at_number(r)) {
        *type = LN_OPT_NUMBER;
        return number(r);
    }
    const char *text = word(r, "a value");
    if (!text)
        return NULL;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        *type = LN_OPT_BOOL;
    else
        *type = strcmp(text, "null") == 0 ? LN_OPT_NULL : LN_OPT_STRING;
    return text;
}

static int array(reader *r, ln_optparam *param)
{
    ln_optvalue type, first = LN_OPT_NULL;
    param->type = LN_OPT_NUMBERS;
    if (r->in_example && accept(r, "]"))
        return 0;
    do {
        const ln_rjson place = here(r);
        const char *item = literal(r, &type);
        if (!item)
            return -1;
        if (param->len == 0 || (r->in_test && type == LN_OPT_NUMBER && first == LN_OPT_STRING))
            first = type;
        if (r->in_test && type == LN_OPT_STRING && first == LN_OPT_NUMBER)
            type = first;
        if (type != first || type == LN_OPT_NULL)
            return fail(r, &place,
                        "the elements of an array must be all numbers, all strings or all bools");
        add_item(r, &param->items, &param->len, item);
    } while (accept(r, ",") && !accept(r, "]"));
    param->type = first == LN_OPT_STRING   ? LN_OPT_STRINGS
                  : first == LN_OPT_NUMBER ? LN_OPT_NUMBERS
                                           : LN_OPT_BOOLS;
    return r->p[-1] == ']' ? 0 : expect(r, "]", "',' or ']' in an array");
}

/** C code up to the parenthesis that closes the one before it. */
static int code(reader *r, ln_optparam *param)
{
    int depth = 1;
    char quote = 0;
    const ln_rjson place = here(r);
    const char *start = r->p;
    for (; *r->p; step(r)) {
        if (quote) {
            if (*r->p == '\\' && r->p[1])
                step(r);
            else if (*r->p == quote)
                quote = 0;
        } else if (*r->p == '"' || *r->p == '\'') {
            quote = *r->p;
        } else if (*r->p == '(') {
            depth++;
        } else if (*r->p == ')' && --depth == 0) {
            break;
        }
    }
    if (!*r->p)
        return unexpected(r, "')' at the end of a C expression");
    param->place = place;
    param->place.text = ln_arena_strndup(r->arena, start, (size_t)(r->p - start));
    step(r);
    return 0;
}

static int is_code(reader *r, const char *name, ln_optvalue *type)
{
    static const struct {
        const char *name;
        ln_optvalue type;
    } kinds[] = {
        {"string", LN_OPT_CODE_STRING},   {"number", LN_OPT_CODE_NUMBER},
        {"bool", LN_OPT_CODE_BOOL},       {"ints", LN_OPT_CODE_INTS},
        {"numbers", LN_OPT_CODE_NUMBERS},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(name, kinds[i].name) == 0 && accept(r, "(")) {
            *type = kinds[i].type;
            return 1;
        }
    }
    return 0;
}

static int value(reader *r, ln_optparam *param)
{
    if (accept(r, "["))
        return array(r, param);
    const char *text = literal(r, &param->type);
    if (!text)
        return -1;
    if (param->type == LN_OPT_STRING && r->p[-1] != '"') {
        if (is_code(r, text, &param->type))
            return code(r, param);
        if (accept(r, ".")) {
            param->type = LN_OPT_PARAM;
            param->op = text;
            param->param = word(r, "the name of a parameter behind '.'");
            return param->param ? 0 : -1;
        }
    }
    add_item(r, &param->items, &param->len, text);
    return 0;
}

/* ---- arguments ---- */

static ln_optarg *add_arg(reader *r, ln_optarg **args)
{
    ln_optarg *arg = ln_arena_alloc(r->arena, sizeof(*arg));
    while (*args)
        args = &(*args)->next;
    arg->place = here(r);
    return *args = arg;
}

static int at_group_end(reader *r)
{
    skip_blanks(r);
    return *r->p == '|' || *r->p == ')' || !*r->p;
}

/** `ARG=TENSOR, ..`, with `*`, `OPERATOR.*`, `?=` and `<->`. */
static int tensors(reader *r, ln_optarg **args, int *any)
{
    ln_optarg *arg;
    while (!at_group_end(r)) {
        int exchange = 0;
        if (accept(r, "*")) {
            *any = 1;
        } else {
            arg = add_arg(r, args);
            const char *name = word(r, "an argument");
            if (!name)
                return -1;
            if (accept(r, ".*")) {
                arg->op = name;
            } else {
                arg->arg_name = name;
                arg->optional = accept(r, "?");
                if (expect(r, "=", "'=' behind an argument") ||
                    !(arg->tensor = word(r, "the name of a tensor")))
                    return -1;
            }
            exchange = accept(r, "<->");
            arg->exchange = exchange;
        }
        if (!exchange && !accept(r, ",") && !at_group_end(r))
            return unexpected(r, "',', '|' or ')' behind an argument");
    }
    return 0;
}

static int params(reader *r, ln_optparam **tail)
{
    while (!at_group_end(r)) {
        ln_optparam *param = ln_arena_alloc(r->arena, sizeof(*param));
        param->place = here(r);
        const char *name = word(r, "a parameter");
        if (!name)
            return -1;
        if (accept(r, ".*")) {
            param->op = name;
        } else {
            param->arg_name = name;
            if (expect(r, "=", "'=' behind a parameter") || value(r, param))
                return -1;
        }
        *tail = param;
        tail = &param->next;
        if (!accept(r, ",") && !at_group_end(r))
            return unexpected(r, "',' or ')' behind a parameter");
    }
    return 0;
}

/** Reads the inputs or the outputs of an operator. */
typedef int (*tensors_func)(reader *r, ln_optarg **args, int *any);

/** The three groups between the parentheses; groups at the end may be left out. */
static int groups(reader *r, ln_optop *op, tensors_func read)
{
    if (read(r, &op->ins, &op->any_in))
        return -1;
    if (accept(r, "|") && read(r, &op->outs, &op->any_out))
        return -1;
    return accept(r, "|") ? params(r, &op->params) : 0;
}

/* ---- operators ---- */

/** The text from `start` to the reader on one line. */
static const char *on_one_line(reader *r, const char *start)
{
    char *line = ln_arena_alloc(r->arena, (size_t)(r->p - start) + 1);
    size_t len = 0;
    for (; start < r->p; start++) {
        if (isspace((unsigned char)*start)) {
            if (len > 0 && line[len - 1] != ' ')
                line[len++] = ' ';
        } else {
            line[len++] = *start;
        }
    }
    return line;
}

static int optypes(reader *r, ln_optop *op)
{
    const int is_set = accept(r, "{");
    do {
        const char *optype = word(r, "an optype");
        if (!optype)
            return -1;
        if (accept(r, ".optype"))
            op->like = optype;
        add_item(r, &op->optypes, &op->noptypes, optype);
    } while (is_set && accept(r, "|"));
    return is_set ? expect(r, "}", "'|' or '}' in a set of optypes") : 0;
}

static int operator_name(reader *r, ln_optop *op)
{
    const reader before = *r;
    skip_blanks(r);
    if (*r->p == '{')
        return 0;
    const char *name = word(r, "an operator");
    if (!name)
        return -1;
    if (accept(r, ":"))
        op->name = name;
    else
        *r = before;
    return 0;
}

static int operator(reader *r, ln_optop *op)
{
    op->place = here(r);
    const char *start = r->p;
    op->keep = accept_word(r, "keep");
    if (operator_name(r, op) || optypes(r, op) || expect(r, "(", "'(' behind the optype") ||
        groups(r, op, tensors) || expect(r, ")", "',', '|' or ')' in an operator"))
        return -1;
    op->text = on_one_line(r, start);
    return expect(r, ";", "';' behind an operator");
}

int ln_optpat_parse(ln_arena *arena, const ln_optrule *rule, const ln_rjson *node, ln_optop **ops,
                    ln_error *err)
{
    reader r;
    begin(&r, arena, rule, node, err);
    for (skip_blanks(&r); *r.p; skip_blanks(&r)) {
        ln_optop *op = ln_arena_alloc(arena, sizeof(*op));
        if (operator(&r, op))
            return -1;
        *ops = op;
        ops = &op->next;
    }
    return 0;
}

/* ---- tensors of tests ---- */

/** A dimension: numbers and letters, with '*' between them. */
static const char *dim(reader *r)
{
    skip_blanks(r);
    const char *start = r->p;
    do {
        skip_blanks(r);
        if (!is_word(*r->p)) {
            unexpected(r, "a dimension");
            return NULL;
        }
        while (is_word(*r->p))
            step(r);
    } while (accept(r, "*"));
    return ln_arena_strndup(r->arena, start, (size_t)(r->p - start));
}

/** "LOW .. HIGH", or one number for both. */
static int range(reader *r, double *low, double *high)
{
    const char *text = number(r);
    if (!text)
        return -1;
    *low = *high = strtod(text, NULL);
    if (!accept(r, ".."))
        return 0;
    if (!(text = number(r)))
        return -1;
    *high = strtod(text, NULL);
    return 0;
}

/* ---- tests of rules ---- */

/** "[const] DTYPE [DIM, ..] [in LOW .. HIGH]" */
static int test_tensor(reader *r, ln_opthint *hint)
{
    hint->low = -1;
    hint->high = 1;
    hint->is_const = accept_word(r, "const");
    if (!(hint->dtype = word(r, "a dtype")) || expect(r, "[", "'[' before the dimensions"))
        return -1;
    do {
        const char *text = dim(r);
        if (!text)
            return -1;
        add_item(r, &hint->dims, &hint->ndim, text);
    } while (accept(r, ","));
    if (expect(r, "]", "',' or ']' behind a dimension"))
        return -1;
    return accept_word(r, "in") ? range(r, &hint->low, &hint->high) : 0;
}

/** "SIZE", or "LEAST .. LARGEST" */
static int test_size(reader *r, ln_optsize *size)
{
    double low, high;
    const ln_rjson place = here(r);
    if (range(r, &low, &high))
        return -1;
    if (low < 1 || high < low || high > 1e6 || low != (int)low || high != (int)high)
        return fail(r, &place,
                    ln_arena_printf(r->arena,
                                    "size '%s' must be a whole number from 1 to 1000000, or two "
                                    "that bound it: 1 .. 4",
                                    size->name));
    size->low = (int)low;
    size->high = (int)high;
    return 0;
}

/** The ends of a test's lists. */
typedef struct test_tails {
    ln_optop **ops;
    ln_opthint **tensors;
    ln_optsize **sizes;
} test_tails;

/** What stands behind `NAME=`: a tensor or a size. */
static int test_value(reader *r, test_tails *tails, const char *name, const ln_rjson *place)
{
    if (!at_number(r)) {
        ln_opthint *hint = ln_arena_alloc(r->arena, sizeof(*hint));
        *hint = (ln_opthint){.tensor = name, .place = *place};
        *tails->tensors = hint;
        tails->tensors = &hint->next;
        return test_tensor(r, hint);
    }
    ln_optsize *size = ln_arena_alloc(r->arena, sizeof(*size));
    *size = (ln_optsize){.name = name, .place = *place};
    *tails->sizes = size;
    tails->sizes = &size->next;
    return test_size(r, size);
}

/** `OPERATOR(..)`, `TENSOR=..` or `SIZE=..`. */
static int test_item(reader *r, test_tails *tails)
{
    const ln_rjson place = here(r);
    const char *name = word(r, "an operator, a tensor or a size");
    if (!name)
        return -1;
    if (!accept(r, "("))
        return expect(r, "=", "'(' or '=' behind a name") || test_value(r, tails, name, &place) ? -1
                                                                                                : 0;
    ln_optop *op = ln_arena_alloc(r->arena, sizeof(*op));
    *op = (ln_optop){.name = name, .place = place};
    *tails->ops = op;
    tails->ops = &op->next;
    return groups(r, op, tensors) || expect(r, ")", "',', '|' or ')' in an operator") ? -1 : 0;
}

/** What stands behind the items, up to ';'. */
static int test_outcome(reader *r, ln_opttest *test)
{
    test->fires = !accept_word(r, "unchanged");
    if (accept_word(r, "within")) {
        const ln_rjson place = here(r);
        const char *text = number(r);
        if (!text)
            return -1;
        test->tolerance = strtod(text, NULL);
        if (test->tolerance < 0)
            return fail(r, &place,
                        ln_arena_printf(r->arena, "tolerance %s, expected 0 or more", text));
    }
    if (accept_word(r, "as") && !(test->precision = word(r, "a precision")))
        return -1;
    return expect(r, ";", "',', 'unchanged', 'within', 'as' or ';' in a test");
}

/** Whether the items of a test have ended: a word is not the name of one. */
static int at_outcome(reader *r)
{
    static const char *const words[] = {"unchanged", "within", "as"};
    skip_blanks(r);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const reader before = *r;
        const int found = accept_word(r, words[i]) && !accept(r, "=") && !accept(r, "(");
        *r = before;
        if (found)
            return 1;
    }
    return *r->p == ';';
}

static int test(reader *r, ln_opttest *test)
{
    test_tails tails = {&test->ops, &test->tensors, &test->sizes};
    test->place = here(r);
    if (!at_outcome(r)) {
        do {
            if (test_item(r, &tails))
                return -1;
        } while (accept(r, ","));
    }
    return test_outcome(r, test);
}

int ln_optpat_parse_tests(ln_arena *arena, const ln_optrule *rule, const ln_rjson *node,
                          ln_opttest **tests, ln_error *err)
{
    reader r;
    begin(&r, arena, rule, node, err);
    r.in_test = 1;
    for (skip_blanks(&r); *r.p; skip_blanks(&r)) {
        ln_opttest *one = ln_arena_alloc(arena, sizeof(*one));
        *tests = one;
        tests = &one->next;
        if (test(&r, one))
            return -1;
    }
    return 0;
}

/* ---- examples of operators ---- */

enum { MAX_COUNT = 1000 };

/** The next element of a tensor, or NULL. */
static const char *element(reader *r)
{
    static const char *const specials[] = {"nan", "inf", "-inf"};
    for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++) {
        if (accept_word(r, specials[i]))
            return specials[i];
    }
    if (at_number(r))
        return number(r);
    unexpected(r, "a number, 'nan', 'inf' or '-inf'");
    return NULL;
}

/** The dimensions of a tensor up to ']'. */
static int dims_of(reader *r, ln_optdata *data)
{
    if (accept(r, "]"))
        return 0;
    do {
        const char *text = number(r);
        if (!text)
            return -1;
        add_item(r, &data->dims, &data->ndim, text);
    } while (accept(r, ","));
    return expect(r, "]", "',' or ']' behind a dimension");
}

/** "ELEMENT" or "ELEMENT x COUNT" */
static int elements(reader *r, ln_optdata *data)
{
    double n = 1;
    const char *text = element(r);
    if (!text)
        return -1;
    if (accept_word(r, "x")) {
        const ln_rjson place = here(r);
        const char *count = number(r);
        if (!count)
            return -1;
        n = strtod(count, NULL);
        if (n < 1 || n > MAX_COUNT || n != (int)n)
            return fail(
                r, &place,
                ln_arena_printf(r->arena, "%s elements, expected 1 to %d", count, MAX_COUNT));
    }
    for (int i = 0; i < (int)n; i++)
        add_item(r, &data->items, &data->len, text);
    return 0;
}

/** The elements of a tensor up to '}'. */
static int data_of(reader *r, ln_optdata *data)
{
    if (accept(r, "}"))
        return 0;
    do {
        if (elements(r, data))
            return -1;
    } while (accept(r, ","));
    return expect(r, "}", "',', 'x' or '}' behind an element");
}

/** "[DTYPE] [[DIM, ..]] {ELEMENT, ..}", or NULL. */
static const ln_optdata *tensor_data(reader *r)
{
    ln_optdata *data = ln_arena_alloc(r->arena, sizeof(*data));
    skip_blanks(r);
    if (isalpha((unsigned char)*r->p) && !(data->dtype = word(r, "a dtype")))
        return NULL;
    data->has_dims = accept(r, "[");
    if ((data->has_dims && dims_of(r, data)) ||
        expect(r, "{", "'{' before the elements of a tensor") || data_of(r, data))
        return NULL;
    return data;
}

/** `ARG=DATA, ..`, as a tensors_func. */
static int example_tensors(reader *r, ln_optarg **args, int *any)
{
    (void)any;
    while (!at_group_end(r)) {
        ln_optarg *arg = add_arg(r, args);
        if (!(arg->arg_name = word(r, "an argument")) || expect(r, "=", "'=' behind an argument") ||
            !(arg->data = tensor_data(r)))
            return -1;
        if (!accept(r, ",") && !at_group_end(r))
            return unexpected(r, "',', '|' or ')' behind an argument");
    }
    return 0;
}

/** A string in quotes, or NULL. */
static const char *text_in_quotes(reader *r, const char *expected)
{
    skip_blanks(r);
    if (*r->p == '"')
        return quoted(r);
    unexpected(r, expected);
    return NULL;
}

/** What comes of the example: nothing more is said, or `within TOLERANCE`, or `fails MESSAGE`. */
static int outcome(reader *r, ln_optexample *example)
{
    if (accept_word(r, "within"))
        return (example->tolerance = number(r)) ? 0 : -1;
    if (accept_word(r, "fails"))
        return (example->error = text_in_quotes(r, "a message in quotes")) ? 0 : -1;
    return 0;
}

static int example(reader *r, ln_optexample *example)
{
    example->op.place = here(r);
    example->doc = "";
    if (*r->p == '"' && (!(example->doc = quoted(r)) || expect(r, ":", "':' behind a doc")))
        return -1;
    if (expect(r, "(", "'(' before the arguments of an example") ||
        groups(r, &example->op, example_tensors) ||
        expect(r, ")", "',', '|' or ')' in an example") || outcome(r, example))
        return -1;
    return expect(r, ";", "'within', 'fails' or ';' behind an example");
}

int ln_optpat_parse_examples(ln_arena *arena, const char *subject, const ln_rjson *node,
                             ln_optexample **examples, ln_error *err)
{
    reader r;
    begin(&r, arena, NULL, node, err);
    r.subject = subject;
    r.in_example = 1;
    for (skip_blanks(&r); *r.p; skip_blanks(&r)) {
        *examples = ln_arena_alloc(arena, sizeof(**examples));
        if (example(&r, *examples))
            return -1;
        examples = &(*examples)->next;
    }
    return 0;
}
