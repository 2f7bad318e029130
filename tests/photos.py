#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: photos.py LIGHTNET. Images as inputs, and drawn outputs, are those of formulas in NumPy. Speaks TAP.

Resizing is a double loop over elements and pixels: the weight of a pixel is that of the filter at its distance from the
element's center. Sources: Pillow's src/libImaging/Resample.c; torchvision's Resize and CenterCrop; Ultralytics' LetterBox.
"""
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np

IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
CLIP = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])


# Models

def op(name, optype, ins, out, params):
    return {"name": name, "optype": optype, "tensors_in": [{"arg_name": arg, "name": tensor} for arg, tensor in ins],
            "tensors_out": [{"arg_name": "dst", "name": out}],
            "params": [{"arg_name": arg, "value": value} for arg, value in params.items()]}


def source(name, array):
    return op("make_" + name, "source", [], name, {"dtype": "TL_FLOAT", "dims": list(array.shape),
                                                   "data": [float(v) for v in array.flat], "from_file": False})


def write_model(file, shape, **constants):
    """Constant outputs, and y, the double of the input x."""
    ops = [op("make_x", "source", [], "x", {"dtype": "TL_FLOAT", "dims": shape, "data": [], "from_file": False}),
           op("y", "elew", [("src1", "x"), ("src2", "x")], "y", {"elew_op": "TL_SUM"})]
    ops += [source(name, np.asarray(array)) for name, array in constants.items()]
    with open(file, "w", encoding="utf-8") as stream:
        json.dump({"inputs": ["x"], "outputs": [*constants, "y"], "ops": ops}, stream)


# Images

def write_ppm(file, pixels):
    height, width, _ = pixels.shape
    with open(file, "wb") as stream:
        stream.write(b"P6 %d %d 255\n" % (width, height) + pixels.tobytes())


def read_ppm(file):
    with open(file, "rb") as stream:
        assert stream.readline() == b"P6\n"
        width, height = map(int, stream.readline().split())
        assert stream.readline() == b"255\n"
        return np.frombuffer(stream.read(), np.uint8).reshape(height, width, 3)


def photo(height, width):
    """Smooth parts and noise."""
    y, x = np.mgrid[:height, :width]
    waves = np.stack([128 + 100 * np.sin(y / 3 + c) * np.cos(x / (4 + c)) for c in range(3)], axis=2)
    return np.clip(waves + np.random.default_rng(5).normal(0, 20, waves.shape), 0, 255).astype(np.uint8)


# Resizing

def triangle(x):
    return max(0, 1 - abs(x))


def cubic(x):
    x = abs(x)
    return 1.5 * x**3 - 2.5 * x**2 + 1 if x < 1 else -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0


def weights_of(axis, name):
    """[elements, pixels] of an axis: (pixels, resized pixels, elements, first resized pixel)."""
    n, size, out, offset = axis
    scale = n / size
    weights = np.zeros((out, n))
    for i in range(out):
        if not 0 <= i + offset < size:
            continue
        center = (i + offset + 0.5) * scale
        if name == "linear":
            center = min(max(center, 0.5), n - 0.5)
        for j in range(n):
            distance = j + 0.5 - center
            weights[i, j] = (triangle(distance) if name == "linear" else
                             (cubic if name == "bicubic" else triangle)(distance / max(scale, 1)))
        weights[i] /= weights[i].sum()
    return weights


def stretched(size, want):
    return [(n, out, out, 0) for n, out in zip(size, want)]


def cropped(size, want, share=1.0):
    """torchvision: Resize(shorter side), CenterCrop(want)."""
    box = [round(out / share) for out in want]
    whole = int(box[1] / size[1] > box[0] / size[0])
    resized = [0, 0]
    resized[whole] = box[whole]
    resized[1 - whole] = int(box[whole] * size[1 - whole] / size[whole])
    return [(n, r, out, int(round((r - out) / 2.0))) for n, r, out in zip(size, resized, want)]


def letterboxed(size, want):
    """Ultralytics: LetterBox(center=True)."""
    ratio = min(want[0] / size[0], want[1] / size[1])
    resized = [round(n * ratio) for n in size]
    return [(n, r, out, -int(round((out - r) / 2 - 0.1))) for n, r, out in zip(size, resized, want)]


def padded(size, want):
    """YOLOX, preproc; insightface, SCRFD.detect: at the upper left, rounded down."""
    ratio = min(Fraction(out, n) for n, out in zip(size, want))
    return [(n, max(int(n * ratio), 1), out, 0) for n, out in zip(size, want)]


def resized(pixels, axes, name, border=0.0):
    rows, columns = (weights_of(axis, name) for axis in axes)
    to = np.einsum("iy,yxc,jx->ijc", rows, pixels.astype(float), columns)
    if name == "bicubic":
        to = np.clip(to, 0, 255)
    to[rows.sum(axis=1) == 0] = border
    to[:, columns.sum(axis=1) == 0] = border
    return to


def normalized(to, mean, std):
    return (to / 255 - mean) / std


# Each: options, and the input of an image for an input of height and width.
INPUTS = [
    ("", lambda p, s, w: resized(p, stretched(s, w), "linear")),
    ("--preprocess 0-255", lambda p, s, w: resized(p, stretched(s, w), "linear")),
    ("--preprocess 0-1", lambda p, s, w: resized(p, stretched(s, w), "linear") / 255),
    ("--preprocess inception", lambda p, s, w: (resized(p, stretched(s, w), "linear") - 127.5) / 127.5),
    ("--preprocess caffe",
     lambda p, s, w: resized(p, stretched(s, w), "linear")[..., ::-1] - [103.939, 116.779, 123.68]),
    ("--preprocess imagenet",
     lambda p, s, w: normalized(resized(p, cropped(s, w, 224 / 256), "antialias"), *IMAGENET)),
    ("--preprocess imagenet --bgr",
     lambda p, s, w: normalized(resized(p, cropped(s, w, 224 / 256), "antialias"), *IMAGENET)[..., ::-1]),
    ("--preprocess clip", lambda p, s, w: normalized(resized(p, cropped(s, w), "bicubic"), *CLIP)),
    ("--preprocess detr", lambda p, s, w: normalized(resized(p, stretched(s, w), "antialias"), *IMAGENET)),
    ("--preprocess yolo", lambda p, s, w: resized(p, letterboxed(s, w), "linear", 114) / 255),
    ("--preprocess yolox", lambda p, s, w: resized(p, padded(s, w), "linear", 114)[..., ::-1]),
    ("--preprocess ultraface", lambda p, s, w: (resized(p, stretched(s, w), "linear") - 127) / 128),
    ("--preprocess retinaface",
     lambda p, s, w: resized(p, letterboxed(s, w), "linear", 0)[..., ::-1] - [104, 117, 123]),
    ("--preprocess scrfd", lambda p, s, w: (resized(p, padded(s, w), "linear", 0) - 127.5) / 128),
    ("--preprocess blazeface", lambda p, s, w: (resized(p, letterboxed(s, w), "linear", 0) - 127.5) / 127.5),
    ("--preprocess imagenet --resize stretch --std 2",
     lambda p, s, w: (resized(p, stretched(s, w), "antialias") - 255 * np.array(IMAGENET[0])) / 2),
    ("--preprocess yolo --mean 1,2,6/2 --scale 16/8",
     lambda p, s, w: (resized(p, letterboxed(s, w), "linear", 114) - [1, 2, 3]) * 2),
    ("--preprocess caffe --mean 1,2,3",
     lambda p, s, w: resized(p, stretched(s, w), "linear")[..., ::-1] - [1, 2, 3]),
    ("--resize stretch --mean 10 --scale 3 --std 2,4,8",
     lambda p, s, w: (resized(p, stretched(s, w), "antialias") - 10) * 3 / np.array([2, 4, 8])),
    ("--resize crop --filter linear", lambda p, s, w: resized(p, cropped(s, w), "linear")),
    ("--resize crop=0.5", lambda p, s, w: resized(p, cropped(s, w, 0.5), "antialias")),
    ("--resize letterbox=7 --filter bicubic", lambda p, s, w: resized(p, letterboxed(s, w), "bicubic", 7)),
    ("--resize pad=7", lambda p, s, w: resized(p, padded(s, w), "antialias", 7)),
    ("--filter bicubic", lambda p, s, w: resized(p, stretched(s, w), "bicubic")),
]
SIZES = [(40, 61), (61, 40), (9, 7), (16, 16), (1, 5), (33, 90)]
WANTED = [(16, 16), (12, 25), (14, 14)]


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, sentence, fault):
        self.n += 1
        self.failed += bool(fault)
        print(f"{'not ok' if fault else 'ok'} {self.n} - {sentence}")
        if fault:
            print("# " + str(fault).replace("\n", "\n# "))


def run(lightnet, *arguments):
    result = subprocess.run([lightnet, "run", *arguments], capture_output=True, text=True, check=False)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("info: run time")]
    return result.returncode, result.stdout, "\n".join(lines)


def input_of(lightnet, model, image, options):
    status, _, errors = run(lightnet, model, "-i", image, "-O", "out", "-w", *options)
    assert status == 0, errors
    return np.load("out/output_0.npy")[0].transpose(1, 2, 0) / 2


def check_layout(tap, lightnet):
    """Channels last, if only the last axis has 3 elements, or by --layout."""
    fault = ""
    pixels = photo(20, 30)
    write_ppm("photo.ppm", pixels)
    for shape, options, is_last in [([1, 12, 14, 3], [], True), ([12, 14, 3], [], True), ([1, 3, 14, 3], [], False),
                                    ([1, 3, 14, 3], ["--layout", "nhwc"], True), ([1, 3, 12, 14], [], False)]:
        write_model("model.json", shape)
        status, _, errors = run(lightnet, "model.json", "-i", "photo.ppm", "-O", "out", "-w", *options)
        size = [n for k, n in enumerate(shape[-3:]) if k != (2 if is_last else 0)]
        expected = resized(pixels, stretched((20, 30), size), "linear")
        expected = expected if is_last else expected.transpose(2, 0, 1)
        got = np.load("out/output_0.npy").reshape(shape[-3:]) / 2 if status == 0 else None
        if got is None or np.abs(got - expected).max() > 1e-3:
            fault += f"{shape} {options}: {errors or 'other elements'}\n"
    tap.check("the layout is that of the option, or the only one that fits", fault)


def check_inputs(tap, lightnet):
    for options, formula in INPUTS:
        fault = ""
        for size in SIZES:
            for want in WANTED:
                write_model("model.json", [1, 3, *want])
                pixels = photo(*size)
                write_ppm("photo.ppm", pixels)
                expected = formula(pixels, size, want)
                got = input_of(lightnet, "model.json", "photo.ppm", options.split())
                difference = np.abs(got - expected).max() / max(1, np.abs(expected).max())
                if not difference < 1e-6:
                    fault += f"{size} to {want}: differs by {difference}\n"
        tap.check(f"images with {options or 'no option'} become the input of the formula", fault)


# Drawing

def check_boxes(tap, lightnet):
    """Boxes of the input become those of the photo, whatever has been done to it; of two that overlap the best stays."""
    boxes = [[[0.25, 0.25, 0.75, 0.5], [0.25, 0.26, 0.76, 0.5], [0, 0, 0.1, 0.1]]]
    scores = [[[0.1, 0.9], [0.2, 0.8], [0.6, 0.4]]]
    size, want = (120, 240), (60, 60)
    write_ppm("photo.ppm", np.full((*size, 3), 100, np.uint8))
    write_model("model.json", [1, 3, *want], boxes=boxes, scores=scores)
    write_model("pixels.json", [1, 3, *want], boxes=np.array(boxes) * 60, scores=scores)
    cases = [("stretch", [60, 30, 180, 60]), ("crop", [90, 30, 150, 60]), ("letterbox", [60, 0, 180, 60]),
             ("pad", [60, 60, 180, 120])]
    for how, (x0, y0, x1, y1) in cases:
        fault = ""
        for model in ("model.json", "pixels.json"):
            status, printed, errors = run(lightnet, model, "-i", "photo.ppm", "--resize", how, "-w", "--draw", "boxes", "-o",
                                          "drawn.ppm")
            if (status, printed, errors) != (0, f"1  0.9  {x0} {y0} {x1} {y1}\n", ""):
                fault += f"{model}: {status} {printed!r} {errors!r}\n"
                continue
            drawn = read_ppm("drawn.ppm").astype(int)
            changed = (drawn != 100).any(axis=2)
            inside = np.zeros(size, bool)
            inside[y0:y1, x0:x1] = True
            frame = inside.copy()
            frame[y0 + 2:y1 - 2, x0 + 2:x1 - 2] = False
            # The score above the box, or in it.
            text = np.zeros(size, bool)
            top = y0 - 9 if y0 >= 9 else y0
            text[top:top + 9, x0:x0 + 4 * 6 + 1] = True
            if not (changed[frame | text].all() and not changed[~frame & ~text].any()):
                fault += f"{model}: other pixels are drawn\n"
            if not (drawn[(frame & ~text)] == drawn[y1 - 1, x1 - 1]).all():
                fault += f"{model}: the frame has several colours\n"
        tap.check(f"boxes are those of the photo with --resize {how}", fault)


def check_options_of_boxes(tap, lightnet):
    boxes = [[[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.25]]]
    scores = [[[0.9, 0.6, 0.2], [0.8, 0.7, 0.3]]]
    write_ppm("photo.ppm", np.full((20, 40, 3), 50, np.uint8))
    write_model("model.json", [1, 3, 10, 10], boxes=boxes, scores=scores)
    with open("three.txt", "w", encoding="utf-8") as stream:
        stream.write("cat\ndog\nowl\n")
    with open("two.txt", "w", encoding="utf-8") as stream:
        stream.write("dog\nowl\n")
    # By class, the best first.
    a, b = "0 0 20 10", "0 0 20 5"
    cases = [
        ([], f"0  0.9  {a}\n0  0.8  {b}\n1  0.7  {b}\n1  0.6  {a}\n"),
        (["--overlap", "0.4"], f"0  0.9  {a}\n1  0.7  {b}\n"),
        (["--threshold", "0.75"], f"0  0.9  {a}\n0  0.8  {b}\n"),
        (["--threshold", "0.95"], "no box has a score of at least 0.95\n"),
        (["--labels", "three.txt", "--threshold", "0.65"], f"cat  0.9  {a}\ncat  0.8  {b}\ndog  0.7  {b}\n"),
        (["--labels", "two.txt"], f"dog  0.7  {b}\ndog  0.6  {a}\n"),
    ]
    for options, expected in cases:
        status, printed, errors = run(lightnet, "model.json", "-i", "photo.ppm", "-w", "--draw", "boxes", "-o", "drawn.ppm",
                                      *options)
        got = printed, status, errors
        tap.check(f"boxes with {' '.join(options) or 'no option'}",
                  "" if got == (expected, 0, "") else f"{got}, expected {expected!r}")


def check_no_boxes(tap, lightnet):
    """The image stays as it is."""
    write_model("model.json", [1, 3, 10, 10], boxes=np.zeros((1, 0, 4)), scores=np.zeros((1, 0, 2)))
    write_ppm("photo.ppm", photo(20, 20))
    status, printed, errors = run(lightnet, "model.json", "-i", "photo.ppm", "-w", "--draw", "boxes", "-o", "drawn.ppm")
    fault = "" if (status, printed, errors) == (0, "no box has a score of at least 0.5\n", "") else f"{status} {printed!r} {errors!r}"
    if not fault and not (read_ppm("drawn.ppm") == photo(20, 20)).all():
        fault = "something is drawn"
    tap.check("no boxes are none", fault)


def check_mask(tap, lightnet):
    """Halves of the input: class 0 on the left, class 2 on the right; the letterbox has no classes."""
    scores = np.zeros((1, 3, 4, 8))
    scores[0, 0, :, :4] = 1
    scores[0, 2, :, 4:] = 1
    write_model("model.json", [1, 3, 40, 40], mask=scores)
    pixels = photo(20, 60)
    write_ppm("photo.ppm", pixels)
    status, printed, errors = run(lightnet, "model.json", "-i", "photo.ppm", "-w", "--draw", "mask", "-o", "drawn.ppm")
    drawn = read_ppm("drawn.ppm").astype(int)
    colour = 2 * drawn[0, 59] - pixels[0, 59]  # of the class, up to a half
    fault = "" if (status, printed, errors) == (0, "2  50.00 %\n", "") else f"{status} {printed!r} {errors!r}\n"
    if not (drawn[:, :30] == pixels[:, :30]).all():
        fault += "the background is coloured\n"
    if not (np.abs(2 * drawn[:, 30:] - pixels[:, 30:].astype(int) - colour) <= 1).all():
        fault += "the other half is not blended with one colour\n"
    tap.check("a mask colours the pixels of its classes", fault)


def check_classes(tap, lightnet):
    """The upper left pixels of the photo show the text, in the font of cli_canvas.c."""
    one = ["00000000", "00010000", "00110000", "00010000", "00010000", "00010000", "00010000", "00111000"]
    write_model("model.json", [1, 3, 10, 10], classes=[[0.1, 0.7, 0.2]])
    write_ppm("photo.ppm", np.full((60, 90, 3), 50, np.uint8))
    status, _, errors = run(lightnet, "model.json", "-i", "photo.ppm", "-w", "--draw", "classes", "--top", "2", "-o",
                            "drawn.ppm")
    drawn = read_ppm("drawn.ppm").astype(int)
    fault = "" if (status, errors) == (0, "") else errors
    ink = ["".join("01"[int((pixel != drawn[0, 0]).any())] for pixel in row[:8]) for row in drawn[:8]]
    # "1 0.70": the digit begins after one pixel of the edge.
    if [row[:6] for row in ink] != [row[:6] for row in one]:
        fault += "\n".join(ink)
    if not ((drawn[18:] == 50).all() and (drawn[:18, 0] != 50).any(axis=1).all()):
        fault += "\nthere are not two lines"
    tap.check("classes are lines of text", fault)


# Messages

HINT = ("warning: photo.ppm: pixels are not scaled, 0 to 255, and most models expect normalized values; see --preprocess "
        "(0-255 accepts these)")


def check_hint(tap, lightnet):
    write_ppm("photo.ppm", photo(20, 20))
    write_ppm("black.ppm", np.zeros((20, 20, 3), np.uint8))
    write_model("model.json", [1, 3, 10, 10])
    write_model("grey.json", [1, 1, 10, 10])
    cases = [("model.json", "photo.ppm", [], HINT), ("model.json", "photo.ppm", ["-w"], ""),
             ("model.json", "photo.ppm", ["--preprocess", "0-255"], ""), ("model.json", "photo.ppm", ["--mean", "0"], ""),
             ("model.json", "photo.ppm", ["--scale", "1"], ""), ("model.json", "photo.ppm", ["--std", "1"], ""),
             ("model.json", "photo.ppm", ["--resize", "crop"], HINT), ("model.json", "photo.ppm", ["--fetch", "x"], HINT),
             ("model.json", "black.ppm", [], ""), ("grey.json", "photo.ppm", [], "")]
    fault = ""
    for model, image, options, expected in cases:
        status, _, errors = run(lightnet, model, "-i", image, *options)
        if (status, errors) != (0, expected):
            fault += f"{model} {image} {options}: {status} {errors!r}\n"
    tap.check("pixels from 0 to 255 are an input with a warning", fault)


def check_each(tap, lightnet):
    """An image of each file, as the file alone gets it; what is no image is reported."""
    os.mkdir("photos")
    scores = np.zeros((1, 3, 10, 10))
    scores[0, 2, :, 5:] = 1
    write_model("model.json", [1, 3, 10, 10], mask=scores)
    write_ppm("photos/a.ppm", photo(20, 20))
    write_ppm("photos/b.ppm", photo(40, 10))
    np.save("photos/c.npy", np.zeros((1, 3, 10, 10), np.float32))
    fault = ""
    status, printed, errors = run(lightnet, "model.json", "--each", "photos", "-w", "--draw", "mask", "-O", "drawn")
    expected = "photos/a.ppm:\n2  50.00 %\nphotos/b.ppm:\n2  50.00 %\n"
    if (status, printed) != (1, expected) or "photos/c.npy: --draw needs an image" not in errors or "1 of 3 files" not in errors:
        fault += f"{status} {printed!r} {errors!r}\n"
    if sorted(os.listdir("drawn")) != ["a_mask.ppm", "b_mask.ppm"]:
        fault += f"written: {os.listdir('drawn')}\n"
    for name in ("a", "b"):
        run(lightnet, "model.json", "-i", f"photos/{name}.ppm", "-w", "--draw", "mask", "-o", "alone.ppm")
        if not (read_ppm("alone.ppm") == read_ppm(f"drawn/{name}_mask.ppm")).all():
            fault += f"{name} alone is another image\n"
    tap.check("an image of each file", fault)
    status, printed, errors = run(lightnet, "model.json", "--each", "photos", "-w", "--draw", "boxes", "-O", "none")
    wrong = [name for name in "ab" if f"photos/{name}.ppm: the outputs fit no family of detections: they are 'mask' [1, 3, 10, 10]" not in errors]
    fault = f"{status} {printed!r} {errors!r}\n" if wrong or status != 1 or "3 of 3 files failed" not in errors else ""
    if os.path.exists("none"):
        fault += f"written: {os.listdir('none')}\n"
    tap.check("each file whose outputs cannot be drawn is reported", fault)
    _, _, errors = run(lightnet, "model.json", "--each", "photos", "--draw", "mask", "-O", "again")
    tap.check("pixels from 0 to 255 are one warning for all files",
              "" if errors.count("photos/a.ppm: pixels are not scaled") == errors.count("not scaled") == 1 else errors)


def check_usage(tap, lightnet):
    write_ppm("photo.ppm", photo(20, 20))
    write_model("model.json", [1, 3, 10, 10])
    with open("weights.png", "wb") as stream:
        stream.write(b"\x93NUMPY\1\0")
    draw = ["-i", "photo.ppm", "-w", "--draw"]
    shapes = ("photo.ppm: the outputs fit no family of detections: they are 'y' [1, 3, 10, 10]; the nearest family is yolov8 (detect), "
              "which has output [1, 4 + C, N]")
    np.save("x.npy", np.zeros((1, 3, 10, 10), np.float32))
    cases = [
        (["--preprocess", "imagnet"], 2,
         "--preprocess is 'imagnet', expected imagenet, detr, clip, yolo, yolox, caffe, inception, ultraface, retinaface, "
         "scrfd, blazeface, 0-1 or 0-255"),
        (["--filter", "cubic"], 2, "--filter is 'cubic', expected linear, antialias or bicubic"),
        (["--std", "1,0,1"], 2, "--std is '1,0,1', expected no 0"),
        (["--draw", "boxes"], 2, "--draw needs -o FILE, such as -o out.png"),
        (["--draw", "boxes", "--each", "."], 2, "--draw with --each needs -O DIR, for an image of each file"),
        (["--draw", "boxes", "--each", ".", "-o", "out.png"], 2, "--draw with --each needs -O DIR, for an image of each file"),
        (["-o", "out.png"], 2, "-o needs --draw; -O DIR writes outputs"),
        (["--draw", "box", "-o", "out.png"], 2, "--draw is 'box', expected boxes, detect, segment, pose, obb, mask, semantic or classes"),
        ([*draw, "boxes", "-o", "out.bmp"], 2, "out.bmp: unknown suffix '.bmp', expected .png, .jpg, .jpeg or .ppm"),
        ([*draw, "boxes", "-o", "-"], 2, "-: --draw writes a file, .png, .jpg or .ppm"),
        ([*draw, "boxes", "-o", "photo.ppm"], 2, "photo.ppm: the output would overwrite the input 'photo.ppm'"),
        ([*draw, "boxes", "-o", "weights.png"], 1,
         "weights.png: the file exists and holds an npy array; --force replaces it"),
        ([*draw, "boxes", "-o", "out.ppm"], 1, shapes),
        ([*draw, "mask", "-o", "none/out.ppm"], 1, "none/out.ppm: cannot write: No such file or directory"),
        (["-i", "x.npy", "--draw", "mask", "-o", "out.ppm"], 1, "--draw needs an image: no file of -i is one"),
    ]
    cases += [(["--resize", value], 2,
               f"--resize is '{value}', expected stretch, crop, crop=SHARE (0.01 to 1), letterbox, pad, letterbox=GREY or "
               "pad=GREY (0 to 255)")
              for value in ("", "fit", "stretch=1", "crop=", "crop=2", "crop=0", "crop=nan", "letterbox=256",
                            "letterbox=1x", "pad=-1")]
    fault = ""
    for options, status, expected in cases:
        got, printed, errors = run(lightnet, "model.json", *options)
        if (got, errors) != (status, "lightnet: error: " + expected):
            fault += f"{options}: {got} {printed!r} {errors!r}\n"
    tap.check("wrong options and outputs are errors", fault)


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_inputs(tap, lightnet)
        check_layout(tap, lightnet)
        check_boxes(tap, lightnet)
        check_options_of_boxes(tap, lightnet)
        check_no_boxes(tap, lightnet)
        check_mask(tap, lightnet)
        check_each(tap, lightnet)
        check_classes(tap, lightnet)
        check_hint(tap, lightnet)
        check_usage(tap, lightnet)
        os.chdir("/")
    print(f"1..{tap.n}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
