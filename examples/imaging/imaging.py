# SPDX-License-Identifier: Apache-2.0
"""Images and a face detector, for the Python programs of these examples.

Images are [h, w, 3] uint8, red green blue.
"""

import re
from typing import NamedTuple

import numpy as np

import lightnet


class Face(NamedTuple):
    """A box in pixels, its right and bottom inside, and a score of 0 to 1."""

    left: int
    top: int
    right: int
    bottom: int
    score: float

    def __str__(self):
        return f"{self.score:.2f} at {self.left},{self.top} to {self.right},{self.bottom}"


def read(path):
    """The image in a PPM file; in others, if Pillow is installed."""
    with open(path, "rb") as file:
        if file.read(2) == b"P6":
            file.seek(0)
            return read_next(file)
    try:
        from PIL import Image
    except ImportError:
        raise ValueError(f"{path}: not PPM; other formats need Pillow (python3-pil)") from None
    return np.array(Image.open(path).convert("RGB"))


def read_next(stream):
    """The next image of a stream of PPM images; None: none."""
    header = b"".join(stream.readline(20) for _ in range(3))
    if not header:
        return None
    sizes = re.fullmatch(rb"P6\n([1-9]\d{0,3}) ([1-9]\d{0,3})\n255\n", header)
    if sizes is None:
        raise ValueError("expected a PPM image (P6, at most 9999 x 9999, 255)")
    width, height = map(int, sizes.groups())
    samples = stream.read(width * height * 3)
    if len(samples) < width * height * 3:
        raise ValueError("the last image is incomplete")
    return np.frombuffer(bytearray(samples), np.uint8).reshape(height, width, 3)


def write(stream, image):
    """Writes an image as PPM."""
    stream.write(b"P6\n%d %d\n255\n" % (image.shape[1], image.shape[0]) + image.tobytes())
    stream.flush()


def draw_box(image, face):
    box = image[face.top : face.bottom + 1, face.left : face.right + 1]
    for side in (box[:2], box[-2:], box[:, :2], box[:, -2:]):
        side[:] = 0, 255, 0


def resized(image, height, width):
    """The image as float32 [height, width, 3], resized linearly."""
    result = image.astype(np.float32)
    for axis, n_new in enumerate((height, width)):
        n = image.shape[axis]
        at = np.arange(n_new, dtype=np.float32) + np.float32(0.5)
        at = np.clip(at * np.float32(n) / np.float32(n_new) - np.float32(0.5), 0, n - 1)
        first = at.astype(int)
        share = (at - first.astype(np.float32)).reshape((-1, 1, 1) if axis == 0 else (-1, 1))
        a, b = result.take(first, axis), result.take(np.minimum(first + 1, n - 1), axis)
        result = a + (b - a) * share
    return result


def overlap(box, boxes):
    """Intersection over union of a box with each of the others, [n, 4]."""
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    both = np.maximum(sides, 0).prod(1)
    return both / ((box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(1) - both)


class Detector:
    """A model with the interface of UltraFace."""

    def __init__(self, file):
        self.session = lightnet.InferenceSession(file)
        self.input = self.session.get_inputs()[0]
        shape = self.input.shape
        if shape[:2] != [1, 3] or len(shape) != 4 or not all(isinstance(n, int) for n in shape):
            raise ValueError(f"{file}: expected an input [1, 3, H, W], got {shape}")

    def find(self, image):
        """Faces: the best cell, then the best of those with other boxes.

        This is non-maximum suppression.
        """
        _, _, height, width = self.input.shape
        tensor = (resized(image, height, width).transpose(2, 0, 1)[None] - 127) / np.float32(128)
        feed = {self.input.name: np.ascontiguousarray(tensor)}
        scores, boxes = self.session.run(["scores", "boxes"], feed)
        scores, boxes = scores[0, :, 1].copy(), boxes[0]
        faces = []
        while scores.max() >= 0.7:
            best = scores.argmax()
            faces.append(Face(*pixels(boxes[best], image), float(scores[best])))
            scores[overlap(boxes[best], boxes) > 0.3] = 0
            scores[best] = 0
        return faces


def pixels(box, image):
    """The pixels of places of 0 to 1; places outside are those at the border."""
    height, width = image.shape[:2]
    last = np.array([width - 1, height - 1] * 2)
    places = np.clip(np.nan_to_num(box), 0, 1) * np.float32([width, height] * 2)
    return np.minimum(places.astype(int), last).tolist()
