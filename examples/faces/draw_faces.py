#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: draw_faces.py FILE. Draws an image with cartoon faces and other round things, as PPM."""

import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "imaging"))
from paint import background, blend, colour, ellipse, grid, photograph, write_ppm

SIZES = 10, 31  # half the height of a head in pixels


def skin(rng):
    tone = np.float32([1, 0.8, 0.65]) * np.float32(rng.uniform(0.3, 1))
    return tone + rng.normal(0, 0.04, 3).astype(np.float32)


class Head:
    """An ellipse with a place, a size and a tilt; u and v are its coordinates, -1 to 1."""

    def __init__(self, rng, centre, half_height):
        self.centre, self.ry = centre, half_height
        self.rx = half_height * rng.uniform(0.72, 0.92)
        angle = rng.uniform(-0.3, 0.3)
        self.cos, self.sin = np.cos(angle), np.sin(angle)

    def box(self):
        """left, top, right, bottom in pixels."""
        dx = np.hypot(self.rx * self.cos, self.ry * self.sin)
        dy = np.hypot(self.rx * self.sin, self.ry * self.cos)
        x, y = self.centre
        return np.array([x - dx, y - dy, x + dx, y + dy])

    def paint(self, image, parts):
        """Paints ellipses (centre, radii, colour, side), in u and v.

        side: 0, or only the half above (-1) or below (1) the centre.
        """
        reach = int(self.ry * 1.5) + 2
        left, top = (max(int(c) - reach, 0) for c in self.centre)
        window = image[top:int(self.centre[1]) + reach, left:int(self.centre[0]) + reach]
        x, y = grid(*window.shape[:2])
        x, y = x + (left - self.centre[0]), y + (top - self.centre[1])
        x, y = self.cos * x + self.sin * y, self.cos * y - self.sin * x
        for (u, v), (ru, rv), paint, side in parts:
            cover = ellipse(x, y, (u * self.rx, v * self.ry), (ru * self.rx, rv * self.ry))
            if side:
                cover = cover * np.clip((y - v * self.ry) * side + 0.5, 0, 1)
            blend(window, cover, paint)


def face_parts(rng):
    """Hair, head, eyes, brows, nose and mouth, in different ways."""
    face, hair = skin(rng), colour(rng) * np.float32(rng.uniform(0.1, 0.9))
    parts = [((0, -0.15), (1.15, 1.1), hair, -1)] if rng.random() < 0.6 else []
    if rng.random() < 0.25:
        parts = [((0, 0.1), (1.2, 1.15), hair, 0)]
    parts.append(((0, 0), (1, 1), face, 0))
    if parts[0][2] is hair:
        parts.append(((rng.uniform(-0.2, 0.2), -0.62), (0.8, rng.uniform(0.2, 0.4)), hair, -1))
    eye_v, eye_u = rng.uniform(-0.25, -0.05), rng.uniform(0.33, 0.45)
    dark = colour(rng) * np.float32(0.3)
    white, look = rng.random() < 0.7, rng.uniform(-0.05, 0.05)
    for u in (-eye_u, eye_u):
        if rng.random() < 0.15:
            parts.append(((u, eye_v), (0.26, 0.22), dark, 0))  # glasses
            parts.append(((u, eye_v), (0.2, 0.16), face, 0))
        if white:
            parts.append(((u, eye_v), (0.19, 0.13), np.float32([0.97, 0.97, 0.97]), 0))
        parts.append(((u + look, eye_v), (0.1, 0.1), dark, 0))
        if rng.random() < 0.5:
            parts.append(((u, eye_v - 0.22), (0.2, 0.06), hair * np.float32(0.6), -1))
    parts.append(((0, eye_v + 0.33), (0.1, rng.uniform(0.1, 0.18)), face * np.float32(0.75), 0))
    mouth = np.float32([0.75, 0.15, 0.2]) * np.float32(rng.uniform(0.4, 1.1))
    mouth_v, mouth_size = rng.uniform(0.45, 0.6), (rng.uniform(0.25, 0.5), rng.uniform(0.1, 0.28))
    parts.append(((0, mouth_v), mouth_size, mouth, rng.integers(-1, 2)))
    return parts


def other_parts(rng):
    """Balls, buttons, rings, spotted eggs: round things without the arrangement of a face."""
    paint = skin(rng) if rng.random() < 0.6 else colour(rng)
    parts = [((0, -0.15), (1.15, 1.1), colour(rng), -1)] if rng.random() < 0.4 else []
    parts.append(((0, 0), (1, 1), paint, 0))
    kind = rng.integers(0, 5)
    if kind == 1:
        parts.append(((0, 0), (0.6, 0.6), colour(rng), 0))
    if kind == 2:
        parts += [((0, v), (0.9, 0.12), colour(rng), 0) for v in (-0.4, 0, 0.4)]
    if kind == 3:
        parts.append(((0, rng.uniform(-0.6, 0.6)), (0.4, 0.2), np.float32([0.7, 0.15, 0.2]), 1))
    if kind == 4:
        for _ in range(rng.integers(1, 7)):
            spot = tuple(rng.uniform(-0.6, 0.6, 2))
            parts.append((spot, (0.15, 0.15), colour(rng) * np.float32(0.3), 0))
    return parts


def overlaps(box, boxes):
    return any((box[:2] < other[2:]).all() and (other[:2] < box[2:]).all() for other in boxes)


def place(rng, height, width, scale, boxes):
    """A head inside the image beside the others; None: no place found."""
    low, high = SIZES[0] * scale, SIZES[1] * scale
    for _ in range(20):
        half = low * (high / low) ** rng.random()
        head = Head(rng, rng.uniform((half, half), (width - half, height - half)), half)
        if not overlaps(head.box(), boxes):
            return head
    return None


def draw(rng, height, width, n_faces, n_others, scale=1):
    """An image [h, w, 3] uint8 and the boxes of its faces [n, 4]; fewer if there is no room."""
    image = background(rng, height, width)
    boxes, faces = [], []
    for i in range(n_faces + n_others):
        head = place(rng, height, width, scale, boxes)
        if head is not None:
            head.paint(image, face_parts(rng) if i < n_faces else other_parts(rng))
            boxes.append(head.box())
            faces += boxes[-1:] if i < n_faces else []
    return photograph(rng, image), np.array(faces).reshape(-1, 4)


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        write_ppm(file, draw(np.random.default_rng(7), 180, 240, 4, 3, scale=1.5)[0])
