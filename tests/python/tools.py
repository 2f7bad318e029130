#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tools.py PACKAGE LIGHTNET. The functions of the Python package that are commands of LIGHTNET."""
import os
import sys
import tempfile

sys.path[:0] = [sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../structure")]
os.environ["LIGHTNET_COMMAND"] = sys.argv[2]

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
        report = lightnet.quantize(DIGITS, path("q.safetensors"), [{"image": image(i)} for i in range(8)], max_error=0.05)
        tap.check("a_quantized_model_computes_nearly_the_same", same(path("q.safetensors"), 0.05) + contains(report, "layer"))
        tap.check("verify_reports_what_agrees",
                  contains(lightnet.verify(lightnet.InferenceSession(DIGITS), {"image": image(2)}), "agrees"))
        tap.check("explain_shows_inputs_and_operators", contains(lightnet.explain(DIGITS), "image TL_FLOAT", "conv2d"))
        tap.check("wrong_options_are_invalid_arguments",
                  failing(lightnet.InvalidArgument, lambda: lightnet.explain(DIGITS, nonsense=1), "nonsense"))
        tap.check("failures_have_the_command_s_message",
                  failing(lightnet.Fail, lambda: lightnet.explain(path("none.onnx")), "none.onnx"))
    tap.end()


if __name__ == "__main__":
    main()
