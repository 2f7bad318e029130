#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_life.py LIGHTNET-SERVE [SLOW-EPOLL]. Batches, time limits, clients that go, overload, changes on disk, and the end of a server.

SLOW-EPOLL is the library of slow_epoll.c.
"""
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from serve_kit import SLOW, Refused, Server, accepts, affine, folder, metric, request, scaled, slow, unary, w, wait_for, write
import numpy as np
from checks import run_tests, same, test

PROGRAM, SLOW_EPOLL = sys.argv[1], sys.argv[2:]


def together(calls):
    """The results of functions that run at the same time; an exception is its result."""
    results = [None] * len(calls)

    def run(i):
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


def statuses(results):
    return sorted(result.status if isinstance(result, Refused) else result if isinstance(result, int) else 200 if isinstance(result, dict) else -1
                  for result in results)


def long_run(server, **parameters):
    return server.infer("slow", {"count": np.int64(SLOW)}, **parameters)


def send_only(server, model="slow", count=SLOW):
    """A connection that has sent a request, and reads nothing."""
    body, headers = request({"count": np.int64(count)})
    connection = server.connect()
    connection.request("POST", f"/v2/models/{model}/infer", body, headers)
    return connection


def running(server, n):
    """Whether `n` requests are being answered, beside the one that asks, and none waits in the queue."""
    figures = server.metrics()
    return metric(figures, "lightnet_calls") == n + 1 and metric(figures, "lightnet_queue_length") == 0


# Batches

def check_batches(server, single, model, n=24, size=64):
    """Faults unless requests that come together run together, and equal those of a server without batches bit for bit."""
    rng = np.random.default_rng(7)
    inputs = [rng.standard_normal((1 + i % 3, size)).astype(np.float32) for i in range(n)]
    alone = [single.infer(model, {"x": x})["y"] for x in inputs]
    before = server.metrics()
    seen = together([lambda x=x: server.infer(model, {"x": x}) for x in inputs])
    after = server.metrics()
    runs = metric(after, "lightnet_batch_rows_count", model=model) - metric(before, "lightnet_batch_rows_count", model=model)
    rows = metric(after, "lightnet_batch_rows_sum", model=model) - metric(before, "lightnet_batch_rows_sum", model=model)
    faults = [f"{answer}" for answer in seen if not isinstance(answer, dict)]
    if not faults:
        faults = [f"request {i} differs" for i, answer in enumerate(seen) if answer["y"].tobytes() != alone[i].tobytes()]
    return faults + same(rows, float(sum(map(len, inputs)))), runs


@test
def batches_equal_single_runs_bit_for_bit():
    with folder() as path:
        write(f"{path}/named.onnx", affine())
        write(f"{path}/unnamed.onnx", affine(rows=""))
        write(f"{path}/unshaped.onnx", unary(op="Relu", shape=("n", 64)))
        with Server(PROGRAM, path, "--batch-wait", 100, "--max-batch", 8, "--instances", 2) as server, \
                Server(PROGRAM, path, "--max-batch", 1) as single:  # no request waits for others
            faults = []
            for model in ("named", "unnamed", "unshaped"):
                wrong, runs = check_batches(server, single, model)
                faults += [f"{model}: {fault}" for fault in wrong] + ([] if runs <= 12 else [f"{model}: {runs} runs of 24 requests"])
            # The number of dimensions comes from a run.
            return faults + same(server.get("/v2/models/unshaped")[1]["outputs"][0]["shape"], [-1, -1])


def messages(server, level):
    """Those of the log, without requests."""
    return [line["message"] for line in server.log() if line["level"] == level and "message" in line]


def whole(nodes, inputs, outputs, constants=()):
    return w.model(w.graph(nodes, inputs, outputs, list(constants)), opset=17)


def fixed_cost(rounds=100):
    """y = x: a run first multiplies matrices, which depend on 0 times x, for as long as it needs for hundreds of rows."""
    body = w.graph([w.node("MatMul", ["a", "m"], ["b"]), w.node("Identity", ["c"], ["d"])],
                   [w.value("i", "int64", []), w.value("c", "bool", []), w.value("a", "float", [128, 128])],
                   [w.value("d", "bool", []), w.value("b", "float", [128, 128])])
    return whole([w.node("ReduceSum", ["x"], ["sum"], keepdims=0), w.node("Mul", ["sum", "zero"], ["nothing"]), w.node("Add", ["m", "nothing"], ["first"]),
                  w.node("Loop", ["count", "", "first"], ["last"], body=body), w.node("ReduceSum", ["last"], ["end"], keepdims=0),
                  w.node("Mul", ["end", "zero"], ["still"]), w.node("Add", ["x", "still"], ["y"])],
                 [w.value("x", "float", ["n", 4])], [w.value("y", "float", ["n", 4])],
                 [w.tensor("m", "float", [128, 128], [0.0] * 128 * 128), w.tensor("zero", "float", [], [0.0]), w.tensor("count", "int64", [], [int(rounds)])])


def cost_of_rows():
    """Each row is a matrix that is multiplied by itself."""
    return whole([w.node("MatMul", ["x", "x"], ["a"]), w.node("MatMul", ["a", "x"], ["b"]), w.node("MatMul", ["b", "x"], ["y"])],
                 [w.value("x", "float", ["n", 256, 256])], [w.value("y", "float", ["n", 256, 256])])


@test
def batches_are_as_large_as_they_pay():
    """Without --max-batch, up to 8 rows; metrics and the log have the number."""
    def line_of(name, rows, how):
        return f"model '{name}', version 1: batches of up to {rows:g} row{'s' * (rows > 1)} ({how})" + "; --batch-wait has no effect" * (rows == 1)

    with folder() as path:
        write(f"{path}/fixed.onnx", fixed_cost())
        write(f"{path}/rows.onnx", cost_of_rows())
        write(f"{path}/alone.onnx", unary(op="ReduceSum", shape=("n", 3)))
        write(f"{path}/open.onnx", unary(shape=("n", "m"), out_shape=("n", "m")))

        def sizes(*options):
            with Server(PROGRAM, path, *options) as server:
                rows = {name: metric(server.metrics(), "lightnet_batch_rows_max", model=name) for name in ("fixed", "rows", "alone", "open")}
                return rows, [line for line in messages(server, "info") if "batches of" in line]
        for _ in range(3):  # other processes may disturb a measurement
            free, lines = sizes("--batch-wait", 1)
            if free["rows"] <= 4 and free["fixed"] >= 6:
                break
        said, said_lines = sizes("--max-batch", 5)
        # The lengths of "open" are unknown until requests come; rows of "fixed" beyond the first cost nothing, those of "rows" as much as it.
        return same([free["alone"], free["open"]], [1, 8]) + ([] if 1 <= free["rows"] <= 4 and 6 <= free["fixed"] <= 8 else [f"{free}"]) + \
            same(said, {"fixed": 5, "rows": 5, "alone": 1, "open": 5}) + \
            same(sorted(lines), [line_of(name, free[name], how) for name, how in (("fixed", "measured"), ("open", "not measured, since sizes of inputs are open"),
                                                                                  ("rows", "measured"))]) + \
            same(sorted(said_lines), [line_of(name, 5, "--max-batch") for name in ("fixed", "open", "rows")])


@test
def outputs_that_do_not_follow_axis_0_are_not_batched():
    """y = the sum over rows, or the transpose: batches would mix requests."""
    with folder() as path:
        write(f"{path}/sum.onnx", unary(op="ReduceSum", shape=("n", 3)))
        write(f"{path}/turned.onnx", unary(op="Transpose", shape=("n", 3)))
        x = [np.full((1 + i % 2, 3), i, np.float32) for i in range(6)]
        with Server(PROGRAM, path, "--batch-wait", 50, "--instances", 1) as server:
            sums = together([lambda a=a: server.infer("sum", {"x": a})["y"].item() for a in x])
            turned = together([lambda a=a: server.infer("turned", {"x": a})["y"].tolist() for a in x])
            return same(sums, [float(a.sum()) for a in x]) + same(turned, [a.T.tolist() for a in x])


def mixing_models():
    """{name: (model, its output)}: each follows axis 0 by its names, and depends on other rows."""
    x, y, i = w.value("x", "float", ["n", 3]), w.value("y", "float", ["n", 3]), w.value("i", "int64", ["n"])
    zero = w.tensor("zero", "int64", [], [0])
    centred = [w.node("ReduceMean", ["x"], ["mean"], axes=[0]), w.node("Sub", ["x", "mean"], ["y"])]
    # A leak of 1e-6: rounding beside 1, but not beside elements of 0.01.
    faint = [w.node("ReduceMean", ["x"], ["mean"], axes=[0]), w.node("Mul", ["mean", "little"], ["leak"]),
             w.node("Mul", ["x", "small"], ["a"]), w.node("Add", ["a", "leak"], ["y"])]
    return {
        "mean": (whole(centred, [x], [y]), "y"),
        "softmax": (whole([w.node("Softmax", ["x"], ["y"], axis=0)], [x], [y]), "y"),
        "max": (whole([w.node("ReduceMax", ["x"], ["max"], axes=[0]), w.node("Sub", ["x", "max"], ["y"])], [x], [y]), "y"),
        "reversed": (whole([w.node("Slice", ["x", "last", "end", "axis", "back"], ["y"])], [x], [y],
                           [w.tensor(name, "int64", [1], [value]) for name, value in
                            (("last", -1), ("end", -2**31), ("axis", 0), ("back", -1))]), "y"),
        "cumsum": (whole([w.node("CumSum", ["i", "zero"], ["sums"])], [i], [w.value("sums", "int64", ["n"])], [zero]), "sums"),
        "counted": (whole([w.node("ReduceSum", ["i"], ["sum"]), w.node("Mul", ["i", "zero"], ["zeros"]), w.node("Add", ["zeros", "sum"], ["z"])],
                          [i], [w.value("z", "int64", ["n"])], [zero]), "z"),
        "faint": (whole(faint, [x], [y], [w.tensor("little", "float", [], [1e-6]), w.tensor("small", "float", [], [.01])]), "y"),
        "open": (whole(centred, [w.value("x", "float", ["n", "c", "h", "w"])], [w.value("y", "float", ["n", "c", "h", "w"])]), "y"),
        # Two inputs with different open sizes, which only together have that of the third, as caches have.
        "cache": (whole([w.node("Concat", ["old", "new"], ["all"], axis=1), w.node("Mul", ["all", "mask"], ["seen"]),
                         w.node("ReduceMean", ["seen"], ["mean"], axes=[0]), w.node("Sub", ["seen", "mean"], ["y"])],
                        [w.value("old", "float", ["n", "past"]), w.value("new", "float", ["n", "tokens"]), w.value("mask", "float", ["n", "all"])],
                        [w.value("y", "float", ["n", "all"])]), "y"),
        "scaled": (whole([w.node("DynamicQuantizeLinear", ["x"], ["q", "scale", "point"]), w.node("MatMulInteger", ["q", "m", "point"], ["sums"]),
                          w.node("Cast", ["sums"], ["real"], to=1), w.node("Mul", ["real", "scale"], ["y"])], [x], [y],
                         [w.tensor("m", "int8", [3, 3], [3, 1, 4, 1, 5, 9, 2, 6, 5])]), "y"),
        "unnamed": (whole(centred, [w.value("x", "float", ["", 3])], [w.value("y", "float", ["", 3])]), "y"),
    }


@test
def rows_that_change_each_other_are_not_batched():
    """Clients must not see data of others: results show it while models are loaded, where names and shapes do not."""
    models = mixing_models()
    with folder() as path:
        for name, (model, _) in models.items():
            write(f"{path}/{name}.onnx", model)
        x = [np.full((1, 3), value, np.float32) for value in (1, 2, 3, 6)]
        with Server(PROGRAM, path, "--batch-wait", 200, "--instances", 1, "--max-batch", 8) as server:
            faults = [fault for name in models for fault in
                      same((name, metric(server.metrics(), "lightnet_batch_rows_max", model=name)), (name, 1))]
            warnings = messages(server, "warning")
            for name, (_, output) in models.items():
                start = f"model '{name}', version 1: requests do not run together: output '{output}' "
                faults += [] if len([line for line in warnings if line.startswith(start)]) == 1 else [f"{name}: {warnings}"]
            seen = together([lambda a=a: server.infer("mean", {"x": a})["y"].tolist() for a in x])
            return faults + same(seen, [[[0.0] * 3]] * 4)


@test
def rows_that_cannot_be_compared_follow_their_names():
    """Its table has one row, so that it rejects the 1 of the check."""
    table = w.tensor("table", "float", [1, 2], [3, 4])
    nodes = [w.node("Gather", ["table", "i"], ["y"])]
    with folder() as path:
        write(f"{path}/named.onnx", whole(nodes, [w.value("i", "int64", ["n"])], [w.value("y", "float", ["n", 2])], [table]))
        write(f"{path}/unnamed.onnx", whole(nodes, [w.value("i", "int64", [""])], [w.value("y", "float", ["", 2])], [table]))
        with Server(PROGRAM, path, "--max-batch", 8) as server:
            rows = [metric(server.metrics(), "lightnet_batch_rows_max", model=name) for name in ("named", "unnamed")]
            found = [line for level in ("info", "warning") for line in messages(server, level) if "together" in line]
            return same(rows, [8.0, 1.0]) + same([line.split(":")[0] + line.split(":")[1] for line in found],
                                                 ["model 'named', version 1 requests run together, as the names of its sizes allow; "
                                                  "results were not compared", "model 'unnamed', version 1 requests do not run together"])


@test
def rows_that_are_alone_in_their_results_are_batched():
    """Elements that are NaN or infinite, strings, and open sizes do not stop batches."""
    with folder() as path:
        write(f"{path}/nan.onnx", whole([w.node("Sub", ["x", "x"], ["zeros"]), w.node("Div", ["x", "zeros"], ["infinite"]),
                                         w.node("Div", ["zeros", "zeros"], ["nan"]), w.node("Concat", ["infinite", "nan", "x"], ["y"], axis=1)],
                                        [w.value("x", "float", ["n", 3])], [w.value("y", "float", ["n", 9])]))
        write(f"{path}/text.onnx", whole([w.node("Identity", ["x"], ["y"])], [w.value("x", "string", ["n", "m"])], [w.value("y", "string", ["n", "m"])]))
        write(f"{path}/affine.onnx", affine())
        with Server(PROGRAM, path, "--max-batch", 8) as server:
            rows = {name: metric(server.metrics(), "lightnet_batch_rows_max", model=name) for name in ("nan", "text", "affine")}
            return same(rows, {"nan": 8.0, "text": 8.0, "affine": 8.0}) + same(messages(server, "warning"), [])


@test
def requests_of_other_shapes_run_apart():
    with folder() as path:
        write(f"{path}/any.onnx", unary(shape=("n", "m"), out_shape=("n", "m")))
        x = [np.full((1, 1 + i % 2), i, np.float32) for i in range(8)]
        with Server(PROGRAM, path, "--batch-wait", 50, "--instances", 1) as server:
            return same([a.tolist() for a in together([lambda a=a: server.infer("any", {"x": a})["y"] for a in x])], [a.tolist() for a in x])


@test
def batch_does_not_wait_when_it_is_full():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path, "--batch-wait", 10000, "--max-batch", 4, "--instances", 1) as server:
            start = time.monotonic()
            seen = together([lambda: server.infer("m", {"x": np.ones((1, 2), np.float32)})] * 4)
            return same(statuses(seen), [200] * 4) + ([] if time.monotonic() - start < 5 else ["it waited"])


@test
def request_that_a_batch_would_delay_keeps_its_deadline():
    """An idle server runs it in time."""
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path, "--batch-wait", 20000, "--max-batch", 4, "--instances", 1) as server:
            start = time.monotonic()
            seen = together([lambda: server.infer("m", {"x": np.ones((1, 2), np.float32)}, timeout=200000)])
            seconds = time.monotonic() - start
        with Server(PROGRAM, path, "--batch-wait", 20000, "--max-batch", 4, "--instances", 1, "--timeout", .2) as server:
            seen += together([lambda: server.infer("m", {"x": np.ones((1, 2), np.float32)})] * 2)
            return same(statuses(seen), [200] * 3) + ([] if seconds < 5 else ["it waited"])


@test
def upload_is_no_part_of_the_queue():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path, "--instances", 1) as server:
            body, headers = request({"x": np.ones((1, 2), np.float32)})
            head = "".join(f"{key}: {value}\r\n" for key, value in headers.items())
            with socket.create_connection(("127.0.0.1", server.port)) as slow_client:
                slow_client.sendall(f"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n{head}\r\n".encode() + body[:9])
                time.sleep(1)
                slow_client.sendall(body[9:])
                slow_client.recv(100)
            seconds = {part: metric(server.metrics(), f"lightnet_{part}_seconds_sum") for part in ("request", "receive", "queue", "run")}
            rest = seconds["request"] - seconds["receive"] - seconds["queue"] - seconds["run"]
            return [] if seconds["receive"] > .9 and seconds["queue"] < .5 and -1e-6 < rest < .1 else [f"{seconds}"]


# Limits

def slow_rows():
    """y = x: a run multiplies as many matrices as the largest element."""
    body = w.graph([w.node("MatMul", ["a", "m"], ["b"]), w.node("Identity", ["c"], ["d"])],
                   [w.value("i", "int64", []), w.value("c", "bool", []), w.value("a", "float", [128, 128])],
                   [w.value("d", "bool", []), w.value("b", "float", [128, 128])])
    return whole([w.node("ReduceMax", ["x"], ["max"], keepdims=0), w.node("Cast", ["max"], ["count"], to=7),
                  w.node("Loop", ["count", "", "m"], ["last"], body=body), w.node("ReduceSum", ["last"], ["sum"], keepdims=0),
                  w.node("Mul", ["sum", "zero"], ["nothing"]), w.node("Add", ["x", "nothing"], ["y"])],
                 [w.value("x", "float", ["n", 1])], [w.value("y", "float", ["n", 1])],
                 [w.tensor("m", "float", [128, 128], [0.0] * 128 * 128), w.tensor("zero", "float", [], [0.0])])


@test
def late_request_of_a_batch_is_answered_in_time():
    """The other has no limit; when its client goes, the run ends."""
    with folder() as path:
        write(f"{path}/m.onnx", slow_rows())
        with Server(PROGRAM, path, "--instances", 1, "--max-batch", 2, "--batch-wait", 10000) as server:
            x = np.full((1, 1), SLOW, np.float32)
            body, headers = request({"x": x})
            patient = server.connect()
            patient.request("POST", "/v2/models/m/infer", body, headers)
            wait_for(lambda: metric(server.metrics(), "lightnet_calls") == 2)
            start = time.monotonic()
            faults = same(statuses(together([lambda: server.infer("m", {"x": x}, timeout=300000)])), [504])
            seconds = time.monotonic() - start
            faults += [] if .3 <= seconds < 5 else [f"{seconds} s"]
            wait_for(lambda: running(server, 1))  # the other runs on
            patient.close()
            one = np.ones((2, 1), np.float32)
            faults += same(server.infer("m", {"x": one})["y"].tolist(), one.tolist())
            figures = server.metrics()
            return faults + same([metric(figures, "lightnet_requests_total", status=status) for status in ("timeout", "cancelled", "ok")], [1, 1, 1]) + \
                same(metric(figures, "lightnet_batch_rows_sum"), 4.0)


@test
def deadline_stops_a_run():
    with folder() as path:
        write(f"{path}/slow.onnx", slow())
        with Server(PROGRAM, path, "--instances", 1) as server:
            start = time.monotonic()
            seen = together([lambda: long_run(server, timeout=200000)])
            seconds = time.monotonic() - start
            again = server.infer("slow", {"count": np.int64(1)})
            return same(statuses(seen), [504]) + ([] if .2 <= seconds < 5 else [f"{seconds} s"]) + same(again["y"].shape, (128, 128))


@test
def limit_of_memory_is_no_limit_of_time():
    """100,000 elements need 800 kB, two such requests together more than is allowed, and 150,000 alone."""
    with folder() as path:
        write(f"{path}/m.onnx", unary(shape=("n", "m"), out_shape=("n", "m")))
        for option in ((), ("--timeout", 60)):
            with Server(PROGRAM, path, "--instances", 1, "--max-batch", 8, "--batch-wait", 200, "--option", "memory_limit=1000000", *option) as server:
                fitting, large = np.ones((1, 100000), np.float32), np.ones((1, 150000), np.float32)
                seen = together([lambda: server.infer("m", {"x": large}, timeout=60000000)])[0]
                faults = same((seen.status, "exceed the limit of 1000000 bytes" in seen.text), (413, True))
                faults += same(statuses(together([lambda: server.infer("m", {"x": large})])), [413])
                before = metric(server.metrics(), "lightnet_batch_rows_count")
                faults += same(statuses(together([lambda: server.infer("m", {"x": fitting})] * 2)), [200, 200])
                faults += same(metric(server.metrics(), "lightnet_batch_rows_count") - before, 2.0)  # each alone
                if faults:
                    return [f"{option}: {fault}" for fault in faults]
        return []


@test
def deadline_of_the_server_applies_to_others():
    with folder() as path:
        write(f"{path}/slow.onnx", slow())
        with Server(PROGRAM, path, "--instances", 1, "--timeout", .2) as server:
            faults = same(statuses(together([lambda: long_run(server)] * 3)), [504] * 3)  # one runs, two wait
            start = time.monotonic()  # no client has more time than the server allows
            faults += same(statuses(together([lambda: long_run(server, timeout=20000000), lambda: long_run(server, timeout=0)])), [504] * 2)
            return faults + ([] if time.monotonic() - start < 5 else ["a client has more time than the server allows"])


@test
def clients_that_go_stop_their_runs():
    """Closed, and half closed, as other servers see it."""
    with folder() as path:
        write(f"{path}/slow.onnx", slow())
        with Server(PROGRAM, path, "--instances", 1) as server:
            faults = []
            for close in (lambda c: c.close(), lambda c: c.sock.shutdown(socket.SHUT_WR)):
                connections = [send_only(server), send_only(server)]
                wait_for(lambda: metric(server.metrics(), "lightnet_queue_length") == 1)
                for connection in reversed(connections):
                    close(connection)
                wait_for(lambda: running(server, 0))
                faults += same(server.infer("slow", {"count": np.int64(1)})["y"].shape, (128, 128))
            figures = server.metrics()
            return faults + same(metric(figures, "lightnet_requests_total", status="cancelled"), 4.0)


def send_part(server, head=b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n", size=1000):
    """A connection that has sent a part of a request, and its end in the same moment."""
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.sendall(head + b" " * size)
    connection.shutdown(socket.SHUT_WR)
    return connection


@test
def clients_that_go_while_they_send_are_noticed():
    """Also if the end arrives with the last bytes; the time limit of idle connections is a minute."""
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path) as server:
            chunked = b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n"
            begin = time.monotonic()
            gone = [send_part(server, *what) for _ in range(50) for what in ((), (chunked,), (b"POST /v2/models/m/infer HTTP/1.1\r\nHost:", 0))]
            wait_for(lambda: all(one.recv(100) == b"" for one in gone))
            wait_for(lambda: running(server, 0))
            faults = [] if time.monotonic() - begin < 20 else [f"{time.monotonic() - begin} s"]
            gone += [send_part(server) for _ in range(50)]
            begin = time.monotonic()
            faults += same(server.stop(), 0) + ([] if time.monotonic() - begin < 10 else ["the end waits for clients that have gone"])
            for one in gone:
                one.close()
            return faults


@test
def request_of_a_client_that_half_closes_is_answered():
    """As `nc -N` does; requests that wait are another matter."""
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path) as server:
            index = b"POST /v2/repository/index HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n{}" + b" " * 1998
            faults = []
            for requests, n in ((b"GET /v2 HTTP/1.1\r\nHost: x\r\n\r\n", 1), (index, 1), (index * 20, 20)):
                with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
                    connection.sendall(requests)
                    connection.shutdown(socket.SHUT_WR)
                    answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
                faults += same(answer.count(b"HTTP/1.1 200 OK"), n)
            return faults


@test
def overload_is_refused_with_retry_after():
    with folder() as path:
        write(f"{path}/slow.onnx", slow())
        with Server(PROGRAM, path, "--instances", 1, "--max-queue", 2) as server:
            busy = [send_only(server)]
            wait_for(lambda: running(server, 1))
            busy += [send_only(server), send_only(server)]
            wait_for(lambda: metric(server.metrics(), "lightnet_queue_length") == 2)
            seen = together([lambda: long_run(server)])[0]
            faults = same((seen.status, seen.headers["Retry-After"]), (429, "1"))
            for connection in busy:
                connection.close()
            wait_for(lambda: running(server, 0))
            return faults + same(server.get("/v2/health/live")[0], 200)


@test
def bodies_of_all_requests_are_limited():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path, "--max-memory", "100K", "--idle-timeout", "2") as server:
            half = socket.create_connection(("127.0.0.1", server.port))
            half.sendall(b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n" + b" " * 80000)
            x = np.ones((5000, 2), np.float32)
            wait_for(lambda: statuses(together([lambda: server.infer("m", {"x": x})])) == [503])
            half.close()
            wait_for(lambda: statuses(together([lambda: server.infer("m", {"x": x})])) == [200])
            return []


def reduced(kind):
    """The sum of each row."""
    return whole([w.node("ReduceSum", ["x", "axis"], ["y"])], [w.value("x", kind, ["n", "m"])], [w.value("y", kind, ["n", 1])],
                 [w.tensor("axis", "int64", [1], [1])])


@test
def tensors_count_beside_bodies():
    """Two bytes of JSON become eight."""
    with folder() as path:
        write(f"{path}/m.onnx", reduced("int64"))
        with Server(PROGRAM, path, "--max-memory", "100K") as server:
            def send(n):
                return server.post("/v2/models/m/infer", {"inputs": [{"name": "x", "shape": [1, n], "datatype": "INT64", "data": [1] * n}]})
            seen = send(30000)
            return same((seen[0], "more than 102400 bytes" in seen[1].get("error", "")), (503, True)) + same(send(10000)[0], 200) + \
                same(metric(server.metrics(), "lightnet_requests_total", status="unavailable"), 1.0)


@test
def answers_that_no_client_reads_count():
    """Answers of 16 MB for requests of some bytes."""
    with folder() as path:
        write(f"{path}/m.onnx", whole([w.node("Expand", ["x", "shape"], ["y"])], [w.value("x", "float", ["n", 1])], [w.value("y", "float", ["n", 2**22])],
                                      [w.tensor("shape", "int64", [2], [1, 2**22])]))
        x = {"x": np.ones((1, 1), np.float32)}
        body, headers = request(x)

        def ask(server):
            connection = server.connect()
            connection.request("POST", "/v2/models/m/infer", body, headers)
            return connection

        def refused(server):
            found = together([lambda: server.infer("m", x)])[0]
            return isinstance(found, Refused) and (found.status, "answers of all clients" in found.text) == (503, True)
        with Server(PROGRAM, path, "--max-memory", "10M", "--max-batch", 1) as server:
            faults = [] if refused(server) else ["an answer above the limit"]
        with Server(PROGRAM, path, "--max-memory", "60M", "--max-batch", 1, "--instances", 1) as server:
            readers = [ask(server) for _ in range(3)]
            wait_for(lambda: metric(server.metrics(), "lightnet_requests_total", status="ok") == 3)
            wait_for(lambda: refused(server))
            faults += same(server.get("/v2/health/live")[0], 200)
            for connection in readers:
                connection.close()
            wait_for(lambda: statuses(together([lambda: server.infer("m", x)])) == [200])
            return faults


# Repository

def value_of(server, model="m"):
    """What the model multiplies by."""
    return server.infer(model, {"x": np.ones((1, 2), np.float32)})["y"][0, 0]


@test
def changed_file_is_loaded():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path, "--poll", .1) as server:
            faults = same(value_of(server), 2)
            write(f"{path}/m.onnx", scaled(3))
            wait_for(lambda: value_of(server) == 3)
            write(f"{path}/m.onnx", b"broken")
            assert server.wait_for_log("model 'm' is not loaded")
            faults += same(value_of(server), 3) + same(server.get("/v2/health/ready")[0], 200)
            write(f"{path}/m.onnx", scaled(4))
            wait_for(lambda: value_of(server) == 4)
            return faults


@test
def versions_come_and_go():
    with folder() as path:
        write(f"{path}/m/1/model.onnx", scaled(1))
        with Server(PROGRAM, path, "--poll", .1, "--max-versions", 2) as server:
            faults = same(value_of(server), 1)
            for version in (2, 10):
                write(f"{path}/m/{version}/model.onnx", scaled(version))
                wait_for(lambda: value_of(server) == version)
            wait_for(lambda: server.get("/v2/models/m")[1]["versions"] == ["10", "2"])
            faults += same(value_of(server, "m/versions/2"), 2) + same(server.get("/v2/models/m/versions/1")[0], 503)
            shutil.rmtree(f"{path}/m/10")
            wait_for(lambda: server.get("/v2/models/m")[1]["versions"] == ["2", "1"])
            faults += same(value_of(server), 2)
            write(f"{path}/m/10/model.onnx", scaled(11))
            wait_for(lambda: value_of(server) == 11)
            write(f"{path}/other.onnx", scaled(5))
            wait_for(lambda: server.get("/v2/models/other")[0] == 200)
            os.remove(f"{path}/other.onnx")
            wait_for(lambda: server.get("/v2/models/other")[0] == 404)
            faults += ([] if server.wait_for_log("removed model 'other', version 1") else ["the log does not have it"]) + \
                same(server.get("/v2/models/other/ready")[0], 404) + same(server.post("/v2/models/other/infer", {})[0], 404)
            shutil.rmtree(f"{path}/m")  # an empty folder may be a mistake: models stay
            assert server.wait_for_log("models stay as they are")
            return faults + same(value_of(server), 11) + same(server.get("/v2/health/ready")[0], 200)


@test
def slow_writer_is_waited_for():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path, "--poll", .3) as server:
            data = affine(seed=3)
            with open(f"{path}/new.onnx", "wb", buffering=0) as file:
                for i in range(12):
                    file.write(data[i * len(data) // 12:(i + 1) * len(data) // 12])
                    time.sleep(.05)
            wait_for(lambda: server.get("/v2/models/new/ready")[0] == 200)
            return same([line for line in server.log() if "is not loaded" in line.get("message", "")], [])


@test
def reload_under_load_fails_no_request():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(1))
        with Server(PROGRAM, path, "--allow-control", "--poll", .1, "--batch-wait", 2) as server:
            stop, seen, failed = threading.Event(), set(), []

            def load():
                connection = server.connect()
                while not stop.is_set():
                    try:
                        answer = server.infer("m", {"x": np.ones((1, 2), np.float32)}, connection)
                        seen.add(int(answer["y"][0, 0]))
                    except Exception as error:
                        failed.append(repr(error))
                connection.close()
            threads = [threading.Thread(target=load) for _ in range(4)]
            for thread in threads:
                thread.start()
            for version in range(2, 10):
                write(f"{path}/m.onnx", scaled(version))
                failed += [f"load: {answer}" for answer in [server.post("/v2/repository/models/m/load")] if answer != (200, {})]
                wait_for(lambda: version in seen or failed)
            stop.set()
            for thread in threads:
                thread.join()
            return failed[:3] + same(seen, set(range(1, 10)))


@test
def reload_while_a_request_is_read_fails_no_request():
    """JSON of half a million elements takes longer to read than a model to load, which replaces the one that was found before."""
    with folder() as path:
        write(f"{path}/m.onnx", scaled(1))
        with Server(PROGRAM, path, "--allow-control", "--poll", 0) as server:
            x, stop, failed = np.ones((250000, 2), np.float32), threading.Event(), []

            def reload():
                while not stop.is_set():
                    write(f"{path}/m.onnx", scaled(1))
                    failed.extend(answer for answer in [server.post("/v2/repository/models/m/load")] if answer != (200, {}))
            thread = threading.Thread(target=reload)
            thread.start()
            try:
                seen = [server.infer("m", {"x": x}, binary=False)["y"].shape for _ in range(5)]
            finally:
                stop.set()
                thread.join()
            return failed[:3] + same(seen, [x.shape] * 5)


@test
def folder_of_triton_is_read():
    """NAME/VERSION/model.onnx, with a configuration that is ignored, and a model that is hidden."""
    with folder() as path:
        write(f"{path}/m/3/model.onnx", scaled(3))
        write(f"{path}/m/config.pbtxt", b"name: 'm'")
        write(f"{path}/m/labels/x.txt", b"")
        write(f"{path}/.hidden/1/model.onnx", scaled(1))
        with Server(PROGRAM, path) as server:
            index = server.post("/v2/repository/index")[1]
        with Server(PROGRAM, f"{path}/m") as server:
            return same([(m["name"], m["version"]) for m in index], [("m", "3")]) + same(server.post("/v2/repository/index")[1], index)


@test
def files_beside_models_are_ignored_with_a_line_each():
    """Those of other programs; another format of a model; a folder without a version."""
    with folder() as path:
        write(f"{path}/m.onnx", scaled(1))
        write(f"{path}/m.json", b'{"labels": ["ops"]}')
        write(f"{path}/config.json", b'{"architectures": ["x"]}')
        write(f"{path}/typo/model.onnx", scaled(2))
        with Server(PROGRAM, path, "--poll", .1) as server:
            faults = same([m["name"] for m in server.post("/v2/repository/index")[1]], ["m"]) + same(value_of(server), 1)
            write(f"{path}/late.json", b"[]")
            assert server.wait_for_log("ignored .*/late.json")
            lines = sorted(line.split(": ")[0].rpartition("/")[2] for line in messages(server, "warning") if line.startswith("ignored "))
            return faults + same(lines, ["config.json", "late.json", "m.json", "model.onnx"])


@test
def control_is_off_by_default():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(1))
        with Server(PROGRAM, path) as server:
            return same([server.post(f"/v2/repository/models/m/{verb}")[0] for verb in ("load", "unload")], [403, 403]) + same(value_of(server), 1)


def is_not_ready(model, reason, *options):
    """Faults unless the model is not loaded, for this reason."""
    with folder() as path:
        write(f"{path}/m.onnx", model)
        with Server(PROGRAM, path, *options, wait=False) as server:
            found = server.wait_for_log("model 'm' is not loaded: .*" + reason)
            return ([] if found else [server.text]) + same(server.get("/v2/health/ready")[0], 503) + same(server.get("/v2/models/m/ready")[0], 503)


@test
def model_with_an_unknown_operator_is_not_ready():
    return is_not_ready(whole([w.node("Nonsense", ["x"], ["y"])], [w.value("x", "float", [1, 2])], [w.value("y", "float", [1, 2])]), "Nonsense")


@test
def model_that_cannot_run_is_not_ready():
    """Its file is opened, since the batch is open; a run of one row needs 2.4 MB."""
    return is_not_ready(unary(shape=("n", 300000), out_shape=("n", 300000)), "exceed the limit of 1000000 bytes", "--option", "memory_limit=1000000")


@test
def outputs_that_the_file_does_not_describe_are_found():
    """By a run with some sizes; where the model rejects the values, no shape is better than that of a scalar."""
    table = w.tensor("table", "float", [1, 2], [3, 4])
    with folder() as path:
        write(f"{path}/found.onnx", unary(shape=("n", "m")))
        write(f"{path}/fixed.onnx", unary(shape=(2, "m")))
        write(f"{path}/scalar.onnx", whole([w.node("ReduceSum", ["x"], ["y"], keepdims=0)], [w.value("x", "float", ["n", "m"])], [w.value("y", "float", None)]))
        write(f"{path}/unknown.onnx", whole([w.node("Gather", ["table", "i"], ["y"])], [w.value("i", "int64", ["n", "m"])], [w.value("y", "float", None)], [table]))
        with Server(PROGRAM, path) as server:
            return same([server.get(f"/v2/models/{name}")[1]["outputs"][0].get("shape") for name in ("found", "fixed", "scalar", "unknown")],
                        [[-1, -1], [-1, -1], [], None])


@test
def model_that_rejects_zeros_is_ready():
    """The size 0 copies that of the input, which has two: other values are right."""
    with folder() as path:
        write(f"{path}/m.onnx", whole([w.node("Reshape", ["x", "s"], ["y"])], [w.value("x", "float", [2, 3]), w.value("s", "int64", [1])],
                                      [w.value("y", "float", ["n"])]))
        with Server(PROGRAM, path) as server:
            x = np.arange(6, dtype=np.float32).reshape(2, 3)
            wrong = together([lambda: server.infer("m", {"x": x, "s": np.int64([0])})])
            return same(statuses(wrong), [400]) + same(server.infer("m", {"x": x, "s": np.int64([6])})["y"].tolist(), x.ravel().tolist())


@test
def slow_load_delays_neither_others_nor_the_end():
    """Its run on zeros would take hours."""
    with folder() as path:
        write(f"{path}/a.onnx", fixed_cost(1e9))
        write(f"{path}/b.onnx", scaled(2))
        with Server(PROGRAM, path, "--allow-control", "--max-batch", 1, wait=False) as server:
            wait_for(lambda: server.read_log() and server.get("/v2/models/b/ready")[0] == 200, 60)  # lines that nobody reads are lost
            faults = same(server.get("/v2/models/a/ready"), (503, {"error": "model 'a' is being loaded"})) + same(server.get("/v2/health/ready")[0], 503)
            write(f"{path}/b.onnx", scaled(3))
            faults += same(server.post("/v2/repository/models/b/load"), (200, {})) + same(value_of(server, "b"), 3)
            begin = time.monotonic()
            waiting = server.connect()
            waiting.request("POST", "/v2/repository/models/a/load")
            faults += same(server.stop(seconds=20), 0) + ([] if time.monotonic() - begin < 10 else ["the end waits for a load"])
            waiting.close()
            return faults + ([] if "model 'a' is not loaded: " in server.text else [server.text[-500:]])


@test
def file_that_is_read_for_long_does_not_delay_the_end():
    """Its loop has constants alone, and is computed while the file is read."""
    constant = w.graph([w.node("MatMul", ["a", "m"], ["b"]), w.node("Identity", ["c"], ["d"])],
                       [w.value("i", "int64", []), w.value("c", "bool", []), w.value("a", "float", [128, 128])],
                       [w.value("d", "bool", []), w.value("b", "float", [128, 128])])
    model = whole([w.node("Loop", ["count", "", "m"], ["last"], body=constant), w.node("Add", ["x", "last"], ["y"])],
                  [w.value("x", "float", [128, 128])], [w.value("y", "float", [128, 128])],
                  [w.tensor("m", "float", [128, 128], [0.0] * 128 * 128), w.tensor("count", "int64", [], [10**9])])
    with folder() as path:
        write(f"{path}/a.onnx", model)
        with Server(PROGRAM, path, "--allow-control", wait=False) as server:
            wait_for(lambda: server.get("/v2/models/a/ready")[1] == {"error": "model 'a' is being loaded"})
            waiting = server.connect()  # for a load that waits for this one
            waiting.request("POST", "/v2/repository/models/a/load")
            time.sleep(.2)
            begin = time.monotonic()
            faults = same(server.stop(seconds=20), 0) + ([] if time.monotonic() - begin < 10 else ["the end waits for a load"])
            waiting.close()
            return faults


@test
def failure_that_passes_is_tried_again():
    """The weights come after the model, whose file stays as it is."""
    with folder() as path:
        name = f"{path}/m.onnx"
        data = np.float32(3).tobytes()
        # TensorProto.external_data and data_location
        factor = w.Tensor(w.field(2, 1) + w.field(8, "f") + w.field(13, w.field(1, "location") + w.field(2, "weights.bin")) + w.field(14, 1))
        write(name, whole([w.node("Mul", ["x", "f"], ["y"])], [w.value("x", "float", ["n", 2])], [w.value("y", "float", ["n", 2])], [factor]))
        with Server(PROGRAM, path, "--poll", .1, wait=False) as server:
            faults = [] if server.wait_for_log("model 'm' is not loaded: .*weights.bin") else [server.text]
            time.sleep(3)  # another attempt, which the log does not repeat
            faults += same(server.get("/v2/health/ready")[0], 503)
            write(f"{path}/weights.bin", data)
            wait_for(lambda: server.get("/v2/health/ready")[0] == 200)
            return faults + same(value_of(server), 3) + same(server.read_log().count("model 'm' is not loaded"), 1)


@test
def server_that_was_ready_stays_so_beside_a_broken_model():
    """One bad file must not take all servers that share a folder out of service; a server that begins is not ready."""
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path, "--poll", .1) as server:
            write(f"{path}/new.onnx", b"broken")
            faults = [] if server.wait_for_log("model 'new' is not loaded") else [server.text]
            faults += same(server.get("/v2/health/ready")[0], 200) + same(server.get("/v2/models/new/ready")[0], 503) + \
                same([(m["name"], m["state"]) for m in server.post("/v2/repository/index")[1]], [("m", "READY"), ("new", "UNAVAILABLE")])
        with Server(PROGRAM, path, "--poll", .1, wait=False) as server:
            wait_for(lambda: server.get("/v2/models/m/ready")[0] == 200)
            assert server.wait_for_log("model 'new' is not loaded")
            return faults + same(server.get("/v2/health/ready")[0], 503)


@test
def addresses_and_certificates_are_checked_before_models_are_loaded():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(1))
        write(f"{path}/wrong.pem", b"nothing")
        used = socket.create_server(("127.0.0.1", 0))
        port = str(used.getsockname()[1])

        def fails(text, *args):
            done = subprocess.run([PROGRAM, f"{path}/m.onnx", *args], capture_output=True, text=True, timeout=60)
            return same((done.returncode, text in done.stderr, "loaded model" in done.stderr), (1, True, False))
        faults = fails(":" + port, "--port", "0", "--grpc-port", port) + fails(":" + port, "--port", port) + \
            fails("wrong.pem", "--port", "0", "--tls-cert", f"{path}/wrong.pem", "--tls-key", f"{path}/wrong.pem")
        used.close()
        return faults


# The end

@test
def server_drains_at_sigterm():
    with folder() as path:
        write(f"{path}/slow.onnx", slow())
        with Server(PROGRAM, path, "--instances", 1) as server:
            rounds, start = 100, time.monotonic()
            while time.monotonic() - start < .5:  # rounds that take half a second
                rounds, start = 2 * rounds, time.monotonic()
                server.infer("slow", {"count": np.int64(rounds)})
            results = []
            thread = threading.Thread(target=lambda: results.extend(together([lambda: server.infer("slow", {"count": np.int64(rounds)})] * 2)))
            idle = server.connect()
            server.call("GET", "/v2", connection=idle)
            thread.start()
            wait_for(lambda: metric(server.metrics(), "lightnet_calls") == 3)
            server.process.send_signal(signal.SIGTERM)
            wait_for(lambda: server.call("GET", "/v2/health/ready", connection=idle)[0] == 503)
            wait_for(lambda: not accepts("127.0.0.1", server.port))
            faults = same(server.process.poll(), None)
            status = server.wait()
            thread.join()
            return faults + same(status, 0) + same(statuses(results), [200, 200])


def ask_until_it_ends(server):
    connection = server.connect()
    try:
        while server.process.poll() is None:
            server.call("GET", "/v2/health/live", connection=connection)
    except (OSError, http.client.HTTPException):
        pass


@test
def sigterm_ends_a_busy_server_with_status_0():
    if not SLOW_EPOLL:
        print("# the library is missing")
        return []
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        seen = []
        for _ in range(6):  # each has half a chance that two threads take the socket out of an epoll set
            with Server("env", "LD_PRELOAD=" + SLOW_EPOLL[0], PROGRAM, path, status=None) as server:
                threads = [threading.Thread(target=ask_until_it_ends, args=(server,)) for _ in range(16)]
                for thread in threads:
                    thread.start()
                time.sleep(.2)
                seen.append(server.stop())
                for thread in threads:
                    thread.join()
        return same(seen, [0] * 6)


@test
def drain_ends_and_runs_are_cancelled():
    with folder() as path:
        write(f"{path}/slow.onnx", slow())
        with Server(PROGRAM, path, "--instances", 1, "--drain", .2) as server:
            connections = [send_only(server) for _ in range(3)]
            wait_for(lambda: metric(server.metrics(), "lightnet_queue_length") == 2)
            start = time.monotonic()
            faults = same(server.stop(), 0) + ([] if time.monotonic() - start < 5 else ["it takes long"])
            for connection in connections:
                connection.close()
            return faults + ([] if "3 requests were not answered" in server.text else [server.text[-500:]])


def endless():
    """y = x, after as many rounds as the largest element."""
    body = w.graph([w.node("MatMul", ["a", "m"], ["b"]), w.node("Identity", ["c"], ["d"])],
                   [w.value("i", "int64", []), w.value("c", "bool", []), w.value("a", "float", [128, 128])],
                   [w.value("d", "bool", []), w.value("b", "float", [128, 128])])
    return whole([w.node("ReduceMax", ["x"], ["most"], keepdims=0), w.node("Cast", ["most"], ["count"], to=7),
                  w.node("Loop", ["count", "", "m"], ["last"], body=body), w.node("ReduceSum", ["last"], ["end"], keepdims=0),
                  w.node("Mul", ["end", "zero"], ["nothing"]), w.node("Add", ["x", "nothing"], ["y"])],
                 [w.value("x", "float", ["n", 1])], [w.value("y", "float", ["n", 1])],
                 [w.tensor("m", "float", [128, 128], [0.0] * 128 * 128), w.tensor("zero", "float", [], [0.0])])


@test
def drain_ends_a_batch_of_several_clients():
    with folder() as path:
        write(f"{path}/m.onnx", endless())
        with Server(PROGRAM, path, "--instances", 1, "--drain", .2, "--max-batch", 2, "--batch-wait", 10000) as server:
            connections = [server.connect() for _ in range(3)]
            body, headers = request({"x": np.full((1, 1), SLOW, np.float32)})
            for connection in connections:
                connection.request("POST", "/v2/models/m/infer", body, headers)
            wait_for(lambda: metric(server.metrics(), "lightnet_queue_length") == 1)
            start = time.monotonic()
            faults = same(server.stop(), 0) + ([] if time.monotonic() - start < 5 else ["it takes long"])
            for connection in connections:
                connection.close()
            return faults + ([] if "3 requests were not answered" in server.text else [server.text[-500:]])


@test
def second_signal_ends_the_delay_and_the_drain():
    with folder() as path:
        write(f"{path}/slow.onnx", slow())
        with Server(PROGRAM, path, "--instances", 1, "--drain-delay", 60, "--drain", 60) as server:
            connection = send_only(server)
            wait_for(lambda: running(server, 1))
            server.process.send_signal(signal.SIGTERM)
            assert server.wait_for_log("stopping")
            time.sleep(.05)
            faults = same(server.stop(signal.SIGTERM, 10), 0)
            connection.close()
            return faults


@test
def second_signal_ends_the_drain():
    with folder() as path:
        write(f"{path}/slow.onnx", slow())
        with Server(PROGRAM, path, "--instances", 1) as server:
            connection = send_only(server)
            wait_for(lambda: running(server, 1))
            server.process.send_signal(signal.SIGTERM)
            assert server.wait_for_log("stopping")
            time.sleep(.05)
            faults = same(server.stop(signal.SIGINT, 10), 0)
            connection.close()
            return faults


@test
def drain_delay_serves_while_it_is_not_ready():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(1))
        with Server(PROGRAM, path, "--drain-delay", 1) as server:
            server.process.send_signal(signal.SIGTERM)
            assert server.wait_for_log("stopping")
            return same(server.get("/v2/health/ready")[0], 503) + same(value_of(server), 1) + same(server.wait(), 0)


@test
def log_that_nobody_reads_does_not_stop_the_server():
    with folder() as path:
        write(f"{path}/m.onnx", scaled(1))
        with Server(PROGRAM, path) as server:
            connection = server.connect()
            for _ in range(100):  # some 1 MB, more than a pipe has
                status = server.call("GET", "/nothing/" + "x" * 10000, connection=connection)[0]
            connection.close()
            return same(status, 404)


@test
def wrong_use_is_explained():
    def says(status, text, *args):
        done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=60)
        return same(done.returncode, status) + ([] if text in done.stdout + done.stderr else [f"'{text}' is not in {done.stderr}"])
    with folder() as path:
        os.mkdir(f"{path}/empty")
        write(f"{path}/m.onnx", scaled(1))
        write(f"{path}/two/m.onnx", scaled(1))
        write(f"{path}/token", b"\n")
        model, port = f"{path}/m.onnx", socket.create_server(("127.0.0.1", 0))
        return says(0, "usage: lightnet serve", "--help") + says(0, "lightnet ", "--version") + says(2, "no model") + \
            says(2, "unknown option '--nothing'", model, "--nothing") + says(2, "needs a value", model, "--port") + \
            says(2, "--port is '70000'", model, "--port", "70000") + says(2, "--max-request is '1X'", model, "--max-request", "1X") + \
            says(2, "--instances is '1.5'", model, "--instances", "1.5") + says(2, "--max-memory is '5'; expected at least 4096 bytes", model, "--max-memory", "5") + \
            says(2, "--log is 'xml'", model, "--log", "xml") + \
            says(2, "need each other", model, "--tls-cert", model) + says(2, "--tls-client-ca needs", model, "--tls-client-ca", model) + \
            says(1, "no token", model, "--token-file", f"{path}/token") + says(1, "cannot read", model, "--token-file", f"{path}/missing") + says(2, "KEY=VALUE", model, "--option", "x") + \
            says(2, "--option: ", model, "--option", "nothing=1") + says(1, "cannot read", f"{path}/nothing") + \
            says(1, "no model; expected", f"{path}/empty") + says(1, "are both version 1 of model 'm'", model, f"{path}/two") + \
            says(1, "cannot listen to 127.0.0.1:", model, "--port", str(port.getsockname()[1]))


# Threads

def policies(server):
    """The scheduling policy of each thread."""
    found = []
    for thread in os.listdir(f"/proc/{server.process.pid}/task"):
        try:
            found.append(os.sched_getscheduler(int(thread)))
        except ProcessLookupError:  # it has ended
            pass
    return found


def lacks_policies():
    """Whether the test cannot set policies, or has another one itself."""
    lacks = not shutil.which("chrt") or os.sched_getscheduler(0) != os.SCHED_OTHER
    if lacks:
        print("# chrt is missing, or the test runs under another policy")
    return lacks


@test
def threads_that_answer_may_interrupt_those_that_compute():
    if lacks_policies():
        return []
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server(PROGRAM, path, "--instances", 3) as server:
            wait_for(lambda: policies(server).count(os.SCHED_BATCH) == 3)  # the thread that loads is one more
            return same(set(policies(server)), {os.SCHED_BATCH, os.SCHED_OTHER})


@test
def an_inherited_policy_is_kept():
    if lacks_policies():
        return []
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        with Server("chrt", "--idle", 0, PROGRAM, path) as server:
            return same(set(policies(server)), {os.SCHED_IDLE}) + same(value_of(server), 2)


if __name__ == "__main__":
    run_tests(beside=[slow_load_delays_neither_others_nor_the_end, failure_that_passes_is_tried_again])
