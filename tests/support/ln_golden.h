// SPDX-License-Identifier: Apache-2.0
// Comparing a generated text with a committed file.

#ifndef LN_GOLDEN_H
#define LN_GOLDEN_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

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

#endif
