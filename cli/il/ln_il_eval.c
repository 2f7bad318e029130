// SPDX-License-Identifier: Apache-2.0
// The arithmetic of ${eval EXPR} and #if in IL: a recursive descent of limited depth; its values in
// a text.

#include "il/ln_il.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/ln_number.h"

// Nesting of parentheses, signs, etc.
enum { MAX_DEPTH = 100 };

// The first double beyond all of int64_t.
#define INT_LIMIT 9223372036854775808.0

typedef struct number {
    int is_int;
    int64_t i;
    double d; // unless is_int
} number;

// After a failure, nothing more is read, and values are meaningless.
typedef struct evaluator {
    const char *at, *end;
    int depth;
    int skipped; // > 0: in a side of ?:, && or || that is not evaluated
    int failed;
    ln_error *err;
} evaluator;

static const number zero = {.is_int = 1};

LN_PRINTF(2, 3) static number fail(evaluator *e, const char *fmt, ...)
{
    va_list args;
    if (!e->failed) {
        va_start(args, fmt);
        ln_error_vset(e->err, fmt, args);
        va_end(args);
    }
    e->failed = 1;
    e->at = e->end;
    return zero;
}

// Numbers

static number integer(int64_t i)
{
    return (number){.is_int = 1, .i = i};
}

static double as_double(number x)
{
    return x.is_int ? (double)x.i : x.d;
}

// A side that is not evaluated may divide by zero.
static number real(evaluator *e, double d, const char *what)
{
    if (!isfinite(d))
        return e->skipped ? zero : fail(e, "%s is not a finite number", what);
    return (number){.d = d};
}

static number overflow(evaluator *e, const char *what)
{
    return e->skipped ? zero : fail(e, "%s is beyond the integers of 64 bits", what);
}

// Converts a number without fraction to an integer, if it fits. Returns whether it does.
static int to_integer(number x, int64_t *i)
{
    if (!x.is_int && !(x.d == floor(x.d) && x.d >= -INT_LIMIT && x.d < INT_LIMIT))
        return 0;
    *i = x.is_int ? x.i : (int64_t)x.d;
    return 1;
}

static int compare(number a, number b)
{
    if (a.is_int && b.is_int)
        return (a.i > b.i) - (a.i < b.i);
    return (as_double(a) > as_double(b)) - (as_double(a) < as_double(b));
}

static int is_true(number x)
{
    return as_double(x) != 0;
}

// Operations on two numbers

static number arithmetic(evaluator *e, char op, number a, number b)
{
    const char *what = op == '+' ? "a sum" : op == '-' ? "a difference" : "a product";
    const double x = as_double(a), y = as_double(b);
    int64_t i;
    if (!a.is_int || !b.is_int)
        return real(e, op == '+' ? x + y : op == '-' ? x - y : x * y, what);
    const int overflows = op == '+'   ? __builtin_add_overflow(a.i, b.i, &i)
                          : op == '-' ? __builtin_sub_overflow(a.i, b.i, &i)
                                      : __builtin_mul_overflow(a.i, b.i, &i);
    return overflows ? overflow(e, what) : integer(i);
}

static number divide(evaluator *e, number a, number b)
{
    if (as_double(b) == 0)
        return e->skipped ? zero : fail(e, "division by zero");
    if (a.is_int && b.is_int && b.i == -1)
        return arithmetic(e, '-', zero, a);
    if (a.is_int && b.is_int && a.i % b.i == 0)
        return integer(a.i / b.i);
    return real(e, as_double(a) / as_double(b), "a quotient");
}

static number modulo(evaluator *e, number a, number b)
{
    int64_t x, y;
    if (!to_integer(a, &x) || !to_integer(b, &y))
        return e->skipped ? zero : fail(e, "'%%' has a fraction, expected integers");
    if (y == 0)
        return e->skipped ? zero : fail(e, "division by zero");
    if (y == -1)
        return zero;
    const int64_t rest = x % y;
    return integer(rest && (rest < 0) != (y < 0) ? rest + y : rest);
}

// By squaring, so that the exponent may be large.
static number integer_power(evaluator *e, int64_t base, int64_t exponent)
{
    int64_t result = 1;
    while (exponent) {
        if (exponent % 2 && __builtin_mul_overflow(result, base, &result))
            return overflow(e, "a power");
        exponent /= 2;
        if (exponent && __builtin_mul_overflow(base, base, &base))
            return overflow(e, "a power");
    }
    return integer(result);
}

static number power(evaluator *e, number a, number b)
{
    if (a.is_int && b.is_int && b.i >= 0)
        return integer_power(e, a.i, b.i);
    return real(e, pow(as_double(a), as_double(b)), "a power");
}

static number min_of(evaluator *e, number a, number b)
{
    (void)e;
    return compare(b, a) < 0 ? b : a;
}

static number max_of(evaluator *e, number a, number b)
{
    (void)e;
    return compare(b, a) > 0 ? b : a;
}

// The orders of two numbers for which a comparison is true.
enum { LESS = 1, EQUAL = 2, GREATER = 4 };

// Left-associative operators by precedence; longer ones before their prefixes.
static const struct {
    const char *text;
    int level;
    int orders; // of comparisons
    number (*compute)(evaluator *e, number a, number b);
} binaries[] = {
    {"||", 0, 0, NULL},
    {"&&", 1, 0, NULL},
    {"==", 2, EQUAL, NULL},
    {"!=", 2, LESS | GREATER, NULL},
    {"<=", 3, LESS | EQUAL, NULL},
    {">=", 3, GREATER | EQUAL, NULL},
    {"<", 3, LESS, NULL},
    {">", 3, GREATER, NULL},
    {"+", 4, 0, NULL},
    {"-", 4, 0, NULL},
    {"*", 5, 0, NULL},
    {"/", 5, 0, divide},
    {"%", 5, 0, modulo},
};

enum { OR, AND, N_BINARIES = sizeof(binaries) / sizeof(binaries[0]) };

// Functions round a number, or choose one of several; sqrt does neither.
static const struct {
    const char *name;
    double (*round)(double);
    number (*choose)(evaluator *e, number a, number b);
} functions[] = {
    {"int", trunc, NULL}, {"ceil", ceil, NULL},  {"floor", floor, NULL},
    {"sqrt", NULL, NULL}, {"min", NULL, min_of}, {"max", NULL, max_of},
};

enum { N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static number call(evaluator *e, size_t f, number x)
{
    int64_t i;
    if (!functions[f].round)
        return functions[f].choose ? x : real(e, sqrt(as_double(x)), "sqrt()");
    if (x.is_int)
        return x;
    const number rounded = {.d = functions[f].round(x.d)};
    return to_integer(rounded, &i) ? integer(i) : overflow(e, "a rounded number");
}

// Reading

static void skip_blanks(evaluator *e)
{
    while (e->at < e->end && isspace((unsigned char)*e->at))
        e->at++;
}

static int is_next(evaluator *e, const char *text)
{
    const size_t len = strlen(text);
    skip_blanks(e);
    return (size_t)(e->end - e->at) >= len && !memcmp(e->at, text, len);
}

static int take(evaluator *e, const char *text)
{
    if (!is_next(e, text))
        return 0;
    e->at += strlen(text);
    return 1;
}

static void expect(evaluator *e, const char *text)
{
    if (take(e, text) || e->failed)
        return;
    if (e->at == e->end)
        fail(e, "the expression ends, expected '%s'", text);
    else
        fail(e, "'%c' is unexpected, expected '%s'", *e->at, text);
}

static number read_ternary(evaluator *e);

static int is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

// The current word: letters, digits and points, and the sign of an exponent.
static size_t word_length(const evaluator *e)
{
    const int is_hex = e->end - e->at > 1 && e->at[0] == '0' && tolower(e->at[1]) == 'x';
    const char *p = e->at;
    while (p < e->end && (is_word(*p) || ((*p == '+' || *p == '-') && !is_hex && p > e->at &&
                                          tolower(p[-1]) == 'e' && isdigit((unsigned char)*e->at))))
        p++;
    return (size_t)(p - e->at);
}

static number to_number(evaluator *e, const char *text)
{
    const int is_hex = text[0] == '0' && tolower(text[1]) == 'x';
    char *end;
    if (is_hex || !text[strspn(text, "0123456789")]) {
        errno = 0;
        const intmax_t i = strtoimax(text, &end, is_hex ? 16 : 10);
        if (errno || i > INT64_MAX)
            return fail(e, "'%.40s' is beyond the integers of 64 bits", text);
        return *end ? fail(e, "'%.40s' is not a number", text) : integer(i);
    }
    const double d = ln_number_read(text, &end);
    return *end ? fail(e, "'%.40s' is not a number", text) : real(e, d, text);
}

static number read_number(evaluator *e)
{
    char text[400];
    const size_t len = word_length(e);
    if (len >= sizeof(text))
        return fail(e, "a number has %zu characters, expected less than %zu", len, sizeof(text));
    memcpy(text, e->at, len);
    text[len] = '\0';
    e->at += len;
    return to_number(e, text);
}

// A side that is not evaluated may contain any name: `defined(A) && A > 1`.
static number fail_name(evaluator *e, size_t len)
{
    const char *name = e->at;
    e->at += len;
    return e->skipped ? zero
                      : fail(e, "'%.*s' is unknown, expected int, ceil, floor, sqrt, min or max",
                             (int)(len < 40 ? len : 40), name);
}

static number read_call(evaluator *e)
{
    const size_t len = word_length(e);
    size_t f = 0;
    while (f < N_FUNCTIONS &&
           (strlen(functions[f].name) != len || memcmp(functions[f].name, e->at, len) != 0))
        f++;
    if (f == N_FUNCTIONS)
        return fail_name(e, len);
    e->at += len;
    expect(e, "(");
    number x = call(e, f, read_ternary(e));
    while (functions[f].choose && take(e, ","))
        x = functions[f].choose(e, x, read_ternary(e));
    expect(e, ")");
    return x;
}

static number read_enclosed(evaluator *e, const char *close)
{
    const number x = read_ternary(e);
    expect(e, close);
    return x;
}

static number read_primary(evaluator *e)
{
    if (take(e, "("))
        return read_enclosed(e, ")");
    if (take(e, "${eval"))
        return read_enclosed(e, "}");
    skip_blanks(e);
    if (e->at == e->end)
        return e->failed ? zero : fail(e, "the expression ends, expected a number");
    if (isdigit((unsigned char)*e->at) || *e->at == '.')
        return read_number(e);
    if (isalpha((unsigned char)*e->at) || *e->at == '_')
        return read_call(e);
    return fail(e, "'%c' is unexpected, expected a number", *e->at);
}

// Each recursion calls it.
static int is_too_deep(evaluator *e)
{
    if (e->depth < MAX_DEPTH)
        return 0;
    fail(e, "the expression is nested too deeply, expected at most %d levels", MAX_DEPTH);
    return 1;
}

static number read_sign(evaluator *e);

// Right-associative; the exponent may have a sign.
static number read_power(evaluator *e)
{
    const number base = read_primary(e);
    return take(e, "**") ? power(e, base, read_sign(e)) : base;
}

static number read_sign(evaluator *e)
{
    if (is_too_deep(e))
        return zero;
    number x;
    e->depth++;
    if (take(e, "-"))
        x = arithmetic(e, '-', zero, read_sign(e));
    else if (take(e, "!"))
        x = integer(!is_true(read_sign(e)));
    else
        x = take(e, "+") ? read_sign(e) : read_power(e);
    e->depth--;
    return x;
}

// The next operator; N_BINARIES: none.
static size_t next_binary(evaluator *e)
{
    size_t b = 0;
    while (b < N_BINARIES && !is_next(e, binaries[b].text))
        b++;
    return b;
}

static number compute(evaluator *e, size_t b, number x, number y)
{
    if (b == OR || b == AND)
        return integer(b == OR ? is_true(x) || is_true(y) : is_true(x) && is_true(y));
    if (binaries[b].orders)
        return integer((binaries[b].orders & 1 << (compare(x, y) + 1)) != 0);
    return binaries[b].compute ? binaries[b].compute(e, x, y)
                               : arithmetic(e, *binaries[b].text, x, y);
}

// Operators of that level and higher ones.
static number read_binary(evaluator *e, int level)
{
    number x = read_sign(e);
    size_t b;
    while ((b = next_binary(e)) < N_BINARIES && binaries[b].level >= level) {
        const int is_decided = (b == OR && is_true(x)) || (b == AND && !is_true(x));
        e->at += strlen(binaries[b].text);
        e->skipped += is_decided;
        const number y = read_binary(e, binaries[b].level + 1);
        e->skipped -= is_decided;
        x = compute(e, b, x, y);
    }
    return x;
}

static number read_side(evaluator *e, int is_evaluated)
{
    e->skipped += !is_evaluated;
    const number x = read_ternary(e);
    e->skipped -= !is_evaluated;
    return x;
}

static number read_ternary(evaluator *e)
{
    if (is_too_deep(e))
        return zero;
    e->depth++;
    number x = read_binary(e, 0);
    if (take(e, "?")) {
        const int is_first = is_true(x);
        const number first = read_side(e, is_first);
        expect(e, ":");
        const number second = read_side(e, !is_first);
        x = is_first ? first : second;
    }
    e->depth--;
    return x;
}

int ln_il_eval(const char *text, size_t len, char *value, ln_error *err)
{
    evaluator e = {.at = text, .end = text + len, .err = err};
    const number x = read_ternary(&e);
    int64_t i;
    skip_blanks(&e);
    if (e.at < e.end)
        fail(&e, "'%c' is unexpected, expected an operator", *e.at);
    if (e.failed)
        return -1;
    if (to_integer(x, &i))
        snprintf(value, LN_IL_VALUE_SIZE, "%" PRId64, i);
    else
        ln_number_print(value, LN_IL_VALUE_SIZE, x.d);
    return 0;
}

// Of a text

static int is_eval(const char *at, const char *end)
{
    return end - at > 6 && !memcmp(at, "${eval", 6) &&
           (isspace((unsigned char)at[6]) || at[6] == '(');
}

// The `}` that ends an expression, which may contain others; NULL: none.
static const char *find_close(const char *expr, const char *end)
{
    int depth = 1;
    for (const char *p = expr; p < end; p++) {
        depth += *p == '{';
        depth -= *p == '}';
        if (!depth)
            return p;
    }
    return NULL;
}

// The number of bytes before the next expression or the end of the line; '\' escapes the next
// character.
static size_t plain_length(const char *at, const char *end)
{
    const char *p = at;
    while (p < end && *p != '\n' && !is_eval(p, end))
        p += *p == '\\' && end - p > 1 && p[1] != '\n' ? 2 : 1;
    return (size_t)(p - at);
}

// Appends the value of the expression at `at`. Returns the text after it; NULL with a reason.
static const char *append_value(ln_il_text *to, const char *at, const char *end, ln_il_place place,
                                ln_error *err)
{
    char value[LN_IL_VALUE_SIZE];
    const char *expr = at + 6, *close = find_close(expr, end);
    if (!close) {
        ln_il_fail(err, place, "'${eval' without '}'");
    } else if (ln_il_eval(expr, (size_t)(close - expr), value, err)) {
        ln_error_prefix(err, "%s:%d: ${eval}", place.file, place.line);
    } else if (ln_il_text_append(to, value, strlen(value))) {
        ln_il_fail_memory(err, place);
    } else {
        return close + 1;
    }
    return NULL;
}

// Evaluates the line at `at`, with all lines that its expressions continue on; `*line` is then the
// last of these. Returns the text after it; NULL with a reason.
static const char *eval_line(const ln_il_text *from, size_t *line, const char *at, ln_il_text *to,
                             ln_error *err)
{
    const char *const end = from->text + from->len;
    while (at < end && *at != '\n') {
        const size_t plain = plain_length(at, end);
        if (ln_il_text_append(to, at, plain))
            return ln_il_fail_memory(err, from->lines[*line]), NULL;
        const char *const expr = at += plain;
        if (at < end && *at != '\n' && !(at = append_value(to, at, end, from->lines[*line], err)))
            return NULL;
        for (const char *p = expr; p < at; p++)
            *line += *p == '\n';
    }
    return at < end ? at + 1 : end;
}

int ln_il_eval_text(const ln_il_text *from, ln_il_text *to, ln_error *err)
{
    const char *at = from->text;
    for (size_t line = 0; line < from->n_lines; line++) {
        if (ln_il_text_begin_line(to, from->lines[line]))
            return ln_il_fail_memory(err, from->lines[line]);
        if (from->len && !(at = eval_line(from, &line, at, to, err)))
            return -1;
    }
    return 0;
}
