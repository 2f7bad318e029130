// SPDX-License-Identifier: Apache-2.0
// Padding: each element of dst is one of src, or a constant.
//
// Along an axis, dst = |before| kept elements of src |after|. Elements outside the kept range are
// computed for each element of the narrow borders; the inside of a row is copied as a block.

#include <assert.h>
#include <string.h>

#include "kernel/stride/stride.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

static const char *const mode_names[TL_PAD_MODE_SIZE] = {
    [TL_PAD_CONSTANT] = "TL_PAD_CONSTANT",
    [TL_PAD_EDGE] = "TL_PAD_EDGE",
    [TL_PAD_REFLECT] = "TL_PAD_REFLECT",
    [TL_PAD_WRAP] = "TL_PAD_WRAP",
};

const char *tl_pad_mode_name(tl_pad_mode mode)
{
    return mode >= 0 && mode < TL_PAD_MODE_SIZE ? mode_names[mode] : NULL;
}

tl_pad_mode tl_pad_mode_from_str(const char *str)
{
    for (int mode = 0; str && mode < TL_PAD_MODE_SIZE; mode++)
        if (strcmp(mode_names[mode], str) == 0)
            return (tl_pad_mode)mode;
    return TL_PAD_MODE_INVALID;
}

/** An axis of dst: `before` elements, then `kept` ones, of src from `first` on, then the others. */
typedef struct pad_axis {
    int64_t len, before, first, kept;
    ptrdiff_t src_stride;
} pad_axis;

typedef struct pad {
    const char *src;
    char *dst;
    size_t size; /* of an element */
    tl_pad_mode mode;
    const void *value;
    int ndim; /* at least 1 */
    pad_axis axes[TL_MAXDIM];
} pad;

static inline int64_t remainder_of(int64_t a, int64_t b)
{
    const int64_t r = a % b;
    return r < 0 ? r + b : r;
}

/** The index of src for index `i` of dst; -1: none. */
static inline int64_t source_of(const pad_axis *axis, tl_pad_mode mode, int64_t i)
{
    const int64_t at = i - axis->before, n = axis->kept;
    if (at >= 0 && at < n)
        return axis->first + at;
    if (mode == TL_PAD_CONSTANT)
        return -1;
    if (mode == TL_PAD_WRAP)
        return axis->first + remainder_of(at, n);
    if (mode == TL_PAD_EDGE || n == 1)
        return axis->first + (at < 0 ? 0 : n - 1);
    const int64_t mirrored = remainder_of(at, 2 * (n - 1));
    return axis->first + (mirrored < n ? mirrored : 2 * (n - 1) - mirrored);
}

/** The elements begin .. end-1 of a row of dst whose source is the row `src`, or NULL. */
static void pad_part(const pad *p, const char *src, char *dst, int64_t begin, int64_t end)
{
    const pad_axis *const line = &p->axes[p->ndim - 1];
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = src ? source_of(line, p->mode, i) : -1;
        memcpy(dst + (size_t)i * p->size, at < 0 ? p->value : src + (size_t)at * p->size, p->size);
    }
}

static void pad_row(const pad *p, const char *src, char *dst)
{
    const pad_axis *const line = &p->axes[p->ndim - 1];
    if (!src) {
        pad_part(p, NULL, dst, 0, line->len);
        return;
    }
    pad_part(p, src, dst, 0, line->before);
    memcpy(dst + (size_t)line->before * p->size, src + (size_t)line->first * p->size,
           (size_t)line->kept * p->size);
    pad_part(p, src, dst, line->before + line->kept, line->len);
}

static void pad_rows(void *arg, size_t begin, size_t end)
{
    const pad *const p = arg;
    const size_t row_size = (size_t)p->axes[p->ndim - 1].len * p->size;
    for (size_t row = begin; row < end; row++) {
        size_t rest = row;
        ptrdiff_t offset = 0;
        for (int i = p->ndim - 2; i >= 0 && offset >= 0; i--) {
            const pad_axis *const axis = &p->axes[i];
            const int64_t at = source_of(axis, p->mode, (int64_t)(rest % (size_t)axis->len));
            rest /= (size_t)axis->len;
            offset = at < 0 ? -1 : offset + at * axis->src_stride;
        }
        pad_row(p, offset < 0 ? NULL : p->src + (size_t)offset * p->size, p->dst + row * row_size);
    }
}

static pad_axis axis_of(int src_dim, int dst_dim, int begin, ptrdiff_t stride)
{
    const int64_t end = (int64_t)dst_dim - src_dim - begin;
    const int64_t first = begin < 0 ? -(int64_t)begin : 0;
    const int64_t kept = src_dim - first + (end < 0 ? end : 0);
    if (kept <= 0)
        return (pad_axis){dst_dim, dst_dim, 0, 0, stride};
    return (pad_axis){dst_dim, begin > 0 ? begin : 0, first, kept, stride};
}

/** Bytes that are worth a thread. */
enum { GRAIN = 65536 };

int tl_exec_pad(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, const int *begin,
                tl_pad_mode mode, const void *value)
{
    static const char zero[TL_DTYPE_MAX_SIZE];
    assert(src->dtype == dst->dtype && src->ndim == dst->ndim);
    if (dst->len == 0)
        return 0;
    if (src->ndim == 0)
        return tl_exec_copy(exec, src, dst);
    pad p = {.src = src->data,
             .dst = dst->data,
             .size = tl_size_of(src->dtype),
             .mode = mode,
             .value = value ? value : zero,
             .ndim = src->ndim};
    ptrdiff_t strides[TL_MAXDIM];
    tl_strides_of(src, strides);
    for (int i = 0; i < src->ndim; i++) {
        p.axes[i] = axis_of(src->dims[i], dst->dims[i], begin[i], strides[i]);
        assert(mode == TL_PAD_CONSTANT || p.axes[i].kept > 0);
    }
    const size_t row = (size_t)dst->dims[dst->ndim - 1];
    tl_parallel(exec, (size_t)dst->len / row, GRAIN / (row * p.size) + 1, pad_rows, &p);
    return 0;
}
