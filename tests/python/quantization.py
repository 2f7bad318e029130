#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: quantization.py PACKAGE LIGHTNET. Quantized ONNX models of the Python package in the folder PACKAGE, against NumPy.

Steps are computed here from the samples and weights, and the nodes of quantized models by loops of NumPy in double precision."""
import contextlib
import io
import os
import sys
import tempfile
import warnings

sys.path[:0] = [sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../structure"),
                os.path.join(os.path.dirname(os.path.abspath(__file__)), "../onnx")]

import numpy as np
from checks import raises, run_tests, test
from tap import ROOT

import lightnet
import onnx_writer as w
from lightnet import quantization as q
from lightnet.quantization import calibrate, matmul_nbits_quantizer as nbits, quant_utils, shape_inference
from lightnet.quantization._graph import read

os.environ["LIGHTNET_COMMAND"] = os.path.abspath(sys.argv[2])
RNG = np.random.default_rng(5)
FOLDER = tempfile.TemporaryDirectory(prefix="lightnet-test-")


def path(name="model8.onnx"):
    return os.path.join(FOLDER.name, name)


def warns(function, *texts):
    """Faults unless function() warns with these texts."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    told = " ".join(str(warning.message) for warning in caught)
    return [f"'{text}' is not in the warnings: {told}" for text in texts if text not in told]


# Models

def constant(name, array):
    kinds = {"float32": "float", "int64": "int64"}
    return w.tensor(name, kinds[array.dtype.name], list(array.shape), array.ravel().tolist())


def normal(*shape, scale=1.0):
    return (RNG.standard_normal(shape) * scale).astype("f4")


CONV = {"w1": normal(8, 3, 3, 3, scale=0.3), "b1": normal(8), "gain": 1 + 0.2 * normal(8), "shift": normal(8), "mean": normal(8),
        "variance": np.abs(normal(8)) + np.float32(0.5), "w2": normal(8, 8, 1, 1, scale=0.4), "w3": normal(5, 8), "b3": normal(5)}


def conv_net(opset=17):
    """Conv, BatchNormalization, Relu, a residual sum, pools, Gemm with transB; an open batch."""
    nodes = [w.node("Conv", ["x", "w1", "b1"], ["c1"], name="conv1", pads=[1, 1, 1, 1]),
             w.node("BatchNormalization", ["c1", "gain", "shift", "mean", "variance"], ["n1"], name="norm1"),
             w.node("Relu", ["n1"], ["r1"], name="relu1"),
             w.node("MaxPool", ["r1"], ["p1"], name="pool1", kernel_shape=[2, 2], strides=[2, 2]),
             w.node("Conv", ["p1", "w2"], ["c2"], name="conv2"),
             w.node("Add", ["c2", "p1"], ["s2"], name="sum2"), w.node("Relu", ["s2"], ["r2"], name="relu2"),
             w.node("GlobalAveragePool", ["r2"], ["g"], name="mean"), w.node("Flatten", ["g"], ["f"], name="flat"),
             w.node("Gemm", ["f", "w3", "b3"], ["y"], name="dense", transB=1)]
    return w.model(w.graph(nodes, [w.value("x", "float", ["N", 3, 8, 8])], [w.value("y", "float", ["N", 5])],
                           [constant(name, array) for name, array in CONV.items()]), opset=opset)


def images(n=6, batch=2, seed=1):
    rng = np.random.default_rng(seed)
    return [{"x": rng.standard_normal((batch, 3, 8, 8)).astype("f4")} for _ in range(n)]


WORDS = {"table": normal(50, 16), "wq": normal(16, 16, scale=0.3), "wk": normal(16, 16, scale=0.3), "b": normal(16),
         "w4": normal(16, 4)}


def word_net():
    """Rows of a table, a product of two computed matrices, products by constants; an open length."""
    nodes = [w.node("Gather", ["table", "ids"], ["e"], name="embed"), w.node("MatMul", ["e", "wq"], ["q"], name="q"),
             w.node("MatMul", ["e", "wk"], ["k"], name="k"), w.node("Transpose", ["k"], ["kt"], name="turn", perm=[1, 0]),
             w.node("MatMul", ["q", "kt"], ["s"], name="scores"), w.node("Softmax", ["s"], ["p"], name="soft"),
             w.node("MatMul", ["p", "e"], ["m"], name="mix"), w.node("Add", ["m", "b"], ["mb"], name="plus"),
             w.node("MatMul", ["mb", "w4"], ["y"], name="last")]
    return w.model(w.graph(nodes, [w.value("ids", "int64", ["T"])], [w.value("y", "float", ["T", 4])],
                           [constant(name, array) for name, array in WORDS.items()]), opset=17)


def words(lengths=(3, 9, 5, 14)):
    return [{"ids": RNG.integers(0, 50, n)} for n in lengths]


# The reference: nodes in double precision

def pads_of(node, n):
    pads = node.attribute("pads", [0] * 2 * n)
    return [(pads[i], pads[n + i]) for i in range(n)]


def conv(node, x, weight, bias=None):
    x = np.pad(x, [(0, 0), (0, 0), *pads_of(node, 2)])
    kh, kw = weight.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), (2, 3))
    y = np.einsum("nchwij,ocij->nohw", windows, weight)
    return y if bias is None else y + bias.reshape(-1, 1, 1)


def max_pool(node, x):
    size, stride = node.attribute("kernel_shape", [0]), node.attribute("strides", [1, 1])
    windows = np.lib.stride_tricks.sliding_window_view(x, size, (2, 3))
    return windows[:, :, ::stride[0], ::stride[1]].max((4, 5))


def along(node, x, numbers):
    if numbers.ndim == 0:
        return numbers
    shape = [1] * x.ndim
    shape[node.attribute("axis", 1)] = -1
    return numbers.reshape(shape)


def quantize_linear(node, x, scale, zero):
    info = np.iinfo(zero.dtype)
    return np.clip(np.rint(x.astype("f4") / scale) + zero, info.min, info.max).astype(zero.dtype)


def dequantize_linear(node, x, scale, zero):
    return (x.astype("f8") - along(node, x, zero)) * along(node, x, scale)


def dynamic_quantize_linear(node, x):
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = np.float32((high - low) / 255)
    zero = np.uint8(np.clip(np.rint(-low / scale), 0, 255))
    return np.clip(np.rint(x.astype("f4") / scale) + zero, 0, 255).astype("u1"), scale, zero


def dynamic_matmul(node, a, b, scale, zero):
    numbers, source_scale, source_zero = dynamic_quantize_linear(node, a)
    return (as_integers(numbers) - source_zero) @ (as_integers(b) - zero) * (float(source_scale) * scale.astype("f8"))


def gemm(node, a, b, c=0):
    return a @ (b.T if node.attribute("transB", 0) else b) + c


def softmax(node, x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def as_integers(a):
    return a.astype("i8")


OPERATORS = {
    "Add": lambda node, a, b: a + b, "Mul": lambda node, a, b: a * b, "Relu": lambda node, x: np.maximum(x, 0),
    "Cast": lambda node, x: x.astype("f8"), "Conv": conv, "Gemm": gemm, "MatMul": lambda node, a, b: a @ b,
    "MaxPool": max_pool, "GlobalAveragePool": lambda node, x: x.mean((2, 3), keepdims=True), "Softmax": softmax,
    "Flatten": lambda node, x: x.reshape(len(x), -1), "Transpose": lambda node, x: x.transpose(node.attribute("perm", [1, 0])),
    "Gather": lambda node, x, i: x[i], "Reshape": lambda node, x, shape: x.reshape(shape),
    "Clip": lambda node, x, low, high: np.clip(x, low, high), "Identity": lambda node, x: x,
    "QuantizeLinear": quantize_linear, "DequantizeLinear": dequantize_linear, "DynamicQuantizeLinear": dynamic_quantize_linear,
    "DynamicQuantizeMatMul": lambda node, a, b, scale, zero: dynamic_matmul(node, a, b, scale, zero),
    "MatMulInteger": lambda node, a, b, za, zb: (as_integers(a) - za) @ (as_integers(b) - as_integers(zb)),
    "ConvInteger": lambda node, x, weight, zx, zw: conv(node, as_integers(x) - zx, as_integers(weight) - zw),
    "BatchNormalization": lambda node, *given: normalize(*given),
}


def normalize(x, gain, shift, mean, variance):
    gain, shift, mean, variance = (a.reshape(-1, 1, 1).astype("f8") for a in (gain, shift, mean, variance))
    return (x - mean) / np.sqrt(variance + 1e-5) * gain + shift


def run_all(model, feed):
    """All values of the graph."""
    values = {name: tensor.array() for name, tensor in model.initializers.items()}
    values.update(feed)
    for node in model.nodes:
        given = [values[name] for name in node.inputs]
        result = OPERATORS[node.op_type](node, *given)
        values.update(zip(node.outputs, result if isinstance(result, tuple) else [result]))
    return values


def nodes_of(model, op_type):
    return [node for node in model.nodes if node.op_type == op_type]


def producer(model, name):
    return next(node for node in model.nodes if name in node.outputs)


def step_at(model, tensor):
    """(scale, zero point) of the QuantizeLinear that reads a tensor."""
    found = next(node for node in nodes_of(model, "QuantizeLinear") if node.inputs[0] == tensor)
    return [model.initializers[name].array() for name in found.inputs[1:]]


def static(content, samples, **arguments):
    q.quantize_static(content, path(), samples, **arguments)
    return read(path())


def agree(model, feed, steps=1.001):
    """Faults where LightNet's outputs differ from the reference's by more steps than that of the output, or 1e-5 of it."""
    values, session = run_all(model, feed), lightnet.InferenceSession(path())
    faults = []
    for output, found in zip(session.get_outputs(), session.run(None, feed)):
        expected = values[output.name]
        before = producer(model, output.name)
        bound = steps * model.initializers[before.inputs[1]].array() if before.op_type == "DequantizeLinear" \
            else 1e-5 * np.abs(expected).max()
        error = np.abs(found - expected).max()
        if not error <= bound or found.shape != expected.shape:
            faults.append(f"{output.name}: differs by {error}, expected at most {bound}")
    return faults


def near(found, expected, what, tolerance=1e-6):
    found, expected = np.asarray(found, "f8"), np.asarray(expected, "f8")
    is_near = found.shape == expected.shape and np.allclose(found, expected, tolerance, 0)
    return [] if is_near else [f"{what}: {found} instead of {expected}"]


def float_ranges(content, samples):
    """(low, high) of each value over the samples, by the reference."""
    model, found = read(content), {}
    for sample in samples:
        for name, value in run_all(model, sample).items():
            low, high = found.get(name, (0, 0))
            found[name] = min(low, value.min()), max(high, value.max())
    return found


# Static quantization

@test
def static_models_agree_with_numpy_within_a_step():
    model = static(conv_net(), images())
    return [fault for seed in range(5) for fault in agree(model, images(1, 3, seed)[0])]


@test
def static_models_stay_near_the_floats():
    static(conv_net(), images(20), per_channel=True)
    a, b = lightnet.InferenceSession(conv_net()), lightnet.InferenceSession(path())
    feed = images(1, 64, 9)[0]
    x, y = a.run(None, feed)[0], b.run(None, feed)[0]
    error = np.linalg.norm(x - y) / np.linalg.norm(x)
    return [] if error < 0.03 else [f"relative error {error}"]


@test
def interfaces_stay_and_open_sizes():
    static(conv_net(), images())
    before, after = lightnet.InferenceSession(conv_net()), lightnet.InferenceSession(path())
    found = [str(session.get_inputs() + session.get_outputs()) for session in (before, after)]
    shapes = [after.run(None, images(1, n)[0])[0].shape for n in (1, 7)]
    return ([] if found[0] == found[1] else found) + ([] if shapes == [(1, 5), (7, 5)] else [str(shapes)])


@test
def steps_are_those_of_the_samples():
    samples = images()
    model, ranges = static(conv_net(), samples, activation_type=q.QuantType.QUInt8), float_ranges(conv_net(), samples)
    faults = []
    for name, of in {"x": "x", "r1": "r1", "c2": "c2", "r2": "r2", "g": "g", "y_QuantizeLinear_Input": "y"}.items():
        (scale, zero), (low, high) = step_at(model, name), ranges[of]
        faults += near(scale, (high - low) / 255, f"scale of {name}", 1e-5)
        faults += [] if zero.dtype == "u1" and abs(zero - -low / scale) <= 0.51 else [f"zero point of {name}: {zero}"]
    return faults + near(step_at(model, "p1")[0], step_at(model, "r1")[0], "scale of a pool")


@test
def signed_and_symmetric_steps():
    samples = images()
    low, high = float_ranges(conv_net(), samples)["x"]
    faults = []
    for arguments, scale, zero in [({}, (high - low) / 255, -128 - low / ((high - low) / 255)),
                                   ({"extra_options": {"ActivationSymmetric": True}}, 2 * max(-low, high) / 254, 0),
                                   ({"reduce_range": True}, (high - low) / 255, -128 - low / ((high - low) / 255)),
                                   ({"activation_type": q.QuantType.QUInt16}, (high - low) / 65535, -low / ((high - low) / 65535))]:
        found = step_at(static(conv_net(21), samples, **arguments), "x")
        faults += near(found[0], scale, f"scale with {arguments}", 1e-5)
        faults += [] if abs(float(found[1]) - zero) <= 0.51 else [f"zero point with {arguments}: {found[1]}, expected {zero}"]
        faults += agree(read(path()), images(1)[0])
    return faults


@test
def weights_have_scales_by_channel_or_one():
    gain = CONV["gain"] / np.sqrt(CONV["variance"] + 1e-5)
    folded = CONV["w1"] * gain.reshape(-1, 1, 1, 1)
    faults = []
    for is_per_channel in (False, True):
        model = static(conv_net(), images(), per_channel=is_per_channel)
        for name, weight, axis in [("conv1", folded, 0), ("conv2", CONV["w2"], 0), ("dense", CONV["w3"], 0)]:
            node = next(node for node in model.nodes if node.name == name)
            dequantize = producer(model, node.inputs[1])
            numbers, scale, zero = (model.initializers[i].array() for i in dequantize.inputs)
            others = tuple(i for i in range(weight.ndim) if i != axis)
            most = np.abs(weight).max(others) if is_per_channel else np.abs(weight).max()
            faults += near(scale, most / 127, f"{name}: scale", 1e-5)
            faults += [] if numbers.dtype == "i1" and not zero.any() and np.abs(numbers.astype(int)).max() == 127 else [f"{name}: numbers"]
            faults += near(np.abs(dequantize_linear(dequantize, numbers, scale, zero) - weight).max() <= scale.max() / 2 * 1.0001, True,
                           f"{name}: rounding")
    return faults


@test
def biases_are_integers_of_both_scales():
    model = static(conv_net(), images(), per_channel=True)
    node = next(node for node in model.nodes if node.name == "dense")
    source, weight, bias = (producer(model, name) for name in node.inputs)
    numbers, scale, zero = (model.initializers[i].array() for i in bias.inputs)
    product = model.initializers[source.inputs[1]].array() * model.initializers[weight.inputs[1]].array()
    return near(scale, product, "scale") + near(numbers, np.rint(CONV["b3"] / product), "numbers") + \
        ([] if numbers.dtype == "i4" and zero.dtype == "i4" else [f"types {numbers.dtype}, {zero.dtype}"])


@test
def normalizations_and_clips_are_gone_where_steps_imply_them():
    left = sorted(node.op_type for node in static(conv_net(), images()).nodes)
    kept = [node.op_type for node in static(conv_net(), images(), extra_options={"ActivationSymmetric": True}).nodes]
    asked = [node.op_type for node in static(conv_net(), images(), extra_options={"QDQKeepRemovableActivations": True}).nodes]
    return ([] if "BatchNormalization" not in left and "Relu" not in left else [str(left)]) + \
        [str(names) for names in (kept, asked) if names.count("Relu") != 2]


@test
def a_clip_above_zero_stays():
    nodes = [w.node("MatMul", ["x", "m"], ["a"]), w.node("Clip", ["a", "low", "high"], ["y"])]
    consts = [constant("m", normal(4, 4)), w.tensor("low", "float", [], [0.5]), w.tensor("high", "float", [], [6.0])]
    content = w.model(w.graph(nodes, [w.value("x", "float", ["n", 4])], [w.value("y", "float", ["n", 4])], consts), opset=17)
    samples = [{"x": normal(5, 4)} for _ in range(4)]
    model = static(content, samples)
    return ([] if nodes_of(model, "Clip") else ["Clip is gone"]) + agree(model, samples[0])


@test
def nodes_and_types_are_selected():
    def quantized(**arguments):
        model = static(conv_net(), images(), **arguments)
        return {node.name for node in nodes_of(model, "Conv") + nodes_of(model, "Gemm") if node.inputs[1] not in model.initializers}
    faults = []
    for arguments, expected in [({}, {"conv1", "conv2", "dense"}), ({"nodes_to_exclude": ["conv2", "sum2"]}, {"conv1", "dense"}),
                                ({"nodes_to_quantize": ["dense"]}, {"dense"}), ({"op_types_to_quantize": ["Conv"]}, {"conv1", "conv2"})]:
        found = quantized(**arguments)
        faults += [] if found == expected else [f"{arguments}: {found}"]
        faults += agree(read(path()), images(1)[0])
    return faults


@test
def extra_options_have_effect():
    model = static(conv_net(), images(), extra_options={"OpTypesToExcludeOutputQuantization": ["Gemm"]})
    faults = [] if producer(model, "y").op_type == "Gemm" else ["the output of Gemm is quantized"]
    model = static(conv_net(), images(), extra_options={"TensorQuantOverrides": {"x": [{"rmin": -9.0, "rmax": 9.0}]}})
    faults += near(step_at(model, "x")[0], 18 / 255, "overridden scale", 1e-6)
    model = static(conv_net(), images(), extra_options={"QuantizeBias": False})
    faults += [] if "b3" in next(node for node in model.nodes if node.name == "dense").inputs else ["the bias is quantized"]
    model = static(conv_net(), images(), extra_options={"UseQDQContribOps": True})
    faults += [] if all(node.domain == "com.microsoft" for node in nodes_of(model, "QuantizeLinear")) else ["domain"]
    faults += agree(model, images(1)[0])
    return faults + warns(lambda: static(conv_net(), images(), extra_options={"Sharpness": 3}), "Sharpness", "no effect")


@test
def overrides_hold_for_weights_and_between_operators():
    def overridden(name, **members):
        return static(conv_net(), images(), extra_options={"TensorQuantOverrides": {name: [members]}})
    def weight_step(model):
        found = producer(model, next(node for node in model.nodes if node.name == "dense").inputs[1])
        return [model.initializers[name].array() for name in found.inputs[1:]]
    faults = near(weight_step(overridden("w3", scale=0.05, zero_point=3)), [0.05, 3], "scale and zero point")
    faults += near(weight_step(overridden("w3", rmin=-8.0, rmax=4.0))[0], 8 / 127, "bounds")
    model = overridden("s2", scale=0.25, zero_point=-7)
    faults += near(step_at(model, "s2"), [0.25, -7], "the sum before relu2")
    faults += agree(model, images(1)[0]) + ([] if nodes_of(model, "Relu") else ["relu2 is gone, and the override with it"])
    wrong = lightnet.InvalidArgument
    for members, *texts in (({"scale": -1.0}, "'x'", "-1.0"), ({"scale": float("nan")}, "nan"), ({"scale": 1.0, "zero_point": 300}, "300", "127"),
                            ({"scale": [1.0, 2.0]}, "positive")):
        faults += raises(wrong, lambda: overridden("x", **members), *texts)  # pylint: disable=cell-var-from-loop
    for value in ([], [3], [{}, {}], 5):
        faults += raises(wrong, lambda: static(conv_net(), images(), extra_options={"TensorQuantOverrides": {"x": value}}), "'x'", "list of one dict")  # pylint: disable=cell-var-from-loop
    return faults + raises(wrong, lambda: static(conv_net(), images(), per_channel=True,
                                                 extra_options={"TensorQuantOverrides": {"w3": [{"scale": 1.0}]}}), "'w3'", "per_channel")


@test
def lengths_of_samples_may_differ():
    model = static(word_net(), words())
    faults = [fault for n in (1, 2, 30) for fault in agree(model, {"ids": RNG.integers(0, 50, n)}, 2.001)]
    only = static(word_net(), words(), extra_options={"MatMulConstBOnly": True})
    scores = next(node for node in only.nodes if node.name == "scores")
    return faults + ([] if lightnet.Model(path()).inputs[0].shape == ["T"] else ["the length is not open"]) + \
        ([] if scores.outputs[0] in ("s", "s_QuantizeLinear_Input") else [str(scores.outputs)])


@test
def outputs_keep_their_names_and_subgraphs_their_floats():
    branch = [w.graph([w.node(op, ["a"], [f"out_{op}"])], [], [w.value(f"out_{op}", "float", ["n", 4])]) for op in ("Neg", "Abs")]
    nodes = [w.node("MatMul", ["x", "m"], ["a"], name="first"), w.node("MatMul", ["a", "m"], ["b"], name="second"),
             w.node("If", ["flag"], ["c"], then_branch=branch[0], else_branch=branch[1])]
    content = w.model(w.graph(nodes, [w.value("x", "float", ["n", 4]), w.value("flag", "bool", [])],
                              [w.value(name, "float", ["n", 4]) for name in "abc"], [constant("m", normal(4, 4))]), opset=17)
    samples = [{"x": normal(3, 4), "flag": np.array(i % 2 == 0)} for i in range(4)]
    static(content, samples)
    session, floats = lightnet.InferenceSession(path()), lightnet.InferenceSession(content)
    a, b, c = session.run(None, samples[0])
    expected = floats.run(None, samples[0])
    faults = [] if [output.name for output in session.get_outputs()] == ["a", "b", "c"] else ["names"]
    return faults + [f"{name}: {found - one}" for name, found, one in zip("abc", (a, b, c), expected)
                     if np.abs(found - one).max() > 0.05 * np.abs(one).max()] + near(c, -a, "the branch")


@test
def digits_are_recognized_in_8_bits():
    model, faults = os.path.join(ROOT, "examples/digits/digits.onnx"), []
    floats = lightnet.InferenceSession(model)
    samples = [{"image": (RNG.random((1, 1, 28, 28)) * i / 8).astype("f4")} for i in range(1, 9)]
    for name in ("two", "four", "seven", "eight"):
        with open(os.path.join(ROOT, f"examples/digits/{name}.pgm"), "rb") as file:
            data = file.read()
        samples.append({"image": np.frombuffer(data[-784:], "u1").reshape(1, 1, 28, 28).astype("f4") / 255})
    for arguments in [{}, {"per_channel": True, "activation_type": q.QuantType.QUInt8}, {"calibrate_method": q.CalibrationMethod.Percentile},
                      {"calibrate_method": q.CalibrationMethod.Entropy}]:
        static(model, samples, **arguments)
        session = lightnet.InferenceSession(path())
        faults += [f"{arguments}: {found.argmax()} instead of {one.argmax()}" for sample in samples[-4:]
                   for found, one in [(session.run(None, sample)[0], floats.run(None, sample)[0])] if found.argmax() != one.argmax()]
    return faults


# Dynamic quantization

def dynamic(content, **arguments):
    q.quantize_dynamic(content, path(), **arguments)
    return read(path())


@test
def dynamic_models_agree_with_numpy():
    faults = []
    for arguments in [{}, {"per_channel": True}, {"weight_type": q.QuantType.QUInt8}, {"reduce_range": True},
                      {"extra_options": {"WeightSymmetric": False}}]:
        model = dynamic(word_net(), **arguments)
        left = [node.name for node in nodes_of(model, "MatMul")]
        faults += [] if left == ["scores", "mix"] else [f"{arguments}: {left} are left"]
        faults += [f"{arguments}: {fault}" for feed in words((1, 12)) for fault in agree(model, feed)]
        model = dynamic(conv_net(), **arguments)
        faults += [] if not nodes_of(model, "Conv") + nodes_of(model, "Gemm") else [f"{arguments}: Conv or Gemm are left"]
        faults += [f"{arguments}: {fault}" for feed in images(2) for fault in agree(model, feed)]
    return faults


@test
def dynamic_operators_are_selected():
    model = dynamic(word_net(), op_types_to_quantize=["MatMul"], nodes_to_exclude=["last"])
    found = [len(nodes_of(model, name)) for name in ("MatMulInteger", "MatMul", "DequantizeLinear")]
    shared = len(nodes_of(model, "DynamicQuantizeLinear"))
    return ([] if found == [2, 3, 0] and shared == 1 else [f"{found}, {shared}"]) + \
        raises(lightnet.InvalidArgument, lambda: dynamic(word_net(), op_types_to_quantize=["Softmax"]), "Softmax", "Gather")


# The quantizer of the engine

@test
def the_quantizer_writes_onnx_with_open_sizes():
    faults = []
    for content, samples in [(conv_net(), images(4) + images(2, 5)), (word_net(), words((4, 9, 4, 30)))]:
        report = lightnet.quantize(content, path(), samples, any_speed=True, max_error=0.1, seconds=0.01)
        faults += [] if report.n_quantized == 3 else [repr(report)]
        session, floats, model = lightnet.InferenceSession(path()), lightnet.InferenceSession(content), read(path())
        faults += [] if str(session.get_inputs()) == str(floats.get_inputs()) else [str(session.get_inputs())]
        faults += [] if len(nodes_of(model, "QuantizeLinear")) >= 2 else ["no QuantizeLinear"]
        for sample in samples:
            a, b = session.run(None, sample)[0], floats.run(None, sample)[0]
            error = np.linalg.norm(a - b) / np.linalg.norm(b)
            faults += [] if error < 0.05 else [f"error {error}"]
    return faults


@test
def ranges_are_those_of_samples_of_all_lengths():
    m = w.model(w.graph([w.node("MatMul", ["x", "m"], ["y"])], [w.value("x", "float", ["n", 4])], [w.value("y", "float", ["n", 4])],
                        [constant("m", normal(4, 4))]), opset=17)
    small, large = {"x": np.full((2, 4), 0.5, "f4")}, {"x": np.full((3, 4), 8, "f4")}
    faults = []
    for samples in ([small, large, small], [large, small]):
        lightnet.quantize(m, path(), samples, any_speed=True, max_error=1, seconds=0.01)
        model = read(path())
        scale = model.initializers[nodes_of(model, "QuantizeLinear")[0].inputs[1]].array()
        faults += near(scale, np.float32(8) / 255 if scale.ndim == 0 else [np.float32(8) / 255], "scale")
    return faults


# Calibration

@test
def percentiles_and_entropy_clip_outliers():
    x = w.model(w.graph([w.node("Identity", ["x"], ["y"])], [w.value("x", "float", ["n"])], [w.value("y", "float", ["n"])]), opset=17)
    values = np.concatenate([normal(100000), np.float32([60])])
    faults = []
    for method, options, bound in [(q.CalibrationMethod.MinMax, {}, 60), (q.CalibrationMethod.Percentile, {"percentile": 99.9}, None),
                                   (q.CalibrationMethod.Entropy, {}, None)]:
        made = q.create_calibrator(x, calibrate_method=method, extra_options=options)
        made.collect_data([{"x": part} for part in np.array_split(values, 7)])
        low, high = made.compute_data()["x"].range_value
        if method is q.CalibrationMethod.MinMax:
            faults += near([low, high], [values.min(), 60], "minmax")
        elif method is q.CalibrationMethod.Percentile:
            faults += near([low, high], np.quantile(values, [0.0005, 0.9995]), "percentile", 0.05)
        else:
            faults += [] if -5 <= low <= -2.5 and 2.5 <= high <= 8 else [f"entropy: {low}, {high}"]
    return faults


@test
def moving_averages_and_symmetric_ranges():
    x = w.model(w.graph([w.node("Identity", ["x"], ["y"])], [w.value("x", "float", [2])], [w.value("y", "float", [2])]), opset=17)
    def found(**options):
        made = calibrate.MinMaxCalibrater(x, **options)
        made.collect_data([{"x": np.float32([-1, 2])}, {"x": np.float32([-5, 4])}])
        return made.compute_data()["x"].range_value
    return near(found(), [-5, 4], "range") + near(found(symmetric=True), [-5, 5], "symmetric range") + \
        near(found(moving_average=True, averaging_constant=0.25), [-2, 2.5], "moving average")


@test
def values_that_are_not_finite_are_refused_in_any_sample():
    faults = []
    for value in (np.nan, np.inf, -np.inf):
        bad = {"x": np.full((2, 3, 8, 8), 0.5, "f4")}
        bad["x"][1, 2, 3, 4] = value
        for method in (q.CalibrationMethod.MinMax, q.CalibrationMethod.Percentile, q.CalibrationMethod.Entropy):
            for samples in ([bad], [images(1)[0], bad, images(1)[0]]):
                faults += raises(lightnet.InvalidArgument, lambda: static(conv_net(), samples, calibrate_method=method),  # pylint: disable=cell-var-from-loop
                                 "'x'", "not finite", "nodes_to_exclude")
    mask = w.model(w.graph([w.node("MatMul", ["x", "m"], ["a"]), w.node("Add", ["a", "mask"], ["y"])], [w.value("x", "float", ["n", 4])],
                           [w.value("y", "float", ["n", 4])], [constant("m", normal(4, 4)), constant("mask", np.array([0, -np.inf, 0, 0], "f4"))]), opset=17)
    return faults + raises(lightnet.InvalidArgument, lambda: static(mask, [{"x": normal(1, 4)}]), "'mask'", "not finite", "nodes_to_exclude")


@test
def options_of_another_calibration_warn():
    method = q.CalibrationMethod.Percentile
    return warns(lambda: static(conv_net(), images(), calibrate_method=method, extra_options={"CalibMovingAverage": True}),
                 "CalibMovingAverage has no effect") + \
        warns(lambda: static(conv_net(), images(), extra_options={"CalibPercentile": 99.0}), "CalibPercentile has no effect") + \
        raises(lightnet.InvalidArgument, lambda: calibrate.create_calibrator(conv_net(), extra_options={"percentile": 9}), "'percentile'")


@test
def sparse_constants_stay():
    dense = np.zeros((4, 4), "f4")
    dense[0, 1], dense[2, 3] = 2, -3
    values, indices = constant("k", np.array([2, -3], "f4")), constant("", np.array([1, 11]))
    graph = w.Graph(w.graph([w.node("MatMul", ["x", "m"], ["a"]), w.node("MatMul", ["a", "k"], ["y"])], [w.value("x", "float", ["n", 4])],
                            [w.value("y", "float", ["n", 4])], [constant("m", normal(4, 4))]) +
                    w.field(15, w.field(1, values) + w.field(2, indices) + w.repeated(3, [4, 4])))
    feed = {"x": normal(3, 4)}
    model, (wanted,) = static(w.model(graph, opset=17), [feed]), lightnet.InferenceSession(w.model(graph, opset=17)).run(None, feed)
    found, = lightnet.InferenceSession(path()).run(None, feed)
    faults = [] if np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max() else [f"{found}, expected {wanted}"]
    return faults + ([] if nodes_of(model, "MatMul")[1].inputs[1] == "k" else ["the sparse constant is quantized"])


@test
def samples_may_be_lists_of_numbers():
    samples = [{"x": 3 * sample["x"]} for sample in images(2)]
    models = [static(conv_net(), given) for given in (samples, [{"x": sample["x"].tolist()} for sample in samples])]
    return [] if models[0].message() == models[1].message() else ["models from arrays and from lists differ"]


@test
def readers_of_data_are_classes_with_get_next():
    class Reader(q.CalibrationDataReader):
        def __init__(self):
            self.samples = iter(images())

        def get_next(self):
            return next(self.samples, None)
    a = static(conv_net(), Reader()).message()
    config = q.StaticQuantConfig(Reader())
    q.quantize(conv_net(), path(), config)
    b = read(path()).message()
    q.quantize(word_net(), path(), q.DynamicQuantConfig(weight_type=q.QuantType.QUInt8))
    return ([] if a == b else ["quantize differs from quantize_static"]) + \
        ([] if nodes_of(read(path()), "MatMulInteger") else ["DynamicQuantConfig"])


# Weights of few bits

def unpacked(rows, bits):
    """The numbers of bytes, the lowest bits first."""
    return np.array([[byte >> shift & 2 ** bits - 1 for byte in row for shift in range(0, 8, bits)] for row in rows], "i8")


@test
def weights_of_few_bits_are_those_of_their_blocks():
    faults = []
    for bits, block, is_symmetric, k, n in [(4, 32, True, 64, 5), (4, 16, False, 50, 7), (8, 32, False, 40, 3), (2, 16, True, 33, 4),
                                            (4, 128, False, 100, 6), (8, 16, True, 16, 9)]:
        weight = normal(k, n)
        content = w.model(w.graph([w.node("MatMul", ["x", "m"], ["y"], name="product")], [w.value("x", "float", ["T", k])],
                                  [w.value("y", "float", ["T", n])], [constant("m", weight)]), opset=17)
        quantizer = nbits.MatMulNBitsQuantizer(content, block_size=block, is_symmetric=is_symmetric, bits=bits)
        quantizer.process()
        quantizer.model.save_model_to_file(path())
        model = read(path())
        node, = nodes_of(model, "MatMulNBits")
        arrays = [model.initializers[name].array() for name in node.inputs[1:]]
        count = -(-k // block)
        numbers = unpacked(arrays[0].reshape(n, -1), bits).reshape(n, count, block)
        zeros = np.full((n, count), 2 ** (bits - 1)) if is_symmetric else unpacked(arrays[2], bits)[:, :count]
        scales = arrays[1].reshape(n, count)
        restored = ((numbers - zeros[:, :, None]) * scales[:, :, None].astype("f8")).reshape(n, -1)[:, :k].T
        bound = np.repeat(np.abs(scales), block, 1)[:, :k].T  # half a step, but for the extreme opposite to a symmetric block's
        what = f"{bits} bits, blocks of {block}"
        faults += [] if (np.abs(restored - weight) <= bound * (1 if is_symmetric else 0.501)).all() else [f"{what}: weights"]
        faults += [] if len(arrays) == (2 if is_symmetric else 3) else [f"{what}: {len(arrays)} arrays"]
        x = normal(3, k)
        found, = lightnet.InferenceSession(path()).run(None, {"x": x})
        error = np.abs(found - x @ restored).max() / np.abs(found).max()
        faults += [] if error < 1e-5 else [f"{what}: result differs by {error}"]
    return faults + raises(lightnet.InvalidArgument, lambda: nbits.MatMulNBitsQuantizer(content, bits=3), "3") + \
        raises(lightnet.InvalidArgument, lambda: nbits.MatMulNBitsQuantizer(content, block_size=24), "24") + \
        raises(lightnet.NotImplemented, lambda: nbits.MatMulNBitsQuantizer(content, quant_format=q.QuantFormat.QDQ), "QOperator")


@test
def products_of_few_bits_are_selected():
    from lightnet.quantization.matmul_4bits_quantizer import MatMul4BitsQuantizer
    quantizer = MatMul4BitsQuantizer(quant_utils.load_model_with_shape_infer(word_net()), 16, True, nodes_to_exclude=["last"])
    quantizer.process()
    found = [node.op_type for node in quantizer.model._model.nodes]
    faults = [] if (found.count("MatMulNBits"), found.count("MatMul")) == (2, 3) else [str(found)]
    for name in ("nodes_to_exclude", "nodes_to_include", "op_types_to_quantize"):
        faults += raises(lightnet.InvalidArgument, lambda: MatMul4BitsQuantizer(word_net(), 16, **{name: "last"}), name, "'last'", "list")  # pylint: disable=cell-var-from-loop
    MatMul4BitsQuantizer(word_net(), 16, quant_axes=(("MatMul", 0), ("Gather", 1)))
    return faults + raises(lightnet.NotImplemented, lambda: MatMul4BitsQuantizer(word_net(), 16, quant_axes=(("MatMul", 1),)), "axis 1")


# Files

@test
def external_data_is_read_and_written():
    big = normal(300, 300)
    content = w.model(w.graph([w.node("MatMul", ["x", "m"], ["y"])], [w.value("x", "float", ["n", 300])],
                              [w.value("y", "float", ["n", 300])], [constant("m", big)]), opset=17)
    model = read(content)
    model.write(path("big.onnx"), True)
    faults = [] if os.path.getsize(path("big.onnx.data")) == 360000 and os.path.getsize(path("big.onnx")) < 1000 else ["sizes"]
    feed = {"x": normal(3, 300)}
    q.quantize_static(path("big.onnx"), path(), [feed], use_external_data_format=True)
    faults += [] if os.path.getsize(path("model8.onnx.data")) == 90000 else ["sizes of the quantized model"]
    found, = lightnet.InferenceSession(path()).run(None, feed)
    error = np.abs(found - feed["x"] @ big).max() / np.abs(found).max()
    q.quantize_static(path("big.onnx"), path("inline.onnx"), [feed])
    again, = lightnet.InferenceSession(path("inline.onnx")).run(None, feed)
    return faults + ([] if error < 0.05 else [f"error {error}"]) + near(found, again, "with data in the file")


@test
def models_replace_themselves_with_external_data():
    weights = {"m": normal(32, 32), "v": normal(32, 32)}
    nodes = [w.node("MatMul", ["x", "m"], ["y"], name="first"), w.node("MatMul", ["x", "v"], ["z"], name="second")]
    content = w.model(w.graph(nodes, [w.value("x", "float", ["n", 32])], [w.value(name, "float", ["n", 32]) for name in "yz"],
                              [constant(name, array) for name, array in weights.items()]), opset=17)
    model = read(content)
    for _ in range(2):  # the second time from the data of the first
        model.write(path("self.onnx"), True)
    os.chmod(path("self.onnx"), 0o600)
    q.quantize_dynamic(path("self.onnx"), path("self.onnx"), nodes_to_exclude=["second"], use_external_data_format=True)
    written = read(path("self.onnx"))
    faults = [] if [n.op_type for n in written.nodes if n.op_type.startswith("MatMul")] == ["MatMulInteger", "MatMul"] else ["nodes"]
    faults += [] if np.array_equal(written.initializers["v"].array(), weights["v"]) else ["'v' changed"]
    faults += [] if os.stat(path("self.onnx")).st_mode & 0o777 == 0o600 else ["the mode changed"]
    faults += raises(FileNotFoundError, lambda: written.write(path("none/model.onnx"), True), "none/model.onnx")
    written.initializers["v"].content = b"\x09"  # a number that has no end
    faults += raises(lightnet.InvalidGraph, lambda: written.write(path("self.onnx"), True), "truncated")
    faults += [] if np.array_equal(read(path("self.onnx")).initializers["v"].array(), weights["v"]) else ["a failure changed the file"]
    return faults + [name for name in os.listdir(FOLDER.name) if name.startswith(".lightnet")]


@test
def links_and_pipes_stay():
    os.makedirs(path("real"), exist_ok=True)
    os.symlink("real/model.onnx", path("linked.onnx"))
    q.quantize_dynamic(conv_net(), path("linked.onnx"))
    faults = [] if os.path.islink(path("linked.onnx")) and read(path("real/model.onnx")).nodes else ["the link is replaced"]
    os.mkfifo(path("pipe.onnx"))
    end = os.open(path("pipe.onnx"), os.O_RDWR)
    try:
        q.quantize_dynamic(conv_net(), path("pipe.onnx"))
        received = os.read(end, 1 << 16)
    finally:
        os.close(end)
    with open(path("linked.onnx"), "rb") as file:
        return faults + ([] if received == file.read() else [f"{len(received)} bytes in the pipe differ"])


@test
def external_data_of_all_types_and_sizes_is_inlined():
    entries = [w.field(13, w.field(1, key) + w.field(2, value)) for key, value in (("location", "bits"), ("length", "8"))]
    bits = w.Tensor(w.field(1, 4) + w.field(2, 16) + w.field(8, "c") + b"".join(entries) + w.field(14, 1))  # bfloat16
    nodes = [w.node("Cast", ["c"], ["f"], to=1), w.node("MatMul", ["x", "m"], ["a"]), w.node("Add", ["a", "f"], ["y"])]
    content = w.model(w.graph(nodes, [w.value("x", "float", ["n", 4])], [w.value("y", "float", ["n", 4])],
                              [bits, constant("m", normal(4, 4))]), opset=17)
    for name, data in (("bits.onnx", content), ("bits", np.array([0x3F80] * 4, "<u2").tobytes())):
        with open(path(name), "wb") as file:
            file.write(data)
    os.makedirs(path("elsewhere"), exist_ok=True)
    feed, faults = {"x": normal(2, 4)}, []
    wanted, = lightnet.InferenceSession(path("bits.onnx")).run(None, feed)
    for has_data in (False, True):
        q.quantize_dynamic(path("bits.onnx"), path("elsewhere/bits8.onnx"), use_external_data_format=has_data)
        found, = lightnet.InferenceSession(path("elsewhere/bits8.onnx")).run(None, feed)
        faults += [] if np.abs(found - wanted).max() < 0.1 else [f"differs by {np.abs(found - wanted).max()}"]
    return faults


@test
def external_data_of_subgraphs_and_attributes_is_inlined():
    entries = [w.field(13, w.field(1, key) + w.field(2, value)) for key, value in (("location", "inner.bin"), ("length", "16"))]
    inner = w.Tensor(w.field(1, 4) + w.field(2, 1) + w.field(8, "k") + b"".join(entries) + w.field(14, 1))
    added = w.graph([w.node("Add", ["x", "k"], ["o"])], [], [w.value("o", "float", None)], [inner])
    same = w.graph([w.node("Identity", ["x"], ["o"])], [], [w.value("o", "float", None)])
    nodes = [w.node("MatMul", ["x", "m"], ["a"]), w.node("If", ["c"], ["i"], then_branch=added, else_branch=same),
             w.node("Constant", [], ["k2"], value=inner), w.node("Add", ["a", "i"], ["b"]), w.node("Add", ["b", "k2"], ["y"])]
    content = w.model(w.graph(nodes, [w.value("x", "float", ["n", 4]), w.value("c", "bool", [])], [w.value("y", "float", ["n", 4])],
                              [constant("m", normal(4, 4))]), opset=17)
    for name, data in (("inner.onnx", content), ("inner.bin", np.array([1, 2, 3, 4], "<f4").tobytes())):
        with open(path(name), "wb") as file:
            file.write(data)
    os.makedirs(path("inside"), exist_ok=True)
    feed, faults = {"x": normal(2, 4), "c": np.array(True)}, []
    wanted, = lightnet.InferenceSession(path("inner.onnx")).run(None, feed)
    for quantize in (lambda *files: q.quantize_static(*files, [feed]), q.quantize_dynamic):
        quantize(path("inner.onnx"), path("inside/inner8.onnx"))
        found, = lightnet.InferenceSession(path("inside/inner8.onnx")).run(None, feed)
        faults += [] if np.abs(found - wanted).max() < 0.2 else [f"differs by {np.abs(found - wanted).max()}"]
    return faults


@test
def external_data_outside_the_folder_is_refused():
    faults = []
    for name, target in (("link", "/etc/passwd"), ("short", None)):
        if target:
            os.symlink(target, path(name))
        else:
            with open(path(name), "wb") as file:
                file.write(bytes(9))
    os.mkfifo(path("pipe"))
    wrong = lightnet.InvalidGraph
    for location, length, kind, text in (
            ("../secret", "16", wrong, "folder of the model"), ("/etc/passwd", "16", wrong, "folder of the model"),
            ("a/../../b", "16", wrong, "folder of the model"), ("link", "16", wrong, "folder of the model"),
            ("", "16", wrong, "folder of the model"), ("a\0b", "16", wrong, "folder of the model"),
            ("none", "16", lightnet.NoSuchFile, "no such file"), ("pipe", "16", lightnet.NoSuchFile, "no such file"),
            ("short", "16", wrong, "which has 9"), ("short", "9" * 16, wrong, "which has 9"), ("short", "9" * 30, wrong, "which has 9"),
            ("short", "-1", wrong, "which has 9"), ("short", "many", wrong, "'many'")):
        entries = [w.field(13, w.field(1, key) + w.field(2, value)) for key, value in (("location", location), ("length", length))]
        tensor = w.Tensor(w.repeated(1, [2, 2]) + w.field(2, 1) + w.field(8, "m") + b"".join(entries) + w.field(14, 1))
        content = w.model(w.graph([w.node("MatMul", ["x", "m"], ["y"])], [w.value("x", "float", ["n", 2])],
                                  [w.value("y", "float", ["n", 2])], [tensor]), opset=17)
        with open(path("outside.onnx"), "wb") as file:
            file.write(content)
        faults += raises(kind, lambda: q.quantize_dynamic(path("outside.onnx"), path()), text, location)  # pylint: disable=cell-var-from-loop
    return faults + raises(lightnet.InvalidGraph, lambda: q.quantize_dynamic(content, path()), "'m'", "'short'")


@test
def older_operator_sets_have_nodes_of_com_microsoft():
    faults, samples = [], [{"x": normal(3, 4)} for _ in range(4)]
    for opset, arguments in [(7, {}), (9, {"per_channel": True}), (12, {"per_channel": True}), (12, {})]:
        old = w.model(w.graph([w.node("MatMul", ["x", "m"], ["a"]), w.node("Relu", ["a"], ["r"]), w.node("Gemm", ["r", "m", "c"], ["y"], transB=1)],
                              [w.value("x", "float", ["n", 4])], [w.value("y", "float", ["n", 4])],
                              [constant("m", normal(4, 4)), constant("c", normal(4))]), opset=opset)
        model = static(old, samples, **arguments)
        domains = {node.domain for node in nodes_of(model, "QuantizeLinear")}
        faults += [] if domains == ({"com.microsoft"} if opset < 10 or arguments else {""}) else [f"{opset}: {domains}"]
        faults += [f"{opset}: {fault}" for fault in agree(model, samples[0])]
        faults += [] if lightnet.Model(path()).inputs[0].shape == ["n", 4] else ["the size is not open"]
        dynamic(old)
        found, expected = (lightnet.InferenceSession(given).run(None, samples[0])[0] for given in (path(), old))
        error = np.abs(found - expected).max() / np.abs(expected).max()
        faults += [] if error < 0.06 else [f"{opset}, dynamic: error {error}"]
    return faults


@test
def a_square_weight_is_read_as_it_is_and_transposed():
    faults = []
    for arguments in ({}, {"per_channel": True}):
        content = w.model(w.graph([w.node("MatMul", ["x", "m"], ["h"]), w.node("Gemm", ["h", "m"], ["g"], transB=1),
                                   w.node("Gather", ["m", "i"], ["t"]), w.node("Add", ["g", "t"], ["y"])],
                                  [w.value("x", "float", ["n", 6]), w.value("i", "int64", ["n"])], [w.value("y", "float", ["n", 6])],
                                  [constant("m", normal(6, 6))]), opset=17)
        faults += agree(dynamic(content, **arguments), {"x": normal(3, 6), "i": np.array([5, 0, 2])})
    return faults


@test
def clips_stay_where_a_step_has_more_values():
    faults = []
    for options in ({"reduce_range": True}, {"extra_options": {"CalibTensorRangeSymmetric": True}},
                    {"extra_options": {"TensorQuantOverrides": {"r1": [{"rmin": -12.0, "rmax": 12.0}]}}}):
        model = static(conv_net(), images(), **options)
        session, feed = lightnet.InferenceSession(path()), images(1, 16, 3)[0]
        found, expected = session.run(None, feed)[0], lightnet.InferenceSession(conv_net()).run(None, feed)[0]
        error = np.linalg.norm(found - expected) / np.linalg.norm(expected)
        faults += [f"{options}: {fault}" for fault in agree(model, feed)] + ([] if error < 0.08 else [f"{options}: error {error}"])
    return faults


@test
def biases_of_channels_that_are_nearly_0_are_kept():
    weights = dict(CONV, gain=CONV["gain"] * np.float32([1, 1, 1e-7, 1, 1, 1e-9, 1, 1]))
    content = w.model(w.graph([w.node("Conv", ["x", "w1", "b1"], ["c"], pads=[1, 1, 1, 1]),
                               w.node("BatchNormalization", ["c", "gain", "shift", "mean", "variance"], ["y"])],
                              [w.value("x", "float", ["N", 3, 8, 8])], [w.value("y", "float", ["N", 8, 8, 8])],
                              [constant(name, weights[name]) for name in ("w1", "b1", "gain", "shift", "mean", "variance")]), opset=17)
    faults = []
    for is_per_channel in (True, False):
        model = static(content, images(), per_channel=is_per_channel)
        bias = producer(model, nodes_of(model, "Conv")[0].inputs[2])
        faults += [] if bias.op_type == "DequantizeLinear" else ["the bias is not quantized"]
        values = dequantize_linear(bias, *(model.initializers[name].array() for name in bias.inputs))
        expected = (CONV["b1"] - CONV["mean"]) * weights["gain"] / np.sqrt(CONV["variance"] + 1e-5) + CONV["shift"]
        faults += [] if np.abs(values - expected).max() < 1e-3 else [f"biases {values} instead of {expected}"]
    return faults


@test
def constants_of_old_formats_are_inputs_too():
    model = read(conv_net())
    values = b"".join(w.field(11, w.value(name, "float", list(array.shape))) for name, array in CONV.items())
    model._graph.append(("", values))
    model.ir_version = 3
    old = model.message()
    made = static(old, images())
    faults = [] if made.ir_version == 4 and made.inputs == ["x"] and not nodes_of(made, "BatchNormalization") else [str(made.inputs)]
    model.ir_version = 8  # callers may set them
    told = warns(lambda: static(model.message(), images()), "weights that are inputs", "w1")
    return faults + agree(static(old, images()), images(1)[0]) + told


@test
def modules_are_commands():
    from lightnet.quantization import matmul_4bits_quantizer, preprocess
    with open(path("net.onnx"), "wb") as file:
        file.write(conv_net())
    with open(path("words.onnx"), "wb") as file:
        file.write(word_net())
    preprocess.main(["--input", path("net.onnx"), "--output", path("ready.onnx")])
    matmul_4bits_quantizer.main(["--input_model", path("words.onnx"), "--output_model", path("words4.onnx"), "--block_size", "16"])
    faults = [] if not nodes_of(read(path("ready.onnx")), "BatchNormalization") else ["a normalization is left"]
    faults += [] if len(nodes_of(read(path("words4.onnx")), "MatMulNBits")) == 3 else ["matrices are left"]
    few_bits = ["--input_model", path("words.onnx"), "--output_model", path("words4.onnx"), "--symmetric"]
    matmul_4bits_quantizer.main([*few_bits, "0"])
    faults += [] if len(nodes_of(read(path("words4.onnx")), "MatMulNBits")[0].inputs) == 4 else ["symmetric"]
    for main, arguments, *texts in ((preprocess.main, ["--input", path("none.onnx"), "--output", path("x.onnx")], "none.onnx: no such file"),
                                    (preprocess.main, ["--input", path("net.onnx"), "--output", path("none/x.onnx")], "none/x.onnx"),
                                    (preprocess.main, ["--input", "a", "--output", "b", "--skip_optimization", "yes"], "neither true nor false"),
                                    (matmul_4bits_quantizer.main, [*few_bits[:-1], "--block_size", "3"], "block_size is 3")):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            faults += raises(SystemExit, lambda: main(arguments))  # pylint: disable=cell-var-from-loop
        faults += [f"'{text}' is not in: {errors.getvalue()}" for text in texts if text not in errors.getvalue()]
    return faults


@test
def preprocessing_folds_and_keeps_results():
    shape_inference.quant_pre_process(conv_net(), path("ready.onnx"))
    ready, feed = read(path("ready.onnx")), images(1)[0]
    a, b = (lightnet.InferenceSession(model).run(None, feed)[0] for model in (conv_net(), path("ready.onnx")))
    told = warns(lambda: shape_inference.quant_pre_process(conv_net(), path("ready.onnx"), save_as_externl_data=True), "save_as_externl_data")
    return told + ([] if not nodes_of(ready, "BatchNormalization") else ["a normalization is left"]) + \
        ([] if np.abs(a - b).max() < 1e-5 * np.abs(a).max() else [f"results differ by {np.abs(a - b).max()}"])


@test
def normalizations_of_batches_stay():
    nodes = [w.node("Conv", ["x", "w1", "b1"], ["c"]), w.node("BatchNormalization", ["c", "gain", "shift", "mean", "variance"], ["y"], training_mode=1)]
    content = w.model(w.graph(nodes, [w.value("x", "float", ["N", 3, 8, 8])], [w.value("y", "float", ["N", 8, 6, 6])],
                              [constant(name, CONV[name]) for name in ("w1", "b1", "gain", "shift", "mean", "variance")]), opset=17)
    faults = [] if nodes_of(dynamic(content), "BatchNormalization") else ["statistics of a batch are folded as constants"]
    nodes[1] = w.node("BatchNormalization", ["c", "gain", "shift", "mean", "variance"], ["y"])
    content = w.model(w.graph(nodes, [w.value("x", "float", ["N", 3, 8, 8])], [w.value("y", "float", ["N", 8, 6, 6])],
                              [constant(name, CONV[name][:5] if name == "b1" else CONV[name])
                               for name in ("w1", "b1", "gain", "shift", "mean", "variance")]), opset=17)
    return faults + ([] if nodes_of(dynamic(content), "BatchNormalization") else ["a bias of 5 elements is folded into 8 channels"])


@test
def damaged_files_are_refused():
    content, faults = conv_net(), []
    for n in range(0, len(content), 97):
        try:
            read(content[:n])
        except lightnet.Error:
            continue
        except Exception as error:
            faults.append(f"after {n} bytes: {type(error).__name__}: {error}")
    return faults


def one_node(node, weight):
    """A model of a node that reads 'm', of these bytes."""
    return w.model(w.graph([node], [w.value("x", "float", ["n", 4])], [w.value("y", "float", ["n", 4])], [w.Tensor(weight)]), opset=17)


def nested(depth):
    """A model of subgraphs within subgraphs."""
    graph = b""
    for _ in range(depth):
        graph = w.field(1, w.field(2, "y") + w.field(4, "If") + w.field(5, w.field(1, "then_branch") + w.field(6, graph) + w.field(20, 5)))
    return w.field(1, 8) + w.field(7, graph) + w.field(8, w.field(2, 17))


@test
def contradictory_models_are_refused():
    product, head, faults = w.node("MatMul", ["x", "m"], ["y"]), w.field(2, 1) + w.field(8, "m"), []
    elements, wrong_alpha = w.field(9, bytes(64)), w.Node(w.node("Gemm", ["x", "m"], ["y"]) +
                                                          w.field(5, w.field(1, "alpha") + w.field(2, b"ab") + w.field(20, 1)))
    for content, *texts in (
            (one_node(w.node("Identity", ["x"], []), w.repeated(1, [4, 4]) + head + elements), "(Identity) has no outputs"),
            (one_node(product, w.repeated(1, [-4, -4]) + head + elements), "'m'", "shape [-4, -4]"),
            (one_node(product, w.repeated(1, [1] * 70 + [4, 4]) + head + elements), "'m'", "shape [1, 1"),
            (one_node(product, w.repeated(1, [4, 4]) + head + w.field(4, b"abc")), "'m'", "3 bytes", "multiple of 4"),
            (nested(300), "more than 64 deep"), (nested(5000), "more than 64 deep")):
        faults += raises(lightnet.InvalidGraph, lambda: q.quantize_dynamic(content, path()), *texts)  # pylint: disable=cell-var-from-loop
    for node in (w.node("MatMul", ["x"], ["y"]), w.node("Gather", [], ["y"]), w.node("Identity", [], ["y"]), wrong_alpha):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no operator was quantized
            q.quantize_dynamic(one_node(node, w.repeated(1, [4, 4]) + head + elements), path())
    largest = w.Tensor(w.field(1, 1) + w.field(2, 13) + w.field(8, "u") + w.field(11, 2 ** 64 - 1))
    return faults + ([] if read(one_node(product, largest)).initializers["u"].array()[0] == 2 ** 64 - 1 else ["the largest uint64 differs"])


@test
def arguments_are_checked():
    infinite = [{"x": np.full((1, 3, 8, 8), np.inf, "f4")}]
    return (raises(lightnet.InvalidArgument, lambda: static(conv_net(), []), "no samples") +
            raises(lightnet.NotImplemented, lambda: static(conv_net(), images(), quant_format=q.QuantFormat.QOperator), "QDQ") +
            raises(lightnet.NotImplemented, lambda: static(conv_net(), images(), weight_type=q.QuantType.QInt4), "QInt4", "QInt8") +
            raises(lightnet.NotImplemented, lambda: static(conv_net(), images(), calibrate_method=q.CalibrationMethod.Distribution), "MinMax") +
            raises(lightnet.InvalidArgument, lambda: static(conv_net(), images(), nodes_to_exclude="conv1"), "nodes_to_exclude", "list") +
            raises(lightnet.InvalidArgument, lambda: static(conv_net(), images(), extra_options={"TensorQuantOverrides": {"no": [{}]}}), "'no'") +
            raises(lightnet.InvalidArgument, lambda: static(conv_net(), images(), extra_options={"TensorQuantOverrides": {"x": [{"axis": 0}]}}),
                   "'x'", "axis") + raises(TypeError, lambda: static(conv_net(), None), "NoneType", "CalibrationDataReader") +
            raises(TypeError, lambda: static(conv_net(), [images(1)[0], [1]]), "sample 1", "list", "dict") +
            raises(lightnet.InvalidArgument, lambda: static(conv_net(), images(), op_types_to_quantize=["Erf"]), "Erf", "Conv") +
            raises(lightnet.InvalidArgument, lambda: static(conv_net(), infinite), "'x'", "not finite", "nodes_to_exclude") +
            raises(lightnet.NoSuchFile, lambda: q.quantize_dynamic(path("none.onnx"), path()), "none.onnx") +
            raises(lightnet.InvalidArgument, lambda: dynamic(conv_net(), nodes_to_exclude="conv1"), "nodes_to_exclude", "list") +
            raises(lightnet.InvalidArgument, lambda: dynamic(conv_net(), op_types_to_quantize="Conv"), "op_types_to_quantize", "list") +
            raises(TypeError, lambda: q.quantize(conv_net(), path(), 3), "StaticQuantConfig") +
            warns(lambda: static(word_net(), words(), nodes_to_quantize=["nobody"]), "no operator was quantized", "no nodes ['nobody']") +
            warns(lambda: dynamic(word_net(), nodes_to_exclude=["q", "kk"]), "no nodes ['kk']"))


@test
def scales_and_zero_points_of_ranges():
    faults = []
    for (low, high, least, most, is_symmetric), (zero, scale) in {
            (0.0, 255.0, 0, 255, False): (0, 1), (-1.0, 1.0, -127, 127, True): (0, 1 / 127), (0.0, 0.0, 0, 255, False): (0, 1),
            (2.0, 4.0, 0, 255, False): (0, 4 / 255), (-4.0, -2.0, 0, 255, False): (255, 4 / 255)}.items():
        found = quant_utils.compute_scale_zp(low, high, least, most, is_symmetric)
        faults += near(found, [zero, scale], f"{low} .. {high}")
    for qmin, qmax, symmetric, zero in ((np.uint8(0), np.uint8(127), True, 64), (np.array(0, "u2"), np.array(65535, "u2"), True, 32768),
                                        (np.array(-128, "i1"), np.array(127, "i1"), True, 0), (np.uint8(0), np.uint8(15), False, 8)):
        found = quant_utils.compute_scale_zp(np.float32(-3), np.float32(3), qmin, qmax, symmetric)[0]
        faults += [] if found.dtype == qmin.dtype and found == zero else [f"{qmin} .. {qmax}: {found!r}"]
    return faults + raises(lightnet.InvalidArgument, lambda: quant_utils.compute_scale_zp(0, np.inf, 0, 255), "not finite") + \
        raises(lightnet.InvalidArgument, lambda: quant_utils.compute_scale_zp(0, 1, 3, 255), "qmin is 3")


@test
def types_and_formats_have_names_and_numbers():
    numbers = {"QInt8": 3, "QUInt8": 2, "QFLOAT8E4M3FN": 17, "QInt16": 5, "QUInt16": 4, "QInt4": 22, "QUInt4": 21}  # of onnx.proto
    found = {str(q.QuantType.from_string(name)): q.QuantType[name].tensor_type for name in numbers}
    return ([] if found == numbers else [str(found)]) + \
        ([] if (q.QuantFormat.from_string("QDQ"), q.QuantizationMode.from_string("QLinearOps")) ==
         (q.QuantFormat.QDQ, q.QuantizationMode.QLinearOps) else ["members"]) + \
        raises(ValueError, lambda: q.QuantType.from_string("Int8"), "'Int8'", "QUInt8")


if __name__ == "__main__":
    run_tests()
