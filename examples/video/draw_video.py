#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: draw_video.py N >FRAMES. Draws N frames with two faces, as a stream of PPM images."""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "faces"), os.path.join(HERE, "..", "imaging")]
import draw_faces
import paint

SEED = 5


def main(n):
    rng = np.random.default_rng(SEED)
    scene = paint.background(rng, 120, 160)
    places = ((40, 40), 20), ((120, 80), 26)
    heads = [draw_faces.Head(rng, np.array(centre), size) for centre, size in places]
    parts = [draw_faces.face_parts(rng) for _ in heads]
    for _ in range(n):
        image = scene.copy()
        for head, step, painted in zip(heads, ((6, 3), (-3, -4)), parts):
            head.paint(image, painted)
            head.centre = head.centre + step
        paint.write_ppm(sys.stdout.buffer, np.clip(image * 255 + 0.5, 0, 255).astype(np.uint8))


if __name__ == "__main__":
    main(int(sys.argv[1]))
