// SPDX-License-Identifier: Apache-2.0
// Parses the operators of patterns and replacements, tests and examples, with their positions.

#include "gen/ln_optdesc.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_lexer.h"

typedef struct reader {
    ln_lexer lexer; // first: callbacks for list elements get a pointer to it
    ln_arena *arena;
    const ln_optrule *rule;
    const char *subject; // prefix of messages without a rule, or NULL
    int in_test;         // words in arrays of numbers are sizes
    int in_example;      // arrays may be empty
} reader;

// Places and words

int ln_optrule_fail(const ln_optrule *rule, const ln_rjson *node, ln_error *err, const char *fmt,
                    ...)
{
    char reason[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    if (rule && rule->name)
        return ln_rjson_fail(node, err, "rule '%s': %s", rule->name, reason);
    return ln_rjson_fail(node, err, "%s", reason);
}

static ln_rjson place_of(const ln_scan *at)
{
    return (ln_rjson){.type = LN_RJSON_STRING,
                      .file = at->file,
                      .line = at->line,
                      .text_line = at->line,
                      .column = at->column,
                      .is_block = 1};
}

static int fail_at(const ln_scan *at, const char *reason)
{
    const reader *r = at->owner;
    const ln_rjson place = place_of(at);
    if (r->subject)
        return ln_rjson_fail(&place, at->err, "%s: %s", r->subject, reason);
    return ln_optrule_fail(r->rule, &place, at->err, "%s", reason);
}

static void begin(reader *r, ln_arena *arena, const ln_rjson *node, ln_error *err)
{
    const ln_scan at = {.file = node->file,
                        .p = node->text,
                        .end = node->text + strlen(node->text),
                        .line = node->text_line,
                        .column = node->is_block ? 1 : node->column + 1,
                        .err = err,
                        .fail = fail_at,
                        .owner = r};
    r->arena = arena;
    ln_lexer_begin(&r->lexer, &at);
}

// The position of the current token.
static ln_rjson here(const reader *r)
{
    return place_of(&r->lexer.token);
}

// Consumes the given tokens, the first of which is the current one.
static int expect(reader *r, const char *tokens, const char *expected)
{
    for (; *tokens; tokens++) {
        if (!ln_lexer_accept(&r->lexer, *tokens))
            return ln_lexer_unexpected(&r->lexer, expected);
    }
    return 0;
}

// Consumes the current token. Returns its text.
static const char *take(reader *r)
{
    const char *text = ln_arena_strndup(r->arena, r->lexer.text.at, r->lexer.text.len);
    ln_lexer_next(&r->lexer);
    return text;
}

// Consumes an identifier, or returns NULL after recording that one was `expected`.
static const char *word(reader *r, const char *expected)
{
    if (ln_lexer_is(&r->lexer, LN_TOKEN_NAME))
        return take(r);
    ln_lexer_unexpected(&r->lexer, expected);
    return NULL;
}

static void add_item(reader *r, const char ***items, int *len, const char *item)
{
    *items = ln_arena_grow(r->arena, *items, (size_t)*len, sizeof(**items));
    (*items)[(*len)++] = item;
}

// Values

static int at_number(const reader *r)
{
    return ln_lexer_is(&r->lexer, LN_TOKEN_NUMBER) || ln_lexer_is(&r->lexer, '-');
}

// Consumes a number, whose sign has been consumed. Not "0x1p3", not "inf".
static const char *signed_number(reader *r, int negative)
{
    const char *text = r->lexer.text.at;
    if (!ln_lexer_is(&r->lexer, LN_TOKEN_NUMBER) || text[strspn(text, "+-.0123456789eE")]) {
        ln_lexer_unexpected(&r->lexer, "a decimal number");
        return NULL;
    }
    text = take(r);
    return negative ? ln_arena_printf(r->arena, "-%s", text) : text;
}

static const char *number(reader *r)
{
    return signed_number(r, ln_lexer_accept(&r->lexer, '-'));
}

// One literal: its text, and its type in `*type`. NULL after a recorded reason.
static const char *literal(reader *r, ln_optvalue *type)
{
    *type = LN_OPT_STRING;
    if (ln_lexer_is(&r->lexer, LN_TOKEN_STRING))
        return take(r);
    if (at_number(r)) {
        *type = LN_OPT_NUMBER;
        return number(r);
    }
    const char *text = word(r, "a value");
    if (text && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        *type = LN_OPT_BOOL;
    else if (text && strcmp(text, "null") == 0)
        *type = LN_OPT_NULL;
    return text;
}

static int array_element(ln_lexer *l, void *to)
{
    reader *r = (reader *)l;
    ln_optparam *param = to;
    const ln_scan place = l->token;
    ln_optvalue type;
    const char *item = literal(r, &type);
    if (!item)
        return -1;
    if (param->len == 0 || (r->in_test && type == LN_OPT_NUMBER && param->type == LN_OPT_STRING))
        param->type = type;
    if (r->in_test && type == LN_OPT_STRING && param->type == LN_OPT_NUMBER)
        type = param->type;
    if (type != param->type || type == LN_OPT_NULL)
        return ln_lexer_fail_at(l, &place,
                                "the elements of an array must be all numbers, all "
                                "strings or all bools");
    add_item(r, &param->items, &param->len, item);
    return 0;
}

static int array(reader *r, ln_optparam *param)
{
    param->type = LN_OPT_NUMBER; // if empty
    if (ln_lexer_is(&r->lexer, ']') && !r->in_example)
        return ln_lexer_unexpected(&r->lexer, "a value");
    if (ln_lexer_list(&r->lexer, ']', array_element, param))
        return -1;
    param->type = param->type == LN_OPT_STRING   ? LN_OPT_STRINGS
                  : param->type == LN_OPT_NUMBER ? LN_OPT_NUMBERS
                                                 : LN_OPT_BOOLS;
    return 0;
}

// C code after the current parenthesis, up to its closing one.
static int code(reader *r, ln_optparam *param)
{
    int depth = 1;
    char quote = 0;
    ln_scan *at = &r->lexer.at;
    ln_scan_blanks(at);
    param->place = place_of(at);
    const char *start = at->p;
    for (; !ln_scan_is_end(at); ln_scan_step(at, 1)) {
        const char c = *at->p;
        if (quote) {
            if (c == '\\' && ln_scan_peek(at, 1))
                ln_scan_step(at, 1);
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '(') {
            depth++;
        } else if (c == ')' && --depth == 0) {
            break;
        }
    }
    param->place.text = ln_arena_strndup(r->arena, start, (size_t)(at->p - start));
    ln_lexer_next(&r->lexer);
    return expect(r, ")", "')' at the end of a C expression");
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
        if (strcmp(name, kinds[i].name) == 0 && ln_lexer_is(&r->lexer, '(')) {
            *type = kinds[i].type;
            return 1;
        }
    }
    return 0;
}

static int value(reader *r, ln_optparam *param)
{
    if (ln_lexer_accept(&r->lexer, '['))
        return array(r, param);
    const int is_name = ln_lexer_is(&r->lexer, LN_TOKEN_NAME);
    const char *text = literal(r, &param->type);
    if (!text)
        return -1;
    if (is_name && is_code(r, text, &param->type))
        return code(r, param);
    if (is_name && ln_lexer_accept(&r->lexer, '.')) {
        param->type = LN_OPT_PARAM;
        param->op = text;
        param->param = word(r, "the name of a parameter after '.'");
        return param->param ? 0 : -1;
    }
    add_item(r, &param->items, &param->len, text);
    return 0;
}

// Arguments

static ln_optarg *add_arg(reader *r, ln_optarg **args)
{
    ln_optarg *arg = ln_arena_alloc(r->arena, sizeof(*arg));
    while (*args)
        args = &(*args)->next;
    arg->place = here(r);
    return *args = arg;
}

// Moves the input from the end of the inputs to the parameters, as a constant.
static ln_optparam *as_constant(reader *r, ln_optop *op, ln_optarg *arg)
{
    ln_optarg **in = &op->ins;
    ln_optparam **tail = &op->params, *const param = ln_arena_alloc(r->arena, sizeof(*param));
    while (*in != arg)
        in = &(*in)->next;
    *in = NULL;
    while (*tail)
        tail = &(*tail)->next;
    *param = (ln_optparam){.place = here(r), .arg_name = arg->arg_name, .type = LN_OPT_CODE_INPUT};
    return *tail = param;
}

// A tensor; or, of an input, a number or `number(C)`.
static int source(reader *r, ln_optop *op, ln_optarg *arg)
{
    if (at_number(r) && op) {
        ln_optparam *const param = as_constant(r, op, arg);
        param->place.text = (char *)number(r);
        return param->place.text ? 0 : -1;
    }
    arg->tensor = word(r, "the name of a tensor");
    if (!arg->tensor || !op || strcmp(arg->tensor, "number") != 0 || !ln_lexer_is(&r->lexer, '('))
        return arg->tensor ? 0 : -1;
    return code(r, as_constant(r, op, arg));
}

// `ARG=TENSOR`, `ARG?=TENSOR` or `OPERATOR.*`. `op`: the operator of an input.
static int arg(reader *r, ln_optop *op, ln_optarg *arg)
{
    const char *name = word(r, "an argument");
    if (!name)
        return -1;
    if (ln_lexer_accept(&r->lexer, '.')) {
        arg->op = name;
        return expect(r, "*", "'*' after an operator and '.'");
    }
    arg->arg_name = name;
    arg->optional = ln_lexer_accept(&r->lexer, '?');
    return expect(r, "=", "'=' after an argument") ? -1 : source(r, op, arg);
}

// `*`, an argument, or several with `<->` between them.
static int tensors(reader *r, ln_optop *op, ln_optarg **args, int *any)
{
    if (ln_lexer_accept(&r->lexer, '*')) {
        *any = 1;
        return 0;
    }
    for (;;) {
        ln_optarg *next = add_arg(r, args);
        if (arg(r, op, next))
            return -1;
        next->exchange = ln_lexer_is(&r->lexer, '<');
        if (!next->exchange)
            return 0;
        if (expect(r, "<->", "'<->' between arguments"))
            return -1;
    }
}

static int input(ln_lexer *l, void *to)
{
    ln_optop *op = to;
    return tensors((reader *)l, op, &op->ins, &op->any_in);
}

static int output(ln_lexer *l, void *to)
{
    ln_optop *op = to;
    return tensors((reader *)l, NULL, &op->outs, &op->any_out);
}

// `PARAM=VALUE` or `OPERATOR.*`.
static int param(ln_lexer *l, void *to)
{
    reader *r = (reader *)l;
    ln_optparam **tail = &((ln_optop *)to)->params;
    while (*tail)
        tail = &(*tail)->next;
    ln_optparam *param = *tail = ln_arena_alloc(r->arena, sizeof(*param));
    param->place = here(r);
    const char *name = word(r, "a parameter");
    if (!name)
        return -1;
    if (ln_lexer_accept(l, '.')) {
        param->op = name;
        return expect(r, "*", "'*' after an operator and '.'");
    }
    param->arg_name = name;
    if (expect(r, "=", "'=' after a parameter") || value(r, param))
        return -1;
    if (strcmp(name, "only_if") == 0 && param->type == LN_OPT_CODE_BOOL) {
        ((ln_optop *)to)->only_if = &param->place;
        *tail = NULL;
    }
    return 0;
}

// The three groups between the parentheses; trailing groups are optional.
static int groups(reader *r, ln_optop *op, ln_lexer_func *const read[3], const char *expected)
{
    return expect(r, "(", expected) || ln_lexer_groups(&r->lexer, read, 3, op) ||
                   !ln_lexer_is(&r->lexer, ')')
               ? ln_lexer_unexpected(&r->lexer, "',', '|' or ')' in an operator")
               : 0;
}

static ln_lexer_func *const op_groups[3] = {input, output, param};

// Operators

// The text from `start` to `end` on one line.
static const char *on_one_line(reader *r, const char *start, const char *end)
{
    char *line = ln_arena_alloc(r->arena, (size_t)(end - start) + 1);
    size_t len = 0;
    for (; start < end; start++) {
        if (!isspace((unsigned char)*start))
            line[len++] = *start;
        else if (len > 0 && line[len - 1] != ' ')
            line[len++] = ' ';
    }
    return line;
}

// A type, or `OPERATOR.optype`.
static int optype(reader *r, ln_optop *op, const char *optype)
{
    if (optype)
        add_item(r, &op->optypes, &op->noptypes, optype);
    if (optype && ln_lexer_accept(&r->lexer, '.')) {
        op->like = optype;
        if (!ln_lexer_accept_word(&r->lexer, "optype"))
            return ln_lexer_unexpected(&r->lexer, "'optype' after an operator and '.'");
    }
    return optype ? 0 : -1;
}

// The text before the parenthesis: `[keep] [NAME:] OPTYPE`, or `{OPTYPE|..}` for OPTYPE.
static int head(reader *r, ln_optop *op)
{
    ln_lexer *l = &r->lexer;
    op->keep = ln_lexer_accept_word(l, "keep");
    const char *name = ln_lexer_is(l, '{') ? NULL : word(r, "an operator");
    if (name && !ln_lexer_accept(l, ':'))
        return optype(r, op, name);
    op->name = name;
    if (!ln_lexer_accept(l, '{'))
        return optype(r, op, word(r, "an optype"));
    do {
        if (optype(r, op, word(r, "an optype")))
            return -1;
    } while (ln_lexer_accept(l, '|'));
    return expect(r, "}", "'|' or '}' in a set of optypes");
}

static int operator(reader *r, ln_optop *op)
{
    op->place = here(r);
    const char *start = r->lexer.token.p;
    if (head(r, op) || groups(r, op, op_groups, "'(' after the optype"))
        return -1;
    op->text = on_one_line(r, start, r->lexer.at.p);
    ln_lexer_next(&r->lexer);
    return expect(r, ";", "';' after an operator");
}

int ln_optpat_parse(ln_arena *arena, const ln_optrule *rule, const ln_rjson *node, ln_optop **ops,
                    ln_error *err)
{
    reader r = {.rule = rule};
    begin(&r, arena, node, err);
    while (!ln_lexer_is(&r.lexer, LN_TOKEN_END)) {
        ln_optop *op = ln_arena_alloc(arena, sizeof(*op));
        if (operator(&r, op))
            break;
        *ops = op;
        ops = &op->next;
    }
    return ln_lexer_end(&r.lexer);
}

// Tensors of tests

// A dimension: numbers and letters, with '*' between them.
static int test_dim(ln_lexer *l, void *to)
{
    reader *r = (reader *)l;
    ln_opthint *hint = to;
    const char *start = l->token.p, *end;
    do {
        if (!ln_lexer_is(l, LN_TOKEN_NAME) && !ln_lexer_is(l, LN_TOKEN_NUMBER))
            return ln_lexer_unexpected(l, "a dimension");
        end = l->at.p;
        ln_lexer_next(l);
    } while (ln_lexer_accept(l, '*'));
    add_item(r, &hint->dims, &hint->ndim, ln_arena_strndup(r->arena, start, (size_t)(end - start)));
    return 0;
}

// "LOW .. HIGH", or one number for both.
static int range(reader *r, double *low, double *high)
{
    const char *text = number(r);
    if (!text)
        return -1;
    *low = *high = strtod(text, NULL);
    if (!ln_lexer_is(&r->lexer, '.'))
        return 0;
    if (expect(r, "..", "'..' between two bounds") || !(text = number(r)))
        return -1;
    *high = strtod(text, NULL);
    return 0;
}

// Tests of rules

// "[const] DTYPE [DIM, ..] [in LOW .. HIGH]"
static int test_tensor(reader *r, ln_opthint *hint)
{
    hint->low = -1;
    hint->high = 1;
    hint->is_const = ln_lexer_accept_word(&r->lexer, "const");
    if (!(hint->dtype = word(r, "a dtype")) || expect(r, "[", "'[' before the dimensions") ||
        ln_lexer_list(&r->lexer, ']', test_dim, hint))
        return -1;
    return ln_lexer_accept_word(&r->lexer, "in") ? range(r, &hint->low, &hint->high) : 0;
}

// "SIZE", or "MIN .. LARGEST"
static int test_size(reader *r, ln_optsize *size)
{
    double low, high;
    const ln_scan place = r->lexer.token;
    if (range(r, &low, &high))
        return -1;
    if (low < 1 || high < low || high > 1e6 || low != (int)low || high != (int)high)
        return ln_lexer_fail_at(
            &r->lexer, &place,
            "size '%s' must be an integer from 1 to 1000000, or a range such as 1 .. 4",
            size->name);
    size->low = (int)low;
    size->high = (int)high;
    return 0;
}

// The ends of a test's lists.
typedef struct test_tails {
    ln_optop **ops;
    ln_opthint **tensors;
    ln_optsize **sizes;
} test_tails;

// The value after `NAME=`: a tensor or a size.
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

// `OPERATOR(..)`, `TENSOR=..` or `SIZE=..`.
static int test_item(reader *r, test_tails *tails)
{
    const ln_rjson place = here(r);
    const char *name = word(r, "an operator, a tensor or a size");
    if (name && ln_lexer_accept(&r->lexer, '='))
        return test_value(r, tails, name, &place);
    if (!name)
        return -1;
    ln_optop *op = ln_arena_alloc(r->arena, sizeof(*op));
    *op = (ln_optop){.name = name, .place = place};
    *tails->ops = op;
    tails->ops = &op->next;
    const int rc = groups(r, op, op_groups, "'(' or '=' after a name");
    ln_lexer_next(&r->lexer);
    return rc;
}

// The text after the items, up to ';'.
static int test_outcome(reader *r, ln_opttest *test)
{
    test->fires = !ln_lexer_accept_word(&r->lexer, "unchanged");
    if (ln_lexer_accept_word(&r->lexer, "within")) {
        const ln_scan place = r->lexer.token;
        const char *text = number(r);
        if (!text)
            return -1;
        test->tolerance = strtod(text, NULL);
        if (test->tolerance < 0)
            return ln_lexer_fail_at(&r->lexer, &place, "tolerance %s, expected 0 or more", text);
    }
    if (ln_lexer_accept_word(&r->lexer, "as") && !(test->precision = word(r, "a precision")))
        return -1;
    return expect(r, ";", "',', 'unchanged', 'within', 'as' or ';' in a test");
}

// Whether the items of a test have ended: at ';', or a keyword that does not name an item.
static int at_outcome(const reader *r)
{
    static const char *const words[] = {"unchanged", "within", "as"};
    ln_scan after = r->lexer.at;
    ln_scan_blanks(&after);
    const char next = ln_scan_peek(&after, 0);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (ln_lexer_is_word(&r->lexer, words[i]) && next != '=' && next != '(')
            return 1;
    }
    return ln_lexer_is(&r->lexer, ';');
}

static int test(reader *r, ln_opttest *test)
{
    test_tails tails = {&test->ops, &test->tensors, &test->sizes};
    test->place = here(r);
    if (!at_outcome(r)) {
        do {
            if (test_item(r, &tails))
                return -1;
        } while (ln_lexer_accept(&r->lexer, ','));
    }
    return test_outcome(r, test);
}

int ln_optpat_parse_tests(ln_arena *arena, const ln_optrule *rule, const ln_rjson *node,
                          ln_opttest **tests, ln_error *err)
{
    reader r = {.rule = rule, .in_test = 1};
    begin(&r, arena, node, err);
    while (!ln_lexer_is(&r.lexer, LN_TOKEN_END)) {
        ln_opttest *one = ln_arena_alloc(arena, sizeof(*one));
        *tests = one;
        tests = &one->next;
        if (test(&r, one))
            break;
    }
    return ln_lexer_end(&r.lexer);
}

// Examples of operators

enum { MAX_COUNT = 1000 };

static int data_dim(ln_lexer *l, void *to)
{
    reader *r = (reader *)l;
    ln_optdata *data = to;
    const char *text = number(r);
    if (text)
        add_item(r, &data->dims, &data->ndim, text);
    return text ? 0 : -1;
}

// A number, "nan", "inf" or "-inf".
static const char *element(reader *r)
{
    const int negative = ln_lexer_accept(&r->lexer, '-');
    if (ln_lexer_accept_word(&r->lexer, "inf"))
        return negative ? "-inf" : "inf";
    if (!negative && ln_lexer_accept_word(&r->lexer, "nan"))
        return "nan";
    if (ln_lexer_is(&r->lexer, LN_TOKEN_NUMBER))
        return signed_number(r, negative);
    ln_lexer_unexpected(&r->lexer, "a number, 'nan', 'inf' or '-inf'");
    return NULL;
}

// "ELEMENT" or "ELEMENT x COUNT"
static int data_elements(ln_lexer *l, void *to)
{
    reader *r = (reader *)l;
    ln_optdata *data = to;
    double n = 1;
    const char *text = element(r);
    if (text && ln_lexer_accept_word(l, "x")) {
        const ln_scan place = l->token;
        const char *count = number(r);
        if (!count)
            return -1;
        n = strtod(count, NULL);
        if (n < 1 || n > MAX_COUNT || n != (int)n)
            return ln_lexer_fail_at(l, &place, "%s elements, expected 1 to %d", count, MAX_COUNT);
    }
    for (int i = 0; text && i < (int)n; i++)
        add_item(r, &data->items, &data->len, text);
    return text ? 0 : -1;
}

// "[DTYPE] [[DIM, ..]] {ELEMENT, ..}"
static int tensor_data(reader *r, ln_optdata *data)
{
    if (ln_lexer_is(&r->lexer, LN_TOKEN_NAME))
        data->dtype = take(r);
    data->has_dims = ln_lexer_accept(&r->lexer, '[');
    if (data->has_dims && ln_lexer_list(&r->lexer, ']', data_dim, data))
        return -1;
    return expect(r, "{", "'{' before the elements of a tensor") ||
                   ln_lexer_list(&r->lexer, '}', data_elements, data)
               ? -1
               : 0;
}

// `ARG=DATA`, of this type unless it has another.
static int example_tensor(reader *r, const char *dtype, ln_optarg **args)
{
    ln_optarg *arg = add_arg(r, args);
    ln_optdata *data = ln_arena_alloc(r->arena, sizeof(*data));
    *data = (ln_optdata){.dtype = dtype};
    arg->data = data;
    arg->arg_name = word(r, "an argument");
    return -(!arg->arg_name || expect(r, "=", "'=' after an argument") || tensor_data(r, data));
}

static int example_input(ln_lexer *l, void *op)
{
    return example_tensor((reader *)l, "TL_FLOAT", &((ln_optop *)op)->ins);
}

static int example_output(ln_lexer *l, void *op)
{
    return example_tensor((reader *)l, NULL, &((ln_optop *)op)->outs);
}

// A string in quotes and those that follow it, or NULL.
static const char *text_in_quotes(reader *r, const char *expected)
{
    const char *text = "";
    if (!ln_lexer_is(&r->lexer, LN_TOKEN_STRING)) {
        ln_lexer_unexpected(&r->lexer, expected);
        return NULL;
    }
    while (ln_lexer_is(&r->lexer, LN_TOKEN_STRING))
        ln_arena_extend(r->arena, &text, "%s", take(r));
    return text;
}

static int example(reader *r, ln_optexample *example)
{
    static ln_lexer_func *const read[3] = {example_input, example_output, param};
    example->op.place = here(r);
    example->doc = "";
    if (ln_lexer_is(&r->lexer, LN_TOKEN_STRING)) {
        example->doc = text_in_quotes(r, "a doc");
        if (expect(r, ":", "':' after a doc"))
            return -1;
    }
    if (groups(r, &example->op, read, "'(' before the arguments of an example"))
        return -1;
    ln_lexer_next(&r->lexer);
    if (ln_lexer_accept_word(&r->lexer, "within")) {
        if (!(example->tolerance = number(r)))
            return -1;
    } else if (ln_lexer_accept_word(&r->lexer, "fails")) {
        if (!(example->error = text_in_quotes(r, "a message in quotes")))
            return -1;
    }
    return expect(r, ";", "'within', 'fails' or ';' after an example");
}

int ln_optpat_parse_examples(ln_arena *arena, const char *subject, const ln_rjson *node,
                             ln_optexample **examples, ln_error *err)
{
    reader r = {.subject = subject, .in_example = 1};
    begin(&r, arena, node, err);
    while (!ln_lexer_is(&r.lexer, LN_TOKEN_END)) {
        *examples = ln_arena_alloc(arena, sizeof(**examples));
        if (example(&r, *examples))
            break;
        examples = &(*examples)->next;
    }
    return ln_lexer_end(&r.lexer);
}
