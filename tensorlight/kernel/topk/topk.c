// SPDX-License-Identifier: Apache-2.0
// The largest or smallest elements along an axis.
//
// An element's rank is an integer: the bits of its value, so that they sort like it, then its
// index. The k best items so far form a heap whose root is the last of them; a better item replaces
// it. Most blocks of elements have none, which a comparison with the root's element shows. At the
// end, heapsort leaves the best in order. A large part of a line is sorted by radix instead.
// Source: Knuth, The Art of Computer Programming, 5.2.3 and 5.2.5.

#ifndef T // once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "kernel/take/tl_index.h"
#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_shape.h"

// Elements of a line that are compared with the root at a time, and those whose better ones are
// listed at a time, as it changes.
enum { BLOCK = 64, PART = 16 };

// At least this share of a line is sorted, not selected.
enum { SORTED_SHARE = 4 };

// Elements of a line between two checks for a stop.
enum { ELEMENTS_PER_CHECK = 4096 };

typedef struct topk_job topk_job;

// Items of `n` elements at `src`, the first of which has index `from`, in the job's strides.
typedef void topk_rank(const void *src, const topk_job *job, size_t from, size_t n, void *items);

// Counts those of `n` elements at `src` that may precede the element at `bound`, and lists them in
// `better`; NULL: only whether there are any.
typedef size_t topk_find_better(const void *src, const topk_job *job, size_t n, const void *bound,
                                uint8_t *better);

// src [axis.outer, axis.len, axis.inner] -> values, indices [axis.outer, k <= len, axis.inner].
struct topk_job {
    const char *src;
    char *values, *slots;
    int64_t *indices;
    tl_axis axis;
    size_t k, size; // of an element
    size_t slot_size;
    topk_rank *rank;
    topk_find_better *find_better;
    int is_smallest;
    const tl_stop *stop; // polled within a line, whose length has no bound
};

static int is_sorted(const topk_job *job)
{
    return job->k >= tl_ceil_div(job->axis.len, SORTED_SHARE);
}

// Items in the memory of a line: those of a heap, or those of a sorted line twice. With fewer
// elements or a lower k, there are no more.
static size_t slot_items(size_t len, size_t k)
{
    return 2 * (k < len / SORTED_SHARE ? SORTED_SHARE * k : len);
}

// Short lines share a unit of work.
static size_t lines_per_unit(size_t len)
{
    return tl_axis_grain(8 * len);
}

static int has_to_stop(const tl_stop *stop, size_t i)
{
    return i % ELEMENTS_PER_CHECK == 0 && tl_stop_is_requested(stop);
}

// Ranks of elements of up to 4 bytes, with the index in the low bits, and of 8.
typedef uint64_t narrow_item;
typedef struct wide_item {
    uint64_t key, index;
} wide_item;

#define ITEM            narrow_item
#define ITEMS(name)     name##_narrow
#define KEY(item)       ((uint32_t)((item) >> 32))
#define INDEX(item)     ((uint32_t)(item))
#define IS_BEFORE(a, b) ((a) < (b))
#include "kernel/topk/topk_items.inc.h"
#undef ITEM
#undef ITEMS
#undef KEY
#undef INDEX
#undef IS_BEFORE
#define ITEM            wide_item
#define ITEMS(name)     name##_wide
#define KEY(item)       ((item).key)
#define INDEX(item)     ((item).index)
#define IS_BEFORE(a, b) ((a).key < (b).key || ((a).key == (b).key && (a).index < (b).index))
#include "kernel/topk/topk_items.inc.h"

static inline uint64_t sort_bits(uint64_t bits, uint64_t sign)
{
    return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
}

// Equal floats have equal ranks, so 0 and -0; NaN has the highest.
static inline uint64_t rank_of_float(float x)
{
    uint32_t bits;
    const float y = x + 0.0f;
    memcpy(&bits, &y, sizeof(bits));
    return x != x ? UINT32_MAX : (uint32_t)sort_bits(bits, (uint64_t)1 << 31);
}

static inline uint64_t rank_of_double(double x)
{
    uint64_t bits;
    const double y = x + 0.0;
    memcpy(&bits, &y, sizeof(bits));
    return x != x ? UINT64_MAX : sort_bits(bits, (uint64_t)1 << 63);
}

#define TL_TUNED_i64 1 // networks select indices, too
#define TL_TEMPLATE  "kernel/topk/topk.c"

#define RANK(x) (IS_WIDE ? rank_of_double((double)(x)) : rank_of_float((float)(x)))
#define IS_WIDE (sizeof(C) == sizeof(uint64_t))
#include "tensor/tl_each_float.inc.h"
#undef RANK
#define RANK(x) ((uint64_t)(x) + ((C)-1 < (C)1 ? (uint64_t)1 << (IS_WIDE ? 63 : 31) : 0))
#include "tensor/tl_each_int.inc.h"
#define TL_TAG b8
#include "tensor/tl_one_type.inc.h"

TL_PLAIN_TABLE(pick_rank, topk_rank, topk_rank, ALL)
TL_PLAIN_TABLE(pick_find_better, topk_find_better, topk_find_better, ALL)

static void find_lines(void *arg, size_t slot, size_t begin, size_t end)
{
    const topk_job *const job = arg;
    char *const memory = job->slots + slot * job->slot_size;
    const size_t per_unit = lines_per_unit(job->axis.len);
    const size_t lines = job->axis.outer * job->axis.inner;
    for (size_t i = begin * per_unit; i < tl_min_size(lines, end * per_unit); i++)
        if ((job->size == sizeof(uint64_t) ? find_line_wide(job, i, memory)
                                           : find_line_narrow(job, i, memory)) < 0)
            return;
}

static size_t slot_size(const tl_tensor *src, int axis, int k)
{
    const size_t item =
        tl_size_of(src->dtype) == sizeof(uint64_t) ? sizeof(wide_item) : sizeof(narrow_item);
    return slot_items((size_t)src->dims[axis], (size_t)k) * item;
}

size_t tl_topk_scratch(const tl_tensor *src, int axis, int k, int threads)
{
    return tl_slots_size(slot_size(src, axis, k), threads);
}

int tl_exec_topk(const tl_exec *exec, const tl_tensor *src, tl_tensor *values, tl_tensor *indices,
                 int axis, int is_smallest)
{
    assert(axis >= 0 && axis < src->ndim && values->dtype == src->dtype);
    assert(indices->dtype == TL_INT64 && indices->len == values->len);
    assert(values->dims[axis] <= src->dims[axis]);
    if (values->len == 0)
        return 0;
    if (values->dims[axis] == 1 && !is_smallest)
        return -(tl_exec_argreduce(exec, src, indices, axis, 0, 0) < 0 ||
                 tl_exec_take_along(exec, src, indices, values, axis) < 0);
    topk_job job = {.src = src->data,
                    .values = values->data,
                    .indices = indices->data,
                    .axis = tl_axis_of(src, axis),
                    .k = (size_t)values->dims[axis],
                    .size = tl_size_of(src->dtype),
                    .slot_size = slot_size(src, axis, values->dims[axis]),
                    .rank = pick_rank(exec, src->dtype),
                    .find_better = pick_find_better(exec, src->dtype),
                    .is_smallest = is_smallest,
                    .stop = exec ? exec->stop : NULL};
    if (tl_check_scratch(exec, job.slot_size, "to select elements") < 0)
        return -1;
    job.slots = exec->scratch;
    const size_t units = tl_ceil_div(job.axis.outer * job.axis.inner, lines_per_unit(job.axis.len));
    tl_parallel_slots(exec, units, exec->scratch_size / job.slot_size, find_lines, &job);
    return 0;
}

int tl_tensor_topk(const tl_tensor *src, tl_tensor *values, tl_tensor *indices, int axis,
                   int is_smallest)
{
    if (tl_check_data(src, "src") < 0 || tl_check_axis(src, axis) < 0 ||
        tl_check_data(values, "values") < 0 || tl_check_data(indices, "indices") < 0 ||
        tl_check_apart(values, src) < 0 || tl_check_apart(indices, src) < 0 ||
        tl_check_apart(values, indices) < 0)
        return -1;
    const int k = axis < values->ndim ? values->dims[axis] : 0;
    int dims[TL_MAXDIM];
    tl_dims_with(dims, src, axis, k);
    if (tl_check_given(values, "values", src->ndim, dims, src->dtype) < 0 ||
        tl_check_given(indices, "indices", src->ndim, dims, TL_INT64) < 0)
        return -1;
    if (k > src->dims[axis])
        return tl_fail("'values' has length %d along axis %d, expected at most %d", k, axis,
                       src->dims[axis]);
    if (values->len == 0)
        return 0;
    const tl_exec exec = tl_result_exec(tl_topk_scratch(src, axis, k, 1));
    if (!exec.scratch)
        return -1;
    const int status = tl_exec_topk(&exec, src, values, indices, axis, is_smallest);
    tl_free(exec.scratch);
    return status;
}

#else // for each type

static void NAME(topk_rank, c)(const void *src, const topk_job *job, size_t from, size_t n,
                               void *items)
{
    const T *const s = src;
    const uint64_t flip = job->is_smallest ? 0 : IS_WIDE ? UINT64_MAX : UINT32_MAX;
    const size_t inner = job->axis.inner;
    for (size_t i = 0; i < n; i++) {
        const C x = LOAD(s[i * inner]);
        const uint64_t rank = RANK(x) ^ flip;
        if (IS_WIDE)
            ((wide_item *)items)[i] = (wide_item){rank, from + i};
        else
            ((narrow_item *)items)[i] = rank << 32 | (from + i);
    }
}

// NaN may precede.
TL_INLINE int NAME(is_better, c)(C x, C bound, int is_smallest)
{
    return is_smallest ? !(x >= bound) : !(x <= bound);
}

TL_INLINE size_t NAME(has_better, c)(const T *src, size_t inner, size_t n, C bound, int is_smallest)
{
    int result = 0;
    for (size_t i = 0; i < n; i++)
        result |= NAME(is_better, c)(LOAD(src[i * inner]), bound, is_smallest);
    return (size_t)result;
}

static size_t NAME(topk_find_better, c)(const void *src, const topk_job *job, size_t n,
                                        const void *bound, uint8_t *better)
{
    const T *const s = src;
    const C most = LOAD(*(const T *)bound);
    const size_t inner = job->axis.inner;
    size_t count = 0;
    if (!better && inner == 1 && !job->is_smallest) // the most frequent case, in vectors
        return NAME(has_better, c)(s, 1, n, most, 0);
    if (!better)
        return NAME(has_better, c)(s, inner, n, most, job->is_smallest);
    for (size_t i = 0; i < n; i++) {
        better[count] = (uint8_t)i;
        count += (size_t)NAME(is_better, c)(LOAD(s[i * inner]), most, job->is_smallest);
    }
    return count;
}

#endif
