#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Random graphs of many operators agree with NumPy, run in many ways. See README.md.

usage: fuzz_graphs.py PACKAGE [--count N] [--first N] [--seed N] [--jobs N] [--graph N] [--every N]

PACKAGE is the folder of the built Python package (build/python). The exit status is 1 if a graph differs.
"""
import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is missing")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "onnx"))
from graph_steps import draw
from onnx_writer import field, function, graph, model, node, repeated, value, DTYPES, Tensor

OPSET = 18
ONNX = {"float32": "float", "float64": "double"}
PIECE = 200  # graphs for one process at a time


def kind(array):
    return ONNX.get(array.dtype.name, array.dtype.name)


def constant(name, array):
    """A TensorProto with raw data."""
    return Tensor(repeated(1, array.shape) + field(2, DTYPES[kind(array)][0]) + field(8, name) + field(9, array.tobytes()))


def port(name, array, dims=None):
    return value(name, kind(array), array.shape if dims is None else dims)


class Form:
    """One way to write and run a graph: bytes of a model, inputs, expected outputs, options of the session."""

    def __init__(self, bytes_, feeds, expected, **options):
        self.bytes, self.feeds, self.expected, self.options = bytes_, feeds, expected, options


class Drawn:
    """A graph as parts of models."""

    def __init__(self, g):
        self.g = g
        self.outputs = g.outputs()
        self.nodes = [node(operator, ins, outs, **attributes) for operator, ins, outs, attributes in g.nodes]
        self.expected = [v.array for v in self.outputs]
        self.inputs = [port(name, array) for name, array in g.inputs.items()]
        self.ports = [port(v.name, v.array) for v in self.outputs]
        self.constants = [constant(name, array) for name, array in g.constants.items()]
        self.fixed = [constant(name, array) for name, array in g.inputs.items()]

    def main(self, nodes, inputs, ports, constants, **more):
        return model(graph(nodes, inputs, ports, constants), opset={"": OPSET, "own": 1}, **more)

    # Each returns a Form.

    def as_drawn(self, **options):
        return Form(self.main(self.nodes, self.inputs, self.ports, self.constants), self.g.inputs, self.expected, **options)

    def all_constant(self):
        return Form(self.main(self.nodes, [], self.ports, self.constants + self.fixed), {}, self.expected)

    def reference(self):
        return self.as_drawn(reference=True)

    def threads(self):
        return self.as_drawn(threads=3)

    def open_sizes(self):
        """All sizes of inputs are open: those that are equal are one symbol."""
        inputs = [port(name, array, [f"n{d}" for d in array.shape]) for name, array in self.g.inputs.items()]
        ranges = [f"{name}={'x'.join(f'{min(d, 1)}..{d + 3}' for d in array.shape)}" for name, array in self.g.inputs.items()
                  if array.ndim]
        ports = [port(v.name, v.array, [f"{v.name}_{k}" for k in range(v.array.ndim)]) for v in self.outputs]
        return Form(self.main(self.nodes, inputs, ports, self.constants), self.g.inputs, self.expected, shape=ranges)

    def within_if(self):
        """Both branches, of which one returns zeros, by a condition that is an input."""
        zeros = [node("Sub", [v.name, v.name], ["zero_" + v.name]) if v.array.dtype != np.bool_ else
                 node("Xor", [v.name, v.name], ["zero_" + v.name]) for v in self.outputs]
        taken = graph(self.nodes, [], self.ports)
        other = graph(self.nodes + zeros, [], [port("zero_" + v.name, v.array) for v in self.outputs])
        branch = node("If", ["condition"], ["out_" + v.name for v in self.outputs], then_branch=taken, else_branch=other)
        condition = np.array(self.g.chance(0.7))
        expected = self.expected if condition else [np.zeros_like(array) for array in self.expected]
        ports = [port("out_" + v.name, v.array) for v in self.outputs]
        return Form(self.main([branch], self.inputs + [port("condition", condition)], ports, self.constants),
                    self.g.inputs | {"condition": condition}, expected)

    def within_loop(self):
        """A body that runs twice; its results are stacked."""
        scalar = np.array(2, np.int64)
        body = graph(self.nodes + [node("Identity", ["keep"], ["still"])],
                     [port("trip", scalar), port("keep", np.array(True))], [port("still", np.array(True)), *self.ports])
        loop = node("Loop", ["count", ""], ["out_" + v.name for v in self.outputs], body=body)
        expected = [np.stack([array, array]) for array in self.expected]
        ports = [port("out_" + v.name, array) for v, array in zip(self.outputs, expected)]
        return Form(self.main([loop], self.inputs, ports, self.constants + [constant("count", scalar)]), self.g.inputs, expected)

    def within_scan(self):
        """A body that runs for each of three elements; its results are stacked."""
        line = np.arange(3, dtype=np.float32)
        body = graph(self.nodes, [port("element", line[0])], self.ports)
        scan = node("Scan", ["line"], ["out_" + v.name for v in self.outputs], body=body, num_scan_inputs=1)
        expected = [np.stack([array] * 3) for array in self.expected]
        ports = [port("out_" + v.name, array) for v, array in zip(self.outputs, expected)]
        return Form(self.main([scan], self.inputs + [port("line", line)], ports, self.constants),
                    self.g.inputs | {"line": line}, expected)

    def as_function(self):
        """A function of the model; constants are inputs of it, too."""
        names = [*self.g.inputs, *self.g.constants]
        local = function("own", "drawn", names, [v.name for v in self.outputs], self.nodes, opset=OPSET)
        call = node("drawn", names, ["out_" + v.name for v in self.outputs], domain="own")
        ports = [port("out_" + v.name, v.array) for v in self.outputs]
        return Form(self.main([call], self.inputs, ports, self.constants, functions=[local]), self.g.inputs, self.expected)


ALWAYS = (Drawn.as_drawn, Drawn.all_constant)
IN_TURN = (Drawn.reference, Drawn.threads, Drawn.open_sizes, Drawn.within_if, Drawn.within_loop, Drawn.within_scan, Drawn.as_function)
WRITTEN = (".json", ".onnx", ".net", "compiled.safetensors")


def difference(got, expected):
    """What is wrong, or None."""
    for k, (a, b) in enumerate(zip(got, expected)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output {k} is {a.dtype} {list(a.shape)}, expected {b.dtype} {list(b.shape)}"
        if not np.array_equal(a, b):
            at = tuple(int(i) for i in np.argwhere(a != b)[0])
            return f"output {k}: {int((a != b).sum())} of {b.size} elements differ, at {list(at)} {a[at]!r}, expected {b[at]!r}"
    return None


def run(lightnet, form, source=None):
    session = lightnet.InferenceSession(form.bytes if source is None else source, **({"threads": 1} | form.options))
    return difference(session.run(None, form.feeds), form.expected)


def run_written(lightnet, form, suffix, folder):
    """The model written in another format, and read again."""
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    path, weights = os.path.join(folder, "model" + suffix), os.path.join(folder, "model.safetensors")
    (lightnet.compile_model if suffix.startswith("compiled") else lightnet.convert)(form.bytes, path)
    options = {"weights": weights} if os.path.exists(weights) else {}
    if suffix == ".net":  # only the commands read it
        path, text = path[:-4] + ".json", path
        subprocess.run(["il2json", text, "-o", path], check=True)
    return run(lightnet, Form(None, form.feeds, form.expected, **options), path)


def check(lightnet, seed, number, every, folder):
    """Differences of one graph, as lines, and the number of its forms that were rejected."""
    lines, refused = [], 0
    d = Drawn(draw(seed, number))
    if not d.outputs:
        return lines, refused
    ways = [(way.__name__, lambda way=way: run(lightnet, way(d))) for way in (*ALWAYS, IN_TURN[number % len(IN_TURN)])]
    if every and number % every == 0:
        written = [suffix for suffix in WRITTEN if suffix != ".net" or shutil.which("il2json")]  # or built without IL
        suffix = written[number // every % len(written)]
        ways.append((f"written as {suffix}", lambda: run_written(lightnet, d.as_drawn(), suffix, folder)))
    for name, way in ways:
        try:
            fault = way()
        except Exception as error:  # a rejection; for open sizes an error
            fault = None if name == "open_sizes" else f"{type(error).__name__}: {error}"
            refused += name == "open_sizes"
        if fault:
            lines.append(f"graph {number}, {name}: {fault}")
    return lines, refused


def check_piece(work):
    package, seed, numbers, every = work
    sys.path.insert(0, package)
    import lightnet
    lines, refused = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            try:
                more, n = check(lightnet, seed, number, every, folder)
            except Exception:
                more, n = [f"graph {number}: {traceback.format_exc()}"], 0
            lines += more
            refused += n
    return len(numbers), lines, refused


def show(package, seed, number, every):
    g = draw(seed, number)
    for name, array in (g.inputs | g.constants).items():
        print(f"{'input' if name in g.inputs else 'const'} {name} = {array.dtype} {list(array.shape)} {array.ravel()[:8].tolist()}")
    for operator, ins, outs, attributes in g.nodes:
        print(f"{', '.join(outs)} = {operator}({', '.join(ins)}) {attributes or ''}")
    print("outputs", [v.name for v in Drawn(g).outputs])
    return check_piece((package, seed, [number], every))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package")
    for name, default in (("count", 1000), ("first", 0), ("seed", 1), ("jobs", 1), ("every", 50)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--graph", type=int)
    options = parser.parse_args()
    package = os.path.abspath(options.package)
    os.environ["PATH"] = os.path.join(os.path.dirname(package), "cli") + os.pathsep + os.environ["PATH"]
    if options.graph is not None:
        results = [show(package, options.seed, options.graph, 1)]
    else:
        numbers = range(options.first, options.first + options.count)
        pieces = [(package, options.seed, numbers[k:k + PIECE], options.every) for k in range(0, len(numbers), PIECE)]
        pool = multiprocessing.Pool(options.jobs, maxtasksperchild=50) if options.jobs > 1 else None
        results = pool.imap_unordered(check_piece, pieces) if pool else map(check_piece, pieces)
    n = faults = refused = 0
    for done, lines, without in results:
        n, faults, refused = n + done, faults + len(lines), refused + without
        for line in lines:
            print(line, flush=True)
    print(f"seed {options.seed}: {n} graphs, {faults} differ, {refused} refused with open sizes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
