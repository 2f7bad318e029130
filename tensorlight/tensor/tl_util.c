// SPDX-License-Identifier: Apache-2.0
// Errors, memory, checked sizes and numbers.

#include "tensorlight/tl_util.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tensor/tl_numeric.h"

// The last error is allocated when it is first needed: the C library ends the process if it has no
// memory for large thread-local data of a library that was loaded late.
enum { ERROR_SIZE = 1024 };
static _Thread_local char *last_error; // NULL: nothing was recorded
static _Thread_local int is_lost;      // there was no memory for it
static _Thread_local unsigned long alloc_failures;

static pthread_key_t key; // frees the last error of a thread that ends
static int has_key;

static void free_error(void *error)
{
    last_error = NULL;
    free(error);
}

__attribute__((constructor)) static void create_key(void)
{
    has_key = !pthread_key_create(&key, free_error);
}

__attribute__((destructor)) static void delete_key(void)
{
    if (has_key)
        pthread_key_delete(key);
    has_key = 0;
    free_error(last_error);
}

static char *create_error(void)
{
    char *const error = has_key ? malloc(ERROR_SIZE) : NULL;
    if (error && pthread_setspecific(key, error)) {
        free(error);
        return NULL;
    }
    return error;
}

int tl_fail(const char *fmt, ...)
{
    char text[ERROR_SIZE]; // an argument may be the present last error
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (!last_error)
        last_error = create_error();
    is_lost = !last_error;
    if (last_error)
        memcpy(last_error, text, sizeof(text));
    return -1;
}

int tl_fail_memory(size_t size)
{
    tl_fail("no memory for %zu bytes", size);
    alloc_failures++;
    return -1;
}

unsigned long tl_alloc_failures(void)
{
    return alloc_failures;
}

const char *tl_last_error(void)
{
    return is_lost ? "out of memory" : last_error ? last_error : "";
}

void tl_clear_error(void)
{
    is_lost = 0;
    if (last_error)
        last_error[0] = '\0';
}

void *tl_alloc(size_t size)
{
    void *const p = malloc(size ? size : 1);
    if (!p)
        tl_fail_memory(size);
    return p;
}

void *tl_clone(const void *src, size_t size)
{
    void *const p = tl_alloc(size);
    return p && size ? memcpy(p, src, size) : p;
}

void *tl_repeat(const void *src, size_t size, int times)
{
    if (times < 0)
        return tl_fail("%d times, expected 0 or more", times), NULL;
    size_t total = 0;
    if (tl_size_mul(size, (size_t)times, &total) < 0)
        return NULL;
    char *const p = tl_alloc(total);
    if (p && size)
        for (int i = 0; i < times; i++)
            memcpy(p + (size_t)i * size, src, size);
    return p;
}

void *tl_memcpy(void *dst, const void *src, size_t size)
{
    return size ? memmove(dst, src, size) : dst;
}

void *tl_copy(const void *src, void *dst, size_t size)
{
    return tl_memcpy(dst, src, size);
}

void tl_free(void *p)
{
    free(p);
}

void tl_use_large_pages(void *p, size_t size)
{
#ifdef MADV_HUGEPAGE
    const size_t min = (size_t)4 << 20; // two large pages: of less, most would be between two
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)p + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)p + size) / page * page;
    if (size >= min)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); // failing costs time only
#else
    (void)p;
    (void)size;
#endif
}

int tl_size_mul(size_t a, size_t b, size_t *ret)
{
    size_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return tl_fail("%zu * %zu is too large for a size", a, b);
    *ret = product;
    return 0;
}

int tl_size_add(size_t a, size_t b, size_t *ret)
{
    size_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return tl_fail("%zu + %zu is too large for a size", a, b);
    *ret = sum;
    return 0;
}

int tl_compute_length(int ndim, const int *dims)
{
    if (ndim < 0 || ndim > TL_MAXDIM)
        return tl_fail("%d dimensions, expected 0 to %d", ndim, TL_MAXDIM);
    if (ndim > 0 && !dims)
        return tl_fail("'dims' is NULL, expected %d dimensions", ndim);
    char text[TL_SHAPE_TEXT_SIZE];
    int len = 1;
    int is_empty = 0;
    for (int i = 0; i < ndim; i++) {
        if (dims[i] < 0)
            return tl_fail("shape %s, expected no negative dimension",
                           tl_shape_text(text, ndim, dims));
        if (dims[i] == 0)
            is_empty = 1;
        else if (__builtin_mul_overflow(len, dims[i], &len))
            return tl_fail("shape %s, expected at most %d elements",
                           tl_shape_text(text, ndim, dims), INT_MAX);
    }
    return is_empty ? 0 : len;
}

char *tl_shape_text(char *text, int ndim, const int *dims)
{
    size_t len = 0;
    text[len++] = '[';
    for (int i = 0; i < ndim && i < TL_MAXDIM; i++)
        len += (size_t)snprintf(text + len, TL_SHAPE_TEXT_SIZE - len, i ? ", %d" : "%d", dims[i]);
    text[len++] = ']';
    text[len] = '\0';
    return text;
}

// Could a number begin with these characters?
static int begins_number(const char *p)
{
    if (*p == '+' || *p == '-')
        p++;
    if (*p == '.')
        p++;
    return isdigit((unsigned char)*p);
}

// The line has `len` bytes, any NUL among them, and a NUL after them.
static int read_numbers_of_line(const char *line, size_t len, int num, float *buf)
{
    int n = 0;
    for (const char *p = line; p < line + len && n < num;) {
        char *end = NULL;
        if (begins_number(p)) {
            buf[n++] = strtof(p, &end);
            p = end;
        } else {
            p++;
        }
    }
    return n;
}

int tl_read_floats(const char *file, int num, float *buf)
{
    if (!file)
        return tl_fail("'file' is NULL, expected a path");
    FILE *const stream = fopen(file, "r");
    if (!stream)
        return tl_fail("cannot open '%s': %s", file, strerror(errno));
    char *line = NULL;
    size_t capacity = 0;
    int n = 0;
    const locale_t before = tl_numeric_begin();
    for (ssize_t len; n < num && (len = getline(&line, &capacity, stream)) >= 0;)
        n += read_numbers_of_line(line, (size_t)len, num - n, buf + n);
    tl_numeric_end(before);
    const int failed = n < num && !feof(stream); // also without memory for a line
    free(line);
    fclose(stream);
    return failed ? tl_fail("cannot read '%s'", file) : n;
}

uint64_t tl_random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double tl_random_uniform(uint64_t *state)
{
    return (double)(tl_random_bits(state) >> 11) * 0x1p-53;
}

uint64_t tl_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
