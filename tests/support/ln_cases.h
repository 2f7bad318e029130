// SPDX-License-Identifier: Apache-2.0
// Tables of inputs that are rejected, each with its message, for unit tests; text that is compared
// with a committed file.
//
//     ==== NAME
//     TEXT, some lines
//     ----
//     MESSAGE, some lines
//
// Text before the first case describes the table.

#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

/** Reads the file, expects an error, and writes the message to `message`. */
typedef void ln_case_func(const char *file, char *message, size_t size);

/** The line that begins with `mark`, from `text` on; NULL: none. */
static inline char *ln_case_mark(char *text, const char *mark)
{
    const size_t len = strlen(mark);
    for (char *line = text; line && *line;) {
        if (!strncmp(line, mark, len))
            return line;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return NULL;
}

/** The text after the line at `mark`; terminates the string before and after `mark`'s line. */
static inline char *ln_case_cut(char *mark)
{
    char *end = strchr(mark, '\n');
    ck_assert_msg(end != NULL, "'%s' ends the table", mark);
    *mark = *end = '\0';
    return end + 1;
}

static inline void ln_case_write(const char *file, const char *text)
{
    FILE *stream = fopen(file, "w");
    ck_assert(stream && fputs(text, stream) >= 0 && !fclose(stream));
}

/** Checks one case; writes its text to a temporary file in the current folder. */
static inline void ln_case_check(const char *name, const char *extension, const char *text,
                                 char *expected, ln_case_func *reject)
{
    char file[256], message[4096] = "";
    snprintf(file, sizeof(file), "%s%s", name, extension);
    ln_case_write(file, text);
    reject(file, message, sizeof(message));
    unlink(file);
    for (size_t len = strlen(expected); len > 0 && expected[len - 1] == '\n';)
        expected[--len] = '\0';
    ck_assert_msg(strcmp(message, expected) == 0, "case '%s': the message is\n%s\nexpected:\n%s",
                  name, message, expected);
}

/** Checks each case of the table; writes its text to a file that ends in `extension`. Returns the
 *  number of cases. Changes the current folder. */
static inline int ln_cases_check(const char *table, const char *extension, ln_case_func *reject)
{
    char folder[] = "/tmp/lightnet-cases-XXXXXX";
    char *text = ln_read_text(table);
    ck_assert_msg(text != NULL, "%s", ln_last_error());
    ck_assert(mkdtemp(folder) && !chdir(folder));
    int n = 0;
    for (char *at = ln_case_mark(text, "==== "), *next; at; at = next, n++) {
        char name[128];
        ck_assert_int_eq(sscanf(at, "==== %127s", name), 1);
        char *const input = ln_case_cut(at);
        char *const behind = ln_case_mark(input, "----");
        ck_assert_msg(behind != NULL, "case '%s' has no message", name);
        char *const message = ln_case_cut(behind);
        next = ln_case_mark(message, "==== ");
        const char first = next ? *next : '\0';
        if (next)
            *next = '\0';
        ln_case_check(name, extension, input, message, reject);
        if (next)
            *next = first;
    }
    rmdir(folder);
    ln_free(text);
    return n;
}

/** Fails at the first line that differs from the file's; with LN_UPDATE set, writes the file.
 * `text` NULL: fails with the thread's last error. */
static inline void ln_assert_golden(const char *text, const char *file)
{
    ck_assert_msg(text != NULL, "%s", ln_last_error());
    if (getenv("LN_UPDATE")) {
        FILE *stream = fopen(file, "w");
        ck_assert(stream && fputs(text, stream) >= 0 && !fclose(stream));
        return;
    }
    char *expected = ln_read_text(file);
    ck_assert_msg(expected != NULL, "%s", ln_last_error());
    int line = 1;
    const char *is = text, *should = expected;
    for (; *is && *is == *should; is++, should++)
        line += *is == '\n';
    ck_assert_msg(*is == *should, "%s:%d: generated '%.40s', expected '%.40s'", file, line, is,
                  should);
    ln_free(expected);
}
