#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the files of the digit example in every way that files break, and runs LightNet on them. Speaks TAP.

usage: mutate.py LIGHTNET [SEED [SECONDS]]

A run may succeed, or fail with status 1 and one line with the reason; it never crashes, hangs, or fails in silence. Under
the sanitizers, it accesses no memory out of bounds, and leaks nothing. Every kind of file has the same share of SECONDS,
20 by default. Failing files are kept, and named with the seed, in the folder TMPDIR.

The readers alone, within one process, are given far more by the replayed fuzz targets (`fuzz NAME --broken`).
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

DIGITS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples", "digits")
MODEL, WEIGHTS, IMAGE = (os.path.join(DIGITS, name) for name in ("digits.json", "digits.safetensors", "seven.pgm"))
MOST_RUNS, FEWEST_RUNS = 25, 10
TIMEOUT = 60
NASTY = [b"\0", b"\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\xff" * 8, b"-1", b"99999999999", b"{", b"]", b'"', b"nan"]


def run(args, **kwargs):
    return subprocess.run([LIGHTNET, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, **kwargs)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def sources(folder):
    """Name, bytes to break, and the arguments that make LightNet read the broken file."""
    def path(name):
        return os.path.join(folder, name)
    compiled, one_file, npy = path("compiled.json"), path("compiled.safetensors"), path("input.npy")
    run(["-c", "-o", compiled, MODEL], check=True)
    run(["compile", "-o", one_file, MODEL, "-f", WEIGHTS], check=True)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 28, 28), }"
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    write(npy, b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + bytes(4 * 28 * 28))
    npz, deflated = path("input.npz"), path("deflated.npz")
    for file, how in ((npz, zipfile.ZIP_STORED), (deflated, zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(file, "w", how) as archive:
            archive.write(npy, "image.npy")
    # An archive is recognized by its name.
    renamed = path("broken.npz")
    wts = path("weights.wts")
    write(wts, b"2\nconv1_weight 0 4 3f800000 0 ff800000 7fc00000\nx 2 3 ff 1 7f\n")
    return [
        ("model", read(MODEL), lambda file: ["run", file, "-f", WEIGHTS, "-i", IMAGE]),
        ("compiled model", read(compiled), lambda file: ["run", "-r", file, "-f", WEIGHTS, "-i", IMAGE]),
        ("compiled model with its weights", read(one_file), lambda file: ["run", file, "-i", IMAGE]),
        ("safetensors", read(WEIGHTS), lambda file: ["run", MODEL, "-f", file, "-i", IMAGE]),
        ("wts", read(wts), lambda file: ["run", MODEL, "-f", file, "-i", IMAGE]),
        ("npy", read(npy), lambda file: ["run", MODEL, "-f", WEIGHTS, "-i", file]),
        ("npz", read(npz), lambda file: ["run", MODEL, "-f", WEIGHTS, "-i", shutil.copy(file, renamed)]),
        ("compressed npz", read(deflated), lambda file: ["run", MODEL, "-f", WEIGHTS, "-i", shutil.copy(file, renamed)]),
        ("pgm", read(IMAGE), lambda file: ["run", MODEL, "-f", WEIGHTS, "-i", file]),
        ("png", read(os.path.join(DIGITS, "seven.png")), lambda file: ["run", MODEL, "-f", WEIGHTS, "-i", file]),
    ]


def somewhere(rnd, data):
    """A place in the data, as often in its head, where the structure is."""
    return rnd.randrange(len(data) if rnd.random() < 0.5 else min(len(data), 2000))


def mutate(rnd, data):
    data, at = bytearray(data), somewhere(rnd, data)
    how = rnd.randrange(6)
    if how == 0:
        del data[at:]
    elif how == 1:
        data[at] ^= 1 << rnd.randrange(8)
    elif how == 2:
        data[at:at + rnd.randrange(1, 9)] = rnd.choice(NASTY)
    elif how == 3:
        data[at:at] = data[at:at + rnd.randrange(1, 200)]
    elif how == 4:
        del data[at:at + rnd.randrange(1, 200)]
    else:
        # A number becomes another one.
        digits = [i for i in range(at, min(at + 500, len(data))) if chr(data[i]).isdigit()]
        for i in digits[:1]:
            data[i:i + 1] = rnd.choice([b"0", b"9", b"-", b"99999", b"65536", b"2147483648", b"0.5"])
    return bytes(data)


def problem(args):
    try:
        result = run(args)
    except subprocess.TimeoutExpired:
        return f"has not ended after {TIMEOUT} s"
    lines = [line for line in result.stderr.decode("utf-8", "replace").splitlines()
             if "WARNING: AddressSanitizer failed to allocate" not in line]
    errors = [line for line in lines if line.startswith("lightnet: error: ")]
    if result.returncode == 0 and not errors:
        return None
    if result.returncode == 1 and len(errors) == 1 and all(line.startswith(("warning: ", "info: ")) for line in lines
                                                           if line not in errors):
        return None
    return "\n".join([f"status {result.returncode}", *lines[:40]])


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 20
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        kinds = sources(folder)
        print(f"1..{len(kinds)}")
        for number, (name, data, args) in enumerate(kinds, 1):
            rnd, found, n, end = random.Random(seed), None, 0, time.monotonic() + seconds / len(kinds)
            broken = os.path.join(folder, "broken")
            while not found and n < MOST_RUNS and (n < FEWEST_RUNS or time.monotonic() < end):
                n += 1
                found = problem(args(write(broken, mutate(rnd, data))))
            print(f"{'not ok' if found else 'ok'} {number} - broken {name}, {n} times, seed {seed}", flush=True)
            if found:
                failed = 1
                kept = os.path.join(tempfile.gettempdir(), f"lightnet-mutate-{name.replace(' ', '-')}-{seed}-{n}")
                print("# kept as", write(kept, read(broken)), *(f"\n# {line}" for line in found.splitlines()))
    return failed


if __name__ == "__main__":
    LIGHTNET = os.path.abspath(sys.argv[1])
    os.environ.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1")
    sys.exit(main())
