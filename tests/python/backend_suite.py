#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: backend_suite.py PACKAGE [--reasons]. ONNX's own backend tests through lightnet.onnx_backend, and tests of that module.

The tests of onnx.backend.test (Debian's python3-onnx) run on the data of libonnx-testdata. Those that pass must be those that
docs/onnx-operators.md lists as passing on the command line, which tests/onnx/suite.py checks. Models of one node also run by
run_node. Random outputs follow the rule of tests/onnx/chances.py. Models that onnx.backend.test would download are left out.
PACKAGE is the folder of the Python package. --reasons prints why the other tests do not pass.
"""
import importlib.util
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [sys.argv[1], os.path.join(HERE, "../structure"), os.path.join(HERE, "../onnx")]

import chances
import onnx_reader
import suite
from tap import ROOT, Tap

CLASSES = {"node": "Node", "simple": "Simple", "pytorch-operator": "PyTorchOperator", "pytorch-converted": "PyTorchConverted"}
DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")


def missing():
    """Why the tests cannot run, or None."""
    if not os.path.isdir(suite.DATA):
        return f"no {suite.DATA}: install libonnx-testdata"
    if importlib.util.find_spec("onnx") is None:
        count = sum(len(os.listdir(os.path.join(suite.DATA, kind))) for kind in suite.SETS)
        return f"{count} tests: no module onnx: install python3-onnx"
    return None


if missing():
    nothing = Tap()
    nothing.skip("ONNX's backend tests", missing())
    nothing.end()

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.backend.test import BackendTest, runner

import lightnet
from checks import equal, raises, test, tests
from lightnet import onnx_backend

# onnx 1.12 compares types with this name, which NumPy has dropped.
if "object" not in vars(np):
    np.object = object


# ---- ONNX's tests ----

def load_model_tests(kind):
    """The tests of Debian's data, whatever the package onnx has itself."""
    return runner_load(suite.DATA, kind) if kind in CLASSES else []


runner_load, runner.load_model_tests = runner.load_model_tests, load_model_tests


def skip(reason):
    """Not onnx's exception, which its runner counts as passed."""
    raise unittest.SkipTest(str(reason))


class Drawn(np.ndarray):
    """Random elements, which have been checked."""


def tensor_of(array):
    dtype = onnx_reader.DTYPES[onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype]]
    return chances.Tensor(dtype, list(array.shape), array.ravel().tolist())


def rule_of(model, inputs):
    return chances.rule_of({node.op_type for node in model.graph.node}, lambda: [tensor_of(array) for array in inputs])


def check_draws(rule, runs, function):
    """Fails where the rule's `function` finds faults in the outputs of runs. Returns those of the first run."""
    tensors = [[tensor_of(array) for array in outputs] for outputs in runs]
    faults = function(tensors, tensors[0])  # the form of outputs is compared later
    if faults:
        raise AssertionError(faults[0])
    return [array.view(Drawn) for array in runs[0]]


class Reasoned(onnx_backend.LightNetBackend):
    """Skips with the engine's reason, where the runner would only say that the model is not compatible."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        if super().is_compatible(model, device, **kwargs):
            return True
        try:
            cls.prepare(model, device, **kwargs)
        except onnx_backend.NotSupported as reason:
            skip(reason)
        raise AssertionError("is_compatible rejects what prepare accepts")

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return ReasonedRep(model, lambda seed: onnx_backend.prepare(model, device, seed=seed, **kwargs))


class ReasonedRep:
    def __init__(self, model, prepare):
        """prepare(seed): a LightNetRep."""
        self.model, self.prepare = model, prepare
        self.rep = prepare(1)

    def run(self, inputs):
        rule = rule_of(self.model, inputs)
        try:
            return self.rep.run(inputs) if rule is None else self.draw(rule, inputs)
        except onnx_backend.NotSupported as reason:
            skip(reason)

    def draw(self, rule, inputs):
        runs = [[list(rep.run(inputs)) for _ in range(n)]
                for rep, n in ((self.rep, chances.RUNS), (self.prepare(1), suite.SEEDED_RUNS), (self.prepare(2), suite.SEEDED_RUNS))]
        drawn = [[[array.tolist() for array in outputs] for outputs in each] for each in runs]
        is_seeded = any(attribute.name == "seed" for node in self.model.graph.node for attribute in node.attribute)
        return check_draws(rule, runs[0], lambda *tensors: rule.faults_of(*tensors) + chances.faults_of_seeds(is_seeded, *drawn))


class ByNode(onnx_backend.LightNetBackend):
    """Runs models of one node by run_node."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        is_optional = any(value.type.HasField("optional_type") for value in model.graph.input)  # run_node infers no such type
        return len(model.graph.node) == 1 and not model.graph.initializer and not is_optional

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return ByNodeRep(model)


class ByNodeRep:
    def __init__(self, model):
        self.model = model

    def run(self, inputs):
        graph = self.model.graph
        if any(isinstance(given, list) and not given for given in inputs):
            skip("an empty sequence, which has no type")
        types = [value.type.tensor_type.elem_type for value in graph.input]
        feed = {value.name: bits_as_bfloat16(array, kind) for value, array, kind in zip(graph.input, inputs, types)}
        versions = {opset.domain: opset.version for opset in self.model.opset_import}
        try:
            outputs = onnx_backend.run_node(graph.node[0], feed, opset_version=versions.get(""))
        except onnx_backend.NotSupported as reason:
            skip(reason)
        found = [outputs[value.name] for value in graph.output]
        rule = rule_of(self.model, inputs)
        if rule is None:
            return found
        return check_draws(rule, [found], lambda runs, wanted: rule.faults_of_elements(runs[0], wanted))


def bits_as_bfloat16(array, elem_type):
    """run_node has no model that declares types."""
    if elem_type == TensorProto.BFLOAT16 and getattr(array, "dtype", None) == np.uint16:
        return lightnet.OrtValue.ortvalue_from_numpy_with_onnx_type(array, elem_type)
    return array


class Outcomes(unittest.TestResult):
    """{test: None if it passes, else the reason}; skipped ones are in `skipped`."""

    def __init__(self):
        super().__init__()
        self.reasons = {}
        self.not_run = set()

    def addSuccess(self, test):
        self.reasons[name_of(test)] = None

    def addSkip(self, test, reason):
        self.reasons[name_of(test)] = reason
        self.not_run.add(name_of(test))

    def addFailure(self, test, error):
        self.reasons[name_of(test)] = f"{error[0].__name__}: {error[1]}"

    addError = addFailure


def name_of(test):
    """As in docs/onnx-operators.md: node/test_abs."""
    kind = next(kind for kind, part in CLASSES.items() if type(test).__name__ == f"OnnxBackend{part}ModelTest")
    return f"{kind}/{test._testMethodName[:-len('_cpu')]}"


class Suite(BackendTest):
    """Also compares scalars in sequences, of which ONNX 1.12 asks the length, and the form of random outputs."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, *args, **kwargs):
        is_one = isinstance(outputs, np.ndarray)
        ref_outputs, outputs = ([ref_outputs], [outputs]) if is_one else (ref_outputs, outputs)
        if any(isinstance(output, Drawn) for output in outputs):
            np.testing.assert_equal(*([(array.dtype, array.shape) for array in arrays] for arrays in (outputs, ref_outputs)))
        else:
            super().assert_similar_outputs(ref_outputs, outputs, *args, **kwargs)


def outcomes_of(backend, kinds):
    """Runs ONNX's tests on the CPU."""
    classes = Suite(backend, __name__).include("_cpu$").test_cases
    outcomes = Outcomes()
    for kind in kinds:
        case = classes[f"OnnxBackend{CLASSES[kind]}ModelTest"]
        for name in sorted(name for name in dir(case) if name.startswith("test_") and name.endswith("_cpu")):
            case(name).run(outcomes)
    return outcomes


def check_suite(tap, reasons_too):
    """Each test passes, or fails, as on the command line."""
    start = time.monotonic()
    outcomes, known = outcomes_of(Reasoned, CLASSES), suite.listed(suite.read_page())
    for name, reason in outcomes.reasons.items():
        passes = f"passes, but {suite.PAGE} lists it as failing" if reason is None else reason
        tap.check(name, [passes] if (reason is None) == (name in known) else [])
    absent = known - set(outcomes.reasons)
    tap.check("all_models_of_the_page_are_tests", [f"{name} is not among the tests" for name in sorted(absent)])
    report(outcomes, time.monotonic() - start)
    if reasons_too:
        for name, reason in outcomes.reasons.items():
            if reason is not None:
                print(f"# {name}: {' '.join(reason.split())}")
    return known


def report(outcomes, seconds):
    """How many tests pass, are not supported, and fail."""
    total, passed = len(outcomes.reasons), sum(reason is None for reason in outcomes.reasons.values())
    skipped = len(outcomes.not_run)
    print(f"# of {total} tests, {passed} pass, {skipped} need what the engine does not support, "
          f"{total - passed - skipped} fail ({seconds:.0f} s)")


def check_nodes(tap, known):
    """Models of one node have the same results by run_node."""
    outcomes = outcomes_of(ByNode, ["node"])
    ran = set(outcomes.reasons) - outcomes.not_run
    faults = [f"{name}: {outcomes.reasons[name]}" for name in sorted(ran - known) if outcomes.reasons[name] is not None]
    tap.check("models_of_one_node_run_by_run_node", faults + ([] if len(ran) > 500 else [f"{len(ran)} ran"]))
    print(f"# {len(ran)} models of one node ran by run_node")


# ---- tests of the module ----

def value(name, elem_type=TensorProto.FLOAT, shape=(2,)):
    return helper.make_tensor_value_info(name, elem_type, shape)


def model_of(nodes, inputs, outputs, initializers=(), opset=13):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def difference(**changes):
    """x - y"""
    return model_of([helper.make_node("Sub", ["x", "y"], ["z"])], [value("x"), value("y")], [value("z")], **changes)


A, B = np.array([5, 7], np.float32), np.array([1, 2], np.float32)


@test
def import_of_the_package_needs_no_onnx():
    code = "import sys, lightnet; sys.exit('onnx' in sys.modules or 'numpy' in sys.modules)"
    return [] if subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": sys.argv[1]}).returncode == 0 else ["imported"]


@test
def a_model_is_a_proto_its_bytes_or_a_file():
    x = np.random.default_rng(0).random((1, 1, 28, 28), np.float32)
    wanted = lightnet.InferenceSession(DIGITS).run(None, {"image": x})[0]
    with open(DIGITS, "rb") as file:
        data = file.read()
    models = onnx.load(DIGITS), data, DIGITS
    return [fault for model in models for fault in equal(onnx_backend.prepare(model, threads=1).run(x)[0], wanted)]


@test
def inputs_are_a_list_names_or_one_value():
    rep = onnx_backend.prepare(difference())
    faults = [fault for inputs in ([A, B], (A, B), {"y": B, "x": A}, [A.tolist(), B.tolist()])
              for fault in equal(rep.run(inputs).z, A - B)]
    outputs = onnx_backend.run_model(difference(), [A, B])
    return faults + equal(outputs["z"], A - B) + equal(outputs[0], A - B) + \
        raises(lightnet.InvalidArgument, lambda: rep.run([A]), "1 inputs are given, expected 2: x, y") + \
        raises(lightnet.InvalidArgument, lambda: rep.run(A), "expected 2") + \
        raises(lightnet.LimitReached, lambda: onnx_backend.prepare(slow()).run(slow_feed(), deadline=0.05))


def slow():
    """A loop of products of matrices."""
    body = helper.make_graph([helper.make_node("MatMul", ["a", "m"], ["b"]), helper.make_node("Identity", ["c"], ["d"])], "body",
                             [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), value("a", shape=[256, 256])],
                             [value("d", TensorProto.BOOL, []), value("b", shape=[256, 256])])
    return model_of([helper.make_node("Loop", ["count", "", "m"], ["y"], body=body)],
                    [value("count", TensorProto.INT64, []), value("m", shape=[256, 256])], [value("y", shape=[256, 256])])


def slow_feed():
    return [1_000_000, np.eye(256, dtype=np.float32)]


@test
def inputs_with_defaults_may_be_left_out():
    rep = onnx_backend.prepare(difference(initializers=[helper.make_tensor("x", TensorProto.FLOAT, [2], A)]))
    return equal(rep.run([B]).z, A - B) + equal(rep.run([B, A]).z, B - A) + \
        raises(lightnet.InvalidArgument, lambda: rep.run([A, A, A]), "3 inputs are given, expected 1: y")


@test
def shapes_may_be_others_than_declared():
    rep = onnx_backend.prepare(difference())
    x, y = np.arange(6, dtype=np.float32).reshape(3, 2), np.ones((3, 2), np.float32)
    wrong = np.zeros(3, np.float32)
    return equal(rep.run([x, y]).z, x - y) + equal(rep.run([A, B]).z, A - B) + equal(rep.run([x, B]).z, x - B) + \
        raises(lightnet.Error, lambda: rep.run([A, wrong]), "[3]") + equal(rep.run([A, B]).z, A - B)


@test
def bfloat16_is_rounded_to_even():
    model = model_of([helper.make_node("Identity", ["x"], ["y"])], [value("x", TensorProto.BFLOAT16, [6])],
                     [value("y", TensorProto.BFLOAT16, [6])])
    # In units of the last place of 1: a half below and above an odd number, just more, infinities, NaN.
    x = np.array([1 + 0.5 / 128, 1 + 1.5 / 128, 1 + 0.5001 / 128, np.inf, -np.inf, np.nan], np.float32)
    bits = np.array([0x3F80, 0x3F82, 0x3F81, 0x7F80, 0xFF80, 0x7FC0], np.uint16)
    y = onnx_backend.run_model(model, [x])[0]
    seen = y.view(np.uint16) if y.dtype.itemsize == 2 else (y.view(np.uint32) >> 16).astype(np.uint16)
    return equal(seen, bits) + equal(np.asarray(onnx_backend.run_model(model, [bits])[0]), y)


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None)


def nested(name):
    """A sequence of sequences."""
    return helper.make_value_info(name, helper.make_sequence_type_proto(sequence(name).type))


UNSUPPORTED = [
    (model_of([helper.make_node("Identity", ["s"], ["t"])], [nested("s")], [nested("t")]),
     "input 's' is of type sequence of other values, expected tensors"),
    (model_of([helper.make_node("Identity", ["x"], ["y"])], [value("x", TensorProto.COMPLEX64)], [value("y", TensorProto.COMPLEX64)]),
     "input 'x' is COMPLEX64, expected a tensor of a type that LightNet supports"),
    (model_of([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.COMPLEX64)], [value("x")], [value("y", TensorProto.COMPLEX64)]),
     "attribute 'to' is COMPLEX64, which LightNet does not support"),
    (model_of([helper.make_node("Transmogrify", ["x"], ["y"])], [value("x")], [value("y")]), "Transmogrify"),
]


@test
def what_the_engine_lacks_is_not_supported():
    faults = []
    for model, text in UNSUPPORTED:
        for kind in (runner.BackendIsNotSupposedToImplementIt, lightnet.NotImplemented):
            faults += raises(kind, lambda: onnx_backend.prepare(model), text)
        faults += [f"'{text}' is compatible"] if onnx_backend.is_compatible(model) else []
    return faults + ([] if onnx_backend.is_compatible(difference()) else ["not compatible"])


@test
def a_damaged_model_is_an_error():
    model = model_of([helper.make_node("Sub", ["x"], ["z"])], [value("x")], [value("z")])
    return raises(lightnet.InvalidGraph, lambda: onnx_backend.is_compatible(model)) + \
        raises(lightnet.InvalidGraph, lambda: onnx_backend.prepare(model))


@test
def the_device_is_the_cpu():
    devices = {device: onnx_backend.supports_device(device) for device in ("CPU", "CPU:0", "CUDA", "CPU:1", "")}
    wanted = {"CPU": True, "CPU:0": True, "CUDA": False, "CPU:1": False, "": False}
    return ([] if devices == wanted else [str(devices)]) + \
        ([] if not onnx_backend.is_compatible(difference(), "CUDA") else ["compatible with CUDA"]) + \
        raises(lightnet.InvalidArgument, lambda: onnx_backend.prepare(difference(), "CUDA"), "device 'CUDA', expected 'CPU'")


@test
def run_node_runs_the_newest_operator():
    x = np.array([[1, -2], [3, 4]], np.float32)
    total = helper.make_node("ReduceSum", ["x", ""], ["y"], keepdims=0)
    clip = helper.make_node("Clip", ["x", "", "most"], ["y"])
    double = helper.make_node("Add", ["x", "x"], ["y"])
    branch = helper.make_graph([helper.make_node("Add", ["x", "x"], ["t"])], "then", [], [value("t", shape=None)])
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["e"])], "else", [], [value("e", shape=None)])
    choice = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=other)
    most = np.array(2, np.float32)
    run = onnx_backend.run_node
    return equal(run(total, [x])[0], x.sum()) + equal(run(clip, [x, most])[0], np.minimum(x, 2)) + \
        equal(run(clip, [x, None, most])[0], np.minimum(x, 2)) + equal(run(double, [x])[0], x + x) + \
        equal(run(double, [x, x])["y"], x + x) + equal(run(choice, {"c": np.array(False), "x": x})[0], -x) + \
        raises(lightnet.InvalidArgument, lambda: run(clip, []), "0 inputs are given, expected 2: x, most")


@test
def run_node_takes_the_version_of_the_operator_set():
    x = np.ones((2, 2, 2), np.float32)
    softmax = helper.make_node("Softmax", ["x"], ["y"])  # of all axes but the first; since version 13 of the last
    return equal(onnx_backend.run_node(softmax, [x], opset_version=12)[0], x / 4) + \
        equal(onnx_backend.run_node(softmax, [x], opset_version=13)[0], x / 2) + \
        equal(onnx_backend.run_node(softmax, [x])[0], x / 2)


@test
def run_node_takes_strings():
    text = helper.make_node("Identity", ["x"], ["y"])
    return equal(onnx_backend.run_node(text, [np.array(["a", "b"])])[0], np.array(["a", "b"], object))


@test
def sequences_are_lists():
    split = helper.make_node("SplitToSequence", ["x"], ["y"])
    insert = helper.make_node("SequenceInsert", ["s", "x"], ["y"])
    parts, more = onnx_backend.run_node(split, [A])[0], onnx_backend.run_node(insert, [[A, B], A])[0]
    return [fault for seen, wanted in ((parts, [A[:1], A[1:]]), (more, [A, B, A])) for fault in
            ([f"{seen!r}"] if len(seen) != len(wanted) else [f for a, b in zip(seen, wanted) for f in equal(a, b)])]


def main():
    tap = Tap()
    for function in tests:
        try:
            faults = function()
        except BaseException as error:  # counts as a fault of this test
            faults = [f"{type(error).__name__}: {error}"]
        tap.check(function.__name__, faults)
    known = check_suite(tap, "--reasons" in sys.argv[2:])
    check_nodes(tap, known)
    tap.end()


if __name__ == "__main__":
    main()
