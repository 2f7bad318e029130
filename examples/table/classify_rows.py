#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: classify_rows.py MODEL TABLE. Predicts which failure the machine of each row will have; TABLE is CSV with named columns."""
import csv
import sys

import lightnet
import numpy as np

TYPES, FAILURES = ["A", "B", "C"], ["none", "heat", "overload", "wear"]


def numbers(rows, *columns):
    return np.array([[float(row[column]) for column in columns] for row in rows], np.float32)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model, table = sys.argv[1:]
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    session = lightnet.InferenceSession(model, threads=1)
    probabilities, = session.run(["probabilities"], {
        "operating": numbers(rows, "speed", "torque", "temperature"),
        "age": numbers(rows, "hours", "service"),
        "type": np.array([TYPES.index(row["type"]) for row in rows], np.int64)})
    for row, probs in zip(rows, probabilities):
        best = probs.argmax()
        print(f"{row['machine']:<8} {FAILURES[best]:<8} {probs[best]:.2f}")
    right = sum(FAILURES[probs.argmax()] == row["failure"] for row, probs in zip(rows, probabilities))
    print(f"{right} of {len(rows)} rows as in column 'failure'")


if __name__ == "__main__":
    main()
