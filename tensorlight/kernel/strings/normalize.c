// SPDX-License-Identifier: Apache-2.0
// Case conversion and removal of stop words (ONNX StringNormalizer).

#include <string.h>

#include "kernel/strings/strings.h"
#include "tensor/tl_name.h"
#include "tensorlight/tl_util.h"

static const char *const names[TL_CASE_SIZE] = {
    [TL_CASE_NONE] = "TL_CASE_NONE",
    [TL_CASE_LOWER] = "TL_CASE_LOWER",
    [TL_CASE_UPPER] = "TL_CASE_UPPER",
};
TL_NAME_AND_FROM_STR(tl_case, names, TL_CASE_SIZE)

static uint32_t to_case(uint32_t c, tl_case letters)
{
    return letters == TL_CASE_NONE    ? c
           : letters == TL_CASE_LOWER ? tl_char_lower(c)
                                      : tl_char_upper(c);
}

// Converts the character of `s` at *at and advances *at. Returns the number of bytes written to
// `to`. Copies a byte that is not UTF-8.
static size_t next_char(const tl_string *s, size_t *at, tl_case letters, char to[4])
{
    const char *const p = tl_string_bytes(s) + *at;
    size_t n;
    const uint32_t c = tl_char_at(p, tl_string_bytes(s) + tl_string_size(s), &n);
    *at += n;
    if (n == 1 && c >= 0x80) {
        *to = *p;
        return 1;
    }
    return tl_char_put(to, to_case(c, letters));
}

// Whether the strings are equal after conversion to the case.
static int is_same(const tl_string *a, const tl_string *b, tl_case letters)
{
    size_t i = 0, k = 0;
    if (letters == TL_CASE_NONE)
        return !tl_string_cmp(a, b);
    while (i < tl_string_size(a) && k < tl_string_size(b)) {
        char x[4], y[4];
        const size_t m = next_char(a, &i, letters, x), n = next_char(b, &k, letters, y);
        if (m != n || memcmp(x, y, m) != 0)
            return 0;
    }
    return i == tl_string_size(a) && k == tl_string_size(b);
}

static int is_stopword(const tl_string *s, const tl_tensor *stopwords, tl_case letters)
{
    for (int i = 0; stopwords && i < stopwords->len; i++)
        if (is_same(s, tl_tensor_string(stopwords, i), letters))
            return 1;
    return 0;
}

// Writes the converted string unless `to` is NULL. Returns its bytes.
static size_t write_converted(const tl_string *s, tl_case letters, char *to)
{
    size_t size = 0;
    for (size_t at = 0; at < tl_string_size(s);) {
        char bytes[4];
        const size_t n = next_char(s, &at, letters, bytes);
        if (to)
            memcpy(to + size, bytes, n);
        size += n;
    }
    return size;
}

static int convert(tl_strings *arena, const tl_string *s, tl_case letters, const tl_string **dst)
{
    char *bytes;
    *dst = s;
    if (letters == TL_CASE_NONE)
        return 0;
    if (tl_strings_add(arena, write_converted(s, letters, NULL), dst, &bytes))
        return -1;
    if (bytes)
        write_converted(s, letters, bytes);
    return 0;
}

int tl_exec_strings_normalize(const tl_exec *exec, const tl_tensor *src, const tl_tensor *stopwords,
                              tl_tensor *dst, tl_case letters, int ignores_case, int *n)
{
    const tl_string **const to = dst->data;
    const tl_case compared = !ignores_case             ? TL_CASE_NONE
                             : letters == TL_CASE_NONE ? TL_CASE_LOWER
                                                       : letters;
    *n = 0;
    if (tl_check_arena(exec) < 0)
        return -1;
    for (int i = 0; i < src->len && !tl_stop_is_requested(exec->stop); i++) {
        const tl_string *const s = tl_tensor_string(src, i);
        if (is_stopword(s, stopwords, compared))
            continue;
        if (convert(exec->strings, s, letters, &to[*n]))
            return -1;
        ++*n;
    }
    if (!*n)
        to[(*n)++] = NULL;
    return 0;
}
