// SPDX-License-Identifier: Apache-2.0
// safetensors: writing.

#include <stdlib.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_error_memory.h"
#include "base/ln_little_endian.h"
#include "base/ln_utf8.h"
#include "data/ln_json.h"
#include "data/ln_packed_strings.h"
#include "data/ln_safetensors.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_outfile.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

// Where the data begins, for readers that map files and use the data in place. There must be no
// holes in it, so tensors whose sizes are multiples of this come first: all of them are aligned,
// and the others to their elements.
#define ALIGNMENT   64
#define LENGTH_SIZE 8
#define METADATA    "__metadata__"

// Members of the header, for messages.
#define TENSORS "tensors"
#define TEXTS   "texts of the metadata"

// The content of a file.
typedef struct content {
    int n;
    const char *const *names;
    const tl_tensor *const *tensors;
    const ln_weight *const *weights; // that have the data; NULL: the tensors do
    const char *const *metadata;
    const char *header; // the text of it
    size_t header_size;
} content;

// The order of the data: 0 for whole multiples of ALIGNMENT, then falling sizes of elements.
static const size_t groups[] = {0, 8, 4, 2, 1};

#define NUM_GROUPS (sizeof(groups) / sizeof(groups[0]))

static size_t group_of(const tl_tensor *t)
{
    return ln_safetensors_size(t) % ALIGNMENT ? tl_size_of(ln_safetensors_dtype(t)) : 0;
}

// The header

// Adds a member to an object (takes the value; NULL: no memory). `what`: the members, for messages.
static int add(json_t *object, const char *name, json_t *value, const char *what, ln_error *err)
{
    if (!json_object_get(object, name) && !json_object_set_new(object, name, value))
        return 0;
    const int is_repeated = json_object_get(object, name) != NULL;
    const int is_text = ln_utf8_prefix(name, strlen(name)) == strlen(name);
    if (is_repeated)
        json_decref(value);
    return is_repeated ? ln_error_set(err, "two %s are named '%s'", what, name)
           : !is_text  ? ln_error_set(err, "'%s' cannot be written: it is not UTF-8", name)
                       : ln_error_memory(err);
}

static json_t *shape_of(const tl_tensor *t)
{
    json_t *const shape = json_array();
    for (int i = 0; i < t->ndim; i++)
        json_array_append_new(shape, json_integer(t->dims[i]));
    return shape;
}

// The shapes of the tensors of strings, as a text.
static int add_strings(json_t *metadata, const content *c, ln_error *err)
{
    json_t *const shapes = json_object();
    for (int i = 0; i < c->n; i++)
        if (c->tensors[i]->dtype == TL_STRING)
            json_object_set_new(shapes, c->names[i], shape_of(c->tensors[i]));
    size_t len;
    char *const text = json_object_size(shapes) ? ln_json_text(shapes, &len, err) : NULL;
    const int status =
        text ? add(metadata, LN_SAFETENSORS_STRINGS, json_string(text), TEXTS, err) : 0;
    free(text);
    json_decref(shapes);
    return status;
}

static int add_metadata(json_t *header, const content *c, ln_error *err)
{
    json_t *const metadata = json_object();
    int status = 0;
    for (const char *const *m = c->metadata; m && *m && !status; m += 2)
        status = !strcmp(m[0], LN_SAFETENSORS_STRINGS)
                     ? ln_error_set(err, "a text of the metadata is named '%s', which is reserved",
                                    LN_SAFETENSORS_STRINGS)
                     : add(metadata, m[0], json_string(m[1]), TEXTS, err);
    if (!status)
        status = add_strings(metadata, c, err);
    if (!status && (c->metadata || json_object_size(metadata)))
        return add(header, METADATA, metadata, TENSORS, err);
    json_decref(metadata);
    return status;
}

static json_t *describe(const tl_tensor *t, size_t begin)
{
    const size_t size = ln_safetensors_size(t);
    const json_int_t from = (json_int_t)begin, to = (json_int_t)(begin + size);
    json_t *const shape = t->dtype == TL_STRING ? json_pack("[I]", (json_int_t)size) : shape_of(t);
    return json_pack("{s:s, s:o, s:[I,I]}", "dtype",
                     ln_safetensors_dtype_name(ln_safetensors_dtype(t)), "shape", shape,
                     "data_offsets", from, to);
}

static int add_tensors(json_t *header, const content *c, ln_error *err)
{
    size_t begin = 0;
    for (size_t s = 0; s < NUM_GROUPS; s++) {
        for (int i = 0; i < c->n; i++) {
            const tl_tensor *const t = c->tensors[i];
            if (group_of(t) != groups[s])
                continue;
            if (!strcmp(c->names[i], METADATA))
                return ln_error_set(err, "a tensor is named '" METADATA "', which is reserved");
            if (add(header, c->names[i], describe(t, begin), TENSORS, err))
                return -1;
            begin += ln_safetensors_size(t);
        }
    }
    return 0;
}

// Returns new (free); NULL with a reason, also if values are missing for lack of memory.
static char *make_header(const content *c, size_t *size, ln_error *err)
{
    const unsigned long failures = ln_alloc_failures();
    json_t *const header = json_object();
    int status = add_metadata(header, c, err) || add_tensors(header, c, err);
    if (!status && ln_alloc_failures() > failures)
        status = ln_error_memory(err);
    char *const text = status ? NULL : ln_json_text(header, size, err);
    json_decref(header);
    return text;
}

// Writes `size` bytes of the tensor from `data` on, an even number except at the end.
static void write_part(FILE *stream, const tl_tensor *t, const void *data, size_t size)
{
    unsigned char packed[LN_VIEW_SIZE / 2];
    const unsigned char *at = data;
    if (ln_safetensors_dtype(t) != TL_FLOAT4E2M1) {
        fwrite(data, 1, size, stream);
        return;
    }
    for (size_t n; size > 0; size -= n, at += n) {
        n = size < LN_VIEW_SIZE ? size : LN_VIEW_SIZE;
        tl_pack(packed, at, TL_FLOAT4E2M1, n);
        fwrite(packed, 1, tl_packed_size(TL_FLOAT4E2M1, n), stream);
    }
}

static int write_weight(FILE *stream, const ln_weight *weight, ln_error *err)
{
    unsigned char part[LN_VIEW_SIZE];
    const size_t size = tl_tensor_size(weight->tensor);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < sizeof(part) ? size - at : sizeof(part);
        if (ln_weight_read(weight, at, part, n, err))
            return -1;
        write_part(stream, weight->tensor, part, n);
    }
    return 0;
}

static int write_data(FILE *stream, const content *c, int i, ln_error *err)
{
    if (c->tensors[i]->dtype == TL_STRING) { // never in another file
        ln_packed_strings_write(stream, c->weights ? c->weights[i]->tensor : c->tensors[i]);
        return 0;
    }
    if (c->weights)
        return write_weight(stream, c->weights[i], err);
    write_part(stream, c->tensors[i], c->tensors[i]->data, tl_tensor_size(c->tensors[i]));
    return 0;
}

static int write_safetensors(FILE *stream, const void *arg, ln_error *err)
{
    const content *const c = arg;
    const size_t size = c->header_size;
    const size_t padding = (ALIGNMENT - (LENGTH_SIZE + size) % ALIGNMENT) % ALIGNMENT;
    ln_little_endian_put(stream, size + padding, LENGTH_SIZE);
    fprintf(stream, "%s%*s", c->header, (int)padding, "");
    for (size_t s = 0; s < NUM_GROUPS; s++)
        for (int i = 0; i < c->n; i++)
            if (group_of(c->tensors[i]) == groups[s] && write_data(stream, c, i, err))
                return -1;
    return 0;
}

int ln_safetensors_write(const char *file, int n, const char *const *names,
                         const tl_tensor *const *tensors, const char *const *metadata,
                         ln_error *err)
{
    return ln_safetensors_write_weights(file, n, names, tensors, NULL, metadata, err);
}

int ln_safetensors_write_weights(const char *file, int n, const char *const *names,
                                 const tl_tensor *const *tensors, const ln_weight *const *weights,
                                 const char *const *metadata, ln_error *err)
{
    content c = {n, names, tensors, weights, metadata, NULL, 0};
    char *const header = make_header(&c, &c.header_size, err);
    c.header = header;
    const int status = header ? ln_outfile_write(file, write_safetensors, &c, err)
                              : ln_error_prefix(err, "%s", file);
    free(header);
    return status;
}
