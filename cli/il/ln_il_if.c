// SPDX-License-Identifier: Apache-2.0
// The constant expressions of #if: a recursive descent of limited depth.

#include "il/ln_il_pre.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Parentheses, signs and so on within each other.
enum { MAX_DEPTH = 200 };

// An intmax_t, or a uintmax_t with the same bits.
typedef struct value {
    uintmax_t bits;
    int is_unsigned;
} value;

// After a failure, nothing more is read, and values are meaningless.
typedef struct evaluator {
    const ln_il_token *at, *end;
    ln_il_place place;
    int depth;
    int skipped; // > 0: the value is ignored, and may divide by 0
    int failed;
    ln_error *err;
} evaluator;

static const value zero;

LN_PRINTF(2, 3) static value fail(evaluator *e, const char *fmt, ...)
{
    char reason[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    if (!e->failed)
        ln_il_fail(e->err, e->place, "#if: %s", reason);
    e->failed = 1;
    e->at = e->end;
    return zero;
}

static value truth(int is_true)
{
    return (value){.bits = is_true != 0};
}

// Operations

static int is_negative(value x)
{
    return !x.is_unsigned && (intmax_t)x.bits < 0;
}

static int compare(value a, value b)
{
    if (a.is_unsigned || b.is_unsigned || is_negative(a) == is_negative(b))
        return (a.bits > b.bits) - (a.bits < b.bits);
    return is_negative(a) ? -1 : 1;
}

static value divide(evaluator *e, value a, value b, int wants_rest)
{
    const int is_unsigned = a.is_unsigned || b.is_unsigned;
    if (!b.bits)
        return e->skipped ? zero : fail(e, "division by zero");
    if (is_unsigned)
        return (value){wants_rest ? a.bits % b.bits : a.bits / b.bits, 1};
    if (b.bits == UINTMAX_MAX) // -1: the least integer has no opposite
        return (value){wants_rest ? 0 : 0 - a.bits, 0};
    const intmax_t x = (intmax_t)a.bits, y = (intmax_t)b.bits;
    return (value){(uintmax_t)(wants_rest ? x % y : x / y), 0};
}

// An arithmetic right shift. A shift by more bits than the type has equals the longest one.
static value shift(value a, intmax_t by)
{
    const uintmax_t sign = is_negative(a) ? UINTMAX_MAX : 0;
    if (by <= -64)
        return (value){sign, a.is_unsigned};
    if (by < 0)
        return (value){a.bits >> -by | (sign && -by ? sign << (64 + by) : 0), a.is_unsigned};
    return (value){by < 64 ? a.bits << by : 0, a.is_unsigned};
}

enum {
    OR,
    AND,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    EQUAL,
    UNEQUAL,
    LESS_EQUAL,
    GREATER_EQUAL,
    LEFT,
    RIGHT,
    LESS,
    GREATER,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REST
};

// Operators by how tightly they bind.
static const struct {
    const char *text;
    int level;
} binaries[] = {
    [OR] = {"||", 0},      [AND] = {"&&", 1},        [BIT_OR] = {"|", 2},
    [BIT_XOR] = {"^", 3},  [BIT_AND] = {"&", 4},     [EQUAL] = {"==", 5},
    [UNEQUAL] = {"!=", 5}, [LESS_EQUAL] = {"<=", 6}, [GREATER_EQUAL] = {">=", 6},
    [LEFT] = {"<<", 7},    [RIGHT] = {">>", 7},      [LESS] = {"<", 6},
    [GREATER] = {">", 6},  [ADD] = {"+", 8},         [SUBTRACT] = {"-", 8},
    [MULTIPLY] = {"*", 9}, [DIVIDE] = {"/", 9},      [REST] = {"%", 9},
};

enum { N_BINARIES = sizeof(binaries) / sizeof(binaries[0]) };

static value compute_shift(value a, value b, int is_left)
{
    const intmax_t by = is_negative(b) ? (intmax_t)b.bits : b.bits > 64 ? 64 : (intmax_t)b.bits;
    const intmax_t bounded = by < -64 ? -64 : by;
    return shift(a, is_left ? bounded : -bounded);
}

static value compute(evaluator *e, int operation, value a, value b)
{
    const int is_unsigned = a.is_unsigned || b.is_unsigned;
    switch (operation) {
    case OR:
        return truth(a.bits || b.bits);
    case AND:
        return truth(a.bits && b.bits);
    case BIT_OR:
        return (value){a.bits | b.bits, is_unsigned};
    case BIT_XOR:
        return (value){a.bits ^ b.bits, is_unsigned};
    case BIT_AND:
        return (value){a.bits & b.bits, is_unsigned};
    case EQUAL:
        return truth(a.bits == b.bits);
    case UNEQUAL:
        return truth(a.bits != b.bits);
    case LESS_EQUAL:
        return truth(compare(a, b) <= 0);
    case GREATER_EQUAL:
        return truth(compare(a, b) >= 0);
    case LESS:
        return truth(compare(a, b) < 0);
    case GREATER:
        return truth(compare(a, b) > 0);
    case ADD:
        return (value){a.bits + b.bits, is_unsigned};
    case SUBTRACT:
        return (value){a.bits - b.bits, is_unsigned};
    case MULTIPLY:
        return (value){a.bits * b.bits, is_unsigned};
    case LEFT:
    case RIGHT:
        return compute_shift(a, b, operation == LEFT);
    default:
        return divide(e, a, b, operation == REST);
    }
}

// Reading

static int is_next(const evaluator *e, const char *text)
{
    return e->at < e->end && ln_il_token_is(e->at, text);
}

static int take(evaluator *e, const char *text)
{
    if (!is_next(e, text))
        return 0;
    e->at++;
    return 1;
}

static void expect(evaluator *e, const char *text)
{
    if (!take(e, text) && !e->failed)
        fail(e, "'%s' is missing", text);
}

static value read_number(evaluator *e, const ln_il_token *t)
{
    char text[80], *end;
    if (t->len >= sizeof(text))
        return fail(e, "a number of %u characters", t->len);
    memcpy(text, t->text, t->len);
    text[t->len] = '\0';
    errno = 0;
    const uintmax_t bits = strtoumax(text, &end, 0);
    const int is_suffix = strlen(end) <= 3 && !end[strspn(end, "uUlL")];
    if (end == text || !is_suffix)
        return fail(e, "'%.60s' is not an integer", text);
    if (errno)
        return fail(e, "'%.60s' is beyond the integers of 64 bits", text);
    return (value){bits, bits > INTMAX_MAX || strpbrk(end, "uU")};
}

// 'a' or '\n'.
static value read_char(evaluator *e, const ln_il_token *t)
{
    static const char letters[] = "abfnrtv0\\'\"?", meanings[] = "\a\b\f\n\r\t\v\0\\'\"?";
    if (t->len == 3 && t->text[1] != '\\')
        return (value){(unsigned char)t->text[1], 0};
    const char *letter = t->len == 4 && t->text[1] == '\\' ? strchr(letters, t->text[2]) : NULL;
    return letter ? (value){(unsigned char)meanings[letter - letters], 0}
                  : fail(e, "'%.*s' is not a single character", (int)t->len, t->text);
}

static value read_ternary(evaluator *e);

static value read_primary(evaluator *e)
{
    if (e->at == e->end)
        return e->failed ? zero : fail(e, "the expression ends, expected a number");
    const ln_il_token *t = e->at++;
    if (ln_il_token_is(t, "(")) {
        const value x = read_ternary(e);
        expect(e, ")");
        return x;
    }
    if (t->kind == LN_IL_TOKEN_NUMBER)
        return read_number(e, t);
    if (t->kind == LN_IL_TOKEN_CHAR)
        return read_char(e, t);
    if (t->kind == LN_IL_TOKEN_NAME)
        return zero;
    return fail(e, "'%.*s' is unexpected, expected a number", t->len < 40 ? (int)t->len : 40,
                t->text);
}

// Every recursion calls it.
static int is_too_deep(evaluator *e)
{
    if (e->depth < MAX_DEPTH)
        return 0;
    fail(e, "the expression is nested too deeply, expected at most %d levels", MAX_DEPTH);
    return 1;
}

static value read_unary(evaluator *e)
{
    if (is_too_deep(e))
        return zero;
    value x;
    e->depth++;
    if (take(e, "-")) {
        x = read_unary(e);
        x.bits = 0 - x.bits;
    } else if (take(e, "~")) {
        x = read_unary(e);
        x.bits = ~x.bits;
    } else if (take(e, "!")) {
        x = truth(!read_unary(e).bits);
    } else {
        x = take(e, "+") ? read_unary(e) : read_primary(e);
    }
    e->depth--;
    return x;
}

// The operator that is next; N_BINARIES: none is.
static int next_binary(const evaluator *e)
{
    int b = 0;
    while (b < N_BINARIES && !is_next(e, binaries[b].text))
        b++;
    return b;
}

// Operators of that level and tighter ones (precedence climbing).
static value read_binary(evaluator *e, int level)
{
    if (is_too_deep(e))
        return zero;
    e->depth++;
    value x = read_unary(e);
    int b;
    while ((b = next_binary(e)) < N_BINARIES && binaries[b].level >= level) {
        e->at++;
        const int decided = b == OR ? x.bits != 0 : b == AND && !x.bits;
        e->skipped += decided;
        const value y = read_binary(e, binaries[b].level + 1);
        e->skipped -= decided;
        x = compute(e, b, x, y);
    }
    e->depth--;
    return x;
}

static value read_side(evaluator *e, int counts)
{
    e->skipped += !counts;
    const value x = read_ternary(e);
    e->skipped -= !counts;
    return x;
}

static value read_ternary(evaluator *e)
{
    if (is_too_deep(e))
        return zero;
    e->depth++;
    value x = read_binary(e, 0);
    if (take(e, "?")) {
        const int is_true = x.bits != 0;
        const value first = read_side(e, is_true);
        expect(e, ":");
        const value second = read_side(e, !is_true);
        x = is_true ? first : second;
        x.is_unsigned = first.is_unsigned || second.is_unsigned;
    }
    e->depth--;
    return x;
}

int ln_il_if(const ln_il_tokens *tokens, ln_il_place place, int *is_true, ln_error *err)
{
    evaluator e = {
        .at = tokens->at, .end = ln_il_tokens_from(tokens, tokens->n), .place = place, .err = err};
    *is_true = read_ternary(&e).bits != 0;
    if (e.at < e.end)
        fail(&e, "'%.*s' is unexpected, expected an operator", e.at->len < 40 ? (int)e.at->len : 40,
             e.at->text);
    return e.failed ? -1 : 0;
}
