#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: untaken.py LIGHTNET. Branches of If and bodies of Loop that do not fit the sizes, and that a run does not reach:
models for two sample rates, for example, of which one input selects a branch."""
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
from onnx_case import call, differences, error_of, failure, faults_of, session_faults_of, write
from onnx_writer import graph, model, node, sequence_type, tensor, tensor_type, typed, value
from tap import Tap

F32 = np.float32
YES, NO = np.array(True), np.array(False)


def ints(name, *values):
    return tensor(name, "int64", [len(values)], values)


def ones(name, *dims):
    return tensor(name, "float", dims, [1.0] * int(np.prod(dims)))


def to_sum(nodes, last):
    """The nodes, then the sum of tensor `last` as `o`."""
    return [*nodes, node("ReduceSum", [last], ["o"], keepdims=0)]


def squeezed_if_short():
    """The input of the LSTM has 3 dimensions if x has one column, otherwise 4."""
    short = graph([node("Squeeze", ["x", "a"], ["q1"])], [], [value("q1", "float")])
    long = graph([node("Identity", ["x"], ["q2"])], [], [value("q2", "float")])
    return [node("Shape", ["x"], ["sh"]), node("Gather", ["sh", "one"], ["n"]), node("Equal", ["n", "one"], ["is1"]),
            node("If", ["is1"], ["q"], then_branch=short, else_branch=long), node("Unsqueeze", ["q", "ax"], ["q3"]),
            node("LSTM", ["q3", "W", "R"], ["Y", "", ""], hidden_size=2)]


# Branches that do not fit x of shape [1, 6]: nodes, constants, and a part of the message.
BAD = {
    "Reshape": (to_sum([node("Reshape", ["x", "s"], ["r"])], "r"), [ints("s", -1, 5)], "(Reshape, opset 16): -1 in the new shape"),
    "MatMul": (to_sum([node("MatMul", ["x", "w"], ["r"])], "r"), [ones("w", 7, 2)], "shapes [1, 6] and [7, 2]"),
    "Concat": (to_sum([node("Concat", ["x", "w"], ["r"], axis=0)], "r"), [ones("w", 1, 7)], "axis 1 of 'w' has length 7"),
    "Squeeze": (to_sum([node("Squeeze", ["x", "a"], ["r"])], "r"), [ints("a", 1)], "axis 1 has length 6, expected 1"),
    "Conv": (to_sum([node("Unsqueeze", ["x", "a"], ["u"]), node("Conv", ["u", "w"], ["r"])], "r"), [ints("a", 1), ones("w", 1, 1, 9)],
             "expected at least the window's 9"),
    "LSTM": (to_sum(squeezed_if_short(), "Y"),
             [ints("one", 1), ints("a", 1), ints("ax", 0, 1), ones("W", 1, 8, 1), ones("R", 1, 8, 2)],
             "(LSTM, opset 16): 'X' has 4 dimensions"),
    "random numbers": (to_sum([node("RandomNormalLike", ["x"], ["n"]), node("Reshape", ["n", "s"], ["r"])], "r"), [ints("s", -1, 5)],
                       "-1 in the new shape"),
}


def numbers(name, dtype, *values):
    return tensor(name, dtype, [len(values)], values)


def to_float_sum(nodes, last):
    """As to_sum, of elements that are converted to floats."""
    return to_sum([*nodes, node("Cast", [last], ["as_float"], to=1)], "as_float")


ELEVEN = ints("c", 11, 12, 13)
# Operators that fit, on constants of which no run can compute a result: as above.
BAD.update({
    "Gather": (to_float_sum([node("Gather", ["c", "at"], ["r"])], "r"), [ELEVEN, ints("at", 1, 3)], "index 3 at position 1"),
    "GatherElements": (to_float_sum([node("GatherElements", ["c", "at"], ["r"])], "r"), [ELEVEN, ints("at", -4)], "index -4 at position 0"),
    "GatherND": (to_float_sum([node("GatherND", ["c", "at"], ["r"])], "r"), [ELEVEN, tensor("at", "int64", [1, 1], [9])], "index 9"),
    "ScatterElements": (to_float_sum([node("ScatterElements", ["c", "at", "u"], ["r"])], "r"), [ELEVEN, ints("at", 7), ints("u", 1)],
                        "index 7 at position 0"),
    "ScatterND": (to_float_sum([node("ScatterND", ["c", "at", "u"], ["r"])], "r"),
                  [ELEVEN, tensor("at", "int64", [1, 1], [5]), ints("u", 1)], "index 5"),
    "Div": (to_float_sum([node("Div", ["c", "at"], ["r"])], "r"), [ELEVEN, ints("at", 1, 0, 2)], "division by zero in TL_INT64"),
    "Mod": (to_float_sum([node("Mod", ["c", "at"], ["r"])], "r"), [numbers("c", "uint8", 3, 4), numbers("at", "uint8", 0, 1)],
            "division by zero in TL_UINT8"),
    "Cast": (to_sum([node("Cast", ["c"], ["r"], to=1)], "r"), [numbers("c", "string", b"1.5", b"one")], 'string 1 is "one"'),
    "ReverseSequence": (to_sum([node("ReverseSequence", ["w", "at"], ["r"])], "r"), [ones("w", 2, 3), ints("at", 1, 2, 3)], "length 3 at position 2"),
    "RoiAlign": (to_sum([node("RoiAlign", ["w", "b", "at"], ["r"])], "r"), [ones("w", 1, 1, 2, 2), ones("b", 1, 4), ints("at", 1)],
                 "region 0 is of image 1"),
    "NegativeLogLikelihoodLoss": (to_sum([node("NegativeLogLikelihoodLoss", ["w", "at"], ["r"])], "r"), [ones("w", 1, 3), ints("at", 3)],
                                  "'target' has 3"),
    "what a failing operator makes": (to_float_sum([node("Gather", ["c", "at"], ["g"]), node("Add", ["g", "c"], ["r"])], "r"),
                                      [ELEVEN, ints("at", 1, 3, 0)], "index 3 at position 1"),
    "a shape": (to_sum([node("Div", ["c", "at"], ["s"]), node("Reshape", ["x", "s"], ["r"])], "r"), [ints("c", 6), ints("at", 0)],
                "division by zero in TL_INT64"),
    "a loop over constants": (to_float_sum([node("Loop", ["two", "", "c"], ["r"], body=graph(
        [node("Gather", ["s", "bad"], ["t"]), node("Identity", ["k"], ["go"])],
        [value("n", "int64", []), value("k", "bool", []), value("s", "int64", [3])], [value("go", "bool", []), value("t", "int64", [3])]))],
        "r"), [ELEVEN, ints("bad", 0, 1, 4), tensor("two", "int64", [], [2])], "index 4 at position 2"),
})
X = np.arange(6, dtype=F32).reshape(1, 6)
FITS = graph([node("ReduceSum", ["x"], ["g"], keepdims=0)], [], [value("g", "float", [])])


def branch_of(what):
    nodes, constants, _ = BAD[what]
    return graph(nodes, [], [value("o", "float", [])], constants)


def choice(branch, cond="flag", before=(), inputs=None, constants=()):
    """If the condition holds, the sum of x, otherwise the branch."""
    whole = [*before, node("If", [cond], ["y"], name="choose", then_branch=FITS, else_branch=branch)]
    inputs = inputs or [value("x", "float", [1, "N"]), value("flag", "bool", [])]
    return model(graph(whole, inputs, [value("y", "float", [])], constants), opset=16)


# The condition is computed from x.
ABOVE = [node("ReduceSum", ["x"], ["total"], keepdims=0), node("Greater", ["total", "zero"], ["above"])]


def computed(branch):
    return choice(branch, "above", ABOVE, [value("x", "float", [1, "N"])], [tensor("zero", "float", [], [0.0])])


def body(nodes, constants=(), part=("o", [])):
    """Adds the sum of what does not fit to the state; stacks it, too."""
    return graph([*nodes, node("Add", ["state", "o"], ["t"]), node("Identity", ["o"], ["p"]), node("Identity", ["cond"], ["go"])],
                 [value("i", "int64", []), value("cond", "bool", []), value("state", "float", [])],
                 [value("go", "bool", []), value("t", "float", []), value("p", "float", part[1])], constants)


def repetition(what, trips, cond="", before=(), inputs=None, constants=(), outputs=("y", "z"), part=("o", [])):
    nodes, own, _ = BAD[what]
    whole = [*before, node("Loop", [trips, cond, "start"], list(outputs), name="repeat", body=body(nodes, own, part))]
    inputs = inputs or [value("x", "float", [1, "N"]), value("m", "int64", [])]
    return model(graph(whole, inputs, [value(name, "float") for name in outputs], [tensor("start", "float", [], [5.0]), *constants]),
                 opset=16)


START, NOTHING = F32(5), np.zeros(0, F32)
COUNTED = [node("ReduceSum", ["x"], ["total"], keepdims=0), node("Cast", ["total"], ["count"], to=7)]


def compiled_faults(lightnet, it, options, cases):
    """Compiles the model, and runs it for each case: inputs, and its outputs or a part of its message."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "compiled.safetensors"), os.path.join(folder, "out")
        done = call([lightnet, "compile", *write(folder, it, {}), *options(folder), "-o", path])
        faults = failure(done)
        for inputs, wanted in [] if faults else cases:
            done = call([lightnet, "run", "-r", path, *write(folder, it, inputs)[1:], "-O", out])
            if isinstance(wanted, str):
                faults += [] if done.returncode == 1 and wanted in done.stderr else [f"expected {wanted!r} in {done.stderr!r}"]
            else:
                faults += failure(done) or [fault for k, want in enumerate(wanted)
                                            for fault in differences(os.path.join(out, f"output_{k}.npy"), want, 0, 0)]
        return faults


def says(lightnet, it, inputs, words, command=("run",)):
    message = error_of(lightnet, it, inputs, command)
    return [] if message and words in message else [f"expected {words!r} in: {message!r}"]


def sizes(*shapes):
    return lambda folder: [word for shape in shapes for word in ("--shape", shape)]


def flag_and_range(folder):
    np.save(os.path.join(folder, "flag.npy"), YES)
    return ["--shape", "N=1..8", "-i", "flag=" + os.path.join(folder, "flag.npy")]


def missing_faults(lightnet, it):
    with tempfile.TemporaryDirectory() as folder:
        done = call([lightnet, "show", *write(folder, it, {}), "--shape", "N=6", "--missing", "--json"])
        return [] if done.returncode == 0 and json.loads(done.stdout)["missing"] == [] else [done.stdout + done.stderr]


def check_branches(tap, lightnet):
    for what, (_, _, words) in BAD.items():
        it, data = choice(branch_of(what)), computed(branch_of(what))
        tap.check(f"{what}: a branch that the given condition does not select", faults_of(lightnet, it, {"x": X, "flag": YES}, [X.sum()]))
        tap.check(f"{what}: the message of a branch that it selects", says(lightnet, it, {"x": X, "flag": NO}, words))
        cases = [({"x": X, "flag": YES}, [X.sum()]), ({"x": X, "flag": NO}, words), ({"x": -X, "flag": YES}, [-X.sum()])]
        tap.check(f"{what}: compiled for both", compiled_faults(lightnet, it, sizes("N=6"), cases))
        tap.check(f"{what}: compiled for a condition and open sizes",
                  compiled_faults(lightnet, it, flag_and_range,
                                  [({"x": x, "flag": YES}, [x.sum()]) for x in (X, X[:, :1], X[:, 2:])]))
        tap.check(f"{what}: a computed condition", faults_of(lightnet, data, {"x": X}, [X.sum()]))
        tap.check(f"{what}: one that selects it", says(lightnet, data, {"x": -X}, words))
        tap.check(f"{what}: compiled for a computed condition",
                  compiled_faults(lightnet, data, sizes("N=6"), [({"x": X}, [X.sum()]), ({"x": -X}, words)]))
        tap.check(f"{what}: nothing is missing", missing_faults(lightnet, it))
    fives = [F32(sign) * np.arange(1, n + 1, dtype=F32).reshape(1, n) for sign, n in ((1, 6), (-1, 5), (1, 7), (1, 3), (-1, 10), (1, 5))]
    tap.check("a session runs a branch for the sizes that it fits",
              session_faults_of(lightnet, computed(branch_of("Reshape")), ["y"], [(x, [x.sum()]) for x in fives]))


def check_nested(tap, lightnet):
    inner = graph([node("If", ["flag"], ["r"], then_branch=FITS, else_branch=branch_of("MatMul"))], [], [value("r", "float", [])])
    it = choice(inner, "flag")
    tap.check("a branch within a branch", faults_of(lightnet, it, {"x": X, "flag": YES}, [X.sum()]) +
              says(lightnet, it, {"x": X, "flag": NO}, "shapes [1, 6] and [7, 2]"))
    tap.check("which is compiled", compiled_faults(lightnet, it, sizes("N=6"), [({"x": X, "flag": YES}, [X.sum()]),
                                                                                ({"x": X, "flag": NO}, "shapes [1, 6] and [7, 2]")]))
    neither = model(graph([node("If", ["flag"], ["y"], then_branch=branch_of("MatMul"), else_branch=branch_of("Concat"))],
                          [value("x", "float", [1, 6]), value("flag", "bool", [])], [value("y", "float", [])]), opset=16)
    tap.check("no branch fits", says(lightnet, neither, {}, "axis 1 of 'w_0' has length 7", ("compile", "-o", os.devnull)))
    unknown = graph([node("Relu", ["nowhere"], ["o"])], [], [value("o", "float", [])])
    tap.check("a branch that reads what nothing makes is rejected",
              says(lightnet, choice(unknown), {}, "'nowhere', is not produced by any node", ("compile", "--shape", "N=6", "-o", os.devnull)))
    lacking = graph([node("CDist", ["x", "x"], ["o"], domain="com.microsoft", metric="cosine")], [], [value("o", "float", [])])
    tap.check("an attribute that is not supported is rejected, also in a branch",
              says(lightnet, choice(lacking), {}, "attribute 'metric'", ("compile", "--shape", "N=6", "-o", os.devnull)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.json")
        done = call([lightnet, "compile", *write(folder, choice(branch_of("random numbers")), {}), "--shape", "N=6", "-o", path])
        text = "" if done.returncode else open(path, encoding="utf-8").read()
        tap.check("nothing of a branch that does not fit is left", failure(done) or (["random"] if "random" in text else []))
        warned = "'else_branch' does not fit; a run that selects it fails: node 'r' (Concat, opset 16)"
        done = call([lightnet, "compile", *write(folder, choice(branch_of("Concat")), {}), "--shape", "N=6", "-o", path, "--force"])
        tap.check("compiling it is a warning", [] if warned in done.stderr else [done.stderr])


def of_other_values():
    """Branches of other values than a float: a sentence, nodes and output of the branch that fits, and of the one that does
    not, nodes that read `y`, and the outputs."""
    seq = sequence_type(tensor_type("float"))
    both = [node("Identity", ["x"], ["a"]), node("Neg", ["x"], ["b"])]
    rows = node("Reshape", ["x", "s"], ["r"])
    yield ("sequences", [*both, node("SequenceConstruct", ["a", "b"], ["p"])], typed("p", seq),
           [rows, node("SequenceConstruct", ["r", "r"], ["q"])], typed("q", seq), [node("ConcatFromSequence", ["y"], ["z"], axis=0)],
           [np.concatenate([X, -X])])
    yield ("strings", [node("Cast", ["x"], ["p"], to=8)], value("p", "string"), [rows, node("Cast", ["r"], ["q"], to=8)],
           value("q", "string"), [node("Identity", ["y"], ["z"])], [np.array([[f"{n:.1f}" for n in X[0]]])])
    yield ("sizes that data decides", [node("NonZero", ["x"], ["p"])], value("p", "int64"), [rows, node("NonZero", ["r"], ["q"])],
           value("q", "int64"), [node("Cast", ["y"], ["z"], to=1)], [np.array(np.nonzero(X), F32)])


def check_values(tap, lightnet):
    for sentence, fits, p, other, q, after, wanted in of_other_values():
        whole = [*ABOVE, node("If", ["above"], ["y"], then_branch=graph(fits, [], [p]),
                              else_branch=graph(other, [], [q], [ints("s", -1, 5)])), *after]
        it = model(graph(whole, [value("x", "float", [1, 6])], [value("z", "string" if sentence == "strings" else "float")],
                         [tensor("zero", "float", [], [0.0])]), opset=16)
        tap.check(f"branches of {sentence}", compiled_faults(lightnet, it, sizes(),
                                                            [({"x": X}, wanted), ({"x": -X}, "-1 in the new shape")]))
    step = [node("If", ["flag"], ["o"], then_branch=FITS, else_branch=graph(
        to_sum([node("MatMul", ["x", "w"], ["r"])], "r")[:1] + [node("ReduceSum", ["r"], ["h"], keepdims=0)], [],
        [value("h", "float", [])], [ones("w", 7, 2)]))]
    whole = graph([node("Loop", ["m", "", "start"], ["y"], body=graph(
        [*step, node("Add", ["state", "o"], ["t"])], [value("i", "int64", []), value("cond", "bool", []), value("state", "float", [])],
        [value("cond", "bool", []), value("t", "float", [])]))],
        [value("x", "float", [1, 6]), value("flag", "bool", []), value("m", "int64", [])], [value("y", "float", [])],
        [tensor("start", "float", [], [5.0])])
    three = np.array(3, np.int64)
    tap.check("a branch within a loop", compiled_faults(lightnet, model(whole, opset=16), sizes(), [
        ({"x": X, "flag": YES, "m": three}, [F32(5 + 3 * X.sum())]), ({"x": X, "flag": NO, "m": three}, "shapes [1, 6] and [7, 2]"),
        ({"x": X, "flag": NO, "m": np.array(0, np.int64)}, [F32(5)])]))


def check_loops(tap, lightnet):
    for what, (_, _, words) in BAD.items():
        it = repetition(what, "m")
        none, one = ({"x": X, "m": np.array(n, np.int64)} for n in (0, 1))
        tap.check(f"{what}: a body that is not run", faults_of(lightnet, it, none, [START, NOTHING]))
        tap.check(f"{what}: the message of one that is run", says(lightnet, it, one, words))
        last = repetition(what, "m", outputs=("y",))
        tap.check(f"{what}: compiled for both",
                  compiled_faults(lightnet, last, sizes("N=6"), [(none, [START]), (one, words), (none, [START])]))
        data = repetition(what, "count", before=COUNTED, inputs=[value("x", "float", [1, "N"])], outputs=("y",))
        tap.check(f"{what}: a computed number of iterations",
                  faults_of(lightnet, data, {"x": -X}, [START]) + says(lightnet, data, {"x": X}, words))
        known = repetition(what, "none", constants=[tensor("none", "int64", [], [0])], inputs=[value("x", "float", [1, "N"])])
        tap.check(f"{what}: a constant number of iterations", faults_of(lightnet, known, {"x": X}, [START, NOTHING]))
    flag = [value("x", "float", [1, "N"]), value("flag", "bool", [])]
    it = repetition("MatMul", "five", "flag", inputs=flag, constants=[tensor("five", "int64", [], [5])], part=("o", [2, "k"]))
    cases = [({"x": X, "flag": NO}, [START, np.zeros((0, 2, 0), F32)]), ({"x": X, "flag": YES}, "shapes [1, 6] and [7, 2]")]
    tap.check("a condition, and parts as the body declares them", compiled_faults(lightnet, it, sizes("N=6"), cases) +
              [fault for inputs, wanted in cases[:1] for fault in faults_of(lightnet, it, inputs, wanted)])
    many = repetition("MatMul", "five", "flags", constants=[tensor("five", "int64", [], [5])],
                      inputs=[value("x", "float", [1, 6]), value("flags", "bool", [2])])
    tap.check("a condition of two elements is rejected", says(lightnet, many, {}, "the condition has 2 elements, expected 1",
                                                              ("compile", "-o", os.devnull)))
    forever = model(graph([node("Loop", ["", "", "start"], ["y", "z"], body=body(*BAD["MatMul"][:2]))], [value("x", "float", [1, 6])],
                          [value("y", "float"), value("z", "float")], [tensor("start", "float", [], [5.0])]), opset=16)
    tap.check("a body that runs at least once must fit", says(lightnet, forever, {"x": X}, "shapes [1, 6] and [7, 2]"))


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_branches(tap, lightnet)
    check_nested(tap, lightnet)
    check_values(tap, lightnet)
    check_loops(tap, lightnet)
    tap.end()


if __name__ == "__main__":
    main()
