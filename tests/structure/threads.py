#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: threads.py LIGHTNET NO_THREADS FORKS. Where the system refuses threads or memory, runs end soon: with the result, or
with a message; and children of fork() use the contexts of their parent."""
import os
import resource
import subprocess
import sys
import tempfile

from tap import ROOT, Tap, run

MODEL = os.path.join(ROOT, "examples/digits/digits.onnx")
IMAGE = os.path.join(ROOT, "examples/digits/two.pgm")
MB = 1 << 20
# Large enough to be divided among threads.
LARGE = """{"inputs": ["x"], "outputs": ["y"], "ops": [
 {"name": "make", "optype": "create", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "x"}], "params": [
  {"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [100, 1000]}, {"arg_name": "data", "value": [0]},
  {"arg_name": "ran", "value": [0, 0]}, {"arg_name": "from_file", "value": false}]},
 {"name": "bend", "optype": "sigmoid", "tensors_in": [{"arg_name": "src", "name": "x"}],
  "tensors_out": [{"arg_name": "dst", "name": "y"}], "params": []}]}
"""
# Two runs of it at once would need more than 1 GB: the matrix s of all products has 528 MB.
SQUARE = """{"inputs": ["x"], "outputs": ["y"], "ops": [
 {"name": "make", "optype": "create", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "x"}], "params": [
  {"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [11750, 1]}, {"arg_name": "data", "value": [0]},
  {"arg_name": "ran", "value": [0, 0]}, {"arg_name": "from_file", "value": false}]},
 {"name": "square", "optype": "matmul", "tensors_in": [{"arg_name": "src1", "name": "x"}, {"arg_name": "src2", "name": "x"}],
  "tensors_out": [{"arg_name": "dst", "name": "s"}], "params": [{"arg_name": "trans2", "value": true}]},
 {"name": "max", "optype": "maxreduce", "tensors_in": [{"arg_name": "src", "name": "s"}],
  "tensors_out": [{"arg_name": "dst", "name": "y"}], "params": [{"arg_name": "axis", "value": 1}]}]}
"""
EXPECTED_FORKS = """a child runs and frees: good
a child only frees: good
a child loads anew: good
the parent runs: good
"""


def run_each(lightnet, **options):
    command = [lightnet, "run", MODEL, "--each", os.path.join(os.path.dirname(IMAGE), "*.pgm"), "--batch", "1", "--json"]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


def threads_of_each(lightnet, *options):
    """The number of threads while the first of two large results is written, to a pipe that is full."""
    with tempfile.TemporaryDirectory(prefix="lightnet-threads-") as folder:
        for name, data in {"model.json": SQUARE.encode(), "a.bin": b">" * 4 * 11750, "b.bin": b">" * 4 * 11750}.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        command = [lightnet, "run", "model.json", "--each", "*.bin", "--json", "--threads", "2", *options]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as each:
            try:
                return len(os.listdir(f"/proc/{each.pid}/task")) if each.stdout.read(1) else 0
            finally:
                each.kill()


def run_digits(lightnet, threads, **options):
    """Status and output, without how long it took."""
    command = [lightnet, "run", MODEL, "-i", IMAGE, "--threads", str(threads)]
    try:
        status, output = run(command, timeout=10, **options)
    except subprocess.TimeoutExpired:
        return None, "still running after 10 s"
    return status, "".join(line for line in output.splitlines(True) if "run time" not in line)


def limited(megabytes):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * MB, megabytes * MB))


def faults_of_limit(lightnet, megabytes, expected):
    status, output = run_digits(lightnet, 2, preexec_fn=limited(megabytes))
    # Below some 12 MB, the dynamic loader ends the program, with status 127 and its own message.
    is_right = (status, output) == expected if status == 0 else status in (1, 127) and output.strip()
    return [] if is_right else [f"{megabytes} MB: status {status}: {output}"]


def main():
    lightnet, no_threads, forks = map(os.path.abspath, sys.argv[1:])
    tap = Tap()
    expected = run_digits(lightnet, 1)
    tap.check("the_model_runs", [] if expected[0] == 0 and "1.000" in expected[1] else [str(expected)])
    preloaded = run_digits(lightnet, 2, env={**os.environ, "LD_PRELOAD": no_threads})
    tap.check("where_no_thread_can_be_created_one_does_the_work", [] if preloaded == expected else [str(preloaded)])
    files, alone = run_each(lightnet), run_each(lightnet, env={**os.environ, "LD_PRELOAD": no_threads})
    tap.check("without_threads_many_files_are_decoded_run_and_written_by_one",
              [] if alone.returncode == 0 and alone.stdout == files.stdout and files.stdout.count(b"\n") == 4 else [str(alone)])
    # A memory limit permits one session, as the plan does here. On one CPU, it has one thread in any case.
    n, wanted = threads_of_each(lightnet), threads_of_each(lightnet, "--max-memory", "4G")
    tap.check("one_session_of_a_large_model_has_all_threads", [] if n >= wanted > 0 else [f"{n} threads, expected {wanted}"])
    tap.check("where_address_space_is_short_runs_end",
              [fault for megabytes in [*range(8, 32), *range(32, 201, 24)] for fault in faults_of_limit(lightnet, megabytes, expected)])
    with tempfile.NamedTemporaryFile("w", suffix=".json", prefix="lightnet-threads-") as model:
        model.write(LARGE)
        model.flush()
        status, output = run([forks, model.name])
    tap.check("children_use_the_contexts_of_their_parent", [] if (status, output) == (0, EXPECTED_FORKS) else [f"{status}: {output}"])
    tap.end()


if __name__ == "__main__":
    main()
