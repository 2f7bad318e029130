#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: every_level.py LIGHTNET [light | MODEL.onnx...]. Networks compute the same in every way there is to compute them.

Each network at each level of kernels (LIGHTNET_MAX_ISA) and with 1, 2 and 3 threads: `verify --reference` finds no tensor that
differs from the unoptimized program on plain C kernels, and the outputs are the same to the last bit for any number of
threads, those for which it was compiled or others. Where the CPU multiplies bfloat16, they compute the same so within a few percent, and the same bits
with any number of threads. The networks are those of small_networks.py, the digit network of examples/, and those of ../shared/models where that
is, without the large one if `light`; or the MODELs instead, such as large ones.
"""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from small_networks import NETWORKS
from tap import ROOT, Tap

LEVELS = {"x86_64": ["c", "avx2", "avx512", "avx512vnni"], "aarch64": ["c", "neon", "dotprod", "i8mm"]}.get(os.uname().machine, ["c"])
THREADS = [1, 2, 3]
BFLOAT16 = "avx512bf16"
# In bfloat16, of the largest element; the inputs are random. A network that was trained on photos makes small offsets of boxes of them.
TOLERANCE, TOLERANCES = "2e-2", {"RFB-320": "5e-2"}
MODELS = os.path.join(os.path.dirname(ROOT), "shared", "models")
# Where a network is available: the model and its further command-line arguments.
AT_HAND = {
    "digits": ["examples/digits/digits.json", "-f", "examples/digits/digits.safetensors"],
    "mnist": [f"{MODELS}/mnist/mnist.json", "-f", f"{MODELS}/mnist/mnist.safetensors"],
    "mnist-8": [f"{MODELS}/mnist/mnist-8.onnx"],
    "RFB-320": [f"{MODELS}/ultraface/RFB-320.onnx"],
}


LARGE = ["RFB-320"]


def networks(folder, models):
    """Pairs of a name and arguments for each network, written to `folder` where it is a small one."""
    light = models == ["light"]
    if models and not light:
        return [(os.path.basename(path), [path]) for path in models]
    found = [(name, args) for name, args in AT_HAND.items()
             if os.path.exists(os.path.join(ROOT, args[0])) and not (light and name in LARGE)]
    for name, function in NETWORKS.items():
        path = os.path.join(folder, f"{name}.onnx")
        with open(path, "wb") as file:
            file.write(function())
        found.append((name, [path]))
    return found


def call(lightnet, level, command, *args):
    return subprocess.run([lightnet, command, *args, "-w"], cwd=ROOT, env=dict(os.environ, LIGHTNET_MAX_ISA=level),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)


def failure(done):
    return [] if done.returncode == 0 else [f"exit status {done.returncode}", *(done.stdout + done.stderr).splitlines()[-5:]]


def verified(lightnet, level, args, threads, *options):
    return [f"{threads} threads: {line}" for line in
            failure(call(lightnet, level, "verify", "--reference", *args, "--threads", str(threads), "--seed", "5", *options))]


def inputs_of(folder, lightnet, args):
    """Files with random inputs for the network, of the types and shapes that `lightnet show` prints, in the network's order."""
    shown = call(lightnet, "c", "show", *args).stdout
    rng = np.random.default_rng(5)
    files = []
    for line in shown.splitlines():
        if not line.startswith("input "):
            continue
        kind, dims = line.split(" TL_", 1)[1].split(" ", 1)
        dims = [int(dim) for dim in dims.strip("[]").split(",") if dim.strip()]
        array = rng.integers(0, 50, dims) if kind == "INT64" else rng.random(dims, np.float32)
        files.append(os.path.join(folder, f"input_{len(files)}.npy"))
        np.save(files[-1], array)
    return [word for file in files for word in ("-i", file)]


def outputs_of(folder, lightnet, level, args, threads):
    """The bytes of all output files, by name; or the reasons why there are none, as lines."""
    out = tempfile.mkdtemp(dir=folder)
    done = call(lightnet, level, "run", *args, "-O", out, "--threads", str(threads))
    if done.returncode:
        return failure(done)
    written = {}
    for name in sorted(os.listdir(out)):
        with open(os.path.join(out, name), "rb") as file:
            written[name] = file.read()
    return written


def compiled(folder, lightnet, level, args, threads):
    """The arguments that select the network compiled for that many threads; or the lines of the failure."""
    model = os.path.join(folder, "compiled.json")
    done = call(lightnet, level, "compile", *args, "-o", model, "--threads", str(threads))
    if done.returncode:
        return None, failure(done)
    weights = model.replace(".json", ".safetensors")
    return [model, *(["-f", weights] if os.path.exists(weights) else args[1:])], []


def differing(folder, lightnet, level, args, inputs):
    program, faults = compiled(folder, lightnet, level, args, THREADS[1])
    if faults:
        return faults
    first, *others = (outputs_of(folder, lightnet, level, model + inputs, threads)
                      for model in (args, program) for threads in THREADS)
    if not isinstance(first, dict) or not first:
        return first or ["there is no output"]
    ways = [f"{how}{threads} threads" for how in ("", "compiled, ") for threads in THREADS]
    return [f"{way}: {', '.join(name for name in first if first[name] != other[name])} differs from that of one"
            if isinstance(other, dict) else f"{way}: {other}"
            for way, other in zip(ways[1:], others) if first != other]


def check(lightnet, name, args, level):
    """The faults of one network at one level: of its verification, of its threads."""
    with tempfile.TemporaryDirectory() as folder:
        faults = [fault for threads in THREADS for fault in verified(lightnet, level, args, threads)]
        return name, level, faults, differing(folder, lightnet, level, args, inputs_of(folder, lightnet, args))


def check_bfloat16(lightnet, name, args):
    """The same where bfloat16 is allowed."""
    rounded = [*args, "--precision", "bf16"]
    with tempfile.TemporaryDirectory() as folder:
        inputs = inputs_of(folder, lightnet, args)
        first, *others = (outputs_of(folder, lightnet, BFLOAT16, rounded + inputs, threads) for threads in THREADS)
        faults = verified(lightnet, BFLOAT16, rounded, THREADS[0], "--rtol", TOLERANCES.get(name, TOLERANCE))
        return name, faults, [f"{threads} threads: differs from that of one"
                              for threads, other in zip(THREADS[1:], others) if not isinstance(first, dict) or first != other]


def has_bfloat16(lightnet):
    return BFLOAT16 in call(lightnet, BFLOAT16, "--version").stdout


def main():
    lightnet = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="lightnet-networks-") as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check, lightnet, name, args, level)
                for name, args in networks(folder, sys.argv[2:]) for level in LEVELS]
        for name, level, faults, differences in (job.result() for job in jobs):
            tap.check(f"{name}: agrees with the reference program at level {level}", faults)
            tap.check(f"{name}: gives the same bits with any number of threads at level {level}", differences)
        jobs = [pool.submit(check_bfloat16, lightnet, name, args)
                for name, args in networks(folder, sys.argv[2:]) if has_bfloat16(lightnet)]
        for name, faults, differences in (job.result() for job in jobs):
            tap.check(f"{name}: agrees with the reference program in bfloat16", faults)
            tap.check(f"{name}: gives the same bits with any number of threads in bfloat16", differences)
    tap.end()


if __name__ == "__main__":
    main()
