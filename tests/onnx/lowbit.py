#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: lowbit.py LIGHTNET. Constants of 2 and 4 bits, and products with them, in the forms in which exporters write them.
Elements of the sources are small integers and scales powers of two, so that every float is exact, and results must be equal.
Rules must find all products: none is computed with floats; and their weights take half a byte or a quarter."""
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import Part, call, elements, error_of, failure, faults_of, faults_of_parts, joined, ops_of, write
from onnx_writer import field, graph, model, node, packed as packed_bytes, repeated, tensor, value
from tap import Tap

ISAS = os.environ.get("LN_TEST_ISAS", "c avx2 best").split()
F32 = np.float32
RANGES = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}


def spread(seed, low, high, shape):
    return np.random.default_rng(seed).integers(low, high + 1, shape)


def weights(seed, kind, k, n, block, has_zeros):
    """Elements, scales, zero points (or None), and their dequantized values, [k, n]."""
    w = spread(seed, *RANGES[kind], (k, n))
    blocks = -(-k // block)
    scale = (2.0 ** -spread(seed + 1, 1, 4, (blocks, n))).astype(F32)
    zero = spread(seed + 2, *RANGES[kind], (blocks, n)) if has_zeros else None
    of = np.arange(k) // block
    return w, scale, zero, (w - (0 if zero is None else zero[of])) * scale[of].astype(float)


def packed(kind, array):
    """The arguments of tensor() for it."""
    return kind, list(array.shape), array.ravel().tolist()


def product(sentence, kind, shape, k, n, block, has_zeros, how):
    """`how`: the weight as it is, transposed before the product, or by Gemm; block `k`: a scale for each column."""
    seed = len(sentence) + k + n
    w, scale, zero, real = weights(seed, kind, k, n, block, has_zeros)
    x = spread(seed + 5, -4, 4, shape + (k,)).astype(F32)
    bias = spread(seed + 6, -9, 9, (n,)).astype(F32)
    is_turned, is_each = how != "MatMul", block >= k
    given = [array if array is None or not is_turned else array.T for array in (w, scale, zero)]
    if is_each:
        given[1:] = [array if array is None else array.reshape(n) for array in given[1:]]
    constants = {"w": packed(kind, given[0]), "s": elements(given[1]), "b": elements(bias)}
    inputs = ["w", "s"]
    if has_zeros:
        constants["z"] = packed(kind, given[2])
        inputs += ["z"]
    axis = 1 if is_turned != is_each else 0
    nodes = [node("DequantizeLinear", inputs, ["f"], axis=axis, **({} if is_each else {"block_size": block}))]
    result = x.astype(float) @ real
    if how == "Gemm":
        nodes.append(node("Gemm", ["x", "f", "b"], ["y"], transB=1))
        result = result + bias
    else:
        if is_turned:
            nodes.append(node("Transpose", ["f"], ["t"], perm=[1, 0]))
        nodes.append(node("MatMul", ["x", "t" if is_turned else "f"], ["y"]))
        del constants["b"]
    return Part(sentence, 25, nodes, {"x": x}, {"y": result.astype(F32)}, constants)


def products():
    for kind in RANGES:
        for how in ("MatMul", "Transpose", "Gemm"):
            for has_zeros in (False, True):
                for block in (16, 32, 80):
                    for m in (1, 9, 40):
                        yield product(f"{kind} {how}, zeros {has_zeros}, blocks of {block}, {m} rows", kind, (m,), 80, 33, block,
                                      has_zeros, how)
    yield product("several axes", "int4", (2, 3, 5), 70, 20, 32, True, "MatMul")
    yield product("one column", "uint4", (3,), 64, 1, 32, True, "MatMul")


def constants():
    """Constants of each type, also as scalars, without elements, and as attributes of Constant, cast to floats by dequantize."""
    for kind, (low, high) in RANGES.items():
        for shape in ((), (1,), (3,), (7, 3), (2, 0)):
            w = spread(len(kind) + len(shape), low, high, shape)
            each = {"s": ("float", [], [0.5]), "w": packed(kind, w)}
            yield Part(f"{kind} {shape}", 25, [node("DequantizeLinear", ["w", "s"], ["y"])], {}, {"y": (w * 0.5).astype(F32)}, each)
        w = spread(9, low, high, (5,))
        yield Part(f"{kind} of Constant", 25,
                   [node("Constant", [], ["w"], value=tensor("", *packed(kind, w))), node("DequantizeLinear", ["w", "s"], ["y"])],
                   {}, {"y": (w * 0.5).astype(F32)}, {"s": ("float", [], [0.5])})


def nbits_model(bits, k, n, block, bytes_of, inputs=("x", "w", "s"), zeros=None, bias=None, scales=None, dtype="float", rank=2,
                groups=None, rows=2, **more):
    """MatMulNBits with weights of `bytes_of`, with any other error. `zeros`: bytes, or an array of floats."""
    blocks = -(-k // block)
    constants = [tensor("w", "uint8", [n, blocks, block * bits // 8], list(bytes_of)), tensor("s", dtype, [n * blocks], scales)]
    if zeros is not None:
        constants.append(tensor("z", "uint8" if isinstance(zeros, bytes) else dtype, [len(zeros)], list(zeros)))
    constants += [] if groups is None else [tensor("g", *elements(groups))]
    constants += [] if bias is None else [tensor("b", dtype, [n], bias.tolist())]
    product_node = node("MatMulNBits", inputs, ["y"], domain="com.microsoft", K=k, N=n, bits=bits, block_size=block, **more)
    return model(graph([product_node], [value("x", dtype, [rows, k] if rank == 2 else [rows, 1, k])], [value("y", dtype)], constants),
                 opset={"": 21, "com.microsoft": 1})


def nbits(bits, k, n, block, zeros, has_bias, dtype, groups=None, rows=2, high=4, **more):
    """A model of com.microsoft's MatMulNBits, its source, and its result. `zeros`: "", "uint8" or "float"; `groups`: g_idx;
    `high`: the magnitude of all elements of the source, or of the largest one."""
    seed, most = bits + k + n, (1 << bits) - 1
    blocks = -(-k // block)
    w, zero = spread(seed, 0, most, (n, blocks * block)), spread(seed + 1, 0, most, (n, blocks))
    scale = 2.0 ** -spread(seed + 2, 1, 4, (n, blocks))
    bias = spread(seed + 3, -9, 9, (n,)).astype(float) if has_bias else None
    x = spread(seed + 4, -4, 4, (rows, k)) if high == 4 else high * (2 * spread(seed + 4, 0, 1, (rows, k)) - 1)
    given = {"": None, "uint8": b"".join(packed_bytes(row.tolist(), bits) for row in zero), "float": zero.ravel() + 0.5}[zeros]
    inputs = ["x", "w", "s", "z" if zeros else "", "" if groups is None else "g", "b" if has_bias else ""]
    while not inputs[-1]:
        del inputs[-1]
    what = nbits_model(bits, k, n, block, packed_bytes(w.ravel().tolist(), bits), inputs, given, bias, scale.ravel().tolist(), dtype,
                       groups=groups, rows=rows, **more)
    of = np.arange(k) // block if groups is None else groups[:k]
    zero = {"": np.full_like(zero, (most + 1) // 2), "uint8": zero, "float": zero + 0.5}[zeros]
    real = np.array([[(w[i, j] - zero[i, of[j]]) * scale[i, of[j]] for j in range(k)] for i in range(n)])
    kind = np.float16 if dtype == "float16" else F32
    return what, x.astype(kind), (x @ real.T + (bias if has_bias else 0)).astype(kind)


def check_nbits(tap, lightnet):
    for bits, k, n, block, dtype in ((4, 96, 33, 32, "float"), (2, 80, 5, 16, "float"), (4, 64, 20, 64, "float16"),
                                    (8, 96, 33, 32, "float"), (8, 256, 20, 128, "float16")):
        for has_zeros, has_bias in ((False, False), (True, False), (False, True), (True, True)):
            what, x, expected = nbits(bits, k, n, block, "uint8" * has_zeros, has_bias, dtype)
            ops = ops_of(lightnet, what)
            tap.check(f"MatMulNBits, {bits} bits, {dtype}, zeros {has_zeros}, bias {has_bias}",
                      faults_of(lightnet, what, {"x": x}, [expected]) + ([] if "matmul_lowbit_cpu" in ops else [f"operators: {ops}"]))
    few = dict(bits=4, k=32, n=1, block=32, bytes_of=bytes(16), scales=[1.0])
    grouped = few | dict(inputs=["x", "w", "s", "", "g"])
    bad = (("3 bits", few | dict(bits=3, bytes_of=bytes(12)), "'bits' is 3, expected 2, 4 or 8"),
           ("groups of another type", grouped | dict(groups=np.zeros(32, np.int64)),
            "input 4, 'g_idx', has type TL_INT64, expected TL_INT32"),
           ("too few groups", grouped | dict(groups=np.zeros(31, np.int32)), "input 4, 'g_idx', has shape [31], expected [32] or [32]"),
           ("groups of two dimensions", grouped | dict(groups=np.zeros((1, 32), np.int32)), "'g_idx', has shape [1, 32], expected [32]"),
           ("an unknown group", grouped | dict(groups=np.arange(32, dtype=np.int32) // 31),
            "element 31 of input 4, 'g_idx', is 1, expected 0 .. 0"),
           ("a negative group", grouped | dict(groups=np.full(32, -1, np.int32)), "element 0 of input 4, 'g_idx', is -1, expected 0 .. 0"),
           ("odd blocks", few | dict(block=8, bytes_of=bytes(16), scales=[1.0] * 4), "'block_size' is 8, expected a multiple of 16"),
           ("too few weights", few | dict(bytes_of=bytes(16), n=2, scales=[1.0] * 2), "UINT8 [2, 1, 16] has 16 bytes of data, expected 32"))
    for sentence, given, words in bad:
        message = error_of(lightnet, nbits_model(**given), {})
        tap.check(f"MatMulNBits rejects: {sentence}", [] if message and words in message else [f"expected {words!r} in: {message!r}"])


def groups_of(k, block):
    """Sentence, g_idx, and which operators the product must and must not become."""
    in_order, rng = (np.arange(k) // block).astype(np.int32), np.random.default_rng(k)
    padding = np.zeros(-k % block, np.int32)
    uneven = rng.integers(0, -(-k // block), k).astype(np.int32)
    yield "in order", in_order, ["matmul_lowbit_cpu"], ["take_cpu"]
    yield "in order, with padding", np.concatenate([in_order, padding]), ["matmul_lowbit_cpu"], ["take_cpu"]
    if k % block == 0:
        yield "permuted", rng.permutation(in_order), ["matmul_lowbit_cpu", "take_cpu"], []
    else:
        yield "permuted, the last one shorter", rng.permutation(in_order), [], ["matmul_lowbit_cpu"]
    yield "of different sizes", uneven, [], ["matmul_lowbit_cpu"]
    yield "of different sizes, with padding", np.concatenate([uneven, padding]), [], ["matmul_lowbit_cpu"]


def check_groups(tap, lightnet):
    """Weights whose columns g_idx assigns to groups; those of an even size stay in bytes, or in fewer if they are in order."""
    for bits, k, dtype in ((4, 96, "float"), (2, 80, "float"), (8, 96, "float"), (4, 70, "float"), (4, 64, "float16")):
        for sentence, groups, wanted, unwanted in groups_of(k, 32 if bits > 2 else 16):
            for zeros in ("", "uint8", "float"):
                what, x, expected = nbits(bits, k, 33, 32 if bits > 2 else 16, zeros, zeros == "uint8", dtype, groups, 3)
                ops = ops_of(lightnet, what)
                is_right = all(op in ops for op in wanted) and not any(op in ops for op in unwanted)
                tap.check(f"groups {sentence}, {k} columns of {bits} bits, {dtype}, zeros {zeros}",
                          faults_of(lightnet, what, {"x": x}, [expected]) + ([] if is_right or zeros == "float" else [f"operators: {ops}"]))
    groups = np.random.default_rng(1).permutation(np.arange(96) // 32).astype(np.int32)
    for rows in (3, 40):
        what, x, expected = nbits(4, 96, 33, 32, "uint8", True, "float", groups, rows, 127, accuracy_level=4)
        ops = ops_of(lightnet, what)
        tap.check(f"permuted groups, a source rounded to 8 bits, {rows} rows",
                  faults_of(lightnet, what, {"x": x}, [expected]) + ([] if "matmul_lowbit_cpu" in ops else [f"operators: {ops}"]))
    varying = model(graph([node("MatMulNBits", ["x", "w", "s", "", "g"], ["y"], domain="com.microsoft", K=32, N=1, block_size=32)],
                          [value("x", "float", [1, 32]), value("g", "int32", [32])], [value("y", "float")],
                          [tensor("w", "uint8", [1, 1, 16], list(bytes(16))), tensor("s", "float", [1], [1.0])]),
                    opset={"": 21, "com.microsoft": 1})
    message = error_of(lightnet, varying, {})
    words = "input 4, 'g_idx', is known only at run time, expected a constant"
    tap.check("groups must be constants", [] if message and words in message else [f"expected {words!r} in: {message!r}"])


def check_size(tap, lightnet):
    """4 bits a weight, and a float for each 32 of them."""
    part = product("large", "int4", (1,), 1024, 256, 32, False, "MatMul")
    weight = 1024 * 256 // 2 + 1024 // 32 * 256 * 4
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.safetensors")
        done = call([lightnet, "compile", *write(folder, joined([part])[0], {}), "-o", out])
        size = 0 if failure(done) else os.path.getsize(out)
        tap.check("a compiled model has weights of 4 bits", failure(done) or
                  ([] if weight <= size < weight + 8192 else [f"the file has {size} bytes, of weights {weight}"]))


def rounded_layers(n, rows, size, seed):
    """Products whose sources are rounded to 8 bits in blocks, with a sigmoid after each."""
    rng, nodes, constants, x = np.random.default_rng(seed), [], [], "x"
    for i in range(n):
        constants.append(tensor(f"w{i}", "uint8", [size, size // 32, 16], rng.integers(0, 256, size * size // 2).tolist()))
        constants.append(tensor(f"s{i}", "float", [size * size // 32], (rng.random(size * size // 32) * .005).astype(np.float32).tolist()))
        nodes.append(node("MatMulNBits", [x, f"w{i}", f"s{i}"], [f"y{i}"], domain="com.microsoft", K=size, N=size, block_size=32, bits=4, accuracy_level=4))
        nodes.append(node("Sigmoid", [f"y{i}"], [f"t{i}"]))
        x = f"t{i}"
    return model(graph(nodes, [value("x", "float", [rows, size])], [value(x, "float")], constants), opset={"": 21, "com.microsoft": 1})


def check_steps(tap, lightnet):
    """A last digit of the sigmoid, in which instruction sets differ, moves an element by a step of the next rounding; by 3e-4 of the largest."""
    with tempfile.TemporaryDirectory() as folder:
        path, *_ = write(folder, rounded_layers(2, 96, 256, 1), {})
        strict, wide = (call([lightnet, "verify", "--reference", path, "--seed", "5", *more]) for more in ([], ["--rtol", "1e-2"]))
        hint = "the model rounds to 8 bits: --rtol 1e-2 accepts a step of rounding"
        tap.check("a difference says that the model rounds to 8 bits, and which tolerance accepts it",
                  failure(wide) + (failure(strict) if hint not in strict.stdout else []))


def bare(kind, dims, data):
    """A tensor message of any data."""
    return repeated(1, dims) + field(2, kind) + field(8, "w") + data


def model_of(constant, opset=25):
    return model(graph([node("DequantizeLinear", ["w", "s"], ["y"])], [], [value("y", "float")],
                       [constant, tensor("s", "float", [], [0.5])]), opset=opset)


def varints(*numbers):
    return b"".join(bytes([n]) for n in numbers)


def check_fields(tap, lightnet):
    """int32_data holds bytes of several elements, too."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        constant = bare(22, [3], field(5, varints(0x71, 0x0f)))  # 1, 7, -1
        done = call([lightnet, "run", *write(folder, model_of(constant), {}), "-O", out])
        faults = failure(done)
        if not faults and np.load(os.path.join(out, "output_0.npy")).tolist() != [0.5, 3.5, -0.5]:
            faults = ["wrong elements"]
        tap.check("elements of 4 bits may be in int32_data", faults)


def check_results(tap, lightnet):
    """Operators whose output type is that of a constant."""
    few = bare(22, [], field(5, varints(3)))
    for op_type, inputs, want in (("QuantizeLinear", ["x", "s", "w"], [5, 7, -8]), ("CastLike", ["x", "w"], [1, 7, -8])):
        what = model(graph([node(op_type, inputs, ["y"])], [value("x", "float", [3])], [value("y", "int4")],
                           [few, tensor("s", "float", [], [0.5])]), opset=25)
        tap.check(f"{op_type} to 4 bits", faults_of(lightnet, what, {"x": np.array([1, 40, -40], F32)}, [np.int8(want)]))


REFUSED = (
    ("too few bytes", bare(22, [5], field(9, b"12")), "INT4 [5] has 2 bytes of data, expected 3"),
    ("too many bytes", bare(21, [4], field(9, b"123")), "UINT4 [4] has 3 bytes of data, expected 2"),
    ("too many bytes of 2 bits", bare(25, [4], field(9, b"12")), "UINT2 [4] has 2 bytes of data, expected 1"),
    ("too few elements of a field", bare(26, [9], field(5, varints(1, 2))), "INT2 [9] has 2 elements of data, expected 3"),
    ("no data", bare(22, [2], b""), "INT4 [2] has 0 elements of data, expected 1"),
    ("more elements than there may be", bare(22, [1 << 20, 1 << 20], field(9, b"1")), "expected at most 2147483647 elements"),
    ("too few bytes of floats", bare(23, [3], field(9, b"1")), "FLOAT4E2M1 [3] has 1 bytes of data, expected 2"),
)


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    each = {kind: list(kind()) for kind in (constants, products)}
    found = {part.sentence: ops_of(lightnet, joined([part])[0]) for part in each[products]}
    tap.check("all products read packed weights", [f"{name}: {ops}" for name, ops in found.items()
                                                   if "matmul_lowbit_cpu" not in ops or "matmul_cpu" in ops or "matmul_packed_cpu" in ops])
    for isa in ISAS:
        os.environ["LIGHTNET_MAX_ISA"] = isa if isa != "best" else ""
        for kind, parts in each.items():
            faults = faults_of_parts(lightnet, parts, lambda part: 0)
            tap.check(f"{kind.__name__}, with {isa}",
                      [f"{part.sentence}: {fault}" for part, found in zip(parts, faults) for fault in found])
    check_nbits(tap, lightnet)
    check_groups(tap, lightnet)
    check_size(tap, lightnet)
    check_steps(tap, lightnet)
    check_fields(tap, lightnet)
    check_results(tap, lightnet)
    for sentence, constant, words in REFUSED:
        message = error_of(lightnet, model_of(constant), {})
        tap.check(f"rejects: {sentence}", [] if message and words in message else [f"expected {words!r} in: {message!r}"])
    tap.end()


if __name__ == "__main__":
    main()
