# SPDX-License-Identifier: Apache-2.0
"""Checks whether the names of a rule fit together, and finds the order in which it matches.

A pattern is matched from its last operator, the anchor, against the direction of the data: an
operator is found as the producer of a tensor that an operator found before it reads. A tensor that
the pattern produces and the replacement does not is removed, and nothing else may read it.
"""
import itertools

import rule_hints
from cgen import is_identifier
from rule_types import RuleTensor

# As in ln_util.h: the capacity of ln_rule_match.
MAX_WINDOW = 4
MAX_OPS = 16
MAX_TENSORS = 32
MAX_EXCHANGES = 4

RESERVED = ("ctx", "m")  # names that generated functions use themselves


def check(rule, of_operator):
    """Checks a rule, and completes it. `of_operator`: it is the meaning of an operator."""
    if rule.function is not None:
        if not is_identifier(rule.function):
            raise rule.fail(rule.place.get("function"), f"\"function\" is '{rule.function}', "
                                                        "expected a C identifier")
        return
    checking = _Checking(rule, of_operator)
    checking.check_match()
    rule.order = checking.order_as_written() if rule.adjacent else checking.order_by_data()
    checking.check_replace()
    checking.check_size()
    checking.number_tensors()
    if not of_operator:
        rule_hints.check(rule)


def check_names(rule, others):
    """Checks the name and the doc of a rule. `others`: those after it."""
    if not is_identifier(rule.name):
        raise rule.fail(rule.place.get("name"), "the name is not a C identifier")
    if "*/" in rule.doc or "\n" in rule.doc:
        raise rule.fail(rule.place.get("doc"),
                        '"doc" must be one line without "*/": it becomes a C comment')
    for other in others:
        if other.name == rule.name:
            raise other.fail(other.place.get("name"), "another rule has this name, at "
                                                      f"{rule.place.file}:{rule.place.line}")


class _Checking:
    """A rule being checked."""

    def __init__(self, rule, of_operator):
        self.rule, self.of_operator = rule, of_operator
        self.fail = rule.fail

    # Names

    def _check_name(self, place, kind, name):
        if not is_identifier(name):
            raise self.fail(place, f"{kind} '{name}' is not a C identifier")
        if name in RESERVED:
            raise self.fail(place, f"{kind} '{name}' has a name that is reserved for generated "
                                   "code")

    def _name_ops(self):
        """The operators without a name get their first optype, with a number if that name is
        used."""
        for op in self.rule.match:
            if op.name is None:
                optype = op.optypes[0]
                names = itertools.chain([optype], (f"{optype}_{n}" for n in itertools.count(2)))
                op.name = next(name for name in names if not self.rule.find_op(name))

    def _name_unnamed(self, ops):
        """`_` is an unnamed tensor: each gets a unique name."""
        taken = {arg.tensor for op in self.rule.match + self.rule.replace for arg in op.args}
        names = (name for name in map("unnamed{}".format, itertools.count(1)) if name not in taken)
        for op in ops:
            for arg in op.args:
                if arg.tensor == "_":
                    arg.tensor = next(names)

    def _check_op_names(self):
        for op in self.rule.match:
            self._check_name(op.place, "operator", op.name)
            if self.rule.find_op(op.name) is not op:
                raise self.fail(op.place, f"two operators are named '{op.name}'")

    def _tensor_of(self, arg):
        """The tensor of an argument, added at the end of the rule's when it is new."""
        name, rule = arg.tensor, self.rule
        tensor = rule.find_tensor(name)
        if not tensor:
            self._check_name(arg.place, "tensor", name)
            if rule.find_op(name):
                raise self.fail(arg.place, f"'{name}' names an operator and a tensor")
            tensor = RuleTensor(arg.place, name)
            rule.tensors.append(tensor)
        return tensor

    # The pattern

    def check_match(self):
        """Checks the pattern."""
        rule = self.rule
        if not rule.match:
            raise self.fail(rule.place.get("match"), '"match" has no operator')
        self._name_ops()
        self._name_unnamed(rule.match)
        self._check_op_names()
        for op in rule.match:
            self._add_match_tensors(op)
        for op in rule.match:
            if op.like:
                raise self.fail(op.place, f"'{op.like}.optype' is not valid in a pattern, only in "
                                          "a replacement")
            self._check_match_outs(op)
            self._check_match_params(op)
        for op in rule.match:
            self._check_match_ins(op)
        if rule.nexchange > MAX_EXCHANGES:
            raise self.fail(rule.place, f"more than {MAX_EXCHANGES} pairs of '<->'")

    def _add_match_tensors(self, op):
        for arg in op.args:
            if arg.op:
                raise self.fail(arg.place, f"'{arg.op}.*' is not valid in a pattern, only in a "
                                           "replacement")
            self._tensor_of(arg)

    def _check_match_outs(self, op):
        for arg in op.outs:
            tensor = self.rule.find_tensor(arg.tensor)
            if (arg.optional and not self.of_operator) or arg.exchange:
                sign = "?=" if arg.optional else "<->"
                raise self.fail(arg.place, f"'{sign}' is not valid for an output")
            if tensor.producer:
                raise self.fail(arg.place, f"tensor '{tensor.name}' is produced by "
                                           f"'{tensor.producer.name}' and by '{op.name}'")
            tensor.producer = op

    def _check_match_ins(self, op):
        for arg, following in itertools.zip_longest(op.ins, op.ins[1:]):
            tensor = self.rule.find_tensor(arg.tensor)
            if arg.optional and tensor.producer:
                raise self.fail(arg.place, f"'{tensor.name}' may be absent, but operator "
                                           f"'{tensor.producer.name}' produces it")
            if arg.exchange:
                if arg.optional or not following or following.exchange or following.optional:
                    raise self.fail(arg.place, "'<->' must be between two required inputs")
                self.rule.nexchange += 1
                arg.exchange = self.rule.nexchange
            tensor.reads += not op.keep
            tensor.optional |= arg.optional

    def _check_match_params(self, op):
        for param in op.params:
            if not param.arg_name or param.is_code():
                raise self.fail(param.place, "a pattern's parameter is a literal or "
                                             'OPERATOR.PARAM; put other conditions into "when"')
            if param.type == "param":
                self._find_source(param.place, param.op)

    # The order of matching

    def order_by_data(self):
        """From the anchor to the producers of its inputs, and so on, each operator after all that
        read from it: the opposite is an order to run in."""
        rule = self.rule
        anchor, order = rule.match[-1], []
        self._reach(anchor, set(), order)
        for op in rule.match:
            if op not in order:
                raise self.fail(op.place, f"no output of '{op.name}' leads to the last operator, "
                                          f"'{anchor.name}'")
        if anchor.keep and rule.warn is None:
            raise self.fail(anchor.place, f"the last operator, '{anchor.name}', cannot be kept: "
                                          "the replacement takes its position")
        # Against the order of the text, if that finds each operator: replaced operators are then
        # in the order of the text, too.
        is_text_order = all(self._leads_on(i) for i in range(len(rule.match) - 1))
        return (rule.match if is_text_order else order)[::-1]

    def _reach(self, op, reached, order):
        """Adds the operators that lead to `op`, and then it, to `order`."""
        if op and op not in reached:
            reached.add(op)
            for arg in reversed(op.ins):
                self._reach(self.rule.find_tensor(arg.tensor).producer, reached, order)
            order.append(op)

    def _leads_on(self, index):
        """Whether an operator after the one at `index` reads one of its outputs."""
        outputs = {arg.tensor for arg in self.rule.match[index].outs}
        return any(arg.tensor in outputs for op in self.rule.match[index + 1:] for arg in op.ins)

    def order_as_written(self):
        """A window of adjacent operators is matched literally."""
        match = self.rule.match
        if not 2 <= len(match) <= MAX_WINDOW:
            plural = "" if len(match) == 1 else "s"
            raise self.fail(self.rule.place.get("adjacent"), f'"adjacent" has {len(match)} '
                            f"operator{plural}, expected 2 to {MAX_WINDOW}")
        for op in match:
            if op.keep:
                raise self.fail(op.place, "'keep' is not valid in an \"adjacent\" pattern: all of "
                                          "its operators are replaced")
        return list(match)

    def number_tensors(self):
        """Sets the indices of tensors in the order of matching."""
        names = dict.fromkeys(arg.tensor for op in self.rule.order for arg in op.args)
        for index, name in enumerate(names):
            self.rule.find_tensor(name).index = index

    # The replacement

    def check_replace(self):
        """Checks the replacement."""
        rule = self.rule
        self._name_unnamed(rule.replace)
        for op in rule.replace:
            if op.keep or len(op.optypes) > 1:
                what = "'keep'" if op.keep else "a set of optypes"
                raise self.fail(op.place, f"{what} is not valid in a replacement")
            if op.like:
                self._find_source(op.place, op.like)
            self._check_left_out(op)
            self._check_replace_ins(op)
            self._check_replace_outs(op)
            for param in op.params:
                if param.op:
                    self._find_source(param.place, param.op)
        if rule.warn is None and not self.of_operator:
            for tensor in rule.tensors:
                tensor.removed = bool(tensor.producer and not tensor.producer.keep
                                      and not tensor.made)

    def _find_source(self, place, name):
        """The operator of the pattern that another one has something of."""
        op = self.rule.find_op(name)
        if not op:
            raise self.fail(place, f"unknown operator '{name}' in the pattern")
        return op

    def _check_reads(self, place, name):
        tensor = self.rule.find_tensor(name)
        if not tensor:
            raise self.fail(place, f"tensor '{name}' is neither in the pattern nor an output of an "
                                   "earlier operator")
        # Produced by an operator that stays, or by an earlier one of the replacement.
        stays = not tensor.fresh and (not tensor.producer or tensor.producer.keep)
        if not tensor.made and not stays:
            raise self.fail(place, f"tensor '{name}' is read, but the replacement has removed it")

    def _check_all_inputs(self, args, index):
        """Checks `OPERATOR.*`. Arguments after it that are also its count in place of those."""
        every = args[index]
        source = self._find_source(every.place, every.op)
        if source.keep and source.any_in:
            raise self.fail(every.place, f"the inputs of '{every.op}', which is kept, must be "
                                         "listed in the pattern: the replacement reads them later")
        overridden = {arg.arg_name for arg in args[index + 1:]}
        for arg in source.ins:
            if arg.arg_name not in overridden:
                self._check_reads(every.place, arg.tensor)

    def _check_left_out(self, op):
        """An operator without its optional input is left out: its output is its first input, or
        absent, too."""
        may_be = op.only_if or any(arg.optional for arg in op.ins)
        if may_be and not (op.ins and len(op.outs) == 1):
            raise self.fail(op.place, "an operator that may be left out, expected an input and one "
                                      "output")

    def _check_replace_ins(self, op):
        for i, arg in enumerate(op.ins):
            if arg.exchange:
                raise self.fail(arg.place, "'<->' is not valid in a replacement")
            if arg.op:
                self._check_all_inputs(op.ins, i)
            else:
                self._check_reads(arg.place, arg.tensor)

    def _check_replace_outs(self, op):
        if op.any_in or op.any_out:
            raise self.fail(op.place, "'*' is not valid in a replacement; write OPERATOR.*")
        for arg in op.outs:
            if arg.op or arg.optional:
                raise self.fail(arg.place, "an output of a replacement must have the form "
                                           "ARG=TENSOR")
            is_new = not self.rule.find_tensor(arg.tensor)
            tensor = self._tensor_of(arg)
            tensor.fresh |= is_new
            self._check_made(arg.place, tensor)
            tensor.made = True

    def _check_made(self, place, tensor):
        """Whether the replacement may produce a tensor."""
        name, producer, anchor = tensor.name, tensor.producer, self.rule.order[0]
        if tensor.made:
            raise self.fail(place, f"tensor '{name}' is produced twice")
        if tensor.fresh:
            return
        if not producer:
            raise self.fail(place, f"tensor '{name}' is an input of the pattern, which a "
                                   "replacement cannot produce")
        if producer.keep:
            raise self.fail(place, f"tensor '{name}' is produced by '{producer.name}', which is "
                                   "kept")
        if producer is not anchor and not self.rule.adjacent:
            raise self.fail(place, f"tensor '{name}' would be produced later, at the position of "
                                   f"'{anchor.name}'; write 'keep' before '{producer.name}' "
                                   "instead")

    def check_size(self):
        """Compares with the capacity of ln_rule_match."""
        for found, most, what in ((len(self.rule.match), MAX_OPS, "operators"),
                                  (len(self.rule.tensors), MAX_TENSORS, "tensors")):
            if found > most:
                raise self.fail(self.rule.place, f"{found} {what}, at most {most}")
