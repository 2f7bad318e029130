# SPDX-License-Identifier: Apache-2.0
"""Tables of whole networks: each function takes the content of a machine's file, and returns a table in Markdown."""
from machine_charts import GPU_PRECISIONS, PRECISIONS, mean, precisions_of, ratios_of
from markdown import exponent, table, tenths, three_digits


def bold_mean(machine, precision, threads):
    return f"**{mean(ratios_of(machine['networks'], precision, threads)):.2f}**"


FAILED = "failed"


def ratio_words(machine, precision, threads, network):
    """As in the charts."""
    ratio = ratios_of(machine["networks"], precision, threads).get(network)
    return f"{ratio:.2f}" if ratio else FAILED


def time_words(machine, precision, threads, network, words):
    row = machine["networks"][f"{precision}_{threads}"].get(network)
    return words(row["lightnet_ms"]) if row else ""


def float32_of(machine):
    """Beside the time that the multiply-accumulates of the direct algorithm take at the peak."""
    def of(name, threads):
        return [time_words(machine, "float32", threads, name, three_digits), ratio_words(machine, "float32", threads, name)]

    def error(row):
        return exponent(row["error"]) if row and row["error"] is not None else FAILED
    rows = [[name, *of(name, 1), three_digits(machine["operators"][name]["bound_ms"]), *of(name, 2), error(row)]
            for name, row in machine["networks"]["float32_1"].items()]
    means = [bold_mean(machine, "float32", n) for n in (1, 2)]
    return table(["network", "ms, 1 thread", "ratio", "bound, ms", "ms, 2 threads", "ratio",
                  "max error"], [*rows, ["geometric mean", "", means[0], "", "", means[1], ""]])


def precisions_table(machine):
    """Times with one thread, ratios with one and two."""
    keys = [key for key, _, _ in PRECISIONS]
    titles = ["float32", "fp16", "static", "dynamic"]
    rows = [[name, *(cell for key in keys for cell in (
        time_words(machine, key, 1, name, tenths), ", ".join(ratio_words(machine, key, n, name) for n in (1, 2))))]
        for name in dict.fromkeys(name for column in machine["networks"].values() for name in column)]
    means = [cell for key in keys for cell in (
        "", "**" + ", ".join(bold_mean(machine, key, n).strip("*") for n in (1, 2)) + "**")]
    return table(["network", *(cell for title in titles for cell in (f"{title}, ms", "ratios"))],
                 [*rows, ["geometric mean", *means]])


def bfloat16_of(machine):
    return table(["network", "float32, ms", "bf16, ms", "ratio", "max difference"],
                 [[name, three_digits(row["float32_ms"]), three_digits(row["bf16_ms"]), f"{row['ratio']:.2f}",
                   f"{row['difference_percent']:.1g} %"]
                  for name, row in machine["bfloat16"].items()])


def kind_of(kind):
    peak = f" at {kind['peak_percent']:.0f} % of the peak" if kind["peak_percent"] >= 1 else ""
    return f"`{kind['kind']}`: {kind['percent']:.0f} %{peak}"


def operators_of(machine):
    """The kinds of operators that take most of the time."""
    return table(["network", "share of the time"],
                 [[name, ", ".join(kind_of(kind) for kind in row["kinds"][:4] if kind["percent"] >= 3)]
                  for name, row in machine["operators"].items()])


def loading_of(machine):
    return table(["network", "load, ms", "ONNX Runtime, ms", "peak, MB", "bound, MB"],
                 [[name, three_digits(row["lightnet_ms"]), three_digits(row["ort_ms"]), f"{row['peak_mb']:.1f}",
                   f"{row['bound_mb']:.1f}"] for name, row in machine["loading"].items()])


SHAPES = {"bert_random": "encoder of 6 layers, 500 sentences of 1 to 512 tokens",
          "bert_few": "the same, 300 batches of 1, 2, 4, 8 times 32, 64, 128 tokens",
          "decoder": "decoder of 6 layers, a prompt of 16 tokens and 256 steps",
          "resnet_batch": "resnet18, 60 batches of 1 to 8"}


def shapes_of(machine):
    one, two = machine["shapes_1"], machine["shapes_2"]
    rows = [[title, *(cell for runs in (one, two) for cell in (
        three_digits(runs[name]["lightnet_ms"] * 1e-3), f"{runs[name]['ratio']:.2f}")),
        f"{one[name]['lightnet_mb']:.0f}", f"{one[name]['ort_mb']:.0f}"] for name, title in SHAPES.items()]
    return table(["runs", "s, 1 thread", "ratio", "s, 2 threads", "ratio", "peak, MB", "ONNX Runtime, MB"], rows)


def sessions_of(machine):
    s = machine["sessions"]
    lengths, batches, often = s["first_lengths"], s["first_batches"], s["random_lengths"]
    rows = [["set an input, run, get the output: one operator", f"{s['call']['call_us']:.2f} us"],
            [f"{s['memory']['sessions']} sessions of resnet18, beyond one of {s['memory']['one_mb']:.0f} MB",
             f"{s['memory']['more_mb']:.0f} MB"],
            ["runs of two sessions in two threads, relative to one", f"{s['threads']['best_pair_ratio']:.2f}"],
            ["a new length of the encoder, beyond a run: median, max",
             f"{lengths['more_ms']['median']:.1f}, {lengths['more_ms']['max']:.0f} ms"],
            ["a new batch size of resnet18, beyond a run: median, max",
             f"{batches['more_ms']['median']:.1f}, {batches['more_ms']['max']:.0f} ms"],
            [f"resident memory: after {often['settled_after']} runs of the encoder with random lengths, max of {often['runs']:,}",
             f"{often['settled_mb']:.0f}, {often['max_mb']:.0f} MB"]]
    return table(["cost of", ""], rows)


def decoder_of(machine):
    rows = []
    for row in machine["decoder"]:
        is_prompt = row["phase"] == "prompt"
        title = f"prompt of {row['prompt']} tokens" if is_prompt else "steps after it"
        rows.append([title if row["threads"] == 1 else "", str(row["threads"]),
                     *(f"{row[name]:g}" for name in ("LightNet", "ONNX Runtime", "llama.cpp"))])
    ort = f"ONNX Runtime {machine['versions']['ONNX Runtime']}"
    return table(["", "threads", "LightNet", ort, "llama.cpp"], rows)


def trees_of(machine):
    return table(["forest, 50 features", "rows", "ms, 1 thread", "ratio", "ms, 2 threads", "ratio"],
                 [[title if i == 0 else "", str(one["rows"]),
                   *(cell for row in (one, two) for cell in (three_digits(row["lightnet_ms"]), three_digits(row["ratio_min"])))]
                  for title, rows in machine["trees"].items()
                  for i, (one, two) in enumerate(zip(rows[::2], rows[1::2]))])


def four_digits(value):
    return f"{value:.3f}" if value < 10 else f"{value:.2f}"


def beside_floor(row):
    """The time, the floor and their ratio, as far as they were measured."""
    if "floor_ms" not in row:
        return [four_digits(row["ms"]), "", ""]
    return [four_digits(row["ms"]), four_digits(row["floor_ms"]), f"{row['ratio']:.2f}"]


def batch_of(machine):
    head = [cell for title in ("float32", "TF32", "fp16") for cell in (title, "floor", "ratio")]
    rows = [[name, *(cell for key, _ in GPU_PRECISIONS for cell in beside_floor(row[key]))]
            for name, row in machine["batch_32"].items()]
    return table(["network", *head], rows)


def single_of(machine):
    return table(["network", "float32", "TF32", "fp16"],
                 [[name, *(f"{row[key]:.3f}" for key, _ in GPU_PRECISIONS)]
                  for name, row in machine["batch_1"].items()])


def summary_of(machines):
    """Geometric means of the ratios over the networks, of each machine with networks."""
    rows = [[machine["processor"], title,
             *(f"{mean(column):.2f}" if column else "" for column in columns)]
            for machine in machines.values()
            for _, title, columns in precisions_of(machine.get("networks", {}))]
    return table(["processor", "precision", "1 thread", "2 threads"], rows)


def machines_table(machines):
    return table(["machine", "processor", "recorded", "method", "compared with"],
                 [[machine["name"], machine["processor"], machine["recorded"], machine["method"],
                   ", ".join(f"{name} {number}" for name, number in machine["versions"].items())]
                  for machine in machines.values()])
