// SPDX-License-Identifier: Apache-2.0
// Data from files: named tensors, in memory or at an offset of an open file.

#include "ir/ln_weights.h"

#include <string.h>

#include "base/ln_fnv.h"
#include "base/ln_list_end.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

// The bits of a byte that an element uses; 8: any byte is an element.
static int bits_within_byte(tl_dtype dtype)
{
    return dtype == TL_BOOL ? 1 : tl_dtype_bits(dtype) < 8 ? tl_dtype_bits(dtype) : 8;
}

int ln_elements_check(tl_dtype dtype, const unsigned char *data, size_t size, size_t first,
                      ln_error *err)
{
    const int bits = bits_within_byte(dtype);
    const int bias = // moves signed elements, as -8 .. 7, to 0 .. 15
        tl_dtype_min_double(dtype) < 0 && !tl_dtype_has_fractions(dtype) ? 1 << (bits - 1) : 0;
    for (size_t i = 0; bits < 8 && i < size; i++) {
        if ((uint8_t)(data[i] + bias) < 1 << bits)
            continue;
        return dtype == TL_BOOL
                   ? ln_error_set(err, "element %zu is the byte %d, expected a bool: 0 or 1",
                                  first + i, data[i])
                   : ln_error_set(err, "element %zu is the byte %d, expected one of %d bits: %s",
                                  first + i, data[i], bits, tl_dtype_name(dtype));
    }
    return 0;
}

int ln_elements_check_in(tl_dtype dtype, const ln_infile *file, size_t offset, size_t size,
                         ln_error *err)
{
    ln_view view = {.file = file};
    if (bits_within_byte(dtype) == 8)
        return 0;
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < LN_VIEW_SIZE ? size - at : LN_VIEW_SIZE;
        const unsigned char *data = ln_view_at(&view, offset + at, n, err);
        if (!data || ln_elements_check(dtype, data, n, at, err))
            return -1;
    }
    return 0;
}

struct ln_weights {
    ln_hash *tensors; // name -> entry
    ln_list *files;   // ln_infile
    ln_list *adopted; // objects that own memory of the data
};

typedef struct adopted {
    void *thing;
    void (*close)(void *thing);
} adopted;

// The weight is the first member.
typedef struct entry {
    ln_weight weight;
    char *name;
    int owned; // the data is freed with it
} entry;

static void free_entry(void *data)
{
    entry *e = data;
    if (e->owned)
        ln_free(e->weight.tensor->data);
    tl_tensor_free(e->weight.tensor);
    ln_free(e->name);
    ln_free(e);
}

static void free_file(void *data)
{
    ln_infile_close(data);
    ln_free(data);
}

static void free_adopted(void *data)
{
    adopted *a = data;
    a->close(a->thing);
    ln_free(a);
}

ln_weights *ln_weights_create(void)
{
    ln_weights *weights = ln_alloc(sizeof(*weights));
    if (!weights)
        return NULL;
    weights->tensors = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_entry);
    if (weights->tensors)
        return weights;
    ln_free(weights);
    return NULL;
}

void ln_weights_free(ln_weights *weights)
{
    if (!weights)
        return;
    ln_hash_free(weights->tensors);
    ln_list_free_deep(weights->files, free_file);
    ln_list_free_deep(weights->adopted, free_adopted);
    ln_free(weights);
}

static int enter(ln_weights *weights, const char *name, const ln_weight *weight, int owned)
{
    entry *e = ln_alloc(sizeof(*e));
    if (!e)
        return -1;
    *e = (entry){.weight = *weight, .name = ln_strdup(name), .owned = owned};
    e->weight.name = e->name;
    if (e->name && ln_hash_insert(weights->tensors, e->name, e) >= 0)
        return 0;
    ln_free(e->name);
    ln_free(e);
    return -1;
}

int ln_weights_add(ln_weights *weights, const char *name, tl_tensor *tensor, int owned)
{
    return enter(weights, name, &(ln_weight){.tensor = tensor}, owned);
}

int ln_weights_add_from(ln_weights *weights, const char *name, tl_tensor *tensor,
                        const ln_infile *file, size_t offset)
{
    return enter(weights, name, &(ln_weight){.tensor = tensor, .file = file, .offset = offset}, 1);
}

int ln_weights_copy(ln_weights *weights, const char *name, const tl_tensor *tensor,
                    const void *data)
{
    void *copy = tensor->dtype == TL_STRING
                     ? tl_strings_clone((const tl_string *const *)data, (size_t)tensor->len)
                     : ln_clone(data, tl_tensor_size(tensor));
    tl_tensor *record =
        copy ? tl_tensor_create(copy, tensor->ndim, tensor->dims, tensor->dtype) : NULL;
    if (record && !ln_weights_add(weights, name, record, 1))
        return 0;
    tl_tensor_free(record);
    ln_free(copy);
    return -1;
}

const ln_weight *ln_weights_of(const ln_context *ctx, const char *name)
{
    const ln_weight *given = ln_weights_find(ctx->given, name);
    return given ? given : ln_weights_find(ctx->weights, name);
}

const ln_weight *ln_weights_find(const ln_weights *weights, const char *name)
{
    const entry *e = weights ? ln_hash_find(weights->tensors, name) : NULL;
    return e ? &e->weight : NULL;
}

// Data

int ln_weight_read(const ln_weight *w, size_t at, void *dst, size_t size, ln_error *err)
{
    if (w->tensor->data) {
        if (size)
            memcpy(dst, (const char *)w->tensor->data + at, size);
        return 0;
    }
    int status = ln_infile_read(w->file, w->offset + at, dst, size, err);
    // The file may have changed since it was opened and checked.
    if (!status)
        status = ln_elements_check(w->tensor->dtype, dst, size, at, err);
    return status ? ln_error_prefix(err, "%s: tensor '%s'", w->file->name, w->name) : 0;
}

const void *ln_weight_mapped(const ln_weight *w)
{
    return !w->tensor->data && w->file && w->file->map ? w->file->data + w->offset : NULL;
}

uint64_t ln_elements_hash(const void *data, tl_dtype dtype, size_t len)
{
    if (dtype != TL_STRING)
        return ln_fnv64(data, len * tl_size_of(dtype));
    uint64_t hash = ln_fnv64(NULL, 0);
    for (const tl_string *const *s = data, *const *const end = s + len; s < end; s++)
        hash = ln_fnv64_more(hash, tl_string_bytes(*s), tl_string_size(*s) + 1);
    return hash;
}

int ln_weight_hash(const ln_weight *w, uint64_t *hash, ln_error *err)
{
    if (w->tensor->dtype == TL_STRING) {
        *hash = ln_elements_hash(w->tensor->data, TL_STRING, (size_t)w->tensor->len);
        return 0;
    }
    unsigned char part[LN_VIEW_SIZE];
    const size_t size = tl_tensor_size(w->tensor);
    *hash = ln_fnv64(NULL, 0);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < sizeof(part) ? size - at : sizeof(part);
        if (ln_weight_read(w, at, part, n, err))
            return -1;
        *hash = ln_fnv64_more(*hash, part, n);
    }
    return 0;
}

static void *copy_data(const ln_weight *w, ln_error *err)
{
    const size_t size = tl_tensor_size(w->tensor);
    const int has_strings = w->tensor->dtype == TL_STRING;
    void *data =
        has_strings ? tl_strings_clone(w->tensor->data, (size_t)w->tensor->len) : ln_alloc(size);
    if (!data)
        ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for the %zu bytes of tensor '%s'",
                        size, w->name);
    if (!data || has_strings || !ln_weight_read(w, 0, data, size, err))
        return data;
    ln_free(data);
    return NULL;
}

tl_tensor *ln_weight_clone(const ln_weight *w, ln_error *err)
{
    const tl_tensor *t = w->tensor;
    void *data = copy_data(w, err);
    tl_tensor *clone = data ? tl_tensor_create(data, t->ndim, t->dims, t->dtype) : NULL;
    if (data && !clone) {
        ln_error_set(err, "%s", tl_last_error());
        ln_free(data);
    }
    return clone;
}

const tl_tensor *ln_weight_tensor(const ln_weight *w, ln_error *err)
{
    if (!w->tensor->data)
        w->tensor->data = copy_data(w, err);
    return w->tensor->data ? w->tensor : NULL;
}

// Memory of the data

const ln_infile *ln_weights_keep(ln_weights *weights, const ln_infile *file)
{
    ln_infile *kept = ln_clone(file, sizeof(*file));
    return ln_list_push(&weights->files, kept, ln_free) ? NULL : kept;
}

int ln_weights_adopt(ln_weights *weights, void *thing, void (*close)(void *thing))
{
    adopted *a = ln_alloc(sizeof(*a));
    if (ln_list_push(&weights->adopted, a, ln_free))
        return -1;
    *a = (adopted){thing, close};
    return 0;
}
