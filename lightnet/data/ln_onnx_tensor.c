// SPDX-License-Identifier: Apache-2.0
// ONNX tensors (TensorProto) as tl_tensors.

#include "data/ln_onnx_tensor.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_protobuf.h"
#include "data/ln_onnx_lean.h"
#include "data/ln_packed_strings.h"
#include "data/ln_raw.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

// A row for each TensorProto.DataType, with the typed field of its elements, such as float_data.
typedef enum typed { NO_FIELD, FLOATS, DOUBLES, INT32S, INT64S, UINT64S, STRINGS } typed;

static const struct {
    const char *name;
    tl_dtype dtype;
    typed field;
} types[] = {
    [0] = {"UNDEFINED", TL_DTYPE_INVALID, NO_FIELD},
    [1] = {"FLOAT", TL_FLOAT, FLOATS},
    [2] = {"UINT8", TL_UINT8, INT32S},
    [3] = {"INT8", TL_INT8, INT32S},
    [4] = {"UINT16", TL_UINT16, INT32S},
    [5] = {"INT16", TL_INT16, INT32S},
    [6] = {"INT32", TL_INT32, INT32S},
    [7] = {"INT64", TL_INT64, INT64S},
    [8] = {"STRING", TL_STRING, STRINGS},
    [9] = {"BOOL", TL_BOOL, INT32S},
    [10] = {"FLOAT16", TL_FLOAT16, INT32S},
    [11] = {"DOUBLE", TL_DOUBLE, DOUBLES},
    [12] = {"UINT32", TL_UINT32, UINT64S},
    [13] = {"UINT64", TL_UINT64, UINT64S},
    [14] = {"COMPLEX64", TL_DTYPE_INVALID, NO_FIELD},
    [15] = {"COMPLEX128", TL_DTYPE_INVALID, NO_FIELD},
    [16] = {"BFLOAT16", TL_BFLOAT16, INT32S},
    [17] = {"FLOAT8E4M3FN", TL_FLOAT8E4M3FN, INT32S},
    [18] = {"FLOAT8E4M3FNUZ", TL_FLOAT8E4M3FNUZ, INT32S},
    [19] = {"FLOAT8E5M2", TL_FLOAT8E5M2, INT32S},
    [20] = {"FLOAT8E5M2FNUZ", TL_FLOAT8E5M2FNUZ, INT32S},
    [21] = {"UINT4", TL_UINT4, INT32S},
    [22] = {"INT4", TL_INT4, INT32S},
    [23] = {"FLOAT4E2M1", TL_FLOAT4E2M1, INT32S},
    [24] = {"FLOAT8E8M0", TL_FLOAT8E8M0, INT32S},
    [25] = {"UINT2", TL_UINT2, INT32S},
    [26] = {"INT2", TL_INT2, INT32S},
};

enum { N_TYPES = sizeof(types) / sizeof(types[0]) };

tl_dtype ln_onnx_dtype(int data_type)
{
    return data_type >= 0 && data_type < N_TYPES ? types[data_type].dtype : TL_DTYPE_INVALID;
}

const char *ln_onnx_dtype_name(int data_type, char buf[32])
{
    if (data_type >= 0 && data_type < N_TYPES)
        return types[data_type].name;
    snprintf(buf, 32, "type %d", data_type);
    return buf;
}

// Data as bytes: raw_data, or in a file

typedef struct span {
    const unsigned char *data; // in the message, which is freed before the tensor; or NULL
    const ln_infile *file;     // data NULL: where it is; NULL: the elements are in a typed field
    size_t offset, size;
} span;

static int is_somewhere(const span *s)
{
    return s->data || s->file;
}

static const char *external_value(const LnOnnx__Tensor *proto, const char *key)
{
    for (size_t i = 0; i < proto->n_external_data; i++)
        if (ln_streq(proto->external_data[i]->key, key))
            return proto->external_data[i]->value;
    return NULL;
}

static int external_size(const LnOnnx__Tensor *proto, const char *key, size_t deflt, size_t *size,
                         ln_error *err)
{
    const char *text = external_value(proto, key);
    char *end;
    *size = deflt;
    if (!text)
        return 0;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return ln_error_set(err, "'%s' of its external data is '%s', expected a number of bytes",
                            key, text);
    *size = (size_t)value;
    return 0;
}

static int external_span(const LnOnnx__Tensor *proto, const ln_onnx_source *source, span *s,
                         ln_error *err)
{
    const char *location = external_value(proto, "location");
    if (!location || !ln_beneath_is_inner(location))
        return ln_error_set(err,
                            "the location of its external data is '%s', expected a file in the "
                            "folder of the model",
                            location ? location : "");
    if (!source->open)
        return ln_error_set(err, "its data is in another file, '%s'", location);
    const ln_infile *file = source->open(source->owner, location, err);
    if (!file)
        return ln_error_prefix(err, "its external data");
    const size_t all = file->size;
    size_t offset, size;
    if (external_size(proto, "offset", 0, &offset, err) ||
        external_size(proto, "length", offset < all ? all - offset : 0, &size, err))
        return -1;
    if (offset > all || size > all - offset)
        return ln_error_set(err,
                            "its external data is %zu bytes at %zu, outside of the %zu bytes of %s",
                            size, offset, all, location);
    *s = (span){.file = file, .offset = offset, .size = size};
    return 0;
}

enum { EXTERNAL = 1 };

static int find_span(const LnOnnx__Tensor *proto, const ln_onnx_source *source, span *s,
                     ln_error *err)
{
    *s = (span){0};
    if (proto->data_location == EXTERNAL)
        return external_span(proto, source, s, err);
    if (proto->has_lean_size) {
        const uint64_t offset = proto->lean_offset, size = proto->lean_size;
        if (offset > source->file->size || size > source->file->size - offset)
            return ln_error_set(err, "its data is outside of the %zu bytes of the file",
                                source->file->size);
        *s = (span){.file = source->file, .offset = (size_t)offset, .size = (size_t)size};
        return 0;
    }
    if (proto->has_raw_data)
        *s = (span){
            .data = proto->raw_data.data ? proto->raw_data.data : (const unsigned char *)"",
            .size = proto->raw_data.len,
        };
    return 0;
}

// Data in typed fields

static size_t num_typed(const LnOnnx__Tensor *proto, typed field)
{
    const size_t n[] = {[NO_FIELD] = 0,
                        [FLOATS] = proto->n_float_data,
                        [DOUBLES] = proto->n_double_data,
                        [INT32S] = proto->n_int32_data,
                        [INT64S] = proto->n_int64_data,
                        [UINT64S] = proto->n_uint64_data,
                        [STRINGS] = proto->n_string_data};
    return n[field];
}

// Integers narrower than their field, and the bits of 16-bit floats, are the low bytes of it.
static void copy_typed(tl_tensor *t, const LnOnnx__Tensor *proto, typed field)
{
    const size_t size = tl_size_of(t->dtype);
    unsigned char *to = t->data;
    for (int i = 0; i < t->len; i++, to += size) {
        uint64_t bits = field == INT32S    ? (uint64_t)(int64_t)proto->int32_data[i]
                        : field == INT64S  ? (uint64_t)proto->int64_data[i]
                        : field == UINT64S ? proto->uint64_data[i]
                                           : 0;
        if (field == FLOATS)
            memcpy(to, &proto->float_data[i], size);
        else if (field == DOUBLES)
            memcpy(to, &proto->double_data[i], size);
        else if (t->dtype == TL_BOOL)
            *to = bits != 0;
        else
            memcpy(to, &bits, size); // little-endian, as every host that LightNet runs on
    }
}

// The tensor

static int read_dims(const LnOnnx__Tensor *proto, int dims[LN_MAXDIM], ln_error *err)
{
    if (proto->n_dims > LN_MAXDIM)
        return ln_error_set(err, "it has %zu dimensions, expected at most %d", proto->n_dims,
                            LN_MAXDIM);
    for (size_t i = 0; i < proto->n_dims; i++) {
        if (proto->dims[i] < 0 || proto->dims[i] > INT_MAX)
            return ln_error_set(err, "dimension %zu is %" PRId64 ", expected 0 to %d", i,
                                proto->dims[i], INT_MAX);
        dims[i] = (int)proto->dims[i];
    }
    return tl_compute_length((int)proto->n_dims, dims) < 0
               ? ln_error_set(err, "%s", tl_last_error())
               : 0;
}

static int check_size(const span *s, const LnOnnx__Tensor *proto, const tl_tensor *t, typed field,
                      ln_error *err)
{
    char shape[LN_MAX_SHAPE];
    int dims[LN_MAXDIM]; // `t` has the bytes of packed elements as its only dim
    for (size_t i = 0; i < proto->n_dims; i++)
        dims[i] = (int)proto->dims[i];
    ln_sprint_shape(shape, sizeof(shape), (int)proto->n_dims, dims);
    if (is_somewhere(s) && s->size != tl_tensor_size(t))
        return ln_error_set(err, "%s %s has %zu bytes of data, expected %zu",
                            types[proto->data_type].name, shape, s->size, tl_tensor_size(t));
    if (!is_somewhere(s) && num_typed(proto, field) != (size_t)t->len)
        return ln_error_set(err, "%s %s has %zu elements of data, expected %d",
                            types[proto->data_type].name, shape, num_typed(proto, field), t->len);
    return 0;
}

// Data of up to this many bytes is read at once, such as shapes, whose values readers need.
enum { SMALL_DATA = 4096 };

static int set_strings(tl_tensor *t, const LnOnnx__Tensor *proto, const span *s, ln_error *err)
{
    if (is_somewhere(s))
        return ln_error_set(err, "its strings are raw or external data, expected string_data");
    const size_t len = (size_t)t->len;
    const char **const bytes = ln_alloc_array(len + 1, sizeof(*bytes));
    size_t *const sizes = ln_alloc_array(len + 1, sizeof(*sizes));
    for (size_t i = 0; bytes && sizes && i < len; i++) {
        bytes[i] = (const char *)proto->string_data[i].data;
        sizes[i] = proto->string_data[i].len;
    }
    if (!bytes || !sizes)
        ln_error_memory(err);
    else
        t->data = ln_strings_create(bytes, sizes, len, err);
    ln_free(bytes);
    ln_free(sizes);
    return t->data ? 0 : -1;
}

static int set_data(tl_tensor *t, const LnOnnx__Tensor *proto, const span *s, ln_onnx_place *place,
                    ln_error *err)
{
    if (t->dtype == TL_STRING && is_somewhere(s)) // fails; the size would be the wrong reason
        return set_strings(t, proto, s, err);
    if (check_size(s, proto, t, types[proto->data_type].field, err))
        return -1;
    *place = (ln_onnx_place){NULL, 0};
    if (t->dtype == TL_STRING)
        return set_strings(t, proto, s, err);
    if (s->file && s->size > SMALL_DATA) {
        *place = (ln_onnx_place){s->file, s->offset};
        return ln_elements_check_in(t->dtype, s->file, s->offset, s->size, err);
    }
    t->data = s->data ? ln_clone(s->data, s->size) : ln_alloc(tl_tensor_size(t));
    if (!t->data)
        return ln_error_memory(err);
    if (s->file && ln_infile_read(s->file, s->offset, t->data, s->size, err))
        return -1;
    if (!is_somewhere(s))
        copy_typed(t, proto, types[proto->data_type].field);
    return ln_elements_check(t->dtype, t->data, tl_tensor_size(t), 0, err);
}

// Whether elements are packed in bytes.
static int is_packed(int data_type)
{
    const tl_dtype dtype = ln_onnx_dtype(data_type);
    return dtype != TL_DTYPE_INVALID && tl_dtype_bits(dtype) < 8;
}

// The bytes of packed elements, without data.
static tl_tensor *create_packed(const LnOnnx__Tensor *proto, const int *dims,
                                ln_onnx_packing *packing)
{
    const tl_dtype dtype = ln_onnx_dtype(proto->data_type);
    const int ndim = (int)proto->n_dims;
    const int bytes = (int)tl_packed_size(dtype, (size_t)tl_compute_length(ndim, dims));
    *packing = (ln_onnx_packing){tl_dtype_bits(dtype), dtype, ndim, {0}};
    memcpy(packing->dims, dims, sizeof(packing->dims));
    return tl_tensor_create(NULL, 1, &bytes, TL_UINT8);
}

static tl_tensor *make(const LnOnnx__Tensor *proto, const ln_onnx_source *source,
                       ln_onnx_place *place, ln_onnx_packing *packing, ln_error *err)
{
    int dims[LN_MAXDIM] = {0};
    span s;
    char type[32];
    if (ln_onnx_dtype(proto->data_type) == TL_DTYPE_INVALID) {
        ln_error_set_as(err, LN_UNSUPPORTED, "its type is %s, which LightNet does not support",
                        ln_onnx_dtype_name(proto->data_type, type));
        return NULL;
    }
    if (read_dims(proto, dims, err) || find_span(proto, source, &s, err))
        return NULL;
    tl_tensor *t = is_packed(proto->data_type) ? create_packed(proto, dims, packing)
                                               : tl_tensor_create(NULL, (int)proto->n_dims, dims,
                                                                  ln_onnx_dtype(proto->data_type));
    if (!t)
        return ln_error_set(err, "%s", tl_last_error()), NULL;
    if (!set_data(t, proto, &s, place, err))
        return t;
    tl_tensor_free_data_too(t);
    return NULL;
}

tl_tensor *ln_onnx_tensor(const LnOnnx__Tensor *proto, const ln_onnx_source *source,
                          ln_onnx_place *place, ln_onnx_packing *packing, ln_error *err)
{
    *packing = (ln_onnx_packing){0};
    tl_tensor *t = make(proto, source, place, packing, err);
    if (!t)
        ln_error_prefix(err, "tensor '%s'", proto->name ? proto->name : "");
    return t;
}

// A file of one tensor

// Takes the bytes. Returns new: their elements; NULL with a reason.
static tl_tensor *unpack_elements(tl_tensor *bytes, const ln_onnx_packing *p, ln_error *err)
{
    tl_tensor *t = tl_tensor_zeros(p->ndim, p->dims, p->dtype);
    if (t)
        tl_unpack(t->data, bytes->data, t->dtype, (size_t)t->len);
    else
        ln_error_set(err, "%s", tl_last_error());
    tl_tensor_free_data_too(bytes);
    return t;
}

static tl_tensor *read_message(const ln_infile *in, ln_error *err)
{
    LnOnnx__Tensor *proto =
        ln_onnx_unpack(&ln_onnx__tensor__descriptor, in, "not an ONNX tensor", err);
    if (!proto)
        return NULL;
    const ln_onnx_source source = {.file = in};
    ln_onnx_place place;
    ln_onnx_packing packing;
    tl_tensor *t = ln_onnx_tensor(proto, &source, &place, &packing, err);
    int rc = 0;
    if (t && place.file) { // the data is left in its file
        t->data = ln_alloc(tl_tensor_size(t));
        rc = t->data ? ln_infile_read(place.file, place.offset, t->data, tl_tensor_size(t), err)
                     : ln_error_memory(err);
    }
    if (rc) {
        tl_tensor_free_data_too(t);
        t = NULL;
    }
    if (t && packing.bits)
        t = unpack_elements(t, &packing, err);
    ln_onnx__tensor__free_unpacked(proto, ln_onnx_allocator());
    return t;
}

int ln_onnx_tensor_is(const ln_infile *in)
{
    return ln_protobuf_is_onnx_tensor(in->data, in->size);
}

tl_tensor *ln_onnx_tensor_from_file(const ln_infile *in, const char *file, ln_error *err)
{
    tl_tensor *t = read_message(in, err);
    if (!t)
        ln_error_prefix(err, "%s", file);
    return t;
}

// A file of a sequence or an optional value, which ln_protobuf_is_onnx_sequence accepts

enum { OF_TENSORS = 1, TENSOR_FIELD = 3, SEQUENCE_FIELD = 5 };

typedef struct list {
    tl_tensor **tensors;
    int n, capacity;
} list;

static void free_list(list *l)
{
    for (int i = 0; i < l->n; i++)
        tl_tensor_free_data_too(l->tensors[i]);
    ln_free(l->tensors);
}

static int add_tensor(list *l, const ln_infile *in, const ln_protobuf_part *part, ln_error *err)
{
    const ln_infile message = {.data = in->data + part->at, .size = part->end - part->at};
    if (l->n == l->capacity) {
        const int more = l->n < INT_MAX / 2 ? 2 * l->n + 8 : 0;
        tl_tensor **longer = more ? ln_realloc(l->tensors, (size_t)more * sizeof(*longer)) : NULL;
        if (!longer)
            return ln_error_memory(err);
        l->tensors = longer;
        l->capacity = more;
    }
    l->tensors[l->n] = read_message(&message, err);
    if (!l->tensors[l->n])
        return ln_error_prefix(err, "tensor %d", l->n);
    l->n++;
    return 0;
}

// Adds the tensors of the message, or of the sequence in it. *has_value: it has one.
static int add_tensors(list *l, const ln_infile *in, ln_protobuf_part part, int *has_value,
                       ln_error *err)
{
    ln_protobuf reader = {.view.file = in, .err = err};
    int n_sequences = 0;
    while (part.at < part.end) {
        ln_protobuf_field f;
        if (ln_protobuf_read(&reader, &part, &f))
            return ln_error_set(err, "the message is truncated or damaged");
        *has_value |= f.number == TENSOR_FIELD || f.number == SEQUENCE_FIELD ||
                      (f.number == 2 && in->data[f.value.at] == OF_TENSORS);
        if (f.number == SEQUENCE_FIELD && n_sequences++)
            return ln_error_set_as(err, LN_UNSUPPORTED,
                                   "a sequence of sequences, which LightNet does not support");
        if ((f.number == TENSOR_FIELD && add_tensor(l, in, &f.value, err)) ||
            (f.number == SEQUENCE_FIELD && add_tensors(l, in, f.value, has_value, err)))
            return -1;
    }
    return 0;
}

tl_tensor **ln_onnx_sequence_from_file(const ln_infile *in, const char *file, int *n, ln_error *err)
{
    list l = {.tensors = ln_alloc_array(8, sizeof(*l.tensors)), .capacity = 8};
    int has_value = 0;
    if (!l.tensors)
        ln_error_memory(err);
    if (l.tensors && !add_tensors(&l, in, (ln_protobuf_part){0, in->size}, &has_value, err)) {
        *n = has_value ? l.n : -1;
        return l.tensors;
    }
    free_list(&l);
    return ln_error_prefix(err, "%s", file), NULL;
}
