#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_call.py PACKAGE [LN_SESSION_BENCH]. The cost of one call of session.run, beside the C API.

The model is y = relu(x) of 16 elements, so the time is that of the call. PACKAGE is the folder of the package, such as
build/python; LN_SESSION_BENCH is build/bench/ln_session_bench, which does the same calls in C. Rows are the best of several
rounds: microseconds of a call, and of one thread of 8 that call at the same time, each with its own session in C.
"""
import json
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])

import numpy as np

import lightnet

THREADS, CALLS, ROUNDS = 8, 2000, 30


def operator(name, optype, inputs, output, **params):
    return {"name": name, "optype": optype, "tensors_in": [{"arg_name": "src", "name": i} for i in inputs],
            "tensors_out": [{"arg_name": "dst", "name": output}],
            "params": [{"arg_name": key, "value": value} for key, value in params.items()]}


def model():
    ops = [operator("make_x", "create", [], "x", dtype="TL_FLOAT", dims=[16], ran=[0, 0], data=[0], from_file=False),
           operator("make_y", "relu", ["x"], "y")]
    return json.dumps({"inputs": ["x"], "outputs": ["y"], "ops": ops}).encode()


def best(call):
    """Microseconds of a call."""
    least = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        least = min(least, time.perf_counter() - start)
    return least / CALLS * 1e6


def best_of_threads(call):
    """Microseconds of a call of each of THREADS threads."""
    least = float("inf")
    for _ in range(5):
        gate, times = threading.Barrier(THREADS), []
        def work():
            gate.wait()
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            times.append(time.perf_counter() - start)
        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        least = min(least, max(times))
    return least / CALLS * 1e6


def in_c(program, threads):
    output = subprocess.run([program, "call", str(threads)], check=True, capture_output=True, text=True).stdout
    return json.loads(output)["call_us"]


def main():
    session = lightnet.InferenceSession(model(), threads=1)
    x = np.arange(-8, 8, dtype=np.float32)
    feed, out = {"x": x}, np.empty(16, np.float32)
    assert session.run(None, feed)[0].tolist() == np.maximum(x, 0).tolist()
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_ortvalue_output("y", lightnet.OrtValue.ortvalue_from_numpy(out))
    bound = binding._session
    rows = [("run", best(lambda: session.run(None, feed))),
            ("run_with_iobinding", best(lambda: session.run_with_iobinding(binding))),
            ("the extension alone, bound", best(bound.run_bound)),
            (f"run, {THREADS} threads", best_of_threads(lambda: session.run(None, feed)))]
    os.environ["LIGHTNET_NUM_THREADS"] = "1"
    for threads in (1, THREADS) if len(sys.argv) > 2 else ():
        rows.append((f"C, {threads} thread{'s' * (threads > 1)}", in_c(sys.argv[2], threads)))
    for name, us in rows:
        print(f"{name:28} {us:8.2f} us")


if __name__ == "__main__":
    main()
