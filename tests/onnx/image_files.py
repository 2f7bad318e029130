#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: image_files.py LIGHTNET. ImageDecoder of files that are constants of a model, or inputs with a value."""
import base64
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import call, check_rejected, faults_of, joined, one_node
from onnx_writer import graph, model, node, value
from tap import Tap

rng = np.random.default_rng(20261127)

# 9 x 5 pixels of (200, 100, 50), quality 90: LightNet's own writer made it.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGB"
    "YUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAF"
    "AAkDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhBy"
    "JxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
    "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAA"
    "AAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRom"
    "JygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExc"
    "bHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwCpRRRX4ef0gf/Z"
)


def of(data):
    return np.frombuffer(data, np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(pixels):
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pnm(pixels):
    height, width, channels = pixels.shape
    return b"P%d %d %d 255\n" % ({1: 5, 3: 6}[channels], width, height) + pixels.tobytes()


def bmp(pixels):
    """24 bits a pixel, from the bottom row to the top one; each row has a multiple of 4 bytes."""
    rows = np.broadcast_to(pixels, (*pixels.shape[:2], 3))[::-1, :, ::-1].reshape(len(pixels), -1)
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4)))
    header = struct.pack("<IiiHHIIiiII", 40, pixels.shape[1], pixels.shape[0], 1, 24, 0, rows.size, 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + rows.size, 0, 0, 54) + header + rows.tobytes()


def webp(pixels):
    """A lossless WebP image, by cwebp."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("image.ppm", "image.webp")]
        with open(names[0], "wb") as file:
            file.write(b"P6\n%d %d\n255\n" % pixels.shape[1::-1] + np.broadcast_to(pixels, (*pixels.shape[:2], 3)).tobytes())
        subprocess.run(["cwebp", "-quiet", "-lossless", names[0], "-o", names[1]], check=True)
        with open(names[1], "rb") as file:
            return file.read()


def shown(pixels, pixel_format):
    """[H, W, C] in this format: luma of ITU-R BT.601 for gray."""
    if pixel_format == "Grayscale":
        weights = np.array([0.299, 0.587, 0.114]) if pixels.shape[2] == 3 else np.ones(1)
        return np.floor((pixels * weights).sum(-1, keepdims=True) + 0.5).astype(np.uint8)
    whole = np.broadcast_to(pixels, (*pixels.shape[:2], 3))
    return np.ascontiguousarray(whole if pixel_format == "RGB" else whole[..., ::-1])


def decoder(sentence, data, expected, const=True, **attributes):
    return one_node(sentence, "ImageDecoder", [of(data)], expected, 20, (0,) if const else (), **attributes)


def cases(features):
    color, gray = rng.integers(0, 256, (5, 7, 3)).astype(np.uint8), rng.integers(0, 256, (3, 1, 1)).astype(np.uint8)
    for name, write in (("PNG", png), ("PNM", pnm), ("BMP", bmp), ("WebP", webp)):
        if (name == "PNG" and "PNG" not in features) or (name == "WebP" and not ("WebP" in features and shutil.which("cwebp"))):
            continue
        for kind, pixels in (("color", color), ("gray", gray)):
            for pixel_format in ("RGB", "BGR", "Grayscale"):
                for const in (True, False):
                    yield decoder(f"{name} in {kind} as {pixel_format}, constant: {const}", write(pixels),
                                  shown(pixels, pixel_format), const, pixel_format=pixel_format)
            yield decoder(f"{name} in {kind}, RGB by default", write(pixels), shown(pixels, "RGB"))
    yield decoder("bytes behind the image", pnm(color) + b"more", shown(color, "RGB"))


WRONG = [
    ("a format that LightNet does not read", [of(b"II*\0" + bytes(60))], {},
     "this is a TIFF image, expected a png, jpg, webp, bmp, pgm or ppm image"),
    ("JPEG 2000", [of(b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(60))], {}, "this is a JPEG 2000 image, expected a png"),
    ("a damaged BMP image", [of(b"BM" + bytes(60))], {}, "the header has 0 bytes, expected 12 to 124"),
    ("an image that ends early", [of(pnm(np.ones((5, 5, 3), np.uint8))[:40])], {}, "input 0, 'encoded_stream': "),
    ("no bytes", [of(b"")], {}, "unknown format, expected a png, jpg, webp, bmp, pgm or ppm image"),
    ("an unknown format of pixels", [of(pnm(np.ones((5, 5, 3), np.uint8)))], {"pixel_format": "HSV"}, "'pixel_format' is \"HSV\""),
    ("bytes in two dimensions", [of(pnm(np.ones((5, 5, 3), np.uint8)))[None]], {}, "input 0 has 2 dimensions of TL_UINT8"),
    ("numbers of another type", [np.ones(9, np.int8)], {}, "input 0 has 1 dimensions of TL_INT8"),
]


def check_jpeg(tap, lightnet):
    """Colors of a JPEG file are near those that were written."""
    cast = node("Cast", ["image"], ["y"], to=1)
    whole = graph([node("ImageDecoder", ["x"], ["image"]), cast], [value("x", "uint8", ["n"])], [value("y", "float")])
    want = np.broadcast_to(np.float32([200, 100, 50]), (5, 9, 3))
    tap.check("a JPEG file has its colors", faults_of(lightnet, model(whole, opset=20), {"x": of(JPEG)}, [want], atol=2))


def call_without_value(lightnet, whole):
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        file.write(whole)
        file.flush()
        return call([lightnet, "compile", file.name, "--shape", "x0=12", "-o", os.devnull]).stderr


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    features = call([lightnet, "version"]).stdout
    for part in cases(features):
        whole, given = joined([part])
        tap.check(part.sentence, faults_of(lightnet, whole, given, list(part.wanted.values())))
    if "JPEG" in features:
        check_jpeg(tap, lightnet)
    else:
        tap.skip("a JPEG file has its colors", "this build does not read JPEG")
    for sentence, arrays, attributes, words in WRONG:
        check_rejected(tap, lightnet, one_node("", "ImageDecoder", arrays, np.zeros(1, np.uint8), 20, (0,), **attributes),
                       f"ImageDecoder rejects {sentence}", words)
    part = one_node("", "ImageDecoder", [of(b"P5 1 1 255 1")], np.zeros(1, np.uint8), 20)
    whole, _ = joined([part])
    done = call_without_value(lightnet, whole)
    tap.check("ImageDecoder asks for the value of an input", [] if "determines shapes and depends on input 'x0'" in done else [done])
    tap.end()


if __name__ == "__main__":
    main()
