# SPDX-License-Identifier: Apache-2.0
"""Runs models that onnx_writer makes, and compares their outputs."""
import json
import os
import subprocess
import tempfile

import numpy as np

from onnx_writer import graph, model, node, renamed, tensor, value

FLOATS = {"float": np.float32, "double": np.float64, "float16": np.float16}
INTEGERS = {np.dtype(t).name: t for t in (np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64, np.uint32, np.uint64)}
CONTRIB, ML = "com.microsoft", "ai.onnx.ml"
WRITTEN = 2e-6  # tolerance of models that `convert` writes: their trees have scores of 32 bits
NUMPY = {**FLOATS, **INTEGERS, "bool": np.bool_}  # ONNX's names, as onnx_writer has them


def name_of(array):
    if array.dtype.kind == "U":
        return "string"
    return next(name for name, kind in NUMPY.items() if kind == array.dtype)


def elements(array):
    """The arguments of tensor() for an array, except the name."""
    array = np.asarray(array)
    return name_of(array), list(array.shape), array.ravel().tolist()


class Part:
    """Some nodes, their inputs and outputs: a model, or a part of a larger one."""

    def __init__(self, sentence, opset, nodes, given, wanted, constants=None, kind=None):
        """given, wanted: arrays by name; constants: elements by name; kind: of outputs whose type numpy does not have."""
        self.sentence, self.opset, self.nodes = sentence, opset, nodes
        self.given, self.wanted, self.constants, self.kind = given, wanted, constants or {}, kind


def one_node(sentence, op_type, arrays, expected, opset=18, const=(), **attributes):
    """`arrays` are its inputs (None: left out), those in `const` constants; `expected` its outputs, likewise."""
    names = ["" if array is None else f"x{i}" for i, array in enumerate(arrays)]
    inputs = {name: np.asarray(array) for name, array in zip(names, arrays) if name}
    expected = expected if isinstance(expected, list) else [expected]
    outputs = ["" if array is None else f"y{k}" for k, array in enumerate(expected)]
    fixed = {name for i, name in enumerate(names) if name and i in const}
    opset = opset if isinstance(opset, int) else tuple(opset.items())  # hashable
    return Part(f"{op_type} {opset}: {sentence}", opset, [node(op_type, names, outputs, **attributes)],
                {name: array for name, array in inputs.items() if name not in fixed},
                {name: np.asarray(array) for name, array in zip(outputs, expected) if name},
                {name: elements(inputs[name]) for name in fixed})


def contrib(sentence, op_type, arrays, expected, const=(), **attributes):
    """As one_node, of ONNX Runtime's domain."""
    return one_node(sentence, op_type, arrays, expected, 17, const, domain=CONTRIB, **attributes)


def opsets_of(part):
    """A version for each domain; `part.opset`: of ONNX's own domain, or pairs of domain and version."""
    own = {"": part.opset} if isinstance(part.opset, int) else dict(part.opset)
    return {CONTRIB: 1, ML: 5, **own}


def joined(parts):
    """The model of parts of one opset, and its inputs. Names of several have the number of the part before them."""
    nodes, inputs, outputs, initializers, given = [], [], [], [], {}
    for k, part in enumerate(parts):
        def own(name, before=f"{k}_" if len(parts) > 1 else ""):
            return before + name if name else ""
        nodes += [renamed(each, own) for each in part.nodes]
        inputs += [value(own(name), name_of(array), array.shape) for name, array in part.given.items()]
        outputs += [value(own(name), part.kind or name_of(array)) for name, array in part.wanted.items()]
        initializers += [tensor(own(name), *what) for name, what in part.constants.items()]
        given |= {own(name): array for name, array in part.given.items()}
    return model(graph(nodes, inputs, outputs, initializers), opset=opsets_of(parts[0])), given


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
    """Errors as lines: in the outputs, arrays in order, or in the agreement of the optimized
    program, the reference program and the compiled model that was written and read."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = write(folder, model, inputs)
        out = os.path.join(folder, "out")
        done = call([lightnet, "run", *arguments, "-O", out])
        faults = failure(done) or [fault for k, want in enumerate(expected)
                                   for fault in differences(os.path.join(out, f"output_{k}.npy"), want, rtol, atol)]
        return faults + failure(call([lightnet, "verify", "--reference", *arguments]))


def faults_of_parts(lightnet, parts, tolerance=lambda part: 0, is_written=False):
    """For each part, in order, its errors: parts of one opset are one model. If that fails as a whole, each part becomes
    a model, to find the wrong one. is_written: also of the models that `convert` writes of these."""
    faults = {}
    for opset in {part.opset for part in parts}:
        same = [part for part in parts if part.opset == opset]
        whole, each = faults_together(lightnet, same, tolerance, is_written)
        if whole:
            alone = [faults_together(lightnet, [part], tolerance, is_written) for part in same]
            each = [of_whole + of_part for of_whole, (of_part,) in alone]
            each[0] += [] if any(each) else ["all of this opset in one model:", *whole]
        faults |= dict(zip(map(id, same), each))
    return [faults[id(part)] for part in parts]


def faults_of_run(lightnet, parts, tolerance, arguments, out):
    whole = failure(call([lightnet, "run", *arguments, "-O", out]))
    paths = iter([] if whole else [os.path.join(out, f"output_{k}.npy") for k in range(len(os.listdir(out)))])
    return whole, [[fault for want, path in zip(part.wanted.values(), paths)
                    for fault in differences(path, want, tolerance(part), tolerance(part))] for part in parts]


def faults_together(lightnet, parts, tolerance, is_written=False):
    """Of one model: lines on the whole, and a list of lines for each part."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = write(folder, *joined(parts))
        whole, each = faults_of_run(lightnet, parts, tolerance, arguments, os.path.join(folder, "out"))
        whole = whole or failure(call([lightnet, "verify", "--reference", *arguments]))
        if not is_written or whole:
            return whole, each
        written = os.path.join(folder, "written.onnx")
        whole = failure(call([lightnet, "convert", *arguments, "-o", written]))
        if whole:
            return whole, each
        whole, again = faults_of_run(lightnet, parts, lambda part: max(tolerance(part), WRITTEN), [written, *arguments[1:]],
                                     os.path.join(folder, "again"))
        return whole, [one + [f"written: {fault}" for fault in other] for one, other in zip(each, again)]


def check_kinds(tap, lightnet, kinds, tolerances, is_written=False):
    """A test for each function that makes parts; `tolerances`: by the type of the output; is_written: as faults_of_parts."""
    def tolerance(part):
        return max(tolerances.get(name_of(array), 0) for array in part.wanted.values())
    for kind in kinds:
        parts = list(kind())
        tap.check(f"{kind.__name__.replace('_', ' ')}: as numpy has it",
                  [f"{part.sentence}: {fault}"
                   for part, found in zip(parts, faults_of_parts(lightnet, parts, tolerance, is_written)) for fault in found])


def check_rejected(tap, lightnet, part, sentence, words):
    """A test that the message with which the part is rejected has these words."""
    message = error_of(lightnet, *joined([part]))
    tap.check(sentence, [] if message and words in message else [f"expected {words!r} in: {message!r}"])


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


def session_faults_of(lightnet, model, outputs, cases):
    """Errors as lines: of one session that runs a model with one input, for each of `cases`, pairs of an input and the outputs,
    whose names are `outputs`."""
    with tempfile.TemporaryDirectory() as folder:
        path, given, out = (os.path.join(folder, name) for name in ("model.onnx", "given", "out"))
        with open(path, "wb") as file:
            file.write(model)
        os.mkdir(given)
        for k, (array, _) in enumerate(cases):
            np.save(os.path.join(given, f"case{k:03}.npy"), array)
        done = call([lightnet, "run", path, "--each", given, "-O", out])
        return failure(done) or [f"case {k}: {fault}" for k, (_, expected) in enumerate(cases) for name, want in zip(outputs, expected)
                                 for fault in differences(os.path.join(out, f"case{k:03}_{name}.npy"), want, 0, 0)]


def ranged_faults_of(lightnet, parts, ranges, tolerance):
    """As faults_of, of parts that are the same but for their sizes, compiled once for `ranges`: {input: shape}."""
    def open_of(name):
        return [f"{name}{k}" if ".." in size else int(size) for k, size in enumerate(ranges[name].split("x"))]

    first = parts[0]
    whole = graph(first.nodes, [value(name, name_of(array), open_of(name)) for name, array in first.given.items()],
                  [value(name, name_of(array)) for name, array in first.wanted.items()],
                  [tensor(name, *what) for name, what in first.constants.items()])
    bytes_of = model(whole, opset={"": first.opset, CONTRIB: 1, ML: 5})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "compiled.safetensors")
        shapes = [word for name, shape in ranges.items() for word in ("--shape", f"{name}={shape}")]
        faults = failure(call([lightnet, "compile", *write(folder, bytes_of, {}), *shapes, "-o", path]))
        for part in [] if faults else parts:
            out = os.path.join(folder, "out")
            done = call([lightnet, "run", path, *write(folder, bytes_of, part.given)[1:], "-O", out])
            faults += failure(done) or [
                fault for k, want in enumerate(part.wanted.values())
                for fault in differences(os.path.join(out, f"output_{k}.npy"), want, tolerance, tolerance)]
        return faults


def error_of(lightnet, model, inputs, command=("run",)):
    """The message with which the model is rejected; "" when it runs. None: it ended in another way."""
    with tempfile.TemporaryDirectory() as folder:
        done = call([lightnet, *command, *write(folder, model, inputs)])
        return {0: "", 1: done.stderr}.get(done.returncode)


def failure(done):
    if done.returncode == 0:
        return []
    return [f"{' '.join(done.args[:3])}: exit status {done.returncode}", *(done.stdout + done.stderr).splitlines()[-3:]]


def differences(path, want, rtol, atol):
    got, want = np.load(path), np.asarray(want)
    name = os.path.basename(path)
    if want.dtype.kind == "U" and got.dtype.kind == "U" and got.shape == want.shape:
        return [] if (got == want).all() else [f"{name} is {got.tolist()}, expected {want.tolist()}"]
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
