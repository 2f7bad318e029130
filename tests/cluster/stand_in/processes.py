# SPDX-License-Identifier: Apache-2.0
"""Tasks in processes that get their function as bytes, as engines for batches send it to other hosts."""
import pickle
import subprocess
import sys

import cloudpickle

RUN = "import pickle, sys; work, *arguments = pickle.load(sys.stdin.buffer); pickle.dump(work(*arguments), sys.stdout.buffer)"


def map_in_processes(work, function, parts):
    """[work(function, part)], each in a new process."""
    results = []
    for part in parts:
        done = subprocess.run([sys.executable, "-c", RUN], input=cloudpickle.dumps((work, function, part)), stdout=subprocess.PIPE, check=True,
                              timeout=120)
        results.append(pickle.loads(done.stdout))
    return results
