// SPDX-License-Identifier: Apache-2.0
// Sources of a model or an input: a file, or a stream, which can be read once.

#pragma once

#include <stddef.h>

/** Whether `source` is "-", standard input. */
int cli_source_is_stdin(const char *source);

/** Whether it can be read only once: standard input, a pipe. */
int cli_source_is_stream(const char *source);

/** Its name in messages. Returns borrowed. */
const char *cli_source_name(const char *source);

/** The bytes of a stream. Returns new (ln_free); NULL with the thread's last error, as
 * ln_read_stream. An empty file is an error, empty standard input is not. */
char *cli_source_read(const char *source, size_t *len);
