#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: grpc_methods.py LIGHTNET_SERVE DESCRIPTION... Methods of gRPC answer as the Open Inference Protocol says. Speaks TAP.

The client is gRPC's own. Values are compared with what was sent, and with the results of the REST protocol.
"""
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors are what the tests are about
try:
    import grpc
    import numpy as np
    from google.protobuf import message as _  # noqa: F401
except ImportError as missing:
    print(f"1..0 # SKIP {missing.name} is missing")
    sys.exit(0)

from grpc_kit import ROOT, SLOW, TYPES, Messages, Server, Tap, wait_for, write_endless, write_identity, write_models

CODE = grpc.StatusCode
RETRY = json.dumps({"methodConfig": [{"name": [{}], "retryPolicy": {
    "maxAttempts": 2, "initialBackoff": "0.01s", "maxBackoff": "0.1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]})
LIMIT = 1 << 20  # --max-request of the second server
VALUES = {"BOOL": [True, False, True], "INT8": [-128, 0, 127], "INT16": [-32768, 1, 32767], "INT32": [-2**31, -1, 2**31 - 1],
          "INT64": [-2**63, 2**53 + 1, 2**63 - 1], "UINT8": [0, 1, 255], "UINT16": [0, 1, 65535], "UINT32": [0, 1, 2**32 - 1],
          "UINT64": [0, 2**53 + 1, 2**64 - 1], "FP16": [-0.0, 65504, float("inf")], "BF16": [0x3f80, 0x7f80, 0x8000],
          "FP32": [-0.0, 1e-45, float("inf")], "FP64": [0.1, 5e-324, -float("inf")], "BYTES": [b"", b"a b", "ä€".encode()]}


class Client:
    def __init__(self, messages, server, credentials=None, metadata=None, options=()):
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), *options]
        self.channel = grpc.secure_channel(server.address, credentials, options) if credentials \
            else grpc.insecure_channel(server.address, options)
        self.messages, self.metadata = messages, metadata
        for name, (path, request, response) in messages.services.items():
            setattr(self, name, self.method(path, getattr(messages, request), getattr(messages, response)))

    def method(self, path, request, response):
        call = self.channel.unary_unary(path, request.SerializeToString, response.FromString)

        def start(_call=call, timeout=30, later=False, **fields):
            function = _call.future if later else _call
            return function(request(**fields), timeout=timeout, metadata=self.metadata)
        return start

    def infer(self, model, inputs, raw=True, timeout=30, later=False, outputs=(), **fields):
        """`inputs`: {name: (datatype, shape, values)}."""
        messages = self.messages
        given = {"model_name": model, "outputs": [messages.InferRequestedOutputTensor(name=name) for name in outputs], **fields}
        given["inputs"] = [messages.InferInputTensor(name=name, datatype=datatype, shape=shape,
                                                    contents=None if raw else self.contents(datatype, values))
                           for name, (datatype, shape, values) in inputs.items()]
        if raw:
            given["raw_input_contents"] = [raw_bytes(datatype, values) for datatype, _, values in inputs.values()]
        return self.ModelInfer(timeout=timeout, later=later, **given)

    def contents(self, datatype, values):
        return self.messages.InferTensorContents(**{TYPES[datatype][2]: np.asarray(values, TYPES[datatype][1]).ravel().tolist()
                                                    if datatype != "BYTES" else values})

    def close(self):
        self.channel.close()


def raw_bytes(datatype, values):
    if datatype == "BYTES":
        return b"".join(len(value).to_bytes(4, "little") + value for value in values)
    return np.asarray(values, TYPES[datatype][1]).tobytes()


def fails(code, words, call, *args, **fields):
    """Errors unless the call fails with this code, and the words in its message."""
    try:
        got = call(*args, **fields)
    except grpc.RpcError as error:
        if error.code() != code or words not in error.details():
            yield f"{error.code()}: {error.details()}; expected {code}: {words}"
    else:
        yield f"an answer: {str(got)[:200]}; expected {code}: {words}"


def differs(got, want, what=""):
    return [] if got == want else [f"{what}: {got!r:.300}, expected {want!r:.300}"]


# Tests

def test_metadata(tap, client):
    version = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    tap.check("the server is live", differs(client.ServerLive().live, True))
    tap.check("a server with a model that cannot be loaded is not ready", differs(client.ServerReady().ready, False))
    server = client.ServerMetadata()
    tap.check("the server has a name, a version and extensions",
              differs((server.name, server.version, list(server.extensions)), ("lightnet", version, ["model_repository"])))
    tap.check("a model that is loaded is ready", differs(client.ModelReady(name="two").ready, True))
    tap.check("version 1 of it is, too", differs(client.ModelReady(name="two", version="1").ready, True))
    tap.check("a model that cannot be loaded is not", differs(client.ModelReady(name="broken").ready, False))
    tap.check("an unknown model is an error", fails(CODE.NOT_FOUND, "no model 'none'", client.ModelReady, name="none"))
    tap.check("an unknown version is, too",
              fails(CODE.NOT_FOUND, "version 7", client.ModelReady, name="two", version="7"))
    model = client.ModelMetadata(name="two")
    inputs = [(t.name, t.datatype, list(t.shape)) for t in model.inputs]
    outputs = [(t.name, t.datatype, list(t.shape)) for t in model.outputs]
    tap.check("a model has its versions, inputs and outputs",
              differs((model.name, list(model.versions), model.platform, inputs, outputs),
                      ("two", ["1"], "ONNX", [(name, "FP32", [-1, 2]) for name in "ab"],
                       [(name, "FP32", [-1, 2]) for name in ("sum", "difference")])))
    tap.check("all types have their names", differs({t: client.ModelMetadata(name="id_" + t.lower()).inputs[0].datatype for t in TYPES},
                                                    {t: t for t in TYPES}))
    tap.check("an unknown model has no metadata", fails(CODE.NOT_FOUND, "no model 'none'", client.ModelMetadata, name="none"))
    tap.check("a model that cannot be loaded has none",
              fails(CODE.UNAVAILABLE, "'broken' is not loaded", client.ModelMetadata, name="broken"))


def test_health(tap, client):
    not_serving = 2
    tap.check("health: the server", differs(client.Check().status, not_serving))
    tap.check("health: the service", differs(client.Check(service="inference.GRPCInferenceService").status, not_serving))
    tap.check("health: another service", fails(CODE.NOT_FOUND, "no service 'x'", client.Check, service="x"))


def test_index(tap, client):
    index = {entry.name: entry for entry in client.RepositoryIndex().models}
    tap.check("the index has all models", differs(sorted(index), sorted(["two", "affine", "slow", "broken"] +
                                                                        ["id_" + t.lower() for t in TYPES])))
    tap.check("a model of the index", differs((index["two"].version, index["two"].state, index["two"].reason), ("1", "READY", "")))
    tap.check("a model that cannot be loaded, with the reason",
              differs((index["broken"].state, "broken.onnx" in index["broken"].reason), ("UNAVAILABLE", True)))
    ready = [entry.name for entry in client.RepositoryIndex(ready=True).models]
    tap.check("the index of models that are ready", differs(ready, sorted(set(index) - {"broken"})))


def values_of(messages, response, i=0):
    """Bytes of an output, whatever its form."""
    if response.raw_output_contents:
        return response.raw_output_contents[i]
    datatype = response.outputs[i].datatype
    return raw_bytes(datatype, list(getattr(response.outputs[i].contents, TYPES[datatype][2])))


def test_types(tap, client):
    for datatype, values in VALUES.items():
        name, shape = "id_" + datatype.lower(), [len(values)]
        want = raw_bytes(datatype, values)
        got = client.infer(name, {"x": (datatype, shape, values)})
        out = got.outputs[0]
        tap.check(f"{datatype}: raw values come back, bit for bit",
                  differs((got.model_name, got.model_version, got.id, out.name, out.datatype, list(out.shape),
                           list(got.raw_output_contents), out.HasField("contents")),
                          (name, "1", "", "y", datatype, shape, [want], False)))
        if TYPES[datatype][2]:
            got = client.infer(name, {"x": (datatype, shape, values)}, raw=False)
            tap.check(f"{datatype}: typed values come back, typed",
                      differs((values_of(client.messages, got), list(got.raw_output_contents)), (want, [])))
        none = client.infer(name, {"x": (datatype, [0], [])})
        tap.check(f"{datatype}: no values", differs((list(none.outputs[0].shape), list(none.raw_output_contents)), ([0], [b""])))


def test_infer(tap, client, server):
    a, b = np.float32([[1, 2], [3, 4]]), np.float32([[10, 20], [30, 40]])
    inputs = {"a": ("FP32", [2, 2], a), "b": ("FP32", [2, 2], b)}
    both = client.infer("two", inputs, id="r-1", model_version="1")
    tap.check("all outputs, in the order of the model",
              differs(([o.name for o in both.outputs], list(both.raw_output_contents), both.id),
                      (["sum", "difference"], [(a + b).tobytes(), (a - b).tobytes()], "r-1")))
    some = client.infer("two", dict(reversed(inputs.items())), outputs=["difference"])
    tap.check("one output, and inputs in another order",
              differs(([o.name for o in some.outputs], list(some.raw_output_contents)), (["difference"], [(a - b).tobytes()])))
    typed = client.infer("two", inputs, raw=False)
    tap.check("typed contents of two tensors",
              differs([list(o.contents.fp32_contents) for o in typed.outputs], [(a + b).ravel().tolist(), (a - b).ravel().tolist()]))
    x = np.random.default_rng(1).standard_normal((3, 64)).astype(np.float32)
    status, rest = server.rest("/v2/models/affine/infer", {"inputs": [
        {"name": "x", "datatype": "FP32", "shape": [3, 64], "data": x.ravel().tolist()}]})
    got = np.frombuffer(client.infer("affine", {"x": ("FP32", [3, 64], x)}).raw_output_contents[0], np.float32)
    tap.check("results are those of REST, bit for bit",
              differs((status, got.tobytes()), (200, np.float32(rest["outputs"][0]["data"]).tobytes())))
    scores = x.astype(float) @ np.array([((7 * i) % 31 - 15) / 13 for i in range(4096)], np.float32).astype(float).reshape(64, 64)
    soft = np.exp(scores - scores.max(1, keepdims=True))
    soft /= soft.sum(1, keepdims=True)
    error = float(np.abs(got.reshape(3, 64) - soft).max())
    tap.check("and those of NumPy in double precision", [] if error < 1e-5 else [f"they differ by {error}"])


def returns_id(send, typed, name):
    """Faults unless the response has the id of its request."""
    try:
        yield from differs(send(tensor={"contents": typed}, id=name).id, name)
    except grpc.RpcError as error:
        yield error.details()


def test_bad_requests(tap, client):
    messages, contents = client.messages, client.messages.InferTensorContents
    x = {"x": ("FP32", [2], [1, 2])}

    def send(**fields):
        tensor = {"name": "x", "datatype": "FP32", "shape": [2], **fields.pop("tensor", {})}
        given = {"model_name": "id_fp32", "inputs": [messages.InferInputTensor(**tensor)], **fields}
        return client.ModelInfer(**given)

    typed = contents(fp32_contents=[1, 2])
    parameter, value = client.messages.Parameter, client.messages.InferParameter
    rows = [
        ("an unknown model", CODE.NOT_FOUND, "no model 'none'", lambda: client.infer("none", x)),
        ("no model", CODE.NOT_FOUND, "no model ''", lambda: client.infer("", x)),
        ("an unknown version", CODE.NOT_FOUND, "version 9", lambda: client.infer("id_fp32", x, model_version="9")),
        ("a model that is not loaded", CODE.UNAVAILABLE, "not loaded", lambda: client.infer("broken", x)),
        ("no input", CODE.INVALID_ARGUMENT, "no input 'x'", lambda: client.infer("id_fp32", {})),
        ("an unknown input", CODE.INVALID_ARGUMENT, "no input 'z'", lambda: client.infer("id_fp32", {"z": x["x"]})),
        ("an unknown output", CODE.INVALID_ARGUMENT, "no output 'z'", lambda: client.infer("id_fp32", x, outputs=["z"])),
        ("an output twice", CODE.INVALID_ARGUMENT, "the output 'y' twice", lambda: client.infer("id_fp32", x, outputs=["y", "y"])),
        ("an output without a name", CODE.INVALID_ARGUMENT, "no name", lambda: client.infer("id_fp32", x, outputs=[""])),
        ("another type", CODE.INVALID_ARGUMENT, "FP64", lambda: client.infer("id_fp32", {"x": ("FP64", [2], [1, 2])})),
        ("another rank", CODE.INVALID_ARGUMENT, "shape [1, 2]", lambda: client.infer("id_fp32", {"x": ("FP32", [1, 2], [1, 2])})),
        ("too few raw bytes", CODE.INVALID_ARGUMENT, "has 8 bytes", lambda: client.infer("id_fp32", {"x": ("FP32", [3], [1, 2])})),
        ("a negative size", CODE.INVALID_ARGUMENT, "-1", lambda: client.infer("id_fp32", {"x": ("FP32", [-1], [1])})),
        ("a huge size", CODE.INVALID_ARGUMENT, str(2**40), lambda: client.infer("id_fp32", {"x": ("FP32", [2**40], [1])})),
        ("a huge product", CODE.RESOURCE_EXHAUSTED, "elements",
         lambda: client.infer("id_fp32", {"x": ("FP32", [2**30, 2**30], [1])})),
        ("too many dimensions", CODE.INVALID_ARGUMENT, "17 dimensions", lambda: client.infer("id_fp32", {"x": ("FP32", [1] * 99, [1])})),
        ("strings that end early", CODE.INVALID_ARGUMENT, "ends within string 0",
         lambda: send(model_name="id_bytes", tensor={"datatype": "BYTES", "shape": [1]}, raw_input_contents=[b"\x05\0\0\0abc"])),
        ("strings and more", CODE.INVALID_ARGUMENT, "after its 1 strings",
         lambda: send(model_name="id_bytes", tensor={"datatype": "BYTES", "shape": [1]}, raw_input_contents=[b"\0\0\0\0!"])),
        ("no contents", CODE.INVALID_ARGUMENT, "0 elements; its shape needs 2", send),
        ("too many contents", CODE.INVALID_ARGUMENT, "3 elements; its shape needs 2",
         lambda: send(tensor={"contents": contents(fp32_contents=[1, 2, 3])})),
        ("contents of another type", CODE.INVALID_ARGUMENT, "another type than FP32",
         lambda: send(tensor={"contents": contents(int_contents=[1, 2])})),
        ("contents of two types", CODE.INVALID_ARGUMENT, "another type than FP32",
         lambda: send(tensor={"contents": contents(fp32_contents=[1, 2], bool_contents=[True])})),
        ("contents beside raw bytes", CODE.INVALID_ARGUMENT, "has contents, though",
         lambda: send(tensor={"contents": typed}, raw_input_contents=[b"12345678"])),
        ("raw bytes for fewer inputs", CODE.INVALID_ARGUMENT, "2 raw_input_contents for 1 inputs",
         lambda: send(raw_input_contents=[b"12345678"] * 2)),
        ("an input twice", CODE.INVALID_ARGUMENT, "twice",
         lambda: send(inputs=[messages.InferInputTensor(name="x", datatype="FP32", shape=[2], contents=typed)] * 2)),
        ("no datatype", CODE.INVALID_ARGUMENT, "no 'datatype'", lambda: send(tensor={"datatype": ""})),
        ("an unknown datatype", CODE.INVALID_ARGUMENT, "unknown datatype 'FP8'", lambda: send(tensor={"datatype": "FP8"})),
        ("an input without a name", CODE.INVALID_ARGUMENT, "no name", lambda: send(tensor={"name": ""})),
        ("typed halves", CODE.INVALID_ARGUMENT, "only raw_input_contents",
         lambda: send(model_name="id_fp16", tensor={"datatype": "FP16", "contents": typed})),
        ("an INT8 above its range", CODE.INVALID_ARGUMENT, "128, which is no INT8",
         lambda: send(model_name="id_int8", tensor={"datatype": "INT8", "shape": [1], "contents": contents(int_contents=[128])})),
        ("a UINT16 above its range", CODE.INVALID_ARGUMENT, "65536, which is no UINT16",
         lambda: send(model_name="id_uint16", tensor={"datatype": "UINT16", "shape": [1], "contents": contents(uint_contents=[65536])})),
        ("shared memory", CODE.UNIMPLEMENTED, "shared_memory",
         lambda: send(tensor={"parameters": [parameter(key="shared_memory_region", value=value(string_param="r"))]})),
        ("classification", CODE.UNIMPLEMENTED, "classification",
         lambda: send(outputs=[messages.InferRequestedOutputTensor(
             name="y", parameters=[parameter(key="classification", value=value(int64_param=3))])])),
        ("a timeout that is a string", CODE.INVALID_ARGUMENT, "'timeout'",
         lambda: send(parameters=[parameter(key="timeout", value=value(string_param="1"))])),
        ("a timeout that is negative", CODE.INVALID_ARGUMENT, "'timeout'",
         lambda: send(parameters=[parameter(key="timeout", value=value(int64_param=-1))])),
    ]
    for name, code, words, call in rows:
        tap.check("rejected: " + name, fails(code, words, call))
    ignored = [parameter(key=key, value=made) for key, made in (
        ("any", value(bool_param=True)), ("other", value(double_param=.5)), ("empty", value()), ("timeout", value(uint64_param=10**7)))]
    for name in ("\\ufffd", "\ufffd", "ä\"\\"):  # a backslash and letters, the character, others
        tap.check(f"an id is returned: {name!a}", list(returns_id(send, typed, name)))
    got = send(tensor={"contents": typed, "parameters": ignored}, parameters=[*ignored, parameter(key="bare")])
    tap.check("other parameters are ignored", differs(list(got.outputs[0].contents.fp32_contents), [1, 2]))


def test_unknown_methods(tap, client):
    messages = client.messages
    for path in ("/inference.GRPCInferenceService/ModelStreamInfer", "/inference.GRPCInferenceService/", "/x/y", "/"):
        call = client.method(path, messages.ServerLiveRequest, messages.ServerLiveResponse)
        tap.check(f"no method '{path}'", fails(CODE.UNIMPLEMENTED, "no method", call))


def test_compression(tap, messages, server):
    client = Client(messages, server, options=[("grpc.default_compression_algorithm", 2)])
    tap.check("a compressed message is rejected, and the client told how to send it",
              fails(CODE.UNIMPLEMENTED, "compressed (gzip)", client.infer, "id_fp32", {"x": ("FP32", [4096], [0] * 4096)}))
    client.close()


def test_deadlines(tap, client, server):
    count = {"count": ("INT64", [], [SLOW])}
    begin = time.monotonic()
    tap.check("a run that exceeds the deadline ends", fails(CODE.DEADLINE_EXCEEDED, "", client.infer, "slow", count, timeout=.5))
    parameter, value = client.messages.Parameter, client.messages.InferParameter
    tap.check("the parameter 'timeout' is a deadline, too",
              fails(CODE.DEADLINE_EXCEEDED, "", client.infer, "slow", count,
                    parameters=[parameter(key="timeout", value=value(int64_param=300000))]))
    tap.check("soon", [] if time.monotonic() - begin < 10 else [f"after {time.monotonic() - begin} s"])
    tap.check("the instances are free again",
              [] if wait_for(lambda: client.infer("slow", {"count": ("INT64", [], [1])}, timeout=20), 20) else ["they are not"])
    tap.check("no call is left", [] if wait_for(lambda: server.metric("lightnet_calls") <= 1, 10) else ["some are"])


def test_cancel(tap, client, server):
    name = 'lightnet_requests_total{model="slow",version="1",status="cancelled"}'
    before = server.metric(name)
    calls = [client.infer("slow", {"count": ("INT64", [], [SLOW])}, later=True) for _ in range(6)]
    time.sleep(.5)
    for call in calls:
        call.cancel()
    tap.check("calls that are cancelled end their runs and leave the queue",
              [] if wait_for(lambda: server.metric(name) >= before + 6, 20) else [f"{server.metric(name) - before} of 6 were cancelled"])
    other = Client(client.messages, server)
    other.infer("slow", {"count": ("INT64", [], [SLOW])}, later=True)
    time.sleep(.5)
    other.close()
    tap.check("so does a connection that closes",
              [] if wait_for(lambda: server.metric(name) >= before + 7, 20) else ["it does not"])


def test_many(tap, messages, server):
    """Several channels with several calls each, whose answers must not be mixed up."""
    faults = []

    def work(seed):
        client = Client(messages, server, options=[("grpc.use_local_subchannel_pool", 1)])
        random = np.random.default_rng(seed)
        for _ in range(10):
            sent = [random.standard_normal(int(random.integers(1, 2000))).astype(np.float32) for _ in range(20)]
            calls = [client.infer("id_fp32", {"x": ("FP32", [len(x)], x)}, later=True, id=str(i)) for i, x in enumerate(sent)]
            for i, call in enumerate(calls):
                got = call.result()
                faults.extend(differs((got.id, got.raw_output_contents[0]), (str(i), sent[i].tobytes())))
        client.close()

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tap.check("800 calls on 4 connections have their own answers", faults)


def test_large(tap, client):
    x = np.arange(12 << 20, dtype=np.float32)  # 48 MB
    got = client.infer("id_fp32", {"x": ("FP32", [x.size], x)}, timeout=120)
    tap.check("48 MB there and back", [] if got.raw_output_contents[0] == x.tobytes() else ["the bytes differ"])
    n = (64 << 20) // 4
    tap.check("a message above the limit is rejected", fails(CODE.RESOURCE_EXHAUSTED, "67108864", client.infer, "id_fp32",
                                                             {"x": ("FP32", [n], np.zeros(n, np.float32))}, timeout=120))
    tap.check("the connection goes on", differs(client.ServerLive().live, True))


def test_limits(tap, messages, folder):
    with Server(sys.argv[1], folder, "--max-request", "1M", "--max-queue", 1, "--instances", 1) as server:
        client = Client(messages, server)
        tap.check("a smaller limit", fails(CODE.RESOURCE_EXHAUSTED, f"the max of the server is {LIMIT}", client.infer, "id_fp32",
                                           {"x": ("FP32", [LIMIT // 4], np.zeros(LIMIT // 4, np.float32))}))
        tap.check("an index of models needs no control", differs(len(client.RepositoryIndex().models) > 3, True))
        for method in (client.RepositoryModelLoad, client.RepositoryModelUnload):
            tap.check("control needs --allow-control", fails(CODE.PERMISSION_DENIED, "--allow-control", method, model_name="two"))
        calls = [client.infer("slow", {"count": ("INT64", [], [SLOW])}, later=True)]
        time.sleep(.5)
        calls.append(client.infer("slow", {"count": ("INT64", [], [SLOW])}, later=True))
        time.sleep(.5)
        tap.check("a full queue rejects", fails(CODE.RESOURCE_EXHAUSTED, "try again", client.infer, "slow",
                                                {"count": ("INT64", [], [1])}))
        for call in calls:
            call.cancel()
        client.close()


def test_descriptors(tap, messages, folder):
    with Server(sys.argv[1], folder, "--instances", 1) as server:
        client = Client(messages, server)
        client.ServerLive(timeout=20)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (40, 40))
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
        time.sleep(.1)
        seconds = []
        for _ in range(31):
            begin = time.monotonic()
            client.ServerLive(timeout=20)
            seconds.append(time.monotonic() - begin)
        tap.check("without free descriptors, others go on", [] if sorted(seconds)[15] < .015 else [f"{sorted(seconds)[15]} s"])
        for connection in idle:
            connection.close()
        late = Client(messages, server)
        tap.check("with free ones, clients are accepted again", differs(late.ServerLive(timeout=20).live, True))
        late.close()
        client.close()


def test_timeout(tap, messages, folder):
    with Server(sys.argv[1], folder, "--timeout", .2, "--instances", 1) as server:
        client = Client(messages, server)
        parameter = messages.Parameter(key="timeout", value=messages.InferParameter(int64_param=20 * 10**6))
        for name, more in (("the call's", {}), ("the parameter's", {"parameters": [parameter]})):
            start = time.monotonic()
            tap.check(f"--timeout is earlier than {name} deadline",
                      fails(CODE.DEADLINE_EXCEEDED, "", client.infer, "slow", {"count": ("INT64", [], [SLOW])}, **more))
            tap.check("and ends the call", [] if time.monotonic() - start < 5 else ["late"])
        client.close()


def test_memory(tap, messages, folder):
    with Server(sys.argv[1], folder, "--max-memory", 50000, "--instances", 1) as server:
        client = Client(messages, server)
        words = "the requests and answers of all clients have more than 50000 bytes"
        tap.check("tensors count: a byte of a message becomes eight",
                  fails(CODE.UNAVAILABLE, words, client.infer, "id_int64", {"x": ("INT64", [10000], [0] * 10000)}, raw=False))
        tap.check("answers count: 64 KB for some bytes",
                  fails(CODE.UNAVAILABLE, words, client.infer, "slow", {"count": ("INT64", [], [1])}))
        got = client.infer("id_int64", {"x": ("INT64", [2000], [7] * 2000)}, raw=False)
        tap.check("then the memory is free", differs(len(got.outputs[0].contents.int64_contents), 2000))
        client.close()


def test_control(tap, messages, folder):
    with Server(sys.argv[1], folder, "--allow-control") as server:
        client = Client(messages, server)
        client.RepositoryModelUnload(model_name="two")
        tap.check("an unloaded model is not ready", differs(client.ModelReady(name="two").ready, False))
        tap.check("nor in the index of those that are",
                  differs("two" in [m.name for m in client.RepositoryIndex(ready=True).models], False))
        client.RepositoryModelLoad(model_name="two")
        tap.check("and is ready after it is loaded", differs(client.ModelReady(name="two").ready, True))
        parameter = messages.Parameter(key="config", value=messages.InferParameter(string_param="{}"))
        tap.check("parameters of a load are rejected",
                  fails(CODE.UNIMPLEMENTED, "'config'", client.RepositoryModelLoad, model_name="two", parameters=[parameter]))
        tap.check("an unknown model cannot be loaded", fails(CODE.NOT_FOUND, "no model 'x'", client.RepositoryModelLoad, model_name="x"))
        tap.check("nor unloaded", fails(CODE.NOT_FOUND, "no model 'x'", client.RepositoryModelUnload, model_name="x"))
        tap.check("a broken one says why", fails(CODE.INTERNAL, "broken.onnx", client.RepositoryModelLoad, model_name="broken"))
        os.remove(os.path.join(folder, "broken.onnx"))
        wait_for(lambda: list(fails(CODE.NOT_FOUND, "", client.RepositoryModelLoad, model_name="broken")) == [], 10)
        tap.check("a server with all its models is ready", differs((client.ServerReady().ready, client.Check().status), (True, 1)))
        client.close()


def test_drain(tap, messages, folder):
    server = Server(sys.argv[1], folder, wait=False)
    wait_for(lambda: "loaded model 'slow'" in server.text())
    client = Client(messages, server)
    rounds, call = 2000, None
    for _ in range(8):  # a run of about a second
        begin = time.monotonic()
        client.infer("slow", {"count": ("INT64", [], [rounds])}, timeout=60)
        if time.monotonic() - begin > .5:
            break
        rounds *= 3
    call = client.infer("slow", {"count": ("INT64", [], [rounds])}, later=True, timeout=60)
    time.sleep(.1)
    server.process.terminate()
    try:
        got = differs(list(call.result().outputs[0].shape), [128, 128])
    except grpc.RpcError as error:
        got = [f"{error.code()}: {error.details()}"]
    tap.check("SIGTERM: a call that runs is answered", got)
    tap.check("and the server ends", differs(server.process.wait(30), 0))
    tap.check("then it is unavailable", fails(CODE.UNAVAILABLE, "", client.ServerLive, timeout=5))
    client.close()


def test_end_of_a_batch(tap, messages):
    """A run with a call of each protocol, which would take minutes."""
    with tempfile.TemporaryDirectory() as folder:
        write_endless(folder)
        server = Server(sys.argv[1], folder, "--instances", 1, "--max-batch", 2, "--batch-wait", 20000, "--drain", .2, wait=False)
        wait_for(lambda: "loaded model 'endless'" in server.text())
        client = Client(messages, server)
        call = client.infer("endless", {"x": ("FP32", [1, 1], [1e6])}, later=True, timeout=60)
        body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1], "data": [1e6]}]}

        def post():
            try:
                server.rest("/v2/models/endless/infer", body)
            except OSError:
                pass  # it goes with the server
        thread = threading.Thread(target=post)
        thread.start()
        wait_for(lambda: server.metric("lightnet_calls") == 3)
        time.sleep(.3)
        server.process.terminate()
        try:
            status = server.process.wait(15)
        except subprocess.TimeoutExpired:
            status = "it does not end"
            server.process.kill()
            server.process.wait()
        tap.check("a batch with calls of HTTP and gRPC ends with the server", differs(status, 0))
        thread.join()
        call.cancel()
        client.close()


def make_certificates(folder):
    """An authority, a server and a client of it; a client of another."""
    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)
    for ca in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", ca + ".key", "-out", ca + ".pem", "-days", "2",
                "-subj", "/CN=" + ca)
    with open(os.path.join(folder, "san"), "w", encoding="ascii") as file:
        file.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    for name, ca in (("server", "ca"), ("client", "ca"), ("stranger", "other")):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial", "-days", "2",
                "-extfile", "san", "-out", name + ".pem")


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def test_tls(tap, messages, folder):
    with tempfile.TemporaryDirectory() as keys:
        try:
            make_certificates(keys)
        except FileNotFoundError:
            tap.skip("TLS", "openssl is missing")
            return
        with open(os.path.join(keys, "token"), "w", encoding="ascii") as file:
            file.write("secret\n")
        at = {name: os.path.join(keys, name) for name in os.listdir(keys)}
        ca, key, pem = (read(keys, name) for name in ("ca.pem", "client.key", "client.pem"))
        trusted, strange = (grpc.ssl_channel_credentials(ca, read(keys, name + ".key"), read(keys, name + ".pem"))
                            for name in ("client", "stranger"))
        x = np.arange(1 << 20, dtype=np.float32)
        with Server(sys.argv[1], folder, "--tls-cert", at["server.pem"], "--tls-key", at["server.key"],
                    "--tls-client-ca", at["ca.pem"], "--token-file", at["token"]) as server:
            client = Client(messages, server, trusted, [("authorization", "Bearer secret")])
            got = client.infer("id_fp32", {"x": ("FP32", [x.size], x)})
            tap.check("TLS: 4 MB there and back", [] if got.raw_output_contents[0] == x.tobytes() else ["the bytes differ"])
            client.close()
            for name, credentials in (("no certificate", grpc.ssl_channel_credentials(ca)), ("a stranger's", strange)):
                client = Client(messages, server, credentials)
                tap.check("TLS: a client with " + name, fails(CODE.UNAVAILABLE, "", client.ServerLive, timeout=5))
                client.close()
            client = Client(messages, server)
            tap.check("TLS: a client without TLS", fails(CODE.UNAVAILABLE, "", client.ServerLive, timeout=5))
            client.close()
            for metadata in (None, [("authorization", "Bearer other")], [("authorization", "secret")]):
                client = Client(messages, server, trusted, metadata)
                tap.check(f"a token is needed, not {metadata}",
                          fails(CODE.UNAUTHENTICATED, "'authorization'", client.infer, "id_fp32", {"x": ("FP32", [1], [1])}))
                tap.check("health needs none", differs((client.ServerLive().live, client.Check().status > 0), (True, True)))
                client.close()
            assert key and pem


def free_ports(n):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def test_balancer(tap, messages, folder):
    """nginx in front of two servers, of which one is killed under load, with the configuration that is installed."""
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        tap.skip("two servers behind nginx", "nginx is missing")
        return
    ports = free_ports(3)
    with open(os.path.join(ROOT, "serve/deploy/nginx-grpc.conf"), encoding="utf-8") as file:
        text = file.read()
    for old, new in zip(("18090", "18092", "18093"), ports):
        text = text.replace(":" + old, f":{new}")
    with tempfile.TemporaryDirectory() as prefix:
        with open(os.path.join(prefix, "nginx.conf"), "w", encoding="utf-8") as file:
            file.write(text + "daemon off;\nmaster_process off;\n")
        servers = [Server(sys.argv[1], folder, grpc_port=port) for port in ports[1:]]
        nginx = subprocess.Popen([program, "-p", prefix, "-e", f"{prefix}/error.log", "-c", f"{prefix}/nginx.conf"])
        client = Client(messages, types.SimpleNamespace(address=f"127.0.0.1:{ports[0]}"), options=[("grpc.service_config", RETRY)])
        try:
            wait_for(lambda: not list(fails(CODE.NOT_FOUND, "no model 'none'", client.infer, "none", {})), 20)
            tap.check("nginx passes errors on", fails(CODE.NOT_FOUND, "no model 'none'", client.infer, "none", {}))
            x = np.arange(1 << 21, dtype=np.float32)
            got = client.infer("id_fp32", {"x": ("FP32", [x.size], x)})
            tap.check("and 8 MB there and back", [] if got.raw_output_contents[0] == x.tobytes() else ["the bytes differ"])
            faults = []
            for i in range(300):
                if i == 100:
                    servers[0].process.kill()
                try:
                    faults += differs(client.infer("id_fp32", {"x": ("FP32", [1], [i])}).raw_output_contents[0], np.float32(i).tobytes())
                except grpc.RpcError as error:
                    faults.append(f"call {i}: {error.code()}: {error.details()}")
            with open(f"{prefix}/error.log", encoding="utf-8") as file:
                tap.check("a client that tries once more does not notice that one of two servers is killed", faults and faults + file.read().splitlines())
        finally:
            client.close()
            nginx.terminate()
            nginx.wait()
            servers[0].process.kill()
            servers[0].process.wait()
            servers[1].stop()


def main():
    tap, messages = Tap(), Messages(*sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        write_models(folder)
        write_identity(folder, "FP32")
        with Server(sys.argv[1], folder, "--instances", 2) as server:
            client = Client(messages, server)
            test_metadata(tap, client)
            test_health(tap, client)
            test_index(tap, client)
            test_types(tap, client)
            test_infer(tap, client, server)
            test_bad_requests(tap, client)
            test_unknown_methods(tap, client)
            test_compression(tap, messages, server)
            test_deadlines(tap, client, server)
            test_cancel(tap, client, server)
            test_many(tap, messages, server)
            test_large(tap, client)
            client.close()
        test_limits(tap, messages, folder)
        test_tls(tap, messages, folder)
        test_balancer(tap, messages, folder)
        test_drain(tap, messages, folder)
        test_descriptors(tap, messages, folder)
        test_end_of_a_batch(tap, messages)
        test_timeout(tap, messages, folder)
        test_memory(tap, messages, folder)
        test_control(tap, messages, folder)
    tap.end()


if __name__ == "__main__":
    main()
