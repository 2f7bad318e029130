# SPDX-License-Identifier: Apache-2.0
"""Rows of corners.py for layers over odd axes: convolutions, pools, recurrent layers, resizing, softmax, norms,
    integer products."""
import numpy as np
from small_models import constant, indices, model, normal, outputs_of, random, single, weights
from rows_moves import F, I8, U8, each
from onnx import TensorProto, helper


def conv(source, n, kernel, strides=None, dilation=1, group=1):
    """source: the shape of x. pads keep the size."""
    strides = strides or (1,) * len(kernel)
    pads = [dilation * (k - 1) // 2 for k in kernel] * 2
    return model([helper.make_node("Conv", ["x", "w", "b"], ["c"], kernel_shape=kernel, pads=pads, strides=strides,
                                   dilations=[dilation] * len(kernel), group=group),
                  helper.make_node("Relu", ["c"], ["y"])], {"x": normal(*source)}, outputs_of(["y"]),
                 [constant("w", weights(n, source[1] // group, *kernel)), constant("b", normal(n))])


def deconv(source, n, kernel, strides, group=1):
    pads = [(k - s) // 2 for k, s in zip(kernel, strides)] * 2
    return single("ConvTranspose", normal(*source), constants=[weights(source[1], n // group, *kernel), normal(n)],
                  kernel_shape=kernel, strides=strides, pads=pads, group=group)


def pool(op, shape, kernel, strides, ceil_mode, dtype):
    pads = [k // 2 if s < k and k % 2 else 0 for k, s in zip(kernel, strides)] * 2
    return single(op, random(dtype, *shape), kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=ceil_mode)


def global_pool(op, shape):
    return single(op, normal(*shape))


def recurrent(kind, steps, batch, size, hidden, direction, reset=1):
    gates, both = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind], 2 if direction == "bidirectional" else 1
    attributes = {"linear_before_reset": reset} if kind == "GRU" else {}
    return single(kind, normal(steps, batch, size), constants=[weights(both, gates * hidden, size), weights(both,
        gates * hidden, hidden),
                                                               normal(both, 2 * gates * hidden) / 4],
                  hidden_size=hidden, direction=direction, **attributes)


def resize(shape, factors, mode, coords, dtype):
    scales = np.array(factors, F)
    return single("Resize", random(dtype, *shape), constants=[None, scales], mode=mode, coordinate_transformation_mode=coords,
                  **({"nearest_mode": "floor"} if mode == "nearest" else {}))


def softmax(op, shape, axis):
    return single(op, normal(*shape), axis=axis)


def instance_norm(shape):
    return single("InstanceNormalization", normal(*shape), constants=[normal(shape[1]), normal(shape[1])])


def layer_norm(shape, axis):
    return single("LayerNormalization", normal(*shape), constants=[normal(*shape[axis:]), normal(*shape[axis:])], axis=axis)


def conv_integer(source, n, kernel, dtype, zero, scaled):
    """As quantize_dynamic writes it; `scaled`: a Cast and Mul follow."""
    kind = np.iinfo(dtype)
    quantized = [constant("w", np.random.default_rng(1).integers(kind.min, kind.max, (n, source[1], *kernel)).astype(dtype)),
                 constant("wz", np.array(zero, dtype))]
    return integer("ConvInteger", source, quantized, np.array([0.01], F), scaled, pads=[k // 2 for k in kernel] * 2)


def matmul_integer(rows, k, n, dtype, zero, per_column):
    kind = np.iinfo(dtype)
    quantized = [constant("w", np.random.default_rng(1).integers(kind.min, kind.max, (k, n)).astype(dtype)),
                 constant("wz", np.full([n] if per_column else [], zero, dtype))]
    return integer("MatMulInteger", (rows, k), quantized, np.full([n] if per_column else [1], 0.01, F), True)


def integer(op, source, quantized, scale, scaled, **attributes):
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
             helper.make_node(op, ["q", "w", "z", "wz"], ["i"], **attributes)]
    if not scaled:
        return model(nodes, {"x": normal(*source)}, outputs_of(["i"], TensorProto.INT32), quantized)
    nodes += [helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT), helper.make_node("Mul", ["s", "ws"], ["sw"]),
              helper.make_node("Mul", ["f", "sw"], ["y"])]
    return model(nodes, {"x": normal(*source)}, outputs_of(["y"]), [*quantized, constant("ws", scale)])


def qlinear_conv(source, n, kernel, dtype, zero):
    kind = np.iinfo(dtype)
    x = np.random.default_rng(2).integers(0, 255, source).astype(U8)
    w = np.random.default_rng(1).integers(kind.min, kind.max, (n, source[1], *kernel)).astype(dtype)
    scales = [np.array(0.02, F), np.array(120, U8), w, np.array(0.01, F), np.array(zero, dtype), np.array(1.5, F),
        np.array(128, U8)]
    return single("QLinearConv", x, constants=scales, pads=[k // 2 for k in kernel] * 2)


def nested(channels, middle, size):
    """A block of ISNet on a large image: down, dilated, up, joined, over few channels."""
    tensors, nodes = [], []

    def layer(source, result, inside, outside, dilation=1):
        tensors.extend([constant(f"w_{result}", weights(outside, inside, 3, 3)), constant(f"b_{result}", normal(outside))])
        nodes.append(helper.make_node("Conv", [source, f"w_{result}", f"b_{result}"], [f"c_{result}"], pads=[dilation] * 4,
            dilations=[dilation] * 2))
        nodes.append(helper.make_node("Relu", [f"c_{result}"], [result]))

    layer("x", "a", channels, channels)
    layer("a", "e1", channels, middle)
    nodes.append(helper.make_node("MaxPool", ["e1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1))
    layer("p1", "e2", middle, middle)
    nodes.append(helper.make_node("MaxPool", ["e2"], ["p2"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1))
    layer("p2", "e3", middle, middle)
    layer("e3", "m", middle, middle, 2)
    tensors.append(constant("twice", np.array([1, 1, 2, 2], F)))
    for k, (inner, outer, outside) in enumerate([("m", "e3", middle), ("d0", "e2", middle), ("d1", "e1", channels)]):
        if k:
            nodes.append(helper.make_node("Resize", [inner, "", "twice"], [f"u{k}"], mode="linear",
                coordinate_transformation_mode="pytorch_half_pixel"))
        nodes.append(helper.make_node("Concat", [f"u{k}" if k else inner, outer], [f"j{k}"], axis=1))
        layer(f"j{k}", f"d{k}", 2 * middle, outside)
    nodes.append(helper.make_node("Add", ["d2", "a"], ["y"]))
    return model(nodes, {"x": normal(1, channels, size, size)}, outputs_of(["y"]), tensors)


def embedding_bag(count, depth, rows):
    """Rows of a table, averaged, as classifiers of text."""
    return model([helper.make_node("Gather", ["table", "words"], ["g"]), helper.make_node("ReduceMean", ["g"], ["y"],
        axes=[1], keepdims=0)],
                 {"words": indices(count, rows, 128)}, outputs_of(["y"]), [constant("table", normal(count, depth))])


LAYERS = {
    **each([((1, 64, 1, 4096), 64, (1, 7)), ((1, 64, 4096, 1), 64, (7, 1)), ((1, 128, 1024, 1), 128, (3, 1)),
            ((1, 64, 4096), 64, (7,)), ((1, 256, 1024, 1), 256, (1, 1)), ((1, 64, 128, 64), 64, (9, 1)),
            ((1, 8, 256, 256), 16, (1, 1)), ((1, 16, 112, 112), 96, (1, 1)), ((1, 3, 512, 512), 16, (3, 3)),
            ((1, 16, 16, 56, 56), 16, (3, 3, 3)),
            ((1, 3, 16, 112, 112), 64, (3, 3, 3)), ((1, 64, 8, 28, 28), 64, (3, 3, 3)), ((1, 64, 8, 28, 28), 64, (1, 1, 1)),
            ((1, 64, 8, 28, 28), 64, (1, 3, 3)), ((1, 64, 8, 28, 28), 64, (3, 1, 1)),
            ((1, 80, 3000), 384, (3,)), ((1, 512, 200), 512, (5,)), ((1, 1, 512, 512), 16, (3, 3)),
            ((1, 64, 512, 512), 1, (3, 3)), ((1, 1, 16, 64, 64), 16, (3, 3, 3)), ((1, 16, 16, 64, 64), 2, (1, 1, 1)),
            ((1, 256, 1000), 256, (1,))],
           "conv {} -> {} of {}", conv),
    **each([((1, 64, 4096, 1), 64, (7, 1), (1, 1), 1, 64), ((1, 16, 256, 256), 16, (3, 3), (1, 1), 1, 16),
            ((1, 32, 112, 112), 32, (3, 3), (1, 1), 1, 32), ((1, 16, 256, 256), 16, (5, 5), (1, 1), 1, 16),
            ((1, 384, 3000), 384, (3,), (2,), 1, 1), ((1, 1, 16000), 64, (11,), (5,), 1, 1), ((1, 512, 800), 512, (3,),
            (2,), 1, 1), ((1, 512, 400), 512, (31,), (1,), 1, 512), ((1, 64, 8000), 64, (3,), (1,), 8, 1),
            ((1, 64, 1024), 128, (3,), (1,), 4, 1),
            ((1, 768, 49), 768, (127,), (1,), 1, 16), ((1, 3, 16, 112, 112), 64, (3, 7, 7), (1, 2, 2), 1, 1),
            ((1, 64, 16, 56, 56), 64, (3, 3, 3), (2, 2, 2), 1, 1), ((1, 64, 8, 28, 28), 64, (3, 3, 3), (1, 1, 1), 1, 64),
            ((1, 64, 8, 28, 28), 64, (3, 3, 3), (1, 1, 1), 2, 1), ((1, 54, 16, 56, 56), 54, (5, 1, 1), (1, 1, 1), 1, 54),
            ((1, 64, 256, 256), 64, (3, 3), (1, 1), 2, 1), ((1, 64, 128, 128), 64, (3, 3), (1, 1), 8, 1),
            ((1, 32, 56, 56), 64, (3, 3), (1, 1), 1, 4)],
           "conv {} -> {} of {} stride {} dilation {} groups {}", conv),
    **each([((1, 64, 8, 28, 28), 32, (2, 2, 2), (2, 2, 2)), ((1, 64, 8, 14, 14), 32, (4, 4, 4), (2, 2, 2)),
            ((1, 512, 100), 256, (16,), (8,)), ((1, 64, 4000), 32, (4,), (2,)), ((1, 64, 64, 64), 32, (2, 2), (2, 2)),
            ((1, 32, 128, 128), 1, (4, 4), (2, 2)),
            ((1, 21, 65, 65), 21, (16, 16), (8, 8))],
           "deconv {} -> {} of {} stride {}", deconv),
    **each([("MaxPool", (1, 64, 16, 56, 56), (3, 3, 3), (2, 2, 2), 0, F), ("MaxPool", (1, 64, 16, 56, 56), (1, 2, 2),
            (1, 2, 2), 0, F), ("MaxPool", (1, 16, 16, 64, 64), (2, 2, 2), (2, 2, 2), 0, F),
            ("AveragePool", (1, 64, 16, 28, 28), (2, 2, 2), (2, 2, 2), 0, F),
            ("AveragePool", (1, 64, 8, 28, 28), (3, 3, 3), (1, 1, 1), 0, F), ("MaxPool", (1, 64, 8, 28, 28), (3, 3, 3),
            (1, 1, 1), 0, F), ("MaxPool", (1, 64, 16000), (2,), (2,), 0, F), ("MaxPool", (1, 64, 16000), (3,), (1,), 0, F),
            ("AveragePool", (1, 64, 16000), (4,), (4,), 0, F), ("MaxPool", (1, 64, 16000), (4,), (4,), 0, F),
            ("AveragePool", (1, 512, 300), (3,), (1,), 0, F),
            ("MaxPool", (1, 256, 20, 20), (5, 5), (1, 1), 0, F), ("MaxPool", (1, 256, 20, 20), (13, 13), (1, 1), 0, F),
            ("MaxPool", (1, 64, 512, 512), (2, 2), (2, 2), 1, F), ("MaxPool", (1, 64, 112, 112), (3, 3), (2, 2), 0, U8),
            ("MaxPool", (1, 64, 112, 112), (2, 2), (2, 2), 0, I8),
            ("AveragePool", (1, 64, 112, 112), (2, 2), (2, 2), 0, F), ("AveragePool", (1, 192, 35, 35), (3, 3), (1, 1), 0, F),
            ("AveragePool", (1, 3, 512, 512), (2, 2), (2, 2), 0, F), ("AveragePool", (1, 1, 512, 512), (7, 7), (1, 1), 0, F),
            ("MaxPool", (1, 1, 1024, 1024), (3, 3), (1, 1), 0, F)],
           "{} {} of {} stride {} ceil {} {}", pool),
    **each([("GlobalAveragePool", (1, 512, 8, 7, 7)), ("GlobalAveragePool", (1, 512, 300)), ("GlobalMaxPool", (1, 512, 300)),
            ("GlobalAveragePool", (1, 64, 112, 112)), ("GlobalMaxPool", (1, 512, 7, 7))], "{} {}", global_pool),
    **each([(kind, 50, batch, hidden, hidden, "forward") for kind in ("LSTM", "GRU") for hidden in (64, 128, 256,
            512) for batch in (1, 8)]
           + [("LSTM", 1, 1, 128, 128, "forward"), ("GRU", 1, 1, 128, 128, "forward"),
               ("LSTM", 200, 1, 64, 128, "bidirectional"), ("GRU", 200, 1, 64, 128, "bidirectional"),
               ("LSTM", 26, 1, 512, 256, "bidirectional"), ("LSTM", 100, 32, 40, 20, "forward"),
               ("RNN", 50, 1, 128, 128, "forward"),
              ("RNN", 50, 8, 256, 256, "forward"), ("LSTM", 4000, 1, 1, 16, "forward"),
              ("LSTM", 26, 8, 512, 256, "bidirectional"), ("LSTM", 50, 2, 128, 96, "forward"),
              ("LSTM", 50, 3, 128, 100, "forward"), ("LSTM", 50, 64, 128, 128, "forward"),
              ("GRU", 50, 64, 128, 128, "forward")],
           "{} {} steps, batch {}, {} -> {} {}", recurrent),
    **each([("GRU", 50, 1, 128, 128, "forward", 0),
            ("GRU", 50, 8, 256, 256, "forward", 0)], "{} {} steps, batch {}, {} -> {} {}, reset {}", recurrent),
    **each([((1, 256, 40, 40), (1, 1, 2, 2), "nearest", "asymmetric", F), ((1, 64, 128, 128),
            (1, 1, 2, 2), "nearest", "asymmetric", F), ((1, 64, 64, 64), (1, 1, 4, 4), "nearest", "asymmetric", F),
            ((1, 80, 1000), (1, 1, 2), "nearest", "asymmetric", F), ((1, 512, 100), (1, 1, 300), "nearest", "asymmetric", F),
            ((1, 3, 640, 480), (1, 1, 0.5, 0.5), "nearest", "asymmetric", F), ((1, 3, 640, 480),
            (1, 1, 0.7, 0.7), "nearest", "asymmetric", U8), ((1, 16, 16, 32, 32), (1, 1, 2, 2, 2), "nearest", "asymmetric", F),
            ((1, 64, 128, 128), (1, 1, 2, 2), "linear", "half_pixel", F), ((1, 64, 128, 128),
            (1, 1, 2, 2), "linear", "align_corners", F), ((1, 21, 65, 65), (1, 1, 8, 8), "linear", "half_pixel", F),
            ((1, 1, 64, 64), (1, 1, 16, 16), "linear", "half_pixel", F), ((1, 3, 720, 1280),
            (1, 1, 0.5, 0.5), "linear", "half_pixel", F), ((1, 3, 720, 1280), (1, 1, 0.3, 0.3), "linear", "half_pixel", F),
            ((1, 480, 640, 3),
            (1, 0.7, 0.7, 1), "linear", "half_pixel", F), ((1, 64, 64, 32), (1, 2, 2, 1), "linear", "half_pixel", F),
            ((1, 16, 16, 32, 32), (1, 1, 2, 2, 2), "linear", "half_pixel", F), ((1, 80, 1000),
            (1, 1, 1.5), "linear", "half_pixel", F), ((1, 3, 112, 112), (1, 1, 2, 2), "cubic", "half_pixel", F),
            ((1, 64, 64, 64), (1, 1, 2, 2), "cubic", "half_pixel", F), ((1, 256, 20, 20),
            (1, 1, 2, 2), "linear", "half_pixel", F)],
           "resize {} by {} {} {} {}", resize),
    **each([("Softmax", (458752, 4), -1), ("Softmax", (65536, 7), -1), ("Softmax", (1, 8732, 21), -1),
            ("Softmax", (1, 1917, 91), -1), ("Softmax", (1, 21, 513, 513), 1), ("Softmax", (1, 2, 512, 512), 1),
            ("Softmax", (1, 19, 128, 256), 1), ("Softmax", (1, 16, 4, 8400), 1), ("Softmax", (1, 4, 8400, 16), -1),
            ("Softmax", (1, 8400, 4, 16), 3),
            ("Softmax", (1, 2, 4420), 1), ("Softmax", (1, 4420, 2), 2), ("Softmax", (1, 12, 128, 128), -1),
            ("Softmax", (1, 12, 197, 197), -1), ("Softmax", (1, 1000), -1), ("Softmax", (128, 10), -1),
            ("Softmax", (256, 100), 0), ("Softmax", (1, 128, 768), 1), ("Softmax", (1, 64, 49, 49), 2),
            ("Softmax", (4096, 1, 64), 0), ("LogSoftmax", (1, 50257), -1), ("LogSoftmax", (32, 6625), -1),
            ("LogSoftmax", (1, 21, 256, 256), 1), ("LogSoftmax", (100, 96), -1), ("Softmax", (40, 97), -1),
            ("Softmax", (100000, 2), -1)],
           "{} {} axis {}", softmax),
    **each([((1, 64, 128, 128),), ((1, 32, 4000),), ((1, 32, 8, 32, 32),),
            ((1, 256, 8, 8),)], "instance norm {}", instance_norm),
    **each([((1, 128, 768), 2), ((1, 3136, 96), 2), ((64, 49, 96), 2), ((1, 56, 56, 96), 3),
            ((1, 64, 1000), 1)], "layer norm {} axis {}", layer_norm),
    **each([((1, 32, 80, 80), 64, (3, 3), U8, 117, 1), ((1, 32, 80, 80), 64, (3, 3), U8, 117, 0),
            ((1, 32, 80, 80), 64, (3, 3), I8, 0, 1), ((1, 128, 40, 40), 128, (1, 1), U8, 117, 1),
            ((1, 3, 320, 320), 16, (3, 3), U8, 117, 1), ((1, 16, 64, 64), 16, (5, 5), U8, 117, 1),
            ((1, 64, 4000), 64, (7,), U8, 117, 1)],
           "conv integer {} -> {} of {} {} zero {} scaled {}", conv_integer),
    **each([(128, 384, 1536, I8, 0, 0), (128, 384, 1536, I8, 0, 1), (128, 384, 1536, U8, 117, 0), (1, 384, 1536, U8, 117, 0),
            (1, 1024, 1024, I8, 0, 1),
            (16, 768, 768, U8, 117, 1)], "matmul integer {}x{}x{} {} zero {} per column {}", matmul_integer),
    **each([((1, 32, 80, 80), 64, (3, 3), U8, 117), ((1, 32, 80, 80), 64, (3, 3), I8, 0),
            ((1, 128, 40, 40), 128, (1, 1), U8, 128),
            ((1, 3, 224, 224), 32, (3, 3), I8, 0)], "qlinear conv {} -> {} of {} {} zero {}", qlinear_conv),
    **each([(64, 16, 512), (32, 12, 1024)], "nested block {} {} {}", nested),
    **each([(30000, 300, 1), (30000, 300, 32)], "embedding bag {} of {}, {} rows", embedding_bag),
}
