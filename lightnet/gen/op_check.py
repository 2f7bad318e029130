# SPDX-License-Identifier: Apache-2.0
"""Operator descriptions: the checks of a completed operator. Properties that they derive, such as
the type of a parameter, are stored in it."""
import copy
import re

from cgen import escape, is_identifier, names
from op_fields import (ARG_PAIRS, BOUNDS, LEN_BOUNDS, MAX_NAME, OP_FIELDS, OP_PAIRS, PTYPES,
                       check_pairs, items_of, mismatch, string_at)

MAX_DIM = 8

_MTYPES = ("LN_MEM_NONE", "LN_MEM_CPU", "LN_MEM_CUDA")
_DTYPES = ("TL_DOUBLE", "TL_FLOAT", "TL_INT32", "TL_INT16", "TL_INT8", "TL_UINT32", "TL_UINT16",
           "TL_UINT8", "TL_BOOL", "TL_INT64", "TL_UINT64", "TL_FLOAT16", "TL_BFLOAT16",
           "TL_STRING")
_DTYPE_SETS = {"FLT": "LN_DTYPES_FLOAT", "NUM": "LN_DTYPES_NUMBER", "ANY": "LN_DTYPES_ANY"}

# Words in descriptions, and their constants of C.
_WRITES = {"stdout": "LN_WRITES_STDOUT", "files": "LN_WRITES_FILES"}
_TRAITS = {"moves": "LN_TRAIT_MOVES", "selects": "LN_TRAIT_SELECTS",
           "elementwise": "LN_TRAIT_ELEMENTWISE", "alias": "LN_TRAIT_ALIAS",
           "unpacks": "LN_TRAIT_UNPACKS"}

KINDS = {"convolution": "LN_KIND_CONVOLUTION", "product": "LN_KIND_PRODUCT",
         "attention": "LN_KIND_ATTENTION", "normalization": "LN_KIND_NORMALIZATION",
         "reduction": "LN_KIND_REDUCTION", "elementwise": "LN_KIND_ELEMENTWISE",
         "movement": "LN_KIND_MOVEMENT", "quantization": "LN_KIND_QUANTIZATION",
         "other": "LN_KIND_OTHER"}

# The kinds of operators with these traits, unless they state another.
_KINDS_OF_TRAITS = {"elementwise": "elementwise", "moves": "movement", "selects": "reduction"}

# Variables of the generated functions: names that no argument may have.
_RESERVED_NAMES = ("op_arg", "priv", "exec", "te", "i")

# The variables of an argument `x` are `x` and `x_SUFFIX`.
_NAME_SUFFIXES = ("_entry", "_name", "_n", "_ndim", "_dims", "_dtype")

# NAME, NAME[LENGTH], NAME[LENGTH][LENGTH]
_DECLARATOR = re.compile(r"([^\[]*)(?:\[(?! *\])[A-Za-z_0-9+\-*/%<>() ]*\])*")

# "{n}" in a message; a pair of braces may be in it
_VALUE = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}")


def check(op):
    """Checks a completed operator, and derives properties from its fields: `arch`, `pure`, `kind`,
    the arguments' `ptype`, .."""
    for key, spec in OP_FIELDS.items():
        if spec.is_required and key not in op.fields:
            raise op.fail(op.node, f'"{key}" is missing')
    check_pairs(op, op.fields, OP_PAIRS)
    _check_word(op, op.fields.get("mtype"), "memory type", _MTYPES)
    for priv in items_of(op, op.fields.get("extra_privs"), "object"):
        _check_extra_priv(op, priv)
    _apply_inplace(op)
    _apply_inplace_writer(op)
    _apply_pure(op)
    _apply_writes(op)
    _apply_traits(op)
    _apply_kind(op)
    for arg in op.args:
        _check_arg(op, arg)
    op.arch = op.text("arch")
    if not is_identifier(op.arch):
        raise op.fail(op.fields["arch"], f"\"arch\" is '{op.arch}', expected a C identifier")
    op.autogen = "autogen" not in op.fields or op.is_true("autogen")


def _check_word(op, node, what, words, arg=None):
    """A field (None: not given) is one of the words."""
    if node and node.text not in words:
        prefix = f"argument '{arg.name}': " if arg else ""
        raise op.fail(node, f"{prefix}{what} '{node.text}' is unknown, "
                            f"expected one of {', '.join(words)}")


def _check_extra_priv(op, priv):
    """A member has {"type": STRING, "name": STRING}."""
    kinds = {member.key: member.kind for member in priv.items}
    if kinds != {"type": "string", "name": "string"}:
        raise op.fail(priv, 'item of "extra_privs", '
                            'expected {"type": STRING, "name": STRING}')
    name = priv.get("name")
    found = _DECLARATOR.fullmatch(name.text)
    if not found or len(found[1]) > MAX_NAME or not is_identifier(found[1]):
        raise op.fail(name, f"\"name\" is '{name.text}', expected a C identifier that is not a "
                            "keyword, or one with lengths: name[LENGTH]")


# Properties of the operator


def _apply_inplace(op):
    """The operator's "inplace" is that of its only output."""
    inplace, outputs = op.fields.get("inplace"), op.args_of("out")
    if not inplace:
        return
    if len(outputs) != 1:
        raise op.fail_key(inplace, f'"inplace" with {len(outputs)} outputs, '
                                   "expected it at one of them")
    outputs[0].fields.setdefault("inplace", inplace)


def _apply_inplace_writer(op):
    """A computing operator with an output in an input's memory writes in place, and so does an
    abstract operator that declares it."""
    has_owner = any("owner" in arg.fields for arg in op.args)
    if op.is_true("inplace_writer") and not has_owner:
        raise op.fail_key(op.fields["inplace_writer"],
                          '"inplace_writer" without an output that has an "owner"')
    computes = has_owner and ("run" in op.fields or "call" in op.fields)
    op.inplace_writer = op.is_true("inplace_writer") if "inplace_writer" in op.fields else computes


def _apply_pure(op):
    """An operator without outputs is only useful for a side effect."""
    if op.is_true("pure") and not op.has_output():
        raise op.fail_key(op.fields["pure"],
                          '"pure" without an output: it would always be removed')
    op.pure = op.is_true("pure") if "pure" in op.fields else op.has_output()


def _apply_writes(op):
    """What it writes beside its tensors is a side effect."""
    node = op.fields.get("writes")
    if not node:
        return
    _check_word(op, node, "destination", _WRITES)
    if op.pure:
        raise op.fail_key(node, '"writes" of a pure operator, expected "pure": false')
    op.writes = _WRITES[node.text]


def _apply_traits(op):
    traits = items_of(op, op.fields.get("traits"), "string")
    for trait in traits:
        _check_word(op, trait, "trait", _TRAITS)
    op.traits = " | ".join(_TRAITS[trait.text] for trait in traits) or None


def _apply_kind(op):
    """The kind is stated, or follows from a trait."""
    node, traits = op.fields.get("kind"), op.fields.get("traits")
    _check_word(op, node, "kind", KINDS)
    derived = (_KINDS_OF_TRAITS.get(trait.text) for trait in (traits.items if traits else ()))
    op.kind = node.text if node else next(filter(None, derived), None)


# Arguments


def _check_arg(op, arg):
    _check_name(op, arg)
    _make_checks(op, arg)
    if arg.kind == "param":
        _check_param(op, arg)
        return
    _check_tensor(op, arg)
    if arg.kind == "out":
        _check_output(op, arg)


def _fail(op, arg, node, reason):
    return op.fail(node, f"argument '{arg.name}': {reason}")


def _require(op, arg, key):
    if key not in arg.fields:
        raise _fail(op, arg, arg.node, f'"{key}" is missing')


def _forbid(op, arg, why, *keys):
    for key in keys:
        if key in arg.fields:
            raise op.fail_key(arg.fields[key], f"argument '{arg.name}': \"{key}\" {why}")


def _check_name(op, arg):
    """The argument's name, and the names of its variables, are free."""
    name, node = arg.name, arg.fields["arg_name"]
    if len(name) > MAX_NAME:
        raise op.fail(node, f"arg_name has {len(name)} characters, expected at most {MAX_NAME}")
    if not is_identifier(name):
        raise op.fail(node, f"arg_name '{name}', expected a C identifier that is not a keyword")
    if name in _RESERVED_NAMES:
        raise op.fail(node, f"arg_name '{name}' is a variable of the generated code, "
                            "expected another name")
    for other in op.args:
        if other is arg or not name.startswith(other.name):
            continue
        if name == other.name:
            raise op.fail(node, f"another argument has the name '{name}'")
        if name[len(other.name):] in _NAME_SUFFIXES:
            raise op.fail(node, f"arg_name '{name}' is also a variable of argument "
                                f"'{other.name}'")


def _make_checks(op, arg):
    """Makes the checks of an argument C."""
    checks = arg.fields.get("checks")
    items_of(op, checks, "string", "object")
    if "check" in arg.fields:
        arg.fields["check"] = _check_code(op, arg.fields["check"])
    if checks:
        arg.fields["checks"] = copy.copy(checks)
        arg.fields["checks"].items = [_check_code(op, item) for item in checks.items]


def _check_code(op, item):
    """A string: the arguments of ln_opck_satisfy or ln_opck_satisfy_msg."""
    if item.kind == "string":
        return item
    members = {member.key: member for member in item.items if member.kind == "string"}
    if len(members) == len(item.items):
        if members.keys() == {"check"}:
            return members["check"]
        if members.keys() == {"if", "say"}:
            condition = members["if"]
            return string_at(condition, _message_check(condition.text, members["say"].text))
    raise op.fail(item, 'a check, expected a string, {"check": STRING} or '
                        '{"if": CONDITION, "say": MESSAGE}')


def _message_check(condition, say):
    """The C of "if" and "say": a condition, and the format and arguments of a message, in which
    "%d{n}" is the value of n."""
    args = "".join(f", {code}" for code in _VALUE.findall(say))
    return f'{condition}, "{escape(_VALUE.sub("", say))}"{args}'


# Tensors


def _check_tensor(op, arg):
    kinds = ("in",) if arg.kind == "in" else ("in", "out")  # inputs come before outputs
    arg.variadic = arg.is_true("variadic")
    arg.optional = arg.is_true("optional") and not arg.variadic  # else: none is fine
    if "mtype" in op.fields:
        arg.fields.setdefault("mtype", op.fields["mtype"])
    _require(op, arg, "mtype")
    _check_word(op, arg.fields["mtype"], "memory type", _MTYPES, arg)
    _apply_dtypes(op, arg)
    _check_reference(op, arg, "sametype", kinds)
    _check_reference(op, arg, "sameshape", kinds)
    _check_reference(op, arg, "owner", ("in",))
    if "sets" in arg.fields:
        _check_sets(op, arg, arg.fields["sets"])


def _apply_dtypes(op, arg):
    """Each data type of "TL_INT8 or TL_UINT8" exists; other texts are C."""
    dtype = arg.fields.get("dtype")
    if not dtype:
        arg.dtypes = _free_dtypes(op, arg)
        return
    words = dtype.text.split(" or ")
    types = [word for word in words if word.startswith("TL_") and is_identifier(word)]
    for word in types:
        _check_word(op, string_at(dtype, word), "data type", _DTYPES, arg)
    bits = " | ".join(f"LN_DTYPE_BIT({word})" for word in types)
    arg.dtypes = bits if types == words else _DTYPE_SETS.get(dtype.text)


def _free_dtypes(op, arg):
    """The data types of an argument without "dtype": of an input those to compute with, and
    strings, if the operator supports them. The numbers of a parameter are no strings."""
    if arg.kind != "in" or "sametype" in arg.fields:
        return None
    supports_text = op.is_true("strings") and "sets" not in arg.fields
    return "LN_DTYPES_TEXT" if supports_text else "LN_DTYPES_COMPUTED"


def _find_other(op, arg, name, kinds):
    """The other argument of one of these kinds that a field names."""
    other = op.find_arg(name.text)
    if not other or other is arg or other.kind not in kinds:
        what = "input" if kinds == ("in",) else "tensor"
        raise _fail(op, arg, name, f"'{name.text}' is not another {what}")
    return other


def _check_reference(op, arg, key, kinds):
    """A field that refers to an argument names one of these kinds, with one tensor."""
    name = arg.fields.get(key)
    if name and _find_other(op, arg, name, kinds).variadic:
        raise _fail(op, arg, name, f"'{name.text}' is variadic")


def _check_sets(op, arg, name):
    """An input that sets a parameter is optional and has its own shape; the parameter is of
    integers."""
    param = op.find_arg(name.text)
    if not param or param.kind != "param" or param.text("realtype") != "int":
        raise _fail(op, arg, name, f"'{name.text}' is not a parameter of realtype int")
    if not arg.optional:
        raise _fail(op, arg, name, '"sets" without "optional"')
    if "sameshape" in arg.fields:
        raise _fail(op, arg, name, '"sets" with "sameshape"')


def _check_output(op, arg):
    """Type and shape of an output are known."""
    dims, ndim = arg.fields.get("dims"), arg.fields.get("ndim")
    if dims and dims.kind == "array":
        _check_dims(op, arg, dims, ndim)
    for name in items_of(op, arg.fields.get("inplace"), "string"):
        _find_other(op, arg, name, ("in",))
    check_pairs(op, arg.fields, ARG_PAIRS)
    if "sametype" not in arg.fields:
        _require(op, arg, "dtype")
    if "sameshape" in arg.fields or "sizes" in arg.fields:
        return
    if not dims and "custom" in arg.fields:
        if not names(arg.text("custom"), f"{arg.name}_dims"):
            raise _fail(op, arg, arg.node,
                        f'"dims" is missing, and "custom" sets no {arg.name}_dims')
    else:
        _require(op, arg, "dims")
    if not dims or dims.kind == "string":
        _require(op, arg, "ndim")


def _check_dims(op, arg, dims, ndim):
    """The items are integers or C code, as many as a literal "ndim"."""
    n = len(items_of(op, dims, "number", "string"))
    if n > MAX_DIM:
        raise _fail(op, arg, dims, f"{n} dimensions, expected at most {MAX_DIM}")
    for dim in dims.items:
        if dim.kind == "number" and not dim.text.isdigit():
            raise _fail(op, arg, dim, f"dimension {dim.text}, expected an integer")
    if ndim and (ndim.kind != "number" or ndim.number != n):
        raise _fail(op, arg, ndim, f'"ndim" is {ndim.text}, but "dims" has {n} items')


# Parameters


def _check_param(op, arg):
    _require(op, arg, "ptype")
    _check_word(op, arg.fields["ptype"], "ptype", PTYPES, arg)
    arg.ptype = PTYPES[arg.text("ptype")]
    _apply_realtype(arg)
    _check_param_fields(op, arg)
    _check_value(op, arg, "default")
    _check_value(op, arg, "example")


def _apply_realtype(arg):
    """A number is a double unless described otherwise, what a function makes of a string an
    int."""
    if arg.value_kind == "number":
        arg.fields.setdefault("realtype", string_at(arg.node, "double"))
    elif "from_func" in arg.fields:
        arg.fields.setdefault("realtype", string_at(arg.node, "int"))


def _check_param_fields(op, arg):
    """Which fields make sense for which parameters."""
    is_number, converts = arg.value_kind == "number", "from_func" in arg.fields
    if not is_number:
        _forbid(op, arg, "bounds a number", *BOUNDS)
    if not arg.is_array():
        _forbid(op, arg, "bounds an array", *LEN_BOUNDS)
    if arg.value_kind != "string":
        _forbid(op, arg, "converts a string", "from_func")
    if not converts:
        _forbid(op, arg, 'needs "from_func"', "name_func")
    if is_number and arg.text("realtype") not in ("int", "float", "double"):
        raise _fail(op, arg, arg.fields["realtype"],
                    f"realtype '{arg.text('realtype')}', expected int, float or double")
    if not is_number and not converts:
        _forbid(op, arg, 'is for numbers, and strings with "from_func"', "realtype")


def _check_value(op, arg, key):
    """A field with a value of the parameter has its type."""
    value = arg.fields.get(key)
    if not value:
        return
    expected = "array" if arg.is_array() else arg.value_kind
    if value.kind != expected:
        raise _fail(op, arg, value, f'"{key}" is {mismatch(value, expected)}')
    if arg.is_array():
        items_of(op, value, arg.value_kind)
