# SPDX-License-Identifier: Apache-2.0
"""Families of rules: one description for rules that differ in words.

    {"for": [{"c": "conv"}, {"c": "matmul"}], "name": "${c}_scaled", ..}

Each row of "for" makes a rule, in whose strings "${WORD}" is the row's text; items of arrays that
become empty are left out. Members of a row that are no strings are fields of its rule.
"""
import copy
import re

from rjson import TYPE_NAMES


def expanded(rules):
    """The objects of an array of rules, each family as its rules."""
    for node in rules.items:
        rows = node.get("for")
        if not rows:
            yield node
            continue
        if rows.kind != "array" or not rows.items:
            found = "empty" if rows.kind == "array" else TYPE_NAMES[rows.kind]
            raise rows.fail(f'"for" is {found}, expected an array of rows')
        for row in rows.items:
            yield _rule(node, row)


def _rule(family, row):
    """The rule that a row makes of a family."""
    if row.kind != "object":
        raise row.fail(f'a row of "for" is {TYPE_NAMES[row.kind]}, expected an object')
    words = {item.key: item.text for item in row.items if item.kind == "string"}
    rule = copy.copy(family)
    rule.items = [_expand(item, words) for item in family.items if item.key != "for"]
    rule.items += [item for item in row.items if item.kind != "string"]
    return rule


def _expand(node, words):
    """A copy of the node with the row's texts."""
    node = copy.copy(node)
    if node.kind == "string":
        node.text = _expand_text(node, words)
    items = [_expand(item, words) for item in node.items]
    node.items = [item for item in items
                  if node.kind == "object" or item.kind != "string" or item.text]
    return node


def _expand_text(node, words):
    def text_of(found):
        word = found.group(1)
        if word not in words:
            raise node.fail(f'"${{{word}}}", which a row of "for" does not have')
        return words[word]

    return re.sub(r"\$\{([^}]*)\}?", text_of, node.text)
