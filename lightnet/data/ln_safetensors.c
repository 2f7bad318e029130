// SPDX-License-Identifier: Apache-2.0
// safetensors: reads the header; data is read on demand.
//
//     length of the header (8 bytes, little-endian), header (JSON), data
//
// The header maps each name to "dtype", "shape" and "data_offsets" [begin, end) in the data;
// "__metadata__" maps strings to strings. Sorted by offset, the tensors must follow each other from
// the data's first byte to its last.

#include "data/ln_safetensors.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_json_load.h"
#include "base/ln_little_endian.h"
#include "data/ln_json.h"
#include "data/ln_packed_strings.h"
#include "data/ln_raw.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

static const char *const names_of_dtypes[TL_DTYPE_SIZE] = {
    [TL_DOUBLE] = "F64",
    [TL_FLOAT] = "F32",
    [TL_INT32] = "I32",
    [TL_INT16] = "I16",
    [TL_INT8] = "I8",
    [TL_UINT32] = "U32",
    [TL_UINT16] = "U16",
    [TL_UINT8] = "U8",
    [TL_BOOL] = "BOOL",
    [TL_INT64] = "I64",
    [TL_UINT64] = "U64",
    [TL_FLOAT16] = "F16",
    [TL_BFLOAT16] = "BF16",
    [TL_FLOAT8E4M3FN] = "F8_E4M3",
    [TL_FLOAT8E4M3FNUZ] = "F8_E4M3FNUZ",
    [TL_FLOAT8E5M2] = "F8_E5M2",
    [TL_FLOAT8E5M2FNUZ] = "F8_E5M2FNUZ",
    [TL_FLOAT8E8M0] = "F8_E8M0",
    [TL_FLOAT4E2M1] = "F4",
};

// The names, for messages.
static const char known_names[] =
    "F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL F8_E4M3 F8_E5M2 F8_E8M0 F8_E4M3FNUZ "
    "F8_E5M2FNUZ F4";

tl_dtype ln_safetensors_dtype(const tl_tensor *t)
{
    const int has_type = names_of_dtypes[t->dtype] && (t->dtype != TL_FLOAT4E2M1 || !(t->len % 2));
    return has_type ? t->dtype : t->dtype == TL_STRING ? TL_UINT8 : ln_raw_dtype(t->dtype);
}

const char *ln_safetensors_dtype_name(tl_dtype dtype)
{
    return names_of_dtypes[dtype];
}

size_t ln_safetensors_size(const tl_tensor *t)
{
    if (t->dtype == TL_STRING)
        return ln_packed_strings_size(t);
    return ln_safetensors_dtype(t) == TL_FLOAT4E2M1 ? tl_packed_size(t->dtype, (size_t)t->len)
                                                    : tl_tensor_size(t);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the data is little-endian and used in place");

#define LENGTH_SIZE 8
#define METADATA    "__metadata__"

struct ln_safetensors {
    ln_infile file;
    size_t data_begin, data_size;
    json_t *header;
    ln_bundle bundle;
};

// The bytes of one tensor.
typedef struct range {
    const char *name;
    size_t begin, end;
} range;

// Reads and parses the header.
static int load_header(ln_safetensors *st, size_t length, const char *file, ln_error *err)
{
    char *text = ln_alloc(length);
    if (!text)
        return ln_error_memory_at(err, file);
    if (ln_infile_read(&st->file, LENGTH_SIZE, text, length, err)) {
        ln_free(text);
        return ln_error_prefix(err, "%s", file);
    }
    st->header = ln_json_load(text, length, JSON_REJECT_DUPLICATES, file, "header", err);
    ln_free(text);
    return st->header ? 0 : -1;
}

static int parse_header(ln_safetensors *st, const char *file, ln_error *err)
{
    if (!ln_safetensors_is(&st->file))
        return ln_error_set(err, "%s: not a safetensors file", file);
    size_t size;
    const size_t room = st->file.size - LENGTH_SIZE;
    const size_t length = ln_little_endian_get(ln_infile_head(&st->file, &size), LENGTH_SIZE);
    if (length > room)
        return ln_error_set(err, "%s: the header has %zu bytes, the file has %zu after its start",
                            file, length, room);
    if (load_header(st, length, file, err))
        return -1;
    st->data_begin = LENGTH_SIZE + length;
    st->data_size = room - length;
    return 0;
}

static int check_metadata(const ln_safetensors *st, const char *file, ln_error *err)
{
    const json_t *metadata = json_object_get(st->header, METADATA);
    const char *key;
    json_t *value;
    if (metadata && !json_is_object(metadata))
        return ln_error_set(err, "%s: '%s' is %s, expected an object", file, METADATA,
                            ln_json_describe(metadata));
    json_object_foreach ((json_t *)metadata, key, value)
        if (!json_is_string(value))
            return ln_error_set(err, "%s: metadata '%s' is %s, expected a string", file, key,
                                ln_json_describe(value));
    return 0;
}

static int get_dtype(const json_t *json, tl_dtype *dtype, const char *where, ln_error *err)
{
    const char *str = json_string_value(json_object_get(json, "dtype"));
    if (!str)
        return ln_error_set(err, "%s: 'dtype' is missing or not a string", where);
    for (int i = 0; i < TL_DTYPE_SIZE; i++) {
        *dtype = (tl_dtype)i;
        if (names_of_dtypes[i] && !strcmp(names_of_dtypes[i], str))
            return 0;
    }
    return ln_error_set(err, "%s: 'dtype' is '%s', expected one of %s", where, str, known_names);
}

static int get_shape(const json_t *shape, int *ndim, int *dims, const char *where, ln_error *err)
{
    const size_t len = json_array_size(shape);
    if (!json_is_array(shape))
        return ln_error_set(err, "%s: 'shape' is missing or not an array", where);
    if (len > TL_MAXDIM)
        return ln_error_set(err, "%s: 'shape' has %zu dimensions, expected at most %d", where, len,
                            TL_MAXDIM);
    for (size_t i = 0; i < len; i++) {
        const json_t *dim = json_array_get(shape, i);
        if (!json_is_integer(dim) || json_integer_value(dim) < 0 ||
            json_integer_value(dim) > INT_MAX)
            return ln_error_set(err, "%s: dimension %zu is not an integer from 0 to %d", where, i,
                                INT_MAX);
        dims[i] = (int)json_integer_value(dim);
    }
    *ndim = (int)len;
    return 0;
}

static int get_range(const ln_safetensors *st, const json_t *json, range *r, const char *where,
                     ln_error *err)
{
    const json_t *offsets = json_object_get(json, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return ln_error_set(err, "%s: 'data_offsets' is missing or not an array of two integers",
                            where);
    const json_int_t b = json_integer_value(begin), e = json_integer_value(end);
    if (b < 0 || e < b || (uint64_t)e > st->data_size)
        return ln_error_set(err,
                            "%s: 'data_offsets' is [%" JSON_INTEGER_FORMAT ", %" JSON_INTEGER_FORMAT
                            "], expected a range in %zu bytes of data",
                            where, b, e, st->data_size);
    r->begin = (size_t)b;
    r->end = (size_t)e;
    return 0;
}

// Reads and unpacks elements of 4 bits, two in a byte. -1 with a reason, such as another size.
static int read_packed(const ln_safetensors *st, size_t offset, size_t size, tl_tensor *t,
                       const char *where, ln_error *err)
{
    char shape[TL_SHAPE_TEXT_SIZE];
    if (t->len % 2 || size != tl_packed_size(t->dtype, (size_t)t->len))
        return ln_error_set(err, "%s: %zu bytes of data, expected half the elements of %s %s",
                            where, size, tl_dtype_name(t->dtype),
                            tl_shape_text(shape, t->ndim, t->dims));
    unsigned char *packed = ln_alloc(size);
    t->data = ln_alloc(tl_tensor_size(t));
    int status = packed && t->data ? ln_infile_read(&st->file, offset, packed, size, err)
                                   : ln_error_memory(err);
    if (!status)
        tl_unpack(t->data, packed, t->dtype, (size_t)t->len);
    ln_free(packed);
    return status ? ln_error_prefix(err, "%s", where) : 0;
}

static int add_tensor(ln_safetensors *st, const char *name, const json_t *json, range *r,
                      const char *where, ln_error *err)
{
    tl_dtype dtype;
    int ndim = 0, dims[TL_MAXDIM];
    if (!json_is_object(json))
        return ln_error_set(err, "%s: is %s, expected an object", where, ln_json_describe(json));
    if (get_dtype(json, &dtype, where, err) ||
        get_shape(json_object_get(json, "shape"), &ndim, dims, where, err) ||
        get_range(st, json, r, where, err))
        return -1;
    const size_t offset = st->data_begin + r->begin, size = r->end - r->begin;
    const int is_packed = tl_dtype_bits(dtype) < 8;
    if (!is_packed && ln_raw_check_in(&st->file, offset, size, dtype, ndim, dims, where, err))
        return -1;
    r->name = name;
    tl_tensor *tensor = tl_tensor_create(NULL, ndim, dims, dtype);
    if (!tensor)
        return ln_error_set(err, "%s: %s", where, tl_last_error());
    int status = is_packed ? read_packed(st, offset, size, tensor, where, err) : 0;
    if (!status && ln_bundle_add(&st->bundle, name, tensor, offset))
        status = ln_error_set_last(err), ln_error_prefix(err, "%s", where);
    if (status)
        tl_tensor_free_data_too(tensor);
    return status;
}

static int add_tensors(ln_safetensors *st, range *ranges, const char *file, ln_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach (st->header, name, value) {
        char where[LN_MAXLINE];
        snprintf(where, sizeof(where), "%s: tensor '%.*s'", file, LN_MAX_NAME_LEN, name);
        if (strcmp(name, METADATA) != 0 &&
            add_tensor(st, name, value, &ranges[st->bundle.len], where, err))
            return -1;
    }
    return 0;
}

// Replaces the packed bytes of a tensor by its strings.
static int unpack_strings(ln_safetensors *st, const char *name, const json_t *shape,
                          const char *where, ln_error *err)
{
    int ndim = 0, dims[TL_MAXDIM];
    ln_bundle_entry *const entry = (ln_bundle_entry *)ln_bundle_entry_of(&st->bundle, name);
    if (get_shape(shape, &ndim, dims, where, err))
        return -1;
    if (!entry || entry->tensor->dtype != TL_UINT8)
        return ln_error_set(err, "%s: is not in the file as U8, expected packed strings", where);
    tl_tensor *const strings = tl_tensor_create(NULL, ndim, dims, TL_STRING);
    if (!strings)
        return ln_error_set(err, "%s: %s", where, tl_last_error());
    const tl_tensor *const bytes = ln_bundle_read(&st->bundle, name, err);
    if (bytes)
        strings->data =
            ln_packed_strings_read(bytes->data, (size_t)bytes->len, (size_t)strings->len, err);
    if (!strings->data) {
        tl_tensor_free(strings);
        return ln_error_prefix(err, "%s", where);
    }
    tl_tensor_free_data_too(entry->tensor);
    entry->tensor = strings;
    return 0;
}

static int unpack_all_strings(ln_safetensors *st, const char *file, ln_error *err)
{
    const char *const text = ln_safetensors_metadata(st, LN_SAFETENSORS_STRINGS), *name;
    json_t *shape;
    int status = 0;
    if (!text)
        return 0;
    json_t *const all =
        ln_json_load(text, strlen(text), JSON_REJECT_DUPLICATES, file, LN_SAFETENSORS_STRINGS, err);
    if (!all)
        return -1;
    json_object_foreach (all, name, shape) {
        char where[LN_MAXLINE];
        snprintf(where, sizeof(where), "%s: tensor '%.*s'", file, LN_MAX_NAME_LEN, name);
        if (!status)
            status = unpack_strings(st, name, shape, where, err);
    }
    json_decref(all);
    return status;
}

static int compare_ranges(const void *a, const void *b)
{
    const range *r = a, *s = b;
    if (r->begin != s->begin)
        return r->begin < s->begin ? -1 : 1;
    return (r->end > s->end) - (r->end < s->end);
}

static int check_ranges(const ln_safetensors *st, range *ranges, const char *file, ln_error *err)
{
    size_t end = 0;
    qsort(ranges, (size_t)st->bundle.len, sizeof(*ranges), compare_ranges);
    for (int i = 0; i < st->bundle.len; i++) {
        if (ranges[i].begin != end)
            return ln_error_set(err, "%s: tensor '%s' begins at %zu, expected %zu: %s", file,
                                ranges[i].name, ranges[i].begin, end,
                                ranges[i].begin < end ? "tensors overlap" : "there is a hole");
        end = ranges[i].end;
    }
    if (end != st->data_size)
        return ln_error_set(err, "%s: %zu bytes of data, the tensors have %zu", file, st->data_size,
                            end);
    return 0;
}

static int parse_tensors(ln_safetensors *st, const char *file, ln_error *err)
{
    range *ranges = ln_alloc_array(json_object_size(st->header) + 1, sizeof(*ranges));
    if (!ranges)
        return ln_error_memory_at(err, file);
    const int rc = add_tensors(st, ranges, file, err) || check_ranges(st, ranges, file, err);
    ln_free(ranges);
    return rc ? -1 : 0;
}

int ln_safetensors_is(const ln_infile *in)
{
    size_t size;
    const unsigned char *head = ln_infile_head(in, &size);
    return size > LENGTH_SIZE && head[LENGTH_SIZE] == '{';
}

ln_safetensors *ln_safetensors_from_file(ln_infile *in, const char *file, ln_error *err)
{
    ln_safetensors *st = ln_alloc(sizeof(*st));
    if (!st) {
        ln_infile_close(in);
        return ln_error_memory_at(err, file), NULL;
    }
    st->file = *in;
    st->bundle.shaped = 1;
    st->bundle.file = &st->file;
    *in = (ln_infile){0};
    if (parse_header(st, file, err) || check_metadata(st, file, err) ||
        parse_tensors(st, file, err) || unpack_all_strings(st, file, err)) {
        ln_safetensors_close(st);
        return NULL;
    }
    return st;
}

const ln_bundle *ln_safetensors_bundle(const ln_safetensors *st)
{
    return &st->bundle;
}

ln_safetensors *ln_safetensors_open(const char *file, ln_error *err)
{
    ln_infile in;
    if (ln_infile_open(&in, file, err))
        return NULL;
    return ln_safetensors_from_file(&in, file, err);
}

void ln_safetensors_close(ln_safetensors *st)
{
    if (!st)
        return;
    ln_bundle_clear(&st->bundle);
    json_decref(st->header);
    ln_infile_close(&st->file);
    ln_free(st);
}

int ln_safetensors_count(const ln_safetensors *st)
{
    return st->bundle.len;
}

const char *ln_safetensors_name(const ln_safetensors *st, int i)
{
    return st->bundle.entries[i].name;
}

const tl_tensor *ln_safetensors_find(const ln_safetensors *st, const char *name)
{
    return ln_bundle_read(&st->bundle, name, NULL);
}

const char *ln_safetensors_metadata(const ln_safetensors *st, const char *key)
{
    return json_string_value(json_object_get(json_object_get(st->header, METADATA), key));
}
