# SPDX-License-Identifier: Apache-2.0
"""Rows of corners.py for element-wise operators: types other than float, conditions, broadcasting."""
import numpy as np
from small_models import model, outputs_of, random, single, type_of
from rows_moves import B, D, F, I8, I32, I64, U8, each
from onnx import helper


def elementwise(op, dtype, n):
    """op of two tensors, or of one tensor where the operator has one."""
    count = 1 if op in ("Not", "Abs", "Neg", "Sign", "IsNaN", "Floor", "Round", "Erf", "Sqrt", "Exp", "Log", "Sigmoid",
        "Tanh", "HardSwish", "Softplus", "Relu", "Reciprocal", "Sin", "Elu", "LeakyRelu", "HardSigmoid", "Ceil") else 2
    result = B if op in ("Equal", "Greater", "Less", "GreaterOrEqual", "IsNaN") else dtype
    tensors = [random(dtype, n) for _ in range(count)]
    if op in ("Div", "Mod"):
        tensors[1] = np.maximum(np.abs(tensors[1]), 1).astype(dtype)
    if op in ("Sqrt", "Log"):
        tensors[0] = np.abs(tensors[0]) + 1
    return single(op, *tensors, to=[result])


def broadcast(op, a, b, dtype):
    result = B if op in ("Equal", "Greater", "Less") else dtype
    return single(op, random(dtype, *a), random(dtype, *b), to=[result])


def where(cond, a, b, dtype):
    return single("Where", random(B, *cond), random(dtype, *a), random(dtype, *b), to=[dtype])


def cast(source, result, n):
    return model([helper.make_node("Cast", ["x"], ["y"], to=type_of(result))], {"x": random(source, n)}, outputs_of(["y"],
        type_of(result)), [])


def clip(dtype, n):
    return single("Clip", random(dtype, n), constants=[np.array(10, dtype), np.array(60, dtype)])


def power(n, exponent):
    return single("Pow", np.abs(random(F, n)), constants=[np.array(exponent, F)])


def prelu(shape):
    return single("PRelu", random(F, *shape), constants=[random(F, shape[1], *[1] * (len(shape) - 2))])


def drawn(op, n):
    """n random elements, clamped to 0, because engines draw different ones."""
    return model([helper.make_node(op, [], ["drawn"], shape=[n]), helper.make_node("Min", ["drawn", "x"], ["less"]),
        helper.make_node("Max", ["less", "x"], ["y"])], {"x": np.zeros(n, F)}, outputs_of(["y"], type_of(F)), [])


N = 200704
ELEMENTS = {
    **each([("Add", I32, N), ("Add", I64, N), ("Mul", I32, N), ("Mul", I64, N), ("Sub", I64, N), ("Sub", I32, N),
            ("Max", I8, N), ("Max", I32, N), ("Max", I64, N), ("Min", I64, N), ("And", B, N), ("Or", B, N), ("Xor", B, N),
            ("Not", B, N), ("Div", I64, N), ("Div", I32, N), ("Mod", I64, N), ("Mod", I32, N), ("Pow", F, N),
            ("Greater", I32, N), ("Greater", I64, N), ("Greater", F, N), ("Equal", I64, N), ("Equal", I32, N), ("Equal", F, N),
            ("Less", F, N), ("GreaterOrEqual", F, N), ("Equal", B, N),
            ("Add", D, N), ("Mul", D, N), ("Div", D, N), ("Abs", I64, N), ("Abs", F, N), ("Neg", F, N), ("Neg", I64, N),
            ("Sign", F, N), ("IsNaN", F, N), ("Floor", F, N), ("Ceil", F, N), ("Round", F, N), ("Erf", F, N), ("Sqrt", F, N),
            ("Exp", F, N), ("Log", F, N), ("Sigmoid", F, N), ("Tanh", F, N), ("HardSwish", F, N), ("HardSigmoid", F, N),
            ("Softplus", F, N), ("Relu", F, N), ("Reciprocal", F, N), ("Sin", F, N), ("Elu", F, N), ("LeakyRelu", F, N),
            ("Exp", D, N), ("Sqrt", D, N),
            ("Add", F, N), ("Sub", F, N), ("Mul", F, N), ("Div", F, N), ("Min", F, N), ("Max", F, N), ("Add", F, 1000),
            ("Sigmoid", F, 1000), ("Add", I64, 100)],
           "{} {} {}", elementwise),
    **each([("Mul", (1, 8400, 4), (1, 8400, 1), F), ("Mul", (1, 8400, 80), (1, 8400, 1), F), ("Mul", (1, 8400, 2), (2,), F),
            ("Add", (1, 8400, 2), (8400, 2), F), ("Add", (1, 64, 56, 56), (64, 1, 1), F), ("Mul", (1, 64, 56, 56),
            (1, 1, 56, 56), F), ("Add", (1, 12, 128, 128), (1, 1, 1, 128), F), ("Add", (1, 128, 768), (768,), F),
            ("Mul", (1, 56, 56, 64), (1, 1, 1, 64), F), ("Add", (64, 4, 49, 49), (1, 4, 49, 49), F),
            ("Sub", (1, 300, 1, 4), (1, 1, 300, 4), F), ("Max", (300, 1, 2), (1, 300, 2), F), ("Greater", (1, 8400, 80),
            (1,), F), ("Equal", (13264, 1), (1, 64), I64), ("Add", (1, 8400, 1), (1, 1, 80), I64), ("Less", (128, 1),
            (1, 128), I64), ("Mul", (1, 3, 640, 640), (3, 1, 1), F), ("Sub", (1, 640, 640, 3), (3,), F),
            ("Mul", (1, 32, 1000, 64), (1, 32, 1000, 1), F), ("And", (1, 1, 128, 128), (1, 1, 1, 128), B), ("Mul", (1000, 64),
            (1000, 1), I64), ("Mul", (1000, 64), (64,), I32), ("Add", (1000, 3), (3,), D), ("Mul", (1, 8400, 4), (1,), F),
            ("Add", (1, 8400, 4), (1,), I64)],
           "{} {} and {} {}", broadcast),
    **each([((N,), (N,), (N,), dtype) for dtype in (U8, I32, I64, F, D)]
           + [((1, 1, 128, 128), (1, 12, 128, 128), (1,), F), ((1, 1, 1, 128), (1, 12, 128, 128), (1,), F), ((1, 8400, 1),
               (1, 8400, 80), (1,), F), ((1, 8400, 80), (1,), (1,), F), ((32, 512), (1,), (32, 512), I64), ((1, 8400, 80),
               (1,), (1,), I64), ((N,), (1,), (N,), F), ((N,), (N,), (1,), U8), ((1, 300, 1), (1, 300, 4), (1, 300, 4), F),
               ((1, 8400, 1), (1, 8400, 4), (1, 1, 1), F)],
           "where {} {} {} {}", where),
    **each([(a, b, N) for a in (F, D, I64, I32, I8, U8, B) for b in (F, D, I64, I32, I8, U8,
            B) if a is not b and not (a is D and b in (I8, U8)) and not (a is F and b in (U8, I8))], "cast {} -> {} {}", cast),
    **each([(F, N), (I64, N), (I32, N), (U8, N), (D, N)], "clip {} {}", clip),
    **each([("RandomNormal", N), ("RandomUniform", N)], "{} {}", drawn),
    **each([(N, 2.0), (N, 0.5), (N, 3.0), (N, 1.7)], "pow {} {}", power),
    **each([((1, 64, 56, 56),), ((1, 64, 4000),), ((1, 512),)], "prelu {}", prelu),
}
