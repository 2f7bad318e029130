// SPDX-License-Identifier: Apache-2.0
// The data of a loaded context: set and read by name.

#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "ir/ln_rows.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"
#include "run/ln_update.h"

int ln_fail_missing(const ln_context *ctx, const char *tname)
{
    return ln_fail(ctx,
                   "tensor '%s' reads its data from a file: pass one when loading (-f FILE, "
                   "option 'weights'), or set it",
                   tname);
}

// Compiling removes tensors, and operators, that it replaces, and no record of them remains.
static void fail_unknown(const ln_context *ctx, const char *tname)
{
    ln_fail_as(ctx, LN_NOT_FOUND,
               ctx->target ? "the compiled program has no tensor '%s': if the model has it, make "
                             "it an output before compiling"
                           : "the model has no tensor '%s'",
               tname);
}

static ln_tensor_entry *find_loaded(ln_context *ctx, const char *tname)
{
    ln_context_clear_error(ctx);
    ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    const ln_fixed_value *value = te ? NULL : ln_fixed_find(ctx->fixed, tname);
    if (value && value->frozen)
        ln_fail(ctx,
                "the model contains values computed from '%s' instead of it; to set it, compile "
                "the model again",
                tname);
    else if (!te)
        fail_unknown(ctx, tname);
    else if (!te->tensor->data)
        ln_fail(ctx, "tensor '%s' has no memory: the context is not loaded", tname);
    return te && te->tensor->data ? te : NULL;
}

// Rejects other data for a tensor, or an owner of it, on whose value the program depends.
static int check_fixed(const ln_context *ctx, const ln_tensor_entry *te, const void *data)
{
    const tl_dtype dtype = te->tensor->dtype;
    const size_t len = (size_t)te->tensor->len;
    for (; te; te = ln_entry_owner(te, ctx->tensor_table))
        if (ln_fixed_find(ctx->fixed, te->name) &&
            ln_fixed_check_hash(ctx, te->name, ln_elements_hash(data, dtype, len)))
            return -1;
    return 0;
}

// Keeps a copy of the data, which the next update reads.
static int keep_copy(ln_context *ctx, const ln_tensor_entry *te, const void *data)
{
    if (!ctx->given)
        ctx->given = ln_weights_create();
    return ctx->given ? ln_weights_copy(ctx->given, te->name, te->tensor, data) : -1;
}

// The same for strings, which are copies already.
static int keep_strings(ln_context *ctx, const ln_tensor_entry *te, const void *data)
{
    const tl_tensor *const t = te->tensor;
    if (!ctx->given)
        ctx->given = ln_weights_create();
    tl_tensor *const record =
        ctx->given ? tl_tensor_create((void *)data, t->ndim, t->dims, t->dtype) : NULL;
    if (record && !ln_weights_add(ctx->given, te->name, record, 0))
        return 0;
    tl_tensor_free(record);
    return -1;
}

static int check_settable(const ln_context *ctx, const ln_tensor_entry *te, const void *data)
{
    if (!data)
        return ln_fail(ctx, "the data for tensor '%s' is NULL", te->name);
    const ln_op *producer = ln_context_creater(ctx, te->name);
    if (producer->op_arg->at_load && producer->run)
        return ln_fail(ctx, "tensor '%s' is computed from others when the model is loaded",
                       te->name);
    if (te->isload && te->owner)
        return ln_fail(ctx, "tensor '%s' is a view of constant '%s'; set that one", te->name,
                       ln_tensor_table_root(ctx->tensor_table, te)->name);
    return check_fixed(ctx, te, data);
}

static int set_data(ln_context *ctx, const char *tname, const void *data)
{
    ln_tensor_entry *te = find_loaded(ctx, tname);
    if (!te || check_settable(ctx, te, data))
        return -1;
    const int has_strings = te->tensor->dtype == TL_STRING;
    if (has_strings)
        data = ln_texts_keep(ctx, te->name, data, (size_t)te->tensor->len);
    if (!data)
        return -1;
    const ln_copy_func copy = ln_mem_type_copy_func(te->mtype, LN_MEM_CPU);
    if (!te->isload) // others are set at their next use: runs reuse their memory
        copy(te->tensor->data, data, tl_tensor_size(te->tensor));
    else if (has_strings ? keep_strings(ctx, te, data) : keep_copy(ctx, te, data))
        return ln_fail_last(ctx);
    if (te->isconst)
        ln_update_mark(ctx, te);
    ctx->missing = ln_list_remove_custom_deep(ctx->missing, tname, ln_str_cmp, ln_free);
    return 0;
}

int ln_context_set_data(ln_context *ctx, const char *tname, const void *data)
{
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, set_data(ctx, tname, data));
}

static int check_shape(const ln_context *ctx, const ln_tensor_entry *te, const int *min,
                       const int *max, int ndim, const int *dims)
{
    char given[LN_MAX_SHAPE], low[LN_MAX_SHAPE], high[LN_MAX_SHAPE];
    int fits = ndim == te->tensor->ndim;
    for (int i = 0; i < ndim && fits; i++)
        fits = dims[i] >= min[i] && dims[i] <= max[i];
    if (fits)
        return 0;
    return ln_fail(ctx, "input '%s' is given with shape %s, expected from %s to %s", te->name,
                   ln_sprint_shape(given, sizeof(given), ndim, dims),
                   ln_sprint_shape(low, sizeof(low), te->tensor->ndim, min),
                   ln_sprint_shape(high, sizeof(high), te->tensor->ndim, max));
}

int ln_context_set_shape(ln_context *ctx, const char *tname, int ndim, const int *dims)
{
    ln_context_clear_error(ctx);
    if (!ln_tensor_table_find(ctx->tensor_table, tname) && !ln_fixed_find(ctx->fixed, tname))
        return ln_fail_as(ctx, LN_NOT_FOUND, "the model has no input '%s'", tname);
    ln_tensor_entry *te = find_loaded(ctx, tname);
    const ln_op *producer = te ? ln_context_creater(ctx, tname) : NULL;
    if (!te)
        return -1;
    if (!ln_is_placeholder(producer))
        return ln_fail(ctx, "tensor '%s' is not an input with open sizes", tname);
    if (check_shape(ctx, te, ln_placeholder_min(producer), ln_placeholder_max(producer), ndim,
                    dims))
        return -1;
    for (int i = 0; i < ndim; i++)
        te->bound[i] = te->tensor->dims[i] = dims[i]; // its producer sets the max size
    te->tensor->len = tl_compute_length(ndim, te->tensor->dims);
    ctx->has_new_shapes = 1;
    return 0;
}

// A range of offsets in the memory of tensor `root`.
typedef struct piece {
    const ln_tensor_entry *root;
    size_t begin, end;
} piece;

static int meets(const piece *p, size_t offset, size_t size)
{
    return offset < p->end && offset + size > p->begin;
}

// Whether the operator writes other data into the piece.
static int overwrites(const ln_context *ctx, const ln_op *op, const piece *p)
{
    const ln_op_arg *op_arg = op->op_arg;
    const ln_tensor_entry *te;
    if (op_arg->at_load || !op->run)
        return 0;
    LN_OUTPUTS_FOREACH (te, op_arg)
        if (te->mtype == p->root->mtype && meets(p, te->offset, ln_tensor_entry_capacity(te)) &&
            ln_tensor_table_root(ctx->tensor_table, te) != p->root)
            return 1;
    return p->root->mtype == ln_op_scratch_type(op_arg) && op_arg->scratch_size &&
           meets(p, op_arg->scratch_offset, op_arg->scratch_size);
}

// The plan keeps static tensors and outputs; others survive unless later operators overwrite them.
static int survives(const ln_context *ctx, const ln_tensor_entry *te)
{
    const ln_tensor_entry *root = ln_tensor_table_root(ctx->tensor_table, te);
    // The offset of a dynamic view in its root is not fixed, and rows lie apart.
    const ln_tensor_entry *at = te->isdynamic || te->rows ? root : te;
    const piece p = {root, at->offset, at->offset + ln_tensor_entry_capacity(at)};
    if (te->isload)
        return 0;
    if (root->isstatic || ctx->keep || ln_entry_is_output(te))
        return 1;
    const ln_op *producer = ln_entry_creater(te);
    for (const ln_list *node = producer->op_arg->node->next; node; node = node->next)
        if (overwrites(ctx, node->data, &p))
            return 0;
    return 1;
}

void *ln_context_get_data(ln_context *ctx, const char *tname, void *data)
{
    const ln_tensor_entry *te = find_loaded(ctx, tname);
    if (!te)
        return NULL;
    const ln_weight *weight = te->isload ? ln_weights_of(ctx, tname) : NULL;
    if (!weight && !survives(ctx, te)) {
        ln_fail(ctx, "tensor '%s' does not outlive the run: make it an output before compiling",
                tname);
        return NULL;
    }
    const size_t size = tl_tensor_size(te->tensor);
    void *const got = data ? data : ln_alloc(size);
    if (!got) {
        ln_fail_as(ctx, LN_OUT_OF_MEMORY, "cannot allocate %zu bytes for tensor '%s'", size, tname);
        return NULL;
    }
    if (weight && ln_weight_read(weight, 0, got, size, ctx->error)) {
        if (!data)
            ln_free(got);
        return NULL;
    }
    if (te->rows)
        ln_rows_read(te, got);
    else if (!weight)
        ln_mem_type_copy_func(LN_MEM_CPU, te->mtype)(got, te->tensor->data, size);
    return got;
}

size_t ln_context_data_size(ln_context *ctx, const char *tname)
{
    ln_context_clear_error(ctx);
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    if (!te)
        fail_unknown(ctx, tname);
    return te ? tl_tensor_size(te->tensor) : 0;
}
