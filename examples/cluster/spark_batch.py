#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: spark_batch.py MODEL IN.parquet OUT.parquet. Adds the best class and its score to each row of a table: columns `path` and
`pixels`, a list of floats with the elements of the model's input.
"""
import sys

import numpy as np

import lightnet


def best_classes(session):
    """A function for mapInPandas: Spark pickles it with the session, which each task opens by its path and options."""
    port = session.get_inputs()[0]

    def run(frames):
        for frame in frames:  # some thousand rows at a time
            rows = [session.run(None, {port.name: np.float32(pixels).reshape(port.shape)})[0][0] for pixels in frame["pixels"]]
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
