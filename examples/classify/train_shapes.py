#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the classifier of this example on drawn shapes, writes ten_shapes.onnx, and measures it.

    train_shapes.py              train (about three minutes), write ten_shapes.onnx
    train_shapes.py --evaluate   accuracy of ten_shapes.onnx on new images, run by LightNet
    train_shapes.py --samples    write the sample images
"""

import os
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "imaging"))
from paint import background, blend, colour, photograph, write_ppm

MODEL = os.path.join(HERE, "ten_shapes.onnx")
LABELS = os.path.join(HERE, "shapes.txt")
TRAINING_SEED, EVALUATION_SEED, SAMPLES_SEED = 1, 2, 6
SIDE = 64

IMAGES, ROUNDS, BATCH, RATE = 12000, 4, 32, 4e-3


def polygon(x, y, n):
    """Inside a regular polygon whose corners have the distance 1 from the centre."""
    angles = np.arange(n) * 2 * np.pi / n
    sides = [x * np.cos(angle) + y * np.sin(angle) for angle in angles]
    return np.max(sides, 0) < np.cos(np.pi / n)


def star(x, y):
    """Five triangles around a pentagon: inside four of the five lines through its sides."""
    angles = np.arange(5) * 2 * np.pi / 5
    lines = [x * np.cos(angle) + y * np.sin(angle) < 0.31 for angle in angles]
    return np.sum(lines, 0) >= 4


def arrow(x, y):
    return ((abs(y) < 0.2) & (x > -0.9) & (x < 0.2)) | ((x >= 0.1) & (abs(y) < (0.9 - x) * 0.9))


# In the order of the outputs: whether a point of -1 to 1 is inside.
SHAPES = {
    "arrow": arrow,
    "circle": lambda x, y: x * x + y * y < 0.81,
    "crescent": lambda x, y: (x * x + y * y < 0.9) & ((x - 0.45) ** 2 + y * y > 0.5),
    "cross": lambda x, y: (np.minimum(abs(x), abs(y)) < 0.27) & (np.maximum(abs(x), abs(y)) < 0.9),
    "heart": lambda x, y: (1.5 * x * x + 1.5 * y * y - 1) ** 3 + 2.7 * x * x * y**3 < 0,
    "pentagon": lambda x, y: polygon(x, y, 5),
    "ring": lambda x, y: (x * x + y * y < 0.9) & (x * x + y * y > 0.3),
    "square": lambda x, y: polygon(x, y, 4),
    "star": star,
    "triangle": lambda x, y: polygon(x, y, 3),
}


def cover(rng, inside):
    """Coverage of each pixel by a shape of random size, place, rotation and proportion."""
    at = (np.arange(2 * SIDE, dtype=np.float32) + 0.5) / 2 - SIDE / 2
    x, y = at[None, :] - rng.uniform(-8, 8), at[:, None] - rng.uniform(-8, 8)
    angle, size = rng.uniform(0, 2 * np.pi), rng.uniform(18, 28)
    u, v = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    points = inside(u / size, v / (size * rng.uniform(0.85, 1.15)))  # four of each pixel
    return points.reshape(SIDE, 2, SIDE, 2).mean((1, 3), dtype=np.float32)


def draw(rng, label):
    """An image [64, 64, 3] uint8 of the shape of that index."""
    image = background(rng, SIDE, SIDE, rough=0.5)
    paint = colour(rng)
    while abs(paint - image.mean((0, 1))).max() < 0.5:
        paint = colour(rng)
    blend(image, cover(rng, list(SHAPES.values())[label]), paint)
    return photograph(rng, image)


def loss_gradient(logits, labels):
    """Mean cross entropy, and its gradient."""
    logits = logits - logits.max(1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    truth = np.eye(len(SHAPES), dtype=np.float32)[labels]
    return -(log_p * truth).sum(1).mean(), (np.exp(log_p) - truth) / np.float32(len(labels))


def train():
    import convnet

    rng = np.random.default_rng(TRAINING_SEED)
    start = time.monotonic()
    labels = rng.integers(0, len(SHAPES), IMAGES)
    images = np.stack([draw(rng, label) for label in labels])
    print(f"{IMAGES} images drawn, {time.monotonic() - start:.0f} s", flush=True)
    channels = [3, 8, 16, 32, 32]
    net = convnet.Convnet(rng, channels, pooled={1, 2, 3, 4}, head=len(SHAPES), head_size=4)
    adam = convnet.Adam()
    n_batches = IMAGES // BATCH
    for done in range(ROUNDS):
        losses = []
        images = np.rot90(images, axes=(1, 2))
        for i, batch in enumerate(np.array_split(rng.permutation(IMAGES), n_batches)):
            pixels = images[batch][..., rng.permutation(3)] / np.float32(255)
            outputs = net.forward(pixels, training=True)
            loss, gradient = loss_gradient(outputs.reshape(len(batch), -1), labels[batch])
            rate = convnet.cosine(RATE, done * n_batches + i, ROUNDS * n_batches)
            net.train(adam, gradient.reshape(outputs.shape), rate)
            losses.append(loss)
        elapsed = time.monotonic() - start
        print(f"round {done + 1}/{ROUNDS}: loss {np.mean(losses):.3f}, {elapsed:.0f} s", flush=True)
    export(net)


def export(net):
    from convnet import helper, save_onnx

    nodes, weights = net.nodes("image", "head", input_scale=1 / 255)
    weights["shape"] = np.array([1, len(SHAPES)])
    nodes += [
        helper.make_node("Reshape", ["head", "shape"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["probabilities"], axis=1),
    ]
    outputs = {"probabilities": [1, len(SHAPES)]}
    save_onnx(MODEL, nodes, weights, {"image": [1, 3, SIDE, SIDE]}, outputs)
    with open(LABELS, "w", encoding="utf-8") as file:
        file.write("\n".join(SHAPES) + "\n")


def evaluate(n_images=2000):
    import lightnet

    session = lightnet.InferenceSession(MODEL)
    rng = np.random.default_rng(EVALUATION_SEED)
    right = 0
    for i in range(n_images):
        image = draw(rng, i % len(SHAPES)).transpose(2, 0, 1)[None].astype(np.float32)
        probabilities, = session.run(None, {"image": image})
        right += probabilities.argmax() == i % len(SHAPES)
    print(f"{n_images} images: {right / n_images:.1%} correct")


def write_samples():
    rng = np.random.default_rng(SAMPLES_SEED)
    for name in ("heart", "star", "arrow"):
        with open(os.path.join(HERE, name + ".ppm"), "wb") as file:
            write_ppm(file, draw(rng, list(SHAPES).index(name)))


if __name__ == "__main__":
    {"--evaluate": evaluate, "--samples": write_samples}.get(" ".join(sys.argv[1:]), train)()
