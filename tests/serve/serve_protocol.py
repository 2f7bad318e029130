#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_protocol.py LIGHTNET-SERVE. Each endpoint of the Open Inference Protocol and of its extensions, and each error.

Written from the specification (github.com/kserve/open-inference-protocol, inference_rest.md) and the documents of the
extensions for binary tensors and the model repository.
"""
import json
import socket
import sys

from serve_kit import DIGITS, ROOT, Server, folder, metric, request, types, unary, write
import numpy as np
from checks import run_tests, same, test

SERVER = None
X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def error_of(answer):
    """Faults unless the body of an error is the protocol's object, with a text."""
    return [] if list(answer) == ["error"] and isinstance(answer["error"], str) and answer["error"] else [f"{answer}"]


def refuses(wanted, *texts, path="/v2/models/relu/infer", body=None, headers=None, method="POST"):
    """Faults unless the request fails with the status and texts."""
    status, _, answer = SERVER.call(method, path, body, headers)
    answer = json.loads(answer)
    return same(status, wanted) + error_of(answer) + [f"'{text}' is not in {answer}" for text in texts
                                                      if text not in answer.get("error", "")]


def one(**changes):
    """A request for relu, with changes of its input; None removes a key."""
    given = {"name": "x", "shape": [2, 3], "datatype": "FP32", "data": X.ravel().tolist(), **changes}
    return {"inputs": [{key: value for key, value in given.items() if value is not None}]}


# Server and models

@test
def server_with_a_broken_model_is_live_but_not_ready():
    faults = same(SERVER.get("/v2/health/live"), (200, {"live": True})) + refuses(503, "not ready", path="/v2/health/ready", method="GET")
    broken = [model for model in SERVER.post("/v2/repository/index")[1] if model["name"] == "broken"]
    faults += same([model["state"] for model in broken], ["UNAVAILABLE"]) + ([] if broken[0]["reason"] else ["no reason"])
    for method, page in (("GET", ""), ("GET", "/ready"), ("POST", "/infer")):
        faults += refuses(503, "model 'broken' is not loaded", path="/v2/models/broken" + page, method=method)
    faults += same(SERVER.call("GET", "/v2/models/broken")[1]["Retry-After"], "1")
    faults += same(metric(SERVER.metrics(), "lightnet_ready"), 0.0)
    return faults + same(SERVER.post("/v2/repository/models/broken/unload"), (200, {})) + same(SERVER.get("/v2/health/ready")[0], 200)


@test
def health_is_live_and_ready():
    return same(SERVER.get("/v2/health/live"), (200, {"live": True})) + same(SERVER.get("/v2/health/ready"),
                                                                            (200, {"live": True, "ready": True}))


@test
def server_metadata_have_name_version_and_extensions():
    status, answer = SERVER.get("/v2")
    return same(status, 200) + same(sorted(answer), ["extensions", "name", "version"]) + same(answer["name"], "lightnet") + \
        same(answer["extensions"], ["binary_tensor_data", "model_repository"])


@test
def model_metadata_have_types_and_shapes():
    status, answer = SERVER.get("/v2/models/relu")
    return same(status, 200) + same(answer, {
        "name": "relu", "versions": ["1"], "platform": answer["platform"],
        "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}],
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1, 3]}, {"name": "z", "datatype": "FP32", "shape": [-1, 3]}]}) + \
        same(SERVER.get("/v2/models/relu/versions/1"), (200, answer))


@test
def model_is_ready_by_name_and_version():
    ready = (200, {"name": "relu", "ready": True})
    return same(SERVER.get("/v2/models/relu/ready"), ready) + same(SERVER.get("/v2/models/relu/versions/1/ready"), ready)


@test
def slash_at_the_end_is_ignored():
    return same(SERVER.get("/v2/")[0], 200) + same(SERVER.get("/v2/models/relu/")[0], 200) + refuses(404, path="/v2//", method="GET")


@test
def head_answers_as_get_without_a_body():
    faults = []
    for path in ("/", "/metrics", "/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/relu", "/v2/models/relu/ready"):
        status, headers, body = SERVER.call("HEAD", path)
        faults += same((status, body), (200, b"")) + same(headers["Content-Type"], SERVER.call("GET", path)[1]["Content-Type"])
    return faults


@test
def unknown_pages_models_and_versions_are_not_found():
    faults = []
    for path in ("/v3", "/v2/models", "/v2/models/relu/infer/x", "/v2/models//ready", "/index.html", "/v2/health", "/v2/../v2",
                 "/v2/models/" + "x" * 300):
        faults += refuses(404, "no such page", path=path, method="GET")
    for path in ("/v2/models/nil", "/v2/models/nil/ready"):
        faults += refuses(404, "no model 'nil'", path=path, method="GET")
    for path in ("/v2/models/relu/versions/2", "/v2/models/relu/versions/x/ready"):
        faults += refuses(404, "no model 'relu' with version", path=path, method="GET")
    return faults + refuses(404, path="/v2/models/nil/infer", body=one()) + \
        refuses(404, path="/v2/models/relu/versions/9/infer", body=one())


@test
def no_path_reaches_the_file_system():
    faults = []
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/v2/models/..%2f..%2fetc%2fpasswd", "/v2/models/%2e%2e",
                 "/v2/models/relu%00x", "/v2/models/relu/versions/%2e%2e"):
        status, _, body = SERVER.call("GET", path)
        # A name ends at its first byte 0.
        faults += same((path, status), (path, 200 if path.endswith("%00x") else 404)) + ([f"{path}: {body}"] if b"root:" in body else [])
    return faults


@test
def wrong_methods_are_not_allowed():
    faults = []
    for method, path, allow in (("POST", "/v2/health/live", "GET, HEAD"), ("PUT", "/v2", "GET, HEAD"), ("DELETE", "/v2/models/relu", "GET, HEAD"),
                                ("GET", "/v2/models/relu/infer", "POST"), ("HEAD", "/v2/models/relu/infer", "POST"),
                                ("OPTIONS", "/metrics", "GET, HEAD"), ("GET", "/v2/repository/index", "POST"), ("PATCH", "/", "GET, HEAD")):
        status, headers, _ = SERVER.call(method, path)
        faults += same((status, headers["Allow"]), (405, allow))
    return faults


# Infer: JSON

@test
def json_request_gives_all_outputs():
    status, answer = SERVER.post("/v2/models/relu/infer", {"id": "42", **one()})
    flat = np.maximum(X, 0).ravel().tolist()
    return same(status, 200) + same(answer, {"id": "42", "model_name": "relu", "model_version": "1", "outputs": [
        {"name": name, "datatype": "FP32", "shape": [2, 3], "data": flat} for name in "yz"]})


@test
def request_without_an_id_has_none_in_its_response():
    return same("id" in SERVER.post("/v2/models/relu/infer", one())[1], False)


@test
def data_may_be_nested():
    return same(SERVER.post("/v2/models/relu/infer", one(data=X.tolist())), SERVER.post("/v2/models/relu/infer", one()))


@test
def outputs_come_in_the_order_of_the_request():
    status, answer = SERVER.post("/v2/models/relu/infer", {**one(), "outputs": [{"name": "z"}, {"name": "y"}]})
    return same(status, 200) + same([output["name"] for output in answer["outputs"]], ["z", "y"])


@test
def version_may_be_in_the_path():
    return same(SERVER.post("/v2/models/relu/versions/1/infer", one())[0], 200)


@test
def empty_batch_gives_an_empty_output():
    def rows():
        return [metric(SERVER.metrics(), "lightnet_batch_rows_" + of, model="relu") for of in ("count", "sum")]
    before = rows()
    status, answer = SERVER.post("/v2/models/relu/infer", one(shape=[0, 3], data=[]))
    return same([now - then for now, then in zip(rows(), before)], [1, 0]) + same((status, [(output["shape"], output["data"]) for output in answer.get("outputs", [])]), (200, [([0, 3], [])] * 2))


@test
def each_type_is_answered_as_it_was_sent():
    """Largest and smallest values; the types of JSON are those of the specification."""
    values = {"BOOL": [True, False, True], "FP16": [1.5, -65504, 65504], "FP32": [1.5, -3.4028235e38, 1e-45], "FP64": [0.1, -1.7e308, 5e-324],
              "BYTES": ["", "äöü\u0000x", "日本"], "BF16": [1.5, -2, 0.25], "UINT64": [0, 2**63 - 1, 7]}
    for bits in (8, 16, 32, 64):
        values["INT%d" % bits] = [-2**(bits - 1), 2**(bits - 1) - 1, 0]
        values.setdefault("UINT%d" % bits, [0, 2**bits - 1, 1])
    inputs = [{"name": "x_" + name, "shape": [3], "datatype": name, "data": data} for name, data in values.items()]
    status, answer = SERVER.post("/v2/models/types/infer", {"inputs": inputs})
    if status != 200:
        return [f"{answer}"]
    faults = same(sorted(values), sorted(output["datatype"] for output in answer["outputs"]))
    for output in answer["outputs"]:
        wanted = values[output["datatype"]]
        seen = output["data"]
        if output["datatype"] == "FP32":
            wanted, seen = np.float32(wanted).tolist(), np.float32(seen).tolist()
        faults += same(seen, wanted)
    return faults


@test
def values_that_no_number_of_json_has_are_null():
    text, headers = request({"x": np.array([[np.inf, np.nan, -1]], np.float32)})
    text, data = text[:int(headers["Inference-Header-Content-Length"])].replace(b"true", b"false"), text[-12:]
    status, answer = SERVER.post("/v2/models/relu/infer", text + data, {"Inference-Header-Content-Length": str(len(text))})
    return same((status, answer.get("outputs", [{}])[0].get("data")), (200, [None, None, 0]))


@test
def wrong_json_is_invalid():
    faults = []
    for body, text in ((None, "no JSON"), (b"", "no JSON"), (b"{", "no JSON"), (b'{"inputs":[]} x', "2 bytes follow the JSON of the request"), (b"[]", "expected an object"),
                       (b"7", "no JSON"), (b'{"id":7,"inputs":[]}', "'id' is an integer"), (b"{}", "'inputs' is nothing"),
                       (b'{"inputs":{}}', "'inputs' is an object"), (b'{"inputs":[],"inputs":[]}', "no JSON"),
                       (b'{"inputs":[1]}', "no 'name'"), (b'{"inputs":[]}', "no input 'x'"), (b"\xff\xfe{}", "no JSON"),
                       (b'{"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1e999]}]}', "no JSON"),
                       (b"[" * 5000, "no JSON")):
        faults += refuses(400, text, body=body)
    return faults


@test
def wrong_inputs_are_invalid():
    faults = []
    for changes, text in (({"name": "q"}, "no input 'q'; it has 'x'"), ({"name": None}, "no 'name'"), ({"name": "x\0"}, "no 'name', which is a string without a byte 0"),
                          ({"datatype": "FP32\0"}, "no 'datatype'"), ({"shape": None}, "'shape'"),
                          ({"shape": [2, "3"]}, "expected integers"), ({"shape": [2, 2.5]}, "expected integers"), ({"shape": "2x3"}, "expected an array"),
                          ({"shape": [-2, -3]}, "size -2"), ({"shape": [2, 4]}, "array of 8"), ({"shape": [6]}, "the model's is [-1, 3]"),
                          ({"shape": [3, 2]}, "the model's is [-1, 3]"), ({"shape": [1] * 40}, "the max is"),
                          ({"shape": [2**31, 3]}, "expected 0 to"), ({"datatype": None}, "no 'datatype'"), ({"datatype": "FP31"}, "unknown datatype 'FP31'"),
                          ({"datatype": "FP64"}, "the type FP64; the model's is FP32"), ({"data": None}, "neither 'data' nor"),
                          ({"data": [1, 2]}, "neither a flat array of 6"), ({"data": "123456"}, "expected an array"),
                          ({"data": [[1, 2], [3, 4], [5, 6]]}, "nested as its shape"), ({"data": [1, 2, 3, 4, 5, "6"]}, "no FP32"),
                          ({"data": [1, 2, 3, 4, 5, None]}, "null"), ({"data": [1, 2, 3, 4, 5, True]}, "no FP32"),
                          ({"parameters": {"binary_data_size": 24}}, "both")):
        faults += [f"{changes}: {fault}" for fault in refuses(400, text, body=one(**changes))]
    two = one()["inputs"] * 2
    faults += refuses(400, "twice", body={"inputs": two})
    faults += refuses(413, "elements", body=one(shape=[2**30, 3], data=[]))
    for name, value in (("INT8", 128), ("INT8", -129), ("UINT8", -1), ("INT32", 2**31), ("UINT32", -1), ("INT64", 1.0), ("BOOL", 2), ("BYTES", 1)):
        inputs = [{"name": "x_" + name, "shape": [3], "datatype": name, "data": [value] * 3}]
        faults += refuses(400, "no string" if name == "BYTES" else "no " + name, path="/v2/models/types/infer", body={"inputs": inputs})
    for name, value in (("FP16", 65520), ("FP16", -1e5), ("BF16", 3.4e38), ("FP32", 1e300), ("FP32", -3.5e38)):  # they would be infinite
        inputs = [{"name": "x_" + name, "shape": [3], "datatype": name, "data": [1, value, 1]}]
        faults += refuses(400, f"has {value:g}, which is no {name}", path="/v2/models/types/infer", body={"inputs": inputs})
    return faults


@test
def wrong_outputs_and_parameters_are_refused():
    # Copies of an output would multiply the bytes of the response.
    return refuses(400, "the request has the output 'z' twice", body={**one(), "outputs": [{"name": name} for name in "zyz"]}) + \
        refuses(400, "the request has the output 'y' twice", body={**one(), "outputs": [{"name": "y"}] * 1000}) + \
        refuses(400, "no output 'q'; it has 'y', 'z'", body={**one(), "outputs": [{"name": "q"}]}) + \
        refuses(400, "expected an array", body={**one(), "outputs": "y"}) + refuses(400, "no 'name'", body={**one(), "outputs": [{}]}) + \
        refuses(501, "classification", body={**one(), "outputs": [{"name": "y", "parameters": {"classification": 2}}]}) + \
        refuses(400, "no 'name'", body={**one(), "outputs": [{"name": "y\0"}]}) + refuses(400, "a byte 0", body={"id": "a\0b", **one()}) + \
        refuses(400, "microseconds", body={**one(), "parameters": {"timeout": "1"}}) + \
        refuses(400, "microseconds", body={**one(), "parameters": {"timeout": -1}})


@test
def content_with_an_encoding_is_refused():
    headers = SERVER.call("POST", "/v2/models/relu/infer", one(), {"Content-Encoding": "gzip"})[1]
    return refuses(415, "'gzip'; expected 'identity'", body=one(), headers={"Content-Encoding": "gzip"}) + \
        same(headers["Accept-Encoding"], "identity") + \
        same(SERVER.post("/v2/models/relu/infer", one(), {"Content-Encoding": "identity"})[0], 200)


@test
def content_type_does_not_matter():
    return same([SERVER.post("/v2/models/relu/infer", one(), {"Content-Type": kind})[0] for kind in ("text/plain", "application/x-www-form-urlencoded")],
                [200, 200])


# Infer: binary tensors

@test
def binary_request_gives_binary_outputs():
    seen = SERVER.infer("relu", {"x": X})
    return same(sorted(seen), ["y", "z"]) + same(seen["y"].tolist(), np.maximum(X, 0).tolist())


@test
def outputs_choose_their_form():
    body = {**one(), "outputs": [{"name": "y", "parameters": {"binary_data": True}}, {"name": "z", "parameters": {"binary_data": False}}],
            "parameters": {"binary_data_output": True}}
    status, headers, answer = SERVER.call("POST", "/v2/models/relu/infer", body)
    size = int(headers["Inference-Header-Content-Length"])
    y, z = json.loads(answer[:size])["outputs"]
    return same((status, headers["Content-Type"]), (200, "application/octet-stream")) + same(y["parameters"], {"binary_data_size": 24}) + \
        same("data" in y, False) + same(np.frombuffer(answer[size:], np.float32).tolist(), np.maximum(X, 0).ravel().tolist()) + \
        same(z["data"], np.maximum(X, 0).ravel().tolist())


@test
def binary_and_json_inputs_mix():
    body, headers = request({"x": X})
    text, data = body[:int(headers["Inference-Header-Content-Length"])], X.tobytes()
    plain = json.loads(text)
    plain["parameters"] = {}
    text = json.dumps(plain).encode()
    status, answer = SERVER.post("/v2/models/relu/infer", text + data, {"Inference-Header-Content-Length": str(len(text))})
    return same((status, answer["outputs"][0]["data"]), (200, np.maximum(X, 0).ravel().tolist()))


@test
def binary_strings_have_their_sizes():
    strings = [b"", b"a\0b", "日本".encode()]
    data = b"".join(len(s).to_bytes(4, "little") + s for s in strings)
    inputs, rest = [], b""
    for name, kind in (("BYTES", None), ("BOOL", "bool"), *((n, k) for n, k in (("INT8", "int8"), ("INT16", "int16"), ("INT32", "int32"),
                       ("INT64", "int64"), ("UINT8", "uint8"), ("UINT16", "uint16"), ("UINT32", "uint32"), ("UINT64", "uint64"),
                       ("FP16", "float16"), ("FP32", "float32"), ("FP64", "float64"), ("BF16", "uint16")))):
        part = data if name == "BYTES" else np.array([0, 1, 1], kind).tobytes()
        inputs.append({"name": "x_" + name, "shape": [3], "datatype": name, "parameters": {"binary_data_size": len(part)}})
        rest += part
    text = json.dumps({"inputs": inputs, "outputs": [{"name": "y_BYTES", "parameters": {"binary_data": True}},
                                                     {"name": "y_UINT64", "parameters": {"binary_data": True}}]}).encode()
    status, headers, body = SERVER.call("POST", "/v2/models/types/infer", text + rest, {"Inference-Header-Content-Length": str(len(text))})
    size = int(headers.get("Inference-Header-Content-Length", 0))
    return same(status, 200) + same(body[size:], data + np.array([0, 1, 1], np.uint64).tobytes())


@test
def wrong_binary_data_are_invalid():
    faults = []
    body, headers = request({"x": X})
    size = int(headers["Inference-Header-Content-Length"])

    def changed(old, new):
        text = body[:size].replace(old, new)
        return {"body": text + body[size:], "headers": {"Inference-Header-Content-Length": str(len(text))}}

    for change, text in ((changed(b": 24", b": 23"), "24"), (changed(b": 24", b": 25"), "not a size up to 24"), (changed(b": 24", b": -1"), "not a size"),
                         (changed(b": 24", b': "24"'), "not a size"), (changed(b": 24", b": 99999999999999999999"), "no JSON"),
                         ({"body": body + b"x", "headers": headers}, "1 bytes follow"), ({"body": body[:-1], "headers": headers}, "not a size"),
                         ({"body": body[:size - 1], "headers": headers}, "expected a size up to"),
                         *(({"body": body, "headers": {"Inference-Header-Content-Length": value}}, "Inference-Header-Content-Length")
                           for value in ("x", "-1", "", "1e3", str(len(body) + 1), "99999999999999999999999", "0x10")),
                         ({"body": body, "headers": {"Inference-Header-Content-Length": "0"}}, "no JSON"), ({"body": body}, "24 bytes follow the JSON of the request")):
        faults += [f"{text}: {fault}" for fault in refuses(400, text, **change)]
    for part in (b"", b"\5\0\0\0abc", b"\xff\xff\xff\xff", b"\0\0\0\0" * 2, b"\0\0\0\0" * 4):
        text = json.dumps({"inputs": [{"name": "x_BYTES", "shape": [3], "datatype": "BYTES",
                                       "parameters": {"binary_data_size": len(part)}}]}).encode()
        faults += refuses(400, "the data of 'x_BYTES'", path="/v2/models/types/infer", body=text + part,
                          headers={"Inference-Header-Content-Length": str(len(text))})
    return faults


# Repository

@test
def index_lists_models_and_their_states():
    status, answer = SERVER.post("/v2/repository/index")
    ready = {(model["name"], model["version"]): model["state"] for model in answer}
    return same(status, 200) + same(ready, {("broken", "1"): "UNAVAILABLE", ("digits", "1"): "READY", ("relu", "1"): "READY", ("types", "1"): "READY"}) + \
        same(sorted(model["name"] for model in SERVER.post("/v2/repository/index", {"ready": True})[1]), ["digits", "relu", "types"]) + \
        refuses(400, path="/v2/repository/index", body=b"{") + refuses(400, path="/v2/repository/index", body=b"[]")


@test
def models_are_loaded_and_unloaded():
    faults = same(SERVER.post("/v2/repository/models/relu/unload"), (200, {}))
    faults += refuses(503, "not loaded", body=one()) + same(SERVER.get("/v2/health/ready")[0], 200)
    faults += same(SERVER.post("/v2/repository/models/relu/load"), (200, {})) + same(SERVER.post("/v2/models/relu/infer", one())[0], 200)
    return faults + refuses(404, "no model", path="/v2/repository/models/nil/load") + \
        refuses(404, "no model", path="/v2/repository/models/nil/unload") + refuses(500, path="/v2/repository/models/broken/load") + \
        refuses(501, "parameters", path="/v2/repository/models/relu/load", body={"parameters": {"config": "{}"}}) + \
        refuses(400, path="/v2/repository/models/relu/load", body=b"nothing")


# The rest

@test
def body_over_the_limit_is_too_large():
    status, answer = SERVER.post("/v2/models/relu/infer", b" " * 70000)
    big = socket.create_connection(("127.0.0.1", SERVER.port))
    big.sendall(b"POST /v2/models/relu/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
    first = big.recv(100)
    big.close()
    chunks = iter([b"x" * 10000] * 8)
    chunked = SERVER.call("POST", "/v2/models/relu/infer", chunks)[0]
    return same(status, 413) + error_of(answer) + same(first.split()[1], b"413") + same(chunked, 413)


@test
def body_in_chunks_is_read():
    text = json.dumps(one()).encode()
    parts = iter([text[i:i + 7] for i in range(0, len(text), 7)])
    return same(SERVER.call("POST", "/v2/models/relu/infer", parts)[0], 200)


@test
def connections_stay_open_after_errors():
    connection = SERVER.connect()
    statuses = [SERVER.call(method, path, body, None, connection)[0] for method, path, body in (
        ("POST", "/v2/models/relu/infer", b"x" * 1000), ("POST", "/nowhere", b"x" * 1000), ("PUT", "/v2", b"x"), ("GET", "/v2", None),
        ("POST", "/v2/models/relu/infer", json.dumps(one())))]
    connection.close()
    return same(statuses, [400, 404, 405, 200, 200])


@test
def page_for_people_is_html():
    status, headers, body = SERVER.call("GET", "/")
    return same((status, headers["Content-Type"]), (200, "text/html; charset=utf-8")) + ([] if b"</html>" in body else ["no page"])


@test
def digits_are_recognized():
    with open(f"{ROOT}/examples/digits/seven.pgm", "rb") as file:
        pixels = np.frombuffer(file.read()[-784:], np.uint8).astype(np.float32).reshape(1, 1, 28, 28)
    wanted = np.load(f"{ROOT}/examples/digits/expected_seven.npy")
    seen = [SERVER.infer("digits", {"image": pixels}, binary=binary)["probabilities"] for binary in (True, False)]
    return same(seen[0].tolist(), seen[1].tolist()) + ([] if np.allclose(seen[0], wanted, atol=1e-5) else [f"{seen[0]}"])


@test
def metrics_count_requests():
    before = SERVER.metrics()
    SERVER.infer("relu", {"x": X})
    SERVER.post("/v2/models/relu/infer", {})
    after = SERVER.metrics()
    grown = {name: metric(after, name, model="relu") - metric(before, name, model="relu")
             for name in ("lightnet_requests_total", "lightnet_batch_rows_sum",
                          *[f"lightnet_{part}_seconds_count" for part in ("request", "receive", "queue", "run")])}
    buckets = [value for labels, value in sorted(after["lightnet_request_seconds_bucket"].items(), key=lambda item: float(dict(item[0])["le"]))
               if dict(labels)["model"] == "relu"]
    return same(list(grown.values()), [2, 2, 1, 1, 1, 1]) + \
        same(buckets, sorted(buckets)) + same(buckets[-1], metric(after, "lightnet_request_seconds_count", model="relu")) + \
        same(metric(after, "lightnet_ready"), 1.0)  # it was ready without "broken"


@test
def log_has_an_object_for_each_request():
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    SERVER.post("/v2/models/relu/infer", {"id": "of the \"log\"\n", **one()}, {"traceparent": trace})
    SERVER.wait_for_log("of the ")
    found = [line for line in SERVER.log() if line.get("id") == "of the \"log\"\n"]
    return same(len(found), 1) + same([found[0][key] for key in ("level", "status", "method", "path", "model", "traceparent", "client")],
                                      ["info", "ok", "POST", "/v2/models/relu/infer", "relu", trace, "127.0.0.1"]) + \
        ([] if found[0]["total_ms"] >= found[0]["run_ms"] >= 0 and found[0]["bytes_out"] > 0 else [f"{found[0]}"])


def main():
    global SERVER
    with folder() as path:
        write(f"{path}/relu.onnx", unary(outputs=2, out_shape=("n", 3)))
        write(f"{path}/types.onnx", types())
        write(f"{path}/broken.onnx", b"nothing")
        with Server(sys.argv[1], path, DIGITS, "--allow-control", "--max-request", "64K", "--poll", "0", wait=False) as SERVER:
            assert SERVER.wait_for_log("loaded model 'types'"), SERVER.text
            run_tests()


if __name__ == "__main__":
    main()
