#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: dask_batch.py MODEL LIST OUT [SCHEDULER]. Runs the model on the workers of a Dask cluster, for each npy file of LIST, a path
in each line, and writes OUT/NAME_OUTPUT.npy. Started again, it runs what is missing.

A file that cannot be read or run is reported, and the others run; the exit status is then 1.

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
    """On a worker, maybe after another one that died: what that one has saved is not run again. Returns those that failed."""
    name = session.get_inputs()[0].name
    return batch.run_jobs(batch.pending(jobs), lambda path: session.run(None, {name: np.load(path)})[0])


def report(task, jobs):
    """Prints the files that failed, and returns how many. A task fails as a whole where several workers have died of it."""
    if task.status == "finished":
        for path, reason in task.result():
            print(f"error: {path}: {reason}", file=sys.stderr, flush=True)
        return len(task.result())
    n = len(batch.pending(jobs))
    print(f"error: {n} of the {len(jobs)} files from {jobs[0][0]} to {jobs[-1][0]}: {task.exception()!r}", file=sys.stderr, flush=True)
    return n


def main(model, paths, out, scheduler=None):
    # A compiled model is mapped: the workers of a host share its weights.
    options = {"map": True} if model.endswith(".safetensors") else {}
    session = lightnet.InferenceSession(model, threads=1, **options)
    jobs = batch.jobs(batch.read_list(paths), out, session.get_outputs()[0].name)
    missing = batch.pending(jobs)
    chunks = [missing[i:i + AT_A_TIME] for i in range(0, len(missing), AT_A_TIME)]
    where = {"address": scheduler} if scheduler else {"n_workers": len(os.sched_getaffinity(0)), "threads_per_worker": 1}
    with Client(**where) as client:
        # One session for each worker: it is pickled by its path and options, and opened there once.
        everywhere = client.scatter(session, broadcast=True)
        tasks = dict(zip(client.map(run_jobs, [everywhere] * len(chunks), chunks, pure=False), chunks))
        n_failed = sum(report(task, tasks[task]) for task in as_completed(tasks))
    print(f"{len(missing) - n_failed} files, {len(jobs) - len(missing)} were done", flush=True)
    if n_failed:
        sys.exit(f"error: {n_failed} of {len(jobs)} files failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
