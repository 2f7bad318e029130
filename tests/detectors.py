#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: detectors.py LIGHTNET. Detections of each family are those that an encoder of the test has written. Speaks TAP.

Each family has an encoder: from boxes, classes and scores it makes outputs as that family's models have them, among rows
with low scores. A model with these constant outputs is run on a photo, which is stretched, cropped, letterboxed or padded by
the formulas of photos.py; the detections are the boxes, mapped back by the inverse of these formulas.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx"))
import onnx_writer as onnx  # noqa: E402
from photos import Tap, cropped, letterboxed, padded, read_ppm, run, stretched, write_ppm  # noqa: E402

HEIGHT, WIDTH = 64, 96  # of the input
STRIDES = (8, 16, 32)
N_CLASSES = 7
FITS = {"stretch": stretched, "crop": cropped, "letterbox": letterboxed, "pad": padded}
TYPES = {"float32": "float", "float16": "float16", "float64": "double", "int64": "int64", "int32": "int32"}


# Models

def save_model(file, outputs, metadata=(), shape=(1, 3, HEIGHT, WIDTH)):
    """A model with these constant outputs, a dict of arrays, and an input x that nothing reads."""
    nodes = [onnx.node("Identity", ["c_" + name], [name]) for name in outputs]
    tensors = [onnx.tensor("c_" + name, TYPES[str(a.dtype)], a.shape, a.reshape(-1).tolist()) for name, a in outputs.items()]
    values = [onnx.value(name, TYPES[str(a.dtype)], a.shape) for name, a in outputs.items()]
    graph = onnx.graph(nodes, [onnx.value("x", "float", shape)], values, tensors)
    with open(file, "wb") as stream:
        stream.write(onnx.model(graph, opset=17))
        for key, value in metadata:  # ModelProto.metadata_props
            stream.write(onnx.field(14, onnx.field(1, key) + onnx.field(2, value)))


# What a model has seen: boxes in pixels of the input, far from each other, with classes and scores.

class Scene:
    def __init__(self, seed, n=5, first_class=0, n_points=0):
        self.random = np.random.default_rng(seed)
        columns = self.random.permutation(6)[:n]  # each box has its own sixth of the width
        x0 = columns * 16 + self.random.uniform(0, 4, n)
        y0 = self.random.uniform(-4, 40, n)
        self.boxes = np.stack([x0, y0, x0 + self.random.uniform(5, 11, n), y0 + self.random.uniform(5, 30, n)], axis=1)
        self.classes = self.random.integers(first_class, N_CLASSES, n)
        self.scores = np.sort(self.random.uniform(0.55, 0.95, n))[::-1]
        self.points = self.random.uniform([-5, -5, 0], [WIDTH + 5, HEIGHT + 5, 1], (n, n_points, 3))
        self.n = n

    def rows(self, n_rows):
        """Rows for the boxes, in no order."""
        return self.random.permutation(n_rows)[:self.n]

    def low(self, *shape):
        """Scores of other rows."""
        return self.random.uniform(0, 0.3, shape)


def centers(boxes):
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1)


def fractions(boxes):
    return boxes / [WIDTH, HEIGHT, WIDTH, HEIGHT]


def cells(strides=STRIDES, up=False):
    """[N, 3]: x, y and stride of each cell."""
    out = []
    for s in strides:
        rows, columns = (-(-HEIGHT // s), -(-WIDTH // s)) if up else (HEIGHT // s, WIDTH // s)
        y, x = np.mgrid[:rows, :columns]
        out.append(np.stack([x.ravel(), y.ravel(), np.full(x.size, s)], axis=1))
    return np.concatenate(out)


def f32(array):
    return np.asarray(array, np.float32)


def noise_boxes(scene, n):
    """Boxes of rows with low scores, as centers."""
    return scene.random.uniform([0, 0, 4, 4], [WIDTH, HEIGHT, 30, 30], (n, 4))


def columns_of(scene, n_rows, per_box, objectness=None, extra=None):
    """Rows of YOLO: box, objectness, scores, further columns."""
    box, score = noise_boxes(scene, n_rows), scene.low(n_rows, N_CLASSES)
    factor = np.full((n_rows, 1), objectness if objectness else 1.0)
    more = scene.random.normal(0, 1, (n_rows, 0 if extra is None else extra.shape[1]))
    at = scene.rows(n_rows - 1)
    box[at] = per_box
    # A worse copy of the best box, which it suppresses, in the next row that is free.
    copy = next(i for i in range(n_rows) if i not in at)
    box[copy] = per_box[0] + [0.5, 0, 0, 0]
    for row, c, s in [*zip(at, scene.classes, scene.scores), (copy, scene.classes[0], 0.52)]:
        score[row, c] = s / (objectness or 1)
    if extra is not None:
        more[at], more[copy] = extra, extra[0]
    parts = [box, *([factor] if objectness else []), score, more]
    return np.concatenate(parts, axis=1), at


def yolov8(scene):
    rows, _ = columns_of(scene, len(cells()), centers(scene.boxes))
    return {"output0": f32(rows.T[None])}


def yolov8_p6(scene):
    rows, _ = columns_of(scene, len(cells((8, 16, 32, 64))), centers(scene.boxes))
    return {"output0": rows.T[None].astype(np.float64)}


def yolov8_other_size(scene):
    rows, _ = columns_of(scene, 50, centers(scene.boxes))
    return {"output0": f32(rows.T[None])}


def yolov5(scene):
    rows, _ = columns_of(scene, 3 * len(cells()), centers(scene.boxes), objectness=0.96)
    return {"output": f32(rows[None])}


def yolov6(scene):
    rows, _ = columns_of(scene, len(cells()), centers(scene.boxes), objectness=1.0)
    return {"outputs": f32(rows[None])}


def yolox(scene):
    rows, _ = columns_of(scene, len(cells()), centers(scene.boxes), objectness=0.96)
    grid = cells()
    rows[:, :2] = rows[:, :2] / grid[:, 2:] - grid[:, :2]
    rows[:, 2:4] = np.log(rows[:, 2:4] / grid[:, 2:])
    return {"output": f32(rows[None])}


def suppressed(scene, n_rows, extra=None):
    """[N, 6 and more]: corners, score, class, others."""
    rows = np.concatenate([noise_boxes(scene, n_rows), scene.low(n_rows, 1), np.zeros((n_rows, 1)),
                           np.zeros((n_rows, 0 if extra is None else extra.shape[1]))], axis=1)
    at = scene.rows(n_rows)
    rows[at, :4], rows[at, 4], rows[at, 5] = scene.boxes, scene.scores, scene.classes
    if extra is not None:
        rows[at, 6:] = extra
    return rows


def yolov10(scene):
    return {"output0": f32(suppressed(scene, 300)[None])}


def yolov7(scene):
    rows = suppressed(scene, 20)
    return {"output": f32(np.concatenate([np.zeros((20, 1)), rows[:, :4], rows[:, 5:], rows[:, 4:5]], axis=1))}


def paddle(scene):
    rows = suppressed(scene, 20)
    rows[:2, 5] = np.where(rows[:2, 4] < 0.5, -1, rows[:2, 5])  # rows that are none
    return {"multiclass_nms3_0.tmp_0": f32(rows[:, [5, 4, 0, 1, 2, 3]]), "multiclass_nms3_0.tmp_2": np.array([20], np.int32)}


def pinto(scene):
    rows = suppressed(scene, 20)
    return {"batchno_classid_score_x1y1x2y2": f32(np.concatenate([np.zeros((20, 1)), rows[:, [5, 4, 0, 1, 2, 3]]], axis=1))}


def pinto_score_last(scene):
    rows = suppressed(scene, 20)
    return {"batchno_classid_x1y1x2y2_score": f32(np.concatenate([np.zeros((20, 1)), rows[:, [5, 0, 1, 2, 3, 4]]], axis=1))}


def yolonas_flat(scene):
    return {"graph2_flat_predictions": f32(np.concatenate([np.zeros((20, 1)), suppressed(scene, 20)], axis=1))}


def boxes_scores(scene, n_rows=30):
    """[N, 4] and [N, C], corners."""
    box, score = noise_boxes(scene, n_rows), scene.low(n_rows, N_CLASSES)
    at = scene.rows(n_rows)
    box[at] = scene.boxes
    score[at, scene.classes] = scene.scores
    return box, score


def yolonas(scene):
    box, score = boxes_scores(scene, len(cells()))
    return {"scores": f32(score[None]), "boxes": f32(box[None])}


def ultraface(scene):
    box, score = boxes_scores(scene)
    return {"scores": f32(score[None]), "boxes": f32(fractions(box)[None])}


def pytorch_yolov4(scene):
    box, score = boxes_scores(scene)
    return {"boxes": f32(fractions(box)[None, :, None]), "confs": f32(score[None])}


def yolov3(scene):
    box, score = boxes_scores(scene)
    at = [int(np.argmin(np.abs(box - b).sum(axis=1))) for b in scene.boxes]
    chosen = [(0, c, row) for c, row in zip(scene.classes, at)] + [(0, 9, 0), (0, 0, 1000), (0, -1, 0)]  # and some out of range
    return {"yolonms_layer_1": f32(box[None][..., [1, 0, 3, 2]]), "yolonms_layer_1:1": f32(score.T[None]),
            "yolonms_layer_1:2": np.array([chosen], np.int32)}


def logit(p):
    return np.log(p / (1 - p))


def yolov4(scene):
    anchors = [[(12, 16), (19, 36), (40, 28)], [(36, 75), (76, 55), (72, 146)], [(142, 110), (192, 243), (459, 401)]]
    out = {}
    grids = [scene.low(HEIGHT // s, WIDTH // s, 3, 5 + N_CLASSES) for s in STRIDES]
    for i, (c, score) in enumerate(zip(scene.classes, scene.scores)):
        level, anchor = i % 3, i % 2
        stride, scale = STRIDES[level], (1.2, 1.1, 1.05)[level]
        x, y, w, h = centers(scene.boxes)[i]
        column, row = int(x // stride), int(y // stride)
        cell = grids[level][row, column, anchor]
        cell[:2] = logit((np.array([x / stride - column, y / stride - row]) + (scale - 1) / 2) / scale)
        cell[2:4] = np.log(np.array([w, h]) / anchors[level][anchor])
        cell[4], cell[5 + c] = 0.98, score / 0.98
    for name, grid in zip(("a", "b", "c"), grids):
        out[name] = f32(grid[None])
    return out


def darknet(scene, anchors, strides, scales=(1, 1, 1), is_softmax=False):
    """Raw heads, columns first; logits of other scores are low."""
    n_anchors = len(anchors[0])
    grids = [scene.random.uniform(-9, -3, (n_anchors, 5 + N_CLASSES, HEIGHT // s, WIDTH // s)) for s in strides]
    for i, (c, score) in enumerate(zip(scene.classes, scene.scores)):
        level, anchor = i % len(strides), i % n_anchors
        stride, scale = strides[level], scales[level]
        x, y, w, h = centers(scene.boxes)[i]
        column, row = int(x // stride), int(y // stride)
        cell = grids[level][anchor, :, row, column]
        cell[:2] = logit((np.array([x / stride - column, y / stride - row]) + (scale - 1) / 2) / scale)
        cell[2:4] = np.log(np.array([w, h]) / anchors[level][anchor])
        cell[4], cell[5 + c] = logit(0.98), logit(score / 0.98)
        if is_softmax:
            cell[5:] = np.log((1 - score / 0.98) / (N_CLASSES - 1)) - 2
            cell[5 + c] = np.log(score / 0.98) - 2
    return {f"head{s}": f32(grid.reshape(1, -1, *grid.shape[2:])) for s, grid in zip(strides, grids)}


V3 = [[(10, 13), (16, 30), (33, 23)], [(30, 61), (62, 45), (59, 119)], [(116, 90), (156, 198), (373, 326)]]
V4 = [[(12, 16), (19, 36), (40, 28)], [(36, 75), (76, 55), (72, 146)], [(142, 110), (192, 243), (459, 401)]]
TINY = [[(23, 27), (37, 58), (81, 82)], [(81, 82), (135, 169), (344, 319)]]
VOC = [np.array([(1.08, 1.19), (3.42, 4.41), (6.63, 11.38), (9.42, 5.11), (16.62, 10.52)]) * 32]
COCO = [np.array([(0.57273, 0.677385), (1.87446, 2.06253), (3.33843, 5.47434), (7.88282, 3.52778), (9.77052, 9.16828)]) * 32]


def inner(scene):
    """Boxes with centers in the input."""
    scene.boxes[:, [1, 3]] += 8
    return scene


def darknet_yolov3(scene):
    return darknet(inner(scene), V3, STRIDES)


def darknet_yolov3_tiny(scene):
    return darknet(inner(scene), TINY, STRIDES[1:])


def darknet_yolov4(scene):
    return darknet(inner(scene), V4, STRIDES, (1.2, 1.1, 1.05))


def tiny_yolov2(scene):
    return darknet(inner(scene), VOC, STRIDES[2:], is_softmax=True)


def yolov2_coco(scene):
    return darknet(inner(scene), COCO, STRIDES[2:], is_softmax=True)


def detr(scene):
    box, score = boxes_scores(scene, 40)
    at = [int(np.argmin(np.abs(box - b).sum(axis=1))) for b in scene.boxes]
    p = np.full((40, N_CLASSES + 1), 0.01)
    p[:, -1] = 1 - 0.01 * N_CLASSES
    for row, c, s in zip(at, scene.classes, scene.scores):
        p[row] = (1 - s) / N_CLASSES
        p[row, c] = s
    return {"logits": f32(np.log(p)[None] + 3), "pred_boxes": f32(fractions(centers(box))[None])}


def rtdetr(scene):
    box, score = boxes_scores(scene, 300)
    return {"logits": f32(logit(score + 1e-6)[None]), "pred_boxes": f32(fractions(centers(box))[None])}


def rfdetr(scene):
    box, score = boxes_scores(scene, 300)
    return {"dets": f32(fractions(centers(box))[None]), "labels": f32(logit(score + 1e-6)[None])}


def lists(scene, n_rows=25):
    """[N, 4], [N] and [N]."""
    rows = suppressed(scene, n_rows)
    return rows[:, :4], rows[:, 4], rows[:, 5].astype(np.int64), [int(np.argmin(np.abs(rows[:, :4] - b).sum(axis=1)))
                                                                  for b in scene.boxes]


def rtdetr_lists(scene):
    box, score, label, _ = lists(scene)
    return {"labels": label[None], "boxes": f32(box[None]), "scores": f32(score[None])}


def ssd(scene):
    box, score, label, _ = lists(scene)
    return {"bboxes": f32(fractions(box)[None]), "labels": label[None], "scores": f32(score[None])}


def torchvision(scene):
    box, score, label, _ = lists(scene)
    return {"a": f32(box), "b": label, "c": f32(score)}


def tensorflow(scene):
    rows = suppressed(scene, 25)
    valid = np.concatenate([rows, [[10, 10, 20, 20, 0.99, 1]]])  # beyond num_detections
    return {"detection_boxes:0": f32(fractions(valid[:, :4])[None][..., [1, 0, 3, 2]]),
            "detection_classes:0": f32(valid[:, 5][None]), "detection_scores:0": f32(valid[:, 4][None]),
            "num_detections:0": f32([25])}


def nms(scene):
    rows = np.concatenate([suppressed(scene, 25), [[10, 10, 20, 20, 0.99, 1]]])
    return {"num_dets": np.array([[25]], np.int32), "det_boxes": f32(rows[:, :4][None]),
            "det_scores": f32(rows[:, 4][None]), "det_classes": rows[:, 5][None].astype(np.int32)}


def retinaface(scene):
    scene.classes[:] = 1
    grid = cells(up=True)
    sizes = {8: (16, 32), 16: (64, 128), 32: (256, 512)}
    prior = np.array([((x + 0.5) * s, (y + 0.5) * s, size) for x, y, s in grid for size in sizes[s]])
    n = len(prior)
    box, face = noise_boxes(scene, n), scene.low(n)
    points = scene.random.uniform(0, 50, (n, 5, 2))
    at = scene.rows(n)
    box[at], face[at], points[at] = centers(scene.boxes), scene.scores, scene.points[..., :2]
    scene.points[..., 2] = 1
    loc = np.concatenate([(box[:, :2] - prior[:, :2]) / prior[:, 2:] / 0.1, np.log(box[:, 2:] / prior[:, 2:]) / 0.2], axis=1)
    landms = (points - prior[:, None, :2]) / prior[:, None, 2:] / 0.1
    return {"output0": f32(loc[None]), "587": f32(landms.reshape(1, n, 10)), "588": f32(np.stack([1 - face, face], axis=1)[None])}


def retinaface_logits(scene):
    out = retinaface(scene)
    out["588"] = f32(np.log(out["588"]) - 2)
    return out


def scrfd(scene, with_points=True):
    scene.classes[:] = 0
    scene.points[..., 2] = 1
    out = {}
    for level, stride in enumerate(STRIDES):
        grid = np.repeat(cells((stride,)), 2, axis=0)
        n = len(grid)
        score = scene.low(n)
        box, points = scene.random.uniform(0.5, 2, (n, 4)), scene.random.uniform(0, 2, (n, 5, 2))
        for i in range(level, scene.n, 3):
            row = int(scene.random.integers(n // 3)) * 3 + i // 3
            origin = grid[row, :2] * stride
            score[row] = scene.scores[i]
            box[row] = np.concatenate([origin - scene.boxes[i, :2], scene.boxes[i, 2:] - origin]) / stride
            if with_points:
                points[row] = (scene.points[i, :, :2] - origin) / stride
        out[f"score_{stride}"], out[f"bbox_{stride}"] = f32(score[:, None]), f32(box)
        if with_points:
            out[f"kps_{stride}"] = f32(points.reshape(n, 10))
    return out


def yunet(scene):
    scene.classes[:] = 0
    scene.points[..., 2] = 1
    out = {}
    for level, stride in enumerate(STRIDES):
        grid = cells((stride,))
        n = len(grid)
        score, box, points = scene.low(n), scene.random.uniform(-1, 1, (n, 4)), scene.random.uniform(-1, 1, (n, 5, 2))
        at = scene.random.permutation(n)
        for k, i in enumerate(range(level, scene.n, 3)):
            row, (x, y, w, h) = at[k], centers(scene.boxes)[i]
            score[row] = scene.scores[i]
            box[row] = [*(np.array([x, y]) / stride - grid[row, :2]), *np.log(np.array([w, h]) / stride)]
            points[row] = scene.points[i, :, :2] / stride - grid[row, :2]
        out[f"cls_{stride}"], out[f"obj_{stride}"] = f32(score[None, :, None] ** 0.8), f32(score[None, :, None] ** 1.2)
        out[f"bbox_{stride}"], out[f"kps_{stride}"] = f32(box[None]), f32(points.reshape(1, n, 10))
    return out


def blazeface(scene, is_joined=False):
    """Boxes and six points in pixels from the centers of the cells of two grids, with 2 and 6 anchors."""
    scene.classes[:] = 0
    scene.points[..., 2] = 1
    at = np.concatenate([np.repeat([(x, y, 16) for y in range(16) for x in range(16)], 2, 0),
                         np.repeat([(x, y, 8) for y in range(8) for x in range(8)], 6, 0)])
    anchors = (at[:, :2] + 0.5) * [WIDTH, HEIGHT] / at[:, 2:]
    score = -scene.random.uniform(1, 20, 896)
    rows = np.concatenate([noise_boxes(scene, 896), scene.random.normal(0, 9, (896, 12))], axis=1)
    chosen = scene.rows(896)
    score[chosen] = np.log(scene.scores / (1 - scene.scores))
    centered = centers(scene.boxes)
    rows[chosen, :2], rows[chosen, 2:4] = centered[:, :2] - anchors[chosen], centered[:, 2:]
    rows[chosen, 4:] = (scene.points[..., :2] - anchors[chosen][:, None]).reshape(scene.n, 12)
    score, rows = f32(score[None, :, None]), f32(rows[None])
    if is_joined:
        return {"regressors": rows, "classificators": score}
    return {"Identity:0": score[:, :512], "Identity_1:0": score[:, 512:], "Identity_2:0": rows[:, :512], "Identity_3:0": rows[:, 512:]}


def blazeface_joined(scene):
    return blazeface(scene, True)


def scrfd_without_points(scene):
    return scrfd(scene, False)


# Poses

def yolov8_pose(scene):
    scene.classes[:] = 0
    rows, _ = columns_of(scene, len(cells()), centers(scene.boxes), extra=scene.points.reshape(scene.n, -1))
    return {"output0": f32(np.delete(rows, range(5, 4 + N_CLASSES), axis=1).T[None])}  # one class


def yolov10_pose(scene):
    return {"output0": f32(suppressed(scene, 300, scene.points.reshape(scene.n, -1))[None])}


def torchvision_pose(scene):
    box, score, label, at = lists(scene)
    points = np.zeros((25, scene.points.shape[1], 3))
    points[at] = scene.points
    return {"boxes": f32(box), "labels": label, "scores": f32(score), "keypoints": f32(points),
            "keypoints_scores": f32(points[..., 2])}


# Oriented boxes

def turn(scene):
    """Turns the boxes; returns centers, sizes and angles. The points of the scene are the corners."""
    angles = scene.random.uniform(-1.5, 1.5, scene.n)
    rows = centers(scene.boxes)
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    turned = np.array([[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in angles])
    corners = rows[:, None, :2] + np.einsum("nij,nkj->nki", turned, signs * rows[:, None, 2:])
    scene.points = np.concatenate([corners, np.ones((scene.n, 4, 1))], axis=2)
    scene.boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    return rows, angles[:, None]


def yolov8_obb(scene):
    rows, angles = turn(scene)
    return {"output0": f32(columns_of(scene, len(cells()), rows, extra=angles)[0].T[None])}


def yolov10_obb(scene):
    rows, angles = turn(scene)
    out = suppressed(scene, 300, angles)
    for box, row in zip(scene.boxes, rows):
        out[np.abs(out[:, :4] - box).sum(axis=1) < 1e-9, :4] = row
    return {"output0": f32(out[None])}


# Masks: scene.grids [n, P, Q], over the input or the box, and the threshold

N_PROTOTYPES = 8


def with_prototypes(scene):
    prototypes = scene.random.normal(0, 1, (N_PROTOTYPES, HEIGHT // 4, WIDTH // 4))
    factors = scene.random.normal(0, 1, (scene.n, N_PROTOTYPES))
    scene.grids = np.einsum("nm,mpq->npq", f32(factors), f32(prototypes))
    scene.threshold, scene.over = 0, "input"
    return f32(prototypes[None]), factors


def yolov8_segment(scene):
    prototypes, factors = with_prototypes(scene)
    rows, _ = columns_of(scene, len(cells()), centers(scene.boxes), extra=factors)
    return {"output0": f32(rows.T[None]), "output1": prototypes}


def yolov5_segment(scene):
    prototypes, factors = with_prototypes(scene)
    rows, _ = columns_of(scene, 3 * len(cells()), centers(scene.boxes), objectness=0.96, extra=factors)
    return {"output0": f32(rows[None]), "output1": prototypes}


def yolov10_segment(scene):
    prototypes, factors = with_prototypes(scene)
    return {"output0": f32(suppressed(scene, 300, factors)[None]), "output1": prototypes}


def torchvision_segment(scene, size=(HEIGHT, WIDTH), over="input"):
    box, score, label, at = lists(scene)
    masks = scene.random.uniform(0, 1, (25, 1, *size))
    scene.grids, scene.threshold, scene.over = f32(masks[at, 0]), 0.5, over
    return {"boxes": f32(box), "labels": label, "scores": f32(score), "masks": f32(masks)}


def zoo_mask_rcnn(scene):
    return torchvision_segment(scene, (28, 28), "box")


def tensorflow_segment(scene):
    out = torchvision_segment(scene, (33, 33), "box")
    return {"detection_boxes": f32(fractions(out["boxes"])[None][..., [1, 0, 3, 2]]), "detection_scores": out["scores"][None],
            "detection_classes": f32(out["labels"][None]), "detection_masks": out["masks"][None, :, 0],
            "num_detections": f32([25])}


# Families: encoder, task and family of the detections, options of the command line, members of the scene.

FAMILIES = [
    (yolov8, "detect", "yolov8", [], {}), (yolov8_p6, "detect", "yolov8", [], {}),
    (yolov8_other_size, "detect", "yolov8", [], {}), (yolov5, "detect", "yolov5", [], {}),
    (yolov6, "detect", "yolov6", [], {}), (yolox, "detect", "yolox", [], {}), (yolov10, "detect", "yolov10", [], {}),
    (yolov7, "detect", "yolov7", [], {}), (yolonas_flat, "detect", "yolonas", ["--task", "yolonas"], {}),
    (yolonas, "detect", "ultraface", [], {}), (ultraface, "detect", "ultraface", [], {}),
    (pytorch_yolov4, "detect", "yolov4", [], {}), (yolov3, "detect", "yolov3", [], {}), (yolov4, "detect", "yolov4", [], {}),
    (darknet_yolov3, "detect", "yolov3", [], {}), (darknet_yolov3_tiny, "detect", "yolov3", [], {}),
    (darknet_yolov4, "detect", "yolov4", ["--task", "yolov4"], {}), (tiny_yolov2, "detect", "yolov2", [], {"n": 3}),
    (yolov2_coco, "detect", "yolov2-coco", ["--task", "yolov2-coco"], {"n": 3}),
    (detr, "detect", "detr", [], {}), (rtdetr, "detect", "rtdetr", [], {}), (rfdetr, "detect", "rtdetr", [], {}),
    (rtdetr_lists, "detect", "rtdetr", [], {}), (ssd, "detect", "ssd", [], {"first_class": 1}),
    (torchvision, "detect", "torchvision", [], {"first_class": 1}), (tensorflow, "detect", "tensorflow", [], {"first_class": 1}),
    (nms, "detect", "nms", [], {}), (retinaface, "pose", "retinaface", [], {"n_points": 5}),
    (retinaface_logits, "pose", "retinaface", [], {"n_points": 5}), (scrfd, "pose", "scrfd", [], {"n_points": 5}),
    (blazeface, "pose", "blazeface", [], {"n_points": 6}), (blazeface_joined, "pose", "blazeface", [], {"n_points": 6}),
    (scrfd_without_points, "detect", "scrfd", [], {}), (yunet, "pose", "yunet", [], {"n_points": 5}),
    (paddle, "detect", "paddle", [], {}), (pinto, "detect", "pinto", [], {}), (pinto_score_last, "detect", "pinto", [], {}),
    (yolov8_pose, "pose", "yolov8", [], {"n_points": 17}),
    (yolov8_pose, "pose", "yolov8", ["--task", "pose"], {"n_points": 4}), (yolov10_pose, "pose", "yolov10", [], {"n_points": 17}),
    (yolov8_obb, "obb", "yolov8", ["--task", "obb"], {}), (yolov10_obb, "obb", "yolov10", ["--task", "obb"], {}),
    (torchvision_pose, "pose", "torchvision", [], {"first_class": 1, "n_points": 17}),
    (yolov8_segment, "segment", "yolov8", [], {}), (yolov5_segment, "segment", "yolov5", [], {}),
    (yolov10_segment, "segment", "yolov10", [], {}), (torchvision_segment, "segment", "torchvision", [], {"first_class": 1}),
    (zoo_mask_rcnn, "segment", "torchvision", [], {"first_class": 1}),
    (tensorflow_segment, "segment", "tensorflow", [], {"first_class": 1}),
]


# Back to the photo

def back(axis, v):
    """The photo's coordinate of an input's one: (pixels, resized pixels, elements, first resized pixel)."""
    n, size, _, offset = axis
    return (v + offset) * n / size


def back_boxes(axes, boxes):
    x, y = (back(axes[1 - i], boxes[:, [i, i + 2]]).clip(0, axes[1 - i][0]) for i in range(2))
    return np.stack([x[:, 0], y[:, 0], x[:, 1], y[:, 1]], axis=1)


def interpolation(centers_of, n):
    """[len, n]: the weights of n elements, whose centers are at halves, at these positions; beyond the ends they stay."""
    return np.array([np.interp(centers_of, np.arange(n) + 0.5, np.eye(n)[i]) for i in range(n)]).T


def expected_mask(scene, i, axes, box):
    """[rows, columns] of the photo."""
    at = []
    for k, axis in enumerate(axes):
        n, size, out, offset = axis
        v = (np.arange(n) + 0.5) * size / n - offset  # of the input
        first, last = (0, out) if scene.over == "input" else (scene.boxes[i][1 - k], scene.boxes[i][3 - k])
        at.append(interpolation((v - first) / (last - first) * scene.grids.shape[1 + k], scene.grids.shape[1 + k]))
    mask = at[0] @ scene.grids[i] @ at[1].T > scene.threshold
    y, x = np.arange(axes[0][0]) + 0.5, np.arange(axes[1][0]) + 0.5
    return mask & ((y >= box[1]) & (y < box[3]))[:, None] & ((x >= box[0]) & (x < box[2]))[None]


def mask_of(found):
    """COCO's uncompressed runs, down the columns."""
    height, width = found["size"]
    values = np.repeat(np.arange(len(found["counts"])) % 2, found["counts"])
    assert len(values) == height * width, f"{len(values)} pixels"
    return values.reshape(width, height).T.astype(bool)


def compare(scene, axes, found, with_masks):
    boxes = back_boxes(axes, scene.boxes)
    kept = [i for i in range(scene.n) if boxes[i, 0] < boxes[i, 2] and boxes[i, 1] < boxes[i, 3]]
    expected = [(int(scene.classes[i]), round(float(scene.scores[i]), 3)) for i in kept]
    got = [(d["class"], round(d["score"], 3)) for d in found]
    if got != expected:
        return f"classes and scores {got}, expected {expected}\n"
    fault = ""
    for d, i in zip(found, kept):
        if not np.abs(np.array(d["box"]) - boxes[i]).max() < 2e-3:
            fault += f"box {d['box']}, expected {boxes[i]}\n"
        if scene.points.size:
            points = np.stack([back(axes[1], scene.points[i, :, 0]), back(axes[0], scene.points[i, :, 1]), scene.points[i, :, 2]],
                              axis=1)
            if not np.abs(np.array(d["points"]) - points).max() < 1e-2:
                fault += f"points {d['points']}, expected {points}\n"
        if with_masks:
            mask = expected_mask(scene, i, axes, boxes[i])
            # Sums in another order may differ where the mask is at its threshold.
            scene.n_pixels = getattr(scene, "n_pixels", 0) + mask.sum()
            if (mask_of(d["mask"]) != mask).mean() > 1e-3:
                fault += f"{(mask_of(d['mask']) != mask).sum()} of {mask.sum()} pixels of a mask differ\n"
    return fault


def detect(lightnet, *options):
    status, printed, errors = run(lightnet, "model.onnx", "-i", "photo.ppm", "-w", "--json", *options)
    return json.loads(printed) if status == 0 else errors


def check_family(tap, lightnet, encode, task, family, options, members):
    fault = ""
    for seed, (fit, axes_of) in enumerate(FITS.items()):
        for size in ((60, 200), (151, 80)):
            scene = Scene(seed, **members)
            save_model("model.onnx", encode(scene))
            write_ppm("photo.ppm", np.full((*size, 3), 100, np.uint8))
            axes = axes_of(size, (HEIGHT, WIDTH))
            got = detect(lightnet, "--resize", fit, *(options or ["--task", "any"]))
            if isinstance(got, str) or (got["family"], got["task"]) != (family, task):
                fault += f"{fit}: {got if isinstance(got, str) else (got['family'], got['task'])}\n"
            else:
                different = compare(scene, axes, got["detections"], hasattr(scene, "grids"))
                if not getattr(scene, "n_pixels", 1):
                    different += "the masks are empty\n"
                fault += f"{fit}, {size}: {different}" if different else ""
    tap.check(f"detections of {encode.__name__}{''.join(' ' + o for o in options)} are those that were encoded", fault)


# Labels, tasks, presets

def check_labels(tap, lightnet):
    """--labels, else those of the model, else those of the preset."""
    scene = Scene(1)
    scene.classes[:] = [0, 2, 1, 3, 6]
    write_ppm("photo.ppm", np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
    with open("labels.txt", "w", encoding="utf-8") as stream:
        stream.write("\n".join("abcdefg"))
    names = "{0: 'one', 1: \"it's\", 2: 'th\\'ree', 3: 'four', 4: 'five', 5: 'six', 6: 'seven'}"
    of_model = ["one", "th'ree", "it's", "four", "seven"]
    cases = [
        ((), [], [None] * 5), ((), ["--labels", "labels.txt"], list("acbdg")),
        ((), ["--preset", "yolov8"], [None] * 5),  # 80 labels are not for 7 classes
        ((("names", names),), [], of_model), ((("names", names),), ["--preset", "yolov8"], of_model),
        ((("names", names),), ["--labels", "labels.txt"], list("acbdg")),
        ((("names", "['one', 'two', 'three', 'four', 'five', 'six', 'seven']"),), [], ["one", "three", "two", "four", "seven"]),
        ((("names", '{"0": "x", "1": "y"}'),), [], [None] * 5),
        ((("names", "{0: 'one', 2: 'two'}"),), [], [None] * 5), ((("names", "{0: 'one"),), [], [None] * 5),
        ((("names", "{}"),), [], [None] * 5), ((("names", "{0: 'a\\"),), [], [None] * 5), ((("names", ""),), [], [None] * 5),
    ]
    fault = ""
    for metadata, options, expected in cases:
        save_model("model.onnx", yolov8(scene), metadata)
        got = detect(lightnet, *(options if "--preset" in options else [*options, "--task", "any"]))
        labels = got if isinstance(got, str) else [d.get("label") for d in got["detections"]]
        if labels != expected:
            fault += f"{metadata} {options}: {labels}, expected {expected}\n"
    rows = np.zeros((84, len(cells())))
    rows[:4], rows[4 + 16, 7] = [[20], [20], [10], [10]], 0.9
    save_model("model.onnx", {"output0": f32(rows[None])})
    got = detect(lightnet, "--preset", "yolov8")
    fault += "" if not isinstance(got, str) and [d["label"] for d in got["detections"]] == ["dog"] else f"80 classes: {got}\n"
    status, _, errors = run(lightnet, "model.onnx", "-i", "photo.ppm", "--preset", "yolov8", "--labels", "labels.txt")
    if (status, errors) != (0, "warning: labels.txt: 7 labels for the 80 classes of the model, which has none of them"):
        fault += f"wrong labels: {status} {errors!r}\n"
    tap.check("labels are those of the option, the model, or the preset", fault)


def check_classes(tap, lightnet):
    """--preset resnet50 prints the five best classes with the names of ImageNet, also of models with a background."""
    write_ppm("photo.ppm", np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
    fault = ""
    for n, c, label in [(1000, 281, "tabby"), (1000, 0, "tench"), (1000, 999, "toilet tissue"), (1001, 282, "tabby"), (1001, 0, None), (10, 2, None)]:
        scores = np.zeros((1, n), np.float32)
        scores[0, c] = 1
        printed, drawn = [], []
        for shape in ((1, n), (1, n, 1, 1)):
            save_model("model.onnx", {"y": scores.reshape(shape)})
            got = detect(lightnet, "--preset", "resnet50")
            best = got if isinstance(got, str) else got["outputs"][0]["top"][0]
            if len(best) != 5 or (best[0]["index"], best[0].get("label")) != (c, label):
                fault += f"{n} classes: {best}, expected {label}\n"
            printed.append(run(lightnet, "model.onnx", "-i", "photo.ppm", "-w", "--preset", "resnet50"))
            run(lightnet, "model.onnx", "-i", "photo.ppm", "-w", "--preset", "resnet50", "--draw", "classes", "-o", "drawn.ppm")
            drawn.append(read_ppm("drawn.ppm").tolist())
        if printed[0] != printed[1] or drawn[0] != drawn[1]:
            fault += f"{n} classes as an image of one pixel: {printed[1]}\n"
    tap.check("classes have the names of ImageNet", fault)


def check_ambiguous(tap, lightnet):
    """Columns of 52 classes are a pose, unless the task or the number of labels decides."""
    write_ppm("photo.ppm", np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
    with open("labels.txt", "w", encoding="utf-8") as stream:
        stream.write("\n".join(map(str, range(52))))
    rows = np.zeros((56, len(cells())))
    rows[:4] = [[20], [20], [10], [10]]
    rows[30, 5] = 0.9  # class 26, or the x of a key point
    cases = [((), ["--task", "any"], "pose"), ((), ["--task", "detect"], "detect"), ((), ["--labels", "labels.txt", "--task", "any"], "detect"),
             ((("task", "detect"),), ["--task", "any"], "detect"), ((("task", "pose"), ("kpt_shape", "[17, 3]")), ["--task", "any"], "pose"),
             ((("task", "detect"),), ["--task", "pose"], "pose"), ((("task", "obb"),), ["--task", "any"], "obb")]
    fault = ""
    for metadata, options, expected in cases:
        save_model("model.onnx", {"output0": f32(rows[None])}, metadata)
        got = detect(lightnet, *options)
        found = got if isinstance(got, str) else (got["task"], [d["class"] for d in got["detections"]])
        if found != (expected, [26] if expected in ("detect", "obb") else []):
            fault += f"{metadata} {options}: {found}\n"
    save_model("model.onnx", {"output0": f32(rows[None])}, [("task", "depth")])
    got = detect(lightnet, "--task", "any")
    if not isinstance(got, str) or "'depth' is no task or family of detections; expected detect, segment, pose, obb, yolov8" not in got:
        fault += f"depth: {got}\n"
    tap.check("the task decides where outputs of several tasks look alike", fault)


def check_flat_points(tap, lightnet):
    """Key points without confidence, by the metadata: of one class, and of several with labels."""
    fault = ""
    write_ppm("photo.ppm", np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
    for n_classes, n_points in ((1, 4), (N_CLASSES, 4), (N_CLASSES, 2)):
        scene = Scene(4, n_points=n_points)
        scene.points[..., 2] = 1
        scene.classes %= n_classes
        flat = scene.points[..., :2].reshape(scene.n, -1)
        rows, _ = columns_of(scene, len(cells()), centers(scene.boxes), extra=flat)
        rows = np.delete(rows, range(4 + n_classes, 4 + N_CLASSES), axis=1)
        found = suppressed(scene, 300, flat)
        metadata = [("task", "pose"), ("kpt_shape", f"[{n_points}, 2]"), ("names", str({i: f"class {i}" for i in range(n_classes)}))]
        for outputs in ({"output0": f32(rows.T[None])}, {"output0": f32(found[None])}):
            save_model("model.onnx", outputs, metadata)
            got = detect(lightnet, "--task", "any")
            fault += f"{n_classes} classes, {n_points} points: {got}\n" if isinstance(got, str) else \
                compare(scene, stretched((HEIGHT, WIDTH), (HEIGHT, WIDTH)), got["detections"], False)
    tap.check("key points may have no confidence", fault)


def probiou(p, q):
    """Of boxes (x, y, w, h, angle): 1 minus the Hellinger distance of normal distributions, by their definition."""
    def covariance(w, h, angle):
        turn_by = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return turn_by @ np.diag([w * w / 12, h * h / 12]) @ turn_by.T
    a, b = covariance(*p[2:]), covariance(*q[2:])
    mean, d = (a + b) / 2, np.array(p[:2]) - np.array(q[:2])
    coefficient = (np.linalg.det(a) * np.linalg.det(b)) ** 0.25 / np.sqrt(np.linalg.det(mean)) * np.exp(-d @ np.linalg.inv(mean) @ d / 8)
    return 1 - np.sqrt(1 - coefficient)


def check_oriented(tap, lightnet):
    """Of oriented boxes, the worse one is dropped if the overlap of their distributions exceeds --overlap."""
    write_ppm("photo.ppm", np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
    random = np.random.default_rng(7)
    fault = ""
    n_dropped = 0
    for _ in range(12):
        boxes = np.array([[40, 30, 30, 12, 0.3], [40, 30, 30, 12, 0.3] + random.normal(0, [3, 3, 3, 1, 0.3])])
        rows = np.zeros((2 + 4 + 1, len(cells())))
        rows[:4, :2], rows[4, :2], rows[6, :2] = boxes[:, :4].T, [0.9, 0.8], boxes[:, 4]
        save_model("model.onnx", {"output0": f32(rows[None])})
        overlap = probiou(*boxes)
        for limit, n in ((overlap - 1e-4, 1), (overlap + 1e-4, 2)):
            got = detect(lightnet, "--task", "obb", "--overlap", f"{limit:.6f}")
            n_dropped += n == 1
            if isinstance(got, str) or len(got["detections"]) != n:
                fault += f"{boxes} overlap by {overlap}: {got}\n"
    tap.check("oriented boxes overlap by their distributions", fault or ("" if n_dropped else "none is dropped"))


def check_lists(tap, lightnet):
    """The words of --task and --preset, and what they are not."""
    fault = ""
    status, printed, errors = run(lightnet, "--task", "help")
    missing = {family for _, _, family, _, _ in FAMILIES} - {line.split(" ")[0] for line in printed.splitlines()}
    if (status, errors) != (0, "") or missing:
        fault += f"{status} {errors!r}, without {missing}\n"
    status, printed, errors = run(lightnet, "--preset", "help")
    names = [line.split()[0] for line in printed.splitlines()[1:]]
    if (status, errors) != (0, "") or len(set(names)) != len(names) or "yolov8" not in names:
        fault += f"{status} {printed!r} {errors!r}\n"
    write_ppm("photo.ppm", np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
    for name in names:  # each has a preprocessing and a task that exist
        scene = Scene(1, n_points=5)
        is_nhwc = name in ("keras", "yolov4", "tensorflow")
        save_model("model.onnx", scrfd(scene), shape=(1, HEIGHT, WIDTH, 3) if is_nhwc else (1, 3, HEIGHT, WIDTH))
        status, printed, errors = run(lightnet, "model.onnx", "-i", "photo.ppm", "-w", "--preset", name, "--task", "scrfd")
        if status or printed.count("\n") != scene.n:
            fault += f"{name}: {status} {printed!r} {errors!r}\n"
    bash = subprocess.run([lightnet, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    words = re.search(r"--preset\) words='([^']*)'", bash)[1].split()
    fault += "" if words == [*names, "help"] else f"completion knows {words}\n"
    for options, expected in [(["--preset", "yolov88"], "--preset is 'yolov88'; did you mean 'yolov8'?"),
                              (["--preset", "x"], "--preset is 'x'; see lightnet run --preset help"),
                              (["--task", "detekt"], "--task is 'detekt'; did you mean 'detect'?"),
                              (["--task", "x"], "--task is 'x', expected any, detect, segment, pose, obb, semantic or a family; see "
                               "lightnet run --task help"),
                              (["--task", "detect", "--draw", "mask", "-o", "a.png"], "--draw mask and --task detect exclude each other")]:
        status, _, errors = run(lightnet, "model.onnx", *options)
        if (status, errors) != (2, "lightnet: error: " + expected):
            fault += f"{options}: {status} {errors!r}\n"
    tap.check("tasks and presets are lists", fault)


def check_semantic(tap, lightnet):
    scores = np.zeros((1, 21, HEIGHT // 8, WIDTH // 8), np.float32)
    scores[0, 12, :, :3] = 1  # dog, a quarter
    scores[0, 8, :4, 3:] = 2  # cat, three eighths
    save_model("model.onnx", {"out": scores})
    write_ppm("photo.ppm", np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
    got = detect(lightnet, "--preset", "deeplab")
    expected = [{"class": 8, "label": "cat", "share": 0.375}, {"class": 12, "label": "dog", "share": 0.25}]
    fault = got if isinstance(got, str) else "" if (got["task"], got["classes"]) == ("semantic", expected) else f"{got}"
    # Class 0 is the background by its label, or without one.
    save_model("model.onnx", {"out": scores[:, :13]})
    for first in ("background", "__background__", "n/a", "sky", ""):
        with open("labels.txt", "w", encoding="utf-8") as stream:
            stream.write("\n".join([*([first] if first else []), *map(str, range(1, 13))]))
        got = detect(lightnet, "--task", "semantic", "--labels", "labels.txt")
        classes = got if isinstance(got, str) else [found["class"] for found in got["classes"]]
        if classes != ([0, 8, 12] if first == "sky" else [8, 12]):
            fault += f"{first}: {classes}\n"
    tap.check("classes of pixels have shares", fault)


def check_each(tap, lightnet):
    """With --each, a line of JSON for each file, also with drawn images, or the error."""
    os.makedirs("photos", exist_ok=True)
    write_ppm("photos/a.ppm", np.full((HEIGHT, WIDTH, 3), 100, np.uint8))
    write_ppm("photos/b.ppm", np.full((2 * HEIGHT, WIDTH, 3), 100, np.uint8))
    np.save("photos/c.npy", np.zeros((1, 3, HEIGHT, WIDTH), np.float32))
    save_model("model.onnx", yolov8(Scene(1)))
    fault = ""
    for options, written in [([], []), (["--draw", "boxes", "-O", "drawn"], ["a_boxes.ppm", "b_boxes.ppm"])]:
        status, printed, errors = run(lightnet, "model.onnx", "--each", "photos", "-w", "--json", "--preset", "yolov8", "--resize", "stretch", *options)
        lines = [json.loads(line) for line in printed.splitlines()]
        if status != 1 or [len(line.get("detections", [])) for line in lines] != [5, 5, 0] or "needs an image" not in lines[2].get("error", ""):
            fault += f"{status} {printed!r} {errors!r}\n"
        if written and sorted(os.listdir("drawn")) != written:
            fault += f"written: {os.listdir('drawn')}\n"
    save_model("model.onnx", {"y": np.zeros((1, 3, 10), np.float32)})
    status, printed, errors = run(lightnet, "model.onnx", "--each", "photos", "-w", "--json", "--task", "any")
    lines = [json.loads(line) for line in printed.splitlines()]
    if status != 1 or ["fit no family" in line["error"] for line in lines] != [True, True, False]:
        fault += f"{status} {printed!r} {errors!r}\n"
    tap.check("detections of many files are lines of JSON", fault)


def check_beside(tap, lightnet):
    """Inputs beside the image, in any order, have the size of the input, not of the photo."""
    scene = Scene(1)
    box, score = boxes_scores(scene, 300)
    fault = ""
    cases = [("orig_target_sizes", "int64", [1, 2], [1, 0]), ("image_shape", "float", [1, 2], [0, 1]), ("im_shape", "float", ["n", 2], [0, 1])]
    for name, dtype, shape, order in cases:
        # boxes = fractions * (w, h, w, h), of the input that is (h, w) or (w, h)
        pair = [1, 0] if order == [0, 1] else [0, 1]
        nodes = [onnx.node("Cast", [name], ["f"], to=1), onnx.node("Gather", ["f", "pair"], ["size"], axis=1),
                 onnx.node("Concat", ["size", "size"], ["sizes"], axis=1), onnx.node("Mul", ["fractions", "sizes"], ["boxes"]),
                 onnx.node("Mul", ["given", "scale_factor"], ["scores"]), onnx.node("Identity", ["c"], ["labels"])]
        tensors = [onnx.tensor("fractions", "float", [1, 300, 4], f32(fractions(box)).reshape(-1).tolist()),
                   onnx.tensor("given", "float", [1, 300], f32(score.max(axis=1)).tolist()), onnx.tensor("pair", "int64", [2], pair),
                   onnx.tensor("c", "int64", [1, 300], score.argmax(axis=1).tolist())]
        inputs = [onnx.value(name, dtype, shape), onnx.value("x", "float", [1, 3, HEIGHT, WIDTH]), onnx.value("scale_factor", "float", [1])]
        outputs = [onnx.value("boxes", "float", [1, 300, 4]), onnx.value("scores", "float", [1, 300]), onnx.value("labels", "int64", [1, 300])]
        with open("model.onnx", "wb") as stream:
            stream.write(onnx.model(onnx.graph(nodes, inputs, outputs, tensors), opset=17))
        write_ppm("photo.ppm", np.full((60, 200, 3), 100, np.uint8))
        os.makedirs("one", exist_ok=True)
        write_ppm("one/photo.ppm", np.full((60, 200, 3), 100, np.uint8))
        got = detect(lightnet, "--task", "rtdetr", "--resize", "stretch")
        fault += f"{name}: {got}\n" if isinstance(got, str) else compare(scene, stretched((60, 200), (HEIGHT, WIDTH)), got["detections"], False)
        status, printed, errors = run(lightnet, "model.onnx", "--each", "one", "-w", "--json", "--task", "rtdetr", "--resize", "stretch")
        if status or json.loads(printed)["detections"] != got["detections"]:
            fault += f"{name} with --each: {status} {printed!r} {errors!r}\n"
        status, _, errors = run(lightnet, "model.onnx", "-i", "x=photo.ppm", "-w")
        if status != 1 or f"input '{name}'" not in errors:
            fault += f"{name} without a task: {status} {errors!r}\n"
    tap.check("sizes and masks beside the image are those of the input", fault)


def save_open_model(file, outputs, shape):
    """The same with an input of that shape, in which names are open sizes, and its copy [1, 1, ..], unlike masks, as a further output."""
    nodes = [onnx.node("Identity", ["c_" + name], [name]) for name in outputs] + [onnx.node("Unsqueeze", ["x", "axes"], ["copy"])]
    tensors = [onnx.tensor("c_" + name, TYPES[str(a.dtype)], a.shape, a.reshape(-1).tolist()) for name, a in outputs.items()]
    values = [onnx.value(name, TYPES[str(a.dtype)], a.shape) for name, a in outputs.items()]
    graph = onnx.graph(nodes, [onnx.value("x", "float", shape)], [*values, onnx.value("copy", "float", [1, 1, *shape])],
                       [*tensors, onnx.tensor("axes", "int64", [2], [0, 1])])
    with open(file, "wb") as stream:
        stream.write(onnx.model(graph, opset=17))


def check_open(tap, lightnet):
    """An image has the preset's height and width where these are open in the input, and is a batch of one with 3 channels."""
    size, fault = (60, 200), ""
    os.makedirs("opened", exist_ok=True)
    write_ppm("opened/photo.ppm", np.full((*size, 3), 100, np.uint8))
    cases = [(["n", "c", "h", "w"], "yolov8", letterboxed, [1, 3, 640, 640], 2), ([1, 3, "h", "w"], "yolov3", letterboxed, [1, 3, 416, 416], 2),
             (["n", 3, "h", 96], "yolox", padded, [1, 3, 640, 96], 2), (["n", "h", "w", 3], "tensorflow", stretched, [1, 640, 640, 3], 1),
             ([3, "h", "w"], "detr", stretched, [3, 800, 1066], 1), (["n", 3, 64, 96], "yolov8", letterboxed, [1, 3, 64, 96], 2)]
    for shape, preset, axes_of, expected, height in cases:
        scene = Scene(3)
        save_open_model("model.onnx", yolov8(scene), shape)
        for files in (["-i", "opened/photo.ppm"], ["--each", "opened"]):
            status, printed, errors = run(lightnet, "model.onnx", *files, "-w", "--json", "--preset", preset, "--task", "yolov8")
            if status:
                fault += f"{shape} {preset} {files}: {errors}\n"
                continue
            got = json.loads(printed)
            fault += compare(scene, axes_of(size, expected[height:height + 2]), got["detections"], False)
            if [o["shape"] for o in got["outputs"] if o["name"] == "copy"] != [[1, 1, *expected]]:
                fault += f"{shape} {preset} {files}: {got['outputs']}\n"
    # A mask beside the image has its size.
    inputs = [onnx.value("pixel_mask", "int64", ["n", "h", "w"]), onnx.value("x", "float", ["n", 3, "h", "w"])]
    rows = yolov8(Scene(3))["output0"]
    graph = onnx.graph([onnx.node("Identity", ["c"], ["y"]), onnx.node("Unsqueeze", ["pixel_mask", "axes"], ["copy"])], inputs,
                       [onnx.value("y", "float", rows.shape), onnx.value("copy", "int64", [1, 1, "n", "h", "w"])],
                       [onnx.tensor("c", "float", rows.shape, rows.reshape(-1).tolist()), onnx.tensor("axes", "int64", [2], [0, 1])])
    with open("model.onnx", "wb") as stream:
        stream.write(onnx.model(graph, opset=17))
    for files in (["-i", "x=opened/photo.ppm"], ["--each", "opened"]):
        status, printed, errors = run(lightnet, "model.onnx", *files, "-w", "--json", "--preset", "detr", "--task", "yolov8")
        if status or json.loads(printed)["outputs"][1]["shape"] != [1, 1, 1, 800, 1066]:
            fault += f"pixel_mask {files}: {status} {printed!r} {errors!r}\n"
    save_open_model("model.onnx", {}, ["n", 3, 64, 96])  # needs no preset
    status, _, errors = run(lightnet, "model.onnx", "-i", "opened/photo.ppm", "-w")
    fault += f"an open batch: {errors}\n" if status else ""
    with open("opened/photo.ppm", "rb") as stream:  # nor does a stream
        piped = subprocess.run([lightnet, "run", "model.onnx", "-i", "-", "-w"], stdin=stream, capture_output=True, text=True, check=False)
    fault += f"a stream: {piped.stderr}\n" if piped.returncode or "copy: TL_FLOAT [1, 1, 1, 3, 64, 96]" not in piped.stdout else ""
    save_open_model("model.onnx", {}, ["n", 3, "h", 96])
    expected = ("opened/photo.ppm: a PPM image does not contain the shape of an input, expected npy or an ONNX tensor; give the open sizes of "
                "input 'x', as by --shape 'x=1x3x1x96'")
    status, _, errors = run(lightnet, "model.onnx", "-i", "opened/photo.ppm", "-w")
    if (status, errors) != (1, "lightnet: error: model.onnx: input 'x': " + expected):
        fault += f"an open height: {status} {errors}\n"
    status, _, errors = run(lightnet, "model.onnx", "--each", "opened", "-w")
    if status != 1 or expected not in errors:
        fault += f"an open height of many files: {status} {errors}\n"
    tap.check("open sizes are those of the preset", fault)


def quantize(lightnet, samples, file, *options):
    """Returns the warnings."""
    result = subprocess.run([lightnet, "quantize", "conv.onnx", "--data", samples, "-o", file, "--any-speed", "--max-error", "1", "--seconds", "0",
                             "--force", *options], capture_output=True, text=True, check=False)
    assert result.returncode == 0 and "1 of 1 in 8 bits" in result.stdout, result.stdout + result.stderr
    return result.stderr


def check_quantize(tap, lightnet):
    """quantize reads photos by the preset as run does."""
    random, fault = np.random.default_rng(5), ""
    os.makedirs("samples", exist_ok=True)
    os.makedirs("arrays", exist_ok=True)
    save_open_model("copy.onnx", {}, ["n", 3, "h", "w"])
    for k in range(2):
        write_ppm(f"samples/{k}.ppm", random.integers(0, 256, (60, 200, 3), np.uint8))
        status, _, errors = run(lightnet, "copy.onnx", "-i", f"samples/{k}.ppm", "-O", "out", "--preprocess", "blazeface", "--shape", "x=1x3x128x128")
        assert status == 0, errors
        np.save(f"arrays/{k}.npy", np.load("out/output_0.npy")[0, 0])
    weight = random.normal(0, 1, (4, 3, 3, 3))
    graph = onnx.graph([onnx.node("Conv", ["x", "w"], ["y"])], [onnx.value("x", "float", ["n", 3, "h", "w"])],
                       [onnx.value("y", "float", ["n", 4, "a", "b"])], [onnx.tensor("w", "float", weight.shape, weight.reshape(-1).tolist())])
    with open("conv.onnx", "wb") as stream:
        stream.write(onnx.model(graph, opset=17))
    files = {}
    for samples, options in (("samples", ["--preset", "blazeface"]), ("arrays", [])):
        fault += quantize(lightnet, samples, "quantized.onnx", *options)
        with open("quantized.onnx", "rb") as stream:
            files[samples] = stream.read()
    fault += "" if files["samples"] == files["arrays"] else "other ranges than those of the arrays\n"
    warnings = quantize(lightnet, "samples", "quantized.onnx", "--shape", "x=1x3x128x128")
    if warnings.count("warning: ") != 1 or "samples/0.ppm: pixels are not scaled" not in warnings:
        fault += f"unscaled: {warnings}\n"
    fault += quantize(lightnet, "samples", "quantized.onnx", "--shape", "x=1x3x128x128", "-w")
    # Inputs beside the image need no folder.
    nodes = [onnx.node("Conv", ["x", "w"], ["c"]), onnx.node("Cast", ["pixel_mask"], ["m"], to=1), onnx.node("ReduceSum", ["m"], ["s"], keepdims=0),
             onnx.node("Mul", ["c", "s"], ["y"])]
    graph = onnx.graph(nodes, [onnx.value("pixel_mask", "int64", ["n", "h", "w"]), onnx.value("x", "float", ["n", 3, "h", "w"])],
                       [onnx.value("y", "float", ["n", 4, "a", "b"])], [onnx.tensor("w", "float", weight.shape, weight.reshape(-1).tolist())])
    with open("conv.onnx", "wb") as stream:
        stream.write(onnx.model(graph, opset=17))
    fault += quantize(lightnet, "samples", "quantized.onnx", "--preset", "blazeface")
    tap.check("quantize reads photos by a preset", fault)


# Drawing

def draw(lightnet, outputs, size, *options):
    save_model("model.onnx", outputs)
    write_ppm("photo.ppm", np.full((*size, 3), 100, np.uint8))
    status, _, errors = run(lightnet, "model.onnx", "-i", "photo.ppm", "-w", "-o", "drawn.ppm", *options)
    assert status == 0, errors
    return read_ppm("drawn.ppm").astype(int)


def check_drawn_masks(tap, lightnet):
    """Pixels of a mask are half of its class's color; the frame is that color."""
    scene = Scene(3, n=1)
    scene.boxes[:] = [[20, 20, 60, 50]]
    drawn = draw(lightnet, yolov8_segment(scene), (HEIGHT, WIDTH), "--draw", "segment")
    mask = expected_mask(scene, 0, stretched((HEIGHT, WIDTH), (HEIGHT, WIDTH)), scene.boxes[0])
    inside = np.zeros((HEIGHT, WIDTH), bool)
    inside[22:48, 22:58] = True
    color = drawn[40, 20]
    expected = np.where((mask & inside)[..., None], (100 + color) // 2, 100)
    fault = ""
    if not (drawn[20:50, 20:22] == color).all() or (color == 100).all():
        fault += "the frame has several colors\n"
    if not (drawn[inside] == expected[inside]).all():
        fault += f"{(drawn[inside] != expected[inside]).any(axis=1).sum()} pixels differ from the mask\n"
    if not (drawn[:11] == 100).all() or not (drawn[50:] == 100).all():
        fault += "pixels outside are drawn\n"
    tap.check("masks are half-transparent", fault)


def check_drawn_points(tap, lightnet):
    """Points are squares, limbs lines between them; those that are likely invisible are neither."""
    scene = Scene(3, n=1, n_points=17)
    scene.boxes[:] = [[10, 12, 90, 60]]
    scene.points[..., 2] = 0.1
    for k, x, y in [(5, 30, 20), (7, 30, 40), (9, 60, 40)]:  # shoulder, elbow, wrist
        scene.points[0, k] = [x + 0.5, y + 0.5, 0.9]
    scene.points[0, :3] = [[np.nan, 30, 0.9], [30, 3e38, 0.9], [-np.inf, 30, 0.9]]  # not in the photo
    drawn = draw(lightnet, yolov8_pose(scene), (HEIGHT, WIDTH), "--draw", "pose")
    limb = drawn[30, 30]
    inside = np.zeros((HEIGHT, WIDTH), bool)
    inside[14:58, 12:88] = True
    lit = (drawn != 100).any(axis=2) & inside
    expected = np.zeros_like(lit)
    for y, x in ((20, 30), (40, 30), (40, 60)):
        expected[y - 2:y + 3, x - 2:x + 3] = True
    expected[20:41, 29:31] = True
    expected[39:41, 30:61] = True
    fault = "" if (lit == expected).all() else "\n".join("".join(".#"[int(v)] for v in row) for row in lit[14:58, 12:88])
    if not (drawn[25:35, 29:31] == limb).all() or not (limb == drawn[30, 10]).all():
        fault += "limbs have another color than the frame\n"
    if (drawn[20, 30] == drawn[40, 30]).all():
        fault += "points have one color\n"
    tap.check("key points are squares and limbs lines", fault)


def check_drawn_oriented(tap, lightnet):
    """An oriented box is four lines between its corners."""
    rows = np.zeros((2 + 4 + 1, len(cells())))
    rows[:4, 0], rows[4, 0], rows[6, 0] = [50, 35, 28, 28], 0.9, np.pi / 4  # corners 19.8 from the center
    drawn = draw(lightnet, {"output0": f32(rows[None])}, (HEIGHT, WIDTH), "--draw", "obb")
    lit = (drawn != 100).any(axis=2)
    fault = "" if lit[35, 31] and lit[35, 69] and lit[54, 50] and lit[45, 40] and lit[25, 60] else "sides are missing\n"
    if lit[28:43, 43:58].any() or lit[50:55, 30:40].any() or lit[35, 75:].any():
        fault += "other pixels are drawn"
    tap.check("oriented boxes are lines", fault)


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for encode, task, family, options, members in FAMILIES:
            check_family(tap, lightnet, encode, task, family, options, members)
        check_labels(tap, lightnet)
        check_classes(tap, lightnet)
        check_ambiguous(tap, lightnet)
        check_flat_points(tap, lightnet)
        check_oriented(tap, lightnet)
        check_lists(tap, lightnet)
        check_semantic(tap, lightnet)
        check_each(tap, lightnet)
        check_beside(tap, lightnet)
        check_open(tap, lightnet)
        check_quantize(tap, lightnet)
        check_drawn_masks(tap, lightnet)
        check_drawn_points(tap, lightnet)
        check_drawn_oriented(tap, lightnet)
        os.chdir("/")
    print(f"1..{tap.n}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
