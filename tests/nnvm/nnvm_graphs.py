#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: nnvm_graphs.py LIGHTNET. Graphs with any operators: rejections and their messages; files of
other programs, where available."""
import copy
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
from nnvm_case import call, error_of, faults_of, write
from tap import ROOT, Tap

DATA = os.path.join(os.path.dirname(ROOT), "shared", "data", "nnvm")
SOUND = {"nodes": [{"op": "null", "name": "x", "inputs": [], "attrs": {"shape": "(2, 3)"}},
                   {"op": "relu", "name": "a", "inputs": [[0, 0, 0]]},
                   {"op": "elemwise_add", "name": "b", "inputs": [[0, 0, 0], [1, 0, 0]]}],
         "arg_nodes": [0], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3]}
X = np.array([[-1, 0, 1], [2, -3, 4]], np.float32)


def changed(*path_and_value):
    """The sound graph with another value at a path; None: without it."""
    whole = copy.deepcopy(SOUND)
    *path, last, value = path_and_value
    place = whole
    for key in path:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return whole


def node(op, **attrs):
    """A node that reads the input."""
    return {"op": op, "name": "a", "inputs": [[0, 0, 0]], "attrs": attrs}


def with_state(**attrs):
    """The input of a step of a cell and its state of zeros."""
    return {"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "_zeros", "name": "state", "inputs": [], "attrs": {"shape": "(0, 3)", **attrs}},
                      {"op": "Concat", "name": "y", "inputs": [[0, 0], [1, 0]]}],
            "arg_nodes": [0], "heads": [[2, 0]], "attrs": {"mxnet_version": ["int", 10500]}}


# A graph, and words of its message.
REFUSED = [
    ('{"nodes": [', "graph.json:1:11: JSON: "),
    (changed("nodes", None), 'missing key "nodes"'),
    (changed("arg_nodes", None), 'missing key "arg_nodes"'),
    (changed("heads", None), 'missing key "heads"'),
    (changed("heads", []), '"heads" is empty'),
    (changed("nodes", {}), "nodes: expected array, found an object"),
    (changed("nodes", 1, 7), "nodes[1]: expected object, found a number"),
    (changed("nodes", 1, "op", None), 'nodes[1] "a": missing "op"'),
    (changed("nodes", 1, "name", None), 'nodes[1]: missing "name"'),
    (changed("nodes", 1, "inputs", None), 'nodes[1] "a": missing "inputs"'),
    (changed("nodes", 1, "inputs", "x"), 'nodes[1] "a".inputs: expected array'),
    (changed("nodes", 1, "attrs", {"k": []}), 'nodes[1] "a".attrs.k: expected string, found an array'),
    (changed("nodes", 1, "inputs", [[0]]), 'nodes[1] "a".inputs[0]: bad entry'),
    (changed("nodes", 1, "inputs", [[0, -1, 0]]), 'nodes[1] "a".inputs[0]: bad entry'),
    (changed("nodes", 1, "inputs", [[0.5, 0, 0]]), 'nodes[1] "a".inputs[0]: bad entry'),
    (changed("nodes", 1, "inputs", [[99, 0, 0]]), 'nodes[1] "a".inputs[0] refers to node 99 of 3'),
    (changed("nodes", 1, "inputs", [[1, 0, 0]]), 'nodes[1] "a" uses itself'),
    (changed("nodes", 1, "inputs", [[2, 0, 0]]), 'nodes[1] "a" uses later node 2'),
    (changed("nodes", 1, "inputs", [[0, 1, 0]]), '"x" has 1 usable output, index 1 requested'),
    (changed("nodes", 2, "inputs", 1, [1, 2, 0]), '"a" has 1 usable output, index 2 requested'),
    (changed("nodes", 0, "inputs", [[0, 0, 0]]), 'nodes[0] "x": a variable with 1 inputs'),
    (changed("nodes", 1, {"op": "null", "name": "x", "inputs": []}), 'nodes[1] "x": nodes[0] has the same name'),
    (changed("heads", [[9, 0, 0]]), "heads[0] refers to node 9 of 3"),
    (changed("arg_nodes", [1]), 'nodes[1] "a" is an operator (relu), expected a variable'),
    (changed("arg_nodes", [5]), "arg_nodes[0] refers to node 5 of 3"),
    (changed("arg_nodes", []), '"arg_nodes" lacks nodes[0] "x", expected all variables'),
    (changed("node_row_ptr", [0, 1]), "node_row_ptr has 2 numbers, expected 4"),
    (changed("node_row_ptr", [0, 2, 1, 3]), "node_row_ptr[2]"),
    (changed("attrs", {"shape": 3}), "attrs.shape: expected [type, value]"),
    (changed("nodes", 1, "control_deps", [9]), "control_deps[0]: expected an index below 3"),
    (changed("nodes", 1, "control_deps", [0, 1]), 'nodes[1] "a".control_deps[1]: 1, expected an earlier one'),
    (changed("attr", {"shape": 3}), "attr.shape: expected [type, value]"),
    (changed("nodes", 1, "op", "conjure"), 'operators that are not supported: conjure (1 node, first nodes[1] "a")'),
    (changed("nodes", 1, "op", "_assign"), "only for training"),
    (changed("nodes", 1, "op", "tvm_op"), "compiled graph"),
    ({**changed("nodes", 1, {"op": "tvm_op", "name": "a", "inputs": [[0, 0, 0]], "attrs": {"func_name": "fused", "num_outputs": "1"}}),
      "attrs": {"dltype": ["list_str", ["float32"] * 3], "shape": ["list_shape", [[2, 3], [4], [2, 3]]]}},
     'Variables: "x" float32 [2, 3]. Operators: nodes[1] "a" fused -> float32 [4], nodes[2] "b"'),
    (changed("nodes", 1, "inputs", []), 'nodes[1] "a" (relu): 0 inputs, expected 1'),
    (changed("nodes", 1, {"op": "dense", "name": "a", "inputs": [[0, 0, 0]] * 4, "attrs": {"units": "3"}}),
     'nodes[1] "a" (dense): 4 inputs, expected 2 to 3'),
    (changed("nodes", 1, "attrs", {"colour": "red"}), "unknown attribute 'colour' (\"red\")"),
    (changed("nodes", 1, {"op": "clip", "name": "a", "inputs": [[0, 0, 0]]}), "nodes[1] \"a\" (clip): attribute 'a_min' is missing"),
    (changed("nodes", 1, {"op": "softmax", "name": "a", "inputs": [[0, 0, 0]], "attrs": {"axis": "1.5"}}),
     "attribute 'axis' is \"1.5\", expected an integer"),
    (changed("nodes", 1, {"op": "softmax", "name": "a", "inputs": [[0, 0, 0]], "attrs": {"axis": "2"}}), "axis 2 of a tensor with 2"),
    (changed("nodes", 1, node("slice_axis", axis="12", begin="0", end="1")), "(slice_axis): axis 12 of a tensor with 2 dimensions"),
    (changed("nodes", 1, node("strided_slice", begin="(0,)", end="(1,)", axis="(0,)")), "unknown attribute 'axis' (\"(0,)\")"),
    (changed("nodes", 1, node("scalar_broadcast_max", scalar="1")), "operators that are not supported: scalar_broadcast_max"),
    (changed("nodes", 1, node("flatten", cut="None")), ""),
    (changed("nodes", 1, {"op": "flatten", "name": "a", "inputs": [[0, 0, 0]], "attrs": {"__note__": "x"}}), ""),
    (changed("nodes", 1, {"op": "reshape", "name": "a", "inputs": [[0, 0, 0]], "attrs": {"shape": "(4,)"}}), "4 elements, expected the data's 6"),
    ({"nodes": [{"op": "null", "name": "x", "inputs": [], "attrs": {"shape": "(1, 1, 4, 4)"}},
                node("_contrib_BilinearResize2D", scale_height="0.1", scale_width="2")], "arg_nodes": [0], "heads": [[1, 0, 0]]},
     "attribute 'scale_height' scales length 4 to 0.4, expected 1 to 2147483647"),
    ({"nodes": [{"op": "null", "name": "x", "inputs": [], "attrs": {"shape": "(1, 2, 3)", "dtype": "int32"}},
                {"op": "multibox_transform_loc", "name": "a", "inputs": [[0, 0, 0]] * 3}], "arg_nodes": [0], "heads": [[1, 0, 0]]},
     "input 0 is TL_INT32 of 3 dimensions, expected TL_FLOAT of 3"),
    ({"nodes": [{"op": "null", "name": "x", "inputs": [], "attrs": {"shape": "(1, 1048576, 1, 1)"}}, node("yolo_reorg", stride="4096")],
      "arg_nodes": [0], "heads": [[1, 0, 0]]}, "an image of 1048576 x 1 x 1, expected multiples of 16777216, 4096 and 4096"),
    (changed("nodes", 1, {"op": "transpose", "name": "a", "inputs": [[0, 0, 0]]}), "[2, 3] and [3, 2], expected the same"),
    (changed("nodes", 1, node("__layout_transform__", src_layout="AB", dst_layout="AB2b")), "axis B has length 3, expected a multiple of its inner part, 2"),
    (changed("nodes", 1, node("__layout_transform__", src_layout="AB2b", dst_layout="AB")), "its data has 2 dimensions, expected 3"),
    (changed("nodes", 1, node("__layout_transform__", src_layout="AB", dst_layout="AC")), 'layout "AC", expected an order of AB'),
    (changed("nodes", 1, {"op": "zeros", "name": "a", "inputs": [], "attrs": {"shape": "(0, 3)"}}), "attribute 'shape' has 0, expected 1"),
    (changed("nodes", 1, {"op": "_arange", "name": "a", "inputs": [], "attrs": {"start": "3", "step": "0"}}), "from 0 to 3 in steps of 0"),
    (changed("nodes", 0, "attrs", {"shape": "(2, 3)", "dtype": "8"}), 'data type 8 of variable "x" has meant different types'),
    (changed("nodes", 0, "attrs", {"shape": "(2, 3)", "dtype": "int9"}), 'unknown data type "int9"'),
    (changed("nodes", 1, {"op": "dense", "name": "a", "inputs": [[0, 0, 0]] * 3, "attrs": {"units": "2", "use_bias": "False"}}),
     "nodes[1] \"a\" (dense): 3 inputs, expected 2: attribute 'use_bias' disables the bias"),
    (changed("nodes", 1, {"op": "FullyConnected", "name": "a", "inputs": [[0, 0, 0]] * 3, "attrs": {"num_hidden": "2", "no_bias": "1"}}),
     "nodes[1] \"a\" (FullyConnected): 3 inputs, expected 2: attribute 'no_bias' disables the bias"),
    (changed("nodes", 1, {"op": "LayerNorm", "name": "a", "inputs": [[0, 0, 0]] * 3, "attrs": {"axis": "0"}}), "'scale' has"),
    (changed("nodes", 0, "attrs", {}), 'unknown shape of variable "x"; set it by --shape \'x=1x3x224x224\' (option \'shape\') or a parameter file'),
    (changed("nodes", 0, "attrs", {"shape": "(2,"}), "expected a shape"),
    (with_state(), 'nodes[1] "state" (_zeros): attribute \'shape\' begins with 0, the batch size: unknown shape of the inputs; set it by --shape NAME=1x3x224x224 (option \'shape\')'),
]


def check_files(tap, lightnet):
    files = [("vta_resnet18_qt8.json", "1x3x224x224"), ("mxnet_save_000800.json", "4x100"), ("squeezenet_v1.1-symbol.json", "1x3x224x224"),
             ("mlp_mxnet_1.4-symbol.json", "2x784"), ("go_test-symbol.json", "1")]
    for name, shape in files:
        path = os.path.join(DATA, name)
        if not os.path.exists(path):
            tap.skip(f"{name}_is_read", "it is missing")
            continue
        done = call([lightnet, "show", path, "--shape", f"data={shape}"])
        tap.check(f"{name}_is_read", [done.stderr] if done.returncode else [])
    for name, weights, inputs, outputs in [
            ("cifar_resnet20_v1-symbol.json", "cifar_resnet20_v1-0000.params", "cifar_resnet20_v1_input.npy", ["cifar_resnet20_v1_expected.npy"]),
            ("synthetic_multi_output.json", "synthetic_multi_output.params", "synthetic_multi_output_input.npy",
             ["synthetic_multi_output_expected_0.npy", "synthetic_multi_output_expected_1.npy"])]:
        path = os.path.join(DATA, name)
        if not os.path.exists(path):
            tap.skip(f"{name}_gives_what_is_expected", "it is missing")
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = call([lightnet, "run", path, "-f", os.path.join(DATA, weights), "-i", os.path.join(DATA, inputs), "-O", folder])
            faults = [done.stderr] if done.returncode else []
            for k, output in enumerate([] if faults else outputs):
                got, want = np.load(os.path.join(folder, f"output_{k}.npy")), np.load(os.path.join(DATA, output))
                if got.shape != want.shape or np.abs(got - want).max() > 1e-4 * np.abs(want).max():
                    faults.append(f"output {k} differs by {np.abs(got - want).max()}")
            tap.check(f"{name}_gives_what_is_expected", faults)


def check_unknown_keys(tap, lightnet):
    with tempfile.TemporaryDirectory() as folder:
        source, out = write(folder, {**SOUND, "metadata": {}, "attr": {}}, {}, {})[0], os.path.join(folder, "ir.json")
        said = call([lightnet, "convert", source, "--to", "ir", "-o", out]).stderr
    tap.check("an_unknown_key_is_a_warning", [] if said == f"warning: {source}: unknown key 'metadata'\n" else [said])
    nodes = [{**each, "colour": 1, "size": 2} for each in SOUND["nodes"]]
    with tempfile.TemporaryDirectory() as folder:
        source, out = write(folder, {**SOUND, "nodes": nodes}, {}, {})[0], os.path.join(folder, "ir.json")
        said = call([lightnet, "convert", source, "--to", "ir", "-o", out]).stderr
    wanted = f"warning: {source}: nodes[0] \"{nodes[0]['name']}\": unknown key 'colour' (in {len(nodes)} nodes)\n"
    tap.check("unknown_keys_of_nodes_are_one_warning", [] if said == wanted else [said])


def check_long_names(tap, lightnet):
    """Truncated names end with a whole UTF-8 character, otherwise the graph could not be written."""
    for length in range(395, 403):
        name = "a" * length + "\u00e9" * 60
        whole = {"nodes": [{"op": "null", "name": "x", "inputs": [], "attrs": {"shape": "(2, 4)"}},
                           {"op": "split", "name": name, "inputs": [[0, 0, 0]], "attrs": {"indices_or_sections": "2"}},
                           {"op": "round", "name": name, "inputs": [[1, 1, 0]]}], "arg_nodes": [0], "heads": [[2, 0, 0]]}
        with tempfile.TemporaryDirectory() as folder:
            done = call([lightnet, "convert", *write(folder, whole, {}, {}), "-o", os.path.join(folder, "ir.json")])
        tap.check(f"a_name_of_{len(name.encode())}_bytes_can_be_written", [done.stderr] if done.returncode else [])


def check_names_of_heads(tap, lightnet):
    """An operator of MXNet whose last step changes nothing gives its name to its output, each time it is a head."""
    whole = {"nodes": [{"op": "null", "name": "x", "inputs": [], "attrs": {"shape": "(2, 4)"}},
                       {"op": "SoftmaxOutput", "name": "p", "inputs": [[0, 0, 0]]},
                       {"op": "Flatten", "name": "flat", "inputs": [[1, 0, 0]]}],
             "arg_nodes": [0], "heads": [[1, 0, 0], [2, 0, 0], [1, 0, 0]], "attrs": {"mxnet_version": ["int", 10500]}}
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "ir.json")
        done = call([lightnet, "convert", *write(folder, whole, {}, {}), "--to", "ir", "-o", out])
        names = json.load(open(out, encoding="utf-8"))["outputs"] if not done.returncode else [done.stderr]
    tap.check("heads_have_the_names_of_their_nodes", [] if names[:2] == ["p", "flat"] and len(set(names)) == 3 else [f"outputs {names}"])


def main():
    lightnet, tap = sys.argv[1], Tap()
    tap.check("a_state_of_zeros_has_the_size_of_the_batch", faults_of(lightnet, with_state(), {"x": X}, {}, [np.pad(X, ((0, 0), (0, 3)))]))
    tap.check("a_sound_graph_runs", faults_of(lightnet, SOUND, {"x": X}, {}, [X + np.maximum(X, 0)]))
    tap.check("heads_may_name_variables_and_a_node_twice",
              faults_of(lightnet, changed("heads", [[0, 0, 0], [1, 0, 0], [1, 0, 0]]), {"x": X}, {}, [X, np.maximum(X, 0), np.maximum(X, 0)]))
    tap.check("entries_of_two_numbers_are_read", faults_of(lightnet, changed("heads", [[2, 0]]), {"x": X}, {}, [X + np.maximum(X, 0)]))
    # A type by its code, which means other types in old files of core, or by its name; also of the graph's attributes.
    for title, attrs, own, dtype in [("the_new_codes_of_mxnet", {"mxnet_version": ["int", 10500]}, {"__dtype__": "8"}, np.int16),
                                     ("a_name_beside_a_code_of_core", {"dltype": ["list_str", ["int16"] * 3], "dtype": ["list_int", [8] * 3]}, {}, np.int16),
                                     ("a_code_of_the_graph", {"dtype": ["list_int", [4, 0, 0]]}, {}, np.int32),
                                     ("a_name_of_the_variable", {"dtype": ["list_int", [4, 0, 0]]}, {"dtype": "int8"}, np.int8),
                                     ("no_type", {"dtype": ["list_int", [-1, -1, -1]]}, {"dtype": "-1"}, np.float32)]:
        whole = changed("nodes", 0, "attrs", {"shape": "(2, 3)", **own})
        tap.check(f"variables_have_{title}", faults_of(lightnet, {**whole, "attrs": attrs}, {"x": X.astype(dtype)}, {}, [(X + np.maximum(X, 0)).astype(dtype)]))
    for whole, words in REFUSED:
        said = error_of(lightnet, whole)
        tap.check(f"rejects: {words}", [] if said is not None and words in said and bool(said) == bool(words) else [f"said {said!r}"])
    for op, function in {"expm1": np.expm1, "log1p": np.log1p}.items():
        tiny = {"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": op, "name": "y", "inputs": [[0, 0, 0]]},
                          {"op": "elemwise_div", "name": "z", "inputs": [[1, 0, 0], [0, 0, 0]]}],
                "arg_nodes": [0], "heads": [[2, 0, 0]], "attrs": {"mxnet_version": ["int", 10500]}}
        x = np.array([-0.9, -0.51, -0.49, -1e-3, -1e-7, -1e-30, 1e-30, 1e-7, 1e-3, 0.4, 0.6, 20], np.float32)
        tap.check(f"{op}_keeps_small_numbers", faults_of(lightnet, tiny, {"x": x}, {}, [function(x) / x], 1e-6))
    check_long_names(tap, lightnet)
    check_names_of_heads(tap, lightnet)
    check_unknown_keys(tap, lightnet)
    chain = copy.deepcopy(SOUND)
    chain["nodes"] = SOUND["nodes"][:1] + [{"op": "negative", "name": f"n{i}", "inputs": [[i, 0, 0]]} for i in range(2001)]
    chain["heads"], chain["node_row_ptr"] = [[2001, 0, 0]], None
    del chain["node_row_ptr"]
    tap.check("a_long_chain_is_read", faults_of(lightnet, chain, {"x": X}, {}, [-X]))
    many = 100000
    waiting = {"nodes": [{"op": "null", "name": "x", "inputs": []}] + [{"op": "negative", "name": f"n{i}", "inputs": [[i, 0, 0]]} for i in range(many)],
               "arg_nodes": [0], "heads": [[many, 0, 0]]}
    said = error_of(lightnet, waiting)  # after a minute if each node walked along the chain
    tap.check("soon_rejects_a_very_long_chain_without_shapes", [] if "unknown shape" in (said or "") else [f"said {said!r}"])
    check_files(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
