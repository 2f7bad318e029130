#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_lengths.py LIGHTNET-SERVE DESCRIPTION... Sequences of different lengths run together where the model says how to pad.

Results are those of single runs, over HTTP and gRPC. Models that depend on padding, and wrong metadata, are found while they are loaded.
"""
import json
import os
import sys
import threading

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../serve_grpc"))

from serve_kit import Refused, Server, folder, metric, read_response, request, w, wait_for, write
import numpy as np
from checks import run_tests, same, test

try:
    import grpc
except ImportError:
    grpc = None

PROGRAM, DESCRIPTIONS = sys.argv[1], sys.argv[2:]
PAD = "input_ids:1=0, attention_mask:1=0"
VOCABULARY, SIZE, POSITIONS = 50, 16, 256
WAIT = 400  # milliseconds, so that requests that are sent together find each other
NEAR = 1e-5


# Models

def with_metadata(model, **metadata):
    """The model with metadata_props; _ in a key is a point."""
    return model + b"".join(w.field(14, w.field(1, key.replace("_", ".")) + w.field(2, value)) for key, value in metadata.items())


def encoder(masked=True, vocabulary=VOCABULARY, hidden_length="sequence", ids_length="sequence", mask_length="sequence"):
    """Tokens with positions, attention to those of the mask, and their mean; not `masked`: the mean of all tokens."""
    rng = np.random.default_rng(5)

    def constant(name, *dims):
        return w.tensor(name, "float", list(dims), (rng.standard_normal(dims) / 2).ravel().tolist())
    nodes = [
        w.node("Gather", ["table", "input_ids"], ["tokens"]),
        w.node("Shape", ["input_ids"], ["length"], start=1, end=2), w.node("Slice", ["positions", "zero", "length", "zero"], ["places"]),
        w.node("Add", ["tokens", "places"], ["x"]),
        w.node("MatMul", ["x", "query"], ["q"]), w.node("MatMul", ["x", "key"], ["k"]), w.node("MatMul", ["x", "value"], ["v"]),
        w.node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), w.node("MatMul", ["q", "kt"], ["scores"]),
        w.node("Cast", ["attention_mask"], ["mask"], to=1), w.node("Sub", ["one", "mask"], ["hidden_mask"]),
        w.node("Mul", ["hidden_mask", "low"], ["lows"]), w.node("Unsqueeze", ["lows", "axis1"], ["bias"]),
        w.node("Add", ["scores", "bias"], ["masked_scores"]), w.node("Softmax", ["masked_scores"], ["attention"], axis=-1),
        w.node("MatMul", ["attention", "v"], ["seen"]), w.node("Add", ["x", "seen"], ["hidden"])]
    if masked:
        nodes += [w.node("Unsqueeze", ["mask", "axis2"], ["mask3"]), w.node("Mul", ["hidden", "mask3"], ["kept"]),
                  w.node("ReduceSum", ["kept", "axis1"], ["sum"], keepdims=0), w.node("ReduceSum", ["mask3", "axis1"], ["count"], keepdims=0),
                  w.node("Div", ["sum", "count"], ["pooled"])]
    else:
        nodes += [w.node("ReduceMean", ["hidden"], ["pooled"], axes=[1], keepdims=0)]
    constants = [constant("table", vocabulary, SIZE), constant("positions", POSITIONS, SIZE),
                 *[constant(name, SIZE, SIZE) for name in ("query", "key", "value")],
                 w.tensor("zero", "int64", [1], [0]), w.tensor("axis1", "int64", [1], [1]), w.tensor("axis2", "int64", [1], [2]),
                 w.tensor("one", "float", [], [1]), w.tensor("low", "float", [], [-10000])]
    return w.model(w.graph(nodes, [w.value("input_ids", "int64", ["batch", ids_length]), w.value("attention_mask", "int64", ["batch", mask_length])],
                           [w.value("hidden", "float", ["batch", hidden_length, SIZE]),
                            w.value("attention", "float", ["batch", hidden_length, hidden_length]),
                            w.value("pooled", "float", ["batch", SIZE])], constants), opset=17)


def counter():
    """How many tokens are not 1, which is padding, as in models that make their own mask; `text` has a string for each token."""
    nodes = [w.node("Equal", ["ids", "one"], ["pads"]), w.node("Not", ["pads"], ["tokens"]), w.node("Cast", ["tokens"], ["ones"], to=7),
             w.node("ReduceSum", ["ones", "axis"], ["count"], keepdims=0), w.node("Cast", ["ids"], ["text"], to=8)]
    return w.model(w.graph(nodes, [w.value("ids", "int32", ["n", "s"])], [w.value("count", "int64", ["n"]), w.value("text", "string", ["n", "s"])],
                           [w.tensor("one", "int32", [], [1]), w.tensor("axis", "int64", [1], [1])]), opset=17)


def identity(dtype, *dims):
    return w.model(w.graph([w.node("Identity", ["x"], ["y"])], [w.value("x", dtype, dims)], [w.value("y", dtype, dims)]), opset=17)


def weighted():
    """y = mask x; the mask has the length twice."""
    return w.model(w.graph([w.node("Unsqueeze", ["x", "axis"], ["column"]), w.node("MatMul", ["mask", "column"], ["product"]),
                            w.node("Squeeze", ["product", "axis"], ["y"])],
                           [w.value("mask", "float", ["n", "s", "s"]), w.value("x", "float", ["n", "s"])], [w.value("y", "float", ["n", "s"])],
                           [w.tensor("axis", "int64", [1], [2])]), opset=17)


def inputs(length, rows=1, seed=0):
    """Some tokens of a sequence are masked by its client."""
    rng = np.random.default_rng(100 * seed + length)
    mask = (rng.random((rows, length)) < .8).astype(np.int64)
    mask[:, 0] = 1
    return {"input_ids": rng.integers(0, VOCABULARY, (rows, length)), "attention_mask": mask}


# Clients

def at_once(calls):
    """The results of functions that run at the same time; an exception is its result."""
    results, ready = [None] * len(calls), threading.Barrier(len(calls))

    def run(i):
        ready.wait()
        try:
            results[i] = calls[i]()
        except Exception as error:
            results[i] = error
    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def differs(seen, wanted, what):
    """Faults unless the outputs have the same shapes, and elements that are near."""
    if not isinstance(seen, dict):
        return [f"{what}: {seen!r}"]
    faults = same(sorted(seen), sorted(wanted))
    for name in wanted:
        faults += same(seen[name].shape, wanted[name].shape)
        if not faults and not np.allclose(seen[name], wanted[name], rtol=0, atol=NEAR):
            faults += [f"{what}: '{name}' differs by {np.abs(seen[name] - wanted[name]).max()}"]
    return [f"{what}: {fault}" for fault in faults]


class Runs:
    """The runs and rows of a model since the object was made."""

    def __init__(self, server, model):
        self.server, self.model, self.before = server, model, (0, 0)
        self.before = self.since()

    def since(self):
        figures = self.server.metrics()
        now = [int(metric(figures, "lightnet_batch_rows_" + of, model=self.model)) for of in ("count", "sum")]
        return now[0] - self.before[0], now[1] - self.before[1]


def runs_of(server, model, given):
    """(runs, rows) of requests that are sent at once."""
    runs = Runs(server, model)
    failed = [answer for answer in at_once([lambda one=one: server.infer(model, one) for one in given]) if not isinstance(answer, dict)]
    return failed or runs.since()


def events(server, level):
    """The messages of the log, without those on requests."""
    return [line["message"] for line in server.log() if line["level"] == level and "message" in line]


def serve(path, *args):
    return Server(PROGRAM, path, "--instances", 1, "--batch-wait", WAIT, "--poll", 0, *args)


# Results

@test
def results_are_those_of_single_runs():
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(encoder(), lightnet_pad=PAD))
        with serve(path, "--max-batch", 16) as server:
            given = [inputs(length, rows, seed) for seed in range(3) for length, rows in ((6, 1), (7, 2), (8, 1), (16, 1))]
            alone = [server.infer("m", one) for one in given]
            runs = Runs(server, "m")
            seen = at_once([lambda one=one: server.infer("m", one) for one in given])
            count, rows = runs.since()
            faults = [fault for i, answer in enumerate(seen) for fault in differs(answer, alone[i], f"request {i}")]
            # Without padding, no run has two of the four lengths. 6, 7 and 8 fit together in any order.
            return faults[:5] + same(rows, 15) + ([] if count <= 3 else [f"{count} runs of 12 requests"]) + \
                same(events(server, "warning"), [])


@test
def results_over_grpc_are_too():
    if not grpc:
        print("# gRPC's client is missing")
        return []
    from grpc_kit import Messages
    from grpc_methods import Client
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(encoder(), lightnet_pad=PAD))
        with serve(path, "--grpc-port", 0) as server:
            server.address = "127.0.0.1:" + server.wait_for_log(r'listening on grpc://[^ "]*:(\d+)')[1]
            client = Client(Messages(*DESCRIPTIONS), server)

            def call(one):
                answer = client.infer("m", {name: ("INT64", array.shape, array) for name, array in one.items()})
                return {output.name: np.frombuffer(data, np.float32).reshape(output.shape)
                        for output, data in zip(answer.outputs, answer.raw_output_contents)}
            given = [inputs(length, seed=seed) for seed in range(2) for length in (7, 8, 7, 8)]
            alone, runs = [server.infer("m", one) for one in given], Runs(server, "m")
            # Half of them by HTTP: both protocols share batches.
            seen = at_once([lambda i=i, one=one: server.infer("m", one) if i % 4 >= 2 else call(one) for i, one in enumerate(given)])
            client.close()
            return [fault for i, answer in enumerate(seen) for fault in differs(answer, alone[i], f"request {i}")][:5] + \
                same(runs.since(), (1, 8))


@test
def padding_has_the_value_of_the_model():
    """Tokens that are 0 count, and those that are 1 do not."""
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(counter(), lightnet_pad="ids:1=1"))
        with serve(path) as server:
            given = [{"ids": np.int32([[0] * 7])}, {"ids": np.int32([[5] * 8])}, {"ids": np.int32([[1, 2, 1, 3, 4, 5, 6, 7]])}]
            runs = Runs(server, "m")
            bodies = [request(one, binary=False) for one in given]
            seen = at_once([lambda body=body: server.call("POST", "/v2/models/m/infer", *body) for body in bodies])
            answers = [json.loads(body)["outputs"] for _, _, body in seen]
            return same(runs.since(), (1, 3)) + same([answer[0]["data"] for answer in answers], [[7], [8], [6]]) + \
                same([answer[1]["data"] for answer in answers], [[str(x) for x in one["ids"][0]] for one in given])


def ask_at_random(server, seed):
    """Faults of sequences of 0 to 11 tokens, one after the other: integers and strings are exact."""
    rng, connection, faults = np.random.default_rng(seed), server.connect(), []
    for _ in range(40):
        ids = rng.integers(0, 4, (rng.integers(1, 4), rng.integers(0, 12))).astype(np.int32)
        status, _, body = server.call("POST", "/v2/models/m/infer", *request({"ids": ids}, binary=False), connection)
        answer = json.loads(body)
        if status == 200:
            answer = [(output["shape"], output["data"]) for output in answer["outputs"]]
        faults += same(answer, [([len(ids)], (ids != 1).sum(1).tolist()), (list(ids.shape), [str(x) for x in ids.ravel()])])
    connection.close()
    return faults


@test
def many_clients_get_their_own_results():
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(counter(), lightnet_pad="ids:1=1"))
        with Server(PROGRAM, path, "--instances", 2, "--batch-wait", 2, "--poll", 0) as server:
            runs = Runs(server, "m")
            seen = at_once([lambda i=i: ask_at_random(server, i) for i in range(8)])
            count, _ = runs.since()
            return [fault for faults in seen for fault in (faults if isinstance(faults, list) else [repr(faults)])][:5] + \
                ([] if count < 300 else [f"{count} runs of 320 requests"])


@test
def axes_of_one_size_are_padded_together():
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(weighted(), lightnet_pad="mask:1=0, mask:2=0, x:1=0"))
        with serve(path) as server:
            rng = np.random.default_rng(3)
            given = [{"mask": np.float32(rng.integers(0, 9, (1, n, n))), "x": np.float32(rng.integers(0, 9, (1, n)))} for n in (6, 7, 8)]
            runs = Runs(server, "m")
            seen = at_once([lambda one=one: server.infer("m", one) for one in given])
            return same([answer["y"].tolist() for answer in seen], [[(one["mask"][0] @ one["x"][0]).tolist()] for one in given]) + \
                same(runs.since(), (1, 3))


@test
def outputs_that_are_wanted_are_cut():
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(encoder(), lightnet_pad=PAD))
        with serve(path) as server:
            given, runs = [inputs(7), inputs(8)], Runs(server, "m")

            def call(one, name):
                body, headers = request(one, False)
                body = body[:-1] + b',"outputs":[{"name":"' + name + b'"}]}'
                status, headers, body = server.call("POST", "/v2/models/m/infer", body, headers)
                return {name: array.shape for name, array in read_response(headers, body).items()} if status == 200 else body
            return same(at_once([lambda: call(given[0], b"hidden"), lambda: call(given[1], b"pooled")]),
                        [{"hidden": (1, 7, SIZE)}, {"pooled": (1, SIZE)}]) + same(runs.since(), (1, 2))


# Which requests run together

@test
def at_most_a_quarter_of_a_batch_and_8_tokens_a_row_are_padding():
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(encoder(), lightnet_pad=PAD))
        write(f"{path}/plain.onnx", encoder())
        with serve(path) as server:
            return same(runs_of(server, "m", [inputs(8), inputs(4)]), (1, 2)) + \
                same(runs_of(server, "m", [inputs(8), inputs(3)]), (2, 2)) + \
                same(runs_of(server, "m", [inputs(8, rows=3), inputs(3)]), (1, 4)) + \
                same(runs_of(server, "m", [inputs(64), inputs(48)]), (1, 2)) + same(runs_of(server, "m", [inputs(64), inputs(47)]), (2, 2)) + \
                same(runs_of(server, "plain", [inputs(8), inputs(7)]), (2, 2)) + \
                same(runs_of(server, "plain", [inputs(8), inputs(8, seed=1)]), (1, 2))


@test
def inputs_of_one_request_have_one_length():
    """Padding would hide that a mask is too short: such a request runs alone, and fails as it does without padding."""
    with folder() as path:
        for name, model in (("m", with_metadata(encoder(), lightnet_pad=PAD)), ("plain", encoder())):
            write(f"{path}/{name}.onnx", model)
        with serve(path) as server:
            wrong = {"input_ids": inputs(8)["input_ids"], "attention_mask": inputs(7)["attention_mask"]}
            runs = Runs(server, "m")
            seen = at_once([lambda: server.infer("m", wrong), lambda: server.infer("m", inputs(8)), lambda: server.infer("m", inputs(7))])
            plain = at_once([lambda: server.infer("plain", wrong)])[0]
            if not (isinstance(seen[0], Refused) and isinstance(plain, Refused)):
                return [f"{seen[0]!r}, {plain!r}"]
            return same((seen[0].status, seen[0].text), (400, plain.text)) + same([type(one) for one in seen[1:]], [dict, dict]) + \
                same(runs.since(), (2, 3))


# While models are loaded

def warned(model, *texts, args=()):
    """Faults unless the model is loaded with a warning that has these texts, and its requests of different lengths run apart."""
    with folder() as path:
        write(f"{path}/m.onnx", model)
        with serve(path, *args) as server:
            found = events(server, "warning")
            if len(found) != 1:
                return [f"warnings: {found}"]
            return [f"'{text}' is not in: {found[0]}" for text in ("model 'm', version 1: metadata 'lightnet.pad' is ignored", *texts)
                    if text not in found[0]] + same(runs_of(server, "m", [inputs(8), inputs(7)])[0], 2)


@test
def model_that_depends_on_padding_is_found():
    return warned(with_metadata(encoder(masked=False), lightnet_pad=PAD), "output 'pooled' is ", "without padding and")


@test
def wrong_value_of_padding_is_found():
    """A mask that is padded with 1 hides nothing."""
    return warned(with_metadata(encoder(), lightnet_pad="input_ids:1=0, attention_mask:1=1"), "without padding")


@test
def output_that_follows_without_a_name_is_found():
    return warned(with_metadata(encoder(hidden_length="tokens"), lightnet_pad=PAD), "output 'hidden' has the size 20 in axis 1 with padding")


@test
def length_that_is_not_padded_is_found():
    return warned(with_metadata(encoder(ids_length="s", mask_length="t"), lightnet_pad="input_ids:1=0"),
                  "axis 1 of input 'attention_mask' is open")


@test
def model_that_the_check_cannot_run_is_found():
    """It has no token but 0, which is the padding."""
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(encoder(vocabulary=1), lightnet_pad=PAD))
        with serve(path) as server:
            found = events(server, "warning")
            return [] if len(found) == 1 and "do not run together: it does not run: " in found[0] else [f"{found}"]


@test
def batches_of_one_need_no_warning():
    with folder() as path:
        write(f"{path}/m.onnx", with_metadata(encoder(masked=False), lightnet_pad=PAD))
        with serve(path, "--max-batch", 1) as server:
            return same(events(server, "warning"), [])


@test
def wrong_metadata_are_explained():
    form = "expected INPUT:AXIS=VALUE, such as 'input_ids:1=0'"
    axis = "expected an axis of 'input_ids' beyond 0 with an open size that has a name"
    integer = "expected a number of the type INT64"
    both = "expected each axis once, and one value for all axes of 'input_ids'"
    cases = {
        "": f"has ''; {form}", "input_ids": f"has 'input_ids'; {form}", "input_ids=0": f"has 'input_ids=0'; {form}",
        "input_ids:1": f"has 'input_ids:1'; {form}", ":1=0": f"has ':1=0'; {form}", PAD + ",": f"has ''; {form}",
        "ids:1=0": "has 'ids:1=0'; expected an input of the model: 'input_ids', 'attention_mask'",
        "input_ids:0=0": f"has 'input_ids:0=0'; {axis}", "input_ids:2=0": axis, "input_ids:-1=0": axis, "input_ids:x=0": axis,
        "input_ids:99999999999999999999=0": axis,
        "input_ids:1=": form, "input_ids:1=x": f"has 'input_ids:1=x'; {integer}", "input_ids:1=0.5": integer, "input_ids:1=1e30": integer,
        "input_ids:1=nan": integer, "input_ids:1=0, input_ids:1=0": both,
        "input_ids:1=0": "lacks axis 1 of 'attention_mask', whose size is 'sequence', too",
        "é" * 3000: "has 'ééé",
    }
    cases = {metadata: (encoder(), text) for metadata, text in cases.items()} | {
        "x:1=0,x:2=0,x:3=0,x:4=0,x:5=0": (identity("float", *"nabcde"), "has 'x:5=0', the size 'e'; expected at most 4 different sizes"),
        "x:1=0, x:2=1": (identity("float", *"nab"), "one value for all axes of 'x'"),
        "x:1=1e39": (identity("float", *"na"), "expected a number of the type FP32"),
        "x:1=2": (identity("bool", *"na"), "expected a number of the type BOOL"),
        "x:1=-1": (identity("uint8", *"na"), "expected a number of the type UINT8"),
        "x:1=a": (identity("string", *"na"), "an input of the type BYTES; expected one of numbers"),
        "x:1=0": (identity("float", "n", 3), "expected an axis of 'x' beyond 0 with an open size that has a name"),
    }
    with folder() as path:
        for i, (metadata, (model, _)) in enumerate(cases.items()):
            write(f"{path}/m{i}.onnx", with_metadata(model, lightnet_pad=metadata))
        with Server(PROGRAM, path, "--poll", 0, wait=False) as server:
            wait_for(lambda: server.read_log().count("is not loaded") == len(cases))
            seen = events(server, "error")
        faults = []
        for i, (metadata, (_, text)) in enumerate(cases.items()):
            line = next(line for line in seen if line.startswith(f"model 'm{i}' is not loaded: metadata 'lightnet.pad' "))
            faults += [] if text in line else [f"{metadata[:50]}: {line}"]
        return faults


if __name__ == "__main__":
    # Each request that is alone waits for others.
    run_tests(beside=[results_are_those_of_single_runs, results_over_grpc_are_too, at_most_a_quarter_of_a_batch_and_8_tokens_a_row_are_padding])
