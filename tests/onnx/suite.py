#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the models of ONNX's own test data, and compares docs/onnx-operators.md with the results.

usage: suite.py LIGHTNET [--update] [--round-trip | --as FORMAT] [--jobs N] [--only TEXT] [--data DIR]

Each model must pass, unless the page lists it among those that do not; one that is listed must still fail. So no test
stops passing in silence. --update writes the page anew. The data is that of Debian's libonnx-testdata. Models with random
outputs run many times, and follow the rule of chances.py.

--round-trip converts each model that passes to ONNX, and runs the data with the written model, also as a file with external
data. Debian's onnx.checker checks the written models, if it is installed. Those that cannot be written are on the page, too.

--as json, il or compiled writes them in that format instead; the same ones pass.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "structure"))
import chances
import onnx_reader
from tap import ROOT, Tap

DATA = "/usr/share/libonnx-testdata/data"
SETS = ["node", "simple", "pytorch-operator", "pytorch-converted"]
PAGE = "docs/onnx-operators.md"
TRIPS = "## Models that cannot be written"

# Seconds for one model; the slowest takes a second, under sanitizers ten.
TIMEOUT = 120

# Features out of scope: (a part of a model's operators or inputs, why).
OUT_OF_SCOPE = [("ai.onnx.preview.training", "training")]

# Runs with another seed.
SEEDED_RUNS = 5

# Formats besides ONNX: the command that writes it, and the names of the file and of its weights.
FORMATS = {"json": (["convert"], "written.json", "written.safetensors"), "il": (["convert"], "written.net", "written.safetensors"),
           "compiled": (["compile"], "written.safetensors", None)}


def weights_of(folder, form):
    """The option for the file of weights that was written beside a model, if there is one."""
    name = FORMATS[form][2]
    path = name and os.path.join(folder, name)
    return ["-f", path] if path and os.path.exists(path) else []


class Model:
    def __init__(self, kind, folder):
        self.name = f"{kind}/{os.path.basename(folder)}"
        self.folder = folder
        self.path = os.path.join(folder, "model.onnx")
        self.opset, self.nodes = onnx_reader.survey(self.path)
        self.reason = None
        self.rule = chances.rule_of({operator for operator, _ in self.nodes}, lambda: self.stored("input"))

    def sets(self):
        return sorted(glob.glob(os.path.join(self.folder, "test_data_set_*")))

    def files(self, kind):
        """The inputs or outputs of the first data."""
        first = self.sets()[0] if self.sets() else self.folder
        return [os.path.join(first, f"{kind}_{i}.pb") for i in range(len(glob.glob(os.path.join(first, f"{kind}_*.pb"))))]

    def stored(self, kind):
        return [chances.Tensor(*onnx_reader.tensor_of(path)) for path in self.files(kind)]

    def given(self):
        """The inputs of the first data: shapes may depend on their values."""
        return [word for path in self.files("input") for word in ("-i", path)]

    def test(self, args):
        if args.form:
            self.write(args.lightnet, args.form)
        elif args.round_trip:
            self.round_trip(args.lightnet)
        else:
            self.compare(args.lightnet, self.path)

    def round_trip(self, lightnet):
        with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
            written = os.path.join(folder, "written.onnx")
            self.call(lightnet, "convert", self.path, "-o", written, *self.given())
            if self.reason is None:
                self.compare(lightnet, written)
            if self.reason is None:
                self.reason = complaint(written)
            apart = os.path.join(folder, "apart.onnx")
            if self.reason is None and os.path.getsize(written) > 4096:
                self.call(lightnet, "convert", written, "--external-data", "-o", apart, *self.given())
            if os.path.exists(apart):
                self.compare(lightnet, apart)

    def write(self, lightnet, form):
        """Writes the model in another format, and runs the data with what was written."""
        command, name, _ = FORMATS[form]
        with tempfile.TemporaryDirectory(prefix="lightnet-") as folder:
            written = os.path.join(folder, name)
            self.call(lightnet, *command, self.path, "-o", written, *self.given())
            words = weights_of(folder, form)
            if self.reason is None and form == "il" and self.rule is not None:  # sessions, which draw() runs, do not read IL
                il, written = written, os.path.join(folder, "again.json")
                self.call(lightnet, "convert", il, "-o", written, *words)
            if self.reason is None:
                self.compare(lightnet, written, *words)

    def compare(self, lightnet, path, *options):
        """Runs the model, or the same one that was written, with the stored data."""
        if self.rule is None:
            self.call(lightnet, "verify", path, *self.sets(), *options)
            return
        runs = [self.draw(lightnet, path, seed, n, *options) for seed, n in ((1, chances.RUNS), (1, SEEDED_RUNS), (2, SEEDED_RUNS))]
        if self.reason is None:
            wanted = self.stored("output")
            is_seeded = "seed" in onnx_reader.attribute_names(self.path)
            faults = [f"stored outputs: {fault}" for fault in self.rule.faults_of_elements(wanted, wanted)]
            faults += self.rule.faults_of(runs[0], wanted) + chances.faults_of_seeds(is_seeded, *runs)
            self.reason = faults[0] if faults else None

    def draw(self, lightnet, path, seed, n, *options):
        """The outputs of `n` runs of one session with the first data."""
        files = self.files("input")
        others = [word for name, file in list(zip(onnx_reader.input_names(self.path), files))[1:] for word in ("-i", f"{name}={file}")]
        printed = self.call(lightnet, "run", path, "--each", "-", "--json", "--threads", "1", "--seed", str(seed), *others, *options,
                            text="\n".join([files[0]] * n))
        lines = printed.splitlines()
        if self.reason is None and len(lines) != n:
            self.reason = f"{len(lines)} of {n} runs have outputs"
        return [[chances.Tensor(output["dtype"][len("TL_"):].lower(), output["shape"], output["data"])
                 for output in json.loads(line)["outputs"]] for line in lines]

    def call(self, *command, text=None):
        """Runs a command, `text` being its input. Returns what it prints, or notes why it fails, and returns ""."""
        try:
            done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.reason = f"takes more than {TIMEOUT} seconds"
            return ""
        if done.returncode == 0:
            return done.stdout
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or [f"exit status {done.returncode}"]
        self.reason = self.without_paths(next((line for line in lines if "DIFFERS" in line), lines[0]))
        if done.returncode not in (0, 1):
            self.reason = f"ends with status {done.returncode}: {self.reason}"
        return ""

    def without_paths(self, line):
        return re.sub(r"^(lightnet: error: )?(%s\S*?: )?" % re.escape(self.folder), "", line).replace(self.folder + "/", "")

    def scope(self):
        """Why the model is out of scope, or None."""
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
    n_random = sum(model.rule is not None for model in models)
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
        f"{n_random} of the models have random outputs, so these are not compared. Each model runs {chances.RUNS}",
        "times, with fixed seeds. Each output has the stored type and shape, and only possible elements.",
        f"Their frequencies are within {chances.SIGMAS} standard deviations of the expected ones: at each element, in total,",
        "at neighbours, and in successive runs (`tests/onnx/chances.py`).",
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
    parser.add_argument("--as", dest="form", choices=list(FORMATS))
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
    if args.round_trip or args.form:
        models = [model for model in models if model.name not in before]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(lambda model: model.test(args), models))
    if args.form:
        check(tap, models, page, listed(page, TRIPS), whole=None)
        tap.end()
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
