#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: ml.py LIGHTNET. Operators of the domain ai.onnx.ml, except for trees, agree with formulas in double precision."""
import json
import math
import os
import statistics
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import (ML, Part, call, check_kinds, check_rejected, error_of, faults_of, name_of, one_node,
                       ranged_faults_of, write)
from onnx_writer import DTYPES, field, graph, model, node, value
from tap import Tap

# Sums of a few dozen numbers around 1 in float; results of doubles are rounded to float.
TOLERANCE = {"float32": 2e-5, "float64": 1e-9, "float": 2e-5, "double": 1e-9}
KINDS = {"float": np.float32, "double": np.float64, "int32": np.int32, "int64": np.int64}
POSTS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
NAN, INF = math.nan, math.inf
WORDS = np.array([["red", "", "Grün"], ["\u4e2d\u6587", "a b", "red"]])
rng = np.random.default_rng(20261127)


def ml(sentence, op_type, arrays, expected, const=(), **attributes):
    return one_node(sentence, op_type, arrays, expected, 17, const, domain=ML, **attributes)


def numbers(*dims, kind="float", low=-3, high=3):
    """Random numbers; of integers, whole ones."""
    return rng.uniform(low, high, dims).astype(KINDS[kind])


def floats(*dims, low=-2.0, high=2.0):
    """Attributes: their values as floats, and as a list."""
    values = rng.uniform(low, high, dims).astype(np.float32).astype(float)
    return values, values.ravel().tolist()


def f32(array):
    return np.asarray(array).astype(np.float32)


# ---- features ----

def array_feature_extractor():
    for kind in KINDS:
        x = numbers(3, 4, kind=kind)
        yield ml(f"{kind}, columns", "ArrayFeatureExtractor", [x, np.array([3, 0, 3])], x[:, [3, 0, 3]])
        yield ml(f"{kind}, indices in a matrix", "ArrayFeatureExtractor", [x, np.array([[2], [1]])], x[:, [2, 1]])
        yield ml(f"{kind}, a vector becomes a row", "ArrayFeatureExtractor", [x[0], np.array([1, 2])], x[:1, [1, 2]])
        y = numbers(2, 3, 5, kind=kind)
        yield ml(f"{kind}, three dimensions", "ArrayFeatureExtractor", [y, np.array([4])], y[..., [4]])
        yield ml(f"{kind}, no rows", "ArrayFeatureExtractor", [x[:0], np.array([1])], x[:0, [1]])
    yield ml("a constant index", "ArrayFeatureExtractor", [x, np.array([1])], x[:, [1]], const=(1,))
    yield ml("strings", "ArrayFeatureExtractor", [WORDS, np.array([2, 0])], WORDS[:, [2, 0]])


def binarizer():
    for kind in KINDS:
        x = numbers(2, 3, 5, kind=kind)
        yield ml(f"{kind}, above 0", "Binarizer", [x], (x > 0).astype(x.dtype))
        for threshold in (1.0, -1.5, 0.25, 1e30, -1e30):
            yield ml(f"{kind}, {threshold}", "Binarizer", [x], (x > threshold).astype(x.dtype), threshold=threshold)
        yield ml(f"{kind}, NaN", "Binarizer", [x], np.zeros_like(x), threshold=NAN)
        yield ml(f"{kind}, no elements", "Binarizer", [x[:, :0]], x[:, :0])
    ends = np.array([2 ** 60, 2 ** 60 + 1, -2 ** 63, 2 ** 63 - 1])
    yield ml("integers that doubles do not have", "Binarizer", [ends], np.array([0, 1, 0, 1]), threshold=2.0 ** 60)
    yield ml("the least integer", "Binarizer", [ends], np.array([1, 1, 0, 1]), threshold=-2.0 ** 63)
    yield ml("nothing is above infinity", "Binarizer", [f32([INF, 1])], f32([0, 0]), threshold=INF)
    yield ml("NaN and infinity", "Binarizer", [f32([NAN, INF, -INF])], f32([0, 1, 0]))


def scaler():
    for kind in KINDS:
        x = numbers(4, 3, kind=kind)
        offset, offsets = floats(3)
        scale, scales = floats(3)
        wide = x.astype(float)
        yield ml(f"{kind}, features", "Scaler", [x], f32((wide - offset) * scale), offset=offsets, scale=scales)
        yield ml(f"{kind}, one number", "Scaler", [x], f32((wide - offset[0]) * scale[0]), offset=offsets[:1], scale=scales[:1])
        yield ml(f"{kind}, a vector", "Scaler", [x[0]], f32((wide[0] - offset) * scale), offset=offsets, scale=scales)
        yield ml(f"{kind}, only a scale", "Scaler", [x], f32(wide * scale), scale=scales)
        yield ml(f"{kind}, only an offset", "Scaler", [x], f32(wide - offset), offset=offsets)
        yield ml(f"{kind}, nothing", "Scaler", [x], f32(x))
        yield ml(f"{kind}, no rows", "Scaler", [x[:0]], np.zeros((0, 3), np.float32), offset=offsets, scale=scales)
    x = np.array([[2 ** 24 + 1, 2 ** 24 + 3]])
    yield ml("large integers keep their last digit", "Scaler", [x], f32([[1, 3]]), offset=[2.0 ** 24])


def normalizer():
    for kind in KINDS:
        x = numbers(4, 3, kind=kind, low=-9, high=9)
        x[1], x[2] = 0, [-3, -2, 0]
        wide = x.astype(float)
        norms = {"MAX": wide.max(1, keepdims=True), "L1": abs(wide).sum(1, keepdims=True),
                 "L2": np.sqrt((wide ** 2).sum(1, keepdims=True))}
        for name, norm in norms.items():
            y = f32(wide / np.where(norm == 0, 1, norm))
            yield ml(f"{kind}, {name}", "Normalizer", [x], y, norm=name)
            yield ml(f"{kind}, {name} of a vector", "Normalizer", [x[0]], y[0], norm=name)
            yield ml(f"{kind}, {name} of no rows", "Normalizer", [x[:0]], y[:0], norm=name)
            yield ml(f"{kind}, {name} of no columns", "Normalizer", [x[:, :0]], y[:, :0], norm=name)
        yield ml(f"{kind}, MAX by default", "Normalizer", [x], f32(wide / np.where((m := norms["MAX"]) == 0, 1, m)))


def imputer():
    for kind in ("float", "double"):
        x = np.array([[1, NAN, 0], [NAN, -0.0, INF], [5, 6, -INF]], KINDS[kind])
        values, listed = floats(3)
        for replaced in (NAN, 0.0, INF, 5.0):
            is_it = np.isnan(x) if math.isnan(replaced) else x == replaced
            yield ml(f"{kind}, {replaced}, features", "Imputer", [x], np.where(is_it, values, x).astype(x.dtype),
                     imputed_value_floats=listed, replaced_value_float=replaced)
            yield ml(f"{kind}, {replaced}, one number", "Imputer", [x], np.where(is_it, values[1], x).astype(x.dtype),
                     imputed_value_floats=listed[1:2], replaced_value_float=replaced)
        yield ml(f"{kind}, zeros by default, a vector", "Imputer", [x[1]], np.where(x[1] == 0, values, x[1]).astype(x.dtype),
                 imputed_value_floats=listed)
        yield ml(f"{kind}, no rows", "Imputer", [x[:0]], x[:0], imputed_value_floats=listed, replaced_value_float=NAN)
    for kind in ("int32", "int64"):
        x = np.array([[1, -1, 0], [2 ** 31 - 1, -1, -1]], KINDS[kind])
        yield ml(f"{kind}, features", "Imputer", [x], np.where(x == -1, [7, 8, 9], x).astype(x.dtype),
                 imputed_value_int64s=[7, 8, 9], replaced_value_int64=-1)
        yield ml(f"{kind}, zeros by default", "Imputer", [x], np.where(x == 0, 5, x).astype(x.dtype), imputed_value_int64s=[5])
        yield ml(f"{kind}, a value of 64 bits", "Imputer", [x], x, imputed_value_int64s=[5], replaced_value_int64=2 ** 32 - 1)


def onehot_encoder():
    cats = [3, -1, 7, 0]
    for kind in KINDS:
        x = np.array([[3, 0, 5], [7, -1, 3]], KINDS[kind])
        y = f32(x[..., None] == np.array(cats))
        yield ml(f"{kind}, a matrix", "OneHotEncoder", [x], y, cats_int64s=cats)
        yield ml(f"{kind}, a vector", "OneHotEncoder", [x[0]], y[0], cats_int64s=cats)
        yield ml(f"{kind}, a scalar", "OneHotEncoder", [x[0, 0]], y[0, 0], cats_int64s=cats)
        yield ml(f"{kind}, no rows", "OneHotEncoder", [x[:0]], y[:0], cats_int64s=cats)
        yield ml(f"{kind}, all are categories", "OneHotEncoder", [x[1]], y[1], cats_int64s=cats, zeros=0)
    for kind in ("float", "double"):
        x = np.array([3.9, -1.5, 0.5, NAN, INF], KINDS[kind])
        yield ml(f"{kind}, digits behind the point, NaN", "OneHotEncoder", [x],
                 f32([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0] * 4, [0] * 4]), cats_int64s=cats)
    cats = ["Grün", "", "red", "re"]
    y = f32(WORDS[..., None] == np.array(cats))
    yield ml("strings, a matrix", "OneHotEncoder", [WORDS], y, cats_strings=cats)
    yield ml("strings, a constant", "OneHotEncoder", [WORDS], y, const=(0,), cats_strings=cats)
    yield ml("strings, a vector", "OneHotEncoder", [WORDS[0]], y[0], cats_strings=cats)
    yield ml("strings, a scalar", "OneHotEncoder", [WORDS[0, 0]], y[0, 0], cats_strings=cats)
    yield ml("strings, no rows", "OneHotEncoder", [WORDS[:0]], y[:0], cats_strings=cats)
    yield ml("strings, one category", "OneHotEncoder", [WORDS], y[..., 2:3], cats_strings=cats[2:3])
    yield ml("strings, all are categories", "OneHotEncoder", [WORDS[0]], y[0], cats_strings=cats, zeros=0)
    yield ml("strings beside integers", "OneHotEncoder", [WORDS], y, cats_strings=cats, cats_int64s=[1, 2])


def category_mapper():
    texts, codes = ["red", "", "a b", "red", "no"], [5, -7, 2 ** 40, 6, -7]
    to_code, to_text = {}, {}
    for text, code in zip(texts, codes):
        to_code.setdefault(text, code)
        to_text.setdefault(code, text)
    cats = dict(cats_strings=texts, cats_int64s=codes)
    numbers_of = np.array([[5, 6, 0], [-7, 2 ** 40, -1]])
    for default, attributes in ((-1, {}), (99, dict(default_int64=99))):
        y = np.vectorize(lambda word: to_code.get(word, default), otypes=[np.int64])(WORDS)
        yield ml(f"strings, {default}", "CategoryMapper", [WORDS], y, **cats, **attributes)
    for default, attributes in (("_Unused", {}), ("\u00e4", dict(default_string="\u00e4")), ("", dict(default_string=""))):
        y = np.array([[to_text.get(code, default) for code in row] for row in numbers_of.tolist()])
        yield ml(f"integers, {default!r}", "CategoryMapper", [numbers_of], y, **cats, **attributes)
    yield ml("a constant", "CategoryMapper", [np.array(["no"])], np.array([-7]), const=(0,), **cats)
    yield ml("a scalar", "CategoryMapper", [np.array("a b")], np.array(2 ** 40), **cats)
    yield ml("no rows", "CategoryMapper", [WORDS[:0]], np.zeros((0, 3), np.int64), **cats)


def feature_vectorizer():
    for kind in KINDS:
        a, b, c = numbers(2, 3, kind=kind), numbers(2, 1, kind=kind), numbers(2, 2, 2, kind=kind)
        yield ml(f"{kind}, in order", "FeatureVectorizer", [a, b], f32(np.hstack([a, b])), inputdimensions=[3, 1])
        yield ml(f"{kind}, cut and padded", "FeatureVectorizer", [a, b],
                 f32(np.hstack([a[:, :2], b, np.zeros((2, 2))])), inputdimensions=[2, 3])
        yield ml(f"{kind}, without sizes", "FeatureVectorizer", [b, a], f32(np.hstack([b, a])))
        yield ml(f"{kind}, vectors are rows", "FeatureVectorizer", [a[0], a[1]], f32([np.hstack([a[0], a[1]])]),
                 inputdimensions=[3, 3])
        yield ml(f"{kind}, three dimensions", "FeatureVectorizer", [c, a], f32(np.hstack([c.reshape(2, 4), a])),
                 inputdimensions=[4, 3])
        yield ml(f"{kind}, one input, no rows", "FeatureVectorizer", [a[:0]], f32(a[:0]), inputdimensions=[3])


# ---- post_transform ----

def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def softmax_zero(x):
    top = x.max(1, keepdims=True)
    counts = abs(x) > float(np.float32(1e-7))
    e = np.where(counts, np.exp(x - top), 0)
    return np.where(counts, e, x * np.exp(-top)) / e.sum(1, keepdims=True)


def quantile(p):
    if not 0 <= p <= 1:
        return NAN
    return -INF if p == 0 else INF if p == 1 else statistics.NormalDist().inv_cdf(p)


def transformed(post, x):
    if x.size == 0:
        return f32(x)
    return f32({"NONE": lambda: x, "SOFTMAX": lambda: softmax(x), "LOGISTIC": lambda: 1 / (1 + np.exp(-x)),
                "SOFTMAX_ZERO": lambda: softmax_zero(x), "PROBIT": lambda: np.vectorize(quantile, otypes=[float])(x)}[post]())


# ---- linear models ----

def linear_regressor():
    for kind in KINDS:
        x = numbers(5, 4, kind=kind)
        w, weights = floats(3, 4, low=-0.2, high=0.2)
        b, biases = floats(3, low=0.4, high=0.6)
        y = x.astype(float) @ w.T
        for post in POSTS:
            yield ml(f"{kind}, {post}", "LinearRegressor", [x], transformed(post, y + b), coefficients=weights, intercepts=biases,
                     targets=3, post_transform=post)
            yield ml(f"{kind}, {post}, one target", "LinearRegressor", [x], transformed(post, (y + b)[:, :1]),
                     coefficients=weights[:4], intercepts=biases[:1], post_transform=post)
        yield ml(f"{kind}, without intercepts", "LinearRegressor", [x], f32(y), coefficients=weights, targets=3)
        yield ml(f"{kind}, a vector", "LinearRegressor", [x[0]], f32(y[:1]), coefficients=weights, targets=3)
        yield ml(f"{kind}, no rows", "LinearRegressor", [x[:0]], f32(y[:0]), coefficients=weights, targets=3)
    x = f32([[0, 5e-8, 2]])
    yield ml("a row of zeros but for one", "LinearRegressor", [x], transformed("SOFTMAX_ZERO", x),
             coefficients=np.eye(3).ravel().tolist(), targets=3, post_transform="SOFTMAX_ZERO")
    yield ml("probabilities at the ends", "LinearRegressor", [f32([[0], [1], [1e-30], [-0.5], [2], [NAN]])],
             f32([[-INF], [INF], [quantile(1e-30)], [NAN], [NAN], [NAN]]), coefficients=[1.0], post_transform="PROBIT")


def linear_classifier():
    labels = np.array([7, -2, 5])
    for kind in KINDS:
        x = numbers(6, 4, kind=kind)
        w, weights = floats(3, 4, low=-0.2, high=0.2)
        b, biases = floats(3, low=0.4, high=0.6)
        scores = x.astype(float) @ w.T + b
        for post in POSTS:
            yield ml(f"{kind}, {post}", "LinearClassifier", [x], [labels[scores.argmax(1)], transformed(post, scores)],
                     coefficients=weights, intercepts=biases, classlabels_ints=labels.tolist(), post_transform=post,
                     multi_class=1)
        yield ml(f"{kind}, a vector", "LinearClassifier", [x[0]], [labels[scores.argmax(1)][:1], f32(scores[:1])],
                 coefficients=weights, intercepts=biases, classlabels_ints=labels.tolist())
        yield ml(f"{kind}, no rows", "LinearClassifier", [x[:0]], [labels[:0], f32(scores[:0])],
                 coefficients=weights, intercepts=biases, classlabels_ints=labels.tolist())
        free = x.astype(float) @ w.T
        yield ml(f"{kind}, without intercepts", "LinearClassifier", [x], [labels[free.argmax(1)], f32(free)],
                 coefficients=weights, classlabels_ints=labels.tolist())
    x = f32([[1, 1], [0, 0], [-1, 2]])
    yield ml("coefficients beyond those of the intercepts", "LinearClassifier", [x], [np.array([4, 4, 9]), x + f32([0.5, 0])],
             coefficients=[1.0, 0.0, 0.0, 1.0, 5.0, 6.0, 7.0, 8.0], intercepts=[0.5, 0.0], classlabels_ints=[4, 9])
    yield ml("the first of equal scores", "LinearClassifier", [x], [np.array([4, 4, 9]), x], coefficients=[1.0, 0.0, 0.0, 1.0],
             classlabels_ints=[4, 9])
    yield ml("only labels", "LinearClassifier", [x], [np.array([4, 4, 9]), None], coefficients=[1.0, 0.0, 0.0, 1.0],
             classlabels_ints=[4, 9])
    yield ml("only scores", "LinearClassifier", [x], [None, x], coefficients=[1.0, 0.0, 0.0, 1.0], classlabels_ints=[4, 9])
    words = WORDS[0]
    yield ml("strings", "LinearClassifier", [x], [words[(x @ f32([[0, 1], [1, 0], [1, 1]]).T).argmax(1)], None],
             coefficients=[0.0, 1.0, 1.0, 0.0, 1.0, 1.0], classlabels_strings=words.tolist())
    yield ml("strings, no rows", "LinearClassifier", [x[:0]], [words[:0], None], coefficients=[1.0, 0.0, 0.0, 1.0],
             classlabels_strings=words[:2].tolist())


def linear_classifier_with_one_score():
    x = f32([[0.5], [-0.25], [0], [3]])
    s = x.astype(float)
    second = (s > 0).ravel().astype(int)
    for post in POSTS:
        z = np.hstack([1 - s, s]) if post == "NONE" else transformed(post, np.hstack([-s, s]))
        yield ml(f"two labels, {post}", "LinearClassifier", [x], [np.array([30, 40])[second], f32(z)],
                 coefficients=[1.0], intercepts=[0.0], classlabels_ints=[30, 40], post_transform=post)
        yield ml(f"one label, {post}", "LinearClassifier", [x], [second, transformed(post, s)],
                 coefficients=[1.0], intercepts=[0.0], classlabels_ints=[30], post_transform=post)
        yield ml(f"two strings, {post}", "LinearClassifier", [x], [np.array(["no", "yes"])[second], f32(z)],
                 coefficients=[1.0], intercepts=[0.0], classlabels_strings=["no", "yes"], post_transform=post)
        yield ml(f"one string, {post}", "LinearClassifier", [x], [second.astype(str), transformed(post, s)],
                 coefficients=[1.0], intercepts=[0.0], classlabels_strings=["yes"], post_transform=post)


# ---- support vector machines ----

KERNELS = {"LINEAR": lambda d, x, v, g, c, k: d, "POLY": lambda d, x, v, g, c, k: (g * d + c) ** k,
           "RBF": lambda d, x, v, g, c, k: math.exp(-g * ((x - v) ** 2).sum()),
           "SIGMOID": lambda d, x, v, g, c, k: math.tanh(g * d + c)}


def kernel(name, x, vectors, params):
    """[N, S], one by one."""
    return np.array([[KERNELS[name](row @ v, row, v, *params) for v in vectors] for row in x]).reshape(len(x), len(vectors))


def svm_regressor():
    params = [0.5, 0.25, 3.0]
    for kind in KINDS:
        x = numbers(5, 3, kind=kind)
        wide = x.astype(float)
        v, vectors = floats(4, 3)
        c, coefficients = floats(4, low=-0.1, high=0.1)
        for name in KERNELS:
            y = kernel(name, wide, v, params) @ c[:, None] + 0.5
            yield ml(f"{kind}, {name}", "SVMRegressor", [x], f32(y), coefficients=coefficients, support_vectors=vectors,
                     n_supports=4, kernel_type=name, kernel_params=params, rho=[0.5])
        yield ml(f"{kind}, one class", "SVMRegressor", [x], f32(np.where(y - 0.5 > 0, 1, -1)), coefficients=coefficients,
                 support_vectors=vectors, n_supports=4, kernel_type=name, kernel_params=params, rho=[0.0], one_class=1)
        y = wide @ c[:3, None] + 0.25
        yield ml(f"{kind}, linear", "SVMRegressor", [x], f32(y), coefficients=coefficients[:3], rho=[0.25])
        for post in POSTS:
            yield ml(f"{kind}, {post}", "SVMRegressor", [x], transformed(post, y), coefficients=coefficients[:3], rho=[0.25],
                     post_transform=post)
        yield ml(f"{kind}, a vector", "SVMRegressor", [x[0]], f32(y[:1]), coefficients=coefficients[:3], rho=[0.25])
        yield ml(f"{kind}, no rows", "SVMRegressor", [x[:0]], f32(y[:0]), coefficients=coefficients[:3], rho=[0.25])
    far = numbers(4, 2, kind="double") + 1e6
    v = f32(far[:3] + 0.5).astype(float)
    yield ml("what vectors have in common does not cancel digits", "SVMRegressor", [far],
             f32(kernel("RBF", far, v, params).sum(1, keepdims=True)), coefficients=[1.0] * 3, support_vectors=v.ravel().tolist(),
             n_supports=3, kernel_type="RBF", kernel_params=params, rho=[0.0])


def coupled(r):
    """The probabilities of classes from r [C, C], those of pairs."""
    k = len(r)
    q = np.array([[-r[j, i] * r[i, j] for j in range(k)] for i in range(k)])
    for i in range(k):
        q[i, i] = sum(r[j, i] ** 2 for j in range(k) if j != i)
    p = np.full(k, 1 / k)
    for _ in range(max(100, k)):
        qp = q @ p
        pqp = p @ qp
        if abs(qp - pqp).max() < 0.005 / k:
            break
        for i in range(k):
            diff = (pqp - qp[i]) / q[i, i]
            p[i] += diff
            pqp = (pqp + diff * (diff * q[i, i] + 2 * qp[i])) / (1 + diff) ** 2
            qp = (qp + diff * q[i]) / (1 + diff)
            p /= 1 + diff
    return p


class Machine:
    """A random machine of support vectors for `counts` of them in each class."""

    def __init__(self, counts, features, name, has_probabilities=False):
        self.k, self.counts, self.name, self.params = len(counts), counts, name, [0.5, 0.25, 2.0]
        pairs = self.k * (self.k - 1) // 2
        self.v, vectors = floats(sum(counts), features)
        self.c, coefficients = floats(self.k - 1, sum(counts))
        self.rho, rho = floats(pairs, low=-0.2, high=0.2)
        self.a, prob_a = floats(pairs, low=-2, high=-1)
        self.b, prob_b = floats(pairs, low=-0.1, high=0.1)
        self.has_probabilities = has_probabilities
        self.attributes = dict(vectors_per_class=counts, support_vectors=vectors, coefficients=coefficients, rho=rho,
                               kernel_type=name, kernel_params=self.params, classlabels_ints=[10 * i + 1 for i in range(self.k)])
        if has_probabilities:
            self.attributes |= dict(prob_a=prob_a, prob_b=prob_b)

    def run(self, x, post="NONE"):
        """Labels and scores."""
        starts = np.cumsum([0] + self.counts)
        of = [slice(starts[i], starts[i + 1]) for i in range(self.k)]
        pairs = [(i, j) for i in range(self.k) for j in range(i + 1, self.k)]
        labels, scores = [], []
        for row in kernel(self.name, x.astype(float), self.v, self.params):
            s = [self.c[j - 1, of[i]] @ row[of[i]] + self.c[i, of[j]] @ row[of[j]] + rho for (i, j), rho in zip(pairs, self.rho)]
            votes = np.bincount([i if one > 0 else j for (i, j), one in zip(pairs, s)], minlength=self.k)
            labels.append(10 * votes.argmax() + 1)
            scores.append(self.probabilities(pairs, s) if self.has_probabilities else [-s[0], s[0]] if self.k == 2 else s)
        width = self.k if self.has_probabilities or self.k == 2 else len(pairs)
        return [np.array(labels, np.int64), transformed(post, np.array(scores, float).reshape(len(x), width))]

    def probabilities(self, pairs, s):
        r = np.zeros((self.k, self.k))
        for (i, j), one, a, b in zip(pairs, s, self.a, self.b):
            r[i, j] = min(max(1 / (1 + math.exp(one * a + b)), 1e-7), 1 - 1e-7)
            r[j, i] = 1 - r[i, j]
        return coupled(r)


def svm_classifier():
    for kind in KINDS:
        x = numbers(7, 3, kind=kind)
        for counts in ([2, 3], [3, 1, 2], [1, 2, 0, 3], [1] * 7):
            for has_probabilities in (False, True):
                for name in KERNELS:
                    m = Machine(counts, 3, name, has_probabilities)
                    yield ml(f"{kind}, {name}, {counts}, {has_probabilities}", "SVMClassifier", [x], m.run(x), **m.attributes)


def svm_classifier_with_transforms():
    x = numbers(7, 3)
    for counts in ([2, 3], [3, 1, 2]):
        for has_probabilities in (False, True):
            for post in POSTS:
                m = Machine(counts, 3, "RBF", has_probabilities)
                yield ml(f"{post}, {counts}, {has_probabilities}", "SVMClassifier", [x], m.run(x, post),
                         post_transform=post, **m.attributes)
    m = Machine([2, 2, 1], 3, "LINEAR", True)
    yield ml("a vector", "SVMClassifier", [x[0]], m.run(x[:1]), **m.attributes)
    yield ml("no rows", "SVMClassifier", [x[:0]], m.run(x[:0]), **m.attributes)
    del m.attributes["kernel_type"], m.attributes["kernel_params"]
    yield ml("a linear kernel by default", "SVMClassifier", [x], m.run(x), **m.attributes)
    for counts in ([2, 3], [3, 1, 2]):
        for has_probabilities in (False, True):
            m = Machine(counts, 3, "RBF", has_probabilities)
            labels, scores = m.run(x)
            del m.attributes["classlabels_ints"]
            yield ml(f"strings, {counts}, {has_probabilities}", "SVMClassifier", [x], [WORDS[0][labels // 10], scores],
                     classlabels_strings=WORDS[0][:len(counts)].tolist(), **m.attributes)


def svm_classifier_without_vectors():
    for classes in (1, 2, 3):
        x = numbers(6, 4)
        w, weights = floats(classes, 4)
        scores = x.astype(float) @ w.T + 0.25
        for post in POSTS:
            yield ml(f"{classes} classes, {post}", "SVMClassifier", [x], [scores.argmax(1) + 5, transformed(post, scores)],
                     coefficients=weights, rho=[0.25], classlabels_ints=list(range(5, 5 + classes)), post_transform=post)
    x = f32([[0.9, 0.1], [0.3, 0.2], [0.1, 0.7]])
    yield ml("none of the coefficients is negative", "SVMClassifier", [x], [np.array([1, 0, 1]), x],
             coefficients=[1.0, 0.0, 0.0, 1.0], rho=[0.0], classlabels_ints=[0, 1])
    yield ml("strings", "SVMClassifier", [x], [np.array(["yes", "no", "yes"]), x],
             coefficients=[1.0, 0.0, 0.0, 1.0], rho=[0.0], classlabels_strings=["no", "yes"])


# ---- pipelines, as skl2onnx writes them ----

def ml_node(op_type, ins, outs, **attributes):
    return node(op_type, ins, outs, domain=ML, **attributes)


def pipelines():
    x = numbers(5, 3)
    offset, offsets = floats(3)
    scale, scales = floats(3, low=0.5, high=1.5)
    w, weights = floats(3, 3)
    scores = (x.astype(float) - offset) * scale @ w.T + 0.5
    p = 1 / (1 + np.exp(-scores))
    y = [scores.argmax(1), f32(p / p.sum(1, keepdims=True))]
    yield Part("scaler, linear classifier, normalizer, zipmap", 17,
               [ml_node("Scaler", ["x"], ["scaled"], offset=offsets, scale=scales),
                ml_node("LinearClassifier", ["scaled"], ["label", "raw"], coefficients=weights, intercepts=[0.5] * 3,
                        classlabels_ints=[0, 1, 2], post_transform="LOGISTIC", multi_class=1),
                ml_node("Normalizer", ["raw"], ["tensor"], norm="L1"),
                node("Cast", ["label"], ["y0"], to=7), ml_node("ZipMap", ["tensor"], ["y1"], classlabels_int64s=[0, 1, 2])],
               {"x": x}, {"y0": y[0], "y1": y[1]})
    real, code = f32([[1, NAN], [NAN, 2], [0.5, -1]]), np.array([[2], [0], [1]])
    features = np.hstack([np.where(np.isnan(real), [0.5, 0.25], real), code == [0, 1, 2]])
    m = Machine([2, 2], 5, "RBF", True)
    yield Part("imputer, one-hot encoder, concat, support vectors", 17,
               [ml_node("Imputer", ["real"], ["whole"], imputed_value_floats=[0.5, 0.25], replaced_value_float=NAN),
                ml_node("OneHotEncoder", ["code"], ["hot"], cats_int64s=[0, 1, 2]), node("Flatten", ["hot"], ["flat"], axis=1),
                node("Concat", ["whole", "flat"], ["all"], axis=1),
                ml_node("SVMClassifier", ["all"], ["y0", "y1"], **m.attributes)],
               {"real": real, "code": code}, dict(zip(["y0", "y1"], m.run(features))))
    colors = np.array([["red"], ["blue"], ["red"], ["none"]])
    yield Part("one-hot encoder, linear classifier of strings, label encoder", 17,
               [ml_node("OneHotEncoder", ["color"], ["hot"], cats_strings=["blue", "red"]), node("Flatten", ["hot"], ["flat"], axis=1),
                ml_node("LinearClassifier", ["flat"], ["y0", "y1"], coefficients=[2.0, 0.0, 0.0, 3.0], intercepts=[1.0, 0.0],
                        classlabels_strings=["cold", "warm"]),
                ml_node("LabelEncoder", ["y0"], ["y2"], keys_strings=["warm", "cold"], values_int64s=[30, -5])],
               {"color": colors}, {"y0": np.array(["warm", "cold", "warm", "cold"]), "y1": f32([[1, 3], [3, 0], [1, 3], [1, 0]]),
                                   "y2": np.array([30, -5, 30, -5])})


# ---- maps ----

def map_value(name, key, dtype):
    """An input that is a map, whose keys have this code of TensorProto.DataType."""
    return field(1, name) + field(2, field(5, field(1, key) + field(2, field(1, field(1, DTYPES[dtype][0])))))


def maps_value(name):
    """An output that is a sequence of maps."""
    return field(1, name) + field(2, field(4, field(1, field(5, field(1, 7)))))


def check_maps(tap, lightnet):
    a = {kind: np.array([[4, 8, 0]], KINDS[kind]) for kind in KINDS}
    rows = [
        ("DictVectorizer", 8, "float", dict(string_vocabulary=["a", "c", "b"]), a["float"], a["float"]),
        ("DictVectorizer", 8, "int64", dict(string_vocabulary=["a", "c", "b"]), a["int64"], a["int64"]),
        ("DictVectorizer", 7, "double", dict(int64_vocabulary=[5, 3, 9]), a["double"], a["double"]),
        ("CastMap", 7, "float", {}, a["float"], a["float"]),
        ("CastMap", 7, "float", dict(cast_to="TO_INT64"), a["float"] + f32(0.5), a["int64"]),
        ("CastMap", 7, "float", dict(map_form="SPARSE", max_map=3), a["float"], a["float"]),
        ("CastMap", 7, "float", dict(cast_to="TO_STRING"), f32([[4, 0.1, INF]]), np.array([["4.0", "0.1", "INF"]])),
        ("CastMap", 7, "string", {}, np.array([["4", "8.0", "-0"]]), a["float"]),
        ("CastMap", 7, "string", dict(cast_to="TO_INT64"), np.array([["4", "8.9", "0"]]), a["int64"]),
        ("CastMap", 7, "string", dict(cast_to="TO_STRING"), WORDS[:1], WORDS[:1]),
        ("DictVectorizer", 7, "string", dict(int64_vocabulary=[5, 3, 9]), WORDS[:1], WORDS[:1]),
    ]
    for op_type, key, kind, attributes, x, y in rows:
        whole = graph([ml_node(op_type, ["x"], ["y"], **attributes)], [map_value("x", key, kind)], [value("y", name_of(y))])
        tap.check(f"{op_type} {attributes}: a map is the tensor of its values",
                  faults_of(lightnet, model(whole, opset={"": 17, ML: 1}), {"x": x}, [y]))
    for op_type, attributes, words in (("DictVectorizer", dict(string_vocabulary=["a"]), "[1, 3], expected [1, 1]"),
                                       ("CastMap", dict(cast_to="TO_DOUBLE"), "attribute 'cast_to' is \"TO_DOUBLE\"")):
        whole = graph([ml_node(op_type, ["x"], ["y"], **attributes)], [map_value("x", 7, "float")], [value("y", "float")])
        message = error_of(lightnet, model(whole, opset={"": 17, ML: 1}), {"x": a["float"]})
        tap.check(f"{op_type} rejects {attributes}",
                  [] if message and words in message else [f"expected {words!r} in: {message!r}"])


def check_zipmap(tap, lightnet):
    x = numbers(2, 3)
    for name, keys in (("classlabels_int64s", [7, 8, -9]), ("classlabels_strings", ["a", 'b"', "c"])):
        for given in (x, x[0], x[:0]):
            whole = graph([ml_node("ZipMap", ["x"], ["y"], **{name: keys})],
                          [value("x", "float", list(given.shape))], [maps_value("y")])
            tap.check(f"ZipMap of {given.shape} with {name}: the tensor of the values",
                      faults_of(lightnet, model(whole, opset={"": 17, ML: 1}), {"x": given}, [given.reshape(-1, 3)]))
            with tempfile.TemporaryDirectory() as folder:
                shown = call([lightnet, "show", *write(folder, model(whole, opset={"": 17, ML: 1}), {})])
            lines = [line.split(None, 1)[-1] for line in shown.stdout.splitlines() if line.startswith("keys ")]
            tap.check(f"ZipMap of {given.shape} with {name}: show prints them",
                      [] if lines == [f"y: {json.dumps(keys)}"] else [shown.stdout + shown.stderr])
    whole = graph([ml_node("ZipMap", ["x"], ["y"], classlabels_int64s=[1, 2])], [value("x", "float", [2, 3])],
                  [maps_value("y")])
    message = error_of(lightnet, model(whole, opset={"": 17, ML: 1}), {"x": x})
    words = "input 0 has 3 columns, expected one for each of 2 keys"
    tap.check("ZipMap rejects keys of other columns", [] if message and words in message else [f"{message!r}"])


# ---- open batches, versions, errors ----

def check_open_batches(tap, lightnet):
    m, two = Machine([2, 1, 2], 3, "RBF", True), Machine([2, 1], 3, "POLY")
    w, weights = floats(2, 3)
    makers = {
        "SVMClassifier": lambda x: ml("open", "SVMClassifier", [x], m.run(x), **m.attributes),
        "SVMClassifier of two classes": lambda x: ml("open", "SVMClassifier", [x], two.run(x, "LOGISTIC"),
                                                     post_transform="LOGISTIC", **two.attributes),
        "LinearRegressor": lambda x: ml("open", "LinearRegressor", [x], transformed("SOFTMAX_ZERO", x.astype(float) @ w.T),
                                        coefficients=weights, targets=2, post_transform="SOFTMAX_ZERO"),
        "LinearClassifier with one score": lambda x: ml("open", "LinearClassifier", [x], [(x[:, 0] > 0).astype(int), f32(
            np.stack([1 - x[:, 0], x[:, 0]], 1))], coefficients=[1.0, 0.0, 0.0], intercepts=[0.0], classlabels_ints=[0, 1]),
        "OneHotEncoder": lambda x: ml("open", "OneHotEncoder", [x], f32(np.trunc(x)[..., None] == [0, 1, 2]),
                                      cats_int64s=[0, 1, 2]),
        "LinearClassifier of strings": lambda x: ml("open", "LinearClassifier", [x], [WORDS[0][x.argmax(1)], x],
                                                    coefficients=np.eye(3).ravel().tolist(), classlabels_strings=WORDS[0].tolist()),
        "Normalizer": lambda x: ml("open", "Normalizer", [x], f32(x / abs(x).sum(1, keepdims=True)), norm="L1"),
        "Scaler": lambda x: ml("open", "Scaler", [x], f32((x - 1) * 2), offset=[1.0], scale=[2.0]),
        "Imputer": lambda x: ml("open", "Imputer", [x], x, imputed_value_floats=[1.0], replaced_value_float=NAN),
        "FeatureVectorizer": lambda x: ml("open", "FeatureVectorizer", [x], x[:, :2], inputdimensions=[2]),
        "ArrayFeatureExtractor": lambda x: ml("open", "ArrayFeatureExtractor", [x, np.array([2, 1])], x[:, [2, 1]], const=(1,)),
    }
    for name, make in makers.items():
        parts = [make(numbers(rows, 3)) for rows in (4, 1, 3)]
        tap.check(f"{name}: any batch of a compiled range",
                  ranged_faults_of(lightnet, parts, {"x0": "1..4x3"}, TOLERANCE["float"]))
    parts = [ml("open", "OneHotEncoder", [x], f32(x[..., None] == np.array(["red", ""])), cats_strings=["red", ""])
             for x in (np.tile(WORDS, (2, 1)), WORDS[:1], np.tile(WORDS, (2, 1))[:3])]
    tap.check("OneHotEncoder of strings: any batch of a compiled range", ranged_faults_of(lightnet, parts, {"x0": "1..4x3"}, 0))


def check_versions(tap, lightnet):
    x = numbers(2, 3)
    for version in range(1, 6):
        whole = graph([ml_node("Scaler", ["x"], ["y"], offset=[1.0])], [value("x", "float", [2, 3])], [value("y", "float")])
        tap.check(f"version {version} of the domain",
                  faults_of(lightnet, model(whole, opset={"": 17, ML: version}), {"x": x}, [x - 1], 1e-6, 1e-6))


def check_errors(tap, lightnet):
    x, code = numbers(2, 3), np.array([1, 2])
    svm = Machine([2, 1], 3, "RBF").attributes
    rows = [
        ("a word that is no transform", "LinearRegressor", [x], dict(coefficients=[1.0] * 3, post_transform="SIGMOID"),
         'attribute \'post_transform\' is "SIGMOID", expected one of "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"'),
        ("too few coefficients", "LinearRegressor", [x], dict(coefficients=[1.0] * 5, targets=2),
         "attribute 'coefficients' has 5 elements, expected 2 for each of 3 features"),
        ("no coefficients", "LinearClassifier", [x], dict(classlabels_ints=[0, 1]), "attribute 'coefficients' has 0 elements"),
        ("intercepts of other targets", "LinearRegressor", [x], dict(coefficients=[1.0] * 6, targets=2, intercepts=[1.0]),
         "attribute 'intercepts' has 1 elements, expected 2"),
        ("targets below 1", "LinearRegressor", [x], dict(coefficients=[1.0] * 3, targets=0),
         "attribute 'targets' is 0, expected at least 1"),
        ("three dimensions", "LinearRegressor", [x[None]], dict(coefficients=[1.0] * 3),
         "input 0 has 3 dimensions, expected 1 or 2"),
        ("no labels", "LinearClassifier", [x], dict(coefficients=[1.0] * 6), "has no labels, expected them in attribute"),
        ("two kinds of labels", "LinearClassifier", [x], dict(coefficients=[1.0] * 6, classlabels_ints=[1, 2],
                                                             classlabels_strings=["a", "b"]), "has both attributes"),
        ("labels of other classes", "LinearClassifier", [x], dict(coefficients=[1.0] * 9, classlabels_ints=[1, 2]),
         "has 2 labels, expected one for each of 3 classes"),
        ("a scale of other features", "Scaler", [x], dict(scale=[1.0, 2.0]), "attribute 'scale' has 2 elements, expected 1 or 3"),
        ("a norm that is unknown", "Normalizer", [x], dict(norm="L3"), "attribute 'norm' is \"L3\""),
        ("integers for floats", "Imputer", [x], dict(imputed_value_int64s=[1]), "attribute 'imputed_value_floats' is missing"),
        ("more than 32 bits", "Imputer", [code.astype(np.int32)], dict(imputed_value_int64s=[2 ** 31]), "expected 32 bits"),
        ("a category twice", "OneHotEncoder", [code], dict(cats_int64s=[1, 2, 1]), "has the category 1 twice"),
        ("an unknown category", "OneHotEncoder", [code], dict(cats_int64s=[1, 3], zeros=0), "index"),
        ("a string twice", "OneHotEncoder", [WORDS], dict(cats_strings=["b", "a", "b"]), 'has the category "b" twice'),
        ("an unknown string", "OneHotEncoder", [WORDS], dict(cats_strings=["red", ""], zeros=0), "index"),
        ("integers for strings", "OneHotEncoder", [WORDS], dict(cats_int64s=[1]),
         "attribute 'cats_strings' is missing or empty, which input 0, of type TL_STRING, needs"),
        ("strings for integers", "OneHotEncoder", [code], dict(cats_strings=["a"]),
         "attribute 'cats_int64s' is missing or empty, which input 0, of type TL_INT64, needs"),
        ("lists of two lengths", "CategoryMapper", [WORDS], dict(cats_strings=["a", "b"], cats_int64s=[1]),
         "has 2 'cats_strings' and 1 'cats_int64s', expected equal numbers"),
        ("no strings", "CategoryMapper", [code], dict(cats_int64s=[1]), "attribute 'cats_strings' is missing"),
        ("no integers", "CategoryMapper", [WORDS], dict(cats_strings=["a"]), "attribute 'cats_int64s' is missing"),
        ("floats", "CategoryMapper", [x], dict(cats_strings=["a"], cats_int64s=[1]), "expected the type of 'src', TL_FLOAT"),
        ("strings", "Scaler", [WORDS], dict(scale=[2.0]), "TL_STRING"),
        ("strings of other classes", "LinearClassifier", [x], dict(coefficients=[1.0] * 9, classlabels_strings=["a", "b"]),
         "has 2 labels, expected one for each of 3 classes"),
        ("an index out of range", "ArrayFeatureExtractor", [x, np.array([3])], {}, "index"),
        ("sizes of other inputs", "FeatureVectorizer", [x], dict(inputdimensions=[1, 2]), "has 1 inputs and 2 'inputdimensions'"),
        ("a negative size", "FeatureVectorizer", [x], dict(inputdimensions=[-1]), "attribute 'inputdimensions' has -1, expected at least 0"),
        ("vectors of other features", "SVMClassifier", [x[:, :2]], svm, "attribute 'support_vectors' has 9 elements, expected 3"),
        ("vectors of other classes", "SVMClassifier", [x], svm | dict(vectors_per_class=[3]),
         "attribute 'vectors_per_class' has 1 elements, expected one for each of 2 labels"),
        ("fewer than no vectors", "SVMClassifier", [x], svm | dict(vectors_per_class=[4, -1]),
         "attribute 'vectors_per_class' has -1 at index 1, expected 0 to 2147483643"),
        ("a class without another", "SVMClassifier", [x], svm | dict(vectors_per_class=[3], classlabels_ints=[1]),
         "has 1 labels, expected 2 to 46341"),
        ("more pairs than an int counts", "SVMClassifier", [x],
         svm | dict(vectors_per_class=[1] * 46342, classlabels_ints=list(range(46342))), "has 46342 labels, expected 2 to 46341"),
        ("too few coefficients of vectors", "SVMClassifier", [x], svm | dict(coefficients=[1.0]),
         "attribute 'coefficients' has 1"),
        ("no rho", "SVMRegressor", [x], dict(coefficients=[1.0] * 3), "attribute 'rho' has 0 elements, expected 1"),
        ("two parameters of the kernel", "SVMClassifier", [x], svm | dict(kernel_params=[1.0, 2.0]),
         "attribute 'kernel_params' has 2 elements, expected 3"),
        ("an unknown kernel", "SVMClassifier", [x], svm | dict(kernel_type="RBV"), "attribute 'kernel_type' is \"RBV\""),
        ("no prob_b", "SVMClassifier", [x], svm | dict(prob_a=[1.0]), "attribute 'prob_b' has 0 elements, expected 1"),
    ]
    for sentence, op_type, arrays, attributes, words in rows:
        outs = [np.array([0]), f32([0])] if "Classifier" in op_type else f32([0])
        check_rejected(tap, lightnet, ml(sentence, op_type, arrays, outs, **attributes), f"{op_type} rejects {sentence}", words)


def main():
    tap, lightnet = Tap(), sys.argv[1]
    check_kinds(tap, lightnet, [array_feature_extractor, binarizer, scaler, normalizer, imputer, onehot_encoder, category_mapper,
                                feature_vectorizer, linear_regressor, linear_classifier, linear_classifier_with_one_score, svm_regressor,
                                svm_classifier, svm_classifier_with_transforms, svm_classifier_without_vectors, pipelines],
                TOLERANCE, is_written=True)
    check_open_batches(tap, lightnet)
    check_versions(tap, lightnet)
    check_maps(tap, lightnet)
    check_zipmap(tap, lightnet)
    check_errors(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
