#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: svg.py LIGHTNET. The pictures of lightnet show are XML, with a box for each operator or tensor. Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

NASTY = 'a<b>&"c\'\u0001\u007f\u00e9\U0001f600]]>'
SVG = "{http://www.w3.org/2000/svg}"


def op(name, optype, ins, out, params):
    return {"name": name, "optype": optype, "tensors_in": [{"arg_name": arg, "name": tensor} for arg, tensor in ins],
            "tensors_out": [{"arg_name": "dst", "name": out}],
            "params": [{"arg_name": arg, "value": value} for arg, value in params.items()]}


def source(name, data, from_file=False):
    return op("make_" + name, "source", [], name, {"dtype": "TL_FLOAT", "dims": [4], "data": data, "from_file": from_file})


def chain(n):
    """x, and n sums: each of the tensor before and of one some steps earlier."""
    names = ["x"] + [NASTY + str(i) for i in range(n)]
    sums = [op("op" + NASTY + str(i), "elew", [("src1", names[i]), ("src2", names[max(0, i - i % 7)])], names[i + 1],
               {"elew_op": "TL_SUM"}) for i in range(n)]
    return {"inputs": ["x"], "outputs": [names[n]], "ops": [source("x", []), *sums]}


def weighted():
    """The sum of x with a tensor that is computed at load from a constant and a weight."""
    return {"inputs": ["x"], "outputs": ["y"], "ops": [
        source("x", []), source("v", [1, 2, 3, 4]), source("w", [], True),
        op("u", "elew", [("src1", "v"), ("src2", "w")], "u", {"elew_op": "TL_SUM"}),
        op("y", "elew", [("src1", "x"), ("src2", "u")], "y", {"elew_op": "TL_SUM"})]}


def show(folder, model, option):
    """The boxes of the picture: (class, title, x, y, width, height)."""
    path = os.path.join(folder, "model.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(model, file)
    result = subprocess.run([LIGHTNET, "show", option, path], capture_output=True, check=True)
    root = ElementTree.fromstring(result.stdout)
    assert root.tag == SVG + "svg" and not result.stderr
    return [(group.get("class"), group.findtext(SVG + "title"),
             *(float(group.find(SVG + "rect").get(key)) for key in ("x", "y", "width", "height")))
            for group in root.iter(SVG + "g") if group.find(SVG + "title") is not None]


def overlaps(boxes):
    """Pairs of boxes that overlap without one containing the other, beyond rounding."""
    edge = 0.05
    return [(a[1], b[1]) for i, a in enumerate(boxes) for b in boxes[:i]
            if a[2] + edge < b[2] + b[4] and b[2] + edge < a[2] + a[4] and
            a[3] + edge < b[3] + b[5] and b[3] + edge < a[3] + a[5]]


def graph_has_a_box_for_each_operator(folder):
    boxes = show(folder, chain(50), "--svg")
    assert len(boxes) == 51 and [box[0] for box in boxes].count("o") == 1, boxes
    assert not overlaps(boxes)
    assert boxes[1][1].startswith("op" + NASTY[:9].replace("\u0001", "?")), boxes[1]


def graph_leaves_constants_out(folder):
    classes = [box[0] for box in show(folder, weighted(), "--svg")]
    assert sorted(classes) == ["i", "n", "o"], classes


def graph_scales(folder):
    assert len(show(folder, chain(2000), "--svg")) == 2001


def memory_has_a_box_for_each_piece(folder):
    boxes = show(folder, weighted(), "--svg-memory")
    assert {box[1].split(":")[0]: box[0] for box in boxes if box[1][1] == ":"} == {
        "x": "i", "u": "c", "v": "c", "w": "l", "y": "t"}, boxes


def pieces_of_memory_do_not_overlap(folder):
    boxes = show(folder, weighted(), "--svg-memory")
    assert not overlaps(boxes), overlaps(boxes)


def memory_scales(folder):
    assert show(folder, chain(2000), "--svg-memory")


def main():
    tests = [graph_has_a_box_for_each_operator, graph_leaves_constants_out, graph_scales,
             memory_has_a_box_for_each_piece, pieces_of_memory_do_not_overlap, memory_scales]
    failed = 0
    print(f"1..{len(tests)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, test in enumerate(tests, 1):
            try:
                test(folder)
                print(f"ok {number} - {test.__name__}")
            except (AssertionError, ElementTree.ParseError, subprocess.CalledProcessError) as error:
                failed = 1
                print(f"not ok {number} - {test.__name__}", *(f"\n# {line}" for line in repr(error).splitlines()))
    return failed


if __name__ == "__main__":
    LIGHTNET = os.path.abspath(sys.argv[1])
    sys.exit(main())
