# SPDX-License-Identifier: Apache-2.0
"""Rows of corners.py for convolutions and products within the graphs of If, Loop and Scan."""
import numpy as np
from small_models import constant, model, normal, outputs_of, weights
from onnx import TensorProto, helper

def conv_in_if(channels, size, cond):
    """The same convolution in both branches, with other weights."""
    branches = {}
    for name in ("then", "else"):
        branches[name + "_branch"] = helper.make_graph(
            [helper.make_node("Conv", ["x", "w_" + name, "b_" + name], ["c_" + name], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c_" + name], ["r_" + name])], name, [], outputs_of(["r_" + name]))
    constants = [constant(f"w_{name}", weights(channels, channels, 3, 3)) for name in ("then", "else")]
    constants += [constant(f"b_{name}", normal(channels)) for name in ("then", "else")]
    return model([helper.make_node("If", ["cond"], ["y"], **branches)],
                 {"x": normal(1, channels, size, size), "cond": np.array(cond)}, outputs_of(["y"]), constants)


def conv_in_loop(channels, size, trips):
    body = helper.make_graph(
        [helper.make_node("Conv", ["s", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Tanh", ["c"], ["t"]),
         helper.make_node("Identity", ["go"], ["on"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s", TensorProto.FLOAT, [1, channels, size, size])],
        outputs_of(["on"], TensorProto.BOOL) + outputs_of(["t"]))
    return model([helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)],
                 {"x": normal(1, channels, size, size), "trips": np.array(trips, np.int64)}, outputs_of(["y"]),
                 [constant("w", weights(channels, channels, 3, 3))])


def dense_in_scan(steps, batch, hidden):
    """A cell s = tanh(s W + r V), written as a Scan."""
    body = helper.make_graph(
        [helper.make_node("MatMul", ["s", "w"], ["sw"]), helper.make_node("MatMul", ["r", "v"], ["rv"]),
         helper.make_node("Add", ["sw", "rv"], ["sum"]), helper.make_node("Tanh", ["sum"], ["t"]),
         helper.make_node("Identity", ["t"], ["p"])], "body",
        [helper.make_tensor_value_info("s", TensorProto.FLOAT, [batch, hidden]),
         helper.make_tensor_value_info("r", TensorProto.FLOAT, [batch, hidden])], outputs_of(["t", "p"]))
    return model([helper.make_node("Scan", ["x0", "x"], ["last", "y"], body=body, num_scan_inputs=1)],
                 {"x0": normal(batch, hidden), "x": normal(steps, batch, hidden)}, outputs_of(["last", "y"]),
                 [constant("w", weights(hidden, hidden)), constant("v", weights(hidden, hidden))])


BODIES = {
    "if conv 3x3 64 56x56 then": lambda: conv_in_if(64, 56, True),
    "if conv 3x3 64 56x56 else": lambda: conv_in_if(64, 56, False),
    "loop conv 3x3 32 28x28, 8 times": lambda: conv_in_loop(32, 28, 8),
    "scan cell 256, 50 steps, batch 1": lambda: dense_in_scan(50, 1, 256),
    "scan cell 256, 50 steps, batch 16": lambda: dense_in_scan(50, 16, 256),
}
