#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: vision.py LIGHTNET. Convolutions, pooling, resizing, sampling, quantization, in the forms, types and opsets that
ONNX's own tests do not reach."""
import os
import sys

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from shapes import Case, check_cases, f32, ints
from tap import Tap

RNG = np.random.default_rng(20240229)
LINE = f32(1, 5, 2, 4, 3, 6).reshape(1, 1, 6)
IMAGE = RNG.normal(size=(2, 4, 6, 7)).astype(np.float32)
RAMP = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
BYTES = RNG.integers(0, 255, (1, 2, 5, 4), dtype=np.uint8)


def conv(src, weight, pads=(0, 0, 0, 0), strides=(1, 1)):
    """In the widest type of their kind; pads: top, left, bottom, right."""
    src = np.pad(src.astype(np.float64), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    kh, kw = weight.shape[2:]
    rows, columns = src.shape[2] - kh + 1, src.shape[3] - kw + 1
    out = sum(np.einsum("nchw,oc->nohw", src[:, :, i:i + rows, j:j + columns], weight[:, :, i, j].astype(np.float64))
              for i in range(kh) for j in range(kw))
    return out[:, :, ::strides[0], ::strides[1]]


def quantized(values, scale, zero, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.rint(values / scale) + zero, info.min, info.max).astype(dtype)


WEIGHT = RNG.normal(size=(3, 4, 3, 2)).astype(np.float32)
SMALL = RNG.integers(-9, 9, (3, 2, 2, 2), dtype=np.int8)
SUMS = conv(BYTES.astype(int) - 100, SMALL)
SCALES = f32(0.01, 0.02, 0.05)
OFFSETS = np.zeros((2, 12, 6, 7), np.float32)
TABLE = (RNG.normal(size=(4, 6)) * 50).astype(np.float32)
BLOCK_SCALES = np.abs(RNG.normal(size=(2, 6))).astype(np.float32) + np.float32(0.5)
SPREAD = BLOCK_SCALES.repeat(2, 0)
LEFT, RIGHT_SIDE = RNG.integers(0, 255, (2, 3, 4), dtype=np.uint8), RNG.integers(-128, 127, (4, 5), dtype=np.int8)

# A case and its output.
RIGHT = [
    (Case("over an image", 22, "Conv", [IMAGE, WEIGHT], pads=[1, 0, 1, 2], strides=[2, 1]),
     [conv(IMAGE, WEIGHT, (1, 0, 1, 2), (2, 1)).astype(np.float32)]),
    (Case("of doubles", 11, "Conv", [IMAGE.astype(np.float64), WEIGHT.astype(np.float64)]),
     [conv(IMAGE, WEIGHT)]),
    (Case("over a line, which it cuts", 11, "Conv", [LINE, f32(1, 10).reshape(1, 1, 2)], pads=[-1, -1]), [f32(25, 42, 34).reshape(1, 1, 3)]),
    (Case("of no images", 11, "Conv", [IMAGE[:0], WEIGHT]), [np.zeros((0, 3, 4, 6), np.float32)]),
    (Case("makes more at the end", 11, "ConvTranspose", [LINE[..., :2], f32(1, 10).reshape(1, 1, 2)], strides=[3], output_shape=[6]),
     [f32(1, 10, 0, 5, 50, 0).reshape(1, 1, 6)]),
    (Case("with zero points", 10, "ConvInteger", [BYTES, SMALL.astype(np.int8)], [np.uint8(100)]), [SUMS.astype(np.int32)]),
    (Case("with a scale for each channel", 10, "QLinearConv", [BYTES], [
        np.float32(0.5), np.uint8(100), SMALL, SCALES, np.zeros(3, np.int8), np.float32(2), np.uint8(7)]),
     [quantized(SUMS * SCALES.astype(np.float64)[:, None, None] * 0.5, 2.0, 7, np.uint8)]),
    (Case("of bytes", 12, "MaxPool", [BYTES.astype(np.int8)], kernel_shape=[5, 4]), [BYTES.astype(np.int8).max((2, 3), keepdims=True)]),
    (Case("leaves a last window out", 12, "MaxPool", [LINE[..., :2]], kernel_shape=[1], strides=[2], pads=[0, 1], ceil_mode=1),
     [f32(1).reshape(1, 1, 1)]),
    (Case("rounds up", 12, "MaxPool", [LINE], kernel_shape=[3], strides=[2], ceil_mode=1), [f32(5, 4, 6).reshape(1, 1, 3)]),
    (Case("finds places, column by column", 12, "MaxPool", [RAMP], kernel_shape=[2, 2], strides=[2, 2], storage_order=1),
     [f32(5, 7, 13, 15).reshape(1, 1, 2, 2), ints(5, 13, 7, 15).reshape(1, 1, 2, 2)]),
    (Case("counts its padding, not what rounding up adds", 19, "AveragePool", [LINE[..., :4]], kernel_shape=[4], strides=[3],
          pads=[1, 1], ceil_mode=1, count_include_pad=1), [f32(2, 2).reshape(1, 1, 2)]),
    (Case("has gaps", 19, "AveragePool", [LINE], kernel_shape=[2], dilations=[3]), [f32(2.5, 4, 4).reshape(1, 1, 3)]),
    (Case("takes its exponent as a float", 1, "LpPool", [-LINE], kernel_shape=[3], strides=[3], p=1.0), [f32(8, 13).reshape(1, 1, 2)]),
    (Case("over three axes", 2, "GlobalLpPool", [f32(3, 0, -4, 0).reshape(1, 1, 2, 1, 2)]), [f32(5).reshape(1, 1, 1, 1, 1)]),
    (Case("makes nothing of nothing", 11, "MaxUnpool", [np.zeros((0, 1, 2), np.float32), np.zeros((0, 1, 2), np.int64)],
          kernel_shape=[2], strides=[2]), [np.zeros((0, 1, 4), np.float32)]),
    (Case("enlarges what it made", 11, "MaxUnpool", [f32(7, 9).reshape(1, 1, 2), ints(1, 2).reshape(1, 1, 2)], [ints(1, 1, 6)],
          kernel_shape=[2], strides=[2]), [f32(0, 7, 9, 0, 0, 0).reshape(1, 1, 6)]),
    (Case("has scales in attributes", 7, "Upsample", [RAMP[..., :2, :2]], scales=[1.0, 1.0, 1.0, 2.0]),
     [RAMP[..., :2, :2].repeat(2, 3)]),
    (Case("rounds up where it shrinks", 10, "Resize", [RAMP[..., :2, :4]], [f32(1, 1, 0.6, 0.6)]), [f32(0, 2).reshape(1, 1, 1, 2)]),
    (Case("against aliasing", 18, "Resize", [RAMP[..., :1, :]], [None, None, ints(1, 1, 1, 2)], mode="linear", antialias=1),
     [f32(0.625, 2.375).reshape(1, 1, 1, 2)]),
    (Case("keeps the ratio of some axes", 18, "Resize", [RAMP], [None, None, ints(8, 6)], axes=[2, 3],
          keep_aspect_ratio_policy="not_larger", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
     [RAMP[:, :, [0, 0, 1, 2, 2, 3]][..., [0, 0, 1, 2, 2, 3]]]),
    (Case("of bools", 19, "Resize", [RAMP > 7], [None, f32(1, 1, 2, 1)]), [(RAMP > 7).repeat(2, 2)]),
    (Case("turns a quarter", 20, "AffineGrid", [f32(0, -1, 0, 1, 0, 0.5).reshape(1, 2, 3)], [ints(1, 1, 1, 2)]),
     [f32(0, 0, 0, 1).reshape(1, 1, 2, 2)]),
    (Case("over three axes", 20, "GridSample", [RAMP.reshape(1, 1, 2, 2, 4), f32(-1 / 4, -1 / 2, 1 / 2).reshape(1, 1, 1, 1, 3)]),
     [f32(9).reshape(1, 1, 1, 1, 1)]),
    (Case("has centers as coordinates", 10, "RoiAlign", [RAMP, f32(0, 0, 2, 2).reshape(1, 4), ints(0)], sampling_ratio=1,
          output_height=1, output_width=2), [f32(4.5, 5.5).reshape(1, 1, 1, 2)]),
    (Case("rounds its corners", 1, "MaxRoiPool", [RAMP, f32(0, 0.6, 1.4, 1.5, 3).reshape(1, 5)], pooled_shape=[2, 1]),
     [f32(10, 14).reshape(1, 1, 2, 1)]),
    (Case("adds windows", 18, "Col2Im", [np.ones((1, 4, 9), np.float32)], [ints(4, 4), ints(2, 2)]),
     [np.outer([1, 2, 2, 1], [1, 2, 2, 1]).astype(np.float32).reshape(1, 1, 4, 4)]),
    (Case("without offsets is Conv", 19, "DeformConv", [IMAGE, WEIGHT, OFFSETS], pads=[1, 0, 1, 1]), [conv(IMAGE, WEIGHT, (1, 0, 1, 1)).astype(np.float32)]),
    (Case("of bytes", 13, "SpaceToDepth", [np.arange(4, dtype=np.uint8).reshape(1, 1, 2, 2)], blocksize=2),
     [np.arange(4, dtype=np.uint8).reshape(1, 4, 1, 1)]),
    (Case("by blocks", 21, "QuantizeLinear", [TABLE], [BLOCK_SCALES, np.ones((2, 6), np.int16)], axis=0, block_size=2),
     [quantized(TABLE / SPREAD, 1, 1, np.int16)]),
    (Case("to the type it names", 21, "QuantizeLinear", [f32(-3, 2.5, 999)], [np.float32(1)], output_dtype=3),
     [np.array([-3, 2, 127], np.int8)]),
    (Case("by blocks", 21, "DequantizeLinear", [TABLE.astype(np.int8)], [BLOCK_SCALES], axis=0, block_size=2),
     [TABLE.astype(np.int8) * SPREAD]),
    (Case("of 32 bits to 16", 23, "DequantizeLinear", [np.array([2, -4], np.int32)], [np.float32(0.5)], output_dtype=10),
     [np.array([1, -2], np.float16)]),
    (Case("of nothing but 0", 11, "DynamicQuantizeLinear", [f32(0, 0)]), [np.zeros(2, np.uint8), np.float32(1), np.uint8(0)]),
    (Case("with a scale for each column", 10, "QLinearMatMul", [LEFT], [
        np.float32(0.5), np.uint8(9), RIGHT_SIDE, f32(0.01, 0.02, 0.03, 0.04, 0.05), np.zeros(5, np.int8), np.float32(4), np.uint8(50)]),
     [quantized((LEFT.astype(int) - 9) @ RIGHT_SIDE.astype(int) * 0.5 * f32(0.01, 0.02, 0.03, 0.04, 0.05).astype(float), 4.0, 50, np.uint8)]),
]

# A case and words of the message with which it is rejected.
WRONG = [
    (Case("is rejected when no window fits", 11, "Conv", [LINE, np.ones((1, 1, 7), np.float32)]), "expected at least the window's 7"),
    (Case("is rejected with few pads", 11, "Conv", [IMAGE, WEIGHT], pads=[1, 1]), "attribute 'pads' has 2 numbers, expected 4"),
    (Case("is rejected without a kernel", 12, "MaxPool", [LINE]), "attribute 'kernel_shape' is missing"),
    (Case("is rejected without axes", 12, "MaxPool", [f32(1, 2)], kernel_shape=[1]), "expected 3 to 8"),
    (Case("is rejected with an odd mode", 11, "Conv", [IMAGE, WEIGHT], auto_pad="SOME"), "\"SOME\""),
    (Case("is rejected with a stride of 0", 11, "Conv", [IMAGE, WEIGHT], strides=[0, 1]), "attribute 'strides' has 0"),
    (Case("is rejected with both", 19, "Resize", [RAMP], [None, f32(1, 1, 2, 2), ints(1, 1, 2)]), "scales and"),
    (Case("is rejected when it is too large", 19, "Resize", [RAMP], [None, f32(1, 1, 1e9, 1e9)]), "4"),
    (Case("is rejected with an odd mode", 19, "Resize", [RAMP], [None, f32(1, 1, 2, 2)], mode="area"), "\"area\""),
    (Case("is rejected without the image", 10, "RoiAlign", [RAMP, f32(0, 0, 2, 2).reshape(1, 4), ints(1)]), "region 0 is of image 1"),
    (Case("is rejected outside", 11, "MaxUnpool", [f32(7).reshape(1, 1, 1), ints(9).reshape(1, 1, 1)], kernel_shape=[2]), "9"),
    (Case("is rejected with an odd type", 21, "QuantizeLinear", [f32(1)], [np.float32(1)], output_dtype=1), "output_dtype"),
]


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    check_cases(tap, lightnet, RIGHT, WRONG, 1e-5)
    tap.end()


if __name__ == "__main__":
    main()
