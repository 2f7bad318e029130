#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: classifier.py MODEL LABELS IMAGE... Prints the best three labels of each image."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "imaging"))
import numpy as np

import lightnet
import imaging


def main(model, labels, *images):
    session = lightnet.InferenceSession(model)
    info = session.get_inputs()[0]
    if info.shape[:2] != [1, 3] or len(info.shape) != 4:
        raise ValueError(f"{model}: expected an input [1, 3, H, W], got {info.shape}")
    with open(labels, encoding="utf-8") as file:
        names = file.read().splitlines()
    for path in images:
        samples = imaging.resized(imaging.read(path), *info.shape[2:])  # as they are, 0 to 255
        feed = {info.name: np.ascontiguousarray(samples.transpose(2, 0, 1)[None])}
        probs = session.run(None, feed)[0].ravel()
        if len(probs) != len(names):
            raise ValueError(f"the model has {len(probs)} outputs, LABELS has {len(names)} lines")
        best = np.argsort(-probs, kind="stable")[:3]
        print(f"{path}:", ", ".join(f"{names[i]} {probs[i]:.3f}" for i in best))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: classifier.py MODEL LABELS IMAGE...")
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, lightnet.Error) as error:
        sys.exit(f"classifier.py: {error}")
