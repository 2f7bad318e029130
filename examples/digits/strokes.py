# SPDX-License-Identifier: Apache-2.0
"""Handwriting of our own: digits as strokes through jittered control points, drawn by distance."""

import numpy as np

import distort

# The ways people write each digit. A way is a list of pen strokes, a stroke a list of control
# points (x, y) in the unit square, y downwards. A smooth curve runs through them; a point given
# twice in a row is a corner. Equal points within a way move as one.
WAYS = {
    0: [
        [
            [(0.5, 0.0), (0.14, 0.2), (0.06, 0.6), (0.42, 1.0), (0.86, 0.75),
             (0.88, 0.3), (0.55, 0.02)],
        ],
        [
            [(0.6, 0.03), (0.2, 0.12), (0.03, 0.55), (0.35, 0.98), (0.85, 0.85),
             (0.97, 0.4), (0.7, 0.06), (0.45, 0.12)],
        ],
        [
            [(0.35, 0.08), (0.08, 0.4), (0.12, 0.8), (0.5, 1.0), (0.9, 0.7),
             (0.9, 0.25), (0.6, 0.0), (0.3, 0.1)],
        ],
    ],
    1: [
        [
            [(0.5, 0.0), (0.5, 0.5), (0.5, 1.0)],
        ],
        [
            [(0.55, 0.0), (0.5, 0.5), (0.45, 1.0)],
        ],
        [
            [(0.25, 0.22), (0.55, 0.0), (0.55, 0.0), (0.55, 0.5), (0.55, 1.0)],
        ],
        [
            [(0.25, 0.22), (0.55, 0.0), (0.55, 0.0), (0.55, 0.5), (0.55, 1.0)],
            [(0.3, 1.0), (0.8, 1.0)],
        ],
    ],
    2: [
        [
            [(0.08, 0.25), (0.3, 0.02), (0.7, 0.03), (0.86, 0.28), (0.55, 0.65),
             (0.08, 0.97), (0.08, 0.97), (0.5, 0.96), (0.95, 0.95)],
        ],
        [
            [(0.1, 0.2), (0.45, 0.0), (0.85, 0.2), (0.7, 0.55), (0.3, 0.92),
             (0.08, 0.9), (0.18, 0.74), (0.5, 0.85), (0.98, 0.92)],
        ],
        [
            [(0.05, 0.12), (0.5, 0.02), (0.85, 0.15), (0.78, 0.5), (0.45, 0.88),
             (0.12, 0.98), (0.04, 0.82), (0.25, 0.72), (0.6, 0.85), (0.95, 1.0)],
        ],
        [
            [(0.12, 0.3), (0.25, 0.05), (0.65, 0.0), (0.8, 0.3), (0.5, 0.7),
             (0.1, 1.0), (0.1, 1.0), (0.45, 0.9), (0.9, 0.98)],
        ],
    ],
    3: [
        [
            [(0.1, 0.14), (0.45, 0.0), (0.82, 0.2), (0.4, 0.46), (0.4, 0.46),
             (0.9, 0.7), (0.5, 1.0), (0.05, 0.85)],
        ],
        [
            [(0.1, 0.03), (0.85, 0.03), (0.85, 0.03), (0.42, 0.42), (0.42, 0.42),
             (0.9, 0.68), (0.5, 1.0), (0.05, 0.88)],
        ],
        [
            [(0.15, 0.1), (0.55, 0.0), (0.8, 0.2), (0.6, 0.42), (0.35, 0.48),
             (0.65, 0.52), (0.88, 0.72), (0.55, 0.98), (0.08, 0.92)],
        ],
    ],
    4: [
        [
            [(0.2, 0.0), (0.12, 0.52), (0.12, 0.52), (0.9, 0.52)],
            [(0.75, 0.05), (0.72, 0.5), (0.68, 1.0)],
        ],
        [
            [(0.68, 0.0), (0.05, 0.65), (0.05, 0.65), (0.97, 0.65)],
            [(0.68, 0.0), (0.66, 0.5), (0.66, 1.0)],
        ],
        [
            [(0.15, 0.05), (0.1, 0.4), (0.4, 0.54), (0.8, 0.4)],
            [(0.82, 0.0), (0.78, 0.5), (0.7, 1.0)],
        ],
        [
            [(0.6, 0.0), (0.08, 0.58), (0.08, 0.58), (0.95, 0.55)],
            [(0.72, 0.3), (0.68, 0.65), (0.65, 1.0)],
        ],
    ],
    5: [
        [
            [(0.9, 0.03), (0.27, 0.03), (0.27, 0.03), (0.2, 0.45), (0.2, 0.45),
             (0.62, 0.38), (0.9, 0.68), (0.5, 1.0), (0.06, 0.9)],
        ],
        [
            [(0.28, 0.06), (0.2, 0.42), (0.2, 0.42), (0.6, 0.4), (0.85, 0.7),
             (0.45, 1.0), (0.05, 0.88)],
            [(0.28, 0.06), (0.95, 0.0)],
        ],
        [
            [(0.95, 0.02), (0.45, 0.06), (0.25, 0.32), (0.6, 0.5), (0.72, 0.8),
             (0.35, 1.0), (0.03, 0.85)],
        ],
        [
            [(0.85, 0.0), (0.4, 0.05), (0.4, 0.05), (0.28, 0.4), (0.65, 0.5),
             (0.72, 0.8), (0.4, 1.0), (0.05, 0.92)],
        ],
    ],
    6: [
        [
            [(0.72, 0.0), (0.3, 0.28), (0.1, 0.68), (0.4, 1.0), (0.82, 0.8),
             (0.62, 0.52), (0.16, 0.7)],
        ],
        [
            [(0.45, 0.0), (0.15, 0.4), (0.12, 0.8), (0.5, 1.0), (0.85, 0.75),
             (0.5, 0.55), (0.15, 0.78)],
        ],
        [
            [(0.85, 0.06), (0.45, 0.05), (0.12, 0.42), (0.15, 0.88), (0.6, 1.0),
             (0.88, 0.7), (0.5, 0.48), (0.14, 0.62)],
        ],
    ],
    7: [
        [
            [(0.05, 0.05), (0.92, 0.05), (0.92, 0.05), (0.6, 0.5), (0.4, 1.0)],
        ],
        [
            [(0.05, 0.08), (0.9, 0.03), (0.9, 0.03), (0.55, 0.5), (0.38, 1.0)],
            [(0.28, 0.52), (0.82, 0.5)],
        ],
        [
            [(0.08, 0.22), (0.1, 0.05), (0.1, 0.05), (0.92, 0.05), (0.92, 0.05),
             (0.65, 0.5), (0.5, 1.0)],
        ],
        [
            [(0.05, 0.15), (0.4, 0.05), (0.85, 0.1), (0.8, 0.4), (0.6, 0.7),
             (0.5, 1.0)],
        ],
    ],
    8: [
        [
            [(0.82, 0.15), (0.45, 0.0), (0.18, 0.22), (0.5, 0.47), (0.86, 0.76),
             (0.5, 1.0), (0.13, 0.77), (0.5, 0.47), (0.85, 0.2), (0.75, 0.08)],
        ],
        [
            [(0.5, 0.46), (0.2, 0.24), (0.5, 0.0), (0.8, 0.24), (0.5, 0.46),
             (0.1, 0.74), (0.5, 1.0), (0.9, 0.74), (0.5, 0.46)],
        ],
        [
            [(0.85, 0.1), (0.5, 0.02), (0.2, 0.2), (0.45, 0.45), (0.7, 0.75),
             (0.42, 1.0), (0.15, 0.8), (0.5, 0.45), (0.9, 0.08)],
        ],
    ],
    9: [
        [
            [(0.8, 0.18), (0.45, 0.02), (0.12, 0.28), (0.4, 0.5), (0.8, 0.2),
             (0.8, 0.2), (0.76, 0.6), (0.7, 1.0)],
        ],
        [
            [(0.82, 0.2), (0.5, 0.0), (0.12, 0.26), (0.45, 0.52), (0.82, 0.22),
             (0.86, 0.6), (0.55, 1.0), (0.18, 0.9)],
        ],
        [
            [(0.75, 0.1), (0.4, 0.02), (0.12, 0.3), (0.35, 0.44), (0.72, 0.25),
             (0.75, 0.1), (0.75, 0.1), (0.65, 0.55), (0.4, 1.0)],
        ],
        [
            [(0.9, 0.05), (0.6, 0.0), (0.3, 0.2), (0.3, 0.4), (0.6, 0.4),
             (0.85, 0.2), (0.9, 0.05), (0.65, 0.5), (0.35, 0.8), (0.15, 1.0)],
        ],
    ],
}  # fmt: skip

STEPS = 5  # straight pieces that a curve between two control points is drawn as


def draw(rng, labels):
    """One handwritten digit per label: images [n, SIDE, SIDE] in 0..1."""
    images = np.zeros((len(labels), distort.SIDE, distort.SIDE), np.float32)
    way = rng.integers(0, 1 << 16, len(labels))
    for digit, ways in WAYS.items():
        for i, strokes in enumerate(ways):
            chosen = np.flatnonzero((labels == digit) & (way % len(ways) == i))
            for some in np.array_split(chosen, len(chosen) // 128 + 1):
                images[some] = _draw_way(rng, strokes, len(some))
    return images


def _draw_way(rng, strokes, n):
    """n images of one way of writing a digit."""
    points = np.array([point for stroke in strokes for point in stroke])
    curve, pen_down = _curve_matrix([len(stroke) for stroke in strokes])
    path = curve @ _moved(rng, points, n)
    path = _placed(rng, path)
    return _inked(path, pen_down, _stroke_widths(rng, path.shape[:2]))


def _moved(rng, points, n):
    """Control points [p, 2], each shaken anew: [n, p, 2]; equal points stay equal."""
    distinct, same_as = np.unique(points, axis=0, return_inverse=True)
    shake = rng.normal(0, 1, (n, len(distinct), 2)) * rng.uniform(0.01, 0.075, (n, 1, 1))
    return points + shake[:, same_as.reshape(-1)]


def _curve_matrix(stroke_lens):
    """Catmull-Rom curves: matrix, with path points = matrix @ control points, and pen_down.

    pen_down[i]: whether the path has ink between its points i and i + 1.
    """
    rows, pen_down, first = [], [], 0
    for length in stroke_lens:
        for at in np.arange((length - 1) * STEPS + 1) / STEPS:
            i = min(int(at), length - 2)
            neighbours = np.clip(np.arange(i - 1, i + 3), 0, length - 1) + first
            rows.append(_weights_at(at - i, neighbours, sum(stroke_lens)))
        pen_down += [True] * ((length - 1) * STEPS) + [False]
        first += length
    return np.array(rows), np.array(pen_down[:-1])


def _weights_at(t, neighbours, n):
    """The weights of the four neighbouring control points at t in 0..1 (Catmull and Rom 1974)."""
    row = np.zeros(n)
    weights = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, t**3 - t**2)
    np.add.at(row, neighbours, np.array(weights) / 2)
    return row


def _placed(rng, path):
    """Paths [n, k, 2] of the unit square into the image; shape, slant, size and place vary."""
    n = len(path)
    proportion = np.stack([rng.uniform(0.55, 1.05, n), np.ones(n)], 1)
    path = (path - 0.5) * proportion[:, None, :]
    path = np.einsum("nij,nkj->nki", distort.random_affine(rng, n), path)
    low, high = path.min(1, keepdims=True), path.max(1, keepdims=True)
    size = rng.uniform(13.5, 20, (n, 1, 1))
    path = (path - (low + high) / 2) / (high - low).max(2, keepdims=True) * size
    return path + distort.SIDE / 2 + np.clip(rng.normal(0, 1.2, (n, 1, 2)), -3, 3)


def _stroke_widths(rng, shape):
    """Pen widths in pixels [n, k]: one per digit, swelling a little along the way."""
    n, k = shape
    swelling = rng.uniform(0.8, 1.2, (n, 3))
    along = np.linspace(0, 2, k)
    before = np.minimum(along.astype(int), 1)
    part = along - before
    swelling = swelling[:, before] * (1 - part) + swelling[:, before + 1] * part
    return rng.uniform(1.1, 4.2, (n, 1)) * swelling


def _inked(path, pen_down, width):
    """The coverage of each pixel by strokes along paths [n, k, 2] of widths [n, k]."""
    path, width = path.astype(np.float32), width.astype(np.float32)
    centre = np.arange(distort.SIDE, dtype=np.float32) + np.float32(0.5)
    ink = np.zeros((len(path), distort.SIDE, distort.SIDE), np.float32)
    for i in np.flatnonzero(pen_down):
        start, run = path[:, i], path[:, i + 1] - path[:, i]
        x = centre[None, None, :] - start[:, 0, None, None]
        y = centre[None, :, None] - start[:, 1, None, None]
        dx, dy = run[:, 0, None, None], run[:, 1, None, None]
        along = np.clip((x * dx + y * dy) / (dx * dx + dy * dy + np.float32(1e-9)), 0, 1)
        distance = np.sqrt((x - along * dx) ** 2 + (y - along * dy) ** 2)
        ink = np.maximum(ink, width[:, i, None, None] / 2 + np.float32(0.5) - distance)
    return np.clip(ink, 0, 1)
