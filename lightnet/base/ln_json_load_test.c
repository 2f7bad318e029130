// SPDX-License-Identifier: Apache-2.0
// Tests of reading JSON text where allocations fail.
//
// The blocks of the JSON library end in canaries, which show writes past their end, and are
// followed by quotes, at which a lexer that reads on would stop late.

#include "base/ln_json_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_budget.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"

enum { HEAD = 16, TAIL = 256, CANARY = '"' };

static int n_blocks, n_damaged;
static int n_made, failing, for_ever; // the allocation `failing`, from 1, fails, or all from it on

static int fails_now(void)
{
    n_made++;
    return failing && (for_ever ? n_made >= failing : n_made == failing);
}

static void *allocate(size_t size)
{
    unsigned char *const block = fails_now() ? NULL : malloc(HEAD + size + TAIL);
    if (!block)
        return NULL;
    n_blocks++;
    memcpy(block, &size, sizeof(size));
    memset(block + HEAD + size, CANARY, TAIL);
    return block + HEAD;
}

static void release(void *ptr)
{
    size_t size;
    if (!ptr)
        return;
    unsigned char *const block = (unsigned char *)ptr - HEAD;
    memcpy(&size, block, sizeof(size));
    for (size_t i = 0; i < TAIL; i++)
        n_damaged += block[HEAD + size + i] != CANARY;
    n_blocks--;
    free(block);
}

// Before the constructor that puts its functions around these.
__attribute__((constructor(101))) static void allocate_with_canaries(void)
{
    json_set_alloc_funcs(allocate, release);
}

static json_t *load(const char *text, size_t len, ln_error *err)
{
    ln_error_clear(err);
    n_made = 0;
    return ln_json_load(text, len, 0, "m.json", "JSON", err);
}

// One allocation fails: the text is an error of memory, or was read nevertheless.
static void check_failing(const char *text, size_t len, int n)
{
    ln_error err;
    failing = n;
    json_t *const json = load(text, len, &err);
    failing = 0;
    ck_assert_ptr_null(json);
    ck_assert_str_eq(ln_error_text(&err), "m.json: out of memory");
    ck_assert_int_eq(ln_error_status(&err), LN_OUT_OF_MEMORY);
    ck_assert_int_eq(n_blocks, 0);
    ck_assert_int_eq(n_damaged, 0);
}

// Each allocation fails, once and from then on for ever.
static void check_text(const char *text, size_t len)
{
    ln_error err;
    json_decref(load(text, len, &err));
    const int n = n_made;
    for (for_ever = 0; for_ever < 2; for_ever++)
        for (int i = 1; i <= n; i++)
            check_failing(text, len, i);
}

// Tokens of `len` bytes, in which each byte may be the first that the lexer's buffer has no room
// for.
typedef struct form {
    const char *before, *unit, *after;
} form;

static void check_form(const form *f, size_t len)
{
    char text[8192];
    size_t at = (size_t)snprintf(text, sizeof(text), "%s", f->before);
    for (size_t i = 0; i < len; i++)
        text[at++] = f->unit[i % strlen(f->unit)];
    at += (size_t)snprintf(text + at, sizeof(text) - at, "%s", f->after);
    check_text(text, at);
}

START_TEST(no_failed_allocation_damages_memory)
{
    static const form forms[] = {
        {"[\"", "A", "\"]"},
        {"[\"", "A", "\", \"b\"]"},
        {"{\"", "k", "\": 1, \"x\": [true]}"},
        {"[\"", "\\n", "\"]"},
        {"[\"", "\\\"", "\"]"},
        {"[\"", "\\u0041", "\"]"},
        {"[\"", "\xc3\xa9", "\"]"},
        {"[\"", "\xf0\x9f\x98\x80", "\"]"},
        {"[\"", "A", "\n\"]"},
        {"[\"", "A", "\\q\"]"},
        {"[\"", "A", ""},
        {"[", "1", "]"},
        {"[", "1", ", 2]"},
        {"[0.", "1", "]"},
        {"[1", "0", "e-5]"},
        {"[1.5e-", "0", "7 ]"},
        {"[-", "1", "\"abc\"]"},
        {"[tru", "e", "]"},
        {"[", "x", "\"]"},
        {"[\"a\" ", "\xc3\xa9", "\"]"},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        for (size_t size = 16; size <= 64; size *= 2)
            for (size_t len = size - 8; len < size + 6; len++)
                check_form(&forms[i], len);
    for (size_t len = 4090; len < 4098; len++)
        check_form(&forms[0], len);
}
END_TEST

START_TEST(text_is_read_as_by_the_library_itself)
{
    static const char *const texts[] = {
        "",
        " ",
        "[]",
        "{}",
        "7",
        "[1,2.5,-3e2,true,false,null]",
        "[1 2]",
        "[1,]",
        "{\"a\":{\"b\":[]}}",
        "[] x",
        "[\"\\u00e9\\ud83d\\ude00\"]",
        "[\"\\ud83d\"]",
        "[\"a\nb\"]",
        "[\"\xff\"]",
        "[\n  1,\n  oops\n]",
        "[123456789012345678901234567890]",
        "[\"\\\\\"]",
        "[\"\\\\\\\"\"]",
        "[\"unfinished",
        "[1e999]",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char expected[LN_MAXLINE] = "";
        json_error_t error;
        ln_error err;
        json_t *const theirs = json_loadb(texts[i], strlen(texts[i]), 0, &error);
        if (!theirs)
            snprintf(expected, sizeof(expected), "m.json:%d:%d: JSON: %s", error.line, error.column,
                     error.text);
        for (char *at = expected; *at; at++)
            *at = (unsigned char)*at < 0x20 ? '?' : *at;
        json_t *const ours = load(texts[i], strlen(texts[i]), &err);
        ck_assert_str_eq(ours ? "" : ln_error_text(&err), expected);
        ck_assert_int_eq(theirs ? json_equal(ours, theirs) : !ours, 1);
        json_decref(ours);
        json_decref(theirs);
    }
}
END_TEST

// From its n-th call on, the reason to stop.
static ln_status stop_at(void *left, char *reason, size_t size)
{
    if (--*(int *)left > 0)
        return LN_OK;
    if (reason)
        snprintf(reason, size, "time is over");
    return LN_LIMIT_REACHED;
}

START_TEST(a_request_to_stop_ends_the_text)
{
    enum { LEN = 1 << 16 };
    char *const text = malloc(LEN);
    ln_error err;
    memset(text, ' ', LEN);
    text[0] = '[';
    text[LEN - 1] = ']';
    for (int left = 1; left < 40; left += 13) {
        int calls = left;
        ln_budget budget = {.stop = stop_at, .stop_data = &calls};
        ln_budget *const before = ln_budget_use(&budget);
        json_t *const json = load(text, LEN, &err);
        ln_budget_use(before);
        ck_assert_ptr_null(json);
        ck_assert_str_eq(ln_error_text(&err), "m.json: time is over");
        ck_assert_int_eq(ln_error_status(&err), LN_LIMIT_REACHED);
        ck_assert_int_eq(n_blocks, 0);
    }
    free(text);
}
END_TEST

LN_TEST_MAIN("json_load", a_request_to_stop_ends_the_text, no_failed_allocation_damages_memory,
             text_is_read_as_by_the_library_itself)
