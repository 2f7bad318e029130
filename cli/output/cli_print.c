// SPDX-License-Identifier: Apache-2.0
// Text for the terminal: the only functions of the tools that print names, of models and of files.

#include "output/cli_print.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_msg.h"
#include "output/cli_color.h"

// A va_list that functions can advance by a pointer.
typedef struct arguments {
    va_list list;
} arguments;

// A conversion of a format.
typedef struct conversion {
    char text[48]; // as a separate format, without '*'
    char length;   // 'l', 'L' for "ll", 'j', 'z', 't', or 0
    char letter;
    int width;     // < 0: to the left
    int precision; // < 0: none
} conversion;

// Formats

// A number, or '*' and then an argument.
static const char *read_number(const char *at, int *value, arguments *args)
{
    if (*at == '*') {
        *value = va_arg(args->list, int);
        return at + 1;
    }
    *value = (int)strtol(at, NULL, 10);
    return at + strspn(at, "0123456789");
}

// Returns what follows the conversion after `at`, its '%'.
static const char *read_conversion(const char *at, conversion *c, arguments *args)
{
    char flags[8];
    const size_t n_flags = strspn(++at, "-+ #0");
    const int n = n_flags < sizeof(flags) ? (int)n_flags : 0;
    snprintf(flags, sizeof(flags), "%.*s", n, at);
    at = read_number(at + n_flags, &c->width, args);
    c->precision = -1;
    if (*at == '.')
        at = read_number(at + 1, &c->precision, args);
    char precision[16] = "", width[16] = "";
    if (c->width)
        snprintf(width, sizeof(width), "%d", c->width);
    if (c->precision >= 0)
        snprintf(precision, sizeof(precision), ".%d", c->precision);
    const size_t n_length = strspn(at, "hljzt");
    c->length = n_length == 2 && *at == 'l' ? 'L' : *at == 'h' || !n_length ? '\0' : *at;
    c->letter = at[n_length];
    snprintf(c->text, sizeof(c->text), "%%%s%s%s%.*s%c", flags, width, precision, (int)n_length, at,
             c->letter);
    c->width = strchr(flags, '-') ? -abs(c->width) : c->width;
    return at + n_length + (c->letter != '\0');
}

// Values

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Prints the `len` bytes of text, escaped, up to `max` bytes; `stream` NULL: only counts. Returns
// the bytes.
static size_t put_escaped(FILE *stream, const char *text, size_t len, size_t max)
{
    size_t total = 0, used;
    for (; len > 0; text += used, len -= used) {
        char buf[8];
        const size_t n = ln_escape_char(buf, text, len, &used);
        if (n > max - total)
            break;
        if (stream)
            fwrite(buf, 1, n, stream);
        total += n;
    }
    return total;
}

static void print_text(FILE *stream, const conversion *c, const char *text)
{
    const size_t max = c->precision < 0 ? SIZE_MAX : (size_t)c->precision;
    const size_t len = strnlen(text, max), width = (size_t)abs(c->width);
    if (cli_color_is(text)) {
        fputs(text, stream);
        return;
    }
    const size_t shown = width ? put_escaped(NULL, text, len, max) : 0;
    const int blanks = (int)(width - min_size(width, shown));
    fprintf(stream, "%*s", c->width < 0 ? 0 : blanks, "");
    put_escaped(stream, text, len, max);
    fprintf(stream, "%*s", c->width < 0 ? blanks : 0, "");
}

static size_t size_of_length(char length)
{
    return length == 'l'   ? sizeof(long)
           : length == 'L' ? sizeof(long long)
           : length == 'j' ? sizeof(intmax_t)
           : length == 'z' ? sizeof(size_t)
           : length == 't' ? sizeof(ptrdiff_t)
                           : sizeof(int);
}

// Arguments of one size, signed or not, are passed in the same way.
static void print_integer(FILE *stream, const conversion *c, arguments *args)
{
    if (size_of_length(c->length) > sizeof(int)) {
        const long long value = va_arg(args->list, long long);
        fprintf(stream, c->text, value);
    } else {
        const int value = va_arg(args->list, int);
        fprintf(stream, c->text, value);
    }
}

static void print_value(FILE *stream, const conversion *c, arguments *args)
{
    if (c->letter == 's') {
        const char *text = va_arg(args->list, const char *);
        print_text(stream, c, text ? text : "(null)");
    } else if (c->letter == 'c') {
        const char letter[] = {(char)va_arg(args->list, int), '\0'};
        print_text(stream, c, letter);
    } else if (strchr("diuoxX", c->letter)) {
        print_integer(stream, c, args);
    } else if (strchr("feg", c->letter)) {
        fprintf(stream, c->text, va_arg(args->list, double));
    } else {
        fputc('%', stream);
    }
}

// Printing

static void print(FILE *stream, const char *fmt, va_list list)
{
    arguments args;
    va_copy(args.list, list);
    while (*fmt) {
        const size_t plain = strcspn(fmt, "%");
        fwrite(fmt, 1, plain, stream);
        fmt += plain;
        conversion c;
        if (!*fmt)
            break;
        fmt = read_conversion(fmt, &c, &args);
        print_value(stream, &c, &args);
    }
    va_end(args.list);
}

void cli_vfprint(FILE *stream, const char *fmt, va_list list)
{
    cli_whole whole = {0};
    const int is_whole = stream == stderr; // which has no buffer
    print(is_whole ? cli_whole_begin(&whole, stream) : stream, fmt, list);
    if (is_whole)
        cli_whole_end(&whole);
}

void cli_fprint(FILE *stream, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    cli_vfprint(stream, fmt, args);
    va_end(args);
}

void cli_print(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    cli_vfprint(stdout, fmt, args);
    va_end(args);
}

// Whole texts

FILE *cli_whole_begin(cli_whole *whole, FILE *stream)
{
    *whole = (cli_whole){.stream = stream};
    whole->memory = open_memstream(&whole->text, &whole->len);
    return whole->memory ? whole->memory : stream;
}

void cli_whole_end(cli_whole *whole)
{
    const int failed = whole->memory && fclose(whole->memory);
    if (failed)
        fputs("out of memory\n", whole->stream);
    else if (whole->memory)
        fwrite(whole->text, 1, whole->len, whole->stream);
    free(whole->text);
}
