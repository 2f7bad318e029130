#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: mpirun -n N python3 mpi_batch.py MODEL LIST OUT. Each process runs the model for its part of the npy files of LIST, a path
in each line, and writes OUT/NAME_OUTPUT.npy. Started again, it runs what is missing.
"""
import sys

import numpy as np
from mpi4py import MPI

import lightnet
from lightnet import batch


def main(model, paths, out):
    comm = MPI.COMM_WORLD
    # The first process opens the model, the others get its path and options. A compiled model is mapped: processes of a host
    # share its weights.
    options = {"map": True} if model.endswith(".safetensors") else {}
    session = lightnet.InferenceSession(model, threads=1, **options) if comm.rank == 0 else None
    session = comm.bcast(session)
    name = session.get_inputs()[0].name
    with open(paths, encoding="utf-8") as file:
        jobs = batch.jobs(file.read().splitlines(), out, session.get_outputs()[0].name)
    mine = batch.part(jobs, comm.rank, comm.size)
    missing = batch.pending(mine)
    for path, file in missing:
        batch.save(file, session.run(None, {name: np.load(path)})[0])
    n = comm.reduce(len(missing))
    if comm.rank == 0:
        print(f"{n} files, {len(jobs) - n} were done")


if __name__ == "__main__":
    main(*sys.argv[1:])
