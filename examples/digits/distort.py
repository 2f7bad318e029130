# SPDX-License-Identifier: Apache-2.0
"""Distortions of a digit before it becomes a 28x28 image: weight, affine, elastic, blur, noise."""

import numpy as np

import fonts

SIDE = 28  # of an image
OVERSAMPLING = 2  # samples per pixel and axis, averaged

# Each step of weight is a dilation or erosion of a glyph by one pixel of its canvas, which is
# about half a pixel of the image on either side of the stroke.
LIGHTEST, HEAVIEST = -2, 4

LEAST_INK = 0.5  # of the ink a glyph has, after an erosion
MOST_INK = 0.36  # of a square with the glyph's longer side, after a dilation: holes stay open


def weight_variants(pictures):
    """Thinner to thicker strokes: [n, h, w] -> [HEAVIEST - LIGHTEST + 1, n, h, w].

    A glyph too thin to be thinner, or too thick to be thicker, keeps its weight.
    """
    variants = [pictures]
    for _ in range(-LIGHTEST):
        eroded = _extreme_of_cross(variants[0], np.minimum)
        enough = _ink(eroded) >= LEAST_INK * _ink(pictures)
        variants.insert(0, np.where(enough, eroded, variants[0]))
    for _ in range(HEAVIEST):
        dilated = _extreme_of_cross(variants[-1], np.maximum)
        open_still = _ink(dilated) <= MOST_INK * 255 * fonts.GLYPH**2
        variants.append(np.where(open_still, dilated, variants[-1]))
    return np.stack(variants)


def _ink(pictures):
    """The sum of each image's pixels, [n, 1, 1]."""
    return pictures.sum((1, 2), dtype=np.int64)[:, None, None]


def _extreme_of_cross(pictures, extreme):
    """Minimum or maximum over each pixel and its four neighbours (outside counts as the edge)."""
    padded = np.pad(pictures, ((0, 0), (1, 1), (1, 1)), mode="edge")
    vertical = extreme(padded[:, :-2, 1:-1], padded[:, 2:, 1:-1])
    horizontal = extreme(padded[:, 1:-1, :-2], padded[:, 1:-1, 2:])
    return extreme(pictures, extreme(vertical, horizontal))


def random_affine(rng, n):
    """Near identity, [n, 2, 2]: a rotation after a slant and an unequal scale of (x, y)."""
    angle = np.radians(np.clip(rng.normal(0, 8, n), -22, 22))
    slant = np.clip(rng.normal(0, 0.16, n), -0.45, 0.45)
    stretch = np.exp(rng.uniform(-0.17, 0.17, n))
    cos, sin = np.cos(angle), np.sin(angle)
    rotation = np.stack([cos, -sin, sin, cos], 1).reshape(n, 2, 2)
    shear = np.stack([stretch, slant, np.zeros(n), 1 / stretch], 1).reshape(n, 2, 2)
    return rotation @ shear


def warp(rng, pictures):
    """Glyph canvases [n, CANVAS, CANVAS] to images [n, SIDE, SIDE] in 0..1, each distorted anew."""
    n, fine = len(pictures), SIDE * OVERSAMPLING
    line = ((np.arange(fine) + 0.5) / OVERSAMPLING - SIDE / 2).astype(np.float32)
    target = np.stack(np.broadcast_arrays(line[None, :], line[:, None]), -1)  # x, y from the centre

    size = rng.uniform(15.5, 21.5, n)  # of the longer side, in pixels of the image
    to_canvas = np.linalg.inv(random_affine(rng, n)) * (fonts.GLYPH / size)[:, None, None]
    shift = np.clip(rng.normal(0, 1.2, (n, 1, 1, 2)), -3, 3)
    source = target + (shift + _elastic_field(rng, n, fine)).astype(np.float32)
    source = source.reshape(n, -1, 2) @ to_canvas.transpose(0, 2, 1).astype(np.float32)
    source = source.reshape(n, fine, fine, 2) + np.float32((fonts.CANVAS - 1) / 2)
    sampled = _bilinear(pictures, source[..., 0], source[..., 1]) / np.float32(255)
    return sampled.reshape(n, SIDE, OVERSAMPLING, SIDE, OVERSAMPLING).mean((2, 4))


def _elastic_field(rng, n, side, knots=5):
    """Smooth random displacements [n, side, side, 2] in pixels: coarse noise under Gaussians."""
    at = np.linspace(0, knots - 1, side)[:, None] - np.arange(knots)
    basis = np.exp(-(at**2))
    basis /= basis.sum(1, keepdims=True)
    strength = rng.uniform(0, 1.9, (n, 1, 1, 1))
    coarse = rng.normal(0, 1, (n, knots, knots, 2)) * strength
    return np.einsum("yk,nklc,xl->nyxc", basis, coarse, basis, optimize=True)


def _bilinear(pictures, x, y):
    """Values of images [n, h, w] at points x, y [n, ...]; points outside have the edge's value."""
    n, height, width = pictures.shape
    x, y = np.clip(x, 0, width - 1.001), np.clip(y, 0, height - 1.001)
    left, top = x.astype(np.int32), y.astype(np.int32)
    fx, fy = (x - left).astype(np.float32), (y - top).astype(np.float32)
    first = np.arange(n, dtype=np.int32).reshape((n,) + (1,) * (x.ndim - 1)) * (height * width)
    first = first + top * width + left
    flat = pictures.reshape(-1)
    above = flat[first] * (1 - fx) + flat[first + 1] * fx
    below = flat[first + width] * (1 - fx) + flat[first + width + 1] * fx
    return above * (1 - fy) + below * fy


def photograph(rng, images):
    """Blur, contrast, noise and rounding: images [n, SIDE, SIDE] in 0..1 -> uint8 0..255."""
    n = len(images)
    images = images.astype(np.float32)
    blur = rng.uniform(0, 0.8, (n, 1, 1)).astype(np.float32)
    images = images + blur * (_smooth(images) - images)
    images = images * rng.uniform(0.75, 1.7, (n, 1, 1)).astype(np.float32)
    noise = np.maximum(rng.uniform(-0.08, 0.08, (n, 1, 1)), 0).astype(np.float32)  # half have none
    images = np.minimum(images, 1) + noise * rng.standard_normal(images.shape, dtype=np.float32)
    return np.rint(np.clip(images, 0, 1) * 255).astype(np.uint8)


def _smooth(images):
    """The 3x3 binomial filter; outside counts as 0."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows = (padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]) / 4
    return (rows[:, :, :-2] + 2 * rows[:, :, 1:-1] + rows[:, :, 2:]) / 4
