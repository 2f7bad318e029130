// SPDX-License-Identifier: Apache-2.0
// Probabilities of classes from those of their pairs.
//
// For k classes, r[i][j] is the probability of class i if it is i or j, and r[j][i] = 1 - r[i][j].
// The probabilities p of the classes minimize the sum of (r[j][i] p[i] - r[i][j] p[j])^2 over all
// pairs, which is p^T Q p: each round improves the elements of p in turn. Source: Wu, Lin, Weng:
// Probability estimates for multi-class classification by pairwise coupling, JMLR 5, 2004,
// algorithm 2, with the limits of libsvm.

#include <assert.h>
#include <math.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_linalg.h"

enum { ROUNDS = 100 };

// Fills Q [k, k] from the pairs r[0][1], r[0][2], .., r[1][2], ..
static void fill_q(double *q, const double *pairs, size_t k)
{
    for (size_t i = 0; i < k; i++)
        q[i * k + i] = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = i + 1; j < k; j++) {
            const double r = *pairs++;
            q[i * k + i] += (1 - r) * (1 - r);
            q[j * k + j] += r * r;
            q[i * k + j] = q[j * k + i] = -(1 - r) * r;
        }
}

// Qp and p^T Q p.
static double products(const double *q, const double *p, double *qp, size_t k)
{
    double pqp = 0;
    for (size_t i = 0; i < k; i++) {
        qp[i] = 0;
        for (size_t j = 0; j < k; j++)
            qp[i] += q[i * k + j] * p[j];
        pqp += p[i] * qp[i];
    }
    return pqp;
}

static double largest_error(const double *qp, double pqp, size_t k)
{
    double error = 0;
    for (size_t i = 0; i < k; i++)
        error = fmax(error, fabs(qp[i] - pqp));
    return error;
}

static void improve(const double *q, double *p, double *qp, double pqp, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        const double diff = (pqp - qp[i]) / q[i * k + i], sum = 1 + diff;
        p[i] += diff;
        pqp = (pqp + diff * (diff * q[i * k + i] + 2 * qp[i])) / sum / sum;
        for (size_t j = 0; j < k; j++) {
            qp[j] = (qp[j] + diff * q[i * k + j]) / sum;
            p[j] /= sum;
        }
    }
}

static void couple(const double *q, double *p, double *qp, size_t k, const tl_stop *stop)
{
    const double tolerance = 0.005 / (double)k;
    const size_t rounds = k > ROUNDS ? k : ROUNDS;
    for (size_t i = 0; i < k; i++)
        p[i] = 1 / (double)k;
    for (size_t i = 0; i < rounds && !tl_stop_is_requested(stop); i++) {
        const double pqp = products(q, p, qp, k);
        if (largest_error(qp, pqp, k) < tolerance)
            return;
        improve(q, p, qp, pqp, k);
    }
}

size_t tl_couple_scratch(const tl_tensor *dst)
{
    const size_t k = (size_t)dst->dims[1];
    return (k * (k - 1) / 2 + k * k + 2 * k) * sizeof(double);
}

int tl_exec_couple(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->ndim == 2 && dst->ndim == 2 && src->dims[0] == dst->dims[0]);
    assert(tl_dtype_is_float(src->dtype) && dst->dtype == src->dtype);
    const size_t k = (size_t)dst->dims[1], pairs = (size_t)src->dims[1];
    if (dst->len > 0 && tl_check_scratch(exec, tl_couple_scratch(dst), "for coupling") < 0)
        return -1;
    double *const r = exec->scratch, *const q = r + pairs, *const p = q + k * k, *const qp = p + k;
    for (int i = 0; i < dst->dims[0] && !tl_stop_is_requested(exec->stop); i++) {
        tl_convert_array(r, TL_DOUBLE, tl_pointer_add(src->data, (ptrdiff_t)pairs * i, src->dtype),
                         src->dtype, pairs);
        fill_q(q, r, k);
        couple(q, p, qp, k, exec->stop);
        tl_convert_array(tl_pointer_add(dst->data, (ptrdiff_t)k * i, dst->dtype), dst->dtype, p,
                         TL_DOUBLE, k);
    }
    return 0;
}

// The number of classes with these pairs; 0: none.
static int classes_of(int pairs)
{
    int k = 1;
    while ((int64_t)k * (k - 1) / 2 < pairs)
        k++;
    return pairs > 0 && (int64_t)k * (k - 1) / 2 == pairs ? k : 0;
}

int tl_couple_check(const tl_tensor *src)
{
    const int k = src->ndim == 2 ? classes_of(src->dims[1]) : 0;
    if (!k)
        tl_fail("'src' has %d dimensions and a last axis of length %d, expected "
                "[n, k (k - 1) / 2] with k of at least 2",
                src->ndim, src->ndim ? src->dims[src->ndim - 1] : 0);
    return k ? k : -1;
}

tl_tensor *tl_tensor_couple(const tl_tensor *src, tl_tensor *dst)
{
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_float(src, "src") < 0 ||
        tl_couple_check(src) < 0)
        return NULL;
    const int dims[] = {src->dims[0], tl_couple_check(src)};
    tl_tensor *const result = tl_result_begin(dst, 2, dims, src->dtype);
    if (!result)
        return NULL;
    const tl_exec exec = tl_result_exec(tl_couple_scratch(result));
    const int status = exec.scratch ? tl_exec_couple(&exec, src, result) : -1;
    tl_free(exec.scratch);
    return tl_result_end(result, dst, status);
}
