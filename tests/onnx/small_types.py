#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: small_types.py LIGHTNET. Floats and integers of 8 bits and less: conversions between all types, quantization, bit casts,
operators that move elements, and files. Expected elements come from the values that the standard's tables give for all bits of
a type ("Float stored in 8 bits", "Float stored in 4 bits", "4 bit integer types", Cast-25): the nearest one is searched."""
import json
import os
import struct
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import call, error_of, failure, ops_of, write
from onnx_writer import DTYPES, PACKED, field, graph, model, node, packed, repeated, tensor, value
from tap import Tap

F32 = np.float32
# Floats with a sign: bits of exponent and fraction, bias; "uz": -0 is NaN; "fn": neither infinities nor more than one NaN.
FLOATS = {"float8e4m3fn": (4, 3, 7, "fn"), "float8e4m3fnuz": (4, 3, 8, "uz"), "float8e5m2": (5, 2, 15, ""),
          "float8e5m2fnuz": (5, 2, 16, "uz"), "float4e2m1": (2, 1, 1, "finite")}
INTEGERS = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
SMALL = [*FLOATS, "float8e8m0", *INTEGERS]
NUMPY = {"float": F32, "double": np.float64, "float16": np.float16, "int8": np.int8, "uint8": np.uint8, "int16": np.int16,
         "uint16": np.uint16, "int32": np.int32, "uint32": np.uint32, "int64": np.int64, "uint64": np.uint64, "bool": np.bool_}
CODES = {name: code for name, (code, _) in (DTYPES | PACKED).items()}


# ---- the types ----

def bytes_type(name):
    """The type of elements in files of NumPy."""
    return np.int8 if name in ("int4", "int2") else np.uint8


def value_of(name, bits):
    """The number with these bits, a byte."""
    if name in INTEGERS:
        return float(np.array(bits, np.uint8).astype(bytes_type(name)))
    if name == "float8e8m0":
        return np.nan if bits == 255 else 2.0 ** (bits - 127)
    exponent_bits, fraction_bits, bias, kind = FLOATS[name]
    sign = -1.0 if bits >> (exponent_bits + fraction_bits) & 1 else 1.0
    exponent = bits >> fraction_bits & (1 << exponent_bits) - 1
    fraction = bits & (1 << fraction_bits) - 1
    is_last = exponent == (1 << exponent_bits) - 1
    if kind == "uz" and bits == 0x80 or kind == "fn" and is_last and fraction == 7 or kind == "" and is_last and fraction:
        return np.nan
    if kind == "" and is_last:
        return sign * np.inf
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - fraction_bits)
    return sign * (1 + fraction * 2.0 ** -fraction_bits) * 2.0 ** (exponent - bias)


def elements_of(name):
    """All elements, as bytes."""
    if name in INTEGERS:
        return np.arange(INTEGERS[name][0], INTEGERS[name][1] + 1).astype(np.int8).view(np.uint8)
    return np.arange(16 if name == "float4e2m1" else 256, dtype=np.uint8)


VALUES = {name: {int(b): value_of(name, int(b)) for b in elements_of(name)} for name in SMALL}


def values(name, array):
    """The numbers of elements, given as bytes, as doubles."""
    table = np.full(256, np.nan)
    for bits, number in VALUES[name].items():
        table[bits] = number
    return table[np.asarray(array).view(np.uint8)]


def nearest(name, x):
    """The bits of the finite elements nearest to numbers; of two, that with an even last bit; a zero with the sign of x."""
    finite = {bits: number for bits, number in VALUES[name].items() if np.isfinite(number)}
    bits, numbers = np.array(list(finite)), np.array(list(finite.values()))
    distance = np.abs(numbers - x[:, None])
    is_second = np.where(numbers == 0, np.signbit(numbers) != np.signbit(x)[:, None], bits % 2 == 1)
    return bits[np.argmin(np.where(distance == distance.min(1)[:, None], is_second, 2), axis=1)]


def power(x, saturate, mode):
    """float8e8m0."""
    is_high, is_low = x > 2.0 ** 127, ~(x >= 2.0 ** -127)
    half, exponent = np.frexp(np.where(is_high | is_low | np.isnan(x), 1, x))  # half * 2 ** exponent
    up = {"up": half > 0.5, "down": half > 1, "nearest": half >= 0.75}[mode]
    bits = exponent - 1 + 127 + up
    bits = np.where(is_high, 254 if saturate else 255, np.where(is_low, 0 if saturate else 255, bits))
    return np.where(np.isnan(x), 255, bits)


def small_float(name, x, saturate=True, mode="up"):
    """The bits of numbers, by the tables of Cast."""
    if name == "float8e8m0":
        return power(x, saturate, mode)
    fraction_bits, kind = FLOATS[name][1], FLOATS[name][3]
    sign = np.where(np.signbit(x), 0x80, 0)
    largest = max(number for number in VALUES[name].values() if np.isfinite(number))
    step = 2.0 ** (np.floor(np.log2(largest)) - fraction_bits)
    is_even = nearest(name, np.array([largest]))[0] % 2 == 0
    too_large = (np.abs(x) > largest + step / 2) | ((np.abs(x) == largest + step / 2) & (not is_even))
    bits = nearest(name, np.clip(np.nan_to_num(x), -largest, largest))
    if not saturate and kind != "finite":
        bits = np.where(too_large, {"uz": 0x80, "fn": sign | 0x7f, "": sign | 0x7c}[kind], bits)
    return np.where(np.isnan(x), {"uz": 0x80, "finite": 7}.get(kind, 0x7f), bits)


def small_integer(name, x, is_float):
    """The bits of numbers: rounded and saturated from floats, the low bits of integers."""
    low, high = INTEGERS[name]
    if is_float:
        return np.clip(np.rint(np.nan_to_num(x)), low, high).astype(int) & 255
    bits = x.astype(np.int64) & (high - low)
    return np.where(bits > high, bits - (high - low + 1), bits) & 255


def cast(name, numbers, is_float, saturate=True, mode="up"):
    """Elements, as bytes of NumPy's files, for doubles that are exactly the source."""
    flat = numbers.ravel().astype(float)
    bits = small_integer(name, flat, is_float) if name in INTEGERS else small_float(name, flat, saturate, mode)
    return bits.astype(np.uint8).view(bytes_type(name)).reshape(numbers.shape)


def faults_of_elements(what, name, got, want):
    """Elements agree if their bits do, or both are NaN."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return [f"{what}: {got.dtype} {list(got.shape)}, expected {want.dtype} {list(want.shape)}"]
    if name in SMALL:
        a, b = values(name, got), values(name, want)
        same = (got == want) | (np.isnan(a) & np.isnan(b) & (name not in INTEGERS))
    elif name == "bfloat16" or got.dtype.kind == "f":
        got, want = (widened(got), widened(want)) if name == "bfloat16" else (got, want)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
    else:
        same = got == want
    return [] if same.all() else [f"{what}: {got[~same][:5]}, expected {want[~same][:5]} at {np.argwhere(~same)[:5].tolist()}"]


# ---- models ----

class Case:
    """A model in the making: inputs {name: (type, array)}, and outputs in order: (name, type, expected)."""

    def __init__(self, opset=25):
        self.opset, self.nodes, self.inputs, self.constants, self.outputs, self.n = opset, [], {}, [], [], 0

    def give(self, dtype, array, constant=False):
        """An input, or a constant; small types as bytes."""
        self.n += 1
        name, array = f"x{self.n}", np.asarray(array)
        if constant:
            listed = array.view(np.uint16) if dtype == "bfloat16" else array
            self.constants.append(tensor(name, dtype, list(array.shape), listed.ravel().tolist()))
        else:
            self.inputs[name] = (dtype, array)
        return name

    def add(self, op_type, inputs, dtype, expected, **attributes):
        """A node whose output is one of the model; returns its name."""
        self.n += 1
        name = f"y{self.n}"
        self.nodes.append(node(op_type, inputs, [name], **attributes))
        self.outputs.append((name, dtype, np.asarray(expected), f"{op_type} {attributes}"))
        return name

    def step(self, op_type, inputs, **attributes):
        """A node in between."""
        self.n += 1
        self.nodes.append(node(op_type, inputs, [f"t{self.n}"], **attributes))
        return f"t{self.n}"

    def model(self):
        return model(graph(self.nodes, [value(name, dtype, list(array.shape)) for name, (dtype, array) in self.inputs.items()],
                           [value(name, dtype) for name, dtype, _, _ in self.outputs], self.constants), opset=self.opset)

    def faults_of_run(self, lightnet, path, given, out, before=""):
        faults = failure(call([lightnet, "run", path, *given, "-O", out]))
        for k, (_, dtype, want, what) in enumerate([] if faults else self.outputs):
            faults += faults_of_elements(before + what, dtype, np.load(os.path.join(out, f"output_{k}.npy")), want)
        return faults

    def faults(self, lightnet):
        """Of the model, of the reference program, and of the model that is written as ONNX again."""
        with tempfile.TemporaryDirectory() as folder:
            path, *given = write(folder, self.model(), {name: array for name, (_, array) in self.inputs.items()})
            written = os.path.join(folder, "written.onnx")
            return (self.faults_of_run(lightnet, path, given, os.path.join(folder, "out")) +
                    failure(call([lightnet, "verify", "--reference", path, *given])) +
                    failure(call([lightnet, "convert", path, *given, "-o", written])) +
                    self.faults_of_run(lightnet, written, given, os.path.join(folder, "again"), "written: "))


# ---- conversions ----

def bfloat16(array):
    """The bits of floats, rounded half to even; no NaN."""
    bits = np.asarray(array, F32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widened(bits):
    return (bits.astype(np.uint32) << 16).view(F32)


def numbers_around(dtype):
    """Numbers of the type around all elements of small types: themselves, ties, neighbours of ties, and special ones."""
    found = [0.0, -0.0, 1e30, -1e30, 3e38, 2.0 ** 127, 2.0 ** 126 * 3, 2.0 ** -127, 2.0 ** -128, -1.0, 61440, 61439, 57345, 464, 465]
    for name in SMALL:
        each = sorted({x for x in VALUES[name].values() if np.isfinite(x) and (name != "float8e8m0" or 1e-3 < x < 1e3)})
        for low, high in zip(each, each[1:]):
            tie = (low + high) / 2
            found += [low, tie, float(np.nextafter(F32(tie), F32(high))), float(np.nextafter(F32(tie), F32(low)))]
    found = [0.0, -0.0, *sorted(set(found) - {0.0})]
    if dtype in ("float", "double", "float16", "bfloat16"):
        found = np.array(found + [np.inf, -np.inf] + ([] if dtype == "bfloat16" else [np.nan]))
        with np.errstate(over="ignore"):
            return bfloat16(found) if dtype == "bfloat16" else found.astype(NUMPY[dtype])
    if dtype == "bool":
        return np.array([False, True])
    limits = np.iinfo(NUMPY[dtype])
    found = [int(x) for x in found if limits.min <= x <= limits.max] + [limits.min, limits.max, limits.max // 2 + 2]
    return np.array([x for x in found if abs(x) < 1 << 53], NUMPY[dtype])


def source_of(dtype):
    """(array of the input, its numbers as doubles, whether it is of floats)"""
    if dtype in SMALL:
        array = elements_of(dtype).view(bytes_type(dtype))
        return array, values(dtype, array), dtype not in INTEGERS
    array = numbers_around(dtype)
    numbers = widened(array) if dtype == "bfloat16" else array
    return array, numbers.astype(float), dtype in ("float", "double", "float16", "bfloat16")


def wide_cast(dtype, numbers, is_float):
    """Small elements as another type."""
    if dtype == "bfloat16":
        return np.where(np.isnan(numbers), 0x7fc0, bfloat16(np.nan_to_num(numbers, posinf=np.inf, neginf=-np.inf))).astype(np.uint16)
    kind = NUMPY[dtype]
    if kind == np.bool_:
        return numbers != 0
    if np.dtype(kind).kind == "f":
        with np.errstate(over="ignore"):
            return numbers.astype(kind)
    if not is_float:
        return numbers.astype(np.int64).astype(kind)
    # Undefined in ONNX; LightNet: toward zero, the nearest in range.
    limits = np.iinfo(kind)
    return np.array([0 if np.isnan(x) else limits.max if x >= limits.max else limits.min if x <= limits.min else int(x) for x in numbers], kind)


def check_casts(tap, lightnet):
    for source in (*SMALL, *NUMPY, "bfloat16"):
        case = Case(25)
        array, numbers, is_float = source_of(source)
        x = case.give(source, array)
        for to in SMALL:
            if to == source:
                continue
            case.add("Cast", [x], to, cast(to, numbers, is_float), to=CODES[to])
            if to not in INTEGERS:
                case.add("Cast", [x], to, cast(to, numbers, is_float, saturate=False), to=CODES[to], saturate=0)
        if source != "float8e8m0":
            for mode in ("up", "down", "nearest"):
                for saturate in (0, 1):
                    case.add("Cast", [x], "float8e8m0", cast("float8e8m0", numbers, is_float, saturate, mode), to=24, round_mode=mode,
                             saturate=saturate)
        for to in (*NUMPY, "bfloat16") if source in SMALL else ():
            case.add("Cast", [x], to, wide_cast(to, numbers, is_float), to=CODES[to])
        tap.check(f"Cast of {source}: all elements, to all types", case.faults(lightnet))
    case = Case(24)
    x = case.give("float", F32([1.2, -3, 1e9, 0.4]))
    for to in SMALL:
        like = case.give(to, np.ones(1, bytes_type(to)), constant=to in INTEGERS)
        case.add("CastLike", [x, like], to, cast(to, np.array([1.2, -3, 1e9, 0.4], F32).astype(float), True))
        if to not in INTEGERS:
            case.add("CastLike", [x, like], to, cast(to, np.array([1.2, -3, 1e9, 0.4], F32).astype(float), True, False), saturate=0)
    tap.check("CastLike of each type", case.faults(lightnet))
    bad = Case(25)
    bad.add("Cast", [bad.give("float", F32([1]))], "float8e8m0", np.uint8([0]), to=24, round_mode="away")
    check_error(tap, lightnet, "an unknown round_mode is an error", bad, "attribute 'round_mode' is \"away\"")


def check_error(tap, lightnet, sentence, case, words):
    message = error_of(lightnet, case.model(), {name: array for name, (_, array) in case.inputs.items()})
    tap.check(sentence, [] if message and words in message else [f"expected {words!r} in: {message!r}"])


# ---- quantization ----

def along(array, shape, axis, block):
    """Scales or zero points for each element."""
    if array is None or array.size == 1:
        return 0 if array is None else array.reshape(())
    if not block:
        return array.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.repeat(array, block, axis).take(range(shape[axis]), axis)


SCALINGS = ((None, 0), (0, 0), (1, 0), (0, 2), (1, 3))  # axis and block


def scale_shape(shape, axis, block):
    if axis is None:
        return ()
    return tuple(-(-d // block) if i == axis else d for i, d in enumerate(shape)) if block else (shape[axis],)


def check_quantize(tap, lightnet):
    """Scales are powers of two, so quotients are exact."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(0, 30, 33), [0, -0.0, 1e9, -1e9, np.inf, -np.inf, 2.5]]).astype(F32).reshape(5, 8)
    for dtype in (*FLOATS, *INTEGERS):
        case = Case(25)
        src = case.give("float", x)
        for axis, block in SCALINGS:
            scale = (2.0 ** rng.integers(-3, 3, scale_shape(x.shape, axis, block))).astype(F32)
            attributes = {} if axis is None else {"axis": axis} | ({"block_size": block} if block else {})
            quotient = x.astype(float) / along(scale, x.shape, axis or 0, block)
            s = case.give("float", scale)
            if dtype in FLOATS:
                for saturate in (1, 0):
                    case.add("QuantizeLinear", [src, s], dtype, cast(dtype, quotient, True, saturate), output_dtype=CODES[dtype],
                             saturate=saturate, **attributes)
                zero = case.give(dtype, np.zeros(scale.shape, np.uint8), constant=axis == 1)
                case.add("QuantizeLinear", [src, s, zero], dtype, cast(dtype, quotient + 0.0, True), precision=1, **attributes)
                continue
            low, high = INTEGERS[dtype]
            zeros = rng.integers(low, high + 1, scale.shape).astype(bytes_type(dtype))
            for constant in (False, True):
                zero = case.give(dtype, zeros, constant)
                want = np.clip(np.rint(quotient) + along(zeros.astype(float), x.shape, axis or 0, block), low, high)
                case.add("QuantizeLinear", [src, s, zero], dtype, want.astype(bytes_type(dtype)), **attributes)
            case.add("QuantizeLinear", [src, s], dtype, np.clip(np.rint(quotient), low, high).astype(bytes_type(dtype)),
                     output_dtype=CODES[dtype], **attributes)
        half = case.give("float16", np.float16([2]))
        case.add("QuantizeLinear", [case.give("float16", np.float16([[3, -5]])), half], dtype, cast(dtype, np.array([[1.5, -2.5]]), True),
                 output_dtype=CODES[dtype])
        two = case.give("float8e8m0", np.uint8([128]))
        case.add("QuantizeLinear", [src, two], dtype, cast(dtype, x.astype(float) / 2, True), output_dtype=CODES[dtype])
        tap.check(f"QuantizeLinear to {dtype}: per tensor, axis and block", case.faults(lightnet))


def check_dequantize(tap, lightnet):
    rng = np.random.default_rng(4)
    for dtype in (*FLOATS, *INTEGERS):
        for constant in (False, True):
            case = Case(25)
            bits = rng.choice(elements_of(dtype), (5, 8)).view(bytes_type(dtype))
            numbers = values(dtype, bits)
            src = case.give(dtype, bits, constant)
            for axis, block in SCALINGS:
                powers = rng.integers(-3, 3, scale_shape(bits.shape, axis, block))
                scale = (2.0 ** powers).astype(F32)
                attributes = {} if axis is None else {"axis": axis} | ({"block_size": block} if block else {})
                want = (numbers * along(scale, bits.shape, axis or 0, block)).astype(F32)
                s = case.give("float", scale, constant)
                case.add("DequantizeLinear", [src, s], "float", want, **attributes)
                case.add("DequantizeLinear", [src, s], "float16", want.astype(np.float16), output_dtype=10, **attributes)
                e8m0 = case.give("float8e8m0", (powers + 127).astype(np.uint8), constant)
                case.add("DequantizeLinear", [src, e8m0], "float", want, output_dtype=1, **attributes)
                zeros = rng.choice(elements_of(dtype), scale.shape) if dtype in INTEGERS else np.zeros(scale.shape, np.uint8)
                zero = case.give(dtype, zeros.view(bytes_type(dtype)), constant)
                case.add("DequantizeLinear", [src, s, zero], "float",
                         ((numbers - along(values(dtype, zeros), bits.shape, axis or 0, block)) *
                          along(scale, bits.shape, axis or 0, block)).astype(F32), **attributes)
            tap.check(f"DequantizeLinear of {dtype}{', constant' if constant else ''}: per tensor, axis and block", case.faults(lightnet))
    case = Case(25)
    case.add("DequantizeLinear", [case.give("float8e4m3fn", np.uint8([1])), case.give("float8e8m0", np.uint8([1]))], "float", F32([0]))
    check_error(tap, lightnet, "powers of two are no type of a result", case,
                "the result has type TL_FLOAT8E8M0, expected a float of 16 bits or more in 'output_dtype'")


def check_block_formats(tap, lightnet):
    """Weights of MXFP4 and NVFP4, and a product with them."""
    rng = np.random.default_rng(5)
    k, n = 64, 24
    x = rng.integers(-3, 4, (3, k)).astype(F32)
    bits = rng.integers(0, 16, (k, n)).astype(np.uint8)
    case = Case(25)
    given, weights = case.give("float", x), case.give("float4e2m1", bits, True)
    powers = rng.integers(125, 130, (k // 32, n)).astype(np.uint8)
    w = values("float4e2m1", bits) * np.repeat(2.0 ** (powers - 127.0), 32, 0)
    floats = case.step("DequantizeLinear", [weights, case.give("float8e8m0", powers, True)], axis=0, block_size=32, output_dtype=1)
    case.add("MatMul", [given, floats], "float", (x @ w).astype(F32))
    steps = rng.choice(np.uint8([0x30, 0x38, 0x40, 0x34]), (k // 16, n))  # 0.5, 1, 2, 0.75
    scales = values("float8e4m3fn", steps) * 0.25
    floats = case.step("DequantizeLinear", [case.give("float8e4m3fn", steps, True), case.give("float", F32(0.25), True)])
    floats = case.step("DequantizeLinear", [weights, floats], axis=0, block_size=16)
    case.add("MatMul", [given, floats], "float", (x @ (values("float4e2m1", bits) * np.repeat(scales, 16, 0))).astype(F32))
    faults = case.faults(lightnet)
    ops = ops_of(lightnet, case.model())
    tap.check("MXFP4 and NVFP4 weights", faults + ([] if "matmul_packed_cpu" in ops or "matmul_cpu" in ops else [f"operators: {ops}"]))


# ---- bits ----

def check_bit_casts(tap, lightnet):
    widths = {8: [*[name for name in SMALL if name.startswith("float8")], "uint8", "int8"],
              4: ["int4", "uint4", "float4e2m1"], 2: ["int2", "uint2"]}
    for bits, names in widths.items():
        case = Case(26)
        codes = np.arange(1 << bits, dtype=np.uint8)
        signed = np.where(codes >> (bits - 1), codes.astype(int) - (1 << bits), codes).astype(np.int8)
        arrays = {name: signed if name.startswith("int") else codes for name in names}
        for source in names:
            for constant in (False, True):
                x = case.give(source, arrays[source], constant)
                for to in names:
                    case.add("BitCast", [x], to, arrays[to], to=CODES[to])
        tap.check(f"BitCast between types of {bits} bits", case.faults(lightnet))
    for source, to in (("int4", "int8"), ("uint2", "uint4"), ("float8e5m2", "float4e2m1"), ("float16", "float8e5m2")):
        case = Case(26)
        array = np.zeros(2, np.float16 if source == "float16" else bytes_type(source))
        case.add("BitCast", [case.give(source, array)], to, array, to=CODES[to])
        check_error(tap, lightnet, f"BitCast from {source} to {to} is an error", case, "expected types with equal numbers of bits")


# ---- operators that move elements ----

def moves_of(case, dtype):
    """Nodes on elements of one type, whose bytes move."""
    kind = bytes_type(dtype)
    a = np.resize(elements_of(dtype).view(kind), (2, 3, 4))
    b = np.resize(elements_of(dtype)[::-1].view(kind), (2, 3, 4))
    x, y = case.give(dtype, a), case.give(dtype, b, constant=True)
    ints = {key: case.give("int64", np.int64(numbers), True) for key, numbers in
            {"zero": [0], "one": [1], "two": [2], "axes": [0], "shape": [4, -1], "pads": [0, 1, 0, 1, 0, 0], "repeats": [1, 2, 1],
             "big": [2, 2, 3, 4], "index": [2, 0], "many": [3, 2], "parts": [1, 2], "three": [3], "scalar": 3}.items()}
    case.add("Identity", [x], dtype, a)
    case.add("Identity", [y], dtype, b)
    case.add("Reshape", [x, ints["shape"]], dtype, a.reshape(4, 6))
    case.add("Transpose", [x], dtype, a.transpose(2, 0, 1), perm=[2, 0, 1])
    case.add("Transpose", [y], dtype, b.transpose(2, 1, 0))
    case.add("Flatten", [x], dtype, a.reshape(2, 12))
    case.add("Unsqueeze", [x, ints["axes"]], dtype, a[None])
    case.add("Squeeze", [case.step("Unsqueeze", [x, ints["axes"]]), ints["axes"]], dtype, a)
    case.add("Slice", [x, ints["zero"], ints["two"], ints["two"]], dtype, a[:, :, :2])
    case.add("Concat", [x, y], dtype, np.concatenate([a, b], 1), axis=1)
    case.add("Gather", [x, ints["index"]], dtype, a[:, [2, 0]], axis=1)
    case.add("Expand", [x, ints["big"]], dtype, np.broadcast_to(a, (2, 2, 3, 4)))
    case.add("Tile", [x, ints["repeats"]], dtype, np.tile(a, (1, 2, 1)))
    fill = a.ravel()[1:2]
    case.add("Pad", [x, ints["pads"], case.give(dtype, fill.reshape(()))], dtype, np.pad(a, [(0, 1), (1, 0), (0, 0)], constant_values=fill[0]))
    case.add("Pad", [x, ints["pads"]], dtype, np.pad(a, [(0, 1), (1, 0), (0, 0)], mode="edge"), mode="edge")
    mask = np.resize([True, False, False], (3, 4))
    case.add("Where", [case.give("bool", mask), x, y], dtype, np.where(mask, a, b))
    case.add("Shape", [x], "int64", np.int64([2, 3, 4]))
    case.add("Size", [x], "int64", np.int64(24))
    case.n += 1
    case.nodes.append(node("Split", [x, ints["parts"]], [f"s{case.n}", f"r{case.n}"], axis=1))
    case.outputs += [(f"s{case.n}", dtype, a[:, :1], "Split"), (f"r{case.n}", dtype, a[:, 1:], "Split")]
    case.add("Constant", [], dtype, b[0], value=tensor("", dtype, [3, 4], b[0].ravel().tolist()))
    case.add("ConstantOfShape", [ints["many"]], dtype, np.full((3, 2), fill[0]), value=tensor("", dtype, [1], fill.tolist()))
    case.add("CastLike", [x, y], dtype, a)
    add_bodies(case, dtype, a, b, x, y, ints)


def add_bodies(case, dtype, a, b, x, y, ints):
    """If, Loop and Scan that give elements."""
    def body(nodes, inputs, outputs):
        return graph(nodes, inputs, outputs)
    then = body([node("Identity", [x], ["then"])], [], [value("then", dtype)])
    other = body([node("Identity", [y], ["else"])], [], [value("else", dtype)])
    for cond in (True, False):
        flag = case.give("bool", np.array(cond))
        case.add("If", [flag], dtype, a if cond else b, then_branch=then, else_branch=other)
    loop = body([node("Identity", ["c"], ["go"]), node("Concat", ["state", "state"], ["both"], axis=0),
                 node("Slice", ["both", ints["one"], ints["three"], ints["zero"]], ["next"]), node("Identity", ["state"], ["row"])],
                [value("i", "int64", []), value("c", "bool", []), value("state", dtype, [2, 3, 4])],
                [value("go", "bool", []), value("next", dtype, [2, 3, 4]), value("row", dtype, [2, 3, 4])])
    case.n += 1
    last, rows = f"l{case.n}", f"m{case.n}"
    case.nodes.append(node("Loop", [ints["scalar"], "", x], [last, rows], body=loop))
    case.outputs += [(last, dtype, a[[1, 0]], "Loop"), (rows, dtype, np.stack([a, a[[1, 0]], a]), "Loop")]
    scan = body([node("Identity", ["part"], ["result"])], [value("part", dtype, [3, 4])], [value("result", dtype, [3, 4])])
    case.add("Scan", [x], dtype, a[::-1], num_scan_inputs=1, scan_input_directions=[1], body=scan)


def check_moves(tap, lightnet):
    for dtype in SMALL:
        case = Case(25)
        moves_of(case, dtype)
        tap.check(f"elements of {dtype} move", case.faults(lightnet))
    for op_type in ("Add", "Relu", "MatMul", "ReduceMax", "Equal", "Sqrt", "ArgMax", "TopK"):
        case = Case(25)
        x = case.give("float8e5m2", np.zeros((2, 2), np.uint8))
        more = [x] if op_type in ("Add", "MatMul", "Equal") else [case.give("int64", np.int64([1]), True)] if op_type == "TopK" else []
        case.add(op_type, [x, *more], "float8e5m2", np.zeros((2, 2), np.uint8))
        check_error(tap, lightnet, f"{op_type} does not compute with them", case, "TL_FLOAT8E5M2, expected")


# ---- files ----

def message(dtype, dims, data, name=""):
    """A TensorProto with any data."""
    return repeated(1, dims) + field(2, CODES[dtype]) + field(8, name) + data


def varints(numbers):
    out = b""
    for number in numbers:
        out += bytes([number]) if number < 128 else bytes([number & 127 | 128, 1])
    return out


def raw_of(dtype, bits):
    return packed(bits.ravel().tolist(), PACKED[dtype][1]) if dtype in PACKED else bits.tobytes()


def check_tensor_files(tap, lightnet):
    """Inputs and outputs of stored test data, in raw_data and in int32_data."""
    for dtype in SMALL:
        bits = np.resize(elements_of(dtype), (3, 7))
        case = Case(25)
        x = case.give(dtype, bits.view(bytes_type(dtype)))
        case.add("Transpose", [x], dtype, bits.T)
        faults = []
        for kind, data in (("raw", lambda raw: field(9, raw)), ("int32", lambda raw: field(5, varints(raw)))):
            for is_wrong in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    path, stored = os.path.join(folder, "model.onnx"), os.path.join(folder, "test_data_set_0")
                    os.mkdir(stored)
                    wanted = bits.T.copy()
                    wanted[2, 1] ^= 1 if is_wrong else 0
                    files = {path: case.model(), os.path.join(stored, "input_0.pb"): message(dtype, [3, 7], data(raw_of(dtype, bits)), x),
                             os.path.join(stored, "output_0.pb"): message(dtype, [7, 3], data(raw_of(dtype, wanted)), "y")}
                    for name, content in files.items():
                        with open(name, "wb") as file:
                            file.write(content)
                    done = call([lightnet, "verify", path, stored])
                    if (done.returncode != 0) != is_wrong:
                        faults += [f"{kind}, wrong {is_wrong}: exit status {done.returncode}", *failure(done)]
        tap.check(f"pb files of {dtype}", faults)
    for dtype, data, words in (("float4e2m1", field(9, b"12"), "FLOAT4E2M1 [5] has 2 bytes of data, expected 3"),
                               ("int4", field(9, b"1234"), "INT4 [5] has 4 bytes of data, expected 3"),
                               ("uint2", field(5, varints([1])), "UINT2 [5] has 1 elements of data, expected 2"),
                               ("float8e4m3fn", field(9, b"1234"), "FLOAT8E4M3FN [5] has 4 bytes of data, expected 5"),
                               ("float8e8m0", b"", "FLOAT8E8M0 [5] has 0 elements of data, expected 5")):
        case = Case(25)
        case.add("Identity", [case.give(dtype, np.zeros(5, bytes_type(dtype)))], dtype, [])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.pb")
            with open(path, "wb") as file:
                file.write(message(dtype, [5], data))
            done = call([lightnet, "run", *write(folder, case.model(), {}), "-i", f"x1={path}"])
            tap.check(f"a pb file of {dtype} with another size is an error",
                      [] if done.returncode == 1 and words in done.stderr else [f"expected {words!r} in {done.stderr!r}"])


def check_arrays(tap, lightnet):
    """npy files: of bits, of values of integers, of the package ml_dtypes ('|V1'), of floats, which are rounded; and .bin files."""
    def result(folder, dtype, path):
        case = Case(25)
        case.add("Identity", [case.give(dtype, np.zeros(3, bytes_type(dtype)))], dtype, [])
        out = os.path.join(folder, "out")
        done = call([lightnet, "run", *write(folder, case.model(), {}), "-i", f"x1={path}", "-O", out])
        return done.stderr if done.returncode else np.load(os.path.join(out, "output_0.npy")).tolist()

    faults = []
    with tempfile.TemporaryDirectory() as folder:
        path, binary = os.path.join(folder, "given.npy"), os.path.join(folder, "given.bin")
        for dtype, array, want in (("float8e4m3fn", np.uint8([0x7f, 1, 255]), [127, 1, 255]),
                                   ("float8e5m2", np.uint8([0x7f, 1, 255]).view("V1"), [127, 1, 255]),
                                   ("int4", np.uint8([0xf8, 7, 255]).view("V1"), [-8, 7, -1]),
                                   ("int4", np.int64([-8, 7, -1]), [-8, 7, -1]), ("uint2", np.int8([3, 0, 1]), [3, 0, 1]),
                                   ("float4e2m1", F32([0.3, -6, 5]), [1, 15, 6]),
                                   ("float4e2m1", np.uint8([0, 16, 1]), "element 1 does not fit TL_FLOAT4E2M1"),
                                   ("int4", np.int8([0, 8, 1]), "element 1 does not fit TL_INT4"),
                                   ("uint4", F32([0, 8, 1]), "has type TL_FLOAT, expected TL_UINT4")):
            np.save(path, array)
            got = result(folder, dtype, path)
            if got != want and not (isinstance(want, str) and want in got):
                faults.append(f"{dtype} of {array}: {got}, expected {want}")
        for dtype, content, want in (("float8e8m0", b"\x00\x7f\xff", [0, 127, 255]), ("int2", b"\xfe\x01\x00", [-2, 1, 0]),
                                     ("int2", b"\xfe\x02\x00", "element 1 is the byte 2, expected one of 2 bits: TL_INT2"),
                                     ("float4e2m1", b"\x0f\x10\x00", "element 1 is the byte 16, expected one of 4 bits: TL_FLOAT4E2M1"),
                                     ("uint4", b"\x0f\x10", "2 bytes of data, expected 3 for TL_UINT4 [3]")):
            with open(binary, "wb") as file:
                file.write(content)
            got = result(folder, dtype, binary)
            if got != want and not (isinstance(want, str) and want in got):
                faults.append(f"{dtype} of {content}: {got}, expected {want}")
    tap.check("npy and bin files", faults)


def check_compiled(tap, lightnet):
    """Constants in compiled models, with their weights in the file, and in JSON."""
    case = Case(25)
    for dtype in SMALL:
        for n in (24, 25):
            bits = np.resize(elements_of(dtype), n).view(bytes_type(dtype))
            case.add("Concat", [case.give(dtype, bits[:1]), case.give(dtype, bits, True)], dtype, np.concatenate([bits[:1], bits]), axis=0)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        arguments = write(folder, case.model(), {name: array for name, (_, array) in case.inputs.items()})
        for ending in ("safetensors", "json"):
            path, out = os.path.join(folder, f"as_{ending}.{ending}"), os.path.join(folder, "out" + ending)
            faults += failure(call([lightnet, "compile", arguments[0], "-o", path]))
            weights = ["-f", os.path.join(folder, "as_json.safetensors")] if ending == "json" else []
            faults += failure(call([lightnet, "run", path, *weights, *arguments[1:], "-O", out]))
            for k, (_, dtype, want, what) in enumerate([] if faults else case.outputs):
                faults += faults_of_elements(f"{ending} {what}", dtype, np.load(os.path.join(out, f"output_{k}.npy")), want)
    tap.check("compiled models have constants of each type", faults)


def safetensors(tensors):
    """A file: {name: (dtype, shape, bytes)}."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def check_weights(tap, lightnet):
    """Weights of LightNet's JSON from safetensors."""
    def run(dtype, dims, stored):
        ops = {"ops": [{"optype": "source", "name": "c", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "w"}],
                        "params": [{"arg_name": "dtype", "value": dtype}, {"arg_name": "dims", "value": dims},
                                   {"arg_name": "from_file", "value": True}]},
                       {"optype": "forward", "name": "f", "tensors_in": [{"arg_name": "src", "name": "w"}],
                        "tensors_out": [{"arg_name": "dst", "name": "y"}], "params": []}]}
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("m.json", "w.safetensors", "out")]
            with open(paths[0], "w", encoding="utf-8") as file:
                json.dump(ops, file)
            with open(paths[1], "wb") as file:
                file.write(safetensors({"w": stored}))
            done = call([lightnet, "run", paths[0], "-f", paths[1], "-O", paths[2]])
            return done.stderr if done.returncode else np.load(os.path.join(paths[2], "output_0.npy")).ravel().tolist()

    faults = []
    for dtype, dims, stored, want in (
            ("TL_FLOAT8E4M3FN", [3], ("F8_E4M3", [3], b"\x01\x7e\xff"), [1, 0x7e, 0xff]),
            ("TL_FLOAT8E5M2", [1, 2], ("F8_E5M2", [1, 2], b"\x01\x7c"), [1, 0x7c]),
            ("TL_FLOAT8E8M0", [2], ("F8_E8M0", [2], b"\x00\xff"), [0, 255]),
            ("TL_FLOAT8E4M3FNUZ", [1], ("F8_E4M3FNUZ", [1], b"\x80"), [128]),
            ("TL_FLOAT8E5M2FNUZ", [1], ("F8_E5M2FNUZ", [1], b"\x80"), [128]),
            ("TL_FLOAT4E2M1", [2, 2], ("F4", [2, 2], b"\x21\xf0"), [1, 2, 0, 15]),
            ("TL_FLOAT4E2M1", [3], ("U8", [3], b"\x01\x02\x0f"), [1, 2, 15]),
            ("TL_INT4", [3], ("I8", [3], b"\x07\xf8\xff"), [7, -8, -1]),
            ("TL_UINT2", [2], ("U8", [2], b"\x03\x00"), [3, 0]),
            ("TL_UINT2", [2], ("U8", [2], b"\x03\x04"), "element 1 is the byte 4, expected one of 2 bits: TL_UINT2"),
            ("TL_FLOAT4E2M1", [3], ("F4", [3], b"\x21\xf0"), "2 bytes of data, expected half the elements of TL_FLOAT4E2M1 [3]"),
            ("TL_FLOAT4E2M1", [4], ("F4", [4], b"\x21\xf0\x00"), "3 bytes of data, expected half the elements"),
            ("TL_FLOAT8E4M3FN", [2], ("F8_E5M2", [2], b"\x01\x7e"), "is TL_FLOAT8E5M2 [2], expected TL_FLOAT8E4M3FN [2]")):
        got = run(dtype, dims, stored)
        if got != want and not (isinstance(want, str) and want in got):
            faults.append(f"{dtype} from {stored}: {got}, expected {want}")
    tap.check("safetensors", faults)


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    for check in (check_casts, check_quantize, check_dequantize, check_block_formats, check_bit_casts, check_moves, check_tensor_files,
                  check_arrays, check_compiled, check_weights):
        check(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
