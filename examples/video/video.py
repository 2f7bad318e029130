#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: video.py MODEL [OUTPUT] <FRAMES. Finds the faces of each frame of a stream of PPM images.

Writes the frames with boxes to OUTPUT, such as a pipe to a player.
"""

import contextlib
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "imaging"))
import imaging


def main(model, output=None):
    detector = imaging.Detector(model)
    n, spent = 0, 0
    with open(output, "wb") if output else contextlib.nullcontext() as stream:
        while (image := imaging.read_next(sys.stdin.buffer)) is not None:
            begin = time.monotonic()
            faces = detector.find(image)  # each run reuses the memory of the session
            spent += time.monotonic() - begin
            print(", ".join([f"frame {n}: {len(faces)} faces", *map(str, faces)]))
            n += 1
            for face in faces:
                imaging.draw_box(image, face)
            if stream:
                imaging.write(stream, image)
    if n:
        print(f"{n} frames, {spent / n * 1e3:.2f} ms per frame")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: video.py MODEL [OUTPUT] <FRAMES")
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, imaging.lightnet.Error) as error:
        sys.exit(f"video.py: {error}")
