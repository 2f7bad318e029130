#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: chains.py LIGHTNET. Operators that broadcast agree with numpy where they read results of other operators.

A result may take the memory of an operand at its last use. So each operand comes from an operator, is read once, and is as
large in bytes as the result, or 2, 4 or 8 times smaller or larger, for each type and on each side.
"""
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP numpy is missing")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
from dtypes import NUM, NUMPY
from model import Model
from tap import Tap

SEED = 20261128
FOLDS = (1, 2, 3, 4, 5, 8, 16)
LENGTH = 17
COMPARISONS = {"LESS": np.less, "EQUAL": np.equal, "GREATER_EQUAL": np.greater_equal}
KINDS = tuple(dtype for dtype in NUM if dtype != "TL_BFLOAT16")   # which numpy does not have


class Chain:
    """Operands that operators produce, and results of those that read them."""

    def __init__(self, rng):
        self.rng, self.model = rng, Model()

    def operand(self, dtype, *shape):
        """Small whole numbers that every type has, doubled by an operator: the name and the numbers."""
        values = self.rng.integers(0, 4, shape).astype(NUMPY[dtype])
        source = self.model.create(dtype, values)
        name, = self.model.op("binary", [("src1", source), ("src2", source)], op="TL_BINARY_ADD")
        return name, values + values

    def condition(self, *shape):
        name, values = self.operand("TL_INT32", *shape)
        zero = self.model.create("TL_INT32", np.full((1,), 2, np.int32), const=True)
        made, = self.model.op("compare", [("src1", name), ("src2", zero)], op="TL_COMPARE_LESS")
        return made, values < 2

    def add(self, optype, operands, dtype, expected, /, **params):
        names = [name for name, _ in operands]
        args = ("cond", "src1", "src2")[-len(names):]
        result, = self.model.op(optype, list(zip(args, names)), **params)
        self.model.expect(result, dtype, expected, None, f"{optype} {params} {[v.shape for _, v in operands]}")


def pairs(chain, dtype, fold):
    """Two operands, one of which is read `fold` times, in both orders, and both are at once."""
    row, column = (LENGTH,), (fold, 1)
    for shapes in ((row, column), (column, row), (row, (fold, LENGTH)), ((fold, LENGTH), row)):
        yield [chain.operand(dtype, *shape) for shape in shapes]


def compare(chain, dtype, fold):
    for op, formula in COMPARISONS.items():
        for a, b in pairs(chain, dtype, fold):
            chain.add("compare", [a, b], "TL_BOOL", formula(a[1], b[1]), op=f"TL_COMPARE_{op}")


def binary(chain, dtype, fold):
    for a, b in pairs(chain, dtype, fold):
        chain.add("binary", [a, b], dtype, a[1] + b[1], op="TL_BINARY_ADD")


def where(chain, dtype, fold):
    for a, b in pairs(chain, dtype, fold):
        condition = chain.condition(fold, LENGTH)
        chain.add("where", [condition, a, b], dtype, np.where(condition[1], a[1], b[1]))


def cast(chain, dtype, fold):
    """To types of other sizes, and of the same one."""
    if fold > 1:
        return
    for to in KINDS:
        operand = chain.operand(dtype, LENGTH)
        result, = chain.model.op("cast", [("src", operand[0])], dtype=to)
        chain.model.expect(result, to, operand[1].astype(NUMPY[to]), None, f"cast to {to}")


def main():
    lightnet, tap = os.path.abspath(sys.argv[1]), Tap()
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        for k, dtype in enumerate(KINDS):
            chain = Chain(np.random.default_rng([SEED, k]))
            for step in (compare, binary, where, cast):
                for fold in FOLDS:
                    step(chain, dtype, fold)
            tap.check(f"results of operators are read as numpy reads them, {dtype}",
                      chain.model.check(lightnet, os.path.join(folder, dtype), 0, 0)[:20])
    tap.end()


if __name__ == "__main__":
    main()
