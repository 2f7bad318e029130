// SPDX-License-Identifier: Apache-2.0
// Whether a text is IL.

#include "base/ln_il_look.h"

#include <ctype.h>
#include <string.h>

// The max bytes that are searched for the beginning of a model.
enum { MAX_LOOK = 64 << 10 };

typedef struct scanner {
    const char *at, *end;
} scanner;

static int starts(const scanner *l, const char *text)
{
    const size_t len = strlen(text);
    return (size_t)(l->end - l->at) >= len && !memcmp(l->at, text, len);
}

static int take(scanner *l, const char *text)
{
    const int taken = starts(l, text);
    l->at += taken ? strlen(text) : 0;
    return taken;
}

// A directive goes on where its line ends in '\'.
static void skip_line(scanner *l)
{
    char last = '\0';
    for (; l->at < l->end && (*l->at != '\n' || last == '\\'); l->at++)
        if (*l->at != '\r')
            last = *l->at;
}

// The length of the name at `begin`.
static size_t name_length(const scanner *l, const char *begin)
{
    const char *p = begin;
    while (p < l->end && (isalnum((unsigned char)*p) || *p == '_') &&
           !isdigit((unsigned char)*begin))
        p++;
    return (size_t)(p - begin);
}

// The text after # distinguishes a directive from the heading of a page.
static int is_directive(const scanner *l)
{
    static const char *const words[] = {"define",  "error", "if",     "ifdef", "ifndef",
                                        "include", "line",  "pragma", "undef", NULL};
    const char *name = l->at + 1;
    if (l->at == l->end || *l->at != '#')
        return 0;
    while (name < l->end && (*name == ' ' || *name == '\t'))
        name++;
    const size_t len = name_length(l, name);
    while (name < l->end && isdigit((unsigned char)*name))
        name++;
    if (l->end - name > 1 && isdigit((unsigned char)name[-1]) && !memcmp(name, " \"", 2))
        return 1; // # 7 "FILE"
    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == len && !memcmp(words[i], name, len))
            return 1;
    return 0;
}

// Blanks, comments, directives. Returns whether there was a comment or directive.
static int skip_between(scanner *l)
{
    int found = 0;
    while (l->at < l->end) {
        if (isspace((unsigned char)*l->at)) {
            l->at++;
        } else if (take(l, "/*")) {
            while (l->at < l->end && !starts(l, "*/"))
                l->at++;
            take(l, "*/");
            found = 1;
        } else if (is_directive(l) || starts(l, "//")) {
            skip_line(l);
            found = 1;
        } else {
            break;
        }
    }
    return found;
}

static size_t take_name(scanner *l)
{
    const size_t len = name_length(l, l->at);
    l->at += len;
    return len;
}

// Whether one of the characters comes next, after blanks and comments.
static int is_next(scanner *l, const char *characters)
{
    skip_between(l);
    return l->at < l->end && strchr(characters, *l->at) != NULL;
}

// `found`: after comments or directives.
static int is_statement(scanner *l, int found)
{
    const char *name = l->at;
    const size_t len = take_name(l);
    if (len && is_next(l, "(=$"))
        return 1;
    if (len && is_next(l, ":")) {
        // An operator after its name and ':', which are in many texts that are not IL. A macro may
        // expand to any part of it, so one that is not called must have been defined.
        l->at++;
        return is_next(l, "\"$") || (take_name(l) && (is_next(l, "($") || found));
    }
    return len == 4 && !memcmp(name, "body", 4) && (is_next(l, "\"") || take_name(l));
}

int ln_il_look(const unsigned char *data, size_t size)
{
    const size_t looked_at = size < MAX_LOOK ? size : MAX_LOOK;
    scanner l = {.at = (const char *)data, .end = (const char *)data + looked_at};
    if (!size || memchr(data, '\0', looked_at))
        return 0;
    take(&l, "\xef\xbb\xbf");
    const int found = skip_between(&l);
    return l.at == l.end ? found : is_statement(&l, found);
}
