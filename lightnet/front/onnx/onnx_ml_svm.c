// SPDX-License-Identifier: Apache-2.0
// SVMClassifier and SVMRegressor of the domain ai.onnx.ml: support vector machines as libsvm and
// liblinear train them.
//
// All sums are in double, as in libsvm. Letters: N rows of F features, S support vectors, C classes
// with P = C (C - 1) / 2 pairs, in the order 01, 02, .., 12, .. Functions return emitted tensors.

#include <limits.h>
#include <math.h>

#include "front/onnx/ln_onnx_steps.h"
#include "front/onnx/onnx_ml_post.h"
#include "lightnet/ln_util.h"

// Attributes

// A constant of TL_DOUBLE with the first rows x cols of an attribute's floats; [cols] if `rows` is
// 0.
static const char *doubles(ln_onnx_node *n, const char *name, int rows, int cols)
{
    int len;
    const float *const values = ln_onnx_floats(n, name, &len);
    const int dims[] = {rows, cols};
    const int64_t wanted = (int64_t)(rows ? rows : 1) * cols;
    if (len < wanted)
        ln_emit_fail(&n->emit, "attribute '%s' has %d elements, expected %lld", name, len,
                     (long long)wanted);
    if (ln_onnx_failed(n))
        return NULL;
    const char *const all =
        ln_emit_constant(&n->emit, TL_FLOAT, rows ? 2 : 1, rows ? dims : dims + 1, values);
    return all ? ln_emit_cast(&n->emit, all, TL_DOUBLE, LN_EMIT_TEMP) : NULL;
}

// Element 0 of rho, as a constant [1].
static const char *first_rho(ln_onnx_node *n)
{
    return doubles(n, "rho", 0, 1);
}

// Kernels

// alpha src1 x src2^T + bias.
static const char *product(ln_onnx_node *n, const char *src1, const char *src2, double alpha,
                           const char *bias)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", src1), LN_ARG("src2", src2),
                   LN_ARG("bias", bias), LN_BOOL("trans2", 1), LN_NUMBER("alpha", alpha));
}

// Support vectors around their mean.
typedef struct vectors {
    const char *mean;    // [F]
    const char *rest;    // [S, F]: without the mean
    const char *squares; // [S]: -gamma times the squared length of these
} vectors;

static void center(const float *v, int s, int f, double *mean, double *rest)
{
    for (int j = 0; j < f; j++) {
        mean[j] = 0;
        for (int i = 0; i < s; i++)
            mean[j] += (double)v[(size_t)i * (size_t)f + (size_t)j] / s;
        for (int i = 0; i < s; i++) {
            const size_t at = (size_t)i * (size_t)f + (size_t)j;
            rest[at] = (double)v[at] - mean[j];
        }
    }
}

static void square_lengths(const double *rest, int s, int f, double factor, double *squares)
{
    for (int i = 0; i < s; i++) {
        squares[i] = 0;
        for (int j = 0; j < f; j++, rest++)
            squares[i] += factor * *rest * *rest;
    }
}

static vectors centered(ln_onnx_node *n, int s, int f, double gamma)
{
    int len;
    const float *const v = ln_onnx_floats(n, "support_vectors", &len);
    const size_t size = (size_t)s * (size_t)f;
    if (!ln_emit_allows(&n->emit, size, sizeof(double)))
        return (vectors){0};
    double *const mean = ln_translation_alloc(n->emit.translation, (size_t)f * sizeof(double));
    double *const rest = ln_translation_alloc(n->emit.translation, size * sizeof(double));
    double *const squares = ln_translation_alloc(n->emit.translation, (size_t)s * sizeof(double));
    if (!mean || !rest || !squares)
        return (vectors){0};
    center(v, s, f, mean, rest);
    square_lengths(rest, s, f, -gamma, squares);
    return (vectors){ln_emit_constant(&n->emit, TL_DOUBLE, 1, &f, mean),
                     ln_emit_constant(&n->emit, TL_DOUBLE, 2, (int[]){s, f}, rest),
                     ln_emit_constant(&n->emit, TL_DOUBLE, 1, &s, squares)};
}

// exp(-gamma |x - v|^2) as exp(2 gamma x v - gamma v^2 - gamma x^2). x and v are centered on the
// mean of all v, which avoids cancellation.
static const char *rbf(ln_onnx_node *n, const char *rows, int s, int f, double gamma)
{
    ln_emit *const e = &n->emit;
    const vectors v = centered(n, s, f, gamma);
    const char *const x = ln_emit_binary(e, "TL_BINARY_SUB", rows, v.mean, LN_EMIT_TEMP);
    const char *const near = product(n, x, v.rest, 2 * gamma, v.squares);
    const char *const square =
        ln_emit_reduce(e, "TL_REDUCE_SUM_SQUARE", x, 1, (int[]){1}, 1, LN_EMIT_TEMP);
    return ln_emit_formula(e, "exp(x - a * b)", near, square, ln_emit_scalar(e, TL_DOUBLE, gamma),
                           LN_EMIT_TEMP);
}

static const ln_attr_word kernels[] = {{"LINEAR"}, {"POLY"}, {"RBF"}, {"SIGMOID"}, {0}};

// gamma, coef0, degree
typedef struct kernel_params {
    double gamma, coef0, degree;
} kernel_params;

static kernel_params params_of(ln_onnx_node *n, int is_linear)
{
    int len;
    const float *const p = ln_onnx_floats(n, "kernel_params", &len);
    if (len != 3 && !(len == 0 && is_linear))
        ln_emit_fail(&n->emit, "attribute 'kernel_params' has %d elements, expected 3", len);
    return len == 3 ? (kernel_params){(double)p[0], (double)p[1], (double)p[2]}
                    : (kernel_params){0};
}

// The kernel of each row and each of `s` support vectors: [N, S].
static const char *kernel_of(ln_onnx_node *n, const char *rows, int s)
{
    int len;
    const int f = ln_onnx_tensor_of(n, rows)->ndim == 2 ? ln_onnx_tensor_of(n, rows)->dims[1] : 0;
    const char *const type = ln_attr_choose(&n->emit, "kernel_type", "LINEAR", kernels);
    const kernel_params p = params_of(n, ln_streq(type, "LINEAR"));
    ln_onnx_floats(n, "support_vectors", &len);
    if (len != (int64_t)s * f)
        ln_emit_fail(&n->emit,
                     "attribute 'support_vectors' has %d elements, expected %d for each of %d "
                     "features",
                     len, s, f);
    if (ln_onnx_failed(n))
        return NULL;
    if (ln_streq(type, "RBF"))
        return rbf(n, rows, s, f, p.gamma);
    const char *const v = doubles(n, "support_vectors", s, f);
    if (ln_streq(type, "LINEAR"))
        return product(n, rows, v, 1, NULL);
    const char *const sum =
        product(n, rows, v, p.gamma, ln_emit_scalar(&n->emit, TL_DOUBLE, p.coef0));
    if (ln_streq(type, "SIGMOID"))
        return ln_emit_unary(&n->emit, "TL_UNARY_TANH", sum, LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_POW", sum,
                          ln_emit_scalar(&n->emit, TL_DOUBLE, p.degree), LN_EMIT_TEMP);
}

// Without support vectors: rows x coefficients^T + rho, for `targets` of them.
static const char *linear(ln_onnx_node *n, const char *rows, int targets)
{
    int len;
    const int f = ln_onnx_tensor_of(n, rows)->ndim == 2 ? ln_onnx_tensor_of(n, rows)->dims[1] : 0;
    ln_onnx_floats(n, "coefficients", &len);
    if (len != (int64_t)targets * f)
        ln_emit_fail(&n->emit,
                     "attribute 'coefficients' has %d elements, expected %d for each of %d "
                     "features",
                     len, targets, f);
    const char *const weight = doubles(n, "coefficients", targets, f);
    return product(n, rows, weight, 1, first_rho(n));
}

// Regression

// 1 where the score is above 0, else -1.
static const char *sign_of(ln_onnx_node *n, const char *score)
{
    return ln_emit_formula(&n->emit, "x > 0 ? 1 : -1", score, NULL, NULL, LN_EMIT_TEMP);
}

static void translate_svm_regressor(ln_onnx_node *n)
{
    const char *const rows = ln_onnx_ml_rows(n, 0, TL_DOUBLE);
    const int64_t supports = ln_attr_int(&n->emit, "n_supports", 0);
    const char *score;
    if (supports < 0 || supports > INT_MAX)
        ln_emit_fail(&n->emit, "attribute 'n_supports' is %lld, expected 0 to %d",
                     (long long)supports, INT_MAX);
    if (ln_onnx_failed(n))
        return;
    if (supports > 0)
        score = product(n, kernel_of(n, rows, (int)supports),
                        doubles(n, "coefficients", 1, (int)supports), 1, first_rho(n));
    else
        score = linear(n, rows, 1);
    if (ln_attr_int(&n->emit, "one_class", 0))
        score = sign_of(n, score);
    ln_onnx_ml_emit_post(n, ln_onnx_ml_post_of(n),
                         ln_emit_cast(&n->emit, score, TL_FLOAT, LN_EMIT_TEMP), 0);
}

// Pairs of classes

// The index of the pair of classes i < j.
static int64_t pair_of(int i, int j, int classes)
{
    return (int64_t)i * classes - (int64_t)i * (i + 1) / 2 + (j - i - 1);
}

// Columns `index`, of shape `dims`, of `src` [N, ..].
static const char *columns(ln_onnx_node *n, const char *src, int ndim, const int *dims,
                           const int64_t *index)
{
    const char *const at = ln_emit_constant(&n->emit, TL_INT64, ndim, dims, index);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE, LN_ARG("src", src), LN_ARG("index", at),
                   LN_INT("axis", 1));
}

static int64_t *index_memory(ln_onnx_node *n, int len)
{
    return ln_emit_allows(&n->emit, (size_t)len, sizeof(int64_t))
               ? ln_translation_alloc(n->emit.translation, (size_t)len * sizeof(int64_t))
               : NULL;
}

// The kernels of the `count` vectors from `at` on, weighted by each row of the coefficients
// [C - 1, S]: [N, C - 1]; zeros without vectors.
static const char *weighted_class(ln_onnx_node *n, const char *kernel, const char *coefficients,
                                  int at, int count)
{
    const int dims[] = {ln_onnx_tensor_of(n, coefficients)->dims[0], 1};
    if (count > 0)
        return product(n, ln_onnx_slice(n, kernel, 1, at, count),
                       ln_onnx_slice(n, coefficients, 1, at, count), 1, NULL);
    return product(n, ln_onnx_slice(n, kernel, 1, 0, 1),
                   ln_emit_filled(&n->emit, TL_DOUBLE, 2, dims, 0), 1, NULL);
}

// Those of all classes: [N, C (C - 1)].
static const char *weighted(ln_onnx_node *n, const char *kernel, const char *coefficients,
                            const int64_t *counts, int classes)
{
    const char **const parts =
        ln_translation_alloc(n->emit.translation, (size_t)classes * sizeof(*parts));
    for (int i = 0, at = 0; i < classes && parts && !ln_onnx_failed(n); at += (int)counts[i++])
        parts[i] = weighted_class(n, kernel, coefficients, at, (int)counts[i]);
    LN_EMIT_BEGIN(&n->emit, LN_OP_JOIN, LN_INT("axis", 1));
    for (int i = 0; i < classes && parts && !ln_onnx_failed(n); i++)
        ln_emit_arg_at(&n->emit, "src", i, parts[i]);
    return ln_emit_end(&n->emit, "dst", LN_EMIT_TEMP);
}

// The score of each pair i < j, above 0 for i: vectors of i with row j - 1 of the coefficients and
// those of j with row i, + rho. [N, P].
static const char *pair_scores(ln_onnx_node *n, const char *kernel, int s, const int64_t *counts,
                               int classes, int pairs)
{
    const char *const coefficients = doubles(n, "coefficients", classes - 1, s);
    const char *const rho = doubles(n, "rho", 0, pairs);
    if (classes == 2)
        return product(n, kernel, coefficients, 1, rho);
    const char *const all = weighted(n, kernel, coefficients, counts, classes);
    int64_t *const of_i = index_memory(n, pairs), *const of_j = index_memory(n, pairs);
    if (!of_i || !of_j)
        return NULL;
    for (int i = 0, at = 0; i < classes; i++)
        for (int j = i + 1; j < classes; j++, at++) {
            of_i[at] = (int64_t)i * (classes - 1) + j - 1;
            of_j[at] = (int64_t)j * (classes - 1) + i;
        }
    const char *const sum =
        ln_emit_binary(&n->emit, "TL_BINARY_ADD", columns(n, all, 1, &pairs, of_i),
                       columns(n, all, 1, &pairs, of_j), LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_ADD", sum, rho, LN_EMIT_TEMP);
}

// The number of pairs that each class wins, [N, C]: the first of a pair if its score is above 0,
// otherwise the second.
static const char *votes_of(ln_onnx_node *n, const char *scores, int classes, int pairs)
{
    ln_emit *const e = &n->emit;
    const int dims[] = {classes, classes - 1};
    const char *const first = ln_emit_cast(
        e, ln_emit_compare(e, "TL_COMPARE_GREATER", scores, ln_emit_scalar(e, TL_DOUBLE, 0)),
        TL_FLOAT, LN_EMIT_TEMP);
    const char *const second = ln_emit_unary_with(e, "TL_UNARY_AFFINE", first, -1, 1, LN_EMIT_TEMP);
    const char *const both = LN_EMIT(e, LN_EMIT_TEMP, LN_OP_JOIN, LN_ARG_AT("src", 0, first),
                                     LN_ARG_AT("src", 1, second), LN_INT("axis", 1));
    int64_t *const index = index_memory(n, classes * (classes - 1));
    if (!index)
        return NULL;
    for (int i = 0, at = 0; i < classes; i++)
        for (int j = 0; j < classes; j++)
            if (i != j)
                index[at++] = i < j ? pair_of(i, j, classes) : pairs + pair_of(j, i, classes);
    return ln_emit_reduce(e, "TL_REDUCE_SUM", columns(n, both, 2, dims, index), 1, (int[]){2}, 0,
                          LN_EMIT_TEMP);
}

// Probabilities of the classes, from those of pairs, 1 / (1 + exp(a score + b)): [N, C].
static const char *probabilities(ln_onnx_node *n, const char *scores, int pairs)
{
    ln_emit *const e = &n->emit;
    const char *const a = doubles(n, "prob_a", 0, pairs), *const b = doubles(n, "prob_b", 0, pairs);
    const char *const first =
        ln_emit_formula(e, "sigmoid(-(x * a + b))", scores, a, b, LN_EMIT_TEMP);
    const char *const within =
        ln_emit_unary_with(e, "TL_UNARY_CLIP", first, 1e-7, 1 - 1e-7, LN_EMIT_TEMP);
    return ln_emit_simple(e, LN_OP_COUPLE, within, LN_EMIT_TEMP);
}

// The number of support vectors of all classes; -1 after a failure.
static int sum_of_counts(ln_onnx_node *n, const int64_t *counts, int len, int classes)
{
    const int max = 46341; // C (C - 1) fits into int
    int sum = 0;
    if (classes < 2 || classes > max)
        ln_emit_fail(&n->emit, "has %d labels, expected 2 to %d", classes, max);
    else if (len != classes)
        ln_emit_fail(
            &n->emit,
            "attribute 'vectors_per_class' has %d elements, expected one for each of %d labels",
            len, classes);
    for (int i = 0; i < len && !ln_onnx_failed(n); i++)
        if (counts[i] >= 0 && counts[i] <= INT_MAX - sum)
            sum += (int)counts[i];
        else
            ln_emit_fail(&n->emit,
                         "attribute 'vectors_per_class' has %lld at index %d, expected 0 to %d",
                         (long long)counts[i], i, INT_MAX - sum);
    return ln_onnx_failed(n) ? -1 : sum;
}

static void emit_pairwise(ln_onnx_node *n, const char *rows, const int64_t *counts, int n_counts,
                          const ln_onnx_ml_labels *labels)
{
    int n_coefficients, n_probabilities;
    const int classes = labels->len;
    const int s = sum_of_counts(n, counts, n_counts, classes);
    const int64_t pairs = (int64_t)classes * (classes - 1) / 2;
    ln_onnx_floats(n, "coefficients", &n_coefficients);
    ln_onnx_floats(n, "prob_a", &n_probabilities);
    if (!ln_onnx_failed(n) && n_coefficients != (int64_t)(classes - 1) * s)
        ln_emit_fail(&n->emit,
                     "attribute 'coefficients' has %d elements, expected %d for each of %d support "
                     "vectors",
                     n_coefficients, classes - 1, s);
    if (ln_onnx_failed(n))
        return;
    const ln_onnx_ml_post post = ln_onnx_ml_post_of(n);
    const char *const scores =
        pair_scores(n, kernel_of(n, rows, s), s, counts, classes, (int)pairs);
    const char *const votes = votes_of(n, scores, classes, (int)pairs);
    ln_onnx_ml_emit_labels(n, ln_onnx_ml_best(n, votes), labels, 0);
    const char *result = n_probabilities ? probabilities(n, scores, (int)pairs) : scores;
    result = ln_emit_cast(&n->emit, result, TL_FLOAT, LN_EMIT_TEMP);
    if (!n_probabilities && classes == 2)
        result = ln_onnx_ml_two_columns(n, result, 0);
    ln_onnx_ml_emit_post(n, post, result, 1);
}

// Classification without support vectors

static int has_no_negative_coefficient(ln_onnx_node *n)
{
    int len;
    const float *const values = ln_onnx_floats(n, "coefficients", &len);
    int i = 0;
    while (i < len && values[i] >= 0)
        i++;
    return i == len;
}

// The best class; of two, with coefficients of which none is negative, the second if the best
// score is at least 0.5.
static const char *best_class(ln_onnx_node *n, const char *scores, int classes)
{
    ln_emit *const e = &n->emit;
    const char *const best = ln_onnx_ml_best(n, scores);
    if (classes != 2 || !has_no_negative_coefficient(n))
        return best;
    const int64_t second = 1;
    const char *const max =
        ln_emit_reduce(e, "TL_REDUCE_MAX", scores, 1, (int[]){1}, 0, LN_EMIT_TEMP);
    const char *const is_sure =
        ln_emit_compare(e, "TL_COMPARE_GREATER_EQUAL", max, ln_emit_scalar(e, TL_DOUBLE, 0.5));
    return ln_emit_where(e, is_sure, ln_emit_constant(e, TL_INT64, 0, NULL, &second), best,
                         LN_EMIT_TEMP);
}

static void emit_linear_classes(ln_onnx_node *n, const char *rows, const ln_onnx_ml_labels *labels)
{
    const char *const scores = linear(n, rows, labels->len);
    ln_onnx_ml_emit_labels(n, best_class(n, scores, labels->len), labels, 0);
    ln_onnx_ml_emit_post(n, ln_onnx_ml_post_of(n),
                         ln_emit_cast(&n->emit, scores, TL_FLOAT, LN_EMIT_TEMP), 1);
}

static void translate_svm_classifier(ln_onnx_node *n)
{
    int n_counts;
    const int64_t *const counts = ln_attr_ints(&n->emit, "vectors_per_class", &n_counts);
    const ln_onnx_ml_labels labels =
        ln_onnx_ml_labels_of(n, "classlabels_ints", "classlabels_strings");
    const char *const rows = ln_onnx_ml_rows(n, 0, TL_DOUBLE);
    if (ln_onnx_failed(n))
        return;
    int has_vectors = 0;
    for (int i = 0; i < n_counts; i++)
        has_vectors |= counts[i] != 0;
    if (has_vectors)
        emit_pairwise(n, rows, counts, n_counts, &labels);
    else
        emit_linear_classes(n, rows, &labels);
}

const ln_onnx_row ln_onnx_rows_ml_svm[] = {
    {"SVMClassifier", 1, translate_svm_classifier},
    {"SVMRegressor", 1, translate_svm_regressor},
    {NULL},
};
