// SPDX-License-Identifier: Apache-2.0
// wts: writing, also from texts of numbers.

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/ln_error_memory.h"
#include "base/ln_little_endian.h"
#include "base/ln_number.h"
#include "data/ln_bundle.h"
#include "data/ln_wts.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_outfile.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

// Writing

// The content of a file.
typedef struct content {
    int n;
    const char *const *names;
    const tl_tensor *const *tensors;
} content;

// -1: the format has no such type.
static int type_of(tl_dtype dtype)
{
    for (int type = 0; type < LN_WTS_NUM_TYPES; type++)
        if (ln_wts_types[type].dtype == dtype)
            return type;
    return -1;
}

static uint32_t bits_of(const tl_tensor *t, int i)
{
    const size_t size = tl_size_of(t->dtype);
    return (uint32_t)ln_little_endian_get((const unsigned char *)t->data + (size_t)i * size, size);
}

static int write_wts(FILE *stream, const void *arg, ln_error *err)
{
    const content *c = arg;
    (void)err;
    fprintf(stream, "%d\n", c->n);
    for (int k = 0; k < c->n; k++) {
        const tl_tensor *const t = c->tensors[k];
        const int type = type_of(t->dtype);
        fprintf(stream, "%s %d %d", c->names[k], type, t->len);
        for (int i = 0; i < t->len; i++)
            fprintf(stream, " %0*" PRIx32, ln_wts_types[type].digits, bits_of(t, i));
        fputc('\n', stream);
    }
    return 0;
}

static int check_array(const char *name, const tl_tensor *t, ln_hash *seen, const char *file,
                       ln_error *err)
{
    const size_t len = ln_wts_identifier(name, strlen(name));
    if (!len || name[len] || len >= LN_MAX_NAME_LEN)
        return ln_error_set(err, "%s: array '%s' is not named by a C identifier", file, name);
    if (type_of(t->dtype) < 0)
        return ln_error_set(err, "%s: array '%s' is %s, expected TL_FLOAT, TL_FLOAT16 or TL_INT8",
                            file, name, tl_dtype_name(t->dtype));
    const int added = ln_hash_insert(seen, name, NULL);
    if (added < 0)
        return ln_error_memory_at(err, file);
    return added ? 0 : ln_error_set(err, "%s: two arrays are named '%s'", file, name);
}

int ln_wts_write(const char *file, int n, const char *const *names, const tl_tensor *const *tensors,
                 ln_error *err)
{
    const content c = {.n = n, .names = names, .tensors = tensors};
    ln_hash *seen = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!seen)
        return ln_error_memory_at(err, file);
    int rc = 0;
    for (int i = 0; !rc && i < n; i++)
        rc = check_array(names[i], tensors[i], seen, file, err);
    ln_hash_free(seen);
    return rc ? -1 : ln_outfile_write(file, write_wts, &c, err);
}

// Texts of numbers

// A text being read.
typedef struct text {
    const char *file;
    const char *at;
    int line;
    ln_error *err;
} text;

static int begins_number(const char *p)
{
    if (*p == '+' || *p == '-')
        p++;
    if (*p == '.')
        p++;
    else if (!strncasecmp(p, "nan", 3) || !strncasecmp(p, "inf", 3))
        return 1;
    return isdigit((unsigned char)*p);
}

// Skips separators of numbers. -1: something else follows.
static int skip_separators(text *t)
{
    while (*t->at && !begins_number(t->at)) {
        const unsigned char ch = (unsigned char)*t->at;
        if (!isspace(ch) && !ispunct(ch))
            return ln_error_set(t->err, "%s:%d: '%c' is neither a number nor a separator", t->file,
                                t->line, ch);
        t->line += ch == '\n';
        t->at++;
    }
    return 0;
}

static int take_number(text *t, double *number)
{
    char *end;
    *number = ln_number_read(t->at, &end);
    if (isalpha((unsigned char)*end) || memchr(t->at, 'x', (size_t)(end - t->at)) ||
        memchr(t->at, 'X', (size_t)(end - t->at)))
        return ln_error_set(t->err, "%s:%d: '%.*s' is not a decimal number", t->file, t->line,
                            (int)(end - t->at) + 1, t->at);
    t->at = end;
    return 0;
}

// Keeps infinities, which tl_convert would saturate to the max finite number.
static void put_number(const tl_tensor *tensor, int i, double number)
{
    void *element = tl_pointer_add(tensor->data, i, tensor->dtype);
    if (isinf(number) && tensor->dtype == TL_FLOAT)
        *(float *)element = (float)number;
    else if (isinf(number))
        *(uint16_t *)element = number > 0 ? 0x7c00 : 0xfc00;
    else
        tl_convert(element, tensor->dtype, &number, TL_DOUBLE);
}

// Reads all numbers; puts them into the tensor unless it is NULL. Returns how many, or -1.
static int read_numbers(text t, tl_dtype dtype, const tl_tensor *tensor)
{
    int n = 0;
    for (;;) {
        double number;
        if (skip_separators(&t))
            return -1;
        if (!*t.at)
            return n;
        if (take_number(&t, &number))
            return -1;
        const int fits = dtype == TL_INT8
                             ? number >= INT8_MIN && number <= INT8_MAX && number == floor(number)
                             : !isfinite(number) || fabs(number) <= tl_dtype_max_double(dtype);
        if (!fits)
            return ln_error_set(t.err, "%s:%d: %.17g does not fit %s", t.file, t.line, number,
                                tl_dtype_name(dtype));
        if (n == INT32_MAX)
            return ln_error_set(t.err, "%s: more than %d numbers", t.file, INT32_MAX);
        if (tensor)
            put_number(tensor, n, number);
        n++;
    }
}

static tl_tensor *parse_text(const text *t, tl_dtype dtype)
{
    const int n = read_numbers(*t, dtype, NULL);
    if (n < 0)
        return NULL;
    tl_tensor *tensor = tl_tensor_zeros(1, &n, dtype);
    if (!tensor)
        return ln_error_set(t->err, "%s: %s", t->file, tl_last_error()), NULL;
    read_numbers(*t, dtype, tensor);
    return tensor;
}

// Returns new (tl_tensor_free_data_too); NULL with a reason.
static tl_tensor *read_text(const char *file, tl_dtype dtype, ln_error *err)
{
    char *numbers = ln_read_text(file);
    if (!numbers)
        return ln_error_set_last(err), NULL;
    const text t = {.file = file, .at = numbers, .line = 1, .err = err};
    tl_tensor *tensor = parse_text(&t, dtype);
    ln_free(numbers);
    return tensor;
}

static int name_of(const char *file, char *name, ln_error *err)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    const size_t len = ln_wts_identifier(base, strlen(base));
    if (!len || len >= LN_MAX_NAME_LEN)
        return ln_error_set(err,
                            "%s: the file's name does not begin with a C identifier of at "
                            "most %d characters, which would name the array",
                            file, LN_MAX_NAME_LEN - 1);
    memcpy(name, base, len);
    name[len] = '\0';
    return 0;
}

static int add_text(ln_bundle *bundle, const char *file, tl_dtype dtype, ln_error *err)
{
    char name[LN_MAX_NAME_LEN];
    if (name_of(file, name, err))
        return -1;
    tl_tensor *tensor = read_text(file, dtype, err);
    if (!tensor)
        return -1;
    if (ln_bundle_add(bundle, name, tensor, 0)) {
        tl_tensor_free_data_too(tensor);
        return ln_error_set_last(err), ln_error_prefix(err, "%s: array '%s'", file, name);
    }
    return 0;
}

static int write_bundle(const char *file, const ln_bundle *bundle, ln_error *err)
{
    const size_t n = (size_t)bundle->len;
    const char **names = ln_alloc_array(n, sizeof(const char *));
    const tl_tensor **tensors = ln_alloc_array(n, sizeof(const tl_tensor *));
    const int has_memory = names && tensors;
    for (size_t i = 0; has_memory && i < n; i++) {
        names[i] = bundle->entries[i].name;
        tensors[i] = bundle->entries[i].tensor;
    }
    const int rc = has_memory ? ln_wts_write(file, bundle->len, names, tensors, err)
                              : ln_error_memory_at(err, file);
    ln_free(names);
    ln_free(tensors);
    return rc;
}

int ln_wts_write_from_texts(const char *file, tl_dtype dtype, int n, const char *const *texts,
                            ln_error *err)
{
    ln_bundle bundle = {0};
    if (type_of(dtype) < 0)
        return ln_error_set(err,
                            "%s: no wts type for dtype %d, expected TL_FLOAT, TL_FLOAT16 or "
                            "TL_INT8",
                            file, (int)dtype);
    int rc = 0;
    for (int i = 0; !rc && i < n; i++)
        rc = add_text(&bundle, texts[i], dtype, err);
    if (!rc)
        rc = write_bundle(file, &bundle, err);
    ln_bundle_clear(&bundle);
    return rc;
}
