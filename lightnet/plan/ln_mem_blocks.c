// SPDX-License-Identifier: Apache-2.0
// The memory planner for blocks: the offset of each.
//
// Strip packing: blocks are boxes, with time on the x-axis and the address on the y-axis. Boxes
// must not overlap, and the strip should be low. Boxes as wide as the strip, the static tensors,
// are at the bottom. Packing the others is NP-hard. So the planner tries several orders; each box
// gets the smallest gap among placed boxes that are alive at the same time. Then it repeatedly
// places the topmost boxes of the best packing earlier, and keeps the lowest strip.
//
// Neighbours, pairs of blocks that are alive together, are found once. With too many pairs,
// a memory pool places the blocks in order of time instead.

#include "plan/ln_plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_mem.h"
#include "lightnet/ln_util.h"

// With more pairs of neighbours, a memory pool places the blocks.
enum { MAX_PAIRS = 1 << 20 };

// Max attempts to lower the strip, and max pairs that all of them visit.
enum { MAX_ATTEMPTS = 200, MAX_WORK = 1 << 24 };

// A block to place. Items are numbered in order of their first time.
typedef struct item {
    ln_block *block;
    size_t size;       // rounded up to the alignment
    size_t first_near; // index of its first neighbour in plan.near
    size_t n_near;
    size_t at;   // the offset in the current packing; 0: not placed yet
    size_t best; // the offset in the lowest packing so far
} item;

typedef struct plan {
    const ln_context *ctx;
    item *items;
    item **order; // of placing
    item **kept;  // the order of the lowest packing so far
    item **alive; // scratch: the items alive at a time, or the placed neighbours of one
    int *near;    // the numbers of the neighbours of each item; NULL: too many
    size_t n;
    size_t n_pairs;
    size_t base; // the first offset for blocks
    size_t align;
    size_t bound; // a lower bound of all packings
} plan;

static int compare(size_t a, size_t b)
{
    return a < b ? -1 : a > b;
}

// The orders of placing; equal items stay in the order of their numbers.

typedef int (*item_order)(const void *, const void *);

static const item *item_at(const void *p)
{
    return *(item *const *)p;
}

static int duration(const item *it)
{
    return it->block->last - it->block->first + 1;
}

static int by_number(const void *a, const void *b)
{
    return compare((size_t)(uintptr_t)item_at(a), (size_t)(uintptr_t)item_at(b));
}

static int largest_first(const void *a, const void *b)
{
    const int c = compare(item_at(b)->size, item_at(a)->size);
    return c ? c : by_number(a, b);
}

static int longest_first(const void *a, const void *b)
{
    const int c = duration(item_at(b)) - duration(item_at(a));
    return c ? c : largest_first(a, b);
}

static int largest_area_first(const void *a, const void *b)
{
    const double x = (double)item_at(a)->size * duration(item_at(a));
    const double y = (double)item_at(b)->size * duration(item_at(b));
    return x != y ? (x < y ? 1 : -1) : by_number(a, b);
}

static int latest_end_first(const void *a, const void *b)
{
    const int c = item_at(b)->block->last - item_at(a)->block->last;
    return c ? c : largest_first(a, b);
}

static const item_order orders[] = {largest_first, largest_area_first, longest_first, by_number,
                                    latest_end_first};

// Neighbours

static int by_begin(const void *a, const void *b)
{
    const ln_block *x = ((const item *)a)->block, *y = ((const item *)b)->block;
    return x->first != y->first ? x->first - y->first
                                : compare((size_t)(uintptr_t)x, (size_t)(uintptr_t)y);
}

// Calls `visit` for each item in order of time, with p->alive: earlier items that are alive when it
// begins. Stops at the first failure.
static int walk_time(plan *p, int (*visit)(plan *p, item *it, size_t n_alive))
{
    size_t n_alive = 0;
    for (size_t i = 0; i < p->n; i++) {
        item *it = &p->items[i];
        size_t stay = 0;
        for (size_t j = 0; j < n_alive; j++)
            if (p->alive[j]->block->last >= it->block->first)
                p->alive[stay++] = p->alive[j];
        n_alive = stay;
        if (visit(p, it, n_alive))
            return -1;
        p->alive[n_alive++] = it;
    }
    return 0;
}

static int count_pairs(plan *p, item *it, size_t n_alive)
{
    size_t height = it->size;
    for (size_t j = 0; j < n_alive; j++) {
        height += p->alive[j]->size;
        p->alive[j]->n_near++;
    }
    it->n_near += n_alive;
    p->n_pairs += n_alive;
    if (p->base + height > p->bound)
        p->bound = p->base + height;
    return p->n_pairs > MAX_PAIRS ? -1 : 0;
}

static int add_pairs(plan *p, item *it, size_t n_alive)
{
    for (size_t j = 0; j < n_alive; j++) {
        item *other = p->alive[j];
        p->near[it->first_near + it->n_near++] = (int)(other - p->items);
        p->near[other->first_near + other->n_near++] = (int)(it - p->items);
    }
    return 0;
}

// Leaves p->near NULL for too many pairs. -1: no memory.
static int find_neighbours(plan *p)
{
    size_t begin = 0;
    if (walk_time(p, count_pairs))
        return 0;
    p->near = ln_alloc_array(2 * p->n_pairs, sizeof(*p->near));
    if (!p->near)
        return ln_fail_last(p->ctx);
    for (size_t i = 0; i < p->n; i++) {
        p->items[i].first_near = begin;
        begin += p->items[i].n_near;
        p->items[i].n_near = 0;
    }
    return walk_time(p, add_pairs);
}

// Placing

static int by_offset(const void *a, const void *b)
{
    return compare(item_at(a)->at, item_at(b)->at);
}

// The item's neighbours that are placed, in order of address, in p->alive.
static size_t placed_neighbours(const plan *p, const item *it)
{
    size_t n = 0;
    for (size_t i = 0; i < it->n_near; i++) {
        item *other = &p->items[p->near[it->first_near + i]];
        if (other->at)
            p->alive[n++] = other;
    }
    qsort(p->alive, n, sizeof(*p->alive), by_offset);
    return n;
}

// The offset of the smallest gap for the item below or between its placed neighbours; else above
// them.
static size_t smallest_gap(const plan *p, const item *it)
{
    size_t free_from = p->base, best = 0, best_gap = SIZE_MAX;
    const size_t n = placed_neighbours(p, it);
    for (size_t i = 0; i < n; i++) {
        const item *other = p->alive[i];
        const size_t gap = other->at > free_from ? other->at - free_from : 0;
        if (gap >= it->size && gap < best_gap) {
            best = free_from;
            best_gap = gap;
        }
        if (other->at + other->size > free_from)
            free_from = other->at + other->size;
    }
    return best ? best : free_from;
}

static size_t top_of(const item *it)
{
    return it->at + it->block->size;
}

// Places all items in p->order. Returns the height of the strip.
static size_t place(plan *p)
{
    size_t height = p->base;
    for (size_t i = 0; i < p->n; i++)
        p->items[i].at = 0;
    for (size_t i = 0; i < p->n; i++) {
        item *it = p->order[i];
        it->at = smallest_gap(p, it);
        if (top_of(it) > height)
            height = top_of(it);
    }
    return height;
}

static void keep(plan *p)
{
    memcpy(p->kept, p->order, p->n * sizeof(*p->kept));
    for (size_t i = 0; i < p->n; i++)
        p->items[i].best = p->items[i].at;
}

// Moves the items that reach `height` to the front of the order. 0: they are there already.
static int raise_tallest(plan *p, size_t height)
{
    size_t n = 0, moved = 0;
    for (size_t i = 0; i < p->n; i++)
        if (top_of(p->order[i]) == height) {
            moved += i != n;
            p->alive[n++] = p->order[i];
        }
    if (!moved)
        return 0;
    size_t to = p->n;
    for (size_t i = p->n; i-- > 0;)
        if (top_of(p->order[i]) != height)
            p->order[--to] = p->order[i];
    memcpy(p->order, p->alive, n * sizeof(*p->order));
    return 1;
}

// Tries to lower the kept packing: repeatedly places its topmost items earlier. Returns the height.
static size_t lower(plan *p, size_t lowest)
{
    const size_t affordable = MAX_WORK / (p->n + 2 * p->n_pairs + 1);
    size_t height = lowest;
    memcpy(p->order, p->kept, p->n * sizeof(*p->order));
    for (size_t i = 0; i < p->n; i++)
        p->items[i].at = p->items[i].best;
    for (size_t k = 0; k < MAX_ATTEMPTS && k < affordable && lowest > p->bound; k++) {
        if (!raise_tallest(p, height))
            break;
        height = place(p);
        if (height < lowest) {
            lowest = height;
            keep(p);
        }
    }
    return lowest;
}

static size_t place_in_gaps(plan *p)
{
    size_t lowest = SIZE_MAX;
    for (size_t k = 0; k < sizeof(orders) / sizeof(orders[0]) && lowest > p->bound; k++) {
        for (size_t i = 0; i < p->n; i++)
            p->order[i] = &p->items[i];
        qsort(p->order, p->n, sizeof(*p->order), orders[k]);
        const size_t height = place(p);
        if (height < lowest) {
            lowest = height;
            keep(p);
        }
    }
    return lower(p, lowest);
}

// With a pool

// Of equal ends, the latest begin is first, so that the pool frees from the top.
static int earliest_end(const void *a, const void *b)
{
    const int c = item_at(a)->block->last - item_at(b)->block->last;
    return c ? c : by_number(b, a);
}

// Allocates each item from the pool when it begins, and frees it after its end. The pool's first
// offset is p->align, that of the items p->base. Returns the height of the strip, 0 on failure.
static size_t simulate(plan *p, ln_mem_pool *pool)
{
    size_t height = p->base, ended = 0;
    for (size_t i = 0; i < p->n; i++)
        p->order[i] = &p->items[i];
    qsort(p->order, p->n, sizeof(*p->order), earliest_end);
    for (size_t i = 0; i < p->n; i++) {
        item *it = &p->items[i];
        for (; p->order[ended]->block->last < it->block->first; ended++)
            ln_mem_pool_dealloc(pool, p->order[ended]->best - p->base + p->align);
        const size_t offset = ln_mem_pool_alloc(pool, it->size);
        if (!offset)
            return 0;
        it->at = it->best = p->base + offset - p->align;
        if (top_of(it) > height)
            height = top_of(it);
    }
    return height;
}

static size_t place_with_pool(plan *p)
{
    ln_mem_pool *pool = ln_mem_pool_create(SIZE_MAX - p->base, p->align);
    const size_t height = pool ? simulate(p, pool) : 0;
    ln_mem_pool_free(pool);
    if (!height)
        ln_fail_last(p->ctx);
    return height;
}

// Blocks of one memory type

static size_t align_up(size_t n, size_t align)
{
    return (n + align - 1) / align * align;
}

static int is_of_type(const ln_lifetime *life, const ln_block *block, ln_mem_type mtype)
{
    return block->mtype == mtype && block == &life->blocks[block->part_of];
}

// After this check, sums of sizes and alignments cannot overflow.
static int check_total(const ln_context *ctx, const ln_lifetime *life, ln_mem_type mtype,
                       size_t align)
{
    size_t total = 2 * align;
    for (size_t i = 0; i < life->n; i++) {
        if (life->blocks[i].mtype == mtype &&
            (ln_size_add(total, life->blocks[i].size, &total) || ln_size_add(total, align, &total)))
            return ln_fail(ctx, "the tensors together need more memory than the address space has");
    }
    return 0;
}

// Blocks that are always alive, in order of address. Contexts may share constants; callers may lend
// the memory of inputs.
typedef enum rank { CONSTANTS, LASTING, INPUTS, N_RANKS } rank;

static rank rank_of(const ln_context *ctx, const ln_lifetime *life, const ln_block *block)
{
    if (block->is_constant)
        return CONSTANTS;
    return ln_lifetime_is_input(ctx, life, block) ? INPUTS : LASTING;
}

// Places blocks that are always alive: constants first, inputs last. Returns the end.
static size_t place_static(plan *p, ln_lifetime *life, ln_mem_type mtype)
{
    size_t end = p->align;
    for (int r = 0; r < N_RANKS; r++)
        for (ln_block *block = life->blocks; block < life->blocks + life->n; block++)
            if (is_of_type(life, block, mtype) && ln_lifetime_is_always(life, block) &&
                (int)rank_of(p->ctx, life, block) == r) {
                block->offset = align_up(end, p->align);
                end = block->offset + block->size;
            }
    return end;
}

static void collect_items(plan *p, const ln_lifetime *life, ln_mem_type mtype)
{
    for (ln_block *block = life->blocks; block < life->blocks + life->n; block++)
        if (is_of_type(life, block, mtype) && !ln_lifetime_is_always(life, block))
            p->items[p->n++] = (item){.block = block, .size = align_up(block->size, p->align)};
}

// Places blocks that are not always alive. Returns the height of the strip, 0 on failure.
static size_t place_items(plan *p)
{
    qsort(p->items, p->n, sizeof(*p->items), by_begin);
    if (find_neighbours(p))
        return 0;
    const size_t height = p->near ? place_in_gaps(p) : place_with_pool(p);
    for (size_t i = 0; i < p->n; i++)
        p->items[i].block->offset = p->items[i].best;
    return height;
}

static int plan_type(ln_context *ctx, ln_lifetime *life, ln_mem_type mtype)
{
    const ln_mem_info info = ln_mem_type_info(mtype);
    plan p = {.ctx = ctx, .align = info.align_size};
    int status = -1;
    if (check_total(ctx, life, mtype, info.align_size))
        return -1;
    p.items = ln_alloc_array(life->n, sizeof(*p.items));
    p.order = ln_alloc_array(life->n, sizeof(*p.order));
    p.kept = ln_alloc_array(life->n, sizeof(*p.kept));
    p.alive = ln_alloc_array(life->n, sizeof(*p.alive));
    if (!p.items || !p.order || !p.kept || !p.alive) {
        ln_fail_last(ctx);
        goto done;
    }
    size_t height = place_static(&p, life, mtype);
    collect_items(&p, life, mtype);
    p.base = align_up(height, p.align);
    if (p.n && !(height = place_items(&p)))
        goto done;
    if (height > info.max_size) {
        ln_fail(ctx, "the model needs %zu bytes of %s, more than the maximum of %zu", height,
                info.name, info.max_size);
        goto done;
    }
    ctx->mem_sizes[mtype] = height > p.align ? height : 0;
    status = 0;
done:
    ln_free(p.items);
    ln_free(p.order);
    ln_free(p.kept);
    ln_free(p.alive);
    ln_free(p.near);
    return status;
}

int ln_mem_blocks_place(ln_context *ctx, ln_lifetime *life)
{
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE; m++)
        if (plan_type(ctx, life, m))
            return -1;
    return 0;
}
