// SPDX-License-Identifier: Apache-2.0
// Compiles the expressions of "sizes" and "values" to code (lightnet/ln_size.h).
//
//     sizes    = item {"," item}
//     item     = expr ["for" "k" "in" expr ["if" expr]] | shape
//              | "[" "]" | "broadcast" "(" shape {"," shape} ")" | "reshape" "(" NAME "," NAME ")"
//     shape    = NAME | NAME "[" [expr] ":" [expr] "]"       an input, or a parameter that is an
//     array primary  = NUMBER | "k" | "i" | NAME | NAME "[" expr "]" | NAME "{" expr "}"
//              | NAME "." ("ndim" | "len" | "count") | FUNCTION "(" expr {"," expr} ")" | "(" expr
//              ")"
//
// with the operators of C, and "k in NAME".

#include "gen/ln_opgen_code.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_lexer.h"
#include "gen/ln_opdesc_fields.h"
#include "lightnet/ln_util.h"

enum { MAX_CODES = 160, WHOLE = INT16_MAX };

typedef struct code {
    const char *op; // "ADD" of LN_SIZE_ADD
    int arg, n;
    const char *constant; // in place of n: a name of C; or NULL
} code;

typedef struct compiler {
    const generator *g;
    const ln_rjson *node; // the text
    ln_lexer lexer;
    code codes[MAX_CODES];
    int n;
    int is_shape; // the last operand is a shape, which only a list of axes may contain
    word_list *words;
} compiler;

static int fail_at(const ln_scan *ps, const char *reason)
{
    const compiler *c = ps->owner;
    return ln_error_set(ps->err, "%s:%d:%d: operator '%s': \"%s\": %s", ps->file, ps->line,
                        ps->column, c->g->op->optype, c->node->key, reason);
}

static int emit(compiler *c, const char *op, int arg, int n)
{
    if (c->n == MAX_CODES)
        return ln_lexer_fail(&c->lexer, "the expression is too long");
    c->codes[c->n++] = (code){op, arg, n, NULL};
    return 0;
}

static int parse_expr(compiler *c);

// An expression that is no shape.
static int parse_length(compiler *c)
{
    if (parse_expr(c))
        return -1;
    return c->is_shape ? ln_lexer_fail(&c->lexer, "there is a shape, expected a length") : 0;
}

// Arguments

static int index_of(const generator *g, const ln_argdesc *arg)
{
    int index = 0;
    for (const ln_argdesc *other = g->op->args; other < arg; other++)
        index += other->kind == arg->kind;
    return index;
}

static int is_array(const ln_argdesc *arg)
{
    return ln_argdesc_is_array(arg);
}

// The index of a word in the table of the operator.
static int word_index(compiler *c, const char *word)
{
    word_list *w = c->words;
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->at[i], word) == 0)
            return (int)i;
    w->at = ln_arena_grow(&c->g->out->arena, w->at, w->n, sizeof(*w->at));
    w->at[w->n] = ln_arena_strndup(&c->g->out->arena, word, strlen(word));
    return (int)w->n++;
}

// PARAM == WORD, PARAM != WORD
static int parse_word(compiler *c, int arg)
{
    ln_lexer *l = &c->lexer;
    const int is_not = ln_lexer_accept(l, '!');
    if ((!is_not && ln_lexer_expect(l, '=')) || ln_lexer_expect(l, '='))
        return -1;
    if (!ln_lexer_is(l, LN_TOKEN_NAME) && !ln_lexer_is(l, LN_TOKEN_STRING))
        return ln_lexer_unexpected(l, "a value of the parameter");
    const int n = word_index(c, l->text.at ? l->text.at : "");
    ln_lexer_next(l);
    return -(emit(c, "IS", arg, n) || (is_not && emit(c, "NOT", 0, 0)));
}

// NAME[expr], NAME[from:to]
static int parse_index(compiler *c, const ln_argdesc *arg)
{
    ln_lexer *l = &c->lexer;
    const int is_param = arg->kind == LN_ARGDESC_PARAM;
    if (ln_lexer_is(l, ':') ? emit(c, "NUMBER", 0, 0) : parse_length(c))
        return -1;
    const int is_span = ln_lexer_accept(l, ':');
    if (is_span && (ln_lexer_is(l, ']') ? emit(c, "NUMBER", 0, WHOLE) : parse_length(c)))
        return -1;
    c->is_shape = is_span;
    return -(ln_lexer_expect(l, ']') || emit(c,
                                             is_span    ? "SHAPE"
                                             : is_param ? "ITEM"
                                                        : "AXIS",
                                             index_of(c->g, arg), is_span && is_param));
}

// NAME.ndim, NAME.len, NAME.count
static int parse_member(compiler *c, const ln_argdesc *arg)
{
    static const struct {
        const char *name, *op;
        int of_input, of_array;
    } members[] = {{"ndim", "NDIM", 1, 0},
                   {"len", "LEN", 1, 0},
                   {"len", "ITEMS", 0, 1},
                   {"count", "COUNT", 1, 0}};
    ln_lexer *l = &c->lexer;
    for (size_t i = 0; i < LENGTH_OF(members); i++) {
        if ((arg->kind == LN_ARGDESC_IN ? members[i].of_input : members[i].of_array) &&
            ln_lexer_accept_word(l, members[i].name))
            return emit(c, members[i].op, index_of(c->g, arg), 0);
    }
    return ln_lexer_unexpected(l, "ndim, len or count of an input, or len of an array");
}

// A name alone: a number, or a shape.
static int parse_whole(compiler *c, const ln_argdesc *arg)
{
    const int index = index_of(c->g, arg), is_param = arg->kind == LN_ARGDESC_PARAM;
    if (is_param && !is_array(arg))
        return emit(c, "PARAM", index, 0);
    c->is_shape = 1;
    return -(emit(c, "NUMBER", 0, 0) || emit(c, "NUMBER", 0, WHOLE) ||
             emit(c, "SHAPE", index, is_param));
}

// NAME{expr}, NAME{}: all elements
static int parse_value(compiler *c, int arg)
{
    ln_lexer *l = &c->lexer;
    if (!ln_lexer_accept(l, '}'))
        return parse_length(c) || ln_lexer_expect(l, '}') || emit(c, "VALUE", arg, 0) ? -1 : 0;
    c->is_shape = 1;
    return -(emit(c, "NUMBER", 0, 0) || emit(c, "NUMBER", 0, WHOLE) || emit(c, "SHAPE", arg, 2));
}

static int parse_argument(compiler *c, const ln_argdesc *arg)
{
    ln_lexer *l = &c->lexer;
    if (arg->kind == LN_ARGDESC_OUT)
        return ln_lexer_fail(l, "'%s' is an output, expected an input or a parameter", arg->name);
    ln_lexer_next(l);
    if (arg->kind == LN_ARGDESC_PARAM && arg->ptype == LN_ARGDESC_STRING)
        return parse_word(c, index_of(c->g, arg));
    if (ln_lexer_accept(l, '['))
        return parse_index(c, arg);
    if (ln_lexer_accept(l, '{'))
        return parse_value(c, index_of(c->g, arg));
    return ln_lexer_accept(l, '.') ? parse_member(c, arg) : parse_whole(c, arg);
}

// Functions

static const struct function {
    const char *name, *op;
    int min_lengths, max_lengths; // operands
    int has_arg;                  // before these, the name of an argument
} functions[] = {
    {"min", "MIN", 2, 2, 0},   {"max", "MAX", 2, 2, 0},     {"slice", "SLICE", 4, 4, 0},
    {"at", "AT", 1, 1, 1},     {"below", "BELOW", 1, 1, 1}, {"total", "TOTAL", 1, 1, 1},
    {"sqrt", "SQRT", 1, 1, 0}, {"has", "HAS", 0, 0, 1},     {"scale", "SCALE", 2, 2, 1},
    {"data", "DATA", 1, 2, 0},
};

static const ln_argdesc *find_argument(compiler *c)
{
    const ln_lexer *l = &c->lexer;
    return ln_lexer_is(l, LN_TOKEN_NAME) ? ln_opdesc_find_arg(c->g->op, l->text.at) : NULL;
}

// The lengths between parentheses, after an argument if there is one. Returns their number, or -1.
static int parse_operands(compiler *c, const struct function *f)
{
    ln_lexer *l = &c->lexer;
    for (int n = 0;; n++) {
        if (n >= f->min_lengths && ln_lexer_accept(l, ')'))
            return n;
        if (n == f->max_lengths)
            return ln_lexer_unexpected(l, "')'");
        if (((n || f->has_arg) && ln_lexer_expect(l, ',')) || parse_length(c))
            return -1;
    }
}

static int parse_call(compiler *c, const struct function *f)
{
    ln_lexer *l = &c->lexer;
    const ln_argdesc *arg = NULL;
    ln_lexer_next(l);
    if (ln_lexer_expect(l, '('))
        return -1;
    if (f->has_arg && !(arg = find_argument(c)))
        return ln_lexer_unexpected(l, "an argument");
    if (arg)
        ln_lexer_next(l);
    const int n = parse_operands(c, f);
    c->is_shape = 0;
    return n < 0 ? -1 : emit(c, f->op, arg ? index_of(c->g, arg) : 0, f->max_lengths - n);
}

// Of the shape that was parsed last: another operation on it.
static int parse_shape_as(compiler *c, const char *op)
{
    if (parse_expr(c))
        return -1;
    if (!c->is_shape)
        return ln_lexer_fail(&c->lexer, "there is a length, expected a shape");
    c->codes[c->n - 1].op = op;
    c->is_shape = 0;
    return 0;
}

static int parse_fold(compiler *c, const char *op)
{
    ln_lexer_next(&c->lexer);
    return -(ln_lexer_expect(&c->lexer, '(') || parse_shape_as(c, op) ||
             ln_lexer_expect(&c->lexer, ')'));
}

// Expressions

static int is_constant(const char *name)
{
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(name);
}

static int parse_constant(compiler *c)
{
    ln_lexer *l = &c->lexer;
    const char *name = ln_arena_strndup(&c->g->out->arena, l->text.at, strlen(l->text.at));
    ln_lexer_next(l);
    if (emit(c, "NUMBER", 0, 0))
        return -1;
    c->codes[c->n - 1].constant = name;
    return 0;
}

static const struct word {
    const char *name, *op;
} operands[] = {{"k", "LOOP"}, {"i", "INDEX"}, {"part", "PART"}, {"unknown", "UNKNOWN"}},
  folds[] = {{"product", "PRODUCT"}, {"sum", "SUM"}};

static int parse_name(compiler *c)
{
    ln_lexer *l = &c->lexer;
    const ln_argdesc *arg = find_argument(c);
    if (arg)
        return parse_argument(c, arg);
    for (size_t i = 0; i < LENGTH_OF(functions); i++)
        if (ln_lexer_is_word(l, functions[i].name))
            return parse_call(c, &functions[i]);
    for (size_t i = 0; i < LENGTH_OF(folds); i++)
        if (ln_lexer_is_word(l, folds[i].name))
            return parse_fold(c, folds[i].op);
    for (size_t i = 0; i < LENGTH_OF(operands); i++)
        if (ln_lexer_accept_word(l, operands[i].name))
            return emit(c, operands[i].op, 0, 0);
    return is_constant(l->text.at) ? parse_constant(c)
                                   : ln_lexer_unexpected(l, "an argument, a function, k or i");
}

static int negate(compiler *c)
{
    code *last = &c->codes[c->n - 1];
    if (strcmp(last->op, "NUMBER") || last->constant)
        return emit(c, "NEG", 0, 0);
    last->n = -last->n;
    return 0;
}

static int parse_primary(compiler *c)
{
    ln_lexer *l = &c->lexer;
    c->is_shape = 0;
    if (ln_lexer_is(l, LN_TOKEN_NUMBER)) {
        const double number = l->number;
        ln_lexer_next(l);
        if (number != (int)number || number > INT16_MAX)
            return ln_lexer_fail(l, "there is %g, expected an integer of 16 bits", number);
        return emit(c, "NUMBER", 0, (int)number);
    }
    if (ln_lexer_accept(l, '('))
        return -(parse_length(c) || ln_lexer_expect(l, ')'));
    if (ln_lexer_accept(l, '-'))
        return -(parse_primary(c) || negate(c));
    if (ln_lexer_accept(l, '!'))
        return -(parse_primary(c) || emit(c, "NOT", 0, 0));
    return ln_lexer_is(l, LN_TOKEN_NAME) ? parse_name(c) : ln_lexer_unexpected(l, "an expression");
}

// Binary operators, the tightest first; of two characters where they are doubled.
static const struct operation {
    int level;
    char first, second;
    const char *op;
    int is_swapped, is_not;
} operations[] = {
    {4, '*', 0, "MUL", 0, 0},  {4, '/', 0, "DIV", 0, 0},  {4, '%', 0, "MOD", 0, 0},
    {3, '+', 0, "ADD", 0, 0},  {3, '-', 0, "SUB", 0, 0},  {2, '<', '=', "LT", 1, 1},
    {2, '>', '=', "LT", 0, 1}, {2, '=', '=', "EQ", 0, 0}, {2, '!', '=', "EQ", 0, 1},
    {2, '<', 0, "LT", 0, 0},   {2, '>', 0, "LT", 1, 0},   {1, '&', '&', "AND", 0, 0},
    {0, '|', '|', "OR", 0, 0},
};

enum { TIGHTEST = 4 };

// Skips the operator that comes next at this level; NULL: there is none.
static const struct operation *accept_operation(compiler *c, int level)
{
    ln_lexer *l = &c->lexer;
    for (size_t i = 0; i < LENGTH_OF(operations); i++) {
        const struct operation *o = &operations[i];
        if (o->level != level || !ln_lexer_is(l, o->first) || (o->second && *l->at.p != o->second))
            continue;
        ln_lexer_next(l);
        if (o->second)
            ln_lexer_next(l);
        return o;
    }
    return NULL;
}

// Exchanges the codes from `start` to `middle` and those after them.
static void swap_codes(compiler *c, int start, int middle)
{
    code copy[MAX_CODES];
    const size_t first = (size_t)(middle - start), second = (size_t)(c->n - middle);
    memcpy(copy, &c->codes[start], first * sizeof(code));
    memmove(&c->codes[start], &c->codes[middle], second * sizeof(code));
    memcpy(&c->codes[start + (int)second], copy, first * sizeof(code));
}

static int parse_level(compiler *c, int level)
{
    const int start = c->n;
    const struct operation *o;
    if (level > TIGHTEST ? parse_primary(c) : parse_level(c, level + 1))
        return -1;
    while (level <= TIGHTEST && !c->is_shape && (o = accept_operation(c, level))) {
        const int middle = c->n;
        if (parse_level(c, level + 1))
            return -1;
        if (c->is_shape)
            return ln_lexer_fail(&c->lexer, "there is a shape, expected a length");
        if (o->is_swapped)
            swap_codes(c, start, middle);
        if (emit(c, o->op, 0, 0) || (o->is_not && emit(c, "NOT", 0, 0)))
            return -1;
    }
    if (level == 2 && !c->is_shape && ln_lexer_accept_word(&c->lexer, "in")) {
        const ln_argdesc *arg = find_argument(c);
        if (!arg || arg->kind != LN_ARGDESC_PARAM || !is_array(arg))
            return ln_lexer_unexpected(&c->lexer, "a parameter that is an array");
        ln_lexer_next(&c->lexer);
        return emit(c, "IN", index_of(c->g, arg), 0);
    }
    return 0;
}

static int parse_expr(compiler *c)
{
    ln_lexer *l = &c->lexer;
    if (parse_level(c, 0))
        return -1;
    if (c->is_shape || !ln_lexer_accept(l, '?'))
        return 0;
    return -(parse_length(c) || ln_lexer_expect(l, ':') || parse_length(c) ||
             emit(c, "SELECT", 0, 0));
}

// Lists of axes

// for k in COUNT: the rounds come first, then the body, which ends at code `end`.
static int parse_loop(compiler *c, int start)
{
    ln_lexer *l = &c->lexer;
    const int end = c->n;
    if (!ln_lexer_accept_word(l, "k") || !ln_lexer_accept_word(l, "in"))
        return ln_lexer_unexpected(l, "k in ..");
    if (parse_expr(c))
        return -1;
    if (c->is_shape) { // as many as it has axes
        code *shape = &c->codes[c->n -= 2];
        shape[-1] = (code){shape[1].n ? "ITEMS" : "NDIM", shape[1].arg, 0, NULL};
    }
    c->is_shape = 0;
    const int has_condition = ln_lexer_accept_word(l, "if"), body = end - start + 1;
    const int condition = c->n + 1; // after FOR
    if (emit(c, "FOR", 0, 0) || (has_condition && (parse_length(c) || emit(c, "IF", 0, body))))
        return -1;
    const int n = body + c->n - condition;
    c->codes[condition - 1].n = n + 1;
    swap_codes(c, start, end);
    return -(emit(c, "EMIT", 0, 0) || emit(c, "NEXT", 0, n));
}

static int parse_broadcast(compiler *c)
{
    ln_lexer *l = &c->lexer;
    ln_lexer_next(l);
    if (ln_lexer_expect(l, '('))
        return -1;
    do {
        if (parse_shape_as(c, "BROADCAST"))
            return -1;
    } while (ln_lexer_accept(l, ','));
    return ln_lexer_expect(l, ')');
}

static int parse_reshape(compiler *c)
{
    ln_lexer *l = &c->lexer;
    ln_lexer_next(l);
    if (ln_lexer_expect(l, '('))
        return -1;
    const ln_argdesc *src = find_argument(c);
    ln_lexer_next(l);
    if (ln_lexer_expect(l, ','))
        return -1;
    const ln_argdesc *dims = find_argument(c);
    ln_lexer_next(l);
    if (!src || src->kind != LN_ARGDESC_IN || !dims || !is_array(dims))
        return ln_lexer_fail(l, "reshape of an input and a parameter that is an array is expected");
    return -(ln_lexer_expect(l, ')') ||
             emit(c, "RESHAPE", index_of(c->g, src), index_of(c->g, dims)));
}

static int parse_item(compiler *c)
{
    const int start = c->n;
    if (ln_lexer_accept(&c->lexer, '[')) // a scalar has no axes
        return ln_lexer_expect(&c->lexer, ']');
    if (ln_lexer_is_word(&c->lexer, "reshape"))
        return parse_reshape(c);
    if (ln_lexer_is_word(&c->lexer, "broadcast"))
        return parse_broadcast(c);
    if (parse_expr(c))
        return -1;
    if (c->is_shape)
        return 0;
    return ln_lexer_accept_word(&c->lexer, "for") ? parse_loop(c, start) : emit(c, "EMIT", 0, 0);
}

static int parse(compiler *c, int is_list)
{
    ln_lexer *l = &c->lexer;
    while (!ln_lexer_is(l, LN_TOKEN_END)) {
        if (is_list ? parse_item(c) : parse_length(c))
            return -1;
        if (!ln_lexer_is(l, LN_TOKEN_END) && (!is_list || ln_lexer_expect(l, ',')))
            return is_list ? -1 : ln_lexer_unexpected(l, "the end of the expression");
    }
    return 0;
}

static void write_code(const generator *g, const code *c, const char **line)
{
    ln_arena *arena = &g->out->arena;
    if (c->constant)
        ln_arena_extend(arena, line, "{LN_SIZE_%s, %d, %s}, ", c->op, c->arg, c->constant);
    else
        ln_arena_extend(arena, line, "{LN_SIZE_%s, %d, %d}, ", c->op, c->arg, c->n);
}

int ln_opgen_write_sizes(const generator *g, const ln_rjson *node, int is_list, word_list *words,
                         ln_error *err)
{
    compiler *c = ln_arena_alloc(&g->out->arena, sizeof(*c));
    const ln_scan at = {.file = node->file,
                        .p = node->text,
                        .end = node->text + strlen(node->text),
                        .line = node->text_line,
                        .column = node->is_block ? 1 : node->column + 1,
                        .err = err,
                        .fail = fail_at,
                        .owner = c};
    c->g = g;
    c->node = node;
    c->words = words;
    ln_lexer_begin(&c->lexer, &at);
    const int failed = parse(c, is_list);
    if (ln_lexer_end(&c->lexer) || failed)
        return -1;
    const char *line = "";
    for (int i = 0; i < c->n; i++)
        write_code(g, &c->codes[i], &line);
    ln_cgen_line(g->out, 4, "%s{LN_SIZE_END, 0, 0},", line);
    return 0;
}
