#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: limits.py LIGHTNET. Small models that ask for much: each ends with a message that names the operator and the amount."""
import os
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import call, faults_of, write
from onnx_writer import function, graph, model, node, tensor, value
from tap import Tap

MOST_MEMORY = 300_000_000  # bytes that a process may take, for any model
MOST_SECONDS = 10  # on a machine with other work
LIMITED = ["--max-memory", "256M", "--max-seconds", "1"]
X = np.array([1, 5, 2, 4], np.float32)


def ints(name, *values):
    return tensor(name, "int64", [len(values)], values)


def filled(shape, result, dtype="float", number=0):
    """A node that fills a tensor of that shape, a constant's name."""
    return node("ConstantOfShape", [shape], [result], value=tensor("", dtype, [1], [number]))


def whole(nodes, constants, given=(), wanted="y", **options):
    return model(graph(nodes, list(given), [value(wanted, "float")], constants), **options)


def fill(*shape):
    return whole([filled("s", "y")], [ints("s", *shape)])


def expand(*shape):
    return whole([node("Expand", ["x", "s"], ["y"])], [tensor("x", "float", [1], [1]), ints("s", *shape)])


def matmul(n):
    return whole([node("MatMul", ["a", "b"], ["y"])], [], [value("a", "float", [n, n]), value("b", "float", [n, n])])


def convolution():
    """8e11 multiplications of one operator, on 80 MB."""
    return whole([filled("xs", "x", number=1), filled("ws", "w", number=1), node("Conv", ["x", "w"], ["y"])],
                 [ints("xs", 1, 64, 512, 512), ints("ws", 64, 64, 31, 31)])


def doubling(depth, times=1):
    """Functions of which each calls the one before twice, `depth` of them above one of a single node."""
    def body(op, domain):
        return [node(op, ["a"], ["t"], domain=domain), node(op, ["t"], ["b"], domain=domain)]
    functions = [function("my", "f0", ["a"], ["b"], [node("Relu", ["a"], ["b"])])]
    functions += [function("my", f"f{i}", ["a"], ["b"], body(f"f{i - 1}", "my"), opset={"": 17, "my": 1})
                  for i in range(1, depth + 1)]
    names = ["x"] + [f"t{i}" for i in range(1, times)] + ["y"]
    calls = [node(f"f{depth}", [a], [b], domain="my", name=f"call {i}") for i, (a, b) in enumerate(zip(names, names[1:]))]
    return whole(calls, [], [value("x", "float", [1])], opset={"": 17, "my": 1}, functions=functions)


def grid(n):
    """The positions of n x n pixels, which are computed while the model is read."""
    return whole([node("AffineGrid", ["theta", "size"], ["y"])],
                 [tensor("theta", "float", [1, 2, 3], [1, 0, 0, 0, 1, 0]), ints("size", 1, 1, n, n)], opset=20)


def nested(depth, times):
    """If in If, `times` beside each other in each of both branches."""
    def branch(level):
        inner = [node("If", ["c"], [f"t{level}_{i}"], then_branch=branch(level - 1), else_branch=branch(level - 1))
                 for i in range(times if level else 0)]
        last = [node("Identity", ["x"], [f"o{level}"])]
        return graph(inner + last, [], [value(f"o{level}", "float")])
    top = node("If", ["c"], ["y"], then_branch=branch(depth), else_branch=branch(depth), name="top")
    return whole([top], [], [value("c", "bool", [1]), value("x", "float", [1])])


def endless():
    """A loop of 2^62 iterations."""
    body = graph([node("Identity", ["go"], ["on"]), node("Add", ["s", "one"], ["t"])],
                 [value("i", "int64", []), value("go", "bool", []), value("s", "float", [1])],
                 [value("on", "bool", []), value("t", "float", [1])])
    return whole([node("Loop", ["n", "yes", "zero"], ["y"], body=body)],
                 [tensor("n", "int64", [], [2**62]), tensor("yes", "bool", [], [1]), tensor("zero", "float", [1], [0]),
                  tensor("one", "float", [1], [1])])


def shape_from(nodes, constants, result):
    """x in a shape that is computed from the constants: `result` is a float, a scalar that is 1."""
    nodes = nodes + [node("Cast", [result], ["n"], to=7), node("Reshape", ["n", "line"], ["ns"]),
                     node("Expand", ["x", "ns"], ["y"])]
    return whole(nodes, constants + [ints("line", 1)], [value("x", "float", [4])])


def shape_from_filled(n):
    return shape_from([filled("s", "c", number=1), node("ReduceMax", ["c"], ["m"], keepdims=0)], [ints("s", n)], "m")


def shape_from_large(n):
    """Each tensor alone is not too large."""
    return shape_from([filled("s", "c"), node("Exp", ["c"], ["e"]), node("ReduceMax", ["e"], ["m"], keepdims=0)],
                      [ints("s", n)], "m")


def shape_from_product(n):
    return shape_from([filled("s", "c"), node("MatMul", ["c", "c"], ["p"]), node("ReduceMax", ["p"], ["q"], keepdims=0),
                       node("Exp", ["q"], ["m"])], [ints("s", n, n)], "m")


def shape_from_sorted(n, times):
    """Sorting has no multiplications to be counted."""
    sort = [node("TopK", [f"c{i}", "k"], [f"c{i + 1}", f"i{i}"], largest=i % 2) for i in range(times)]
    row = [tensor("from", "float", [], [0]), tensor("to", "float", [], [n]), tensor("by", "float", [], [1])]
    return shape_from([node("Range", ["from", "to", "by"], ["c"]), node("Sin", ["c"], ["c0"]), *sort,
                       node("ReduceMax", [f"c{times}"], ["m"], keepdims=0)], [ints("k", n), *row], "m")


def clipped(n):
    """x clipped at 3, which is the maximum of n constant elements."""
    return whole([filled("s", "c", number=3), node("ReduceMax", ["c"], ["m"], keepdims=0), node("Clip", ["x", "", "m"], ["y"])],
                 [ints("s", n)], [value("x", "float", [4])])


# A sentence, a model, options, and words that its message contains.
RUN = [
    ("a constant of 6 GB", fill(1_500_000_000), LIMITED,
     ["(expand_cpu): tensor 'y' needs 6000000000 of", "exceed the limit of 268435456 bytes"]),
    ("one of 8 GB in two dimensions", fill(1_000_000, 2_000), LIMITED, ["needs 8000000000 of", "the limit of 268435456 bytes"]),
    ("an expanded tensor of 8 GB", expand(2_000_000_000), LIMITED,
     ["(expand_cpu): tensor 'y' needs 8000000000 of", "exceed the limit of 268435456 bytes"]),
    ("a product of matrices of 1.6 GB", matmul(20_000), LIMITED, ["needs 1600000000 of", "the limit of 268435456 bytes"]),
    ("an endless loop", endless(), LIMITED, ["(loop_cpu): stopped at the time limit of "]),
    ("an operator that takes long", convolution(), ["--max-seconds", "1"], ["operator '", "stopped at the time limit of "]),
    ("operators beyond a limit", doubling(3), ["--max-operators", "7"], ["exceed the limit of 7 operators"]),
    ("a model that is larger than the memory", fill(1), ["--max-memory", "50"], ["above the limit of 50 bytes of memory"]),
    ("operators that take more than the memory", doubling(15), ["--max-memory", "1M"], ["the limit of 1048576 bytes of memory"]),
]
SHOW = [
    ("functions that unfold to 6 billion nodes", doubling(31), [],
     ["unfolds to 6442450943 nodes, of which node 'call 0' (f31) has 6442450943", "the limit of 250000 operators"]),
    ("to more than can be counted", doubling(62, 5), [], ["18446744073709551615 nodes", "the limit of 250000 operators"]),
    ("graphs within nodes of which there are many", nested(2, 8), ["--max-operators", "500"],
     ["node 'top' (If)", "the limit of 500 operators"]),
    ("positions of 1.6 billion pixels", grid(40_000), [],
     ["(AffineGrid, opset 20): 4800000000 elements of 8 bytes exceed the limit of 67108864 bytes for a constant"]),
    ("a smaller limit for a constant", shape_from_filled(100), ["--max-constant", "399"],
     ["has 400 bytes, above the limit of 399 bytes for a constant"]),
    ("a shape computed from 8 GB", shape_from_filled(2_000_000_000), [],
     ["(Expand, opset 17): input 1, 'ns', determines shapes", "has 8000000000 bytes",
      "the limit of 67108864 bytes for a constant"]),
    ("from tensors that are too large together", shape_from_large(12_000_000), [],
     ["input 1, 'ns', determines shapes", "bytes of memory planned, which exceed the limit of 67108864 bytes"]),
    ("by more multiplications than there is time for", shape_from_product(1000), [],
     ["input 1, 'ns', determines shapes", "1000000000 multiplications", "the limit of 100 ms for a constant"]),
    ("for more time than there is", shape_from_sorted(200_000, 500), ["--max-constant", "2G"],
     ["input 1, 'ns', determines shapes", "stopped at the limit of 100 ms for a constant"]),
]


# A process of its own, since a child begins with the memory of its parent.
MEASURE = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)"""


def run(command):
    """Its status, its standard error, and the most memory it took, in bytes."""
    done = call([sys.executable, "-S", "-c", MEASURE, *command])
    status, memory = map(int, done.stdout.split())
    return status, done.stderr, memory


def rejection(command, words):
    """Errors at the end of the command."""
    begin = time.monotonic()
    status, printed, memory = run(command)
    lasted = time.monotonic() - begin
    if lasted > MOST_SECONDS:
        yield f"it took {lasted} s, expected at most {MOST_SECONDS}"
    if status != 1:
        yield f"exit status {status}, expected 1"
    if printed.count("\n") != 1:
        yield "the message is not one line"
    for each in words:
        if each not in printed:
            yield f"'{each}' is not in the message"
    if memory > MOST_MEMORY:
        yield f"{memory} bytes of memory, expected at most {MOST_MEMORY}"
    if status != 1 or any(each not in printed for each in words):
        yield printed


def check(tap, lightnet, command, rows):
    for sentence, bytes_of_it, options, words in rows:
        with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
            arguments = write(folder, bytes_of_it, {})
            tap.check(f"{command}: {sentence}", rejection([lightnet, command, *arguments, *options], words))


def faults_of_cached(lightnet):
    """Errors that name the constants 'c' and 'e', 4000 bytes each, of which the translation needs only the maximum."""
    with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
        arguments = write(folder, shape_from_large(1000), {})
        for limit in range(40_000, 120_000, 1000):
            printed = call([lightnet, "show", *arguments, "--max-memory", str(limit)]).stderr
            if any(f"the value of '{name}'," in printed for name in "ce"):
                yield f"{limit}: {printed}"


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check(tap, lightnet, "run", RUN)
    check(tap, lightnet, "show", SHOW)
    tap.check("without memory for intermediate constants, they are not cached", faults_of_cached(lightnet))
    for n in (1_000, 20_000_000):
        tap.check(f"a limit that is computed from {n} constants is right",
                  faults_of(lightnet, clipped(n), {"x": X}, [np.minimum(X, 3)]))
    tap.check("functions that unfold to many nodes are computed", faults_of(lightnet, doubling(6, 3), {"x": X[1:2]}, [X[1:2]]))
    tap.end()


if __name__ == "__main__":
    main()
