#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Loads `lightnet serve`, and a server with ONNX Runtime in Node, with the same requests.

usage: serve_bench.py MODEL [--build BUILD] [--rates R,R..] [--seconds S] [--cores N] [--batch N] [--json]

MODEL has an open batch (axis 0). First both servers are loaded by a closed loop, which shows how many requests a second they can
answer; then requests arrive at random times of set rates (by default parts of the first server's limit, and three times it), and
the percentiles of their times are printed. `bench` is the time of one run, and rows per second with full batches, by `lightnet bench`.
Needs node with onnxruntime-node as bench/measure does, and `ninja -C build bench/ln_http_load`.
"""
import argparse
import contextlib
import json
import os
import re
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
PARTS = [0.25, 0.5, 0.75, 0.9, 3]  # of the limit
PORT = 18411


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


class LightNet:
    """`lightnet serve`, and a request for it."""
    title = "LightNet"

    def __init__(self, args, folder, arrays):
        self.args, self.process = args, None
        self.body, self.path = os.path.join(folder, "v2.bin"), "/v2/models/model/infer"
        model = os.path.join(folder, "model.onnx")
        os.symlink(os.path.abspath(args.model), model)
        self.command = [os.path.join(args.build, "serve", "lightnet-serve"), model, "--port", str(PORT), "--max-batch", str(args.batch),
                        "--instances", str(args.cores), "--max-queue", "64", "--log", "none"]
        described = [{"name": name, "shape": array.shape, "datatype": NAMES[str(array.dtype)],
                      "parameters": {"binary_data_size": array.nbytes}} for name, array in arrays.items()]
        head = json.dumps({"inputs": described, "parameters": {"binary_data_output": True}}).encode()
        with open(self.body, "wb") as file:
            file.write(head + b"".join(array.tobytes() for array in arrays.values()))
        self.headers = [f"Inference-Header-Content-Length: {len(head)}"]

    def start(self):
        self.process = subprocess.Popen(self.command)
        wait_for(f"http://127.0.0.1:{PORT}/v2/health/ready")


class Node:
    """The server with ONNX Runtime, and a request for it."""
    title = "ONNX Runtime in Node"

    def __init__(self, args, folder, arrays):
        self.process, self.body, self.path = None, os.path.join(folder, "node.bin"), "/infer"
        self.command = ["node", os.path.join(HERE, "node_server.js"), args.model, str(PORT), str(args.cores)]
        with open(self.body, "wb") as file:
            file.write(b"".join(array.tobytes() for array in arrays.values()))
        self.headers = ["X-Shapes: " + ",".join(f"{array.dtype}:{'x'.join(map(str, array.shape))}" for array in arrays.values())]

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE)
        self.process.stdout.readline()


def loaded(args, server, rate, connections):
    words = [word for header in server.headers for word in ("-H", header)]
    return json.loads(run([os.path.join(args.build, "bench", "ln_http_load"), str(PORT), server.path, server.body, "-r", str(rate),
                           "-s", str(args.seconds), "-c", str(connections), *words]))


def resident_mb(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) * 1.024e-3


def measure(args, server, rates, limit=None):
    """The limit, and the percentiles at each rate."""
    server.start()
    try:
        loaded(args, server, 0, 2 * args.batch * args.cores)  # warm
        limit = limit or max(loaded(args, server, 0, 2 * args.batch * args.cores)["per_second"] for _ in range(2))
        rows = []
        for rate in rates or [part * limit for part in PARTS]:
            rows.append({**loaded(args, server, rate, 512), "memory_mb": resident_mb(server.process)})
            print(f"{server.title:21} {json.dumps(rows[-1])}", file=sys.stderr, flush=True)
        return {"limit_per_second": limit, "rates": rows}
    finally:
        server.process.terminate()
        server.process.wait()


def bench(args):
    """One run on one core, and rows a second on all: of one row, and of full batches."""
    names = [f"{value.name}={args.batch}x" + "x".join(str(dim.dim_value) for dim in value.type.tensor_type.shape.dim[1:])
             for value in onnx.load(args.model, load_external_data=False).graph.input]
    program = os.path.join(args.build, "cli", "lightnet")

    def least(threads, shapes):
        return json.loads(run([program, "bench", args.model, "--threads", str(threads), "--seconds", "2", "--json",
                               *(word for shape in shapes for word in ("--shape", shape))]))["min_ms"]
    single = least(1, [name.replace(f"={args.batch}x", "=1x", 1) for name in names])
    full = least(args.cores, names)
    return {"run_ms": single, "rows_per_second": args.batch / full * 1e3}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--rates", type=lambda text: [float(word) for word in text.split(",")])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    arrays, result = inputs_of(args.model), {"model": os.path.basename(args.model), "bench": bench(args)}
    with tempfile.TemporaryDirectory() as folder:
        ours = result["lightnet"] = measure(args, LightNet(args, folder, arrays), args.rates)
        result["node"] = measure(args, Node(args, folder, arrays), [row["offered"] for row in ours["rates"][:-1]])
    print(json.dumps(result, indent=1 if not args.json else None))


if __name__ == "__main__":
    main()
