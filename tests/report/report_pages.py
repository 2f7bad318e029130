#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: report_pages.py LIGHTNET [MODEL...]. Pages of `lightnet report` in a browser, at three widths. Speaks TAP.

Without models: small ones of this tree. Skipped without Chromium.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("structure", "onnx", "networks")]

import browser
import onnx_writer
import open_networks
import small_networks
from tap import ROOT, Tap, text_of

DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")
WIDTHS = [400, 1000, 1800]
MAX_SIZE = 3_000_000
NASTY = "</script><img src=x onerror=alert(1)>\"'&\\<!--\u202e"


def lightnet(*words):
    done = subprocess.run([LIGHTNET, *words], capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, f"lightnet {' '.join(words)}: {done.stderr}"


def nasty():
    """A model whose names are HTML, with equal layers."""
    w = onnx_writer.tensor("w" + NASTY, "float", [8, 8], [0.1] * 64)
    nodes = []
    for i in range(4):
        nodes += [onnx_writer.node("MatMul", [f"x{i}" if i else "x" + NASTY, "w" + NASTY], [f"m{i}"], name=f"/layer.{i}/{NASTY}"),
                  onnx_writer.node("Tanh", [f"m{i}"], [f"x{i + 1}"], name=f"/layer.{i}/tanh")]
    return onnx_writer.model(onnx_writer.graph(nodes, [onnx_writer.value("x" + NASTY, "float", [2, 8])],
                                               [onnx_writer.value("x4", "float", [2, 8])], [w]))


def controlled():
    """An If, and a Loop with an If in it, whose number of iterations the data decide."""
    def branch(function, x):
        return onnx_writer.graph([onnx_writer.node(function, [x], ["a"], name=function.lower())], [], [onnx_writer.value("a", "float")])

    def choice(cond, x, y, name):
        return onnx_writer.node("If", [cond], [y], name=name, then_branch=branch("Relu", x), else_branch=branch("Tanh", x))

    body = onnx_writer.graph([choice("c", "s", "t", "inner"), onnx_writer.node("And", ["go", "c"], ["again"])],
                             [onnx_writer.value("i", "int64", []), onnx_writer.value("go", "bool", []), onnx_writer.value("s", "float", [2, 8])],
                             [onnx_writer.value("again", "bool"), onnx_writer.value("t", "float")])
    nodes = [choice("c", "x", "u", "outer"), onnx_writer.node("Loop", ["n", "", "u"], ["y"], name="repeat", body=body)]
    return onnx_writer.model(onnx_writer.graph(nodes, [onnx_writer.value("c", "bool", []), onnx_writer.value("x", "float", [2, 8])],
                                               [onnx_writer.value("y", "float", [2, 8])], [onnx_writer.tensor("n", "int64", [], [3])]))


def written(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content)
    return path


def models_of_the_tree(folder):
    """{name: the arguments of report}."""
    quantized = os.path.join(folder, "quantized.onnx")
    samples = os.path.join(folder, "samples")
    os.mkdir(samples)
    for name in ("two", "four", "seven", "eight"):
        shutil.copy(os.path.join(ROOT, f"examples/digits/{name}.pgm"), samples)
    lightnet("quantize", DIGITS, "--data", samples, "--max-error", "1", "--any-speed", "--seconds", "0", "-o", quantized)
    compiled = os.path.join(folder, "compiled.safetensors")
    lightnet("compile", DIGITS, "-o", compiled)
    residual = written(folder, "residual.onnx", small_networks.residual())
    return {
        "residual": [residual],
        "language": [written(folder, "language.onnx", small_networks.language())],
        "digits": [DIGITS],
        "quantized": [quantized],
        "decoder": [written(folder, "decoder.onnx", open_networks.decoder()), "--decode", "5,3"],
        "compiled": [compiled],
        "subgraphs": [written(folder, "subgraphs.onnx", controlled())],
        "nasty": [written(folder, "nasty.onnx", nasty())],
        "two": [DIGITS, quantized],
        "accuracy": [residual, "--precision", "bf16", "--against", "float32"],
    }


def faults_of(page, name):
    return json.loads(page.value(f"JSON.stringify(pageChecks.{name}())"))


def check_graphs(page):
    """The graphs, closed and open, with the layout of each."""
    faults = faults_of(page, "graph")
    graphs = page.value("[...document.querySelectorAll('#graph .switch button')].map(button => button.dataset.value).join()")
    for graph in graphs.split(",") if graphs else ["compiled"]:
        if graphs:
            page.value(f"document.querySelector('#graph [data-value={graph}]').click()")
        faults += [f"{graph}, closed: {fault}" for fault in faults_of(page, "graph")]
        page.value("[...document.querySelectorAll('#graph button')].find(button => button.textContent === 'Open all').click()")
        faults += [f"{graph}, open: {fault}" for fault in faults_of(page, "graph")]
        if page.value("document.querySelectorAll('#graph .box').length") < 2:
            faults.append(f"{graph}: no boxes")
    if graphs:
        page.value("document.querySelector('#graph [data-value=compiled]').click()")
    return faults


def timed_boxes(page):
    """The operators of the compiled program that have a time."""
    data = json.loads(page.value("document.getElementById('data').textContent"))
    return [box for box in data["models"][0]["compiled"]["boxes"] if "ms" in box]


def search(page, name):
    """Types a name and Enter into the search; returns the text of the panel."""
    page.value("document.querySelector('.search input').scrollIntoView({block: 'center'}); document.querySelector('.search input').select()")
    page.type(name)
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13)
    return page.value("document.querySelector('.panel').textContent")


def check_search(page):
    """The name of an operator and Enter select it, open the groups around it, and show its kernel."""
    boxes = timed_boxes(page)
    wanted = boxes[len(boxes) // 2]
    panel = search(page, wanted["operator"])
    selected = page.value("document.querySelectorAll('#graph .box.selected').length")
    faults = [] if selected == 1 else [f"{selected} boxes are selected, expected 1"]
    return faults + [f"the panel lacks '{word}': {panel[:200]}" for word in (wanted["name"], wanted["type"], "kernel", "time") if word not in panel]


def check_refused(page):
    """The panel of an operator lists the rules that were not applied to it, with the reasons."""
    for box in timed_boxes(page):
        if "refused" in box:
            panel = search(page, box["operator"])
            words = [text for item in box["refused"] for text in (item["rule"], item["why"])]
            return [f"the panel of {box['operator']} lacks '{word}'" for word in words if word not in panel]
    return []


def click_first(page, kind):
    """Clicks on the first box in view, "b" of an operator or "g" of a group. Returns its label; None: there is none."""
    place = page.value(f"""(() => {{
        const edge = document.querySelector('#graph .canvas').getBoundingClientRect();
        for (const box of document.querySelectorAll('#graph .box[data-id^={kind}]:not(.port)')) {{
            const rect = box.getBoundingClientRect();
            const x = rect.left + rect.width / 2, y = rect.top + 8;
            if (x > edge.left && x < edge.right && y > edge.top && y < edge.bottom - 50) return `${{x}} ${{y}} ${{box.querySelector('.label').textContent}}`;
        }}
        return '';
    }})()""")
    if not place:
        return None
    x, y, label = place.split(" ", 2)
    page.click(float(x), float(y))
    return label


def check_click(page):
    """A click on a group opens it, one on an operator shows its kernel."""
    page.value("document.querySelector('#graph .canvas').scrollIntoView({block: 'center'})")
    page.value("[...document.querySelectorAll('#graph button')].find(button => button.textContent === 'Close all').click()")
    n = page.value("document.querySelectorAll('#graph .box').length")
    if click_first(page, "g") and page.value("document.querySelectorAll('#graph .box').length") <= n:
        return ["a click on a group does not open it"]
    label = click_first(page, "b")
    if label is None:
        page.value("document.querySelector('#graph .zoom :last-child').click()")
        label = click_first(page, "b")
    if label is None:
        return ["no box is in view"]
    panel = page.value("document.querySelector('.panel').textContent")
    return [f"after a click, the panel lacks '{word}': {panel[:200]}" for word in (label.split("…")[0], "kernel") if word not in panel]


def check_switches(page):
    """The order of the bars, and the theme."""
    faults = []
    first = "document.querySelector('#times .row').textContent"
    longest = page.value(first)
    page.value("document.querySelector('#times [data-value=run]').click()")
    if page.value("document.querySelector('#times [data-value=run]').getAttribute('aria-pressed')") != "true":
        faults.append("the order of the bars does not change")
    values = json.loads(page.value("JSON.stringify(JSON.parse(document.getElementById('data').textContent).models[0].compiled.boxes"
                                   ".filter(box => box.ms !== undefined).map(box => [Number(box.ms), box.label + ' ' + box.name]))"))
    if not any(words in longest for ms, words in values if ms == max(values)[0]):
        faults.append(f"the first bar is {longest}, expected {max(values)}")
    if values[0][1] not in page.value(first):
        faults.append(f"in order, the first bar is {page.value(first)}, expected {values[0]}")
    page.value("document.querySelector('[data-value=dark]').click()")
    if page.value("getComputedStyle(document.body).colorScheme") != "dark":
        faults.append("the theme does not change")
    return faults


def subgraph_faults(page, bodies, boxes):
    """Opens the subgraphs of the boxes, and those within them, each from the panel of its operator."""
    faults = []
    for box in boxes:
        for name in box.get("bodies", []):
            search(page, box["operator"])
            page.value(f"[...document.querySelectorAll('.panel [data-body]')].find(button => button.dataset.body === {json.dumps(name)}).click()")
            n = page.value("document.querySelectorAll('#graph .box').length")
            if n != len(bodies[name]["boxes"]):
                faults.append(f"subgraph {name} has {n} boxes, expected {len(bodies[name]['boxes'])}")
            if name not in page.value("document.querySelector('.path').textContent"):
                faults.append(f"the path lacks {name}")
            faults += [f"subgraph {name}: {fault}" for fault in faults_of(page, "graph")]
            faults += subgraph_faults(page, bodies, bodies[name]["boxes"])
            page.value("[...document.querySelectorAll('.path button')].pop().click()")
    return faults


def check_subgraphs(page):
    """Operators open the subgraphs that they run, and the path leads back."""
    graph = json.loads(page.value("document.getElementById('data').textContent"))["models"][0]["compiled"]
    faults = subgraph_faults(page, {body["name"]: body for body in graph["bodies"]}, graph["boxes"])
    if not page.value("document.querySelector('.path').hidden"):
        faults.append("the path does not lead back to the whole graph")
    for body in graph["bodies"]:
        for box in body["boxes"]:
            if "bodies" in box and box["type"] not in search(page, box["operator"]):
                faults.append(f"the search does not find {box['operator']}")
            if "bodies" in box and body["name"] not in page.value("document.querySelector('.path').textContent"):
                faults.append(f"the search does not open {body['name']}")
    return faults


def check_page(chromium, path, width):
    page = chromium.open(path, width, dark=width == 1000)
    page.value(text_of("tests/report/page_checks.js") + "; window.pageChecks = pageChecks; 1")
    faults = faults_of(page, "page") + check_graphs(page) + check_search(page) + check_refused(page) + check_subgraphs(page) + check_click(page) + check_switches(page)
    faults += [f"console: {error}" for error in page.errors]
    faults += [f"requests {url}" for url in page.requests if not url.startswith("file://" + path)]
    page.close()
    return faults


def check_model(chromium, folder, name, words):
    path = os.path.join(folder, f"{name}.html")
    lightnet("report", *words, "-o", path, "--seconds", "0.02", "--threads", "1")
    size = os.path.getsize(path)
    faults = [f"{size} bytes, at most {MAX_SIZE} expected"] if size > MAX_SIZE else []
    for width in WIDTHS:
        faults += [f"at {width} pixels: {fault}" for fault in check_page(chromium, path, width)]
    return faults


def guarded(*args):
    try:
        return check_model(*args)
    except (AssertionError, browser.Failed) as error:
        return [str(error)]


def main():
    tap = Tap()
    if not browser.command():
        tap.skip("pages_in_a_browser", "there is no chromium")
        tap.end()
    with tempfile.TemporaryDirectory() as folder, browser.Browser() as chromium:
        models = {os.path.basename(path): [path] for path in sys.argv[2:]} or models_of_the_tree(folder)
        for name, words in models.items():
            tap.check(f"the_page_of_{name}", guarded(chromium, folder, name, words))
    tap.end()


if __name__ == "__main__":
    LIGHTNET = os.path.abspath(sys.argv[1])
    main()
