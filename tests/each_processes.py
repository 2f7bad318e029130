#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: each_processes.py LIGHTNET. `run --each` as one of several processes: it answers each line of a slow standard input, its
outputs are whole or absent when it is killed, and parts of a list are the whole. Speaks TAP.
"""
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "structure"))

import numpy as np
from tap import Tap

SHAPE = (1, 64, 1024)
WAIT = 60  # seconds until a test gives up
N = 60


def write_model(file, rows=1):
    """y = x + x."""
    ops = [{"name": "make_x", "optype": "source", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "x"}],
            "params": [{"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [rows, *SHAPE[1:]]},
                       {"arg_name": "data", "value": []}, {"arg_name": "from_file", "value": False}]},
           {"name": "y", "optype": "elew", "tensors_in": [{"arg_name": "src1", "name": "x"}, {"arg_name": "src2", "name": "x"}],
            "tensors_out": [{"arg_name": "dst", "name": "y"}], "params": [{"arg_name": "elew_op", "value": "TL_SUM"}]}]
    with open(file, "w", encoding="utf-8") as stream:
        json.dump({"inputs": ["x"], "outputs": ["y"], "ops": ops}, stream)


def array(i):
    return np.full(SHAPE, i, np.float32) + np.arange(SHAPE[2], dtype=np.float32)


class Each:
    """A process that reads paths from a pipe."""

    def __init__(self, lightnet, folder, *options, model="model.json"):
        self.process = subprocess.Popen([lightnet, "run", model, "--each", "-", *options], cwd=folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ask(self, *paths, end=b"\n"):
        self.process.stdin.write(b"\n".join(path.encode() for path in paths) + end)
        self.process.stdin.flush()

    def answer(self, seconds=WAIT):
        """The next line; b"": none within the time."""
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return b""
        return self.process.stdout.readline()

    def end(self):
        """Ends its input; returns the status, and what is left of its outputs."""
        out, err = self.process.communicate(timeout=WAIT)
        return self.process.returncode, out, err.decode()


def name_of(line):
    return json.loads(line)["file"] if line else "no answer"


def slow_input(tap, lightnet, folder):
    for options in [], ["--batch", "1"], ["--threads", "1"], ["--threads", "4"]:
        each, faults = Each(lightnet, folder, "--json", "--top", "1", *options), []
        for i in (3, 1, 4, 1, 5):
            each.ask(f"in/{i}.npy")
            answer = each.answer()
            if name_of(answer) != f"in/{i}.npy":
                faults.append(f"{i}.npy: {answer!r}")
                break
        each.ask("in/none.npy")
        if "error" not in json.loads(each.answer() or b"{}"):
            faults.append("a missing file has no answer")
        each.ask("in/2.npy", end=b"")  # a last line without its end
        status, out, err = each.end()
        if status != 1 or name_of(out) != "in/2.npy" or "7 files" not in err:
            faults.append(f"status {status}, {out!r}, {err}")
        tap.check(f"each line has its answer before the next one comes ({' '.join(options) or 'no options'})", faults)


def half_lines(tap, lightnet, folder):
    each = Each(lightnet, folder, "--json", "--top", "1")
    each.ask("in/1.npy", "in/2", end=b"")
    first = each.answer()
    second = each.answer(0.3)
    each.ask(".npy")
    faults = [] if name_of(first) == "in/1.npy" and not second and name_of(each.answer()) == "in/2.npy" else [f"{first!r} {second!r}"]
    status, _, err = each.end()
    tap.check("a line that is not whole keeps no answer back", faults + ([err] if status else []))


def batches(tap, lightnet, folder):
    each, faults = Each(lightnet, folder, "--json", "--top", "1", "--batch", "8", model="eight.json"), []
    for first in range(0, 9, 3):
        paths = [f"in/{i}.npy" for i in range(first, first + 3)]
        each.ask(*paths)
        answers = [name_of(each.answer()) for _ in paths]
        faults += [] if answers == paths else [f"{answers}, expected {paths}"]
    status, out, err = each.end()
    tap.check("a batch does not wait for lines that are not there", faults + ([f"{status} {out!r} {err}"] if status or out else []))


def many_lines(tap, lightnet, folder):
    paths = [f"in/{i % N}.npy" for i in range(2000)]
    done = subprocess.run([lightnet, "run", "model.json", "--each", "-", "--json", "--top", "1"], cwd=folder, capture_output=True,
                          input="\n".join(paths), text=True, timeout=WAIT)
    answers = [name_of(line) for line in done.stdout.splitlines()]
    tap.check("many lines at once have their answers in order",
              [] if answers == paths and done.returncode == 0 else [f"{len(answers)} answers, status {done.returncode}, {done.stderr}"])


def ends(tap, lightnet, folder):
    for name, sent in ("SIGTERM", signal.SIGTERM), ("SIGINT", signal.SIGINT):
        each = Each(lightnet, folder, "--json", "--top", "1")
        each.ask("in/1.npy")
        each.answer()
        each.process.send_signal(sent)
        try:
            each.process.wait(timeout=WAIT)  # its input has not ended: the signal alone ends it
        except subprocess.TimeoutExpired:
            tap.check(f"{name} ends the wait for a line", [f"it runs after {WAIT} s"])
            each.process.kill()
            continue
        status, out, err = each.end()
        tap.check(f"{name} ends the wait for a line",
                  [] if status == -sent and not out and "interrupted after 1 of 1 files" in err else [f"status {status}, {out!r}, {err}"])
    each = Each(lightnet, folder, "--json", "--top", "1", "--max-seconds", "0.7")
    each.ask("in/1.npy")
    first, start = each.answer(), time.monotonic()
    each.process.wait(timeout=WAIT)
    seconds = time.monotonic() - start
    status, out, err = each.end()
    tap.check("the time limit ends the wait for a line",
              [] if first and status == 1 and "time limit" in err and seconds < 30 else [f"{seconds} s, status {status}, {out!r}, {err}"])
    each = Each(lightnet, folder, "--json", "--top", "1")
    each.process.stdout.close()
    each.ask("in/1.npy")
    status = each.process.wait(timeout=WAIT)
    each.process.stdin.close()
    each.process.stderr.close()
    tap.check("a reader that has gone ends it", [] if status in (1, -signal.SIGPIPE) else [f"status {status}"])


def whole_lines(tap, lightnet, folder):
    """A socket of packets as standard error: each write of the program is a packet."""
    with open(os.path.join(folder, "list"), "w", encoding="utf-8") as stream:
        stream.write("in/1.npy\nin/none.npy\n")
    for name, arguments, n in ("info", ["--each", "in", "-O", "whole"], 1), ("error", ["--each", "in/1\x1b.npy", "-O", "whole"], 1), \
            ("a file, info, summary", ["--each", "list", "-O", "whole2"], 3):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            subprocess.run([lightnet, "run", "model.json", *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=theirs, timeout=WAIT)
            theirs.close()
            writes = list(iter(lambda: ours.recv(65536), b""))
        tap.check(f"each line of standard error is written at once ({name})",
                  [] if len(writes) == n and all(text.count(b"\n") == 1 and text.endswith(b"\n") for text in writes) else [f"{writes}"])


def faults_of_outputs(folder, n):
    """Of `n` outputs that have to be there and right, and nothing else."""
    names = sorted(os.listdir(folder))
    faults = [] if names == sorted(f"{i}_y.npy" for i in range(n)) else [f"{len(names)} files: {names}"]
    return faults + [f"{i}_y.npy is wrong" for i in range(n) if not faults and not np.array_equal(
        np.load(os.path.join(folder, f"{i}_y.npy")), 2 * array(i))]


def killed(tap, lightnet, folder):
    """Killed again and again: every file that is there is right, and a later start completes them."""
    out, faults, kills = os.path.join(folder, "killed"), [], 0
    command = [lightnet, "run", "model.json", "--each", "in", "-O", "killed", "--resume"]
    for i in range(12):
        each = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before, deadline = len(os.listdir(out)) if os.path.isdir(out) else 0, time.monotonic() + WAIT
        while each.poll() is None and time.monotonic() < deadline:
            if os.path.isdir(out) and len(os.listdir(out)) > before + i % 3:
                break
            time.sleep(0.0005)
        each.kill()
        kills += each.wait() == -signal.SIGKILL
        for name in sorted(os.listdir(out)):
            if name.startswith("."):
                continue
            number = int(name.split("_")[0])
            if not np.array_equal(np.load(os.path.join(out, name)), 2 * array(number)):
                faults.append(f"{name} is wrong")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=WAIT)
    if done.returncode or "had their outputs" not in done.stderr:
        faults.append(done.stderr)
    if not kills:
        faults.append("no process was killed")
    tap.check("a killed process leaves whole outputs, and a later start the rest", faults + faults_of_outputs(out, N))


def written_once(tap, lightnet, folder):
    """Complete outputs keep their inode and time."""
    out = os.path.join(folder, "once")
    command = [lightnet, "run", "model.json", "--each", "in", "-O", "once"]
    subprocess.run([*command, "--part", "1/2"], cwd=folder, stderr=subprocess.DEVNULL, check=True, timeout=WAIT)
    before = {name: os.stat(os.path.join(out, name)) for name in os.listdir(out)}
    subprocess.run([*command, "--resume"], cwd=folder, stderr=subprocess.DEVNULL, check=True, timeout=WAIT)
    changed = [name for name, old in before.items() if (lambda new: (new.st_ino, new.st_mtime_ns) != (old.st_ino, old.st_mtime_ns))(
        os.stat(os.path.join(out, name)))]
    tap.check("a later start leaves complete outputs as they are",
              ([f"written again: {changed}"] if changed or len(before) != N // 2 else []) + faults_of_outputs(out, N))


def ranks(tap, lightnet, folder):
    """By mpirun itself."""
    name = "the ranks of mpirun share a list"
    mpirun = shutil.which("mpirun")
    if not mpirun:
        tap.skip(name, "no mpirun")
        return
    done = subprocess.run([mpirun, *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--oversubscribe", "-n", "3", lightnet, "run",
                           "model.json", "--each", "in", "-O", "ranks", "--threads", "1"], cwd=folder, capture_output=True, text=True,
                          timeout=WAIT, env={**os.environ, "OMPI_MCA_btl": "self,vader"})
    parts = sorted(line.split("(")[1].split(")")[0] for line in done.stderr.splitlines() if "(part" in line)
    faults = [] if parts == [f"part {i} of 3" for i in (1, 2, 3)] and done.returncode == 0 else [done.stderr]
    tap.check(name, faults or faults_of_outputs(os.path.join(folder, "ranks"), N))


def main(lightnet):
    tap, lightnet = Tap(), os.path.abspath(lightnet)
    with tempfile.TemporaryDirectory() as folder:
        write_model(os.path.join(folder, "model.json"))
        write_model(os.path.join(folder, "eight.json"), 8)
        os.mkdir(os.path.join(folder, "in"))
        for i in range(N):
            np.save(os.path.join(folder, "in", f"{i}.npy"), array(i))
        for test in (slow_input, half_lines, batches, many_lines, ends, whole_lines, killed, written_once, ranks):
            test(tap, lightnet, folder)
    tap.end()


main(sys.argv[1])
