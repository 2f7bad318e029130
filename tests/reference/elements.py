#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: elements.py LIGHTNET. The operators on elements beyond the catalogue agree with numpy, with edge values."""
import math
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
import formulas as f
from dtypes import ALL, FLT, INT, NUM, NUMPY, as_numbers, limits, rounded, tolerance
from operators import LENGTHS, SEED, Cases
from tap import Tap

erf, erfc = np.vectorize(math.erf), np.vectorize(math.erfc)


def softplus(x):
    return np.logaddexp(0, x)


# Name: formula in double, and alpha and beta.
FUNCTIONS = {
    "ABS": (np.abs,), "NEG": (np.negative,), "SIGN": (np.sign,), "RECIPROCAL": (lambda x: 1 / x,), "SQRT": (np.sqrt,),
    "EXP": (np.exp,), "LOG": (np.log,), "CEIL": (np.ceil,), "FLOOR": (np.floor,), "ROUND": (np.rint,), "SIN": (np.sin,),
    "COS": (np.cos,), "TAN": (np.tan,), "ASIN": (np.arcsin,), "ACOS": (np.arccos,), "ATAN": (np.arctan,),
    "SINH": (np.sinh,), "COSH": (np.cosh,), "TANH": (np.tanh,), "ASINH": (np.arcsinh,), "ACOSH": (np.arccosh,),
    "ATANH": (np.arctanh,), "ERF": (erf,), "SIGMOID": (f.logistic,), "SOFTPLUS": (softplus,),
    "SOFTSIGN": (lambda x: x / (1 + np.abs(x)),), "MISH": (lambda x: x * np.tanh(softplus(x)),),
    "GELU": (lambda x: x * (erfc(-x / math.sqrt(2)) / 2),),
    "GELU_TANH": (lambda x: x * f.logistic(math.sqrt(8 / math.pi) * (x + 0.044715 * x**3)),),
    "SWISH": (lambda x, a, b: x * f.logistic(a * x), 1.5, 0), "ELU": (lambda x, a, b: np.where(x > 0, x, a * np.expm1(x)), 0.75, 0),
    "CELU": (lambda x, a, b: np.where(x > 0, x, a * np.expm1(x / a)), 0.75, 0),
    "SELU": (lambda x, a, b: b * np.where(x > 0, x, a * np.expm1(x)), 1.5, 1.25),
    "HARDSIGMOID": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.25, 0.5), "CLIP": (np.clip, -0.75, 1.25),
    "THRESHOLDEDRELU": (lambda x, a, b: np.where(x > a, x, 0), 0.5, 0),
    "SHRINK": (lambda x, a, b: np.where(x < -a, x + b, np.where(x > a, x - b, 0)), 0.5, 0.25),
}

# Made of exponentials, whose argument may be large.
MAGNIFYING = {"EXP", "SINH", "COSH", "GELU", "GELU_TANH", "SWISH", "SIGMOID", "MISH", "SOFTPLUS"}


def unary(t):
    for name, (formula, *parameters) in FUNCTIONS.items():
        params = dict(zip(("alpha", "beta"), parameters))
        for dtype in FLT:
            for shape in LENGTHS:
                src = t.values(dtype, *shape, scale=2, edged=True)
                with np.errstate(all="ignore"):
                    exact = formula(src.astype(np.float64), *parameters)
                    # An exponential is wrong by its argument's rounding too; where it leaves the range of the type that
                    # computes, 0 is accepted for values below the smallest normal number.
                    steps = 120 if name in MAGNIFYING else 8
                    least = 2.0**-126 if dtype != "TL_DOUBLE" else 2.0**-1022
                    bound = tolerance(dtype, np.abs(exact) + sum(abs(p) for p in parameters), steps) + least
                    t.add(dtype, [("src", src)], [("dst", dtype, rounded(dtype, exact), bound)],
                          func=f"TL_UNARY_{name}", **params)
    for name, formula in (("ABS", abs), ("NEG", lambda v: -v), ("SIGN", lambda v: (v > 0) - (v < 0)), ("NOT", lambda v: ~v)):
        for dtype in INT:
            src = t.values(dtype, 53, edged=True)
            values = np.array([f.wrapped(dtype, formula(v)) for v in as_numbers(src)], NUMPY[dtype])
            t.add(dtype, [("src", src)], [("dst", dtype, values, None)], func=f"TL_UNARY_{name}")
    src = t.values("TL_BOOL", 53)
    t.add("TL_BOOL", [("src", src)], [("dst", "TL_BOOL", ~src, None)], func="TL_UNARY_NOT")


def whole_power(a, b):
    return a**b if b >= 0 else int(1 / a**-b)


def shifted_left(a, b, bits):
    return a << b if 0 <= b < bits else 0


def shifted_right(a, b, bits):
    return a >> b if 0 <= b < bits else -(a < 0)


REAL = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "MOD": np.mod, "FMOD": np.fmod,
    "POW": np.power, "MAX": np.maximum, "MIN": np.minimum, "PRELU": lambda a, b: np.where(a < 0, a * b, a),
}
WHOLE = {
    "ADD": lambda a, b: a + b, "SUB": lambda a, b: a - b, "MUL": lambda a, b: a * b, "DIV": f.WHOLE["TL_DIV"],
    "MOD": lambda a, b: a % b, "FMOD": lambda a, b: a - b * f.WHOLE["TL_DIV"](a, b), "POW": whole_power, "MAX": max,
    "MIN": min, "PRELU": lambda a, b: a * b if a < 0 else a,
}
BITS = {"AND": np.bitwise_and, "OR": np.bitwise_or, "XOR": np.bitwise_xor}
SHAPES = (((97,), (97,)), ((7, 13), (13,)), ((7, 1), (1, 13)), ((1,), (41,)), ((3, 5, 7), (5, 1)), ((2, 3, 1, 5, 1), (1, 4, 1, 3)))


def pairs(t, dtype):
    for left, right in SHAPES:
        for a, b in ((left, right), (right, left)):
            yield t.values(dtype, *a, edged=True), t.values(dtype, *b, edged=True)


def on_pairs(dtype, formula, a, b):
    """A formula on Python's whole numbers, which have no limits."""
    a, b = np.broadcast_arrays(a, b)
    values = [f.wrapped(dtype, formula(x, y)) for x, y in zip(as_numbers(a), as_numbers(b))]
    return np.array(values, NUMPY[dtype]).reshape(a.shape)


def binary(t):
    for dtype in FLT:
        for name, formula in REAL.items():
            for a, b in pairs(t, dtype):
                with np.errstate(all="ignore"):
                    exact = formula(f.working(dtype, a), f.working(dtype, b))
                bound = tolerance(dtype, exact) if name == "POW" else None
                t.add(dtype, [("src1", a), ("src2", b)], [("dst", dtype, rounded(dtype, exact), bound)], op=f"TL_BINARY_{name}")
    for dtype in INT:
        bits = 8 * np.dtype(NUMPY[dtype]).itemsize
        shifts = {"SHIFT_LEFT": lambda a, b, n=bits: shifted_left(a, b, n), "SHIFT_RIGHT": lambda a, b, n=bits: shifted_right(a, b, n)}
        for name, formula in {**WHOLE, **shifts}.items():
            for a, b in pairs(t, dtype):
                if name in ("DIV", "MOD", "FMOD"):   # division by zero is an error
                    b[b == 0] = 1
                if name == "POW":                    # as is a negative power of zero; no numbers of a million digits
                    a[a == 0], b = 1, (b % NUMPY[dtype](9)).astype(NUMPY[dtype])
                    b = b - NUMPY[dtype](3) if limits(dtype)[0] else b
                if name in shifts:
                    b = (b % NUMPY[dtype](bits + 3)).astype(NUMPY[dtype])
                t.add(dtype, [("src1", a), ("src2", b)], [("dst", dtype, on_pairs(dtype, formula, a, b), None)],
                      op=f"TL_BINARY_{name}")
    for dtype in (*INT, "TL_BOOL"):
        for name, formula in BITS.items():
            for a, b in pairs(t, dtype):
                t.add(dtype, [("src1", a), ("src2", b)], [("dst", dtype, formula(a, b), None)], op=f"TL_BINARY_{name}")


COMPARISONS = {"EQUAL": np.equal, "NOT_EQUAL": np.not_equal, "LESS": np.less, "LESS_EQUAL": np.less_equal,
               "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal}


def compare(t):
    for dtype in ALL:
        for name, formula in COMPARISONS.items():
            for a, b in pairs(t, dtype):
                t.add(dtype, [("src1", a), ("src2", b)], [("dst", "TL_BOOL", formula(a, b), None)], op=f"TL_COMPARE_{name}")


def where(t):
    for dtype in ALL:
        for shape in ((1,), (13,), (5, 1), (3, 5, 13)):
            for a, b in pairs(t, dtype):
                cond = t.values("TL_BOOL", *shape)
                try:
                    np.broadcast_shapes(shape, a.shape, b.shape)
                except ValueError:
                    continue
                t.add(dtype, [("cond", ("TL_BOOL", cond)), ("src1", a), ("src2", b)],
                      [("dst", dtype, np.where(cond, a, b).astype(NUMPY[dtype]), None)])


def classify(t):
    tests = {"nan": np.isnan, "positive_inf": np.isposinf, "negative_inf": np.isneginf}
    for dtype in FLT:
        for k in range(8):
            chosen = [name for i, name in enumerate(tests) if k >> i & 1]
            src = t.values(dtype, 7, 13, edged=True)
            found = np.any([tests[name](src) for name in chosen] + [np.zeros(src.shape, bool)], axis=0)
            t.add(dtype, [("src", src)], [("dst", "TL_BOOL", found, None)], **{name: True for name in chosen})


def cast_values(src, to, from_):
    if to == "TL_BOOL":
        return src != 0
    if to in FLT:
        with np.errstate(over="ignore"):
            return rounded(to, src)
    if from_ in FLT:
        return f.convert(to, src)
    return np.array([f.wrapped(to, int(v)) for v in as_numbers(src)], NUMPY[to]).reshape(src.shape)


def cast(t):
    for from_ in ALL:
        for to in ALL:
            # numpy rounds large whole numbers and doubles to bfloat16 by way of float, twice.
            if to == "TL_BFLOAT16" and from_ in ("TL_INT64", "TL_UINT64", "TL_INT32", "TL_UINT32", "TL_DOUBLE"):
                continue
            src = t.values(from_, 7, 13, scale=100, edged=True)
            t.add(from_, [("src", src)], [("dst", to, cast_values(src, to, from_), None)], dtype=to)


OPERATORS = {"unary": unary, "binary": binary, "compare": compare, "where": where, "classify": classify, "cast": cast}


def main():
    lightnet, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    tap = Tap()
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        for k, (optype, cases) in enumerate(OPERATORS.items()):
            if only and optype not in only:
                continue
            t = Cases(optype, np.random.default_rng([SEED, k]))
            cases(t)
            tap.check(f"{optype} gives what numpy gives", t.check(lightnet, folder)[:20])
    tap.end()


if __name__ == "__main__":
    main()
