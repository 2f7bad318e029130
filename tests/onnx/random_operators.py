#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: random_operators.py LIGHTNET. ONNX's random operators: distributions, types, seeds.

Seeds are fixed, so a test of a distribution passes always or never. Its bound is one that a random sample exceeds with a
probability of one in a thousand.
"""
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import NUMPY, call, error_of, failure, name_of, write
from onnx_writer import DTYPES, graph, model, node, tensor, value
from tap import Tap

LEN = 10000
CODE = {name: code for name, (code, _) in DTYPES.items()}
F32 = np.float32
FLOATS = ("float", "double", "float16")
erf = np.vectorize(math.erf, otypes=[float])

# Values that a random sample exceeds with a probability of 0.001.
KOLMOGOROV = 1.95
CHI_SQUARE = {1: 10.83, 2: 13.82, 3: 16.27}


def one(op_type, arrays, kinds=("float",), opset=22, constants=(), **attributes):
    """The model of one node, whose inputs are x0, x1 .., some of them constants; and its other inputs."""
    names = [f"x{i}" for i in range(len(arrays))]
    given = {name: np.asarray(array) for name, array in zip(names, arrays)}
    outputs = [f"y{i}" for i in range(len(kinds))]
    whole = graph([node(op_type, names, outputs, **attributes)],
                  [value(name, name_of(a), a.shape) for i, (name, a) in enumerate(given.items()) if i not in constants],
                  [value(name, kind) for name, kind in zip(outputs, kinds)],
                  [tensor(names[i], name_of(given[names[i]]), given[names[i]].shape, given[names[i]].ravel().tolist())
                   for i in constants])
    return model(whole, opset=opset), {name: a for i, (name, a) in enumerate(given.items()) if i not in constants}


def run(lightnet, whole, inputs, *options, isa=None):
    """The outputs, or lines of a failure."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        env = dict(os.environ, **({"LIGHTNET_MAX_ISA": isa} if isa else {}))
        done = subprocess.run([lightnet, "run", *write(folder, whole, inputs), "-O", out, *options], capture_output=True,
                              text=True, check=False, timeout=60, env=env)
        return [np.load(os.path.join(out, name)) for name in sorted(os.listdir(out))] if not done.returncode else failure(done)


def is_same(a, b):
    return len(a) == len(b) and all(isinstance(x, np.ndarray) and isinstance(y, np.ndarray) and x.dtype == y.dtype and
                                    x.tobytes() == y.tobytes() for x, y in zip(a, b))


# ---- distributions ----

def kolmogorov(numbers, distribution):
    """The greatest distance of the empirical distribution, times sqrt(n)."""
    p = distribution(np.sort(numbers.ravel().astype(float)))
    n = len(p)
    return max((np.arange(1, n + 1) / n - p).max(), (p - np.arange(n) / n).max()) * math.sqrt(n)


def uniform(low, high):
    return lambda x: (x - low) / (high - low)


def normal(mean, scale):
    return lambda x: 0.5 * (1 + erf((x - mean) / scale / math.sqrt(2)))


def chi_square(values, chances):
    """Of classes 0, 1 .. with these chances; the classes of chance 0 must not occur."""
    counts = np.bincount(values.ravel().astype(int), minlength=len(chances))
    if len(counts) > len(chances) or any(count for count, chance in zip(counts, chances) if not chance):
        return math.inf
    return sum((count - values.size * chance) ** 2 / (values.size * chance) for count, chance in zip(counts, chances) if chance)


def far_from(numbers, distribution, spacing=0.0):
    """`spacing`: of the numbers of the type, which adds to the distance."""
    distance = kolmogorov(numbers, distribution)
    bound = KOLMOGOROV + spacing * math.sqrt(numbers.size)
    return [] if distance < bound else [f"the distance is {distance:.3f}, expected less than {bound:.3f}"]


def unlike(values, chances):
    statistic, bound = chi_square(values, chances), CHI_SQUARE[sum(chance > 0 for chance in chances) - 1]
    return [] if statistic < bound else [f"chi-square is {statistic:.2f}, expected less than {bound}"]


def wrong_type(got, dtype, shape):
    return [] if got.dtype == dtype and got.shape == shape else [f"{got.dtype} {got.shape}, expected {dtype} {shape}"]


def check_numbers(tap, lightnet):
    """RandomUniform, RandomNormal, and those like another tensor."""
    forms = [("Uniform", {}, uniform(0, 1), 1), ("Uniform", {"low": -1.0, "high": 3.0}, uniform(-1, 3), 4),
             ("Normal", {}, normal(0, 1), 1), ("Normal", {"mean": 2.0, "scale": 3.0}, normal(2, 3), 3)]
    for kind in FLOATS:
        spacing = 2.0 ** -10 if kind == "float16" else 0  # of numbers from 1 to 2; density times spacing is at most that
        faults = []
        for name, how, distribution, _ in forms:
            for op_type, arrays, more in ((f"Random{name}", [], {"shape": [LEN // 5, 5], "dtype": CODE[kind]}),
                                          (f"Random{name}Like", [np.ones((LEN // 5, 5), NUMPY[kind])], {}),
                                          (f"Random{name}Like", [np.ones((LEN // 5, 5), np.int32)], {"dtype": CODE[kind]})):
                got = run(lightnet, *one(op_type, arrays, [kind], seed=3.0, **how, **more))
                faults += got if isinstance(got[0], str) else (wrong_type(got[0], NUMPY[kind], (LEN // 5, 5)) +
                                                               far_from(got[0], distribution, spacing))
        tap.check(f"numbers of {kind} are uniform or normal", faults)
    for shape in ([0, 3], [], [1]):
        for op_type in ("RandomUniform", "RandomNormal"):
            got = run(lightnet, *one(op_type, [], seed=1.0, shape=shape))
            tap.check(f"{op_type} makes a tensor of shape {shape}",
                      got if isinstance(got[0], str) else wrong_type(got[0], F32, tuple(shape)))


def check_choices(tap, lightnet):
    for given in FLOATS:
        faults = []
        chances = np.full(LEN, 0.25, NUMPY[given])
        for kind in (None, *FLOATS, "bool", "int32", "int64", "uint8", "int8", "uint16", "int16", "uint32", "uint64"):
            got = run(lightnet, *one("Bernoulli", [chances], [kind or given], seed=5.0, **({"dtype": CODE[kind]} if kind else {})))
            faults += got if isinstance(got[0], str) else (wrong_type(got[0], NUMPY[kind or given], (LEN,)) +
                                                           unlike(got[0], [0.75, 0.25]))
        certain = run(lightnet, *one("Bernoulli", [np.repeat(NUMPY[given]([0, 1]), LEN)], [given], seed=5.0))
        if not np.array_equal(certain[0], np.repeat([0, 1], LEN)):
            faults.append("chances of 0 and 1 are not certain")
        tap.check(f"Bernoulli has the chances of {given}", faults)
        faults = []
        with np.errstate(divide="ignore"):
            logs = np.log(np.array([[0.2, 0.3, 0.5], [0.6, 0, 0.4]])).astype(NUMPY[given])
        for kind in ("int32", "int64"):
            got = run(lightnet, *one("Multinomial", [logs], [kind], sample_size=LEN, seed=6.0, dtype=CODE[kind]))
            faults += got if isinstance(got[0], str) else (wrong_type(got[0], NUMPY[kind], (2, LEN)) +
                                                           unlike(got[0][0], [0.2, 0.3, 0.5]) + unlike(got[0][1], [0.6, 0, 0.4]))
        tap.check(f"Multinomial has the chances of {given}", faults)
    got = run(lightnet, *one("Multinomial", [np.log(F32([[1, 3]])) + 7], ["int32"], sample_size=LEN, seed=6.0))
    tap.check("Multinomial normalizes its chances",
              got if isinstance(got[0], str) else unlike(got[0], [0.25, 0.75]))


def dropouts_of(x, cases, constants=(), opset=22, kind=None, **attributes):
    """A model of nodes of Dropout, with masks, whose inputs but x are the cases. kind: the type to which x is cast, and in which
    the nodes compute."""
    arrays, nodes, outputs = {"x": np.asarray(x)}, [], []
    for k, inputs in enumerate(cases):
        names = [f"ratio{k}", f"mode{k}"][:len(inputs)]
        arrays |= dict(zip(names, map(np.asarray, inputs)))
        y = f"narrow_y{k}" if kind else f"y{k}"
        nodes.append(node("Dropout", ["narrow" if kind else "x", *names], [y, f"mask{k}"], **attributes))
        nodes += [node("Cast", [y], [f"y{k}"], to=CODE["float"])] if kind else []
        outputs += [value(f"y{k}", name_of(arrays["x"])), value(f"mask{k}", "bool" if opset >= 10 else name_of(arrays["x"]))]
    nodes = ([node("Cast", ["x"], ["narrow"], to=CODE[kind])] if kind else []) + nodes
    fixed = {name: array for name, array in arrays.items() if any(name.startswith(start) for start in constants)}
    given = {name: array for name, array in arrays.items() if name not in fixed}
    whole = graph(nodes, [value(name, name_of(a), a.shape) for name, a in given.items()], outputs,
                  [tensor(name, name_of(a), a.shape, a.ravel().tolist()) for name, a in fixed.items()])
    return model(whole, opset=opset), given


def dropout_of(x, inputs=(), constants=(), **how):
    return dropouts_of(x, [inputs], constants, **how)


def wrongly_dropped(got, x, ratio, rtol, mask_type=np.bool_):
    """Faults of the outputs `got`: y = scale * x * mask, with scale = 1 / (1 - ratio). Source: ONNX, Dropout 12."""
    if isinstance(got[0], str):
        return got
    y, mask = got
    faults = wrong_type(y, x.dtype, x.shape) + wrong_type(mask, mask_type, x.shape)
    if not faults and x.size > 1000:
        faults = unlike(mask, [ratio, 1 - ratio])
    if not faults:
        with np.errstate(invalid="ignore"):
            want = x.astype(float) * mask.astype(float) / (1 - float(ratio))
        faults = [] if np.allclose(y.astype(float), want, rtol=rtol, atol=0, equal_nan=True) else ["y is not scale * x * mask"]
    return faults


def check_dropout(tap, lightnet):
    """Dropout in training, and Dropout that keeps all elements."""
    constants = {"constants": ("ratio", "mode"), "the ratio an input": ("mode",), "the mode an input": ("ratio",),
                 "both inputs": ()}
    kinds = {"float": (F32, None, 1e-6), "double": (np.float64, None, 1e-14), "float16": (np.float16, None, 2e-3),
             "bfloat16": (F32, "bfloat16", 2 ** -7)}
    for name, (given, kind, rtol) in kinds.items():
        x = np.linspace(-1, 2, LEN).astype(given)
        for sentence, which in constants.items():
            ratios = given(0.25), np.float64(0.3), np.float16([0.75])
            got = run(lightnet, *dropouts_of(x, [(ratio, np.bool_(True)) for ratio in ratios], which, kind=kind, seed=9))
            faults = got if isinstance(got[0], str) else [fault for k, ratio in enumerate(ratios)
                                                          for fault in wrongly_dropped(got[2 * k:][:2], x, ratio.max(), rtol)]
            tap.check(f"Dropout of {name} in training, {sentence}", faults)
    check_dropout_forms(tap, lightnet)
    check_dropout_that_keeps(tap, lightnet, constants)
    check_old_dropout(tap, lightnet)


def check_dropout_forms(tap, lightnet):
    x = np.linspace(1, 2, LEN).astype(F32)
    for opset in (12, 13, 22):
        got = run(lightnet, *dropout_of(x, [F32(0.5), np.bool_([True])], opset=opset, seed=9))
        tap.check(f"Dropout {opset} in training", wrongly_dropped(got, x, 0.5, 1e-6))
    nodes = [node("Dropout", ["x", "", "mode"], ["y", "mask"], seed=9)]
    whole = model(graph(nodes, [value("x", "float", [LEN]), value("mode", "bool", [])],
                        [value("y", "float"), value("mask", "bool")]), opset=22)
    for mode in (True, False):
        got = run(lightnet, whole, {"x": x, "mode": np.bool_(mode)})
        tap.check(f"Dropout without a ratio, mode {mode}", wrongly_dropped(got, x, 0.5, 1e-6) if mode else kept_all(got, x))
    nodes = [node("Greater", ["sign", "zero"], ["mode"]), node("Dropout", ["x", "ratio", "mode"], ["y", "mask"], seed=9)]
    whole = model(graph(nodes, [value("x", "float", [LEN]), value("ratio", "float", [1]), value("sign", "float", [1])],
                        [value("y", "float"), value("mask", "bool")], [tensor("zero", "float", [], [0])]), opset=22)
    for sign in (1, -1):
        got = run(lightnet, whole, {"x": x, "ratio": F32([0.75]), "sign": F32([sign])})
        tap.check(f"Dropout of a mode that the model computes, {sign}",
                  wrongly_dropped(got, x, 0.75, 1e-6) if sign > 0 else kept_all(got, x))
    for shape in ((0, 3), (), (3, 1, 2)):
        x = np.full(shape, 2, F32)
        for which in (("ratio", "mode"), ()):
            got = run(lightnet, *dropout_of(x, [F32(0.5), np.bool_(True)], which, seed=9))
            tap.check(f"Dropout of shape {shape}, {'constants' if which else 'inputs'}", wrongly_dropped(got, x, 0.5, 1e-6))
    whole, given = dropout_of(np.linspace(1, 2, LEN).astype(F32), [F32(0.5), np.bool_(True)])
    first, *others = [run(lightnet, whole, given, "--seed", "3", isa=isa) for isa in (None, "c", "avx2")]
    tap.check("Dropout of inputs gives the same on all instruction sets", [] if all(is_same(first, each) for each in others) else
              ["it differs"])
    tap.check("and as the reference program has it", verified(lightnet, whole, given))
    x = np.repeat(np.array([np.inf, -np.inf, np.nan, -0.0], F32), 100)
    for which in (("ratio", "mode"), ()):
        got = run(lightnet, *dropout_of(x, [F32(0.5), np.bool_(True)], which, seed=9))
        tap.check(f"Dropout of infinities and NaN, {'constants' if which else 'inputs'}", wrongly_dropped(got, x, 0.5, 0))
    ratio, x = F32(1 - 1e-5), np.full(2 ** 20, 1e-3, np.float16)
    for which in (("ratio", "mode"), ()):
        got = run(lightnet, *dropout_of(x, [ratio, np.bool_(True)], which, seed=9))
        tap.check(f"Dropout of float16 has factors beyond its range, {'constants' if which else 'inputs'}",
                  wrongly_dropped(got, x, ratio, 2e-3) or ([] if got[1].any() else ["all elements are dropped"]))
    got = run(lightnet, *dropout_of(np.ones(LEN, F32), [F32(1), np.bool_(True)], seed=9))
    tap.check("a ratio of 1 at run time drops all elements", [] if not got[0].any() and not got[1].any() else [f"{got}"])


def kept_all(got, x, mask_type=np.bool_):
    """Faults unless y is x, and the mask has only ones."""
    if isinstance(got[0], str):
        return got
    same = np.array_equal(got[0], x) and got[0].dtype == x.dtype
    ones = got[1].dtype == mask_type and got[1].shape == x.shape and got[1].all()
    return ([] if same else ["y is not x"]) + ([] if ones else ["the mask has zeros"])


def check_dropout_that_keeps(tap, lightnet, constants):
    for kind in FLOATS:
        x = np.linspace(-1, 2, 100).astype(NUMPY[kind])
        for sentence, which in constants.items():
            modes = (0.5, False), (0, True), (0, False), (1, False)
            cases = [(NUMPY[kind](ratio), np.bool_(mode)) for ratio, mode in modes]
            got = run(lightnet, *dropouts_of(x, cases, which, seed=9))
            faults = got if isinstance(got[0], str) else [f"ratio {ratio}, mode {mode}: {fault}"
                                                          for k, (ratio, mode) in enumerate(modes)
                                                          for fault in kept_all(got[2 * k:][:2], x)]
            tap.check(f"Dropout of {kind} without training or with ratio 0 keeps all, {sentence}", faults)
    x = np.ones(100, F32)
    for inputs in ([], [F32(0.5)]):
        got = run(lightnet, *dropout_of(x, inputs))
        tap.check(f"Dropout of {1 + len(inputs)} inputs keeps all", kept_all(got, x))


def check_old_dropout(tap, lightnet):
    """Up to opset 6 the mode is an attribute. Up to opset 9 the mask has the type of the data."""
    x = np.linspace(1, 2, LEN).astype(F32)
    for opset in (1, 6):
        for how in ({"ratio": 0.25}, {}):
            got = run(lightnet, *dropout_of(x, opset=opset, is_test=0, **how), "--seed", "1")
            tap.check(f"Dropout {opset} of is_test 0, {how}", wrongly_dropped(got, x, how.get("ratio", 0.5), 1e-6, F32))
        for how in ({"is_test": 1}, {}, {"is_test": 0, "ratio": 0.0}):
            tap.check(f"Dropout {opset} of {how} keeps all", kept_all(run(lightnet, *dropout_of(x, opset=opset, **how)), x, F32))
    for opset in (7, 9, 10, 11):
        tap.check(f"Dropout {opset} keeps all", kept_all(run(lightnet, *dropout_of(x, opset=opset, ratio=0.25)), x,
                                                         F32 if opset < 10 else np.bool_))


# ---- seeds ----

def program(nodes, n_outputs, kind="float"):
    outputs = [f"y{i}" for i in range(n_outputs)]
    return model(graph(nodes, [], [value(name, kind) for name in outputs]), opset=22)


EVERY = [("RandomUniform", [], {"shape": [3001]}), ("RandomNormal", [], {"shape": [3001]}),
         ("RandomUniformLike", [np.ones(3001, F32)], {}), ("RandomNormalLike", [np.ones(3001, F32)], {}),
         ("Bernoulli", [np.full(3001, 0.5, F32)], {}), ("Multinomial", [np.zeros((3, 4), F32)], {"sample_size": 1000}),
         ("Dropout", [np.ones(3001, F32), F32(0.5), np.bool_(True)], {})]


def of_every(op_type, arrays, how, seed=None):
    kind = "int32" if op_type == "Multinomial" else "float"
    more = {} if seed is None else {"seed": int(seed) if op_type == "Dropout" else float(seed)}
    return one(op_type, arrays, [kind], constants=(1, 2) if op_type == "Dropout" else (), **how, **more)


def check_seeds(tap, lightnet):
    for op_type, arrays, how in EVERY:
        first = run(lightnet, *of_every(op_type, arrays, how, 1))
        again = [run(lightnet, *of_every(op_type, arrays, how, 1), *options, isa=isa)
                 for options, isa in (((), None), ((), "c"), ((), "avx2"), (("--threads", "1"), None), (("--threads", "3"), None),
                                      (("--seed", "4"), None))]
        tap.check(f"{op_type} with a seed gives the same numbers on all instruction sets and threads",
                  [f"run {i}" for i, other in enumerate(again) if not is_same(first, other)])
        tap.check(f"{op_type} with another seed gives others",
                  ["the same"] if is_same(first, run(lightnet, *of_every(op_type, arrays, how, 2))) else [])
        loose = [run(lightnet, *of_every(op_type, arrays, how)) for _ in range(2)]
        tap.check(f"{op_type} without a seed gives other numbers in each run", ["the same"] if is_same(*loose) else [])
        fixed = [run(lightnet, *of_every(op_type, arrays, how), "--seed", "4", isa=isa) for isa in (None, "c")]
        tap.check(f"{op_type} without a seed depends on that of the run", [] if is_same(*fixed) else ["it differs"])


def check_programs(tap, lightnet):
    twice = program([node("RandomUniform", [], [f"y{i}"], shape=[8]) for i in range(2)], 2)
    got = run(lightnet, twice, {}, "--seed", "1")
    tap.check("equal nodes without a seed are two sources of numbers", ["the same"] if is_same(got[:1], got[1:]) else [])
    tap.check("and the optimized program draws what the reference program draws", verified(lightnet, twice))
    same = program([node("RandomUniform", [], [f"y{i}"], shape=[8], seed=3.0) for i in range(2)], 2)
    got = run(lightnet, same, {})
    tap.check("equal nodes with a seed give equal numbers", [] if is_same(got[:1], got[1:]) else ["they differ"])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "compiled.safetensors")
        done = call([lightnet, "compile", *write(folder, twice, {}), "-o", path])
        outs = []
        for k in range(2):
            out = os.path.join(folder, str(k))
            done = done if done.returncode else call([lightnet, "run", path, "-O", out])
            outs.append(None if done.returncode else np.load(os.path.join(out, "output_0.npy")))
        tap.check("a compiled model draws in each run, too", failure(done) or
                  (["the same"] if np.array_equal(*outs) else []))


def verified(lightnet, whole, inputs=None):
    with tempfile.TemporaryDirectory() as folder:
        return failure(call([lightnet, "verify", "--reference", *write(folder, whole, inputs or {})]))


def check_loops(tap, lightnet):
    """Of a known and of an unknown number of iterations: the first is unrolled."""
    inner = graph([node("RandomUniform", [], ["r"], shape=[3])], [value("i", "int64", []), value("c", "bool", [])],
                  [value("c", "bool", []), value("r", "float")])
    outer = node("RandomUniform", [], ["first"], shape=[3])
    for sentence, inputs, constants, given in (
            ("unrolled", [], [tensor("m", "int64", [], [4])], {}),
            ("with a number of iterations that is an input", [value("m", "int64", [])], [], {"m": np.int64(4)})):
        whole = model(graph([outer, node("Loop", ["m", ""], ["all"], body=inner)], inputs,
                            [value("first", "float"), value("all", "float")], constants), opset=22)
        got = run(lightnet, whole, given, "--seed", "2")
        rows = [] if isinstance(got[0], str) else [got[0], *got[1]]
        tap.check(f"a loop {sentence} draws anew in each iteration",
                  got if isinstance(got[0], str) else
                  [] if len(rows) == 5 and len({row.tobytes() for row in rows}) == 5 else [f"{rows}"])
        tap.check(f"a loop {sentence} draws the same for the same seed",
                  [] if is_same(got, run(lightnet, whole, given, "--seed", "2")) else ["it differs"])


WRONG = [
    ("Dropout", [np.ones(3, F32), F32(1), np.bool_(True)], {}, "input 1, ratio, is 1, expected 0 or more and less than 1"),
    ("Dropout", [np.ones(3, F32), F32(np.nan), np.bool_(True)], {}, "expected 0 or more and less than 1"),
    ("Dropout", [np.ones(3, F32), F32([0.5, 0.5]), np.bool_(True)], {}, "input 1 has 2 elements, expected 1"),
    ("Dropout", [np.ones(3, F32), F32(0.5), np.zeros(0, np.bool_)], {}, "input 2 has 0 elements, expected 1"),
    ("Dropout", [np.ones(3, np.int32), F32(0.5), np.bool_(True)], {}, "input 0 is TL_INT32, expected a floating-point type"),
    ("RandomUniform", [], {"shape": [2, -3]}, "attribute 'shape' has -3"),
    ("RandomUniform", [], {"shape": [2], "low": 1.0, "high": 0.0}, "uniform distribution from 1 to 0"),
    ("RandomNormal", [], {"shape": [2], "scale": -1.0}, "the deviation at least 0"),
    ("RandomNormal", [], {"shape": [2], "dtype": CODE["int32"]}, "expected a floating-point type"),
    ("RandomNormalLike", [np.ones(3, np.int32)], {}, "expected a floating-point type"),
    ("Multinomial", [np.ones(3, F32)], {}, "1 dimensions, expected 2"),
]


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_numbers(tap, lightnet)
    check_choices(tap, lightnet)
    check_dropout(tap, lightnet)
    check_seeds(tap, lightnet)
    check_programs(tap, lightnet)
    check_loops(tap, lightnet)
    for op_type, arrays, attributes, words in WRONG:
        message = error_of(lightnet, *one(op_type, arrays, constants=range(1, len(arrays)), **attributes))
        tap.check(f"{op_type}: {words}", [] if message and words in message else [f"{message!r}"])
    for inputs, words in (([F32([0.5, 0.5]), np.bool_(True)], "the ratio has 2 elements, expected 1"),
                          ([F32(0.5), np.zeros(0, np.bool_)], "training_mode has 0 elements, expected 1"),
                          ([F32(0.5), F32(1)], "expected TL_BOOL")):
        message = error_of(lightnet, *dropout_of(np.ones(3, F32), inputs))
        tap.check(f"Dropout of inputs: {words}", [] if message and words in message else [f"{message!r}"])
    message = error_of(lightnet, *dropout_of(np.ones(3, F32), opset=6, is_test=0, ratio=1.0))
    words = "attribute 'ratio' is 1, expected 0 or more and less than 1"
    tap.check(f"Dropout of attributes: {words}", [] if message and words in message else [f"{message!r}"])
    tap.end()


if __name__ == "__main__":
    main()
