// SPDX-License-Identifier: Apache-2.0
// Unique names in a list: a prefix and a number. Names stored within the named object. Rows of
// tables by name. Suffixes of texts and file names.

#pragma once

#include <stddef.h>

#include "lightnet/ln_list.h"

/** Writes PREFIX and a number to `buf` (LN_MAX_NAME_LEN bytes): one more than the max number after
 * the prefix in the names of the elements, 0 without one. `name_of` returns an element's name, or
 * NULL. Returns the number; -1 with a reason: the name is too long, or no number is left. */
int ln_name_unique(const ln_list *list, const char *(*name_of)(const void *), char *buf,
                   const char *prefix);

/** The number in a name "PREFIX<number>", as printed in decimal; -1 for all else. */
int ln_name_number(const char *name, const char *prefix);

/** As snprintf to a buffer of LN_MAX_NAME_LEN bytes, but -1 with a reason if the name is
 * truncated. */
int ln_name_print(char *buf, const char *fmt, ...) LN_PRINTF(2, 3);

/** Replaces the string *name by a copy of `str`. -1 with a reason: no memory, *name is as before.
 */
int ln_name_set(char **name, const char *str);

// A name in one block with the named object needs no second block, and no cache line:
//
// struct block { thing thing; char name[]; };
// struct block *block = ln_alloc(sizeof(*block) + ln_name_size(str));
// block->thing.name = ln_name_put(block->name, str);

/** The bytes of a name with its NUL; 0 for NULL. */
size_t ln_name_size(const char *str);

/** Copies a name of ln_name_size bytes to `at`. Returns `at`; NULL for NULL. */
char *ln_name_put(char *at, const char *str);

// Tables

/** The row whose name is `name`, or NULL. A row begins with its name, a `const char *`. */
const void *ln_row_named(const void *rows, size_t n, size_t size, const char *name);
#define LN_ROW_NAMED(rows, name) \
    ln_row_named(rows, sizeof(rows) / sizeof((rows)[0]), sizeof((rows)[0]), name)

// Words

/** Whether `word` is among those of a text, which are separated by blanks. */
int ln_has_word(const char *text, const char *word);

// Suffixes

/** Whether the `len` bytes of `text` end with `end`, or are `end`. */
int ln_ends_with(const char *text, size_t len, const char *end);

/** Whether the name of `file`, without its folders, ends with `suffix` and has characters before
 * it: the hidden file "models/.json" has no suffix. */
int ln_has_suffix(const char *file, const char *suffix);
