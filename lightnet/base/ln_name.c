// SPDX-License-Identifier: Apache-2.0
// Unique names in a list: a prefix and a number. Names stored within the named object. Suffixes of
// texts and file names.

#include "base/ln_name.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

// The number in `str`, as printed in decimal; -1 for all else.
static int parse_number(const char *str)
{
    if (*str == '\0' || (*str == '0' && str[1]))
        return -1;
    long long number = 0;
    for (; *str; str++) {
        if (*str < '0' || *str > '9')
            return -1;
        number = number * 10 + (*str - '0');
        if (number > INT_MAX)
            return -1;
    }
    return (int)number;
}

int ln_name_unique(const ln_list *list, const char *(*name_of)(const void *), char *buf,
                   const char *prefix)
{
    int largest = -1;
    for (; list; list = list->next) {
        const int number = ln_name_number(name_of(list->data), prefix);
        if (number > largest)
            largest = number;
    }
    if (largest == INT_MAX)
        return ln_error_set(NULL, "the name '%s%d' leaves no number for another", prefix, largest);
    if (ln_name_print(buf, "%s%d", prefix, largest + 1))
        return -1;
    return largest + 1;
}

int ln_name_number(const char *name, const char *prefix)
{
    const size_t len = strlen(prefix);
    return name && strncmp(name, prefix, len) == 0 ? parse_number(name + len) : -1;
}

int ln_name_print(char *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int len = vsnprintf(buf, LN_MAX_NAME_LEN, fmt, args);
    va_end(args);
    if (len < 0 || len >= LN_MAX_NAME_LEN)
        return ln_error_set(NULL, "a name would have %d characters, expected less than %d", len,
                            LN_MAX_NAME_LEN);
    return 0;
}

int ln_name_set(char **name, const char *str)
{
    char *copy = ln_strdup(str);
    if (str && !copy)
        return -1;
    ln_free(*name);
    *name = copy;
    return 0;
}

size_t ln_name_size(const char *str)
{
    return str ? strlen(str) + 1 : 0;
}

char *ln_name_put(char *at, const char *str)
{
    return str ? strcpy(at, str) : NULL;
}

// Tables

const void *ln_row_named(const void *rows, size_t n, size_t size, const char *name)
{
    const char *row = rows;
    for (size_t i = 0; i < n; i++, row += size)
        if (!strcmp(*(const char *const *)(const void *)row, name))
            return row;
    return NULL;
}

// Words

int ln_has_word(const char *text, const char *word)
{
    const size_t len = strcspn(word, " ");
    for (const char *at = text; len && !word[len] && (at = strstr(at, word)); at += len)
        if ((at == text || at[-1] == ' ') && (!at[len] || at[len] == ' '))
            return 1;
    return 0;
}

// Suffixes

int ln_ends_with(const char *text, size_t len, const char *end)
{
    const size_t end_len = strlen(end);
    return len >= end_len && !memcmp(text + len - end_len, end, end_len);
}

int ln_has_suffix(const char *file, const char *suffix)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const size_t len = strlen(name);
    return len > strlen(suffix) && ln_ends_with(name, len, suffix);
}
