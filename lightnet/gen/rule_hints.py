# SPDX-License-Identifier: Apache-2.0
"""Checks the tests of a rule against its pattern."""
from rule_text import MAX_NDIM


def check(rule):
    """Checks the tests of a rule whose pattern is checked. Errors: a name that is not in the
    pattern, syntax of patterns only, an invalid tensor, no test that fires."""
    for test in rule.tests:
        _check_test(rule, test)
    # A rule that never fires in its own tests is not tested.
    if rule.tests and not any(test.fires for test in rule.tests):
        raise rule.fail(rule.tests[0].place, "the rule does not fire in any of its tests")


def _check_test(rule, test):
    for op in test.ops:
        _check_op(rule, op)
    for hint in test.tensors:
        _check_tensor(rule, test, hint)
    if test.precision not in (None, "bf16"):
        raise rule.fail(test.place, f"a test has precision '{test.precision}', expected 'bf16'")
    _check_once(rule, [(op.name, op.place) for op in test.ops])
    _check_once(rule, [(hint.tensor, hint.place) for hint in test.tensors])
    _check_once(rule, [(size.name, size.place) for size in test.sizes])


def _check_op(rule, op):
    if not any(op.name in (of.name, *of.optypes) for of in rule.match):
        raise rule.fail(op.place, f"a test names '{op.name}', which is not an operator of the "
                                  "pattern")
    if op.any_in or op.any_out:
        raise rule.fail(op.place, f"'*' is not valid in a test; name the arguments of '{op.name}'")
    for arg in op.args:
        if arg.op or arg.optional or arg.exchange:
            raise rule.fail(arg.place, "an argument of an operator in a test must have the form "
                                       "ARG=TENSOR")


def _check_tensor(rule, test, hint):
    name, tensor = hint.tensor, rule.find_tensor(hint.tensor)
    # Operators of the test may read other tensors than those of the pattern.
    is_read = any(arg.tensor == name for op in test.ops for arg in op.ins)
    if tensor.fresh if tensor else not is_read:
        raise rule.fail(hint.place, f"a test names '{name}', which is not a tensor of the pattern")
    if tensor and tensor.producer:
        raise rule.fail(hint.place, f"a test describes '{name}', but operator "
                                    f"'{tensor.producer.name}' produces it")
    if len(hint.dims) > MAX_NDIM:
        raise rule.fail(hint.place, f"'{name}' has {len(hint.dims)} dimensions, "
                                    f"expected at most {MAX_NDIM}")
    if hint.low > hint.high:
        raise rule.fail(hint.place,
                        f"'{name}' has range {hint.low:g} .. {hint.high:g}, expected LOW <= HIGH")


def _check_once(rule, named):
    """A test may name each only once."""
    for i, (name, _) in enumerate(named):
        for other, place in named[i + 1:]:
            if name == other:
                raise rule.fail(place, f"a test names '{name}' twice")
