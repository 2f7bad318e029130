# SPDX-License-Identifier: Apache-2.0
"""The meanings of an operator: rules that replace it by simpler ones. Their pattern is the operator
alone, and its tensors have the names of its arguments."""
import copy

import rule_code
from rule_desc import Rules
from rule_text import Writer


def meaning(g):
    """The replacements as text, or None."""
    means = g.op.fields.get("means")
    if not means:
        return None
    lines = []
    for i, node in enumerate(_meanings(means)):
        replace = node.get("replace") or node
        lines += ["or"] if i else []
        lines += (line.lstrip(" ") for line in (replace.text or "").split("\n"))
    return "\n".join(filter(None, lines))


def write_means(g):
    """Writes the rules of the meanings, and the array of these. Returns whether there are any."""
    means, optype = g.op.fields.get("means"), g.op.optype
    if not means:
        return False
    rules = Rules(of_operator=True)
    rules.read(_description(g.op, means))
    rules.check()
    g.out.print("\n" if rules.rules else "")
    for rule in rules.rules:
        rule.dynamic = True
        rule_code.write_rule(Writer(rules, rule, g.out))
    names = "".join(f"&rule_{rule.name}, " for rule in rules.rules)
    g.out.line(0, f"static const ln_rule *const {optype}_means[] = {{{names}NULL}};")
    return True


def _meanings(means):
    return means.items if means.kind == "array" else [means]


def _node(place, kind, key=None, text=None, items=()):
    """A Value at the location of another."""
    node = copy.copy(place)
    node.kind, node.key, node.text, node.items = kind, key, text, items
    return node


def _arguments(op, kind):
    return ", ".join("*" if arg.variadic else
                     f"{arg.name}{'?' if arg.optional else ''}={arg.name}"
                     for arg in op.args_of(kind))


def _rule(op, node, number):
    """The rule of a replacement, or of an object with one."""
    means = op.fields["means"]
    match = f"{op.optype}({_arguments(op, 'in')} | {_arguments(op, 'out')});"
    items = [_node(means, "string", "name", f"{op.optype}_means_{number}"),
             _node(means, "string", "doc", "the operator in terms of others"),
             _node(means, "string", "match", match)]
    if node.kind == "object":
        items += node.items
    elif node.kind == "string":
        items.append(_node(node, "string", "replace", node.text))
    return _node(node, "object", node.key, items=items)


def _description(op, means):
    """All meanings as an optimizer description."""
    rules = [_rule(op, node, i) for i, node in enumerate(_meanings(means), 1)]
    return _node(means, "object", items=[_node(means, "string", "arch", op.arch),
                                         _node(means, "array", "rules", items=rules)])
