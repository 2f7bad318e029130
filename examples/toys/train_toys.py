#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the detector of toys on rendered images, writes toys.onnx, and measures it."""

import argparse
import os
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "imaging"))
import scene

MODEL = os.path.join(HERE, "toys.onnx")
TRAINING_SEED, EVALUATION_SEED = 1, 20261130
HEIGHT, WIDTH = 160, 240  # of the model's input
PATCH = 96, 144  # height and width of the parts that it is trained on
STRIDE = 8  # pixels of a cell of the network's output
UNIT = 16  # pixels: distances from a cell to the sides of a box are predicted in this unit
CLASSES = 1 + len(scene.NAMES)  # 0: nothing
SCORE, OVERLAP = 0.8, 0.3  # of detections that count

IMAGES, ROUNDS, BATCH, RATE = 2200, 14, 16, 4e-3


def cells(height, width):
    """The centers x and y of all cells, row by row: [n], [n]."""
    y, x = np.mgrid[STRIDE // 2:height:STRIDE, STRIDE // 2:width:STRIDE]
    return x.ravel().astype(np.float32), y.ravel().astype(np.float32)


def targets(kinds, boxes):
    """What to predict for each cell: class, its weight, distances to the sides [n, 4].

    Cells in the middle of a toy predict it, of the smallest one if there are several. Other cells of a toy count as neither.
    """
    x, y = cells(*PATCH)
    labels, weights = np.zeros(len(x), np.int64), np.full(len(x), 0.5, np.float32)
    sides = np.zeros((len(x), 4), np.float32)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    for i in np.argsort(-area):
        left, top, right, bottom = boxes[i]
        off_x = abs(x - (left + right) / 2) / max((right - left) / 2, STRIDE)
        off_y = abs(y - (top + bottom) / 2) / max((bottom - top) / 2, STRIDE)
        weights[(off_x < 0.85) & (off_y < 0.85) & (labels == 0)] = 0
        middle = (off_x <= 0.3) & (off_y <= 0.3)
        labels[middle], weights[middle] = 1 + kinds[i], 1
        sides[middle] = (np.stack([x - left, y - top, right - x, bottom - y], 1) / UNIT)[middle]
    return labels, weights, sides


def loss_gradient(outputs, labels, weights, sides):
    """Mean loss per cell of a toy, and its gradient. outputs [n, cells, CLASSES + 4]: logits, distances."""
    n_toys = max((labels > 0).sum(), 1)
    logits = outputs[..., :CLASSES] - outputs[..., :CLASSES].max(-1, keepdims=True)
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    truth = np.eye(CLASSES, dtype=np.float32)[labels]
    off = (outputs[..., CLASSES:] - sides) * (labels > 0)[..., None]
    loss = -(log_p * truth).sum(-1) * weights
    of_logits = (np.exp(log_p) - truth) * weights[..., None]
    gradient = np.concatenate([of_logits, np.clip(off / 0.1, -1, 1)], -1)
    return (loss.sum() + abs(off).sum()) / n_toys, (gradient / n_toys).astype(np.float32)


def normalized(images):
    return (images.astype(np.float32) - 127) / 128


def draw(seed):
    """An image, and its toys."""
    rng = np.random.default_rng(seed)
    made = scene.Scene(rng, int(rng.integers(1, 9)))
    kinds, boxes = made.boxes(HEIGHT, WIDTH, 40)
    return made.render(HEIGHT, WIDTH, int(rng.integers(1, 4))), kinds, boxes


def varied(rng, image):
    """The image with other light, and noise."""
    gain = rng.uniform(0.7, 1.2) * rng.uniform(0.92, 1.08, 3)
    bent = 255 * (image / np.float32(255)) ** np.float32(rng.uniform(0.8, 1.3))
    return np.clip(bent * gain + rng.normal(0, rng.uniform(0, 7), image.shape), 0, 255).astype(np.uint8)


def cut(rng, image, kinds, boxes):
    """A part of the image, maybe mirrored, and what to predict in it. Toys of which most is outside count as neither."""
    top, left = rng.integers(HEIGHT - PATCH[0] + 1), rng.integers(WIDTH - PATCH[1] + 1)
    part = image[top:top + PATCH[0], left:left + PATCH[1]]
    moved = boxes - np.float32([left, top, left, top])
    inside = np.clip(moved, 0, [PATCH[1], PATCH[0]] * 2)
    share = (inside[:, 2:] - inside[:, :2]).prod(1) / (moved[:, 2:] - moved[:, :2]).prod(1)
    if rng.random() < 0.5:
        part = part[:, ::-1]
        inside = (inside * [-1, 1, -1, 1] + [PATCH[1], 0, PATCH[1], 0])[:, [2, 1, 0, 3]]
    labels, weights, sides = targets(kinds[share > 0.5], inside[share > 0.5])
    x, y = cells(*PATCH)
    for l, t, r, b in inside[(share <= 0.5) & (share > 0)]:
        weights[(labels == 0) & (x > l) & (x < r) & (y > t) & (y < b)] = 0
    return varied(rng, part), labels, weights, sides


def train():
    import convnet

    rng = np.random.default_rng(TRAINING_SEED)
    start = time.monotonic()
    drawn = [draw([TRAINING_SEED, i]) for i in range(IMAGES)]
    print(f"{IMAGES} images rendered, {time.monotonic() - start:.0f} s", flush=True)
    net = convnet.Convnet(rng, [3, 12, 24, 32, 48, 48, 48], pooled={1, 2, 3}, head=CLASSES + 4, head_size=1)
    adam = convnet.Adam()
    n_batches = IMAGES // BATCH
    for done in range(ROUNDS):
        losses = []
        for i, batch in enumerate(np.array_split(rng.permutation(IMAGES), n_batches)):
            parts = [cut(rng, *drawn[j]) for j in batch]
            images, *wanted = (np.stack(part) for part in zip(*parts))
            outputs = net.forward(normalized(images), training=True)
            loss, gradient = loss_gradient(outputs.reshape(len(batch), -1, CLASSES + 4), *wanted)
            net.train(adam, gradient.reshape(outputs.shape), convnet.cosine(RATE, done * n_batches + i, ROUNDS * n_batches))
            losses.append(loss)
        print(f"round {done + 1}/{ROUNDS}: loss {np.mean(losses):.3f}, {time.monotonic() - start:.0f} s", flush=True)
    export(net, MODEL + ".new")
    os.replace(MODEL + ".new", MODEL)


def export(net, file):
    """Writes the network with the interface of UltraFace, of several classes: scores and boxes, both per cell."""
    from convnet import helper, save_onnx

    nodes, weights = net.nodes("input", "head")
    x, y = cells(HEIGHT, WIDTH)
    n = len(x)
    scale = np.float32([-UNIT / WIDTH, -UNIT / HEIGHT, UNIT / WIDTH, UNIT / HEIGHT])
    centers = np.stack([x / WIDTH, y / HEIGHT] * 2, 1)[None]
    weights.update(unit=scale, centers=centers, shape=np.array([1, n, CLASSES + 4]), sizes=np.array([CLASSES, 4]))
    nodes += [
        helper.make_node("Transpose", ["head"], ["rows"], perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["rows", "shape"], ["cells"]),
        helper.make_node("Split", ["cells", "sizes"], ["logits", "sides"], axis=2),
        helper.make_node("Softmax", ["logits"], ["scores"], axis=2),
        helper.make_node("Mul", ["sides", "unit"], ["offsets"]),
        helper.make_node("Add", ["offsets", "centers"], ["boxes"]),
    ]
    save_onnx(file, nodes, weights, {"input": [1, 3, HEIGHT, WIDTH]}, {"scores": [1, n, CLASSES], "boxes": [1, n, 4]})
    describe(file)


def describe(file):
    """Adds the task and the names of the classes to the model, where Ultralytics has them, too."""
    import onnx

    model = onnx.load(file)
    onnx.helper.set_model_props(model, {"task": "detect", "names": str(dict(enumerate(scene.NAMES)))})
    onnx.save(model, file)


def overlap(box, others):
    """Intersection over union of a box with each of the others."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.maximum(sides, 0).prod(1)
    return common / ((box[2:] - box[:2]).prod() + (others[:, 2:] - others[:, :2]).prod(1) - common)


def evaluate(n_images=300):
    import lightnet

    session = lightnet.InferenceSession(MODEL)
    found = right = there = 0
    for i in range(n_images):
        image, kinds, boxes = draw([EVALUATION_SEED, i])
        outputs = session.run(None, {"input": normalized(image).transpose(2, 0, 1)[None]})
        missing = [(1 + kind, box) for kind, box in zip(kinds, boxes)]
        toys = lightnet.detections(outputs, image, session, resize="stretch", score=SCORE, overlap=OVERLAP)
        for toy in toys:
            match = [kind == toy.class_index and overlap(np.array(toy.box), box[None])[0] for kind, box in missing] or [0]
            if max(match) >= 0.5:
                right += 1
                missing.pop(int(np.argmax(match)))
        found, there = found + len(toys), there + len(boxes)
    print(f"{n_images} images with {there} toys")
    print(f"precision {right / found:.1%}, recall {right / there:.1%}")


def render():
    """Renders table.ppm at 720 x 480, of which table.jpg was made."""
    import imaging

    with open(os.path.join(HERE, "table.ppm"), "wb") as file:
        imaging.write(file, scene.table().render(480, 720, 90, 3))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    for name, function, text in (
        ("--train", train, "train (about half an hour) and replace toys.onnx"),
        ("--evaluate", evaluate, "precision and recall of toys.onnx on new images, run by LightNet"),
        ("--render", render, "render table.ppm (some minutes)"),
    ):
        action.add_argument(name, dest="action", action="store_const", const=function, help=text)
    parser.parse_args().action()
