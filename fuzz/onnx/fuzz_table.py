# SPDX-License-Identifier: Apache-2.0
"""The table of operators and element types, docs/onnx-types.md."""
import numpy as np
from onnx import helper

import fuzz_changes
import fuzz_compare
from fuzz_cases import CONVERTED, DOMAINS, TYPES

LETTERS = {"float16": "h", "bfloat16": "b", "float32": "f", "float64": "d", "bool": "o", "int8": "c", "uint8": "C",
           "int16": "s", "uint16": "S", "int32": "i", "uint32": "I", "int64": "l", "uint64": "L", "object": "t"}
CASES = 6  # of an operator
SMALL = [kind for kind in CONVERTED if kind != "bfloat16"]
SMALL_OPSET = 25
# Operators of these types, their inputs of the type, and the first operator set with those of SMALL_OPSET's inputs.
SMALL_OPERATORS = {"Cast": ([0], 6), "CastLike": ([0], 15), "DequantizeLinear": ([0, 2], 13), "Flatten": ([0], 9),
                   "Identity": ([0], 1), "Pad": ([0, 2], 13), "QuantizeLinear": ([2], 13), "Reshape": ([0], 5),
                   "Shape": ([0], 1), "Size": ([0], 1), "Squeeze": ([0], 13), "Transpose": ([0], 1), "Unsqueeze": ([0], 13)}
DIFFERENT = {fuzz_compare.VALUES, fuzz_compare.SHAPES, fuzz_compare.TYPES, fuzz_compare.CRASH}
COLUMNS = ["agree", "differ", fuzz_compare.ONLY_LIGHTNET, fuzz_compare.ONLY_RUNTIME]
HEAD = """# ONNX: element types

The element types with which LightNet and ONNX Runtime 1.30 run each operator, and whether their
results agree. Types are those of the first input, and of inputs that must have the same type. For
each operator and type, up to {cases} models of ONNX's test data and of `tests/onnx` were converted to
the type and run by both, without further changes.
[fuzz/onnx](../fuzz/onnx/README.md) has the program, the tolerances, and the reasons of differences:
`fuzz/onnx/fuzz_onnx.py build/python --table docs/onnx-types.md` generates this page.

| letter | type | letter | type |
|---|---|---|---|
| `h` | float16 | `b` | bfloat16 |
| `f` | float | `d` | double |
| `c` | int8 | `C` | uint8 |
| `s` | int16 | `S` | uint16 |
| `i` | int32 | `I` | uint32 |
| `l` | int64 | `L` | uint64 |
| `o` | bool | `t` | string |

- **agree**: at least one model runs in both, and no results differ.
- **differ**: results of at least one model differ. `fuzz/onnx/explained.json` explains each.
- **only LightNet**, **only ONNX Runtime**: the other one rejects all models, or crashes.
- Types that both reject, or that no model can be converted to, are not listed. Models use Cast to
  convert from and to bfloat16 and the types of the last table.
"""
SMALL_HEAD = """## Floats of 8 bits and less, integers of fewer than 8 bits

Some operators of operator set {opset} that have these types, with values that the type has.
`Cast (to)` converts from float. `tests/onnx/small_types.py` compares all values with NumPy. ONNX
Runtime casts only the first elements of 4 and 2 bits to types of 8 bits. Negative floats as
unsigned integers are undefined.

| operator | agree | differ | only LightNet | only ONNX Runtime |
|---|---|---|---|---|"""


def converted(case, kind):
    """The case with the first input of its operator in that type; None: it cannot be."""
    case = case.copy()
    name = next((name for name in case.main.input if name in case.arrays), None)
    if name is None:
        return None
    if kind == "object":
        return case if case.arrays[name].dtype == object else None
    has_schema = fuzz_changes.schema_of(case.main, case.opsets) is not None
    if not has_schema and (case.arrays[name].dtype.kind == "f") != ("float" in kind):
        return None  # weights and scales would change, too
    return case if fuzz_changes.retype(case, name, kind) else None


def outcome(kinds):
    """The column of an operator and a type, of the kinds of differences of its models; None: none of them ran."""
    if kinds & DIFFERENT:
        return "differ"
    for column in ("agree", fuzz_compare.ONLY_RUNTIME, fuzz_compare.ONLY_LIGHTNET):
        if column in kinds:
            return column
    return fuzz_compare.ONLY_LIGHTNET if fuzz_compare.CRASH_RUNTIME in kinds else None


def values_of(kind):
    """Some that the type has."""
    if kind == "float8e8m0":
        return [1, 2, 0.5, 4]
    return [0, 1, 2, 3] if kind[0] == "u" else [-2, -1, 0, 1] if kind[0] == "i" else [0, 0.5, -1.5, 2, 6, -4]


def of_small(case, kind):
    """The case with its inputs of SMALL_OPERATORS in that type; None: it cannot be."""
    places, least = SMALL_OPERATORS[case.main.op_type]
    names = [case.main.input[k] for k in places if k < len(case.main.input) and case.main.input[k]]
    if not names or len(case.nodes) > 1 or case.opsets.get("", 1) < least or any(name not in case.arrays for name in names):
        return None
    case = case.copy()
    case.opsets[""] = SMALL_OPSET
    for name in names:
        is_zero = name in case.main.input[2:] and kind.startswith("float")  # zero points of floats are 0
        shape = case.arrays[name].shape
        case.arrays[name] = np.resize([0] if is_zero and kind != "float8e8m0" else values_of(kind), shape).astype(np.float32)
        case.constants.discard(name)
        case.narrow[name] = kind
    return case


def cast_to(case, kind):
    """A cast from float to that type, and back."""
    case = case.copy()
    if len(case.nodes) > 1 or list(case.arrays) != list(case.main.input):
        return None
    case.opsets[""] = SMALL_OPSET
    case.arrays = {name: np.resize(values_of(kind), array.shape).astype(np.float32) for name, array in case.arrays.items()}
    case.nodes = [helper.make_node("Cast", case.main.input, ["narrow"], to=CONVERTED[kind]),
                  helper.make_node("Cast", ["narrow"], case.outputs, to=TYPES["float32"])]
    return case


class Engines:
    """Both engines, and the differences that no row of explained.json explains."""

    def __init__(self, lightnet, runtime):
        self.lightnet, self.runtime, self.rows, self.unexplained = lightnet, runtime, fuzz_compare.read_table(), []

    def kind_of(self, case):
        found = fuzz_compare.difference(case, self.lightnet.run(case.model(), case.inputs()), self.runtime.run(case.model(), case.inputs()))
        if found.kind in DIFFERENT and fuzz_compare.explanation(self.rows, case, found) is None:
            self.unexplained.append(f"{case.seed}: {found.kind}: {found.text[:300]}")
        return found.kind

    def column_of(self, cases):
        """The column of a type, of its models, which may be None."""
        return outcome({self.kind_of(case) for case in cases if case is not None})


def row_of(cases, kinds, convert, engines):
    """{column: the kinds}."""
    chosen = [cases[k] for k in sorted(set(np.linspace(0, len(cases) - 1, CASES).astype(int)))]
    row = {column: [] for column in COLUMNS}
    for kind in kinds:
        column = engines.column_of([convert(case, kind) for case in chosen])
        if column is not None:
            row[column].append(kind)
    return row


def small_lines(found, engines):
    lines = [SMALL_HEAD.format(opset=SMALL_OPSET)]
    rows = [(name, name, of_small) for name in SMALL_OPERATORS] + [("Cast (to)", "Cast", cast_to)]
    for title, name, convert in sorted(rows):
        cases = [case for case in found[""].get(name, []) if convert(case, "int4") is not None]
        if not cases:
            raise ValueError(f"no model of {name} can have types of few bits")
        row = row_of(cases, SMALL, convert, engines)
        lines.append(f"| {title} | " + " | ".join(", ".join(row[column]) for column in COLUMNS) + " |")
    return lines


def write(path, found, lightnet, runtime):
    """Writes the page, and prints differences that are not explained. Returns 1 if there are any."""
    engines = Engines(lightnet, runtime)
    lines = [HEAD.format(cases=CASES)]
    for domain, operators in found.items():
        lines += [f"## `{DOMAINS[domain] if domain else 'ai.onnx'}`", "",
                  "| operator | agree | differ | only LightNet | only ONNX Runtime |", "|---|---|---|---|---|"]
        for name, cases in operators.items():
            row = row_of(cases, LETTERS, converted, engines)
            letters = ["".join(LETTERS[kind] for kind in row[column]) for column in COLUMNS]
            if any(letters):
                lines.append(f"| {name} | " + " | ".join(f"`{each}`" if each else "" for each in letters) + " |")
        lines.append("")
    lines += small_lines(found, engines)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")
    print("\n".join(f"not explained: {each}" for each in engines.unexplained) or "all differences are explained")
    return 1 if engines.unexplained else 0
