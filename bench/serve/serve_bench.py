#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Loads `lightnet serve`, and a server with ONNX Runtime in Node, with the same requests, in turns.

usage: serve_bench.py MODEL... [--build BUILD] [--rounds N] [--seconds S] [--cores N] [--batch N] [--serve OPTIONS]

Each MODEL has an open batch (axis 0). In each round, `lightnet bench` measures a run of one row and rows per second of full batches;
then a closed loop shows how many requests a second each server can answer. Then requests arrive at random times of set rates (parts
of the limit of `lightnet serve`), evenly at half of it, and at three times it. Prints JSON: the medians of all rounds.
Needs node with onnxruntime-node as bench/measure does, and `ninja -C build bench/ln_http_load`.
"""
import argparse
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "bench", "measure"))
from beside import run

NAMES = {"float32": "FP32", "int64": "INT64"}
PARTS = [0.25, 0.5, 0.6, 0.7, 0.8, 0.9]  # of the limit
HALF = PARTS.index(0.5)
BUDGET = 10  # runs: the 99th percentile for which rates are compared
PORTS = {"lightnet": 18411, "node": 18412}


def inputs_of(path):
    """{name: array} with one row."""
    rng, arrays = np.random.default_rng(7), {}
    for value in onnx.load(path, load_external_data=False).graph.input:
        shape = [1] + [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim][1:]
        is_integer = value.type.tensor_type.elem_type == onnx.TensorProto.INT64
        arrays[value.name] = rng.integers(0, 1000, shape) if is_integer else rng.standard_normal(shape).astype(np.float32)
    return arrays


def wait_for(url):
    for _ in range(600):
        with contextlib.suppress(OSError):
            if urllib.request.urlopen(url).status == 200:
                return
        time.sleep(0.05)
    sys.exit(f"{url}: no answer")


class Server:
    """A process that answers one request again and again."""

    def __init__(self, args, name, command, path, body, headers):
        self.args, self.name, self.path, self.body = args, name, path, body
        self.headers = [word for header in headers for word in ("-H", header)]
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", PORTS[name]), timeout=1):
            sys.exit(f"port {PORTS[name]} has a server already")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)

    def load(self, rate, connections, *options):
        return json.loads(run([os.path.join(self.args.build, "bench", "ln_http_load"), str(PORTS[self.name]), self.path, self.body, "-r", str(rate),
                               "-s", str(self.args.seconds), "-c", str(connections), *self.headers, *options]))

    def limit(self):
        """Requests per second of as many connections as fill two batches on each core."""
        return self.load(0, 2 * self.args.batch * self.args.cores)["per_second"]

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) * 1.024e-3

    def at(self, rate, *options):
        found = self.load(rate, 512, *options)
        return {**{key: found[key] for key in ("offered", "per_second", "rejected", "failed", "p50_ms", "p90_ms", "p99_ms")}, "memory_mb": self.memory_mb()}

    def stop(self):
        self.process.terminate()
        self.process.wait()


def start_lightnet(args, path, folder, arrays):
    """`lightnet serve`, and a request of binary tensors."""
    body, model = os.path.join(folder, "v2.bin"), os.path.join(folder, "model.onnx")
    os.symlink(os.path.abspath(path), model)
    described = [{"name": name, "shape": array.shape, "datatype": NAMES[str(array.dtype)], "parameters": {"binary_data_size": array.nbytes}}
                 for name, array in arrays.items()]
    head = json.dumps({"inputs": described, "parameters": {"binary_data_output": True}}).encode()
    with open(body, "wb") as file:
        file.write(head + b"".join(array.tobytes() for array in arrays.values()))
    command = [os.path.join(args.build, "serve", "lightnet-serve"), model, "--port", str(PORTS["lightnet"]), "--max-queue", "64", "--log", "none",
               *args.serve.split()]
    server = Server(args, "lightnet", command, "/v2/models/model/infer", body, [f"Inference-Header-Content-Length: {len(head)}"])
    wait_for(f"http://127.0.0.1:{PORTS['lightnet']}/v2/health/ready")
    return server


def start_node(args, path, folder, arrays):
    """The server with ONNX Runtime, and a request of bytes."""
    body = os.path.join(folder, "node.bin")
    with open(body, "wb") as file:
        file.write(b"".join(array.tobytes() for array in arrays.values()))
    shapes = ",".join(f"{array.dtype}:{'x'.join(map(str, array.shape))}" for array in arrays.values())
    server = Server(args, "node", ["node", os.path.join(HERE, "node_server.js"), path, str(PORTS["node"]), str(args.cores)], "/infer", body, [f"X-Shapes: {shapes}"])
    server.process.stdout.readline()
    return server


def bench(args, path):
    """Milliseconds of one run on one core and on all, and rows per second of full batches on all."""
    names = [f"{value.name}={args.batch}x" + "x".join(str(dim.dim_value) for dim in value.type.tensor_type.shape.dim[1:])
             for value in onnx.load(path, load_external_data=False).graph.input]

    def median_ms(threads, shapes):
        return json.loads(run([os.path.join(args.build, "cli", "lightnet"), "bench", path, "--threads", str(threads), "--seconds", "1", "--json",
                               *(word for shape in shapes for word in ("--shape", shape))]))["median_ms"]
    one = [name.replace(f"={args.batch}x", "=1x", 1) for name in names]
    return {"run_ms": median_ms(1, one), "run_all_ms": median_ms(args.cores, one), "rows_per_second": args.batch / median_ms(args.cores, names) * 1e3}


def median(rows):
    """Of each number of objects with the same keys."""
    return {key: float(np.median([row[key] for row in rows])) for key in rows[0]}


def rate_within(rows, budget_ms):
    """The rate at which the 99th percentile reaches the budget, between those measured; the last one if none does, None if all do."""
    if not rows or rows[0]["p99_ms"] > budget_ms:
        return None
    for before, after in zip(rows, rows[1:]):
        if after["p99_ms"] > budget_ms:
            part = np.log(budget_ms / before["p99_ms"]) / np.log(after["p99_ms"] / before["p99_ms"])
            return float(before["per_second"] + part * (after["per_second"] - before["per_second"]))
    return rows[-1]["per_second"]


def rounds_of(args, path, servers):
    """The limits, in turns with `lightnet bench`."""
    rounds = []
    for _ in range(args.rounds):
        rounds.append({**bench(args, path), **{f"{server.name}_per_second": server.limit() for server in servers}})
        rounds[-1]["share"] = rounds[-1]["lightnet_per_second"] / rounds[-1]["rows_per_second"]
        print(json.dumps(rounds[-1]), file=sys.stderr, flush=True)
    return median(rounds)


def loads(args, servers, limits):
    """Percentiles of each server at each rate that it can answer; at the last ones, more."""
    rates = {server.name: [] for server in servers}
    for part in PARTS:
        rate = part * limits["lightnet_per_second"]
        rows = {server.name: [] for server in servers if rate < limits[f"{server.name}_per_second"] or server.name == "lightnet"}
        for _ in range(args.rounds):
            for server in servers:
                if server.name in rows:
                    rows[server.name].append(server.at(rate))
        for name, found in rows.items():
            rates[name].append(median(found))
            print(f"{name:9} {json.dumps(rates[name][-1])}", file=sys.stderr, flush=True)
    return rates


def measure(args, path):
    arrays = inputs_of(path)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        servers = [start(args, path, folder, arrays) for start in (start_lightnet, start_node)]
        for server in servers:
            stack.callback(server.stop)
            server.limit()  # warm
        limits = rounds_of(args, path, servers)
        rates = loads(args, servers, limits)
        half, ours = rates["lightnet"][HALF]["offered"], servers[0]
        budget = BUDGET * limits["run_ms"]
        return {"bench": limits, "rates": rates, "budget_ms": budget, "within_budget": {name: rate_within(rows, budget) for name, rows in rates.items()},
                "even": median([{**ours.at(half, "-e"), "run_ms": bench(args, path)["run_ms"]} for _ in range(args.rounds)]),
                "overload": [ours.at(3 * limits["lightnet_per_second"]) for _ in range(args.rounds)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5, help="of each load")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--serve", default="", metavar="OPTIONS", help="more options of lightnet serve")
    args = parser.parse_args()
    models = {os.path.basename(path).removesuffix(".onnx"): measure(args, path) for path in args.models}
    print(json.dumps({"cores": args.cores, "batch": args.batch, "options": args.serve, "models": models}, indent=1))


if __name__ == "__main__":
    main()
