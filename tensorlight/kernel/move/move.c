// SPDX-License-Identifier: Apache-2.0
// Slice, concat, gather, scatter, repeat and copy.

#include "kernel/move/move.h"

#include <assert.h>
#include <string.h>

#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"

// Min bytes of a thread.
enum { GRAIN = 65536 };

// A copy cut into pieces: unit i is piece i % pieces of block i / pieces.
typedef struct move {
    tl_strided dst, src;
    size_t size, pieces;
} move;

static tl_strided advance(tl_strided blocks, size_t n)
{
    return (tl_strided){(char *)blocks.data + (ptrdiff_t)n * blocks.stride, blocks.stride};
}

static void copy_range(void *arg, size_t begin, size_t end)
{
    const move *const m = arg;
    if (m->pieces == 1) {
        tl_copy_blocks(advance(m->dst, begin), advance(m->src, begin), end - begin, m->size);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        const size_t offset = i % m->pieces * GRAIN;
        const size_t rest = m->size - offset;
        memcpy((char *)advance(m->dst, i / m->pieces).data + offset,
               (const char *)advance(m->src, i / m->pieces).data + offset,
               rest < GRAIN ? rest : GRAIN);
    }
}

void tl_move_blocks(const tl_exec *exec, tl_strided dst, tl_strided src, size_t n, size_t size)
{
    if (size == 0)
        return;
    move m = {dst, src, size, (size + GRAIN - 1) / GRAIN};
    tl_parallel(exec, n * m.pieces, size < GRAIN ? GRAIN / size : 1, copy_range, &m);
}

// `t` as blocks along `axis`: their number, their bytes, and the bytes per index of that axis.
typedef struct layout {
    size_t n, size, step;
} layout;

static layout layout_of(const tl_tensor *t, int axis)
{
    const tl_axis a = tl_axis_of(t, axis);
    const size_t step = a.inner * tl_size_of(t->dtype);
    return (layout){a.outer, a.len * step, step};
}

int tl_exec_slice(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis, int start)
{
    assert(src->dtype == dst->dtype && start + dst->dims[axis] <= src->dims[axis]);
    const layout from = layout_of(src, axis);
    const layout to = layout_of(dst, axis);
    const tl_strided begin = {tl_padd(src->data, start, from.step), from.size};
    tl_move_blocks(exec, (tl_strided){dst->data, to.size}, begin, to.n, to.size);
    return 0;
}

int tl_exec_append(const tl_exec *exec, const tl_tensor *const *srcs, int n, tl_tensor *dst,
                   int axis, int rows)
{
    const layout to = layout_of(dst, axis);
    const size_t stride = (size_t)rows * to.step; // of dst and srcs[0]
    size_t offset = 0;
    if (rows < dst->dims[axis])
        return tl_fail("the result has %d rows, expected at most %d", dst->dims[axis], rows);
    for (int i = 0; i < n; i++) {
        assert(srcs[i]->dtype == dst->dtype);
        const layout from = layout_of(srcs[i], axis);
        const tl_strided place = {(char *)dst->data + offset, stride};
        const tl_strided block = {srcs[i]->data, i ? from.size : stride};
        if (place.data != block.data)
            tl_move_blocks(exec, place, block, from.n, from.size);
        offset += from.size;
    }
    assert(offset == to.size || to.n == 0);
    return 0;
}

int tl_exec_concat(const tl_exec *exec, const tl_tensor *const *srcs, int n, tl_tensor *dst,
                   int axis)
{
    const layout to = layout_of(dst, axis);
    size_t offset = 0;
    for (int i = 0; i < n; i++) {
        assert(srcs[i]->dtype == dst->dtype);
        const layout from = layout_of(srcs[i], axis);
        const tl_strided place = {(char *)dst->data + offset, to.size};
        tl_move_blocks(exec, place, (tl_strided){srcs[i]->data, from.size}, from.n, from.size);
        offset += from.size;
    }
    assert(offset == to.size || to.n == 0);
    return 0;
}

int tl_exec_copy(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->dtype == dst->dtype && src->len == dst->len);
    if (dst->data != src->data)
        tl_move_blocks(exec, (tl_strided){dst->data, 0}, (tl_strided){src->data, 0}, 1,
                       tl_tensor_size(src));
    return 0;
}

int tl_exec_repeat(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    const size_t size = tl_tensor_size(src);
    assert(src->dtype == dst->dtype && tl_tensor_size(dst) == size * (size_t)dst->dims[0]);
    tl_move_blocks(exec, (tl_strided){dst->data, size}, (tl_strided){src->data, 0},
                   (size_t)dst->dims[0], size);
    return 0;
}

int tl_exec_gather(const tl_exec *exec, const tl_tensor *const *srcs, int n, tl_tensor *dst)
{
    assert(dst->dims[0] == n);
    for (int i = 0; i < n; i++) {
        tl_tensor row = *srcs[i];
        row.data = tl_padd(dst->data, i, tl_tensor_size(srcs[i]));
        tl_exec_copy(exec, srcs[i], &row);
    }
    return 0;
}

int tl_exec_scatter(const tl_exec *exec, const tl_tensor *src, tl_tensor *const *dsts, int n)
{
    assert(src->dims[0] == n);
    for (int i = 0; i < n; i++) {
        tl_tensor row = *dsts[i];
        row.data = tl_padd(src->data, i, tl_tensor_size(dsts[i]));
        tl_exec_copy(exec, &row, dsts[i]);
    }
    return 0;
}

tl_tensor *tl_tensor_slice(const tl_tensor *src, tl_tensor *dst, int axis, int start, int len)
{
    if (tl_check_elements(src, "src") < 0 || tl_check_axis(src, axis) < 0 ||
        tl_check_range(src, axis, start, len) < 0 || tl_check_apart(dst, src) < 0)
        return NULL;
    int dims[TL_MAXDIM];
    tl_tensor *const result =
        tl_result_begin(dst, src->ndim, tl_dims_with(dims, src, axis, len), src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_slice(NULL, src, result, axis, start) : -1);
}

// Checks that the shapes agree but for `axis`, whose sum is an int.
static int check_joinable(const tl_tensor *src1, const tl_tensor *src2, int axis)
{
    char text1[TL_SHAPE_TEXT_SIZE], text2[TL_SHAPE_TEXT_SIZE];
    int joinable = src1->ndim == src2->ndim;
    for (int i = 0; joinable && i < src1->ndim; i++)
        joinable = i == axis || src1->dims[i] == src2->dims[i];
    int sum;
    if (!joinable || __builtin_add_overflow(src1->dims[axis], src2->dims[axis], &sum))
        return tl_fail("shapes %s and %s, expected the same but for axis %d",
                       tl_shape_text(text1, src1->ndim, src1->dims),
                       tl_shape_text(text2, src2->ndim, src2->dims), axis);
    return 0;
}

tl_tensor *tl_tensor_concat(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst, int axis)
{
    if (tl_check_elements(src1, "src1") < 0 || tl_check_elements(src2, "src2") < 0 ||
        tl_check_axis(src1, axis) < 0 || tl_check_same_dtype(src1, src2) < 0 ||
        check_joinable(src1, src2, axis) < 0 || tl_check_apart(dst, src1) < 0 ||
        tl_check_apart(dst, src2) < 0)
        return NULL;
    int dims[TL_MAXDIM];
    tl_dims_with(dims, src1, axis, src1->dims[axis] + src2->dims[axis]);
    tl_tensor *const result = tl_result_begin(dst, src1->ndim, dims, src1->dtype);
    const tl_tensor *const srcs[] = {src1, src2};
    return tl_result_end(result, dst, result ? tl_exec_concat(NULL, srcs, 2, result, axis) : -1);
}
