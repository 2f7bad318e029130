// SPDX-License-Identifier: Apache-2.0
// params: reading and writing.

#include "data/ln_params.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_little_endian.h"
#include "data/ln_raw.h"
#include "lightnet/ln_outfile.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

static const uint64_t mxnet_list = 0x112;

// Versions of MXNet's arrays; before them the first number is that of the dimensions.
enum { MXNET_V1 = 0xC8, MXNET_V2, MXNET_V3 };
static const uint32_t mxnet_array = 0xF993FA00; // the upper bytes of a version

// The position of the reader in the file.
typedef struct cursor {
    size_t at, end; // offsets
    const char *file;
    ln_error *err;
    ln_view view;
} cursor;

static int LN_PRINTF(2, 3) fail(const cursor *c, const char *fmt, ...)
{
    char reason[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return ln_error_set(c->err, "%s: offset %zu: %s", c->file, c->at, reason);
}

// Fails for an array with the thread's last error.
static int fail_last(const cursor *c, const char *name)
{
    ln_error_set_last(c->err);
    return ln_error_prefix(c->err, "%s: offset %zu: array '%s'", c->file, c->at, name);
}

// A number of `size` bytes, without sign.
static int take(cursor *c, const char *field, size_t size, uint64_t *value)
{
    if (c->end - c->at < size)
        return fail(c, "the file ends in %s", field);
    const unsigned char *bytes = ln_view_at(&c->view, c->at, size, c->err);
    if (!bytes)
        return ln_error_prefix(c->err, "%s", c->file);
    *value = ln_little_endian_get(bytes, size);
    c->at += size;
    return 0;
}

static int expect(cursor *c, const char *field, size_t size, uint64_t wanted)
{
    uint64_t value;
    if (take(c, field, size, &value))
        return -1;
    if (value == wanted)
        return 0;
    c->at -= size;
    return fail(c, "%s is %" PRIu64 ", expected %" PRIu64, field, value, wanted);
}

// A count of items of at least `min` bytes.
static int take_count(cursor *c, const char *field, size_t min, uint64_t *count)
{
    if (take(c, field, 8, count))
        return -1;
    if (*count <= (c->end - c->at) / min && *count < INT_MAX)
        return 0;
    c->at -= 8;
    return fail(c, "%s is %" PRIu64 ", more than the rest of the file can hold", field, *count);
}

// Names

// The bytes of a name in the file.
typedef struct name_span {
    size_t at, len;
} name_span;

typedef struct name_list {
    name_span *spans;
    uint64_t n;
} name_list;

static int take_names(cursor *c, name_list *list)
{
    if (take_count(c, "the number of names", 8, &list->n))
        return -1;
    list->spans = ln_alloc_array((size_t)list->n + 1, sizeof(*list->spans));
    if (!list->spans)
        return ln_error_memory_at(c->err, c->file);
    for (uint64_t i = 0; i < list->n; i++) {
        uint64_t len;
        if (take_count(c, "the length of a name", 1, &len))
            return -1;
        list->spans[i] = (name_span){c->at, (size_t)len};
        c->at += (size_t)len;
    }
    return 0;
}

enum { PREFIX_LEN = 4 }; // "arg:" or "aux:"

static int name_of(cursor *c, const name_list *list, uint64_t i, char name[LN_MAX_NAME_LEN])
{
    size_t len = list->spans[i].len;
    const size_t seen = len < LN_MAX_NAME_LEN + PREFIX_LEN ? len : LN_MAX_NAME_LEN + PREFIX_LEN;
    const unsigned char *text = ln_view_at(&c->view, list->spans[i].at, seen, c->err);
    if (!text)
        return ln_error_prefix(c->err, "%s", c->file);
    if (len >= PREFIX_LEN &&
        (!memcmp(text, "arg:", PREFIX_LEN) || !memcmp(text, "aux:", PREFIX_LEN))) {
        text += PREFIX_LEN;
        len -= PREFIX_LEN;
    }
    if (len >= LN_MAX_NAME_LEN || memchr(text, '\0', len))
        return ln_error_set(c->err,
                            "%s: name %" PRIu64 " has %zu bytes, expected at most %d and no NUL",
                            c->file, i, len, LN_MAX_NAME_LEN - 1);
    memcpy(name, text, len);
    name[len] = '\0';
    return 0;
}

// Arrays

typedef struct array {
    tl_dtype dtype;
    int ndim;
    int dims[TL_MAXDIM];
} array;

static int check_ndim(const cursor *c, int64_t ndim)
{
    if (ndim > TL_MAXDIM || ndim < 0)
        return fail(c, "the array has %" PRId64 " dimensions, expected 0 to %d", ndim, TL_MAXDIM);
    return 0;
}

static int take_dims(cursor *c, array *a, size_t size)
{
    for (int i = 0; i < a->ndim; i++) {
        uint64_t dim;
        if (take(c, "the shape", size, &dim))
            return -1;
        if (dim > INT_MAX) {
            c->at -= size;
            return fail(c, "dimension %d is %" PRId64 ", expected 0 to %d", i, (int64_t)dim,
                        INT_MAX);
        }
        a->dims[i] = (int)dim;
    }
    return 0;
}

// Skips the elements. Returns new (tl_tensor_free): their type and shape, without data.
static tl_tensor *take_data(cursor *c, const array *a)
{
    const int len = tl_compute_length(a->ndim, a->dims);
    size_t size = 0;
    char where[LN_MAXLINE];
    if (len < 0 || ln_size_mul((size_t)len, tl_size_of(a->dtype), &size))
        return fail(c, "the array has too many elements"), NULL;
    if (size > c->end - c->at) {
        fail(c, "the array has %zu bytes, the rest of the file %zu", size, c->end - c->at);
        return NULL;
    }
    snprintf(where, sizeof(where), "%s: offset %zu", c->file, c->at);
    if (ln_raw_check_in(c->view.file, c->at, size, a->dtype, a->ndim, a->dims, where, c->err))
        return NULL;
    tl_tensor *tensor = tl_tensor_create(NULL, a->ndim, a->dims, a->dtype);
    if (!tensor)
        fail(c, "%s", tl_last_error());
    c->at += size;
    return tensor;
}

// Adds the array at the cursor to the bundle, under this name.
static int take_named_data(cursor *c, const array *a, ln_bundle *bundle, const char *name)
{
    const size_t offset = c->at;
    tl_tensor *tensor = take_data(c, a);
    if (!tensor)
        return -1;
    if (!ln_bundle_add(bundle, name, tensor, offset))
        return 0;
    tl_tensor_free(tensor);
    return fail_last(c, name);
}

// NNVM

const ln_params_type ln_params_types[LN_PARAMS_NUM_TYPES] = {
    {0, 8, TL_INT8},     {0, 16, TL_INT16},  {0, 32, TL_INT32},  {0, 64, TL_INT64},
    {1, 8, TL_UINT8},    {1, 16, TL_UINT16}, {1, 32, TL_UINT32}, {1, 64, TL_UINT64},
    {2, 16, TL_FLOAT16}, {2, 32, TL_FLOAT},  {2, 64, TL_DOUBLE},
};

// DLPack's type: its kind, its bits, and the lanes of a vector.
static int take_dltype(cursor *c, tl_dtype *dtype)
{
    uint64_t code, bits, lanes;
    if (take(c, "the type", 1, &code) || take(c, "the bits of an element", 1, &bits) ||
        take(c, "the lanes", 2, &lanes))
        return -1;
    for (const ln_params_type *t = ln_params_types; t < ln_params_types + LN_PARAMS_NUM_TYPES; t++)
        if (t->code == code && t->bits == bits && lanes == 1) {
            *dtype = t->dtype;
            return 0;
        }
    c->at -= 4;
    return fail(c,
                "data type of code %" PRIu64 ", %" PRIu64 " bits and %" PRIu64
                " lanes, expected an integer or a float",
                code, bits, lanes);
}

static int take_nnvm_array(cursor *c, ln_bundle *bundle, const char *name)
{
    array a = {0};
    uint64_t ndim, size;
    if (expect(c, "the magic number of an array", 8, LN_PARAMS_ARRAY) ||
        expect(c, "the reserved number", 8, 0) || expect(c, "the device type", 4, 1) ||
        expect(c, "the device id", 4, 0) || take(c, "the number of dimensions", 4, &ndim) ||
        check_ndim(c, (int32_t)ndim))
        return -1;
    a.ndim = (int)ndim;
    if (take_dltype(c, &a.dtype) || take_dims(c, &a, 8) || take(c, "the byte size", 8, &size))
        return -1;
    const int len = tl_compute_length(a.ndim, a.dims);
    if (len < 0 || size != (uint64_t)len * tl_size_of(a.dtype)) {
        c->at -= 8;
        return fail(c, "the byte size is %" PRIu64 ", which does not match type and shape", size);
    }
    return take_named_data(c, &a, bundle, name);
}

static int parse_nnvm(cursor *c, ln_bundle *bundle, name_list *list)
{
    uint64_t n;
    char name[LN_MAX_NAME_LEN];
    if (take_names(c, list) || take(c, "the number of arrays", 8, &n))
        return -1;
    if (n != list->n) {
        c->at -= 8;
        return fail(c, "%" PRIu64 " arrays and %" PRIu64 " names, expected as many", n, list->n);
    }
    for (uint64_t i = 0; i < n; i++)
        if (name_of(c, list, i, name) || take_nnvm_array(c, bundle, name))
            return -1;
    return 0;
}

// MXNet

// Reads the number of dimensions (-1: unknown), and the version, which is less than MXNET_V1 for
// the oldest arrays; rejects sparse arrays.
static int take_version(cursor *c, uint64_t *version, array *a)
{
    uint64_t ndim, storage = 0;
    if (take(c, "the version of an array", 4, version))
        return -1;
    if ((*version & ~(uint64_t)0xff) != mxnet_array)
        ndim = *version;
    else if ((*version &= 0xff) < MXNET_V1 || *version > MXNET_V3)
        return fail(c, "unknown version %" PRIu64 " of an array", *version);
    else if ((*version != MXNET_V1 && take(c, "the storage type", 4, &storage)) ||
             take(c, "the number of dimensions", 4, &ndim))
        return -1;
    if (storage)
        return fail(c, "the array is sparse (storage type %d), expected a dense one", (int)storage);
    const int is_unknown = *version == MXNET_V3 && (int32_t)ndim == -1;
    if (!is_unknown && check_ndim(c, (int32_t)ndim))
        return -1;
    a->ndim = is_unknown ? -1 : (int)ndim;
    return 0;
}

const tl_dtype ln_params_codes[LN_PARAMS_NUM_CODES] = {
    TL_FLOAT, TL_DOUBLE, TL_FLOAT16, TL_UINT8,  TL_INT32,  TL_INT8,     TL_INT64,
    TL_BOOL,  TL_INT16,  TL_UINT16,  TL_UINT32, TL_UINT64, TL_BFLOAT16,
};

static int take_mxnet_dtype(cursor *c, tl_dtype *dtype)
{
    uint64_t code;
    if (take(c, "the data type", 4, &code))
        return -1;
    if (code >= LN_PARAMS_NUM_CODES) {
        c->at -= 4;
        return fail(c, "unknown data type %d", (int)(int32_t)code);
    }
    *dtype = ln_params_codes[code];
    return 0;
}

// An array before the names are known.
typedef struct found {
    tl_tensor *tensor;
    size_t offset;
} found;

// An array without a shape has no further fields, and no elements: it is unusable.
static int take_mxnet_array(cursor *c, found *result)
{
    array a = {0};
    uint64_t version, device;
    if (take_version(c, &version, &a))
        return -1;
    if (a.ndim < 0 || (a.ndim == 0 && version != MXNET_V3))
        return 0;
    const int is_old = version < MXNET_V1;
    if (take_dims(c, &a, is_old ? 4 : 8) || take(c, "the device type", 4, &device) ||
        take(c, "the device id", 4, &device) || take_mxnet_dtype(c, &a.dtype))
        return -1;
    result->offset = c->at;
    result->tensor = take_data(c, &a);
    return result->tensor ? 0 : -1;
}

static int add_mxnet_arrays(cursor *c, ln_bundle *bundle, const name_list *list, found *arrays,
                            uint64_t n)
{
    char name[LN_MAX_NAME_LEN];
    if (list->n != n && list->n)
        return fail(c, "%" PRIu64 " arrays and %" PRIu64 " names, expected as many", n, list->n);
    for (uint64_t i = 0; i < n; i++) {
        if (list->n ? name_of(c, list, i, name) : snprintf(name, sizeof(name), "%" PRIu64, i) < 0)
            return -1;
        if (arrays[i].tensor && ln_bundle_add(bundle, name, arrays[i].tensor, arrays[i].offset))
            return fail_last(c, name);
        arrays[i].tensor = NULL;
    }
    return 0;
}

// Arrays of a list without names are named by their numbers.
static int parse_mxnet(cursor *c, ln_bundle *bundle, name_list *list)
{
    uint64_t n;
    int status = 0;
    if (take_count(c, "the number of arrays", 4, &n))
        return -1;
    found *arrays = ln_alloc_array((size_t)n + 1, sizeof(*arrays));
    if (!arrays)
        return ln_error_memory_at(c->err, c->file);
    for (uint64_t i = 0; i < n && !status; i++)
        status = take_mxnet_array(c, &arrays[i]);
    if (!status)
        status = -(take_names(c, list) || add_mxnet_arrays(c, bundle, list, arrays, n));
    for (uint64_t i = 0; i < n; i++)
        tl_tensor_free(arrays[i].tensor);
    ln_free(arrays);
    return status;
}

// The file

int ln_params_is(const ln_infile *in)
{
    size_t size;
    const unsigned char *head = ln_infile_head(in, &size);
    const uint64_t magic = size >= 8 ? ln_little_endian_get(head, 8) : 0;
    return magic == LN_PARAMS_LIST || magic == mxnet_list;
}

int ln_params_parse(ln_bundle *bundle, const ln_infile *in, const char *file, ln_error *err)
{
    cursor c = {.end = in->size, .file = file, .err = err, .view.file = in};
    name_list list = {0};
    uint64_t magic;
    bundle->shaped = 1;
    bundle->file = in;
    int status =
        -(take(&c, "the magic number", 8, &magic) || expect(&c, "the reserved number", 8, 0));
    if (!status)
        status = magic == LN_PARAMS_LIST ? parse_nnvm(&c, bundle, &list)
                                         : parse_mxnet(&c, bundle, &list);
    if (!status && c.at != c.end)
        status = fail(&c, "%zu bytes follow the last field", c.end - c.at);
    ln_free(list.spans);
    return status;
}

// Writing

// The content of a file.
typedef struct content {
    int n;
    const char *const *names;
    const tl_tensor *const *tensors;
} content;

static const ln_params_type *type_of(tl_dtype dtype)
{
    for (const ln_params_type *t = ln_params_types; t < ln_params_types + LN_PARAMS_NUM_TYPES; t++)
        if (t->dtype == dtype)
            return t;
    return NULL;
}

static void put_array(FILE *fp, const tl_tensor *t)
{
    const ln_params_type *type = type_of(t->dtype);
    const size_t size = tl_tensor_size(t);
    ln_little_endian_put(fp, LN_PARAMS_ARRAY, 8);
    ln_little_endian_put(fp, 0, 8);
    ln_little_endian_put(fp, 1, 4); // the CPU's
    ln_little_endian_put(fp, 0, 4);
    ln_little_endian_put(fp, (uint64_t)t->ndim, 4);
    ln_little_endian_put(fp, type->code, 1);
    ln_little_endian_put(fp, type->bits, 1);
    ln_little_endian_put(fp, 1, 2);
    for (int i = 0; i < t->ndim; i++)
        ln_little_endian_put(fp, (uint64_t)t->dims[i], 8);
    ln_little_endian_put(fp, size, 8);
    fwrite(t->data, 1, size, fp);
}

static int put_list(FILE *fp, const void *arg, ln_error *err)
{
    const content *c = arg;
    (void)err;
    ln_little_endian_put(fp, LN_PARAMS_LIST, 8);
    ln_little_endian_put(fp, 0, 8);
    ln_little_endian_put(fp, (uint64_t)c->n, 8);
    for (int i = 0; i < c->n; i++) {
        const char *const name = c->names[i];
        // Readers strip one "arg:" or "aux:".
        const char *prefix = strncmp(name, "arg:", 4) && strncmp(name, "aux:", 4) ? "" : "arg:";
        ln_little_endian_put(fp, strlen(prefix) + strlen(name), 8);
        fprintf(fp, "%s%s", prefix, name);
    }
    ln_little_endian_put(fp, (uint64_t)c->n, 8);
    for (int i = 0; i < c->n; i++)
        put_array(fp, c->tensors[i]);
    return 0;
}

int ln_params_write(const char *file, int n, const char *const *names,
                    const tl_tensor *const *tensors, ln_error *err)
{
    const content c = {.n = n, .names = names, .tensors = tensors};
    for (int i = 0; i < n; i++)
        if (!type_of(tensors[i]->dtype))
            return ln_error_set(err, "%s: parameter '%s' is %s, which the format lacks", file,
                                names[i], tl_dtype_name(tensors[i]->dtype));
    return ln_outfile_write(file, put_list, &c, err);
}
