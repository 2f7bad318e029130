#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: detections.py PACKAGE. lightnet.detections finds what the encoders of tests/detectors.py have written."""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [sys.argv[1], os.path.join(HERE, "../structure"), os.path.join(HERE, "../onnx"), os.path.join(HERE, "..")]

import numpy as np
from checks import run_tests, same, test

import detectors as d
import lightnet

SIZE = (151, 80)


def raises(function, *texts):
    try:
        function()
    except lightnet.InvalidArgument as error:
        return [f"'{text}' is not in: {error}" for text in texts if text not in str(error)]
    return ["raised nothing"]


def close(seen, wanted, tolerance=2e-3):
    seen, wanted = np.asarray(seen), np.asarray(wanted)
    return [] if seen.shape == wanted.shape and np.abs(seen - wanted).max(initial=0) < tolerance else [f"{seen!r} is not {wanted!r}"]


def session_of(outputs, metadata=()):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "model.onnx")
        d.save_model(file, outputs, metadata)
        with open(file, "rb") as stream:
            return lightnet.InferenceSession(stream.read())


def run(session):
    return session.run(None, {"x": np.zeros((1, 3, d.HEIGHT, d.WIDTH), np.float32)})


@test
def boxes_are_pixels_of_the_picture():
    faults = []
    for fit, axes_of in d.FITS.items():
        scene = d.Scene(2)
        session = session_of(d.yolov8(scene))
        found = lightnet.detections(run(session), SIZE, session, resize=fit)
        boxes = d.back_boxes(axes_of(SIZE, (d.HEIGHT, d.WIDTH)), scene.boxes)
        kept = (boxes[:, :2] < boxes[:, 2:]).all(axis=1)
        faults += close(found.boxes, boxes[kept]) + close(found.scores, scene.scores[kept], 1e-6)
        faults += same(found.classes.tolist(), scene.classes[kept].tolist())
        faults += same((found.family, found.task, len(found), found.points, found.masks), ("yolov8", "detect", kept.sum(), None, None))
    return faults


@test
def a_resize_of_the_caller_is_its_size_and_offset():
    scene = d.Scene(2)
    found = lightnet.detections(d.yolov8(scene), np.zeros((*SIZE, 3)), resize=((60, 0), (48, -4)), input_size=(d.HEIGHT, d.WIDTH))
    boxes = (scene.boxes + [-4, 0, -4, 0]) * [80 / 48, 151 / 60, 80 / 48, 151 / 60]
    boxes = np.clip(boxes, 0, [80, 151, 80, 151])
    return close(found.boxes, boxes[(boxes[:, :2] < boxes[:, 2:]).all(axis=1)])


@test
def labels_and_tasks_are_those_of_the_model():
    scene = d.Scene(1)
    names = {i: f"class {i}" for i in range(d.N_CLASSES)}
    session = session_of(d.yolov8(scene), [("names", str(names)), ("task", "detect")])
    found = lightnet.detections(run(session), SIZE, session, resize="stretch")
    faults = same(found.labels, [names[i] for i in scene.classes])
    faults += same([(item.label, item.class_index) for item in found], [(names[i], i) for i in scene.classes])
    found = lightnet.detections(run(session), SIZE, session, resize="stretch", labels=list("abcdefg"))
    faults += same(found.labels, ["abcdefg"[i] for i in scene.classes])
    for broken in ("{0: 'a'", "{0: 1}", "__import__('os')", "{" * 10000, "{1: 'a'}"):
        session = session_of(d.yolov8(scene), [("names", broken)])
        faults += same(lightnet.detections(run(session), SIZE, session, resize="stretch").labels, [None] * 5)
    return faults + raises(lambda: lightnet.detections(d.yolov8(scene), SIZE, session_of(d.yolov8(scene), [("task", "depth")])),
                           "'depth' is no task or family")


@test
def masks_are_pixels_of_the_picture():
    scene = d.Scene(0)
    found = lightnet.detections(d.yolov8_segment(scene), SIZE, input_size=(d.HEIGHT, d.WIDTH), resize="crop")
    axes = d.cropped(SIZE, (d.HEIGHT, d.WIDTH))
    boxes = d.back_boxes(axes, scene.boxes)
    kept = [i for i in range(scene.n) if boxes[i, 0] < boxes[i, 2] and boxes[i, 1] < boxes[i, 3]]
    masks = np.array([d.expected_mask(scene, i, axes, boxes[i]) for i in kept])
    faults = same((found.masks.dtype, found.masks.shape), (np.dtype(bool), masks.shape))
    return faults + ([] if (found.masks != masks).mean() < 1e-3 and masks.any() else ["other masks"]) + \
        raises(lambda: lightnet.detections(d.yolov8(d.Scene(0)), SIZE, input_size=(d.HEIGHT, d.WIDTH)).mask(0), "have no masks")


@test
def points_are_pixels_of_the_picture():
    faults = []
    for n, options in ((17, {}), (4, {"task": "pose"}), (4, {"n_points": 4})):
        scene = d.Scene(0, n_points=n)
        found = lightnet.detections(d.yolov8_pose(scene), SIZE, input_size=(d.HEIGHT, d.WIDTH), resize="stretch", **options)
        faults += close(found.points, scene.points * [80 / d.WIDTH, 151 / d.HEIGHT, 1])
        faults += same([item.points.shape for item in found], [(n, 3)] * scene.n)
    return faults


@test
def scores_overlaps_and_numbers_are_limited():
    boxes = np.array([[[0, 0, 40, 20], [0, 0, 40, 10], [50, 20, 60, 30]]], np.float32)
    outputs = {"boxes": boxes, "scores": np.array([[[0.9], [0.8], [0.3]]], np.float32)}
    n = [len(lightnet.detections(outputs, (d.HEIGHT, d.WIDTH), input_size=(d.HEIGHT, d.WIDTH), **options))
         for options in ({}, {"overlap": 0.4}, {"score": 0.2}, {"score": 0.95}, {"max_detections": 1})]
    empty = lightnet.detections(outputs, SIZE, input_size=(d.HEIGHT, d.WIDTH), score=2)
    return same(n, [2, 1, 3, 0, 1]) + same((empty.boxes.shape, empty.scores.shape, list(empty)), ((0, 4), (0,), []))


@test
def classes_of_pixels_are_a_map():
    scores = np.zeros((1, 3, 4, 6), np.float32)
    scores[0, 2, :, 3:] = 1
    found = lightnet.class_map({"y": scores}, (8, 12), input_size=(d.HEIGHT, d.WIDTH), resize="stretch")
    faults = same(found.tolist(), [[0] * 6 + [2] * 6] * 8)
    turned = lightnet.class_map({"y": scores.transpose(0, 2, 3, 1).copy()}, (8, 12), input_size=(d.HEIGHT, d.WIDTH), resize="stretch", is_nhwc=True)
    return faults + same(turned.tolist(), found.tolist()) + \
        raises(lambda: lightnet.class_map({"y": scores[0, 0, 0]}, (8, 12), input_size=(d.HEIGHT, d.WIDTH)), "no output has a shape of masks")


@test
def wrong_arguments_raise():
    scene = d.Scene(1)
    outputs, size = d.yolov8(scene), (d.HEIGHT, d.WIDTH)
    session = session_of(outputs)
    return (raises(lambda: lightnet.detections({"y": np.zeros((1, 3, 10), np.float32)}, SIZE, input_size=size), "'y' [1, 3, 10]", "nearest family is yolov8")
            + raises(lambda: lightnet.detections(list(outputs.values()), SIZE, input_size=size), "need the model")
            + raises(lambda: lightnet.detections([1, 2], SIZE, session), "2 outputs of a model with 1")
            + raises(lambda: lightnet.detections(outputs, SIZE), "pass input_size=")
            + raises(lambda: lightnet.detections(outputs, SIZE, input_size=size, resize="fit"), "resize is 'fit'")
            + raises(lambda: lightnet.detections(outputs, SIZE, input_size=size, task="detekt"), "'detekt' is no task")
            + raises(lambda: lightnet.detections(outputs, SIZE, input_size=size, resize=((0, 0), (1, 0))), "expected at least 1")
            + raises(lambda: lightnet.detections(outputs, SIZE, input_size=size, score=float("nan")), "is NaN"))


@test
def wrong_sizes_and_labels_raise():
    outputs, faults = d.yolov8(d.Scene(1)), []
    for text, options in [
        ("resize is 'crop=abc', expected 'stretch', 'crop', 'crop=SHARE' (0.01 to 1), 'letterbox', 'pad'", {"resize": "crop=abc"}),
        ("resize is 'crop=0'", {"resize": "crop=0"}), ("resize is 'crop=nan'", {"resize": "crop=nan"}), ("resize is 'crop='", {"resize": "crop="}),
        ("resize is 'pad=3'", {"resize": "pad=3"}), ("resize is ((1, 2),)", {"resize": ((1, 2),)}), ("resize is 5", {"resize": 5}),
        ("resize[1] is (48, 4.5), expected (width, x)", {"resize": ((60, 0), (48, 4.5))}),
        ("input_size is 3, expected height and width", {"input_size": 3}), ("input_size is (1, 2, 3)", {"input_size": (1, 2, 3)}),
        ("the picture has 151 x 80 pixels, the input 0 x 96, expected at least 1", {"input_size": (0, 96)}),
        ("input_size is (4294967296, 1)", {"input_size": (2**32, 1)}),
        ("picture is 5, expected height and width", {"picture": 5}), ("picture is 'ab'", {"picture": "ab"}),
        ("the shape of the picture is (3,)", {"picture": np.zeros(3)}), ("the picture has 0 x 5 pixels", {"picture": (0, 5)}),
        ("labels is 'face', expected a list of str", {"labels": "face"}), ("labels is [1]", {"labels": [1]}),
        ("max_detections is 0, expected at least 1", {"max_detections": 0}),
    ]:
        arguments = {"picture": SIZE, "input_size": (d.HEIGHT, d.WIDTH), **options}
        faults += raises(lambda: lightnet.detections(outputs, **arguments), text)
    return faults


if __name__ == "__main__":
    run_tests()
