#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: mpirun -n N python3 -m mpi4py mpi_batch.py MODEL LIST OUT. Each process runs the model for its part of the npy files of LIST, a
path in each line, and writes OUT/NAME_OUTPUT.npy. Started again, it runs what is missing.

A file that cannot be read or run is reported, and the others run; the exit status is then 1, once all processes are done. `-m mpi4py`
ends all of them if one raises another exception.
"""
import sys

import numpy as np
from mpi4py import MPI

import lightnet
from lightnet import batch


def main(model, paths, out):
    comm = MPI.COMM_WORLD
    rank = comm.rank
    # The first process opens the model, the others get its path and options. A compiled model is mapped: processes of a host
    # share its weights.
    options = {"map": True} if model.endswith(".safetensors") else {}
    session = lightnet.InferenceSession(model, threads=1, **options) if rank == 0 else None
    session = comm.bcast(session)
    name = session.get_inputs()[0].name
    jobs = batch.jobs(batch.read_list(paths), out, session.get_outputs()[0].name)
    mine = batch.part(jobs, rank, comm.size)
    missing = batch.pending(mine)
    failed = batch.run_jobs(missing, lambda path: session.run(None, {name: np.load(path)})[0])
    n, n_failed = comm.reduce(len(missing)), comm.reduce(len(failed))
    MPI.Finalize()  # all processes are done: a status that is not 0 aborts no other
    if rank == 0:
        print(f"{n - n_failed} files, {len(jobs) - n} were done", flush=True)
        if n_failed:
            sys.exit(f"error: {n_failed} of {len(jobs)} files failed")


if __name__ == "__main__":
    main(*sys.argv[1:])
