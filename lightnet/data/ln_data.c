// SPDX-License-Identifier: Apache-2.0
// Reading the data of a model from a file of any format of weights, and writing it.
//
// Everything is checked before anything is copied, so that a file that does not fit changes
// nothing.

#include "lightnet/ln_data.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_infile.h"
#include "base/ln_name.h"
#include "data/ln_bundle.h"
#include "data/ln_data_give.h"
#include "data/ln_params.h"
#include "data/ln_raw.h"
#include "data/ln_safetensors.h"
#include "data/ln_wts.h"
#include "ir/ln_bind.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_tensor.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

// A file of weights of any format

typedef struct weights {
    const ln_bundle *bundle; // the tensors, in one of the following
    ln_safetensors *safetensors;
    ln_bundle wts;
    ln_bundle params;
    ln_infile file; // that has the data of params
    void *owner;    // of the bundle, or NULL
    void (*drop)(void *owner);
} weights;

static void close_weights(weights *w)
{
    ln_safetensors_close(w->safetensors);
    ln_bundle_clear(&w->wts);
    ln_bundle_clear(&w->params);
    ln_infile_close(&w->file);
    if (w->owner)
        w->drop(w->owner);
}

static int read_wts(weights *w, ln_infile *in, const char *file, ln_error *err)
{
    const int rc = ln_wts_parse(&w->wts, in, file, err);
    ln_infile_close(in);
    w->bundle = &w->wts;
    return rc;
}

// Close it also after a failure.
static int open_weights(weights *w, const char *file, ln_error *err)
{
    ln_infile in;
    *w = (weights){0};
    if (ln_infile_open(&in, file, err))
        return -1;
    if (ln_params_is(&in)) {
        w->file = in;
        w->bundle = &w->params;
        return ln_params_parse(&w->params, &w->file, file, err);
    }
    if (ln_safetensors_is(&in)) {
        w->safetensors = ln_safetensors_from_file(&in, file, err);
        if (!w->safetensors)
            return -1;
        w->bundle = ln_safetensors_bundle(w->safetensors);
        return 0;
    }
    if (ln_wts_is(&in))
        return read_wts(w, &in, file, err);
    ln_infile_close(&in);
    return ln_error_set(err, "%s: neither a safetensors, a params nor a wts file", file);
}

// Tensors of the file and of the model

// Whether a file stores elements of type `wanted` as type `stored`: the same, or one for its bits.
static int is_stored_as(tl_dtype stored, tl_dtype wanted)
{
    return stored == wanted || (tl_dtype_is_stored(wanted) && stored == ln_raw_dtype(wanted));
}

static int check_tensor(const ln_bundle *bundle, const tl_tensor *stored, const ln_tensor_entry *te,
                        const char *file, ln_error *err)
{
    const tl_tensor *wanted = te->tensor;
    char shape[TL_SHAPE_TEXT_SIZE], wanted_shape[TL_SHAPE_TEXT_SIZE];
    const int is_same =
        bundle->shaped ? tl_tensor_issameshape(stored, wanted) : stored->len == wanted->len;
    if (is_stored_as(stored->dtype, wanted->dtype) && is_same)
        return 0;
    if (!bundle->shaped)
        return ln_error_set(err, "%s: tensor '%s' is %s with %d elements, expected %s with %d",
                            file, te->name, tl_dtype_name(stored->dtype), stored->len,
                            tl_dtype_name(wanted->dtype), wanted->len);
    return ln_error_set(
        err, "%s: tensor '%s' is %s %s, expected %s %s", file, te->name,
        tl_dtype_name(stored->dtype), tl_shape_text(shape, stored->ndim, stored->dims),
        tl_dtype_name(wanted->dtype), tl_shape_text(wanted_shape, wanted->ndim, wanted->dims));
}

// Into a tensor table: every array of the file

static int check_for_table(const weights *w, const ln_hash *table, const char *file)
{
    for (int i = 0; i < w->bundle->len; i++) {
        const ln_bundle_entry *entry = &w->bundle->entries[i];
        const ln_tensor_entry *te = ln_tensor_table_find(table, entry->name);
        if (te && check_tensor(w->bundle, entry->tensor, te, file, NULL))
            return -1;
    }
    return 0;
}

static int copy_to_table(const weights *w, ln_hash *table, const char *file)
{
    for (int i = 0; i < w->bundle->len; i++) {
        const ln_bundle_entry *const entry = &w->bundle->entries[i];
        if (!ln_tensor_table_find(table, entry->name))
            ln_error_set(NULL, "%s: ignored array '%s': no tensor has its name", file, entry->name);
        else if (ln_tensor_table_set_data(table, entry->name, entry->tensor->data))
            return ln_error_set(NULL, "%s: tensor '%s': %s", file, entry->name, ln_last_error());
    }
    return 0;
}

int ln_tensor_table_load_trt_weight_file(ln_hash *table, const char *file)
{
    ln_infile in;
    weights w = {0};
    if (ln_infile_open(&in, file, NULL))
        return -1;
    ln_error_clear(NULL);
    const int rc = -(read_wts(&w, &in, file, NULL) || check_for_table(&w, table, file) ||
                     copy_to_table(&w, table, file));
    close_weights(&w);
    return rc;
}

// Into a model: its operators' data in a file

// The tensor that the operator reads from a file; NULL: none.
static const ln_tensor_entry *wanted_by(const ln_context *ctx, const ln_op *op)
{
    const char *name = ln_from_file_name(op);
    return name ? ln_tensor_table_find(ctx->tensor_table, name) : NULL;
}

static int check_wanted(const ln_context *ctx, const weights *w, const ln_tensor_entry *te,
                        const char *file)
{
    char shape[TL_SHAPE_TEXT_SIZE];
    const tl_tensor *stored = ln_bundle_find(w->bundle, te->name);
    if (!stored && (ln_weights_find(ctx->weights, te->name) ||
                    ln_hash_find(ctx->input_names, te->name))) // which the caller sets
        return 0;
    if (!stored)
        return ln_error_set(ctx->error, "%s: no tensor '%s', expected %s %s", file, te->name,
                            tl_dtype_name(te->tensor->dtype),
                            tl_shape_text(shape, te->tensor->ndim, te->tensor->dims));
    return check_tensor(w->bundle, stored, te, file, ctx->error);
}

static int check_value(const ln_context *ctx, const ln_bundle *bundle, const ln_bundle_entry *entry,
                       const char *file)
{
    const ln_weight weight = {entry->name, entry->tensor, bundle->file, entry->offset};
    uint64_t hash;
    if (ln_weight_hash(&weight, &hash, ctx->error))
        return -1;
    return ln_fixed_check_hash(ctx, entry->name, hash) ? ln_fail_at(ctx, "%s", file) : 0;
}

// A separate record, of the wanted type, over data that the bundle has in memory, or its file.
static int add_weight(ln_weights *to, const ln_bundle *bundle, const ln_bundle_entry *entry,
                      tl_dtype dtype)
{
    const tl_tensor *t = entry->tensor;
    tl_tensor *record = tl_tensor_create(t->data, t->ndim, t->dims, dtype);
    if (record &&
        !(t->data ? ln_weights_add(to, entry->name, record, 0)
                  : ln_weights_add_from(to, entry->name, record, bundle->file, entry->offset)))
        return 0;
    tl_tensor_free(record);
    return -1;
}

// Stores where the data of the model is in the file, which stays open until it is read.
static int set_model_weights(const ln_context *ctx, ln_weights *to, const weights *w,
                             const char *file)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_tensor_entry *te = wanted_by(ctx, op);
        const ln_bundle_entry *stored = te ? ln_bundle_entry_of(w->bundle, te->name) : NULL;
        if (stored && add_weight(to, w->bundle, stored, te->tensor->dtype))
            return ln_error_memory_at(ctx->error, file);
    }
    return 0;
}

// Returns new (ln_hash_free): the names of the tensors that the model needs; NULL with a reason.
static ln_hash *wanted_names(const ln_context *ctx)
{
    ln_hash *names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    LN_FOREACH (const ln_op *, op, names ? ctx->ops : NULL) {
        const ln_tensor_entry *te = wanted_by(ctx, op);
        if (te && ln_hash_insert(names, te->name, te->name) < 0) {
            ln_hash_free(names);
            return NULL;
        }
    }
    return names;
}

static int warn_of_unused(const ln_context *ctx, const weights *w, const char *file)
{
    int unused = 0;
    const char *first = NULL;
    ln_hash *wanted = wanted_names(ctx);
    if (!wanted)
        return ln_error_memory_at(ctx->error, file);
    for (int i = 0; i < w->bundle->len; i++) {
        const char *name = w->bundle->entries[i].name;
        if (ln_hash_find(wanted, name))
            continue;
        if (!unused++)
            first = name;
    }
    ln_hash_free(wanted);
    if (unused)
        ln_warn(ctx, "%s: %s does not use %d of %d tensors, the first is '%s'", file,
                ctx->source ? ctx->source : "the model", unused, w->bundle->len, first);
    return 0;
}

static void free_weights(void *w)
{
    close_weights(w);
    ln_free(w);
}

// Takes the open file. *to, which this creates, closes it; after a failure, it is closed.
static int keep_open(const ln_context *ctx, ln_weights **to, weights *w, const char *file)
{
    weights *kept = ln_clone(w, sizeof(*w));
    ln_weights_free(*to);
    *to = ln_weights_create();
    if (!kept || !*to || ln_weights_adopt(*to, kept, free_weights)) {
        close_weights(w);
        ln_free(kept);
        return ln_error_memory_at(ctx->error, file);
    }
    // Pointers into *w become pointers into its copy.
    if (w->bundle == &w->wts)
        kept->bundle = &kept->wts;
    if (w->bundle == &w->params) {
        kept->bundle = &kept->params;
        kept->params.file = &kept->file;
    }
    return set_model_weights(ctx, *to, kept, file);
}

static int check_for_model(const ln_context *ctx, const weights *w, const char *file)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_tensor_entry *te = wanted_by(ctx, op);
        if (te && check_wanted(ctx, w, te, file))
            return -1;
    }
    // Values that the program was compiled for must be the same, even those that it no longer
    // reads.
    LN_FOREACH (const ln_fixed_value *, value, ln_fixed_values(ctx->fixed)) {
        const ln_bundle_entry *stored = ln_bundle_entry_of(w->bundle, value->tensor);
        if (stored && check_value(ctx, w->bundle, stored, file))
            return -1;
    }
    return 0;
}

// Takes the open file.
static int set_weights(const ln_context *ctx, ln_weights **to, weights *w, const char *file)
{
    if (check_for_model(ctx, w, file) || warn_of_unused(ctx, w, file)) {
        close_weights(w);
        return -1;
    }
    return keep_open(ctx, to, w, file);
}

int ln_data_with(const ln_context *ctx, const char *file,
                 int (*func)(const ln_bundle *bundle, void *arg), void *arg)
{
    weights w;
    const int status = open_weights(&w, file, ctx->error) ? -1 : func(w.bundle, arg);
    close_weights(&w);
    return status;
}

static int add_params(const ln_bundle *bundle, void *arg)
{
    int status = 0;
    for (int i = 0; !status && i < bundle->len && bundle->shaped; i++)
        status = ln_bind_add_param(arg, bundle->entries[i].name, bundle->entries[i].tensor);
    return status;
}

int ln_data_look(ln_context *ctx)
{
    return ctx->datafile ? ln_data_with(ctx, ctx->datafile, add_params, ctx) : 0;
}

int ln_data_give(ln_context *ctx, const char *file)
{
    weights w;
    if (!open_weights(&w, file, ctx->error))
        return set_weights(ctx, &ctx->given, &w, file);
    close_weights(&w);
    return -1;
}

int ln_data_give_own(ln_context *ctx, const ln_bundle *bundle, void *owner, void (*drop)(void *),
                     const char *file)
{
    weights w = {.bundle = bundle, .owner = owner, .drop = drop};
    return set_weights(ctx, &ctx->weights, &w, file);
}

// Saving

int ln_data_num_own(const ln_context *ctx)
{
    int n = 0;
    LN_FOREACH (const ln_op *, op, ctx->weights ? ctx->ops : NULL) {
        const char *name = ln_from_file_name(op);
        n += name && ln_weights_find(ctx->weights, name);
    }
    return n;
}

const ln_weight *ln_data_taken(const ln_context *ctx, const ln_op *op, tl_tensor **shape)
{
    const char *name = ln_from_file_name(op);
    const ln_weight *weight = name ? ln_weights_of(ctx, name) : NULL;
    const ln_tensor_entry *te = weight ? ln_tensor_table_find(ctx->tensor_table, name) : NULL;
    if (te)
        *shape = tl_tensor_create(weight->tensor->data, te->tensor->ndim, te->tensor->dims,
                                  weight->tensor->dtype);
    return te ? weight : NULL;
}

// Saving the weights of a model that is written without them

// The content of the file.
typedef struct content {
    const char **names;
    tl_tensor **tensors;
    const ln_weight **weights;
    int n;
} content;

static int collect(const ln_context *ctx, content *c)
{
    const size_t max = (size_t)ln_list_length(ctx->ops) + 1;
    c->names = ln_alloc_array(max, sizeof(*c->names));
    c->tensors = ln_alloc_array(max, sizeof(*c->tensors));
    c->weights = ln_alloc_array(max, sizeof(*c->weights));
    if (!c->names || !c->tensors || !c->weights)
        return ln_fail_memory(ctx);
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const ln_weight *weight = ln_data_taken(ctx, op, &c->tensors[c->n]);
        if (!weight)
            continue;
        if (!c->tensors[c->n])
            return ln_fail(ctx, "%s", tl_last_error());
        c->names[c->n] = weight->name;
        c->weights[c->n++] = weight;
    }
    return 0;
}

int ln_data_save_with(const ln_context *ctx, const char *const *metadata, const char *file)
{
    content c = {0};
    const int status =
        collect(ctx, &c)
            ? ln_fail_at(ctx, "%s", file)
            : ln_safetensors_write_weights(file, c.n, c.names, (const tl_tensor *const *)c.tensors,
                                           c.weights, metadata, ctx->error);
    for (int i = 0; i < c.n; i++)
        tl_tensor_free(c.tensors[i]);
    ln_free(c.names);
    ln_free(c.tensors);
    ln_free(c.weights);
    return status;
}

int ln_data_save(ln_context *ctx, const char *file)
{
    ln_context_clear_error(ctx);
    if (ctx->datafile && ln_data_give(ctx, ctx->datafile))
        return -1;
    return ln_data_save_with(ctx, NULL, file);
}

int ln_data_name_beside(char *buf, size_t size, const char *file, const char *ending)
{
    static const char *const endings[] = {".json", ".net", ".il"};
    size_t stem = strlen(file);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (ln_has_suffix(file, endings[i]))
            stem = strlen(file) - strlen(endings[i]);
    const int len = snprintf(buf, size, "%.*s%s", (int)stem, file, ending);
    return len >= 0 && (size_t)len < size
               ? 0
               : ln_error_set(NULL, "%.64s...: the file name is too long", file);
}
