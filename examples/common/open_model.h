// SPDX-License-Identifier: Apache-2.0
// What the C programs of the examples share: errors end the program, models, text files.
#ifndef OPEN_MODEL_H
#define OPEN_MODEL_H

#include <lightnet/ln_session.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Prints a message and ends the program with 1. */
static inline void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

/** Ends the program if a call with `session`, or one without (NULL), has failed. */
static inline void check(ln_status status, const ln_session *session)
{
    if (status != LN_OK)
        fail("%s", ln_session_error(session));
}

/** A new session of the model in `file`. Small models are fastest in one thread. */
static inline ln_session *open_model(const char *file)
{
    ln_options *options = ln_options_create();
    ln_model *model = NULL;
    ln_session *session = NULL;
    if (!options)
        fail("out of memory");
    check(ln_options_set(options, "threads", "1"), NULL);
    check(ln_model_open(file, options, &model), NULL);
    check(ln_session_create(model, &session), NULL);
    ln_options_free(options);
    ln_model_free(model); // the session keeps it
    return session;
}

/** The elements of an output of the last run. */
static inline const float *output_of(ln_session *session, const char *name, int *len)
{
    const tl_tensor *output = ln_session_output(session, name);
    if (!output)
        fail("%s", ln_session_error(session));
    if (output->dtype != TL_FLOAT)
        fail("output '%s' has elements of %s, expected TL_FLOAT", name,
             tl_dtype_name(output->dtype));
    *len = output->len;
    return output->data;
}

/** Memory of n elements of `size` bytes, zero. */
static inline void *new_array(size_t n, size_t size)
{
    void *array = calloc(n ? n : 1, size);
    if (!array)
        fail("out of memory");
    return array;
}

/** Reads the next line of the file, of any length and without its end, into *line, which
 * grows (free). Returns 0 at the end of the file. */
static inline int next_line(FILE *file, char **line, size_t *size)
{
    size_t len = 0;
    for (int c; (c = getc(file)) != '\n';) {
        if (c == EOF && (len == 0 || ferror(file)))
            return 0;
        if (c == EOF)
            break;
        if (len + 1 >= *size && !(*line = realloc(*line, *size = 2 * *size + 64)))
            fail("out of memory");
        (*line)[len++] = (char)c;
    }
    if (*size == 0)
        *line = new_array(*size = 64, 1);
    (*line)[len] = 0;
    return 1;
}

#endif
