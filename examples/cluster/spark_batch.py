#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: spark_batch.py MODEL IN.parquet OUT.parquet. Adds the best class and its score to each row of a table: columns `path` and
`pixels`, a list of floats with the elements of the model's input, whose axis 0 is 1 or open. Open batches have up to 32 rows.
"""
import sys

import lightnet
from lightnet import batch


def best_classes(session):
    """A function for mapInPandas: Spark pickles it with the session, which each task opens by its path and options."""
    def run(frames):
        for frame in frames:  # some thousand rows at a time
            rows = batch.run_rows(session, frame["pixels"])
            yield frame[["path"]].assign(label=[int(row.argmax()) for row in rows], score=[float(row.max()) for row in rows])
    return run


def main(model, source, target):
    from pyspark.sql import SparkSession
    session = lightnet.InferenceSession(model, threads=1)
    spark = SparkSession.builder.appName("lightnet").getOrCreate()
    table = spark.read.parquet(source)
    table.mapInPandas(best_classes(session), "path string, label long, score double").write.mode("overwrite").parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
