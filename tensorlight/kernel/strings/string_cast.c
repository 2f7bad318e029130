// SPDX-License-Identifier: Apache-2.0
// Casts from numbers to strings, and from strings to numbers.

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernel/cast/cast.h"
#include "kernel/strings/strings.h"
#include "tensor/tl_numeric.h"
#include "tensorlight/tl_elementwise.h"
#include "tensorlight/tl_util.h"

// Exceeds the bytes of any number as text.
enum { TEXT_SIZE = 512 };

// To strings

// Casts as C does: values out of range become infinite.
static void cast(void *element, tl_dtype dtype, double value)
{
    tl_map_func *const kernel = tl_cast_kernel(NULL, TL_DOUBLE, dtype);
    if (kernel)
        kernel(&value, element, 1, NULL);
    else
        memcpy(element, &value, sizeof(value));
}

// Whether parsing the text yields the same element.
static int reads_as(const char *text, const void *element, tl_dtype dtype)
{
    unsigned char back[TL_DTYPE_MAX_SIZE];
    const double wide = strtod(text, NULL);
    const float narrow = strtof(text, NULL);
    if (dtype == TL_FLOAT)
        memcpy(back, &narrow, sizeof(narrow));
    else
        cast(back, dtype, wide);
    return !memcmp(back, element, tl_size_of(dtype));
}

// Digits that distinguish all elements of a type: at most those of a double.
enum { MAX_DIGITS = 17 };

// The digits of "-1.234e+05" as plain notation with a point.
static void print_plain(char *to, const char *text, int exponent)
{
    char digits[MAX_DIGITS + 1];
    int n = 0;
    if (*text == '-')
        *to++ = *text++;
    for (; *text && *text != 'e'; text++)
        if (*text != '.')
            digits[n++] = *text;
    for (int i = exponent; i < 0; i++) // 0.00012
        to += sprintf(to, i == exponent ? "0." : "0");
    for (int i = 0; i < n || i <= exponent; i++) {
        *to++ = i < n ? digits[i] : '0';
        if (i == exponent)
            *to++ = '.';
    }
    if (to[-1] == '.')
        *to++ = '0';
    *to = '\0';
}

static void print_float(char to[TEXT_SIZE], const void *element, tl_dtype dtype)
{
    char text[64];
    double value;
    tl_convert(&value, TL_DOUBLE, element, dtype);
    if (isnan(value) || isinf(value)) {
        strcpy(to, isnan(value) ? "NaN" : value > 0 ? "INF" : "-INF");
        return;
    }
    for (int n = 1; n <= MAX_DIGITS; n++) {
        snprintf(text, sizeof(text), "%.*e", n - 1, value);
        if (reads_as(text, element, dtype))
            break;
    }
    const int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 16)
        print_plain(to, text, exponent);
    else
        strcpy(to, text);
}

static void print_element(char to[TEXT_SIZE], const void *element, tl_dtype dtype)
{
    uint64_t value = 0;
    if (tl_dtype_is_float(dtype)) {
        print_float(to, element, dtype);
    } else if (dtype == TL_BOOL) {
        strcpy(to, *(const unsigned char *)element ? "True" : "False");
    } else if (dtype == TL_UINT64) {
        snprintf(to, TEXT_SIZE, "%" PRIu64, *(const uint64_t *)element);
    } else {
        tl_convert(&value, TL_INT64, element, dtype);
        snprintf(to, TEXT_SIZE, "%" PRId64, (int64_t)value);
    }
}

static int print_all(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    char text[TEXT_SIZE];
    if (tl_check_arena(exec) < 0)
        return -1;
    for (int i = 0; i < src->len && !tl_stop_is_requested(exec->stop); i++) {
        print_element(text, tl_pointer_add(src->data, i, src->dtype), src->dtype);
        if (tl_strings_copy(exec->strings, text, strlen(text), (const tl_string **)dst->data + i))
            return -1;
    }
    return 0;
}

// From strings

// The text without white space around it. *size: its length.
static const char *trimmed(const tl_string *s, size_t *size)
{
    static const char space[] = " \t\n\v\f\r";
    const char *begin = tl_string_bytes(s), *end = begin + tl_string_size(s);
    while (begin < end && strchr(space, *begin) && *begin)
        begin++;
    while (begin < end && strchr(space, end[-1]) && end[-1])
        end--;
    *size = (size_t)(end - begin);
    return begin;
}

// Parses nan, inf or infinity, without a sign. Returns whether it is one.
static int read_special(const char *text, double *value)
{
    if (!strcasecmp(text, "nan"))
        *value = (double)NAN;
    else if (!strcasecmp(text, "inf") || !strcasecmp(text, "infinity"))
        *value = (double)INFINITY;
    else
        return 0;
    return 1;
}

// Whether a text is a decimal number, which strtod parses as ONNX specifies.
static int is_decimal(const char *text)
{
    text += *text == '+' || *text == '-';
    const size_t whole = strspn(text, "0123456789");
    const int has_point = text[whole] == '.';
    const size_t part = has_point ? strspn(text + whole + 1, "0123456789") : 0;
    text += whole + (size_t)has_point + part;
    if (!whole && !part)
        return 0;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+' || *text == '-';
        const size_t digits = strspn(text, "0123456789");
        if (!digits)
            return 0;
        text += digits;
    }
    return !*text;
}

static int read_float(const char *text, void *element, tl_dtype dtype)
{
    double value;
    const int is_signed = *text == '+' || *text == '-';
    if (read_special(text + is_signed, &value))
        value = *text == '-' ? -value : value;
    else if (!is_decimal(text))
        return -1;
    else
        value = strtod(text, NULL);
    if (dtype == TL_FLOAT)
        *(float *)element = isfinite(value) ? strtof(text, NULL) : (float)value;
    else
        cast(element, dtype, value);
    return 0;
}

// Whether the text is an integer: it has digits only, after a sign.
static int is_integer(const char *text)
{
    text += *text == '+' || *text == '-';
    return *text && !text[strspn(text, "0123456789")];
}

// -1: no number; -2: out of the type's range.
static int read_int(const char *text, void *element, tl_dtype dtype)
{
    uint64_t value = 0, back = 0;
    const tl_dtype wide = dtype == TL_UINT64 ? TL_UINT64 : TL_INT64;
    errno = 0;
    if (!is_decimal(text))
        return -1;
    if (!is_integer(text)) {
        const double number = trunc(strtod(text, NULL));
        if (!(number >= tl_dtype_min_double(dtype) && number <= tl_dtype_max_double(dtype)))
            return -2;
        tl_convert(element, dtype, &number, TL_DOUBLE);
        return 0;
    }
    if (wide == TL_UINT64 && *text == '-' && strspn(text + 1, "0") != strlen(text + 1))
        return -2;
    if (wide == TL_UINT64)
        value = strtoull(text + (*text == '-'), NULL, 10);
    else
        value = (uint64_t)strtoll(text, NULL, 10);
    tl_convert(element, dtype, &value, wide);
    tl_convert(&back, wide, element, dtype);
    return errno || back != value ? -2 : 0;
}

static int read_bool(const char *text, void *element)
{
    double value = 0;
    if (!strcasecmp(text, "true") || !strcasecmp(text, "false"))
        value = *text == 't' || *text == 'T';
    else if (read_float(text, &value, TL_DOUBLE))
        return -1;
    *(unsigned char *)element = value != 0;
    return 0;
}

static int fail_text(int i, const char *text, size_t size, tl_dtype dtype, int is_range)
{
    return tl_fail("string %d is \"%.*s\", expected %s %s", i, size < 64 ? (int)size : 64, text,
                   is_range ? "a number in the range of" : "a number for", tl_dtype_name(dtype));
}

static int read_element(const tl_string *s, int i, void *element, tl_dtype dtype)
{
    char text[TEXT_SIZE];
    size_t size;
    const char *const begin = trimmed(s, &size);
    if (size >= sizeof(text) || memchr(begin, 0, size))
        return fail_text(i, begin, size, dtype, 0);
    memcpy(text, begin, size);
    text[size] = '\0';
    const int status = tl_dtype_is_float(dtype) ? read_float(text, element, dtype)
                       : dtype == TL_BOOL       ? read_bool(text, element)
                                                : read_int(text, element, dtype);
    return status ? fail_text(i, begin, size, dtype, status == -2) : 0;
}

static int read_all(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    for (int i = 0; i < src->len && !tl_stop_is_requested(exec ? exec->stop : NULL); i++)
        if (read_element(tl_tensor_string(src, i), i, tl_pointer_add(dst->data, i, dst->dtype),
                         dst->dtype))
            return -1;
    return 0;
}

int tl_exec_cast_strings(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    if (src->dtype == dst->dtype)
        return tl_exec_copy(exec, src, dst);
    const locale_t before = tl_numeric_begin();
    const int status =
        dst->dtype == TL_STRING ? print_all(exec, src, dst) : read_all(exec, src, dst);
    tl_numeric_end(before);
    return status;
}
