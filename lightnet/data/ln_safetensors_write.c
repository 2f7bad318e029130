// SPDX-License-Identifier: Apache-2.0
// safetensors: writing.

#include <stdlib.h>
#include <string.h>

#include "base/ln_outtext.h"
#include "data/ln_json.h"
#include "data/ln_packed_strings.h"
#include "data/ln_safetensors.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_outfile.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

// Where the data begins, for readers that map files and use the data in place. There must be no
// holes in it, so tensors whose sizes are multiples of this come first: all of them are aligned,
// and the others to their elements.
#define ALIGNMENT   64
#define LENGTH_SIZE 8

// The content of a file.
typedef struct content {
    int n;
    const char *const *names;
    const tl_tensor *const *tensors;
    const ln_weight *const *weights; // that have the data; NULL: the tensors do
    const char *const *metadata;
} content;

// The order of the data: 0 for whole multiples of ALIGNMENT, then falling sizes of elements.
static const size_t groups[] = {0, 8, 4, 2, 1};

#define NUM_GROUPS (sizeof(groups) / sizeof(groups[0]))

static size_t group_of(const tl_tensor *t)
{
    return ln_safetensors_size(t) % ALIGNMENT ? tl_size_of(ln_safetensors_dtype(t)) : 0;
}

// The header

static void print_shape(FILE *fp, const tl_tensor *t)
{
    fputc('[', fp);
    for (int i = 0; i < t->ndim; i++)
        fprintf(fp, "%s%d", i ? "," : "", t->dims[i]);
    fputc(']', fp);
}

// The shapes of the tensors of strings.
static int print_strings(FILE *fp, const void *arg, ln_error *err)
{
    const content *const c = arg;
    int n = 0;
    fputc('{', fp);
    for (int i = 0; i < c->n; i++) {
        if (c->tensors[i]->dtype != TL_STRING)
            continue;
        fputs(n++ ? "," : "", fp);
        if (ln_json_write_string(fp, c->names[i], err))
            return -1;
        fputc(':', fp);
        print_shape(fp, c->tensors[i]);
    }
    fputc('}', fp);
    return 0;
}

static int has_strings(const content *c)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        n += c->tensors[i]->dtype == TL_STRING;
    return n > 0;
}

static int print_strings_key(FILE *fp, const content *c, ln_error *err)
{
    size_t size;
    char *const text = ln_outtext(print_strings, c, &size, err);
    fprintf(fp, "\"%s\":", LN_SAFETENSORS_STRINGS);
    const int status = text ? ln_json_write_string(fp, text, err) : -1;
    free(text);
    return status;
}

static int print_metadata(FILE *fp, const content *c, ln_error *err)
{
    const char *const *const metadata = c->metadata;
    size_t i = 0;
    fputs("\"__metadata__\":{", fp);
    for (; metadata && metadata[i]; i += 2) {
        if (i)
            fputc(',', fp);
        if (ln_json_write_string(fp, metadata[i], err))
            return -1;
        fputc(':', fp);
        if (ln_json_write_string(fp, metadata[i + 1], err))
            return -1;
    }
    if (has_strings(c)) {
        fputs(i ? "," : "", fp);
        if (print_strings_key(fp, c, err))
            return -1;
    }
    fputc('}', fp);
    return 0;
}

static int print_tensor(FILE *fp, const char *name, const tl_tensor *t, size_t begin, ln_error *err)
{
    if (ln_json_write_string(fp, name, err))
        return -1;
    const size_t size = ln_safetensors_size(t);
    fprintf(fp,
            ":{\"dtype\":\"%s\",\"shape\":", ln_safetensors_dtype_name(ln_safetensors_dtype(t)));
    if (t->dtype == TL_STRING)
        fprintf(fp, "[%zu]", size);
    else
        print_shape(fp, t);
    fprintf(fp, ",\"data_offsets\":[%zu,%zu]}", begin, begin + size);
    return 0;
}

static int print_header(FILE *fp, const void *arg, ln_error *err)
{
    const content *c = arg;
    size_t begin = 0;
    const int has_metadata = c->metadata || has_strings(c);
    int first = !has_metadata;
    fputc('{', fp);
    if (has_metadata && print_metadata(fp, c, err))
        return -1;
    for (size_t s = 0; s < NUM_GROUPS; s++) {
        for (int i = 0; i < c->n; i++) {
            if (group_of(c->tensors[i]) != groups[s])
                continue;
            if (!first)
                fputc(',', fp);
            first = 0;
            if (print_tensor(fp, c->names[i], c->tensors[i], begin, err))
                return -1;
            begin += ln_safetensors_size(c->tensors[i]);
        }
    }
    fputc('}', fp);
    return 0;
}

// Bytes of the tensor, all or, of an even number, a part.
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
    const content *c = arg;
    size_t size;
    char *header = ln_outtext(print_header, c, &size, err);
    if (!header)
        return -1;
    const size_t padding = (ALIGNMENT - (LENGTH_SIZE + size) % ALIGNMENT) % ALIGNMENT;
    for (int i = 0; i < LENGTH_SIZE; i++)
        fputc((int)((uint64_t)(size + padding) >> 8 * i & 0xff), stream);
    fprintf(stream, "%s%*s", header, (int)padding, "");
    free(header);
    for (size_t s = 0; s < NUM_GROUPS; s++)
        for (int i = 0; i < c->n; i++)
            if (group_of(c->tensors[i]) == groups[s] && write_data(stream, c, i, err))
                return -1;
    return 0;
}

// A duplicate name in a list of `n` in steps of `step`, or NULL. -1: no memory.
static int find_repeated(const char *const *names, int n, int step, const char **repeated)
{
    ln_hash *seen = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    int rc = seen ? 0 : -1;
    *repeated = NULL;
    for (int i = 0; !rc && !*repeated && i < n; i += step) {
        const int added = ln_hash_insert(seen, names[i], NULL);
        if (added < 0)
            rc = -1;
        if (added == 0)
            *repeated = names[i];
    }
    ln_hash_free(seen);
    return rc;
}

static int check_names(const char *file, const char *const *names, int n, int step,
                       const char *what, ln_error *err)
{
    const char *repeated;
    if (find_repeated(names, n, step, &repeated))
        return ln_error_set(err, "%s: %s", file, ln_last_error());
    if (repeated)
        return ln_error_set(err, "%s: two %s are named '%s'", file, what, repeated);
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
    const content c = {n, names, tensors, weights, metadata};
    int num_metadata = 0;
    while (metadata && metadata[num_metadata])
        num_metadata += 2;
    if (check_names(file, names, n, 1, "tensors", err) ||
        check_names(file, metadata, num_metadata, 2, "texts of the metadata", err))
        return -1;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], "__metadata__"))
            return ln_error_set(err, "%s: a tensor is named '__metadata__', which is reserved",
                                file);
    for (int i = 0; i < num_metadata; i += 2)
        if (!strcmp(metadata[i], LN_SAFETENSORS_STRINGS))
            return ln_error_set(err, "%s: a text of the metadata is named '%s', which is reserved",
                                file, LN_SAFETENSORS_STRINGS);
    return ln_outfile_write(file, write_safetensors, &c, err);
}
