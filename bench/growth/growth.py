#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: growth.py [--bound EXPONENT] [--only WORDS] [--step NAME] [--sizes N,N,N] [--runs N] LIGHTNET [LN_GROWTH]

How processor time grows with the model. Each row is a command on models that grow along one axis (growth_axes.py), or the
compiler alone on one kind of model (ln_growth.c): seconds for each size, by default 4,000, 16,000 and 64,000 parts, and the
exponent from the first size to the last. 1 is linear, 2 is quadratic.

    ninja -C build growth       all rows; fails when an exponent exceeds 1.2

The start of the program is subtracted, and the fastest of several runs counts. Exit status 1: an exponent exceeds the bound
(default 1.2), or a command fails.
"""
import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile

from growth_axes import AXES, STEPS

SIZES = "4000,16000,64000"
LIMIT = 300  # seconds of processor time for a command
FILES = {"compiled": "compiled.safetensors", "ir": "ir.json", "again": "again.safetensors", "graph": "graph-symbol.json"}
# The file in which a model that was converted has its weights.
WEIGHTS = {"ir.json": "ir.safetensors", "graph-symbol.json": "graph-symbol.params"}


def seconds(command, limit=None):
    """The CPU time of a command, limited to `limit` seconds, and its standard error, "" when it succeeded."""
    limits = (limit or LIMIT,) * 2
    with tempfile.TemporaryFile() as errors:
        # pylint: disable-next=consider-using-with,subprocess-popen-preexec-fn
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limits))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read(2000).decode(errors="replace").strip()
    failed = text or f"exit status {process.returncode}"
    return usage.ru_utime + usage.ru_stime, failed if process.returncode else ""


def write(folder, axis, n):
    """Writes the axis's files for size n; the model's path."""
    made = axis.make(n)
    files = made if isinstance(made, dict) else {f"model.{axis.suffix}": made}
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    return os.path.join(folder, next(iter(files)))


def command_of(lightnet, folder, axis, step, n, path):
    """The command of a step."""
    places = {name: os.path.join(folder, file) for name, file in FILES.items()}
    command = [part.format(model=path, folder=folder, **places) for part in STEPS[step]]
    weights = os.path.join(folder, WEIGHTS.get(os.path.basename(command[1]), "none"))
    if os.path.exists(weights):
        command += ["-f", weights]
    elif axis.options and step != "run":
        command += [option.format(folder=folder) for option in axis.options(n)]
    return [lightnet, *command]


def least(runs, measure):
    """The least time of several runs, or the error of the first."""
    best, error = measure()
    for _ in range(runs - 1 if not error else 0):
        best = min(best, measure()[0])
    return best, error


class Table:
    """Prints the rows and keeps the largest exponent."""

    def __init__(self, sizes, bound):
        self.sizes, self.bound, self.largest, self.failed = sizes, bound, (0, "nothing was measured"), 0
        print(f"{'seconds for so many parts':60} {''.join(f'{n:>10,}' for n in sizes)}  exponent")

    def row(self, name, times, error=""):
        if error:
            self.failed += 1
            print(f"{name:60} {error[:200]}", flush=True)
            return
        times = [max(t, 1e-3) for t in times]  # less is not measured
        exponent = math.log(times[-1] / times[0]) / math.log(self.sizes[-1] / self.sizes[0])
        self.failed += exponent > self.bound
        self.largest = max(self.largest, (exponent, name))
        mark = "  above the bound" if exponent > self.bound else ""
        print(f"{name:60} {''.join(f'{t:10.3f}' for t in times)}  {exponent:8.2f}{mark}", flush=True)

    def end(self):
        print(f"the largest exponent is {self.largest[0]:.2f} ({self.largest[1]}); the bound is {self.bound}")
        return 1 if self.failed else 0


def measure_axis(table, lightnet, axis, only_step, runs, start):
    times, errors = {step: [] for step in axis.steps}, {}
    for n in table.sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = write(folder, axis, n)
            for step in axis.steps[:axis.steps.index(only_step) + 1] if only_step else axis.steps:
                command = command_of(lightnet, folder, axis, step, n, path)
                spent, error = least(runs, lambda command=command: seconds(command))
                times[step].append(spent - start)
                # pylint: disable-next=unsupported-membership-test
                if error and not (axis.fails and axis.fails in error):
                    errors[step] = error
    note = f"; 1 for {axis.per}: {axis.why}" if axis.per > 1 else ""
    for step in axis.steps if not only_step else [only_step]:
        table.row(f"{axis.name}{note}: {step}", times[step], errors.get(step, ""))


def measure_kind(table, program, kind, runs):
    """Reading and compiling text that the program makes itself."""
    times = [[], []]
    for n in table.sizes:
        tries = []
        for _ in range(runs):
            done = subprocess.run([program, kind, str(n)], capture_output=True, text=True, check=True)
            tries.append([float(number) for number in done.stdout.split()])
        for part in range(2):
            times[part].append(min(each[part] for each in tries))
    table.row(f"compiler: {kind}: read", times[0])
    table.row(f"compiler: {kind}: compile", times[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bound", type=float, default=1.2)
    parser.add_argument("--only", default="", help="rows whose name contains these words")
    parser.add_argument("--step", choices=STEPS, help="only this command, and those that it needs, of axes that have it")
    parser.add_argument("--runs", type=int, default=3, help="of each command, of which the fastest counts")
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("lightnet")
    parser.add_argument("ln_growth", nargs="?")
    given = parser.parse_args()
    table = Table([int(size) for size in given.sizes.split(",")], given.bound)
    start = min(seconds([given.lightnet, "--version"])[0] for _ in range(9))
    for axis in AXES:
        if given.only in axis.name and (not given.step or given.step in axis.steps):
            measure_axis(table, given.lightnet, axis, given.step, given.runs, start)
    kinds = subprocess.run([given.ln_growth], capture_output=True, text=True, check=True).stdout.splitlines() if given.ln_growth else []
    for kind in kinds:
        if given.only in f"compiler: {kind}":
            measure_kind(table, given.ln_growth, kind, given.runs)
    return table.end()


if __name__ == "__main__":
    sys.exit(main())
