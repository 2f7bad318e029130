# SPDX-License-Identifier: Apache-2.0
"""Tables of servers under load: each function takes the output of bench/serve/serve_bench.py."""
from load_chart import HALF
from markdown import table, three_digits

NODE = "ONNX Runtime in Node"


def both(words, ours, theirs):
    return [words(value) if value else "" for value in (ours, theirs)]


def serving_of(serving):
    rows = []
    for name, model in serving["models"].items():
        bench, within = model["bench"], model["within_budget"]
        rows += [[name, "requests/s of full load", *both(three_digits, bench["lightnet_per_second"], bench["node_per_second"])],
                 ["", f"rows/s of `bench`, batches of {serving['batch']}", three_digits(bench["rows_per_second"]), ""],
                 ["", f"requests/s with a 99th percentile of {three_digits(model['budget_ms'])} ms",
                  *both(three_digits, within["lightnet"], within["node"])],
                 ["", "ms at half of the full load: median, 99th percentile", *half_of(model)],
                 ["", "the same, requests at equal intervals", percentiles(model["even"]), ""],
                 ["", "a run by `bench`, ms", three_digits(bench["run_ms"]), ""]]
    return table(["model", "", "`lightnet serve`", NODE], rows)


def percentiles(row):
    return ", ".join(three_digits(row[key]) for key in ("p50_ms", "p99_ms"))


def half_of(model):
    """The Node server may have less than this rate."""
    return [percentiles(rows[HALF]) if len(rows) > HALF else "" for rows in (model["rates"]["lightnet"], model["rates"]["node"])]


def overload_of(serving):
    """What three times the full load gives, in each round."""
    rows = [[name, f"{row['offered']:.0f}", f"{row['per_second']:.0f}", f"{row['rejected']:.0f}", f"{row['failed']:.0f}", three_digits(row["p99_ms"]), f"{row['memory_mb']:.0f}"]
            for name, model in serving["models"].items() for row in model["overload"]]
    return table(["model", "requests/s", "answered/s", "rejected", "failed", "99th percentile, ms", "memory, MB"], rows)
