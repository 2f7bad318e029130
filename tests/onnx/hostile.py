#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: hostile.py LIGHTNET. Attributes and shapes that no exporter writes: each is rejected with its reason."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from onnx_case import faults_of
from onnx_writer import graph, model, node, value
from shapes import Case, check_cases, f32, ints
from tap import Tap

IMAGE = np.ones((1, 2, 3, 3), np.float32)
THETA = np.ones((1, 3, 4), np.float32)
LEAST, MOST = -2**63, 2**31 - 1

# A case and words of the message with which it is rejected.
WRONG = [
    (Case("in 0 groups", 11, "ConvTranspose", [IMAGE, IMAGE], group=0), "attribute 'group' is 0"),
    (Case("of the least length", 11, "ConvTranspose", [IMAGE, IMAGE], output_shape=[LEAST, LEAST]), "-9223372036854775808"),
    (Case("of the largest length", 11, "ConvTranspose", [IMAGE, IMAGE], output_shape=[2**63 - 1, 1]), "9223372036854775807"),
    (Case("of more elements than there can be", 20, "AffineGrid", [THETA], [ints(1, 1, MOST, 2, 2)]),
     "'size': shape [2147483647, 2, 2], expected at most 2147483647 elements"),
    (Case("of another number of images", 20, "AffineGrid", [THETA], [ints(2, 1, 1, 1, 1)]), "2 images"),
    (Case("in blocks without end of no image", 13, "SpaceToDepth", [np.ones((1, MOST, 0, 0), np.float32)], blocksize=MOST), "images that divide into blocks"),
    (Case("of a line", 23, "RotaryEmbedding", [f32(1, 2), f32(1), f32(1)]), "1 dimensions, expected 3 or 4"),
    (Case("of an odd part", 23, "RotaryEmbedding", [IMAGE, IMAGE[0], IMAGE[0]]), "3 elements of a head"),
    (Case("of more than there is", 23, "RotaryEmbedding", [IMAGE, IMAGE[0], IMAGE[0]], rotary_embedding_dim=4), "4 elements of a head"),
    (Case("with a mask of more dimensions", 23, "Attention", [IMAGE] * 3 + [np.ones((1, 1, 1, 3, 3), np.float32)]), "'attn_mask'"),
    (Case("of a type beyond 32 bits", 9, "EyeLike", [np.eye(2, dtype=np.float32)], dtype=2**32 + 1), "attribute 'dtype'"),
    (Case("of fewer scales than channels", 6, "InstanceNormalization", [np.ones((1, 4, 2), np.float32), f32(1, 2), f32(1, 2)]),
     "'scale', has 2 elements"),
    (Case("with a negative epsilon", 9, "BatchNormalization", [IMAGE, *[f32(1, 1)] * 4], epsilon=-1.0), "'epsilon' is -1"),
    (Case("of dots twice", 12, "Einsum", [f32(1, 2)], equation="......"), "2 labels for an input of 1"),
    (Case("along an axis beyond 64 bits", 1, "Tile", [f32(1, 2)], [np.float32(2), np.float32(1e30)]), "axis"),
    (Case("along an axis twice", 18, "Resize", [IMAGE], [None, f32(2, 3)], axes=[2, -2]), "duplicate axis 2"),
    (Case("by a negative scale", 9, "Upsample", [IMAGE], [f32(1, 1, -1, 2)]), "scale -1 of length 3"),
    (Case("without an axis", 14, "CumSum", [f32(1, 2)]), "input 1 is missing"),
    (Case("without a product's axis", 26, "CumProd", [f32(1, 2)]), "input 1 is missing"),
    (Case("without k", 11, "TopK", [f32(1, 2)]), "input 1 is missing"),
    (Case("without k", 1, "TopK", [f32(1, 2)]), "attribute 'k' is missing"),
    (Case("without a depth", 11, "OneHot", [ints(1, 2)], [None, f32(0, 1)]), "input 1 is missing"),
    (Case("without a step", 17, "STFT", [np.ones((1, 8, 1), np.float32)], [None, f32(1, 1)]), "input 1 is missing"),
    *[(Case("without a size", 17, op_type, []), "input 0 is missing") for op_type in ("HannWindow", "HammingWindow", "BlackmanWindow")],
    (Case("without a high frequency", 17, "MelWeightMatrix", [], [np.int64(8), np.int64(16), np.int64(8192), np.float32(0)]),
     "input 4 is missing"),
    (Case("without axes", 13, "Unsqueeze", [f32(1, 2)]), "input 1 is missing"),
    (Case("without axes", 11, "Unsqueeze", [f32(1, 2)]), "attribute 'axes' is missing"),
    *[(Case("without a size of blocks", 13, op_type, [np.ones((1, 4, 2, 2), np.float32)]), "attribute 'blocksize' is missing")
      for op_type in ("DepthToSpace", "SpaceToDepth")],
    (Case("of a scalar", 11, "TopK", [np.float32(1), ints(1)]), "0 dimensions"),
    (Case("without end", 17, "HannWindow", [], [np.int64(MOST)]), "'size' is 2147483647"),
    (Case("without end", 17, "MelWeightMatrix", [], [np.int64(MOST // 2), np.int64(16), np.int64(1), np.float32(0), np.float32(1)]),
     "weights"),
]


def unwanted():
    """A node of which nothing is wanted, beside one of which something is."""
    nodes = [node("RNN", ["x", "w", "r"], ["", ""]), node("Relu", ["x"], ["y"])]
    given = [value("x", "float", [1, 1, 2]), value("w", "float", [1, 3, 2]), value("r", "float", [1, 3, 3])]
    return model(graph(nodes, given, [value("y", "float")], []), opset=14)


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_cases(tap, lightnet, [], WRONG)
    inputs = {"x": f32(1, -2).reshape(1, 1, 2), "w": np.ones((1, 3, 2), np.float32), "r": np.ones((1, 3, 3), np.float32)}
    tap.check("an RNN of which nothing is wanted is left out",
              faults_of(lightnet, unwanted(), inputs, [f32(1, 0).reshape(1, 1, 2)]))
    tap.end()


if __name__ == "__main__":
    main()
