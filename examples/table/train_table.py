#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the classifier of this example on rows of a made-up table, and measures it: NumPy only.

usage: train_table.py [--evaluate]     trains, writes machines.onnx and machines.csv, measures; --evaluate: only measures, with LightNet
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "common"))

import numpy as np

import training
from onnx_writer import node

MODEL, SAMPLE = os.path.join(HERE, "machines.onnx"), os.path.join(HERE, "machines.csv")
TYPES, FAILURES = ["A", "B", "C"], ["none", "heat", "overload", "wear"]

TRAINING_SEED, HELD_OUT_SEED, SAMPLE_SEED = 1, 2, 13
ROWS, HELD_OUT_ROWS, SAMPLE_ROWS = 40000, 10000, 12
HIDDEN, STEPS, BATCH, RATE = 24, 6000, 256, 1e-2


def machines(rng, n):
    """The three inputs of the model, and which failure each machine has within a month."""
    kind = rng.integers(0, 3, n)
    speed = rng.normal(np.array([1500, 1800, 2200])[kind], 200)  # in 1/min
    torque = rng.gamma(20, np.array([2.0, 2.4, 1.9])[kind])  # in Nm
    temperature = rng.normal(22, 7, n)  # of the air, in degrees Celsius
    hours = rng.gamma(2, 4000, n)
    service = np.minimum(hours, rng.exponential(700, n))  # hours since the last one
    power = speed * torque * 2 * np.pi / 60000  # in kW
    # How far each limit is exceeded; what is not in the table (load peaks, dust ..) is noise.
    excess = np.stack([np.full(n, 0.0),
                       (temperature + 4.5 * power - np.array([62, 72, 74])[kind]) / 10,
                       (torque - np.array([50, 59, 47])[kind]) / 6,
                       (service * torque / 40 + 0.03 * hours - 1500) / 350], 1)
    excess[:, 1:] += rng.normal(0, 0.3, (n, 3))
    operating = np.stack([speed, torque, temperature], 1).round(1).astype(np.float32)
    return operating, np.stack([hours, service], 1).round().astype(np.float32), kind, excess.argmax(1)


class Network:
    """Normalized numbers and a vector for each type -> two dense layers -> logits."""

    def __init__(self, rng, operating, age):
        self.mean = [operating.mean(0), age.mean(0)]
        self.deviation = [operating.std(0), age.std(0)]

        def normal(*dims):
            return (rng.normal(size=dims) / np.sqrt(dims[0])).astype(np.float32)
        self.params = {"types": normal(3, 3), "w1": normal(8, HIDDEN), "b1": np.zeros(HIDDEN, np.float32),
                       "w2": normal(HIDDEN, HIDDEN), "b2": np.zeros(HIDDEN, np.float32),
                       "w3": normal(HIDDEN, 4), "b3": np.zeros(4, np.float32)}

    def step(self, adam, operating, age, kind, failure, rate):
        """One step of training; returns the share of rows that were right before it."""
        p, n = self.params, len(kind)
        numbers = [(x - mean) / deviation for x, mean, deviation in zip((operating, age), self.mean, self.deviation)]
        x = np.concatenate(numbers + [p["types"][kind]], 1)
        h1 = np.maximum(x @ p["w1"] + p["b1"], 0)
        h2 = np.maximum(h1 @ p["w2"] + p["b2"], 0)
        logits = h2 @ p["w3"] + p["b3"]
        probs = np.exp(logits - logits.max(1, keepdims=True))
        probs /= probs.sum(1, keepdims=True)
        d3 = (probs - np.eye(4, dtype=np.float32)[failure]) / n
        d2 = d3 @ p["w3"].T * (h2 > 0)
        d1 = d2 @ p["w2"].T * (h1 > 0)
        d_types = np.eye(3, dtype=np.float32)[kind].T @ (d1 @ p["w1"].T)[:, 5:]
        adam.step({"types": d_types, "w1": x.T @ d1, "b1": d1.sum(0), "w2": h1.T @ d2, "b2": d2.sum(0),
                   "w3": h2.T @ d3, "b3": d3.sum(0)}, rate)
        return (logits.argmax(1) == failure).mean()


def train():
    rng = np.random.default_rng(TRAINING_SEED)
    rows = machines(rng, ROWS)
    net = Network(rng, *rows[:2])
    adam = training.Adam(net.params)
    right = []
    for step in range(STEPS):
        batch = rng.integers(0, ROWS, BATCH)
        right.append(net.step(adam, *(column[batch] for column in rows), RATE * training.cosine(step, STEPS)))
        if step % 1000 == 999:
            print(f"step {step + 1}: {np.mean(right[-1000:]):.3f} of the rows are right", flush=True)
    return net


def write_model(net):
    """ONNX: an input for each group of columns; the normalization is part of the model."""
    constants = dict(net.params, operating_mean=net.mean[0], operating_deviation=net.deviation[0],
                     age_mean=net.mean[1], age_deviation=net.deviation[1])
    nodes = [
        node("Sub", ["operating", "operating_mean"], ["operating_centred"]),
        node("Div", ["operating_centred", "operating_deviation"], ["operating_scaled"]),
        node("Sub", ["age", "age_mean"], ["age_centred"]),
        node("Div", ["age_centred", "age_deviation"], ["age_scaled"]),
        node("Gather", ["types", "type"], ["type_vector"]),
        node("Concat", ["operating_scaled", "age_scaled", "type_vector"], ["features"], axis=1),
        node("Gemm", ["features", "w1", "b1"], ["dense1"]),
        node("Relu", ["dense1"], ["hidden1"]),
        node("Gemm", ["hidden1", "w2", "b2"], ["dense2"]),
        node("Relu", ["dense2"], ["hidden2"]),
        node("Gemm", ["hidden2", "w3", "b3"], ["logits"]),
        node("Softmax", ["logits"], ["probabilities"], axis=1)]
    training.write_model(MODEL, nodes, [("operating", "float", ["rows", 3]), ("age", "float", ["rows", 2]), ("type", "int64", ["rows"])],
                         [("probabilities", "float", ["rows", 4])], constants)


def write_sample():
    """Rows that training never saw, with columns in another order than the model's, and one more."""
    operating, age, kind, failure = machines(np.random.default_rng(SAMPLE_SEED), SAMPLE_ROWS)
    with open(SAMPLE, "w", encoding="utf-8") as file:
        file.write("machine,type,hours,service,temperature,speed,torque,failure\n")
        for i in range(SAMPLE_ROWS):
            speed, torque, temperature = operating[i]
            file.write(f"m{i + 1:02},{TYPES[kind[i]]},{age[i, 0]:.0f},{age[i, 1]:.0f},{temperature:.1f},{speed:.1f},{torque:.1f},"
                       f"{FAILURES[failure[i]]}\n")


def evaluate():
    """The accuracy on rows that training never saw, as LightNet computes it."""
    import lightnet
    operating, age, kind, failure = machines(np.random.default_rng(HELD_OUT_SEED), HELD_OUT_ROWS)
    session = lightnet.InferenceSession(MODEL, threads=1)
    probabilities, = session.run(None, {"operating": operating, "age": age, "type": kind})
    right = probabilities.argmax(1) == failure
    each = ", ".join(f"{name} {right[failure == i].mean():.0%}" for i, name in enumerate(FAILURES))
    print(f"{right.mean():.1%} of {len(right)} rows are right; {each}; 'none' would be right for {(failure == 0).mean():.1%}")


def main():
    if sys.argv[1:] != ["--evaluate"]:
        write_model(train())
        write_sample()
    evaluate()


if __name__ == "__main__":
    main()
