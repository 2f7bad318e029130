#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_page.py LIGHTNET-SERVE. The status page in Chromium: its content, and the pixels that models receive. Skipped
without Chromium.
"""
import os
import re
import struct
import sys
import zlib

from serve_kit import DIGITS, HERE, ROOT, Server, folder, unary, write
import numpy as np
from checks import run_tests, same, test
from tap import Tap

sys.path.append(os.path.join(HERE, "../report"))
import browser

PROGRAM = sys.argv[1]
FOLDER = CHROMIUM = None
COLOR = np.array([10, 100, 250])
MEAN, DEVIATION = np.array([.485, .456, .406]), np.array([.229, .224, .225])


def png(name, pixels):
    """Writes 8-bit pixels [height, width, channels]; returns the path."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.astype(np.uint8).tobytes() for row in pixels)
    write(f"{FOLDER}/{name}", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)) +
          chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return f"{FOLDER}/{name}"


def digit(name):
    with open(os.path.join(ROOT, f"examples/digits/{name}.pgm"), "rb") as file:
        return png(f"{name}.png", np.frombuffer(file.read()[-28 * 28:], np.uint8).reshape(28, 28, 1))


class Visitor:
    """The page of a server, in the browser."""

    def __init__(self, server, width=1000):
        self.page = CHROMIUM.open(f"http://127.0.0.1:{server.port}/", width)

    def text(self, name):
        return self.page.value(f"document.getElementById('{name}').textContent")

    def choose(self, name, value):
        self.page.value(f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event('change')); }})(document.getElementById('{name}'))")

    def run(self, model, image, scale=None):
        """The text of the result."""
        self.page.wait("document.getElementById('model').options.length > 0")
        self.choose("model", model)
        self.page.wait("document.getElementById('inputs').textContent !== ''")
        if scale:
            self.choose("scale", scale)
        root = self.page.call("DOM.getDocument")["root"]["nodeId"]
        node = self.page.call("DOM.querySelector", nodeId=root, selector="#image")["nodeId"]
        self.page.call("DOM.setFileInputFiles", files=[image], nodeId=node)
        self.page.value("document.getElementById('result').textContent = ''; document.getElementById('run').click()")
        self.page.wait("document.getElementById('result').textContent !== ''")
        return self.text("result")

    def close(self):
        self.page.close()


def elements(text):
    """{index: value} of the largest elements in a result."""
    return {int(i): float(value) for i, value in re.findall(r"^  (\d+): (\S+)$", text, re.M)}


def near(seen, wanted):
    return [] if len(seen) == len(wanted) and np.allclose(list(seen.values()), [wanted[i] for i in seen], rtol=1e-6, atol=1e-6) else \
        [f"{seen}, expected {dict(enumerate(wanted))}"]


@test
def digits_are_recognized():
    write(f"{FOLDER}/digits/digits.onnx", open(DIGITS, "rb").read())
    with Server(PROGRAM, f"{FOLDER}/digits") as server:
        visitor, faults = Visitor(server), []
        for label, name in ((2, "two"), (4, "four"), (7, "seven"), (8, "eight")):
            seen = elements(visitor.run("digits", digit(name)))
            best = max(seen, key=seen.get)
            faults += same(best, label) + ([] if seen[best] > .95 else [f"{name}: {seen}"])
        faults += same(visitor.text("inputs"), "inputs: image FP32 [1, 1, 28, 28]") + visitor.page.errors
        visitor.page.wait("document.getElementById('state').textContent === 'is ready'")
        row = visitor.text("models")
        visitor.close()
    return faults + ([] if row.startswith("digits1READY") else [row])


@test
def models_receive_the_pixels_as_chosen():
    """Models that return their input show the pixels."""
    for name, dtype, shape in (("first", "float", (1, 3, 1, 1)), ("gray", "double", ("n", 1, 1, 1)), ("last", "float", (1, 2, 2, 3)), ("byte", "uint8", (1, 3, 1, 1)),
                               ("signed", "int8", (1, 3, 1, 1)), ("long", "int64", (1, 1, 1, 1)), ("bool", "bool", (1, 3, 1, 1)),
                               ("four", "float", (1, 4, 2, 2)), ("flat", "float", (1, 3))):
        write(f"{FOLDER}/scales/{name}.onnx", unary("Identity", dtype, shape))
    normalized = (COLOR / 255 - MEAN) / DEVIATION
    gray = (COLOR.mean() / 255 - MEAN.mean()) / DEVIATION.mean()
    imagenet = "ImageNet's mean and deviation"
    rows = [("first", None, COLOR), ("first", "0 to 255", COLOR), ("first", "0 to 1", COLOR / 255), ("first", imagenet, normalized),
            ("gray", "0 to 255", [COLOR.mean()]), ("gray", imagenet, [gray]), ("last", "0 to 1", None),
            ("byte", None, COLOR), ("signed", None, COLOR - 128), ("long", None, [COLOR.mean()])]
    errors = [("bool", "type BOOL"), ("four", "shape [1, 4, 2, 2], expected 1 or 3 channels"), ("flat", "needs one input with 4 dimensions, but has x FP32 [1, 3]")]
    image, faults = png("color.png", np.tile(COLOR, (2, 2, 1))), []
    with Server(PROGRAM, f"{FOLDER}/scales") as server:
        visitor = Visitor(server)
        for model, scale, wanted in rows:
            text = visitor.run(model, image, scale)
            seen = elements(text)
            if model == "last":  # of 12 elements, the 5 largest: the last channel of 4 pixels, and one of the next channel
                wanted = {i: COLOR[i % 3] / 255 for i in seen}
                faults += same(sorted(set(seen) & {2, 5, 8, 11}), [2, 5, 8, 11])
            faults += [f"{model}, {scale}: {fault}: {text}" for fault in near(seen, wanted)]
            faults += same((model, visitor.page.value("document.getElementById('scale').disabled")), (model, model in ("byte", "signed", "long")))
        for model, part in errors:
            text = visitor.run(model, image)
            faults += [] if part in text else [f"{model}: '{part}' is not in {text}"]
        faults += visitor.page.errors
        visitor.close()
    return faults


@test
def the_page_asks_for_the_token():
    """Its console has the requests that failed."""
    token = "geheim \u00e4\u20ac"
    write(f"{FOLDER}/token", token.encode() + b"\n")
    with Server(PROGRAM, f"{FOLDER}/digits", "--token-file", f"{FOLDER}/token") as server:
        visitor, faults = Visitor(server), []
        page = visitor.page
        for given, state, hidden in ((None, "needs a token", False), ("other", "rejected the token", False), (token, "is ready", True)):
            if given:
                page.value(f"document.getElementById('token').value = {given!r}; document.querySelector('#access button').click()")
            page.wait(f"document.getElementById('state').textContent === {state!r}")
            faults += same(page.value("document.getElementById('access').hidden"), hidden)
        faults += [f"requests without a token: {len(page.requests)}"] if len(page.requests) > 20 else []
        seen = elements(visitor.run("digits", digit("seven")))
        faults += same(max(seen, key=seen.get), 7) + [error for error in page.errors if "401" not in error]
        visitor.close()
        return faults + (["the log has the token"] if "geheim" in server.read_log() else [])


def main():
    global FOLDER, CHROMIUM
    if not browser.command():
        tap = Tap()
        tap.skip("the status page, in a browser", "there is no chromium")
        tap.end()
    with folder() as FOLDER, browser.Browser() as CHROMIUM:
        run_tests()


if __name__ == "__main__":
    main()
