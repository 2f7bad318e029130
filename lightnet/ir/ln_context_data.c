// SPDX-License-Identifier: Apache-2.0
// Memory, data and runs of a context whose memory is planned.

#include "lightnet/ln_context.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_dynamic.h"
#include "ir/ln_fixed.h"
#include "ir/ln_lifetime.h"
#include "ir/ln_limits.h"
#include "ir/ln_update.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"

int ln_context_is_loaded(const ln_context *ctx)
{
    for (int m = 0; m < LN_MEM_TYPE_SIZE; m++)
        if (ctx->mem_starts[m])
            return 1;
    return 0;
}

// Calls `visit` for every tensor of the context, in the order in which the operators make them.
static void for_each_tensor(ln_context *ctx, void (*visit)(ln_context *, ln_tensor_entry *))
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            visit(ctx, ln_tensor_table_find(ctx->tensor_table, tle->name));
        }
    }
}

static void bind_data(ln_context *ctx, ln_tensor_entry *te)
{
    char *start = ctx->mem_starts[te->mtype];
    te->tensor->data = start ? start + te->offset : NULL;
}

static int check_place(const ln_context *ctx, const char *what, const char *name, ln_mem_type mtype,
                       size_t offset, size_t size)
{
    size_t end;
    if (mtype == LN_MEM_NONE)
        return ln_fail(ctx, "%s '%s' has no memory type: the model is not compiled", what, name);
    if (offset && !ln_size_add(offset, size, &end) && end <= ctx->mem_sizes[mtype])
        return 0;
    return ln_fail(ctx,
                   "%s '%s' of %zu bytes is planned at offset %zu, outside the %zu bytes of %s",
                   what, name, size, offset, ctx->mem_sizes[mtype], ln_mem_type_name(mtype));
}

static int check_tensor_place(const ln_context *ctx, const ln_tensor_entry *te)
{
    const size_t element_size = tl_size_of(te->tensor->dtype);
    const ln_tensor_entry *root = ln_tensor_table_root(ctx->tensor_table, te);
    if (ln_body_is_given(ctx, root)) // elsewhere, and views lie within it
        return 0;
    if (check_place(ctx, "tensor", te->name, te->mtype, te->offset, ln_tensor_entry_capacity(te)))
        return -1;
    if (te->offset % element_size)
        return ln_fail(ctx,
                       "tensor '%s' is planned at offset %zu, expected a multiple of its element "
                       "size, %zu",
                       te->name, te->offset, element_size);
    return 0;
}

static int check_scratch_place(const ln_context *ctx, const ln_op_arg *op_arg)
{
    const size_t align = ln_mem_type_info(LN_MEM_CPU).align_size;
    if (check_place(ctx, "scratch memory of operator", op_arg->name, LN_MEM_CPU,
                    op_arg->scratch_offset, op_arg->scratch_size))
        return -1;
    if (op_arg->scratch_offset % align)
        return ln_fail(ctx,
                       "scratch memory of operator '%s' is planned at offset %zu, expected a "
                       "multiple of %zu",
                       op_arg->name, op_arg->scratch_offset, align);
    return 0;
}

static int check_op_places(const ln_context *ctx, const ln_op_arg *op_arg)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op_arg->tensors_out)
    {
        if (check_tensor_place(ctx, ln_tensor_table_find(ctx->tensor_table, tle->name)))
            return -1;
    }
    return op_arg->scratch_size ? check_scratch_place(ctx, op_arg) : 0;
}

// No tensor and no scratch memory may reach outside of its memory.
static int check_places(const ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (check_op_places(ctx, op->op_arg))
            return -1;
    }
    return 0;
}

// A view lies where its owner puts it, and a result that takes over memory lies in that memory.
static int check_sharing(const ln_context *ctx, const ln_lifetime *life)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
            const size_t expected = te->owner ? ln_lifetime_view_offset(ctx, te)
                                              : ln_lifetime_block(ctx, life, te)->offset;
            if (te->offset != expected)
                return ln_fail(
                    ctx,
                    "tensor '%s' is planned at offset %zu, but the memory it shares puts it at %zu",
                    te->name, te->offset, expected);
        }
    }
    return 0;
}

// A plan may come from a file, or be older than a parameter.
int ln_context_check_plan(const ln_context *ctx)
{
    ln_lifetime life;
    if (check_places(ctx) || ln_lifetime_find(ctx, &life))
        return -1;
    const int status = check_sharing(ctx, &life) || ln_lifetime_check(ctx, &life) ? -1 : 0;
    ln_lifetime_free(&life);
    return status;
}

int ln_context_forget_runs(ln_context *ctx)
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (op->op_arg->isdynamic)
            return ln_context_recheck(ctx);
    }
    return 0;
}

/* What takes the most memory of a plan: a tensor, or an operator's scratch memory. */
typedef struct largest {
    const ln_op *op;
    const ln_tensor_entry *te; /* NULL: scratch memory */
    size_t size;
} largest;

static void find_largest_of(const ln_context *ctx, const ln_op *op, largest *l)
{
    const ln_tensor_list_entry *tle;
    if (op->op_arg->scratch_size > l->size)
        *l = (largest){op, NULL, op->op_arg->scratch_size};
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
        if (!te->owner && ln_tensor_entry_capacity(te) > l->size)
            *l = (largest){op, te, ln_tensor_entry_capacity(te)};
    }
}

static int fail_memory_limit(const ln_context *ctx, size_t total)
{
    largest l = {0};
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        find_largest_of(ctx, op, &l);
    }
    if (!l.op)
        return ln_fail(ctx, "%zu bytes of memory exceed the limit of %zu bytes", total,
                       ln_limits_memory(ctx));
    return ln_fail(ctx,
                   "operator '%s' (%s): %s%s%s takes %zu of the %zu bytes of memory planned, which "
                   "exceed the limit of %zu bytes",
                   l.op->op_arg->name, l.op->op_arg->optype, l.te ? "tensor '" : "scratch memory",
                   l.te ? l.te->name : "", l.te ? "'" : "", l.size, total, ln_limits_memory(ctx));
}

static size_t planned_memory(const ln_context *ctx)
{
    size_t total = 0;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++)
        if (ln_size_add(total, ctx->mem_sizes[m], &total))
            return SIZE_MAX;
    return total;
}

static int check_memory_limit(const ln_context *ctx)
{
    const size_t total = planned_memory(ctx);
    return ln_limits_forbid(ctx, total) ? fail_memory_limit(ctx, total) : 0;
}

int ln_context_alloc_mem(ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is loaded already; unload it first");
    if (ln_context_forget_runs(ctx) || ln_context_check_plan(ctx) || check_memory_limit(ctx))
        return -1;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        const ln_mem_info info = ln_mem_type_info(m);
        // A model that computes nothing has memory all the same: that is what being loaded means.
        if (!ctx->mem_sizes[m] && m != LN_MEM_CPU)
            continue;
        ctx->mem_starts[m] = info.alloc_func(ctx->mem_sizes[m]);
        if (!ctx->mem_starts[m]) {
            ln_context_dealloc_mem(ctx);
            return ln_fail(ctx, "cannot allocate %zu bytes of %s", ctx->mem_sizes[m], info.name);
        }
        ln_limits_take(ctx, ctx->mem_sizes[m]);
    }
    for_each_tensor(ctx, bind_data);
    return 0;
}

void ln_context_dealloc_mem(ln_context *ctx)
{
    ln_update_forget(ctx);
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++) {
        if (!ctx->mem_starts[m])
            continue;
        ln_mem_type_info(m).free_func(ctx->mem_starts[m]);
        ctx->mem_starts[m] = NULL;
        ln_limits_give(ctx, ctx->mem_sizes[m]);
    }
    for_each_tensor(ctx, bind_data);
}

void ln_context_unload(ln_context *ctx)
{
    ln_budget *const before = ln_limits_enter(ctx);
    if (ln_context_is_loaded(ctx))
        ln_context_dealloc_mem(ctx);
    ln_bodies_unload(ctx);
    ln_weights_free(ctx->given);
    ctx->given = NULL;
    ln_list_free_deep(ctx->missing, ln_free);
    ctx->missing = NULL;
    ctx->stale = 0;
    ln_limits_leave(ctx, before, 0);
}

static ln_tensor_entry *find_loaded(ln_context *ctx, const char *tname)
{
    ln_context_clear_error(ctx);
    ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    const ln_fixed_value *value = te ? NULL : ln_fixed_find(ctx->fixed, tname);
    if (value && value->frozen)
        ln_fail(ctx,
                "the model has what was computed from '%s' instead of it; to set it, compile the "
                "model anew",
                tname);
    else if (!te)
        ln_fail(ctx, "the model has no tensor '%s'", tname);
    else if (!te->tensor->data)
        ln_fail(ctx, "tensor '%s' has no memory: the context is not loaded", tname);
    return te && te->tensor->data ? te : NULL;
}

// Data on whose values was decided cannot become other data, also through a view of it.
static int check_fixed(const ln_context *ctx, const ln_tensor_entry *te, const void *data)
{
    const size_t size = tl_tensor_size(te->tensor);
    for (; te; te = te->owner ? ln_tensor_table_find(ctx->tensor_table, te->owner) : NULL)
        if (ln_fixed_check(ctx, te->name, data, size))
            return -1;
    return 0;
}

// Leaves a copy where the data is fetched again.
static int give(ln_context *ctx, const ln_tensor_entry *te, const void *data)
{
    if (!ctx->given)
        ctx->given = ln_weights_create();
    return ctx->given ? ln_weights_copy(ctx->given, te->name, te->tensor, data) : -1;
}

static int set_data(ln_context *ctx, const char *tname, const void *data)
{
    ln_tensor_entry *te = find_loaded(ctx, tname);
    if (!te)
        return -1;
    if (!data)
        return ln_fail(ctx, "the data for tensor '%s' is NULL", tname);
    const ln_op *maker = ln_context_creater(ctx, tname);
    if (maker->op_arg->at_load && maker->run)
        return ln_fail(ctx, "tensor '%s' is computed from others when the model is loaded", tname);
    if (te->isload && te->owner)
        return ln_fail(ctx, "tensor '%s' is another shape of constant '%s': set that", tname,
                       ln_tensor_table_root(ctx->tensor_table, te)->name);
    if (check_fixed(ctx, te, data))
        return -1;
    const ln_copy_func copy = ln_mem_type_copy_func(te->mtype, LN_MEM_CPU);
    if (!te->isload)
        copy(te->tensor->data, data, tl_tensor_size(te->tensor));
    else if (give(ctx, te, data))
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

// A piece of the memory that the tensor `root` roots.
typedef struct piece {
    const ln_tensor_entry *root;
    size_t begin, end;
} piece;

static int meets(const piece *p, size_t offset, size_t size)
{
    return offset < p->end && offset + size > p->begin;
}

// Whether the operator leaves data of others in the piece.
static int overwrites(const ln_context *ctx, const ln_op *op, const piece *p)
{
    const ln_op_arg *op_arg = op->op_arg;
    const ln_tensor_list_entry *tle;
    if (op_arg->at_load || !op->run)
        return 0;
    LN_LIST_FOREACH(tle, op_arg->tensors_out)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tle->name);
        if (te->mtype == p->root->mtype && meets(p, te->offset, ln_tensor_entry_capacity(te)) &&
            ln_tensor_table_root(ctx->tensor_table, te) != p->root)
            return 1;
    }
    return p->root->mtype == LN_MEM_CPU && op_arg->scratch_size &&
           meets(p, op_arg->scratch_offset, op_arg->scratch_size);
}

// The plan keeps static tensors and outputs; of others, the operators behind the maker tell.
static int survives(const ln_context *ctx, const ln_tensor_entry *te)
{
    const ln_tensor_entry *root = ln_tensor_table_root(ctx->tensor_table, te);
    // Where a dynamic view lies in its root is not fixed.
    const ln_tensor_entry *at = te->isdynamic ? root : te;
    const piece p = {root, at->offset, at->offset + ln_tensor_entry_capacity(at)};
    if (te->isload)
        return 0;
    if (root->isstatic || ctx->keep || ln_context_is_output(ctx, te->name))
        return 1;
    const ln_op *maker = ln_context_creater(ctx, te->name);
    for (const ln_list *node = maker->op_arg->node->next; node; node = node->next)
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
        ln_fail(ctx, "cannot allocate %zu bytes for tensor '%s'", size, tname);
        return NULL;
    }
    if (weight && ln_weight_read(weight, 0, got, size, ctx->error)) {
        if (!data)
            ln_free(got);
        return NULL;
    }
    if (!weight)
        ln_mem_type_copy_func(LN_MEM_CPU, te->mtype)(got, te->tensor->data, size);
    return got;
}

size_t ln_context_data_size(ln_context *ctx, const char *tname)
{
    ln_context_clear_error(ctx);
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    if (!te)
        ln_fail(ctx, "the model has no tensor '%s'", tname);
    return te ? tl_tensor_size(te->tensor) : 0;
}

/* What of a tensor must stay once its memory is planned. Of a dynamic one the dimensions are those
 * of the last run, which need not. */
typedef struct shape {
    int ndim;
    int dims[LN_MAXDIM];
    tl_dtype dtype;
    size_t size;
} shape;

static shape shape_of(const ln_tensor_entry *te)
{
    const tl_tensor *tensor = te->tensor;
    shape s;
    memset(&s, 0, sizeof(s));
    s.ndim = tensor->ndim;
    s.dtype = tensor->dtype;
    s.size = ln_tensor_entry_capacity(te);
    for (int i = 0; i < s.ndim && i < LN_MAXDIM && !te->isdynamic; i++)
        s.dims[i] = tensor->dims[i];
    return s;
}

// Calls `visit` with each tensor and its place in an array of shapes, up to the first failure.
static int visit_shapes(const ln_context *ctx, shape *shapes,
                        int (*visit)(const ln_context *, const ln_tensor_entry *, shape *))
{
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_tensor_list_entry *tle;
        LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
        {
            if (visit(ctx, ln_tensor_table_find(ctx->tensor_table, tle->name), shapes++))
                return -1;
        }
    }
    return 0;
}

static int note_shape(const ln_context *ctx, const ln_tensor_entry *te, shape *place)
{
    (void)ctx;
    *place = shape_of(te);
    return 0;
}

static int compare_shape(const ln_context *ctx, const ln_tensor_entry *te, shape *place)
{
    const shape now = shape_of(te);
    if (!memcmp(&now, place, sizeof(now)))
        return 0;
    char was[LN_MAX_SHAPE], is[LN_MAX_SHAPE];
    ln_sprint_shape(was, sizeof(was), place->ndim, place->dims);
    ln_sprint_shape(is, sizeof(is), now.ndim, now.dims);
    if (te->isdynamic)
        return ln_fail(ctx,
                       "tensor '%s' would take up to %zu bytes of %s, but the model is compiled "
                       "with %zu of %s",
                       te->name, now.size, tl_dtype_name(now.dtype), place->size,
                       tl_dtype_name(place->dtype));
    return ln_fail(ctx, "tensor '%s' would become %s %s, but the model is compiled with %s %s",
                   te->name, tl_dtype_name(now.dtype), is, tl_dtype_name(place->dtype), was);
}

// Checks all operators anew; a compiled model must keep its shapes and its plan.
static int check_anew(ln_context *ctx)
{
    if (!ctx->target)
        return ln_context_recheck(ctx);
    shape *shapes = ln_alloc_array((size_t)ln_hash_size(ctx->tensor_table), sizeof(*shapes));
    if (!shapes)
        return ln_fail_last(ctx);
    visit_shapes(ctx, shapes, note_shape);
    const int status = ln_context_recheck(ctx) || visit_shapes(ctx, shapes, compare_shape) ||
                               ln_context_check_plan(ctx)
                           ? -1
                           : 0;
    ln_free(shapes);
    return status;
}

// Checks the operators of a compiled context as they were before.
static int check_unchanged(ln_context *ctx)
{
    return ln_context_recheck(ctx) || (ctx->target && ln_context_check_plan(ctx)) ? -1 : 0;
}

// After the operators were checked again with this status: tensors have new entries, and operators
// have prepared nothing yet. On failure the context is empty.
static int bind_again(ln_context *ctx, int status)
{
    if (status) {
        ln_context_cleanup(ctx);
        return -1;
    }
    for_each_tensor(ctx, bind_data);
    if (ln_context_is_loaded(ctx))
        ctx->stale |= LN_STALE_ALL;
    return 0;
}

int ln_context_rebind(ln_context *ctx)
{
    if (!ln_context_is_loaded(ctx))
        return ln_context_recheck(ctx);
    ln_context_clear_error(ctx);
    ln_update_forget(ctx);
    return bind_again(ctx, check_unchanged(ctx));
}

// After a parameter changed: on failure the old value comes back.
static int apply_param(ln_context *ctx, ln_param_entry *entry, va_list ap)
{
    ln_param_entry *old = ln_param_entry_copy(entry);
    if (!old)
        return ln_fail_last(ctx);
    if (ln_param_vset(entry, ap) < 0) {
        ln_param_entry_free(old);
        return ln_fail_last(ctx);
    }
    ln_update_forget(ctx);
    const int status = check_anew(ctx) || ln_fixed_check_params(ctx) ? -1 : 0;
    if (status) {
        const ln_param_entry changed = *entry;
        *entry = *old;
        *old = changed;
    }
    ln_param_entry_free(old);
    return bind_again(ctx, status ? check_unchanged(ctx) : 0) ? -1 : status;
}

static int prepare_op(const ln_op *op)
{
    return ln_op_call((ln_op *)op, op->static_run) || ln_limits_check_op(op->op_arg) ? -1 : 0;
}

int ln_context_set_param(ln_context *ctx, const char *opname, const char *pname, ...)
{
    ln_context_clear_error(ctx);
    const ln_op *op = ln_op_table_find(ctx->op_table, opname);
    if (!op)
        return ln_fail(ctx, "the model has no operator '%s'", opname);
    ln_param_entry *entry = ln_param_list_find(ln_op_params(op->op_arg), pname);
    if (!entry)
        return ln_fail(ctx, "operator '%s' (%s) has no parameter '%s'", opname, op->op_arg->optype,
                       pname);
    if (ln_limits_check(ctx))
        return -1;
    va_list ap;
    va_start(ap, pname);
    ln_budget *const before = ln_limits_enter(ctx);
    const int status = ln_limits_leave(ctx, before, apply_param(ctx, entry, ap));
    va_end(ap);
    if (status || !ln_context_is_loaded(ctx))
        return status;
    return op->op_arg->tensors_in ? 0 : prepare_op(op);
}

static int run_op(const ln_op *op)
{
    return ln_dynamic_run((ln_op *)op);
}

// Everything that must hold before a run.
static int prepare_run(const ln_context *ctx)
{
    ln_context_clear_error(ctx);
    if (!ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is not loaded");
    const char *missing = ctx->missing ? ctx->missing->data : NULL;
    if (missing && ln_hash_find(ctx->input_names, missing))
        return ln_fail(ctx, "input '%s' is not given; its data must be set before the first run",
                       missing);
    if (missing)
        return ln_fail(
            ctx,
            "tensor '%s' takes its data from a file: give one when loading (-f FILE), or set it",
            missing);
    if (ln_limits_check(ctx))
        return -1;
    return ctx->stale ? ln_update_run((ln_context *)ctx) : 0;
}

int ln_context_run(const ln_context *ctx)
{
    const ln_op *op;
    if (prepare_run(ctx))
        return -1;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if (!op->op_arg->at_load && run_op(op))
            return -1;
    }
    return 0;
}

int ln_context_run_timed(const ln_context *ctx, uint64_t *ns)
{
    const ln_op *op;
    size_t i = 0;
    if (prepare_run(ctx))
        return -1;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const uint64_t start = tl_clock();
        if (!op->op_arg->at_load && run_op(op))
            return -1;
        ns[i++] += tl_clock() - start;
    }
    return 0;
}

int ln_context_run_each(const ln_context *ctx, int (*seen)(void *data, const ln_op *op), void *data)
{
    const ln_op *op;
    if (prepare_run(ctx))
        return -1;
    LN_LIST_FOREACH(op, ctx->ops)
    {
        if ((!op->op_arg->at_load && run_op(op)) || seen(data, op))
            return -1;
    }
    return 0;
}
