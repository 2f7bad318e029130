#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command line on the cases of tests/cases and compares status, standard output and standard error. Speaks TAP.

usage: run_cases.py LIGHTNET GENWTS FEATURES [NAME...]

FEATURES: build options of LightNet, such as onnx,png,jpeg. NAME: of a folder or file of cases, all without.

Two kinds of cases, in tests/cases:

    NAME.cases                       models that are rejected with status 1, by the command that the line `runs:` names:

        ==== bias_of_wrong_length                a case begins; the command's argument is bias_of_wrong_length.json
        {"ops": ...                              the model
        ----
        bias_of_wrong_length.json: ...           the message

    NAME.test                        tests that share a work folder, each a sentence, commands and their output:

        # labels name the best digits            a test begins
        $ lightnet run digits.json --top 1       a command, for sh
        probabilities[0]:                        its standard output, line by line
        ! info: run time: *                      a line of its standard error
        ? 1                                      its exit status, if not 0
        ~ "median_ms": [0-9.]+                   a line of standard output that contains this regular expression

    The work folder begins with links to what START names. A line `needs OPTYPE...`, `needs FEATURE...` or
    `needs ../PATH...` above the tests skips the file where the build lacks these, the sources have no such file; below a
    sentence, it skips that test. Run times are written `*`.
"""
import os
import re
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
CASES = os.path.join(TESTS, "cases")
# The initial content of a work folder; missing files are omitted.
START = ["tests/cases/sum.json", "tests/cases/bodies.json", "tests/cases/cuda_weight.json",
         "tests/cases/cuda_attention.net", "tests/cases/cuda_excite.json", "tests/cases/refused.net",
         "examples/example.json", "examples/example.net",
         "examples/digits", "examples/networks", "../shared/models/mnist", "../shared/models/ultraface"]
TIMEOUT = 60


class Step:
    """A command and its expected output."""

    def __init__(self, command):
        self.command = command
        self.out, self.err, self.status = [], [], 0

    def add(self, line):
        if line.startswith("! "):
            self.err.append(line[2:])
        elif line.startswith("? "):
            self.status = int(line[2:])
        elif line.startswith("~ "):
            self.out.append(re.compile(line[2:]))
        else:
            self.out.append(line)

    def matches(self, out):
        return len(out) == len(self.out) and all(
            want.search(got) if isinstance(want, re.Pattern) else want == got for want, got in zip(self.out, out))

    def run(self, env, folder):
        """Returns the error, or None."""
        result = subprocess.run(["sh", "-c", self.command], cwd=folder, env=env, timeout=TIMEOUT,
                                stdin=subprocess.DEVNULL, capture_output=True)
        out, err = (lines(stream) for stream in (result.stdout, result.stderr))
        if self.matches(out) and err == self.err and result.returncode == self.status:
            return None
        return "\n".join([f"$ {self.command}", "stdout:", *out, "expected:",
                          *(getattr(want, "pattern", want) for want in self.out), "stderr:", *err, "expected:", *self.err,
                          f"status: {result.returncode}, expected: {self.status}"])


def lines(stream):
    text = re.sub(r"run time: [0-9]+\.[0-9]{6}s", "run time: *", stream.decode("utf-8", "backslashreplace"))
    # Drops the address sanitizer's warnings about failed allocations.
    return [line for line in text.splitlines() if "WARNING: AddressSanitizer failed to allocate" not in line]


def read_tests(path):
    """The tests of a file: (sentence, the names that it needs, steps)."""
    needs, tests = [], []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("# "):
                tests.append((line[2:], list(needs), []))
            elif line.startswith("needs ") and not (tests and tests[-1][2]):
                (tests[-1][1] if tests else needs).extend(line.split()[1:])
            elif tests and line.startswith("$ "):
                tests[-1][2].append(Step(line[2:]))
            elif tests and line:
                tests[-1][2][-1].add(line)
    return tests


def read_rejected(path, folder):
    """A test for each model of the table, which is written to the folder."""
    with open(path, encoding="utf-8") as file:
        head, *cases = re.split(r"^==== ", file.read(), flags=re.M)
    command = re.search(r"^runs: (.*)$", head, re.M).group(1)
    for case in cases:
        name, text = case.split("\n", 1)
        model, message = text.split("\n----\n")
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            file.write(model + "\n")
        step = Step(f"{command} {name}.json")
        step.status = 1
        step.err = ["lightnet: error: " + line for line in message.split("\n") if line]
        yield name.replace("_", " "), [step]


class Report:
    def __init__(self, env):
        self.env = env
        self.count = self.failed = 0

    def line(self, problem, name, skip=""):
        self.count += 1
        self.failed += problem is not None
        print(f"{'ok' if problem is None else 'not ok'} {self.count} - {name}{' # SKIP ' + skip if skip else ''}")
        for text in (problem or "").splitlines():
            print(f"# {text}")
        sys.stdout.flush()

    def run(self, name, steps, folder):
        for step in steps:
            try:
                problem = step.run(self.env, folder)
            except subprocess.TimeoutExpired:
                problem = f"$ {step.command}\nhas not ended after {TIMEOUT} s"
            if problem:
                self.line(problem, name)
                return
        self.line(None, name)


def is_missing(need, there):
    return not os.path.exists(os.path.join(ROOT, need)) if need.startswith("../") else need not in there


def run_file(report, name, there):
    with tempfile.TemporaryDirectory() as folder:
        for start in (os.path.join(ROOT, start) for start in START):
            if os.path.exists(start):
                os.symlink(os.path.realpath(start), os.path.join(folder, os.path.basename(start)))
        for sentence, needs, steps in read_tests(os.path.join(CASES, name)):
            sentence = f"{name.removesuffix('.test')}: {sentence}"
            missing = [need for need in needs if is_missing(need, there)]
            if missing:
                report.line(None, sentence, f"there is no {' '.join(missing)}")
            else:
                report.run(sentence, steps, folder)


def main():
    programs = [os.path.abspath(program) for program in sys.argv[1:3]]
    features = sys.argv[3].split(",")
    wanted = sys.argv[4:]
    with tempfile.TemporaryDirectory() as bin_folder:
        for program in programs:
            os.symlink(program, os.path.join(bin_folder, os.path.basename(program)))
        # For the programs of cases/bin: the first one in PATH may be a script that looks for the interpreter at every start.
        os.symlink(os.path.realpath(sys.executable), os.path.join(bin_folder, "python3"))
        env = dict(os.environ, PATH=os.pathsep.join([bin_folder, os.path.join(CASES, "bin"), os.environ["PATH"]]),
                   LC_ALL="C", PYTHON=sys.executable)
        for name in ("LIGHTNET_NUM_THREADS", "LIGHTNET_MAX_ISA"):
            env.pop(name, None)
        env.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1")
        report = Report(env)
        ops = subprocess.run([programs[0], "ops"], env=env, capture_output=True, text=True, check=True).stdout
        there = features + [line.split()[0] for line in ops.splitlines()]
        for name in sorted(os.listdir(CASES)):
            if wanted and name not in wanted and os.path.splitext(name)[0] not in wanted:
                continue
            if name.endswith(".cases"):
                with tempfile.TemporaryDirectory() as folder:
                    for sentence, steps in read_rejected(os.path.join(CASES, name), folder):
                        report.run(f"{name.removesuffix('.cases')}: {sentence}", steps, folder)
            elif name.endswith(".test"):
                run_file(report, name, there)
        print(f"1..{report.count}")
    return 1 if report.failed or not report.count else 0


if __name__ == "__main__":
    sys.exit(main())
