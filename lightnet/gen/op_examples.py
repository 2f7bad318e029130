# SPDX-License-Identifier: Apache-2.0
"""Generates a test program: the examples as a table of small models in the JSON IR."""
import rjson
import rule_pattern
from cgen import base_name, quote
from op_c import sources
from op_fields import KIND_NAMES
from rule_text import LITERALS
from scan import DescriptionError

_ARRAYS = ("strings", "numbers", "bools")
_SPECIAL = {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}  # elements, and what C has


def tests(out, descs):
    """Writes a C program that runs the examples of all own operators; see
    tests/support/ln_example.h."""
    out.print(f"// Generated from {sources(descs)}: runs the examples of the operators.\n\n"
              '#include "ln_example.h"\n\nstatic const ln_example examples[] = {\n')
    has_examples = False
    for op in descs.ops:
        for example in _examples(op):
            _check(op, example)
            _write_example(out, op, example)
            has_examples = True
    if not has_examples:
        raise DescriptionError("the descriptions have no examples")
    out.print("};\n\nint main(int argc, char **argv)\n{\n    return LN_EXAMPLE_MAIN(examples, "
              "sizeof(examples) / sizeof(*examples), argc, argv);\n}\n")


def _examples(op):
    node = op.fields.get("examples")
    if not op.own or not node:
        return []
    return rule_pattern.examples(node, f"operator '{op.optype}': example: ")


# Checks


def _fail(op, place, reason):
    return op.fail(place, f"example: {reason}")


def _is_arg(arg, name):
    """Whether the name is the argument's, or one of the variadic ones of it."""
    if not arg.variadic:
        return name == arg.name
    number = name[len(arg.name):]
    return name.startswith(arg.name) and number.isascii() and number.isdigit()


def _check_args(op, kind, args):
    seen = set()
    for arg in args:
        name = arg.arg_name
        if kind == "param" and (not name or arg.type not in LITERALS):
            raise _fail(op, arg.place, f"expected a literal value for parameter '{name or arg.op}'")
        if not any(_is_arg(described, name) for described in op.args_of(kind)):
            raise _fail(op, arg.place, f"unknown {KIND_NAMES[kind]} '{name}'")
        if kind == "in" and not arg.data.has_dims:
            raise _fail(op, arg.place, f"expected '[DTYPE] [DIMS] {{DATA}}' for input '{name}'")
        if name in seen:
            raise _fail(op, arg.place, f"given twice: '{name}'")
        seen.add(name)


def _check(op, example):
    if op.has_output() and bool(example.outs) == (example.error is not None):
        raise _fail(op, example.place, "expected either outputs or 'fails \"MESSAGE\"'")
    for kind, args in (("in", example.ins), ("out", example.outs), ("param", example.params)):
        _check_args(op, kind, args)


# The model: members and items of JSON are its text already


def _object(**members):
    return "{" + ", ".join(f'"{key}": {value}' for key, value in members.items()) + "}"


def _array(items):
    return "[" + ", ".join(items) + "]"


def _numbers(items):
    return _array(f'"{item}"' if item in _SPECIAL else item for item in items)


def _operator(name, optype, ins, outs, params):
    """An operator. `ins`, `outs`: pairs of an argument and a tensor; `params`: of a parameter and
    its value."""
    in_, out = (_array(_object(arg_name=f'"{arg_name}"', name=f'"{tensor}"')
                       for arg_name, tensor in tensors) for tensors in (ins, outs))
    values = _array(_object(arg_name=f'"{arg_name}"', value=value) for arg_name, value in params)
    return _object(name=f'"{name}"', optype=f'"{optype}"', tensors_in=in_, tensors_out=out,
                   params=values)


def _beside(op, optype, name, *arguments):
    """An operator beside the tested one: for one of a target, that target's."""
    suffix = "" if op.arch == "none" else f"_{op.arch}"
    return _operator(f"{optype}_{name}", optype + suffix, *arguments)


def _create(op, arg, prefix):
    """The producer of an input, whose name gets a prefix."""
    data = arg.data
    params = [("dtype", f'"{data.dtype}"'), ("dims", _numbers(data.dims)),
              ("data", _numbers(data.items))]
    is_creatable = data.dims and "0" not in data.dims  # by `create`: no scalar, not empty
    if is_creatable:
        params.append(("ran", "[0, 0]"))
    return _beside(op, "create" if is_creatable else "source", arg.arg_name, (),
                   [("dst", prefix + arg.arg_name)], [*params, ("from_file", "false")])


def _copy(op, arg, prefix):
    """An operator that copies the created tensor to the input."""
    name = arg.arg_name
    return _beside(op, "cast", name, [("src", prefix + name)], [("dst", name)],
                   [("dtype", f'"{arg.data.dtype}"')])


def _declared_outputs(op):
    """The outputs of an example that must fail: as the description declares them."""
    return [(f"{arg.name}0" if arg.variadic else arg.name, arg.name)
            for arg in op.args_of("out") if not arg.is_true("optional")]


def _value(param):
    is_text = param.type in ("string", "strings")
    items = [rjson.quote(item) if is_text else item for item in param.items]
    return _array(items) if param.type in _ARRAYS else items[0]


def _params(op, params):
    """The parameters of an example, and the values of those that it leaves out."""
    given = {param.arg_name: _value(param) for param in params}
    left_out = {arg.name: arg.fields["example"].json() for arg in op.args
                if "example" in arg.fields and "default" not in arg.fields
                and arg.name not in given}
    return [*given.items(), *left_out.items()]


def _same_names(args):
    return [(arg.arg_name, arg.arg_name) for arg in args]


def _model(op, example, prefix):
    """With a prefix, the model's inputs have it in their names, and the tested operator reads
    copies of them."""
    ops = []
    for arg in example.ins:
        ops += [_create(op, arg, prefix), *([_copy(op, arg, prefix)] if prefix else [])]
    outs = _same_names(example.outs) if example.error is None else _declared_outputs(op)
    return _array([*ops, _operator(op.optype, op.optype, _same_names(example.ins), outs,
                                   _params(op, example.params))])


# The table


def _write_string(out, field, text):
    out.line(8, f".{field} = {quote(text)},")


def _keys(args, prefix=""):
    return ", ".join(f'"{prefix}{arg.arg_name}"' for arg in args)


def _write_model(out, op, example, fields, prefix=""):
    """Writes the names of the inputs and the operators of one form of the model."""
    inputs, ops = fields
    _write_string(out, inputs, _keys(example.ins, prefix))
    _write_string(out, ops, _model(op, example, prefix))


def _reads_static(op):
    """Whether an input must be static, so that no operator of a run can produce it."""
    return any(arg.is_true("static") for arg in op.args_of("in"))


def _c_array(c_type, items):
    numbers = ", ".join(_SPECIAL.get(item, item) for item in items)
    return f"(const {c_type}[]){{{numbers}}}" if items else "NULL"


def _expected(arg):
    """The row of an output."""
    data = arg.data
    fields = [f'.name = "{arg.arg_name}"', f'.dtype = "{data.dtype}"' if data.dtype else "",
              f".ndim = {len(data.dims) if data.has_dims else -1}",
              f".dims = {_c_array('int', data.dims)}" if data.dims else "",
              f".len = {len(data.items)}", f".data = {_c_array('double', data.items)}"]
    return f"{{{', '.join(filter(None, fields))}}},"


def _meaning_within(op):
    """The largest error of the operator's meanings."""
    within = (node.get("within") for node in op.fields["means"].items)
    return max([0.0, *(node.number for node in within if node)])


def _write_result(out, op, example):
    if example.error is not None:
        _write_string(out, "error", example.error)
        return
    if "means" in op.fields:
        out.line(8, f".has_meaning = 1, .meaning_within = {_meaning_within(op):g},")
    out.line(8, ".expected = (const ln_example_output[]){")
    for arg in example.outs:
        out.line(12, _expected(arg))
    out.line(12, "{.name = NULL},")
    out.line(8, "},")


def _write_example(out, op, example):
    out.line(4, "{")
    out.line(8, f'.place = "{base_name(example.place.file)}:{example.place.line}",')
    _write_string(out, "doc", example.doc)
    out.line(8, f'.optype = "{op.optype}",')
    out.line(8, f'.arch = "{op.arch}",')
    _write_model(out, op, example, ("inputs", "ops"))
    if example.error is None and not _reads_static(op):
        _write_model(out, op, example, ("given", "chain"), "given_")
    _write_string(out, "outputs", _keys(example.outs))
    if example.tolerance is not None:
        out.line(8, f".tolerance = {example.tolerance},")
    _write_result(out, op, example)
    out.line(4, "},")
