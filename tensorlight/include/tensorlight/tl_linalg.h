// SPDX-License-Identifier: Apache-2.0
// Linear algebra: matrix multiplication, determinants, inverses, distances, pairwise coupling.
//
//     const tl_matmul_param param = {.trans2 = 1, .alpha = 1, .beta = 1};
//     tl_tensor *dst = tl_tensor_matmul(src, weight, bias, NULL, &param);
//
// A tensor [.., r, c] holds a batch of matrices of r rows and c columns. tl_tensor.h explains `dst`
// (the D rule), errors, and preconditions of tl_exec_X.

#ifndef TL_LINALG_H
#define TL_LINALG_H

#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

/** 0 if `t` broadcasts to the shape `dims` [ndim]: it has no more axes, and aligned at the
 *  last one, each has equal length or 1. Else -1 with a reason that calls it `name`. */
TL_API int tl_broadcast_check(const tl_tensor *t, const char *name, int ndim, const int *dims);

typedef struct tl_matmul_param {
    int trans1, trans2; // the last two axes of src1, src2 are swapped before
    double alpha, beta; // factors of the product and of the bias; integral for integers
} tl_matmul_param;

/** Writes the shape of a product to `dims` [TL_MAXDIM] and
 *  returns its ndim; -1 with a reason: inconsistent shapes. */
TL_API int tl_matmul_dims(const tl_tensor *src1, const tl_tensor *src2, int trans1, int trans2,
                          int *dims);

/** 0 if products of this dtype support these factors, else -1 with a reason. */
TL_API int tl_matmul_check_factors(tl_dtype dtype, double alpha, double beta);

/** alpha * src1 [.., m, k] x src2 [.., k, n] + beta * bias -> [.., m, n], the
 * axes before broadcast, bias (or NULL) broadcast to the result. Any dtype
 * but TL_BOOL. 16-bit floats sum in float, others in their own type, integers
 * wrap. The order of a sum is fixed. Source: ONNX MatMul-13, Gemm-13. D. */
TL_API tl_tensor *tl_tensor_matmul(const tl_tensor *src1, const tl_tensor *src2,
                                   const tl_tensor *bias, tl_tensor *dst,
                                   const tl_matmul_param *param);
TL_API int tl_exec_matmul(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                          const tl_tensor *bias, tl_tensor *dst, const tl_matmul_param *param);

/** The bytes of exec->scratch with which tl_exec_matmul is fastest on that many
 * threads; it also works with less, with the same result, but then uses up to
 * 80 KB of the stack. bias may be NULL; data is ignored and may be NULL. */
TL_API size_t tl_matmul_scratch(const tl_tensor *src1, const tl_tensor *src2, const tl_tensor *bias,
                                const tl_tensor *dst, const tl_matmul_param *param, int threads);

// Packed matrices, for repeated multiplication: TL_FLOAT, or pairs of TL_BFLOAT16

/** Columns of a panel of a packed matrix. */
enum { TL_MATMUL_PANEL = 32 };

/** The panels of a matrix of `n` columns. */
TL_API int tl_matmul_panels(int n);

/** Writes the shape of a packed matrix [k, n] to `dims`: of TL_FLOAT [tl_matmul_panels(n), k,
 *  TL_MATMUL_PANEL], the columns of a panel side by side; of TL_BFLOAT16 [tl_matmul_panels(n),
 *  (k + 1) / 2, 2 TL_MATMUL_PANEL], pairs of rows with the two elements of each column
 *  adjacent. Elements beyond the last row or column are 0. -1 with a reason: another dtype. */
TL_API int tl_matmul_packed_dims(int k, int n, tl_dtype dtype, int dims[3]);

/** The same of a split matrix, for products of floats by matrix units: each element is the sum of
 *  three of TL_BFLOAT16. The shape is [tl_matmul_panels(n), 48 * ceil(k / 32), 2 TL_MATMUL_PANEL].
 *  -1 with a reason: too many rows. */
TL_API int tl_matmul_split_dims(int k, int n, int dims[3]);

/** Whether a packed matrix of `k` > 0 rows is split. 0: those of the others, or of neither. */
TL_API int tl_matmul_is_split(const tl_tensor *packed, int k);

/** src [k, n], or with `trans` [n, k], TL_FLOAT -> dst of one of these shapes, packed by its dtype
 *  and shape: elements are rounded to TL_BFLOAT16, or split. */
TL_API int tl_exec_matmul_pack(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                               int trans);

/** act(alpha * src1 [.., m, k] x src2 + beta * bias + add) -> dst [.., m, n],
 *  src2 as tl_exec_matmul_pack packs a matrix [k, n]; param->trans2 is ignored.
 *  bias (or NULL) is broadcast to dst, add (or NULL) has its shape and is not
 *  dst. The sums equal those of tl_exec_matmul with more than 8 rows and more
 *  than one column, bit for bit. With src2 in TL_BFLOAT16, src1 is rounded to
 *  it, too, and the products are summed in floats; subnormals may count as 0.
 *  With a split src2, src1 is split, too: the error of a sum is about that of
 *  sums of floats, but parts and products below 2^-126 may count as 0; sums
 *  that are infinite or NaN are those of floats. With src2 in TL_BFLOAT16,
 *  param->trans1 is 0, and less scratch memory fails: -1 with a reason. */
TL_API int tl_exec_matmul_packed(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                                 const tl_tensor *bias, const tl_tensor *add, tl_tensor *dst,
                                 const tl_matmul_param *param, tl_activation act);

/** The bytes of exec->scratch with which tl_exec_matmul_packed is fastest
 * on that many threads; with src2 in TL_FLOAT it also works with less, with
 * the same result. bias may be NULL; data is ignored and may be NULL. */
TL_API size_t tl_matmul_packed_scratch(const tl_tensor *src1, const tl_tensor *src2,
                                       const tl_tensor *bias, const tl_tensor *dst,
                                       const tl_matmul_param *param, int threads);

/** (src1 - zero1) [.., m, k] x (src2 - zero2) [.., k, n] -> TL_INT32 [.., m, n]. The sources are
 *  TL_INT8 or TL_UINT8, each with a zero point of its dtype, or NULL: 0; zero1 broadcasts to
 *  [.., m, 1], zero2 to [.., 1, n]. Source: ONNX MatMulInteger-10. D. */
TL_API tl_tensor *tl_tensor_matmul_int(const tl_tensor *src1, const tl_tensor *src2,
                                       const tl_tensor *zero1, const tl_tensor *zero2,
                                       tl_tensor *dst);
TL_API int tl_exec_matmul_int(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                              const tl_tensor *zero1, const tl_tensor *zero2, tl_tensor *dst);

// Matrices chosen by index

/** 0 if the shapes are those of tl_tensor_matmul_by, else -1 with a reason. Data is ignored. */
TL_API int tl_matmul_by_check(const tl_tensor *src, const tl_tensor *index, const tl_tensor *weight,
                              const tl_tensor *bias);

/** Each row of src [m, k] times the transpose of the matrix of weight [e, n, k] that its index [m]
 *  names, plus that row of bias [e, n] (or NULL) -> [m, n]. Floats, summed as by tl_tensor_matmul;
 *  index of TL_INT32 or TL_INT64, negative ones count from the end. NULL with a reason also if an
 *  index is out of range. Reads only the matrices that are named. Source: the experts of
 * com.microsoft MoE. D. */
TL_API tl_tensor *tl_tensor_matmul_by(const tl_tensor *src, const tl_tensor *index,
                                      const tl_tensor *weight, const tl_tensor *bias,
                                      tl_tensor *dst);

/** The bytes of exec->scratch with which tl_exec_matmul_by is fastest on that many threads; of 0
 *  threads: the min. Data is ignored and may be NULL. */
TL_API size_t tl_matmul_by_scratch(const tl_tensor *src, const tl_tensor *weight,
                                   const tl_tensor *dst, int threads);

/** -1 with a reason when exec is NULL, its scratch is too small, or an index is out of range. */
TL_API int tl_exec_matmul_by(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                             const tl_tensor *weight, const tl_tensor *bias, tl_tensor *dst);

// Square matrices

/** The determinants of src [.., n, n] -> [..]; floats, in double. Source: ONNX Det-11. D. */
TL_API tl_tensor *tl_tensor_det(const tl_tensor *src, tl_tensor *dst);

/** The bytes of exec->scratch that tl_exec_det needs. Data is ignored and may be NULL. */
TL_API size_t tl_det_scratch(const tl_tensor *src);

/** -1 with a reason when exec is NULL or its scratch is too small. */
TL_API int tl_exec_det(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** The inverses of src [.., n, n] -> the same shape; floats, computed in double by elimination with
 *  partial pivoting. A singular matrix results in elements that are infinite or NaN. dst may be
 * src. Source: com.microsoft Inverse-1. */
TL_API tl_tensor *tl_tensor_inverse(const tl_tensor *src, tl_tensor *dst);

/** The bytes of exec->scratch that tl_exec_inverse needs. Data is ignored and may be NULL. */
TL_API size_t tl_inverse_scratch(const tl_tensor *src);

/** -1 with a reason when exec is NULL or its scratch is too small. */
TL_API int tl_exec_inverse(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

// Distances

/** The Euclidean distances between the rows of src1 [m, d] and the columns of src2 [d, n] ->
 *  [m, n], or with `is_squared` their squares; floats, 16-bit ones computed in float. Points that
 *  are equal have the distance 0. Source: com.microsoft CDist-1. D. */
TL_API tl_tensor *tl_tensor_distance(const tl_tensor *src1, const tl_tensor *src2, tl_tensor *dst,
                                     int is_squared);
TL_API int tl_exec_distance(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                            tl_tensor *dst, int is_squared);

/** The probabilities of k classes from those of the first of each two classes, src
 *  [n, k (k - 1) / 2] in the order 01, 02, .., 12, .. -> [n, k]; floats, computed in double.
 *  Source: Wu, Lin, Weng: Probability estimates for multi-class classification by pairwise coupling
 *  (JMLR 5, 2004), algorithm 2, ended as in libsvm: after max(100, k) rounds, or when all elements
 *  of Qp differ from p^T Q p by less than 0.005 / k. NaN ends it at once, with
 *  1 / k. D. */
TL_API tl_tensor *tl_tensor_couple(const tl_tensor *src, tl_tensor *dst);

/** k; -1 with a reason: no k of at least 2 exists. Data is ignored and may be NULL. */
TL_API int tl_couple_check(const tl_tensor *src);

/** The bytes of exec->scratch that tl_exec_couple needs. Data is ignored and may be NULL. */
TL_API size_t tl_couple_scratch(const tl_tensor *dst);

/** -1 with a reason when exec is NULL or its scratch is too small. */
TL_API int tl_exec_couple(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

TL_END_DECLS

#endif
