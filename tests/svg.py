#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: svg.py LIGHTNET. The pictures of lightnet show are XML, with a box for each operator or tensor. Speaks TAP."""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "networks")]

import small_networks

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


def svg_of(folder, model, option):
    """The picture of a model in IR, or of a file."""
    path = model
    if isinstance(model, dict):
        path = os.path.join(folder, "model.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(model, file)
    result = subprocess.run([LIGHTNET, "show", option, path], capture_output=True, check=True)
    root = ElementTree.fromstring(result.stdout)
    assert root.tag == SVG + "svg" and not result.stderr
    return root


def boxes_of(root):
    """The boxes of the picture: (class, title, x, y, width, height)."""
    return [(group.get("class"), group.findtext(SVG + "title"),
             *(float(group.find(SVG + "rect").get(key)) for key in ("x", "y", "width", "height")))
            for group in root.iter(SVG + "g") if group.find(SVG + "title") is not None]


def show(folder, model, option):
    return boxes_of(svg_of(folder, model, option))


def overlaps(boxes):
    """Pairs of boxes that overlap beyond rounding; frames contain others."""
    edge = 0.05
    return [(a[1], b[1]) for i, a in enumerate(boxes) for b in boxes[:i]
            if a[2] + edge < b[2] + b[4] and b[2] + edge < a[2] + a[4] and
            a[3] + edge < b[3] + b[5] and b[3] + edge < a[3] + a[5] and not contains(a, b) and not contains(b, a)]


def contains(frame, box):
    return frame[0] == "f" and frame[2] <= box[2] and frame[3] <= box[3] and \
        box[2] + box[4] <= frame[2] + frame[4] and box[3] + box[5] <= frame[3] + frame[5]


def points_of(path):
    """Points of a path of M, L, H, V and C, close to each other."""
    points, at = [], (0.0, 0.0)
    for letter, text in re.findall(r"([MLHVC])([^MLHVC]*)", path):
        numbers = [float(number) for number in text.split()]
        if letter == "C":
            corners = [at, *zip(numbers[::2], numbers[1::2])]
            points += [tuple(sum(weight * corner[axis] for weight, corner in zip(((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3), corners))
                             for axis in (0, 1)) for t in (i / 24 for i in range(25))]
            at = corners[-1]
            continue
        to = {"H": lambda: (numbers[0], at[1]), "V": lambda: (at[0], numbers[0])}.get(letter, lambda: tuple(numbers))()
        if letter != "M":
            n = 1 + int(max(abs(to[0] - at[0]), abs(to[1] - at[1])) / 4)
            points += [(at[0] + (to[0] - at[0]) * i / n, at[1] + (to[1] - at[1]) * i / n) for i in range(n + 1)]
        at = to
    return points


def hidden_edges(root):
    """Boxes that an edge runs behind."""
    boxes = [box for box in boxes_of(root) if box[0] != "f"]
    return {box[1] for path in root.iter(SVG + "path") if (path.get("class") or "").split()[:1] == ["e"]
            for x, y in points_of(path.get("d"))
            for box in boxes if box[2] + 1 < x < box[2] + box[4] - 1 and box[3] + 1 < y < box[3] + box[5] - 1}


def graph_has_a_box_for_each_operator(folder):
    boxes = show(folder, weighted(), "--svg")
    assert [box[0] for box in boxes] == ["b port", "b elementwise", "b port"], boxes
    assert [box[1].split("\n")[0] for box in boxes] == ["make_x", "y", "y"], boxes


def blocks_that_repeat_are_in_a_frame(folder):
    boxes = show(folder, chain(50), "--svg")
    frames = [box for box in boxes if box[0] == "f"]
    assert len(frames) == 1 and sum(contains(frames[0], box) for box in boxes) >= 1, boxes
    assert not overlaps(boxes)


def names_are_escaped(folder):
    titles = [box[1] for box in show(folder, chain(50), "--svg")]
    assert any(NASTY[:9].replace("\u0001", "?") in title for title in titles), titles


def pictures_of_networks_are_clear(folder):
    for name, function in small_networks.NETWORKS.items():
        path = os.path.join(folder, name + ".onnx")
        with open(path, "wb") as file:
            file.write(function())
        root = svg_of(folder, path, "--svg")
        assert not overlaps(boxes_of(root)), (name, overlaps(boxes_of(root)))
        assert not hidden_edges(root), (name, hidden_edges(root))
        assert float(root.get("height")) <= 3000, (name, root.get("height"))
        for box in boxes_of(root):
            assert box[2] >= 0 and box[2] + box[4] <= float(root.get("width")) and box[3] + box[5] <= float(root.get("height")), (name, box)


def subgraphs_are_in_frames_of_their_own(folder):
    """A branch, whose subgraphs are pos and sig, and a loop, whose subgraph is it; all of their operators are named re."""
    root = svg_of(folder, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases/bodies.json"), "--svg")
    boxes = boxes_of(root)
    frames = [box for box in boxes if box[0] == "f"]
    texts = [text.text for text in root.iter(SVG + "text")]
    assert [text for text in texts if ", run by " in text] == ["pos, run by b", "sig, run by b", "it, run by l"], texts
    assert "2 operators of a run, 3 subgraphs, compiled for cpu" in texts, texts
    inner = [[box[1].split("\n")[0] for box in boxes if box is not frame and contains(frame, box)] for frame in frames]
    assert [len(names) for names in inner] == [3, 3, 5], inner # inputs, an operator and outputs of each
    assert not overlaps(boxes) and not hidden_edges(root), (overlaps(boxes), hidden_edges(root))
    size = [float(root.get(key)) for key in ("width", "height")]
    assert all(box[2] >= 0 and box[2] + box[4] <= size[0] and box[3] + box[5] <= size[1] for box in boxes), boxes


def graph_scales(folder):
    assert show(folder, chain(2000), "--svg")


def memory_has_a_box_for_each_piece(folder):
    boxes = show(folder, weighted(), "--svg-memory")
    assert {box[1].split(":")[0]: box[0] for box in boxes} == {"x": "i", "y": "t"}, boxes


def the_axis_of_memory_counts_what_is_drawn(folder):
    root = svg_of(folder, weighted(), "--svg-memory")
    ticks = [text.text for text in root.iter(SVG + "text") if text.get("class") == "r"]
    assert ticks == ["0", "5", "10", "15", "20", "25", "30", "35", "B", "operators of a run"], ticks
    texts = [text.text for text in root.iter(SVG + "text")]
    sizes = next(re.findall(r"([0-9]+) B ?([a-z]*)", text) for text in texts if "for the tensors of a run" in text)
    run, constants, rest, together = (int(size) for size, _ in sizes)
    assert run == 32 and constants >= 16 and run + constants + rest == together, sizes


def pieces_of_memory_do_not_overlap(folder):
    boxes = show(folder, weighted(), "--svg-memory")
    assert not overlaps(boxes), overlaps(boxes)


def memory_scales(folder):
    assert show(folder, chain(2000), "--svg-memory")


def main():
    tests = [graph_has_a_box_for_each_operator, blocks_that_repeat_are_in_a_frame, names_are_escaped, pictures_of_networks_are_clear,
             subgraphs_are_in_frames_of_their_own, graph_scales, memory_has_a_box_for_each_piece, the_axis_of_memory_counts_what_is_drawn, pieces_of_memory_do_not_overlap,
             memory_scales]
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
