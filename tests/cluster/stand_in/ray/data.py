# SPDX-License-Identifier: Apache-2.0
"""Dataset. Tables are csv files with pixels as JSON here, not Parquet, which needs a package of its own."""
import json
import os

import numpy as np
import pandas as pd
from processes import map_in_processes


def _run_worker(call, batches):
    kind, arguments = call
    worker = kind(*arguments)
    return [worker(batch) for batch in batches]


class Dataset:
    def __init__(self, columns):
        self._columns = columns

    def map_batches(self, fn, *, batch_size, fn_constructor_args=(), concurrency=1, num_cpus=1):
        n = len(next(iter(self._columns.values())))
        batches = [{name: values[i:i + batch_size] for name, values in self._columns.items()} for i in range(0, n, batch_size)]
        parts = [batches[i::concurrency] for i in range(concurrency)]
        made = [batch for part in map_in_processes(_run_worker, (fn, fn_constructor_args), parts) for batch in part]
        return Dataset({name: np.concatenate([batch[name] for batch in made]) for name in made[0]})

    def write_parquet(self, path):
        os.makedirs(path, exist_ok=True)
        pd.DataFrame(self._columns).to_csv(os.path.join(path, "0.csv"), index=False)


def read_parquet(path):
    table = pd.read_csv(path, converters={"pixels": json.loads})
    return Dataset({name: np.array(table[name].tolist()) for name in table})
