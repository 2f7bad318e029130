# SPDX-License-Identifier: Apache-2.0
"""The table of operators and element types, docs/onnx-types.md."""
import numpy as np

import fuzz_changes
import fuzz_compare
from fuzz_cases import DOMAINS

LETTERS = {"float16": "h", "bfloat16": "b", "float32": "f", "float64": "d", "bool": "o", "int8": "c", "uint8": "C",
           "int16": "s", "uint16": "S", "int32": "i", "uint32": "I", "int64": "l", "uint64": "L"}
CASES = 6  # of an operator
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
| `o` | bool | | |

- **agree**: at least one model runs in both, and no results differ.
- **differ**: results of at least one model differ. `fuzz/onnx/explained.json` explains each.
- **only LightNet**, **only ONNX Runtime**: the other one rejects all models, or crashes.
- Types that both reject, that no model can be converted to, and types of 8 bits and less are not
  listed. Models use Cast to convert from and to bfloat16.
"""


def converted(case, kind):
    """The case with the first input of its operator in that type; None: it cannot be."""
    case = case.copy()
    name = next((name for name in case.main.input if name in case.arrays), None)
    if name is None:
        return None
    has_schema = fuzz_changes.schema_of(case.main, case.opsets) is not None
    if not has_schema and (case.arrays[name].dtype.kind == "f") != ("float" in kind):
        return None  # weights and scales would change, too
    return case if fuzz_changes.retype(case, name, kind) else None


def outcome(kinds):
    """The column of an operator and a type, of the kinds of differences of its models; None: none of them ran."""
    if kinds & {fuzz_compare.VALUES, fuzz_compare.SHAPES, fuzz_compare.TYPES, fuzz_compare.CRASH}:
        return "differ"
    for column in ("agree", fuzz_compare.ONLY_RUNTIME, fuzz_compare.ONLY_LIGHTNET):
        if column in kinds:
            return column
    return fuzz_compare.ONLY_LIGHTNET if fuzz_compare.CRASH_RUNTIME in kinds else None


def row_of(cases, lightnet, runtime):
    """{column: letters}."""
    chosen = [cases[k] for k in sorted(set(np.linspace(0, len(cases) - 1, CASES).astype(int)))]
    row = dict.fromkeys(COLUMNS, "")
    for kind, letter in LETTERS.items():
        made = [case for case in (converted(case, kind) for case in chosen) if case is not None]
        column = outcome({fuzz_compare.difference(case, lightnet.run(case.model(), case.inputs()),
                                                  runtime.run(case.model(), case.inputs())).kind for case in made})
        if column is not None:
            row[column] += letter
    return row


def write(path, found, lightnet, runtime):
    lines = [HEAD.format(cases=CASES)]
    for domain, operators in found.items():
        lines += [f"## `{DOMAINS[domain] if domain else 'ai.onnx'}`", "",
                  "| operator | agree | differ | only LightNet | only ONNX Runtime |", "|---|---|---|---|---|"]
        for name, cases in operators.items():
            row = row_of(cases, lightnet, runtime)
            if any(row.values()):
                lines.append(f"| {name} | " + " | ".join(f"`{row[column]}`" if row[column] else "" for column in COLUMNS) + " |")
        lines.append("")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")
    return 0
