// SPDX-License-Identifier: Apache-2.0
// Packs an ONNX model into a file, with the data of its initializers inside or as external data.
//
// Data stays where it is until it is written: in a message, the address of a record (ln_onnx_data)
// represents it. The packer passes such an address on, and `append` writes the data instead.

#include "front/onnx/write/ln_onnx_write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ln_error_memory.h"
#include "base/ln_outtext.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

// The max size of a protobuf message.
enum { MAX_MESSAGE = INT32_MAX };

// Data of at least MIN_EXTERNAL bytes can be external, at multiples of ALIGNMENT.
enum { MIN_EXTERNAL = 1024, ALIGNMENT = 64 };

enum { PIECE = 1 << 16 };

// TensorProto.DataLocation
enum { EXTERNAL = 1 };

// The data to write to a stream.
typedef struct packing {
    ProtobufCBuffer buffer;
    FILE *fp;
    const ln_onnx_writer *w;
    const void **records; // the ln_onnx_data, in the order of addresses
    size_t n_records;
    LnOnnx__Model *model;
    ln_error *err;
    int failed;
} packing;

// Writes the operator's random numbers, with the context's seed.
static int write_random(FILE *fp, const ln_op *op, ln_error *err)
{
    const ln_param_entry *const ran = ln_op_param(op, "ran");
    tl_tensor t = *ln_op_output(op, "dst")->tensor;
    uint64_t state = ln_op_seed(op->op_arg);
    t.data = ln_alloc(tl_tensor_size(&t) + 1);
    if (!t.data)
        return ln_error_memory(err);
    const int status =
        tl_tensor_fill_uniform(&t, ran->value_array_double[0], ran->value_array_double[1], &state);
    fwrite(t.data, 1, tl_tensor_size(&t), fp);
    ln_free(t.data);
    return status ? ln_error_set(err, "%s", tl_last_error()) : 0;
}

static int read_piece(const ln_onnx_data *data, size_t at, uint8_t *piece, size_t len,
                      ln_error *err)
{
    if (data->weight)
        return ln_weight_read(data->weight, at, piece, len, err);
    memcpy(piece, (const uint8_t *)data->bytes + at, len);
    return 0;
}

static int write_data(FILE *fp, const ln_onnx_data *data, ln_error *err)
{
    uint8_t piece[PIECE], packed[PIECE];
    const size_t end = data->n_unpacked ? data->n_unpacked : data->size;
    if (data->random)
        return write_random(fp, data->random, err);
    for (size_t at = 0; at < end; at += PIECE) {
        const size_t len = end - at < PIECE ? end - at : PIECE;
        if (read_piece(data, at, piece, len, err))
            return -1;
        for (size_t i = 0; i < len && data->xor_mask; i++)
            piece[i] ^= data->xor_mask;
        if (data->n_unpacked) {
            tl_pack(packed, piece, data->dtype, len);
            fwrite(packed, 1, tl_packed_size(data->dtype, len), fp);
        } else {
            fwrite(piece, 1, len, fp);
        }
    }
    return 0;
}

static int compare_addresses(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t) * (const void *const *)a;
    const uintptr_t y = (uintptr_t) * (const void *const *)b;
    return (x > y) - (x < y);
}

static void append(ProtobufCBuffer *buffer, size_t len, const uint8_t *bytes)
{
    packing *const p = (packing *)buffer; // its first member
    const void *const key = bytes;
    if (p->failed || !len)
        return;
    if (bsearch(&key, p->records, p->n_records, sizeof(*p->records), compare_addresses))
        p->failed = write_data(p->fp, (const ln_onnx_data *)key, p->err);
    else
        fwrite(bytes, 1, len, p->fp);
}

static int write_message(FILE *fp, const void *arg, ln_error *err)
{
    packing p = *(const packing *)arg;
    p.buffer.append = append;
    p.fp = fp;
    p.err = err;
    ln_onnx__model__pack_to_buffer(p.model, &p.buffer);
    return p.failed;
}

// External data

static size_t aligned(size_t offset)
{
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// NULL: the tensor has strings, which are in the model.
static const ln_onnx_data *data_of(const LnOnnx__Tensor *t)
{
    return (const ln_onnx_data *)(const void *)t->raw_data.data;
}

static int is_large(const ln_onnx_data *data)
{
    return data && data->size >= MIN_EXTERNAL;
}

static int write_external_data(FILE *fp, const void *arg, ln_error *err)
{
    const ln_onnx_list *const tensors = arg;
    size_t at = 0;
    for (size_t i = 0; i < tensors->len; i++) {
        const ln_onnx_data *const data = data_of(tensors->items[i]);
        if (!is_large(data))
            continue;
        for (; at < aligned(at); at++)
            fputc(0, fp);
        if (write_data(fp, data, err))
            return -1;
        at += data->size;
    }
    return 0;
}

static LnOnnx__Entry *entry(ln_onnx_writer *w, const char *key, char *value)
{
    LnOnnx__Entry *const e = ln_translation_alloc(&w->base, sizeof(*e));
    if (!e)
        return NULL;
    ln_onnx__entry__init(e);
    e->key = (char *)key;
    e->value = value;
    return e;
}

// Refers to external data instead of raw_data.
static void make_external(ln_onnx_writer *w, LnOnnx__Tensor *t, const char *location, size_t offset)
{
    ln_onnx_list entries = {NULL};
    ln_translation *const base = &w->base;
    ln_onnx_list_add(w, &entries, entry(w, "location", (char *)location));
    ln_onnx_list_add(w, &entries, entry(w, "offset", ln_translation_print(base, "%zu", offset)));
    ln_onnx_list_add(w, &entries,
                     entry(w, "length", ln_translation_print(base, "%zu", t->raw_data.len)));
    t->external_data = (LnOnnx__Entry **)entries.items;
    t->n_external_data = entries.len;
    t->has_data_location = 1;
    t->data_location = EXTERNAL;
    t->has_raw_data = 0;
}

// Returns whether any data is external.
static int make_all_external(ln_onnx_writer *w, const char *location)
{
    size_t at = 0;
    for (size_t i = 0; i < w->initializers.len && !w->base.failed; i++) {
        LnOnnx__Tensor *const t = w->initializers.items[i];
        if (!is_large(data_of(t)))
            continue;
        at = aligned(at);
        make_external(w, t, location, at);
        at += t->raw_data.len;
    }
    return at > 0;
}

// Writes the model and its external data, whose records stay in `raw_data`.
static int write_both(ln_onnx_writer *w, const packing *p)
{
    const char *const file = w->base.file, *const slash = strrchr(file, '/');
    const char *const beside = ln_translation_print(&w->base, "%s.data", file);
    const char *const location =
        ln_translation_print(&w->base, "%s.data", slash ? slash + 1 : file);
    ln_error *const err = w->base.ctx->error;
    if (!beside || !location)
        return -1;
    if (!strcmp(file, "-"))
        return ln_error_set(err,
                            "standard output: the model has external data; write it to a file");
    const int is_external = make_all_external(w, location);
    if (w->base.failed ||
        (is_external && ln_outfile_write(beside, write_external_data, &w->initializers, err)))
        return -1;
    if (!ln_outfile_write(file, write_message, p, err))
        return 0;
    if (is_external)
        unlink(beside); // of no use without the model
    return -1;
}

int ln_onnx_pack(ln_onnx_writer *w, LnOnnx__Model *model, int is_external)
{
    packing p = {.w = w, .model = model, .n_records = w->data.len};
    p.records = ln_translation_alloc(&w->base, (w->data.len + 1) * sizeof(*p.records));
    if (!p.records)
        return -1;
    for (size_t i = 0; i < w->data.len; i++)
        p.records[i] = w->data.items[i];
    qsort(p.records, p.n_records, sizeof(*p.records), compare_addresses);
    if (is_external || ln_onnx__model__get_packed_size(model) > MAX_MESSAGE)
        return write_both(w, &p);
    return ln_outfile_write_or_print(w->base.file, write_message, &p, w->base.ctx->error);
}
