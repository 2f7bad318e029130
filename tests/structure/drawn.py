#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The charts in docs/images are up to date with the measurements beside them.

They have words for screen readers, stay on their page, and show failures as such.
"""
import json
import os
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from tap import ROOT, Tap, faults_of, run, text_of

IMAGES = os.path.join(ROOT, "docs/images")
CHARTS = ["bars.svg", "roofline.svg"]
SVG = "{http://www.w3.org/2000/svg}"
ACROSS, UP = ["x", "x1", "x2", "cx"], ["y", "y1", "y2", "cy"]


def draw(folder, *options):
    return [sys.executable, "-B", os.path.join(ROOT, "bench/plots/plots.py"), folder, *options]


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def stale(folder):
    for name in CHARTS:
        os.remove(os.path.join(folder, name))
    yield from faults_of(draw(IMAGES, "-o", folder))
    for name in CHARTS:
        drawn = os.path.exists(os.path.join(folder, name))
        if not drawn or read(folder, name) != text_of(f"docs/images/{name}"):
            yield f"docs/images/{name}: run bench/plots/plots.py docs/images"


def without_words(folder):
    """Charts that a screen reader cannot name or describe."""
    for name in CHARTS:
        root = ElementTree.fromstring(read(folder, name))
        for element in ("title", "desc"):
            if len(root.findtext(SVG + element, "")) < 10:
                yield f"{name}: no <{element}>"


def outside(folder):
    """Shapes and texts that begin or end beyond the page."""
    for name in CHARTS:
        root = ElementTree.fromstring(read(folder, name))
        for shape in root.iter():
            for keys, size in ((ACROSS, "width"), (UP, "height")):
                begin = [float(shape.get(key, 0)) for key in keys]
                length = float(shape.get(size, 0)) if shape.tag == SVG + "rect" else 0
                if min(begin) < 0 or max(begin) + length > float(root.get(size)):
                    yield f"{name}: {shape.tag} {shape.attrib}"


def change(folder, name, edit):
    """Lets `edit` change the content of one of the files in `folder`."""
    value = json.loads(read(folder, name))
    edit(value)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file)


def fail_three(networks):
    results = networks["float32_1"]
    results["resnet18"] = None
    del results["squeezenet1.1"]
    results["vgg16"].update(error=1, ratio_min=100)


def hidden_failures(folder):
    change(folder, "networks.json", fail_three)
    yield from faults_of(draw(folder))
    root = ElementTree.fromstring(read(folder, "bars.svg"))
    failed = [text for text in root.iter(SVG + "text") if text.text == "failed"]
    if len(failed) != 3:
        yield f"{len(failed)} results instead of 3 are shown as failed"
    yield from outside(folder)


def huge_ratios(folder):
    change(folder, "networks.json", lambda networks: networks["dyn_2"]["vgg16"].update(ratio_min=37.5))
    yield from faults_of(draw(folder))
    yield from outside(folder)


def vague_messages(folder):
    change(folder, "roofline.json", lambda bench: bench.pop("peak_gbs"))
    status, printed = run(draw(folder))
    if status != 1 or printed != f"plots.py: a file in {folder} lacks the field 'peak_gbs'\n":
        yield f"exit status {status}: {printed}"
    os.remove(os.path.join(folder, "networks.json"))
    status, printed = run(draw(folder))
    if status != 1 or len(printed.splitlines()) != 1 or "networks.json" not in printed:
        yield f"exit status {status}: {printed}"


TESTS = {
    "charts_are_drawn_from_their_measurements": stale,
    "charts_have_a_title_and_a_description": without_words,
    "charts_stay_on_their_page": outside,
    "failed_and_wrong_results_are_shown_as_failed": hidden_failures,
    "a_ratio_of_any_size_fits": huge_ratios,
    "a_message_names_what_is_missing": vague_messages,
}


def main():
    tap = Tap()
    for name, test in TESTS.items():
        with tempfile.TemporaryDirectory(prefix="lightnet-drawn-") as folder:
            shutil.copytree(IMAGES, folder, dirs_exist_ok=True)
            tap.check(name, test(folder))
    tap.end()


if __name__ == "__main__":
    main()
