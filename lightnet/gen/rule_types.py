# SPDX-License-Identifier: Apache-2.0
"""What optimizer descriptions consist of: rules, their operators, arguments and tests.

A `place` is the location in the description. "Of a checked rule": rule_check sets it.
"""
from dataclasses import dataclass, field

from scan import Place


@dataclass(eq=False)
class RuleParam:
    """`PARAM=VALUE`, or `OPERATOR.*`. Types of values are

        'string', 'number', 'bool', 'null', 'strings', 'numbers', 'bools': literals;
        'param': OPERATOR.PARAM, another operator's;
        'code_string', 'code_number', 'code_bool': string(C), ..: the value of a C expression;
        'code_ints', 'code_numbers': ints(LENGTH, C), ..;
        'code_input': number(C), or a number, of an input: a constant.
    """
    place: Place  # of 'code_..': a Value, whose text is the C
    arg_name: str = None  # None: all parameters of `op`
    type: str = "string"
    items: list = field(default_factory=list)  # of a literal: its text, or those of its elements
    op: str = None  # OPERATOR of 'param', and of `OPERATOR.*`
    param: str = None  # PARAM of 'param'

    def is_code(self):
        """Whether the value is C."""
        return self.type.startswith("code_")


@dataclass(eq=False)
class Data:
    """A tensor of an example: "TL_INT8 [2, 2] {1, 2, 3, 4}"."""
    dtype: str = None  # None: unspecified
    has_dims: bool = False
    dims: list = field(default_factory=list)
    items: list = field(default_factory=list)  # the elements: numbers, "nan", "inf", "-inf"


@dataclass(eq=False)
class RuleArg:
    """`ARG=TENSOR`, or `OPERATOR.*`."""
    place: Place
    arg_name: str = None  # None: all inputs of `op`
    tensor: str = None  # its name in the rule
    data: Data = None  # of an example: the tensor itself
    op: str = None  # OPERATOR of `OPERATOR.*`
    optional: bool = False  # `?=`: may be absent
    exchange: int = 0  # n > 0: it and the next may be exchanged, the nth such pair of the rule


@dataclass(eq=False)
class RuleOp:
    """An operator of a pattern, a replacement or a test."""
    place: Place
    name: str = None  # its name in the rule
    optypes: list = field(default_factory=list)  # one or more
    like: str = None  # of a replacement: `OPERATOR.optype`, has that operator's optype
    keep: bool = False  # of a pattern: is kept
    any_in: bool = False  # of a pattern: `*`, may have other inputs
    any_out: bool = False  # of a pattern: may have other outputs
    ins: list = field(default_factory=list)
    outs: list = field(default_factory=list)
    params: list = field(default_factory=list)
    only_if: Place = None  # of a replacement: a Value with C, without which it is left out

    @property
    def args(self):
        """The inputs and the outputs."""
        return self.ins + self.outs


@dataclass(eq=False)
class Example(RuleOp):
    """An example of an operator: its arguments, and the expected result."""
    doc: str = ""
    tolerance: str = None  # as written
    error: str = None  # a part of the message


@dataclass(eq=False)
class RuleTensor:
    """A tensor of a checked rule."""
    place: Place  # its first occurrence
    name: str
    producer: RuleOp = None  # in the pattern
    reads: int = 0  # by operators of the pattern that the replacement removes
    optional: bool = False  # may be absent
    index: int = -1  # its index in the order of matching
    fresh: bool = False  # first named by the replacement
    made: bool = False  # by the replacement
    removed: bool = False  # produced by the pattern, not by the replacement


@dataclass(eq=False)
class Hint:
    """A tensor of a rule's test: "const TL_FLOAT [C, 4] in 0.5 .. 2"."""
    place: Place = None
    tensor: str = None
    dtype: str = None
    dims: list = field(default_factory=list)  # numbers, names of sizes, or products of these
    is_const: bool = False
    low: float = -1.0
    high: float = 1.0


@dataclass(eq=False)
class Size:
    """A size, "N=3", or one drawn at random, "N=1 .. 4"."""
    place: Place
    name: str
    low: int
    high: int


@dataclass(eq=False)
class RuleTest:
    """A test of a rule."""
    place: Place = None
    # Additional arguments of the pattern's operators of these names (or optypes)
    ops: list = field(default_factory=list)
    tensors: list = field(default_factory=list)
    sizes: list = field(default_factory=list)
    tolerance: float = 0.0
    precision: str = None  # of ln_context_set_precision
    fires: bool = True  # False: the rule must not apply


@dataclass(eq=False)
class Rule:
    """A rewrite rule."""
    place: Place  # its Value
    name: str = None
    doc: str = None
    function: str = None  # a hand-written ln_subgraph_func in place of a pattern
    match: list = field(default_factory=list)
    when: list = field(default_factory=list)  # Values with C
    let: Place = None  # a Value with C before the replacement
    replace: list = field(default_factory=list)
    warn: str = None  # a message instead of a replacement
    adjacent: bool = False
    batch: bool = False  # it also applies if only the first axes are dynamic
    dynamic: bool = False  # it also applies to tensors whose sizes are known only at run time
    wide: bool = False  # of a meaning: it is for floats of 32 bits or more
    within: float = 0.0  # of a meaning: its error
    rank: float = 0.0  # "order"
    stage: int = None  # None: the one of its file
    tests: list = field(default_factory=list)
    # Of a checked rule
    order: list = field(default_factory=list)  # the operators in the order of matching: the first
    # one is the anchor, but for adjacent ones
    nexchange: int = 0  # pairs of inputs that may be exchanged
    tensors: list = field(default_factory=list)  # in the order of their first appearance

    @property
    def subject(self):
        """What messages about the rule begin with, after the place."""
        return "" if self.name is None else f"rule '{self.name}': "

    def fail(self, place, reason):
        """The error "FILE:LINE:COLUMN: rule 'x': reason", to be raised."""
        return place.fail(self.subject + reason)

    def find_op(self, name):
        """The operator of that name in the pattern, or None."""
        return next((op for op in self.match if op.name == name), None)

    def find_tensor(self, name):
        """The tensor of that name, or None."""
        return next((tensor for tensor in self.tensors if tensor.name == name), None)
