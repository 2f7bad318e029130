#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: elementwise.py LIGHTNET. ONNX element-wise operators agree with numpy: all types, and old opsets."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import FLOATS, INTEGERS, NUMPY as ALL, Part, check_kinds, check_rejected, elements, one_node as case
from onnx_writer import DTYPES, node
from tap import Tap

NUMBERS = {**FLOATS, **INTEGERS}
RTOL = {"float": 2e-6, "double": 1e-14, "float16": 2e-3}  # a function of the C library, and a rounding
F32 = np.float32
X = np.array([[-2, -0.5, 0], [1, 2.5, 3]], F32)
NAN, INF = float("nan"), float("inf")


def typed(kind, values):
    return np.array(values).astype(ALL[kind])


def arithmetic():
    for kind in NUMBERS:
        a, b = typed(kind, [[100, 7], [3, 120]]), typed(kind, [3, 2])
        with np.errstate(over="ignore"):
            yield case(kind, "Add", [a, b], a + b)
            yield case(kind, "Sub", [b, a], b - a)
            yield case(kind, "Mul", [a, b], a * b)
            yield case(kind, "Div", [a, b], (a / b if kind in FLOATS else a // b).astype(a.dtype))
        yield case(kind, "Max", [a, b, typed(kind, [[5]])], np.maximum(np.maximum(a, b), 5).astype(a.dtype))
        yield case(kind, "Min", [a, b, typed(kind, [[5]])], np.minimum(np.minimum(a, b), 5).astype(a.dtype))
        yield case(kind, "Clip", [a, typed(kind, 5), typed(kind, 50)], a.clip(5, 50).astype(a.dtype))
        yield case(f"{kind} without a lower bound", "Clip", [a, None, typed(kind, 50)], np.minimum(a, 50).astype(a.dtype))
    for kind in INTEGERS:
        a, b = typed(kind, [9, 250, 7]), typed(kind, [4, 7, 2])
        yield case(f"{kind}, of the divisor's sign", "Mod", [a, b], np.mod(a, b))
        yield case(f"{kind}, of the dividend's sign", "Mod", [a, b], np.fmod(a, b), fmod=1)
        yield case(kind, "BitwiseAnd", [a, b], a & b)
        yield case(kind, "BitwiseOr", [a, b], a | b)
        yield case(kind, "BitwiseXor", [a, b], a ^ b)
        yield case(kind, "BitwiseNot", [a], ~a)
        yield case(kind, "Pow", [a, typed(kind, [2, 1, 3])], np.power(a, typed(kind, [2, 1, 3])))
        if kind[0] == "u":
            yield case(kind, "BitShift", [a, b], np.left_shift(a, b), direction="LEFT")
            yield case(kind, "BitShift", [a, b], np.right_shift(a, b), direction="RIGHT")
    yield case("the lowest number by -1 wraps", "Div", [np.array([-2**31, 7], np.int32), np.array([-1, -2], np.int32)],
               np.array([-2**31, -3], np.int32))
    yield case("the sign is that of the divisor", "Mod", [np.array([-7, 7], np.int8), np.array([3, -3], np.int8)],
               np.array([2, -2], np.int8))
    yield case("NaN stays", "Max", [np.array([NAN, 1], F32), np.array([1, NAN], F32)], np.array([NAN, NAN], F32))
    yield case("one operand", "Mean", [X], X)
    yield case("of three", "Mean", [X, X[0], F32(3)], (X + X[0] + F32(3)) / F32(3))
    yield case("scalars", "Add", [F32(1), F32(2)], F32(3))
    yield case("nothing", "Mul", [np.zeros((2, 0), F32), np.ones((1, 1), F32)], np.zeros((2, 0), F32))


def powers():
    base, exponent = [1, 2, 3], [2, 0, 3]
    for kind in ("float", "double", "float16", "int32", "int64"):
        for other in NUMBERS:
            yield case(f"{kind} by {other}", "Pow", [typed(kind, base), typed(other, exponent)], typed(kind, [1, 1, 27]), 15)
    yield case("a root of whole numbers is cut", "Pow", [np.array([10, 16], np.int32), F32(0.5)], np.array([3, 4], np.int32))


def logic():
    a, b = np.array([[False], [True]]), np.array([False, True])
    yield case("tables", "And", [a, b], a & b)
    yield case("tables", "Or", [a, b], a | b)
    yield case("tables", "Xor", [a, b], a ^ b)
    yield case("both", "Not", [b], ~b)
    for kind in ALL:
        a, b = typed(kind, [[0, 1], [2, 1]]), typed(kind, [1, 1])
        yield case(kind, "Equal", [a, b], a == b)
        yield case(kind, "Where", [np.array([[True], [False]]), a, b], np.where([[True], [False]], a, b))
        if kind != "bool":
            yield case(kind, "Less", [a, b], a < b)
            yield case(kind, "LessOrEqual", [a, b], a <= b)
            yield case(kind, "Greater", [a, b], a > b)
            yield case(kind, "GreaterOrEqual", [a, b], a >= b)
    for kind, dtype in FLOATS.items():
        x = np.array([NAN, INF, -INF, 1], dtype)
        yield case(kind, "IsNaN", [x], np.isnan(x), 20)
        yield case(kind, "IsInf", [x], np.isinf(x), 20)
        yield case(kind, "IsInf", [x], np.isposinf(x), 20, detect_negative=0)
        yield case(kind, "IsInf", [x], np.isneginf(x), 20, detect_positive=0)
        yield case(kind, "IsInf", [x], np.zeros(4, bool), 20, detect_positive=0, detect_negative=0)


def functions():
    for kind, dtype in FLOATS.items():
        x = X.astype(dtype)
        yield case(kind, "HardSwish", [x], (x * np.clip(x / 6 + dtype(0.5), 0, 1)).astype(dtype))
        yield case(kind, "LeakyRelu", [x], np.where(x < 0, x * dtype(0.25), x), alpha=0.25)
        yield case(kind, "PRelu", [x, x[0]], np.where(x < 0, x * x[0], x))
        yield case(kind, "Swish", [x], (x / (1 + np.exp(-2 * x.astype(float)))).astype(dtype), 24, alpha=2.0)
        yield case(kind, "Round", [x], np.round(x))
    for kind, dtype in INTEGERS.items():
        x = np.array([0, 1, 2, 100], dtype)
        yield case(kind, "Erf", [x], np.array([0, 0, 0, 1], dtype))
        yield case(kind, "Shrink", [x], np.array([0, 0, 1, 99], dtype), bias=1.0, lambd=1.0)
        yield case(kind, "Relu", [x], x)
        yield case(kind, "Sign", [x], np.sign(x))
    yield case("of 10 and 4", "PRelu", [np.array([[-1], [2]], np.int32), np.array([3], np.int32)],
               np.array([[-3], [2]], np.int32))


def conversions():
    for kind in ALL:
        for other, dtype in ALL.items():
            x = typed(kind, [0, 1, 100])
            yield case(f"{kind} to {other}", "Cast", [x], x.astype(dtype), to=DTYPES[other][0])
    yield case("a name", "Cast", [X], X.astype(np.int64), 1, to="INT64")
    yield case("bits are cut", "Cast", [np.array([300, -1], np.int32)], np.array([44, 255], np.uint8), to=DTYPES["uint8"][0])
    yield case("NaN is true", "Cast", [np.array([NAN, 0], F32)], np.array([True, False]), to=DTYPES["bool"][0])
    yield case("too large is infinite", "Cast", [np.array([7e4, -INF], F32)], np.array([INF, -INF], np.float16),
               to=DTYPES["float16"][0])
    yield case("bits stay", "BitCast", [X], X.view(np.int32), 26, to=DTYPES["int32"][0])
    yield case("the second's type", "CastLike", [X, np.zeros(1, np.int8)], X.astype(np.int8))


# Numbers as 32 bits, and as bfloat16: cut and rounded half to even.
NARROWED = np.array([
    (0x3f800000, 0x3f80, 0x3f80),  # 1
    (0x3f807fff, 0x3f80, 0x3f80),  # below the middle
    (0x3f808000, 0x3f80, 0x3f80),  # in the middle: the even one is below,
    (0x3f818000, 0x3f81, 0x3f82),  # or above
    (0xbf808001, 0xbf80, 0xbf81),  # above the middle, negative
    (0x3fffffff, 0x3fff, 0x4000),  # rounded to the next power
    (0x0000ffff, 0x0000, 0x0001),  # subnormal
    (0x8000ffff, 0x8000, 0x8001),
    (0x7f800000, 0x7f80, 0x7f80),  # infinity
    (0xff800000, 0xff80, 0xff80),
    (0x7fc00001, 0x7fc0, 0x7fc0),  # NaN
    (0x7f800001, 0x7fc0, 0x7fc0),  # NaN whose upper half is infinity
    (0xff80ffff, 0xffc0, 0xffc0),
], np.uint32)
CUT = NARROWED[:, 1].astype(np.uint16)
ROUNDED = NARROWED[:, 2].astype(np.uint16)


def to_bfloat16(sentence, x, expected, opset):
    """`expected`: 16 bits for each element, as numpy has no such type."""
    given, wanted = {"x": x}, {"y": expected}
    yield Part(f"Cast {opset}: {sentence}", opset, [node("Cast", ["x"], ["y"], to=DTYPES["bfloat16"][0])], given, wanted,
               kind="bfloat16")
    if opset >= 15:
        yield Part(f"CastLike {opset}: {sentence}", opset, [node("CastLike", ["x", "like"], ["y"])], given, wanted,
                   {"like": ("bfloat16", [1], [0])}, "bfloat16")


def conversions_to_bfloat16():
    floats = NARROWED[:, 0].astype(np.uint32).view(F32)
    for opset, expected in ((13, CUT), (18, CUT), (19, ROUNDED), (25, ROUNDED)):
        yield from to_bfloat16("float", floats, expected, opset)
        yield from to_bfloat16("double", floats[:9].astype(np.float64), expected[:9], opset)
        yield from to_bfloat16("a matrix", floats[:6].reshape(2, 3), expected[:6].reshape(2, 3), opset)
    for kind, dtype in ALL.items():
        x = typed(kind, [0, 1, 100] if np.dtype(dtype).itemsize == 1 else [0, 255, 511])  # 511 has 9 bits, one too many
        bits = x.astype(F32).view(np.uint32)
        yield from to_bfloat16(kind, x, (bits >> 16).astype(np.uint16), 18)
        yield from to_bfloat16(kind, x, (bits + 0x8000 >> 16).astype(np.uint16), 19)
    yield from to_bfloat16("a scalar", F32(1.9999), np.uint16(0x3fff), 18)
    yield from to_bfloat16("nothing", np.zeros((2, 0), F32), np.zeros((2, 0), np.uint16), 18)
    for opset, shape in ((18, (2, 3)), (19, (3, 2))):  # 2.9999 is cut to 2.98, a length of 2, or rounded to 3
        lengths = [node("Cast", ["w"], ["n"], to=DTYPES["bfloat16"][0]), node("Cast", ["n"], ["s"], to=DTYPES["int64"][0]),
                   node("Reshape", ["x", "s"], ["y"])]
        yield Part(f"Cast {opset}: a constant that decides a shape", opset, lengths, {"x": X}, {"y": X.reshape(shape)},
                   {"w": elements(F32([2.9999, -1]))})


def old_opsets():
    cube = np.arange(24, dtype=F32).reshape(2, 3, 4)
    middle = np.array([10, 20, 30], F32)
    yield case("at an axis", "Add", [cube, middle], cube + middle[:, None], 6, axis=1, broadcast=1)
    yield case("at an axis from the end", "Sub", [cube, middle], cube - middle[:, None], 6, axis=-2, broadcast=1)
    yield case("at the end", "Mul", [cube, cube[0, 0]], cube * cube[0, 0], 6, broadcast=1)
    yield case("at an axis", "Greater", [cube, middle], cube > middle[:, None], 1, axis=1, broadcast=1)
    yield case("at an axis", "Pow", [cube, np.array([0, 1, 2], F32)], cube ** np.array([[0], [1], [2]], F32), 1, axis=1,
               broadcast=1)
    yield case("at an axis", "And", [cube > 4, middle > 10], (cube > 4) & (middle > 10)[:, None], 1, axis=1, broadcast=1)
    yield case("a slope for each channel", "PRelu", [-cube, middle], -cube * middle[:, None], 6)
    yield case("bounds are attributes", "Clip", [X], X.clip(-1, 2), 6, min=-1.0, max=2.0)
    yield case("one bound", "Clip", [X], np.minimum(X, F32(2)), 6, max=2.0)
    yield case("infinite bounds", "Clip", [F32([-INF, 1, INF, NAN])], F32([-INF, 1, INF, NAN]), 6, min=-INF, max=INF)
    yield case("other constants", "Selu", [X], np.where(X > 0, X, 1.6732 * (np.exp(X) - 1)).astype(F32) * F32(1.0507), 1)
    yield case("the mask has the type of the data", "Dropout", [X], [X, np.ones_like(X)], 7)
    yield case("the mask is of bool", "Dropout", [X], [X, np.ones(X.shape, bool)], 10)
    yield case("the mode is an input", "Dropout", [X, F32(0.5), np.bool_(False)], [X, np.ones(X.shape, bool)], 13)


# A node, its inputs, and the message.
WRONG = [
    ("Not", [X], {}, "input 0 has type TL_FLOAT, expected TL_BOOL"),
    ("And", [X > 0, X], {}, "input 1 has type TL_FLOAT, expected TL_BOOL"),
    ("Add", [X, X[:, :2]], {}, "shapes [2, 3] and [2, 2], expected ones that broadcast to one"),
    ("Add", [X, X.astype(np.int32)], {}, "has type TL_INT32, expected the type of 'src1', TL_FLOAT"),
    ("PRelu", [X[0], X], {}, "the slope has shape [2, 3], expected one that broadcasts to that of X, [3]"),
    ("BitShift", [np.ones(2, np.uint8), np.ones(2, np.uint8)], {"direction": "UP"}, '"UP", expected one of "LEFT", "RIGHT"'),
    ("Gelu", [X], {"approximate": "cos"}, '"cos", expected one of "none", "tanh"'),
    ("Cast", [X], {}, "attribute 'to' is missing"),
    ("Cast", [X], {"to": 14}, "attribute 'to' is COMPLEX64"),
    ("BitCast", [X], {"to": DTYPES["int64"][0]}, "expected types with equal numbers of bits"),
    ("Sin", [X.astype(np.int32)], {}, "'src' has type TL_INT32, which TL_UNARY_SIN does not support"),
    ("Div", [np.ones(2, np.int32), np.zeros(2, np.int32)], {}, "division by zero in TL_INT32"),
]


def main():
    lightnet = sys.argv[1]
    tap = Tap()
    check_kinds(tap, lightnet, [arithmetic, powers, logic, functions, conversions, conversions_to_bfloat16, old_opsets], RTOL)
    for op_type, arrays, attributes, message in WRONG:
        check_rejected(tap, lightnet, case("", op_type, arrays, X, 26, **attributes), f"{op_type} is rejected: {message}", message)
    tap.end()


if __name__ == "__main__":
    main()
