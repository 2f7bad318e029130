// SPDX-License-Identifier: Apache-2.0
// Writes generated C: text with line numbers, lines of at most 100 columns, and the C snippets of
// descriptions with #line directives, so that compilers report errors in the description.
//
//     ln_cgen out = {.file = "conv.c"};
//     ln_cgen_print(&out, "static void conv2d_run(ln_op_arg *op_arg)\n{\n");
//     ln_cgen_snippet(&out, 4, ln_rjson_get(op, "run"));
//     ln_cgen_print(&out, "}\n");
//     ln_cgen_save(&out, NULL);
//     ln_cgen_free(&out);
//
// Its sources and intermediate texts live in its arena.

#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "gen/ln_arena.h"
#include "gen/ln_rjson.h"

/** The longest line, in columns. */
#define LN_CGEN_COLUMNS 100

/** Text under construction. All zero but `file`: empty. */
typedef struct ln_cgen {
    const char *file; // borrowed: where it will be saved, for #line; "-": standard output
    char *text;       // NUL-terminated, or NULL while empty
    size_t len;
    size_t capacity;
    int line;           // newlines so far
    int displaced;      // the last line is of a snippet: the next one needs a #line directive
    const char *source; // while displaced: the description's file,
    int source_line;    // and the distance of the next line from `line` in it
    ln_arena arena;     // freed with the text
} ln_cgen;

/** Frees the text; the object is then empty. */
void ln_cgen_free(ln_cgen *out);

/** Appends formatted text as it is. */
void ln_cgen_print(ln_cgen *out, const char *fmt, ...) LN_PRINTF(2, 3);

/** Appends one line of C, given without its newline and indented by `indent` blanks, broken if it
 * is longer than LN_CGEN_COLUMNS: after a comma or an operator, and inside string literals. */
void ln_cgen_line(ln_cgen *out, int indent, const char *fmt, ...) LN_PRINTF(3, 4);

/** Appends items, given with ", " between them, on lines indented by 4 blanks that each have as
 * many as fit. */
void ln_cgen_filled(ln_cgen *out, const char *items);

/** Appends a comment, broken at blanks into lines. */
void ln_cgen_comment(ln_cgen *out, const char *fmt, ...) LN_PRINTF(2, 3);

/** ln_cgen_line for a line that holds the C expression of `node`, a string: compilers report errors
 * of that line at the location of the expression, with a directive only if needed. */
void ln_cgen_line_of(ln_cgen *out, int indent, const ln_rjson *node, const char *fmt, ...)
    LN_PRINTF(4, 5);

/** Appends the statements of `node`, a string, indented by `indent` blanks: compilers report errors
 * at their location in the description. */
void ln_cgen_snippet(ln_cgen *out, int indent, const ln_rjson *node);

/** Appends `text` as the inside of a C string literal. */
void ln_cgen_escaped(ln_cgen *out, const char *text);

/** `text` as a C string literal. Returns borrowed (until ln_cgen_free). */
const char *ln_cgen_quote(ln_cgen *out, const char *text);

/** A value as strict JSON on one line. Returns borrowed (until ln_cgen_free). */
const char *ln_cgen_json(ln_cgen *out, const ln_rjson *node);

/** Writes the text to `out->file`, as ln_outfile_write_or_print; -1 with the reason in `err`. */
int ln_cgen_save(const ln_cgen *out, ln_error *err);

// Files

/** The part of a path after the last '/'. */
const char *ln_cgen_base_name(const char *path);

/** 1 if both paths are the same file. */
int ln_cgen_is_same_file(const char *a, const char *b);

// Reading C: a snippet as a sequence of tokens, without comments

/** 1 when the snippet names `word` as an identifier that is no member of something (`a.word`,
 *  `a->word`). */
int ln_c_names(const char *code, const char *word);

/** 1 when the text is one identifier and no keyword of C. */
int ln_c_is_identifier(const char *text);

/** 1 if the expression needs no parentheses as an operand of `&&`. */
int ln_c_is_operand(const char *code);

/** The number of arguments that a macro would see in `code`: 1 + the commas outside parentheses. */
int ln_c_count_arguments(const char *code);
