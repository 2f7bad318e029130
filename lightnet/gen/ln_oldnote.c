// SPDX-License-Identifier: Apache-2.0
// The notations that descriptions had in the first LightNet, recognized to name the new ones.

#include "gen/ln_rjson.h"

#include <string.h>

static const char *skip_to(const char *p, const char *end)
{
    const char *found = strstr(p, end);
    return found ? found + strlen(end) : p + strlen(p);
}

static const char *skip_blanks(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (*p == '#' || !strncmp(p, "//", 2))
            p = skip_to(p, "\n");
        else if (!strncmp(p, "/*", 2))
            p = skip_to(p + 2, "*/");
        else
            return p;
    }
}

// What stands behind an identifier and blanks; NULL: there is none.
static const char *skip_word(const char *p)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    const size_t len = strspn(p, letters);
    return len ? skip_blanks(p + len) : NULL;
}

// "run: `...`", also with a quoted key
static int has_backquoted_value(const char *text)
{
    for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ':'))
        if (*skip_blanks(p + 1) == '`')
            return 1;
    return 0;
}

int ln_oldnote_is_op(const char *text)
{
    const char *const begin = skip_blanks(text);
    const char *p = skip_word(begin); // "relu {" or "relu_cpu : relu {"
    if (p && *p == ':')
        p = skip_word(skip_blanks(p + 1));
    if (p && *p == '{')
        return 1;
    p = *begin == '{' ? skip_word(skip_blanks(begin + 1)) : NULL; // "{ optype:"
    return (p && *p == ':') || has_backquoted_value(begin);
}

int ln_oldnote_is_opt(const ln_rjson *root)
{
    return root->type == LN_RJSON_OBJECT && ln_rjson_get(root, "author");
}
