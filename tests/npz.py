#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: npz.py LIGHTNET. Arrays that NumPy wrote are inputs, and NumPy reads the outputs bit for bit. Speaks TAP."""
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "structure"))
from tap import Tap  # noqa: E402

SHAPE = (3, 40)
LIGHTNET = os.path.abspath(sys.argv[1])


def create(name):
    return {"name": f"create_{name}", "optype": "create", "tensors_in": [], "tensors_out": [{"arg_name": "dst", "name": name}],
            "params": [{"arg_name": "dtype", "value": "TL_FLOAT"}, {"arg_name": "dims", "value": SHAPE},
                       {"arg_name": "data", "value": [0]}, {"arg_name": "ran", "value": [0, 0]},
                       {"arg_name": "from_file", "value": False}]}


def combine(name, how):
    return {"name": f"op_{name}", "optype": "elew",
            "tensors_in": [{"arg_name": "src1", "name": "a"}, {"arg_name": "src2", "name": "b/1"}],
            "tensors_out": [{"arg_name": "dst", "name": name}], "params": [{"arg_name": "elew_op", "value": how}]}


MODEL = {"inputs": ["a", "b/1"], "outputs": ["sum", "größte"],
         "ops": [create("a"), create("b/1"), combine("sum", "TL_SUM"), combine("größte", "TL_MAX")]}


def run_command(*args):
    done = subprocess.run([LIGHTNET, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stderr


def run(*args):
    return run_command("run", "model.json", *args)


def faults_of(arrays, status, err):
    """The faults of out.npz, which NumPy and Python's zipfile check, too."""
    if status:
        return [err]
    with zipfile.ZipFile("out.npz") as archive:
        damaged = archive.testzip()
    with np.load("out.npz") as outputs:
        got = {name: outputs[name] for name in outputs.files}
    a, b = (arrays[name].astype(np.float32) for name in ("a", "b/1"))
    expected = {"sum": a + b, "größte": np.maximum(a, b)}
    return ([f"damaged: {damaged}"] if damaged else []) + ([f"outputs {list(got)}"] if list(got) != list(expected) else []) + [
        f"{name} differs" for name in expected
        if got[name].dtype != np.float32 or got[name].tobytes() != expected[name].tobytes()]


class Stream:
    """A file that cannot go back: headers of members have no sizes."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()


def write_stream(path, arrays):
    with open(path, "wb") as file, zipfile.ZipFile(Stream(file), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(name + ".npy", "w") as member:
                np.lib.format.write_array(member, array)


def main():
    tap, random = Tap(), np.random.default_rng(1)
    arrays = {"a": random.standard_normal(SHAPE).astype(np.float32), "b/1": random.standard_normal(SHAPE).astype(np.float32)}
    forms = {
        "float32": arrays,
        "Fortran order": {name: np.asfortranarray(array) for name, array in arrays.items()},
        "float64, big-endian": {name: np.round(array * 8).astype(">f8") for name, array in arrays.items()},
        "int8": {name: np.round(array * 8).astype(np.int8) for name, array in arrays.items()},
    }
    with open("model.json", "w", encoding="utf-8") as file:
        json.dump(MODEL, file)
    for form, given in forms.items():
        for how, save in {"savez": np.savez, "savez_compressed": np.savez_compressed}.items():
            save("in.npz", **given)
            tap.check(f"{form} of {how} is read", faults_of(given, *run("-i", "in.npz", "-O", "out.npz")))
    write_stream("in.npz", arrays)
    tap.check("an archive written as a stream is read", faults_of(arrays, *run("-i", "in.npz", "-O", "out.npz")))

    np.savez_compressed("in.npz", other=arrays["b/1"], a=arrays["a"])
    np.savez("one.npz", arrays["a"])
    tap.check("arrays are given to inputs of other names",
              faults_of(arrays, *run("-i", "a=one.npz", "-i", "b/1=in.npz:other", "-O", "out.npz")))
    tap.check("an array of the input's name is preferred",
              faults_of(arrays, *run("-i", "a=in.npz", "-i", "b/1=in.npz:other", "-O", "out.npz")))
    np.save("b.npy", arrays["b/1"])
    tap.check("npz and npy files complete each other",
              faults_of(arrays, *run("-i", "b.npy", "-i", "a=in.npz", "-O", "out.npz")))

    status, err = run("-i", "a=one.npz", "-i", "b.npy", "-O", "folder")
    npy = [np.load(f"folder/output_{k}.npy").tobytes() for k in range(2)] if not status else err
    with np.load("out.npz") as outputs:
        npz = [outputs[name].tobytes() for name in outputs.files]
    tap.check("npz and npy outputs are equal", [] if npy == npz else [str(npy)[:200]])
    np.savez_compressed("large.npz", a=np.zeros(1 << 26, np.uint8))
    status, error = run_command("show", "model.json", "-i", "a=large.npz", "--max-memory", "16M")
    tap.check("the memory limit covers arrays of -i", [] if status == 1 and "memory" in error else [f"{status}: {error}"])
    # The rest of the archive is damaged, so that reading more than the header fails otherwise.
    with open("large.npz", "r+b") as file:
        file.seek(20_000)
        file.write(b"\xff" * 100)
    status, error = run("-i", "a=large.npz", "-i", "b/1=one.npz")
    tap.check("the shape of an array is compared before it is inflated",
              [] if status == 1 and "has shape [67108864], expected [3, 40]" in error else [f"{status}: {error}"])
    for name, expected in {"sparse.npy": "unknown data format", "sparse.bin": "1099511627776 bytes of data, expected 480"}.items():
        with open(name, "wb") as file:
            file.truncate(1 << 40)
        status, error = run("-i", f"a={name}", "-i", "b/1=one.npz")
        tap.check(f"a terabyte of zeros is not read: {name}", [] if status == 1 and expected in error else [f"{status}: {error}"])
    with open("sparse.npy", "r+b") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": SHAPE})
    status, error = run("-i", "a=sparse.npy", "-i", "b/1=one.npz")
    tap.check("nor one with the header of an array", [] if status == 1 and "expected 480" in error else [f"{status}: {error}"])
    with open("sparse.npy", "r+b") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<U1", "fortran_order": False, "shape": SHAPE})
    status, error = run("-i", "a=sparse.npy", "-i", "b/1=one.npz")
    tap.check("nor one with the header of strings", [] if status == 1 and "strings of 4 bytes" in error else [f"{status}: {error}"])
    status, error = run("--each", "/dev/zero")
    tap.check("a device is no list of files", [] if status == 1 and "this is a device" in error else [f"{status}: {error}"])
    tap.end()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        main()
