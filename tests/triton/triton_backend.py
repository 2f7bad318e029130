#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: triton_backend.py HOST BACKEND. The backend of Triton in a host of ours, which keeps to Triton's rules (triton_host.c)."""
import json
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../serve")]

from serve_kit import DATATYPES, DIGITS, NAMES, affine, folder, scaled, types, unary, w, write
import numpy as np
from checks import run_tests, same, test

HOST, BACKEND = map(os.path.abspath, sys.argv[1:3])
INTERNAL, NOT_FOUND, INVALID, UNSUPPORTED = 1, 2, 3, 5


def entry(name, data_type="TYPE_FP32", dims=(2,), **more):
    return {"name": name, "data_type": data_type, "dims": list(dims), **more}


def config(max_batch=8, inputs=None, outputs=None, **more):
    return {"name": "m", "backend": "lightnet", "max_batch_size": max_batch, "input": [entry("x")] if inputs is None else inputs,
            "output": [entry("y")] if outputs is None else outputs, **more}


def given(name, array, **more):
    """An input of a request."""
    return {"name": name, "datatype": NAMES[array.dtype], "shape": list(array.shape), "data": array.tobytes().hex(), **more}


def ask(*inputs, outputs=("y",)):
    return {"inputs": list(inputs), "outputs": list(outputs)}


def rows(*shape, start=0.0):
    return (np.arange(np.prod(shape), dtype=np.float32) + start).reshape(shape)


def host(plan):
    """The results; nothing may be left."""
    done = subprocess.run([HOST, BACKEND], input=json.dumps(plan), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    results = json.loads(done.stdout)
    assert results["left"] == [0, 0, 0, 0], f"errors, messages, responses, requests that are left: {results['left']}"
    return results


def serve(model, configuration, *batches, name="model.onnx", version=1, **more):
    """Runs batches of requests on a model in a repository of its own."""
    with folder() as path:
        write(f"{path}/m/{version}/{name}", model)
        write(f"{path}/m/config.pbtxt", b"")
        return host({"folder": f"{path}/m", "version": version, "config": configuration, "batches": list(batches), **more})


def array_of(output):
    data = bytes.fromhex(output["data"])
    if output["datatype"] == "BYTES":
        strings = []
        while data:
            size, = struct.unpack("<I", data[:4])
            strings.append(data[4:4 + size])
            data = data[4 + size:]
        return strings
    return np.frombuffer(data, DATATYPES[output["datatype"]]).reshape(output["shape"])


def check_answers(results, wanted, batch=0):
    """Faults unless each response of a batch has its only output, and statistics of success."""
    faults = []
    for i, (seen, array) in enumerate(zip(results["batches"][batch], wanted, strict=True)):
        if "error" in seen or (seen["success"], seen["times"]) != (True, True):
            faults.append(f"request {i}: {seen}")
        else:
            faults += [f"request {i}: {fault}" for fault in same(array_of(seen["outputs"][0]).tolist(), array.tolist())]
    return faults


def rejects(where, code, text, *args, **more):
    """Faults unless the model, or its instance, fails with this error."""
    error = serve(*args, **more)[where]
    return [f"{where}: no error '{text}'"] if error is None else same(error["code"], code) + ([] if text in error["text"] else [error["text"]])


def errors(results, *wanted, batch=0):
    """Faults unless the responses of a batch have these errors: (code, text), or None."""
    faults = []
    for i, (seen, error) in enumerate(zip(results["batches"][batch], wanted, strict=True)):
        found = seen.get("error")
        if error is None:
            faults += [f"request {i}: {seen}"] if found or not seen["success"] else []
        else:
            fits = found and found["code"] == error[0] and error[1] in found["text"] and not seen["success"]
            faults += [] if fits else [f"request {i}: {seen}, expected {error}"]
    return faults


# Runs

@test
def requests_run_together():
    """1 and 3 and 2 rows in one run, and the next call anew."""
    batch = [rows(1, 2), rows(3, 2, start=10), rows(2, 2, start=50)]
    results = serve(scaled(3), config(), [ask(given("x", x)) for x in batch], [ask(given("x", rows(1, 2)))])
    return check_answers(results, [3 * x for x in batch]) + check_answers(results, [3 * rows(1, 2)], batch=1) + \
        same(results["statistics"], [6, 1]) + same(results["kind"], 1) + same(results["log"], [])


@test
def batches_equal_single_runs_bit_for_bit():
    """More rows than max_batch_size together, so that several runs are needed."""
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal((1 + i % 3, 64)).astype(np.float32) for i in range(12)]
    both = config(8, [entry("x", dims=[64])], [entry("y", dims=[64])])
    together = serve(affine(), both, [ask(given("x", x)) for x in inputs])
    alone = serve(affine(), both, *[[ask(given("x", x))] for x in inputs])
    return same([one["outputs"][0]["data"] for one in together["batches"][0]], [one[0]["outputs"][0]["data"] for one in alone["batches"]]) + \
        same(sum(together["statistics"]), 24)


@test
def model_without_a_batch_runs_one_request_at_a_time():
    digits = config(0, [entry("image", dims=[1, 1, 28, 28])], [entry("probabilities", dims=[1, 10])])
    with open(DIGITS, "rb") as file:
        model = file.read()
    name = serve(model, config(0, [], []), auto_complete=True)["config"]["output"][0]["name"]
    digits["output"][0]["name"] = name
    with open(os.path.join(os.path.dirname(DIGITS), "seven.pgm"), "rb") as file:
        seven = np.frombuffer(file.read()[-784:], np.uint8).astype(np.float32).reshape(1, 1, 28, 28)
    results = serve(model, digits, [ask(given("image", seven), outputs=[name]), ask(given("image", 0 * seven), outputs=[name])])
    return errors(results, None, None) + same(int(array_of(results["batches"][0][0]["outputs"][0]).argmax()), 7) + same(results["statistics"], [2])


@test
def requests_of_other_shapes_run_apart():
    both = config(8, [entry("x", dims=[-1])], [entry("y", dims=[-1])])
    batch = [rows(1, 3), rows(1, 5), rows(2, 3), rows(1, 5)]
    model = unary("Relu", shape=("n", "m"))
    return check_answers(serve(model, both, [ask(given("x", x)) for x in batch]), batch)


@test
def inputs_may_come_in_pieces_and_unaligned():
    x = rows(4, 2)
    results = serve(scaled(2), config(), [ask(given("x", x, piece=3))], [ask(given("x", x, unaligned=True))],
                    [ask(given("x", x, piece=5)), ask(given("x", x, piece=8))])
    return check_answers(results, [2 * x]) + check_answers(results, [2 * x], batch=1) + check_answers(results, [2 * x] * 2, batch=2)


@test
def all_types_pass():
    """Each of Triton's types, and several outputs in the order of the request."""
    names = [*DATATYPES, "BYTES"]
    ports = [[entry(f"{p}_{name}", "TYPE_" + name.replace("BYTES", "STRING"), [3]) for name in [*names, "BF16"]] for p in "xy"]
    arrays = {name: np.array([0, 1, 1], DATATYPES[name]) for name in DATATYPES}
    texts = b"".join(struct.pack("<I", len(text)) + text for text in (b"", "\u00e9t\u00e9".encode(), b"a\0b"))
    inputs = [given("x_" + name, array) for name, array in arrays.items()]
    inputs += [{"name": "x_BYTES", "datatype": "BYTES", "shape": [3], "data": texts.hex(), "piece": 2},
               {"name": "x_BF16", "datatype": "BF16", "shape": [3], "data": "00003f800000"}]
    outputs = ["y_" + name for name in reversed([*names, "BF16"])]
    results = serve(types(), config(0, *ports), [ask(*inputs, outputs=outputs)])
    seen = results["batches"][0][0]
    if "error" in seen:
        return [str(seen["error"])]
    data = {one["name"]: one for one in seen["outputs"]}
    faults = same([one["name"] for one in seen["outputs"]], outputs) + same(data["y_BYTES"]["data"], texts.hex()) + \
        same(data["y_BF16"]["data"], "00003f800000")
    return faults + [f"{name} differs" for name, array in arrays.items() if data["y_" + name]["data"] != array.tobytes().hex()]


@test
def strings_run_together():
    pack = lambda *texts: b"".join(struct.pack("<I", len(text)) + text for text in texts).hex()
    model = unary("Identity", dtype="string", shape=("n", 2))
    both = config(8, [entry("x", "TYPE_STRING")], [entry("y", "TYPE_STRING")])
    of = lambda n, data: ask({"name": "x", "datatype": "BYTES", "shape": [n, 2], "data": data})
    results = serve(model, both, [of(1, pack(b"a", b"bc")), of(2, pack(b"", b"d", b"e", b"fff")), of(1, pack(b"x")), of(1, "ffffffff00")])
    return errors(results, None, None, (INVALID, "'x'"), (INVALID, "'x'")) + same(results["statistics"], [3]) + \
        same([one["outputs"][0]["data"] for one in results["batches"][0][:2]], [pack(b"a", b"bc"), pack(b"", b"d", b"e", b"fff")])


@test
def file_of_the_version_is_found():
    """Also by default_model_filename; a version that is not there is an error."""
    with folder() as path:
        write(f"{path}/m/1/model.onnx", scaled(1))
        write(f"{path}/m/7/model.onnx", scaled(7))
        write(f"{path}/m/7/labels.txt", b"")
        write(f"{path}/m/9/named.onnx", scaled(9))
        faults = []
        for version, more, factor in ((1, {}, 1), (7, {}, 7), (9, {"default_model_filename": "named.onnx"}, 9)):
            results = host({"folder": f"{path}/m", "version": version, "config": config(**more), "batches": [[ask(given("x", rows(1, 2)))]]})
            faults += check_answers(results, [factor * rows(1, 2)])
        missing = host({"folder": f"{path}/m", "version": 3, "config": config(), "batches": []})["model"]
        return faults + same((missing["code"], missing["text"]), (NOT_FOUND, f"{path}/m/3: has no model"))


# Errors of requests

@test
def wrong_requests_fail_alone():
    good = ask(given("x", rows(2, 2)))
    wrong = [(ask(), (INTERNAL, "unknown request input")), (ask(given("x", rows(2, 2).astype(np.float64))), (INVALID, "has the type FP64; the model's is FP32")),
             (ask(given("x", rows(2, 3))), (INVALID, "size 3 in axis 1; the model's is 2 to 2")),
             (ask(given("x", rows(2))), (INVALID, "has 1 dimensions; the model's has 2")),
             (ask(given("x", rows(9, 2))), (INVALID, "has 9 rows; expected 1 to 8")),
             (ask(given("x", rows(0, 2))), (INVALID, "has 0 rows")),
             (ask({**given("x", rows(2, 2)), "shape": [3, 2]}), (INVALID, "has 16 bytes; its shape and type need 24")),
             (ask({**given("x", rows(2, 2)), "shape": [-1, 2]}), (INVALID, "has the size -1")),
             (ask({**given("x", rows(2, 2)), "shape": [1 << 40, 2]}), (INVALID, "has the size 1099511627776")),
             (ask({**given("x", rows(2, 2)), "shape": [1] * 15 + [2]}), (INVALID, "has 16 dimensions")),
             (ask(given("x", rows(2, 2)), outputs=["z"]), (INVALID, "no output 'z'")),
             (ask(given("x", rows(2, 2), gpu=True)), (UNSUPPORTED, "memory of a GPU"))]
    results = serve(scaled(2), config(), [good, *[one for one, _ in wrong], good])
    return errors(results, None, *[error for _, error in wrong], None) + \
        same([array_of(results["batches"][0][i]["outputs"][0]).tolist() for i in (0, -1)], [(2 * rows(2, 2)).tolist()] * 2)


@test
def batch_that_fails_runs_each_request_alone():
    """One index is out of range: the others have results."""
    whole = w.graph([w.node("Gather", ["t", "x"], ["y"], axis=0)], [w.value("x", "int64", ["n", 1])], [w.value("y", "float", ["n", 1])],
                    [w.tensor("t", "float", [3], [5.0, 6.0, 7.0])])
    both = config(8, [entry("x", "TYPE_INT64", [1])], [entry("y", dims=[1])])
    results = serve(w.model(whole, opset=17), both, [ask(given("x", np.array([[i]], np.int64))) for i in (2, 9, 0)])
    seen = results["batches"][0]
    return errors(results, None, (INVALID, ""), None) + same([array_of(seen[i]["outputs"][0]).tolist() for i in (0, 2)], [[[7.0]], [[5.0]]]) + \
        same(results["statistics"], [2])


@test
def output_that_does_not_follow_the_batch_is_an_error():
    """y = the sum over rows: requests together would be mixed; alone they have answers."""
    whole = w.graph([w.node("ReduceSum", ["x", "axes"], ["y"], keepdims=1)], [w.value("x", "float", ["n", 2])], [w.value("y", "float", [1, 2])],
                    [w.tensor("axes", "int64", [1], [0])])
    results = serve(w.model(whole, opset=17), config(), [ask(given("x", rows(2, 2))), ask(given("x", rows(1, 2)))], [ask(given("x", rows(2, 2)))])
    return errors(results, *[(INTERNAL, "no row for each row")] * 2) + check_answers(results, [rows(2, 2).sum(0, keepdims=True)], batch=1)


@test
def failures_of_the_host_are_answered_or_logged():
    batch = [ask(given("x", rows(1, 2))), ask(given("x", rows(2, 2)))]
    faults = []
    for name in ("TRITONBACKEND_InputProperties", "TRITONBACKEND_InputBuffer", "TRITONBACKEND_ResponseOutput", "TRITONBACKEND_OutputBuffer"):
        faults += [f"{name}: {fault}" for fault in errors(serve(scaled(2), config(), batch, failing=name), *[(INTERNAL, name)] * 2)]
    faults += errors(serve(scaled(2), config(), batch, failing="gpu"), *[(UNSUPPORTED, "output 'y' is in the memory of a GPU")] * 2)
    for name in ("TRITONBACKEND_ResponseSend", "TRITONBACKEND_ModelInstanceReportStatistics", "TRITONBACKEND_ResponseNew"):
        faults += [f"{name}: {fault}" for fault in same(serve(scaled(2), config(), batch, failing=name)["log"], [] if "New" in name else [name] * 2)]
    for name in ("TRITONBACKEND_ModelConfig", "TRITONBACKEND_ModelRepository", "TRITONSERVER_MessageSerializeToJson", "TRITONBACKEND_ModelSetState"):
        faults += rejects("model", INTERNAL, name, scaled(2), config(), failing=name)
    faults += rejects("model", INTERNAL, "TRITONBACKEND_ModelSetConfig", scaled(2), config(0, [], []), failing="TRITONBACKEND_ModelSetConfig", auto_complete=True)
    return faults + rejects("instance", INTERNAL, "SetState", scaled(2), config(), failing="TRITONBACKEND_ModelInstanceSetState") + \
        rejects("backend", UNSUPPORTED, "has version 1.18; the backend was built for 1.19", scaled(2), config(), failing="TRITONBACKEND_ApiVersion")


# Configurations

@test
def wrong_configurations_are_explained():
    bad = [("no JSON", "{"), ("'lightnet.threads' has no string_value", config(parameters={"lightnet.threads": {}})),
           ("option", config(parameters={"lightnet.nothing": {"string_value": "1"}})), ("max_batch_size is no size", config(-2)),
           ("no input 'z'; expected 'x'", config(inputs=[entry("z")])), ("no output 'z'; expected 'y'", config(outputs=[entry("z")])),
           ("has no input 'x'", config(inputs=[])), ("has no output", config(outputs=[])), ("no input ''", config(inputs=[{}])),
           ("data_type TYPE_INT8; the model's is TYPE_FP32", config(inputs=[entry("x", "TYPE_INT8")])),
           ("size 3 in 'dims' for axis 1; the model's is 2 to 2", config(inputs=[entry("x", dims=[3])])),
           ("has 3 dimensions with that of the batch; the model's has 2", config(inputs=[entry("x", dims=[2, 2])])),
           ("has 1 dimensions; the model's has 2", config(0)), ("expected a name", config(default_model_filename="../1/model.onnx")),
           ("output 'y' has the size 5", config(outputs=[entry("y", dims=[5])]))]
    faults = []
    for text, configuration in bad:
        faults += rejects("model", INVALID, text, scaled(2), configuration)
    for text, configuration in (("'sequence_batching'", config(sequence_batching={})), ("'reshape'", config(inputs=[entry("x", reshape={"shape": [2]})])),
                                ("decoupled", config(model_transaction_policy={"decoupled": True}))):
        faults += rejects("model", UNSUPPORTED, text, scaled(2), configuration)
    fixed = unary("Relu", shape=(1, 2))
    return faults + rejects("model", INVALID, "axis 0 of input 'x' is 1 to 1", fixed, config()) + \
        rejects("model", NOT_FOUND, "no model; expected", scaled(2), config(), version=3, name="nothing.txt") + \
        rejects("model", INTERNAL, "model.onnx", b"nonsense", config()) + rejects("instance", UNSUPPORTED, "KIND_GPU", scaled(2), config(), gpu=True)


@test
def sizes_may_be_texts():
    """As JSON of protocol buffers has 64-bit integers."""
    both = config(8, [entry("x", dims=["2"])], [entry("y", dims=["-1"])])
    return check_answers(serve(scaled(2), both, [ask(given("x", rows(1, 2)))]), [2 * rows(1, 2)])


@test
def options_are_parameters():
    limited = {"lightnet.operators_limit": {"string_value": "1"}, "other": {"string_value": "ignored"}}
    results = serve(affine(), config(8, [entry("x", dims=[64])], [entry("y", dims=[64])], parameters=limited), [ask(given("x", rows(1, 64)))])
    text = json.dumps([results["model"], results.get("batches")])
    return [] if "operators" in text else [text]


@test
def missing_inputs_and_outputs_are_completed():
    results = serve(scaled(2), config(4, [], []), [ask(given("x", rows(3, 2)))], auto_complete=True)
    whole = serve(types(), config(0, [], []), auto_complete=True)["config"]
    return check_answers(results, [2 * rows(3, 2)]) + same((results["config"]["input"], results["config"]["output"]), ([entry("x")], [entry("y")])) + \
        same(results["config"]["max_batch_size"], 4) + same({one["data_type"] for one in whole["input"]},
                                                            {"TYPE_" + name for name in [*DATATYPES, "STRING", "BF16"]}) + \
        same("config" in serve(scaled(2), config(), auto_complete=True), False)


if __name__ == "__main__":
    run_tests()
