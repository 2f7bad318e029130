#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures this machine for docs/data: LightNet, and ONNX Runtime in turns with it.

usage: measure.py --machine docs/data/NAME.json [OPTION...] SECTION...

Writes each SECTION into the file, or beside it as NAME-SECTION.json if it is long; README.md describes them. SECTION=FILE takes
what another program has measured. Stop all other programs before.
"""
import argparse
import datetime
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx

from beside import Measuring, run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.expanduser("~/.cache/lightnet-bench")
VARIANTS = {"float32": "{zoo}/{name}.onnx", **{key: f"{{zoo}}/{key}/{{name}}_{key}.onnx" for key in ("fp16", "qdq", "dyn")}}
NETWORKS = ["squeezenet1.1", "mobilenet_v1", "mobilenet_v2", "shufflenet_v2", "resnet18", "resnet50", "vgg16", "yolov3_tiny",
            "efficientnet_b0", "vit_tiny", "minilm_l6"]
FORESTS = {"1000 trees of depth 8": [], "500 trees of depth 6": ["--trees", "500", "--depth", "6"],
           "300 trees of depth 8, 10 targets": ["--trees", "300", "--targets", "10"],
           "300 trees of depth 8, double": ["--trees", "300", "--double"],
           "100 uneven trees of up to 20 levels": ["--trees", "100", "--depth", "20", "--uneven"]}


def random_inputs(path):
    """An array for each input of the model: whole numbers below 1000, floats of a normal distribution; open sizes are 1."""
    graph = onnx.load(path, load_external_data=False).graph
    constants, rng = {tensor.name for tensor in graph.initializer}, np.random.default_rng(7)
    for value in graph.input:
        if value.name in constants:
            continue
        shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
        dtype = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[value.type.tensor_type.elem_type]
        values = rng.standard_normal(shape) if np.issubdtype(dtype, np.floating) else rng.integers(0, 1000, shape)
        yield values.astype(dtype)


def for_each_network(args, variant, measure):
    """{name: what `measure` returns} for the networks in the variant."""
    rows = {}
    for name in args.networks:
        path = VARIANTS[variant].format(zoo=args.zoo, name=name)
        with tempfile.TemporaryDirectory() as folder:
            rows[name] = measure(Measuring(args.lightnet, folder, path, list(random_inputs(path))))
        print(f"{variant} {name}: {json.dumps(rows[name])}", file=sys.stderr, flush=True)
    return rows


def beside(args, threads):
    def measure(model):
        error = model.error(threads)
        ours, theirs = model.times(threads, args.rounds, args.seconds)
        return {"lightnet_ms": ours, "ort_ms": theirs, "ratio_min": theirs / ours, "error": error}
    return measure


def networks(args):
    """Times of networks in all precisions, on one and two threads."""
    return {f"{variant}_{threads}": for_each_network(args, variant, beside(args, threads))
            for variant in VARIANTS for threads in (1, 2)}


def kinds_of(bench):
    """The share of the time of each kind of operators, and the percentage of the peak that they reach."""
    kinds = {}
    for op in bench["ops"]:
        name = op["optype"].removesuffix("_cpu")
        kinds.setdefault(f'{name}, {op["algorithm"]}' if op["algorithm"] != "-" else name, []).append(op)
    total = sum(op["ms"] for op in bench["ops"])
    rows = []
    for kind, ops in kinds.items():
        ms, macs = (sum(op[key] for op in ops) for key in ("ms", "macs"))
        rows.append({"kind": kind, "operators": len(ops), "percent": 100 * ms / total,
                     "peak_percent": 2e-6 * macs / ms / bench["peak_gflops"] * 100 if ms else 0})
    return sorted(rows, key=lambda row: -row["percent"])


def operators(args):
    """Shares of time, and the time of all multiply-accumulates at the peak, on one thread."""
    def measure(model):
        bench = model.bench(1, args.seconds, "--per-op")
        macs = sum(op["macs"] for op in bench["ops"])
        return {"peak_gflops": bench["peak_gflops"], "bound_ms": 2e-6 * macs / bench["peak_gflops"], "kinds": kinds_of(bench)}
    return for_each_network(args, "float32", measure)


def roofline(args):
    """resnet50, operator by operator."""
    path = VARIANTS["float32"].format(zoo=args.zoo, name="resnet50")
    with tempfile.TemporaryDirectory() as folder:
        bench = Measuring(args.lightnet, folder, path, list(random_inputs(path))).bench(1, 5 * args.seconds, "--per-op")
    return {**bench, "model": "resnet50.onnx"}


def bfloat16(args):
    """Times in both precisions in turns; the max difference of a tensor relative to its max element."""
    def measure(model):
        times = [[model.bench(1, args.seconds, *options)["min_ms"] for options in ([], ["--precision", "bf16"])]
                 for _ in range(args.rounds)]
        plain, bf16 = map(min, zip(*times))
        verify = json.loads(model.lightnet(1, "verify", "--reference", "--precision", "bf16", "--rtol", "10", "--atol", "1e9", "--json"))
        return {"float32_ms": plain, "bf16_ms": bf16, "ratio": plain / bf16,
                "difference_percent": 100 * verify["comparisons"][0]["max_relative_difference"]}
    return for_each_network(args, "float32", measure)


def loading(args):
    """From the start to the first output, on one thread; memory of the process and the bound of the plan."""
    def measure(model):
        runs = [model.bench(1, 0.1) for _ in range(args.rounds)]
        plan = json.loads(run([args.lightnet, "show", model.path, "--threads", "1", "--json"]))["memory"]
        return {"lightnet_ms": min(bench["load_ms"] for bench in runs), "peak_mb": min(bench["peak_kb"] for bench in runs) * 1.024e-3,
                "bound_mb": plan["lower_bound"] * 1e-6,
                "ort_ms": min(json.loads(model.ort(1, "load", "-"))["load_ms"] for _ in range(args.rounds))}
    return for_each_network(args, "float32", measure)


def sessions(args):
    """What sessions cost; `encoder` and `images` are models with open sizes."""
    program = os.path.join(args.build, "bench", "ln_session_bench")

    def bench(*words):
        return json.loads(run([program, *words], LIGHTNET_NUM_THREADS="1"))
    resnet18 = VARIANTS["float32"].format(zoo=args.zoo, name="resnet18")
    return {"call": bench("call"), "memory": bench("memory", resnet18), "threads": bench("threads", resnet18),
            "first_lengths": bench("first", args.encoder, "sequence=1..512"), "first_batches": bench("first", args.images, "batch=1..8"),
            "random_lengths": bench("random", args.encoder, "sequence=1..512")}


def trees(args):
    script = os.path.join(ROOT, "bench", "trees", "forest_bench.py")
    options = ["--lightnet", args.lightnet, "--ort", "--json", "--rounds", str(args.rounds), "--seconds", str(args.seconds)]
    return {name: json.loads(run(["/usr/bin/python3", script, *options, *forest])) for name, forest in FORESTS.items()}


def corners(args):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "bench", "corners", "corners.py"), "--lightnet", args.lightnet,
                        "--rounds", str(args.rounds), "--seconds", str(min(args.seconds, 0.2)), "--json", file.name],
                       check=False, stdout=sys.stderr)  # fails where results differ, which the file has
        return json.load(file)


def stripped(path):
    with tempfile.NamedTemporaryFile() as file:
        run(["strip", "-o", file.name, path])
        return os.path.getsize(file.name)


def libraries(args):
    """Bytes of the shared libraries, as built and stripped."""
    paths = {name: os.path.realpath(os.path.join(args.build, folder, f"{name}.so"))
             for folder, name in (("tensorlight", "libtensorlight"), ("lightnet", "liblightnet"))}
    pattern = os.path.join(os.environ["NODE_PATH"], "onnxruntime-node/bin/*/linux/x64/libonnxruntime.so*")
    theirs = next(iter(glob.glob(pattern)), None) or sys.exit(f"measure.py: {pattern}: no such file")
    return {**{name: {"bytes": os.path.getsize(path), "stripped": stripped(path)} for name, path in paths.items()},
            "libonnxruntime": {"stripped": stripped(theirs)}}


def kernels(args):
    """All kernels with all instruction sets, beside oneDNN where the build has it."""
    return json.loads(run([os.path.join(args.build, "bench", "kernels", "tl_bench"), "--json", "--seconds", "0.1"]))


# What other programs measure.
GIVEN = ["shapes_1", "shapes_2", "decoder"]

# The sections, and whether each has a file of its own.
SECTIONS = {"networks": (networks, False), "operators": (operators, False), "bfloat16": (bfloat16, False), "loading": (loading, False),
            "sessions": (sessions, False), "trees": (trees, False), "libraries": (libraries, False), "roofline": (roofline, True), "corners": (corners, True),
            "kernels": (kernels, True), "serving": (None, True)}


def rounded(value):
    """Five digits of each number: more are noise. JSON has no infinities: null."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    return value


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rounded(value), file, indent=1)
        file.write("\n")


def measure(args, text):
    name, _, given = text.partition("=")
    section, is_apart = SECTIONS.get(name, (None, False))
    if not section and not (given and (name in GIVEN or is_apart)):
        sys.exit(f"measure.py: unknown section {text}; known are {', '.join(SECTIONS)}, and {'=FILE, '.join(GIVEN)}=FILE")
    value = read(given) if given else section(args)
    if is_apart:
        write(args.machine.removesuffix(".json") + f"-{name}.json", value)
        return
    machine = read(args.machine) if os.path.exists(args.machine) else {}
    machine.update({name: value, "recorded": datetime.date.today().isoformat()})
    write(args.machine, machine)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", required=True, metavar="FILE")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder of the build (default build)")
    parser.add_argument("--zoo", default=os.path.join(CACHE, "zoo"), help="NAME.onnx of the networks, and VARIANT/NAME_VARIANT.onnx")
    parser.add_argument("--encoder", default=os.path.join(CACHE, "shapes", "bert.onnx"), help="a model with the open size `sequence`")
    parser.add_argument("--images", default=os.path.join(CACHE, "shapes", "resnet.onnx"), help="a model with the open size `batch`")
    parser.add_argument("--networks", type=lambda text: text.split(","), default=NETWORKS, metavar="NAME,...")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement (default 0.5)")
    parser.add_argument("sections", metavar="SECTION", nargs="+", help=", ".join(SECTIONS))
    args = parser.parse_args()
    args.lightnet = os.path.join(args.build, "cli", "lightnet")
    for text in args.sections:
        measure(args, text)


if __name__ == "__main__":
    main()
