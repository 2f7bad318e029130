# SPDX-License-Identifier: Apache-2.0
"""The tests of rules as C: for each the smallest models that match, as rows of a table.

A rule's model is its pattern with a `create` for each tensor that comes from outside. Properties
outside of the pattern (shapes, parameters, other inputs) come from the rule's "tests". Each of
these is tried with every optype of the sets, with and without the inputs that may be absent, in
both orders of inputs that may be exchanged, and a few times where sizes are drawn at random.
"""
import itertools
import re
from dataclasses import dataclass

import rjson
from cgen import base_name, quote
from rule_code import banner
from rule_types import Hint, Rule, RuleTest
from rule_text import LITERALS

DRAWS = 3  # how often a test with random sizes is tried
MAX_DIM = 1000000  # of a tensor in a test

_NO_HINTS = RuleTest()
_ANY_TENSOR = Hint(dtype="TL_FLOAT", dims=["2", "3", "4", "5"])


@dataclass
class _Model:
    """One model of a rule."""
    rule: Rule
    test: RuleTest
    number: int  # of the rule's models, from 0
    sizes: dict  # the values of the test's sizes
    alternative: int  # which optype of each set
    is_absent: bool  # without optional inputs
    exchanged: int  # bit n: the inputs of the nth '<->'

    @property
    def name(self):
        """What the names of its tables begin with."""
        return f"{self.rule.name}_{self.number}"

    # Tensors

    def _dim(self, text, hint):
        """The value of "12", "N" or "2*N"."""
        product = 1
        for factor in re.findall("[^ *]+", text):
            size = int(factor) if factor.isdigit() else self.sizes.get(factor)
            if size is None:
                raise self.rule.fail(hint.place, f"dimension '{text}' is neither a number nor a "
                                                 "size of the test")
            product *= size
        if not 0 < product <= MAX_DIM:
            raise self.rule.fail(hint.place, f"dimension '{text}' is out of range, expected 1 to "
                                             f"{MAX_DIM}")
        return str(product)

    def source(self, name):
        """The row of a tensor that comes from outside."""
        hints = (hint for hint in self.test.tensors if hint.tensor == name)
        hint = next(hints, _ANY_TENSOR)
        dims = ", ".join(self._dim(dim, hint) for dim in hint.dims)
        return (f'    {{"{name}", "{hint.dtype}", {len(hint.dims)}, {{{dims}}}, {hint.low:.9g}, '
                f"{hint.high:.9g}, {hint.is_const:d}}},\n")

    def sources(self):
        """The names of the tensors that operators read and the pattern does not produce."""
        produced = {tensor.name for tensor in self.rule.tensors if tensor.producer}
        read = (arg.tensor for op in self.ops() for arg in self._args(op, "ins"))
        return [tensor for tensor in dict.fromkeys(read) if tensor not in produced]

    def lists(self):
        """The tensors that the pattern produces: outputs, removed and kept ones."""
        produced = [tensor for tensor in self.rule.tensors if tensor.producer]
        return {
            "outputs": [tensor.name for tensor in produced
                        if not tensor.removed and not tensor.producer.keep],
            "removed": [tensor.name for tensor in produced if tensor.removed],
            "kept": [tensor.name for tensor in produced if tensor.producer.keep],
        }

    # Operators

    def ops(self):
        """Producers first: the reverse order of matching. Adjacent operators are as
        written."""
        return self.rule.order if self.rule.adjacent else self.rule.order[::-1]

    def _optype(self, op):
        return op.optypes[self.alternative % len(op.optypes)]

    def _with_hint(self, op):
        """The operator, and its hint: by its name, or by its optype in this model."""
        hints = {hint.name: hint for hint in self.test.ops}
        hint = hints.get(op.name) or hints.get(self._optype(op))
        return (op, hint) if hint else (op,)

    def _args(self, op, group):
        """The arguments in 'ins' or 'outs' of an operator that are present in this model."""
        return [arg for part in self._with_hint(op) for arg in getattr(part, group)
                if not (arg.optional and self.is_absent)]

    def _tensors(self, op, group):
        """Pairs of these arguments and their tensors: those of inputs that are exchanged in this
        model are swapped."""
        args = self._args(op, group)
        tensors = [arg.tensor for arg in args]
        for i, arg in enumerate(args):
            if arg.exchange and self.exchanged >> (arg.exchange - 1) & 1:
                tensors[i:i + 2] = tensors[i + 1], tensors[i]
        return zip((arg.arg_name for arg in args), tensors)

    def _literal(self, op, name):
        """The literal that a parameter of the pattern or of a hint has in this model, or None."""
        params = (param for part in self._with_hint(op) for param in part.params)
        return next((param for param in params
                     if param.arg_name == name and param.type in LITERALS), None)

    def _value(self, param):
        """The value of a parameter as JSON."""
        literal = param
        if param.type == "param":
            op = self.rule.find_op(param.op)
            literal = op and self._literal(op, param.param)
        if not literal or not param.arg_name or literal.type not in LITERALS:
            raise self.rule.fail(param.place,
                                 "the test needs a literal value for this parameter")
        is_text = literal.type in ("string", "strings")
        items = ", ".join(str(self.sizes[item]) if item in self.sizes else
                          rjson.quote(item) if is_text else item for item in literal.items)
        return f"[{items}]" if literal.type in ("strings", "numbers", "bools") else items

    def lines(self, op):
        """The lines of an operator as the JSON IR has it."""
        yield f' {{"name": "{op.name}", "optype": "{self._optype(op)}"'
        for group, key in (("ins", "tensors_in"), ("outs", "tensors_out")):
            tensors = ", ".join(f'{{"arg_name": "{arg_name}", "name": "{tensor}"}}'
                                for arg_name, tensor in self._tensors(op, group))
            yield f'  "{key}": [{tensors}]'
        params = ", ".join(f'{{"arg_name": "{param.arg_name}", "value": {self._value(param)}}}'
                           for part in self._with_hint(op) for param in part.params)
        yield f'  "params": [{params}]}}'


def _random(name):
    """Random numbers for the sizes of a rule, seeded by its name."""
    state = 0
    for byte in name.encode():
        state = state * 31 + byte
    while True:
        state = (state * 1664525 + 1013904223) % (1 << 32)
        yield state >> 8


def _models(rule):
    """The models of all tests of a rule."""
    numbers, random = itertools.count(), _random(rule.name)
    variants = list(itertools.product(
        range(max(len(op.optypes) for op in rule.match)),
        (False, True) if any(tensor.optional for tensor in rule.tensors) else (False,),
        range(1 << rule.nexchange)))
    for test in rule.tests or [_NO_HINTS]:
        draws = DRAWS if any(size.low < size.high for size in test.sizes) else 1
        for _ in range(draws):
            sizes = {size.name: size.low + next(random) % (size.high - size.low + 1)
                     for size in test.sizes}
            for variant in variants:
                yield _Model(rule, test, next(numbers), sizes, *variant)


def _write_model(model, out):
    """Appends the tables of a model."""
    out.print(f"static const ln_rule_tensor {model.name}_tensors[] = {{\n")
    for name in model.sources():
        out.print(model.source(name))
    out.print(f"    {{NULL}},\n}};\n\nstatic const char {model.name}_ops[] =\n")
    *lines, last = (line for op in model.ops() for line in model.lines(op))
    for line in lines:
        out.line(4, quote(f"{line},\n"))
    out.line(4, quote(f"{last}\n") + ";")
    out.print("\n")
    for key, names in model.lists().items():
        if names or key == "outputs":
            items = "".join(f'"{name}", ' for name in names)
            out.print(f"static const char *const {model.name}_{key}[] = {{{items}NULL}};\n\n")


def _row(model):
    """The row of a model in the table of cases."""
    rule, test, lists = model.rule, model.test, model.lists()
    place = test.place or rule.place
    removed, kept = (f"{model.name}_{key}" if lists[key] else "NULL" for key in ("removed", "kept"))
    precision = '"bf16"' if test.precision else "NULL"
    return (f'{{"{rule.name}", "{base_name(place.file)}:{place.line}", {model.name}_tensors, '
            f"{model.name}_ops, {model.name}_outputs, {removed}, {kept}, {test.fires:d}, "
            f"{rule.warn is not None:d}, {test.tolerance:.9g}, {precision}}},")


def tests(rules, out):
    """Appends the program that tests all rules (tests/support/ln_rule_check.h). Raises
    DescriptionError: a test with an unknown name, or without a required part."""
    banner(rules, "The tests of an architecture's rewrites", out)
    out.print('#include "ln_rule_check.h"\n\n')
    models = [model for rule in rules.rules if not rule.function for model in _models(rule)]
    for model in models:
        _write_model(model, out)
    out.print("static const ln_rule_case cases[] = {\n")
    for model in models:
        out.line(4, _row(model))
    out.print("    {NULL},\n};\n\nint main(int argc, char **argv)\n{\n")
    # With the architecture's own suffix, as the operators of the pattern spell `create`.
    arch = "cpu" if rules.arch == "none" else rules.arch
    suffix = rules.lower.text if rules.lower else ""
    out.line(4, f'return ln_rule_check(argc, argv, "{arch}", "create{suffix}", cases);')
    out.print("}\n")
