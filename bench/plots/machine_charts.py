# SPDX-License-Identifier: Apache-2.0
"""The charts of a machine, from its file of measurements.

`networks`: speed relative to ONNX Runtime. `decoder`: tokens per second of a language model in
several runtimes. `batch_32`: speed on a GPU relative to the vendor's kernels.
"""
import math
import os

from bar_panels import Chart, Panel, draw

# The name in files and in the chart, and the tolerance: the max error relative to the max output.
PRECISIONS = [("float32", "float32", 1e-3), ("fp16", "float16", 5e-2),
              ("qdq", "8 bits, static (QDQ)", 0.2), ("dyn", "8 bits, dynamic", 0.2)]
MEAN = "geometric mean"
THREADS = [(1, "1 thread", "blue"), (2, "2 threads", "orange")]
RUNTIMES = [("LightNet", "blue"), ("ONNX Runtime", "orange"), ("llama.cpp", "green")]
GPU_PRECISIONS = [("float32", "float32"), ("tf32", "TF32"), ("fp16", "float16")]


def ratio_of(row, tolerance):
    """The speed relative to ONNX Runtime, None where there is no correct result."""
    error = row.get("error", 0) if row else None
    return row["ratio_min"] if error is not None and error < tolerance else None


def ratios_of(networks, precision, threads):
    """{network: ratio or None} of a precision; None if it was not measured."""
    rows = networks.get(f"{precision}_{threads}")
    tolerance = next(t for key, _, t in PRECISIONS if key == precision)
    return rows and {network: ratio_of(row, tolerance) for network, row in rows.items()}


def mean(ratios):
    """The geometric mean of the correct results, None if there are none."""
    logs = [math.log(ratio) for ratio in ratios.values() if ratio]
    return math.exp(sum(logs) / len(logs)) if logs else None


def words(ratio):
    return f"{ratio:.2f}" if ratio else "failed"


def precisions_of(networks):
    """The precisions that were measured: key, title, a column for each number of threads."""
    for key, title, _ in PRECISIONS:
        columns = [ratios_of(networks, key, n) for n, _, _ in THREADS]
        if any(columns):
            yield key, title, columns


def description_of_means(measured):
    for _, title, columns in measured:
        means = [f"{words(mean(column))} with {threads}"
                 for column, (_, threads, _) in zip(columns, THREADS) if column]
        yield f"{title}: {', '.join(means)}"


def networks_chart(machine):
    measured = list(precisions_of(machine["networks"]))
    names = [*dict.fromkeys(network for _, _, columns in measured for column in columns if column
                            for network in column), MEAN]
    panels = [Panel(title, [column and {**dict.fromkeys(names), **column, MEAN: mean(column)}
                            for column in columns]) for _, title, columns in measured]
    ort = machine["versions"]["ONNX Runtime"]
    desc = (f"Bars: the minimum time of ONNX Runtime {ort} divided by that of LightNet, "
            f"for each network, on {machine['processor']}. "
            f"Geometric means: {'; '.join(description_of_means(measured))}.")
    return draw(Chart(
        "Speed of LightNet relative to ONNX Runtime", "Speed relative to ONNX Runtime",
        [f"Minimum time of ONNX Runtime {ort} divided by that of LightNet: "
         "above 1.0 LightNet is faster.", machine["processor"]], desc,
        [(threads, color) for _, threads, color in THREADS], panels, names, words,
        reference=1, summary=MEAN))


def title_of(threads):
    """As in "2 threads"."""
    return next((title for n, title, _ in THREADS if n == threads), f"{threads} threads")


def decoder_chart(machine):
    parts = list(dict.fromkeys((row["prompt"], row["phase"]) for row in machine["decoder"]))
    panels = []
    for prompt, phase in parts:
        rows = [row for row in machine["decoder"]
                if (row["prompt"], row["phase"]) == (prompt, phase)]
        title = f"prompt of {prompt} tokens" if phase == "prompt" else f"steps after {prompt}"
        panels.append(Panel(title, [{title_of(row["threads"]): row[name] for row in rows}
                                    for name, _ in RUNTIMES]))
    versions = machine["versions"]
    return draw(Chart(
        "Tokens per second of a language model with weights of 4 bits",
        "Tokens per second, weights of 4 bits",
        ["A decoder of 246 million weights in blocks of 32. Longer bars are faster.",
         f"{machine['processor']}; ONNX Runtime {versions['ONNX Runtime']}, "
         f"llama.cpp {versions['llama.cpp']}"],
        "; ".join(f"{panel.title}, {row}: " + ", ".join(
            f"{name} {column[row]:g}" for (name, _), column in zip(RUNTIMES, panel.columns))
                  for panel in panels for row in panel.columns[0]) + " tokens per second.",
        RUNTIMES, panels, list(dict.fromkeys(title_of(row["threads"]) for row in machine["decoder"])), "{:g}".format,
        has_one_scale=False))


def gpu_chart(machine):
    rows = machine["batch_32"]
    panels = [Panel(title, [{network: 1 / row[key]["ratio"] if "ratio" in row[key] else None
                             for network, row in rows.items()}]) for key, title in GPU_PRECISIONS]
    return draw(Chart(
        "Speed of LightNet on a GPU relative to the vendor's kernels",
        "Speed on a GPU relative to the vendor's kernels alone",
        ["Time of the fastest cuDNN and cuBLASLt kernels for convolutions and products, divided "
         "by that of the", f"complete network in LightNet. 32 images, {machine['processor']}. "
         "-: not measured"],
        "; ".join(f"{panel.title}: " + ", ".join(
            f"{network} {words(value)}" for network, value in panel.columns[0].items() if value)
                  for panel in panels) + ".",
        [("LightNet", "blue")], panels, list(rows), words, missing="-", reference=1))


# The parts of a machine's file, and their charts.
CHARTS = {"networks": networks_chart, "decoder": decoder_chart, "batch_32": gpu_chart}


def charts(name, machine, folder):
    """{file name: page} for each part."""
    parts = [part for part in CHARTS if part in machine]
    if not parts:
        raise ValueError(f"{os.path.join(folder, name)}.json: no measurements; expected one of the fields {', '.join(CHARTS)}")
    return {f"{name}-{part}.svg": CHARTS[part](machine) for part in parts}
