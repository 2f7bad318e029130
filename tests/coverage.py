#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the lines of the libraries that the tests run, by part.

usage: coverage.py [--jobs N] [--no-run] [--files PART] [--least PERCENT]

Builds build-coverage with GCC, runs its tests and prints a table of parts, as docs/dev/testing.md has it. Slow tests and those of the source
tree are left out: they run lines that other tests run too. gcovr (Debian's package) reads the counts. --no-run counts what earlier runs left.

Exit status 1: fewer lines of a reader, or of run/, than PERCENT (90) are run.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = "build-coverage"
# The first that fits names the part of a file; generated sources are those of build folders.
PARTS = ("tensorlight/tensor", "tensorlight/kernel", "lightnet/base", "lightnet/ir", "lightnet/data", "lightnet/plan", "lightnet/run",
         "lightnet/pass", "lightnet/arch/none", "lightnet/arch/cpu", "lightnet/arch", "lightnet/plugin", "lightnet/front/compiled",
         "lightnet/front/json", "lightnet/front/nnvm", "lightnet/front/onnx", "lightnet/front", "lightnet/session", "lightnet/quantize",
         "cli/il", "cli")
READERS = ("lightnet/data", "lightnet/front/compiled", "lightnet/front/json", "lightnet/front/nnvm", "lightnet/front/onnx", "lightnet/front",
           "cli/il")
LEAST = (*READERS, "lightnet/run")


def run(command, **options):
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=True, **options)


def build_and_test(jobs):
    environment = dict(os.environ, CC="gcc")
    if not os.path.exists(os.path.join(ROOT, BUILD, "build.ninja")):
        # Threads count the same lines: without atomic additions, counts are lost, and some become negative.
        run(["meson", "setup", BUILD, "-Db_coverage=true", "-Dc_args=-fprofile-update=prefer-atomic", "-Doptimization=1",
             "-Dcuda=disabled", "-Ddnnl=disabled"], env=environment, stdout=subprocess.DEVNULL)
    run(["ninja", "-C", BUILD, f"-j{jobs}"], stdout=subprocess.DEVNULL)
    # A test that fails is a matter of `make test`; its lines count all the same.
    subprocess.run(["meson", "test", "-C", BUILD, "--no-rebuild", "--quiet", "--no-suite", "slow", "--no-suite", "structure",
                    "--num-processes", str(jobs), "--timeout-multiplier", "4"], cwd=ROOT, stdin=subprocess.DEVNULL, check=False)


def counted(jobs):
    """(lines, lines that were run) of each source, by path."""
    report = run(["gcovr", "--root", ROOT, "--object-directory", BUILD, "-j", str(jobs), "--json-summary",
                  "--exclude", r".*_test\.c", "--exclude", "(tests|bench|fuzz|examples|build.*)/.*", "--gcov-ignore-parse-errors",
                  *(os.path.join(BUILD, library) for library in ("tensorlight", "lightnet", "cli"))], stdout=subprocess.PIPE)
    return {row["filename"]: (row["line_total"], row["line_covered"]) for row in json.loads(report.stdout)["files"]}


def by_part(files):
    parts = collections.defaultdict(lambda: [0, 0])
    for path, (total, covered) in files.items():
        part = next((part for part in PARTS if path.startswith(part + "/")), None)
        if part:
            parts[part][0] += total
            parts[part][1] += covered
    return {part: tuple(parts[part]) for part in PARTS if part in parts}


def percent(total, covered):
    return 100 * covered / total if total else 100.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--least", type=float, default=90)
    parser.add_argument("--files", metavar="PART", help="the files of a part, the least covered first")
    options = parser.parse_args()
    if not options.no_run:
        build_and_test(options.jobs)
    files = counted(options.jobs)
    if options.files:
        rows = sorted((percent(*row), path) for path, row in files.items() if path.startswith(options.files + "/"))
        print("\n".join(f"{share:5.1f} {path}" for share, path in rows))
        return 0
    parts = by_part(files)
    print("| part | lines | run by tests |\n|---|---|---|")
    for part, row in parts.items():
        print(f"| `{part}` | {row[0]} | {percent(*row):.1f} % |")
    low = [part for part in LEAST if part in parts and percent(*parts[part]) < options.least]
    print(f"below {options.least:g} %: {', '.join(low) or 'no reader, nor lightnet/run'}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
