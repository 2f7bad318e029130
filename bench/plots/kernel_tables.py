# SPDX-License-Identifier: Apache-2.0
"""Tables of single kernels and operators: what `tl_bench --json`, `corners.py --json` and `matmul_errors` have measured.

Each function takes the content of a file, and returns a table in Markdown."""
import math
import re

from markdown import table, tenths, three_digits

SETS = {"c": "plain C", "avx2": "AVX2", "avxvnni": "AVX-VNNI", "avx512": "AVX-512", "avx512vnni": "AVX-512 VNNI",
        "avx512bf16": "AVX512-BF16", "onednn": "oneDNN"}


def peaks_of(kernels):
    """Of one thread: the rates of all instruction sets, and the bandwidth of a copy."""
    rows = [[f"{title}, {unit}", ", ".join(f"{SETS[isa]} {tenths(rate)}" for isa, rate in kernels["peaks"][numbers].items()
                                          if isa in SETS)]
            for numbers, title, unit in (("float32", "float32", "GFLOP/s"), ("bytes", "8-bit dot products", "GOP/s"),
                                         ("bfloat16", "bfloat16", "GFLOP/s"))]
    return table(["peak of one thread", ""], [*rows, ["copy, GB/s", tenths(kernels["copy_gbs"])]])


def rows_of(kernels, kernel, shape=""):
    """{shape: row} of the kernels with this name, on shapes that match."""
    return {row["shape"]: row for row in kernels["rows"] if row["kernel"] == kernel and re.match(shape, row["shape"])}


def words_of(shape):
    """`conv 3x3/1 64->128 56` in words: `3x3, 64 to 128, 56x56`."""
    match = re.fullmatch(r"(?:conv|grouped|deconv) (\d+x\d+)/(\d+) (\d+)->(\d+) (\d+)(?: g(\d+))?", shape)
    if not match:
        return shape
    window, stride, source, result, extent, groups = match.groups()
    words = f"{window}{'' if stride == '1' else '/' + stride}, {source} to {result}, {extent}x{extent}"
    return words + (f", {groups} groups" if groups else "")


def cell(row, isa):
    return tenths(row[isa]) if row and row.get(isa) else ""


def winograd_of(kernels):
    """Of the fastest tile, with AVX-512."""
    ways = ["blocked_conv2d", "winograd 2x2", "winograd 4x4", "winograd 6x6"]
    by_way = [rows_of(kernels, way, "conv 3x3/1") for way in ways]
    return table(["3x3", "direct", "2x2", "4x4", "6x6"],
                 [[words_of(shape).removeprefix("3x3, "), *(cell(rows.get(shape), "avx512") for rows in by_way)]
                  for shape in by_way[1]])


def convolutions_of(kernels):
    """Direct convolutions of floats and of bfloat16, and their percentage of the peaks."""
    floats, pairs = (rows_of(kernels, kernel, "conv") for kernel in ("blocked_conv2d", "blocked_conv2d, bfloat16"))
    peaks = [kernels["peaks"]["float32"]["avx512"], kernels["peaks"]["bfloat16"]["avx512bf16"]]

    def cells(row, isa, peak):
        return [cell(row, isa), f"{100 * row[isa] / peak:.0f} %"] if row else ["", ""]
    return table(["", "float32", "of the peak", "bfloat16", "of the peak"],
                 [[words_of(shape), *cells(floats.get(shape), "avx512", peaks[0]), *cells(pairs[shape], "avx512bf16", peaks[1])]
                  for shape in pairs])


def groups_of(kernels):
    rows = []
    for plain, blocked, shapes in (("conv2d", "blocked_conv2d", "grouped"), ("deconv2d", "blocked_deconv2d", "deconv")):
        first, second = rows_of(kernels, plain, shapes), rows_of(kernels, blocked, shapes)
        rows += [[("transposed " if shapes == "deconv" else "") + words_of(shape), cell(row, "c"), cell(second.get(shape), "avx512"),
                  cell(row, "onednn") or cell(second.get(shape), "onednn")] for shape, row in first.items()]
    return table(["", "plain C", "blocked, AVX-512", "oneDNN"], rows)


def products_of(kernels):
    ways = ["matmul", "matmul, 1st transposed", "matmul, 2nd packed", "matmul, bfloat16"]
    by_way = [rows_of(kernels, way, "gemm") for way in ways]
    return table(["m x n x k", "plain C", "unpacked", "1st transposed", "packed", "oneDNN", "bfloat16, packed"],
                 [[shape.removeprefix("gemm ").replace("x", " x "), cell(row, "c"),
                   *(cell(rows.get(shape), "avx512") for rows in by_way[:3]), cell(row, "onednn"),
                   cell(by_way[3].get(shape), "avx512bf16")] for shape, row in by_way[0].items()])


def bytes_of(kernels):
    """8-bit products and convolutions; for AVX2 also Winograd's algorithm."""
    rows = []
    winograd = rows_of(kernels, "quantized winograd 4x4")
    for kernel in ("quantized_matmul", "quantized_conv2d"):
        rows += [[shape.replace("gemm ", "matmul "), cell(row, "avx2"), cell(winograd.get(shape), "avx2"), cell(row, "avxvnni"),
                  cell(row, "avx512vnni"), cell(row, "onednn")] for shape, row in rows_of(kernels, kernel).items()]
    return table(["", "AVX2", "AVX2, Winograd", "AVX-VNNI", "AVX-512 VNNI", "oneDNN"],
                 [[words_of(row[0]), *row[1:]] for row in rows])


def bits_of(kernels):
    sets = ["avx2", "avxvnni", "avx512vnni"]
    rows = []
    for shape, row in rows_of(kernels, "lowbit_matmul").items():
        bits, source, sizes = re.fullmatch(r"(\d) bits (\w+) (.*)", shape).groups()
        rows.append([bits, "bytes" if source == "INT8" else "floats", sizes.replace("x", " x ").replace("/", " / "), row["unit"],
                     *(cell(row, isa) for isa in sets)])
    return table(["bits", "source", "rows x columns x k / block", "unit", *(SETS[isa] for isa in sets)], rows)


def chains_of(one):
    ways = [rows_of(one, way, "6 steps") for way in ("step by step", "chain")]
    return table(["floats", "steps", "chain"],
                 [[shape.removeprefix("6 steps "), *(cell(rows[shape], "avx512") for rows in ways)] for shape in ways[0]])


def errors_of(rows):
    ways = ["floats", "three_parts", "two_parts"]
    return table(["factors", "k", *(f"{way.replace('_', ' ')}: {name}" for way in ways for name in ("max", "RMS"))],
                 [[row["factors"], str(row["k"]), *(f"{row[way][key]:.{digits}f}" for way in ways
                                                    for key, digits in (("max", 2), ("rms", 3)))] for row in rows])


# Single operators beside ONNX Runtime

def recurrent_of(corners):
    """50 steps: ms, and those of ONNX Runtime in parentheses."""
    def time(kind, batch, size):
        row = corners[f"{kind} 50 steps, batch {batch}, {size} -> {size} forward"]
        return f"{three_digits(row['best']['lightnet_ms'])} ({three_digits(row['ort_ms'])})"
    columns = [(kind, batch) for kind in ("LSTM", "GRU") for batch in (1, 8)]
    return table(["hidden size", *(f"{kind}, batch {batch}" for kind, batch in columns)],
                 [[str(size), *(time(kind, batch, size) for kind, batch in columns)] for size in (64, 128, 256, 512)])


def mean_ratio(rows):
    return math.exp(sum(math.log(row["best"]["ratio"]) for row in rows) / len(rows))


def corners_of(corners, fewest=4):
    """A row for each first word of the names, and the slowest case."""
    kinds = {}
    for name in corners:
        kinds.setdefault(name.split()[0], []).append(name)
    others = [name for names in kinds.values() if len(names) < fewest for name in names]
    kinds = {**{kind: names for kind, names in kinds.items() if len(names) >= fewest}, "others": others}
    rows = []
    for kind, names in kinds.items():
        low = min(names, key=lambda name: corners[name]["best"]["ratio"])
        slower = sum(corners[name]["best"]["ratio"] < 1 for name in names)
        rows.append([kind, str(len(names)), f"{mean_ratio([corners[name] for name in names]):.2f}", str(slower or ""),
                     f"{corners[low]['best']['ratio']:.2f}: {low}"])
    return table(["kind", "cases", "ratio", "slower", "lowest"], rows)


def corners_summary_of(corners):
    ratios = [row["best"]["ratio"] for row in corners.values()]
    return table(["cases", "ratio, geometric mean", "slower than ONNX Runtime", "slower than half of its speed"],
                 [[str(len(ratios)), f"{mean_ratio(list(corners.values())):.2f}", str(sum(ratio < 1 for ratio in ratios)),
                   str(sum(ratio < 0.5 for ratio in ratios))]])


# Sizes

LIBRARIES = {"libtensorlight": "`libtensorlight.so`: all kernels, for all instruction sets",
             "liblightnet": "`liblightnet.so`: operators, rules, ONNX, data files, memory plan",
             "libonnxruntime": "ONNX Runtime, `libonnxruntime.so`, for comparison"}


def libraries_of(machine):
    def count(value):
        return f"{value:,}".replace(",", " ") if value else ""
    return table(["library, x86-64", "bytes", "stripped"],
                 [[title, count(machine["libraries"][name].get("bytes")), count(machine["libraries"][name]["stripped"])]
                  for name, title in LIBRARIES.items()])
