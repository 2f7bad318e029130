# SPDX-License-Identifier: Apache-2.0
"""Operator descriptions: read, completed by inheritance, and checked.

    descs = Descriptions()
    descs.read("cpu/conv.op", own=True)
    descs.read("none/conv.op", own=False)
    descs.check()
    for op in descs.ops:
        ...

A checked description has the format of docs/operator-descriptions.md: every field has its type,
every required one is present, every name that a field refers to exists. Only the C in it is
unchecked. Errors are raised as "FILE:LINE:COLUMN: operator 'x': reason".
"""
from dataclasses import dataclass, field

import op_inherit
import rjson
from cgen import is_identifier
from lexer import Lexer
from op_fields import KINDS, MAX_NAME, mismatch
from rjson import DescriptionError, Value

# The fields of a file, and their types.
_FILE_FIELDS = {"ops": "array", "types": "array", "includes": "array",
                "author": "string", "arch": "string", "mtype": "string", "kind": "string"}


class _Described:
    """What has `fields`: Values by their keys, the inherited ones too."""

    def text(self, key):
        """The text of a field, or None."""
        return self.fields[key].text if key in self.fields else None

    def is_true(self, key):
        """Whether a bool field is given and true."""
        return key in self.fields and self.fields[key].boolean


@dataclass(eq=False)
class Argument(_Described):
    """An input, an output or a parameter."""
    kind: str  # 'in', 'out' or 'param'
    name: str  # the arg_name
    node: Value = None  # the last description
    fields: dict = field(default_factory=dict)
    ptype: str = "null"  # of a parameter: 'number', 'array_string', ..
    dtypes: str = None  # C: the set of data types that "dtype" names; None: "dtype" is C
    optional: bool = False
    variadic: bool = False

    def is_array(self):
        """Whether it is a parameter that is an array."""
        return self.ptype.startswith("array_")

    @property
    def value_kind(self):
        """Of a parameter: the kind of one value."""
        return self.ptype.replace("array_", "")


@dataclass(eq=False)
class Operator(_Described):
    """An operator. Rows of "targets" become operators, too: each computes its base on one target,
    and shares the base's arguments, private structure, pre_run and post_run."""
    descs: "Descriptions"  # that it belongs to
    optype: str
    root: Value  # of its file
    node: Value
    own: bool  # from a file to generate C for, not only to inherit from
    base: "Operator" = None  # the operator that this one computes on a target
    fields: dict = field(default_factory=dict)
    args: list = field(default_factory=list)  # inputs, then outputs, then parameters
    includes: list = field(default_factory=list)  # the inherited ones too, each header once
    state: str = "read"  # then "being completed", then "complete"
    # Set when it is checked.
    arch: str = None
    autogen: bool = True  # generate C
    pure: bool = False  # no side effects
    writes: str = None  # C: what it writes beside its tensors
    inplace_writer: bool = False  # writes the memory of an input that an output has as its owner
    traits: str = None  # C: LN_TRAIT_*, joined
    kind: str = None  # a word of op_check.KINDS; None: neither stated nor derived

    def find_arg(self, name, kind=None):
        """The argument of that name, and kind if given, or None."""
        return next((arg for arg in self.args
                     if arg.name == name and kind in (None, arg.kind)), None)

    def args_of(self, kind):
        """The arguments of one kind."""
        return [arg for arg in self.args if arg.kind == kind]

    def get_arg(self, kind, name):
        """The argument of that kind and name, a new one after the others of its kind if need be."""
        arg = self.find_arg(name, kind)
        if arg:
            return arg
        arg = Argument(kind, name)
        self.args.append(arg)
        self.args.sort(key=lambda arg: KINDS.index(arg.kind))
        return arg

    def add_includes(self, headers):
        """Adds those headers that it lacks."""
        for header in headers:
            if all(header.text != known.text for known in self.includes):
                self.includes.append(header)

    def is_generated(self):
        """Whether C is generated for it: of its own file, and not "autogen": false."""
        return self.own and self.autogen

    def base_or_self(self):
        """The operator whose arguments, private structure and pre_run this one uses."""
        return self.base or self

    def has_output(self):
        """Whether it may have outputs."""
        return bool(self.args_of("out"))

    def lexer(self, node):
        """The tokens of a field."""
        return Lexer(node, f"operator '{self.optype}': \"{node.key}\": ")

    def fail(self, node, reason):
        """The error with that reason for the location of `node`."""
        return node.fail(f"operator '{self.optype}': {reason}")

    def fail_key(self, node, reason):
        """The error with that reason for the location of a member's key."""
        return node.fail_key(f"operator '{self.optype}': {reason}")


class Descriptions:
    """The operators of some files, in the order of reading."""

    def __init__(self):
        self.ops = []
        self.files = []  # their roots
        self.types = {}  # the descriptions of arguments in "types", by their names
        self._by_type = {}

    def read(self, file, own):
        """Adds the operators of a file. Without `own` they only serve inheritance."""
        root = _read_root(file)
        self.files.append(root)
        for node in _members(root, "types"):
            self.types.setdefault(node.get("arg_name").text, node)
        for node in _members(root, "ops"):
            if node.kind != "object":
                raise node.fail(f'item of "ops" is {mismatch(node, "object")}')
            optype = _optype(node)
            op = Operator(self, optype.text, root, node, own)
            self._add(op, optype)
            self._add_targets(op)

    def check(self):
        """Completes all operators by inheritance, and checks them."""
        for op in self.ops:
            op_inherit.complete(op)

    def generated(self):
        """The operators that C is generated for."""
        return [op for op in self.ops if op.is_generated()]

    def find(self, optype):
        """The operator of that type, or None."""
        return self._by_type.get(optype)

    def _add(self, op, place):
        known = self._by_type.setdefault(op.optype, op)
        if known is not op:
            raise op.fail(place, f"already described at {known.node.file}:{known.node.line}")
        op.add_includes(_members(op.root, "includes"))
        self.ops.append(op)

    def _add_targets(self, base):
        """Adds the operators that compute `base` on the targets which it has rows for."""
        targets = base.node.get("targets")
        if not targets or targets.kind != "object":
            return  # reading the fields reports a wrong type
        for row in targets.items:
            if row.kind not in ("string", "object"):
                raise base.fail(row, f"target '{row.key}' is {mismatch(row, 'string', 'object')}")
            if not is_identifier(row.key) or len(base.optype + row.key) >= MAX_NAME:
                raise base.fail_key(row, f"target '{row.key}' is not a short C identifier")
            op = Operator(self, f"{base.optype}_{row.key}", base.root, row, base.own, base)
            self._add(op, row.get("optype") or row)


def _members(root, key):
    """The items of a list of the file; none if the list is absent."""
    array = root.get(key)
    return array.items if array else ()


def _read_root(file):
    """The content of a file with the right fields."""
    try:
        root = rjson.read(file)
    except DescriptionError as err:
        raise _explained(file, err) from None
    if not root.get("ops") and not root.get("types"):
        raise root.fail('a description file needs an object with "ops"')
    for member in root.items:
        expected = _FILE_FIELDS.get(member.key)
        if expected is None:
            raise member.fail_key(f'unknown key "{member.key}"')
        if member.kind != expected:
            raise member.fail(f'"{member.key}" is {mismatch(member, expected)}')
    for header in _members(root, "includes"):
        if header.kind != "string":
            raise header.fail(f'item of "includes" is {mismatch(header, "string")}')
    for node in _members(root, "types"):
        _check_type(node)
    return root


def _explained(file, err):
    """The error of a file that is not relaxed JSON, with a hint if it is an old description."""
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            is_old = rjson.is_old_operator_notation(stream.read())
    except OSError:
        is_old = False
    return DescriptionError(f"{err}; this is the old notation of operator descriptions, the new "
                            "one is in docs/operator-descriptions.md") if is_old else err


def _check_type(node):
    """An item of "types" describes an argument."""
    name = node.get("arg_name")
    if not name or name.kind != "string":
        raise node.fail('item of "types" without "arg_name"')
    if node.get("type"):
        raise node.fail(f"type '{name.text}' has a \"type\" itself")


def _optype(node):
    """The valid type of a described operator."""
    optype = node.get("optype")
    if not optype:
        raise node.fail('an operator without "optype"')
    if optype.kind != "string":
        raise optype.fail(f'"optype" is {mismatch(optype, "string")}')
    if len(optype.text) > MAX_NAME:
        raise optype.fail(f"optype has {len(optype.text)} characters, expected at most {MAX_NAME}")
    if not is_identifier(optype.text):
        raise optype.fail(f"optype '{optype.text}', expected a C identifier that is not a keyword")
    return optype
