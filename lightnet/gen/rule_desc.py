# SPDX-License-Identifier: Apache-2.0
"""Optimizer descriptions: rewrite rules, read and checked.

    rules = Rules()
    rules.read(rjson.read("fold.opt"))
    rules.check()
    for rule in rules.rules:
        ...

The format is documented in docs/optimizer-descriptions.md. Errors are raised as
"FILE:LINE:COLUMN: rule 'x': reason".
"""
import rule_check
import rule_families
import rule_pattern
from cgen import is_identifier
from rjson import TYPE_NAMES, DescriptionError, is_old_optimizer_notation
from rule_types import Rule

MAX_STAGE = 9

# The fields of a file and of a rule, with their types.
_FILE_FIELDS = {"arch": "string", "stage": "number", "code": "string", "rules": "array",
                "lower": "string"}
_RULE_FIELDS = {"name": "string", "doc": "string", "function": "string", "match": "string",
                "when": "array", "let": "string", "replace": "string", "warn": "string",
                "adjacent": "bool", "dynamic": "bool", "wide": "bool", "within": "number",
                "batch": "bool", "order": "number", "stage": "number", "tests": "string"}


def _members(node, what, fields, required, subject=""):
    """The members of an object: each is checked before it is yielded."""
    if node.kind != "object":
        raise node.fail(f"{subject}{what} is {TYPE_NAMES[node.kind]}, expected an object")
    for key in required:
        if not node.get(key):
            raise node.fail(f'{subject}{what} has no "{key}"')
    for member in node.items:
        expected = fields.get(member.key)
        if not expected:
            raise member.fail_key(f'{subject}unknown key "{member.key}"')
        if member.kind != expected:
            raise member.fail(f'{subject}"{member.key}" is {TYPE_NAMES[member.kind]}, '
                              f"expected {TYPE_NAMES[expected]}")
        yield member


# The fields of rules: functions of a Value, and of what messages begin with


def _strings(node, subject):
    for item in node.items:
        if item.kind != "string":
            raise item.fail(f'{subject}an item of "{node.key}" is {TYPE_NAMES[item.kind]}, '
                            "expected a string")
    return node.items


def _stage(node, subject=""):
    stage = node.number
    if stage not in range(MAX_STAGE + 1):
        raise node.fail(f'{subject}"stage" is {stage:g}, expected 0 to {MAX_STAGE}')
    return int(stage)


_READERS = {"match": rule_pattern.operators, "replace": rule_pattern.operators,
            "tests": rule_pattern.tests, "when": _strings, "stage": _stage,
            "let": lambda node, subject: node}
_PLAIN = {"string": "text", "bool": "boolean", "number": "number"}  # of Value, by type


def _read_rule(node):
    """The rule that an object describes."""
    name = node.get("name")
    rule = Rule(node, name.text if name and name.kind == "string" else None)
    for member in _members(node, "a rule", _RULE_FIELDS, ("name", "doc"), rule.subject):
        read = _READERS.get(member.key)
        value = read(member, rule.subject) if read else getattr(member, _PLAIN[member.kind])
        setattr(rule, "rank" if member.key == "order" else member.key, value)
    _check_form(rule, node)
    return rule


def _check_form(rule, node):
    """A rule is either hand-written, with few other fields, or has a pattern and fields for it."""
    keys = {member.key for member in node.items}
    allowed = 3 + bool(keys & {"dynamic", "batch"}) + ("stage" in keys)
    if rule.function is not None:
        if len(node.items) > allowed:
            raise rule.fail(node, 'a rule with "function" may only have "name", "doc", "dynamic" '
                                  'or "batch", and "stage" besides')
    elif "match" not in keys:
        raise rule.fail(node, 'a rule has no "match"')
    elif len(keys & {"replace", "warn"}) != 1:
        has = "both" if "warn" in keys else "none"
        raise rule.fail(node, f'a rule has either "replace" or "warn", this one has {has}')
    if rule.warn is not None and rule.let:
        raise rule.fail(rule.let, '"let" is not valid with "warn": the rule has no replacement')


class Rules:
    """The descriptions of one architecture, from one or more files. `of_operator`: the rules are
    the meanings of an operator."""

    def __init__(self, of_operator=False):
        self.of_operator = of_operator
        self.arch = None
        self.rules = []  # by "order", then as read
        self.lower = None  # the suffix of the optypes of lowered operators, a Value
        self.code = []  # Values with C for the beginning of the file
        self.nstages = 0  # the largest "stage"
        self.files = []  # as read

    def read(self, root):
        """Adds the rules of a file."""
        self.files.append(root.file)
        if is_old_optimizer_notation(root):
            raise root.fail("this is the old notation of optimizer descriptions, the new one is in "
                            "docs/optimizer-descriptions.md")
        stage, rules = 1, []
        for member in _members(root, "the description", _FILE_FIELDS, ("arch",)):
            if member.key == "arch":
                self._set_arch(member)
            elif member.key == "stage":
                stage = _stage(member)
            elif member.key == "code":
                self.code.append(member)
            elif member.key == "rules":
                rules = [_read_rule(node) for node in rule_families.expanded(member)]
            else:
                self._set_lower(member)
        for rule in rules:
            rule.stage = stage if rule.stage is None else rule.stage
        self.nstages = max([self.nstages, stage, *(rule.stage for rule in rules)])
        self.rules = sorted(self.rules + rules, key=lambda rule: rule.rank)

    def _set_arch(self, node):
        if self.arch not in (None, node.text):
            raise node.fail(f"\"arch\" is '{node.text}', but the previous files are for "
                            f"'{self.arch}'")
        self.arch = node.text

    def _set_lower(self, node):
        if self.lower:
            raise node.fail(f'"lower" is already defined at {self.lower.file}:{self.lower.line}')
        self.lower = node

    def check(self):
        """Checks all rules, and finds the order in which each matches."""
        # The names of arrays and functions end in these.
        if not is_identifier(self.arch):
            raise DescriptionError(f"{self.files[0]}: \"arch\" is '{self.arch}', "
                                   "expected a C identifier")
        if self.lower and not is_identifier(f"x{self.lower.text}"):
            raise self.lower.fail(f"\"lower\" is '{self.lower.text}', "
                                  "expected the suffix of an optype")
        for i, rule in enumerate(self.rules):
            rule_check.check_names(rule, self.rules[i + 1:])
            rule_check.check(rule, self.of_operator)
