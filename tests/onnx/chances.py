#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rule for models with random outputs: their distribution is checked, as no two generators draw the same numbers.

usage: chances.py. Tests that the rule rejects wrong outputs.

The types of a model's operators determine the chance of each element of the first output: see RULES. Of RUNS runs with fixed
seeds, each output has the stored type and shape, and only possible elements. These occur as often as expected, within SIGMAS
standard deviations: at each element, in total, at two neighbours, and at an element in two successive runs. The last two are
the product of two chances only if all draws are independent.

A model whose chances are all 0 has no random outputs: Dropout that does not train, or with a ratio of 0.
"""
import collections
import math
import os
import random
import sys

RUNS = 1000
SIGMAS = 5
RTOL = 1e-3  # of the page docs/onnx-operators.md

# `dtype`: as ONNX names it; `data`: the elements in order.
Tensor = collections.namedtuple("Tensor", "dtype shape data")


# ---- operators: chances of inputs, and draws of inputs and outputs ----
# Draws are a list of booleans, each true with its chance. A Fault is raised if an element is not possible.

class Fault(Exception):
    pass


def bernoulli_chances(inputs):
    return inputs[0].data


def expanded_chances(inputs):
    """ONNX's function for Bernoulli, u > p with u of [0, 1), swaps 0 and 1."""
    return [1 - p for p in inputs[0].data]


def bernoulli_draws(_, outputs):
    y = outputs[0].data
    if any(element not in (0, 1) for element in y):
        raise Fault(f"{y} has other elements than 0 and 1")
    return [element == 1 for element in y]


def dropout_chances(inputs):
    """Of being dropped. Inputs: the data, the ratio, and whether the node trains."""
    ratio = inputs[1].data[0] if len(inputs) > 2 and inputs[2].data[0] else 0
    return [ratio] * len(inputs[0].data)


def dropout_draws(inputs, outputs):
    """An element is 0 or x / (1 - ratio); a mask is true for the latter."""
    x, scale = inputs[0].data, 1 / (1 - inputs[1].data[0])
    draws = []
    for i, (element, given) in enumerate(zip(outputs[0].data, x)):
        is_kept = bool(outputs[1].data[i]) if len(outputs) > 1 else element != 0
        want = given * scale if is_kept else 0
        if not abs(element - want) <= RTOL * abs(want):
            raise Fault(f"element {i} is {element}, expected {want}")
        draws.append(not is_kept)
    return draws


RULES = {
    ("Bernoulli",): (bernoulli_chances, bernoulli_draws),
    ("Cast", "Greater", "RandomUniformLike"): (expanded_chances, bernoulli_draws),
    ("Dropout",): (dropout_chances, dropout_draws),
}


# ---- the rule ----

def is_off(count, chances):
    """Whether `count` of independent draws with these chances is too far from the expected number."""
    sigma = math.sqrt(sum(chance * (1 - chance) for chance in chances))
    return not abs(count - sum(chances)) <= SIGMAS * sigma + 1e-9 * len(chances)


def faults_of_draws(draws, chances):
    """draws: a list of booleans for each run."""
    n, columns = len(draws), list(zip(*draws))
    faults = [f"element {i}: {sum(column)} of {n} runs draw what has the chance {chance:.3f}"
              for i, (column, chance) in enumerate(zip(columns, chances)) if is_off(sum(column), [chance] * n)]
    both = [a and b for row in draws for a, b in zip(row[::2], row[1::2])]
    twice = [a and b for first, second in zip(draws[::2], draws[1::2]) for a, b in zip(first, second)]
    for what, seen, expected in (
            ("in total", [draw for row in draws for draw in row], list(chances) * n),
            ("at two neighbours", both, [a * b for a, b in zip(chances[::2], chances[1::2])] * n),
            ("in two successive runs", twice, [chance ** 2 for chance in chances] * (n // 2))):
        if is_off(sum(seen), expected):
            faults.append(f"{what}: {sum(seen)} of {len(seen)} draws, expected {sum(expected):.0f}")
    return faults


class Rule:
    def __init__(self, inputs, chances, draws):
        """inputs: Tensors. See RULES."""
        self.inputs, self.draws = inputs, draws
        self.chances = chances(inputs)

    def faults_of_elements(self, outputs, wanted):
        """Of one run. outputs, wanted: Tensors."""
        forms = [[(tensor.dtype, list(tensor.shape), len(tensor.data)) for tensor in tensors] for tensors in (outputs, wanted)]
        if forms[0] != forms[1]:
            return [f"types, shapes and lengths are {forms[0]}, expected {forms[1]}"]
        try:
            self.draws(self.inputs, outputs)
        except Fault as fault:
            return [str(fault)]
        return []

    def faults_of(self, runs, wanted):
        """Of the outputs of each run of a session."""
        faults = next((faults for faults in (self.faults_of_elements(outputs, wanted) for outputs in runs) if faults), [])
        return faults or faults_of_draws([self.draws(self.inputs, outputs) for outputs in runs], self.chances)


def faults_of_seeds(is_seeded, first, again, other):
    """Runs of sessions with a seed, with the same one, and with another one. is_seeded: the nodes have seeds of their own."""
    faults = [] if first[:len(again)] == again else ["the same seed gives other numbers"]
    if (first[:len(other)] == other) != is_seeded:
        faults.append("the numbers depend on the session's seed" if is_seeded else "another seed gives the same numbers")
    return faults


def rule_of(operators, inputs):
    """The rule of a model with these types of operators and these inputs; None: its outputs are not random. inputs(): Tensors,
    only read for such operators."""
    found = RULES.get(tuple(sorted(operators)))
    rule = Rule(inputs(), *found) if found else None
    return rule if rule and any(rule.chances) else None


# ---- tests ----

X = [0.5, -1, 2, 3, -4, 0.25]


def dropouts(rng, ratio=0.25, scale=1 / 0.75, is_masked=True, turn=False, once=False):
    """Outputs of Dropout with errors: other ratios or scales, a mask of the dropped elements, one draw for all elements."""
    for _ in range(RUNS):
        draw = rng.random()
        kept = [(draw if once else rng.random()) >= ratio for _ in X]
        y = [x * scale if keep else 0 for x, keep in zip(X, kept)]
        yield [Tensor("float", [6], y)] + ([Tensor("bool", [6], [keep != turn for keep in kept])] if is_masked else [])


def coins(rng, chances, dtype="float", repeats=1):
    """Outputs of Bernoulli; `repeats`: runs with the same numbers."""
    for _ in range(RUNS // repeats):
        outputs = [Tensor(dtype, [len(chances)], [int(rng.random() < chance) for chance in chances])]
        yield from [outputs] * repeats


def rejected(tap, sentence, rule, runs, wanted, word):
    """`word`: of the fault; None: none."""
    faults = rule.faults_of(list(runs), wanted)
    is_right = any(word in fault for fault in faults) if word else not faults
    tap.check(sentence, [] if is_right else [f"expected {word!r} in: {faults}"])


def main():
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "structure"))
    from tap import Tap
    tap, rng = Tap(), random.Random(1)
    inputs = [Tensor("float", [6], X), Tensor("float", [], [0.25]), Tensor("bool", [], [True])]
    rule = rule_of(["Dropout"], lambda: inputs)
    y, mask = Tensor("float", [6], X), Tensor("bool", [6], X)
    rejected(tap, "right outputs pass", rule, dropouts(rng), [y, mask], None)
    rejected(tap, "right outputs without a mask pass", rule, dropouts(rng, is_masked=False), [y], None)
    rejected(tap, "a missing output fails", rule, dropouts(rng, is_masked=False), [y, mask], "types")
    rejected(tap, "another shape fails", rule, dropouts(rng), [y._replace(shape=[2, 3]), mask], "shapes")
    for is_masked in (True, False):
        wanted = [y, mask] if is_masked else [y]
        rejected(tap, "another ratio fails", rule, dropouts(rng, 0.2, is_masked=is_masked), wanted, "in total")
        rejected(tap, "another scale fails", rule, dropouts(rng, scale=1.3, is_masked=is_masked), wanted, "expected 0.6")
        rejected(tap, "one draw for all fails", rule, dropouts(rng, once=True, is_masked=is_masked), wanted, "neighbours")
    rejected(tap, "a mask of dropped elements fails", rule, dropouts(rng, turn=True), [y, mask], "expected")
    for name, changed in (("a ratio of 0", [inputs[0], Tensor("float", [], [0]), inputs[2]]),
                          ("no training", [*inputs[:2], Tensor("bool", [], [False])]), ("no mode", inputs[:2])):
        tap.check(f"Dropout of {name} is not random", [] if rule_of(["Dropout"], lambda: changed) is None else ["it is"])
    tap.check("operators without a rule are not random", [] if rule_of(["Dropout", "Add"], None) is None else ["they are"])
    chances = [0, 1, 0.5, 0.9]
    wanted = [Tensor("float", [4], chances)]
    rule = rule_of(["Bernoulli"], lambda: wanted)
    expanded = rule_of(["Greater", "Cast", "RandomUniformLike"], lambda: wanted)
    rejected(tap, "right coins pass", rule, coins(rng, chances), wanted, None)
    rejected(tap, "right coins of the expanded operator pass", expanded, coins(rng, [1 - p for p in chances]), wanted, None)
    rejected(tap, "coins of the other side fail", rule, coins(rng, [1 - p for p in chances]), wanted, "element 0")
    rejected(tap, "coins with other chances fail", rule, coins(rng, [0, 1, 0.6, 0.9]), wanted, "element 2")
    rejected(tap, "coins on their edge fail", rule, [[Tensor("float", [4], [0, 1, 0.5, 1])]] * RUNS, wanted, "other elements")
    rejected(tap, "coins of another type fail", rule, coins(rng, chances, "double"), wanted, "types")
    rejected(tap, "the same numbers in two runs fail", rule, coins(rng, chances, repeats=2), wanted, "successive runs")
    for is_seeded, again, other, words in (
            (True, "ab", "ab", []), (False, "ab", "cd", []), (True, "cd", "ab", ["the same seed gives other numbers"]),
            (True, "ab", "cd", ["the numbers depend on the session's seed"]),
            (False, "ab", "ab", ["another seed gives the same numbers"])):
        faults = faults_of_seeds(is_seeded, "abc", again, other)
        tap.check(f"numbers abc, {again} and {other}, {'with' if is_seeded else 'without'} seeds of nodes",
                  [] if faults == words else [f"{faults}"])
    tap.end()


if __name__ == "__main__":
    main()
