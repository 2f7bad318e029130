// SPDX-License-Identifier: Apache-2.0
// Comparing, joining and splitting strings.

#include "kernel/strings/strings.h"

#include <string.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_util.h"

// Shared

size_t tl_char_put(char to[4], uint32_t c)
{
    static const unsigned char firsts[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(firsts[n] | c);
    return n;
}

int tl_char_is_space(uint32_t c)
{
    static const uint32_t others[] = {0x20,   0x85,   0xa0,   0x1680, 0x2028,
                                      0x2029, 0x202f, 0x205f, 0x3000};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (c == others[i])
            return 1;
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f) || (c >= 0x2000 && c <= 0x200a);
}

int tl_broadcast_index(const tl_tensor *src, const tl_tensor *dst, int i)
{
    int index = 0, step = 1;
    for (int k = dst->ndim - 1, s = src->ndim - 1; s >= 0; k--, s--) {
        if (src->dims[s] > 1)
            index += i % dst->dims[k] * step;
        i /= dst->dims[k];
        step *= src->dims[s];
    }
    return index;
}

int tl_check_arena(const tl_exec *exec)
{
    return exec && exec->strings ? 0 : tl_fail("'exec' has no arena for strings, expected one");
}

// Comparing and joining

int tl_exec_strings_equal(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                          tl_tensor *dst)
{
    unsigned char *const result = dst->data;
    for (int i = 0; i < dst->len && !tl_stop_is_requested(exec ? exec->stop : NULL); i++)
        result[i] = !tl_string_cmp(tl_tensor_string(src1, tl_broadcast_index(src1, dst, i)),
                                   tl_tensor_string(src2, tl_broadcast_index(src2, dst, i)));
    return 0;
}

static int join(tl_strings *arena, const tl_string *a, const tl_string *b, const tl_string **dst)
{
    const size_t m = tl_string_size(a), n = tl_string_size(b);
    size_t size;
    char *bytes;
    if (!m || !n) {
        *dst = m ? a : b;
        return 0;
    }
    if (tl_size_add(m, n, &size) || tl_strings_add(arena, size, dst, &bytes))
        return -1;
    memcpy(bytes, tl_string_bytes(a), m);
    memcpy(bytes + m, tl_string_bytes(b), n);
    return 0;
}

int tl_exec_strings_join(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                         tl_tensor *dst)
{
    if (tl_check_arena(exec) < 0)
        return -1;
    for (int i = 0; i < dst->len && !tl_stop_is_requested(exec->stop); i++)
        if (join(exec->strings, tl_tensor_string(src1, tl_broadcast_index(src1, dst, i)),
                 tl_tensor_string(src2, tl_broadcast_index(src2, dst, i)),
                 (const tl_string **)dst->data + i))
            return -1;
    return 0;
}

// Splitting

// The rest of a string.
typedef struct rest {
    const char *at, *end;
    int is_done;
} rest;

static const char *skip_space(const char *at, const char *end)
{
    for (size_t n; at < end && tl_char_is_space(tl_char_at(at, end, &n)); at += n)
        ;
    return at;
}

static const char *find_space(const char *at, const char *end)
{
    for (size_t n; at < end && !tl_char_is_space(tl_char_at(at, end, &n)); at += n)
        ;
    return at;
}

// The next part between white space; 0: none is left.
static int next_word(rest *r, int is_last, const char **part, size_t *size)
{
    const char *const begin = skip_space(r->at, r->end);
    if (begin == r->end)
        return 0;
    const char *const end = is_last ? r->end : find_space(begin, r->end);
    *part = begin;
    *size = (size_t)(end - begin);
    r->at = end;
    return 1;
}

static const char *find(const char *at, const char *end, const char *what, size_t size)
{
    for (; (size_t)(end - at) >= size; at++) {
        const char *const first = memchr(at, *what, (size_t)(end - at) - size + 1);
        if (!first)
            return NULL;
        if (!memcmp(first, what, size))
            return first;
        at = first;
    }
    return NULL;
}

// The next part between delimiters, which may be empty; 0: none is left.
static int next_part(rest *r, const char *delimiter, int is_last, const char **part, size_t *size)
{
    if (r->is_done)
        return 0;
    const size_t width = strlen(delimiter);
    const char *const found = is_last ? NULL : find(r->at, r->end, delimiter, width);
    const char *const end = found ? found : r->end;
    *part = r->at;
    *size = (size_t)(end - r->at);
    r->is_done = !found;
    r->at = found ? found + width : r->end;
    return 1;
}

// Counts the parts of a string, and unless arena is NULL copies them. -1: no memory.
static int split(const tl_string *s, const tl_split *param, tl_strings *arena,
                 const tl_string **parts, int64_t *count)
{
    const char *part = NULL;
    size_t size = 0;
    rest r = {tl_string_bytes(s), tl_string_bytes(s) + tl_string_size(s), 0};
    for (*count = 0;; ++*count) {
        const int is_last = param->max_split >= 0 && *count == param->max_split;
        if (!(param->delimiter && *param->delimiter
                  ? next_part(&r, param->delimiter, is_last, &part, &size)
                  : next_word(&r, is_last, &part, &size)))
            return 0;
        if (arena && tl_strings_copy(arena, part, size, &parts[*count]))
            return -1;
    }
}

int tl_exec_strings_split(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                          tl_tensor *counts, const tl_split *param, int max, int *k)
{
    int64_t *const count = counts->data;
    const tl_string **to = dst->data;
    *k = 0;
    if (tl_check_arena(exec) < 0)
        return -1;
    for (int i = 0; i < src->len; i++) {
        split(tl_tensor_string(src, i), param, NULL, NULL, &count[i]);
        if (count[i] > max)
            return tl_fail("string %d has %lld parts, expected at most %d", i, (long long)count[i],
                           max);
        *k = count[i] > *k ? (int)count[i] : *k;
        if (tl_stop_is_requested(exec->stop))
            return 0;
    }
    for (int i = 0; i < src->len && !tl_stop_is_requested(exec->stop); i++, to += *k) {
        memset(to, 0, (size_t)*k * sizeof(*to));
        if (split(tl_tensor_string(src, i), param, exec->strings, to, &count[i]))
            return -1;
    }
    return 0;
}
