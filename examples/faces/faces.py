#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: faces.py MODEL IMAGE OUTPUT. Finds faces, and writes the image with their boxes as PPM."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "imaging"))
import imaging


def main(model, file, output):
    image = imaging.read(file)
    for face in imaging.Detector(model).find(image):
        print(face)
        imaging.draw_box(image, face)
    with open(output, "wb") as stream:
        imaging.write(stream, image)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: faces.py MODEL IMAGE OUTPUT")
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, imaging.lightnet.Error) as error:
        sys.exit(f"faces.py: {error}")
