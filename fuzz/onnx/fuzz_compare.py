# SPDX-License-Identifier: Apache-2.0
"""Compares what two engines return for a model, and looks for differences in the table of explained ones, explained.json.

A row of the table:
    operators   names of operators, one of which is in the model, or ["*"]
    kinds       of KINDS
    when        a Python expression of the names of Facts, or absent
    who         who is right: "LightNet", "ONNX Runtime", "both" (the standard does not decide), or "limit" (of LightNet,
                documented)
    reason      what differs
    source      where this is stated
"""
import json
import os
import re

import numpy as np
from onnx import helper

from engines import Crash

HERE = os.path.dirname(os.path.abspath(__file__))
AGREE, REFUSED, ONLY_LIGHTNET, ONLY_RUNTIME = "agree", "both refuse", "only LightNet runs it", "only ONNX Runtime runs it"
VALUES, SHAPES, TYPES, CRASH, CRASH_RUNTIME = "values", "shapes", "types", "LightNet crashes", "ONNX Runtime crashes"
KINDS = {VALUES, SHAPES, TYPES, CRASH_RUNTIME, ONLY_LIGHTNET, ONLY_RUNTIME}

# Relative error, and absolute error as a part of the largest finite result, by type.
TOLERANCES = {"float32": (1e-4, 2e-5), "float64": (1e-7, 1e-9), "float16": (4e-3, 2e-3), "bfloat16": (2e-2, 1e-2)}
# Operators whose kernels approximate, or sum in another order: (relative, part of the largest result).
LOOSER = {"Attention": (2e-3, 2e-4), "QuickGelu": (5e-4, 5e-5), "FastGelu": (5e-4, 5e-5), "GroupQueryAttention": (2e-3, 2e-4)}


def tolerance(case, dtype):
    kind = "bfloat16" if "bfloat16" in case.narrow.values() else "float16" if any(
        array.dtype == np.float16 for array in case.arrays.values()) and dtype != "float64" else dtype
    rows = [TOLERANCES[kind]] + [LOOSER[node.op_type] for node in case.nodes if node.op_type in LOOSER]
    return max(row[0] for row in rows), max(row[1] for row in rows)


class Difference:
    def __init__(self, kind, text, got=None, want=None):
        self.kind, self.text, self.got, self.want = kind, text, got, want


def difference(case, ours, theirs):
    """A Difference; its kind may be AGREE or REFUSED."""
    if isinstance(ours, Crash):
        return Difference(CRASH, ours)
    if isinstance(theirs, Crash):
        return Difference(CRASH_RUNTIME, theirs)
    if isinstance(ours, str) or isinstance(theirs, str):
        kind = REFUSED if isinstance(ours, str) and isinstance(theirs, str) else ONLY_RUNTIME if isinstance(ours, str) else \
            ONLY_LIGHTNET
        return Difference(kind, ours if kind == ONLY_RUNTIME else theirs)
    if len(ours) != len(theirs):
        return Difference(TYPES, f"{len(ours)} outputs, ONNX Runtime {len(theirs)}")
    for k, (got, want) in enumerate(zip(ours, theirs)):
        if got.dtype != want.dtype:
            return Difference(TYPES, f"output {k} is {got.dtype}, ONNX Runtime's {want.dtype}", got, want)
        if got.shape != want.shape:
            return Difference(SHAPES, f"output {k} has shape {got.shape}, ONNX Runtime's {want.shape}", got, want)
        if not is_near(got, want, *((0, 0) if got.dtype.kind != "f" else tolerance(case, got.dtype.name))):
            return Difference(VALUES, f"output {k} ({got.dtype} {got.shape}) differs{example(got, want)}", got, want)
    return Difference(AGREE, "")


def is_near(got, want, rtol, part):
    if got.dtype.kind != "f" or got.size == 0:
        return np.array_equal(got, want)
    finite = np.abs(want[np.isfinite(want)]).astype(float)
    with np.errstate(all="ignore"):
        return np.allclose(got.astype(float), want.astype(float), rtol=rtol, atol=part * finite.max(initial=0) + 1e-37,
                           equal_nan=True)


def example(got, want):
    if got.dtype.kind == "O":
        return f": {got.ravel()[:4].tolist()!r}, ONNX Runtime's {want.ravel()[:4].tolist()!r}"
    with np.errstate(all="ignore"):
        far = np.where(np.isnan(got) & np.isnan(want), 0, np.nan_to_num(np.abs(got.astype(float) - want.astype(float)), nan=1e30))
    at = np.unravel_index(np.argmax(far), got.shape)
    return f" at {list(map(int, at))}: {got[at]!r}, ONNX Runtime's {want[at]!r}; {np.count_nonzero(far)} of {got.size}"


class Facts:
    """The names of a row's expression."""

    def __init__(self, case, found):
        self.case, arrays = case, list(case.arrays.values())
        floats = [array for array in arrays if array.dtype.kind == "f"]
        integers = [array for array in arrays if array.dtype.kind in "iu" and array.size]
        self.names = {
            "message": found.text, "ops": {node.op_type for node in case.nodes}, "opset": case.opsets.get("", 1),
            "ml": case.opsets.get("ai.onnx.ml", 1), "domain": case.domain,
            "types": {array.dtype.name for array in arrays} | set(case.narrow.values()), "shapes": [a.shape for a in arrays],
            "nan": any(np.isnan(array).any() for array in floats), "inf": any(np.isinf(array).any() for array in floats),
            "huge": any((np.abs(array[np.isfinite(array)]) > 1e4).any() for array in floats),
            "large": any(a.size and np.abs(a.astype(float)).max() > 1 << 24 for a in integers), "tiny": any(((array != 0) & (np.abs(array) < 1e-37)).any() for array in floats),
            "ends": any(((a == np.iinfo(a.dtype).min) & (a.dtype.kind == "i") | (a == np.iinfo(a.dtype).max)).any()
                        for a in integers),
            "empty": any(array.size == 0 for array in arrays), "off": self.off(found), "got": found.got, "want": found.want,
            "attr": self.attribute, "arg": self.argument, "has": self.has, "search": lambda p: bool(re.search(p, found.text)),
            "np": np, "case": case, "of_special": self.of_special(found), "chained": len(case.nodes) > 1,
            "constants": case.constants, "wild": self.wild(found),
            "labels": self.attribute("classlabels_int64s") or self.attribute("classlabels_strings") or [],
        }
        self.names["wild"] |= self.names["nan"] | self.names["inf"] | self.names["huge"]

    @staticmethod
    def off(found):
        """The largest difference of finite results."""
        if found.kind != VALUES or found.got.dtype.kind not in "fiu":
            return 0
        with np.errstate(all="ignore"):
            return float(np.nanmax(np.abs(found.got.astype(float) - found.want.astype(float)), initial=0))

    @staticmethod
    def wild(found):
        """Whether a result is NaN, infinite or large; also true if an input is."""
        both = [array for array in (found.got, found.want) if array is not None and array.dtype.kind == "f"]
        return any(not (np.abs(array) < 1e4).all() for array in both)

    @staticmethod
    def of_special(found):
        """Whether results differ only where one is NaN or infinite."""
        if found.kind != VALUES or found.got.dtype.kind != "f":
            return False
        finite = np.isfinite(found.got) & np.isfinite(found.want)
        return is_near(found.got[finite], found.want[finite], 1e-2, 1e-3)

    def attribute(self, name, default=None):
        """Of the first node that has it."""
        for node in self.case.nodes:
            for each in node.attribute:
                if each.name == name:
                    value = helper.get_attribute_value(each)
                    return value.decode() if isinstance(value, bytes) else value
        return default

    def argument(self, at):
        """The array of an input of the main node, or None."""
        names = self.case.main.input
        return self.case.arrays.get(names[at]) if at < len(names) else None

    def has(self, at):
        return at < len(self.case.main.input) and self.case.main.input[at] != ""


def read_table(path=os.path.join(HERE, "explained.json")):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    for row in rows:
        unknown = set(row) - {"operators", "kinds", "when", "who", "reason", "source"}
        if unknown or not set(row["kinds"]) <= KINDS or row["who"] not in ("LightNet", "ONNX Runtime", "both", "limit"):
            raise ValueError(f"{path}: row {row}: unknown field, kind or side")
        row["code"] = compile(row.get("when", "True"), row["reason"], "eval")
    return rows


def explanation(table, case, found):
    """The first row that explains the difference, or None."""
    facts, operators = Facts(case, found), {node.op_type for node in case.nodes}
    for row in table:
        if found.kind in row["kinds"] and (row["operators"] == ["*"] or operators & set(row["operators"])):
            if eval(row["code"], dict(facts.names)):  # the table is part of this program
                return row
    return None
