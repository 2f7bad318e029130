#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: outputs.py PROGRAM... Each way to write a file, by each program, to each kind of destination. Speaks TAP.

After a success a file is replaced, and a device or pipe is written. After an error all are what they were.
"""
import os
import stat
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "structure"))
from tap import ROOT, Tap  # noqa: E402

PROGRAMS = {os.path.basename(path): os.path.abspath(path) for path in sys.argv[1:]}
OLD = "an older output"
GOOD_OP = os.path.join(ROOT, "lightnet/gen/test/good.op")
GOOD_OPT = os.path.join(ROOT, "lightnet/gen/test/small.opt")
OPS = os.path.join(ROOT, "lightnet/arch/none")
EXAMPLES = os.path.join(OPS, "io.op")
NETWORK = os.path.join(ROOT, "examples/example.net")
# What no program can read.
BROKEN = "broken"
FILES = {
    BROKEN: "broken {",
    "numbers.0.txt": "1, 2.5",
    "x.bin": "\0" * 24,
    "model.json": """{"inputs": ["x"], "outputs": ["y"], "ops": [
 {"name": "create_x", "optype": "create", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": "x"}], "params": [
  {"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": [2, 3]}, {"arg_name": "data", "value": [0]},
  {"arg_name": "ran", "value": [0, 0]}, {"arg_name": "from_file", "value": false}]},
 {"name": "relu", "optype": "relu", "tensors_in": [{"arg_name": "src", "name": "x"}],
  "tensors_out": [{"arg_name": "dst", "name": "y"}], "params": []}]}""",
}

# Program, input, and arguments; IN: the input, or a broken one, OUT: the destination. The suffix of OUT selects a format.
WAYS = [
    ("ln-opgen", GOOD_OP, "IN -o OUT", ".c"),
    ("ln-opgen", GOOD_OP, "IN -o other.c --depfile OUT", ".d"),
    ("ln-opgen", GOOD_OP, "--list none IN -o OUT", ".h"),
    ("ln-opgen", EXAMPLES, "--tests IN -I OPS -o OUT", ".c"),
    ("ln-opgen", GOOD_OP, "--docs IN -o OUT", ".md"),
    ("ln-opgen", GOOD_OP, "--doc-table IN -o OUT", ".h"),
    ("ln-optgen", GOOD_OPT, "-o OUT --header other.h IN", ".c"),
    ("ln-optgen", GOOD_OPT, "-o other.c --header OUT IN", ".h"),
    ("ln-optgen", GOOD_OPT, "--tests OUT IN", ".c"),
    ("il2json", NETWORK, "-o OUT IN", ".json"),
    ("genwts", "numbers.0.txt", "-t 0 -o OUT IN", ".wts"),
    ("lightnet", "model.json", "-c IN -o OUT --force", ".safetensors"),
    ("lightnet", "model.json", "compile IN -o OUT --force", ".safetensors"),
    ("lightnet", "model.json", "convert IN -o OUT --force", ".json"),
    ("lightnet", "model.json", "convert IN -o OUT --to il --force", ".net"),
    ("lightnet", "model.json", "convert IN -o OUT --to onnx --force", ".onnx"),
    ("lightnet", "model.json", "convert IN -o OUT --to nnvm --force", ".json"),
    ("lightnet", "model.json", "bench IN --seconds 0.01 --trace OUT --force", ".trace"),
    ("lightnet", "model.json", "run IN -i x=x.bin -O OUT --force", ".npz"),
]


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Pipe:
    """A pipe with a name, and a reader that takes what is written."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path, self.got = path, 0
        self.end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.keeper = os.open(path, os.O_WRONLY)  # no end of file between the writers
        os.set_blocking(self.end, True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        while part := os.read(self.end, 1 << 16):
            self.got += len(part)

    def close(self):
        os.close(self.keeper)
        self.thread.join()
        os.close(self.end)


def make_device(path):
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


def make_file(path):
    write(path, OLD)
    os.chmod(path, 0o640)


def make_link(path):
    make_file(path + ".target")
    os.symlink(os.path.basename(path) + ".target", path)


# Destination, how it is made, and whether it can be written.
KINDS = [
    ("device", make_device, True),
    ("pipe", Pipe, True),
    ("folder", os.mkdir, False),
    ("older file", make_file, True),
    ("link to a file", make_link, True),
]


def state(path):
    """What an error may not change."""
    about = os.lstat(path)
    text = None
    if os.path.isfile(path):
        with open(path, "rb") as file:
            text = file.read()
    return stat.S_IFMT(about.st_mode), stat.S_IMODE(os.stat(path).st_mode), about.st_ino if not text else None, text


def left_in(folder):
    return {name for name in os.listdir(folder) if not name.startswith("other.")}


def faults_of(way, kind, fails):
    program, given, arguments, suffix = way
    name, make, is_writable = kind
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out" + suffix)
        for file, text in FILES.items():
            write(os.path.join(folder, file), text)
        made = make(out)
        before, there = state(out), left_in(folder)
        words = [{"IN": BROKEN if fails else given, "OUT": out, "OPS": OPS}.get(word, word) for word in arguments.split()]
        done = subprocess.run([PROGRAMS[program], *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=60, check=False)
        if made:
            made.close()
        if not os.path.lexists(out):
            return [f"the {name} is gone"]
        after = state(out)
        faults = [f"left behind: {left_in(folder) - there}"] if left_in(folder) != there else []
        succeeds = is_writable and not fails
        if (done.returncode == 0) != succeeds:
            faults.append(f"exit status {done.returncode}: {done.stderr}")
        if succeeds and before[-1] is not None:
            faults += [] if after[:2] == before[:2] and after[-1] not in (None, before[-1]) else [f"{before} became {after}"]
        elif after != before:
            faults.append(f"{before} became {after}")
        if made and (made.got > 0) != succeeds:
            faults.append(f"the pipe got {made.got} bytes")
        return faults


def main():
    tap = Tap()
    for way in WAYS:
        for kind in KINDS:
            for fails in (False, True):
                name = f"{way[0]} {way[2]}: {kind[0]} after {'an error' if fails else 'a success'}"
                if way[0] not in PROGRAMS:
                    tap.skip(name, f"built without {way[0]}")
                    continue
                try:
                    tap.check(name, faults_of(way, kind, fails))
                except PermissionError:
                    tap.skip(name, "only root may make a device")
    tap.end()


if __name__ == "__main__":
    main()
