#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_batch.py PACKAGE LIGHTNET. lightnet.batch of the Python package, in the folder PACKAGE, against `lightnet run --each`; and
sessions that go to other processes."""
import contextlib
import io
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.abspath(sys.argv[1]), os.path.join(os.path.dirname(os.path.abspath(__file__)), "../structure")]

import numpy as np
from checks import equal, raises, run_tests, same, test
from tap import ROOT

import lightnet
from lightnet import batch

LIGHTNET = os.path.abspath(sys.argv[2])
DIGITS = os.path.join(ROOT, "examples/digits/digits.onnx")


def image(seed=0):
    return np.random.default_rng(seed).random((1, 1, 28, 28), np.float32)


class InFolder:
    """A work folder, which is the current one."""

    def __enter__(self):
        self.before, self.folder = os.getcwd(), tempfile.mkdtemp(prefix="lightnet-batch-")
        os.chdir(self.folder)

    def __exit__(self, *reason):
        os.chdir(self.before)
        shutil.rmtree(self.folder)


def each(*options):
    return subprocess.run([LIGHTNET, "run", DIGITS, "--each", "list", *options], capture_output=True, text=True, check=False, timeout=60)


def write_inputs(*names):
    for i, name in enumerate(names):
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            np.save(file, image(i))
    with open("list", "w", encoding="utf-8") as file:
        file.write("\n".join(names))
    return list(names)


@test
def names_and_parts_are_those_of_the_command():
    faults = []
    with InFolder():
        paths = write_inputs("a.npy", "b.npy", "b.bin", "c.d.npy", "x/e.npy", ".f.npy", "g.npy")
        wanted = dict(batch.jobs(paths, "out", "probabilities"))
        for rank in range(3):
            each("-O", "cli", "--part", f"{rank + 1}/3")
            part = batch.part(list(wanted.items()), rank, 3)
            faults += same(sorted(os.listdir("cli")), sorted(os.path.basename(file) for _, file in part))
            shutil.rmtree("cli")
    return faults


@test
def the_command_and_the_module_continue_each_other():
    session = lightnet.InferenceSession(DIGITS)
    with InFolder():
        paths = write_inputs(*(f"{i}.npy" for i in range(9)))
        jobs = batch.jobs(paths, "out", "probabilities")
        for path, file in batch.pending(batch.part(jobs, 0, 3)):
            batch.save(file, session.run(None, {"image": np.load(path)})[0])
        done = each("-O", "out", "--resume", "--part", "1/2")
        faults = [] if "1 file (part 1 of 2; 3 had their outputs)" in done.stderr else [done.stderr]
        left = batch.pending(jobs)
        faults += same([path for path, _ in left], paths[4:])
        for path, file in left:
            batch.save(file, session.run(None, {"image": np.load(path)})[0])
        faults += same(batch.pending(jobs), []) + same(len(os.listdir("out")), 9)
        for path, file in jobs:
            faults += equal(np.load(file), session.run(None, {"image": np.load(path)})[0])
    return faults


@test
def files_are_whole_or_pending():
    with InFolder():
        (_, file), = batch.jobs(["in/a.npy"], "out")
        faults = same(file, "out/a_output.npy") + same(batch.is_complete(file), False)
        for array in (np.zeros(0), np.float32(3), np.arange(100), np.array(["a", "bc"])):
            batch.save(file, array)
            faults += same(batch.is_complete(file), True) + equal(np.load(file), np.asarray(array)) + same(os.listdir("out"), ["a_output.npy"])
        whole = open(file, "rb").read()
        for size in (0, 5, 9, 60, len(whole) - 1):
            with open(file, "wb") as stream:
                stream.write(whole[:size])
            faults += same((size, batch.is_complete(file)), (size, False))
        for content in whole + b"x", whole.replace(b"<U2", b"|O8"), whole.replace(b"(2,)", b"(3,)"), whole[:6] + b"\7" + whole[7:], b"x" * 200:
            with open(file, "wb") as stream:
                stream.write(content)
            faults += same((content, batch.is_complete(file)), (content, False))
        for version in (1, 0), (2, 0), (3, 0):
            with open(file, "wb") as stream:
                np.lib.format.write_array(stream, np.ones((2, 3), order="F"), version)
            faults += same((version, batch.is_complete(file)), (version, True))
        batch.save(file, np.arange(3))
        before = open(file, "rb").read()
        faults += raises(ValueError, lambda: batch.save(file, np.array([object()])), "Object arrays")
        faults += same(open(file, "rb").read(), before) + same(os.listdir("out"), ["a_output.npy"])
        faults += raises(OSError, lambda: batch.save("none/a.npy", np.zeros(1)), "none/a.npy")
    return faults


@test
def a_complete_output_is_not_read():
    with InFolder():
        (_, file), = batch.jobs(["a.npy"], "out")
        batch.save(file, np.zeros(1000))
        with open(file, "r+b") as stream:  # of a terabyte, without its blocks
            start = np.lib.format.read_magic(stream) and stream.tell()
            stream.seek(0)
            np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (1 << 37,)})
            stream.truncate(stream.tell() + (1 << 40))
        return same(start, 8) + same(batch.is_complete(file), True)


@test
def lists_are_read_as_the_command_does():
    names = [b"a b.npy", "ä.npy".encode(), b"\xff.npy", "x\u2028y.npy".encode(), "n\u0085.npy".encode(), b"f\ff.npy", b"v\vv.npy", b"end.npy"]
    with InFolder():
        for i, name in enumerate(names):
            with open(name, "wb") as file:
                np.save(file, image(i))
        with open("list", "wb") as file:
            file.write(b"\n".join(names[:2]) + b"\r\n\n\r\n" + b"\n".join(names[2:]))
        paths = batch.read_list("list")
        faults = same([os.fsencode(path) for path in paths], names)
        done = each("-O", "out")
        faults += same(done.returncode, 0) + same(batch.pending(batch.jobs(paths, "out", "probabilities")), [])
        with open("list", "ab") as file:
            file.write(b"\0")
        return faults + raises(ValueError, lambda: batch.read_list("list"), "list: the file is not text") + raises(OSError, lambda: batch.read_list("none"))


def save_often(file, value, n):
    for _ in range(n):
        batch.save(file, np.full(100_000, value))


@test
def an_output_is_whole_at_any_time_while_several_processes_write_it():
    with InFolder():
        (_, file), = batch.jobs(["a.npy"], "out")
        batch.save(file, np.full(100_000, 0))
        writers = [multiprocessing.get_context("fork").Process(target=save_often, args=(file, value, 60)) for value in (1, 2)]
        for writer in writers:
            writer.start()
        faults, seen = [], set()
        while any(writer.is_alive() for writer in writers) and not faults:
            array = np.load(file)
            seen.add(int(array[0]))
            faults += same((array.shape, np.unique(array).size), ((100_000,), 1))
        for writer in writers:
            writer.join()
            faults += same(writer.exitcode, 0)
        return faults + same(os.listdir("out"), ["a_output.npy"]) + ([] if seen & {1, 2} else [f"seen: {seen}"])


@test
def a_job_that_fails_is_printed_and_the_others_run():
    def double(path):
        if path == "none.npy":
            raise KeyError("x")
        return 2 * np.load(path)
    with InFolder():
        paths = write_inputs("a.npy", "b.npy", "c.npy")
        os.remove("b.npy")
        jobs = batch.jobs([*paths[:2], "none.npy", paths[2]], "out")
        with contextlib.redirect_stderr(io.StringIO()) as err:
            failed = batch.run_jobs(jobs, double)
        faults = same([path for path, _ in failed], ["b.npy", "none.npy"]) + same(batch.pending(jobs), jobs[1:3])
        faults += equal(np.load(jobs[3][1]), 2 * image(2)) + same(failed[1][1], "KeyError: 'x'")
        faults += same(err.getvalue(), "".join(f"error: {path}: {reason}\n" for path, reason in failed))

        def exhaust(path):
            raise MemoryError("all")
        return faults + raises(MemoryError, lambda: batch.run_jobs(jobs, exhaust), "all") + same(batch.run_jobs([], double), [])


class Counting:
    """y = x + x, as a session that notes its runs."""

    def __init__(self, *shape, rows=None, dtype="float32"):
        self.shape, self.rows, self.dtype, self.runs = list(shape), rows, dtype, []

    def get_inputs(self):
        return [lightnet.NodeArg("x", self.dtype, self.shape)]

    def run(self, names, feed):
        self.runs.append(feed["x"].shape)
        return [2 * feed["x"][:self.rows]]


@test
def rows_run_together_where_the_batch_is_open():
    rows = [np.arange(6) + i for i in range(7)]
    wanted = np.float32(2 * np.stack(rows)).reshape(7, 2, 3)
    faults = []
    for size, runs in ("n", [(3, 2, 3), (3, 2, 3), (1, 2, 3)]), (None, [(3, 2, 3), (3, 2, 3), (1, 2, 3)]), (1, [(1, 2, 3)] * 7):
        session = Counting(size, 2, 3)
        faults += equal(batch.run_rows(session, rows, max_rows=3), wanted) + same(session.runs, runs)
    session = Counting("n", 2, 3)
    batch.run_rows(session, rows * 10)
    faults += same(session.runs, [(32, 2, 3), (32, 2, 3), (6, 2, 3)]) + same(batch.run_rows(session, []).shape[0], 0)
    for shape in ([8, 2], ["n", "m"], ["n", None], [], None):
        session = Counting()
        session.shape = shape
        faults += raises(ValueError, lambda: batch.run_rows(session, rows), "the input 'x' has shape", "expected 1 or an open size on axis 0")
    return faults + raises(ValueError, lambda: batch.run_rows(Counting("n", 2, 3, rows=1), rows), "shape [1, 2, 3] for 7 rows") + \
        raises(ValueError, lambda: batch.run_rows(Counting("n", 2, 4), rows), "reshape") + \
        raises(ValueError, lambda: batch.run_rows(Counting("n", dtype="bfloat16"), rows), "type tensor(bfloat16)")


@test
def names_that_meet_and_ranks_that_are_none_are_errors():
    with InFolder():
        return raises(ValueError, lambda: batch.jobs(["x/a.npy", "y/a.npy"], "out"), "out/a.npy_output.npy", "'x/a.npy'", "'y/a.npy'") + \
            raises(ValueError, lambda: batch.jobs(["a.npy", "a.npy"], "out"), "'a.npy' occurs twice") + \
            raises(ValueError, lambda: batch.part([1], 1, 1), "rank 1 of 1") + raises(ValueError, lambda: batch.part([1], 0, 0), "rank 0 of 0") + \
            same(batch.jobs([], "out"), []) + same([batch.part([1, 2], rank, 3) for rank in range(3)], [[], [1], [2]])


def weights_of(session, file):
    """The result of a run, and the kilobytes of the mapped file that are in memory, and that are private to the process."""
    result = session.run(None, {"image": image()})[0]
    resident = private = 0
    is_file = False
    with open("/proc/self/smaps", encoding="utf-8") as smaps:
        for line in smaps:
            words = line.split()
            if not words[0].endswith(":"):
                is_file = words[-1] == file
            elif is_file and words[0] == "Rss:":
                resident += int(words[1])
            elif is_file and words[0] == "Private_Dirty:":
                private += int(words[1])
    return result, resident, private


@test
def workers_share_the_mapped_weights_of_a_compiled_model():
    with InFolder():
        file = os.path.realpath("digits.safetensors")
        subprocess.run([LIGHTNET, "compile", DIGITS, "-o", file], check=True, timeout=60)
        session = lightnet.InferenceSession(file, map=True, threads=1)
        size = len(pickle.dumps(session))
        faults = [] if size < 2000 else [f"the pickle has {size} bytes"]
        wanted = session.run(None, {"image": image()})[0]
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            for result, resident, private in pool.starmap(weights_of, [(session, file)] * 2, chunksize=1):
                faults += equal(result, wanted)
                if not resident or private > 8:
                    faults.append(f"{resident} kB of the file are in memory, {private} kB of them private")
    return faults


@test
def sessions_of_bytes_need_no_file():
    with open(DIGITS, "rb") as file:
        session = lightnet.InferenceSession(file.read(), threads=1)
    again = pickle.loads(pickle.dumps(session))
    return equal(again.run(None, {"image": image()})[0], session.run(None, {"image": image()})[0])


if __name__ == "__main__":
    run_tests()
