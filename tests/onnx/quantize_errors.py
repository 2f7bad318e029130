#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: quantize_errors.py LIGHTNET. The errors that lightnet quantize reports, for outputs of each form. Speaks TAP."""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx_writer as onnx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from photos import Tap  # noqa: E402

N_CLASSES, N_SAMPLES = 8, 64


def save_classifier(file, form):
    """Scores that are nearly equal: the mean of a convolution. The first output has them, or the best class."""
    random = np.random.default_rng(0)
    weight = random.normal(0, 1, (1, 3, 3, 3)) + random.normal(0, 1e-2, (N_CLASSES, 3, 3, 3))
    nodes = [onnx.node("Conv", ["x", "w"], ["c"]), onnx.node("ReduceMean", ["c"], ["images"], axes=[2, 3], keepdims=1)]
    tensors = [onnx.tensor("w", "float", weight.shape, weight.reshape(-1).tolist())]
    outputs = {"images": ("float", [1, N_CLASSES, 1, 1]), "rows": ("float", [1, N_CLASSES]), "index": ("int64", [1]), "label": ("string", [1])}
    if form != "images":
        nodes.append(onnx.node("Flatten", ["images"], ["rows"]))
    if form in ("index", "label"):
        nodes.append(onnx.node("ArgMax", ["rows"], ["index"], axis=1, keepdims=0))
    if form == "label":
        nodes.append(onnx.node("Gather", ["names", "index"], ["label"]))
        tensors.append(onnx.tensor("names", "string", [N_CLASSES], list("abcdefgh")))
    graph = onnx.graph(nodes, [onnx.value("x", "float", [1, 3, 6, 6])], [onnx.value(form, *outputs[form])], tensors)
    with open(file, "wb") as stream:
        stream.write(onnx.model(graph, opset=13))


def quantize(lightnet, *options):
    result = subprocess.run([lightnet, "quantize", "model.onnx", "--data", "samples.npy", "-o", "quantized.onnx", "--any-speed", "--seconds", "0",
                             "--force", *options], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return {name: float(value) for name, value in re.findall(r"^(layers|error|top1) +([0-9.]+)", result.stdout, re.M)}


def check_top1(tap, lightnet):
    """The share of samples whose best class stays the same, whatever form the output has."""
    save_classifier("model.onnx", "rows")
    expected = quantize(lightnet, "--max-error", "1")["top1"]
    fault = "" if 0.5 < expected < 1 else f"scores: {expected}\n"
    for form in ("images", "index", "label"):
        save_classifier("model.onnx", form)
        got = quantize(lightnet, "--max-error", "1")
        if got["top1"] != expected or got["layers"] != 1:
            fault += f"{form}: {got}, expected {expected}\n"
        if form != "images" and abs(got["error"] - (1 - expected)) > 1e-6:
            fault += f"{form}: an error of {got['error']}, expected {1 - expected}\n"
        if quantize(lightnet, "--top1", f"{expected + 1e-3:.6f}")["layers"] != 0:
            fault += f"{form}: more than the budget\n"
    tap.check("best classes are compared in scores, images of one pixel, and labels", fault)


def check_not_finite(tap, lightnet):
    """A class whose score is not finite in 8 bits alone is another one: square roots of differences that rounding makes negative."""
    weight = np.array([[0.9955, -1], [0.1, 0.1], [0.1, 0.2]])
    nodes = [onnx.node("Conv", ["x", "w"], ["c"]), onnx.node("Sqrt", ["c"], ["r"]), onnx.node("Add", ["r", "b"], ["s"]),
             onnx.node("Flatten", ["s"], ["y"])]
    tensors = [onnx.tensor("w", "float", [3, 2, 1, 1], weight.reshape(-1).tolist()), onnx.tensor("b", "float", [3, 1, 1], [9, 0, 0])]
    graph = onnx.graph(nodes, [onnx.value("x", "float", [1, 2, 1, 1])], [onnx.value("y", "float", [1, 3])], tensors)
    with open("model.onnx", "wb") as stream:
        stream.write(onnx.model(graph, opset=13))
    a = np.random.default_rng(1).uniform(0.2, 1, N_SAMPLES)
    factor = np.where(np.arange(N_SAMPLES) < 32, 0.5, 0.994)  # the first 32 samples decide whether the layer is a candidate
    np.save("samples.npy", np.stack([a, factor * a], axis=1)[..., None, None].astype(np.float32))
    got = quantize(lightnet, "--top1", "0")
    fault = "" if got["layers"] == 1 and 0 < got["top1"] < 1 else f"{got}"
    tap.check("a best class that is not finite is another one", fault or ("" if quantize(lightnet, "--top1", "1")["layers"] == 0 else "--top1 1"))


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        np.save("samples.npy", np.random.default_rng(1).normal(0, 1, (N_SAMPLES, 3, 6, 6)).astype(np.float32))
        check_top1(tap, lightnet)
        check_not_finite(tap, lightnet)
        os.chdir("/")
    print(f"1..{tap.n}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
