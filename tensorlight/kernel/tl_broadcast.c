// SPDX-License-Identifier: Apache-2.0
// Broadcasting: the common shape, and the iteration over rows.

#include "kernel/tl_broadcast.h"

#include <assert.h>
#include <stdatomic.h>

#include "kernel/take/tl_index.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

// Shapes

// Writes the shape to which all sources broadcast. Returns its ndim, or -1 with a reason.
static int common_dims(const tl_tensor *const *srcs, int n, int *dims)
{
    int ndim = 0, so_far[TL_MAXDIM];
    for (int k = 0; k < n && ndim >= 0; k++) {
        memcpy(so_far, dims, (size_t)ndim * sizeof(int));
        ndim = tl_broadcast_dims(ndim, so_far, srcs[k]->ndim, srcs[k]->dims, dims);
    }
    return ndim;
}

tl_tensor *tl_broadcast_begin(tl_tensor *dst, const tl_tensor *const *srcs, int n, tl_dtype dtype)
{
    int dims[TL_MAXDIM];
    const int ndim = common_dims(srcs, n, dims);
    if (ndim < 0)
        return NULL;
    for (int k = 0; k < n; k++) {
        const int may_be_same = dst && dst->len == srcs[k]->len;
        if ((may_be_same ? tl_check_in_place(dst, srcs[k]) : tl_check_apart(dst, srcs[k])) < 0)
            return NULL;
    }
    return tl_result_begin(dst, ndim, dims, dtype);
}

// The walk

// Whether `a`, the axis outside of `inner`, follows it without a gap in every source.
static int is_adjacent(const tl_broadcast_axis *a, const tl_broadcast_axis *inner, int n)
{
    for (int k = 0; k < n; k++)
        if (a->strides[k] != inner->strides[k] * inner->len)
            return 0;
    return 1;
}

// Lists the axes longer than 1, the fastest first, and merges those without a gap.
static int merge_axes(tl_broadcast_axis *merged, const tl_tensor *const *srcs, int n,
                      const tl_tensor *dst)
{
    size_t lens[TL_BROADCAST_MAX] = {1, 1, 1}; // of the sources' axes so far
    int n_axes = 0;
    for (int i = 1; i <= dst->ndim; i++) {
        tl_broadcast_axis a = {.len = (size_t)dst->dims[dst->ndim - i]};
        for (int k = 0; k < n; k++) {
            const size_t len = i <= srcs[k]->ndim ? (size_t)srcs[k]->dims[srcs[k]->ndim - i] : 1;
            assert(len == 1 || len == a.len);
            a.strides[k] = len == 1 ? 0 : lens[k];
            lens[k] *= len;
        }
        if (a.len == 1)
            continue;
        if (n_axes > 0 && is_adjacent(&a, &merged[n_axes - 1], n))
            merged[n_axes - 1].len *= a.len;
        else
            merged[n_axes++] = a;
    }
    return n_axes;
}

// Rows up to this length are joined, and run by this number of elements at a time.
enum { SHORT_ROW = TL_BROADCAST_MORE / 2, CHUNK = 256 };

// Bytes of the copies of an element with step 0.
enum { PIECE = 4096 };

// Joins short rows along the next axis to one row, if each source is contiguous along
// that axis or repeats its row there: as pixels of blocked channels, with a factor for each
// channel.
static void join_short_rows(tl_broadcast_walk *w)
{
    const tl_broadcast_axis *const around = &w->outer[0];
    if (w->n_outer == 0 || w->row.len > SHORT_ROW)
        return;
    for (int k = 0; k < w->n; k++) {
        w->repeats[k] = around->strides[k] != w->row.strides[k] * w->row.len;
        if (w->repeats[k] && (around->strides[k] != 0 || w->row.strides[k] != 1))
            return;
    }
    w->period = w->row.len;
    w->row.len *= around->len;
    memmove(w->outer, w->outer + 1, (size_t)--w->n_outer * sizeof(*w->outer));
}

void tl_broadcast_walk_init(tl_broadcast_walk *w, tl_broadcast_func *func,
                            const tl_tensor *const *srcs, int n, const tl_tensor *dst)
{
    *w = (tl_broadcast_walk){.func = func, .n = n, .dst_size = tl_size_of(dst->dtype)};
    tl_broadcast_axis merged[TL_MAXDIM];
    const int n_axes = merge_axes(merged, srcs, n, dst);
    w->row = n_axes ? merged[0] : (tl_broadcast_axis){1, {1, 1, 1}};
    for (int i = 1; i < n_axes; i++)
        w->outer[w->n_outer++] = merged[i];
    for (int k = 0; k < n; k++) {
        w->srcs[k] = srcs[k]->data;
        w->src_sizes[k] = tl_size_of(srcs[k]->dtype);
        w->steps[k] = (int)w->row.strides[k];
    }
    join_short_rows(w);
}

// An iterator over the outer axes: coordinates, and offsets of the sources in elements.
typedef struct row_iter {
    size_t coords[TL_MAXDIM], offsets[TL_BROADCAST_MAX];
} row_iter;

static void row_iter_init(row_iter *at, const tl_broadcast_walk *w, size_t row)
{
    *at = (row_iter){.coords = {0}};
    for (int i = 0; i < w->n_outer; i++) {
        at->coords[i] = row % w->outer[i].len;
        row /= w->outer[i].len;
        for (int k = 0; k < w->n; k++)
            at->offsets[k] += at->coords[i] * w->outer[i].strides[k];
    }
}

static void row_iter_next(row_iter *at, const tl_broadcast_walk *w)
{
    for (int i = 0; i < w->n_outer; i++) {
        const tl_broadcast_axis *const a = &w->outer[i];
        const int is_over = ++at->coords[i] == a->len;
        for (int k = 0; k < w->n; k++)
            at->offsets[k] += is_over ? a->strides[k] - a->len * a->strides[k] : a->strides[k];
        if (!is_over)
            return;
        at->coords[i] = 0;
    }
}

// Fills `all` bytes at `dst`, a multiple of `size`, with copies of the `size` bytes at `src`, of
// which it doubles the number each time.
static void repeat(const void *src, size_t size, char *dst, size_t all)
{
    memcpy(dst, src, size);
    for (size_t done = size; done < all; done *= 2)
        memcpy(dst + done, dst, tl_min_size(done, all - done));
}

// The same for an element of up to 8 bytes and room for whole words, which are stored one by one:
// short rows are frequent.
static void repeat_element(const void *src, size_t size, char *dst, size_t all)
{
    uint64_t word;
    if (sizeof(word) % size != 0) {
        repeat(src, size, dst, all);
        return;
    }
    for (size_t i = 0; i < sizeof(word); i += size)
        tl_copy_block((char *)&word + i, src, size);
    for (size_t i = 0; i < all; i += sizeof(word))
        memcpy(dst + i, &word, sizeof(word));
}

int tl_broadcast_pieces(tl_broadcast_loop *loop, const tl_broadcast_form *form,
                        const void *const *srcs, const int *steps, void *dst, size_t len)
{
    _Alignas(64) char copies[TL_BROADCAST_MAX][PIECE];
    const void *at[TL_BROADCAST_MAX];
    size_t max = len;
    for (int k = 0; k < form->n; k++) {
        at[k] = steps[k] ? srcs[k] : copies[k];
        max = steps[k] ? max : tl_min_size(max, PIECE / form->src_sizes[k]);
    }
    for (int k = 0; k < form->n && len > 0; k++)
        if (!steps[k])
            repeat_element(srcs[k], form->src_sizes[k], copies[k], max * form->src_sizes[k]);
    for (size_t n; len > 0; len -= n, dst = tl_padd(dst, (ptrdiff_t)n, form->dst_size)) {
        n = tl_min_size(len, max);
        if (loop(at, dst, n) < 0)
            return -1;
        for (int k = 0; k < form->n; k++)
            at[k] = steps[k] ? tl_padd(at[k], (ptrdiff_t)n, form->src_sizes[k]) : at[k];
    }
    return 0;
}

// Copies a repeated row of source `k` as often as a chunk of `len` elements needs it.
static void repeat_row(const tl_broadcast_walk *w, const row_iter *at, int k, char *copies,
                       size_t len)
{
    const size_t size = w->period * w->src_sizes[k];
    repeat(w->srcs[k] + at->offsets[k] * w->src_sizes[k], size, copies,
           size * (len / w->period + 2));
}

// As run_part, for a joined row.
static int run_joined(const tl_broadcast_walk *w, const row_iter *at, size_t begin, void *dst,
                      size_t len)
{
    char copies[TL_BROADCAST_MAX][(CHUNK + 2 * SHORT_ROW) * TL_DTYPE_MAX_SIZE];
    for (int k = 0; k < w->n; k++)
        if (w->repeats[k])
            repeat_row(w, at, k, copies[k], len < CHUNK ? len : CHUNK);
    for (size_t end = begin + len, n; begin < end;
         begin += n, dst = tl_padd(dst, (ptrdiff_t)n, w->dst_size)) {
        const void *srcs[TL_BROADCAST_MAX];
        n = end - begin < CHUNK ? end - begin : CHUNK;
        for (int k = 0; k < w->n; k++)
            srcs[k] = w->repeats[k] ? copies[k] + begin % w->period * w->src_sizes[k]
                                    : w->srcs[k] + (at->offsets[k] + begin * w->row.strides[k]) *
                                                       w->src_sizes[k];
        if (w->func(srcs, w->steps, dst, n) < 0)
            return -1;
    }
    return 0;
}

static int run_part(const tl_broadcast_walk *w, const row_iter *at, size_t begin, void *dst,
                    size_t len)
{
    const void *srcs[TL_BROADCAST_MAX];
    if (w->period)
        return run_joined(w, at, begin, dst, len);
    for (int k = 0; k < w->n; k++)
        srcs[k] = w->srcs[k] + (at->offsets[k] + begin * w->row.strides[k]) * w->src_sizes[k];
    return w->func(srcs, w->steps, dst, len);
}

// Computes the elements begin .. end-1, which may begin and end inside a row, to `dst`.
static int run_elements(const tl_broadcast_walk *w, size_t begin, size_t end, void *dst)
{
    row_iter at;
    row_iter_init(&at, w, begin / w->row.len);
    size_t from = begin % w->row.len;
    while (begin < end) {
        const size_t len = tl_min_size(w->row.len - from, end - begin);
        if (run_part(w, &at, from, dst, len) < 0)
            return -1;
        begin += len;
        dst = tl_padd(dst, (ptrdiff_t)len, w->dst_size);
        from = 0;
        row_iter_next(&at, w);
    }
    return 0;
}

typedef struct job {
    tl_broadcast_walk walk;
    void *dst;
    atomic_int failed;
} job;

static void run_range(void *arg, size_t begin, size_t end)
{
    job *const j = arg;
    if (run_elements(&j->walk, begin, end, tl_padd(j->dst, (ptrdiff_t)begin, j->walk.dst_size)) < 0)
        atomic_store_explicit(&j->failed, 1, memory_order_relaxed);
}

int tl_broadcast(const tl_exec *exec, size_t grain, tl_broadcast_func *func,
                 const tl_tensor *const *srcs, int n, tl_tensor *dst)
{
    assert(func && n <= TL_BROADCAST_MAX && (dst->data || !dst->len));
    if (dst->len == 0)
        return 0;
    job j = {.dst = dst->data};
    tl_broadcast_walk_init(&j.walk, func, srcs, n, dst);
    tl_parallel(exec, (size_t)dst->len, grain, run_range, &j);
    return j.failed ? -1 : 0;
}

const void *tl_broadcast_part(const tl_broadcast_walk *w, size_t begin, size_t len, void *buffer,
                              tl_broadcast_copies *held, int *step)
{
    const size_t row = begin / w->row.len, from = begin % w->row.len;
    row_iter at;
    assert(w->n == 1);
    row_iter_init(&at, w, row);
    *step = w->steps[0];
    if (from + len > w->row.len) {
        *step = 1;
        *held = (tl_broadcast_copies){0, 0};
        run_elements(w, begin, begin + len, buffer); // of copies, which cannot fail
        return buffer;
    }
    if (!w->period)
        return w->srcs[0] + (at.offsets[0] + from * w->row.strides[0]) * w->src_sizes[0];
    if (held->row != row + 1 || held->len < len) {
        repeat_row(w, &at, 0, buffer, len);
        *held = (tl_broadcast_copies){row + 1, len};
    }
    return tl_padd(buffer, (ptrdiff_t)(from % w->period), w->src_sizes[0]);
}
