// SPDX-License-Identifier: Apache-2.0
// Element types and enumerations: one table each, and functions of single elements.

#include "tensorlight/tl_type.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "tensor/tl_char.h"
#include "tensor/tl_element.h"
#include "tensor/tl_name.h"
#include "tensor/tl_numeric.h"
#include "tensor/tl_storage.h"
#include "tensorlight/tl_string.h"
#include "tensorlight/tl_util.h"

// Formats

static const char float_conversions[] = "aAeEfFgG";
static const char integer_conversions[] = "diouxX";

typedef struct format {
    char text[128];   // the caller's, with our length modifier
    char *conversion; // its conversion character in `text`
} format;

// Writes `fmt` to `out` with `modifier` as its one conversion's length modifier. -1 with a reason.
static int format_init(format *out, const char *fmt, const char *conversions, const char *modifier)
{
    if (strlen(fmt) + strlen(modifier) >= sizeof(out->text))
        return tl_fail("format of %zu characters, expected less than %zu", strlen(fmt),
                       sizeof(out->text) - strlen(modifier));
    out->conversion = NULL;
    char *to = out->text;
    for (const char *from = fmt; *from;) {
        *to++ = *from;
        if (*from++ != '%')
            continue;
        if (*from == '%') {
            *to++ = *from++;
            continue;
        }
        const char *const end = from + strspn(from, "-+ #0'123456789.");
        const char *const conversion = end + strspn(end, "hlLjztq");
        if (out->conversion || !*conversion || !strchr(conversions, *conversion))
            return tl_fail("format '%s', expected one conversion out of '%s'", fmt, conversions);
        to = (char *)memcpy(to, from, (size_t)(end - from)) + (end - from);
        to = (char *)memcpy(to, modifier, strlen(modifier)) + strlen(modifier);
        out->conversion = to;
        *to++ = *conversion;
        from = conversion + 1;
    }
    *to = '\0';
    return out->conversion
               ? 0
               : tl_fail("format '%s', expected one conversion out of '%s'", fmt, conversions);
}

static int printed(int n)
{
    return n < 0 ? tl_fail("cannot write an element") : n;
}

static int print_float(FILE *stream, const char *fmt, double value)
{
    format f;
    if (format_init(&f, fmt, float_conversions, "") < 0)
        return -1;
    const locale_t before = tl_numeric_begin();
    const int n = fprintf(stream, f.text, value);
    tl_numeric_end(before);
    return printed(n);
}

// A negative `value` of a type up to 32 bits wide prints as an unsigned int of these bits in the
// unsigned conversions, as with printf's own promotion.
static int print_signed(FILE *stream, const char *fmt, int64_t value, size_t size)
{
    format f;
    if (format_init(&f, fmt, integer_conversions, "j") < 0)
        return -1;
    if (size <= sizeof(uint32_t) && !strchr("di", *f.conversion))
        return printed(fprintf(stream, f.text, (uintmax_t)(uint32_t)value));
    return printed(fprintf(stream, f.text, (intmax_t)value));
}

static int print_unsigned(FILE *stream, const char *fmt, uint64_t value)
{
    format f;
    if (format_init(&f, fmt, integer_conversions, "j") < 0)
        return -1;
    if (strchr("di", *f.conversion))
        *f.conversion = 'u';
    return printed(fprintf(stream, f.text, (uintmax_t)value));
}

// One function of each kind per type

#define PRINT_FLT(stream, fmt, value)  print_float(stream, fmt, value)
#define PRINT_INT(stream, fmt, value)  print_signed(stream, fmt, value, sizeof(value))
#define PRINT_UINT(stream, fmt, value) print_unsigned(stream, fmt, value)
#define PRINT_BOOL(stream, fmt, value) print_unsigned(stream, fmt, value)

#define FUNCTIONS(dtype, tag, storage, compute, kind, load, store, min, max, format) \
    static void max_##tag(void *ret)                                                 \
    {                                                                                \
        *(storage *)ret = tl_##tag##_store(max);                                     \
    }                                                                                \
    static void min_##tag(void *ret)                                                 \
    {                                                                                \
        *(storage *)ret = tl_##tag##_store(min);                                     \
    }                                                                                \
    static int cmp_##tag(const void *p1, const void *p2)                             \
    {                                                                                \
        const compute a = tl_##tag##_load(*(const storage *)p1);                     \
        const compute b = tl_##tag##_load(*(const storage *)p2);                     \
        return (a > b) - (a < b);                                                    \
    }                                                                                \
    static int fprintf_##tag(FILE *stream, const char *fmt, const void *p)           \
    {                                                                                \
        const compute value = tl_##tag##_load(*(const storage *)p);                  \
        return PRINT_##kind(stream, fmt ? fmt : tl_dtype_fmt(dtype), value);         \
    }
TL_TYPES(FUNCTIONS)

// The same for types that only store values, by way of their carriers

static double storage_value(tl_dtype dtype, const void *p)
{
    double value;
    tl_convert(&value, TL_DOUBLE, p, dtype);
    return value;
}

static int storage_cmp(tl_dtype dtype, const void *p1, const void *p2)
{
    const double a = storage_value(dtype, p1), b = storage_value(dtype, p2);
    return (a > b) - (a < b);
}

static int storage_fprintf(tl_dtype dtype, FILE *stream, const char *fmt, const void *p)
{
    const double value = storage_value(dtype, p);
    fmt = fmt ? fmt : tl_dtype_fmt(dtype);
    if (tl_dtype_has_fractions(dtype))
        return print_float(stream, fmt, value);
    return value < 0 ? print_signed(stream, fmt, (int64_t)value, 1)
                     : print_unsigned(stream, fmt, (uint64_t)value);
}

#define STORAGE_FUNCTIONS(dtype, tag, kind, bits, min, max, format)        \
    static void max_##tag(void *ret)                                       \
    {                                                                      \
        tl_convert(ret, dtype, &(double){max}, TL_DOUBLE);                 \
    }                                                                      \
    static void min_##tag(void *ret)                                       \
    {                                                                      \
        tl_convert(ret, dtype, &(double){min}, TL_DOUBLE);                 \
    }                                                                      \
    static int cmp_##tag(const void *p1, const void *p2)                   \
    {                                                                      \
        return storage_cmp(dtype, p1, p2);                                 \
    }                                                                      \
    static int fprintf_##tag(FILE *stream, const char *fmt, const void *p) \
    {                                                                      \
        return storage_fprintf(dtype, stream, fmt, p);                     \
    }
TL_STORAGE_TYPES(STORAGE_FUNCTIONS)

// Strings

static void empty_string(void *ret)
{
    *(const tl_string **)ret = NULL;
}

static int cmp_string(const void *p1, const void *p2)
{
    return tl_string_cmp(*(const tl_string *const *)p1, *(const tl_string *const *)p2);
}

// Whether a terminal does not treat the character as text: control characters, line
// separators, marks of direction, and bytes that are not UTF-8.
static int is_special(uint32_t c, size_t n)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || (n == 1 && c >= 0x80);
}

// A character of a string in quotes, as in JSON.
static int print_char(FILE *stream, const char *p, size_t n, uint32_t c)
{
    if (c == '"' || c == '\\')
        return fprintf(stream, "\\%c", (int)c);
    if (c == '\n')
        return fprintf(stream, "\\n");
    if (is_special(c, n))
        return fprintf(stream, "\\u%04x", (unsigned)(n == 1 && c >= 0x80 ? 0xdc00 + c : c));
    return fwrite(p, 1, n, stream) == n ? (int)n : -1;
}

static int fprintf_string(FILE *stream, const char *fmt, const void *element)
{
    const tl_string *const s = *(const tl_string *const *)element;
    const char *p = tl_string_bytes(s), *const end = p + tl_string_size(s);
    int total = 2;
    (void)fmt; // numbers only
    putc('"', stream);
    for (size_t size; p < end; p += size) {
        const uint32_t c = tl_char_at(p, end, &size);
        const int n = print_char(stream, p, size, c);
        if (n < 0)
            return printed(n);
        total = total < INT_MAX - n ? total + n : INT_MAX;
    }
    return printed(putc('"', stream) == EOF ? -1 : total);
}

// The table of types

enum kind { FLT, INT, UINT, BOOL, TEXT };

typedef struct type_info {
    size_t size;
    int bits;
    const char *fmt;
    enum kind kind;
    double max_double, min_double;
    void (*max)(void *ret);
    void (*min)(void *ret);
    tl_cmp_func cmp;
    tl_fprintf_func fprintf;
} type_info;

#define INFO(dtype, tag, storage, compute, kind, load, store, min, max, format)           \
    [dtype] = {sizeof(storage), 8 * sizeof(storage), format,    kind,      (double)(max), \
               (double)(min),   max_##tag,           min_##tag, cmp_##tag, fprintf_##tag},
#define STORAGE_INFO(dtype, tag, kind, bits, min, max, format) \
    [dtype] = {1, bits, format, kind, max, min, max_##tag, min_##tag, cmp_##tag, fprintf_##tag},
static const type_info types[TL_DTYPE_SIZE] = {
    TL_TYPES(INFO) TL_STORAGE_TYPES(STORAGE_INFO)[TL_STRING] = {
        sizeof(tl_string *), 8 * sizeof(tl_string *), "%s", TEXT, 0, 0, empty_string, empty_string,
        cmp_string, fprintf_string}};

static const type_info *info(tl_dtype dtype)
{
    assert(tl_dtype_is_valid(dtype));
    return &types[dtype];
}

int tl_dtype_is_valid(tl_dtype dtype)
{
    return dtype >= 0 && dtype < TL_DTYPE_SIZE;
}

int tl_dtype_is_computed(tl_dtype dtype)
{
    assert(tl_dtype_is_valid(dtype));
    return dtype < TL_DTYPE_COMPUTED_SIZE;
}

int tl_dtype_is_stored(tl_dtype dtype)
{
    return !tl_dtype_is_computed(dtype) && dtype != TL_STRING;
}

int tl_dtype_has_fractions(tl_dtype dtype)
{
    return info(dtype)->kind == FLT;
}

int tl_dtype_is_float(tl_dtype dtype)
{
    return tl_dtype_has_fractions(dtype) && tl_dtype_is_computed(dtype);
}

size_t tl_size_of(tl_dtype dtype)
{
    return info(dtype)->size;
}

int tl_dtype_bits(tl_dtype dtype)
{
    return info(dtype)->bits;
}

const char *tl_dtype_fmt(tl_dtype dtype)
{
    return info(dtype)->fmt;
}

void tl_dtype_max(tl_dtype dtype, void *ret)
{
    info(dtype)->max(ret);
}

void tl_dtype_min(tl_dtype dtype, void *ret)
{
    info(dtype)->min(ret);
}

double tl_dtype_max_double(tl_dtype dtype)
{
    return info(dtype)->max_double;
}

double tl_dtype_min_double(tl_dtype dtype)
{
    return info(dtype)->min_double;
}

int tl_cmp(const void *p1, const void *p2, tl_dtype dtype)
{
    return info(dtype)->cmp(p1, p2);
}

tl_cmp_func tl_cmp_getfunc(tl_dtype dtype)
{
    return info(dtype)->cmp;
}

int tl_fprintf(FILE *stream, const char *fmt, const void *p, tl_dtype dtype)
{
    return info(dtype)->fprintf(stream, fmt, p);
}

tl_fprintf_func tl_fprintf_getfunc(tl_dtype dtype)
{
    return info(dtype)->fprintf;
}

// Names

#define DTYPE_NAME(dtype, ...) [dtype] = #dtype,
static const char *const dtype_names[TL_DTYPE_SIZE] = {
    TL_TYPES(DTYPE_NAME) TL_STORAGE_TYPES(DTYPE_NAME) DTYPE_NAME(TL_STRING)};

#define NAME(value) [value] = #value
static const char *const elew_op_names[TL_ELEW_OP_SIZE] = {
    NAME(TL_MUL), NAME(TL_DIV), NAME(TL_SUM), NAME(TL_SUB),
    NAME(TL_MAX), NAME(TL_MIN), NAME(TL_POW),
};
static const char *const resize_type_names[TL_RESIZE_TYPE_SIZE] = {
    NAME(TL_NEAREST),
    NAME(TL_LINEAR),
};
static const char *const sort_dir_names[TL_SORT_DIR_SIZE] = {
    NAME(TL_SORT_DIR_ASCENDING),
    NAME(TL_SORT_DIR_DESCENDING),
};
#undef NAME

TL_NAME_AND_FROM_STR(tl_dtype, dtype_names, TL_DTYPE_SIZE)
TL_NAME_AND_FROM_STR(tl_elew_op, elew_op_names, TL_ELEW_OP_SIZE)
TL_NAME_AND_FROM_STR(tl_resize_type, resize_type_names, TL_RESIZE_TYPE_SIZE)
TL_NAME_AND_FROM_STR(tl_sort_dir, sort_dir_names, TL_SORT_DIR_SIZE)
