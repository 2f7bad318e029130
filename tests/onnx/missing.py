#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: missing.py LIGHTNET. `lightnet show --missing` lists what a model needs and LightNet lacks, as a table and as JSON."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_writer import function, graph, model, node, value
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
