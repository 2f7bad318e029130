#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: nnvm_rewrite.py LIGHTNET [--update]. Graphs without shapes, converted to NNVM: all operators that core has compute
the same then, and converting the result again gives the same bytes."""
import json
import os
import re
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
import nnvm_operators
from nnvm_graphs import with_state
from nnvm_case import call, check_list, differences, join, params, write
from tap import ROOT, Tap

DATA = os.path.join(os.path.dirname(ROOT), "shared", "data", "nnvm")

def convert(lightnet, source, to, *arguments):
    done = call([lightnet, "convert", source, "-o", to, "--to", "nnvm", *arguments])
    return [f"exit status {done.returncode}: {done.stderr}"] if done.returncode else []


def same_again(lightnet, folder, source, *arguments):
    """Faults: the converted graph changes when it is converted again."""
    one, two = os.path.join(folder, "one.json"), os.path.join(folder, "two.json")
    faults = convert(lightnet, source, one, *arguments) or convert(lightnet, one, two)
    if faults:
        return faults
    with open(one, "rb") as a, open(two, "rb") as b:
        return [] if a.read() == b.read() else ["the graph is another one when it is converted again"]


def faults_of_all(lightnet, cases):
    whole, inputs, weights = join(cases)
    arrays = {**inputs, **weights}
    with tempfile.TemporaryDirectory() as folder:
        source, file_of_weights, out = (os.path.join(folder, name) for name in ("graph.json", "graph.params", "out"))
        with open(source, "w", encoding="utf-8") as file:
            json.dump(whole, file)
        with open(file_of_weights, "wb") as file:
            file.write(params({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
        faults = same_again(lightnet, folder, source)
        if faults:
            return faults
        done = call([lightnet, "run", os.path.join(folder, "one.json"), "-f", file_of_weights, "-O", out])
        if done.returncode:
            return [done.stderr]
        wanted = [(case, want) for case in cases for want in case[5]]
        return [f"{case[0]} {case[4]}: {fault}" for k, (case, want) in enumerate(wanted)
                for fault in differences(np.load(os.path.join(out, f"output_{k}.npy")), np.ascontiguousarray(want), k, 1e-4)]


def is_converted(tap, lightnet, case):
    """Whether core can express the operator, beside one of an input without shape; if not, the message asks for the shape."""
    whole, *_ = join([case, ("identity", True, [nnvm_operators.X], [], {}, [nnvm_operators.X])])
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "graph.json")
        with open(source, "w", encoding="utf-8") as file:
            json.dump(whole, file)
        said = convert(lightnet, source, os.path.join(folder, "to.json"))
    if said and not re.search("unknown shape", said[0]):
        tap.check(f"{case[0]} {case[4]} asks for shapes", said)
    return not said


def check_files(tap, lightnet):
    for name, weights in [("cifar_resnet20_v1-symbol", "cifar_resnet20_v1-0000"), ("synthetic_multi_output",) * 2, ("go_test-symbol", "go_test-0001"),
                          ("mxnet_save_000800", None), ("squeezenet_v1.1-symbol", None), ("mlp_mxnet_1.4-symbol", None), ("vta_resnet18_qt8", None)]:
        path = os.path.join(DATA, name + ".json")
        if not os.path.exists(path):
            tap.skip(f"{name}_survives", "it is missing")
            continue
        with tempfile.TemporaryDirectory() as folder:
            tap.check(f"{name}_survives", same_again(lightnet, folder, path, *(["-f", os.path.join(DATA, weights + ".params")] if weights else [])))


def ordered_graph(row_ptr=True):
    """c must run after a, which has no reader, and after b. The entries of the written graph are in the order x a b c."""
    nodes = [{"op": "null", "name": "x", "inputs": [], "attrs": {"shape": "(2, 3)"}},
             {"op": "relu", "name": "unused", "inputs": [[0, 0, 0]]},
             {"op": "flatten", "name": "b", "inputs": [[0, 0, 0]]},
             {"op": "relu", "name": "a", "inputs": [[0, 0, 0]]},
             {"op": "dropout", "name": "c", "inputs": [[2, 0, 0]], "control_deps": [3, 2]}]
    sizes = {"shape": ["list_shape", [[2, 3]] * 6], "storage_id": ["list_int", [10, 11, 12, 13, 14, 15]], "dltype": ["list_str", ["float32"] * 6],
             "version": ["str", "0.8"], "order": ["dict_str_int", {"x": 1}]}
    return {"nodes": nodes, "arg_nodes": [0], "heads": [[4, 0, 0]], "attrs": sizes, **({"node_row_ptr": [0, 1, 2, 3, 4, 6]} if row_ptr else {})}


def check_order(tap, lightnet):
    """Nodes that run first, and attributes of the graph, survive; those of entries follow their nodes."""
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, ordered_graph(), {}, {})[0]
        faults = same_again(lightnet, folder, source)
        with open(os.path.join(folder, "one.json"), encoding="utf-8") as file:
            graph = json.load(file)
        names = [node["name"] for node in graph["nodes"]]
        deps = [node.get("control_deps") for node in graph["nodes"]]
        expected = {**ordered_graph()["attrs"], "shape": ["list_shape", [[2, 3]] * 5], "dltype": ["list_str", ["float32"] * 5],
                    "storage_id": ["list_int", [10, 12, 13, 14, 15]]}
        if names != ["x", "b", "a", "c"] or deps != [None, None, None, [2, 1]] or graph.get("attrs") != expected:
            faults.append(f"nodes {names}, control_deps {deps}, attrs {graph.get('attrs')}")
        tap.check("control_deps_and_graph_attributes_survive", faults)

        # Without node_row_ptr the second output of c has no value.
        one = os.path.join(folder, "one.json")
        whole = ordered_graph(row_ptr=False)
        whole["attrs"] = {"storage_id": ["list_int", [0] * 5], "version": ["str", "0.8"]}
        source = write(folder, whole, {}, {})[0]
        said = call([lightnet, "convert", source, "-o", one, "--to", "nnvm"]).stderr
        with open(one, encoding="utf-8") as file:
            attrs = json.load(file).get("attrs")
        wanted = f"warning: {one}: graph attribute 'storage_id' is not written: its entries are not those of the operators\n"
        tap.check("entries_that_do_not_fit_are_left_out_with_a_warning", [] if said == wanted and attrs == {"version": ["str", "0.8"]} else [said, str(attrs)])


def small_graph(**attrs):
    """The sum of bytes and a weight of these attributes, without shapes."""
    return {"nodes": [{"op": "null", "name": "x", "inputs": [], "attrs": {"dtype": "int8"}}, {"op": "null", "name": "w", "inputs": [], "attrs": attrs},
                      {"op": "broadcast_add", "name": "y", "inputs": [[0, 0, 0], [1, 0, 0]]}], "arg_nodes": [0, 1], "heads": [[2, 0, 0]]}


def check_variables(tap, lightnet):
    for attrs in ({}, {"dtype": "int8"}, {"dtype": "5"}, {"dtype": "5", "shape": "(3,)"}):
        with tempfile.TemporaryDirectory() as folder:
            source, *_, weights = write(folder, small_graph(**attrs), {}, {"w": np.array([1, -2, 3], np.int8)})
            one, out = os.path.join(folder, "one.json"), os.path.join(folder, "out")
            faults = same_again(lightnet, folder, source, "-f", weights)
            x = np.array([[4, 5, -6]], np.int8)
            np.save(os.path.join(folder, "x.npy"), x)
            done = call([lightnet, "run", one, "-f", one.replace(".json", ".params"), "-i", os.path.join(folder, "x.npy"), "-O", out])
            faults += [done.stderr] if done.returncode else differences(np.load(os.path.join(out, "output_0.npy")), x + np.array([1, -2, 3], np.int8), 0, 0)
            tap.check(f"a_weight_of_bytes_keeps_its_type {attrs}", faults)
    with tempfile.TemporaryDirectory() as folder:
        source, *_, weights = write(folder, small_graph(), {}, {"w": np.array([1, -2, 3], np.int8)})
        said = call([lightnet, "convert", source, "-o", "-", "--to", "nnvm", "-f", weights]).stderr
        wanted = "warning: standard output: 1 parameters are not written; write to a file for FILE.params\n"
        tap.check("parameters_have_no_place_beside_standard_output", [] if said == wanted else [said])
    with tempfile.TemporaryDirectory() as folder:
        source = write(folder, with_state(), {}, {})[0]
        said = "".join(convert(lightnet, source, os.path.join(folder, "to.json")))
        tap.check("a_batch_that_is_not_told_is_asked_for", [] if "unknown shape of the inputs" in said else [f"said {said!r}"])
        tap.check("a_batch_that_is_told_is_written", same_again(lightnet, folder, source, "--shape", "x=2x3"))


def main():
    lightnet, tap = sys.argv[1], Tap()
    nnvm_operators.make_cases()
    for mxnet in (False, True):
        cases = [case for case in nnvm_operators.CASES if case[1] == mxnet and (not mxnet or is_converted(tap, lightnet, case))]
        tap.check(f"operators_of_{'MXNet' if mxnet else 'core'}_compute_the_same", faults_of_all(lightnet, cases))
    check_list(tap, "MXNet, converted without shapes", {case[0] for case in cases})
    kinds = {case[4].get("act_type") for case in cases if case[0] == "LeakyReLU"}
    tap.check("LeakyReLU_is_converted_without_shapes_but_for_gelu",
              [] if kinds == {"leaky", "elu", "selu", "rrelu", "prelu"} else [f"converted: {kinds}"])
    check_variables(tap, lightnet)
    check_order(tap, lightnet)
    check_files(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
