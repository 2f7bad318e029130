# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the 28x28 grey images of this example: PGM, PNG (writing) and npy (reading)."""

import re
import struct
import zlib

import numpy as np


def read(path):
    """The image in a .pgm (P5, 8 bits) or .npy (of 784 numbers) file: [28, 28]."""
    image = np.load(path) if path.endswith(".npy") else _read_pgm(path)
    if image.size != 28 * 28:
        raise SystemExit(f"{path}: shape {image.shape}, expected 28x28")
    return image.reshape(28, 28)


def _read_pgm(path):
    with open(path, "rb") as file:
        data = file.read()
    header = re.match(rb"P5\s+(?:#.*\s+)*(\d+)\s+(\d+)\s+255\s", data)  # comments are allowed
    if header is None:
        raise SystemExit(f"{path}: not a binary PGM (P5) of 0 to 255")
    width, height = int(header[1]), int(header[2])
    return np.frombuffer(data[header.end() :], np.uint8)[: width * height].reshape(height, width)


def write_pgm(path, image):
    """Writes image [h, w] uint8 as a binary PGM."""
    with open(path, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % image.shape[::-1] + image.tobytes())


def write_png(path, image):
    """Writes image [h, w] uint8 as a grey PNG of 8 bits."""
    height, width = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)  # 0: no filter
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(_png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)))
        file.write(_png_chunk(b"IDAT", zlib.compress(rows, 9)))
        file.write(_png_chunk(b"IEND", b""))


def _png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
