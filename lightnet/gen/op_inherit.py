# SPDX-License-Identifier: Apache-2.0
"""Completes operators: fields and arguments that they inherit, and those that they describe."""
import dataclasses

import op_check
from op_fields import (ARG_FIELDS_OF, ARG_PAIRS, KINDS, LIST_KEYS, OP_FIELDS, OP_PAIRS,
                       drop_excluded, items_of, mismatch, read_fields, string_at)

# The memory type of a target's kernels, unless its row has one.
_MTYPES = {"cpu": "LN_MEM_CPU", "cuda": "LN_MEM_CUDA"}


def complete(op):
    """Completes an operator, after those that it inherits from, and checks it."""
    if op.state == "complete":
        return
    if op.base:
        _complete_target(op)
    else:
        _complete_described(op)


def _complete_described(op):
    op.state = "being completed"
    _inherit(op)
    for key, spec in OP_FIELDS.items():  # fields for all operators of the file
        if spec.of_file and op.root.get(key):
            op.fields[key] = op.root.get(key)
    read_fields(op, op.node, OP_FIELDS, op.fields)
    for kind in KINDS:
        _read_args(op, kind)
    op.state = "complete"
    op_check.check(op)


def _complete_target(op):
    """Completes an operator of "targets": its base's arguments, its row's calls."""
    base, target = op.base, op.node.key
    if base.state == "being completed":
        raise op.fail(op.node, f"'{base.optype}' inherits from its own target operator")
    complete(base)
    _copy_inherited(op, base)
    _drop_target_fields(op)
    if op.node.kind == "string":
        op.fields["call"] = op.node
    else:
        op.fields.update(_target_fields(op))
    op.fields["optype"] = string_at(op.node, op.optype)
    op.fields["arch"] = string_at(op.node, target)
    if target in _MTYPES:
        op.fields.setdefault("mtype", string_at(op.node, _MTYPES[target]))
    if "mtype" not in op.fields:
        raise op.fail(op.node, f"target '{target}' needs \"mtype\"")
    op.state = "complete"
    op_check.check(op)
    op.autogen = base.autogen
    if op.inplace_writer != base.inplace_writer:
        raise op.fail(op.node, 'writes in place, expected "inplace_writer": true in '
                               f"'{base.optype}'")


def _drop_target_fields(op):
    """Removes the fields that a row of "targets" may have, and those whose C the base's pre_run
    has: they are the base's own."""
    for key, spec in OP_FIELDS.items():
        if spec.of_target or spec.is_last:
            op.fields.pop(key, None)
    for arg in op.args:
        if arg.fields.get("mtype") is op.base.fields.get("mtype"):
            arg.fields.pop("mtype", None)


def _target_fields(op):
    """The fields of a target's row, each of which a target may have."""
    fields = {}
    read_fields(op, op.node, OP_FIELDS, fields)
    for key in OP_FIELDS:
        if key in fields and not OP_FIELDS[key].of_target:
            raise op.fail_key(fields[key], f'"{key}" in a row of "targets", expected call, run, '
                              "static_call, static_run, scratch, macs, algorithm, layout, custom "
                              "or mtype")
    return fields


# Inheritance


def _inherit(op):
    """Inherits what the parents describe and the operator does not exclude."""
    names = op.node.get("inherits")
    if not names or names.kind not in ("string", "array"):
        return  # reading the fields reports a wrong type
    for name in names.items if names.kind == "array" else (names,):
        _inherit_from(op, name)
    drop_excluded(op.fields, op.node, OP_PAIRS)
    if op.node.get("mtype") or op.root.get("mtype"):
        for arg in op.args:
            arg.fields.pop("mtype", None)


def _inherit_from(op, name):
    if name.kind != "string":
        raise op.fail(name, f'item of "inherits" is {mismatch(name, "string")}')
    parent = op.descs.find(name.text)
    if not parent:
        raise op.fail(name, f"inherits '{name.text}', which has no description")
    if parent.state == "being completed":
        raise op.fail(name, f"inherits '{name.text}', which inherits from this one")
    complete(parent)
    _copy_inherited(op, parent)
    if parent.base:
        _inherit_end(op, parent)


def _copy_inherited(op, parent):
    """Copies the parent's fields that the operator lacks, and the arguments if it has none."""
    for key, value in parent.fields.items():
        if not OP_FIELDS[key].is_own:
            op.fields.setdefault(key, value)
    op.add_includes(parent.includes)
    op.args = op.args or [dataclasses.replace(arg, fields=dict(arg.fields)) for arg in parent.args]


def _inherit_end(op, parent):
    """Inherits the end of the pre_run of `parent`'s base: the parent, an operator of a target,
    calls that of the base, but this operator has its own."""
    for key, value in parent.base.fields.items():
        if not OP_FIELDS[key].is_last:
            continue
        if key == "custom" and key in op.fields and not op.node.get(key):
            raise op.fail(op.node, f'inherits "custom" of \'{parent.base.optype}\' and of '
                                   f"'{parent.optype}', expected its own")
        op.fields.setdefault(key, value)


# Arguments


def _read_args(op, kind):
    """Merges the operator's own list of one kind into its arguments."""
    described = set()
    for node in items_of(op, op.node.get(LIST_KEYS[kind]), "object"):
        name = _read_arg(op, kind, node)
        if name in described:
            raise op.fail(node, f"argument '{name}' is already described")
        described.add(name)


def _read_arg(op, kind, node):
    """Merges the description of one argument, and its type's; returns the name."""
    name, type_name = node.get("arg_name") or node.get("type"), node.get("type")
    if not name:
        raise op.fail(node, f'item of "{LIST_KEYS[kind]}" without "arg_name"')
    if name.kind != "string":
        raise op.fail(name, f'"{name.key}" is {mismatch(name, "string")}')
    arg = op.get_arg(kind, name.text)
    arg.node = node
    if type_name and type_name.kind == "string":  # reading the fields reports a wrong type
        if type_name.text not in op.descs.types:
            raise op.fail(type_name, f"type '{type_name.text}' has no description")
        _read_arg_fields(op, arg, op.descs.types[type_name.text])
    _read_arg_fields(op, arg, node)
    return arg.name


def _read_arg_fields(op, arg, node):
    """Replaces fields of an argument by those of `node`."""
    drop_excluded(arg.fields, node, ARG_PAIRS)
    read_fields(op, node, ARG_FIELDS_OF[arg.kind], arg.fields)
