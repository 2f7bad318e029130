// SPDX-License-Identifier: Apache-2.0
// Data movement: strided slices, padding, broadcasting, gather and
// scatter by index, and selections whose size depends on the data.
//
//     int first = 0, dims[2] = {tl_slice_length(4, -1, INT_MIN, -2, &first), 3};
//     tl_exec_stride_slice(NULL, src, dst, 1, (int[]){0}, &first, (int[]){-2});
//
// All of them are tl_exec_X (tl_tensor.h): they trust their caller, support every dtype
// unless documented otherwise, scalars and empty tensors included, and source and dst do
// not overlap. An `index` is a TL_INT32 or TL_INT64 tensor; a negative one counts from
// the end. An index out of range is a data error: -1 with a reason, without access there.
//
// If the size of a result depends on the data, `dst` has room for
// the max, the function returns the actual size, and the result
// is at the start of `dst` as a dense tensor of that size.

#ifndef TL_SHAPE_H
#define TL_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "tensorlight/tl_api.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_type.h"

TL_BEGIN_DECLS

// Shapes

/** Resolves the shape `wanted` [ndim] for the elements of `src`: lengths; -1, at most once:
 * the remaining length; -2: that of src at this axis. An axis of length 0 from -2 does not
 * determine the one from -1. `is_max`: src has its max size, so elements may remain.
 * Writes the shape to `dims` [TL_MAXDIM], which may be `wanted`. -1 with a reason. */
TL_API int tl_reshape_dims(const tl_tensor *src, int ndim, const int *wanted, int is_max,
                           int *dims);

// Lines of elements

/** The number of indices start, start + step, .. before `end` along an axis of `dim`: negative
 *  `start` and `end` count from the end. Both are then clamped to 0 .. dim, for step < 0 `start` to
 *  0 .. dim - 1 and `end` to -1 .. dim - 1. Python differs only in a start before the first element
 *  with step < 0, which selects nothing there. Writes the first index to `*first`. step != 0.
 * Source: ONNX Slice-13. */
TL_API int tl_slice_length(int dim, int start, int end, int step, int *first);

/** Along axes[i], i < n, dst has the indices first[i], first[i]
 *  + steps[i], .., up to its length; along other axes all. */
TL_API int tl_exec_stride_slice(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int n,
                                const int *axes, const int *first, const int *steps);

/** The shape to which shapes `a` and `b` broadcast: aligned at the last axis, and a dim of 1
 *  becomes the other's. Writes it to `dims` [TL_MAXDIM] and returns its ndim; -1 with a reason. */
TL_API int tl_broadcast_dims(int a_ndim, const int *a_dims, int b_ndim, const int *b_dims,
                             int *dims);

/** src [..] repeated to the shape of dst, to which it broadcasts. */
TL_API int tl_exec_expand(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** dst.dims[i] = src.dims[i] * repeats[i]: copies side by side. */
TL_API int tl_exec_tile(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                        const int *repeats);

/** The padding of a tensor: a value; the nearest element; the elements mirrored at
 *  the outermost ones, which do not repeat; the elements from the other end. */
typedef enum tl_pad_mode {
    TL_PAD_MODE_INVALID = -1,
    TL_PAD_CONSTANT = 0,
    TL_PAD_EDGE,
    TL_PAD_REFLECT,
    TL_PAD_WRAP,
    TL_PAD_MODE_SIZE
} tl_pad_mode;
TL_API const char *tl_pad_mode_name(tl_pad_mode mode);
TL_API tl_pad_mode tl_pad_mode_from_str(const char *str);

/** dst.dims[i] = begin[i] + src.dims[i] + end[i]. Where `begin` or `end` is
 * negative, src is cropped first. `value`: an element for TL_PAD_CONSTANT, NULL: 0.
 * Other modes need at least one remaining element on an axis that they widen. */
TL_API int tl_exec_pad(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, const int *begin,
                       tl_pad_mode mode, const void *value);

/** src [.., T, .., B, ..] or with both axes exchanged -> the same with the first lens[b] elements
 *  along `time_axis` in reverse order for each index b of `batch_axis`. lens: an index tensor [B]
 * of 0 .. T. */
TL_API int tl_exec_reverse_sequence(const tl_exec *exec, const tl_tensor *src,
                                    const tl_tensor *lens, tl_tensor *dst, int time_axis,
                                    int batch_axis);

/** src [.., R, C]: keeps elements on and above (`upper`) or below the diagonal,
 *  the rest becomes 0. Diagonal `k` runs through the elements [r, r + k]. */
TL_API int tl_exec_trilu(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int64_t k,
                         int upper);

// Generators

/** dst [R, C]: 1 on the diagonal `k`, else 0. */
TL_API int tl_exec_eye(const tl_exec *exec, tl_tensor *dst, int64_t k);

/** The number of elements start, start + delta, .. before `limit`:
 *  0 if delta points away from it. Scalars of one numeric dtype. -1 with a
 *  reason: delta is 0, an argument is NaN, or more than INT_MAX. */
TL_API int tl_range_length(const tl_tensor *start, const tl_tensor *limit, const tl_tensor *delta);

/** dst[i] = start + i * delta in dst's (numeric) dtype, which is that of the scalars. */
TL_API int tl_exec_range(const tl_exec *exec, const tl_tensor *start, const tl_tensor *delta,
                         tl_tensor *dst);

/** index [..] of any numeric dtype -> dst: [..] with a new axis of D at `axis`:
 *  values[1] where an index (truncated; negative: from the end) names the position along
 *  it, else values[0]. An index out of range is ignored. values [2] of dst's dtype. */
TL_API int tl_exec_onehot(const tl_exec *exec, const tl_tensor *index, const tl_tensor *values,
                          tl_tensor *dst, int axis);

// Gather

/** src [a.., d, b..], index [i..] -> dst [a.., i.., b..]: the slices that `index` names along
 *  `axis`. */
TL_API int tl_exec_take(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                        tl_tensor *dst, int axis);

/** dst[.., i, ..] = src[.., index[.., i, ..], ..] along `axis`; dst has the shape of index, which
 * has the ndim of src and along other axes at most its dims. */
TL_API int tl_exec_take_along(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                              tl_tensor *dst, int axis);

/** src [B.., d.., r..], index [B.., i.., K], d.. being K axes and B.. `batch`
 *  ones -> dst [B.., i.., r..]: each row of index is a position in d... */
TL_API int tl_exec_take_nd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                           tl_tensor *dst, int batch);

// Scatter

/** The update of an element: the new value, or the
 *  sum, product, max or min of both (tl_elew). */
typedef enum tl_put_op {
    TL_PUT_OP_INVALID = -1,
    TL_PUT_SET = 0,
    TL_PUT_SUM,
    TL_PUT_MUL,
    TL_PUT_MAX,
    TL_PUT_MIN,
    TL_PUT_OP_SIZE
} tl_put_op;
TL_API const char *tl_put_op_name(tl_put_op op);
TL_API tl_put_op tl_put_op_from_str(const char *str);

/** The inverse of tl_exec_take_along: dst is src, except dst[.., index[.., i, ..], ..], which
 *  is update[.., i, ..]. Several updates of one element apply in order. dst may be src. */
TL_API int tl_exec_put_along(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                             const tl_tensor *update, tl_tensor *dst, int axis, tl_put_op op);

/** The inverse of tl_exec_take_nd, without batch axes: src [d..,
 *  r..], index [i.., K], update [i.., r..]. dst may be src. */
TL_API int tl_exec_put_nd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                          const tl_tensor *update, tl_tensor *dst, tl_put_op op);

/** dst is src [B, .., T, ..], except the indices first[b] .. first[b] + S - 1 along `axis`,
 * which are update [B, .., S, ..]. first: an index tensor [B], not negative, or NULL for
 * zeros. `circular`: indices beyond T wrap to 0; else they are an error. dst may be src. */
TL_API int tl_exec_put_range(const tl_exec *exec, const tl_tensor *src, const tl_tensor *update,
                             const tl_tensor *first, tl_tensor *dst, int axis, int circular);

// Selections: the size depends on the data

/** src with ndim > 0 -> dst TL_INT64, at the start [src.ndim, *n]: the coordinates
 *  of the elements that are not 0, in order. Room: src.ndim * src.len. */
TL_API int tl_exec_nonzero(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int *n);

/** src [.., d, ..] -> dst, at the start [.., *n, ..]: the indices along `axis`
 * for which `condition` (1-D TL_BOOL, at most d long) is true. Room: src.len. */
TL_API int tl_exec_compress(const tl_exec *exec, const tl_tensor *src, const tl_tensor *condition,
                            tl_tensor *dst, int axis, int *n);

/** The required bytes of exec->scratch of tl_exec_unique. */
TL_API size_t tl_unique_scratch(const tl_tensor *src, int axis);

/** The results of tl_exec_unique; all but dst may be NULL. */
typedef struct tl_unique {
    tl_tensor *dst;     // at the start [.., n, ..]: the unique slices of src along the axis
    tl_tensor *first;   // TL_INT64 [n] at the start: first occurrences
    tl_tensor *inverse; // TL_INT64 [d]: for each index of src's axis that of its slice in dst
    tl_tensor *counts;  // TL_INT64 [n] at the start: numbers of occurrences
} tl_unique;

/** The unique slices along `axis` of src [.., d, ..], `sorted` upward (lexicographically;
 * all NaNs are equal, and the max) or in order of their first occurrence. */
TL_API int tl_exec_unique(const tl_exec *exec, const tl_tensor *src, const tl_unique *to, int axis,
                          int sorted, int *n);

/** The parameters of tl_exec_nms. */
typedef struct tl_nms {
    int max;                // max boxes per batch and class
    float overlap;          // max intersection over union of two kept boxes
    float score;            // kept boxes score more than this
    int has_score;          // 0: `score` is ignored
    int is_center_and_size; // boxes are [x, y, w, h]; else two corners, [y, x, y, x]
} tl_nms;

/** The required bytes of exec->scratch of tl_exec_nms. */
TL_API size_t tl_nms_scratch(const tl_tensor *boxes);

/** Greedy non-maximum suppression: boxes TL_FLOAT [B, N, 4], scores TL_FLOAT [B, C, N] ->
 *  dst TL_INT64, at the start [*n, 3]: batch, class, box; per batch and class by decreasing
 *  score. Room: B * C * min(N, how->max) rows. Source: ONNX NonMaxSuppression, opset 11. */
TL_API int tl_exec_nms(const tl_exec *exec, const tl_tensor *boxes, const tl_tensor *scores,
                       const tl_nms *how, tl_tensor *dst, int *n);

/** The parameters of tl_exec_nms_rows. */
typedef struct tl_nms_rows {
    int box;           // the index of left, top, right and bottom in a row
    int score;         // the index of the score; a row without a score above 0 is not a box
    int label;         // the index of the class, -1: none; a row with a class below 0 is not a box
    float overlap;     // kept boxes have a smaller intersection over union;
                       // 0: keeps all boxes, and does not sort rows
    int max_compared;  // compares only this number of best rows; 0: all
    int max;           // max kept boxes; 0: all
    int across_labels; // compares boxes of different classes, too
    int packs;         // kept boxes come first; else they stay at their sorted positions
} tl_nms_rows;

/** The required bytes of exec->scratch of tl_exec_nms_rows. */
TL_API size_t tl_nms_rows_scratch(const tl_tensor *src);

/** Greedy non-maximum suppression of rows, the best first: src TL_FLOAT [B, N, K], of
 *  which it uses the first count (TL_INT32 [B], or NULL: all) -> dst like src, -1 in
 *  suppressed rows; index TL_INT32 [B, N], or NULL: the row in src, -1 if suppressed. Rows
 *  that are not boxes stay, and are not compared. Source: NNVM's non_max_suppression. */
TL_API int tl_exec_nms_rows(const tl_exec *exec, const tl_tensor *src, const tl_tensor *count,
                            const tl_nms_rows *how, tl_tensor *dst, tl_tensor *index);

TL_END_DECLS

#endif
