#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: networks.py LIGHTNET. ONNX's recurrent networks and Fourier transforms, against numpy."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import error_of, faults_of
from onnx_writer import graph, model, node, tensor, value
from tap import Tap

F32 = np.float32
RNG = np.random.default_rng(20240229)
KIND = {np.dtype(F32): "float", np.dtype(np.float64): "double", np.dtype(np.int32): "int32", np.dtype(np.int64): "int64",
        np.dtype(bool): "bool"}
STEPS, ROWS, INPUTS, HIDDEN = 5, 3, 4, 6
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def one(op_type, arrays, outputs, opset=17, constants=(), **attributes):
    """A model of one node and its inputs; `arrays`: {name: array or None}, `outputs`: types."""
    given = {name: array for name, array in arrays.items() if array is not None}
    inputs = {name: array for name, array in given.items() if name not in constants}
    names = [f"y{k}" for k in range(len(outputs))]
    whole = graph([node(op_type, [name if name in given else "" for name in arrays], names, **attributes)],
                  [value(name, KIND[a.dtype], a.shape) for name, a in inputs.items()],
                  [value(name, kind) for name, kind in zip(names, outputs)],
                  [tensor(name, KIND[given[name].dtype], given[name].shape, given[name].ravel().tolist())
                   for name in constants])
    return model(whole, opset=opset), inputs


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def step(kind, x, h, c, weights, before, coupled):
    """One step of one sequence, in double; x [I], h and c [H]."""
    w, r, b, p = weights
    size = len(h)
    bias, inner = b[:len(b) // 2], b[len(b) // 2:]
    sums = w @ x + bias + inner
    if kind == "RNN":
        return np.tanh(sums + r @ h), c
    if kind == "GRU":
        z, reset = (sigmoid(part) for part in np.split((sums + r @ h)[:2 * size], 2))
        rh, last = r[2 * size:], inner[2 * size:]
        n = sums[2 * size:] - last + reset * (rh @ h + last) if before else sums[2 * size:] + rh @ (reset * h)
        return (1 - z) * np.tanh(n) + z * h, c
    i, o, f, n = np.split(sums + r @ h, 4)
    i, f = sigmoid(i + p[:size] * c), sigmoid(f + p[2 * size:] * c)
    c = (1 - i if coupled else f) * c + i * np.tanh(n)
    return sigmoid(o + p[size:2 * size] * c) * np.tanh(c), c


def network(kind, direction, lens, before=0, coupled=0):
    """A model, its inputs, and Y, Y_h (and Y_c)."""
    reverse = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    n, width = len(reverse), GATES[kind] * HIDDEN
    make = lambda *shape: (RNG.standard_normal(shape) / 2).astype(F32)
    arrays = {"x": make(STEPS, ROWS, INPUTS), "w": make(n, width, INPUTS), "r": make(n, width, HIDDEN), "b": make(n, 2 * width),
              "lens": None if lens is None else np.array(lens, np.int32), "h": make(n, ROWS, HIDDEN)}
    if kind == "LSTM":
        arrays |= {"c": make(n, ROWS, HIDDEN), "p": make(n, 3 * HIDDEN)}
    y, last = np.zeros((STEPS, n, ROWS, HIDDEN)), np.zeros((2, n, ROWS, HIDDEN))
    real = {name: a.astype(float) for name, a in arrays.items() if a is not None}
    for d in range(n):
        weights = real["w"][d], real["r"][d], real["b"][d], real["p"][d] if kind == "LSTM" else None
        for k in range(ROWS):
            h, c = real["h"][d, k], real["c"][d, k] if kind == "LSTM" else None
            times = range(STEPS if lens is None else lens[k])
            for t in reversed(times) if reverse[d] else times:
                h, c = step(kind, real["x"][t, k], h, c, weights, before, coupled)
                y[t, d, k] = h
            last[0, d, k] = h
            last[1, d, k] = c if kind == "LSTM" else 0
    expected = [y, last[0], last[1]][:3 if kind == "LSTM" else 2]
    attributes = {"GRU": {"linear_before_reset": before}, "LSTM": {"input_forget": coupled}}.get(kind, {})
    whole, inputs = one(kind, arrays, ["float"] * len(expected), 14, ("w", "r"), hidden_size=HIDDEN, direction=direction,
                        **attributes)
    return whole, inputs, [a.astype(F32) for a in expected]


def networks():
    for kind in GATES:
        for direction in ("forward", "reverse", "bidirectional"):
            for lens in (None, [STEPS, 0, STEPS - 2]):
                yield f"{kind} {direction}, lengths {lens}", *network(kind, direction, lens)
    yield "GRU with the reset behind the product", *network("GRU", "bidirectional", [2, 3, 5], before=1)
    yield "LSTM with coupled gates", *network("LSTM", "bidirectional", [2, 3, 5], coupled=1)


def parts(numbers):
    return np.stack([numbers.real, numbers.imag], -1).astype(F32)


def transforms():
    for n in (1, 6, 7, 37, 64, 74):
        x = RNG.standard_normal((2, n, 3, 2)).astype(F32)
        z = x[..., 0].astype(float) + 1j * x[..., 1]
        real = np.ascontiguousarray(x[..., :1])
        yield f"DFT of {n} numbers", *one("DFT", {"x": x}, ["float"], axis=1), [parts(np.fft.fft(z, axis=1))]
        yield f"its inverse, {n}", *one("DFT", {"x": x}, ["float"], axis=1, inverse=1), [parts(np.fft.ifft(z, axis=1))]
        yield (f"one side, {n}", *one("DFT", {"x": real}, ["float"], axis=1, onesided=1),
               [parts(np.fft.rfft(real[..., 0].astype(float), axis=1))])
        arrays = {"x": real, "len": np.array(9), "axis": np.array(-3)}
        yield (f"length and axis as inputs, {n}", *one("DFT", arrays, ["float"], 20, ("len", "axis")),
               [parts(np.fft.fft(real[..., 0].astype(float), 9, axis=1))])


WRONG = [
    ("HannWindow", {"n": np.array(-1)}, {}, "'size' is -1"),
    ("RNN", {"x": np.ones((2, 1, 3), F32), "w": np.ones((1, 4, 3), F32), "r": np.ones((1, 4, 5), F32)}, {},
     "'W' has shape [1, 4, 3], expected [1, 5, 3]"),
    ("RNN", {"x": np.ones((2, 1, 3), F32), "w": np.ones((1, 4, 3), F32), "r": np.ones((1, 4, 4), F32)},
     {"direction": "sideways"}, "attribute 'direction' is 'sideways'"),
    ("DFT", {"x": np.ones((2, 1, 3), F32)}, {}, "expected [.., 1] for real or [.., 2] for complex"),
]


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    for make in (networks, transforms):
        for sentence, whole, inputs, expected in make():
            tap.check(sentence, faults_of(lightnet, whole, inputs, expected, rtol=1e-5, atol=1e-5))
    for op_type, arrays, attributes, words in WRONG:
        whole, inputs = one(op_type, arrays, ["float"], constants=tuple(arrays), **attributes)
        message = error_of(lightnet, whole, inputs)
        tap.check(f"{op_type}: {words}", [] if message and words in message else [f"{message!r}"])
    tap.end()


if __name__ == "__main__":
    main()
