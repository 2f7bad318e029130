// SPDX-License-Identifier: Apache-2.0
// The selection of the k first keys of each line; T is the type of a key, and of an index.
//
// LANES adjacent lines are selected side by side: the k best keys of each so far are sorted, and a
// row of keys, one of each line, moves the lower ones down. Short lines are transposed for it.
// In one line, the keys i, i + n, i + 2 n, .. are group i of n groups, n >= 2 k. The k-th of their
// first keys bounds the k first keys of the line, and few others are below it: all these candidates
// are sorted. Adjacent lines are copied for it.

#define LANES (128 / sizeof(T))
#define WIDTH (VECTOR / sizeof(T))
#define MAX   ((T)(sizeof(T) == sizeof(int64_t) ? INT64_MAX : INT32_MAX))
#define MIN   (-MAX - 1)

typedef struct NAME(item, TL_SET) {
    T key, index;
} NAME(item, TL_SET);
#define ITEM NAME(item, TL_SET)

typedef T NAME(vector, TL_SET) __attribute__((vector_size(VECTOR), aligned(sizeof(T)), may_alias));
#define VEC                NAME(vector, TL_SET)
#define SELECT(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))

// Whether a lane of this mask is set.
static inline int NAME(is_any, TL_SET)(const VEC *mask)
{
    uint64_t words[VECTOR / sizeof(uint64_t)], any = 0;
    memcpy(words, mask, sizeof(words));
    for (size_t i = 0; i < VECTOR / sizeof(uint64_t); i++)
        any |= words[i];
    return any != 0;
}

// Sorting

// How many of the `n` keys come before key `at`.
static size_t NAME(count_before, TL_SET)(const T *keys, size_t n, size_t at)
{
    const T key = keys[at];
    T count = 0;
    for (size_t i = 0; i < at; i++)
        count += keys[i] == key;
    for (size_t i = 0; i < n; i += PART)
        for (size_t j = 0; j < PART; j++)
            count += keys[i + j] < key;
    return (size_t)count;
}

static void NAME(sort_few, TL_SET)(ITEM *items, size_t n)
{
    T keys[FEW] = {0};
    ITEM sorted[FEW];
    for (size_t i = 0; i < n; i++)
        keys[i] = items[i].key;
    for (size_t i = n; i % PART; i++)
        keys[i] = MAX;
    for (size_t i = 0; i < n; i++)
        sorted[NAME(count_before, TL_SET)(keys, n, i)] = items[i];
    memcpy(items, sorted, n * sizeof(*items));
}

// Sorts items by key, digit by digit, by means of `other` [n]; equal ones keep their order. -1:
// stopped. Source: Knuth, The Art of Computer Programming, 5.2.5.
static int NAME(sort, TL_SET)(ITEM *items, ITEM *other, size_t n, const tl_stop *stop)
{
    ITEM *from = items, *to = other;
    if (n <= FEW)
        return NAME(sort_few, TL_SET)(items, n), 0;
    for (unsigned shift = 0; shift < 8 * sizeof(T); shift += 8) {
        const unsigned sign = shift + 8 == 8 * sizeof(T) ? 128 : 0;
        uint32_t begin[257] = {0};
        if (tl_stop_is_requested(stop))
            return -1;
        for (size_t i = 0; i < n; i++)
            begin[((from[i].key >> shift & 255) ^ sign) + 1]++;
        if (begin[((from[0].key >> shift & 255) ^ sign) + 1] == n)
            continue;
        for (size_t d = 1; d < 256; d++)
            begin[d + 1] += begin[d];
        for (size_t i = 0; i < n; i++)
            to[begin[(from[i].key >> shift & 255) ^ sign]++] = from[i];
        ITEM *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, n * sizeof(*items));
    return 0;
}

// One line

// Candidates of a line: the first `n` of `items`, whose keys are at most `limit`.
typedef struct NAME(candidates, TL_SET) {
    const tl_topk_job *job;
    ITEM *items, *other;
    size_t n, room;
    T limit;
} NAME(candidates, TL_SET);
#define CANDIDATES NAME(candidates, TL_SET)

// Whether one of `n` keys, whole PARTs, may be a candidate.
TL_INLINE int NAME(has_candidate, TL_SET)(const T *keys, size_t n, T limit)
{
    VEC any = {0};
    for (size_t i = 0; i < n; i += WIDTH)
        any |= *(const VEC *)(keys + i) <= limit;
    return NAME(is_any, TL_SET)(&any);
}

// Lists up to PART elements. -1: stopped.
static int NAME(list, TL_SET)(CANDIDATES *c, const T *keys, size_t from, size_t n)
{
    const size_t k = c->job->k;
    if (c->room - c->n < n) {
        if (NAME(sort, TL_SET)(c->items, c->other, c->n, c->job->stop) < 0)
            return -1;
        c->n = k; // Later elements with the key of the last one come after it.
        if (c->items[k - 1].key == MIN)
            return 0;
        c->limit = c->items[k - 1].key - 1;
    }
    for (size_t i = 0; i < n; i++) {
        c->items[c->n] = (ITEM){keys[i], (T)(from + i)};
        c->n += keys[i] <= c->limit;
    }
    return 0;
}

// Adds `n` elements with these keys, the first of which has index `from`. -1: stopped.
static int NAME(add, TL_SET)(CANDIDATES *c, const T *keys, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i += PART) {
        if (i % BLOCK == 0 && n - i >= BLOCK &&
            !NAME(has_candidate, TL_SET)(keys + i, BLOCK, c->limit))
            i += BLOCK - PART;
        else if ((n - i < PART || NAME(has_candidate, TL_SET)(keys + i, PART, c->limit)) &&
                 NAME(list, TL_SET)(c, keys + i, from + i, tl_min_size(PART, n - i)) < 0)
            return -1;
    }
    return 0;
}

static void NAME(lower, TL_SET)(T *restrict first, const T *restrict keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        first[i] = keys[i] < first[i] ? keys[i] : first[i];
}

// Sets the limit from `groups` groups. -1: stopped.
static int NAME(set_limit, TL_SET)(CANDIDATES *c, const char *line, T *keys, size_t groups)
{
    const tl_topk_job *const job = c->job;
    const size_t len = job->axis.len / (job->axis.len / job->k < LONG ? 1 : SAMPLE);
    T *const first = (T *)c->other;
    job->keys(line, groups, job->is_smallest, first);
    for (size_t from = 0, n; from < len; from += n) {
        n = tl_min_size(CHUNK, len - from);
        if (tl_stop_is_requested(job->stop))
            return -1;
        job->keys(line + from * job->size, n, job->is_smallest, keys);
        for (size_t i = 0, row; i < n; i += row) {
            const size_t group = (from + i) % groups;
            row = tl_min_size(groups - group, n - i);
            NAME(lower, TL_SET)(first + group, keys + i, row);
        }
    }
    for (size_t i = 0; i < groups; i++)
        c->items[i] = (ITEM){first[i], 0};
    if (NAME(sort, TL_SET)(c->items, c->other, groups, job->stop) < 0)
        return -1;
    c->limit = c->items[job->k - 1].key;
    return 0;
}

// Sorts the k first elements of a line to the front of the items. -1: stopped.
static int NAME(select, TL_SET)(CANDIDATES *c, const char *line)
{
    const tl_topk_job *const job = c->job;
    const size_t len = job->axis.len, groups = tl_ceil_div(2 * job->k, LANES) * LANES;
    T keys[CHUNK];
    c->n = 0;
    c->limit = MAX;
    if (len >= 2 * groups && NAME(set_limit, TL_SET)(c, line, keys, groups) < 0)
        return -1;
    for (size_t from = 0, n; from < len; from += n) {
        n = tl_min_size(CHUNK, len - from);
        if (tl_stop_is_requested(job->stop))
            return -1;
        if (len > CHUNK || len < 2 * groups) // the others are there
            job->keys(line + from * job->size, n, job->is_smallest, keys);
        if (NAME(add, TL_SET)(c, keys, from, n) < 0)
            return -1;
    }
    return NAME(sort, TL_SET)(c->items, c->other, c->n, job->stop);
}

// Writes the element of rank `p` in `line`, whose index is `index`.
static void NAME(write, TL_SET)(const tl_topk_job *job, size_t line, size_t p, size_t index)
{
    const size_t inner = job->axis.inner;
    const size_t to = (line / inner * job->k + p) * inner + line % inner;
    const size_t from = (line / inner * job->axis.len + index) * inner + line % inner;
    job->indices[to] = (int64_t)index;
    tl_copy_block(job->values + to * job->size, job->src + from * job->size, job->size);
}

static int NAME(find_line, TL_SET)(CANDIDATES *c, const char *src, size_t line)
{
    if (NAME(select, TL_SET)(c, src) < 0)
        return -1;
    for (size_t i = 0; i < c->job->k; i++)
        NAME(write, TL_SET)(c->job, line, i, (size_t)c->items[i].index);
    return 0;
}

// Lines side by side

// The first element of line `line`.
static const char *NAME(line_at, TL_SET)(const tl_topk_job *job, size_t line)
{
    const size_t inner = job->axis.inner;
    return job->src + (line / inner * job->axis.len * inner + line % inner) * job->size;
}

// The keys of ranks 0, 1, .. in each lane, and their indices.
typedef struct NAME(lanes, TL_SET) {
    T keys[FEW][LANES], indices[FEW][LANES];
} NAME(lanes, TL_SET);
#define RANKED NAME(lanes, TL_SET)

// Inserts WIDTH keys of row `index` above rank `p`: each lower key moves those behind it down.
static void NAME(insert, TL_SET)(T (*best)[LANES], T (*where)[LANES], const T *row, T index,
                                 size_t p)
{
    const VEC x = *(const VEC *)row, at = index - (VEC){0};
    VEC key = *(const VEC *)best[p], key_at = *(const VEC *)where[p];
    for (; p > 0; p--) {
        const VEC above = *(const VEC *)best[p - 1], above_at = *(const VEC *)where[p - 1];
        const VEC is_lower = key > x, is_above = above > x;
        *(VEC *)best[p] = SELECT(is_above, above, SELECT(is_lower, x, key));
        *(VEC *)where[p] = SELECT(is_above, above_at, SELECT(is_lower, at, key_at));
        key = above;
        key_at = above_at;
    }
    *(VEC *)best[0] = SELECT(key > x, x, key);
    *(VEC *)where[0] = SELECT(key > x, at, key_at);
}

static void NAME(add_row, TL_SET)(RANKED *r, const T *row, T index, size_t k, size_t n)
{
    const size_t p = tl_min_size((size_t)index, k - 1);
    if ((size_t)index < k) {
        memcpy(r->keys[p], row, sizeof(r->keys[p]));
        for (size_t j = 0; j < LANES; j++)
            r->indices[p][j] = index;
    }
    for (size_t j = 0; j < n; j += WIDTH) {
        const VEC is_lower = *(const VEC *)(row + j) < *(const VEC *)&r->keys[p][j];
        if ((size_t)index < k || NAME(is_any, TL_SET)(&is_lower))
            NAME(insert, TL_SET)
        ((T(*)[LANES]) & r->keys[0][j], (T(*)[LANES]) & r->indices[0][j], row + j, index, p);
    }
}

// Selects in `n` lines, up to LANES, from `line` on. -1: stopped.
static int NAME(find_lanes, TL_SET)(const tl_topk_job *job, size_t line, size_t n)
{
    const size_t len = job->axis.len, inner = job->axis.inner, k = job->k;
    const char *const src = NAME(line_at, TL_SET)(job, line);
    T elements[FEW * LANES], keys[FEW * LANES];
    RANKED ranked;
    memset(keys, 0, LANES * sizeof(*keys)); // those without a line
    for (size_t i = 0; i < len; i++) {
        const T *row = keys;
        if (i % CHUNK == 0 && tl_stop_is_requested(job->stop))
            return -1;
        if (inner > 1) {
            job->keys(src + i * inner * job->size, n, job->is_smallest, keys);
        } else if (i == 0) {
            memset(elements, 0, n < LANES ? len * LANES * job->size : 0);
            job->transpose(src, len, elements, LANES, len, n);
            job->keys(elements, len * LANES, job->is_smallest, keys);
        } else {
            row = keys + i * LANES;
        }
        NAME(add_row, TL_SET)(&ranked, row, (T)i, k, n);
    }
    for (size_t j = 0; j < n; j++)
        for (size_t p = 0; p < k; p++)
            NAME(write, TL_SET)(job, line + j, p, (size_t)ranked.indices[p][j]);
    return 0;
}

// Selects in `n` adjacent lines from `line` on, one after the other, by means of copies. -1:
// stopped.
static int NAME(find_copies, TL_SET)(CANDIDATES *c, char *copies, size_t line, size_t n)
{
    const tl_topk_job *const job = c->job;
    const size_t len = job->axis.len;
    job->transpose(NAME(line_at, TL_SET)(job, line), job->axis.inner, copies, len, n, len);
    for (size_t i = 0; i < n; i++)
        if (NAME(find_line, TL_SET)(c, copies + i * len * job->size, line + i) < 0)
            return -1;
    return 0;
}

void NAME(tl_topk, TL_SET)(void *arg, size_t slot, size_t begin, size_t end)
{
    const tl_topk_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner, unit = tl_topk_unit(&job->axis);
    const size_t last = tl_min_size(job->axis.outer * inner, end * unit);
    const size_t copied = tl_topk_copied(len, inner) / len;
    const int is_short = len <= FEW;
    CANDIDATES c = {.job = job, .room = tl_topk_room(len, job->k)};
    c.items = (ITEM *)(job->slots + slot * job->slot_size);
    c.other = c.items + c.room;
    for (size_t line = begin * unit, n; line < last; line += n) {
        int status;
        n = inner == 1 ? tl_min_size(last - line, LANES) : tl_axis_span(line, last, inner, LANES);
        if (n >= LANES / 4 && (is_short || (inner > 1 && job->k <= FEW_RANKS)))
            status = NAME(find_lanes, TL_SET)(job, line, n);
        else if (inner > 1)
            n = tl_min_size(n, copied),
            status = NAME(find_copies, TL_SET)(&c, (char *)(c.other + c.room), line, n);
        else
            n = 1, status = NAME(find_line, TL_SET)(&c, NAME(line_at, TL_SET)(job, line), line);
        if (status < 0)
            return;
    }
}

#undef LANES
#undef WIDTH
#undef MAX
#undef MIN
#undef ITEM
#undef CANDIDATES
#undef RANKED
#undef VEC
#undef SELECT
