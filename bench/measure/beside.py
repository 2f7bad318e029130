# SPDX-License-Identifier: Apache-2.0
"""A model's outputs and times by LightNet beside those by ONNX Runtime: same machine, same inputs, in turns.

Needs numpy, node, and the npm package onnxruntime-node where NODE_PATH or ~/.cache/lightnet-bench/node_modules has it.
"""
import json
import math
import os
import subprocess
import sys

import numpy as np

ORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ort.js")
os.environ.setdefault("NODE_PATH", os.path.expanduser("~/.cache/lightnet-bench/node_modules"))


def run(command, **variables):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables})
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def relative_error(theirs, ours):
    """The max difference relative to the max finite element. NaN and infinities are equal to themselves alone."""
    same = (theirs == ours) | (np.isnan(theirs) & np.isnan(ours)) if theirs.dtype.kind == "f" else theirs == ours
    finite = np.abs(theirs[np.isfinite(theirs)]) if theirs.dtype.kind == "f" else np.abs(theirs)
    difference = np.abs(np.where(same, 0, theirs) - np.where(same, 0, ours)).max(initial=0)
    return float(difference / (finite.max(initial=0) + 1e-30))


class Measuring:
    """A model with its inputs in order, which go to files in a folder. `isa` limits the instruction set of LightNet."""

    def __init__(self, lightnet, folder, path, inputs, isa=None):
        self.command, self.folder, self.path = lightnet, folder, path
        self.variables = {"LIGHTNET_MAX_ISA": isa} if isa else {}
        self.inputs = [os.path.join(folder, f"in{k}.npy") for k in range(len(inputs))]
        for file, array in zip(self.inputs, inputs):
            np.save(file, array)

    def lightnet(self, threads, command, *options):
        given = [text for file in self.inputs for text in ("-i", file)]
        return run([self.command, command, self.path, *given, "--threads", str(threads), *options], **self.variables)

    def bench(self, threads, seconds, *options):
        """What `lightnet bench --json` prints."""
        return json.loads(self.lightnet(threads, "bench", "--seconds", str(seconds), "--json", *options))

    def ort(self, threads, mode, argument):
        return run(["node", ORT, mode, self.path, str(threads), argument, *self.inputs])

    def error(self, threads):
        """The max difference of any output, relative to its max element; infinite if shapes differ or a result is not finite."""
        self.ort(threads, "run", os.path.join(self.folder, "ort"))
        self.lightnet(threads, "run", "-O", self.folder)
        max_error, k = 0.0, 0
        while os.path.exists(os.path.join(self.folder, f"ort{k}.npy")):
            theirs, ours = (np.load(os.path.join(self.folder, f"{who}{k}.npy")) for who in ("ort", "output_"))
            if ours.dtype == np.bool_:
                theirs, ours = theirs.astype(np.int8), ours.astype(np.int8)
            if theirs.shape != ours.shape:
                return math.inf
            error = relative_error(theirs, ours)
            if not math.isfinite(error):
                return math.inf
            max_error = max(max_error, error)
            k += 1
        if not k:
            sys.exit(f"{self.path}: ONNX Runtime has no outputs")
        return max_error

    def times(self, threads, rounds, seconds, with_ort=True):
        """The least ms of all rounds: LightNet's, ONNX Runtime's."""
        ours, theirs = math.inf, math.inf
        for _ in range(rounds):
            ours = min(ours, self.bench(threads, seconds)["min_ms"])
            if with_ort:
                theirs = min(theirs, json.loads(self.ort(threads, "time", str(seconds)))["min_ms"])
        return ours, theirs
