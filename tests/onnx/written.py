#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: written.py LIGHTNET. Models that `convert` writes as ONNX: they give the results of the original, and have its names, types
and sizes; operators that ONNX lacks are named, all of them. Debian's onnx.checker checks the files, if it is installed."""
import collections
import json
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
from onnx_reader import all_of, one_of, text_of
from onnx_writer import graph, model, node, tensor, value
from suite import complaint
from tap import ROOT, Tap

LIGHTNET = sys.argv[1]
DTYPES = {"TL_FLOAT": np.float32, "TL_DOUBLE": np.float64, "TL_INT64": np.int64, "TL_INT32": np.int32, "TL_UINT8": np.uint8,
          "TL_BOOL": np.bool_}


def call(*words):
    return subprocess.run([LIGHTNET, *words], capture_output=True, text=True, errors="replace")


# ---- models and their results ----

def inputs_of(path, *options):
    """Name -> (dtype, shape) of a model's inputs; a free size is None."""
    done = call("show", path, "--json", *options)
    assert not done.returncode, done.stderr
    return {entry["name"]: (DTYPES[entry["dtype"]], entry["shape"]) for entry in json.loads(done.stdout)["inputs"]}


def random_inputs(folder, inputs, seed=1):
    """-i NAME=FILE for each, of small numbers."""
    generator, words = np.random.default_rng(seed), []
    for i, (name, (dtype, shape)) in enumerate(inputs.items()):
        array = generator.integers(0, 3, shape) if dtype != np.float32 else generator.uniform(-1, 1, shape)
        path = os.path.join(folder, f"in{i}.npy")
        np.save(path, np.asarray(array).astype(dtype))
        words += ["-i", f"{name}={path}"]
    return words


def results(folder, name, path, *options):
    """The outputs of a run, in order, or the error."""
    out = os.path.join(folder, "out_" + name)
    done = call("run", path, *options, "-O", out)
    if done.returncode:
        return done.stderr
    files = sorted((f for f in os.listdir(out) if f.endswith(".npy")), key=lambda f: int(f[7:-4]))
    return [np.load(os.path.join(out, f)) for f in files]


def differences(one, other, tolerance):
    if isinstance(one, str) or isinstance(other, str):
        return [text for text in (one, other) if isinstance(text, str)]
    faults = [] if len(one) == len(other) else [f"{len(one)} outputs, then {len(other)}"]
    for i, (a, b) in enumerate(zip(one, other)):
        if a.dtype.kind == "U" and b.dtype.kind == "U":
            faults += [] if np.array_equal(a, b) else [f"output {i}: {a.tolist()}, then {b.tolist()}"]
        elif a.dtype != b.dtype or a.shape != b.shape:
            faults.append(f"output {i}: {a.dtype} {a.shape}, then {b.dtype} {b.shape}")
        elif not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
            faults.append(f"output {i} differs by {np.nanmax(np.abs(a.astype(float) - b.astype(float)))}")
    return faults


def round_trip(folder, path, options=(), given=None, sizes=(), tolerance=0, shape=(), fixed=()):
    """Converts, checks and runs the model, and converts it again. `options` are for reading the original, `shape` for both,
    `fixed` sizes for the conversion only, `sizes` for runs with open sizes; given: the inputs, random ones by default."""
    written, again = os.path.join(folder, "written.onnx"), os.path.join(folder, "again.onnx")
    done = call("convert", path, *options, *shape, *fixed, "-o", written)
    if done.returncode:
        return [done.stderr]
    faults = [f for f in [complaint(written)] if f]
    if given is None:
        given = random_inputs(folder, {name: (dtype, sizes[name] if name in sizes else dims)
                                       for name, (dtype, dims) in inputs_of(path, *options).items()})
    faults += differences(results(folder, "original", path, *options, *given),
                          results(folder, "written", written, *given), tolerance)
    done = call("convert", written, *shape, "-o", again)
    return faults + ([done.stderr] if done.returncode else [])


def check_examples(tap):
    digits = os.path.join(ROOT, "examples/digits")
    weights = ["-f", os.path.join(digits, "digits.safetensors")]
    seven = ["-i", os.path.join(digits, "seven.pgm")]
    cases = [
        ("digits/digits.onnx", {"given": seven}),
        ("digits/digits.json", {"options": weights, "given": seven}),
        ("digits/digits-symbol.json", {"options": [*weights, "--shape", "image=1x1x28x28"], "given": seven}),
        ("classify/ten_shapes.onnx", {}),
        ("sentences/sentences.onnx", {"shape": ["--shape", "batch=1..4", "--shape", "sequence=1..16"],
                                      "sizes": {"ids": [3, 7], "mask": [3, 7]}, "tolerance": 1e-6}),
        ("table/machines.onnx", {"shape": ["--shape", "rows=1..9"],
                                 "sizes": {"operating": [5, 3], "age": [5, 2], "type": [5]}, "tolerance": 1e-6}),
        ("sound/speech.onnx", {"fixed": ["--shape", "samples=1x2048"], "tolerance": 1e-6,
                               "sizes": {"samples": [1, 2048], "tail": [1, 256], "state": [1, 1, 32]}}),
        ("../tests/cases/bodies.json", {}),
        ("networks/squeezenet.net", {"tolerance": 1e-6}),
        ("networks/shuffledet.net", {"tolerance": 1e-5}),
        ("networks/yolov3.net", {"tolerance": 1e-4}),
    ]
    for name, arguments in cases:
        if "yolov3" in name and os.environ.get("LN_TEST_ISAS"):
            tap.skip(f"{name} as ONNX", "too large under sanitizers")
            continue
        with tempfile.TemporaryDirectory() as folder:
            tap.check(f"{name} as ONNX gives the same results", round_trip(folder, os.path.join(ROOT, "examples", name), **arguments))


# ---- models of this file ----

def create(name, dtype, dims, data):
    return {"name": "make " + name, "optype": "source", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": name}],
            "params": [{"arg_name": "dtype", "value": dtype}, {"arg_name": "dims", "value": dims},
                       {"arg_name": "data", "value": data}]}


def op(name, optype, ins, outs, **params):
    return {"name": name, "optype": optype, "tensors_in": [{"arg_name": k, "name": v} for k, v in ins.items()],
            "tensors_out": [{"arg_name": k, "name": v} for k, v in outs.items()],
            "params": [{"arg_name": k, "value": v} for k, v in params.items()]}


def write_ir(folder, inputs, outputs, ops, bodies=None):
    path = os.path.join(folder, "model.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"inputs": inputs, "outputs": outputs, **({"bodies": bodies} if bodies else {}), "ops": ops}, file)
    return path


def odd_names():
    """Names with blanks, quotes, slashes, controls and characters beyond ASCII, like those of steps."""
    names = ["a b", 'quo"te', "x/Reshape", "\u00fc\u4e2d\U0001f600", "tab\there", "y/const"]
    ops = [create(names[0], "TL_FLOAT", [2, 3], [])]
    for before, after in zip(names, names[1:]):
        ops.append(op("op " + after, "view", {"src": before}, {"dst": after}, dims=[3, 2] if len(ops) % 2 else [2, 3]))
    return [names[0]], [names[-1]], ops


def scalars_and_empty():
    ops = [create("s", "TL_FLOAT", [], []), create("e", "TL_FLOAT", [0, 3], []), create("two", "TL_FLOAT", [], [2]),
           op("double", "binary", {"src1": "s", "src2": "two"}, {"dst": "t"}, op="TL_BINARY_MUL"),
           op("empty", "view", {"src": "e"}, {"dst": "v"}, dims=[3, 0, 2]),
           op("sum", "reduce", {"src": "e"}, {"dst": "r"}, op="TL_REDUCE_SUM", axes=[0], keepdims=False)]
    return ["s", "e"], ["t", "v", "r"], ops


def optional_inputs():
    """Inputs in the middle of the list, and at its end, are left out."""
    data = [0.1 * i for i in range(12)]
    ops = [create("x", "TL_FLOAT", [2, 6], []),
           op("norm", "layernorm", {"src": "x"}, {"dst": "n"}, axis=1, epsilon=1e-5),
           create("b", "TL_FLOAT", [6], data[:6]),
           op("biased", "layernorm", {"src": "n", "bias": "b"}, {"dst": "m"}, axis=1, epsilon=1e-5),
           op("padded", "pad", {"src": "m"}, {"dst": "p"}, before=[0, 1], after=[1, 0], mode="TL_PAD_CONSTANT")]
    return ["x"], ["p"], ops


def clashing_bodies():
    """Tensors of two bodies have the names of tensors around them; one body returns its input."""
    body = {"inputs": ["x"], "outputs": ["y"], "ops": [
        create("x", "TL_FLOAT", [4], []), op("relu", "unary", {"src": "x"}, {"dst": "y"}, func="TL_UNARY_RELU", alpha=1, beta=0)]}
    other = {"inputs": ["y"], "outputs": ["y"], "ops": [create("y", "TL_FLOAT", [4], [])]}
    ops = [create("c", "TL_BOOL", [], []), create("x", "TL_FLOAT", [4], []),
           op("neg", "unary", {"src": "x"}, {"dst": "y"}, func="TL_UNARY_NEG", alpha=1, beta=0),
           op("if", "branch", {"cond": "c", "src0": "y"}, {"dst0": "z"}, then_body="then", else_body="else")]
    return ["c", "x"], ["z", "y"], ops, {"then": body, "else": other}


def check_names(tap):
    cases = [("odd names", odd_names), ("scalars and empty tensors", scalars_and_empty),
             ("optional inputs that are left out", optional_inputs), ("names of bodies like those around them", clashing_bodies)]
    for sentence, made in cases:
        with tempfile.TemporaryDirectory() as folder:
            inputs, outputs, *rest = made()
            path = write_ir(folder, inputs, outputs, *rest)
            faults = round_trip(folder, path)
            if not faults:
                read = graph_of(os.path.join(folder, "written.onnx"))
                got = [[text_of(info, 1) for info in all_of(read, number)] for number in (11, 12)]
                faults = [] if got == [inputs, outputs] else [f"inputs and outputs {got}"]
            tap.check(sentence, faults)


def graph_of(path):
    with open(path, "rb") as file:
        return one_of(file.read(), 7)


def shape_of(info):
    """Numbers, and names of open sizes."""
    dims = all_of(one_of(one_of(one_of(info, 2), 1), 2), 1)
    return [text_of(d, 2) or one_of(d, 1, None) for d in dims]


def open_model(folder):
    """y = x W + b of any number of rows, the last two axes swapped."""
    nodes = [node("MatMul", ["x", "w"], ["p"]), node("Add", ["p", "b"], ["q"]), node("Transpose", ["q"], ["y"], perm=[0, 2, 1])]
    whole = graph(nodes, [value("x", "float", ["batch", "rows", 3])], [value("y", "float", ["batch", 2, "rows"])],
                  [tensor("w", "float", [3, 2], [1, 2, 3, 4, 5, 6]), tensor("b", "float", [2], [7, 8])])
    path = os.path.join(folder, "open.onnx")
    with open(path, "wb") as file:
        file.write(model(whole, opset=17))
    return path


def check_sizes(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = open_model(folder)
        faults = round_trip(folder, path, sizes={"x": [2, 5, 3]}, shape=["--shape", "rows=1..8"], fixed=["--shape", "batch=2"])
        if not faults:
            read = graph_of(os.path.join(folder, "written.onnx"))
            got = shape_of(one_of(read, 11)), shape_of(one_of(read, 12))
            faults = [] if got == ([2, "rows", 3], [2, 2, "rows"]) else [f"shapes {got}"]
        tap.check("open sizes keep their names, and others are numbers", faults)


def check_head(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = write_ir(folder, *optional_inputs())
        written = os.path.join(folder, "written.onnx")
        call("convert", path, "-o", written)
        with open(written, "rb") as file:
            data = file.read()
        opset = one_of(one_of(data, 8), 2, 0)
        faults = [] if (text_of(data, 2), opset, one_of(data, 1)) == ("LightNet", 17, 8) else [f"opset {opset}"]
        tap.check("the producer, the operator set and the version of the file", faults)


# ---- strings ----

def strings_model(folder, *more, **more_outs):
    """Each operator for strings, of an input x and constants, and more nodes and outputs."""
    ngrams = dict(mode="TFIDF", min_gram_length=1, max_gram_length=2, max_skip_count=1, ngram_counts=[0, 2], ngram_indexes=[0, 2, 1],
                  weights=[0.5, 2.0, 3.0])
    nodes = [node("StringConcat", ["x", "w"], ["joined"]), node("Equal", ["joined", "w"], ["equal"]),
             node("Cast", ["equal"], ["shown"], to=8), node("Concat", ["joined", "shown", "x"], ["all"], axis=0),
             node("StringSplit", ["all"], ["parts", "counts"], delimiter="a", maxsplit=3), node("StringSplit", ["w"], ["words"]),
             node("StringNormalizer", ["all"], ["normal"], case_change_action="UPPER", is_case_sensitive=1, stopwords=["true", "b", ""]),
             node("StringNormalizer", ["w"], ["plain"]), node("RegexFullMatch", ["all"], ["match"], pattern="[ab]*"),
             node("TfIdfVectorizer", ["x"], ["of_words"], pool_strings=["a", "b", "b", "c"], **ngrams),
             node("Size", ["x"], ["n"]), node("Reshape", ["n", "one"], ["row"]),
             node("TfIdfVectorizer", ["row"], ["of_numbers"], pool_int64s=[2**40, 3, 7, -2**40], **ngrams), *more]
    outs = {"parts": "string", "counts": "int64", "words": "string", "normal": "string", "plain": "string", "match": "bool",
            "of_words": "float", "of_numbers": "float", **more_outs}
    constants = [tensor("w", "string", [3], ["", "a b", "Gr\u00fcn"]), tensor("one", "int64", [1], [1])]
    whole = graph(nodes, [value("x", "string", [3])], [value(name, kind) for name, kind in outs.items()], constants)
    path = os.path.join(folder, "strings.onnx")
    with open(path, "wb") as file:
        file.write(model(whole, opset={"": 20, "ai.onnx.ml": 4}))
    return path


def check_strings(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = strings_model(folder)
        np.save(os.path.join(folder, "x.npy"), np.array(["b", "a", "c"]))
        given = ["-i", f"x={folder}/x.npy"]
        tap.check("operators for strings give the same results", round_trip(folder, path, given=given))
        apart = os.path.join(folder, "apart.onnx")
        done = call("convert", path, "--external-data", "-o", apart)
        tap.check("strings stay in the model with its data in a file beside it",
                  [done.stderr] if done.returncode else
                  differences(results(folder, "original", path, *given), results(folder, "apart", apart, *given), 0))
        path = strings_model(folder, node("LabelEncoder", ["x"], ["code"], domain="ai.onnx.ml", keys_strings=["a"], values_int64s=[1]),
                             code="int64")
        faults = round_trip(folder, path, given=given)
        if not faults:
            with open(os.path.join(folder, "written.onnx"), "rb") as file:
                sets = [(text_of(each, 1), one_of(each, 2)) for each in all_of(file.read(), 8)]
            faults = [] if sets == [("", 20), ("ai.onnx.ml", 3)] else [f"operator sets {sets}"]
        tap.check("labels are an operator of the domain ai.onnx.ml", faults)


# ---- types of 8 bits and less, and random numbers ----

def small_constants():
    """Constants of few bits, whose last byte is not full, and floats of 8 bits."""
    ops = [create("x", "TL_FLOAT", [3], [])]
    for dtype, data in (("INT4", [-8, 7, -1]), ("UINT4", [15, 0, 9]), ("INT2", [-2, 1, -1]), ("UINT2", [3, 0, 2]),
                        ("FLOAT4E2M1", [6, -0.5, 1.5]), ("FLOAT8E5M2", [1.25, -57344, 0]), ("FLOAT8E8M0", [0.25, 4, 1])):
        ops += [create(dtype, "TL_" + dtype, [3], data), op("wide " + dtype, "cast", {"src": dtype}, {"dst": "f" + dtype}, dtype="TL_FLOAT")]
        ops.append(op("sum " + dtype, "binary", {"src1": "x", "src2": "f" + dtype}, {"dst": "y" + dtype}, op="TL_BINARY_ADD"))
    return ["x"], [each["tensors_out"][0]["name"] for each in ops if each["optype"] == "binary"], ops


def few_bits_model(folder):
    """Products of ONNX Runtime's domain with weights of 4 bits, around half of their range and with zero points; gathered rows."""
    rng = np.random.default_rng(3)
    scales = tensor("s", "float", [24, 2], rng.uniform(0.5, 1, 48).tolist())
    weights = tensor("w", "uint8", [24, 2, 16], rng.integers(0, 256, 24 * 32).tolist())
    zeros = tensor("z", "uint8", [24, 1], rng.integers(0, 256, 24).tolist())
    table = tensor("t", "uint8", [5, 32], rng.integers(0, 256, 160).tolist())
    steps = tensor("ts", "float", [5, 2], rng.uniform(0.5, 1, 10).tolist())
    how = dict(domain="com.microsoft", K=64, N=24, bits=4, block_size=32)
    nodes = [node("MatMulNBits", ["x", "w", "s"], ["y"], **how), node("MatMulNBits", ["x", "w", "s", "z"], ["v"], **how),
             node("GatherBlockQuantized", ["t", "i", "ts"], ["g"], domain="com.microsoft", bits=4, block_size=32, quantize_axis=1)]
    whole = graph(nodes, [value("x", "float", [3, 64]), value("i", "int64", [4])],
                  [value(name, "float") for name in "yvg"], [scales, weights, zeros, table, steps])
    path = os.path.join(folder, "few.onnx")
    with open(path, "wb") as file:
        file.write(model(whole, opset={"": 21, "com.microsoft": 1}))
    return path


def check_small_types(tap):
    with tempfile.TemporaryDirectory() as folder:
        tap.check("constants of types of 8 bits and less", round_trip(folder, write_ir(folder, *small_constants())))
    with tempfile.TemporaryDirectory() as folder:
        faults = round_trip(folder, few_bits_model(folder), tolerance=1e-5)
        if not faults:
            kinds = collections.Counter(one_of(t, 2) for t in all_of(graph_of(os.path.join(folder, "written.onnx")), 5))
            faults = [] if kinds[21] == 2 and kinds[22] == 1 else [f"initializers of types {kinds}"]
            done = call("compile", os.path.join(folder, "written.onnx"), "-o", os.path.join(folder, "compiled.json"))
            with open(os.path.join(folder, "compiled.json"), encoding="utf-8") as file:
                ops = collections.Counter(each["optype"] for each in json.load(file)["ops"])
            faults += [] if not done.returncode and not ops["dequantize_cpu"] > 1 else [f"operators {ops}"]
        tap.check("weights of 4 bits stay packed", faults)


def check_random(tap):
    nodes = [node("RandomUniform", [], ["a"], shape=[50], seed=3.0), node("RandomNormal", [], ["b"], shape=[7, 9], seed=-2.5, mean=1.0),
             node("RandomNormalLike", ["x"], ["c"], seed=0.0, dtype=11), node("Bernoulli", ["x"], ["d"], seed=7.0, dtype=9),
             node("Multinomial", ["x"], ["e"], sample_size=20, seed=1e30), node("RandomUniformLike", ["s"], ["f"], seed=4.0)]
    outs = {"a": "float", "b": "float", "c": "double", "d": "bool", "e": "int32", "f": "float"}
    whole = graph(nodes, [value("x", "float", [3, 5]), value("s", "float", [])], [value(*each) for each in outs.items()])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.onnx")
        with open(path, "wb") as file:
            file.write(model(whole, opset=17))
        tap.check("random operators keep their seeds", round_trip(folder, path))


def check_shifts(tap):
    """Shifts of signed integers by constants, as products and quotients; by one that has no power in the type, as an error."""
    def shifts(*by):
        ops = [create("i", "TL_INT32", [6], []), create("l", "TL_INT64", [6], []), create("s", "TL_INT16", [6], []),
               create("bi", "TL_INT32", [len(by)], by), create("bl", "TL_INT64", [1], [62]), create("bs", "TL_INT16", [], [14])]
        ops += [op(f"{a}{way}", "binary", {"src1": a, "src2": "b" + a}, {"dst": f"{a}{way}"}, op="TL_BINARY_SHIFT_" + way)
                for a in "ils" for way in ("LEFT", "RIGHT")]
        return ["i", "l", "s"], [each["name"] for each in ops[6:]], ops

    with tempfile.TemporaryDirectory() as folder:
        given = []
        for name, dtype in (("i", np.int32), ("l", np.int64), ("s", np.int16)):
            ends = np.iinfo(dtype)
            np.save(os.path.join(folder, name + ".npy"), np.array([ends.min, -9, -1, 0, 5, ends.max], dtype))
            given += ["-i", f"{name}={folder}/{name}.npy"]
        tap.check("shifts of signed integers", round_trip(folder, write_ir(folder, *shifts(0, 1, 2, 3, 4, 30)), given=given))
        for by, reason in ((31, "a shift of TL_INT32 by 31"), (-1, "a shift of TL_INT32 by -1")):
            done = call("convert", write_ir(folder, *shifts(by)), "-o", os.path.join(folder, "wide.onnx"))
            wanted = f"binary (2 nodes, first 'iLEFT'; {reason})"
            tap.check(f"a shift by {by}, which is no power of two in the type", [] if wanted in done.stderr else [done.stderr])
        ops = [create("l", "TL_INT64", [2], []), create("b", "TL_INT64", [2], []), create("far", "TL_INT64", [], [-9e18]),
               *(op(by, "binary", {"src1": "l", "src2": by}, {"dst": "y" + by}, op="TL_BINARY_SHIFT_LEFT") for by in ("b", "far"))]
        for kept, reason in ((3, "input 'src2' is not a constant"), (4, "a shift of TL_INT64 by -9e+18")):
            made = write_ir(folder, ["l", "b"], ["y" + ops[kept]["name"]], [*ops[:3], ops[kept]])
            done = call("convert", made, "-o", os.path.join(folder, "wide.onnx"))
            tap.check(f"a shift: {reason}", [] if reason in done.stderr else [done.stderr])
        none = [create("i", "TL_INT32", [1], []), create("b", "TL_INT32", [0], []),
                op("y", "binary", {"src1": "i", "src2": "b"}, {"dst": "y"}, op="TL_BINARY_SHIFT_RIGHT")]
        tap.check("no shifts", round_trip(folder, write_ir(folder, ["i"], ["y"], none)))


def check_compositions(tap):
    """Operators that become several nodes of ONNX."""
    x, other = [-7.5, 7.5, -1, 0, 2, -3], [2, -2, 3, -1.5, 2, -3]
    makes = [create("x", "TL_FLOAT", [2, 3], []), create("other", "TL_FLOAT", [2, 3], []), create("slopes", "TL_FLOAT", [4, 2, 3], [0.5, 2] * 12),
             create("cube", "TL_FLOAT", [2, 2, 3], []), create("lens", "TL_INT64", [2], [3, 2])]
    ops = [op("mod", "binary", {"src1": "x", "src2": "other"}, {"dst": "mod"}, op="TL_BINARY_MOD"),
           op("least", "binary", {"src1": "x", "src2": "other"}, {"dst": "least"}, op="TL_BINARY_PICK_MIN"),
           op("prelu", "binary", {"src1": "x", "src2": "slopes"}, {"dst": "prelu"}, op="TL_BINARY_PRELU"),
           op("tanh", "unary", {"src": "x"}, {"dst": "tanh"}, func="TL_UNARY_SCALEDTANH", alpha=1.5, beta=0.5),
           op("swish", "unary", {"src": "x"}, {"dst": "swish"}, func="TL_UNARY_HARDSWISH", alpha=0.25, beta=0.5),
           op("turn", "reverse_sequence", {"src": "cube", "lens": "lens"}, {"dst": "turn"}, time_axis=2, batch_axis=0)]
    arrays = {"x": np.array(x, np.float32).reshape(2, 3), "other": np.array(other, np.float32).reshape(2, 3),
              "cube": np.arange(12, dtype=np.float32).reshape(2, 2, 3)}
    for each in ops:
        with tempfile.TemporaryDirectory() as folder:
            given, used = [], [entry["name"] for entry in each["tensors_in"]]
            for name in sorted(arrays.keys() & set(used)):
                np.save(os.path.join(folder, name + ".npy"), arrays[name])
                given += ["-i", f"{name}={folder}/{name}.npy"]
            path = write_ir(folder, sorted(arrays.keys() & set(used)), [each["name"]], [m for m in makes if m["name"][5:] in used] + [each])
            tap.check(f"{each['optype']} '{each['name']}' as several nodes", round_trip(folder, path, given=given, tolerance=1e-6))


def check_linear_attention(tap):
    """What the rules of ONNX's operator, its scale or its heads cannot be; and open sizes."""
    def attention(dims, beta=None, **params):
        b, t, h, g, d, e = dims
        ops = [create("q", "TL_FLOAT", [b, t, h, d], []), create("k", "TL_FLOAT", [b, t, g, d], []), create("v", "TL_FLOAT", [b, t, g, e], []),
               *([create("beta", "TL_FLOAT", beta, [])] if beta else [])]
        names = {name: name for name in ["q", "k", "v"] + (["beta"] if beta else [])}
        return list(names), ["y", "s"], [*ops, op("y", "linear_attention", names, {"dst": "y", "state": "s"}, **params)]

    cases = [((1, 2, 2, 1, 3, 4), {"beta": [1, 2, 1]}, "parameter 'delta' and input 'beta' need each other"),
             ((1, 2, 2, 1, 3, 4), {"delta": True}, "parameter 'delta' and input 'beta' need each other"),
             ((1, 2, 2, 1, 3, 4), {"scale": 1e-50}, "parameter 'scale' is 0, or a head is empty"), ((1, 2, 2, 1, 0, 4), {}, "parameter 'scale' is 0, or a head is empty"),
             ((1, 2, 2, 1, 3, 0), {}, "parameter 'scale' is 0, or a head is empty")]
    for dims, params, reason in cases:
        with tempfile.TemporaryDirectory() as folder:
            done = call("convert", write_ir(folder, *attention(dims, **params)), "-o", os.path.join(folder, "none.onnx"))
            tap.check(f"linear attention: {reason}", [] if reason in done.stderr and done.returncode == 1 else [done.stderr])
    for dims in ((2, 3, 4, 2, 5, 6), (0, 3, 4, 2, 5, 6), (2, 0, 4, 2, 5, 6)):
        with tempfile.TemporaryDirectory() as folder:
            made = attention(dims, beta=[dims[0], dims[1], 1], delta=True, scale=0.25)
            tap.check(f"linear attention of {dims}", round_trip(folder, write_ir(folder, *made)))


# ---- what cannot be written ----

def check_missing(tap):
    with tempfile.TemporaryDirectory() as folder:
        ops = [create("x", "TL_FLOAT", [4], []), create("m", "TL_INT8", [2, 2], []),
               *(op(f"print{i}", "print", {"src": "x"}, {}, msg="x") for i in range(3)),
               op("product", "matmul", {"src1": "m", "src2": "m"}, {"dst": "p"}),
               op("same", "view", {"src": "x"}, {"dst": "v"}, dims=[4]),
               op("sorted", "sort1d", {"src_key": "x"}, {"dst_key": "s"}, dir="TL_SORT_DIR_ASCENDING"),
               op("after", "unary", {"src": "v"}, {"dst": "w"}, func="TL_UNARY_NEG", alpha=1, beta=0)]
        path, out = write_ir(folder, ["x", "m"], ["p", "s", "w"], ops), os.path.join(folder, "out.onnx")
        done = call("convert", path, "-o", out)
        wanted = ["operators that ONNX has no nodes for: print (3 nodes, first 'print0')",
                  "matmul (1 node, first 'product'; ONNX's MatMul does not support TL_INT8)",
                  "sort1d (1 node, first 'sorted'; it overwrites 'x', which is read by another name)"]
        faults = [f"no '{text}' in: {done.stderr}" for text in wanted if text not in done.stderr]
        faults += ["a file remains"] if os.path.exists(out) or done.returncode != 1 else []
        tap.check("all operators that ONNX lacks are named", faults)


def check_trees(tap):
    """Two roots share a tree, one of whose leaves has two votes; a node that is its own child."""
    def forest(child):
        parts = {"split": ("FLOAT", [4], [0.5, -1, 0, 0]), "feature": ("INT32", [4], [0, 2, -1, -1]), "child": ("INT32", [4, 2], child),
                 "root": ("INT32", [2], [0, 1]), "weight": ("FLOAT", [3], [1, 2, 4]), "start": ("INT32", [3], [0, 1, 3]),
                 "base": ("FLOAT", [1], [8])}
        ops = [create("x", "TL_FLOAT", [5, 2], []), *(create(name, "TL_" + dtype, dims, data) for name, (dtype, dims, data) in parts.items())]
        return ["x"], ["y"], [*ops, op("trees", "tree_ensemble", {"src": "x", **{name: name for name in parts}}, {"dst": "y"}, targets=1)]

    with tempfile.TemporaryDirectory() as folder:
        path = write_ir(folder, *forest([1, 2, 2, 3, 0, 0, 1, 0]))
        np.save(os.path.join(folder, "x.npy"), np.float32([[0, 1], [0.5, 0], [1, 2], [np.nan, 1], [0.25, -3]]))
        tap.check("trees that share nodes, and leaves of several votes", round_trip(folder, path, given=["-i", f"x={folder}/x.npy"]))
        done = call("convert", write_ir(folder, *forest([1, 2, 0, 3, 0, 0, 1, 0])), "-o", os.path.join(folder, "loop.onnx"))
        tap.check("trees with a cycle", [] if "its trees are invalid, or have more than 65536 nodes" in done.stderr else [done.stderr])


def check_external(tap):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(ROOT, "examples/digits/digits.onnx")
        seven = ["-i", os.path.join(ROOT, "examples/digits/seven.pgm")]
        written, apart = os.path.join(folder, "written.onnx"), os.path.join(folder, "apart.onnx")
        faults = [done.stderr for done in (call("convert", path, "-o", written),
                                           call("convert", path, "--external-data", "-o", apart)) if done.returncode]
        faults = faults or differences(results(folder, "one", written, *seven), results(folder, "two", apart, *seven), 0)
        if not faults:
            sizes = [os.path.getsize(name) for name in (written, apart, apart + ".data")]
            faults = [] if sizes[1] < sizes[0] / 4 and sizes[2] > sizes[0] / 2 else [f"files of {sizes} bytes"]
            locations = {text_of(entry, 2) for t in all_of(graph_of(apart), 5) for entry in all_of(t, 13) if text_of(entry, 1) == "location"}
            faults += [] if locations == {"apart.onnx.data"} else [f"locations {locations}"]
        done = call("convert", path, "--external-data", "--to", "onnx", "-o", "-")
        faults += [] if "external data; write it to a file" in done.stderr else [f"standard output: {done.stderr}"]
        tap.check("large data in a file beside the model", faults)


def main():
    tap = Tap()
    check_head(tap)
    check_names(tap)
    check_sizes(tap)
    check_strings(tap)
    check_small_types(tap)
    check_random(tap)
    check_shifts(tap)
    check_compositions(tap)
    check_linear_attention(tap)
    check_missing(tap)
    check_trees(tap)
    check_external(tap)
    check_examples(tap)
    tap.end()


if __name__ == "__main__":
    main()
