#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: ray_batch.py MODEL IN.parquet OUT. Adds the best class and its score to each row of a table: columns `path` and `pixels`, a
list of floats with the elements of the model's input, whose axis 0 is 1 or open. Open batches have up to 32 rows.
"""
import os
import sys

import numpy as np

import lightnet
from lightnet import batch


class BestClasses:
    """A worker of map_batches: Ray pickles the session, which each worker opens once, by its path and options."""

    def __init__(self, session):
        self.session = session

    def __call__(self, table):
        rows = batch.run_rows(self.session, table["pixels"])
        return {"path": table["path"], "label": np.array([row.argmax() for row in rows]), "score": np.array([row.max() for row in rows])}


def main(model, source, target):
    import ray
    session = lightnet.InferenceSession(os.path.abspath(model), threads=1)
    table = ray.data.read_parquet(source)
    table.map_batches(BestClasses, fn_constructor_args=(session,), batch_size=256, concurrency=2, num_cpus=1).write_parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
