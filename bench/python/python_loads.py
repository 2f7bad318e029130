#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_loads.py PACKAGE [MODEL [N]]. Opens, runs and frees a model N times (default 10,000), and fits a line to the
resident memory: bytes for each load, after a tenth of them. It ends with 1 if the trend is 64 bytes or more for each load.

The default MODEL is a small one, y = |x|. A process takes memory from the system in steps, so a trend needs many loads.
"""
import gc
import os
import sys

sys.path[:0] = [sys.argv[1], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/onnx")]

import numpy as np

import lightnet
import onnx_writer as w

MOST = 64  # bytes for each load


def tiny():
    whole = w.graph([w.node("Abs", ["x"], ["y"])], [w.value("x", "float", [2, 3])], [w.value("y", "float", [2, 3])])
    return w.model(whole, opset=17)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def load_once(source):
    session = lightnet.InferenceSession(source, threads=1)
    feed = {i.name: np.zeros([n if isinstance(n, int) else 1 for n in i.shape], np.float32) for i in session.get_inputs()}
    session.run(None, feed)
    binding = session.io_binding()
    for name, value in feed.items():
        binding.bind_cpu_input(name, value)
    session.run_with_iobinding(binding)
    session.memory_plan(feed)


def main():
    source = sys.argv[2] if len(sys.argv) > 2 else tiny()
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 10000
    loads, bytes_ = [], []
    for i in range(n):
        load_once(source)
        if i >= n // 10 and i % max(1, n // 1000) == 0:
            gc.collect()
            loads.append(i)
            bytes_.append(resident())
    slope = np.polyfit(loads, bytes_, 1)[0]
    print(f"{n} loads: resident {bytes_[0] / 1e6:.2f} MB after a tenth, {bytes_[-1] / 1e6:.2f} MB at the end, "
          f"{slope:.1f} bytes for each load")
    sys.exit(int(slope >= MOST))


if __name__ == "__main__":
    main()
