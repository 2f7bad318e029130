#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: fuzz_serve.py LIGHTNET-SERVE [--seed N] [--count N]. Requests that are wrong in all ways, against a server.

Each is a valid request with random changes: of its JSON, its bytes, its headers, its sizes. A server must answer each whose frame is
right with a status that explains it, never with 500, and valid requests between them with the right numbers. In the end it is ready,
its memory has not grown, and it leaves without a complaint of a sanitizer. The same seed and count repeat the requests.
"""
import argparse
import copy
import json
import os
import random
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/serve"))

from serve_kit import Server, folder, metric, request, scaled, types, unary, wait_for, write
import numpy as np

GROUP = 32  # requests that are sent at once on a connection
STATUSES = {200, 400, 401, 403, 404, 405, 413, 415, 429, 501, 503, 504}
ODD = [None, True, False, 0, -1, 1, 2**31, 2**32, 2**63 - 1, -2**63, 1e308, 0.5, "", "x", "FP32", "BYTES", "\0", "é", [], [[]], {}, [0] * 50,
       {"binary_data_size": 8}, {"binary_data": True}, "y" * 300]
PATHS = ["/", "/metrics", "/v2", "/v2/", "/v2/health/live", "/v2/health/ready", "/v2/models/m", "/v2/models/m/ready", "/v2/models/m/infer",
         "/v2/models/types/infer", "/v2/models/m/versions/1/infer", "/v2/models/m/versions/9/infer", "/v2/models/nil/infer",
         "/v2/repository/index", "/v2/repository/models/m/load", "/v2/repository/models/nil/unload"]
METHODS = ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "get", "X"]


# Requests: (method, path, headers, body)

def valid(rng):
    """A request that succeeds, and the outputs."""
    x = np.float32([[rng.randrange(-99, 99) for _ in range(2)] for _ in range(rng.randrange(1, 4))])
    body, headers = request({"x": x}, rng.random() < .5)
    return ("POST", "/v2/models/m/infer", headers, body), 2 * x


def base(rng):
    """The JSON and the binary data of a request."""
    if rng.random() < .6:
        (_, path, headers, body), _ = valid(rng)
        size = int(headers.get("Inference-Header-Content-Length", len(body)))
        return path, json.loads(body[:size]), body[size:]
    name = rng.choice(["INT8", "BOOL", "BYTES", "FP16", "UINT64", "BF16", "FP64"])
    data = rng.choice([["a", "b", ""], [1, 0, 1], [1.5, 2, 3]])
    one = {"name": "x_" + name, "shape": [3], "datatype": name, "data": data}
    rest = b""
    if rng.random() < .5:
        del one["data"]
        rest = rng.randbytes(rng.randrange(0, 40)) if rng.random() < .5 else b"\1\0\0\0a" * 3
        one["parameters"] = {"binary_data_size": len(rest)}
    return "/v2/models/types/infer", {"id": "7", "inputs": [one], "outputs": [{"name": "y_" + name}], "parameters": {"timeout": 1000000}}, rest


def places(value, found):
    """All (container, key) in JSON."""
    for key in (value if isinstance(value, dict) else range(len(value))):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            places(value[key], found)
    return found


def change_json(rng, value):
    for _ in range(rng.randrange(1, 4)):
        found = places(value, [])
        if not found:
            return
        container, key = rng.choice(found)
        kind = rng.randrange(4)
        if kind == 0:
            container[key] = copy.deepcopy(rng.choice(ODD))
        elif kind == 1:
            del container[key]
        elif kind == 2 and isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        else:
            other, place = rng.choice(found)
            container[key] = copy.deepcopy(other[place]) if len(json.dumps(other[place])) < 2000 else 0


def change_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        if not data:
            break
        i, kind = rng.randrange(len(data)), rng.randrange(5)
        if kind == 0:
            data[i] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[i:i + rng.randrange(1, 20)]
        elif kind == 2:
            data[i:i] = data[rng.randrange(len(data)):][:rng.randrange(1, 50)]
        elif kind == 3:
            data[i:i] = rng.choice([b"[", b"{", b'"', b"\0", b"\xff", b"1e9", b"-", b"[" * 300, b'{"a":' * 100, b"\\ud800", b"99999999999999999999"])
        else:
            del data[i:]
    return bytes(data)


def wrong(rng):
    path, value, rest = base(rng)
    headers = {}
    if rng.random() < .7:
        change_json(rng, value)
    text = json.dumps(value).encode()
    size = len(text)
    if rng.random() < .3:
        text = change_bytes(rng, text)
    if rng.random() < .3:
        rest = change_bytes(rng, rest)
    if rest or rng.random() < .2:
        headers["Inference-Header-Content-Length"] = str(size) if rng.random() < .7 else str(
            rng.choice([0, -1, size + 1, len(text), 2**32, 2**64, "x", "", "1e3", "+5", " 7", size - 1]))
    if rng.random() < .1:
        headers[rng.choice(["Content-Encoding", "traceparent", "Accept", "Authorization", "Content-Type", "X-" + "y" * 100])] = \
            "".join(chr(rng.randrange(33, 127)) for _ in range(rng.randrange(1, 60)))
    method = "POST"
    if rng.random() < .15:
        method, path = rng.choice(METHODS), rng.choice(PATHS)
    if rng.random() < .05:
        path += rng.choice(["/", "/x", "%00", "%2f", "%zz", "?a=b", "?" + "a&" * 50, "/../..", "//"])
    return method, path, headers, b"" if method in ("GET", "HEAD") else text + rest


def frame(method, path, headers, body):
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


def garbage(rng):
    """Bytes whose frame is wrong, or whose end never comes."""
    data = frame(*wrong(rng))
    kind = rng.randrange(4)
    if kind == 0:
        return data[:rng.randrange(len(data))]
    if kind == 1:
        return rng.randbytes(rng.randrange(1, 300))
    if kind == 2:
        return data.replace(b"Content-Length", rng.choice([b"Content-length: 5\r\nContent-Length", b"Transfer-Encoding: chunked\r\nX", b"Content-Lengt"]))
    return change_bytes(rng, data)


# Responses

class Reader:
    """Responses of one connection."""

    def __init__(self, connection):
        self.connection, self.data = connection, b""

    def more(self):
        part = self.connection.recv(1 << 16)
        if not part:
            raise EOFError
        self.data += part

    def read(self, is_head):
        """(status, headers, body)."""
        while b"\r\n\r\n" not in self.data:
            self.more()
        head, _, self.data = self.data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = 0 if is_head else int(headers["content-length"])
        while len(self.data) < size:
            self.more()
        body, self.data = self.data[:size], self.data[size:]
        return int(first.split()[1]), headers, body


def check_answer(asked, status, headers, body, wanted):
    method, path, _, sent = asked
    where = f"{method} {path} {sent[:2000]!r}\n-> {status} {body[:300]!r}"
    assert status in STATUSES, where
    if wanted is not None:
        size = int(headers.get("inference-header-content-length", len(body)))
        output = json.loads(body[:size])["outputs"][0]
        seen = np.float32(output["data"]) if "data" in output else np.frombuffer(body[size:], np.float32)
        assert status == 200 and seen.tolist() == wanted.ravel().tolist(), where
    elif method != "HEAD" and status != 200 and headers.get("content-type") == "application/json":
        assert list(json.loads(body)) == ["error"], where


def send_group(server, rng):
    """Sends well-framed requests on one connection and checks their answers; the server may close it early."""
    group = []
    for _ in range(GROUP):
        group.append(valid(rng) if rng.random() < .1 else (wrong(rng), None))
    done = 0
    while done < len(group):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(b"".join(frame(*asked) for asked, _ in group[done:]))
            reader, before = Reader(connection), done
            try:
                for asked, wanted in group[done:]:
                    status, headers, body = reader.read(asked[0] == "HEAD")
                    check_answer(asked, status, headers, body, wanted)
                    done += 1
                    if headers.get("connection") == "close":
                        break
            except (EOFError, ConnectionError):  # libmicrohttpd closes where it cannot read a request
                done += done == before


def send_garbage(server, rng):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        try:
            connection.sendall(garbage(rng))
            if rng.random() < .5:
                connection.shutdown(socket.SHUT_WR)
            if rng.random() < .2:
                connection.settimeout(.005)
                connection.recv(1 << 16)
        except (ConnectionError, TimeoutError):
            pass


def check_log(text):
    """Sanitizers may write and go on."""
    assert "runtime error" not in text and "Sanitizer" not in text, text[-10000:]


def fuzz(server, rng, count):
    n, early = 0, 0
    while n < count:
        try:
            send_group(server, rng)
            for _ in range(4):
                send_garbage(server, rng)
        except OSError:  # the reason may be in the log
            server.wait_for_log("SUMMARY: ", 5)
            check_log(server.read_log())
            raise
        n += GROUP + 4
        assert server.process.poll() is None, "the server has ended:\n" + server.read_log()[-5000:]
        check_log(server.read_log())
        server.text = server.text[-10000:]
        early = early or (n > count / 5 and metric(server.metrics(), "process_resident_memory_bytes"))
        if n % 50400 == 0:
            print(f"{n} requests", flush=True)
    return n, early


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10000)
    given = parser.parse_args()
    with folder() as path:
        write(f"{path}/m.onnx", scaled(2))
        write(f"{path}/types.onnx", types())
        with Server(given.program, path, "--poll", 0, "--max-request", "64K", "--idle-timeout", 1) as server:
            n, early = fuzz(server, random.Random(given.seed), given.count)
            wait_for(lambda: metric(server.metrics(), "lightnet_calls") == 1)
            late = metric(server.metrics(), "process_resident_memory_bytes")
            assert server.get("/v2/health/ready")[0] == 200
            check_log(server.read_log())
            assert late < 1.5 * early + 32e6, f"memory grows from {early / 1e6:.0f} to {late / 1e6:.0f} MB"
        print(f"{n} requests of seed {given.seed}: the server is well, {late / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
