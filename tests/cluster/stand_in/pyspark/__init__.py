# SPDX-License-Identifier: Apache-2.0
"""Stands in for Spark, which Debian does not have: what examples/cluster/spark_batch.py calls, with its documented behaviour. Tasks
are processes that get the function pickled by cloudpickle, and frames of a few rows."""
