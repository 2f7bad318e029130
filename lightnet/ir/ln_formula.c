// SPDX-License-Identifier: Apache-2.0
// Reads formulas of functions.

#include "ir/ln_formula.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/ln_number.h"

// The rows of tl_functions.h as text: a formula is the rest of its row, and may contain commas.
#define TEXT_OF(...)           FIRST_TEXT(__VA_ARGS__, )
#define FIRST_TEXT(first, ...) #first
#define ROW(arg, NAME, name, types, cost, sets, ...) \
    {#name, "TL_UNARY_" #NAME, TEXT_OF(__VA_ARGS__)},
const ln_function ln_functions[TL_UNARY_FUNC_SIZE] = {TL_UNARY_FUNCS(ROW, )};

const ln_function *ln_function_named(const char *name)
{
    for (int i = 0; i < TL_UNARY_FUNC_SIZE; i++)
        if (!strcmp(ln_functions[i].name, name))
            return &ln_functions[i];
    return NULL;
}

const ln_function *ln_function_of(const char *func)
{
    const tl_unary_func value = tl_unary_func_from_str(func);
    return value == TL_UNARY_FUNC_INVALID ? NULL : &ln_functions[value];
}

int ln_formula_is_number(const ln_formula *f, int node)
{
    return !*f->nodes[node].name;
}

int ln_formula_is(const ln_formula *f, int node, const char *name)
{
    return !strcmp(f->nodes[node].name, name);
}

// Nodes

typedef struct reading {
    ln_formula *f;
    const char *p;
} reading;

// The index of a node equal to this one, which is added if missing (so padding bytes are zero).
static int add(reading *r, const ln_formula_node *node)
{
    ln_formula *const f = r->f;
    for (int i = 0; i < f->len; i++)
        if (!memcmp(&f->nodes[i], node, sizeof(*node)))
            return i;
    assert(f->len < LN_FORMULA_NODES);
    f->nodes[f->len] = *node;
    return f->len++;
}

static int add_number(reading *r, double number)
{
    return add(r, &(ln_formula_node){.number = number});
}

// The result of an operation on constants; NaN: an operation that is not folded.
static double fold(const char *name, double a, double b)
{
    return !strcmp(name, "add")    ? a + b
           : !strcmp(name, "sub")  ? a - b
           : !strcmp(name, "mul")  ? a * b
           : !strcmp(name, "div")  ? a / b
           : !strcmp(name, "neg")  ? -a
           : !strcmp(name, "sqrt") ? sqrt(a)
                                   : (double)NAN;
}

static int add_call(reading *r, const char *name, int n_srcs, const int *srcs)
{
    const ln_formula_node *const nodes = r->f->nodes;
    ln_formula_node node = {.n_srcs = n_srcs};
    int are_numbers = n_srcs == 1 || n_srcs == 2;
    strcpy(node.name, name);
    memcpy(node.srcs, srcs, (size_t)n_srcs * sizeof(*srcs));
    for (int i = 0; i < n_srcs; i++)
        are_numbers &= ln_formula_is_number(r->f, srcs[i]);
    const double folded = are_numbers
                              ? fold(name, nodes[srcs[0]].number, nodes[srcs[n_srcs - 1]].number)
                              : (double)NAN;
    return isnan(folded) ? add(r, &node) : add_number(r, folded);
}

static int add_pair(reading *r, const char *name, int a, int b)
{
    return add_call(r, name, 2, (const int[]){a, b});
}

// Expressions, by recursive descent. Each function returns the index of its node.
//
//     choice = sum [("<" | ">") sum] ["?" choice ":" choice]    sum = product {("+" | "-") product}
//     product = factor {("*" | "/") factor}    factor = "-" factor | "(" choice ")" | number | name

static int read_choice(reading *r);

// Skips blanks, then the character if it is next. Returns whether it was.
static int accept(reading *r, char c)
{
    while (*r->p == ' ')
        r->p++;
    const int is_next = *r->p == c;
    r->p += is_next;
    return is_next;
}

// A name, or a call.
static int read_name(reading *r)
{
    static const char *const c_names[][2] = {{"fabs", "abs"}, {"rint", "round"}};
    char name[LN_FORMULA_NAME] = {0};
    int n_srcs = 0, srcs[LN_FORMULA_SRCS] = {0};
    for (int len = 0; isalnum((unsigned char)*r->p) || *r->p == '_'; len++)
        name[len] = *r->p++;
    for (int i = 0; i < 2; i++)
        if (!strcmp(name, c_names[i][0]))
            strcpy(name, c_names[i][1]);
    for (int is_call = accept(r, '('); is_call; is_call = accept(r, ','))
        srcs[n_srcs++] = read_choice(r);
    if (n_srcs)
        accept(r, ')');
    return add_call(r, name, n_srcs, srcs);
}

static int read_factor(reading *r)
{
    int node;
    if (accept(r, '-')) {
        node = read_factor(r);
        return add_call(r, "neg", 1, &node);
    }
    if (accept(r, '(')) {
        node = read_choice(r);
        accept(r, ')');
        return node;
    }
    char *end;
    const double number = ln_number_read(r->p, &end);
    if (end == r->p || isalpha((unsigned char)*r->p)) // not "nan", "inf"
        return read_name(r);
    r->p = end;
    return add_number(r, number);
}

static int read_product(reading *r)
{
    int node = read_factor(r);
    for (;;) {
        if (accept(r, '*'))
            node = add_pair(r, "mul", node, read_factor(r));
        else if (accept(r, '/'))
            node = add_pair(r, "div", node, read_factor(r));
        else
            return node;
    }
}

static int read_sum(reading *r)
{
    int node = read_product(r);
    for (;;) {
        if (accept(r, '+'))
            node = add_pair(r, "add", node, read_product(r));
        else if (accept(r, '-'))
            node = add_pair(r, "sub", node, read_product(r));
        else
            return node;
    }
}

static int read_choice(reading *r)
{
    int srcs[LN_FORMULA_SRCS] = {read_sum(r)};
    if (accept(r, '<'))
        srcs[0] = add_pair(r, "less", srcs[0], read_sum(r));
    else if (accept(r, '>'))
        srcs[0] = add_pair(r, "less", read_sum(r), srcs[0]);
    if (!accept(r, '?'))
        return srcs[0];
    srcs[1] = read_choice(r);
    accept(r, ':');
    srcs[2] = read_choice(r);
    return add_call(r, "choice", 3, srcs);
}

void ln_formula_read(ln_formula *f, const char *text)
{
    reading r = {f, text};
    memset(f, 0, sizeof(*f));
    read_choice(&r);
    assert(!*r.p);
}
