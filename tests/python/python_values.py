#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_values.py PACKAGE. Each kind of array, strings among them, in each call that has arrays as arguments."""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [sys.argv[1], os.path.join(HERE, "../structure"), os.path.join(HERE, "../onnx")]

import numpy as np
from tap import Tap

import lightnet
import onnx_writer as w
from lightnet import OrtValue

# Rows of an array [2, 3] in each form that Python has for it.
TEXTS = {
    "str": np.array([["a", "b", "longer than others"], ["", "é", "z"]]),
    "bytes": np.array([[b"a", b"b", b"c"], [b"", b"d", b"e"]]),
    "object": np.array([["a", b"b", "c"], ["d", "e", "f"]], object),
    "strided": np.array([["a", "b", "c"] * 2, ["d", "e", "f"] * 2])[:, ::2],
    "list": [["a", "b", "c"], ["d", "e", "f"]],
    "OrtValue": OrtValue.ortvalue_from_numpy(np.array([["a", "b", "c"], ["d", "e", "f"]])),
}
NUMBERS = {
    "plain": np.arange(6, dtype=np.float32).reshape(2, 3),
    "strided": np.arange(12, dtype=np.float32).reshape(2, 6)[:, ::2],
    "transposed": np.arange(6, dtype=np.float32).reshape(3, 2).T,
    "swapped": np.arange(6, dtype=">f4").reshape(2, 3),
    "memoryview": memoryview(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "OrtValue": OrtValue.ortvalue_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3)),
}
FORMS = {"string": TEXTS, "float": NUMBERS}


def model(nodes, inputs, outputs, tensors=()):
    return w.model(w.graph(nodes, inputs, outputs, list(tensors)), opset=17)


def same(kind, shape=(2, 3)):
    """y = Identity(x)"""
    return model([w.node("Identity", ["x"], ["y"])], [w.value("x", kind, list(shape))], [w.value("y", kind, list(shape))])


def element(kind):
    """y = s[i], of a sequence s"""
    return model([w.node("SequenceAt", ["s", "i"], ["y"])], [w.typed("s", w.sequence_type(w.tensor_type(kind))), w.value("i", "int64", [])],
                 [w.value("y", kind, None)])


def plain(value):
    """The nested list of a value, with strings as str."""
    array = value.numpy() if isinstance(value, OrtValue) else np.asarray(value)
    rows = array.tolist()
    return [[x.decode() if isinstance(x, bytes) else x for x in row] for row in rows]


def by_run(kind, value):
    return lightnet.InferenceSession(same(kind)).run(None, {"x": value})[0]


def by_binding(kind, value):
    session = lightnet.InferenceSession(same(kind))
    binding = session.io_binding()
    if isinstance(value, OrtValue):
        binding.bind_ortvalue_input("x", value)
    else:
        binding.bind_cpu_input("x", value)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    return binding.copy_outputs_to_cpu()[0]


def by_sequence(kind, value):
    session = lightnet.InferenceSession(element(kind))
    return session.run(None, {"s": [value, value], "i": np.array(1)})[0]


def by_optional(kind, value):
    """y = o, of an optional tensor o"""
    whole = model([w.node("OptionalGetElement", ["o"], ["y"])],
                  [w.typed("o", w.optional_type(w.tensor_type(kind)))], [w.value("y", kind, None)])
    return lightnet.InferenceSession(whole).run(None, {"o": value})[0]


def by_optional_sequence(kind, value):
    """y = o[1], of an optional sequence o"""
    whole = model([w.node("OptionalGetElement", ["o"], ["s"]), w.node("SequenceAt", ["s", "i"], ["y"])],
                  [w.typed("o", w.optional_type(w.sequence_type(w.tensor_type(kind)))), w.value("i", "int64", [])],
                  [w.value("y", kind, None)])
    return lightnet.InferenceSession(whole).run(None, {"o": [value, value], "i": np.array(1)})[0]


def by_initializer(kind, value):
    whole = w.graph([w.node("Identity", ["x"], ["y"])], [w.value("x", kind, [2, 3])], [w.value("y", kind, [2, 3])])
    shared = lightnet.Model(w.model(whole, opset=17), initializers={"x": value})
    return shared.session().run(None, {})[0]


def by_plan(kind, value):
    session = lightnet.InferenceSession(same(kind, ("n", 3)))
    session.memory_plan({"x": value})
    session.profile({"x": value})
    return session.run(None, {"x": value})[0]


def quantized(kind, value):
    """The samples of quantize: strings are errors, or work, and the process lives."""
    whole = same(kind) if kind == "string" else w.model(w.graph(
        [w.node("MatMul", ["x", "k"], ["y"])], [w.value("x", kind, [2, 3])], [w.value("y", kind, [2, 2])],
        [w.tensor("k", "float", [3, 2], [1, 2, 3, 4, 5, 6])]), opset=17)
    with tempfile.TemporaryDirectory() as folder:
        try:
            lightnet.quantize(whole, os.path.join(folder, "q.safetensors"), [{"x": value}], seconds=0.01)
        except lightnet.Error as error:
            return [] if kind == "string" else [str(error)]
    return []


def main():
    tap = Tap()
    calls = [by_run, by_binding, by_sequence, by_optional, by_optional_sequence, by_initializer, by_plan]
    for kind, forms in FORMS.items():
        for form, value in forms.items():
            for call in calls:
                if form == "list" and call in (by_binding,):
                    continue
                try:
                    seen = plain(call(kind, value))
                    faults = [] if seen == plain(value) else [f"{seen}, expected {plain(value)}"]
                except Exception as error:
                    faults = [f"{type(error).__name__}: {error}"]
                tap.check(f"{call.__name__}: {kind}, {form}", faults)
            try:
                faults = quantized(kind, value)
            except Exception as error:
                faults = [f"{type(error).__name__}: {error}"]
            tap.check(f"quantize: {kind}, {form}", faults)
    tap.end()


main()
