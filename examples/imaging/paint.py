# SPDX-License-Identifier: Apache-2.0
"""Draws training images with NumPy: textured backgrounds, and shapes with smooth edges.

Images are [h, w, 3] float32, red green blue, 0 to 1. Coverages are [h, w], 0 to 1.
"""

import numpy as np


def colour(rng):
    return rng.random(3, dtype=np.float32)


def grid(height, width):
    """The coordinates x and y of the centre of each pixel, which broadcast to [h, w]."""
    x, y = (np.arange(n, dtype=np.float32) + 0.5 for n in (width, height))
    return x[None, :], y[:, None]


def blend(image, coverage, paint):
    """Paints over the image, in place."""
    image += coverage[..., None] * (paint - image)


def ellipse(x, y, centre, radii):
    """Coverage of the coordinates x and y by an ellipse."""
    rho = np.sqrt(((x - centre[0]) / radii[0]) ** 2 + ((y - centre[1]) / radii[1]) ** 2)
    return np.clip((1 - rho) * min(radii) + 0.5, 0, 1)


def background(rng, height, width, rough=1):
    """A colour gradient, spots of several sizes and stripes; rough: their strength."""
    x, y = grid(height, width)
    slope = rng.uniform(-1, 1, 2)
    along = (slope[0] * x / width + slope[1] * y / height + 2) / 4
    image = (colour(rng) + along[..., None] * (colour(rng) - colour(rng))).astype(np.float32)
    for size in (32, 16, 8, 4):
        shape = height // size + 1, width // size + 1, 3
        spots = rng.normal(0, rng.uniform(0, 0.12) * rough, shape)
        image += spots.astype(np.float32).repeat(size, 0).repeat(size, 1)[:height, :width]
    for _ in range(rng.integers(0, 4)):
        angle, period = rng.uniform(0, np.pi), rng.uniform(6, 60)
        wave = np.sin((x * np.cos(angle) + y * np.sin(angle)) * (2 * np.pi / period))
        columns = abs(x - rng.uniform(0, width)) < rng.uniform(5, width)
        rows = abs(y - rng.uniform(0, height)) < rng.uniform(5, height)
        stripes = np.clip(wave * period / 6 + 0.5, 0, 1) * rng.uniform(0.2, 0.8) * rough
        blend(image, columns * rows * stripes, colour(rng))
    return image


def photograph(rng, image):
    """Light, contrast and noise: [h, w, 3] uint8."""
    light = (image - 0.5) * rng.uniform(0.6, 1.1) + rng.uniform(0.4, 0.6)
    light = light + rng.normal(0, rng.uniform(0, 0.04), image.shape)
    return np.clip(light * 255 + 0.5, 0, 255).astype(np.uint8)


def write_ppm(file, image):
    """Writes an image [h, w, 3] uint8 as binary PPM to an open file."""
    file.write(b"P6\n%d %d\n255\n" % (image.shape[1], image.shape[0]) + image.tobytes())
