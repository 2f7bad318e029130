#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the models of ONNX's own test data, and compares docs/onnx-operators.md with the results.

usage: suite.py LIGHTNET [--update] [--round-trip] [--jobs N] [--only TEXT] [--data DIR]

Each model must pass, unless the page lists it among those that do not; one that is listed must still fail. So no test
stops passing in silence. --update writes the page anew. The data is that of Debian's libonnx-testdata.

--round-trip converts each model that passes to ONNX, and runs the data with the written model, also as a file with external
data. Debian's onnx.checker checks the written models, if it is installed. Those that cannot be written are on the page, too.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "structure"))
import onnx_reader
from tap import ROOT, Tap

DATA = "/usr/share/libonnx-testdata/data"
SETS = ["node", "simple", "pytorch-operator", "pytorch-converted"]
PAGE = "docs/onnx-operators.md"
TRIPS = "## Models that cannot be written"

# Seconds for one model; the slowest takes a second, under sanitizers ten.
TIMEOUT = 120

# Features out of scope: (a part of a model's operators or inputs, why).
OUT_OF_SCOPE = [
    ("ai.onnx.preview.training", "training"),
    ("RandomUniformLike", "random numbers"), ("Bernoulli", "random numbers"),
]


class Model:
    def __init__(self, kind, folder):
        self.name = f"{kind}/{os.path.basename(folder)}"
        self.folder = folder
        self.opset, self.nodes = onnx_reader.survey(os.path.join(folder, "model.onnx"))
        self.reason = None

    def sets(self):
        return sorted(glob.glob(os.path.join(self.folder, "test_data_set_*")))

    def given(self):
        """The inputs of the first data: shapes may depend on their values."""
        first = self.sets()[0] if self.sets() else self.folder
        return [word for i in range(len(glob.glob(os.path.join(first, "input_*.pb"))))
                for word in ("-i", os.path.join(first, f"input_{i}.pb"))]

    def run(self, lightnet):
        self.call(lightnet, "verify", os.path.join(self.folder, "model.onnx"), *self.sets())

    def round_trip(self, lightnet):
        with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
            written = os.path.join(folder, "written.onnx")
            self.call(lightnet, "convert", os.path.join(self.folder, "model.onnx"), "-o", written, *self.given())
            if self.reason is None:
                self.call(lightnet, "verify", written, *self.sets())
            if self.reason is None:
                self.reason = complaint(written)
            apart = os.path.join(folder, "apart.onnx")
            if self.reason is None and os.path.getsize(written) > 4096:
                self.call(lightnet, "convert", written, "--external-data", "-o", apart, *self.given())
            if os.path.exists(apart):
                self.call(lightnet, "verify", apart, *self.sets())

    def call(self, *command):
        """Notes why a command fails."""
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.reason = f"takes more than {TIMEOUT} seconds"
            return
        if done.returncode == 0:
            return
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or [f"exit status {done.returncode}"]
        self.reason = self.without_paths(next((line for line in lines if "DIFFERS" in line), lines[0]))
        if done.returncode not in (0, 1):
            self.reason = f"ends with status {done.returncode}: {self.reason}"

    def without_paths(self, line):
        return re.sub(r"^(lightnet: error: )?(%s\S*?: )?" % re.escape(self.folder), "", line).replace(self.folder + "/", "")

    def scope(self):
        """Why the model is out of scope, or None."""
        if "training_dropout" in self.name:
            return "training"
        return next((why for part, why in OUT_OF_SCOPE if any(part in operator for operator, _ in self.nodes)), None)


def complaint(path):
    """What Debian's checker says against a model of an operator set that it knows, or None."""
    try:
        import onnx
    except ImportError:
        return None
    try:
        model = onnx.load(path)
        if model.opset_import[0].version <= onnx.defs.onnx_opset_version():
            onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # whatever the checker raises
        return "checker: " + " ".join(str(error).split())[:300]
    return None


def collect(data, only):
    folders = [(kind, path) for kind in SETS for path in sorted(glob.glob(f"{data}/{kind}/test_*"))]
    return [Model(kind, path) for kind, path in folders
            if os.path.exists(os.path.join(path, "model.onnx")) and only in path]


def ranges(numbers):
    return ", ".join(str(n) for n in sorted(numbers))


def operator_rows(models):
    opsets, dtypes = collections.defaultdict(set), collections.defaultdict(set)
    passed, total = collections.Counter(), collections.Counter()
    for model in models:
        for operator in {operator for operator, _ in model.nodes}:
            total[operator] += 1
            passed[operator] += model.reason is None
        for operator, dtype in model.nodes if model.reason is None else []:
            opsets[operator].add(model.opset)
            dtypes[operator] |= {dtype} if dtype else set()
    for operator in sorted(total):
        if passed[operator]:
            yield (f"| {operator} | {ranges(opsets[operator])} | {', '.join(sorted(dtypes[operator]))} "
                   f"| {passed[operator]} of {total[operator]} |")


def page_of(models):
    failing = [model for model in models if model.reason is not None]
    mended = [model for model in failing if not model.scope()]
    lines = [
        "# ONNX: conformance",
        "",
        "These are the results of ONNX's own test models (Debian's `libonnx-testdata`), which contain inputs",
        "and expected outputs. `tests/onnx/suite.py build/cli/lightnet` checks this page, and writes it with",
        "`--update`.",
        "",
        f"Of {len(models)} models, {len(models) - len(failing)} pass. {len(failing) - len(mended)} are out of scope, "
        f"{len(mended)} fail for another reason.",
        "Tolerance: 1e-3 relative and 1e-5 absolute, 1e-2 relative for 16-bit floats, integers exact.",
        "",
        "## Operators",
        "",
        "Opsets and types are those of the passing models; types are those of the first input, if specified.",
        "",
        "| operator | opsets | types | models |",
        "|---|---|---|---|",
        *operator_rows(models),
        "",
        "## Failing models",
        "",
        "| model | reason |",
        "|---|---|",
    ]
    for model in failing:
        reason = model.scope() or model.reason
        lines.append(f"| {model.name} | {reason.replace('|', '/')} |")
    return "\n".join(lines) + "\n"


def why_no_trip(reason):
    """The data of a sequence or of an optional value is no tensor."""
    is_of_data = any(text in reason for text in ("tensor ''", "is not used", "no input_"))
    return "the written model has tensors in place of sequences and optional values" if is_of_data else reason


def trips_of(models):
    """The end of the page: the models that cannot be written as ONNX again."""
    failing = [model for model in models if model.reason is not None]
    rows = [f"| {model.name} | {why_no_trip(model.reason).replace('|', '/')} |" for model in failing]
    lines = [
        TRIPS,
        "",
        "`convert` writes the passing models as ONNX again, and the same data then runs the written models",
        f"(`tests/onnx/suite.py --round-trip`). Of {len(models)} models, {len(models) - len(failing)} pass.",
        *(["", "| model | reason |", "|---|---|", *rows] if rows else []),
    ]
    return "\n".join(lines) + "\n"


def listed(page, heading="## Failing models"):
    """The models that the page lists as failing."""
    tail = page.partition(heading)[2].partition("\n## ")[0]
    return set(re.findall(r"^\| ((?:%s)/\S+) \|" % "|".join(SETS), tail, re.M))


def read_page():
    try:
        with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def check(tap, models, page, known, whole):
    """`whole`: the text that the page must have; None: only some models were run."""
    for model in models:
        faults = []
        if model.reason is not None and model.name not in known:
            faults = [model.reason]
        elif model.reason is None and model.name in known:
            faults = [f"passes, but {PAGE} lists it: run tests/onnx/suite.py with --update"]
        tap.check(model.name, faults)
    if whole is not None:
        same = whole == page
        tap.check(f"{PAGE} is true", [] if same else ["run tests/onnx/suite.py with --update"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lightnet")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--round-trip", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--data", default=DATA)
    args = parser.parse_args()
    tap = Tap()
    if not os.path.isdir(args.data):
        tap.skip("the models of ONNX's test data", f"no {args.data}: install libonnx-testdata")
        tap.end()
    models = collect(args.data, args.only)
    page, before = read_page(), listed(read_page())
    if args.round_trip:
        models = [model for model in models if model.name not in before]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda model: (model.round_trip if args.round_trip else model.run)(args.lightnet), models))
    results, gap, trips = page.partition(TRIPS)
    if args.round_trip:
        whole = results.rstrip("\n") + "\n\n" + trips_of(models)
    else:
        whole = page_of(models) + ("\n" + gap + trips if gap else "")
    if args.update and not args.only:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
            file.write(whole)
        page = whole
    known = listed(page, TRIPS) if args.round_trip else listed(page)
    check(tap, models, page, known, whole=None if args.only else whole)
    tap.end()


if __name__ == "__main__":
    main()
