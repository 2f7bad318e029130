# SPDX-License-Identifier: Apache-2.0
"""The fields of operator descriptions: the tables that define the format, and checks of types."""
import copy
from dataclasses import dataclass

from rjson import TYPE_NAMES

MAX_NAME = 100  # characters of an optype or arg_name

_BOOL, _NUMBER, _STRING, _ARRAY, _OBJECT = ((kind,) for kind in (
    "bool", "number", "string", "array", "object"))
_CODE = _NUMBER + _STRING  # a literal, or C that computes the value
_ANY = _BOOL + _NUMBER + _STRING + _ARRAY


@dataclass(frozen=True)
class OpField:
    """One field of a description about an operator."""
    types: tuple
    is_required: bool = False  # after inheritance
    is_own: bool = False  # never inherited
    is_body: bool = False  # C statements: an empty text counts as absent
    of_target: bool = False  # valid in "targets"
    is_last: bool = False  # code at the end of pre_run
    of_file: bool = False  # valid at the top of the file, as a default


@dataclass(frozen=True)
class ArgField:
    """One field of a description about arguments of some kinds."""
    types: tuple
    kinds: tuple
    is_body: bool = False  # C statements: an empty text counts as absent


OP_FIELDS = {
    "optype": OpField(_STRING, is_required=True, is_own=True),
    "author": OpField(_STRING, is_required=True, of_file=True),
    "arch": OpField(_STRING, is_required=True, of_file=True),
    "inherits": OpField(_STRING + _ARRAY, is_own=True),
    "autogen": OpField(_BOOL, is_own=True),
    "targets": OpField(_OBJECT, is_own=True),
    "doc": OpField(_STRING),
    "pure": OpField(_BOOL),
    "writes": OpField(_STRING),
    "mtype": OpField(_STRING, of_target=True, of_file=True),
    "inplace": OpField(_ARRAY),
    "inplace_writer": OpField(_BOOL),
    "strings": OpField(_BOOL),
    "traits": OpField(_ARRAY),
    "kind": OpField(_STRING, of_file=True),
    "means": OpField(_STRING + _ARRAY, is_own=True),
    "extra_privs": OpField(_ARRAY),
    "tensors_in": OpField(_ARRAY, is_required=True),
    "tensors_out": OpField(_ARRAY, is_required=True),
    "params": OpField(_ARRAY, is_required=True),
    "custom": OpField(_STRING, is_body=True, of_target=True, is_last=True),
    "scratch": OpField(_CODE, of_target=True, is_last=True),
    "can_fail": OpField(_CODE, is_last=True),
    "macs": OpField(_CODE, of_target=True, is_last=True),
    "algorithm": OpField(_STRING, of_target=True, is_last=True),
    "layout": OpField(_STRING, of_target=True, is_last=True),
    "static_run": OpField(_STRING, is_body=True, of_target=True),
    "static_call": OpField(_STRING, of_target=True),
    "run": OpField(_STRING, is_body=True, of_target=True),
    "call": OpField(_STRING, of_target=True),
    "post_run": OpField(_STRING, is_body=True),
    "calc_offset": OpField(_STRING, is_body=True),
    "onnx": OpField(_STRING, is_own=True),
    "examples": OpField(_STRING, is_own=True),
}

KINDS = ("in", "out", "param")  # of arguments, in their order
KIND_NAMES = {"in": "input", "out": "output", "param": "parameter"}  # for people

# The key of a list of arguments, by their kind.
LIST_KEYS = {"in": "tensors_in", "out": "tensors_out", "param": "params"}

_IN, _OUT, _PARAM, _TENSOR = ("in",), ("out",), ("param",), ("in", "out")

# The six comparisons, of values and of lengths, in the order of `ln_opck_cmp`.
BOUNDS = ("eq", "gt", "ge", "lt", "le", "ne")
LEN_BOUNDS = ("len", "len_gt", "len_ge", "len_lt", "len_le", "len_ne")

ARG_FIELDS = {
    "arg_name": ArgField(_STRING, KINDS),
    "type": ArgField(_STRING, KINDS),
    "doc": ArgField(_STRING, KINDS),
    "optional": ArgField(_BOOL, _TENSOR),
    "variadic": ArgField(_BOOL, _TENSOR),
    "mtype": ArgField(_STRING, _TENSOR),
    "dtype": ArgField(_STRING, _TENSOR),
    "sametype": ArgField(_STRING, _TENSOR),
    "ndim": ArgField(_CODE, _TENSOR),
    "dims": ArgField(_STRING + _ARRAY, _OUT),
    "sameshape": ArgField(_STRING, _TENSOR),
    "sizes": ArgField(_STRING, _OUT),
    "values": ArgField(_STRING, _OUT),
    "static": ArgField(_BOOL, _TENSOR),
    "owner": ArgField(_STRING, _OUT),
    "inplace": ArgField(_ARRAY, _OUT),
    "dynamic": ArgField(_BOOL, _OUT),
    "sets": ArgField(_STRING, _IN),
    "ptype": ArgField(_STRING, _PARAM),
    "realtype": ArgField(_STRING, _PARAM),
    "from_func": ArgField(_STRING, _PARAM),
    "name_func": ArgField(_STRING, _PARAM),
    "default": ArgField(_ANY, _PARAM),
    "example": ArgField(_ANY, _PARAM),
    "len": ArgField(_CODE, KINDS),
    **{key: ArgField(_CODE, _PARAM) for key in LEN_BOUNDS[1:] + BOUNDS},
    "check": ArgField(_STRING + _OBJECT, _IN + _PARAM),
    "checks": ArgField(_ARRAY, _IN + _PARAM),
    "custom": ArgField(_STRING, KINDS, is_body=True),
    "cleanup": ArgField(_STRING, _OUT, is_body=True),
}

ARG_FIELDS_OF = {kind: {key: spec for key, spec in ARG_FIELDS.items() if kind in spec.kinds}
                 for kind in KINDS}

# Two exclusive fields: one removes the inherited other.
OP_PAIRS = (("run", "call"), ("static_run", "static_call"))
ARG_PAIRS = (("dtype", "sametype"), ("dims", "sameshape"), ("ndim", "sameshape"),
             ("sizes", "sameshape"), ("sizes", "ndim"), ("sizes", "dims"))

# The types of parameters in the IR: names in descriptions, words in messages and names.
PTYPES = {f"LN_PARAM_{word.upper()}": word
          for word in ("null", "string", "number", "bool",
                       "array_string", "array_number", "array_bool")}


def string_at(node, text):
    """A generated string, at the location of `node`."""
    string = copy.copy(node)
    string.kind, string.text = "string", text
    return string


def mismatch(node, *kinds):
    """The type of a value and the expected ones, for messages."""
    return f"{TYPE_NAMES[node.kind]}, expected {' or '.join(TYPE_NAMES[kind] for kind in kinds)}"


def _is_blank(node):
    return node.kind == "string" and not node.text.strip(" \t\r\n")


def read_fields(op, node, specs, fields):
    """Sorts the members of an object into `fields` by their keys; null, or code without a
    statement, removes an inherited field."""
    for member in node.items:
        key, spec = member.key, specs.get(member.key)
        if spec is None:
            raise op.fail_key(member, f'unknown key "{key}"')
        if member.kind == "null" or (spec.is_body and _is_blank(member)):
            fields.pop(key, None)
            continue
        if _is_blank(member) and key != "default":
            raise op.fail(member, f'"{key}" is empty')
        if member.kind not in spec.types:
            raise op.fail(member, f'"{key}" is {mismatch(member, *spec.types)}')
        fields[key] = member


def items_of(op, array, *types):
    """The items of an array, each of which has one of the types; None: no items."""
    for item in array.items if array else ():
        if item.kind not in types:
            raise op.fail(item, f'item of "{array.key}" is {mismatch(item, *types)}')
    return array.items if array else ()


def drop_excluded(fields, node, pairs):
    """Removes the fields that those of `node` exclude."""
    for one, other in pairs:
        if node.get(one):
            fields.pop(other, None)
        if node.get(other):
            fields.pop(one, None)


def check_pairs(op, fields, pairs):
    """At most one of two exclusive fields is present."""
    for one, other in pairs:
        if one in fields and other in fields:
            raise op.fail_key(fields[other], f'"{other}" beside "{one}", expected one of them')
