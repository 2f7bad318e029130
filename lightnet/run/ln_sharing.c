// SPDX-License-Identifier: Apache-2.0
// The memory of a context that shares its constants with others.

#include "run/ln_sharing.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"
#include "run/ln_store.h"

// A block of constants.
typedef struct constant {
    const char *root;
    size_t offset, size;
    int is_shared; // it has a key, so that others may use it
    int is_found;  // it need not be computed: the store, or a mapped file, has it
    ln_store_key key;
    ln_stored *stored;
} constant;

struct ln_sharing {
    constant *constants; // in order of their offsets
    size_t n;
    size_t constants_end, lasting_end; // offsets
    void *lasting;
    void *region;     // NULL: a session lends it
    int is_movable;   // all lasting memory is below lasting_end
    size_t own_bytes; // counted against the memory limit
};

// Blocks

static int by_offset(const void *a, const void *b)
{
    const constant *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int is_constant(const ln_lifetime *life, const ln_block *block)
{
    return block->mtype == LN_MEM_CPU && block == &life->blocks[block->part_of] &&
           block->is_constant && ln_lifetime_is_always(life, block);
}

static int is_lasting(const ln_context *ctx, const ln_lifetime *life, const ln_block *block)
{
    const ln_block *root = &life->blocks[block->part_of];
    return ln_lifetime_is_always(life, root) && !ln_lifetime_is_input(ctx, life, root);
}

static int is_on_cpu(const ln_block *block)
{
    return block->mtype == LN_MEM_CPU;
}

// The offsets where non-constants, and temporary blocks, begin.
static void find_ends(const ln_context *ctx, const ln_lifetime *life)
{
    ln_sharing *s = ctx->sharing;
    s->constants_end = s->lasting_end = ctx->mem_sizes[LN_MEM_CPU];
    for (const ln_block *block = life->blocks; block < life->blocks + life->n; block++) {
        if (is_on_cpu(block) && block->offset < s->constants_end && !is_constant(life, block))
            s->constants_end = block->offset;
        if (is_on_cpu(block) && block->offset < s->lasting_end && !is_lasting(ctx, life, block))
            s->lasting_end = block->offset;
    }
    s->is_movable = 1;
    for (const ln_block *block = life->blocks; block < life->blocks + life->n; block++)
        if (is_on_cpu(block) && block->offset >= s->lasting_end && is_lasting(ctx, life, block))
            s->is_movable = 0;
}

// A plan from a file may have constants above other blocks: those are not shared.
static int find_constants(ln_context *ctx, const ln_lifetime *life)
{
    ln_sharing *s = ctx->sharing;
    s->constants = ln_alloc_array(life->n, sizeof(*s->constants));
    if (!s->constants)
        return ln_fail_last(ctx);
    find_ends(ctx, life);
    for (const ln_block *block = life->blocks; block < life->blocks + life->n; block++)
        if (is_constant(life, block) && block->offset < s->constants_end)
            s->constants[s->n++] =
                (constant){.root = block->name, .offset = block->offset, .size = block->size};
    if (s->n)
        qsort(s->constants, s->n, sizeof(*s->constants), by_offset);
    return 0;
}

// The constant block that contains the offset, or NULL.
static constant *constant_at(const ln_sharing *s, size_t offset)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->constants[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    constant *c = low ? &s->constants[low - 1] : NULL;
    return c && offset < c->offset + c->size ? c : NULL;
}

static constant *constant_of(const ln_sharing *s, const ln_tensor_entry *te)
{
    return te->mtype == LN_MEM_CPU ? constant_at(s, te->offset) : NULL;
}

// Constants in the store

// The address of the block in a mapped file; NULL: no file has exactly this block, aligned.
static const void *find_mapped(const ln_context *ctx, const constant *c)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, c->root);
    const ln_op *producer = te ? ln_entry_creater(te) : NULL;
    const ln_weight *weight =
        producer && ln_from_file_name(producer) ? ln_weights_of(ctx, c->root) : NULL;
    const void *data = weight ? ln_weight_mapped(weight) : NULL;
    const size_t align = ln_mem_type_info(LN_MEM_CPU).align_size;
    return data && (uintptr_t)data % align == 0 && tl_tensor_size(weight->tensor) == c->size ? data
                                                                                             : NULL;
}

static int take_constant(ln_context *ctx, ln_constant_keys *keys, constant *c)
{
    const void *const mapped = find_mapped(ctx, c);
    c->is_shared = !mapped && ln_constant_key(keys, c->root, &c->key);
    if (mapped)
        c->stored = ln_store_borrow(mapped, c->size);
    else if (c->is_shared)
        c->stored = ln_store_take(ctx->store, c->key, c->size);
    c->is_found = c->stored != NULL;
    return mapped && !c->stored ? ln_fail_last(ctx) : 0;
}

static int take_constants(ln_context *ctx)
{
    const ln_sharing *s = ctx->sharing;
    int status = 0;
    ln_constant_keys *keys = ln_constant_keys_find(ctx);
    if (!keys)
        return -1;
    for (constant *c = s->constants; c < s->constants + s->n && !status; c++)
        status = take_constant(ctx, keys, c);
    ln_constant_keys_free(keys);
    return status;
}

// Bytes of the constants that have to be computed, each rounded up to `align`.
static size_t missing_size(const ln_sharing *s, size_t align)
{
    size_t size = 0;
    for (const constant *c = s->constants; c < s->constants + s->n; c++)
        if (!c->is_found)
            size += (c->size + align - 1) / align * align;
    return size;
}

static int create_missing(ln_context *ctx)
{
    const ln_sharing *s = ctx->sharing;
    const size_t align = ln_mem_type_info(LN_MEM_CPU).align_size;
    const size_t size = missing_size(s, align);
    ln_storage *storage = size ? ln_storage_create(size) : NULL;
    int status = !size || storage ? 0 : ln_fail_last(ctx);
    size_t offset = 0;
    for (constant *c = s->constants; !status && c < s->constants + s->n; c++) {
        if (c->is_found)
            continue;
        c->stored = ln_stored_create(storage, offset, c->size);
        status = c->stored ? 0 : ln_fail_last(ctx);
        offset += (c->size + align - 1) / align * align;
    }
    ln_storage_release(storage);
    return status;
}

// Operators to skip: those whose results are in the store, or are read only by such operators.
// `wanted`: the names of the inputs of the operators that run at load.

static int is_wanted(const ln_context *ctx, const ln_hash *wanted, const char *tname)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tname);
    if (te->isload) // only operators at load read it
        return ln_hash_find_extended(wanted, tname, NULL, NULL);
    const constant *c = constant_of(ctx->sharing, te);
    return !c || !c->is_found;
}

static int is_needed(const ln_context *ctx, const ln_hash *wanted, const ln_op *op)
{
    if (op->op_arg->isdynamic) // its shapes are found by running it
        return 1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (is_wanted(ctx, wanted, tle->name))
            return 1;
    return 0;
}

// Marks operators to skip. Backwards, since readers follow producers.
static int skip_ops(ln_context *ctx)
{
    ln_hash *wanted = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    int status = wanted ? 0 : ln_fail_memory(ctx);
    for (const ln_list *node = ctx->last; node && !status;
         node = ((ln_op *)node->data)->op_arg->before) {
        const ln_op *op = node->data;
        const int is_needed_here = op->op_arg->at_load && is_needed(ctx, wanted, op);
        if (op->op_arg->at_load) // also after a failed load
            op->op_arg->at_load = is_needed_here ? LN_AT_LOAD_DONE : LN_AT_LOAD_SHARED;
        LN_FOREACH (const ln_tensor_list_entry *, tle,
                    is_needed_here ? op->op_arg->tensors_in : NULL)
            if (ln_hash_insert(wanted, tle->name, NULL) < 0)
                status = ln_fail_memory(ctx);
    }
    ln_hash_free(wanted);
    return status;
}

static int produces_found(const ln_context *ctx, const ln_op *op)
{
    ln_tensor_entry *te;
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        const constant *c = constant_of(ctx->sharing, te);
        if (!c || !c->is_found)
            return 0;
    }
    return op->op_arg->tensors_out != NULL;
}

int ln_sharing_has(const ln_context *ctx, const ln_op *op)
{
    return ctx->sharing && (op->op_arg->at_load == LN_AT_LOAD_SHARED ||
                            (!op->op_arg->tensors_in && produces_found(ctx, op)));
}

// Memory

static void *allocate(ln_context *ctx, size_t size)
{
    void *memory = ln_mem_type_info(LN_MEM_CPU).alloc_func(size);
    if (!memory)
        ln_fail_last(ctx);
    return memory;
}

// Offsets remain those of the plan, so memory begins `lasting_end` bytes before the region.
static void set_region(ln_context *ctx, void *region)
{
    ctx->mem_starts[LN_MEM_CPU] = (void *)((uintptr_t)region - ctx->sharing->lasting_end);
}

size_t ln_sharing_run_size(const ln_context *ctx)
{
    return ctx->mem_sizes[LN_MEM_CPU] - ctx->sharing->lasting_end;
}

int ln_sharing_is_movable(const ln_context *ctx)
{
    return ctx->sharing && ctx->sharing->is_movable;
}

static int allocate_own(ln_context *ctx)
{
    ln_sharing *s = ctx->sharing;
    const size_t lasting = s->lasting_end - s->constants_end;
    const size_t region = ln_sharing_run_size(ctx);
    s->own_bytes = missing_size(s, 1) + lasting + region;
    if (ln_limits_forbid(ctx, s->own_bytes))
        return ln_limits_fail_plan(ctx, s->own_bytes);
    ln_limits_take(ctx, s->own_bytes);
    s->lasting = allocate(ctx, lasting);
    s->region = s->lasting ? allocate(ctx, region) : NULL;
    if (!s->region || create_missing(ctx))
        return -1;
    set_region(ctx, s->region);
    return 0;
}

int ln_sharing_begin(ln_context *ctx, const ln_lifetime *life)
{
    ctx->sharing = ln_alloc(sizeof(*ctx->sharing));
    if (!ctx->sharing)
        return ln_fail_last(ctx);
    memset(ctx->sharing, 0, sizeof(*ctx->sharing));
    if (!find_constants(ctx, life) && !take_constants(ctx) && !allocate_own(ctx) && !skip_ops(ctx))
        return 0;
    ln_sharing_end(ctx);
    return -1;
}

void ln_sharing_end(ln_context *ctx)
{
    ln_sharing *s = ctx->sharing;
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        ln_store_give_back(ctx->store, s->constants[i].stored);
    ln_mem_type_info(LN_MEM_CPU).free_func(s->lasting);
    ln_mem_type_info(LN_MEM_CPU).free_func(s->region);
    ln_limits_give(ctx, s->own_bytes);
    ln_free(s->constants);
    ln_free(s);
    ctx->sharing = NULL;
    ctx->mem_starts[LN_MEM_CPU] = NULL;
}

void *ln_sharing_address(const ln_context *ctx, const ln_tensor_entry *te)
{
    const ln_sharing *s = ctx->sharing;
    const constant *c = constant_of(s, te);
    if (c)
        return (char *)ln_stored_place(c->stored) + (te->offset - c->offset);
    if (te->offset >= s->constants_end && te->offset < s->lasting_end)
        return (char *)s->lasting + (te->offset - s->constants_end);
    return (void *)((uintptr_t)ctx->mem_starts[LN_MEM_CPU] + te->offset);
}

void ln_sharing_move(ln_context *ctx, void *region)
{
    ln_sharing *s = ctx->sharing;
    if (s->region) {
        ln_mem_type_info(LN_MEM_CPU).free_func(s->region);
        s->own_bytes -= ln_sharing_run_size(ctx);
        ln_limits_give(ctx, ln_sharing_run_size(ctx));
    }
    s->region = NULL;
    set_region(ctx, region);
}

int ln_sharing_publish(ln_context *ctx)
{
    const ln_sharing *s = ctx->sharing;
    for (constant *c = s->constants; c < s->constants + s->n; c++)
        if (c->is_shared && !c->is_found && ln_store_publish(ctx->store, c->stored, c->key))
            return ln_fail_memory(ctx);
    LN_FOREACH (ln_op *, op, ctx->ops)
        if (op->op_arg->at_load)
            op->op_arg->at_load = LN_AT_LOAD_DONE;
    return 0;
}
