#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: dask_batch.py MODEL LIST OUT [SCHEDULER]. Runs the model on the workers of a Dask cluster, for each npy file of LIST, a path
in each line, and writes OUT/NAME_OUTPUT.npy. Started again, it runs what is missing.

SCHEDULER: its address, such as tcp://host:8786; without it, workers on this machine, one for each core. Model, files and OUT are in
folders that all hosts share.
"""
import os
import sys

import numpy as np
from distributed import Client, as_completed

import lightnet
from lightnet import batch

AT_A_TIME = 50  # files of a task: a few hundred milliseconds


def run_jobs(session, jobs):
    """On a worker, maybe after another one that died: what that one has saved is not run again."""
    name = session.get_inputs()[0].name
    for path, file in batch.pending(jobs):
        batch.save(file, session.run(None, {name: np.load(path)})[0])
    return len(jobs)


def main(model, paths, out, scheduler=None):
    # A compiled model is mapped: the workers of a host share its weights.
    options = {"map": True} if model.endswith(".safetensors") else {}
    session = lightnet.InferenceSession(model, threads=1, **options)
    with open(paths, encoding="utf-8") as file:
        jobs = batch.jobs(file.read().splitlines(), out, session.get_outputs()[0].name)
    missing = batch.pending(jobs)
    chunks = [missing[i:i + AT_A_TIME] for i in range(0, len(missing), AT_A_TIME)]
    where = {"address": scheduler} if scheduler else {"n_workers": len(os.sched_getaffinity(0)), "threads_per_worker": 1}
    with Client(**where) as client:
        # One session for each worker: it is pickled by its path and options, and opened there once.
        everywhere = client.scatter(session, broadcast=True)
        tasks = client.map(run_jobs, [everywhere] * len(chunks), chunks, pure=False)
        n = sum(result for _, result in as_completed(tasks, with_results=True))
    print(f"{n} files, {len(jobs) - len(missing)} were done")


if __name__ == "__main__":
    main(*sys.argv[1:])
