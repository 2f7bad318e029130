#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: nnvm_write.py LIGHTNET NNVM_AGAIN. Models that were read and written as NNVM graphs: they compute the same, reading and writing them
again gives the same bytes, and operators that core lacks are rejected by name."""
import glob
import json
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
import nnvm_operators
from nnvm_case import call, differences, join, params
from nnvm_rewrite import DATA
from tap import ROOT, Tap

LIGHTNET, AGAIN = sys.argv[1:3]
# Operators without an equivalent in core.
NOTHING = {"sin", "cos", "tan", "arcsin", "arccos", "arctan", "erf", "topk", "sort", "argsort",
           "multibox_transform_loc"}


def is_written(op, attrs):
    return op not in NOTHING and attrs.get("act_type") != "gelu"


# ---- round trips ----

def write(*triples):
    done = call([AGAIN, *(text for triple in triples for text in triple)])
    return [done.stderr] if done.returncode else []


def params_beside(path):
    path = path.replace(".json", ".params")
    return path if os.path.exists(path) else "-"


def bytes_of(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def faults_between(one, two):
    """The first lines in which the files differ; one that is not there is empty."""
    a, b = (bytes_of(path).splitlines() for path in (one, two))
    differing = [f"{x.decode(errors='replace')[:300]}\nagain: {y.decode(errors='replace')[:300]}" for x, y in zip(a, b) if x != y]
    return differing[:3] or ([] if bytes_of(one) == bytes_of(two) else [f"{one} is another one when it is read and written again"])


def round_trip(folder, source, weights="-"):
    """Writes the model as one.json, and the graph read from that as two.json. Returns the faults."""
    one, two = os.path.join(folder, "one.json"), os.path.join(folder, "two.json")
    faults = write((source, weights, one)) or write((one, params_beside(one), two))
    return faults or [fault for ending in (".json", ".params")
                      for fault in faults_between(one.replace(".json", ending), two.replace(".json", ending))] or rewritten(folder, one)


def rewritten(folder, one):
    """As round_trip, of the graph that is converted to another one without being read into a model."""
    three = os.path.join(folder, "three.json")
    there = params_beside(one)
    done = call([LIGHTNET, "convert", one, *([] if there == "-" else ["-f", there]), "--to", "nnvm", "-o", three])
    return [done.stderr] if done.returncode else [fault for ending in (".json", ".params")
                                                  for fault in faults_between(one.replace(".json", ending), three.replace(".json", ending))]


def outputs_of(folder, model, weights, *inputs):
    out = os.path.join(folder, "out_" + os.path.basename(model))
    done = call([LIGHTNET, "run", model, *([] if weights == "-" else ["-f", weights]), *inputs, "-O", out])
    if done.returncode:
        return done.stderr, []
    return None, [np.load(os.path.join(out, f"output_{k}.npy")) for k in range(len(os.listdir(out)))]


def differences_of(got, want, k):
    """Faults beyond a millionth of the largest finite element: results of many magnitudes are compared."""
    sizes = np.abs(want.astype(float))
    scale = sizes[np.isfinite(sizes) & (sizes > 0)].max(initial=0) or 1
    if got.shape != want.shape or got.dtype != want.dtype:
        return differences(got, want, k, 0)
    return differences(got.astype(float) / scale, want.astype(float) / scale, k, 1e-6)


def check(tap, name, folder, source, weights="-", inputs=(), what=str):
    """The model and its graph compute the same; `what` names an output."""
    faults = round_trip(folder, source, weights)
    if not faults:
        one = os.path.join(folder, "one.json")
        error, wanted = outputs_of(folder, source, weights, *inputs)
        other_error, there = outputs_of(folder, one, params_beside(one), *inputs)
        faults = [text for text in (error, other_error) if text] or [
            f"{what(k)}: {fault}" for k, (a, b) in enumerate(zip(wanted, there)) for fault in differences_of(b, a, k)]
        if len(wanted) != len(there):
            faults.append(f"{len(there)} outputs, expected {len(wanted)}")
    tap.check(name, faults)


def check_operators(tap, mxnet):
    cases = [case for case in nnvm_operators.CASES if case[1] == mxnet and is_written(case[0], case[4])]
    whole, inputs, parameters = join(cases)
    arrays = {**inputs, **parameters}
    heads = [(case[0], case[4]) for case in cases for _ in case[5]]
    with tempfile.TemporaryDirectory() as folder:
        source, weights = os.path.join(folder, "graph.json"), os.path.join(folder, "graph.params")
        with open(source, "w", encoding="utf-8") as file:
            json.dump(whole, file)
        with open(weights, "wb") as file:
            file.write(params({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
        check(tap, f"operators_of_{'mxnet' if mxnet else 'core'}_are_written", folder, source, weights, what=lambda k: str(heads[k]))


# ---- LightNet's own operators ----

class Model:
    """A model in JSON whose operators read constants of their own."""

    def __init__(self):
        self.ops, self.outputs, self.inputs, self.names = [], [], [], []

    def source(self, array):
        name = f"c{len(self.ops)}"
        array = np.asarray(array)
        kind = {"float32": "TL_FLOAT", "float64": "TL_DOUBLE", "int64": "TL_INT64", "int32": "TL_INT32", "int8": "TL_INT8", "uint8": "TL_UINT8",
                "bool": "TL_BOOL"}[array.dtype.name]
        self.op("source", {}, {"dtype": kind, "dims": list(array.shape), "data": [float(x) for x in array.flat]}, [name])
        return name

    def op(self, optype, ins, values, outs):
        entries = lambda table: [{"arg_name": arg, "name": name} for arg, name in table]
        role = lambda k: f"dst{k}" if optype in ("split", "scatter") else "dst"
        self.ops.append({"name": f"op{len(self.ops)}", "optype": optype, "tensors_in": entries(ins.items()),
                         "tensors_out": entries((role(k), out) for k, out in enumerate(outs)),
                         "params": [{"arg_name": arg, "value": value} for arg, value in values.items()]})

    def add(self, optype, ins, values=None, outputs=1):
        """An operator whose outputs are the model's. Inputs are arrays, or names of tensors."""
        names = {arg: x if isinstance(x, str) else self.source(x) for arg, x in ins.items()}
        outs = [f"y{len(self.ops)}_{k}" for k in range(outputs)]
        self.op(optype, names, values or {}, outs)
        self.outputs += outs
        self.names += [f"{optype} {values or {}}"] * outputs
        return outs[0]

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"inputs": self.inputs, "outputs": self.outputs, "ops": self.ops}, file)


RANDOM = np.random.default_rng(11)


def floats(*dims):
    return RANDOM.uniform(-2, 2, dims).astype(np.float32)


X, Z, LINES, IMAGE = floats(2, 3, 4), floats(2, 3, 4), floats(2, 4, 9), floats(2, 4, 7, 6)
ODD = np.array([-np.inf, -2.5, -1.5, -0.5, -0.0, 0, 0.5, 1.5, 2.5, 8388609, 1e30, np.inf, np.nan], np.float32)
FINITE = ODD[1:-2]
INTS = np.array([[-7, 2, 0], [5, -1, 100]], np.int32)


def functions(m):
    for func in "ABS NEG SIGN RECIPROCAL SQRT EXP LOG CEIL FLOOR ROUND TANH SIGMOID SOFTPLUS SOFTSIGN MISH GELU_TANH RELU".split():
        m.add("unary", {"src": FINITE if func in ("SIGN", "ROUND", "ABS", "FLOOR") else np.abs(X) if func in ("SQRT", "LOG") else X},
              {"func": "TL_UNARY_" + func})
    for func in ("ATANH", "ELU", "SOFTPLUS", "SINH", "COSH", "ASINH"):  # one by one, as a tolerance is of the largest one of a tensor
        for x in (1e-30, -1e-9, 1e-4, -0.3, 0.7, -20):
            m.add("unary", {"src": np.full((2, 3), x, np.float32)}, {"func": "TL_UNARY_" + func, "alpha": 1})
    m.add("unary", {"src": np.array([-1, 1, 0, np.float32(0.999)], np.float32)}, {"func": "TL_UNARY_ATANH"})
    for x in (1, 1.0000001, 1.5, 2, 40, 1e30, 0.5):
        m.add("unary", {"src": np.array([x, x], np.float32)}, {"func": "TL_UNARY_ACOSH"})
    for x in (1e30, -1e30, 88.5, 89, -89.2):
        for func in ("ASINH", "SINH", "COSH"):
            m.add("unary", {"src": np.array([x, x], np.float32)}, {"func": "TL_UNARY_" + func})
    for func in "ABS NEG SIGN NOT".split():
        m.add("unary", {"src": INTS}, {"func": "TL_UNARY_" + func})
    m.add("unary", {"src": X > 0}, {"func": "TL_UNARY_NOT"})
    for func, alpha, beta in (("AFFINE", 0.3, -1), ("SCALEDTANH", 1.7, 0.6), ("HARDSIGMOID", 0.2, 0.5), ("HARDSWISH", 1 / 6, 0.5), ("SWISH", 1, 0),
                              ("SWISH", 1.5, 0), ("LRELU", 0.1, 0), ("ELU", 0.7, 0), ("CELU", 1.3, 0), ("SELU", 1.67, 1.05), ("CLIP", -1, 0.5)):
        m.add("unary", {"src": X}, {"func": "TL_UNARY_" + func, "alpha": alpha, "beta": beta})
    m.add("lrelu", {"src": X}, {"negslope": -0.5})
    m.add("forward", {"src": m.add("relu", {"src": X})})


def pairs(m):
    row, number, one = floats(3, 1), np.float32(1.5), np.array([1.5], np.float32)
    for op in "ADD SUB MUL DIV MAX MIN POW MOD FMOD PRELU".split():
        a, b = (np.abs(X), np.abs(Z) + np.float32(0.1)) if op == "POW" else (X, Z)
        for left, right in ((a, b), (a, np.abs(row)), (np.abs(row), b), (a, number), (number, b), (a, one), (number, one)):
            m.add("binary", {"src1": left, "src2": right}, {"op": "TL_BINARY_" + op})
    for op in "ADD SUB MUL DIV MAX MIN MOD FMOD SHIFT_LEFT SHIFT_RIGHT".split():
        m.add("binary", {"src1": INTS, "src2": np.array([[3], [2]], np.int32)}, {"op": "TL_BINARY_" + op})
        m.add("binary", {"src1": INTS, "src2": np.int32(2)}, {"op": "TL_BINARY_" + op})
    clipped = m.add("binary", {"src1": INTS, "src2": np.int32(-1)}, {"op": "TL_BINARY_MAX"})
    m.add("binary", {"src1": clipped, "src2": np.int32(7)}, {"op": "TL_BINARY_MIN"})
    for op in "MUL DIV SUM SUB MAX MIN".split():
        m.add("elew", {"src1": X, "src2": Z}, {"elew_op": "TL_" + op})
    m.add("binary", {"src1": X, "src2": floats(1, 3, 1)}, {"op": "TL_BINARY_PRELU"})
    m.add("binary", {"src1": X, "src2": floats(2, 1, 4)}, {"op": "TL_BINARY_PRELU"})
    m.add("dot_product", {"src1": X, "src2": Z})


def truths(m):
    small, other, flag = X.round(), Z.round(), X > 0
    for op in "EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL".split():
        for a, b in ((small, other), (small, np.float32(0)), (np.float32(1), small), (INTS, np.int32(2)), (flag, Z > 0), (flag, np.bool_(False))):
            truth = m.add("compare", {"src1": a, "src2": b}, {"op": "TL_COMPARE_" + op})
            m.add("cast", {"src": truth}, {"dtype": "TL_FLOAT"})
    less = m.add("compare", {"src1": small, "src2": floats(4).round()}, {"op": "TL_COMPARE_LESS"})
    few = m.add("compare", {"src1": floats(3, 1), "src2": np.float32(0)}, {"op": "TL_COMPARE_GREATER"})
    for op in "AND OR XOR".split():
        for right in (flag, few):
            truth = m.add("binary", {"src1": less, "src2": right}, {"op": "TL_BINARY_" + op})
            m.add("where", {"cond": truth, "src1": X, "src2": np.float32(7)})
    m.add("where", {"cond": few, "src1": X, "src2": Z})
    m.add("where", {"cond": flag, "src1": floats(4), "src2": floats(3, 1)})
    m.add("where", {"cond": m.add("unary", {"src": less}, {"func": "TL_UNARY_NOT"}), "src1": X, "src2": Z})
    m.add("reshape", {"src": less}, {"dims": [6, 4]})
    m.add("where", {"cond": flag, "src1": less, "src2": Z > 0})
    m.add("join", {"src0": less, "src1": flag}, {"axis": 2})


def layers(m):
    window = lambda autopad, padding, n=2, group=1: {"group": group, "size": [3, 2][:n], "stride": [2, 1][:n], "dilation": [1, 2][:n],
                                                     "padding": padding, **({"autopad": autopad} if autopad else {})}
    for autopad, padding in (("NOTSET", [1, 1, 1, 1]), ("NOTSET", [0, 2, 1, 1]), ("VALID", [0] * 4), ("SAME_UPPER", [0] * 4), ("SAME_LOWER", [0] * 4)):
        m.add("conv2d", {"src": IMAGE, "weight": floats(6, 2, 3, 2), "bias": floats(6)}, window(autopad, padding, group=2))
    m.add("conv2d", {"src": IMAGE, "weight": floats(6, 4, 3, 2), "bias": np.zeros(6, np.float32)}, window("NOTSET", [0, 0, 0, 0]))
    m.add("convnd", {"src": LINES, "weight": floats(6, 4, 3), "bias": floats(6)}, window(None, [0, 2], 1))
    m.add("convnd", {"src": IMAGE, "weight": floats(6, 4, 3, 2)}, window(None, [1, 0, 1, 2]))
    for padding, more in (([1, 1, 1, 1], [0, 0]), ([0, 1, 2, 1], [1, 0]), ([0, 0, 0, 0], [1, 0]), ([1, 0, 0, 0], [1, 0])):
        m.add("deconv2d", {"src": IMAGE, "weight": floats(4, 5, 3, 2), "bias": floats(5)},
              {**window("NOTSET", padding), "output_padding": more, "output_dims": [0, 0, 0, 0]})
    m.add("deconv2d", {"src": IMAGE, "weight": floats(4, 5, 3, 2), "bias": floats(5)},
          {**window("SAME_UPPER", [0, 0, 0, 0]), "output_padding": [0, 0], "output_dims": [2, 5, 14, 6]})
    m.add("deconvnd", {"src": LINES, "weight": floats(4, 5, 3)}, {**window(None, [1, 0], 1), "output_padding": [1]})
    a, b, square = floats(3, 4), floats(4, 5), floats(4, 4)
    m.add("matmul", {"src1": a, "src2": b})
    m.add("matmul", {"src1": a, "src2": floats(5, 4), "bias": floats(5)}, {"trans2": True})
    m.add("matmul", {"src1": a, "src2": floats(5, 4), "bias": floats(3, 1)}, {"trans2": True, "alpha": 0.5, "beta": 2})
    m.add("matmul", {"src1": X, "src2": b, "bias": floats(5)})
    m.add("matmul", {"src1": X, "src2": floats(2, 5, 4)}, {"trans2": True})
    m.add("matmul", {"src1": floats(2, 1, 3, 4), "src2": floats(5, 4, 2)})
    m.add("matmul", {"src1": square, "src2": X}, {"trans1": True, "trans2": True})


def pools(m):
    for op in ("maxpool2d", "avgpool2d"):
        for autopad, padding in (("NOTSET", [1, 0, 2, 1]), ("VALID", [0] * 4), ("SAME_UPPER", [0] * 4), ("SAME_LOWER", [0] * 4)):
            m.add(op, {"src": IMAGE}, {"size": [3, 2], "stride": [2, 2], "padding": padding, "autopad": autopad})
        m.add(op, {"src": IMAGE}, {"size": [2147483647, 2], "stride": [2, 1], "padding": [0] * 4, "autopad": "SAME_UPPER"})
        m.add(op, {"src": IMAGE}, {"size": [7, 6], "stride": [2, 2], "padding": [0] * 4, "autopad": "NOTSET"})
    for kind, counts, ceil in (("MAX", False, False), ("MAX", False, True), ("MEAN", False, False), ("MEAN", False, True), ("MEAN", True, False),
                               ("NORM", False, False)):
        m.add("poolnd", {"src": IMAGE}, {"size": [3, 2], "stride": [2, 3], "dilation": [1, 1], "padding": [1, 0, 1, 1], "kind": "TL_POOL_" + kind,
                                         "count_padding": counts, "ceil": ceil, "p": 3})
    m.add("poolnd", {"src": LINES}, {"size": [3], "stride": [2], "dilation": [1], "padding": [1, 1], "kind": "TL_POOL_MEAN"})


def sizes(m):
    for mode in ("TL_NEAREST", "TL_LINEAR"):
        for dims in ([2, 4, 14, 18], [2, 4, 5, 4], [3, 4, 7, 9], [2, 4, 7, 6]):
            m.add("resize", {"src": IMAGE}, {"mode": mode, "dims": dims})
        m.add("upsample", {"src": IMAGE}, {"mode": mode, "scales": [1, 1, 2, 2]})
    m.add("resize", {"src": INTS}, {"mode": "TL_NEAREST", "dims": [3, 4]})
    axis = lambda shift: {"shift": [0, shift, shift], "span": [2, 3, 4], "steps": [2, 5, 7], "start": [0, -shift, -shift], "stretch": [1, 1, 1]}
    for mode in ("NEAREST", "LINEAR", "CUBIC"):
        for rounding in ("HALF_DOWN", "HALF_UP", "DOWN", "UP") if mode == "NEAREST" else ("DOWN",):
            m.add("resample", {"src": X}, {"mode": "TL_RESAMPLE_" + mode, "dims": [2, 5, 7], "rounding": "TL_ROUND_" + rounding, **axis(0.5)})
    images = {"dims": [2, 4, 13, 6], "shift": [0] * 4, "start": [0] * 4, "stretch": [1] * 4}
    for span, steps in (([2, 4, 7, 6], [2, 4, 13, 6]), ([2, 4, 6, 5], [2, 4, 12, 5])):
        for mode in ("NEAREST", "LINEAR", "CUBIC"):
            m.add("resample", {"src": IMAGE}, {"mode": "TL_RESAMPLE_" + mode, "rounding": "TL_ROUND_DOWN", "span": span, "steps": steps, **images})


def norms(m):
    m.add("affine", {"src": IMAGE, "scale": floats(4), "shift": floats(4)}, {"axis": 1})
    m.add("affine", {"src": X, "scale": floats(4)}, {"axis": 2})
    for axis, dims in ((2, (4,)), (1, (3, 4))):
        m.add("layernorm", {"src": X, "scale": floats(*dims), "bias": floats(*dims)}, {"axis": axis, "epsilon": 1e-5})
        m.add("rmsnorm", {"src": X, "scale": floats(*dims)}, {"axis": axis, "epsilon": 1e-5})
    m.add("layernorm", {"src": X}, {"axis": 2, "epsilon": 1e-5})
    for groups, len_ in ((4, 4), (2, 4), (2, 2)):
        m.add("groupnorm", {"src": IMAGE, "scale": floats(len_), "bias": floats(len_)}, {"groups": groups, "epsilon": 1e-3})
    for op in ("softmax", "logsoftmax"):
        m.add(op, {"src": X}, {"axis": 1})
    m.add("lrn", {"src": IMAGE}, {"size": 3, "alpha": 0.1, "beta": 0.75, "bias": 2})


def reductions(m):
    for op in "SUM MEAN PROD MAX MIN L1 L2 SUM_SQUARE LOG_SUM LOG_SUM_EXP".split():
        for axes, keeps in (([1], True), ([0, 2], False), ([0, 1, 2], False), ([0, 1, 2], True), ([], True)):
            m.add("reduce", {"src": np.abs(X)}, {"op": "TL_REDUCE_" + op, "axes": axes, "keepdims": keeps})
    total = m.add("reduce", {"src": X}, {"op": "TL_REDUCE_SUM", "axes": [0, 1, 2], "keepdims": False})
    m.add("binary", {"src1": Z, "src2": total}, {"op": "TL_BINARY_MUL"})
    m.add("unsqueeze", {"src": total}, {"axes": [0]})
    m.add("maxreduce", {"src": X}, {"axis": 1})
    for is_min in (False, True):
        for keeps in (False, True):
            index = m.add("argreduce", {"src": X}, {"axis": 1, "is_min": is_min, "keepdims": keeps})
            m.add("binary", {"src1": index, "src2": np.int64(3)}, {"op": "TL_BINARY_ADD"})
    m.add("argreduce", {"src": floats(5)}, {"axis": 0, "keepdims": False})


def shapes(m):
    m.add("view", {"src": X}, {"dims": [-2, -1]})
    m.add("flatten", {"src": X}, {"start": 1, "end": 3})
    m.add("squeeze", {"src": m.add("unsqueeze", {"src": X}, {"axes": [0, 3]})}, {"axes": [3]})
    m.add("transpose", {"src": X}, {"axes": [2, 0, 1]})
    m.add("slice", {"src": X}, {"axis": 2, "start": 1, "len": 2})
    for axes, starts, ends, steps in (([1], [-2], [100], [1]), ([2, 0], [3, 1], [-100, -100], [-2, -1]), ([2], [-1], [0], [-1]), ([0], [0], [2], [1])):
        m.add("stride_slice", {"src": X}, {"axes": axes, "starts": starts, "ends": ends, "steps": steps})
    m.add("split", {"src": X}, {"axis": 2, "lens": [1, 3]}, 2)
    m.add("split", {"src": X}, {"axis": 1, "lens": [1, 1, 1]}, 3)
    m.add("split", {"src": X}, {"axis": 1, "lens": [3]})
    m.add("scatter", {"src": X}, None, 2)
    m.add("join", {"src0": X, "src1": Z, "src2": floats(2, 1, 4)}, {"axis": 1})
    m.add("concat", {"src1": X, "src2": Z}, {"axis": 0})
    m.add("gather", {"src0": X, "src1": Z})
    m.add("expand", {"src": floats(3, 1)}, {"dims": [2, 1, 4]})
    m.add("tile", {"src": X}, {"repeats": [2, 1, 3]})
    m.add("pad", {"src": X, "value": np.float32(7)}, {"before": [1, -1, 0], "after": [0, 2, -1]})
    for mode in ("EDGE", "REFLECT", "WRAP"):
        m.add("pad", {"src": X}, {"before": [0, 1, 3], "after": [1, 2, 0], "mode": "TL_PAD_" + mode})
    m.add("take", {"src": X, "index": np.array([[2, -1]], np.int64)}, {"axis": 1})
    m.add("take", {"src": X, "index": np.array([0, 2], np.int32)}, {"axis": 2})
    m.add("take", {"src": X, "index": np.int64(1)}, {"axis": 0})
    m.add("take", {"src": X, "index": m.add("argreduce", {"src": X}, {"axis": 1, "keepdims": False})}, {"axis": 2})
    m.add("take_nd", {"src": X, "index": np.array([[[0, 1], [1, 2]]], np.int64)})
    m.add("take_along", {"src": X, "index": np.array([[[2, -1, 0]], [[1, 0, -3]]], np.int64)}, {"axis": 1})
    m.add("onehot", {"src": np.array([[0.5, 2], [-1, 7], [-3, -4]], np.float32), "values": np.array([-5, 3], np.float32)}, {"depth": 3, "axis": 1})
    m.add("onehot", {"src": np.array([1, 0], np.int64), "values": np.array([0, 1], np.int8)}, {"depth": 2, "axis": 1})
    m.add("range", {"start": np.float32(1), "delta": np.float32(-0.3)}, {"len": 4})
    m.add("eye", {}, {"dtype": "TL_FLOAT", "dims": [3, 4], "k": 1})
    m.add("arange", {}, {"dtype": "TL_FLOAT", "start": 0, "stop": 3, "step": 0.7})
    m.add("zeros", {}, {"dtype": "TL_INT32", "dims": [2, 3]})


def check_model(tap, make):
    m = Model()
    make(m)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "model.json")
        m.write(source)
        check(tap, f"{make.__name__}_of_lightnet_are_written", folder, source, what=lambda k: m.names[k])


# ---- inputs, names, weights ----

def check_inputs(tap):
    """Inputs keep their order and outputs their names, for any order of their readers."""
    m = Model()
    m.inputs = ["late", "first"]
    for name, dims in (("late", [3]), ("first", [2, 3])):
        m.op("source", {}, {"dtype": "TL_FLOAT", "dims": dims}, [name])
    product = m.add("binary", {"src1": "first", "src2": floats(2, 3)}, {"op": "TL_BINARY_MUL"})
    m.add("forward", {"src": m.add("binary", {"src1": product, "src2": "late"}, {"op": "TL_BINARY_ADD"})})
    m.outputs = [m.outputs[0], m.outputs[2], "first"]
    with tempfile.TemporaryDirectory() as folder:
        source, inputs = os.path.join(folder, "model.json"), []
        m.write(source)
        for name, array in (("late", floats(3)), ("first", floats(2, 3))):
            np.save(os.path.join(folder, name + ".npy"), array)
            inputs += ["-i", os.path.join(folder, name + ".npy")]
        check(tap, "inputs_keep_their_order", folder, source, inputs=inputs)
        with open(os.path.join(folder, "one.json"), encoding="utf-8") as file:
            graph = json.load(file)
    heads = [graph["nodes"][node]["name"] for node, *_ in graph["heads"]]
    arguments = [graph["nodes"][node]["name"] for node in graph["arg_nodes"]]
    tap.check("inputs_and_outputs_keep_their_names",
              [] if heads == m.outputs and arguments[:2] == m.inputs else [f"heads {heads}, variables {arguments}"])


def check_names(tap):
    """Tensors that are called as translators would call theirs."""
    m = Model()
    m.op("unary", {"src": m.source(floats(2, 1, 4))}, {"func": "TL_UNARY_EXP"}, ["a_1"])
    m.op("split", {"src": m.source(Z)}, {"axis": 1, "lens": [1, 2]}, ["a", "b"])
    m.op("binary", {"src1": "a", "src2": "b"}, {"op": "TL_BINARY_ADD"}, ["a_relu"])
    m.op("unary", {"src": "a_relu"}, {"func": "TL_UNARY_SOFTPLUS"}, ["a_split"])
    m.op("compare", {"src1": "a_1", "src2": "a_split"}, {"op": "TL_COMPARE_LESS"}, ["truth"])
    m.op("cast", {"src": "truth"}, {"dtype": "TL_FLOAT"}, ["less"])
    m.op("unary", {"src": "less"}, {"func": "TL_UNARY_EXP"}, ["less_dst"])
    m.op("binary", {"src1": "less_dst", "src2": m.source(np.float32(3))}, {"op": "TL_BINARY_ADD"}, ["more"])
    m.op("binary", {"src1": "more", "src2": "less_dst"}, {"op": "TL_BINARY_MUL"}, ["more_const"])
    m.op("binary", {"src1": "a_relu", "src2": "more_const"}, {"op": "TL_BINARY_MAX"}, ['\u00e9 "\\\n/'])
    m.outputs, m.names = [m.ops[-1]["tensors_out"][0]["name"], "b"], ["joined", "b"]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "model.json")
        m.write(source)
        check(tap, "names_do_not_collide", folder, source, what=lambda k: m.names[k])


def check_weights(tap):
    """Without its weights a model is written without parameters; nothing is left of a graph that cannot be written."""
    digits, weights = (os.path.join(ROOT, "examples", "digits", name) for name in ("digits.json", "digits.safetensors"))
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "image.npy")
        np.save(image, np.abs(floats(1, 1, 28, 28)))
        check(tap, "examples_are_written", folder, digits, weights, ["-i", image])
        bare = os.path.join(folder, "bare.json")
        faults = write((digits, "-", bare))
        tap.check("without_weights_there_are_no_parameters",
                  faults or (["there is bare.params"] if os.path.exists(os.path.join(folder, "bare.params")) else []))


def check_rejected(tap, name, m, *words):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "model.json")
        m.write(source)
        done = call([LIGHTNET, "convert", source, "--to", "nnvm", "-o", os.path.join(folder, "to.json")])
        faults = [f"exit status {done.returncode}, expected 1"] if done.returncode != 1 else []
        faults += [f"no '{word}' in: {done.stderr}" for word in words if word not in done.stderr]
        tap.check(name, faults + [f"{left} is left" for left in glob.glob(os.path.join(folder, "to.*"))])


def rejected(tap):
    m = Model()
    m.add("unary", {"src": X}, {"func": "TL_UNARY_ERF"})
    m.add("unary", {"src": X}, {"func": "TL_UNARY_SIN"})
    m.add("unary", {"src": Z}, {"func": "TL_UNARY_SIN"})
    m.add("cumulate", {"src": X}, {"axis": 0})
    check_rejected(tap, "all_that_core_lacks_is_named", m, "TL_UNARY_ERF (1 node, first 'op1')", "TL_UNARY_SIN (2 nodes, first 'op3')", "cumulate (1 node, first 'op7')")
    for name, optype, ins, values, words in (
            ("pools_with_gaps", "poolnd", {"src": IMAGE}, {"size": [2, 2], "stride": [1, 1], "dilation": [2, 1], "padding": [0] * 4, "kind": "TL_POOL_MAX"},
             ["op1", "'dilation' has 2"]),
            ("means_beyond_the_padding", "poolnd", {"src": IMAGE}, {"size": [3, 3], "stride": [3, 3], "dilation": [1, 1], "padding": [0] * 4,
                                                                    "kind": "TL_POOL_MEAN", "ceil": True, "count_padding": True}, ["op1", "count_padding"]),
            ("convolutions_of_volumes", "convnd", {"src": floats(1, 2, 3, 3, 3), "weight": floats(2, 2, 2, 2, 2)},
             {"group": 1, "size": [2] * 3, "stride": [1] * 3, "dilation": [1] * 3, "padding": [0] * 6}, ["op2", "3 spatial axes"]),
            ("sizes_beyond_a_deconvolution", "deconv2d", {"src": IMAGE, "weight": floats(4, 5, 1, 1), "bias": floats(5)},
             {"group": 1, "size": [1, 1], "stride": [1, 1], "dilation": [1, 1], "padding": [0] * 4, "autopad": "SAME_UPPER", "output_padding": [0, 0],
              "output_dims": [2, 5, IMAGE.shape[2] + 1, IMAGE.shape[3]]}, ["op3", "parameter 'padding' has 0 and -1, expected at least 0"]),
            ("the_last_of_equal_ones", "argreduce", {"src": X}, {"axis": 1, "is_last": True}, ["op1", "'is_last'"]),
            ("roots_of_integers", "reduce", {"src": INTS}, {"op": "TL_REDUCE_L2", "axes": [0]}, ["op1", "expected floats, not TL_INT32"]),
            ("logarithms_of_integers", "reduce", {"src": INTS}, {"op": "TL_REDUCE_LOG_SUM_EXP", "axes": [0]}, ["op1", "expected floats, not TL_INT32"]),
            ("middles_of_integers", "resize", {"src": INTS}, {"mode": "TL_LINEAR", "dims": [2, 4]}, ["op1", "TL_INT32"]),
            ("bits_of_integers", "binary", {"src1": INTS, "src2": INTS}, {"op": "TL_BINARY_AND"}, ["bitwise"])):
        m = Model()
        m.add(optype, ins, values)
        check_rejected(tap, "rejects_" + name, m, *words)
    m = Model()
    m.op("create", {}, {"dtype": "TL_FLOAT", "dims": [3], "ran": [0, 1], "data": [0], "from_file": False}, ["noise"])
    m.add("relu", {"src": "noise"})
    check_rejected(tap, "rejects_random_numbers", m, "'noise'", "random")


def check_files(tap):
    for name, weights in [("cifar_resnet20_v1-symbol", "cifar_resnet20_v1-0000"), ("synthetic_multi_output",) * 2]:
        path, data = os.path.join(DATA, name + ".json"), os.path.join(DATA, weights + ".params")
        image = os.path.join(DATA, name.replace("-symbol", "") + "_input.npy")
        if not os.path.exists(path):
            tap.skip(f"{name}_is_written", "it is missing")
            continue
        with open(path, encoding="utf-8") as file:
            graph = json.load(file)
        for node in graph["nodes"]:
            if node["name"] == "data":
                node["attrs"] = {"__shape__": str(np.load(image).shape)}
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "graph.json")
            with open(source, "w", encoding="utf-8") as file:
                json.dump(graph, file)
            check(tap, f"{name}_is_written", folder, source, data, ["-i", image])


def main():
    tap = Tap()
    nnvm_operators.make_cases()
    for mxnet in (False, True):
        check_operators(tap, mxnet)
    for make in (functions, pairs, truths, layers, pools, sizes, norms, reductions, shapes):
        check_model(tap, make)
    check_inputs(tap)
    check_names(tap)
    check_weights(tap)
    rejected(tap)
    check_files(tap)
    tap.end()


if __name__ == "__main__":
    main()
