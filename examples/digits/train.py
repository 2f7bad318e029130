#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digit network of this example, measures it, and runs it: Python and numpy only.

    train.py                  train (about a quarter of an hour), write the weights, measure
    train.py --evaluate       measure the weights that are there
    train.py --predict FILE   one image (.pgm or .npy, 28x28, white on black) through the reference
    train.py --samples        write the sample images and the reference's results for them
"""

import argparse
import os
import sys
import time

import numpy as np

import distort
import fonts
import images
import network
import reference
import strokes

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "digits.json")
WEIGHTS = os.path.join(HERE, "digits.safetensors")
LABELS = os.path.join(HERE, "labels.txt")

# Every random number comes from one of these seeds: the held-out sets are never trained on.
TRAINING_SEED, UNSEEN_FONTS_SEED, UNSEEN_STROKES_SEED, SAMPLES_SEED = 1, 2, 3, 4

ROUNDS = 12  # each on new images
FONT_DIGITS, STROKE_DIGITS = 60000, 40000  # per round
BATCH = 128
RATE = 2e-3  # of learning, falling to zero along a cosine

UNSEEN_DISTORTIONS = 20  # of each digit of each unseen font
UNSEEN_STROKE_DIGITS = 10000


class FontDigits:
    """Distorted digits of the fonts of some packages."""

    CHUNK = 500  # images warped at once

    def __init__(self, packages):
        groups = [fonts.digit_glyphs({package: packages[package]}) for package in packages]
        self.labels = np.concatenate([labels for _, labels in groups])
        self._variants = distort.weight_variants(np.concatenate([glyphs for glyphs, _ in groups]))
        # Packages count alike, however many styles they have.
        self._share = np.concatenate([np.full(len(g[1]), 1 / len(g[1])) for g in groups])
        self._share /= self._share.sum()

    def some(self, rng, n):
        """n images of digits drawn at random: images [n, 28, 28] uint8 and labels [n]."""
        glyphs = rng.choice(len(self.labels), n, p=self._share)
        return self.distorted(rng, glyphs), self.labels[glyphs]

    def distorted(self, rng, glyphs):
        """One image of each glyph given by its index, weight and all else at random."""
        chunks = np.array_split(glyphs, -(-len(glyphs) // self.CHUNK))
        return np.concatenate([self._distorted_chunk(rng, chunk) for chunk in chunks])

    def _distorted_chunk(self, rng, glyphs):
        weights = rng.integers(0, len(self._variants), len(glyphs))
        return distort.photograph(rng, distort.warp(rng, self._variants[weights, glyphs]))


def stroke_digits(rng, n):
    """n handwritten digits: images [n, 28, 28] uint8 and labels [n]."""
    labels = rng.integers(0, 10, n)
    return distort.photograph(rng, strokes.draw(rng, labels)), labels


def train():
    """Trains from nothing and writes the weights."""
    rng = np.random.default_rng(TRAINING_SEED)
    font_digits = FontDigits(fonts.TRAINED_PACKAGES)
    net, adam = network.Network(rng), network.Adam()
    start = time.monotonic()
    for done in range(ROUNDS):
        of_fonts = font_digits.some(rng, FONT_DIGITS)
        of_strokes = stroke_digits(rng, STROKE_DIGITS)
        pixels = np.concatenate([of_fonts[0], of_strokes[0]])
        labels = np.concatenate([of_fonts[1], of_strokes[1]])
        loss = train_round(rng, net, adam, pixels, labels, done)
        elapsed = time.monotonic() - start
        print(f"round {done + 1}/{ROUNDS}: loss {loss:.4f}, {elapsed:.0f} s", flush=True)
    reference.write_safetensors(WEIGHTS, net.exported())


def train_round(rng, net, adam, pixels, labels, rounds_done):
    """Shows every image once, in random order; returns the mean loss."""
    batches = np.array_split(rng.permutation(len(labels)), len(labels) // BATCH)
    losses = []
    for i, batch in enumerate(batches):
        progress = (rounds_done + i / len(batches)) / ROUNDS
        losses.append(net.loss_and_gradients(pixels[batch], labels[batch]))
        adam.step(net.parameters(), RATE * (1 + np.cos(np.pi * progress)) / 2)
    return np.mean(losses)


def evaluate():
    """Prints the accuracy on digits that training never saw, as the reference computes it."""
    model = reference.Model(MODEL, WEIGHTS)
    font_digits = FontDigits(fonts.UNSEEN_PACKAGES)
    glyphs = np.repeat(np.arange(len(font_digits.labels)), UNSEEN_DISTORTIONS)
    pixels = font_digits.distorted(np.random.default_rng(UNSEEN_FONTS_SEED), glyphs)
    report("unseen fonts", model, pixels, font_digits.labels[glyphs])
    rng = np.random.default_rng(UNSEEN_STROKES_SEED)
    report("unseen strokes", model, *stroke_digits(rng, UNSEEN_STROKE_DIGITS))


def report(what, model, pixels, labels):
    """One line of accuracy, and how each digit fares."""
    right = model.run(pixels).argmax(1) == labels
    each = " ".join(f"{digit}: {right[labels == digit].mean():.1%}" for digit in range(10))
    print(f"{what}: {right.mean():.2%} of {len(labels)} ({each})")


def predict(path):
    """Prints the probabilities of the ten digits, the best first."""
    with open(LABELS, encoding="utf-8") as file:
        names = file.read().split()
    (probabilities,) = reference.Model(MODEL, WEIGHTS).run(images.read(path)[None])
    for digit in np.argsort(-probabilities):
        print(f"{probabilities[digit]:.6f} {names[digit]}")


def write_samples():
    """Writes the sample images, handwritten by strokes.py, and the reference's results for them."""
    model = reference.Model(MODEL, WEIGHTS)
    rng = np.random.default_rng(SAMPLES_SEED)
    samples = {"two": 2, "four": 4, "seven": 7, "eight": 8}
    pixels = distort.photograph(rng, strokes.draw(rng, np.array(list(samples.values()))))
    for name, image in zip(samples, pixels):
        images.write_pgm(os.path.join(HERE, f"{name}.pgm"), image)
        np.save(os.path.join(HERE, f"expected_{name}.npy"), model.run(image[None]))
    images.write_png(os.path.join(HERE, "seven.png"), pixels[list(samples).index("seven")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--evaluate", action="store_true", help="measure the weights that are there")
    what.add_argument("--predict", metavar="FILE", help="classify one .pgm or .npy image of 28x28")
    what.add_argument("--samples", action="store_true", help="write the sample images and results")
    args = parser.parse_args()
    if args.predict:
        predict(args.predict)
    elif args.evaluate:
        evaluate()
    elif args.samples:
        write_samples()
    else:
        train()
        write_samples()
        evaluate()


if __name__ == "__main__":
    sys.exit(main())
