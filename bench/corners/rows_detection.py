# SPDX-License-Identifier: Apache-2.0
"""Rows of corners.py for detectors: NonMaxSuppression, and what exporters put around it."""
import numpy as np
from small_models import constant, ints, model, outputs_of, rng
from onnx import TensorProto, helper


def limits(most, iou, least):
    return [constant("most", np.array([most], np.int64)), constant("iou", np.array([iou], np.float32)), constant("least",
        np.array([least], np.float32))]


def nms(boxes, classes, share, most):
    """`share` of the scores are above the threshold."""
    centers, sizes = rng.uniform(0, 640, (1, boxes, 2)), rng.uniform(8, 120, (1, boxes, 2))
    corners = np.concatenate([centers - sizes / 2, centers + sizes / 2], axis=2).astype(np.float32)
    scores = rng.uniform(0, 1, (1, classes, boxes)).astype(np.float32)
    return model([helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["picked"])],
                 {"boxes": corners, "scores": scores}, outputs_of(["picked"], TensorProto.INT64), limits(most, 0.45, 1 - share))


class Nodes:
    """Nodes in order; each returns the name of its first result."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def const(self, array):
        name = f"k{len(self.constants)}"
        self.constants.append(constant(name, array))
        return name

    def __call__(self, op, *inputs, count=1, **attributes):
        names = [f"n{len(self.nodes)}_{k}" for k in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if count == 1 else names

    def slice(self, source, start, end, axis):
        return self("Slice", source, self.const(ints(start)), self.const(ints(end)), self.const(ints(axis)))

    def corners(self, boxes):
        """Centers and sizes of the last axis become corners."""
        center, half = self.slice(boxes, 0, 2, 2), self("Mul", self.slice(boxes, 2, 4, 2), self.const(np.float32(0.5)))
        return self("Concat", self("Sub", center, half), self("Add", center, half), axis=2)

    def chosen(self, boxes, scores, picked, *others):
        """Boxes, scores and classes of `picked`, in rows: boxes [1, n, 4], scores [1, n, classes]."""
        index = self("Squeeze", self.slice(picked, 2, 3, 1), self.const(ints(1)))
        kind = self("Cast", self.slice(picked, 1, 2, 1), to=TensorProto.FLOAT)
        best = self("ReduceMax", self("Gather", scores, index, axis=1), axes=[2], keepdims=1)
        parts = [self("Gather", boxes, index, axis=1), best, self("Unsqueeze", kind, self.const(ints(0))), *(self("Gather",
            other, index, axis=1) for other in others)]
        return self("Concat", *parts, axis=2)

    def suppress(self, boxes, scores, least):
        self.constants += limits(100, 0.45, least)
        return self("NonMaxSuppression", boxes, scores, "most", "iou", "least")

    def model(self, result, **inputs):
        self.nodes.append(helper.make_node("Identity", [result], ["y"]))
        return model(self.nodes, inputs, outputs_of(["y"]), self.constants)


def predictions(anchors, classes, extra):
    boxes = np.concatenate([rng.uniform(0, 640, (1, anchors, 2)), rng.uniform(8, 120, (1, anchors, 2))], axis=2)
    return np.concatenate([boxes, rng.uniform(0, 1, (1, anchors, classes)) ** 24, rng.standard_normal((1, anchors, extra))],
        axis=2).astype(np.float32)


def yolo8(classes, masks):
    """[1, 4 + classes + masks, 8400] to rows of detections."""
    g = Nodes()
    rows = g("Transpose", "x", perm=[0, 2, 1])
    boxes = g.corners(g.slice(rows, 0, 4, 2))
    scores = g.slice(rows, 4, 4 + classes, 2)
    others = [g.slice(rows, 4 + classes, 4 + classes + masks, 2)] if masks else []
    picked = g.suppress(boxes, g("Transpose", scores, perm=[0, 2, 1]), 0.5)
    return g.model(g.chosen(boxes, scores, picked, *others), x=np.ascontiguousarray(predictions(8400, classes,
        masks).transpose(0, 2, 1)))


def yolo5(anchors, classes):
    """[1, anchors, 5 + classes]: a score for the object and one for each class."""
    g = Nodes()
    boxes = g.corners(g.slice("x", 0, 4, 2))
    scores = g("Mul", g.slice("x", 4, 5, 2), g.slice("x", 5, 5 + classes, 2))
    best, kind = g("ReduceMax", scores, axes=[2], keepdims=1), g("ArgMax", scores, axis=2, keepdims=1)
    shifted = g("Add", boxes, g("Mul", g("Cast", kind, to=TensorProto.FLOAT), g.const(np.float32(4096))))
    picked = g.suppress(shifted, g("Transpose", best, perm=[0, 2, 1]), 0.3)
    return g.model(g.chosen(boxes, best, picked), x=predictions(anchors, 1 + classes, 0))


def ssd(priors, classes):
    """Offsets [1, priors, 4] and logits [1, priors, classes]: decoded, suppressed, the best 200."""
    g = Nodes()
    prior = np.concatenate([rng.uniform(0, 1, (1, priors, 2)), rng.uniform(0.02, 0.3, (1, priors, 2))],
        axis=2).astype(np.float32)
    center = g("Add", g("Mul", g("Mul", g.slice("x", 0, 2, 2), g.const(np.float32(0.1))), g.const(prior[..., 2:])),
        g.const(prior[..., :2]))
    size = g("Mul", g("Exp", g("Mul", g.slice("x", 2, 4, 2), g.const(np.float32(0.2)))), g.const(prior[..., 2:]))
    boxes = g.corners(g("Concat", center, size, axis=2))
    scores = g.slice(g("Softmax", "logits", axis=2), 1, classes, 2)
    picked = g.suppress(boxes, g("Transpose", scores, perm=[0, 2, 1]), 0.3)
    rows = g.chosen(boxes, scores, picked)
    order = g("TopK", g("Squeeze", g.slice(rows, 4, 5, 2), g.const(ints(0, 2))), g.const(ints(50)), count=2)[1]
    return g.model(g("Gather", rows, order, axis=1), x=rng.standard_normal((1, priors, 4), dtype=np.float32),
                   logits=3 * rng.standard_normal((1, priors, classes), dtype=np.float32))


def detr(queries, classes, best):
    """The best scores of all queries and classes, and their boxes."""
    g = Nodes()
    flat = g("Reshape", g("Sigmoid", "logits"), g.const(ints(1, queries * classes)))
    scores, places = g("TopK", flat, g.const(ints(best)), count=2)
    query, kind = g("Div", places, g.const(ints(classes))), g("Mod", places, g.const(ints(classes)))
    spread = g("Tile", g("Unsqueeze", query, g.const(ints(2))), g.const(ints(1, 1, 4)))
    boxes = g.corners(g("GatherElements", "x", spread, axis=1))
    parts = [boxes, g("Unsqueeze", scores, g.const(ints(2))), g("Unsqueeze", g("Cast", kind, to=TensorProto.FLOAT),
        g.const(ints(2)))]
    return g.model(g("Concat", *parts, axis=2), x=rng.uniform(0, 1, (1, queries, 4)).astype(np.float32),
                   logits=np.random.default_rng(5).permutation(queries * classes).reshape(1, queries,
                       classes).astype(np.float32) / np.float32(queries * classes))


DETECTION = {
    "nms 8400 boxes, 80 classes, 1 % above": lambda: nms(8400, 80, 0.01, 100),
    "nms 8400 boxes, 80 classes, 10 % above": lambda: nms(8400, 80, 0.1, 100),
    "nms 8400 boxes, 80 classes, 75 % above": lambda: nms(8400, 80, 0.75, 100),
    "nms 25200 boxes, 1 class, 5 % above": lambda: nms(25200, 1, 0.05, 300),
    "nms 8732 boxes, 20 classes, 2 % above": lambda: nms(8732, 20, 0.02, 200),
    "nms 2000 boxes, 1 class, all above": lambda: nms(2000, 1, 1, 1000),
    "tail of yolov8, 80 classes": lambda: yolo8(80, 0),
    "tail of yolov8-seg, 80 classes": lambda: yolo8(80, 32),
    "tail of yolov8, 1 class": lambda: yolo8(1, 0),
    "tail of yolov5, 25200 anchors": lambda: yolo5(25200, 80),
    "tail of ssd, 8732 priors, 21 classes": lambda: ssd(8732, 21),
    "tail of ssd, 1917 priors, 91 classes": lambda: ssd(1917, 91),
    "tail of detr, 300 of 300 queries": lambda: detr(300, 80, 300),
    "tail of rt-detr, 300 of 8400 queries": lambda: detr(8400, 80, 300),
}
