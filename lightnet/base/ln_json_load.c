// SPDX-License-Identifier: Apache-2.0
// JSON text as a tree of the JSON library, within the limits of memory and time.
//
// The library's lexer appends each byte of a token to a buffer, which it doubles. It ignores a
// failure to do so: the byte is missing, after which the lexer may read and write past the end of
// blocks, or end the process. All other failures end the parse. Therefore the text is fed in
// pieces, and before the byte that doubles the buffer, a spare block for the larger buffer is
// allocated. Without one the text ends there, before the lexer can lose a byte:
//
//     token    "abcdefghijklmn"        the buffer has 16 bytes, of which one is the final NUL
//     pieces   "abcdefghijklmn  |  "   the spare block of 32 bytes precedes the last piece

#include "base/ln_json_load.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_budget.h"
#include "base/ln_error_memory.h"
#include "base/ln_number.h"

// A text on its way to the library.
typedef struct feed {
    const char *text;
    size_t len, at; // `at`: the next byte
    size_t token;   // the lexer's buffer holds no more bytes than this
    int in_string, is_escaped;
    void *buffer; // of the lexer: the first block of a call; NULL: none yet
    size_t capacity;
    void *last; // the library's latest block, which becomes the buffer when that is freed
    size_t last_size;
    void *spare; // for the next buffer, or NULL
    size_t spare_size;
    unsigned long failures; // those of the thread before the call
    int is_stopped;
} feed;

static _Thread_local feed *feeding; // NULL: no text is parsed

// The library's allocation functions, one pair per process. Ours call the previous ones, and count
// failures and, if these are malloc and free, memory for the budget in use.

static json_malloc_t allocate;
static json_free_t release;

static int is_malloc(void)
{
    return allocate == malloc && release == free;
}

static void *allocate_and_count(size_t size)
{
    void *const ptr = !ln_alloc_fail_now() && ln_budget_allows(size) ? allocate(size) : NULL;
    if (!ptr)
        ln_alloc_note_failure();
    return is_malloc() ? ln_budget_count(ptr) : ptr;
}

static void uncount_and_release(void *ptr)
{
    if (is_malloc())
        ln_budget_uncount(ptr);
    release(ptr);
}

static void *take_spare(feed *f, size_t size)
{
    if (!f->spare || size <= f->capacity || size > f->spare_size)
        return NULL;
    void *const spare = f->spare;
    f->spare = NULL;
    return spare;
}

static void *allocate_block(size_t size)
{
    feed *const f = feeding;
    if (!f)
        return allocate_and_count(size);
    void *const spare = take_spare(f, size);
    f->last = spare ? spare : allocate_and_count(size);
    f->last_size = size;
    if (!f->buffer) {
        f->buffer = f->last;
        f->capacity = size;
    }
    return f->last;
}

static void release_block(void *ptr)
{
    feed *const f = feeding;
    if (f && ptr && ptr == f->buffer) {
        f->buffer = f->last;
        f->capacity = f->last_size;
    }
    uncount_and_release(ptr);
}

__attribute__((constructor)) static void count_allocations(void)
{
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(allocate_block, release_block);
}

static int are_installed(json_malloc_t malloc_now, json_free_t free_now)
{
    return malloc_now == allocate_block && free_now == release_block;
}

__attribute__((destructor)) static void restore_allocations(void)
{
    json_malloc_t malloc_now;
    json_free_t free_now;
    json_get_alloc_funcs(&malloc_now, &free_now);
    if (are_installed(malloc_now, free_now))
        json_set_alloc_funcs(allocate, release);
}

// Whether the library's allocations count: a program may have set other functions.
static int is_counted(void)
{
    json_malloc_t malloc_now;
    json_free_t free_now;
    json_get_alloc_funcs(&malloc_now, &free_now);
    return are_installed(malloc_now, free_now) && is_malloc() && ln_budget_knows_sizes();
}

// About the bytes that the library allocates for the text: one of these characters precedes each
// element, two precede a member of an object.
static size_t memory_of(const char *text, size_t len)
{
    enum { ELEMENT_SIZE = 56 };
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == ',' || text[i] == ':' || text[i] == '[' || text[i] == '{';
    return n < (SIZE_MAX - len) / ELEMENT_SIZE ? n * ELEMENT_SIZE + len : SIZE_MAX;
}

// Feeding

// Whether the lexer's buffer has room for the next byte, which may end a token but is appended to
// it all the same.
static int has_room(const feed *f)
{
    return f->token + 1 < f->capacity;
}

// 0 without memory for the larger buffer that the next byte may need.
static int make_room(feed *f)
{
    if (has_room(f) || f->spare || !f->buffer)
        return 1;
    if (f->capacity > SIZE_MAX / 2)
        return 0;
    f->spare_size = 2 * f->capacity;
    f->spare = allocate_and_count(f->spare_size);
    return f->spare != NULL;
}

static void drop_spare(feed *f)
{
    if (f->spare)
        uncount_and_release(f->spare);
    f->spare = NULL;
}

// Updates `token` for the byte; in invalid JSON, where the lexer stops earlier, it is a bound.
static void track_token(feed *f, char c)
{
    static const char alone[] = "{}[]:, \t\r\n";
    f->token++;
    if (f->in_string) {
        f->in_string = f->is_escaped || c != '"';
        f->is_escaped = !f->is_escaped && c == '\\';
        if (!f->in_string)
            f->token = 0;
    } else if (c == '"') {
        f->in_string = 1;
        f->token = 1;
    } else if (c && strchr(alone, c)) {
        f->token = 0;
    }
}

// Writes the next piece to the buffer. Returns its size; 0 ends the text.
static size_t next_piece(void *buffer, size_t max, void *data)
{
    feed *const f = data;
    char *const piece = buffer;
    size_t n = 0;
    if (has_room(f))
        drop_spare(f);
    f->is_stopped = ln_budget_is_over();
    if (f->is_stopped || ln_alloc_failures() != f->failures || !make_room(f))
        return 0;
    do {
        piece[n] = f->text[f->at++];
        track_token(f, piece[n++]);
    } while (n < max && f->at < f->len && has_room(f));
    return n;
}

// The callback of the library.
static size_t feed_library(void *buffer, size_t max, void *data)
{
    const feed *const f = data;
    return f->at < f->len ? next_piece(buffer, max, data) : 0;
}

static json_t *parse(feed *f, size_t flags, json_error_t *error)
{
    const locale_t before = ln_number_begin();
    feeding = f;
    json_t *const json = json_load_callback(feed_library, f, flags, error);
    feeding = NULL;
    ln_number_end(before);
    drop_spare(f);
    return json;
}

json_t *ln_json_load(const char *text, size_t len, size_t flags, const char *file, const char *what,
                     ln_error *err)
{
    feed f = {.text = text, .len = len, .failures = ln_alloc_failures()};
    json_error_t error;
    if (!is_counted() && !ln_budget_allows(memory_of(text, len)))
        return ln_error_memory_at(err, file), NULL;
    json_t *const json = parse(&f, flags, &error);
    const int has_failed = ln_alloc_failures() != f.failures;
    if (json && !has_failed && !f.is_stopped)
        return json;
    json_decref(json);
    if (f.is_stopped && ln_budget_check(err))
        ln_error_prefix(err, "%s", file);
    else if (has_failed)
        ln_error_memory_at(err, file);
    else
        ln_error_set(err, "%s:%d:%d: %s: %s", file, error.line, error.column, what, error.text);
    return NULL;
}
