// SPDX-License-Identifier: Apache-2.0
// npy: one array in a file, as NumPy saves it.
//
//     "\x93NUMPY", major version, minor version, length of the header (2 bytes in version 1, 4 in
//     version 2, little-endian), header, elements
//
// The header is the text of a Python dictionary with the keys 'descr', 'fortran_order' and 'shape'.
// Source: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_little_endian.h"
#include "base/ln_outtext.h"
#include "base/ln_utf8.h"
#include "data/ln_raw.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

static const char magic[] = "\x93NUMPY";

#define MAGIC_SIZE 6
#define CHAR_SIZE  4  // of a code point
#define ALIGNMENT  64 // of the elements, in files that are written

// NumPy's codes of dtypes, without the byte order. It lacks some: see code_of.
static const char *const codes[TL_DTYPE_SIZE] = {
    [TL_DOUBLE] = "f8", [TL_FLOAT] = "f4",  [TL_INT32] = "i4",  [TL_INT16] = "i2",
    [TL_INT8] = "i1",   [TL_UINT32] = "u4", [TL_UINT16] = "u2", [TL_UINT8] = "u1",
    [TL_BOOL] = "b1",   [TL_INT64] = "i8",  [TL_UINT64] = "u8", [TL_FLOAT16] = "f2",
};

// bfloat16 and smaller floats are written as their bits, integers of fewer than 8 bits as bytes.
static const char *code_of(tl_dtype dtype)
{
    return codes[ln_raw_dtype(dtype)];
}

// Codes of types that NumPy gets from the package ml_dtypes: their bits.
static const struct {
    const char *code;
    tl_dtype dtype;
} more_codes[] = {{"V1", TL_UINT8}, {"f1", TL_UINT8}, {"V2", TL_UINT16}};

// TL_DTYPE_INVALID: unknown.
static tl_dtype dtype_of_code(const char *code)
{
    for (size_t i = 0; i < sizeof(more_codes) / sizeof(more_codes[0]); i++)
        if (!strcmp(more_codes[i].code, code))
            return more_codes[i].dtype;
    for (int dtype = 0; dtype < TL_DTYPE_SIZE; dtype++)
        if (codes[dtype] && !strcmp(codes[dtype], code))
            return (tl_dtype)dtype;
    return TL_DTYPE_INVALID;
}

// The content of the header.
typedef struct header {
    tl_dtype dtype;
    int width;   // of strings: code points
    int swap;    // the bytes of an element are not in the machine's order
    int fortran; // the first axis is the contiguous one
    int ndim;
    int dims[TL_MAXDIM];
    const unsigned char *elements;
    size_t size; // bytes of the elements
} header;

// The dictionary: a cursor over its text; each function consumes one token, or fails

typedef struct cursor {
    const char *at, *end;
    const char *file;
    ln_error *err;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && isspace((unsigned char)*c->at))
        c->at++;
}

// Skips the character if it is next.
static int take(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return 0;
    c->at++;
    return 1;
}

static int expect(cursor *c, char wanted)
{
    if (take(c, wanted))
        return 0;
    if (c->at == c->end)
        return ln_error_set(c->err, "%s: the header ends where '%c' is expected", c->file, wanted);
    return ln_error_set(c->err, "%s: the header has '%c' where '%c' is expected", c->file, *c->at,
                        wanted);
}

static int take_string(cursor *c, char *buf, size_t size)
{
    const char quote = take(c, '"') ? '"' : '\'';
    if (quote == '\'' && expect(c, quote))
        return -1;
    size_t len = 0;
    while (c->at < c->end && *c->at != quote && len + 1 < size)
        buf[len++] = *c->at++;
    buf[len] = '\0';
    return expect(c, quote);
}

static int take_bool(cursor *c, int *value)
{
    static const char *const words[] = {"False", "True"};
    skip_space(c);
    for (int i = 0; i < 2; i++) {
        const size_t len = strlen(words[i]);
        if ((size_t)(c->end - c->at) >= len && !memcmp(c->at, words[i], len)) {
            c->at += len;
            *value = i;
            return 0;
        }
    }
    return ln_error_set(c->err, "%s: 'fortran_order' is neither True nor False", c->file);
}

static int take_dim(cursor *c, int *dim)
{
    int64_t value = 0;
    skip_space(c);
    if (c->at == c->end || !isdigit((unsigned char)*c->at))
        return ln_error_set(c->err, "%s: 'shape' is not a tuple of integers", c->file);
    for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++) {
        value = 10 * value + (*c->at - '0');
        if (value > INT_MAX)
            return ln_error_set(c->err, "%s: 'shape' has a dimension above %d", c->file, INT_MAX);
    }
    take(c, 'L'); // long integers, as Python 2 wrote them
    *dim = (int)value;
    return 0;
}

static int take_shape(cursor *c, header *h)
{
    if (expect(c, '('))
        return -1;
    for (h->ndim = 0; !take(c, ')'); h->ndim++) {
        if (h->ndim == TL_MAXDIM)
            return ln_error_set(c->err, "%s: 'shape' has more than %d dimensions", c->file,
                                TL_MAXDIM);
        if (take_dim(c, &h->dims[h->ndim]))
            return -1;
        if (!take(c, ',')) {
            h->ndim++;
            return expect(c, ')');
        }
    }
    return 0;
}

// Sets the type of a code, such as "f4", or "U" and the width of strings.
static void read_code(const char *code, header *h)
{
    char *end;
    h->dtype = dtype_of_code(code);
    if (*code != 'U')
        return;
    const long width = strtol(code + 1, &end, 10);
    if (end > code + 1 && !*end && width >= 0 && width <= INT_MAX / CHAR_SIZE) {
        h->dtype = TL_STRING;
        h->width = (int)width;
    }
}

// A byte order and a code, such as "<f4".
static int take_descr(cursor *c, header *h)
{
    static const char machine_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    char descr[16];
    skip_space(c);
    if (c->at < c->end && *c->at == '[')
        return ln_error_set(c->err, "%s: 'descr' is a record, expected a type of elements",
                            c->file);
    if (take_string(c, descr, sizeof(descr)))
        return -1;
    const int ordered = *descr && strchr("<>|=", *descr);
    read_code(descr + ordered, h);
    if (!ordered || h->dtype == TL_DTYPE_INVALID)
        return ln_error_set(c->err,
                            "%s: 'descr' is '%s', expected a byte order and one of f2 f4 f8 i1 "
                            "i2 i4 i8 u1 u2 u4 u8 b1, or U and a length",
                            c->file, descr);
    h->swap = (*descr == '<' || *descr == '>') && *descr != machine_order;
    return 0;
}

static int take_pair(cursor *c, header *h, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[16];
    unsigned i = 0;
    if (take_string(c, key, sizeof(key)) || expect(c, ':'))
        return -1;
    while (i < 3 && strcmp(keys[i], key) != 0)
        i++;
    if (i == 3 || *seen & 1u << i)
        return ln_error_set(c->err, "%s: the header has %s key '%s'", c->file,
                            i == 3 ? "the unknown" : "twice the", key);
    *seen |= 1u << i;
    switch (i) {
    case 0:
        return take_descr(c, h);
    case 1:
        return take_bool(c, &h->fortran);
    default:
        return take_shape(c, h);
    }
}

static int take_dictionary(cursor *c, header *h)
{
    unsigned seen = 0;
    if (expect(c, '{'))
        return -1;
    while (!take(c, '}')) {
        if (take_pair(c, h, &seen))
            return -1;
        if (!take(c, ',')) {
            if (expect(c, '}'))
                return -1;
            break;
        }
    }
    skip_space(c);
    if (c->at < c->end)
        return ln_error_set(c->err, "%s: the header has '%c' after its end", c->file, *c->at);
    if (seen != 7)
        return ln_error_set(c->err, "%s: the header lacks 'descr', 'fortran_order' or 'shape'",
                            c->file);
    return 0;
}

// Reading

// The bytes before the header's text, for a file that has the magic number.
static size_t text_at(const unsigned char *p)
{
    return MAGIC_SIZE + (p[MAGIC_SIZE] == 1 ? 4 : 6);
}

// The bytes of the text, as the file states them.
static size_t text_size(const unsigned char *p)
{
    return ln_little_endian_get(p + MAGIC_SIZE + 2, text_at(p) - MAGIC_SIZE - 2);
}

static int parse(const ln_infile *in, const char *file, header *h, ln_error *err)
{
    const unsigned char *p = in->data;
    if (in->size < MAGIC_SIZE + 4 || !ln_npy_is(in))
        return ln_error_set(err, "%s: not an npy file", file);
    if (p[MAGIC_SIZE] != 1 && p[MAGIC_SIZE] != 2)
        return ln_error_set(err, "%s: npy version %d.%d, expected 1 or 2", file, p[MAGIC_SIZE],
                            p[MAGIC_SIZE + 1]);
    const size_t start = text_at(p);
    if (in->size < start)
        return ln_error_set(err, "%s: the file ends in the npy header", file);
    const size_t length = text_size(p);
    if (length > in->size - start)
        return ln_error_set(err, "%s: the header has %zu bytes, the file has %zu after its start",
                            file, length, in->size - start);
    const char *text = (const char *)p + start;
    cursor c = {.at = text, .end = text + length, .file = file, .err = err};
    h->elements = p + start + length;
    h->size = in->size - start - length;
    return take_dictionary(&c, h);
}

static uint32_t char_at(const header *h, size_t i)
{
    const unsigned char *const p = h->elements + i * CHAR_SIZE;
    uint32_t c;
    memcpy(&c, p, CHAR_SIZE);
    return h->swap ? __builtin_bswap32(c) : c;
}

// Writes string `i`, without zeros at its end, to `to` (NULL: only counts). *size: its bytes. -1:
// an invalid code point.
static int read_string(const header *h, size_t i, char *to, size_t *size)
{
    size_t len = (size_t)h->width;
    *size = 0;
    while (len && !char_at(h, i * (size_t)h->width + len - 1))
        len--;
    for (size_t k = 0; k < len; k++) {
        char bytes[4];
        const size_t n = ln_utf8_put(bytes, char_at(h, i * (size_t)h->width + k));
        if (!n)
            return -1;
        if (to)
            memcpy(to + *size, bytes, n);
        *size += n;
    }
    return 0;
}

static const tl_string **read_strings(const header *h, size_t len, const char *file, ln_error *err)
{
    size_t *const sizes = ln_alloc_array(len + 1, sizeof(*sizes));
    int status = sizes ? 0 : ln_error_memory_at(err, file);
    for (size_t i = 0; !status && i < len; i++)
        if (read_string(h, i, NULL, &sizes[i]))
            status = ln_error_set(err, "%s: string %zu has an invalid code point", file, i);
    const tl_string **const block = status ? NULL : tl_strings_block(sizes, len);
    if (!status && !block)
        ln_error_memory_at(err, file);
    for (size_t i = 0; block && i < len; i++)
        if (sizes[i])
            read_string(h, i, (char *)tl_string_bytes(block[i]), &sizes[i]);
    ln_free(sizes);
    return block;
}

static int check_text_size(const header *h, const char *file, ln_error *err)
{
    char shape[TL_SHAPE_TEXT_SIZE];
    const size_t string_size = (size_t)h->width * CHAR_SIZE;
    const int len = tl_compute_length(h->ndim, h->dims);
    size_t expected;
    if (len < 0 || tl_size_mul((size_t)len, string_size, &expected))
        return ln_error_set(err, "%s: %s", file, tl_last_error());
    if (h->size != expected)
        return ln_error_set(
            err, "%s: %zu bytes of data, expected %d strings of %zu bytes for shape %s", file,
            h->size, len, string_size, tl_shape_text(shape, h->ndim, h->dims));
    return 0;
}

static tl_tensor *create_strings(const header *h, const int *dims, const char *file, ln_error *err)
{
    tl_tensor *const t = tl_tensor_create(NULL, h->ndim, dims, TL_STRING);
    if (!t)
        return ln_error_set(err, "%s: %s", file, tl_last_error()), NULL;
    t->data = read_strings(h, (size_t)t->len, file, err);
    if (t->data)
        return t;
    tl_tensor_free(t);
    return NULL;
}

// The array in the order of its elements in the file, with these dims.
static tl_tensor *read_elements(const header *h, const int *dims, const char *file, ln_error *err)
{
    return h->dtype == TL_STRING
               ? create_strings(h, dims, file, err)
               : ln_raw_copy(h->elements, h->dtype, h->ndim, dims, h->swap, file, err);
}

// In Fortran order the bytes are those of the transposed array in C order.
static tl_tensor *read_fortran(const header *h, const char *file, ln_error *err)
{
    int dims[TL_MAXDIM], axes[TL_MAXDIM];
    for (int i = 0; i < h->ndim; i++) {
        axes[i] = h->ndim - 1 - i;
        dims[i] = h->dims[axes[i]];
    }
    tl_tensor *const transposed = read_elements(h, dims, file, err);
    tl_tensor *const moved = transposed ? tl_tensor_transpose(transposed, NULL, axes) : NULL;
    // Until they are cloned, the strings belong to the array that was read.
    tl_tensor *const t = moved && h->dtype == TL_STRING ? tl_tensor_clone(moved) : moved;
    if (transposed && !t)
        ln_error_set(err, "%s: %s", file, tl_last_error());
    if (t != moved)
        tl_tensor_free_data_too(moved);
    tl_tensor_free_data_too(transposed);
    return t;
}

int ln_npy_is(const ln_infile *in)
{
    return in->size >= MAGIC_SIZE && !memcmp(in->data, magic, MAGIC_SIZE);
}

int ln_npy_check(const void *head, size_t head_size, size_t size, const char *where,
                 const tl_tensor *like, ln_error *err)
{
    header h = {0};
    const size_t start = head_size < MAGIC_SIZE + 6 ? 0 : text_at(head) + text_size(head);
    if (start > head_size && head_size < size)
        return ln_error_set(err, "%s: the header has %zu bytes, expected at most %zu", where, start,
                            head_size);
    if (parse(&(ln_infile){.data = head, .size = size}, where, &h, err) ||
        (like && tl_compute_length(h.ndim, h.dims) >= 0 &&
         ln_raw_check_shape(where, h.ndim, h.dims, like, err)))
        return -1; // the checks below reject dims whose product overflows
    return h.dtype == TL_STRING ? check_text_size(&h, where, err)
                                : ln_raw_check_size(h.size, h.dtype, h.ndim, h.dims, where, err);
}

tl_tensor *ln_npy_from_file(const ln_infile *in, const char *file, ln_error *err)
{
    header h = {0};
    if (parse(in, file, &h, err))
        return NULL;
    if (h.dtype == TL_STRING ? check_text_size(&h, file, err)
                             : ln_raw_check(h.elements, h.size, h.dtype, h.ndim, h.dims, file, err))
        return NULL;
    return h.fortran && h.ndim > 1 && h.size ? read_fortran(&h, file, err)
                                             : read_elements(&h, h.dims, file, err);
}

tl_tensor *ln_npy_read(const char *file, ln_error *err)
{
    ln_infile in;
    if (ln_infile_open_whole(&in, file, err))
        return NULL;
    tl_tensor *tensor = ln_npy_from_file(&in, file, err);
    ln_infile_close(&in);
    return tensor;
}

// Writing

// "(2, 3)", "(2,)" or "()".
static void print_shape(char *buf, size_t size, const tl_tensor *t)
{
    size_t len = (size_t)snprintf(buf, size, "(");
    for (int i = 0; i < t->ndim; i++)
        len += (size_t)snprintf(buf + len, size - len, "%s%d", i ? ", " : "", t->dims[i]);
    snprintf(buf + len, size - len, t->ndim == 1 ? ",)" : ")");
}

// Writes the code points of a string (`to` NULL: only counts). Returns their number.
static size_t put_chars(uint32_t *to, const tl_string *s)
{
    const unsigned char *const bytes = (const unsigned char *)tl_string_bytes(s);
    size_t len = 0;
    for (size_t i = 0, n; i < tl_string_size(s); i += n, len++) {
        const uint32_t c = ln_utf8_get(bytes + i, tl_string_size(s) - i, &n);
        if (to)
            to[len] = c;
    }
    return len;
}

int ln_npy_begin(ln_npy_array *array, const tl_tensor *t, ln_error *err)
{
    size_t width = 1, size;
    *array = (ln_npy_array){.data = t->data, .size = tl_tensor_size(t)};
    for (int i = 0; t->dtype == TL_STRING && i < t->len; i++) {
        const tl_string *const s = tl_tensor_string(t, i);
        const size_t n = put_chars(NULL, s);
        width = n > width ? n : width;
        if (tl_string_size(s) && !tl_string_bytes(s)[tl_string_size(s) - 1])
            return ln_error_set(err, "string %d ends with the character 0, which npy drops", i);
    }
    if (t->dtype != TL_STRING)
        return 0;
    if (width > INT_MAX / CHAR_SIZE || ln_size_mul(width * CHAR_SIZE, (size_t)t->len, &size))
        return ln_error_set(err, "a string of %zu characters is too long for npy", width);
    uint32_t *const chars = ln_alloc(size); // zeros
    if (!chars)
        return ln_error_memory(err);
    for (int i = 0; i < t->len; i++)
        put_chars(chars + (size_t)i * width, tl_tensor_string(t, i));
    *array = (ln_npy_array){chars, size, (int)width, chars};
    return 0;
}

void ln_npy_end(ln_npy_array *array)
{
    ln_free(array->own);
}

// NumPy's name of the type.
static void print_type(char buf[16], const tl_tensor *t, const ln_npy_array *array)
{
    if (t->dtype == TL_STRING)
        snprintf(buf, 16, "U%d", array->width);
    else
        snprintf(buf, 16, "%s", code_of(t->dtype));
}

size_t ln_npy_header(unsigned char buf[LN_NPY_HEADER_SIZE], const tl_tensor *t,
                     const ln_npy_array *array)
{
    char type[16];
    char shape[TL_SHAPE_TEXT_SIZE + 1], text[LN_NPY_HEADER_SIZE - ALIGNMENT];
    const char order = tl_size_of(t->dtype) == 1                   ? '|'
                       : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<'
                                                                   : '>';
    print_shape(shape, sizeof(shape), t);
    print_type(type, t, array);
    const int len =
        snprintf(text, sizeof(text), "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }",
                 order, type, shape);
    const int unpadded = MAGIC_SIZE + 4 + len + 1;
    const int padding = (ALIGNMENT - unpadded % ALIGNMENT) % ALIGNMENT;
    const int header_size = len + padding + 1;
    const unsigned char fields[] = {1, 0, (unsigned char)(header_size & 0xff),
                                    (unsigned char)(header_size >> 8)};
    memcpy(buf, magic, MAGIC_SIZE);
    memcpy(buf + MAGIC_SIZE, fields, sizeof(fields));
    char *const rest = (char *)buf + MAGIC_SIZE + sizeof(fields);
    memcpy(rest, text, (size_t)len);
    memset(rest + len, ' ', (size_t)padding);
    rest[len + padding] = '\n';
    return (size_t)unpadded + (size_t)padding;
}

static int write_npy(FILE *stream, const void *arg, ln_error *err)
{
    const tl_tensor *t = arg;
    unsigned char bytes[LN_NPY_HEADER_SIZE];
    ln_npy_array array;
    if (ln_npy_begin(&array, t, err))
        return -1;
    fwrite(bytes, 1, ln_npy_header(bytes, t, &array), stream);
    fwrite(array.data, 1, array.size, stream);
    ln_npy_end(&array);
    return 0;
}

int ln_npy_write(const char *file, const tl_tensor *t, ln_error *err)
{
    return ln_outfile_write_result(file, write_npy, t, err);
}
