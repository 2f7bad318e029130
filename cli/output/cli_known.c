// SPDX-License-Identifier: Apache-2.0
// The metadata that Ultralytics writes: task "detect", names "{0: 'person', 1: 'bicycle'}" and
// kpt_shape "[17, 3]".

#include "output/cli_known.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/cli_msg.h"

// Copies the string literal at *text, after its quote, to `to`, control characters as '?', and
// moves past it. Returns the end of the copy; NULL: it has no end.
static char *copy_literal(const char **text, char *to)
{
    const char quote = *(*text)++;
    for (const char *at = *text; *at; at++) {
        if (*at == quote) {
            *text = at + 1;
            return to;
        }
        at += *at == '\\' && at[1];
        *to++ = iscntrl((unsigned char)*at) ? '?' : *at;
    }
    return NULL;
}

static int is_quote(char c)
{
    return c == '\'' || c == '"';
}

// The number before a name, "0: " or "\"0\": "; -1: none. Moves past it and the colon.
static long read_index(const char **text)
{
    const char *const first = *text + is_quote(**text);
    char *end;
    const long index = strtol(first, &end, 10);
    if (end == first)
        return -1;
    end += is_quote(*end);
    if (*end != ':')
        return -1;
    *text = end + 1 + strspn(end + 1, " ");
    return index;
}

// Returns new (free): the names of a dict or list, one a line. NULL: another text, or no memory.
static char *read_names(const char *text)
{
    char *const lines = *text == '{' || *text == '[' ? malloc(strlen(text) + 1) : NULL;
    const char close = *text == '{' ? '}' : ']';
    char *to = lines;
    text++;
    for (long n = 0; to; n++) {
        text += strspn(text, ", ");
        if (*text == close) {
            to[-(to > lines)] = '\0';
            return lines;
        }
        if (close == '}' && read_index(&text) != n)
            break;
        to = is_quote(*text) ? copy_literal(&text, to) : NULL;
        if (to)
            *to++ = '\n';
    }
    free(lines);
    return NULL;
}

// The first number of "[17, 3]"; 0: another text.
static int read_count(const char *text)
{
    const long n = *text == '[' ? strtol(text + 1, NULL, 10) : 0;
    return n > 0 && n <= 1024 ? (int)n : 0;
}

int cli_known_read(cli_known *known, const ln_model *model)
{
    const char *const task = ln_model_metadata(model, "task");
    const char *const names = ln_model_metadata(model, "names");
    const char *const points = ln_model_metadata(model, "kpt_shape");
    if (task)
        snprintf(known->task, sizeof(known->task), "%s", task);
    known->n_points = points ? read_count(points) : 0;
    char *const lines = names && !known->is_given ? read_names(names) : NULL;
    if (!lines)
        return 0;
    cli_labels_free(known->labels);
    const int status = cli_labels_split(known->labels, lines);
    known->labels->must_fit = 1;
    return status;
}
