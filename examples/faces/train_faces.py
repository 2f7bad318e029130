#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the face detector of this example on drawn images, writes faces.onnx, and measures it.

    train_faces.py              train (about five minutes), write faces.onnx
    train_faces.py --evaluate   precision and recall of faces.onnx on new images, run by LightNet
"""

import os
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "imaging"))
import draw_faces

MODEL = os.path.join(HERE, "faces.onnx")
TRAINING_SEED, EVALUATION_SEED = 1, 20261126
HEIGHT, WIDTH = 120, 160  # of the model's input
PATCH = 80  # height and width of the training images
STRIDE = 8  # pixels of a cell of the network's output
UNIT = 16  # pixels: distances from a cell to the sides of a box are predicted in this unit
# Added to the logit of "no face": at a score of 0.7, about as many faces are false as are missed.
CAUTION = 1.35

IMAGES, ROUNDS, BATCH, RATE = 5000, 3, 20, 4e-3


def cells(height, width):
    """The centres x and y of all cells, row by row: [n], [n]."""
    y, x = np.mgrid[STRIDE // 2 : height : STRIDE, STRIDE // 2 : width : STRIDE]
    return x.ravel().astype(np.float32), y.ravel().astype(np.float32)


def targets(boxes):
    """What to predict for each cell: class (1 face), its weight, distances to the sides [n, 4].

    Cells in the middle of a face predict it. Other cells of a face count as neither.
    """
    x, y = cells(PATCH, PATCH)
    labels, weights = np.zeros(len(x), np.int64), np.full(len(x), 0.5, np.float32)
    sides = np.zeros((len(x), 4), np.float32)
    for left, top, right, bottom in boxes:
        off_x = abs(x - (left + right) / 2) / max((right - left) / 2, STRIDE)
        off_y = abs(y - (top + bottom) / 2) / max((bottom - top) / 2, STRIDE)
        weights[(off_x < 0.8) & (off_y < 0.8)] = 0
        middle = (off_x <= 0.5) & (off_y <= 0.5)
        labels[middle], weights[middle] = 1, 1
        sides[middle] = (np.stack([x - left, y - top, right - x, bottom - y], 1) / UNIT)[middle]
    return labels, weights, sides


def loss_gradient(outputs, labels, weights, sides):
    """Mean loss per face cell and its gradient.

    outputs [n, cells, 6]: two logits, four distances.
    """
    n_faces = max(labels.sum(), 1)
    logits = outputs[..., :2] - outputs[..., :2].max(-1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    truth = np.eye(2, dtype=np.float32)[labels]
    off = (outputs[..., 2:] - sides) * labels[..., None]
    loss = -(log_p * truth).sum(-1) * weights
    of_logits = (np.exp(log_p) - truth) * weights[..., None]
    gradient = np.concatenate([of_logits, np.clip(off / 0.1, -1, 1)], -1)
    return (loss.sum() + abs(off).sum()) / n_faces, (gradient / n_faces).astype(np.float32)


def normalized(images):
    return (images.astype(np.float32) - 127) / 128


def varied(rng, images):
    """The images, some with exchanged colours."""
    images = images.copy()
    for image in images:
        if rng.random() < 0.3:
            image[:] = image[..., rng.permutation(3)]
    return images


def mirrored(boxes):
    return (boxes * [-1, 1, -1, 1] + [PATCH, 0, PATCH, 0])[:, [2, 1, 0, 3]]


def draw_patch(rng):
    return draw_faces.draw(rng, PATCH, PATCH, rng.integers(0, 4), rng.integers(0, 3))


def train():
    import convnet

    rng = np.random.default_rng(TRAINING_SEED)
    start = time.monotonic()
    drawn = [draw_patch(rng) for _ in range(IMAGES)]
    images = np.stack([image for image, _ in drawn])
    # Every other round shows the mirrored images.
    both = [
        (images, [targets(boxes) for _, boxes in drawn]),
        (images[:, :, ::-1], [targets(mirrored(boxes)) for _, boxes in drawn]),
    ]
    print(f"{IMAGES} images drawn, {time.monotonic() - start:.0f} s", flush=True)
    net = convnet.Convnet(rng, [3, 8, 16, 32, 32, 32, 32], pooled={1, 2, 3}, head=6, head_size=1)
    adam = convnet.Adam()
    n_batches = IMAGES // BATCH
    for done in range(ROUNDS):
        pixels, truth = both[done % 2]
        losses = []
        for i, batch in enumerate(np.array_split(rng.permutation(IMAGES), n_batches)):
            outputs = net.forward(normalized(varied(rng, pixels[batch])), training=True)
            wanted = [np.stack(parts) for parts in zip(*(truth[j] for j in batch))]
            loss, gradient = loss_gradient(outputs.reshape(len(batch), -1, 6), *wanted)
            rate = convnet.cosine(RATE, done * n_batches + i, ROUNDS * n_batches)
            net.train(adam, gradient.reshape(outputs.shape), rate)
            losses.append(loss)
        elapsed = time.monotonic() - start
        print(f"round {done + 1}/{ROUNDS}: loss {np.mean(losses):.3f}, {elapsed:.0f} s", flush=True)
    export(net)


def export(net):
    """Writes the network with the interface of UltraFace: scores and boxes, both per cell."""
    from convnet import helper, save_onnx

    nodes, weights = net.nodes("input", "head")
    weights[f"bias{len(net.layers) - 1}"] += np.float32([CAUTION, 0, 0, 0, 0, 0])
    x, y = cells(HEIGHT, WIDTH)
    n = len(x)
    scale = np.float32([-UNIT / WIDTH, -UNIT / HEIGHT, UNIT / WIDTH, UNIT / HEIGHT])
    centres = np.stack([x / WIDTH, y / HEIGHT] * 2, 1)[None]
    weights.update(unit=scale, centres=centres, shape=np.array([1, n, 6]), sizes=np.array([2, 4]))
    nodes += [
        helper.make_node("Transpose", ["head"], ["rows"], perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["rows", "shape"], ["cells"]),
        helper.make_node("Split", ["cells", "sizes"], ["logits", "sides"], axis=2),
        helper.make_node("Softmax", ["logits"], ["scores"], axis=2),
        helper.make_node("Mul", ["sides", "unit"], ["offsets"]),
        helper.make_node("Add", ["offsets", "centres"], ["boxes"]),
    ]
    outputs = {"scores": [1, n, 2], "boxes": [1, n, 4]}
    save_onnx(MODEL, nodes, weights, {"input": [1, 3, HEIGHT, WIDTH]}, outputs)


def overlap(box, others):
    """Intersection over union of a box with each of the others."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.maximum(sides, 0).prod(1)
    return common / ((box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(1) - common)


def evaluate(n_images=500):
    import imaging

    detector = imaging.Detector(MODEL)
    rng = np.random.default_rng(EVALUATION_SEED)
    found = right = there = 0
    for _ in range(n_images):
        n_faces, n_others = rng.integers(0, 6, 2)
        image, boxes = draw_faces.draw(rng, 180, 240, n_faces, n_others, scale=1.5)
        missing = list(boxes)
        faces = detector.find(image)
        for face in faces:
            match = overlap(np.array(face[:4]), np.array(missing)) if missing else np.zeros(1)
            if match.max() >= 0.5:
                right += 1
                missing.pop(match.argmax())
        found, there = found + len(faces), there + len(boxes)
    print(f"{n_images} images with {there} faces")
    print(f"precision {right / found:.1%}, recall {right / there:.1%}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--evaluate"]:
        evaluate()
    else:
        train()
