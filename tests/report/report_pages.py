#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: report_pages.py LIGHTNET [MODEL...]. Pages of `lightnet report` in a browser, at three widths. Speaks TAP.

A MODEL may be followed by options: 'llm.onnx --decode 64,8'. Without models: small ones of this tree. Skipped without Chromium.
"""
import json
import os
import shlex
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


def layered(n):
    """`n` equal layers of two nodes."""
    nodes = []
    for i in range(n):
        nodes += [onnx_writer.node("MatMul", [f"x{i}", "w"], [f"m{i}"], name=f"/layer.{i}/matmul"),
                  onnx_writer.node("Tanh", [f"m{i}"], [f"x{i + 1}"], name=f"/layer.{i}/tanh")]
    return onnx_writer.model(onnx_writer.graph(nodes, [onnx_writer.value("x0", "float", [2, 4])], [onnx_writer.value(f"x{n}", "float", [2, 4])],
                                               [onnx_writer.tensor("w", "float", [4, 4], [0.1] * 16)]))


def constant():
    """A model without operators in a run."""
    nodes = [onnx_writer.node("Relu", ["w"], ["y"])]
    return onnx_writer.model(onnx_writer.graph(nodes, [], [onnx_writer.value("y", "float", [4])], [onnx_writer.tensor("w", "float", [4], [1] * 4)]))


def written(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(content)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


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
        "decoders": [written(folder, "a.onnx", open_networks.decoder()), written(folder, "b.onnx", open_networks.decoder()), "--decode", "4,6"],
        "compiled": [compiled],
        "subgraphs": [written(folder, "subgraphs.onnx", controlled())],
        "nasty": [written(folder, "nasty.onnx", nasty())],
        "two": [DIGITS, quantized],
        "long_name": [written(folder, f"{'a_long_name_' * 6}.onnx", small_networks.residual()), DIGITS],
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
        faults += [f"{graph}, closed: {fault}" for fault in faults_of(page, "graph") + faults_of(page, "canvas")]
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
    faults += [f"in the dark: {fault}" for fault in faults_of(page, "contrast")]
    page.value("document.querySelector('[data-value=light]').click()")
    faults += [f"in the light: {fault}" for fault in faults_of(page, "contrast")]
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


def check_marks(page):
    """The chosen operator stays marked when the bars are drawn again, also in plots, and nothing else is."""
    page.value("document.querySelector('#times .row').click()")
    marked = "[...document.querySelectorAll('#times .row.selected, .dot.selected, .stack .selected')].map(element => element.dataset.box).join()"
    before = page.value(marked).split(",")
    for order in ("run", "longest"):
        page.value(f"document.querySelector('#times [data-value={order}]').click()")
        if set(page.value(marked).split(",")) != set(before):  # the row may be among those that "Show all" shows
            return [f"{before} are marked, after another order {page.value(marked)}"]
    return [] if len(set(before)) == 1 and before[0] else [f"{before} are marked, expected one operator"]


def press(page, key, code):
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def press_enter(page):
    press(page, "Enter", 13)


def check_focus(page):
    """A group that Enter opens and closes keeps the focus."""
    page.value("[...document.querySelectorAll('#graph button')].find(button => button.textContent === 'Close all').click()")
    group = page.value("(box => box ? (box.focus(), box.dataset.id) : '')(document.querySelector('#graph .box[data-id^=g]'))")
    for action in ("opened", "closed") if group else ():
        press_enter(page)
        focused = page.value("(document.activeElement.closest('[data-id]') || {dataset: {}}).dataset.id")
        if focused != group:
            return [f"group {group} was {action} by Enter, and the focus is at {focused}"]
    return []


FOCUSED = "(document.activeElement.closest('[data-id]') || {dataset: {}}).dataset.id"


def check_keys(page):
    """The graph is one stop of the tab key; arrows reach the boxes, and bring them into view."""
    stops = "[...document.querySelectorAll('#graph .canvas svg [tabindex=\"0\"]')].map(element => element.closest('[data-id]').dataset.id).join()"
    page.value("[...document.querySelectorAll('#graph button')].find(button => button.textContent === 'Open all').click()")
    page.value("document.querySelector('#graph .canvas svg [tabindex=\"0\"]').focus({preventScroll: true})")
    seen = [page.value(FOCUSED)]
    for _ in range(6):
        press(page, "ArrowDown", 40)
        seen.append(page.value(FOCUSED))
    n = page.value("document.querySelectorAll('#graph .canvas [data-id]').length")
    faults = [] if len(set(seen)) >= min(n, 3) else [f"the key for down leads to {seen} of {n} boxes"]
    faults += [] if page.value(stops) == seen[-1] else [f"the stops of the tab key are {page.value(stops)}, expected {seen[-1]}"]
    inside = page.value("""(() => {
        const view = document.querySelector('#graph .canvas').getBoundingClientRect(), rect = document.activeElement.getBoundingClientRect();
        return rect.top >= view.top - 1 && rect.bottom <= view.bottom + 1 && rect.left < view.right && rect.right > view.left;
    })()""")
    faults += [] if inside else [f"{seen[-1]} has the focus and is out of view"]
    for _ in range(8):
        press(page, "ArrowUp", 38)
    return faults if page.value(FOCUSED) != seen[-1] else [*faults, "the key for up leads nowhere"]


TRANSFORM = "document.querySelector('#graph .canvas > svg > g').getAttribute('transform')"


def check_nothing_found(page):
    """A search without a result says so, also after Enter."""
    page.value("(input => { input.focus(); input.select(); })(document.querySelector('.search input'))")
    page.type("no such operator")
    press_enter(page)
    shown = page.value("(list => list.hidden ? '' : list.textContent)(document.querySelector('.search ul'))")
    return [] if shown == "nothing found" else [f"a search without a result shows '{shown}'"]


def check_drag(page):
    """A button that is released outside ends the drag."""
    page.value("document.querySelector('#graph .canvas').scrollIntoView({block: 'center'})")
    left, y = json.loads(page.value("(edge => JSON.stringify([edge.left, edge.top + edge.height / 2]))"
                                    "(document.querySelector('#graph .canvas svg').getBoundingClientRect())"))
    for kind, x, buttons in (("mouseMoved", left + 2, 0), ("mousePressed", left + 2, 1), ("mouseMoved", left - 6, 1), ("mouseReleased", left - 6, 0)):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" else "none", buttons=buttons, clickCount=1)
    before = page.value(TRANSFORM)
    for x in (left + 50, left + 150):
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y + 20)
    return [] if page.value(TRANSFORM) == before else ["the graph follows the mouse without a button"]


def check_names(page):
    """The names of operators in rows are not cut, unless they need most of the column."""
    cut = json.loads(page.value("""JSON.stringify([...document.querySelectorAll('.row .name')].filter(name => {
        const part = name.querySelector('.muted');
        return part.scrollWidth > part.clientWidth && part.clientWidth < 0.6 * name.clientWidth;
    }).map(name => name.textContent))"""))
    return [f"the name of '{text[:80]}' is cut" for text in cut[:3]]


def check_page(chromium, path, width):
    page = chromium.open(path, width, dark=width == 1000)
    page.value(text_of("tests/report/page_checks.js") + "; window.pageChecks = pageChecks; 1")
    faults = faults_of(page, "page") + check_graphs(page) + check_search(page) + check_refused(page) + check_subgraphs(page) + check_click(page) + check_switches(page)
    faults += check_names(page) + check_marks(page) + check_focus(page) + check_keys(page) + check_nothing_found(page) + check_drag(page)
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


# Pages of one check

DATA = '<script id="data" type="application/json">'


def edited(path, change):
    """Changes the data of a page."""
    with open(path, encoding="utf-8") as file:
        before, _, rest = file.read().partition(DATA)
    data, _, after = rest.partition("</script>")
    data = json.loads(data)
    change(data)
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + DATA + json.dumps(data).replace("<", "\\u003c") + "</script>" + after)


REPORTS = {}  # name, model and options: the page


def opened(chromium, folder, name, model, words=(), change=None, width=1400):
    path, key = os.path.join(folder, f"{name}.html"), (name, model, *words)
    if key not in REPORTS:
        lightnet("report", written(folder, f"{name}.onnx", model), *words, "-o", path, "--seconds", "0", "--threads", "1", "-w")
        REPORTS[key] = read(path)
    written(folder, f"{name}.html", REPORTS[key])
    if change:
        edited(path, change)
    return chromium.open(path, width)


def a_model_without_operators(chromium, folder):
    page = opened(chromium, folder, "constant", constant())
    page.value("[...document.querySelectorAll('#graph button')].find(button => button.textContent === 'fit').click()")
    return [*page.errors, *([f"the graph has {page.value(TRANSFORM)}"] if "Inf" in page.value(TRANSFORM) or "NaN" in page.value(TRANSFORM) else [])]


def copies_in_parts(chromium, folder):
    """More copies than a repeat shows at once are numbered across the parts, and the first one opens with the repeat."""
    n = 700
    page = opened(chromium, folder, "copies", layered(n))
    page.value("document.querySelector('#graph .box[data-id^=g]').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    titles = json.loads(page.value("JSON.stringify([...document.querySelectorAll('#graph .frame > .title')].map(title => title.textContent))"))
    first = page.value("document.querySelectorAll('.panel li').length")
    page.value("[...document.querySelectorAll('#graph button')].find(button => button.textContent === 'Open all').click()")
    count = page.value(f"[...document.querySelectorAll('#graph .frame > .title')].filter(title => title.textContent.endsWith(' of {n}')).length")
    distinct = page.value("new Set([...document.querySelectorAll('#graph .frame > .title')].map(title => title.textContent)).size")
    faults = [] if any(title.endswith(f"1 of {n}") for title in titles) else [f"{titles} are open, expected copy 1 of {n}"]
    faults += [] if first == 2 else [f"the panel lists {first} operators of the first copy, expected 2"]
    faults += [] if count == n and distinct > n else [f"{count} copies have {distinct} titles, expected {n} different ones"]
    return faults + page.errors


def results_that_are_not_finite(chromium, folder):
    def overflow(data):
        rows = data["models"][0]["accuracy"]["operators"]
        for row in rows:
            row["error"] = 0
        rows[1]["not_finite"], rows[2]["error"] = 5, None

    page = opened(chromium, folder, "overflow", small_networks.residual(), ["--precision", "bf16", "--against", "float32"], overflow)
    text = page.value("document.querySelector('#accuracy').textContent")
    place = json.loads(page.value("""JSON.stringify([...document.querySelectorAll('#accuracy .dot')].map(dot => Number(dot.getAttribute('cy'))))"""))
    faults = [] if "Largest error: not finite in 5 elements" in text else [f"not finite, but: {text[:200]}"]
    top = min(place, default=0)
    faults += [] if top > 0 and sum(y == top for y in place) == 2 and max(place) > top else [f"the circles are at {place}, expected two at the top"]
    return faults + page.errors


def many_operators(data):
    """More operators than a call of JavaScript can have arguments, in parts of 100 parts of 100, and many blocks of memory."""
    n, n_blocks, graph = 130_000, 20_000, data["models"][0]["compiled"]
    model = next(box for box in graph["boxes"] if "ms" in box)
    graph["boxes"] = [{**model, "operator": f"op_{i}", "name": f"op_{i}", "outputs": [{**model["outputs"][0], "name": f"t_{i}"}], "ms": 1 + i % 7} for i in range(n)]
    graph["edges"] = [{"from": i, "to": i + 1, "tensor": f"t_{i}", "shape": [2, 4]} for i in range(n - 1)]
    graph["groups"] = []
    for first in range(0, n, 10_000):
        graph["groups"].append({"what": "part", "first": first, "end": first + 10_000, "parent": -1})
        parent = len(graph["groups"]) - 1
        graph["groups"] += [{"what": "part", "first": at, "end": at + 100, "parent": parent} for at in range(first, first + 10_000, 100)]
    memory = data["models"][0]["memory"]
    memory.update(operators=n, run=n_blocks * 64, blocks=[
        {"name": f"t_{i}", "size": 64, "offset": 64 * i, "first": i, "last": i + 1, "scratch": False} for i in range(n_blocks)])


def texts_of(page, selector):
    return json.loads(page.value(f"JSON.stringify([...document.querySelectorAll({json.dumps(selector)})].map(element => element.textContent))"))


def tile(page, name):
    """The text of a tile of the summary."""
    return next(text for text in texts_of(page, ".summary > div") if text.startswith(name))[len(name):].replace("\u00a0", " ")


def weights_of_few_bits(chromium, folder):
    """The precision states the bits of weights."""
    packed = onnx_writer.tensor("w", "uint8", [8, 2, 16], [i % 251 for i in range(256)])
    scales = onnx_writer.tensor("s", "float", [16], [0.1] * 16)
    nodes = [onnx_writer.node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=64, N=8, bits=4, block_size=32)]
    model = onnx_writer.model(onnx_writer.graph(nodes, [onnx_writer.value("x", "float", [1, 64])], [onnx_writer.value("y", "float", [1, 8])], [packed, scales]))
    faults = []
    for words, expected in (([], "float32, weights of 4 bits"), (["--precision", "bf16"], "bfloat16, weights of 4 bits")):
        page = opened(chromium, folder, "bits", model, words)
        faults += [] if tile(page, "Precision").startswith(expected) else [f"the precision is {tile(page, 'Precision')}, expected {expected}"]
        faults += page.errors
    page = opened(chromium, folder, "floats", small_networks.residual())
    return faults + ([] if "weights" not in tile(page, "Precision") else [f"the precision of floats is {tile(page, 'Precision')}"])


def nodes_in_several_operators(chromium, folder):
    """More operators than nodes are explained, fewer need no explanation."""
    def split(data):
        boxes = [box for box in data["models"][0]["compiled"]["boxes"] if "ms" in box]
        data["models"][0]["stats"]["nodes"] = len(boxes) - 1
        for box in boxes[:2]:
            box["nodes"] = [{"name": "n", "type": "T", "number": 1}]
        for i, box in enumerate(boxes[2:]):
            box["nodes"] = [{"name": "n", "type": "T", "number": 2 + i}]

    page = opened(chromium, folder, "split", small_networks.residual(), change=split)
    faults = [] if "1 of which became several operators" in tile(page, "Operators") else [f"the operators are {tile(page, 'Operators')}"]
    page = opened(chromium, folder, "joined", small_networks.residual())
    faults += [] if tile(page, "Operators").endswith("nodes of the model") else [f"the operators are {tile(page, 'Operators')}"]
    return faults + page.errors


def operators_of_the_most_nodes(chromium, folder):
    """A page does not count the nodes that an operator may have beyond those that it lists."""
    def more(data):
        box = next(box for box in data["models"][0]["compiled"]["boxes"] if "ms" in box)
        box["ms"], box["more_nodes"] = 1e6, True  # the first bar
        box["nodes"] = [{"name": f"n{i}", "type": "T", "number": i + 1} for i in range(256)]

    page = opened(chromium, folder, "most", layered(1), change=more)
    page.value("document.querySelector('#times .row').click()")
    heads = texts_of(page, ".panel h4")
    return ([] if "Nodes of the model (at least 256)" in heads else [f"the panel has {heads}"]) + page.errors


def inputs_that_nothing_reads(chromium, folder):
    """In both graphs an input without readers is marked, and its panel states why."""
    nodes = [onnx_writer.node("ReduceSum", ["mask"], ["sum"], name="count"), onnx_writer.node("Relu", ["x"], ["y"])]
    inputs = [onnx_writer.value("mask", "float", [1, 7]), onnx_writer.value("x", "float", [4])]
    page = opened(chromium, folder, "unread", onnx_writer.model(onnx_writer.graph(nodes, inputs, [onnx_writer.value("y", "float", [4])], [])))
    faults = []
    for graph in ("model", "compiled"):
        page.value(f"document.querySelector('#graph [data-value={graph}]').click()")
        marked = texts_of(page, "#graph .box.unread")
        faults += [] if len(marked) == 1 and "mask, not read" in marked[0] else [f"{graph}: marked as unread are {marked}"]
        page.value("document.querySelector('#graph .box.unread').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        panel = page.value("document.querySelector('.panel').textContent")
        faults += [] if "No operator reads the values of this input" in panel else [f"{graph}: the panel is {panel}"]
    return faults + page.errors


def names_of_processors(chromium, folder):
    faults = []
    for given, expected in (("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "Intel Xeon Gold 6230 CPU @ 2.10GHz"), ("AMD EPYC 9B45", "AMD EPYC 9B45"), (None, "unknown")):
        def change(data):
            data["models"][0]["machine"]["processor"] = given

        page = opened(chromium, folder, "processor", layered(1), change=change)
        faults += [] if tile(page, "Processor").startswith(expected) and "(R)" not in tile(page, "Processor") else [f"{given} is {tile(page, 'Processor')}"]
        faults += page.errors
    return faults


def a_busy_machine(chromium, folder):
    """A median that is much longer than the shortest run, or than the operators together, has a remark."""
    faults = []
    for least, median, expected in ((1, 1.2, None), (1, 2, "2 times the shortest run"), (8, 9, "9 times the operators together")):
        def change(data):
            boxes = [box for box in data["models"][0]["compiled"]["boxes"] if "ms" in box]
            for box in boxes:
                box["ms"] = 1 / len(boxes)
            data["models"][0]["times"].update(min=least, median=median)

        page = opened(chromium, folder, "busy", small_networks.residual(), change=change)
        note = texts_of(page, "#times .note")[0]
        faults += [] if (expected in note if expected else "machine" not in note) else [f"after a median of {median} ms, the shortest run of {least}: {note}"]
        faults += page.errors
    return faults


def curves_of_two_decoders(chromium, folder):
    """A comparison draws the steps of both models in one plot, whichever model the other sections show."""
    path = os.path.join(folder, "curves.html")
    models = [written(folder, f"{name}_decoder.onnx", open_networks.decoder()) for name in "ab"]
    lightnet("report", *models, "--decode", "4,6", "-o", path, "--seconds", "0", "--threads", "1", "-w")
    page = chromium.open(path, 1000)
    faults = []
    for which in ("1", "0"):
        page.value(f"document.querySelector('.top [data-value=\"{which}\"]').click()")
        lines = page.value("document.querySelectorAll('.plot .line').length")
        colors = page.value("new Set([...document.querySelectorAll('.plot .line')].map(line => getComputedStyle(line).stroke)).size")
        points = page.value("document.querySelectorAll('#decode .step').length")
        faults += [] if (lines, colors, points) == (2, 2, 12) else [f"{lines} curves in {colors} colors with {points} points, expected 2, 2, 12"]
    facts = texts_of(page, "#decode dt")
    return faults + ([] if facts == ["A: Prompt", "A: Steps", "B: Prompt", "B: Steps"] else [f"the facts are {facts}"]) + page.errors


def roofs_among_circles(chromium, folder):
    """Names of roofs find a place among circles that cover their usual ones."""
    def crowded(data):
        model = data["models"][0]
        machine, boxes = model["machine"], model["compiled"]["boxes"]
        machine["bandwidth"], machine["peaks"] = 1e10, {"float32": 1e11, "quantized": 4e11}
        pattern, n = next(box for box in boxes if "ms" in box), 60
        model["compiled"].update(groups=[], edges=[], boxes=[
            {**pattern, "operator": f"op_{i}", "ms": 1, "bytes": 1e6, "macs": 0.5e6 * 10 ** (3 * i / n) if i % 2 else 0.5e8 * 10 ** (i / n / 2 - 0.25)} for i in range(n)])
        for i, box in enumerate(model["compiled"]["boxes"]):
            if not i % 2:
                box["bytes"] = box["macs"] / (5 * 10 ** (2 * i / n))
    faults = []
    for width in WIDTHS:
        page = opened(chromium, folder, "crowded", small_networks.residual(), change=crowded, width=width)
        page.value(text_of("tests/report/page_checks.js") + "; window.pageChecks = pageChecks; 1")
        faults += [f"at {width} pixels: {fault}" for fault in json.loads(page.value("JSON.stringify([...pageChecks.roofs(), ...pageChecks.plots()])"))]
        faults += page.errors
    return faults


def a_page_of_many_operators(chromium, folder):
    page = opened(chromium, folder, "many", layered(3), change=many_operators)
    sections = page.value("document.querySelectorAll('section').length")
    blocks = page.value("document.querySelectorAll('#memory .block').length")
    return ([] if sections >= 5 and blocks == 20_000 else [f"{sections} sections, {blocks} blocks"]) + page.errors


def guarded(check, chromium, *args):
    try:
        faults = check(chromium, *args)
        chromium.close_pages()
        return faults
    except (AssertionError, browser.Failed) as error:
        return [str(error)]


def main():
    tap = Tap()
    if not browser.command():
        tap.skip("pages_in_a_browser", "there is no chromium")
        tap.end()
    with tempfile.TemporaryDirectory() as folder, browser.Browser() as chromium:
        models = {os.path.basename(words.split()[0]): shlex.split(words) for words in sys.argv[2:]} or models_of_the_tree(folder)
        for name, words in models.items():
            tap.check(f"the_page_of_{name}", guarded(check_model, chromium, folder, name, words))
        for check in () if sys.argv[2:] else (a_model_without_operators, copies_in_parts, results_that_are_not_finite, weights_of_few_bits, nodes_in_several_operators,
                                                     operators_of_the_most_nodes, inputs_that_nothing_reads, names_of_processors, a_busy_machine, curves_of_two_decoders, roofs_among_circles,
                                                     a_page_of_many_operators):
            tap.check(check.__name__, guarded(check, chromium, folder))
    tap.end()


if __name__ == "__main__":
    LIGHTNET = os.path.abspath(sys.argv[1])
    main()
