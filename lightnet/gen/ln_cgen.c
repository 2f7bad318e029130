// SPDX-License-Identifier: Apache-2.0
// Writing generated C: lines, snippets, and a small tokenizer.

#include "gen/ln_cgen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ln_outtext.h"
#include "lightnet/ln_util.h"

// Text

void ln_cgen_free(ln_cgen *out)
{
    ln_arena_free(&out->arena);
    *out = (ln_cgen){.file = out->file};
}

static void append(ln_cgen *out, const char *text, size_t len)
{
    if (out->capacity - out->len <= len) {
        out->capacity = (out->len + len + 1) * 2;
        char *bigger = ln_arena_alloc(&out->arena, out->capacity);
        out->text = memcpy(bigger, out->text ? out->text : "", out->len);
    }
    memcpy(out->text + out->len, text, len);
    out->len += len;
    out->text[out->len] = '\0';
    for (size_t i = 0; i < len; i++)
        out->line += text[i] == '\n';
}

static void append_text(ln_cgen *out, const char *text)
{
    append(out, text, strlen(text));
}

static void append_line_directive(ln_cgen *out, int line, const char *file)
{
    char number[32];
    snprintf(number, sizeof(number), "#line %d \"", line);
    append_text(out, number);
    ln_cgen_escaped(out, file);
    append_text(out, "\"\n");
}

// Makes the next line the one of a description, where it is not anyway.
static void go_to_source(ln_cgen *out, int line, const char *file)
{
    if (out->displaced && out->source_line == line - out->line && strcmp(out->source, file) == 0)
        return;
    append_line_directive(out, line, file);
    out->source = file;
    out->source_line = line - out->line;
    out->displaced = 1;
}

// Before generated text: ends the lines of a description's snippet.
static void restore_line(ln_cgen *out)
{
    if (!out->displaced)
        return;
    out->displaced = 0;
    append_line_directive(out, out->line + 2, out->file);
}

void ln_cgen_print(ln_cgen *out, const char *fmt, ...)
{
    va_list args;
    // For empty lines and comments it does not matter which line a compiler takes them for.
    if (fmt[strspn(fmt, "\n")] && strncmp(fmt, "    // ", strlen("    // ")) != 0)
        restore_line(out);
    va_start(args, fmt);
    append_text(out, ln_arena_vprintf(&out->arena, fmt, args));
    va_end(args);
}

void ln_cgen_escaped(ln_cgen *out, const char *text)
{
    for (; *text; text++) {
        char escape[8];
        if (*text == '"' || *text == '\\')
            snprintf(escape, sizeof(escape), "\\%c", *text);
        else if (*text == '\n')
            snprintf(escape, sizeof(escape), "\\n");
        else if ((unsigned char)*text < ' ')
            snprintf(escape, sizeof(escape), "\\%03o", (unsigned)*text);
        else
            snprintf(escape, sizeof(escape), "%c", *text);
        append_text(out, escape);
    }
}

const char *ln_cgen_quote(ln_cgen *out, const char *text)
{
    ln_cgen escaped = {.file = out->file};
    ln_cgen_escaped(&escaped, text);
    const char *quoted = ln_arena_printf(&out->arena, "\"%s\"", escaped.text ? escaped.text : "");
    ln_cgen_free(&escaped);
    return quoted;
}

const char *ln_cgen_json(ln_cgen *out, const ln_rjson *node)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream) {
        ln_rjson_print(stream, node);
        fclose(stream);
    }
    const char *kept = ln_arena_strndup(&out->arena, text ? text : "", size);
    free(text);
    return kept;
}

// Lines

// Where a long line may be broken.
typedef struct line_break {
    size_t at;     // the next line begins with this byte; 0: nowhere
    int in_string; // between the quotes of a string literal
} line_break;

// 1 when a line may end before text[i], a character outside of string literals.
static int is_gap(const char *text, size_t i)
{
    static const char *const before[] = {",", "&&", "||", "==", "+"};
    if (i < 2 || text[i - 1] != ' ')
        return 0;
    for (size_t k = 0; k < sizeof(before) / sizeof(*before); k++) {
        const size_t len = strlen(before[k]);
        if (i >= len + 1 && strncmp(&text[i - 1 - len], before[k], len) == 0)
            return 1;
    }
    return 0;
}

// The last gap within `columns`, but none before `start`; outside of strings where there is a
// choice. `in_string`: the text begins inside a string literal.
static line_break find_break(const char *text, size_t start, size_t columns, int in_string)
{
    line_break outside = {0}, inside = {0};
    for (size_t i = 0; text[i] && i <= columns; i++) {
        if (i > start && !in_string && is_gap(text, i))
            outside.at = i;
        if (i > start && in_string && text[i - 1] == ' ' && i < columns)
            inside = (line_break){.at = i, .in_string = 1};
        if (in_string && text[i] == '\\' && text[i + 1])
            i++;
        else if (text[i] == '"')
            in_string = !in_string;
    }
    return outside.at ? outside : inside;
}

// Where the continuation of a line is indented to: after its first opening bracket.
static size_t continuation(const char *text)
{
    const size_t bracket = strcspn(text, "({\"");
    return text[bracket] && text[bracket] != '"' ? bracket + 1 : strspn(text, " ") + 4;
}

static void append_wrapped(ln_cgen *out, const char *text)
{
    char blanks[LN_CGEN_COLUMNS / 2 + 1];
    const size_t wanted = continuation(text);
    const size_t indent = wanted < sizeof(blanks) ? wanted : strspn(text, " ") + 4;
    snprintf(blanks, sizeof(blanks), "%*s", (int)indent, "");
    size_t used = 0; // columns before `text`
    int in_string = 0;
    while (used + strlen(text) > LN_CGEN_COLUMNS && !strchr(text, '\n')) { // an author's lines stay
        const line_break gap =
            find_break(text, used ? 0 : indent, LN_CGEN_COLUMNS - used, in_string);
        if (!gap.at)
            break;
        append(out, text, gap.in_string ? gap.at : gap.at - 1); // without the blank of a gap
        append_text(out, gap.in_string ? "\"\n" : "\n");
        append_text(out, blanks);
        append_text(out, gap.in_string ? "\"" : "");
        text += gap.at;
        in_string = gap.in_string;
        used = indent + (size_t)in_string;
    }
    append_text(out, text);
    append_text(out, "\n");
}

static void append_line(ln_cgen *out, int indent, const char *fmt, va_list args)
{
    append_wrapped(out, ln_arena_printf(&out->arena, "%*s%s", indent, "",
                                        ln_arena_vprintf(&out->arena, fmt, args)));
}

void ln_cgen_line(ln_cgen *out, int indent, const char *fmt, ...)
{
    va_list args;
    restore_line(out);
    va_start(args, fmt);
    append_line(out, indent, fmt, args);
    va_end(args);
}

void ln_cgen_filled(ln_cgen *out, const char *items)
{
    static const char indent[] = "   ";
    size_t column = 0;
    restore_line(out);
    while (*items) {
        const size_t len = strcspn(items, ",") + 1; // one after the last item, too
        if (column + 1 + len > LN_CGEN_COLUMNS) {
            append_text(out, "\n");
            column = 0;
        }
        if (column == 0)
            append_text(out, indent);
        column += 1 + len + (column ? 0 : strlen(indent));
        append_text(out, " ");
        append(out, items, len - 1);
        append_text(out, ",");
        items += items[len - 1] ? len + 1 : len - 1;
    }
    append_text(out, "\n");
}

void ln_cgen_comment(ln_cgen *out, const char *fmt, ...)
{
    static const char slashes[] = "// ";
    const size_t columns = LN_CGEN_COLUMNS - strlen(slashes);
    va_list args;
    restore_line(out);
    va_start(args, fmt);
    const char *rest = ln_arena_vprintf(&out->arena, fmt, args);
    va_end(args);
    while (*rest) {
        size_t len = strlen(rest);
        if (len > columns) {
            for (len = columns; len > 0 && rest[len] != ' ';)
                len--;
            len = len ? len : columns;
        }
        append_text(out, slashes);
        append(out, rest, len);
        append_text(out, "\n");
        rest += len + (rest[len] == ' ');
    }
}

void ln_cgen_line_of(ln_cgen *out, int indent, const ln_rjson *node, const char *fmt, ...)
{
    va_list args;
    go_to_source(out, node->text_line, node->file);
    va_start(args, fmt);
    append_line(out, indent, fmt, args);
    va_end(args);
}

// Snippets

// The next line of a snippet: its length without the newline, `*next` where the one after it
// begins.
static size_t line_length(const char *line, const char **next)
{
    const size_t len = strcspn(line, "\n");
    *next = line[len] ? line + len + 1 : line + len;
    return len > 0 && line[len - 1] == '\r' ? len - 1 : len;
}

static int is_blank(const char *line, size_t len)
{
    return strspn(line, " \t\r") >= len;
}

// The blanks that all lines of a snippet begin with.
static size_t common_indent(const char *text)
{
    size_t common = (size_t)-1;
    for (const char *next; *text; text = next) {
        const size_t len = line_length(text, &next);
        const size_t indent = strspn(text, " \t");
        if (!is_blank(text, len) && indent < common)
            common = indent;
    }
    return common;
}

void ln_cgen_snippet(ln_cgen *out, int indent, const ln_rjson *node)
{
    const size_t common = common_indent(node->text);
    int line = node->text_line;
    int blanks = 0; // lines put off until something follows them
    int begun = 0;
    const char *next;
    for (const char *text = node->text; *text; text = next, line += node->is_block) {
        const size_t len = line_length(text, &next);
        if (is_blank(text, len)) {
            blanks += begun;
            continue;
        }
        if (!begun || !node->is_block) // an ordinary string keeps all its lines on one
            go_to_source(out, line, node->file);
        for (; blanks > 0 && node->is_block; blanks--)
            append_text(out, "\n");
        if (text[common] != '#') { // a directive of the preprocessor stays at the margin
            for (int i = 0; i < indent; i++)
                append_text(out, " ");
        }
        append(out, text + common, len - common);
        append_text(out, "\n");
        begun = 1;
    }
}

// Saving

static int write_text(FILE *stream, const void *arg, ln_error *err)
{
    const ln_cgen *const out = arg;
    (void)err; // errors of the stream are the caller's
    if (out->len > 0)
        fwrite(out->text, 1, out->len, stream);
    return 0;
}

int ln_cgen_save(const ln_cgen *out, ln_error *err)
{
    return ln_outfile_write_or_print(out->file, write_text, out, err);
}

// Files

const char *ln_cgen_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int ln_cgen_is_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

// Reading C

typedef enum token_type {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_MEMBER,
    TOKEN_LITERAL,
    TOKEN_OTHER
} token_type;

typedef struct token {
    token_type type;
    const char *text;
    size_t len;
} token;

static int is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// The length of the blanks and comments at `p`.
static size_t skip_gap(const char *p)
{
    const char *start = p;
    for (;;) {
        if (isspace((unsigned char)*p)) {
            p++;
        } else if (strncmp(p, "//", 2) == 0) {
            p += strcspn(p, "\n");
        } else if (strncmp(p, "/*", 2) == 0) {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else {
            return (size_t)(p - start);
        }
    }
}

// The length of the string or character literal at `p`.
static size_t literal_length(const char *p)
{
    size_t len = 1;
    while (p[len] && p[len] != p[0])
        len += p[len] == '\\' && p[len + 1] ? 2 : 1;
    return p[len] ? len + 1 : len;
}

// The length of the preprocessing number at `p`, "1", "0x1F", ".5e-3f".
static size_t number_length(const char *p)
{
    size_t len = 1;
    while (is_word(p[len]) || p[len] == '.' ||
           ((p[len] == '+' || p[len] == '-') && strchr("eEpP", p[len - 1])))
        len++;
    return len;
}

// The token at *p; *p is then past it. `after` is the token before it.
static token next_token(const char **p, const token *after)
{
    const int member =
        after->type == TOKEN_OTHER && (after->text[0] == '.' || after->text[0] == '>');
    token tk = {.text = *p + skip_gap(*p)};
    const char c = tk.text[0];
    if (!c) {
        tk.type = TOKEN_END;
    } else if (c == '"' || c == '\'') {
        tk.type = TOKEN_LITERAL;
        tk.len = literal_length(tk.text);
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)tk.text[1]))) {
        tk.type = TOKEN_LITERAL;
        tk.len = number_length(tk.text);
    } else if (is_word(c)) {
        tk.type = member ? TOKEN_MEMBER : TOKEN_WORD;
        while (is_word(tk.text[tk.len]))
            tk.len++;
    } else {
        tk.type = TOKEN_OTHER;
        tk.len = strncmp(tk.text, "->", 2) == 0 ? 2 : 1;
        tk.text += tk.len - 1; // so that "->" shows its '>', which alone would be a comparison
        if (tk.len == 1 && c == '>')
            tk.type = TOKEN_LITERAL; // "a > b": no member follows
        tk.len = 1;
    }
    *p = tk.text + tk.len;
    return tk;
}

int ln_c_names(const char *code, const char *word)
{
    const size_t len = strlen(word);
    token tk = {.type = TOKEN_LITERAL};
    while ((tk = next_token(&code, &tk)).type != TOKEN_END) {
        if (tk.type == TOKEN_WORD && tk.len == len && memcmp(tk.text, word, len) == 0)
            return 1;
    }
    return 0;
}

int ln_c_is_identifier(const char *text)
{
    static const char *const keywords[] = {
        "auto",    "break",  "case",     "char",   "const",    "continue", "default",
        "do",      "double", "else",     "enum",   "extern",   "float",    "for",
        "goto",    "if",     "inline",   "int",    "long",     "register", "restrict",
        "return",  "short",  "signed",   "sizeof", "static",   "struct",   "switch",
        "typedef", "union",  "unsigned", "void",   "volatile", "while",
    };
    if (!*text || isdigit((unsigned char)*text))
        return 0;
    for (size_t i = 0; text[i]; i++) {
        if (!is_word(text[i]))
            return 0;
    }
    for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
        if (strcmp(text, keywords[i]) == 0)
            return 0;
    }
    return 1;
}

// Whether an operator binds less than `&&`: "?", ",", "|" and an assignment.
static int is_loose(const char *code, const char *c)
{
    const int compares = c[0] == '=' && (c[1] == '=' || (c > code && strchr("=!<>", c[-1])));
    return strchr("?,|=", c[0]) && !compares;
}

int ln_c_is_operand(const char *code)
{
    const char *const begin = code;
    int depth = 0;
    token tk = {.type = TOKEN_LITERAL};
    while ((tk = next_token(&code, &tk)).type != TOKEN_END) {
        if (tk.type != TOKEN_OTHER)
            continue;
        depth += strchr("([{", tk.text[0]) != NULL;
        depth -= strchr(")]}", tk.text[0]) != NULL;
        if (depth == 0 && is_loose(begin, tk.text))
            return 0;
    }
    return 1;
}

int ln_c_count_arguments(const char *code)
{
    int count = 1, depth = 0;
    token tk = {.type = TOKEN_LITERAL};
    while ((tk = next_token(&code, &tk)).type != TOKEN_END) {
        if (tk.type != TOKEN_OTHER)
            continue;
        depth += tk.text[0] == '(';
        depth -= tk.text[0] == ')';
        count += tk.text[0] == ',' && depth == 0;
    }
    return count;
}
