// SPDX-License-Identifier: Apache-2.0
// Regular expressions in RE2's syntax, compiled to a nondeterministic automaton. The simulation of
// all its states takes O(length of the program * length of the text), for any expression.
//
// A recursive-descent parser emits instructions. `a|b` is
//
//     SPLIT to a and b   a   JUMP past b   b
//
// and a repetition copies the instructions of its operand. A thread of the simulation is a position
// in the program; a set of threads has each position at most once. Source: Ken Thompson, Regular
// Expression Search Algorithm, 1968; Russ Cox, Regular Expression Matching: the Virtual Machine
// Approach, 2009.

#include <limits.h>
#include <string.h>

#include "kernel/strings/strings.h"
#include "kernel/strings/unicode.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_util.h"

// Max instructions, nested groups, and repetitions in braces (as RE2).
enum { MAX_CODE = 1 << 17, MAX_DEPTH = 200, MAX_REPEAT = 1000 };

enum { LAST_CHAR = 0x10ffff };

typedef enum op { CHARS, SPLIT, JUMP, ASSERT, MATCH } op;

typedef enum assertion {
    TEXT_BEGIN,
    TEXT_END,
    LINE_BEGIN,
    LINE_END,
    WORD_BOUNDARY,
    NO_WORD_BOUNDARY
} assertion;

typedef struct code {
    op op;
    int x, y; // SPLIT: both targets, relative; JUMP: x; CHARS: the first range and how many;
              // ASSERT: x, an assertion
    int is_negated, is_folded; // CHARS
} code;

struct tl_regex {
    code *code;
    int n, capacity;
    tl_char_range *ranges;
    int n_ranges, range_capacity;
};

// The program

typedef struct parser {
    tl_regex *re;
    const char *begin, *at, *end;
    int depth;
    int is_failed;
    int folds, dot_all, multi_line; // flags i, s, m
} parser;

static int fail(parser *p, const char *what)
{
    if (!p->is_failed)
        tl_fail("regular expression '%.*s': %s at byte %zu",
                p->end - p->begin < 200 ? (int)(p->end - p->begin) : 200, p->begin, what,
                (size_t)(p->at - p->begin));
    p->is_failed = 1;
    return -1;
}

// Grows an array to hold one more element; -1: no memory.
static int grow(void **array, int n, int *capacity, size_t size)
{
    if (n < *capacity)
        return 0;
    const int more = *capacity ? 2 * *capacity : 16;
    void *const larger = tl_alloc((size_t)more * size);
    if (!larger)
        return -1;
    if (n)
        memcpy(larger, *array, (size_t)n * size);
    tl_free(*array);
    *array = larger;
    *capacity = more;
    return 0;
}

static int emit(parser *p, code c)
{
    tl_regex *const re = p->re;
    if (p->is_failed)
        return -1;
    if (re->n >= MAX_CODE)
        return fail(p, "too large");
    if (grow((void **)&re->code, re->n, &re->capacity, sizeof(c)) < 0) {
        p->is_failed = 1;
        return -1;
    }
    re->code[re->n++] = c;
    return 0;
}

// Puts an instruction before those from `at` on.
static void insert(parser *p, int at, code c)
{
    if (emit(p, c) < 0)
        return;
    memmove(p->re->code + at + 1, p->re->code + at,
            (size_t)(p->re->n - 1 - at) * sizeof(*p->re->code));
    p->re->code[at] = c;
}

// Appends a copy of the instructions from `begin` to `end`.
static void copy(parser *p, int begin, int end)
{
    for (int i = begin; i < end && !p->is_failed; i++)
        emit(p, p->re->code[i]);
}

static void add_range(parser *p, uint32_t first, uint32_t last)
{
    tl_regex *const re = p->re;
    if (p->is_failed || first > last)
        return;
    if (re->n_ranges >= MAX_CODE) {
        fail(p, "too large");
        return;
    }
    if (grow((void **)&re->ranges, re->n_ranges, &re->range_capacity, sizeof(*re->ranges)) < 0) {
        p->is_failed = 1;
        return;
    }
    re->ranges[re->n_ranges++] = (tl_char_range){first, last};
}

// Characters and classes

static uint32_t next(parser *p)
{
    size_t n;
    const uint32_t c = tl_char_at(p->at, p->end, &n);
    p->at += n;
    return c;
}

static int take(parser *p, const char *text)
{
    const size_t n = strlen(text);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n) != 0)
        return 0;
    p->at += n;
    return 1;
}

// Adds the ranges, or their complement.
static void add_ranges(parser *p, const tl_char_range *ranges, size_t n, int is_negated)
{
    uint32_t free = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_negated)
            add_range(p, ranges[i].first, ranges[i].last);
        else if (ranges[i].first > free)
            add_range(p, free, ranges[i].first - 1);
        free = ranges[i].last + 1;
    }
    if (is_negated)
        add_range(p, free, LAST_CHAR);
}

// Perl's classes and POSIX's, of ASCII, sorted.
#define RANGES(name, ...) static const tl_char_range name[] = {__VA_ARGS__}
RANGES(digits, {'0', '9'});
RANGES(spaces, {'\t', '\n'}, {'\f', '\r'}, {' ', ' '});
RANGES(words, {'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'});
RANGES(alnum, {'0', '9'}, {'A', 'Z'}, {'a', 'z'});
RANGES(alpha, {'A', 'Z'}, {'a', 'z'});
RANGES(ascii, {0, 127});
RANGES(blank, {'\t', '\t'}, {' ', ' '});
RANGES(cntrl, {0, 31}, {127, 127});
RANGES(graph, {'!', '~'});
RANGES(lower, {'a', 'z'});
RANGES(print, {' ', '~'});
RANGES(punct, {'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'});
RANGES(space, {'\t', '\r'}, {' ', ' '});
RANGES(upper, {'A', 'Z'});
RANGES(xdigit, {'0', '9'}, {'A', 'F'}, {'a', 'f'});

#define ROW(name, ranges)                                \
    {                                                    \
        name, ranges, sizeof(ranges) / sizeof(*(ranges)) \
    }
typedef struct named {
    const char *name;
    const tl_char_range *ranges;
    size_t n;
} named;
static const named perl[] = {ROW("d", digits), ROW("s", spaces), ROW("w", words)};
static const named posix[] = {
    ROW("alnum", alnum), ROW("alpha", alpha),   ROW("ascii", ascii), ROW("blank", blank),
    ROW("cntrl", cntrl), ROW("digit", digits),  ROW("graph", graph), ROW("lower", lower),
    ROW("print", print), ROW("punct", punct),   ROW("space", space), ROW("upper", upper),
    ROW("word", words),  ROW("xdigit", xdigit),
};

// A class after a backslash: \d \D \s \S \w \W \pN \p{Greek} \PN \P{^Greek}. 0: not a class.
static int take_escaped_class(parser *p)
{
    static const char letters[] = "dDsSwW";
    const char *const found = p->at < p->end && *p->at ? strchr(letters, *p->at) : NULL;
    if (found) {
        const named *const row = &perl[(found - letters) / 2];
        p->at++;
        add_ranges(p, row->ranges, row->n, (found - letters) % 2);
        return 1;
    }
    if (p->at == p->end || (*p->at != 'p' && *p->at != 'P'))
        return 0;
    int is_negated = *p->at++ == 'P';
    const int has_braces = take(p, "{");
    is_negated ^= has_braces && take(p, "^");
    const char *const name = p->at;
    const char *const brace = has_braces ? memchr(name, '}', (size_t)(p->end - name)) : NULL;
    const size_t len = has_braces ? (brace ? (size_t)(brace - name) : 0) : name < p->end;
    size_t n = 0;
    const tl_char_range *const ranges = tl_char_class(name, len, &n);
    if (!ranges) {
        fail(p, "unknown class of characters, expected L, N, P, Z, Latin, Greek, Cyrillic or Han");
        return 1;
    }
    p->at += len + (size_t)has_braces;
    add_ranges(p, ranges, n, is_negated);
    return 1;
}

static int digit_of(char c, int base)
{
    const int value = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    return value < base ? value : -1;
}

// A code point of up to `max` digits.
static uint32_t take_digits(parser *p, int base, int max)
{
    uint32_t value = 0;
    int n = 0;
    for (; n < max && p->at < p->end && digit_of(*p->at, base) >= 0; n++, p->at++)
        value =
            value <= LAST_CHAR ? value * (uint32_t)base + (uint32_t)digit_of(*p->at, base) : value;
    if (!n || value > LAST_CHAR)
        fail(p, "expected a code point up to 10ffff");
    return value;
}

// The character after a backslash.
static uint32_t take_escaped(parser *p)
{
    static const char names[] = "afnrtv", values[] = "\a\f\n\r\t\v";
    if (p->at == p->end) {
        fail(p, "trailing backslash");
        return 0;
    }
    const char *const name = *p->at ? strchr(names, *p->at) : NULL;
    if (name) {
        p->at++;
        return (uint32_t)values[name - names];
    }
    if (take(p, "x{")) {
        const uint32_t c = take_digits(p, 16, 8);
        if (!take(p, "}"))
            fail(p, "expected }");
        return c;
    }
    if (take(p, "x"))
        return take_digits(p, 16, 2);
    if (*p->at == '0' ||
        (*p->at >= '1' && *p->at <= '7' && p->end - p->at > 1 && digit_of(p->at[1], 8) >= 0))
        return take_digits(p, 8, 3);
    const int is_letter = digit_of(*p->at, 10) >= 0 || (*p->at >= 'a' && *p->at <= 'z') ||
                          (*p->at >= 'A' && *p->at <= 'Z');
    if (is_letter) {
        fail(p, "unknown escape");
        return 0;
    }
    return next(p);
}

// [:name:] within brackets. 0: not a class.
static int take_posix(parser *p)
{
    const char *const start = p->at;
    if (!take(p, "[:"))
        return 0;
    const int is_negated = take(p, "^");
    for (size_t i = 0; i < sizeof(posix) / sizeof(*posix); i++) {
        const char *const name = p->at;
        if (take(p, posix[i].name) && take(p, ":]")) {
            add_ranges(p, posix[i].ranges, posix[i].n, is_negated);
            return 1;
        }
        p->at = name;
    }
    p->at = start;
    if (memchr(start, ':', (size_t)(p->end - start)) && strstr(start, ":]"))
        fail(p, "unknown class of characters");
    return 0;
}

static uint32_t take_class_char(parser *p)
{
    if (p->at == p->end) {
        fail(p, "expected ]");
        return 0;
    }
    return take(p, "\\") ? take_escaped(p) : next(p);
}

// A character or a range of a class in brackets.
static void take_class_item(parser *p)
{
    if (take_posix(p) || p->is_failed)
        return;
    if (p->at + 1 < p->end && *p->at == '\\') {
        p->at++;
        if (take_escaped_class(p))
            return;
        p->at--;
    }
    const uint32_t first = take_class_char(p);
    uint32_t last = first;
    if (p->end - p->at > 1 && p->at[0] == '-' && p->at[1] != ']') {
        p->at++;
        last = take_class_char(p);
        if (last < first)
            fail(p, "a range whose end precedes its start");
    }
    add_range(p, first, last);
}

static void parse_class(parser *p)
{
    code c = {.op = CHARS, .x = p->re->n_ranges, .is_folded = p->folds};
    c.is_negated = take(p, "^");
    int n = 0;
    for (; !p->is_failed && (n == 0 || !take(p, "]")); n++)
        take_class_item(p); // the first one may be ]
    c.y = p->re->n_ranges - c.x;
    emit(p, c);
}

static void emit_char(parser *p, uint32_t c)
{
    const code chars = {.op = CHARS, .x = p->re->n_ranges, .y = 1, .is_folded = p->folds};
    add_range(p, c, c);
    emit(p, chars);
}

static void emit_assertion(parser *p, assertion what)
{
    emit(p, (code){.op = ASSERT, .x = (int)what});
}

// Expressions

static void parse_alternatives(parser *p);

// After "(?": flags, as i or -s. Returns whether they are those of the group that follows.
static int parse_flags(parser *p)
{
    int is_on = 1;
    for (; p->at < p->end; p->at++) {
        int *const flag = *p->at == 'i'   ? &p->folds
                          : *p->at == 's' ? &p->dot_all
                          : *p->at == 'm' ? &p->multi_line
                                          : NULL;
        if (*p->at == ':')
            return 1;
        if (*p->at == ')')
            return 0;
        if (*p->at == '-')
            is_on = 0;
        else if (flag)
            *flag = is_on;
        else if (*p->at != 'U')
            break;
    }
    fail(p, "unknown group");
    return 0;
}

// After "(?P<" or "(?<": the name of a group.
static void skip_name(parser *p)
{
    const char *const end = memchr(p->at, '>', (size_t)(p->end - p->at));
    if (end && end > p->at)
        p->at = end + 1;
    else
        fail(p, "expected a name and >");
}

// After "(". Flags hold until the end of the group that they are in.
static void parse_group(parser *p)
{
    const parser before = *p;
    if (++p->depth > MAX_DEPTH) {
        fail(p, "groups nest too deeply");
        return;
    }
    int has_content = 1;
    if (take(p, "?P<") || take(p, "?<")) {
        skip_name(p);
    } else if (take(p, "?")) {
        has_content = parse_flags(p);
        p->at += has_content && !p->is_failed;
    }
    if (has_content)
        parse_alternatives(p);
    if (!p->is_failed && !take(p, ")"))
        fail(p, "expected )");
    p->depth = before.depth;
    if (!has_content)
        return;
    p->folds = before.folds;
    p->dot_all = before.dot_all;
    p->multi_line = before.multi_line;
}

// After "\Q": text up to "\E". Returns the last character's instruction, which "*" repeats.
static int parse_quoted(parser *p)
{
    int last = p->re->n;
    for (; p->at < p->end && !take(p, "\\E") && !p->is_failed; emit_char(p, next(p)))
        last = p->re->n;
    return last;
}

static void parse_escape(parser *p)
{
    static const struct {
        char letter;
        assertion what;
    } assertions[] = {
        {'A', TEXT_BEGIN}, {'z', TEXT_END}, {'b', WORD_BOUNDARY}, {'B', NO_WORD_BOUNDARY}};
    for (size_t i = 0; i < sizeof(assertions) / sizeof(*assertions); i++)
        if (p->at < p->end && *p->at == assertions[i].letter) {
            p->at++;
            emit_assertion(p, assertions[i].what);
            return;
        }
    code c = {.op = CHARS, .x = p->re->n_ranges, .is_folded = p->folds};
    if (!take_escaped_class(p)) {
        emit_char(p, take_escaped(p));
        return;
    }
    c.y = p->re->n_ranges - c.x;
    emit(p, c);
}

static void parse_atom(parser *p)
{
    if (take(p, "(")) {
        parse_group(p);
    } else if (take(p, "[")) {
        parse_class(p);
    } else if (take(p, "\\")) {
        parse_escape(p);
    } else if (take(p, "^")) {
        emit_assertion(p, p->multi_line ? LINE_BEGIN : TEXT_BEGIN);
    } else if (take(p, "$")) {
        emit_assertion(p, p->multi_line ? LINE_END : TEXT_END);
    } else if (take(p, ".")) {
        const code c = {.op = CHARS, .x = p->re->n_ranges, .y = !p->dot_all, .is_negated = 1};
        add_range(p, '\n', p->dot_all ? 0 : '\n');
        emit(p, c);
    } else if (strchr("*+?", *p->at) && *p->at) {
        fail(p, "nothing to repeat");
    } else {
        emit_char(p, next(p));
    }
}

// {n}, {n,} or {n,m} at the parser's position. 0: literal text.
static int take_braces(parser *p, int *min, int *max)
{
    const char *const start = p->at;
    int *const numbers[] = {min, max};
    int n_digits[2] = {0, 0}, has_comma = 0;
    if (!take(p, "{"))
        return 0;
    for (int i = 0; i < 1 + has_comma; i++) {
        *numbers[i] = 0;
        for (; p->at < p->end && digit_of(*p->at, 10) >= 0; p->at++, n_digits[i]++)
            if (*numbers[i] <= MAX_REPEAT)
                *numbers[i] = *numbers[i] * 10 + digit_of(*p->at, 10);
        has_comma = i == 0 ? take(p, ",") : has_comma;
    }
    if (!n_digits[0] || !take(p, "}")) {
        p->at = start;
        return 0;
    }
    if (!has_comma)
        *max = *min;
    else if (!n_digits[1])
        *max = -1;
    if (*min > MAX_REPEAT || *max > MAX_REPEAT || (*max >= 0 && *max < *min))
        fail(p, "repetition counts, expected {min,max} with min <= max <= 1000");
    return 1;
}

static int take_repeat(parser *p, int *min, int *max)
{
    *min = 0;
    *max = -1;
    if (take(p, "*"))
        return 1;
    if (take(p, "+")) {
        *min = 1;
        return 1;
    }
    if (take(p, "?")) {
        *max = 1;
        return 1;
    }
    return take_braces(p, min, max);
}

// Repeats the instructions from `begin` on.
static void repeat(parser *p, int begin, int min, int max)
{
    const int n = p->re->n - begin, end = p->re->n;
    for (int i = 1; i < min; i++)
        copy(p, begin, end);
    if (max < 0) { // the last copy, any number of times
        if (min == 0)
            insert(p, begin, (code){.op = SPLIT, .x = 1, .y = n + 2});
        const int loop = n + (min == 0);
        emit(p,
             min == 0 ? (code){.op = JUMP, .x = -loop} : (code){.op = SPLIT, .x = -loop, .y = 1});
        return;
    }
    for (int i = min < 1 ? 1 : min; i < max; i++) {
        emit(p, (code){.op = SPLIT, .x = 1, .y = n + 1});
        copy(p, begin, end);
    }
    if (min == 0 && max > 0)
        insert(p, begin, (code){.op = SPLIT, .x = 1, .y = p->re->n - begin + 1});
    else if (max == 0)
        p->re->n = p->is_failed ? p->re->n : begin;
}

static void parse_repeated(parser *p)
{
    int begin = p->re->n, min, max, is_repeated = 0;
    if (take(p, "\\Q"))
        begin = parse_quoted(p);
    else
        parse_atom(p);
    while (!p->is_failed && p->at < p->end && take_repeat(p, &min, &max)) {
        take(p, "?"); // lazy: the same whole texts match
        if (is_repeated++)
            fail(p, "a repetition of a repetition");
        else
            repeat(p, begin, min, max);
    }
}

static void parse_alternatives(parser *p)
{
    int last = -1; // the last JUMP past all alternatives: a list by `x`, until its target is known
    for (;;) {
        const int begin = p->re->n;
        while (!p->is_failed && p->at < p->end && *p->at != '|' && *p->at != ')')
            parse_repeated(p);
        if (p->is_failed || !take(p, "|"))
            break;
        insert(p, begin, (code){.op = SPLIT, .x = 1, .y = p->re->n - begin + 2});
        const int jump = p->re->n;
        emit(p, (code){.op = JUMP, .x = last});
        last = jump;
    }
    while (!p->is_failed && last >= 0) {
        code *const jump = &p->re->code[last];
        const int before = jump->x;
        jump->x = p->re->n - last;
        last = before;
    }
}

tl_regex *tl_regex_create(const char *pattern)
{
    tl_regex *const re = tl_alloc(sizeof(*re));
    if (!re)
        return NULL;
    *re = (tl_regex){0};
    parser p = {.re = re, .begin = pattern, .at = pattern, .end = pattern + strlen(pattern)};
    parse_alternatives(&p);
    if (!p.is_failed && p.at < p.end)
        fail(&p, "unexpected )");
    emit(&p, (code){.op = MATCH});
    if (!p.is_failed)
        return re;
    tl_regex_free(re);
    return NULL;
}

void tl_regex_free(tl_regex *regex)
{
    if (!regex)
        return;
    tl_free(regex->code);
    tl_free(regex->ranges);
    tl_free(regex);
}

// Matching

// A sparse set (Briggs, Torczon 1993) of threads.
typedef struct threads {
    int *dense, n;
    int *sparse; // the index in `dense` of each instruction, if it is a member
} threads;

typedef struct matcher {
    const tl_regex *re;
    threads now, later;
} matcher;

size_t tl_regex_scratch(const tl_regex *regex)
{
    return 4 * (size_t)regex->n * sizeof(int);
}

static int is_in_ranges(const tl_regex *re, const code *c, uint32_t ch)
{
    for (int i = c->x; i < c->x + c->y; i++)
        if (ch >= re->ranges[i].first && ch <= re->ranges[i].last)
            return 1;
    return 0;
}

static int accepts(const tl_regex *re, const code *c, uint32_t ch)
{
    const int is_in =
        is_in_ranges(re, c, ch) || (c->is_folded && (is_in_ranges(re, c, tl_char_lower(ch)) ||
                                                     is_in_ranges(re, c, tl_char_upper(ch))));
    return is_in != c->is_negated;
}

static int is_word(const char *begin, const char *end, const char *at)
{
    const int c = at >= begin && at < end ? *at : ' ';
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static int holds(assertion what, const char *begin, const char *end, const char *at)
{
    switch (what) {
    case TEXT_BEGIN:
        return at == begin;
    case TEXT_END:
        return at == end;
    case LINE_BEGIN:
        return at == begin || at[-1] == '\n';
    case LINE_END:
        return at == end || *at == '\n';
    default:
        return (is_word(begin, end, at - 1) != is_word(begin, end, at)) == (what == WORD_BOUNDARY);
    }
}

// Adds an instruction unless it is a member.
static void push(threads *t, int pc)
{
    const int at = t->sparse[pc];
    if (at >= 0 && at < t->n && t->dense[at] == pc)
        return;
    t->sparse[pc] = t->n;
    t->dense[t->n++] = pc;
}

// Adds a thread and its epsilon closure, the threads that it reaches without a character. The set
// is the queue, since no instruction is added twice.
static void add(const matcher *m, threads *t, int pc, const char *begin, const char *end,
                const char *at)
{
    int next = t->n;
    push(t, pc);
    for (; next < t->n; next++) {
        const int i = t->dense[next];
        const code *const c = &m->re->code[i];
        if (c->op == JUMP || c->op == SPLIT)
            push(t, i + c->x);
        if (c->op == SPLIT)
            push(t, i + c->y);
        if (c->op == ASSERT && holds((assertion)c->x, begin, end, at))
            push(t, i + 1);
    }
}

static int matches(matcher *m, const tl_string *s, const tl_stop *stop)
{
    const char *const begin = tl_string_bytes(s), *const end = begin + tl_string_size(s);
    const char *at = begin;
    m->now.n = 0;
    add(m, &m->now, 0, begin, end, at);
    for (size_t n; at < end && m->now.n; at += n) {
        const uint32_t ch = tl_char_at(at, end, &n);
        m->later.n = 0;
        for (int i = 0; i < m->now.n; i++) {
            const int pc = m->now.dense[i];
            const code *const c = &m->re->code[pc];
            if (c->op == CHARS && accepts(m->re, c, ch))
                add(m, &m->later, pc + 1, begin, end, at + n);
        }
        const threads now = m->now;
        m->now = m->later;
        m->later = now;
        if (tl_stop_is_requested(stop))
            return 0;
    }
    const int last = m->re->n - 1, at_end = m->now.sparse[last];
    return at == end && at_end >= 0 && at_end < m->now.n && m->now.dense[at_end] == last;
}

int tl_exec_regex_match(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                        const tl_regex *regex)
{
    unsigned char *const result = dst->data;
    const size_t n = (size_t)regex->n;
    if (tl_check_scratch(exec, tl_regex_scratch(regex), "for states") < 0)
        return -1;
    int *const scratch = exec->scratch;
    memset(scratch, 0, 4 * n * sizeof(int));
    matcher m = {.re = regex,
                 .now = {.dense = scratch, .sparse = scratch + n},
                 .later = {.dense = scratch + 2 * n, .sparse = scratch + 3 * n}};
    for (int i = 0; i < src->len && !tl_stop_is_requested(exec->stop); i++)
        result[i] = (unsigned char)matches(&m, tl_tensor_string(src, i), exec->stop);
    return 0;
}
