// SPDX-License-Identifier: Apache-2.0
// Translation between the intermediate language (IL), a text, and the JSON IR.
//
//     ln_il_model m = {0};
//     const ln_il_host host = {.model = "nets/"};
//     if (!ln_il_read(&m, "nets/tiny.net", bytes, size, &host, &err))
//         ln_il_print(&m, "tiny.json", &err);
//     ln_il_model_free(&m);
//
// Nothing here depends on operators: the text is translated, not checked.

#pragma once

#include <jansson.h>
#include <stddef.h>

#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_outfile.h"

// Preprocessed text, with the source location of each line

/** A location: a line of a file. */
typedef struct ln_il_place {
    const char *file;
    int line;
} ln_il_place;

/** All zero: empty. */
typedef struct ln_il_text {
    char *text;
    size_t len, capacity;
    ln_il_place *lines; // the location of each line
    size_t n_lines;
} ln_il_text;

/** Records "FILE:LINE: reason". Returns -1. */
int ln_il_fail(ln_error *err, ln_il_place place, const char *fmt, ...) LN_PRINTF(3, 4);

/** Records that memory ran out. Returns -1. */
int ln_il_fail_memory(ln_error *err, ln_il_place place);

/** Appends `len` bytes without newlines to the last line, which must exist. -1: no memory. */
int ln_il_text_append(ln_il_text *t, const char *bytes, size_t len);

/** Begins another line. `place` borrows its file. -1: no memory. */
int ln_il_text_begin_line(ln_il_text *t, ln_il_place place);

void ln_il_text_free(ln_il_text *t);

// The steps of reading

/** Included files are searched below the folder of the model, then below the folders that the user
 * allows. */
typedef struct ln_il_host {
    const char *model; // the model's folder; "": the current one; NULL: the model is not a file
    const ln_list *allowed; // further folders (char *), in order
    // Called regularly, unless NULL. Returns -1, with the reason in the reader's error, to cancel
    // the reading.
    int (*check)(void *data);
    void *data;
} ln_il_host;

/** Counts a step, and calls host->check before every 4,096 steps. -1: the reading is cancelled. */
static inline int ln_il_host_step(const ln_il_host *host, size_t *steps)
{
    return (*steps)++ % 4096 || !host->check ? 0 : host->check(host->data);
}

/** Preprocesses `size` bytes, a model called `name` in messages, and appends to `out`. *names:
 * returns new (ln_il_names_free), also after a failure: the file names in `out`. -1 with a reason,
 * with file and line for errors in the text. */
int ln_il_preprocess(const char *name, const void *bytes, size_t size, const ln_il_host *host,
                     ln_il_text *out, ln_list **names, ln_error *err);

void ln_il_names_free(ln_list *names);

/** A model. All zero: none. */
typedef struct ln_il_model {
    json_t *tree;
    ln_hash *places; // operators, bodies, and values of keys at the top -> "FILE:LINE"
} ln_il_model;

/** Reads preprocessed text; `name` is the model's name in messages. -1 with a reason, which names
 * file and line. */
int ln_il_parse(ln_il_model *m, const char *name, const ln_il_text *text, const ln_il_host *host,
                ln_error *err);

/** Frees the content; ignores an all-zero model. */
void ln_il_model_free(ln_il_model *m);

// Reading and writing

/** Whether the name ends in .net or .il, like that of an IL file. */
int ln_il_is_named(const char *name);

/** Whether the tools read the bytes as IL: base/ln_il_look.h recognizes it, or ln_il_is_named is
 * true and the bytes do not begin like JSON. */
int ln_il_is(const char *name, const void *data, size_t size);

/** Returns new (ln_free): the folder of a file, "nets/" of "nets/tiny.net"; NULL: no memory. */
char *ln_il_folder_of(const char *name);

/** Translates `size` bytes of IL, called `name` in messages. -1 with a reason that names file and
 * line; free the model (ln_il_model_free) in any case. */
int ln_il_read(ln_il_model *m, const char *name, const void *data, size_t size,
               const ln_il_host *host, ln_error *err);

/** Returns new (ln_free): the JSON IR of the model, in the format of ln_context_print; NULL with a
 * reason. */
char *ln_il_json(const ln_il_model *m, size_t *len, ln_error *err);

/** Writes the JSON IR to a file, completely or not at all, or to "-", standard output. -1 with a
 * reason. */
int ln_il_print(const ln_il_model *m, const char *file, ln_error *err);

/** The IL location of a part of the JSON, as "FILE:LINE"; NULL: unknown. `model` is an ln_il_model;
 * the rest as for an ln_place_func (lightnet/ln_context.h). */
const char *ln_il_place_of(const void *model, const char *body, const char *key, size_t i);

/** Translates the output of `print(.., arg)`, JSON IR, to IL without macros, and writes it to
 * `file`
 * ("-": standard output). Reading it restores the JSON IR. -1 with a reason, which may be that of
 * `print`: the file is unchanged. */
int ln_il_write(ln_outfile_func print, const void *arg, const char *file, ln_error *err);

// Values

// The arithmetic of ${eval EXPR} and #if in IL.
//
// char value[LN_IL_VALUE_SIZE];
// ln_il_eval("2 ** 10 / 4", 11, value, &reason); // "256"

/** Size of a buffer for a value as text, with its NUL. */
enum { LN_IL_VALUE_SIZE = 32 };

/** Evaluates `len` bytes of text: decimal and hexadecimal numbers, and from the lowest to the
 * highest precedence `?:`, `||`, `&&`, `== !=`, `< <= > >=`, `+ -`, `* / %`, signs and `!`, `**`;
 * parentheses, or in their place a nested ${eval EXPR}, for arguments of macros; int, ceil, floor,
 * sqrt, min, max.
 * Integers have 64 bits; `+ - * % **`, min, max and `/` without remainder keep them; a number with
 * a point or exponent is a double. `a % b` of integers has the sign of b, as in Perl, which
 * evaluated IL before; comparisons and logic return 1 or 0; `?:`, `||` and `&&` skip a side as
 * in C. value [LN_IL_VALUE_SIZE]: an integer, or a double with an integer value, without a point;
 * any other double with the fewest digits that read back as the same. -1 with a reason: a syntax
 * error, an integer beyond 64 bits, or a result that is not finite. */
int ln_il_eval(const char *text, size_t len, char *value, ln_error *err);

/** Appends a text and replaces each ${eval EXPR} by its value, also within names and strings,
 * unless a '\\' precedes it. Keeps the locations of lines. -1 with a reason. */
int ln_il_eval_text(const ln_il_text *from, ln_il_text *to, ln_error *err);
