# SPDX-License-Identifier: Apache-2.0
"""Stands in for Ray, which Debian does not have: what examples/cluster/ray_batch.py calls, with its documented behaviour. Workers are
processes that get the class and its arguments pickled by cloudpickle, and batches as dicts of arrays."""
from . import data
