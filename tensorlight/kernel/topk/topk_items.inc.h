// SPDX-License-Identifier: Apache-2.0
// Selection and sorting of items: a template over
//     ITEM             a type with a rank, unique in its line; low ranks come first
//     IS_BEFORE(a, b)  whether the rank of a is lower
//     KEY(item)        its rank without the index, which orders equal elements
//     INDEX(item)      the index
//     ITEMS(name)      the name of a function for this type

// Moves `item` down from `at` in the heap's first `n` items, whose root is the last one in order.
static void ITEMS(sift_down)(ITEM *heap, size_t at, size_t n, ITEM item)
{
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && IS_BEFORE(heap[child], heap[child + 1]);
        if (!IS_BEFORE(item, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

static void ITEMS(make_heap)(ITEM *heap, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        ITEMS(sift_down)(heap, i, n, heap[i]);
}

// -1: stopped.
static int ITEMS(sort_heap)(ITEM *heap, size_t n, const tl_stop *stop)
{
    for (size_t last = n; last-- > 1;) {
        if (has_to_stop(stop, last))
            return -1;
        const ITEM item = heap[last];
        heap[last] = heap[0];
        ITEMS(sift_down)(heap, 0, last, item);
    }
    return 0;
}

// Sorts items in the order of their indices by KEY, digit by digit, by means of `other` [n]. -1:
// stopped.
static int ITEMS(sort)(ITEM *items, ITEM *other, size_t n, const tl_stop *stop)
{
    ITEM *from = items, *to = other;
    for (unsigned shift = 0; shift < 8 * sizeof(KEY(*items)); shift += 8) {
        size_t begin[257] = {0};
        if (tl_stop_is_requested(stop))
            return -1;
        for (size_t i = 0; i < n; i++)
            begin[(KEY(from[i]) >> shift & 255) + 1]++;
        if (begin[(KEY(from[0]) >> shift & 255) + 1] == n)
            continue;
        for (size_t d = 1; d < 256; d++)
            begin[d + 1] += begin[d];
        for (size_t i = 0; i < n; i++)
            to[begin[KEY(from[i]) >> shift & 255]++] = from[i];
        ITEM *const sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, n * sizeof(*items));
    return 0;
}

// Adds the items of the elements from .. from + n - 1 that precede the root.
static void ITEMS(add)(const topk_job *job, const char *src, size_t from, size_t n, ITEM *items)
{
    const size_t stride = job->axis.inner * job->size;
    for (size_t i = 0; i < n; i += PART) {
        uint8_t better[PART];
        const char *const part = src + (from + i) * stride;
        const size_t count = job->find_better(part, job, tl_min_size(PART, n - i),
                                              src + INDEX(items[0]) * stride, better);
        for (size_t j = 0; j < count; j++) {
            ITEM item;
            job->rank(part + better[j] * stride, job, from + i + better[j], 1, &item);
            if (IS_BEFORE(item, items[0]))
                ITEMS(sift_down)(items, 0, job->k, item);
        }
    }
}

// The k best items of a line of up to BLOCK elements, by insertion.
static void ITEMS(find_few)(const topk_job *job, const char *src, ITEM *items)
{
    ITEM block[BLOCK];
    size_t n = 0;
    job->rank(src, job, 0, job->axis.len, block);
    for (size_t i = 0; i < job->axis.len; i++) {
        if (n == job->k && !IS_BEFORE(block[i], items[n - 1]))
            continue;
        n += n < job->k;
        size_t at = n - 1;
        for (; at > 0 && IS_BEFORE(block[i], items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = block[i];
    }
}

// Finds the job's k best items of the line at `src`, in order. `items` has room for those of
// slot_items. -1: stopped.
static int ITEMS(find)(const topk_job *job, const char *src, ITEM *items)
{
    const size_t len = job->axis.len, k = job->k, stride = job->axis.inner * job->size;
    if (len <= BLOCK) {
        ITEMS(find_few)(job, src, items);
        return 0;
    }
    if (is_sorted(job)) {
        job->rank(src, job, 0, len, items);
        return ITEMS(sort)(items, items + len, len, job->stop);
    }
    job->rank(src, job, 0, k, items);
    ITEMS(make_heap)(items, k);
    for (size_t i = k, n; i < len; i += n) {
        n = tl_min_size(BLOCK, len - i);
        if (has_to_stop(job->stop, i / BLOCK * BLOCK))
            return -1;
        if (job->find_better(src + i * stride, job, n, src + INDEX(items[0]) * stride, NULL))
            ITEMS(add)(job, src, i, n, items);
    }
    return ITEMS(sort_heap)(items, k, job->stop);
}

static int ITEMS(find_line)(const topk_job *job, size_t line, void *memory)
{
    const size_t inner = job->axis.inner, k = job->k;
    const char *const src =
        job->src + (line / inner * job->axis.len * inner + line % inner) * job->size;
    const size_t to = line / inner * k * inner + line % inner;
    ITEM *const items = memory;
    if (ITEMS(find)(job, src, items) < 0)
        return -1;
    for (size_t i = 0; i < k; i++) {
        const size_t index = INDEX(items[i]);
        job->indices[to + i * inner] = (int64_t)index;
        tl_copy_block(job->values + (to + i * inner) * job->size, src + index * inner * job->size,
                      job->size);
    }
    return 0;
}
