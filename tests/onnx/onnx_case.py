# SPDX-License-Identifier: Apache-2.0
"""Runs models that onnx_writer makes, and compares what comes out."""
import json
import os
import subprocess
import tempfile

import numpy as np


def call(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False, timeout=60)


def write(folder, model, inputs):
    """Writes the model and its inputs, {name: array}; returns the arguments of lightnet that name them."""
    arguments = [os.path.join(folder, "model.onnx")]
    with open(arguments[0], "wb") as file:
        file.write(model)
    for name, array in inputs.items():
        path = os.path.join(folder, f"{name}.npy")
        np.save(path, array)
        arguments += ["-i", f"{name}={path}"]
    return arguments


def faults_of(lightnet, model, inputs, expected, rtol=0, atol=0):
    """Lines that say what is wrong: with the outputs, arrays in order, or with the agreement of the optimized
    program, the reference program and the compiled model that was written and read."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = write(folder, model, inputs)
        out = os.path.join(folder, "out")
        done = call([lightnet, "run", *arguments, "-O", out])
        faults = failure(done) or [fault for k, want in enumerate(expected)
                                   for fault in differences(os.path.join(out, f"output_{k}.npy"), want, rtol, atol)]
        return faults + failure(call([lightnet, "verify", "--reference", *arguments]))


def compiled_faults_of(lightnet, model, cases):
    """As faults_of, of a model without constants, compiled once for all `cases`: pairs of inputs and outputs."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "compiled.json")
        faults = failure(call([lightnet, "compile", *write(folder, model, {}), "-o", path]))
        for inputs, expected in [] if faults else cases:
            out = os.path.join(folder, "out")
            done = call([lightnet, "run", path, *write(folder, model, inputs)[1:], "-O", out])
            faults += failure(done) or [fault for k, want in enumerate(expected)
                                        for fault in differences(os.path.join(out, f"output_{k}.npy"), want, 0, 0)]
        return faults


def error_of(lightnet, model, inputs):
    """The message with which the model is refused; "" when it runs. None: it ended in another way."""
    with tempfile.TemporaryDirectory() as folder:
        done = call([lightnet, "run", *write(folder, model, inputs)])
        return {0: "", 1: done.stderr}.get(done.returncode)


def failure(done):
    if done.returncode == 0:
        return []
    return [f"{' '.join(done.args[:3])}: exit status {done.returncode}", *(done.stdout + done.stderr).splitlines()[-3:]]


def differences(path, want, rtol, atol):
    got, want = np.load(path), np.asarray(want)
    name = os.path.basename(path)
    if got.shape != want.shape or got.dtype != want.dtype:
        return [f"{name} is {got.dtype} {list(got.shape)}, expected {want.dtype} {list(want.shape)}"]
    if np.allclose(got.astype(float), want.astype(float), rtol=rtol, atol=atol, equal_nan=True):
        return []
    return [f"{name} is {got.tolist()}, expected {want.tolist()}"]


def ops_of(lightnet, model):
    """The types of the operators that a model, which needs no sizes, is compiled to."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        done = call([lightnet, "compile", *write(folder, model, {}), "-o", out])
        if done.returncode:
            return failure(done)
        with open(out, encoding="utf-8") as file:
            return [op["optype"] for op in json.load(file)["ops"]]
