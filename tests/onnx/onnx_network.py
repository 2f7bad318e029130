# SPDX-License-Identifier: Apache-2.0
"""Networks as exporters write them: their compiled operators, and their outputs."""
import json
import os
import tempfile

import numpy as np

from onnx_case import call, faults_of, write
from onnx_writer import graph, model, node, tensor, value


class Network:
    """A model in the making: nodes one after the other, constants as they come."""

    def __init__(self, rng):
        self.rng, self.nodes, self.constants, self.inputs = rng, [], [], {}

    def input(self, name, *shape):
        self.inputs[name] = self.rng.standard_normal(shape).astype(np.float32)
        return name

    def constant(self, array):
        array = np.asarray(array)
        kind = "int64" if array.dtype == np.int64 else "float"
        name = f"c{len(self.constants)}"
        self.constants.append(tensor(name, kind, array.shape, array.ravel().tolist()))
        return name

    def op(self, op_type, *inputs, outputs=1, **attributes):
        """Inputs that are no names are constants."""
        names = [f"t{len(self.nodes)}_{k}" for k in range(outputs)]
        read = [x if isinstance(x, str) else self.constant(np.asarray(x)) for x in inputs]
        self.nodes.append(node(op_type, read, names, **attributes))
        return names[0] if outputs == 1 else names

    def reshape(self, x, *dims):
        return self.op("Reshape", x, np.array(dims, np.int64))

    def model(self, result):
        whole = graph(self.nodes, [value(name, "float", a.shape) for name, a in self.inputs.items()],
                      [value(result, "float")], self.constants)
        return model(whole, opset=13)


VIEWS = {"reshape_cpu", "source_cpu", "forward_cpu"}


def operators_of(lightnet, whole):
    """The optypes of the compiled model but views."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "compiled.json")
        call([lightnet, "compile", "-w", *write(folder, whole, {}), "-o", path])
        with open(path, encoding="utf-8") as file:
            ops = json.load(file)["ops"]
        return [op["optype"] for op in ops if op["optype"] not in VIEWS]


def check_forms(tap, lightnet, forms, rng):
    """Checks functions that make networks. Each takes a Network and returns its result and a function from the inputs, in
    double, to the expected output; beside it are the computing operators of the compiled model."""
    for form, operators in forms:
        net = Network(rng)
        result, expected = form(net)
        whole = net.model(result)
        want = expected(*(a.astype(float) for a in net.inputs.values()))
        tap.check(f"{form.__name__} gives the right results",
                  faults_of(lightnet, whole, net.inputs, [want.astype(np.float32)], rtol=1e-5, atol=1e-5))
        found = operators_of(lightnet, whole)
        tap.check(f"{form.__name__} becomes {operators[0]}",
                  [] if sorted(found) == sorted(operators) else [f"it became {' '.join(found)}"])
