// SPDX-License-Identifier: Apache-2.0
// Virtual memory pools: best-fit allocation of offsets in a region.
//
//     0      align                                          size
//     | never |  used  |   hole   | used | used |    hole    |
//
// The region from `align` on consists of spans, in two arrays sorted by address: used ones, and the
// holes between them. No two holes touch: a freed span is merged with its neighbours.

#include "lightnet/ln_mem.h"

#include <string.h>

#include "lightnet/ln_msg.h"

struct span {
    size_t start, size;
};

struct spans {
    struct span *at;
    size_t len, capacity;
};

struct ln_mem_pool {
    size_t size, align;
    size_t peak;
    struct spans used, holes;
};

static int reserve(struct spans *spans, size_t len)
{
    if (len <= spans->capacity)
        return 0;
    size_t capacity, size;
    if (ln_size_mul(len, 2, &capacity) || ln_size_mul(capacity, sizeof(struct span), &size))
        return ln_error_set(NULL, "%zu blocks in a memory pool are too many", len);
    struct span *at = ln_realloc(spans->at, size);
    if (!at)
        return -1;
    spans->at = at;
    spans->capacity = capacity;
    return 0;
}

// The caller has reserved capacity.
static void insert_span(struct spans *spans, size_t i, struct span span)
{
    memmove(&spans->at[i + 1], &spans->at[i], (spans->len - i) * sizeof span);
    spans->at[i] = span;
    spans->len++;
}

static void remove_span(struct spans *spans, size_t i)
{
    spans->len--;
    memmove(&spans->at[i], &spans->at[i + 1], (spans->len - i) * sizeof(struct span));
}

static size_t end_of(struct span span)
{
    return span.start + span.size;
}

// The index of the first span that starts at or after `addr`.
static size_t lower_bound(const struct spans *spans, size_t addr)
{
    size_t low = 0, high = spans->len;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (spans->at[middle].start < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int starts_at(const struct spans *spans, size_t i, size_t addr)
{
    return i < spans->len && spans->at[i].start == addr;
}

// The index of the smallest hole of at least `size` bytes, the lowest of equals, or holes.len.
static size_t smallest_hole(const struct spans *holes, size_t size)
{
    size_t best = holes->len;
    for (size_t i = 0; i < holes->len; i++)
        if (holes->at[i].size >= size &&
            (best == holes->len || holes->at[i].size < holes->at[best].size))
            best = i;
    return best;
}

static size_t largest_hole_size(const struct spans *holes)
{
    size_t size = 0;
    for (size_t i = 0; i < holes->len; i++)
        if (holes->at[i].size > size)
            size = holes->at[i].size;
    return size;
}

static void add_hole(struct spans *holes, struct span span)
{
    size_t i = lower_bound(holes, span.start);
    if (starts_at(holes, i, end_of(span))) {
        span.size += holes->at[i].size;
        remove_span(holes, i);
    }
    if (i > 0 && end_of(holes->at[i - 1]) == span.start)
        holes->at[i - 1].size += span.size;
    else
        insert_span(holes, i, span);
}

ln_mem_pool *ln_mem_pool_create(size_t size, size_t align_size)
{
    if (align_size == 0)
        return ln_error_set(NULL, "a memory pool has alignment 0, expected at least 1"), NULL;
    ln_mem_pool *pool = ln_alloc(sizeof *pool);
    if (!pool)
        return NULL;
    *pool = (ln_mem_pool){.size = size, .align = align_size};
    if (reserve(&pool->holes, 1)) {
        ln_mem_pool_free(pool);
        return NULL;
    }
    if (size > align_size)
        add_hole(&pool->holes, (struct span){align_size, size - align_size});
    return pool;
}

void ln_mem_pool_free(ln_mem_pool *mem_pool)
{
    if (!mem_pool)
        return;
    ln_free(mem_pool->used.at);
    ln_free(mem_pool->holes.at);
    ln_free(mem_pool);
}

size_t ln_mem_pool_alloc(ln_mem_pool *mem_pool, size_t size)
{
    struct spans *used = &mem_pool->used, *holes = &mem_pool->holes;
    const size_t wanted = size ? size : 1;
    const size_t hole = smallest_hole(holes, wanted);
    if (hole == holes->len) {
        ln_error_set(NULL,
                     "no room for %zu bytes: the largest hole has %zu of the pool's %zu bytes",
                     wanted, largest_hole_size(holes), mem_pool->size);
        return 0;
    }
    // There is at most one hole more than used spans. Reserving it now lets dealloc never fail.
    if (reserve(used, used->len + 1) || reserve(holes, used->len + 2))
        return 0;
    struct span *const from = &holes->at[hole];
    const size_t start = from->start;
    // A multiple of the alignment, or all of the hole if the region ends before that.
    const size_t padding = (mem_pool->align - wanted % mem_pool->align) % mem_pool->align;
    const size_t taken = from->size - wanted < padding ? from->size : wanted + padding;
    from->start += taken;
    from->size -= taken;
    if (from->size == 0)
        remove_span(holes, hole);
    insert_span(used, lower_bound(used, start), (struct span){start, taken});
    if (start + wanted > mem_pool->peak)
        mem_pool->peak = start + wanted;
    return start;
}

int ln_mem_pool_dealloc(ln_mem_pool *mem_pool, size_t addr)
{
    const size_t i = lower_bound(&mem_pool->used, addr);
    if (!starts_at(&mem_pool->used, i, addr))
        return ln_error_set(NULL, "offset %zu of a memory pool is deallocated, but not allocated",
                            addr);
    const struct span span = mem_pool->used.at[i];
    remove_span(&mem_pool->used, i);
    add_hole(&mem_pool->holes, span);
    return 0;
}

int ln_mem_pool_exist(ln_mem_pool *mem_pool, size_t addr)
{
    return starts_at(&mem_pool->used, lower_bound(&mem_pool->used, addr), addr);
}

size_t ln_mem_pool_peak(const ln_mem_pool *mem_pool)
{
    return mem_pool->peak;
}

int ln_mem_pool_dump(ln_mem_pool *mem_pool, FILE *fp)
{
    const struct spans *used = &mem_pool->used, *holes = &mem_pool->holes;
    size_t u = 0, h = 0;
    while (u < used->len || h < holes->len) {
        const int is_used =
            h == holes->len || (u < used->len && used->at[u].start < holes->at[h].start);
        const struct span span = is_used ? used->at[u++] : holes->at[h++];
        fprintf(fp, "[%zu, %zu) %s\n", span.start, end_of(span), is_used ? "used" : "free");
    }
    return ferror(fp) ? ln_error_set(NULL, "cannot write the layout of a memory pool") : 0;
}

// In order of address, the spans of both arrays must cover the region without gap or overlap, and
// no two holes may touch.
int ln_mem_pool_is_valid(const ln_mem_pool *mem_pool)
{
    const struct spans *used = &mem_pool->used, *holes = &mem_pool->holes;
    size_t u = 0, h = 0, at = mem_pool->align;
    int after_hole = 0;
    while (u < used->len || h < holes->len) {
        const int is_used = starts_at(used, u, at);
        if (!is_used && (after_hole || !starts_at(holes, h, at)))
            return 0;
        const struct span span = is_used ? used->at[u++] : holes->at[h++];
        if (span.size == 0 || span.size > mem_pool->size - at)
            return 0;
        if (is_used && span.start % mem_pool->align)
            return 0;
        at += span.size;
        after_hole = !is_used;
    }
    return (at == mem_pool->size || mem_pool->size <= mem_pool->align) &&
           mem_pool->peak <= mem_pool->size;
}

static const void *table_key(ln_mem_type mtype)
{
    return (const void *)(uintptr_t)mtype;
}

static void free_pool(void *pool)
{
    ln_mem_pool_free(pool);
}

static int insert_pool(ln_hash *table, ln_mem_type mtype)
{
    const ln_mem_info info = ln_mem_type_info(mtype);
    ln_mem_pool *pool = ln_mem_pool_create(info.max_size, info.align_size);
    if (!pool)
        return -1;
    if (ln_hash_insert(table, table_key(mtype), pool) < 0) {
        ln_mem_pool_free(pool);
        return -1;
    }
    return 0;
}

ln_hash *ln_mem_pool_table_create(void)
{
    ln_hash *table = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, free_pool);
    if (!table)
        return NULL;
    for (int i = LN_MEM_NONE + 1; i < LN_MEM_TYPE_SIZE; i++) {
        if (insert_pool(table, (ln_mem_type)i)) {
            ln_hash_free(table);
            return NULL;
        }
    }
    return table;
}

void ln_mem_pool_table_free(ln_hash *mpt)
{
    ln_hash_free(mpt);
}

ln_mem_pool *ln_mem_pool_table_find(const ln_hash *mpt, ln_mem_type mtype)
{
    return ln_hash_find(mpt, table_key(mtype));
}
