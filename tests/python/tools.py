#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tools.py PACKAGE LIGHTNET. The functions of the Python package that are commands of LIGHTNET."""
import os
import shutil
import sys
import tempfile

sys.path[:0] = [sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../structure")]
os.environ["LIGHTNET_COMMAND"] = os.path.abspath(sys.argv[2])

import numpy as np
from tap import ROOT, Tap

import lightnet

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
        tap.check("verify_reports_what_agrees",
                  contains(lightnet.verify(lightnet.InferenceSession(DIGITS), {"image": image(2)}), "agrees"))
        tap.check("explain_shows_inputs_and_operators", contains(lightnet.explain(DIGITS), "image TL_FLOAT", "conv2d"))
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
