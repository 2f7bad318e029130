#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tools.py PACKAGE LIGHTNET. The functions of the Python package that are commands of LIGHTNET."""
import json
import os
import shutil
import sys
import tempfile

sys.path[:0] = [sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../structure"),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "../onnx")]
os.environ["LIGHTNET_COMMAND"] = os.path.abspath(sys.argv[2])

import numpy as np
from tap import ROOT, Tap

import lightnet
import onnx_writer as w
from lightnet import _tools as tools

DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")


def image(seed):
    return np.random.default_rng(seed).random((1, 1, 28, 28), np.float32)


def same(path, tolerance, **options):
    """Faults unless the model in `path` computes what the digit network does."""
    sessions = lightnet.InferenceSession(DIGITS), lightnet.InferenceSession(path, **options)
    a, b = (session.run(None, {"image": image(1)})[0] for session in sessions)
    off = float(np.abs(a - b).max())
    return [] if off <= tolerance else [f"differs by {off}, at most {tolerance} expected"]


def contains(text, *words):
    return [f"'{word}' is not in: {text}" for word in words if word not in text]


def failing(kind, function, word):
    try:
        function()
    except kind as error:
        return contains(str(error), word)
    return ["raised nothing"]


def reported(path):
    """Faults unless pages of one model and of two have their data."""
    session = lightnet.InferenceSession(DIGITS)
    lightnet.report(session, path("one.html"), feed={"image": image(3)}, seconds=0)
    with open(DIGITS, "rb") as file:
        lightnet.report(DIGITS, path("two.html"), other=lightnet.Model(file.read()), seconds=0, threads=1)
    faults = []
    for name, n in (("one.html", 1), ("two.html", 2)):
        with open(path(name), encoding="utf-8") as file:
            text = file.read()
        data = json.loads(text.partition('<script id="data" type="application/json">')[2].partition("</script>")[0])
        operators = [box["type"] for model in data["models"] for box in model["compiled"]["boxes"] if "ms" in box]
        if len(data["models"]) != n or operators.count("softmax_cpu") != n:
            faults.append(f"{name}: {len(data['models'])} models, operators {operators}")
    return faults


def dashed(folder):
    """Faults unless models in files "-o.onnx" and "-x.safetensors" of the current folder work."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        shutil.copy(DIGITS, "-o.onnx")
        lightnet.compile_model("-o.onnx", "-x.safetensors")
        return same("-x.safetensors", 1e-6) + contains(lightnet.explain("-x.safetensors"), "image TL_FLOAT")
    finally:
        os.chdir(before)


def with_files(folder):
    """Faults unless a changed model finds the data beside its file."""
    entries = b"".join(w.field(13, w.field(1, key) + w.field(2, value)) for key, value in (("location", "k.bin"), ("length", "8")))
    outside = w.Tensor(w.field(1, 2) + w.field(2, 1) + w.field(8, "k") + entries + w.field(14, 1))
    nodes = [w.node("Mul", ["x", "k"], ["a"]), w.node("Add", ["a", "b"], ["y"])]
    content = w.model(w.graph(nodes, [w.value("x", "float", [2])], [w.value("y", "float", [2])], [outside, w.tensor("b", "float", [1], [0])]), opset=17)
    for name, data in (("k.onnx", content), ("k.bin", np.array([2, 3], "<f4").tobytes())):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    changed, made = lightnet.Model(os.path.join(folder, "k.onnx"), {"b": np.array([10], np.float32)}), os.path.join(folder, "k.safetensors")
    lightnet.compile_model(changed, made)
    lightnet.report(changed, os.path.join(folder, "k.html"), other=changed, seconds=0)
    found = lightnet.InferenceSession(made).run(None, {"x": np.ones(2, np.float32)})[0].tolist()
    return [] if found == [12, 13] else [f"{found}, expected [12, 13]"]


def killed(folder):
    """Faults unless the signal that ends a command is named."""
    path, before = os.path.join(folder, "killed"), os.environ["LIGHTNET_COMMAND"]
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nkill -9 $$\n")
    os.chmod(path, 0o755)
    os.environ["LIGHTNET_COMMAND"] = path
    try:
        return failing(lightnet.Fail, lambda: lightnet.explain(DIGITS), "lightnet show ended with signal 9")
    finally:
        os.environ["LIGHTNET_COMMAND"] = before


def options():
    """Faults unless options are those of the command, whose values have the types that it can have."""
    words = tools._options({"decode": (5, 3), "shape": ["a=1", "b=2"], "max_error": 0.01, "json": True, "quiet": False, "seed": None, "mean": np.arange(2).tolist()})
    expected = ["--decode=5,3", "--shape=a=1", "--shape=b=2", "--max-error=0.01", "--json", "--mean=0,1"]
    faults = [] if words == expected else [f"{words}, expected {expected}"]
    for value, word in (({"image": image(0)}, "option 'inputs' is of type dict, expected a number, a text or a path, or several; 'feed' has"),
                        (image(0), "is of type ndarray")):
        faults += failing(lightnet.InvalidArgument, lambda: lightnet.report(DIGITS, "x.html", inputs=value), word)  # pylint: disable=cell-var-from-loop
    return faults


def strings():
    """Faults unless a command reads strings."""
    content = w.model(w.graph([w.node("Identity", ["x"], ["y"])], [w.value("x", "string", [2])], [w.value("y", "string", [2])]), opset=17)
    faults = contains(lightnet.verify(content, {"x": np.array(["\u00e9", ""], object)}), "agrees")
    for wrong, word in ((b"\xff", "not UTF-8"), ("a\0", "null character")):
        faults += failing(lightnet.InvalidArgument, lambda: lightnet.verify(content, {"x": np.array([wrong, ""], object)}), word)  # pylint: disable=cell-var-from-loop
    return faults


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)
        lightnet.convert(DIGITS, path("digits.json"))
        tap.check("a_converted_model_computes_the_same", same(path("digits.json"), 1e-6, weights=path("digits.safetensors")))
        with open(DIGITS, "rb") as file:
            lightnet.compile_model(lightnet.Model(file.read()), path("compiled.safetensors"))
        tap.check("a_compiled_model_computes_the_same", same(path("compiled.safetensors"), 1e-6))
        tap.check("a_path_may_begin_with_a_dash", dashed(folder))
        tap.check("changed_models_have_the_data_beside_their_file", with_files(folder))
        tap.check("signals_are_named", killed(folder))
        tap.check("verify_reports_what_agrees",
                  contains(lightnet.verify(lightnet.InferenceSession(DIGITS), {"image": image(2)}), "agrees"))
        tap.check("strings_are_inputs", strings())
        tap.check("options_are_those_of_the_command", options())
        tap.check("explain_shows_inputs_and_operators", contains(lightnet.explain(DIGITS), "image TL_FLOAT", "conv2d"))
        tap.check("report_writes_a_page", reported(path))
        tap.check("tuples_of_numbers_are_one_value",
                  failing(lightnet.InvalidArgument, lambda: lightnet.report(DIGITS, path("x.html"), decode=(5, 3, 1)), "--decode is '5,3,1'"))
        tap.check("arrays_are_no_options",
                  failing(lightnet.InvalidArgument, lambda: lightnet.report(DIGITS, path("x.html"), inputs={"image": image(3)}),
                          "option 'inputs' is of type dict"))
        tap.check("wrong_options_are_invalid_arguments",
                  failing(lightnet.InvalidArgument, lambda: lightnet.explain(DIGITS, nonsense=1), "nonsense"))
        tap.check("a_missing_file_is_named",
                  failing(lightnet.NoSuchFile, lambda: lightnet.explain(path("none.onnx")), "none.onnx"))
        with open(path("damaged.onnx"), "wb") as file:
            file.write(b"damaged")
        tap.check("failures_have_the_message_of_the_command",
                  failing(lightnet.Fail, lambda: lightnet.explain(path("damaged.onnx")), "damaged.onnx"))
    tap.end()


if __name__ == "__main__":
    main()
