// SPDX-License-Identifier: Apache-2.0
// Repeated blocks of a graph.
//
// A run of period p is a maximal sequence of boxes in which each one equals that p boxes later. Of
// all runs, those that save the most boxes are folded, as long as they do not overlap.

#include "draw/cli_fold.h"

#include <stdlib.h>

// Longer blocks are not searched, so the time is linear in the number of boxes.
enum { MAX_PERIOD = 512, MIN_SAVED = 2, MAX_ITEMS = 300, PART_ITEMS = 100 };

typedef struct run {
    int first, period, count;
} run;

// What a group consists of.
typedef struct item {
    int first, end;
    int period; // of a repeat; 0: a box, or a copy of several boxes
} item;

typedef struct search {
    cli_folding *f;
    const int *crossing; // [box]: tensors from boxes before it that it or later boxes read
    const int *reads;    // [box + 1]: its first edge, by `to`
    run *runs;
    int n_runs, capacity;
} search;

static int end_of(const run *r)
{
    return r->first + r->period * r->count;
}

static int saved_by(const run *r)
{
    return r->period * (r->count - 1);
}

// Runs

// Whether each copy reads results of the one before it.
static int is_chain(const search *s, const run *r)
{
    for (int b = r->first + r->period; b < end_of(r); b += r->period) {
        int is_read = 0;
        for (int e = s->reads[b]; e < s->reads[b + r->period] && !is_read; e++)
            is_read = s->f->edges[e].from >= b - r->period && s->f->edges[e].from < b;
        if (!is_read)
            return 0;
    }
    return 1;
}

// Of the positions at which the first copy can begin, the last one with the fewest tensors between
// copies: the normalization that ends a layer belongs to it.
static void align(const search *s, run *r, int slack)
{
    int best = 0, begin = r->first;
    for (int i = 0; i <= slack; i++) {
        int n = 0;
        for (int k = 0; k <= r->count; k++)
            n += s->crossing[begin + i + k * r->period];
        if (!i || n <= best) {
            best = n;
            r->first = begin + i;
        }
    }
}

// Adds the run of `len` boxes from `first`, each of which equals that `period` boxes later.
static int add_run(search *s, int first, int period, int len)
{
    run r = {first, period, (len + period) / period};
    if (len < period || saved_by(&r) < MIN_SAVED)
        return 0;
    align(s, &r, (len + period) % period);
    if (!is_chain(s, &r))
        return 0;
    if (s->n_runs == s->capacity) {
        const int capacity = s->capacity ? 2 * s->capacity : 64;
        run *const longer = realloc(s->runs, (size_t)capacity * sizeof(*longer));
        if (!longer)
            return -1;
        s->runs = longer;
        s->capacity = capacity;
    }
    s->runs[s->n_runs++] = r;
    return 0;
}

static int find_runs(search *s, int begin, int end)
{
    const int *const tokens = s->f->tokens;
    s->n_runs = 0;
    for (int p = 1; p <= MAX_PERIOD && 2 * p <= end - begin; p++) {
        int len = 0;
        for (int i = begin; i + p < end; i++) {
            if (tokens[i] == tokens[i + p]) {
                len++;
                continue;
            }
            if (add_run(s, i - len, p, len))
                return -1;
            len = 0;
        }
        if (add_run(s, end - p - len, p, len))
            return -1;
    }
    return 0;
}

static int by_saved(const void *a, const void *b)
{
    const run *const x = a, *const y = b;
    if (saved_by(x) != saved_by(y))
        return saved_by(x) > saved_by(y) ? -1 : 1;
    return x->period != y->period ? x->period - y->period : x->first - y->first;
}

// The items of the boxes from `begin` to `end`: repeats, and boxes between them. Returns new
// (free); NULL: no memory.
static item *split(search *s, int begin, int end, int *n)
{
    const int len = end - begin;
    item *const items = calloc((size_t)len + 1, sizeof(*items));
    int *const starts = calloc((size_t)len + 1, sizeof(*starts)); // of a run + 1; -1: within one
    const int failed = !items || !starts || find_runs(s, begin, end);
    if (!failed && s->n_runs)
        qsort(s->runs, (size_t)s->n_runs, sizeof(*s->runs), by_saved);
    for (int k = 0; !failed && k < s->n_runs; k++) {
        const run *const r = &s->runs[k];
        int i = r->first - begin;
        while (i < end_of(r) - begin && !starts[i])
            i++;
        if (i < end_of(r) - begin)
            continue;
        for (i = r->first - begin; i < end_of(r) - begin; i++)
            starts[i] = -1;
        starts[r->first - begin] = k + 1;
    }
    *n = 0;
    for (int i = begin; !failed && i < end; i = items[(*n)++].end) {
        const int k = starts[i - begin];
        items[*n] =
            k > 0 ? (item){i, end_of(&s->runs[k - 1]), s->runs[k - 1].period} : (item){i, i + 1, 0};
    }
    free(starts);
    if (!failed)
        return items;
    free(items);
    return NULL;
}

// Groups

// Returns its index, or -1: no memory.
static int add_group(cli_folding *f, cli_group_what what, int first, int end, int parent, int count)
{
    if (f->n_groups == f->capacity) {
        const int capacity = f->capacity ? 2 * f->capacity : 32;
        cli_group *const longer = realloc(f->groups, (size_t)capacity * sizeof(*longer));
        if (!longer)
            return -1;
        f->groups = longer;
        f->capacity = capacity;
    }
    f->groups[f->n_groups] = (cli_group){what, first, end, parent, count};
    return f->n_groups++;
}

static int add_items(search *s, const item *items, int n, int parent);

// Parts of at most PART_ITEMS items, or of as many parts.
static int add_parts(search *s, const item *items, int n, int parent)
{
    int size = PART_ITEMS;
    while ((n - 1) / MAX_ITEMS >= size)
        size *= PART_ITEMS;
    for (int i = 0; i < n; i += size) {
        const int len = n - i < size ? n - i : size;
        const int part =
            add_group(s->f, CLI_PART, items[i].first, items[i + len - 1].end, parent, 0);
        if (part < 0 || add_items(s, items + i, len, part))
            return -1;
    }
    return 0;
}

static int add_repeat(search *s, const item *repeat, int parent)
{
    const int count = (repeat->end - repeat->first) / repeat->period;
    const int group = add_group(s->f, CLI_REPEAT, repeat->first, repeat->end, parent, count);
    item *const copies = calloc((size_t)count, sizeof(*copies));
    for (int k = 0; copies && k < count; k++) {
        const int first = repeat->first + k * repeat->period;
        copies[k] = (item){first, first + repeat->period, 0};
    }
    const int failed = group < 0 || !copies || add_items(s, copies, count, group);
    free(copies);
    return failed ? -1 : 0;
}

static int add_copy(search *s, const item *copy, int parent)
{
    int n;
    const int group = add_group(s->f, CLI_COPY, copy->first, copy->end, parent, 0);
    item *const items = group < 0 ? NULL : split(s, copy->first, copy->end, &n);
    const int failed = !items || add_items(s, items, n, group);
    free(items);
    return failed ? -1 : 0;
}

static int add_items(search *s, const item *items, int n, int parent)
{
    if (n > MAX_ITEMS)
        return add_parts(s, items, n, parent);
    int failed = 0;
    for (int i = 0; i < n && !failed; i++)
        if (items[i].period)
            failed = add_repeat(s, &items[i], parent);
        else if (items[i].end - items[i].first > 1)
            failed = add_copy(s, &items[i], parent);
    return failed;
}

// Tables

// For each tensor, which is between its producer and its last reader.
static void count_crossing(const cli_folding *f, int *crossing)
{
    // In the order of `to`: the last edge of a tensor is that to its last reader.
    for (int e = f->n_edges - 1; e >= 0; e--) {
        const cli_edge *const edge = &f->edges[e];
        int *const is_known = crossing + f->n + 1 + edge->tensor;
        if ((*is_known)++)
            continue;
        crossing[edge->from + 1]++;
        crossing[edge->to + 1]--;
    }
    for (int i = 0; i < f->n; i++)
        crossing[i + 1] += crossing[i];
}

static void index_edges(const cli_folding *f, int *reads)
{
    for (int i = 0, e = 0; i <= f->n; i++) {
        while (e < f->n_edges && f->edges[e].to < i)
            e++;
        reads[i] = e;
    }
}

static int max_tensor(const cli_folding *f)
{
    int max = 0;
    for (int e = 0; e < f->n_edges; e++)
        max = f->edges[e].tensor > max ? f->edges[e].tensor : max;
    return max;
}

int cli_fold(cli_folding *f)
{
    int n;
    int *const crossing = calloc((size_t)f->n + (size_t)max_tensor(f) + 3, sizeof(*crossing));
    int *const reads = calloc((size_t)f->n + 1, sizeof(*reads));
    search s = {.f = f, .crossing = crossing, .reads = reads};
    f->groups = NULL;
    f->n_groups = f->capacity = 0;
    item *items = NULL;
    if (crossing && reads) {
        count_crossing(f, crossing);
        index_edges(f, reads);
        items = split(&s, 0, f->n, &n);
    }
    const int failed = !items || add_items(&s, items, n, -1);
    free(items);
    free(s.runs);
    free(reads);
    free(crossing);
    return failed ? -1 : 0;
}
