#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Charts, tables and figures in sentences are those of the measurements in docs/data, and no other figures are in README.md, and
in the pages on performance.

Charts have words for screen readers, stay on their page, and show failures as such.
"""
import json
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from tap import ROOT, Tap, faults_of, run, text_of

DATA = os.path.join(ROOT, "docs/data")
CHARTS = ["badge-licence.svg", "badge-tests.svg", "badge-version.svg", "h100-batch_32.svg", "xeon-decoder.svg", "xeon-serving.svg", "zen3-networks.svg", "zen4-networks.svg",
          "zen5-decoder.svg", "zen5-networks.svg", "zen5-roofline.svg"]
PAGES = ["docs/cuda.md", "docs/dev/kernels.md", "docs/performance.md", "docs/serving.md", "docs/speed.md"]
MEASURED = ["README.md", "docs/dev/kernels.md", "docs/performance.md", "docs/speed.md"]  # all figures there come from measurements
TABLE = re.compile(r"<!-- table .*?<!-- end -->", re.S)
CODE = re.compile(r"^```.*?^```|(?<=\n\n)(?:    .*?\n)+|`[^`]*`", re.S | re.M)
FIGURE = re.compile(r"\b\d[\d.,]*\s+(?:%|percent|[mµun]?s|seconds?|minutes?|hours?|[MG]i?B|[KMG]B/s|[GT]?FLOP/s|[GT]?OP/s|cycles|tokens"
                    r"|times\b.{0,24}\bas\b|times (?:faster|slower|the (?:speed|time|peak)))(?![\w/])")
SVG = "{http://www.w3.org/2000/svg}"
ACROSS, UP = ["x", "x1", "x2", "cx"], ["y", "y1", "y2", "cy"]


def draw(folder):
    return [sys.executable, "-B", os.path.join(ROOT, "bench/plots/plots.py"), folder]


def write_tables(folder, *arguments):
    return [sys.executable, "-B", os.path.join(ROOT, "bench/plots/tables.py"), folder, *arguments]


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def stale(folder):
    drawn = {name for name in os.listdir(folder) if name.endswith(".svg")}
    yield from (f"{name}: {problem}" for names, problem in (
        (drawn - set(CHARTS), "is not in CHARTS of this test"), (set(CHARTS) - drawn, "is not drawn")) for name in sorted(names))
    for name in drawn & set(CHARTS):
        if read(folder, name) != text_of(f"docs/images/{name}"):
            yield f"docs/images/{name}: run bench/plots/plots.py docs/data -o docs/images"


def stale_tables(_):
    yield from faults_of(write_tables(DATA, "--check"), cwd=ROOT)


def wrong_tables_found(folder):
    """A digit that changes in a page is found, and written back; so is a table without rows."""
    for page in PAGES:
        copy = shutil.copy(os.path.join(ROOT, page), folder)
        good = read(folder, os.path.basename(page))
        for bad in (re.sub(r"(<!-- table .*?\n\|---.*?\d)(\d)", lambda m: m[1] + str((int(m[2]) + 1) % 10), good, count=1, flags=re.S),
                    re.sub(r"(<!-- table [\w-]+ -->\n).*?(?=<!-- end -->)", r"\1", good, flags=re.S)):
            with open(copy, "w", encoding="utf-8") as file:
                file.write(bad)
            status, printed = run(write_tables(folder, "--check", copy))
            if bad == good or status != 1 or "differs from the measurements" not in printed:
                yield f"{page}: exit status {status} for a wrong table: {printed}"
            yield from faults_of(write_tables(folder, copy))
            if read(folder, os.path.basename(page)) != good:
                yield f"{page}: the table is not written as it was"


def unknown_tables(folder):
    page = os.path.join(folder, "page.md")
    with open(page, "w", encoding="utf-8") as file:
        file.write("<!-- table zen9 -->\n<!-- end -->\n")
    status, printed = run(write_tables(folder, page))
    if status != 1 or "unknown table zen9" not in printed:
        yield f"exit status {status}: {printed}"


def unended_tables(folder):
    """A table without its end would take the text up to the next one."""
    page = os.path.join(folder, "page.md")
    with open(page, "w", encoding="utf-8") as file:
        file.write("<!-- table summary -->\n\ntext\n\n<!-- table machines -->\n<!-- end -->\n")
    status, printed = run(write_tables(folder, page))
    if status != 1 or "table summary has no <!-- end -->" not in printed or "text" not in read(folder, "page.md"):
        yield f"exit status {status}: {printed}"


def wrong_figures_found(folder):
    """A digit that changes in a sentence is found, and written back; so is a sentence that is gone."""
    copy = shutil.copy(os.path.join(ROOT, "README.md"), folder)
    good = read(folder, "README.md")
    for pattern in (r"(two libraries, )(\d)", r"(on\s+average )(\d)", r"(ONNX Runtime has )(\d)"):
        bad = re.sub(pattern, lambda m: m[1] + str((int(m[2]) + 1) % 10), good, count=1)
        with open(copy, "w", encoding="utf-8") as file:
            file.write(bad)
        status, printed = run(write_tables(folder, "--root", folder, "--check", copy))
        if bad == good or status != 1 or "differs from the measurements" not in printed:
            yield f"README.md: exit status {status} for a wrong figure: {printed}"
        yield from faults_of(write_tables(folder, "--root", folder, copy))
        if read(folder, "README.md") != good:
            yield f"README.md: the figure of {pattern} is not written as it was"
    with open(copy, "w", encoding="utf-8") as file:
        file.write(re.sub(r"on\s+average", "mostly", good))
    status, printed = run(write_tables(folder, "--root", folder, "--check", copy))
    if status != 1 or "no sentence matches" not in printed:
        yield f"README.md: exit status {status} for a sentence that is gone: {printed}"


def figures_by_hand(_):
    """Figures of time, speed, memory or shares outside of tables, code, and the sentences of bench/plots/figures.py."""
    sys.path.append(os.path.join(ROOT, "bench/plots"))
    from figures import FIGURES
    for page in MEASURED:
        text = CODE.sub("", TABLE.sub("", text_of(page)))
        for name, pattern, _ in FIGURES:
            if name == page:
                text = re.sub(pattern.replace(" ", r"\s+"), "", text)
        yield from (f"{page}: {match[0]!r} is no figure of docs/data" for match in FIGURE.finditer(text))


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


def uneven_ticks(folder):
    """Numbers of an axis with different numbers of decimals, also where the steps are fractions."""
    def slow(machine):
        for row in machine["decoder"]:
            row.update({name: row[name] / 1000 for name in ("LightNet", "ONNX Runtime", "llama.cpp")})

    for edit in (None, slow):
        if edit:
            change(folder, "zen5.json", edit)
            yield from faults_of(draw(folder))
        for name in (chart for chart in CHARTS if not chart.startswith("badge") and "roofline" not in chart and "serving" not in chart):
            ticks = [text.text for text in ElementTree.fromstring(read(folder, name)).iter(SVG + "text")
                     if text.get("class") == "small muted" and text.get("text-anchor") == "middle"]
            begins = [i for i, tick in enumerate(ticks) if float(tick) == 0]
            axes = [ticks[begin:end] for begin, end in zip(begins, [*begins[1:], len(ticks)])]
            if not axes or any(len(axis) < 2 for axis in axes):
                yield f"{name}: the axes have the ticks {axes}"
            yield from (f"{name}: an axis has the ticks {' '.join(axis)}" for axis in axes if len({len(tick.partition(".")[2]) for tick in axis}) > 1)


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
    change(folder, "zen3.json", lambda machine: fail_three(machine["networks"]))
    yield from faults_of(draw(folder))
    root = ElementTree.fromstring(read(folder, "zen3-networks.svg"))
    failed = [text for text in root.iter(SVG + "text") if text.text == "failed"]
    if len(failed) != 3:
        yield f"{len(failed)} results instead of 3 are shown as failed"
    page = shutil.copy(os.path.join(ROOT, "docs/performance.md"), folder)
    yield from faults_of(write_tables(folder, page))
    table = re.search(r"<!-- table zen3-networks -->.*?<!-- end -->", read(folder, "performance.md"), re.S)[0]
    if table.count("failed") != 3:
        yield f"{table.count('failed')} results instead of 3 are failed in the table"
    yield from outside(folder)


def huge_ratios(folder):
    change(folder, "zen3.json", lambda machine: machine["networks"]["dyn_2"]["vgg16"].update(ratio_min=37.5))
    change(folder, "zen5.json", lambda machine: machine["decoder"][0].update(LightNet=123456))
    yield from faults_of(draw(folder))
    yield from outside(folder)


def vague_messages(folder):
    change(folder, "zen5-roofline.json", lambda bench: bench.pop("peak_gbs"))
    status, printed = run(draw(folder))
    if status != 1 or printed != f"plots.py: a file in {folder} lacks the field 'peak_gbs'\n":
        yield f"exit status {status}: {printed}"
    os.remove(os.path.join(folder, "zen5-roofline.json"))
    status, printed = run(draw(folder))
    if status != 1 or len(printed.splitlines()) != 1 or "zen5-roofline.json" not in printed:
        yield f"exit status {status}: {printed}"
    change(folder, "zen5.json", lambda machine: machine.pop("roofline"))
    change(folder, "zen4.json", lambda machine: machine.pop("networks"))
    status, printed = run(draw(folder))
    if status != 1 or "zen4.json" not in printed:
        yield f"exit status {status}: {printed}"


TESTS = {
    "charts_are_drawn_from_their_measurements": stale,
    "tables_are_those_of_the_measurements": stale_tables,
    "a_wrong_table_is_found_and_written_again": wrong_tables_found,
    "an_unknown_table_is_an_error": unknown_tables,
    "a_table_without_an_end_is_an_error": unended_tables,
    "a_wrong_figure_in_a_sentence_is_found_and_written_again": wrong_figures_found,
    "pages_have_no_figures_by_hand": figures_by_hand,
    "charts_have_a_title_and_a_description": without_words,
    "charts_stay_on_their_page": outside,
    "numbers_of_an_axis_have_equally_many_decimals": uneven_ticks,
    "failed_and_wrong_results_are_shown_as_failed": hidden_failures,
    "a_ratio_of_any_size_fits": huge_ratios,
    "a_message_names_what_is_missing": vague_messages,
}


def main():
    tap = Tap()
    for name, test in TESTS.items():
        with tempfile.TemporaryDirectory(prefix="lightnet-drawn-") as folder:
            shutil.copytree(DATA, folder, dirs_exist_ok=True)
            tap.check(name, [*faults_of(draw(folder)), *test(folder)])
    tap.end()


if __name__ == "__main__":
    main()
