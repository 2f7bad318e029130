#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: examples.py LIGHTNET [light]. The networks of examples/networks on a photo-sized image; light: the large one is only compiled."""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "structure"))
from tap import Tap


def write_photo(path, height=480, width=640):
    """Stripes, a gradient, and noise."""
    y, x = np.mgrid[:height, :width]
    noise = np.random.default_rng(1).integers(0, 30, (height, width))
    photo = np.stack([x * 255 // width, y * 255 // height, (x // 40 + y // 40) % 2 * 200 + noise], axis=2)
    with open(path, "wb") as f:
        f.write(b"P6\n%d %d\n255\n" % (width, height) + photo.astype(np.uint8).tobytes())


class Network:
    def __init__(self, lightnet, name):
        self.lightnet, self.file = lightnet, os.path.join(ROOT, "examples", "networks", name + ".net")

    def call(self, command, *args):
        return subprocess.run([self.lightnet, command, self.file, *args], capture_output=True, text=True)

    def shown(self, *lines):
        """Faults: texts that `show` does not print."""
        r = self.call("show")
        return [f"no '{line}' in:\n{r.stdout}{r.stderr}" for line in lines if line not in r.stdout]

    def outputs(self, *args):
        """The outputs on the photo, in order; a text: the error."""
        with tempfile.TemporaryDirectory() as folder:
            write_photo(os.path.join(folder, "photo.ppm"))
            r = self.call("run", "-i", os.path.join(folder, "photo.ppm"), "--mean", "127", "--scale", "0.01", "-O", folder, *args)
            if r.returncode:
                return r.stderr
            files = sorted((f for f in os.listdir(folder) if f.endswith(".npy")), key=lambda f: int(f[7:-4]))
            return [np.load(os.path.join(folder, f)) for f in files]


def holds(**claims):
    return [f"not so: {name.replace('_', ' ')}" for name, claim in claims.items() if not claim]


def squeezenet_faults(net):
    out, again, other = net.outputs(), net.outputs(), net.outputs("--seed", "7")
    if isinstance(out, str):
        return [out]
    return holds(one_output=len(out) == 1 and out[0].shape == (1, 1000),
                 probabilities_sum_to_1=abs(out[0].sum() - 1) < 1e-4 and (out[0] > 0).all(),
                 a_seed_gives_the_same=(out[0] == again[0]).all(),
                 another_seed_gives_others=(out[0] != other[0]).any())


def shuffledet_faults(net):
    out = net.outputs()
    if isinstance(out, str):
        return [out]
    scores, boxes, kinds = out
    n = 384 // 16 * (512 // 16) * 9
    return holds(shapes=(scores.shape, boxes.shape, kinds.shape) == ((n,), (64, 4), (64,)),
                 scores_fall=(np.diff(scores) <= 0).all(),
                 scores_are_probabilities=(scores > 0).all() and (scores < 1).all(),
                 kinds_are_0_to_2=(kinds >= 0).all() and (kinds < 3).all(),
                 boxes_lie_in_the_image=(boxes >= 0).all() and (boxes <= [511, 383, 511, 383]).all(),
                 boxes_have_an_extent=(boxes[:, 2:] >= boxes[:, :2]).all() and np.mean(boxes[:, 2:] > boxes[:, :2]) > 0.9)


def yolov3_faults(net):
    out = net.outputs()
    if isinstance(out, str):
        return [out]
    faults = holds(three_heads=len(out) == 15)
    for head, cells in enumerate((13, 26, 52) if not faults else ()):
        centers, sizes, boxes, confidences, probabilities = out[5 * head:5 * head + 5]
        shapes = [(1, 3, n, cells, cells) for n in (2, 2, 4, 1, 80)]
        low, high = centers - sizes / 2, centers + sizes / 2
        faults += holds(shapes=[t.shape for t in (centers, sizes, boxes, confidences, probabilities)] == shapes,
                        centers_lie_in_the_image=(centers >= 0).all() and (centers <= 416).all(),
                        boxes_are_around_them=np.allclose(boxes, np.concatenate([low, high], axis=2), atol=0.02, rtol=1e-4),
                        confidences_and_probabilities=all((t >= 0).all() and (t <= 1).all() for t in (confidences, probabilities)))
    return faults


def main():
    lightnet, light = os.path.abspath(sys.argv[1]), sys.argv[2:] == ["light"]
    tap = Tap()
    squeezenet, shuffledet, yolov3 = (Network(lightnet, name) for name in ("squeezenet", "shuffledet", "yolov3"))
    tap.check("SqueezeNet 1.1 has the parameters of its paper's second version", squeezenet.shown("parameters 1235496 "))
    tap.check("SqueezeNet 1.1 tells classes", squeezenet_faults(squeezenet))
    tap.check("ShuffleNet-v2 with a SqueezeDet head finds boxes", shuffledet_faults(shuffledet))
    tap.check("YOLOv3 has the work of its paper, 65.86 billion operations", yolov3.shown("work       32933249024 multiply-accumulates"))
    if light:
        tap.skip("YOLOv3 finds boxes", "it takes long with sanitizers")
    else:
        tap.check("YOLOv3 finds boxes", yolov3_faults(yolov3))
    tap.end()


if __name__ == "__main__":
    main()
