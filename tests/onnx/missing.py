#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: missing.py LIGHTNET. `lightnet show --missing` lists what a model needs and LightNet lacks, as a table and as JSON. What no
size decides is an error of opening a model, also where sizes are open."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_writer import function, graph, model, node, tensor, value
from tap import Tap

X, Y = [value("x", "float", [2, 3])], [value("y", "float", [2, 3])]
DOMAINS = {"": 17, "com.acme": 3, "com.microsoft": 1, "com.microsoft.nchwc": 1, "ai.onnx.preview.training": 1}


def simple(*nodes, inputs=None, opset=None, **options):
    return model(graph(list(nodes), inputs or X, Y), opset=opset or DOMAINS, **options)


def show(lightnet, whole, *options):
    """Exit status, standard output and standard error."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(whole)
        done = subprocess.run([lightnet, "show", path, "--missing", *options], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=60)
        return done.returncode, done.stdout, done.stderr


def entry(operator, domain="", opset=17, nodes=1, first="", reason="unknown operator"):
    return {"operator": operator, "domain": domain, "opset": opset, "nodes": nodes, "first": first, "reason": reason}


BRANCH = graph([node("Foo", ["x"], ["a"], name="inner")], [], [value("a", "float")])
CALLED = function("com.acme", "Known", ["a"], ["b"], [node("Foo", ["a"], ["b"], name="within")], opset={"": 17})

# A sentence, the model, and what it lacks. A reason that ends with ".." is the beginning of one.
CASES = [
    ("nothing", simple(node("Relu", ["x"], ["y"])), []),
    ("several operators, each with its first node",
     simple(node("Foo", ["x"], ["a"], name="first"), node("Foo", ["a"], ["b"], name="second"),
            node("Bar", ["b"], ["y"], domain="com.acme")),
     [entry("Foo", nodes=2, first="first"),
      entry("Bar", "com.acme", 3, reason="unsupported domain: export with standard operators only")]),
    ("operators of branches", simple(node("ReduceMax", ["x"], ["m"], keepdims=0), node("Cast", ["m"], ["c"], to=9),
                                     node("If", ["c"], ["y"], then_branch=BRANCH, else_branch=BRANCH)),
     [entry("Foo", nodes=2, first="inner")]),
    ("operators of functions", simple(node("Known", ["x"], ["y"], domain="com.acme"), functions=[CALLED]),
     [entry("Foo", first="within")]),
    ("an operator that a newer operator set has", simple(node("ImageDecoder", ["x"], ["y"], name="i"), opset=17),
     [entry("ImageDecoder", first="i", reason="not in operator set 17; export with a newer one")]),
    ("a domain of ONNX Runtime's optimizer", simple(node("Conv", ["x"], ["y"], domain="com.microsoft.nchwc")),
     [entry("Conv", "com.microsoft.nchwc", 1, reason="unsupported domain: ONNX Runtime's optimizer wrote it for one machine..")]),
    ("operators of training", simple(node("Adam", ["x"], ["y"], domain="ai.onnx.preview.training")),
     [entry("Adam", "ai.onnx.preview.training", 1, reason="it trains a model; export the model for inference")]),
    ("an unknown operator of a domain that is not imported, which is read as the newest one",
     simple(node("Relu", ["x"], ["y"], domain="com.microsoft"), opset=17), [entry("Relu", "com.microsoft", 1)]),
    ("an attribute, if all operators are supported", simple(node("Relu", ["x"], ["a"]),
                                                            node("CDist", ["a", "a"], ["y"], name="d", domain="com.microsoft",
                                                                 metric="cosine")),
     [entry("CDist", "com.microsoft", 1, first="d", reason="attribute 'metric' is \"cosine\", expected one of..")]),
    ("a type", simple(node("Softmax", ["x"], ["y"], name="s"), inputs=[value("x", "int32", [2, 3])]),
     [entry("Softmax", first="s", reason="operator ..")]),
]


def untaken(name):
    """A branch that is known not to be taken, with an input of this name and an operator."""
    other = graph([node(*name, ["b"], name="b")], [], [value("b", "float")])
    taken = graph([node("Relu", ["x"], ["a"])], [], [value("a", "float")])
    return [node("Constant", [], ["yes"], value=tensor("", "bool", [], [True])),
            node("If", ["yes"], ["y"], then_branch=taken, else_branch=other)]


OPEN = [value("x", "float", ["n", 3])]
RELU = node("Relu", ["x"], ["y"], name="r")

# A sentence, a model of open sizes, and why it cannot be opened.
REJECTED = [
    ("an operator", simple(node("Foo", ["x"], ["y"]), inputs=OPEN), "operators that are not supported: Foo (1 node)"),
    ("several operators", simple(node("Foo", ["x"], ["a"]), node("Bar", ["a"], ["y"], domain="com.acme"), inputs=OPEN),
     "operators that are not supported: Foo (1 node), com.acme.Bar (1 node; unsupported domain: export with standard operators only)"),
    ("an operator of a branch that is not taken", simple(*untaken(("Foo", ["x"])), inputs=OPEN),
     "operators that are not supported: Foo (1 node)"),
    ("an operator of a function", simple(node("Known", ["x"], ["y"], domain="com.acme"), functions=[CALLED], inputs=OPEN),
     "operators that are not supported: Foo (1 node)"),
    ("an operator set that lacks it", simple(node("ImageDecoder", ["x"], ["y"]), inputs=OPEN),
     "operators that are not supported: ImageDecoder (1 node; not in operator set 17; export with a newer one)"),
    ("an attribute", simple(node("Relu", ["x"], ["y"], max_value=6.0), inputs=OPEN), "unrecognized attribute 'max_value' for operator Relu"),
    ("a value that no node produces", simple(node("Relu", ["z"], ["y"], name="r"), inputs=OPEN),
     "node 'r' (Relu, opset 17): input 0, 'z', is not produced by any node before"),
    ("the same in a branch that is not taken", simple(*untaken(("Relu", ["z"])), inputs=OPEN),
     "node 'b' (Relu, opset 17): input 0, 'z', is not produced by any node before"),
    ("the same in a function, which does not see the values of its caller",
     simple(node("Known", ["x"], ["y"], domain="com.acme"), inputs=OPEN,
            functions=[function("com.acme", "Known", ["a"], ["b"], [node("Add", ["a", "x"], ["b"])], opset={"": 17})]),
     "input 1, 'x', is not produced by any node before"),
    ("an output that no node produces", model(graph([RELU], OPEN, [value("q", "float")]), opset=17),
     "output 'q' is not produced by any node"),
    ("nodes that need each other", simple(node("Add", ["x", "b"], ["a"], name="one"), node("Relu", ["a"], ["b"]), RELU, inputs=OPEN),
     "node 'one' (Add): it reads what is computed from its own outputs"),
    ("an input that is listed twice", simple(RELU, inputs=OPEN + OPEN), "input 'x' is listed twice"),
    ("a name that is defined twice", simple(RELU, node("Neg", ["x"], ["y"]), inputs=OPEN), "'y' is defined twice"),
]


def faults_of_opening(lightnet, whole, reason):
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(whole)
        for words in (["show"], ["show", "--json"], ["run"], ["bench"], ["verify", "--reference"],
                      ["compile", "-o", path + ".safetensors"], ["convert", "-o", path + ".json"]):
            done = subprocess.run([lightnet, words[0], path, *words[1:]], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  check=False, timeout=60)
            if (done.returncode, done.stdout, done.stderr.count("\n")) != (1, "", 1) or reason not in done.stderr:
                faults.append(f"{' '.join(words)}: {done.returncode}: {done.stdout}{done.stderr}")
    return faults


def faults_of(lightnet, whole, wanted):
    status, out, err = show(lightnet, whole, "--json")
    faults = [] if status == (1 if wanted else 0) and not err else [f"exit status {status}: {err}"]
    got = json.loads(out)["missing"] if out else []
    for have, want in zip(got, wanted):
        if want["reason"].endswith("..") and have["reason"].startswith(want["reason"][:-2]):
            have["reason"] = want["reason"]
    faults += [] if got == wanted else [f"{got}", f"expected {wanted}"]
    status, out, err = show(lightnet, whole)
    lines = out.splitlines()
    if not wanted:
        return faults + ([] if (status, lines, err) == (0, ["nothing is missing"], "") else [f"{status}: {out}{err}"])
    if status != 1 or err or len(lines) != 1 + len(wanted) or lines[0].split()[:3] != ["nodes", "operator", "opset"]:
        faults.append(f"{status}: {out}{err}")
    for line, want in zip(lines[1:], wanted):
        name = f"{want['domain']}.{want['operator']}".lstrip(".")
        if line.split()[:3] != [str(want["nodes"]), name, str(want["opset"] or "-")]:
            faults.append(f"{line!r}, expected {want}")
    return faults


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    for sentence, whole, wanted in CASES:
        tap.check(f"what is missing: {sentence}", faults_of(lightnet, whole, wanted))
    for sentence, whole, reason in REJECTED:
        tap.check(f"a model of open sizes is not opened: {sentence}", faults_of_opening(lightnet, whole, reason))
    open_sizes = simple(node("Relu", ["x"], ["y"]), inputs=[value("x", "float", ["n", 3])])
    status, out, err = show(lightnet, open_sizes)
    tap.check("open sizes leave attributes unchecked, with a warning",
              [] if status == 0 and out == "nothing is missing\n" and "sizes are open" in err else [f"{status}: {out}{err}"])
    status, out, err = show(lightnet, open_sizes, "--shape", "n=2")
    tap.check("given sizes do not", [] if (status, out, err) == (0, "nothing is missing\n", "") else [f"{status}: {out}{err}"])
    status, out, err = show(lightnet, simple(node("Foo", ["x"], ["y"]), inputs=[value("x", "float", ["n", 3])]))
    tap.check("operators are found in a model of open sizes, too",
              [] if status == 1 and "Foo" in out and not err else [f"{status}: {out}{err}"])
    status, out, err = show(lightnet, b"\x08\x08nonsense")
    tap.check("a file that cannot be read is an error", [] if status == 1 and not out and err else [f"{status}: {out}{err}"])
    status, out, err = show(lightnet, open_sizes, "--svg")
    tap.check("there is no diagram of it", [] if status == 2 and "--missing excludes" in err else [f"{status}: {out}{err}"])
    tap.end()


if __name__ == "__main__":
    main()
